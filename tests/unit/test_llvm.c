/* SPDX-License-Identifier: MIT
 *
 * The module: what it says of instructions and CPUs, and that nothing that comes from outside ends
 * the process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "llvm_module.h"
#include "support.h"
#include "llvm/llvm.h"

static struct llvm_set *open_set(const struct llvm_api **api, const char *name)
{
	struct tact_diag diag = {0};
	struct llvm_set *set;

	need_llvm();
	*api = llvm_open(&set, tact_isa_find(name)->llvm, &diag);
	assert_non_null(*api);
	return set;
}

static void sets_are_opened_once(void **state)
{
	const struct llvm_set_spec unknown = {
		.size = sizeof(unknown), .triple = "no-such-machine", .features = ""};
	const struct llvm_api *api;
	struct llvm_set *set = open_set(&api, "aarch64"), *again;
	struct tact_diag diag = {0};

	(void)state;
	assert_ptr_equal(llvm_open(&again, tact_isa_find("aarch64")->llvm, NULL), api);
	assert_ptr_equal(again, set);
	assert_null(llvm_open(&again, &unknown, &diag));
	assert_true(*diag.text);
	assert_true(atoi(api->llvm_version) >= 19);
}

static void instructions_are_decoded(void **state)
{
	static const uint8_t add[] = {0x20, 0x00, 0x02, 0x8b}, back[] = {0xe1, 0xff, 0xff, 0x54},
			     none[] = {0xff, 0xff, 0xff, 0xff};
	const struct llvm_api *api;
	struct llvm_set *set = open_set(&api, "aarch64");
	struct llvm_insn insn = {.size = sizeof(insn)};
	char text[64];

	(void)state;
	assert_int_equal(api->decode(set, add, 4, &insn), 4);
	assert_int_equal(insn.n_operands, 3);
	assert_int_equal(insn.operand[0].access, LLVM_WRITE);
	assert_int_equal(insn.operand[0].bits, 64);
	assert_int_equal(insn.operand[2].reg, 2);
	assert_string_equal(api->opcode_name(set, insn.opcode), "ADDXrs");
	assert_int_equal(api->decode(set, back, 4, &insn), 4);
	assert_int_equal(insn.flow, LLVM_BRANCH);
	assert_true(insn.has_target && insn.target == -4);
	assert_int_equal(api->decode(set, none, 4, &insn), -TACT_E_DECODE);
	assert_int_equal(api->decode(set, add, 3, &insn), -TACT_E_DECODE);
	assert_int_equal(api->decode(set, add, 0, &insn), -TACT_E_DECODE);
	assert_int_equal(api->format(set, add, 4, 0, text, sizeof(text)), 14);
	assert_string_equal(text, "add x0, x1, x2");
	assert_int_equal(api->format(set, back, 4, 0x1004, text, sizeof(text)), 11);
	assert_string_equal(text, "b.ne 0x1000");
	assert_int_equal(api->format(set, add, 4, 0, text, 14), -TACT_E_LIMIT);
}

static void models_have_facts(void **state)
{
	static const uint8_t madd[] = {0x20, 0x10, 0x03, 0x9b}, load[] = {0x20, 0x84, 0x40, 0xf8};
	static const struct llvm_place whole = {.length = 4}, cut = {.length = 3};
	struct llvm_facts *f = calloc(2, sizeof(*f));
	const struct llvm_cpu_info *info;
	const struct llvm_api *api;
	struct llvm_set *set = open_set(&api, "aarch64");
	struct llvm_message why = {0};
	struct llvm_cpu *cpu;

	(void)state;
	assert_int_equal(api->open_cpu(&cpu, set, "no-such-cpu", &why), -TACT_E_NO_ARCH);
	assert_true(*why.text);
	assert_int_equal(api->open_cpu(&cpu, set, "cortex-a57", &why), 0);
	info = api->cpu_info(cpu);
	assert_true(info->is_out_of_order);
	assert_int_equal(info->issue_width, 3);
	assert_int_equal(info->reorder_buffer, 128);
	/* madd x0, x1, x3, x4: the accumulator is needed later, if it comes from another one */
	assert_int_equal(api->facts(cpu, madd, &whole, 1, f), 1);
	assert_int_equal(f->status, 0);
	assert_int_equal(f->n_reads, 3);
	assert_int_equal(f->read[2].n_advances > 0, 1);
	/* ldr x0, [x1], #8: the pointer is there sooner than what is loaded */
	assert_int_equal(api->facts(cpu, load, &whole, 1, f), 1);
	assert_int_equal(f->n_writes, 2);
	assert_true(f->loads && !f->stores);
	assert_true(f->write[0].latency < f->write[1].latency);
	assert_false(f->is_foreign);
	assert_int_equal(api->facts(cpu, load, &cut, 1, f), 1);
	assert_int_equal(f->status, -TACT_E_NO_DATA);
	assert_true(api->is_same_model(set, "cortex-a72", "cortex-a57"));
	assert_false(api->is_same_model(set, "cortex-a55", "cortex-a57"));
	free(f);
}

