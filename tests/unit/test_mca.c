/* SPDX-License-Identifier: MIT
 *
 * The machine of llvm-mca: cases worked out by hand, and the seam.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

#include <tact/mca.h>

#include "mca/mca.h"

/* ---- one form at a time ---- */

/* A block on Haswell with parameters of its own. */
struct setting {
	const struct tact_arch *arch;
	struct tact_mca_params *params;
	struct tact_mca *machine;
	struct tact_block *block;
	struct tact_mca_options opt;
};

static void set_up(struct setting *s, const char *hex)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	uint8_t code[256];
	size_t size = bytes_of(code, sizeof(code), hex);

	memset(s, 0, sizeof(*s));
	s->arch = tact_arch_find("HSW");
	assert_int_equal(tact_mca_params_create(&s->params, s->arch, NULL), 0);
	s->opt = (struct tact_mca_options){.size = sizeof(s->opt), .params = s->params};
	assert_int_equal(tact_mca_create(&s->machine, &s->opt, NULL), 0);
	assert_int_equal(tact_block_create(&s->block, s->arch, &opt, NULL), 0);
	assert_int_equal(tact_block_load(s->block, code, size, NULL), 0);
}

static void tear_down(struct setting *s)
{
	tact_block_destroy(s->block);
	tact_mca_destroy(s->machine);
	tact_mca_params_destroy(s->params);
}

static unsigned form_of(const struct setting *s, size_t i)
{
	struct tact_insn insn;

	assert_int_equal(tact_block_insn(s->block, i, &insn), 0);
	return insn.form;
}

/* Micro-ops, latency, and cycles of one port (port -1: none) of instruction i; no advance. */
static void set_form(struct setting *s, size_t i, int micro_ops, int latency, int port, int cycles)
{
	unsigned form = form_of(s, i);

	assert_int_equal(tact_mca_set(s->params, form, TACT_MCA_MICRO_OPS, 0, micro_ops), 0);
	assert_int_equal(tact_mca_set(s->params, form, TACT_MCA_LATENCY, 0, latency), 0);
	for (unsigned k = 0; k < TACT_MCA_READS; k++)
		assert_int_equal(tact_mca_set(s->params, form, TACT_MCA_READ_ADVANCE, k, 0), 0);
	for (int p = 0; p < TACT_MCA_PORTS; p++)
		assert_int_equal(tact_mca_set(s->params, form, TACT_MCA_PORT_CYCLES, (unsigned)p,
					      p == port ? cycles : 0),
				 0);
}

static void set_global(struct setting *s, unsigned kind, int value)
{
	assert_int_equal(tact_mca_set(s->params, 0, kind, 0, value), 0);
}

/* Total cycles of 100 iterations. */
static unsigned cycles_of(struct setting *s)
{
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;

	assert_int_equal(tact_mca_estimate(s->machine, s->block, &e), 0);
	return (unsigned)(e.cycles_per_iteration * 100 + 0.5);
}

TEST(dependency_chain)
{
	struct setting s;

	set_up(&s, "4801c0"); /* add rax, rax */
	/* Issues in 1 to 100, has executed in 101, retires in 102: llvm-mca says 103 as well. */
	set_form(&s, 0, 1, 1, -1, 0);
	assert_int_equal(cycles_of(&s), 103);
	set_form(&s, 0, 1, 5, -1, 0); /* issues in 1, 6, ..., 496 */
	assert_int_equal(cycles_of(&s), 503);
	set_form(&s, 0, 1, 200, -1, 0); /* further than the calendar reaches at a time */
	assert_int_equal(cycles_of(&s), 20003);
	set_form(&s, 0, 1, 65535, -1, 0);
	assert_int_equal(cycles_of(&s), 6553503);
	/* Four of them pass in one cycle: a chain without latency has no length. */
	set_form(&s, 0, 1, 0, 3, 1);
	assert_int_equal(cycles_of(&s), 100 + 2);
	tear_down(&s);
}

TEST(no_latency_and_no_port)
{
	struct setting s;

	set_up(&s, "4801c0");
	set_form(&s, 0, 1, 0, -1, 0); /* issues where it is dispatched: in 0 to 24 */
	assert_int_equal(cycles_of(&s), 26);
	tear_down(&s);
	set_up(&s, "480fafc0 4801c0"); /* imul rax, rax; add rax, rax */
	set_form(&s, 0, 1, 3, -1, 0);
	set_form(&s, 1, 1, 0, -1, 0); /* waits for the other, and passes its result on at once */
	assert_int_equal(cycles_of(&s), 303);
	tear_down(&s);
}

