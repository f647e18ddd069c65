/* SPDX-License-Identifier: MIT
 *
 * Emits the code around a block, which sets every register, reads the counter, enters the block, and
 * comes back without needing any register.
 *
 *   entry:   loads vector state from constants; counter -> hidden memory, with a proof; loads all
 *            registers but one; isb; goes to one of the gates
 *   gates:   each loads the last register and goes on in the body
 *   body:    copies of the block, at the offset in a cache line that is asked for; as a loop, the
 *            block and its counter
 *   end:     counter -> x0; jumps to the runner's way out
 *   steps:   some copies with a brk before each instruction: no program can step itself here
 */
#include "measure/aarch64/words_a64.h"

#include <string.h>

enum {
	/* addresses of ours, until the registers are loaded */
	RUNNER = 19,
	KEY_FACTOR = 20,
	KEY_TERM = 21,
	MAX_STEP_INSNS = MEASURE_MAX_STEPS
};

size_t measure_a64_put_counter(uint8_t *to, unsigned reg, size_t distance)
{
	const uint32_t back = 0u - (uint32_t)(distance / 4 + 1);
	struct words w = {.p = to, .capacity = TACT_MEASURE_LOOP_BYTES};

	a64_put_add_constant(&w, reg, reg, -1);
	a64_put(&w, 0xb5000000u | (back & 0x7ffff) << 5 | reg); /* cbnz */
	return w.n;
}

/* add, sub with a constant of 12 bits, and of 12 bits shifted by 12. */
size_t measure_a64_put_move(uint8_t *to, unsigned reg, int32_t by)
{
	const uint32_t amount = by < 0 ? 0u - (uint32_t)by : (uint32_t)by;
	const uint32_t operation = (by < 0 ? 0xd1000000u : 0x91000000u) | reg << 5 | reg;
	struct words w = {.p = to, .capacity = 16};

	if (amount >> 24)
		return 0;
	if (amount & 0xfff || !amount)
		a64_put(&w, operation | (amount & 0xfff) << 10);
	if (amount >> 12)
		a64_put(&w, operation | 1u << 22 | amount >> 12 << 10);
	return w.n;
}

/* Goes to the offset in a cache line that is asked for. */
static void put_offset(struct words *w, const struct measure_plan *plan)
{
	while (w->n % MEASURE_LINE != plan->alignment / 4 * 4 && !w->full)
		a64_put(w, A64_NOP);
}

static void put_copies(struct words *w, const struct measure_plan *plan,
		       struct measure_layout *layout)
{
	put_offset(w, plan);
	layout->body = (uint32_t)w->n;
	for (unsigned i = 0; i < plan->copies; i++) {
		if (plan->group && i && i % plan->group == 0)
			a64_put_bytes(w, plan->back, plan->back_size);
		if (i + plan->low == plan->copies)
			layout->body_low = (uint32_t)w->n;
		a64_put_bytes(w, plan->code, plan->size);
	}
}

static void put_own_counter(struct words *w, const struct measure_plan *plan, size_t start)
{
	if (plan->own_branch)
		return;
	a64_put_add_constant(w, plan->counter, plan->counter, -1);
	a64_put_unless_zero(w, plan->counter, start);
}

/* The block as a loop; or as several of them, one after the other, each of `count` iterations.
 * Returns its offset.
 */
static uint32_t put_loops(struct words *w, const struct measure_plan *plan, uint32_t count,
			  const uint8_t *back)
{
	uint32_t first = 0;

	for (unsigned i = 0; i < plan->copies; i++) {
		uint32_t start;

		if (i) {
			size_t jump;

			a64_put_bytes(w, back, plan->back_size);
			a64_put_immediate(w, plan->counter, count);
			jump = a64_put_open_jump(w);
			put_offset(w, plan);
			a64_land(w, jump);
		} else {
			put_offset(w, plan);
		}
		start = (uint32_t)w->n;
		first = i ? first : start;
		a64_put_bytes(w, plan->code, plan->size);
		put_own_counter(w, plan, start);
	}
	return first;
}

