/* SPDX-License-Identifier: MIT
 *
 * What issue in order needs of each instruction of a block: LLVM's facts, in the program's own
 * lists.
 */
#include <string.h>

#include "sim/draft.h"

/* One uop stands for all of it: units are given out by instruction. */
void sim_draft_in_order(struct draft *d)
{
	const struct block_issue *issue = d->l->advances ? d->l->advances->issue : NULL;

	sim_draft_uop(d, issue && issue->loads ? SIM_LOAD : SIM_ALU, 0);
}

static int reserve(struct sim_program *p, const struct block_advances *a)
{
	const size_t uses = a ? a->issue->demand.n_uses : 0, advances = a ? a->n : 0;

	if (tact_grow(&p->orders, &p->order_capacity, p->n_insns, sizeof(*p->orders)) < 0 ||
	    tact_grow(&p->uses, &p->use_capacity, p->n_uses + uses + 1, sizeof(*p->uses)) < 0 ||
	    tact_grow(&p->advances, &p->advance_capacity, p->n_advances + advances + 1,
		      sizeof(*p->advances)) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

static void add_facts(struct sim_program *p, struct sim_order *order,
		      const struct block_advances *a)
{
	const struct block_issue *issue = a->issue;

	order->groups = issue->demand.groups;
	order->has_overlapping_groups = issue->demand.has_overlapping_groups;
	order->n_uses = issue->demand.n_uses;
	order->micro_ops = issue->micro_ops;
	order->latency = issue->latency;
	order->first_write = issue->first_write;
	order->loads = issue->loads;
	order->stores = issue->stores;
	order->load_barrier = issue->load_barrier;
	order->store_barrier = issue->store_barrier;
	order->begins_group = issue->begins_group;
	order->ends_group = issue->ends_group;
	order->retires_early = issue->retires_early;
	memcpy(order->made, issue->made, sizeof(order->made));
	memcpy(order->write_id, a->write_id, sizeof(order->write_id));
	memcpy(p->uses + p->n_uses, issue->uses, order->n_uses * sizeof(*p->uses));
	p->n_uses += order->n_uses;
	order->n_advances = (uint8_t)(a->n < UINT8_MAX ? a->n : UINT8_MAX);
	memcpy(p->advances + p->n_advances, a->rules, order->n_advances * sizeof(*p->advances));
	p->n_advances += order->n_advances;
}

int sim_order_add(struct sim_program *p, const struct block_insn *bi)
{
	const struct block_lowered *l = bi->lowered;
	const struct block_advances *a = l->advances && l->advances->issue ? l->advances : NULL;
	struct sim_order *order;

	if (reserve(p, a) < 0)
		return -TACT_E_NOMEM;
	order = &p->orders[p->n_insns - 1];
	/* What LLVM's model does not know takes a slot and nothing else. */
	*order = (struct sim_order){.first_use = (uint32_t)p->n_uses,
				    .first_advance = (uint32_t)p->n_advances,
				    .micro_ops = 1,
				    .latency = 1,
				    .first_write = 1,
				    .load_extra = bi->load_extra};
	for (unsigned o = 0; o < l->n_out; o++)
		order->made[o] = 1;
	if (a)
		add_facts(p, order, a);
	for (unsigned o = 0; o < l->n_out && bi->latency; o++)
		order->made[o] = bi->latency;
	if (bi->latency)
		order->latency = order->first_write = bi->latency;
	for (unsigned k = 0; k < l->n_in; k++) {
		if (l->in[k].kind != VALUE_MEMORY)
			continue;
		order->exchanges_memory = p->insns[p->n_insns - 1].memory_outputs != 0;
		memcpy(order->forwarded, l->forwarded + (size_t)k * l->n_out,
		       l->n_out * sizeof(*l->forwarded));
	}
	return 0;
}
