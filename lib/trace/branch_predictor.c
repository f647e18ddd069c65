/* SPDX-License-Identifier: MIT
 *
 * A branch predictor as cores have it: TAGE (Seznec and Michaud, "A case for (partially) tagged
 * geometric history length branch prediction", 2006), its counterpart for targets (ITTAGE; Seznec,
 * "A 64-Kbytes ITTAGE indirect branch predictor", 2011), a branch target buffer of several levels
 * and a stack of return addresses.
 *
 * Each table uses more history than the one before; the table with the longest history that knows
 * the branch decides.  The history is that of the path: the taken branches with their targets.
 * Branches that the BTB does not hold, such as those that were never taken, are not predicted at
 * all, and are not part of the history until they are taken.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "trace/branch_predictor.h"

enum {
	SKIP = 2, /* one new entry in so many goes to a later table than the next one */
	PAGE = 4096,
	WINDOW = 64 /* bytes; code is fetched up to a multiple of them, or to a taken branch */
};

/* ---- history ---- */

/* The hash of a path is a polynomial of the hashes of its branches, the newest one last. */
static const uint64_t BASE = 0x9e3779b97f4a7c15u, MIX = 0xff51afd7ed558ccdu;

static uint64_t hash(uint64_t v)
{
	v *= MIX;
	return v ^ v >> 32;
}

/* What some cores keep of a taken branch: 16 bits, of the last byte's address and of the target
 * (Intel since Sunny Cove: Half&Half, and measured again by Jiajie Chen).  Jumps from one place to
 * targets that are a multiple of 64 bytes apart look the same.
 */
static uint64_t footprint(uint64_t last, uint64_t target)
{
	const uint64_t low = last >> 3 & 0xff, middle = (last & 7) | (last >> 8 & 8);

	return ((low ^ (target & 3)) | (middle ^ (target >> 2 & 15)) << 8 |
		(last >> 12 & 15) << 12) +
	       1;
}

static void lengthen(const struct predictor *p, struct predictor_history *h, uint64_t newest)
{
	const uint64_t old = p->taken[(p->n_taken - h->length) % PREDICTOR_HISTORY];

	h->hash = h->hash * BASE + newest - old * h->leaves;
}

static uint64_t last_byte(const struct predictor_branch *b)
{
	return predictor_next(b) - 1;
}

static void push(struct predictor *p, const struct predictor_branch *b, uint64_t target)
{
	const uint64_t seen =
		p->has_footprint ? footprint(last_byte(b), target) : b->address ^ target * BASE;
	const uint64_t h = hash(seen);

	p->next.is_valid = false;
	for (unsigned i = 0; i < p->n_tables; i++)
		lengthen(p, &p->table[i].history, h);
	p->taken[p->n_taken++ % PREDICTOR_HISTORY] = h;
}

/* ---- the path that targets go by ---- */

static uint64_t window_of(uint64_t address)
{
	return address / WINDOW * WINDOW;
}

static uint64_t low_bits(uint64_t bits, unsigned n)
{
	return n < 64 ? bits & (((uint64_t)1 << n) - 1) : bits;
}

/* A branch that is not taken counts only together with a taken one behind it in its window. */
static void pass_by(struct predictor_path *path, const struct predictor_branch *b)
{
	path->passed = window_of(last_byte(b)) + 1;
}

static void extend(struct predictor_path *path, const struct predictor_branch *b, uint64_t target)
{
	const uint64_t last = last_byte(b), window = window_of(last);
	const bool has_passed = path->passed == window + 1;

	if (has_passed || b->flow == TACT_FLOW_BRANCH) {
		path->outcomes[1] = path->outcomes[1] << 1 | path->outcomes[0] >> 63;
		path->outcomes[0] = path->outcomes[0] << 1 | !has_passed;
	}
	path->sources = path->sources << 2 | (last >> 2 & 3);
	path->before = path->start > window ? path->start : window;
	path->start = target;
	path->passed = 0;
}

