/* SPDX-License-Identifier: MIT
 *
 * One pass through a block: the longest chain from what it reads to what it leaves.
 */
#include <string.h>

#include "facile/facile.h"

#define NO_NODE UINT32_MAX

/* When an input is there, and through which input of its producer it came. */
struct arrival {
	uint32_t cycle;
	uint32_t from;	  /* node, or NO_NODE: from outside of the block */
	uint16_t latency; /* that the producer took */
};

/* Where a value ends. */
struct ending {
	uint32_t cycle, node;
	uint16_t latency;
	uint8_t output; /* LOWERED_MAX_OUT: none */
};

static const struct block_insn *insn_of(const struct tact_block *block, uint32_t node)
{
	return &block->insns[block_nodes(block)[node].insn];
}

/* Instructions that read nothing still take a cycle, unless they need no port. */
static unsigned least_latency(const struct block_lowered *l)
{
	return l->uops && !l->eliminated ? 1 : 0;
}

/* Finds when input v is there: the nodes of its producer are done already. */
static struct arrival arrive(const struct tact_block *block, const struct arrival *arrivals,
			     uint32_t v)
{
	const struct block_node *node = &block_nodes(block)[v];
	struct arrival a = {.from = NO_NODE};
	const struct block_insn *producer;

	if (node->producer == BLOCK_NO_PRODUCER || node->iterations)
		return a;
	producer = &block->insns[node->producer];
	a.latency = (uint16_t)least_latency(producer->lowered);
	a.cycle = a.latency;
	for (unsigned k = 0; k < producer->lowered->n_in; k++) {
		const uint32_t u = producer->first_node + k;
		unsigned latency;

		if (!block_latency(block, node->producer, k, node->output, node, !block->opt.paper,
				   &latency) ||
		    (a.from != NO_NODE && arrivals[u].cycle + latency <= a.cycle))
			continue;
		a = (struct arrival){arrivals[u].cycle + latency, u, (uint16_t)latency};
	}
	return a;
}

/* The cycles from an input to a result that nobody waits for. */
static unsigned final_latency(const struct tact_block *block, const struct block_insn *bi,
			      unsigned k, unsigned o)
{
	const struct block_lowered *l = bi->lowered;
	unsigned latency;

	if (l->eliminated)
		return 0;
	if (l->out[o].kind == VALUE_MEMORY)
		return 1;
	latency = (block->opt.paper ? l->latency : l->forwarded)[k * l->n_out + o];
	if (latency && l->in[k].kind == VALUE_ADDRESS)
		latency += bi->load_extra - (unsigned)bi->fast_load;
	return latency;
}

static void end_at(struct ending *end, uint32_t cycle, uint32_t node, unsigned latency,
		   unsigned output)
{
	if (end->node == NO_NODE || cycle > end->cycle)
		*end = (struct ending){cycle, node, (uint16_t)latency, (uint8_t)output};
}

static void end_insn(const struct tact_block *block, const struct arrival *arrivals, size_t i,
		     struct ending *end)
{
	const struct block_insn *bi = &block->insns[i];
	const struct block_lowered *l = bi->lowered;

	for (unsigned k = 0; k < l->n_in; k++) {
		const uint32_t v = bi->first_node + k;

		/* What comes from outside through memory counts from its address. */
		for (unsigned o = 0; o < l->n_out; o++) {
			const unsigned latency = final_latency(block, bi, k, o);

			end_at(end, arrivals[v].cycle + latency, v, latency, o);
		}
		if (!l->n_out) /* a branch, a comparison that nobody asks for */
			end_at(end, arrivals[v].cycle + least_latency(l), v, least_latency(l),
			       LOWERED_MAX_OUT);
	}
}

static void name_value(const struct lowered_value *value, uint8_t *kind, uint8_t *reg)
{
	*kind = value->kind;
	*reg = value->kind == VALUE_REG || value->kind == VALUE_ADDRESS ? value->key
									: TACT_REG_NONE;
}

/* Fills the link of node v, which leaves by an output. */
static void fill_link(const struct tact_block *block, uint32_t v, unsigned output, unsigned latency,
		      struct tact_chain_link *link)
{
	const struct block_node *node = &block_nodes(block)[v];
	const struct block_lowered *l = insn_of(block, v)->lowered;

	memset(link, 0, sizeof(*link));
	link->insn = node->insn;
	link->latency = latency;
	link->input = node->input;
	name_value(&l->in[node->input], &link->from_kind, &link->from_reg);
	link->to_kind = VALUE_FLAGS;
	link->to_reg = TACT_REG_NONE;
	if (output < l->n_out) {
		link->output = (uint8_t)output;
		name_value(&l->out[output], &link->to_kind, &link->to_reg);
	}
}

/* The producer of node v, which waits for nothing. */
static void fill_start(const struct tact_block *block, uint32_t v, struct tact_chain_link *link)
{
	const struct block_node *node = &block_nodes(block)[v];
	const struct block_lowered *l = block->insns[node->producer].lowered;

	memset(link, 0, sizeof(*link));
	link->insn = node->producer;
	link->latency = least_latency(l);
	link->from_reg = TACT_REG_NONE;
	link->output = node->output;
	name_value(&l->out[node->output], &link->to_kind, &link->to_reg);
}

/* Follows the chain from its end; the links are at the end of the list then. */
static void follow(const struct tact_block *block, const struct arrival *arrivals,
		   const struct ending *end, struct tact_chain_link *links, struct tact_chain *out)
{
	size_t n = block->n_insns, first = n;
	unsigned output = end->output, latency = end->latency;

	for (uint32_t v = end->node; v != NO_NODE && first;) {
		fill_link(block, v, output, latency, &links[--first]);
		output = block_nodes(block)[v].output;
		latency = arrivals[v].latency;
		if (arrivals[v].from == NO_NODE && latency && first)
			fill_start(block, v, &links[--first]);
		v = arrivals[v].from;
	}
	out->links = links + first;
	out->n_links = n - first;
}

int tact_explain_pass(struct tact_block *block, struct tact_chain *out)
{
	struct tact_chain c = TACT_CHAIN_INIT;
	struct ending end = {.node = NO_NODE};
	struct tact_chain_link *links;
	struct arrival *arrivals;

	if (!block || !block->n_insns || !tact_can_fill(out))
		return -TACT_E_INVAL;
	block_connect(block);
	links = block_scratch(block,
			      block->n_insns * sizeof(*links) + block->n_nodes * sizeof(*arrivals));
	if (!links)
		return -TACT_E_NOMEM;
	arrivals = (struct arrival *)(links + block->n_insns);
	for (uint32_t v = 0; v < block->n_nodes; v++)
		arrivals[v] = arrive(block, arrivals, v);
	for (size_t i = 0; i < block->n_insns; i++)
		end_insn(block, arrivals, i, &end);
	c.iterations = 1;
	/* A block that reads nothing is done as soon as it is executed. */
	c.latency = end.cycle;
	for (size_t i = 0; i < block->n_insns; i++)
		if (least_latency(block->insns[i].lowered) > c.latency)
			c.latency = least_latency(block->insns[i].lowered);
	c.cycles_per_iteration = c.latency;
	if (end.node != NO_NODE && end.cycle)
		follow(block, arrivals, &end, links, &c);
	return tact_fill(out, &c, sizeof(c));
}
