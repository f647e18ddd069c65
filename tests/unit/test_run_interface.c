/* SPDX-License-Identifier: MIT
 *
 * The interface of traced runs (trace, cycles, symbols, result, analysis) as careless callers and
 * those of other versions use it.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "sizes.h"
#include "support.h"

/* A run that was analysed: imul rax, rax; add rbx, 1, a thousand times. */
struct world {
	struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct tact_analysis *analysis;
	struct tact_cycles *cycles;
	struct tact_result *result;
	struct tact_diff *diff;
};
static struct world world;

static struct tact_trace *open_trace(void)
{
	char path[] = "/tmp/tact-interface-XXXXXX";
	static const char code[] = "480fafc04883c301\n";
	const int fd = mkstemp(path);
	struct tact_trace *trace;

	assert_int_equal(write(fd, code, sizeof(code) - 1), sizeof(code) - 1);
	close(fd);
	assert_int_equal(tact_trace_open_text(&trace, path, NULL, 1000, NULL), 0);
	unlink(path);
	return trace;
}

static int set_up(void **state)
{
	struct tact_analysis_options opt = {.size = sizeof(opt), .arch = tact_arch_find("SKL")};
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	struct world *w = &world;
	struct tact_trace *again;

	(void)state;
	w->trace = open_trace();
	assert_int_equal(tact_symbols_create(&w->symbols), 0);
	assert_int_equal(tact_analysis_create(&w->analysis, w->trace, w->symbols, &opt, NULL), 0);
	assert_int_equal(tact_analysis_run(w->analysis, NULL), 0);
	assert_int_equal(tact_analysis_finish(w->analysis, NULL, NULL), 0);
	assert_int_equal(tact_analysis_result(w->analysis, false, &w->result, NULL), 0);
	assert_int_equal(tact_diff_create(&w->diff, w->result, w->result, NULL), 0);
	again = open_trace();
	assert_int_equal(tact_cycles_create(&w->cycles, opt.arch, NULL, NULL), 0);
	while (tact_trace_next(again, &event, NULL) > 0)
		assert_int_equal(tact_cycles_event(w->cycles, &event, NULL), 0);
	assert_int_equal(tact_cycles_finish(w->cycles, NULL), 0);
	tact_trace_close(w->trace);
	w->trace = again;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tact_diff_destroy(world.diff);
	tact_result_destroy(world.result);
	tact_cycles_destroy(world.cycles);
	tact_analysis_destroy(world.analysis);
	tact_symbols_destroy(world.symbols);
	tact_trace_close(world.trace);
	return 0;
}

static const struct tact_trace_block *block_of(const struct world *w)
{
	return tact_trace_get_block(w->trace, 0);
}

/* ---- sizes ---- */

static int get_event(void *out, const void *of)
{
	struct tact_trace *trace = open_trace();
	const int status = tact_trace_next(trace, out, NULL);

	(void)of;
	tact_trace_close(trace);
	return status > 0 ? 0 : status;
}

static int get_module(void *out, const void *of)
{
	const struct world *w = of;

	return tact_trace_get_module(w->trace, block_of(w)->module, out);
}

static int get_trace_summary(void *out, const void *of)
{
	return tact_trace_get_summary(((const struct world *)of)->trace, out);
}

static int get_totals(void *out, const void *of)
{
	return tact_cycles_get_totals(((const struct world *)of)->cycles, out);
}

static int get_block(void *out, const void *of)
{
	return tact_cycles_get_block(((const struct world *)of)->cycles, 0, out);
}

static int get_place(void *out, const void *of)
{
	const struct world *w = of;

	return tact_symbols_find(w->symbols, w->trace, block_of(w), 0, out);
}

static int get_info(void *out, const void *of)
{
	return tact_result_get_info(((const struct world *)of)->result, out);
}

static int get_result_totals(void *out, const void *of)
{
	return tact_result_get_totals(((const struct world *)of)->result, out);
}

static int get_row(void *out, const void *of)
{
	return tact_result_get_row(((const struct world *)of)->result, TACT_RESULT_BLOCK, 0, out);
}

static int get_diff_row(void *out, const void *of)
{
	return tact_diff_get_row(((const struct world *)of)->diff, TACT_RESULT_BLOCK, 0, out);
}

static int get_finished(void *out, const void *of)
{
	/* NULL is allowed there */
	return out ? tact_analysis_finish(((const struct world *)of)->analysis, out, NULL)
		   : -TACT_E_INVAL;
}

