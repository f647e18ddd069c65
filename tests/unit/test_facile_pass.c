/* SPDX-License-Identifier: MIT
 *
 * The latency of one pass, and where loads find their data, by blocks worked out by hand.
 */
#include "testing.h"

#include <string.h>

#include "support.h"

static struct tact_block *loaded(enum tact_memory memory, const char *hex)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .memory = memory};
	struct tact_block *block;
	uint8_t code[64];

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, bytes_of(code, sizeof(code), hex), NULL), 0);
	return block;
}

/* The latency, the number of links, and that the links add up to it. */
static void expect_pass(enum tact_memory memory, const char *hex, unsigned latency, size_t n_links)
{
	struct tact_block *block = loaded(memory, hex);
	struct tact_chain c = TACT_CHAIN_INIT;
	unsigned sum = 0;

	assert_int_equal(tact_explain_pass(block, &c), 0);
	assert_int_equal(c.latency, latency);
	assert_true(c.cycles_per_iteration == latency && c.iterations == 1);
	assert_int_equal(c.n_links, n_links);
	for (size_t i = 0; i < c.n_links; i++) {
		sum += c.links[i].latency;
		assert_int_equal(c.links[i].iterations, 0);
		assert_true(!i || c.links[i].insn > c.links[i - 1].insn);
	}
	assert_true(!c.n_links || sum == latency);
	tact_block_destroy(block);
}

TEST(passes)
{
	/* imul rax, rbx; add rcx, rax */
	expect_pass(TACT_MEMORY_L1, "480fafc3 4801c1", 4, 2);
	/* nothing in common: add rax, rbx; imul rcx, rdx */
	expect_pass(TACT_MEMORY_L1, "4801d8 480fafca", 3, 1);
	/* what the next iteration needs is no part of this one: imul rax, rcx; add rcx, 1 */
	expect_pass(TACT_MEMORY_L1, "480fafc1 4883c101", 3, 1);
	/* mov rax, [rdi]; imul rax, rbx; add rcx, rax; mov [rsi], rcx */
	expect_pass(TACT_MEMORY_L1, "488b07 480fafc3 4801c1 48890e", 10, 4);
	/* mov eax, 1; imul rax, rbx: begins with an instruction that reads nothing */
	expect_pass(TACT_MEMORY_L1, "b801000000 480fafc3", 4, 2);
	/* xor eax, eax is there at once */
	expect_pass(TACT_MEMORY_L1, "31c0", 0, 0);
	/* through memory: imul rax, rbx; mov [rdi], rax; mov rcx, [rdi] */
	expect_pass(TACT_MEMORY_L1, "480fafc3 488907 488b0f", 7, 3);
	/* cmp rdi, rdx; jne: the branch */
	expect_pass(TACT_MEMORY_L1, "4839d7 75fb", 2, 2);
}

TEST(levels)
{
	/* mov rax, [rdi]; imul rax, rbx: 5, 12, 42 and 230 cycles for the load */
	expect_pass(TACT_MEMORY_L1, "488b07 480fafc3", 8, 2);
	expect_pass(TACT_MEMORY_L2, "488b07 480fafc3", 15, 2);
	expect_pass(TACT_MEMORY_L3, "488b07 480fafc3", 45, 2);
	expect_pass(TACT_MEMORY_RAM, "488b07 480fafc3", 233, 2);
	/* what the block has stored is in the store buffer */
	expect_pass(TACT_MEMORY_L3, "480fafc3 488907 488b0f", 7, 3);
}

static double facile(struct tact_block *block)
{
	struct tact_prediction x = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, NULL, &x), 0);
	return x.cycles_per_iteration;
}

static double simulated(struct tact_block *block)
{
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_simulator *simulator;

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	assert_int_equal(tact_simulate(simulator, block, NULL, &s), 0);
	tact_simulator_destroy(simulator);
	return s.cycles_per_iteration;
}

/* mov rax, [rax]: both models agree on each level */
TEST(a_chain_of_loads)
{
	static const double cycles[] = {4, 12, 42, 230};

	for (unsigned m = 0; m < TACT_N_MEMORIES; m++) {
		struct tact_block *block = loaded((enum tact_memory)m, "488b00");

		assert_float_equal(facile(block), cycles[m], 0.01);
		assert_float_equal(simulated(block), cycles[m], 0.01);
		tact_block_destroy(block);
	}
}

/* mov rax, [rax]; mov rbx, [rbx]: one of them from elsewhere */
TEST(a_level_for_one_load)
{
	struct tact_block *block = loaded(TACT_MEMORY_L1, "488b00 488b1b");
	struct tact_advisor *advisor;

	assert_float_equal(facile(block), 4, 0.01);
	assert_int_equal(tact_block_set_memory(block, 1, TACT_MEMORY_L2), 0);
	assert_float_equal(facile(block), 12, 0.01);
	assert_float_equal(simulated(block), 12, 0.01);
	assert_int_equal(tact_block_set_memory(block, 1, TACT_MEMORY_L1), 0);
	assert_float_equal(facile(block), 4, 0.01);
	assert_int_equal(tact_advisor_create(&advisor, NULL), 0);
	assert_int_equal(tact_advisor_run(advisor, block, NULL), 0);
	tact_advisor_destroy(advisor);
	tact_block_destroy(block);
}

