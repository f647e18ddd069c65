/* SPDX-License-Identifier: MIT
 *
 * A program on the CPU itself, as a source of words: turns what the keeper saw into blocks and
 * accesses.  The keeper is ours, but the registers and the code are the program's: nothing about
 * them is taken for granted.
 */
#include "trace/native_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/process.h"
#include "trace/native_blocks.h"

enum { MOST_CLOCKS = 1 << 16 };

struct trace_native {
	enum wire_mode mode;
	const struct tact_isa *isa;
	struct native_shared *shared; /* mapped */
	pid_t keeper;		      /* 0: none */
	char *path;		      /* owned: of the program */
	struct native_order order;
	bool is_attached;
	struct native_blocks *blocks; /* owned */
	uint64_t *clocks;	      /* owned: Hz, sorted */
	size_t n_clocks, clocks_capacity;
	uint64_t words;
	uint64_t *text; /* owned: a record that is long */
	size_t text_capacity;
};

/* ---- beginning ---- */

/* Says why a process cannot be traced: EPERM has several causes. */
static int native_refusal(pid_t pid, struct tact_diag *diag)
{
	char path[NATIVE_PATH], text[4096];
	const char *tracer;

	if (native_read_file(native_proc_path(path, pid, 0, "status"), text, sizeof(text)) > 0) {
		tracer = strstr(text, "\nTracerPid:\t");
		if (tracer && tracer[12] != '0')
			return tact_fail(diag, TACT_E_NOT_MODELLED,
					 "another tracer has process %d: %.*s", (int)pid,
					 (int)strcspn(tracer + 1, "\n"), tracer + 1);
	}
	if (native_read_file("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0 &&
	    text[0] >= '1' && text[0] <= '3' && geteuid())
		return tact_fail(
			diag, TACT_E_NOT_MODELLED,
			"the kernel does not allow to attach to process %d: "
			"/proc/sys/kernel/yama/ptrace_scope is %c; be root, write 0 there, "
			"or let tact start the program",
			(int)pid, text[0]);
	return tact_fail(
		diag, TACT_E_NOT_MODELLED,
		"not allowed to trace process %d: be its user or root; in a container, the "
		"capability SYS_PTRACE is needed",
		(int)pid);
}

static int why_not(const struct trace_native *n, struct tact_diag *diag)
{
	const int error = n->shared->error;
	const char *name = n->path ? n->path : "the process";

	if (n->shared->failure == NATIVE_NO_EXEC)
		return tact_fail(diag, TACT_E_IO, "%s: %s", name, strerror(error));
	if (n->shared->failure == NATIVE_NO_PROCESS)
		return tact_fail(diag, TACT_E_IO, "cannot start a process: %s", strerror(error));
	if (n->is_attached && error == ESRCH)
		return tact_fail(diag, TACT_E_IO, "there is no process %d", (int)n->order.target);
	if (n->is_attached && error == EPERM)
		return native_refusal(n->order.target, diag);
	if (error == EPERM || error == ENOSYS || error == EACCES)
		return tact_fail(diag, TACT_E_NOT_MODELLED,
				 "this machine does not allow ptrace (%s); in a container it needs "
				 "the capability SYS_PTRACE or a seccomp profile that allows it",
				 strerror(error));
	return tact_fail(diag, TACT_E_IO, "cannot trace %s: %s", name, strerror(error));
}

static int start_keeper(struct trace_native *n, struct tact_diag *diag)
{
	const pid_t self = getpid();
	const struct timespec nap = {0, 500000};
	sigset_t all, mask, signals;

	sigfillset(&all);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	n->keeper = process_fork();
	if (!n->keeper)
		native_keep(n->shared, &n->order, &mask, &signals, self);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (n->keeper < 0) {
		n->keeper = 0;
		return tact_fail_errno(diag, "cannot start a process");
	}
	while (n->shared->progress == NATIVE_STARTING && !n->shared->is_over) {
		if (process_wait(n->keeper, NULL, WNOHANG)) {
			n->keeper = 0;
			if (n->shared->progress == NATIVE_STARTING && !n->shared->is_over)
				return trace_keeper_lost(diag);
			break;
		}
		nanosleep(&nap, NULL);
	}
	return n->shared->progress == NATIVE_RUNNING ? 0 : why_not(n, diag);
}

int trace_native_create(struct trace_native **out, const struct tact_trace_options *opt,
			enum wire_mode mode, char *const argv[], pid_t pid, struct tact_diag *diag)
{
	const struct tact_isa *isa = isa_native();
	struct trace_native *n = calloc(1, sizeof(*n));
	int status = 0;

	if (!n)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n->mode = mode;
	n->isa = isa;
	n->is_attached = !argv;
	n->shared = mmap(NULL, sizeof(*n->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (n->shared == MAP_FAILED)
		n->shared = NULL;
	if (!isa || !isa->native || !isa->native->tracing)
		status = tact_fail(diag, TACT_E_NO_TOOL,
				   "programs cannot be stepped through on this machine");
	else if (!n->shared || native_blocks_create(&n->blocks, isa, mode) ||
		 (argv && trace_find_program(&n->path, argv[0], opt->path)))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else if (argv && !n->path)
		status = tact_fail(diag, TACT_E_IO, "%s: no such program", argv[0]);
	else if (argv && trace_foreign_set(n->path))
		status =
			tact_fail(diag, TACT_E_FORMAT,
				  "%s: a program for %s, which this machine does not execute; QEMU "
				  "does, without --native",
				  argv[0], trace_foreign_set(n->path)->title);
	if (!status) {
		n->order = (struct native_order){.words = argv,
						 .path = n->path,
						 .target = pid,
						 .time_ns = opt->milliseconds * 1000000ull,
						 .seed = opt->seed ? opt->seed : 1,
						 .native = isa->native};
		status = start_keeper(n, diag);
	}
	n->order.words = NULL; /* the keeper has its own copy */
	if (status < 0)
		trace_native_destroy(n);
	else
		*out = n;
	return status;
}

/* ---- records ---- */

static uint64_t ring_at(const struct trace_native *n, uint64_t at)
{
	return n->shared->ring[at % NATIVE_RING];
}

/* Copies the words of a record. */
static int copy(struct trace_native *n, uint64_t at, size_t words)
{
	if (tact_grow(&n->text, &n->text_capacity, words + 1, sizeof(*n->text)))
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < words; i++)
		n->text[i] = ring_at(n, at + i);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the median of the clocks measured so far. */
static uint64_t add_clock(struct trace_native *n, uint64_t hertz)
{
	if (hertz && n->n_clocks < MOST_CLOCKS &&
	    !tact_grow(&n->clocks, &n->clocks_capacity, n->n_clocks + 1, sizeof(*n->clocks))) {
		n->clocks[n->n_clocks++] = hertz;
		qsort(n->clocks, n->n_clocks, sizeof(*n->clocks), by_size);
	}
	return n->n_clocks ? n->clocks[n->n_clocks / 2] : 0;
}

static int take_record(struct trace_native *n, enum native_record kind, const uint64_t *words,
		       size_t n_words)
{
	switch (kind) {
	case NATIVE_THREAD:
		return native_blocks_thread(n->blocks, (uint32_t)words[0], (uint32_t)words[1],
					    (uint32_t)(words[1] >> 32));
	case NATIVE_MAPS:
		return native_blocks_maps(n->blocks, (uint32_t)words[0], (char *)(words + 2),
					  (size_t)words[1]);
	case NATIVE_WINDOW:
		add_clock(n, words[2]);
		return native_blocks_window(n->blocks, (uint32_t)words[0], words[1]);
	case NATIVE_STEP:
		return n_words == NATIVE_STEP_WORDS - 1
			       ? native_blocks_step(n->blocks, (const struct isa_state *)words,
						    (const uint8_t *)(words + NATIVE_STATE_WORDS))
			       : 0;
	case NATIVE_WINDOW_END:
		return native_blocks_window_end(n->blocks, (const struct isa_state *)words);
	case NATIVE_THREAD_END:
		return native_blocks_end(n->blocks, (uint32_t)words[0]);
	case NATIVE_TIME:
		return native_blocks_time(n->blocks, words[0], words[1], add_clock(n, 0));
	}
	return 0;
}

/* Takes records until there is a piece.  Returns 1, 0 if there is none, or < 0. */
static int take_records(struct trace_native *n, struct trace_piece *piece)
{
	uint64_t tail = n->shared->tail;
	const uint64_t head = n->shared->head;
	int status = 0;

	while (!(status = native_blocks_piece(n->blocks, piece)) && tail < head) {
		const uint64_t word = ring_at(n, tail);
		const size_t words = (uint32_t)word;

		status = copy(n, tail + 1, words);
		if (status >= 0)
			status = take_record(n, (enum native_record)(word >> 32), n->text, words);
		if (status < 0)
			break;
		tail += 1 + words;
		n->shared->tail = tail;
	}
	return status;
}

int trace_native_next(struct trace_native *n, struct trace_piece *piece, struct tact_diag *diag)
{
	const struct timespec nap = {0, 2000000};

	for (;;) {
		const bool is_over = !n->keeper || process_wait(n->keeper, NULL, WNOHANG) != 0;
		const int status = take_records(n, piece);

		if (is_over)
			n->keeper = 0;
		if (status < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (status > 0) {
			n->words += piece->n_words;
			return 1;
		}
		if (is_over) {
			const int last = native_blocks_finish(n->blocks, piece);

			if (last < 0)
				return tact_fail(diag, TACT_E_NOMEM, "out of memory");
			return last || n->shared->is_over ? last : trace_keeper_lost(diag);
		}
		nanosleep(&nap, NULL);
	}
}

/* ---- end ---- */

void trace_native_summary(const struct trace_native *n, struct tact_trace_summary *out)
{
	out->words = n->words;
	out->is_attached = n->shared->progress == NATIVE_RUNNING;
	out->has_ended = n->shared->has_ended;
	out->wait_status = n->shared->wait_status;
	out->lost_threads = n->shared->lost_threads;
}

void trace_native_stop(const struct trace_native *n)
{
	if (n->keeper > 0)
		kill(n->keeper, SIGTERM);
}

void trace_native_destroy(struct trace_native *n)
{
	if (!n)
		return;
	if (n->keeper > 0) {
		kill(n->keeper, SIGUSR1);
		process_wait(n->keeper, NULL, 0);
	}
	if (n->shared)
		munmap(n->shared, sizeof(*n->shared));
	native_blocks_destroy(n->blocks);
	FREE_ALL(n->path, n->clocks, n->text, n);
}
