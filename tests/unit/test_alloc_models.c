/* SPDX-License-Identifier: MIT
 *
 * Memory of inputs, simulations, models and views: every allocation may fail, with -TACT_E_NOMEM
 * and nothing else.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/coverage.h>
#include <tact-program/drawing.h>
#include <tact/tact.h>

#include "failing.h"

/* imul rax, rbx; add [rdi], rax; dec r15; jnz */
static const uint8_t code[] = {0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01,
			       0x07, 0x49, 0xff, 0xcf, 0x75, 0xf4};

static struct tact_block *load(void)
{
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
	return block;
}

/* ---- simulations ---- */

static int simulate(void *block)
{
	struct tact_simulation s = TACT_SIMULATION_INIT;
	struct tact_simulator *simulator = (void *)&s;
	int status = tact_simulator_create(&simulator, NULL);

	if (status < 0)
		assert_null(simulator);
	else
		status = tact_simulate(simulator, block, NULL, &s);
	if (status >= 0)
		assert_true(s.cycles_per_iteration > 2.9);
	tact_simulator_destroy(simulator);
	return status;
}

static int stream(void *block)
{
	struct tact_stream_access accesses[200];
	struct tact_stream *first = (void *)accesses, *second = (void *)accesses;
	uint32_t number = 0;
	int status = tact_stream_create(&first, NULL);

	memset(accesses, 0, sizeof(accesses));
	if (status < 0)
		assert_null(first);
	if (status >= 0) {
		status = tact_stream_create_beside(&second, first, NULL);
		if (status < 0)
			assert_null(second);
	} else {
		second = NULL;
	}
	if (status >= 0)
		status = tact_stream_add(second, block, &number);
	if (status >= 0)
		status = tact_stream_feed(first, number, 0x1000, accesses, 200);
	if (status >= 0)
		status = tact_stream_drain(first);
	tact_stream_destroy(second);
	tact_stream_destroy(first);
	return status;
}

TEST(simulations_may_fail)
{
	struct tact_block *block = load();

	assert_true(try_failures(simulate, block) > 5);
	assert_true(try_failures(stream, block) > 5);
	tact_block_destroy(block);
}

/* ---- inputs ---- */

struct text_input {
	enum tact_input_kind kind;
	const char *text;
	int n; /* regions */
};

static int read_input(void *arg)
{
	const struct text_input *t = arg;
	const struct tact_input_options opt = {.size = sizeof(opt), .kind = t->kind};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in = (void *)&region;
	int n = 0, status = tact_input_open_memory(&in, t->text, strlen(t->text), &opt, NULL);

	if (status < 0) {
		assert_null(in);
		return status;
	}
	while ((status = tact_input_next(in, &region, NULL)) > 0)
		n++;
	if (!status)
		assert_int_equal(n, t->n);
	tact_input_close(in);
	return status;
}

static int read_file(void *arg)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in = (void *)&region;
	int status = tact_input_open(&in, arg, NULL, NULL);

	if (status < 0)
		assert_null(in);
	else
		status = tact_input_next(in, &region, NULL);
	if (status > 0)
		status = 0;
	tact_input_close(in);
	return status;
}

TEST(inputs_may_fail)
{
	static struct text_input inputs[] = {
		{TACT_INPUT_HEX, "4801d8\n90\n", 2},
		{TACT_INPUT_CSV, "hex,x\n4801d8,1\n", 1},
		{TACT_INPUT_RAW, "\x90\x90", 1},
	};
	static struct text_input assembly = {
		TACT_INPUT_ASM,
		"# LLVM-MCA-BEGIN here\nfirst:\n add rax, rbx\n dec r15\n jnz first\n"
		"# LLVM-MCA-END\n ret\nsecond:\n mov rax, [rbx]\n ret\n",
		1};
	char path[] = "/tmp/tact-test-XXXXXX";
	int fd = mkstemp(path);

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		assert_true(try_failures(read_input, &inputs[i]) >= 2);
	assert_true(try_failures(read_input, &assembly) > 10);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "4801d8\n", 7), 7);
	close(fd);
	assert_true(try_failures(read_file, path) >= 2);
	unlink(path);
}

/* ---- models ---- */

static int open_and_close(void *arg)
{
	struct tact_estimator *e = arg;
	int status = tact_model_open(&e, arg, NULL, NULL);

	if (status < 0)
		assert_null(e);
	tact_model_close(e);
	return status;
}

static int add_name(void *arg, const char *name)
{
	(void)name;
	++*(unsigned *)arg;
	return 0;
}

