/* SPDX-License-Identifier: MIT
 *
 * What a store knows about blocks apart from measurements of this machine: sources, categories,
 * imported measurements, predictions; transactions of many rows; older stores.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include <tact-program/dataset.h>

#include "store/store.h"
#include "store_fixture.h"

static int set_up(void **state)
{
	struct fixture *f;

	if (make_directory(state) < 0)
		return -1;
	f = *state;
	return tact_store_open(&f->store, f->path, TACT_STORE_CREATE, NULL);
}

static const uint8_t add_code[] = {0x48, 0x01, 0xd8}, nop_code[] = {0x90};
static const uint8_t add_loop[] = {0x48, 0x01, 0xd8, 0x49, 0xff, 0xcf, 0x75, 0xf8};

static int64_t put_block(struct fixture *f, const uint8_t *code, size_t size)
{
	int64_t id = 0;

	assert_true(tact_store_put_block(f->store, code, size, &id, &f->diag) >= 0);
	assert_true(id > 0);
	return id;
}

static int64_t put_machine(struct fixture *f, const char *name, const char *arch)
{
	struct tact_machine machine = {.size = sizeof(machine)};
	int64_t id = 0;

	snprintf(machine.brand, sizeof(machine.brand), "%s", name);
	snprintf(machine.arch, sizeof(machine.arch), "%s", arch);
	assert_int_equal(tact_store_put_machine(f->store, &machine, &id, &f->diag), 0);
	return id;
}

static struct tact_measurement number(double cycles)
{
	return (struct tact_measurement){
		.size = sizeof(struct tact_measurement),
		.cycles_per_iteration = cycles,
		.mode = TACT_MODE_UNROLL,
		.init = TACT_INIT_STACK,
	};
}

static int64_t count(struct fixture *f, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(f->store->db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static void sources_and_categories(void **state)
{
	struct fixture *f = *state;
	int64_t add = put_block(f, add_code, 3), nop = put_block(f, nop_code, 1);
	struct tact_store_filter filter = {.size = sizeof(filter), .app = "zlib"};
	struct tact_store_blocks *blocks;
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;

	assert_int_equal(put_block(f, add_code, 3), add);
	assert_int_equal(tact_store_put_source(f->store, add, "zlib", 0.5, NULL), 0);
	assert_int_equal(tact_store_put_source(f->store, add, "gzip", (double)NAN, NULL), 0);
	assert_int_equal(tact_store_put_source(f->store, add, "zlib", 0.25, NULL), 0);
	assert_int_equal(tact_store_put_source(f->store, add, "zlib", (double)NAN, NULL), 0);
	assert_int_equal(tact_store_put_category(f->store, add, "lda", "SKL", "Scalar", NULL), 0);
	assert_int_equal(tact_store_put_category(f->store, add, "lda", "SKL", "Vector", NULL), 0);
	assert_int_equal(tact_store_put_category(f->store, add, "lda", "HSW", "Load", NULL), 0);

	assert_int_equal(tact_store_blocks_create(&blocks, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 1);
	assert_int_equal(block.id, add);
	assert_memory_equal(block.code, add_code, 3);
	assert_int_equal(block.n_sources, 2);
	assert_string_equal(block.sources[0].app, "gzip");
	assert_true(isnan(block.sources[0].weight));
	assert_string_equal(block.sources[1].app, "zlib");
	assert_true(block.sources[1].weight == 0.25); /* replaced, but not by an unknown value */
	assert_int_equal(block.n_categories, 2);
	assert_string_equal(block.categories[0].arch, "HSW");
	assert_string_equal(block.categories[1].label, "Vector");
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 1);
	assert_int_equal(block.id, nop);
	assert_int_equal(block.n_sources + block.n_categories, 0);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 0);
	tact_store_blocks_destroy(blocks);

	assert_int_equal(tact_store_blocks_create(&blocks, f->store, &filter, NULL), 0);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 1);
	assert_int_equal(block.id, add);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 0);
	tact_store_blocks_destroy(blocks);
}

