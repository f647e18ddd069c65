/* SPDX-License-Identifier: MIT
 *
 * The pipeline: known blocks, properties over many, records of uops.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/tact.h>

#include "base/base.h"
#include "support.h"

static int open_models(void **state)
{
	static struct models models;

	models_open(&models);
	*state = &models;
	return 0;
}

static int close_models(void **state)
{
	models_close(*state);
	return 0;
}

static void load(struct models *f, const char *arch, enum tact_mode mode, const char *hex)
{
	struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	uint8_t code[4096];
	size_t bad;
	long n = tact_hex_decode(code, hex, strlen(hex), &bad);

	assert_true(n > 0);
	assert_int_equal(tact_block_rebind(f->block, tact_arch_find(arch), &opt), 0);
	assert_int_equal(tact_block_load(f->block, code, (size_t)n, NULL), 0);
}

/* Hand-computed, or measured on the core: within 2%. */
TEST_WITH(known_blocks, open_models, close_models)
{
	static const struct {
		const char *arch;
		enum tact_mode mode;
		const char *hex;
		double cycles;
	} known[] = {
		{"SKL", TACT_MODE_UNROLL, "4801d8", 1.0},   /* add rax, rbx: a chain */
		{"SKL", TACT_MODE_UNROLL, "480fafc3", 3.0}, /* imul rax, rbx */
		{"SKL", TACT_MODE_UNROLL, "90", 0.25},	    /* nop: four decoders */
		{"SKL", TACT_MODE_UNROLL, "488b00", 4.0}, /* mov rax, [rax]: fast pointer chasing */
		{"ICX", TACT_MODE_UNROLL, "488b00", 5.0}, /* the same without */
		{"SKL", TACT_MODE_UNROLL, "01442410",
		 5.0}, /* add [rsp+16], eax: forwarding 4, add 1 */
		{"HSW", TACT_MODE_UNROLL, "01442410", 6.0}, /* BHive: 5.97 */
		{"SKL", TACT_MODE_UNROLL, "66051234",
		 3.25}, /* add ax, imm16: a length-changing prefix */
		{"SKL", TACT_MODE_UNROLL, "f20f58c1", 4.0},	    /* addsd xmm0, xmm1 */
		{"SKL", TACT_MODE_UNROLL, "0faee8", 4.0},	    /* lfence: Agner Fog, tables */
		{"ICX", TACT_MODE_LOOP, "4883c20149ffcf75f7", 1.0}, /* add rdx, 1 in a loop */
		{"ICX", TACT_MODE_LOOP, "90909090909090909049ffcf75f2",
		 2.0}, /* nine nops: measured */
		{"ICX", TACT_MODE_UNROLL, "488904244889442440",
		 2.0}, /* stores to two lines in turn */
		/* lines A, B, A: the last one leaves together with the first of the next iteration
		 */
		{"ICX", TACT_MODE_UNROLL, "48890424488944244048890424", 2.0},
		/* and dh, 127; cmp edx, 32: a uop that issues alone joins dh with edx; BHive: 2.01
		 */
		{"HSW", TACT_MODE_UNROLL, "410fb7571280e67f83fa20", 2.0},
		{"ICX", TACT_MODE_UNROLL, "410fb7571280e67f83fa20", 0.75}, /* dh is not separate */
		/* four chains of one cycle and the counter; measured on Zen 4: 1.25 */
		{"ZEN4", TACT_MODE_LOOP, "4801f04801f34801f14801f249ffcf75ef", 1.25},
		/* add rbx, [rsi+rax] with rax from an array; measured on Zen 3: 1.05 */
		{"ZEN3", TACT_MODE_LOOP, "8b0748031c064883c7044c39c775f1", 1.0},
		{"IVB", TACT_MODE_UNROLL, "c5f928d8",
		 0.75}, /* vmovapd: one a cycle is eliminated */
		/* push rbp; mov rbp, rsp; push rbx; ... sub rsp, 24: two uops of the stack engine
		   and sub */
		{"ICX", TACT_MODE_UNROLL, "554889e5534889fbbf030000004883ec18", 3.0},
		{"ICX", TACT_MODE_UNROLL, "4889c2488904244883c4105b", 2.0},
		/* shr rax, cl; and eax, 1: the register does not wait for the flags; measured 0.99
		 */
		{"ICX", TACT_MODE_UNROLL, "4889f048d3e883e001", 1.0},
		{"IVB", TACT_MODE_UNROLL, "c5fc1008c5fc105020", 2.0},	   /* two 256-bit loads */
		{"ICX", TACT_MODE_UNROLL, "489949f7fb4889c54889e8", 15.0}, /* cqo; idiv: measured */
		/* stores that do not hold what is loaded; BHive and measurements: 13.0, 17.0 */
		{"SKL", TACT_MODE_UNROLL, "8902488b3b83c001", 13.0},
		{"ICX", TACT_MODE_UNROLL, "c600014c8b20488d6810", 17.0},
		/* mov rbx, [rsp]; add [rbx], 1: the address is the same again; BHive: 6.00 */
		{"HSW", TACT_MODE_UNROLL, "488b1c2448830301", 6.0},
		/* Golden Cove, all measured: nops of four bytes, seven cycles for forty */
		{"GLC", TACT_MODE_UNROLL, "0f1f4000", 0.175},
		{"GLC", TACT_MODE_UNROLL, "48ffc0", 0.2}, /* inc rax needs no port, but a decoder */
		{"GLC", TACT_MODE_UNROLL, "488b06", 0.5}, /* one bank: two loads a cycle */
		{"GLC", TACT_MODE_UNROLL, "488b06488b5e08", 0.667}, /* two banks: three */
		{"GLC", TACT_MODE_UNROLL, "488b06488b5e40", 1.0},   /* the same one of two lines */
		{"GLC", TACT_MODE_UNROLL, "488b7f484883c710", 5.0}, /* a load, a folded constant */
		{"GLC", TACT_MODE_UNROLL, "4805e80300004805e8030000", 1.0}, /* two add rax, 1000 */
		{"GLC", TACT_MODE_UNROLL, "55554889e5", 1.0}, /* push, push, mov rbp, rsp */
		/* mov rdx, r15; xor rdx, 1; cmp rbx, [rax+rdx*8]: the third decodes on three */
		{"GLC", TACT_MODE_UNROLL, "4c89fa4883f201483b1cd0", 1.0},
		/* five and six chains of or */
		{"GLC", TACT_MODE_UNROLL, "4809f04809f34809f14809f24909f0", 1.18},
		{"GLC", TACT_MODE_UNROLL, "4809f04809f34809f14809f24909f04909f1", 1.5},
		{"GLC", TACT_MODE_LOOP, "909090909090909049ffcf75f3", 2.0},	/* eight nops */
		{"GLC", TACT_MODE_LOOP, "48890648830601488b0649ffcf75f1", 1.0}, /* renamed memory */
		{"GLC", TACT_MODE_UNROLL, "4889043e488b043e", 5.0},   /* not with an index */
		{"GLC", TACT_MODE_LOOP, "c602008b0249ffcf75f6", 1.0}, /* a byte, then 32 bits */
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct tact_simulation s = TACT_SIMULATION_INIT;

		load(*state, known[i].arch, known[i].mode, known[i].hex);
		assert_int_equal(tact_simulate(((struct models *)*state)->simulator,
					       ((struct models *)*state)->block, NULL, &s),
				 0);
		if (fabs(s.cycles_per_iteration - known[i].cycles) > 0.021 * known[i].cycles)
			fail_msg("%s on %s: %.4f instead of %.2f", known[i].hex, known[i].arch,
				 s.cycles_per_iteration, known[i].cycles);
	}
}

