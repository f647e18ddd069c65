/* SPDX-License-Identifier: MIT
 *
 * Executions that are passed by (skim.h): their data go through the caches, their branches and their
 * code are not followed.
 */
#include "trace/front_parts.h"
#include "trace/wire.h"

/* Follows an access of a block that is passed by, which is not simple. */
static void pass_access(struct front *f, struct front_thread *t, uint32_t process, uint64_t insn,
			const struct tact_trace_access *a, struct front_outcome *out)
{
	struct tact_stream_trip trip;

	if (!a->size) {
		front_prefetch(f, t, out->code, process, a, &trip);
		return;
	}
	caches_search(t->caches, a->address, a->size, insn, a->is_store, &trip);
	if (trip.page > 1)
		front_fault(f, t, process, a, &trip);
	if ((trip.level | trip.page) && !a->is_store)
		front_note_longest(f, &trip, out);
}

/* Passes a block by but for its data; branches are counted. */
static void pass_code(struct front_thread *t, struct front_code *code, uint32_t n_insns,
		      struct front_outcome *out)
{
	out->code = code;
	out->repeat_cycles = out->longest = out->n_trips = out->first_trip = 0;
	out->level = 0;
	out->prefetches = out->unknown_prefetches = 0;
	out->has_counts = false;
	out->is_skimmed = true;
	out->is_branch = t->last && t->last->is_branch;
	if (t->last && !t->last->is_plain)
		predictor_pass(t->predictor, &t->last->branch);
	sharing_execute(&t->caches->sharing, n_insns);
	code->executions += !code->executions; /* it is not new any more */
	t->last = code;
}

int front_pass_event(struct front *f, struct front_thread *t, struct front_code *code,
		     const struct tact_trace_event *event, struct front_outcome *out)
{
	const uint64_t number = (uint64_t)event->block->number << 10;

	pass_code(t, code, event->block->n_insns, out);
	if (code->prefetches)
		front_count_prefetches(code, event, out);
	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];

		if (!caches_is_simple(t->caches, a->address, a->size, number | a->insn,
				      a->is_store))
			pass_access(f, t, event->pid, number | a->insn, a, out);
	}
	out->outside_cycles = front_take_outside_cycles(t);
	front_count(f, t, out);
	return f->faults.has_failed ? -TACT_E_NOMEM : 0;
}

bool front_passes(const struct front *f)
{
	return skim_passes(&f->skim);
}

int front_pass(struct front *f, uint32_t thread, uint32_t process, const struct tact_trace_block *b,
	       const uint64_t *words, size_t n, struct front_outcome *out)
{
	const uint64_t number = (uint64_t)b->number << 10;
	struct front_thread *t = f->last;
	struct front_code *code = front_find_code(f, b);
	bool is_simple = true;

	if (!code)
		return -TACT_E_NOMEM;
	if (!t || t->id != thread || !code->is_usual || !skim_passes(&f->skim))
		return 0;
	skim_execute(&f->skim, b->n_insns, code->looked < SKIM_KNOWN);
	pass_code(t, code, b->n_insns, out);
	out->unknown_prefetches = code->prefetches; /* the others are not as usual */
	for (size_t i = 0; i < n; i++) {
		const uint64_t word = words[i], address = word & WIRE_ADDRESS;
		const uint32_t insn = (uint32_t)(word >> WIRE_INSN_SHIFT) & WIRE_INSN_MASK;
		const uint32_t size = 1u << (word >> WIRE_SIZE_SHIFT & 7);
		const bool is_store = (word & WIRE_STORE) != 0;

		if (caches_is_simple(t->caches, address, size, number | insn, is_store))
			continue;
		is_simple = false;
		pass_access(f, t, process, number | insn,
			    &(struct tact_trace_access){.address = address,
							.insn = (uint16_t)insn,
							.is_store = is_store,
							.size = size},
			    out);
	}
	out->outside_cycles = front_take_outside_cycles(t);
	if (!is_simple)
		front_count(f, t, out);
	return f->faults.has_failed ? -TACT_E_NOMEM : 1;
}
