/* SPDX-License-Identifier: MIT
 *
 * Learning: slopes against differences, problems whose answer is known, the same result again,
 * runs that are stopped, inputs that nothing can be learned from.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "support.h"

#include <tact/tune.h>

#include "tune/surrogate.h"
#include "tune/tune.h"

/* ---- blocks ---- */

/* Chains, loads, stores, vectors; blocks are made of some of them. */
static const char *const pieces[] = {
	"4801d8",   "480fafc3", "480fafd9", "488b03",	"488b5b08", "4883c001",
	"488d0418", "4889d8",	"f20f58c1", "f20f59c1", "660fefc0", "48890424",
	"48ffc3",   "48d1e0",	"480fb6c0", "4831c9",	"f30f6f06", "660ffec1",
	"4811d8",   "480fbcc3", "f20f5ec1", "4839d8",	"0fafc1",   "01c8",
};
enum { N_BLOCKS = 400 };

static size_t make_block(uint8_t *code, size_t capacity, struct rng *rng)
{
	size_t size = 0, n = 1 + rng_below(rng, 5);

	for (size_t i = 0; i < n; i++)
		size += bytes_of(code + size, capacity - size,
				 pieces[rng_below(rng, ARRAY_SIZE(pieces))]);
	return size;
}

/* Cycles by the model itself: the truth that parameters can be learned from without a rest. */
static void add_blocks(struct tact_tuner *t, const char *model, unsigned n)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_UNROLL};
	struct tact_estimator *m;
	struct rng rng = {12345};
	struct tact_block *block;

	assert_int_equal(tact_model_open(&m, model, NULL, NULL), 0);
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL), 0);
	for (unsigned i = 0; i < n; i++) {
		struct tact_estimate e = {.size = sizeof(e)};
		uint8_t code[128];
		size_t size = make_block(code, sizeof(code), &rng);

		assert_int_equal(tact_block_load(block, code, size, NULL), 0);
		assert_int_equal(tact_model_estimate(m, block, &e), 0);
		assert_true(tact_tuner_add(t, code, size, e.cycles_per_iteration,
					   i % 2 ? "odd" : "even", NULL) >= 0);
	}
	tact_model_close(m);
	tact_block_destroy(block);
}

static struct tact_tune_options options_for(const char *model)
{
	return (struct tact_tune_options){
		.size = sizeof(struct tact_tune_options),
		.arch = tact_arch_find("SKL"),
		.model = model,
		.mode = TACT_MODE_UNROLL,
		.threads = 2,
		.min_gain = 0.01,
	};
}

static struct tact_tuner *make(const struct tact_tune_options *opt, unsigned n)
{
	struct tact_tuner *t;

	assert_int_equal(tact_tuner_create(&t, opt, NULL), 0);
	add_blocks(t, opt->model, n);
	return t;
}

/* ---- rows ---- */

static void parts_are_disjoint(void **state)
{
	struct tact_tune_options opt = options_for("facile");
	struct tact_tuner *t = make(&opt, N_BLOCKS);
	struct tact_tune_summary s = TACT_TUNE_SUMMARY_INIT;
	size_t all = 0;

	(void)state;
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	assert_int_equal(tact_tuner_get_summary(t, &s), 0);
	for (unsigned p = 0; p < TACT_TUNE_N_PARTS; p++)
		all += s.n[p];
	assert_true(all < N_BLOCKS); /* the same block twice is one row */
	assert_int_equal(s.n[TACT_TUNE_TEST], all / 10);
	assert_int_equal(s.n[TACT_TUNE_TEST] + s.n[TACT_TUNE_VALIDATION], all / 5);
	/* The truth is the model's: nothing is to be learned, and nothing is. */
	assert_int_equal(s.n_changed, 0);
	assert_true(s.learned[TACT_TUNE_TEST] < 1e-9);
	tact_tuner_destroy(t);
}

/* ---- slopes ---- */

/* Bounds are convex in latencies and counts: a slope s obeys f(v + 1) >= f(v) + s and f(v - 1) >=
 * f(v) - s, with equality on at least one side unless the maximum changes on both.
 */