struct watcher {
	uint64_t seen, last_retired;
	unsigned faults;
};

static int watch(void *arg, const struct tact_sim_uop *u)
{
	struct watcher *w = arg;

	w->seen++;
	w->faults += u->issued < u->delivered || u->retired < u->issued || u->retired < u->executed;
	w->faults +=
		u->dispatched >= 0 && (u->dispatched < u->issued || u->executed < u->dispatched);
	w->faults += (uint64_t)u->retired < w->last_retired;
	w->last_retired = (uint64_t)u->retired;
	return 0;
}

static int stop_at_first(void *arg, const struct tact_sim_uop *u)
{
	(void)u;
	return ++*(int *)arg >= 5;
}

/* Uops retire in order, and nothing happens to one before what comes earlier in the pipeline. */
TEST_WITH(records_are_in_order, open_models, close_models)
{
	static const char *const blocks[] = {"4801d8480fafc388d8", "488b0348890348ffc3", "555bc9",
					     "48f7f1", "4883c20149ffcf75f7"};
	struct models *f = *state;
	int count = 0;
	struct tact_sim_options opt = {.size = sizeof(opt), .on_uop = stop_at_first, .arg = &count};
	struct tact_simulation s = TACT_SIMULATION_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));) {
			struct watcher w = {0, 0, 0};
			struct tact_sim_options o = {.size = sizeof(o),
						     .min_iterations = 20,
						     .on_uop = watch,
						     .arg = &w};

			load(f, tact_arch_name(a), TACT_MODE_AUTO, blocks[i]);
			assert_int_equal(tact_simulate(f->simulator, f->block, &o, &s), 0);
			assert_true(w.seen >= 20);
			assert_int_equal(w.faults, 0);
		}
	}
	tact_simulate(f->simulator, f->block, &opt, &s);
	assert_int_equal(count, 5);
}

