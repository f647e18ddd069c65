/* SPDX-License-Identifier: MIT
 *
 * The reservation station: a uop waits until its sources are known, then for the cycle in which
 * they are ready, then for its port; of the uops that are ready, the oldest goes first.
 */
#include <string.h>

#include "sim/ready.h"
#include "sim/wake.h"

static void finish_load(struct sim_state *s, struct sim_entry *e, int32_t data);

/* Tells all uops that wait for a value when it is ready. */
static inline __attribute__((always_inline)) void tell(struct sim_state *s, uint16_t *list,
						       int32_t cycle, uint32_t producer)
{
	while (*list) {
		uint16_t head = *list;
		struct sim_waiter w = s->waiters[head];
		struct sim_entry *e = &s->rs[w.entry];
		int32_t ready = cycle + w.latency;

		*list = w.next;
		s->waiters[head].next = s->waiter_free;
		s->waiter_free = head;
		if (e->is_load_pending) {
			e->producer = producer;
			finish_load(s, e, ready);
			continue;
		}
		take(e, ready, producer);
		if (!--e->unknown)
			plan(s, e);
	}
}

static void learn(struct sim_state *s, struct sim_value *value, int32_t cycle, uint32_t producer)
{
	value->ready = cycle;
	if (value->waiter)
		tell(s, &value->waiter, cycle, producer);
}

void sim_schedule_stored(struct sim_state *s, const struct sim_entry *e)
{
	learn(s, &e->inst->data, e->ready, e->inst->number);
}

static void free_entry(struct sim_state *s, struct sim_entry *e)
{
	e->is_live = false;
	e->next = s->rs_free;
	s->rs_free = e->index;
}

/* Outputs that the dispatch of a uop decides; a store is known with its address and its data. */
static unsigned made_outputs(const struct sim_entry *e, int32_t from)
{
	struct sim_instance *inst = e->inst;

	if (e->kind < SIM_STORE_ADDRESS)
		return e->makes;
	if (from > inst->stored)
		inst->stored = from;
	return --inst->stores_left ? e->makes : e->makes | inst->insn->memory_outputs;
}

/* A load whose data come in this cycle is complete some cycles later.  Those of loads that take very
 * long are not followed to their end.
 */
static inline void complete_load(struct sim_state *s, int32_t data)
{
	int32_t at = data + s->params->load_window_hold, last = s->clock + SIM_LOAD_RING - 1;

	at = at < last ? at : last;
	at = at > s->clock ? at : s->clock + 1;
	s->complete[at & (SIM_LOAD_RING - 1)]++;
}

/* Results of a uop: `from` is its dispatch or, for a load that waited for a store, what counts as
 * it.
 */
static void produce(struct sim_state *s, const struct sim_entry *e, int32_t from,
		    bool waited_for_store)
{
	struct sim_rob_entry *rob = &s->rob[e->rob];
	struct sim_instance *inst = e->inst;
	const struct sim_insn *insn = inst->insn;
	struct sim_value *self = e->uop == SIM_SYNC ? &inst->sync : &inst->result[e->uop];
	int32_t finish = from + 2, result = from + 1;

	if (e->kind == SIM_LOAD) {
		if (e->u->in_window)
			complete_load(s, from + e->u->latency);
		else if (insn->exchanges_memory)
			inst->stored =
				from + insn->output_latency[__builtin_ctz(insn->memory_outputs)];
	}
	learn(s, self, from, inst->number);
	for (unsigned made = made_outputs(e, from); made; made &= made - 1) {
		unsigned o = (unsigned)__builtin_ctz(made);
		int32_t ready = insn->memory_outputs >> o & 1
					? inst->stored
					: from + insn->output_latency[o] + inst->is_late;

		finish = ready > finish ? ready : finish;
		result = ready > result ? ready : result;
		learn(s, &inst->output[o], ready, inst->number);
	}
	finish = e->kind == SIM_STORE_ADDRESS ? from + 5 : finish;
	rob->finish = finish > rob->finish ? finish : rob->finish;
	rob->remaining--;
	if (!s->watch)
		return;
	if (e->kind == SIM_LOAD && from + e->u->latency > result)
		result = from + e->u->latency;
	sim_watch_finish(s, e, result, waited_for_store);
}

/* A load that met a store: its data come `store_forward` cycles after those of the store, or as
 * late as for a load that is dispatched now.
 */