static int expand(void *arg)
{
	return tact_model_expand("facile,sim,mca", add_name, arg, NULL);
}

static int open_stream(void *arg)
{
	struct tact_stream *s = arg;
	int status = tact_model_stream_create(&s, "sim", NULL);

	if (status < 0)
		assert_null(s);
	tact_stream_destroy(s);
	return status;
}

static void take(void *arg, size_t model, size_t row, int status, const struct tact_estimate *x)
{
	(void)arg, (void)model, (void)row;
	if (status < 0 && status != -TACT_E_NOMEM)
		fail_msg("%s", tact_strerror(status));
	assert_true((status < 0) == !x);
}

static int run(void *arg)
{
	static const char *const names[] = {"facile", "sim", "mca", "x=sed s/.*/1/"};
	const struct tact_model_options opt = {.size = sizeof(opt), .threads = 1, .bounds = true};
	struct tact_model_row rows[3];

	for (unsigned i = 0; i < 3; i++)
		rows[i] = (struct tact_model_row){.size = sizeof(rows[i]),
						  .code = code,
						  .code_size = sizeof(code),
						  .arch = tact_arch_find(i ? "HSW" : "SKL")};
	return tact_model_run(names, 4, rows, 3, &opt, take, arg, NULL);
}

TEST(models_may_fail)
{
	char facile[] = "facile:only=ports", sim[] = "sim", mca[] = "mca";
	unsigned n = 0;

	assert_true(try_failures(open_and_close, facile) >= 2);
	assert_true(try_failures(open_and_close, sim) >= 3);
	assert_true(try_failures(open_and_close, mca) >= 3);
	assert_true(try_failures(expand, &n) >= 3);
	assert_true(try_failures(open_stream, &n) >= 1);
	assert_true(try_failures(run, NULL) > 20);
}

/* ---- views and coverage ---- */

struct shown {
	struct tact_view view;
	enum tact_view_kind kind;
};

static int show(void *arg)
{
	struct shown *s = arg;
	char *text = arg;
	size_t size;
	int status = tact_view_make(&s->view, s->kind, &text, &size);

	if (status < 0)
		assert_null(text);
	else
		assert_int_equal(strlen(text), size);
	free(text);
	return status;
}

TEST(views_may_fail)
{
	struct tact_simulation simulation = TACT_SIMULATION_INIT;
	struct tact_prediction prediction = {.size = sizeof(prediction)};
	const struct tact_predict_options all = {.size = sizeof(all)};
	struct shown s = {.view = TACT_VIEW_INIT};
	struct tact_simulator *simulator;
	struct tact_block *block = load();

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	assert_int_equal(tact_predict(block, NULL, &prediction), 0);
	assert_int_equal(tact_simulate(simulator, block, NULL, &simulation), 0);
	s.view.block = block;
	s.view.arch = tact_arch_find("SKL");
	s.view.prediction = &prediction;
	s.view.idealization = &all;
	s.view.simulator = simulator;
	s.view.simulation = &simulation;
	s.view.with_timeline = true;
	for (unsigned kind = 0; kind < TACT_N_VIEWS; kind++) {
		s.kind = (enum tact_view_kind)kind;
		assert_true(try_failures(show, &s) >= 2);
	}
	tact_simulator_destroy(simulator);
	tact_block_destroy(block);
}

static int cover(void *arg)
{
	/* vpaddd zmm0, zmm1, zmm2, which SNB has no data for; ud0 with a register, of no form */
	static const uint8_t wide[] = {0x62, 0xf1, 0x75, 0x48, 0xfe, 0xc2, 0x0f, 0xff, 0xc0};
	const struct tact_arch *archs[] = {tact_arch_find("SNB")};
	struct tact_coverage *c = arg;
	const struct tact_gap *gaps;
	size_t n;
	int status = tact_coverage_create(&c, archs, 1, NULL);

	if (status < 0)
		assert_null(c);
	if (status >= 0)
		status = tact_coverage_add(c, wide, sizeof(wide), NULL);
	if (status >= 0)
		status = tact_coverage_gaps(c, &gaps, &n);
	tact_coverage_destroy(c);
	return status;
}

static int list(void *block)
{
	struct tact_listing listing;
	int status = tact_listing_init(&listing, block, 0);

	tact_listing_fini(&listing);
	return status;
}

TEST(coverage_may_fail)
{
	struct tact_block *block = load();

	assert_true(try_failures(cover, NULL) >= 3);
	assert_true(try_failures(list, block) >= 1);
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
