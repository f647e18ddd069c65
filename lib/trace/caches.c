/* SPDX-License-Identifier: MIT
 *
 * Caches, TLBs and prefetchers.
 *
 * The first level is indexed by addresses.  The others are by physical ones, which nobody knows: a
 * page is anywhere, so two pages meet in the second level as chance has it.  Here each line of a page
 * has its own chance, so that no run is lucky.  In the last level, too, the place within a page is a
 * part of the index: lines 4 KiB apart meet.  Zen 4 has a better hash, which leaves only the place
 * within 512 bytes alone.  Levels evict what was least recently used; the second one may have ages of
 * two bits instead, as Intel's do, or evict any line of a set, as Zen 4's seems to.
 *
 * Two prefetchers, as Intel's optimization manual and AMD's guides describe them: one follows lines
 * that miss the first level in order within a page, and fetches what follows into the second level;
 * the other one follows the distance between loads of one instruction, and fetches the next one into
 * the first level.  What it fetches counts as an access for the former: else a chain of loads through
 * lines in order would wait for each of them.  So does what prefetch instructions bring to the first
 * level.
 */
#include "trace/caches.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

#include "arch/params.h"

enum {
	STREAM_LINES = 4096 / CACHE_LINE, /* most prefetchers do not leave 4 KiB */
	AFTER = 2,			  /* accesses in order before anything is fetched */
	A_TIME = 2,			  /* lines that are fetched because of one access */
	FAR_STRIDE = 2048		  /* bytes; longer distances are not followed */
};

/* Page tables are data too: so many entries to a line, somewhere where no program is. */
enum { ENTRIES_A_LINE = 8 };
#define TABLES ((uint64_t)1 << 58)

/* The kernel is in the upper half of the addresses. */
enum { KERNEL_LINES_A_PAGE = 3 };
/* Lines of others before they come again: 64 MiB of them, more than a last level keeps. */
enum { OTHERS_LINES = 1 << 20 };
#define KERNEL ((uint64_t)1 << 57)

static int init_level(struct cache_level *l, uint64_t entries, unsigned ways, bool is_hashed)
{
	size_t sets = 1;

	/* Sets are powers of two; other sizes are rounded down to the next one. */
	while (2 * sets * ways <= entries)
		sets *= 2;
	l->sets = is_hashed && entries > ways ? (size_t)(entries / ways) : sets;
	l->ways = ways;
	l->lines = calloc(l->sets * ways, sizeof(*l->lines));
	return l->lines ? 0 : -TACT_E_NOMEM;
}

/* Ways that divide a number of entries into sets of a power of two: TLBs have 12 ways, and 6. */
static unsigned ways_of(int entries)
{
	unsigned sets = 1;

	while (entries % (int)(2 * sets) == 0 && (unsigned)entries / (2 * sets) >= 4)
		sets *= 2;
	return (unsigned)entries / sets;
}

int caches_init(struct caches *c, const struct arch_params *p, const uint64_t *bytes)
{
	const int kib[CACHE_LEVELS] = {p->l1_kib, p->l2_kib, p->l3_kib};
	const int ways[CACHE_LEVELS] = {p->l1_ways, p->l2_ways, p->l3_ways};
	const int pages[2] = {p->tlb_pages, p->tlb2_pages};
	int status = 0;

	memset(c, 0, sizeof(*c));
	c->ahead = (unsigned)p->prefetch_lines;
	c->near = p->prefetch_near;
	c->crosses_pages = p->prefetch_pages;
	c->hints_reach_memory = p->prefetch_hint_memory;
	while ((CACHE_LINE << c->page_shift) / 1024 < p->page_kib)
		c->page_shift++;
	while (c->index_shift < c->page_shift &&
	       (!p->l2_index_bytes || CACHE_LINE << c->index_shift < p->l2_index_bytes))
		c->index_shift++;
	for (unsigned i = 0; i < CACHE_LEVELS && !status; i++)
		status = init_level(&c->level[i],
				    (bytes && bytes[i] ? bytes[i] : (uint64_t)kib[i] * 1024) /
					    CACHE_LINE,
				    (unsigned)ways[i], i == CACHE_LEVELS - 1);
	c->level[1].has_ages = p->l2_ages;
	c->level[1].is_random = p->l2_random;
	for (unsigned i = 0; i < 2 && !status; i++)
		status = init_level(&c->tlb[i], (uint64_t)pages[i], ways_of(pages[i]), false);
	if (!status)
		status = sharing_init(&c->sharing, p, c->level[CACHE_LEVELS - 1].sets,
				      c->level[CACHE_LEVELS - 1].ways);
	if (!status)
		status = store_sets_init(&c->store_sets, c->level[0].sets, c->level[0].ways,
					 p->l1_set_ahead);
	if (status)
		caches_fini(c);
	return status;
}