static void finish_load(struct sim_state *s, struct sim_entry *e, int32_t data)
{
	const int32_t forward = e->is_renamed ? 0 : e->inst->insn->forward;
	int32_t forwarded = data + forward - e->u->latency;

	if (e->late && forwarded - e->late <= e->ready)
		forwarded = e->ready; /* it comes when they are about to come */
	else
		forwarded += s->params->early_ports >> e->port & 1 ? e->early : 0;
	e->is_load_pending = false;
	/* For renamed memory, not even the load's own time counts. */
	produce(s, e, e->is_renamed || forwarded > e->ready ? forwarded : e->ready,
		forwarded > e->ready);
	free_entry(s, e);
}

/* A load that needs more bytes than one store holds: that store must have left the store buffer,
 * some cycles after its retirement.
 */
__attribute__((noinline)) static int32_t
unblocked(const struct sim_state *s, const struct sim_insn *insn, const struct sim_instance *store)
{
	const struct arch_params *p = s->params;
	const int32_t left = store->retired + p->store_blocked - insn->forward - 1,
		      data = p->store_blocked_latency
				     ? store->stored + p->store_blocked_latency - insn->forward
				     : left;

	if (s->in_order.llvm) /* so the bound has it, whatever the load does then */
		return store->retired - 1 + p->store_blocked_latency - p->store_forward;
	return left > data ? left : data;
}

static bool waits_for_retirement(struct sim_state *s, struct sim_entry *e,
				 const struct sim_instance *store)
{
	e->is_load_pending = true;
	e->early = e->late = 0;
	if (store->retired >= 0) {
		finish_load(s, e, unblocked(s, e->inst->insn, store));
	} else {
		s->blocked[s->n_blocked].store = store;
		s->blocked[s->n_blocked++].entry = e->index;
	}
	return true;
}

/* One narrower store that begins where the load begins: only that takes longer. */
static bool waits_for_narrow(struct sim_state *s, struct sim_entry *e, struct sim_value *value)
{
	const int latency = (s->params->store_blocked_latency ? s->params->store_blocked_latency
							      : s->params->store_blocked) -
			    e->inst->insn->forward;

	e->is_load_pending = true;
	e->early = e->late = 0;
	if (value->ready != SIM_NEVER)
		finish_load(s, e, value->ready + latency);
	else
		wait_for(s, e, &value->waiter, latency);
	return true;
}

void sim_schedule_unblock(struct sim_state *s, struct sim_instance *inst)
{
	unsigned kept = 0;

	inst->retired = s->clock;
	for (unsigned i = 0; i < s->n_blocked; i++) {
		struct sim_entry *e = &s->rs[s->blocked[i].entry];

		if (s->blocked[i].store == inst)
			finish_load(s, e, unblocked(s, e->inst->insn, inst));
		else
			s->blocked[kept++] = s->blocked[i];
	}
	s->n_blocked = (uint16_t)kept;
}

/* Finds the store that a load takes its data from; true if the load must wait for it. */
static bool waits_for_store(struct sim_state *s, struct sim_entry *e)
{
	const struct sim_source *source =
		e->inst->program->sources + e->u->first_source + e->u->n_sources;

	for (unsigned i = 0; i < e->u->n_memory; i++) {
		struct sim_instance *store;
		struct sim_origin origin;
		struct sim_value *value;

		if (!sim_store_of(s, e->inst, source[i].index, &origin) ||
		    !(store = find_instance(s, &origin)))
			continue;
		e->ready = s->clock;
		e->producer = store->number;
		if (origin.is_blocked)
			return origin.is_narrow
				       ? waits_for_narrow(s, e, &store->output[origin.output])
				       : waits_for_retirement(s, e, store);
		e->is_renamed = origin.is_renamed;
		e->early = origin.early;
		e->late = origin.late;
		value = e->is_renamed ? &store->data : &store->output[origin.output];
		if (value->ready != SIM_NEVER) {
			finish_load(s, e, value->ready);
			return true;
		}
		e->is_load_pending = true;
		wait_for(s, e, &value->waiter, 0);
		return true;
	}
	return false;
}

/* A store in flight that shares the low bits of a load's address delays the load, and such loads
 * delay each other (experiments on Zen 4).  Returns for how long.
 */
static int32_t held_by_alias(struct sim_state *s, const struct sim_instance *inst)
{
	int32_t begin = s->alias_free > s->clock ? s->alias_free : s->clock;

	if (!inst->has_accesses || inst->beside.id == SIM_NO_ID ||
	    !sim_is_there(s, &inst->beside) || s->slots[inst->beside.slot].retired >= 0)
		return 0;
	/* What a repeated instruction takes is known as a whole. */
	if (s->stream && inst->insn->is_last && sim_feed_of(s, inst->id)->repeat_cycles)
		return 0;
	s->alias_free = begin + s->params->alias_cycles;
	return begin - s->clock + s->params->alias_latency;
}

