/* SPDX-License-Identifier: MIT
 *
 * Parameters of the machine as a scheduling model of LLVM: TableGen that a target of LLVM includes.
 *
 * LLVM has opcodes where tact has forms, and one may be several of the other.  An opcode gets the
 * values of the form that is noted with it most often; forms that are never noted, and that the
 * instruction set can encode, come last.
 */
#ifndef TACT_MCA_EXPORT_H
#define TACT_MCA_EXPORT_H

#include "mca/mca.h"

struct mca_export;

/* What was written, for people. */
struct mca_export_summary {
	size_t n_opcodes; /* with values */
	size_t n_noted;	  /* of these, of instructions that were noted */
	size_t n_shared;  /* of these, of several forms that were noted and differ */
};

/* Begins to export; params must outlive it.  Returns 0, -TACT_E_NOMEM, or -TACT_E_NO_TOOL with the
 * reason: LLVM's module knows the names of opcodes.
 */
int mca_export_create(struct mca_export **out, const struct tact_mca_params *params,
		      struct tact_diag *diag);
void mca_export_destroy(struct mca_export *e);

/* Notes an instruction of a form.  Bytes that LLVM does not know are left out.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int mca_export_note(struct mca_export *e, unsigned form, const uint8_t *code, size_t size);

/* Ties forms that were noted with one opcode, directly or by way of others: canon[form] is the one of
 * them that was noted most often, next[form] the next of its circle.  Both have room for all forms.
 * Returns 0 or -TACT_E_NOMEM.
 */
int mca_export_ties(const struct mca_export *e, uint16_t *canon, uint16_t *next);

/* Writes the file, without opcodes of more micro-ops than LLVM has room for.  Returns 0, or, with the
 * reason in diag, -TACT_E_NOMEM or -TACT_E_IO.
 */
int mca_export_write(struct mca_export *e, const char *path, const char *comment,
		     struct mca_export_summary *summary, struct tact_diag *diag);

#endif /* TACT_MCA_EXPORT_H */
