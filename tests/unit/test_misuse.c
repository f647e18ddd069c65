/* SPDX-License-Identifier: MIT
 *
 * Callers that break the contract get a status, not a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

static const uint8_t add[] = {0x48, 0x01, 0xd8};

static struct tact_block *create(void)
{
	struct tact_block *block = NULL;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	return block;
}

static void null_arguments(void **state)
{
	struct tact_block *block = create(), *none = block;
	struct tact_front_end_group group;
	struct tact_port_contention ports = TACT_PORT_CONTENTION_INIT;
	struct tact_insn_cost cost = {.size = sizeof(cost)};
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_chain chain = TACT_CHAIN_INIT;
	struct tact_insn insn;
	struct tact_job job = {.size = sizeof(job), .code = add, .code_size = sizeof(add)};
	unsigned iterations;

	(void)state;
	assert_int_equal(tact_block_create(NULL, tact_arch_find("SKL"), NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_create(&none, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_null(none);
	assert_int_equal(tact_block_load(NULL, add, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_load(block, NULL, 3, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_load(block, add, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_rebind(NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_rebind(block, NULL, NULL), 0); /* empty, and stays so */
	/* an empty block */
	assert_int_equal(tact_block_length(block), 0);
	assert_true(tact_block_coverage(block) == 0);
	assert_int_equal(tact_predict(block, NULL, &p), -TACT_E_INVAL);
	assert_int_equal(tact_block_insn(block, 0, &insn), -TACT_E_INVAL);
	assert_int_equal(tact_block_cost(block, 0, &cost), -TACT_E_INVAL);
	assert_int_equal(tact_explain_ports(block, &ports), -TACT_E_INVAL);
	assert_int_equal(tact_explain_chain(block, &chain), -TACT_E_INVAL);
	assert_int_equal(tact_explain_predecoder(block, &group, 1, &iterations), -TACT_E_INVAL);
	assert_int_equal(tact_explain_decoder(block, &group, 1, &iterations), -TACT_E_INVAL);
	/* a loaded one */
	assert_int_equal(tact_block_load(block, add, 3, NULL), 0);
	assert_int_equal(tact_predict(NULL, NULL, &p), -TACT_E_INVAL);
	assert_int_equal(tact_predict(block, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_insn(block, 1, &insn), -TACT_E_INVAL);
	assert_int_equal(tact_block_insn(block, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_insn(NULL, 0, &insn), -TACT_E_INVAL);
	assert_int_equal(tact_block_cost(block, 1, &cost), -TACT_E_INVAL);
	assert_int_equal(tact_block_cost(block, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_cost(NULL, 0, &cost), -TACT_E_INVAL);
	assert_int_equal(tact_explain_ports(block, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_explain_chain(block, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_explain_predecoder(block, NULL, 1, &iterations), -TACT_E_INVAL);
	assert_int_equal(tact_explain_decoder(block, &group, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_predict_batch(NULL, NULL, NULL, &job, 1, 1), -TACT_E_INVAL);
	assert_int_equal(tact_predict_batch(tact_arch_find("SKL"), NULL, NULL, NULL, 1, 1),
			 -TACT_E_INVAL);
	assert_int_equal(tact_predict_batch(tact_arch_find("SKL"), NULL, NULL, NULL, 0, 1), 0);
	tact_block_destroy(block);
	tact_block_destroy(NULL);
}

static void diagnostics_say_where(void **state)
{
	static const uint8_t bad[] = {0x90, 0x48, 0x01, 0xd8, 0x06, 0x90},
			     cut[] = {0x90, 0x48, 0x01};
	struct tact_block *block = create();
	struct tact_diag diag;

	(void)state;
	assert_int_equal(tact_block_load(block, bad, sizeof(bad), &diag), -TACT_E_DECODE);
	assert_int_equal(diag.offset, 4);
	assert_true(diag.text[0]);
	assert_int_equal(tact_block_load(block, cut, sizeof(cut), &diag), -TACT_E_DECODE);
	assert_int_equal(diag.offset, 1);
	assert_int_equal(tact_block_load(block, cut, sizeof(cut), NULL), -TACT_E_DECODE);
	tact_block_destroy(block);
}

static void sizes_at_the_limit(void **state)
{
	uint8_t *code = malloc(TACT_BLOCK_MAX_BYTES + 1);
	struct tact_block *block = create();
	struct tact_prediction p = TACT_PREDICTION_INIT;
	struct tact_diag diag;

	(void)state;
	assert_non_null(code);
	memset(code, 0x90, TACT_BLOCK_MAX_BYTES + 1);
	assert_int_equal(tact_block_load(block, code, TACT_BLOCK_MAX_BYTES + 1, &diag),
			 -TACT_E_LIMIT);
	assert_true(diag.text[0]);
	assert_int_equal(tact_block_length(block), 0);
	assert_int_equal(tact_block_load(block, code, SIZE_MAX, &diag), -TACT_E_LIMIT);
	assert_int_equal(tact_block_load(block, code, TACT_BLOCK_MAX_BYTES, &diag), 0);
	assert_int_equal(tact_block_length(block), TACT_BLOCK_MAX_BYTES);
	assert_int_equal(tact_predict(block, NULL, &p), 0);
	assert_true(p.bound[TACT_BOUND_ISSUE] == TACT_BLOCK_MAX_BYTES / 4.0);
	/* 16 nops a 16-byte block: ceil(16 / 5) = 4 cycles */
	assert_true(p.bound[TACT_BOUND_PREDECODE] == TACT_BLOCK_MAX_BYTES / 16 * 4);
	assert_true(p.bound[TACT_BOUND_DECODE] == TACT_BLOCK_MAX_BYTES / 4.0);
	/* 64 KiB of a dependence chain */
	memset(code, 0, TACT_BLOCK_MAX_BYTES); /* add [rax], al */
	assert_int_equal(tact_block_load(block, code, TACT_BLOCK_MAX_BYTES, &diag), 0);
	assert_int_equal(tact_predict(block, NULL, &p), 0);
	assert_true(p.bound[TACT_BOUND_PRECEDENCE] > TACT_BLOCK_MAX_BYTES / 2);
	tact_block_destroy(block);
	free(code);
}

/* A struct from an older or a newer version of the header. */
static void block_options_of_other_sizes(void **state)
{
	struct {
		struct tact_block_options known;
		char more[16];
	} newer = {.known = {.size = sizeof(newer), .mode = TACT_MODE_LOOP}};
	struct tact_block_options opt = {
		.size = sizeof(opt), .mode = TACT_MODE_LOOP, .paper = true};
	struct tact_block *block = NULL;

	(void)state;
	/* larger, and nothing in what we do not know */
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &newer.known, NULL), 0);
	assert_int_equal(tact_block_load(block, add, 3, NULL), 0);
	assert_int_equal(tact_block_mode(block), TACT_MODE_LOOP);
	/* smaller: the rest is as if it were zero */
	opt.size = offsetof(struct tact_block_options, init);
	assert_int_equal(tact_block_rebind(block, NULL, &opt), 0);
	assert_int_equal(tact_block_mode(block), TACT_MODE_LOOP);
	opt.size = sizeof(size_t);
	assert_int_equal(tact_block_rebind(block, NULL, &opt), 0);
	assert_int_equal(tact_block_mode(block), TACT_MODE_UNROLL);
	tact_block_destroy(block);
	block = NULL;
	/* larger, and something there; or no size at all */
	newer.more[15] = 1;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &newer.known, NULL),
			 -TACT_E_INVAL);
	opt.size = 0;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL),
			 -TACT_E_INVAL);
	opt.size = sizeof(size_t) - 1;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL),
			 -TACT_E_INVAL);
	assert_null(block);
}

