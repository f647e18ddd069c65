/* SPDX-License-Identifier: MIT
 *
 * Lines on their way.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "arch/arch.h"
#include "sim/arrivals.h"

enum { L2 = 15, L3 = 100, MEMORY = 300, FIRST = 5 };

static void set_up(struct sim_memory *m)
{
	struct arch_params p = tact_arch_find("SKL")->params;

	p.load_latency = FIRST;
	p.l2_latency = L2;
	p.l3_latency = L3;
	p.memory_latency = MEMORY;
	p.l1_fills = 4;
	p.l2_fills = 8;
	p.l2_line = 200;
	p.l3_line = 750;
	p.memory_line = 1500;
	p.l2_write_line = 400;
	p.l3_write_line = 800;
	p.memory_write_line = 2500;
	p.l1_set_fill = 0;
	p.l2_halves = 0;
	p.l3_halves = 0;
	p.nontemporal_line = 1000;
	p.tlb2_latency = 7;
	p.walk_latency = 30;
	p.page_walkers = 2;
	p.tlb2_page = 0;
	sim_memory_init(m, &p);
}

static int32_t load(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level)
{
	return sim_memory_load(m, now, line, level, SIM_PAGE_KNOWN) - now;
}

static int32_t store(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level,
		     enum sim_level written)
{
	const struct sim_trip trip = {
		.line = line, .level = (uint8_t)level, .written = (uint8_t)written};

	return sim_memory_store(m, now, &trip);
}

TEST(a_load_takes_what_its_level_takes)
{
	struct sim_memory m;

	set_up(&m);
	assert_int_equal(load(&m, 1000, 1, SIM_IN_L1), 0);
	assert_int_equal(load(&m, 1000, 2, SIM_IN_L2), L2 - FIRST);
	assert_int_equal(load(&m, 2000, 3, SIM_IN_L3), L3 - FIRST);
	assert_int_equal(load(&m, 3000, 4, SIM_IN_MEMORY), MEMORY - FIRST);
}

TEST(a_line_on_its_way_is_waited_for)
{
	struct sim_memory m;

	set_up(&m);
	load(&m, 1000, 1, SIM_IN_L3);
	/* Meanwhile the caches have it: so they say. */
	assert_int_equal(load(&m, 1040, 1, SIM_IN_L1), L3 - FIRST - 40);
	assert_int_equal(load(&m, 1000 + L3, 1, SIM_IN_L1), 0);
	/* One that a prefetcher brings to the second level still has to come from there. */
	sim_memory_fetch(&m, 2000, 7, SIM_IN_MEMORY, SIM_IN_L2);
	assert_int_equal(load(&m, 2100, 7, SIM_IN_L2), MEMORY - FIRST - 100);
	/* What is there already is not fetched. */
	sim_memory_fetch(&m, 3000, 8, SIM_IN_L2, SIM_IN_L2);
	assert_int_equal(load(&m, 3000, 8, SIM_IN_L1), 0);
}

/* It was pushed out again, as its level says: it comes once more, after the first time. */
TEST(a_line_that_made_room_comes_again)
{
	struct sim_memory m;

	set_up(&m);
	assert_int_equal(load(&m, 1000, 1, SIM_IN_L2), L2 - FIRST);
	assert_int_equal(load(&m, 1001, 1, SIM_IN_L2), 2 * (L2 - FIRST) - 1);
}

TEST(lines_of_a_set_come_one_by_one)
{
	struct sim_memory m;

	set_up(&m);
	m.set_fill = 9;
	assert_int_equal(m.n_sets, 64);
	assert_int_equal(load(&m, 1000, 1, SIM_IN_L2), L2 - FIRST);
	assert_int_equal(load(&m, 1000, 65, SIM_IN_L2), L2 - FIRST + 9);
	assert_int_equal(load(&m, 1000, 129, SIM_IN_L2), L2 - FIRST + 18);
	assert_int_equal(load(&m, 1020, 2, SIM_IN_L2), L2 - FIRST);
}

/* Measured on Zen 4: loads 4096 bytes apart take 9 to 10 cycles from the second level, 25 from the last
 * one; stores take 16.
 */
TEST(lines_from_afar_and_written_ones_take_a_set_for_longer)
{
	struct sim_memory m;

	set_up(&m);
	m.set_fill = 10;
	m.far_set_fill = 25;
	m.set_write = 6;
	assert_int_equal(load(&m, 1000, 1, SIM_IN_L3), L3 - FIRST);
	assert_int_equal(load(&m, 1000, 65, SIM_IN_L2), L2 - FIRST + 25);
	assert_int_equal(load(&m, 1000, 129, SIM_IN_L2), L2 - FIRST + 35);
	assert_int_equal(store(&m, 2000, 2, SIM_IN_L2, SIM_IN_L2), 2000 + L2 - FIRST);
	assert_int_equal(store(&m, 2000, 66, SIM_IN_L2, SIM_IN_L2), 2016 + L2 - FIRST);
	assert_int_equal(load(&m, 2000, 130, SIM_IN_L2), L2 - FIRST + 32);
}