static void subgradients_of_facile(void **state)
{
	struct tact_tune_options opt = options_for("facile");
	struct tact_tuner *t = make(&opt, N_BLOCKS);
	struct tune_slope slopes[TUNE_MAX_SLOPES];
	struct tune_worker *w;
	size_t n_slopes = 0, n_exact = 0, by_kind[TUNE_N_KINDS] = {0};

	(void)state;
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	w = &t->workers[0];
	for (uint32_t r = 0; r < t->rows.n; r++) {
		double here;
		int n = tune_gradient(w, r, &here, slopes);

		assert_true(n >= 0);
		for (int i = 0; i < n; i++) {
			const struct tune_param *p = &t->params[slopes[i].param];
			int v = tune_value(&w->table, p);
			double up, down, s = slopes[i].slope;

			/* Sets have no neighbours, a latency of 0 is no dependence at all, and
			 * those of the core are not convex.
			 */
			if (p->kind == TUNE_PORT_SET || p->kind == TUNE_CORE || v < 2)
				continue;
			tune_assign(&w->table, p, v + 1);
			assert_true(tune_predict(w, r, &up) >= 0);
			tune_assign(&w->table, p, v - 1);
			assert_true(tune_predict(w, r, &down) >= 0);
			tune_assign(&w->table, p, v);
			assert_true(up >= here + s - 1e-6);
			assert_true(down >= here - s - 1e-6);
			n_slopes++;
			n_exact += fabs(up - here - s) < 1e-6 || fabs(here - down - s) < 1e-6;
			by_kind[p->kind]++;
		}
	}
	assert_true(by_kind[TUNE_LATENCY] > 20);
	assert_true(n_slopes > 50);
	assert_true(n_exact * 10 > n_slopes * 9);
	tact_tuner_destroy(t);
}

enum { NET_BLOCKS = 5, NET_INPUTS = 3 };

struct net_case {
	struct net net;
	float weights[20000], gradient[20000];
	struct net_type types[4];
	uint32_t type_list[NET_BLOCKS][4], length[NET_BLOCKS];
	const uint32_t *type_pointer[NET_BLOCKS];
	float input[NET_BLOCKS][4 * NET_INPUTS], slope_of_input[NET_BLOCKS][4 * NET_INPUTS];
	const float *input_pointer[NET_BLOCKS];
	float *slope_pointer[NET_BLOCKS];
	float out[NET_BLOCKS], slope[NET_BLOCKS];
	struct net_blocks blocks;
	struct net_work *work;
};

static void make_net(struct net_case *c, unsigned layers)
{
	struct rng rng = {7};
	struct matrices matrices;

	memset(c, 0, sizeof(*c));
	assert_int_equal(matrices_load(&matrices, NULL), 0);
	matrices_one_thread(&matrices);
	net_init(&c->net, &(struct net_shape){6, 4, 5, layers, NET_INPUTS}, &matrices);
	assert_true(c->net.n_weights < ARRAY_SIZE(c->weights));
	net_randomise(&c->net, c->weights, 3);
	for (unsigned i = 0; i < ARRAY_SIZE(c->types); i++) {
		c->types[i].n = (uint16_t)(1 + i);
		for (unsigned k = 0; k <= i; k++)
			c->types[i].token[k] = (uint16_t)rng_below(&rng, 6);
	}
	for (unsigned b = 0; b < NET_BLOCKS; b++) {
		c->length[b] = 1 + rng_below(&rng, 4);
		for (unsigned k = 0; k < 4; k++)
			c->type_list[b][k] = rng_below(&rng, 4);
		for (unsigned k = 0; k < 4 * NET_INPUTS; k++)
			c->input[b][k] = (float)rng_below(&rng, 100) / 50;
		c->type_pointer[b] = c->type_list[b];
		c->input_pointer[b] = c->input[b];
		c->slope_pointer[b] = c->slope_of_input[b];
		c->slope[b] = (float)b - 1.5f;
	}
	c->blocks = (struct net_blocks){NET_BLOCKS,	  c->length, c->type_pointer,
					c->input_pointer, c->types,  ARRAY_SIZE(c->types)};
	c->work = net_work_create();
	assert_non_null(c->work);
}

/* The sum of the outputs with the slopes as factors. */
static double net_value(struct net_case *c)
{
	double sum = 0;

	assert_int_equal(net_forward(&c->net, c->weights, &c->blocks, NULL, c->work, c->out), 0);
	for (unsigned b = 0; b < NET_BLOCKS; b++)
		sum += (double)c->out[b] * c->slope[b];
	return sum;
}

