/* SPDX-License-Identifier: MIT */
#include "isa/mc.h"

#include <stdio.h>
#include <string.h>

#include "llvm/llvm.h"

/* Bits of vectors whose length the CPU chooses: all have so many (SVE; RISC-V's V). */
enum { LEAST_VECTOR = 128 };

static const struct llvm_api *open_module(const struct mc_set *set, struct llvm_set **module,
					  struct tact_diag *diag)
{
	return llvm_open(module, set->spec, diag);
}

int mc_check(const struct mc_set *set, struct tact_diag *diag)
{
	struct llvm_set *module;

	return open_module(set, &module, diag) ? 0 : -TACT_E_NO_TOOL;
}

/* ---- decoding ---- */

static struct tact_operand *add_operand(struct tact_insn *insn, uint8_t kind, uint8_t access)
{
	struct tact_operand *o;

	if (insn->n_operands == TACT_MAX_OPERANDS)
		return NULL;
	o = &insn->operand[insn->n_operands++];
	*o = (struct tact_operand){.kind = kind,
				   .access = access,
				   .number = TACT_REG_NONE,
				   .explicit_operand = true,
				   .reg = TACT_REG_NONE,
				   .base = TACT_REG_NONE,
				   .index = TACT_REG_NONE,
				   .scale = 1,
				   .segment = TACT_REG_NONE};
	return o;
}

/* Takes a register out of those that are read, once: it is a part of an address. */
static void take_out(struct llvm_insn *x, uint8_t reg)
{
	for (unsigned i = x->n_operands; i-- > 0 && reg != TACT_REG_NONE;)
		if (x->operand[i].reg == reg && x->operand[i].access == LLVM_READ) {
			x->operand[i].access = 0;
			return;
		}
}

static void add_address(const struct mc_set *set, struct tact_insn *insn, struct llvm_insn *x,
			const uint8_t *code)
{
	struct mc_address address = {.base = TACT_REG_NONE, .index = TACT_REG_NONE, .scale = 1};
	struct tact_operand *o;

	if ((!x->loads && !x->stores) || !set->find_address(&address, code, x->length))
		return;
	x->loads &= !address.only_stores;
	x->stores &= !address.only_loads;
	o = add_operand(
		insn, TACT_OPERAND_MEM,
		(uint8_t)((x->loads ? TACT_ACCESS_READ : 0) | (x->stores ? TACT_ACCESS_WRITE : 0)));
	take_out(x, address.base);
	take_out(x, address.index);
	o->number = 0;
	o->bits = address.bits ? address.bits : LEAST_VECTOR;
	o->base = address.base;
	o->index = address.index;
	o->scale = address.scale;
	insn->displacement = address.displacement;
	insn->base_change = address.base_change;
	insn->attributes |= (x->loads ? TACT_INSN_LOAD : 0u) | (x->stores ? TACT_INSN_STORE : 0u) |
			    (address.index != TACT_REG_NONE ? TACT_INSN_INDEXED : 0u) |
			    (address.displacement ? TACT_INSN_DISPLACED : 0u) |
			    (address.is_pc_relative ? TACT_INSN_PC_RELATIVE : 0u);
}

static void add_register(const struct mc_set *set, struct tact_insn *insn,
			 const struct llvm_operand *from)
{
	const struct isa_registers *registers = &set->isa->registers;
	struct tact_operand *o;

	if (from->reg >= registers->n) {
		const uint8_t group = (uint8_t)(1u << (from->reg - registers->n));

		insn->flags_read |= from->access & LLVM_READ ? group : 0;
		insn->flags_written |= from->access & LLVM_WRITE ? group : 0;
		return;
	}
	o = from->access ? add_operand(insn, TACT_OPERAND_REG, 0) : NULL;
	if (!o)
		return;
	o->access = (uint8_t)((from->access & LLVM_READ ? TACT_ACCESS_READ : 0) |
			      (from->access & LLVM_WRITE ? TACT_ACCESS_WRITE : 0));
	o->explicit_operand = from->is_explicit;
	o->bits = from->bits;
	o->reg = from->reg;
	if (isa_is_vector(set->isa, from->reg))
		insn->attributes |= TACT_INSN_VECTOR;
}