void caches_fini(struct caches *c)
{
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		free(c->level[i].lines);
	free(c->tlb[0].lines);
	free(c->tlb[1].lines);
	sharing_fini(&c->sharing);
	store_sets_fini(&c->store_sets);
	memset(c, 0, sizeof(*c));
}

/* ---- lines ---- */

static uint64_t hash(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15u;
	v = (v ^ v >> 32) * 0xff51afd7ed558ccdu;
	return v ^ v >> 32;
}

/* Moves a number to the front of a set.  Returns whether it was there. */
static inline bool touch(uint64_t *set, size_t ways, uint64_t number)
{
	uint64_t held = set[0];
	size_t w = 0;

	if ((held & CACHE_NUMBER) == number + 1)
		return true;
	while (++w < ways) {
		uint64_t next = set[w];

		set[w] = held;
		if ((next & CACHE_NUMBER) == number + 1) {
			set[0] = next;
			return true;
		}
		held = next;
	}
	set[0] = number + 1;
	return false;
}

/* The same for a set whose lines have ages.  What is new has age 1, what is used again 0; the first
 * line of age 3 is evicted; when none has it, the others age until one has (QLRU_H00_M1_R0_U1 in
 * Abel and Reineke's naming).  Returns its place; *is_hit says whether it was there.
 */
static uint64_t *touch_aged(uint64_t *set, size_t ways, uint64_t number, bool *is_hit)
{
	uint64_t *place = NULL, *oldest = set, *unused = NULL, most = 0;

	for (size_t w = ways; w-- > 0;) {
		if (!set[w])
			unused = set + w;
		else if ((set[w] & CACHE_NUMBER) == number + 1)
			place = set + w;
		else if ((set[w] & CACHE_AGE) == CACHE_AGE)
			oldest = set + w;
	}
	*is_hit = place != NULL;
	if (place) {
		*place &= ~CACHE_AGE;
	} else {
		place = unused ? unused : oldest;
		*place = (number + 1) | (uint64_t)1 << CACHE_AGE_BIT;
		if (unused)
			return place;
	}
	for (size_t w = 0; w < ways; w++)
		most = (set[w] & CACHE_AGE) > most ? set[w] & CACHE_AGE : most;
	if (most < CACHE_AGE)
		for (size_t w = 0; w < ways; w++)
			set[w] += set[w] && set + w != place ? CACHE_AGE - most : 0;
	return place;
}

/* The same for a set that evicts any of its lines. */
static uint64_t *touch_any(struct cache_level *l, uint64_t *set, uint64_t number, bool *is_hit)
{
	uint64_t *place = NULL;

	for (size_t w = 0; w < l->ways; w++) {
		if ((set[w] & CACHE_NUMBER) == number + 1) {
			*is_hit = true;
			return set + w;
		}
		if (!set[w])
			place = set + w;
	}
	*is_hit = false;
	if (!place)
		place = set + (hash(++l->evictions) >> 32) % l->ways;
	*place = number + 1;
	return place;
}