TEST(older_and_newer_callers_get_results)
{
	check_sizes(get_event, &world, sizeof(struct tact_trace_event));
	check_sizes(get_module, &world, sizeof(struct tact_trace_module));
	check_sizes(get_trace_summary, &world, sizeof(struct tact_trace_summary));
	check_sizes(get_totals, &world, sizeof(struct tact_cycles_totals));
	check_sizes(get_block, &world, sizeof(struct tact_cycles_block));
	check_sizes(get_place, &world, sizeof(struct tact_place));
	check_sizes(get_info, &world, sizeof(struct tact_result_info));
	check_sizes(get_result_totals, &world, sizeof(struct tact_cycles_totals));
	check_sizes(get_row, &world, sizeof(struct tact_result_row));
	check_sizes(get_diff_row, &world, sizeof(struct tact_diff_row));
	check_sizes(get_finished, &world, sizeof(struct tact_cycles_totals));
}

static int use_cycles(const void *options)
{
	struct tact_cycles *c;
	const int status = tact_cycles_create(&c, tact_arch_find("SKL"), options, NULL);

	assert_true(status == 0 || !c);
	tact_cycles_destroy(c);
	return status;
}

static int use_analysis(const void *options)
{
	struct tact_analysis *a;
	const int status = tact_analysis_create(&a, world.trace, world.symbols, options, NULL);

	assert_true(status == 0 || !a);
	tact_analysis_destroy(a);
	return status;
}

TEST(older_and_newer_callers_give_options)
{
	const struct tact_cycles_options cycles = TACT_CYCLES_OPTIONS_INIT;
	const struct tact_analysis_options analysis = {.size = sizeof(analysis),
						       .arch = tact_arch_find("SKL")};

	check_options(use_cycles, &cycles, sizeof(cycles));
	check_options(use_analysis, &analysis, sizeof(analysis));
}

