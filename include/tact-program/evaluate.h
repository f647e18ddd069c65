/* SPDX-License-Identifier: MIT
 *
 * How well predictions agree with measurements: models beside measured rows, scores of all rows and
 * of groups of them, and what pictures are drawn from.
 */
#ifndef TACT_PROGRAM_EVALUATE_H
#define TACT_PROGRAM_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/rows.h>
#include <tact/block.h>
#include <tact/predict.h>
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

/* ---- models beside measured rows ---- */

/* Where rows come from, and what is known of them that they do not say, or say wrongly. */
struct tact_evaluation_input {
	const char *path; /* a store among them can have predictions: stored:NAME */
	const char *arch; /* that the rows were measured on; NULL: they say it */
	int mode, init;	  /* < 0, or mode AUTO: likewise */
};

struct tact_evaluation_options {
	size_t size;
	const struct tact_evaluation_input *inputs; /* borrowed as long as the evaluation */
	size_t n_inputs;
	const char *params;	   /* a file that changes the CPUs' parameters; NULL: none */
	bool is_clean;		   /* only rows that are known to be clean */
	bool is_weighted;	   /* rows count with their weights */
	bool is_common;		   /* only rows that all models predict are scored */
	bool is_rounded;	   /* predictions to two digits, and for tau measurements, too */
	unsigned threads, timeout; /* as of struct tact_model_options */
	/* Which CPU rows are of that do not say it; called at most once.  NULL, or a name that
	 * there is none of: they are left out.
	 */
	const char *(*default_arch)(void *context);
	/* What a model did wrong, as of struct tact_model_options; may be NULL. */
	void (*say)(void *context, const char *text);
	void *context;
};

struct tact_evaluated_row {
	const uint8_t *code; /* as it ran: a loop has its branch */
	int64_t block;	     /* in its store */
	uint32_t code_size;
	uint32_t input, line; /* line 0: of a store */
	uint32_t set;
	uint8_t init; /* enum tact_init */
};

/* Rows of one CPU and mode. */
struct tact_evaluated_set {
	const struct tact_arch *arch;
	enum tact_mode mode;
	size_t n;
};

/* A row may belong to several groups of a kind: a block that two applications share. */
enum tact_grouping {
	TACT_BY_NOTHING,
	TACT_BY_SET,
	TACT_BY_APP,
	TACT_BY_CATEGORY,
	TACT_N_GROUPINGS
};
#define TACT_ALL_SETS UINT32_MAX

struct tact_evaluated_group {
	uint32_t set;	   /* or TACT_ALL_SETS */
	const char *label; /* NULL: none */
};

struct tact_evaluated_groups {
	struct tact_evaluated_group *group;
	size_t n;
};

struct tact_evaluated_model {
	const char *name;			      /* in tables */
	const char *model;			      /* in the registry */
	double *predicted;			      /* one a row */
	uint8_t *outcomes;			      /* enum tact_outcome, likewise */
	struct tact_scores *scores[TACT_N_GROUPINGS]; /* one a group */
};

/* FACILE's bottlenecks on one CPU, whatever the rows were measured on. */
enum { TACT_N_BOTTLENECKS = TACT_N_BOUNDS + 1 };
struct tact_evaluated_bottlenecks {
	const struct tact_arch *arch;
	uint8_t *kind; /* one a row: the first bottleneck, or TACT_N_BOUNDS: no data */
	double share[TACT_N_BOTTLENECKS];
	/* If a component were ideal: the geometric mean of the blocks' speed-ups, and whether any
	 * block gains.
	 */
	double speedup[TACT_N_BOUNDS];
	bool has_gain[TACT_N_BOUNDS];
};

/* What came of it: everything is the evaluation's, to be read and not written. */
struct tact_evaluation {
	size_t n; /* rows; with these: */
	struct tact_evaluated_row *row;
	double *measured, *weight;
	struct tact_evaluated_set *set;
	size_t n_sets;
	struct tact_evaluated_groups by[TACT_N_GROUPINGS];
	struct tact_evaluated_model *model;
	size_t n_models;
	struct tact_evaluated_bottlenecks *bottlenecks;
	size_t n_bottlenecks;
	/* rows that were left out */
	size_t n_unmeasured, n_not_positive, n_unclean, n_unknown_arch;
	char unknown_arch[64]; /* the first one */
};

