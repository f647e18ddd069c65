/* SPDX-License-Identifier: MIT
 *
 * The sets that LLVM decodes: what comes from LLVM, and what the sets read from the encoding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>

#include "isa/isa.h"
#include "llvm_module.h"
#include "support.h"

static const struct tact_isa *set(const char *name)
{
	need_llvm();
	return tact_isa_find(name);
}

static const struct tact_operand *memory_of(const struct tact_insn *insn)
{
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_MEM)
			return &insn->operand[i];
	return NULL;
}

static struct tact_insn decode(const struct tact_isa *isa, uint32_t word, unsigned length)
{
	struct tact_insn insn;

	assert_int_equal(tact_isa_decode(isa, &insn, (const uint8_t *)&word, length), length);
	return insn;
}

struct access {
	uint32_t word;
	uint8_t length, base, index, access;
	uint16_t bits;
	int64_t displacement;
};

enum { R = TACT_ACCESS_READ, W = TACT_ACCESS_WRITE, NONE = TACT_REG_NONE };

static void check_accesses(const struct tact_isa *isa, const struct access *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tact_insn insn = decode(isa, list[i].word, list[i].length);
		const struct tact_operand *m = memory_of(&insn);

		assert_non_null(m);
		assert_int_equal(m->base, list[i].base);
		assert_int_equal(m->index, list[i].index);
		assert_int_equal(m->access, list[i].access);
		assert_int_equal(m->bits, list[i].bits);
		assert_int_equal(insn.displacement, list[i].displacement);
	}
}

static void bases_of_aarch64_are_written_back(void **state)
{
	static const struct {
		uint32_t word;
		int change;
	} list[] = {
		{0xf8408420, 8},   /* ldr x0, [x1], #8 */
		{0x381ffc85, -1},  /* strb w5, [x4, #-1]! */
		{0xa9bf7bfd, -16}, /* stp x29, x30, [sp, #-16]! */
		{0xa8c17bfd, 16},  /* ldp x29, x30, [sp], #16 */
		{0xf9400420, 0},   /* ldr x0, [x1, #8] */
		{0xf85f8020, 0},   /* ldur x0, [x1, #-8] */
		{0xa9400440, 0},   /* ldp x0, x1, [x2] */
		{0xf8627820, 0},   /* ldr x0, [x1, x2, lsl #3] */
	};
	const struct tact_isa *isa = set("aarch64");

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		assert_int_equal(decode(isa, list[i].word, 4).base_change, list[i].change);
}

static void addresses_of_aarch64(void **state)
{
	static const struct access list[] = {
		{0xf9400420, 4, 1, NONE, R, 64, 8},	/* ldr x0, [x1, #8] */
		{0xf8627820, 4, 1, 2, R, 64, 0},	/* ldr x0, [x1, x2, lsl #3] */
		{0xf8408420, 4, 1, NONE, R, 64, 0},	/* ldr x0, [x1], #8 */
		{0x381ffc85, 4, 4, NONE, W, 8, -1},	/* strb w5, [x4, #-1]! */
		{0xa9bf7bfd, 4, 31, NONE, W, 128, -16}, /* stp x29, x30, [sp, #-16]! */
		{0x3dc00420, 4, 1, NONE, R, 128, 16},	/* ldr q0, [x1, #16] */
		{0x58000040, 4, NONE, NONE, R, 64, 0},	/* ldr x0, . + 8 */
		{0x88027c81, 4, 4, NONE, W, 32, 0},	/* stxr w2, w1, [x4] */
		{0x885ffc01, 4, 0, NONE, R, 32, 0},	/* ldaxr w1, [x0] */
		{0xf8220020, 4, 1, NONE, R | W, 64, 0}, /* ldadd x2, x0, [x1] */
	};
	const struct tact_isa *isa = set("aarch64");
	struct tact_insn insn;

	(void)state;
	check_accesses(isa, list, ARRAY_SIZE(list));
	insn = decode(isa, 0xd5033bbf, 4); /* dmb ish: no address */
	assert_null(memory_of(&insn));
	insn = decode(isa, 0x8b020020, 4); /* add x0, x1, x2 */
	assert_int_equal(insn.n_operands, 3);
	assert_int_equal(insn.operand[0].access, W);
	assert_int_equal(insn.operand[2].reg, 2);
	insn = decode(isa, 0xf1000821, 4); /* subs x1, x1, #2 */
	assert_int_equal(insn.flags_written, 1);
	assert_int_equal(insn.flags_read, 0);
	insn = decode(isa, 0xaa0203e1, 4); /* mov x1, x2: no zero register */
	assert_int_equal(insn.value_effect, TACT_VALUE_COPY);
	assert_int_equal(insn.n_operands, 2);
}

