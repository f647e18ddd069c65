/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Addresses of prefetch instructions.
 *
 * To QEMU they are instructions that do nothing, so that no access is reported, and before version 9
 * a plugin cannot ask for registers.  But translated code calls a plugin's function directly, and on
 * an x86-64 host it keeps in rbp, wherever it goes, where the state of the virtual CPU is (TCG_AREG0
 * in QEMU's tcg/i386), which begins with the general registers (CPUX86State in target/i386).
 *
 * Nobody has promised that.  So it is checked against the addresses of loads, which QEMU reports
 * itself: only after many of them have agreed is anything believed, and after one that does not
 * agree, never again.
 *
 * Registers are there as of the last time that QEMU has stored them: the reader, which can decode
 * all instructions, finds out which of them may be out of date (WIRE_PREFETCH_LAGS).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "qemu_plugin_api.h"
#include "tact_plugin.h"

#ifdef __x86_64__

enum {
	GENERAL = 16,	    /* registers; as the number of a register: none, which is 0 */
	CHECKED = 64,	    /* loads that have to agree */
	CHECKED_KINDS = 3,  /* different registers in their addresses */
	CHECKED_PLACES = 32 /* instructions: they cost time as long as the program runs */
};

enum trust { TRUST_NEVER, TRUST_NOT_YET, TRUST_FULL };

/* An address of x86-64 code. */
struct operand {
	uint64_t constant; /* all of it that is no register */
	uint64_t mask;	   /* of 32 or 64 bits */
	uint8_t base, index, shift;
};

struct prefetch {
	uint64_t word; /* of the stream, without the address */
	struct operand operand;
};

/* An instruction with an address. */
struct parsed {
	uint8_t escape; /* 0x0f, or 0 */
	uint8_t opcode;
	uint8_t reg; /* of the ModRM byte */
	struct operand operand;
};

static enum trust trust;
static unsigned n_places; /* loads that are checked */
static struct operand places[CHECKED_PLACES];
static unsigned n_agreed, agreed_registers; /* bits */

/* ---- instructions ---- */

static uint64_t signed_bytes(const uint8_t *code, size_t size)
{
	int32_t wide;

	if (size == 1)
		return (uint64_t)(int64_t)(int8_t)code[0];
	memcpy(&wide, code, sizeof(wide));
	return (uint64_t)(int64_t)wide;
}

/* Parses ModRM, SIB and displacement (Intel SDM, volume 2, tables 2-2, 2-3 and 2-5).  What follows
 * them in the instruction does not matter, except that addresses may count from its end.
 */
static bool parse_operand(const uint8_t *code, size_t size, uint8_t rex, uint64_t end,
			  struct operand *out)
{
	const uint8_t mod = size ? code[0] >> 6 : 3, rm = size ? code[0] & 7 : 0;
	size_t at = 1, bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	if (mod == 3)
		return false;
	out->base = (uint8_t)(rm | (rex & 1) << 3);
	out->index = GENERAL;
	out->shift = 0;
	out->constant = 0;
	if (rm == 4) {
		const uint8_t sib = at < size ? code[at] : 0;

		if (at++ >= size)
			return false;
		out->base = (uint8_t)((sib & 7) | (rex & 1) << 3);
		out->index = (uint8_t)((sib >> 3 & 7) | (rex >> 1 & 1) << 3);
		out->shift = sib >> 6;
		if (out->index == 4)
			out->index = GENERAL;
		if (!mod && (sib & 7) == 5) {
			out->base = GENERAL;
			bytes = 4;
		}
	} else if (!mod && rm == 5) {
		out->base = GENERAL;
		out->constant = end;
		bytes = 4;
	}
	if (at + bytes > size)
		return false;
	if (bytes)
		out->constant += signed_bytes(code + at, bytes);
	return true;
}

/* Parses an instruction with at most one escape byte and an address without a segment. */
static bool parse(const uint8_t *code, size_t size, uint64_t address, struct parsed *out)
{
	uint8_t rex = 0;
	size_t at = 0;

	out->operand.mask = UINT64_MAX;
	for (; at < size; at++) {
		if (code[at] == 0x67)
			out->operand.mask = UINT32_MAX;
		else if (code[at] != 0x66 && code[at] != 0xf2 && code[at] != 0xf3 &&
			 code[at] != 0x2e && code[at] != 0x3e && code[at] != 0x26 &&
			 code[at] != 0x36)
			break;
	}
	if (at < size && (code[at] & 0xf0) == 0x40)
		rex = code[at++];
	out->escape = at < size && code[at] == 0x0f ? code[at++] : 0;
	if (at + 1 >= size)
		return false;
	out->opcode = code[at++];
	out->reg = (uint8_t)((code[at] >> 3 & 7) | (rex >> 2 & 1) << 3);
	return parse_operand(code + at, size - at, rex, address + size, &out->operand);
}

static bool is_prefetch(const struct parsed *p)
{
	return p->escape && (p->opcode == 0x0d || (p->opcode == 0x18 && (p->reg & 7) <= 3));
}

/* A load whose address can be computed after it, too. */
static bool is_checkable(const struct parsed *p)
{
	return !p->escape && p->opcode == 0x8b && p->operand.base != GENERAL &&
	       p->operand.base != p->reg && p->operand.index != p->reg;
}

static uint64_t address_of(const struct operand *o, const uint64_t *registers)
{
	uint64_t address = o->constant;

	if (o->base != GENERAL)
		address += registers[o->base];
	if (o->index != GENERAL)
		address += registers[o->index] << o->shift;
	return address & o->mask;
}

/* ---- callbacks of translated code ---- */

static void distrust(void)
{
	__atomic_store_n(&trust, TRUST_NEVER, __ATOMIC_RELAXED);
}

/* Returns whether there are registers: asked once for each virtual CPU, of the kernel, because a
 * wrong pointer may lead anywhere.
 */
static bool has_registers(struct vcpu *v, const uint64_t *state)
{
	uint64_t copy[GENERAL];
	struct iovec local = {copy, sizeof(copy)},
		     remote = {(void *)(uintptr_t)state, sizeof(copy)};

	if (v->registers == state)
		return true;
	/* It does not move; before the first check it may have been another thread's. */
	if (v->registers || (uintptr_t)state % sizeof(*state) ||
	    process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)sizeof(copy)) {
		distrust();
		return false;
	}
	v->registers = state;
	return true;
}

