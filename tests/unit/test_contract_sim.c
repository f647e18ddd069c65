/* SPDX-License-Identifier: MIT
 *
 * The contract of the interface, for input.h, insn.h, simulate.h, pipeline.h, mca.h, model.h and
 * view.h: NULL in every argument, values out of range, what creators leave on failure, callers that
 * know fewer or more fields.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/coverage.h>
#include <tact-program/drawing.h>
#include <tact/tact.h>

static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};

struct fixture {
	struct tact_block *block, *empty;
	struct tact_simulator *simulator;
	struct tact_stream *stream;
	struct tact_estimator *estimator;
	struct tact_mca *machine;
	struct tact_mca_params *params;
	struct tact_mca_code *code;
	uint32_t number;
};

static int setup(void **state)
{
	static struct fixture f;
	const struct tact_arch *skl = tact_arch_find("SKL");
	struct tact_mca_options mca = TACT_MCA_OPTIONS_INIT;

	assert_int_equal(tact_block_create(&f.block, skl, NULL, NULL), 0);
	assert_int_equal(tact_block_create(&f.empty, skl, NULL, NULL), 0);
	assert_int_equal(tact_block_load(f.block, imul, sizeof(imul), NULL), 0);
	assert_int_equal(tact_simulator_create(&f.simulator, NULL), 0);
	assert_int_equal(tact_stream_create(&f.stream, NULL), 0);
	assert_int_equal(tact_stream_add(f.stream, f.block, &f.number), 0);
	assert_int_equal(tact_stream_feed(f.stream, f.number, 0x1000, NULL, 0), 0);
	assert_int_equal(tact_model_open(&f.estimator, "sim", NULL, NULL), 0);
	assert_int_equal(tact_mca_params_create(&f.params, skl, NULL), 0);
	mca.params = f.params;
	assert_int_equal(tact_mca_create(&f.machine, &mca, NULL), 0);
	assert_int_equal(tact_mca_code_create(&f.code, f.block, TACT_MCA_NO_ALIAS, NULL), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tact_mca_code_destroy(f->code);
	tact_mca_destroy(f->machine);
	tact_mca_params_destroy(f->params);
	tact_model_close(f->estimator);
	tact_stream_destroy(f->stream);
	tact_simulator_destroy(f->simulator);
	tact_block_destroy(f->block);
	tact_block_destroy(f->empty);
	return 0;
}

#define IS_REFUSED(call) assert_int_equal(call, -TACT_E_INVAL)

/* A creator that fails leaves NULL, whatever was there. */
#define LEAVES_NULL(type, call)                                                                    \
	do {                                                                                       \
		type *out = (type *)(uintptr_t)1;                                                  \
		IS_REFUSED(call);                                                                  \
		assert_null(out);                                                                  \
	} while (0)

/* ---- callers that know fewer or more fields ---- */

/* A result of every size: no byte more is written, what is not known becomes zero. */
static void try_sizes(int (*fill)(struct fixture *f, void *out), struct fixture *f, size_t known)
{
	const size_t room = known + 64;
	uint8_t *out = malloc(room), *whole = malloc(room);

	assert_true(out && whole);
	memset(whole, 0, room);
	memcpy(whole, &known, sizeof(known));
	assert_true(fill(f, whole) >= 0);
	for (size_t size = 0; size <= room; size++) {
		memset(out, 0x77, room);
		memcpy(out, &size, sizeof(size));
		if (size < sizeof(size)) {
			IS_REFUSED(fill(f, out));
			continue;
		}
		assert_true(fill(f, out) >= 0);
		assert_memory_equal(out, &size, sizeof(size));
		for (size_t i = sizeof(size); i < room; i++) {
			if (i >= size)
				assert_int_equal(out[i], 0x77);
			else if (i >= known)
				assert_int_equal(out[i], 0);
			else
				assert_int_equal(out[i], whole[i]);
		}
	}
	free(out);
	free(whole);
}

