/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact archs` share.
 */
#ifndef TACT_ARCHS_H
#define TACT_ARCHS_H

#include <stdbool.h>

#include "base/tabular.h"
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

/* An empty table of rows of this kind. */
struct table archs_table(const struct archs *a, const struct column *columns, size_t n,
			 const char *kind, struct text *out);

/* The parameters of each of the CPUs. */
void archs_show(const struct archs *a, struct text *out);

/* Which instructions of the inputs have no data.  Returns an exit code. */
int archs_coverage(const struct archs *a, struct text *out);

#endif /* TACT_ARCHS_H */
