/* SPDX-License-Identifier: MIT
 *
 * The interface of mixes as careless callers and those of other versions use it.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "mix_fixture.h"
#include "sizes.h"
#include "support.h"

struct world {
	char path[32];
	struct tact_mix *mix;
	struct tact_mix_rule *rule;
	struct tact_mix_pivot *pivot;
	struct tact_mix_diff *diff;
	struct tact_mix_costs *costs;
	struct tact_mix_trainer *trainer;
};
static struct world world = {.path = "/tmp/tact-mix-XXXXXX"};

static int set_up(void **state)
{
	struct world *w = &world;

	(void)state;
	fixture_write(w->path, "/nonexistent/module");
	assert_int_equal(tact_mix_open(&w->mix, w->path, NULL, NULL), 0);
	assert_int_equal(tact_mix_rule_create(&w->rule, NULL), 0);
	assert_int_equal(tact_mix_pivot_create(&w->pivot, w->mix, NULL, NULL), 0);
	assert_int_equal(tact_mix_diff_create(&w->diff, w->pivot, w->pivot, false, NULL), 0);
	assert_int_equal(
		tact_mix_costs_create(&w->costs, w->mix, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_mix_trainer_create(&w->trainer, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tact_mix_trainer_destroy(world.trainer);
	tact_mix_costs_destroy(world.costs);
	tact_mix_diff_destroy(world.diff);
	tact_mix_pivot_destroy(world.pivot);
	tact_mix_rule_destroy(world.rule);
	tact_mix_close(world.mix);
	return unlink(world.path);
}

/* ---- sizes ---- */

static int get_summary(void *out, const void *of)
{
	return tact_mix_get_summary(((const struct world *)of)->mix, out);
}

static int get_missing(void *out, const void *of)
{
	return tact_mix_get_missing(((const struct world *)of)->mix, 0, out);
}

static int get_block(void *out, const void *of)
{
	return tact_mix_get_block(((const struct world *)of)->mix, 0, out);
}

static int get_row(void *out, const void *of)
{
	return tact_mix_pivot_get_row(((const struct world *)of)->pivot, 0, out);
}

static int get_figures(void *out, const void *of)
{
	return tact_mix_pivot_get_figures(((const struct world *)of)->pivot, out);
}

static int get_diff_row(void *out, const void *of)
{
	return tact_mix_diff_get_row(((const struct world *)of)->diff, 0, out);
}

static int get_diff_totals(void *out, const void *of)
{
	return tact_mix_diff_get_totals(((const struct world *)of)->diff, out);
}

static int get_cost(void *out, const void *of)
{
	return tact_mix_costs_get_row(((const struct world *)of)->costs, 0, out);
}

static int get_costs_totals(void *out, const void *of)
{
	return tact_mix_costs_get_totals(((const struct world *)of)->costs, out);
}

TEST(older_and_newer_callers_get_results)
{
	check_sizes(get_summary, &world, sizeof(struct tact_mix_summary));
	check_sizes(get_missing, &world, sizeof(struct tact_mix_missing));
	check_sizes(get_block, &world, sizeof(struct tact_mix_block));
	check_sizes(get_row, &world, sizeof(struct tact_mix_row));
	check_sizes(get_figures, &world, sizeof(struct tact_mix_figures));
	check_sizes(get_diff_row, &world, sizeof(struct tact_mix_diff_row));
	check_sizes(get_diff_totals, &world, sizeof(struct tact_mix_diff_totals));
	check_sizes(get_cost, &world, sizeof(struct tact_mix_cost));
	check_sizes(get_costs_totals, &world, sizeof(struct tact_mix_costs_totals));
}

static int use_mix(const void *options)
{
	struct tact_mix *mix;
	const int status = tact_mix_open(&mix, world.path, options, NULL);

	assert_true(status == 0 || !mix);
	tact_mix_close(mix);
	return status;
}

static int use_pivot(const void *options)
{
	struct tact_mix_pivot *pivot;
	const int status = tact_mix_pivot_create(&pivot, world.mix, options, NULL);

	assert_true(status == 0 || !pivot);
	tact_mix_pivot_destroy(pivot);
	return status;
}

