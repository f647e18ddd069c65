/* SPDX-License-Identifier: MIT
 *
 * One block repeated on the machine.
 */
#include <stdlib.h>
#include <string.h>

#include "mca/mca.h"
#include "mca/mca_facts.h"

enum { DEFAULT_ITERATIONS = 100, MAX_ITERATIONS = 1000000 }; /* the former is llvm-mca's */

struct tact_mca {
	struct tact_mca_options opt;
	void *memory; /* owned */
	size_t capacity;
	struct mca_facts *facts; /* owned; for CPUs of LLVM, made when first asked for */
};

static int read_options(struct tact_mca_options *to, const struct tact_mca_options *from)
{
	if (tact_read_options(to, sizeof(*to), from) < 0 || to->iterations > MAX_ITERATIONS ||
	    (unsigned)to->memory > TACT_MCA_ADDRESSES)
		return -TACT_E_INVAL;
	if (!to->iterations)
		to->iterations = DEFAULT_ITERATIONS;
	if (to->memory == TACT_MCA_NO_ALIAS)
		tact_mca_params_memory(to->params, &to->memory);
	return 0;
}

int tact_mca_create(struct tact_mca **out, const struct tact_mca_options *opt,
		    struct tact_diag *diag)
{
	struct tact_mca_options options;
	struct tact_mca *machine;

	if (out)
		*out = NULL;
	if (!out || read_options(&options, opt) < 0)
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	machine = calloc(1, sizeof(*machine));
	if (!machine)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	machine->opt = options;
	*out = machine;
	return 0;
}

void tact_mca_destroy(struct tact_mca *machine)
{
	if (!machine)
		return;
	mca_facts_destroy(machine->facts);
	FREE_ALL(machine->memory, machine);
}

/* ---- one block repeated ---- */

/* What an estimate needs, and how much memory: for the machine, the writers of keys, the code and
 * the defaults of its forms, in this order.
 */
struct plan {
	const struct tact_mca_options *opt;
	struct mca_extent extent;
	unsigned dispatch_width, reorder_buffer;
	size_t size;
};

static void make_plan(struct plan *plan, const struct tact_mca_options *opt,
		      const struct tact_block *block)
{
	const struct mca_extent *e = &plan->extent;

	plan->opt = opt;
	mca_code_extent(&plan->extent, block, opt->memory);
	if (opt->params) {
		plan->dispatch_width = opt->params->dispatch_width;
		plan->reorder_buffer = opt->params->reorder_buffer;
	} else {
		mca_globals_derive(block->arch, &plan->dispatch_width, &plan->reorder_buffer);
	}
	plan->size = mca_machine_size(plan->reorder_buffer) + e->n_keys * sizeof(uint64_t) +
		     e->n_insns * sizeof(struct mca_insn) +
		     e->n_operands * sizeof(struct mca_operand) +
		     (opt->params ? 0 : e->n_insns * sizeof(struct mca_form));
}

/* Runs code in memory that holds the machine and the writers. */
static void simulate(const struct plan *plan, void *memory, const struct mca_code *code,
		     const struct mca_form *forms, struct tact_mca_result *out)
{
	uint64_t *writer = (uint64_t *)((char *)memory + mca_machine_size(plan->reorder_buffer));
	unsigned iterations = plan->opt->iterations, runs = plan->opt->steady ? 2 : 1;
	struct mca_machine m;
	uint64_t cycles;

	memset(writer, 0, plan->extent.n_keys * sizeof(*writer));
	mca_machine_init(&m, memory, plan->dispatch_width, plan->reorder_buffer, writer);
	m.marked = (uint64_t)iterations * code->n_insns - 1;
	for (unsigned i = 0; i < runs * iterations; i++)
		mca_machine_feed(&m, code, forms);
	cycles = mca_machine_drain(&m);
	if (plan->opt->steady)
		cycles -= m.mark_at + 1;
	out->cycles_per_iteration = (double)cycles / iterations;
	out->coverage = code->coverage;
}

static void estimate_in(const struct plan *plan, void *memory, const struct tact_block *block,
			struct tact_mca_result *out)
{
	struct mca_code code;
	const struct mca_form *forms;

	code.insns = (struct mca_insn *)((char *)memory + mca_machine_size(plan->reorder_buffer) +
					 plan->extent.n_keys * sizeof(uint64_t));
	code.operands = (struct mca_operand *)(code.insns + plan->extent.n_insns);
	mca_code_fill(&code, block, plan->opt->memory);
	if (plan->opt->params) {
		forms = plan->opt->params->forms;
	} else {
		struct mca_form *derived =
			(struct mca_form *)(code.operands + plan->extent.n_operands);

		for (uint32_t i = 0; i < code.n_insns; i++) {
			mca_form_derive(&derived[i], block->arch, code.insns[i].form);
			code.insns[i].form = i;
		}
		forms = derived;
	}
	simulate(plan, memory, &code, forms, out);
}

int tact_mca_estimate(struct tact_mca *machine, struct tact_block *block,
		      struct tact_mca_result *out)
{
	struct tact_mca_result all = TACT_MCA_RESULT_INIT;
	const struct tact_mca_params *params = machine ? machine->opt.params : NULL;
	struct plan plan;

	if (!machine || !block || !block->n_insns || !tact_can_fill(out) ||
	    (params && params->arch->isa != block->arch->isa))
		return -TACT_E_INVAL;
	if (block->arch->llvm && !params) {
		int status = mca_facts_estimate(&machine->facts, &machine->opt, block, &all);

		return status < 0 ? status : tact_fill(out, &all, sizeof(all));
	}
	make_plan(&plan, &machine->opt, block);
	if (tact_grow(&machine->memory, &machine->capacity, plan.size, 1) < 0)
		return -TACT_E_NOMEM;
	estimate_in(&plan, machine->memory, block, &all);
	return tact_fill(out, &all, sizeof(all));
}

int tact_mca_run(struct tact_mca *machine, const struct tact_mca_code *code,
		 struct tact_mca_result *out)
{
	const struct tact_mca_params *params = machine ? machine->opt.params : NULL;
	struct tact_mca_result all = TACT_MCA_RESULT_INIT;
	struct plan plan;

	if (!params || !code || code->code.n_forms != params->n_forms || !tact_can_fill(out))
		return -TACT_E_INVAL;
	plan.opt = &machine->opt;
	plan.dispatch_width = params->dispatch_width;
	plan.reorder_buffer = params->reorder_buffer;
	plan.extent.n_keys = code->n_keys;
	plan.size = mca_machine_size(plan.reorder_buffer) + code->n_keys * sizeof(uint64_t);
	if (tact_grow(&machine->memory, &machine->capacity, plan.size, 1) < 0)
		return -TACT_E_NOMEM;
	simulate(&plan, machine->memory, &code->code, params->forms, &all);
	return tact_fill(out, &all, sizeof(all));
}
