/* SPDX-License-Identifier: MIT
 *
 * The instruction set's constant, and what measuring needs of such a machine.
 */
#include "measure/aarch64/measure_a64.h"
#include "measure/aarch64/timer_a64.h"

const struct measure_set measure_aarch64 = {
	.isa = &isa_aarch64,
	.chain_cycles = 8, /* additions of a link */
	.unaligned = "an access that is not aligned, or a stack pointer that is not",
	.screen = measure_a64_screen,
	.emit = measure_a64_emit,
	.emit_clocks = measure_a64_emit_clocks,
	.step_pc = measure_a64_step_pc,
	.canaries = measure_a64_canaries,
	.core_of = measure_a64_core_of,
	.put_counter = measure_a64_put_counter,
	.put_move = measure_a64_put_move,
	.known = &measure_a64_known,
	.accesses = measure_a64_accesses,
};

#ifdef __aarch64__

#include "measure/native.h"

const struct measure_set *const measure_native = &measure_aarch64;

uint64_t native_clock(void)
{
	return a64_read_timer();
}

uint32_t native_features(void)
{
	return a64_native_shift();
}

#endif /* __aarch64__ */
