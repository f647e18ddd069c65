/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions whose memory QEMU 7.2 accesses in helper functions.
 *
 * A helper looks for callbacks in a list of the virtual CPU, which an instruction with callbacks
 * sets and, if it ends its block, leaves there (before 8.0, QEMU forgets to remove it).  So helpers
 * of code without callbacks would report accesses in the name of code that was executed long
 * before, or follow a list that has gone since translated code was discarded.  Therefore these
 * instructions get a callback in any case: one that does nothing where nothing is traced.
 */
#include "tact_plugin.h"

enum { REGISTERS = 0xc0 }; /* ModRM bytes from here on do not name memory */

static bool is_among(uint8_t c, uint8_t first, uint8_t last)
{
	return c >= first && c <= last;
}

/* Opcodes by the maps of the Intel SDM, volume 2, appendix A; helpers by QEMU's target/i386. */
static bool is_helped_0f(const uint8_t *code, size_t size)
{
	const uint8_t modrm = size > 1 ? code[1] : 0;

	switch (code[0]) {
	case 0xae: /* fxsave, xsave, ... */
	case 0xc7: /* cmpxchg16b, xsavec, ... */
	case 0x1a: /* bndldx, bndstx */
	case 0x1b:
	case 0x00: /* lldt, ... */
	case 0x01:
		return modrm < REGISTERS;
	case 0xf7: /* maskmovq, maskmovdqu */
		return true;
	default:
		return false;
	}
}

static bool is_helped_vex(const uint8_t *code, size_t size)
{
	const uint8_t opcode = code[0] == 0xc5 ? code[2] : code[3];
	const uint8_t map = code[0] == 0xc5 ? 1 : code[1] & 0x1f;

	if (size < 5)
		return map == 1 && opcode == 0xf7;
	return (map == 1 && (opcode == 0xf7 || opcode == 0xae)) ||
	       (map == 2 && (is_among(opcode, 0x2c, 0x2f) || opcode == 0x8c || opcode == 0x8e ||
			     is_among(opcode, 0x90, 0x93))); /* maskmov, gather */
}

bool is_helped(const uint8_t *code, size_t size)
{
	uint8_t modrm;
	size_t i = 0;

	for (; i < size; i++) {
		if (code[i] == 0xf0) /* lock: helpers, if there are threads */
			return true;
		if (code[i] != 0x66 && code[i] != 0xf2 && code[i] != 0xf3 && code[i] != 0x64 &&
		    code[i] != 0x65 && code[i] != 0x67 && code[i] != 0x2e && code[i] != 0x3e)
			break;
	}
	if (i < size && (code[i] & 0xf0) == 0x40)
		i++;
	if (i + 1 >= size)
		return i < size && (code[i] == 0xcb || code[i] == 0xcf); /* far returns */
	modrm = code[i + 1];
	if (code[i] == 0x0f)
		return is_helped_0f(code + i + 1, size - i - 1);
	if (code[i] == 0xc4 || code[i] == 0xc5)
		return size - i >= 4 && is_helped_vex(code + i, size - i);
	if (is_among(code[i], 0xd8, 0xdf) || code[i] == 0x86 || code[i] == 0x87)
		return modrm < REGISTERS; /* x87, xchg */
	if (code[i] == 0xff)
		return (modrm >> 3 & 7) == 3 || (modrm >> 3 & 7) == 5; /* far */
	return code[i] == 0xca || code[i] == 0xcf || code[i] == 0xcb;
}
