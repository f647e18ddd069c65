/* SPDX-License-Identifier: MIT
 *
 * CPUs that execute in order: from the IDQ to the units, as LLVM's InOrderIssueStage documents it.
 * An instruction is issued when its operands are there, its units are free, and its results do not
 * come before those of older ones, unless it retires early; one that cannot be issued holds all that
 * follow.  One that has more micro-ops than there is room for takes the next cycles, too.
 *
 * What LLVM does not say: a load that takes longer than from the first level does not hold what
 * follows, but what needs its data (a scoreboard); its own latency counts for the order of results.
 */
#include <string.h>

#include "sim/sim.h"

static const struct sim_order *order_of(const struct sim_program *p, const struct sim_insn *insn)
{
	return &p->orders[insn - p->insns];
}

void sim_issue_init(struct sim_state *s, const struct tact_arch *arch)
{
	struct sim_in_order *o = &s->in_order;

	memset(o, 0, offsetof(struct sim_in_order, units));
	o->llvm = arch->llvm;
	if (arch->params.in_order)
		units_init(&o->units, arch->llvm->info);
}

/* ---- what the oldest instruction waits for ---- */

/* Returns by how many cycles later than at issue an input is needed. */
static int advance_of(const struct sim_program *p, const struct sim_order *order, unsigned input,
		      unsigned write_id)
{
	const struct block_advance *a = p->advances + order->first_advance;

	for (unsigned i = 0; i < order->n_advances; i++)
		if (a[i].input == input && (!a[i].write_id || a[i].write_id == write_id))
			return a[i].cycles;
	return 0;
}

static void find_operands(struct sim_state *s, struct sim_instance *inst,
			  const struct sim_order *order)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;
	struct sim_in_order *o = &s->in_order;

	o->ready = o->stored_ready = s->clock;
	o->has_producer = o->waits_for_load = false;
	for (unsigned k = 0; k < inst->insn->n_inputs; k++) {
		const struct sim_instance *from;
		const struct sim_order *made;
		struct sim_origin origin;
		int32_t ready;

		if (in[k].kind == VALUE_MEMORY || !sim_producer(s, inst, k, &origin) ||
		    !sim_is_there(s, &origin))
			continue;
		from = &s->slots[origin.slot];
		made = order_of(from->program, from->insn);
		if (in[k].kind != VALUE_ADDRESS &&
		    from->output[origin.output].ready > o->stored_ready)
			o->stored_ready = from->output[origin.output].ready;
		ready = from->output[origin.output].ready -
			advance_of(inst->program, order, k, made->write_id[origin.output]);
		if (ready <= o->ready)
			continue;
		o->ready = ready;
		o->has_producer = true;
		o->producer = from->number;
		o->waits_for_load = made->loads;
	}
}

/* Loads and stores wait for barriers, and such a load for the load before; results come in order. */
static void find_order(struct sim_state *s, const struct sim_order *order)
{
	struct sim_in_order *o = &s->in_order;
	int32_t barrier = 0, results = 0;

	if (order->stores)
		barrier = o->store_barrier;
	else if (order->loads)
		barrier = order->load_barrier ? o->load_done : o->load_barrier;
	if (!order->retires_early && o->write_back > s->clock)
		results = o->write_back - order->first_write;
	o->ordered = barrier > results ? barrier : results;
	o->wait = barrier > results ? TACT_WAIT_SERIALIZE : TACT_WAIT_ORDER;
	if (o->ordered <= o->ready)
		o->wait = TACT_WAIT_PORT;
}

/* Becomes the oldest instruction that is not issued. */
static void begin_head(struct sim_state *s, uint64_t id, const struct sim_insn *insn,
		       const struct sim_order *order)
{
	const unsigned slot = sim_slot(s, id);
	struct sim_instance *inst = &s->slots[slot];

	s->in_order.head = inst;
	s->slot_id[slot] = id;
	inst->id = id;
	inst->slot = (uint16_t)slot;
	inst->number = insn->insn;
	inst->program = sim_program_of(s, id);
	inst->insn = insn;
	inst->stats = sim_stats_of(s, id);
	inst->is_alias = inst->is_eliminated = inst->is_late = false;
	inst->has_accesses = false;
	inst->sync_key = SIM_NO_KEY;
	inst->stored = inst->retired = -1;
	inst->issued = s->clock;
	inst->extra = 0;
	inst->n_trips = inst->loads_done = inst->stores_left = 0;
	inst->result = inst->few;
	inst->few[0] = (struct sim_value){SIM_NEVER, 0};
	if (s->stream)
		sim_stream_connect(s, inst);
	find_operands(s, inst, order);
	find_order(s, order);
}

