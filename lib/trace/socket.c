/* SPDX-License-Identifier: MIT
 *
 * A recording through TCP: the program runs on one machine and is analysed on another.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/trace.h"

#include <tact-program/tracing.h>

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

static int resolve(const char *address, bool is_passive, struct addrinfo **out,
		   struct tact_diag *diag)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	char host[TRACE_MAX_HOST];
	const char *port;
	int status = trace_split_address(address, host, &port, diag);

	if (status < 0)
		return status;
	hints.ai_flags = is_passive ? AI_PASSIVE : 0;
	status = getaddrinfo(*host ? host : NULL, port, &hints, out);
	if (status)
		return tact_fail(diag, TACT_E_IO, "%.80s: %s", address, gai_strerror(status));
	return 0;
}

static int open_socket(const struct addrinfo *a, bool is_passive)
{
	const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), on = 1;
	int error;

	if (fd < 0)
		return -1;
	if (is_passive) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, 1))
			return fd;
	} else if (!connect(fd, a->ai_addr, a->ai_addrlen)) {
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

int tact_trace_accept(int listener, struct tact_diag *diag)
{
	int fd;

	do
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && errno == ECONNABORTED);
	if (fd < 0)
		return tact_fail(diag, TACT_E_IO, "no connection: %s", strerror(errno));
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
