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

static void put_body(struct buffer *b, const struct measure_plan *plan,
		     struct measure_layout *layout)
{
	emit_align(b, MEASURE_LINE);
	for (unsigned i = 0; i < plan->alignment; i++)
		PUT(b, 0x90); /* iretq jumps over them */
	layout->body = (uint32_t)b->n;
	for (unsigned i = 0; i < plan->copies; i++)
		emit_bytes(b, plan->code, plan->size);
	if (plan->loop && !plan->own_branch) {
		uint8_t counter[TACT_MEASURE_LOOP_BYTES];

		emit_bytes(b, counter,
			   measure_x86_put_counter(counter, plan->counter, b->n - layout->body));
	}
	layout->copy_size = (uint32_t)plan->size;
	layout->end = (uint32_t)b->n;
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
	emit_immediate(b, 1, MEASURE_LEAVE);
	PUT(b, 0xff, 0xe1); /* jmp rcx */
}

int measure_x86_emit(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout)
{
	struct buffer b = {.p = area, .capacity = MEASURE_CODE_BYTES};
	uint32_t constants;

	/* The clocks come first, so that they are in the same place for every block. */
	emit_clocks(&b, layout);
	constants = emit_constants(&b);
	emit_align(&b, MEASURE_PAGE);
	layout->entry = (uint32_t)b.n;
	emit_vector_state(&b, plan, constants);
	put_begin(&b, plan);
	emit_registers(&b, plan);
	PUT(&b, 0x48, 0xcf); /* iretq */
	put_body(&b, plan, layout);
	put_end(&b, plan);
	return b.full ? -TACT_E_LIMIT : 0;
}
