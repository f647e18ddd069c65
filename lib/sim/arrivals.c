/* SPDX-License-Identifier: MIT
 *
 * Lines on their way.
 */
#include "sim/arrivals.h"

#include <string.h>

#include "arch/params.h"

enum { FIRST_BIT = 6 /* of an address that is not within a line */ };

static unsigned limited(int n, unsigned most)
{
	return n < 1 ? 1 : (unsigned)n < most ? (unsigned)n : most;
}

void sim_memory_init(struct sim_memory *m, const struct arch_params *p)
{
	const int latency[SIM_LEVELS] = {p->load_latency, p->l2_latency, p->l3_latency,
					 p->memory_latency};
	const int read_cost[SIM_LEVELS] = {0, p->l2_line, p->l3_line, p->memory_line};
	const int write_cost[SIM_LEVELS] = {p->nontemporal_line, p->l2_write_line, p->l3_write_line,
					    p->memory_write_line};
	const int half[SIM_LEVELS] = {0, p->l2_halves, p->l3_halves, 0};

	memset(m, 0, sizeof(*m));
	for (unsigned i = 0; i < SIM_LEVELS; i++) {
		m->extra[i] = latency[i] > latency[0] ? latency[i] - latency[0] : 0;
		m->read_cost[i] = read_cost[i];
		m->write_cost[i] = write_cost[i];
		m->has_halves[i] = half[i] >= FIRST_BIT;
		m->half[i] = (uint8_t)(half[i] >= FIRST_BIT ? half[i] - FIRST_BIT : 0);
	}
	m->fill_hold = p->l1_fill_hold;
	m->half_cost = p->l2_half_line;
	m->quarter_cost = p->l2_quarter_line;
	m->wait_cost = p->l1_wait;
	m->second_page = p->tlb2_latency;
	m->walk = p->walk_latency;
	m->page_cost = p->tlb2_page;
	m->set_fill = p->l1_set_fill;
	m->far_set_fill = p->l3_set_fill ? p->l3_set_fill : p->l1_set_fill;
	m->set_write = p->l1_set_write;
	m->n_sets = limited(p->l1_kib * 1024 / 64 / p->l1_ways, SIM_SETS);
	m->n_fills = limited(p->l1_fills, SIM_MAX_FILLS);
	m->n_queue = limited(p->l2_fills, SIM_MAX_QUEUE);
	m->n_walkers = limited(p->page_walkers, SIM_WALKERS);
}

/* Takes the place that is free first, from `now` on.  Returns when; *place says which. */
static int32_t take_place(const int32_t *places, unsigned n, int32_t now, unsigned *place)
{
	unsigned first = 0;

	for (unsigned i = 1; i < n; i++)
		if (places[i] < places[first])
			first = i;
	*place = first;
	return places[first] > now ? places[first] : now;
}

/* Takes a turn on a way that passes one line after another.  Who needs it later than now, because it
 * waits for something else first, keeps nobody from it: what counts is how much there is to pass.
 * Returns when.
 */
static int32_t take_turn(int64_t *free, int32_t cost, int32_t now, int32_t needed)
{
	const int64_t begin = *free > now * 100ll ? *free : now * 100ll;

	*free = begin + cost;
	return begin / 100 > needed ? (int32_t)(begin / 100) : needed;
}

static unsigned half_of(const struct sim_memory *m, enum sim_level level, uint64_t line)
{
	return m->has_halves[level] ? line >> m->half[level] & 1 : 0;
}

/* Takes a line's turn on the way from a level. */
static int32_t take_way(struct sim_memory *m, enum sim_level level, uint64_t line, int32_t now,
			int32_t needed)
{
	needed = take_turn(&m->read_free[level][half_of(m, level, line)],
			   m->read_cost[level] << m->has_halves[level], now, needed);
	if (level == SIM_IN_L2 && m->half_cost)
		needed = take_turn(&m->half_free[line & 1], m->half_cost, now, needed);
	if (level == SIM_IN_L2 && m->quarter_cost)
		needed = take_turn(&m->quarter_free[line & 3], m->quarter_cost, now, needed);
	return needed;
}

/* The same as far as the first level: what comes from farther away passes the second one, too. */
static int32_t take_ways(struct sim_memory *m, enum sim_level level, uint64_t line, int32_t now,
			 int32_t needed)
{
	if (level > SIM_IN_L2)
		needed = take_way(m, level, line, now, needed);
	return take_way(m, SIM_IN_L2, line, now, needed);
}

