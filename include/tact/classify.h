/* SPDX-License-Identifier: MIT
 *
 * Categories of blocks by the resources that they use: a block is a bag of port combinations, one
 * for each uop, and latent Dirichlet allocation finds topics in many of them, as BHive's authors
 * did (doc/models/classify.md).
 */
#ifndef TACT_CLASSIFY_H
#define TACT_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/block.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	TACT_CLASSIFY_MAX_TOPICS = 32,
	TACT_CLASSIFY_MAX_WORDS = 256,	  /* different port combinations */
	TACT_CLASSIFY_MAX_BAGS = 1 << 24, /* different bags */
	TACT_CLASSIFY_NAME_SIZE = 64,
	TACT_CLASSIFY_PORTS_SIZE = 36 /* "p0156", ports above 9 as letters */
};

/* ---- bags ---- */

/* The bags of many blocks; blocks with the same one are counted. */
struct tact_bags;

/* arch is borrowed and has to be one that is built in.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_bags_create(struct tact_bags **out, const struct tact_arch *arch, struct tact_diag *diag);
void tact_bags_destroy(struct tact_bags *bags); /* NULL is allowed */

/* Adds the bag of a loaded block.  Moves that the renamer may execute count as any other uop; a
 * macro-fused pair is one uop.  Returns 1 with *bag, the number of the block's bag from 0, or 0 if
 * no uop of the block needs a port; -TACT_E_INVAL if the block is of another architecture,
 * -TACT_E_LIMIT for too many bags or port combinations, -TACT_E_NOMEM.
 */
int tact_bags_add(struct tact_bags *bags, const struct tact_block *block, uint32_t *bag,
		  struct tact_diag *diag);
size_t tact_bags_count(const struct tact_bags *bags); /* different ones */

/* ---- training ---- */

struct tact_classify_options {
	size_t size;	 /* sizeof(struct tact_classify_options) */
	unsigned topics; /* 0: 6 */
	double alpha;	 /* prior of a block's topics; 0: 1/6 */
	double beta;	 /* prior of a topic's port combinations; 0: 1/13 */
	uint64_t seed;
	unsigned starts; /* of which the best is taken; 0: 24 */
	unsigned jobs;	 /* threads; 0: 1.  The result does not depend on them */
};

struct tact_classifier; /* one thread at a time */

/* Finds topics.  opt may be NULL.  The result is the same for the same bags, options and machine.
 * Returns -TACT_E_INVAL (no bags, options out of range), -TACT_E_NOMEM.
 */
int tact_classifier_train(struct tact_classifier **out, const struct tact_bags *bags,
			  const struct tact_classify_options *opt, struct tact_diag *diag);
void tact_classifier_destroy(struct tact_classifier *classifier); /* NULL is allowed */

/* Reads a model.  Returns -TACT_E_IO, -TACT_E_FORMAT (diag has the line), -TACT_E_VERSION,
 * -TACT_E_NO_ARCH, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_classifier_load(struct tact_classifier **out, const char *path, struct tact_diag *diag);

/* Writes a model: to a new file that takes the place of `path` when it is complete.  comment may be
 * NULL; each of its lines becomes a comment.  Returns -TACT_E_IO, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_classifier_save(const struct tact_classifier *classifier, const char *path,
			 const char *comment, struct tact_diag *diag);

/* Whether a file begins as a model does.  False if it cannot be read. */
bool tact_classifier_is_model(const char *path);

struct tact_classifier_info {
	size_t size;
	const struct tact_arch *arch;
	unsigned topics, words;
	double alpha, beta;
	uint64_t seed;
	unsigned starts;
	uint64_t blocks, bags, uops; /* that it was trained on; bags: different ones */
	double perplexity;	     /* on them */
};
int tact_classifier_get_info(const struct tact_classifier *classifier,
			     struct tact_classifier_info *out);

/* What the uops of a topic do: shares with sum 1. */
struct tact_topic {
	size_t size;
	char name[TACT_CLASSIFY_NAME_SIZE];
	double share; /* of the uops that it was trained on */
	double load, store, scalar, vector;
};
int tact_classifier_get_topic(const struct tact_classifier *classifier, unsigned topic,
			      struct tact_topic *out);

/* The port combination in place `rank` of a topic, from 0, and its probability there.
 * Returns 1, or 0 behind the last one.
 */
int tact_classifier_leading(const struct tact_classifier *classifier, unsigned topic, unsigned rank,
			    char ports[TACT_CLASSIFY_PORTS_SIZE], double *probability);

/* ---- application ---- */

struct tact_label {
	size_t size;
	int topic;	       /* the block's category; -1: no uop with a port */
	uint64_t uops;	       /* that have been looked at */
	uint64_t unknown;      /* others: their combination is not in the model */
	double log_likelihood; /* of the uops that have been looked at: a lower bound */
	double weight[TACT_CLASSIFY_MAX_TOPICS]; /* of topics in the block; sum 1 */
};

/* Labels a loaded block: the topic that most of its uops have.  Of topics with equally many the one
 * with more weight is taken, then the one with the lower number.
 * Returns -TACT_E_INVAL if the block is of another architecture, -TACT_E_LIMIT, -TACT_E_NOMEM.
 */
int tact_classifier_apply(struct tact_classifier *classifier, const struct tact_block *block,
			  struct tact_label *out, struct tact_diag *diag);

/* The same for a bag. */
int tact_classifier_label(const struct tact_classifier *classifier, const struct tact_bags *bags,
			  uint32_t bag, struct tact_label *out, struct tact_diag *diag);

/* Topic of each port combination in a bag: fills `ports`, `count` and `topic` for term i.
 * Returns 1, or 0 behind the last one; topic is -1 for one that the model does not have.
 */
int tact_classifier_term(const struct tact_classifier *classifier, const struct tact_bags *bags,
			 uint32_t bag, unsigned i, char ports[TACT_CLASSIFY_PORTS_SIZE],
			 uint64_t *count, int *topic);

#ifdef __cplusplus
}
#endif

#endif /* TACT_CLASSIFY_H */