static uint64_t *set_of(const struct caches *c, unsigned level, uint64_t line)
{
	const struct cache_level *l = &c->level[level];
	const uint64_t within = ((uint64_t)1 << c->index_shift) - 1;
	uint64_t at = line;

	if (level == CACHE_LEVELS - 1 && l->sets > within)
		at = ((hash(line) >> 32) * (l->sets >> c->index_shift) >> 32) << c->index_shift |
		     (line & within);
	else if (level == CACHE_LEVELS - 1)
		at = (hash(line) >> 32) * l->sets >> 32;
	else if (level)
		at = ((hash(line) << c->index_shift) | (line & within)) & (l->sets - 1);
	else
		at &= l->sets - 1;
	return l->lines + at * l->ways;
}

/* Finds a line and brings it into all levels down to `to`.  Returns where it was. */
static unsigned bring(struct caches *c, uint64_t line, unsigned to)
{
	uint64_t *place[CACHE_LEVELS];
	unsigned i = to;

	for (; i < CACHE_LEVELS; i++) {
		struct cache_level *l = &c->level[i];
		bool is_hit;

		place[i] = set_of(c, i, line);
		if (i == CACHE_LEVELS - 1 && c->sharing.stamps)
			sharing_displace(&c->sharing, (size_t)(place[i] - l->lines) / l->ways,
					 place[i], l->ways);
		if (l->has_ages)
			place[i] = touch_aged(place[i], l->ways, line, &is_hit);
		else if (l->is_random)
			place[i] = touch_any(l, place[i], line, &is_hit);
		else
			is_hit = touch(place[i], l->ways, line);
		if (is_hit)
			break;
	}
	for (unsigned k = to; k < i && k < CACHE_LEVELS - 1; k++)
		*place[k] |= (uint64_t)i << CACHE_FROM_BIT;
	return i;
}

/* Where a line came from that is written now for the first time: 0 if it was written before.  It
 * will go back there, through the levels between.
 */
static unsigned write_to(uint64_t *place)
{
	const uint64_t was = *place;

	*place |= CACHE_WRITTEN;
	return was & CACHE_WRITTEN ? 0 : (unsigned)((was & CACHE_FROM) >> CACHE_FROM_BIT);
}

/* A line that was just brought to the first level, to `place`, is written.  Returns to which level it
 * will have to go back; 0: that is known already.
 */
static unsigned write_line(struct caches *c, uint64_t line, uint64_t *place)
{
	const unsigned near = write_to(place);
	uint64_t *set;

	if (!near)
		return 0;
	set = set_of(c, 1, line);
	for (size_t w = 0; w < c->level[1].ways; w++)
		if ((set[w] & CACHE_NUMBER) == line + 1) {
			const unsigned far = write_to(set + w);

			return far > near ? far : near;
		}
	return near;
}

static void forget_line(uint64_t *set, size_t ways, uint64_t line)
{
	for (size_t w = 0; w < ways; w++)
		if ((set[w] & CACHE_NUMBER) == line + 1) {
			memmove(set + w, set + w + 1, (ways - 1 - w) * sizeof(*set));
			set[ways - 1] = 0;
			return;
		}
}

/* ---- pages ---- */

/* Returns 0: the first TLB has the page, 1: the second one; otherwise 2 and more, by the level in
 * which its entry of the page table is found.
 */
static unsigned find_page(struct caches *c, uint64_t page)
{
	uint64_t *recent = &c->recent[page % CACHE_RECENT], before = *recent;
	struct cache_level *l = c->tlb;
	unsigned level;

	if (before == page + 1)
		return 0;
	/* The page that was found here without a search has been used until now. */
	if (before)
		touch(l->lines + ((before - 1) & (l->sets - 1)) * l->ways, l->ways, before - 1);
	*recent = page + 1;
	if (touch(l->lines + (page & (l->sets - 1)) * l->ways, l->ways, page))
		return 0;
	c->page_misses[0]++;
	l++;
	if (touch(l->lines + (page & (l->sets - 1)) * l->ways, l->ways, page))
		return 1;
	c->page_misses[1]++;
	level = bring(c, TABLES + page / ENTRIES_A_LINE, 1);
	return 1 + level;
}

