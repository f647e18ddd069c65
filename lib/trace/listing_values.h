/* SPDX-License-Identifier: MIT
 *
 * Addresses of code that nobody runs: as far as values of registers follow from those at entry, by
 * the rules that blocks have (lib/block/addresses.c); every other value is one of its own.
 */
#ifndef TRACE_LISTING_VALUES_H
#define TRACE_LISTING_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>

struct listing_values {
	uint64_t value[256]; /* by register */
	uint64_t n_fresh;    /* values that follow from nothing */
	const struct tact_isa *isa;
};

enum { LISTING_MOST_ACCESSES = 8 }; /* of an instruction */

/* At entry: the same value everywhere, except for stack and frame pointer. */
void listing_values_init(struct listing_values *values, const struct tact_isa *isa);

/* Executes an instruction, number `insn` of its block.  Writes its accesses as words of a trace,
 * loads first, and returns how many there are.
 */
size_t listing_execute(struct listing_values *values, const struct tact_insn *what, unsigned insn,
		       uint64_t *words);

#endif /* TRACE_LISTING_VALUES_H */
