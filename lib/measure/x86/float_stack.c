/* SPDX-License-Identifier: MIT
 *
 * Keeps the x87 stack from overflowing and underflowing.  Either costs an assist of hundreds of
 * cycles, which no program would pay: the code around a block keeps its stack level.
 *
 * A block is simulated with each number of values that the stack may start with.  If there is one
 * with which it can run forever, the largest is taken.  A block that pushes more than it pops, or
 * the other way around, gets instructions at its end that restore the level: fstp st(0) for each
 * value too many; for each one that is missing, fld of the deepest register that the block does not
 * use (one uop, and it waits for nothing), or fld1.  The flag C says so, because the number includes
 * them.  A block that overflows or underflows within itself is left alone, with the flag O.
 */
#include <string.h>

#include "measure/x86/measure_x86.h"

enum {
	MAX_OPS = 512,	  /* more instructions than the longest block has of two bytes */
	MAX_PASSES = 2048 /* every state of the stack */
};

enum reset { KEEP, TO_EMPTY, TO_MEDIA };

/* What an instruction does, in this order. */
struct stack_op {
	uint8_t reset;	/* enum reset: all registers become empty, or all valid; the top is 0 */
	uint8_t reads;	/* bit i: st(i) must not be empty */
	uint8_t writes; /* bit i: st(i) becomes valid */
	uint8_t frees;	/* bit i: st(i) becomes empty */
	uint8_t pops, moves; /* moves: of the top, without popping, modulo 8 */
	bool pushes;
};

struct stack {
	uint8_t valid, touched; /* bit i: register i, by its own number */
	uint8_t top;
	unsigned faults;
};

struct program {
	struct stack_op op[MAX_OPS];
	size_t n;
	bool has_media;
};

/* ---- what instructions do ---- */

/* The registers of an instruction that does not push are those before it pops. */
static void note_registers(struct stack_op *op, struct program *p,
			   const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < zi->operand_count; i++) {
		ZydisRegister reg = ops[i].reg.value;
		uint8_t bit;

		if (ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_MMX) {
			op->reset = TO_MEDIA;
			p->has_media = true;
		}
		if (ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_X87)
			continue;
		bit = (uint8_t)(1u << ZydisRegisterGetId(reg));
		if (ops[i].actions &
		    (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
			op->reads |= bit;
		if (ops[i].actions & ZYDIS_OPERAND_ACTION_WRITE && !op->pushes)
			op->writes |= bit;
	}
}

/* Returns false for an instruction that has nothing to do with the stack. */
static bool describe(struct stack_op *op, struct program *p, const ZydisDecodedInstruction *zi,
		     const ZydisDecodedOperand *ops)
{
	*op = (struct stack_op){.pops = (uint8_t)x86_float_pops(zi->mnemonic),
				.pushes = x86_float_pushes(zi->mnemonic)};
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_EMMS:
	case ZYDIS_MNEMONIC_FEMMS:
	case ZYDIS_MNEMONIC_FNINIT:
	case ZYDIS_MNEMONIC_FNSAVE:
		op->reset = TO_EMPTY;
		return true;
	case ZYDIS_MNEMONIC_FINCSTP:
		op->moves = 1;
		return true;
	case ZYDIS_MNEMONIC_FDECSTP:
		op->moves = 7;
		return true;
	case ZYDIS_MNEMONIC_FXAM: /* also tells that a register is empty */
		return false;
	default:
		break;
	}
	note_registers(op, p, zi, ops);
	if (zi->mnemonic == ZYDIS_MNEMONIC_FFREE || zi->mnemonic == ZYDIS_MNEMONIC_FFREEP) {
		op->frees = op->reads | op->writes;
		op->reads = op->writes = 0;
	}
	return op->reset || op->reads || op->writes || op->frees || op->pops || op->pushes;
}

static bool read_program(struct program *p, const uint8_t *code, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size; at += zi.length) {
		if (p->n == MAX_OPS ||
		    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &zi, ops)))
			return false;
		p->n += describe(&p->op[p->n], p, &zi, ops);
	}
	return true;
}

/* ---- simulation ---- */

static uint8_t rotate(uint8_t bits, unsigned by)
{
	return (uint8_t)(bits << (by & 7) | bits >> (-by & 7));
}

static unsigned count(unsigned bits)
{
	return (unsigned)__builtin_popcount(bits);
}

