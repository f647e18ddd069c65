/* SPDX-License-Identifier: MIT
 *
 * Decides what is refused before it runs, and finds out what must be known to run a block.
 *
 * Two things must agree: an instruction is in the list of encodings here, and LLVM knows it.  The
 * list names what may run; everything else is refused.
 */
#include <stdio.h>
#include <string.h>

#include "measure/aarch64/measure_a64.h"

static const char leaves[] = "leaves the block";
static const char is_system[] = "is a system instruction";
static const char reads_system[] = "accesses a system register";
static const char waits[] = "waits for events";
static const char is_exclusive[] = "needs an exclusive monitor, which does not stay";
static const char has_length[] = "has vectors of another length, or needs a mode for them";

/* The first row that fits counts; `why` NULL: it may run (Arm ARM, C4.1). */
static const struct rule {
	uint32_t mask, value;
	const char *why;
} rules[] = {
	/* ---- branches, exceptions, system: bits 28 to 26 are 101 ---- */
	{0xffe0001f, 0xd4000001, "enters the kernel"},		/* svc */
	{0xffe0001f, 0xd4000002, "is privileged"},		/* hvc */
	{0xffe0001f, 0xd4000003, "is privileged"},		/* smc */
	{0xff000000, 0xd4000000, "is an exception on purpose"}, /* brk, hlt, dcps, tcancel */
	{0xfffffff0, 0xd5031000, waits},			/* wfet and neighbours */
	{0xffffffff, 0xd503201f, NULL},				/* nop */
	{0xffffffff, 0xd503203f, NULL},				/* yield */
	{0xffffffdf, 0xd503205f, waits},			/* wfe, wfi */
	{0xffffffdf, 0xd503209f, waits},			/* sev, sevl */
	{0xffffffff, 0xd50320ff, NULL},				/* xpaclri */
	{0xffffff5f, 0xd503211f, NULL},				/* pacia1716 and the like */
	{0xffffff1f, 0xd503231f, NULL},				/* paciaz, paciasp, ... */
	{0xffffff3f, 0xd503241f, NULL},				/* bti */
	{0xffffffff, 0xd503229f, NULL},				/* csdb */
	{0xfffff000, 0xd5032000, is_system},			/* other hints */
	{0xfffff0ff, 0xd503305f, is_exclusive},			/* clrex */
	{0xfffff0ff, 0xd503309f, NULL},				/* dsb */
	{0xfffff0ff, 0xd50330bf, NULL},				/* dmb */
	{0xffffffff, 0xd5033fdf, NULL},				/* isb */
	{0xffffffff, 0xd50330ff, NULL},				/* sb */
	{0xffffffff, 0xd500401f, NULL},				/* cfinv */
	{0xffffffff, 0xd500403f, NULL},				/* xaflag */
	{0xffffffff, 0xd500405f, NULL},				/* axflag */
	{0xffdfffe0, 0xd51b4200, NULL},				/* msr, mrs nzcv */
	{0xffdfffe0, 0xd51b4400, NULL},				/* fpcr */
	{0xffdfffe0, 0xd51b4420, NULL},				/* fpsr */
	{0xffffffe0, 0xd53bd040, NULL},				/* mrs tpidr_el0 */
	{0xffffffe0, 0xd53b00e0, NULL},				/* mrs dczid_el0 */
	{0xffffff00, 0xd53b9d00, "is not deterministic"},	/* counters */
	{0xffffff00, 0xd53be000, "is not deterministic"},	/* timers */
	{0xffffff00, 0xd53b2400, "is not deterministic"},	/* random numbers */
	{0xffd00000, 0xd5100000, reads_system},			/* msr, mrs */
	{0xffffffe0, 0xd50b7420, NULL},				/* dc zva */
	{0xff000000, 0xd5000000, is_system},
	{0x1c000000, 0x14000000, leaves},

	/* ---- arithmetic ---- */
	{0x1c000000, 0x10000000, NULL}, /* with constants */
	{0x0e000000, 0x0a000000, NULL}, /* with registers */
	{0x0e000000, 0x0e000000, NULL}, /* floating-point numbers and vectors */

	/* ---- loads and stores: bit 27 is 1, bit 25 is 0 ---- */
	{0x3f000000, 0x08000000, NULL}, /* exclusive and ordered ones: see refusal_of_ordered */
	{0xbf9f0000, 0x0c000000, NULL}, /* structures of vectors */
	{0xbf800000, 0x0c800000, NULL},
	{0xbf9f0000, 0x0d000000, NULL},
	{0xbfbf0000, 0x0d200000, NULL},
	{0xbf800000, 0x0d800000, NULL},
	{0x3b000000, 0x18000000, NULL},					  /* literals */
	{0x3f200c00, 0x19000000, NULL},					  /* ldapur and the like */
	{0x3f000000, 0x19000000, "accesses memory tags, or whole areas"}, /* stg, cpy, set */
	{0x3a000000, 0x28000000, NULL},					  /* pairs */
	{0xfffffc00, 0xf83fd000, "is for memory of devices"},		  /* ld64b */
	{0xffe0fc00, 0xf820b000, "is for memory of devices"},		  /* st64bv */
	{0xffe0fc00, 0xf820a000, "is for memory of devices"},
	{0xfffffc00, 0xf83f9000, "is for memory of devices"},
	{0x3a000000, 0x38000000, NULL}, /* one register */
};