static int fill_simulation(struct fixture *f, void *out)
{
	return tact_simulate(f->simulator, f->block, NULL, out);
}

static int fill_sim_insn(struct fixture *f, void *out)
{
	return tact_simulated_insn(f->simulator, 0, out);
}

static int fill_totals(struct fixture *f, void *out)
{
	return tact_stream_get_totals(f->stream, out);
}

static int fill_stream_insn(struct fixture *f, void *out)
{
	uint64_t executions;

	return tact_stream_get_insn(f->stream, f->number, 0, out, &executions);
}

static int fill_stream_block(struct fixture *f, void *out)
{
	return tact_stream_get_block(f->stream, f->number, out);
}

static int fill_estimate(struct fixture *f, void *out)
{
	return tact_model_estimate(f->estimator, f->block, out);
}

static int fill_mca(struct fixture *f, void *out)
{
	return tact_mca_estimate(f->machine, f->block, out);
}

static int fill_mca_code(struct fixture *f, void *out)
{
	return tact_mca_run(f->machine, f->code, out);
}

TEST_WITH(results_honour_their_size, setup, teardown)
{
	struct fixture *f = *state;

	try_sizes(fill_simulation, f, sizeof(struct tact_simulation));
	try_sizes(fill_sim_insn, f, sizeof(struct tact_sim_insn));
	try_sizes(fill_totals, f, sizeof(struct tact_stream_totals));
	try_sizes(fill_stream_insn, f, sizeof(struct tact_sim_insn));
	try_sizes(fill_stream_block, f, sizeof(struct tact_stream_block));
	try_sizes(fill_estimate, f, sizeof(struct tact_estimate));
	try_sizes(fill_mca, f, sizeof(struct tact_mca_result));
	try_sizes(fill_mca_code, f, sizeof(struct tact_mca_result));
}

/* Regions are apart: each call is another one. */
TEST(regions_honour_their_size)
{
	struct {
		struct tact_region region;
		uint8_t more[32];
	} newer;

	for (size_t size = sizeof(size_t); size <= sizeof(newer); size++) {
		struct tact_input *in;

		assert_int_equal(tact_input_open_memory(&in, "90\n48zz\n", 8, NULL, NULL), 0);
		for (int wanted = 1; wanted >= -TACT_E_FORMAT; wanted -= 1 + TACT_E_FORMAT) {
			memset(&newer, 0x77, sizeof(newer));
			newer.region.size = size;
			assert_int_equal(tact_input_next(in, &newer.region, NULL), wanted);
			assert_int_equal(newer.region.size, size);
			for (size_t i = size; i < sizeof(newer); i++)
				assert_int_equal(((uint8_t *)&newer)[i], 0x77);
			for (size_t i = sizeof(newer.region); i < size; i++)
				assert_int_equal(((uint8_t *)&newer)[i], 0);
			if (size >= offsetof(struct tact_region, name))
				assert_int_equal(newer.region.line, wanted > 0 ? 1 : 2);
		}
		newer.region.size = 0;
		IS_REFUSED(tact_input_next(in, &newer.region, NULL));
		tact_input_close(in);
	}
}

/* Options: fewer fields are zeros, more must be. */
static void try_options(int (*use)(struct fixture *f, const void *options), struct fixture *f,
			size_t known)
{
	const size_t room = known + 16;
	uint8_t *options = calloc(1, room);

	assert_non_null(options);
	assert_true(use(f, NULL) >= 0);
	IS_REFUSED(use(f, options));
	for (size_t size = sizeof(size_t); size <= room; size++) {
		memcpy(options, &size, sizeof(size));
		assert_true(use(f, options) >= 0);
	}
	options[room - 1] = 1;
	IS_REFUSED(use(f, options));
	free(options);
}

static int with_sim_options(struct fixture *f, const void *options)
{
	struct tact_simulation s = TACT_SIMULATION_INIT;

	return tact_simulate(f->simulator, f->block, options, &s);
}

