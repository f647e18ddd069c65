/* SPDX-License-Identifier: MIT
 *
 * The parent's side: the child, the areas shared with it, orders and answers, the watchdog.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "measure/harness.h"

static size_t host_bytes(void)
{
	return (sizeof(struct measure_host) / MEASURE_PAGE + 1) * MEASURE_PAGE;
}

/* Creates a file in memory and maps it. */
static int create_area(const char *name, size_t size, int *fd, void **view)
{
	*fd = memfd_create(name, MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, (off_t)size) < 0)
		return -1;
	*view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return *view == MAP_FAILED ? -1 : 0;
}

int harness_create_areas(struct tact_harness *h)
{
	void *view;

	if (create_area("tact-code", MEASURE_CODE_BYTES, &h->code_fd, &view) < 0)
		return -1;
	h->code = view;
	if (create_area("tact-host", host_bytes(), &h->host_fd, &view) < 0)
		return -1;
	h->host = view;
	if (create_area("tact-data", (size_t)h->opt.pages * MEASURE_PAGE, &h->data_fd, &view) < 0)
		return -1;
	munmap(view, (size_t)h->opt.pages * MEASURE_PAGE); /* only the child needs it */
	return 0;
}

void harness_destroy_areas(struct tact_harness *h)
{
	if (h->code)
		munmap(h->code, MEASURE_CODE_BYTES);
	if (h->host)
		munmap(h->host, host_bytes());
	if (h->code_fd >= 0)
		close(h->code_fd);
	if (h->host_fd >= 0)
		close(h->host_fd);
	if (h->data_fd >= 0)
		close(h->data_fd);
}

static void note_end(struct tact_harness *h, int status)
{
	h->was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void harness_kill_child(struct tact_harness *h)
{
	int status = 0;

	if (h->child > 0) {
		kill(h->child, SIGKILL); /* one that is dead already keeps its status */
		process_wait(h->child, &status, 0);
		note_end(h, status);
	}
	if (h->order_fd >= 0)
		close(h->order_fd);
	if (h->order_end_fd >= 0)
		close(h->order_end_fd);
	if (h->answer_fd >= 0)
		close(h->answer_fd);
	h->child = 0;
	h->order_fd = h->order_end_fd = h->answer_fd = -1;
}

bool harness_has_child(struct tact_harness *h)
{
	int status = 0;

	if (h->child > 0) {
		if (process_wait(h->child, &status, WNOHANG) == 0)
			return true;
		note_end(h, status);
	}
	h->child = 0; /* and it is no zombie any more */
	return false;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for the child's answer.  Returns 0, -1 if it died, -2 if the time is over. */
static int wait_answer(struct tact_harness *h, long deadline)
{
	struct pollfd p = {.fd = h->answer_fd, .events = POLLIN};
	char byte;

	for (;;) {
		long left = deadline - now_ms();
		int n = left > 0 ? poll(&p, 1, left < INT_MAX ? (int)left : INT_MAX) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return -2;
		return n > 0 && read(h->answer_fd, &byte, 1) == 1 ? 0 : -1;
	}
}

int harness_start_child(struct tact_harness *h)
{
	int order[2] = {-1, -1}, answer[2] = {-1, -1};
	struct measure_child_fds fds;

	if (pipe2(order, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
		goto out_close;
	fds = (struct measure_child_fds){.order = order[0],
					 .answer = answer[1],
					 .code = h->code_fd,
					 .host = h->host_fd,
					 .data = h->data_fd,
					 .cpu = h->opt.pin ? h->opt.cpu : -1,
					 .n_physical = h->opt.pages,
					 .rung = h->rung,
					 .aperf_type = h->aperf_type,
					 .aperf_config = h->aperf_config};
	h->child = process_fork();
	if (h->child < 0)
		goto out_close;
	if (!h->child)
		measure_child_main(&fds);
	close(answer[1]);
	h->order_fd = order[1];
	h->order_end_fd = order[0];
	h->answer_fd = answer[0];
	h->blocks_of_child = 0;
	if (wait_answer(h, now_ms() + 5000) < 0) {
		harness_kill_child(h);
		return -1;
	}
	h->child_state = h->host->child;
	return 0;

out_close:
	for (int i = 0; i < 2; i++) {
		if (order[i] >= 0)
			close(order[i]);
		if (answer[i] >= 0)
			close(answer[i]);
	}
	h->child = 0;
	return -1;
}

/* The orders, which only the parent writes. */
enum {
	ORDERS = offsetof(struct measure_host, order),
	ORDERS_SIZE = offsetof(struct measure_host, counter_error) - ORDERS
};

int harness_order(struct tact_harness *h, enum measure_order order, long deadline)
{
	uint8_t orders[ORDERS_SIZE];
	char byte = 0;
	int status;

	h->host->order = order;
	if (!harness_has_child(h))
		return -1;
	memcpy(orders, (const uint8_t *)h->host + ORDERS, ORDERS_SIZE);
	if (write(h->order_fd, &byte, 1) != 1)
		return -1;
	status = wait_answer(h, deadline);
	if (!status && (memcmp(orders, (const uint8_t *)h->host + ORDERS, ORDERS_SIZE) ||
			memcmp(&h->child_state, &h->host->child, sizeof(h->child_state))))
		return -3;
	return status;
}

long harness_deadline(const struct tact_harness *h)
{
	return now_ms() + (long)h->opt.timeout_ms;
}