static double difference(struct net_case *c, float *x)
{
	const float step = 0.01f, before = *x;
	double up, down;

	*x = before + step;
	up = net_value(c);
	*x = before - step;
	down = net_value(c);
	*x = before;
	return (up - down) / (2 * step);
}

static void gradients_of_the_network(void **state)
{
	struct net_case *c = malloc(sizeof(*c));

	(void)state;
	for (unsigned layers = 1; layers <= 2; layers++) {
		make_net(c, layers);
		net_value(c);
		assert_int_equal(net_backward(&c->net, c->weights, &c->blocks, c->work, c->slope,
					      c->gradient, c->slope_pointer),
				 0);
		for (size_t i = 0; i < c->net.n_weights; i++) {
			double d = difference(c, &c->weights[i]);

			if (fabs(d - c->gradient[i]) > 0.005 + 0.02 * fabs(d))
				fail_msg("weight %zu of %zu: %g instead of %g", i, c->net.n_weights,
					 (double)c->gradient[i], d);
		}
		for (unsigned b = 0; b < NET_BLOCKS; b++) {
			for (unsigned k = 0; k < c->length[b] * NET_INPUTS; k++) {
				double d = difference(c, &c->input[b][k]);

				if (fabs(d - c->slope_of_input[b][k]) > 0.005 + 0.02 * fabs(d))
					fail_msg("input %u of block %u: %g instead of %g", k, b,
						 (double)c->slope_of_input[b][k], d);
			}
		}
		net_work_destroy(c->work);
	}
	free(c);
}

/* Values in between, so that no two bounds are equal. */
static void slopes_of_bounds(void **state)
{
	struct tact_tune_options opt = options_for("mca");
	struct tact_tuner *t;
	struct bound_memory memory = {NULL, 0};
	struct rng rng = {99};
	size_t n_compared = 0, n_good = 0;

	(void)state;
	opt.budget = 1;
	t = make(&opt, 100);
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	for (size_t r = 0; r < t->rows.n; r++) {
		float inputs[64 * SURROGATE_INPUTS], slopes[64 * SURROGATE_INPUTS], up, down, here;
		size_t n = tact_mca_code_length(t->codes[r]);
		struct bound_graph *g;

		assert_int_equal(surrogate_graph_create(&g, t->codes[r]), 0);
		for (size_t i = 0; i < n * SURROGATE_INPUTS; i++)
			inputs[i] = (float)rng_below(&rng, 3000) / 1000;
		for (size_t i = 1; i < n; i++)
			inputs[i * SURROGATE_INPUTS + SURROGATE_FORM_INPUTS] =
				inputs[SURROGATE_FORM_INPUTS];
		assert_int_equal(surrogate_bound(g, inputs, &memory, &here, slopes), 0);
		for (size_t i = 0; i < n * SURROGATE_INPUTS; i++) {
			const float step = 0.004f;
			float before = inputs[i];

			if (i > SURROGATE_INPUTS && i % SURROGATE_INPUTS >= SURROGATE_FORM_INPUTS)
				continue; /* the machine's count once */
			inputs[i] = before + step;
			surrogate_bound(g, inputs, &memory, &up, NULL);
			inputs[i] = before - step;
			surrogate_bound(g, inputs, &memory, &down, NULL);
			inputs[i] = before;
			n_compared++;
			n_good += fabsf((up - down) / (2 * step) - slopes[i]) <
				  0.01f + 0.05f * fabsf(slopes[i]);
		}
		surrogate_graph_destroy(g);
	}
	assert_true(n_compared > 1000);
	/* Where two chains take turns, half of a long run is not half of its chain. */
	assert_true(n_good * 100 > n_compared * 98);
	free(memory.data);
	tact_tuner_destroy(t);
}

/* ---- problems with a known answer ---- */

static void corrupted_tables_come_back(void **state)
{
	struct tact_tune_options opt = options_for("facile");
	struct tact_tune_summary s = TACT_TUNE_SUMMARY_INIT;
	struct tact_tuner *t;

	(void)state;
	opt.corrupt = 30;
	t = make(&opt, N_BLOCKS);
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	assert_int_equal(tact_tuner_get_summary(t, &s), 0);
	assert_true(s.start[TACT_TUNE_TEST] > 0.05);
	assert_true(s.learned[TACT_TUNE_TRAIN] < 0.1 * s.start[TACT_TUNE_TRAIN]);
	assert_true(s.learned[TACT_TUNE_TEST] < 0.2 * s.start[TACT_TUNE_TEST]);
	tact_tuner_destroy(t);
}

