/* SPDX-License-Identifier: MIT
 *
 * The list of instruction sets, and what each of them must offer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <string.h>

#include "isa/x86/x86.h"
#include "support.h"

static void sets_are_found(void **state)
{
	unsigned n = 0;

	(void)state;
	for (const struct tact_isa *isa = tact_isa_next(NULL); isa; isa = tact_isa_next(isa), n++) {
		assert_ptr_equal(tact_isa_find(tact_isa_name(isa)), isa);
		assert_ptr_equal(isa_of_machine(isa->elf_machine), isa);
		assert_true(*tact_isa_title(isa));
	}
	assert_true(n > 0);
	assert_null(tact_isa_find("no such set"));
	assert_null(tact_isa_find(NULL));
	assert_null(isa_of_machine(0));
}

static void headers_tell_the_set(void **state)
{
	char text[8], long_text[128];

	(void)state;
	for (const struct tact_isa *isa = tact_isa_next(NULL); isa; isa = tact_isa_next(isa)) {
		unsigned char ident[EI_NIDENT] = {
			[EI_CLASS] = isa->elf_class, [EI_DATA] = isa->elf_data};

		assert_ptr_equal(isa_of_elf(ident, isa->elf_machine), isa);
		assert_null(isa_of_elf(ident, EM_NONE));
		ident[EI_CLASS] = ELFCLASSNONE;
		assert_null(isa_of_elf(ident, isa->elf_machine));
		assert_non_null(strstr(isa_titles(long_text, sizeof(long_text)), isa->title));
		assert_true(isa_is_general(isa, tact_isa_stack_pointer(isa)));
	}
	assert_ptr_equal(isa_titles(text, sizeof(text)), text);
	assert_true(strlen(text) < sizeof(text));
	assert_ptr_equal(tact_isa_default(), isa_native() ? isa_native() : tact_isa_next(NULL));
}

/* What this CPU reports about itself, if tact knows it. */
static void the_cpu_is_identified(void **state)
{
	const struct tact_isa *isa = isa_native();
	struct isa_cpu cpu;
	char text[128];

	(void)state;
	if (!isa)
		skip();
	isa->native->identify(&cpu);
	assert_true(cpu.vendor[0] && strlen(cpu.vendor) < sizeof(cpu.vendor));
	isa->native->list_vectors(text, sizeof(text));
	assert_true(strlen(text) > 0);
	assert_true(isa->native->read_clock() != isa->native->read_clock());
	isa->native->run_chain(16);
	assert_false(isa->native->is_one_of(""));
	assert_false(isa->native->is_one_of("what is this"));
}

static void registers_have_limits_and_names(void **state)
{
	(void)state;
	for (const struct tact_isa *isa = tact_isa_next(NULL); isa; isa = tact_isa_next(isa)) {
		const struct isa_registers *r = &isa->registers;

		assert_true(r->n <= ISA_MAX_REGISTERS && r->n_general <= ISA_MAX_GENERAL);
		assert_true(r->n_general <= r->first_vector && r->first_vector <= r->end_vector &&
			    r->end_vector <= r->n);
		assert_true(r->n_flag_groups <= ISA_MAX_FLAG_GROUPS);
		assert_true(isa_is_general(isa, r->stack_pointer));
		for (unsigned a = 0; a < r->n; a++) {
			assert_true(isa_is_general(isa, a) + isa_is_vector(isa, a) <= 1);
			for (unsigned b = 0; b < a; b++)
				assert_string_not_equal(tact_isa_reg_name(isa, a),
							tact_isa_reg_name(isa, b));
		}
		assert_string_equal(tact_isa_reg_name(isa, r->n), "none");
		assert_string_equal(tact_isa_reg_name(isa, TACT_REG_NONE), "none");
	}
}

