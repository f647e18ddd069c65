/* SPDX-License-Identifier: MIT
 *
 * How stores leave the store buffer, and which banks of the cache loads need: both follow from where
 * the addresses of a walk (addresses.c) are in their cache lines.
 */
#include <string.h>

#include "block/addresses.h"

/* Returns an address by its distance from a line.  Values at entry count as aligned to lines; but
 * where the stack is, only the code says, unless --init does: its first wide store is aligned, as
 * compilers align what they spill.
 */
static uint64_t line_offset(struct address_walk *w, const struct address *a, unsigned bytes)
{
	const unsigned k = a->base == w->stack_symbol[1];

	if (a->base != w->stack_symbol[k])
		return a->offset;
	if (bytes >= 16 && bytes <= LINE_BYTES && !(w->has_stack_shift >> k & 1)) {
		w->stack_shift[k] = (uint8_t)(-a->offset & (bytes - 1));
		w->has_stack_shift |= (uint8_t)(1u << k);
	}
	return a->offset + w->stack_shift[k];
}

/* Counts the cycles in which stores leave the store buffer in order.  Two leave in one cycle only
 * if both go to the same cache line: a store joins the one before it if that one is alone in its
 * cycle.  Where memory is renamed, a store that a load takes its value from stays alone (experiments
 * on Zen 4).
 */
void commits_take(struct address_walk *w, const struct block_store *store)
{
	const struct arch_params *p = &w->block->arch->params;
	const unsigned bytes = store->line_bytes;
	const bool is_met = w->block->insns[store->insn].is_met;
	struct address line = store->address;
	uint64_t offset;
	bool crosses;

	if (!p->stores_one_line)
		return;
	offset = line_offset(w, &line, bytes);
	crosses = bytes && (offset & (LINE_BYTES - 1)) + bytes > LINE_BYTES;
	line.offset = offset / (unsigned)p->store_line_bytes;
	if (w->run && w->run < (unsigned)p->stores_together && !crosses && !is_met &&
	    address_equal(&line, &w->last_line)) {
		w->run++;
		return;
	}
	if (w->pass >= FIRST_COUNTED_PASS)
		w->commit_cycles += 1 + crosses;
	w->run = !crosses && !is_met;
	w->last_line = line;
}

/* Returns how often an instruction loads: a gather loads each element, whose addresses are taken to be
 * alike.
 */
static unsigned load_uops(const struct tact_block *block, const struct block_lowered *l)
{
	enum { FEW = 4 }; /* uops of an instruction that may load more than once */
	unsigned n = 0;

	for (const struct arch_port_use *use = l->ports; use->count && l->uops >= FEW; use++)
		if (!(use->mask & ~block->arch->params.load_ports))
			n += use->count;
	return n ? n : 1;
}

void commits_use_banks(struct address_walk *w, const struct block_insn *bi, unsigned offset,
		       unsigned bytes)
{
	const unsigned loads = load_uops(w->block, bi->lowered) * (1u + bi->is_split);

	for (uint64_t left = block_banks(&w->block->arch->params, offset, bytes); left;
	     left &= left - 1)
		w->bank_use[__builtin_ctzll(left)] += loads;
}

/* ---- pointers that advance ---- */

static bool is_moving(const struct address_walk *w)
{
	bool moving = false;

	for (unsigned r = 0; r < w->block->arch->isa->registers.n_general; r++)
		moving |= w->value[r].offset != w->before[1][r].offset && w->in_addresses >> r & 1;
	return moving;
}

/* Returns whether all registers that are followed advance by the same in all iterations to come, as
 * they did in the last two.  A value is then that of a register before the iteration, plus a
 * constant; and if that register has kept its symbol and its step, so will this one.  Loaded values
 * depend on the address instead.
 */
static bool is_linear(const struct address_walk *w)
{
	if (w->needs_all || w->is_loading)
		return false;
	for (uint32_t left = w->needed; left; left &= left - 1) {
		const unsigned r = (unsigned)__builtin_ctz(left);
		const struct symbol *a = &w->before[0][r], *b = &w->before[1][r], *c = &w->value[r];

		if (a->base != b->base || b->base != c->base ||
		    b->offset - a->offset != c->offset - b->offset)
			return false;
	}
	return true;
}

/* Returns whether stores of the last two passes, n in each, have addresses that only advance. */
static bool are_stores_linear(const struct block_stores *s, size_t n)
{
	for (size_t k = 0; k < n; k++) { /* without stores there is no list */
		const struct block_store *last = &s->list[s->n - n + k], *previous = last - n;
		struct address before = last->address;

		before.offset = previous->address.offset;
		if (!address_equal(&before, &previous->address))
			return false;
	}
	return true;
}

/* Returns whether what an instruction loads is one place: its step is known. */
static bool are_loads_single(const struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++)
		if (block->insns[i].lowered->n_loads > 1)
			return false;
	return true;
}

/* The iterations after the last pass, by the steps between the last two. */
static void advance(struct address_walk *w, size_t n)
{
	const struct tact_block *block = w->block;
	const struct block_stores *stores = &block->stores;

	for (w->pass = LAST_PASS + 1; w->pass <= LAST_MOVING_PASS; w->pass++) {
		const unsigned passes = w->pass - LAST_PASS;

		for (size_t k = 0; k < n; k++) {
			const struct block_store *last = &stores->list[stores->n - n + k];
			struct block_store store = *last;

			store.address.offset +=
				passes * (last->address.offset - (last - n)->address.offset);
			commits_take(w, &store);
		}
		w->bank_passes++;
		for (size_t i = 0; i < block->n_insns && w->counts_banks; i++) {
			const struct block_insn *bi = &block->insns[i];

			if (bi->bank_bytes) /* its offset is that of the pass before the last */
				commits_use_banks(w, bi,
						  (bi->bank_offset + (passes + 1) * bi->bank_step) %
							  LINE_BYTES,
						  bi->bank_bytes);
		}
	}
}

static void go_on(struct address_walk *w)
{
	const size_t n = w->block->counts.stores;

	if (is_linear(w) && are_stores_linear(&w->block->stores, n) &&
	    (!w->counts_banks || are_loads_single(w->block)))
		advance(w, n);
	else
		for (w->pass = LAST_PASS + 1; w->pass <= LAST_MOVING_PASS; w->pass++)
			addresses_walk_on(w);
}

static void count_banks(const struct address_walk *w)
{
	struct tact_block *block = w->block;

	block->bank_loads = 0;
	block->bank_cycles = 2 * w->bank_passes;
	for (unsigned b = 0; b < LINE_BYTES; b++)
		if (w->bank_use[b] > block->bank_loads)
			block->bank_loads = w->bank_use[b];
}

void commits_count(struct address_walk *w)
{
	struct tact_block *block = w->block;

	if (!w->confirms || !block->arch->params.stores_one_line)
		return;
	w->run = w->commit_cycles = 0;
	w->has_stack_shift = 0;
	memset(w->stack_shift, 0, sizeof(w->stack_shift));
	for (size_t k = 0; k < block->stores.n; k++) {
		w->pass = block->stores.list[k].pass;
		commits_take(w, &block->stores.list[k]);
	}
	w->pass = LAST_PASS + 1;
	if (is_moving(w))
		go_on(w);
	block->store_commits = w->commit_cycles;
	block->store_passes = w->pass - FIRST_COUNTED_PASS;
	block->store_cycles = (double)block->store_commits / block->store_passes;
	if (w->counts_banks)
		count_banks(w);
}
