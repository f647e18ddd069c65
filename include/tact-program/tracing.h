/* SPDX-License-Identifier: MIT
 *
 * Tracing as the program does it: code chosen by name, commands as text, recordings from files and
 * from other machines, samples, and the uops of a window of cycles.
 */
#ifndef TACT_PROGRAM_TRACING_H
#define TACT_PROGRAM_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/analysis.h>
#include <tact/pipeline.h>
#include <tact/symbols.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where traces come from ---- */

/* Splits a command into words for tact_trace_launch: blanks, quotes and backslashes work as in a
 * shell.  *out is one piece of memory, which the caller frees.  Returns 0, -TACT_E_INVAL for
 * anything that needs a shell, unclosed quotes, and no words at all; -TACT_E_NOMEM.
 */
int tact_trace_split(char ***out, const char *command, struct tact_diag *diag);

/* TCP, for a recording that goes to another machine while the program runs: tact_trace_record
 * writes to a descriptor of tact_trace_connect, and tact_trace_open_fd reads from one of
 * tact_trace_accept.  An address is HOST:PORT, [HOST]:PORT, or :PORT, which is this machine alone.
 * Nothing is encrypted, and nobody is authenticated: listen on an address that only trusted machines
 * can reach.  tact_trace_accept returns the first connection that begins as a trace does, and closes
 * others.  Each returns a descriptor, which the caller closes, -TACT_E_INVAL for a malformed address,
 * or -TACT_E_IO.  A signal ends tact_trace_accept with -TACT_E_IO.
 */
int tact_trace_connect(const char *address, struct tact_diag *diag);
int tact_trace_listen(const char *address, struct tact_diag *diag);
int tact_trace_accept(int listener, struct tact_diag *diag);

/* Returns the port of a listener, which for port 0 is a free one; or -TACT_E_IO. */
int tact_trace_port(int listener);

/* How assembly text runs. */
struct tact_text_run {
	uint64_t iterations;
	const struct tact_isa *isa; /* NULL: the default */
	uint32_t callee;	    /* as for tact_trace_set_callee */
};

/* Opens a recording, or assembly text; "-" is a recording from standard input.  Returns as
 * tact_trace_open and tact_trace_open_text do, -TACT_E_FORMAT for a stored result.
 */
int tact_trace_open_any(struct tact_trace **out, const char *path, const struct tact_text_run *text,
			struct tact_diag *diag);

/* Returns whether a file is a recording, by its first bytes or its name; "-" is one. */
bool tact_trace_is_one(const char *path);

/* Returns whether a file is a stored result, by its first byte or its name. */
bool tact_result_is_one(const char *path);

/* ---- instructions that QEMU does not know ---- */

struct tact_trace_illegal {
	const struct tact_trace_block *block; /* owned by the trace */
	uint32_t offset;		      /* of the instruction in its block */
	uint8_t code[TACT_MAX_INSN_BYTES];
	unsigned code_size;
	bool is_whole;	     /* `code` has all of it, and the members below are valid */
	bool is_never_legal; /* no CPU executes it: it is there to end the program */
	char text[128];
	char extension[32]; /* that it belongs to */
};

/* Finds the instruction that ended a thread because QEMU does not know it.  Returns 1, 0 if there
 * is none.
 */
int tact_trace_get_illegal(const struct tact_trace *trace, struct tact_trace_illegal *out);

/* ---- code by name ---- */

/* Finds code as tact_symbols_region does, but also a function that is selected when the program
 * starts (memcpy and the like), which stands for all functions that it is selected from.  Fills up
 * to `capacity` and returns how many regions it filled, or errors of tact_symbols_region.
 */
long tact_symbols_regions(struct tact_symbols *symbols, const char *text, const char *program,
			  const char *path, struct tact_trace_region *out, size_t capacity,
			  struct tact_diag *diag);

/* Sets what the `sysroot` of struct tact_trace_options is; the text is borrowed. */
void tact_symbols_set_sysroot(struct tact_symbols *symbols, const char *sysroot);

/* The files of a trace are looked for below this directory first, as their paths were on the machine that
 * ran the program, and then without the first components of these: `root` stands for that machine's
 * root, or for the directory that was its sysroot.  To be called before code is asked for; borrowed.
 */
