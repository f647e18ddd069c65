/* SPDX-License-Identifier: MIT
 *
 * Writes hostile blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "attack.h"

enum { HIDDEN_STEP = 10 /* bytes of mov rax, imm64 */, HIDDEN_ROOM = 6, MAX_HIDDEN = 64 };

void code_move(struct bytes *b, unsigned reg, uint64_t value)
{
	CODE(b, (uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7)));
	put_bytes(b, &value, sizeof(value));
}

void code_hex(struct bytes *b, const char *hex)
{
	uint8_t bytes[512];

	put_bytes(b, bytes, bytes_of(bytes, sizeof(bytes), hex));
}

void code_chain(struct bytes *b)
{
	for (unsigned i = 0; i < ATTACK_CYCLES / 3; i++)
		CODE(b, 0x48, 0x0f, 0xaf, 0xdb); /* imul rbx, rbx */
}

/* Lengths of the instructions; returns their number. */
static unsigned split(unsigned *at, const uint8_t *code, unsigned size)
{
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	unsigned n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (at[0] = 0; at[n] < size; n++) {
		assert_true(n < MAX_HIDDEN &&
			    ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at[n],
								       size - at[n], &zi)));
		at[n + 1] = at[n] + zi.length;
	}
	return n;
}

static bool is_jump(const uint8_t *insn)
{
	return insn[0] == 0xeb || insn[0] == 0xe9 || insn[0] >> 4 == 7 ||
	       (insn[0] == 0x0f && insn[1] >> 4 == 8);
}

/* Lets a jump, short or long, go to where its target is hidden. */
static void translate_jump(uint8_t *insn, const uint8_t *code, const unsigned *at, unsigned n,
			   unsigned which)
{
	const uint8_t *from = code + at[which];
	bool is_short = from[0] == 0xeb || from[0] >> 4 == 7;
	int32_t distance = (int8_t)from[1];
	unsigned target, to = 0, size = 0;

	if (!is_short)
		memcpy(&distance, code + at[which + 1] - 4, sizeof(distance));
	target = at[which + 1] + (unsigned)distance;
	if (from[0] == 0xeb || from[0] == 0xe9) {
		insn[size++] = 0xe9;
	} else {
		insn[size++] = 0x0f;
		insn[size++] = (uint8_t)(is_short ? from[0] + 0x10 : from[1]);
	}
	while (to < n && at[to] != target)
		to++;
	assert_true(to < n);
	distance = ((int32_t)to - (int32_t)which) * HIDDEN_STEP - (int32_t)size - 4;
	memcpy(insn + size, &distance, sizeof(distance));
}

void code_hidden(struct bytes *b, const void *begin, const void *end)
{
	const uint8_t *code = begin;
	unsigned at[MAX_HIDDEN + 1];
	unsigned n = split(at, code, (unsigned)((const uint8_t *)end - code));

	for (unsigned i = 0; i < n; i++) {
		uint8_t mov[HIDDEN_STEP] = {0x48, 0xb8, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
		const uint8_t *insn = code + at[i];

		assert_true(at[i + 1] - at[i] <= HIDDEN_ROOM);
		if (is_jump(insn))
			translate_jump(mov + 2, code, at, n, i);
		else
			memcpy(mov + 2, insn, at[i + 1] - at[i]);
		mov[8] = 0xeb; /* jmp over the next opcode */
		mov[9] = 2;
		put_bytes(b, mov, sizeof(mov));
	}
}

void attack_put(struct attack_sink *sink, struct attack *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(a->what, sizeof(a->what), format, args);
	va_end(args);
	sink->n++;
	sink->put(sink, a);
	a->code.size = 0;
	a->facts = 0;
}