/* The same block gives the same result, whatever was simulated in between, even with a watcher. */
TEST_WITH(is_deterministic, open_models, close_models)
{
	struct models *f = *state;
	struct watcher w = {0, 0, 0};
	struct tact_sim_options o = {.size = sizeof(o), .on_uop = watch, .arg = &w};
	struct tact_simulation a = TACT_SIMULATION_INIT, b = TACT_SIMULATION_INIT;

	load(f, "ICX", TACT_MODE_LOOP, "4883c2014883c60149ffcf75f3");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &a), 0);
	load(f, "HSW", TACT_MODE_UNROLL, "480fafc3488b00");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &b), 0);
	load(f, "ICX", TACT_MODE_LOOP, "4883c2014883c60149ffcf75f3");
	assert_int_equal(tact_simulate(f->simulator, f->block, &o, &b), 0);
	assert_memory_equal(&a.cycles_per_iteration, &b.cycles_per_iteration, sizeof(double));
	assert_int_equal(a.cycles, b.cycles);
}

TEST_WITH(ports_add_up, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	double alu = 0, loads = 0;

	load(f, "SKL", TACT_MODE_UNROLL, "488b034801d8"); /* mov rax, [rbx]; add rax, rbx */
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_int_equal(tact_simulated_insn(f->simulator, 0, &insn), 0);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		loads += insn.port[p];
	assert_int_equal(tact_simulated_insn(f->simulator, 1, &insn), 0);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		alu += insn.port[p];
	assert_true(fabs(loads - 1) < 1e-9 && fabs(alu - 1) < 1e-9);
	assert_int_equal(tact_simulated_insn(f->simulator, 2, &insn), -TACT_E_INVAL);
}

/* Where the state does not repeat, uops run ahead of the iterations that are counted: addresses
 * before data, and what waits for nothing before what waits for a chain.
 */
TEST_WITH(ports_add_up_without_a_repetition, open_models, close_models)
{
	/* movsd xmm1, [rdi+rax*8]; addsd xmm0, xmm1; divsd xmm3, xmm1; movsd [rdx+8], xmm0;
	 * imul r8, r9, 3; add rax, 1; jne
	 */
	static const char code[] = "f20f100cc7f20f58c1f20f5ed9f20f1142084d6bc1034883c00175e4";
	static const double uops[] = {1, 1, 1, 2, 1, 1};
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;

	load(f, "SKL", TACT_MODE_LOOP, code);
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_false(s.repeats);
	for (size_t i = 0; i < ARRAY_SIZE(uops); i++) {
		struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
		double executed = 0;

		assert_int_equal(tact_simulated_insn(f->simulator, i, &insn), 0);
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			executed += insn.port[p];
		assert_true(fabs(executed - uops[i]) < 1e-9);
		assert_true(i != 2 || fabs(insn.divider - 4) < 1e-9);
		assert_true(i != 3 || fabs(insn.port[4] - 1) < 1e-9); /* the data */
	}
}

