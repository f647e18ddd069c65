/* SPDX-License-Identifier: MIT
 *
 * Code that tells how fast the core is: a clock of known latency, and a canary that needs the whole
 * front end.
 */
#include "measure/x86/emit_bytes.h"

/* The clocks are functions; they clobber rax, rcx and rdx. */
static void begin_clock(struct buffer *b, uint32_t *offset)
{
	emit_align(b, 64);
	*offset = (uint32_t)b->n;
	emit_store_time(b, STAMP_AT(begin_low), STAMP_AT(begin_high));
}

static void end_clock(struct buffer *b)
{
	emit_store_time(b, STAMP_AT(end_low), STAMP_AT(end_high));
	PUT(b, 0xc3);
}

/* n dependent multiplications, in a loop that takes little of the instruction cache. */
static void put_chain(struct buffer *b, unsigned n, uint32_t *offset)
{
	begin_clock(b, offset);
	PUT(b, 0xb9); /* mov ecx, n / unroll */
	emit_32(b, n / MEASURE_CHAIN_UNROLL);
	/* imul eax, eax: 3 cycles on every core since 2011; rax would take 5 on small ones
	 * (uops.info) */
	for (unsigned i = 0; i < MEASURE_CHAIN_UNROLL; i++)
		PUT(b, 0x40, 0x0f, 0xaf, 0xc0);
	PUT(b, 0xff, 0xc9, 0x0f, 0x85); /* dec ecx; jnz */
	emit_32(b, (uint32_t) - (4 * MEASURE_CHAIN_UNROLL + 8));
	end_clock(b);
}

/* Independent uops at the full width of the core.  What a sibling thread takes shows at once.  The
 * loop is small, so that caches of decoded instructions always hold it.
 */
static void put_canary(struct buffer *b, uint32_t *offset)
{
	begin_clock(b, offset);
	PUT(b, 0xb9); /* mov ecx, iterations */
	emit_32(b, MEASURE_CANARY_NOPS / MEASURE_CANARY_UNROLL);
	for (unsigned i = 0; i < MEASURE_CANARY_UNROLL; i++)
		PUT(b, 0x0f, 0x1f, 0x40, 0x00); /* nop dword [rax+0] */
	PUT(b, 0xff, 0xc9, 0x75, (uint8_t) - (4 * MEASURE_CANARY_UNROLL + 4)); /* dec ecx; jnz */
	end_clock(b);
}

void emit_clocks(struct buffer *b, struct measure_layout *layout)
{
	put_chain(b, MEASURE_CHAIN_SHORT, &layout->chain_short);
	put_chain(b, MEASURE_CHAIN_LONG, &layout->chain_long);
	put_canary(b, &layout->canary);
}
