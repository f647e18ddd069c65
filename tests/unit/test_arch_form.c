/* SPDX-License-Identifier: MIT
 *
 * The figures of instruction forms, and changes of them at run time.
 */
#include "testing.h"

#include "support.h"

#include "arch/arch.h"

static unsigned form_of(const char *name)
{
	unsigned form = tact_isa_form_find(tact_isa_default(), name);

	assert_int_not_equal(form, TACT_FORM_NONE);
	return form;
}

static struct tact_form_info info_of(const char *arch, const char *form,
				     enum tact_situation situation)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;

	assert_int_equal(tact_arch_form(tact_arch_find(arch), form_of(form), situation, &info), 0);
	return info;
}

/* Cycles from one operand to another; -1: not listed. */
static int cycles_of(const struct tact_form_info *info, unsigned from, unsigned from_number,
		     unsigned to, unsigned to_number)
{
	for (uint32_t i = 0; i < info->n_latencies; i++) {
		const struct tact_latency *l = &info->latencies[i];

		if (l->from == from && l->from_number == from_number && l->to == to &&
		    l->to_number == to_number)
			return l->cycles;
	}
	return -1;
}

/* As data/insn/SKL.tsv and ZEN4.tsv have them. */
TEST(figures_are_those_of_the_tables)
{
	struct tact_form_info i = info_of("SKL", "IMUL (R64, R64)", TACT_SITUATION_PLAIN);

	assert_int_equal(i.uops, 1);
	assert_int_equal(i.n_port_uses, 1);
	assert_int_equal(i.port_uses[0].ports, 1 << 1);
	assert_int_equal(i.port_uses[0].uops, 1);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_REG, 1, TACT_LATENCY_REG, 0), 3);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_REG, 3, TACT_LATENCY_REG, 0), -1);
	i = info_of("SKL", "ADD (M64, R64)", TACT_SITUATION_PLAIN);
	assert_int_equal(i.uops, 4);
	assert_int_equal(i.issued, 2);
	assert_int_equal(i.n_port_uses, 4); /* 1*p0156+1*p23+1*p237+1*p4 */
	assert_int_equal(i.port_uses[0].ports, 0x63);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_BASE, 0, TACT_LATENCY_MEMORY, 0), 10);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_INDEX, 0, TACT_LATENCY_REG, 1), 6);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_MEMORY, 0, TACT_LATENCY_MEMORY, 0), 4);
	assert_true(i.needs_complex_decoder);
	i = info_of("SKL", "ADD (M64, R64)", TACT_SITUATION_INDEXED);
	assert_int_equal(i.situation, TACT_SITUATION_INDEXED);
	assert_int_equal(i.issued, 3);
	i = info_of("SKL", "LEA_B (R64)", TACT_SITUATION_PLAIN);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_BASE, TACT_NUMBER_ADDRESS, TACT_LATENCY_REG, 0),
			 1);
	i = info_of("SKL", "DIV (R64)", TACT_SITUATION_PLAIN);
	assert_int_equal(i.ms, 32);
	assert_int_equal(i.divider, 7);
	assert_int_equal(i.cycles, 21);
	i = info_of("ZEN4", "DIV (R64)", TACT_SITUATION_PLAIN);
	assert_int_equal(i.uops, 2);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_REG, 2, TACT_LATENCY_REG, 1), 10);
}

TEST(moves_and_idioms)
{
	struct tact_form_info i = info_of("SKL", "MOV_89 (R64, R64)", TACT_SITUATION_PLAIN);

	assert_true(i.is_eliminated && !i.breaks_dependence && !i.uops);
	assert_false(info_of("SNB", "MOV_89 (R64, R64)", TACT_SITUATION_PLAIN).is_eliminated);
	i = info_of("SKL", "MOV_89 (R64, R64)", TACT_SITUATION_SAME);
	assert_true(!i.is_eliminated && i.uops == 1);
	i = info_of("SKL", "VPXOR (XMM, XMM, XMM)", TACT_SITUATION_PLAIN);
	assert_true(!i.breaks_dependence && i.uops == 1);
	i = info_of("SKL", "VPXOR (XMM, XMM, XMM)", TACT_SITUATION_SAME);
	assert_true(i.breaks_dependence && !i.uops && !i.is_eliminated);
}

/* A situation without figures of its own has the plain ones, and says so. */
TEST(situations)
{
	struct tact_form_info i = info_of("SKL", "IMUL (R64, R64)", TACT_SITUATION_INDEXED);

	assert_int_equal(i.situation, TACT_SITUATION_PLAIN);
	assert_int_equal(i.uops, 1);
}

