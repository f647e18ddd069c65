/* SPDX-License-Identifier: MIT
 *
 * Code that was generated at run time: in files of counts, and in recordings with a dump.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

#include "mix/generated_code.h"

/* Returns the executions of the instructions of a function; -1 if it has no row. */
static double executions_of(struct tact_mix *mix, const char *function)
{
	const struct tact_mix_pivot_options o = {
		.size = sizeof(o), .keys = {TACT_MIX_BY_FUNCTION}, .n_keys = 1};
	struct tact_mix_row row = TACT_MIX_ROW_INIT;
	struct tact_mix_pivot *pivot;
	double found = -1;

	assert_int_equal(tact_mix_pivot_create(&pivot, mix, &o, NULL), 0);
	for (size_t i = 0; i < tact_mix_pivot_count(pivot); i++) {
		tact_mix_pivot_get_row(pivot, i, &row);
		if (!strcmp(row.key[0], function))
			found = row.executions;
	}
	tact_mix_pivot_destroy(pivot);
	return found;
}

static int open_text(struct tact_mix **mix, const char *text, struct tact_diag *diag)
{
	char path[] = "/tmp/tact-generated-XXXXXX";
	int status;

	write_text(path, text);
	status = tact_mix_open(mix, path, NULL, diag);
	unlink(path);
	return status;
}

/* imul eax, edi; dec edi; jnz back: entered before it 100 times, and 99900 times from its end; ret.
 * Later, another function was at the same address.
 */
static const char counts[] = "#tact.mix.counts/1\n"
			     "generated 4002a30000 100 b8010000000fafc7ffcf75f9 JS:product x\n"
			     "generated 4002a30005 99900 0fafc7ffcf75f9 JS:product x\n"
			     "generated 4002a3000c 100 c3 JS:product x\n"
			     "generated 4002a30000 7 4801c3c3 JS:other\n"
			     "generated 5000000000 3 90c3\n"
			     "outside 0\n";

TEST(test_counts)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct tact_mix_costs_totals t = TACT_MIX_COSTS_TOTALS_INIT;
	struct tact_mix_costs *costs;
	struct tact_mix *mix;

	assert_int_equal(open_text(&mix, counts, NULL), 0);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.outside_samples, 0);
	assert_int_equal(s.missing_modules, 0);
	assert_true(fabs(s.instructions - (100 + 300000 + 100 + 14 + 6)) < 1e-6);
	assert_true(fabs(executions_of(mix, "JS:product x") - 300200) < 1e-6);
	assert_true(fabs(executions_of(mix, "JS:other") - 14) < 1e-6);
	assert_true(fabs(executions_of(mix, "?") - 6) < 1e-6);
	/* A multiplication that waits for itself. */
	assert_int_equal(tact_mix_costs_create(&costs, mix, tact_arch_find("SKL"), NULL, NULL), 0);
	tact_mix_costs_get_totals(costs, &t);
	assert_int_equal(tact_mix_costs_count(costs), 5);
	assert_true(t.cycles > 290000 && t.cycles < 310000);
	tact_mix_costs_destroy(costs);
	tact_mix_close(mix);
}

TEST(test_bad_counts)
{
	static const char *const bad[] = {"generated 10\n",	    "generated 10 5 zz f\n",
					  "generated 10 5 f\n",	    "generated 10 5  f\n",
					  "generated x 5 90 f\n",   "generated 10 5 vax:90 f\n",
					  "generated 10 5 x86: f\n"};
	struct tact_diag diag = {0};
	struct tact_mix *mix;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[128];

		snprintf(text, sizeof(text), "#tact.mix.counts/1\n%s", bad[i]);
		assert_int_equal(open_text(&mix, text, &diag), -TACT_E_FORMAT);
		assert_null(mix);
	}
}

/* ---- recordings ---- */

static void put(FILE *file, uint64_t value, size_t bytes)
{
	fwrite(&value, 1, bytes, file);
}