static void addresses_of_riscv(void **state)
{
	static const struct access list[] = {
		{0x0085b503, 4, 11, NONE, R, 64, 8},	 /* ld a0, 8(a1) */
		{0xfea5bc23, 4, 11, NONE, W, 64, -8},	 /* sd a0, -8(a1) */
		{0x0045a507, 4, 11, NONE, R, 32, 4},	 /* flw fa0, 4(a1) */
		{0x6588, 2, 11, NONE, R, 64, 8},	 /* c.ld a0, 8(a1) */
		{0xc1c8, 2, 11, NONE, W, 32, 4},	 /* c.sw a0, 4(a1) */
		{0x6522, 2, 2, NONE, R, 64, 8},		 /* c.ldsp a0, 8(sp) */
		{0xe42a, 2, 2, NONE, W, 64, 8},		 /* c.sdsp a0, 8(sp) */
		{0x00b6252f, 4, 12, NONE, R | W, 32, 0}, /* amoadd.w a0, a1, (a2) */
	};
	const struct tact_isa *isa = set("riscv64");
	struct tact_insn insn;

	(void)state;
	check_accesses(isa, list, ARRAY_SIZE(list));
	insn = decode(isa, 0x00c58533, 4); /* add a0, a1, a2 */
	assert_int_equal(insn.n_operands, 3);
	assert_int_equal(insn.operand[1].reg, 11);
	insn = decode(isa, 0x0505, 2); /* c.addi a0, 1 */
	assert_int_equal(insn.value_effect, TACT_VALUE_ADD);
	assert_int_equal(insn.immediate, 1);
}

struct flow {
	uint32_t word;
	uint8_t length, flow;
	bool is_direct;
	int64_t target;
};

static void check_flows(const struct tact_isa *isa, const struct flow *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct isa_step step;

		assert_int_equal(
			isa->scan(&step, 1, (const uint8_t *)&list[i].word, list[i].length), 1);
		assert_true(step.is_valid);
		assert_int_equal(step.flow, list[i].flow);
		assert_int_equal(step.is_direct, list[i].is_direct);
		if (list[i].is_direct)
			assert_int_equal(step.target, list[i].target);
	}
}

