/* SPDX-License-Identifier: MIT
 *
 * Streams through the pipeline: the same as a block that repeats where they should be, real
 * addresses, long runs, bad input.
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/tact.h>

#include "sim/sim.h"

static struct tact_block *load(const char *arch, enum tact_mode mode, const char *hex)
{
	struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct tact_block *block;
	uint8_t code[8192];
	size_t bad;
	long n = tact_hex_decode(code, hex, strlen(hex), &bad);

	assert_true(n > 0);
	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, (size_t)n, NULL), 0);
	return block;
}

/* n more executions of a block: of a loop where it lies, of straight code each time somewhere new.
 */
static void feed_again(struct tact_stream *stream, struct tact_block *block, unsigned n)
{
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	size_t size;
	uint32_t number;

	tact_block_code(block, &size);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
		number = 0;
		if (tact_block_mode(block) == TACT_MODE_UNROLL || !totals.blocks)
			assert_int_equal(tact_stream_add(stream, block, &number), 0);
		assert_int_equal(tact_stream_feed(stream, number, number * size, NULL, 0), 0);
	}
}

/* Cycles a block in the second half of 2n. */
static double throughput(struct tact_block *block, unsigned n)
{
	struct tact_stream_totals half = TACT_STREAM_TOTALS_INIT, whole = TACT_STREAM_TOTALS_INIT;
	struct tact_stream *stream;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	feed_again(stream, block, n);
	assert_int_equal(tact_stream_get_totals(stream, &half), 0);
	feed_again(stream, block, n);
	assert_int_equal(tact_stream_get_totals(stream, &whole), 0);
	tact_stream_destroy(stream);
	assert_int_equal(whole.blocks, 2 * n);
	return (double)(whole.cycles - half.cycles) /
	       (double)(whole.blocks_retired - half.blocks_retired);
}

/* A block that is fed repeatedly takes as long as in the steady state. */
TEST(agrees_with_steady_state)
{
	static const char *const archs[] = {"SNB", "HSW", "SKL", "ICX", "RKL"};
	static const char *const loops[] = {
		"4801d849ffcf75f8",		      /* add rax, rbx; dec r15; jnz */
		"480fafc349ffcf75f7",		      /* imul rax, rbx */
		"488b400849ffcf75f7",		      /* mov rax, [rax+8] */
		"f20f58c10f1f0049ffcf75f4",	      /* addsd xmm0, xmm1; nop */
		"909090909090909049ffcf75f3",	      /* nops */
		"535b4883ec0849ffcf75f5",	      /* push, pop, sub rsp: the stack engine */
		"31d2f7f149ffcf75f7",		      /* xor edx, edx; div ecx */
		"4889c84889c14801d14989c949ffcf75ef", /* moves */
	};
	static const char *const straight[] = {
		"90", "4801d8", "66051234", "480fafc3", "488d0440488d0c49", "c5fc58c1c5fc59d3",
	};
	struct tact_simulator *simulator;
	struct tact_simulation result = TACT_SIMULATION_INIT;

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++)
		for (size_t i = 0; i < 14; i++) {
			const char *hex = i < 8 ? loops[i] : straight[i - 8];
			struct tact_block *block =
				load(archs[a], i < 8 ? TACT_MODE_LOOP : TACT_MODE_UNROLL, hex);
			double cycles = throughput(block, 1000);

			assert_int_equal(tact_simulate(simulator, block, NULL, &result), 0);
			if (fabs(cycles - result.cycles_per_iteration) >
			    0.03 * result.cycles_per_iteration)
				fail_msg("%s %s: %.3f as a stream, %.3f in its steady state",
					 archs[a], hex, cycles, result.cycles_per_iteration);
			tact_block_destroy(block);
		}
	tact_simulator_destroy(simulator);
}