TEST(lines_pass_one_after_the_other)
{
	struct sim_memory m;

	set_up(&m);
	for (int i = 0; i < 4; i++)
		assert_int_equal(load(&m, 1000, 100 + (uint64_t)i, SIM_IN_L3),
				 L3 - FIRST + 15 * i / 2);
	/* The fifth also needs a buffer. */
	assert_int_equal(load(&m, 1000, 104, SIM_IN_L3), 2 * (L3 - FIRST));
	/* What waits for its page keeps nobody from passing. */
	set_up(&m);
	assert_int_equal(sim_memory_load(&m, 1000, 1, SIM_IN_L2, SIM_PAGE_WALKED),
			 1000 + 7 + 30 + L2 - FIRST);
	assert_int_equal(load(&m, 1000, 2, SIM_IN_L2), L2 - FIRST + 2);
}

/* Two ways by an address bit: lines that are all even, or all odd, pass at half the rate. */
TEST(ways_may_be_halves)
{
	int32_t last[2] = {0, 0};

	for (uint64_t k = 0; k < 2; k++) {
		struct sim_memory m;

		set_up(&m);
		m.n_fills = m.n_queue = 64;
		m.has_halves[SIM_IN_L3] = true;
		for (uint64_t i = 0; i < 20; i++)
			last[k] = load(&m, 1000, 100 + i * (k + 1), SIM_IN_L3) - (L3 - FIRST);
	}
	assert_in_range(last[0], 130, 146);
	assert_in_range(last[1], 280, 290);
}

/* A line that is near, because it was loaded or prefetched before, goes back to where it was. */
TEST(a_line_that_was_loaded_and_is_written_goes_back_too)
{
	struct sim_memory m;
	int32_t last = 0;

	set_up(&m);
	for (uint64_t i = 0; i < 50; i++)
		last = store(&m, 1000, i, SIM_IN_L1, SIM_IN_MEMORY);
	assert_true(last - 1000 > 45 * 25);
	/* The second time that it is written changes nothing. */
	set_up(&m);
	for (uint64_t i = 0; i < 50; i++)
		assert_int_equal(store(&m, 1000, i, SIM_IN_L1, SIM_IN_L1), 1000);
}

/* Returns how long n lines from the second level take that are `apart` from each other, each loaded
 * so many times.
 */
static int32_t time_of(struct sim_memory *m, uint64_t n, uint64_t apart, unsigned times)
{
	int32_t last = 0;

	m->n_fills = 64;
	for (uint64_t i = 0; i < n; i++)
		for (unsigned k = 0; k < times; k++)
			last = load(m, 1000, 100 + i * apart, k ? SIM_IN_L1 : SIM_IN_L2);
	return last;
}

TEST(lines_of_one_part_of_the_second_level_pass_more_slowly)
{
	const int32_t expected[4] = {0, 2, 3, 4};

	for (uint64_t apart = 1; apart < 16; apart++) {
		const int32_t each = expected[apart % 4 == 0 ? 3 : apart % 2 == 0 ? 2 : 1];
		struct sim_memory m;

		set_up(&m);
		m.half_cost = 300;
		m.quarter_cost = 400;
		assert_in_range(time_of(&m, 60, apart, 1), each * 59, each * 59 + L2);
	}
}

TEST(loads_that_wait_are_executed_twice)
{
	struct sim_memory m;

	set_up(&m);
	m.wait_cost = 100;
	assert_in_range(time_of(&m, 40, 1, 8), 319, 319 + L2);
	/* What is there does not wait. */
	assert_int_equal(load(&m, 5000, 200, SIM_IN_L1), 0);
	assert_int_equal(m.wait_free, (1000 + 320) * 100);
}

TEST(a_fill_buffer_is_held_for_a_while)
{
	struct sim_memory m;

	set_up(&m);
	m.fill_hold = 10;
	for (uint64_t i = 0; i < 4; i++)
		load(&m, 1000, i + 1, SIM_IN_L2);
	assert_int_equal(load(&m, 1000, 9, SIM_IN_L2), 2 * (L2 - FIRST) + 10);
}

TEST(pages_have_to_be_found)
{
	struct sim_memory m;

	set_up(&m);
	assert_int_equal(sim_memory_load(&m, 0, 1, SIM_IN_L1, SIM_PAGE_SECOND), 7);
	assert_int_equal(sim_memory_load(&m, 0, 2, SIM_IN_L1, SIM_PAGE_WALKED), 37);
	assert_int_equal(sim_memory_load(&m, 0, 3, SIM_IN_L1, SIM_PAGE_IN_L3), 37 + L3 - L2);
	/* There are two walkers. */
	assert_int_equal(sim_memory_load(&m, 0, 4, SIM_IN_L1, SIM_PAGE_WALKED), 67);
}

