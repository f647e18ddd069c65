/* SPDX-License-Identifier: MIT
 *
 * How well predictions agree with measurements: models compared with measured rows, scores of all
 * rows and of groups, and the data of pictures.
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
	TACT_OUTCOME_UNDECODABLE, /* the bytes are not code */
	TACT_OUTCOME_NO_DATA, /* the model lacks data for an instruction: a lower bound at best */
	TACT_OUTCOME_NOT_APPLICABLE, /* the model has nothing to say about this kind of block */
	TACT_OUTCOME_NO_NUMBER,	     /* the model failed, or its answer is not a positive number */
	TACT_OUTCOME_TIMEOUT,
	TACT_N_OUTCOMES
};

/* Returns "good", "undecodable", "no_data", ...: these are columns of files. */
const char *tact_outcome_name(enum tact_outcome outcome);

/* Rows; all arrays have n elements and are borrowed. */
struct tact_pairs {
	size_t n;
	const double *predicted, *measured;
	const double *weights;	 /* NULL: all the same */
	const uint8_t *outcomes; /* enum tact_outcome; NULL: all good.  Others count as failed and
				  * as nothing else: their predictions are not looked at */
	const uint8_t *held;	 /* enum tact_held: the measurement and the interval; NULL: none */
};

/* Whether the interval of a prediction (tact/confidence.h) holds the measurement. */
enum tact_held { TACT_HELD_UNKNOWN, TACT_HELD_NOT, TACT_HELD };

struct tact_scores {
	size_t size;
	size_t outcomes[TACT_N_OUTCOMES]; /* rows by outcome */
	size_t n; /* good rows; everything below is about these, and valid only if there are any */
	double weight;	 /* their sum */
	double mape;	 /* mean of |predicted - measured| / measured */
	double median;	 /* of the same */
	double bias;	 /* mean of (predicted - measured) / measured */
	double within_5; /* share with an error of at most 5% */
	double within_10;
	double tau;   /* Kendall's tau-b; only if has_tau */
	bool has_tau; /* false for fewer than two pairs, or if all values of a side are the same */
	size_t n_intervals; /* good rows whose predictions have an interval */
	double held;	    /* share of these whose interval holds the measurement, by weight */
};

/* With weights, means and shares are weighted, and in tau a pair of rows counts with the product of
 * their weights.  Takes n log n steps.
 * Returns -TACT_E_INVAL if a good row's measured value is not positive, its prediction not finite
 * or its weight not positive; -TACT_E_NOMEM.
 */
int tact_scores_compute(const struct tact_pairs *pairs, struct tact_scores *out);

#define TACT_NO_GROUP UINT32_MAX

/* Computes the scores of each group: group[i] is the group of row i, below n_groups, or
 * TACT_NO_GROUP.  Errors as above.
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
/* ---- data of pictures ---- */

enum { TACT_HEAT_BINS = 48, TACT_ERROR_BINS = 43 };

/* Good rows by measured and predicted cycles, both logarithmic from low to high; rows outside count
 * in the bins at the border.
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

/* Good rows by signed relative error.  Bins are 5% wide, and bin 21 is -2.5% to 2.5%; the first and
 * the last one have everything beyond.
 */
struct tact_errors {
	size_t size;
	double count[TACT_ERROR_BINS];
};
int tact_errors_compute(const struct tact_pairs *pairs, struct tact_errors *out);

/* Counts in flow[from * n_kinds + to] how many rows are of kind from[i] and of kind to[i].  Rows
 * with a kind that is not below n_kinds are left out.  weights may be NULL.
 */
int tact_flow_compute(const uint8_t *from, const uint8_t *to, const double *weights, size_t n,
		      unsigned n_kinds, double *flow);

/* ---- models compared with measured rows ---- */

/* Where rows come from, and what is known about them that they do not say, or say wrongly. */
struct tact_evaluation_input {
	const char *path; /* a store among them can have predictions: stored:NAME */
	const char *arch; /* that the rows were measured on; NULL: the rows say it */
	int mode, init;	  /* < 0, or mode AUTO: the rows say it */
};