/* Every form of every CPU agrees with the tables that the models read. */
TEST(all_forms)
{
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		unsigned n = 0;

		for (unsigned form = 0; form < tact_isa_form_count(tact_arch_isa(arch)); form++) {
			struct tact_form_info i = TACT_FORM_INFO_INIT;
			struct arch_view view;
			int status = tact_arch_form(arch, form, TACT_SITUATION_PLAIN, &i);

			assert_int_equal(status,
					 tact_arch_has_form(arch, form) ? 0 : -TACT_E_NO_DATA);
			if (status < 0)
				continue;
			n++;
			assert_true(arch_view_of(arch, form, ARCH_PLAIN, &view));
			assert_int_equal(i.uops, view.variant->uops);
			assert_int_equal(i.issued, view.variant->fused);
			for (uint32_t k = 0; k < i.n_port_uses; k++)
				assert_false(i.port_uses[k].ports & ~tact_arch_ports(arch));
			assert_int_equal(view.ports[i.n_port_uses].count, 0);
			assert_int_equal(view.latency[i.n_latencies].from, ARCH_OP_END);
		}
		assert_int_equal(n, tact_arch_form_count(arch));
	}
}

TEST(misuse)
{
	const struct tact_arch *skl = tact_arch_find("SKL");
	struct tact_form_info i = TACT_FORM_INFO_INIT, no_size = {.size = 0};

	assert_int_equal(tact_arch_form(NULL, 1, TACT_SITUATION_PLAIN, &i), -TACT_E_INVAL);
	assert_int_equal(tact_arch_form(skl, 1, TACT_SITUATION_PLAIN, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_arch_form(skl, 1, TACT_SITUATION_PLAIN, &no_size), -TACT_E_INVAL);
	assert_int_equal(tact_arch_form(skl, 1, (enum tact_situation)3, &i), -TACT_E_INVAL);
	assert_int_equal(tact_arch_form(skl, TACT_FORM_NONE, TACT_SITUATION_PLAIN, &i),
			 -TACT_E_NO_DATA);
}

/* ---- changes at run time ---- */

/* imul rax, rbx */
static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};

static double predicted(struct tact_block *block)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, NULL, &p), 0);
	return p.cycles_per_iteration;
}

/* A block sees a change when it is loaded, changed or bound. */
TEST(one_latency_is_changed)
{
	const unsigned form = form_of("IMUL (R64, R64)");
	struct tact_latency latency = {.from = TACT_LATENCY_REG, .to = TACT_LATENCY_REG};
	struct tact_form_info i = TACT_FORM_INFO_INIT;
	struct tact_arch *arch;
	struct tact_block *block;

	assert_int_equal(tact_arch_copy(&arch, tact_arch_find("SKL")), 0);
	assert_int_equal(tact_block_create(&block, arch, NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, imul, sizeof(imul), NULL), 0);
	assert_true(predicted(block) == 3);
	latency.cycles = 7;
	assert_int_equal(tact_arch_set_latency(arch, form, &latency), 0);
	assert_int_equal(tact_block_load(block, imul, sizeof(imul), NULL), 0);
	assert_true(predicted(block) == 7);
	latency.cycles = 9;
	assert_int_equal(tact_arch_set_latency(arch, form, &latency), 0);
	assert_int_equal(tact_block_rebind(block, NULL, NULL), 0);
	assert_true(predicted(block) == 9);
	latency.cycles = 11;
	assert_int_equal(tact_arch_set_latency(arch, form, &latency), 0);
	assert_int_equal(tact_block_replace(block, 0, imul, sizeof(imul), NULL), 0);
	assert_true(predicted(block) == 11);
	assert_int_equal(tact_arch_form(arch, form, TACT_SITUATION_PLAIN, &i), 0);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_REG, 0, TACT_LATENCY_REG, 0), 11);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_REG, 1, TACT_LATENCY_REG, 0), 3);
	/* The built-in one is as it was. */
	assert_int_equal(tact_block_rebind(block, tact_arch_find("SKL"), NULL), 0);
	tact_arch_destroy(arch);
	assert_true(predicted(block) == 3);
	tact_block_destroy(block);
}

/* xor rax, rax does not wait for rax, however long other xors take. */
TEST(idioms_stay_idioms)
{
	static const uint8_t zero[] = {0x48, 0x31, 0xc0}, other[] = {0x48, 0x31, 0xd8};
	const struct tact_latency slow = {TACT_LATENCY_REG, 0, TACT_LATENCY_REG, 0, 7};
	const unsigned form = form_of("XOR_31 (R64, R64)");
	struct tact_form_info i = TACT_FORM_INFO_INIT;
	struct tact_arch *arch;
	struct tact_block *block;

	assert_int_equal(tact_arch_copy(&arch, tact_arch_find("SKL")), 0);
	assert_int_equal(tact_arch_set_latency(arch, form, &slow), 0);
	assert_int_equal(tact_arch_form(arch, form, TACT_SITUATION_SAME, &i), 0);
	assert_int_equal(cycles_of(&i, TACT_LATENCY_REG, 0, TACT_LATENCY_REG, 0), 0);
	assert_true(i.breaks_dependence);
	assert_int_equal(tact_block_create(&block, arch, NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, other, sizeof(other), NULL), 0);
	assert_true(predicted(block) == 7);
	assert_int_equal(tact_block_load(block, zero, sizeof(zero), NULL), 0);
	assert_true(predicted(block) < 1);
	tact_block_destroy(block);
	tact_arch_destroy(arch);
}