/* ---- prefetchers ---- */

/* Returns whether the line was farther away. */
static bool fetch(struct caches *c, uint64_t line, unsigned to, struct tact_stream_trip *out)
{
	unsigned from;

	if (out->n_fetched == TACT_STREAM_FETCHES)
		return false;
	from = bring(c, line, to);
	if (from <= to)
		return false;
	out->fetched[out->n_fetched++] =
		(struct tact_stream_fetch){line, (uint8_t)from, (uint8_t)to};
	return true;
}

static struct cache_stream *stream_of(struct caches *c, uint64_t page)
{
	return &c->streams[(page ^ page >> 6) % CACHE_STREAMS];
}

/* What is fetched from the next page needs its address, which is then known when it is accessed. */
static void find_page_ahead(struct caches *c, uint64_t page)
{
	const uint64_t misses[2] = {c->page_misses[0], c->page_misses[1]};

	find_page(c, page * STREAM_LINES >> c->page_shift);
	memcpy(c->page_misses, misses, sizeof(misses));
}

/* A page that no stream has been in: one that comes from the page before or behind it goes on. */
static struct cache_stream enter_page(struct caches *c, uint64_t page, int at)
{
	struct cache_stream next = {.page = page, .last = (uint8_t)at, .ahead = (int8_t)at};

	for (int direction = -1; direction <= 1 && c->crosses_pages; direction += 2) {
		const struct cache_stream *s = stream_of(c, page - (uint64_t)(int64_t)direction);
		const int distance = (at + direction * STREAM_LINES - (int)s->last) * direction;

		if (s->page == page - (uint64_t)(int64_t)direction && s->count >= AFTER &&
		    s->direction == direction && distance >= 1 && distance <= c->near) {
			next.direction = s->direction;
			next.count = s->count;
			next.ahead = (int8_t)(s->ahead - direction * STREAM_LINES);
		}
	}
	return next;
}

/* A line misses the first level: an access, or what is fetched there because of one. */
static void follow_stream(struct caches *c, uint64_t line, struct tact_stream_trip *out)
{
	const uint64_t page = line / STREAM_LINES;
	const int at = (int)(line % STREAM_LINES);
	struct cache_stream *s = stream_of(c, page);
	int distance = at - (int)s->last, direction = distance < 0 ? -1 : 1, far, target;

	if (s->page != page) {
		*s = enter_page(c, page, at);
		direction = s->direction;
		if (!direction)
			return;
	} else if (distance > c->near || distance < -c->near) {
		*s = (struct cache_stream){.page = page, .last = (uint8_t)at, .ahead = (int8_t)at};
		return;
	} else if (!distance) {
		return;
	}
	if (direction != s->direction) {
		s->direction = (int8_t)direction;
		s->count = 0;
	}
	if (!s->count || (s->ahead - at) * direction < 0)
		s->ahead = (int8_t)at;
	s->last = (uint8_t)at;
	s->count += s->count < UINT8_MAX;
	if (s->count < AFTER)
		return;
	/* Farther and farther ahead. */
	far = (int)(2u * s->count < c->ahead ? 2u * s->count : c->ahead);
	target = at + direction * far;
	if (!c->crosses_pages)
		target = target < 0 ? 0 : target >= STREAM_LINES ? STREAM_LINES - 1 : target;
	for (unsigned n = 0; n < A_TIME && (target - s->ahead) * direction > 0; n++) {
		s->ahead = (int8_t)(s->ahead + direction);
		fetch(c, page * STREAM_LINES + (uint64_t)(int64_t)s->ahead, 1, out);
		if (s->ahead == (direction > 0 ? STREAM_LINES : -1))
			find_page_ahead(c, page + (uint64_t)(int64_t)direction);
	}
}

