/* SPDX-License-Identifier: MIT
 *
 * The public interface: a source of words, and the events that they make.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace.h"

#include <tact-program/tracing.h>

enum { PROGRESS_PIECES = 16, MAX_REGIONS = 256 };

struct tact_trace {
	enum wire_mode mode;
	struct trace_live *live;       /* a running program, */
	struct trace_child child;      /* with its keeper, */
	struct trace_reader *reader;   /* or a recording, */
	struct trace_listing *listing; /* or text, */
	struct trace_native *native;   /* or a program that runs natively */
	struct trace_events *events;
	bool is_done;	 /* set by the thread that reads, and seen by others */
	bool is_stopped; /* set by any thread */
	int failure;	 /* the status that ended it */
	int64_t start;	 /* when the program was started; 0: it was not */
};

static int create(struct tact_trace **made, struct tact_diag *diag)
{
	*made = calloc(1, sizeof(**made));
	return *made ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

static int add_events(struct tact_trace *t, struct tact_diag *diag)
{
	return trace_events_create(&t->events, t->mode)
		       ? tact_fail(diag, TACT_E_NOMEM, "out of memory")
		       : 0;
}

/* Hands the trace over if all went well, else closes it. */
static int give(struct tact_trace **out, struct tact_trace *t, int status)
{
	if (status)
		tact_trace_close(t);
	else
		*out = t;
	return status;
}

static int check_regions(const struct tact_trace_options *opt, struct tact_diag *diag)
{
	size_t n = 0;

	if (opt->n_regions && !opt->regions)
		return tact_fail(diag, TACT_E_INVAL, "no regions");
	for (size_t i = 0; i < opt->n_regions; i++) {
		if (opt->regions[i].begin >= opt->regions[i].end)
			return tact_fail(diag, TACT_E_INVAL, "an empty region");
		n += opt->regions[i].is_excluded;
	}
	if (n > MAX_REGIONS || opt->n_regions - n > MAX_REGIONS)
		return tact_fail(diag, TACT_E_INVAL, "more than %d regions", MAX_REGIONS);
	return 0;
}

int tact_trace_launch(struct tact_trace **out, const struct tact_trace_options *opt,
		      char *const argv[], struct tact_diag *diag)
{
	struct tact_trace_options o;
	struct tact_trace *t;
	char shm[64];
	int status;

	if (out)
		*out = NULL;
	if (!out || !argv || !argv[0] || tact_read_options(&o, sizeof(o), opt))
		return tact_fail(diag, TACT_E_INVAL, "no program, or options that make no sense");
	if (!o.mode)
		o.mode = TACT_TRACE_FULL;
	if (o.mode != TACT_TRACE_FULL && o.mode != TACT_TRACE_COUNT)
		return tact_fail(diag, TACT_E_INVAL, "an unknown mode of tracing");
	status = check_regions(&o, diag);
	if (!status && o.native && (o.n_regions || o.from || o.until))
		status = tact_fail(diag, TACT_E_INVAL,
				   "regions of a program that runs natively are not traced alone");
	if (!status)
		status = create(&t, diag);
	if (status)
		return status;
	t->mode = (enum wire_mode)o.mode;
	status = add_events(t, diag);
	if (!status && o.native)
		return give(out, t, trace_native_create(&t->native, &o, t->mode, argv, 0, diag));
	if (!status)
		status = trace_live_create(&t->live, t->mode, diag);
	if (!status) {
		trace_live_path(t->live, shm, sizeof(shm));
		t->start = (int64_t)time(NULL);
		status = trace_child_start(&t->child, &o, shm, argv, diag);
	}
	return give(out, t, status);
}

int tact_trace_attach(struct tact_trace **out, const struct tact_trace_options *opt, int pid,
		      struct tact_diag *diag)
{
	struct tact_trace_options o;
	struct tact_trace *t;
	int status;

	if (out)
		*out = NULL;
	if (!out || pid <= 0 || tact_read_options(&o, sizeof(o), opt) || o.n_regions || o.from ||
	    o.until || (o.mode && o.mode != TACT_TRACE_FULL && o.mode != TACT_TRACE_COUNT))
		return tact_fail(diag, TACT_E_INVAL, "no process, or options that make no sense");
	status = create(&t, diag);
	if (status)
		return status;
	t->mode = o.mode == TACT_TRACE_COUNT ? WIRE_COUNT : WIRE_TRACE;
	status = add_events(t, diag);
	if (!status)
		status = trace_native_create(&t->native, &o, t->mode, NULL, pid, diag);
	return give(out, t, status);
}

static int open_reader(struct tact_trace **out, int fd, const void *data, size_t size,
		       struct tact_diag *diag)
{
	struct tact_trace *t;
	int status = create(&t, diag);

	if (status)
		return status;
	status = trace_reader_create(&t->reader, fd, data, size, &t->mode, diag);
	return give(out, t, status ? status : add_events(t, diag));
}

int trace_open_memory(struct tact_trace **out, const void *data, size_t size,
		      struct tact_diag *diag)
{
	return open_reader(out, -1, data, size, diag);
}

int tact_trace_open_fd(struct tact_trace **out, int fd, struct tact_diag *diag)
{
	if (out)
		*out = NULL;
	if (!out || fd < 0)
		return tact_fail(diag, TACT_E_INVAL, "no descriptor");
	return open_reader(out, fd, NULL, 0, diag);
}

int tact_trace_open(struct tact_trace **out, const char *path, struct tact_diag *diag)
{
	int fd, status;

	if (out)
		*out = NULL;
	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(0, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return tact_fail_errno(diag, NULL);
	status = open_reader(out, fd, NULL, 0, diag);
	if (status)
		close(fd);
	return status;
}

int tact_trace_open_text(struct tact_trace **out, const char *path,
			 const struct tact_input_options *opt, uint64_t iterations,
			 struct tact_diag *diag)
{
	struct tact_trace *t;
	int status;

	if (out)
		*out = NULL;
	if (!out || !path || !iterations)
		return tact_fail(diag, TACT_E_INVAL, "no path, or no iteration");
	status = create(&t, diag);
	if (status)
		return status;
	t->mode = WIRE_TRACE;
	status = trace_listing_create(&t->listing, path, opt, iterations, diag);
	return give(out, t, status ? status : add_events(t, diag));
}

int tact_trace_set_callee(struct tact_trace *t, uint32_t cycles)
{
	if (!t || !t->listing || cycles > TACT_TRACE_MAX_CALLEE)
		return -TACT_E_INVAL;
	trace_listing_set_callee(t->listing, cycles);
	return 0;
}

int trace_keeper_lost(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_IO,
			 "the process tact-keeper, which watches the program, was killed");
}

/* Returns 1 with a piece, 0 after the last one, or < 0. */
static int next_piece(struct tact_trace *t, struct trace_piece *piece, struct tact_diag *diag)
{
	if (t->reader)
		return trace_reader_next(t->reader, piece, diag);
	if (t->listing)
		return trace_listing_next(t->listing, piece);
	if (t->native)
		return trace_native_next(t->native, piece, diag);
	for (;;) {
		const bool is_over = trace_child_is_over(&t->child);
		const int status = trace_live_next(t->live, is_over, piece, diag);

		if (!status && trace_child_is_lost(&t->child))
			return trace_keeper_lost(diag);
		if (status || is_over)
			return status;
	}
}

int trace_next(struct tact_trace *t, struct tact_trace_event *event, struct tact_diag *diag)
{
	struct trace_piece piece;
	int status;

	if (t->failure)
		return tact_fail(diag, (enum tact_error) - t->failure, "the trace has ended early");
	for (;;) {
		status = trace_events_next(t->events, event, diag);
		if (status || t->is_done)
			break;
		status = next_piece(t, &piece, diag);
		if (!status) {
			trace_events_finish(t->events);
			__atomic_store_n(&t->is_done, true, __ATOMIC_RELEASE);
		}
		if (status > 0)
			status = trace_events_feed(t->events, &piece, diag);
		if (status < 0 || t->is_done)
			break;
	}
	if (status < 0)
		t->failure = status;
	return status;
}

int tact_trace_next(struct tact_trace *t, struct tact_trace_event *event, struct tact_diag *diag)
{
	struct tact_trace_event whole = TACT_TRACE_EVENT_INIT;
	int status;

	if (!t || !tact_can_fill(event))
		return tact_fail(diag, TACT_E_INVAL, "no trace, or no event");
	/* The caller may have left anything in it. */
	status = trace_next(t, &whole, diag);
	if (status > 0)
		tact_fill(event, &whole, sizeof(whole));
	return status;
}

int tact_trace_record(struct tact_trace *t, int fd, int (*progress)(void *arg, uint64_t words),
		      void *arg, struct tact_diag *diag)
{
	struct trace_writer *writer;
	struct trace_piece piece;
	uint64_t words = 0;
	unsigned n = 0;
	int status, finished;

	if (!t || fd < 0)
		return tact_fail(diag, TACT_E_INVAL, "no trace, or no descriptor");
	status = trace_writer_create(&writer, fd, t->mode, diag);
	if (status)
		return status;
	while ((status = next_piece(t, &piece, diag)) > 0) {
		words += piece.n_words;
		status = trace_writer_add(writer, &piece, diag);
		if (status < 0)
			break;
		if (++n % PROGRESS_PIECES == 0 && progress && progress(arg, words))
			tact_trace_stop(t);
	}
	__atomic_store_n(&t->is_done, true, __ATOMIC_RELEASE);
	finished = trace_writer_finish(writer, status < 0, status < 0 ? NULL : diag);
	return status < 0 ? status : finished;
}

void tact_trace_stop(struct tact_trace *t)
{
	if (!t)
		return;
	__atomic_store_n(&t->is_stopped, true, __ATOMIC_RELEASE);
	if (t->native)
		trace_native_stop(t->native);
	else
		trace_child_stop(&t->child);
}

size_t trace_get_processes(const struct tact_trace *t, const uint32_t **pids)
{
	if (t->events)
		return trace_events_processes(t->events, pids);
	*pids = NULL;
	return 0;
}

int64_t trace_get_start(const struct tact_trace *t)
{
	return t->start;
}

struct trace_events *trace_get_events(const struct tact_trace *t)
{
	return t->events;
}

bool trace_is_tied(const struct tact_trace *t)
{
	return t->native != NULL; /* ptrace */
}

bool trace_has_ended(const struct tact_trace *t)
{
	return __atomic_load_n(&t->is_done, __ATOMIC_ACQUIRE);
}

enum tact_trace_mode tact_trace_get_mode(const struct tact_trace *t)
{
	return t ? (enum tact_trace_mode)t->mode : (enum tact_trace_mode)0;
}

int tact_trace_get_module(const struct tact_trace *t, uint32_t number,
			  struct tact_trace_module *out)
{
	const struct tact_trace_module *m = t ? trace_events_module(t->events, number) : NULL;

	return m ? tact_fill(out, m, sizeof(*m)) : -TACT_E_INVAL;
}

struct tact_trace_block *tact_trace_get_block(const struct tact_trace *t, uint32_t number)
{
	return t ? trace_events_block(t->events, number) : NULL;
}

int tact_trace_get_illegal(const struct tact_trace *t, struct tact_trace_illegal *out)
{
	const struct tact_trace_block *b = t && out ? trace_events_broken(t->events) : NULL;

	return b ? trace_illegal_fill(out, b, trace_events_module(t->events, b->module)) : 0;
}

int tact_trace_get_summary(const struct tact_trace *t, struct tact_trace_summary *out)
{
	struct tact_trace_summary s = TACT_TRACE_SUMMARY_INIT;

	if (!t)
		return -TACT_E_INVAL;
	trace_events_summary(t->events, &s);
	if (t->live)
		trace_live_summary(t->live, &s);
	trace_child_summary(&t->child, &s);
	if (t->native)
		trace_native_summary(t->native, &s);
	s.was_stopped = __atomic_load_n(&t->is_stopped, __ATOMIC_ACQUIRE);
	return tact_fill(out, &s, sizeof(s));
}

void tact_trace_close(struct tact_trace *t)
{
	if (!t)
		return;
	trace_child_finish(&t->child);
	trace_live_destroy(t->live);
	trace_reader_destroy(t->reader);
	trace_listing_destroy(t->listing);
	trace_native_destroy(t->native);
	trace_events_destroy(t->events);
	free(t);
}
