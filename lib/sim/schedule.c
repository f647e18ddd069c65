/* SPDX-License-Identifier: MIT
 *
 * The reservation station: a uop waits until its sources are known, then for the cycle in which
 * they are ready, then for its port; of those that are ready the oldest goes first.
 */
#include "sim/sim.h"

enum { ISSUE_DELAY = 5 /* cycles from issue to the earliest dispatch (uiCA) */ };

/* A source that becomes ready around the earliest dispatch is seen a cycle later: the wake-up is
 * missed once (uiCA).
 */
static void plan(struct sim_state *s, uint16_t index)
{
	struct sim_entry *e = &s->rs[index];
	int32_t earliest = e->issued + ISSUE_DELAY, ready = e->ready;

	if (ready < earliest)
		ready = earliest;
	else if (ready == earliest || ready == earliest + 1)
		ready++;
	if (ready <= s->clock)
		ready = s->clock + 1;
	if (ready - s->clock >= SIM_CALENDAR) {
		s->overflow = true;
		ready = s->clock + SIM_CALENDAR - 1;
	}
	e->next = s->calendar[ready & (SIM_CALENDAR - 1)];
	s->calendar[ready & (SIM_CALENDAR - 1)] = index;
}

static void wait_for(struct sim_state *s, uint16_t index, uint16_t *list, int latency)
{
	uint16_t w = s->waiter_free;

	if (w) {
		s->waiter_free = s->waiters[w].next;
	} else if (s->waiters_used + 1 < SIM_WAITERS) {
		w = ++s->waiters_used;
	} else {
		s->overflow = true;
		return;
	}
	s->waiters[w] = (struct sim_waiter){index, *list, (uint16_t)(latency + 1024)};
	*list = w;
	s->rs[index].unknown++;
}

static void finish_load(struct sim_state *s, uint16_t index, int32_t data);

/* A source of an entry, made by an instruction of the block, is ready in this cycle. */
static void take(struct sim_entry *e, int32_t ready, uint32_t producer)
{
	if (ready > e->ready) {
		e->ready = ready;
		e->producer = producer;
	}
}

/* Everybody who waits for a value learns when it is there. */
static void learn(struct sim_state *s, uint16_t *list, int32_t cycle, uint32_t producer)
{
	while (*list) {
		uint16_t head = *list;
		struct sim_waiter w = s->waiters[head];
		struct sim_entry *e = &s->rs[w.entry];
		int32_t ready = cycle + w.latency - 1024;

		*list = w.next;
		s->waiters[head].next = s->waiter_free;
		s->waiter_free = head;
		if (e->is_load_pending) {
			e->producer = producer;
			finish_load(s, w.entry, ready);
			continue;
		}
		take(e, ready, producer);
		if (!--e->unknown)
			plan(s, w.entry);
	}
}

/* Output of an instance, through an eliminated move; false: it is older than what is remembered. */
static bool find_output(struct sim_state *s, uint64_t *id, unsigned *output)
{
	struct sim_instance *inst = sim_instance_of(s, *id);

	if (!sim_is_there(s, *id))
		return false;
	if (!inst->is_alias || *output == SIM_SYNC_OUTPUT)
		return true;
	*id = inst->alias_id;
	*output = inst->alias_output;
	return sim_is_there(s, *id);
}

/* The instance whose output an input is; false: none that matters any more. */
struct producer {
	struct sim_origin origin;
	struct sim_instance *inst;
	uint32_t insn; /* of the block */
};

static bool find_instance(struct sim_state *s, struct producer *p)
{
	unsigned output = p->origin.output;

	if (!find_output(s, &p->origin.id, &output))
		return false;
	p->origin.output = (uint8_t)output;
	p->inst = sim_instance_of(s, p->origin.id);
	p->insn = sim_insn_of(s, p->origin.id)->insn;
	return output < LOWERED_MAX_OUT || output == SIM_SYNC_OUTPUT;
}

static bool find_producer(struct sim_state *s, uint64_t id, const struct sim_insn *insn, unsigned k,
			  struct producer *p)
{
	return sim_producer(s, id, insn, k, &p->origin) && find_instance(s, p);
}

static void need_internal(struct sim_state *s, uint16_t index, struct sim_instance *inst,
			  unsigned uop, int latency);

static void need_output(struct sim_state *s, uint16_t index, const struct producer *from)
{
	int32_t ready;

	if (from->origin.output == SIM_SYNC_OUTPUT) {
		need_internal(s, index, from->inst, SIM_SYNC, 1);
		return;
	}
	ready = from->inst->output[from->origin.output];
	if (ready == SIM_NEVER)
		wait_for(s, index, &from->inst->waiter[from->origin.output], 0);
	else
		take(&s->rs[index], ready, from->insn);
}

