/* SPDX-License-Identifier: MIT
 *
 * Basic blocks of some code.  First the code is decoded, from one place or from many, which leaves
 * marks on its bytes; then it is cut at the marks.
 */
#ifndef TACT_CODE_MAP_H
#define TACT_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>

#include "isa/isa.h"

#define CODE_NONE UINT32_MAX

struct code_block {
	uint32_t begin, end; /* offsets in the code */
	uint32_t last;	     /* offset of the last instruction */
	uint32_t n_insns;
	uint32_t target; /* of a direct jump or branch at its end, an offset; CODE_NONE: none */
	uint8_t flow;	 /* enum tact_flow of the last instruction; NEXT: a block follows */
	bool is_bad;	 /* the last "instruction" is a byte that is not one; flow is STOP */
};

struct code_blocks {
	struct code_block *items; /* owned; free() it */
	size_t n, capacity;
};

/* What is known about a byte of code. */
enum code_mark {
	CODE_LENGTH = 0x0f, /* of the instruction that begins here; 0: none does */
	CODE_LEADER = 0x10, /* a block begins here if an instruction does */
	CODE_END = 0x20,    /* the instruction ends a block */
	CODE_INNER = 0x40,  /* belongs to an instruction that began earlier (descents) */
	CODE_BAD = 0x80	    /* not an instruction */
};

/* What ends a block. */
struct code_transfer {
	uint32_t at;
	uint32_t target; /* as in struct code_block */
	uint8_t flow;
	bool is_bad;
};

struct code_map {
	const struct tact_isa *isa;
	const uint8_t *code; /* the caller's */
	size_t size;
	uint8_t *marks; /* owned; enum code_mark, one per byte and one more at the end */
	struct code_transfer *transfers; /* owned; those that sweeps have met, so that they need not
					    be decoded again */
	size_t n_transfers, capacity;
	bool calls_end;	     /* calls and system calls end a block, and their targets begin one */
	bool is_relocatable; /* targets that the linker still has to fill in lead nowhere */
	bool may_overlap;    /* some instructions begin inside others, so blocks may, too */
};

/* Fills all but the three options, which are false.  Returns 0, -TACT_E_NOMEM, or -TACT_E_LIMIT for
 * 4 GiB of code or more.
 */
int code_map_create(struct code_map *map, const struct tact_isa *isa, const uint8_t *code,
		    size_t size);
void code_map_destroy(struct code_map *map);

/* Marks an instruction at an offset.  Returns whether it ends a block. */
bool code_map_note(struct code_map *map, size_t at, const struct isa_step *step);

/* Tells where an instruction at an offset leads, if its bytes say so: the distance from code[0],
 * which may be outside the code.
 */
bool code_map_target(const struct code_map *map, size_t at, const struct isa_step *step,
		     int64_t *target);

/* Sweeps linearly over a part of the code: a block begins with it, and each byte that is not an
 * instruction ends one.  Parts must not overlap; in order of address they are cut faster.  Returns
 * 0 or -TACT_E_NOMEM.
 */
int code_map_sweep(struct code_map *map, size_t begin, size_t end);

/* Appends the blocks that begin and end in a part, in order.  A block that runs into bytes where no
 * instruction is known is left out.  Returns 0 or -TACT_E_NOMEM.
 */
int code_map_cut(const struct code_map *map, size_t begin, size_t end, struct code_blocks *blocks);

/* Returns the number of the block that contains an offset, for blocks that do not overlap;
 * CODE_NONE if there is none.
 */
uint32_t code_blocks_find(const struct code_blocks *blocks, size_t offset);

#endif /* TACT_CODE_MAP_H */
