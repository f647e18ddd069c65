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
void sim_rename_init(struct sim_state *s)
{
	const uint16_t roles[3] = {s->params->load_ports, s->params->store_address_ports,
				   s->params->store_data_ports};

	for (unsigned r = 0; r < 3; r++)
		s->turns[r] = __builtin_popcount(roles[r]) == 2 ? roles[r] : 0;
}

static int alternate(struct sim_state *s, uint16_t mask)
{
	for (unsigned r = 0; r < 3; r++)
		if (mask == s->turns[r]) {
			s->alternate[r] ^= 1;
			return s->alternate[r] ? __builtin_ctz(mask) : 31 - __builtin_clz(mask);
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

/* What is being issued in this cycle. */
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

static unsigned bind(struct sim_state *s, struct issue *issue, uint16_t mask)
{
	int port;

	if (!(mask & (mask - 1)))
		return (unsigned)__builtin_ctz(mask);
	if (s->params->port_binding)
		return (unsigned)__builtin_ctz(mask); /* until it is ready */
	port = alternate(s, mask);
	if (port >= 0)
		return (unsigned)port;
	switch (s->n_ports) {
	case 6:
		return bind_six(s, mask, issue->slot);
	case 8:
		return bind_eight(s, mask, issue->slot);
	default:
		return bind_wide(s, mask, issue->slot, same_before(issue, mask));
	}
}

/* ---- instances ---- */

/* The output of an eliminated move is that of the instruction which made the value. */
static void follow_move(struct sim_state *s, struct sim_instance *inst, unsigned slot)
{
	const struct sim_instance *source;
	struct sim_origin origin;

	if (inst->sync_key == inst->program->inputs[inst->insn->first_input].key) {
		inst->is_alias = true;
		inst->alias = (struct sim_origin){
			.id = inst->id, .slot = (uint16_t)slot, .output = SIM_SYNC_OUTPUT};
		return;
	}
	if (!sim_producer(s, inst, 0, &origin) || !sim_is_there(s, &origin))
		return; /* long ago */
	source = &s->slots[origin.slot];
	inst->alias = source->is_alias && origin.output != SIM_SYNC_OUTPUT ? source->alias : origin;
	/* A ring of moves goes round for ever: the value is long there. */
	inst->is_alias = sim_is_there(s, &inst->alias);
}

static void clear_values(struct sim_value *values, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		values[i] = (struct sim_value){.ready = SIM_NEVER};
}

static void begin_values(const struct sim_state *s, struct sim_instance *inst)
{
	const struct sim_insn *insn = inst->insn;
	unsigned known = !insn->n_uops || inst->is_eliminated ? ~0u : insn->unmade_outputs;

	for (unsigned o = 0; o < insn->n_outputs; o++)
		inst->output[o] =
			(struct sim_value){.ready = known >> o & 1 ? s->clock : SIM_NEVER};
	clear_values(inst->result, insn->n_uops);
	clear_values(&inst->sync, 1);
}

static void begin_instance(struct sim_state *s, uint64_t id, const struct sim_insn *insn,
			   uint8_t sync_key)
{
	unsigned slot = sim_slot(s, id);
	struct sim_instance *inst = &s->slots[slot];

	s->renamed = inst;
	s->slot_id[slot] = id;
	inst->id = id;
	inst->program = sim_program_of(s, id);
	inst->insn = insn;
	inst->stats = sim_stats_of(s, id);
	inst->result = insn->n_uops <= SIM_FEW_UOPS ? inst->few : s->many[slot];
	inst->is_alias = false;
	inst->is_eliminated = insn->eliminated && sim_moves_eliminate(s, inst->program, insn);
	if (!inst->is_eliminated && s->moves.n_shared)
		sim_moves_write(s, insn);
	inst->sync_key = sync_key;
	inst->stored = inst->retired = -1;
	inst->data = (struct sim_value){.ready = SIM_NEVER};
	inst->extra = 0;
	inst->stores_left = insn->n_store_uops;
	inst->has_accesses = false;
	if (s->stream)
		sim_stream_connect(s, inst);
	begin_values(s, inst);
	if (inst->is_eliminated)
		follow_move(s, inst, slot);
}

/* ---- the cycle ---- */

static uint16_t add_rob(struct sim_state *s, const struct sim_instance *inst, unsigned uops,
			bool ends)
{
	unsigned at = (s->rob_head + s->rob_count++) & (SIM_ROB - 1);

	if (s->rob_count > SIM_ROB)
		s->overflow = true;
	s->rob[at] = (struct sim_rob_entry){.id = inst->id,
					    .slot = (uint16_t)(inst - s->slots),
					    .remaining = (uint16_t)uops,
					    .finish = s->clock,
					    .ends_insn = ends,
					    .ends_store = ends && inst->insn->memory_outputs,
					    .ends_block = ends && inst->insn->is_last,
					    .first_record = s->next_record};
	return (uint16_t)at;
}

static void issue_uop(struct sim_state *s, struct issue *issue, struct sim_instance *inst,
		      unsigned uop, unsigned slot, uint16_t mask, uint16_t rob)
{
	unsigned port = bind(s, issue, mask);
	uint16_t record = 0;

	if (s->watch) {
		record = sim_watch_issue(s, inst, uop, slot, (int)port, issue->delivered);
		s->rob[rob].n_records++;
	}
	s->port_use[port] += !s->params->port_binding;
	sim_schedule_add(s, inst, uop, port, mask, rob, record);
}

/* The last instruction of a block of a stream, and the next block is elsewhere. */
static bool is_taken(const struct sim_state *s, const struct sim_instance *inst)
{
	uint64_t next = (sim_iteration(inst->id) + 1) << SIM_NUMBER_BITS;

	return inst->insn->is_last && sim_iteration(next) < s->stream->n_feeds &&
	       !sim_feed_of(s, next)->is_contiguous;
}

static void issue_groups(struct sim_state *s, struct issue *issue, struct sim_instance *inst,
			 unsigned first, unsigned end)
{
	const struct sim_insn *insn = inst->insn;
	const struct sim_uop *uops = inst->program->uops + insn->first_uop;
	const uint8_t *group = inst->program->groups + insn->first_group;
	bool taken = s->stream && is_taken(s, inst);
	unsigned uop = 0;

	for (unsigned g = 0; g < first; g++)
		uop += group[g];
	for (unsigned g = first; g < end; g++, issue->slot++) {
		unsigned n = inst->is_eliminated ? 0 : group[g];
		uint16_t rob = add_rob(s, inst, n, g + 1 == insn->n_fused);

		for (unsigned u = 0; u < n; u++, uop++)
			issue_uop(s, issue, inst, uop, g,
				  taken && uops[uop].taken_ports ? uops[uop].taken_ports
								 : uops[uop].ports,
				  rob);
		if (!n && s->watch) {
			sim_watch_issue(s, inst, uop, g, -1, issue->delivered);
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
	issue_uop(s, issue, s->renamed, SIM_SYNC, 0, s->params->alu_ports,
		  add_rob(s, s->renamed, 1, false));
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
	if (s->rob_count + width > s->rob_size) {
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
		const struct sim_insn *insn = s->idq[s->idq_head].insn;
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
		issue_groups(s, &issue, s->renamed, first, end);
		s->idq_head = (s->idq_head + 1) & (SIM_IDQ - 1);
		s->idq_count--;
		s->is_serializing = insn->serializes && uop + 1 == insn->n_decoded;
		if (issue.slot >= width)
			break;
	}
}
