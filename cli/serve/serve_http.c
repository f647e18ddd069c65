/* SPDX-License-Identifier: MIT
 *
 * Requests over HTTP.  libmicrohttpd has a thread for each connection; here each thread waits for
 * its worker.  Connections come from our own loop (serve_run.c), which counts them and ends those
 * that take too long.
 */
#include "microhttpd_api.h"
#include "serve.h"

#ifdef TACT_HAS_MICROHTTPD

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/output.h"
#include "common/page.h"
#include "serve_gate.h"

enum {
	READ_MS = 10000,  /* most time for a request to arrive */
	WRITE_MS = 30000, /* and for an answer to leave */
	IDLE_MS = 30000,  /* between requests */
	LINGER_MS = 100,  /* while the service ends */
	HEADER_BYTES = 32 << 10
};

/* Where a connection stands.  Only READING has a client that keeps us waiting for words; one that is
 * STARTING is the daemon's, which has not said yet that it takes it.
 */
enum phase { STARTING, IDLE, READING, WORKING, WRITING };

struct connection {
	struct connection *next, *before;
	int fd;
	enum phase phase;
	int64_t since; /* ms */
	unsigned requests;
	char address[64];
};

struct http {
	struct http_config config;
	struct microhttpd api;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of what follows */
	struct connection *connections;
	size_t n, body_bytes, answer_bytes;
	uint64_t served;
	bool is_draining;
};

/* A request that is being read. */
struct request {
	struct connection *connection;
	enum serve_endpoint endpoint;
	struct text body;
	size_t counted, answered; /* bytes that it has in http->body_bytes and answer_bytes */
	bool is_begun, is_too_large, is_crowded;
	const char *method;
	int64_t start; /* us */
};

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t now_ms(void)
{
	return now_us() / 1000;
}

/* ---- connections ---- */

static void set_phase(struct http *http, struct connection *c, enum phase phase)
{
	if (!c)
		return;
	pthread_mutex_lock(&http->lock);
	c->phase = phase;
	c->since = now_ms();
	pthread_mutex_unlock(&http->lock);
}

/* The caller holds the lock. */
static void insert(struct http *http, struct connection *c)
{
	c->next = http->connections;
	if (c->next)
		c->next->before = c;
	http->connections = c;
	http->n++;
}

/* Takes a connection from the list and frees it.  The caller holds the lock. */
static void drop(struct http *http, struct connection *c)
{
	*(c->before ? &c->before->next : &http->connections) = c->next;
	if (c->next)
		c->next->before = c->before;
	http->n--;
	free(c);
}

/* The one that was given to the daemon with this descriptor.  The caller holds the lock. */
static struct connection *find_starting(const struct http *http, int fd)
{
	struct connection *c = http->connections;

	while (c && (c->phase != STARTING || c->fd != fd))
		c = c->next;
	return c;
}

static void on_start(struct http *http, struct MHD_Connection *mhd, void **context)
{
	const union MHD_ConnectionInfo *info =
		http->api.get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	const int fd = info ? info->connect_fd : -1;
	struct connection *c;

	info = http->api.get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	pthread_mutex_lock(&http->lock);
	c = find_starting(http, fd);
	if (!c) { /* it took so long that the sweep gave it up */
		c = calloc(1, sizeof(*c));
		if (c)
			insert(http, c);
	}
	if (c) {
		c->fd = fd;
		c->phase = IDLE;
		c->since = now_ms();
		gate_address(info ? info->client_addr : NULL, c->address, sizeof(c->address));
	}
	pthread_mutex_unlock(&http->lock);
	*context = c;
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http *http = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		on_start(http, mhd, context);
		return;
	}
	pthread_mutex_lock(&http->lock);
	if (*context)
		drop(http, *context);
	pthread_mutex_unlock(&http->lock);
	*context = NULL;
}

static struct connection *connection_of(struct http *http, struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		http->api.get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* The request line has come. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
	struct request *r = calloc(1, sizeof(*r));

	(void)uri;
	if (r) {
		r->start = now_us();
		r->connection = connection_of(cls, mhd);
		set_phase(cls, r->connection, READING);
	}
	return r;
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context,
			 enum MHD_RequestTerminationCode code)
{
	struct http *http = cls;
	struct request *r = *context;

	(void)mhd;
	(void)code;
	if (!r)
		return;
	pthread_mutex_lock(&http->lock);
	http->body_bytes -= r->counted;
	http->answer_bytes -= r->answered;
	pthread_mutex_unlock(&http->lock);
	set_phase(http, r->connection, IDLE);
	text_free(&r->body);
	free(r);
	*context = NULL;
}

/* ---- answers ---- */

