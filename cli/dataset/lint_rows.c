/* SPDX-License-Identifier: MIT
 *
 * Checks of lint that look at measurements: units, bounds of the architecture, aliasing.
 *
 * Rows of a machine, mode and init are a group.  Units are looked at first, file by file: where all
 * numbers are off by a hundred, nothing is said about each of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/predict.h>

#include "common/cli.h"
#include "linter.h"

/* A factor of a hundred, give or take three: farther than a model is off. */
enum { HUNDRED_LOW = 30, HUNDRED_HIGH = 300, ENOUGH_ROWS = 10 };

/* A group, as tact_store_count gives it. */
struct group {
	char machine[64], arch[16];
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
	size_t n_files;
};

struct group_list {
	struct group *group; /* owned */
	size_t n;
};

static struct finding about(const struct row_pass *p, enum dataset_check check,
			    const struct tact_store_row *row)
{
	return (struct finding){
		.check = check,
		.code = row ? row->code : NULL,
		.code_size = row ? row->code_size : 0,
		.machine = p->group->machine,
		.arch = p->group->arch,
		.mode = dataset_mode_name(p->group->mode),
		.origin = row ? row->origin : "",
		.app = "",
		.value = row ? row->measurement.cycles_per_iteration : (double)NAN,
		.bound = (double)NAN,
	};
}

/* ---- predictions ---- */

/* The loop that ran if it is known; else the block unrolled, whose bounds on issue and ports hold
 * for the loop as well: its counter only adds to them.
 */
static bool predict(struct row_pass *p, const struct tact_store_row *row, struct tact_prediction *x)
{
	const struct tact_block_options options = {
		.size = sizeof(options), .mode = TACT_MODE_AUTO, .init = p->group->init};
	int status = 0;

	if (!p->arch)
		return false;
	if (!p->block)
		status = tact_block_create(&p->block, p->arch, &options, NULL);
	if (status >= 0 && row->loop_code)
		status = tact_block_load(p->block, row->loop_code, row->loop_size, NULL);
	else if (status >= 0)
		status = tact_block_load(p->block, row->code, row->code_size, NULL);
	x->size = sizeof(*x);
	if (status >= 0)
		status = tact_predict(p->block, NULL, x);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return status >= 0;
}

/* ---- units ---- */

static struct file_units *find_file(struct row_pass *p, const char *origin)
{
	for (size_t i = p->n_files; i-- > 0;)
		if (!strcmp(p->files[i].origin, origin))
			return &p->files[i];
	p->files = cli_realloc(p->files, (p->n_files + 1) * sizeof(*p->files));
	p->files[p->n_files] = (struct file_units){.n = 0};
	snprintf(p->files[p->n_files].origin, sizeof(p->files->origin), "%s", origin);
	return &p->files[p->n_files++];
}

static void count_unit(struct row_pass *p, const struct tact_store_row *row)
{
	struct file_units *file;
	struct tact_prediction x;
	double ratio;

	if (row->measurement.status != TACT_MEASURE_OK || !predict(p, row, &x) ||
	    !(x.cycles_per_iteration > 0))
		return;
	file = find_file(p, row->origin);
	ratio = row->measurement.cycles_per_iteration / x.cycles_per_iteration;
	file->n++;
	file->too_large += ratio >= HUNDRED_LOW && ratio <= HUNDRED_HIGH;
	file->too_small += ratio <= 1.0 / HUNDRED_LOW && ratio >= 1.0 / HUNDRED_HIGH;
}

static void report_units(struct row_pass *p)
{
	for (size_t i = 0; i < p->n_files; i++) {
		struct file_units *file = &p->files[i];
		struct finding f = about(p, CHECK_UNITS, NULL);
		bool is_large = 2 * file->too_large > file->n;
		char what[120];

		file->is_off =
			file->n >= ENOUGH_ROWS && (is_large || 2 * file->too_small > file->n);
		if (!file->is_off || !(p->l->checks & CHECK_UNITS))
			continue;
		snprintf(what, sizeof(what),
			 "%zu of %zu measurements are about a hundred times %s than predicted",
			 is_large ? file->too_large : file->too_small, file->n,
			 is_large ? "larger" : "smaller");
		f.origin = file->origin;
		f.what = what;
		f.todo = is_large ? "import the file again with --unit hundred"
				  : "import the file again with --unit iteration";
		linter_report(p->l, &f);
	}
}

/* ---- rows ---- */

