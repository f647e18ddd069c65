/* SPDX-License-Identifier: MIT
 *
 * The registry: every model is found, opens, estimates and closes; bad names report what is wrong.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "support.h"

#include <tact/tact.h>

static struct tact_block *load(const char *arch, enum tact_mode mode, const char *hex)
{
	struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct tact_block *block;
	uint8_t code[256];
	size_t size = bytes_of(code, sizeof(code), hex);

	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	return block;
}

static struct tact_estimate estimate(const char *name, struct tact_block *block)
{
	static struct tact_prediction bounds[4]; /* of the last estimates */
	static unsigned n;
	struct tact_estimate out = {.size = sizeof(out)};
	struct tact_estimator *e;
	struct tact_diag diag = {0};

	if (tact_model_open(&e, name, NULL, &diag) < 0)
		fail_msg("%s: %s", name, diag.text);
	assert_int_equal(tact_model_estimate(e, block, &out), 0);
	if (out.bounds) {
		bounds[++n % ARRAY_SIZE(bounds)] = *out.bounds;
		out.bounds = &bounds[n % ARRAY_SIZE(bounds)];
	}
	tact_model_close(e);
	return out;
}

/* imul rax, rbx; add rcx, rdi */
static const char CODE[] = "480fafc3 4801f9";

/* ---- the registry ---- */

TEST(every_entry_is_found)
{
	unsigned n = 0;

	for (const struct tact_model *m = NULL; (m = tact_model_next(m)); n++) {
		assert_non_null(m->name);
		assert_non_null(m->help);
	}
	assert_true(n >= 3);
	assert_string_equal(tact_model_find("facile:only=predec+ports:paper", NULL)->name,
			    "facile");
	assert_string_equal(tact_model_find("mca:params=x", NULL)->name, "mca");
	assert_string_equal(tact_model_find("llvm-mca-19", NULL)->name, "llvm-mca");
	assert_string_equal(tact_model_find("stored:x@1", NULL)->name, "stored");
	assert_true(tact_model_find("facile=cat", NULL)->traits & TACT_MODEL_PROGRAM);
	assert_int_equal(tact_model_title("facile:only=ports"), 17);
	assert_int_equal(tact_model_title("name=command --only=1"), 4);
	assert_true(tact_model_find("sim", NULL)->traits & TACT_MODEL_STREAM);
	assert_false(tact_model_find("facile", NULL)->traits & TACT_MODEL_STREAM);
}

TEST(bad_names_say_what_is_wrong)
{
	static const struct {
		const char *name, *why;
	} bad[] = {
		{NULL, "empty"},
		{"", "empty"},
		{"nonsense", "'nonsense' is not one of facile"},
		{"facil", "not one of"},
		{"faciles", "not one of"},
		{"facile:", "what follows facile:"},
		{"facile:ablations", "stands for several models"},
		{"facile:ablations:paper", "what follows facile:"},
		{"facile:only=", "empty"},
		{"facile:only=ports+nonsense", "'nonsense' is not a bound"},
		{"facile:only=ports:without=ports", "no bound is left"},
		{"sim:fast", "nothing follows"},
		{"mca:fast", "params=FILE"},
		{"mca:params=", "params=FILE"},
		{"stored", "name of a model"},
		{"stored:", "name of a model"},
		{"stored:@1", "name of a model"},
		{"x=", "no command"},
		{"x= \t", "no command"},
		{"=true", "not one of"},
	};
	struct tact_estimator *e = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct tact_diag diag = {0};

		assert_null(tact_model_find(bad[i].name, &diag));
		if (!strstr(diag.text, bad[i].why))
			fail_msg("%s: %s", bad[i].name, diag.text);
		assert_null(tact_model_find(bad[i].name, NULL));
		assert_int_equal(tact_model_open(&e, bad[i].name, NULL, NULL), -TACT_E_INVAL);
	}
}

struct names {
	char text[1024];
	unsigned n, stop;
};