/* Names of a stack of registers turn in a stream, too. */
TEST(a_stack_of_registers_is_followed)
{
	static const char *const archs[] = {"SKL", "GLC", "ZEN3"};
	static const char *const loops[] = {
		"d8c249ffcf75f9",	  /* fadd st, st(2) */
		"d8c2d9c949ffcf75f7",	  /* fadd st, st(2); fxch st(1): two chains in turn */
		"d9c0d8c9ddda49ffcf75f5", /* fld st(0); fmul st, st(1); fstp st(2): no chain */
		"d9e8dec149ffcf75f7",	  /* fld1; faddp st(1), st */
	};
	struct tact_simulator *simulator;
	struct tact_simulation result = TACT_SIMULATION_INIT;

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++)
		for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
			struct tact_block *block = load(archs[a], TACT_MODE_LOOP, loops[i]);
			double cycles = throughput(block, 1000);

			assert_int_equal(tact_simulate(simulator, block, NULL, &result), 0);
			if (fabs(cycles - result.cycles_per_iteration) >
			    0.05 * result.cycles_per_iteration)
				fail_msg("%s %s: %.3f as a stream, %.3f in its steady state",
					 archs[a], loops[i], cycles, result.cycles_per_iteration);
			tact_block_destroy(block);
		}
	tact_simulator_destroy(simulator);
}

/* mov [rdi], rax in one block, mov rax, [rsi] in another: a chain if the addresses meet. */
static double store_and_load(uint64_t store, uint64_t load_from, unsigned size)
{
	struct tact_block *first = load("SKL", TACT_MODE_UNROLL, "488907");
	struct tact_block *second = load("SKL", TACT_MODE_UNROLL, "488b06");
	struct tact_stream_access out = {.address = store, .size = 8, .is_store = true};
	struct tact_stream_access in = {.address = load_from, .size = (uint16_t)size};
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream *stream;
	uint32_t a, b;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_add(stream, first, &a), 0);
	assert_int_equal(tact_stream_add(stream, second, &b), 0);
	for (unsigned i = 0; i < 2000; i++) {
		assert_int_equal(tact_stream_feed(stream, a, 0x1000, &out, 1), 0);
		assert_int_equal(tact_stream_feed(stream, b, 0x1003, &in, 1), 0);
	}
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
	assert_int_equal(totals.instructions, 4000);
	assert_int_equal(totals.blocks_retired, 4000);
	tact_stream_destroy(stream);
	tact_block_destroy(first);
	tact_block_destroy(second);
	return (double)totals.cycles / 2000;
}

TEST(takes_real_addresses)
{
	assert_true(store_and_load(0x7000, 0x7000, 8) > 3.9); /* store-to-load forwarding */
	assert_true(store_and_load(0x7000, 0x6ff9, 8) > 3.9); /* overlaps */
	assert_true(store_and_load(0x7000, 0x8000, 8) < 1.3); /* elsewhere */
	assert_true(store_and_load(0x7000, 0x7008, 8) < 1.3); /* directly after it */
	assert_true(store_and_load(UINT64_MAX - 3, 0, 8) <
		    1.3); /* at the end of the address space */
}

/* x[i + by] = x[i] + 1, as a loop. */
static double recurrence(unsigned by)
{
	struct tact_block *block =
		load("ZEN4", TACT_MODE_LOOP, "488b084883c101488948084883c00849ffcf75ec");
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream *stream;
	uint32_t number;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &number), 0);
	for (unsigned i = 0; i < 2000; i++) {
		const struct tact_stream_access accesses[2] = {
			{.address = 0x7000 + 8 * i, .insn = 0, .size = 8},
			{.address = 0x7000 + 8 * (i + by), .insn = 2, .size = 8, .is_store = true}};

		assert_int_equal(tact_stream_feed(stream, number, 0x1000, accesses, 2), 0);
	}
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
	tact_stream_destroy(stream);
	tact_block_destroy(block);
	return (double)totals.cycles / 2000;
}

/* Zen 4 knows which instruction stored what a load takes, and takes what it stored last; measured
 * are 1.0, 3.6 and 1.4 cycles.
 */
TEST(renames_what_was_stored_last)
{
	assert_true(recurrence(1) < 1.2);
	assert_true(recurrence(2) > 3.3 && recurrence(2) < 4.1);
	assert_true(recurrence(8) < 1.6);
}

