/* SPDX-License-Identifier: MIT
 *
 * The architectures that a command works on: --arch and --params.
 */
#ifndef TACT_ARCHLIST_H
#define TACT_ARCHLIST_H

#include <stddef.h>

#include <tact/arch.h>

#include "options.h"

enum { ARCHLIST_MAX = 64 };

struct archlist {
	const char *names;		 /* of --arch; NULL: none was given */
	const char *params;		 /* path of --params */
	bool is_any_set;		 /* CPUs of several instruction sets may be in the list */
	const struct tact_arch *assumed; /* for a name that names no CPU (generic); NULL: none */
	size_t n;
	const struct tact_arch *arch[ARCHLIST_MAX];
	struct tact_arch *derived[ARCHLIST_MAX]; /* owned; those of --params */
};

extern const struct option_spec archlist_option_specs[];

/* Fills arch[] from the names.  Without names: from `fallback` ("all"), or, if it is NULL, with
 * this CPU. Returns 0, or an exit code with the message given.
 */
int archlist_resolve(struct archlist *list, const char *fallback, bool is_quiet);
void archlist_fini(void *list); /* of a group */

/* Finds an architecture; or reports that the name is unknown, or what it means and which model comes
 * nearest, and returns NULL.
 */
const struct tact_arch *archlist_find(const char *name);

/* A numeric parameter of a CPU; 0 if there is no parameter of that name. */
unsigned archlist_param(const struct tact_arch *arch, const char *name);

#endif /* TACT_ARCHLIST_H */
