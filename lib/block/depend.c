/* SPDX-License-Identifier: MIT
 *
 * The dependence graph: for every input of every instruction, which output of which instruction it
 * waits for, in this iteration or in an earlier one (FACILE, section 4.9).
 *
 * Registers and flags: the last instruction that wrote them.  Memory: the last store to the same
 * symbolic address (addresses.c).
 */
#include <string.h>

#include "block/addresses.h"
#include "block/turning.h"

/* The last instruction that wrote a register or a group of flags in this iteration. */
struct writer {
	uint32_t insn; /* BLOCK_NO_PRODUCER: none yet */
	uint8_t output;
};

static void write_registers(struct writer *writers, const struct turning *turning,
			    const struct block_insn *bi, uint32_t i)
{
	const struct block_lowered *l = bi->lowered;

	for (unsigned o = 0; o < l->n_out; o++)
		if (l->out[o].kind != VALUE_MEMORY)
			writers[turning_key(turning, l->out[o].key)] =
				(struct writer){i, (uint8_t)o};
}

static void depend_on(struct block_insn *bi, uint32_t producer)
{
	if (producer < 64)
		bi->producers |= 1ull << producer;
}

/* Connects the inputs of an instruction; those from memory come later.  connect_to_previous fills
 * in what no earlier instruction has written.
 */
static void connect(struct tact_block *block, const struct writer *writers,
		    const struct turning *turning, uint32_t i)
{
	struct block_insn *bi = &block->insns[i];
	const struct block_lowered *l = bi->lowered;

	bi->first_node = (uint32_t)block->n_nodes;
	bi->producers = 0;
	bi->fast_load = bi->stack_sync = bi->is_met = bi->is_late = bi->flags_soon = false;
	bi->bank_bytes = 0;
	bi->load_extra = bi->latency ? 0 : l->load_extra + block_split_latency(block, bi);
	for (unsigned k = 0; k < l->n_in; k++) {
		struct block_node *node = &block->nodes[block->n_nodes++];

		*node = (struct block_node){
			.insn = i, .producer = BLOCK_NO_PRODUCER, .input = (uint8_t)k};
		if (l->in[k].kind != VALUE_MEMORY) {
			const uint8_t key = turning_key(turning, l->in[k].key);
			const struct writer *writer = &writers[key];

			node->producer = writer->insn;
			/* For connect_to_previous: what it is that nobody has written yet. */
			node->output = writer->insn == BLOCK_NO_PRODUCER ? key : writer->output;
			depend_on(bi, node->producer);
		}
	}
}

/* Registers that an instruction reads before the block writes them come from the iteration before:
 * from their last writer in the block.
 */
static void connect_to_previous(struct tact_block *block, const struct writer *last,
				const struct turning *turning)
{
	for (size_t v = 0; v < block->n_nodes; v++) {
		struct block_node *node = &block->nodes[v];
		struct block_insn *bi = &block->insns[node->insn];
		const struct lowered_value *in = &bi->lowered->in[node->input];
		uint8_t key;

		if (node->producer != BLOCK_NO_PRODUCER || in->kind == VALUE_MEMORY)
			continue;
		node->iterations = 1;
		key = node->output;
		/* A register that was only exchanged comes from an iteration further back. */
		for (unsigned n = 0; n < ISA_MAX_TURNING && turning_has(turning, key); n++) {
			key = turning_next(turning, key);
			if (last[key].insn != BLOCK_NO_PRODUCER)
				break;
			node->iterations++;
		}
		node->producer = last[key].insn;
		node->output = last[key].output;
		depend_on(bi, node->producer);
	}
}

/* ---- fast pointer chasing ---- */

/* Returns the input of an instruction that is this register of an address, or NULL. */
static const struct block_node *address_node(const struct tact_block *block,
					     const struct block_insn *bi, unsigned reg)
{
	const struct block_lowered *l = bi->lowered;

	for (unsigned k = 0; k < l->n_in; k++)
		if (l->in[k].kind == VALUE_ADDRESS && l->in[k].key == reg)
			return &block->nodes[bi->first_node + k];
	return NULL;
}

/* Returns the instruction that made a value, ignoring eliminated moves on the way; NULL if the
 * value comes from outside or from a ring of moves.  Follows at most MAX_MOVES, so that long
 * chains of moves do not make this quadratic.
 */