/* opt may be NULL.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_evaluation_create(struct tact_evaluation **out, const struct tact_evaluation_options *opt);
void tact_evaluation_destroy(struct tact_evaluation *e); /* NULL is allowed */

/* Takes a row of the input with this number: 1; or 0, and counts why it does not.  Returns
 * -TACT_E_NOMEM, or errors of tact_arch_derive for the file of parameters.
 */
int tact_evaluation_add_row(struct tact_evaluation *e, size_t input, const struct tact_row *row,
			    struct tact_diag *diag);

/* Adds a model of the registry, once.  Returns 1, 0 if it is there, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_evaluation_add_model(struct tact_evaluation *e, const char *name);

/* Asks for bottlenecks on a CPU.  Errors as of tact_evaluation_add_row; -TACT_E_INVAL if there is
 * none of that name.
 */
int tact_evaluation_add_bottlenecks(struct tact_evaluation *e, const char *arch,
				    struct tact_diag *diag);

/* Runs all models over all rows on several threads, looks for bottlenecks, and computes all scores.
 * Errors as of tact_model_run: with -TACT_E_NO_TOOL or -TACT_E_FORMAT and no reason in diag
 * everything was done but what one model could not.
 */
int tact_evaluation_run(struct tact_evaluation *e, struct tact_diag *diag);

/* All rows of a model as pairs, with predictions rounded and rows left out as the options say.
 * *memory is to be freed.
 */
int tact_evaluation_pairs(const struct tact_evaluation *e, size_t model, struct tact_pairs *pairs,
			  void **memory);

/* Groups of a kind by set and label; of one set, or of TACT_ALL_SETS.  *order is to be freed.
 * Returns how many there are, or -TACT_E_NOMEM.
 */
long tact_evaluation_order(const struct tact_evaluation *e, enum tact_grouping kind, uint32_t set,
			   uint32_t **order);

/* From the bottlenecks of the i-th CPU to those of the next one, as tact_flow_compute has it:
 * TACT_N_BOTTLENECKS squared.
 */
void tact_evaluation_flow(const struct tact_evaluation *e, size_t i, double *flow);

/* Loads a row into a block, which is bound to the row's CPU, mode and values. */
int tact_evaluation_load(const struct tact_evaluation *e, size_t row, struct tact_block *block);

/* Rows that are not good. */
size_t tact_scores_failed(const struct tact_scores *scores);
/* tact_bound_name, and "no data". */
const char *tact_bottleneck_name(unsigned kind);

/* ---- one model beside measurements, row by row ---- */

struct tact_compared {
	const uint8_t *code; /* the comparison's, as all here */
	size_t code_size;
	const char *name; /* "": none */
	const struct tact_arch *arch;
	enum tact_mode mode;
	enum tact_init init;
	uint32_t flags;	      /* enum tact_measure_flag */
	uint32_t bottlenecks; /* enum tact_bound: bits, where the model tells them */
	double measured, predicted, coverage;
	double error; /* relative, signed */
};

/* To be read and not written. */
struct tact_comparison {
	struct tact_compared *row;
	size_t n;
	size_t n_numberless, n_unpredicted; /* rows that were left out */
};

/* A model of the registry that takes one block at a time.  Errors of tact_model_open. */
int tact_comparison_create(struct tact_comparison **out, const char *model, struct tact_diag *diag);
void tact_comparison_destroy(struct tact_comparison *comparison); /* NULL is allowed */

/* Predicts a row, which says its mode, on a CPU: 1; or 0, and counts why not.  arch may be NULL if
 * there is no number.  Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_comparison_add(struct tact_comparison *comparison, const struct tact_row *row,
			const char *name, const struct tact_arch *arch);

/* The largest errors first. */
void tact_comparison_sort(struct tact_comparison *comparison);

/* Of the rows that have none of these flags; errors of tact_agreement_compute. */
int tact_comparison_agreement(const struct tact_comparison *comparison, uint32_t without,
			      struct tact_agreement *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_EVALUATE_H */
