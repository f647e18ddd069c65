/* SPDX-License-Identifier: MIT
 *
 * Many blocks through models: all kinds side by side, programs that misbehave, stores.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

enum { N = 4, MODELS = 4 };

/* add rax, rbx; bytes that are not an instruction; imul rax, rbx; the same for another CPU */
static const uint8_t add[] = {0x48, 0x01, 0xd8}, bad[] = {0x06}, imul[] = {0x48, 0x0f, 0xaf, 0xc3};

static void make_rows(struct tact_model_row *rows)
{
	const struct tact_model_row all[N] = {
		{.code = add, .code_size = sizeof(add), .arch = tact_arch_find("SKL")},
		{.code = bad, .code_size = sizeof(bad), .arch = tact_arch_find("SKL")},
		{.code = imul, .code_size = sizeof(imul), .arch = tact_arch_find("SKL")},
		{.code = imul, .code_size = sizeof(imul), .arch = tact_arch_find("HSW")},
	};

	for (unsigned i = 0; i < N; i++) {
		rows[i] = all[i];
		rows[i].size = sizeof(rows[i]);
		rows[i].mode = TACT_MODE_UNROLL;
	}
}

struct answers {
	int status[MODELS][N];
	double cycles[MODELS][N];
	unsigned n, n_said;
	char said[2048];
};

static void take(void *arg, size_t model, size_t row, int status, const struct tact_estimate *x)
{
	struct answers *a = arg;

	assert_true(model < MODELS && row < N);
	assert_true((status < 0) == !x);
	a->status[model][row] = status;
	a->cycles[model][row] = x ? x->cycles_per_iteration : 0;
	__atomic_fetch_add(&a->n, 1, __ATOMIC_RELAXED);
}

static void say(void *arg, const char *text)
{
	struct answers *a = arg;

	a->n_said++;
	strcat(strcat(a->said, text), "\n");
}

static int run(const char *const *names, size_t n, unsigned timeout, struct answers *a)
{
	struct tact_model_options opt = {
		.size = sizeof(opt), .timeout = timeout, .say = say, .say_arg = a};
	struct tact_model_row rows[N];
	struct tact_diag diag = {0};
	int status;

	make_rows(rows);
	*a = (struct answers){.n = 0};
	status = tact_model_run(names, n, rows, N, &opt, take, a, &diag);
	assert_string_equal(diag.text, "");
	assert_int_equal(a->n, n * N);
	return status;
}

static int run_one(const char *name, unsigned timeout, struct answers *a)
{
	return run(&name, 1, timeout, a);
}

TEST(all_kinds_side_by_side)
{
	const char *const names[MODELS] = {
		"facile", "x=while read h; do [ $h = 06 ] && echo none || echo 7; done", "sim",
		"facile:only=lsd"};
	struct answers a;

	assert_int_equal(run(names, MODELS, 0, &a), 0);
	assert_int_equal(a.n_said, 0);
	assert_true(a.cycles[0][0] == 1 && a.cycles[0][2] == 3 && a.cycles[0][3] == 3);
	assert_int_equal(a.status[0][1], -TACT_E_DECODE);
	assert_true(a.cycles[1][0] == 7 && a.cycles[1][2] == 7 && a.cycles[1][3] == 7);
	assert_int_equal(a.status[1][1], -TACT_E_FORMAT);
	assert_true(a.cycles[2][0] == 1 && a.cycles[2][2] == 3 && a.cycles[2][3] == 3);
	assert_int_equal(a.status[2][1], -TACT_E_DECODE);
	assert_true(a.status[3][0] == 0 && a.cycles[3][0] == 0);
}

/* ---- programs ---- */

TEST(a_program_is_told_for_what)
{
	struct answers a;

	assert_int_equal(run_one("x=while read h; do [ $TACT_ARCH.$TACT_MODE = HSW.unroll ] && "
				 "echo 2 || echo 1; done",
				 0, &a),
			 0);
	assert_true(a.cycles[0][0] == 1 && a.cycles[0][2] == 1 && a.cycles[0][3] == 2);
}

TEST(a_program_prints_garbage)
{
	struct answers a;

	assert_int_equal(run_one("x=sed s/.*/garbage/", 0, &a), 0); /* so it knows no block */
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(a.status[0][i], -TACT_E_FORMAT);
	assert_int_equal(run_one("x=sed s/.*/-1/", 0, &a), 0);
	assert_int_equal(a.status[0][0], -TACT_E_FORMAT);
	assert_int_equal(run_one("x=sed 's/.*/ 1e400/'", 0, &a), 0);
	assert_int_equal(a.status[0][0], -TACT_E_FORMAT);
}

/* Runs a program that does not do what it should, and is told off for it. */
static void expect_said(const char *name, unsigned timeout, int status, const char *said,
			struct answers *a)
{
	assert_int_equal(run_one(name, timeout, a), status);
	if (!strstr(a->said, said))
		fail_msg("%s: '%s' is not in: %s", name, said, a->said);
}

TEST(a_program_prints_too_much_or_too_little)
{
	struct answers a;

	expect_said("x=cat /dev/zero", 0, -TACT_E_FORMAT, "x: printed more lines", &a);
	expect_said("x=cat; echo 1", 0, -TACT_E_FORMAT, "x: printed more lines", &a);
	expect_said("x=true", 0, -TACT_E_FORMAT, "x: printed fewer lines", &a);
}

