/* SPDX-License-Identifier: MIT
 *
 * Reads of everything that might be readable, and ways to say what was read: as an address that
 * faults, as a number of pages, as time, or left behind in memory and registers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

/* What was read is in rcx. */
static const struct {
	const char *hex, *what;
} says[] = {
	{"488b01", "uses it as an address"},
	{"480fb7c9488b01", "uses 16 bits of it as an address"},
	{"48c1e910480fb7c9488b01", "uses the next 16 bits of it as an address"},
	{"48c1e920488b01", "uses its upper half as an address"},
	{"48890c25c0563412", "keeps it in its own page"},
	{"83e10f48c1e10cbf00003422f3aa", "touches as many pages"},
	{"0fb6c9be00003422f3ac", "takes as long"},
	{"83e10131d231c0f7f1", "divides by a bit of it"},
	{"66480f6ec10f58c0", "keeps it in a vector"},
	{"b800003022890c01", "stores at that distance"},
};

/* Registers that tell about the machine; the result goes to rcx. */
static const struct {
	const char *hex, *what;
} sources[] = {
	{"f3480f1ec9", "rdsspq rcx"},
	{"f30fc7f9", "rdpid rcx"},
	{"31c90f01d04889c1", "xgetbv"},
	{"31c90f01f9", "rdtscp"},
	{"0f314889c1", "rdtsc"},
	{"31c90f33", "rdpmc"},
	{"b9010000000f01fd4889c1", "rdpru"},
	{"31c90f01ee4889c1", "rdpkru"},
	{"f3480faec1", "rdfsbase rcx"},
	{"f3480faec9", "rdgsbase rcx"},
	{"0f01e1", "smsw ecx"},
	{"0f00c9", "str ecx"},
	{"0f00c1", "sldt ecx"},
	{"8ce1", "mov ecx, fs"},
	{"8cd1", "mov ecx, ss"},
	{"8cc9", "mov ecx, cs"},
	{"480f02c9", "lar rcx, rcx"},
	{"480f03c9", "lsl rcx, ecx"},
	{"b97b0000000f03c9", "lsl ecx, 0x7b: the CPU's number"},
	{"0f00e1", "verr cx"},
	{"0f01442480488b4c2482", "sgdt"},
	{"0f014c2480488b4c2482", "sidt"},
	{"480fc7f1", "rdrand rcx"},
	{"480fc7f9", "rdseed rcx"},
	{"31c00fa24889d9", "cpuid"},
	{"0fa2", "cpuid"},
	{"0f01c0", "enclv or vmcall"},
	{"0f01d7", "enclu"},
	{"0f01d9", "vmmcall"},
	{"9c59", "pushfq; pop rcx"},
	{"d97424e0488b4c24ec", "fnstenv: the address of the last x87 instruction"},
	{"0fae5c24f88b4c24f8", "stmxcsr"},
	{"0faea42400feffff488b8c2400feffff", "xsave"},
	{"488d0d00000000", "lea rcx, [rip]"},
	{"4889e1", "mov rcx, rsp"},
};

static void put_says(struct attack_sink *sink, struct attack *a, const struct bytes *read,
		     const char *what)
{
	for (unsigned k = 0; k < ARRAY_SIZE(says); k++) {
		put_bytes(&a->code, read->data, read->size);
		code_hex(&a->code, says[k].hex);
		code_chain(&a->code);
		a->facts = ATTACK_CHAIN;
		attack_put(sink, a, "%s, %s", what, says[k].what);
	}
}

void attack_reads(struct attack_sink *sink)
{
	static struct attack a;
	const struct attack_place *p;
	struct bytes read;
	char what[80];

	a.code.size = 0;
	for (unsigned i = 0; (p = attack_place(i)); i++) {
		read.size = 0;
		code_place(&read, RAX, p);
		code_hex(&read, "488b08"); /* mov rcx, [rax] */
		snprintf(what, sizeof(what), "reads %s", p->name);
		put_says(sink, &a, &read, what);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(sources); i++) {
		/* cpuid writes rbx, but is refused */
		read.size = 0;
		code_hex(&read, sources[i].hex);
		put_says(sink, &a, &read, sources[i].what);
	}
	/* The code before and after it, with whatever immediates are there. */
	for (int32_t at = -12288; at < 32768; at += 96) {
		read.size = 0;
		CODE(&read, 0x48, 0x8b, 0x0d); /* mov rcx, [rip + at] */
		put_bytes(&read, &at, sizeof(at));
		put_bytes(&a.code, read.data, read.size);
		code_hex(&a.code, says[(unsigned)at / 96 % ARRAY_SIZE(says)].hex);
		code_chain(&a.code);
		a.facts = ATTACK_CHAIN;
		attack_put(sink, &a, "reads code at %d, %s", (int)at,
			   says[(unsigned)at / 96 % ARRAY_SIZE(says)].what);
	}
	/* Its stack, which may be somebody's. */
	for (int32_t at = -4096; at < 4096; at += 64) {
		CODE(&a.code, 0x48, 0x8b, 0x8c, 0x24); /* mov rcx, [rsp + at] */
		put_bytes(&a.code, &at, sizeof(at));
		code_hex(&a.code, says[1].hex);
		code_chain(&a.code);
		a.facts = ATTACK_CHAIN;
		attack_put(sink, &a, "reads its stack at %d, %s", (int)at, says[1].what);
	}
}
