/* SPDX-License-Identifier: MIT
 *
 * Results of runs: made of text as a trace, stored, read and compared; code by name.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/analysis.h>
#include <tact/input.h>

#include "base/base.h"

#define TOTALS                                                                                     \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"totals\",\"instructions\":10,\"cycles\":5}\n"

static int open_text(struct tact_result **r, const char *text, struct tact_diag *diag)
{
	return tact_result_load_memory(r, text, strlen(text), diag);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

/* Analyses hex text as a trace. */
static struct tact_result *run(const char *hex, uint64_t iterations)
{
	char path[] = "/tmp/tact-result-XXXXXX";
	const int fd = mkstemp(path);
	const struct tact_analysis_options opt = {
		.size = sizeof(opt), .arch = tact_arch_find("SKL"), .command = "test"};
	struct tact_analysis *analysis;
	struct tact_symbols *symbols;
	struct tact_result *result;
	struct tact_trace *trace;
	struct tact_diag diag = {0};

	assert_true(fd >= 0);
	close(fd);
	write_file(path, hex);
	assert_int_equal(tact_trace_open_text(&trace, path, NULL, iterations, &diag), 0);
	unlink(path);
	assert_int_equal(tact_symbols_create(&symbols), 0);
	assert_int_equal(tact_analysis_create(&analysis, trace, symbols, &opt, &diag), 0);
	assert_int_equal(tact_analysis_run(analysis, &diag), 0);
	assert_int_equal(tact_analysis_finish(analysis, NULL, &diag), 0);
	assert_int_equal(tact_analysis_result(analysis, false, &result, &diag), 0);
	tact_analysis_destroy(analysis);
	tact_symbols_destroy(symbols);
	tact_trace_close(trace);
	return result;
}

static struct tact_result_row row_at(const struct tact_result *r, enum tact_result_kind kind,
				     size_t i)
{
	struct tact_result_row row = TACT_RESULT_ROW_INIT;

	assert_int_equal(tact_result_get_row(r, kind, i, &row), 0);
	return row;
}

static double sum(const struct tact_result *r, enum tact_result_kind kind)
{
	double all = 0;

	for (size_t i = 0; i < tact_result_count(r, kind); i++)
		all += row_at(r, kind, i).cycles;
	return all;
}

static struct tact_cycles_totals totals_of(const struct tact_result *r)
{
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;

	assert_int_equal(tact_result_get_totals(r, &totals), 0);
	return totals;
}

TEST(test_make)
{
	struct tact_result *r = run("4801d8\n480fafc3480fafc3\n", 100);
	const struct tact_cycles_totals totals = totals_of(r);
	struct tact_result_info info = TACT_RESULT_INFO_INIT;

	assert_int_equal(tact_result_get_info(r, &info), 0);
	assert_string_equal(info.arch, "SKL");
	assert_string_equal(info.command, "test");
	assert_int_equal(totals.instructions, 300);
	assert_true(totals.cycles > 0);
	for (unsigned kind = TACT_RESULT_FUNCTION; kind <= TACT_RESULT_BLOCK; kind++)
		assert_true(fabs(sum(r, (enum tact_result_kind)kind) - totals.cycles) <
			    0.01 * totals.cycles + 1);
	assert_true(fabs(sum(r, TACT_RESULT_THREAD) - totals.cycles) < 1);
	assert_int_equal(tact_result_count(r, TACT_RESULT_BLOCK), 2);
	assert_int_equal(row_at(r, TACT_RESULT_BLOCK, 0).executions, 100);
	assert_true(row_at(r, TACT_RESULT_BLOCK, 0).cycles >=
		    row_at(r, TACT_RESULT_BLOCK, 1).cycles);
	assert_int_equal(tact_result_count(r, TACT_RESULT_LINE), 0);
	tact_result_destroy(r);
	tact_result_destroy(NULL);
}

