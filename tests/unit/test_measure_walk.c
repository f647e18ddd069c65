/* SPDX-License-Identifier: MIT
 *
 * Walks through memory, found in the steps of a traced run, and the way back.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <Zydis/Zydis.h>

#include "measure/pointer_walk.h"
#include "measure/x86/measure_x86.h"
#include "support.h"

enum { RAX, RCX, RSP = 4, RDI = 7, R15 = 15 };

#define BODY 0x200000001000ull

static struct measure_host *new_host(void)
{
	struct measure_host *host = calloc(1, sizeof(*host));

	assert_non_null(host);
	return host;
}

/* Adds the steps of some iterations of single instructions, each of `change` in one register. */
static void add_steps(struct measure_host *host, unsigned n, size_t size, unsigned reg,
		      uint64_t value, int64_t change, bool loop)
{
	for (unsigned i = 0; i < n; i++) {
		struct measure_step *s = &host->step[host->n_steps++];

		s->pc = BODY + (loop ? 0 : i * size);
		s->reg[reg] = value + i * (uint64_t)change;
	}
}

static struct measure_walk walk_of(const char *hex, unsigned n, unsigned reg, int64_t change,
				   bool loop, bool expected)
{
	struct measure_host *host = new_host();
	struct measure_walk w;
	uint8_t code[16];
	size_t size = bytes_of(code, sizeof(code), hex);

	add_steps(host, n, size, reg, 0x12345600, change, loop);
	assert_int_equal(measure_find_walk(&w, &measure_x86, host, code, size, BODY, loop),
			 expected);
	free(host);
	return w;
}

TEST(finds_changes)
{
	struct measure_walk w = walk_of("58", 5, RSP, 8, false, true); /* pop rax */

	assert_int_equal(w.change[RSP], 8);
	assert_int_equal(w.change[RAX], 0);
	assert_int_equal(w.stride, 8);
	w = walk_of("50", 5, RSP, -8, true, true); /* push rax, as a loop */
	assert_int_equal(w.change[RSP], -8);
	assert_int_equal(w.stride, 8);
	w = walk_of("488b04cf", 5, RCX, 5, false, true); /* mov rax, [rdi+rcx*8] */
	assert_int_equal(w.change[RCX], 5);
	assert_int_equal(w.stride, 40);
	w = walk_of("4801c8", 5, RAX, 1000, false, true); /* add rax, rcx: no address */
	assert_int_equal(w.change[RAX], 1000);
	assert_int_equal(w.stride, 0);
	walk_of("58", 3, RSP, 8, false, false); /* too few: the first one does not count */
	walk_of("58", 0, RSP, 8, false, false);
}

/* A register that changes by another amount every time is left alone. */
TEST(finds_only_constant_changes)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x3f}; /* mov rdi, [rdi] */
	struct measure_host *host = new_host();
	struct measure_walk w;

	add_steps(host, 5, sizeof(code), RDI, 0x10000, 64, false);
	host->step[3].reg[RDI] += 8;
	assert_true(measure_find_walk(&w, &measure_x86, host, code, sizeof(code), BODY, false));
	assert_int_equal(w.change[RDI], 0);
	free(host);
}

TEST(chooses_lengths)
{
	static const unsigned strides[] = {0,	1,   8,	   48,	 64,   65,
					   100, 511, 1536, 1537, 4096, 1u << 30};

	for (size_t i = 0; i < ARRAY_SIZE(strides); i++) {
		const struct measure_walk w = {.stride = strides[i]};
		unsigned group = measure_walk_group(&w), n = measure_walk_iterations(&w);

		assert_int_equal(group % MEASURE_WALK_UNIT, 0);
		assert_true((uint64_t)group * strides[i] <= MEASURE_WALK_LIMIT);
		assert_true((uint64_t)n * strides[i] <= MEASURE_WALK_LIMIT);
		assert_int_equal(group > 0, strides[i] > 0 && strides[i] <= 1536);
		assert_int_equal(n > 0, strides[i] > 0 && strides[i] <= 102);
		if (n)
			assert_in_range(n, MEASURE_WALK_LEAST, MEASURE_WALK_MOST);
	}
}

/* The way back is one addition for each register, by the right amount. */
TEST(goes_back)
{
	uint8_t code[MEASURE_MAX_BACK];
	struct measure_walk w = {.stride = 8};
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	size_t size, at = 0;

	for (int r = 0; r < ISA_MAX_GENERAL; r++)
		w.change[r] = r % 2 ? -r - 1 : r + 1;
	size = measure_walk_back(&w, &measure_x86, 100, code);
	assert_true(size <= sizeof(code));
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned r = 0; r < 16; r++, at += zi.length) {
		assert_true(ZYAN_SUCCESS(
			ZydisDecoderDecodeFull(&decoder, code + at, size - at, &zi, ops)));
		assert_int_equal(zi.mnemonic, ZYDIS_MNEMONIC_LEA);
		assert_int_equal(ops[0].reg.value, ZYDIS_REGISTER_RAX + r);
		assert_int_equal(ops[1].mem.base, ZYDIS_REGISTER_RAX + r);
		assert_int_equal(ops[1].mem.index, ZYDIS_REGISTER_NONE);
		assert_int_equal(ops[1].mem.disp.value, -100 * w.change[r]);
	}
	w = (struct measure_walk){.change = {[RAX] = 1ll << 31, [RCX] = 1 << 30, [R15] = -1}};
	assert_int_equal(measure_walk_back(&w, &measure_x86, 16, code), 7); /* r15 only */
	w = (struct measure_walk){.stride = 8};
	assert_int_equal(measure_walk_back(&w, &measure_x86, 16, code), 0);
}

RUN_TESTS(NULL, NULL)