static void need_input(struct sim_state *s, uint16_t index, uint64_t id,
		       const struct sim_insn *insn, unsigned k)
{
	const struct sim_input *in = &sim_program_of(s, id)->inputs[insn->first_input + k];
	struct producer from;

	/* Where a uop that makes a register goes first, it comes from that. */
	if (s->rs[index].uop != SIM_SYNC && in->kind <= VALUE_ADDRESS &&
	    in->key == sim_instance_of(s, id)->sync_key && !in->is_stack) {
		need_internal(s, index, sim_instance_of(s, id), SIM_SYNC, 1);
		return;
	}
	if (in->kind != VALUE_MEMORY && find_producer(s, id, insn, k, &from))
		need_output(s, index, &from);
}

static void need_internal(struct sim_state *s, uint16_t index, struct sim_instance *inst,
			  unsigned uop, int latency)
{
	int32_t result = inst->result[uop];

	if (result == SIM_NEVER)
		wait_for(s, index, &inst->internal_waiter[uop], latency);
	else
		take(&s->rs[index], result + latency, sim_insn_of(s, s->rs[index].id)->insn);
}

/* A uop that makes a register waits for it. */
static void need_register(struct sim_state *s, uint16_t index, uint64_t id,
			  const struct sim_insn *insn)
{
	const struct sim_input *in = sim_program_of(s, id)->inputs + insn->first_input;
	uint8_t key = sim_instance_of(s, id)->sync_key;
	struct producer from;

	if (key == TACT_REG_RSP) {
		if (sim_sync_producer(s, id, insn, &from.origin) && find_instance(s, &from))
			need_output(s, index, &from);
		return;
	}
	for (unsigned k = 0; k < insn->n_inputs; k++)
		if (in[k].kind <= VALUE_ADDRESS && in[k].key == key && !in[k].is_stack)
			need_input(s, index, id, insn, k);
}

void sim_schedule_add(struct sim_state *s, uint64_t id, unsigned uop, unsigned port, uint16_t rob,
		      uint16_t record)
{
	const struct sim_insn *insn = sim_insn_of(s, id);
	uint16_t index = s->rs_free;
	struct sim_entry *e;

	if (index) {
		s->rs_free = s->rs[index].next;
	} else if (s->rs_used + 1 < SIM_RS) {
		index = ++s->rs_used;
	} else {
		s->overflow = true;
		return;
	}
	e = &s->rs[index];
	s->rs_count++;
	*e = (struct sim_entry){.age = s->age++,
				.id = id,
				.uop = (uint8_t)uop,
				.port = (uint8_t)port,
				.rob = rob,
				.issued = s->clock,
				.is_live = true,
				.record = record};
	s->rob[rob].entry = index;
	if (uop == SIM_SYNC) {
		need_register(s, index, id, insn);
	} else {
		const struct sim_program *p = sim_program_of(s, id);
		const struct sim_uop *u = &p->uops[insn->first_uop + uop];
		const struct sim_source *source = p->sources + u->first_source;

		for (unsigned i = 0; i < u->n_sources; i++) {
			if (source[i].is_internal)
				need_internal(s, index, sim_instance_of(s, id), source[i].index,
					      source[i].latency);
			else
				need_input(s, index, id, insn, source[i].index);
		}
	}
	if (!e->unknown)
		plan(s, index);
}

static void free_entry(struct sim_state *s, uint16_t index)
{
	s->rs[index].is_live = false;
	s->rs[index].next = s->rs_free;
	s->rs_free = index;
}

/* Results of a uop: `from` is its dispatch, or for a load that waited for a store what counts as
 * it. */
static void produce(struct sim_state *s, const struct sim_entry *e, int32_t from,
		    bool waited_for_store)
{
	struct sim_rob_entry *rob = &s->rob[e->rob];
	struct sim_instance *inst = sim_instance_of(s, e->id);
	const struct sim_insn *insn = sim_insn_of(s, e->id);
	int32_t finish = from + 2, result = from + 1;

	inst->result[e->uop] = from;
	learn(s, &inst->internal_waiter[e->uop], from, insn->insn);
	if (e->uop != SIM_SYNC) {
		const struct sim_uop *u = &sim_program_of(s, e->id)->uops[insn->first_uop + e->uop];

		bool stores = u->kind == SIM_STORE_ADDRESS || u->kind == SIM_STORE_DATA;

		if (stores && from > inst->stored)
			inst->stored = from;
		inst->stores_left -= stores;
		for (unsigned o = 0; o < insn->n_outputs; o++) {
			bool memory = insn->memory_outputs >> o & 1;

			/* A store is known with its address and its data. */
			if (memory ? !stores || inst->stores_left : !(u->makes >> o & 1))
				continue;
			inst->output[o] = memory ? inst->stored : from + insn->output_latency[o];
			if (inst->output[o] > finish)
				finish = inst->output[o];
			if (inst->output[o] > result)
				result = inst->output[o];
			learn(s, &inst->waiter[o], inst->output[o], insn->insn);
		}
		if (u->kind == SIM_STORE_ADDRESS)
			finish = from + 5;
		if (u->kind == SIM_LOAD && from + u->latency > result)
			result = from + u->latency;
	}
	if (finish > rob->finish)
		rob->finish = finish;
	rob->remaining--;
	if (s->watch)
		sim_watch_finish(s, e, result, waited_for_store);
}

