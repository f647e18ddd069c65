/* SPDX-License-Identifier: MIT
 *
 * Declarations that the files of the classifier share.
 */
#ifndef CLASSIFY_CLASSIFY_H
#define CLASSIFY_CLASSIFY_H

#include <tact/classify.h>

#include "base/hash.h"
#include "block/block.h"
#include "classify/lda.h"

/* What a uop does. */
enum uop_kind { UOP_LOAD, UOP_STORE, UOP_SCALAR, UOP_VECTOR, UOP_N_KINDS };

struct tact_bags {
	const struct tact_arch *arch;		     /* borrowed */
	params_ports words[TACT_CLASSIFY_MAX_WORDS]; /* port combinations: bit p is port p */
	unsigned n_words;

	struct lda_term *terms;		/* owned; of all bags; sorted by word within a bag */
	uint64_t (*kinds)[UOP_N_KINDS]; /* owned; of each term, over all blocks with the bag */
	size_t n_terms, terms_capacity, kinds_capacity;
	size_t *first; /* owned; n_bags + 1 */
	size_t first_capacity;
	double *blocks; /* owned; how many have the bag: its weight in a corpus */
	size_t blocks_capacity, n_bags;
	struct hash index; /* of bags, by their terms */
};

struct tact_classifier {
	const struct tact_arch *arch; /* built in */
	struct lda_prior prior;
	uint64_t seed, blocks, n_bags, uops;
	unsigned starts;
	double perplexity;
	params_ports words[TACT_CLASSIFY_MAX_WORDS];	     /* sorted */
	double kinds[TACT_CLASSIFY_MAX_TOPICS][UOP_N_KINDS]; /* expected uops of a topic by kind */
	char names[TACT_CLASSIFY_MAX_TOPICS][TACT_CLASSIFY_NAME_SIZE];
	double *lambda;	  /* owned; K * V */
	double *expected; /* owned; see lda.h */

	/* The bags that tact_classifier_apply has seen, with a label for each. */
	struct tact_bags *bags;	   /* owned; NULL: none yet */
	struct tact_label *labels; /* owned */
	size_t labels_capacity, n_labels;
};

/* Writes a port combination as "p0156"; ports above 9 are letters. */
void classify_ports(params_ports mask, char text[TACT_CLASSIFY_PORTS_SIZE]);

/* Creates a classifier with room for the parameters of `prior`; everything else is zero. */
int classify_create(struct tact_classifier **out, const struct lda_prior *prior);

/* Returns the number of a combination in a list, which is short; -1 if it is missing. */
int classify_word(const params_ports *words, unsigned n, params_ports mask);

/* Computes `expected` from lambda and the words. */
void classify_prepare(struct tact_classifier *c);

/* Writes the text of a saved classifier. */
struct text;
void classify_print(const struct tact_classifier *c, const char *comment, struct text *out);

/* Names every topic by what its uops do. */
void classify_name_topics(struct tact_classifier *c);

#endif /* CLASSIFY_CLASSIFY_H */
