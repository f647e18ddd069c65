/* SPDX-License-Identifier: MIT
 *
 * Traces: what a program executes, block by block.  A trace comes from a program that runs under
 * QEMU's user mode with tact's plugin, from windows of a program that runs on the CPU itself, from a
 * recording of such a run (.tct, see doc/formats.md), or from assembly text.
 *
 * A trace belongs to one thread at a time; different traces may be used by different threads at
 * once.  tact_trace_stop is the exception.
 */
#ifndef TACT_TRACE_H
#define TACT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_trace_mode {
	TACT_TRACE_FULL = 1, /* every execution of a block, with the addresses of its accesses */
	TACT_TRACE_COUNT = 2 /* how often each block was executed */
};

/* A range of code to trace, or to leave out.  This struct never changes. */
struct tact_trace_region {
	uint64_t begin, end; /* from begin up to, but not including, end */
	const char *file;    /* NULL: addresses in the program's memory; else offsets in this file,
				given by its real path */
	bool is_excluded;    /* leave this range out; wins over ranges to trace */
};

/* How a program is run and what of it is traced.  All pointers are borrowed for the call. */
struct tact_trace_options {
	size_t size;
	enum tact_trace_mode mode; /* 0: TACT_TRACE_FULL */
	const char *plugin;	   /* path of tact_trace.so; NULL: as tact_trace_plugin finds it */
	const char *qemu;	   /* name or path; NULL: the one for the program */
	const char *cpu;	   /* QEMU's -cpu; NULL: max,-erms for x86-64, see `arch` */
	const char *path; /* directories in which programs are searched, as in PATH; NULL: none */
	const struct tact_trace_region *regions; /* without one to trace: everything is traced */
	size_t n_regions;			 /* at most 256 to trace, and 256 to leave out */
	const struct tact_trace_region *from; /* NULL: from the start.  Else tracing starts with the
						 first block that contains from->begin */
	const struct tact_trace_region *until; /* NULL: to the end.  Else tracing stops with the
						  first block that contains until->begin */
	bool no_exec; /* programs started by execve run natively and are not traced */
	/* The program runs on this CPU, without QEMU.  At random moments of its CPU time a window of
	 * some two thousand instructions is stepped through; nothing else of it is seen.  Regions,
	 * from and until cannot be given.
	 */
	bool native;
	uint32_t milliseconds; /* for tact_trace_attach: ends after this time; 0: when told to */
	uint64_t seed;	       /* of the random moments */
	/* Directory below which programs, interpreters of scripts and libraries are looked for first
	 * (QEMU's -L, and more).  NULL: for a program whose dynamic linker is not on this machine,
	 * libraries where Debian's cross libraries are.
	 */
	const char *sysroot;
	/* Without `cpu`, a program for its set finds vectors of any length (SVE, RVV) if this CPU has
	 * them, of 128 bits, and else none.  NULL: a CPU without them.
	 */
	const struct tact_arch *arch;
};
#define TACT_TRACE_OPTIONS_INIT TACT_SIZED(struct tact_trace_options)

/* Straight code as QEMU translated it.  It ends after a branch, but also at the end of a page,
 * after 512 instructions, and at instructions that make QEMU end a block.  Only traces make these
 * structs, and hand them out by pointer; later versions may add members at the end.
 */
struct tact_trace_block {
	const struct tact_isa *isa;
	uint64_t address;
	const uint8_t *code; /* owned by the trace */
	uint32_t code_size;
	uint32_t n_insns;
	uint32_t last_offset; /* offset of the last instruction */
	uint32_t number;      /* counts from 0 without gaps; the same code in several threads and
				 processes has the same number */
	uint32_t module;      /* for tact_trace_get_module; 0: none */
	bool is_open; /* ends in neither a branch nor a system call: execution continues right
			 after it; unknown when counting */
	bool is_rep;  /* ends in a repeated string instruction */
	void *user;   /* for the caller; NULL at first */
};

/* A mapping of a file that contains code. */
struct tact_trace_module {
	size_t size;
	uint64_t begin, end; /* addresses in memory */
	uint64_t offset;     /* of begin in the file */
	const char *path;    /* owned by the trace */
};
#define TACT_TRACE_MODULE_INIT TACT_SIZED(struct tact_trace_module)

/* A load or a store, or the address of a prefetch instruction, if that is known.  Accesses that QEMU
 * splits into pieces of 8 bytes are joined again, and so are those of a repeated string instruction,
 * whichever way it goes.  This struct never changes.
 */
struct tact_trace_access {
	uint64_t address;
	uint16_t insn; /* number of the instruction in its block */
	bool is_store;
	uint32_t size; /* bytes accessed; 0: a prefetch */
};

