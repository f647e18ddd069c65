/* SPDX-License-Identifier: MIT
 *
 * Symbolic addresses: which loads meet which stores, and how stores leave the store buffer.
 */
#ifndef TACT_BLOCK_ADDRESSES_H
#define TACT_BLOCK_ADDRESSES_H

#include "block/block.h"

struct address_walk {
	struct tact_block *block;
	struct symbol value[ISA_MAX_REGISTERS];
	uint32_t next_symbol;
	bool is_static; /* no register of an address is written */
	bool is_exact;	/* equal addresses are the same place, others are not (the paper) */
	bool differs;	/* something was known that an exact walk does not know */
	uint8_t pass;
	uint32_t in_addresses; /* bit r: general register r is part of one */
	uint32_t needed;       /* bit r: its value is followed */
	bool needs_all;	       /* those of all other registers, too */

	uint64_t offset_before[ISA_MAX_GENERAL]; /* of the general registers, before the last
						    iteration */
	struct address last_line;		 /* of the last store, its offset in lines */
	unsigned run; /* stores that leave with the last one so far; 0: it is alone */
	unsigned commit_cycles;
	bool counts_banks;
	unsigned bank_use[64]; /* loads of each bank, */
	unsigned bank_passes;  /* in so many iterations */
	/* Of the stack pointer and the frame pointer: bytes from a line, once they are known. */
	uint32_t stack_symbol[2];
	uint8_t stack_shift[2], has_stack_shift;
};

/* Makes room for the stores of a block, by its counts.  Returns 0 or -TACT_E_NOMEM. */
int addresses_reserve(struct tact_block *block);

/* Decides what must be followed.  Returns false if nothing depends on addresses. */
bool addresses_init(struct address_walk *w, struct tact_block *block);

/* Connects the memory inputs of all instructions, in block->nodes, to the stores that they meet,
 * and fills block->store_cycles.  is_exact is that of struct address_walk.
 */
void addresses_connect(struct address_walk *w, bool is_exact);

#endif /* TACT_BLOCK_ADDRESSES_H */