static void control_flow_is_known(void **state)
{
	static const struct flow a64[] = {
		{0x54ffffc1, 4, TACT_FLOW_BRANCH, true, -8}, /* b.ne */
		{0xb4000040, 4, TACT_FLOW_BRANCH, true, 8},  /* cbz x0 */
		{0x14000002, 4, TACT_FLOW_JUMP, true, 8},    /* b */
		{0x94000002, 4, TACT_FLOW_CALL, true, 8},    /* bl */
		{0xd63f0020, 4, TACT_FLOW_CALL, false, 0},   /* blr x1 */
		{0xd61f0020, 4, TACT_FLOW_JUMP, false, 0},   /* br x1 */
		{0xd65f03c0, 4, TACT_FLOW_RETURN, false, 0}, /* ret */
		{0xd4000001, 4, TACT_FLOW_KERNEL, false, 0}, /* svc #0 */
		{0xd4200000, 4, TACT_FLOW_STOP, false, 0},   /* brk #0 */
		{0x8b020020, 4, TACT_FLOW_NEXT, false, 0},
	};
	static const struct flow rv[] = {
		{0xfeb51ee3, 4, TACT_FLOW_BRANCH, true, -4}, /* bne a0, a1 */
		{0xfd75, 2, TACT_FLOW_BRANCH, true, -4},     /* c.bnez a0 */
		{0x0080006f, 4, TACT_FLOW_JUMP, true, 8},    /* j */
		{0x008000ef, 4, TACT_FLOW_CALL, true, 8},    /* jal ra */
		{0x8082, 2, TACT_FLOW_RETURN, false, 0},     /* ret */
		{0x00000073, 4, TACT_FLOW_KERNEL, false, 0}, /* ecall */
		{0x9002, 2, TACT_FLOW_STOP, false, 0},	     /* c.ebreak */
	};

	(void)state;
	check_flows(set("aarch64"), a64, ARRAY_SIZE(a64));
	check_flows(set("riscv64"), rv, ARRAY_SIZE(rv));
}

/* What a branch was made to do is what is decoded. */
static void branches_are_turned(void **state)
{
	static const struct {
		const char *set;
		uint32_t word;
		uint8_t length;
		int64_t distance, too_far;
	} list[] = {
		{"aarch64", 0x54ffffc1, 4, 1048572, 1048576},
		{"aarch64", 0x36000000, 4, -32768, 32768},
		{"aarch64", 0x94000000, 4, 134217724, 2},
		{"riscv64", 0x00b51063, 4, -4096, 4096},
		{"riscv64", 0x0000006f, 4, 1048574, 1048576},
		{"riscv64", 0xe101, 2, -256, 256},
		{"riscv64", 0xa001, 2, 2046, 2048},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		const struct tact_isa *isa = set(list[i].set);
		uint32_t word = list[i].word;
		struct isa_step step;

		assert_false(isa->retarget((uint8_t *)&word, list[i].length, list[i].too_far));
		assert_int_equal(word, list[i].word);
		assert_true(isa->retarget((uint8_t *)&word, list[i].length, list[i].distance));
		isa->scan(&step, 1, (const uint8_t *)&word, list[i].length);
		assert_int_equal(step.target, list[i].distance);
	}
	assert_int_equal(tact_isa_find("aarch64")->relocated_bytes(R_AARCH64_CALL26), 4);
	assert_int_equal(tact_isa_find("riscv64")->relocated_bytes(R_RISCV_RVC_JUMP), 2);
	assert_int_equal(tact_isa_find("aarch64")->relocated_bytes(R_AARCH64_ABS64), 0);
}

/* Lengths need no module. */
static void lengths_are_told(void **state)
{
	static const uint8_t mixed[] = {0x05, 0x05, 0x03, 0xb5, 0x85, 0x00, 0x13};
	struct isa_layout layouts[4];

	(void)state;
	assert_int_equal(tact_isa_find("riscv64")->lay_out(layouts, 4, mixed, sizeof(mixed)), 3);
	assert_int_equal(layouts[0].length, 2);
	assert_int_equal(layouts[1].length, 4);
	assert_int_equal(layouts[2].length, 0);
	assert_int_equal(tact_isa_find("aarch64")->lay_out(layouts, 4, mixed, sizeof(mixed)), 1);
	assert_int_equal(tact_isa_find("aarch64")->lay_out(layouts, 4, mixed, 3), 1);
	assert_int_equal(layouts[0].length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_aarch64),
		cmocka_unit_test(bases_of_aarch64_are_written_back),
		cmocka_unit_test(addresses_of_riscv),
		cmocka_unit_test(control_flow_is_known),
		cmocka_unit_test(branches_are_turned),
		cmocka_unit_test(lengths_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
