/* SPDX-License-Identifier: MIT
 *
 * A run from its events to its result, its samples and its window; and what a run is of.
 */
#include <math.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "obj/obj.h"
#include "support.h"

#include <tact-program/program.h>

/* imul rax, rax; add rbx, 1 */
static const char code[] = "480fafc04883c301\n";

struct world {
	struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct tact_analysis *analysis;
};

static void open_world(struct world *w, uint64_t iterations,
		       const struct tact_analysis_options *opt)
{
	char path[] = "/tmp/tact-analysis-XXXXXX";
	const struct tact_text_run how = {.iterations = iterations};
	struct tact_diag diag = {0};
	int fd = mkstemp(path);

	assert_int_equal(write(fd, code, sizeof(code) - 1), sizeof(code) - 1);
	close(fd);
	if (tact_trace_open_any(&w->trace, path, &how, &diag))
		fail_msg("%s", diag.text);
	unlink(path);
	assert_int_equal(tact_symbols_create(&w->symbols), 0);
	if (tact_analysis_create(&w->analysis, w->trace, w->symbols, opt, &diag))
		fail_msg("%s", diag.text);
}

static void close_world(struct world *w)
{
	tact_analysis_destroy(w->analysis);
	tact_symbols_destroy(w->symbols);
	tact_trace_close(w->trace);
}

static void count_progress(void *arg, const struct tact_cycles *cycles)
{
	assert_non_null(cycles);
	++*(int *)arg;
}

/* A run reads ahead in a thread of its own, in batches; the result is that of one event after the
 * other.
 */
TEST(ahead_or_not)
{
	const struct tact_analysis_options opt = {.size = sizeof(opt),
						  .arch = tact_arch_find("SKL"),
						  .caches = true,
						  .branches = true};
	const struct tact_cycles_options same = {
		.size = sizeof(same), .caches = true, .branches = true};
	static const uint64_t lengths[] = {1, 1023, 1024, 1025, 100000};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct tact_cycles_totals ahead = TACT_CYCLES_TOTALS_INIT,
					  one = TACT_CYCLES_TOTALS_INIT;
		struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
		struct tact_cycles *cycles;
		struct tact_diag diag = {0};
		struct world w;
		int status;

		open_world(&w, lengths[i], &opt);
		assert_int_equal(tact_analysis_run(w.analysis, &diag), 0);
		assert_int_equal(tact_analysis_run(w.analysis, &diag), 0); /* it has ended */
		assert_int_equal(tact_analysis_finish(w.analysis, &ahead, &diag), 0);
		close_world(&w);
		open_world(&w, lengths[i], &opt);
		assert_int_equal(tact_cycles_create(&cycles, opt.arch, &same, &diag), 0);
		while ((status = tact_trace_next(w.trace, &event, &diag)) > 0)
			assert_int_equal(tact_cycles_event(cycles, &event, &diag), 0);
		assert_int_equal(status, 0);
		assert_int_equal(tact_cycles_finish(cycles, &diag), 0);
		assert_int_equal(tact_cycles_get_totals(cycles, &one), 0);
		tact_cycles_destroy(cycles);
		close_world(&w);
		assert_int_equal(ahead.instructions, 2 * lengths[i]);
		assert_memory_equal(&ahead, &one, sizeof(one));
	}
}