TEST(port_pressure)
{
	struct setting s;

	set_up(&s, "486bca03");			      /* imul rcx, rdx, 3: on port 1 */
	assert_int_equal(cycles_of(&s), 100 + 2 + 3); /* issues in 1 to 100 */
	set_form(&s, 0, 1, 3, 1, 4); /* holds the port for four cycles: 1, 5, ..., 397 */
	assert_int_equal(cycles_of(&s), 397 + 3 + 2);
	tear_down(&s);
	set_up(&s, "486bca03 b801000000"); /* and mov eax, 1 */
	set_form(&s, 0, 1, 3, 1, 1);
	set_form(&s, 1, 1, 1, 1, 2); /* together three cycles of port 1 */
	assert_int_equal((cycles_of(&s) + 50) / 100, 3);
	set_form(&s, 1, 1, 1, 2, 2); /* on another port: two */
	assert_int_equal((cycles_of(&s) + 50) / 100, 2);
	assert_int_equal(tact_mca_set(s.params, form_of(&s, 1), TACT_MCA_PORT_CYCLES, 1, 1), 0);
	/* It needs both ports in the same cycle: the one that waits for its second port keeps none.
	 */
	assert_int_equal((cycles_of(&s) + 50) / 100, 2);
	tear_down(&s);
}

TEST(dispatch_limit)
{
	struct setting s;

	set_up(&s, "b801000000");     /* mov eax, 1 */
	set_form(&s, 0, 1, 1, -1, 0); /* four a cycle: the last in 24, retires in 27 */
	assert_int_equal(cycles_of(&s), 28);
	set_form(&s, 0, 3, 1, -1, 0); /* two do not fit: one a cycle */
	assert_int_equal(cycles_of(&s), 103);
	set_form(&s, 0, 6, 1, -1, 0); /* 4 + 2: the rest of the second cycle is too small */
	assert_int_equal(cycles_of(&s), 198 + 4);
	set_form(&s, 0, 10, 1, -1, 0); /* 4 + 4 + 2 */
	assert_int_equal(cycles_of(&s), 297 + 4);
	set_global(&s, TACT_MCA_DISPATCH_WIDTH, 5); /* 5 + 5 */
	assert_int_equal(cycles_of(&s), 198 + 4);
	tear_down(&s);
	set_up(&s, "b801000000 486bca03");
	set_form(&s, 0, 6, 1, -1, 0);
	set_form(&s, 1, 2, 1, -1, 0); /* fits into the second cycle of the other, the last in 199 */
	assert_int_equal(cycles_of(&s), 199 + 4);
	tear_down(&s);
}

TEST(reorder_buffer_limit)
{
	struct setting s;

	set_up(&s, "b801000000");
	set_form(&s, 0, 1, 10, -1, 0);
	set_global(&s, TACT_MCA_REORDER_BUFFER, 4);
	/* Four in 0 issue in 1, have executed in 11, retire in 12; then the next four: 25 times. */
	assert_int_equal(cycles_of(&s), 24 * 12 + 13);
	set_form(&s, 0, 4, 10, -1, 0); /* one at a time */
	assert_int_equal(cycles_of(&s), 99 * 12 + 13);
	set_form(&s, 0, 1000, 10, -1, 0); /* more than the buffer holds: takes all of it */
	assert_int_equal(cycles_of(&s), 99 * 250 + 13);
	set_global(&s, TACT_MCA_REORDER_BUFFER, 1);
	set_form(&s, 0, 1, 0, -1, 0);
	assert_int_equal(cycles_of(&s), 99 + 2);
	tear_down(&s);
}

