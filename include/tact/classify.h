/* SPDX-License-Identifier: MIT
 *
 * Categories of blocks by the resources that they use: a block is a bag of port combinations, one
 * for each uop, and latent Dirichlet allocation finds topics in many bags, as BHive's authors did
 * (doc/models/classify.md).
 *
 * Bags and classifiers belong to one thread at a time; different ones may be used by different
 * threads at once.  The functions that take a const classifier and const bags may be called by
 * several threads at once.
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

struct tact_bags; /* the bags of many blocks; blocks with the same bag are counted */

/* Creates an empty set of bags for blocks of an architecture, which must be a built-in one.  The
 * caller destroys *out; it is NULL on failure.
 * -TACT_E_INVAL: out or arch is NULL, or the architecture is a derived one.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_bags_create(struct tact_bags **out, const struct tact_arch *arch, struct tact_diag *diag);

/* Destroys bags.  NULL is allowed. */
void tact_bags_destroy(struct tact_bags *bags);

/* Adds the bag of a loaded block.  Moves that the renamer may execute count as any other uop; a
 * macro-fused pair is one uop.  Returns 1 and sets *bag to the number of the block's bag, from 0,
 * or returns 0 if no uop of the block needs a port.
 * -TACT_E_INVAL: bags, block or bag is NULL, or the block is of another architecture.
 * -TACT_E_LIMIT: there are too many bags or port combinations.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_bags_add(struct tact_bags *bags, const struct tact_block *block, uint32_t *bag,
		  struct tact_diag *diag);

/* Returns the number of different bags; 0 for NULL. */
size_t tact_bags_count(const struct tact_bags *bags);

/* ---- training ---- */

struct tact_classify_options {
	size_t size;	 /* sizeof(struct tact_classify_options) */
	unsigned topics; /* 2 to TACT_CLASSIFY_MAX_TOPICS; 0: 6 */
	double alpha;	 /* prior of a block's topics, 0.001 to 1000; 0: 1/6 */
	double beta;	 /* prior of a topic's port combinations, 0.001 to 1000; 0: 1/13 */
	uint64_t seed;
	unsigned starts; /* the best one is taken; at most 10000; 0: 24 */
	unsigned jobs;	 /* threads, at most 1024; 0: 1.  The result does not depend on them */
	/* Hears which share of the work is done, from 0 to 1, from any of the threads and from
	 * several at once.  May be NULL.
	 */
	void (*report)(void *context, double done);
	void *context;
};
#define TACT_CLASSIFY_OPTIONS_INIT TACT_SIZED(struct tact_classify_options)

struct tact_classifier;

/* Finds topics in bags.  opt may be NULL.  The same bags, options and machine give the same result.
 * The bags may be destroyed afterwards.  The caller destroys *out; it is NULL on failure.
 * -TACT_E_INVAL: out or bags is NULL, there are no bags, or an option is out of range.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_classifier_train(struct tact_classifier **out, const struct tact_bags *bags,
			  const struct tact_classify_options *opt, struct tact_diag *diag);

/* Destroys a classifier.  NULL is allowed. */
void tact_classifier_destroy(struct tact_classifier *classifier);

/* Loads a classifier from a file.  The caller destroys *out; it is NULL on failure.
 * -TACT_E_INVAL: out or path is NULL.
 * -TACT_E_IO: the file cannot be read.
 * -TACT_E_FORMAT: it is not a classifier; diag has the line.
 * -TACT_E_VERSION: it comes from a newer version of tact.
 * -TACT_E_NO_ARCH: it is for an architecture that is unknown.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_classifier_load(struct tact_classifier **out, const char *path, struct tact_diag *diag);

/* Saves a classifier to a new file that takes the place of `path` when it is complete.  comment may
 * be NULL; each of its lines becomes a comment.
 * -TACT_E_INVAL: classifier or path is NULL.
 * -TACT_E_IO: the file cannot be written.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_classifier_save(const struct tact_classifier *classifier, const char *path,
			 const char *comment, struct tact_diag *diag);

/* Returns whether a file begins as a saved classifier does; false if it cannot be read, or if path
 * is NULL.
 */