static int add_name(void *arg, const char *name)
{
	struct names *names = arg;

	strcat(strcat(names->text, name), " ");
	return ++names->n == names->stop ? 7 : 0;
}

TEST(lists_expand)
{
	struct names names = {.n = 0};
	struct tact_diag diag = {0};

	assert_int_equal(tact_model_expand("sim,facile:paper,mca", add_name, &names, &diag), 0);
	assert_string_equal(names.text, "sim facile:paper mca ");
	names = (struct names){.n = 0};
	assert_int_equal(tact_model_expand("facile:ablations,sim", add_name, &names, &diag), 0);
	assert_int_equal(names.n, 20);
	assert_non_null(strstr(names.text, "facile:without=precedence sim "));
	names = (struct names){.stop = 2};
	assert_int_equal(tact_model_expand("facile:ablations", add_name, &names, &diag), 7);
	names = (struct names){.n = 0};
	assert_int_equal(tact_model_expand("x=a, b,c:d", add_name, &names, &diag), 0);
	assert_string_equal(names.text, "x=a, b,c:d ");
	assert_int_equal(tact_model_expand("sim,,mca", add_name, &names, &diag), -TACT_E_INVAL);
	assert_string_equal(diag.text, "a name is empty");
	assert_int_equal(tact_model_expand("", add_name, &names, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_expand(NULL, add_name, &names, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_expand("sim", NULL, &names, NULL), -TACT_E_INVAL);
}

/* ---- estimates ---- */

TEST(every_entry_estimates)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, CODE);

	for (const struct tact_model *m = NULL; (m = tact_model_next(m));) {
		struct tact_estimate x;

		if (m->traits & TACT_MODEL_BATCH) /* test_model_run.c has these */
			continue;
		x = estimate(m->name, block);
		assert_true(x.cycles_per_iteration > 0 && x.cycles_per_iteration < 3.2);
		if (strstr("facile sim mca", m->name))
			assert_true(x.cycles_per_iteration > 2.9);
		assert_true(x.coverage == 1);
		assert_int_equal(x.size, sizeof(x));
	}
	tact_block_destroy(block);
}

/* A model gives what its own call gives. */
TEST(facile_has_parts)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, CODE);
	struct tact_predict_options opt = {.size = sizeof(opt)};
	struct tact_estimate x = estimate("facile", block), y;
	struct tact_prediction p = {.size = sizeof(p)};

	assert_int_equal(tact_predict(block, NULL, &p), 0);
	assert_memory_equal(&p, x.bounds, sizeof(p));
	assert_true(x.cycles_per_iteration == p.cycles_per_iteration);
	assert_int_equal(x.bottlenecks, 1u << TACT_BOUND_PRECEDENCE);
	opt.bounds = 1u << TACT_BOUND_PORTS | 1u << TACT_BOUND_ISSUE;
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	y = estimate("facile:only=Ports+issue", block);
	assert_memory_equal(&p, y.bounds, sizeof(p));
	y = estimate("facile:without=precedence:without=Predecoder", block);
	assert_true(y.cycles_per_iteration < x.cycles_per_iteration);
	assert_false(y.bounds->applies >> TACT_BOUND_PREDECODE & 1);
	y = estimate("facile:only=lsd", block);
	assert_int_equal(y.bounds->applies, 0);
	y = estimate("facile:paper", block);
	assert_false(y.bounds->applies >> TACT_BOUND_DIVIDER & 1);
	y = estimate("facile", block); /* the block is as it was */
	assert_true(x.cycles_per_iteration == y.cycles_per_iteration);
	assert_int_equal(x.bottlenecks, y.bottlenecks);
	tact_block_destroy(block);
}