static int with_mca_options(struct fixture *f, const void *options)
{
	struct tact_mca *machine;
	int status = tact_mca_create(&machine, options, NULL);

	(void)f;
	tact_mca_destroy(machine);
	return status;
}

static int with_model_options(struct fixture *f, const void *options)
{
	struct tact_estimator *e;
	int status = tact_model_open(&e, "facile", options, NULL);

	(void)f;
	tact_model_close(e);
	return status;
}

static int with_input_options(struct fixture *f, const void *options)
{
	struct tact_input *in;
	int status = tact_input_open_memory(&in, "90", 2, options, NULL);

	(void)f;
	tact_input_close(in);
	return status;
}

TEST_WITH(options_honour_their_size, setup, teardown)
{
	struct fixture *f = *state;

	try_options(with_sim_options, f, sizeof(struct tact_sim_options));
	try_options(with_mca_options, f, sizeof(struct tact_mca_options));
	try_options(with_model_options, f, sizeof(struct tact_model_options));
	try_options(with_input_options, f, sizeof(struct tact_input_options));
}

TEST_WITH(executions_honour_their_size, setup, teardown)
{
	struct fixture *f = *state;
	struct {
		struct tact_stream_execution x;
		uint64_t more;
	} newer = {.x = {.size = sizeof(newer)}};
	struct tact_stream_execution old = {
		.size = offsetof(struct tact_stream_execution, address)};

	assert_int_equal(tact_stream_execute(f->stream, &newer.x), 0);
	newer.more = 1;
	IS_REFUSED(tact_stream_execute(f->stream, &newer.x));
	old.address = 0x77;
	assert_int_equal(tact_stream_execute(f->stream, &old), 0);
	old.size = 0;
	IS_REFUSED(tact_stream_execute(f->stream, &old));
}

struct rows {
	unsigned taken;
	double cycles;
};

static void take(void *arg, size_t model, size_t row, int status, const struct tact_estimate *x)
{
	struct rows *r = arg;

	(void)model, (void)row;
	assert_int_equal(status, 0);
	__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
	r->cycles = x->cycles_per_iteration;
}

/* Rows of a caller that knows more fields are farther apart. */
TEST(rows_are_as_far_apart_as_they_say)
{
	static const char *const facile[] = {"facile"};
	struct newer {
		struct tact_model_row row;
		uint64_t more;
	} rows[3];
	struct rows r = {0};

	for (unsigned i = 0; i < 3; i++)
		rows[i] = (struct newer){.row = {.size = sizeof(rows[0]),
						 .code = imul,
						 .code_size = sizeof(imul),
						 .arch = tact_arch_find("SKL")}};
	assert_int_equal(tact_model_run(facile, 1, &rows[0].row, 3, NULL, take, &r, NULL), 0);
	assert_int_equal(r.taken, 3);
	assert_true(r.cycles == 3);
	rows[2].more = 1;
	IS_REFUSED(tact_model_run(facile, 1, &rows[0].row, 3, NULL, take, &r, NULL));
	rows[0].row.size = 0;
	IS_REFUSED(tact_model_run(facile, 1, &rows[0].row, 1, NULL, take, &r, NULL));
	assert_int_equal(r.taken, 3);
}

