/* SPDX-License-Identifier: MIT
 *
 * Parameters of a machine learned from measurements of blocks alone (doc/models/tune.md).
 */
#ifndef TACT_TUNE_H
#define TACT_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/block.h>
#include <tact/mca.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_tune_method {
	TACT_TUNE_DIRECT,    /* exact changes of the error, instruction by instruction */
	TACT_TUNE_SURROGATE, /* DiffTune: gradients through a network that imitates the model */
	TACT_TUNE_SIMPLE,    /* baseline: a latency and a cost an instruction, nothing else; mca */
	TACT_TUNE_RANDOM,    /* baseline: random search */
	TACT_TUNE_BANDIT     /* baseline: a bandit over simple searches, as OpenTuner */
};

/* What is learned.  Bits; for mca all of them, for the tables all but ADVANCE. */
enum tact_tune_what {
	TACT_TUNE_LATENCY = 1 << 0,
	TACT_TUNE_UOPS = 1 << 1,
	TACT_TUNE_PORTS = 1 << 2,
	TACT_TUNE_ADVANCE = 1 << 3,
	TACT_TUNE_GLOBALS = 1 << 4
};

/* The parts that rows fall into: 80, 10 and 10 percent, disjoint by block. */
enum tact_tune_part { TACT_TUNE_TRAIN, TACT_TUNE_VALIDATION, TACT_TUNE_TEST, TACT_TUNE_N_PARTS };

/* What tact_tune_options.report is told now and then; a result of it that is not 0 ends the run,
 * which then returns -TACT_E_LIMIT.
 */
struct tact_tune_progress {
	size_t size;
	const char *phase;    /* static: "sweep", "simulate", "surrogate", "table", ... */
	unsigned step, steps; /* of the phase; steps 0: not known */
	double done;	      /* share of the phase, 0 to 1 */
	double loss;	      /* of what is minimised; NaN: not known yet */
	double validation;    /* mean relative error of the validation rows; NaN likewise */
	double seconds_left;  /* of the whole run; NaN likewise */
};

/* Sizes of the surrogate.  0: the default. */
struct tact_tune_network {
	unsigned embedding, hidden; /* 32, 64 */
	unsigned layers;	    /* of each LSTM: 1; the paper has 4 */
	unsigned batch;		    /* 256 */
	unsigned samples;	    /* simulated blocks for each block of the training set: 10 */
	unsigned epochs;	    /* over the simulated set: 4; the paper has 6 */
	unsigned table_epochs;	    /* over the measurements: 16; the paper has 1 */
	unsigned rounds; /* the first as in the paper; further ones around the result: 2 */
	bool no_bounds;	 /* the network alone, as in the paper; else it learns what is above bounds
			  */
	double rate, table_rate; /* of Adam: 0.001, 0.05 */
};

struct tact_tune_options {
	size_t size;
	const struct tact_arch *arch;	     /* borrowed, where the parameters start; required */
	const struct tact_mca_params *start; /* borrowed; mca: start there; NULL: the defaults */
	/* By its name in tact/model.h, borrowed: whose parameters.  One with parameters of its own,
	 * as mca (NULL), or one that sees the instruction tables, as facile and sim.
	 */
	const char *model;
	enum tact_tune_method method;
	unsigned what;		     /* bits of enum tact_tune_what; 0: all */
	enum tact_mca_memory memory; /* mca: what loads wait for */
	bool learn_memory;	     /* mca: instead, whatever leaves least error at the start */
	bool random_start;	     /* mca: sampled as the surrogate's training set is */
	unsigned corrupt; /* tables: percent of latencies and ports made wrong at first */
	struct tact_block_options block; /* mode, init */
	uint64_t seed;
	unsigned threads; /* 0: all cores */
	uint64_t budget;  /* block evaluations; 0: until nothing gets better, or a default */
	double min_gain;  /* direct: relative error, summed over blocks, that a change must save;
			   * 0: 0.5 */
	struct tact_tune_network network;
	const char *checkpoint; /* file of the surrogate's progress; NULL: none; borrowed */
	int (*report)(void *context, const struct tact_tune_progress *progress); /* NULL: none */
	void *context;
};

struct tact_tuner; /* one thread at a time */