static void hold_port(struct sim_state *s, const struct sim_entry *e)
{
	const unsigned more = e->u->divider - 1u;

	s->held_ports |= 1u << e->port;
	s->ports_free[e->port] = s->clock + e->u->divider;
	e->stats->port[e->port] += more < UINT32_MAX - e->stats->port[e->port] ? more : 0;
}

void sim_hold_ports(struct sim_state *s)
{
	for (params_ports left = s->held_ports; left; left &= left - 1) {
		const unsigned port = (unsigned)__builtin_ctz(left);

		if (s->ports_free[port] <= s->clock)
			s->held_ports &= ~(1u << port);
	}
	s->next_data_ports |= s->held_ports;
}

__attribute__((noinline)) static void take_need(struct sim_state *s, const struct sim_entry *e)
{
	if (e->need == SIM_NEEDS_DIVIDER) {
		s->divider_free = s->clock + e->u->divider;
		e->stats->divider += e->u->divider;
	} else if (e->need == SIM_NEEDS_SOLITUDE) {
		s->alone_free = s->clock + e->inst->insn->cycles;
	} else {
		hold_port(s, e);
	}
}

/* Sends a uop to its port. */
static void execute(struct sim_state *s, struct sim_entry *e)
{
	struct sim_stats *stats = e->stats;
	int32_t earliest = e->issued + ISSUE_DELAY,
		ready = e->ready > earliest ? e->ready : earliest, extra = 0;

	stats->port[e->port] += stats->port[e->port] != UINT32_MAX;
	stats->wait_operand += (uint64_t)(ready - earliest);
	stats->wait_port += (uint64_t)((s->clock > ready ? s->clock : ready) - ready);
	if (s->watch)
		sim_watch_dispatch(s, e, ready);
	s->next_data_ports |= (unsigned)e->is_double << e->port;
	if (e->need != SIM_NEEDS_NOTHING)
		take_need(s, e);
	if (e->kind == SIM_LOAD) {
		if (waits_for_store(s, e))
			return;
		extra = e->inst->n_trips ? sim_trip_load(s, e->inst) : e->inst->extra;
		if (s->params->alias_cycles)
			extra += held_by_alias(s, e->inst);
	}
	produce(s, e, s->clock + extra, false);
	free_entry(s, e);
}

/* ---- which of those that are ready goes ---- */

/* Returns whether an older uop needs the same unit, perhaps on another port. */
static bool has_older_rival(struct sim_state *s, const struct sim_entry *e)
{
	for (unsigned ports = s->ready_ports; ports; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctz(ports);

		for (unsigned k = s->ready_begin[port] + 1; k <= s->ready_end[port]; k++) {
			const struct sim_entry *other = sim_ready_entry(s, s->ready[port][k]);

			if (other->age >= e->age)
				break;
			if (other->need == e->need)
				return true;
		}
	}
	return false;
}

/* Tells whether the banks that a load needs are free in this cycle; if so, it takes them. */
static bool takes_banks(struct sim_state *s, const struct sim_entry *e)
{
	const struct sim_insn *insn = e->inst->insn;
	uint64_t banks = insn->banks;

	if (!insn->bank_bytes)
		return true;
	if (!banks)
		banks = block_banks(s->params,
				    insn->bank_offset +
					    insn->bank_step * (unsigned)sim_iteration(e->inst->id),
				    insn->bank_bytes);
	if (banks & s->bank_twice)
		return false;
	s->bank_twice |= banks & s->bank_once;
	s->bank_once |= banks;
	return true;
}

/* Returns the port whose results those of a uop must not meet: its own, or the one that brings
 * results from the vector side.
 */
static unsigned result_port(const struct sim_state *s, const struct sim_entry *e)
{
	if (s->params->alu_ports >> e->port & 1 || !s->params->vec_result_ports)
		return e->port;
	return (unsigned)__builtin_ctz(s->params->vec_result_ports);
}

/* Its result would come together with another one: the port then waits with it.  What comes from the
 * vector side, which takes longer, does not go before an older one that waits so.
 */
static bool collides(struct sim_state *s, const struct sim_entry *e)
{
	const unsigned port = result_port(s, e);

	if (!e->result)
		return false;
	if (s->results[port] >> e->result & 1) {
		s->waits_with_result = e->age;
		return true;
	}
	return port != e->port && s->waits_with_result < e->age;
}

