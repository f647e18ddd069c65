/* SPDX-License-Identifier: MIT
 *
 * State that outlives a block if nobody resets it: floating-point modes, vectors, segments; and
 * exceptions that are not masked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

static const struct {
	const char *hex, *what;
} sse[] = {
	{"0f57c00f5ec0", "0 / 0"},
	{"b80000c0ff660f6ec00f51c0", "sqrt of a NaN"},
	{"b8010000006 60f6ec0f30f59c0", "a denormal number squared"},
	{"b8ffff7f7f660f6ec0f30f59c0", "an overflow"},
	{"b800000080660f6ec00f5bc00f5ac0", "conversions"},
	{"0f57c00f53c0", "1 / 0, approximately"},
	{"c5fc57c0c5fc5ec0", "0 / 0 in 256 bits"},
	{"62f17c4857c062f17c485ec0", "0 / 0 in 512 bits"},
	{"0fae5c24f8", "stmxcsr"},
	{"f2480f2dc0", "cvtsd2si of whatever is there"},
};

static const struct {
	const char *hex, *what;
} x87[] = {
	{"d9eed9eedef99b", "0 / 0; fwait"},
	{"d9e8d9eedef99b", "1 / 0; fwait"},
	{"d9fb9b", "fsincos of whatever is there"},
	{"d9fa9b", "fsqrt"},
	{"d9c0d9c0d9c0d9c0d9c0d9c0d9c0d9c0d9c09b", "too many on the stack"},
	{"ddd8ddd8ddd8ddd8ddd8ddd8ddd8ddd8ddd89b", "too few on the stack"},
	{"d9ebd9ebd9f99b", "fyl2xp1"},
	{"0f6fc19b", "movq mm0, mm1; fwait"},
	{"db3c24db2c249b", "fstp and fld of 80 bits"},
	{"0f77", "emms"},
};

/* All of these may stay. */
static const struct {
	const char *hex, *what;
} leftovers[] = {
	{"c5fc77", "vzeroall"},
	{"c5f877", "vzeroupper"},
	{"c5fd76c0", "ymm0 full of ones"},
	{"62f17d4874c0", "mask registers"},
	{"c5f847c0c4e1f847c9", "kxor"},
	{"0fefc0", "pxor mm0, mm0: the x87 stack is in use"},
	{"d9d0", "fnop"},
	{"dbe3", "fninit"},
	{"dbe2", "fnclex"},
	{"dde1", "fucom"},
	{"fd", "std"},
	{"fc", "cld"},
	{"f9", "stc"},
	{"0f01ca", "clac"},
	{"0f01cb", "stac"},
	{"0f01ee", "rdpkru"},
	{"31c031c931d20f01ef", "wrpkru of 0"},
	{"83c8ff31c931d20f01ef", "wrpkru of ones: no memory at all"},
	{"f30f01ea", "saveprevssp"},
	{"f30faee8", "incsspd"},
	{"f30f01ee", "clui"},
	{"f30f01ef", "stui"},
	{"f30f01ec", "uiret"},
	{"f30fc7f0", "senduipi"},
	{"c4e27849c0", "tilerelease"},
	{"c4e2784900", "ldtilecfg [rax]"},
	{"c4e2794900", "sttilecfg [rax]"},
	{"c4e27b4b0400", "tileloadd"},
	{"f20f38f800", "enqcmd"},
	{"f30f38f800", "enqcmds"},
	{"f30f3af0c000", "hreset"},
	{"0f01e8", "serialize"},
	{"f20f01e8", "xsusldtrk"},
	{"f20f01e9", "xresldtrk"},
	{"f30f09", "wbnoinvd"},
	{"0f30", "wrmsr"},
	{"0f01d5", "xend"},
	{"0f01d6", "xtest"},
	{"c7f800000000", "xbegin"},
	{"c6f800", "xabort"},
	{"0fae28", "xrstor [rax]"},
	{"0fae08", "fxrstor [rax]"},
	{"0fc718", "xrstors [rax]"},
	{"dd20", "frstor [rax]"},
	{"d920", "fldenv [rax]"},
	{"f3480faed0", "wrfsbase"},
	{"f3480faed8", "wrgsbase"},
	{"f3480faec0", "rdfsbase"},
	{"8ee0", "mov fs, eax"},
	{"8ed8", "mov ds, eax"},
	{"8ed0", "mov ss, eax"},
	{"31c08ed8", "mov ds, 0"},
	{"0f01f8", "swapgs"},
	{"0f00d0", "lldt"},
};

static void put_mode(struct attack *a, const char *load, uint32_t value, const char *hex)
{
	CODE(&a->code, 0x68); /* push value */
	put_bytes(&a->code, &value, sizeof(value));
	code_hex(&a->code, load);
	code_hex(&a->code, "4883c408"); /* add rsp, 8 */
	code_hex(&a->code, hex);
	code_chain(&a->code);
	a->facts = ATTACK_CHAIN;
}

/* Loads and stores through segments. */
static void put_segments(struct attack_sink *sink, struct attack *a)
{
	static const uint32_t offsets[] = {0,	   8,	       0x10,	   0x28,       0x30,
					   0x1000, 0x7fffffff, 0x80000000, 0xfffff000, 0xfffffff8};
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};
	static const char *const ops[] = {"488b0425", "48890425", "488704 25", "48ff3425",
					  "488d0425"};

	for (unsigned p = 0; p < ARRAY_SIZE(prefixes); p++)
		for (unsigned i = 0; i < ARRAY_SIZE(offsets); i++)
			for (unsigned k = 0; k < ARRAY_SIZE(ops); k++) {
				CODE(&a->code, prefixes[p]);
				code_hex(&a->code, ops[k]);
				put_bytes(&a->code, &offsets[i], 4);
				code_hex(&a->code, "488904 25c0563412"); /* keep it */
				code_chain(&a->code);
				a->facts = ATTACK_CHAIN;
				attack_put(sink, a, "segment prefix %x, offset 0x%x, %s",
					   prefixes[p], (unsigned)offsets[i], ops[k]);
			}
}

void attack_state(struct attack_sink *sink)
{
	static struct attack a;

	a.code.size = 0;
	for (unsigned bit = 0; bit < 17; bit++) {
		for (unsigned k = 0; k < ARRAY_SIZE(sse); k++) { /* bit 16 is reserved */
			put_mode(&a, "0fae1424", 0x1f80u ^ 1u << bit, sse[k].hex);
			attack_put(sink, &a, "ldmxcsr 0x%x, then %s", 0x1f80u ^ 1u << bit,
				   sse[k].what);
		}
		for (unsigned k = 0; k < ARRAY_SIZE(x87); k++) {
			put_mode(&a, "d92c24", 0x37fu ^ 1u << bit, x87[k].hex);
			attack_put(sink, &a, "fldcw 0x%x, then %s", 0x37fu ^ 1u << bit,
				   x87[k].what);
		}
	}
	for (unsigned k = 0; k < ARRAY_SIZE(leftovers); k++) {
		code_hex(&a.code, leftovers[k].hex);
		code_chain(&a.code);
		a.facts = ATTACK_CHAIN;
		attack_put(sink, &a, "%s", leftovers[k].what);
	}
	put_segments(sink, &a);
}
