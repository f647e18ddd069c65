/* SPDX-License-Identifier: MIT
 *
 * Stores: what goes in comes out; a file that is not a store is refused with the reason.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tact/store.h>

#include "store/store.h"
#include "store_fixture.h"

static const uint8_t add_code[] = {0x48, 0x01, 0xd8}, nop_code[] = {0x90};

static struct tact_measurement good_number(double cycles)
{
	return (struct tact_measurement){
		.size = sizeof(struct tact_measurement),
		.status = TACT_MEASURE_OK,
		.cycles_per_iteration = cycles,
		.spread = 0.01,
		.kept = 70,
		.dropped = 10,
		.rung = TACT_RUNG_TSC,
		.mode = TACT_MODE_UNROLL,
		.init = TACT_INIT_SAME,
		.flags = TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_SHORT,
		.low = 100,
		.high = 200,
		.n_pages = 2,
		.alignment = 48,
		.memory = TACT_CONTENTS_FLOAT,
		.vectors = TACT_VECTORS_ORDINARY,
		.cpu = 3,
		.rounds = 5,
		.agree = 2,
		.disturbed = 1,
	};
}

/* Field by field: there is room between fields. */
static void assert_same_measurement(const struct tact_measurement *a,
				    const struct tact_measurement *b)
{
	assert_int_equal(a->status, b->status);
	assert_true(a->cycles_per_iteration == b->cycles_per_iteration);
	assert_true(a->spread == b->spread);
	assert_int_equal(a->kept, b->kept);
	assert_int_equal(a->dropped, b->dropped);
	assert_int_equal(a->rung, b->rung);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->init, b->init);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->low, b->low);
	assert_int_equal(a->high, b->high);
	assert_int_equal(a->n_pages, b->n_pages);
	assert_string_equal(a->reason, b->reason);
	assert_int_equal(a->alignment, b->alignment);
	assert_int_equal(a->memory, b->memory);
	assert_int_equal(a->vectors, b->vectors);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->rounds, b->rounds);
	assert_int_equal(a->agree, b->agree);
	assert_int_equal(a->disturbed, b->disturbed);
}

static int open_store(struct fixture *f, unsigned flags)
{
	return tact_store_open(&f->store, f->path, flags, &f->diag);
}

static void close_store(struct fixture *f)
{
	tact_store_close(f->store);
	f->store = NULL;
}

static void put(struct fixture *f, const uint8_t *code, size_t size, struct tact_measurement m)
{
	assert_int_equal(tact_store_put_measurement(f->store, code, size, &m, &f->diag), 0);
}

static int has(struct fixture *f, const uint8_t *code, size_t size, enum tact_mode mode,
	       enum tact_init init)
{
	return tact_store_has_measurement(f->store, code, size, mode, init, &f->diag);
}

static size_t count_rows(struct fixture *f)
{
	struct tact_store_iter *iter;
	struct tact_store_row row = {.size = sizeof(row)};
	size_t n = 0;
	int status;

	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, &f->diag), 0);
	while ((status = tact_store_iter_next(iter, &row, &f->diag)) > 0)
		n++;
	assert_int_equal(status, 0);
	tact_store_iter_destroy(iter);
	return n;
}

/* Statements on the file itself, past the library. */
static void execute(const struct fixture *f, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void what_goes_in_comes_out(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1.25), bad = {.size = sizeof(bad)};
	struct tact_store_iter *iter;
	struct tact_store_row row = {.size = sizeof(row)};

	bad.status = TACT_MEASURE_REFUSED;
	bad.mode = TACT_MODE_LOOP;
	bad.init = TACT_INIT_STACK;
	bad.rung = TACT_RUNG_PERF;
	snprintf(bad.reason, sizeof(bad.reason), "it's \"not\" run");
	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, sizeof(add_code), m);
	put(f, nop_code, sizeof(nop_code), bad);
	close_store(f);

	assert_int_equal(open_store(f, TACT_STORE_READONLY), 0);
	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	assert_int_equal(row.code_size, sizeof(add_code));
	assert_memory_equal(row.code, add_code, sizeof(add_code));
	assert_true(row.machine->vendor[0]);
	assert_true(row.version[0]);
	assert_same_measurement(row.measurement, &m);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	assert_int_equal(row.measurement->status, TACT_MEASURE_REFUSED);
	assert_int_equal(row.measurement->mode, TACT_MODE_LOOP);
	assert_int_equal(row.measurement->init, TACT_INIT_STACK);
	assert_int_equal(row.measurement->rung, TACT_RUNG_PERF);
	assert_string_equal(row.measurement->reason, bad.reason);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 0);
	tact_store_iter_destroy(iter);
}

