/* SPDX-License-Identifier: MIT
 *
 * Where execution goes: transfers of each kind, walks, and code that leads back to its start.
 */

#include "testing.h"

#include "code/transfers.h"
#include "support.h"

TEST(test_kinds)
{
	static const struct {
		const char *hex;
		enum tact_flow flow;
		bool is_direct;
		int64_t target;
	} list[] = {
		{"90", TACT_FLOW_NEXT, false, 0},
		{"48 01 d8", TACT_FLOW_NEXT, false, 0},
		{"c5 f8 77", TACT_FLOW_NEXT, false, 0},
		{"0f 0d 08", TACT_FLOW_NEXT, false, 0},
		{"ff c0", TACT_FLOW_NEXT, false, 0},		 /* inc */
		{"ff 30", TACT_FLOW_NEXT, false, 0},		 /* push */
		{"c7 c0 00 00 00 00", TACT_FLOW_NEXT, false, 0}, /* mov */
		{"ff e0", TACT_FLOW_JUMP, false, 0},
		{"3e ff e0", TACT_FLOW_JUMP, false, 0}, /* notrack */
		{"ff 25 00 00 00 00", TACT_FLOW_JUMP, false, 0},
		{"ff 28", TACT_FLOW_JUMP, false, 0}, /* far */
		{"ff d0", TACT_FLOW_CALL, false, 0},
		{"41 ff 14 24", TACT_FLOW_CALL, false, 0},
		{"ff 18", TACT_FLOW_CALL, false, 0}, /* far */
		{"c3", TACT_FLOW_RETURN, false, 0},
		{"f3 c3", TACT_FLOW_RETURN, false, 0},
		{"c2 08 00", TACT_FLOW_RETURN, false, 0},
		{"48 cf", TACT_FLOW_RETURN, false, 0}, /* iretq */
		{"0f 05", TACT_FLOW_KERNEL, false, 0},
		{"0f 34", TACT_FLOW_KERNEL, false, 0},
		{"cd 80", TACT_FLOW_KERNEL, false, 0},
		{"0f 0b", TACT_FLOW_STOP, false, 0},
		{"f4", TACT_FLOW_STOP, false, 0},
		{"cc", TACT_FLOW_STOP, false, 0},
		{"48 0f 07", TACT_FLOW_STOP, false, 0},
		{"75 fe", TACT_FLOW_BRANCH, true, 0},
		{"3e 74 00", TACT_FLOW_BRANCH, true, 3},
		{"0f 85 00 01 00 00", TACT_FLOW_BRANCH, true, 0x106},
		{"e2 10", TACT_FLOW_BRANCH, true, 0x12},	  /* loop */
		{"e3 10", TACT_FLOW_BRANCH, true, 0x12},	  /* jrcxz */
		{"c7 f8 00 00 00 00", TACT_FLOW_BRANCH, true, 6}, /* xbegin */
		{"eb 7f", TACT_FLOW_JUMP, true, 0x81},
		{"e9 ff ff ff ff", TACT_FLOW_JUMP, true, 4},
		{"e8 00 00 00 00", TACT_FLOW_CALL, true, 5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		uint8_t code[16];
		const size_t n = bytes_of(code, sizeof(code), list[i].hex);
		struct tact_insn insn;
		struct isa_step step;
		int64_t target;

		assert_int_equal(tact_isa_next(NULL)->scan(&step, 1, code, n), 1);
		assert_true(step.is_valid);
		assert_int_equal(step.length, n);
		assert_int_equal(step.flow, list[i].flow);
		assert_int_equal(step.is_direct, list[i].is_direct);
		assert_int_equal(step.target, list[i].target);
		/* The decoder agrees. */
		assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, code, n), n);
		assert_int_equal(insn.flow, list[i].flow);
		assert_int_equal(isa_flow_target(&insn, &target), list[i].is_direct);
	}
}

