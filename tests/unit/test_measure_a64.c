/* SPDX-License-Identifier: MIT
 *
 * How AArch64 code is measured, as far as that can be seen on any machine: what is refused, and the
 * code around a block.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "arch/arch_llvm.h"
#include "llvm_module.h"
#include "measure/aarch64/timer_a64.h"
#include "measure/aarch64/words_a64.h"
#include "support.h"

/* ---- what may run ---- */

TEST(refuses_by_encoding)
{
	static const struct {
		uint32_t word;
		const char *why; /* NULL: it may run */
	} words[] = {
		{0x00001234, "undefined"},	 /* udf */
		{0xd4000001, "kernel"},		 /* svc #0 */
		{0xd41fffe1, "kernel"},		 /* svc #0xffff */
		{0xd4000002, "privileged"},	 /* hvc */
		{0xd4000003, "privileged"},	 /* smc */
		{0xd4200000, "exception"},	 /* brk */
		{0xd4400000, "exception"},	 /* hlt */
		{0x14000000, "leaves"},		 /* b */
		{0x94000000, "leaves"},		 /* bl */
		{0x54000001, "leaves"},		 /* b.ne */
		{0xb4000000, "leaves"},		 /* cbz */
		{0x36000000, "leaves"},		 /* tbz */
		{0xd61f0000, "leaves"},		 /* br x0 */
		{0xd63f0000, "leaves"},		 /* blr x0 */
		{0xd65f03c0, "leaves"},		 /* ret */
		{0xd69f03e0, "leaves"},		 /* eret */
		{0xd503201f, NULL},		 /* nop */
		{0xd503203f, NULL},		 /* yield */
		{0xd503205f, "waits"},		 /* wfe */
		{0xd503207f, "waits"},		 /* wfi */
		{0xd503209f, "waits"},		 /* sev */
		{0xd5031000, "waits"},		 /* wfet x0 */
		{0xd503233f, NULL},		 /* paciasp */
		{0xd50323bf, NULL},		 /* autiasp */
		{0xd503245f, NULL},		 /* bti c */
		{0xd503221f, "system"},		 /* esb */
		{0xd5033bbf, NULL},		 /* dmb ish */
		{0xd5033b9f, NULL},		 /* dsb ish */
		{0xd5033fdf, NULL},		 /* isb */
		{0xd503305f, "exclusive"},	 /* clrex */
		{0xd53b4200, NULL},		 /* mrs x0, nzcv */
		{0xd51b4400, NULL},		 /* msr fpcr, x0 */
		{0xd53bd040, NULL},		 /* mrs x0, tpidr_el0 */
		{0xd51bd040, "system register"}, /* msr tpidr_el0, x0 */
		{0xd53be040, "deterministic"},	 /* mrs x0, cntvct_el0 */
		{0xd53b9d00, "deterministic"},	 /* mrs x0, pmccntr_el0 */
		{0xd53b2400, "deterministic"},	 /* mrs x0, rndr */
		{0xd5380000, "system register"}, /* mrs x0, midr_el1 */
		{0xd5034fdf, "system"},		 /* msr daifset, #15 */
		{0xd50b7420, NULL},		 /* dc zva, x0 */
		{0xd50b7a20, "system"},		 /* dc cvac, x0 */
		{0xd50b7520, "system"},		 /* ic ivau, x0 */
		{0xd508871f, "system"},		 /* tlbi vmalle1 */
		{0x8b020020, NULL},		 /* add x0, x1, x2 */
		{0x91000420, NULL},		 /* add x0, x1, #1 */
		{0x10000000, NULL},		 /* adr x0, . */
		{0x9ac00820, NULL},		 /* udiv */
		{0x1e620820, NULL},		 /* fmul d0, d1, d2 */
		{0x4ea28420, NULL},		 /* add v0.4s, v1.4s, v2.4s */
		{0x04e00000, "length"},		 /* SVE: add z0.d, z0.d, z0.d */
		{0xa5e04000, "length"},		 /* ld1d z0 */
		{0x80800000, "length"},		 /* SME: fmopa */
		{0xf9400000, NULL},		 /* ldr x0, [x0] */
		{0x3dc00000, NULL},		 /* ldr q0, [x0] */
		{0xa9400440, NULL},		 /* ldp */
		{0xf8408c20, NULL},		 /* ldr x0, [x1, #8]! */
		{0x58000000, NULL},		 /* ldr x0, . */
		{0x4c407c20, NULL},		 /* ld1 */
		{0xf8200041, NULL},		 /* ldadd */
		{0xc8dffc20, NULL},		 /* ldar */
		{0xc8a07c41, NULL},		 /* cas */
		{0xc85f7c20, "exclusive"},	 /* ldxr */
		{0xc8007c41, "exclusive"},	 /* stxr */
		{0xc87f0440, "exclusive"},	 /* ldxp */
		{0x48207c82, NULL},		 /* casp */
		{0xd9200820, "tags"},		 /* stg */
		{0x19010440, "whole areas"},	 /* cpyfp */
		{0xf83fd020, "devices"},	 /* ld64b */
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *why = measure_a64_refusal(words[i].word);

		if (!why != !words[i].why || (why && !strstr(why, words[i].why)))
			fail_msg("0x%08x: %s", words[i].word, why ? why : "may run");
	}
}

