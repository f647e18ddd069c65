/* SPDX-License-Identifier: MIT
 *
 * How code of an instruction set can be changed: what advice is built with.
 *
 * All functions that write code write to `out`, where there is room for TACT_MAX_INSN_BYTES per
 * instruction, and return the number of bytes; 0: it cannot be done.
 */
#ifndef TACT_ISA_REWRITE_H
#define TACT_ISA_REWRITE_H

#include "isa/isa.h"

/* What the one who follows an advice must know to be right. */
enum isa_assumption {
	ISA_ASSUMES_UPPER_BITS = 1 << 0, /* the other bits of the register are not needed */
	ISA_ASSUMES_SMALL = 1 << 1,	 /* the numbers fit into 32 bits */
	ISA_ASSUMES_FLAGS = 1 << 2,	 /* the flags afterwards are not needed */
	ISA_USES_GENERAL = 1 << 3,	 /* the free register is used */
	ISA_ASSUMES_CONDITION = 1 << 4,	 /* no branch asks for the sign or an overflow alone */
};

enum { ISA_MAX_REPLACEMENT = 3 };

/* One instruction as one or more others. */
struct isa_replacement {
	const char *name; /* stable: that of the advice */
	const char *text; /* what is wrong, and what is done instead */
	unsigned assumes; /* bits of enum isa_assumption */
	uint8_t code[ISA_MAX_REPLACEMENT * TACT_MAX_INSN_BYTES];
	uint8_t size;
};

/* A kind of replacement.  Writes the code and returns true if the instruction has one; name and
 * text are set already.
 */
struct isa_replacement_kind {
	const char *name, *text;
	bool (*make)(const uint8_t *code, size_t size, uint8_t free_general,
		     struct isa_replacement *out);
};

struct isa_rewriter {
	const struct isa_replacement_kind *kinds; /* the last one has no name */

	/* Returns the register that the instruction combines with something by an operation that
	 * can be done in any order, or TACT_REG_NONE; *is_rounded: the order changes the rounding;
	 * *operation: only those of the same value may change places (a sum does not with a
	 * product).
	 */
	uint8_t (*accumulator)(const uint8_t *code, size_t size, bool *is_rounded,
			       unsigned *operation);
	/* Puts register `to` in place of `from`, wherever it is spelled out. */
	size_t (*rename)(const uint8_t *code, size_t size, uint8_t from, uint8_t to, uint8_t *out);
	/* Puts [base + displacement] in place of an address with an index. */
	size_t (*without_index)(const uint8_t *code, size_t size, uint8_t base, uint8_t *out);
	/* Puts a register in place of the memory operand. */
	size_t (*in_register)(const uint8_t *code, size_t size, uint8_t reg, uint8_t *out);
	/* Adds a constant to a general register without touching flags. */
	size_t (*advance)(uint8_t reg, int64_t bytes, uint8_t *out);
	/* A branch to a place `distance` bytes from its first byte, at least as long as `least`. */
	size_t (*branch)(const uint8_t *code, size_t size, int64_t distance, size_t least,
			 uint8_t *out);
	/* n bytes that do nothing, in as few instructions as possible; out has room for n. */
	void (*fill)(uint8_t *out, size_t n);
};

#endif /* TACT_ISA_REWRITE_H */