/* Returns where the window began from which that of an indirect branch was found. */
static uint64_t window_before(const struct predictor_path *path, const struct predictor_branch *b)
{
	const uint64_t window = window_of(last_byte(b));

	if (path->start >= window)
		return path->before;
	return path->start > window - WINDOW ? path->start : window - WINDOW;
}

/* Returns what the path is for one table, as a hash. */
static uint64_t path_hash(const struct predictor *p, unsigned table, uint64_t before)
{
	const struct predictor_path *path = &p->path;
	const unsigned n = p->path_outcomes[table];
	uint64_t h = hash(before);

	h = hash(h + low_bits(path->sources, 2 * p->path_sources));
	h = hash(h + low_bits(path->outcomes[0], n));
	return hash(h + (n > 64 ? low_bits(path->outcomes[1], n - 64) : 0));
}

static unsigned draw(struct predictor *p)
{
	p->random = p->random * 1664525 + 1013904223; /* Numerical Recipes */
	return p->random >> 16;
}

/* ---- sets ---- */

/* Where a branch belongs in a table: its set, and its tag there.  On some cores a bit of its
 * address chooses the half of the table.
 */
static uint64_t place_of(const struct predictor *p, uint64_t history, uint64_t address)
{
	const uint64_t place = (history ^ address * BASE) * MIX;

	return p->half_bit ? place >> 1 | address >> p->half_bit << 63 : place;
}

static uint32_t set_of(uint64_t place, uint32_t n_sets)
{
	return (uint32_t)((place >> 32) * n_sets >> 32);
}

static uint16_t tag_of(uint64_t place)
{
	return (uint16_t)(place >> 16 | 1);
}

/* Returns the way that holds a tag, or PREDICTOR_WAYS: all ways are compared at once. */
static unsigned find_way(const uint16_t *tags, uint16_t tag)
{
	const uint64_t ones = 0x0001000100010001u, tops = 0x8000800080008000u;
	uint64_t all, found;

	memcpy(&all, tags, sizeof(all));
	all ^= tag * ones;
	found = (all - ones) & ~all & tops; /* the lowest bit is that of the first zero */
	return found ? (unsigned)__builtin_ctzll(found) / 16 : PREDICTOR_WAYS;
}

static void train(int8_t *counter, bool up, int low, int high)
{
	if (up)
		*counter = (int8_t)(*counter + (*counter < high));
	else
		*counter = (int8_t)(*counter - (*counter > low));
}

/* Returns one of the first n ways of a set that may be taken, at random, or PREDICTOR_WAYS: some cores
 * keep entries that were of use.
 */
static unsigned free_way(struct predictor *p, const uint8_t *useful, unsigned n)
{
	const unsigned first = draw(p);

	for (unsigned i = 0; i < n; i++)
		if (!useful[(first + i) % n] || !p->keeps_useful)
			return (first + i) % n;
	return PREDICTOR_WAYS;
}

/* ---- directions ---- */

/* The tables that know a branch, longest history first. */
struct lookup {
	const uint64_t *place;	/* by table */
	int provider;		/* -1: the base */
	int8_t *first, *second; /* counters: the provider's, and the next one's */
	int8_t *base;
	uint8_t *useful; /* the provider's */
};

static struct predictor_set *set_at(const struct predictor *p, unsigned table, uint64_t place)
{
	return &p->table[table].sets[set_of(place, p->n_sets)];
}

/* A lookup waits for its sets, and which table knows the branch cannot be foreseen.  The history is
 * complete long before it is used: so all sets are fetched at that time.
 */
static void find_places(struct predictor *p, uint64_t address)
{
	struct predictor_places *next = &p->next;

	next->address = address;
	next->is_valid = true;
	for (unsigned i = 0; i < p->n_tables; i++) {
		next->place[i] = place_of(p, p->table[i].history.hash, address);
		tact_fetch(set_at(p, i, next->place[i]));
	}
	tact_fetch(&p->base[set_of(hash(address), p->n_base)]);
}

