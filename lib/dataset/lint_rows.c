/* SPDX-License-Identifier: MIT
 *
 * The checks of lint that look at measurements: units, bounds of the architecture, aliasing,
 * numbers that were seen only once.
 *
 * Rows of a machine, mode and init are a group.  Units are checked first, file by file: if all
 * numbers of a file are off by a factor of a hundred, its rows are not reported one by one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/rows.h>
#include <tact/arch.h>
#include <tact/predict.h>

#include "dataset/lint.h"

/* A factor of a hundred, give or take a factor of three: models are never that far off. */
enum { HUNDRED_LOW = 30, HUNDRED_HIGH = 300, ENOUGH_ROWS = 10 };

/* A group as tact_store_count reports it. */
struct group {
	char machine[64], arch[64];
	enum tact_mode mode;
	enum tact_init init;
};

/* Rows of one file in a group. */
struct file_units {
	char origin[TACT_STORE_NAME_MAX + 1];
	size_t n, too_large, too_small;
	bool is_off;
};

struct row_pass {
	struct linter *l;
	const struct group *group;
	const struct tact_arch *arch; /* NULL: not known */
	struct tact_block *block;     /* owned */
	struct file_units *files;     /* owned */
	size_t n_files, capacity;
};

struct group_list {
	struct group *group; /* owned */
	size_t n, capacity;
};

/* Returns a finding about a row; NULL: about the whole group. */
static struct tact_finding about(const struct row_pass *p, enum tact_lint_check check,
				 const struct tact_row *row)
{
	struct tact_finding f = lint_about(check, row ? row->code : NULL, row ? row->code_size : 0);

	f.machine = p->group->machine;
	f.arch = p->group->arch;
	f.mode = tact_mode_name(p->group->mode);
	if (row) {
		f.origin = row->origin;
		f.value = row->cycles;
	}
	return f;
}

/* ---- predictions ---- */

/* Predicts the loop that ran, if it is known; otherwise the unrolled block, whose bounds on issue
 * and ports hold for the loop as well, because the counter only adds to them.  Returns 1, 0 if
 * there is no prediction, or -TACT_E_NOMEM.
 */
static int predict(struct row_pass *p, const struct tact_row *row, struct tact_prediction *x)
{
	const struct tact_block_options options = {
		.size = sizeof(options), .mode = TACT_MODE_AUTO, .init = p->group->init};
	int status = 0;

	if (!p->arch)
		return 0;
	if (!p->block)
		status = tact_block_create(&p->block, p->arch, &options, NULL);
	if (status >= 0 && row->loop_size)
		status = tact_block_load(p->block, row->loop, row->loop_size, NULL);
	else if (status >= 0)
		status = tact_block_load(p->block, row->code, row->code_size, NULL);
	x->size = sizeof(*x);
	if (status >= 0)
		status = tact_predict(p->block, NULL, x);
	if (status == -TACT_E_NOMEM)
		return tact_fail(p->l->diag, TACT_E_NOMEM, "out of memory");
	return status >= 0;
}

/* ---- units ---- */

/* Returns NULL if out of memory. */
static struct file_units *find_file(struct row_pass *p, const char *origin)
{
	for (size_t i = p->n_files; i-- > 0;)
		if (!strcmp(p->files[i].origin, origin))
			return &p->files[i];
	if (tact_grow(&p->files, &p->capacity, p->n_files + 1, sizeof(*p->files)) < 0) {
		tact_fail(p->l->diag, TACT_E_NOMEM, "out of memory");
		return NULL;
	}
	p->files[p->n_files] = (struct file_units){.n = 0};
	snprintf(p->files[p->n_files].origin, sizeof(p->files->origin), "%s", origin);
	return &p->files[p->n_files++];
}

static int count_unit(struct row_pass *p, const struct tact_row *row)
{
	struct file_units *file;
	struct tact_prediction x = TACT_PREDICTION_INIT;
	double ratio;
	int status = row->has_cycles ? predict(p, row, &x) : 0;

	if (status <= 0 || !(x.cycles_per_iteration > 0))
		return status < 0 ? status : 0;
	file = find_file(p, row->origin);
	if (!file)
		return -TACT_E_NOMEM;
	ratio = row->cycles / x.cycles_per_iteration;
	file->n++;
	file->too_large += ratio >= HUNDRED_LOW && ratio <= HUNDRED_HIGH;
	file->too_small += ratio <= 1.0 / HUNDRED_LOW && ratio >= 1.0 / HUNDRED_HIGH;
	return 0;
}

