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
	p.l2_halves = 0;
	p.l3_halves = 0;
	p.nontemporal_line = 1000;
	p.tlb2_latency = 7;
	p.walk_latency = 30;
	p.page_walkers = 2;
	sim_memory_init(m, &p);
}

static int32_t load(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level)
{
	return sim_memory_load(m, now, line, level, SIM_PAGE_KNOWN) - now;
}

TEST(a_load_takes_what_its_level_takes)
{
	struct sim_memory m;

	set_up(&m);
	assert_int_equal(load(&m, 1000, 1, SIM_IN_L1), 0);
	assert_int_equal(load(&m, 1000, 2, SIM_IN_L2), L2 - FIRST);
	assert_int_equal(load(&m, 1000, 3, SIM_IN_L3), L3 - FIRST);
	assert_int_equal(load(&m, 1000, 4, SIM_IN_MEMORY), MEMORY - FIRST);
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
	sim_memory_fetch(&m, 2000, 7, SIM_IN_MEMORY, SIM_IN_L2, false);
	assert_int_equal(load(&m, 2100, 7, SIM_IN_L2), MEMORY - FIRST - 100);
	/* What is there already is not fetched. */
	sim_memory_fetch(&m, 3000, 8, SIM_IN_L2, SIM_IN_L2, false);
	assert_int_equal(load(&m, 3000, 8, SIM_IN_L1), 0);
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

TEST(a_prefetched_line_that_is_written_goes_back_too)
{
	struct sim_memory m;
	int32_t last = 0;

	set_up(&m);
	for (uint64_t i = 0; i < 50; i++)
		sim_memory_fetch(&m, 1000, i, SIM_IN_MEMORY, SIM_IN_L2, true);
	for (uint64_t i = 0; i < 50; i++)
		last = load(&m, 1000, i, SIM_IN_L2);
	assert_true(last > 50 * 25);
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

TEST(stores_fetch_their_line_and_write_it_back)
{
	struct sim_memory m;
	int32_t first, last = 0;

	set_up(&m);
	first = sim_memory_store(&m, 1000, 1, SIM_IN_L2, SIM_PAGE_KNOWN);
	assert_int_equal(first, 1000 + L2 - FIRST);
	for (uint64_t i = 2; i < 102; i++)
		last = sim_memory_store(&m, 1000, i, SIM_IN_L2, SIM_PAGE_KNOWN);
	assert_in_range(last - first, 400, 420);
	/* Those past the caches are gathered by lines, and wait for nothing. */
	set_up(&m);
	assert_int_equal(sim_memory_store(&m, 1000, 1, SIM_PAST_CACHES, SIM_PAGE_KNOWN), 1000);
	assert_int_equal(sim_memory_store(&m, 1001, 1, SIM_PAST_CACHES, SIM_PAGE_KNOWN), 1001);
	assert_int_equal(sim_memory_store(&m, 1002, 2, SIM_PAST_CACHES, SIM_PAGE_KNOWN), 1010);
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

RUN_TESTS(NULL, NULL)
