/* SPDX-License-Identifier: MIT
 *
 * What `tact trace` and `tact diff` share: how a run is analysed.
 */
#ifndef TACT_TRACER_H
#define TACT_TRACER_H

#include <tact-program/report.h>
#include <tact-program/tracing.h>
#include <tact/analysis.h>

#include "common/archlist.h"
#include "common/options.h"
#include "common/output.h"
#include "common/program_options.h"
#include "common/progress.h"

/* Options of the model and of the code. */
struct trace_setup {
	struct archlist archs;
	struct program_options program;
	bool is_exact, is_thorough, has_branches, has_caches, is_full, is_core, is_quiet,
		is_mangled;
	uint64_t cache_bytes[3];
	struct tact_chosen *regions; /* owned; texts are argv's */
	size_t n_regions;
	const char *from, *until;
};

extern const struct option_spec trace_model_specs[], trace_region_specs[], trace_quiet_specs[];

/* The architectures, and what is modelled.  Returns 0, or an exit code with the message given. */
int trace_setup_resolve(struct trace_setup *setup);
void trace_setup_fini(void *setup); /* of trace_region_specs */

/* Whether code was selected by name or address. */
bool trace_setup_has_regions(const struct trace_setup *setup);

/* A run to analyse.  One of `words`, `path` and `listen` is set. */
struct trace_job {
	char **words;	     /* program and arguments */
	const char *path;    /* of a trace, or of text */
	const char *listen;  /* HOST:PORT */
	unsigned iterations; /* of text */
	unsigned callee;     /* cycles of what it calls */
	int program_output;  /* where the program's standard output goes; -1: to ours */
	unsigned parts;	     /* of the result: bits of enum tact_result_part */
	bool samples;	     /* which function runs when is sampled */
	bool views;	     /* what the pipeline did at some moments is kept */
	bool has_window;     /* uops of a window are kept; implies exact */
	uint32_t window_thread;
	uint64_t window_first, window_last;
};

struct trace_run {
	struct trace_setup *setup;
	const struct trace_job *job;
	struct tact_trace *trace; /* owned, like all fields below */
	struct tact_symbols *symbols;
	struct tact_choice *choice;
	struct tact_analysis *analyses[ARCHLIST_MAX]; /* one per CPU */
	struct tact_result *results[ARCHLIST_MAX];    /* likewise; NULL: there is no result */
	size_t n;				      /* CPUs */
	struct text command;
	const char *name; /* for messages */
	bool is_program;
};

/* Analyses a run; call fini in any case.  Returns an exit code.  There may be a result even if it
 * is not 0: for a program that was killed, or a trace that was cut short.
 */
int trace_analyse(struct trace_run *run, struct trace_setup *setup, const struct trace_job *job);
void trace_run_fini(struct trace_run *run);

/* Runs the program and writes its trace to a file or to HOST:PORT.  Returns an exit code. */
int trace_record_to(struct trace_setup *setup, const struct trace_job *job, const char *path,
		    const char *connect);

/* ---- trace_progress.c ---- */

struct trace_progress {
	struct progress line;
	double last;	/* when it was shown */
	uint64_t shown; /* instructions at that time */
};

/* is_program: a program runs, whose output must not meet the lines of progress. */
void trace_progress_init(struct trace_progress *p, bool is_quiet, bool is_program);
void trace_progress_show(struct trace_progress *p, const struct tact_cycles *cycles);
void trace_progress_words(struct trace_progress *p, uint64_t words); /* while recording */
void trace_progress_clear(struct trace_progress *p);

#endif /* TACT_TRACER_H */
