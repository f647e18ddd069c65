/* SPDX-License-Identifier: MIT
 *
 * tact serve: a service that answers in JSON what other commands print.
 *
 * This process speaks HTTP and computes nothing.  Workers are processes of their own, each in a box
 * (base/box.h): what a request makes crash, hang or grow is a worker, which is replaced.
 */
#ifndef TACT_SERVE_H
#define TACT_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* What a request may ask for; each is a limit with an answer of its own. */
struct serve_limits {
	unsigned body_kb, blocks, instructions, iterations, archs, answer_mb, measured;
};

/* Values of the options. */
struct server {
	const char *listen, *token_file, *host;
	const char *folder; /* of --static; NULL: serve */
	unsigned port, workers, timeout, connections, requests;
	struct serve_limits limits;
	bool measures, reads_lines, is_verbose, is_quiet;
	bool ends_with_input; /* of a program that started it */
	int argc;	      /* of the command line, to start again */
	char **argv;	      /* borrowed */
};

/* ---- the service's addresses ---- */

enum serve_endpoint {
	SERVE_HEALTH,
	SERVE_VERSION,
	SERVE_OPENAPI,
	SERVE_ARCHS,
	SERVE_INSN,
	SERVE_PREDICT,
	SERVE_MCA,
	SERVE_SIMULATE,
	SERVE_TIMELINE,
	SERVE_MODELS,
	SERVE_CODE,
	SERVE_MEASURE,
	SERVE_PAGE, /* at / */
	SERVE_N_ENDPOINTS
};

struct serve_route {
	const char *name; /* after /api/1/ */
	bool takes_get, takes_post;
	bool is_open;  /* needs no token */
	bool is_local; /* answered without a worker */
};
extern const struct serve_route serve_routes[SERVE_N_ENDPOINTS];

/* Writes {"error":...} with the status, and what more there is to say. */
void serve_error(struct text *out, unsigned status, const char *why, const char *detail);

/* ---- workers ---- */

struct pool; /* of workers, all started by one thread */

/* An answer of a worker, or why there is none: a status of HTTP and a body that the caller frees. */
struct serve_answer {
	unsigned status;
	char *body;
	size_t size;
};

/* Starts the workers, or with `measures` the one that measures, and waits until they are ready.
 * Returns an exit code, with the message given.
 */
int pool_start(struct pool **out, const struct server *s, bool measures);
void pool_stop(struct pool *pool);

/* Replaces workers that ended.  For the thread that started the pool, when the descriptor is
 * readable.
 */
int pool_wake_fd(const struct pool *pool);
void pool_mend(struct pool *pool);
unsigned pool_replaced(struct pool *pool); /* how many so far */

/* Has a request answered, for any thread. */
void pool_ask(struct pool *pool, enum serve_endpoint endpoint, const void *body, size_t size,
	      struct serve_answer *answer);

/* The same for SERVE_MEASURE: a worker of `pool` reads the code, that of `measuring` runs it. */
void pool_measure(struct pool *pool, struct pool *measuring, const void *body, size_t size,
		  struct serve_answer *answer);

/* What travels: a head, then so many bytes. */
struct serve_head {
	uint32_t what; /* endpoint, or status of HTTP */
	uint32_t size;
};

/* A worker: reads requests from descriptor 3 until it is closed.  Returns an exit code.  The one that
 * measures is in no box, because what it starts needs more than a box allows: it gets nothing but
 * machine code and a few words, which a worker in a box has made of the request (serve_measure.c).
 */
enum { SERVE_WORKER_FD = 3 };
#define SERVE_WORKER_OPTION   "--worker"
#define SERVE_MEASURER_OPTION "--measurer"
int serve_worker(const char *limits, bool measures);

/* What requests become: the words of a command line, and what it reads. */
enum { SERVE_MAX_WORDS = 512 };
struct serve_job {
	char *words[SERVE_MAX_WORDS + 1]; /* owned, all */
	int n;
	char *input; /* owned; NULL: none */
	size_t input_size;
	bool has_graph;
	struct text why; /* the request is wrong */
	unsigned status; /* then: 400, 413, ... */
};

