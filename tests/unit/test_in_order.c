/* SPDX-License-Identifier: MIT
 *
 * Issue in order: known blocks, the same cycles as the machine of llvm-mca, bounds, records of uops,
 * streams with loads that miss.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <tact/tact.h>

#include "llvm_module.h"
#include "support.h"

/* AArch64, in hex. */
#define ADD_CHAIN    "e700028b" /* add x7, x7, x2 */
#define ADD_LOADED   "e700028b" /* the same, after a load of x2 */
#define ADD_FREE     "6300048b" /* add x3, x3, x4 */
#define MUL_CHAIN    "007c019b" /* mul x0, x0, x1 */
#define SDIV	     "620cc49a" /* sdiv x2, x3, x4: its unit is taken for 8 cycles */
#define FDIV	     "2018621e" /* fdiv d0, d1, d2: retires early */
#define LOAD	     "220040f9" /* ldr x2, [x1] */
#define LOAD_CHAIN   "210040f9" /* ldr x1, [x1] */
#define STORE	     "250000f9" /* str x5, [x1] */
#define POST_INDEXED "268440f8" /* ldr x6, [x1], #8 */
#define FOUR_VECTORS "0008404c" /* ld4 {v0.4s-v3.4s}, [x0] */
#define BARRIER	     "bf3b03d5" /* dmb ish */

static struct tact_block *load(const char *cpu, const char *hex)
{
	struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_block *block;
	uint8_t code[512];
	const size_t n = bytes_of(code, sizeof(code), hex);

	assert_non_null(tact_arch_find(cpu));
	assert_int_equal(tact_block_create(&block, tact_arch_find(cpu), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, n, NULL), 0);
	return block;
}

static struct tact_simulation simulate(struct tact_block *block, const struct tact_sim_options *opt)
{
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_simulator *simulator;

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	assert_int_equal(tact_simulate(simulator, block, opt, &s), 0);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (s.bounds->applies >> b & 1)
			assert_true(s.cycles_per_iteration >= s.bounds->bound[b] - 1e-9);
	tact_simulator_destroy(simulator);
	s.bounds = NULL;
	return s;
}

static double simulated(const char *cpu, const char *hex)
{
	struct tact_block *block = load(cpu, hex);
	const struct tact_simulation s = simulate(block, NULL);

	tact_block_destroy(block);
	return s.cycles_per_iteration;
}

/* By hand, from LLVM 22's models; the comments say what limits them. */
static void known_blocks(void **state)
{
	static const struct {
		const char *cpu, *hex;
		double cycles;
	} known[] = {
		{"cortex-a55", ADD_FREE "8400058b", 1},	     /* two ALUs, two chains */
		{"cortex-a55", "2000028b", 0.5},	     /* add x0, x1, x2: the width */
		{"cortex-a55", MUL_CHAIN, 3},		     /* latency 4, read-advance 1 */
		{"cortex-a55", SDIV, 8},		     /* a unit that is not pipelined */
		{"cortex-a55", LOAD_CHAIN, 3},		     /* latency */
		{"cortex-a55", LOAD, 1},		     /* the unit */
		{"cortex-a55", FOUR_VECTORS, 8},	     /* a unit for eight cycles */
		{"cortex-a55", POST_INDEXED, 3},	     /* the pointer as the data */
		{"cortex-a55", LOAD ADD_LOADED, 3},	     /* no overlap of iterations: */
		{"cortex-a55", LOAD ADD_LOADED ADD_FREE, 4}, /* what waits holds the next load */
		{"cortex-a55", LOAD ADD_FREE ADD_LOADED, 3},
		{"cortex-a55", FDIV MUL_CHAIN, 19}, /* which goes by */
		{"cortex-a55", STORE LOAD, 1},	    /* the store does not hold the load */
		{"cortex-a55", BARRIER LOAD, 2},    /* the barrier does */
		{"sifive-u74", "33850002", 1},	    /* mul a0, t0, zero: one unit */
		{"sifive-u74", "05050505", 2},	    /* addi a0, a0, 1, twice */
	};

	(void)state;
	need_llvm();
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const double cycles = simulated(known[i].cpu, known[i].hex);

		if (fabs(cycles - known[i].cycles) > 1e-9)
			print_error("%s %s: %g, not %g\n", known[i].cpu, known[i].hex, cycles,
				    known[i].cycles);
		assert_true(fabs(cycles - known[i].cycles) <= 1e-9);
	}
}