/* A line is written that will go back one day: the ways there are as busy as that takes. */
static int32_t take_way_back(struct sim_memory *m, enum sim_level level, int32_t now,
			     int32_t needed)
{
	for (unsigned i = SIM_IN_L2; i <= level; i++)
		needed = take_turn(&m->write_free[i], m->write_cost[i], now, needed);
	return needed;
}

/* Returns when the address of a page is known. */
static int32_t find_page(struct sim_memory *m, int32_t now, enum sim_page page)
{
	unsigned walker, fill;
	int32_t begin;

	if (page == SIM_PAGE_KNOWN)
		return now;
	begin = m->page_cost ? take_turn(&m->page_free, m->page_cost, now, now) : now;
	if (page == SIM_PAGE_SECOND)
		return begin + m->second_page;
	begin = take_place(m->walker, m->n_walkers, begin, &walker);
	/* It loads from the page tables, which takes a buffer of the first level like other loads. */
	begin = take_place(m->fill, m->n_fills, begin, &fill);
	m->walker[walker] = begin + m->walk;
	if (page > SIM_PAGE_WALKED) /* the entry is not near */
		m->walker[walker] +=
			m->extra[page - SIM_PAGE_WALKED + SIM_IN_L2] - m->extra[SIM_IN_L2];
	m->fill[fill] = m->walker[walker];
	return m->walker[walker] + m->second_page;
}

static unsigned slot_of(uint64_t line)
{
	return (unsigned)(line ^ line >> 10) & (SIM_LINES - 1);
}

static void note_line(struct sim_memory *m, uint64_t line, int32_t ready, enum sim_level to)
{
	const unsigned slot = slot_of(line);

	m->lines[slot].line = line;
	m->lines[slot].ready = ready;
	m->lines[slot].to = (uint8_t)to;
}

/* Waits until its set of the first level takes a line, as for a way: a line that waits for something
 * else keeps no other one from the set.  Returns when.
 */
static int32_t take_set(struct sim_memory *m, uint64_t line, enum sim_level level, int32_t now,
			int32_t needed)
{
	int32_t *free = &m->set_free[line % m->n_sets];
	const int32_t begin = *free > now ? *free : now;

	if (!m->set_fill)
		return needed;
	*free = begin + (level > SIM_IN_L2 ? m->far_set_fill : m->set_fill);
	return begin > needed ? begin : needed;
}

/* Brings a line into the first level, not before `from`.  Returns when it is there. */
static int32_t fetch_line(struct sim_memory *m, int32_t now, int32_t from, uint64_t line,
			  enum sim_level level)
{
	unsigned fill, place = 0;
	int32_t begin = take_place(m->fill, m->n_fills, from, &fill), ready;

	if (level > SIM_IN_L2)
		begin = take_place(m->queue, m->n_queue, begin, &place);
	begin = take_set(m, line, level, now, take_ways(m, level, line, now, begin));
	ready = begin + m->extra[level];
	m->fill[fill] = ready + m->fill_hold;
	if (level > SIM_IN_L2)
		m->queue[place] = ready;
	note_line(m, line, ready, SIM_IN_L1);
	return ready;
}

/* An access of a line. */
static int32_t access_line(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level,
			   enum sim_page page)
{
	const unsigned slot = slot_of(line);
	int32_t from = find_page(m, now, page);

	if (m->lines[slot].line == line && m->lines[slot].ready > from) {
		/* It is on its way already; or was, if it has had to make room again since. */
		if (m->lines[slot].to == SIM_IN_L1 && level == SIM_IN_L1)
			return m->lines[slot].ready;
		level = SIM_IN_L2;
		from = m->lines[slot].ready;
	}
	return level == SIM_IN_L1 ? from : fetch_line(m, now, from, line, level);
}

/* A store past the caches: the stores to a line are gathered, and leave as one. */
static int32_t pass_line(struct sim_memory *m, int32_t now, uint64_t line, enum sim_page page)
{
	const int32_t from = find_page(m, now, page);

	if (line == m->passed)
		return from;
	m->passed = line;
	/* On its way to memory it meets what comes from there: nothing comes back, so that it takes
	 * half as long.
	 */
	take_turn(&m->read_free[SIM_IN_L3][half_of(m, SIM_IN_L3, line)],
		  (m->read_cost[SIM_IN_L3] << m->has_halves[SIM_IN_L3]) / 2, now, from);
	take_turn(&m->read_free[SIM_IN_MEMORY][0], m->read_cost[SIM_IN_MEMORY] / 2, now, from);
	return take_turn(&m->write_free[SIM_IN_L1], m->write_cost[SIM_IN_L1], now, from);
}

