/* SPDX-License-Identifier: MIT
 *
 * Where code comes from.
 *
 * The DSB holds windows of code.  A window takes as many lines as its uops need, of the ways of its
 * set; the window that was used least recently makes room.  Instructions count as one uop each: how
 * many there are is known without decoding them.  A block whose windows are all there needs no
 * bytes; otherwise its lines pass through the first-level cache.
 */
#include "trace/code_caches.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

#include "arch/params.h"
#include "trace/caches.h"

enum { MOST_LINES = 32 /* of a block, that struct code_fetch has room for */ };

static int init_table(struct code_table *t, size_t n, size_t ways)
{
	t->ways = ways < n ? ways : n;
	t->sets = 1;
	/* Sets are powers of two; other sizes are rounded down to the next one. */
	while (2 * t->sets * t->ways <= n)
		t->sets *= 2;
	t->held = calloc(t->sets * t->ways, sizeof(*t->held));
	return t->held ? 0 : -TACT_E_NOMEM;
}

/* Moves a line or page to the front of its set.  Returns whether it was there. */
static bool touch(struct code_table *t, uint64_t number)
{
	uint64_t *set, held;
	size_t w = 0;

	if (t->last == number + 1)
		return true;
	t->last = number + 1;
	set = t->held + (number & (t->sets - 1)) * t->ways;
	held = set[0];
	while (held != number + 1 && ++w < t->ways) {
		const uint64_t next = set[w];

		set[w] = held;
		held = next;
	}
	set[0] = number + 1;
	return held == number + 1;
}

int code_caches_init(struct code_caches *c, const struct arch_params *p, struct caches *shared)
{
	enum { TLB_WAYS = 8 };
	int status = 0;

	memset(c, 0, sizeof(*c));
	c->params = p;
	c->shared = shared;
	if (p->dsb_size) {
		c->ways = (size_t)p->dsb_ways;
		c->sets = (size_t)p->dsb_size > c->ways ? (size_t)p->dsb_size / c->ways : 1;
		c->windows = calloc(c->sets * c->ways, sizeof(*c->windows));
		c->held = calloc(c->sets, sizeof(*c->held));
		status = c->windows && c->held ? 0 : -TACT_E_NOMEM;
		while (1 << c->window_shift < p->dsb_window)
			c->window_shift++;
	}
	if (status >= 0 && shared &&
	    (init_table(&c->lines, (size_t)p->l1i_kib * 1024 / CODE_LINE, (size_t)p->l1i_ways) <
		     0 ||
	     init_table(&c->pages, (size_t)p->itlb_pages, TLB_WAYS) < 0 ||
	     init_table(&c->pages_2, (size_t)p->itlb2_pages, TLB_WAYS) < 0))
		status = -TACT_E_NOMEM;
	if (status < 0)
		code_caches_fini(c);
	return status;
}

void code_caches_fini(struct code_caches *c)
{
	free(c->windows);
	free(c->held);
	free(c->lines.held);
	free(c->pages.held);
	free(c->pages_2.held);
	memset(c, 0, sizeof(*c));
}

/* ---- the DSB ---- */

#define KERNEL_WINDOW UINT64_MAX /* no address has it */

/* Returns the window of a set that was used least recently, but not `keep`; NULL: there is none. */
static struct code_window *find_oldest(const struct code_caches *c, size_t number,
				       const struct code_window *keep)
{
	struct code_window *set = c->windows + number * c->ways, *oldest = NULL;
	uint32_t most = 0;

	for (size_t w = 0; w < c->ways; w++) {
		const bool counts = set[w].window && &set[w] != keep;
		const uint32_t age = counts ? c->clock - set[w].used + 1 : 0;

		oldest = age > most ? &set[w] : oldest;
		most = age > most ? age : most;
	}
	return oldest;
}