/* An event of an older caller, whose struct ends before the accesses. */
TEST(older_callers_give_events)
{
	struct tact_trace_event event = {.size = offsetof(struct tact_trace_event, accesses),
					 .kind = TACT_TRACE_EXEC,
					 .block = (struct tact_trace_block *)block_of(&world),
					 .n_accesses = 5};
	struct tact_cycles *c;

	assert_int_equal(tact_cycles_create(&c, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_cycles_event(c, &event, NULL), 0);
	event.size = sizeof(event); /* now they count, and are missing */
	assert_int_equal(tact_cycles_event(c, &event, NULL), -TACT_E_INVAL);
	event.n_accesses = 0;
	event.block = NULL;
	assert_int_equal(tact_cycles_event(c, &event, NULL), -TACT_E_INVAL);
	event.size = 0;
	assert_int_equal(tact_cycles_event(c, &event, NULL), -TACT_E_INVAL);
	tact_cycles_destroy(c);
}

/* ---- pointers that are missing, values out of range ---- */

TEST(traces_without_arguments)
{
	struct tact_trace *t = (struct tact_trace *)&world;
	char name[] = "/bin/true", *argv[] = {name, NULL};

	assert_int_equal(tact_trace_launch(NULL, NULL, argv, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_launch(&t, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_null(t);
	assert_int_equal(tact_trace_open(NULL, "x", NULL), -TACT_E_INVAL);
	t = (struct tact_trace *)&world;
	assert_int_equal(tact_trace_open(&t, NULL, NULL), -TACT_E_INVAL);
	assert_null(t);
	t = (struct tact_trace *)&world;
	assert_int_equal(tact_trace_open(&t, "/nonexistent", NULL), -TACT_E_IO);
	assert_null(t);
	assert_int_equal(tact_trace_open_fd(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_open_text(NULL, "x", NULL, 1, NULL), -TACT_E_INVAL);
	t = (struct tact_trace *)&world;
	assert_int_equal(tact_trace_open_text(&t, NULL, NULL, 1, NULL), -TACT_E_INVAL);
	assert_null(t);
	assert_int_equal(tact_trace_open_text(&t, "x", NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_next(NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_next(world.trace, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_record(NULL, 1, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_record(world.trace, -1, NULL, NULL, NULL), -TACT_E_INVAL);
	tact_trace_stop(NULL);
	tact_trace_stop(world.trace); /* it runs no program */
	assert_int_equal(tact_trace_get_mode(NULL), 0);
	assert_null(tact_trace_get_block(NULL, 0));
	assert_null(tact_trace_get_block(world.trace, 12345));
	assert_int_equal(tact_trace_get_module(NULL, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_get_module(world.trace, 99, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_trace_get_summary(NULL, NULL), -TACT_E_INVAL);
	tact_trace_close(NULL);
}

TEST(cycles_without_arguments)
{
	struct tact_cycles *c = world.cycles;
	struct tact_cycles_options opt = {.size = sizeof(opt), .model = "no such model"};
	double cycles, each[2];
	uint64_t n;

	assert_int_equal(tact_cycles_create(NULL, tact_arch_find("SKL"), NULL, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_cycles_create(&c, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_null(c);
	c = world.cycles;
	assert_int_equal(tact_cycles_create(&c, tact_arch_find("SKL"), &opt, NULL), -TACT_E_INVAL);
	assert_null(c);
	tact_cycles_destroy(NULL);
	assert_int_equal(tact_cycles_event(NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_event(world.cycles, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_finish(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_totals(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_thread(NULL, 0, &cycles, &n), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_thread(world.cycles, 99, &cycles, &n), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_thread(world.cycles, 0, NULL, &n), 0);
	assert_int_equal(n, 2000);
	assert_int_equal(tact_cycles_get_thread(world.cycles, 0, &cycles, NULL), 0);
	assert_true(cycles > 0);
	assert_int_equal(tact_cycles_get_block(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_block(world.cycles, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_insns(NULL, 0, each), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_insns(world.cycles, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_cycles_get_insns(world.cycles, 7, each), -TACT_E_INVAL);
}

TEST(caches_of_any_size)
{
	const struct tact_arch *arch = tact_arch_find("SKL");
	struct tact_cycles_options opt = {.size = sizeof(opt), .caches = true};
	struct tact_cycles *cycles;

	for (unsigned i = 0; i < 3; i++) {
		opt.cache_bytes[i] = UINT64_MAX;
		assert_int_equal(tact_cycles_create(&cycles, arch, &opt, NULL), -TACT_E_INVAL);
		assert_null(cycles);
		opt.cache_bytes[i] = 1;
	}
	assert_int_equal(tact_cycles_create(&cycles, arch, &opt, NULL), 0);
	tact_cycles_destroy(cycles);
}

TEST(symbols_without_arguments)
{
	const struct tact_trace_block *b = block_of(&world);
	struct tact_place place = TACT_PLACE_INIT;
	struct tact_trace_region region;
	const char *file = "before";
	int line = 7;

	assert_int_equal(tact_symbols_create(NULL), -TACT_E_INVAL);
	tact_symbols_destroy(NULL);
	assert_int_equal(tact_symbols_find(NULL, world.trace, b, 0, &place), -TACT_E_INVAL);
	assert_int_equal(tact_symbols_find(world.symbols, NULL, b, 0, &place), -TACT_E_INVAL);
	assert_int_equal(tact_symbols_find(world.symbols, world.trace, NULL, 0, &place),
			 -TACT_E_INVAL);
	assert_false(tact_symbols_line(NULL, world.trace, b, 0, &file, &line));
	assert_false(tact_symbols_line(world.symbols, NULL, b, 0, &file, &line));
	assert_false(tact_symbols_line(world.symbols, world.trace, NULL, 0, &file, &line));
	assert_false(tact_symbols_line(world.symbols, world.trace, b, 0, NULL, &line));
	assert_false(tact_symbols_line(world.symbols, world.trace, b, 0, &file, NULL));
	assert_false(tact_symbols_line(world.symbols, world.trace, b, 0, &file, &line));
	assert_string_equal(file, "before");
	assert_int_equal(line, 7);
	assert_int_equal(tact_symbols_region(NULL, "f", "/bin/sh", NULL, &region, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_symbols_region(world.symbols, NULL, "/bin/sh", NULL, &region, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_symbols_region(world.symbols, "f", NULL, NULL, &region, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_symbols_region(world.symbols, "f", "/bin/sh", NULL, NULL, NULL),
			 -TACT_E_INVAL);
}

TEST(results_without_arguments)
{
	const enum tact_result_kind bad = (enum tact_result_kind)TACT_N_RESULT_KINDS;
	struct tact_result_row row = TACT_RESULT_ROW_INIT;
	struct tact_result *r = world.result;

	assert_int_equal(tact_result_load(NULL, "x", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_result_load(&r, NULL, NULL), -TACT_E_INVAL);
	assert_null(r);
	r = world.result;
	assert_int_equal(tact_result_load(&r, "/nonexistent", NULL), -TACT_E_IO);
	assert_null(r);
	assert_int_equal(tact_result_load_memory(NULL, "", 0, NULL), -TACT_E_INVAL);
	r = world.result;
	assert_int_equal(tact_result_load_memory(&r, NULL, 5, NULL), -TACT_E_INVAL);
	assert_null(r);
	assert_int_equal(tact_result_load_memory(&r, NULL, 0, NULL), -TACT_E_FORMAT);
	tact_result_destroy(NULL);
	assert_int_equal(tact_result_write(NULL, collect_text, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_result_write(world.result, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_result_get_info(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_result_get_totals(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_result_count(NULL, TACT_RESULT_BLOCK), 0);
	assert_int_equal(tact_result_count(world.result, bad), 0);
	assert_int_equal(tact_result_count(world.result, (enum tact_result_kind) - 1), 0);
	assert_int_equal(tact_result_get_row(NULL, TACT_RESULT_BLOCK, 0, &row), -TACT_E_INVAL);
	assert_int_equal(tact_result_get_row(world.result, bad, 0, &row), -TACT_E_INVAL);
	assert_int_equal(tact_result_get_row(world.result, TACT_RESULT_BLOCK, 1, &row),
			 -TACT_E_INVAL);
}

TEST(diffs_without_arguments)
{
	struct tact_diff_row row = TACT_DIFF_ROW_INIT;
	struct tact_diff_insn insn;
	struct tact_diff *d = world.diff;

	assert_int_equal(tact_diff_create(NULL, world.result, world.result, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_diff_create(&d, NULL, world.result, NULL), -TACT_E_INVAL);
	assert_null(d);
	d = world.diff;
	assert_int_equal(tact_diff_create(&d, world.result, NULL, NULL), -TACT_E_INVAL);
	assert_null(d);
	tact_diff_destroy(NULL);
	assert_null(tact_diff_side(NULL, 0));
	assert_null(tact_diff_side(world.diff, 2));
	assert_ptr_equal(tact_diff_side(world.diff, 1), world.result);
	assert_true(tact_diff_ratio(NULL) == 0);
	assert_true(tact_diff_ratio(world.diff) == 1);
	assert_int_equal(tact_diff_count(NULL, TACT_RESULT_BLOCK), 0);
	assert_int_equal(tact_diff_count(world.diff, TACT_RESULT_LINE), 0);
	assert_int_equal(tact_diff_count(world.diff, (enum tact_result_kind)99), 0);
	assert_int_equal(tact_diff_get_row(NULL, TACT_RESULT_BLOCK, 0, &row), -TACT_E_INVAL);
	assert_int_equal(tact_diff_get_row(world.diff, TACT_RESULT_THREAD, 0, &row), -TACT_E_INVAL);
	assert_int_equal(tact_diff_get_row(world.diff, TACT_RESULT_BLOCK, 1, &row), -TACT_E_INVAL);
	assert_int_equal(tact_diff_get_insns(NULL, TACT_NO_ROW, &insn, 1), -TACT_E_INVAL);
	assert_int_equal(tact_diff_get_insns(world.diff, 1, &insn, 1), -TACT_E_INVAL);
	assert_int_equal(tact_diff_get_insns(world.diff, TACT_NO_ROW, NULL, 1), -TACT_E_INVAL);
	assert_int_equal(tact_diff_get_insns(world.diff, TACT_NO_ROW, &insn, 1), 2);
}

TEST(analyses_without_arguments)
{
	struct tact_analysis_options opt = {.size = sizeof(opt), .arch = tact_arch_find("SKL")};
	const struct tact_window_uop *uops;
	struct tact_analysis *a = world.analysis;
	struct tact_result *r = world.result;
	bool is_cut;

	assert_int_equal(tact_analysis_create(NULL, world.trace, world.symbols, &opt, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_analysis_create(&a, NULL, world.symbols, &opt, NULL), -TACT_E_INVAL);
	assert_null(a);
	assert_int_equal(tact_analysis_create(&a, world.trace, NULL, &opt, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_create(&a, world.trace, world.symbols, NULL, NULL),
			 -TACT_E_INVAL); /* there is no default architecture */
	opt.parts = 8;
	assert_int_equal(tact_analysis_create(&a, world.trace, world.symbols, &opt, NULL),
			 -TACT_E_INVAL);
	tact_analysis_destroy(NULL);
	assert_int_equal(tact_analysis_run(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_finish(NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_result(NULL, false, &r, NULL), -TACT_E_INVAL);
	assert_null(r);
	assert_int_equal(tact_analysis_result(world.analysis, false, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_keep_window(NULL, 0, 1, 2), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_perfetto(NULL, collect_text, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_window(NULL, &uops, &is_cut), -TACT_E_INVAL);
	assert_int_equal(tact_analysis_window(world.analysis, NULL, &is_cut), -TACT_E_INVAL);
}

RUN_TESTS(set_up, tear_down)
