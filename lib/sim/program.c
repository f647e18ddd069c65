/* SPDX-License-Identifier: MIT
 *
 * From a lowered block to uops.
 *
 * The tables say how many uops an instruction has, on which ports, and how long each result takes
 * from each source, but not which uop does what.  The rule (uiCA's): loads come first and wait for
 * the address; then the uops that compute; then store address and store data.  Of several computing
 * uops, the last one makes the results and waits for the sources with the least latency; the others
 * take the slower sources and pass a value on.
 */
#include <string.h>

#include "sim/sim.h"

/* Ports of the uops of an instruction, by what they do. */
struct draft_ports {
	params_ports load[SIM_MAX_UOPS], sta[SIM_MAX_UOPS], std[SIM_MAX_UOPS], alu[SIM_MAX_UOPS];
};

struct draft {
	struct sim_program *p;
	const struct tact_block *block;
	const struct block_insn *bi;
	const struct block_lowered *l;
	struct sim_insn *insn;
	bool for_stream;
	params_ports *load, *sta, *std, *alu; /* those listed here */
	unsigned n_load, n_sta, n_std, n_alu;
	bool full;
	uint32_t late_inputs; /* bit k: only some outputs wait for input k, */
	uint8_t late_outputs; /* bit o: namely these */
};

static void push(struct draft *d, params_ports *list, unsigned *n, params_ports mask)
{
	unsigned all = d->n_load + d->n_sta + d->n_std + d->n_alu;

	if (all < SIM_MAX_UOPS)
		list[(*n)++] = mask;
	else
		d->full = true;
}

/* Returns the ports of a uop of a taken branch: fewer than those of one that is not taken.  0: no
 * such uop.
 */
static params_ports taken_ports(const struct draft *d, params_ports mask)
{
	const struct arch_params *p = &d->block->arch->params;

	if (!d->insn->is_branch || !(mask & p->taken_branch_ports) ||
	    mask & ~(p->taken_branch_ports | p->alu_ports) || mask == p->alu_ports)
		return 0;
	return mask & p->taken_branch_ports;
}

/* Sorts uops by what they do, which their ports tell. */
static void sort_uops(struct draft *d, size_t i, bool taken)
{
	const struct arch_params *p = &d->block->arch->params;
	params_ports only_sta = p->store_address_ports & ~p->load_ports;
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	unsigned n = block_port_uses(d->block, i, uses);

	for (unsigned k = 0; k < n; k++) {
		params_ports mask = uses[k].mask;

		if (taken && taken_ports(d, mask))
			mask = taken_ports(d, mask);
		for (unsigned c = 0; c < uses[k].count && !d->full; c++) {
			if (mask & only_sta)
				push(d, d->sta, &d->n_sta, mask);
			else if (mask & p->load_ports)
				push(d, d->load, &d->n_load, mask);
			else if (mask & p->store_data_ports)
				push(d, d->std, &d->n_std, mask);
			else
				push(d, d->alu, &d->n_alu, mask);
		}
	}
	/* The divider is on one port: of several uops, the one that has no choice divides. */
	for (unsigned k = 1; k < d->n_alu && d->l->divider; k++)
		if (!(d->alu[k] & (d->alu[k] - 1)) && d->alu[0] & (d->alu[0] - 1)) {
			params_ports swap = d->alu[0];

			d->alu[0] = d->alu[k];
			d->alu[k] = swap;
		}
	/* Store addresses can look like loads. */
	while (d->n_std > d->n_sta) {
		if (d->n_load)
			d->sta[d->n_sta++] = d->load[--d->n_load];
		else
			d->n_std--;
	}
}

/* Half of a 256-bit access moves a cycle later on cores whose paths have 128 bits. */
static bool is_double(const struct draft *d, enum sim_kind kind)
{
	const struct tact_insn *insn = d->bi->insn;

	if (!d->block->arch->params.slow_256_memory || (kind != SIM_LOAD && kind != SIM_STORE_DATA))
		return false;
	for (unsigned k = 0; k < insn->n_operands; k++)
		if (insn->operand[k].kind == TACT_OPERAND_MEM && insn->operand[k].bits == 256)
			return true;
	return false;
}

