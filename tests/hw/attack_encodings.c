/* SPDX-License-Identifier: MIT
 *
 * Bytes that a decoder may read differently from the CPU: prefixes in odd orders, reserved bits,
 * lengths that vendors disagree on.  If the CPU sees another instruction than the screen does, it
 * may be a jump or a system call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

/* Before an opcode; legacy prefixes after REX make it void. */
static const char *const prefixes[] = {
	"",	  "66",	    "f2",     "f3",   "f0",   "2e",	"36",	 "3e",	  "26",
	"64",	  "65",	    "67",     "40",   "48",   "4f",	"6648",	 "4866",  "f348",
	"48f3",	  "48f2",   "66f3",   "f366", "f2f3", "f3f2",	"66f2",	 "6667",  "f06648",
	"3e66",	  "2e2e2e", "f3f3f3", "6640", "4048", "484048", "48 64", "f3 64", "66f0f2",
	"666666", "f0f2",   "f0f3",   "3ef2", "f23e", "67f3",	"4867",	 "d500",  "d548",
};

/* Opcodes that must never run, or whose length or meaning differs. */
static const char *const opcodes[] = {
	/* control flow: jumps, calls, returns, also with 16-bit operands (AMD), and notrack */
	"e900000000",
	"e800000000",
	"eb00",
	"7400",
	"0f8400000000",
	"0f8500000000",
	"e300",
	"e200",
	"e000",
	"ffe0",
	"ffd0",
	"ff20",
	"ff28",
	"ff18",
	"c3",
	"c20800",
	"cb",
	"ca0800",
	"cf",
	/* the kernel */
	"0f05",
	"0f07",
	"0f34",
	"0f35",
	"cd80",
	"cd03",
	"cc",
	"f1",
	"ce",
	"0f01c1",
	"0f01d9",
	"0f01d8",
	"0f01da",
	"0f01df",
	"0f01c8",
	"0f01c9",
	"0f01fa",
	"0f01fb",
	"0f01fc",
	"0f01fd",
	"0f01fe",
	"0f01ff",
	"0f01d0",
	"0f01d1",
	"0f01d5",
	"0f01d6",
	"0f01ee",
	"0f01ef",
	"0f01ca",
	"0f01cb",
	"0f01cf",
	"0f01e8",
	"0f01ea",
	"0f01ec",
	"0f01ed",
	"0f01f8",
	"0f01f9",
	"0f01c5",
	"0f01c0",
	"0f01c2",
	"0f01c6",
	"0f01c7",
	"0f01d4",
	"0f01d7",
	"0f01de",
	"0f0138",
	"0f0110",
	/* undefined on purpose; UD0 has a ModRM byte on some CPUs and none on others */
	"0f0b",
	"0fb9c0",
	"0fb900",
	"0fffc0",
	"0fff00",
	"0fff",
	"0fb9",
	"d6",
	"82c001",
	"8200ff",
	"0f0f c0b4",
	"0f0fc000",
	"0f0f000d",
	"0f0e",
	"0f0dc0",
	"0f0d00",
	"0f18c0",
	"0f19c0",
	"0f1ac0",
	"0f1bc0",
	"0f1a00",
	"0f1b00",
	"0f1cc0",
	"0f1dc0",
	"0f1efa",
	"0f1efb",
	"0f1ec8",
	"0f1fc0",
	"0f2400",
	"0f2600",
	"0f20c0",
	"0f22c0",
	"0f21c0",
	"0f23c0",
	"0f36",
	"0f37",
	"0f3f",
	"0f39",
	"0f3b",
	"0f3c",
	"0f04",
	"0f0a",
	"0f0c",
	"0f7b",
	"0f7a",
	"0f78c0",
	"0f79c0",
	"0fa6c0",
	"0fa7c0",
	"0fa7c8",
	"0fa6c8",
	"0fb8 00000000",
	"0faa",
	"0fa2",
	"0f30",
	"0f31",
	"0f32",
	"0f33",
	"0f06",
	"0f08",
	"0f09",
	"0fa0",
	"0fa1",
	"0fa8",
	"0fa9",
	"0fb2 00",
	"0fb400",
	"0fb500",
	"c400",
	"c500",
	"0fc7f0",
	"0fc7f8",
	"0fc730",
	"0fc738",
	"0fc708",
	"0fc710",
	"0fc718",
	"0fc728",
	"0faec0",
	"0faec8",
	"0faed0",
	"0faed8",
	"0faee0",
	"0faee8",
	"0faef0",
	"0faef8",
	"0fae00",
	"0fae08",
	"0fae10",
	"0fae18",
	"0fae20",
	"0fae28",
	"0fae30",
	"0fae38",
	"0f00c0",
	"0f00d0",
	"0f00d8",
	"0f00e0",
	"0f00f0",
	"0f00f8",
	"c6f800",
	"c7f800000000",
	"c6c800",
	"c7c000000000",
	"fff8",
	"ff38",
	"fef0",
	"f6c800",
	"f7c800000000",
	"d9d1",
	"d9e2",
	"dbe0",
	"dbe1",
	"dbe4",
	"dfe1",
	"dde8",
	"8fc0",
	"8fc8",
	"8f e878c0c0",
	"8fe97812c0",
	"8fe97812c8",
	"8fea7810c000000000",
	"63c0",
	"6c",
	"6d",
	"6e",
	"6f",
	"e400",
	"e600",
	"ec",
	"ee",
	"f4",
	"fa",
	"fb",
	"0ff0 00",
	"0fe6c0",
	"0fd6c0",
	"9a",
	"ea",
	"60",
	"61",
	"62",
	"06",
	"27",
	"37",
	"d4 0a",
	"d50a",
	"9d",
	"9c",
	"cd",
	"c8ffff01",
	"a100000000",
	"a3 00000000",
	"0f38f000",
	"0f38f100",
	"0f38f6c0",
	"0f38f8 00",
	"0f38f900",
	"0f38dcc0",
	"0f38d800",
	"0f38ca00",
	"0f38c8c0",
	"0f3af0c000",
	"0f3acc00 00",
	"0f38 8000",
	"0f388100",
	"0f3882 00",
	"0f38f500",
	"0f38fac0",
	"0f38fbc0",
	"0f38fcc0",
};

