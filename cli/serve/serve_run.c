/* SPDX-License-Identifier: MIT
 *
 * The loop: connections come, signals end it.  Whoever has connected is answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <tact/arch.h>

#include "common/cli.h"
#include "common/output.h"
#include "serve.h"

enum {
	LISTEN_FD = 3, /* the first that a parent hands over (sd_listen_fds(3)) */
	SWEEP_MS = 500,
	DRAIN_MS = 20,
	GRACE_MS = 60000 /* most time to end */
};

/* LISTEN_FDNAMES of a socket that this program has opened, and hands over to itself. */
#define OWN_SOCKET "tact-serve-itself"

struct service {
	const struct server *server;
	struct http_config config;
	struct pool *pool, *measuring;
	struct http *http;
	struct tact_cpu cpu; /* of this machine */
	int listener, signals;
	bool is_shared; /* the listener: who handed it over has it, too */
	char address[80], token[SERVE_TOKEN_MOST + 1];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the address ---- */

/* ADDR:PORT, [ADDR]:PORT; a port alone would mean every address, and is refused. */
static bool cut_address(const char *listen, char *name, size_t size, char *port)
{
	const char *colon = strrchr(listen, ':');
	size_t length = colon ? (size_t)(colon - listen) : 0;

	if (!length || length >= size || strlen(colon + 1) > 5 || !colon[1] ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return false;
	strcpy(port, colon + 1);
	if (*listen == '[' && listen[length - 1] == ']') {
		listen++;
		length -= 2;
	} else if (memchr(listen, ':', length)) {
		return false;
	}
	memcpy(name, listen, length);
	name[length] = '\0';
	return length > 0;
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static int open_listener(const struct addrinfo *a)
{
	const int yes = 1;
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 1024)) {
		const int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static int listen_at(struct service *v, const char *name, const char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
	struct addrinfo *found;
	const int error = getaddrinfo(name, port, &hints, &found);

	if (error)
		return cli_wrong("--listen: '%s' is not an address: %s", name, gai_strerror(error));
	if (!is_loopback(found->ai_addr) && !v->server->token_file) {
		freeaddrinfo(found);
		return cli_wrong("--listen: others can come to %s: that needs --token-file", name);
	}
	v->listener = open_listener(found);
	freeaddrinfo(found);
	if (v->listener >= 0)
		return CLI_GOOD;
	cli_message("cannot listen on %s, port %s: %s", name, port, strerror(errno));
	return CLI_FAILED;
}

/* A socket that the parent, or this program before it began anew, has opened. */
static bool take_over(struct service *v)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	const char *name = getenv("LISTEN_FDNAMES");
	int is_listening = 0;
	socklen_t size = sizeof(is_listening);

	if (!pid || !fds || strtol(pid, NULL, 10) != getpid() || strcmp(fds, "1") != 0)
		return false;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (getsockopt(LISTEN_FD, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) || !is_listening)
		return false;
	v->listener = LISTEN_FD;
	v->is_shared = !name || strcmp(name, OWN_SOCKET) != 0;
	fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC);
	fcntl(LISTEN_FD, F_SETFL, fcntl(LISTEN_FD, F_GETFL) | O_NONBLOCK);
	return true;
}

/* What it listens on, whoever opened it. */
static int find_address(struct service *v)
{
	struct sockaddr_storage a;
	socklen_t size = sizeof(a);
	char name[64], port[8];

	if (getsockname(v->listener, (struct sockaddr *)&a, &size) ||
	    getnameinfo((struct sockaddr *)&a, size, name, sizeof(name), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV)) {
		cli_message("the socket to listen on is of no use");
		return CLI_FAILED;
	}
	snprintf(v->address, sizeof(v->address), a.ss_family == AF_INET6 ? "[%s]" : "%s", name);
	v->config.address = v->address;
	v->config.port = (unsigned)strtoul(port, NULL, 10);
	v->config.is_loopback = is_loopback((struct sockaddr *)&a);
	if (!v->config.is_loopback && !v->server->token_file)
		return cli_wrong("others can come to %s: that needs --token-file", v->address);
	return CLI_GOOD;
}

static int open_address(struct service *v)
{
	char name[64], port[8];
	int status = CLI_GOOD;

	if (!take_over(v)) {
		snprintf(port, sizeof(port), "%u", v->server->port);
		strcpy(name, "127.0.0.1");
		if (v->server->listen && !cut_address(v->server->listen, name, sizeof(name), port))
			return cli_wrong("--listen: '%s' is not ADDR:PORT, such as 0.0.0.0:7342 or "
					 "[::]:7342",
					 v->server->listen);
		status = listen_at(v, name, port);
	}
	return status ? status : find_address(v);
}

/* ---- signals ---- */

static int open_signals(struct service *v)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	v->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (v->signals >= 0)
		return CLI_GOOD;
	cli_message("signalfd: %s", strerror(errno));
	return CLI_FAILED;
}