TEST(test_result)
{
	int seen = 0;
	const struct tact_analysis_options opt = {
		.size = sizeof(opt),
		.arch = tact_arch_find("SKL"),
		.parts = TACT_RESULT_WITH_INSNS,
		.command = "a test",
		.on_progress = count_progress,
		.arg = &seen,
	};
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;
	struct tact_result_info info = TACT_RESULT_INFO_INIT;
	struct tact_result_row row = TACT_RESULT_ROW_INIT;
	struct tact_result *result, *again;
	struct text text = {0};
	struct tact_diag diag = {0};
	struct world w;

	open_world(&w, 100000, &opt);
	assert_int_equal(tact_analysis_run(w.analysis, &diag), 0);
	assert_int_equal(tact_analysis_finish(w.analysis, &totals, &diag), 0);
	assert_int_equal(totals.instructions, 200000);
	assert_true(fabs(totals.cycles / 300000 - 1) < 0.02);
	assert_true(seen > 0);
	assert_int_equal(tact_analysis_result(w.analysis, true, &result, &diag), 0);
	assert_int_equal(tact_result_get_info(result, &info), 0);
	assert_string_equal(info.command, "a test");
	assert_true(info.is_partial);
	assert_int_equal(tact_result_count(result, TACT_RESULT_THREAD), 1);
	assert_int_equal(tact_result_get_row(result, TACT_RESULT_THREAD, 0, &row), 0);
	assert_int_equal(row.process, 1);
	close_world(&w); /* the result stays */

	/* What is written is what is read. */
	assert_int_equal(tact_result_write(result, collect_text, &text), 0);
	assert_int_equal(tact_result_load_memory(&again, text.data, text.size, &diag), 0);
	assert_int_equal(tact_result_get_totals(again, &totals), 0);
	assert_int_equal(totals.instructions, 200000);
	assert_int_equal(tact_result_get_info(again, &info), 0);
	assert_true(info.is_partial);
	for (int kind = 0; kind < TACT_N_RESULT_KINDS; kind++)
		assert_int_equal(tact_result_count(result, (enum tact_result_kind)kind),
				 tact_result_count(again, (enum tact_result_kind)kind));
	assert_int_equal(tact_result_count(again, TACT_RESULT_BLOCK), 1);
	assert_int_equal(tact_result_get_row(again, TACT_RESULT_BLOCK, 0, &row), 0);
	assert_int_equal(row.code_size, 8);
	assert_int_equal(tact_result_get_row(result, TACT_RESULT_BLOCK, 0, &row), 0);
	assert_int_equal(row.n_insns, 2);
	seen = 0;
	assert_int_equal(tact_result_write(result, stop_at_once, &seen), 0);
	assert_int_equal(seen, 1);
	assert_int_equal(tact_result_write(NULL, collect_text, &text), -TACT_E_INVAL);
	assert_int_equal(tact_result_write(result, NULL, NULL), -TACT_E_INVAL);
	text_free(&text);
	tact_result_destroy(result);
	tact_result_destroy(again);
}

TEST(test_samples)
{
	const struct tact_analysis_options opt = {.size = sizeof(opt),
						  .arch = tact_arch_find("SKL")};
	struct text text = {0};
	struct world w;
	size_t events = 0;

	/* More samples than there is room for: their distance grows. */
	open_world(&w, 1000000, &opt);
	assert_int_equal(tact_analysis_keep_samples(w.analysis), 0);
	assert_int_equal(tact_analysis_keep_samples(w.analysis), 0); /* once is enough */
	assert_int_equal(tact_analysis_keep_samples(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_run(w.analysis, NULL), 0);
	assert_int_equal(tact_analysis_finish(w.analysis, NULL, NULL), 0);
	assert_int_equal(tact_analysis_perfetto(w.analysis, collect_text, &text), 0);
	assert_non_null(text_string(&text));
	assert_memory_equal(text.data, "{\"displayTimeUnit\":\"ms\"", 23);
	assert_non_null(strstr(text.data, "{\"ph\":\"M\",\"name\":\"thread_name\""));
	assert_non_null(strstr(text.data, "{\"ph\":\"X\",\"name\":\"[tact-analysis-"));
	assert_string_equal(text.data + text.size - 4, "\n]}\n");
	for (const char *p = text.data; (p = strstr(p, "\"ph\":\"C\"")); p++)
		events++;
	assert_true(events > 1000 && events < 4096);
	text_free(&text);
	close_world(&w);
}

TEST(test_window)
{
	const struct tact_analysis_options opt = {
		.size = sizeof(opt), .arch = tact_arch_find("SKL"), .exact = true};
	const struct tact_window_uop *uops;
	struct tact_window_report report = {.size = sizeof(report),
					    .thread = TACT_TRACE_FIRST_THREAD,
					    .first = 100,
					    .last = 120};
	struct text text = {0};
	struct world w;
	size_t begins = 0, texts = 0;
	bool is_cut;
	long n;

	open_world(&w, 1000, &opt);
	assert_int_equal(tact_analysis_keep_window(w.analysis, TACT_TRACE_FIRST_THREAD, 100, 120),
			 0);
	assert_int_equal(tact_analysis_keep_window(w.analysis, TACT_TRACE_FIRST_THREAD, 1, 2),
			 -TACT_E_INVAL); /* there is one already */
	assert_int_equal(tact_analysis_run(w.analysis, NULL), 0);
	assert_int_equal(tact_analysis_finish(w.analysis, NULL, NULL), 0);
	n = tact_analysis_window(w.analysis, &uops, &is_cut);
	assert_true(n > 10);
	assert_false(is_cut);
	for (long i = 0; i < n; i++) {
		assert_true(uops[i].uop.retired >= 100);
		begins += uops[i].begins;
		texts += uops[i].text[0] != '\0';
		if (uops[i].begins)
			assert_memory_equal(uops[i].function, "[tact-analysis-", 15);
	}
	assert_true(begins > 5);
	assert_true(texts > begins);
	assert_true(strstr(uops[0].text, "imul") || strstr(uops[0].text, "add"));
	report.analysis = w.analysis;
	assert_int_equal(tact_report_window(&report, collect_text, &text), 0);
	assert_true(text_has(&text, "\nTimeline of cycles 100 to 120\n\n"));
	assert_true(text_has(&text, "\n  imul rax, rax                      p1 "));
	assert_int_equal(tact_report_window(NULL, collect_text, &text), -TACT_E_INVAL);
	text_free(&text);
	/* There were no samples. */
	assert_int_equal(tact_analysis_perfetto(w.analysis, collect_text, &text), -TACT_E_INVAL);
	close_world(&w);
}

TEST(test_no_window)
{
	struct tact_analysis_options opt = {.size = sizeof(opt), .arch = tact_arch_find("SKL")};
	const struct tact_window_uop *uops;
	struct tact_analysis *a;
	struct tact_diag diag = {0};
	struct world w;
	bool is_cut;

	open_world(&w, 1, &opt);
	assert_int_equal(tact_analysis_window(w.analysis, &uops, &is_cut), 0);
	/* Not every uop goes through the pipeline. */
	assert_int_equal(tact_analysis_keep_window(w.analysis, 0, 4, 5), -TACT_E_INVAL);
	opt.exact = true;
	assert_int_equal(tact_analysis_create(&a, w.trace, w.symbols, &opt, &diag), 0);
	assert_int_equal(tact_analysis_keep_window(a, 0, 5, 4), -TACT_E_INVAL);
	tact_analysis_destroy(a);
	opt.parts = 1u << 31;
	assert_int_equal(tact_analysis_create(&a, w.trace, w.symbols, &opt, &diag), -TACT_E_INVAL);
	assert_null(a);
	opt.parts = 0;
	opt.arch = NULL;
	assert_int_equal(tact_analysis_create(&a, w.trace, w.symbols, &opt, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_create(&a, NULL, w.symbols, &opt, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_create(&a, w.trace, NULL, &opt, &diag), -TACT_E_INVAL);
	tact_analysis_destroy(NULL);
	close_world(&w);
}

TEST(test_files)
{
	char path[] = "/tmp/tact-analysis-XXXXXX";
	struct tact_diag diag = {0};
	const struct tact_text_run how = {.iterations = 1};
	struct tact_trace *trace;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, "{\"schema\"", 9), 9);
	close(fd);
	assert_int_equal(tact_trace_open_any(&trace, path, &how, &diag), -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "a result, not a trace"));
	unlink(path);
	assert_int_equal(tact_trace_open_any(&trace, path, &how, &diag), -TACT_E_IO);
	assert_int_equal(tact_trace_open_any(&trace, NULL, &how, &diag), -TACT_E_INVAL);
	assert_null(trace);
}

