/* SPDX-License-Identifier: MIT
 *
 * Executions that are made up from a profile: what registers and memory hold, and where they go.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include "mix/block_flow.h"
#include "mix/values.h"

/* ---- values ---- */

static long run(struct mix_values *v, const char *hex, const struct tact_trace_access **accesses)
{
	uint8_t code[64];
	struct mix_script *script;
	size_t bad;
	long n = tact_hex_decode(code, hex, strlen(hex), &bad);

	assert_true(n > 0);
	assert_int_equal(mix_script_create(&script, tact_isa_find("x86"), code, (size_t)n, 0x1000),
			 0);
	n = mix_values_run(v, script, accesses);
	mix_script_destroy(script);
	return n;
}

/* push rbx; mov [rsp+8], rax; pop rcx; mov rdx, [rsp] */
TEST(test_stack)
{
	const struct tact_trace_access *a;
	struct mix_values *v;

	assert_int_equal(mix_values_create(&v, tact_isa_find("x86")), 0);
	assert_int_equal(run(v,
			     "534889442408"
			     "59488b1424",
			     &a),
			 4);
	assert_true(a[0].is_store && a[1].is_store && !a[2].is_store && !a[3].is_store);
	assert_int_equal(a[0].size, 8);
	assert_int_equal(a[3].insn, 3);
	assert_true(a[2].address == a[0].address);     /* the pop takes what was pushed */
	assert_true(a[1].address == a[0].address + 8); /* above it */
	assert_true(a[3].address == a[1].address);
	mix_values_destroy(v);
}

/* A pointer that was stored and loaded again is the same pointer; one that is computed twice from the
 * same registers is, too.
 */
TEST(test_pointers)
{
	const struct tact_trace_access *a;
	struct mix_values *v;
	uint64_t first;

	assert_int_equal(mix_values_create(&v, tact_isa_find("x86")), 0);
	/* mov [rsp], rdi; mov rax, [rsp]; mov [rdi+16], ecx; mov edx, [rax+16] */
	assert_int_equal(run(v, "48893c24488b0424894f108b5010", &a), 4);
	assert_true(a[3].address == a[2].address);
	/* mov rax, rdi; imul rax, rsi; mov rcx, [rax]: twice */
	assert_int_equal(run(v, "4889f8480fafc6488b08", &a), 1);
	first = a[0].address;
	assert_int_equal(run(v, "4889f8480fafc6488b08", &a), 1);
	assert_true(a[0].address == first);
	/* add rsi, 1: another product */
	assert_int_equal(run(v, "4883c601", &a), 0);
	assert_int_equal(run(v, "4889f8480fafc6488b08", &a), 1);
	assert_true(a[0].address != first);
	/* xor eax, eax; mov rcx, [rdi+rax*8+8]; lea rdx, [rdi+8]; mov rcx, [rdx]; mov rcx, [rip+4] */
	assert_int_equal(run(v, "31c0488b4cc708488d5708488b0a488b0d04000000", &a), 3);
	assert_true(a[0].address == a[1].address);
	assert_true(a[2].address == 0x1000 + 21 + 4);
	mix_values_destroy(v);
	mix_values_destroy(NULL);
	mix_script_destroy(NULL);
}

/* The stack pointer before a call is what it is after the return. */
TEST(test_stack_pointer)
{
	const struct tact_trace_access *a;
	struct mix_values *v;
	uint64_t before, stored;

	assert_int_equal(mix_values_create(&v, tact_isa_find("x86")), 0);
	assert_int_equal(run(v, "e800000000", &a), 1); /* call */
	stored = a[0].address;
	before = mix_values_stack(v);
	assert_true(before == stored + 8);
	mix_values_set_stack(v, before);
	assert_int_equal(run(v, "50", &a), 1); /* push */
	assert_true(a[0].address == stored);
	mix_values_destroy(v);
}

TEST(test_not_code)
{
	static const uint8_t bad[] = {0x90, 0x06};
	struct mix_script *script;

	assert_int_equal(mix_script_create(&script, tact_isa_find("x86"), bad, sizeof(bad), 0),
			 -TACT_E_DECODE);
	assert_null(script);
}

/* ---- flow ---- */

/* Seven instructions: a branch over a call, the call, a jump back; and the function that it calls. */
static const uint8_t code[] = {
	0x74, 0x05,		      /* 0: je 7 */
	0xe8, 0x05, 0x00, 0x00, 0x00, /* 2: call 12 */
	0xff, 0xc8,		      /* 7: dec eax */
	0x75, 0xf5,		      /* 9: jne 0 */
	0xc3,			      /* 11: ret */
	0xff, 0xc1,		      /* 12: inc ecx */
	0xc3			      /* 14: ret */
};

