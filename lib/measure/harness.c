/* SPDX-License-Identifier: MIT
 *
 * The processes of a harness, orders and answers, the watchdog.
 *
 * Nothing that comes from the runner is believed without a check: the sender, which the kernel
 * tells, the nonce of the block, the number of the order, and the size.
 */
#include "measure/harness.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3 */
#endif

enum { START_MS = 5000, END_MS = 1000 };

void harness_describe_part(enum measure_part part, const char **call, const char **purpose)
{
	static const char *const texts[][2] = {
#define X(name, call, purpose) [PART_##name] = {call, purpose},
		MEASURE_PARTS(X)
#undef X
	};
	const bool is_known = (unsigned)part < N_PARTS;

	*call = is_known ? texts[part][0] : "unknown";
	*purpose = is_known ? texts[part][1] : "a part that is not known";
}

/* ---- areas ---- */

/* Creates a file in memory and maps it, if somebody wants to see it. */
static int create_area(const char *name, size_t size, int *fd, void **view)
{
	*fd = memfd_create(name, MFD_CLOEXEC);
	if (*fd < 0 || file_set_size(*fd, (off_t)size) < 0)
		return -1;
	if (!view)
		return 0;
	*view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (*view == MAP_FAILED)
		*view = NULL;
	return *view ? 0 : -1;
}