/* Returns -TACT_E_INVAL, -TACT_E_NOMEM, with the reason. */
int tact_tuner_create(struct tact_tuner **out, const struct tact_tune_options *opt,
		      struct tact_diag *diag);
void tact_tuner_destroy(struct tact_tuner *tuner); /* NULL is allowed */

/* Adds a measured block.  group may be NULL: the application that it comes from.
 * Returns 1, 0 if the block was there already, -TACT_E_DECODE, -TACT_E_LIMIT, -TACT_E_INVAL if
 * cycles is not positive, -TACT_E_NOMEM.
 */
int tact_tuner_add(struct tact_tuner *tuner, const uint8_t *code, size_t size, double cycles,
		   const char *group, struct tact_diag *diag);

/* Learns.  Returns -TACT_E_INVAL with the reason if there are too few rows, or only one answer to
 * learn; -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_VERSION for the checkpoint; -TACT_E_LIMIT if the
 * progress function ended it; -TACT_E_NOMEM.
 */
int tact_tuner_run(struct tact_tuner *tuner, struct tact_diag *diag);

/* Writes the learned parameters: for --mca-params, or for --params.  comment as in
 * tact_arch_save.  After tact_tuner_run only.
 */
int tact_tuner_save(const struct tact_tuner *tuner, const char *path, const char *comment,
		    struct tact_diag *diag);

/* ---- what came out ---- */

struct tact_tune_summary {
	size_t size;
	size_t n[TACT_TUNE_N_PARTS];
	size_t n_parameters, n_changed, n_forms; /* forms that occur in the rows */
	uint64_t evaluations;			 /* of blocks by the model */
	double defaults[TACT_TUNE_N_PARTS];	 /* mean relative errors */
	double start[TACT_TUNE_N_PARTS];	 /* of --params, random or corrupted parameters */
	double learned[TACT_TUNE_N_PARTS];
	double surrogate; /* mean relative error of the surrogate against the model; NaN: none */
	unsigned unit;	  /* mca: so many micro-ops of the learned table are one of the default's */
};
void tact_tuner_get_summary(const struct tact_tuner *tuner, struct tact_tune_summary *out);

/* Rows in the order in which they came; false behind the last one. */
struct tact_tune_row {
	size_t size;
	const uint8_t *code; /* owned by the tuner, like group */
	size_t code_size;
	const char *group; /* "": not known */
	enum tact_tune_part part;
	double measured, defaults, start, learned; /* cycles */
};
bool tact_tuner_get_row(const struct tact_tuner *tuner, size_t i, struct tact_tune_row *out);

/* Parameters that changed, the one that saves most first; false behind the last one. */
enum { TACT_TUNE_PROOFS = 3 };
struct tact_tune_change {
	size_t size;
	char name[160]; /* "IMUL (R64, R64) latency", "issue_width" */
	char from[64], to[64];
	size_t n_rows; /* of the training set that the parameter has to do with */
	double saved;  /* relative error in them, summed, that is back if it is undone */
	size_t n_proofs;
	size_t proof[TACT_TUNE_PROOFS]; /* rows that prove it most */
};
bool tact_tuner_get_change(const struct tact_tuner *tuner, size_t i, struct tact_tune_change *out);

/* How often a kind of parameter has a value: of the defaults and of what was learned, over the
 * forms in the rows.  value counts from 0 to TACT_TUNE_VALUES - 1, where larger ones are counted
 * too.  False behind the last kind.
 */
enum { TACT_TUNE_VALUES = 12 };
struct tact_tune_histogram {
	size_t size;
	const char *kind;
	size_t defaults[TACT_TUNE_VALUES], learned[TACT_TUNE_VALUES];
};
bool tact_tuner_get_histogram(const struct tact_tuner *tuner, size_t i,
			      struct tact_tune_histogram *out);

/* Mean relative error of the test rows if a global parameter had another value.  Fills up to
 * `capacity` and returns how many there are, or < 0.
 */
struct tact_tune_point {
	char name[40];
	int value;
	bool is_learned; /* this is the learned value */
	double error;
};
int tact_tuner_sensitivity(struct tact_tuner *tuner, struct tact_tune_point *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TACT_TUNE_H */