static void check_bounds(struct row_pass *p, const struct tact_store_row *row)
{
	static const enum tact_bound bounds[] = {TACT_BOUND_ISSUE, TACT_BOUND_PORTS};
	const double cycles = row->measurement.cycles_per_iteration;
	struct finding f = about(p, CHECK_BOUNDS, row);
	enum tact_bound largest = TACT_BOUND_ISSUE;
	struct tact_prediction x;
	char what[160];

	if (row->measurement.status != TACT_MEASURE_OK || find_file(p, row->origin)->is_off ||
	    !predict(p, row, &x))
		return;
	f.bound = 0;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(bounds); i++)
		if (x.applies >> bounds[i] & 1 && x.bound[bounds[i]] > f.bound) {
			largest = bounds[i];
			f.bound = x.bound[bounds[i]];
		}
	if (cycles >= f.bound * (100 - p->l->d->tolerance) / 100)
		return;
	snprintf(what, sizeof(what), "%.2f cycles measured, but %s needs %.2f on %s", cycles,
		 tact_bound_name(largest), f.bound, tact_arch_name(p->arch));
	f.what = what;
	f.todo = "measure it again, or leave it out";
	linter_report(p->l, &f);
}

/* X: another virtual page; M: another expression, which other programs tell apart. */
static void check_alias(struct row_pass *p, const struct tact_store_row *row)
{
	struct finding f = about(p, CHECK_ALIAS, row);
	const bool is_listed = block_set_has(&p->l->suspects, row->code, row->code_size);

	if (row->measurement.status != TACT_MEASURE_OK || row->clean == 0)
		return;
	if (!is_listed && !strpbrk(row->flags, "XM"))
		return;
	f.what = is_listed ? "on the list of blocks suspected of aliasing"
			   : "loads what it stored through another address: all pages are one";
	f.todo = "leave it out, or mark it with clean = 0";
	linter_report(p->l, &f);
}

static void check_row(struct row_pass *p, const struct tact_store_row *row)
{
	if (p->l->checks & CHECK_BOUNDS)
		check_bounds(p, row);
	if (p->l->checks & CHECK_ALIAS)
		check_alias(p, row);
}

static int walk(struct row_pass *p, void (*each)(struct row_pass *, const struct tact_store_row *))
{
	struct linter *l = p->l;
	struct tact_store_filter filter = dataset_filter(l->d);
	struct tact_store_iter *iter;
	struct tact_store_row row;
	int status;

	filter.machine = p->group->machine;
	filter.arch = *p->group->arch ? p->group->arch : NULL;
	filter.mode = p->group->mode;
	filter.init = (int)p->group->init;
	status = tact_store_iter_create_filtered(&iter, l->store, &filter, &l->diag);
	if (status < 0)
		return status;
	while (!l->out->failed && (status = tact_store_iter_next(iter, &row, &l->diag)) > 0)
		each(p, &row);
	tact_store_iter_destroy(iter);
	return status;
}

static int check_group(struct linter *l, const struct group *group)
{
	struct row_pass p = {.l = l, .group = group};
	int status = 0;

	p.arch = *group->arch ? tact_arch_find(group->arch) : NULL;
	if (!p.arch && l->checks & (CHECK_UNITS | CHECK_BOUNDS) && !l->d->is_quiet)
		cli_message("%s: the architecture of '%s' (%s) is not known: units and bounds are "
			    "not checked",
			    l->d->paths[1], group->machine, dataset_mode_name(group->mode));
	if (p.arch && l->checks & (CHECK_UNITS | CHECK_BOUNDS)) {
		status = walk(&p, count_unit);
		report_units(&p);
	}
	if (status >= 0 && l->checks & (CHECK_BOUNDS | CHECK_ALIAS))
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
		if (!strcmp(count->init, dataset_init_name((enum tact_init)i)))
			g.init = (enum tact_init)i;
	/* once for each status, and for each of several machines of the same name */
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->group[i].machine, g.machine) &&
		    !strcmp(list->group[i].arch, g.arch) && list->group[i].mode == g.mode &&
		    list->group[i].init == g.init)
			return 0;
	list->group = cli_realloc(list->group, (list->n + 1) * sizeof(*list->group));
	list->group[list->n++] = g;
	return 0;
}

static bool is_chosen(const struct dataset *d, const struct group *g)
{
	return (!d->machine || !strcmp(d->machine, g->machine)) &&
	       (!d->arch || !strcmp(d->arch, g->arch)) &&
	       (d->mode < 0 || d->mode == (int)g->mode) && (d->init < 0 || d->init == (int)g->init);
}

int linter_check_rows(struct linter *l)
{
	struct group_list list = {0};
	int status;

	if (!(l->checks & (CHECK_UNITS | CHECK_BOUNDS | CHECK_ALIAS)))
		return 0;
	status = tact_store_count(l->store, TACT_COUNT_MEASUREMENTS, add_group, &list, &l->diag);
	for (size_t i = 0; i < list.n && status >= 0; i++)
		if (is_chosen(l->d, &list.group[i]))
			status = check_group(l, &list.group[i]);
	free(list.group);
	return status;
}