static void put_body(struct words *w, const struct measure_plan *plan,
		     struct measure_layout *layout)
{
	if (!plan->loop) {
		put_copies(w, plan, layout);
	} else if (plan->copies == 1) {
		layout->body = layout->body_low = put_loops(w, plan, 0, NULL);
	} else { /* the low run has code of its own, which jumps over the other */
		size_t jump;

		layout->body_low = put_loops(w, plan, plan->low, plan->back_low);
		jump = a64_put_open_jump(w);
		layout->body = put_loops(w, plan, plan->high, plan->back);
		a64_land(w, jump);
	}
	layout->copy_size = (uint32_t)plan->size;
	layout->end = (uint32_t)w->n;
}

/* Records the start in memory that the block cannot find.  The proof, made with the keys, shows
 * whether the record is still true.
 */
static void put_begin(struct words *w, const struct measure_plan *plan)
{
	a64_put_immediate(w, 3, MEASURE_HIDDEN_BEGIN);
	a64_put_add(w, 3, 3, RUNNER);
	a64_put_counter(w, 0, plan);
	a64_put(w, 0x9b007c01u | KEY_FACTOR << 16); /* mul x1, x0, x20 */
	a64_put_add(w, 1, 1, KEY_TERM);
	a64_put_store(w, 0, 3, 0);
	a64_put_store(w, 1, 3, 8);
}

/* Needs nothing that the block could have changed. */
static void put_end(struct words *w, const struct measure_plan *plan)
{
	a64_put_counter(w, 0, plan);
	a64_put_immediate(w, 1, MEASURE_LEAVE_BY_CALL);
	a64_put(w, 0xd61f0000u | 1 << 5); /* br x1 */
}

/* A gate into the code at `target`. */
static uint32_t put_gate(struct words *w, const struct measure_plan *plan, unsigned reg,
			 size_t target)
{
	const uint32_t at = (uint32_t)w->n;

	a64_put_immediate(w, reg, a64_initial_value(plan, reg));
	a64_put_jump(w, target);
	return at;
}

/* Copies whose instructions are announced by brk. */
static void put_steps(struct words *w, const struct measure_plan *plan,
		      struct measure_layout *layout)
{
	const size_t n = plan->size / 4;
	size_t copies = plan->loop ? 1 : n ? MAX_STEP_INSNS / n : 0;

	if (!plan->loop && copies > plan->copies)
		copies = plan->copies;
	layout->step_body = (uint32_t)w->n;
	for (size_t i = 0; i < copies * n; i++) {
		uint32_t word = a64_word(plan->code + i % n * 4);

		a64_put(w, A64_BRK);
		if (plan->own_branch && i + 1 == n)
			isa_aarch64.retarget((uint8_t *)&word, sizeof(word),
					     (int64_t)layout->step_body - (int64_t)w->n);
		a64_put(w, word);
	}
	if (plan->loop)
		put_own_counter(w, plan, layout->step_body);
	a64_put_jump(w, layout->end);
}

/* The instruction that a brk announces, as if it ran in the body. */
uint64_t measure_a64_step_pc(const struct measure_layout *layout, uint64_t pc)
{
	return MEASURE_CODE_BASE + layout->body +
	       (pc - MEASURE_CODE_BASE - layout->step_body) / 8 * 4;
}

int measure_a64_emit(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout)
{
	struct words w = {.p = area, .capacity = MEASURE_CODE_BYTES};
	uint32_t constants;
	unsigned way;

	/* The clocks come first, so that they are in the same place for every block. */
	a64_put_clocks(&w, plan, layout);
	constants = a64_put_constants(&w);
	put_body(&w, plan, layout);
	put_end(&w, plan);
	put_steps(&w, plan, layout);
	a64_align(&w, MEASURE_LINE);
	layout->entry = (uint32_t)w.n;
	a64_put_vector_state(&w, plan, constants);
	put_begin(&w, plan);
	way = a64_put_registers(&w, plan);
	a64_put(&w, A64_ISB);
	a64_put(&w, 0xd61f0000u | way << 5); /* br */
	layout->enter_low = put_gate(&w, plan, way, layout->body_low);
	layout->enter_high = put_gate(&w, plan, way, layout->body);
	layout->enter_end = put_gate(&w, plan, way, layout->end);
	layout->enter_step = put_gate(&w, plan, way, layout->step_body);
	return w.full ? -TACT_E_LIMIT : 0;
}
