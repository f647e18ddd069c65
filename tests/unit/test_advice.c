/* SPDX-License-Identifier: MIT
 *
 * Advice: one block of each kind, with the cycles before and after; arguments.
 */
#include "testing.h"

#include <math.h>
#include <string.h>

#include "support.h"

struct advised {
	struct tact_block *block;
	struct tact_advisor *advisor;
	int n;
};

static struct advised advise(const char *arch, unsigned alignment, const char *hex)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .alignment = alignment};
	struct advised a;
	uint8_t code[256];

	assert_int_equal(tact_block_create(&a.block, tact_arch_find(arch), &opt, NULL), 0);
	assert_int_equal(tact_block_load(a.block, code, bytes_of(code, sizeof(code), hex), NULL),
			 0);
	assert_int_equal(tact_advisor_create(&a.advisor, NULL), 0);
	a.n = tact_advisor_run(a.advisor, a.block, NULL);
	assert_true(a.n >= 0);
	return a;
}

static void done(struct advised *a)
{
	tact_advisor_destroy(a->advisor);
	tact_block_destroy(a->block);
}

static bool find(const struct advised *a, const char *name, struct tact_advice *out)
{
	for (size_t i = 0; i < (size_t)a->n; i++) {
		*out = (struct tact_advice)TACT_ADVICE_INIT;
		assert_int_equal(tact_advisor_get(a->advisor, i, out), 0);
		if (!strcmp(out->name, name))
			return true;
	}
	return false;
}

/* Expects an advice with these cycles, this changed code, and these words in what it assumes. */
static void expect(const char *arch, const char *hex, const char *name, double before, double after,
		   const char *changed, const char *assumes)
{
	struct advised a = advise(arch, 0, hex);
	struct tact_advice x;
	uint8_t code[256];
	size_t size = bytes_of(code, sizeof(code), changed);

	if (!find(&a, name, &x))
		fail_msg("no advice %s", name);
	assert_float_equal(x.before, before, 0.005);
	assert_float_equal(x.after, after, 0.005);
	assert_int_equal(x.code_size, size);
	assert_memory_equal(x.code, code, size);
	assert_non_null(strstr(x.assumes, assumes));
	assert_true(*assumes || !*x.assumes);
	assert_true(x.n_insns > 0 && strlen(x.text) > 10 && strchr(x.changes, '\n'));
	done(&a);
}

static void expect_none(const char *arch, const char *hex, const char *name)
{
	struct advised a = advise(arch, 0, hex);
	struct tact_advice x;

	if (find(&a, name, &x))
		fail_msg("%s: %g -> %g", name, x.before, x.after);
	done(&a);
}

/* popcnt rax, [rdi]; add rdi, 8; cmp rdi, rsi; jne */
TEST(false_dependence)
{
	expect("SKL", "f3480fb807 4883c708 4839f7 75f2", "false-dependence", 3, 1,
	       "31c0 f3480fb807 4883c708 4839f7 75f0", "");
	/* popcnt rax, rax depends in truth */
	expect_none("SKL", "f3480fb8c0 4883c708 4839f7 75f2", "false-dependence");
	/* the core has no such dependence */
	expect_none("ICL", "f3480fb807 4883c708 4839f7 75f2", "false-dependence");
	/* cvtsi2sd xmm0, eax keeps the upper half */
	expect("SKL", "f20f2ac0", "false-dependence", 4, 1, "0f57c0 f20f2ac0", "other bits");
}

/* addss xmm1, xmm0 in a loop: movss, mulss, add, addss, cmp, jne */
TEST(accumulators_unrolled)
{
	struct advised a = advise("SKL", 0, "f30f100487 f30f590486 4883c001 f30f58c8 4839d0 75e9");
	struct tact_advice x;

	assert_true(find(&a, "accumulators", &x));
	assert_int_equal(x.copies, 4);
	assert_float_equal(x.before, 4, 0.005);
	assert_true(x.after < 1.5);
	assert_int_equal(x.n_insns, 1);
	assert_int_equal(x.insns[0], 3);
	assert_non_null(strstr(x.assumes, "round"));
	assert_non_null(strstr(x.assumes, "multiple of 4"));
	done(&a);
}