static void imported_measurements(void **state)
{
	struct fixture *f = *state;
	int64_t add = put_block(f, add_code, 3);
	struct tact_measurement m = number(1.5);
	struct tact_store_import import = {
		.size = sizeof(import), .origin = "a.csv", .flags = "LM", .clean = TACT_CLEAN_YES};
	struct tact_store_filter filter = {.size = sizeof(filter), .arch = "HSW"};
	struct tact_store_iter *iter;
	struct tact_store_row row = TACT_STORE_ROW_INIT;

	import.machine = put_machine(f, "bhive", "HSW");
	assert_int_equal(put_machine(f, "bhive", ""), import.machine);
	assert_int_equal(tact_store_put_source(f->store, add, "gzip", 2, NULL), 0);
	assert_int_equal(tact_store_put_category(f->store, add, "a", "", "first", NULL), 0);
	assert_int_equal(tact_store_put_category(f->store, add, "b", "", "second", NULL), 0);
	assert_int_equal(tact_store_put_import(f->store, add, &m, &import, NULL), 0);
	import.machine = put_machine(f, "ours", "ICX");
	m.mode = TACT_MODE_LOOP;
	import.loop_code = add_loop;
	import.loop_size = sizeof(add_loop);
	import.clean = TACT_CLEAN_UNKNOWN;
	import.has_spread = true;
	m.spread = 0.01;
	assert_int_equal(tact_store_put_import(f->store, add, &m, &import, NULL), 0);

	assert_int_equal(tact_store_iter_create(&iter, f->store, &filter, NULL), 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	assert_true(row.measurement->cycles_per_iteration == 1.5);
	assert_int_equal(row.measurement->flags, TACT_MFLAG_CROSSES_LINE);
	assert_string_equal(row.flags, "LM");
	assert_string_equal(row.origin, "a.csv");
	assert_string_equal(row.version, "");
	assert_string_equal(row.machine->brand, "bhive");
	assert_string_equal(row.category, "first");
	assert_int_equal(row.clean, TACT_CLEAN_YES);
	assert_false(row.has_spread);
	assert_null(row.loop_code);
	assert_int_equal(row.n_sources, 1);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 0);
	tact_store_iter_destroy(iter);

	filter.arch = NULL;
	filter.mode = TACT_MODE_LOOP;
	filter.classifier = "b";
	assert_int_equal(tact_store_iter_create(&iter, f->store, &filter, NULL), 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	assert_string_equal(row.machine->arch, "ICX");
	assert_string_equal(row.category, "second");
	assert_int_equal(row.clean, TACT_CLEAN_UNKNOWN);
	assert_true(row.has_spread);
	assert_int_equal(row.loop_size, sizeof(add_loop));
	assert_memory_equal(row.loop_code, add_loop, sizeof(add_loop));
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 0);
	tact_store_iter_destroy(iter);
	/* a store does not change its mind about what a machine is */
	{
		struct tact_machine other = {.size = sizeof(other), .brand = "ours", .arch = "SKL"};
		int64_t id;

		assert_int_equal(tact_store_put_machine(f->store, &other, &id, &f->diag),
				 -TACT_E_INVAL);
		assert_non_null(strstr(f->diag.text, "ICX"));
	}
}