/* One row, as --resume needs it. */
static void one_row(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1.25), out = TACT_MEASUREMENT_INIT;
	struct tact_measurement once = good_number(2);

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, sizeof(add_code), m);
	assert_int_equal(tact_store_get_measurement(f->store, add_code, sizeof(add_code), m.mode,
						    m.init, &out, NULL),
			 1);
	assert_same_measurement(&out, &m);
	assert_int_equal(
		tact_store_get_measurement(f->store, nop_code, 1, m.mode, m.init, &out, NULL), 0);
	assert_int_equal(tact_store_get_measurement(f->store, add_code, sizeof(add_code),
						    TACT_MODE_LOOP, m.init, &out, NULL),
			 0);
	assert_int_equal(tact_store_get_measurement(f->store, NULL, 1, m.mode, m.init, &out, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(
		tact_store_get_measurement(f->store, add_code, 3, m.mode, m.init, NULL, NULL),
		-TACT_E_INVAL);
	/* A caller that knows nothing of rounds has made one. */
	once.size = offsetof(struct tact_measurement, alignment);
	put(f, nop_code, 1, once);
	assert_int_equal(
		tact_store_get_measurement(f->store, nop_code, 1, m.mode, m.init, &out, NULL), 1);
	assert_int_equal(out.rounds, 1);
	assert_int_equal(out.agree, 1);
	assert_int_equal(out.cpu, -1);
	assert_int_equal(out.vectors, TACT_VECTORS_ZERO);
	assert_int_equal(out.alignment, 0);
	execute(f, "UPDATE measurement SET memory = 'fire'");
	assert_int_equal(
		tact_store_get_measurement(f->store, nop_code, 1, m.mode, m.init, &out, NULL), 0);
}

/* SQLite would begin again. */
static void the_end_is_the_end(void **state)
{
	struct fixture *f = *state;
	const struct tact_store_prediction p = {
		.size = sizeof(p),
		.arch = "SKL",
		.model = "facile",
		.mode = TACT_MODE_UNROLL,
		.status = "ok",
		.cycles_per_iteration = 1,
		.coverage = 1,
	};
	struct tact_store_row row = TACT_STORE_ROW_INIT;
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;
	struct tact_store_prediction prediction = TACT_STORE_PREDICTION_INIT;
	struct tact_store_iter *rows;
	struct tact_store_blocks *blocks;
	struct tact_store_predictions *predictions;
	int64_t id;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, sizeof(add_code), good_number(1));
	assert_int_equal(tact_store_put_block(f->store, add_code, sizeof(add_code), &id, &f->diag),
			 0);
	assert_int_equal(tact_store_put_prediction(f->store, id, &p, &f->diag), 0);
	assert_int_equal(tact_store_iter_create(&rows, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_blocks_create(&blocks, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_predictions_create(&predictions, f->store, NULL, NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tact_store_iter_next(rows, &row, NULL), !i);
		assert_int_equal(tact_store_blocks_next(blocks, &block, NULL), !i);
		assert_int_equal(tact_store_predictions_next(predictions, NULL, NULL, NULL,
							     &prediction, NULL),
				 !i);
	}
	tact_store_iter_destroy(rows);
	tact_store_blocks_destroy(blocks);
	tact_store_predictions_destroy(predictions);
}

static void every_status_and_flag_has_a_name(void **state)
{
	struct fixture *f = *state;
	struct tact_store_iter *iter;
	struct tact_store_row row = {.size = sizeof(row)};

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	for (unsigned s = 0; s < TACT_N_MEASURE_STATUS; s++) {
		struct tact_measurement m = good_number(1);
		uint8_t code = (uint8_t)s;

		m.status = (enum tact_measure_status)s;
		m.flags = s < 10 ? 1u << s : 0;
		put(f, &code, 1, m);
	}
	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
	for (unsigned s = 0; s < TACT_N_MEASURE_STATUS; s++) {
		assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
		assert_int_equal(row.code[0], s);
		assert_int_equal(row.measurement->status, s);
		assert_int_equal(row.measurement->flags, s < 10 ? 1u << s : 0);
	}
	tact_store_iter_destroy(iter);
}

static void duplicates_are_replaced(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1);
	struct tact_store_iter *iter;
	struct tact_store_row row = {.size = sizeof(row)};

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, sizeof(add_code), m);
	put(f, add_code, sizeof(add_code), good_number(2));
	assert_int_equal(count_rows(f), 1);
	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
	assert_int_equal(tact_store_iter_next(iter, &row, NULL), 1);
	assert_true(row.measurement->cycles_per_iteration == 2);
	tact_store_iter_destroy(iter);
	/* another mode or another init is another row */
	m.mode = TACT_MODE_LOOP;
	put(f, add_code, sizeof(add_code), m);
	m.init = TACT_INIT_STACK;
	put(f, add_code, sizeof(add_code), m);
	assert_int_equal(count_rows(f), 3);
}