TEST(read_advance)
{
	struct setting s;
	unsigned form;

	set_up(&s, "4801c0");
	form = form_of(&s, 0);
	set_form(&s, 0, 1, 5, -1, 0);
	tact_mca_set(s.params, form, TACT_MCA_READ_ADVANCE, 0, 2);
	assert_int_equal(cycles_of(&s), 503); /* the other operand is the same register */
	tact_mca_set(s.params, form, TACT_MCA_READ_ADVANCE, 1, 2);
	assert_int_equal(cycles_of(&s), 298 + 5 + 2); /* issues in 1, 4, ..., 298 */
	tact_mca_set(s.params, form, TACT_MCA_READ_ADVANCE, 0, 9);
	tact_mca_set(s.params, form, TACT_MCA_READ_ADVANCE, 1, 9);
	assert_int_equal(cycles_of(&s),
			 25 + 5 + 2); /* never below 0: four a cycle, as dispatched */
	tear_down(&s);
	set_up(&s, "488b00"); /* mov rax, [rax]: the address counts as an operand */
	form = form_of(&s, 0);
	set_form(&s, 0, 1, 5, -1, 0);
	assert_int_equal(cycles_of(&s), 503);
	tact_mca_set(s.params, form, TACT_MCA_READ_ADVANCE, 0, 1);
	assert_int_equal(cycles_of(&s), 397 + 5 + 2);
	tear_down(&s);
}

TEST(memory_dependence)
{
	static const struct {
		const char *hex;
		enum tact_mca_memory memory;
		unsigned cycles;
	} cases[] = {
		{"0107", TACT_MCA_NO_ALIAS, 25 + 8}, /* add [rdi], eax */
		{"0107", TACT_MCA_ALIAS, 603},
		{"0107", TACT_MCA_ADDRESSES, 603},
		{"8907 8b1e", TACT_MCA_NO_ALIAS, 50 + 8}, /* mov [rdi], eax; mov ebx, [rsi] */
		{"8907 8b1e", TACT_MCA_ALIAS, 601 + 8}, /* stores stay in order, loads after them */
		{"8907 8b07", TACT_MCA_ADDRESSES, 1203},      /* mov [rdi], eax; mov eax, [rdi] */
		{"8907 8b4708", TACT_MCA_ADDRESSES, 50 + 14}, /* another; the last store waits */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setting s;

		set_up(&s, cases[i].hex);
		for (size_t k = 0; k < tact_block_length(s.block); k++)
			set_form(&s, k, 1, 6, -1, 0);
		s.opt.memory = cases[i].memory;
		tact_mca_destroy(s.machine);
		assert_int_equal(tact_mca_create(&s.machine, &s.opt, NULL), 0);
		assert_int_equal(cycles_of(&s), cases[i].cycles);
		tear_down(&s);
	}
}

TEST(steady_state)
{
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;
	struct setting s;

	set_up(&s, "4801c0");
	set_form(&s, 0, 1, 5, -1, 0);
	s.opt.steady = true;
	tact_mca_destroy(s.machine);
	assert_int_equal(tact_mca_create(&s.machine, &s.opt, NULL), 0);
	assert_int_equal(tact_mca_estimate(s.machine, s.block, &e), 0);
	assert_true(e.cycles_per_iteration == 5.0);
	s.opt.steady = false;
	s.opt.iterations = 1;
	tact_mca_destroy(s.machine);
	assert_int_equal(tact_mca_create(&s.machine, &s.opt, NULL), 0);
	assert_int_equal(tact_mca_estimate(s.machine, s.block, &e), 0);
	assert_true(e.cycles_per_iteration == 8.0); /* 0 dispatch, 1 issue, 6 executed, 7 retire */
	tear_down(&s);
}

/* A handle and the code agree to the last bit, for every block. */
TEST(all_ways_agree)
{
	struct tact_block *block;
	uint8_t bytes[10 * TACT_MAX_INSN_BYTES];
	struct rng rng = {21};
	struct setting s;

	set_up(&s, "90");
	assert_int_equal(tact_block_create(&block, s.arch, NULL, NULL), 0);
	for (unsigned n = rounds(500); n; n--) {
		size_t size = random_block(&rng, bytes, 10);
		struct tact_mca_result a = TACT_MCA_RESULT_INIT, d = TACT_MCA_RESULT_INIT;
		struct tact_mca_code *code;

		assert_int_equal(tact_block_load(block, bytes, size, NULL), 0);
		assert_int_equal(tact_mca_estimate(s.machine, block, &a), 0);
		assert_int_equal(tact_mca_code_create(&code, block, TACT_MCA_NO_ALIAS, NULL), 0);
		assert_int_equal(tact_mca_code_length(code), tact_block_length(block));
		assert_int_equal(tact_mca_run(s.machine, code, &d), 0);
		assert_true(a.cycles_per_iteration > 0);
		assert_true(a.cycles_per_iteration == d.cycles_per_iteration);
		assert_true(a.coverage == d.coverage);
		tact_mca_code_destroy(code);
	}
	tact_block_destroy(block);
	tear_down(&s);
}