/* VEX, XOP and EVEX: maps, lengths and prefixes that are reserved. */
static void put_vector(struct attack_sink *sink, struct attack *a)
{
	static const uint8_t opcode[] = {0x10, 0x77, 0x58, 0xae, 0x49, 0x4b, 0xf7,
					 0xf3, 0x92, 0xa0, 0x0b, 0x05, 0x34, 0xff};

	for (unsigned first = 0; first < 4; first++)
		for (unsigned x = 0; x < 256; x += 5)
			for (unsigned k = 0; k < ARRAY_SIZE(opcode); k += 1 + (x & 1)) {
				switch (first) {
				case 0:
					CODE(&a->code, 0xc5, (uint8_t)x, opcode[k], 0xc1);
					break;
				case 1:
					CODE(&a->code, 0xc4, (uint8_t)(0xe0 | (x & 31)),
					     (uint8_t)(x * 3), opcode[k], 0xc1);
					break;
				case 2:
					CODE(&a->code, 0x62, (uint8_t)(0xf0 | (x & 15)),
					     (uint8_t)(x * 7), (uint8_t)(x * 11), opcode[k], 0xc1);
					break;
				default:
					CODE(&a->code, 0x8f, (uint8_t)(0xe8 | (x & 7)),
					     (uint8_t)(x * 3), opcode[k], 0xc1);
				}
				code_chain(&a->code);
				attack_put(sink, a, "vector prefix %u, payload 0x%x, opcode 0x%x",
					   first, x, opcode[k]);
			}
}

/* Too long, cut short, and hidden: a system call in the immediate of what may have none. */
static void put_lengths(struct attack_sink *sink, struct attack *a)
{
	for (unsigned n = 1; n < 18; n++)
		for (unsigned k = 0; k < ARRAY_SIZE(opcodes); k += 7) {
			for (unsigned i = 0; i < n; i++)
				CODE(&a->code, i & 1 ? 0x66 : 0x2e);
			code_hex(&a->code, opcodes[k]);
			attack_put(sink, a, "%u prefixes before %s, at the end", n, opcodes[k]);
		}
	for (unsigned k = 0; k < ARRAY_SIZE(prefixes); k++) {
		code_hex(&a->code, prefixes[k]);
		code_hex(&a->code, "b80f050f05"); /* mov eax, ...: syscall; syscall */
		code_hex(&a->code, prefixes[k]);
		code_hex(&a->code, "e90f050f05");
		attack_put(sink, a, "immediates of another size, with %s", prefixes[k]);
		code_hex(&a->code, prefixes[k]);
		code_hex(&a->code, "69c00f050f05"); /* imul eax, eax, ... */
		code_hex(&a->code, prefixes[k]);
		code_hex(&a->code, "f7c00f050f05"); /* test eax, ... */
		code_hex(&a->code, prefixes[k]);
		code_hex(&a->code, "68 0f050f05"); /* push ... */
		attack_put(sink, a, "more immediates of another size, with %s", prefixes[k]);
		/* A branch of its own, to its start. */
		code_hex(&a->code, "48ffc9");
		code_hex(&a->code, prefixes[k]);
		CODE(&a->code, 0x75, (uint8_t) - (a->code.size + 2));
		attack_put(sink, a, "dec rcx, and jnz with %s", prefixes[k]);
		code_hex(&a->code, "48ffc9");
		code_hex(&a->code, prefixes[k]);
		CODE(&a->code, 0x0f, 0x85, (uint8_t) - (a->code.size + 6), 0xff, 0xff, 0xff);
		attack_put(sink, a, "dec rcx, and a long jnz with %s", prefixes[k]);
	}
}

void attack_encodings(struct attack_sink *sink)
{
	static struct attack a;

	a.code.size = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(prefixes); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(opcodes); k++) {
			code_hex(&a.code, prefixes[i]);
			code_hex(&a.code, opcodes[k]);
			code_chain(&a.code);
			attack_put(sink, &a, "prefixes '%s' before %s", prefixes[i], opcodes[k]);
		}
	put_vector(sink, &a);
	put_lengths(sink, &a);
}