TEST(older_and_newer_callers_give_options)
{
	const struct tact_mix_options mix = TACT_MIX_OPTIONS_INIT;
	const struct tact_mix_pivot_options pivot = TACT_MIX_PIVOT_OPTIONS_INIT;

	check_options(use_mix, &mix, sizeof(mix));
	check_options(use_pivot, &pivot, sizeof(pivot));
}

/* ---- pointers that are missing, values out of range ---- */

TEST(names_of_nothing)
{
	assert_string_equal(tact_mix_method_name(TACT_N_MIX_METHODS), "unknown");
	assert_string_equal(tact_mix_method_name((enum tact_mix_method) - 1), "unknown");
	assert_string_equal(tact_mix_rung_name(TACT_N_MIX_RUNGS), "unknown");
	assert_string_equal(tact_mix_rung_error((enum tact_mix_rung)99), "unknown");
	assert_string_equal(tact_mix_key_name(TACT_N_MIX_KEYS), "unknown");
	assert_true((int)TACT_N_MIX_RUNGS <= (int)TACT_MAX_MIX_RUNGS);
	assert_true((int)TACT_N_BOUNDS <= (int)TACT_MAX_BOUNDS);
}

TEST(rules_without_arguments)
{
	static const char text[] = "#tact.mix.rule/1\n0 leaf ebs\n";
	struct tact_mix_rule *rule = world.rule;
	char small[4] = "xyz";

	assert_int_equal(tact_mix_rule_create(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_rule_load(NULL, "x", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_rule_load(&rule, NULL, NULL), -TACT_E_INVAL);
	assert_null(rule);
	rule = world.rule;
	assert_int_equal(tact_mix_rule_load(&rule, "/nonexistent", NULL), -TACT_E_IO);
	assert_null(rule);
	assert_int_equal(tact_mix_rule_load_memory(NULL, text, sizeof(text) - 1, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mix_rule_load_memory(&rule, NULL, 5, NULL), -TACT_E_INVAL);
	rule = world.rule;
	assert_int_equal(tact_mix_rule_load_memory(&rule, "no rule", 7, NULL), -TACT_E_FORMAT);
	assert_null(rule);
	assert_int_equal(tact_mix_rule_load_memory(&rule, NULL, 0, NULL), -TACT_E_FORMAT);
	assert_int_equal(tact_mix_rule_save(NULL, "/dev/null", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_rule_save(world.rule, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_rule_print(NULL, small, sizeof(small)), 0);
	assert_string_equal(small, "");
	assert_true(tact_mix_rule_print(world.rule, NULL, 0) > 10);
	assert_true(tact_mix_rule_print(world.rule, NULL, 100) > 10);
	tact_mix_rule_destroy(NULL);
}

TEST(profiles_without_arguments)
{
	struct tact_mix_options opt = {.size = sizeof(opt), .method = TACT_MIX_EXACT};
	struct tact_mix *mix = world.mix;

	assert_int_equal(tact_mix_open(NULL, world.path, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_open(&mix, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_null(mix);
	mix = world.mix;
	assert_int_equal(tact_mix_open(&mix, "/nonexistent", NULL, NULL), -TACT_E_IO);
	assert_null(mix);
	assert_int_equal(tact_mix_open(&mix, world.path, &opt, NULL), -TACT_E_INVAL);
	opt = (struct tact_mix_options){.size = sizeof(opt), .n_files = 1};
	assert_int_equal(tact_mix_open(&mix, world.path, &opt, NULL), -TACT_E_INVAL);
	tact_mix_close(NULL);
	assert_int_equal(tact_mix_get_summary(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_get_missing(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_block_count(NULL), 0);
	assert_int_equal(tact_mix_get_block(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_get_block(world.mix, 0, NULL), -TACT_E_INVAL);
}

TEST(taxonomies_without_arguments)
{
	struct tact_mix_taxonomy *t = (struct tact_mix_taxonomy *)&world;

	assert_int_equal(tact_mix_taxonomy_load(NULL, "x", NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_taxonomy_load(&t, NULL, NULL), -TACT_E_INVAL);
	assert_null(t);
	t = (struct tact_mix_taxonomy *)&world;
	assert_int_equal(tact_mix_taxonomy_load(&t, "/nonexistent", NULL), -TACT_E_IO);
	assert_null(t);
	assert_int_equal(tact_mix_taxonomy_load_memory(NULL, "a: b", 4, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_taxonomy_load_memory(&t, NULL, 4, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_taxonomy_load_memory(&t, NULL, 0, NULL), -TACT_E_FORMAT);
	tact_mix_taxonomy_destroy(NULL);
}

TEST(pivots_without_arguments)
{
	const struct tact_mix_filter nothing = {TACT_MIX_BY_MODULE, NULL, false};
	struct tact_mix_pivot_options opt = TACT_MIX_PIVOT_OPTIONS_INIT;
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	struct tact_mix_pivot *pivot = world.pivot;
	struct tact_mix_diff *diff = world.diff;
	double error;

	assert_int_equal(tact_mix_pivot_create(NULL, world.mix, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_pivot_create(&pivot, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_null(pivot);
	opt.n_keys = TACT_MIX_MAX_KEYS + 1;
	assert_int_equal(tact_mix_pivot_create(&pivot, world.mix, &opt, NULL), -TACT_E_INVAL);
	opt.n_keys = 1;
	opt.keys[0] = TACT_N_MIX_KEYS;
	assert_int_equal(tact_mix_pivot_create(&pivot, world.mix, &opt, NULL), -TACT_E_INVAL);
	opt.keys[0] = TACT_MIX_BY_TAXONOMY;
	assert_int_equal(tact_mix_pivot_create(&pivot, world.mix, &opt, NULL), -TACT_E_INVAL);
	opt.n_keys = 0;
	opt.n_filters = 1;
	assert_int_equal(tact_mix_pivot_create(&pivot, world.mix, &opt, NULL), -TACT_E_INVAL);
	opt.filters = &nothing;
	assert_int_equal(tact_mix_pivot_create(&pivot, world.mix, &opt, NULL), -TACT_E_INVAL);
	tact_mix_pivot_destroy(NULL);
	assert_int_equal(tact_mix_pivot_count(NULL), 0);
	assert_int_equal(tact_mix_pivot_get_row(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_pivot_get_row(world.pivot, 999, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_pivot_get_keys(NULL, keys), 0);
	assert_int_equal(tact_mix_pivot_get_keys(world.pivot, NULL), 0);
	assert_int_equal(tact_mix_pivot_get_figures(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_compare(NULL, world.pivot, false, &error), -TACT_E_INVAL);
	assert_int_equal(tact_mix_compare(world.pivot, NULL, false, &error), -TACT_E_INVAL);
	assert_int_equal(tact_mix_compare(world.pivot, world.pivot, false, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_diff_create(NULL, world.pivot, world.pivot, false, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mix_diff_create(&diff, NULL, world.pivot, false, NULL),
			 -TACT_E_INVAL);
	assert_null(diff);
	assert_int_equal(tact_mix_diff_create(&diff, world.pivot, NULL, false, NULL),
			 -TACT_E_INVAL);
	tact_mix_diff_destroy(NULL);
	assert_int_equal(tact_mix_diff_count(NULL), 0);
	assert_int_equal(tact_mix_diff_get_row(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_diff_get_keys(NULL, keys), 0);
	assert_int_equal(tact_mix_diff_get_keys(world.diff, NULL), 0);
	assert_int_equal(tact_mix_diff_get_totals(NULL, NULL), -TACT_E_INVAL);
}

TEST(costs_without_arguments)
{
	struct tact_mix_costs *costs = world.costs;

	assert_int_equal(tact_mix_costs_create(NULL, world.mix, tact_arch_find("SKL"), NULL, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mix_costs_create(&costs, NULL, tact_arch_find("SKL"), NULL, NULL),
			 -TACT_E_INVAL);
	assert_null(costs);
	assert_int_equal(tact_mix_costs_create(&costs, world.mix, NULL, NULL, NULL), -TACT_E_INVAL);
	costs = world.costs;
	assert_int_equal(
		tact_mix_costs_create(&costs, world.mix, tact_arch_find("SKL"), "none", NULL),
		-TACT_E_INVAL);
	assert_null(costs);
	tact_mix_costs_destroy(NULL);
	assert_int_equal(tact_mix_costs_count(NULL), 0);
	assert_int_equal(tact_mix_costs_get_row(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_costs_get_totals(NULL, NULL), -TACT_E_INVAL);
}

TEST(trainers_without_arguments)
{
	struct tact_mix_train_options opt = {.size = sizeof(opt), .min_weight = -1};
	struct tact_mix_rule *rule = world.rule;

	assert_int_equal(tact_mix_trainer_create(NULL, NULL), -TACT_E_INVAL);
	tact_mix_trainer_destroy(NULL);
	assert_int_equal(tact_mix_trainer_add(NULL, world.mix, world.mix, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_add(world.trainer, NULL, world.mix, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_add(world.trainer, world.mix, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_fit(world.trainer, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_fit(NULL, NULL, &rule, NULL), -TACT_E_INVAL);
	assert_null(rule);
	assert_int_equal(tact_mix_trainer_fit(world.trainer, &opt, &rule, NULL), -TACT_E_INVAL);
	opt.min_weight = NAN;
	assert_int_equal(tact_mix_trainer_fit(world.trainer, &opt, &rule, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_fit(world.trainer, NULL, &rule, NULL), -TACT_E_NO_DATA);
}

TEST(recordings_without_arguments)
{
	char name[] = "/bin/true", *argv[] = {name, NULL};
	struct tact_mix_record_options opt = {
		.size = sizeof(opt), .output = "/dev/null", .argv = argv};
	struct tact_mix_recorded out = TACT_MIX_RECORDED_INIT;

	assert_int_equal(tact_mix_record(NULL, &out, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_record(&opt, NULL, NULL), -TACT_E_INVAL);
	out.size = 0;
	assert_int_equal(tact_mix_record(&opt, &out, NULL), -TACT_E_INVAL);
	out.size = sizeof(out);
	opt.best = TACT_N_MIX_RUNGS;
	assert_int_equal(tact_mix_record(&opt, &out, NULL), -TACT_E_INVAL);
	opt.best = 0;
	opt.pid = 1;
	assert_int_equal(tact_mix_record(&opt, &out, NULL), -TACT_E_INVAL);
	opt.pid = -1;
	assert_int_equal(tact_mix_record(&opt, &out, NULL), -TACT_E_INVAL);
	opt = (struct tact_mix_record_options){.size = sizeof(opt), .argv = argv};
	assert_int_equal(tact_mix_record(&opt, &out, NULL), -TACT_E_INVAL);
}

TEST(emulations_without_arguments)
{
	char name[] = "/bin/true", *argv[] = {name, NULL};
	const struct tact_mix_emulate_options good = {
		.size = sizeof(good), .exact = "/nonexistent/counts", .argv = argv};
	struct tact_mix_emulate_options opt = good;
	struct tact_mix_emulated out = TACT_MIX_EMULATED_INIT;

	assert_int_equal(tact_mix_emulate(NULL, &out, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_emulate(&opt, NULL, NULL), -TACT_E_INVAL);
	out.size = 0;
	assert_int_equal(tact_mix_emulate(&opt, &out, NULL), -TACT_E_INVAL);
	out.size = sizeof(out);
	opt.depth = 3;
	assert_int_equal(tact_mix_emulate(&opt, &out, NULL), -TACT_E_INVAL);
	opt = good;
	opt.shadow = 101;
	assert_int_equal(tact_mix_emulate(&opt, &out, NULL), -TACT_E_INVAL);
	opt = good;
	opt.skid = -2;
	assert_int_equal(tact_mix_emulate(&opt, &out, NULL), -TACT_E_INVAL);
	opt = good;
	opt.exact = NULL;
	assert_int_equal(tact_mix_emulate(&opt, &out, NULL), -TACT_E_INVAL);
	opt = good;
	opt.output = "/dev/null"; /* and no architecture */
	assert_int_equal(tact_mix_emulate(&opt, &out, NULL), -TACT_E_INVAL);
}

RUN_TESTS(set_up, tear_down)