static void run_op(struct stack *s, const struct stack_op *op)
{
	if (op->reset) {
		s->valid = op->reset == TO_MEDIA ? 0xff : 0;
		s->top = 0;
		s->touched = 0xff;
	}
	s->faults += count(rotate(op->reads, s->top) & ~s->valid & 0xffu);
	s->valid |= rotate(op->writes, s->top);
	s->valid &= (uint8_t)~rotate(op->frees, s->top);
	s->touched |= rotate(op->reads | op->writes | op->frees, s->top);
	if (op->pushes) {
		s->top = (s->top - 1) & 7;
		s->faults += s->valid >> s->top & 1;
		s->valid |= (uint8_t)(1u << s->top);
		s->touched |= (uint8_t)(1u << s->top);
	}
	for (unsigned i = 0; i < op->pops; i++) {
		s->valid &= (uint8_t) ~(1u << s->top);
		s->touched |= (uint8_t)(1u << s->top);
		s->top = (s->top + 1) & 7;
	}
	s->top = (s->top + op->moves) & 7;
}

static void run_once(struct stack *s, const struct program *p)
{
	for (size_t i = 0; i < p->n; i++)
		run_op(s, &p->op[i]);
}

static struct stack stack_with(unsigned depth)
{
	return (struct stack){.valid = (uint8_t)(0xff00u >> depth), .top = (8 - depth) & 7};
}

/* Counts the faults until the stack is as it was after an earlier iteration. */
static unsigned faults_with(const struct program *p, unsigned depth)
{
	struct stack s = stack_with(depth);
	bool seen[8][256] = {{false}};

	for (unsigned i = 0; i < MAX_PASSES && !seen[s.top][s.valid]; i++) {
		seen[s.top][s.valid] = true;
		run_once(&s, p);
	}
	return s.faults;
}

/* ---- compensation ---- */

static void put(struct measure_screen *s, uint8_t first, uint8_t second)
{
	s->fixup[s->fixup_size++] = first;
	s->fixup[s->fixup_size++] = second;
}

enum { FLD_ST = 0xc0, FLD1 = 0xe8, FSTP_ST = 0xd8, FDECSTP = 0xf6, FINCSTP = 0xf7, FFREE = 0xc0 };

/* Writes what brings the stack after an iteration back to `depth` values. */
static void put_fixup(struct measure_screen *s, const struct stack *after, unsigned depth)
{
	uint8_t valid = rotate(after->valid, 8u - after->top); /* bit i: st(i) */
	uint8_t touched = rotate(after->touched, 8u - after->top);
	uint8_t wanted = (uint8_t)((1u << depth) - 1);
	unsigned n = count(valid);

	s->fixup_size = 0;
	if (valid == (uint8_t)((1u << n) - 1)) { /* values one after the other */
		bool has_constant = n && !(touched >> (n - 1) & 1);

		for (unsigned i = depth; i < n; i++)
			put(s, 0xdd, FSTP_ST);
		for (unsigned i = n; i < depth; i++)
			put(s, 0xd9, has_constant ? (uint8_t)(FLD_ST + i - 1) : FLD1);
		return;
	}
	for (unsigned i = 0; i < 8; i++)
		if (valid >> i & ~wanted >> i & 1)
			put(s, 0xdd, (uint8_t)(FFREE + i));
	for (unsigned i = 0; i < depth; i++) {
		if (valid >> i & 1)
			continue;
		for (unsigned k = 0; k <= i; k++)
			put(s, 0xd9, FINCSTP);
		put(s, 0xd9, FLD1);
		for (unsigned k = 0; k < i; k++)
			put(s, 0xd9, FDECSTP);
	}
}

/* Finds the shortest compensation; the deepest stack of those.  Returns false if there is none. */
static bool compensate(struct measure_screen *s, const struct program *p)
{
	struct measure_screen best = {.fixup_size = sizeof(s->fixup)}, tried = *s;
	bool is_found = false;

	for (int depth = 8; depth >= 0; depth--) {
		struct stack stack = stack_with((unsigned)depth);

		run_once(&stack, p);
		if (stack.faults)
			continue;
		put_fixup(&tried, &stack, (unsigned)depth);
		if (tried.fixup_size >= best.fixup_size)
			continue;
		best = tried;
		best.needs.stack_depth = (unsigned)depth;
		is_found = true;
	}
	if (is_found)
		*s = best;
	return is_found;
}

void measure_x86_level_stack(struct measure_screen *s, const uint8_t *code, size_t size)
{
	struct program p = {.n = 0};
	unsigned fewest = ~0u;

	if (!read_program(&p, code, size))
		return;
	for (int depth = 8; depth >= 0; depth--) {
		unsigned faults = faults_with(&p, (unsigned)depth);

		if (faults >= fewest)
			continue;
		fewest = faults;
		s->needs.stack_depth = (unsigned)depth;
	}
	if (fewest)
		s->flags |= compensate(s, &p) ? TACT_MFLAG_COMPENSATED : TACT_MFLAG_STACK_FAULT;
	s->needs.uses_media = p.has_media && s->needs.stack_depth == 8;
}
