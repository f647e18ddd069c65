/* SPDX-License-Identifier: MIT
 *
 * Profiles as text files, added up by key: files of counts, BOLT's pre-aggregated profiles and folded
 * stacks; and recordings with branch stacks as BOLT wants them.  Memory grows with the number of
 * different keys, not with that of files.
 */
#ifndef TACT_PROGRAM_MIXFILE_H
#define TACT_PROGRAM_MIXFILE_H

#include <stddef.h>
#include <stdint.h>

#include <tact/mix.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_mixfile; /* belongs to one thread at a time */

/* Returns 0 with a handle for tact_mixfile_destroy, -TACT_E_INVAL without `out`, -TACT_E_NOMEM. */
int tact_mixfile_create(struct tact_mixfile **out);
void tact_mixfile_destroy(struct tact_mixfile *file); /* NULL is allowed */

/* Adds a text file.  What is wrong with a line leaves the sums of the lines before: the handle is then
 * good for nothing else.  Returns 0, or
 *   -TACT_E_INVAL    an argument is missing
 *   -TACT_E_IO       the file cannot be read
 *   -TACT_E_FORMAT   it is none of these files, or a line is wrong: diag has its number
 *   -TACT_E_NOT_MODELLED  it does not add up with those before: another kind of file, or exact counts
 *                    and estimates
 *   -TACT_E_NOMEM
 */
int tact_mixfile_add(struct tact_mixfile *file, const char *path, struct tact_diag *diag);

/* Adds the branches and streams of a recording, in one program or library: the one with this path or
 * name, or, if module is NULL, that of the recording before or else the one with most branches.
 * Returns 0, or
 *   -TACT_E_NO_DATA  there are no branch stacks, or no branches in the module; diag has the reason
 *   -TACT_E_NOT_MODELLED  as above
 *   errors of tact_mix_open
 */
int tact_mixfile_add_recording(struct tact_mixfile *file, const char *path,
			       const struct tact_mix_options *opt, const char *module,
			       struct tact_diag *diag);

/* Return the path of the module that was taken, "" if none was; the number of different keys, and of
 * branches that were added although only one end is in the module.
 */
const char *tact_mixfile_module(const struct tact_mixfile *file);
size_t tact_mixfile_count(const struct tact_mixfile *file);
uint64_t tact_mixfile_outside(const struct tact_mixfile *file);

/* Writes the sums, sorted by key.  `write` gets the text in pieces; it ends the writing by returning
 * anything but 0.  Returns 0, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_mixfile_write(const struct tact_mixfile *file,
		       int (*write)(void *arg, const char *data, size_t size), void *arg);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_MIXFILE_H */
