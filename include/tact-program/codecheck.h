/* SPDX-License-Identifier: MIT
 *
 * Code against a stored baseline, for continuous integration: an INI file says which code, for which
 * CPUs, and how many cycles more are too many.  No program is run.
 */
#ifndef TACT_PROGRAM_CODECHECK_H
#define TACT_PROGRAM_CODECHECK_H

#include <stdbool.h>
#include <stddef.h>

#include <tact/arch.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_codecheck; /* belongs to one thread at a time */

/* Reads an INI file.  Paths in it are relative to its directory.
 * Returns 0 with a handle for tact_codecheck_destroy, or
 *   -TACT_E_INVAL   an argument is missing
 *   -TACT_E_NOMEM   out of memory
 *   -TACT_E_IO      the file cannot be read
 *   -TACT_E_FORMAT  it is malformed: diag has line and reason
 */
int tact_codecheck_create(struct tact_codecheck **out, const char *path, struct tact_diag *diag);
void tact_codecheck_destroy(struct tact_codecheck *check); /* NULL is allowed */

/* Return the number of sections with code; the name of the i-th, and its CPUs as the file lists them,
 * "" if it names none.  Owned by the handle.
 */
size_t tact_codecheck_count(const struct tact_codecheck *check);
const char *tact_codecheck_section(const struct tact_codecheck *check, size_t i);
const char *tact_codecheck_archs(const struct tact_codecheck *check, size_t i);

/* Sets the CPUs of the i-th section, of one instruction set; they must outlive the handle.
 * Returns 0, -TACT_E_INVAL if something is missing or out of range, -TACT_E_NOMEM.
 */
int tact_codecheck_set_archs(struct tact_codecheck *check, size_t i,
			     const struct tact_arch *const *archs, size_t n);

/* Returns the path of the baseline: that of the INI file, or the one that was set.  A path that is set
 * is relative to the current directory; it is copied.  Returns 0 or -TACT_E_NOMEM.
 */
const char *tact_codecheck_baseline(const struct tact_codecheck *check);
int tact_codecheck_set_baseline(struct tact_codecheck *check, const char *path);

/* Predicts all code, and the code of the baseline with it: differences then come from the code, not
 * from another version of the models.  `is_needed`: without a baseline there is nothing to check.
 * `say` hears of each file that cannot be read; may be NULL.
 *
 * Returns 0, also if files could not be read: tact_codecheck_summary counts them; or
 *   -TACT_E_INVAL    a section has no CPUs, or a model is not in the registry
 *   -TACT_E_NO_DATA  there is no baseline, and it is needed
 *   -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_VERSION  the baseline cannot be read, or is none: diag has
 *                    line and reason
 *   -TACT_E_NOMEM    out of memory
 */
int tact_codecheck_run(struct tact_codecheck *check, bool is_needed,
		       void (*say)(void *arg, const char *path, const struct tact_diag *diag,
				   int status),
		       void *arg, struct tact_diag *diag);

struct tact_codecheck_summary {
	size_t size;
	size_t n;		   /* loops and functions on a CPU: the sum of what follows */
	size_t n_over;		   /* more than allowed */
	size_t n_slower, n_faster; /* changed by what is allowed, or for the better */
	size_t n_same, n_new, n_gone;
	size_t n_failed;       /* no prediction, although the baseline has one */
	size_t n_unknown;      /* no prediction, and none in the baseline */
	size_t n_lower_bounds; /* instructions without data: the cycles are a lower bound */
	size_t n_files_failed; /* sections whose code could not be read */
};
#define TACT_CODECHECK_SUMMARY_INIT TACT_SIZED(struct tact_codecheck_summary)

/* Returns 0, or -TACT_E_INVAL without a check that has run or out->size. */
int tact_codecheck_get_summary(const struct tact_codecheck *check,
			       struct tact_codecheck_summary *out);

/* Writes the baseline that this code makes: JSON lines, sorted.  Returns 0; -TACT_E_INVAL if nothing
 * has run, or if a file could not be read; -TACT_E_IO with the reason in diag; -TACT_E_NOMEM.
 */
int tact_codecheck_update(const struct tact_codecheck *check, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_CODECHECK_H */