/* A row that is wrong is found before anything runs. */
TEST(rows_are_checked)
{
	static const char *const facile[] = {"facile"}, *const none[] = {NULL};
	const struct tact_model_row good = {.size = sizeof(good),
					    .code = imul,
					    .code_size = sizeof(imul),
					    .arch = tact_arch_find("SKL")};
	struct tact_model_row row;
	struct rows r = {0};

	row = good;
	row.arch = NULL;
	IS_REFUSED(tact_model_run(facile, 1, &row, 1, NULL, take, &r, NULL));
	row = good;
	row.mode = (enum tact_mode)9;
	IS_REFUSED(tact_model_run(facile, 1, &row, 1, NULL, take, &r, NULL));
	row = good;
	row.init = (enum tact_init)9;
	IS_REFUSED(tact_model_run(facile, 1, &row, 1, NULL, take, &r, NULL));
	row = good;
	row.store = 1; /* there are none */
	IS_REFUSED(tact_model_run(facile, 1, &row, 1, NULL, take, &r, NULL));
	row = good;
	row.code = NULL;
	IS_REFUSED(tact_model_run(facile, 1, &row, 1, NULL, take, &r, NULL));
	IS_REFUSED(tact_model_run(NULL, 1, &good, 1, NULL, take, &r, NULL));
	IS_REFUSED(tact_model_run(none, 1, &good, 1, NULL, take, &r, NULL));
	IS_REFUSED(tact_model_run(facile, 1, NULL, 1, NULL, take, &r, NULL));
	IS_REFUSED(tact_model_run(facile, 1, &good, 1, NULL, NULL, &r, NULL));
	assert_int_equal(tact_model_run(facile, 1, NULL, 0, NULL, take, &r, NULL), 0);
	assert_int_equal(tact_model_run(NULL, 0, &good, 1, NULL, take, &r, NULL), 0);
	assert_int_equal(r.taken, 0);
}

/* ---- NULL ---- */

TEST_WITH(null_in_simulations, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream_block block = TACT_STREAM_BLOCK_INIT;
	struct tact_stream_execution x = TACT_STREAM_EXECUTION_INIT;
	uint64_t executions;
	uint32_t number;

	IS_REFUSED(tact_stream_create(NULL, NULL));
	LEAVES_NULL(struct tact_stream, tact_stream_create_beside(&out, NULL, NULL));
	IS_REFUSED(tact_stream_create_beside(NULL, f->stream, NULL));
	IS_REFUSED(tact_stream_add(NULL, f->block, &number));
	IS_REFUSED(tact_stream_add(f->stream, NULL, &number));
	IS_REFUSED(tact_stream_add(f->stream, f->empty, &number));
	IS_REFUSED(tact_stream_add(f->stream, f->block, NULL));
	IS_REFUSED(tact_stream_feed(NULL, 0, 0, NULL, 0));
	IS_REFUSED(tact_stream_feed(f->stream, 99, 0, NULL, 0));
	IS_REFUSED(tact_stream_feed(f->stream, f->number, 0, NULL, 1));
	IS_REFUSED(tact_stream_execute(NULL, &x));
	IS_REFUSED(tact_stream_execute(f->stream, NULL));
	IS_REFUSED(tact_stream_drain(NULL));
	IS_REFUSED(tact_stream_watch(NULL, NULL, NULL));
	IS_REFUSED(tact_stream_get_totals(NULL, &totals));
	IS_REFUSED(tact_stream_get_totals(f->stream, NULL));
	IS_REFUSED(tact_stream_get_insn(NULL, f->number, 0, &insn, &executions));
	IS_REFUSED(tact_stream_get_insn(f->stream, 99, 0, &insn, &executions));
	IS_REFUSED(tact_stream_get_insn(f->stream, f->number, 1, &insn, &executions));
	IS_REFUSED(tact_stream_get_insn(f->stream, f->number, 0, NULL, &executions));
	IS_REFUSED(tact_stream_get_insn(f->stream, f->number, 0, &insn, NULL));
	IS_REFUSED(tact_stream_get_block(NULL, f->number, &block));
	IS_REFUSED(tact_stream_get_block(f->stream, 99, &block));
	IS_REFUSED(tact_stream_get_block(f->stream, f->number, NULL));
	tact_stream_on_retire(NULL, NULL, NULL);
	tact_stream_forget(NULL);
	tact_stream_destroy(NULL);
	assert_string_equal(tact_stall_name((enum tact_stall)TACT_N_STALLS), "unknown");
	assert_string_equal(tact_uop_source_name((enum tact_uop_source)TACT_N_SOURCES), "unknown");
	assert_string_equal(tact_wait_name((enum tact_wait)TACT_N_WAITS), "unknown");
}