static void predict_options_of_other_sizes(void **state)
{
	struct {
		struct tact_predict_options known;
		char more[16];
	} newer = {.known = {.size = sizeof(newer)}};
	struct tact_predict_options opt = {.size = 0};
	struct tact_block *block = create();
	struct tact_prediction p = TACT_PREDICTION_INIT;

	(void)state;
	assert_int_equal(tact_block_load(block, add, 3, NULL), 0);
	assert_int_equal(tact_predict(block, &newer.known, &p), 0);
	newer.more[3] = 1;
	assert_int_equal(tact_predict(block, &newer.known, &p), -TACT_E_INVAL);
	assert_int_equal(tact_predict(block, &opt, &p), -TACT_E_INVAL);
	/* a caller that knows only `bounds`: what follows it is not ours to read */
	opt = (struct tact_predict_options){
		.size = offsetof(struct tact_predict_options, simple_predecoder),
		.simple_predecoder = true};
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	assert_true(p.bound[TACT_BOUND_PREDECODE] == 5 / 16.);
	tact_block_destroy(block);
}

static void values_out_of_range(void **state)
{
	struct tact_block_options opt = {.size = sizeof(opt)};
	struct tact_block *block = create();
	struct tact_prediction a = TACT_PREDICTION_INIT, b = TACT_PREDICTION_INIT;

	(void)state;
	opt.mode = (enum tact_mode)3;
	assert_int_equal(tact_block_rebind(block, NULL, &opt), -TACT_E_INVAL);
	opt.mode = TACT_MODE_LOOP;
	opt.init = (enum tact_init)3;
	assert_int_equal(tact_block_rebind(block, NULL, &opt), -TACT_E_INVAL);
	opt.init = TACT_INIT_DIFF;
	/* alignment is taken modulo 64 */
	assert_int_equal(tact_block_load(block, add, 3, NULL), 0);
	opt.alignment = 7;
	assert_int_equal(tact_block_rebind(block, NULL, &opt), 0);
	assert_int_equal(tact_predict(block, NULL, &a), 0);
	opt.alignment = 7 + 64 * 1000;
	assert_int_equal(tact_block_rebind(block, NULL, &opt), 0);
	assert_int_equal(tact_predict(block, NULL, &b), 0);
	assert_memory_equal(a.bound, b.bound, sizeof(a.bound));
	assert_string_equal(tact_bound_name(TACT_N_BOUNDS), "unknown");
	assert_string_equal(tact_bound_column(TACT_N_BOUNDS), "unknown");
	tact_block_destroy(block);
}

