/* SPDX-License-Identifier: MIT
 *
 * Cycles of exact counts, and two tables side by side: the code is that of this very program.
 */
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "mix/mix.h"
#include "own_code.h"
#include "support.h"

/* A loop of two blocks, one of one block, and a block without a loop. */
__asm__(".text\n"
	".globl costs_way, costs_back, costs_self, costs_plain, costs_end\n"
	".type costs_way, @function\n"
	".p2align 6\n" /* no pair lies across 32 bytes, which Skylake decodes again */
	"costs_way:\n"
	"	imul %rax, %rax\n"
	"	test %rcx, %rcx\n"
	"	jz costs_plain\n"
	"costs_back:\n"
	"	dec %rdx\n"
	"	jnz costs_way\n"
	"costs_self:\n"
	"	imul %rax, %rax\n"
	"	imul %rax, %rax\n"
	"	dec %rdx\n"
	"	jnz costs_self\n"
	"costs_plain:\n"
	"	add $1, %rbx\n"
	"	ret\n"
	"costs_end:\n"
	".size costs_way, . - costs_way\n");
extern const char costs_way[], costs_back[], costs_self[], costs_plain[], costs_end[];

static void put_code(FILE *file, const char *begin, const char *end, unsigned times)
{
	if (times)
		fprintf(file, "code %" PRIx64 " %x %u\n", offset_in_file(begin),
			(unsigned)(end - begin), times);
}

/* How often each of the four ran. */
static struct tact_mix *make(const unsigned times[4])
{
	char path[] = "/tmp/tact-costs-XXXXXX", self[3000];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct tact_diag diag = {0};
	struct tact_mix *mix;
	FILE *file;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && n > 0);
	self[n] = '\0';
	file = fdopen(fd, "w");
	fprintf(file, "#tact.mix.counts/1\nmodule - %s\n", self);
	put_code(file, costs_way, costs_back, times[0]);
	put_code(file, costs_back, costs_self, times[1]);
	put_code(file, costs_self, costs_plain, times[2]);
	put_code(file, costs_plain, costs_end, times[3]);
	fclose(file);
	if (tact_mix_open(&mix, path, NULL, &diag) < 0)
		fail_msg("%s", diag.text);
	unlink(path);
	return mix;
}

TEST(test_costs)
{
	static const unsigned times[4] = {1000, 900, 5000, 10};
	struct tact_mix *mix = make(times);
	struct tact_mix_costs_totals t = TACT_MIX_COSTS_TOTALS_INIT;
	struct tact_mix_costs *costs;
	struct tact_mix_cost c = TACT_MIX_COST_INIT;
	double sum = 0, by_bound = 0;

	assert_int_equal(tact_mix_costs_create(&costs, mix, tact_arch_find("SKL"), "facile", NULL),
			 0);
	assert_int_equal(tact_mix_costs_count(costs), 3);
	tact_mix_costs_get_totals(costs, &t);
	assert_int_equal(t.failed, 0);

	/* Two multiplications in sequence: the latency of both. */
	assert_int_equal(tact_mix_costs_get_row(costs, 0, &c), 0);
	assert_true(c.is_loop);
	assert_int_equal(c.n_blocks, 1);
	assert_true(fabs(c.cycles - 6) < 1e-9);
	assert_true(fabs(c.total - 6 * 5000) < 1e-6);
	assert_int_equal(c.bottlenecks, 1u << TACT_BOUND_PRECEDENCE);
	assert_true(c.gain > 0 && c.gain < c.total);
	sum += c.total;

	/* Two blocks, one loop: five instructions, executions in between. */
	assert_int_equal(tact_mix_costs_get_row(costs, 1, &c), 0);
	assert_true(c.is_loop);
	assert_int_equal(c.n_blocks, 2);
	assert_int_equal(c.length, 5);
	assert_true(fabs(c.executions - (3 * 1000 + 2 * 900) / 5.0) < 1e-6);
	assert_true(fabs(c.cycles - 3) < 1e-9);
	sum += c.total;

	assert_int_equal(tact_mix_costs_get_row(costs, 2, &c), 0);
	assert_false(c.is_loop);
	assert_int_equal(c.length, 2);
	sum += c.total;
	assert_int_equal(tact_mix_costs_get_row(costs, 3, &c), -TACT_E_INVAL);

	assert_true(fabs(sum - t.cycles) < 1e-6);
	for (int i = 0; i < TACT_N_BOUNDS; i++)
		by_bound += t.by_bound[i];
	assert_true(fabs(by_bound - t.cycles) < 1e-6);
	tact_mix_costs_destroy(costs);
	tact_mix_close(mix);
}

