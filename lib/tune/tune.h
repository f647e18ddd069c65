/* SPDX-License-Identifier: MIT
 *
 * Layer 5: parameters learned from measurements.
 *
 * Rows are measured blocks.  A table holds the values of all parameters: those of the plain machine
 * (mca) or a changed copy of an architecture (facile, sim).  A site is a form in one situation,
 * with its parameters and the training rows in which it occurs.  Workers evaluate rows, each with a
 * table of its own; between calls, all tables are the same.
 */
#ifndef TACT_TUNE_PRIVATE_H
#define TACT_TUNE_PRIVATE_H

#include <tact/insn.h>
#include <tact/model.h>
#include <tact/tune.h>

#include "arch/arch.h"
#include "base/base.h"
#include "base/hash.h"
#include "base/random.h"

/* ---- rows ---- */

struct tune_row {
	uint32_t code, size; /* in tune_rows.code */
	uint16_t group;	     /* in tune_rows.groups */
	uint8_t part;	     /* enum tact_tune_part */
	double cycles;
};

struct tune_rows {
	struct tune_row *rows; /* owned */
	size_t n, capacity;
	uint8_t *code; /* owned */
	size_t code_size, code_capacity;
	struct hash index;  /* of rows, by code */
	char (*groups)[48]; /* owned; the first is "" */
	size_t n_groups, group_capacity;
	size_t n_part[TACT_TUNE_N_PARTS];
};

int tune_rows_add(struct tune_rows *rows, const uint8_t *code, size_t size, double cycles,
		  const char *group); /* Returns 1, or 0: it is there already. */
void tune_rows_fini(struct tune_rows *rows);

/* Splits rows 80, 10 and 10 percent by the hash of the code: the order of the rows does not matter.
 */
int tune_rows_split(struct tune_rows *rows, uint64_t seed);

/* ---- parameters ---- */

enum tune_kind {
	/* of mca: enum tact_mca_kind */
	TUNE_LATENCY = TACT_MCA_N_KINDS, /* of the tables: index into the form's list */
	TUNE_PORT_SET,			 /* index into the list of uses; the value is a mask */
	TUNE_PORT_COUNT,
	TUNE_FUSED,
	TUNE_HOLD, /* cycles that the divider is held, or that nothing else explains */
	TUNE_CORE, /* a parameter of the core: index into tune_core */
	TUNE_N_KINDS
};

struct tune_param {
	uint16_t form; /* TACT_FORM_NONE: global */
	uint8_t kind;  /* enum tact_mca_kind or enum tune_kind */
	uint8_t situation;
	uint16_t index;
	int low, high;
};

struct tune_site {
	uint16_t form;
	uint8_t situation;
	uint32_t first_param, n_params;
	uint32_t first_row, n_rows; /* in tact_tuner.site_rows */
};

struct tune_table {
	struct tact_mca_params *mca; /* owned; or */
	struct tact_arch *arch;	     /* owned */
	const uint16_t *tied;	     /* borrowed; as tact_tuner.tied */
};

/* Returns the instruction set of its content. */
static inline const struct tact_isa *tune_isa(const struct tune_table *table)
{
	return tact_arch_isa(table->mca ? tact_mca_params_arch(table->mca) : table->arch);
}

int tune_table_copy(struct tune_table *out, const struct tune_table *from);
void tune_table_fini(struct tune_table *table);
int tune_value(const struct tune_table *table, const struct tune_param *param);
void tune_assign(struct tune_table *table, const struct tune_param *param, int value);

/* Gets the index-th parameter of the core; false past the last one. */
bool tune_core(unsigned index, struct tune_param *out);

/* Names for people: "IMUL (R64, R64) latency r0>r1", "3", "p0156". */
void tune_param_name(const struct tune_table *table, const struct tune_param *param, char *text,
		     size_t size);
void tune_value_text(const struct tune_param *param, int value, char *text, size_t size);
const char *tune_kind_name(unsigned kind);
unsigned tune_kind_what(unsigned kind); /* bit of enum tact_tune_what */

/* Samples every parameter of mca from the paper's distribution (section V-A), including forms
 * outside of the rows; bits of `what` that are 0 stay as they are.
 */
void tune_sample(struct tact_mca_params *params, unsigned what, uint64_t *rng);
void tune_sample_form(struct tact_mca_params *params, unsigned form, unsigned what, uint64_t *rng);
int tune_sample_value(unsigned kind, uint64_t *rng);

/* Makes a percentage of latencies and port sets wrong. */
int tune_corrupt(struct tact_tuner *t, struct tune_table *table, unsigned percent);

/* ---- evaluation ---- */

struct tune_worker {
	struct tact_tuner *t;
	struct tune_table table;  /* owned */
	struct tact_mca *machine; /* owned; mca */
	struct tact_estimator *estimator,
		*bound;		  /* owned; others; FACILE where the pipeline does not end */
	struct tact_block *block; /* owned; others */
	double *errors, *trial;	  /* owned; of a site's rows */
	int status;
};

struct tact_tuner {
	struct tact_tune_options opt;
	struct tact_tune_network network; /* with its defaults */
	struct tact_block_options block;
	bool is_mca;	 /* the model has parameters of its own; else they are the tables' */
	bool has_slopes; /* tune_gradient supports it */
	struct tune_rows rows;
	struct tact_mca_code **codes; /* owned; of rows; mca */
	struct tact_block *decoder;   /* owned */