TEST_WITH(null_in_mca, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_mca_result e = TACT_MCA_RESULT_INIT;
	struct tact_mca_options wrong = {.size = sizeof(wrong), .iterations = 1000001};
	struct tact_mca *machine;
	enum tact_mca_memory memory = TACT_MCA_ALIAS;
	int value;

	LEAVES_NULL(struct tact_mca_params, tact_mca_params_create(&out, NULL, NULL));
	LEAVES_NULL(struct tact_mca_params, tact_mca_params_copy(&out, NULL, NULL));
	LEAVES_NULL(struct tact_mca, tact_mca_create(&out, &wrong, NULL));
	LEAVES_NULL(struct tact_mca_code, tact_mca_code_create(&out, NULL, TACT_MCA_ALIAS, NULL));
	LEAVES_NULL(struct tact_mca_code,
		    tact_mca_code_create(&out, f->empty, TACT_MCA_ALIAS, NULL));
	LEAVES_NULL(struct tact_mca_code,
		    tact_mca_code_create(&out, f->block, (enum tact_mca_memory)3, NULL));
	IS_REFUSED(tact_mca_params_create(NULL, tact_arch_find("SKL"), NULL));
	IS_REFUSED(tact_mca_params_copy(NULL, f->params, NULL));
	IS_REFUSED(tact_mca_create(NULL, NULL, NULL));
	IS_REFUSED(tact_mca_code_create(NULL, f->block, TACT_MCA_ALIAS, NULL));
	IS_REFUSED(tact_mca_get(NULL, 0, 0, 0, &value));
	IS_REFUSED(tact_mca_get(f->params, 0, 0, 0, NULL));
	IS_REFUSED(tact_mca_get(f->params, 0, TACT_MCA_N_KINDS, 0, &value));
	IS_REFUSED(tact_mca_get(f->params, TACT_FORM_NONE, 0, 0, &value));
	IS_REFUSED(tact_mca_set(NULL, 0, 0, 0, 1));
	IS_REFUSED(tact_mca_default(NULL, 0, 0, 0, &value));
	IS_REFUSED(tact_mca_default(tact_arch_find("SKL"), 0, 0, 0, NULL));
	IS_REFUSED(tact_mca_params_load(NULL, "/dev/null", NULL));
	IS_REFUSED(tact_mca_params_load(f->params, NULL, NULL));
	IS_REFUSED(tact_mca_params_save(NULL, "/dev/null", NULL, NULL));
	IS_REFUSED(tact_mca_params_save(f->params, NULL, NULL, NULL));
	IS_REFUSED(tact_mca_estimate(NULL, f->block, &e));
	IS_REFUSED(tact_mca_estimate(f->machine, NULL, &e));
	IS_REFUSED(tact_mca_estimate(f->machine, f->empty, &e));
	IS_REFUSED(tact_mca_estimate(f->machine, f->block, NULL));
	IS_REFUSED(tact_mca_run(NULL, f->code, &e));
	IS_REFUSED(tact_mca_run(f->machine, NULL, &e));
	IS_REFUSED(tact_mca_run(f->machine, f->code, NULL));
	assert_int_equal(tact_mca_create(&machine, NULL, NULL), 0); /* without parameters */
	IS_REFUSED(tact_mca_run(machine, f->code, &e));
	tact_mca_destroy(machine);
	assert_null(tact_mca_params_arch(NULL));
	assert_false(tact_mca_params_memory(NULL, &memory));
	tact_mca_params_set_memory(f->params, TACT_MCA_ALIAS);
	tact_mca_params_set_memory(f->params, (enum tact_mca_memory)3);
	assert_false(tact_mca_params_memory(f->params, NULL));
	assert_true(tact_mca_params_memory(f->params, &memory));
	assert_int_equal(memory, TACT_MCA_ALIAS);
	tact_mca_params_set_memory(NULL, TACT_MCA_ALIAS);
	assert_int_equal(tact_mca_code_length(NULL), 0);
	assert_int_equal(tact_mca_code_form(NULL, 0), TACT_FORM_NONE);
	assert_int_equal(tact_mca_code_form(f->code, 1), TACT_FORM_NONE);
	assert_null(tact_mca_get_info(TACT_MCA_N_KINDS));
	assert_int_equal(tact_mca_get_info(0)->size, sizeof(struct tact_mca_info));
	tact_mca_destroy(NULL);
	tact_mca_params_destroy(NULL);
	tact_mca_code_destroy(NULL);
}

