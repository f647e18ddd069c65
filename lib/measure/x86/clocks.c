/* SPDX-License-Identifier: MIT
 *
 * Code that tells how fast the core is: a clock of known latency, and a canary whose parts need
 * what a busy sibling thread takes away.
 *
 * Each of them is a function that times a loop.  It runs a few iterations before, since blocks
 * leave caches and predictors in any state.
 */
#include <string.h>

#include "measure/x86/emit_bytes.h"

/* The parts of the canary. */
enum { ISSUE, LOOP, WINDOW, N_CANARIES };

enum {
	ISSUE_UOPS = 60, /* a multiple of all issue widths from 4 to 6 */
	ANY_WIDTH = 6,	 /* of a core of which nothing is known */
	ANY_WINDOW = 224,
	WIDE = 6 /* cores that make three accesses a cycle: Zen 3 and later, Golden Cove */
};

/* ---- what the parts are ---- */

/* Four fifths of the window: a core of its own holds an iteration and the next chain, half a core
 * does not.
 */
static unsigned window_uops(const struct measure_core *core)
{
	return (core->window ? core->window : ANY_WINDOW) * 4 / 5;
}

/* Multiplications that take a little longer than the core needs to issue the window. */
static unsigned window_links(const struct measure_core *core)
{
	return window_uops(core) * 23 / 20 / (core->width ? core->width : ANY_WIDTH) / 3;
}

unsigned measure_x86_canaries(struct measure_canary out[MEASURE_CANARIES],
			      const struct measure_core *core)
{
	const unsigned times = core->coarse ? 2 : 1;

	/* The issue width is a bound: the ends of loops, and of lines in caches of decoded
	 * instructions, may cost a little.  On Golden Cove and Zen 3, half of all quiet readings
	 * are within 1.5% of the fastest ones, and nearly all within 3%.
	 */
	out[ISSUE] = (struct measure_canary){"issue", 120 * times, .uops = ISSUE_UOPS,
					     .credible = 1.08, .tolerance = 0.04};
	/* Always the same number of cycles: the steps of what others take are 3% and more. */
	out[LOOP] = (struct measure_canary){
		"loop",	     2400 * times,	.uops = core->width >= WIDE ? 4 : 3,
		.cycles = 1, .credible = 1.025, .tolerance = 0.015};
	/* How much the chains overlap depends on the core: 1.08 times the ideal on Golden Cove,
	 * 1.14 on Zen 3.  With half of the window it is 1.6 and more.
	 */
	out[WINDOW] = (struct measure_canary){"window", 20 * times, .uops = window_uops(core),
					      .credible = 1.2, .tolerance = 0.04};
	return N_CANARIES;
}

/* Cores that have no model: as their vendors describe them, and as nops run there. */
bool measure_x86_core_of(const char *name, struct measure_core *core)
{
	static const struct {
		const char *name;
		unsigned width, window;
	} cores[] = {
		{"Golden Cove", 6, 512},
		{"Zen 3", 6, 256},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++)
		if (!strcmp(cores[i].name, name)) {
			core->width = cores[i].width;
			core->window = cores[i].window;
			return true;
		}
	return false;
}

/* ---- code ---- */

static void put_nops(struct buffer *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		PUT(b, 0x0f, 0x1f, 0x40, 0x00); /* nop dword [rax+0] */
}

static void put_links(struct buffer *b, unsigned n)
{
	/* imul eax, eax: 3 cycles on every core since 2011; rax would take 5 on small ones
	 * (uops.info) */
	for (unsigned i = 0; i < n; i++)
		PUT(b, 0x40, 0x0f, 0xaf, 0xc0);
}

/* Nops at the full width of the core. */
static void put_issue(struct buffer *b)
{
	put_nops(b, ISSUE_UOPS - 1);
}

/* An iteration in every cycle, with a store and a load, two on a wide core.  On Zen 3, it
 * was seen to take 1.04 to 1.9 cycles for milliseconds while nops were as fast as ever; what does
 * that is not known, but loops of such code take longer at these times, too.
 */
static void put_loop(struct buffer *b, const struct measure_core *core)
{
	PUT(b, 0x89, 0x42, 0x70);	/* mov [rdx+112], eax */
	PUT(b, 0x44, 0x8b, 0x42, 0x30); /* mov r8d, [rdx+48] */
	if (core->width >= WIDE)
		PUT(b, 0x44, 0x8b, 0x42, 0x38); /* mov r8d, [rdx+56] */
}

