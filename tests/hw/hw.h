/* SPDX-License-Identifier: MIT
 *
 * What the tests on this CPU need.  Include after cmocka.h.
 */
#ifndef TESTS_HW_H
#define TESTS_HW_H

#include <cpuid.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <tact-program/program.h>
#include <tact/tact.h>

#include "../unit/support.h"
#include "measure/harness.h"

struct hw_cpu {
	char vendor[13];
	unsigned family, model;
};

MAYBE_UNUSED static struct hw_cpu hw_cpu(void)
{
	struct hw_cpu cpu = {.family = 0};
	unsigned eax, ebx, ecx, edx;

	__cpuid(0, eax, ebx, ecx, edx);
	memcpy(cpu.vendor, &ebx, 4);
	memcpy(cpu.vendor + 4, &edx, 4);
	memcpy(cpu.vendor + 8, &ecx, 4);
	__cpuid(1, eax, ebx, ecx, edx);
	cpu.family = (eax >> 8 & 15) + (eax >> 20 & 255);
	cpu.model = (eax >> 4 & 15) | (eax >> 12 & 0xf0);
	return cpu;
}

MAYBE_UNUSED static void hw_sleep_ms(unsigned ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

MAYBE_UNUSED static double hw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct tact_harness *hw_create(const struct tact_measure_options *opt)
{
	struct tact_diag diag = {0};
	struct tact_harness *h = NULL;

	if (tact_harness_create(&h, opt, &diag) < 0)
		print_message("skip: no harness here: %s\n", diag.text);
	return h;
}

/* Returns NULL, and prints the reason, if this machine has no harness. */
MAYBE_UNUSED static struct tact_harness *hw_harness(enum tact_mode mode, enum tact_init init,
						    unsigned timeout_ms)
{
	return hw_create(&(struct tact_measure_options){.size = sizeof(struct tact_measure_options),
							.mode = mode,
							.init = init,
							.timeout_ms = timeout_ms,
							.wait_ms = 100});
}

/* The same, but it does not wait for quiet moments: for blocks whose numbers hardly matter. */
MAYBE_UNUSED static struct tact_harness *hw_noisy_harness(enum tact_mode mode, enum tact_init init,
							  unsigned timeout_ms)
{
	return hw_create(&(struct tact_measure_options){.size = sizeof(struct tact_measure_options),
							.mode = mode,
							.init = init,
							.timeout_ms = timeout_ms,
							.noisy = true});
}

enum hw_answer { HW_RIGHT, HW_WRONG, HW_NOISY };

/* Ticks of 3,000 additions and of 3,000 multiplications, each waiting for the one before, and of a
 * loop that makes 3,000 additions.
 */
static void hw_time_chains(uint64_t *adds, uint64_t *imuls, uint64_t *loop)
{
	uint64_t begin, middle, end, value = 3, n = 3000;

	begin = __builtin_ia32_rdtsc();
	__asm__ volatile("lfence\n.rept 3000\nadd %0, %0\n.endr\nlfence" : "+r"(value)::"cc");
	middle = __builtin_ia32_rdtsc();
	__asm__ volatile("lfence\n.rept 3000\nimul %0, %0\n.endr\nlfence" : "+r"(value)::"cc");
	end = __builtin_ia32_rdtsc();
	*adds = middle - begin;
	*imuls = end - middle;
	begin = __builtin_ia32_rdtsc();
	__asm__ volatile("lfence\n.p2align 6\n1: add %0, %0\ndec %1\njnz 1b\nlfence"
			 : "+r"(value), "+r"(n)::"cc");
	*loop = __builtin_ia32_rdtsc() - begin;
}

/* Is the core idle otherwise?  A busy sibling thread takes issue slots for seconds: chains of one
 * cycle per link suffer, chains of three do not; and it takes cycles of the front end, which a loop
 * of one cycle needs all.  Independent of the library, so that an error
 * there is not mistaken for noise.
 */
static bool hw_is_quiet(void)
{
	enum { TRIES = 50 };
	unsigned near = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t adds, imuls, loop;

		hw_time_chains(&adds, &imuls, &loop);
		near += (double)imuls > 2.8 * (double)adds && (double)imuls > 2.8 * (double)loop;
	}
	return near > TRIES * 3 / 4;
}

