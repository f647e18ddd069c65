/* SPDX-License-Identifier: MIT
 *
 * How well predictions agree with measurements: scores of all rows and of groups of them, and what
 * pictures are drawn from.
 */
#ifndef TACT_EVALUATE_H
#define TACT_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scores ---- */

/* What became of a row.  Values are stable: new ones go to the end. */
enum tact_outcome {
	TACT_OUTCOME_GOOD,
	TACT_OUTCOME_UNDECODABLE, /* the code is no code */
	TACT_OUTCOME_NO_DATA, /* the model lacks data for an instruction: a lower bound at best */
	TACT_OUTCOME_NOT_APPLICABLE, /* the model has nothing to say about this kind of block */
	TACT_OUTCOME_NO_NUMBER,	     /* the model failed, or its answer is no positive number */
	TACT_OUTCOME_TIMEOUT,
	TACT_N_OUTCOMES
};

/* "good", "undecodable", "no_data", ...: columns of files. */
const char *tact_outcome_name(enum tact_outcome outcome);

/* Rows; all arrays have n elements and are borrowed. */
struct tact_pairs {
	size_t n;
	const double *predicted, *measured;
	const double *weights;	 /* NULL: all the same */
	const uint8_t *outcomes; /* enum tact_outcome; NULL: all good.  Others count as failed and
				  * as nothing else: their predictions are not looked at */
};

struct tact_scores {
	size_t size;
	size_t outcomes[TACT_N_OUTCOMES]; /* rows by what became of them */
	size_t n;	 /* good ones; all below is of them, and only if there are any */
	double weight;	 /* their sum */
	double mape;	 /* mean of |predicted - measured| / measured */
	double median;	 /* of the same */
	double bias;	 /* mean of (predicted - measured) / measured */
	double within_5; /* share with an error of at most 5% */
	double within_10;
	double tau;   /* Kendall's tau-b; only if has_tau */
	bool has_tau; /* false for fewer than two pairs, or if all values of a side are the same */
};

/* With weights, means and shares are weighted, and in tau a pair of rows counts with the product of
 * their weights.  Takes n log n steps.
 * Returns -TACT_E_INVAL if a good row's measured value is not positive, its prediction not finite
 * or its weight not positive; -TACT_E_NOMEM.
 */
int tact_scores_compute(const struct tact_pairs *pairs, struct tact_scores *out);

#define TACT_NO_GROUP UINT32_MAX

/* Scores of each group: group[i] is the group of row i, below n_groups, or TACT_NO_GROUP.  Errors
 * as above.
 */
int tact_scores_by_group(const struct tact_pairs *pairs, const uint32_t *group, size_t n_groups,
			 struct tact_scores *out);

/* How well predictions agree with measurements. */
struct tact_agreement {
	size_t size;
	size_t n;
	double mape;   /* mean of |predicted - measured| / measured */
	double median; /* of the same */
	double tau;    /* Kendall's tau-b; only if has_tau */
	bool has_tau;  /* false for fewer than two pairs, or if all values of a side are the same */
};

/* Returns -TACT_E_INVAL if n is 0 or a measured value is not positive, -TACT_E_NOMEM. */
int tact_agreement_compute(const double *predicted, const double *measured, size_t n,
			   struct tact_agreement *out);
/* ---- what pictures are drawn from ---- */

enum { TACT_HEAT_BINS = 48, TACT_ERROR_BINS = 43 };

/* Good rows by measured and predicted cycles, both logarithmic from low to high; what lies outside
 * is in the bins at the border.
 */
struct tact_heatmap {
	size_t size;
	double low, high;
	double most; /* the largest count */
	double count[TACT_HEAT_BINS]
		    [TACT_HEAT_BINS]; /* [predicted][measured]; weights, if there are any */
};
int tact_heatmap_compute(const struct tact_pairs *pairs, double low, double high,
			 struct tact_heatmap *out);

/* Good rows by signed relative error: bin 21 is -2.5% to 2.5%, each is 5% wide, the first and the
 * last one have everything beyond.
 */
struct tact_errors {
	size_t size;
	double count[TACT_ERROR_BINS];
};
int tact_errors_compute(const struct tact_pairs *pairs, struct tact_errors *out);

/* How many rows are of kind from[i] and of kind to[i], both below n_kinds: flow[from * n_kinds +
 * to]. Kinds that are not below it are left out.  weights may be NULL.  flow is set to zero first.
 */
int tact_flow_compute(const uint8_t *from, const uint8_t *to, const double *weights, size_t n,
		      unsigned n_kinds, double *flow);

#ifdef __cplusplus
}
#endif

#endif /* TACT_EVALUATE_H */