static void bounds_have_names(void **state)
{
	(void)state;
	for (int a = 0; a < (int)TACT_N_BOUNDS; a++) {
		assert_true(tact_bound_name(a)[0] && tact_bound_column(a)[0]);
		for (int b = 0; b < a; b++) {
			assert_string_not_equal(tact_bound_name(a), tact_bound_name(b));
			assert_string_not_equal(tact_bound_column(a), tact_bound_column(b));
		}
	}
	assert_string_equal(tact_bound_name(TACT_BOUND_PRECEDENCE), "Dependencies");
	assert_string_equal(tact_bound_column(TACT_BOUND_PRECEDENCE), "precedence");
}

/* The code is copied: the caller's may go. */
static void code_is_copied(void **state)
{
	uint8_t code[] = {0x48, 0x01, 0xd8};
	struct tact_block *block = create();
	struct tact_insn insn;
	size_t size;

	(void)state;
	assert_int_equal(tact_block_load(block, code, 3, NULL), 0);
	memset(code, 0, sizeof(code));
	assert_memory_equal(tact_block_code(block, &size), add, 3);
	assert_int_equal(size, 3);
	assert_int_equal(tact_block_insn(block, 0, &insn), 0);
	assert_string_equal(tact_isa_form_name(tact_isa_default(), insn.form), "ADD_01 (R64, R64)");
	assert_int_equal(tact_block_offset(block, 0), 0);
	assert_int_equal(tact_block_offset(block, 1), 3); /* past the last: the end */
	tact_block_destroy(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_arguments),
		cmocka_unit_test(diagnostics_say_where),
		cmocka_unit_test(sizes_at_the_limit),
		cmocka_unit_test(block_options_of_other_sizes),
		cmocka_unit_test(predict_options_of_other_sizes),
		cmocka_unit_test(values_out_of_range),
		cmocka_unit_test(bounds_have_names),
		cmocka_unit_test(code_is_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
