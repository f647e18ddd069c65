/* SPDX-License-Identifier: MIT
 *
 * Declarations that the checks of lint share.
 */
#ifndef DATASET_LINT_H
#define DATASET_LINT_H

#include <tact-program/lint.h>

#include "base/base.h"

enum { LINT_MAX_SETS = 8 };

struct linter {
	struct tact_lint_options opt;
	struct tact_store_filter filter; /* that of the options, or one that lets everything pass */
	struct tact_store *store;
	uint64_t n_bad_blocks; /* that could not be read */
	uint64_t n_done;       /* blocks and rows that were looked at */
	bool is_over;	       /* report asked to stop */
	/* A CPU of each set that blocks may belong to. */
	const struct tact_arch *decoder[LINT_MAX_SETS];
	unsigned n_decoders;
	struct tact_diag *diag;
};

/* Returns an empty finding. */
struct tact_finding lint_about(enum tact_lint_check check, const uint8_t *code, size_t size);

void lint_report(struct linter *l, const struct tact_finding *finding);
void lint_count(struct linter *l); /* one more block or row */

/* Pass over blocks, and over measurements.  Return 0, or -TACT_E_* with the diagnosis filled in. */
int lint_check_blocks(struct linter *l);
int lint_check_hosts(struct linter *l);
int lint_check_rows(struct linter *l);

#endif /* DATASET_LINT_H */
