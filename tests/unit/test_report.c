/* SPDX-License-Identifier: MIT
 *
 * Results as text, CSV, JSON and Markdown.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "report/report.h"
#include "support.h"

/* ---- what reports share ---- */

TEST(test_words)
{
	static const struct {
		double value;
		const char *text;
	} counts[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {-123456, "-123,456"}};
	struct text text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		text_reset(&text);
		report_count(&text, counts[i].value, 0);
		assert_string_equal(text_string(&text), counts[i].text);
	}
	text_reset(&text);
	report_short(&text, "abcdefghijklmnop", 11);
	assert_string_equal(text_string(&text), "abcd...mnop");
	text_reset(&text);
	report_short(&text, "short", 11);
	assert_string_equal(text_string(&text), "short");
	text_reset(&text);
	assert_false(report_bounds(&text, NULL, 0));
	assert_true(
		report_bounds(&text, NULL, 1u << TACT_BOUND_PORTS | 1u << TACT_BOUND_PRECEDENCE));
	assert_string_equal(text_string(&text), "Ports, Dependencies");
	text_reset(&text); /* in the words of the vendor */
	assert_true(report_bounds(&text, tact_arch_find("ZEN4"), 1u << TACT_BOUND_DSB));
	assert_string_equal(text_string(&text), "Op cache");
	text_free(&text);
}

/* ---- runs ---- */

#define FUNCTION(name, cycles)                                                                     \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"function\",\"module\":\"/bin/x\",\"function\":"   \
	"\"" name "\",\"executions\":3,\"instructions\":5,\"cycles\":" cycles                      \
	",\"stalls\":{\"loads\":2}}\n"
#define BLOCK(name, cycles)                                                                        \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"block\",\"module\":\"/bin/"                       \
	"x\",\"function\":\"" name                                                                 \
	"\",\"address\":\"0x1000\",\"hex\":\"4801d84829d8\",\"executions\":3,"                     \
	"\"instructions\":6,\"cycles\":" cycles "}\n"
#define TOTALS(cycles)                                                                             \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"totals\",\"arch\":\"SKL\",\"instructions\":10,"   \
	"\"cycles\":" cycles "}\n"

static struct tact_result *read_result(const char *text)
{
	struct tact_diag diag = {0};
	struct tact_result *r;

	if (tact_result_load_memory(&r, text, strlen(text), &diag))
		fail_msg("%s", diag.text);
	return r;
}

TEST(test_run)
{
	struct tact_result *r = read_result(TOTALS("5") FUNCTION("main", "4") FUNCTION(
		"_ZN3foo3barEv", "1") BLOCK("main", "4"));
	struct tact_run_report report = {.size = sizeof(report), .result = r};
	struct text text = {0};
	int calls = 0;

	EXPECT_REPORT(tact_report_run, &report, &text, "Cycles:             5\n",
		      "CPU:                SKL (Skylake)\n", " 80.0%", "loads 50%", "main (x)\n");

	report.by = TACT_RESULT_BLOCK;
	report.top = 1;
	EXPECT_REPORT(tact_report_run, &report, &text, "add rax, rbx");
	report.by = TACT_RESULT_LINE;
	EXPECT_REPORT(tact_report_run, &report, &text, "No source lines");

	report.by = TACT_RESULT_FUNCTION;
	report.format = TACT_FORMAT_CSV;
	EXPECT_REPORT(tact_report_run, &report, &text,
		      "\nfunction,/bin/x,main,,,,,3,5,4.00,0.800000,1.2500,");
	report.format = TACT_FORMAT_JSON;
	text_reset(&text);
	assert_int_equal(tact_report_run(&report, collect_text, &text), 0);
	assert_memory_equal(text.data, "{\"schema\":\"tact.trace/1\"", 24);

	assert_int_equal(tact_report_run(&report, stop_at_once, &calls), 0);
	assert_int_equal(calls, 1);
	report.by = TACT_RESULT_THREAD;
	assert_int_equal(tact_report_run(&report, collect_text, &text), -TACT_E_INVAL);
	report.by = 0;
	assert_int_equal(tact_report_run(&report, NULL, NULL), -TACT_E_INVAL);
	report.result = NULL;
	assert_int_equal(tact_report_run(&report, collect_text, &text), -TACT_E_INVAL);
	assert_int_equal(tact_report_run(NULL, collect_text, &text), -TACT_E_INVAL);
	text_free(&text);
	tact_result_destroy(r);
}

#define CALL(number, caller, name, cycles, self)                                                   \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"call\",\"number\":" number ",\"caller\":" caller  \
	",\"module\":\"/bin/x\",\"function\":\"" name "\",\"calls\":2,\"instructions\":9,"         \
	"\"cycles\":" cycles ",\"self\":" self "}\n"
#define SLICES                                                                                     \
	"{\"schema\":\"tact.trace/1\",\"kind\":\"slices\",\"thread\":3,\"cycles\":90,\"course\":{" \
	"\"cycles\":[1,90],\"instructions\":[2,200],\"calls\":[1,7]}}\n"

/* main calls a and b, a calls b, which calls a again. */
static const char calls_text[] =
	TOTALS("100") FUNCTION("main", "10") CALL("1", "0", "main", "100", "10")
		CALL("2", "1", "a", "60", "20") CALL("3", "2", "b", "40", "15")
			CALL("4", "3", "a", "25", "25") CALL("5", "1", "b", "30", "30") SLICES;

