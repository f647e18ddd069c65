/* SPDX-License-Identifier: MIT
 *
 * Symbolic addresses: which loads meet which stores, and how stores leave the store buffer.
 */
#ifndef TACT_BLOCK_ADDRESSES_H
#define TACT_BLOCK_ADDRESSES_H

#include "block/block.h"

/* A value known up to a constant: that of register or event `base` plus `offset`.  Constants are
 * added modulo 2^64, as the CPU does.
 */
struct symbol {
	uint32_t base;
	uint64_t offset;
};

struct address {
	uint32_t base, index;
	uint8_t scale, segment;
	uint64_t offset;
};

struct address_walk {
	struct tact_block *block;
	struct symbol value[TACT_N_REGS];
	uint32_t next_symbol;
	size_t n_slots; /* power of two, or 0: nothing depends on addresses */
	bool is_static; /* no register of an address is written */
	uint8_t pass;

	uint64_t offset_before[16]; /* of the general registers, before the last iteration */
	struct address last_line;   /* of the last store, its offset in lines */
	bool lone_store;	    /* the last store has its cycle to itself so far */
	unsigned commit_cycles;
};

/* Decides what has to be followed: w->n_slots is 0 if nothing depends on addresses, and the other
 * functions are then not to be called.  Returns 0 or -TACT_E_NOMEM.
 */
int addresses_init(struct address_walk *w, struct tact_block *block);

/* Iterations until the values are in their steady state. */
void addresses_warm_up(struct address_walk *w);

/* The iteration after that, instruction by instruction: connects a memory input to the store that
 * it meets, if any; then goes past the instruction.
 */
void addresses_connect(const struct address_walk *w, struct block_node *node,
		       const struct block_insn *bi);
void addresses_step(struct address_walk *w, uint32_t i);

/* Iterations behind it: drops what was met by chance, and fills block->store_cycles. */
void addresses_finish(struct address_walk *w);

#endif /* TACT_BLOCK_ADDRESSES_H */
