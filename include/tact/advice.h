/* SPDX-License-Identifier: MIT
 *
 * Advice: how a block could be changed so that it takes fewer cycles.  Each change is really made:
 * the changed code is encoded and predicted with the same model, and an advice whose gain is small
 * is not given.
 *
 * An advisor belongs to one thread at a time; different advisors may be used by different threads
 * at once.
 */
#ifndef TACT_ADVICE_H
#define TACT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks with more instructions get no advice, nor do those with tact_block_set_memory
 * or tact_block_set_latency.
 */
enum { TACT_ADVICE_MAX_INSNS = 256 };

/* How to advise.  All zeros, or NULL, is the default. */
struct tact_advice_options {
	size_t size; /* sizeof(struct tact_advice_options), set by the caller */
	/* The gain from which on an advice is given, as a share of the cycles: 0.1 is a tenth.  0:
	 * 0.04.
	 */
	double least_gain;
	/* The model: predicts the loaded block and stores the cycles per iteration.  Returns a
	 * value >= 0, or -TACT_E_*.  NULL: tact_predict without options.
	 */
	int (*predict)(void *arg, struct tact_block *block, double *cycles);
	void *arg;
	/* The model is slow: try only placements that are multiples of 8 bytes. */
	bool is_slow;
	uint64_t address; /* of the first byte, for the targets of branches in texts */
};
#define TACT_ADVICE_OPTIONS_INIT TACT_SIZED(struct tact_advice_options)

/* One advice.  Everything that it points to is owned by the advisor and valid until its next
 * block, or its end.
 */
struct tact_advice {
	size_t size;	     /* sizeof(struct tact_advice), set by the caller */
	const char *name;    /* stable: "padding", "accumulators", ... */
	const char *text;    /* a sentence: what is slow, and what to do */
	const char *assumes; /* what must be true, or is done elsewhere; "": results are the same */
	double before, after;  /* cycles per iteration, both predicted */
	const uint32_t *insns; /* the instructions that it is about */
	size_t n_insns;
	const uint8_t *code; /* the changed block */
	size_t code_size;
	unsigned alignment; /* the address of its first byte modulo 64 */
	unsigned copies;    /* iterations that one pass of the changed code does: `after` is what
			       it takes divided by this */
	/* Lines of the changed code that differ: "- " and a line that goes, "+ " and one that
	 * comes, each with a newline.  "": only the place differs.
	 */
	const char *changes;
};
#define TACT_ADVICE_INIT TACT_SIZED(struct tact_advice)

struct tact_advisor;

/* Creates an advisor.  The caller owns *out and gives it to tact_advisor_destroy.
 *
 * Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL  out is NULL
 *   -TACT_E_NOMEM  out of memory
 */
int tact_advisor_create(struct tact_advisor **out, struct tact_diag *diag);

/* Destroys an advisor.  NULL is allowed. */
void tact_advisor_destroy(struct tact_advisor *advisor);

/* Looks for advice on a loaded block, which is left as it is.  What was found before is forgotten.
 * Predicts some hundred changed blocks at most.
 *
 * Returns the number of advices, the largest gain first, or with none:
 *   -TACT_E_INVAL  advisor or block is NULL, the block is empty, or opt has values that this
 *                  library does not know
 *   -TACT_E_NOMEM  out of memory
 *   or what opt->predict returned for the block itself
 */
int tact_advisor_run(struct tact_advisor *advisor, struct tact_block *block,
		     const struct tact_advice_options *opt);

/* Fills *out with advice i of the last block.  Returns 0, or -TACT_E_INVAL if an argument is NULL,
 * there is no advice i, or out->size is not set.
 */
int tact_advisor_get(const struct tact_advisor *advisor, size_t i, struct tact_advice *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_ADVICE_H */
