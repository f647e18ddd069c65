/* SPDX-License-Identifier: MIT
 *
 * What registers and memory hold while blocks are executed that nobody executes: enough to tell
 * which loads meet which stores.
 */
#ifndef MIX_VALUES_H
#define MIX_VALUES_H

#include <tact/trace.h>

#include "isa/isa.h"

struct mix_values;

/* Creates a machine whose registers and memory hold numbers of their own.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int mix_values_create(struct mix_values **out, const struct tact_isa *isa);
void mix_values_destroy(struct mix_values *v); /* NULL is allowed */

/* A block's instructions, prepared for the machine. */
struct mix_script;

/* Prepares the code of a block at an address.  Returns 0, -TACT_E_NOMEM, or -TACT_E_DECODE. */
int mix_script_create(struct mix_script **out, const struct tact_isa *isa, const uint8_t *code,
		      size_t size, uint64_t address);
void mix_script_destroy(struct mix_script *script); /* NULL is allowed */

/* Executes a block.  *accesses, valid until the next call, are its loads and stores, in the order of
 * its instructions.  Returns how many there are, or -TACT_E_NOMEM.
 */
long mix_values_run(struct mix_values *v, const struct mix_script *script,
		    const struct tact_trace_access **accesses);

/* The stack pointer before the last instruction, and now: a function leaves it as it was before the
 * call, whatever it does to it in between.
 */
uint64_t mix_values_stack(const struct mix_values *v);
void mix_values_set_stack(struct mix_values *v, uint64_t pointer);

#endif /* MIX_VALUES_H */
