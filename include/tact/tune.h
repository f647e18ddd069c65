/* SPDX-License-Identifier: MIT
 *
 * Learns the parameters of a machine from measured blocks alone.  doc/models/tune.md describes the
 * methods.
 *
 *	tact_tuner_create(&tuner, &options, &diag);
 *	tact_tuner_add(tuner, code, size, cycles, NULL, &diag);		(for each block)
 *	tact_tuner_run(tuner, &diag);
 *	tact_tuner_save(tuner, "learned.params", NULL, &diag);
 *
 * A tuner belongs to one thread at a time and uses threads of its own; different tuners may be used
 * by different threads at once.
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
	TACT_TUNE_SURROGATE, /* DiffTune: gradients through a network that imitates the model; mca
			      */
	TACT_TUNE_SIMPLE,    /* baseline: one latency and one cost per instruction; mca */
	TACT_TUNE_RANDOM,    /* baseline: random search */
	TACT_TUNE_BANDIT     /* baseline: a bandit over simple searches, as in OpenTuner */
};

/* What is learned: bits.  For mca all of them apply, for the tables all but ADVANCE. */
enum tact_tune_what {
	TACT_TUNE_LATENCY = 1 << 0,
	TACT_TUNE_UOPS = 1 << 1,
	TACT_TUNE_PORTS = 1 << 2,
	TACT_TUNE_ADVANCE = 1 << 3,
	TACT_TUNE_GLOBALS = 1 << 4
};

/* The parts that rows are split into: 80, 10 and 10 percent, disjoint by block.  There will never
 * be others.
 */
enum tact_tune_part { TACT_TUNE_TRAIN, TACT_TUNE_VALIDATION, TACT_TUNE_TEST, TACT_TUNE_N_PARTS };

/* What tact_tune_options.report is told now and then. */
struct tact_tune_progress {
	size_t size;
	const char *phase;    /* static: "sweep", "simulate", "surrogate", "table", ... */
	unsigned step, steps; /* of the phase; steps 0: unknown */
	double done;	      /* share of the phase, 0 to 1 */
	double loss;	      /* of what is minimised; NaN: not known yet */
	double validation;    /* mean relative error of the validation rows; NaN: not known yet */
	double seconds_left;  /* of the whole run; NaN: not known yet */
};

/* Sizes of the surrogate and of its training.  0: the default, which is given in brackets. */
struct tact_tune_network {
	size_t size;
	unsigned embedding, hidden; /* [32, 64] up to 1024 */
	unsigned layers;	    /* [1] of each LSTM, up to 4; the paper has 4 */
	unsigned batch;		    /* [256] up to 65536 */
	unsigned samples;	    /* [10] simulated blocks for each block of the training set */
	unsigned epochs;	    /* [4] over the simulated set; the paper has 6 */
	unsigned table_epochs;	    /* [16] over the measurements; the paper has 1 */
	unsigned rounds; /* [2] the first as in the paper, further ones around its result */
	bool no_bounds;	 /* the network alone, as in the paper; else it learns what exceeds the
			    bounds */
	double rate, table_rate; /* [0.001, 0.05] of Adam */
};
#define TACT_TUNE_NETWORK_INIT TACT_SIZED(struct tact_tune_network)

/* Pointers are borrowed and must outlive the tuner, except for network, which is copied. */
struct tact_tune_options {
	size_t size;
	const struct tact_arch *arch;	     /* where the parameters start; required */
	const struct tact_mca_params *start; /* mca: starts there instead; NULL: the defaults */
	const char *model; /* whose parameters, by a name of tact/model.h: one with parameters of
			      its own, such as mca, or one that sees the instruction tables, such
			      as facile and sim; NULL: mca */
	enum tact_tune_method method;
	unsigned what;		     /* bits of enum tact_tune_what; 0: all */
	enum tact_mca_memory memory; /* mca: what loads wait for */
	bool learn_memory; /* mca: instead, whatever leaves the least error at the start */
	bool random_start; /* mca: sampled as the surrogate's training set is */
	unsigned corrupt;  /* tables: percent of latencies and ports that are made wrong at first */
	enum tact_mode mode; /* how the blocks were measured */
	enum tact_init init; /* what registers held at entry */
	uint64_t seed;
	unsigned threads; /* 0: all cores */
	uint64_t budget;  /* block evaluations; 0: until nothing gets better, or a default */
	double min_gain;  /* direct: relative error, summed over blocks, that a change must save;
			     0: 0.5 */
	const struct tact_tune_network *network; /* surrogate; NULL: the defaults */
	const char *checkpoint; /* surrogate: file that keeps its progress; NULL: none */

