/* SPDX-License-Identifier: MIT
 *
 * The machine behind the seam: one block repeated, or a stream of blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "mca/mca.h"

enum { DEFAULT_ITERATIONS = 100, MAX_ITERATIONS = 1000000 }; /* the former is llvm-mca's */

struct tact_mca {
	struct tact_mca_options opt;
	void *memory; /* owned */
	size_t capacity;
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
	free(machine->memory);
	free(machine);
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
		     const struct mca_form *forms, struct tact_estimate *out)
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
			struct tact_estimate *out)
{
	struct mca_code code;
	const struct mca_form *forms;

	code.insns = (struct mca_insn *)((char *)memory + mca_machine_size(plan->reorder_buffer) +
					 plan->extent.n_keys * sizeof(uint64_t));
	code.operands = (struct mca_operand *)(code.insns + plan->extent.n_insns);
	mca_code_fill(&code, block, plan->opt->memory, true);
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

int tact_mca_estimate(struct tact_mca *machine, struct tact_block *block, struct tact_estimate *out)
{
	struct plan plan;

	if (!machine || !block || !block->n_insns || !out)
		return -TACT_E_INVAL;
	make_plan(&plan, &machine->opt, block);
	if (tact_grow(&machine->memory, &machine->capacity, plan.size, 1) < 0)
		return -TACT_E_NOMEM;
	estimate_in(&plan, machine->memory, block, out);
	return 0;
}

int tact_mca_run(struct tact_mca *machine, const struct tact_mca_code *code,
		 struct tact_estimate *out)
{
	const struct tact_mca_params *params = machine ? machine->opt.params : NULL;
	struct plan plan;

	if (!params || !code || !out)
		return -TACT_E_INVAL;
	plan.opt = &machine->opt;
	plan.dispatch_width = params->dispatch_width;
	plan.reorder_buffer = params->reorder_buffer;
	plan.extent.n_keys = code->n_keys;
	plan.size = mca_machine_size(plan.reorder_buffer) + code->n_keys * sizeof(uint64_t);
	if (tact_grow(&machine->memory, &machine->capacity, plan.size, 1) < 0)
		return -TACT_E_NOMEM;
	simulate(&plan, machine->memory, &code->code, params->forms, out);
	return 0;
}

static int estimate(const void *self, struct tact_block *block, struct tact_estimate *out)
{
	struct tact_mca_options options;
	struct plan plan;
	void *memory;

	if (!block || !block->n_insns || !out || read_options(&options, self) < 0)
		return -TACT_E_INVAL;
	make_plan(&plan, &options, block);
	memory = block_scratch(block, plan.size);
	if (!memory)
		return -TACT_E_NOMEM;
	estimate_in(&plan, memory, block, out);
	return 0;
}

/* ---- a stream ---- */

struct mca_stream {
	struct tact_mca_options opt;
	struct tact_mca_params *derived; /* owned; if the options have none */
	const struct tact_mca_params *params;
	struct mca_machine machine;
	void *memory; /* owned; of the machine; NULL before the first block */
	struct mca_code code;
	size_t insn_capacity, operand_capacity;
	uint64_t *writer; /* owned */
	size_t writer_capacity, n_keys;
};

static void destroy_stream(struct mca_stream *s)
{
	tact_mca_params_destroy(s->derived);
	free(s->memory);
	free(s->code.insns);
	free(s->code.operands);
	free(s->writer);
	free(s);
}

static int stream_open(const void *self, void **stream)
{
	struct mca_stream *s;

	if (!stream)
		return -TACT_E_INVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -TACT_E_NOMEM;
	if (read_options(&s->opt, self) < 0) {
		free(s);
		return -TACT_E_INVAL;
	}
	s->params = s->opt.params;
	*stream = s;
	return 0;
}

/* Room for the code of a block and for its keys. */
static int reserve(struct mca_stream *s, const struct tact_block *block)
{
	struct mca_extent e;

	mca_code_extent(&e, block, s->opt.memory);
	if (tact_grow(&s->code.insns, &s->insn_capacity, e.n_insns, sizeof(*s->code.insns)) < 0 ||
	    tact_grow(&s->code.operands, &s->operand_capacity, e.n_operands,
		      sizeof(*s->code.operands)) < 0 ||
	    tact_grow(&s->writer, &s->writer_capacity, e.n_keys, sizeof(*s->writer)) < 0)
		return -TACT_E_NOMEM;
	s->machine.writer = s->writer;
	if (e.n_keys > s->n_keys) {
		memset(s->writer + s->n_keys, 0, (e.n_keys - s->n_keys) * sizeof(*s->writer));
		s->n_keys = e.n_keys;
	}
	return 0;
}

/* The first block says for which architecture. */
static int start(struct mca_stream *s, const struct tact_block *block)
{
	if (!s->params) {
		int status = tact_mca_params_create(&s->derived, block->arch, NULL);

		if (status < 0)
			return status;
		s->params = s->derived;
	}
	s->memory = malloc(mca_machine_size(s->params->reorder_buffer));
	if (!s->memory)
		return -TACT_E_NOMEM;
	mca_machine_init(&s->machine, s->memory, s->params->dispatch_width,
			 s->params->reorder_buffer, s->writer);
	return 0;
}

static int stream_feed(void *stream, struct tact_block *block)
{
	struct mca_stream *s = stream;
	int status;

	if (!s || !block || !block->n_insns || (s->derived && s->derived->arch != block->arch))
		return -TACT_E_INVAL;
	status = reserve(s, block);
	if (!status && !s->memory)
		status = start(s, block);
	if (status < 0)
		return status;
	/* The stores of another block have other addresses. */
	memset(s->writer + MCA_KEY_STORES, 0, (s->n_keys - MCA_KEY_STORES) * sizeof(*s->writer));
	mca_code_fill(&s->code, block, s->opt.memory, false);
	mca_machine_feed(&s->machine, &s->code, s->params->forms);
	return 0;
}

static int stream_close(void *stream, uint64_t *cycles)
{
	struct mca_stream *s = stream;
	uint64_t total;

	if (!s)
		return -TACT_E_INVAL;
	total = mca_machine_drain(&s->machine);
	if (cycles)
		*cycles = total;
	destroy_stream(s);
	return 0;
}

uint64_t tact_mca_stream_cycles(const void *stream)
{
	const struct mca_stream *s = stream;

	return s && s->machine.tail ? s->machine.now + 1 : 0;
}

const struct tact_model tact_model_mca = {
	.name = "mca",
	.help = "the plain machine of llvm-mca, with parameters to tune",
	.estimate = estimate,
	.stream_open = stream_open,
	.stream_feed = stream_feed,
	.stream_close = stream_close,
};
