/* SPDX-License-Identifier: MIT
 *
 * Layer 5: advice.  A kind of advice is a function that makes drafts of changed code; the advisor
 * encodes each one, predicts it and keeps those that gain.
 */
#ifndef TACT_ADVISOR_H
#define TACT_ADVISOR_H

#include <tact/advice.h>

#include "base/base.h"
#include "base/text.h"
#include "block/block.h"
#include "isa/rewrite.h"

enum {
	ADVICE_MAX_COPIES = 4,
	ADVICE_MAX_DRAFT = (ADVICE_MAX_COPIES + 1) * TACT_ADVICE_MAX_INSNS,
	ADVICE_MAX_FOUND = 16,
	ADVICE_LINES = 64, /* the offsets of a cache line */
};

/* An instruction of changed code. */
struct advice_insn {
	uint8_t code[TACT_MAX_INSN_BYTES];
	uint8_t size;
};

/* Changed code.  The last instruction, if it is the branch of a loop, is encoded again by
 * advice_try, so that it leads to the first byte.
 */
struct advice_draft {
	const char *name;
	struct advice_insn insns[ADVICE_MAX_DRAFT];
	size_t n;
	bool failed; /* something could not be encoded, or there is no room */
	unsigned copies;
	unsigned alignment;
	bool is_placed; /* what gains is the place: it may be no better than another place */
	uint32_t about[TACT_ADVICE_MAX_INSNS]; /* instructions of the block, in order */
	size_t n_about;
	/* filled by advice_try */
	uint8_t code[ADVICE_MAX_DRAFT * TACT_MAX_INSN_BYTES];
	size_t code_size;
	double after;
};

struct advice_found {
	const char *name;
	struct text text, assumes, changes;
	double after;
	uint32_t *insns; /* owned, as is code */
	size_t n_insns;
	uint8_t *code;
	size_t code_size;
	unsigned alignment, copies;
};

struct tact_advisor {
	struct tact_block *block; /* that is advised; borrowed during a run */
	struct tact_block *other; /* owned: the changed one */
	struct tact_advice_options opt;
	const struct isa_rewriter *rewriter;
	bool is_loop_branch; /* the last instruction leads to the first byte */
	double before;
	double best_place;	     /* the least cycles of the block itself, wherever it is */
	double placed[ADVICE_LINES]; /* by offset; negative: not known */
	uint64_t free_general, free_vector; /* bit r: the block does not name it */
	struct advice_draft draft;
	struct advice_found found[ADVICE_MAX_FOUND];
	size_t n_found;
	bool failed; /* out of memory */
};

/* ---- drafts ---- */

/* Begins a draft: empty, or a copy of the block. */
void advice_begin(struct tact_advisor *a, const char *name);
void advice_copy(struct tact_advisor *a);
void advice_add(struct tact_advisor *a, const uint8_t *code, size_t size); /* size 0: it fails */
void advice_add_insn(struct tact_advisor *a, size_t i);			   /* of the block */
void advice_about(struct tact_advisor *a, size_t i);

/* Encodes and predicts the draft.  Returns whether it gains enough; draft.after is set. */
bool advice_try(struct tact_advisor *a);

/* Keeps the draft, which advice_try has liked, and returns its place for texts; NULL: there is no
 * room, or memory.
 */
struct advice_found *advice_keep(struct tact_advisor *a);

/* ---- questions ---- */

static inline const uint8_t *advice_bytes(const struct tact_advisor *a, size_t i, size_t *size)
{
	*size = a->block->insns[i].constants.length;
	return a->block->code + a->block->insns[i].offset;
}

/* Whether instruction i names a register, in addresses or implicitly, too. */
bool advice_uses(const struct tact_block *block, size_t i, unsigned reg);
bool advice_writes(const struct tact_block *block, size_t i, unsigned reg);

/* Takes a free register; TACT_REG_NONE if there is none. */
uint8_t advice_take_general(uint64_t *set);

/* "1 and 3": numbers of instructions as people count them. */
void advice_list(struct text *out, const uint32_t *insns, size_t n);
void advice_mnemonic(const struct tact_advisor *a, size_t i, char *out, size_t size);

/* ---- kinds ---- */

void advise_place(struct tact_advisor *a);
void advise_replacements(struct tact_advisor *a);
void advise_accumulators(struct tact_advisor *a);
void advise_memory(struct tact_advisor *a);
void advise_fusion(struct tact_advisor *a);
void advise_indexes(struct tact_advisor *a);

#endif /* TACT_ADVISOR_H */