/* A block that runs much less than the first is not on the usual way round. */
TEST(test_rare_way)
{
	struct tact_mix *mix = make((const unsigned[]){1000, 400, 0, 0});
	struct tact_mix_costs *costs;

	assert_int_equal(tact_mix_costs_create(&costs, mix, tact_arch_find("SKL"), "facile", NULL),
			 0);
	assert_int_equal(tact_mix_costs_count(costs), 2);
	for (size_t i = 0; i < 2; i++) {
		struct tact_mix_cost c = TACT_MIX_COST_INIT;

		assert_int_equal(tact_mix_costs_get_row(costs, i, &c), 0);
		assert_int_equal(c.n_blocks, 1);
	}
	tact_mix_costs_destroy(costs);
	tact_mix_close(mix);
}

TEST(test_bad_costs)
{
	static const unsigned times[4] = {0, 0, 0, 1};
	struct tact_mix *mix = make(times);
	struct tact_mix_costs *costs;
	struct tact_diag diag = {0};

	assert_int_equal(tact_mix_costs_create(&costs, NULL, tact_arch_find("SKL"), NULL, &diag),
			 -TACT_E_INVAL);
	assert_null(costs);
	assert_int_equal(tact_mix_costs_create(&costs, mix, NULL, NULL, &diag), -TACT_E_INVAL);
	assert_true(diag.text[0] != '\0');
	assert_int_equal(tact_mix_costs_create(&costs, mix, tact_arch_find("SKL"), "none", &diag),
			 -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "'none' is not one of"));
	tact_mix_costs_destroy(NULL);
	tact_mix_close(mix);
}

/* Blocks in the order of an execution: a block waits for those before it. */
TEST(test_walk)
{
	static const unsigned times[4] = {1000, 1000, 5000, 10};
	struct tact_mix *mix = make(times);
	struct tact_mix_costs_totals t = TACT_MIX_COSTS_TOTALS_INIT;
	struct tact_mix_costs *costs;
	struct tact_mix_cost c = TACT_MIX_COST_INIT;
	double all = 0;

	assert_int_equal(tact_mix_costs_create(&costs, mix, tact_arch_find("SKL"), NULL, NULL), 0);
	tact_mix_costs_get_totals(costs, &t);
	assert_true(t.is_walked);
	/* Two multiplications, which wait for each other. */
	assert_int_equal(tact_mix_costs_get_row(costs, 0, &c), 0);
	assert_true(c.is_loop);
	assert_true(fabs(c.cycles - 6) < 0.1);
	assert_int_equal(c.bottlenecks, 1u << TACT_BOUND_PRECEDENCE);
	assert_true(c.gain > 0 && c.gain < c.total);
	/* One multiplication on the way round. */
	assert_int_equal(tact_mix_costs_get_row(costs, 1, &c), 0);
	assert_int_equal(c.n_blocks, 2);
	assert_true(fabs(c.cycles - 3) < 0.2);
	for (unsigned i = 0; i < TACT_MAX_BOUNDS; i++)
		all += t.by_bound[i];
	for (unsigned i = 0; i < TACT_MAX_STALLS; i++)
		all += t.by_stall[i];
	assert_true(fabs(all - t.cycles) < 1e-6 * t.cycles);
	tact_mix_costs_destroy(costs);
	tact_mix_close(mix);
}

/* Any model of the registry will do. */
TEST(test_models)
{
	static const unsigned times[4] = {0, 0, 100, 0};
	static const char *const names[] = {"facile", "sim", "mca"};
	const struct tact_arch *arch = tact_arch_find("SKL");
	struct tact_mix *mix = make(times);
	struct tact_mix_costs *costs;
	struct tact_mix_cost c = TACT_MIX_COST_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(tact_mix_costs_create(&costs, mix, arch, names[i], NULL), 0);
		assert_int_equal(tact_mix_costs_get_row(costs, 0, &c), 0);
		assert_true(fabs(c.cycles - 6) < 0.05);
		assert_true(c.gain >= 0);
		tact_mix_costs_destroy(costs);
	}
	tact_mix_close(mix);
}