/* An instruction reaches another line. */
static void follow_stride(struct caches *c, uint64_t insn, uint64_t address,
			  struct tact_stream_trip *out)
{
	struct cache_stride *s = caches_stride(c, insn);
	const int64_t stride = (int64_t)(address - s->last);

	if (s->insn != insn) {
		*s = (struct cache_stride){.insn = insn, .last = address};
		return;
	}
	s->last = address;
	if (stride != s->stride) {
		s->stride = stride;
		s->count = 0;
		return;
	}
	s->count += s->count < UINT8_MAX;
	if (c->ahead && s->count >= AFTER && stride <= FAR_STRIDE && stride >= -FAR_STRIDE) {
		const uint64_t line = (address + (uint64_t)stride) / CACHE_LINE;

		if (fetch(c, line, 0, out))
			follow_stream(c, line, out);
	}
}

/* ---- accesses ---- */

/* The first level does not have a line, which is at `place` there now. */
static void miss_line(struct caches *c, uint64_t line, uint64_t *place,
		      struct tact_stream_trip *out)
{
	const unsigned level = bring(c, line, 1);

	*place |= (uint64_t)level << CACHE_FROM_BIT;
	for (unsigned i = 0; i < level; i++)
		c->misses[i]++;
	sharing_wait(&c->sharing, level);
	if (level > out->level) {
		out->level = (uint8_t)level;
		out->line = line;
	}
}

/* Most of what is not simple is in the first level all the same. */
static inline void access_line(struct caches *c, uint64_t line, bool is_store,
			       struct tact_stream_trip *out)
{
	const uint64_t page = line >> c->page_shift;
	uint64_t *set = set_of(c, 0, line);
	bool is_hit;

	if (c->recent[page % CACHE_RECENT] != page + 1) {
		const unsigned found = find_page(c, page);

		if (found > out->page)
			out->page = (uint8_t)found;
	}
	is_hit = touch(set, c->level[0].ways, line);
	if (!is_hit)
		miss_line(c, line, set, out);
	if (is_store && c->store_sets.sets && store_sets_displaced(&c->store_sets, line) &&
	    is_hit) {
		c->misses[0]++;
		out->level = out->level ? out->level : 1;
	}
	if (is_store && !(*set & CACHE_WRITTEN)) {
		const unsigned to = write_line(c, line, set);

		out->written = to > out->written ? (uint8_t)to : out->written;
	}
	if (!is_hit && c->ahead)
		follow_stream(c, line, out);
}

void caches_search(struct caches *c, uint64_t address, uint32_t size, uint64_t insn, bool is_store,
		   struct tact_stream_trip *out)
{
	uint64_t line = address / CACHE_LINE, last = (address + (size ? size - 1 : 0)) / CACHE_LINE;

	out->line = line;
	out->level = out->page = out->n_fetched = out->written = 0;
	/* A repeated string instruction may move a lot: all its lines pass through. */
	for (; line <= last; line++)
		access_line(c, line, is_store, out);
	if (!is_store && caches_stride(c, insn)->last / CACHE_LINE != address / CACHE_LINE)
		follow_stride(c, insn, address, out);
}

void caches_pass(struct caches *c, uint64_t address, uint32_t size, struct tact_stream_trip *out)
{
	uint64_t line = address / CACHE_LINE, last = (address + (size ? size - 1 : 0)) / CACHE_LINE;

	*out = (struct tact_stream_trip){.line = line, .level = CACHE_LEVELS + 1};
	for (; line <= last; line++) {
		const unsigned page = find_page(c, line >> c->page_shift);

		if (page > out->page)
			out->page = (uint8_t)page;
		for (unsigned i = 0; i < CACHE_LEVELS; i++)
			forget_line(set_of(c, i, line), c->level[i].ways, line);
	}
}