/* What LLVM calls a transfer, or a system register, never may. */
TEST(lets_no_transfer_run)
{
	struct rng rng = {7};
	unsigned run = 0;

	need_llvm();
	for (int i = 0; i < 200000; i++) {
		uint32_t word = (uint32_t)rng_next(&rng);
		struct tact_insn insn;
		char text[96] = "";

		if (i % 2) /* in the part that has all of these */
			word = (word & 0xe3ffffff) | 0x14000000;
		if (measure_a64_refusal(word) ||
		    tact_isa_decode(&isa_aarch64, &insn, (const uint8_t *)&word, 4) < 0)
			continue;
		run++;
		tact_isa_format(&isa_aarch64, (const uint8_t *)&word, 4, 0, text, sizeof(text));
		if (insn.flow != TACT_FLOW_NEXT)
			fail_msg("0x%08x may run: %s", word, text);
	}
	assert_true(run > 10000);
}

/* ---- blocks ---- */

static struct measure_screen screen(const char *hex, bool loop, char reason[160])
{
	struct measure_screen s;
	uint8_t code[256];

	measure_a64_screen(&s, code, bytes_of(code, sizeof(code), hex), loop, reason, 160);
	return s;
}

TEST(screens_blocks)
{
	struct measure_screen s;
	char reason[160];

	need_llvm();
	s = screen("", false, reason);
	assert_int_equal(s.status, TACT_MEASURE_DECODE);
	s = screen("0000018b00", false, reason);
	assert_int_equal(s.status, TACT_MEASURE_DECODE);
	s = screen("0000018b010000d4", false, reason);
	assert_int_equal(s.status, TACT_MEASURE_REFUSED);
	assert_string_equal(reason, "svc #0 enters the kernel");
	s = screen("20004038410440f9", false, reason); /* ldurb w0, [x1]; ldr x1, [x2, #8] */
	assert_int_equal(s.status, TACT_MEASURE_OK);
	assert_int_equal(s.n_insns, 2);
	assert_int_equal(s.used, 7);
	s = screen("00000010", false, reason); /* adr x0, . */
	assert_int_equal(s.status, TACT_MEASURE_OK);
	s = screen("ffffffff", false, reason);
	assert_int_not_equal(s.status, TACT_MEASURE_OK);
}

TEST(finds_loops)
{
	struct measure_screen s;
	char reason[160];

	need_llvm();
	/* add x0, x0, x1; subs x1, x1, #1; b.ne */
	s = screen("0000018b210400f1c1ffff54", true, reason);
	assert_int_equal(s.status, TACT_MEASURE_OK);
	assert_true(s.is_loop);
	assert_int_equal(s.own_counter, 1);
	/* the same, not as a loop */
	s = screen("0000018b210400f1c1ffff54", false, reason);
	assert_int_equal(s.status, TACT_MEASURE_REFUSED);
	/* sub x1, x1, #1; cbnz x1 */
	s = screen("210400d1e1ffffb5", true, reason);
	assert_int_equal(s.own_counter, 1);
	/* cbnz of another register, and of 32 bits: the register may count, but does not */
	s = screen("210400d1e2ffffb5", true, reason);
	assert_true(s.is_loop);
	assert_int_equal(s.own_counter, -1);
	s = screen("210400d1e1ffff35", true, reason);
	assert_int_equal(s.own_counter, -1);
	/* sub without flags before b.ne */
	s = screen("210400d1e1ffff54", true, reason);
	assert_int_equal(s.own_counter, -1);
	/* written twice: mov x1, x2 first; and by an address: ldr x0, [x1], #8 */
	s = screen("e10302aa210400d1c1ffffb5", true, reason);
	assert_int_equal(s.own_counter, -1);
	s = screen("208440f8210400d1c1ffffb5", true, reason);
	assert_int_equal(s.own_counter, -1);
	/* bl to the start is a call */
	s = screen("0000018bffffff97", true, reason);
	assert_int_equal(s.status, TACT_MEASURE_REFUSED);
	/* a branch to another place */
	s = screen("0000018b21000054", true, reason);
	assert_int_equal(s.status, TACT_MEASURE_REFUSED);
}

/* ---- code ---- */

