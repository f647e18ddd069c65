/* SPDX-License-Identifier: MIT
 *
 * Which registers of the program QEMU has stored where a plugin can see them.
 *
 * Within a block QEMU keeps registers to itself.  They are stored before each access to memory,
 * because that may fail, and at the end of the block.  A value that is written between two of these
 * is stored at once if it is the one that counts at the second of them (la_global_sync in QEMU's
 * tcg/tcg.c).  If it is overwritten before, it is never stored, and perhaps not even computed: QEMU
 * does not know that a prefetch reads it.
 */
#include "isa/isa.h"
#include "trace/events.h"

/* Returns whether QEMU accesses memory.  Instructions that only name an address, such as those that
 * flush a line, or long ones that do nothing, have no result.
 */
static bool stores_registers(const struct tact_insn *insn)
{
	if (insn->attributes & TACT_INSN_STORE)
		return true;
	if (!(insn->attributes & TACT_INSN_LOAD) || insn->attributes & TACT_INSN_NOP)
		return false;
	if (insn->flags_written)
		return true;
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_REG &&
		    insn->operand[i].access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE))
			return true;
	return false;
}

static uint64_t bit_of(const struct tact_isa *isa, unsigned reg)
{
	return isa_is_general(isa, reg) ? (uint64_t)1 << reg : 0;
}

static uint64_t registers_of_address(const struct tact_isa *isa, const struct tact_insn *insn)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_MEM)
			bits |= bit_of(isa, insn->operand[i].base) |
				bit_of(isa, insn->operand[i].index);
	return bits;
}

static uint64_t written_by(const struct tact_isa *isa, const struct tact_insn *insn)
{
	uint64_t bits = insn->pointer_change ? bit_of(isa, insn->pointer_reg) : 0;

	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_REG &&
		    insn->operand[i].access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE))
			bits |= bit_of(isa, insn->operand[i].reg);
	return bits;
}

static void add_prefetch(struct trace_registers *r, uint64_t registers, uint32_t number,
			 uint8_t *widths)
{
	widths[number] = TRACE_PREFETCH;
	if (!registers)
		return;
	if (r->n_at_risk == TRACE_AT_RISK) {
		widths[number] = TRACE_PREFETCH_LAGS;
		return;
	}
	r->at_risk[r->n_at_risk].insn = number;
	r->at_risk[r->n_at_risk++].registers = registers;
}

void trace_follow_registers(struct trace_registers *r, const struct tact_isa *isa,
			    const struct tact_insn *insn, uint32_t number, uint8_t *widths)
{
	const bool is_prefetch = isa_prefetch_level(isa, insn) != 0;
	const uint64_t written = written_by(isa, insn);

	if (is_prefetch) {
		add_prefetch(r, registers_of_address(isa, insn) & r->written, number, widths);
	} else if (stores_registers(insn)) { /* before it writes them */
		r->written = 0;
		r->n_at_risk = 0;
	}
	for (unsigned i = 0; i < r->n_at_risk; i++)
		if (written & r->at_risk[i].registers)
			widths[r->at_risk[i].insn] = TRACE_PREFETCH_LAGS;
	r->written |= written;
}