/* ---- what each instruction spent ---- */

static double sum_of_spent(struct models *f)
{
	double sum = 0;

	for (size_t i = 0; i < tact_block_length(f->block); i++) {
		struct tact_sim_insn insn = TACT_SIM_INSN_INIT;

		assert_int_equal(tact_simulated_insn(f->simulator, i, &insn), 0);
		assert_true(insn.spent >= 0);
		sum += insn.spent;
	}
	return sum;
}

TEST_WITH(spent_adds_up, open_models, close_models)
{
	static const struct {
		const char *arch, *hex;
		enum tact_mode mode;
	} blocks[] = {
		{"SKL", "4801d8480fafc388d8", TACT_MODE_UNROLL},
		{"SKL", "4883c20149ffcf75f7", TACT_MODE_LOOP},	 /* a macro-fused pair */
		{"ICX", "488904244889442440", TACT_MODE_UNROLL}, /* the store buffer is the limit */
		{"HSW", "31d2f7f1488b0348890348ffc3", TACT_MODE_UNROLL},
		{"SKL", "0fa2", TACT_MODE_UNROLL}, /* cpuid: a long one of microcode */
	};
	struct models *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		struct tact_simulation s = TACT_SIMULATION_INIT;

		load(f, blocks[i].arch, blocks[i].mode, blocks[i].hex);
		assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
		if (fabs(sum_of_spent(f) - s.cycles_per_iteration) > 1e-9 * s.cycles_per_iteration)
			fail_msg("%s: %.4f of %.4f cycles", blocks[i].hex, sum_of_spent(f),
				 s.cycles_per_iteration);
	}
}

/* Whatever ends the search for the steady state, each instruction has its uops and its cycles. */
TEST_WITH(statistics_are_of_something, open_models, close_models)
{
	struct models *f = *state;
	struct rng rng = {11};

	for (unsigned n = 0; n < 2000; n++) {
		uint8_t code[12 * TACT_MAX_INSN_BYTES];
		size_t size = random_block(&rng, code, 12);
		struct tact_simulation s = TACT_SIMULATION_INIT;
		double executed = 0, cost_of_all = 0;

		assert_int_equal(tact_block_load(f->block, code, size, NULL), 0);
		if (tact_simulate(f->simulator, f->block, NULL, &s) < 0)
			continue;
		assert_true(fabs(sum_of_spent(f) - s.cycles_per_iteration) <=
			    1e-9 * s.cycles_per_iteration);
		for (size_t i = 0; i < tact_block_length(f->block); i++) {
			struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
			struct tact_insn_cost cost = {.size = sizeof(cost)};

			assert_int_equal(tact_simulated_insn(f->simulator, i, &insn), 0);
			assert_int_equal(tact_block_cost(f->block, i, &cost), 0);
			for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
				executed += insn.port[p];
				cost_of_all += cost.port[p];
			}
		}
		if (cost_of_all > 0)
			assert_true(executed > 0);
	}
}

/* imul rax, rbx; add rcx, rdx: the chain through imul is what everything waits for. */
TEST_WITH(spent_is_where_the_time_goes, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_sim_insn imul = TACT_SIM_INSN_INIT, jump = TACT_SIM_INSN_INIT;

	load(f, "SKL", TACT_MODE_LOOP, "480fafc34801d149ffcf75f4");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_int_equal(tact_simulated_insn(f->simulator, 0, &imul), 0);
	assert_int_equal(tact_simulated_insn(f->simulator, 3, &jump), 0);
	assert_true(imul.spent > 2.5);
	assert_true(jump.spent == 0); /* fused with dec */
}