TEST(counts_and_moves)
{
	uint8_t code[16];

	assert_int_equal(measure_a64_put_counter(code, 30, 8), 8);
	assert_int_equal(a64_word(code), 0xd10007de);	  /* sub x30, x30, #1 */
	assert_int_equal(a64_word(code + 4), 0xb5ffffbe); /* cbnz x30, -12 */
	assert_int_equal(measure_a64_put_move(code, 3, 64), 4);
	assert_int_equal(a64_word(code), 0x91010063); /* add x3, x3, #64 */
	assert_int_equal(measure_a64_put_move(code, A64_REG_SP, -0x5008), 8);
	assert_int_equal(a64_word(code), 0xd10023ff);	  /* sub sp, sp, #8 */
	assert_int_equal(a64_word(code + 4), 0xd14017ff); /* sub sp, sp, #5, lsl #12 */
	assert_int_equal(measure_a64_put_move(code, 3, 0x1000), 4);
	assert_int_equal(measure_a64_put_move(code, 3, 1 << 24), 0);
	assert_int_equal(measure_a64_put_move(code, 3, INT32_MIN), 0);
}

struct emitted {
	uint8_t *area;
	struct measure_layout layout;
};

static struct emitted emit(const struct measure_plan *plan)
{
	struct emitted e = {.area = calloc(1, MEASURE_CODE_BYTES)};

	assert_non_null(e.area);
	assert_int_equal(measure_a64_emit(e.area, plan, &e.layout), 0);
	return e;
}

/* Where a gate leads; it loads one register on the way. */
static uint32_t behind(const struct emitted *e, uint32_t gate, unsigned *reg, uint64_t *value)
{
	uint32_t word;

	*value = 0;
	for (;; gate += 4) {
		word = a64_word(e->area + gate);
		if ((word & 0x9f800000) != 0x92800000)
			break;
		*reg = word & 31;
		*value |= (uint64_t)a64_field(word, 5, 16) << 16 * a64_field(word, 21, 2);
	}
	assert_int_equal(word & 0xfc000000, 0x14000000);
	return gate + (uint32_t)(a64_signed(word, 0, 26) * 4);
}

static const uint8_t two_insns[] = {0x00, 0x00, 0x01, 0x8b, 0x20, 0x00, 0x40, 0xf9};

static void check_gates(const struct emitted *e, unsigned expected_reg)
{
	const uint32_t gates[][2] = {{e->layout.enter_low, e->layout.body_low},
				     {e->layout.enter_high, e->layout.body},
				     {e->layout.enter_end, e->layout.end},
				     {e->layout.enter_step, e->layout.step_body}};

	for (size_t i = 0; i < ARRAY_SIZE(gates); i++) {
		unsigned reg = 99;
		uint64_t value;

		assert_int_equal(behind(e, gates[i][0], &reg, &value), gates[i][1]);
		assert_int_equal(reg, expected_reg);
		assert_int_equal(value, MEASURE_INIT_VALUE);
	}
}

TEST(emits_copies)
{
	const struct measure_plan plan = {.code = two_insns,
					  .size = sizeof(two_insns),
					  .alignment = 12,
					  .copies = 40,
					  .low = 10,
					  .high = 40};
	struct emitted e = emit(&plan);

	assert_int_equal(e.layout.body % MEASURE_LINE, 12);
	assert_int_equal(e.layout.body_low, e.layout.body + 30 * sizeof(two_insns));
	assert_int_equal(e.layout.end, e.layout.body + 40 * sizeof(two_insns));
	for (unsigned i = 0; i < 40; i++)
		assert_memory_equal(e.area + e.layout.body + i * sizeof(two_insns), two_insns,
				    sizeof(two_insns));
	check_gates(&e, 17);
	/* each instruction of the steps has a brk before it */
	for (unsigned i = 0; i < 80; i++) {
		assert_int_equal(a64_word(e.area + e.layout.step_body + 8 * i), A64_BRK);
		assert_memory_equal(e.area + e.layout.step_body + 8 * i + 4, two_insns + i % 2 * 4,
				    4);
		assert_int_equal(measure_a64_step_pc(&e.layout, MEASURE_CODE_BASE +
									e.layout.step_body + 8 * i),
				 MEASURE_CODE_BASE + e.layout.body + 4 * i);
	}
	free(e.area);
}

