/* SPDX-License-Identifier: MIT
 *
 * INI files: sections of keys and values.
 *
 *	# a comment, as is what follows a blank and # or ;
 *	[section]
 *	key = value
 *	key = "a value with # and blanks at its end "
 *
 * There is no escape and no continuation of lines.
 */
#ifndef TACT_CHECK_INI_H
#define TACT_CHECK_INI_H

#include "base/base.h"

enum { INI_MOST = 1 << 20 }; /* bytes of a file */

struct ini_entry {
	const char *section; /* as all strings: valid during the call */
	const char *key;     /* NULL: the section begins here */
	const char *value;   /* "" if there is none */
	uint64_t line;
};

/* Calls take for each section and each key, in order.  A result of take other than 0 ends the file.
 * Returns 0, what take returned, or
 *   -TACT_E_FORMAT  a line is wrong: diag has its number and the reason
 *   -TACT_E_NOMEM   out of memory
 */
int ini_read(const char *data, size_t size, int (*take)(void *arg, const struct ini_entry *entry),
	     void *arg, struct tact_diag *diag);

#endif /* TACT_CHECK_INI_H */
