/* SPDX-License-Identifier: MIT
 *
 * Code cut into basic blocks.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "code/map.h"
#include "support.h"

/* Blocks as text: begin-end, number of instructions, how it ends, target. */
static void show(const struct code_blocks *blocks, char *text, size_t size)
{
	static const char kinds[] = "nbjcrks"; /* enum tact_flow */

	*text = '\0';
	for (size_t i = 0; i < blocks->n; i++) {
		const struct code_block *b = &blocks->items[i];
		char target[16] = "";

		if (b->target != CODE_NONE)
			snprintf(target, sizeof(target), ">%u", b->target);
		snprintf(text + strlen(text), size - strlen(text), "%s%u-%u:%u%c%s%s", i ? " " : "",
			 b->begin, b->end, b->n_insns, kinds[b->flow], target,
			 b->is_bad ? "!" : "");
	}
}

struct options {
	bool calls_end, is_relocatable;
	size_t middle; /* two parts; 0: one */
};

static void expect(const char *hex, struct options o, const char *expected)
{
	uint8_t code[128];
	const size_t size = bytes_of(code, sizeof(code), hex), middle = o.middle ? o.middle : size;
	struct code_blocks blocks = {0};
	struct code_map map;
	char text[512];

	assert_int_equal(code_map_create(&map, tact_isa_next(NULL), code, size), 0);
	map.calls_end = o.calls_end;
	map.is_relocatable = o.is_relocatable;
	/* From the end: transfers need not be in order. */
	if (middle < size)
		assert_int_equal(code_map_sweep(&map, middle, size), 0);
	assert_int_equal(code_map_sweep(&map, 0, middle), 0);
	assert_int_equal(code_map_cut(&map, 0, middle, &blocks), 0);
	if (middle < size)
		assert_int_equal(code_map_cut(&map, middle, size, &blocks), 0);
	show(&blocks, text, sizeof(text));
	assert_string_equal(text, expected);
	free(blocks.items);
	code_map_destroy(&map);
}

#define WITH(...) ((struct options){__VA_ARGS__})

TEST(test_blocks)
{
	expect("", WITH(0), "");
	expect("90", WITH(0), "0-1:1n");
	expect("c3", WITH(0), "0-1:1r");
	expect("90 90 c3 90", WITH(0), "0-3:3r 3-4:1n");
	/* A loop; code before and after it. */
	expect("90 ff c9 75 fc c3", WITH(0), "0-1:1n 1-5:2b>1 5-6:1r");
	/* Forward, over an instruction. */
	expect("74 01 90 c3", WITH(0), "0-2:1b>3 2-3:1n 3-4:1r");
	/* Out of the code, on both sides; to its very end. */
	expect("74 10 c3", WITH(0), "0-2:1b 2-3:1r");
	expect("eb f0 90", WITH(0), "0-2:1j 2-3:1n");
	expect("75 01 90", WITH(0), "0-2:1b 2-3:1n");
	/* Through a register, and transfers that do not fall through. */
	expect("ff e0 0f 0b f4", WITH(0), "0-2:1j 2-4:1s 4-5:1s");
}

TEST(test_middle)
{
	/* Into the middle of an instruction: the target is known, and cuts nothing. */
	expect("b8 01 00 00 00 eb fa", WITH(0), "0-7:2j>1");
	/* Code that is cut short, and bytes that do not decode: each is an end. */
	expect("90 e9 00 00", WITH(0), "0-2:2s! 2-4:1n");
	expect("06 90 06 06 c3", WITH(0), "0-1:1s! 1-3:2s! 3-4:1s! 4-5:1r");
	/* The last bytes of the mov belong to the next part: its head is not code. */
	expect("90 b8 01 00 00 00 c3", WITH(.middle = 3), "0-2:2s! 2-3:1s! 3-7:2n");
}

TEST(test_calls)
{
	expect("e8 01 00 00 00 90 c3", WITH(0), "0-7:3r");
	expect("e8 01 00 00 00 90 c3", WITH(.calls_end = true), "0-5:1c 5-6:1n 6-7:1r");
	expect("0f 05 ff d0 c3", WITH(0), "0-5:3r");
	expect("0f 05 ff d0 c3", WITH(.calls_end = true), "0-2:1k 2-4:1c 4-5:1r");
}

TEST(test_relocatable)
{
	expect("e9 00 00 00 00 c3", WITH(0), "0-5:1j>5 5-6:1r");
	expect("e9 00 00 00 00 c3", WITH(.is_relocatable = true), "0-5:1j 5-6:1r");
	expect("eb 00 c3", WITH(.is_relocatable = true), "0-2:1j>2 2-3:1r");
}

/* One part leads into the other; a block ends with its part. */
TEST(test_parts)
{
	expect("90 90 90 eb fc", WITH(.middle = 3), "0-1:1n 1-3:2n 3-5:1j>1");
	expect("eb 02 90 90 90", WITH(.middle = 3), "0-2:1j>4 2-3:1n 3-4:1n 4-5:1n");
}

TEST(test_find)
{
	struct code_block items[] = {
		{.begin = 2, .end = 5}, {.begin = 5, .end = 6}, {.begin = 9, .end = 12}};
	const struct code_blocks blocks = {items, ARRAY_SIZE(items), 0}, none = {0};
	static const uint32_t expected[] = {CODE_NONE, CODE_NONE, 0, 0, 0, 1,	     CODE_NONE,
					    CODE_NONE, CODE_NONE, 2, 2, 2, CODE_NONE};

	assert_int_equal(code_blocks_find(&none, 0), CODE_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(code_blocks_find(&blocks, i), expected[i]);
	assert_int_equal(code_blocks_find(&blocks, SIZE_MAX), CODE_NONE);
}

TEST(test_limits)
{
	struct code_map map;

	assert_int_equal(code_map_create(&map, tact_isa_next(NULL), NULL, UINT32_MAX),
			 -TACT_E_LIMIT);
	code_map_destroy(&map);
	assert_int_equal(code_map_create(&map, tact_isa_next(NULL), NULL, 0), 0);
	code_map_destroy(&map);
}

/* Whatever the bytes: blocks cover the code, in order, and their lengths are right. */
TEST(test_random)
{
	struct rng rng = {5};

	for (unsigned round = 0; round < rounds(2000); round++) {
		uint8_t code[200];
		const size_t size = 1 + rng_below(&rng, sizeof(code));
		struct code_blocks blocks = {0};
		struct code_map map;
		uint32_t at = 0;

		for (size_t i = 0; i < size; i++)
			code[i] = (uint8_t)rng_next(&rng);
		assert_int_equal(code_map_create(&map, tact_isa_next(NULL), code, size), 0);
		map.calls_end = round & 1;
		assert_int_equal(code_map_sweep(&map, 0, size), 0);
		assert_int_equal(code_map_cut(&map, 0, size, &blocks), 0);
		for (size_t i = 0; i < blocks.n; i++) {
			const struct code_block *b = &blocks.items[i];

			assert_int_equal(b->begin, at);
			assert_true(b->last >= b->begin && b->last < b->end);
			at = b->end;
		}
		assert_int_equal(at, size);
		free(blocks.items);
		code_map_destroy(&map);
	}
}

RUN_TESTS(NULL, NULL)