TEST(sim_explains_itself)
{
	struct tact_block *block = load("SKL", TACT_MODE_LOOP, "4801d8 49ffcf 75f8");
	struct tact_model_options opt = {.size = sizeof(opt), .max_cycles = 1};
	struct tact_estimate x = estimate("sim", block);
	struct tact_simulator *simulator;
	struct tact_simulation s = {.size = sizeof(s)};
	struct tact_estimator *e;

	assert_int_equal(tact_simulator_create(&simulator, NULL), 0);
	assert_int_equal(tact_simulate(simulator, block, NULL, &s), 0);
	assert_true(x.cycles_per_iteration == s.cycles_per_iteration);
	assert_int_equal(x.bottlenecks, s.bottlenecks);
	assert_int_equal(x.scheduling, s.scheduling);
	assert_memory_equal(x.bounds, s.bounds, sizeof(*s.bounds));
	assert_int_equal(tact_model_open(&e, "sim", &opt, NULL), 0);
	assert_int_equal(tact_model_estimate(e, block, &x), -TACT_E_LIMIT);
	tact_model_close(e);
	tact_simulator_destroy(simulator);
	tact_block_destroy(block);
}

static void write_file(const char *path, const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

TEST(mca_takes_options)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, CODE);
	struct tact_block *other = load("HSW", TACT_MODE_UNROLL, CODE);
	const struct tact_mca_options mca = {.size = sizeof(mca), .iterations = 1};
	struct tact_model_options opt = {.size = sizeof(opt), .mca = &mca, .bounds = true};
	struct tact_estimate x = {.size = sizeof(x)};
	struct tact_diag diag = {0};
	struct tact_estimator *e;
	char name[64] = "mca:params=/tmp/test_model_XXXXXX", *path = strchr(name, '/');
	struct tact_mca_params *params;
	int file = mkstemp(path);

	assert_int_equal(tact_model_open(&e, "mca", &opt, NULL), 0);
	assert_int_equal(tact_model_estimate(e, block, &x), 0);
	assert_true(x.cycles_per_iteration > 4); /* there is a beginning and an end */
	assert_true(x.bounds->cycles_per_iteration == 3);
	assert_int_equal(x.bottlenecks, 1u << TACT_BOUND_PRECEDENCE);
	tact_model_close(e);
	assert_true(file >= 0);
	close(file);
	write_file(path, "dispatch_width = 1\n");
	assert_int_equal(tact_model_open(&e, name, NULL, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "one CPU"));
	opt = (struct tact_model_options){.size = sizeof(opt), .arch = tact_block_arch(block)};
	assert_int_equal(tact_model_open(&e, name, &opt, &diag), -TACT_E_FORMAT);
	assert_memory_equal(diag.text, path, strlen(path));
	assert_int_equal(tact_mca_params_create(&params, opt.arch, NULL), 0);
	assert_int_equal(tact_mca_set(params, 0, TACT_MCA_DISPATCH_WIDTH, 0, 1), 0);
	assert_int_equal(tact_mca_params_save(params, path, NULL, NULL), 0);
	assert_int_equal(tact_model_open(&e, name, &opt, NULL), 0);
	assert_int_equal(tact_model_estimate(e, block, &x), 0);
	assert_true(x.cycles_per_iteration > 2.9);
	assert_int_equal(tact_model_estimate(e, other, &x), -TACT_E_INVAL); /* another CPU */
	tact_model_close(e);
	tact_model_close(NULL);
	tact_mca_params_destroy(params);
	unlink(path);
	assert_int_equal(tact_model_open(&e, "mca:params=/nonexistent/x", &opt, NULL), -TACT_E_IO);
	tact_block_destroy(block);
	tact_block_destroy(other);
}

