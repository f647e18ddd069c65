/* SPDX-License-Identifier: MIT
 *
 * The reservation station: a uop waits until its sources are known, then for the cycle in which
 * they are ready, then for its port; of those that are ready the oldest goes first.
 */
#include <string.h>

#include "sim/sim.h"

enum { ISSUE_DELAY = 5 /* cycles from issue to the earliest dispatch (uiCA) */ };

static void announce_data(struct sim_state *s, const struct sim_entry *e);

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
	if (s->params->store_renamed)
		announce_data(s, e);
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

/* Memory that is renamed: who loads what is stored here has it when the store has. */
static void announce_data(struct sim_state *s, const struct sim_entry *e)
{
	if (e->u->kind != SIM_STORE_DATA || !e->inst->insn->leaves_stored)
		return;
	e->inst->data.ready = e->ready;
	learn(s, &e->inst->data.waiter, e->ready, e->inst->insn->insn);
}

/* The instance and the output that a value comes from, through an eliminated move; NULL: none that
 * matters any more, it is older than what is remembered.
 */
static struct sim_instance *find_instance(struct sim_state *s, struct sim_origin *origin)
{
	struct sim_instance *inst = &s->slots[origin->slot];

	if (!sim_is_there(s, origin))
		return NULL;
	if (inst->is_alias && origin->output != SIM_SYNC_OUTPUT) {
		*origin = inst->alias;
		if (!sim_is_there(s, origin))
			return NULL;
		inst = &s->slots[origin->slot];
	}
	return inst;
}

static void need(struct sim_state *s, uint16_t index, struct sim_value *value, int latency,
		 uint32_t producer)
{
	if (value->ready == SIM_NEVER)
		wait_for(s, index, &value->waiter, latency);
	else
		take(&s->rs[index], value->ready + latency, producer);
}

/* What a uop of the stack engine, or one that joins a register, has made. */
static void need_sync(struct sim_state *s, uint16_t index, struct sim_instance *inst)
{
	need(s, index, &inst->sync, 1, s->rs[index].inst->insn->insn);
}

static void need_output(struct sim_state *s, uint16_t index, struct sim_origin *origin)
{
	struct sim_instance *inst = find_instance(s, origin);

	if (!inst)
		return;
	if (origin->output == SIM_SYNC_OUTPUT)
		need_sync(s, index, inst);
	else
		need(s, index, &inst->output[origin->output], 0, inst->insn->insn);
}

static void need_input(struct sim_state *s, uint16_t index, struct sim_instance *inst, unsigned k)
{
	struct sim_origin origin;

	if (sim_producer(s, inst, k, &origin))
		need_output(s, index, &origin);
}

static bool reads(const struct sim_input *in, uint8_t key)
{
	return in->kind <= VALUE_ADDRESS && in->key == key && !in->is_stack;
}

/* A uop that makes a register waits for it. */
static void need_register(struct sim_state *s, uint16_t index, struct sim_instance *inst)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;
	struct sim_origin origin;

	if (inst->sync_key == TACT_REG_RSP) {
		if (sim_sync_producer(s, inst, &origin))
			need_output(s, index, &origin);
		return;
	}
	for (unsigned k = 0; k < inst->insn->n_inputs; k++)
		if (reads(&in[k], inst->sync_key))
			need_input(s, index, inst, k);
}

static void need_sources(struct sim_state *s, uint16_t index, struct sim_instance *inst)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;
	const struct sim_uop *u = s->rs[index].u;
	const struct sim_source *source = inst->program->sources + u->first_source;

	for (unsigned i = 0; i < u->n_sources; i++, source++) {
		if (source->kind == SIM_FROM_UOP)
			need(s, index, &inst->result[source->index], source->latency,
			     inst->insn->insn);
		else if (source->kind == SIM_FROM_MEMORY)
			continue; /* once it is dispatched: waits_for_store */
		else if (inst->sync_key != SIM_NO_KEY && reads(&in[source->index], inst->sync_key))
			/* Where a uop that makes a register goes first, it comes from that. */
			need_sync(s, index, inst);
		else
			need_input(s, index, inst, source->index);
	}
}

