/* SPDX-License-Identifier: MIT
 *
 * The figures of one instruction as the public interface shows them; of CPUs of which LLVM has a model,
 * from its facts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch_llvm.h"

/* One end of a latency, and what LLVM calls it: a register, or a group of flags after the registers. */
struct end {
	uint8_t kind, number, key;
};

enum { MAX_ENDS = 2 * TACT_MAX_OPERANDS + 1 };

static void add_end(struct end *ends, unsigned *n, enum tact_latency_end kind, unsigned number,
		    unsigned key)
{
	if (key != TACT_REG_NONE && *n < MAX_ENDS)
		ends[(*n)++] = (struct end){(uint8_t)kind, (uint8_t)number, (uint8_t)key};
}

static unsigned find_ends(const struct tact_isa *isa, const struct tact_insn *insn, bool written,
			  struct end *ends)
{
	const uint8_t flags = written ? insn->flags_written : insn->flags_read;
	unsigned n = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_REG && o->role == TACT_ROLE_NONE &&
		    o->access & (written ? TACT_ACCESS_WRITE : TACT_ACCESS_READ))
			add_end(ends, &n, TACT_LATENCY_REG, o->number, o->reg);
		if (o->kind != TACT_OPERAND_MEM || written)
			continue;
		add_end(ends, &n, TACT_LATENCY_BASE, o->number, o->base);
		add_end(ends, &n, TACT_LATENCY_INDEX, o->number, o->index);
	}
	/* LLVM's models know one register of flags. */
	if (flags)
		add_end(ends, &n, TACT_LATENCY_FLAGS, 0,
			isa->registers.n + (unsigned)__builtin_ctz(flags));
	return n;
}

/* Cycles until a register is written; 0: LLVM says nothing of it. */
static unsigned latency_of(const struct llvm_facts *f, unsigned key)
{
	unsigned most = 0;

	for (unsigned i = 0; i < f->n_writes; i++)
		for (unsigned s = 0; s < f->write[i].n_spread; s++)
			if (f->write[i].spread[s] == key && f->write[i].latency > most)
				most = f->write[i].latency;
	return most;
}

static bool is_independent(const struct llvm_facts *f, unsigned key)
{
	for (unsigned i = 0; i < f->n_reads; i++)
		for (unsigned s = 0; s < f->read[i].n_spread; s++)
			if (f->read[i].spread[s] == key && f->read[i].is_independent)
				return true;
	return false;
}

static void fill_latencies(struct tact_form_info *info, const struct tact_isa *isa,
			   const struct tact_insn *insn, const struct llvm_facts *f)
{
	struct end from[MAX_ENDS], to[MAX_ENDS];
	const unsigned n_from = find_ends(isa, insn, false, from);
	const unsigned n_to = find_ends(isa, insn, true, to);

	for (unsigned o = 0; o < n_to; o++)
		for (unsigned i = 0; i < n_from && info->n_latencies < TACT_MAX_LATENCIES; i++) {
			const unsigned cycles = latency_of(f, to[o].key);
			const bool waits = !is_independent(f, from[i].key);

			info->breaks_dependence |= !waits;
			info->latencies[info->n_latencies++] = (struct tact_latency){
				.from = from[i].kind,
				.from_number = from[i].number,
				.to = to[o].kind,
				.to_number = to[o].number,
				.cycles = (uint16_t)(!waits || info->is_eliminated ? 0
						     : cycles			   ? cycles
										   : 1),
			};
		}
}

static void fill_ports(struct tact_form_info *info, const struct arch_llvm *llvm,
		       const struct llvm_facts *f)
{
	for (unsigned i = 0; i < f->n_uses && info->n_port_uses < TACT_MAX_PORT_USES; i++) {
		const uint32_t ports = llvm->ports_of[arch_llvm_index(f->use[i].mask)];

		if (!ports || !f->use[i].cycles || f->use[i].is_reserved)
			continue;
		info->port_uses[info->n_port_uses++] =
			(struct tact_port_use){ports, f->use[i].cycles};
		info->uops += f->use[i].cycles;
	}
}

static int fill_by_facts(struct tact_form_info *info, const struct tact_arch *arch,
			 const struct tact_insn *insn, const uint8_t *code)
{
	const struct llvm_place place = {.setting = insn->setting, .length = insn->length};
	const struct arch_llvm *llvm = arch->llvm;
	struct llvm_facts *f = calloc(2, sizeof(*f)); /* an instruction may be two for LLVM */
	int status = -TACT_E_NO_DATA;

	if (!f)
		return -TACT_E_NOMEM;
	if (arch_llvm_facts(llvm, code, &place, 1, f) != 1 || f->status)
		goto out_free;
	info->issued = info->mite = f->micro_ops ? f->micro_ops : 1;
	info->is_eliminated = !f->latency && !f->n_uses && f->n_reads == 1 && f->n_writes == 1;
	fill_ports(info, llvm, f);
	fill_latencies(info, arch->isa, insn, f);
	snprintf(info->source, sizeof(info->source), "LLVM %s, %s", llvm->api->llvm_version,
		 arch->caveat);
	status = 0;
out_free:
	free(f);
	return status;
}

int arch_llvm_form(const struct tact_arch *arch, unsigned form, struct tact_form_info *out)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	const struct tact_isa *isa = arch->isa;
	uint8_t code[TACT_MAX_INSN_BYTES];
	struct tact_insn insn;
	size_t size = 0;
	int status;

	if (form < tact_isa_form_count(isa) && isa->encode_form)
		size = isa->encode_form(isa->forms->name(form), false, code);
	if (!size || tact_isa_decode(isa, &insn, code, size) <= 0)
		return -TACT_E_NO_DATA;
	status = fill_by_facts(&info, arch, &insn, code);
	return status < 0 ? status : tact_fill(out, &info, sizeof(info));
}

int tact_arch_insn(const struct tact_arch *arch, const uint8_t *code, size_t size,
		   struct tact_form_info *out)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	struct tact_insn insn;
	int status;

	if (!arch || !code || !tact_can_fill(out))
		return -TACT_E_INVAL;
	if (tact_isa_decode(arch->isa, &insn, code, size) <= 0)
		return -TACT_E_DECODE;
	if (!arch->llvm)
		return tact_arch_form(arch, insn.form,
				      insn.attributes & TACT_INSN_SAME_REG  ? TACT_SITUATION_SAME
				      : insn.attributes & TACT_INSN_INDEXED ? TACT_SITUATION_INDEXED
									    : TACT_SITUATION_PLAIN,
				      out);
	status = fill_by_facts(&info, arch, &insn, code);
	return status < 0 ? status : tact_fill(out, &info, sizeof(info));
}
