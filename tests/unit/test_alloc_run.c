/* SPDX-License-Identifier: MIT
 *
 * Every allocation may fail while a run is traced, analysed, stored, loaded and compared, and the
 * status says so.  See failing.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <jansson.h>

#include "failing.h"
#include "support.h"
#include "trace/trace.h"

static bool is_exhausted; /* nothing is left for jansson */

/* jansson's own allocations.  It ignores one that fails in the middle of a string, so all later
 * ones fail as well, as they would in reality.
 */
static void *allocate_for_json(size_t size)
{
	is_exhausted |= must_fail();
	return is_exhausted ? NULL : __real_malloc(size);
}

/* ---- a run ---- */

static char path[] = "/tmp/tact-alloc-XXXXXX";

static int set_up(void **state)
{
	static const char code[] = "480fafc04883c301\n4801d8\n";
	const int fd = mkstemp(path);

	(void)state;
	if (write(fd, code, sizeof(code) - 1) != sizeof(code) - 1)
		return -1;
	close(fd);
	/* The library's own allocations are wrapped by the linker, jansson's are not. */
	json_set_alloc_funcs(allocate_for_json, free);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

struct run {
	struct tact_analysis_options opt;
	struct text *stored; /* NULL: do not store it */
};

static int analyse(void *arg)
{
	const struct run *run = arg;
	struct tact_analysis *analysis = NULL;
	struct tact_symbols *symbols = NULL;
	struct tact_result *result = NULL;
	struct tact_trace *trace = NULL;
	int status, n = 0;

	status = tact_trace_open_text(&trace, path, NULL, 100, NULL);
	if (status)
		assert_null(trace);
	if (!status)
		status = tact_symbols_create(&symbols);
	if (!status)
		status = tact_analysis_create(&analysis, trace, symbols, &run->opt, NULL);
	if (!status)
		status = tact_analysis_keep_samples(analysis);
	if (!status && !run->opt.exact)
		status = tact_analysis_keep_views(analysis);
	if (!status && run->opt.exact)
		status = tact_analysis_keep_window(analysis, TACT_TRACE_FIRST_THREAD, 10, 1000);
	if (!status)
		status = tact_analysis_run(analysis, NULL);
	if (!status)
		status = tact_analysis_finish(analysis, NULL, NULL);
	if (!status && run->opt.exact) {
		const struct tact_window_uop *uops;
		bool is_cut;
		const long found = tact_analysis_window(analysis, &uops, &is_cut);

		assert_true(found != 0);
		status = found < 0 ? (int)found : 0;
	}
	if (!status)
		status = tact_analysis_perfetto(analysis, stop_at_once, &n);
	if (!status)
		status = tact_analysis_result(analysis, false, &result, NULL);
	if (status)
		assert_null(result);
	if (!status && run->stored)
		status = tact_result_write(result, collect_text, run->stored);
	if (!status) {
		const struct tact_page_report report = {
			.size = sizeof(report), .result = result, .analysis = analysis};

		status = tact_report_run_page(&report, stop_at_once, &n);
	}
	tact_result_destroy(result);
	tact_analysis_destroy(analysis);
	tact_symbols_destroy(symbols);
	tact_trace_close(trace);
	return status;
}

TEST(analyses_may_fail)
{
	struct run run = {.opt = {.size = sizeof(run.opt), .arch = tact_arch_find("SKL")}};

	assert_true(try_failures(analyse, &run) > 20);
	run.opt.caches = run.opt.branches = run.opt.exact = true;
	run.opt.parts = TACT_RESULT_WITH_INSNS | TACT_RESULT_WITH_LINES | TACT_RESULT_WITH_CALLS;
	assert_true(try_failures(analyse, &run) > 20);
}

static int read_all(struct tact_trace *trace)
{
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	int status;

	while ((status = tact_trace_next(trace, &event, NULL)) > 0)
		;
	return status;
}

/* Records the text to `arg`, a descriptor, and reads the recording. */
static int record(void *arg)
{
	const int fd = *(const int *)arg;
	struct tact_trace *text, *recording = NULL;
	int status = tact_trace_open_text(&text, path, NULL, 10, NULL);

	if (!status && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)))
		status = -TACT_E_IO;
	if (!status)
		status = tact_trace_record(text, fd, NULL, NULL, NULL);
	tact_trace_close(text);
	if (!status && lseek(fd, 0, SEEK_SET))
		status = -TACT_E_IO;
	if (!status) {
		const int own = dup(fd);

		status = tact_trace_open_fd(&recording, own, NULL);
		if (status) {
			assert_null(recording);
			close(own);
		}
	}
	if (!status)
		status = read_all(recording);
	tact_trace_close(recording);
	return status;
}

