/* SPDX-License-Identifier: MIT
 *
 * What `tact trace` and `tact diff` share: how a run is analysed.
 */
#ifndef TACT_TRACER_H
#define TACT_TRACER_H

#include <tact/cycles.h>
#include <tact/result.h>
#include <tact/trace.h>

#include "common/archlist.h"
#include "common/options.h"
#include "common/output.h"
#include "common/program_options.h"

struct trace_region_option {
	const char *text; /* borrowed from argv */
	bool is_excluded;
};

/* What the options say about the model and the code. */
struct trace_setup {
	struct archlist archs;
	struct program_options program;
	bool is_exact, has_branches, has_caches, is_full, is_quiet;
	uint64_t cache_bytes[3];
	struct trace_region_option *regions; /* owned */
	size_t n_regions;
	const char *from, *until;
};

extern const struct option_spec trace_model_specs[], trace_region_specs[], trace_quiet_specs[];

/* One architecture, and what --full means.  Returns 0, or an exit code with the message given. */
int trace_setup_resolve(struct trace_setup *setup);
void trace_setup_fini(struct trace_setup *setup);

/* Whether something was chosen by name or address. */
bool trace_setup_has_regions(const struct trace_setup *setup);

struct trace_samples;
struct trace_watch;

/* A run that is to be analysed.  One of `words`, `path` and `listen` is there. */
struct trace_job {
	char **words;		       /* program and arguments */
	const char *path;	       /* of a trace, or of text */
	const char *listen;	       /* HOST:PORT */
	unsigned iterations;	       /* of text */
	int program_output;	       /* where the program's standard output goes; -1: to ours */
	unsigned parts;		       /* of the result: enum tact_result_part */
	struct trace_samples *samples; /* NULL: none are taken */
	struct trace_watch *watch;     /* NULL: no timeline */
};

/* Analyses it.  *result is NULL if there is nothing to show.  Returns an exit code; a result can
 * come with one that is not 0: of a program that was ended, of a trace that was cut short.
 */
int trace_analyse(struct trace_setup *setup, const struct trace_job *job,
		  struct tact_result **result);

/* Runs the program and writes its trace to a file or to HOST:PORT.  Returns an exit code. */
int trace_record_to(struct trace_setup *setup, const struct trace_job *job, const char *path,
		    const char *connect);

/* ---- trace_start.c: where events come from ---- */

enum { TRACE_MAX_CHOICES = 64 }; /* functions that a name may stand for */

struct trace_run_region {
	struct tact_trace_region region;
	const struct trace_region_option *option; /* that it comes from */
};

struct trace_run {
	struct trace_setup *setup;
	const struct trace_job *job;
	struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct trace_run_region *regions; /* owned */
	size_t n_regions;
	struct tact_trace_region *plain; /* owned: those of them, in the same order */
	struct tact_trace_region from, until;
	const char *name; /* for messages */
	bool is_program;
};

/* Returns 0, or an exit code with the message given; fini in both cases. */
int trace_run_open(struct trace_run *run, struct trace_setup *setup, const struct trace_job *job);
void trace_run_fini(struct trace_run *run);

/* Says of regions that never ran; true if there is one. */
bool trace_run_complain(const struct trace_run *run, uint64_t instructions);

/* Exit code of a status of the library. */
int trace_exit_code(int status);

/* ---- trace_progress.c ---- */

struct trace_progress {
	bool is_shown, was_shown;
	double start, last;
	uint64_t shown; /* instructions at that time */
};
void trace_progress_init(struct trace_progress *p, bool is_quiet);
void trace_progress_show(struct trace_progress *p, const struct tact_cycles *cycles);
void trace_progress_words(struct trace_progress *p, uint64_t words); /* while recording */
void trace_progress_clear(struct trace_progress *p);

/* ---- trace_samples.c: which function ran when ---- */

struct trace_samples *trace_samples_create(void);
void trace_samples_destroy(struct trace_samples *samples); /* NULL is allowed */
/* Counts an execution of a block; asks for cycles now and then. */
void trace_samples_add(struct trace_samples *samples, const struct tact_cycles *cycles,
		       const struct tact_trace_event *event);
/* Names of what was sampled, while the trace is there. */
void trace_samples_name(struct trace_samples *samples, struct tact_symbols *symbols,
			const struct tact_trace *trace);
void trace_samples_perfetto(const struct trace_samples *samples, struct text *out);

/* ---- trace_watch.c: uops of a window ---- */

/* thread: TACT_CYCLES_FIRST, or its number. */
struct trace_watch *trace_watch_create(uint32_t thread, uint64_t first, uint64_t last);
void trace_watch_destroy(struct trace_watch *watch); /* NULL is allowed */
void trace_watch_start(struct trace_watch *watch, struct tact_cycles *cycles);
/* Makes the chart, while the trace is there. */
void trace_watch_draw(struct trace_watch *watch, struct tact_symbols *symbols,
		      const struct tact_trace *trace);
void trace_watch_print(const struct trace_watch *watch, struct text *out);

/* ---- formats ---- */

enum {
	BY_FUNCTION = TACT_RESULT_FUNCTION,
	BY_BLOCK = TACT_RESULT_BLOCK,
	BY_LINE = TACT_RESULT_LINE,
	BY_INSN = TACT_N_RESULT_KINDS /* blocks, with their instructions */
};

/* `width` columns wide, 80 at least, as far as names go. */
void trace_print_text(const struct tact_result *result, int by, size_t top, int width,
		      struct text *out);
/* These write to `to` as they go. */
void trace_print_csv(const struct tact_result *result, int by, size_t top, struct text *out,
		     struct output *to);
void trace_print_json(const struct tact_result *result, struct text *out, struct output *to);
enum { TRACE_WRITE_SIZE = 1 << 16 };

/* "Ports, Issue": bounds by their bits; false if there is none. */
bool trace_add_bounds(struct text *out, uint32_t bits);

/* "Dependencies; loads 45%, ports 12%": the bottlenecks, and stalls that take a tenth of the cycles
 * or more, as far as they fit in so many columns (0: all).
 */
void trace_add_limits(struct text *out, const struct tact_result_row *row, size_t width);

/* 1234567 -> "1,234,567" */
void trace_add_count(struct text *out, double value, int width);
double trace_ratio(double a, double b); /* 0 if b is */

/* "file.c:12", "gzip:0x4a20" */
void trace_add_place(struct text *out, const struct tact_result_row *row, int by);

/* ---- trace_names.c: names for people ---- */

/* Columns of the terminal that the result goes to; 80 if it does not go to one. */
int trace_width(const char *output);

/* Names of functions as in the source, where they are mangled; NULL for all others.  */
char **trace_names_create(const struct tact_result_row *rows, size_t n);
void trace_names_destroy(char **names, size_t n);

/* The name, without its middle if it is wider than that. */
void trace_add_short(struct text *out, const char *name, size_t width);

#endif /* TACT_TRACER_H */
