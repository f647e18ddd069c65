/* SPDX-License-Identifier: MIT
 *
 * Files as a whole.
 */
#ifndef TACT_BASE_FILE_H
#define TACT_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#include "base/text.h"

/* The first line of our text files, without its end: the magic word, a blank, the version.
 * Returns 0, or -TACT_E_VERSION for another version, -TACT_E_FORMAT for another word, with line 1
 * and `what` the file is not (NULL: without that).
 */
int file_check_magic(const char *line, const char *magic, int version, const char *what,
		     struct tact_diag *diag);

/* Whether there is a file that begins with these bytes; "-" is none, and is left alone. */
bool file_begins_with(const char *path, const char *start);

/* What stands behind the last slash; the path itself if that is nothing. */
const char *file_base_name(const char *path);

/* Adds all that comes from a descriptor or a file to a text.
 * Returns 0; -TACT_E_IO; -TACT_E_FORMAT if it is more than `limit`; -TACT_E_NOMEM.
 */
int file_read_all(int fd, size_t limit, struct text *out, struct tact_diag *diag);
int file_read(const char *path, size_t limit, struct text *out, struct tact_diag *diag);

/* Exactly `size` bytes, from where a file is or from a place in it; false: it is shorter, or cannot
 * be read. */
bool file_read_exactly(int fd, void *to, size_t size);
bool file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* All of it, whatever signals and short writes there are.  Returns 0, or -1 with errno. */
int file_write_all(int fd, const void *data, size_t size);

/* Writes a file, in place or, so that there always is a whole one, beside it and then into its
 * place; pipes and devices are always written to.  Return 0 or -TACT_E_IO, -TACT_E_NOMEM.
 */
int file_write(const char *path, const void *data, size_t size, struct tact_diag *diag);
int file_replace(const char *path, const void *data, size_t size, struct tact_diag *diag);

/* The same of a text, which is -TACT_E_NOMEM if it is not whole; it is freed in any case. */
int file_write_text(const char *path, struct text *text, struct tact_diag *diag);
int file_replace_text(const char *path, struct text *text, struct tact_diag *diag);

#endif /* TACT_BASE_FILE_H */