TEST(test_questions)
{
	for (int flow = TACT_FLOW_NEXT; flow <= TACT_FLOW_STOP; flow++) {
		const bool returns = flow == TACT_FLOW_CALL || flow == TACT_FLOW_KERNEL;

		assert_int_equal(code_comes_back((enum tact_flow)flow), returns);
		assert_int_equal(code_goes_on((enum tact_flow)flow),
				 returns || flow == TACT_FLOW_NEXT || flow == TACT_FLOW_BRANCH);
	}
}

TEST(test_walk)
{
	uint8_t code[3 * CODE_STEPS + 2];
	const struct isa_step *step;
	struct code_walk walk;
	size_t n = 0;

	code_walk_init(&walk, tact_isa_next(NULL), NULL, 0);
	assert_null(code_walk_next(&walk));
	/* More than one piece, an instruction that is cut short at the end. */
	memset(code, 0x90, sizeof(code));
	code[1] = 0x06;
	code[sizeof(code) - 1] = 0xe9;
	code_walk_init(&walk, tact_isa_next(NULL), code, sizeof(code));
	while ((step = code_walk_next(&walk))) {
		assert_int_equal(walk.at, n);
		assert_int_equal(walk.next, n + 1);
		assert_int_equal(step->is_valid, n != 1 && n != sizeof(code) - 1);
		n++;
	}
	assert_int_equal(n, sizeof(code));
	assert_null(code_walk_next(&walk));
}

static bool is_loop(const char *hex)
{
	uint8_t code[512];

	return code_is_loop(tact_isa_next(NULL), code, bytes_of(code, sizeof(code), hex));
}

TEST(test_is_loop)
{
	assert_true(is_loop("75 fe"));
	assert_true(is_loop("ff c9 75 fc"));
	assert_true(is_loop("ff c9 e2 fc")); /* loop */
	assert_true(is_loop("ff c9 eb fc"));
	assert_true(is_loop("ff c9 e9 f9 ff ff ff"));
	assert_true(is_loop("ff c9 0f 85 f8 ff ff ff"));
	assert_true(is_loop("ff c9 3e 75 fb"));
	assert_true(is_loop("ff c9 c7 f8 f8 ff ff ff"));
	/* Before the start, after it, past the end. */
	assert_false(is_loop("ff c9 75 fb"));
	assert_false(is_loop("ff c9 75 fd"));
	assert_false(is_loop("ff c9 75 00"));
	assert_false(is_loop("ff c9 0f 85 f7 ff ff ff"));
	/* Calls return; a jump that is not the last one does not count. */
	assert_false(is_loop("ff c9 e8 f9 ff ff ff"));
	assert_false(is_loop("ff c9 75 fc 90"));
	/* A constant that looks like a jump. */
	assert_false(is_loop("b8 00 00 75 fb"));
	assert_false(is_loop("c7 00 e9 00 f5 ff ff ff 90"));
	assert_false(is_loop("48 b8 00 00 00 e9 f6 ff ff ff"));
	/* Bytes that do not decode, and code that is cut short. */
	assert_false(is_loop("06 75 fd"));
	assert_false(is_loop("75"));
	assert_false(is_loop("0f 85 fa ff ff"));
	assert_false(is_loop(""));
	assert_false(code_is_loop(tact_isa_next(NULL), NULL, 0));
}

/* As far back as a byte tells, and one further. */
TEST(test_long_loop)
{
	uint8_t code[256];

	memset(code, 0x90, sizeof(code));
	code[126] = 0x75;
	code[127] = 0x80;
	assert_true(code_is_loop(tact_isa_next(NULL), code, 128));
	code[126] = 0x90;
	code[127] = 0x75;
	code[128] = 0x7f; /* a jump forward, though -129 has this last byte */
	assert_false(code_is_loop(tact_isa_next(NULL), code, 129));
	memset(code, 0x90, sizeof(code));
	memcpy(code + 250, "\x0f\x85\x00\xff\xff\xff", 6);
	assert_true(code_is_loop(tact_isa_next(NULL), code, 256));
}

RUN_TESTS(NULL, NULL)
