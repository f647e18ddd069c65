/* SPDX-License-Identifier: MIT
 *
 * Where execution goes after each block.
 *
 * Branch stacks show it.  Without them, only conditional branches are a question: how often each of
 * their two ways is taken follows from how often the blocks ran, because what enters a block leaves
 * it.  The shares are found by proportional fitting: the ways out of a branch are scaled to its
 * executions, the ways into a block to the block's, again and again.  What then enters a block by no
 * known way comes from a jump or a call whose target is computed.
 */
#include <stdlib.h>
#include <string.h>

#include "mix/block_flow.h"

enum {
	PASSES = 40 /* of the fitting: it changes no more by then */
};

/* What a block lacks, or has too much, by rounding and sampling. */
static const double SLACK = 0.01;

/* ---- blocks ---- */

static const struct mix_profile *profile_of(const struct tact_mix *mix, const struct mix_node *node)
{
	return &mix->profiles[node->profile];
}

static int compare_nodes(const void *a, const void *b)
{
	return ORDER(((const struct mix_node *)a)->address, ((const struct mix_node *)b)->address);
}

static int add_nodes(struct mix_flow *f, const struct tact_mix *mix)
{
	f->nodes = calloc(mix->n_profiles + 1, sizeof(*f->nodes));
	if (!f->nodes)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < mix->n_profiles; i++) {
		const struct mix_profile *p = &mix->profiles[i];
		const struct mix_code *code = &mix->modules.items[p->module].codes[p->code];
		const struct code_block *b = mix_block_of(mix, p);

		if (!(p->executions > 0) || b->is_bad)
			continue;
		/* Files lie apart, and each of its sections where the file says. */
		f->nodes[f->n++] =
			(struct mix_node){.profile = (uint32_t)i,
					  .back = MIX_NONE,
					  .last = MIX_NONE,
					  .flow = b->flow,
					  .address = ((uint64_t)p->module + 1) << 44 ^
						     ((code->address + b->begin) & 0xfffffffffff),
					  .executions = p->executions};
	}
	qsort(f->nodes, f->n, sizeof(*f->nodes), compare_nodes);
	return 0;
}

/* Finds where the function of a node begins and ends. */
static void find_function(const struct tact_mix *mix, struct mix_node *node, uint64_t *end)
{
	const struct mix_profile *p = profile_of(mix, node);
	const struct mix_module *module = &mix->modules.items[p->module];
	const struct mix_code *code = &module->codes[p->code];
	const struct code_block *b = mix_block_of(mix, p);
	const struct obj_function *function =
		module->obj ? obj_function_at(module->obj, code->section, b->begin) : NULL;
	uint64_t begin = 0;

	*end = node->address + 1;
	if (function) {
		node->is_entry = function->range.begin == b->begin;
		*end = node->address + (function->range.end - b->begin);
	} else if (module->kernel) {
		mix_kernel_symbol(module->kernel, code->address + b->begin, &begin);
		node->is_entry = begin == code->address + b->begin;
	}
}

/* Finds the nodes that are in the same function as each. */
static void find_functions(struct mix_flow *f, const struct tact_mix *mix)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		struct mix_node *node = &f->nodes[i];

		if (i && node->address < end) {
			node->first = f->nodes[i - 1].first;
			continue;
		}
		find_function(mix, node, &end);
		node->first = i;
	}
	for (uint32_t i = f->n; i-- > 0;)
		f->nodes[i].end = i + 1 < f->n && f->nodes[i + 1].first == f->nodes[i].first
					  ? f->nodes[i + 1].end
					  : i + 1;
}

/* Returns, by profile, the number of its node. */
static uint32_t *number_nodes(const struct mix_flow *f, const struct tact_mix *mix)
{
	uint32_t *numbers = malloc((mix->n_profiles + 1) * sizeof(*numbers));

	if (!numbers)
		return NULL;
	memset(numbers, 0xff, (mix->n_profiles + 1) * sizeof(*numbers));
	for (uint32_t i = 0; i < f->n; i++)
		numbers[f->nodes[i].profile] = i;
	return numbers;
}

/* Returns the node of the block at an offset of a section; MIX_NONE if it did not run. */
static uint32_t node_at(const struct mix_code *code, const uint32_t *numbers, uint32_t offset)
{
	const uint32_t block = code_blocks_find(&code->blocks, offset);

	if (block == CODE_NONE || code->blocks.items[block].begin != offset ||
	    !code->profiles[block])
		return MIX_NONE;
	return numbers[code->profiles[block] - 1];
}

/* ---- ways ---- */

static int add_way(struct mix_flow *f, uint32_t from, uint32_t to, double weight)
{
	if (to == MIX_NONE)
		return 0;
	if (tact_grow(&f->ways, &f->capacity, f->n_ways + 1, sizeof(*f->ways)) < 0)
		return -TACT_E_NOMEM;
	f->ways[f->n_ways++] = (struct mix_way){from, to, weight};
	return 0;
}

/* Returns the node that a transfer leads to: in its section, or in another one of the file, as calls
 * of libraries do.
 */