static struct tact_mix_pivot *pivot_of(struct tact_mix *mix, size_t n_keys, const char *pattern)
{
	const struct tact_mix_filter filter = {TACT_MIX_BY_MNEMONIC, pattern, false};
	const struct tact_mix_pivot_options o = {
		.size = sizeof(o),
		.keys = {TACT_MIX_BY_MNEMONIC, TACT_MIX_BY_BLOCK},
		.n_keys = n_keys,
		.filters = &filter,
		.n_filters = pattern ? 1 : 0,
	};
	struct tact_mix_pivot *pivot;

	assert_int_equal(tact_mix_pivot_create(&pivot, mix, &o, NULL), 0);
	return pivot;
}

static void check_row(const struct tact_mix_diff *diff, size_t i, const char *key, double first,
		      double second)
{
	struct tact_mix_diff_row row = TACT_MIX_DIFF_ROW_INIT;

	assert_int_equal(tact_mix_diff_get_row(diff, i, &row), 0);
	assert_string_equal(row.key[0], key);
	assert_true(fabs(row.executions[0] - first) < 1e-6);
	assert_true(fabs(row.executions[1] - second) < 1e-6);
}

TEST(test_diff)
{
	static const unsigned before[4] = {0, 0, 100, 0}, after[4] = {0, 0, 300, 50};
	struct tact_mix *mix[2] = {make(before), make(after)};
	struct tact_mix_pivot *pivot[2] = {pivot_of(mix[0], 1, NULL), pivot_of(mix[1], 1, NULL)};
	struct tact_mix_diff_totals t = TACT_MIX_DIFF_TOTALS_INIT;
	struct tact_mix_diff_row row = TACT_MIX_DIFF_ROW_INIT;
	struct tact_mix_diff *diff;

	/* imul 200, dec 100, jnz 100; then imul 600, dec 300, jnz 300, add 50, ret 50. */
	assert_int_equal(tact_mix_diff_create(&diff, pivot[0], pivot[1], false, NULL), 0);
	assert_int_equal(tact_mix_diff_count(diff), 5);
	tact_mix_diff_get_totals(diff, &t);
	assert_true(fabs(t.executions[0] - 400) < 1e-6);
	assert_true(fabs(t.executions[1] - 1300) < 1e-6);
	assert_true(fabs(t.error - 2) < 1e-9);
	check_row(diff, 0, "imul", 200, 600);
	check_row(diff, 1, "dec", 100, 300);
	check_row(diff, 3, "add", 0, 50);
	check_row(diff, 4, "ret", 0, 50);
	assert_int_equal(tact_mix_diff_get_row(diff, 5, &row), -TACT_E_INVAL);
	tact_mix_diff_destroy(diff);

	assert_int_equal(tact_mix_diff_create(&diff, pivot[0], pivot[1], true, NULL), 0);
	check_row(diff, 3, "dec", 100, 300 * 400.0 / 1300);
	tact_mix_diff_destroy(diff);
	for (int i = 0; i < 2; i++) {
		tact_mix_pivot_destroy(pivot[i]);
		tact_mix_close(mix[i]);
	}
}