/* A load that met a store: its data come `store_forward` cycles behind the store's, or as late as a
 * load that is dispatched now would have them.
 */
static void finish_load(struct sim_state *s, uint16_t index, int32_t data)
{
	struct sim_entry *e = &s->rs[index];
	const struct sim_insn *insn = sim_insn_of(s, e->id);
	const struct sim_uop *u = &sim_program_of(s, e->id)->uops[insn->first_uop + e->uop];
	int32_t forwarded = data + insn->forward - u->latency;

	e->is_load_pending = false;
	produce(s, e, forwarded > e->ready ? forwarded : e->ready, forwarded > e->ready);
	free_entry(s, index);
}

/* A load that needs more than one store holds: that store must have left the store buffer, some
 * cycles after its retirement.
 */
static int32_t unblocked(const struct sim_state *s, const struct sim_insn *insn, int32_t retired)
{
	return retired + s->params->store_blocked - insn->forward - 1;
}

static bool waits_for_retirement(struct sim_state *s, uint16_t index, uint64_t store)
{
	const struct sim_instance *inst = sim_instance_of(s, store);

	s->rs[index].is_load_pending = true;
	if (inst->retired >= 0) {
		finish_load(s, index, unblocked(s, sim_insn_of(s, s->rs[index].id), inst->retired));
	} else {
		s->blocked[s->n_blocked].store = store;
		s->blocked[s->n_blocked++].entry = index;
	}
	return true;
}

void sim_schedule_unblock(struct sim_state *s, uint64_t id)
{
	unsigned kept = 0;

	sim_instance_of(s, id)->retired = s->clock;
	for (unsigned i = 0; i < s->n_blocked; i++) {
		uint16_t index = s->blocked[i].entry;

		if (s->blocked[i].store == id)
			finish_load(s, index,
				    unblocked(s, sim_insn_of(s, s->rs[index].id), s->clock));
		else
			s->blocked[kept++] = s->blocked[i];
	}
	s->n_blocked = (uint16_t)kept;
}

/* The store that a load takes its data from; true if the load has to wait for it. */
static bool waits_for_store(struct sim_state *s, uint16_t index, const struct sim_uop *u)
{
	struct sim_entry *e = &s->rs[index];
	const struct sim_program *p = sim_program_of(s, e->id);
	const struct sim_source *source = p->sources + u->first_source;
	const struct sim_insn *insn = sim_insn_of(s, e->id);
	const struct sim_input *in = p->inputs + insn->first_input;

	for (unsigned i = 0; i < u->n_sources; i++) {
		struct producer store;
		int32_t stored;

		if (source[i].is_internal || in[source[i].index].kind != VALUE_MEMORY ||
		    !find_producer(s, e->id, insn, source[i].index, &store))
			continue;
		e->ready = s->clock;
		e->producer = store.insn;
		if (store.origin.is_blocked)
			return waits_for_retirement(s, index, store.origin.id);
		stored = store.inst->output[store.origin.output];
		if (stored != SIM_NEVER) {
			finish_load(s, index, stored);
			return true;
		}
		e->is_load_pending = true;
		wait_for(s, index, &store.inst->waiter[store.origin.output], 0);
		return true;
	}
	return false;
}