struct tact_evaluation_options {
	size_t size;
	const struct tact_evaluation_input *inputs; /* borrowed: they must outlive the evaluation */
	size_t n_inputs;
	const char *params; /* a file that changes the CPUs' parameters; NULL: none */
	bool is_clean;	    /* only rows that are known to be clean */
	bool is_confirmed;  /* only rows that at least two rounds confirm */
	bool is_weighted;   /* rows count with their weights */
	bool is_common;	    /* only rows that all models predict are scored */
	bool is_forced;	    /* keeps rows that were measured on another CPU than the input's */
	bool is_rounded;    /* rounds predictions to two digits, and for tau also measurements */
	unsigned threads, timeout; /* as in struct tact_model_options */
	bool has_pictures;	   /* makes the data of pictures */
	unsigned worst;		   /* so many of the largest errors of each model are kept */
	bool is_for_calibration;   /* keeps 24 bytes of each row, for tact_calibration_create */
	const char *folder;	   /* for temporary files, borrowed; NULL: /tmp */
	/* Called in tact_evaluation_add_row and tact_evaluation_run, when the rows that are here
	 * have their predictions; may be NULL.
	 */
	void (*take_rows)(void *context);
	/* Returns the CPU of rows that do not say it; called at most once.  If this is NULL, or
	 * returns an unknown name, these rows are left out.
	 */
	const char *(*default_arch)(void *context);
	/* Called with what a model did wrong, as in struct tact_model_options; may be NULL. */
	void (*say)(void *context, const char *text);
	/* Called with how many of the estimates are there, by any thread and by several at once;
	 * may be NULL.
	 */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
};

struct tact_evaluated_row {
	const uint8_t *code; /* as it ran: a loop has its branch */
	int64_t block;	     /* in its store */
	uint32_t code_size;
	uint32_t input, line; /* line 0: of a store */
	uint32_t set;
	uint8_t init;	   /* enum tact_init */
	uint8_t alignment; /* of the first byte in a cache line */
};

/* Rows of one CPU and mode.  After the run they are in the order of tact_arch_next, unrolled ones
 * first.
 */
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

/* A row with a large error. */
struct tact_evaluated_worst {
	size_t number; /* of the row, from 0 */
	struct tact_evaluated_row row;
	double measured, error;
	const double *predicted; /* one per model */
	const uint8_t *outcomes; /* enum tact_outcome, one per model */
};

struct tact_evaluated_model {
	const char *name;	  /* in tables */
	const char *model;	  /* in the registry */
	const double *predicted;  /* one per row that is here */
	const uint8_t *outcomes;  /* enum tact_outcome, one per row that is here */
	const uint8_t *held;	  /* enum tact_held, one per row that is here */
	struct tact_heatmap *map; /* of all rows that count; NULL: no pictures were asked for */
	struct tact_errors *errors;
	struct tact_evaluated_worst *worst; /* the largest errors first */
	size_t n_worst;
	struct tact_scores *scores[TACT_N_GROUPINGS]; /* one per group */
};

/* FACILE's bottlenecks on one CPU, whatever the rows were measured on. */
enum { TACT_N_BOTTLENECKS = TACT_N_BOUNDS + 1 };
struct tact_evaluated_bottlenecks {
	const struct tact_arch *arch;
	const uint8_t *kind; /* one per row that is here: the first bottleneck, or TACT_N_BOUNDS */
	double share[TACT_N_BOTTLENECKS];
	/* If a component were ideal: the geometric mean of the blocks' speed-ups, and whether any
	 * block gains.
	 */
	double speedup[TACT_N_BOUNDS];
	bool has_gain[TACT_N_BOUNDS];
};

