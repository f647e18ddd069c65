/* SPDX-License-Identifier: MIT
 *
 * Measured rows of files and stores, and the code that ran.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "rows/rows.h"
#include "support.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* ---- files ---- */

static struct tact_rows *open_table(const char *text, int expected, struct tact_diag *diag)
{
	struct tact_rows *table = NULL;

	*diag = (struct tact_diag){0};
	assert_int_equal(tact_rows_open_memory(&table, text, strlen(text), diag), expected);
	return table;
}

TEST(a_table)
{
	struct tact_diag diag;
	struct tact_row row;
	struct tact_rows *t =
		open_table("\xef\xbb\xbf"
			   "app,hex,x,cycles,clean,weight,hex_loop,category,status\r\n"
			   "\"a, \"\"b\"\"\",4801d8,,1.25,1,2.5,4801d875fb,Ld,ok\r\n"
			   "\n"
			   "b,90,,,0\n"
			   "c,9,,1\n"
			   "d,90,,1.x\n"
			   "e,90,,3,,,,,crashed\n"
			   "f,90,,-1,2\n"
			   "g,\"90,,1\n"
			   ",,,1\n"
			   "i,90,,2,,0\n"
			   "j,90,,0x10\n"
			   "last,90,,0",
			   0, &diag);

	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_string_equal(row.sources[0].app, "a, \"b\"");
	assert_string_equal(row.category, "Ld");
	assert_string_equal(row.arch, "");
	assert_int_equal(row.n_sources, 1);
	assert_true(near(row.sources[0].weight, 2.5));
	assert_int_equal(row.mode, TACT_MODE_AUTO);
	assert_int_equal(row.init, -1);
	assert_string_equal(row.status, "ok");
	assert_int_equal(row.line, 2);
	assert_int_equal(row.code_size, 3);
	assert_int_equal(row.loop_size, 5);
	assert_memory_equal(row.loop, "\x48\x01\xd8\x75\xfb", 5);
	assert_true(row.has_cycles && near(row.cycles, 1.25) && near(row.weight, 2.5));
	assert_int_equal(row.clean, 1);
	assert_int_equal(tact_rows_next(t, &row, &diag), 1); /* columns may be missing at the end */
	assert_false(row.has_cycles);
	assert_int_equal(row.clean, 0);
	assert_true(near(row.weight, 1));
	assert_int_equal(tact_rows_next(t, &row, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 5);
	assert_non_null(strstr(diag.text, "odd"));
	assert_int_equal(tact_rows_next(t, &row, &diag), -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "cycles"));
	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_false(row.has_cycles);
	assert_string_equal(row.status, "crashed");
	for (int i = 0; i < 5; i++)
		assert_int_equal(tact_rows_next(t, &row, &diag), -TACT_E_FORMAT);
	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_string_equal(row.sources[0].app, "last");
	assert_true(row.has_cycles && near(row.cycles, 0));
	assert_int_equal(tact_rows_next(t, &row, &diag), 0);
	tact_rows_close(t);
}

TEST(alignments)
{
	static const int expected[] = {0, 63, 7, -1, -1, -1, -1};
	struct tact_diag diag;
	struct tact_row row;
	struct tact_rows *t = open_table("hex,alignment,cycles\n90,,1\n90,63,1\n90,07,1\n90,64,1\n"
					 "90,-1,1\n90,1x,1\n90,004,1\n",
					 0, &diag);

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		int status = tact_rows_next(t, &row, &diag);

		assert_int_equal(status, expected[i] < 0 ? -TACT_E_FORMAT : 1);
		if (status > 0)
			assert_int_equal(row.alignment, expected[i]);
	}
	assert_int_equal(tact_rows_next(t, &row, &diag), 0);
	tact_rows_close(t);
}

