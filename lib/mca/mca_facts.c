/* SPDX-License-Identifier: MIT */
#include "mca/mca_facts.h"

#include <stdlib.h>
#include <string.h>

/* What llvm-mca assumes that a call takes (its option -call-latency). */
enum { CALL_LATENCY = 100 };

struct mca_facts {
	struct facts_code code;
	struct facts_machine machine;
};

void mca_facts_destroy(struct mca_facts *f)
{
	if (!f)
		return;
	FREE_ALL(f->code.facts, f->code.insns, f->code.reads, f->code.writes, f->code.keys);
	FREE_ALL(f->code.places, f->code.wholes, f->machine.files.names, f->machine.writers, f);
}

/* ---- code ---- */

static int add_keys(struct facts_code *c, const struct arch_llvm *llvm, uint16_t reg, bool whole,
		    uint32_t *first, uint16_t *n)
{
	const size_t count = llvm->api->parts(llvm->set, reg, whole, NULL, 0);

	if (tact_grow(&c->keys, &c->keys_capacity, c->n_keys + count, sizeof(*c->keys)) < 0)
		return -TACT_E_NOMEM;
	llvm->api->parts(llvm->set, reg, whole, c->keys + c->n_keys, count);
	for (size_t i = 0; i < count; i++)
		if (c->keys[c->n_keys + i] >= c->key_limit)
			c->key_limit = c->keys[c->n_keys + i] + 1u;
	*first = (uint32_t)c->n_keys;
	*n = (uint16_t)count;
	c->n_keys += count;
	return 0;
}

static int add_reads(struct facts_code *c, const struct arch_llvm *llvm, struct facts_insn *insn)
{
	const struct llvm_facts *f = insn->facts;

	if (tact_grow(&c->reads, &c->reads_capacity, c->n_reads + f->n_reads, sizeof(*c->reads)) <
	    0)
		return -TACT_E_NOMEM;
	insn->first_read = (uint32_t)c->n_reads;
	for (unsigned i = 0; i < f->n_reads; i++) {
		struct facts_read *to = &c->reads[c->n_reads];

		if (f->read[i].is_independent)
			continue;
		to->reg = f->read[i].reg;
		to->advances = f->advance + f->read[i].first_advance;
		to->n_advances = f->read[i].n_advances;
		if (add_keys(c, llvm, f->read[i].reg, false, &to->first_key, &to->n_keys) < 0)
			return -TACT_E_NOMEM;
		c->n_reads++;
		insn->n_reads++;
	}
	return 0;
}

static int add_writes(struct facts_code *c, const struct arch_llvm *llvm, struct facts_insn *insn)
{
	const struct llvm_facts *f = insn->facts;

	if (tact_grow(&c->writes, &c->writes_capacity, c->n_writes + f->n_writes,
		      sizeof(*c->writes)) < 0)
		return -TACT_E_NOMEM;
	insn->first_write = (uint32_t)c->n_writes;
	for (unsigned i = 0; i < f->n_writes; i++) {
		struct facts_write *to = &c->writes[c->n_writes++];

		const struct llvm_write *from = &f->write[i];
		const uint16_t as = from->renaming.as ? from->renaming.as : from->reg;

		*to = (struct facts_write){.latency = from->latency, .write_id = from->write_id};
		to->is_part = as != from->reg && !from->clears_whole;
		if (add_keys(c, llvm, as, from->clears_whole, &to->first_key, &to->n_keys) < 0)
			return -TACT_E_NOMEM;
		if (to->is_part &&
		    add_keys(c, llvm, from->reg, false, &to->first_own, &to->n_own) < 0)
			return -TACT_E_NOMEM;
	}
	insn->n_writes = f->n_writes;
	return 0;
}

/* Finds the keys of what a register is renamed as. */
static int add_whole(struct facts_code *c, const struct arch_llvm *llvm, uint16_t reg,
		     const struct llvm_renaming *renaming)
{
	const uint16_t as = renaming->as ? renaming->as : reg;
	struct facts_whole whole = {0};

	if (!as || (as < c->n_wholes && c->wholes[as].n_keys))
		return 0;
	if (add_keys(c, llvm, as, false, &whole.first_key, &whole.n_keys) < 0 ||
	    tact_grow(&c->wholes, &c->wholes_capacity, c->key_limit, sizeof(*c->wholes)) < 0)
		return -TACT_E_NOMEM;
	if (c->n_wholes < c->key_limit)
		memset(c->wholes + c->n_wholes, 0,
		       (c->key_limit - c->n_wholes) * sizeof(*c->wholes));
	c->n_wholes = c->n_wholes < c->key_limit ? c->key_limit : c->n_wholes;
	c->wholes[as] = whole;
	return 0;
}

static int add_wholes(struct facts_code *c, const struct arch_llvm *llvm,
		      const struct llvm_facts *f)
{
	int status = 0;

	for (unsigned i = 0; i < f->n_reads && f->is_move && status >= 0; i++)
		status = add_whole(c, llvm, f->read[i].reg, &f->read[i].renaming);
	for (unsigned i = 0; i < f->n_writes && f->is_move && status >= 0; i++)
		status = add_whole(c, llvm, f->write[i].reg, &f->write[i].renaming);
	return status;
}

