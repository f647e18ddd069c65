/* SPDX-License-Identifier: MIT
 *
 * Requests as lines: JSON objects from standard input, one answer a line to standard output, for
 * programs that feed a child through pipes.
 *
 * One thread reads, several have workers answer, and this one writes, in the order of the lines.  A
 * ring between them has few places: who does not read the answers is not read from.
 */
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/condition.h"
#include "common/cli.h"
#include "common/output.h"
#include "serve.h"

enum { PLACES_PER_WORKER = 4, MEND_MS = 100, CHUNK = 1 << 16 };

enum place_state { EMPTY, READ, TAKEN, ANSWERED };

struct place {
	enum place_state state;
	uint64_t line;
	char *text; /* owned; without its newline */
	size_t size;
	bool is_too_long;
	struct text answer;
};

struct lines {
	const struct server *server;
	struct pool *pool, *measuring;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct place *places; /* owned; a ring */
	size_t n;
	uint64_t n_read, n_taken, n_written;
	bool is_over; /* no more lines */
	bool is_bad;  /* standard input cannot be read */
	int error;
};

/* ---- one request ---- */

static int find_endpoint(const json_t *request)
{
	const char *name = request ? json_string_value(request) : "predict";

	for (int i = 0; name && i < SERVE_N_ENDPOINTS; i++)
		if (!strcmp(serve_routes[i].name, name) && !serve_routes[i].is_local)
			return i;
	return -1;
}

static void refuse(struct serve_answer *answer, unsigned status, const char *why)
{
	struct text body = {0};

	serve_error(&body, status, why, NULL);
	*answer = (struct serve_answer){status, body.data, body.size};
}

/* {"line":1,"id":...,"status":200,"answer":{...}}: what the service answers, on one line. */
static void write_answer(struct place *p, const json_t *id, const struct serve_answer *a)
{
	char *text = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	size_t size = a->size;

	while (size && a->body[size - 1] == '\n')
		size--;
	for (size_t i = 0; i < size; i++) /* between values: strings have none */
		if (a->body[i] == '\n')
			a->body[i] = ' ';
	text_printf(&p->answer, "{\"line\":%llu,", (unsigned long long)p->line);
	if (text)
		text_printf(&p->answer, "\"id\":%s,", text);
	text_printf(&p->answer, "\"status\":%u,\"answer\":", a->status);
	if (size)
		text_add_bytes(&p->answer, a->body, size);
	else
		text_add(&p->answer, "null");
	text_add(&p->answer, "}\n");
	free(text);
}

static void ask(struct lines *l, json_t *request, struct serve_answer *answer)
{
	const int endpoint = find_endpoint(json_object_get(request, "request"));
	char *body;

	if (endpoint < 0) {
		refuse(answer, 404,
		       "\"request\" is none of archs, insn, predict, mca, simulate, timeline, "
		       "models, code and measure");
		return;
	}
	if (endpoint == SERVE_MEASURE && !l->measuring) {
		refuse(answer, 403, "this worker does not measure (tact serve --lines --measure)");
		return;
	}
	json_object_del(request, "request");
	json_object_del(request, "id");
	body = json_dumps(request, JSON_COMPACT);
	if (!body)
		cli_out_of_memory();
	if (endpoint == SERVE_MEASURE)
		pool_measure(l->pool, l->measuring, body, strlen(body), answer);
	else
		pool_ask(l->pool, (enum serve_endpoint)endpoint, body, strlen(body), answer);
	free(body);
}

static void respond(struct lines *l, struct place *p)
{
	struct serve_answer answer = {0};
	json_t *request = NULL, *id = NULL;
	json_error_t error;
	struct text why = {0};

	if (p->is_too_long) {
		refuse(&answer, 413, "the line is too long (--max-body)");
	} else {
		request =
			json_loadb(p->text ? p->text : "", p->size, JSON_REJECT_DUPLICATES, &error);
		if (!request) {
			text_printf(&why, "not JSON: %s", error.text);
			refuse(&answer, 400, cli_string(&why));
		} else if (!json_is_object(request)) {
			refuse(&answer, 400, "a request has to be a JSON object");
		} else {
			id = json_incref(json_object_get(request, "id"));
			ask(l, request, &answer);
		}
	}
	write_answer(p, id, &answer);
	free(answer.body);
	text_free(&why);
	json_decref(id);
	json_decref(request);
}

/* ---- threads ---- */

static struct place *place_of(struct lines *l, uint64_t i)
{
	return &l->places[i % l->n];
}