/* ---- issue ---- */

static bool can_issue(struct sim_state *s, const struct sim_order *order)
{
	const struct sim_instance *inst = s->in_order.head;
	struct sim_in_order *o = &s->in_order;
	const struct units_demand demand = {inst->program->uses + order->first_use, order->groups,
					    order->n_uses, order->has_overlapping_groups};

	if (s->clock < o->ready || s->clock < o->ordered)
		return false;
	if (s->rob_count >= s->rob_size) {
		o->wait = TACT_WAIT_ROB;
		return false;
	}
	if (inst->insn->serializes && s->rob_count) {
		o->wait = TACT_WAIT_SERIALIZE;
		return false;
	}
	if (!units_are_free(&o->units, &demand)) {
		o->wait = TACT_WAIT_PORT;
		return false;
	}
	if (s->stream && s->stream->follows_trips && !sim_trip_has_room(s, inst->insn)) {
		s->stores_full = s->clock;
		o->wait = TACT_WAIT_PORT;
		return false;
	}
	units_issue(&o->units, &demand);
	return true;
}

/* Returns the port of what an instruction got; -1: it has none. */
static int port_of(const struct sim_in_order *o, const struct units_busy *taken)
{
	const unsigned port = o->llvm->first_port[arch_llvm_index(taken->unit)] +
			      (unsigned)__builtin_ctzll(taken->part);

	return port < TACT_MAX_PORTS ? (int)port : -1;
}

enum { LONG_AGO = -(1 << 20) };

/* Returns when what it loads was stored, if it meets a store; *store: the store's instruction. */
static int32_t find_stored(struct sim_state *s, const struct sim_instance *inst, uint32_t *store)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;
	int32_t stored = LONG_AGO;

	for (unsigned k = 0; k < inst->insn->n_inputs; k++) {
		const struct sim_instance *from;
		struct sim_origin origin;
		int32_t ready;

		if (in[k].kind != VALUE_MEMORY || !sim_store_of(s, inst, k, &origin) ||
		    !sim_is_there(s, &origin))
			continue;
		from = &s->slots[origin.slot];
		ready = from->output[origin.output].ready;
		if (origin.is_blocked)
			ready += s->params->store_blocked_latency - s->params->store_forward;
		if (ready > stored) {
			stored = ready;
			*store = from->number;
		}
	}
	return stored;
}

/* Fills what the instruction makes; returns when it has executed, but for its way to memory.  *store:
 * the instruction whose store it waited for, if it did.  A store may be issued before what it stores
 * is there, by its read-advance; a load takes that once it is.
 */
static int32_t produce(struct sim_state *s, struct sim_instance *inst,
		       const struct sim_order *order, uint32_t *store)
{
	uint32_t met = UINT32_MAX;
	const int32_t stored = inst->insn->uses_memory ? find_stored(s, inst, &met) : LONG_AGO,
		      extra = inst->n_trips ? sim_trip_load(s, inst) : inst->extra;
	const unsigned memory = inst->insn->memory_outputs;
	int32_t executed = s->clock + order->latency + order->load_extra;

	inst->few[0].ready = s->clock;
	for (unsigned o = 0; o < inst->insn->n_outputs; o++) {
		const bool is_plain_store = memory >> o & 1 && !order->exchanges_memory;
		int32_t ready = s->clock;

		if (is_plain_store)
			ready = ready > s->in_order.stored_ready ? ready : s->in_order.stored_ready;
		else
			ready += order->made[o] + order->load_extra;
		if (!is_plain_store && order->forwarded[o] &&
		    stored + order->forwarded[o] > ready) {
			ready = stored + order->forwarded[o];
			*store = met;
		}
		executed = ready > executed ? ready : executed;
		inst->output[o] = (struct sim_value){ready + (memory >> o & 1 ? 0 : extra), 0};
	}
	return executed;
}

static void enter_rob(struct sim_state *s, const struct sim_instance *inst, int32_t finish)
{
	const unsigned at = (s->rob_head + s->rob_count++) & (SIM_ROB - 1);

	s->rob[at] = (struct sim_rob_entry){.id = inst->id,
					    .finish = finish,
					    .slot = inst->slot,
					    .first_record = s->next_record,
					    .ends_insn = true,
					    .ends_store = inst->insn->memory_outputs != 0,
					    .ends_block = inst->insn->is_last};
}

