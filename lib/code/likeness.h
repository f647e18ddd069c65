/* SPDX-License-Identifier: MIT
 *
 * What belongs together in two versions of a program: instructions and sequences that are alike.
 */
#ifndef TACT_CODE_LIKENESS_H
#define TACT_CODE_LIKENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tact_insn;

/* Hashes an instruction without the numbers that only say where something is: branch targets, and
 * addresses relative to the instruction.  `hash` is that of the instructions before it.
 */
uint64_t code_insn_hash(uint64_t hash, const struct tact_insn *insn);

/* Mixes a number into a hash. */
uint64_t code_mix(uint64_t hash, uint64_t number);

/* Finds the longest sequence of equal numbers that both lists have in this order, and marks its
 * members.  Where the lists are so long that this would take too much time, it only finds what is
 * equal at both ends.  Returns the length of the sequence, or -TACT_E_NOMEM.
 */
long code_align(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, bool *in_a,
		bool *in_b);

#endif /* TACT_CODE_LIKENESS_H */