TEST(test_read)
{
	static const char *const bad[] = {
		"",
		"\n\n",
		"x",
		"480",
		"  \"x\"",
		"[]",
		"{}",
		"{\"schema\":\"tact.trace/1\"}",
		"{\"schema\":\"tact.trace/1\",\"kind\":\"totals\"}",
		TOTALS TOTALS,
		TOTALS "{\"schema\":\"tact.trace/1\",\"kind\":\"block\",\"hex\":\"9\"}",
		TOTALS "{\"schema\":\"tact.trace/1\",\"kind\":\"block\",\"hex\":\"zz\"}",
		TOTALS "{\"schema\":\"tact.trace/1\",\"kin",
		"{\"schema\":\"tact.predict/1\",\"kind\":\"totals\",\"cycles\":5}",
	};
	struct tact_diag diag;
	struct tact_result *r;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(open_text(&r, bad[i], &diag), -TACT_E_FORMAT);
		assert_null(r);
	}
	assert_int_equal(open_text(&r, "{\"schema\":\"tact.trace/9\",\"kind\":\"totals\"}", &diag),
			 -TACT_E_VERSION);
	assert_int_equal(tact_result_load(&r, "/nonexistent/file", &diag), -TACT_E_IO);
	assert_int_equal(tact_result_load(&r, "/", &diag), -TACT_E_IO);
	assert_int_equal(
		open_text(&r, TOTALS "\n{\"schema\":\"tact.trace/1\",\"kind\":\"x\"}", &diag), 0);
	assert_int_equal(totals_of(r).instructions, 10);
	assert_int_equal(tact_result_count(r, TACT_RESULT_FUNCTION), 0);
	tact_result_destroy(r);
	/* Numbers that make no sense are 0. */
	assert_int_equal(open_text(&r,
				   TOTALS "{\"schema\":\"tact.trace/1\",\"kind\":\"function\","
					  "\"cycles\":-5,\"executions\":-1,\"line\":1e9}",
				   &diag),
			 0);
	assert_true(row_at(r, TACT_RESULT_FUNCTION, 0).cycles == 0);
	assert_int_equal(tact_result_count(r, TACT_RESULT_FUNCTION), 1);
	tact_result_destroy(r);
}

#define ROW(kind, module, function, more)                                                          \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"" kind "\",\"module\":\"" module                  \
	"\",\"function\":\"" function "\"," more "}\n"

static struct tact_diff_row diff_row_at(const struct tact_diff *d, enum tact_result_kind kind,
					size_t i)
{
	struct tact_diff_row row = TACT_DIFF_ROW_INIT;

	assert_int_equal(tact_diff_get_row(d, kind, i, &row), 0);
	return row;
}

static const char *name_of(const struct tact_diff *d, enum tact_result_kind kind, size_t i)
{
	const struct tact_diff_row row = diff_row_at(d, kind, i);
	const unsigned side = row.row[1] != TACT_NO_ROW;

	return row_at(tact_diff_side(d, side), kind, row.row[side]).function;
}

static struct tact_diff_row find(const struct tact_diff *d, enum tact_result_kind kind,
				 const char *function)
{
	for (size_t i = 0; i < tact_diff_count(d, kind); i++)
		if (!strcmp(name_of(d, kind, i), function))
			return diff_row_at(d, kind, i);
	fail_msg("no row of %s", function);
	return (struct tact_diff_row){0};
}

static bool is_in_both(const struct tact_diff_row *row)
{
	return row->row[0] != TACT_NO_ROW && row->row[1] != TACT_NO_ROW;
}

