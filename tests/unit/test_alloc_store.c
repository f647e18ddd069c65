/* SPDX-License-Identifier: MIT
 *
 * Stores when memory runs out, ours or SQLite's: every function says -TACT_E_NOMEM and nothing
 * else, and the store stays good.  SQLite gets its memory through methods of ours.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <sqlite3.h>

#include <tact/store.h>

#include "failing.h"
#include "store_fixture.h"

static sqlite3_mem_methods original;

static void *sqlite_malloc(int size)
{
	return must_fail() ? NULL : original.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
	return must_fail() ? NULL : original.xRealloc(p, size);
}

static int use_methods(void **state)
{
	sqlite3_mem_methods methods;

	(void)state;
	sqlite3_shutdown();
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &original) != SQLITE_OK)
		return -1;
	methods = original;
	methods.xMalloc = sqlite_malloc;
	methods.xRealloc = sqlite_realloc;
	return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK ? 0 : -1;
}

static const uint8_t code[] = {0x48, 0x01, 0xd8};

static int put_rows(struct tact_store *store)
{
	const struct tact_measurement m = {.size = sizeof(m),
					   .cycles_per_iteration = 1,
					   .rung = TACT_RUNG_TSC,
					   .mode = TACT_MODE_LOOP};
	const struct tact_store_prediction p = {.size = sizeof(p),
						.arch = "SKL",
						.model = "m",
						.mode = TACT_MODE_LOOP,
						.status = "ok",
						.cycles_per_iteration = 1};
	struct tact_machine machine = {.size = sizeof(machine), .brand = "box", .arch = "SKL"};
	struct tact_store_import import = {
		.size = sizeof(import), .loop_code = code, .loop_size = sizeof(code)};
	int64_t block = 0;
	int status = tact_store_put_measurement(store, code, sizeof(code), &m, NULL);

	if (status >= 0)
		status = tact_store_begin(store, NULL);
	if (status >= 0)
		status = tact_store_put_block(store, code, sizeof(code), &block, NULL);
	if (status >= 0)
		status = tact_store_add_source(store, block, "app", 1, NULL);
	if (status >= 0)
		status = tact_store_add_source(store, block, "app", 2, NULL);
	if (status >= 0)
		status = tact_store_put_category(store, block, "c", "SKL", "label", NULL);
	if (status >= 0)
		status = tact_store_put_machine(store, &machine, &import.machine, NULL);
	if (status >= 0)
		status = tact_store_put_import(store, block, &m, &import, NULL);
	if (status >= 0)
		status = tact_store_put_prediction(store, block, &p, NULL);
	return status < 0 ? status : tact_store_end(store, NULL);
}

static int count_group(void *context, const struct tact_count *count)
{
	*(int64_t *)context += count->n;
	return 0;
}

static int read_rows(struct tact_store *store)
{
	struct tact_store_prediction p = TACT_STORE_PREDICTION_INIT;
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;
	struct tact_store_row row = TACT_STORE_ROW_INIT;
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_store_predictions *predictions = NULL;
	struct tact_store_blocks *blocks = NULL;
	struct tact_store_iter *iter = NULL;
	uint8_t bytes[16];
	int64_t n = 0;
	size_t size;
	int status = tact_store_iter_create(&iter, store, NULL, NULL);

	while (status >= 0 && (status = tact_store_iter_next(iter, &row, NULL)) > 0)
		n++;
	if (status >= 0)
		status = tact_store_blocks_create(&blocks, store, NULL, NULL);
	while (status >= 0 && (status = tact_store_blocks_next(blocks, &block, NULL)) > 0)
		n++;
	if (status >= 0)
		status = tact_store_predictions_create(&predictions, store, NULL, NULL);
	while (status >= 0 &&
	       (status = tact_store_predictions_next(predictions, NULL, NULL, NULL, &p, NULL)) > 0)
		n++;
	for (int kind = 0; kind < TACT_N_COUNT_KINDS && status >= 0; kind++)
		status = tact_store_count(store, (enum tact_count_kind)kind, count_group, &n, NULL);
	if (status >= 0)
		status = tact_store_get_block(store, 1, bytes, sizeof(bytes), &size, NULL);
	if (status >= 0)
		status = tact_store_has_measurement(store, code, sizeof(code), TACT_MODE_LOOP,
						    TACT_INIT_STACK, NULL);
	if (status >= 0)
		status = tact_store_get_measurement(store, code, sizeof(code), TACT_MODE_LOOP,
						    TACT_INIT_STACK, &m, NULL);
	if (status >= 0)
		assert_int_equal(status, 1);
	/* Nothing is skipped because there was no memory to read it. */
	assert_int_equal(tact_store_iter_skipped(iter) + tact_store_blocks_skipped(blocks) +
				 tact_store_predictions_skipped(predictions),
			 0);
	if (status >= 0)
		assert_int_equal(n, 2 + 1 + 1 + 1 + 1 + 1 + 2 + 1 + 1);
	tact_store_iter_destroy(iter);
	tact_store_blocks_destroy(blocks);
	tact_store_predictions_destroy(predictions);
	return status;
}

static int use_store(struct fixture *f)
{
	struct tact_store *store = NULL;
	int status = tact_store_open(&store, f->path, TACT_STORE_CREATE, NULL);

	if (status < 0)
		assert_null(store);
	if (status >= 0)
		status = put_rows(store);
	if (status >= 0)
		status = read_rows(store);
	tact_store_close(store);
	return status < 0 ? status : 0;
}

static int merge_stores(struct fixture *f)
{
	struct tact_merge merge = TACT_MERGE_INIT;
	struct tact_store *store = NULL;
	int status = tact_store_open(&store, f->path, TACT_STORE_CREATE, NULL);

	if (status >= 0)
		status = tact_store_merge(store, f->other, &merge, NULL);
	tact_store_close(store);
	return status;
}

/* Lets the n-th allocation fail, for n in growing steps until there are no more: SQLite makes
 * thousands, and can do without some of them.
 */
static unsigned try_store_failures(struct fixture *f, int (*run)(struct fixture *f))
{
	unsigned n_failed = 0;

	for (long n = 0;; n += 1 + n / (is_lasting ? 61 : 67)) {
		int status;

		fail_after = n;
		has_failed = false;
		status = run(f);
		fail_after = -1;
		if (!has_failed) {
			assert_int_equal(status, 0);
			return n_failed;
		}
		if (status && status != -TACT_E_NOMEM)
			fail_msg("allocation %ld: %s", n, tact_strerror(status));
		n_failed += status < 0;
		unlink(f->path);
	}
}

static void run_both(int (*run)(struct fixture *f))
{
	void *state = NULL;
	struct fixture *f;

	assert_int_equal(make_directory(&state), 0);
	f = state;
	rmdir(f->directory);
	/* Thousands of small stores: in memory, if there is such a file system. */
	snprintf(f->directory, sizeof(f->directory), "%s/tact-store-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/x.db", f->directory);
	snprintf(f->other, sizeof(f->other), "%s/y.db", f->directory);
	assert_int_equal(tact_store_open(&f->store, f->other, TACT_STORE_CREATE, NULL), 0);
	assert_int_equal(put_rows(f->store), 0);
	tact_store_close(f->store);
	f->store = NULL;
	is_lasting = false;
	assert_true(try_store_failures(f, run) > 10);
	unlink(f->path);
	is_lasting = true;
	assert_true(try_store_failures(f, run) > 10);
	remove_directory(&state);
}

TEST(a_store_without_memory)
{
	run_both(use_store);
}

TEST(a_merge_without_memory)
{
	run_both(merge_stores);
}

RUN_TESTS(use_methods, NULL)
