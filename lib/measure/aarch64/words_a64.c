/* SPDX-License-Identifier: MIT */
#include "measure/aarch64/words_a64.h"

#include <string.h>

void a64_put_bytes(struct words *w, const void *bytes, size_t n)
{
	if (w->n + n > w->capacity) {
		w->full = true;
		return;
	}
	memcpy(w->p + w->n, bytes, n);
	w->n += n;
}

void a64_put(struct words *w, uint32_t word)
{
	a64_put_bytes(w, &word, sizeof(word));
}

void a64_put_64(struct words *w, uint64_t value)
{
	a64_put_bytes(w, &value, sizeof(value));
}

void a64_align(struct words *w, size_t to)
{
	while (w->n % to && !w->full)
		a64_put(w, A64_NOP);
}

void a64_put_immediate(struct words *w, unsigned reg, uint64_t value)
{
	a64_put(w, 0xd2800000u | (uint32_t)(value & 0xffff) << 5 | reg); /* movz */
	for (uint32_t part = 1; part < 4; part++) {
		const uint32_t half = (uint32_t)(value >> 16 * part & 0xffff);

		if (half)
			a64_put(w, 0xf2800000u | part << 21 | half << 5 | reg); /* movk */
	}
}

void a64_put_load(struct words *w, unsigned reg, unsigned base, unsigned offset)
{
	a64_put(w, 0xf9400000u | offset / 8 << 10 | base << 5 | reg);
}

void a64_put_store(struct words *w, unsigned reg, unsigned base, unsigned offset)
{
	a64_put(w, 0xf9000000u | offset / 8 << 10 | base << 5 | reg);
}

void a64_put_add(struct words *w, unsigned to, unsigned a, unsigned b)
{
	a64_put(w, 0x8b000000u | b << 16 | a << 5 | to);
}

void a64_put_add_constant(struct words *w, unsigned to, unsigned from, int by)
{
	const uint32_t field = (uint32_t)(by < 0 ? -by : by) << 10;

	a64_put(w, (by < 0 ? 0xd1000000u : 0x91000000u) | field | from << 5 | to);
}

/* The distance to a place in words, as a field of so many bits. */
static uint32_t distance_to(const struct words *w, size_t target, unsigned bits)
{
	return (uint32_t)(((int64_t)target - (int64_t)w->n) / 4) & ((1u << bits) - 1);
}

void a64_put_jump(struct words *w, size_t target)
{
	a64_put(w, 0x14000000u | distance_to(w, target, 26));
}

void a64_put_call(struct words *w, size_t target)
{
	a64_put(w, 0x94000000u | distance_to(w, target, 26));
}

void a64_put_unless_zero(struct words *w, unsigned reg, size_t target)
{
	a64_put(w, 0xb5000000u | distance_to(w, target, 19) << 5 | reg);
}

void a64_put_return(struct words *w, unsigned reg)
{
	a64_put(w, 0xd65f0000u | reg << 5);
}

size_t a64_put_open_jump(struct words *w)
{
	a64_put(w, 0x14000000u);
	return w->n - 4;
}

void a64_land(struct words *w, size_t jump)
{
	const uint32_t word = 0x14000000u | (uint32_t)((w->n - jump) / 4);

	if (!w->full)
		memcpy(w->p + jump, &word, sizeof(word));
}

/* isb keeps the counter from being read before what is above has ended, and what is below from
 * beginning before it was read.
 */
void a64_put_time(struct words *w, unsigned reg, uint32_t features)
{
	const unsigned shift = features & A64_FEATURE_SHIFT;

	a64_put(w, A64_ISB);
	a64_put(w, 0xd53be040u | reg); /* mrs reg, cntvct_el0 */
	if (shift)		       /* lsl */
		a64_put(w, 0xd3400000u | (64 - shift) << 16 | (63 - shift) << 10 | reg << 5 | reg);
	a64_put(w, A64_ISB);
}

void a64_put_counter(struct words *w, unsigned reg, const struct measure_plan *plan)
{
	if (!plan->reads_counter) {
		a64_put_time(w, reg, plan->features);
		return;
	}
	a64_put(w, A64_ISB);
	a64_put(w, 0xd53b9d00u | reg); /* mrs reg, pmccntr_el0 */
	a64_put(w, A64_ISB);
}