TEST(recordings_may_fail)
{
	char file[] = "/tmp/tact-alloc-XXXXXX";
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	unlink(file);
	assert_true(try_failures(record, &fd) > 10);
	close(fd);
}

/* Code of this very program. */
static int find_code(void *arg)
{
	struct tact_trace_region region;
	struct tact_symbols *symbols;
	int status = tact_symbols_create(&symbols);

	if (!status)
		status = tact_symbols_region(symbols, arg, "/proc/self/exe", NULL, &region, NULL);
	tact_symbols_destroy(symbols);
	return status;
}

static int find_program(void *arg)
{
	char *argv[] = {arg, (char *)"-c", NULL};
	struct trace_command command;
	const int status =
		trace_command_resolve(&command, "/nonexistent:/bin:/usr/bin", NULL, argv, NULL);

	if (!status)
		trace_command_fini(&command);
	return status;
}

TEST(programs_may_fail)
{
	assert_true(try_failures(find_program, (void *)"sh") > 3);
}

TEST(symbols_may_fail)
{
	assert_true(try_failures(find_code, (void *)"main") > 5);
	assert_true(try_failures(find_code, (void *)"memory:10-20") > 0);
}

/* ---- results ---- */

static int load(void *arg)
{
	const struct text *text = arg;
	struct tact_result *result;
	int status;

	is_exhausted = false;
	status = tact_result_load_memory(&result, text->data, text->size, NULL);

	if (status)
		assert_null(result);
	tact_result_destroy(result);
	return status;
}

static int load_file(void *arg)
{
	struct tact_result *result;
	int status;

	is_exhausted = false;
	status = tact_result_load(&result, arg, NULL);
	if (status)
		assert_null(result);
	tact_result_destroy(result);
	return status;
}

static int compare(void *arg)
{
	struct tact_diff *diff;
	struct tact_diff_insn insns[4];
	long status = tact_diff_create(&diff, arg, arg, NULL);

	if (status)
		assert_null(diff);
	else
		status = tact_diff_get_insns(diff, TACT_NO_ROW, insns, ARRAY_SIZE(insns));
	tact_diff_destroy(diff);
	return status < 0 ? (int)status : 0;
}

static int store(void *arg)
{
	int n = 0;

	return tact_result_write(arg, stop_at_once, &n);
}

TEST(results_may_fail)
{
	struct text text = {0};
	struct run run = {.opt = {.size = sizeof(run.opt),
				  .arch = tact_arch_find("SKL"),
				  .parts = TACT_RESULT_WITH_INSNS | TACT_RESULT_WITH_CALLS},
			  .stored = &text};
	struct tact_result *result;
	char file[] = "/tmp/tact-alloc-XXXXXX";
	const int fd = mkstemp(file);

	assert_int_equal(analyse(&run), 0);
	assert_int_equal(write(fd, text.data, text.size), text.size);
	close(fd);
	assert_true(try_failures(load, &text) > 20);
	assert_true(try_failures(load_file, file) > 20);
	unlink(file);
	is_exhausted = false;
	assert_int_equal(tact_result_load_memory(&result, text.data, text.size, NULL), 0);
	assert_true(try_failures(compare, result) > 5);
	assert_true(try_failures(store, result) > 0);
	tact_result_destroy(result);
	text_free(&text);
}

RUN_TESTS(set_up, tear_down)