/* The same names in other files, code that moved, functions without a name, new and gone ones. */
TEST(test_match)
{
	static const char a[] =
		TOTALS ROW("function", "/old/p", "f", "\"cycles\":4,\"executions\":2")
			ROW("function", "/old/p", "[p 0x10]", "\"cycles\":3")
				ROW("function", "/old/p", "gone", "\"cycles\":2")
					ROW("function", "/lib/c", "g", "\"cycles\":1")
		/* jz, mov rax, [rip+16]: both tell where, not what */
		ROW("block", "/old/p", "f", "\"cycles\":4,\"executions\":2,\"hex\":\"7405\"") ROW(
			"block", "/old/p", "[p 0x10]", "\"cycles\":3,\"hex\":\"488b0510000000\"");
	static const char b[] =
		TOTALS ROW("function", "/new/q", "f", "\"cycles\":8,\"executions\":2")
			ROW("function", "/new/q", "[q 0x90]",
			    "\"cycles\":3") ROW("function", "/new/q", "fresh", "\"cycles\":6")
				ROW("function", "/lib/c", "g", "\"cycles\":1")
					ROW("block", "/new/q", "f",
					    "\"cycles\":8,\"executions\":4,\"hex\":\"7499\"")
						ROW("block", "/new/q", "[q 0x90]",
						    "\"cycles\":3,\"hex\":\"488b0590000000\"");
	struct tact_result *x, *y;
	struct tact_diff_row row;
	struct tact_diff_insn insn;
	struct tact_diag diag;
	struct tact_diff *d;

	assert_int_equal(open_text(&x, a, &diag), 0);
	assert_int_equal(open_text(&y, b, &diag), 0);
	assert_int_equal(tact_diff_create(&d, x, y, &diag), 0);
	assert_int_equal(tact_diff_count(d, TACT_RESULT_FUNCTION), 5);
	row = find(d, TACT_RESULT_FUNCTION, "f");
	assert_true(is_in_both(&row) && row.cycles[0] == 4 && row.cycles[1] == 8);
	assert_string_equal(row_at(x, TACT_RESULT_FUNCTION, row.row[0]).module, "/old/p");
	assert_string_equal(name_of(d, TACT_RESULT_FUNCTION, row.function), "f");
	assert_int_equal(tact_diff_get_insns(d, row.function, &insn, 1), 1);
	assert_int_equal(insn.executed[0], 2);
	assert_int_equal(insn.executed[1], 4);
	assert_int_equal(tact_diff_get_insns(d, TACT_NO_ROW, NULL, 0), 2); /* jz and mov */
	assert_int_equal(tact_diff_get_insns(d, 5, &insn, 1), -TACT_E_INVAL);
	row = find(d, TACT_RESULT_FUNCTION, "[q 0x90]");
	assert_true(is_in_both(&row));
	assert_true(find(d, TACT_RESULT_FUNCTION, "fresh").row[0] == TACT_NO_ROW);
	assert_true(find(d, TACT_RESULT_FUNCTION, "gone").row[1] == TACT_NO_ROW);
	assert_true(find(d, TACT_RESULT_FUNCTION, "g").row[0] != TACT_NO_ROW);
	assert_string_equal(name_of(d, TACT_RESULT_FUNCTION, 0), "fresh"); /* 6 more */
	row = find(d, TACT_RESULT_BLOCK, "f");
	assert_true(is_in_both(&row) && row.executions[1] == 4);
	assert_string_equal(name_of(d, TACT_RESULT_FUNCTION, row.function), "f");
	assert_true(find(d, TACT_RESULT_BLOCK, "[q 0x90]").row[0] != TACT_NO_ROW);
	tact_diff_destroy(d);
	tact_diff_destroy(NULL);
	tact_result_destroy(x);
	tact_result_destroy(y);
}

TEST(test_regions)
{
	static const char *const bad[] = {
		"no_such_function", "", "x:", "/none:f", "5-4", "memory:"};
	struct tact_trace_region r;
	struct tact_symbols *s;
	struct tact_diag diag;
	char self[4096], text[5000];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	assert_int_equal(tact_symbols_create(&s), 0);
	assert_int_equal(tact_symbols_region(s, "main", self, NULL, &r, &diag), 0);
	assert_string_equal(r.file, self);
	assert_true(r.end > r.begin);
	assert_int_equal(tact_symbols_region(s, "libc:puts", self, NULL, &r, &diag), 0);
	assert_non_null(strstr(r.file, "libc"));
	snprintf(text, sizeof(text), "%s:main", self);
	assert_int_equal(tact_symbols_region(s, text, self, NULL, &r, &diag), 0);
	assert_int_equal(tact_symbols_region(s, "memory:10-0x20", self, NULL, &r, &diag), 0);
	assert_true(!r.file && r.begin == 0x10 && r.end == 0x20);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(tact_symbols_region(s, bad[i], self, NULL, &r, &diag),
				 -TACT_E_INVAL);
	assert_int_equal(tact_symbols_region(s, "main", "/nonexistent", NULL, &r, &diag),
			 -TACT_E_IO);
	tact_symbols_destroy(s);
	tact_symbols_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