static uint16_t take_entry(struct sim_state *s)
{
	uint16_t index = s->rs_free;

	if (index)
		s->rs_free = s->rs[index].next;
	else if (s->rs_used + 1 < SIM_RS)
		index = ++s->rs_used;
	else
		s->overflow = true;
	return index;
}

void sim_schedule_add(struct sim_state *s, struct sim_instance *inst, unsigned uop, unsigned port,
		      uint16_t ports, uint16_t rob, uint16_t record)
{
	static const struct sim_uop sync = {.kind = SIM_ALU, .latency = 1};
	uint16_t index = take_entry(s);
	struct sim_entry *e = &s->rs[index];

	if (!index)
		return;
	s->rs_count++;
	*e = (struct sim_entry){
		.inst = inst,
		.u = uop == SIM_SYNC ? &sync : &inst->program->uops[inst->insn->first_uop + uop],
		.age = s->age++,
		.uop = (uint8_t)uop,
		.port = (uint8_t)port,
		.ports = ports,
		.rob = rob,
		.issued = s->clock,
		.is_live = true,
		.record = record};
	s->rob[rob].entry = index;
	if (uop == SIM_SYNC)
		need_register(s, index, inst);
	else
		need_sources(s, index, inst);
	if (!e->unknown)
		plan(s, index);
}

static void free_entry(struct sim_state *s, uint16_t index)
{
	s->rs[index].is_live = false;
	s->rs[index].next = s->rs_free;
	s->rs_free = index;
}

/* Outputs that the dispatch of a uop decides; a store is known with its address and its data. */
static unsigned made_outputs(struct sim_instance *inst, const struct sim_uop *u, int32_t from)
{
	if (u->kind != SIM_STORE_ADDRESS && u->kind != SIM_STORE_DATA)
		return u->makes;
	if (from > inst->stored)
		inst->stored = from;
	return --inst->stores_left ? u->makes : u->makes | inst->insn->memory_outputs;
}

/* Results of a uop: `from` is its dispatch, or for a load that waited for a store what counts as
 * it. */
static void produce(struct sim_state *s, const struct sim_entry *e, int32_t from,
		    bool waited_for_store)
{
	struct sim_rob_entry *rob = &s->rob[e->rob];
	struct sim_instance *inst = e->inst;
	const struct sim_insn *insn = inst->insn;
	struct sim_value *self = e->uop == SIM_SYNC ? &inst->sync : &inst->result[e->uop];
	int32_t finish = from + 2, result = from + 1;

	self->ready = from;
	learn(s, &self->waiter, from, insn->insn);
	for (unsigned made = made_outputs(inst, e->u, from); made; made &= made - 1) {
		unsigned o = (unsigned)__builtin_ctz(made);
		struct sim_value *value = &inst->output[o];

		value->ready = insn->memory_outputs >> o & 1 ? inst->stored
							     : from + insn->output_latency[o];
		if (value->ready > finish)
			finish = value->ready;
		if (value->ready > result)
			result = value->ready;
		learn(s, &value->waiter, value->ready, insn->insn);
	}
	if (e->u->kind == SIM_STORE_ADDRESS)
		finish = from + 5;
	if (finish > rob->finish)
		rob->finish = finish;
	rob->remaining--;
	if (!s->watch)
		return;
	if (e->u->kind == SIM_LOAD && from + e->u->latency > result)
		result = from + e->u->latency;
	sim_watch_finish(s, e, result, waited_for_store);
}

/* A load that met a store: its data come `store_forward` cycles behind the store's, or as late as a
 * load that is dispatched now would have them.
 */
static void finish_load(struct sim_state *s, uint16_t index, int32_t data)
{
	struct sim_entry *e = &s->rs[index];
	int32_t forwarded = data + (e->is_renamed ? 0 : e->inst->insn->forward) - e->u->latency;

	e->is_load_pending = false;
	/* Of renamed memory not even the load's own time counts. */
	produce(s, e, e->is_renamed || forwarded > e->ready ? forwarded : e->ready,
		forwarded > e->ready);
	free_entry(s, index);
}

