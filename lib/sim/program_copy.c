/* SPDX-License-Identifier: MIT
 *
 * Programs of blocks as objects: a copy that takes no more memory than it needs, and their end.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

void sim_program_fini(struct sim_program *p)
{
	free(p->insns);
	free(p->uops);
	free(p->sources);
	free(p->groups);
	free(p->inputs);
	free(p->nodes);
	free(p->raws);
	memset(p, 0, sizeof(*p));
}

static int copy_array(void *out, size_t *capacity, const void *from, size_t n, size_t size)
{
	void *copy = malloc(n ? n * size : 1);

	if (!copy)
		return -TACT_E_NOMEM;
	if (n)
		memcpy(copy, from, n * size);
	memcpy(out, &copy, sizeof(copy));
	*capacity = n;
	return 0;
}

int sim_program_copy(struct sim_program *to, const struct sim_program *from)
{
	*to = (struct sim_program){.n_insns = from->n_insns,
				   .n_uops = from->n_uops,
				   .n_sources = from->n_sources,
				   .n_groups = from->n_groups,
				   .n_inputs = from->n_inputs,
				   .n_raws = from->n_raws,
				   .n_decoded = from->n_decoded,
				   .n_slots = from->n_slots,
				   .code_size = from->code_size};
	if (copy_array(&to->insns, &to->insn_capacity, from->insns, from->n_insns,
		       sizeof(*to->insns)) < 0 ||
	    copy_array(&to->uops, &to->uop_capacity, from->uops, from->n_uops, sizeof(*to->uops)) <
		    0 ||
	    copy_array(&to->sources, &to->source_capacity, from->sources, from->n_sources,
		       sizeof(*to->sources)) < 0 ||
	    copy_array(&to->groups, &to->group_capacity, from->groups, from->n_groups, 1) < 0 ||
	    copy_array(&to->inputs, &to->input_capacity, from->inputs, from->n_inputs,
		       sizeof(*to->inputs)) < 0 ||
	    copy_array(&to->nodes, &to->node_capacity, from->nodes, from->n_inputs,
		       sizeof(*to->nodes)) < 0 ||
	    copy_array(&to->raws, &to->raw_capacity, from->raws, from->n_raws, sizeof(*to->raws)) <
		    0)
		return -TACT_E_NOMEM;
	return 0;
}
