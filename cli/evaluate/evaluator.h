/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact evaluate` share.
 */
#ifndef TACT_EVALUATOR_H
#define TACT_EVALUATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/evaluate.h>
#include <tact/predict.h>

#include "common/archlist.h"
#include "common/output.h"

/* ---- options ---- */

/* What -a, -m and --init said when an input came. */
struct evaluate_setting {
	const char *arch; /* NULL: nothing */
	int mode, init;	  /* < 0: nothing */
};

struct evaluate_input {
	const char *path; /* borrowed from argv */
	struct evaluate_setting setting;
};

/* ---- rows ---- */

enum { EVALUATE_MAX_ARCHS = 64 };
#define EVALUATE_NONE UINT32_MAX

struct evaluate_row {
	size_t at;     /* of its code in the rows' bytes */
	int64_t block; /* in its store */
	uint32_t size;
	uint32_t input, line;
	uint32_t set;
	uint8_t init;
};

/* Rows of one CPU and mode. */
struct evaluate_set {
	unsigned arch; /* in the evaluator's list */
	enum tact_mode mode;
	size_t n;
};

/* A row may belong to several groups of a kind: a block that two applications share. */
struct evaluate_group {
	uint32_t set;
	char *label; /* owned; NULL: none */
};
enum { BY_NOTHING, BY_SET, BY_APP, BY_CATEGORY, EVALUATE_KINDS };

struct evaluate_grouping {
	struct evaluate_group *group; /* owned */
	size_t n, capacity;
	uint32_t *slots; /* of a hash table; owned */
	size_t n_slots;
	uint32_t *row, *of; /* members: row and its group; owned */
	double *weight;	    /* of the row in the group; owned */
	size_t n_members, member_capacity;
};

struct evaluate_rows {
	struct evaluate_row *row; /* owned, as all here */
	double *measured, *weight;
	size_t n, capacity;
	uint8_t *bytes;
	size_t n_bytes, bytes_capacity;
	struct evaluate_set *set;
	size_t n_sets;
	struct evaluate_grouping by[EVALUATE_KINDS];
	size_t n_unmeasured, n_not_positive, n_unclean, n_unknown_arch;
	char unknown_arch[64]; /* the first one */
};

/* ---- models ---- */

struct evaluate_model {
	char *name;	   /* owned; in tables */
	char *model;	   /* owned; its name in the registry */
	double *predicted; /* owned; one a row */
	uint8_t *outcomes; /* likewise */
};

/* ---- bottlenecks ---- */

/* FACILE's on one CPU, whatever the rows were measured on. */
struct evaluate_bottlenecks {
	const struct tact_arch *arch;
	uint8_t *kind; /* owned; one a row: the first bottleneck, TACT_N_BOUNDS: none */
	/* If a component were ideal: sums of the speedups' logarithms, and of weights. */
	double gain[TACT_N_BOUNDS], weight[TACT_N_BOUNDS];
};

struct evaluator {
	/* what the options say */
	struct evaluate_input *inputs; /* owned */
	size_t n_inputs;
	struct evaluate_setting current, last; /* last: given behind the last input */
	const char *params, *output, *rows_path, *report, *bottleneck_archs;
	struct evaluate_model *models; /* owned */
	size_t n_models;
	int format;
	bool is_clean, is_weighted, is_common, is_rounded, is_quiet, is_verbose;
	unsigned threads, timeout, worst;
	char why[sizeof(((struct tact_diag *)0)->text)];

	/* made from them */
	const struct tact_arch *arch[EVALUATE_MAX_ARCHS];
	struct tact_arch *derived[EVALUATE_MAX_ARCHS]; /* owned; NULL: it is a built-in one */
	unsigned n_archs;
	int default_arch;   /* < 0: not chosen yet */
	bool is_params_bad; /* the message was given */

	struct evaluate_rows rows;
	struct evaluate_bottlenecks *bottlenecks; /* owned */
	size_t n_bottlenecks;
	struct tact_scores **scores[EVALUATE_KINDS]; /* [kind][model][group]; owned */
};

/* Index of a CPU in the list, which grows; -1 without a message if there is none of that name. */
int evaluate_arch(struct evaluator *p, const char *name);

/* Reads all inputs.  Returns an exit code; messages were given. */
int evaluate_read(struct evaluator *p);
void evaluate_rows_fini(struct evaluate_rows *rows);
const uint8_t *evaluate_code(const struct evaluate_rows *rows, size_t i);
#define evaluate_mode_name tact_mode_name

/* --model: adds what a value names.  Returns NULL, or why it does not. */
const char *evaluate_add_models(void *evaluator, const char *value);
void evaluate_model_fini(struct evaluate_model *model);

/* Runs all models over all rows.  Returns an exit code. */
int evaluate_run(struct evaluator *p);

/* A thread's tool: loads row i for its CPU, or for another one.  Returns 0 or -TACT_E_*. */
struct evaluate_loader {
	const struct evaluator *p;
	struct tact_block *block; /* owned */
	const struct tact_arch *arch;
	struct tact_block_options options;
};
int evaluate_loader_init(struct evaluate_loader *l, const struct evaluator *p);
void evaluate_loader_fini(struct evaluate_loader *l);
int evaluate_load(struct evaluate_loader *l, size_t i);
int evaluate_load_for(struct evaluate_loader *l, size_t i, const struct tact_arch *arch);

/* Calls work(context, thread's number, chunk) for all chunks, on the threads asked for. */
void evaluate_parallel(unsigned threads, size_t n_chunks,
		       void (*work)(void *context, unsigned thread, size_t chunk), void *context);
unsigned evaluate_threads(const struct evaluator *p, size_t n_chunks);

/* Scores of all groups.  Returns an exit code. */
int evaluate_score(struct evaluator *p);
void evaluate_score_fini(struct evaluator *p);
/* The rows as pairs, with predictions rounded and rows left out as options say; owned by *memory.
 */
void evaluate_pairs(const struct evaluator *p, size_t model, struct tact_pairs *pairs,
		    void **memory);
void evaluate_pairs_free(void *memory);
size_t evaluate_failed(const struct tact_scores *s);

/* Groups of a kind in the order in which they are shown: of set, or of all sets.  Owned by the
 * caller.
 */
size_t evaluate_order(const struct evaluator *p, int kind, uint32_t set, uint32_t **order);

/* Formats. */
void evaluate_text(const struct evaluator *p, struct text *out);
void evaluate_csv(const struct evaluator *p, struct text *out);
void evaluate_json(const struct evaluator *p, struct text *out);
int evaluate_write_rows(const struct evaluator *p);
const char *evaluate_kind_name(int kind);
const char *evaluate_bottleneck_name(unsigned kind);
/* Of one CPU: shares by kind, TACT_N_BOUNDS + 1 of them; of two: flow. */
void evaluate_shares(const struct evaluator *p, size_t i, double *share);
/* Geometric mean over the blocks if component b were ideal. */
double evaluate_speedup(const struct evaluate_bottlenecks *at, unsigned b);
void evaluate_flow(const struct evaluator *p, size_t i, double *flow);
enum { EVALUATE_N_BOTTLENECKS = TACT_N_BOUNDS + 1 };

/* --report.  Returns an exit code. */
int evaluate_write_report(struct evaluator *p);

#endif /* TACT_EVALUATOR_H */
