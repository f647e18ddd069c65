/* SPDX-License-Identifier: MIT */
#include "code/survey.h"

#include <string.h>

#include "base/base.h"
#include "code/transfers.h"

static void count_step(struct code_survey *s, const struct isa_step *step, size_t at, bool is_last)
{
	const enum tact_flow flow = (enum tact_flow)step->flow;
	const bool jumps = flow == TACT_FLOW_BRANCH || flow == TACT_FLOW_JUMP;

	s->n_calls += flow == TACT_FLOW_CALL;
	s->n_system_calls += flow == TACT_FLOW_KERNEL;
	s->n_indirect += jumps && !step->is_direct;
	s->n_ends += !is_last && !code_goes_on(flow) && !(jumps && step->is_direct);
	if (is_last || !jumps || !step->is_direct)
		return;
	s->n_branches++;
	s->n_inner_loops += step->target <= 0 && (int64_t)at + step->target > 0;
}

void code_look_at(const struct tact_isa *isa, const uint8_t *code, size_t size,
		  struct code_survey *out)
{
	const struct isa_step *step;
	struct code_walk walk;

	*out = (struct code_survey){.last = size};
	code_walk_init(&walk, isa, code, size);
	while ((step = code_walk_next(&walk))) {
		count_step(out, step, walk.at, walk.next >= size);
		out->last = walk.at;
		out->ending = *step;
	}
}

/* ---- the loop around ---- */

/* Tells whether the instruction is one that carries a marker's number. */
static bool is_marker(const struct tact_isa *isa, const uint8_t *code, size_t size, size_t length)
{
	const struct isa_marker *any = isa->markers;

	return isa->n_markers && size - length >= any->suffix_size &&
	       !memcmp(code + length, any->suffix, any->suffix_size);
}

enum {
	READS = TACT_ACCESS_READ | TACT_ACCESS_COND_READ,
	WRITES = TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE
};

static void add_operand(const struct tact_isa *isa, const struct tact_operand *o,
			struct code_registers *r)
{
	uint32_t in_address = 0;

	if (o->kind == TACT_OPERAND_REG) {
		if (o->access & WRITES && isa_is_general(isa, o->reg))
			r->written |= 1u << o->reg;
		return;
	}
	if (o->kind != TACT_OPERAND_MEM)
		return;
	if (isa_is_general(isa, o->base))
		in_address |= 1u << o->base;
	if (isa_is_general(isa, o->index))
		in_address |= 1u << o->index;
	if (o->access & READS) {
		r->in_loads |= in_address;
		r->has_loads = true;
	}
	if (o->access & WRITES) {
		r->in_stores |= in_address;
		r->has_stores = true;
	}
}

void code_add_registers(const struct tact_isa *isa, const uint8_t *code, size_t size,
			struct code_registers *registers)
{
	struct tact_insn insn;

	for (size_t at = 0; at < size;) {
		const int length = isa->decode(&insn, code + at, size - at);

		if (length <= 0) {
			at++;
			continue;
		}
		for (unsigned k = 0;
		     k < insn.n_operands && !is_marker(isa, code + at, size - at, (size_t)length);
		     k++)
			add_operand(isa, &insn.operand[k], registers);
		at += (size_t)length;
	}
}

size_t code_count_insns(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	const struct isa_step *step;
	struct code_walk walk;
	size_t n = 0;

	code_walk_init(&walk, isa, code, size);
	while ((step = code_walk_next(&walk)))
		n += step->is_valid && !step->is_padding &&
		     !is_marker(isa, code + walk.at, size - walk.at, step->length);
	return n;
}

bool code_loop_around(const struct obj_file *obj, const struct obj_range *function,
		      const struct obj_range *part, struct obj_range *loop)
{
	const uint8_t *code = obj->sections[function->section].data;
	const struct isa_step *step;
	struct code_walk walk;

	if (part->section != function->section || part->begin < function->begin ||
	    part->end > function->end)
		return false;
	code_walk_init(&walk, code_isa_of(obj), code + part->end, function->end - part->end);
	while ((step = code_walk_next(&walk))) {
		const int64_t at = (int64_t)(part->end + walk.at), target = at + step->target;
		const enum tact_flow flow = (enum tact_flow)step->flow;

		if (!step->is_direct || (flow != TACT_FLOW_BRANCH && flow != TACT_FLOW_JUMP) ||
		    target > (int64_t)part->begin || target < (int64_t)function->begin)
			continue;
		*loop = (struct obj_range){part->section, (size_t)target, part->end + walk.next};
		return true;
	}
	return false;
}
