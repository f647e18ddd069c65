/* SPDX-License-Identifier: MIT
 *
 * What is to be said of the control flow of some code: calls, ways through it, the loop around it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "code/survey.h"
#include "support.h"

TEST(a_walk_counts_what_is_left_out)
{
	/* call +0; syscall; jmp rax; je +0; jne -4 into the middle; ret */
	static const char hex[] = "e8 00 00 00 00 0f 05 ff e0 74 00 75 fc c3";
	struct code_survey s;
	uint8_t code[32];
	const size_t size = bytes_of(code, sizeof(code), hex);

	code_look_at(tact_isa_default(), code, size, &s);
	assert_int_equal(s.n_calls, 1);
	assert_int_equal(s.n_system_calls, 1);
	assert_int_equal(s.n_indirect, 1);
	assert_int_equal(s.n_branches, 2);
	assert_int_equal(s.n_ends, 1);
	assert_int_equal(s.n_inner_loops, 1);
	assert_int_equal(s.last, size - 1);
	assert_int_equal(s.ending.flow, TACT_FLOW_RETURN);
	code_look_at(tact_isa_default(), code, 0, &s);
	assert_int_equal(s.last, 0);
	assert_false(s.ending.is_valid);
}

/* "0,2 0,1,2": the blocks of each way; taken branches with a star. */
static void expect_ways(const char *hex, bool is_loop, size_t head, const char *expected)
{
	struct code_paths p;
	char text[512] = "";
	uint8_t code[128];
	const size_t size = bytes_of(code, sizeof(code), hex);

	assert_int_equal(
		code_paths_create(&p, tact_isa_next(NULL), code, size, false, is_loop, head), 0);
	for (uint32_t i = 0; i < p.n && i < 10; i++) {
		code_paths_take(&p, i);
		for (size_t k = 0; k < p.n_blocks; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u%s",
				 k   ? ","
				 : i ? " "
				     : "",
				 p.blocks[k], code_paths_is_taken(&p, k) ? "*" : "");
	}
	assert_string_equal(text, expected);
	code_paths_destroy(&p);
}

TEST(ways_go_on_before_they_branch)
{
	expect_ways("", false, 0, "");
	expect_ways("90 c3", false, 0, "0");
	expect_ways("75 01 90 c3", false, 0, "0,1,2 0*,2");
	/* if and else: jne; nop; jmp; nop; ret */
	expect_ways("75 03 90 eb 01 90 c3", false, 0, "0,1*,3 0*,2,3");
	/* Code that is left before its end. */
	expect_ways("75 01 c3 90 c3", false, 0, "0,1 0*,2");
	/* An indirect jump ends a way. */
	expect_ways("75 02 ff e0 c3", false, 0, "0,1 0*,2");
	/* Bytes that are no code are no way. */
	expect_ways("75 01 06 90 c3", false, 0, "0*,2");
}

TEST(ways_round_a_loop_end_at_its_first_byte)
{
	expect_ways("90 75 fd", true, 0, "0");
	/* jne over a nop; jne back */
	expect_ways("75 01 90 75 fb", true, 0, "0,1,2 0*,2");
	/* Leaving the loop is no way round it. */
	expect_ways("75 03 90 75 fb c3", true, 0, "0,1");
	/* Two ways back. */
	expect_ways("90 75 fd 90 75 fa", true, 0, "0,1 0");
	/* Entered at its condition, block 1: nop; nop; cmp; jg to 0; nop; jmp to 1 */
	expect_ways("90 90 39 c0 7f fa 90 eb f9", true, 0, "0,1");
	expect_ways("90 90 39 c0 7f fa 90 eb f9", true, 2, "1,2 0,1");
	/* No way at all. */
	expect_ways("90 c3", true, 0, "");
}

TEST(many_ways_are_counted_without_walking_them)
{
	struct code_paths p;
	uint8_t code[3 * 40 + 2];

	for (unsigned i = 0; i < 40; i++)
		memcpy(code + 3 * i, "\x75\x01\x90", 3);
	memcpy(code + 120, "\x90\xc3", 2);
	assert_int_equal(
		code_paths_create(&p, tact_isa_next(NULL), code, sizeof(code), false, false, 0), 0);
	assert_int_equal(p.n, CODE_MANY);
	code_paths_take(&p, CODE_MANY - 1);
	assert_true(p.n_blocks > 40);
	code_paths_take(&p, 0);
	assert_int_equal(p.n_blocks, p.graph.blocks.n);
	code_paths_destroy(&p);
	assert_int_equal(code_paths_create(&p, tact_isa_next(NULL), code, 3 * 10, false, false, 0),
			 0);
	assert_int_equal(p.n, 1 << 10);
	code_paths_destroy(&p);
}

