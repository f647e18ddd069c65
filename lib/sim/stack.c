/* SPDX-License-Identifier: MIT
 *
 * The stack engine's uops make the stack pointer: each waits for the previous one, or for the
 * instruction that wrote the register since, and later readers wait for it.  So "push rbp; mov rbp,
 * rsp" takes a cycle (measured on Ice Lake server).
 */
#include "sim/sim.h"

struct definition {
	uint32_t insn; /* in the block; BLOCK_NO_PRODUCER: an instruction wrote it, or none did */
	unsigned pass;
};

/* Returns the last value as a source, if a uop of the stack engine made it. */
static bool from_engine(const struct definition *d, unsigned pass, struct block_node *node)
{
	if (d->insn == BLOCK_NO_PRODUCER)
		return false;
	node->producer = d->insn;
	node->output = SIM_SYNC_OUTPUT;
	node->iterations = (uint8_t)(pass - d->pass);
	return true;
}

static void pass_insn(struct sim_program *p, struct sim_insn *insn, struct definition *d,
		      unsigned pass)
{
	const struct sim_input *in = p->inputs + insn->first_input;
	struct block_node *node = p->nodes + insn->first_input;

	for (unsigned k = 0; k < insn->n_inputs; k++) {
		if (in[k].stack == STACK_NONE)
			continue;
		from_engine(d, pass, &node[k]);
		if (insn->stack_sync && in[k].stack == STACK_NAMED)
			p->sync_nodes[insn - p->insns] = node[k];
	}
	if (insn->stack_sync)
		*d = (struct definition){insn->insn, pass};
	if (insn->writes_stack)
		d->insn = BLOCK_NO_PRODUCER;
}

void sim_connect_stack(struct sim_program *p)
{
	struct definition d = {BLOCK_NO_PRODUCER, 0};

	/* A first pass shows what an iteration leaves to the next one. */
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < p->n_insns; i++)
			pass_insn(p, &p->insns[i], &d, pass);
}