TEST(accumulators_side_by_side)
{
	/* addss xmm0, xmm1; addss xmm0, xmm2 */
	expect("SKL", "f30f58c1 f30f58c2", "accumulators", 8, 4, "f30f58c1 f30f58da", "round");
	/* add is exact, but still combined afterwards: imul rax, rbx; imul rax, rcx */
	expect("SKL", "480fafc3 480fafc1", "accumulators", 6, 3, "480fafc3 480fafd1", "combined");
	/* the sum is used: mov [rdi], rax */
	expect_none("SKL", "480fafc3 480fafc1 488907", "accumulators");
	/* its flags are used: adc */
	expect_none("SKL", "4801d8 4801c8 4811d2", "accumulators");
	/* r = x - r is no sum: vsubss xmm0, xmm1, xmm0 */
	expect_none("SKL", "c5f25cc0", "accumulators");
	/* s = s * x + y is no sum: mulsd xmm0, xmm2; addsd xmm0, [rdi] */
	expect_none("SKL", "f20f59c2 f20f5807", "accumulators");
	/* nor imul rax, rbx; add rax, rcx; nor add rax, rbx; add eax, ecx, which clears a half */
	expect_none("SKL", "480fafc3 4801c8", "accumulators");
	expect_none("SKL", "4801d8 01c8", "accumulators");
	/* a sum and a difference are: addsd xmm0, xmm1; subsd xmm0, xmm2 */
	expect("SKL", "f20f58c1 f20f5cc2", "accumulators", 8, 4, "f20f58c1 f20f5cda", "round");
}

/* add [rdi], rax; add rsi, 8; cmp rsi, rcx; jne */
TEST(memory_value)
{
	expect("SKL", "480107 4883c608 4839ce 75f4", "memory-value", 5, 1,
	       "4801c2 4883c608 4839ce 75f4", "nothing else accesses");
	/* the address moves with it: no value that is kept */
	expect_none("SKL", "480107 4883c708 4839cf 75f4", "memory-value");
	/* somebody reads half of it: mov ebx, [rdi] */
	expect_none("SKL", "480107 8b1f 4883c608 4839ce 75f2", "memory-value");
}

TEST(three_part_address)
{
	expect("SKL", "488d445805 48ffce 75f6", "three-part-address", 3, 2,
	       "488d0458 488d4005 48ffce 75f3", "");
	expect_none("ZEN4", "488d445805 48ffce 75f6", "three-part-address");
}

/* cmp rax, rbx; mov rdx, [rsi]; mov rcx, [rsi+8]; lea rsi, [rsi+16]; jne */
TEST(unfused_branch)
{
	expect("SKL", "4839d8 488b16 488b4e08 488d7610 75f0", "unfused-branch", 1.25, 1,
	       "488b16 488b4e08 488d7610 4839d8 75f0", "");
	/* what stands between changes what is compared: lea rax, [rax+16] */
	expect_none("SKL", "4839d8 488b16 488b4e08 488d4010 75f0", "unfused-branch");
}

TEST(other_replacements)
{
	/* add rax, [rdi]; loop */
	expect("SKL", "480307 e2fb", "slow-branch", 4, 1, "480307 48ffc9 75f8", "flags");
	/* mov rax, rbx; xor edx, edx; div rcx; dec rsi; jne */
	expect("SKL", "4889d8 31d2 48f7f1 48ffce 75f3", "wide-division", 21, 6,
	       "4889d8 31d2 f7f1 48ffce 75f4", "32 bits");
	/* add ax, 0x1234 */
	expect("SKL", "66053412", "length-changing-prefix", 3.25, 1, "0534120000", "other bits");
	/* mov word [rdi], 0x1234 needs a register */
	expect("SKL", "66c7073412", "length-changing-prefix", 3.3125, 1, "b834120000 668907",
	       "rax");
	/* mov al, [rdi]; imul rax, rax: the load merges */
	expect("SKL", "8a07 480fafc0", "partial-register", 4, 1, "0fb607 480fafc0", "other bits");
}

/* vmovups ymm0, [rsi+rcx]; vaddps ymm0, ymm0, [rdx+rcx]; vmovups [rdi+rcx], ymm0; twice; add rcx,
 * 64; cmp rcx, rbx; jne
 */
TEST(indexed_address)
{
	struct advised a = advise("SKL", 0,
				  "c5fc10040e c5fc58040a c5fc11040f c5fc104c0e20 c5f4584c0a20"
				  "c5fc114c0f20 4883c140 4839d9 75d6");
	struct tact_advice x;

	assert_int_equal(tact_block_mode(a.block), TACT_MODE_LOOP);
	assert_true(find(&a, "indexed-address", &x));
	assert_true(x.after < x.before);
	assert_non_null(strstr(x.changes, "+ lea rax, [rax+0x40]\n"));
	assert_non_null(strstr(x.assumes, "rax) and set before"));
	done(&a);
}