/* The clock has 32 bits: moved back in the middle of everything, it changes nothing. */
TEST(goes_on_when_the_clock_is_moved_back)
{
	struct tact_block *block = load("HSW", TACT_MODE_LOOP, "488b004801d831d2f7f149ffcf75f0");
	struct sim_program program = {.n_insns = 0};
	uint64_t cycles[2];

	assert_int_equal(sim_program_build(&program, block, true), 0);
	for (unsigned run = 0; run < 2; run++) {
		struct sim_state *s = calloc(1, sizeof(*s));
		struct sim_stream *t = calloc(1, sizeof(*t));
		struct sim_stats *stats = calloc(program.n_insns, sizeof(*stats));
		struct sim_feed feed = {
			.program = &program, .stats = stats, .source = BLOCK_FROM_DSB};
		uint64_t before = 0;

		assert_true(s && t && stats);
		sim_stream_init(s, t, tact_arch_find("HSW"));
		for (unsigned i = 0; i < 1000; i++) {
			while (!sim_stream_has_room(s)) {
				if (run && s->clock > 2 * SIM_CALENDAR) {
					sim_stream_rebase(s, 2 * SIM_CALENDAR);
					before += 2 * SIM_CALENDAR;
				}
				sim_cycle(s);
			}
			sim_stream_feed(t, &feed);
		}
		t->is_closed = true;
		while (!sim_stream_is_empty(s))
			sim_cycle(s);
		if (run)
			assert_true(before > 0);
		cycles[run] = before + (uint64_t)s->clock;
		free(t->accesses);
		free(t);
		free(s);
		free(stats);
	}
	assert_int_equal(cycles[0], cycles[1]);
	sim_program_fini(&program);
	tact_block_destroy(block);
}

TEST(counts_what_instructions_do)
{
	struct tact_block *block = load("SKL", TACT_MODE_LOOP, "480fafc349ffcf75f7");
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	struct tact_stream *stream;
	uint64_t executions;
	uint32_t number;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &number), 0);
	for (unsigned i = 0; i < 500; i++)
		assert_int_equal(tact_stream_feed(stream, number, 0x40, NULL, 0), 0);
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_insn(stream, number, 0, &insn, &executions), 0);
	assert_int_equal(executions, 500);
	assert_true(insn.port[1] == 500); /* imul runs on port 1 */
	assert_true(insn.wait_operand > 500);
	assert_int_equal(tact_stream_get_insn(stream, number, 2, &insn, &executions), 0);
	assert_true(insn.port[6] == 0); /* jnz: the first of the pair has it */
	assert_int_equal(tact_stream_get_insn(stream, number, 3, &insn, &executions),
			 -TACT_E_INVAL);
	tact_stream_destroy(stream);
	tact_block_destroy(block);
}

static int stop_after(void *arg, const struct tact_sim_uop *uop)
{
	(void)uop;
	return --*(int *)arg <= 0;
}

/* A sink that has seen enough is not called again; the stream is what it is without one. */
TEST(a_sink_changes_nothing)
{
	struct tact_block *block = load("SKL", TACT_MODE_LOOP, "480fafc349ffcf75f7");
	struct tact_stream_totals totals[2] = {TACT_STREAM_TOTALS_INIT, TACT_STREAM_TOTALS_INIT};
	struct tact_sim_insn insn[2] = {TACT_SIM_INSN_INIT, TACT_SIM_INSN_INIT};

	for (unsigned k = 0; k < 2; k++) {
		struct tact_stream *stream;
		uint64_t executions;
		uint32_t number;
		int left = 10;

		assert_int_equal(tact_stream_create(&stream, NULL), 0);
		assert_int_equal(tact_stream_add(stream, block, &number), 0);
		if (k)
			assert_int_equal(tact_stream_watch(stream, stop_after, &left), 0);
		for (unsigned i = 0; i < 500; i++)
			assert_int_equal(tact_stream_feed(stream, number, 0x40, NULL, 0), 0);
		assert_int_equal(tact_stream_drain(stream), 0);
		assert_int_equal(left, k ? 0 : 10);
		assert_int_equal(tact_stream_get_totals(stream, &totals[k]), 0);
		assert_int_equal(tact_stream_get_insn(stream, number, 0, &insn[k], &executions), 0);
		tact_stream_destroy(stream);
	}
	assert_memory_equal(&totals[0], &totals[1], sizeof(totals[0]));
	assert_memory_equal(&insn[0], &insn[1], sizeof(insn[0]));
	tact_block_destroy(block);
}

/* Feeds n blocks of a jump each, `step` bytes apart, from the beginning again after `most` of them; the
 * last one of each `period` as `special` says.  Returns cycles.
 */
static double jumps(const struct tact_stream_execution *special, unsigned period, uint64_t step,
		    unsigned most, unsigned n)
{
	struct tact_block *block = load("ZEN3", TACT_MODE_UNROLL, "4801d8eb3b");
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream *stream;
	uint32_t number;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &number), 0);
	for (unsigned i = 0; i < n; i++) {
		struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;

		if (i % period == period - 1)
			x = *special;
		x.number = number;
		x.address = 0x10000 + i % most * step;
		x.was_executed = true;
		assert_int_equal(tact_stream_execute(stream, &x), 0);
	}
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
	tact_stream_destroy(stream);
	tact_block_destroy(block);
	return (double)totals.cycles;
}