TEST(emits_loops)
{
	struct measure_plan plan = {.code = two_insns,
				    .size = sizeof(two_insns),
				    .loop = true,
				    .copies = 1,
				    .low = 64,
				    .high = 256,
				    .counter = 17};
	const uint8_t own[] = {0x00, 0x00, 0x01, 0x8b, 0x21, 0x04,
			       0x00, 0xf1, 0xc1, 0xff, 0xff, 0x54};
	struct emitted e = emit(&plan);
	uint32_t branch;

	assert_int_equal(e.layout.body_low, e.layout.body);
	assert_int_equal(e.layout.end, e.layout.body + 16);
	assert_int_equal(a64_word(e.area + e.layout.body + 12), 0xb5ffffb1); /* cbnz x17 */
	check_gates(&e, 16);						     /* not the counter */
	free(e.area);

	/* A block that counts itself: its branch leads to the first brk. */
	plan.code = own;
	plan.size = sizeof(own);
	plan.own_branch = true;
	plan.counter = 1;
	e = emit(&plan);
	assert_int_equal(e.layout.end, e.layout.body + 12);
	branch = a64_word(e.area + e.layout.step_body + 20);
	assert_int_equal(branch, 0x54000001 | (0x7ffff & -5) << 5);
	check_gates(&e, 17);
	free(e.area);
}

TEST(emits_several_loops)
{
	struct measure_plan plan = {.code = two_insns,
				    .size = sizeof(two_insns),
				    .loop = true,
				    .alignment = 4,
				    .copies = 3,
				    .low = 208,
				    .high = 512,
				    .counter = 5};
	struct emitted e;

	plan.back_size = measure_a64_put_move(plan.back, 1, -4096);
	measure_a64_put_move(plan.back_low, 1, -2048);
	e = emit(&plan);
	assert_true(e.layout.body_low < e.layout.body);
	assert_int_equal(e.layout.body % MEASURE_LINE, 4);
	assert_int_equal(e.layout.body_low % MEASURE_LINE, 4);
	check_gates(&e, 17);
	free(e.area);
}

TEST(fits_or_says_so)
{
	uint8_t *code = calloc(1, MEASURE_MAX_BLOCK), *area = calloc(1, MEASURE_CODE_BYTES);
	const struct measure_plan plan = {.code = code,
					  .size = MEASURE_MAX_BLOCK / 4 * 4,
					  .copies = 4096,
					  .low = 16,
					  .high = 4096};
	struct measure_layout layout;

	assert_int_equal(measure_a64_emit(area, &plan, &layout), -TACT_E_LIMIT);
	free(code);
	free(area);
}

TEST(computes_accesses)
{
	static const struct {
		const char *hex;
		uint64_t address;
		unsigned size;
		bool is_store;
	} cases[] = {
		{"200040f9", 0x1000, 8, false},			 /* ldr x0, [x1] */
		{"200800f9", 0x1010, 8, true},			 /* str x0, [x1, #16] */
		{"204862f8", 0x1000 + 0x80000001ull, 8, false},	 /* ldr x0, [x1, w2, uxtw] */
		{"20c862f8", 0x1000 - 0x7fffffffull, 8, false},	 /* [x1, w2, sxtw] */
		{"206862f8", 0x1000 + 0x380000001ull, 8, false}, /* [x1, x2] */
		{"e0077ea9", 0x8000 - 32, 16, false},		 /* ldp x0, x1, [sp, #-32] */
	};
	struct measure_step step = {.pc = 0};

	need_llvm();
	step.reg[1] = 0x1000;
	step.reg[2] = 0x380000001;
	step.reg[31] = 0x8000;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct measure_access a[MEASURE_MAX_ACCESSES];
		uint8_t code[4];

		bytes_of(code, sizeof(code), cases[i].hex);
		assert_int_equal(measure_a64_accesses(a, code, 4, &step), 1);
		assert_int_equal(a[0].address, cases[i].address);
		assert_int_equal(a[0].size, cases[i].size);
		assert_int_equal(a[0].is_store, cases[i].is_store);
	}
}

/* ---- clocks and CPUs ---- */

TEST(shifts_slow_timers)
{
	static const uint64_t hertz[] = {19200000, 24000000,  25000000,
					 62500000, 100000000, 1000000000};

	for (size_t i = 0; i < ARRAY_SIZE(hertz); i++) {
		const uint64_t rate = hertz[i] << a64_timer_shift(hertz[i]);

		assert_true(rate >= 1000000000 && rate < 2000000000);
	}
	assert_int_equal(a64_timer_shift(1000000000), 0);
	assert_int_equal(a64_timer_shift(0), 0);
	assert_int_equal(a64_timer_shift(1), A64_MAX_SHIFT);
}

TEST(names_cores)
{
	need_llvm();
	for (unsigned implementer = 0; implementer < 256; implementer++)
		for (unsigned part = 0; part < 4096; part++) {
			const struct a64_core *core = a64_core_of(implementer, part);

			if (!core)
				continue;
			assert_non_null(a64_vendor_of(implementer));
			if (core->llvm && !arch_llvm_find(core->llvm))
				fail_msg("LLVM does not know %s", core->llvm);
		}
	assert_string_equal(a64_core_of(0x41, 0xd0c)->llvm, "neoverse-n1");
	assert_null(a64_core_of(0, 0));
	assert_null(a64_vendor_of(0));
}

RUN_TESTS(NULL, NULL)
