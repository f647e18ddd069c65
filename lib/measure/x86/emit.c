/* SPDX-License-Identifier: MIT
 *
 * Emits the code around a block, which sets every register, reads the counter, enters the block by
 * iretq, and comes back without needing any register.
 *
 *   entry:   loads vector and x87 state from constants; counter -> hidden memory, with a proof;
 *            loads all registers; iretq from stamp.frame
 *   body:    copies of the block, at the offset in a cache line that is asked for; as a loop, the
 *            block and its counter
 *   end:     counter -> rax; jumps to the runner's way out
 *
 * iretq sets rip, rsp and flags at once and drains the front end, so that every run begins in the
 * same state.  (After lfence, the decode queue would be ahead by a varying amount.)
 */
#include "measure/x86/emit_bytes.h"

#include <string.h>

size_t measure_x86_put_counter(uint8_t *to, unsigned reg, size_t distance)
{
	int32_t back = -(int32_t)(distance + 3 + 2);
	uint8_t *p = to;

	*p++ = (uint8_t)(0x48 | reg >> 3); /* dec reg */
	*p++ = 0xff;
	*p++ = (uint8_t)(0xc8 | (reg & 7));
	if (back >= -128) { /* jnz */
		*p++ = 0x75;
		*p++ = (uint8_t)back;
	} else {
		back -= 4;
		*p++ = 0x0f;
		*p++ = 0x85;
		memcpy(p, &back, sizeof(back));
		p += sizeof(back);
	}
	return (size_t)(p - to);
}

size_t measure_x86_put_move(uint8_t *to, unsigned reg, int32_t by)
{
	uint8_t *p = to;

	*p++ = (uint8_t)(0x48 | reg >> 3 | (reg >> 3) << 2); /* lea reg, [reg+by] */
	*p++ = 0x8d;
	*p++ = (uint8_t)(0x80 | (reg & 7) * 9);
	if ((reg & 7) == 4)
		*p++ = 0x24; /* rsp and r12 need a SIB */
	memcpy(p, &by, sizeof(by));
	return (size_t)(p + sizeof(by) - to);
}

/* Goes to the offset in a cache line that is asked for. */
static void put_offset(struct buffer *b, const struct measure_plan *plan)
{
	emit_align(b, MEASURE_LINE);
	for (unsigned i = 0; i < plan->alignment; i++)
		PUT(b, 0x90);
}

/* The same for code that comes from above: jumps over what is in between. */
static void jump_to_offset(struct buffer *b, const struct measure_plan *plan)
{
	size_t start = b->n + 5; /* with the jump */
	uint32_t distance = (uint32_t)((plan->alignment - start) % MEASURE_LINE);

	PUT(b, 0xe9);
	emit_32(b, distance);
	for (uint32_t i = 0; i < distance; i++)
		PUT(b, 0x90);
}

static void put_copies(struct buffer *b, const struct measure_plan *plan,
		       struct measure_layout *layout)
{
	put_offset(b, plan);
	layout->body = (uint32_t)b->n;
	for (unsigned i = 0; i < plan->copies; i++) {
		if (plan->group && i && i % plan->group == 0)
			emit_bytes(b, plan->back, plan->back_size);
		if (i + plan->low == plan->copies)
			layout->body_low = (uint32_t)b->n;
		emit_bytes(b, plan->code, plan->size);
	}
}

/* The block as a loop; or as several of them, one after the other, each of `count` iterations.
 * Returns its offset.
 */
static uint32_t put_loops(struct buffer *b, const struct measure_plan *plan, uint32_t count,
			  const uint8_t *back)
{
	uint32_t first = 0;

	for (unsigned i = 0; i < plan->copies; i++) {
		uint32_t start;

		if (i) {
			emit_bytes(b, back, plan->back_size);
			/* mov counter, count */
			PUT(b, (uint8_t)(0x48 | plan->counter >> 3), 0xc7,
			    (uint8_t)(0xc0 | (plan->counter & 7)));
			emit_32(b, count);
			jump_to_offset(b, plan);
		} else {
			put_offset(b, plan);
		}
		start = (uint32_t)b->n;
		first = i ? first : start;
		emit_bytes(b, plan->code, plan->size);
		if (!plan->own_branch) {
			uint8_t counter[TACT_MEASURE_LOOP_BYTES];

			emit_bytes(b, counter,
				   measure_x86_put_counter(counter, plan->counter, b->n - start));
		}
	}
	return first;
}

