/* SPDX-License-Identifier: MIT
 *
 * Blocks whose bounds are known without the dependence graph: which ones these are, and that the
 * bounds are those that the graph gives.
 */
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include "support.h"

#include "block/block.h"

static struct tact_block *open_block(const char *arch, enum tact_mode mode)
{
	const struct tact_block_options options = {.size = sizeof(options), .mode = mode};
	struct tact_block *block = NULL;

	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &options, NULL), 0);
	return block;
}

static void load(struct tact_block *block, const char *hex)
{
	uint8_t code[256];

	assert_int_equal(tact_block_load(block, code, bytes_of(code, sizeof(code), hex), NULL), 0);
}

TEST(which_blocks_are_free)
{
	static const struct {
		const char *hex;
		bool is_free;
	} cases[] = {
		{"488b03", true},	       /* mov rax, [rbx] */
		{"4801d8", false},	       /* add rax, rbx */
		{"4889d84801c8", true},	       /* mov rax, rbx; add rax, rcx */
		{"31c04801d8", true},	       /* xor eax, eax; add rax, rbx */
		{"50", true},		       /* push rax: the stack engine takes no time */
		{"4883c408", false},	       /* add rsp, 8 */
		{"488b0348894308", false},     /* mov rax, [rbx]; mov [rbx + 8], rax */
		{"4889d84889cb", true},	       /* mov rax, rbx; mov rbx, rcx */
		{"4889d84889cb4889c1", false}, /* and mov rcx, rax: a ring */
		{"480fafd8480fafc1", false},   /* imul rbx, rax; imul rax, rcx */
		{"480fafd94889d8", false},     /* imul rbx, rcx; mov rax, rbx */
		{"11d8", false},	       /* adc eax, ebx */
		{"d8c1", false},	       /* fadd st, st(1): a stack of registers */
	};
	struct tact_block *block = open_block("SKL", TACT_MODE_UNROLL);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		load(block, cases[i].hex);
		block_survey(block);
		assert_int_equal(block->is_free, cases[i].is_free);
		assert_int_equal(block->is_connected, !cases[i].is_free);
		block_connect(block); /* whoever asks for the graph gets it */
		assert_true(block->is_connected && !block->is_free);
	}
	load(block, "488b03");
	block_survey(block);
	assert_true(block->is_free);
	assert_int_equal(tact_block_set_latency(block, 0, 9), 0);
	assert_false(block->is_free);
	block_survey(block);
	assert_true(block->is_connected);
	tact_block_destroy(block);
}

/* Instructions of all kinds: arithmetic, moves, loads, stores, addresses that advance, the stack. */
static const char *const insns[] = {
	"4801d8",   "4889d8",	"4889cb",   "488b03",	"488b4308",   "48890b",	    "48894b08",
	"4883c308", "4883c740", "48890f",   "0f1107",	"0f114710",   "c5fc1107",   "50",
	"58",	    "4883c408", "31c0",	    "480fafc1", "488b1b",     "488d5b10",   "f20f58c1",
	"660fefc0", "c5f458c2", "f30f1003", "4811d8",	"d3e0",	      "488b4c33f8", "88e0",
	"00e8",	    "48f7f1",	"0f28c8",   "480f44c3", "488b442408", "4889442410",
};

static void make_code(struct tact_block *block, uint32_t *state)
{
	uint8_t code[256];
	size_t size = 0;
	unsigned n;

	*state = *state * 1664525u + 1013904223u;
	n = 1 + (*state >> 24) % 8;
	while (n--) {
		*state = *state * 1664525u + 1013904223u;
		size += bytes_of(code + size, sizeof(code) - size,
				 insns[(*state >> 16) % ARRAY_SIZE(insns)]);
	}
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
}

static unsigned compare(const char *arch, enum tact_mode mode)
{
	struct tact_block *block = open_block(arch, mode);
	uint32_t state = 1;
	unsigned n_free = 0;

	for (unsigned i = 0; i < 3000; i++) {
		struct tact_prediction without = TACT_PREDICTION_INIT, with = TACT_PREDICTION_INIT;

		make_code(block, &state);
		assert_int_equal(tact_predict(block, NULL, &without), 0);
		n_free += block->is_free;
		block_connect(block);
		assert_int_equal(tact_predict(block, NULL, &with), 0);
		assert_memory_equal(&without, &with, sizeof(with));
	}
	tact_block_destroy(block);
	return n_free;
}

TEST(bounds_are_those_of_the_graph)
{
	static const char *const archs[] = {"SKL", "HSW",  "ICL",  "GLC",
					    "LNC", "ZEN2", "ZEN4", "ZEN5"};

	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		assert_in_range(compare(archs[i], TACT_MODE_UNROLL), 100, 2900);
		assert_in_range(compare(archs[i], TACT_MODE_LOOP), 100, 2900);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_blocks_are_free),
		cmocka_unit_test(bounds_are_those_of_the_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