TEST_WITH(null_in_models, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_estimate x = TACT_ESTIMATE_INIT;
	struct tact_predict_options unknown = {.size = sizeof(unknown),
					       .bounds = 1u << TACT_N_BOUNDS};
	struct tact_model_options opt = {.size = sizeof(opt), .facile = &unknown};
	const struct tact_model *last = NULL;

	IS_REFUSED(tact_model_open(NULL, "sim", NULL, NULL));
	LEAVES_NULL(struct tact_estimator, tact_model_open(&out, NULL, NULL, NULL));
	LEAVES_NULL(struct tact_estimator, tact_model_open(&out, "none", NULL, NULL));
	LEAVES_NULL(struct tact_estimator, tact_model_open(&out, "mca:params=x", NULL, NULL));
	LEAVES_NULL(struct tact_estimator, tact_model_open(&out, "facile", &opt, NULL));
	IS_REFUSED(tact_model_estimate(NULL, f->block, &x));
	IS_REFUSED(tact_model_estimate(f->estimator, NULL, &x));
	IS_REFUSED(tact_model_estimate(f->estimator, f->empty, &x));
	IS_REFUSED(tact_model_estimate(f->estimator, f->block, NULL));
	IS_REFUSED(tact_model_stream_create(NULL, "sim", NULL));
	LEAVES_NULL(struct tact_stream, tact_model_stream_create(&out, NULL, NULL));
	LEAVES_NULL(struct tact_stream, tact_model_stream_create(&out, "mca", NULL));
	IS_REFUSED(tact_model_expand(NULL, NULL, NULL, NULL));
	assert_null(tact_model_find(NULL, NULL));
	assert_null(tact_model_find("", NULL));
	assert_int_equal(tact_model_title(NULL), 0);
	for (const struct tact_model *m = NULL; (m = tact_model_next(m)); last = m)
		assert_int_equal(m->size, sizeof(*m));
	assert_null(tact_model_next(last));
	tact_model_close(NULL);
}

TEST(null_in_inputs)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input_options wrong = TACT_INPUT_OPTIONS_INIT;
	struct tact_input *in;

	IS_REFUSED(tact_input_open(NULL, "-", NULL, NULL));
	LEAVES_NULL(struct tact_input, tact_input_open(&out, NULL, NULL, NULL));
	IS_REFUSED(tact_input_open_memory(NULL, "90", 2, NULL, NULL));
	LEAVES_NULL(struct tact_input, tact_input_open_memory(&out, NULL, 2, NULL, NULL));
	wrong.kind = (enum tact_input_kind)(TACT_INPUT_RAW + 1);
	LEAVES_NULL(struct tact_input, tact_input_open_memory(&out, "90", 2, &wrong, NULL));
	wrong = (struct tact_input_options)TACT_INPUT_OPTIONS_INIT;
	wrong.loop = -1;
	LEAVES_NULL(struct tact_input, tact_input_open_memory(&out, "90", 2, &wrong, NULL));
	wrong.loop = 0;
	wrong.syntax = (enum tact_syntax)3;
	LEAVES_NULL(struct tact_input, tact_input_open_memory(&out, "90", 2, &wrong, NULL));
	in = (struct tact_input *)(uintptr_t)1;
	assert_int_equal(tact_input_open(&in, "/nowhere/at/all", NULL, NULL), -TACT_E_IO);
	assert_null(in);
	assert_int_equal(tact_input_open_memory(&in, "90", 2, NULL, NULL), 0);
	IS_REFUSED(tact_input_next(NULL, &region, NULL));
	IS_REFUSED(tact_input_next(in, NULL, NULL));
	tact_input_close(in);
	tact_input_close(NULL);
	assert_string_equal(tact_input_description(NULL), "");
	assert_int_equal(tact_input_get_kind(NULL), TACT_INPUT_AUTO);
}