/* The results.  The evaluation owns everything; callers only read it. */
struct tact_evaluation {
	const struct tact_evaluation_options
		*options; /* as partial scores say, if any were added */
	size_t n;	  /* rows */
	/* The last of these rows, or those of take_rows, are here with their properties. */
	size_t n_here;
	const struct tact_evaluated_row *row;
	const double *measured, *weight;
	struct tact_evaluated_set *set;
	size_t n_sets;
	struct tact_evaluated_groups by[TACT_N_GROUPINGS];
	struct tact_evaluated_model *model;
	size_t n_models;
	struct tact_evaluated_bottlenecks *bottlenecks;
	size_t n_bottlenecks;
	/* rows that were left out */
	size_t n_unmeasured, n_not_positive, n_unclean, n_unconfirmed, n_unknown_arch;
	char unknown_arch[64]; /* the first one */
	size_t n_other_arch;   /* measured on another CPU than asked for; left out unless forced */
	char other_arch[64];
	bool is_model_wrong;   /* the run failed because a model could not be opened */
	size_t n_assumed_arch; /* name no CPU: the default was taken */
};

/* opt may be NULL.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_evaluation_create(struct tact_evaluation **out, const struct tact_evaluation_options *opt);
void tact_evaluation_destroy(struct tact_evaluation *e); /* NULL is allowed */

/* Adds a row of the input with this number.  Returns 1, 0 if the row is left out (and counts why),
 * -TACT_E_NOMEM, or errors of tact_arch_derive for the file of parameters.
 */
int tact_evaluation_add_row(struct tact_evaluation *e, size_t input, const struct tact_row *row,
			    struct tact_diag *diag);

/* Adds a model of the registry, once.  Returns 1, 0 if it is there, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_evaluation_add_model(struct tact_evaluation *e, const char *name);

/* Asks for bottlenecks on a CPU.  Returns errors of tact_evaluation_add_row, and -TACT_E_INVAL if
 * the name is unknown.
 */
int tact_evaluation_add_bottlenecks(struct tact_evaluation *e, const char *arch,
				    struct tact_diag *diag);

/* Computes all scores.  Models run while rows are added, many rows at a time and on several threads:
 * after the first 32,768 rows there can be no more models and bottlenecks.  Memory does not grow with
 * the rows.
 * Returns errors of tact_model_run, and -TACT_E_IO if a temporary file fails.  After -TACT_E_NO_TOOL
 * or -TACT_E_FORMAT without a reason in diag, only one model failed and everything else is complete.
 */
int tact_evaluation_run(struct tact_evaluation *e, struct tact_diag *diag);

/* Sorts the groups of a kind by set and label; of one set, or of TACT_ALL_SETS.  The caller frees
 * *order.  Returns how many there are, or -TACT_E_NOMEM.
 */
long tact_evaluation_order(const struct tact_evaluation *e, enum tact_grouping kind, uint32_t set,
			   uint32_t **order);

/* Computes the flow from the bottlenecks of the i-th CPU to those of the next one, as
 * tact_flow_compute does: TACT_N_BOTTLENECKS squared elements.
 */
void tact_evaluation_flow(const struct tact_evaluation *e, size_t i, double *flow);

/* Returns whether an input has rows of a CPU. */
bool tact_evaluation_has_rows(const struct tact_evaluation *e, size_t input,
			      const struct tact_arch *arch);

/* Loads a row that is here into a block, which is bound to the row's CPU, mode and values. */
int tact_evaluation_load(const struct tact_evaluation *e, size_t row, struct tact_block *block);
int tact_evaluation_load_row(const struct tact_evaluation *e, const struct tact_evaluated_row *row,
			     struct tact_block *block);

/* ---- partial scores ---- */

/* Write what the scores are made of to a file, and add what a file has to an evaluation without rows
 * and models.  Scores of parts that were added, in whatever order, are those of all rows, to the last
 * bit.  Write after the run, or without rows;
 * a run after adding computes the scores.
 *
 * tact_evaluation_add_partial returns 0, or with the reason in diag:
 *   -TACT_E_INVAL    it has other models, bottlenecks or options than the first one
 *   -TACT_E_FORMAT   it is no such file, or damaged
 *   -TACT_E_VERSION  it is of a later version
 *   -TACT_E_IO, -TACT_E_NOMEM
 * and the evaluation is of no use after that.
 */
