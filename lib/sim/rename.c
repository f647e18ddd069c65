/* SPDX-License-Identifier: MIT
 *
 * Issue: in order, from the IDQ into the reorder buffer and the reservation station.
 */
#include <string.h>

#include "sim/bind.h"
#include "sim/wake.h"

enum { FENCE_WAY = 8 /* cycles of lfence alone, through this pipeline */ };

/* ---- instances ---- */

/* The output of an eliminated move is that of the instruction that made the value. */
static void follow_move(struct sim_state *s, struct sim_instance *inst)
{
	const struct sim_instance *source;
	struct sim_origin origin;

	if (inst->sync_key == inst->program->inputs[inst->insn->first_input].key) {
		inst->is_alias = true;
		inst->from = (struct sim_origin){
			.id = inst->id, .slot = inst->slot, .output = SIM_SYNC_OUTPUT};
		return;
	}
	if (!sim_producer(s, inst, 0, &origin) || !sim_is_there(s, &origin))
		return; /* long ago */
	source = &s->slots[origin.slot];
	inst->from = source->is_alias && origin.output != SIM_SYNC_OUTPUT ? source->from : origin;
	/* A ring of moves never ends: its value was ready long ago. */
	inst->is_alias = sim_is_there(s, &inst->from);
}

/* Nothing is known about its values.  Setting all is cheaper than counting them. */
static void begin_values(struct sim_state *s, struct sim_instance *inst)
{
	static const struct sim_value never[LOWERED_MAX_OUT] = {
		{SIM_NEVER, 0}, {SIM_NEVER, 0}, {SIM_NEVER, 0}, {SIM_NEVER, 0},
		{SIM_NEVER, 0}, {SIM_NEVER, 0}, {SIM_NEVER, 0}, {SIM_NEVER, 0}};
	const struct sim_insn *insn = inst->insn;

	inst->sync = never[0];
	memcpy(inst->few, never, sizeof(inst->few));
	memcpy(inst->output, never, sizeof(inst->output));
	inst->result = inst->few;
	if (insn->n_uops > SIM_FEW_UOPS) {
		inst->result = s->many[inst->slot];
		for (unsigned u = 0; u < insn->n_uops; u++)
			inst->result[u] = never[0];
	}
	if (insn->n_uops && !inst->is_eliminated && !insn->unmade_outputs)
		return;
	for (unsigned o = 0; o < insn->n_outputs; o++)
		if (!insn->n_uops || inst->is_eliminated || insn->unmade_outputs >> o & 1)
			inst->output[o].ready = s->clock;
}

/* Tells whether the flags that an instruction reads come late. */
static bool has_late_flags(const struct sim_state *s, const struct sim_instance *inst)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;

	for (unsigned k = 0; k < inst->insn->n_inputs; k++) {
		const struct sim_instance *writer;
		struct sim_origin origin;

		if (in[k].kind != VALUE_FLAGS)
			continue;
		if (!sim_producer(s, inst, k, &origin) || !sim_is_there(s, &origin))
			return true; /* long ago */
		writer = &s->slots[origin.slot];
		if (writer->retired >= 0 ||
		    (writer->insn->makes_late_flags && writer->issued == s->clock))
			return true;
	}
	return false;
}

static inline void begin_instance(struct sim_state *s, uint64_t id, const struct sim_insn *insn,
				  uint8_t sync_key)
{
	unsigned slot = sim_slot(s, id);
	struct sim_instance *inst = &s->slots[slot];

	s->renamed = inst;
	s->slot_id[slot] = id;
	inst->id = id;
	inst->slot = (uint16_t)slot;
	inst->number = insn->insn;
	inst->program = sim_program_of(s, id);
	inst->insn = insn;
	inst->stats = sim_stats_of(s, id);
	inst->is_alias = false;
	inst->is_eliminated = insn->eliminated && sim_moves_eliminate(s, inst->program, insn);
	if (!inst->is_eliminated && (s->moves.shared | s->moves.folded) & insn->written_moves)
		sim_moves_write(s, insn);
	inst->sync_key = sync_key;
	inst->stored = inst->retired = -1;
	inst->issued = s->clock;
	inst->data = (struct sim_value){.ready = SIM_NEVER};
	inst->extra = 0;
	inst->n_trips = inst->loads_done = 0;
	inst->stores_left = insn->n_store_uops;
	inst->has_accesses = false;
	if (s->stream)
		sim_stream_connect(s, inst);
	begin_values(s, inst);
	inst->is_late = insn->takes_late_flags && has_late_flags(s, inst);
	if (inst->is_eliminated)
		follow_move(s, inst);
}