/* Called by the stubs below. */
void prefetch_executed(unsigned index, const struct prefetch *p, const uint64_t *state);
void prefetch_check(unsigned index, qemu_plugin_meminfo_t info, uint64_t address,
		    const struct operand *operand, const uint64_t *state);

__attribute__((used, visibility("hidden"))) void
prefetch_executed(unsigned index, const struct prefetch *p, const uint64_t *state)
{
	struct vcpu *v = &plugin.vcpus[index];
	uint64_t address;

	if (__atomic_load_n(&trust, __ATOMIC_RELAXED) != TRUST_FULL || !v->defined ||
	    !has_registers(v, state))
		return;
	address = address_of(&p->operand, state);
	/* What cannot be an address becomes the last one, which no program has. */
	if ((uint64_t)((int64_t)(address << 16) >> 16) != address)
		address = WIRE_ADDRESS;
	stream_put(v, p->word | (address & WIRE_ADDRESS));
}

__attribute__((used, visibility("hidden"))) void
prefetch_check(unsigned index, qemu_plugin_meminfo_t info, uint64_t address,
	       const struct operand *operand, const uint64_t *state)
{
	unsigned registers;

	/* When a signal is delivered, stores are reported in the name of any instruction. */
	if (__atomic_load_n(&trust, __ATOMIC_RELAXED) == TRUST_NEVER ||
	    qemu_plugin_mem_is_store(info) || !has_registers(&plugin.vcpus[index], state))
		return;
	if (address_of(operand, state) != address) {
		distrust();
		return;
	}
	if (__atomic_load_n(&trust, __ATOMIC_RELAXED) == TRUST_FULL)
		return;
	registers = __atomic_or_fetch(&agreed_registers, 1u << operand->base, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&n_agreed, 1, __ATOMIC_RELAXED) >= CHECKED &&
	    __builtin_popcount(registers) >= CHECKED_KINDS)
		__atomic_store_n(&trust, TRUST_FULL, __ATOMIC_RELAXED);
}