/* Every way is another one, and all of them are there. */
TEST(ways_differ)
{
	struct code_paths p;
	uint8_t code[3 * 6 + 2];
	uint64_t seen = 0;

	for (unsigned i = 0; i < 6; i++)
		memcpy(code + 3 * i, "\x75\x01\x90", 3);
	memcpy(code + 18, "\x75\xec", 2); /* jne back to the first byte */
	assert_int_equal(
		code_paths_create(&p, tact_isa_next(NULL), code, sizeof(code), false, true, 0), 0);
	assert_int_equal(p.n, 64);
	for (uint32_t i = 0; i < p.n; i++) {
		unsigned taken = 0, branch = 0;

		code_paths_take(&p, i);
		for (size_t k = 0; k + 1 < p.n_blocks; k++)
			if (p.graph.blocks.items[p.blocks[k]].flow == TACT_FLOW_BRANCH)
				taken |= (unsigned)code_paths_is_taken(&p, k) << branch++;
		assert_int_equal(branch, 6);
		seen |= 1ull << taken;
	}
	assert_true(seen == UINT64_MAX);
	code_paths_destroy(&p);
}

static struct obj_file file_of(struct obj_section *section, uint8_t *code, size_t capacity,
			       const char *hex)
{
	*section = (struct obj_section){.name = ".text", .data = code};
	section->size = bytes_of(code, capacity, hex);
	return (struct obj_file){.isa = tact_isa_default(), .sections = section, .n_sections = 1};
}

TEST(the_loop_around_code_is_found)
{
	/* xor eax, eax; L: add [rdi], ecx; add rdi, 4; cmp rdi, rsi; jne L; ret */
	static const char hex[] = "31 c0 01 0f 48 83 c7 04 48 39 f7 75 f5 c3";
	struct code_registers r = {0};
	struct obj_section section;
	struct obj_range loop;
	uint8_t code[64];
	const struct obj_file obj = file_of(&section, code, sizeof(code), hex);
	const struct obj_range all = {0, 0, section.size}, part = {0, 2, 4}, after = {0, 13, 14};

	assert_true(code_loop_around(&obj, &all, &part, &loop));
	assert_int_equal(loop.begin, 2);
	assert_int_equal(loop.end, 13);
	assert_false(code_loop_around(&obj, &all, &after, &loop));
	code_add_registers(obj.isa, code + 2, 2, &r);
	assert_true(r.has_loads && r.has_stores);
	assert_int_equal(r.written, 0);
	assert_int_equal(r.in_loads, 1 << 7); /* rdi */
	assert_int_equal(r.in_stores, 1 << 7);
	code_add_registers(obj.isa, code + 4, 4, &r);
	assert_int_equal(r.written, 1 << 7);
}

TEST(markers_are_not_code)
{
	/* mov ebx, 111; fs addr32 nop; add rdi, 4; nop */
	static const char hex[] = "bb 6f 00 00 00 64 67 90 48 83 c7 04 90";
	struct code_registers r = {0};
	uint8_t code[32];
	const size_t size = bytes_of(code, sizeof(code), hex);

	code_add_registers(tact_isa_default(), code, size, &r);
	assert_int_equal(r.written, 1 << 7);
	assert_int_equal(code_count_insns(tact_isa_default(), code, size), 1);
	assert_int_equal(code_count_insns(tact_isa_default(), code, 8), 0);
}

TEST(a_branch_can_be_given_another_target)
{
	static const struct {
		const char *hex;
		int64_t distance;
		const char *expected; /* NULL: impossible */
	} cases[] = {
		{"75 00", -10, "75 f4"},
		{"eb 00", 0, "eb fe"},
		{"75 00", -126, "75 80"},
		{"75 00", -127, NULL},
		{"0f 85 00 00 00 00", -1000, "0f 85 12 fc ff ff"},
		{"e9 00 00 00 00", -5, "e9 f6 ff ff ff"},
		{"e2 00", -4, "e2 fa"},
		{"ff e0", -4, NULL},
		{"48 01 d8", -4, NULL},
		{"0f 85 00 00", -4, NULL},
	};
	const struct tact_isa *isa = tact_isa_default();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t code[16], before[16], expected[16];
		const size_t size = bytes_of(code, sizeof(code), cases[i].hex);

		memcpy(before, code, size);
		assert_int_equal(isa->retarget(code, size, cases[i].distance),
				 cases[i].expected != NULL);
		if (cases[i].expected)
			bytes_of(expected, sizeof(expected), cases[i].expected);
		assert_memory_equal(code, cases[i].expected ? expected : before, size);
	}
}

RUN_TESTS(NULL, NULL)