/* A loop that ends on a 32-byte boundary, and one whose offset costs a DSB line. */
TEST(places)
{
	struct advised a = advise("SKL", 16, "31c0 f3480fb807 4883c708 4801c2 4839f7 75ed");
	struct tact_advice x;

	/* popcnt without its dependence; the branch ends at 16 + 19 */
	assert_true(find(&a, "jcc-erratum", &x));
	assert_true(x.after < x.before);
	assert_int_equal(x.alignment, 32);
	assert_string_equal(x.changes, "");
	assert_non_null(strstr(x.text, ".p2align 5"));
	assert_non_null(strstr(x.text, "16 bytes"));
	done(&a);
	/* Unrolled code lies everywhere. */
	a = advise("SKL", 16, "31c0 f3480fb807 4883c708");
	assert_false(find(&a, "padding", &x));
	done(&a);
}

static int count_calls(void *arg, struct tact_block *block, double *cycles)
{
	++*(unsigned *)arg;
	*cycles = (double)tact_block_length(block);
	return 0;
}

static int refuse(void *arg, struct tact_block *block, double *cycles)
{
	(void)arg;
	(void)block;
	*cycles = 0;
	return -TACT_E_LIMIT;
}

TEST(the_model_is_the_callers)
{
	struct advised a = advise("SKL", 0, "f3480fb807 4883c708 4839f7 75f2");
	struct tact_advice_options opt = TACT_ADVICE_OPTIONS_INIT;
	struct tact_advice x;
	unsigned calls = 0;

	/* By its number of instructions, no longer block is better. */
	opt.predict = count_calls;
	opt.arg = &calls;
	a.n = tact_advisor_run(a.advisor, a.block, &opt);
	assert_int_equal(a.n, 0);
	assert_true(calls > 10 && calls < 400);
	opt.predict = refuse;
	assert_int_equal(tact_advisor_run(a.advisor, a.block, &opt), -TACT_E_LIMIT);
	x = (struct tact_advice)TACT_ADVICE_INIT;
	assert_int_equal(tact_advisor_get(a.advisor, 0, &x), -TACT_E_INVAL);
	/* Three cycles become one: less than all of it. */
	opt = (struct tact_advice_options)TACT_ADVICE_OPTIONS_INIT;
	opt.least_gain = 0.7;
	assert_int_equal(tact_advisor_run(a.advisor, a.block, &opt), 0);
	opt.least_gain = 0.6;
	assert_int_equal(tact_advisor_run(a.advisor, a.block, &opt), 1);
	done(&a);
}

TEST(arguments)
{
	struct tact_advice_options opt = TACT_ADVICE_OPTIONS_INIT;
	struct tact_advisor *advisor;
	struct tact_block *block;
	struct tact_advice x = TACT_ADVICE_INIT;

	assert_int_equal(tact_advisor_create(NULL, NULL), -TACT_E_INVAL);
	tact_advisor_destroy(NULL);
	assert_int_equal(tact_advisor_create(&advisor, NULL), 0);
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_advisor_run(NULL, block, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_advisor_run(advisor, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_advisor_run(advisor, block, NULL), -TACT_E_INVAL); /* empty */
	assert_int_equal(tact_block_load(block, (const uint8_t *)"\x48\x01\xd8", 3, NULL), 0);
	opt.least_gain = NAN;
	assert_int_equal(tact_advisor_run(advisor, block, &opt), -TACT_E_INVAL);
	opt.least_gain = -1;
	assert_int_equal(tact_advisor_run(advisor, block, &opt), -TACT_E_INVAL);
	opt.least_gain = 0;
	opt.size = 0;
	assert_int_equal(tact_advisor_run(advisor, block, &opt), -TACT_E_INVAL);
	assert_true(tact_advisor_run(advisor, block, NULL) >= 0);
	assert_int_equal(tact_advisor_get(NULL, 0, &x), -TACT_E_INVAL);
	assert_int_equal(tact_advisor_get(advisor, 99, &x), -TACT_E_INVAL);
	assert_int_equal(tact_advisor_get(advisor, 0, NULL), -TACT_E_INVAL);
	tact_block_destroy(block);
	tact_advisor_destroy(advisor);
}

RUN_TESTS(NULL, NULL)
