/* SPDX-License-Identifier: MIT
 *
 * Units of a CPU as llvm-mca hands them out: of several that are free, those with higher numbers
 * come first, each once before any of them comes again; what other groups have taken meanwhile is
 * left out of the turn.
 */
#include "arch/units.h"

#include <string.h>

#include "arch/arch_llvm.h"

static unsigned index_of(uint64_t mask)
{
	return arch_llvm_index(mask);
}

static uint64_t highest(uint64_t mask)
{
	return 1ull << index_of(mask);
}

void units_init(struct units *u, const struct llvm_cpu_info *info)
{
	memset(u, 0, sizeof(*u));
	for (unsigned i = 0; i < info->n_resources; i++) {
		const struct llvm_resource *from = &info->resource[i];
		struct unit *unit = &u->unit[index_of(from->mask)];

		unit->mask = from->mask;
		unit->is_group = from->is_group;
		unit->n_units = from->is_group ? 1 : from->units;
		unit->size = from->is_group	? from->mask ^ highest(from->mask)
			     : from->units < 64 ? (1ull << from->units) - 1
						: ~0ull;
		unit->ready = unit->next = unit->size;
		unit->buffer_size = from->buffer_size;
		unit->free_slots = from->buffer_size > 0 ? (unsigned)from->buffer_size : 0;
		if (!from->is_group)
			u->all_units |= from->mask;
	}
	for (unsigned i = 0; i < info->n_resources; i++) {
		const uint64_t group = info->resource[i].mask;

		for (uint64_t left = info->resource[i].is_group ? group ^ highest(group) : 0; left;
		     left &= left - 1)
			u->unit[__builtin_ctzll(left)].users |= highest(group);
	}
}

/* ---- turns ---- */

static uint64_t take_turn(struct unit *unit, uint64_t candidates)
{
	const uint64_t chosen = highest(candidates);

	unit->next &= chosen | (chosen - 1);
	return chosen;
}

static uint64_t choose(struct unit *unit)
{
	if (unit->ready & unit->next)
		return take_turn(unit, unit->ready & unit->next);
	unit->next = unit->size ^ unit->removed;
	unit->removed = 0;
	if (unit->ready & unit->next)
		return take_turn(unit, unit->ready & unit->next);
	unit->next = unit->size;
	return take_turn(unit, unit->ready & unit->next);
}

/* What was used is not chosen again in this turn. */
static void end_turn(struct unit *unit, uint64_t used)
{
	if (used > unit->next) {
		unit->removed |= used;
		return;
	}
	unit->next &= ~used;
	if (unit->next)
		return;
	unit->next = unit->size ^ unit->removed;
	unit->removed = 0;
}

/* ---- taking and giving back ---- */

static bool is_ready(const struct unit *unit, unsigned n)
{
	return (!unit->is_reserved || !unit->buffer_size) &&
	       (unsigned)__builtin_popcountll(unit->ready) >= n;
}

static void use(struct units *u, uint64_t mask, uint64_t part)
{
	struct unit *unit = &u->unit[index_of(mask)];

	unit->ready ^= part;
	if (unit->n_units > 1)
		end_turn(unit, part);
	if (is_ready(unit, 1))
		return;
	for (uint64_t left = unit->users; left; left &= left - 1) {
		struct unit *group = &u->unit[__builtin_ctzll(left)];

		group->ready ^= mask;
		end_turn(group, mask);
	}
}

static void give_back(struct units *u, uint64_t mask, uint64_t part)
{
	struct unit *unit = &u->unit[index_of(mask)];
	const bool was_full = !is_ready(unit, 1);

	unit->ready ^= part;
	for (uint64_t left = was_full ? unit->users : 0; left; left &= left - 1)
		u->unit[__builtin_ctzll(left)].ready ^= mask;
}

/* Issues in order are over when the unit is free again. */
static void end_reservation(struct units *u, uint64_t mask)
{
	struct unit *unit = &u->unit[index_of(mask)];

	unit->is_reserved = false;
	if (unit->is_group)
		u->reserved_groups ^= highest(mask);
	if (!unit->buffer_size)
		u->reserved_buffers ^= highest(mask);
}

static void make_busy(struct units *u, uint64_t mask, uint64_t part, unsigned cycles)
{
	unsigned i = 0;

	while (i < u->n_busy && (u->busy[i].unit != mask || u->busy[i].part != part))
		i++;
	if (i == UNITS_MAX_BUSY)
		return;
	if (i == u->n_busy)
		u->busy[u->n_busy++] = (struct units_busy){mask, part, 0};
	u->busy[i].cycles += cycles;
}

void units_cycle(struct units *u)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < u->n_busy; i++) {
		struct units_busy *busy = &u->busy[i];

		if (busy->cycles)
			busy->cycles--;
		if (busy->cycles) {
			u->busy[kept++] = *busy;
			continue;
		}
		if (!(busy->unit & (busy->unit - 1)))
			give_back(u, busy->unit, busy->part);
		end_reservation(u, busy->unit);
	}
	u->n_busy = kept;
}