static struct sim_uop *add_uop(struct draft *d, enum sim_kind kind, params_ports ports)
{
	struct sim_uop *u = &d->p->uops[d->p->n_uops++];

	*u = (struct sim_uop){.ports = ports,
			      .taken_ports = d->for_stream ? taken_ports(d, ports) : 0,
			      .kind = (uint8_t)kind,
			      .latency = 1,
			      .is_double = is_double(d, kind),
			      .first_source = (uint32_t)d->p->n_sources};
	d->insn->n_uops++;
	return u;
}

static void add_source(struct draft *d, struct sim_uop *u, bool internal, unsigned index,
		       unsigned latency)
{
	enum sim_source_kind kind = internal ? SIM_FROM_UOP : SIM_FROM_INPUT;

	d->p->sources[d->p->n_sources++] =
		(struct sim_source){(uint8_t)kind, (uint8_t)index, (uint16_t)latency};
	u->n_sources++;
}

static bool is_vector_output(const struct draft *d, unsigned o)
{
	return d->l->out[o].kind == VALUE_REG &&
	       isa_is_vector(d->block->arch->isa, d->l->out[o].key);
}

static unsigned load_latency(const struct draft *d)
{
	const struct arch_params *p = &d->block->arch->params;

	/* A given latency is that of the whole instruction: its last uop has it. */
	if (d->bi->latency)
		return d->n_alu ? 0 : d->bi->latency;
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (is_vector_output(d, o))
			return (unsigned)p->load_latency_vec;
	return (unsigned)p->load_latency;
}

static unsigned latency_of(const struct block_lowered *l, unsigned in, unsigned out)
{
	return l->latency[in * l->n_out + out];
}

/* Returns the latency of the slowest register or flag result from an input, at least 1, without
 * late inputs.
 */
static unsigned level_of(const struct draft *d, unsigned in)
{
	const struct block_lowered *l = d->l;
	unsigned level = 1;

	for (unsigned o = 0; o < l->n_out; o++)
		if (l->out[o].kind != VALUE_MEMORY && !(d->late_outputs >> o & 1) &&
		    latency_of(l, in, o) > level)
			level = latency_of(l, in, o);
	return level;
}

static bool is_data_input(const struct draft *d, unsigned k)
{
	enum value_kind kind = (enum value_kind)d->l->in[k].kind;

	if (d->late_inputs >> k & 1)
		return false;
	return kind == VALUE_REG || kind == VALUE_FLAGS ||
	       (kind == VALUE_ADDRESS && !d->n_load && !d->n_sta);
}

/* What it loads; it does not wait for that. */
static void add_memory(struct draft *d, struct sim_uop *u)
{
	for (unsigned k = 0; k < d->l->n_in; k++)
		if (d->l->in[k].kind == VALUE_MEMORY) {
			d->p->sources[d->p->n_sources++] =
				(struct sim_source){SIM_FROM_INPUT, (uint8_t)k, 0};
			u->n_memory++;
		}
}

static void add_loads(struct draft *d)
{
	unsigned latency = load_latency(d);

	for (unsigned i = 0; i < d->n_load; i++) {
		struct sim_uop *u = add_uop(d, SIM_LOAD, d->load[i]);

		u->latency = (uint16_t)(latency + d->bi->load_extra - d->bi->fast_load);
		for (unsigned k = 0; k < d->l->n_in; k++)
			if (d->l->in[k].kind == VALUE_ADDRESS)
				add_source(d, u, false, k, 0);
		add_memory(d, u);
		if (d->n_alu || i + 1 < d->n_load)
			continue;
		/* A plain load: its results come from the table. */
		u->makes = 0xff;
		for (unsigned o = 0; o < d->l->n_out; o++) {
			unsigned longest = latency;

			for (unsigned k = 0; k < d->l->n_in; k++)
				if (d->l->in[k].kind == VALUE_ADDRESS &&
				    latency_of(d->l, k, o) > longest)
					longest = latency_of(d->l, k, o);
			d->insn->output_latency[o] =
				(uint16_t)(longest + d->bi->load_extra - d->bi->fast_load);
		}
	}
}