static uint32_t target_of(const struct tact_mix *mix, const struct mix_node *node,
			  const uint32_t *numbers, const struct tact_insn *insn)
{
	const struct mix_profile *p = profile_of(mix, node);
	const struct mix_module *module = &mix->modules.items[p->module];
	const struct code_block *b = mix_block_of(mix, p);
	int64_t distance;
	uint64_t address;

	if (b->target != CODE_NONE)
		return node_at(&module->codes[p->code], numbers, b->target);
	if (!isa_flow_target(insn, &distance))
		return MIX_NONE;
	address = module->codes[p->code].address + b->last + (uint64_t)distance;
	for (size_t i = 0; i < module->n_codes; i++) {
		const struct mix_code *code = &module->codes[i];

		if (code->profiles && address - code->address < code->size)
			return node_at(code, numbers, (uint32_t)(address - code->address));
	}
	return MIX_NONE;
}

/* Tells whether a transfer with a computed target leads to a function: calls do, and jumps by a
 * pointer in memory that is not one of a table.
 */
static bool is_far(const struct tact_insn *insn)
{
	if (insn->flow == TACT_FLOW_CALL)
		return true;
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_MEM)
			return insn->operand[i].index == TACT_REG_NONE;
	return false;
}

/* Adds where the transfer at the end of a block leads. */
static int add_target(struct mix_flow *f, const struct tact_mix *mix, const uint32_t *numbers,
		      uint32_t number)
{
	struct mix_node *node = &f->nodes[number];
	const struct mix_profile *p = profile_of(mix, node);
	const struct mix_code *code = &mix->modules.items[p->module].codes[p->code];
	const struct code_block *b = mix_block_of(mix, p);
	const bool is_branch = node->flow == TACT_FLOW_BRANCH;
	struct tact_insn insn;
	int64_t ignored;

	if ((!is_branch && node->flow != TACT_FLOW_JUMP && node->flow != TACT_FLOW_CALL) ||
	    tact_isa_decode(code->isa, &insn, code->data + b->last, b->end - b->last) <= 0)
		return 0;
	node->is_indirect = !isa_flow_target(&insn, &ignored);
	node->is_far = node->is_indirect && is_far(&insn);
	if (node->is_indirect || (is_branch && mix->has_lbr)) /* records tell */
		return 0;
	return add_way(f, number, target_of(mix, node, numbers, &insn),
		       is_branch ? node->executions / 2 : node->executions);
}

/* Adds what the code says: the next block, and the target of a direct transfer. */
static int add_known_ways(struct mix_flow *f, const struct tact_mix *mix, const uint32_t *numbers)
{
	int status = 0;

	for (uint32_t i = 0; i < f->n && !status; i++) {
		struct mix_node *node = &f->nodes[i];
		const struct mix_profile *p = profile_of(mix, node);
		const struct mix_code *code = &mix->modules.items[p->module].codes[p->code];
		const uint32_t next = node_at(code, numbers, mix_block_of(mix, p)->end);

		if (node->flow == TACT_FLOW_CALL)
			node->back = next;
		else if (node->flow == TACT_FLOW_NEXT || node->flow == TACT_FLOW_KERNEL)
			status = add_way(f, i, next, node->executions);
		else if (node->flow == TACT_FLOW_BRANCH)
			status = add_way(f, i, next,
					 mix->has_lbr ? p->fall_out : node->executions / 2);
		if (!status)
			status = add_target(f, mix, numbers, i);
	}
	return status;
}

/* Adds recorded branches, except those that the code has told. */
static int add_recorded_ways(struct mix_flow *f, const struct tact_mix *mix,
			     const uint32_t *numbers)
{
	int status = 0;

	for (size_t i = 0; i < mix->n_arcs && !status; i++) {
		const uint32_t from = numbers[mix->arcs[i].from], to = numbers[mix->arcs[i].to];

		if (from == MIX_NONE || to == MIX_NONE)
			continue;
		if (f->nodes[from].flow == TACT_FLOW_BRANCH || f->nodes[from].is_indirect)
			status = add_way(f, from, to, mix->arcs[i].weight);
	}
	return status;
}

static int compare_ways(const void *a, const void *b)
{
	const struct mix_way *x = a, *y = b;

	return 2 * ORDER(x->from, y->from) + ORDER(x->to, y->to);
}

/* Sorts the ways by where they come from, and lists those that lead to each node. */
static int index_ways(struct mix_flow *f)
{
	uint32_t at = 0;

	if (f->n_ways)
		qsort(f->ways, f->n_ways, sizeof(*f->ways), compare_ways);
	f->ins = malloc((f->n_ways + 1) * sizeof(*f->ins));
	if (!f->ins)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < f->n_ways; i++) {
		struct mix_node *from = &f->nodes[f->ways[i].from];

		if (!from->n_ways++)
			from->first_way = (uint32_t)i;
		f->nodes[f->ways[i].to].n_in++;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		f->nodes[i].first_in = at;
		at += f->nodes[i].n_in;
		f->nodes[i].n_in = 0;
	}
	for (size_t i = 0; i < f->n_ways; i++) {
		struct mix_node *to = &f->nodes[f->ways[i].to];

		f->ins[to->first_in + to->n_in++] = (uint32_t)i;
	}
	return 0;
}

