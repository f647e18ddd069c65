/* SPDX-License-Identifier: MIT
 *
 * The keeper: sets the sandbox up once, then forks a child for each block.  It never runs a block.
 */
#include <asm/unistd.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "runner.h"

void runner_exit(int status)
{
	for (;;)
		gate_syscall(__NR_exit_group, status, 0, 0, 0, 0, 0);
}

void runner_send(const struct measure_header *header, const void *body, size_t size)
{
	struct iovec parts[2] = {{(void *)(uintptr_t)header, sizeof(*header)},
				 {(void *)(uintptr_t)body, size}};

	if (gate_syscall(__NR_writev, MEASURE_SOCKET_FD, (long)parts, 2, 0, 0, 0) !=
	    (long)(sizeof(*header) + size))
		runner_exit(98);
}

static void report(enum measure_kind kind, uint64_t nonce, const struct measure_report *body)
{
	struct measure_header header = {.magic = MEASURE_MAGIC, .kind = kind, .nonce = nonce};

	runner_send(&header, body, sizeof(*body));
}

void sandbox_fail(enum measure_part part, long error)
{
	struct measure_report body = {.part = part,
				      .error = error < 0 ? (int32_t)-error : (int32_t)error};

	report(KIND_FAILED, 0, &body);
	runner_exit(97);
}

/* On the stack of the hidden memory. */
static void child_serve(void *argument)
{
	const struct measure_start *start = &((struct keeper *)MEASURE_KEEPER_BASE)->start;
	struct measure_report body = {.error = 0};
	struct runner *r = argument;

	r->nonce = start->header.nonce;
	r->n_physical = MEASURE_MAX_PHYSICAL;
	if (!sandbox_drop_data(r, start->n_physical))
		sandbox_fail(PART_UNMAPPED, 0);
	body.counter_error = counting_open(r, start);
	sandbox_child(r);
	report(KIND_STARTED, r->nonce, &body);
	runs_serve(r);
}

static void child_main(void)
{
	struct runner *r = sandbox_hide();

	gate_switch_stack(r, r->stack + RUNNER_STACK, child_serve);
}

/* On the keeper's own stack. */
static void keep(void *argument)
{
	struct measure_report body = {.error = 0};
	struct keeper *k = argument;

	sandbox_clear();
	report(KIND_READY, 0, &body);
	while (gate_syscall(__NR_read, MEASURE_SOCKET_FD, (long)&k->start, sizeof(k->start), 0, 0,
			    0) == sizeof(k->start)) {
		int status = 0;
		long child;

		if (k->start.header.magic != MEASURE_MAGIC || k->start.header.kind != KIND_START)
			break;
		child = gate_syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);
		if (!child)
			child_main();
		if (child < 0)
			sandbox_fail(PART_CHILD, child);
		while (gate_syscall(__NR_wait4, child, (long)&status, 0, 0, 0, 0) != child)
			;
		body.status = status;
		report(KIND_ENDED, k->start.header.nonce, &body);
	}
	runner_exit(0);
}

void runner_main(void);

void runner_main(void)
{
	struct keeper *k = (struct keeper *)MEASURE_KEEPER_BASE;

	sandbox_keeper();
	gate_switch_stack(k, k->stack + RUNNER_STACK, keep);
}
