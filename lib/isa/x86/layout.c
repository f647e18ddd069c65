/* SPDX-License-Identifier: MIT
 *
 * Where an instruction ends and which of its bytes are its head.  Follows the opcode maps of the
 * Intel SDM vol. 2, appendix A, for 64-bit mode.  The decode cache uses it to find an instruction
 * that it has seen with other constants; whatever is out of the ordinary is left to Zydis.
 */
#include "isa/x86/x86.h"

/* What follows an opcode, a letter each:
 *   . nothing    m ModRM    b imm8    w imm16    z imm16/32    v imm16/32/64    r rel32
 *   B ModRM and imm8        Z ModRM and imm16/32        g ModRM, imm8 if /0 or /1
 *   G ModRM, imm16/32 if /0 or /1        o 8-byte address        e imm16 and imm8
 *   R ModRM and an imm8 that names a register
 *   ? a prefix, an escape, or not an instruction
 */
static const char one_byte_map[] = "mmmmbz??mmmmbz??"  /* 00 */
				   "mmmmbz??mmmmbz??"  /* 10 */
				   "mmmmbz??mmmmbz??"  /* 20 */
				   "mmmmbz??mmmmbz??"  /* 30 */
				   "????????????????"  /* 40: REX */
				   "................"  /* 50 */
				   "???m????zZbB...."  /* 60 */
				   "bbbbbbbbbbbbbbbb"  /* 70 */
				   "BZ?Bmmmmmmmmmmmm"  /* 80 */
				   "..........?....."  /* 90 */
				   "oooo....bz......"  /* a0 */
				   "bbbbbbbbvvvvvvvv"  /* b0 */
				   "BBw.??BZe.w..b?."  /* c0 */
				   "mmmm???.mmmmmmmm"  /* d0 */
				   "bbbbbbbbrr?b...."  /* e0 */
				   "?.??..gG......mm"; /* f0 */

static const char two_byte_map[] = "mmmm?.....?.?m.?"  /* 00 */
				   "mmmmmmmmmmmmmmmm"  /* 10 */
				   "????????mmmmmmmm"  /* 20 */
				   "........?.?....."  /* 30 */
				   "mmmmmmmmmmmmmmmm"  /* 40 */
				   "mmmmmmmmmmmmmmmm"  /* 50 */
				   "mmmmmmmmmmmmmmmm"  /* 60 */
				   "BBBBmmm.?m??mmmm"  /* 70; 78: extrq has two immediates */
				   "rrrrrrrrrrrrrrrr"  /* 80 */
				   "mmmmmmmmmmmmmmmm"  /* 90 */
				   "...mBm??...mBmmm"  /* a0 */
				   "mmmmmmmmmmBmmmmm"  /* b0 */
				   "mmBmBBBm........"  /* c0 */
				   "mmmmmmmmmmmmmmmm"  /* d0 */
				   "mmmmmmmmmmmmmmmm"  /* e0 */
				   "mmmmmmmmmmmmmmmm"; /* f0 */

struct cursor {
	const uint8_t *code;
	size_t size, at;
	bool operand_size; /* 66h */
	bool address_size; /* 67h */
	bool rex_w;
};

static bool is_legacy_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* Skips VEX and EVEX prefixes and the opcode; '?' if the encoding is not one of the usual ones. */
static char vector_opcode(struct cursor *c)
{
	uint8_t first = c->code[c->at];
	size_t prefix = first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;
	unsigned map;
	uint8_t opcode;

	if (c->at + prefix >= c->size)
		return '?';
	map = first == 0xc5   ? 1
	      : first == 0xc4 ? c->code[c->at + 1] & 31u
			      : c->code[c->at + 1] & 7u;
	c->at += prefix;
	opcode = c->code[c->at++];
	if (first != 0x62 && map == 1 && (opcode & 0xfe) == 0x84)
		return '?'; /* jkzd, jknzd (Knights Corner) */
	if (first != 0x62 && map == 3 &&
	    ((opcode >= 0x48 && opcode <= 0x4c) || (opcode >= 0x5c && opcode <= 0x5f) ||
	     (opcode >= 0x68 && opcode <= 0x7f)))
		return 'R';
	if (map == 1)
		return opcode == 0x77 && first != 0x62 ? '.'
		       : two_byte_map[opcode] == 'B'   ? 'B'
						       : 'm';
	return map == 2 ? 'm' : map == 3 ? 'B' : '?';
}