static void begin_code(struct facts_code *c)
{
	c->n_insns = c->n_reads = c->n_writes = c->n_keys = c->n_known = c->n_wholes = 0;
	c->key_limit = 1;
}

/* An instruction that LLVM's model does not know takes a slot and nothing else. */
static void assume(struct llvm_facts *f)
{
	memset(f, 0, sizeof(*f));
	f->micro_ops = f->latency = 1;
}

/* Asks LLVM.  Returns how many instructions it takes the block for, or -TACT_E_*. */
static int ask(struct facts_code *c, const struct tact_block *block)
{
	const size_t n = block->n_insns;

	if (tact_grow(&c->places, &c->places_capacity, n, sizeof(*c->places)) < 0 ||
	    tact_grow(&c->facts, &c->facts_capacity, 2 * n, sizeof(*c->facts)) < 0 ||
	    tact_grow(&c->insns, &c->insns_capacity, 2 * n, sizeof(*c->insns)) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		c->places[i] = (struct llvm_place){block->insns[i].insn->setting,
						   block->insns[i].insn->length};
	return arch_llvm_facts(block->arch->llvm, block->code, c->places, n, c->facts);
}

static int fill_code(struct facts_code *c, const struct tact_block *block)
{
	const struct arch_llvm *llvm = block->arch->llvm;
	size_t n_unknown = 0;
	int n;

	begin_code(c);
	n = ask(c, block);
	if (n < 0)
		return n;
	for (c->n_insns = 0; c->n_insns < (size_t)n; c->n_insns++) {
		struct facts_insn *insn = &c->insns[c->n_insns];
		struct llvm_facts *f = &c->facts[c->n_insns];

		n_unknown += f->status != 0;
		if (f->status)
			assume(f);
		*insn = (struct facts_insn){.facts = f,
					    .demand = units_demand_of(f),
					    .latency = f->is_call ? CALL_LATENCY : f->latency};
		if (add_reads(c, llvm, insn) < 0 || add_writes(c, llvm, insn) < 0 ||
		    add_wholes(c, llvm, f) < 0)
			return -TACT_E_NOMEM;
	}
	c->n_known = n_unknown < block->n_insns ? block->n_insns - n_unknown : 0;
	return 0;
}

/* ---- one block repeated ---- */

static int begin_machine(struct facts_machine *m, const struct facts_code *code,
			 const struct arch_llvm *llvm, const struct tact_mca_options *opt)
{
	m->info = llvm->info;
	m->on_insn = opt->on_insn;
	m->arg = opt->arg;
	m->code = code;
	units_init(&m->units, llvm->info);
	order_init(&m->order, llvm->info, opt->memory == TACT_MCA_ALIAS);
	m->now = m->marked_at = m->ended_at = 0;
	m->head = m->tail = 0;
	m->marked = (uint32_t)(opt->iterations * code->n_insns) - 1;
	m->limit = (m->marked + 1) * (opt->steady ? 2 : 1);
	m->carried = 0;
	m->free_entries = llvm->info->reorder_buffer;
	m->free_link = m->used_links = m->n_waiting = m->n_running = 0;
	for (unsigned i = 0; i < FACTS_FLIGHTS; i++)
		m->flights[i].number = UINT32_MAX;
	if (tact_grow(&m->writers, &m->writers_capacity, code->key_limit, sizeof(*m->writers)) < 0)
		return -TACT_E_NOMEM;
	memset(m->writers, 0, code->key_limit * sizeof(*m->writers));
	return files_init(m);
}

void facts_tell(const struct facts_machine *m, const struct facts_flight *f)
{
	const uint32_t n = (uint32_t)m->code->n_insns;
	/* An eliminated move is never issued. */
	const int32_t issued = f->issued == FACTS_NEVER ? f->executed : f->issued;

	if (!m->on_insn)
		return;
	m->on_insn(m->arg, &(struct tact_mca_event){
				   .iteration = f->number / n,
				   .insn = f->number % n,
				   .micro_ops = f->insn->facts->micro_ops,
				   .dispatched = f->dispatched,
				   .ready = f->ready > issued ? issued : f->ready,
				   .issued = issued,
				   .executed = f->executed,
				   .retired = m->now,
			   });
}

int mca_facts_estimate(struct mca_facts **owned, const struct tact_mca_options *opt,
		       const struct tact_block *block, struct tact_mca_result *out)
{
	struct mca_facts *f = *owned;
	int32_t cycles;
	int status;

	if (!f)
		f = *owned = calloc(1, sizeof(*f));
	if (!f)
		return -TACT_E_NOMEM;
	if ((uint64_t)opt->iterations * block->n_insns > INT32_MAX / 512)
		return -TACT_E_LIMIT;
	status = fill_code(&f->code, block);
	if (status >= 0)
		status = begin_machine(&f->machine, &f->code, block->arch->llvm, opt);
	if (status < 0)
		return status;
	if (block->arch->llvm->info->is_out_of_order)
		facts_run_window(&f->machine);
	else
		facts_run_line(&f->machine);
	cycles = f->machine.ended_at + 1;
	if (opt->steady)
		cycles -= f->machine.marked_at + 1;
	out->cycles_per_iteration = (double)cycles / opt->iterations;
	out->coverage = (double)f->code.n_known / (double)block->n_insns;
	return 0;
}
