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

/* A form, or a kind of instruction that is none, without data. */
struct tact_gap {
	char name[96];
	unsigned form;	  /* TACT_FORM_NONE: the tables do not know it */
	size_t count;	  /* of instructions */
	uint64_t missing; /* bit i: on the i-th CPU */
	uint8_t example[TACT_MAX_INSN_BYTES];
	uint8_t example_size;
};

struct tact_coverage; /* one thread at a time */

/* n CPUs, at least one, which must last as long as this.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_coverage_create(struct tact_coverage **out, const struct tact_arch *const *archs, size_t n,
			 struct tact_diag *diag);
void tact_coverage_destroy(struct tact_coverage *coverage); /* NULL is allowed */

/* Counts the instructions of a block.  Returns -TACT_E_DECODE, with the place in diag, if one of
 * them is none: those in front of it count, the block does not; or -TACT_E_NOMEM.
 */
int tact_coverage_add(struct tact_coverage *coverage, const uint8_t *code, size_t size,
		      struct tact_diag *diag);

size_t tact_coverage_blocks(const struct tact_coverage *coverage);
size_t tact_coverage_insns(const struct tact_coverage *coverage);

/* All gaps, the most frequent first, until something is added.  Returns -TACT_E_NOMEM. */
int tact_coverage_gaps(struct tact_coverage *coverage, const struct tact_gap **gaps, size_t *n);

/* Instructions without data on the i-th CPU, of the gaps that were asked for last. */
size_t tact_coverage_missing(const struct tact_coverage *coverage, size_t i);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_COVERAGE_H */
