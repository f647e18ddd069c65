/* SPDX-License-Identifier: MIT
 *
 * What a prediction of a piece of code must know of its control flow: what is left out, which ways
 * lead through it, and what the code around it does.
 */
#ifndef TACT_CODE_SURVEY_H
#define TACT_CODE_SURVEY_H

#include "code/code.h"
#include "code/graph.h"

/* What a walk over all of the code meets. */
struct code_survey {
	size_t n_calls;	       /* to functions */
	size_t n_system_calls; /* to the kernel */
	size_t n_indirect;     /* jumps whose targets are not known */
	size_t n_branches;     /* direct jumps and branches before the last instruction */
	size_t n_inner_loops;  /* of these, those that go back to code that is not the first byte */
	size_t n_ends; /* before the last instruction: returns, and jumps to no known target */
	size_t last;   /* where the last instruction is; the size if there is none */
	struct isa_step ending; /* the last instruction */
};

void code_look_at(const struct tact_isa *isa, const uint8_t *code, size_t size,
		  struct code_survey *out);

/* ---- the loop around ---- */

/* The general registers that occur in some code: bit r is register r. */
struct code_registers {
	uint32_t written;
	uint32_t in_loads, in_stores; /* in their addresses */
	bool has_loads, has_stores;
};

/* Adds the registers of some code.  Bytes of markers count for nothing. */
void code_add_registers(const struct tact_isa *isa, const uint8_t *code, size_t size,
			struct code_registers *registers);

/* Returns how many instructions some code has; those of markers and padding do not count. */
size_t code_count_insns(const struct tact_isa *isa, const uint8_t *code, size_t size);

/* Finds the loop around a part of a function: the first direct branch after it that leads to its
 * first byte or to code before that.  Both are ranges of one section.  Returns false if there is
 * none.
 */
bool code_loop_around(const struct obj_file *obj, const struct obj_range *function,
		      const struct obj_range *part, struct obj_range *loop);

/* ---- settings ---- */

/* Finds the setting (isa.h) that holds at an offset of a function, whichever way leads there; 0: ways
 * differ, or it is not known.  Only for sets that have settings.  Returns 0 or -TACT_E_NOMEM.
 */
int code_setting_at(const struct tact_isa *isa, const uint8_t *code, size_t size,
		    bool is_relocatable, size_t offset, uint16_t *out);

/* ---- ways through code with branches ---- */

/* All ways through some code: out of it, from its first byte; or round a loop, from its head.  A way
 * visits a block at most once.
 */
struct code_paths {
	struct code_graph graph;
	/* Owned; for each block the ways that go on to the next block in memory, and those that
	 * take the transfer at its end; CODE_MANY: at least so many.
	 */
	uint32_t (*n_ways)[2];
	bool is_loop;
	uint32_t head; /* the block where ways begin */
	uint32_t n;    /* ways in all */
	/* The way that code_paths_take found; owned. */
	uint32_t *blocks;
	size_t n_blocks;
};
#define CODE_MANY 1000000u

/* Finds and counts the ways; of a loop, `head` is the offset of its head.  Returns 0, -TACT_E_NOMEM,
 * or -TACT_E_LIMIT for too much code.
 */
int code_paths_create(struct code_paths *paths, const struct tact_isa *isa, const uint8_t *code,
		      size_t size, bool is_relocatable, bool is_loop, size_t head);
void code_paths_destroy(struct code_paths *paths);

/* Takes the i-th way, i < n: those that take fewer early branches come first, so that way 0 goes on
 * to the next instruction wherever that is a way.  A way round a loop begins with its block of
 * least address, so that it ends in a transfer to it.
 */
void code_paths_take(struct code_paths *paths, uint32_t i);

/* Returns whether the way leaves its k-th block by the branch at the end of it, which is not the
 * end of the way.
 */
bool code_paths_is_taken(const struct code_paths *paths, size_t k);

#endif /* TACT_CODE_SURVEY_H */