void predictor_prepare(struct predictor *p, const struct predictor_branch *b)
{
	if (b->flow == TACT_FLOW_BRANCH)
		find_places(p, b->address);
}

/* Longer histories come first: the first two that know the branch are enough. */
static void look_up(struct predictor *p, uint64_t address, struct lookup *l)
{
	unsigned known = 0, way[PREDICTOR_TABLES];

	if (!p->next.is_valid || p->next.address != address)
		find_places(p, address);
	l->place = p->next.place;
	for (unsigned i = 0; i < p->n_tables; i++) {
		way[i] = find_way(set_at(p, i, l->place[i])->tag, tag_of(l->place[i]));
		known |= (unsigned)(way[i] < PREDICTOR_WAYS) << i;
	}
	l->base = &p->base[set_of(hash(address), p->n_base)];
	l->first = l->second = l->base;
	l->provider = -1;
	for (unsigned n = 0; known && n < 2; n++) {
		const unsigned i = 31 - (unsigned)__builtin_clz(known);
		struct predictor_set *s = set_at(p, i, l->place[i]);

		known &= ~(1u << i);
		if (n) {
			l->second = &s->counter[way[i]];
			return;
		}
		l->first = &s->counter[way[i]];
		l->useful = &s->useful[way[i]];
		l->provider = (int)i;
	}
}

/* Returns the first table that may take a branch in: one that goes by longer history. */
static unsigned draw_table(struct predictor *p, int provider, unsigned n_tables)
{
	unsigned first = (unsigned)(provider + 1);

	while (first + 1 < n_tables && draw(p) % SKIP == 0)
		first++;
	return first;
}

/* Gives the branch an entry in a table with longer history.  If all places are taken, they become
 * easier to take.
 */
static void allocate(struct predictor *p, const struct lookup *l, bool taken)
{
	const unsigned first = draw_table(p, l->provider, p->n_tables);

	for (unsigned i = first; i < p->n_tables; i++) {
		struct predictor_set *s = set_at(p, i, l->place[i]);
		const unsigned way = free_way(p, s->useful, PREDICTOR_WAYS);

		if (way == PREDICTOR_WAYS)
			continue;
		s->tag[way] = tag_of(l->place[i]);
		s->counter[way] = taken ? 0 : -1;
		return;
	}
	for (unsigned i = first; i < p->n_tables; i++)
		memset(set_at(p, i, l->place[i])->useful, 0, PREDICTOR_WAYS);
}

/* Tells whether the predictor knew the direction.  A table with history needs longer, which matters
 * if it contradicts the base.
 */
static bool predict_direction(struct predictor *p, uint64_t address, bool taken, uint8_t *delay)
{
	bool first, second, is_new, guess, fast;
	struct lookup l;

	look_up(p, address, &l);
	fast = *l.base >= 0;
	guess = first = *l.first >= 0;
	second = *l.second >= 0;
	if (l.provider < 0) {
		train(l.first, taken, -2, 1);
	} else {
		is_new = !*l.useful && (*l.first == 0 || *l.first == -1);
		if (is_new && p->trust_new >= 0)
			guess = second;
		if (first != second) {
			if (is_new)
				train(&p->trust_new, second == taken, -8, 7);
			*l.useful = first == taken;
		}
		train(l.first, taken, -4, 3);
	}
	if (guess != fast)
		*delay = p->table[l.provider].delay;
	if (first != taken && l.provider < (int)p->n_tables - 1)
		allocate(p, &l, taken);
	return guess == taken;
}

/* ---- targets ---- */

/* Where an indirect branch belongs: in each table, in which part of all of them, and how many ways can
 * hold its target.
 */
