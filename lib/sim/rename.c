/* SPDX-License-Identifier: MIT
 *
 * Issue: in order from the IDQ into reorder buffer and reservation station.  Uops are bound to
 * ports here, before it is known when they can run (uiCA, section 4.2).
 */
#include <string.h>

#include "sim/sim.h"

/* Ports of a mask by use; of equal ones the higher number first.  Returns how many. */
static unsigned sort_ports(const uint8_t *use, unsigned mask, uint8_t *ports, bool high_first)
{
	unsigned n = 0;

	for (; mask; mask &= mask - 1) {
		unsigned p = (unsigned)__builtin_ctz(mask), k;

		for (k = n++; k && (use[p] < use[ports[k - 1]] ||
				    (high_first && use[p] == use[ports[k - 1]]));
		     k--)
			ports[k] = ports[k - 1];
		ports[k] = (uint8_t)p;
	}
	return n;
}

/* Loads, store addresses and store data take their two ports in turn. */
static int alternate(struct sim_state *s, uint16_t mask)
{
	const uint16_t roles[3] = {s->params->load_ports, s->params->store_address_ports,
				   s->params->store_data_ports};

	for (unsigned r = 0; r < 3; r++) {
		unsigned low, high;

		low = (unsigned)__builtin_ctz(mask);
		high = 31u - (unsigned)__builtin_clz(mask);
		if (mask != roles[r] || mask != (1u << low | 1u << high))
			continue;
		s->alternate[r] ^= 1;
		return (int)(s->alternate[r] ? low : high);
	}
	return -1;
}

/* Cores of ten ports: the counters of one cycle before; uops of the same ports are spread. */
static unsigned bind_wide(struct sim_state *s, uint16_t mask, unsigned slot, unsigned same)
{
	const uint8_t *use = s->use_before[1];
	uint8_t ports[SIM_MAX_PORTS] = {0};
	unsigned n = sort_ports(use, mask, ports, true), usable = 0;

	while (usable < n && use[ports[usable]] < use[ports[0]] + 5)
		usable++;
	if (slot == 4)
		return ports[0];
	if (slot == 3 && !same && usable > 1)
		return ports[1];
	return ports[same % usable];
}

/* Cores of eight: even slots take the least used port, odd ones the second. */
static unsigned bind_eight(struct sim_state *s, uint16_t mask, unsigned slot)
{
	const uint8_t *use = s->use_before[0];
	unsigned first = (unsigned)__builtin_ctz(mask), second = first;

	/* The two least used; of equal ones the higher number. */
	for (mask &= (uint16_t)(mask - 1); mask; mask &= (uint16_t)(mask - 1)) {
		unsigned p = (unsigned)__builtin_ctz(mask);

		if (use[p] <= use[first]) {
			second = first;
			first = p;
		} else if (second == first || use[p] <= use[second]) {
			second = p;
		}
	}
	return slot % 2 == 0 || use[second] >= use[first] + 3 ? first : second;
}

/* Cores of six: similar, with a pattern for uops of ports 0, 1 and 5. */
static unsigned bind_six(struct sim_state *s, uint16_t mask, unsigned slot)
{
	static const uint8_t pattern[3][4] = {{0, 5, 1, 0}, {1, 5, 0, 1}, {5, 1, 0, 5}};
	const uint8_t *use = s->use_before[0];
	uint8_t ports[SIM_MAX_PORTS] = {0};
	unsigned n = sort_ports(use, mask, ports, false);

	if (use[ports[n - 1]] - use[ports[0]] >= 3)
		return ports[0];
	if (mask == ((1u << 0) | (1u << 1) | (1u << 5)))
		return pattern[ports[0] == 0 ? 0 : ports[0] == 1 ? 1 : 2][slot & 3];
	return slot % 2 == 0 ? ports[0] : ports[n - 1];
}

static unsigned bind(struct sim_state *s, uint16_t mask, unsigned slot, unsigned same)
{
	int port;

	if (!(mask & (mask - 1)))
		return (unsigned)__builtin_ctz(mask);
	port = alternate(s, mask);
	if (port >= 0)
		return (unsigned)port;
	switch (s->n_ports) {
	case 6:
		return bind_six(s, mask, slot);
	case 8:
		return bind_eight(s, mask, slot);
	default:
		return bind_wide(s, mask, slot, same);
	}
}