bool tact_classifier_is_model(const char *path);

struct tact_classifier_info {
	size_t size;		      /* sizeof(struct tact_classifier_info) */
	const struct tact_arch *arch; /* built in: it lives for ever */
	unsigned topics, words;
	double alpha, beta;
	uint64_t seed;
	unsigned starts;
	uint64_t blocks, bags, uops; /* that it was trained on; bags: different ones */
	double perplexity;	     /* on these blocks */
};
#define TACT_CLASSIFIER_INFO_INIT TACT_SIZED(struct tact_classifier_info)

/* Fills what is known about a classifier.  Returns 0.
 * -TACT_E_INVAL: classifier or out is NULL, or out->size is 0.
 */
int tact_classifier_get_info(const struct tact_classifier *classifier,
			     struct tact_classifier_info *out);

/* What the uops of a topic do: load, store, scalar and vector are shares with the sum 1. */
struct tact_topic {
	size_t size; /* sizeof(struct tact_topic) */
	char name[TACT_CLASSIFY_NAME_SIZE];
	double share; /* of the uops that the classifier was trained on */
	double load, store, scalar, vector;
};
#define TACT_TOPIC_INIT TACT_SIZED(struct tact_topic)

/* Fills what is known about a topic, numbered from 0.  Returns 0.
 * -TACT_E_INVAL: classifier or out is NULL, out->size is 0, or there is no such topic.
 */
int tact_classifier_get_topic(const struct tact_classifier *classifier, unsigned topic,
			      struct tact_topic *out);

/* Writes the port combination that has place `rank` in a topic, from 0, and its probability there.
 * Returns 1, or 0 after the last one.
 * -TACT_E_INVAL: classifier, ports or probability is NULL, or there is no such topic.
 */
int tact_classifier_leading(const struct tact_classifier *classifier, unsigned topic, unsigned rank,
			    char ports[TACT_CLASSIFY_PORTS_SIZE], double *probability);

/* ---- application ---- */

struct tact_label {
	size_t size;	  /* sizeof(struct tact_label) */
	int topic;	  /* the block's category; -1: no uop with a known port combination */
	uint64_t uops;	  /* that count */
	uint64_t unknown; /* that do not: the classifier does not have their port combination */
	double log_likelihood;			 /* of the uops that count: a lower bound */
	double weight[TACT_CLASSIFY_MAX_TOPICS]; /* of topics in the block; sum 1 */
};
#define TACT_LABEL_INIT TACT_SIZED(struct tact_label)

/* Labels a loaded block with the topic that most of its uops have.  If several topics have equally
 * many, the one with more weight is taken, then the one with the lower number.  Returns 0.
 * -TACT_E_INVAL: classifier, block or out is NULL, out->size is 0, or the block is of another
 *     architecture.
 * -TACT_E_LIMIT: there are too many port combinations.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_classifier_apply(struct tact_classifier *classifier, const struct tact_block *block,
			  struct tact_label *out, struct tact_diag *diag);

/* Labels a bag in the same way.  Returns 0.
 * -TACT_E_INVAL: classifier, bags or out is NULL, out->size is 0, there is no such bag, or the bags
 *     are of another architecture.
 */
int tact_classifier_label(const struct tact_classifier *classifier, const struct tact_bags *bags,
			  uint32_t bag, struct tact_label *out, struct tact_diag *diag);

/* Writes the i-th port combination in a bag, how many uops have it, and its topic; topic -1: the
 * classifier does not have the combination.  Returns 1, or 0 after the last one.
 * -TACT_E_INVAL: a pointer is NULL, there is no such bag, or the bags are of another architecture.
 */
int tact_classifier_term(const struct tact_classifier *classifier, const struct tact_bags *bags,
			 uint32_t bag, unsigned i, char ports[TACT_CLASSIFY_PORTS_SIZE],
			 uint64_t *count, int *topic);

#ifdef __cplusplus
}
#endif

#endif /* TACT_CLASSIFY_H */
