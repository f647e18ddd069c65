/* SPDX-License-Identifier: MIT
 *
 * Loops of blocks that have no branch of their own.
 */
#ifndef TACT_LOOPCODE_H
#define TACT_LOOPCODE_H

#include <stddef.h>
#include <stdint.h>

/* Room that a counter needs behind the code. */
enum { LOOPCODE_COUNTER_BYTES = 9 };

/* The harness makes a loop of a block without a branch of its own: it appends dec and jnz of a
 * register that the block does not use.  The same for a prediction: `to` has room for size +
 * LOOPCODE_COUNTER_BYTES.  Returns its size.
 */
size_t loopcode_add_counter(uint8_t *to, const uint8_t *code, size_t size);

#endif /* TACT_LOOPCODE_H */