/* Cycles an iteration of the machine of llvm-mca, without its start and end. */
static double paced(struct tact_block *block)
{
	struct tact_mca_options opt = {.size = sizeof(opt), .iterations = 100};
	struct tact_mca_result r[2] = {TACT_MCA_RESULT_INIT, TACT_MCA_RESULT_INIT};

	for (unsigned i = 0; i < 2; i++, opt.iterations *= 2) {
		struct tact_mca *machine;

		assert_int_equal(tact_mca_create(&machine, &opt, NULL), 0);
		assert_int_equal(tact_mca_estimate(machine, block, &r[i]), 0);
		tact_mca_destroy(machine);
	}
	return 2 * r[1].cycles_per_iteration - r[0].cycles_per_iteration;
}

/* Any sequence without stores, which loads do not meet there, takes as long as on the machine of
 * llvm-mca, which has code of its own.
 */
static void agrees_with_llvm_mca(void **state)
{
	static const char *const words[] = {
		ADD_CHAIN,  ADD_FREE,	  MUL_CHAIN,	SDIV,	 FDIV,	     LOAD,
		LOAD_CHAIN, POST_INDEXED, FOUR_VECTORS, BARRIER, "0028611e", /* fadd d0, d0, d1 */
		"4104231e", /* fccmp s2, s3, #1, eq */
		"3f0002eb", /* cmp x1, x2 */
		"6304849a", /* csinc x3, x3, x4, eq */
		"250c40a9", /* ldp x5, x3, [x1] */
	};
	struct rng rng = {12345};

	(void)state;
	need_llvm();
	for (unsigned i = 0; i < 400; i++) {
		char hex[16 * 8 + 1] = "";
		struct tact_block *block;
		struct tact_simulation s;
		double expected;

		for (unsigned n = 1 + rng_below(&rng, 15); n; n--)
			strcat(hex, words[rng_below(&rng, ARRAY_SIZE(words))]);
		block = load("cortex-a55", hex);
		s = simulate(block, NULL);
		expected = paced(block);
		if (fabs(s.cycles_per_iteration - expected) > 0.01 * expected + 0.02)
			print_error("%s: %g, not %g\n", hex, s.cycles_per_iteration, expected);
		assert_true(fabs(s.cycles_per_iteration - expected) <= 0.01 * expected + 0.02);
		tact_block_destroy(block);
	}
}

/* One unit that loads and stores: its chain through memory counts, in order and out of order. */
static void atomic_chains_count(void **state)
{
	(void)state;
	need_llvm();
	/* amoadd.d.aq zero, s3, (a5) */
	assert_true(simulated("sifive-p670", "2fb03705") >= 5 - 1e-9);
	assert_true(simulated("sifive-u74", "2fb03705") >= 3 - 1e-9);
	/* with amoadd.d s3, s3, (a5): the register, too */
	assert_true(simulated("sifive-p670", "afb93701") >= 3 - 1e-9);
	/* a pace that a queue makes look faster than a unit allows */
	assert_true(simulated("sifive-p670", "2683e2890274626ca264066926666374d304") >= 2.5 - 1e-9);
}

/* ---- records ---- */

struct seen {
	unsigned n, waits[TACT_N_WAITS];
	int64_t dispatched;
};

static int see(void *arg, const struct tact_sim_uop *u)
{
	struct seen *seen = arg;

	assert_true(u->delivered <= u->issued && u->issued <= u->ready);
	assert_true(u->ready <= u->dispatched && u->dispatched <= u->executed);
	assert_true(u->executed < u->retired);
	assert_true(u->dispatched >= seen->dispatched); /* in order */
	assert_int_equal(u->operand_wait != TACT_WAIT_NONE, u->ready > u->issued);
	assert_int_equal(u->port_wait != TACT_WAIT_NONE, u->dispatched > u->ready);
	if (u->operand_wait)
		assert_true(u->wait_insn < 4);
	seen->dispatched = u->dispatched;
	seen->waits[u->operand_wait]++;
	seen->waits[u->port_wait]++;
	return ++seen->n == 4000;
}

/* A store is issued two cycles before its data come; a load that meets it takes them when they are there. */
static void stored_data_come_when_they_are_made(void **state)
{
	struct tact_block *block;

	(void)state;
	need_llvm();
	/* ld a0, 0(a2); ld a1, 24(a2); addi t2, a1, -6; sd a0, 0(t2), after an atomic maximum at (t0) */
	block = load("sifive-u74", "afa3b2e4"
				   "03350600"
				   "83358601"
				   "9383a5ff"
				   "23b0a300");
	assert_true(fabs(simulate(block, NULL).cycles_per_iteration - 9) < 1e-9);
	tact_block_destroy(block);
}

