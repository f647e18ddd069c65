/* SPDX-License-Identifier: MIT
 *
 * The seam for instruction sets: a set that the library has never heard of, with four instructions
 * and a CPU made of text, through blocks, FACILE and the pipeline.
 *
 * An instruction has two bytes, its number and two registers of four bits:
 *
 *   1 XY  add x, y      x += y, and the flags
 *   2 XY  ld x, [y]
 *   3 XY  st [x], y
 *   4 NN  bz NN         by the flags, NN bytes from its end
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <tact/predict.h>
#include <tact/simulate.h>

#include "block/block.h"
#include "support.h"

/* ---- the set ---- */

enum { ADD = 1, LD, ST, BZ };

static void put_reg(struct tact_insn *insn, unsigned reg, uint8_t access)
{
	struct tact_operand *o = &insn->operand[insn->n_operands];

	*o = (struct tact_operand){.kind = TACT_OPERAND_REG,
				   .access = access,
				   .number = insn->n_operands,
				   .explicit_operand = true,
				   .bits = 64,
				   .reg = (uint8_t)reg,
				   .base = TACT_REG_NONE,
				   .index = TACT_REG_NONE,
				   .segment = TACT_REG_NONE};
	insn->n_operands++;
}

static void put_mem(struct tact_insn *insn, unsigned base, uint8_t access)
{
	put_reg(insn, TACT_REG_NONE, access);
	insn->operand[insn->n_operands - 1].kind = TACT_OPERAND_MEM;
	insn->operand[insn->n_operands - 1].number = 0;
	insn->operand[insn->n_operands - 1].base = (uint8_t)base;
	insn->attributes |= access == TACT_ACCESS_READ ? TACT_INSN_LOAD : TACT_INSN_STORE;
}

static int toy_decode(struct tact_insn *insn, const uint8_t *code, size_t size)
{
	if (size < 2 || code[0] < ADD || code[0] > BZ || (code[0] != BZ && code[1] & 0x88))
		return -TACT_E_DECODE;
	memset(insn, 0, sizeof(*insn));
	insn->form = (uint16_t)(code[0] - ADD);
	insn->length = 2;
	switch (code[0]) {
	case ADD:
		put_reg(insn, code[1] >> 4, TACT_ACCESS_READ | TACT_ACCESS_WRITE);
		put_reg(insn, code[1] & 15, TACT_ACCESS_READ);
		insn->flags_written = 1;
		break;
	case LD:
		put_reg(insn, code[1] >> 4, TACT_ACCESS_WRITE);
		put_mem(insn, code[1] & 15, TACT_ACCESS_READ);
		break;
	case ST:
		put_mem(insn, code[1] >> 4, TACT_ACCESS_WRITE);
		put_reg(insn, code[1] & 15, TACT_ACCESS_READ);
		break;
	default:
		insn->flags_read = 1;
		insn->flow = TACT_FLOW_BRANCH;
		insn->attributes = TACT_INSN_BRANCH | TACT_INSN_COND_BRANCH;
		insn->immediate = (int8_t)code[1];
		insn->immediate_bits = 8;
	}
	return insn->length;
}

static const char *const form_names[] = {"ADD", "LD", "ST", "BZ"};
static const char *const register_names[] = {"a", "b", "c", "d", "e", "f", "g", "s"};

static int toy_format(const uint8_t *code, size_t code_size, uint64_t address, char *text,
		      size_t size)
{
	(void)address;
	if (code_size < 2 || code[0] < ADD || code[0] > BZ)
		return -TACT_E_DECODE;
	return snprintf(text, size, "%s %02x", form_names[code[0] - ADD], code[1]);
}

/* The whole instruction is the head: only the decoder reads the bytes. */
static size_t toy_lay_out(struct isa_layout *layouts, size_t max, const uint8_t *code, size_t size)
{
	size_t n = 0;

	(void)code;
	for (; n < max && 2 * (n + 1) <= size; n++)
		layouts[n] = (struct isa_layout){
			.length = 2, .head = 2, .disp_in_head = true, .imm_in_head = true};
	if (!n && max && size)
		layouts[n++] = (struct isa_layout){.length = 0};
	return n;
}

static const char *form_name(unsigned form)
{
	return form_names[form];
}