static const struct block_insn *origin_of(const struct tact_block *block,
					  const struct block_node *node, bool *via_32bit)
{
	enum { MAX_MOVES = 32 };

	*via_32bit = false;
	for (unsigned n = 0; node && node->producer != BLOCK_NO_PRODUCER && n < MAX_MOVES; n++) {
		const struct block_insn *producer = &block->insns[node->producer];
		const struct block_lowered *l = producer->lowered;

		if (!l->eliminated)
			return producer;
		*via_32bit |= producer->insn->operand[l->out[0].operand].bits == 32;
		node = &block->nodes[producer->first_node];
	}
	return NULL;
}

/* A load whose base was loaded takes one cycle less if the displacement is small, no 32-bit move
 * is in between, and an index comes from an idiom (conditions that uiCA's authors found by
 * experiment).
 */
static bool is_fast_load(const struct tact_block *block, const struct block_insn *bi)
{
	const struct tact_operand *mem;
	const struct block_insn *base, *index;
	bool via_32bit, ignored;

	if (bi->lowered->load_operand == TACT_REG_NONE)
		return false;
	mem = &bi->insn->operand[bi->lowered->load_operand];
	if (mem->base == TACT_REG_NONE)
		return false;
	if (mem->explicit_operand &&
	    (bi->constants.displacement < 0 || bi->constants.displacement >= 2048))
		return false;
	base = origin_of(block, address_node(block, bi, mem->base), &via_32bit);
	if (!base || via_32bit || !(base->lowered->attributes & TACT_INSN_PAIR_SHORT))
		return false;
	if (mem->index == TACT_REG_NONE)
		return true;
	index = origin_of(block, address_node(block, bi, mem->index), &ignored);
	return index && !index->lowered->uops;
}

/* ---- additions ---- */

/* The sum of an addition comes sooner to another one.  An eliminated move in between passes it on. */
static void find_fast_add(struct tact_block *block, const struct block_insn *bi)
{
	const struct block_lowered *l = bi->lowered;
	struct block_node *nodes = &block->nodes[bi->first_node];
	bool ignored;

	for (unsigned k = 0; k < l->n_in; k++) {
		const struct block_insn *origin;

		if (l->in[k].kind != VALUE_REG)
			continue;
		origin = origin_of(block, &nodes[k], &ignored);
		if (!origin || !(origin->lowered->attributes & TACT_INSN_FLOAT_ADD))
			continue;
		nodes[k].sooner = 1;
		for (struct block_node *n = &nodes[k];
		     block->insns[n->producer].lowered->eliminated;) {
			n = &block->nodes[block->insns[n->producer].first_node];
			n->sooner = 1;
		}
	}
}

/* ---- folded constants ---- */

/* Finds the inputs of a shift that the renamer has added a constant to, and flags of such an
 * addition, which take a cycle.
 */
static void find_folded(struct tact_block *block, const struct block_insn *bi)
{
	const struct block_lowered *l = bi->lowered;
	const bool is_shift = l->attributes & TACT_INSN_SHIFT;

	for (unsigned k = 0; k < l->n_in; k++) {
		struct block_node *node = &block->nodes[bi->first_node + k], *n = node;

		if (l->in[k].kind != VALUE_FLAGS && (l->in[k].kind != VALUE_REG || !is_shift))
			continue;
		/* Moves that are eliminated pass it on; a ring of them ends nowhere. */
		for (size_t left = block->n_insns;
		     left-- && n->producer != BLOCK_NO_PRODUCER &&
		     block->insns[n->producer].lowered->eliminated && !node->folded;
		     n = &block->nodes[block->insns[n->producer].first_node])
			if (block_added(&block->insns[n->producer]))
				node->folded = l->in[k].kind == VALUE_FLAGS
						       ? 1
						       : (uint8_t)block->arch->params.fold_shift;
	}
}

/* ---- flags ---- */

/* What the parameter late_flags means by a conditional move or setcc of one uop. */
static bool takes_late_flags(const struct block_lowered *l)
{
	bool reads = false;

	for (unsigned k = 0; k < l->n_in; k++)
		reads |= l->in[k].kind == VALUE_FLAGS;
	for (unsigned o = 0; o < l->n_out && reads; o++)
		reads = l->out[o].kind != VALUE_FLAGS;
	return reads && !(l->attributes & TACT_INSN_BRANCH) &&
	       l->uops == 1u + l->n_loads + 2u * l->n_stores;
}

/* Returns how many of the ways in which iterations of n uops can begin in a group of those that are
 * issued together have uop `to` in the same group as the uop `distance` before it, as a share.
 */
static double share_together(const struct tact_block *block, unsigned n, unsigned to,
			     unsigned distance)
{
	const unsigned width = (unsigned)block->arch->params.issue_width;
	unsigned together = 0, at = to % width, ways = 0;

	do {
		together += at >= distance;
		ways++;
		at = (at + n) % width;
	} while (at != to % width);
	return (double)together / ways;
}