static void expect_given(const char *hex, size_t i, unsigned cycles, double expected)
{
	struct tact_block *block = loaded(TACT_MEMORY_L1, hex);

	assert_int_equal(tact_block_set_latency(block, i, cycles), 0);
	assert_float_equal(facile(block), expected, 0.01);
	assert_float_equal(simulated(block), expected, 0.01);
	/* of another CPU, too */
	assert_int_equal(tact_block_rebind(block, tact_arch_find("ZEN4"), NULL), 0);
	assert_float_equal(facile(block), expected, 0.01);
	assert_float_equal(simulated(block), expected, 0.01);
	tact_block_destroy(block);
}

TEST(a_latency_that_is_given)
{
	expect_given("480fafc0", 0, 10, 10);   /* imul rax, rax */
	expect_given("480fafc0", 0, 1, 1);     /* less than the tables have */
	expect_given("488b00", 0, 100, 100);   /* mov rax, [rax] */
	expect_given("488b00", 0, 2, 2);       /* a load shorter than that of the core */
	expect_given("480307", 0, 20, 20);     /* add rax, [rdi] */
	expect_given("48d3e0", 0, 1000, 1000); /* shl rax, cl */
}

/* mov rbx, rax; mov rax, rbx: the second one is still eliminated */
TEST(the_latency_of_a_move)
{
	struct tact_block *block = loaded(TACT_MEMORY_L1, "4889c34889d8");

	assert_int_equal(tact_block_set_latency(block, 0, 7), 0);
	assert_float_equal(facile(block), 7, 0.01);
	assert_float_equal(simulated(block), 7, 0.5);
	tact_block_destroy(block);
}

TEST(a_given_latency_ends)
{
	static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc0};
	struct tact_block *block = loaded(TACT_MEMORY_L1, "480fafc0 480fafc0");
	const double plain = facile(block);

	assert_int_equal(tact_block_set_latency(block, 0, 50), 0);
	assert_int_equal(tact_block_set_latency(block, 0, 40), 0);
	assert_float_equal(facile(block), 40 + plain / 2, 0.01);
	assert_int_equal(tact_block_insert(block, 1, imul, sizeof(imul), NULL), 0);
	assert_float_equal(facile(block), 40 + plain, 0.01);
	assert_int_equal(tact_block_replace(block, 0, imul, sizeof(imul), NULL), 0);
	assert_float_equal(facile(block), plain * 1.5, 0.01);
	assert_int_equal(tact_block_set_latency(block, 2, 40), 0);
	assert_int_equal(tact_block_load(block, imul, sizeof(imul), NULL), 0);
	assert_float_equal(facile(block), plain / 2, 0.01);
	tact_block_destroy(block);
}

TEST(arguments)
{
	struct tact_block_options opt = TACT_BLOCK_OPTIONS_INIT;
	struct tact_block *block = loaded(TACT_MEMORY_L1, "488b00");
	struct tact_chain c = TACT_CHAIN_INIT, none;

	memset(&none, 0, sizeof(none));
	assert_int_equal(tact_explain_pass(NULL, &c), -TACT_E_INVAL);
	assert_int_equal(tact_explain_pass(block, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_explain_pass(block, &none), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_memory(NULL, 0, TACT_MEMORY_L1), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_memory(block, 1, TACT_MEMORY_L1), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_memory(block, 0, TACT_N_MEMORIES), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_latency(NULL, 0, 1), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_latency(block, 1, 1), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_latency(block, 0, 0), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_latency(block, 0, TACT_MAX_LATENCY + 1), -TACT_E_INVAL);
	opt.memory = TACT_N_MEMORIES;
	assert_int_equal(tact_block_rebind(block, NULL, &opt), -TACT_E_INVAL);
	assert_string_equal(tact_memory_name(TACT_MEMORY_L3), "l3");
	assert_string_equal(tact_memory_name(TACT_N_MEMORIES), "unknown");
	tact_block_destroy(block);
}

/* Random blocks: no pass takes longer than all latencies, and links always add up. */
TEST(links_add_up)
{
	struct rng rng = {.state = 11};
	struct tact_block *block = loaded(TACT_MEMORY_L1, "90");

	for (unsigned i = 0; i < rounds(3000); i++) {
		struct tact_chain c = TACT_CHAIN_INIT;
		uint8_t code[512];
		unsigned sum = 0;

		assert_int_equal(tact_block_load(block, code, random_block(&rng, code, 12), NULL),
				 0);
		assert_int_equal(tact_explain_pass(block, &c), 0);
		for (size_t k = 0; k < c.n_links; k++)
			sum += c.links[k].latency;
		assert_true(!c.n_links || sum == c.latency);
	}
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