static void arguments_are_checked(void **state)
{
	const struct tact_isa *isa = tact_isa_next(NULL);
	const uint8_t code[16] = {0};
	struct tact_insn insn;
	char text[64];

	(void)state;
	assert_int_equal(tact_isa_decode(NULL, &insn, code, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_decode(isa, NULL, code, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_decode(isa, &insn, NULL, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_decode(isa, &insn, NULL, 0), -TACT_E_DECODE);
	assert_int_equal(tact_isa_format(NULL, code, 1, 0, text, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_format(isa, code, 1, 0, NULL, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_format(isa, code, 1, 0, text, 0), -TACT_E_INVAL);
	assert_int_equal(tact_isa_format_as(isa, TACT_SYNTAX_ATT, NULL, 1, 0, text, 1),
			 -TACT_E_INVAL);
	assert_int_equal(tact_isa_format_as(isa, (enum tact_syntax)9, code, 1, 0, text, 1),
			 -TACT_E_INVAL);
	assert_int_equal(tact_isa_form_find(isa, NULL), TACT_FORM_NONE);
	assert_string_equal(tact_isa_form_name(isa, tact_isa_form_count(isa)), "unknown");
}

static void notations_differ(void **state)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	const struct tact_isa *isa = tact_isa_find("x86");
	char text[64];

	(void)state;
	assert_true(tact_isa_format_as(isa, TACT_SYNTAX_ATT, add, 3, 0, text, 64) > 0);
	assert_string_equal(text, "add %rbx, %rax");
	assert_true(tact_isa_format_as(isa, TACT_SYNTAX_INTEL, add, 3, 0, text, 64) > 0);
	assert_string_equal(text, "add rax, rbx");
	assert_true(tact_isa_format_as(isa, TACT_SYNTAX_AUTO, add, 3, 0, text, 64) > 0);
	assert_string_equal(text, "add rax, rbx");
}

/* What is walked over quickly goes where what is decoded goes. */
static void scanned_flow_is_that_of_the_decoder(void **state)
{
	struct rng rng = {11};
	unsigned n_branches = 0;

	(void)state;
	for (unsigned i = 0; i < rounds(100000); i++) {
		struct isa_step step;
		struct tact_insn insn;
		uint8_t code[16];
		size_t length = random_insn(&rng, code, &insn);
		int64_t target = 0;

		assert_int_equal(isa_x86.scan(&step, 1, code, length), 1);
		assert_true(step.is_valid);
		assert_int_equal(step.length, length);
		if (step.flow != insn.flow)
			fail_msg("%s: %d, not %d", tact_isa_form_name(&isa_x86, insn.form),
				 step.flow, insn.flow);
		assert_int_equal(step.is_direct, isa_flow_target(&insn, &target));
		if (step.is_direct)
			assert_int_equal(step.target, target);
		n_branches += step.flow != TACT_FLOW_NEXT;
	}
	assert_true(n_branches > 10);
}

static void scan_passes_over_what_is_no_instruction(void **state)
{
	const uint8_t code[] = {0x06, 0x90, 0xeb, 0xfd, 0x0f}; /* bad, nop, jmp, cut short */
	struct isa_step steps[8];

	(void)state;
	assert_int_equal(isa_x86.scan(steps, 0, code, sizeof(code)), 0);
	assert_int_equal(isa_x86.scan(steps, 8, code, 0), 0);
	assert_int_equal(isa_x86.scan(steps, 2, code, sizeof(code)), 2);
	assert_int_equal(isa_x86.scan(steps, 8, code, sizeof(code)), 4);
	assert_false(steps[0].is_valid);
	assert_int_equal(steps[0].length, 1);
	assert_true(steps[1].is_valid);
	assert_int_equal(steps[2].flow, TACT_FLOW_JUMP);
	assert_int_equal(steps[2].target, -1);
	assert_false(steps[3].is_valid);
}

static void calls_of_the_kernel_differ(void **state)
{
	(void)state;
	assert_int_equal(isa_x86.call_kind(0), ISA_CALL_USUAL);	  /* read */
	assert_int_equal(isa_x86.call_kind(9), ISA_CALL_HEAVY);	  /* mmap */
	assert_int_equal(isa_x86.call_kind(110), ISA_CALL_LIGHT); /* getppid */
	assert_int_equal(isa_x86.call_kind(228), ISA_CALL_CLOCK); /* clock_gettime */
	assert_int_equal(isa_x86.call_kind(232), ISA_CALL_WAIT);  /* epoll_wait */
	assert_int_equal(isa_x86.call_kind(UINT64_MAX), ISA_CALL_USUAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_found),
		cmocka_unit_test(notations_differ),
		cmocka_unit_test(headers_tell_the_set),
		cmocka_unit_test(the_cpu_is_identified),
		cmocka_unit_test(registers_have_limits_and_names),
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(scanned_flow_is_that_of_the_decoder),
		cmocka_unit_test(scan_passes_over_what_is_no_instruction),
		cmocka_unit_test(calls_of_the_kernel_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