	struct tune_table defaults, start; /* owned */
	struct tune_param *params;	   /* owned; globals first */
	size_t n_params, param_capacity, n_globals;
	struct tune_site *sites; /* owned; by number of rows, most first */
	size_t n_sites, site_capacity;
	uint32_t *site_of;   /* owned; by form * ARCH_N_SITUATIONS + situation: number + 1 */
	uint32_t *site_rows; /* owned */
	/* Forms that have the same values, or NULL; owned.  By form: the one of them that has the
	 * site, and the next one of the circle.
	 */
	uint16_t *canon, *tied;
	size_t n_site_rows, site_row_capacity;
	int port_sets[ARCH_MAX_PORT_SETS]; /* as values of parameters: masks that the architecture's
					      tables have */
	unsigned n_port_sets;

	struct tune_worker *workers; /* owned; the first one has the current table */
	unsigned n_workers;
	double *predicted;	       /* owned; by row, under the current table */
	double *error;		       /* owned; relative */
	double *by_default, *by_start; /* owned */
	uint64_t evaluations;
	double start_seconds;
	double surrogate_error;
	unsigned unit;		     /* micro-ops of the table that make one; 0: 1 */
	struct tune_change *changes; /* owned; see tune_changes.c */
	size_t n_changes;
	bool has_run;
};

/* Notes which opcodes of LLVM's the instructions of the training rows have. */
struct mca_export;
int tune_note_opcodes(const struct tact_tuner *t, struct mca_export *e);

/* Makes params, sites and workers from the rows and the start. */
int tune_space_create(struct tact_tuner *t, struct tact_diag *diag);
int tune_codes_make(struct tact_tuner *t, enum tact_mca_memory memory);

/* Returns the situation whose data block_lower uses for an instruction. */
enum arch_situation tune_situation(const struct tact_arch *arch, const struct tact_insn *insn);

/* Returns the site of a form, or NULL if it does not occur in the training rows. */
const struct tune_site *tune_site_of(const struct tact_tuner *t, unsigned form,
				     enum arch_situation situation);

int tune_predict(struct tune_worker *w, uint32_t row, double *cycles);

/* Calls fn for items 0 to n - 1 on all workers.  Results must not depend on which worker does what.
 */
typedef int tune_item_fn(struct tune_worker *w, size_t item, void *context);
int tune_parallel(struct tact_tuner *t, size_t n, tune_item_fn *fn, void *context);

/* Where items leave their results: item i in item_bytes bytes from i * item_bytes on. */
struct tune_result {
	void *data;
	size_t item_bytes, bytes;
};

/* The same, on the workers of all ranks: the results of all items are here afterwards. */
int tune_parallel_shared(struct tact_tuner *t, size_t n, tune_item_fn *fn, void *context,
			 const struct tune_result *results, size_t n_results);

/* Its parts (ranks.c): whether an item is for this rank; and the exchange of results, where `status`
 * is that of this rank, and a failure of one is a failure of all.
 */
bool tune_is_mine(const struct tact_tuner *t, size_t item);
int tune_share(struct tact_tuner *t, size_t n, int status, const struct tune_result *results,
	       size_t n_results);
/* Returns the status, or -TACT_E_LIMIT if another rank has failed. */
int tune_agree(struct tact_tuner *t, int status);
/* Whether all ranks have the same rows. */
int tune_check_ranks(struct tact_tuner *t, struct tact_diag *diag);

/* Fills `predicted` and `error` for all rows under the current table. */
int tune_evaluate(struct tact_tuner *t);
double tune_error_of(const struct tact_tuner *t, enum tact_tune_part part);

/* The same for some parts only; parts: bits. */
int tune_evaluate_parts(struct tact_tuner *t, unsigned parts);

/* Sets a value in the tables of all workers. */
void tune_set(struct tact_tuner *t, const struct tune_param *param, int value);

/* Calls fn while all workers have another table; afterwards they have the present one again. */
int tune_with_table(struct tact_tuner *t, const struct tune_table *table,
		    int (*fn)(struct tact_tuner *t, void *context), void *context);
void tune_values_get(const struct tact_tuner *t, int *values);
void tune_values_set(struct tact_tuner *t, const int *values);

static inline double tune_relative(double predicted, double measured)
{
	double difference = predicted - measured;

	return (difference < 0 ? -difference : difference) / measured;
}

/* ---- subgradients of FACILE (tune_gradient.c) ---- */

struct tune_slope {
	uint32_t param;
	double slope; /* change of the prediction for a change of the value by one */
};
enum { TUNE_MAX_SLOPES = 256 };

/* Computes the prediction, and its slopes by the parameters that it depends on.  Returns their
 * number, or < 0.
 */
int tune_gradient(struct tune_worker *w, uint32_t row, double *cycles, struct tune_slope *slopes);

/* ---- methods ---- */

int tune_direct(struct tact_tuner *t, struct tact_diag *diag);
int tune_simple(struct tact_tuner *t, struct tact_diag *diag);
int tune_random_search(struct tact_tuner *t, struct tact_diag *diag);
int tune_bandit(struct tact_tuner *t, struct tact_diag *diag);
int tune_surrogate(struct tact_tuner *t, struct tact_diag *diag);

double tune_seconds(void);

/* Calls the caller's function.  Returns -TACT_E_LIMIT if it asks for the end. */
int tune_report(struct tact_tuner *t, const char *phase, unsigned step, unsigned steps, double done,
		double loss, double validation, double seconds_left);

/* Finds what changed, and what it saves, after the run. */
int tune_changes_find(struct tact_tuner *t);

#endif /* TACT_TUNE_PRIVATE_H */