/* ---- fitting ---- */

/* Brings the ways out of a block to its executions, in proportion. */
static void fit_out(struct mix_flow *f, const struct mix_node *node)
{
	struct mix_way *ways = &f->ways[node->first_way];
	double sum = 0;

	for (uint32_t i = 0; i < node->n_ways; i++)
		sum += ways[i].weight;
	for (uint32_t i = 0; i < node->n_ways; i++)
		ways[i].weight = sum > 0 ? ways[i].weight * node->executions / sum
					 : node->executions / node->n_ways;
}

/* Brings the ways into a block to its executions, as far as they can vary: those of conditional
 * branches.  `returned` come back from calls.
 */
static void fit_in(struct mix_flow *f, const struct mix_node *node, double returned)
{
	double fixed = returned, open = 0, wanted;

	for (uint32_t i = 0; i < node->n_in; i++) {
		const struct mix_way *way = &f->ways[f->ins[node->first_in + i]];
		const bool is_open = f->nodes[way->from].n_ways > 1;

		*(is_open ? &open : &fixed) += way->weight;
	}
	wanted = node->executions > fixed ? node->executions - fixed : 0;
	/* Never quite 0: executions are estimates, and what is 0 stays 0. */
	if (wanted < SLACK * SLACK * node->executions)
		wanted = SLACK * SLACK * node->executions;
	for (uint32_t i = 0; i < node->n_in && open > 0; i++) {
		struct mix_way *way = &f->ways[f->ins[node->first_in + i]];

		if (f->nodes[way->from].n_ways > 1)
			way->weight *= wanted / open;
	}
}

/* Adds up what calls bring back to each node. */
static void sum_returned(const struct mix_flow *f, double *returned)
{
	memset(returned, 0, (f->n + 1) * sizeof(*returned));
	for (uint32_t i = 0; i < f->n; i++)
		if (f->nodes[i].back != MIX_NONE)
			returned[f->nodes[i].back] += f->nodes[i].executions;
}

static void fit(struct mix_flow *f, const double *returned, bool is_recorded)
{
	for (unsigned pass = 0; pass < PASSES && !is_recorded; pass++) {
		for (uint32_t i = 0; i < f->n; i++)
			fit_out(f, &f->nodes[i]);
		for (uint32_t i = 0; i < f->n; i++)
			fit_in(f, &f->nodes[i], returned[i]);
	}
	for (uint32_t i = 0; i < f->n; i++)
		fit_out(f, &f->nodes[i]);
}

/* Adds up what each node lacks, and running sums to choose by. */
static void sum_up(struct mix_flow *f)
{
	double executed = 0, entered = 0, missing = 0, returned = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		struct mix_node *node = &f->nodes[i];
		double in = f->returned[i];

		for (uint32_t k = 0; k < node->n_in; k++)
			in += f->ways[f->ins[node->first_in + k]].weight;
		if (node->executions - in > SLACK * node->executions)
			node->missing = node->executions - in;
		executed += node->executions;
		*(node->is_entry ? &entered : &missing) += node->missing;
		returned += f->returned[i];
		f->executed[i] = executed;
		f->entered[i] = entered;
		f->missing[i] = missing;
		f->returned[i] = returned;
	}
}

int mix_flow_create(struct mix_flow **out, const struct tact_mix *mix)
{
	struct mix_flow *f = calloc(1, sizeof(*f));
	uint32_t *numbers = NULL;
	int status = f ? add_nodes(f, mix) : -TACT_E_NOMEM;

	*out = f;
	if (!status) {
		numbers = number_nodes(f, mix);
		f->executed = calloc((size_t)f->n + 1, sizeof(*f->executed));
		f->entered = calloc((size_t)f->n + 1, sizeof(*f->entered));
		f->missing = calloc((size_t)f->n + 1, sizeof(*f->missing));
		f->returned = calloc((size_t)f->n + 1, sizeof(*f->returned));
		if (!numbers || !f->executed || !f->entered || !f->missing || !f->returned)
			status = -TACT_E_NOMEM;
	}
	if (!status)
		find_functions(f, mix);
	if (!status)
		status = add_known_ways(f, mix, numbers);
	if (!status)
		status = add_recorded_ways(f, mix, numbers);
	if (!status)
		status = index_ways(f);
	free(numbers);
	if (status) {
		mix_flow_destroy(f);
		*out = NULL;
		return status;
	}
	sum_returned(f, f->returned);
	fit(f, f->returned, mix->has_lbr);
	sum_up(f);
	return 0;
}

void mix_flow_destroy(struct mix_flow *f)
{
	if (!f)
		return;
	FREE_ALL(f->nodes, f->ways, f->ins, f->executed, f->entered, f->missing, f->returned, f);
}