static void *answer_some(void *arg)
{
	struct lines *l = arg;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		struct place *p;

		while (l->n_taken == l->n_read && !l->is_over)
			pthread_cond_wait(&l->changed, &l->lock);
		if (l->n_taken == l->n_read)
			break;
		p = place_of(l, l->n_taken++);
		p->state = TAKEN;
		pthread_mutex_unlock(&l->lock);
		respond(l, p);
		pthread_mutex_lock(&l->lock);
		p->state = ANSWERED;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Waits for an empty place and puts the line there. */
static void hand_over(struct lines *l, struct text *line, bool is_too_long)
{
	struct place *p;

	pthread_mutex_lock(&l->lock);
	while (l->n_read - l->n_written == l->n)
		pthread_cond_wait(&l->changed, &l->lock);
	p = place_of(l, l->n_read);
	*p = (struct place){.state = READ,
			    .line = l->n_read + 1,
			    .text = line->data,
			    .size = line->size,
			    .is_too_long = is_too_long,
			    .answer = p->answer};
	l->n_read++;
	*line = (struct text){0};
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void *read_lines(void *arg)
{
	struct lines *l = arg;
	const size_t most = (size_t)l->server->limits.body_kb * 1024;
	struct text line = {0};
	char *chunk = cli_alloc(CHUNK);
	bool is_too_long = false, has_some = false;
	ssize_t n;

	while ((n = read(STDIN_FILENO, chunk, CHUNK)) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t at = 0; at < n;) {
			const char *end = memchr(chunk + at, '\n', (size_t)(n - at));
			const size_t size = (size_t)((end ? end - chunk : n) - at);

			is_too_long |= line.size + size > most;
			if (!is_too_long)
				text_add_bytes(&line, chunk + at, size);
			has_some = !end;
			at += (ssize_t)size + (end != NULL);
			if (!end)
				continue;
			hand_over(l, &line, is_too_long);
			is_too_long = false;
		}
	}
	if (has_some)
		hand_over(l, &line, is_too_long);
	text_free(&line);
	free(chunk);
	pthread_mutex_lock(&l->lock);
	l->is_over = true;
	l->error = n < 0 ? errno : 0;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Writes answers in order, and replaces workers that ended, until all lines have theirs.  Whatever is
 * ready is written at once: nobody waits for an answer that is there.
 */
static int write_answers(struct lines *l)
{
	int status = CLI_GOOD;

	pthread_mutex_lock(&l->lock);
	while (!status && !(l->is_over && l->n_written == l->n_read)) {
		struct place *p = place_of(l, l->n_written);

		if (l->n_written == l->n_read || p->state != ANSWERED) {
			condition_wait_ms(&l->changed, &l->lock, MEND_MS);
			pthread_mutex_unlock(&l->lock);
			pool_mend(l->pool);
			if (l->measuring)
				pool_mend(l->measuring);
			pthread_mutex_lock(&l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		if (p->answer.failed)
			cli_out_of_memory();
		if (!serve_write(STDOUT_FILENO, p->answer.data, p->answer.size)) {
			cli_message("standard output: %s", strerror(errno));
			status = CLI_FAILED;
		}
		text_reset(&p->answer);
		free(p->text);
		pthread_mutex_lock(&l->lock);
		p->text = NULL;
		p->state = EMPTY;
		l->n_written++;
		pthread_cond_broadcast(&l->changed);
	}
	if (!status && l->error) {
		cli_message("standard input: %s", strerror(l->error));
		status = CLI_FAILED;
	}
	pthread_mutex_unlock(&l->lock);
	return status;
}

static int run_threads(struct lines *l)
{
	const unsigned n = l->server->workers;
	pthread_t reader, *askers = cli_alloc(n * sizeof(*askers));
	int status;

	if (pthread_create(&reader, NULL, read_lines, l))
		cli_out_of_memory();
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&askers[i], NULL, answer_some, l))
			cli_out_of_memory();
	status = write_answers(l);
	if (status) /* the reader may wait for a line that never comes */
		_exit(status);
	pthread_join(reader, NULL);
	for (unsigned i = 0; i < n; i++)
		pthread_join(askers[i], NULL);
	free(askers);
	return status;
}

int serve_lines(const struct server *s)
{
	struct lines l = {.server = s, .n = (size_t)s->workers * PLACES_PER_WORKER};
	int status = pool_start(&l.pool, s, false);

	if (!status && s->measures)
		status = pool_start(&l.measuring, s, true);
	pthread_mutex_init(&l.lock, NULL);
	condition_init(&l.changed);
	l.places = cli_alloc(l.n * sizeof(*l.places));
	memset(l.places, 0, l.n * sizeof(*l.places));
	if (!status)
		status = run_threads(&l);
	for (size_t i = 0; i < l.n; i++)
		text_free(&l.places[i].answer);
	free(l.places);
	pool_stop(l.measuring);
	pool_stop(l.pool);
	pthread_cond_destroy(&l.changed);
	pthread_mutex_destroy(&l.lock);
	return status;
}
