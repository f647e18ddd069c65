/* SPDX-License-Identifier: MIT
 *
 * Declarations that the files about evaluations share.
 *
 * Rows come in batches.  While one is filled, models run on the other, and what it says goes to the
 * tallies: what is kept of a row is its pair of predicted and measured cycles, among those of all other
 * rows, on disk if need be.
 */
#ifndef EVALUATE_EVALUATION_H
#define EVALUATE_EVALUATION_H

#include <pthread.h>
#include <stdatomic.h>

#include <tact-program/evaluate.h>

#include "base/base.h"
#include "base/hash.h"
#include "confidence/confidence.h"
#include "evaluate/cells.h"
#include "evaluate/exact.h"
#include "evaluate/sorted_runs.h"

enum {
	EVALUATION_MAX_ARCHS = 64,
	EVALUATION_MAX_SETS = 2 * EVALUATION_MAX_ARCHS,
	EVALUATION_KIND_SHIFT = 28, /* of groups of cells */
	EVALUATION_BATCH = 1 << 15, /* rows */
	EVALUATION_MEMORY = 1 << 24 /* bytes, for all tallies and again for what sorts them */
};

/* Members of the groups of one kind. */
struct evaluation_index {
	size_t capacity;
	struct hash index; /* of the groups */
};

/* What one model says of the rows of a batch; owned. */
struct evaluation_answers {
	double *predicted;
	uint8_t *outcomes, *held;
};

/* What one CPU says of the rows of a batch; owned. */
struct evaluation_limits {
	uint8_t *kind;
	double (*gain)[TACT_N_BOUNDS]; /* as a logarithm; NAN: nothing else limits it */
};

/* A row in a cell.  With weights, a row counts in several cells if its applications do not have its
 * weight.
 */
struct evaluation_entry {
	uint32_t row, cell;
	double weight;
};

struct evaluation_label {
	const char *category; /* in the arena of the batch */
	size_t first_source;
	uint32_t n_sources;
};

struct evaluation_batch {
	size_t first, n, capacity;	/* first: the number of the first row among all */
	struct tact_evaluated_row *row; /* owned, as all that follow */
	double *measured, *weight;
	struct evaluation_label *label;
	struct tact_row_source *source;
	size_t n_sources, source_capacity;
	struct tact_arena arena; /* for code and labels */
	struct evaluation_answers *answers;
	struct evaluation_limits *limits;
	struct evaluation_entry *entry;
	size_t n_entries, entry_capacity;
};

/* What is added up for one CPU's bottlenecks.  Sums do not depend on the order of rows. */
struct evaluation_limit_sums {
	struct exact share[TACT_N_BOTTLENECKS];
	struct exact gain[TACT_N_BOUNDS], weight[TACT_N_BOUNDS];
	struct exact flow[TACT_N_BOTTLENECKS * TACT_N_BOTTLENECKS]; /* to the next CPU */
};

/* What learning intervals needs to know of a row. */
struct evaluation_sample {
	double ratio; /* measured / predicted */
	uint32_t set;
	int32_t program; /* its first application's group; -1: none */
	struct confidence_class of;
	uint8_t half, model; /* model: its number in the evaluation */
};

/* Rows by powers of two of their measured cycles, for the range of the pictures. */
enum { EVALUATION_POWERS = 2200, EVALUATION_POWER_0 = 1100 };

/* A name of a CPU, and what it was found to be. */
struct evaluation_name {
	char name[128];
	const struct tact_arch *arch; /* NULL: unknown */
};

struct evaluation {
	struct tact_evaluation view; /* first: callers see this; its arrays are owned */
	struct tact_evaluation_options opt;
	struct tact_arena arena; /* for labels and names */
	struct tact_ran *ran;	 /* owned */
	size_t model_capacity, bottlenecks_capacity;
	struct evaluation_index by[TACT_N_GROUPINGS];
	const struct tact_arch *arch[EVALUATION_MAX_ARCHS];
	struct tact_arch *derived[EVALUATION_MAX_ARCHS]; /* owned; NULL: it is a built-in one */
	unsigned n_archs;
	struct evaluation_name name[32]; /* by the first letter */
	uint64_t *archs_of;		 /* owned; of each input: bits of the CPUs in arch */
	const char *default_arch;
	bool has_default;
	atomic_size_t n_estimated; /* of all models and bottlenecks */