enum tact_trace_event_kind {
	TACT_TRACE_BEGIN = 1, /* a thread begins */
	TACT_TRACE_EXEC,      /* a block was executed; a repeated string instruction counts as one
				 execution, however often it repeats */
	TACT_TRACE_COUNTED, /* a block was executed `count` times; one event per block and thread */
	TACT_TRACE_NATIVE,  /* the process continues with `text`, a program that is not traced, with
			     * the reason in parentheses */
	TACT_TRACE_ON,	    /* the block of options.from was reached */
	TACT_TRACE_OFF,	    /* the block of options.until was reached */
	TACT_TRACE_END,	    /* the thread has ended, for whatever reason */
	TACT_TRACE_WINDOW,  /* a program that runs natively: a part of a window begins, `window` */
	TACT_TRACE_TIME,    /* such a program: its time so far */
	TACT_TRACE_CALL,    /* the block that was executed last calls the kernel: `count` is the
			     * number of the call.  Older recordings do not have it */
	TACT_TRACE_CALLEE   /* the next block that is executed calls code that is not in the trace,
			     * and that takes `count` cycles */
};

/* Parts of a window of a program that runs natively.  Between windows nothing is known. */
enum tact_trace_part {
	TACT_TRACE_NO_WINDOW, /* the window has ended */
	TACT_TRACE_WARMING,   /* a window begins: these executions fill the pipeline */
	TACT_TRACE_WINDOWED,  /* these are to be counted */
	TACT_TRACE_COOLING    /* these keep the pipeline busy until the last of them has retired */
};

/* Pointers are valid until the next call for this trace, blocks until the trace is closed. */
struct tact_trace_event {
	size_t size;
	enum tact_trace_event_kind kind;
	uint32_t thread; /* a number of its own, never used again in this trace */
	uint32_t pid, parent, vcpu;
	struct tact_trace_block *block;
	uint64_t count;
	const struct tact_trace_access *accesses;
	size_t n_accesses;
	const char *text; /* "" if there is none */
	enum tact_trace_part window;
	uint64_t span_ns;	     /* TACT_TRACE_WARMING: CPU time that the window stands for */
	uint64_t user_ns, system_ns; /* TACT_TRACE_TIME: time of all threads outside windows */
	uint64_t hertz;		     /* clock of the CPU */
	uint64_t repeats;   /* of an execution: how often the repeated string instruction at the end
			     of the block did its work; its accesses are those of the block's last
			     instruction.  0: there is none, it did nothing, or that is unknown */
	bool is_descending; /* it went from higher addresses to lower ones */
};
#define TACT_TRACE_EVENT_INIT TACT_SIZED(struct tact_trace_event)

struct tact_trace;
struct tact_input_options;

/* ---- opening and closing ---- */

/* Finds tact_trace.so, the plugin for QEMU, and writes its path to `path`, which holds `size`
 * bytes. Looks in the directory of the library (of the program, if it is linked statically), in
 * tact/ and
 * ../lib/tact/ below that directory, and in the directory that the library was built to be
 * installed in.  Any number of threads may call it at once.  Returns 0, or, with "" in *path:
 *   -TACT_E_INVAL    no path, or a size of 0
 *   -TACT_E_NO_TOOL  the plugin is in none of these directories
 *   -TACT_E_LIMIT    the path needs more than `size` bytes
 */
int tact_trace_plugin(char *path, size_t size);

/* Runs argv[0] with its arguments under QEMU, or natively.  opt may be NULL.  The calling thread must outlive
 * the trace: the program is killed when that thread ends.  Returns 0 with a trace for
 * tact_trace_close, or:
 *   -TACT_E_INVAL    no program, unknown mode, empty region or too many regions
 *   -TACT_E_NO_TOOL  QEMU or the plugin was not found
 *   -TACT_E_IO       the program was not found or cannot be run
 *   -TACT_E_FORMAT   the program is not one for a known instruction set
 *   -TACT_E_NOT_MODELLED  natively: the system does not allow to trace it
 *   -TACT_E_NOMEM
 */
int tact_trace_launch(struct tact_trace **out, const struct tact_trace_options *opt,
		      char *const argv[], struct tact_diag *diag);

/* Traces a process that is running, as with options.native, and its threads and children.  It runs
 * on when the trace is stopped or closed, or this process ends in whatever way.  opt may be NULL.
 * Returns 0 with a trace for tact_trace_close, or:
 *   -TACT_E_INVAL         no process, unknown mode, or regions
 *   -TACT_E_IO            there is no such process
 *   -TACT_E_NOT_MODELLED  the system does not allow it, or another tracer has it
 *   -TACT_E_NO_TOOL       programs cannot be stepped through on this machine
 *   -TACT_E_NOMEM
 */
int tact_trace_attach(struct tact_trace **out, const struct tact_trace_options *opt, int pid,
		      struct tact_diag *diag);

/* Opens a recording; the path "-" means standard input.  Returns 0 with a trace for
 * tact_trace_close, or:
 *   -TACT_E_INVAL    no path
 *   -TACT_E_IO       the file cannot be opened or read
 *   -TACT_E_FORMAT   not a recording
 *   -TACT_E_VERSION  a recording of another version
 *   -TACT_E_NOMEM
 */
int tact_trace_open(struct tact_trace **out, const char *path, struct tact_diag *diag);

