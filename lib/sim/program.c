/* SPDX-License-Identifier: MIT
 *
 * From a lowered block to uops.
 *
 * The tables say how many uops an instruction has, on which ports, and how long each result takes
 * from each source, but not which uop does what.  The rule (uiCA's): loads come first and wait for
 * the address; then the uops that compute, see compute.c; then store address and store data.
 */
#include <string.h>

#include "sim/draft.h"

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

static bool computes_vectors(const struct arch_params *p, params_ports mask)
{
	return !(mask & ~p->vec_ports) && !(mask & p->store_data_ports);
}

/* Returns whether its vector uops, which the tables count twice, are uops of 512 bits that hold their
 * port for two cycles.
 */
static bool holds_twice(const struct draft *d, const struct arch_port_use *uses, unsigned n)
{
	const struct arch_params *p = &d->block->arch->params;
	bool any = false;

	if (!p->widest_twice || !(d->l->attributes & TACT_INSN_WIDEST))
		return false;
	for (unsigned k = 0; k < n; k++) {
		if (!computes_vectors(p, uses[k].mask))
			continue;
		if (uses[k].count % 2)
			return false;
		any = true;
	}
	return any;
}

/* Whether a uop takes the data of a store.  Some cores store vectors through pipes that compute, too:
 * then the instruction tells.
 */
static bool takes_data(const struct draft *d, params_ports mask)
{
	const struct arch_params *p = &d->block->arch->params;
	bool stores = false;

	if (!mask || mask & ~p->store_data_ports)
		return false;
	for (unsigned o = 0; o < d->l->n_out; o++)
		stores |= d->l->out[o].kind == VALUE_MEMORY;
	return stores || mask & ~p->vec_ports;
}

/* Of a CPU of LLVM, the instruction tells whether it loads or stores: units may do other things, too. */
static void sort_known(struct draft *d, params_ports mask)
{
	const struct arch_params *p = &d->block->arch->params;

	if (d->l->n_loads && mask & p->load_ports)
		push(d, d->load, &d->n_load, mask);
	else if (d->l->n_stores && mask & p->store_address_ports && !d->n_sta)
		push(d, d->sta, &d->n_sta, mask);
	else if (d->l->n_stores && mask & p->store_data_ports && !d->n_std)
		push(d, d->std, &d->n_std, mask);
	else
		push(d, d->alu, &d->n_alu, mask);
}

/* Takes the first of what seemed to compute. */
static params_ports take_first(struct draft *d)
{
	const params_ports mask = d->alu[0];

	memmove(d->alu, d->alu + 1, --d->n_alu * sizeof(d->alu[0]));
	return mask;
}

/* Vectors may have units of their own that load and store.  Data without an address are the whole
 * store.
 */
static void end_known(struct draft *d)
{
	if (d->l->n_loads && !d->l->n_stores && !d->n_load)
		while (d->n_alu)
			push(d, d->load, &d->n_load, take_first(d));
	if (d->l->n_stores && !d->n_sta && !d->n_std && d->n_alu)
		push(d, d->std, &d->n_std, take_first(d));
	if (d->n_std > d->n_sta)
		d->sta[d->n_sta++] = d->std[--d->n_std];
}

/* A unit of LLVM's that is taken for more cycles than this is one uop, not one for each cycle. */
enum { MANY_CYCLES = 32 };

