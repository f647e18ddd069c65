/* SPDX-License-Identifier: MIT
 *
 * The generic timer as a clock (Arm ARM, D11.2: the counter runs at CNTFRQ_EL0).
 *
 * It may run at 25 MHz, with steps of more than a hundred cycles.  Everything that evaluates times
 * knows how to treat a clock of some GHz that advances in large steps, as time stamps do on some
 * x86 cores.  So times are given as if the clock had a rate between one and two GHz.
 */
#ifndef TACT_TIMER_A64_H
#define TACT_TIMER_A64_H

#include <stdint.h>

enum { A64_MAX_SHIFT = 12 };

/* By how many bits times are shifted to the left. */
static inline unsigned a64_timer_shift(uint64_t hertz)
{
	unsigned shift = 0;

	while (hertz && shift < A64_MAX_SHIFT && hertz << shift < 1000000000u)
		shift++;
	return shift;
}

#ifdef __aarch64__

static inline unsigned a64_native_shift(void)
{
	uint64_t hertz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
	return a64_timer_shift(hertz);
}

static inline uint64_t a64_read_timer(void)
{
	uint64_t count;

	__asm__ volatile("isb\n	mrs %0, cntvct_el0\n	isb" : "=r"(count)::"memory");
	return count << a64_native_shift();
}

#endif /* __aarch64__ */

#endif /* TACT_TIMER_A64_H */
