/* SPDX-License-Identifier: MIT
 *
 * Counters of perf's, with pages and readings that are written down: what is read, when it does not
 * count, and what people are told.  tests/hw/test_counters.c has the same with a kernel.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "measure/counter.h"
#include "pmu/pmu.h"
#include "support.h"

static const struct {
	const char *name;
	int error;
} errors[] = {{"not_readable", COUNTER_NOT_READABLE},
	      {"off", COUNTER_OFF},
	      {"width", COUNTER_WIDTH},
	      {"unsteady", COUNTER_UNSTEADY}};

static int error_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].error;
	return 0;
}

static void check_line(const char *line)
{
	struct perf_event_mmap_page page = {0};
	struct counter_view view;
	char name[64], source[8], hex[3][32], cycles[32], count[32] = "";
	uint64_t reading[3]; /* offset, before, after */
	long long v[4];
	int n = sscanf(line, "%63s %7s %lli %lli %lli %lli %31s %31s %31s %31s %31s", name, source,
		       &v[0], &v[1], &v[2], &v[3], hex[0], hex[1], hex[2], cycles, count);
	int error = error_of(cycles);

	assert_true(n == 11 || (n == 10 && error));
	for (int i = 0; i < 3; i++)
		reading[i] = strtoull(hex[i], NULL, 0);
	page.cap_user_rdpmc = v[0] & 1;
	page.lock = (uint32_t)v[1];
	page.index = (uint32_t)v[2];
	page.pmc_width = (uint16_t)v[3];
	print_message("%s\n", name);
	assert_int_equal(counter_look(&page, &view), error);
	if (error)
		return;
	assert_int_equal(view.index, v[2]);
	assert_int_equal(view.width, v[3]);
	assert_int_equal(counter_difference(reading[1], reading[2], view.width),
			 strtoull(cycles, NULL, 0));
	assert_int_equal(counter_value(reading[0], reading[2], view.width),
			 strtoull(count, NULL, 0));
	assert_true(counter_is_same(&page, &view));
	page.lock += 2; /* the thread was switched out and in */
	assert_false(counter_is_same(&page, &view));
}

TEST(pages_of_real_counters)
{
	FILE *file = fopen("tests/hw/fixtures/counters.txt", "re");
	char line[256];
	unsigned n = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		check_line(line);
		n++;
	}
	fclose(file);
	assert_true(n >= 14);
}

/* ---- a page that changes ---- */

static struct perf_event_mmap_page shared_page;
static atomic_bool is_over;

/* Moves the event between two counters of different widths, as the kernel does it. */
static void *move_event(void *arg)
{
	struct perf_event_mmap_page *page = &shared_page;
	bool first = true;

	for (; !atomic_load(&is_over); first = !first) {
		__atomic_add_fetch(&page->lock, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&page->index, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&page->pmc_width, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&page->pmc_width, first ? 40 : 48, __ATOMIC_SEQ_CST);
		__atomic_store_n(&page->index, first ? 0x40000002 : 1, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&page->lock, 1, __ATOMIC_SEQ_CST);
		for (volatile int i = 0; i < 200; i++)
			;
	}
	return arg;
}

TEST(a_look_never_mixes_two_states)
{
	pthread_t writer;
	unsigned good = 0;

	shared_page = (struct perf_event_mmap_page){.index = 1, .pmc_width = 48};
	shared_page.cap_user_rdpmc = 1;
	assert_int_equal(pthread_create(&writer, NULL, move_event, NULL), 0);
	for (unsigned i = 0; i < 200000; i++) {
		struct counter_view v;
		int error = counter_look(&shared_page, &v);

		if (error == COUNTER_UNSTEADY)
			continue;
		if (error || v.width != (v.index == 1 ? 48u : 40u)) {
			atomic_store(&is_over, true);
			pthread_join(writer, NULL);
			fail_msg("error %d, index %x, width %u", error, v.index, v.width);
		}
		good++;
	}
	atomic_store(&is_over, true);
	pthread_join(writer, NULL);
	assert_true(good > 1000);
}

/* ---- readings by a system call ---- */

TEST(readings_that_do_not_count)
{
	const struct counter_reading before = {1000, 500, 500}, none = {0};
	struct counter_reading after = {2000, 700, 700};

	assert_int_equal(counter_check(&before, &after, sizeof(after)), 0);
	assert_int_equal(counter_check(&before, &after, 0), COUNTER_EMPTY);
	assert_int_equal(counter_check(&before, &after, 8), COUNTER_EMPTY);
	assert_int_equal(counter_check(&before, &after, -EINTR), EINTR);
	after.running = 699;
	assert_int_equal(counter_check(&before, &after, sizeof(after)), COUNTER_SHARED);
	after.running = 0;
	assert_int_equal(counter_check(&none, &after, sizeof(after)), COUNTER_OFF);
	/* what was shared before this run is no matter */
	after = (struct counter_reading){2000, 900, 700};
	assert_int_equal(
		counter_check(&(struct counter_reading){1000, 500, 300}, &after, sizeof(after)), 0);
}

