/* SPDX-License-Identifier: MIT
 *
 * Control flow, over code of files and of buffers: where functions begin that no symbol names,
 * which loops a function has, what stands between markers.  Nothing else knows where execution goes
 * behind an instruction.
 */
#ifndef TACT_CODE_H
#define TACT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "obj/obj.h"

struct code_ranges {
	struct obj_range *items; /* owned; free() it */
	size_t count;
	size_t capacity;
};

/* Returns 0 or -TACT_E_NOMEM. */
int code_ranges_add(struct code_ranges *ranges, size_t section, size_t begin, size_t end);

/* Where the functions of code without symbols begin, in order, the first being that of the gap
 * itself: *starts, offsets in the section, is to be freed.  That is where unwind information says
 * so; where there is none, where the code calls itself.  Returns how many there are, or
 * -TACT_E_NOMEM.
 */
long code_cut_gap(const struct obj_file *obj, const struct obj_function *gap, size_t **starts);

/* Cuts all functions of the file that have no name so.  Large libraries without symbols take their
 * time: they are decoded.  Those of an object stay: its calls are not resolved yet.
 * Returns 0 or -TACT_E_NOMEM, which leaves the functions as they were.
 */
int code_cut_functions(struct obj_file *obj);

/* Appends the innermost loops of a function's code that lie in one piece, in order of address.
 * Returns 0 or -TACT_E_NOMEM.
 */
int code_find_loops(const struct obj_file *obj, const struct obj_range *function,
		    struct code_ranges *loops);

/* True if the range is one basic block: nothing but its last instruction leaves it. */
bool code_is_block(const struct obj_file *obj, const struct obj_range *range);

/* Appends what stands between IACA/OSACA byte markers, over all sections.  A start that is met
 * again counts from the last one; an end without a start is passed over.
 * Returns 0, -TACT_E_NOMEM, or -TACT_E_FORMAT if there are markers but no start with an end.
 */
int code_find_markers(const struct obj_file *obj, struct code_ranges *regions,
		      struct tact_diag *diag);

#endif /* TACT_CODE_H */
