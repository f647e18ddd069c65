/* SPDX-License-Identifier: MIT
 *
 * What the pieces of two versions cost, and in which order they are shown.
 */
#include "diff/codediff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/block.h>
#include <tact/model.h>

#include "code/likeness.h"

/* ---- costs ---- */

static void take(struct code_cost *cost, const struct tact_estimate *e)
{
	cost->cycles = e->cycles_per_iteration;
	cost->coverage = e->coverage;
	cost->bottlenecks = e->bottlenecks;
	cost->scheduling = e->scheduling;
}

/* Fills the costs of all pieces of one version on one CPU, which are n_archs apart. */
static int estimate(struct tact_codediff *d, const struct tact_code *code, size_t arch,
		    const char *model, struct code_cost *costs, struct tact_diag *diag)
{
	struct tact_model_options how = {.size = sizeof(how), .arch = d->archs[arch]};
	struct tact_block_options block_options = TACT_BLOCK_OPTIONS_INIT;
	struct tact_estimator *estimator = NULL;
	struct tact_block *block = NULL;
	int status = tact_model_open(&estimator, model, &how, diag);

	if (status >= 0)
		status = tact_block_create(&block, d->archs[arch], &block_options, diag);
	for (size_t i = 0; i < code->n && status >= 0; i++) {
		const struct code_piece *p = &code->pieces[i];
		struct code_cost *cost = &costs[i * d->n_archs + arch];
		struct tact_estimate e = TACT_ESTIMATE_INIT;

		block_options.alignment = p->alignment;
		block_options.moving = p->moving;
		block_options.setting = p->setting;
		block_options.mode = p->is_loop ? TACT_MODE_LOOP : TACT_MODE_AUTO;
		cost->status = tact_block_rebind(block, NULL, &block_options);
		if (!cost->status)
			cost->status = tact_block_load(block, p->code, p->code_size, NULL);
		if (!cost->status)
			cost->status = tact_model_estimate(estimator, block, &e);
		if (cost->status == -TACT_E_NOMEM)
			status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
		else if (!cost->status)
			take(cost, &e);
	}
	tact_block_destroy(block);
	tact_model_close(estimator);
	return status < 0 ? status : 0;
}

static bool is_alike(double a, double b)
{
	return fabs(a - b) < 0.005; /* two decimals are shown */
}

double codediff_ratio(const struct codediff_row *row, size_t arch)
{
	const struct code_cost *a, *b;

	if (!row->side[0] || !row->side[1])
		return 0;
	a = &row->cost[0][arch];
	b = &row->cost[1][arch];
	if (a->status || b->status)
		return 0;
	if (is_alike(a->cycles, b->cycles))
		return 1;
	return a->cycles > 0 ? b->cycles / a->cycles : 0;
}

int codediff_common(struct codediff_common *out, const struct codediff_row *row)
{
	const struct code_piece *a = row->side[0], *b = row->side[1];
	const size_t n_a = a ? a->n_insns : 0, n_b = b ? b->n_insns : 0;
	long n = 0;

	*out = (struct codediff_common){.side = {calloc(n_a + n_b + 1, sizeof(bool)), NULL}};
	if (!out->side[0])
		return -TACT_E_NOMEM;
	out->side[1] = out->side[0] + n_a;
	if (a && b)
		n = code_align(a->insns, n_a, b->insns, n_b, out->side[0], out->side[1]);
	if (n < 0) {
		free(out->side[0]);
		return -TACT_E_NOMEM;
	}
	out->n = (size_t)n;
	return 0;
}

/* ---- rows ---- */

/* Finds out what kind a row is, and counts it. */
static void judge(struct tact_codediff *d, struct codediff_row *row)
{
	struct tact_codediff_summary *s = &d->summary;
	bool is_slower = false, is_faster = false;

	if (!row->side[0] || !row->side[1]) {
		row->kind = CODEDIFF_ONLY;
		s->n_only[row->side[0] ? 0 : 1]++;
		/* What takes most cycles on a CPU comes first. */
		for (size_t i = 0; i < d->n_archs; i++) {
			const struct code_cost *cost = &row->cost[row->side[0] ? 0 : 1][i];

			row->change = cost->status ? row->change : fmax(row->change, cost->cycles);
		}
		return;
	}
	s->n_pairs++;
	row->kind = CODEDIFF_SAME;
	for (size_t i = 0; i < d->n_archs; i++) {
		const double ratio = codediff_ratio(row, i);

		if (!(ratio > 0)) {
			row->kind = CODEDIFF_FAILED;
			continue;
		}
		is_slower |= ratio > 1;
		is_faster |= ratio < 1;
		row->change = fmax(row->change, fabs(log(ratio)));
		if (ratio > s->worst) {
			s->worst = ratio;
			s->worst_name =
				*row->side[1]->name ? row->side[1]->name : row->side[0]->name;
			s->worst_cpu = d->archs[i];
		}
	}
	if (is_slower || is_faster)
		row->kind = CODEDIFF_CHANGED;
	s->n_slower += is_slower;
	s->n_faster += is_faster;
	s->n_failed += row->kind == CODEDIFF_FAILED;
	s->n_same += row->kind == CODEDIFF_SAME;
}

