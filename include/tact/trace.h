/* SPDX-License-Identifier: MIT
 *
 * What a program executes: a program that is run under QEMU user mode with tact's plugin, or the
 * record of such a run (.tct).  doc/formats.md describes the record.
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

/* Code to trace, or not to. */
struct tact_trace_region {
	uint64_t begin, end; /* from begin up to, not including, end */
	const char *file;    /* NULL: addresses of the program; else offsets in this file (its real
				path) */
	bool is_excluded;    /* not this; wins over those that are not excluded */
};

struct tact_trace_options {
	size_t size;
	enum tact_trace_mode mode;
	const char *plugin; /* path of tact_trace.so; NULL: as tact_trace_plugin says */
	const char *qemu;   /* name or path; NULL: the one for the program */
	const char *cpu;    /* QEMU's -cpu; NULL: max,-erms */
	const char *path;   /* directories to look for programs in, as in PATH; NULL: none */
	const struct tact_trace_region *regions; /* none that is not excluded: everything */
	size_t n_regions;			 /* 256 at most of each kind */
	const struct tact_trace_region *from,
		*until; /* NULL: none.  Nothing counts before a block that
			   holds from->begin, and from one with until->begin on */
	bool no_exec;	/* programs started by execve run natively */
};

/* A piece of straight code as QEMU translated it: it ends behind a branch, but also at the end of a
 * page, after 512 instructions, and at instructions that QEMU ends a block for.
 */
struct tact_trace_block {
	const struct tact_isa *isa;
	uint64_t address;
	const uint8_t *code; /* owned by the trace */
	uint32_t code_size;
	uint32_t n_insns;
	uint32_t last_offset; /* of the last instruction */
	uint32_t number;      /* in its trace: from 0, without gaps; the same code of several
				 threads and processes has the same number */
	uint32_t module;      /* tact_trace_module; 0: none */
	bool is_open; /* does not end in a branch or a call of the kernel: goes on at its end;
			 not known when counting */
	bool is_rep;  /* begins with a repeated string instruction */
	void *user;   /* the caller's; NULL at first */
};

/* A mapping of a file that holds code. */
struct tact_trace_module {
	size_t size;
	uint64_t begin, end, offset; /* of begin in the file */
	const char *path;	     /* owned by the trace */
};

struct tact_trace_access {
	uint64_t address;
	uint16_t insn; /* in its block */
	bool is_store;
	uint32_t size; /* bytes; what QEMU splits into pieces of 8 is one again, and so is what a
			  repeated string instruction accesses in ascending order */
};

enum tact_trace_event_kind {
	TACT_TRACE_BEGIN = 1, /* a thread begins */
	TACT_TRACE_EXEC,    /* a block was executed; a repeated string instruction is one execution,
			       however often it repeats */
	TACT_TRACE_COUNTED, /* a block was executed `count` times; one event for block and thread */
	TACT_TRACE_NATIVE,  /* the process goes on with a program that is not traced: `text` */
	TACT_TRACE_ON,	    /* `from` or `until` was reached */
	TACT_TRACE_OFF,
	TACT_TRACE_END /* the thread has ended, in whatever way */
};

/* The pointers hold until the next call; blocks until the trace is closed. */
struct tact_trace_event {
	size_t size;
	enum tact_trace_event_kind kind;
	uint32_t thread; /* a number of its own, never used again */
	uint32_t pid, parent, vcpu;
	struct tact_trace_block *block;
	uint64_t count;
	const struct tact_trace_access *accesses;
	size_t n_accesses;
	const char *text; /* "" if there is none */
};

/* Finds tact_trace.so, the plugin for QEMU, and writes its path to `path`, which holds `size`
 * bytes. Looks in the directory of the library (or of the program, if it is linked statically), in
 * tact/ and ../lib/tact/ below that directory, and in the directory that the library was built to
 * be installed in. Returns 0; -TACT_E_NO_TOOL if it is in none of them; -TACT_E_LIMIT if the path
 * needs more than `size` bytes; -TACT_E_INVAL.  On failure *path is "".
 */