/* ---- how long ---- */

static int count_iterations(void *arg, const struct tact_sim_uop *u)
{
	*(uint64_t *)arg = u->iteration + 1;
	return 0;
}

/* The default budget of cycles does not cut what was asked for, and the figure stays the same. */
TEST_WITH(min_iterations_are_simulated, open_models, close_models)
{
	static const char *const blocks[] = {"4801d8", "480fafc3", "31d2f7f1", "90"};
	struct models *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		uint64_t seen = 0;
		struct tact_sim_options opt = {.size = sizeof(opt),
					       .min_iterations = 5000,
					       .on_uop = count_iterations,
					       .arg = &seen};
		struct tact_simulation s = TACT_SIMULATION_INIT, plain = TACT_SIMULATION_INIT;

		load(f, "SKL", TACT_MODE_UNROLL, blocks[i]);
		assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &plain), 0);
		assert_int_equal(tact_simulate(f->simulator, f->block, &opt, &s), 0);
		assert_true(s.iterations >= 5000 && seen >= 5000);
		assert_true(s.cycles_per_iteration == plain.cycles_per_iteration);
		assert_int_equal(s.repeats, plain.repeats);
		assert_int_equal(s.period, plain.period);
		assert_true(fabs(sum_of_spent(f) - s.cycles_per_iteration) < 1e-9);
		opt.max_cycles = 2000; /* the caller's own budget does */
		assert_int_equal(tact_simulate(f->simulator, f->block, &opt, &s), 0);
		assert_true(s.cycles <= 2000);
		assert_true(s.cycles_per_iteration == plain.cycles_per_iteration);
	}
}

struct stopper {
	uint64_t at; /* iteration */
	uint64_t calls;
};

static int stop_at(void *arg, const struct tact_sim_uop *u)
{
	struct stopper *t = arg;

	t->calls++;
	return u->iteration >= t->at;
}

/* A sink that stops too early leaves no figure; one that stops later leaves the right one. */
TEST_WITH(a_stopped_run_has_no_figure, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation plain = TACT_SIMULATION_INIT;

	load(f, "SKL", TACT_MODE_UNROLL, "480fafc34801d8");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &plain), 0);
	assert_false(plain.stopped);
	for (uint64_t at = 0; at < 200; at++) {
		struct stopper t = {.at = at};
		struct tact_sim_options opt = {
			.size = sizeof(opt), .min_iterations = 1000, .on_uop = stop_at, .arg = &t};
		struct tact_simulation s = TACT_SIMULATION_INIT;
		struct tact_sim_insn insn = TACT_SIM_INSN_INIT;

		assert_int_equal(tact_simulate(f->simulator, f->block, &opt, &s), 0);
		assert_true(s.stopped);
		assert_true(t.calls <= 4 * (at + 1));
		if (at < 2)
			assert_true(isnan(s.cycles_per_iteration));
		if (at > 150)
			assert_true(s.cycles_per_iteration == plain.cycles_per_iteration);
		if (isnan(s.cycles_per_iteration)) {
			assert_int_equal(s.bottlenecks, 0);
			assert_false(s.scheduling);
			assert_false(s.repeats);
			assert_int_equal(s.period, 0);
			assert_int_equal(tact_simulated_insn(f->simulator, 0, &insn),
					 -TACT_E_INVAL);
		} else {
			assert_true(s.cycles_per_iteration == plain.cycles_per_iteration);
			assert_int_equal(tact_simulated_insn(f->simulator, 0, &insn), 0);
		}
	}
}

/* A pace that has come down to a bound is that bound, not a mean over iterations that end at whole
 * cycles; the front end needs fewer cycles to show it than what fills the reservation station.
 */
TEST_WITH(test_pace_at_bound, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;

	load(f, "SKL", TACT_MODE_UNROLL, "8bb0a00000004439c6");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_int_equal(s.method, TACT_SIM_SETTLED);
	assert_true(s.cycles_per_iteration == 0.5625 && s.cycles < 128);
	assert_true(s.uncertainty > 0 && s.uncertainty < 0.02);
	load(f, "SKL", TACT_MODE_UNROLL, "480fbdf6488d0437");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_int_equal(s.method, TACT_SIM_SETTLED);
	assert_true(s.cycles_per_iteration == 3 && s.cycles > 128);
}