static unsigned find_form(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(form_names); i++)
		if (!strcmp(name, form_names[i]))
			return i;
	return TACT_FORM_NONE;
}

static const struct isa_forms forms = {
	.n = ARRAY_SIZE(form_names), .name = form_name, .find = find_form};

static const struct tact_isa toy = {
	.name = "toy",
	.title = "toy",
	.registers = {.n = 8,
		      .n_general = 8,
		      .first_vector = 8,
		      .end_vector = 8,
		      .stack_pointer = 7,
		      .frame_pointer = 6,
		      .n_flag_groups = 1,
		      .names = register_names},
	.decode = toy_decode,
	.format = toy_format,
	.lay_out = toy_lay_out,
	.forms = &forms,
};

/* ---- its CPU: two a cycle, additions of two cycles on three ports, one port for loads ---- */

static const char cpu[] =
	"iq_size = 20\npredecode_width = 8\ndecoders = 4\ndsb_width = 4\ndsb_window = 32\n"
	"dsb_lines = 3\ndsb_line_uops = 6\nidq_size = 64\nissue_width = 2\nport_binding = "
	"least\nrob_size = 64\n"
	"rs_size = 32\nretire_width = 4\nload_latency = 4\nload_latency_vec = 4\nstore_forward = "
	"4\n"
	"store_blocked = 12\nstore_forward_vec = 4\nbranch_penalty = 10\nl1_kib = 32\nl1_ways = 8\n"
	"l2_kib = 256\nl2_ways = 8\nl2_latency = 12\nl3_kib = 4096\nl3_ways = 16\nl3_latency = 40\n"
	"memory_latency = 200\nports = 0,1,2,3,4\nalu_ports = 0,1,2\nvec_ports = 0\nload_ports = "
	"3\n"
	"store_address_ports = 3\nstore_data_ports = 4\ntaken_branch_ports = 0\n"
	"ADD\tplain\tports=1*p012 lat=r0>r0:2,r1>r0:2\n"
	"LD\tplain\tports=1*p3 lat=m0.b>r0:4\n"
	"ST\tplain\tuops=2 ports=1*p3+1*p4\n"
	"BZ\tplain\tports=1*p0\n";

struct answers {
	double facile, sim;
	uint32_t bottlenecks;
};

static struct answers answers_of(const uint8_t *code, size_t size, enum tact_mode mode)
{
	struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct tact_prediction x = {.size = sizeof(x)};
	struct tact_simulation y = {.size = sizeof(y)};
	struct tact_simulator *simulator;
	struct tact_block *block;
	struct tact_arch *arch;
	struct tact_diag diag;