/* Sorts uops by what they do, which their ports tell. */
static void sort_uops(struct draft *d, size_t i, bool taken)
{
	const struct arch_params *p = &d->block->arch->params;
	params_ports only_sta = p->store_address_ports & ~p->load_ports;
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	unsigned n = block_port_uses(d->block, i, uses);

	d->holds_twice = holds_twice(d, uses, n);
	for (unsigned k = 0; k < n; k++) {
		params_ports mask = uses[k].mask;
		unsigned count = uses[k].count;

		if (taken && taken_ports(d, mask))
			mask = taken_ports(d, mask);
		if (d->holds_twice && computes_vectors(p, mask))
			count /= 2;
		if (d->l->advances && count > MANY_CYCLES) {
			d->held[d->n_held].ports = mask;
			d->held[d->n_held++].cycles = count;
			count = 1;
		}
		for (unsigned c = 0; c < count && !d->full; c++) {
			if (d->l->advances)
				sort_known(d, mask);
			else if (mask & only_sta)
				push(d, d->sta, &d->n_sta, mask);
			else if (mask & p->load_ports)
				push(d, d->load, &d->n_load, mask);
			else if (takes_data(d, mask))
				push(d, d->std, &d->n_std, mask);
			else
				push(d, d->alu, &d->n_alu, mask);
		}
	}
	if (d->l->advances)
		end_known(d);
	/* The divider is on one port: of several uops, the one that has no choice divides. */
	for (unsigned k = 1; k < d->n_alu && d->l->divider; k++)
		if (!(d->alu[k] & (d->alu[k] - 1)) && d->alu[0] & (d->alu[0] - 1)) {
			params_ports swap = d->alu[0];

			d->alu[0] = d->alu[k];
			d->alu[k] = swap;
		}
	/* Data that the tables count twice hold their port for two cycles. */
	d->stores_twice = d->n_sta && !d->n_load && d->n_std == 2 * d->n_sta;
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

	if (kind == SIM_ALU)
		return d->holds_twice;
	if (kind == SIM_STORE_DATA && d->stores_twice)
		return true;
	if (!d->block->arch->params.slow_256_memory || (kind != SIM_LOAD && kind != SIM_STORE_DATA))
		return false;
	for (unsigned k = 0; k < insn->n_operands; k++)
		if (insn->operand[k].kind == TACT_OPERAND_MEM && insn->operand[k].bits == 256)
			return true;
	return false;
}

/* Where loads take turns on all of their ports, the tables' ports of a kind of them say how many go
 * together (experiments on Zen 3: so it is with vectors).
 */
static unsigned loads_together(const struct draft *d, enum sim_kind kind, params_ports *ports)
{
	const struct arch_params *p = &d->block->arch->params;
	const params_ports own = *ports;

	if (kind != SIM_LOAD || p->load_ports & ~p->ports_in_turn || own & ~p->load_ports ||
	    own == p->load_ports)
		return 0;
	*ports = p->load_ports;
	return (unsigned)__builtin_popcount(own);
}

struct sim_uop *sim_draft_uop(struct draft *d, enum sim_kind kind, params_ports ports)
{
	struct sim_uop *u = &d->p->uops[d->p->n_uops++];
	const unsigned together = loads_together(d, kind, &ports);

	*u = (struct sim_uop){.ports = ports,
			      .taken_ports = d->for_stream ? taken_ports(d, ports) : 0,
			      .kind = (uint8_t)kind,
			      .latency = 1,
			      .together = (uint8_t)together,
			      .is_double = is_double(d, kind),
			      .first_source = (uint32_t)d->p->n_sources};
	d->insn->n_uops++;
	return u;
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

		stores |= uop->kind == SIM_STORE_DATA || d->insn->exchanges_memory;
		computes |= uop->makes;
	}
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (d->l->out[o].kind == VALUE_MEMORY ? !stores : !(computes >> o & 1))
			d->insn->unmade_outputs |= (uint8_t)(1u << o);
}

/* Returns the cycles until a computing uop writes a general register, where results can collide; 0:
 * it writes none.
 */
static unsigned result_of(const struct draft *d, const struct sim_uop *u)
{
	unsigned longest = 0;

	if (!d->block->arch->params.results_collide || u->kind != SIM_ALU)
		return 0;
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (u->makes >> o & 1 && d->l->out[o].kind == VALUE_REG &&
		    isa_is_general(d->block->arch->isa, d->l->out[o].key) &&
		    d->insn->output_latency[o] > longest)
			longest = d->insn->output_latency[o];
	return longest < SIM_RESULTS ? longest : 0;
}

/* Finds the uops that stand for many cycles of a unit. */
static void hold_ports(struct draft *d)
{
	for (unsigned i = 0; i < d->n_held; i++)
		for (unsigned k = 0; k < d->insn->n_uops; k++) {
			struct sim_uop *u = &d->p->uops[d->insn->first_uop + k];

			if (u->ports != d->held[i].ports || u->divider)
				continue;
			u->divider = (uint16_t)(d->held[i].cycles < UINT16_MAX ? d->held[i].cycles
									       : UINT16_MAX);
			break;
		}
}

