/* SPDX-License-Identifier: MIT
 *
 * Archives of object files (.a), as ar writes them: GNU's, System V's and BSD's names.
 */
#ifndef TACT_ARCHIVE_H
#define TACT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

struct archive {
	const char *data; /* the caller's */
	size_t size, at;
	const char *names; /* GNU's table of long names */
	size_t names_size;
};

struct archive_member {
	const char *name; /* not NUL-terminated */
	size_t name_size;
	const char *data;
	size_t size;
};

bool archive_is_one(const void *data, size_t size);
void archive_open(struct archive *archive, const void *data, size_t size);

/* Finds the next member; tables of symbols and names are none.  Returns 1, 0 at the end, or
 * -TACT_E_FORMAT if the archive is damaged.
 */
int archive_next(struct archive *archive, struct archive_member *member, struct tact_diag *diag);

#endif /* TACT_ARCHIVE_H */