/* ---- what a uop waits for ---- */

static void need(struct sim_state *s, struct sim_entry *e, struct sim_value *value, int latency,
		 uint32_t producer)
{
	if (value->ready == SIM_NEVER)
		wait_for(s, e, &value->waiter, latency);
	else
		take(e, value->ready + latency, producer);
}

/* What a uop of the stack engine, or one that joins a register, has made. */
static void need_sync(struct sim_state *s, struct sim_entry *e, struct sim_instance *inst,
		      int latency)
{
	need(s, e, &inst->sync, 1 + latency, e->inst->number);
}

static inline void need_output(struct sim_state *s, struct sim_entry *e, struct sim_origin *origin,
			       int latency)
{
	struct sim_instance *inst = find_instance(s, origin);

	if (!inst)
		return;
	if (origin->output == SIM_SYNC_OUTPUT)
		need_sync(s, e, inst, latency);
	else
		need(s, e, &inst->output[origin->output], latency, inst->number);
}

static void need_input(struct sim_state *s, struct sim_entry *e, struct sim_instance *inst,
		       unsigned k, int latency)
{
	struct sim_origin origin;

	if (sim_producer(s, inst, k, &origin))
		need_output(s, e, &origin, latency);
}

static bool reads(const struct sim_input *in, uint8_t key)
{
	return in->kind <= VALUE_ADDRESS && in->key == key && in->stack != STACK_ENGINE;
}

/* A uop that makes a register waits for its old value. */
static void need_register(struct sim_state *s, struct sim_entry *e, struct sim_instance *inst)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;
	struct sim_origin origin;

	if (inst->sync_key == s->registers->stack_pointer) {
		if (sim_sync_producer(s, inst, &origin))
			need_output(s, e, &origin, 0);
		return;
	}
	for (unsigned k = 0; k < inst->insn->n_inputs; k++)
		if (reads(&in[k], inst->sync_key))
			need_input(s, e, inst, k, 0);
}

