/* SPDX-License-Identifier: MIT
 *
 * Symbolic addresses: which loads meet which stores, and how stores leave the store buffer.
 */
#ifndef TACT_BLOCK_ADDRESSES_H
#define TACT_BLOCK_ADDRESSES_H

#include "block/block.h"

/* The iterations that are followed.  All but the last bring the values into their steady state,
 * and the last must agree with the one before it.  Stores are counted from the third iteration on;
 * where pointers move through lines, more iterations show how often.
 */
enum { LAST_PASS = 4, FIRST_COUNTED_PASS = 3, LAST_MOVING_PASS = 18 };

enum { LINE_BYTES = 64 };

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

	bool confirms;	   /* the last pass is made, which must agree with the one before it */
	bool is_loading;   /* a value that is followed is loaded */
	uint32_t n_walked; /* of block->walked: instructions that are looked at */

	/* Values of the general registers before the last two passes. */
	struct symbol before[2][ISA_MAX_GENERAL];

	/* How stores leave the store buffer: commits.c. */
	struct address last_line; /* of the last store, its offset in lines */
	unsigned run;		  /* stores that leave with the last one so far; 0: it is alone */
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

/* Connects the memory inputs of all instructions, in block->nodes, to the stores that they meet.
 * is_exact is that of struct address_walk.
 */
void addresses_connect(struct address_walk *w, bool is_exact);

/* Takes the walk through one more iteration, whose stores go to commits_take. */
void addresses_walk_on(struct address_walk *w);

/* Counts how the stores leave that a walk has met, and which banks its loads need: fills
 * block->store_cycles and block->bank_loads.  Requires is_met of the instructions.
 */
void commits_count(struct address_walk *w);

/* A store leaves. */
void commits_take(struct address_walk *w, const struct block_store *store);

/* A load takes its banks, see load_bank_bytes. */
void commits_use_banks(struct address_walk *w, const struct block_insn *bi, unsigned offset,
		       unsigned bytes);

#endif /* TACT_BLOCK_ADDRESSES_H */