/* Counts what the head waited for, and tells the sink about it. */
static void note(struct sim_state *s, const struct sim_instance *inst, int32_t executed,
		 uint32_t store)
{
	const unsigned rob = (s->rob_head + s->rob_count - 1) & (SIM_ROB - 1);
	const struct sim_in_order *o = &s->in_order;
	struct sim_stats *stats = inst->stats;

	stats->wait_operand += (uint64_t)(o->ready - inst->issued);
	stats->wait_port += (uint64_t)(s->clock - o->ready);
	for (unsigned i = 0; i < o->units.n_taken; i++) {
		const int port = port_of(o, &o->units.taken[i]);
		const unsigned cycles = o->units.taken[i].cycles;

		if (port >= 0)
			stats->port[port] += cycles < UINT32_MAX - stats->port[port]
						     ? cycles
						     : UINT32_MAX - stats->port[port];
		if (s->watch) {
			sim_watch_order(s, inst, port, executed, store);
			s->rob[rob].n_records++;
		}
	}
	if (s->watch && !o->units.n_taken) {
		sim_watch_order(s, inst, -1, executed, store);
		s->rob[rob].n_records++;
	}
}

/* What follows a load or a store may have to wait until it has executed. */
static void note_order(struct sim_state *s, const struct sim_order *order)
{
	struct sim_in_order *o = &s->in_order;
	const int32_t executed = s->clock + order->latency;

	if (!order->retires_early)
		o->write_back = executed;
	if (order->loads)
		o->load_done = executed;
	if (order->load_barrier)
		o->load_barrier = executed;
	if (order->store_barrier)
		o->store_barrier = executed;
}

/* Takes the room that an instruction needs in this cycle, and leaves the rest for the next ones. */
static void take_room(struct sim_in_order *o, const struct sim_order *order)
{
	if (order->micro_ops > o->left) {
		o->carried = order->micro_ops - o->left;
		o->ends_group = order->ends_group;
		o->left = 0;
		return;
	}
	o->issued += order->micro_ops;
	o->left = order->ends_group ? 0 : o->left - order->micro_ops;
}

static void issue(struct sim_state *s, const struct sim_order *order)
{
	struct sim_in_order *o = &s->in_order;
	struct sim_instance *inst = o->head;
	uint32_t store = UINT32_MAX;
	const int32_t executed = produce(s, inst, order, &store);
	const int32_t repeats =
		s->stream && inst->insn->is_last ? sim_feed_of(s, inst->id)->repeat_cycles : 0;

	enter_rob(s, inst, executed);
	note(s, inst, executed, store);
	note_order(s, order);
	take_room(o, order);
	if (s->stream)
		sim_stream_write(s, inst);
	s->is_serializing = inst->insn->serializes;
	if (repeats) {
		s->held_until = s->clock + repeats;
		s->rob[(s->rob_head + s->rob_count - 1) & (SIM_ROB - 1)].finish = s->held_until;
	}
	s->idq_head = (s->idq_head + 1) & (SIM_IDQ - 1);
	s->idq_count--;
	o->head = NULL;
}

/* A cycle begins: room for micro-ops, less what is left of an instruction. */
static void begin_cycle(struct sim_state *s)
{
	struct sim_in_order *o = &s->in_order;
	const unsigned width = (unsigned)s->params->issue_width;

	units_cycle(&o->units);
	o->issued = 0;
	o->left = o->carried < width ? width - o->carried : 0;
	if (o->carried && o->carried <= width && o->ends_group)
		o->left = 0;
	o->carried -= o->carried < width ? o->carried : width;
}

static void issue_all(struct sim_state *s)
{
	struct sim_in_order *o = &s->in_order;

	if (s->clock < s->held_until || (s->is_serializing && s->rob_count))
		return;
	s->is_serializing = false;
	while (s->idq_count && !o->carried && s->clock >= s->held_until && !s->is_serializing) {
		const uint64_t id = s->idq[s->idq_head].id;
		const struct sim_insn *insn = s->idq[s->idq_head].insn;
		const struct sim_order *order = order_of(sim_program_of(s, id), insn);

		if ((o->left < order->micro_ops &&
		     order->micro_ops <= (unsigned)s->params->issue_width) ||
		    (order->begins_group && o->issued))
			return;
		if (!o->head)
			begin_head(s, id, insn, order);
		if (!can_issue(s, order))
			return;
		issue(s, order);
	}
}