	/* ---- batches ---- */
	struct evaluation_batch batch[2];
	unsigned filling; /* the one that takes rows */
	bool is_started;  /* a batch has run: there can be no more models */
	bool is_running;  /* the other one is being run, */
	bool has_thread;  /* by this thread */
	pthread_t thread;
	struct evaluation_batch *run; /* that one */
	int status, run_status;	      /* < 0: it is over; run_status: of the other one */
	struct tact_diag why;
	int ran_status; /* the worst of tact_model_run: a model could not do its work */
	char **said;	/* owned: what was told to opt.say, each once; n_told of them were told */
	size_t n_said, n_told, said_capacity;

	/* ---- what is kept ---- */
	struct cells cells;
	struct sorter *tally;		      /* owned: one per model */
	struct evaluation_limit_sums *limits; /* owned: one per CPU of the bottlenecks */
	struct evaluation_sample *sample;     /* owned */
	size_t n_samples, sample_capacity;
	uint64_t *powers_below, *powers_above; /* owned; NULL: no pictures */
	bool *has_stored;		       /* owned: which models found predictions */
	char *partial; /* owned; the options of the partial scores that were added */
	bool is_combined, is_scored;
};

static inline struct evaluation *evaluation_of(struct tact_evaluation *view)
{
	return (struct evaluation *)view;
}

static inline const struct evaluation *evaluation_of_const(const struct tact_evaluation *view)
{
	return (const struct evaluation *)view;
}

/* Finds a CPU by its name, with the changed parameters.  Returns 1, 0 if the name is unknown or
 * there is no room for more, or an error of tact_arch_derive.
 */
int evaluation_arch(struct evaluation *e, const char *name, const struct tact_arch **arch,
		    struct tact_diag *diag);

/* Finds the set of a CPU and mode, or adds it.  Returns its number or -TACT_E_NOMEM. */
long evaluation_set(struct evaluation *e, const struct tact_arch *arch, enum tact_mode mode);

/* Finds the cell of a key of a set, or adds it with its groups.  Returns its number or
 * -TACT_E_NOMEM.
 */
long evaluation_cell(struct evaluation *e, uint32_t set, const struct cell_key *key);

/* Finds a group, or adds it.  Returns its number or -TACT_E_NOMEM. */
long evaluation_group(struct evaluation *e, enum tact_grouping kind, uint32_t set,
		      const char *label);

/* Makes room for what models say of a batch. */
int evaluation_start_batch(struct evaluation *e, struct evaluation_batch *batch);

/* Reads a number, or the name of an outcome, from a column. */
void evaluation_read_answer(const char *text, double *predicted, uint8_t *outcome);

/* Steps. */
int evaluation_start(struct evaluation *e, struct tact_diag *diag); /* before the first batch */
int evaluation_flush(struct evaluation *e); /* runs the batch that is filled, in a thread */
void evaluation_wait(struct evaluation *e); /* for the batch that is run, and shows it */
void evaluation_batch_fini(struct evaluation *e, struct evaluation_batch *batch);
void evaluation_say(void *e, const char *text);

/* What is done with a batch: by models, and then by what they said.  Return 0 or < 0. */
int evaluation_run_models(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag);
int evaluation_find_limits(struct evaluation *e, struct evaluation_batch *b,
			   struct tact_diag *diag);
int evaluation_hold(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag);
int evaluation_tally(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag);
int evaluation_picture(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag);

/* At the end. */
int evaluation_sort_sets(struct evaluation *e, struct tact_diag *diag);
int evaluation_score(struct evaluation *e, struct tact_diag *diag);
void evaluation_share_limits(struct evaluation *e);
int evaluation_draw(struct evaluation *e, struct tact_diag *diag);

/* The registry's name for predictions that are in a column of the rows. */
const char *evaluation_column(const char *model); /* NULL: it is another model */

/* Returns where the groups of each kind begin if all are numbered in a row: one more than there are
 * kinds.
 */
void evaluation_first_groups(const struct evaluation *e, size_t first[TACT_N_GROUPINGS + 1]);

#endif /* EVALUATE_EVALUATION_H */
