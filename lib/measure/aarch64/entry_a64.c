/* SPDX-License-Identifier: MIT
 *
 * The state that a block starts from: its registers.
 *
 * Vector registers hold ordinary numbers, as x86 blocks do: elements of all types near 1, none a
 * power of two, no two registers equal.  Subnormal numbers are flushed to zero (FPCR.FZ), since
 * some cores take long for them.  The extensions with vectors of other lengths are refused before.
 */
#include "measure/aarch64/words_a64.h"

enum {
	N_VECTORS = 32,
	SCRATCH = 16,
	STAMP = 17, /* until all others are loaded */
	FPCR_FZ = 1 << 24
};

uint64_t measure_a64_ordinary(unsigned r)
{
	return 0x3ff03c5a3f803c3dull + 0x1500000013ull * r;
}

uint32_t a64_put_constants(struct words *w)
{
	uint32_t at;

	a64_align(w, MEASURE_LINE);
	at = (uint32_t)w->n;
	for (unsigned r = 0; r < N_VECTORS; r++)
		for (int half = 0; half < 2; half++)
			a64_put_64(w, measure_a64_ordinary(r));
	return at;
}

/* Brings the pages of the block into the first-level cache. */
static void touch_pages(struct words *w, const struct measure_plan *plan)
{
	for (unsigned i = 0; i < plan->n_pages; i++) {
		size_t start;

		a64_put_immediate(w, 0, plan->page[i]);
		a64_put_immediate(w, 1, MEASURE_PAGE / MEASURE_LINE);
		start = w->n;
		a64_put(w, 0x38400402u | MEASURE_LINE << 12); /* ldrb w2, [x0], #64 */
		a64_put_add_constant(w, 1, 1, -1);
		a64_put_unless_zero(w, 1, start);
	}
}

void a64_put_vector_state(struct words *w, const struct measure_plan *plan, uint32_t constants)
{
	touch_pages(w, plan);
	a64_put_immediate(w, 0, FPCR_FZ);
	a64_put(w, 0xd51b4400u); /* msr fpcr, x0 */
	a64_put(w, 0xd51b443fu); /* msr fpsr, xzr */
	for (unsigned r = 0; r < N_VECTORS; r++) {
		const uint32_t distance =
			(uint32_t)(((int64_t)constants + 16 * (int64_t)r - (int64_t)w->n) / 4);

		if (plan->vectors == TACT_VECTORS_ZERO)
			a64_put(w, 0x6f00e400u | r); /* movi v.2d, #0 */
		else
			a64_put(w, 0x9c000000u | (distance & 0x7ffff) << 5 | r); /* ldr q, ... */
	}
}

uint64_t a64_initial_value(const struct measure_plan *plan, unsigned reg)
{
	return plan->init == TACT_INIT_STACK && reg == isa_aarch64.registers.frame_pointer
		       ? MEASURE_INIT_FRAME
		       : MEASURE_INIT_VALUE;
}

unsigned a64_put_registers(struct words *w, const struct measure_plan *plan)
{
	const unsigned way = plan->loop && plan->counter == STAMP ? SCRATCH : STAMP;

	a64_put_immediate(w, way, MEASURE_STAMP_BASE);
	a64_put_load(w, 0, way, A64_STAMP(frame) + 8);
	a64_put_add_constant(w, A64_REG_SP, 0, 0); /* mov sp, x0 */
	if (plan->loop)
		a64_put_load(w, plan->counter, way, A64_STAMP(counter));
	for (unsigned r = 0; r < A64_REG_SP; r++)
		if (r != way && !(plan->loop && r == plan->counter))
			a64_put_immediate(w, r, a64_initial_value(plan, r));
	a64_put_load(w, way, way, A64_STAMP(frame));
	a64_put(w, 0xd51b421fu); /* msr nzcv, xzr */
	return way;
}