/* ---- cycles in which nothing is issued ---- */

static enum sim_stall stall_of(const struct sim_state *s, const struct sim_feed *feed)
{
	const struct sim_in_order *o = &s->in_order;

	if (s->clock < s->held_until)
		return SIM_STALL_STRINGS;
	if (s->is_serializing)
		return SIM_STALL_SERIALIZING;
	if (!o->head)
		return feed->is_mispredicted ? SIM_STALL_BRANCH : SIM_STALL_FRONT_END;
	if (s->clock < o->ready)
		return o->waits_for_load ? SIM_STALL_LOADS : SIM_STALL_OPERANDS;
	if (o->wait == TACT_WAIT_SERIALIZE)
		return SIM_STALL_SERIALIZING;
	if (s->stores_full == s->clock)
		return SIM_STALL_STORES;
	return o->wait == TACT_WAIT_PORT ? SIM_STALL_PORTS : SIM_STALL_EXECUTION;
}

static void count_stall(struct sim_state *s)
{
	const struct sim_feed *feed = sim_next_feed(s);

	if (feed && feed->stalls)
		feed->stalls[stall_of(s, feed)]++;
}

void sim_issue(struct sim_state *s)
{
	struct sim_in_order *o = &s->in_order;
	const bool is_carried = o->carried != 0;

	begin_cycle(s);
	issue_all(s);
	if (s->stream && !is_carried && !o->issued && !o->carried)
		count_stall(s);
}

/* ---- for others ---- */

static void move_back(int32_t *cycle, int32_t by)
{
	*cycle = *cycle > by ? *cycle - by : 0;
}

void sim_issue_rebase(struct sim_state *s, int32_t by)
{
	struct sim_in_order *o = &s->in_order;

	move_back(&o->ready, by);
	move_back(&o->ordered, by);
	move_back(&o->write_back, by);
	move_back(&o->load_done, by);
	move_back(&o->load_barrier, by);
	move_back(&o->store_barrier, by);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu; /* as in steady.c */
	return h ^ h >> 32;
}

static uint64_t mix_cycle(const struct sim_state *s, uint64_t h, int32_t cycle)
{
	return mix(h, cycle > s->clock ? (uint64_t)(cycle - s->clock) : 0);
}

static uint64_t mix_units(const struct units *u, uint64_t h)
{
	for (unsigned i = 0; i < LLVM_MAX_KINDS; i++)
		if (u->unit[i].mask)
			h = mix(mix(mix(h, u->unit[i].ready), u->unit[i].next),
				u->unit[i].removed << 1 | u->unit[i].is_reserved);
	for (unsigned i = 0; i < u->n_busy; i++)
		h = mix(mix(mix(h, u->busy[i].unit), u->busy[i].part), u->busy[i].cycles);
	return h;
}

/* Returns how many cycles before issue an operand may be needed. */
static int32_t most_early(const struct sim_program *p)
{
	int32_t most = 0;

	for (size_t i = 0; i < p->n_advances; i++)
		most = -p->advances[i].cycles > most ? -p->advances[i].cycles : most;
	return most;
}

/* Results that may still be waited for. */
static uint64_t mix_results(const struct sim_state *s, uint64_t h, uint64_t first)
{
	const int32_t early = most_early(s->program);

	for (unsigned i = 0; i < SIM_SLOTS; i++) {
		const struct sim_instance *inst = &s->slots[i];

		if (s->slot_id[i] == SIM_NO_ID || inst == s->in_order.head)
			continue;
		for (unsigned o = 0; o < inst->insn->n_outputs; o++) {
			const int32_t ahead = inst->output[o].ready + early - s->clock;

			if (ahead > 0 && inst->few[0].ready != SIM_NEVER)
				h += mix((inst->id - first) << 4 | o, (uint64_t)ahead);
		}
	}
	return h;
}

uint64_t sim_issue_hash(const struct sim_state *s, uint64_t first)
{
	const struct sim_in_order *o = &s->in_order;
	uint64_t h = (uint64_t)o->carried << 1 | (o->head != NULL);

	if (o->head) {
		h = mix_cycle(s, mix_cycle(s, h, o->ready), o->ordered);
		h = mix(h, o->head->id - first);
	}
	h = mix_cycle(s, h, o->write_back);
	h = mix_cycle(s, mix_cycle(s, h, o->load_done), o->load_barrier);
	h = mix_cycle(s, h, o->store_barrier);
	return mix_results(s, mix_units(&o->units, h), first);
}
