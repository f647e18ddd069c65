/* SPDX-License-Identifier: MIT
 *
 * Learns intervals from measured rows: split-conformal prediction, class by class.
 *
 * The score of a row is measured / predicted.  If rows are exchangeable, a new row of the class
 * falls below the k-th smallest of n scores with probability k / (n + 1): that is the correction for
 * finite samples, with interpolation between neighbours.  Vovk, Gammerman, Shafer: Algorithmic
 * Learning in a Random World, 2005; Lei et al., JASA 113 (2018), section 2.2.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "evaluate/evaluation.h"

enum {
	MIN_SET = 300,	 /* rows, or the CPU and mode gets no table */
	MIN_LEAF = 200,	 /* rows of a class of one length; fewer join the others of their kind */
	MIN_KIND = 100,	 /* rows of these; fewer join the others of all kinds */
	MIN_OTHERS = 50, /* rows of these; fewer: all rows of the set stand in for them */
	NO_PROGRAM = -1, /* folds count from 0 */
	ALL = -2,	 /* no fold is left out */
	MAX_LINES = (CONFIDENCE_N_KINDS + 1) * CONFIDENCE_N_LENGTHS
};

struct sample {
	double ratio;
	struct confidence_class of;
	int half, program; /* the fold that it belongs to */
};

struct learned {
	struct confidence_line line[MAX_LINES];
	size_t n;
};

/* The samples of a set and model while they are learned from. */
struct lesson {
	const struct sample *sample;
	size_t n;
	double *ratio; /* owned; room for n */
	uint8_t mode, model;
	bool by_program; /* the folds are programs; else halves */
	int without;	 /* the fold that is left out, or ALL */
};

struct calibration {
	struct tact_calibration view; /* first; its array is owned */
	struct learned *learned;      /* owned; parallel to it */
};

/* ---- intervals ---- */

static int by_value(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

/* Interpolates between order statistics; rank 1 is the smallest. */
static double at_rank(const double *sorted, size_t n, double rank)
{
	double low = floor(rank);
	size_t i = (size_t)low;

	if (rank <= 1)
		return sorted[0];
	if (i >= n)
		return sorted[n - 1];
	return sorted[i - 1] + (rank - low) * (sorted[i] - sorted[i - 1]);
}

/* How the tenth outside is divided: the narrowest interval counts.  Few choices, so that choosing
 * does not make it too narrow.
 */
static const double shares_below[] = {0.05, 0.035, 0.065, 0.02, 0.08, 0.01, 0.09};

static struct confidence_line interval(const struct lesson *l, struct confidence_class of, size_t n)
{
	double low = 0, high = HUGE_VAL;

	qsort(l->ratio, n, sizeof(*l->ratio), by_value);
	for (size_t i = 0; i < ARRAY_SIZE(shares_below); i++) {
		double a = at_rank(l->ratio, n, shares_below[i] * (double)(n + 1));
		double b = at_rank(l->ratio, n,
				   (shares_below[i] + CONFIDENCE_LEVEL) * (double)(n + 1));

		if (b - a < high - low) {
			low = a;
			high = b;
		}
	}
	/* An interval without its own prediction would be hard to explain.  Rounding outwards keeps
	 * rows on the border, of which there are many if cycles have two digits.
	 */
	low = fmax(floor(fmin(low, 1) * 1e4 - 0.01) / 1e4, 1e-4);
	high = ceil(fmax(high, 1) * 1e4 + 0.01) / 1e4;
	return (struct confidence_line){.mode = l->mode,
					.model = l->model,
					.of = of,
					.rows = (uint32_t)n,
					.low = low,
					.high = high};
}

/* ---- classes ---- */

static int fold_of(const struct lesson *l, const struct sample *s)
{
	return l->by_program ? s->program : s->half;
}

/* Gathers the ratios of the classes that are marked. */
static size_t gather(const struct lesson *l, bool marked[CONFIDENCE_N_KINDS][CONFIDENCE_N_LENGTHS])
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct sample *s = &l->sample[i];

		if (marked[s->of.kind][s->of.length] && fold_of(l, s) != l->without)
			l->ratio[n++] = s->ratio;
	}
	return n;
}