TEST(a_parameter_is_changed)
{
	static const uint8_t nops[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
	struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_arch *arch;
	struct tact_block *block;
	struct tact_diag diag = {0};

	opt.bounds = 1u << TACT_BOUND_ISSUE;
	assert_int_equal(tact_arch_copy(&arch, tact_arch_find("SKL")), 0);
	assert_int_equal(tact_block_create(&block, arch, NULL, NULL), 0);
	assert_int_equal(tact_arch_set_param(arch, "issue_width", "8", NULL), 0);
	assert_int_equal(tact_block_load(block, nops, sizeof(nops), NULL), 0);
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	assert_true(p.cycles_per_iteration == 1);
	assert_int_equal(tact_arch_set_param(arch, "issue_width", "0", &diag), -TACT_E_FORMAT);
	assert_true(diag.text[0]);
	assert_int_equal(tact_arch_set_param(arch, "no_such_thing", "1", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_rebind(block, NULL, NULL), 0);
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	assert_true(p.cycles_per_iteration == 1);
	tact_block_destroy(block);
	tact_arch_destroy(arch);
}

/* A block outlives its microarchitecture if it is only bound to another one, also to one that takes
 * its place in memory.
 */
TEST(a_destroyed_one_is_replaced)
{
	static const uint8_t code[] = {0x48, 0x0f, 0xaf, 0xc3}; /* imul rax, rbx */
	const struct tact_arch *skl = tact_arch_find("SKL");
	struct tact_latency latency = {TACT_LATENCY_REG, 0, TACT_LATENCY_REG, 0, 0};
	struct tact_prediction prediction = TACT_PREDICTION_INIT;
	struct tact_block *block;
	struct tact_arch *arch;

	assert_int_equal(tact_block_create(&block, skl, NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
	for (unsigned cycles = 10; cycles < 15; cycles++) {
		latency.cycles = (uint16_t)cycles;
		assert_int_equal(tact_arch_copy(&arch, skl), 0);
		assert_int_equal(tact_arch_set_latency(arch, form_of("IMUL (R64, R64)"), &latency),
				 0);
		assert_int_equal(tact_block_rebind(block, arch, NULL), 0);
		assert_int_equal(tact_predict(block, NULL, &prediction), 0);
		assert_true(prediction.cycles_per_iteration == cycles);
		tact_arch_destroy(arch);
	}
	assert_int_equal(tact_block_rebind(block, skl, NULL), 0);
	assert_int_equal(tact_predict(block, NULL, &prediction), 0);
	assert_true(prediction.cycles_per_iteration == 3);
	tact_block_destroy(block);
}

TEST(changes_that_are_refused)
{
	struct tact_arch *skl = (struct tact_arch *)(uintptr_t)tact_arch_find("SKL"), *arch;
	const struct tact_latency latency = {TACT_LATENCY_REG, 0, TACT_LATENCY_REG, 0, 5},
				  none = {TACT_LATENCY_BASE, 0, TACT_LATENCY_REG, 0, 5},
				  odd = {9, 0, TACT_LATENCY_REG, 0, 5};
	const unsigned form = form_of("IMUL (R64, R64)");

	assert_int_equal(tact_arch_copy(NULL, skl), -TACT_E_INVAL);
	arch = skl;
	assert_int_equal(tact_arch_copy(&arch, NULL), -TACT_E_INVAL);
	assert_null(arch);
	assert_int_equal(tact_arch_set_latency(skl, form, &latency), -TACT_E_INVAL);
	assert_int_equal(tact_arch_set_param(skl, "issue_width", "4", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_arch_copy(&arch, skl), 0);
	assert_int_equal(tact_arch_set_latency(NULL, form, &latency), -TACT_E_INVAL);
	assert_int_equal(tact_arch_set_latency(arch, form, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_arch_set_latency(arch, form, &odd), -TACT_E_INVAL);
	assert_int_equal(tact_arch_set_latency(arch, form, &none), -TACT_E_NO_DATA);
	assert_int_equal(tact_arch_set_latency(arch, TACT_FORM_NONE, &latency), -TACT_E_NO_DATA);
	assert_int_equal(tact_arch_set_param(arch, NULL, "4", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_arch_set_param(arch, "issue_width", NULL, NULL), -TACT_E_INVAL);
	tact_arch_destroy(arch);
}

RUN_TESTS(NULL, NULL)