/* A chain of multiplications, and so many uops behind it that the next chain only begins in time if
 * all of them fit the reorder buffer, and the loads among them the load buffer.  A sibling thread
 * gets half of both as soon as it runs, whatever it does.
 */
static void put_window(struct buffer *b, const struct measure_core *core)
{
	const unsigned links = window_links(core), n = window_uops(core) - links - 2;

	PUT(b, 0xb8, 7, 0, 0, 0); /* mov eax, 7: no chain from one iteration to the next */
	put_links(b, links);
	for (unsigned i = 0; i < n; i++)
		if (i % 4)
			put_nops(b, 1);
		else
			PUT(b, 0x44, 0x8b, 0x42, 0x30); /* mov r8d, [rdx+48] */
}

/* Ends the loop that began at `start`, and the function around it. */
static void end_loop(struct buffer *b, size_t start)
{
	PUT(b, 0xff, 0xc9); /* dec ecx */
	if (b->n + 2 - start <= 128) {
		PUT(b, 0x75, (uint8_t)(start - (b->n + 2))); /* jnz */
	} else {
		PUT(b, 0x0f, 0x85);
		emit_32(b, (uint32_t)(start - (b->n + 4)));
	}
	PUT(b, 0xc3);
}

static void put_call(struct buffer *b, unsigned iterations, size_t loop)
{
	PUT(b, 0xb9); /* mov ecx, iterations */
	emit_32(b, iterations);
	PUT(b, 0xe8);
	emit_32(b, (uint32_t)(loop - (b->n + 4)));
}

/* A function that times some iterations of a loop.  It clobbers rax, rcx, rdx and r8. */
static void put_timed(struct buffer *b, size_t loop, unsigned warm, unsigned iterations,
		      uint32_t *offset)
{
	emit_align(b, 64);
	*offset = (uint32_t)b->n;
	put_call(b, warm, loop);
	emit_store_time(b, STAMP_AT(begin_low), STAMP_AT(begin_high));
	put_call(b, iterations, loop);
	emit_store_time(b, STAMP_AT(end_low), STAMP_AT(end_high));
	PUT(b, 0xc3);
}

/* The function that a part of the canary is. */
static size_t put_part(struct buffer *b, unsigned part, const struct measure_core *core)
{
	enum { PROLOGUE = 5 };
	size_t function, start;

	while ((b->n + PROLOGUE) % MEASURE_LINE && !b->full)
		PUT(b, 0x90);
	function = b->n;
	/* lea rdx, [rsp-120]: what is below the stack.  Cores treat addresses with rsp in a way of
	 * their own.
	 */
	PUT(b, 0x48, 0x8d, 0x54, 0x24, 0x88);
	start = b->n;
	if (part == ISSUE)
		put_issue(b);
	else if (part == LOOP)
		put_loop(b, core);
	else
		put_window(b, core);
	end_loop(b, start);
	return function;
}

void emit_clocks(struct buffer *b, const struct measure_plan *plan, struct measure_layout *layout)
{
	static const unsigned warm[] = {[ISSUE] = 80, [LOOP] = 400, [WINDOW] = 16};
	const unsigned links = plan->core.coarse ? MEASURE_CHAIN_LONG_COARSE : MEASURE_CHAIN_LONG;
	struct measure_canary parts[MEASURE_CANARIES];
	unsigned n = measure_x86_canaries(parts, &plan->core);
	size_t loop;

	emit_align(b, 64);
	loop = b->n;
	put_links(b, MEASURE_CHAIN_UNROLL);
	end_loop(b, loop);
	put_timed(b, loop, 1, MEASURE_CHAIN_SHORT / MEASURE_CHAIN_UNROLL, &layout->chain_short);
	put_timed(b, loop, 1, links / MEASURE_CHAIN_UNROLL, &layout->chain_long);
	for (unsigned i = 0; i < MEASURE_CANARIES; i++) {
		layout->canary[i] = 0;
		if (i >= n)
			continue;
		loop = put_part(b, i, &plan->core);
		put_timed(b, loop, warm[i], parts[i].iterations, &layout->canary[i]);
	}
}

int measure_x86_emit_clocks(uint8_t *area, const struct measure_plan *plan,
			    struct measure_layout *layout)
{
	struct buffer b = {.p = area, .capacity = MEASURE_CODE_BYTES};

	emit_clocks(&b, plan, layout);
	return b.full ? -TACT_E_LIMIT : 0;
}
