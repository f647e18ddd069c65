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
	unsigned body_kb, blocks, instructions, iterations, archs, answer_mb;
};

/* Values of the options. */
struct server {
	const char *listen, *token_file, *host;
	unsigned port, workers, timeout, connections, requests;
	struct serve_limits limits;
	bool is_verbose, is_quiet;
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
	SERVE_CODE,
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

/* Starts the workers, and waits until they are ready.  Returns an exit code, with the message
 * given.
 */
int pool_start(struct pool **out, const struct server *s);
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

/* What travels: a head, then so many bytes. */
struct serve_head {
	uint32_t what; /* endpoint, or status of HTTP */
	uint32_t size;
};

/* A worker: reads requests from descriptor 3 until it is closed.  Returns an exit code. */
enum { SERVE_WORKER_FD = 3 };
#define SERVE_WORKER_OPTION "--worker"
int serve_worker(const char *limits);

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

/* Adds the regions of the job's input, an object each, with commas: functions and loops.  Returns
 * false, with the reason in why, if it has none.
 */
bool serve_regions(const struct serve_job *job, const struct serve_limits *limits, struct text *out,
		   struct text *why, unsigned *status);

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
	const char *token;   /* ""; none is needed */
	const char *address; /* that is listened on, without the port */
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

#endif /* TACT_SERVE_H */