TEST(a_program_ends)
{
	struct answers a;

	expect_said("x=exit 3", 0, -TACT_E_FORMAT,
		    "x: ended with exit code 3 after 0 of 3 blocks\n", &a);
	assert_int_equal(a.status[0][0], -TACT_E_FORMAT);
	expect_said("x=read h; echo 1; kill -9 $$", 0, -TACT_E_FORMAT,
		    "started again after that one", &a);
	assert_true(a.cycles[0][0] == 1 && a.cycles[0][2] == 1);
	assert_int_equal(a.status[0][1], -TACT_E_FORMAT);
	expect_said("x=/nonexistent/program", 0, -TACT_E_FORMAT, "was not found", &a);
}

TEST(a_program_hangs)
{
	struct answers a;

	expect_said("x=read h; echo 1; sleep 100", 1, -TACT_E_FORMAT,
		    "x: printed nothing for 1 seconds after 1 of 3 blocks", &a);
	assert_true(a.cycles[0][0] == 1);
	assert_int_equal(a.status[0][1], -TACT_E_LIMIT);
}

TEST(a_program_is_missing)
{
	struct answers a;

	expect_said("llvm-mca-999", 0, -TACT_E_NO_TOOL,
		    "llvm-mca-999 or llvm-mc-999 is not installed", &a);
	assert_int_equal(a.n_said, 1);
	assert_int_equal(a.status[0][0], -TACT_E_NO_TOOL);
}

TEST(one_block_is_a_batch_too)
{
	struct tact_estimate x = {.size = sizeof(x)};
	struct tact_model_options opt = {.size = sizeof(opt), .bounds = true};
	struct tact_estimator *e;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, imul, sizeof(imul), NULL), 0);
	assert_int_equal(tact_model_open(&e, "x=read h; [ $h = 480fafc3 ] && echo 5", &opt, NULL),
			 0);
	assert_int_equal(tact_model_estimate(e, block, &x), 0);
	assert_true(x.cycles_per_iteration == 5 && x.coverage == 1);
	assert_true(x.bounds->cycles_per_iteration == 3);
	tact_model_close(e);
	assert_int_equal(tact_model_open(&e, "llvm-mca-999", NULL, NULL), 0);
	assert_int_equal(tact_model_estimate(e, block, &x), -TACT_E_NO_TOOL);
	tact_model_close(e);
	tact_block_destroy(block);
}

/* ---- stores ---- */

static int64_t put(struct tact_store *store, const uint8_t *code, size_t size, const char *version,
		   double cycles, const char *status)
{
	struct tact_store_prediction x = {.size = sizeof(x),
					  .arch = "SKL",
					  .model = "mine",
					  .bottlenecks = "",
					  .coverage = 1};
	struct tact_diag diag = {0};
	int64_t block;

	x.version = version;
	x.mode = TACT_MODE_UNROLL;
	x.status = status;
	x.cycles_per_iteration = cycles;
	assert_true(tact_store_put_block(store, code, size, &block, NULL) >= 0);
	if (tact_store_put_prediction(store, block, &x, &diag) < 0)
		fail_msg("%s", diag.text);
	return block;
}

TEST(stores_have_predictions)
{
	char path[] = "/tmp/test_model_run_XXXXXX";
	const char *const stores[] = {path}, *const names[] = {"stored:mine", "stored:mine@2",
							       "stored:yours"};
	struct answers a = {.n = 0};
	struct tact_model_options opt = {
		.size = sizeof(opt), .stores = stores, .n_stores = 1, .say = say, .say_arg = &a};
	struct tact_model_row rows[N];
	struct tact_store *store;
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	make_rows(rows);
	assert_int_equal(tact_store_open(&store, path, TACT_STORE_CREATE, NULL), 0);
	rows[0].block = put(store, add, sizeof(add), "1", 4, "ok");
	rows[0].store = 1;
	put(store, bad, sizeof(bad), "1", 0, "decode_error");
	put(store, imul, sizeof(imul), "2", 9, "ok");
	tact_store_close(store);
	assert_int_equal(tact_model_run(names, 3, rows, N, &opt, take, &a, NULL), -TACT_E_FORMAT);
	assert_string_equal(
		a.said,
		"stored:yours: no store has predictions of this model for the measured rows\n");
	assert_true(a.cycles[0][0] == 4 && a.cycles[0][2] == 9);
	assert_int_equal(a.status[0][1], -TACT_E_DECODE);
	assert_int_equal(a.status[0][3], -TACT_E_FORMAT); /* another CPU */
	assert_int_equal(a.status[1][0], -TACT_E_FORMAT);
	assert_true(a.cycles[1][2] == 9);
	assert_int_equal(a.status[2][0], -TACT_E_FORMAT);
	unlink(path);
	assert_true(tact_model_run(names, 1, rows, N, &opt, take, &a, NULL) < 0);
	assert_non_null(strstr(a.said, path));
}

TEST(misuse)
{
	const char *names[] = {"sim", "nonsense"}, *const params[] = {"mca:params=x"};
	struct tact_model_row rows[N];
	struct answers a = {.n = 0};
	struct tact_diag diag = {0};

	make_rows(rows);
	assert_int_equal(tact_model_run(NULL, 0, NULL, 0, NULL, take, &a, NULL), 0);
	assert_int_equal(tact_model_run(names, 1, NULL, 0, NULL, take, &a, NULL), 0);
	assert_int_equal(tact_model_run(NULL, 1, rows, N, NULL, take, &a, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_run(names, 1, NULL, N, NULL, take, &a, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_run(names, 1, rows, N, NULL, NULL, &a, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_model_run(names, 2, rows, N, NULL, take, &a, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "'nonsense'"));
	assert_int_equal(tact_model_run(params, 1, rows, N, NULL, take, &a, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "one CPU"));
	assert_int_equal(a.n, 0);
}

RUN_TESTS(NULL, NULL)
