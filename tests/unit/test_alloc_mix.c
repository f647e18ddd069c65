/* SPDX-License-Identifier: MIT
 *
 * Every allocation may fail while a mix is read, counted, compared and predicted, and the status
 * says so.  Linked with --wrap for malloc, calloc and realloc.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "failing.h"
#include "mix_fixture.h"
#include "support.h"

static char path[] = "/tmp/tact-alloc-mix-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	fixture_write(path, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static int open_mix(void *arg)
{
	struct tact_mix *mix;
	const int status = tact_mix_open(&mix, path, NULL, NULL);

	(void)arg;
	if (status)
		assert_null(mix);
	tact_mix_close(mix);
	return status;
}

static int count(void *arg)
{
	const struct tact_mix_pivot_options opt = {
		.size = sizeof(opt),
		.keys = {TACT_MIX_BY_FUNCTION, TACT_MIX_BY_MNEMONIC, TACT_MIX_BY_THREAD},
		.n_keys = 3};
	struct tact_mix_pivot *pivot;
	struct tact_mix_diff *diff = NULL;
	int status = tact_mix_pivot_create(&pivot, arg, &opt, NULL);

	if (status)
		assert_null(pivot);
	else
		status = tact_mix_diff_create(&diff, pivot, pivot, true, NULL);
	if (status)
		assert_null(diff);
	tact_mix_diff_destroy(diff);
	tact_mix_pivot_destroy(pivot);
	return status;
}

static int predict(void *arg)
{
	struct tact_mix_costs *costs;
	const int status = tact_mix_costs_create(&costs, arg, tact_arch_find("SKL"), NULL, NULL);

	if (status)
		assert_null(costs);
	tact_mix_costs_destroy(costs);
	return status;
}

TEST(mixes_may_fail)
{
	struct tact_mix *mix;

	assert_true(try_failures(open_mix, NULL) > 10);
	assert_int_equal(tact_mix_open(&mix, path, NULL, NULL), 0);
	assert_true(try_failures(count, mix) > 5);
	assert_true(try_failures(predict, mix) > 5);
	tact_mix_close(mix);
}

static int rules(void *arg)
{
	static const char text[] = "#tact.mix.rule/1\n0 leaf ebs\n";
	static const char groups[] = "vector: packing=packed\nrest: *\n";
	struct tact_mix_taxonomy *taxonomy = NULL;
	struct tact_mix_trainer *trainer = NULL;
	struct tact_mix_rule *paper = NULL, *loaded = NULL;
	int status = tact_mix_rule_create(&paper, NULL);

	(void)arg;
	if (!status)
		status = tact_mix_rule_load_memory(&loaded, text, sizeof(text) - 1, NULL);
	if (!status)
		status = tact_mix_rule_save(loaded, "/dev/null", NULL);
	if (!status)
		status = tact_mix_taxonomy_load_memory(&taxonomy, groups, sizeof(groups) - 1, NULL);
	if (!status)
		status = tact_mix_trainer_create(&trainer, NULL);
	tact_mix_trainer_destroy(trainer);
	tact_mix_taxonomy_destroy(taxonomy);
	tact_mix_rule_destroy(loaded);
	tact_mix_rule_destroy(paper);
	return status;
}

TEST(rules_may_fail)
{
	assert_true(try_failures(rules, NULL) > 5);
}

RUN_TESTS(set_up, tear_down)