TEST(pages_are_found_one_after_the_other)
{
	struct sim_memory m;

	set_up(&m);
	m.page_cost = 200;
	for (int i = 0; i < 10; i++)
		assert_int_equal(sim_memory_load(&m, 0, 1, SIM_IN_L1, SIM_PAGE_SECOND), 7 + 2 * i);
	assert_int_equal(sim_memory_load(&m, 0, 1, SIM_IN_L1, SIM_PAGE_KNOWN), 0);
}

/* What is fetched into the first level takes a buffer there. */
TEST(fetched_lines_take_a_buffer)
{
	struct sim_memory m;

	set_up(&m);
	for (uint64_t i = 0; i < 4; i++)
		sim_memory_fetch(&m, 1000, i, SIM_IN_L2, SIM_IN_L1);
	assert_int_equal(load(&m, 1000, 9, SIM_IN_L2), 2 * (L2 - FIRST));
	set_up(&m);
	for (uint64_t i = 0; i < 4; i++)
		sim_memory_fetch(&m, 1000, i, SIM_IN_L3, SIM_IN_L2);
	assert_int_equal(load(&m, 1000, 9, SIM_IN_L2), L2 - FIRST);
}

TEST(a_line_is_fetched_on_only_when_it_is_there)
{
	struct sim_memory m;

	set_up(&m);
	sim_memory_fetch(&m, 1000, 7, SIM_IN_MEMORY, SIM_IN_L2);
	sim_memory_fetch(&m, 1001, 7, SIM_IN_L2, SIM_IN_L1);
	assert_int_equal(load(&m, 1002, 7, SIM_IN_L1), MEMORY - FIRST - 2);
}

TEST(stores_fetch_their_line_and_write_it_back)
{
	struct sim_memory m;
	int32_t first, last = 0;

	set_up(&m);
	first = store(&m, 1000, 1, SIM_IN_L2, SIM_IN_L2);
	assert_int_equal(first, 1000 + L2 - FIRST);
	for (uint64_t i = 2; i < 102; i++)
		last = store(&m, 1000, i, SIM_IN_L2, SIM_IN_L2);
	assert_in_range(last - first, 385, 410); /* the first one has its turn on its way here */
	/* Those past the caches are gathered by lines, and wait for nothing. */
	set_up(&m);
	assert_int_equal(store(&m, 1000, 1, SIM_PAST_CACHES, SIM_IN_L1), 1000);
	assert_int_equal(store(&m, 1001, 1, SIM_PAST_CACHES, SIM_IN_L1), 1001);
	assert_int_equal(store(&m, 1002, 2, SIM_PAST_CACHES, SIM_IN_L1), 1010);
}

TEST(the_clock_moves_back)
{
	struct sim_memory m, n;

	set_up(&m);
	for (uint64_t i = 0; i < 20; i++)
		load(&m, 100000, i, SIM_IN_MEMORY);
	n = m;
	sim_memory_rebase(&n, 99000);
	for (uint64_t i = 10; i < 30; i++)
		assert_int_equal(load(&m, 100050, i, SIM_IN_L3), load(&n, 1050, i, SIM_IN_L3));
}

/* Nobody waits for a prefetch, but for a place; a load of its line waits for what is left. */
TEST(a_prefetch_waits_for_a_place_only)
{
	struct sim_memory m;

	set_up(&m);
	assert_int_equal(sim_memory_prefetch(&m, 1000, 1, SIM_IN_MEMORY, SIM_PAGE_IN_MEMORY), 1000);
	set_up(&m);
	assert_int_equal(sim_memory_prefetch(&m, 1000, 1, SIM_IN_MEMORY, SIM_PAGE_KNOWN), 1000);
	assert_int_equal(load(&m, 1200, 1, SIM_IN_L1), MEMORY - FIRST - 200);
	assert_int_equal(load(&m, 1400, 1, SIM_IN_L1), 0);
	set_up(&m);
	for (uint64_t line = 1; line <= 4; line++) /* all places */
		sim_memory_prefetch(&m, 1000, line, SIM_IN_L3, SIM_PAGE_KNOWN);
	assert_int_equal(sim_memory_prefetch(&m, 1000, 9, SIM_IN_L1, SIM_PAGE_KNOWN), 1000);
	assert_true(sim_memory_prefetch(&m, 1000, 5, SIM_IN_L3, SIM_PAGE_KNOWN) >=
		    1000 + L3 - FIRST);
}

RUN_TESTS(NULL, NULL)
