/* SPDX-License-Identifier: MIT
 *
 * Layer 5: what programs execute.  A source delivers words of streams, in pieces; events.c turns
 * them into events.  Sources: shared memory of running programs (live.c), recordings (record.c),
 * text (listing.c).
 */
#ifndef TACT_TRACE_PRIV_H
#define TACT_TRACE_PRIV_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <tact/trace.h>

#include "base/base.h"
#include "trace/wire.h"

/* Words of one stream.  A piece without words says that the stream has ended. */
struct trace_piece {
	uint32_t stream;       /* never reused for another one */
	const uint64_t *words; /* owned by the source until its next call */
	size_t n_words;
};

/* ---- live.c: shared memory ---- */

struct trace_live;

int trace_live_create(struct trace_live **out, enum wire_mode mode, struct tact_diag *diag);
void trace_live_destroy(struct trace_live *live); /* NULL is allowed */

/* Writes a path that the plugin can open as long as this process lives. */
void trace_live_path(const struct trace_live *live, char *path, size_t size);

/* Gets the next piece.  Waits for some milliseconds if there is none.  `is_over`: no process is
 * left that could write.  Returns 1, 0 if nothing came (and, with is_over, nothing will), or < 0.
 */
int trace_live_next(struct trace_live *live, bool is_over, struct trace_piece *piece,
		    struct tact_diag *diag);
void trace_live_summary(const struct trace_live *live, struct tact_trace_summary *out);

/* ---- session.c ---- */

/* As tact_trace_next, for who keeps the event from call to call, and does not change it. */
int trace_next(struct tact_trace *trace, struct tact_trace_event *event, struct tact_diag *diag);

/* Gets the processes so far, at most TRACE_MAX_PROCESSES.  Returns how many there are. */
enum { TRACE_MAX_PROCESSES = 64 };
size_t trace_get_processes(const struct tact_trace *trace, const uint32_t **pids);

/* Returns when the program was started, in seconds; 0 for a recording. */
int64_t trace_get_start(const struct tact_trace *trace);

/* Returns whether only the thread that opened the trace can read it. */
bool trace_is_tied(const struct tact_trace *trace);

/* Returns what makes events of its words: 0 from trace_events_next means that trace_next is to be asked. */
struct trace_events *trace_get_events(const struct tact_trace *trace);

/* Returns whether nothing more will come. */
bool trace_has_ended(const struct tact_trace *trace);

/* ---- launch.c: the program and its keeper ---- */

struct trace_child {
	pid_t keeper;		     /* 0: none */
	struct trace_shared *shared; /* with the keeper alone */
};

int trace_child_start(struct trace_child *child, const struct tact_trace_options *opt,
		      const char *shm, char *const argv[], struct tact_diag *diag);

/* Returns whether the program and everything that it started have ended. */
bool trace_child_is_over(struct trace_child *child);
/* Returns whether the keeper ended before them, after trace_child_is_over: nobody knows what became of
 * the program.  The second is what is said then.
 */
bool trace_child_is_lost(const struct trace_child *child);
int trace_keeper_lost(struct tact_diag *diag); /* -TACT_E_IO */
void trace_child_summary(const struct trace_child *child, struct tact_trace_summary *out);
void trace_child_stop(const struct trace_child *child);
void trace_child_finish(struct trace_child *child); /* ends what still runs */

/* Writes the path and arguments of the plugin, as QEMU's -plugin takes them; *out is owned by the
 * caller.  Returns 0 or -TACT_E_NOMEM.
 */
int trace_plugin_argument(const struct tact_trace_options *opt, const struct tact_isa *isa,
			  const char *path, const char *shm, size_t n_kept, char **out);

/* ---- resolve.c: what is run ---- */

/* A program as QEMU wants it: the words of its command line that follow QEMU's own options. */
struct trace_command {
	char **words; /* owned, as are the strings; NULL-terminated: -0 NAME PROGRAM ... */
	size_t n_words;
	const struct tact_isa *isa; /* of the program */
	char *sysroot;		    /* owned: the real path of the one that was given; NULL: none */
};

/* `path` is a list of directories; below `sysroot`, if that is not NULL, programs are looked for
 * first.  Returns 0 or < 0.
 */
int trace_command_resolve(struct trace_command *command, const char *path, const char *sysroot,
			  char *const argv[], struct tact_diag *diag);
void trace_command_fini(struct trace_command *command);

/* Finds a name in a list of directories, or takes it as it is if it has a slash.  *out is a path
 * that the caller frees; NULL if there is none.  Returns 0 or -TACT_E_NOMEM.
 */
int trace_find_program(char **out, const char *name, const char *path);

/* Returns the set of a program that this machine does not execute; NULL: it does, or it is no
 * program of a known set.
 */
const struct tact_isa *trace_foreign_set(const char *path);