/* A uop goes to its port. */
static void execute(struct sim_state *s, uint16_t index)
{
	struct sim_entry *e = &s->rs[index];
	struct sim_stats *stats = sim_stats_of(s, e->id);
	const struct sim_insn *insn = sim_insn_of(s, e->id);
	int32_t earliest = e->issued + ISSUE_DELAY,
		ready = e->ready > earliest ? e->ready : earliest, extra = 0;

	stats->port[e->port] += stats->port[e->port] != UINT32_MAX;
	stats->wait_operand += (uint64_t)(ready - earliest);
	stats->wait_port += (uint64_t)(s->clock > ready ? s->clock - ready : 0);
	if (s->watch)
		sim_watch_dispatch(s, e, ready);

	if (e->uop != SIM_SYNC) {
		const struct sim_uop *u = &sim_program_of(s, e->id)->uops[insn->first_uop + e->uop];

		if (u->is_double)
			s->next_data_ports |= 1u << e->port;
		if (u->divider) {
			s->divider_free = s->clock + u->divider;
			stats->divider += u->divider;
		} else if (insn->cycles && !e->uop)
			s->alone_free = s->clock + insn->cycles;
		if (u->kind == SIM_LOAD && waits_for_store(s, index, u))
			return;
		if (u->kind == SIM_LOAD)
			extra = sim_instance_of(s, e->id)->extra;
	}
	produce(s, e, s->clock + extra, false);
	free_entry(s, index);
}

static void enqueue(struct sim_state *s, uint16_t index)
{
	unsigned port = s->rs[index].port, k = s->n_ready[port]++;
	uint16_t *queue = s->ready[port];

	for (; k && s->rs[queue[k - 1]].age > s->rs[index].age; k--)
		queue[k] = queue[k - 1];
	queue[k] = index;
	s->ready_ports |= 1u << port;
}

/* What a uop needs for itself: the divider; or that no other instruction runs which does not
 * overlap (locked ones, those of the system).  FACILE's bound adds them up likewise.
 */
enum need { NEEDS_NOTHING, NEEDS_DIVIDER, NEEDS_SOLITUDE };

static enum need need_of(const struct sim_state *s, const struct sim_entry *e)
{
	const struct sim_insn *insn;

	if (e->uop == SIM_SYNC)
		return NEEDS_NOTHING;
	insn = sim_insn_of(s, e->id);
	if (sim_program_of(s, e->id)->uops[insn->first_uop + e->uop].divider)
		return NEEDS_DIVIDER;
	return insn->cycles && !e->uop ? NEEDS_SOLITUDE : NEEDS_NOTHING;
}

/* Does an older uop need the same, perhaps on another port? */
static bool has_older_rival(const struct sim_state *s, const struct sim_entry *e, enum need need)
{
	for (unsigned ports = s->ready_ports; ports; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctz(ports);

		for (unsigned k = 0; k < s->n_ready[port]; k++) {
			const struct sim_entry *other = &s->rs[s->ready[port][k]];

			if (other->age >= e->age)
				break;
			if (need_of(s, other) == need)
				return true;
		}
	}
	return false;
}

/* The second half of a 256-bit access keeps data from the port, not addresses. */
static bool moves_data(const struct sim_state *s, const struct sim_entry *e)
{
	const struct sim_uop *u;

	if (e->uop == SIM_SYNC)
		return false;
	u = &sim_program_of(s, e->id)->uops[sim_insn_of(s, e->id)->first_uop + e->uop];
	return u->kind == SIM_LOAD || u->kind == SIM_STORE_DATA;
}

static bool can_run(const struct sim_state *s, const struct sim_entry *e)
{
	enum need need = need_of(s, e);

	if (s->data_ports >> e->port & 1 && moves_data(s, e))
		return false;
	if (need == NEEDS_NOTHING)
		return true;
	if ((need == NEEDS_DIVIDER ? s->divider_free : s->alone_free) > s->clock)
		return false;
	return !has_older_rival(s, e, need);
}

static void dispatch(struct sim_state *s, unsigned port)
{
	uint16_t *queue = s->ready[port], index;
	unsigned k = 0;

	while (k < s->n_ready[port] && !can_run(s, &s->rs[queue[k]]))
		k++;
	if (k == s->n_ready[port])
		return;
	index = queue[k];
	for (s->n_ready[port]--; k < s->n_ready[port]; k++)
		queue[k] = queue[k + 1];
	if (!s->n_ready[port])
		s->ready_ports &= ~(1u << port);
	s->dispatched |= 1u << port;
	s->rs_count--;
	execute(s, index);
}

void sim_schedule(struct sim_state *s)
{
	uint16_t *today = &s->calendar[s->clock & (SIM_CALENDAR - 1)], index = *today;

	*today = 0;
	while (index) {
		uint16_t next = s->rs[index].next;

		enqueue(s, index);
		index = next;
	}
	/* The counter of a port goes down a cycle after its uop has left (uiCA). */
	for (unsigned left = s->dispatched; left; left &= left - 1)
		s->port_use[__builtin_ctz(left)]--;
	s->dispatched = 0;
	s->data_ports = s->next_data_ports;
	s->next_data_ports = 0;
	for (unsigned ports = s->ready_ports; ports; ports &= ports - 1)
		dispatch(s, (unsigned)__builtin_ctz(ports));
}