TEST(null_in_instruction_sets)
{
	const struct tact_isa *isa = tact_isa_default();
	struct tact_insn insn;
	char text[64], little[4];

	assert_null(tact_isa_find(NULL));
	assert_non_null(isa);
	assert_string_equal(tact_isa_name(NULL), "");
	assert_string_equal(tact_isa_title(NULL), "");
	IS_REFUSED(tact_isa_decode(NULL, &insn, imul, sizeof(imul)));
	IS_REFUSED(tact_isa_decode(isa, NULL, imul, sizeof(imul)));
	IS_REFUSED(tact_isa_decode(isa, &insn, NULL, 1));
	assert_int_equal(tact_isa_decode(isa, &insn, NULL, 0), -TACT_E_DECODE);
	IS_REFUSED(tact_isa_format(NULL, imul, sizeof(imul), 0, text, sizeof(text)));
	IS_REFUSED(tact_isa_format(isa, NULL, 1, 0, text, sizeof(text)));
	IS_REFUSED(tact_isa_format(isa, imul, sizeof(imul), 0, NULL, sizeof(text)));
	IS_REFUSED(tact_isa_format(isa, imul, sizeof(imul), 0, text, 0));
	assert_int_equal(tact_isa_format(isa, imul, 1, 0, text, sizeof(text)), -TACT_E_DECODE);
	assert_int_equal(tact_isa_format(isa, imul, sizeof(imul), 0, little, sizeof(little)),
			 -TACT_E_LIMIT);
	assert_int_equal(tact_isa_form_count(NULL), 0);
	assert_string_equal(tact_isa_form_name(NULL, 0), "unknown");
	assert_string_equal(tact_isa_form_name(isa, TACT_FORM_NONE), "unknown");
	assert_int_equal(tact_isa_form_find(NULL, "ADD (R64, I8)"), TACT_FORM_NONE);
	assert_int_equal(tact_isa_form_find(isa, NULL), TACT_FORM_NONE);
	assert_int_equal(tact_isa_stack_pointer(NULL), TACT_REG_NONE);
	assert_string_equal(tact_isa_reg_name(NULL, 0), "none");
	assert_string_equal(tact_isa_reg_name(isa, TACT_REG_NONE), "none");
}

/* ---- views ---- */

static void is_no_view(const struct tact_view *view, enum tact_view_kind kind)
{
	char *text = (char *)(uintptr_t)1;

	IS_REFUSED(tact_view_make(view, kind, &text, NULL));
	assert_null(text);
}