static void fill_flow(struct tact_insn *insn, const struct llvm_insn *x)
{
	static const uint8_t flows[] = {[LLVM_NEXT] = TACT_FLOW_NEXT,
					[LLVM_BRANCH] = TACT_FLOW_BRANCH,
					[LLVM_JUMP] = TACT_FLOW_JUMP,
					[LLVM_CALL] = TACT_FLOW_CALL,
					[LLVM_RETURN] = TACT_FLOW_RETURN};

	insn->flow = flows[x->flow];
	if (x->flow == LLVM_NEXT)
		return;
	insn->attributes |= TACT_INSN_BRANCH;
	insn->attributes |= x->flow == LLVM_BRANCH   ? TACT_INSN_COND_BRANCH
			    : x->flow == LLVM_CALL   ? TACT_INSN_CALL
			    : x->flow == LLVM_RETURN ? TACT_INSN_RET
						     : 0u;
	insn->immediate_bits = 0;
	if (x->has_target) {
		insn->immediate = x->target - x->length;
		insn->immediate_bits = 32;
	}
}

/* A module that is gone cannot be told from bytes that are none: whoever chose the set has loaded it.
 */
int mc_decode(const struct mc_set *set, struct tact_insn *insn, const uint8_t *code, size_t size)
{
	struct llvm_insn x = {.size = sizeof(x)};
	struct llvm_set *module;
	const struct llvm_api *api = open_module(set, &module, NULL);
	const int length = api ? api->decode(module, code, size, &x) : -TACT_E_NO_TOOL;

	if (length <= 0)
		return length == -TACT_E_NO_TOOL ? length : -TACT_E_DECODE;
	memset(insn, 0, sizeof(*insn));
	insn->form = insn->mnemonic = x.opcode;
	insn->length = x.length;
	insn->immediate = x.immediate;
	insn->immediate_bits = x.has_immediate ? 32 : 0;
	insn->attributes = x.is_move ? TACT_INSN_MOVE : 0;
	add_address(set, insn, &x, code);
	for (unsigned i = 0; i < x.n_operands; i++)
		add_register(set, insn, &x.operand[i]);
	for (uint8_t i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_REG)
			insn->operand[i].number = i < 15 ? i : TACT_REG_NONE;
	fill_flow(insn, &x);
	set->refine(insn, code);
	return insn->length;
}

int mc_format(const struct mc_set *set, const uint8_t *code, size_t code_size, uint64_t address,
	      char *text, size_t size)
{
	struct llvm_set *module;
	const struct llvm_api *api = open_module(set, &module, NULL);

	return api ? api->format(module, code, code_size, address, text, size) : -TACT_E_NO_TOOL;
}

size_t mc_scan(const struct mc_set *set, unsigned step, struct isa_step *steps, size_t max,
	       const uint8_t *code, size_t size)
{
	struct tact_insn insn;
	size_t n = 0;

	for (size_t at = 0; at < size && n < max; at += steps[n++].length) {
		const size_t left = size - at;

		steps[n] = (struct isa_step){.length = (uint8_t)(left < step ? left : step),
					     .flow = TACT_FLOW_STOP};
		if (mc_decode(set, &insn, code + at, left) <= 0)
			continue;
		steps[n].length = insn.length;
		steps[n].flow = insn.flow;
		steps[n].is_valid = true;
		steps[n].is_padding = set->is_padding(code + at, insn.length);
		steps[n].is_direct = isa_flow_target(&insn, &steps[n].target);
		steps[n].may_be_relocated = steps[n].is_direct && !steps[n].target;
	}
	return n;
}

/* ---- what it is, as text ---- */

void mc_cut_mnemonic(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%.*s", (int)strcspn(text, " \t"), text);
}