struct target_place {
	uint64_t place[PREDICTOR_TABLES];
	uint32_t part;
	unsigned n_ways;
};

static uint32_t shorten(uint64_t target)
{
	return (uint32_t)(hash(target) >> 32);
}

/* Where the targets of a branch can be.  On Zen 4 the branch and the window before it choose a part of
 * the sets.  Jumps learn half of a random pattern of some 900 targets, and the same of 240 to 380 if
 * the targets are in another page, or if the window before is always the same, and of 140 if both.
 */
static struct predictor_target_set *target_set(const struct predictor *p, unsigned table,
					       const struct target_place *at)
{
	const uint32_t n = p->n_target_sets;
	uint32_t set = set_of(at->place[table], n);

	if (p->n_jump_sets)
		set = (at->part + (uint32_t)at->place[table] % p->n_jump_sets) % n;
	return &p->table[table].targets[set];
}

static void find_place(const struct predictor *p, const struct predictor_branch *b, uint64_t target,
		       struct target_place *at)
{
	const uint64_t before = p->has_path ? window_before(&p->path, b) : 0;

	at->n_ways = b->address / PAGE == target / PAGE ? PREDICTOR_WAYS : p->n_far_ways;
	at->part = set_of(hash(b->address * BASE + before * MIX), p->n_target_sets);
	for (unsigned i = 0; i < p->n_target_tables; i++)
		at->place[i] = place_of(
			p, p->has_path ? path_hash(p, i, before) : p->table[i].history.hash,
			b->address);
}

static void allocate_target(struct predictor *p, const struct target_place *at, int below,
			    uint32_t target)
{
	for (unsigned i = draw_table(p, below, p->n_target_tables); i < p->n_target_tables; i++) {
		struct predictor_target_set *s = target_set(p, i, at);
		const unsigned way = free_way(p, s->useful, at->n_ways);

		if (way < PREDICTOR_WAYS) {
			s->tag[way] = tag_of(at->place[i]);
			s->target[way] = target;
			s->confidence[way] = 0;
			return;
		}
		memset(s->useful, 0, sizeof(s->useful));
	}
}

/* Tells whether the target of an indirect branch is known: by its history, or the last one.  On some
 * cores the BTB alone knows those that have gone to one place only, and knows them earlier.
 */
static bool predict_target(struct predictor *p, struct predictor_site *site,
			   const struct predictor_branch *b, uint64_t to, uint8_t *delay)
{
	const uint32_t target = shorten(to);
	struct predictor_target_set *found = NULL;
	struct target_place at;
	uint32_t guess = site->target;
	unsigned found_way = 0;
	int provider = -1;

	find_place(p, b, to, &at);
	for (unsigned i = 0; i < p->n_target_tables; i++) {
		struct predictor_target_set *s;
		unsigned way;

		s = target_set(p, i, &at);
		way = find_way(s->tag, tag_of(at.place[i]));
		if (way == PREDICTOR_WAYS)
			continue;
		found = s;
		found_way = way;
		provider = (int)i;
	}
	if (found) {
		uint8_t *confidence = &found->confidence[found_way];
		const bool is_right = found->target[found_way] == target;

		guess = found->target[found_way];
		if (is_right) {
			*confidence = (uint8_t)(*confidence + (*confidence < 3));
			found->useful[found_way] |= site->target != target;
		} else if (*confidence) {
			--*confidence;
		} else {
			found->target[found_way] = target;
			found->useful[found_way] = 0;
		}
	}
	site->has_targets |= site->target && site->target != target;
	*delay = site->has_targets ? p->indirect_delay : p->same_delay;
	if (guess != target)
		allocate_target(p, &at, provider, target);
	site->target = target;
	return guess == target;
}

/* ---- the BTB ---- */

static struct predictor_site *site_of(struct predictor *p, uint32_t number)
{
	const size_t chunk = number / PREDICTOR_CHUNK;