static void one_wrong_latency_is_found(void **state)
{
	struct tact_tune_options opt = options_for("mca");
	unsigned form = tact_isa_form_find(tact_isa_default(), "IMUL (R64, R64)");
	struct tact_mca_params *start;
	struct tact_tune_change change = TACT_TUNE_CHANGE_INIT;
	struct tact_tuner *t;
	char name[80];

	(void)state;
	assert_int_equal(tact_mca_params_create(&start, opt.arch, NULL), 0);
	assert_int_equal(tact_mca_set(start, form, TACT_MCA_LATENCY, 0, 9), 0);
	opt.start = start;
	opt.what = TACT_TUNE_LATENCY;
	t = make(&opt, N_BLOCKS);
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	assert_int_equal(tact_tuner_get_change(t, 0, &change), 0);
	snprintf(name, sizeof(name), "%s latency", tact_isa_form_name(tact_isa_default(), form));
	assert_string_equal(change.name, name);
	assert_string_equal(change.from, "9");
	assert_string_equal(change.to, "3");
	assert_true(change.saved > 1 && change.n_proofs > 0);
	assert_int_equal(tact_tuner_get_change(t, 1, &change), -TACT_E_INVAL);
	tact_tuner_destroy(t);
	tact_mca_params_destroy(start);
}

/* ---- the same again ---- */

static char *learned_file(const struct tact_tune_options *opt, unsigned n)
{
	char path[] = "/tmp/tact_tune_XXXXXX", *text = calloc(1, 1 << 20);
	struct tact_tuner *t = make(opt, n);
	int fd = mkstemp(path);

	assert_true(fd >= 0 && text);
	close(fd);
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	assert_int_equal(tact_tuner_save(t, path, "test", NULL), 0);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && read(fd, text, (1 << 20) - 1) > 0);
	close(fd);
	unlink(path);
	tact_tuner_destroy(t);
	return text;
}

static void result_is_the_same(void **state)
{
	static const enum tact_tune_method methods[] = {TACT_TUNE_DIRECT, TACT_TUNE_BANDIT,
							TACT_TUNE_RANDOM, TACT_TUNE_SIMPLE};

	(void)state;
	for (unsigned m = 0; m < ARRAY_SIZE(methods); m++) {
		struct tact_tune_options opt = options_for("mca");
		char *a, *b;

		opt.method = methods[m];
		opt.random_start = true;
		opt.budget = 20000;
		a = learned_file(&opt, 200);
		opt.threads = 3;
		b = learned_file(&opt, 200);
		assert_string_equal(a, b);
		free(b);
		opt.seed = 1;
		b = learned_file(&opt, 200);
		assert_string_not_equal(a, b);
		free(a);
		free(b);
	}
}

/* ---- the surrogate ---- */

static struct tact_tune_options small_surrogate(struct tact_tune_network *network)
{
	struct tact_tune_options opt = options_for("mca");

	opt.method = TACT_TUNE_SURROGATE;
	opt.random_start = true;
	*network = (struct tact_tune_network){.size = sizeof(*network),
					      .embedding = 8,
					      .hidden = 16,
					      .batch = 64,
					      .samples = 4,
					      .epochs = 3,
					      .table_epochs = 20,
					      .rounds = 2};
	opt.network = network;
	return opt;
}

static int stop_later(void *context, const struct tact_tune_progress *p)
{
	int *left = context;

	(void)p;
	return --*left <= 0;
}

static void surrogate_goes_on(void **state)
{
	struct tact_tune_network network;
	struct tact_tune_options opt = small_surrogate(&network);
	char path[] = "/tmp/tact_ckpt_XXXXXX", *whole, *resumed;
	struct tact_diag diag;
	int left = 0, fd;

	(void)state;
	whole = learned_file(&opt, 200);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	opt.checkpoint = path;
	/* Ended again and again, each time a little later. */
	for (unsigned k = 0; k < 6; k++) {
		struct tact_tuner *t;

		left = 7 + (int)k * 5;
		opt.report = stop_later;
		opt.context = &left;
		opt.threads = 1 + k % 3;
		t = make(&opt, 200);
		assert_int_equal(tact_tuner_run(t, &diag), -TACT_E_LIMIT);
		tact_tuner_destroy(t);
	}
	opt.report = NULL;
	resumed = learned_file(&opt, 200);
	assert_string_equal(whole, resumed);
	free(whole);
	free(resumed);
	unlink(path);
}