/* Opens a recording that comes through a descriptor, such as a socket.  On success the trace owns
 * the descriptor and closes it; on failure it stays the caller's.  Returns as tact_trace_open does,
 * -TACT_E_INVAL for a negative descriptor.
 */
int tact_trace_open_fd(struct tact_trace **out, int fd, struct tact_diag *diag);

/* Opens assembly text or hex (see tact/input.h) as a trace: each of its regions, in order, runs
 * `iterations` times from its first byte to its last.  The addresses of its accesses are unknown.
 * opt may be NULL and is borrowed for the call.  Returns 0 with a trace for tact_trace_close,
 * errors of tact_input_open, or:
 *   -TACT_E_INVAL   no path, or no iterations
 *   -TACT_E_FORMAT  an ELF file
 *   -TACT_E_DECODE  bytes that are not an instruction
 *   -TACT_E_NOMEM
 */
int tact_trace_open_text(struct tact_trace **out, const char *path,
			 const struct tact_input_options *opt, uint64_t iterations,
			 struct tact_diag *diag);

/* Says what is called by such text, which has not got it: each of its calls takes so many cycles more.
 * The comment "LLVM-MCA-LATENCY n" gives the cycles of a call by itself.  To be called before the
 * first event.  Returns 0, or -TACT_E_INVAL for another trace or above TACT_TRACE_MAX_CALLEE.
 */
enum { TACT_TRACE_MAX_CALLEE = 1000000 };
int tact_trace_set_callee(struct tact_trace *trace, uint32_t cycles);

/* Closes a trace and frees what it owns.  Kills the program if it is still running.  NULL is
 * allowed.
 */
void tact_trace_close(struct tact_trace *trace);

/* ---- reading ---- */

/* Gets the next event; waits for it if the program is running.  Returns 1, 0 after the last event,
 * or:
 *   -TACT_E_INVAL   no trace, no event, or no event->size
 *   -TACT_E_FORMAT  the recording is damaged or cut short; everything before was delivered
 *   -TACT_E_IO      the recording cannot be read
 *   -TACT_E_NOMEM
 * A trace that failed returns the same error from then on.
 */
int tact_trace_next(struct tact_trace *trace, struct tact_trace_event *event,
		    struct tact_diag *diag);

/* Writes everything that is left of a trace to a descriptor, as a recording, instead of delivering
 * it.  The descriptor stays the caller's.  `progress`, which may be NULL, is called now and then
 * with the number of words so far; if it does not return 0, the program is stopped.  Returns 0,
 * errors of tact_trace_next, or:
 *   -TACT_E_INVAL  no trace, or a negative descriptor
 *   -TACT_E_IO     the recording cannot be written
 */
int tact_trace_record(struct tact_trace *trace, int fd, int (*progress)(void *arg, uint64_t words),
		      void *arg, struct tact_diag *diag);

/* Ends the program and all its processes, which get SIGTERM first.  What they did until then is
 * still delivered.  May be called from any thread and from a signal handler while the trace is
 * open.  Does nothing for NULL and for a trace that runs no program.
 */
void tact_trace_stop(struct tact_trace *trace);

/* ---- what is known of a trace ---- */

/* Returns the mode of a trace; 0 for NULL. */
enum tact_trace_mode tact_trace_get_mode(const struct tact_trace *trace);

/* Gets a module by its number, as blocks have it.  Returns 0, or -TACT_E_INVAL if there is no such
 * module, no trace, or no out->size.
 */
int tact_trace_get_module(const struct tact_trace *trace, uint32_t number,
			  struct tact_trace_module *out);

/* Returns a block by its number, NULL past the last one so far and for a trace of NULL.  The block
 * is valid until the trace is closed.
 */
struct tact_trace_block *tact_trace_get_block(const struct tact_trace *trace, uint32_t number);

/* What is known so far.  For a recording, only the members up to n_native are. */
struct tact_trace_summary {
	size_t size;
	uint64_t words; /* that came from the plugin */
	uint32_t n_blocks, n_threads;
	uint32_t n_programs;   /* processes, and programs that they started by execve */
	uint32_t n_native;     /* processes that continued natively after execve */
	uint32_t lost_threads; /* not traced: too many at the same time */
	uint64_t lost_blocks;  /* not traced: no number was left for them */
	bool is_attached;      /* the plugin was loaded; if not, QEMU could not run the program */
	bool has_ended;	       /* the program has ended, and wait_status is valid */
	int wait_status;       /* of the program, as waitpid gives it */
	bool was_stopped; /* by tact_trace_stop, also when its events are not read to the end */
	/* The first program that ran natively, with the reason in parentheses; "": none.  Valid until
	 * the trace is closed.
	 */
	const char *first_native;
};
#define TACT_TRACE_SUMMARY_INIT TACT_SIZED(struct tact_trace_summary)

/* Gets the summary of what was delivered so far.  Returns 0, or -TACT_E_INVAL without a trace or
 * out->size.
 */
int tact_trace_get_summary(const struct tact_trace *trace, struct tact_trace_summary *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_TRACE_H */