static void put_function(FILE *file, uint64_t address, const char *name, const char *code,
			 uint64_t size)
{
	put(file, 0, 4);
	put(file, 56 + strlen(name) + 1 + size, 4);
	put(file, 5, 8);
	put(file, 7, 4);
	put(file, 7, 4);
	put(file, address, 8);
	put(file, address, 8);
	put(file, size, 8);
	put(file, 0, 8);
	fwrite(name, 1, strlen(name) + 1, file);
	fwrite(code, 1, size, file);
}

static void write_dump(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	put(file, 0x4a695444, 4);
	put(file, 1, 4);
	put(file, 40, 4);
	put(file, 62, 4);
	put(file, 0, 4);
	put(file, 7, 4);
	put(file, 1, 8);
	put(file, 0, 8);
	put_function(file, 0x10000, "JS:old", "\x90\x90\xc3", 3);
	put_function(file, 0x10000, "JS:new", "\x48\x01\xc3\xc3", 4);
	put_function(file, 0x20000, "JS:far", "\x90\xc3", 2);
	fclose(file);
}

static void write_recording(const char *path, const char *dump)
{
	const struct pmu_attr attr = {.type = PERF_TYPE_HARDWARE,
				      .config = PERF_COUNT_HW_INSTRUCTIONS,
				      .period = 1000,
				      .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						     PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
				      .sample_id_all = true,
				      .exclude_kernel = true,
				      .name = "instructions:u"};
	const struct pmu_map map = {
		.address = 0x7000000, .size = 4096, .path = dump, .is_executable = true};
	static const uint64_t places[] = {0x10000, 0x10003, 0x20000, 0x20001, 0x30000};
	const uint64_t id = 1;
	struct pmu_writer *writer;

	assert_int_equal(pmu_writer_create(&writer, path, &attr, 1, &id, 1, NULL), 0);
	pmu_writer_comm(writer, 7, 7, "js", true, 1);
	pmu_writer_map(writer, 7, &map, PMU_MODE_USER, 2);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct pmu_sample sample = {
			.ip = places[i], .pid = 7, .tid = 7, .time = 10 + i, .period = 1000};

		pmu_writer_sample(writer, 0, &sample, PMU_MODE_USER);
	}
	assert_int_equal(pmu_writer_finish(writer, NULL), 0);
}

TEST(test_recording)
{
	char directory[] = "/tmp/tact-jit-XXXXXX", dump[64], data[64];
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct tact_mix *mix;

	assert_non_null(mkdtemp(directory));
	snprintf(dump, sizeof(dump), "%s/jit-7.dump", directory);
	snprintf(data, sizeof(data), "%s/perf.data", directory);
	write_dump(dump);
	write_recording(data, dump);
	assert_int_equal(tact_mix_open(&mix, data, NULL, NULL), 0);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.outside_samples, 1);
	assert_true(fabs(executions_of(mix, "JS:new") - 2000) < 1e-6);
	assert_true(fabs(executions_of(mix, "JS:far") - 2000) < 1e-6);
	assert_true(executions_of(mix, "JS:old") < 0);
	tact_mix_close(mix);
	unlink(dump);
	assert_int_equal(tact_mix_open(&mix, data, NULL, NULL), 0);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.outside_samples, 5);
	assert_int_equal(s.missing_modules, 1);
	tact_mix_close(mix);
	unlink(data);
	rmdir(directory);
}

TEST(test_names_of_dumps)
{
	assert_true(mix_is_dump("/var/x/jit-1.dump"));
	assert_true(mix_is_dump("jit-123.dump"));
	assert_false(mix_is_dump("/var/jit-1.dump/x"));
	assert_false(mix_is_dump("jit-.dump"));
	assert_false(mix_is_dump("jit-1x.dump"));
	assert_false(mix_is_dump("xjit-1.dump"));
}

RUN_TESTS(NULL, NULL)
