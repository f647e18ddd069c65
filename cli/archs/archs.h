/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact archs` share.
 */
#ifndef TACT_ARCHS_H
#define TACT_ARCHS_H

#include <stdbool.h>

#include "common/archlist.h"
#include "common/output.h"
#include "common/source.h"

struct archs {
	struct source_options source; /* items: names of CPUs, or the files of --coverage */
	struct archlist list;
	bool is_coverage, is_validation, is_all, is_quiet;
	int format;
	const char *output;
};

/* The parameters of each of the CPUs. */
void archs_show(const struct archs *a, struct text *out);

/* Which instructions of the inputs have no data.  Returns an exit code. */
int archs_coverage(const struct archs *a, struct text *out);

#endif /* TACT_ARCHS_H */