static struct code_block blocks[] = {
	{.begin = 0, .end = 2, .last = 0, .n_insns = 1, .target = 7, .flow = TACT_FLOW_BRANCH},
	{.begin = 2, .end = 7, .last = 2, .n_insns = 1, .target = 12, .flow = TACT_FLOW_CALL},
	{.begin = 7, .end = 11, .last = 9, .n_insns = 2, .target = 0, .flow = TACT_FLOW_BRANCH},
	{.begin = 11,
	 .end = 12,
	 .last = 11,
	 .n_insns = 1,
	 .target = CODE_NONE,
	 .flow = TACT_FLOW_RETURN},
	{.begin = 12,
	 .end = 15,
	 .last = 14,
	 .n_insns = 2,
	 .target = CODE_NONE,
	 .flow = TACT_FLOW_RETURN},
};

static double weight(const struct mix_flow *f, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < f->n_ways; i++)
		if (f->ways[i].from == from && f->ways[i].to == to)
			return f->ways[i].weight;
	return -1;
}

TEST(test_flow)
{
	static const double executions[] = {1000, 300, 1000, 1, 300};
	uint32_t numbers[] = {1, 2, 3, 4, 5}, calls = 0, again = 0;
	uint64_t random = 7;
	struct mix_profile profiles[5];
	struct mix_code section = {.isa = tact_isa_find("x86"),
				   .data = code,
				   .size = sizeof(code),
				   .address = 0x4000,
				   .blocks = {blocks, 5, 5},
				   .profiles = numbers};
	struct mix_module module = {.path = (char *)"x", .codes = &section, .n_codes = 1};
	struct tact_mix mix = {
		.modules = {.items = &module, .n = 1}, .profiles = profiles, .n_profiles = 5};
	struct mix_flow *f;

	for (uint32_t i = 0; i < 5; i++)
		profiles[i] = (struct mix_profile){.block = i, .executions = executions[i]};
	assert_int_equal(mix_flow_create(&f, &mix), 0);
	assert_int_equal(f->n, 5);
	/* The branch skips the call 700 times; the loop goes round 999 times. */
	assert_true(weight(f, 0, 1) > 290 && weight(f, 0, 1) < 310);
	assert_true(weight(f, 0, 2) > 690 && weight(f, 0, 2) < 710);
	assert_true(weight(f, 2, 0) > 990);
	assert_true(weight(f, 1, 4) == 300);
	assert_int_equal(f->nodes[1].back, 2);
	assert_int_equal(f->nodes[4].n_ways, 0);
	for (int i = 0; i < 1000; i++)
		calls += mix_flow_after(f, 0, &random) == 1;
	assert_in_range(calls, 250, 350);
	assert_int_equal(mix_flow_before(f, 4, &random), 1);
	/* Back to the function's caller; what is not called leads anywhere. */
	assert_int_equal(mix_flow_back(f, 4, &random), 2);
	assert_int_equal(mix_flow_back(f, 3, &random), 2);
	assert_int_equal(mix_flow_at(f, 0), 0);
	assert_int_equal(mix_flow_at(f, 0.999), 4);
	/* Computed targets come again sooner than by chance, and as often. */
	f->nodes[0].is_indirect = true;
	calls = 0;
	for (uint32_t i = 0, last = MIX_NONE; i < 10000; i++) {
		const uint32_t next = mix_flow_after(f, 0, &random);

		calls += next == 1;
		again += next == last;
		last = next;
	}
	assert_in_range(calls, 2700, 3300);
	assert_in_range(again, 7300, 8100); /* by chance 5800 */
	mix_flow_destroy(f);

	/* Recorded branches are believed. */
	mix.has_lbr = true;
	profiles[0].fall_out = 100;
	mix.arcs = &(struct mix_arc){0, 2, 900};
	mix.n_arcs = 1;
	assert_int_equal(mix_flow_create(&f, &mix), 0);
	assert_true(weight(f, 0, 1) > 99 && weight(f, 0, 1) < 101);
	mix_flow_destroy(f);

	/* Nothing ran. */
	mix.n_profiles = 0;
	mix.n_arcs = 0;
	assert_int_equal(mix_flow_create(&f, &mix), 0);
	assert_int_equal(mix_flow_at(f, 0.5), MIX_NONE);
	mix_flow_destroy(f);
	mix_flow_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