	/* Called now and then during the run; NULL: nobody is told.  If it does not return 0, the
	 * run ends with -TACT_E_LIMIT.
	 */
	int (*report)(void *context, const struct tact_tune_progress *progress);
	void *context;

	/* Processes that share the work, each with a tuner of its own: all of them add the same rows
	 * in the same order, have the same options except for these, threads and report, and call
	 * the same functions.  Each gets the whole result, which does not depend on their number.
	 * The surrogate cannot be shared.  n_ranks 0 or 1: there is no other.
	 */
	unsigned rank, n_ranks;
	/* Replaces each value by the sum, modulo 2^64, of those of all ranks, which all call it with
	 * as many.  Returns 0, or < 0 if that failed.
	 */
	int (*sum)(void *group, uint64_t *values, size_t n);
	void *group;

	/* mca, not with the surrogate: instructions for which LLVM has one opcode share their values,
	 * so that tact_tuner_export_llvm loses nothing.  Requires LLVM's module.
	 */
	bool by_opcode;
};
#define TACT_TUNE_OPTIONS_INIT TACT_SIZED(struct tact_tune_options)

struct tact_tuner;

/* Creates a tuner without rows.  Returns 0 with a handle for tact_tuner_destroy, -TACT_E_INVAL with
 * the reason in diag if something is missing, out of range, or does not fit the model,
 * -TACT_E_NOMEM.
 */
int tact_tuner_create(struct tact_tuner **out, const struct tact_tune_options *opt,
		      struct tact_diag *diag);

/* Destroys a tuner.  NULL is allowed. */
void tact_tuner_destroy(struct tact_tuner *tuner);

/* Adds a measured block, which is copied.  group, the application that it comes from, may be NULL;
 * its first 47 bytes count.  Returns 1, 0 if the block was there already, or:
 *   -TACT_E_INVAL   no tuner, no code, cycles that are not positive, or the tuner has run
 *   -TACT_E_DECODE  bytes that are not an instruction
 *   -TACT_E_LIMIT   the block is too long, or there are too many
 *   -TACT_E_NOMEM
 */
int tact_tuner_add(struct tact_tuner *tuner, const uint8_t *code, size_t size, double cycles,
		   const char *group, struct tact_diag *diag);

/* Learns; a tuner runs once.  Returns 0, or:
 *   -TACT_E_INVAL     no tuner, a second run, too few rows, or nothing to learn from them
 *   -TACT_E_NO_TOOL   surrogate: oneDNN is not installed
 *   -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_VERSION  the checkpoint cannot be used
 *   -TACT_E_LIMIT     opt.report ended the run, or another rank has failed
 *   -TACT_E_NOMEM
 */
int tact_tuner_run(struct tact_tuner *tuner, struct tact_diag *diag);

/* Writes the learned parameters to a file: for --mca-params if the model has parameters of its own,
 * else for --params.  comment, which may be NULL, as in tact_arch_save.  Returns 0, -TACT_E_INVAL
 * without a tuner or path, or before a run, -TACT_E_IO, -TACT_E_NOMEM.
 */
int tact_tuner_save(const struct tact_tuner *tuner, const char *path, const char *comment,
		    struct tact_diag *diag);

/* What was exported. */
struct tact_tune_export {
	size_t size;	  /* sizeof(struct tact_tune_export) */
	size_t n_opcodes; /* of LLVM, with values */
	size_t n_learned; /* of these, in the training rows */
	size_t n_shared; /* of these, of several forms whose values differ: the one counts that occurs
			     most often in the training rows */
};
#define TACT_TUNE_EXPORT_INIT TACT_SIZED(struct tact_tune_export)

/* Writes the learned parameters of mca as a scheduling model of LLVM, in TableGen: for a build of LLVM,
 * whose llvm-mca then predicts with them (doc/models/tune.md).  comment as above; out may be NULL.
 * Returns 0, or, with the reason in diag,
 *   -TACT_E_INVAL    no tuner or path, before a run, or parameters of another model
 *   -TACT_E_NO_TOOL  LLVM's module is not there: it knows the names of opcodes
 *   -TACT_E_IO, -TACT_E_NOMEM
 */