/* Pass rbp on as one more argument. */
void prefetch_executed_stub(unsigned index, void *userdata);
void prefetch_check_stub(unsigned index, qemu_plugin_meminfo_t info, uint64_t address,
			 void *userdata);

__asm__(".text\n"
	".hidden prefetch_executed_stub\n"
	".globl prefetch_executed_stub\n"
	".type prefetch_executed_stub, @function\n"
	"prefetch_executed_stub:\n"
	"	mov %rbp, %rdx\n"
	"	jmp prefetch_executed\n"
	".size prefetch_executed_stub, . - prefetch_executed_stub\n"
	".hidden prefetch_check_stub\n"
	".globl prefetch_check_stub\n"
	".type prefetch_check_stub, @function\n"
	"prefetch_check_stub:\n"
	"	mov %rbp, %r8\n"
	"	jmp prefetch_check\n"
	".size prefetch_check_stub, . - prefetch_check_stub\n");

/* ---- translation ---- */

bool is_repeating(const char *target)
{
	return !strcmp(target, "x86_64");
}

void prefetch_begin(const char *target)
{
	if (!strcmp(target, "x86_64") && !plugin.is_counting)
		trust = TRUST_NOT_YET;
}

/* The first loads of a program are checked: they are in the code that starts it, as a rule. */
static void check_load(struct qemu_plugin_insn *insn, const struct parsed *p)
{
	if (n_places == CHECKED_PLACES || !is_checkable(p))
		return;
	places[n_places] = p->operand;
	qemu_plugin_register_vcpu_mem_cb(insn, prefetch_check_stub, QEMU_PLUGIN_CB_R_REGS,
					 QEMU_PLUGIN_MEM_RW, &places[n_places++]);
}

static bool parse_insn(const struct qemu_plugin_tb *tb, size_t i, struct parsed *out,
		       struct qemu_plugin_insn **insn)
{
	*insn = qemu_plugin_tb_get_insn(tb, i);
	return parse(qemu_plugin_insn_data(*insn), qemu_plugin_insn_size(*insn),
		     qemu_plugin_insn_vaddr(*insn), out);
}

/* Finds the prefetches of a block, once: it may be translated again. */
static void find_prefetches(const struct qemu_plugin_tb *tb, struct block *b)
{
	struct qemu_plugin_insn *insn;
	struct parsed p;
	size_t n = 0;

	for (size_t i = 0; i < b->n_insns; i++)
		n += parse_insn(tb, i, &p, &insn) && is_prefetch(&p);
	if (n)
		b->prefetches = calloc(n, sizeof(*b->prefetches));
	if (!b->prefetches)
		return;
	for (size_t i = 0; i < b->n_insns && i < WIRE_PREFETCH_INSNS; i++)
		if (parse_insn(tb, i, &p, &insn) && is_prefetch(&p))
			b->prefetches[b->n_prefetches++] =
				(struct prefetch){.word = WIRE_PREFETCH | WIRE_PREFETCH_LAGS |
							  (uint64_t)i << WIRE_INSN_SHIFT,
						  .operand = p.operand};
}

void prefetch_watch(struct qemu_plugin_tb *tb, struct block *b)
{
	struct qemu_plugin_insn *insn;
	struct parsed p;

	if (__atomic_load_n(&trust, __ATOMIC_RELAXED) == TRUST_NEVER)
		return;
	if (!b->is_parsed)
		find_prefetches(tb, b);
	b->is_parsed = true;
	for (size_t i = 0; i < b->n_insns && n_places < CHECKED_PLACES; i++)
		if (parse_insn(tb, i, &p, &insn))
			check_load(insn, &p);
	for (size_t i = 0; i < b->n_prefetches && b->is_inside; i++) {
		insn = qemu_plugin_tb_get_insn(tb, b->prefetches[i].word >> WIRE_INSN_SHIFT &
							   (WIRE_PREFETCH_INSNS - 1));
		qemu_plugin_register_vcpu_insn_exec_cb(insn, prefetch_executed_stub,
						       QEMU_PLUGIN_CB_R_REGS, &b->prefetches[i]);
	}
}

#else

void prefetch_begin(const char *target)
{
	(void)target;
}

void prefetch_watch(struct qemu_plugin_tb *tb, struct block *b)
{
	(void)tb, (void)b;
}

#endif