void tact_symbols_set_root(struct tact_symbols *symbols, const char *root);

/* Returns whether a block of the trace begins in the region. */
bool tact_trace_has_region(const struct tact_trace *trace, const struct tact_trace_region *region);

/* Code that was chosen by name. */
struct tact_chosen {
	const char *text; /* as tact_symbols_region takes it */
	bool is_excluded;
};

struct tact_choice; /* borrows the symbols and the texts */

/* Finds the code that is meant.  from and until may be NULL.  Returns 0, or errors of
 * tact_symbols_region with *wrong, which may be NULL, pointing to the text that caused them.
 */
int tact_choice_create(struct tact_choice **out, struct tact_symbols *symbols, const char *program,
		       const char *path, const struct tact_chosen *chosen, size_t n,
		       const char *from, const char *until, const char **wrong,
		       struct tact_diag *diag);
void tact_choice_destroy(struct tact_choice *choice); /* NULL is allowed */

/* Sets regions, from and until, which the choice owns. */
void tact_choice_apply(const struct tact_choice *choice, struct tact_trace_options *opt);

/* Returns whether any code that the i-th text stands for was executed. */
bool tact_choice_has_run(const struct tact_choice *choice, size_t i,
			 const struct tact_trace *trace);

/* ---- several CPUs ---- */

/* Reads all events of a trace for several analyses of it, as tact_analysis_run does for one.
 * Returns as that does, -TACT_E_INVAL if they are not of one trace.
 */
int tact_analysis_run_all(struct tact_analysis *const *analyses, size_t n, struct tact_diag *diag);

/* ---- samples: which function ran when ---- */

/* Asks for samples, before tact_analysis_run.  Memory is bounded: in a long run, samples are
 * further apart.  Returns 0, -TACT_E_INVAL without an analysis, -TACT_E_NOMEM.
 */
int tact_analysis_keep_samples(struct tact_analysis *analysis);

/* Writes the samples as a trace for Perfetto (Chrome's JSON), in which a microsecond is a cycle:
 * which function ran when, the instructions per cycle, and the uops of views, if they are kept.
 * `write` gets the text in pieces; it ends the writing by returning anything but 0.  Returns 0,
 * -TACT_E_INVAL if there are no samples or a pointer is missing, -TACT_E_NOMEM.
 */
int tact_analysis_perfetto(struct tact_analysis *analysis,
			   int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- views: what the pipeline did at some moments ---- */

/* Asks for views of the pipeline, for a page, before tact_analysis_run.  Memory is bounded.  Returns
 * 0, -TACT_E_INVAL without an analysis or if a window is kept, -TACT_E_NOMEM.
 */
int tact_analysis_keep_views(struct tact_analysis *analysis);

/* ---- a window: every uop of some cycles ---- */

#define TACT_TRACE_FIRST_THREAD UINT32_MAX /* the thread that executes first */

/* Asks for the uops of a thread from its cycle `first` to its cycle `last`, before
 * tact_analysis_run; thread is a number as in the events, or TACT_TRACE_FIRST_THREAD.  Returns 0,
 * -TACT_E_INVAL if the analysis is not exact or has a window already, if the window is empty, or
 * without an analysis; -TACT_E_NOMEM.
 */
int tact_analysis_keep_window(struct tact_analysis *analysis, uint32_t thread, uint64_t first,
			      uint64_t last);

/* A uop to which something happens in the window. */
struct tact_window_uop {
	struct tact_sim_uop uop; /* cycles are those of the thread */
	bool begins;		 /* it is the first one of an execution of a block, */
	const char *function;	 /* which is in this function; owned by the symbols */
	uint64_t address;	 /* and has this address in its file */
	const char *text; /* of its instruction, if it is the first uop of that; else ""; owned by
			     the analysis */
};

/* Gets the uops of the window in order of retirement.  *uops is owned by the analysis; *is_cut says
 * that there were too many.  Returns how many there are, 0 without a window, -TACT_E_INVAL if a
 * pointer is missing, -TACT_E_NOMEM.
 */
long tact_analysis_window(struct tact_analysis *analysis, const struct tact_window_uop **uops,
			  bool *is_cut);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_TRACING_H */
