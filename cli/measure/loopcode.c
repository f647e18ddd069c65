/* SPDX-License-Identifier: MIT
 *
 * Loops of blocks that have no branch of their own: what the harness of tact measure runs.
 */
#include "loopcode.h"

#include <string.h>

#include <tact/insn.h>

/* Bits of the general registers that a block uses. */
static unsigned used_registers(const uint8_t *code, size_t size)
{
	unsigned used = 1u << TACT_REG_RSP;
	struct tact_insn insn;

	for (size_t at = 0; at < size;) {
		int length = tact_decode(&insn, code + at, size - at);

		if (length <= 0)
			break;
		for (unsigned k = 0; k < insn.n_operands; k++) {
			const struct tact_operand *op = &insn.operand[k];
			const uint8_t regs[3] = {op->reg, op->base, op->index};

			for (unsigned r = 0; r < 3; r++)
				if (regs[r] < 16)
					used |= 1u << regs[r];
		}
		at += (size_t)length;
	}
	return used;
}

size_t loopcode_add_counter(uint8_t *to, const uint8_t *code, size_t size)
{
	unsigned used = used_registers(code, size), reg = 15;
	uint8_t *p = to + size;
	int32_t back;

	while (reg && used >> reg & 1)
		reg--;
	memcpy(to, code, size);
	*p++ = (uint8_t)(0x48 | reg >> 3);
	*p++ = 0xff;
	*p++ = (uint8_t)(0xc8 | (reg & 7));
	back = -(int32_t)(size + 3 + 2);
	if (back >= -128) {
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