/* The runner as a file that nobody can change any more. */
static int create_image(int *fd, const uint8_t *image, const uint8_t *end)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	size_t size = (size_t)(end - image), done = 0;

	*fd = memfd_create("tact-runner", flags | MFD_EXEC);
	if (*fd < 0 && errno == EINVAL)
		*fd = memfd_create("tact-runner", flags);
	if (*fd < 0)
		return -1;
	while (done < size) {
		ssize_t n = write(*fd, image + done, size - done);

		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return fcntl(*fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int harness_create_areas(struct tact_harness *h)
{
	const bool is_emulated = *h->emulator;
	void *view = NULL;

	h->host = calloc(1, sizeof(*h->host));
	if (!h->host)
		return -1;
	if (create_image(&h->image_fd, is_emulated ? emulated_image : runner_image,
			 is_emulated ? emulated_image_end : runner_image_end) < 0 ||
	    create_area("tact-code", MEASURE_CODE_BYTES, &h->code_fd, &view) < 0)
		return -1;
	h->code = view;
	return create_area("tact-data", (size_t)MEASURE_MAX_PHYSICAL * MEASURE_PAGE, &h->data_fd,
			   NULL);
}

void harness_publish_code(const struct tact_harness *h)
{
	__builtin___clear_cache((char *)h->code, (char *)h->code + MEASURE_CODE_BYTES);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void harness_destroy_areas(struct tact_harness *h)
{
	if (h->code)
		munmap(h->code, MEASURE_CODE_BYTES);
	free(h->host);
	close_fd(&h->image_fd);
	close_fd(&h->code_fd);
	close_fd(&h->data_fd);
}

/* ---- messages ---- */

long harness_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A message from the runner, without its body. */
struct incoming {
	struct measure_header header;
	pid_t sender;
	size_t size; /* of the body */
};

/* Waits for a message; its body goes to `body`.  Returns 0, -1 if nobody can send any more, -2 if
 * the time is over, -3 if it is none of ours.
 */
static int receive(struct tact_harness *h, struct incoming *in, void *body, size_t capacity,
		   long deadline)
{
	struct pollfd p = {.fd = h->socket_fd, .events = POLLIN};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec parts[2] = {{&in->header, sizeof(in->header)}, {body, capacity}};
	struct msghdr m = {.msg_iov = parts,
			   .msg_iovlen = 2,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c;
	ssize_t n;

	for (;;) {
		long left = deadline - harness_now_ms();
		int ready = left > 0 ? poll(&p, 1, left < INT_MAX ? (int)left : INT_MAX) : 0;

		if (ready == 0)
			return -2;
		if (ready < 0 && errno != EINTR)
			return -1;
		if (ready < 0)
			continue;
		n = recvmsg(h->socket_fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
	}
	if (n <= 0)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if ((size_t)n < sizeof(in->header) || m.msg_flags & MSG_TRUNC ||
	    in->header.magic != MEASURE_MAGIC || !c || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_CREDENTIALS || c->cmsg_len != CMSG_LEN(sizeof(struct ucred)))
		return -3;
	in->sender = ((struct ucred *)CMSG_DATA(c))->pid;
	in->size = (size_t)n - sizeof(in->header);
	return 0;
}

static int send_message(struct tact_harness *h, const void *message, size_t size)
{
	ssize_t n;

	do /* without SIGPIPE, which would reach the host */
		n = send(h->socket_fd, message, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size ? 0 : -1;
}

/* Waits for one of the short messages.  Returns as receive does. */
static int receive_report(struct tact_harness *h, enum measure_kind kind, struct incoming *in,
			  struct measure_report *report, long deadline)
{
	int status = receive(h, in, report, sizeof(*report), deadline);

	if (status < 0)
		return status;
	if (in->header.kind == KIND_FAILED && in->size == sizeof(*report)) {
		h->failed_part = (enum measure_part)report->part;
		h->failed_error = report->error;
		h->is_sandbox_missing = true;
		return -1;
	}
	return in->header.kind == kind && in->size == sizeof(*report) ? 0 : -3;
}

/* ---- processes ---- */

void harness_kill(struct tact_harness *h)
{
	int status;

	if (h->child > 0) {
		kill(h->child, SIGKILL); /* the keeper ends with it, and its processes with that */
		process_wait(h->child, &status, 0);
	}
	close_fd(&h->socket_fd);
	h->child = h->keeper = h->runner = 0;
	h->is_ending = false;
}

static int start_keeper(struct tact_harness *h)
{
	struct measure_report report;
	struct incoming in;
	int pair[2], on = 1;

	h->failed_part = PART_MESSAGES;
	h->failed_error = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		h->failed_error = errno;
		return -1;
	}
	h->failed_part = PART_CHILD;
	h->socket_fd = pair[0];
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0)
		h->child = process_fork();
	else
		h->child = -1;
	if (h->child == 0)
		harness_spawn(h, pair[1]);
	h->failed_error = h->child < 0 ? errno : 0;
	close(pair[1]);
	if (h->child < 0 ||
	    receive_report(h, KIND_READY, &in, &report, harness_now_ms() + START_MS) < 0) {
		harness_kill(h);
		return -1;
	}
	h->keeper = in.sender;
	h->is_refused_cpu = h->cpu >= 0 && harness_move(h, h->cpu) < 0;
	if (h->is_refused_cpu) {
		harness_kill(h);
		return -1;
	}
	return 0;
}

static void note_end(struct tact_harness *h, int status)
{
	h->end_status = status;
	h->was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	h->runner = 0;
	h->is_ending = false;
}

/* Whether the keeper is alive and has no process any more. */
static bool is_keeper_free(struct tact_harness *h)
{
	struct measure_report report;
	struct incoming in;

	if (!h->child || process_wait(h->child, NULL, WNOHANG) != 0) {
		h->child = 0; /* and it is no zombie any more */
		return false;
	}
	if (!h->is_ending)
		return !h->runner;
	if (receive_report(h, KIND_ENDED, &in, &report, harness_now_ms() + END_MS) < 0 ||
	    in.sender != h->keeper || in.header.nonce != h->nonce)
		return false;
	note_end(h, report.status);
	return true;
}

static int start_runner(struct tact_harness *h)
{
	struct measure_start start = {.header = {.magic = MEASURE_MAGIC, .kind = KIND_START},
				      .rung = h->rung,
				      .aperf_type = h->aperf_type,
				      .aperf_config = h->aperf_config,
				      .n_physical =
					      h->opt.pages ? h->opt.pages : MEASURE_MAX_PHYSICAL};
	struct measure_report report;
	struct incoming in;

	memcpy(start.core_type, h->core_type, sizeof(start.core_type));
	h->failed_part = PART_RANDOM;
	h->failed_error = ENOSYS;
	if (getrandom(&h->nonce, sizeof(h->nonce), 0) != sizeof(h->nonce))
		return -1;
	h->failed_part = PART_CHILD;
	h->failed_error = 0;
	start.header.nonce = h->nonce;
	h->number = 0;
	if (send_message(h, &start, sizeof(start)) < 0 ||
	    receive_report(h, KIND_STARTED, &in, &report, harness_now_ms() + START_MS) < 0 ||
	    in.header.nonce != h->nonce)
		return -1;
	h->runner = in.sender;
	h->counter_error = report.counter_error;
	return 0;
}

int harness_begin_block(struct tact_harness *h)
{
	h->is_sandbox_missing = false;
	if (is_keeper_free(h) && start_runner(h) == 0)
		return 0;
	/* None yet, or somebody has ended it.  A part of the sandbox that failed is no reason to
	 * try again.
	 */
	harness_kill(h);
	if (h->is_sandbox_missing)
		return -1;
	if (start_keeper(h) == 0 && start_runner(h) == 0)
		return 0;
	harness_kill(h);
	return -1;
}

void harness_end_block(struct tact_harness *h)
{
	const struct measure_header quit = {
		.magic = MEASURE_MAGIC, .kind = KIND_QUIT, .nonce = h->nonce};

	if (!h->runner || h->is_ending)
		return;
	h->is_ending = true;
	if (send_message(h, &quit, sizeof(quit)) < 0)
		harness_kill(h);
}

int harness_move(struct tact_harness *h, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	h->cpu = cpu;
	if (h->keeper && sched_setaffinity(h->keeper, sizeof(set), &set) < 0)
		return -1;
	return h->runner && !h->is_ending ? sched_setaffinity(h->runner, sizeof(set), &set) : 0;
}

/* ---- orders ---- */

static bool is_answer(const struct tact_harness *h, const struct incoming *in)
{
	return in->sender == h->runner && in->header.nonce == h->nonce &&
	       in->header.number == h->number;
}

/* The first message of an answer.  Returns as harness_order does. */
static int receive_answer(struct tact_harness *h, long deadline)
{
	const struct measure_host *host = h->host;
	struct incoming in;
	int status = receive(h, &in, (uint8_t *)h->host + MEASURE_ANSWERS,
			     MEASURE_ANSWERS_SIZE + sizeof(host->sample), deadline);

	if (status < 0)
		return status;
	if (in.header.kind == KIND_ENDED && in.sender == h->keeper && in.header.nonce == h->nonce &&
	    in.size == sizeof(struct measure_report)) {
		struct measure_report report;

		memcpy(&report, (const uint8_t *)host + MEASURE_ANSWERS, sizeof(report));
		note_end(h, report.status);
		return -1;
	}
	if (in.header.kind != KIND_ANSWER || !is_answer(h, &in) || in.size < MEASURE_ANSWERS_SIZE)
		return -3;
	if (host->n_taken > host->n_samples || host->n_steps > host->max_steps ||
	    host->n_pages > host->max_pages || host->outcome > OUTCOME_FORGED ||
	    in.size != MEASURE_ANSWERS_SIZE + host->n_taken * sizeof(host->sample[0]))
		return -3;
	return 0;
}

static int receive_steps(struct tact_harness *h, long deadline)
{
	struct measure_host *host = h->host;

	for (uint32_t i = 0; i < host->n_steps; i += MEASURE_STEPS_PER_MESSAGE) {
		uint32_t n = host->n_steps - i;
		struct incoming in;
		int status;

		if (n > MEASURE_STEPS_PER_MESSAGE)
			n = MEASURE_STEPS_PER_MESSAGE;
		status = receive(h, &in, &host->step[i], n * sizeof(host->step[0]), deadline);
		if (status < 0)
			return status;
		if (in.header.kind != KIND_STEPS || !is_answer(h, &in) ||
		    in.size != n * sizeof(host->step[0]))
			return -3;
	}
	return 0;
}

int harness_order(struct tact_harness *h, enum measure_order order, long deadline)
{
	struct measure_order_message m = {
		.header = {.magic = MEASURE_MAGIC, .kind = KIND_ORDER, .nonce = h->nonce}};
	int status;

	if (!h->runner)
		return -1;
	h->host->order = order;
	m.header.number = ++h->number;
	memcpy(m.orders, h->host, sizeof(m.orders));
	if (send_message(h, &m, sizeof(m)) < 0) {
		harness_kill(h);
		h->was_killed = true;
		return -1;
	}
	status = receive_answer(h, deadline);
	if (status == 0)
		status = receive_steps(h, deadline);
	if (status == -1 && h->runner) { /* the keeper has gone, too: no block can do that */
		harness_kill(h);
		h->was_killed = true;
	}
	return status;
}

long harness_deadline(const struct tact_harness *h)
{
	return harness_now_ms() + (long)h->opt.timeout_ms;
}
