/* SPDX-License-Identifier: MIT
 *
 * Repeated string instructions: how long they take.
 *
 * Microcode chooses between ways, by the number of elements and by the addresses: all at once if
 * there are few bytes; one by one; or, after a longer start, in the widest pieces that the cache
 * takes.  Which way begins where, and what each costs, are parameters of the core: rep_*.
 */
#include "trace/repeats.h"

enum { LOW = 4096 /* bytes: loads and stores are told apart by the lower part of the address */ };

static enum repeat_kind kind_of(const struct tact_insn *insn)
{
	unsigned n_reads = 0;

	if (!(insn->attributes & TACT_INSN_REP))
		return REPEAT_NONE;
	if (insn->attributes & TACT_INSN_STORE)
		return insn->attributes & TACT_INSN_LOAD ? REPEAT_COPY : REPEAT_FILL;
	for (unsigned i = 0; i < insn->n_operands; i++)
		n_reads += insn->operand[i].kind == TACT_OPERAND_MEM;
	return n_reads > 1 ? REPEAT_COMPARE : insn->flags_written ? REPEAT_SCAN : REPEAT_LOAD;
}

struct repeat repeat_at_end(const struct tact_trace_block *b)
{
	struct repeat r = {.kind = REPEAT_NONE, .element = 1};
	struct tact_insn insn;

	if (!b->is_rep || tact_isa_decode(b->isa, &insn, b->code + b->last_offset,
					  b->code_size - b->last_offset) <= 0)
		return r;
	r.kind = (uint8_t)kind_of(&insn);
	for (unsigned i = 0; i < insn.n_operands; i++)
		if (insn.operand[i].kind == TACT_OPERAND_MEM && insn.operand[i].bits >= 8)
			r.element = (uint8_t)(insn.operand[i].bits / 8);
	return r;
}

/* Finds where the data are: the lowest address of each run. */
static void find_places(const struct tact_trace_event *event, uint64_t *from, uint64_t *to)
{
	const uint32_t last = event->block->n_insns - 1;

	*from = *to = 0;
	for (size_t i = event->n_accesses; i-- > 0 && event->accesses[i].insn == last;)
		*(event->accesses[i].is_store ? to : from) = event->accesses[i].address;
}

static double each(double start, double n, int hundredths)
{
	return start + n * hundredths / 100;
}

/* Returns the cycles of a copy or a fill that has a way of its own because it is so short; 0: it has
 * none.
 */
static int briefly(const struct arch_params *p, bool is_copy, unsigned element, double bytes)
{
	if (element == 1)
		return bytes > p->rep_short_bytes ? 0
		       : is_copy		  ? p->rep_short_copy
						  : p->rep_short_fill;
	if (is_copy)
		return bytes > p->rep_brief_copies ? 0 : p->rep_brief_copy;
	return bytes > p->rep_brief_fills ? 0 : p->rep_brief_fill;
}

/* A copy or a fill from lower to higher addresses; n elements. */
static double move_up(const struct arch_params *p, struct repeat r,
		      const struct tact_trace_event *event, double lines)
{
	const bool is_copy = r.kind == REPEAT_COPY;
	const double n = (double)event->repeats, bytes = n * r.element;
	const int few = is_copy ? p->rep_few_copies : p->rep_few_fills,
		  brief = briefly(p, is_copy, r.element, bytes),
		  ahead = !is_copy && p->rep_fill_ahead ? p->rep_fill_ahead : p->rep_ahead;
	double start = is_copy ? p->rep_copy_start : p->rep_fill_start, rate = p->rep_rate, rest;
	uint64_t from, to;

	find_places(event, &from, &to);
	if (is_copy && (to - from) % LOW && (to - from) % LOW < (uint64_t)p->rep_close)
		return each(p->rep_close_start, n, p->rep_close_each) + lines;
	if (brief)
		return brief + lines;
	if (n <= few && (r.element > 1 || !is_copy))
		return each(p->rep_few_start, n, p->rep_few_each) + lines;
	if (r.element > 1)
		start += p->rep_wide_start;
	if (to % (uint64_t)p->rep_align)
		start += is_copy ? p->rep_unaligned_copy : p->rep_unaligned_fill;
	if (is_copy && (to - from) % (uint64_t)p->rep_align)
		rate = p->rep_shifted_rate;
	rest = bytes / rate > lines ? bytes / rate : lines;
	return start + bytes / ahead > rest ? start + bytes / ahead : rest;
}

/* rep cmpsb on a core that compares many bytes at once. */
static double compare_bytes(const struct arch_params *p, double n)
{
	if (n <= p->rep_compare_bytes)
		return p->rep_compare_brief;
	return p->rep_compare_start + n / p->rep_compare_rate;
}

static double one_by_one(const struct arch_params *p, struct repeat r, double n)
{
	if (r.element == 1 && (r.kind == REPEAT_SCAN || r.kind == REPEAT_COMPARE)) {
		if (p->rep_short_scan && n <= p->rep_short_bytes)
			return p->rep_short_scan;
		if (p->rep_byte_scan)
			return each(0, n, p->rep_byte_scan);
	}
	if (r.element == 1 && r.kind == REPEAT_COMPARE && p->rep_compare_rate)
		return compare_bytes(p, n);
	switch (r.kind) {
	case REPEAT_LOAD:
		return each(p->rep_slow_start, n, p->rep_load);
	case REPEAT_SCAN:
		return each(p->rep_slow_start, n, p->rep_scan);
	case REPEAT_COMPARE:
		return each(p->rep_slow_start, n, p->rep_compare);
	default:
		return each(p->rep_down_start, n, p->rep_down);
	}
}

double repeat_cycles(const struct arch_params *p, struct repeat r,
		     const struct tact_trace_event *event, double lines)
{
	double cycles;

	if (r.kind == REPEAT_NONE || !event->repeats)
		return 0;
	if ((r.kind == REPEAT_COPY || r.kind == REPEAT_FILL) && !event->is_descending)
		return move_up(p, r, event, lines);
	cycles = one_by_one(p, r, (double)event->repeats);
	return cycles > lines ? cycles : lines;
}