	if (chunk >= p->n_chunks) {
		if (tact_grow(&p->chunks, &p->chunk_capacity, chunk + 1, sizeof(*p->chunks)) < 0)
			return NULL;
		memset(p->chunks + p->n_chunks, 0, (chunk + 1 - p->n_chunks) * sizeof(*p->chunks));
		p->n_chunks = chunk + 1;
	}
	if (!p->chunks[chunk])
		p->chunks[chunk] = tact_table_create(PREDICTOR_CHUNK, sizeof(**p->chunks));
	return p->chunks[chunk] ? &p->chunks[chunk][number % PREDICTOR_CHUNK] : NULL;
}

/* Tells whether a level still holds a branch that was entered at a time.  Some cores replace the
 * oldest entry; others any of them, once all are taken.
 */
static bool is_held(const struct predictor *p, unsigned level, uint32_t entered)
{
	const uint32_t entries = p->btb[level].entries, now = p->btb[level].entered;

	if (!entered)
		return false;
	if (level >= p->n_random)
		return now - entered < entries;
	return now <= entries ||
	       now - (entered > entries ? entered : entries) <
		       p->btb[level].lifetime[hash(entered) % PREDICTOR_LIFETIMES];
}

/* Returns the first level that holds a branch, or PREDICTOR_LEVELS. */
static unsigned level_of(const struct predictor *p, const struct predictor_site *site)
{
	for (unsigned i = 0; i < p->n_levels; i++)
		if (is_held(p, i, site->entered[i]))
			return i;
	return p->is_warm && !site->entered[0] ? p->n_levels - 1 : PREDICTOR_LEVELS;
}

/* A taken branch: the levels before the one that knew it learn it. */
static void enter(struct predictor *p, struct predictor_site *site, unsigned level)
{
	for (unsigned i = 0; i < level && i < p->n_levels; i++) {
		p->btb[i].entered += 1 + !(p->btb[i].entered + 1); /* never 0 */
		site->entered[i] = p->btb[i].entered;
	}
}

void predictor_enter_kernel(struct predictor *p, uint32_t branches, bool is_emptied)
{
	/* They are in the other levels from earlier calls. */
	if (p->n_levels) {
		p->btb[0].entered += branches;
		p->btb[0].entered += !p->btb[0].entered; /* never 0 */
	}
	if (is_emptied)
		memset(p->returns, 0, sizeof(p->returns));
}

/* ---- branches ---- */

static bool follow_return(struct predictor *p, uint64_t target)
{
	p->top = (p->top ? p->top : p->n_returns) - 1;
	return p->returns[p->top] == target;
}

static void follow_call(struct predictor *p, uint64_t next)
{
	p->returns[p->top] = next;
	p->top = p->top + 1 == p->n_returns ? 0 : p->top + 1;
}

/* Tells whether the predictor knew where a branch of this kind goes.  A conditional branch that the
 * BTB does not hold is assumed not to be taken, and an indirect one cannot be redirected when it is
 * decoded.
 */
static bool is_known(struct predictor *p, const struct predictor_branch *b,
		     struct predictor_site *site, unsigned level, uint64_t target, uint8_t *delay)
{
	const bool is_in_btb = level < PREDICTOR_LEVELS;

	switch ((enum tact_flow)b->flow) {
	case TACT_FLOW_BRANCH:
		return is_in_btb ? predict_direction(p, b->address, target != predictor_next(b),
						     delay)
				 : target == predictor_next(b);
	case TACT_FLOW_RETURN:
		*delay = p->return_delay;
		return follow_return(p, target);
	case TACT_FLOW_CALL:
		follow_call(p, predictor_next(b));
		break;
	default:
		break;
	}
	if (b->is_direct)
		return true;
	if (p->is_warm && !site->target)
		site->target = shorten(target);
	return predict_target(p, site, b, target, delay) && is_in_btb;
}