/* ---- instances ---- */

/* The output of an eliminated move is that of the instruction which made the value. */
static void follow_move(struct sim_state *s, uint64_t self, struct sim_instance *inst,
			const struct sim_insn *insn)
{
	const struct sim_instance *source;
	struct sim_origin origin;

	if (inst->sync_key == sim_program_of(s, self)->inputs[insn->first_input].key) {
		inst->is_alias = true;
		inst->alias_id = self;
		inst->alias_output = SIM_SYNC_OUTPUT;
		return;
	}
	if (!sim_producer(s, self, insn, 0, &origin) || !sim_is_there(s, origin.id))
		return; /* long ago */
	source = sim_instance_of(s, origin.id);
	inst->is_alias = true;
	inst->alias_id = origin.id;
	inst->alias_output = origin.output;
	if (source->is_alias && origin.output != SIM_SYNC_OUTPUT) {
		inst->alias_id = source->alias_id;
		inst->alias_output = source->alias_output;
	}
	/* A ring of moves goes round for ever: the value is long there. */
	if (!sim_is_there(s, inst->alias_id))
		inst->is_alias = false;
}

static void begin_instance(struct sim_state *s, uint64_t id, const struct sim_insn *insn,
			   uint8_t sync_key)
{
	struct sim_instance *inst = sim_instance_of(s, id);
	bool immediate;

	s->slot_id[sim_slot(s, id)] = id;
	inst->is_alias = false;
	inst->is_eliminated =
		insn->eliminated && sim_moves_eliminate(s, sim_program_of(s, id), insn);
	if (!inst->is_eliminated && s->moves.n_shared)
		sim_moves_write(s, insn);
	immediate = !insn->n_uops || inst->is_eliminated;
	inst->sync_key = sync_key;
	inst->stored = inst->retired = -1;
	inst->extra = 0;
	inst->stores_left = insn->n_store_uops;
	if (s->stream)
		sim_stream_connect(s, id, insn);
	for (unsigned o = 0; o < insn->n_outputs; o++) {
		inst->output[o] = immediate || insn->unmade_outputs >> o & 1 ? s->clock : SIM_NEVER;
		inst->waiter[o] = 0;
	}
	for (unsigned u = 0; u < insn->n_uops; u++) {
		inst->result[u] = SIM_NEVER;
		inst->internal_waiter[u] = 0;
	}
	inst->result[SIM_SYNC] = SIM_NEVER;
	inst->internal_waiter[SIM_SYNC] = 0;
	if (inst->is_eliminated)
		follow_move(s, id, inst, insn);
}

/* ---- the cycle ---- */

struct issue {
	unsigned slot;
	int32_t delivered; /* of the uop that is being issued */
	uint16_t mask[32];
	unsigned count[32], n; /* uops of each set of ports so far in this cycle */
};

static unsigned same_before(struct issue *issue, uint16_t mask)
{
	unsigned i;

	for (i = 0; i < issue->n; i++)
		if (issue->mask[i] == mask)
			return issue->count[i]++;
	if (i < 32) {
		issue->mask[i] = mask;
		issue->count[i] = 1;
		issue->n++;
	}
	return 0;
}

static uint16_t add_rob(struct sim_state *s, uint64_t id, unsigned uops, bool ends)
{
	unsigned at = (s->rob_head + s->rob_count++) & (SIM_ROB - 1);

	s->rob[at] = (struct sim_rob_entry){.id = id,
					    .remaining = (uint16_t)uops,
					    .finish = s->clock,
					    .ends_insn = ends,
					    .first_record = s->next_record};
	return (uint16_t)at;
}

static void issue_uop(struct sim_state *s, struct issue *issue, uint64_t id, unsigned uop,
		      unsigned slot, uint16_t mask, uint16_t rob)
{
	unsigned port = bind(s, mask, issue->slot, same_before(issue, mask));
	uint16_t record = 0;

	if (s->watch) {
		record = sim_watch_issue(s, id, uop, slot, (int)port, issue->delivered);
		s->rob[rob].n_records++;
	}
	s->port_use[port]++;
	sim_schedule_add(s, id, uop, port, rob, record);
}