/* An extension that the CPU lacks; a prefix that is an instruction of its own for LLVM; an encoding that
 * no assembler chooses; registers that are renamed with others.
 */
static void sets_differ_from_cpus(void **state)
{
	static const uint8_t vector[] = {0x57, 0x00, 0x00, 0x02},
			     locked[] = {0xf0, 0x48, 0x0f, 0xb1, 0x1a}, zero[] = {0x33, 0xc0},
			     part[] = {0xb0, 0x01};
	const struct llvm_place places[2] = {{.length = 5}, {.length = 2}};
	struct llvm_facts *f = calloc(2, sizeof(*f));
	const struct llvm_api *api;
	struct llvm_set *set = open_set(&api, "riscv64");
	struct llvm_cpu *cpu;

	(void)state;
	assert_int_equal(api->open_cpu(&cpu, set, "sifive-u74", NULL), 0);
	assert_int_equal(api->facts(cpu, vector, &(struct llvm_place){.length = 4}, 1, f), 1);
	assert_true(f->is_foreign);
	set = open_set(&api, "x86");
	assert_int_equal(api->open_cpu(&cpu, set, "btver2", NULL), 0);
	assert_int_equal(api->cpu_info(cpu)->n_register_files, 3);
	assert_int_equal(api->facts(cpu, locked, places, 1, f), 2);
	assert_int_equal(f[1].place, 0);
	assert_int_equal(api->facts(cpu, zero, &places[1], 1, f), 1);
	assert_true(f->read[0].is_independent && f->write[0].is_zero);
	assert_int_equal(api->facts(cpu, part, &places[1], 1, f), 1);
	assert_int_not_equal(f->write[0].renaming.as, f->write[0].reg);
	assert_int_not_equal(f->write[0].renaming.file, 0);
	free(f);
}

/* Words and half-words of every kind, for both sets and two CPUs. */
static void any_bytes_are_survived(void **state)
{
	static const char *const names[][2] = {{"aarch64", "neoverse-v2"},
					       {"riscv64", "sifive-p670"}};
	struct llvm_facts *f = calloc(2, sizeof(*f));
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		static const struct llvm_place places[] = {
			{.length = 8}, {.length = 4}, {.length = 2}};
		const struct tact_isa *isa = tact_isa_find(names[k][0]);
		struct llvm_place place = {.length = 4};
		const struct llvm_api *api;
		struct llvm_set *set = open_set(&api, names[k][0]);
		uint16_t setting = 0;
		struct llvm_insn insn;
		struct llvm_cpu *cpu;
		char text[128];

		assert_int_equal(api->open_cpu(&cpu, set, names[k][1], NULL), 0);
		for (unsigned i = 0; i < 30000; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			api->decode(set, (const uint8_t *)&seed, 8, &insn);
			api->format(set, (const uint8_t *)&seed, 8, seed, text, sizeof(text));
			api->facts(cpu, (const uint8_t *)&seed, &places[i % 3], 1, f);
			place.setting =
				isa->follow
					? isa->follow(0x0101 + (i % 8) * 0x0001 + (i % 4) * 0x0100,
						      (const uint8_t *)&seed, 4, &setting, 1)
					: 0;
			place.setting = setting == ISA_SETTING_UNKNOWN ? 0 : setting;
			api->facts(cpu, (const uint8_t *)&seed, &place, 1, f);
		}
	}
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_opened_once),
		cmocka_unit_test(instructions_are_decoded),
		cmocka_unit_test(models_have_facts),
		cmocka_unit_test(sets_differ_from_cpus),
		cmocka_unit_test(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