/* ---- sysroot.c ---- */

/* Makes the real path of a directory, which the caller frees.  Returns 0 or < 0. */
int trace_sysroot_check(char **out, const char *given, struct tact_diag *diag);

/* Finds the directory below which the libraries of a program are: the sysroot that was given when it
 * was resolved, if one was; "": it needs none, or they are where their paths say.  Returns 0 or < 0.
 */
int trace_sysroot_find(char out[PATH_MAX], const struct trace_command *command, const char *given,
		       struct tact_diag *diag);

/* ---- native_run.c: a program on the CPU itself ---- */

struct trace_native;

/* Starts a program, or, without argv, attaches to a process.  Returns 0 or < 0. */
int trace_native_create(struct trace_native **out, const struct tact_trace_options *opt,
			enum wire_mode mode, char *const argv[], pid_t pid, struct tact_diag *diag);
void trace_native_destroy(struct trace_native *native); /* NULL is allowed */
/* Waits for the next piece.  Returns 1, 0 after the last one, or < 0. */
int trace_native_next(struct trace_native *native, struct trace_piece *piece,
		      struct tact_diag *diag);
void trace_native_summary(const struct trace_native *native, struct tact_trace_summary *out);
void trace_native_stop(const struct trace_native *native);

/* ---- socket.c ---- */

/* Splits HOST:PORT, [HOST]:PORT or :PORT, whose host is "" then.  *port points into the address.
 * Returns 0 or -TACT_E_INVAL.
 */
enum { TRACE_MAX_HOST = 300 };
int trace_split_address(const char *address, char host[TRACE_MAX_HOST], const char **port,
			struct tact_diag *diag);

/* ---- record.c: .tct ---- */

struct trace_reader;

/* `data` NULL: reads from fd. */
int trace_reader_create(struct trace_reader **out, int fd, const void *data, size_t size,
			enum wire_mode *mode, struct tact_diag *diag);
int trace_reader_next(struct trace_reader *reader, struct trace_piece *piece,
		      struct tact_diag *diag);		/* 1, 0 at the end, or < 0 */
void trace_reader_destroy(struct trace_reader *reader); /* NULL is allowed; closes fd */

struct trace_writer;

int trace_writer_create(struct trace_writer **out, int fd, enum wire_mode mode,
			struct tact_diag *diag);
int trace_writer_add(struct trace_writer *writer, const struct trace_piece *piece,
		     struct tact_diag *diag);
/* Writes the end, unless `is_cut`.  Destroys the writer in any case. */
int trace_writer_finish(struct trace_writer *writer, bool is_cut, struct tact_diag *diag);

/* ---- listing.c: text ---- */

struct trace_listing;
struct tact_input_options;

int trace_listing_create(struct trace_listing **out, const char *path,
			 const struct tact_input_options *opt, uint64_t iterations,
			 struct tact_diag *diag);
void trace_listing_set_callee(struct trace_listing *listing, uint32_t cycles);	  /* of each call */
int trace_listing_next(struct trace_listing *listing, struct trace_piece *piece); /* 1, or 0 */
void trace_listing_destroy(struct trace_listing *listing); /* NULL is allowed */

/* ---- events.c ---- */

struct trace_events;

size_t trace_events_processes(struct trace_events *events, const uint32_t **pids);
int trace_events_create(struct trace_events **out, enum wire_mode mode);
void trace_events_destroy(struct trace_events *events); /* NULL is allowed */

/* There are no more words: what only definitions need is dropped. */
void trace_events_finish(struct trace_events *events);

/* Gets the next event of the last piece.  Returns 1, 0 if it is used up, or < 0. */
int trace_events_feed(struct trace_events *events, const struct trace_piece *piece,
		      struct tact_diag *diag);
int trace_events_next(struct trace_events *events, struct tact_trace_event *event,
		      struct tact_diag *diag);
/* These two, and trace_events_processes, may be called while another thread reads the trace. */
const struct tact_trace_module *trace_events_module(struct trace_events *events, uint32_t number);
struct tact_trace_block *trace_events_block(struct trace_events *events, uint32_t number);
/* Returns the block whose last instruction QEMU does not know, if a thread ended there; or NULL. */
const struct tact_trace_block *trace_events_broken(const struct trace_events *events);
void trace_events_summary(const struct trace_events *events, struct tact_trace_summary *out);

/* ---- illegal.c ---- */

struct tact_trace_illegal;

/* Returns 1, or 0 if the instruction cannot be read. */
int trace_illegal_fill(struct tact_trace_illegal *out, const struct tact_trace_block *block,
		       const struct tact_trace_module *module);

/* For tests: opens a recording in memory. */
int trace_open_memory(struct tact_trace **out, const void *data, size_t size,
		      struct tact_diag *diag);

#endif /* TACT_TRACE_PRIV_H */
