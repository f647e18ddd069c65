/* SPDX-License-Identifier: MIT
 *
 * Control flow, over code of files and of buffers: where functions begin that no symbol names,
 * which loops a function has, which code is between markers.
 *
 * No other module knows where execution goes after an instruction.
 */
#ifndef TACT_CODE_H
#define TACT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/map.h"
#include "isa/isa.h"
#include "obj/obj.h"

/* Returns the instruction set of a file. */
static inline const struct tact_isa *code_isa_of(const struct obj_file *obj)
{
	return obj->isa;
}

struct code_ranges {
	struct obj_range *items; /* owned; free() it */
	size_t count;
	size_t capacity;
};

/* Appends a range.  Returns 0 or -TACT_E_NOMEM. */
int code_ranges_add(struct code_ranges *ranges, size_t section, size_t begin, size_t end);

/* Finds where the functions of code without symbols begin, in order; the first one is the beginning
 * of the gap itself.  Unwind information tells; without it, the targets of the code's own calls.
 * *starts, offsets in the section, is freed by the caller.  Returns how many there are, or
 * -TACT_E_NOMEM.
 */
long code_cut_gap(const struct obj_file *obj, const struct obj_function *gap, size_t **starts);

/* Cuts all functions of the file that have no name in this way.  Large libraries without symbols
 * take a while, because they are decoded.  Functions of an object stay: its calls are not resolved
 * yet.  Returns 0, or -TACT_E_NOMEM, which leaves the functions as they were.
 */
int code_cut_functions(struct obj_file *obj);

/* Cuts functions whose ends no symbol tells behind unconditional jumps and returns, where no jump
 * leads from one side to the other: in hand-written assembly, labels without types and sizes begin
 * functions.  A function whose first byte has a label gets its name; in an object, code without a
 * label is cut, too.  Returns as code_cut_functions.
 */
int code_cut_labels(struct obj_file *obj);

/* Returns whether there is nothing but padding in the range. */
bool code_is_padding(const struct obj_file *obj, const struct obj_range *range);

/* A loop: from its first byte to its last one; other code may lie between. */
struct code_loop {
	struct obj_range range;
	size_t head; /* offset in the section of the block that all its iterations pass */
};

struct code_loops {
	struct code_loop *items; /* owned; free() it */
	size_t count;
	size_t capacity;
};

/* Appends the innermost loops of a function, in order of address.  Returns 0 or -TACT_E_NOMEM. */
int code_find_loops(const struct obj_file *obj, const struct obj_range *function,
		    struct code_loops *loops);

/* Returns whether the range is one basic block: only its last instruction leaves it. */
bool code_is_block(const struct obj_file *obj, const struct obj_range *range);

/* Start markers that no end follows: compilers move code, and may put the end in front of it. */
struct code_lost {
	size_t n_starts;
	uint64_t first; /* address of the first one */
};

/* Appends the code between IACA/OSACA byte markers, over all sections.  If a start is followed by
 * another one, the last counts and the other one is lost; an end without a start is ignored.
 * Returns 0, -TACT_E_NOMEM, or -TACT_E_FORMAT if there are markers but no start with an end.
 */
int code_find_markers(const struct obj_file *obj, struct code_ranges *regions,
		      struct code_lost *lost, struct tact_diag *diag);

/* The same for mere bytes, as their section 0. */
int code_find_markers_in(const struct tact_isa *isa, const void *bytes, size_t size,
			 struct code_ranges *regions, struct code_lost *lost,
			 struct tact_diag *diag);

/* ---- blocks ---- */

/* Visits all basic blocks of a file, section by section and in order of their beginnings: by
 * recursive descent from where code is known to begin, then from what is left.  They may overlap.
 * Stops when visit returns non-zero.  Returns that, 0, -TACT_E_NOMEM, or -TACT_E_LIMIT for a
 * section of 4 GiB or more; *n_bad counts places where code should be, but is not.
 */
int code_recover_blocks(const struct obj_file *obj,
			int (*visit)(void *self, size_t section, const struct code_block *block),
			void *self, uint64_t *n_bad);

/* Straight code that was executed, from several places and in pieces, made into basic blocks: a
 * block ends after a transfer, before a target, and where the number of executions changes.
 */
struct code_nodes;

int code_nodes_create(struct code_nodes **out, const struct tact_isa *isa);
void code_nodes_destroy(struct code_nodes *nodes); /* NULL is allowed */

/* Adds code that was executed `count` times.  Places are byte offsets in a space: a file, memory.
 * Returns 0 or -TACT_E_NOMEM; *undecoded counts code that cannot be decoded.
 */
int code_nodes_add(struct code_nodes *nodes, uint32_t space, uint64_t place, const uint8_t *code,
		   size_t size, uint64_t count, uint64_t *undecoded);

struct code_run {
	uint32_t space;
	uint32_t n_insns;
	uint64_t place, count;
	const uint8_t *code; /* valid until visit returns */
	uint32_t code_size;
	uint32_t transfer_size; /* bytes of the transfer at the end; 0: none */
};

typedef int code_visit_run(void *self, const struct code_run *run);

/* Visits the blocks of everything that was added, in the order in which their first instructions
 * were added.  Stops when visit returns non-zero.  Returns that, 0 or -TACT_E_NOMEM.
 */
int code_nodes_finish(struct code_nodes *nodes, code_visit_run *visit, void *self);

#endif /* TACT_CODE_H */
