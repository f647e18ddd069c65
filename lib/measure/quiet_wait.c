/* SPDX-License-Identifier: MIT
 *
 * The parent listens to the core: what it can do, whether it is quiet, and where else it may be.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tact/arch.h>

#include "arch/arch.h"
#include "measure/harness.h"

enum {
	FIRST_WAIT_US = 500, /* noise comes in bursts; each wait is twice as long as the last */
	LONGEST_WAIT_US = 2000,
	LISTEN_MS = 1000, /* more than listening ever takes */
	OFTEN = 8,	  /* blocks before which it learns, and then before one of so many: */
	SELDOM = 16
};

/* ---- what the core can do ---- */

/* Reads a number from the parameters of a model. */
static unsigned parameter(const struct tact_arch *arch, const char *name)
{
	struct tact_param p = TACT_PARAM_INIT;

	for (size_t i = 0; tact_arch_param(arch, i, &p); i++)
		if (!strcmp(p.name, name))
			return (unsigned)strtoul(p.value, NULL, 10);
	return 0;
}

/* The CPUs that the runner may move to. */
static void choose_cpus(struct tact_harness *h)
{
	const struct tact_measure_options *opt = &h->opt;

	h->cpu = opt->pin ? opt->cpu : -1;
	CPU_ZERO(&h->allowed);
	for (unsigned i = 0; i < opt->n_cpus; i++)
		CPU_SET(opt->cpus[i], &h->allowed);
	if (opt->pin)
		CPU_SET(opt->cpu, &h->allowed);
	else if (!opt->n_cpus && sched_getaffinity(0, sizeof(h->allowed), &h->allowed) < 0)
		CPU_ZERO(&h->allowed);
	h->opt.cpus = NULL; /* they are the caller's */
}

int harness_know_core(struct tact_harness *h)
{
	struct tact_cpu cpu = TACT_CPU_INIT;

	choose_cpus(h);
	if (h->opt.state) {
		h->state = strdup(h->opt.state);
		if (!h->state)
			return -1;
	}
	h->core.coarse = h->quantum >= MEASURE_COARSE;
	if (tact_cpu_find("native", &cpu) >= 0 && cpu.arch && !cpu.arch->llvm) {
		h->core.width = parameter(cpu.arch, "issue_width");
		h->core.window = parameter(cpu.arch, "rob_size");
	} else {
		measure_native->core_of(cpu.core, &h->core);
	}
	snprintf(h->cpu_model, sizeof(h->cpu_model), "%s-%u-%u-%u",
		 cpu.vendor[0] ? cpu.vendor : "unknown", cpu.family, cpu.model, cpu.stepping);
	for (char *p = h->cpu_model; *p; p++)
		if (*p <= ' ')
			*p = '_';
	measure_floor_init(&h->floor, measure_native, &h->core, h->quantum);
	for (unsigned i = 0; i < h->floor.n_parts && h->opt.noisy; i++)
		h->floor.part[i].tolerance = INFINITY;
	h->floor.is_emulated = *h->emulator;
	if (h->state)
		measure_floor_load(&h->floor, h->state, h->cpu_model);
	return 0;
}

/* ---- listening ---- */

void harness_use_clocks(struct tact_harness *h, const struct measure_layout *layout)
{
	h->host->chain_short = MEASURE_CODE_BASE + layout->chain_short;
	h->host->chain_long = MEASURE_CODE_BASE + layout->chain_long;
	for (unsigned i = 0; i < MEASURE_CANARIES; i++)
		h->host->canary[i] = layout->canary[i] ? MEASURE_CODE_BASE + layout->canary[i] : 0;
}

static int listen_to_core(struct tact_harness *h)
{
	return harness_order(h, ORDER_LISTEN, harness_now_ms() + LISTEN_MS);
}

/* Lets it run on any CPU that it may use. */
static void move_anywhere(struct tact_harness *h)
{
	h->cpu = -1;
	sched_setaffinity(h->keeper, sizeof(h->allowed), &h->allowed);
	sched_setaffinity(h->runner, sizeof(h->allowed), &h->allowed);
}

/* Listens until clocks are steady, but not for ever. */
static int learn_here(struct tact_harness *h)
{
	for (int i = 0; i < 8; i++) {
		int status = listen_to_core(h);

		if (status || measure_floor_learn(&h->floor, h->host->listen, MEASURE_LISTEN))
			return status;
	}
	return 0;
}

/* Of a core that nobody knows, the best rate of all CPUs counts. */
static int tour(struct tact_harness *h)
{
	const int home = h->cpu;
	int status = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && !status; cpu++)
		if (CPU_ISSET(cpu, &h->allowed) && !harness_move(h, cpu))
			status = learn_here(h);
	if (home < 0)
		move_anywhere(h);
	else
		harness_move(h, home);
	return status;
}

int harness_learn(struct tact_harness *h)
{
	const struct measure_plan plan = {.core = h->core, .features = h->features};
	struct measure_layout layout;
	bool is_strange = !h->core.width;
	int status;

	if (h->n_learned >= OFTEN && h->n_learned % SELDOM) {
		h->n_learned++;
		return 0;
	}
	h->n_learned++;
	for (unsigned i = 0; i < h->floor.n_parts; i++)
		is_strange &= h->floor.best[i] <= 0;
	if (measure_native->emit_clocks(h->code, &plan, &layout) < 0)
		return 0;
	harness_publish_code(h);
	harness_use_clocks(h, &layout);
	status = learn_here(h);
	return status || !is_strange ? status : tour(h);
}

/* ---- waiting ---- */

/* Whether most readings are those of a core of its own. */
static bool was_quiet(const struct tact_harness *h)
{
	unsigned quiet = 0;
	double excess;

	for (unsigned i = 0; i < MEASURE_LISTEN; i++)
		quiet += measure_is_quiet(&h->floor, &h->host->listen[i], &excess);
	return 4 * quiet >= 3 * MEASURE_LISTEN;
}

/* Moves to the next CPU that it may use.  Returns false if it has been on all of them
 * since `first`, which then begins anew.
 */
static bool move_on(struct tact_harness *h, int *first)
{
	int cpu = h->cpu >= 0 ? h->cpu : (int)(h->host->listen[0].cpu % CPU_SETSIZE);

	if (*first < 0)
		*first = cpu;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		cpu = (cpu + 1) % CPU_SETSIZE;
		if (cpu == *first)
			break;
		if (CPU_ISSET(cpu, &h->allowed) && !harness_move(h, cpu))
			return true;
	}
	*first = -1;
	return false;
}

int harness_wait_quiet(struct tact_harness *h, long until_ms)
{
	long wait_us = FIRST_WAIT_US;
	int first = -1, status;

	for (;;) {
		status = listen_to_core(h);
		if (status)
			return status;
		if (was_quiet(h))
			return 0;
		if (harness_now_ms() >= until_ms)
			return 1;
		if (move_on(h, &first))
			continue;
		nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000}, NULL);
		wait_us = wait_us * 2 < LONGEST_WAIT_US ? wait_us * 2 : LONGEST_WAIT_US;
	}
}