static void report_units(struct row_pass *p)
{
	for (size_t i = 0; i < p->n_files; i++) {
		struct file_units *file = &p->files[i];
		struct tact_finding f = about(p, TACT_LINT_UNITS, NULL);
		bool is_large = 2 * file->too_large > file->n;
		char what[120];

		file->is_off =
			file->n >= ENOUGH_ROWS && (is_large || 2 * file->too_small > file->n);
		if (!file->is_off || !(p->l->opt.checks & TACT_LINT_UNITS))
			continue;
		snprintf(what, sizeof(what),
			 "%zu of %zu measurements are about a hundred times %s than predicted",
			 is_large ? file->too_large : file->too_small, file->n,
			 is_large ? "larger" : "smaller");
		f.origin = file->origin;
		f.what = what;
		f.todo = is_large ? "import the file again with --unit hundred"
				  : "import the file again with --unit iteration";
		lint_report(p->l, &f);
	}
}

/* ---- rows ---- */

static int check_bounds(struct row_pass *p, const struct tact_row *row)
{
	static const enum tact_bound bounds[] = {TACT_BOUND_ISSUE, TACT_BOUND_PORTS};
	struct tact_finding f = about(p, TACT_LINT_BOUNDS, row);
	enum tact_bound largest = TACT_BOUND_ISSUE;
	const struct file_units *file;
	struct tact_prediction x = TACT_PREDICTION_INIT;
	char what[160];
	int status;

	if (!row->has_cycles)
		return 0;
	file = find_file(p, row->origin);
	if (!file)
		return -TACT_E_NOMEM;
	status = file->is_off ? 0 : predict(p, row, &x);
	if (status <= 0)
		return status;
	f.bound = 0;
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
		if (x.applies >> bounds[i] & 1 && x.bound[bounds[i]] > f.bound) {
			largest = bounds[i];
			f.bound = x.bound[bounds[i]];
		}
	if (row->cycles >= f.bound * (100 - p->l->opt.tolerance) / 100)
		return 0;
	snprintf(what, sizeof(what), "%.2f cycles measured, but %s needs %.2f on %s", row->cycles,
		 tact_bound_name(largest), f.bound, tact_arch_name(p->arch));
	f.what = what;
	f.todo = "measure it again, or leave it out";
	lint_report(p->l, &f);
	return 0;
}

/* X: through another virtual page; M: through another expression, a flag of other programs. */
static void check_alias(struct row_pass *p, const struct tact_row *row)
{
	struct tact_finding f = about(p, TACT_LINT_ALIAS, row);
	const bool is_listed = tact_block_set_has(p->l->opt.suspects, row->code, row->code_size);

	if (!row->has_cycles || row->clean == 0)
		return;
	if (!is_listed && !strpbrk(row->letters, "XM"))
		return;
	f.what = is_listed ? "on the list of blocks suspected of aliasing"
			   : "loads what it stored through another address: all pages are one";
	f.todo = "leave it out, or mark it with clean = 0";
	lint_report(p->l, &f);
}

/* A number that was seen once may be that of a busy core.  Rows of files that do not say how often
 * they were measured are left alone.
 */
static void check_confirmed(struct row_pass *p, const struct tact_row *row)
{
	struct tact_finding f = about(p, TACT_LINT_UNCONFIRMED, row);
	char what[120];

	if (!strcmp(row->status, "unconfirmed")) {
		f.value = (double)NAN;
		snprintf(what, sizeof(what), "no two of %u rounds confirm a number", row->rounds);
	} else if (row->has_cycles && row->rounds && !tact_row_is_confirmed(row)) {
		snprintf(what, sizeof(what), "%.2f cycles measured once%s", row->cycles,
			 row->rounds > 1 ? ", and other rounds do not agree"
					 : ", confirmed by no second round");
	} else {
		return;
	}
	f.what = what;
	f.todo = "measure it again with --until-confirmed";
	lint_report(p->l, &f);
}

