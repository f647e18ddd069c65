/* SPDX-License-Identifier: MIT
 *
 * What cannot be right in a store: which checks there are, and their order.
 */
#include <math.h>

#include "dataset/lint.h"

const char *tact_lint_name(unsigned i)
{
	static const char *const names[TACT_N_LINT_CHECKS] = {"decode", "weights", "duplicates",
							      "units",	"bounds",  "alias"};

	return i < TACT_N_LINT_CHECKS ? names[i] : NULL;
}

struct tact_finding lint_about(enum tact_lint_check check, const uint8_t *code, size_t size)
{
	return (struct tact_finding){
		.size = sizeof(struct tact_finding),
		.check = check,
		.code = code,
		.code_size = size,
		.machine = "",
		.arch = "",
		.mode = "",
		.origin = "",
		.app = "",
		.value = (double)NAN,
		.bound = (double)NAN,
	};
}

void lint_report(struct linter *l, const struct tact_finding *finding)
{
	if (!l->is_over)
		l->is_over = l->opt.report(l->opt.context, finding) != 0;
}

int tact_lint(struct tact_store *store, const struct tact_lint_options *opt, struct tact_diag *diag)
{
	struct linter l = {.store = store, .diag = diag};
	int status = tact_read_options(&l.opt, sizeof(l.opt), opt);

	if (status < 0 || !store || !opt || !l.opt.report || l.opt.checks & ~TACT_LINT_ALL)
		return tact_fail(diag, TACT_E_INVAL, "wrong options");
	if (!l.opt.filter.size)
		l.opt.filter = (struct tact_store_filter){.size = sizeof(l.opt.filter), .init = -1};
	if (!l.opt.checks)
		l.opt.checks = TACT_LINT_ALL;
	status = lint_check_blocks(&l);
	return status < 0 ? status : lint_check_rows(&l);
}