static void has_looks_at_all_of_the_key(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	assert_int_equal(has(f, add_code, 3, TACT_MODE_UNROLL, TACT_INIT_SAME), 0);
	put(f, add_code, 3, good_number(1));
	assert_int_equal(has(f, add_code, 3, TACT_MODE_UNROLL, TACT_INIT_SAME), 1);
	assert_int_equal(has(f, add_code, 2, TACT_MODE_UNROLL, TACT_INIT_SAME), 0);
	assert_int_equal(has(f, add_code, 3, TACT_MODE_LOOP, TACT_INIT_SAME), 0);
	assert_int_equal(has(f, add_code, 3, TACT_MODE_UNROLL, TACT_INIT_STACK), 0);
	assert_int_equal(has(f, add_code, 3, TACT_MODE_AUTO, TACT_INIT_SAME), -TACT_E_INVAL);
	close_store(f);
	assert_int_equal(open_store(f, 0), 0);
	assert_int_equal(has(f, add_code, 3, TACT_MODE_UNROLL, TACT_INIT_SAME), 1);
	close_store(f);
	/* what another machine measured does not count */
	execute(f, "UPDATE machine SET stepping = stepping + 1");
	assert_int_equal(open_store(f, 0), 0);
	assert_int_equal(has(f, add_code, 3, TACT_MODE_UNROLL, TACT_INIT_SAME), 0);
	put(f, add_code, 3, good_number(1));
	assert_int_equal(count_rows(f), 2);
}

static void empty_store(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	assert_int_equal(count_rows(f), 0);
	close_store(f);
	assert_int_equal(open_store(f, TACT_STORE_READONLY), 0);
	assert_int_equal(count_rows(f), 0);
	assert_true(tact_store_is_store(f->path));
}

