/* SPDX-License-Identifier: MIT
 *
 * Looks for what cannot be right in a store: the checks and their order.
 */
#include <limits.h>
#include <math.h>

#include <tact/arch.h>

#include "dataset/lint.h"

const char *tact_lint_name(unsigned i)
{
	static const char *const names[TACT_N_LINT_CHECKS] = {
		"decode", "weights", "duplicates",  "units",
		"bounds", "alias",   "unconfirmed", "hosts"};

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

void lint_count(struct linter *l)
{
	l->n_done++;
	if (l->opt.progress)
		l->opt.progress(l->opt.context, l->n_done);
}

/* Counts measurements and predictions that no version of tact writes; the pass over blocks counts
 * blocks.
 */
static int count_unreadable(struct linter *l, uint64_t *n)
{
	struct tact_store_prediction prediction = TACT_STORE_PREDICTION_INIT;
	struct tact_store_row row = TACT_STORE_ROW_INIT;
	struct tact_store_predictions *predictions = NULL;
	struct tact_store_iter *rows = NULL;
	int status = tact_store_iter_create(&rows, l->store, NULL, l->diag);

	while (status >= 0 && (status = tact_store_iter_next(rows, &row, l->diag)) > 0)
		;
	if (status >= 0)
		status = tact_store_predictions_create(&predictions, l->store, NULL, l->diag);
	while (status >= 0 && (status = tact_store_predictions_next(predictions, NULL, NULL, NULL,
								    &prediction, l->diag)) > 0)
		;
	*n = tact_store_iter_skipped(rows) + tact_store_predictions_skipped(predictions);
	tact_store_iter_destroy(rows);
	tact_store_predictions_destroy(predictions);
	return status;
}

static void add_decoder(struct linter *l, const struct tact_arch *arch)
{
	for (unsigned i = 0; i < l->n_decoders; i++)
		if (tact_arch_isa(l->decoder[i]) == tact_arch_isa(arch))
			return;
	if (l->n_decoders < LINT_MAX_SETS)
		l->decoder[l->n_decoders++] = arch;
}

struct known {
	struct linter *l;
	bool has_unknown;
};

static int take_arch(void *context, const struct tact_count *count)
{
	const struct tact_arch *arch = *count->arch ? tact_arch_find(count->arch) : NULL;
	struct known *k = context;

	if (arch)
		add_decoder(k->l, arch);
	k->has_unknown |= !arch && *count->arch;
	return 0;
}

/* A store does not say to which set a block belongs: to one of those of the CPUs that it has
 * measurements or predictions of, or to that of this machine if it has none.
 */
static int find_decoders(struct linter *l)
{
	struct known k = {.l = l};
	int status = tact_store_count(l->store, TACT_COUNT_MEASUREMENTS, take_arch, &k, l->diag);

	if (status >= 0)
		status = tact_store_count(l->store, TACT_COUNT_PREDICTIONS, take_arch, &k, l->diag);
	/* Without LLVM's module, they may be of a set that it decodes. */
	if (k.has_unknown && tact_arch_llvm_check(NULL) < 0)
		l->opt.checks &= ~(unsigned)(TACT_LINT_DECODE | TACT_LINT_DUPLICATES);
	if (!l->n_decoders && l->filter.arch && tact_arch_find(l->filter.arch))
		add_decoder(l, tact_arch_find(l->filter.arch));
	if (!l->n_decoders)
		add_decoder(l, tact_arch_next(NULL));
	return status;
}

int tact_lint(struct tact_store *store, const struct tact_lint_options *opt, struct tact_diag *diag)
{
	struct linter l = {.store = store, .diag = diag};
	int status = tact_read_options(&l.opt, sizeof(l.opt), opt);
	uint64_t n_unreadable = 0;

	if (status >= 0)
		status = tact_read_options(&l.filter, sizeof(l.filter), l.opt.filter);
	if (status < 0 || !store || !opt || !l.opt.report || l.opt.checks & ~TACT_LINT_ALL)
		return tact_fail(diag, TACT_E_INVAL, "wrong options");
	l.filter.size = sizeof(l.filter);
	if (!l.opt.checks)
		l.opt.checks = TACT_LINT_ALL;
	status = find_decoders(&l);
	if (status >= 0)
		status = lint_check_blocks(&l);
	if (status >= 0)
		status = lint_check_rows(&l);
	if (status >= 0)
		status = lint_check_hosts(&l);
	if (status >= 0 && !l.is_over)
		status = count_unreadable(&l, &n_unreadable);
	if (status < 0)
		return status;
	n_unreadable += l.n_bad_blocks;
	return n_unreadable < INT_MAX ? (int)n_unreadable : INT_MAX;
}