static int compare(const void *a, const void *b)
{
	const struct codediff_row *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->change != y->change)
		return x->change > y->change ? -1 : 1;
	return ORDER(x->order, y->order);
}

/* Rows in the order of B; what only A has comes where its function's place would be: last. */
static void make_rows(struct tact_codediff *d, const long *other_a, const long *other_b)
{
	const struct tact_code *a = d->side[0], *b = d->side[1];
	const struct code_cost *costs_b = d->costs + a->n * d->n_archs;

	for (size_t k = 0; k < b->n; k++) {
		struct codediff_row *row = &d->rows[d->n_rows++];

		row->side[1] = &b->pieces[k];
		row->cost[1] = costs_b + k * d->n_archs;
		if (other_b[k] == PIECE_NONE)
			continue;
		row->side[0] = &a->pieces[other_b[k]];
		row->cost[0] = d->costs + (size_t)other_b[k] * d->n_archs;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (other_a[i] != PIECE_NONE)
			continue;
		d->rows[d->n_rows++] = (struct codediff_row){
			.side = {&a->pieces[i], NULL}, .cost = {d->costs + i * d->n_archs, NULL}};
	}
	for (size_t i = 0; i < d->n_rows; i++) {
		d->rows[i].order = i;
		judge(d, &d->rows[i]);
	}
	if (d->n_rows)
		qsort(d->rows, d->n_rows, sizeof(*d->rows), compare);
}

static int pair(struct tact_codediff *d, struct tact_diag *diag)
{
	const struct tact_code *a = d->side[0], *b = d->side[1];
	long *other_a = malloc((a->n + 1) * sizeof(*other_a));
	long *other_b = malloc((b->n + 1) * sizeof(*other_b));
	int status = other_a && other_b ? diff_pair(a, b, other_a, other_b) : -TACT_E_NOMEM;

	if (!status)
		make_rows(d, other_a, other_b);
	FREE_ALL(other_a, other_b);
	return status ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

static int fill(struct tact_codediff *d, const struct tact_codediff_options *opt,
		struct tact_diag *diag)
{
	const size_t n = d->side[0]->n + d->side[1]->n;
	const char *model = opt->model ? opt->model : "facile";
	int status = 0;

	d->n_archs = opt->n_archs;
	d->summary.size = sizeof(d->summary);
	d->archs = calloc(opt->n_archs, sizeof(const struct tact_arch *));
	d->rows = calloc(n + 1, sizeof(*d->rows));
	d->costs = calloc(n * opt->n_archs + 1, sizeof(*d->costs));
	if (!d->archs || !d->rows || !d->costs)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < opt->n_archs; i++) {
		d->archs[i] = opt->archs[i];
		if (d->side[0]->isa != d->side[1]->isa)
			return tact_fail(diag, TACT_E_INVAL,
					 "A is %s code, and B %s: only code of one set is compared",
					 tact_isa_title(d->side[0]->isa),
					 tact_isa_title(d->side[1]->isa));
		if (tact_arch_isa(opt->archs[i]) != d->side[0]->isa)
			return tact_fail(diag, TACT_E_INVAL,
					 "A and B are %s code, and %s executes %s: -a NAME chooses "
					 "another CPU, 'tact archs' lists them",
					 tact_isa_title(d->side[0]->isa),
					 tact_arch_name(opt->archs[i]),
					 tact_isa_title(tact_arch_isa(opt->archs[i])));
	}
	for (size_t i = 0; i < opt->n_archs && status >= 0; i++) {
		status = estimate(d, d->side[0], i, model, d->costs, diag);
		if (status >= 0)
			status = estimate(d, d->side[1], i, model,
					  d->costs + d->side[0]->n * d->n_archs, diag);
	}
	return status < 0 ? status : pair(d, diag);
}

int tact_codediff_create(struct tact_codediff **out, const struct tact_code *a,
			 const struct tact_code *b, const struct tact_codediff_options *opt,
			 struct tact_diag *diag)
{
	struct tact_codediff_options how;
	struct tact_codediff *d;
	int status;

	if (out)
		*out = NULL;
	if (tact_read_options(&how, sizeof(how), opt))
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	status = tact_new(&d, sizeof(*d), out && a && b && how.archs && how.n_archs,
			  "two versions of code and a CPU are needed", diag);
	if (status < 0)
		return status;
	d->side[0] = a;
	d->side[1] = b;
	status = fill(d, &how, diag);
	return HAND_OVER(out, d, status, tact_codediff_destroy);
}

void tact_codediff_destroy(struct tact_codediff *d)
{
	if (!d)
		return;
	FREE_ALL(d->archs, d->rows, d->costs);
	free(d);
}

int tact_codediff_get_summary(const struct tact_codediff *d, struct tact_codediff_summary *out)
{
	return d ? tact_fill(out, &d->summary, sizeof(d->summary)) : -TACT_E_INVAL;
}