int32_t sim_memory_load(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level,
			enum sim_page page)
{
	const int32_t ready = access_line(m, now, line, level, page);

	return ready > now && m->wait_cost ? take_turn(&m->wait_free, m->wait_cost, now, ready)
					   : ready;
}

int32_t sim_memory_prefetch(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level,
			    enum sim_page page)
{
	unsigned fill;
	const int32_t free = level == SIM_IN_L1 ? now : take_place(m->fill, m->n_fills, now, &fill);

	access_line(m, now, line, level, page);
	return free;
}

int32_t sim_memory_free(const struct sim_memory *m, int32_t now, enum sim_level level)
{
	unsigned place;

	if (level > SIM_IN_L1)
		now = take_place(m->fill, m->n_fills, now, &place);
	return level > SIM_IN_L2 ? take_place(m->queue, m->n_queue, now, &place) : now;
}

int32_t sim_memory_store(struct sim_memory *m, int32_t now, const struct sim_trip *trip)
{
	const enum sim_level level = (enum sim_level)trip->level;
	const enum sim_page page = (enum sim_page)trip->page;
	int32_t there;

	if (level == SIM_PAST_CACHES)
		return pass_line(m, now, trip->line, page);
	there = access_line(m, now, trip->line, level, page);
	if (trip->written) /* it will leave its set one day, and that takes longer */
		m->set_free[trip->line % m->n_sets] += m->set_write;
	return take_way_back(m, (enum sim_level)trip->written, now, there);
}

void sim_memory_fetch(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level from,
		      enum sim_level to)
{
	unsigned place = 0, fill = 0;
	int32_t begin = now, ready;

	if (from <= to)
		return;
	/* It may be on its way there still. */
	if (m->lines[slot_of(line)].line == line && m->lines[slot_of(line)].ready > begin)
		begin = m->lines[slot_of(line)].ready;
	if (to == SIM_IN_L1) /* it takes a place as a load does */
		begin = take_place(m->fill, m->n_fills, begin, &fill);
	if (from > SIM_IN_L2)
		begin = take_place(m->queue, m->n_queue, begin, &place);
	begin = to == SIM_IN_L1 ? take_set(m, line, from, now, take_ways(m, from, line, now, begin))
				: take_way(m, from, line, now, begin);
	/* A load from where it arrives takes its own time on top. */
	ready = begin + m->extra[from] - m->extra[to];
	if (to == SIM_IN_L1)
		m->fill[fill] = ready + m->fill_hold;
	if (from > SIM_IN_L2)
		m->queue[place] = ready;
	note_line(m, line, ready, to);
}

void sim_memory_rebase(struct sim_memory *m, int32_t by)
{
	for (unsigned i = 0; i < SIM_LEVELS; i++) {
		m->read_free[i][0] -= by * 100ll;
		m->read_free[i][1] -= by * 100ll;
		m->write_free[i] -= by * 100ll;
	}
	for (unsigned i = 0; i < 4; i++) {
		m->half_free[i & 1] -= i < 2 ? by * 100ll : 0;
		m->quarter_free[i] -= by * 100ll;
	}
	m->wait_free -= by * 100ll;
	m->page_free -= by * 100ll;
	for (unsigned i = 0; i < SIM_MAX_FILLS; i++)
		m->fill[i] = m->fill[i] > by ? m->fill[i] - by : 0;
	for (unsigned i = 0; i < SIM_SETS; i++)
		m->set_free[i] = m->set_free[i] > by ? m->set_free[i] - by : 0;
	for (unsigned i = 0; i < SIM_MAX_QUEUE; i++)
		m->queue[i] = m->queue[i] > by ? m->queue[i] - by : 0;
	for (unsigned i = 0; i < SIM_WALKERS; i++)
		m->walker[i] = m->walker[i] > by ? m->walker[i] - by : 0;
	for (unsigned i = 0; i < SIM_LINES; i++)
		m->lines[i].ready = m->lines[i].ready > by ? m->lines[i].ready - by : 0;
}
