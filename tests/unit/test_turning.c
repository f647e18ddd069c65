/* SPDX-License-Identifier: MIT
 *
 * Stacks of registers: which instruction an input of x87 waits for, and in which iteration; tables of
 * all CPUs know common code.
 */
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include <tact/arch.h>
#include <tact/predict.h>

#include "block/block.h"
#include "block/turning.h"

static struct tact_block *load(const char *arch, const uint8_t *code, size_t size)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	block_connect(block);
	return block;
}

static const struct block_node *input_of(const struct tact_block *block, size_t insn, unsigned reg)
{
	const struct block_insn *bi = &block->insns[insn];

	for (unsigned k = 0; k < bi->lowered->n_in; k++)
		if (bi->lowered->in[k].kind == VALUE_REG && bi->lowered->in[k].key == reg)
			return &block_nodes(block)[bi->first_node + k];
	fail_msg("instruction %zu does not read register %u", insn, reg);
	return NULL;
}

static unsigned top(void)
{
	return tact_isa_default()->registers.first_turning;
}

/* fld st1; fmul st0, st3; faddp st1, st0: faddp adds to what was st0 before fld. */
TEST(names_move_with_the_stack)
{
	static const uint8_t code[] = {0xd9, 0xc1, 0xd8, 0xcb, 0xde, 0xc1};
	struct tact_block *block = load("ZEN3", code, sizeof(code));

	assert_int_equal(input_of(block, 1, top())->producer, 0);
	assert_int_equal(input_of(block, 1, top())->iterations, 0);
	assert_int_equal(input_of(block, 2, top())->producer, 1);
	assert_int_equal(input_of(block, 2, top() + 1)->producer, 2);
	assert_int_equal(input_of(block, 2, top() + 1)->iterations, 1);
	/* st1 before fld, and st3 after it, were never written. */
	assert_int_equal(input_of(block, 0, top() + 1)->producer, BLOCK_NO_PRODUCER);
	assert_int_equal(input_of(block, 1, top() + 3)->producer, BLOCK_NO_PRODUCER);
	tact_block_destroy(block);
}

/* fxch st1; fadd st0, st2: what fadd reads was written two iterations ago. */
TEST(exchanged_names_reach_further_back)
{
	static const uint8_t code[] = {0xd9, 0xc9, 0xd8, 0xc2};
	struct tact_block *block = load("ZEN3", code, sizeof(code));

	assert_true(block->insns[0].lowered->exchanges);
	assert_int_equal(input_of(block, 1, top())->producer, 1);
	assert_int_equal(input_of(block, 1, top())->iterations, 2);
	tact_block_destroy(block);
}

/* A block that pushes more than it pops starts at the same level again. */
TEST(the_level_is_kept)
{
	static const uint8_t code[] = {0xd8, 0xc1, 0xd9, 0xc0}; /* fadd st0, st1; fld st0 */
	struct tact_block *block = load("SKL", code, sizeof(code));

	assert_int_equal(input_of(block, 0, top())->producer, 0);
	assert_int_equal(input_of(block, 0, top())->iterations, 1);
	tact_block_destroy(block);
}

TEST(places_hold_registers)
{
	struct turning t;
	struct block_lowered push = {.turn = -1}, pop = {.turn = 1}, exchange = {.exchanges = true};

	exchange.exchanged[0] = (uint8_t)top();
	exchange.exchanged[1] = (uint8_t)(top() + 1);
	turning_init(&t, tact_isa_default());
	assert_int_equal(turning_key(&t, 3), 3);
	assert_int_equal(turning_key(NULL, (uint8_t)top()), top());
	turning_before(&t, &push);
	assert_int_equal(turning_key(&t, (uint8_t)top()), top() + 7);
	assert_int_equal(turning_key(&t, (uint8_t)(top() + 1)), top());
	turning_after(&t, &exchange);
	assert_int_equal(turning_key(&t, (uint8_t)top()), top());
	turning_after(&t, &pop);
	assert_int_equal(turning_key(&t, (uint8_t)top()), top() + 7);
	assert_int_equal(turning_next(&t, (uint8_t)top()), top() + 7);
}

/* Blocks of common code: integers, SSE, and AVX where the CPU has it. */
TEST(every_table_knows_common_code)
{
	static const struct {
		uint8_t code[24], size;
	} blocks[] = {
		{{0x48, 0x8b, 0x03, 0x48, 0x01, 0xd8, 0x48, 0x89, 0x07, 0x48, 0x83, 0xc3, 0x08},
		 13},
		{{0x0f, 0xb6, 0x06, 0x83, 0xf8, 0x20, 0x74, 0x02, 0x48, 0xff, 0xc6}, 11},
		{{0xf2, 0x0f, 0x10, 0x07, 0xf2, 0x0f, 0x59, 0x06, 0xf2, 0x0f, 0x58, 0xc8}, 12},
		{{0x48, 0x6b, 0xc0, 0x0c, 0x48, 0x0f, 0xa4, 0xc2, 0x03, 0x48, 0x99, 0x48, 0xf7,
		  0xf9},
		 14},
		{{0xc5, 0xfc, 0x58, 0x07, 0xc5, 0xfc, 0x11, 0x06, 0xc5, 0xf8, 0x77}, 11},
		{{0x66, 0x0f, 0x6f, 0x07, 0x66, 0x0f, 0xfe, 0xc1, 0x66, 0x0f, 0x70, 0xc8, 0x4e},
		 13},
		{{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}, 6},
	};

	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));)
		for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
			struct tact_prediction p = TACT_PREDICTION_INIT;
			struct tact_block *block =
				load(tact_arch_name(a), blocks[i].code, blocks[i].size);

			assert_int_equal(tact_predict(block, NULL, &p), 0);
			if (p.coverage < 1)
				fail_msg("%s, block %zu: coverage %f", tact_arch_name(a), i,
					 p.coverage);
			tact_block_destroy(block);
		}
}

/* x87 has data wherever there is a source. */
TEST(tables_know_the_stack)
{
	static const uint8_t code[] = {0xdd, 0x07, 0xd8, 0xc9, 0xde, 0xc1, 0xd9, 0xc9, 0xdd, 0x1e};

	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));) {
		struct tact_prediction p = TACT_PREDICTION_INIT;
		struct tact_block *block = load(tact_arch_name(a), code, sizeof(code));

		assert_int_equal(tact_predict(block, NULL, &p), 0);
		assert_true(p.coverage == 1 || !strcmp(tact_arch_name(a), "GRT"));
		tact_block_destroy(block);
	}
}

RUN_TESTS(NULL, NULL)