/* Returns the cycles that the second level of the BTB takes.  On Zen 4 it is fast for branches near
 * those that it was asked for last: 4,096 jumps take 2 cycles each in the order of their addresses, as
 * they do in any order within 4 KiB, 3.5 within 16 KiB, and 12 to 16 in any order.
 */
static uint8_t second_delay(struct predictor *p, uint64_t address)
{
	const uint64_t region = address >> 12;
	unsigned i = 0;
	bool is_near;

	if (!p->n_regions)
		return p->btb[1].delay;
	while (i < p->n_regions && p->regions[i] != region)
		i++;
	is_near = i < p->n_regions;
	for (unsigned k = is_near ? i : i - 1; k > 0; k--)
		p->regions[k] = p->regions[k - 1];
	p->regions[0] = region;
	return is_near ? p->btb[1].delay : p->far_delay;
}

int predictor_follow(struct predictor *p, const struct predictor_branch *b, uint64_t target,
		     struct predictor_outcome *out)
{
	struct predictor_site *site;
	uint8_t delay = 0;
	unsigned level;

	*out = (struct predictor_outcome){.delay = 0};
	if (!predictor_takes(b))
		return 0;
	site = site_of(p, b->site);
	if (!site)
		return -TACT_E_NOMEM;
	level = level_of(p, site);
	out->is_mispredicted = !is_known(p, b, site, level, target, &delay);
	p->branches++;
	p->mistakes += out->is_mispredicted;
	if (target == predictor_next(b) && b->flow == TACT_FLOW_BRANCH) {
		out->delay = out->is_mispredicted ? 0 : delay;
		p->late += out->delay > 0;
		if (level < PREDICTOR_LEVELS)
			pass_by(&p->path, b);
		return 0;
	}
	push(p, b, target);
	extend(&p->path, b, target);
	if (level)
		enter(p, site, level);
	if (out->is_mispredicted)
		return 0;
	out->is_unknown = level == PREDICTOR_LEVELS;
	if (!out->is_unknown) {
		const uint8_t found =
			level == 1 ? second_delay(p, b->address) : p->btb[level].delay;

		delay = delay < found ? found : delay;
	}
	out->delay = out->is_unknown ? p->redirect : delay;
	p->late += out->delay > 0;
	return 0;
}

void predictor_pass(struct predictor *p, const struct predictor_branch *b)
{
	if (b->flow == TACT_FLOW_RETURN)
		follow_return(p, 0);
	else if (b->flow == TACT_FLOW_CALL)
		follow_call(p, predictor_next(b));
}

/* ---- life ---- */

static void set_levels(struct predictor *p, const struct arch_params *params)
{
	const int entries[] = {params->btb1_entries, params->btb2_entries, params->btb3_entries};
	const int delays[] = {params->btb1_delay, params->btb2_delay, params->btb3_delay};

	while (p->n_levels < PREDICTOR_LEVELS && entries[p->n_levels]) {
		p->btb[p->n_levels].entries = (uint32_t)entries[p->n_levels];
		p->btb[p->n_levels].delay = (uint8_t)delays[p->n_levels];
		/* The chance to be still there falls exponentially. */
		for (unsigned i = 0; i < PREDICTOR_LIFETIMES; i++)
			p->btb[p->n_levels].lifetime[i] =
				(uint32_t)(-log((i + 0.5) / PREDICTOR_LIFETIMES) *
					   entries[p->n_levels]);
		p->n_levels++;
	}
	p->n_random = (unsigned)params->btb_random;
	p->n_regions = (unsigned)params->btb2_regions;
	p->far_delay = (uint8_t)params->btb2_far_delay;
	p->redirect = (uint8_t)params->btb_miss_delay;
}

static void set_length(struct predictor_history *h, double length)
{
	h->length = (unsigned)(length + 0.5);
	h->leaves = 1;
	for (unsigned k = 0; k < h->length; k++)
		h->leaves *= BASE;
}