TEST(rounds_of_a_table)
{
	struct tact_diag diag;
	struct tact_row row;
	struct tact_rows *t = open_table("hex,cycles,rounds,agree\n90,1,8,2\n90,1,,\n90,1,2,x\n"
					 "90,1,3,1\n90,1,3,4\n",
					 0, &diag);

	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_int_equal(row.rounds, 8);
	assert_int_equal(row.agree, 2);
	assert_true(tact_row_is_confirmed(&row));
	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_int_equal(row.rounds, 0);
	assert_false(tact_row_is_confirmed(&row));
	assert_int_equal(tact_rows_next(t, &row, &diag), -TACT_E_FORMAT);
	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_false(tact_row_is_confirmed(&row));
	assert_int_equal(tact_rows_next(t, &row, &diag), -TACT_E_FORMAT);
	assert_false(tact_row_is_confirmed(NULL));
	tact_rows_close(t);
}

TEST(bad_tables)
{
	struct tact_diag diag;
	struct tact_rows *table;

	open_table("\n\n", -TACT_E_FORMAT, &diag);
	open_table("90,1.00\n", -TACT_E_FORMAT, &diag);
	assert_non_null(strstr(diag.text, "'hex'"));
	open_table("hex,weight\n90,1\n", -TACT_E_FORMAT, &diag);
	assert_non_null(strstr(diag.text, "'cycles'"));
	assert_int_equal(tact_rows_open_memory(&table, NULL, 0, &diag), -TACT_E_FORMAT);
	assert_int_equal(tact_rows_open(&table, "/nowhere/at/all", &diag), -TACT_E_IO);
	assert_int_equal(tact_rows_open(&table, "/", &diag), -TACT_E_IO);
	assert_int_equal(tact_rows_open(NULL, "x", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_rows_next(NULL, NULL, &diag), -TACT_E_INVAL);
	tact_rows_close(NULL);
}

/* A line of any length is one bad row. */
TEST(a_long_line)
{
	enum { LONG = 3 << 20 };
	char *text = malloc(LONG + 64);
	struct tact_diag diag;
	struct tact_row row;
	struct tact_rows *t;
	size_t n = (size_t)sprintf(text, "hex,cycles\n");

	memset(text + n, '9', LONG);
	strcpy(text + n + LONG, ",1\n90,1\n");
	t = open_table(text, 0, &diag);
	assert_int_equal(tact_rows_next(t, &row, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 2);
	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_int_equal(tact_rows_next(t, &row, &diag), 0);
	tact_rows_close(t);
	free(text);
}

/* Values of columns: modes and values on entry by name, anything else is ignored. */
TEST(columns)
{
	struct tact_diag diag;
	struct tact_row row;
	struct tact_rows *t = open_table("HEX;Cycles_Per_Iteration;MODE;init;arch;count\n"
					 "90;1;loop;diff;SKL;7\n"
					 "90;1;Loop;x;;7\n",
					 0, &diag);

	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_int_equal(row.mode, TACT_MODE_LOOP);
	assert_int_equal(row.init, TACT_INIT_DIFF);
	assert_string_equal(row.arch, "SKL");
	assert_string_equal(row.machine, "");
	assert_int_equal(row.n_sources, 0);
	assert_true(near(row.weight, 1)); /* counts are for imports */
	assert_int_equal(tact_rows_next(t, &row, &diag), 1);
	assert_int_equal(row.mode, TACT_MODE_AUTO);
	assert_int_equal(row.init, -1);
	tact_rows_close(t);
	assert_int_equal(rows_find_column("COUNT", true), COL_WEIGHT);
	assert_int_equal(rows_find_column("count", false), -1);
	assert_int_equal(rows_find_column("", true), -1);
}

/* ---- stores ---- */

static void put(struct tact_store *store, const char *app, double weight, double cycles,
		enum tact_measure_status status)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8}, loop[] = {0x48, 0x01, 0xd8, 0x75, 0xfb};
	struct tact_machine machine = {.size = sizeof(machine), .brand = "box", .arch = "SKL"};
	const struct tact_measurement m = {.size = sizeof(m),
					   .status = status,
					   .cycles_per_iteration = cycles,
					   .mode = status ? TACT_MODE_UNROLL : TACT_MODE_LOOP,
					   .init = TACT_INIT_SAME};
	struct tact_store_import import = {.size = sizeof(import),
					   .origin = "x.csv",
					   .loop_code = loop,
					   .loop_size = sizeof(loop),
					   .clean = TACT_CLEAN_YES};
	int64_t id;

	assert_true(tact_store_put_block(store, code, sizeof(code), &id, NULL) >= 0);
	assert_int_equal(tact_store_put_machine(store, &machine, &import.machine, NULL), 0);
	assert_int_equal(tact_store_put_import(store, id, &m, &import, NULL), 0);
	assert_int_equal(tact_store_put_source(store, id, app, weight, NULL), 0);
}