/* The path of this program, also after another file took its name. */
static bool own_path(char *path, size_t size)
{
	static const char deleted[] = " (deleted)";
	const ssize_t n = readlink("/proc/self/exe", path, size - 1);
	const size_t k = strlen(deleted);

	if (n <= 0)
		return false;
	path[n] = '\0';
	if ((size_t)n > k && !strcmp(path + n - k, deleted))
		path[(size_t)n - k] = '\0';
	return true;
}

/* Becomes a new instance with the same socket: connections wait in it meanwhile.  Returns only if
 * that fails.
 */
static void begin_anew(const struct service *v)
{
	const struct server *s = v->server;
	char **argv = cli_alloc(((size_t)s->argc + 2) * sizeof(*argv));
	char path[4096], pid[16], name[] = "tact";
	sigset_t none, before;

	argv[0] = name;
	memcpy(argv + 1, s->argv, ((size_t)s->argc + 1) * sizeof(*argv));
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	if (!v->is_shared)
		setenv("LISTEN_FDNAMES", OWN_SOCKET, 1);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &before);
	if ((v->listener == LISTEN_FD ? !fcntl(LISTEN_FD, F_SETFD, 0)
				      : dup2(v->listener, LISTEN_FD) == LISTEN_FD) &&
	    own_path(path, sizeof(path)))
		execv(path, argv);
	cli_message("cannot begin anew: %s; going on as before", strerror(errno));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	free(argv);
}

/* ---- the loop ---- */

static void accept_all(struct service *v)
{
	enum { AT_ONCE = 64 };
	const struct timespec nap = {0, DRAIN_MS * 1000000};
	const int yes = 1;

	for (int i = 0; i < AT_ONCE; i++) {
		struct sockaddr_storage a;
		socklen_t size = sizeof(a);
		const int fd = accept4(v->listener, (struct sockaddr *)&a, &size,
				       SOCK_CLOEXEC | SOCK_NONBLOCK);

		/* Without descriptors, those who wait will wait a little longer. */
		if (fd < 0 && errno != EAGAIN)
			nanosleep(&nap, NULL);
		if (fd < 0)
			return;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		http_add(v->http, fd, &a, size);
	}
}

static bool has_input_ended(void)
{
	char unread[256];
	const ssize_t n = read(STDIN_FILENO, unread, sizeof(unread));

	return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void mend(struct service *v)
{
	pool_mend(v->pool);
	if (v->measuring)
		pool_mend(v->measuring);
}

/* Returns the signal that ends it. */
static int loop(struct service *v)
{
	struct pollfd fds[] = {
		{.fd = v->listener, .events = POLLIN},
		{.fd = v->signals, .events = POLLIN},
		{.fd = pool_wake_fd(v->pool), .events = POLLIN},
		{.fd = v->measuring ? pool_wake_fd(v->measuring) : -1, .events = POLLIN},
		{.fd = v->server->ends_with_input ? STDIN_FILENO : -1, .events = POLLIN}};
	int64_t swept = now_ms();
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(fds, CLI_ARRAY_SIZE(fds), SWEEP_MS) < 0 && errno != EINTR)
			return SIGTERM;
		if (read(v->signals, &info, sizeof(info)) == sizeof(info))
			return (int)info.ssi_signo;
		if (fds[4].revents && has_input_ended())
			return SIGTERM;
		if (fds[0].revents)
			accept_all(v);
		if (now_ms() - swept >= SWEEP_MS) {
			mend(v);
			http_sweep(v->http, false);
			swept = now_ms();
		} else if (fds[2].revents || fds[3].revents) {
			mend(v);
		}
	}
}