static int check_row(struct row_pass *p, const struct tact_row *row)
{
	int status = p->l->opt.checks & TACT_LINT_BOUNDS ? check_bounds(p, row) : 0;

	if (status >= 0 && p->l->opt.checks & TACT_LINT_ALIAS)
		check_alias(p, row);
	if (status >= 0 && p->l->opt.checks & TACT_LINT_UNCONFIRMED)
		check_confirmed(p, row);
	return status;
}

static int walk(struct row_pass *p, int (*each)(struct row_pass *, const struct tact_row *))
{
	struct linter *l = p->l;
	struct tact_store_filter filter = l->filter;
	struct tact_rows *rows;
	struct tact_row row;
	int status;

	filter.machine = p->group->machine;
	filter.arch = *p->group->arch ? p->group->arch : NULL;
	filter.mode = p->group->mode;
	filter.has_init = true;
	filter.init = p->group->init;
	status = tact_rows_open_store(&rows, l->store, &filter, l->diag);
	if (status < 0)
		return status;
	while (status >= 0 && !l->is_over && (status = tact_rows_next(rows, &row, l->diag)) > 0) {
		lint_count(l);
		status = each(p, &row);
	}
	tact_rows_close(rows);
	return status == -TACT_E_FORMAT ? 0 : status; /* rows that cannot be read are left out */
}

static int check_group(struct linter *l, const struct group *group)
{
	const bool is_predicted = l->opt.checks & (TACT_LINT_UNITS | TACT_LINT_BOUNDS);
	struct row_pass p = {.l = l, .group = group};
	int status = 0;

	p.arch = *group->arch ? tact_arch_find(group->arch) : NULL;
	if (!p.arch && is_predicted && l->opt.unknown)
		l->opt.unknown(l->opt.context, group->machine, group->mode);
	if (p.arch && is_predicted) {
		status = walk(&p, count_unit);
		report_units(&p);
	}
	if (status >= 0 &&
	    l->opt.checks & (TACT_LINT_BOUNDS | TACT_LINT_ALIAS | TACT_LINT_UNCONFIRMED))
		status = walk(&p, check_row);
	tact_block_destroy(p.block);
	free(p.files);
	return status;
}

/* ---- groups ---- */

static int add_group(void *context, const struct tact_count *count)
{
	struct group_list *list = context;
	struct group g = {.mode = strcmp(count->mode, "loop") ? TACT_MODE_UNROLL : TACT_MODE_LOOP,
			  .init = TACT_INIT_SAME};

	snprintf(g.machine, sizeof(g.machine), "%s", count->machine);
	snprintf(g.arch, sizeof(g.arch), "%s", count->arch);
	for (int i = TACT_INIT_STACK; i <= (int)TACT_INIT_DIFF; i++)
		if (!strcmp(count->init, tact_init_name((enum tact_init)i)))
			g.init = (enum tact_init)i;
	/* the same group comes once for each status, and for each machine of the same name */
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->group[i].machine, g.machine) &&
		    !strcmp(list->group[i].arch, g.arch) && list->group[i].mode == g.mode &&
		    list->group[i].init == g.init)
			return 0;
	if (tact_grow(&list->group, &list->capacity, list->n + 1, sizeof(*list->group)) < 0)
		return -TACT_E_NOMEM;
	list->group[list->n++] = g;
	return 0;
}

static bool is_chosen(const struct tact_store_filter *filter, const struct group *g)
{
	return (!filter->machine || !strcmp(filter->machine, g->machine)) &&
	       (!filter->arch || !strcmp(filter->arch, g->arch)) &&
	       (filter->mode == TACT_MODE_AUTO || filter->mode == g->mode) &&
	       (!filter->has_init || filter->init == g->init);
}

int lint_check_rows(struct linter *l)
{
	struct group_list list = {0};
	int status;

	if (!(l->opt.checks &
	      (TACT_LINT_UNITS | TACT_LINT_BOUNDS | TACT_LINT_ALIAS | TACT_LINT_UNCONFIRMED)))
		return 0;
	status = tact_store_count(l->store, TACT_COUNT_MEASUREMENTS, add_group, &list, l->diag);
	for (size_t i = 0; i < list.n && status >= 0 && !l->is_over; i++)
		if (is_chosen(&l->filter, &list.group[i]))
			status = check_group(l, &list.group[i]);
	free(list.group);
	return status < 0 ? status : 0;
}