/* Code of this very program. */
TEST(test_choice)
{
	const struct tact_chosen good[] = {{"main", false}, {"exit_group_is_nowhere", true}};
	struct tact_trace_options opt = {.size = sizeof(opt)};
	struct tact_symbols *symbols;
	struct tact_choice *choice;
	struct tact_diag diag = {0};
	const char *wrong, *self = "/proc/self/exe";

	assert_int_equal(tact_symbols_create(&symbols), 0);
	assert_int_equal(tact_choice_create(&choice, symbols, self, NULL, good, 1, "main",
					    "test_choice", &wrong, &diag),
			 0);
	assert_null(wrong);
	tact_choice_apply(choice, &opt);
	assert_int_equal(opt.n_regions, 1);
	assert_false(opt.regions[0].is_excluded);
	assert_int_equal(opt.from->begin, opt.regions[0].begin);
	assert_true(opt.until->begin != opt.from->begin);
	tact_choice_destroy(choice);

	assert_int_equal(tact_choice_create(&choice, symbols, self, NULL, good, 2, NULL, NULL,
					    &wrong, &diag),
			 -TACT_E_INVAL);
	assert_ptr_equal(wrong, good[1].text);
	assert_null(choice);
	assert_int_equal(tact_choice_create(&choice, symbols, self, NULL, good, 1, NULL,
					    "nowhere_else", &wrong, &diag),
			 -TACT_E_INVAL);
	assert_string_equal(wrong, "nowhere_else");
	assert_int_equal(
		tact_choice_create(&choice, symbols, NULL, NULL, NULL, 0, NULL, NULL, NULL, &diag),
		-TACT_E_INVAL);

	/* Nothing is chosen: everything. */
	assert_int_equal(
		tact_choice_create(&choice, symbols, self, NULL, NULL, 0, NULL, NULL, NULL, &diag),
		0);
	tact_choice_apply(choice, &opt);
	assert_int_equal(opt.n_regions, 0);
	assert_null(opt.from);
	tact_choice_destroy(choice);
	tact_choice_destroy(NULL);
	tact_symbols_destroy(symbols);
}

RUN_TESTS(NULL, NULL)