/* Lets windows of a set go until so many lines are free, but not `keep`. */
static void make_room(const struct code_caches *c, size_t number, const struct code_window *keep,
		      unsigned lines)
{
	uint16_t *held = &c->held[number];
	const unsigned kept = keep ? keep->lines : 0;

	while (*held - kept + lines > c->ways) {
		struct code_window *oldest = find_oldest(c, number, keep);

		if (!oldest)
			return;
		oldest->window = 0;
		*held = (uint16_t)(*held - oldest->lines);
	}
}

/* Puts a part of a window, with so many uops, into its set.  NULL for at: it has no entry yet. */
static void build(struct code_caches *c, size_t number, struct code_window *at,
		  const struct code_window *part)
{
	const struct arch_params *p = c->params;
	struct code_window *set = c->windows + number * c->ways;
	unsigned uops = part->uops + (at ? at->uops : 0u), lines;

	lines = (uops + (unsigned)p->dsb_line_uops - 1) / (unsigned)p->dsb_line_uops;
	if (lines > (unsigned)p->dsb_lines || lines > c->ways) {
		/* More than a window may have: what was there makes room. */
		uops = part->uops;
		lines = (uops + (unsigned)p->dsb_line_uops - 1) / (unsigned)p->dsb_line_uops;
		if (at)
			at->starts = 0;
		if (lines > (unsigned)p->dsb_lines || lines > c->ways)
			return;
	}
	make_room(c, number, at, lines);
	for (size_t w = 0; w < c->ways && !at; w++)
		if (!set[w].window) {
			at = &set[w];
			at->starts = 0;
			at->lines = 0;
		}
	if (!at)
		return;
	c->held[number] = (uint16_t)(c->held[number] + lines - at->lines);
	at->window = part->window;
	at->starts |= part->starts;
	at->used = c->clock;
	at->uops = (uint8_t)(uops < UINT8_MAX ? uops : UINT8_MAX);
	at->lines = (uint8_t)lines;
}

/* Looks a part of a window up, and leaves it there.  place: where it was last time, if it was.
 * Returns whether it was there.
 */
static bool look_up(struct code_caches *c, const struct code_window *part, struct code_place *place)
{
	struct code_window *set = c->windows + place->at;
	size_t number;

	place->window = part->window;
	place->start = (uint8_t)__builtin_ctzll(part->starts);

	if (set->window == part->window && set->starts & part->starts) {
		set->used = c->clock;
		return true;
	}
	number = (size_t)(part->window % c->sets);
	set = c->windows + number * c->ways;
	for (size_t w = 0; w < c->ways; w++) {
		if (set[w].window != part->window)
			continue;
		set[w].used = c->clock;
		place->at = (uint32_t)(set + w - c->windows);
		if (set[w].starts & part->starts)
			return true;
		build(c, number, &set[w], part);
		return false;
	}
	build(c, number, NULL, part);
	return false;
}

/* Returns whether the DSB holds all of a block; afterwards it does, as far as it can. */
static bool is_cached(struct code_caches *c, const struct code_piece *b, struct code_place *place)
{
	const unsigned shift = c->window_shift;
	const uint64_t width = (uint64_t)1 << shift, end = b->address + b->size;
	uint64_t address = b->address;
	struct code_place other = {.at = 0};
	bool all = true;

	c->clock++;
	place->is_whole = b->size && address >> shift == (end - 1) >> shift;
	while (address < end) {
		const uint64_t next = ((address >> shift) + 1) << shift;
		struct code_window part = {.window = (address >> shift) + 1,
					   .starts = (uint64_t)1 << (address & (width - 1))};

		part.uops = (uint8_t)b->n_insns;
		if (address != b->address || next < end)
			part.uops = (uint8_t)((b->n_insns * ((next < end ? next : end) - address) +
					       b->size - 1) /
					      b->size);
		all &= look_up(c, &part, address == b->address ? place : &other);
		address = next;
	}
	return all;
}

/* ---- caches and TLBs ---- */