static void records_say_why(void **state)
{
	static const struct {
		const char *cpu, *hex;
		enum tact_wait wait;
	} cases[] = {
		{"cortex-a55", MUL_CHAIN, TACT_WAIT_OPERAND},
		{"cortex-a55", SDIV, TACT_WAIT_PORT},
		{"cortex-a55", MUL_CHAIN ADD_FREE, TACT_WAIT_ORDER},
		{"cortex-a55", BARRIER LOAD, TACT_WAIT_ORDER},
		{"llvm:atom", "0faef0488b03", TACT_WAIT_SERIALIZE}, /* mfence; mov rax, [rbx] */
	};

	(void)state;
	need_llvm();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_block *block = load(cases[i].cpu, cases[i].hex);
		struct seen seen = {0};
		struct tact_sim_options opt = {
			.size = sizeof(opt), .min_iterations = 500, .on_uop = see, .arg = &seen};

		simulate(block, &opt);
		assert_true(seen.n >= 500);
		assert_true(seen.waits[cases[i].wait] >= 100);
		tact_block_destroy(block);
	}
	assert_string_equal(tact_wait_name(TACT_WAIT_ORDER), "order");
}

/* ---- streams ---- */

/* Cycles a block of a stream, whose loads take `extra` cycles longer; adds up stalls. */
static double streamed(const char *cpu, const char *hex, unsigned extra, uint64_t *stalls)
{
	enum { N = 2000 };
	struct tact_stream_access access = {
		.address = 0x10000, .size = 8, .extra = (uint16_t)extra};
	struct tact_stream_totals totals[2] = {TACT_STREAM_TOTALS_INIT, TACT_STREAM_TOTALS_INIT};
	struct tact_stream_block counts = TACT_STREAM_BLOCK_INIT;
	struct tact_block *block = load(cpu, hex);
	struct tact_stream *stream;
	uint32_t number;

	assert_int_equal(tact_stream_create(&stream, NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &number), 0);
	for (unsigned half = 0; half < 2; half++) {
		for (unsigned i = 0; i < N; i++)
			assert_int_equal(tact_stream_feed(stream, number, 0x4000,
							  extra ? &access : NULL, extra != 0),
					 0);
		assert_int_equal(tact_stream_get_totals(stream, &totals[half]), 0);
	}
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_block(stream, number, &counts), 0);
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		stalls[i] = counts.stalls[i];
	tact_stream_destroy(stream);
	tact_block_destroy(block);
	return (double)(totals[1].cycles - totals[0].cycles) /
	       (double)(totals[1].blocks_retired - totals[0].blocks_retired);
}

static void streams_have_the_same_pace(void **state)
{
	static const char *const blocks[] = {
		ADD_FREE,	MUL_CHAIN,   SDIV, LOAD ADD_LOADED, POST_INDEXED ADD_FREE,
		FDIV MUL_CHAIN, BARRIER LOAD};
	uint64_t stalls[TACT_N_STALLS];

	(void)state;
	need_llvm();
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		const double steady = simulated("cortex-a55", blocks[i]);

		assert_true(fabs(streamed("cortex-a55", blocks[i], 0, stalls) - steady) <=
			    0.02 * steady);
	}
}

/* A load that misses holds what needs its data, and nothing else. */
static void misses_hold_users(void **state)
{
	uint64_t stalls[TACT_N_STALLS];

	(void)state;
	need_llvm();
	assert_true(streamed("cortex-a55", LOAD ADD_FREE, 100, stalls) < 4);
	assert_true(stalls[TACT_STALL_LOADS] < 2000);
	assert_true(streamed("cortex-a55", LOAD ADD_LOADED, 100, stalls) > 100);
	assert_true(stalls[TACT_STALL_LOADS] > 95 * 4000);
	assert_true(streamed("cortex-a55", SDIV, 0, stalls) > 7);
	assert_true(stalls[TACT_STALL_PORTS] > 6 * 4000);
	assert_true(streamed("cortex-a55", MUL_CHAIN, 0, stalls) > 2);
	assert_true(stalls[TACT_STALL_OPERANDS] > 4000);
}

/* ---- parameters ---- */

static void only_llvm_says_what_is_needed(void **state)
{
	struct tact_arch *arch;
	struct tact_diag diag;

	(void)state;
	assert_int_equal(tact_arch_copy(&arch, tact_arch_find("SKL")), 0);
	assert_int_equal(tact_arch_set_param(arch, "in_order", "1", &diag), -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "LLVM"));
	assert_int_equal(tact_arch_set_param(arch, "in_order", "0", &diag), 0);
	tact_arch_destroy(arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_blocks),
		cmocka_unit_test(agrees_with_llvm_mca),
		cmocka_unit_test(atomic_chains_count),
		cmocka_unit_test(stored_data_come_when_they_are_made),
		cmocka_unit_test(records_say_why),
		cmocka_unit_test(streams_have_the_same_pace),
		cmocka_unit_test(misses_hold_users),
		cmocka_unit_test(only_llvm_says_what_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