/* Seconds that a program has spent on numbers that neighbours spoilt, and how many it may: a core that is
 * never free would have it wait for every block, for minutes.  After that, each block has one short try.
 */
static double hw_waited;
#define HW_PATIENCE	 4.0
#define HW_SHORT_WAIT_MS 20

/* A try that noise has spoilt, begun at that time.  Returns false if there is to be no other one. */
static bool hw_try_again(double begin, unsigned pause_ms)
{
	if (hw_waited < HW_PATIENCE)
		hw_sleep_ms(pause_ms);
	hw_waited += hw_now() - begin;
	return hw_waited < HW_PATIENCE;
}

/* Measures, as tact_measure does.  A machine that others use can be too slow for any time-out: what
 * ran out of time is tried again.  A harness that a block has spoilt stays as it is.
 */
MAYBE_UNUSED static int hw_measure(struct tact_harness *h, const uint8_t *code, size_t size,
				   struct tact_measurement *m)
{
	enum { TRIES = 5, PAUSE_MS = 200 };
	int status = tact_measure(h, code, size, m);

	for (unsigned i = 1; i < TRIES && !status && m->status == TACT_MEASURE_TIMEOUT; i++) {
		hw_sleep_ms(PAUSE_MS);
		status = tact_measure(h, code, size, m);
	}
	return status;
}

/* Measures, and tells how long that took.  If it was longer than the limit, again: a block that is late
 * by itself is late each time, others are when the machine is busy.
 */
MAYBE_UNUSED static int hw_measure_within(struct tact_harness *h, const uint8_t *code, size_t size,
					  struct tact_measurement *m, double limit, double *seconds)
{
	enum { TRIES = 4 };
	int status = 0;

	*seconds = INFINITY;
	for (unsigned i = 0; i < TRIES && !status && *seconds > limit; i++) {
		const double begin = hw_now();

		status = tact_measure(h, code, size, m);
		*seconds = hw_now() - begin;
	}
	return status;
}

/* Measures a block until the number is within 2% of what is expected, three times at most; noise
 * does not count as a try, but ends it after a while.
 */
MAYBE_UNUSED static enum hw_answer hw_expect(struct tact_harness *h, const uint8_t *code,
					     size_t size, double expected,
					     struct tact_measurement *m)
{
	enum { TRIES = 3, NOISY_TRIES = 4 };
	unsigned tries = 0, noisy = 0;

	while (tries < TRIES && noisy < NOISY_TRIES) {
		const double begin = hw_now();

		if (hw_waited >= HW_PATIENCE && h->opt.wait_ms > HW_SHORT_WAIT_MS)
			h->opt.wait_ms = HW_SHORT_WAIT_MS;
		if (hw_measure(h, code, size, m) < 0)
			return HW_WRONG;
		if (m->status == TACT_MEASURE_UNSTABLE || m->status == TACT_MEASURE_DISTURBED) {
			noisy++;
			if (!hw_try_again(begin, 20))
				return HW_NOISY;
			continue;
		}
		if (m->status != TACT_MEASURE_OK)
			return HW_WRONG;
		if (fabs(m->cycles_per_iteration - expected) <= 0.02 * expected)
			return HW_RIGHT;
		if (hw_is_quiet()) {
			tries++;
			hw_sleep_ms(tries + noisy == 1 ? 20 : 100); /* noise comes in bursts */
			continue;
		}
		noisy++;
		if (!hw_try_again(begin, tries + noisy == 1 ? 20 : 100))
			return HW_NOISY;
	}
	return tries < TRIES ? HW_NOISY : HW_WRONG;
}

#endif /* TESTS_HW_H */