static const char *header_of(struct http *http, struct MHD_Connection *mhd, const char *name)
{
	return http->api.lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

static void add_headers(struct http *http, struct MHD_Response *response, unsigned status,
			bool is_page, bool is_last)
{
	static const char *const always[][2] = {
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
	};

	http->api.add_response_header(response, "Content-Type",
				      is_page ? "text/html; charset=utf-8" : "application/json");
	http->api.add_response_header(
		response, "Content-Security-Policy",
		is_page ? "default-src 'none'; style-src 'unsafe-inline'; script-src "
			  "'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
			  "form-action 'none'; frame-ancestors 'none'"
			: "default-src 'none'; frame-ancestors 'none'");
	for (size_t i = 0; i < CLI_ARRAY_SIZE(always); i++)
		http->api.add_response_header(response, always[i][0], always[i][1]);
	if (status == 401)
		http->api.add_response_header(response, "WWW-Authenticate", "Bearer");
	if (status == 405)
		http->api.add_response_header(response, "Allow", "GET, POST");
	if (status == 503)
		http->api.add_response_header(response, "Retry-After", "1");
	if (is_last)
		http->api.add_response_header(response, "Connection", "close");
}

static void log_request(const struct http *http, const struct request *r, const char *url,
			unsigned status, size_t size)
{
	struct text line = {0};

	if (!http->config.server->is_verbose)
		return;
	text_printf(&line, "tact: %s %s ", r->connection ? r->connection->address : "?", r->method);
	text_json_string(&line, url, strnlen(url, 80));
	text_printf(&line, " %u, %zu bytes, %.1f ms\n", status, size,
		    (double)(now_us() - r->start) / 1000);
	text_to_stderr(&line);
	text_free(&line);
}

/* Sends a body, which is freed. */
static enum MHD_Result answer(struct http *http, struct MHD_Connection *mhd, struct request *r,
			      const char *url, unsigned status, char *body, size_t size)
{
	struct MHD_Response *response;
	enum MHD_Result result;
	bool is_last;

	log_request(http, r, url, status, size);
	response = http->api.create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(body);
		return MHD_NO;
	}
	pthread_mutex_lock(&http->lock);
	http->served++;
	is_last = http->is_draining ||
		  (r->connection && ++r->connection->requests >= http->config.server->requests);
	pthread_mutex_unlock(&http->lock);
	add_headers(http, response, status, status == 200 && r->endpoint == SERVE_PAGE, is_last);
	set_phase(http, r->connection, WRITING);
	result = http->api.queue_response(mhd, status, response);
	http->api.destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct http *http, struct MHD_Connection *mhd, struct request *r,
			      const char *url, unsigned status, const char *why)
{
	struct text text = {0};

	serve_error(&text, status, why, NULL);
	return answer(http, mhd, r, url, status, cli_string(&text), text.size);
}