/* A load that needs more than one store holds: that store must have left the store buffer, some
 * cycles after its retirement.
 */
static int32_t unblocked(const struct sim_state *s, const struct sim_insn *insn, int32_t retired)
{
	return retired + s->params->store_blocked - insn->forward - 1;
}

static bool waits_for_retirement(struct sim_state *s, uint16_t index,
				 const struct sim_instance *store)
{
	s->rs[index].is_load_pending = true;
	if (store->retired >= 0) {
		finish_load(s, index, unblocked(s, s->rs[index].inst->insn, store->retired));
	} else {
		s->blocked[s->n_blocked].store = store;
		s->blocked[s->n_blocked++].entry = index;
	}
	return true;
}

void sim_schedule_unblock(struct sim_state *s, struct sim_instance *inst)
{
	unsigned kept = 0;

	inst->retired = s->clock;
	for (unsigned i = 0; i < s->n_blocked; i++) {
		uint16_t index = s->blocked[i].entry;

		if (s->blocked[i].store == inst)
			finish_load(s, index, unblocked(s, s->rs[index].inst->insn, s->clock));
		else
			s->blocked[kept++] = s->blocked[i];
	}
	s->n_blocked = (uint16_t)kept;
}

/* The store that a load takes its data from; true if the load has to wait for it. */
static bool waits_for_store(struct sim_state *s, uint16_t index)
{
	struct sim_entry *e = &s->rs[index];
	const struct sim_source *source = e->inst->program->sources + e->u->first_source;

	for (unsigned i = 0; i < e->u->n_sources; i++) {
		struct sim_instance *store;
		struct sim_origin origin;
		struct sim_value *value;

		if (source[i].kind != SIM_FROM_MEMORY ||
		    !sim_store_of(s, e->inst, source[i].index, &origin) ||
		    !(store = find_instance(s, &origin)))
			continue;
		e->ready = s->clock;
		e->producer = store->insn->insn;
		if (origin.is_blocked)
			return waits_for_retirement(s, index, store);
		e->is_renamed = origin.is_renamed;
		value = e->is_renamed ? &store->data : &store->output[origin.output];
		if (value->ready != SIM_NEVER) {
			finish_load(s, index, value->ready);
			return true;
		}
		e->is_load_pending = true;
		wait_for(s, index, &value->waiter, 0);
		return true;
	}
	return false;
}

/* A uop goes to its port. */
static void execute(struct sim_state *s, uint16_t index)
{
	struct sim_entry *e = &s->rs[index];
	struct sim_stats *stats = e->inst->stats;
	const struct sim_uop *u = e->u;
	int32_t earliest = e->issued + ISSUE_DELAY,
		ready = e->ready > earliest ? e->ready : earliest, extra = 0;

	stats->port[e->port] += stats->port[e->port] != UINT32_MAX;
	stats->wait_operand += (uint64_t)(ready - earliest);
	stats->wait_port += (uint64_t)(s->clock > ready ? s->clock - ready : 0);
	if (s->watch)
		sim_watch_dispatch(s, e, ready);
	if (u->is_double)
		s->next_data_ports |= 1u << e->port;
	if (u->need == SIM_NEEDS_DIVIDER) {
		s->divider_free = s->clock + u->divider;
		stats->divider += u->divider;
	} else if (u->need == SIM_NEEDS_SOLITUDE) {
		s->alone_free = s->clock + e->inst->insn->cycles;
	}
	if (u->kind == SIM_LOAD) {
		if (waits_for_store(s, index))
			return;
		extra = e->inst->extra;
	}
	produce(s, e, s->clock + extra, false);
	free_entry(s, index);
}

/* ---- what is ready, by port and age ---- */

static struct sim_entry *ready_entry(struct sim_state *s, uint64_t key)
{
	return &s->rs[key & UINT16_MAX];
}

/* Where a uop may wait until it runs: the port of its set that fewest are ready for. */
static unsigned shortest_queue(const struct sim_state *s, unsigned mask)
{
	unsigned best = 0, shortest = ~0u;

	for (; mask; mask &= mask - 1) {
		unsigned p = (unsigned)__builtin_ctz(mask), n = s->ready_end[p] - s->ready_begin[p];

		if (n < shortest) {
			shortest = n;
			best = p;
		}
	}
	return best;
}