static void surrogate_learns(void **state)
{
	struct tact_tune_network network;
	struct tact_tune_options opt = small_surrogate(&network);
	struct tact_tune_summary s = TACT_TUNE_SUMMARY_INIT;
	struct tact_tuner *t;

	(void)state;
	network.samples = 20;
	network.epochs = 10;
	network.table_epochs = 60;
	network.table_rate = 0.1;
	t = make(&opt, N_BLOCKS);
	assert_int_equal(tact_tuner_run(t, NULL), 0);
	assert_int_equal(tact_tuner_get_summary(t, &s), 0);
	assert_true(s.surrogate > 0 && s.surrogate < 1);
	assert_true(s.learned[TACT_TUNE_TEST] < 0.7 * s.start[TACT_TUNE_TEST]);
	tact_tuner_destroy(t);
}

static void expect_refused(const struct tact_tune_options *opt, int status, const char *why)
{
	struct tact_diag diag = {0};
	struct tact_tuner *t = make(opt, 100);

	assert_int_equal(tact_tuner_run(t, &diag), status);
	assert_non_null(strstr(diag.text, why));
	tact_tuner_destroy(t);
}

static void bad_checkpoints_are_refused(void **state)
{
	struct tact_tune_network network;
	struct tact_tune_options opt = small_surrogate(&network);
	char path[] = "/tmp/tact_ckpt_XXXXXX", *data = malloc(1 << 22);
	int fd = mkstemp(path), left = 5;
	struct tact_tuner *t;
	FILE *f;
	size_t n;

	(void)state;
	assert_true(fd >= 0 && data);
	close(fd);
	opt.checkpoint = path;
	expect_refused(&opt, -TACT_E_FORMAT, "not a checkpoint"); /* empty */
	unlink(path);
	opt.report = stop_later;
	opt.context = &left;
	t = make(&opt, 100);
	assert_int_equal(tact_tuner_run(t, NULL), -TACT_E_LIMIT);
	tact_tuner_destroy(t);
	opt.report = NULL;
	opt.seed = 9;
	expect_refused(&opt, -TACT_E_FORMAT, "another run");
	opt.seed = 0;
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(data, 1, 1 << 22, f);
	fclose(f);
	assert_true(n > 1000);
	assert_int_equal(file_write(path, data, n / 2, NULL), 0);
	expect_refused(&opt, -TACT_E_FORMAT, "damaged");
	data[n - 5] ^= 1;
	assert_int_equal(file_write(path, data, n, NULL), 0);
	expect_refused(&opt, -TACT_E_FORMAT, "damaged");
	data[n - 5] ^= 1;
	data[16] ^= 1;
	assert_int_equal(file_write(path, data, n, NULL), 0);
	expect_refused(&opt, -TACT_E_VERSION, "version");
	unlink(path);
	free(data);
}

/* Each word of a checkpoint in turn is a huge number, a negative one and no number at all, under a
 * right hash: the values are checked, not only where they come from.
 */
static void made_up_checkpoints_do_no_harm(void **state)
{
	enum { STEPS = 48, HEAD = 120, LAST = 16 };
	static const uint32_t wrong[] = {0x7fffffff, 0x80000000, 0x7f800000, 0xff7fffff};
	struct tact_tune_network network;
	struct tact_tune_options opt = small_surrogate(&network);
	char path[] = "/tmp/tact_ckpt_XXXXXX", *data = malloc(1 << 22);
	int fd = mkstemp(path), left = 5;
	struct tact_diag diag;
	struct tact_tuner *t;
	unsigned refused = 0;
	size_t n;
	FILE *f;

	(void)state;
	assert_true(fd >= 0 && data);
	close(fd);
	unlink(path);
	opt.checkpoint = path;
	opt.report = stop_later;
	opt.context = &left;
	t = make(&opt, 100);
	assert_int_equal(tact_tuner_run(t, NULL), -TACT_E_LIMIT);
	tact_tuner_destroy(t);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(data, 1, 1 << 22, f);
	fclose(f);
	for (size_t at = STEPS; at < n; at += at < HEAD ? 4 : n / 24 / 4 * 4)
		for (unsigned k = 0; k < ARRAY_SIZE(wrong); k++) {
			uint32_t old;
			uint64_t hash;

			if (at + 8 >= HEAD && at < HEAD)
				continue; /* the hash */
			memcpy(&old, data + at, 4);
			memcpy(data + at, &wrong[k], 4);
			hash = hash_bytes(data + HEAD, n - HEAD);
			memcpy(data + HEAD - 8, &hash, 8);
			assert_int_equal(file_write(path, data, n, NULL), 0);
			left = LAST;
			t = make(&opt, 100);
			refused += tact_tuner_run(t, &diag) == -TACT_E_FORMAT;
			tact_tuner_destroy(t);
			memcpy(data + at, &old, 4);
		}
	assert_true(refused > 40);
	unlink(path);
	free(data);
}