/* stxr, ldxr, stxp, casp, ldar, cas: by o2, L, o1 (bits 23 to 21). */
static const char *refusal_of_ordered(uint32_t word)
{
	const unsigned size = a64_field(word, 30, 2), o2 = a64_field(word, 23, 1),
		       o1 = a64_field(word, 21, 1);

	if (o2)
		return NULL; /* ldar, stlr, cas */
	if (o1)
		return size & 2 ? is_exclusive : NULL; /* stxp, ldxp; casp */
	return is_exclusive;
}

const char *measure_a64_refusal(uint32_t word)
{
	if (!(word >> 16))
		return "is undefined on purpose";
	if ((word & 0x1e000000) == 0x04000000 || (word & 0x9e000000) == 0x80000000)
		return has_length; /* SVE, SME */
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if ((word & rules[i].mask) != rules[i].value)
			continue;
		if (!rules[i].why && (word & 0x3f000000) == 0x08000000)
			return refusal_of_ordered(word);
		return rules[i].why;
	}
	return "is not known to be harmless";
}

/* ---- loops ---- */

static bool is_back_edge(const uint8_t *code, size_t at)
{
	uint32_t word = a64_word(code + at), there = word;

	if ((word & 0xfc000000) == 0x94000000) /* bl */
		return false;
	/* If it is made to lead to the start and does not change, it does. */
	return isa_aarch64.retarget((uint8_t *)&there, sizeof(there), -(int64_t)at) &&
	       there == word;
}

/* Returns the register that an instruction counts down by one, or -1.  Not sp. */
static int counted_by(uint32_t word)
{
	const uint32_t reg = word & 31;

	/* sub, subs x, x, #1 */
	return (word & 0xdffffc00) == 0xd1000400 && reg == a64_field(word, 5, 5) &&
			       reg != A64_REG_SP
		       ? (int)reg
		       : -1;
}

/* Whether a branch goes on as long as the register before it is not 0. */
static bool goes_on(uint32_t branch, uint32_t before, int reg)
{
	if ((branch & 0xff00001f) == 0x54000001) /* b.ne, after subs */
		return before >> 29 & 1;
	return (branch & 0xff00001f) == (0xb5000000u | (uint32_t)reg); /* cbnz x */
}

/* ---- registers ---- */

static void note_register(struct measure_screen *s, unsigned reg)
{
	if (isa_is_general(&isa_aarch64, reg))
		s->used |= 1u << reg;
}

/* Notes what an instruction uses; adds to `writes` where it writes a register. */
static void note_operands(struct measure_screen *s, const struct tact_insn *insn,
			  uint8_t writes[A64_N_REGS])
{
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		note_register(s, o->reg);
		note_register(s, o->base);
		note_register(s, o->index);
		if (o->reg < A64_N_REGS && o->access & TACT_ACCESS_WRITE && writes[o->reg] < 2)
			writes[o->reg]++;
		if (o->kind == TACT_OPERAND_MEM && insn->base_change && o->base < A64_N_REGS &&
		    writes[o->base] < 2)
			writes[o->base]++;
	}
	if (insn->attributes & TACT_INSN_PC_RELATIVE)
		s->flags |= TACT_MFLAG_RIP;
}

static void refuse(struct measure_screen *s, enum tact_measure_status status, const uint8_t *code,
		   const char *why, char *reason, size_t reason_size)
{
	char text[96];

	if (tact_isa_format(&isa_aarch64, code, 4, 0, text, sizeof(text)) < 0)
		snprintf(text, sizeof(text), "the word 0x%08x", a64_word(code));
	s->status = status;
	snprintf(reason, reason_size, "%s %s", text, why);
}

static void fail(struct measure_screen *s, const char *why, char *reason, size_t reason_size)
{
	s->status = TACT_MEASURE_DECODE;
	snprintf(reason, reason_size, "%s", why);
}

/* Looks at the branch at the end of a block. */
static void note_branch(struct measure_screen *s, const uint8_t *code, size_t at,
			const uint8_t writes[A64_N_REGS])
{
	const int counter = at ? counted_by(a64_word(code + at - 4)) : -1;

	s->is_loop = true;
	s->branch_size = 4;
	if (counter >= 0 && writes[counter] == 1 &&
	    goes_on(a64_word(code + at), a64_word(code + at - 4), counter))
		s->own_counter = counter;
}

void measure_a64_screen(struct measure_screen *s, const uint8_t *code, size_t size, bool loop,
			char *reason, size_t reason_size)
{
	uint8_t writes[A64_N_REGS] = {0};
	struct tact_insn insn;

	memset(s, 0, sizeof(*s));
	s->own_counter = -1;
	reason[0] = 0;
	if (!size || size % 4) {
		fail(s, size ? "the last instruction is cut short: each has four bytes" : "no code",
		     reason, reason_size);
		return;
	}
	for (size_t at = 0; at < size; at += 4, s->n_insns++) {
		const uint32_t word = a64_word(code + at);
		const char *why = measure_a64_refusal(word);
		int status;

		if (at + 4 == size && is_back_edge(code, at)) {
			note_branch(s, code, at, writes);
			if (loop)
				why = NULL;
		}
		if (why) {
			refuse(s, TACT_MEASURE_REFUSED, code + at, why, reason, reason_size);
			return;
		}
		status = tact_isa_decode(&isa_aarch64, &insn, code + at, 4);
		if (status == -TACT_E_NO_TOOL) {
			fail(s, "AArch64 code needs tact_llvm.so, which is not there", reason,
			     reason_size);
			return;
		}
		if (status < 0) {
			refuse(s, TACT_MEASURE_DECODE, code + at, "is no instruction", reason,
			       reason_size);
			return;
		}
		note_operands(s, &insn, writes);
	}
}