/* One line apart, every eighth as `special` says. */
static double line_by_line(const struct tact_stream_execution *special, unsigned n)
{
	return jumps(special, 8, 64, 64, n);
}

/* Fetch that runs ahead hides what it waits for, unless it comes late itself. */
TEST(code_is_fetched_ahead)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params;
	enum { N = 8000, SPECIAL = N / 8 };
	struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;
	double plain = line_by_line(&x, N), decoded, wrong;

	assert_true(plain < 1.1 * N);
	x.fetch_delay = 4; /* less than the eight blocks take */
	assert_true(fabs(line_by_line(&x, N) - plain) < 0.02 * plain);
	x.fetch_delay = 20; /* as much as the eight blocks, and more */
	assert_true(fabs(line_by_line(&x, N) - 20.0 * SPECIAL) < 0.1 * 20 * SPECIAL);
	x.fetch_delay = 4;
	x.is_redirected = true;
	assert_true(line_by_line(&x, N) - plain > 3.5 * SPECIAL);
	/* from the second level: nearly hidden, or in full after a misprediction */
	x = (struct tact_stream_execution)TACT_STREAM_EXECUTION_INIT;
	x.is_decoded = true;
	decoded = line_by_line(&x, N);
	x.code_lines = 1;
	assert_true(fabs(line_by_line(&x, N) - decoded) < 0.02 * decoded);
	x.code_lines = 2;
	assert_true(line_by_line(&x, N) < decoded + p->code_l3 * SPECIAL / 2);
	x.code_lines = 0;
	x.is_mispredicted = true;
	wrong = line_by_line(&x, N);
	x.code_lines = 1;
	assert_true(fabs(line_by_line(&x, N) - wrong - p->code_l2 * SPECIAL) < 2 * SPECIAL);
	x.code_lines = 2;
	assert_true(fabs(line_by_line(&x, N) - wrong - p->code_l3 * SPECIAL) < 2 * SPECIAL);
}

/* Lines of code come at the rate of their level, those that follow each other faster. */
TEST(lines_of_code_take_their_time)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params;
	struct tact_block *block = load("ZEN3", TACT_MODE_UNROLL, "4801d8eb3b");
	const struct {
		uint64_t lines, step;
		int expected;
	} cases[] = {{1, 64, p->code_l2_next},
		     {2, 64, p->code_l3_next},
		     {2, 320, p->code_l3_line},
		     {3, 320, p->code_memory_line}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
		struct tact_stream *stream;
		uint32_t number;

		assert_int_equal(tact_stream_create(&stream, NULL), 0);
		assert_int_equal(tact_stream_add(stream, block, &number), 0);
		for (unsigned k = 0; k < 4000; k++) {
			struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;

			x.number = number;
			x.address = 0x10000 + k * cases[i].step;
			x.is_decoded = true;
			x.code_lines = cases[i].lines;
			assert_int_equal(tact_stream_execute(stream, &x), 0);
		}
		assert_int_equal(tact_stream_drain(stream), 0);
		assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
		assert_true(fabs((double)totals.cycles - 40.0 * cases[i].expected) <
			    0.03 * 40 * cases[i].expected);
		tact_stream_destroy(stream);
	}
	tact_block_destroy(block);
}

/* Blocks `step` bytes apart, of lines from `level`: the decoders find them, or, if `is_wrong`, only
 * execution does.  Returns cycles.
 */
static double found_late(uint64_t step, uint64_t level, bool is_wrong, unsigned n)
{
	const struct tact_stream_execution x = {.size = sizeof(x),
						.is_decoded = true,
						.is_redirected = !is_wrong,
						.is_mispredicted = is_wrong,
						.fetch_delay = is_wrong ? 0 : 8,
						.code_lines = level};

	return jumps(&x, 1, step, UINT_MAX, n);
}