/* All tables for targets know the same branches, and outcomes in a geometric series from one on. */
static void set_path(struct predictor *p, const struct arch_params *params)
{
	const double last = p->n_target_tables > 1 ? p->n_target_tables - 1 : 1;

	p->has_path = params->predictor_target_path != 0;
	p->path_sources = (uint8_t)params->predictor_target_path;
	for (unsigned i = 0; i < p->n_target_tables; i++)
		p->path_outcomes[i] =
			(uint8_t)(pow(params->predictor_target_history, i / last) + 0.5);
}

/* The lengths of the histories are a geometric series, where they are not known. */
static void set_tables(struct predictor *p, const struct arch_params *params)
{
	const double shortest = params->predictor_history_min;
	const int known[PREDICTOR_TABLES] = {0, params->predictor_history_2,
					     params->predictor_history_3,
					     params->predictor_history_4};
	const int delay[PREDICTOR_TABLES] = {params->predictor_delay_1, params->predictor_delay_2};

	for (unsigned i = 0; i < p->n_tables; i++) {
		struct predictor_table *t = &p->table[i];
		const double step = p->n_tables > 1 ? (double)i / (p->n_tables - 1) : 1;

		set_length(&t->history,
			   known[i] && i + 1 < p->n_tables
				   ? known[i]
				   : shortest * pow(params->predictor_history / shortest, step));
		t->delay = (uint8_t)(i < 2 && delay[i] >= 0 ? delay[i] : params->predictor_delay);
	}
}

int predictor_init(struct predictor *p, const struct arch_params *params)
{
	memset(p, 0, sizeof(*p));
	p->n_tables = (unsigned)params->predictor_tables;
	p->n_target_tables = params->predictor_target_path
				     ? (unsigned)params->predictor_target_tables
				     : p->n_tables;
	p->n_base = (uint32_t)params->predictor_base;
	p->n_sets = (uint32_t)(params->predictor_entries / PREDICTOR_WAYS);
	p->n_target_sets = (uint32_t)(params->predictor_targets / PREDICTOR_WAYS);
	p->n_jump_sets = (uint32_t)(params->predictor_jump_targets / PREDICTOR_WAYS);
	p->n_far_ways = (unsigned)params->predictor_far_ways;
	p->n_returns = (unsigned)params->return_stack;
	p->return_delay = (uint8_t)params->return_delay;
	p->keeps_useful = params->predictor_keeps != 0;
	p->has_footprint = params->predictor_footprint != 0;
	p->half_bit = (uint8_t)params->predictor_half_bit;
	p->indirect_delay = (uint8_t)params->indirect_delay;
	p->same_delay = params->indirect_same_delay < 0 ? p->indirect_delay
							: (uint8_t)params->indirect_same_delay;
	set_levels(p, params);
	set_tables(p, params);
	set_path(p, params);
	p->base = calloc(p->n_base, sizeof(*p->base));
	p->table[0].sets = calloc((size_t)p->n_tables * p->n_sets, sizeof(struct predictor_set));
	p->table[0].targets = calloc((size_t)p->n_target_tables * p->n_target_sets,
				     sizeof(struct predictor_target_set));
	if (!p->base || !p->table[0].sets || !p->table[0].targets)
		return -TACT_E_NOMEM;
	for (unsigned i = 1; i < p->n_tables; i++)
		p->table[i].sets = p->table[i - 1].sets + p->n_sets;
	for (unsigned i = 1; i < p->n_target_tables; i++)
		p->table[i].targets = p->table[i - 1].targets + p->n_target_sets;
	return 0;
}

void predictor_fini(struct predictor *p)
{
	for (size_t i = 0; i < p->n_chunks; i++)
		tact_table_destroy(p->chunks[i], PREDICTOR_CHUNK, sizeof(**p->chunks));
	FREE_ALL(p->chunks, p->base, p->table[0].sets, p->table[0].targets);
}