TEST(a_block_of_4000)
{
	struct tact_mca_options opt = {.size = sizeof(opt)};
	static uint8_t code[12000];
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;
	struct setting s;

	set_up(&s, "4801c0");
	for (size_t i = 0; i < sizeof(code); i += 3)
		memcpy(code + i, "\x48\x01\xc0", 3);
	assert_int_equal(tact_block_load(s.block, code, sizeof(code), NULL), 0);
	assert_int_equal(cycles_of(&s), 400003);
	for (opt.memory = TACT_MCA_NO_ALIAS; opt.memory <= TACT_MCA_ADDRESSES; opt.memory++) {
		struct tact_mca *machine;

		assert_int_equal(tact_mca_create(&machine, &opt, NULL), 0);
		assert_int_equal(tact_mca_estimate(machine, s.block, &e), 0);
		tact_mca_destroy(machine);
		assert_true(e.cycles_per_iteration == 4000.03);
	}
	tear_down(&s);
}

TEST(an_unknown_instruction)
{
	struct tact_mca_code *code;
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;
	struct setting s;

	set_up(&s, "4801c0 dbe0"); /* add rax, rax; feni8087_nop */
	assert_int_equal(tact_mca_estimate(s.machine, s.block, &e), 0);
	assert_true(e.coverage == 0.5);
	assert_true(e.cycles_per_iteration >= 1);
	assert_int_equal(tact_mca_code_create(&code, s.block, TACT_MCA_ALIAS, NULL), 0);
	assert_int_equal(tact_mca_code_form(code, 0), form_of(&s, 0));
	assert_int_equal(tact_mca_code_form(code, 1), TACT_FORM_NONE);
	assert_int_equal(tact_mca_code_form(code, 2), TACT_FORM_NONE);
	tact_mca_code_destroy(code);
	set_global(&s, TACT_MCA_DISPATCH_WIDTH, 1); /* it counts as a micro-op */
	assert_int_equal(cycles_of(&s), 199 + 4);
	tear_down(&s);
}

TEST(misuse)
{
	struct tact_mca_options opt = {.size = sizeof(opt), .iterations = 1000001};
	struct tact_mca *machine;
	struct tact_mca_params *params;
	struct tact_mca_code *code;
	struct tact_block *empty;
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;
	struct setting s;

	set_up(&s, "90");
	assert_int_equal(tact_block_create(&empty, s.arch, NULL, NULL), 0);
	assert_int_equal(tact_mca_estimate(s.machine, empty, &e), -TACT_E_INVAL);
	assert_int_equal(tact_mca_estimate(NULL, s.block, &e), -TACT_E_INVAL);
	assert_int_equal(tact_mca_estimate(s.machine, NULL, &e), -TACT_E_INVAL);
	assert_int_equal(tact_mca_estimate(s.machine, s.block, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_create(&machine, &opt, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_create(NULL, NULL, NULL), -TACT_E_INVAL);
	opt = (struct tact_mca_options){.size = sizeof(opt), .memory = (enum tact_mca_memory)3};
	assert_int_equal(tact_mca_create(&machine, &opt, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_params_create(&params, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_params_create(NULL, s.arch, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_params_copy(&params, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_code_create(&code, empty, TACT_MCA_NO_ALIAS, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mca_code_create(&code, NULL, TACT_MCA_NO_ALIAS, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mca_run(s.machine, NULL, &e), -TACT_E_INVAL);
	assert_int_equal(tact_mca_code_create(&code, s.block, TACT_MCA_NO_ALIAS, NULL), 0);
	assert_int_equal(tact_mca_create(&machine, NULL, NULL), 0);
	assert_int_equal(tact_mca_estimate(machine, s.block, &e), 0);
	assert_int_equal(tact_mca_run(machine, code, &e), -TACT_E_INVAL); /* no parameters */
	assert_null(tact_mca_params_arch(NULL));
	assert_int_equal(tact_mca_code_length(NULL), 0);
	tact_mca_code_destroy(code);
	tact_mca_code_destroy(NULL);
	tact_mca_destroy(machine);
	tact_mca_destroy(NULL);
	tact_mca_params_destroy(NULL);
	tact_block_destroy(empty);
	tear_down(&s);
}

RUN_TESTS(NULL, NULL)
