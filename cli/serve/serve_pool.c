/* SPDX-License-Identifier: MIT
 *
 * The workers: started ahead, used by one request at a time, replaced when they end.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "common/cli.h"
#include "common/output.h"
#include "serve.h"

enum state { FREE, BUSY, ENDED, ABSENT };

/* A worker is replaced after so many requests: whatever it may have lost is given back. */
enum { MOST_REQUESTS = 20000, READY_MS = 20000 };

struct worker {
	struct process process;
	int fd;	      /* to it */
	int messages; /* a file in memory, its standard error */
	enum state state;
	unsigned requests;
};

struct pool {
	const struct server *server;
	pthread_mutex_t lock;
	pthread_cond_t freed;
	struct worker *workers; /* owned */
	unsigned n, replaced;
	bool measures;
	bool has_begun; /* what starts now takes the place of another one */
	int wake;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- words between the processes ---- */

/* Both return false if the other side is gone, or the time is over. */
static bool give(int fd, const void *data, size_t size, int64_t until)
{
	const char *p = data;

	while (size) {
		const ssize_t n = send(fd, p, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		struct pollfd ready = {.fd = fd, .events = POLLOUT};
		const int64_t left = until - now_ms();

		if (n > 0) {
			p += n;
			size -= (size_t)n;
		} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return false;
		} else if (left <= 0 || (poll(&ready, 1, (int)left) < 0 && errno != EINTR)) {
			return false;
		}
	}
	return true;
}

static bool take(int fd, void *data, size_t size, int64_t until)
{
	char *p = data;

	while (size) {
		const ssize_t n = recv(fd, p, size, MSG_DONTWAIT);
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		const int64_t left = until - now_ms();

		if (n > 0) {
			p += n;
			size -= (size_t)n;
		} else if (!n || (errno != EINTR && errno != EAGAIN)) {
			return false;
		} else if (left <= 0 || (poll(&ready, 1, (int)left) < 0 && errno != EINTR)) {
			return false;
		}
	}
	return true;
}

/* ---- starting and ending ---- */

/* Shows what a worker said before it ended on its own: a mistake of ours, to be reported. */
static void show_last_words(struct worker *w)
{
	char text[4096];
	const ssize_t n = pread(w->messages, text, sizeof(text) - 1, 0);
	struct text line = {0};

	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if ((text[i] < ' ' && text[i] != '\n') || text[i] == 127)
			text[i] = '?';
	text_add_bytes(&line, text, (size_t)n);
	text_to_stderr(&line);
	text_free(&line);
}

static void end_worker(struct worker *w)
{
	process_end(&w->process);
	if (w->fd >= 0)
		close(w->fd);
	if (w->messages >= 0)
		close(w->messages);
	w->fd = w->messages = -1;
	w->state = ABSENT;
}

static int spawn_worker(struct pool *pool, struct worker *w)
{
	const struct serve_limits *l = &pool->server->limits;
	char limits[100];
	const char *const argv[] = {"/proc/self/exe", "serve",
				    pool->measures ? SERVE_MEASURER_OPTION : SERVE_WORKER_OPTION,
				    limits, NULL};
	int fds[2], error;

	snprintf(limits, sizeof(limits), "%u,%u,%u,%u,%u,%u,%u,%d", l->body_kb, l->blocks,
		 l->instructions, l->iterations, l->archs, l->answer_mb, l->measured,
		 !pool->has_begun);
	w->messages = memfd_create("tact-messages", MFD_CLOEXEC);
	if (w->messages < 0)
		return errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return errno;
	w->fd = fds[0];
	{
		const struct process_spec spec = {
			.argv = argv,
			.fds = {{PROCESS_NULL, STDIN_FILENO},
				{PROCESS_NULL, STDOUT_FILENO},
				{w->messages, STDERR_FILENO},
				{fds[1], SERVE_WORKER_FD}},
			.n_fds = 4,
			.has_group = true,
		};

		error = process_start(&w->process, &spec);
	}
	close(fds[1]);
	return error;
}

static int start_worker(struct pool *pool, struct worker *w)
{
	struct serve_head ready = {0};
	int error;

	*w = (struct worker){.fd = -1, .messages = -1, .state = ABSENT};
	error = spawn_worker(pool, w);
	if (error) {
		cli_message("cannot start a worker: %s", strerror(error));
		end_worker(w);
		return CLI_FAILED;
	}
	if (!take(w->fd, &ready, sizeof(ready), now_ms() + READY_MS) || ready.what != 200) {
		show_last_words(w);
		cli_message(pool->measures ? "this machine cannot measure"
					   : "a worker ended while it started");
		end_worker(w);
		return CLI_UNABLE;
	}
	w->state = FREE;
	return CLI_GOOD;
}

void pool_stop(struct pool *pool)
{
	if (!pool)
		return;
	for (unsigned i = 0; i < pool->n; i++)
		end_worker(&pool->workers[i]);
	if (pool->wake >= 0)
		close(pool->wake);
	pthread_cond_destroy(&pool->freed);
	pthread_mutex_destroy(&pool->lock);
	free(pool->workers);
	free(pool);
}

int pool_start(struct pool **out, const struct server *s, bool measures)
{
	/* Two that measure would disturb each other. */
	const unsigned n = measures ? 1 : s->workers;
	struct pool *pool = cli_alloc(sizeof(*pool));
	pthread_condattr_t attributes;
	int status = CLI_GOOD;

	*pool = (struct pool){
		.server = s, .measures = measures, .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->freed, &attributes);
	pthread_condattr_destroy(&attributes);
	pool->workers = cli_alloc(n * sizeof(*pool->workers));
	while (!status && pool->n < n)
		status = start_worker(pool, &pool->workers[pool->n++]);
	pool->has_begun = true;
	if (status) {
		pool_stop(pool);
		pool = NULL;
	}
	*out = pool;
	return status;
}

int pool_wake_fd(const struct pool *pool)
{
	return pool->wake;
}

void pool_mend(struct pool *pool)
{
	uint64_t n;

	if (read(pool->wake, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return;
	for (unsigned i = 0; i < pool->n; i++) {
		struct worker *w = &pool->workers[i], old, fresh;

		pthread_mutex_lock(&pool->lock);
		old = *w;
		if (old.state == ENDED)
			*w = (struct worker){.fd = -1, .messages = -1, .state = ABSENT};
		pthread_mutex_unlock(&pool->lock);
		if (old.state == ENDED)
			end_worker(&old);
		else if (old.state != ABSENT)
			continue;
		if (start_worker(pool, &fresh))
			continue;
		pthread_mutex_lock(&pool->lock);
		*w = fresh;
		pool->replaced++;
		pthread_cond_signal(&pool->freed);
		pthread_mutex_unlock(&pool->lock);
	}
}

unsigned pool_replaced(struct pool *pool)
{
	unsigned n;

	pthread_mutex_lock(&pool->lock);
	n = pool->replaced;
	pthread_mutex_unlock(&pool->lock);
	return n;
}

/* ---- requests ---- */

/* Waits for a worker; NULL if none is free in time. */
static struct worker *acquire(struct pool *pool, int64_t until)
{
	const struct timespec limit = {until / 1000, until % 1000 * 1000000};
	struct worker *found = NULL;
	int error = 0;

	pthread_mutex_lock(&pool->lock);
	while (!found && !error) {
		for (unsigned i = 0; i < pool->n && !found; i++)
			if (pool->workers[i].state == FREE)
				found = &pool->workers[i];
		if (!found)
			error = pthread_cond_timedwait(&pool->freed, &pool->lock, &limit);
	}
	if (found)
		found->state = BUSY;
	pthread_mutex_unlock(&pool->lock);
	return found;
}

static void release(struct pool *pool, struct worker *w, bool is_well)
{
	const uint64_t one = 1;
	bool has_ended;

	pthread_mutex_lock(&pool->lock);
	has_ended = !is_well || ++w->requests >= MOST_REQUESTS;
	w->state = has_ended ? ENDED : FREE;
	pthread_cond_signal(&pool->freed);
	pthread_mutex_unlock(&pool->lock);
	if (has_ended && write(pool->wake, &one, sizeof(one)) < 0)
		return;
}

/* An idle worker says nothing: what can be read is its end. */
static bool has_gone(const struct worker *w)
{
	struct pollfd end = {.fd = w->fd, .events = POLLIN};

	return poll(&end, 1, 0) > 0;
}

/* A worker that is alive. */
static struct worker *acquire_sound(struct pool *pool, int64_t until)
{
	struct worker *w;

	while ((w = acquire(pool, until)) && has_gone(w)) {
		cli_message("a worker ended while it had nothing to do");
		release(pool, w, false);
	}
	return w;
}

static void refuse(struct serve_answer *answer, unsigned status, const char *why)
{
	struct text text = {0};

	serve_error(&text, status, why, NULL);
	*answer = (struct serve_answer){status, cli_string(&text), text.size};
}

/* Reads the answer.  Returns false if the worker is of no use any more. */
static bool read_answer(struct pool *pool, struct worker *w, int64_t until,
			struct serve_answer *answer)
{
	const size_t most = ((size_t)pool->server->limits.answer_mb << 20) + (1 << 20);
	struct serve_head head;

	if (!take(w->fd, &head, sizeof(head), until) || head.size > most)
		return false;
	answer->body = malloc((size_t)head.size + 1);
	if (!answer->body)
		return false;
	answer->status = head.what;
	answer->size = head.size;
	if (take(w->fd, answer->body, head.size, until))
		return true;
	free(answer->body);
	return false;
}

static void ask(struct pool *pool, enum serve_endpoint endpoint, const void *body, size_t size,
		int64_t until, struct serve_answer *answer)
{
	const struct serve_head head = {endpoint, (uint32_t)size};
	struct worker *w = acquire_sound(pool, until);
	bool is_well;

	if (!w) {
		refuse(answer, 503,
		       pool->measures ? "other code is being measured; try again later"
				      : "all workers are busy; try again later");
		return;
	}
	is_well = give(w->fd, &head, sizeof(head), until) && give(w->fd, body, size, until) &&
		  read_answer(pool, w, until, answer);
	if (!is_well && now_ms() >= until) {
		refuse(answer, 504, "it takes more time than a request may; ask for less");
	} else if (!is_well) {
		show_last_words(w);
		cli_message("a worker ended during a request for %s", serve_routes[endpoint].name);
		refuse(answer, 500, "the worker ended; another one takes its place");
	}
	release(pool, w, is_well);
}

static int64_t limit_of(const struct pool *pool)
{
	return now_ms() + (int64_t)pool->server->timeout * 1000;
}

void pool_ask(struct pool *pool, enum serve_endpoint endpoint, const void *body, size_t size,
	      struct serve_answer *answer)
{
	ask(pool, endpoint, body, size, limit_of(pool), answer);
}

void pool_measure(struct pool *pool, struct pool *measuring, const void *body, size_t size,
		  struct serve_answer *answer)
{
	const int64_t until = limit_of(pool);
	struct serve_answer plan;

	ask(pool, SERVE_MEASURE, body, size, until, &plan);
	if (plan.status != SERVE_PLAN) {
		*answer = plan;
		return;
	}
	ask(measuring, SERVE_MEASURE, plan.body, plan.size, until, answer);
	free(plan.body);
}