/* The last instruction of a block of a stream, and the next block is elsewhere. */
static bool is_taken(const struct sim_state *s, uint64_t id)
{
	uint64_t next = sim_next(id, sim_program_of(s, id)->n_insns);

	return !sim_number(next) && sim_iteration(next) < s->stream->n_feeds &&
	       !sim_feed_of(s, next)->is_contiguous;
}

static void issue_groups(struct sim_state *s, struct issue *issue, uint64_t id,
			 const struct sim_insn *insn, unsigned first, unsigned end)
{
	const struct sim_program *p = sim_program_of(s, id);
	const uint8_t *group = p->groups + insn->first_group;
	bool taken = s->stream && is_taken(s, id),
	     eliminated = sim_instance_of(s, id)->is_eliminated;
	unsigned uop = 0;

	for (unsigned g = 0; g < first; g++)
		uop += group[g];
	for (unsigned g = first; g < end; g++, issue->slot++) {
		unsigned n = eliminated ? 0 : group[g];
		uint16_t rob = add_rob(s, id, n, g + 1 == insn->n_fused);

		for (unsigned u = 0; u < n; u++, uop++) {
			const struct sim_uop *su = &p->uops[insn->first_uop + uop];

			issue_uop(s, issue, id, uop, g,
				  taken && su->taken_ports ? su->taken_ports : su->ports, rob);
		}
		if (!n && s->watch) {
			sim_watch_issue(s, id, uop, g, -1, issue->delivered);
			s->rob[rob].n_records++;
		}
	}
}

/* The register that has to be made before this instruction can be issued, or SIM_NO_KEY. */
static uint8_t needs_sync(const struct sim_state *s, const struct sim_insn *insn)
{
	if (s->stream ? s->stream->rsp_changed && insn->names_rsp : insn->stack_sync)
		return TACT_REG_RSP;
	return insn->merge_key;
}

/* Issues the uop that makes it; false: not in this cycle. */
static bool issue_sync(struct sim_state *s, struct issue *issue, uint64_t id,
		       const struct sim_insn *insn, uint8_t key)
{
	unsigned width = (unsigned)s->params->issue_width;
	bool alone = key != TACT_REG_RSP;

	if (issue->slot == width || (alone && issue->slot))
		return false;
	begin_instance(s, id, insn, key);
	issue->delivered = s->idq[s->idq_head].at;
	issue_uop(s, issue, id, SIM_SYNC, 0, s->params->alu_ports, add_rob(s, id, 1, false));
	issue->slot = alone ? width : issue->slot + 1;
	s->sync_pending = 1;
	return true;
}

void sim_rename(struct sim_state *s)
{
	unsigned width = (unsigned)s->params->issue_width;
	struct issue issue;

	issue.slot = issue.n = 0;
	s->n_vector_moves = 0;
	memcpy(s->use_before[1], s->use_before[0], sizeof(s->use_before[0]));
	memcpy(s->use_before[0], s->port_use, sizeof(s->port_use));
	if (s->rob_count + width > (unsigned)s->params->rob_size) {
		s->rob_full = s->clock;
		return;
	}
	if (s->rs_count + width > (unsigned)s->params->rs_size) {
		s->rs_full = s->clock;
		return;
	}
	if (s->is_serializing && s->rob_count) {
		s->serialized = s->clock;
		return;
	}
	s->is_serializing = false;
	while (s->idq_count && !s->is_serializing) {
		uint64_t id = s->idq[s->idq_head].id;
		unsigned uop = s->idq[s->idq_head].uop;
		const struct sim_insn *insn = sim_insn_of(s, id);
		unsigned first = uop, end = uop + 1 == insn->n_decoded ? insn->n_fused : uop + 1;

		if (!uop && insn->serializes && s->rob_count) {
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
		if (!uop && !s->sync_pending)
			begin_instance(s, id, insn, SIM_NO_KEY);
		if (!uop && s->stream)
			sim_stream_pass_stack(s, insn);
		s->sync_pending = 0;
		issue.delivered = s->idq[s->idq_head].at;
		issue_groups(s, &issue, id, insn, first, end);
		s->idq_head = (s->idq_head + 1) & (SIM_IDQ - 1);
		s->idq_count--;
		s->is_serializing = insn->serializes && uop + 1 == insn->n_decoded;
		if (issue.slot >= width)
			break;
	}
}
