/* SPDX-License-Identifier: MIT
 *
 * tact tune: options, rows, and what is printed.
 */
#ifndef TACT_TUNING_H
#define TACT_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/rows.h>
#include <tact/model.h>
#include <tact/tune.h>

#include <tact-program/ranks.h>

#include "common/archlist.h"
#include "common/output.h"
#include "common/progress.h"

enum { TUNING_N_TABLES = 3 }; /* default, start, learned */

struct tuning {
	/* options */
	struct archlist archs;
	const char **inputs; /* owned; borrowed strings */
	size_t n_inputs;
	const char *model, *mca_params, *output, *checkpoint;
	int method, mode, init, memory, format, export;
	unsigned what, corrupt, seed, seeds, jobs, budget, min_gain, n_changes;
	unsigned embedding, hidden, layers, batch, samples, epochs, table_epochs, rounds;
	bool is_random_start, is_unbounded, is_clean, is_quiet, is_verbose, is_sensitivity, has_mpi;
	char why[120]; /* room for a message */

	/* the run, of one CPU at a time */
	const struct tact_arch *arch;  /* one of archs */
	char *output_path;	       /* owned; those of this CPU, or NULL */
	char *checkpoint_path;	       /* owned */
	struct tact_mca_params *start; /* owned */
	struct tact_tuner *tuner;      /* owned */
	struct tact_ranks ranks;       /* of --mpi */
	struct tact_ran *ran;	       /* owned */
	char **apps, **categories;     /* owned; by row, "" or a label */
	size_t n_rows, row_capacity;
	size_t n_twice, n_other_mode, n_other_arch, n_unmeasured, n_bad, n_unnamed;
	size_t n_other_alignment;
	double (*by_seed)[TUNING_N_TABLES]; /* owned; error of the test, of `seeds` runs */
	size_t n_printed;		    /* CPUs */
	struct output out;		    /* open while CPUs are tuned */
	struct progress progress;
	double last_shown; /* in a file */
};

enum { TUNING_MEMORY_AUTO = -1 };
enum { TUNING_EXPORT_NONE, TUNING_EXPORT_LLVM };

extern const char *const tuning_methods[];

/* Reads all inputs into the tuner.  Returns an exit code. */
int tuning_read(struct tuning *p);
void tuning_rows_fini(struct tuning *p); /* as before tuning_read() */

/* The results in the format of --format. */
int tuning_print(struct tuning *p, struct text *out);

/* A line or a bar for the library's progress. */
int tuning_progress(void *context, const struct tact_tune_progress *progress);

#endif /* TACT_TUNING_H */