/* Results of the last computing uop, from the sources that this uop itself waits for. */
static void set_output_latencies(struct draft *d, unsigned least, unsigned after_load)
{
	for (unsigned o = 0; o < d->l->n_out; o++) {
		unsigned longest = 0;

		if (d->late_outputs >> o & 1)
			continue;
		for (unsigned k = 0; k < d->l->n_in; k++)
			if (is_data_input(d, k) && level_of(d, k) == least &&
			    latency_of(d->l, k, o) > longest)
				longest = latency_of(d->l, k, o);
		if (d->l->out[o].kind == VALUE_MEMORY)
			longest = 1;
		if (!longest)
			longest = after_load ? after_load : 1;
		d->insn->output_latency[o] = (uint16_t)longest;
	}
}

/* What follows the load: latency from the address minus that of the load. */
static unsigned latency_after_load(const struct draft *d)
{
	unsigned load = load_latency(d), after = 1;

	for (unsigned k = 0; k < d->l->n_in; k++)
		for (unsigned o = 0; o < d->l->n_out && d->l->in[k].kind == VALUE_ADDRESS; o++)
			if (d->l->out[o].kind != VALUE_MEMORY &&
			    latency_of(d->l, k, o) > load + after)
				after = latency_of(d->l, k, o) - load;
	return after;
}

/* Store-to-load forwarding: the core's latency, or the table's for this instruction if that is
 * longer (read-modify-write on older cores).
 */
static void set_forward(struct draft *d)
{
	const struct arch_params *p = &d->block->arch->params;
	unsigned load = load_latency(d), after = d->n_alu ? latency_after_load(d) : 0;
	bool vector = load > (unsigned)p->load_latency;
	unsigned forward = (unsigned)(vector ? p->store_forward_vec : p->store_forward);

	for (unsigned k = 0; k < d->l->n_in; k++) {
		if (d->l->in[k].kind != VALUE_MEMORY)
			continue;
		for (unsigned o = 0; o < d->l->n_out; o++) {
			unsigned cycles = latency_of(d->l, k, o);
			unsigned behind = d->l->out[o].kind == VALUE_MEMORY ? 1 : after;

			if (cycles > forward + behind)
				forward = cycles - behind;
		}
	}
	d->insn->forward = (uint16_t)(d->bi->latency ? load : forward);
}

/* The way from loaded data to the results may be longer than from the sources that the last uop
 * waits for.
 */
static unsigned missing_after(const struct draft *d, unsigned after)
{
	unsigned longest = 0;

	for (unsigned o = 0; o < d->l->n_out; o++)
		if (d->l->out[o].kind != VALUE_MEMORY && d->insn->output_latency[o] > longest)
			longest = d->insn->output_latency[o];
	return longest && after > longest ? after - longest : 0;
}

/* Flags that a shift by cl leaves unchanged: its register does not wait for them.  If there are
 * enough uops, one makes the outputs that depend on everything, another one those that do not
 * depend on some inputs.
 */
static void find_late(struct draft *d)
{
	const struct block_lowered *l = d->l;
	uint32_t inputs = 0;
	uint8_t outputs = 0;

	for (unsigned k = 0; k < l->n_in && d->n_alu > 1; k++) {
		uint8_t fed = 0, unfed = 0;

		for (unsigned o = 0; o < l->n_out && is_data_input(d, k); o++)
			if (l->out[o].kind != VALUE_MEMORY)
				*(latency_of(l, k, o) ? &fed : &unfed) |= (uint8_t)(1u << o);
		if (!fed || !unfed)
			continue;
		inputs |= 1u << k;
		outputs |= fed;
	}
	if (outputs == (1u << l->n_out) - 1)
		return; /* nothing is early */
	d->late_inputs = inputs;
	d->late_outputs = outputs;
}