/* ---- nothing to learn from ---- */

static void poor_rows(void **state)
{
	struct tact_tune_options opt = options_for("mca");
	struct tact_diag diag = {0};
	struct tact_tuner *t;

	(void)state;
	assert_int_equal(tact_tuner_create(&t, &opt, NULL), 0);
	assert_int_equal(tact_tuner_run(t, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "0 measured blocks"));
	tact_tuner_destroy(t);
	assert_int_equal(tact_tuner_create(&t, &opt, NULL), 0);
	for (unsigned char i = 0; i < 100; i++) {
		const uint8_t code[] = {0x48, 0x83, 0xc0, i};

		assert_int_equal(tact_tuner_add(t, code, sizeof(code), 1, NULL, NULL), 1);
		assert_int_equal(tact_tuner_add(t, code, sizeof(code), 2, NULL, NULL), 0);
	}
	assert_int_equal(tact_tuner_add(t, (const uint8_t *)"\x90", 1, 0, NULL, &diag),
			 -TACT_E_INVAL);
	assert_int_equal(tact_tuner_add(t, (const uint8_t *)"\x90", 1, NAN, NULL, &diag),
			 -TACT_E_INVAL);
	assert_int_equal(tact_tuner_add(t, (const uint8_t *)"\x06", 1, 1, NULL, &diag),
			 -TACT_E_DECODE);
	assert_int_equal(tact_tuner_run(t, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "all 100 blocks take 1 cycles"));
	assert_int_equal(tact_tuner_run(t, &diag), -TACT_E_INVAL);
	tact_tuner_destroy(t);
}

static void poor_options(void **state)
{
	static const char *const models[] = {"none", "llvm-mca", "x=true", "mca:params=x", "sim:x"};
	struct tact_tune_network network = TACT_TUNE_NETWORK_INIT;
	struct tact_tune_options opt = options_for("facile");
	struct tact_diag diag;
	struct tact_tuner *t;

	(void)state;
	assert_int_equal(tact_tuner_create(NULL, &opt, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_create(&t, NULL, &diag), -TACT_E_INVAL);
	opt.method = TACT_TUNE_SURROGATE;
	assert_int_equal(tact_tuner_create(&t, &opt, &diag), -TACT_E_INVAL);
	opt = options_for("mca");
	opt.corrupt = 10;
	assert_int_equal(tact_tuner_create(&t, &opt, &diag), -TACT_E_INVAL);
	opt = options_for("mca");
	opt.arch = NULL;
	assert_int_equal(tact_tuner_create(&t, &opt, &diag), -TACT_E_INVAL);
	opt = options_for("mca");
	network.layers = 5;
	opt.network = &network;
	assert_int_equal(tact_tuner_create(&t, &opt, &diag), -TACT_E_INVAL);
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		opt = options_for(models[i]);
		assert_int_equal(tact_tuner_create(&t, &opt, &diag), -TACT_E_INVAL);
	}
	tact_tuner_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_disjoint),
		cmocka_unit_test(subgradients_of_facile),
		cmocka_unit_test(gradients_of_the_network),
		cmocka_unit_test(slopes_of_bounds),
		cmocka_unit_test(corrupted_tables_come_back),
		cmocka_unit_test(one_wrong_latency_is_found),
		cmocka_unit_test(result_is_the_same),
		cmocka_unit_test(surrogate_learns),
		cmocka_unit_test(surrogate_goes_on),
		cmocka_unit_test(bad_checkpoints_are_refused),
		cmocka_unit_test(made_up_checkpoints_do_no_harm),
		cmocka_unit_test(poor_rows),
		cmocka_unit_test(poor_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