/* How the figure was found: a chain of imul and add fills the reservation station, whose state
 * recurs long after the pace is steady.
 */
TEST_WITH(test_method, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_sim_options opt = {
		.size = sizeof(opt), .max_cycles = 100000, .only_repeats = true};

	load(f, "SKL", TACT_MODE_UNROLL, "480fafc34801d8");
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_int_equal(s.method, TACT_SIM_SETTLED);
	assert_true(s.uncertainty > 0 && s.uncertainty < 0.1);
	assert_true(fabs(s.cycles_per_iteration - 4) <= s.uncertainty);
	assert_int_equal(tact_simulate(f->simulator, f->block, &opt, &s), 0);
	assert_int_equal(s.method, TACT_SIM_REPEATS);
	assert_true(s.repeats && s.cycles > 300 && s.cycles < 100000);
	assert_true(s.uncertainty == 0 && s.cycles_per_iteration == 4);
	opt.max_cycles = 400;
	assert_int_equal(tact_simulate(f->simulator, f->block, &opt, &s), 0);
	assert_int_equal(s.method, TACT_SIM_MEAN);
	assert_true(s.cycles >= 400 && s.cycles < 410);
	assert_true(s.uncertainty > 0 && fabs(s.cycles_per_iteration - 4) <= s.uncertainty);
	opt.max_cycles = 80; /* two or three batches are left */
	assert_int_equal(tact_simulate(f->simulator, f->block, &opt, &s), 0);
	assert_true(s.uncertainty > 0);
	assert_string_equal(tact_sim_method_name(TACT_SIM_SETTLED), "settled");
	assert_string_equal(tact_sim_method_name(TACT_N_SIM_METHODS), "unknown");
}

/* ---- callers of other versions ---- */

struct newer_simulation {
	struct tact_simulation s;
	char more[24];
};
struct newer_insn {
	struct tact_sim_insn insn;
	char more[8];
};

TEST_WITH(sizes_are_honoured, open_models, close_models)
{
	struct models *f = *state;
	struct newer_simulation newer;
	struct newer_insn insn;
	struct tact_simulation *s = &newer.s;

	load(f, "SKL", TACT_MODE_UNROLL, "480fafc3");
	for (size_t size = 0; size <= sizeof(newer); size++) {
		memset(&newer, 0x77, sizeof(newer));
		s->size = size;
		assert_int_equal(tact_simulate(f->simulator, f->block, NULL, s),
				 size < sizeof(size_t) ? -TACT_E_INVAL : 0);
		assert_int_equal(s->size, size);
		for (size_t i = size > sizeof(size_t) ? size : sizeof(size_t); i < sizeof(newer);
		     i++)
			assert_int_equal(((uint8_t *)&newer)[i], 0x77);
		for (size_t i = sizeof(*s); i < size; i++)
			assert_int_equal(((uint8_t *)&newer)[i], 0);
		if (size >= 2 * sizeof(double))
			assert_true(s->cycles_per_iteration == 3);
	}
	for (size_t size = 0; size <= sizeof(insn); size++) {
		memset(&insn, 0x77, sizeof(insn));
		insn.insn.size = size;
		assert_int_equal(tact_simulated_insn(f->simulator, 0, &insn.insn),
				 size < sizeof(size_t) ? -TACT_E_INVAL : 0);
		for (size_t i = size > sizeof(size_t) ? size : sizeof(size_t); i < sizeof(insn);
		     i++)
			assert_int_equal(((uint8_t *)&insn)[i], 0x77);
		for (size_t i = sizeof(insn.insn); i < size; i++)
			assert_int_equal(((uint8_t *)&insn)[i], 0);
	}
}