TEST(test_bad_diff)
{
	static const unsigned times[4] = {0, 0, 0, 10};
	struct tact_mix *mix = make(times);
	struct tact_mix_pivot *all = pivot_of(mix, 1, NULL), *none = pivot_of(mix, 1, "nothing*"),
			      *two_keys = pivot_of(mix, 2, NULL);
	struct tact_diag diag = {0};
	struct tact_mix_diff *diff;

	assert_int_equal(tact_mix_diff_create(&diff, NULL, all, true, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mix_diff_create(&diff, all, NULL, true, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mix_diff_create(&diff, none, all, true, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mix_diff_create(&diff, all, two_keys, true, &diag), -TACT_E_INVAL);
	assert_null(diff);
	/* Nothing in the second one: all of the first is gone. */
	assert_int_equal(tact_mix_diff_create(&diff, all, none, true, &diag), 0);
	assert_int_equal(tact_mix_diff_count(diff), 2);
	check_row(diff, 0, "add", 10, 0);
	tact_mix_diff_destroy(diff);
	tact_mix_diff_destroy(NULL);
	tact_mix_pivot_destroy(all);
	tact_mix_pivot_destroy(none);
	tact_mix_pivot_destroy(two_keys);
	tact_mix_close(mix);
}

/* ---- several profiles ---- */

static void check_sums(const struct tact_mix *const *mixes)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct tact_mix_cost c = TACT_MIX_COST_INIT;
	struct tact_mix_costs *costs;

	assert_int_equal(tact_mix_get_summary_all(mixes, 2, &s, NULL), 0);
	assert_int_equal(s.recordings, 2);
	assert_int_equal(s.rung, TACT_MIX_RUNG_EXACT);
	assert_int_equal(s.method, TACT_MIX_EXACT);
	assert_int_equal(s.blocks, 2); /* one of them in both */
	assert_int_equal(s.modules, 1);
	assert_true(fabs(s.instructions - (4 * 400 + 2 * 50)) < 1e-6);

	assert_int_equal(
		tact_mix_costs_create_all(&costs, mixes, 2, tact_arch_find("SKL"), "facile", NULL),
		0);
	assert_int_equal(tact_mix_costs_count(costs), 2);
	assert_int_equal(tact_mix_costs_get_row(costs, 0, &c), 0);
	assert_true(fabs(c.executions - 400) < 1e-6);
	assert_true(fabs(c.total - 6 * 400) < 1e-6);
	tact_mix_costs_destroy(costs);
}

TEST(test_sums)
{
	static const unsigned first[4] = {0, 0, 100, 0}, second[4] = {0, 0, 300, 50};
	struct tact_mix *mix[2] = {make(first), make(second)};
	struct tact_mix_figures figures = TACT_MIX_FIGURES_INIT;
	struct tact_mix_row row = TACT_MIX_ROW_INIT;
	struct tact_mix_pivot *pivot;

	check_sums((const struct tact_mix *const *)mix);
	assert_int_equal(tact_mix_pivot_create_all(&pivot, mix, 2, NULL, NULL), 0);
	assert_int_equal(tact_mix_pivot_get_row(pivot, 0, &row), 0);
	assert_string_equal(row.key[0], "imul");
	assert_true(fabs(row.executions - 800) < 1e-6);
	assert_int_equal(tact_mix_pivot_get_figures(pivot, &figures), 0);
	assert_true(fabs(figures.instructions_per_block - 1700 / 450.0) < 1e-9);
	tact_mix_pivot_destroy(pivot);
	tact_mix_close(mix[0]);
	tact_mix_close(mix[1]);
}

/* Shares of time and executions have no sum; neither have shares by different events. */
TEST(test_no_sums)
{
	static const unsigned times[4] = {0, 0, 100, 0};
	struct tact_mix *mix[2] = {make(times), make(times)};
	const struct tact_mix *const *mixes = (const struct tact_mix *const *)mix;
	const struct tact_arch *arch = tact_arch_find("SKL");
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct tact_mix_pivot *pivot;
	struct tact_mix_costs *costs;
	struct tact_diag diag = {0};

	mix[1]->summary.is_relative = true;
	assert_int_equal(tact_mix_get_summary_all(mixes, 2, &s, &diag), -TACT_E_NOT_MODELLED);
	assert_non_null(strstr(diag.text, "in number 2,"));
	assert_int_equal(tact_mix_pivot_create_all(&pivot, mix, 2, NULL, &diag),
			 -TACT_E_NOT_MODELLED);
	assert_null(pivot);
	assert_int_equal(tact_mix_costs_create_all(&costs, mixes, 2, arch, NULL, &diag),
			 -TACT_E_NOT_MODELLED);
	assert_null(costs);
	mix[0]->summary.is_relative = true;
	assert_int_equal(tact_mix_get_summary_all(mixes, 2, &s, &diag), 0);
	assert_true(s.is_relative);
	mix[0]->ebs_event = strdup("cycles");
	mix[1]->ebs_event = strdup("cpu-clock");
	assert_int_equal(tact_mix_get_summary_all(mixes, 2, &s, &diag), -TACT_E_NOT_MODELLED);
	mix[0]->summary.is_relative = mix[1]->summary.is_relative = false;
	assert_int_equal(tact_mix_get_summary_all(mixes, 2, &s, &diag), 0);
	assert_string_equal(s.ebs_event, "several events");

	assert_int_equal(tact_mix_get_summary_all(mixes, 0, &s, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_get_summary_all(NULL, 1, &s, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_get_summary_all(mixes, 2, NULL, NULL), -TACT_E_INVAL);
	tact_mix_close(mix[0]);
	assert_int_equal(tact_mix_pivot_create_all(&pivot, (struct tact_mix *[]){mix[1], NULL}, 2,
						   NULL, NULL),
			 -TACT_E_INVAL);
	tact_mix_close(mix[1]);
}

/* ---- as text ---- */

TEST(test_reports)
{
	static const unsigned before[4] = {0, 0, 100, 0}, after[4] = {0, 0, 300, 50};
	struct tact_mix *mix[2] = {make(before), make(after)};
	struct tact_mix_pivot *pivot[2] = {pivot_of(mix[0], 1, NULL), pivot_of(mix[1], 1, NULL)};
	struct tact_mix_summary summary = TACT_MIX_SUMMARY_INIT;
	struct tact_mix_report table = {
		.size = sizeof(table), .summary = &summary, .pivot = pivot[0]};
	struct tact_mix_diff_report changes = {.size = sizeof(changes), .top = 1};
	struct tact_mix_costs_report cycles = {
		.size = sizeof(cycles), .summary = &summary, .arch = tact_arch_find("SKL")};
	struct tact_mix_costs *costs;
	struct tact_mix_diff *diff;
	struct text text = {0};

	assert_int_equal(tact_mix_get_summary(mix[0], &summary), 0);
	EXPECT_REPORT(tact_report_mix, &table, &text, "Instructions: 400 in 1 blocks of 1 files\n",
		      "\nimul                     200   50.00%    0.0%\n");
	table.format = TACT_FORMAT_CSV;
	table.top = 1;
	text_reset(&text);
	assert_int_equal(tact_report_mix(&table, collect_text, &text), 0);
	assert_string_equal(text_string(&text), "mnemonic,executions,share,relative_error\n"
						"imul,200,0.500000,0.0000\n");
	table.format = TACT_FORMAT_JSON;
	EXPECT_REPORT(tact_report_mix, &table, &text,
		      "\"keys\":[\"mnemonic\"],\"values\":[\"executions\",\"share\","
		      "\"relative_error\"],\"rows\":[[\"imul\",200,0.500000,0.0000]]}\n");

	assert_int_equal(tact_mix_diff_create(&diff, pivot[0], pivot[1], false, NULL), 0);
	changes.diff = diff;
	EXPECT_REPORT(tact_report_mix_diff, &changes, &text, "(4 more rows)\n");
	changes.format = TACT_FORMAT_CSV;
	text_reset(&text);
	assert_int_equal(tact_report_mix_diff(&changes, collect_text, &text), 0);
	assert_string_equal(text_string(&text), "mnemonic,first,second,share_of_change\n"
						"imul,200,600,1.000000\n");
	tact_mix_diff_destroy(diff);

	assert_int_equal(tact_mix_costs_create(&costs, mix[0], cycles.arch, "facile", NULL), 0);
	cycles.costs = costs;
	EXPECT_REPORT(tact_report_mix_costs, &cycles, &text,
		      "Core cycles: 600 of 1 blocks, each alone;", "(4 instructions, loop)\n");
	cycles.format = TACT_FORMAT_JSON;
	EXPECT_REPORT(tact_report_mix_costs, &cycles, &text, "\"cycles\":600,\"failed_blocks\":0");
	tact_mix_costs_destroy(costs);

	assert_int_equal(tact_report_mix(NULL, collect_text, &text), -TACT_E_INVAL);
	assert_int_equal(tact_report_mix(&table, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_report_mix_diff(NULL, collect_text, &text), -TACT_E_INVAL);
	assert_int_equal(tact_report_mix_costs(NULL, collect_text, &text), -TACT_E_INVAL);
	text_free(&text);
	for (int i = 0; i < 2; i++) {
		tact_mix_pivot_destroy(pivot[i]);
		tact_mix_close(mix[i]);
	}
}

RUN_TESTS(NULL, NULL)