/* Learns the lines of one kind, and marks what has none as one of the others. */
static void learn_kind(const struct lesson *l, uint8_t kind, struct learned *out,
		       bool others[CONFIDENCE_N_KINDS][CONFIDENCE_N_LENGTHS])
{
	bool rest[CONFIDENCE_N_KINDS][CONFIDENCE_N_LENGTHS] = {0};
	size_t n;

	for (uint8_t length = CONFIDENCE_SHORT; length < CONFIDENCE_N_LENGTHS; length++) {
		bool one[CONFIDENCE_N_KINDS][CONFIDENCE_N_LENGTHS] = {0};

		one[kind][length] = true;
		n = gather(l, one);
		if (n >= MIN_LEAF)
			out->line[out->n++] =
				interval(l, (struct confidence_class){kind, length}, n);
		else
			rest[kind][length] = true;
	}
	n = gather(l, rest);
	if (n >= MIN_KIND)
		out->line[out->n++] =
			interval(l, (struct confidence_class){kind, CONFIDENCE_ANY_LENGTH}, n);
	else
		memcpy(others[kind], rest[kind], sizeof(rest[kind]));
}

static void learn(const struct lesson *l, struct learned *out)
{
	bool others[CONFIDENCE_N_KINDS][CONFIDENCE_N_LENGTHS] = {0};
	size_t n;

	out->n = 0;
	for (uint8_t kind = 0; kind < CONFIDENCE_N_KINDS; kind++)
		learn_kind(l, kind, out, others);
	n = gather(l, others);
	if (n < MIN_OTHERS) {
		memset(others, true, sizeof(others));
		n = gather(l, others);
	}
	if (n)
		out->line[out->n++] = interval(
			l, (struct confidence_class){CONFIDENCE_ANY_KIND, CONFIDENCE_ANY_LENGTH},
			n);
}

/* ---- trying it on other rows ---- */

struct trial {
	size_t rows, held;
	double *width; /* borrowed; of each */
};

static void try_fold(const struct lesson *l, const struct learned *learned, struct trial *t)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct sample *s = &l->sample[i];
		const struct confidence_line *line;

		if (fold_of(l, s) != l->without)
			continue;
		line = confidence_find(learned->line, learned->n, l->mode, l->model, s->of);
		if (!line)
			continue;
		t->width[t->rows++] = line->high - line->low;
		t->held += s->ratio >= line->low && s->ratio <= line->high;
	}
}

static bool has_fold(const struct lesson *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (fold_of(l, &l->sample[i]) == l->without)
			return true;
	return false;
}

static void try_folds(struct lesson *l, bool by_program, int n_folds, struct learned *scratch,
		      struct trial *t)
{
	l->by_program = by_program;
	for (l->without = 0; l->without < n_folds; l->without++) {
		if (!has_fold(l))
			continue; /* a program of another set */
		learn(l, scratch);
		try_fold(l, scratch, t);
	}
	l->without = ALL;
}

/* Learns from all samples, and says what held of those that were left out. */
static int study(struct lesson *l, int n_programs, struct learned *out,
		 struct tact_calibrated *said)
{
	struct learned *scratch = malloc(sizeof(*scratch));
	double *width = malloc((l->n + 1) * sizeof(*width));
	struct trial halves = {.width = width}, programs = {.width = width};

	l->ratio = malloc((l->n + 1) * sizeof(*l->ratio));
	if (!scratch || !width || !l->ratio) {
		FREE_ALL(scratch, width, l->ratio);
		return -TACT_E_NOMEM;
	}
	try_folds(l, true, n_programs, scratch, &programs);
	try_folds(l, false, 2, scratch, &halves);
	learn(l, out);
	qsort(width, halves.rows, sizeof(*width), by_value);
	said->rows = l->n;
	said->held = (double)halves.held / (double)halves.rows;
	said->width = width[halves.rows / 2];
	said->program_rows = programs.rows;
	said->program_held = programs.rows ? (double)programs.held / (double)programs.rows : 0;
	FREE_ALL(scratch, width, l->ratio);
	return 0;
}

/* ---- rows ---- */

struct collecting {
	const struct evaluation *e;
	size_t model;
	uint32_t set;
	struct sample *sample; /* owned; room for all */
	size_t n;
};