/* Fetch goes straight on until a jump is found: the next line is then there, another is not. */
TEST(the_next_line_comes_by_itself)
{
	const struct arch_params *p = &tact_arch_find("ZEN3")->params;
	enum { N = 1000 };
	const double there = found_late(64, 0, false, N), wrong = found_late(64, 0, true, N);

	assert_true(fabs(found_late(64, 1, false, N) - there) < 0.05 * there);
	assert_true(fabs(found_late(320, 1, false, N) - there - p->code_l2 * N) < 0.05 * there);
	/* on the wrong path it went elsewhere */
	assert_true(fabs(found_late(64, 1, true, N) - wrong - p->code_l2 * N) < 0.05 * wrong);
}

/* A comparison at the end of a block could be fused with the jump that the next one begins with, but
 * that is only found when the comparison has been decoded.
 */
TEST(nobody_waits_for_what_waits_for_him)
{
	for (unsigned is_wrong = 0; is_wrong < 2; is_wrong++) {
		struct tact_block *compare = load("GLC", TACT_MODE_UNROLL, "4839d8"),
				  *jump = load("GLC", TACT_MODE_UNROLL, "74fb");
		struct tact_stream *stream;
		uint32_t first, second;

		assert_int_equal(tact_stream_create(&stream, NULL), 0);
		assert_int_equal(tact_stream_add(stream, compare, &first), 0);
		assert_int_equal(tact_stream_add(stream, jump, &second), 0);
		for (unsigned i = 0; i < 200; i++) {
			struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;

			x.is_decoded = true;
			x.number = first;
			x.address = 0x1000;
			assert_int_equal(tact_stream_execute(stream, &x), 0);
			x.number = second;
			x.address = 0x1003;
			x.is_redirected = !is_wrong;
			x.is_mispredicted = is_wrong;
			assert_int_equal(tact_stream_execute(stream, &x), 0);
		}
		assert_int_equal(tact_stream_drain(stream), 0);
		tact_stream_destroy(stream);
		tact_block_destroy(compare);
		tact_block_destroy(jump);
	}
}

/* Three multiplications, and a jump that is always mispredicted.  Returns cycles for each. */
static double jump_mispredicted(const char *hex)
{
	enum { N = 400 };
	struct tact_block *block = load("ZEN4", TACT_MODE_UNROLL, hex);
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;
	struct tact_stream *stream;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &x.number), 0);
	x.address = 0x1000;
	x.is_mispredicted = true;
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(tact_stream_execute(stream, &x), 0);
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
	tact_stream_destroy(stream);
	tact_block_destroy(block);
	return (double)totals.cycles / N;
}

/* A jump makes nothing, and waits for the register that says where it goes. */
TEST(an_indirect_jump_waits_for_its_register)
{
	const double other = jump_mispredicted("480fafd2480fafd2480fafd2ffe3"), /* jmp rbx */
		own = jump_mispredicted("480fafd2480fafd2480fafd2ffe2");	/* jmp rdx */

	assert_true(fabs(own - other - 9) < 1);
}

TEST(refuses_bad_input)
{
	struct tact_block *skl = load("SKL", TACT_MODE_UNROLL, "488907488b06");
	struct tact_block *hsw = load("HSW", TACT_MODE_UNROLL, "90");
	struct tact_stream_access twice[2] = {{.address = 8, .insn = 1, .size = 8},
					      {.address = 8, .insn = 0, .size = 8}};
	struct tact_stream_access huge = {
		.address = UINT64_MAX, .insn = 0, .size = UINT16_MAX, .is_store = true};
	struct tact_stream *stream;
	uint32_t number;

	assert_int_equal(tact_stream_create(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_feed(stream, 0, 0, NULL, 0), -TACT_E_INVAL);
	assert_int_equal(tact_stream_add(stream, skl, &number), 0);
	assert_int_equal(tact_stream_add(stream, hsw, &number), -TACT_E_INVAL);
	assert_int_equal(tact_stream_feed(stream, 1, 0, NULL, 0), -TACT_E_INVAL);
	assert_int_equal(tact_stream_feed(stream, 0, 0, twice, 2), -TACT_E_INVAL);
	twice[0].insn = 2;
	assert_int_equal(tact_stream_feed(stream, 0, 0, twice, 1), -TACT_E_INVAL);
	assert_int_equal(tact_stream_feed(stream, 0, UINT64_MAX, &huge, 1), 0);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(tact_stream_feed(stream, 0, UINT64_MAX - i, &huge, 1), 0);
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_drain(stream), 0);
	tact_stream_destroy(stream);
	tact_stream_destroy(NULL);
	tact_block_destroy(skl);
	tact_block_destroy(hsw);
}

RUN_TESTS(NULL, NULL)