static bool holds(const struct caches *c, unsigned level, uint64_t line)
{
	const uint64_t *set = set_of(c, level, line);

	for (size_t w = 0; w < c->level[level].ways; w++)
		if ((set[w] & CACHE_NUMBER) == line + 1)
			return true;
	return false;
}

void caches_prefetch(struct caches *c, uint64_t address, bool is_to_second,
		     struct tact_stream_trip *out)
{
	const uint64_t misses[2] = {c->page_misses[0], c->page_misses[1]};
	const uint64_t line = address / CACHE_LINE;
	uint64_t *set = set_of(c, 0, line);

	*out = (struct tact_stream_trip){.line = line};
	out->page = (uint8_t)find_page(c, line >> c->page_shift);
	memcpy(c->page_misses, misses, sizeof(misses));
	if (is_to_second) {
		if (c->hints_reach_memory || holds(c, CACHE_LEVELS - 1, line))
			fetch(c, line, 1, out);
		return;
	}
	if (touch(set, c->level[0].ways, line))
		return;
	out->level = (uint8_t)bring(c, line, 1);
	*set |= (uint64_t)out->level << CACHE_FROM_BIT;
	if (c->ahead)
		follow_stream(c, line, out);
}

unsigned caches_fetch_code(struct caches *c, uint64_t address)
{
	return bring(c, address / CACHE_LINE, 1);
}

unsigned caches_bring(struct caches *c, uint64_t line)
{
	unsigned level;

	find_page(c, line >> c->page_shift);
	level = bring(c, line, 0);
	for (unsigned i = 0; i < level; i++)
		c->misses[i]++;
	return level;
}

/* ---- the kernel ---- */

uint64_t caches_kernel_line(enum caches_kernel kind, unsigned i)
{
	const uint64_t page =
		KERNEL / STREAM_LINES + ((uint64_t)kind << 20) + i / KERNEL_LINES_A_PAGE;

	return page * STREAM_LINES + (hash((uint64_t)kind << 32 | i) >> 32) % STREAM_LINES;
}

/* Pages that were found without a search have been used until now. */
static void settle_pages(struct caches *c)
{
	struct cache_level *l = c->tlb;

	for (size_t i = 0; i < CACHE_RECENT; i++)
		if (c->recent[i])
			touch(l->lines + ((c->recent[i] - 1) & (l->sets - 1)) * l->ways, l->ways,
			      c->recent[i] - 1);
	memset(c->recent, 0, sizeof(c->recent));
}

void caches_enter_kernel(struct caches *c, unsigned lines)
{
	const uint64_t misses[2] = {c->page_misses[0], c->page_misses[1]};

	settle_pages(c);
	for (unsigned i = 0; i < lines; i++) {
		const uint64_t line = caches_kernel_line(CACHES_KERNEL_DATA, i);

		find_page(c, line >> c->page_shift);
		bring(c, line, 0);
	}
	memset(c->recent, 0, sizeof(c->recent));
	memcpy(c->page_misses, misses, sizeof(misses));
}

void caches_wait(struct caches *c, unsigned lines, bool loses_pages)
{
	for (unsigned i = 0; i < lines; i++)
		bring(c, caches_kernel_line(CACHES_OTHERS, c->others++ % OTHERS_LINES), 0);
	if (!loses_pages)
		return;
	memset(c->recent, 0, sizeof(c->recent));
	for (unsigned i = 0; i < 2; i++)
		memset(c->tlb[i].lines, 0,
		       c->tlb[i].sets * c->tlb[i].ways * sizeof(*c->tlb[i].lines));
}

void caches_fill_page(struct caches *c, uint64_t address)
{
	const uint64_t first = address / 4096 * 4096 / CACHE_LINE;

	for (unsigned i = 0; i < 4096 / CACHE_LINE; i++)
		bring(c, first + i, 1);
}