static void predictions(void **state)
{
	struct fixture *f = *state;
	int64_t add = put_block(f, add_code, 3), block;
	struct tact_store_prediction p = {.size = sizeof(p),
					  .arch = "SKL",
					  .model = "facile",
					  .version = "1",
					  .mode = TACT_MODE_UNROLL,
					  .status = "ok",
					  .cycles_per_iteration = 2,
					  .coverage = 1,
					  .bottlenecks = "Ports+Issue"};
	struct tact_store_filter filter = {.size = sizeof(filter), .version = "2"};
	struct tact_store_predictions *iter;
	const uint8_t *code;
	size_t size;

	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), 0);
	p.cycles_per_iteration = 3;
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), 0);
	p.version = "2";
	p.status = "decode";
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), 0);
	assert_int_equal(tact_store_predictions_create(&iter, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_predictions_next(iter, &block, &code, &size, &p, NULL), 1);
	assert_int_equal(block, add);
	assert_memory_equal(code, add_code, 3);
	assert_true(p.cycles_per_iteration == 3 && p.coverage == 1);
	assert_string_equal(p.bottlenecks, "Ports+Issue");
	assert_int_equal(tact_store_predictions_next(iter, &block, &code, &size, &p, NULL), 1);
	assert_string_equal(p.status, "decode");
	assert_int_equal(tact_store_predictions_next(iter, NULL, NULL, NULL, &p, NULL), 0);
	tact_store_predictions_destroy(iter);
	assert_int_equal(tact_store_predictions_create(&iter, f->store, &filter, NULL), 0);
	assert_int_equal(tact_store_predictions_next(iter, NULL, NULL, NULL, &p, NULL), 1);
	assert_string_equal(p.version, "2");
	assert_int_equal(tact_store_predictions_next(iter, NULL, NULL, NULL, &p, NULL), 0);
	tact_store_predictions_destroy(iter);
}