/* An estimate cannot say that it is only a lower bound. */
TEST(estimates_are_complete_with_stop_above)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, CODE);
	struct tact_predict_options facile = {.size = sizeof(facile), .stop_above = 0.1};
	struct tact_model_options opt = {.size = sizeof(opt), .facile = &facile};
	struct tact_estimate x = {.size = sizeof(x)};
	struct tact_estimator *e;
	double cycles;

	assert_int_equal(tact_model_open(&e, "facile", &opt, NULL), 0);
	assert_int_equal(tact_model_estimate(e, block, &x), 0);
	assert_true(x.cycles_per_iteration == 3);
	assert_int_equal(x.bottlenecks, 1u << TACT_BOUND_PRECEDENCE);
	tact_model_close(e);
	assert_true(tact_view_idealized(block, &facile, TACT_BOUND_PORTS, &cycles));
	assert_true(cycles == 3);
	facile.stop_above = NAN;
	assert_int_equal(tact_model_open(&e, "facile", &opt, NULL), -TACT_E_INVAL);
	assert_false(tact_view_idealized(block, &facile, TACT_BOUND_PORTS, &cycles));
	tact_block_destroy(block);
}

TEST(streams_by_name)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, CODE);
	struct tact_stream_totals totals = TACT_STREAM_TOTALS_INIT;
	struct tact_stream *stream;
	struct tact_diag diag = {0};
	uint32_t number;

	for (const struct tact_model *m = NULL; (m = tact_model_next(m));)
		if (!(m->traits & (TACT_MODEL_STREAM | TACT_MODEL_BATCH))) {
			assert_int_equal(tact_model_stream_create(&stream, m->name, &diag),
					 -TACT_E_INVAL);
			assert_non_null(strstr(diag.text, "a steady state only"));
		}
	assert_int_equal(tact_model_stream_create(&stream, "none", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_stream_create(&stream, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_stream_create(NULL, "sim", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_stream_create(&stream, "sim", NULL), 0);
	assert_int_equal(tact_stream_add(stream, block, &number), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(tact_stream_feed(stream, number, 0x1000, NULL, 0), 0);
	assert_int_equal(tact_stream_drain(stream), 0);
	assert_int_equal(tact_stream_get_totals(stream, &totals), 0);
	assert_true(totals.cycles > 299 && totals.cycles < 400);
	tact_stream_destroy(stream);
	tact_block_destroy(block);
}

TEST(misuse)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, CODE), *empty;
	struct tact_estimate x = {.size = sizeof(x)};
	struct {
		struct tact_model_options opt;
		char later;
	} larger = {{.size = sizeof(larger)}, 1};
	struct tact_estimator *e;

	assert_int_equal(tact_model_open(NULL, "sim", NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_open(&e, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_open(&e, "sim", &larger.opt, NULL), -TACT_E_INVAL);
	larger.later = 0;
	larger.opt.n_stores = 1; /* and none is there */
	assert_int_equal(tact_model_open(&e, "sim", &larger.opt, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_create(&empty, tact_arch_find("SKL"), NULL, NULL), 0);
	for (const struct tact_model *m = NULL; (m = tact_model_next(m));) {
		if (m->traits & TACT_MODEL_BATCH)
			continue;
		assert_int_equal(tact_model_open(&e, m->name, NULL, NULL), 0);
		assert_int_equal(tact_model_estimate(e, empty, &x), -TACT_E_INVAL);
		assert_int_equal(tact_model_estimate(e, NULL, &x), -TACT_E_INVAL);
		assert_int_equal(tact_model_estimate(e, block, NULL), -TACT_E_INVAL);
		x.size = 1;
		assert_int_equal(tact_model_estimate(e, block, &x), -TACT_E_INVAL);
		/* A caller of another time: it knows cycles and coverage. */
		memset(&x, 0x77, sizeof(x));
		x.size = offsetof(struct tact_estimate, bottlenecks);
		assert_int_equal(tact_model_estimate(e, block, &x), 0);
		assert_true(x.coverage == 1);
		assert_int_equal(x.bottlenecks, 0x77777777);
		tact_model_close(e);
		x.size = sizeof(x);
	}
	assert_int_equal(tact_model_estimate(NULL, block, &x), -TACT_E_INVAL);
	tact_block_destroy(block);
	tact_block_destroy(empty);
}

RUN_TESTS(NULL, NULL)
