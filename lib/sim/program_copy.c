/* SPDX-License-Identifier: MIT
 *
 * Programs of blocks as objects: how they are made, a copy in one piece of memory, and how they
 * end.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { MAX_SOURCES = SIM_MAX_UOPS * (LOWERED_MAX_IN + 4) /* of an instruction */ };

/* Makes room for one more instruction, whatever it is. */
static int reserve(struct sim_program *p)
{
	if (p->n_insns < p->insn_capacity && p->n_insns < p->sync_capacity &&
	    p->n_uops + SIM_MAX_UOPS <= p->uop_capacity &&
	    p->n_sources + MAX_SOURCES <= p->source_capacity &&
	    p->n_groups + SIM_MAX_UOPS <= p->group_capacity &&
	    p->n_inputs + LOWERED_MAX_IN <= p->input_capacity &&
	    p->n_inputs + LOWERED_MAX_IN <= p->node_capacity)
		return 0; /* nearly always: the previous block needed it */
	if (tact_grow(&p->insns, &p->insn_capacity, p->n_insns + 1, sizeof(*p->insns)) < 0 ||
	    tact_grow(&p->sync_nodes, &p->sync_capacity, p->n_insns + 1, sizeof(*p->sync_nodes)) <
		    0 ||
	    tact_grow(&p->uops, &p->uop_capacity, p->n_uops + SIM_MAX_UOPS, sizeof(*p->uops)) < 0 ||
	    tact_grow(&p->sources, &p->source_capacity, p->n_sources + MAX_SOURCES,
		      sizeof(*p->sources)) < 0 ||
	    tact_grow(&p->groups, &p->group_capacity, p->n_groups + SIM_MAX_UOPS, 1) < 0 ||
	    tact_grow(&p->inputs, &p->input_capacity, p->n_inputs + LOWERED_MAX_IN,
		      sizeof(*p->inputs)) < 0 ||
	    tact_grow(&p->nodes, &p->node_capacity, p->n_inputs + LOWERED_MAX_IN,
		      sizeof(*p->nodes)) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

/* Fills merge_key of the instructions; everything else is filled. */
static int find_merges(struct sim_program *p, const struct tact_block *block, bool for_stream)
{
	if (tact_grow(&p->merges, &p->merge_capacity, block->n_insns, sizeof(*p->merges)) < 0)
		return -TACT_E_NOMEM;
	block_find_merges(block, !for_stream, p->merges);
	for (size_t i = 0; i < block->n_insns; i++)
		if (p->merges[i] != BLOCK_NO_KEY)
			p->insns[p->raws[i].insn].merge_key = p->merges[i];
	return 0;
}

int sim_program_build(struct sim_program *p, const struct tact_block *block, bool for_stream)
{
	p->n_insns = p->n_uops = p->n_sources = p->n_groups = p->n_inputs = 0;
	p->n_uses = p->n_advances = 0;
	block_connect(block);
	p->n_raws = block->n_insns;
	p->n_decoded = p->n_slots = 0;
	p->code_size = (uint32_t)block->code_size;
	p->has_lcp = false;
	if (tact_grow(&p->raws, &p->raw_capacity, block->n_insns, sizeof(*p->raws)) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];

		p->raws[i] =
			(struct sim_raw){.insn = (uint32_t)p->n_insns - bi->fused_prev,
					 .offset = bi->offset,
					 .length = bi->lowered->length,
					 .opcode_offset = bi->lowered->opcode_offset,
					 .has_lcp = (bi->lowered->attributes & TACT_INSN_LCP) != 0,
					 .fused_prev = bi->fused_prev,
					 .is_nop = bi->lowered->is_nop};
		p->has_lcp |= p->raws[i].has_lcp;
		if (bi->fused_prev)
			continue;
		if (reserve(p) < 0)
			return -TACT_E_NOMEM;
		p->sync_nodes[p->n_insns] = (struct block_node){.producer = BLOCK_NO_PRODUCER};
		sim_program_add(p, block, i, for_stream);
		if (block->arch->params.in_order && sim_order_add(p, bi) < 0)
			return -TACT_E_NOMEM;
		p->n_decoded += p->insns[p->n_insns - 1].n_decoded;
		p->n_slots +=
			p->insns[p->n_insns - 1].n_decoded + p->insns[p->n_insns - 1].extra_slots;
	}
	if (!for_stream && block->counts.stack_changes)
		sim_connect_stack(p);
	if (block->arch->params.high8_renamed && block->counts.high_bytes)
		return find_merges(p, block, for_stream);
	return 0;
}

void sim_program_fini(struct sim_program *p)
{
	free(p->memory);
	if (!p->memory) {
		FREE_ALL(p->insns, p->sync_nodes, p->uops, p->sources, p->groups, p->inputs,
			 p->nodes, p->raws, p->merges, p->orders, p->uses, p->advances);
	}
	memset(p, 0, sizeof(*p));
}

/* Takes a part of the memory, aligned for anything. */
static size_t take(size_t *used, size_t size)
{
	size_t at = *used;

	*used += (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	return at;
}

static void *copy_at(char *memory, size_t at, const void *from, size_t size)
{
	return size ? memcpy(memory + at, from, size) : memory + at;
}

int sim_program_copy(struct sim_program *to, const struct sim_program *from)
{
	const size_t insns = from->n_insns * sizeof(*from->insns),
		     uops = from->n_uops * sizeof(*from->uops),
		     inputs = from->n_inputs * sizeof(*from->inputs),
		     sources = from->n_sources * sizeof(*from->sources),
		     nodes = from->n_inputs * sizeof(*from->nodes),
		     raws = from->n_raws * sizeof(*from->raws),
		     orders = from->orders ? from->n_insns * sizeof(*from->orders) : 0,
		     llvm_uses = from->n_uses * sizeof(*from->uses),
		     advances = from->n_advances * sizeof(*from->advances);
	size_t used = 0;
	/* What every execution needs is together, so that it can be prefetched. */
	const size_t insns_at = take(&used, insns), uops_at = take(&used, uops),
		     sources_at = take(&used, sources), inputs_at = take(&used, inputs),
		     groups_at = take(&used, from->n_groups), orders_at = take(&used, orders),
		     uses_at = take(&used, llvm_uses), advances_at = take(&used, advances),
		     stats_at = take(&used, from->n_insns * sizeof(struct sim_stats)), hot = used,
		     nodes_at = take(&used, nodes), raws_at = take(&used, raws);
	char *memory = malloc(used);

	*to = *from;
	to->memory = memory;
	if (!memory) {
		memset(to, 0, sizeof(*to));
		return -TACT_E_NOMEM;
	}
	to->hot_size = hot;
	to->insns = copy_at(memory, insns_at, from->insns, insns);
	to->uops = copy_at(memory, uops_at, from->uops, uops);
	to->sources = copy_at(memory, sources_at, from->sources, sources);
	to->inputs = copy_at(memory, inputs_at, from->inputs, inputs);
	to->groups = copy_at(memory, groups_at, from->groups, from->n_groups);
	to->orders = copy_at(memory, orders_at, from->orders, orders);
	to->uses = copy_at(memory, uses_at, from->uses, llvm_uses);
	to->advances = copy_at(memory, advances_at, from->advances, advances);
	to->nodes = copy_at(memory, nodes_at, from->nodes, nodes);
	to->raws = copy_at(memory, raws_at, from->raws, raws);
	to->sync_nodes = NULL; /* for blocks that repeat: these do not */
	to->merges = NULL;     /* the instructions know them */
	to->merge_capacity = 0;
	to->stats = memset(memory + stats_at, 0, from->n_insns * sizeof(*to->stats));
	return 0;
}
