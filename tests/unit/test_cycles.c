/* SPDX-License-Identifier: MIT
 *
 * Cycles of programs: means by context, and the engine on executions that are made here.
 */
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include "testing.h"

#include <tact/cycles.h>

#include "arch/arch.h"
#include "support.h"
#include "trace/memo.h"

TEST(means_are_remembered)
{
	struct memo memo;

	assert_int_equal(memo_init(&memo), 0);
	assert_null(memo_find(&memo, 4711));
	for (unsigned i = 0; i < 8; i++)
		memo_add(&memo, 4711, i % 2 ? 1 : 9);
	assert_int_equal(memo_find(&memo, 4711)->n, 8);
	assert_true(fabsf(memo_find(&memo, 4711)->mean - 5) < 1e-5f);
	/* many samples later it has followed a change */
	for (unsigned i = 0; i < 4000; i++)
		memo_add(&memo, 4711, i < 1000 ? 5 : 7);
	assert_true(fabsf(memo_find(&memo, 4711)->mean - 7) < 1e-3f);
	/* and many keys go in without losing the others, as long as there is room */
	for (uint64_t k = 1; k < 200000; k++)
		memo_add(&memo, k * 0x9e3779b97f4a7c15u, 1);
	assert_int_equal(memo_find(&memo, 4711)->n, 4008);
	/* beyond its limit it stays usable, and those that were seen once go first */
	for (uint64_t k = 1; k < 2000000; k++)
		memo_add(&memo, k * 0x2545f4914f6cdd1du, 1);
	assert_true(memo.n <= memo.mask);
	assert_int_equal(memo_find(&memo, 4711)->n, 4008);
	memo_fini(&memo);
}

/* ---- the engine ---- */

static const uint8_t body[] = {
	0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x8b, 0x14,
	0x24, 0x48, 0xff, 0xc9, 0x75, 0xf3}; /* imul rax, rbx; mov rdx, [rsp]; dec rcx; jnz */
static const uint8_t other[] = {0x48, 0x01, 0xd8, 0x48, 0x01, 0xd8, 0xeb, 0x00}; /* add, add, jmp */

static struct tact_trace_block blocks[] = {
	{.address = 0x401000,
	 .code = body,
	 .code_size = sizeof(body),
	 .n_insns = 4,
	 .last_offset = 11,
	 .number = 0},
	{.address = 0x401000 + sizeof(body), /* where it continues */
	 .code = other,
	 .code_size = sizeof(other),
	 .n_insns = 3,
	 .last_offset = 6,
	 .number = 1},
};

/* Cycles of instructions add up to those of the block; without being asked for they are equal. */
static void check_insns(const struct tact_cycles *c, const struct tact_cycles_block *b, bool asked)
{
	const uint32_t n = b->block->n_insns;
	bool is_even = true;
	double each[8], sum = 0;

	assert_true(n <= 8);
	assert_int_equal(tact_cycles_get_insns(c, b->block->number, each), 0);
	assert_int_equal(tact_cycles_get_insns(c, 7, each), -TACT_E_INVAL);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(each[i] >= 0);
		sum += each[i];
		is_even &= fabs(each[i] - each[0]) < 1e-9 * b->cycles;
	}
	assert_true(fabs(sum - b->cycles) < 1e-6 * b->cycles);
	assert_int_equal(is_even, !asked);
}

static struct tact_cycles_totals run(bool exact, bool full, uint32_t threads, uint64_t rounds)
{
	const struct tact_cycles_options opt = {.size = sizeof(opt),
						.exact = exact,
						.caches = full,
						.branches = full,
						.insns = exact};
	struct tact_trace_access access = {.address = 0x7fff0000, .insn = 1, .size = 8};
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;
	struct tact_cycles *c;

	assert_int_equal(tact_cycles_create(&c, tact_arch_find("SKL"), &opt, NULL), 0);
	for (uint64_t i = 0; i < rounds; i++) {
		struct tact_trace_event event = {.size = sizeof(event),
						 .kind = TACT_TRACE_EXEC,
						 .thread = (uint32_t)(i % threads),
						 .block = &blocks[i / threads % 5 == 4]};

		if (!event.block->number) {
			event.accesses = &access;
			event.n_accesses = 1;
		}
		assert_int_equal(tact_cycles_event(c, &event, NULL), 0);
	}
	for (uint32_t t = 0; t < threads; t++) {
		struct tact_trace_event end = {
			.size = sizeof(end), .kind = TACT_TRACE_END, .thread = t};

		assert_int_equal(tact_cycles_event(c, &end, NULL), 0);
	}
	assert_int_equal(tact_cycles_finish(c, NULL), 0);
	tact_cycles_get_totals(c, &totals);
	if (rounds > 5) {
		struct tact_cycles_block b = TACT_CYCLES_BLOCK_INIT;

		assert_int_equal(tact_cycles_get_block(c, 0, &b), 0);
		assert_int_equal(b.executions, rounds / 5 * 4);
		assert_true(fabs(b.uops[1] - (double)b.executions) < 0.01 * (double)b.executions);
		assert_true(b.bound >= 3 && b.cycles > 2.5 * (double)b.executions);
		assert_int_equal(tact_cycles_get_block(c, 7, &b), -TACT_E_INVAL);
		check_insns(c, &b, exact);
	}
	tact_cycles_destroy(c);
	return totals;
}