static inline void need_sources(struct sim_state *s, struct sim_entry *e, struct sim_instance *inst)
{
	const struct sim_input *in = inst->program->inputs + inst->insn->first_input;
	const struct sim_uop *u = e->u;
	const struct sim_source *source = inst->program->sources + u->first_source;

	for (unsigned i = 0; i < u->n_sources; i++, source++) {
		if (source->kind == SIM_FROM_UOP)
			need(s, e, &inst->result[source->index], source->latency, inst->number);
		else if (inst->sync_key != SIM_NO_KEY && reads(&in[source->index], inst->sync_key))
			/* If a uop that makes a register goes first, the value comes from that. */
			need_sync(s, e, inst, source->latency);
		else
			need_input(s, e, inst, source->index, source->latency);
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

/* Vectors may have a station of their own, with a queue before it, which counts as a source that is
 * not known yet.
 */
static inline void enter_station(struct sim_state *s, struct sim_entry *e)
{
	e->is_vector = s->params->vec_rs_size && s->params->vec_ports >> e->port & 1;
	if (!e->is_vector) {
		s->rs_count++;
	} else if (!s->vec_queued && s->vec_count < (unsigned)s->params->vec_rs_size) {
		s->vec_count++;
	} else {
		s->vec_queue[(s->vec_head + s->vec_queued++) & (SIM_RS - 1)] = e->index;
		e->unknown++;
	}
}

/* Enters a uop of an instance into the reservation station; its port has been chosen. */
static inline void add_entry(struct sim_state *s, struct sim_instance *inst,
			     const struct sim_uop *u, unsigned uop, unsigned port, uint16_t rob,
			     uint16_t record)
{
	uint16_t index = take_entry(s);
	struct sim_entry *e = &s->rs[index];

	if (!index)
		return;
	e->index = index;
	e->inst = inst;
	e->stats = inst->stats;
	e->u = u;
	/* A branch may go before what was issued in its cycle and the one before. */
	e->age = s->params->branch_first && inst->insn->is_branch ? 2 * s->group_age[1]
								  : 2 * s->age + 1;
	s->age++;
	e->ready = 0;
	e->issued = s->clock;
	e->producer = 0;
	e->rob = rob;
	e->unknown = 0;
	e->record = record;
	e->uop = (uint8_t)uop;
	e->port = (uint8_t)port;
	e->kind = u->kind;
	e->need = u->need;
	e->makes = u->makes;
	e->result = u->result;
	e->is_double = u->is_double;
	e->is_live = true;
	e->is_load_pending = false;
	e->is_renamed = false;
	enter_station(s, e);
	s->rob[rob].entry = index;
	if (uop == SIM_SYNC)
		need_register(s, e, inst);
	else
		need_sources(s, e, inst);
	if (!e->unknown)
		plan(s, e);
}

/* ---- the cycle ---- */

static inline uint16_t add_rob(struct sim_state *s, const struct sim_instance *inst, unsigned uops,
			       bool ends)
{
	unsigned at = (s->rob_head + s->rob_count++) & (SIM_ROB - 1);
	struct sim_rob_entry *e = &s->rob[at];

	if (s->rob_count > SIM_ROB)
		s->overflow = true;
	e->id = inst->id;
	e->finish = s->clock;
	e->slot = inst->slot;
	e->entry = 0;
	e->remaining = (uint16_t)uops;
	e->first_record = s->next_record;
	e->n_records = 0;
	e->ends_insn = ends;
	e->ends_store = ends & (inst->insn->memory_outputs != 0);
	e->ends_block = ends & inst->insn->is_last;
	return (uint16_t)at;
}

/* `uop` is the number of `u` within the instruction, `slot` that of its fused uop. */
static inline void issue_uop(struct sim_state *s, struct sim_issue *issue,
			     struct sim_instance *inst, const struct sim_uop *u, unsigned uop,
			     unsigned slot, params_ports mask, uint16_t rob)
{
	const unsigned port = sim_bind(s, issue, mask);
	uint16_t record = 0;

	if (s->watch) {
		record = sim_watch_issue(s, inst, uop, slot, (int)port, issue->delivered);
		s->rob[rob].n_records++;
	}
	s->port_use[port]++;
	s->n_loads += u->in_window;
	add_entry(s, inst, u, uop, port, rob, record);
}

/* The last instruction of a block of a stream whose next block is elsewhere. */
static bool is_taken(const struct sim_state *s, const struct sim_instance *inst)
{
	uint64_t next = (sim_iteration(inst->id) + 1) << SIM_NUMBER_BITS;

	return inst->insn->is_last && sim_iteration(next) < s->stream->n_feeds &&
	       !sim_feed_of(s, next)->is_contiguous;
}

/* Where an address unit and an integer port share their places, the load of a macro-op goes where
 * its operation goes (experiments on Zen 3: such loads do not take turns with the others).  Returns
 * the ports of uop u, of which `ports` are allowed; `bound` keeps that of the operation, or 0.
 */
static params_ports ports_of_pair(struct sim_state *s, struct sim_issue *issue,
				  const struct sim_uop *u, params_ports ports, bool has_next,
				  params_ports *bound)
{
	params_ports both = *bound;

	*bound = 0;
	if (both)
		return both;
	both = has_next && u->kind == SIM_LOAD ? u[1].ports & s->shared : 0;
	if (!both || u[1].ports & ~s->params->alu_ports)
		return ports;
	*bound = 1u << sim_bind(s, issue, both);
	return 1u << s->shares[__builtin_ctz(*bound)];
}

static void issue_groups(struct sim_state *s, struct sim_issue *issue, struct sim_instance *inst,
			 unsigned first, unsigned end)
{
	const struct sim_insn *insn = inst->insn;
	const struct sim_uop *uops = inst->program->uops + insn->first_uop;
	const uint8_t *group = inst->program->groups + insn->first_group;
	bool taken = s->stream && is_taken(s, inst);
	params_ports bound = 0;
	unsigned uop = 0;

	for (unsigned g = 0; g < first; g++)
		uop += group[g];
	for (unsigned g = first; g < end; g++, issue->slot++) {
		unsigned n = inst->is_eliminated ? 0 : group[g];
		uint16_t rob = add_rob(s, inst, n, g + 1 == insn->n_fused);

		for (unsigned last = uop + n; uop < last; uop++) {
			const struct sim_uop *u = &uops[uop];
			params_ports ports = taken && u->taken_ports ? u->taken_ports : u->ports;

			if (s->shared)
				ports = ports_of_pair(s, issue, u, ports, uop + 1 < last, &bound);
			issue_uop(s, issue, inst, u, uop, g, ports, rob);
		}
		if (!n && s->watch) {
			sim_watch_issue(s, inst, uop, g, -1, issue->delivered);
			s->rob[rob].n_records++;
		}
	}
}

/* Returns the register that must be made before this instruction can issue, or SIM_NO_KEY. */
static uint8_t needs_sync(const struct sim_state *s, const struct sim_insn *insn)
{
	if (s->stream ? s->stream->stack_changed && insn->names_stack && !s->params->stack_folded
		      : insn->stack_sync)
		return s->registers->stack_pointer;
	return insn->merge_key;
}

/* Issues the uop that makes it; false: not in this cycle. */
__attribute__((noinline)) static bool issue_sync(struct sim_state *s, struct sim_issue *issue,
						 uint64_t id, const struct sim_insn *insn,
						 uint8_t key)
{
	static const struct sim_uop sync = {.kind = SIM_ALU, .latency = 1};
	unsigned width = (unsigned)s->params->issue_width;
	bool alone = key != s->registers->stack_pointer;

	if (issue->slot == width || (alone && issue->slot))
		return false;
	begin_instance(s, id, insn, key);
	issue->delivered = s->idq[s->idq_head].at;
	issue_uop(s, issue, s->renamed, &sync, SIM_SYNC, 0, s->params->alu_ports,
		  add_rob(s, s->renamed, 1, false));
	issue->slot = alone ? width : issue->slot + 1;
	s->sync_pending = 1;
	return true;
}

/* Returns whether there is room for its integer uops, each at one of its ports, and its loads. */
static bool fits_ports(const struct sim_state *s, uint64_t id, const struct sim_insn *insn)
{
	const struct sim_uop *u = sim_program_of(s, id)->uops + insn->first_uop;

	if (s->params->load_window && s->n_loads &&
	    s->n_loads + insn->n_window > (unsigned)s->params->load_window)
		return false;
	for (unsigned k = 0; k < insn->n_uops && !insn->eliminated; k++) {
		bool fits = u[k].ports & ~s->stationed;

		for (unsigned ports = u[k].ports; ports && !fits; ports &= ports - 1)
			fits = sim_has_room(s, (unsigned)__builtin_ctz(ports));
		if (!fits)
			return false;
	}
	return true;
}

/* Returns whether what follows an instruction waits for more than its uops. */
static bool hold(struct sim_state *s, const struct sim_insn *insn)
{
	if (insn->holds || insn->rest) {
		/* The next cycle would be the first one after it. */
		s->held_until = s->clock + (insn->holds ? insn->holds : insn->rest + 1);
		return true;
	}
	if (insn->cycles && !insn->n_uops) {
		/* No uop says when it is over (lfence, pause). */
		const int overlap = insn->serializes ? s->params->fence_overlap : 0;

		s->fenced_until = s->clock + insn->cycles;
		s->held_until = s->fenced_until - overlap;
		return true;
	}
	return false;
}

/* What follows an instruction that repeats itself waits until that is over.  Returns whether it
 * does.
 */
static bool repeat(struct sim_state *s, const struct sim_instance *inst)
{
	struct sim_rob_entry *last = &s->rob[(s->rob_head + s->rob_count - 1) & (SIM_ROB - 1)];
	const int32_t cycles = s->stream ? sim_feed_of(s, inst->id)->repeat_cycles : 0;

	if (!cycles || inst->issued + cycles <= s->clock)
		return false;
	s->held_until = inst->issued + cycles;
	last->finish = s->held_until > last->finish ? s->held_until : last->finish;
	return true;
}

/* Returns whether nothing issues because of an instruction that waits for everything. */
static bool waits_for_fence(struct sim_state *s)
{
	if (s->rob_count) {
		s->serialized = s->clock;
		return true;
	}
	if (!s->params->fence_cycles)
		return false;
	s->is_serializing = false;
	s->held_until = s->clock + s->params->fence_cycles - FENCE_WAY;
	return true;
}

void sim_rename(struct sim_state *s)
{
	unsigned width = (unsigned)s->params->issue_width;
	struct sim_issue issue;

	issue.slot = issue.n = issue.sorted = 0;
	memset(issue.taken, 0, sizeof(issue.taken));
	s->n_vector_moves = 0;
	if (s->age != s->group_age[0]) {
		s->group_age[1] = s->group_age[0];
		s->group_age[0] = s->age;
	}
	memcpy(s->use_before[1], s->use_before[0], sizeof(s->use_before[0]));
	memcpy(s->use_before[0], s->port_use, sizeof(s->port_use));
	if (s->rob_count + width > s->rob_size) {
		s->rob_full = s->clock;
		return;
	}
	if (s->rs_count + width > (unsigned)s->params->rs_size ||
	    (s->params->vec_rs_size && s->vec_queued + width > (unsigned)s->params->vec_rs_queue)) {
		s->rs_full = s->clock;
		return;
	}
	if (s->clock < s->held_until)
		return;
	if (s->is_serializing && waits_for_fence(s))
		return;
	s->is_serializing = false;
	while (s->idq_count && !s->is_serializing) {
		uint64_t id = s->idq[s->idq_head].id;
		unsigned uop = s->idq[s->idq_head].uop;
		const struct sim_insn *insn = s->idq[s->idq_head].insn;
		unsigned first = uop, end = uop + 1 == insn->n_decoded ? insn->n_fused : uop + 1;

		if (!uop && insn->serializes && !s->params->fence_cycles &&
		    (s->rob_count || s->clock < s->fenced_until)) {
			s->serialized = s->clock;
			break;
		}
		if (!uop && !s->sync_pending && needs_sync(s, insn) != SIM_NO_KEY) {
			if (!issue_sync(s, &issue, id, insn, needs_sync(s, insn)))
				break;
			continue;
		}
		if (issue.slot + (end - first) > width && issue.slot)
			break;
		if (s->params->port_rs_size && !fits_ports(s, id, insn)) {
			s->rs_full = s->clock;
			break;
		}
		if (!uop && s->stream && s->stream->follows_trips && !sim_trip_has_room(s, insn)) {
			s->stores_full = s->clock;
			break;
		}
		if (!uop && !s->sync_pending)
			begin_instance(s, id, insn, SIM_NO_KEY);
		if (!uop && s->stream)
			sim_stream_pass_stack(s->stream, insn);
		s->sync_pending = 0;
		issue.delivered = s->idq[s->idq_head].at;
		issue_groups(s, &issue, s->renamed, first, end);
		if (s->stream && uop + 1 == insn->n_decoded)
			sim_stream_write(s, s->renamed);
		s->idq_head = (s->idq_head + 1) & (SIM_IDQ - 1);
		s->idq_count--;
		s->is_serializing = insn->serializes && uop + 1 == insn->n_decoded;
		if ((uop + 1 == insn->n_decoded &&
		     (hold(s, insn) || (insn->is_last && repeat(s, s->renamed)))) ||
		    issue.slot >= width)
			break;
	}
}