TEST_WITH(views_need_what_they_show, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_simulation simulation = TACT_SIMULATION_INIT, stopped;
	struct tact_prediction prediction = {.size = sizeof(prediction)};
	struct tact_view view = TACT_VIEW_INIT, v;
	char *text;
	double cycles;

	assert_int_equal(tact_predict(f->block, NULL, &prediction), 0);
	assert_int_equal(tact_simulate(f->simulator, f->block, NULL, &simulation), 0);
	view.block = f->block;
	view.arch = tact_arch_find("SKL");
	view.prediction = &prediction;
	view.simulator = f->simulator;
	view.simulation = &simulation;
	stopped = simulation;
	stopped.cycles_per_iteration = NAN;
	for (unsigned k = 0; k < TACT_N_VIEWS; k++) {
		const enum tact_view_kind kind = (enum tact_view_kind)k;

		is_no_view(NULL, kind);
		IS_REFUSED(tact_view_make(&view, kind, NULL, NULL));
		v = view;
		v.size = 0;
		is_no_view(&v, kind);
		v = view;
		v.block = NULL;
		is_no_view(&v, kind);
		v.block = f->empty;
		is_no_view(&v, kind);
		v = view;
		v.arch = NULL;
		is_no_view(&v, kind);
		v = view;
		v.prediction = NULL;
		v.simulation = NULL;
		is_no_view(&v, kind);
		v = view;
		v.simulation = &stopped; /* it has no figure */
		if (kind == TACT_VIEW_CHART || kind == TACT_VIEW_SIMULATION)
			is_no_view(&v, kind);
		v = view;
		v.width = 1;
		assert_int_equal(tact_view_make(&v, kind, &text, NULL), 0);
		free(text);
	}
	is_no_view(&view, (enum tact_view_kind)TACT_N_VIEWS);
	assert_false(tact_view_idealized(f->block, NULL, TACT_BOUND_PORTS, NULL));
	assert_false(tact_view_idealized(NULL, NULL, TACT_BOUND_PORTS, &cycles));
	assert_false(tact_view_idealized(f->block, NULL, TACT_VIEW_SCHEDULING, &cycles));
	assert_string_equal(tact_view_bottleneck_name(99), "unknown");
	assert_int_equal(tact_view_letter(NULL, 0), ' ');
	IS_REFUSED(tact_listing_init(NULL, f->block, 0));
	IS_REFUSED(tact_listing_init(&(struct tact_listing){0}, NULL, 0));
	tact_listing_fini(NULL);
}

/* A view of an older caller: what its structs lack is zero. */
TEST_WITH(views_take_older_structs, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_prediction prediction = {.size = sizeof(prediction)};
	struct tact_region region = {.size = offsetof(struct tact_region, name),
				     .name = (const char *)(uintptr_t)1,
				     .line = 7};
	struct tact_view view = TACT_VIEW_INIT;
	char *text;

	assert_int_equal(tact_predict(f->block, NULL, &prediction), 0);
	view.block = f->block;
	view.arch = tact_arch_find("SKL");
	view.prediction = &prediction;
	view.region = &region;
	view.size = offsetof(struct tact_view, file);
	view.file = (const char *)(uintptr_t)1;
	assert_int_equal(tact_view_make(&view, TACT_VIEW_PREDICTION, &text, NULL), 0);
	assert_non_null(strstr(text, "\"line\":7"));
	free(text);
}

TEST(coverage_is_checked)
{
	const struct tact_arch *archs[] = {tact_arch_find("SKL"), NULL};
	const struct tact_gap *gaps;
	struct tact_coverage *c;
	size_t n;

	LEAVES_NULL(struct tact_coverage, tact_coverage_create(&out, NULL, 1, NULL));
	LEAVES_NULL(struct tact_coverage, tact_coverage_create(&out, archs, 0, NULL));
	LEAVES_NULL(struct tact_coverage, tact_coverage_create(&out, archs, 2, NULL));
	IS_REFUSED(tact_coverage_create(NULL, archs, 1, NULL));
	assert_int_equal(tact_coverage_create(&c, archs, 1, NULL), 0);
	IS_REFUSED(tact_coverage_add(NULL, imul, 4, NULL));
	IS_REFUSED(tact_coverage_add(c, NULL, 4, NULL));
	IS_REFUSED(tact_coverage_gaps(NULL, &gaps, &n));
	IS_REFUSED(tact_coverage_gaps(c, NULL, &n));
	IS_REFUSED(tact_coverage_gaps(c, &gaps, NULL));
	assert_int_equal(tact_coverage_blocks(NULL), 0);
	assert_int_equal(tact_coverage_insns(NULL), 0);
	assert_int_equal(tact_coverage_missing(NULL, 0), 0);
	tact_coverage_destroy(c);
	tact_coverage_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
