/* SPDX-License-Identifier: MIT
 *
 * Loops of blocks that have no branch of their own: a counter and a branch to the start, behind the
 * block.  What the harness runs and what a prediction is made of is the same.
 */
#include <string.h>

#include <tact/insn.h>

#include "measure/measure_priv.h"

int measure_free_register(uint16_t used)
{
	for (int r = 15; r >= 0; r--)
		if (r != 4 /* rsp */ && !(used >> r & 1))
			return r;
	return -1;
}

size_t measure_put_counter(uint8_t *to, unsigned reg, size_t distance)
{
	int32_t back = -(int32_t)(distance + 3 + 2);
	uint8_t *p = to;

	*p++ = (uint8_t)(0x48 | reg >> 3); /* dec reg */
	*p++ = 0xff;
	*p++ = (uint8_t)(0xc8 | (reg & 7));
	if (back >= -128) { /* jnz */
		*p++ = 0x75;
		*p++ = (uint8_t)back;
	} else {
		back -= 4;
		*p++ = 0x0f;
		*p++ = 0x85;
		memcpy(p, &back, sizeof(back));
		p += sizeof(back);
	}
	return (size_t)(p - to);
}

/* Bits of the general registers that a block uses. */
static uint16_t used_registers(const uint8_t *code, size_t size)
{
	struct tact_insn insn;
	uint16_t used = 0;

	for (size_t at = 0; at < size;) {
		int length = tact_decode(&insn, code + at, size - at);

		if (length <= 0)
			break;
		for (unsigned k = 0; k < insn.n_operands; k++) {
			const struct tact_operand *op = &insn.operand[k];
			const uint8_t regs[3] = {op->reg, op->base, op->index};

			for (unsigned r = 0; r < 3; r++)
				if (regs[r] < 16)
					used |= (uint16_t)(1u << regs[r]);
		}
		at += (size_t)length;
	}
	return used;
}

size_t tact_measure_loop(uint8_t *to, const uint8_t *code, size_t size)
{
	int reg = measure_free_register(used_registers(code, size));

	memcpy(to, code, size);
	return size + measure_put_counter(to + size, reg < 0 ? 0 : (unsigned)reg, size);
}