TEST(test_calls)
{
	struct tact_result *r = read_result(calls_text), *again;
	struct tact_run_report report = {
		.size = sizeof(report), .result = r, .by = TACT_REPORT_TREE};
	struct text text = {0};

	EXPECT_REPORT(tact_report_run, &report, &text,
		      " 100.0%   10.0%       100         2  main (x)\n",
		      "  25.0%   25.0%        25         2        a (x)\n");
	report.by = TACT_REPORT_CALLERS;
	/* What a takes below itself counts once. */
	EXPECT_REPORT(
		tact_report_run, &report, &text,
		"  45.0%   60.0%         4  a (x)\n  20.0%   60.0%         2    from main (x)\n"
		"  25.0%    0.0%         2    from b (x)\n",
		"  45.0%   70.0%         4  b (x)\n");
	report.format = TACT_FORMAT_CSV;
	EXPECT_REPORT(tact_report_run, &report, &text, "\n/bin/x,a,/bin/x,main,2,60.00,20.00\n");
	report.by = TACT_REPORT_TREE;
	EXPECT_REPORT(tact_report_run, &report, &text, "\n3,2,2,/bin/x,b,2,9,40.00,15.00\n");

	/* Stored and read again. */
	report.format = TACT_FORMAT_JSON;
	text_reset(&text);
	assert_int_equal(tact_report_run(&report, collect_text, &text), 0);
	assert_int_equal(tact_result_load_memory(&again, text.data, text.size, NULL), 0);
	assert_int_equal(tact_result_count_calls(again), 5);
	assert_int_equal(again->n_slices, 2);
	assert_int_equal(again->slices[1].instructions, 200);
	assert_int_equal(again->slices[0].call, 0);
	assert_int_equal(again->slices[1].call, RESULT_NO_CALL); /* there is no seventh */
	tact_result_destroy(again);
	tact_result_destroy(r);
	text_free(&text);
}

TEST(test_pages)
{
	struct tact_result *r = read_result(calls_text),
			   *b = read_result(TOTALS("5") BLOCK("<b>", "4"));
	struct tact_page_report report = {.size = sizeof(report), .result = r};
	struct tact_diff_report two = {.size = sizeof(two), .names = {"one", "two"}};
	struct text text = {0};
	struct tact_diff *diff;

	EXPECT_REPORT(tact_report_run_page, &report, &text, "\"calls\":[[0,-1,",
		      "\"slices\":[{\"thread\":3,\"at\":[[1,2,0,0,0,0,0],[90,200,0,0,0,0,-1]]}]");
	report.result = b;
	EXPECT_REPORT(tact_report_run_page, &report, &text, "\"<b>\"", "\"add rax, rbx\"");
	assert_int_equal(tact_diff_create(&diff, r, b, NULL), 0);
	assert_int_equal(tact_report_diff_page(&two, collect_text, &text), -TACT_E_INVAL);
	two.diff = diff;
	EXPECT_REPORT(tact_report_diff_page, &two, &text, "\"sides\":[{\"name\":\"one\"");
	report.result = NULL;
	assert_int_equal(tact_report_run_page(&report, collect_text, &text), -TACT_E_INVAL);
	assert_int_equal(tact_report_run_page(NULL, collect_text, &text), -TACT_E_INVAL);
	assert_int_equal(tact_report_diff_page(NULL, collect_text, &text), -TACT_E_INVAL);
	tact_diff_destroy(diff);
	tact_result_destroy(r);
	tact_result_destroy(b);
	text_free(&text);
}

TEST(test_diff)
{
	struct tact_result *a = read_result(TOTALS("5") FUNCTION("main", "4")),
			   *b = read_result(TOTALS("10") FUNCTION("main", "9"));
	struct tact_diff_report report = {
		.size = sizeof(report), .names = {"old|one", "new"}, .top = 10, .threshold = 1.5};
	struct text text = {0};
	struct tact_diff *diff;

	assert_int_equal(tact_diff_create(&diff, a, b, NULL), 0);
	assert_ptr_equal(tact_diff_side(diff, 0), a);
	assert_ptr_equal(tact_diff_side(diff, 1), b);
	assert_null(tact_diff_side(diff, 2));
	assert_true(tact_diff_ratio(diff) > 1.999 && tact_diff_ratio(diff) < 2.001);
	assert_int_equal(tact_report_diff(&report, collect_text, &text), -TACT_E_INVAL);
	report.diff = diff;
	EXPECT_REPORT(tact_report_diff, &report, &text,
		      "Ratio of cycles, B to A: 2.0000 (+100.00%)\n",
		      "+100.00%             4             9   2.250  main (x)\n");

	report.format = TACT_FORMAT_MARKDOWN;
	EXPECT_REPORT(tact_report_diff, &report, &text, "### Cycles: +100.00% (over the limit)\n",
		      "`old\\|one`");
	report.format = TACT_FORMAT_JSON;
	EXPECT_REPORT(tact_report_diff, &report, &text,
		      "\"ratio\":2.000000,\"cycles\":[5.00,10.00]",
		      "\"threshold\":1.500000,\"over\":true");
	text_free(&text);
	tact_diff_destroy(diff);
	tact_result_destroy(a);
	tact_result_destroy(b);
}

/* ---- commands ---- */

TEST(test_split)
{
	static const char *const bad[] = {"", "  ", "a 'b", "a | b", "a $(b)"};
	struct tact_diag diag = {0};
	char **words;

	assert_int_equal(tact_trace_split(&words, " a 'b c' \"d\\\"e\" f\\ g '' ", &diag), 0);
	assert_string_equal(words[0], "a");
	assert_string_equal(words[1], "b c");
	assert_string_equal(words[2], "d\"e");
	assert_string_equal(words[3], "f g");
	assert_string_equal(words[4], "");
	assert_null(words[5]);
	free(words);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(tact_trace_split(&words, bad[i], &diag), -TACT_E_INVAL);
		assert_null(words);
	}
	assert_int_equal(tact_trace_split(&words, NULL, &diag), -TACT_E_INVAL);
}

RUN_TESTS(NULL, NULL)