/* In a loop, iterations follow each other without a gap.  Unrolled code that does not wait for
 * flags is limited by its decoders, which begin a group with what reads them.
 */
static bool is_flag_late(const struct tact_block *block, const struct block_node *node, unsigned n)
{
	const struct block_insn *from = &block->insns[node->producer],
				*to = &block->insns[node->insn];

	if (node->producer == BLOCK_NO_PRODUCER)
		return true; /* long ago */
	if (block->mode != TACT_MODE_LOOP ||
	    !(from->lowered->attributes & TACT_INSN_LOGICAL || from->fused_next))
		return false;
	if (node->iterations) /* a short loop is issued an iteration at a time, if nothing waits */
		return n > 4 && share_together(block, n, to->slot, to->slot + n - from->slot) > 0.5;
	return share_together(block, n, to->slot, (unsigned)(to->slot - from->slot)) >= 0.5;
}

/* An addition with carry, or a branch, has flags as soon as any other result, as in simulate. */
static void take_flags_soon(struct tact_block *block, const struct block_insn *bi)
{
	for (unsigned k = 0; k < bi->lowered->n_in; k++) {
		struct block_node *node = &block->nodes[bi->first_node + k];

		if (bi->lowered->in[k].kind == VALUE_FLAGS && node->producer != BLOCK_NO_PRODUCER &&
		    !block->insns[node->producer].flags_soon &&
		    block->insns[node->producer].lowered->attributes & TACT_INSN_LOGICAL)
			node->sooner = 1;
	}
}

static void find_late_flags(struct tact_block *block)
{
	const bool is_soon_everywhere = block->mode == TACT_MODE_LOOP;
	unsigned n = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		block->insns[i].slot = (uint16_t)n;
		n += block->insns[i].fused_prev ? 0 : block->insns[i].lowered->fused;
	}
	for (size_t i = 0; i < block->n_insns; i++)
		block->insns[i].flags_soon =
			block->insns[i].lowered->attributes & TACT_INSN_LOGICAL &&
			(is_soon_everywhere || n >= (unsigned)block->arch->params.issue_width);
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];
		const struct block_lowered *l = bi->lowered;

		bi->is_late = false;
		if (!takes_late_flags(l)) {
			take_flags_soon(block, bi);
			continue;
		}
		for (unsigned k = 0; k < l->n_in; k++)
			bi->is_late |= l->in[k].kind == VALUE_FLAGS &&
				       is_flag_late(block, &block->nodes[bi->first_node + k], n);
	}
}

/* ---- the stack engine ---- */

/* The stack engine adds what push, pop, call and ret change to the stack pointer; an instruction
 * that names it makes it write the sum back first, with a uop of its own (Intel optimization
 * manual, 2.5.2.1; Agner Fog, Microarchitecture, 9.8).  Returns whether this one does.
 */
static bool synchronises_stack(const struct block_insn *bi, bool *implicitly_changed)
{
	const struct block_lowered *l = bi->lowered;
	bool synchronises = *implicitly_changed && l->names_stack;

	if (l->names_stack || l->writes_stack)
		*implicitly_changed = false;
	if (bi->lowered->pointer_change)
		*implicitly_changed = true;
	return synchronises;
}

void block_mark_stack_syncs(struct tact_block *block)
{
	bool changed = false;

	if (!block->counts.stack_changes || block->arch->params.stack_folded)
		return;
	for (size_t i = 0; i < block->n_insns; i++)
		synchronises_stack(&block->insns[i], &changed);
	for (size_t i = 0; i < block->n_insns; i++)
		block->insns[i].stack_sync = synchronises_stack(&block->insns[i], &changed);
}

/* ---- memory ---- */

static void note_stores(struct tact_block *block)
{
	for (size_t v = 0; v < block->n_nodes; v++) {
		const struct block_node *node = &block->nodes[v];
		struct block_insn *bi = &block->insns[node->insn];

		if (bi->lowered->in[node->input].kind != VALUE_MEMORY ||
		    node->producer == BLOCK_NO_PRODUCER)
			continue;
		block->has_forwarding = true;
		block->has_blocked |= node->is_blocked;
		depend_on(bi, node->producer);
	}
}

/* Marks stores whose register a plain load takes. */
static void note_met_stores(struct tact_block *block)
{
	for (size_t v = 0; v < block->n_nodes && block->arch->params.stores_met_alone; v++) {
		const struct block_node *node = &block->nodes[v];
		const struct block_lowered *l = block->insns[node->insn].lowered;

		if (l->in[node->input].kind != VALUE_MEMORY ||
		    node->producer == BLOCK_NO_PRODUCER || !node->is_renamed || l->n_stores)
			continue;
		block->insns[node->producer].is_met = true;
	}
}