/* The late uop: waits for the late inputs, and for the early uop as long as that takes. */
static void add_late(struct draft *d, unsigned early, params_ports ports)
{
	struct sim_uop *u = add_uop(d, SIM_ALU, ports);
	unsigned own = 1, all = 1;

	for (unsigned k = 0; k < d->l->n_in; k++)
		for (unsigned o = 0; o < d->l->n_out; o++) {
			unsigned latency = d->late_outputs >> o & 1 ? latency_of(d->l, k, o) : 0;

			if (d->late_inputs >> k & 1 && latency > own)
				own = latency;
			if (latency > all)
				all = latency;
		}
	u->makes = d->late_outputs;
	for (unsigned k = 0; k < d->l->n_in; k++)
		if (d->late_inputs >> k & 1)
			add_source(d, u, false, k, 0);
	add_source(d, u, true, early, all - own);
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (d->late_outputs >> o & 1)
			d->insn->output_latency[o] = (uint16_t)own;
}

static void add_alus(struct draft *d)
{
	unsigned levels[LOWERED_MAX_IN], n_levels = 0,
					 after = d->n_load ? latency_after_load(d) : 0;
	unsigned first = d->insn->n_uops, n_slow;
	struct sim_uop *last;
	bool has_late;

	find_late(d);
	has_late = d->late_outputs != 0;
	for (unsigned k = 0; k < d->l->n_in; k++) {
		unsigned level = level_of(d, k), i;

		if (!is_data_input(d, k))
			continue;
		for (i = 0; i < n_levels && levels[i] != level; i++)
			;
		if (i == n_levels)
			levels[n_levels++] = level;
	}
	for (unsigned i = 1; i < n_levels; i++) /* ascending; there are two or three */
		for (unsigned k = i; k && levels[k] < levels[k - 1]; k--) {
			unsigned swap = levels[k];

			levels[k] = levels[k - 1];
			levels[k - 1] = swap;
		}
	if (!n_levels)
		levels[n_levels++] = after ? after : 1;
	/* One uop for each slower class, as long as there are uops; the last one takes the rest. */
	n_slow = n_levels - 1 < d->n_alu - 1 - has_late ? n_levels - 1 : d->n_alu - 1 - has_late;
	for (unsigned s = 0; s < n_slow; s++) {
		struct sim_uop *u = add_uop(d, SIM_ALU, d->alu[1 + s]);

		u->latency = (uint16_t)(levels[s + 1] - levels[0]);
		for (unsigned k = 0; k < d->l->n_in; k++)
			if (is_data_input(d, k) &&
			    (level_of(d, k) == levels[s + 1] ||
			     (s + 1 == n_slow && level_of(d, k) > levels[s + 1])))
				add_source(d, u, false, k, 0);
	}
	last = add_uop(d, SIM_ALU, d->alu[0]);
	last->makes = (uint8_t)~d->late_outputs;
	/* Measured throughput where the divider does not explain it, as in FACILE's bound. */
	if (d->l->divider)
		last->divider = d->l->cycles > d->l->divider ? d->l->cycles : d->l->divider;
	for (unsigned k = 0; k < d->l->n_in; k++)
		if (is_data_input(d, k) && (level_of(d, k) == levels[0] || !n_slow))
			add_source(d, last, false, k, 0);
	for (unsigned s = 0; s < n_slow; s++)
		add_source(d, last, true, first + s,
			   d->p->uops[d->insn->first_uop + first + s].latency);
	set_output_latencies(d, levels[0], after);
	for (unsigned i = 0; i < d->n_load; i++)
		add_source(d, last, true, i,
			   d->p->uops[d->insn->first_uop + i].latency + missing_after(d, after));
	last->latency = d->insn->n_outputs ? d->insn->output_latency[0] : 1;
	if (has_late)
		add_late(d, first + n_slow, d->alu[1 + n_slow]);
	for (unsigned s = n_slow + has_late; s + 1 < d->n_alu; s++) {
		struct sim_uop *u = add_uop(d, SIM_ALU, d->alu[1 + s]);

		for (unsigned k = 0; k < d->l->n_in; k++)
			if (is_data_input(d, k))
				add_source(d, u, false, k, 0);
	}
}