static void write_page(const struct http *http, struct text *out)
{
	struct text data = {0};
	struct json json = {.out = &data};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.serve.page/1");
	json_printf_string(&json, "version", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	json_put_bool(&json, "needs_token", *http->config.token);
	if (http->config.measuring)
		json_put_string(&json, "measures", http->config.cpu);
	json_end_line(&json);
	page_write(&page_serve, &data, out);
	text_free(&data);
}

/* What needs no worker. */
static void local_answer(struct http *http, enum serve_endpoint endpoint, struct text *out)
{
	struct json json = {.out = out};

	if (endpoint == SERVE_PAGE) {
		write_page(http, out);
		return;
	}
	if (endpoint == SERVE_OPENAPI) {
		text_add_bytes(out, serve_openapi, (size_t)(serve_openapi_end - serve_openapi));
		return;
	}
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.serve/1");
	json_put_string(&json, "endpoint", serve_routes[endpoint].name);
	if (endpoint == SERVE_VERSION) {
		json_printf_string(&json, "version", "%d.%d.%d", TACT_VERSION_MAJOR,
				   TACT_VERSION_MINOR, TACT_VERSION_PATCH);
		json_put_count(&json, "api", 1);
	} else {
		pthread_mutex_lock(&http->lock);
		json_put_string(&json, "status", http->is_draining ? "ending" : "ok");
		json_put_count(&json, "workers", http->config.server->workers);
		json_put_count(&json, "workers_replaced", pool_replaced(http->config.pool));
		json_put_count(&json, "connections", http->n);
		json_put_count(&json, "requests", http->served);
		pthread_mutex_unlock(&http->lock);
	}
	json_end_line(&json);
}

/* Clients that read slowly keep their answers here: together as much as four of the largest. */
static bool hold_answer(struct http *http, struct request *r, size_t size)
{
	const size_t most = (size_t)http->config.server->limits.answer_mb << 22;
	bool is_held;

	pthread_mutex_lock(&http->lock);
	is_held = http->answer_bytes + size <= most;
	if (is_held) {
		http->answer_bytes += size;
		r->answered += size;
	}
	pthread_mutex_unlock(&http->lock);
	return is_held;
}

static enum MHD_Result compute(struct http *http, struct MHD_Connection *mhd, struct request *r,
			       const char *url)
{
	struct serve_answer a;
	struct text text = {0};

	set_phase(http, r->connection, WORKING);
	if (serve_routes[r->endpoint].is_local) {
		local_answer(http, r->endpoint, &text);
		return answer(http, mhd, r, url, 200, cli_string(&text), text.size);
	}
	if (r->endpoint == SERVE_MEASURE)
		pool_measure(http->config.pool, http->config.measuring, r->body.data, r->body.size,
			     &a);
	else
		pool_ask(http->config.pool, r->endpoint, r->body.data, r->body.size, &a);
	if (!hold_answer(http, r, a.size)) {
		free(a.body);
		return refuse(http, mhd, r, url, 503,
			      "too many large answers at once; try again later");
	}
	return answer(http, mhd, r, url, a.status, a.body, a.size);
}

/* ---- requests ---- */

/* Looks at what the headers say.  Returns 0, or a status with the reason. */
static unsigned check_headers(struct http *http, struct MHD_Connection *mhd, struct request *r,
			      const char *url, const char **why)
{
	const struct gate_headers headers = {
		.method = r->method,
		.url = url,
		.host = header_of(http, mhd, "Host"),
		.origin = header_of(http, mhd, "Origin"),
		.authorization = header_of(http, mhd, "Authorization"),
		.content_type = header_of(http, mhd, "Content-Type"),
		.content_length = header_of(http, mhd, "Content-Length"),
	};

	return gate_check(&http->config, &headers, &r->endpoint, why);
}

/* All bodies together may take as much as eight of the largest. */
static void take_body(struct http *http, struct request *r, const char *data, size_t size)
{
	const size_t most = (size_t)http->config.server->limits.body_kb << 10;

	if (r->is_too_large || r->is_crowded)
		return;
	if (r->body.size + size > most) {
		r->is_too_large = true;
		text_free(&r->body);
		return;
	}
	pthread_mutex_lock(&http->lock);
	r->is_crowded = http->body_bytes + size > 8 * most;
	if (!r->is_crowded) {
		http->body_bytes += size;
		r->counted += size;
	}
	pthread_mutex_unlock(&http->lock);
	if (!r->is_crowded)
		text_add_bytes(&r->body, data, size);
	r->is_crowded |= r->body.failed;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **context)
{
	struct http *http = cls;
	struct request *r = *context;
	const char *why = NULL;
	unsigned status;

	(void)version;
	if (!r)
		return MHD_NO; /* no memory: on_uri */
	if (!r->is_begun) {
		r->is_begun = true;
		r->method = !strcmp(method, "GET")    ? "GET"
			    : !strcmp(method, "POST") ? "POST"
						      : "other";
		status = check_headers(http, mhd, r, url, &why);
		return status ? refuse(http, mhd, r, url, status, why) : MHD_YES;
	}
	if (*size) {
		take_body(http, r, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (r->is_too_large)
		return refuse(http, mhd, r, url, 413,
			      "the request is larger than --max-body allows");
	if (r->is_crowded)
		return refuse(http, mhd, r, url, 503,
			      "too many large requests at once; try again later");
	return compute(http, mhd, r, url);
}

/* ---- the daemon ---- */

static void drop_message(void *cls, const char *format, va_list args)
{
	(void)cls;
	(void)format;
	(void)args;
}

int http_start(struct http **out, const struct http_config *config)
{
	struct http *http = cli_alloc(sizeof(*http));

	*http = (struct http){.config = *config};
	*out = NULL;
	pthread_mutex_init(&http->lock, NULL);
	errno = 0;
	if (microhttpd_load(&http->api))
		http->daemon = http->api.start_daemon(
			MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
				MHD_USE_POLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
				MHD_USE_ERROR_LOG,
			0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, drop_message,
			NULL, MHD_OPTION_URI_LOG_CALLBACK, on_uri, http,
			MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
			MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
			MHD_OPTION_CONNECTION_LIMIT, config->server->connections + 64,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
			MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_THREAD_STACK_SIZE,
			(size_t)256 << 10, MHD_OPTION_END);
	if (!http->daemon) {
		cli_message("libmicrohttpd does not start%s%s", errno ? ": " : "",
			    errno ? strerror(errno) : "");
		pthread_mutex_destroy(&http->lock);
		free(http);
		return CLI_FAILED;
	}
	*out = http;
	return CLI_GOOD;
}

/* A whole answer to somebody whom the daemon does not see, or does not write to now. */
static void send_raw(int fd, const char *status, const char *why)
{
	struct text body = {0}, text = {0};

	serve_error(&body, (unsigned)strtoul(status, NULL, 10), why, NULL);
	text_printf(&text,
		    "HTTP/1.1 %s\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
		    "Retry-After: 1\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
		    status, body.size);
	text_append(&text, &body);
	if (send(fd, cli_string(&text), text.size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0; /* nobody listens */
	text_free(&body);
	text_free(&text);
}

/* Counts a connection from now on.  Returns whether there is room for it. */
static bool count_in(struct http *http, int fd)
{
	struct connection *c;

	pthread_mutex_lock(&http->lock);
	c = find_starting(http, fd);
	if (c) /* the daemon has closed that one: its descriptor is free again */
		drop(http, c);
	c = http->n < http->config.server->connections ? calloc(1, sizeof(*c)) : NULL;
	if (c) {
		c->fd = fd;
		c->since = now_ms();
		insert(http, c);
	}
	pthread_mutex_unlock(&http->lock);
	return c;
}

void http_add(struct http *http, int fd, const void *address, unsigned size)
{
	struct connection *c;

	if (!count_in(http, fd)) {
		send_raw(fd, "503 Service Unavailable", "too many connections; try again later");
		shutdown(fd, SHUT_WR);
		close(fd);
		return;
	}
	if (http->api.add_connection(http->daemon, fd, address, size) == MHD_YES)
		return;
	/* It has closed the descriptor, which nobody else opens meanwhile: this thread accepts. */
	pthread_mutex_lock(&http->lock);
	c = find_starting(http, fd);
	if (c)
		drop(http, c);
	pthread_mutex_unlock(&http->lock);
}

/* Tells whether a connection has to end, and says so to its client if it is its turn. */
static bool is_over(const struct connection *c, int64_t now, bool is_ending)
{
	char byte;

	switch (c->phase) {
	case STARTING:
		break;
	case IDLE:
		/* What has come already is a request. */
		if (is_ending && c->requests && now - c->since > LINGER_MS)
			return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
		return now - c->since > (c->requests ? IDLE_MS : READ_MS);
	case READING:
		return now - c->since > READ_MS;
	case WRITING:
		return now - c->since > WRITE_MS;
	case WORKING:
		break;
	}
	return false;
}

/* The daemon closes a connection that it has no memory or no thread for, and may not say so.  The
 * descriptor may be another file's by now, so that nothing is done with it.
 */
static bool is_lost(const struct connection *c, int64_t now)
{
	return c->phase == STARTING &&
	       ((fcntl(c->fd, F_GETFD) < 0 && errno == EBADF) || now - c->since > READ_MS);
}

void http_sweep(struct http *http, bool is_ending)
{
	const int64_t now = now_ms();

	pthread_mutex_lock(&http->lock);
	for (struct connection *c = http->connections, *next; c; c = next) {
		next = c->next;
		if (is_lost(c, now)) {
			drop(http, c);
			continue;
		}
		if (!is_over(c, now, is_ending))
			continue;
		if (c->phase == READING || (c->phase == IDLE && !c->requests))
			send_raw(c->fd, "408 Request Timeout",
				 "the request took too long to arrive");
		shutdown(c->fd, SHUT_RDWR);
		c->since = now;
	}
	pthread_mutex_unlock(&http->lock);
}

size_t http_count(struct http *http)
{
	size_t n;

	pthread_mutex_lock(&http->lock);
	n = http->n;
	pthread_mutex_unlock(&http->lock);
	return n;
}

void http_drain(struct http *http)
{
	pthread_mutex_lock(&http->lock);
	http->is_draining = true;
	pthread_mutex_unlock(&http->lock);
}

void http_stop(struct http *http)
{
	if (!http)
		return;
	http->api.stop_daemon(http->daemon);
	pthread_mutex_destroy(&http->lock);
	free(http);
}

#else

int http_start(struct http **out, const struct http_config *config)
{
	(void)config;
	*out = NULL;
	return http_check();
}

void http_add(struct http *http, int fd, const void *address, unsigned size)
{
	(void)http, (void)fd, (void)address, (void)size;
}

void http_sweep(struct http *http, bool is_ending)
{
	(void)http, (void)is_ending;
}

size_t http_count(struct http *http)
{
	(void)http;
	return 0;
}

void http_drain(struct http *http)
{
	(void)http;
}

void http_stop(struct http *http)
{
	(void)http;
}

#endif