static void misuse(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1);
	struct tact_store_iter *iter = NULL;
	struct tact_store_row row = TACT_STORE_ROW_INIT;

	assert_int_equal(tact_store_open(NULL, f->path, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_open(&f->store, NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_open(&f->store, "", TACT_STORE_CREATE, NULL), -TACT_E_INVAL);
	assert_int_equal(open_store(f, TACT_STORE_CREATE | TACT_STORE_READONLY), -TACT_E_INVAL);
	assert_int_equal(open_store(f, 1u << 9), -TACT_E_INVAL);
	tact_store_close(NULL);
	tact_store_iter_destroy(NULL);
	assert_false(tact_store_is_store(NULL));
	assert_false(tact_store_is_store(f->path));
	assert_false(tact_store_is_store(f->directory));
	assert_int_equal(tact_store_put_measurement(NULL, nop_code, 1, &m, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_iter_create(&iter, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_iter_next(NULL, &row, NULL), -TACT_E_INVAL);
	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	assert_int_equal(tact_store_put_measurement(f->store, NULL, 1, &m, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 0, &m, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, NULL, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_iter_create(NULL, f->store, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(has(f, NULL, 1, TACT_MODE_LOOP, TACT_INIT_SAME), -TACT_E_INVAL);
	assert_int_equal(has(f, nop_code, 0, TACT_MODE_LOOP, TACT_INIT_SAME), -TACT_E_INVAL);
}

static void write_file(const struct fixture *f, const void *data, size_t size)
{
	FILE *file = fopen(f->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

static void not_a_store(void **state)
{
	struct fixture *f = *state;
	static const char text[] = "hex,cycles\n90,1\nthis file is no database at all\n";

	assert_int_equal(open_store(f, 0), -TACT_E_IO);
	assert_non_null(strstr(f->diag.text, "No such file"));
	assert_int_equal(open_store(f, TACT_STORE_READONLY), -TACT_E_IO);
	write_file(f, text, sizeof(text) - 1);
	assert_int_equal(open_store(f, TACT_STORE_CREATE), -TACT_E_FORMAT);
	assert_non_null(strstr(f->diag.text, "not a tact store"));
	assert_false(tact_store_is_store(f->path));
	/* an empty file is one only if it may become one */
	write_file(f, "", 0);
	assert_int_equal(open_store(f, 0), -TACT_E_FORMAT);
	assert_int_equal(open_store(f, TACT_STORE_READONLY), -TACT_E_FORMAT);
	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	close_store(f);
	unlink(f->path);
	execute(f, "CREATE TABLE block(id INTEGER PRIMARY KEY, hex TEXT)");
	assert_int_equal(open_store(f, TACT_STORE_CREATE), -TACT_E_FORMAT);
	assert_non_null(strstr(f->diag.text, "something else"));
	snprintf(f->path, sizeof(f->path), "%s", f->directory);
	assert_true(open_store(f, TACT_STORE_CREATE) < 0);
	snprintf(f->path, sizeof(f->path), "%s/x.db", f->directory);
}

static void newer_and_older(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	close_store(f);
	execute(f, "PRAGMA user_version = 1000");
	assert_int_equal(open_store(f, TACT_STORE_CREATE), -TACT_E_VERSION);
	assert_non_null(strstr(f->diag.text, "1000"));
	assert_int_equal(open_store(f, TACT_STORE_READONLY), -TACT_E_VERSION);
	/* one that needs an upgrade and may not have it */
	execute(f, "PRAGMA user_version = 0");
	assert_int_equal(open_store(f, TACT_STORE_READONLY), -TACT_E_VERSION);
	assert_non_null(strstr(f->diag.text, "up to date"));
}

static void damaged(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	FILE *file;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, 3, good_number(1));
	close_store(f);
	/* a table that is not there */
	execute(f, "DROP TABLE measurement");
	assert_int_equal(open_store(f, 0), -TACT_E_FORMAT);
	/* pages of garbage after a good header */
	assert_int_equal(stat(f->path, &st), 0);
	file = fopen(f->path, "r+");
	assert_non_null(file);
	fseek(file, 100, SEEK_SET);
	for (long i = 100; i < st.st_size; i++)
		fputc(0xa5, file);
	fclose(file);
	assert_int_equal(open_store(f, 0), -TACT_E_FORMAT);
	assert_non_null(strstr(f->diag.text, "damaged"));
}

/* Whatever a row of the second block holds, the other two are read, and nothing stops. */
static void rows_that_no_version_writes(void **state)
{
	static const struct {
		const char *sql;
		int n_skipped; /* measurements */
	} cases[] = {
		{"UPDATE measurement SET status = 'fine' WHERE block = 2", 1},
		{"UPDATE measurement SET mode = 'auto' WHERE block = 2", 1},
		{"UPDATE measurement SET init = x'00ff' WHERE block = 2", 1},
		{"UPDATE measurement SET cycles_per_iteration = NULL WHERE block = 2", 1},
		{"UPDATE measurement SET cycles_per_iteration = 9e999 WHERE block = 2", 1},
		{"UPDATE measurement SET cycles_per_iteration = -1 WHERE block = 2", 1},
		{"UPDATE measurement SET cycles_per_iteration = 'many' WHERE block = 2", 1},
		{"UPDATE block SET hex = '4z' WHERE id = 2", 1},
		{"UPDATE block SET hex = '480' WHERE id = 2", 1},
		{"UPDATE block SET hex = '' WHERE id = 2", 1},
		{"UPDATE block SET hex = hex(zeroblob(100000)) WHERE id = 2", 1},
		{"UPDATE measurement SET rung = 'unknown' WHERE block = 2", 0},
		{"UPDATE measurement SET spread = 'x' WHERE block = 2", 0},
		{"UPDATE measurement SET kept = -5, low = 1e30, flags = x'01' WHERE block = 2", 0},
		{"UPDATE measurement SET hex_loop = 'zz', clean = 'x' WHERE block = 2", 0},
		{"UPDATE measurement SET reason = hex(zeroblob(5000)) WHERE block = 2", 0},
		{"UPDATE machine SET brand = hex(zeroblob(5000)), arch = x'ff'", 0},
		{"INSERT INTO source VALUES(2, hex(zeroblob(5000)), 9e999)", 0},
		{"INSERT INTO category VALUES(2, '', hex(zeroblob(5000)), x'00')", 0},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_store_row row = TACT_STORE_ROW_INIT;
		struct tact_store_iter *iter;
		int n = 0, status;

		assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
		for (uint8_t code = 1; code <= 3; code++)
			put(f, &code, 1, good_number(code));
		close_store(f);
		execute(f, cases[i].sql);
		assert_int_equal(open_store(f, TACT_STORE_READONLY), 0);
		assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
		while ((status = tact_store_iter_next(iter, &row, &f->diag)) > 0) {
			n++;
			assert_true(row.measurement->cycles_per_iteration > 0);
			assert_true(row.measurement->spread >= 0);
			assert_true((unsigned)row.measurement->rung <= TACT_RUNG_TSC);
		}
		if (status || n != 3 - cases[i].n_skipped ||
		    tact_store_iter_skipped(iter) != (unsigned)cases[i].n_skipped)
			fail_msg("%s: %d rows, status %d", cases[i].sql, n, status);
		tact_store_iter_destroy(iter);
		close_store(f);
		unlink(f->path);
	}
	assert_int_equal(tact_store_iter_skipped(NULL), 0);
}

/* Measurements that cannot be read again are refused, with the reason, and leave no trace. */
static void wrong_measurements(void **state)
{
	static const int far = 55, negative = -1, diff = 3, automatic = TACT_MODE_AUTO;
	static const double nan = NAN, inf = INFINITY, none = 0, below = -1;
	static const uint32_t flags = 1u << 20;
	static const unsigned low = 300;
	static const char control[] = "a\nb";
	static const struct {
		size_t offset;
		const void *value;
		size_t size;
		const char *why;
	} cases[] = {
		{offsetof(struct tact_measurement, cycles_per_iteration), &nan, 8, "cycles"},
		{offsetof(struct tact_measurement, cycles_per_iteration), &inf, 8, "cycles"},
		{offsetof(struct tact_measurement, cycles_per_iteration), &none, 8, "cycles"},
		{offsetof(struct tact_measurement, cycles_per_iteration), &below, 8, "cycles"},
		{offsetof(struct tact_measurement, spread), &nan, 8, "spread"},
		{offsetof(struct tact_measurement, spread), &inf, 8, "spread"},
		{offsetof(struct tact_measurement, spread), &below, 8, "spread"},
		{offsetof(struct tact_measurement, status), &far, 4, "status"},
		{offsetof(struct tact_measurement, status), &negative, 4, "status"},
		{offsetof(struct tact_measurement, rung), &far, 4, "rung 55"},
		{offsetof(struct tact_measurement, rung), &negative, 4, "rung"},
		{offsetof(struct tact_measurement, mode), &automatic, 4, "mode"},
		{offsetof(struct tact_measurement, mode), &far, 4, "mode"},
		{offsetof(struct tact_measurement, init), &diff, 4, "init"},
		{offsetof(struct tact_measurement, init), &negative, 4, "init"},
		{offsetof(struct tact_measurement, flags), &flags, 4, "0x100000"},
		{offsetof(struct tact_measurement, low), &low, 4, "low"},
		{offsetof(struct tact_measurement, agree), &low, 4, "5 rounds, of which 300 agree"},
		{offsetof(struct tact_measurement, disturbed), &low, 4, "300 are disturbed"},
		{offsetof(struct tact_measurement, alignment), &low, 4, "alignment"},
		{offsetof(struct tact_measurement, memory), &far, 4, "memory"},
		{offsetof(struct tact_measurement, vectors), &negative, 4, "vectors"},
		{offsetof(struct tact_measurement, reason), control, 4, "reason"},
		{offsetof(struct tact_measurement, size), &none, 8, "version"},
	};
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1);
	uint8_t code[TACT_BLOCK_MAX_BYTES + 1] = {0};

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		m = good_number(1);
		memcpy((uint8_t *)&m + cases[i].offset, cases[i].value, cases[i].size);
		f->diag.text[0] = 0;
		if (tact_store_put_measurement(f->store, nop_code, 1, &m, &f->diag) !=
			    -TACT_E_INVAL ||
		    !strstr(f->diag.text, cases[i].why))
			fail_msg("case %zu: %s", i, f->diag.text);
	}
	m = good_number(1);
	memset(m.reason, 'x', sizeof(m.reason)); /* without an end */
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, &m, NULL),
			 -TACT_E_INVAL);
	m = good_number(1);
	assert_int_equal(tact_store_put_measurement(f->store, code, sizeof(code), &m, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(count_rows(f), 0);
	/* Without a number, cycles and spread do not count. */
	m.status = TACT_MEASURE_UNSTABLE;
	m.cycles_per_iteration = m.spread = NAN;
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, &m, NULL), 0);
	assert_int_equal(count_rows(f), 1);
}

/* Callers whose structs are shorter or longer than this library's. */
static void older_and_newer_callers(void **state)
{
	struct {
		struct tact_measurement m;
		uint64_t newer;
	} in = {.m = good_number(2)};
	struct {
		struct tact_store_row row;
		uint64_t newer;
	} out;
	struct fixture *f = *state;
	struct tact_store_iter *iter;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	in.m.size = offsetof(struct tact_measurement, reason);
	memset(in.m.reason, 'x', sizeof(in.m.reason)); /* not the caller's */
	put(f, add_code, 3, in.m);
	in.m = good_number(3);
	in.m.size = sizeof(in);
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, &in.m, NULL), 0);
	in.newer = 1; /* means something that this library does not know */
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, &in.m, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_store_iter_create(&iter, f->store, NULL, NULL), 0);
	memset(&out, 0xa5, sizeof(out));
	out.row.size = 0;
	assert_int_equal(tact_store_iter_next(iter, &out.row, NULL), -TACT_E_INVAL);
	out.row.size = offsetof(struct tact_store_row, block);
	assert_int_equal(tact_store_iter_next(iter, &out.row, NULL), 1);
	assert_int_equal(out.row.size, offsetof(struct tact_store_row, block));
	assert_true(out.row.measurement->cycles_per_iteration == 2);
	assert_int_equal(out.row.measurement->size, sizeof(struct tact_measurement));
	assert_true(out.row.block == (int64_t)0xa5a5a5a5a5a5a5a5);
	out.row.size = sizeof(out);
	assert_int_equal(tact_store_iter_next(iter, &out.row, NULL), 1);
	assert_int_equal(out.row.size, sizeof(out));
	assert_int_equal(out.newer, 0);
	assert_string_equal(out.row.category, "");
	tact_store_iter_destroy(iter);
}

