/* SPDX-License-Identifier: MIT
 *
 * Every allocation may fail while a mix is read, counted, compared and predicted, and the status
 * says so.  See failing.h.
 */
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "failing.h"
#include "mix/mix.h"
#include "mix_fixture.h"
#include "perf_attrs.h"
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

/* Samples of the loop, and stacks of its branch, in a file that mkstemp names. */
static void write_recording(char *file)
{
	static const struct pmu_attr attrs[2] = PERF_ATTRS(1000, 100);
	static const uint64_t ids[2] = {1, 2};
	enum { STACK = 5, PID = 42 };
	const uint64_t loop = (uint64_t)(uintptr_t)fixture_loop;
	const uint64_t jump = (uint64_t)(uintptr_t)fixture_rest - 2;
	const struct pmu_branch back = {jump, loop, 0};
	const struct pmu_branch stack[STACK] = {back, back, back, back, back};
	struct pmu_sample sample = {.ip = loop, .period = 1000, .pid = PID, .tid = PID};
	struct pmu_map map = {.address = loop & ~4095ull,
			      .size = 8192,
			      .offset = offset_in_file(fixture_loop) & ~4095ull,
			      .is_executable = true};
	struct pmu_writer *w;
	char self[3000];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	map.path = self;
	close(mkstemp(file));
	assert_int_equal(pmu_writer_create(&w, file, attrs, 2, ids, 1, NULL), 0);
	pmu_writer_comm(w, PID, PID, "self", true, 1);
	pmu_writer_map(w, PID, &map, PMU_MODE_USER, 2);
	for (sample.time = 100; sample.time < 120; sample.time++)
		pmu_writer_sample(w, 0, &sample, PMU_MODE_USER);
	sample.period = 100;
	sample.n_branches = STACK;
	sample.branches = (const uint8_t *)stack;
	for (; sample.time < 140; sample.time++)
		pmu_writer_sample(w, 1, &sample, PMU_MODE_USER);
	assert_int_equal(pmu_writer_finish(w, NULL), 0);
}

static int open_mix(void *arg)
{
	struct tact_mix *mix;
	const int status = tact_mix_open(&mix, arg, NULL, NULL);

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

	assert_true(try_failures(open_mix, path) > 10);
	assert_int_equal(tact_mix_open(&mix, path, NULL, NULL), 0);
	assert_true(try_failures(count, mix) > 5);
	assert_true(try_failures(predict, mix) > 5);
	tact_mix_close(mix);
}

static int train(void *arg)
{
	struct tact_mix *const *mixes = arg; /* sampled, exact */
	struct tact_mix_trainer *trainer;
	struct tact_mix_rule *rule = NULL;
	long status = tact_mix_trainer_create(&trainer, NULL);

	if (!status)
		status = tact_mix_trainer_add(trainer, mixes[0], mixes[1], NULL);
	if (status >= 0)
		status = tact_mix_trainer_choose(trainer, NULL, &rule, NULL, NULL);
	if (status < 0)
		assert_null(rule);
	tact_mix_rule_destroy(rule);
	tact_mix_trainer_destroy(trainer);
	return status < 0 ? (int)status : 0;
}

TEST(recordings_may_fail)
{
	char file[] = "/tmp/tact-alloc-mix-XXXXXX";
	struct tact_mix_summary summary = TACT_MIX_SUMMARY_INIT;
	struct tact_mix *mixes[2];

	write_recording(file);
	assert_int_equal(tact_mix_open(&mixes[0], file, NULL, NULL), 0);
	assert_int_equal(tact_mix_get_summary(mixes[0], &summary), 0);
	assert_int_equal(summary.method, TACT_MIX_HYBRID);
	assert_int_equal(summary.ebs_samples, 20);
	assert_true(summary.blocks > 0);
	assert_int_equal(tact_mix_open(&mixes[1], path, NULL, NULL), 0);
	assert_true(try_failures(open_mix, file) > 20);
	assert_true(try_failures(train, mixes) > 3);
	tact_mix_close(mixes[0]);
	tact_mix_close(mixes[1]);
	unlink(file);
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