static void add_stores(struct draft *d, int computes)
{
	for (unsigned i = 0; i < d->n_sta; i++) {
		struct sim_uop *u = add_uop(d, SIM_STORE_ADDRESS, d->sta[i]);

		for (unsigned k = 0; k < d->l->n_in; k++)
			if (d->l->in[k].kind == VALUE_ADDRESS)
				add_source(d, u, false, k, 0);
		d->insn->n_store_uops++;
		if (i >= d->n_std)
			continue;
		d->insn->n_store_uops++;
		u = add_uop(d, SIM_STORE_DATA, d->std[i]);
		if (computes >= 0)
			add_source(d, u, true, (unsigned)computes, 1);
		for (unsigned k = 0; k < d->l->n_in && computes < 0; k++)
			if (d->l->in[k].kind == VALUE_REG || d->l->in[k].kind == VALUE_FLAGS)
				add_source(d, u, false, k, 0);
	}
}

/* Micro-fusion: a load or a store address shares its slot with the next uop, until the number of
 * fused uops is right.
 */
static void group_uops(struct draft *d)
{
	struct sim_program *p = d->p;
	const struct sim_uop *u = p->uops + d->insn->first_uop;
	unsigned left = d->insn->n_uops, at = 0, n = d->insn->n_fused;

	d->insn->first_group = (uint32_t)p->n_groups;
	for (unsigned i = 0; i + 1 < n; i++) {
		unsigned size = left ? 1 : 0;

		if (left > 1 && (u[at].kind == SIM_LOAD || u[at].kind == SIM_STORE_ADDRESS) &&
		    left - 1 >= n - i)
			size = 2;
		p->groups[p->n_groups++] = (uint8_t)size;
		at += size;
		left -= size;
	}
	p->groups[p->n_groups++] = (uint8_t)left;
}

/* Adds the values that an instruction reads and writes. */
static void add_values(struct draft *d)
{
	const struct block_lowered *l = d->l;

	d->insn->first_input = (uint32_t)d->p->n_inputs;
	for (unsigned k = 0; k < l->n_in; k++) {
		d->p->nodes[d->p->n_inputs] = block_nodes(d->block)[d->bi->first_node + k];
		d->p->inputs[d->p->n_inputs++] = (struct sim_input){
			.kind = l->in[k].kind, .key = l->in[k].key, .stack = l->in[k].stack};
	}
	memset(d->insn->output_key, SIM_KEY_NONE, sizeof(d->insn->output_key));
	for (unsigned o = 0; o < l->n_out; o++) {
		if (l->out[o].kind == VALUE_MEMORY) {
			d->insn->memory_outputs |= (uint8_t)(1u << o);
			continue;
		}
		d->insn->output_key[o] = l->out[o].key;
		if (d->insn->output_key[o] < d->block->arch->isa->registers.end_vector)
			d->insn->written_moves |= 1ull << d->insn->output_key[o];
	}
}

/* Finds outputs that would never become ready, because their uop is not followed. */
static void find_unmade(struct draft *d)
{
	bool stores = false;
	uint8_t computes = 0;

	for (unsigned u = 0; u < d->insn->n_uops; u++) {
		const struct sim_uop *uop = &d->p->uops[d->insn->first_uop + u];

		stores |= uop->kind == SIM_STORE_DATA;
		computes |= uop->makes;
	}
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (d->l->out[o].kind == VALUE_MEMORY ? !stores : !(computes >> o & 1))
			d->insn->unmade_outputs |= (uint8_t)(1u << o);
}