static void read_only(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1);

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, 3, m);
	close_store(f);
	assert_int_equal(open_store(f, TACT_STORE_READONLY), 0);
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, &m, &f->diag),
			 -TACT_E_IO);
	assert_non_null(strstr(f->diag.text, "read only"));
	assert_int_equal(count_rows(f), 1);
	close_store(f);
	if (geteuid() == 0) {
		print_message("skip: root may write everything: one case of read_only\n");
		return;
	}
	chmod(f->path, 0444);
	assert_int_equal(open_store(f, TACT_STORE_CREATE), -TACT_E_IO);
	chmod(f->directory, 0555); /* without the log, reading needs no space next to the file */
	assert_int_equal(open_store(f, TACT_STORE_READONLY), 0);
	assert_int_equal(count_rows(f), 1);
	chmod(f->directory, 0755);
}

static void locked(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1);
	sqlite3 *other;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put(f, add_code, 3, m);
	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_busy_timeout(f->store->db, 1);
	assert_int_equal(tact_store_put_measurement(f->store, nop_code, 1, &m, &f->diag),
			 -TACT_E_LIMIT);
	assert_non_null(strstr(f->diag.text, "locked"));
	assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	put(f, nop_code, 1, m); /* it continues */
	sqlite3_close(other);
	assert_int_equal(count_rows(f), 2);
}

