/* SPDX-License-Identifier: MIT
 *
 * Code that tells how fast the core is: a clock of known latency, and a canary whose parts need
 * what a busy sibling thread takes away.
 *
 * Each of them is a function that times a loop.  It runs a few iterations before, since blocks
 * leave caches and predictors in any state.  All of it is new: none of these figures was seen on
 * hardware.
 */
#include "measure/aarch64/words_a64.h"

/* The parts of the canary. */
enum { ISSUE, LOOP, N_CANARIES };

enum {
	ISSUE_UOPS = 60, /* a multiple of the issue widths 2 to 6 and 10 */
	/* Dependent additions: each takes a cycle on every core (Arm's software optimization guides
	 * from Cortex-A53 to Neoverse V2), while the latency of a multiplication differs.  So many
	 * make one link of the chains, which are long enough for a timer of 25 MHz.
	 */
	LINK = 8
};

enum { COUNT = 1, VALUE, ADDEND, STAMP, BACK = 9 }; /* registers */

unsigned measure_a64_canaries(struct measure_canary out[MEASURE_CANARIES],
			      const struct measure_core *core)
{
	(void)core;
	out[ISSUE] = (struct measure_canary){"issue", 960, .uops = ISSUE_UOPS, .credible = 1.1,
					     .tolerance = 0.04};
	out[LOOP] = (struct measure_canary){
		"loop", 9600, .uops = 4, .cycles = 1, .credible = 1.05, .tolerance = 0.03};
	return N_CANARIES;
}

/* LLVM's models say nothing sure about widths: what a core reaches is learned. */
bool measure_a64_core_of(const char *name, struct measure_core *core)
{
	(void)name;
	(void)core;
	return false;
}

static void put_link(struct words *w)
{
	for (int i = 0; i < LINK; i++)
		a64_put_add(w, VALUE, VALUE, ADDEND);
}

/* Ends the loop that began at `start`, and the function around it. */
static void end_loop(struct words *w, size_t start)
{
	a64_put_add_constant(w, COUNT, COUNT, -1);
	a64_put_unless_zero(w, COUNT, start);
	a64_put(w, A64_RET);
}

/* A function that times some iterations of a loop. */
static void put_timed(struct words *w, const struct measure_plan *plan, size_t loop, unsigned warm,
		      unsigned iterations, uint32_t *offset)
{
	a64_align(w, MEASURE_LINE);
	*offset = (uint32_t)w->n;
	a64_put(w, 0xaa1e03e0u | BACK); /* mov back, x30 */
	a64_put_immediate(w, STAMP, MEASURE_STAMP_BASE);
	a64_put_immediate(w, COUNT, warm);
	a64_put_call(w, loop);
	a64_put_time(w, VALUE, plan->features);
	a64_put_store(w, VALUE, STAMP, A64_STAMP(begin_low));
	a64_put_immediate(w, COUNT, iterations);
	a64_put_call(w, loop);
	a64_put_time(w, VALUE, plan->features);
	a64_put_store(w, VALUE, STAMP, A64_STAMP(end_low));
	a64_put_return(w, BACK);
}

static size_t put_part(struct words *w, unsigned part)
{
	size_t start;

	a64_align(w, MEASURE_LINE);
	start = w->n;
	if (part == ISSUE) {
		for (int i = 0; i < ISSUE_UOPS - 2; i++)
			a64_put(w, A64_NOP);
	} else {
		/* on the page of the stamp, which is not the block's then */
		a64_put_store(w, VALUE, STAMP, 512);
		a64_put_load(w, ADDEND, STAMP, 576);
	}
	end_loop(w, start);
	return start;
}

void a64_put_clocks(struct words *w, const struct measure_plan *plan, struct measure_layout *layout)
{
	static const unsigned warm[] = {[ISSUE] = 80, [LOOP] = 400};
	const unsigned links = plan->core.coarse ? MEASURE_CHAIN_LONG_COARSE : MEASURE_CHAIN_LONG;
	struct measure_canary parts[MEASURE_CANARIES];
	unsigned n = measure_a64_canaries(parts, &plan->core);
	size_t loop;

	a64_align(w, MEASURE_LINE);
	loop = w->n;
	for (int i = 0; i < MEASURE_CHAIN_UNROLL; i++)
		put_link(w);
	end_loop(w, loop);
	put_timed(w, plan, loop, 1, MEASURE_CHAIN_SHORT / MEASURE_CHAIN_UNROLL,
		  &layout->chain_short);
	put_timed(w, plan, loop, 1, links / MEASURE_CHAIN_UNROLL, &layout->chain_long);
	for (unsigned i = 0; i < MEASURE_CANARIES; i++) {
		layout->canary[i] = 0;
		if (i >= n)
			continue;
		loop = put_part(w, i);
		put_timed(w, plan, loop, warm[i], parts[i].iterations, &layout->canary[i]);
	}
}

int measure_a64_emit_clocks(uint8_t *area, const struct measure_plan *plan,
			    struct measure_layout *layout)
{
	struct words w = {.p = area, .capacity = MEASURE_CODE_BYTES};

	a64_put_clocks(&w, plan, layout);
	return w.full ? -TACT_E_LIMIT : 0;
}