static void put_body(struct buffer *b, const struct measure_plan *plan,
		     struct measure_layout *layout)
{
	if (!plan->loop) {
		put_copies(b, plan, layout);
	} else if (plan->copies == 1) {
		layout->body = layout->body_low = put_loops(b, plan, 0, NULL);
	} else { /* the low run has code of its own, which jumps over the other */
		size_t jump;
		uint32_t distance;

		layout->body_low = put_loops(b, plan, plan->low, plan->back_low);
		PUT(b, 0xe9);
		jump = b->n;
		emit_32(b, 0);
		layout->body = put_loops(b, plan, plan->high, plan->back);
		distance = (uint32_t)(b->n - jump - 4);
		if (!b->full)
			memcpy(b->p + jump, &distance, sizeof(distance));
	}
	layout->copy_size = (uint32_t)plan->size;
	layout->end = (uint32_t)b->n;
	layout->enter_low = layout->body_low;
	layout->enter_high = layout->enter_step = layout->step_body = layout->body;
	layout->enter_end = layout->end;
}

/* Reads the counter into rax. */
static void put_counter_in_rax(struct buffer *b, const struct measure_plan *plan)
{
	emit_read_counter(b, plan);
	PUT(b, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0); /* shl rdx, 32; or rax, rdx */
}

/* Records the start in memory that the block cannot find: r15 has its address.  The proof, made with
 * the keys in r12 and r13, shows whether the record is still true.
 */
static void put_begin(struct buffer *b, const struct measure_plan *plan)
{
	if (!plan->asks_kernel)
		PUT(b, 0xf3, 0x49, 0x0f, 0xae, 0xdf); /* wrgsbase r15 */
	put_counter_in_rax(b, plan);
	PUT(b, 0x48, 0x89, 0xc1);	/* mov rcx, rax */
	PUT(b, 0x49, 0x0f, 0xaf, 0xcc); /* imul rcx, r12 */
	PUT(b, 0x4c, 0x01, 0xe9);	/* add rcx, r13 */
	PUT(b, 0x49, 0x89, 0x87);	/* mov [r15 + begin], rax */
	emit_32(b, MEASURE_HIDDEN_BEGIN);
	PUT(b, 0x49, 0x89, 0x8f); /* mov [r15 + proof], rcx */
	emit_32(b, MEASURE_HIDDEN_BEGIN + 8);
}

/* Needs nothing that the block could have changed. */
static void put_end(struct buffer *b, const struct measure_plan *plan)
{
	put_counter_in_rax(b, plan);
	emit_immediate(b, 1, plan->asks_kernel ? MEASURE_LEAVE_BY_CALL : MEASURE_LEAVE);
	PUT(b, 0xff, 0xe1); /* jmp rcx */
}

int measure_x86_emit(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout)
{
	struct buffer b = {.p = area, .capacity = MEASURE_CODE_BYTES};
	uint32_t constants;

	/* The clocks come first, so that they are in the same place for every block. */
	emit_clocks(&b, plan, layout);
	constants = emit_constants(&b);
	emit_align(&b, MEASURE_LINE); /* close to the clocks: few ways of the instruction cache */
	layout->entry = (uint32_t)b.n;
	emit_vector_state(&b, plan, constants);
	put_begin(&b, plan);
	emit_registers(&b, plan);
	PUT(&b, 0x48, 0xcf); /* iretq */
	put_body(&b, plan, layout);
	put_end(&b, plan);
	return b.full ? -TACT_E_LIMIT : 0;
}