static void enqueue(struct sim_state *s, uint16_t index)
{
	unsigned port = s->rs[index].port, begin, k;
	uint64_t *queue, key = s->rs[index].age << 16 | index;

	if (s->params->port_binding)
		s->rs[index].port = (uint8_t)(port = shortest_queue(s, s->rs[index].ports));
	begin = s->ready_begin[port];
	queue = s->ready[port];

	if (s->ready_end[port] == SIM_RS) {
		memmove(queue, queue + begin, (SIM_RS - begin) * sizeof(*queue));
		s->ready_end[port] -= begin;
		s->ready_begin[port] = begin = 0;
	}
	for (k = s->ready_end[port]++; k > begin && queue[k - 1] > key; k--)
		queue[k] = queue[k - 1];
	queue[k] = key;
	s->ready_ports |= 1u << port;
}

/* Most that leave are the first. */
static void dequeue(struct sim_state *s, unsigned port, unsigned k)
{
	uint64_t *queue = s->ready[port];

	for (; k > s->ready_begin[port]; k--)
		queue[k] = queue[k - 1];
	if (++s->ready_begin[port] < s->ready_end[port])
		return;
	s->ready_begin[port] = s->ready_end[port] = 0;
	s->ready_ports &= ~(1u << port);
}

/* Does an older uop need the same, perhaps on another port? */
static bool has_older_rival(struct sim_state *s, const struct sim_entry *e)
{
	for (unsigned ports = s->ready_ports; ports; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctz(ports);

		for (unsigned k = s->ready_begin[port]; k < s->ready_end[port]; k++) {
			const struct sim_entry *other = ready_entry(s, s->ready[port][k]);

			if (other->age >= e->age)
				break;
			if (other->u->need == e->u->need)
				return true;
		}
	}
	return false;
}

static bool can_run(struct sim_state *s, const struct sim_entry *e)
{
	const struct sim_uop *u = e->u;

	/* The second half of a 256-bit access keeps data from the port, not addresses. */
	if (s->data_ports >> e->port & 1 && (u->kind == SIM_LOAD || u->kind == SIM_STORE_DATA))
		return false;
	if (u->need == SIM_NEEDS_NOTHING)
		return true;
	if ((u->need == SIM_NEEDS_DIVIDER ? s->divider_free : s->alone_free) > s->clock)
		return false;
	return !has_older_rival(s, e);
}

static void dispatch(struct sim_state *s, unsigned port)
{
	const uint64_t *queue = s->ready[port];
	unsigned k = s->ready_begin[port];
	uint16_t index;

	while (!can_run(s, ready_entry(s, queue[k])))
		if (++k == s->ready_end[port])
			return;
	index = (uint16_t)queue[k];
	dequeue(s, port, k);
	s->dispatched |= 1u << port;
	s->rs_count--;
	execute(s, index);
}

void sim_schedule(struct sim_state *s)
{
	uint16_t *today = &s->calendar[s->clock & (SIM_CALENDAR - 1)], index = *today, wide = 0;

	*today = 0;
	while (index) {
		uint16_t next = s->rs[index].next;

		/* Those that have little choice first. */
		if (s->params->port_binding && __builtin_popcount(s->rs[index].ports) > 2) {
			s->rs[index].next = wide;
			wide = index;
		} else {
			enqueue(s, index);
		}
		index = next;
	}
	while (wide) {
		uint16_t next = s->rs[wide].next;

		enqueue(s, wide);
		wide = next;
	}
	/* The counter of a port goes down a cycle after its uop has left (uiCA). */
	for (unsigned left = s->params->port_binding ? 0 : s->dispatched; left; left &= left - 1)
		s->port_use[__builtin_ctz(left)]--;
	s->dispatched = 0;
	s->data_ports = s->next_data_ports;
	s->next_data_ports = 0;
	for (unsigned ports = s->ready_ports; ports; ports &= ports - 1)
		dispatch(s, (unsigned)__builtin_ctz(ports));
}
