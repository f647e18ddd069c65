/* SPDX-License-Identifier: MIT
 *
 * Stack pointers that lead elsewhere, and flags that a block must not keep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

/* With rsp as it was set. */
static const struct {
	const char *hex, *what;
} uses[] = {
	{"90", "nothing: the way back must not need it"},
	{"50", "push rax"},
	{"58", "pop rax"},
	{"6a00", "push 0"},
	{"9c", "pushfq"},
	{"9d", "popfq"},
	{"c9", "leave"},
	{"c8080000", "enter 8, 0"},
	{"c8ffff1f", "enter 65535, 31"},
	{"8f0424", "pop [rsp]"},
	{"ff3424", "push [rsp]"},
	{"488704 24", "xchg [rsp], rax"},
	{"31c0488904 24", "mov [rsp], 0"},
	{"488b0424488b00", "mov rax, [rsp]; mov rax, [rax]"},
	{"48875c24f848875c24f8", "xchg [rsp - 8], rbx twice"},
	{"66505866", "a prefix at the end"},
	{"0fa1", "pop fs"},
	{"665066584883ec02", "push ax; pop ax; sub rsp, 2"},
	{"4883c4015058", "add rsp, 1; push rax; pop rax"},
	{"4881ec00f0ff7f50", "sub rsp, 2 GB; push rax"},
};

/* After a change of flags. */
static const struct {
	const char *hex, *what;
} after[] = {
	{"90", "nothing"},
	{"488b4001", "a misaligned load"},
	{"488b403c", "a load across lines"},
	{"be00563412bf00563412a4", "movsb"},
	{"be00563412bf00563412f348a5", "rep movsq"},
	{"9c58", "pushfq; pop rax"},
	{"f8f5", "clc; cmc"},
	{"9e9f", "sahf; lahf"},
	{"0fa2", "cpuid"},
	{"fa", "cli"},
	{"0f1000", "movups xmm0, [rax]"},
	{"d9c0d8c1", "fld st0; fadd st1"},
	{"f0480101", "lock add [rcx], rax"},
};

static void put_flags(struct attack_sink *sink, struct attack *a, uint32_t flags, unsigned k)
{
	CODE(&a->code, 0x68); /* push flags; popfq */
	put_bytes(&a->code, &flags, sizeof(flags));
	CODE(&a->code, 0x9d);
	code_hex(&a->code, after[k].hex);
	code_chain(&a->code);
	a->facts = ATTACK_CHAIN;
	attack_put(sink, a, "popfq of 0x%x, then %s", (unsigned)flags, after[k].what);
}

void attack_stack(struct attack_sink *sink)
{
	static const uint32_t sets[] = {0x0,	 0xffffffff, 0x240fd7, 0x40100, 0x4500,
					0x44500, 0x254dd5,   0x3000,   0x20000, 0x10000};
	static struct attack a;
	const struct attack_place *p;

	a.code.size = 0;
	for (unsigned i = 0; (p = attack_place(i)); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(uses); k++) {
			code_place(&a.code, RSP, p);
			code_hex(&a.code, uses[k].hex);
			code_chain(&a.code);
			a.facts = ATTACK_CHAIN;
			attack_put(sink, &a, "rsp at %s, then %s", p->name, uses[k].what);
		}
	for (unsigned k = 0; k < ARRAY_SIZE(after); k++) {
		for (unsigned bit = 0; bit < 32; bit++)
			put_flags(sink, &a, 1u << bit | 2, k);
		for (unsigned i = 0; i < ARRAY_SIZE(sets); i++)
			put_flags(sink, &a, sets[i], k);
	}
}