static void collect(struct collecting *c)
{
	c->n = 0;
	for (size_t i = 0; i < c->e->n_samples; i++) {
		const struct evaluation_sample *s = &c->e->sample[i];

		if (s->set == c->set && s->model == c->model)
			c->sample[c->n++] = (struct sample){.ratio = s->ratio,
							    .of = s->of,
							    .half = s->half,
							    .program = s->program};
	}
}

static int add_set(struct calibration *c, struct collecting *from, int n_programs)
{
	const struct tact_evaluation *view = &from->e->view;
	const struct tact_evaluated_set *set = &view->set[from->set];
	struct lesson l = {.sample = from->sample,
			   .mode = (uint8_t)set->mode,
			   .model = (uint8_t)confidence_model_find(view->model[from->model].model),
			   .without = ALL};
	int status;

	collect(from);
	l.n = from->n;
	if (l.n < MIN_SET)
		return 0;
	c->view.set[c->view.n] = (struct tact_calibrated){
		.arch = set->arch, .mode = set->mode, .model = view->model[from->model].model};
	status = study(&l, n_programs, &c->learned[c->view.n], &c->view.set[c->view.n]);
	c->view.n += status >= 0;
	return status;
}

static int calibrate(struct calibration *c, const struct evaluation *e)
{
	const struct tact_evaluation *view = &e->view;
	struct collecting from = {.e = e,
				  .sample = malloc((e->n_samples + 1) * sizeof(struct sample))};
	int status = from.sample ? 0 : -TACT_E_NOMEM;

	for (from.set = 0; from.set < view->n_sets && status >= 0; from.set++)
		for (from.model = 0; from.model < view->n_models && status >= 0; from.model++)
			if (confidence_model_find(view->model[from.model].model) >= 0)
				status = add_set(c, &from, (int)view->by[TACT_BY_APP].n);
	free(from.sample);
	return status;
}

int tact_calibration_create(struct tact_calibration **out, const struct tact_evaluation *e,
			    struct tact_diag *diag)
{
	struct calibration *c;
	size_t room;
	int status;

	if (!out || !e)
		return tact_fail(diag, TACT_E_INVAL, "no evaluation");
	*out = NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	room = e->n_sets * e->n_models + 1;
	c->view.set = calloc(room, sizeof(*c->view.set));
	c->learned = calloc(room, sizeof(*c->learned));
	status = c->view.set && c->learned ? calibrate(c, evaluation_of_const(e)) : -TACT_E_NOMEM;
	if (status < 0)
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else if (!c->view.n)
		status = tact_fail(diag, TACT_E_NO_DATA,
				   "no CPU and mode has %d rows that facile or sim predicts",
				   MIN_SET);
	if (status < 0)
		tact_calibration_destroy(&c->view);
	else
		*out = &c->view;
	return status;
}

void tact_calibration_destroy(struct tact_calibration *view)
{
	struct calibration *c = (struct calibration *)view;

	if (view)
		FREE_ALL(view->set, c->learned, c);
}

/* ---- the table ---- */

int tact_calibration_table(const struct tact_calibration *view, const struct tact_arch *arch,
			   const char *origin, char **text)
{
	const struct calibration *c = (const struct calibration *)view;
	struct text out = {0};

	if (!view || !arch || !origin || !text)
		return -TACT_E_INVAL;
	text_printf(
		&out,
		"# Nine of ten measurements of such a block lie between low and high times the\n"
		"# prediction.  Written by tact evaluate --calibrate, from rows of %s.\n"
		"mode\tmodel\tclass\tlength\trows\tlow\thigh\n",
		origin);
	for (size_t i = 0; i < view->n; i++)
		for (size_t k = 0; k < c->learned[i].n && view->set[i].arch == arch; k++) {
			const struct confidence_line *l = &c->learned[i].line[k];

			text_printf(&out, "%s\t%s\t%s\t%s\t%u\t%.4f\t%.4f\n",
				    tact_mode_name((enum tact_mode)l->mode), view->set[i].model,
				    confidence_kind_name(l->of.kind),
				    confidence_length_name(l->of.length), l->rows, l->low, l->high);
		}
	*text = text_string(&out);
	return *text ? 0 : -TACT_E_NOMEM;
}
