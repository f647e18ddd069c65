/* SPDX-License-Identifier: MIT
 *
 * Which instructions of some code the tables of CPUs have no data for.
 */
#ifndef TACT_PROGRAM_COVERAGE_H
#define TACT_PROGRAM_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACT_COVERAGE_MAX_ARCHS = 64 };

/* A form without data, or a kind of instruction that the tables do not know. */
struct tact_gap {
	char name[96];
	unsigned form;	  /* TACT_FORM_NONE: the tables do not know it */
	size_t count;	  /* of instructions */
	uint64_t missing; /* bit i: on the i-th architecture */
	uint8_t example[TACT_MAX_INSN_BYTES];
	uint8_t example_size;
};

struct tact_coverage; /* belongs to one thread at a time */

/* Creates a count for n architectures of one instruction set, which must outlive it.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, n is 0 or more than TACT_COVERAGE_MAX_ARCHS, or the
 *                  architectures have different instruction sets
 *   -TACT_E_NOMEM  out of memory
 */
int tact_coverage_create(struct tact_coverage **out, const struct tact_arch *const *archs, size_t n,
			 struct tact_diag *diag);

/* Frees a count.  NULL is allowed. */
void tact_coverage_destroy(struct tact_coverage *coverage);

/* Counts the instructions of a block.
 * Returns 0, or
 *   -TACT_E_INVAL   an argument is missing
 *   -TACT_E_DECODE  the code has bytes that are not an instruction, diag says where: the
 *                   instructions before them count, the block does not
 *   -TACT_E_NOMEM   out of memory
 */
int tact_coverage_add(struct tact_coverage *coverage, const uint8_t *code, size_t size,
		      struct tact_diag *diag);

/* Return the number of blocks and of instructions that were counted; 0 for NULL. */
size_t tact_coverage_blocks(const struct tact_coverage *coverage);
size_t tact_coverage_insns(const struct tact_coverage *coverage);

/* Lists all gaps, the most frequent first.  The list is owned by the count and valid until the next
 * call of this function.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory
 */
int tact_coverage_gaps(struct tact_coverage *coverage, const struct tact_gap **gaps, size_t *n);

/* Returns the number of instructions without data on the i-th architecture, in the gaps that were
 * listed last; 0 if there is no such architecture.
 */
size_t tact_coverage_missing(const struct tact_coverage *coverage, size_t i);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_COVERAGE_H */