TEST(a_store)
{
	char path[] = "/tmp/tact-rows-XXXXXX";
	struct tact_diag diag;
	struct tact_store *store;
	struct tact_rows *rows;
	struct tact_row row;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tact_store_open(&store, path, TACT_STORE_CREATE, &diag), 0);
	put(store, "a", 2.5, 1.25, TACT_MEASURE_OK);
	put(store, "b", (double)NAN, 0, TACT_MEASURE_CRASHED);
	tact_store_close(store);
	assert_int_equal(tact_rows_open(&rows, path, &diag), 0);
	assert_int_equal(tact_rows_next(rows, &row, &diag), 1);
	if (row.mode == TACT_MODE_UNROLL) { /* of one block in any order */
		assert_false(row.has_cycles);
		assert_string_equal(row.status, "crashed");
		assert_int_equal(tact_rows_next(rows, &row, &diag), 1);
	}
	assert_true(row.has_cycles && near(row.cycles, 1.25) && near(row.weight, 3.5));
	assert_int_equal(row.n_sources, 2);
	assert_string_equal(row.sources[0].app, "a");
	assert_true(near(row.sources[1].weight, 1)); /* not known */
	assert_int_equal(row.loop_size, 5);
	assert_int_equal(row.line, 0);
	assert_string_equal(row.arch, "SKL");
	assert_string_equal(row.machine, "box");
	assert_string_equal(row.origin, "x.csv");
	assert_int_equal(row.clean, 1);
	tact_rows_close(rows);
	assert_int_equal(tact_rows_open_store(&rows, NULL, NULL, &diag), -TACT_E_INVAL);
	unlink(path);
}

/* ---- the code that ran ---- */

TEST(code_as_it_ran)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8}, own[] = {0x48, 0x01, 0xd8, 0x75, 0xfb};
	static const uint8_t made[] = {0x48, 0x01, 0xd8, 0x49, 0xff, 0xcf, 0x75, 0xf8};
	static const uint8_t accident[] = {0x90, 0xb0, 0xfd}; /* mov al, -3 */
	struct tact_row row = {.size = sizeof(row), .code = add, .code_size = sizeof(add)};
	struct tact_ran *ran;
	const uint8_t *code;
	size_t size;

	assert_int_equal(tact_ran_create(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_ran_create(&ran), 0);
	assert_false(tact_ran_is_loop(tact_isa_find("x86"), add, sizeof(add)));
	assert_true(tact_ran_is_loop(tact_isa_find("x86"), own, sizeof(own)));
	assert_false(tact_ran_is_loop(tact_isa_find("x86"), accident, sizeof(accident)));
	assert_false(tact_ran_is_loop(tact_isa_find("x86"), add, 0));
	assert_int_equal(
		tact_ran_code(ran, tact_isa_find("x86"), &row, TACT_MODE_UNROLL, &code, &size), 0);
	assert_true(code == add && size == sizeof(add));
	assert_int_equal(
		tact_ran_code(ran, tact_isa_find("x86"), &row, TACT_MODE_LOOP, &code, &size), 0);
	assert_int_equal(size, sizeof(made));
	assert_memory_equal(code, made, size);
	row.code = own;
	row.code_size = sizeof(own);
	assert_int_equal(
		tact_ran_code(ran, tact_isa_find("x86"), &row, TACT_MODE_LOOP, &code, &size), 0);
	assert_true(code == own && size == sizeof(own));
	row.loop = made;
	row.loop_size = sizeof(made);
	assert_int_equal(
		tact_ran_code(ran, tact_isa_find("x86"), &row, TACT_MODE_LOOP, &code, &size), 0);
	assert_true(code == made);
	tact_ran_destroy(ran);
	tact_ran_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
