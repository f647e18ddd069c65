/* SPDX-License-Identifier: MIT
 *
 * Makes loops of blocks that have no branch of their own, by appending a counter and a branch to
 * the start.  The harness runs the same loop that models predict.
 */
#include <string.h>

#include <tact/insn.h>

#include "measure/measure_priv.h"

int measure_free_register(const struct tact_isa *isa, uint32_t used)
{
	for (int r = isa->registers.n_general - 1; r >= 0; r--)
		if (r != isa->registers.stack_pointer && !(used >> r & 1))
			return r;
	return -1;
}

/* Returns the general registers that a block uses, as bits. */
static uint32_t used_registers(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	struct tact_insn insn;
	uint32_t used = 0;

	for (size_t at = 0; at < size;) {
		int length = tact_isa_decode(isa, &insn, code + at, size - at);

		if (length <= 0)
			break;
		for (unsigned k = 0; k < insn.n_operands; k++) {
			const struct tact_operand *op = &insn.operand[k];
			const uint8_t regs[3] = {op->reg, op->base, op->index};

			for (unsigned r = 0; r < 3; r++)
				if (isa_is_general(isa, regs[r]))
					used |= 1u << regs[r];
		}
		at += (size_t)length;
	}
	return used;
}

size_t tact_measure_loop(const struct tact_isa *isa, uint8_t *to, const uint8_t *code, size_t size)
{
	const struct measure_set *set;
	int reg;

	if (!isa || !to || !code)
		return 0;
	set = measure_set_of(isa);
	memcpy(to, code, size);
	if (!set)
		return size;
	reg = measure_free_register(isa, used_registers(isa, code, size));
	return size + set->put_counter(to + size, reg < 0 ? 0 : (unsigned)reg, size);
}