static char legacy_opcode(struct cursor *c)
{
	uint8_t byte;

	if ((c->code[c->at] & 0xf0) == 0x40) {
		c->rex_w = c->code[c->at] & 8;
		if (++c->at >= c->size)
			return '?';
	}
	byte = c->code[c->at++];
	if (byte == 0x8f && c->at < c->size && c->code[c->at] & 0x38)
		return '?'; /* XOP; pop is /0 */
	if (byte != 0x0f)
		return one_byte_map[byte];
	if (c->at >= c->size)
		return '?';
	byte = c->code[c->at++];
	if (byte != 0x38 && byte != 0x3a)
		return two_byte_map[byte];
	c->at++;
	return byte == 0x38 ? 'm' : 'B';
}

/* Skips ModRM and SIB; returns the size of the displacement, or -1. */
static int address_bytes(struct cursor *c, unsigned *reg_field)
{
	unsigned mod, rm, base;

	if (c->at >= c->size)
		return -1;
	mod = c->code[c->at] >> 6;
	rm = c->code[c->at] & 7;
	*reg_field = c->code[c->at] >> 3 & 7;
	c->at++;
	if (mod == 3)
		return 0;
	base = rm;
	if (rm == 4) {
		if (c->at >= c->size)
			return -1;
		base = c->code[c->at++] & 7;
	}
	if (mod == 1)
		return 1;
	return mod == 2 || base == 5 ? 4 : 0;
}

static unsigned immediate_bytes(const struct cursor *c, char what, unsigned reg_field)
{
	unsigned z = c->operand_size && !c->rex_w ? 2 : 4;

	switch (what) {
	case 'b':
	case 'B':
	case 'R':
		return 1;
	case 'w':
		return 2;
	case 'z':
	case 'Z':
		return z;
	case 'v':
		return c->rex_w ? 8 : z;
	case 'r':
		return 4;
	case 'g':
		return reg_field < 2 ? 1 : 0;
	case 'G':
		return reg_field < 2 ? z : 0;
	case 'e':
		return 3;
	default:
		return 0;
	}
}

int x86_layout_of(struct isa_layout *layout, const uint8_t *code, size_t size)
{
	struct cursor c = {.code = code,
			   .size = size < TACT_MAX_INSN_BYTES ? size : TACT_MAX_INSN_BYTES};
	unsigned reg_field = 0, immediate;
	int displacement = 0;
	bool is_evex;
	char what;

	layout->disp_in_head = layout->imm_in_head = layout->imm_is_register = false;
	while (c.at < c.size && is_legacy_prefix(code[c.at])) {
		c.operand_size |= code[c.at] == 0x66;
		c.address_size |= code[c.at] == 0x67;
		c.at++;
	}
	if (c.at >= c.size)
		return 0;
	is_evex = code[c.at] == 0x62;
	if (code[c.at] == 0xc4 || code[c.at] == 0xc5 || is_evex)
		what = vector_opcode(&c);
	else
		what = legacy_opcode(&c);
	if (what == '?' || c.at > c.size)
		return 0;
	layout->imm_is_register = layout->imm_in_head = what == 'R';
	if (what == 'm' || what == 'B' || what == 'R' || what == 'Z' || what == 'g' || what == 'G')
		displacement = address_bytes(&c, &reg_field);
	else if (what == 'o')
		displacement = c.address_size ? 4 : 8;
	if (displacement < 0)
		return 0;
	if (displacement == 1 && is_evex) {
		/* EVEX scales it by a factor that the head does not show: it counts as part of the
		 * head.
		 */
		c.at++;
		displacement = 0;
		layout->disp_in_head = true;
	}
	immediate = immediate_bytes(&c, what, reg_field);
	if (c.at + (size_t)displacement + immediate > c.size)
		return 0;
	layout->head = (uint8_t)c.at;
	layout->disp_size = (uint8_t)displacement;
	layout->imm_size = (uint8_t)immediate;
	layout->length = (uint8_t)(c.at + (size_t)displacement + immediate);
	return layout->length;
}

size_t x86_lay_out(struct isa_layout *layouts, size_t max, const uint8_t *code, size_t size)
{
	size_t n = 0;

	while (n < max && size) {
		struct isa_layout *l = &layouts[n++];

		if (!x86_layout_of(l, code, size)) {
			l->length = 0;
			break;
		}
		code += l->length;
		size -= l->length;
	}
	return n;
}
