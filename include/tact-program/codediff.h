/* SPDX-License-Identifier: MIT
 *
 * Two versions of code side by side, without running them: function by function and loop by loop,
 * with the cycles that a model predicts for each.
 */
#ifndef TACT_PROGRAM_CODEDIFF_H
#define TACT_PROGRAM_CODEDIFF_H

#include <stdbool.h>
#include <stddef.h>

#include <tact/arch.h>
#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one version ---- */

/* The loops of a file, and of its functions without loops all code. */
struct tact_code;

struct tact_code_options {
	size_t size;
	enum tact_syntax syntax; /* of assembly text */
	const char *function;	 /* only this function and its variants; NULL: all */
	bool is_mangled; /* names of functions as in the symbol table, not as in the source */
	const struct tact_isa *isa; /* of text and hex, as in struct tact_input_options */
	int loop;		    /* only the N-th loop (from 1) of what is left; 0: all */
	const char *marker;	    /* only code between markers of this name; NULL: all */
};

/* Reads a file, as tact_input_open does.  opt may be NULL.  Returns 0 with a handle for
 * tact_code_destroy, errors of tact_input_open and tact_input_next; -TACT_E_INVAL if there is no
 * such function, loop or marker.
 */
int tact_code_load(struct tact_code **out, const char *path, const struct tact_code_options *opt,
		   struct tact_diag *diag);
void tact_code_destroy(struct tact_code *code); /* NULL is allowed */

/* Returns what the file is, for people; owned by the handle. */
const char *tact_code_description(const struct tact_code *code);

/* ---- two of them ---- */

struct tact_codediff;

struct tact_codediff_options {
	size_t size;
	const struct tact_arch *const *archs; /* of one instruction set, that of the code */
	size_t n_archs;			      /* at least 1 */
	const char *model;		      /* NULL: facile */
};

/* Compares two versions, which must outlive the comparison, like the microarchitectures.
 *
 * Functions belong together if they have the same name, apart from the suffixes of variants that
 * compilers make; those that are left, if their code is the same.  Within them, pieces of code
 * belong together if they are the same apart from addresses; then if their instructions are
 * similar, or if they come from the same source line; then if nothing else is left.
 *
 * Returns 0 with a handle for tact_codediff_destroy; -TACT_E_INVAL if something is missing, or if
 * the code is not of the CPUs' instruction set; errors of tact_model_open; -TACT_E_NOMEM.
 */
int tact_codediff_create(struct tact_codediff **out, const struct tact_code *a,
			 const struct tact_code *b, const struct tact_codediff_options *opt,
			 struct tact_diag *diag);
void tact_codediff_destroy(struct tact_codediff *diff); /* NULL is allowed */

struct tact_codediff_summary {
	size_t size;
	size_t n_pairs;			   /* pieces that both versions have */
	size_t n_slower, n_faster;	   /* on at least one CPU; a piece may be both */
	size_t n_same;			   /* on all CPUs */
	size_t n_failed;		   /* no prediction for one version at least */
	size_t n_only[2];		   /* pieces that only one version has */
	double worst;			   /* largest ratio of cycles, B to A; 0: none */
	const char *worst_name;		   /* where; owned by the code */
	const struct tact_arch *worst_cpu; /* NULL: none */
};
#define TACT_CODEDIFF_SUMMARY_INIT TACT_SIZED(struct tact_codediff_summary)

/* Returns 0, or -TACT_E_INVAL without a comparison or out->size. */
int tact_codediff_get_summary(const struct tact_codediff *diff, struct tact_codediff_summary *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_CODEDIFF_H */