/* Connects with everything that is known and, if the paper would see it differently, again as the
 * paper does.
 */
static void connect_memory(struct tact_block *block)
{
	struct address_walk w;

	if (!addresses_init(&w, block))
		return;
	addresses_connect(&w, block->opt.paper);
	note_met_stores(block);
	commits_count(&w); /* it depends on which stores are met */
	note_stores(block);
	if (block->opt.paper || !w.differs)
		return;
	memcpy(block->better, block->nodes, block->n_nodes * sizeof(*block->nodes));
	block->has_better = true;
	w.counts_banks = false;
	addresses_connect(&w, true);
	note_stores(block);
}

/* ---- further levels of memory ---- */

/* Returns the cycles that a load from this memory takes longer than one from the first level. */
static unsigned extra_latency(const struct arch_params *p, enum tact_memory memory)
{
	const int cycles = memory == TACT_MEMORY_L2    ? p->l2_latency
			   : memory == TACT_MEMORY_L3  ? p->l3_latency
			   : memory == TACT_MEMORY_RAM ? p->memory_latency
						       : 0;

	return cycles > p->load_latency ? (unsigned)(cycles - p->load_latency) : 0;
}

/* Whether what an instruction loads was stored by the block. */
static bool meets_store(const struct tact_block *block, const struct block_insn *bi)
{
	for (unsigned k = 0; k < bi->lowered->n_in; k++)
		if (bi->lowered->in[k].kind == VALUE_MEMORY &&
		    block_nodes(block)[bi->first_node + k].producer != BLOCK_NO_PRODUCER)
			return true;
	return false;
}

static void set_memories(struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];
		const enum tact_memory memory =
			bi->memory ? (enum tact_memory)(bi->memory - 1) : block->opt.memory;
		unsigned extra;

		if (memory == TACT_MEMORY_L1 || bi->latency || !bi->lowered->n_loads ||
		    meets_store(block, bi))
			continue;
		extra = extra_latency(&block->arch->params, memory);
		bi->load_extra = (uint16_t)(bi->lowered->load_extra +
					    block_split_latency(block, bi) + extra);
		if (extra)
			bi->fast_load = false; /* that is a shortcut of the first level */
	}
}

void block_begin_graph(struct tact_block *block)
{
	block->n_nodes = 0;
	block->store_cycles = 0;
	block->store_commits = 0;
	block->store_passes = 1;
	block->bank_loads = 0;
	block->bank_cycles = 1;
	block->is_free = block->has_forwarding = block->has_blocked = block->has_better = false;
}

void block_depend(struct tact_block *block)
{
	struct writer writers[ISA_MAX_KEYS];
	struct turning stack, *turning = block->counts.turning ? &stack : NULL;

	block_begin_graph(block);
	/* BLOCK_NO_PRODUCER */
	memset(writers, 0xff, isa_n_keys(block->arch->isa) * sizeof(*writers));
	turning_init(turning, block->arch->isa);
	for (uint32_t i = 0; i < block->n_insns; i++) {
		connect(block, writers, turning, i);
		turning_before(turning, block->insns[i].lowered);
		write_registers(writers, turning, &block->insns[i], i);
		turning_after(turning, block->insns[i].lowered);
	}
	connect_to_previous(block, writers, turning);
	if (block->arch->params.zero_upper_known)
		block_cut_merges(block);
	for (size_t i = 0; i < block->n_insns && block->arch->params.fast_float_add; i++)
		if (block->insns[i].lowered->attributes & TACT_INSN_FLOAT_ADD)
			find_fast_add(block, &block->insns[i]);
	for (size_t i = 0; i < block->n_insns && block->arch->params.fold_shift; i++)
		find_folded(block, &block->insns[i]);
	if (block->arch->params.late_flags && !block->opt.paper)
		find_late_flags(block);
	if (block->arch->llvm)
		block_take_advances(block);
	connect_memory(block); /* and copies the nodes if it knows addresses better */
	if (block->has_forwarding && block->arch->params.store_forward_early && !block->opt.paper)
		block_mark_forwarding(block);
	block_mark_stack_syncs(block);
	for (size_t i = 0; i < block->n_insns && block->arch->params.fast_pointer_chasing; i++)
		block->insns[i].fast_load =
			!block->insns[i].latency && is_fast_load(block, &block->insns[i]);
	if (block->opt.memory != TACT_MEMORY_L1 || block->has_memories)
		set_memories(block);
	block->is_connected = true;
}