static bool has_pending(int listener)
{
	struct pollfd fd = {.fd = listener, .events = POLLIN};

	return poll(&fd, 1, DRAIN_MS) > 0;
}

/* From now on nobody new connects: whoever did so between our last look and close would be cut off.
 * The filter sees segments from the TCP header on; one with SYN is dropped, and sent again later.
 */
static void shut_door(int listener)
{
	enum { FLAGS = 13, SYN = 2 }; /* RFC 9293, 3.1 */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SYN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, ~0u),
	};
	const struct sock_fprog program = {.len = CLI_ARRAY_SIZE(code), .filter = code};

	setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* Answers everybody who has connected, and stops listening unless somebody else will. */
static void drain(struct service *v, bool keeps_listening)
{
	const struct timespec nap = {0, DRAIN_MS * 1000000};
	const int64_t until = now_ms() + GRACE_MS;

	http_drain(v->http);
	if (!keeps_listening) {
		/* Of a socket that others hold, they answer who comes next. */
		if (!v->is_shared)
			shut_door(v->listener);
		while (has_pending(v->listener) && now_ms() < until)
			accept_all(v);
		close(v->listener);
		v->listener = -1;
	}
	while (http_count(v->http) && now_ms() < until) {
		mend(v);
		http_sweep(v->http, true);
		nanosleep(&nap, NULL);
	}
}

static void announce(const struct service *v)
{
	if (!v->server->is_quiet)
		cli_message("serving at http://%s:%u/", v->address, v->config.port);
}

/* Returns an exit code, with the message given. */
static int start(struct service *v)
{
	int status = pool_start(&v->pool, v->server, false);

	if (!status && v->server->measures)
		status = pool_start(&v->measuring, v->server, true);
	v->config.pool = v->pool;
	v->config.measuring = v->measuring;
	if (!status)
		status = http_start(&v->http, &v->config);
	return status;
}

static void stop(struct service *v)
{
	http_stop(v->http);
	pool_stop(v->measuring);
	pool_stop(v->pool);
	v->http = NULL;
	v->measuring = v->pool = NULL;
}

/* Returns an exit code, or -1 to go on. */
static int serve_once(struct service *v)
{
	int status = start(v), number = SIGTERM;

	if (!status) {
		announce(v);
		number = loop(v);
		if (!v->server->is_quiet)
			cli_message(number == SIGHUP ? "beginning anew" : "ending");
		drain(v, number == SIGHUP);
	}
	stop(v);
	if (number != SIGHUP)
		return status;
	begin_anew(v);
	return -1;
}

static void find_cpu(struct service *v)
{
	v->cpu = (struct tact_cpu)TACT_CPU_INIT;
	tact_cpu_find("native", &v->cpu);
	v->config.cpu = v->cpu.arch	  ? tact_arch_name(v->cpu.arch)
			: v->cpu.brand[0] ? v->cpu.brand
					  : "this machine";
}

int serve_run(const struct server *s)
{
	struct service v = {.server = s, .listener = -1, .signals = -1};
	int status = CLI_GOOD;

	v.config = (struct http_config){.server = s, .token = v.token};
	find_cpu(&v);
	if (s->token_file)
		status = serve_token_load(s->token_file, v.token);
	if (!status)
		status = open_address(&v);
	if (!status)
		status = open_signals(&v);
	if (!status)
		do
			status = serve_once(&v);
		while (status < 0);
	if (v.listener >= 0)
		close(v.listener);
	if (v.signals >= 0)
		close(v.signals);
	return status;
}