/* Returns where the lines of a block come from; they are in the first level afterwards. */
static uint64_t fetch_lines(struct code_caches *c, uint64_t address, uint32_t size, bool is_new)
{
	const uint64_t first = address / CODE_LINE, last = (address + size - 1) / CODE_LINE;
	uint64_t lines = 0;

	for (uint64_t line = first; line <= last; line++) {
		unsigned level;

		if (touch(&c->lines, line))
			continue;
		level = caches_fetch_code(c->shared, line * CODE_LINE);
		/* The kernel has read the file that a program is in, not long ago. */
		if (is_new && level > 2)
			level = 2;
		c->misses[level - 1]++;
		if (line - first < MOST_LINES)
			lines |= (uint64_t)level << 2 * (line - first);
	}
	return lines;
}

static unsigned translate(struct code_caches *c, uint64_t address)
{
	const uint64_t page = address / CODE_PAGE;

	if (touch(&c->pages, page))
		return 0;
	if (touch(&c->pages_2, page))
		return (unsigned)c->params->itlb2_cycles;
	c->walks++;
	return (unsigned)c->params->itlb_walk;
}

void code_caches_execute(struct code_caches *c, const struct code_piece *b, bool is_new,
			 struct code_place *place, struct code_fetch *out)
{
	const uint64_t walks = c->walks;

	*out = (struct code_fetch){.is_decoded = c->windows ? !is_cached(c, b, place) : is_new};
	c->decoded += out->is_decoded;
	if (!out->is_decoded || !c->shared || !b->size)
		return;
	out->delay = translate(c, b->address);
	out->is_walked = c->walks != walks;
	out->lines = fetch_lines(c, b->address, b->size, is_new);
}

/* ---- the kernel ---- */

/* Its windows take lines in all sets alike.  In each set, one that nothing else has stands for them:
 * what is executed afterwards finds it used a moment ago, and replaces what is older first.
 */
static void displace_windows(struct code_caches *c, int lines)
{
	const size_t each = ((size_t)lines + c->sets / 2) / c->sets;
	const unsigned of_each = (unsigned)(each < c->ways ? each : c->ways);

	c->clock++;
	for (size_t i = 0; i < c->sets && of_each; i++) {
		struct code_window *set = c->windows + i * c->ways, *at = NULL;

		for (size_t w = 0; w < c->ways; w++)
			if (set[w].window == KERNEL_WINDOW) {
				set[w].window = 0;
				c->held[i] = (uint16_t)(c->held[i] - set[w].lines);
			}
		make_room(c, i, NULL, of_each);
		for (size_t w = 0; w < c->ways; w++)
			if (!set[w].window)
				at = &set[w];
		if (!at)
			continue;
		*at = (struct code_window){
			.window = KERNEL_WINDOW, .used = c->clock, .lines = (uint8_t)of_each};
		c->held[i] = (uint16_t)(c->held[i] + of_each);
	}
}

static void forget(struct code_table *t)
{
	memset(t->held, 0, t->sets * t->ways * sizeof(*t->held));
	t->last = 0;
}

void code_caches_enter_kernel(struct code_caches *c, const struct kernel_trail *trail)
{
	const int flushed = c->params->dsb_flushed;

	if (c->windows && (flushed == 1 || (trail->is_fault && flushed))) {
		memset(c->windows, 0, c->sets * c->ways * sizeof(*c->windows));
		memset(c->held, 0, c->sets * sizeof(*c->held));
	} else if (c->windows && trail->dsb) {
		displace_windows(c, trail->dsb);
	}
	if (trail->loses_pages && c->shared) {
		forget(&c->pages);
		forget(&c->pages_2);
	}
	for (int i = 0; i < trail->code && c->shared; i++) {
		const uint64_t line = caches_kernel_line(CACHES_KERNEL_CODE, (unsigned)i);

		if (!touch(&c->lines, line))
			caches_fetch_code(c->shared, line * CODE_LINE);
	}
}
