/* SPDX-License-Identifier: MIT
 *
 * What costs in a block depend on: set by its instructions, by code before it, by the caller; and when
 * it is edited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tact/predict.h>

#include "block/block.h"
#include "code/survey.h"
#include "llvm_module.h"
#include "support.h"

enum { M1 = 1, M4 = 3, M8 = 4, E8 = 0x100, E32 = 0x300 };
static const uint32_t add = 0x02a40457, set_m1 = 0x0c06f857, set_m8 = 0x0c36f857;

static struct tact_block *load(const uint32_t *code, size_t n, uint16_t setting)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .setting = setting};
	struct tact_block *block;

	need_llvm();
	assert_int_equal(tact_block_create(&block, tact_arch_find("sifive-p670"), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, (const uint8_t *)code, 4 * n, NULL), 0);
	return block;
}

static double ports(struct tact_block *block)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, NULL, &p), 0);
	return p.cycles_per_iteration;
}

static void it_is_known_or_not(void **state)
{
	struct tact_block *block = load(&add, 1, 0);
	struct tact_block_options opt = {.size = sizeof(opt), .setting = M1 | E8};
	size_t first = 9;

	(void)state;
	assert_int_equal(tact_block_unset(block), 1);
	assert_int_equal(tact_block_foreign(block, NULL), 0);
	assert_int_equal(tact_block_rebind(block, NULL, &opt), 0);
	assert_int_equal(tact_block_unset(block), 0);
	assert_int_equal(block->insns[0].insn->setting, M1 | E8);
	opt.setting = M8 | E8;
	assert_int_equal(tact_block_rebind(block, NULL, &opt), 0);
	assert_int_equal(block->insns[0].insn->setting, M8 | E8);
	tact_block_destroy(block);
	assert_int_equal(tact_block_unset(NULL), 0);
	assert_int_equal(tact_block_foreign(NULL, NULL), 0);
	assert_int_equal(tact_block_create(&block, tact_arch_find("sifive-u74"), NULL, NULL), 0);
	assert_int_equal(
		tact_block_load(block, (const uint8_t *)"\x05\x05\x57\x04\xa4\x02", 6, NULL), 0);
	assert_int_equal(tact_block_foreign(block, &first), 1);
	assert_int_equal(first, 1);
	tact_block_destroy(block);
}

/* What comes before the first that sets it has that of the iteration before, unless the code before the
 * block says more.
 */
static void iterations_hand_it_on(void **state)
{
	const uint32_t code[] = {add, set_m8, add, set_m1, add};
	struct tact_block *block = load(code, 5, 0);

	(void)state;
	assert_int_equal(block->insns[0].insn->setting, M1 | E8);
	assert_int_equal(block->insns[2].insn->setting, M8 | E8);
	assert_int_equal(block->insns[4].insn->setting, M1 | E8);
	tact_block_destroy(block);
	block = load(code, 5, M4 | E32);
	assert_int_equal(block->insns[0].insn->setting, M4 | E32);
	assert_int_equal(block->insns[4].insn->setting, M1 | E8);
	tact_block_destroy(block);
}

static void callers_set_it(void **state)
{
	const uint32_t code[] = {add, add, set_m1, add};
	struct tact_block *block = load(code, 4, 0);
	const double before = ports(block);

	(void)state;
	assert_int_equal(tact_block_set_setting(block, 1, M8), 0);
	assert_int_equal(block->insns[0].insn->setting, M1 | E8);
	assert_int_equal(block->insns[1].insn->setting, M8 | E8);
	assert_int_equal(block->insns[3].insn->setting, M1 | E8);
	assert_true(ports(block) > before);
	assert_int_equal(tact_block_set_setting(block, 1, E32), 0);
	assert_int_equal(block->insns[1].insn->setting, M8 | E32);
	/* It holds when the block is edited, and not when it is loaded again. */
	assert_int_equal(tact_block_erase(block, 0, NULL), 0);
	assert_int_equal(block->insns[0].insn->setting, M8 | E32);
	assert_int_equal(tact_block_load(block, (const uint8_t *)code, 16, NULL), 0);
	assert_int_equal(block->insns[1].insn->setting, M1 | E8);
	assert_int_equal(tact_block_set_setting(block, 4, M8), -TACT_E_INVAL);
	assert_int_equal(tact_block_set_setting(NULL, 0, M8), -TACT_E_INVAL);
	tact_block_destroy(block);
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, (const uint8_t *)"\x90", 1, NULL), 0);
	assert_int_equal(tact_block_set_setting(block, 0, M8), -TACT_E_INVAL);
	assert_int_equal(tact_block_unset(block), 0);
	tact_block_destroy(block);
}

static void edits_change_it(void **state)
{
	const uint32_t code[] = {set_m1, add, add};
	struct tact_block *block = load(code, 3, 0);

	(void)state;
	assert_int_equal(tact_block_replace(block, 0, (const uint8_t *)&set_m8, 4, NULL), 0);
	assert_int_equal(block->insns[2].insn->setting, M8 | E8);
	assert_int_equal(tact_block_insert(block, 2, (const uint8_t *)&set_m1, 4, NULL), 0);
	assert_int_equal(block->insns[1].insn->setting, M8 | E8);
	assert_int_equal(block->insns[3].insn->setting, M1 | E8);
	tact_block_destroy(block);
}

static uint16_t at(const uint32_t *code, size_t n, size_t insn)
{
	const struct tact_isa *isa = tact_isa_find("riscv64");
	uint16_t setting;

	need_llvm();
	assert_int_equal(
		code_setting_at(isa, (const uint8_t *)code, 4 * n, false, 4 * insn, &setting), 0);
	return setting;
}

static void ways_through_code_agree_or_not(void **state)
{
	/* beqz a0, over one; bnez a0, to the one before */
	const uint32_t skip_one = 0x00050463, back = 0xfe051ee3, ret = 0x00008067;
	const uint32_t one[] = {set_m1, skip_one, set_m8, add, ret},
		       begin[] = {skip_one, set_m8, add, ret}, loop[] = {set_m8, add, back, ret},
		       call[] = {set_m8, 0x000500e7, add, ret};

	(void)state;
	assert_int_equal(at(one, 5, 1), M1 | E8);
	assert_int_equal(at(one, 5, 3), E8);  /* the ways agree on a part */
	assert_int_equal(at(begin, 4, 2), 0); /* nothing is known where all begins */
	assert_int_equal(at(loop, 4, 1), M8 | E8);
	assert_int_equal(at(loop, 4, 2), M8 | E8);
	assert_int_equal(at(call, 4, 2), 0);
	assert_int_equal(at(call, 4, 0), 0);
	assert_int_equal(at(call, 4, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_known_or_not),
		cmocka_unit_test(iterations_hand_it_on),
		cmocka_unit_test(callers_set_it),
		cmocka_unit_test(edits_change_it),
		cmocka_unit_test(ways_through_code_agree_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