	if (arch_create(&arch, "TOY1", &toy, cpu, &diag) < 0)
		fail_msg("line %llu: %s", (unsigned long long)diag.line, diag.text);
	assert_int_equal(tact_block_create(&block, arch, &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	assert_true(tact_block_coverage(block) == 1);
	assert_int_equal(tact_predict(block, NULL, &x), 0);
	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	assert_int_equal(tact_simulate(simulator, block, NULL, &y), 0);
	tact_simulator_destroy(simulator);
	tact_block_destroy(block);
	tact_arch_destroy(arch);
	return (struct answers){x.cycles_per_iteration, y.cycles_per_iteration, x.bottlenecks};
}

static void expect(const uint8_t *code, size_t size, enum tact_mode mode, double cycles,
		   enum tact_bound bottleneck)
{
	struct answers a = answers_of(code, size, mode);

	if (a.facile < cycles - 1e-9 || a.facile > cycles + 1e-9)
		fail_msg("FACILE: %g cycles, not %g", a.facile, cycles);
	if (a.sim < cycles - 1e-9 || a.sim > cycles + 1e-9)
		fail_msg("simulated: %g cycles, not %g", a.sim, cycles);
	assert_int_equal(a.bottlenecks, 1u << bottleneck);
}

static void a_chain(void **state)
{
	static const uint8_t code[] = {ADD, 0x01, ADD, 0x02, ADD, 0x03}; /* a += b, c, d */

	(void)state;
	expect(code, sizeof(code), TACT_MODE_UNROLL, 6, TACT_BOUND_PRECEDENCE);
}

static void a_port(void **state)
{
	static const uint8_t code[] = {LD, 0x07, LD, 0x17, LD, 0x27}; /* of one base */

	(void)state;
	expect(code, sizeof(code), TACT_MODE_UNROLL, 3, TACT_BOUND_PORTS);
}

static void a_width(void **state)
{
	static const uint8_t code[] = {ADD, 0x07, ADD, 0x17, ADD, 0x27,
				       ADD, 0x37, ADD, 0x47, ADD, 0x57};

	(void)state;
	expect(code, sizeof(code), TACT_MODE_UNROLL, 3, TACT_BOUND_ISSUE);
}

/* Loads wait for what loads bring, stores are met by loads, and a loop is known as one. */
static void memory_and_a_loop(void **state)
{
	static const uint8_t chase[] = {LD, 0x00};
	static const uint8_t through[] = {LD, 0x01, ADD, 0x00, ST, 0x10}; /* [b] = 2 [b] */
	static const uint8_t loop[] = {ADD, 0x01, BZ, 0xfc};
	struct answers a;

	(void)state;
	expect(chase, sizeof(chase), TACT_MODE_UNROLL, 4, TACT_BOUND_PRECEDENCE);
	a = answers_of(through, sizeof(through), TACT_MODE_UNROLL);
	assert_true(a.facile >= 6 && a.sim >= a.facile - 1e-9);
	expect(loop, sizeof(loop), TACT_MODE_AUTO, 2, TACT_BOUND_PRECEDENCE);
}

static void names_are_its_own(void **state)
{
	static const uint8_t code[] = {ADD, 0x01};
	struct tact_block *block;
	struct tact_chain chain = TACT_CHAIN_INIT;
	struct tact_arch *arch;
	struct tact_insn insn;
	char text[32];

	(void)state;
	assert_int_equal(arch_create(&arch, "TOY1", &toy, cpu, NULL), 0);
	assert_ptr_equal(tact_arch_isa(arch), &toy);
	assert_int_equal(tact_arch_form_count(arch), 4);
	assert_int_equal(tact_arch_validate(arch, NULL), 0);
	assert_int_equal(tact_isa_decode(&toy, &insn, code, 2), 2);
	assert_int_equal(tact_isa_decode(&toy, &insn, code, 1), -TACT_E_DECODE);
	assert_int_equal(tact_isa_format(&toy, code, 2, 0, text, sizeof(text)), 6);
	assert_int_equal(tact_block_create(&block, arch, NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, (const uint8_t *)"\x09\x00", 2, NULL),
			 -TACT_E_DECODE);
	assert_int_equal(tact_block_load(block, code, 1, NULL), -TACT_E_DECODE);
	assert_int_equal(tact_block_load(block, code, 2, NULL), 0);
	assert_int_equal(tact_explain_chain(block, &chain), 0);
	assert_int_equal(chain.n_links, 1);
	assert_string_equal(
		tact_explain_value(block, chain.links[0].from_kind, chain.links[0].from_reg), "a");
	/* Code decoded as one set means nothing to a CPU of another one. */
	assert_int_equal(tact_block_rebind(block, tact_arch_find("SKL"), NULL), -TACT_E_INVAL);
	assert_ptr_equal(tact_block_arch(block), arch);
	tact_block_destroy(block);
	tact_arch_destroy(arch);
}

static void bad_text(void **state)
{
	struct tact_arch *arch;
	struct tact_diag diag;

	(void)state;
	assert_int_equal(arch_create(NULL, "X", &toy, cpu, NULL), -TACT_E_INVAL);
	assert_int_equal(arch_create(&arch, "X", NULL, cpu, NULL), -TACT_E_INVAL);
	assert_int_equal(arch_create(&arch, "X", &toy, "", NULL), -TACT_E_INVAL);
	assert_int_equal(arch_create(&arch, "X", &toy, "issue_width = 4\n", &diag), -TACT_E_FORMAT);
	assert_int_equal(arch_create(&arch, "X", &toy, "SUB\tplain\tuops=1\n", &diag),
			 -TACT_E_FORMAT);
	assert_int_equal(diag.line, 1);
	assert_int_equal(arch_create(&arch, "X", &toy, "\nfrobs = 4\n", &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain),	     cmocka_unit_test(a_port),
		cmocka_unit_test(a_width),	     cmocka_unit_test(memory_and_a_loop),
		cmocka_unit_test(names_are_its_own), cmocka_unit_test(bad_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