int tact_tuner_export_llvm(const struct tact_tuner *tuner, const char *path, const char *comment,
			   struct tact_tune_export *out, struct tact_diag *diag);

/* ---- what came out ---- */

struct tact_tune_summary {
	size_t size;
	size_t n[TACT_TUNE_N_PARTS];		 /* rows of each part */
	size_t n_parameters, n_changed, n_forms; /* forms: those that occur in the rows */
	uint64_t evaluations;			 /* of blocks by the model */
	double defaults[TACT_TUNE_N_PARTS];	 /* mean relative errors, NaN for an empty part */
	double start[TACT_TUNE_N_PARTS];	 /* of given, random or corrupted parameters */
	double learned[TACT_TUNE_N_PARTS];
	double surrogate; /* mean relative error of the surrogate against the model; NaN: none */
	unsigned unit; /* mca: this many micro-ops of the learned table are one of the default's */
};
#define TACT_TUNE_SUMMARY_INIT TACT_SIZED(struct tact_tune_summary)

/* Gets the summary of a run.  Returns 0, or -TACT_E_INVAL before a run, without a tuner or
 * out->size.
 */
int tact_tuner_get_summary(const struct tact_tuner *tuner, struct tact_tune_summary *out);

/* A measured block. */
struct tact_tune_row {
	size_t size;
	const uint8_t *code; /* owned by the tuner, as is group */
	size_t code_size;
	const char *group; /* "": unknown */
	enum tact_tune_part part;
	double measured, defaults, start, learned; /* cycles; the last three are NaN before a run */
};
#define TACT_TUNE_ROW_INIT TACT_SIZED(struct tact_tune_row)

/* Gets row i, in the order in which rows were added.  Returns 0, or -TACT_E_INVAL if there is no
 * such row, without a tuner or out->size.
 */
int tact_tuner_get_row(const struct tact_tuner *tuner, size_t i, struct tact_tune_row *out);

enum { TACT_TUNE_PROOFS = 3 };

/* A parameter that changed. */
struct tact_tune_change {
	size_t size;
	char name[160]; /* "IMUL (R64, R64) latency", "issue_width" */
	char from[64], to[64];
	size_t n_rows; /* of the training set that the parameter has an influence on */
	double saved;  /* relative error in them, summed, that comes back if it is undone */
	size_t n_proofs;
	size_t proof[TACT_TUNE_PROOFS]; /* rows that prove it most, for tact_tuner_get_row */
};
#define TACT_TUNE_CHANGE_INIT TACT_SIZED(struct tact_tune_change)

/* Gets change i; the change that saves most is change 0.  Returns 0, or -TACT_E_INVAL if there is
 * no such change, without a tuner or out->size.
 */
int tact_tuner_get_change(const struct tact_tuner *tuner, size_t i, struct tact_tune_change *out);

enum { TACT_TUNE_VALUES = 12 };

/* How many parameters of a kind have a value, by default and as learned, over the forms in the
 * rows. The last element also counts larger values.
 */
struct tact_tune_histogram {
	size_t size;
	const char *kind; /* static */
	size_t defaults[TACT_TUNE_VALUES], learned[TACT_TUNE_VALUES];
};
#define TACT_TUNE_HISTOGRAM_INIT TACT_SIZED(struct tact_tune_histogram)

/* Gets the histogram of the i-th kind of parameter.  Returns 0, or -TACT_E_INVAL if there is no
 * such kind, before a run, without a tuner or out->size.
 */
int tact_tuner_get_histogram(const struct tact_tuner *tuner, size_t i,
			     struct tact_tune_histogram *out);

/* The mean relative error of the test rows if a global parameter had another value.  This struct
 * never changes.
 */
struct tact_tune_point {
	char name[40];
	int value;
	bool is_learned; /* this is the learned value */
	double error;
};

/* Tries other values of the global parameters, seven of each.  Fills up to `capacity` points and
 * returns how many it filled, -TACT_E_INVAL before a run, without a tuner, or with a capacity but
 * no `out`; -TACT_E_NOMEM.
 */
int tact_tuner_sensitivity(struct tact_tuner *tuner, struct tact_tune_point *out, size_t capacity);

/* The same around the defaults; is_learned says that a point has the default. */
int tact_tuner_default_sensitivity(struct tact_tuner *tuner, struct tact_tune_point *out,
				   size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TACT_TUNE_H */
