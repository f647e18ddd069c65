/* SPDX-License-Identifier: MIT
 *
 * Control flow of one function's code: basic blocks and where they lead.
 */
#ifndef TACT_CFG_H
#define TACT_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFG_NONE UINT32_MAX

enum cfg_flow {
	CFG_NEXT,   /* goes on with the next instruction; calls too */
	CFG_BRANCH, /* conditional, direct */
	CFG_JUMP,   /* unconditional, direct */
	CFG_STOP,   /* return, indirect jump, ud2, hlt: where it goes on is unknown */
	CFG_BAD	    /* not an instruction */
};

struct cfg_block {
	uint32_t begin, end;   /* offsets in the code */
	uint32_t successor[2]; /* block numbers: branch target, next in memory; CFG_NONE if none */
	enum cfg_flow flow;    /* of the last instruction */
};

struct cfg {
	struct cfg_block *blocks; /* owned; sorted by address, covering all of the code */
	size_t n_blocks, capacity;
};

/* One instruction: its length and flow, and for direct branches the offset of the target. */
struct cfg_insn {
	enum cfg_flow flow;
	bool is_call; /* direct call; flow is CFG_NEXT */
	uint8_t length;
	int64_t target;
};

/* `is_relocatable`: a 32-bit displacement of 0 waits for the linker and leads nowhere.
 * Returns 0, -TACT_E_NOMEM, or -TACT_E_LIMIT for 1 GiB of code and more.
 */
int cfg_create(struct cfg *cfg, const uint8_t *code, size_t size, bool is_relocatable);
void cfg_destroy(struct cfg *cfg);

/* Walks over code: calls visit for each instruction until it returns non-zero, and returns that;
 * 0 at the end.  Bytes that are no instruction come as CFG_BAD of length 1.
 */
int cfg_walk(const uint8_t *code, size_t size, bool is_relocatable,
	     int (*visit)(void *self, size_t offset, const struct cfg_insn *insn), void *self);

/* Dominator tree, in a form that answers "does a dominate b?" at once. */
struct cfg_dominators {
	uint32_t *place; /* owned: preorder place of each block in the dominator tree */
	uint32_t
		*span; /* number of blocks that it dominates, itself included; in the same memory */
};

/* Returns 0 or -TACT_E_NOMEM. */
int cfg_dominators_create(struct cfg_dominators *dom, const struct cfg *cfg);
void cfg_dominators_destroy(struct cfg_dominators *dom);

static inline bool cfg_dominates(const struct cfg_dominators *dom, uint32_t a, uint32_t b)
{
	return dom->place[b] - dom->place[a] < dom->span[a];
}

/* Predecessors of all blocks: those of b are list[first[b]] .. list[first[b + 1] - 1]. */
struct cfg_predecessors {
	uint32_t *first; /* owned */
	uint32_t *list;	 /* in the same memory */
};

int cfg_predecessors_create(struct cfg_predecessors *pred, const struct cfg *cfg);
void cfg_predecessors_destroy(struct cfg_predecessors *pred);

#endif /* TACT_CFG_H */