static void full(void **state)
{
	struct fixture *f = *state;
	struct tact_measurement m = good_number(1);
	uint8_t code[4000] = {0};
	int status = 0;
	size_t rows = 0;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	assert_int_equal(sqlite3_exec(f->store->db, "PRAGMA max_page_count = 30", NULL, NULL, NULL),
			 SQLITE_OK);
	for (unsigned i = 0; i < 100 && !status; i++) {
		code[0] = (uint8_t)i;
		status = tact_store_put_measurement(f->store, code, sizeof(code), &m, &f->diag);
		rows += !status;
	}
	assert_int_equal(status, -TACT_E_IO);
	assert_non_null(strstr(f->diag.text, "no space"));
	assert_int_equal(count_rows(f), rows); /* what was reported as stored is there */
}

/* Two of them at once: both succeed. */
static void two_writers(void **state)
{
	struct fixture *f = *state;
	struct tact_store *other;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	assert_int_equal(tact_store_open(&other, f->path, TACT_STORE_CREATE, NULL), 0);
	for (uint8_t i = 0; i < 20; i++) {
		struct tact_measurement m = good_number(i + 1);

		assert_int_equal(
			tact_store_put_measurement(i % 2 ? other : f->store, &i, 1, &m, &f->diag),
			0);
	}
	tact_store_close(other);
	assert_int_equal(count_rows(f), 20);
}

/* A process that is killed loses nothing that was reported as stored. */
static int64_t number_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

/* ---- one after another, or at once ---- */

static _Noreturn void import_first(struct fixture *f)
{
	struct tact_store *store;
	const struct tact_measurement number = good_number(1);
	struct tact_diag diag = {0};
	int status = tact_store_open(&store, f->path, TACT_STORE_CREATE, &diag);

	if (status >= 0)
		status = tact_store_put_measurement(store, add_code, sizeof(add_code), &number,
						    &diag);
	if (status < 0)
		print_message("%s\n", diag.text);
	tact_store_close(store);
	_exit(status < 0);
}

/* Whose store was deleted by hand may have left its log. */
static void leave_log(const struct fixture *f)
{
	char path[sizeof(f->path) + 8];
	FILE *log;

	snprintf(path, sizeof(path), "%s-wal", f->path);
	log = fopen(path, "w");
	assert_non_null(log);
	fputs("what is left of something else", log);
	assert_int_equal(fclose(log), 0);
}