/* Three cycles per imul; the two adds are hidden by them or lengthen the chain through rax. */
TEST(memory_equals_pipeline)
{
	const uint64_t rounds = 1000000;
	struct tact_cycles_totals exact = run(true, false, 1, rounds),
				  memo = run(false, false, 1, rounds);

	assert_int_equal(exact.instructions, memo.instructions);
	assert_int_equal(exact.simulated, exact.instructions);
	assert_true(memo.simulated < exact.simulated / 2);
	assert_true(fabs(exact.cycles / (double)(rounds / 5) - 14) < 0.3); /* 4 imul, 2 add */
	assert_true(fabs(memo.cycles / exact.cycles - 1) < 0.005);
	assert_true(exact.error <= 0 && memo.error >= 0 && memo.error < 0.005 * memo.cycles);
	for (unsigned p = 0; p < 8; p++)
		assert_true(fabs(memo.uops[p] - exact.uops[p]) < 0.05 * (exact.uops[p] + 1000));
}

TEST(threads_have_pipelines)
{
	struct tact_cycles_totals one = run(false, false, 1, 50000),
				  three = run(false, false, 3, 150000);

	assert_int_equal(three.n_threads, 3);
	assert_true(fabs(three.cycles / one.cycles - 3) < 0.05);
}

TEST(branches_and_caches_cost)
{
	const uint64_t rounds = 500000;
	struct tact_cycles_totals plain = run(true, false, 1, rounds),
				  full = run(true, true, 1, rounds),
				  memo = run(false, true, 1, rounds);

	assert_true(full.branches > rounds / 20 * 19 && full.mispredicted > 0 &&
		    full.misses[0] > 0);
	assert_true(full.cycles > plain.cycles);
	assert_true(memo.simulated < full.simulated);
	assert_true(fabs(memo.cycles / full.cycles - 1) < 0.005);
	assert_int_equal(plain.branches, 0);
}

/* As many rounds as need samples, or fewer if all go through the pipeline. */
static unsigned rounds_with_calls(bool exact)
{
	return exact ? 20000 : rounds(300000);
}

/* Cycles of these rounds, every hundredth of which ends in a system call. */
static double run_with_calls(bool exact, bool full, uint64_t number)
{
	const struct tact_cycles_options opt = {
		.size = sizeof(opt), .exact = exact, .caches = full, .branches = full};
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;
	struct tact_cycles *c;

	assert_int_equal(tact_cycles_create(&c, tact_arch_find("ZEN4"), &opt, NULL), 0);
	for (unsigned i = 0; i < rounds_with_calls(exact); i++) {
		const struct tact_trace_event event = {
			.size = sizeof(event), .kind = TACT_TRACE_EXEC, .block = &blocks[1]};
		const struct tact_trace_event call = {
			.size = sizeof(call), .kind = TACT_TRACE_CALL, .count = number};

		assert_int_equal(tact_cycles_event(c, &event, NULL), 0);
		if (number && i % 100 == 99)
			assert_int_equal(tact_cycles_event(c, &call, NULL), 0);
	}
	assert_int_equal(tact_cycles_finish(c, NULL), 0);
	tact_cycles_get_totals(c, &totals);
	tact_cycles_destroy(c);
	return totals.cycles;
}

/* Whether an execution goes through the pipeline, costs what the memo says or is skimmed, the cycles
 * around a call are added; a core without caches has no kernel.
 */
TEST(calls_of_the_kernel_cost)
{
	enum { READ = 17, GETTIME = 228, WAIT = 232 }; /* pread64, clock_gettime, epoll_wait */
	const struct arch_params *p = &tact_arch_find("ZEN4")->params;

	for (unsigned exact = 0; exact < 2; exact++) {
		const double calls = rounds_with_calls(exact) / 100,
			     none = run_with_calls(exact, true, 0),
			     usual = (run_with_calls(exact, true, READ) - none) / calls,
			     clock = (run_with_calls(exact, true, GETTIME) - none) / calls,
			     wait = (run_with_calls(exact, true, WAIT) - none) / calls;

		assert_true(fabs(clock - p->kernel_clock_cycles) < 3);
		/* and some, for what is not in the caches any more */
		assert_in_range(usual, p->kernel_call_cycles - 3, p->kernel_call_cycles + 100);
		assert_in_range(wait, p->kernel_wait_cycles - 3, p->kernel_wait_cycles + 200);
	}
	assert_true(fabs(run_with_calls(true, false, READ) - run_with_calls(true, false, 0)) <
		    1000);
}

TEST(what_cannot_be_decoded)
{
	static const uint8_t bad[] = {0x06, 0x07, 0x0e};
	struct tact_trace_block block = {
		.address = 0x1000, .code = bad, .code_size = sizeof(bad), .n_insns = 3};
	struct tact_trace_event event = {
		.size = sizeof(event), .kind = TACT_TRACE_EXEC, .block = &block};
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;
	struct tact_cycles *c;

	assert_int_equal(tact_cycles_create(&c, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_create(&c, tact_arch_find("ICX"), NULL, NULL), 0);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(tact_cycles_event(c, &event, NULL), 0);
	assert_int_equal(tact_cycles_finish(c, NULL), 0);
	tact_cycles_get_totals(c, &totals);
	assert_int_equal(totals.unknown, 30);
	assert_true(totals.cycles > 0);
	tact_cycles_destroy(c);
}

RUN_TESTS(NULL, NULL)