int tact_evaluation_write_partial(struct tact_evaluation *e, const char *path,
				  struct tact_diag *diag);
int tact_evaluation_add_partial(struct tact_evaluation *e, const char *path,
				struct tact_diag *diag);

/* Returns how many rows are not good. */
size_t tact_scores_failed(const struct tact_scores *scores);
/* Returns tact_bound_name, or "no data". */
const char *tact_bottleneck_name(unsigned kind);

/* ---- learning intervals ---- */

/* What was learned from the rows of one CPU and mode for one model.  To see how well that carries
 * over to other rows, it is also learned from some and tried on the others: each half of the blocks,
 * divided by their bytes, and all programs but one.
 */
struct tact_calibrated {
	const struct tact_arch *arch;
	enum tact_mode mode;
	const char *model;
	size_t rows;	     /* with a prediction */
	double held;	     /* of the other half: the share that intervals hold */
	double width;	     /* of these intervals, relative to the prediction: the median */
	size_t program_rows; /* rows that say which program they are from */
	double program_held; /* of the program that was left out */
};

/* The caller only reads it. */
struct tact_calibration {
	struct tact_calibrated *set;
	size_t n;
};

/* Learns intervals from the rows of an evaluation with is_for_calibration that was run: for its models
 * facile and sim.
 * Returns 0, or:
 *   -TACT_E_INVAL    an argument is missing
 *   -TACT_E_NO_DATA  there is neither model, or no CPU and mode has 300 rows
 *   -TACT_E_NOMEM    out of memory
 */
int tact_calibration_create(struct tact_calibration **out, const struct tact_evaluation *e,
			    struct tact_diag *diag);
void tact_calibration_destroy(struct tact_calibration *calibration); /* NULL is allowed */

/* Makes the table of a CPU, as in data/confidence, with a line that says where the rows are from.
 * The caller frees *text.  Returns 0, or:
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory
 */
int tact_calibration_table(const struct tact_calibration *calibration, const struct tact_arch *arch,
			   const char *origin, char **text);

/* ---- one model compared with measurements, row by row ---- */

struct tact_compared {
	const uint8_t *code; /* owned by the comparison, as are the others */
	size_t code_size;
	const char *name; /* "": none */
	const struct tact_arch *arch;
	enum tact_mode mode;
	enum tact_init init;
	uint32_t flags;	      /* enum tact_measure_flag */
	uint32_t bottlenecks; /* bits of enum tact_bound, if the model tells them */
	double measured, predicted, coverage;
	double error; /* relative, signed */
	unsigned alignment;
	const char *measured_on; /* the CPU that the row names; "": none */
};

/* Callers only read it. */
struct tact_comparison {
	struct tact_compared *row;
	size_t n;
	size_t n_numberless, n_unpredicted; /* rows that were left out */
};

/* Creates a comparison for a model of the registry that takes one block at a time.  Returns errors
 * of tact_model_open.
 */
int tact_comparison_create(struct tact_comparison **out, const char *model, struct tact_diag *diag);
void tact_comparison_destroy(struct tact_comparison *comparison); /* NULL is allowed */

/* Predicts a row, which says its mode, on a CPU.  Returns 1, or 0 if the row is left out (and
 * counts why).  arch may be NULL if the row has no number.  Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_comparison_add(struct tact_comparison *comparison, const struct tact_row *row,
			const char *name, const struct tact_arch *arch);

/* Sorts the rows, the largest errors first. */
void tact_comparison_sort(struct tact_comparison *comparison);

/* Computes the agreement of the rows for a CPU (NULL: for all) without any of these flags.  Returns errors of
 * tact_agreement_compute.
 */
int tact_comparison_agreement(const struct tact_comparison *comparison,
			      const struct tact_arch *arch, uint32_t without,
			      struct tact_agreement *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_EVALUATE_H */
