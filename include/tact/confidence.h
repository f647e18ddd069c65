/* SPDX-License-Identifier: MIT
 *
 * How far to trust a prediction: an interval of cycles that nine of ten measurements of blocks like
 * this one fall into, and what makes it wide.
 *
 * Intervals were learned from measured blocks, by `tact evaluate --calibrate`; the tables are part
 * of the library.  doc/confidence.md describes how.
 */
#ifndef TACT_CONFIDENCE_H
#define TACT_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <tact/block.h>
#include <tact/predict.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_confidence {
	size_t size; /* sizeof(struct tact_confidence), set by the caller */
	/* Whether low, high, kind, learned_on and rows are known.  If not, `reason` says why. */
	bool has_interval;
	/* The interval was learned on another CPU, which has nearly the same core. */
	bool is_borrowed;
	double level;		 /* share of the measurements that it should hold: 0.9 */
	double low, high;	 /* cycles per iteration; the prediction lies between them */
	const char *kind;	 /* what such blocks have in common: "ports", ...; a constant */
	const char *learned_on;	 /* name of the CPU; a constant */
	size_t rows;		 /* measured blocks that it was learned from */
	size_t n_known, n_insns; /* instructions with data, and all of the block */
	char reason[320];	 /* one sentence for people, without a full stop */
};
#define TACT_CONFIDENCE_INIT TACT_SIZED(struct tact_confidence)

/* Says how far to trust what a model predicted for a loaded block.
 *
 * `model` is "facile" or "sim"; others give no interval.  NULL: options changed what the model
 * computes, and there is no interval, either.  The cycles of *prediction are the model's, and its
 * bounds those of tact_predict.  Does not allocate, and takes a fraction of a prediction's time.
 *
 * Returns 0, with or without an interval, or:
 *   -TACT_E_INVAL  block, prediction or out is NULL, the block is empty, or a size is not set
 */
int tact_confidence_find(const struct tact_block *block, const char *model,
			 const struct tact_prediction *prediction, struct tact_confidence *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_CONFIDENCE_H */