static void wrong_rows(void **state)
{
	struct fixture *f = *state;
	int64_t add = put_block(f, add_code, 3);
	struct tact_measurement m = number(1);
	struct tact_store_import import = {.size = sizeof(import), .machine = 77};
	struct tact_store_filter filter = {.size = sizeof(filter), .init = 9};
	struct tact_store_iter *iter = NULL;
	char longest[TACT_STORE_NAME_MAX + 2];

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(tact_store_put_source(f->store, add, longest, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_source(f->store, add, "a\nb", 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_source(f->store, add, "", 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_source(f->store, 99, "a", 1, &f->diag), -TACT_E_INVAL);
	assert_non_null(strstr(f->diag.text, "no such block"));
	longest[sizeof(longest) - 2] = '\0';
	assert_int_equal(tact_store_put_source(f->store, add, longest, 1, NULL), 0);
	assert_int_equal(tact_store_put_import(f->store, add, &m, &import, NULL), -TACT_E_INVAL);
	import.machine = put_machine(f, "m", "");
	m.cycles_per_iteration = 0;
	assert_int_equal(tact_store_put_import(f->store, add, &m, &import, NULL), -TACT_E_INVAL);
	m.cycles_per_iteration = (double)INFINITY;
	assert_int_equal(tact_store_put_import(f->store, add, &m, &import, NULL), -TACT_E_INVAL);
	m = number(1);
	m.mode = TACT_MODE_AUTO;
	assert_int_equal(tact_store_put_import(f->store, add, &m, &import, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_iter_create(&iter, f->store, &filter, NULL), -TACT_E_INVAL);
	filter.init = TACT_INIT_SAME; /* but has_init is not set */
	assert_int_equal(tact_store_iter_create(&iter, f->store, &filter, NULL), -TACT_E_INVAL);
	assert_null(iter);
	assert_int_equal(tact_store_end(f->store, NULL), -TACT_E_INVAL);
	/* a row that is refused does not take the others with it */
	assert_int_equal(tact_store_begin(f->store, NULL), 0);
	assert_int_equal(tact_store_begin(f->store, NULL), -TACT_E_INVAL);
	put_block(f, nop_code, 1);
	assert_int_equal(tact_store_put_source(f->store, 99, "a", 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_end(f->store, NULL), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM block"), 2);
}

static int import(struct fixture *f, const struct tact_store_import *x)
{
	struct tact_measurement m = number(1);

	return tact_store_put_import(f->store, put_block(f, add_code, 3), &m, x, &f->diag);
}

/* Each field out of its range; what is left is good. */
static void wrong_imports(void **state)
{
	struct fixture *f = *state;
	const struct tact_store_import good = {.size = sizeof(good),
					       .machine = put_machine(f, "m", "")};
	struct tact_store_import x = good;
	struct tact_measurement m = number(1);

	x.size = 0;
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	x = good;
	x.flags = "L X";
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	x.flags = "";
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	x = good;
	x.clean = (enum tact_clean)3;
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	x = good;
	x.loop_code = add_code;
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	x.loop_code = NULL;
	x.loop_size = 3;
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	x = good;
	x.origin = "a\tb";
	assert_int_equal(import(f, &x), -TACT_E_INVAL);
	assert_int_equal(import(f, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_import(f->store, 1, NULL, &good, NULL), -TACT_E_INVAL);
	m.rung = (enum tact_rung)55;
	assert_int_equal(tact_store_put_import(f->store, 1, &m, &good, NULL), -TACT_E_INVAL);
	m = number(1);
	m.spread = (double)NAN; /* does not count unless it is known */
	assert_int_equal(tact_store_put_import(f->store, 1, &m, &good, NULL), 0);
	x = good;
	x.has_spread = true;
	assert_int_equal(tact_store_put_import(f->store, 1, &m, &x, NULL), -TACT_E_INVAL);
	assert_int_equal(count(f, "SELECT count(*) FROM measurement"), 1);
}

static void wrong_details(void **state)
{
	struct fixture *f = *state;
	int64_t add = put_block(f, add_code, 3), id = 0;
	const struct tact_store_prediction good = {.size = sizeof(good),
						   .arch = "SKL",
						   .model = "x",
						   .mode = TACT_MODE_LOOP,
						   .status = "ok",
						   .cycles_per_iteration = 1,
						   .coverage = 1};
	struct tact_store_prediction p = good;
	struct tact_machine machine = TACT_MACHINE_INIT;

	assert_int_equal(tact_store_put_prediction(f->store, add, &good, NULL), 0);
	assert_int_equal(tact_store_put_prediction(f->store, add, NULL, NULL), -TACT_E_INVAL);
	p.coverage = 1.5;
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), -TACT_E_INVAL);
	p = good;
	p.cycles_per_iteration = (double)NAN;
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), -TACT_E_INVAL);
	p = good;
	p.bottlenecks = "a\nb";
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), -TACT_E_INVAL);
	p = good;
	p.init = (enum tact_init)7;
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), -TACT_E_INVAL);
	p = good;
	p.arch = NULL;
	assert_int_equal(tact_store_put_prediction(f->store, add, &p, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_source(f->store, add, "a", (double)INFINITY, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_put_category(f->store, add, "c", NULL, "l", NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_put_category(f->store, add, "c", "a name of 16 byt", "l", NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_put_machine(f->store, &machine, &id, NULL), -TACT_E_INVAL);
	memset(machine.brand, 'x', sizeof(machine.brand)); /* without an end */
	assert_int_equal(tact_store_put_machine(f->store, &machine, &id, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_machine(f->store, NULL, &id, NULL), -TACT_E_INVAL);
	assert_int_equal(id, 0);
}

/* Blocks and predictions that no version writes are left out. */
static void unreadable_rows(void **state)
{
	struct fixture *f = *state;
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;
	struct tact_store_prediction p = TACT_STORE_PREDICTION_INIT;
	struct tact_store_predictions *predictions;
	struct tact_store_blocks *blocks;
	uint8_t code[8];
	size_t size;

	assert_int_equal(
		sqlite3_exec(
			f->store->db,
			"INSERT INTO block VALUES(1, '90'), (2, 'x'), (3, '9090');"
			"INSERT INTO prediction VALUES(1, 'SKL', 'loop', 'same', 'm', '', 'ok', "
			"NULL, 1, ''), (2, 'SKL', 'loop', 'same', 'm', '', 'ok', 1, 1, ''), (3, "
			"'SKL', 'loop', 'sane', 'm', '', 'ok', 1, 1, ''), (3, 'SKL', 'loop', "
			"'same', 'm', '', 'ok', 4, 'x', '')",
			NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(tact_store_blocks_create(&blocks, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 1);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 1);
	assert_int_equal(block.id, 3);
	assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), 0);
	assert_int_equal(tact_store_blocks_skipped(blocks), 1);
	tact_store_blocks_destroy(blocks);
	assert_int_equal(tact_store_predictions_create(&predictions, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_predictions_next(predictions, NULL, NULL, NULL, &p, NULL), 1);
	assert_true(p.cycles_per_iteration == 4 && isnan(p.coverage));
	assert_int_equal(tact_store_predictions_next(predictions, NULL, NULL, NULL, &p, NULL), 0);
	assert_int_equal(tact_store_predictions_skipped(predictions), 3);
	tact_store_predictions_destroy(predictions);
	assert_int_equal(tact_store_get_block(f->store, 2, code, sizeof(code), &size, NULL),
			 -TACT_E_FORMAT);
	assert_int_equal(tact_store_get_block(f->store, 3, code, 1, &size, NULL), -TACT_E_LIMIT);
	assert_int_equal(tact_store_blocks_skipped(NULL) + tact_store_predictions_skipped(NULL), 0);
}

/* Weights of one import add up; the next import begins anew. */
static void weights_add_up(void **state)
{
	struct fixture *f = *state;
	int64_t add = put_block(f, add_code, 3);

	assert_int_equal(tact_store_add_source(f->store, add, "a", 1, NULL), -TACT_E_INVAL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tact_store_begin(f->store, NULL), 0);
		assert_int_equal(tact_store_add_source(f->store, add, "a", 1, NULL), 0);
		assert_int_equal(tact_store_add_source(f->store, add, "a", (double)NAN, NULL), 0);
		assert_int_equal(tact_store_add_source(f->store, add, "b", 4, NULL), 0);
		assert_int_equal(tact_store_add_source(f->store, add, "a", 2, NULL), 0);
		assert_int_equal(tact_store_end(f->store, NULL), 0);
		assert_int_equal(count(f, "SELECT weight FROM source WHERE app = 'a'"), 3);
		assert_int_equal(count(f, "SELECT weight FROM source WHERE app = 'b'"), 4);
	}
}

/* A transaction without an end leaves nothing. */
static void close_without_end(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(tact_store_begin(f->store, NULL), 0);
	put_block(f, add_code, 3);
	tact_store_close(f->store);
	assert_int_equal(tact_store_open(&f->store, f->path, 0, NULL), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM block"), 0);
}

/* Killed in the middle of many: whole transactions, and the rest can follow. */
static void killed_among_many(void **state)
{
	enum { ROWS = 150000 };
	struct fixture *f = *state;
	int64_t n = 0;
	int status;
	pid_t child;

	tact_store_close(f->store);
	f->store = NULL;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (tact_store_open(&f->store, f->path, 0, NULL) < 0 ||
		    tact_store_begin(f->store, NULL) < 0)
			_exit(1);
		for (uint32_t i = 1; i <= ROWS / 2; i++)
			if (tact_store_put_block(f->store, (const uint8_t *)&i, 4, NULL, NULL) < 0)
				_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(tact_store_open(&f->store, f->path, 0, NULL), 0);
	n = count(f, "SELECT count(*) FROM block");
	assert_true(n > 0 && n < ROWS / 2);
	assert_int_equal(n, count(f, "SELECT max(id) FROM block"));
	assert_int_equal(tact_store_begin(f->store, NULL), 0);
	for (uint32_t i = 1; i <= ROWS; i++)
		assert_int_equal(tact_store_put_block(f->store, (const uint8_t *)&i, 4, NULL, NULL),
				 i > n);
	assert_int_equal(tact_store_end(f->store, NULL), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM block"), ROWS);
}

/* A store of the first version gets the new tables, and its rows can be read. */
static void first_version(void **state)
{
	struct fixture *f = *state;
	struct tact_store_iter *iter;
	struct tact_store_row row = TACT_STORE_ROW_INIT;
	sqlite3 *db;

	tact_store_close(f->store);
	f->store = NULL;
	unlink(f->path);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(store_upgrade(db, store_steps, 1, NULL), 0);
	assert_int_equal(
		sqlite3_exec(
			db,
			"INSERT INTO machine VALUES(1, 'GenuineIntel', 'b', 6, 85, 7, '', 0, "
			"'CLX'); INSERT INTO block VALUES(1, '4801d8');"
			"INSERT INTO measurement VALUES(1, 1, 'loop', 'same', 'tsc', 'ok', 1.5, "
			"0.1, 9, 1, 10, 20, 'L', 3, '', '0.1.0');"
			"INSERT INTO measurement VALUES(1, 1, 'unroll', 'same', 'tsc', 'ok', 1.5, "
			"0.1, 9, 1, 10, 20, 'L', 3, '', '')",
			NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(tact_store_open(&f->store, f->path, TACT_STORE_READONLY, &f->diag),
			 -TACT_E_VERSION);
	assert_int_equal(tact_store_open(&f->store, f->path, 0, NULL), 0);
	assert_int_equal(count(f, "PRAGMA user_version"), 4);
	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	assert_true(row.measurement->cycles_per_iteration == 1.5);
	assert_int_equal(row.clean, TACT_CLEAN_UNKNOWN);
	assert_string_equal(row.origin, "");
	assert_string_equal(row.machine->arch, "CLX");
	assert_int_equal(row.measurement->rounds, 1);
	assert_int_equal(row.measurement->agree, 1);
	assert_int_equal(row.measurement->disturbed, 0);
	assert_int_equal(row.measurement->cpu, -1);
	assert_int_equal(row.measurement->memory, TACT_CONTENTS_POINTER);
	assert_int_equal(row.measurement->vectors, TACT_VECTORS_ZERO);
	assert_int_equal(row.measurement->alignment, 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1); /* of another program */
	assert_int_equal(row.measurement->rounds, 0);
	assert_int_equal(row.measurement->agree, 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 0);
	tact_store_iter_destroy(iter);
}

/* ---- several stores ---- */

static void open_other(struct fixture *f, struct tact_store **other)
{
	assert_int_equal(tact_store_open(other, f->other, TACT_STORE_CREATE, NULL), 0);
}

static double cycles_of(struct fixture *f)
{
	struct tact_store_iter *iter;
	struct tact_store_row row = TACT_STORE_ROW_INIT;
	double cycles;

	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	cycles = row.measurement->cycles_per_iteration;
	tact_store_iter_destroy(iter);
	return cycles;
}

static void put_agreed(struct tact_store *store, double cycles, const char *version, double spread,
		       unsigned agree)
{
	struct tact_machine machine = {.size = sizeof(machine), .brand = "m", .arch = "SKL"};
	struct tact_store_import import = {
		.size = sizeof(import), .version = version, .has_spread = spread > 0};
	struct tact_measurement m = number(cycles);
	int64_t block;

	m.spread = spread;
	m.rounds = m.agree = agree;
	if (!(cycles > 0))
		m.status = TACT_MEASURE_UNSTABLE;
	assert_int_equal(tact_store_put_machine(store, &machine, &import.machine, NULL), 0);
	assert_true(tact_store_put_block(store, add_code, 3, &block, NULL) >= 0);
	assert_int_equal(tact_store_put_import(store, block, &m, &import, NULL), 0);
}

static void put_version(struct tact_store *store, double cycles, const char *version, double spread)
{
	put_agreed(store, cycles, version, spread, 0);
}

static void merge_rules(void **state)
{
	static const struct {
		double own, other;
		const char *own_version, *other_version;
		double own_spread, other_spread, expected;
	} cases[] = {
		{2, 3, "", "", 0, 0, 2},	    /* all the same: the own one */
		{2, 3, "0.9.0", "0.10.0", 0, 0, 3}, /* newer */
		{2, 3, "0.10.0", "0.9.0", 0, 0, 2}, /* older */
		{2, 3, "", "0.1.0", 0, 0, 3},	    /* of another program */
		{2, 3, "1", "1", 0.2, 0.1, 3},	    /* less spread */
		{2, 3, "1", "1", 0.1, 0.2, 2},	    /* more */
		{2, 3, "1", "1", 0, 0.2, 3},	    /* any, if none is known */
		{0, 3, "0.10.0", "0.9.0", 0, 0, 3}, /* a number before none */
		{2, 0, "0.9.0", "0.10.0", 0, 0, 2},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_store *other;
		struct tact_merge merge = {.size = sizeof(merge)};
		char path[96];

		put_version(f->store, cases[i].own, cases[i].own_version, cases[i].own_spread);
		open_other(f, &other);
		put_version(other, cases[i].other, cases[i].other_version, cases[i].other_spread);
		tact_store_close(other);
		assert_int_equal(tact_store_merge(f->store, f->other, &merge, &f->diag), 0);
		assert_int_equal(merge.measurements, cases[i].expected == 3);
		assert_true(cycles_of(f) == cases[i].expected);
		/* again: nothing */
		assert_int_equal(tact_store_merge(f->store, f->other, &merge, &f->diag), 0);
		assert_int_equal(merge.blocks + merge.measurements, 0);
		unlink(f->other);
		snprintf(path, sizeof(path), "%s-wal", f->other);
		unlink(path);
	}
}

/* A number that two rounds confirm goes before a newer one that was seen once. */
static void merge_keeps_what_is_confirmed(void **state)
{
	static const struct {
		unsigned own, other; /* rounds that agree */
		const char *own_version, *other_version;
		double expected;
	} cases[] = {
		{2, 1, "0.9.0", "0.10.0", 2}, {1, 2, "0.10.0", "0.9.0", 3},
		{0, 2, "1", "", 3},	      {2, 3, "1", "1", 3},
		{3, 2, "1", "1", 2},	      {2, 2, "0.9.0", "0.10.0", 3},
		{2, 0, "", "1", 2},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_store *other;
		char path[96];

		put_agreed(f->store, 2, cases[i].own_version, 0, cases[i].own);
		open_other(f, &other);
		put_agreed(other, 3, cases[i].other_version, 0, cases[i].other);
		tact_store_close(other);
		assert_int_equal(tact_store_merge(f->store, f->other, NULL, &f->diag), 0);
		assert_true(cycles_of(f) == cases[i].expected);
		unlink(f->other);
		snprintf(path, sizeof(path), "%s-wal", f->other);
		unlink(path);
	}
}

static int add_up(void *context, const struct tact_count *count)
{
	struct tact_count *sum = context;

	sum->n += count->n;
	if (isfinite(count->weight))
		sum->weight += count->weight;
	return 0;
}

static void merge_and_count(void **state)
{
	struct fixture *f = *state;
	struct tact_store_prediction p = {.size = sizeof(p),
					  .arch = "SKL",
					  .model = "sim",
					  .version = "1",
					  .mode = TACT_MODE_LOOP,
					  .status = "decode",
					  .bottlenecks = ""};
	struct tact_merge merge = {.size = sizeof(merge)};
	struct tact_count sum = {.n = 0};
	struct tact_store *other;
	int64_t block, nop;

	nop = put_block(f, nop_code, 1);
	assert_int_equal(tact_store_put_source(f->store, nop, "a", 1, NULL), 0);
	assert_int_equal(tact_store_put_source(f->store, nop, "b", (double)NAN, NULL), 0);
	assert_int_equal(tact_store_put_category(f->store, nop, "lda", "", "x", NULL), 0);
	assert_int_equal(tact_store_put_prediction(f->store, nop, &p, NULL), 0);
	open_other(f, &other);
	put_version(other, 1, "", 0); /* makes other ids */
	assert_int_equal(tact_store_put_block(other, nop_code, 1, &block, NULL), 1);
	assert_int_not_equal(block, nop);
	assert_int_equal(tact_store_put_source(other, block, "a", 0.5, NULL), 0);
	assert_int_equal(tact_store_put_source(other, block, "b", 3, NULL), 0);
	assert_int_equal(tact_store_put_source(other, block, "c", 4, NULL), 0);
	assert_int_equal(tact_store_put_category(other, block, "lda", "", "y", NULL), 0);
	p.status = "ok";
	p.cycles_per_iteration = 7;
	assert_int_equal(tact_store_put_prediction(other, block, &p, NULL), 0);
	tact_store_close(other);
	assert_int_equal(tact_store_merge(f->store, f->other, &merge, &f->diag), 0);
	assert_int_equal(merge.blocks, 1);
	assert_int_equal(merge.sources, 2);
	assert_int_equal(merge.categories, 1);
	assert_int_equal(merge.measurements, 1);
	assert_int_equal(merge.predictions, 1);
	assert_int_equal(tact_store_count(f->store, TACT_COUNT_APPS, add_up, &sum, NULL), 0);
	assert_int_equal(sum.n, 4); /* a, b, c, and a block of none */
	assert_true(sum.weight == 1 + 3 + 4);
	for (int kind = 0; kind < TACT_N_COUNT_KINDS; kind++)
		assert_int_equal(
			tact_store_count(f->store, (enum tact_count_kind)kind, add_up, &sum, NULL),
			0);
	assert_int_equal(count(f, "SELECT count(*) FROM prediction WHERE status = 'ok'"), 1);
	assert_int_equal(count(f, "SELECT count(*) FROM category WHERE label = 'y'"), 1);
	/* misuse */
	assert_int_equal(tact_store_count(f->store, TACT_N_COUNT_KINDS, add_up, &sum, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_merge(f->store, f->path, NULL, &f->diag), -TACT_E_INVAL);
	assert_non_null(strstr(f->diag.text, "itself"));
	assert_int_equal(tact_store_merge(f->store, "/nonexistent.db", NULL, NULL), -TACT_E_IO);
}

/* The same name for different machines is a mistake of someone. */
static void merge_conflict(void **state)
{
	struct fixture *f = *state;
	struct tact_machine machine = {.size = sizeof(machine), .brand = "m", .arch = "HSW"};
	struct tact_store *other;
	int64_t id;

	put_version(f->store, 1, "", 0);
	open_other(f, &other);
	assert_int_equal(tact_store_put_machine(other, &machine, &id, NULL), 0);
	tact_store_close(other);
	assert_int_equal(tact_store_merge(f->store, f->other, NULL, &f->diag), -TACT_E_INVAL);
	assert_non_null(strstr(f->diag.text, "HSW"));
	assert_int_equal(count(f, "SELECT count(*) FROM machine"), 1);
}

static void cut_short(void **state)
{
	struct fixture *f = *state;
	struct tact_store *other;

	open_other(f, &other);
	assert_int_equal(tact_store_begin(other, NULL), 0);
	for (uint32_t i = 1; i < 5000; i++)
		assert_int_equal(tact_store_put_block(other, (const uint8_t *)&i, 4, NULL, NULL),
				 1);
	assert_int_equal(tact_store_end(other, NULL), 0);
	tact_store_close(other);
	assert_int_equal(truncate(f->other, 20000), 0);
	assert_int_equal(tact_store_open(&other, f->other, TACT_STORE_READONLY, &f->diag),
			 -TACT_E_FORMAT);
	assert_non_null(strstr(f->diag.text, "cut short"));
	assert_int_equal(tact_store_merge(f->store, f->other, NULL, &f->diag), -TACT_E_FORMAT);
	assert_int_equal(truncate(f->other, 50), 0);
	assert_int_equal(tact_store_open(&other, f->other, TACT_STORE_CREATE, &f->diag),
			 -TACT_E_FORMAT);
}

#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(sources_and_categories),
		STORE_TEST(imported_measurements),
		STORE_TEST(predictions),
		STORE_TEST(wrong_rows),
		STORE_TEST(wrong_imports),
		STORE_TEST(wrong_details),
		STORE_TEST(unreadable_rows),
		STORE_TEST(weights_add_up),
		STORE_TEST(close_without_end),
		STORE_TEST(killed_among_many),
		STORE_TEST(first_version),
		STORE_TEST(merge_rules),
		STORE_TEST(merge_keeps_what_is_confirmed),
		STORE_TEST(merge_and_count),
		STORE_TEST(merge_conflict),
		STORE_TEST(cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