TEST(a_counter_is_judged_by_a_known_chain)
{
	const uint64_t low = 3 * COUNTER_SHORT + 40, high = 3 * COUNTER_LONG + 40;

	assert_int_equal(counter_judge(low, high), 0);
	assert_int_equal(counter_judge(low, high + 300), 0); /* an interrupt */
	assert_int_equal(counter_judge(0, 0), COUNTER_STILL);
	assert_int_equal(counter_judge(7, 7), COUNTER_WRONG);
	assert_int_equal(counter_judge(high, low), COUNTER_WRONG);
	/* reference cycles at half the clock, instructions, nanoseconds */
	assert_int_equal(counter_judge(low / 2, high / 2), COUNTER_WRONG);
	assert_int_equal(counter_judge(COUNTER_SHORT, COUNTER_LONG), COUNTER_WRONG);
	assert_int_equal(counter_judge(2 * low, 2 * high), COUNTER_WRONG);
	assert_int_equal(counter_judge(1, ~0ull), COUNTER_WRONG);
}

/* ---- events ---- */

TEST(what_the_kernel_is_asked_for)
{
	const struct counter_place usual = {12, 1, 0}, other = {12, 1, 10};
	struct perf_event_attr a;

	memset(&a, 0xff, sizeof(a));
	counter_describe(&a, TACT_RUNG_RDPMC, &usual, true);
	assert_int_equal(a.type, PERF_TYPE_HARDWARE);
	assert_int_equal(a.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(a.size, sizeof(a));
	assert_true(a.pinned && a.exclude_kernel && a.exclude_hv && !a.disabled && !a.inherit);
	assert_int_equal(a.sample_period, 0);
	counter_describe(&a, TACT_RUNG_PERF, &other, false);
	assert_false(a.exclude_kernel || a.exclude_hv);
	assert_int_equal(a.type, PERF_TYPE_HARDWARE);
	assert_int_equal(a.config, PERF_COUNT_HW_CPU_CYCLES | 10ull << 32);
	/* that device refuses to leave anything out */
	counter_describe(&a, TACT_RUNG_APERF, &other, true);
	assert_int_equal(a.type, 12);
	assert_int_equal(a.config, 1);
	assert_false(a.exclude_kernel || a.exclude_hv || a.exclude_user);
	assert_true(counter_may_not_exclude(TACT_RUNG_PERF, EINVAL));
	assert_true(counter_may_not_exclude(TACT_RUNG_RDPMC, EOPNOTSUPP));
	assert_false(counter_may_not_exclude(TACT_RUNG_PERF, EACCES));
	assert_false(counter_may_not_exclude(TACT_RUNG_APERF, EINVAL));
}

TEST(events_in_sysfs)
{
	static const char devices[] = "tests/hw/fixtures/devices";
	struct pmu_event e;
	uint32_t type;

	assert_true(pmu_find_event(&e, devices, "msr", "aperf"));
	assert_int_equal(e.type, 12);
	assert_int_equal(e.config, 1);
	assert_true(pmu_find_event(&e, devices, "msr", "mperf"));
	assert_int_equal(e.config, 2);
	assert_false(pmu_find_event(&e, devices, "msr", "pperf"));
	assert_false(pmu_find_event(&e, devices, "cpu", "aperf"));
	assert_false(pmu_find_event(&e, devices, "msr", "../type")); /* no field "event" */
	assert_false(pmu_find_event(&e, devices, "msr", "../format/event"));
	assert_false(pmu_find_event(&e, "/nowhere", "msr", "aperf"));
	assert_true(pmu_find_device(&type, "tests/hw/fixtures/hybrid", "cpu_atom"));
	assert_int_equal(type, 10);
	assert_false(pmu_find_device(&type, "tests/hw/fixtures/hybrid", "cpu_lowpower"));
	assert_int_equal(type, 0);
}

/* ---- words ---- */

TEST(every_reason_has_words)
{
	char text[160], other[160];

	for (int error = 1; error <= COUNTER_NO_DEVICE; error++) {
		if (error == 134)
			error = COUNTER_FIRST;
		counter_explain(error, TACT_RUNG_RDPMC, text, sizeof(text));
		assert_true(strlen(text) > 20 && strlen(text) < sizeof(text) - 1);
		assert_null(strstr(text, "unknown"));
	}
	/* the msr device counts the kernel, too, so it needs more */
	counter_explain(EACCES, TACT_RUNG_PERF, text, sizeof(text));
	counter_explain(EACCES, TACT_RUNG_APERF, other, sizeof(other));
	assert_non_null(strstr(text, "perf_event_paranoid=2"));
	assert_non_null(strstr(other, "perf_event_paranoid=1"));
}

RUN_TESTS(NULL, NULL)
