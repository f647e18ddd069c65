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

#include <tact/input.h>
#include <tact/result.h>

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
	const struct tact_result_info info = {
		.size = sizeof(info), .arch = "SKL", .command = "test"};
	struct tact_trace_event event;
	struct tact_cycles *cycles;
	struct tact_symbols *symbols;
	struct tact_result *result;
	struct tact_trace *trace;
	struct tact_diag diag = {0};
	double c;
	uint64_t n;

	assert_true(fd >= 0);
	close(fd);
	write_file(path, hex);
	assert_int_equal(tact_trace_open_text(&trace, path, NULL, iterations, &diag), 0);
	unlink(path);
	assert_int_equal(tact_cycles_create(&cycles, tact_arch_find("SKL"), NULL, &diag), 0);
	assert_int_equal(tact_symbols_create(&symbols), 0);
	while (tact_trace_next(trace, &event, &diag) > 0)
		assert_int_equal(tact_cycles_event(cycles, &event, &diag), 0);
	assert_int_equal(tact_cycles_finish(cycles, &diag), 0);
	assert_int_equal(tact_result_create(&result, &info, cycles, trace, symbols, true, &diag),
			 0);
	assert_int_equal(tact_cycles_get_thread(cycles, 0, &c, &n), 0);
	assert_int_equal(tact_result_add_thread(result, 1, 0, c, n), 0);
	tact_symbols_destroy(symbols);
	tact_cycles_destroy(cycles);
	tact_trace_close(trace);
	return result;
}

static double sum(const struct tact_result *r, enum tact_result_kind kind)
{
	size_t n;
	const struct tact_result_row *rows = tact_result_rows(r, kind, &n);
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += rows[i].cycles;
	return all;
}

TEST(test_make)
{
	struct tact_result *r = run("4801d8\n480fafc3480fafc3\n", 100);
	const struct tact_result_info *info = tact_result_get_info(r);
	const struct tact_result_row *rows;
	size_t n;

	assert_int_equal(info->totals.instructions, 300);
	assert_string_equal(info->arch, "SKL");
	assert_true(info->totals.cycles > 0);
	for (unsigned kind = TACT_RESULT_FUNCTION; kind <= TACT_RESULT_BLOCK; kind++)
		assert_true(fabs(sum(r, (enum tact_result_kind)kind) - info->totals.cycles) <
			    0.01 * info->totals.cycles + 1);
	assert_true(fabs(sum(r, TACT_RESULT_THREAD) - info->totals.cycles) < 1);
	rows = tact_result_rows(r, TACT_RESULT_BLOCK, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].executions, 100);
	assert_true(rows[0].cycles >= rows[1].cycles);
	tact_result_rows(r, TACT_RESULT_LINE, &n);
	assert_int_equal(n, 0);
	tact_result_destroy(r);
	tact_result_destroy(NULL);
}

TEST(test_read)
{
	static const char *const bad[] = {
		"",
		"\n\n",
		"x",
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
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(open_text(&r, bad[i], &diag), -TACT_E_FORMAT);
	assert_int_equal(open_text(&r, "{\"schema\":\"tact.trace/9\",\"kind\":\"totals\"}", &diag),
			 -TACT_E_VERSION);
	assert_int_equal(tact_result_load(&r, "/nonexistent/file", &diag), -TACT_E_IO);
	assert_int_equal(tact_result_load(&r, "/", &diag), -TACT_E_IO);
	assert_int_equal(
		open_text(&r, TOTALS "\n{\"schema\":\"tact.trace/1\",\"kind\":\"x\"}", &diag), 0);
	assert_int_equal(tact_result_get_info(r)->totals.instructions, 10);
	tact_result_rows(r, TACT_RESULT_FUNCTION, &n);
	assert_int_equal(n, 0);
	tact_result_destroy(r);
	/* Numbers that make no sense are 0. */
	assert_int_equal(open_text(&r,
				   TOTALS "{\"schema\":\"tact.trace/1\",\"kind\":\"function\","
					  "\"cycles\":-5,\"executions\":-1,\"line\":1e9}",
				   &diag),
			 0);
	assert_true(tact_result_rows(r, TACT_RESULT_FUNCTION, &n)->cycles == 0);
	assert_int_equal(n, 1);
	tact_result_destroy(r);
}

#define ROW(kind, module, function, more)                                                          \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"" kind "\",\"module\":\"" module                  \
	"\",\"function\":\"" function "\"," more "}\n"

static const struct tact_diff_row *find(const struct tact_diff *d, enum tact_result_kind kind,
					const char *function)
{
	size_t n;
	const struct tact_diff_row *rows = tact_diff_rows(d, kind, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp((rows[i].b ? rows[i].b : rows[i].a)->function, function))
			return &rows[i];
	return NULL;
}

/* The same names in other files, code that moved, functions without a name, new and gone ones. */
TEST(test_match)
{
	static const char a[] =
		TOTALS ROW("function", "/old/p", "f", "\"cycles\":4,\"executions\":2")
			ROW("function", "/old/p", "[p 0x10]", "\"cycles\":3")
				ROW("function", "/old/p", "gone", "\"cycles\":2")
					ROW("function", "/lib/c", "g", "\"cycles\":1")
		/* jz, mov rax, [rip+16]: both say where, not what */
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
	const struct tact_diff_row *row;
	struct tact_diff_insn insn;
	struct tact_diag diag;
	struct tact_diff *d;
	size_t n;

	assert_int_equal(open_text(&x, a, &diag), 0);
	assert_int_equal(open_text(&y, b, &diag), 0);
	assert_int_equal(tact_diff_create(&d, x, y, &diag), 0);
	tact_diff_rows(d, TACT_RESULT_FUNCTION, &n);
	assert_int_equal(n, 5);
	row = find(d, TACT_RESULT_FUNCTION, "f");
	assert_true(row->a && row->b && row->cycles[0] == 4 && row->cycles[1] == 8);
	assert_int_equal(tact_diff_insns(d, row, &insn, 1), 1);
	assert_int_equal(insn.executed[0], 2);
	assert_int_equal(insn.executed[1], 4);
	row = find(d, TACT_RESULT_FUNCTION, "[q 0x90]");
	assert_true(row->a && row->b);
	assert_true(!find(d, TACT_RESULT_FUNCTION, "fresh")->a);
	assert_true(!find(d, TACT_RESULT_FUNCTION, "gone")->b);
	assert_true(find(d, TACT_RESULT_FUNCTION, "g")->a);
	row = tact_diff_rows(d, TACT_RESULT_FUNCTION, &n);
	assert_string_equal(row[0].b->function, "fresh"); /* 6 more */
	row = find(d, TACT_RESULT_BLOCK, "f");
	assert_true(row->a && row->b && row->executions[1] == 4);
	assert_true(find(d, TACT_RESULT_BLOCK, "[q 0x90]")->a != NULL);
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