/* Fills in what the scheduler asks for each uop again and again. */
static void finish_uops(struct draft *d)
{
	const unsigned all = (1u << d->insn->n_outputs) - 1;
	uint8_t registers =
		(uint8_t)(d->insn->exchanges_memory ? all : all & ~d->insn->memory_outputs);

	d->insn->uses_memory = d->insn->memory_outputs != 0;
	for (unsigned k = 0; k < d->insn->n_uops; k++) {
		struct sim_uop *u = &d->p->uops[d->insn->first_uop + k];

		d->insn->uses_memory |= u->kind != SIM_ALU;
		u->makes &= registers;
		u->result = (uint8_t)result_of(d, u);
		u->need = u->divider		  ? d->n_held ? SIM_NEEDS_PORT : SIM_NEEDS_DIVIDER
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

/* The parameter late_flags; the tables have the cycle with the instructions that make flags. */
static void find_late_flags(struct draft *d)
{
	const struct block_lowered *l = d->l;
	const bool is_logical = l->attributes & TACT_INSN_LOGICAL;
	bool reads = false, writes = false;

	for (unsigned k = 0; k < l->n_in; k++)
		reads |= l->in[k].kind == VALUE_FLAGS;
	for (unsigned o = 0; o < l->n_out; o++)
		if (l->out[o].kind == VALUE_FLAGS) {
			writes = true;
			if (is_logical && d->insn->output_latency[o] > 1)
				d->insn->output_latency[o]--;
		}
	d->insn->makes_late_flags = is_logical || d->insn->is_pair;
	d->insn->takes_late_flags = reads && !writes && d->n_alu == 1 && !d->insn->is_branch;
}

/* What it does to the stack of memory, and to one of registers. */
/* Returns how the address of an instruction is spelled, as a number: the same for those that are
 * spelled alike.  0: it has none.  All that use the stack pointer count as alike, because the core
 * follows its value (see store_renamed_words).
 */
static uint32_t words_of(const struct tact_block *block, size_t i)
{
	const struct block_insn *bi = &block->insns[i];
	const uint8_t stack_pointer = block->arch->isa->registers.stack_pointer;

	if (bi->lowered->pointer_change)
		return SIM_STACK_WORDS;
	for (unsigned k = 0; k < bi->insn->n_operands; k++) {
		const struct tact_operand *o = &bi->insn->operand[k];
		uint32_t hash;

		if (o->kind != TACT_OPERAND_MEM)
			continue;
		if (o->base == stack_pointer)
			return SIM_STACK_WORDS;
		if (!block->arch->params.store_renamed_words)
			return 0;
		hash = o->base | (uint32_t)o->index << 8 | (uint32_t)o->scale << 16;
		hash = hash * 0x9e3779b1u ^ (uint32_t)bi->constants.displacement * 0x85ebca6bu;
		return hash | 1u << 31;
	}
	return 0;
}

static void set_stacks(struct sim_insn *insn, const struct block_lowered *l)
{
	insn->names_stack = l->names_stack;
	insn->writes_stack = l->writes_stack;
	insn->changes_stack = l->pointer_change != 0;
	insn->turn = l->turn;
	insn->exchanges = l->exchanges;
	insn->exchanged[0] = l->exchanged[0];
	insn->exchanged[1] = l->exchanged[1];
}

static uint16_t exclusive_of(const struct tact_block *block, size_t i)
{
	const struct block_lowered *l = block->insns[i].lowered;

	return (uint16_t)(l->attributes & TACT_INSN_LOCKED && l->cycles
				  ? block_exclusive_in(block, i)
				  : l->cycles);
}

/* Fences make nothing and take their time. */
static enum sim_stall own_stall_of(const struct block_lowered *l)
{
	if (l->attributes & TACT_INSN_LOCKED)
		return SIM_STALL_LOCKED;
	return l->attributes & TACT_INSN_SERIALIZING || (l->cycles && !l->n_out)
		       ? SIM_STALL_SERIALIZING
		       : SIM_STALL_EXECUTION;
}

static void add_uops(struct draft *d, size_t i, bool taken)
{
	if (d->block->arch->params.in_order) {
		sim_draft_in_order(d);
		return;
	}
	if (!d->l->uops && !d->bi->fused_next)
		return;
	sort_uops(d, i, taken);
	sim_draft_loads(d);
	if (d->n_alu)
		sim_draft_compute(d);
	sim_draft_forward(d);
	sim_draft_stores(d);
}

static unsigned divide_up(unsigned a, int b)
{
	return (a + (unsigned)b - 1) / (unsigned)b;
}

/* What is left of microcode that is not followed to its end takes the renamer whole cycles, in which
 * nothing else issues.
 */
static void cut_long(struct sim_insn *insn, const struct arch_params *p)
{
	const unsigned width = (unsigned)p->issue_width;

	if (insn->n_fused <= SIM_MAX_UOPS)
		return;
	insn->rest = (uint16_t)divide_up(insn->n_fused - SIM_MAX_UOPS, p->issue_width);
	insn->n_fused = (uint16_t)(insn->n_fused - insn->rest * width);
}

/* The same for the DSB and the sequencer; one uop at least is the sequencer's. */
static void cut_delivery(struct sim_insn *insn, const struct block_lowered *l,
			 const struct arch_params *p)
{
	const unsigned sequenced = block_sequenced(l), direct = insn->n_direct;
	unsigned followed;

	if (!insn->rest || !sequenced || p->in_order)
		return;
	if (direct >= insn->n_decoded)
		insn->n_direct = insn->n_decoded - 1;
	followed = insn->n_decoded - insn->n_direct;
	insn->direct_rest = (uint16_t)(divide_up(direct, p->dsb_width) -
				       divide_up(insn->n_direct, p->dsb_width));
	if (sequenced > followed)
		insn->sequencer_rest = (uint16_t)(divide_up(sequenced, p->ms_width) -
						  divide_up(followed, p->ms_width));
}

/* Of an instruction that is issued in order, the IDQ has one entry. */
static void set_decoded(struct sim_insn *insn, const struct block_lowered *l,
			const struct arch_params *p)
{
	if (p->in_order) {
		insn->n_decoded = insn->n_direct = 1;
		return;
	}
	insn->n_decoded =
		(uint16_t)(l->mite + l->ms < insn->n_fused ? l->mite + l->ms : insn->n_fused);
	insn->n_direct = l->mite + l->ms > l->fused ? l->fused - block_sequenced(l) : l->mite;
	cut_delivery(insn, l, p);
	if (insn->n_direct > insn->n_decoded)
		insn->n_direct = insn->n_decoded;
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
			  .computes = -1,
			  .load = ports.load,
			  .sta = ports.sta,
			  .std = ports.std,
			  .alu = ports.alu};
	bool taken;

	*insn = (struct sim_insn){.insn = (uint32_t)i,
				  .first_uop = (uint32_t)p->n_uops,
				  .n_fused = l->fused,
				  .fused = l->fused,
				  .mite = l->mite,
				  .ms = l->ms,
				  .n_inputs = l->n_in,
				  .n_outputs = l->n_out,
				  .takes_stored = l->takes_stored,
				  .leaves_stored = l->leaves_stored,
				  .words = words_of(block, i),
				  .cycles = exclusive_of(block, i),
				  .serializes = (l->attributes & TACT_INSN_SERIALIZING) != 0,
				  .own_stall = (uint8_t)own_stall_of(l),
				  .eliminated = l->eliminated && !bi->fused_next,
				  .complex_decoder = l->complex_decoder,
				  .simple_beside = l->simple_beside,
				  .fusible = l->fuse != 0,
				  .is_split = l->is_split,
				  .added = l->eliminated ? (int16_t)block_added(bi) : 0,
				  .is_pair = bi->fused_next,
				  .is_last = end_of(block, i) == block->n_insns,
				  .stack_sync = bi->stack_sync,
				  .extra_slots = (uint8_t)block_extra_slots(block, i),
				  .bank_offset = bi->bank_offset,
				  .bank_bytes = for_stream ? 0 : bi->bank_bytes,
				  .bank_step = bi->bank_step,
				  .constants = (uint8_t)block_constants(block, i),
				  .merge_key = SIM_NO_KEY};
	set_stacks(insn, l);
	if (insn->bank_bytes && !insn->bank_step)
		insn->banks =
			block_banks(&block->arch->params, insn->bank_offset, insn->bank_bytes);
	if (bi->switches_upper) {
		insn->serializes = true;
		insn->holds = (uint16_t)block->arch->params.upper_switch;
	}
	taken = !for_stream && block->mode == TACT_MODE_LOOP && insn->is_last;
	insn->is_branch = bi->fused_next || l->attributes & TACT_INSN_BRANCH;
	cut_long(insn, &block->arch->params);
	add_uops(&d, i, taken);
	if (block->arch->params.late_flags)
		find_late_flags(&d);
	group_uops(&d);
	add_values(&d);
	find_unmade(&d);
	hold_ports(&d);
	finish_uops(&d);
	set_decoded(insn, l, &block->arch->params);
}