/* What is asked after a simulation does not need its block. */
TEST_WITH(the_block_may_go, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, (const uint8_t *)"\x48\x01\xd8", 3, NULL), 0);
	assert_int_equal(tact_simulate(f->simulator, block, NULL, &s), 0);
	tact_block_destroy(block);
	assert_int_equal(tact_simulated_insn(f->simulator, 0, &insn), 0);
	assert_true(insn.spent == 1 && insn.issued == 1);
	assert_true(s.bounds->cycles_per_iteration == 1);
}

TEST_WITH(misuse, open_models, close_models)
{
	struct models *f = *state;
	struct tact_block *empty;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	struct tact_sim_options tiny = {.size = sizeof(tiny), .max_cycles = 1};

	assert_int_equal(tact_block_create(&empty, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_simulate(f->simulator, empty, NULL, &s), -TACT_E_INVAL);
	assert_int_equal(tact_simulate(NULL, empty, NULL, &s), -TACT_E_INVAL);
	tact_block_destroy(empty);
	load(f, "SKL", TACT_MODE_UNROLL, "4801d8");
	assert_int_equal(tact_simulate(f->simulator, f->block, &tiny, &s), -TACT_E_LIMIT);
	tiny.max_cycles = UINT64_MAX; /* more than the clock can count */
	assert_int_equal(tact_simulate(f->simulator, f->block, &tiny, &s), 0);
	assert_true(s.cycles_per_iteration == 1);
	tiny.max_cycles = 1;
	assert_int_equal(tact_simulate(f->simulator, f->block, &tiny, &s), -TACT_E_LIMIT);
	assert_int_equal(tact_simulate(f->simulator, NULL, NULL, &s), -TACT_E_INVAL);
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_simulated_insn(f->simulator, 0, &insn), -TACT_E_INVAL);
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_int_equal(tact_simulated_insn(f->simulator, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_simulated_insn(NULL, 0, &insn), -TACT_E_INVAL);
	assert_int_equal(tact_simulator_create(NULL, NULL), -TACT_E_INVAL);
	tact_simulator_destroy(NULL);
}

/* Four thousand instructions, and one that has no data. */
TEST_WITH(large_and_unknown, open_models, close_models)
{
	struct models *f = *state;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	uint8_t code[12000];

	for (size_t i = 0; i < sizeof(code); i += 3)
		memcpy(code + i, "\x48\x01\xd8", 3);
	load(f, "SKL", TACT_MODE_UNROLL, "90");
	assert_int_equal(tact_block_load(f->block, code, sizeof(code), NULL), 0);
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_true(fabs(s.cycles_per_iteration - 4000) < 80);
	load(f, "SKL", TACT_MODE_UNROLL, "dbe04801d8"); /* feni8087_nop; add */
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
	assert_true(s.coverage < 1 && s.cycles_per_iteration >= 0.98);
}

/* sim >= the largest bound less 2%, over the blocks of a file if there is one. */
TEST_WITH(not_below_the_bounds, open_models, close_models)
{
	static const char *const archs[] = {"SKL", "HSW", "ICX", "IVB", "CLX"};
	FILE *file = fopen("../shared/data/bhive/other.csv", "re");
	struct models *f = *state;
	static char line[1 << 16];
	unsigned n = 0, below = 0;

	if (!file) {
		print_message("skip: ../shared/data/bhive is not there\n");
		skip();
	}
	while (fgets(line, sizeof(line), file) && n < 20000) {
		const char *arch = archs[n % ARRAY_SIZE(archs)];
		enum tact_mode mode = n / ARRAY_SIZE(archs) % 2 ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
		struct tact_simulation s = TACT_SIMULATION_INIT;

		line[strcspn(line, ",\r\n")] = 0;
		if (!line[0] || strlen(line) > 2000)
			continue;
		load(f, arch, mode, line);
		assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &s), 0);
		below += s.cycles_per_iteration < 0.98 * s.bounds->cycles_per_iteration;
		n++;
	}
	fclose(file);
	print_message("%u of %u blocks below the bounds\n", below, n);
	assert_true(n == 20000 && below * 200 < n);
}

RUN_TESTS(NULL, NULL)