int tact_trace_plugin(char *path, size_t size);

struct tact_trace; /* one thread at a time */

/* Runs argv[0] with its arguments under QEMU.  The thread that calls this has to stay until the
 * trace is closed: the program ends when it does.
 * Returns -TACT_E_NO_TOOL if there is no QEMU or no plugin, -TACT_E_IO if the program is not found
 * or cannot be run, -TACT_E_FORMAT if it is no program of a known instruction set, -TACT_E_INVAL,
 * -TACT_E_NOMEM.
 */
int tact_trace_launch(struct tact_trace **out, const struct tact_trace_options *opt,
		      char *const argv[], struct tact_diag *diag);

/* Opens a record; "-" is standard input.  Or one that comes through a descriptor, such as a socket,
 * which is closed with the trace.
 * Returns -TACT_E_IO, -TACT_E_FORMAT if it is not one, -TACT_E_VERSION, -TACT_E_NOMEM.
 */
int tact_trace_open(struct tact_trace **out, const char *path, struct tact_diag *diag);
int tact_trace_open_fd(struct tact_trace **out, int fd, struct tact_diag *diag);

/* Opens assembly text or hex (see tact/input.h) as a trace: each of its regions, in their order, as
 * often as `iterations` says, from its first byte to its last one; what its loads and stores access
 * is not known.  opt may be NULL. Returns as tact_input_open does, -TACT_E_DECODE, -TACT_E_FORMAT
 * for an ELF file.
 */
struct tact_input_options;
int tact_trace_open_text(struct tact_trace **out, const char *path,
			 const struct tact_input_options *opt, uint64_t iterations,
			 struct tact_diag *diag);

/* Next event.  Returns 1, 0 behind the last one, or -TACT_E_FORMAT if the record is damaged or cut
 * short (what was before it has been delivered), -TACT_E_IO, -TACT_E_NOMEM.
 */
int tact_trace_next(struct tact_trace *trace, struct tact_trace_event *event,
		    struct tact_diag *diag);

/* Writes all that comes to a descriptor, as a record, instead of delivering it.  `progress`, which
 * may be NULL, is called now and then with the number of words so far; a result other than 0 stops
 * the program. Returns 0, or as tact_trace_next; -TACT_E_IO if it cannot be written.
 */
int tact_trace_record(struct tact_trace *trace, int fd, int (*progress)(void *, uint64_t words),
		      void *arg, struct tact_diag *diag);

/* Ends the program and all its processes, which get SIGTERM first; what they did until then is
 * still delivered.  May be called from a signal handler.
 */
void tact_trace_stop(struct tact_trace *trace);

enum tact_trace_mode tact_trace_get_mode(const struct tact_trace *trace);

/* A module by its number.  Returns 0, or -TACT_E_INVAL if there is none. */
int tact_trace_get_module(const struct tact_trace *trace, uint32_t number,
			  struct tact_trace_module *out);

/* Block by number, NULL behind the last one. */
struct tact_trace_block *tact_trace_get_block(const struct tact_trace *trace, uint32_t number);

struct tact_trace_summary {
	size_t size;
	uint64_t words; /* that came from the plugin */
	uint32_t n_blocks, n_threads;
	uint32_t n_programs;   /* processes, and programs started by execve in them */
	uint32_t n_native;     /* processes that went on natively after execve */
	uint32_t lost_threads; /* more at once than there is room for: not traced */
	uint64_t lost_blocks;  /* more than can be told apart: not traced */
	bool is_attached;      /* the plugin was loaded; if not, QEMU could not run the program */
	bool has_ended;	       /* the program has, and the next is meaningful */
	int wait_status;       /* of the program, as waitpid gives it */
};

/* What is known so far: blocks, threads and programs as far as they were delivered.  Of a record
 * only the numbers up to n_native.
 */
void tact_trace_get_summary(const struct tact_trace *trace, struct tact_trace_summary *out);

/* Ends a program that still runs.  NULL is allowed. */
void tact_trace_close(struct tact_trace *trace);

#ifdef __cplusplus
}
#endif

#endif /* TACT_TRACE_H */
