/* SPDX-License-Identifier: MIT
 *
 * A recording through TCP: the program runs on one machine and is analysed on another.
 *
 * Anybody who can reach the address may connect.  A connection counts once it begins as a trace does;
 * until then, others are taken as well, and none may keep the place of the right one.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace.h"

#include <tact-program/tracing.h>

#define LOOPBACK "127.0.0.1"

enum {
	WAITING = 16,	     /* connections that have said nothing yet */
	PATIENCE_MS = 30000, /* for the first words of each */
	QUIET_SECONDS = 60,  /* then the kernel asks whether the other machine is there, */
	ASK_SECONDS = 10,    /* again and again, */
	ASK_TIMES = 6,	     /* this often */
};

int trace_split_address(const char *address, char host[TRACE_MAX_HOST], const char **port,
			struct tact_diag *diag)
{
	const char *colon = address ? strrchr(address, ':') : NULL;
	size_t n;

	if (!colon || !colon[1] || colon - address >= TRACE_MAX_HOST)
		return tact_fail(diag, TACT_E_INVAL, "'%.80s' is not HOST:PORT",
				 address ? address : "");
	n = (size_t)(colon - address);
	if (n > 1 && address[0] == '[' && address[n - 1] == ']') {
		address++;
		n -= 2;
	}
	memcpy(host, address, n);
	host[n] = '\0';
	*port = colon + 1;
	return 0;
}

/* Resolves HOST:PORT, [HOST]:PORT or :PORT, which is this machine alone. */
static int resolve(const char *address, bool is_passive, struct addrinfo **out,
		   struct tact_diag *diag)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	char host[TRACE_MAX_HOST];
	const char *port;
	int status = trace_split_address(address, host, &port, diag);

	if (status < 0)
		return status;
	status = getaddrinfo(*host ? host : is_passive ? LOOPBACK : NULL, port, &hints, out);
	if (status)
		return tact_fail(diag, TACT_E_IO, "%.80s: %s", address, gai_strerror(status));
	return 0;
}

/* A machine that is switched off says nothing: the kernel finds out.  A program may be silent for as long
 * as it likes.
 */
static void keep_alive(int fd)
{
	const int on = 1, least = 1, quiet = QUIET_SECONDS, ask = ASK_SECONDS, times = ASK_TIMES;

	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &quiet, sizeof(quiet));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &ask, sizeof(ask));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
}

static int open_socket(const struct addrinfo *a, bool is_passive)
{
	const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), on = 1;
	int error;

	if (fd < 0)
		return -1;
	if (is_passive) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, WAITING))
			return fd;
	} else if (!connect(fd, a->ai_addr, a->ai_addrlen)) {
		keep_alive(fd);
		return fd;
	}
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int open_any(const char *address, bool is_passive, struct tact_diag *diag)
{
	struct addrinfo *list;
	int fd = -1, status = resolve(address, is_passive, &list, diag);

	if (status)
		return status;
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = open_socket(a, is_passive);
	if (fd < 0)
		status = tact_fail(diag, TACT_E_IO, "%.80s: %s", address, strerror(errno));
	freeaddrinfo(list);
	return fd < 0 ? status : fd;
}

int tact_trace_connect(const char *address, struct tact_diag *diag)
{
	return open_any(address, false, diag);
}

int tact_trace_listen(const char *address, struct tact_diag *diag)
{
	return open_any(address, true, diag);
}

/* ---- who connects ---- */

struct waiting {
	struct pollfd polled[1 + WAITING]; /* the listener, then connections */
	int64_t since[1 + WAITING];
	nfds_t n;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static void drop(struct waiting *w, nfds_t i)
{
	close(w->polled[i].fd);
	w->n--;
	memmove(&w->polled[i], &w->polled[i + 1], (w->n - i) * sizeof(*w->polled));
	memmove(&w->since[i], &w->since[i + 1], (w->n - i) * sizeof(*w->since));
}

/* Takes a connection; if there are too many, the oldest one goes.  Returns 0 or an errno. */
static int take(struct waiting *w)
{
	const int least = sizeof(struct wire_file);
	const int fd = accept4(w->polled[0].fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return errno == ECONNABORTED || errno == EAGAIN ? 0 : errno;
	/* Readable means that all of a trace's header is there, or that there will be no more. */
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
	if (w->n > WAITING)
		drop(w, 1);
	w->polled[w->n] = (struct pollfd){.fd = fd, .events = POLLIN};
	w->since[w->n++] = now_ms();
	return 0;
}

/* Looks at what a connection says, without taking it. */
static bool is_trace(int fd)
{
	struct wire_file header;

	return recv(fd, &header, sizeof(header), MSG_PEEK | MSG_DONTWAIT) == sizeof(header) &&
	       header.magic == WIRE_FILE_MAGIC;
}

/* Returns the number of a connection that is a trace; 0: none is.  Others that have said something, or
 * waited for too long, are closed.
 */
static nfds_t choose(struct waiting *w)
{
	const int64_t now = now_ms();

	for (nfds_t i = 1; i < w->n;) {
		if (w->polled[i].revents && is_trace(w->polled[i].fd))
			return i;
		if (w->polled[i].revents || now - w->since[i] >= PATIENCE_MS)
			drop(w, i);
		else
			i++;
	}
	return 0;
}

static int time_left(const struct waiting *w)
{
	const int64_t left = w->n > 1 ? w->since[1] + PATIENCE_MS - now_ms() : -1;

	return w->n > 1 && left < 0 ? 0 : (int)left;
}

int tact_trace_accept(int listener, struct tact_diag *diag)
{
	struct waiting w = {.polled = {{.fd = listener, .events = POLLIN}}, .n = 1};
	nfds_t chosen = 0;
	int fd = -1, error = 0;

	while (!chosen && !error) {
		if (poll(w.polled, w.n, time_left(&w)) < 0)
			error = errno;
		else
			chosen = choose(&w);
		if (!chosen && !error && w.polled[0].revents)
			error = take(&w);
	}
	for (nfds_t i = 1; i < w.n; i++) {
		if (i == chosen)
			fd = w.polled[i].fd;
		else
			close(w.polled[i].fd);
	}
	if (fd < 0)
		return tact_fail(diag, TACT_E_IO, "no connection: %s", strerror(error));
	keep_alive(fd);
	return fd;
}

int tact_trace_port(int listener)
{
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	char port[16];

	if (getsockname(listener, (struct sockaddr *)&name, &size) ||
	    getnameinfo((struct sockaddr *)&name, size, NULL, 0, port, sizeof(port),
			NI_NUMERICSERV))
		return -TACT_E_IO;
	return (int)strtol(port, NULL, 10);
}