/* Fills in what the scheduler asks for each uop again and again. */
static void finish_uops(struct draft *d)
{
	uint8_t registers = (uint8_t)(((1u << d->insn->n_outputs) - 1) & ~d->insn->memory_outputs);

	d->insn->uses_memory = d->insn->memory_outputs != 0;
	for (unsigned k = 0; k < d->insn->n_uops; k++) {
		struct sim_uop *u = &d->p->uops[d->insn->first_uop + k];

		d->insn->uses_memory |= u->kind != SIM_ALU;
		u->makes &= registers;
		u->need = u->divider		  ? SIM_NEEDS_DIVIDER
			  : d->insn->cycles && !k ? SIM_NEEDS_SOLITUDE
						  : SIM_NEEDS_NOTHING;
	}
}

/* Returns the instruction after this one and those that are fused with it. */
static size_t end_of(const struct tact_block *block, size_t i)
{
	do
		i++;
	while (i < block->n_insns && block->insns[i].fused_prev);
	return i;
}

void sim_program_add(struct sim_program *p, const struct tact_block *block, size_t i,
		     bool for_stream)
{
	const struct block_insn *bi = &block->insns[i];
	const struct block_lowered *l = bi->lowered;
	struct sim_insn *insn = &p->insns[p->n_insns++];
	struct draft_ports ports; /* large, and need not be cleared for each instruction */
	struct draft d = {.p = p,
			  .block = block,
			  .bi = bi,
			  .l = l,
			  .insn = insn,
			  .for_stream = for_stream,
			  .load = ports.load,
			  .sta = ports.sta,
			  .std = ports.std,
			  .alu = ports.alu};
	bool taken;
	int computes = -1;

	*insn = (struct sim_insn){.insn = (uint32_t)i,
				  .first_uop = (uint32_t)p->n_uops,
				  .n_fused = l->fused,
				  .fused = l->fused,
				  .mite = l->mite,
				  .ms = l->ms,
				  .n_inputs = l->n_in,
				  .n_outputs = l->n_out,
				  .names_stack = l->names_stack,
				  .writes_stack = l->writes_stack,
				  .changes_stack = l->pointer_change != 0,
				  .takes_stored = l->takes_stored,
				  .leaves_stored = l->leaves_stored,
				  .cycles = l->cycles,
				  .serializes = (l->attributes & TACT_INSN_SERIALIZING) != 0,
				  .eliminated = l->eliminated && !bi->fused_next,
				  .complex_decoder = l->complex_decoder,
				  .simple_beside = l->simple_beside,
				  .fusible = l->fuse != 0,
				  .is_pair = bi->fused_next,
				  .is_last = end_of(block, i) == block->n_insns,
				  .stack_sync = bi->stack_sync,
				  .extra_slots = (uint8_t)block_extra_slots(block, i),
				  .merge_key = SIM_NO_KEY};
	taken = !for_stream && block->mode == TACT_MODE_LOOP && insn->is_last;
	insn->is_branch = bi->fused_next || l->attributes & TACT_INSN_BRANCH;
	if (insn->n_fused > SIM_MAX_UOPS)
		insn->n_fused = SIM_MAX_UOPS;
	if (l->uops || bi->fused_next) {
		sort_uops(&d, i, taken);
		add_loads(&d);
		set_forward(&d);
		if (d.n_alu)
			add_alus(&d);
		for (unsigned k = 0; k < insn->n_uops; k++)
			if (p->uops[insn->first_uop + k].kind == SIM_ALU &&
			    p->uops[insn->first_uop + k].makes & ~d.late_outputs)
				computes = (int)k;
		add_stores(&d, computes);
	}
	group_uops(&d);
	add_values(&d);
	find_unmade(&d);
	finish_uops(&d);
	insn->n_decoded =
		(uint16_t)(l->mite + l->ms < insn->n_fused ? l->mite + l->ms : insn->n_fused);
	insn->n_direct = l->mite < insn->n_decoded ? l->mite : insn->n_decoded;
}