/* Who comes first makes the store; the others must never see a part of that. */
static void several_may_create_it(void **state)
{
	enum { ROUNDS = 60, WRITERS = 3 };
	struct fixture *f = *state;

	if (!access("/dev/shm", W_OK)) /* no disk: faster, and more at once */
		snprintf(f->path, sizeof(f->path), "/dev/shm/tact-store-%ld.db", (long)getpid());
	for (unsigned i = 0; i < ROUNDS; i++) {
		pid_t children[WRITERS];

		if (i % 2)
			leave_log(f);
		for (unsigned k = 0; k < WRITERS; k++) {
			children[k] = fork();
			assert_true(children[k] >= 0);
			if (!children[k])
				import_first(f);
		}
		for (unsigned k = 0; k < WRITERS; k++) {
			int status;

			assert_int_equal(waitpid(children[k], &status, 0), children[k]);
			assert_int_equal(status, 0);
		}
		assert_int_equal(unlink(f->path), 0);
	}
}

/* ---- stores of strangers ---- */

static void change(const struct fixture *f, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void put_number(struct fixture *f)
{
	const struct tact_measurement number = good_number(1);

	assert_int_equal(
		tact_store_put_measurement(f->store, add_code, sizeof(add_code), &number, &f->diag),
		0);
}

/* A store that somebody else made says what its tables hold, not what is done. */
static void what_a_store_says_is_not_run(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put_number(f);
	tact_store_close(f->store);
	f->store = NULL;
	change(f, "CREATE TABLE ran(x);"
		  "CREATE TRIGGER a AFTER INSERT ON block BEGIN INSERT INTO ran VALUES(1); END;"
		  "CREATE TRIGGER b AFTER INSERT ON measurement BEGIN DELETE FROM block; END;"
		  "CREATE TEMP TRIGGER c AFTER INSERT ON block BEGIN SELECT 1; END;");
	assert_int_equal(open_store(f, 0), 0);
	put_number(f);
	assert_true(tact_store_put_block(f->store, nop_code, sizeof(nop_code), NULL, &f->diag) >=
		    0);
	assert_int_equal(number_of(f->store->db, "SELECT count(*) FROM ran"), 0);
	assert_int_equal(number_of(f->store->db, "SELECT count(*) FROM block"), 2);
	/* Nor can SQL that gets in there somehow change the tables of the schema. */
	assert_int_equal(number_of(f->store->db, "PRAGMA trusted_schema"), 0);
	sqlite3_exec(f->store->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
	assert_int_not_equal(sqlite3_exec(f->store->db,
					  "UPDATE sqlite_schema SET sql = 'x' WHERE name = 'ran'",
					  NULL, NULL, NULL),
			     SQLITE_OK);
	tact_store_close(f->store);
	f->store = NULL;
	/* A view in place of a table could compute without end. */
	change(f, "ALTER TABLE block RENAME TO hidden;"
		  "CREATE VIEW block AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
		  " FROM n) SELECT i AS id, hex FROM hidden, n;");
	assert_int_equal(open_store(f, 0), -TACT_E_FORMAT);
	assert_non_null(strstr(f->diag.text, "damaged"));
}

/* A value as large as SQLite allows, a gigabyte, takes a few bytes of the file's maker. */
static void large_values_are_not_read(void **state)
{
	struct fixture *f = *state;
	sqlite3_stmt *stmt;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	put_number(f);
	tact_store_close(f->store);
	f->store = NULL;
	change(f, "UPDATE block SET hex = zeroblob(30000000)");
	assert_int_equal(open_store(f, 0), 0);
	assert_int_equal(sqlite3_prepare_v2(f->store->db, "SELECT hex FROM block", -1, &stmt, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_TOOBIG);
	sqlite3_finalize(stmt);
}

static void survives_a_kill(void **state)
{
	struct fixture *f = *state;
	int ends[2], status;
	uint32_t told = 0, n = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct tact_measurement m = good_number(1);

		if (open_store(f, TACT_STORE_CREATE) < 0)
			_exit(1);
		for (uint32_t i = 1;; i++) {
			if (tact_store_put_measurement(f->store, (const uint8_t *)&i, sizeof(i), &m,
						       NULL) < 0)
				_exit(1);
			if (write(ends[1], &i, sizeof(i)) < 0)
				_exit(1);
		}
	}
	close(ends[1]);
	while (told < 500 && read(ends[0], &n, sizeof(n)) == (ssize_t)sizeof(n))
		told = n;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	while (read(ends[0], &n, sizeof(n)) == (ssize_t)sizeof(n))
		told = n;
	close(ends[0]);
	assert_true(told >= 500);
	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	n = (uint32_t)count_rows(f);
	assert_true(n == told || n == told + 1); /* it may have been killed before it told */
	for (uint32_t i = 1; i <= told; i++)
		assert_int_equal(
			has(f, (const uint8_t *)&i, sizeof(i), TACT_MODE_UNROLL, TACT_INIT_SAME),
			1);
}

/* By CPU time, which others on the machine leave alone. */
static void a_row_takes_less_than_a_millisecond(void **state)
{
	enum { ROWS = 1000 };
	struct fixture *f = *state;
	struct timespec start, end;
	double ms;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (uint32_t i = 0; i < ROWS; i++)
		put(f, (const uint8_t *)&i, sizeof(i), good_number(1));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	ms = 1e3 * (double)(end.tv_sec - start.tv_sec) +
	     1e-6 * (double)(end.tv_nsec - start.tv_nsec);
	print_message("%.3f ms a row\n", ms / ROWS);
	assert_true(ms / ROWS < 1 || rounds(10) < 10);
}

/* ---- versions ---- */

static const char *const steps[] = {
	"CREATE TABLE a(x); INSERT INTO a VALUES(1)",
	"ALTER TABLE a ADD COLUMN y DEFAULT 7",
	"UPDATE a SET x = x + y",
};

static void migration(void **state)
{
	const char *const broken[] = {steps[0], steps[1], "UPDATE a SET x = 100; SELECT nonsense"};
	struct tact_diag diag;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(store_upgrade(db, steps, 1, &diag), 0);
	assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
	/* a step that fails leaves what the steps before it made */
	assert_int_equal(store_upgrade(db, broken, 3, &diag), -TACT_E_INTERNAL);
	assert_int_equal(number_of(db, "PRAGMA user_version"), 2);
	assert_int_equal(number_of(db, "SELECT x FROM a"), 1);
	assert_int_equal(store_upgrade(db, steps, 3, &diag), 0);
	assert_int_equal(number_of(db, "PRAGMA user_version"), 3);
	assert_int_equal(number_of(db, "SELECT x FROM a"), 8);
	/* once is enough */
	assert_int_equal(store_upgrade(db, steps, 3, &diag), 0);
	assert_int_equal(number_of(db, "SELECT x FROM a"), 8);
	assert_int_equal(store_upgrade(db, steps, 2, &diag), -TACT_E_VERSION);
	sqlite3_close(db);
}

static void new_store_is_current(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store(f, TACT_STORE_CREATE), 0);
	assert_int_equal(number_of(f->store->db, "PRAGMA user_version"), store_n_steps);
	assert_int_equal(number_of(f->store->db, "PRAGMA application_id"), STORE_APPLICATION_ID);
}

/* What a loss of power leaves is looked at by tests/faults. */
static void is_synced(void **state)
{
	struct fixture *f = *state;
	const struct tact_measurement m = good_number(1);

	assert_int_equal(tact_store_sync(NULL, &f->diag), -TACT_E_INVAL);
	assert_int_equal(tact_store_open(&f->store, f->path, TACT_STORE_CREATE, &f->diag), 0);
	assert_int_equal(tact_store_sync(f->store, &f->diag), 0);
	assert_int_equal(
		tact_store_put_measurement(f->store, add_code, sizeof(add_code), &m, &f->diag), 0);
	assert_true(f->store->synced > 0);
	f->store->synced -= 2; /* seconds pass */
	assert_int_equal(
		tact_store_put_measurement(f->store, nop_code, sizeof(nop_code), &m, &f->diag), 0);
	assert_int_equal(tact_store_begin(f->store, &f->diag), 0);
	assert_int_equal(tact_store_sync(f->store, &f->diag), 0);
	assert_int_equal(tact_store_end(f->store, &f->diag), 0);
	tact_store_close(f->store);
	assert_int_equal(tact_store_open(&f->store, f->path, TACT_STORE_READONLY, &f->diag), 0);
	assert_int_equal(tact_store_sync(f->store, &f->diag), 0);
}

#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(what_goes_in_comes_out),
		STORE_TEST(the_end_is_the_end),
		STORE_TEST(every_status_and_flag_has_a_name),
		STORE_TEST(duplicates_are_replaced),
		STORE_TEST(has_looks_at_all_of_the_key),
		STORE_TEST(empty_store),
		STORE_TEST(one_row),
		STORE_TEST(misuse),
		STORE_TEST(not_a_store),
		STORE_TEST(newer_and_older),
		STORE_TEST(damaged),
		STORE_TEST(rows_that_no_version_writes),
		STORE_TEST(wrong_measurements),
		STORE_TEST(older_and_newer_callers),
		STORE_TEST(read_only),
		STORE_TEST(locked),
		STORE_TEST(full),
		STORE_TEST(two_writers),
		STORE_TEST(several_may_create_it),
		STORE_TEST(what_a_store_says_is_not_run),
		STORE_TEST(large_values_are_not_read),
		STORE_TEST(survives_a_kill),
		STORE_TEST(is_synced),
		STORE_TEST(a_row_takes_less_than_a_millisecond),
		cmocka_unit_test(migration),
		STORE_TEST(new_store_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