/* Reads a request.  Returns false with job->why if it is wrong. */
bool serve_read(struct serve_job *job, enum serve_endpoint endpoint, const char *body, size_t size,
		const struct serve_limits *limits);
void serve_job_fini(struct serve_job *job);

/* ---- answers ---- */

/* Where an answer is made: the streams of the command that makes it are files in memory. */
struct serve_station {
	struct serve_limits limits;
	int input, output; /* messages are in descriptor 2 */

	/* Answers SERVE_MEASURE: SERVE_PLAN and what is to be measured, or an error. */
	unsigned (*plan)(const struct serve_station *st, struct serve_job *job, struct text *out);
};
enum { SERVE_PLAN = 100 };

/* Answers a request: adds the body, and returns the status; 0: this process is of no use any more. */
unsigned serve_respond(const struct serve_station *st, enum serve_endpoint endpoint,
		       const char *body, size_t size, struct text *out);

/* Its parts: gives a command the job's input and empty files; makes an answer of what it wrote; and
 * writes all of the data.
 */
bool serve_set_streams(const struct serve_station *st, const struct serve_job *job);
unsigned serve_collect(const struct serve_station *st, enum serve_endpoint endpoint, int code,
		       bool is_exceeded, struct text *out);
bool serve_write(int fd, const void *data, size_t size);

/* ---- measuring ---- */

/* In a box: makes of a request the lines that serve_measure takes, one for each block. */
unsigned serve_measure_plan(const struct serve_station *st, struct serve_job *job,
			    struct text *out);

/* Outside: measures such lines, and answers as serve_respond does. */
unsigned serve_measure(const struct serve_station *st, const char *plan, size_t size,
		       struct text *out);

/* Measures something, to see whether that works here.  Returns an exit code; messages are in
 * descriptor 2.
 */
int serve_measure_try(const struct serve_station *st);

/* ---- parts of answers ---- */

/* Adds the regions of the job's input, an object each, with commas: functions and loops.  Returns
 * false, with the reason in why, if it has none.
 */
bool serve_regions(const struct serve_job *job, const struct serve_limits *limits, struct text *out,
		   struct text *why, unsigned *status);

/* Compares models: a command, with bounds on what it reads.  Returns an exit code. */
struct source_limits;
int serve_models(int argc, char **argv, struct source_limits *limits);

/* Makes of a line of tact.simulate/1, with a timeline, one of tact.timeline/1.  Returns false if
 * memory ran out.
 */
bool serve_timeline(const char *line, size_t size, struct text *out);

/* ---- tokens ---- */

/* Reads the token, or makes one.  Returns an exit code, with the message given. */
enum { SERVE_TOKEN_LEAST = 16, SERVE_TOKEN_MOST = 200 };
int serve_token_load(const char *path, char token[SERVE_TOKEN_MOST + 1]);

/* Compares without telling by its time how much is right. */
bool serve_token_is(const char *token, const char *given);

/* ---- HTTP ---- */

struct http; /* the daemon with its connections */

struct http_config {
	const struct server *server;
	struct pool *pool;
	struct pool *measuring; /* NULL: without --measure */
	const char *cpu;	/* that measures */
	const char *token;	/* ""; none is needed */
	const char *address;	/* that is listened on, without the port */
	unsigned port;
	bool is_loopback;
};

int http_check(void); /* whether libmicrohttpd is there: an exit code, with the message given */
int http_start(struct http **out, const struct http_config *config);
/* Takes a connection over, or answers that there are too many. */
void http_add(struct http *http, int fd, const void *address, unsigned size);
/* Ends connections that take too long; `is_ending`: also those that have nothing under way. */
void http_sweep(struct http *http, bool is_ending);
size_t http_count(struct http *http); /* connections */
void http_drain(struct http *http);   /* from now on, each answer ends its connection */
void http_stop(struct http *http);

/* ---- the loop ---- */

/* Serves until a signal ends it.  Returns an exit code. */
int serve_run(const struct server *s);

/* Answers the lines of standard input, without HTTP.  Returns an exit code. */
int serve_lines(const struct server *s);

/* Writes the page that needs no server.  Returns an exit code, with the message given. */
int serve_static(const char *folder, bool is_quiet);

#endif /* TACT_SERVE_H */