static void use_one(struct units *u, uint64_t mask, unsigned cycles)
{
	struct unit *unit = &u->unit[index_of(mask)];
	uint64_t part = unit->ready;

	while (unit->is_group) {
		mask = choose(unit);
		unit = &u->unit[index_of(mask)];
		part = unit->ready;
	}
	if (unit->n_units > 1)
		part = choose(unit);
	use(u, mask, part);
	make_busy(u, mask, part, cycles);
	u->taken[u->n_taken++] = (struct units_busy){mask, part, cycles};
}

/* ---- an instruction ---- */

/* Groups that share units: each must find one that the others leave. */
static bool find_units(const struct units *u, const struct units_demand *d)
{
	unsigned left[LLVM_MAX_KINDS];
	uint64_t consumed = 0;

	for (unsigned i = 0; i < LLVM_MAX_KINDS; i++)
		left[i] = (unsigned)__builtin_popcountll(u->unit[i].ready);
	for (unsigned i = 0; i < d->n_uses; i++) {
		const unsigned at = index_of(d->use[i].mask);

		if (u->unit[at].is_group)
			continue;
		left[at] -= d->use[i].is_reserved ? 0 : d->use[i].units;
		if (!left[at])
			consumed |= d->use[i].mask;
	}
	for (unsigned i = 0; i < d->n_uses; i++) {
		const struct unit *unit = &u->unit[index_of(d->use[i].mask)];
		const uint64_t ready = unit->ready & ~consumed;
		unsigned at;

		if (d->use[i].is_reserved || !unit->is_group)
			continue;
		if (!ready)
			return false;
		at = index_of(ready);
		if (!left[at])
			return false;
		if (!--left[at])
			consumed |= 1ull << at;
	}
	return true;
}

bool units_are_free(const struct units *u, const struct units_demand *d)
{
	uint64_t busy = 0;

	for (unsigned i = 0; i < d->n_uses; i++) {
		const struct llvm_use *use_of = &d->use[i];

		if (!is_ready(&u->unit[index_of(use_of->mask)],
			      use_of->is_reserved ? 0 : use_of->units))
			busy |= use_of->mask;
	}
	if (busy & u->all_units || d->groups & u->reserved_groups)
		return false;
	return !d->has_overlapping_groups || find_units(u, d);
}

static void reserve(struct units *u, const struct llvm_use *use_of)
{
	u->unit[index_of(use_of->mask)].is_reserved = true;
	u->reserved_groups ^= highest(use_of->mask);
	make_busy(u, use_of->mask, use_of->mask, use_of->cycles);
}

/* The group with the fewest units left comes first; of these, the one with the lower number. */
static unsigned scarcest(const struct units *u, const struct llvm_use *const *list, unsigned n)
{
	unsigned best = 0;

	for (unsigned i = 1; i < n; i++) {
		const int a = __builtin_popcountll(u->unit[index_of(list[i]->mask)].ready),
			  b = __builtin_popcountll(u->unit[index_of(list[best]->mask)].ready);

		if (a < b || (a == b && list[i]->mask < list[best]->mask))
			best = i;
	}
	return best;
}

void units_issue(struct units *u, const struct units_demand *d)
{
	const struct llvm_use *later[LLVM_MAX_RESOURCES];
	unsigned n = 0;

	u->n_taken = 0;
	for (unsigned i = 0; i < d->n_uses; i++) {
		const struct llvm_use *use_of = &d->use[i];
		const struct unit *unit = &u->unit[index_of(use_of->mask)];

		if (!use_of->cycles)
			end_reservation(u, use_of->mask);
		else if (use_of->is_reserved)
			reserve(u, use_of);
		else if (d->has_overlapping_groups && unit->is_group &&
			 __builtin_popcountll(unit->ready) > 1)
			later[n++] = use_of;
		else
			use_one(u, use_of->mask, use_of->cycles);
	}
	while (n) {
		const unsigned i = scarcest(u, later, n);

		use_one(u, later[i]->mask, later[i]->cycles);
		later[i] = later[--n];
	}
}

/* ---- buffers ---- */

bool units_have_room(const struct units *u, uint64_t buffers)
{
	return !(buffers & (u->reserved_buffers | u->full_buffers));
}

void units_take_room(struct units *u, uint64_t buffers)
{
	for (; buffers; buffers &= buffers - 1) {
		struct unit *unit = &u->unit[__builtin_ctzll(buffers)];

		if (unit->buffer_size > 0 && !--unit->free_slots)
			u->full_buffers |= buffers & -buffers;
		if (!unit->buffer_size)
			u->reserved_buffers ^= buffers & -buffers;
	}
}

void units_leave_room(struct units *u, uint64_t buffers)
{
	u->full_buffers &= ~buffers;
	for (; buffers; buffers &= buffers - 1) {
		struct unit *unit = &u->unit[__builtin_ctzll(buffers)];

		unit->free_slots += unit->buffer_size > 0;
	}
}