static bool can_run(struct sim_state *s, const struct sim_entry *e)
{
	/* The second half of a 256-bit access keeps data from the port, not addresses. */
	if (s->data_ports >> e->port & 1 &&
	    (e->kind != SIM_STORE_ADDRESS || s->held_ports >> e->port & 1))
		return false;
	if (e->need != SIM_NEEDS_NOTHING && e->need != SIM_NEEDS_PORT &&
	    ((e->need == SIM_NEEDS_DIVIDER ? s->divider_free : s->alone_free) > s->clock ||
	     has_older_rival(s, e)))
		return false;
	if (e->kind != SIM_LOAD)
		return true;
	if (e->u->together && s->n_together >= e->u->together)
		return false;
	return !s->params->load_bank_bytes || takes_banks(s, e);
}

static void dispatch(struct sim_state *s, unsigned port)
{
	const uint64_t *queue = s->ready[port];
	unsigned k = s->ready_begin[port] + 1;
	struct sim_entry *e;

	while (!can_run(s, sim_ready_entry(s, queue[k])))
		if (k++ == s->ready_end[port])
			return;
	e = sim_ready_entry(s, queue[k]);
	if (collides(s, e))
		return;
	if (e->result)
		s->results[result_port(s, e)] |= 1ull << e->result;
	sim_dequeue(s, port, k);
	s->dispatched[port] = 1;
	s->n_together += e->kind == SIM_LOAD && e->u->together;
	s->rs_count -= !e->is_vector;
	s->vec_count -= e->is_vector;
	execute(s, e);
}

/* Moves uops from the queue of vectors into their station. */
static void leave_queue(struct sim_state *s)
{
	while (s->vec_queued && s->vec_count < (unsigned)s->params->vec_rs_size) {
		struct sim_entry *e = &s->rs[s->vec_queue[s->vec_head]];

		s->vec_head = (s->vec_head + 1) & (SIM_RS - 1);
		s->vec_queued--;
		s->vec_count++;
		if (!--e->unknown)
			plan(s, e);
	}
}

/* Where loads compete for banks, the oldest goes first. */
static void dispatch_by_age(struct sim_state *s, unsigned ports)
{
	s->bank_once = s->bank_twice = 0;
	while (ports) {
		unsigned oldest = (unsigned)__builtin_ctz(ports);

		for (unsigned left = ports & (ports - 1); left; left &= left - 1) {
			unsigned port = (unsigned)__builtin_ctz(left);

			if (s->ready[port][s->ready_begin[port] + 1] <
			    s->ready[oldest][s->ready_begin[oldest] + 1])
				oldest = port;
		}
		dispatch(s, oldest);
		ports &= ~(1u << oldest);
	}
}

/* The counter of a port goes down one cycle after its uop has left (uiCA), or later. */
static void free_places(struct sim_state *s)
{
	const unsigned hold = (unsigned)s->params->port_rs_hold;
	uint8_t *left = s->dispatched;
	uint8_t *complete = &s->complete[s->clock & (SIM_LOAD_RING - 1)];

	if (hold) {
		left = s->held_places[s->clock & (SIM_HOLD - 1)];
		memcpy(left, s->dispatched, sizeof(s->dispatched));
		left = s->held_places[((unsigned)s->clock - hold) & (SIM_HOLD - 1)];
	}
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		s->port_use[p] -= left[p];
	memset(s->dispatched, 0, sizeof(s->dispatched));
	s->n_loads -= *complete;
	*complete = 0;
}

void sim_schedule(struct sim_state *s)
{
	uint16_t *today = &s->calendar[s->clock & (SIM_CALENDAR - 1)], index = *today;
	unsigned rest;

	*today = 0;
	leave_queue(s);
	while (index) {
		struct sim_entry *e = &s->rs[index];

		index = e->next;
		sim_enqueue(s, e);
	}
	free_places(s);
	for (unsigned left = s->params->results_collide ? s->params->alu_ports : 0; left;
	     left &= left - 1)
		s->results[__builtin_ctz(left)] >>= 1;
	s->data_ports = s->next_data_ports;
	s->next_data_ports = 0;
	s->n_together = 0;
	s->waits_with_result = UINT64_MAX;
	for (unsigned idle = s->movable & ~s->ready_ports; idle; idle &= idle - 1)
		sim_fill_port(s, (unsigned)__builtin_ctz(idle));
	rest = s->ready_ports;
	if (s->params->load_bank_bytes) {
		dispatch_by_age(s, rest & s->params->load_ports);
		rest &= ~s->params->load_ports;
	}
	for (unsigned ports = rest; ports; ports &= ports - 1)
		dispatch(s, (unsigned)__builtin_ctz(ports));
}
