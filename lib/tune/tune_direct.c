/* SPDX-License-Identifier: MIT
 *
 * The method `direct`: the exact change of the training error, parameter by parameter.
 *
 * A parameter of a form only affects the rows in which the form occurs, so the effect of another
 * value is known once these are evaluated again.  Sites are taken by number of rows; each finds its
 * best values with all others held fixed; a group of sites is searched at the same time, then
 * applied one after the other, each only if it still saves error.  Sweeps continue until one saves
 * little, or until the validation rows get worse.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tune.h"

enum {
	GROUP = 8, /* sites that are searched at the same time; fixed, so that the number of threads
		      does not change the result */
	SAMPLE = 128,	/* rows of a large site on which a value is tried first */
	MAX_MOVES = 24, /* of a site in a sweep */
	MAX_SWEEPS = 12,
	FINER = 3 /* see refine */
};

struct move {
	uint32_t param;
	int value;
};

/* The result of a site's search. */
struct finding {
	const struct tune_site *site;
	unsigned n_moves;
	struct move moves[MAX_MOVES];
	double gain;
	uint64_t evaluations;
};

struct sweep {
	struct finding findings[GROUP];
	double min_gain;
	double *seen;	    /* by site and row: the error when the site was last searched */
	const double *fall; /* by parameter: error that a smaller value could save; NULL: unknown */
};

/* ---- one site ---- */

/* Fills w->trial with the errors of the site's rows under w's table; stops early if a sample of
 * them shows that it gets worse.  Returns 1 if all were evaluated, 0 if it stopped, < 0.
 */
static int try_rows(struct tune_worker *w, struct finding *f, double *delta)
{
	const struct tune_site *site = f->site;
	const uint32_t *rows = w->t->site_rows + site->first_row;
	uint32_t stride = site->n_rows / SAMPLE;
	double sum = 0;

	for (uint32_t phase = 0; phase < (stride ? stride : 1); phase++) {
		for (uint32_t k = phase; k < site->n_rows; k += stride ? stride : 1) {
			double cycles;
			int status = tune_predict(w, rows[k], &cycles);

			if (status < 0)
				return status;
			f->evaluations++;
			w->trial[k] = tune_relative(cycles, w->t->rows.rows[rows[k]].cycles);
			sum += w->trial[k] - w->errors[k];
		}
		/* A small part first, then about a tenth: most values are given up there. */
		if ((!phase || phase == stride / 8) && stride > 1 && sum >= 0)
			return 0;
	}
	*delta = sum;
	return 1;
}

/* Returns the error in rows that are predicted too low (or too high): no more can be saved. */
static double room(const struct tune_worker *w, const struct tune_site *site, bool too_low)
{
	const uint32_t *rows = w->t->site_rows + site->first_row;
	double sum = 0;

	for (uint32_t k = 0; k < site->n_rows; k++) {
		const struct tact_tuner *t = w->t;

		if ((t->predicted[rows[k]] < t->rows.rows[rows[k]].cycles) == too_low)
			sum += w->errors[k];
	}
	return sum;
}

static unsigned add(int *list, unsigned n, const struct tune_param *p, int present, int value)
{
	if (value < p->low || value > p->high || value == present)
		return n;
	for (unsigned i = 0; i < n; i++)
		if (list[i] == value)
			return n;
	list[n] = value;
	return n + 1;
}

/* Lists values worth trying: near ones, and those of real instructions. */
enum { MAX_CANDIDATES = 80 };
static unsigned candidates(const struct tact_tuner *t, const struct tune_param *p, int v, int *list)
{
	static const int near[] = {1, -1, 2, -2, 4, -4};
	static const int latencies[] = {0, 1, 4, 5};
	static const int advances[] = {0, 5};
	unsigned n = 0;

	if (p->kind == TUNE_PORT_SET) {
		for (unsigned i = 0; i < t->n_port_sets; i++)
			n = add(list, n, p, v, t->port_sets[i]);
		return n;
	}
	if (p->kind == TACT_MCA_PORT_CYCLES) {
		n = add(list, n, p, v, v + 1);
		n = add(list, n, p, v, v - 1);
		return v ? add(list, n, p, v, 0) : n;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(near); i++)
		if (abs(near[i]) < (p->kind == TACT_MCA_READ_ADVANCE ? 2 : 4) ||
		    p->kind == TUNE_LATENCY || p->kind == TACT_MCA_LATENCY || p->kind == TUNE_HOLD)
			n = add(list, n, p, v, v + near[i]);
	if (p->kind == TACT_MCA_LATENCY || p->kind == TUNE_LATENCY)
		for (unsigned i = 0; i < ARRAY_SIZE(latencies); i++)
			n = add(list, n, p, v, latencies[i]);
	if (p->kind == TACT_MCA_READ_ADVANCE)
		for (unsigned i = 0; i < ARRAY_SIZE(advances); i++)
			n = add(list, n, p, v, advances[i]);
	if (v >= 8) {
		n = add(list, n, p, v, v / 2);
		n = add(list, n, p, v, v * 3 / 4);
		n = add(list, n, p, v, v * 5 / 4);
	}
	return n;
}

/* Tries the values of one parameter; the best one stays in w's table and its errors in w->errors.
 * Returns 1 if there was a better one.
 */
static int improve_param(struct tune_worker *w, struct sweep *s, struct finding *f, uint32_t index,
			 double room_up, double room_down)
{
	const struct tune_param *p = &w->t->params[index];
	int list[MAX_CANDIDATES], present = tune_value(&w->table, p), best = present;
	unsigned n = candidates(w->t, p, present, list);
	/* A port set has no direction; neither has an advance, which shortens. */
	bool ordered = p->kind != TUNE_PORT_SET && p->kind != TACT_MCA_READ_ADVANCE;
	double best_delta = -s->min_gain, delta;
	double *saved = w->trial;

	if (s->fall && s->fall[index] < room_down)
		room_down = s->fall[index];
	for (unsigned i = 0; i < n; i++) {
		double limit = list[i] > present ? room_up : room_down;
		int status;

		if (!ordered)
			limit = room_up > room_down ? room_up : room_down;
		if (limit < s->min_gain)
			continue;
		tune_assign(&w->table, p, list[i]);
		status = try_rows(w, f, &delta);
		if (status < 0) {
			tune_assign(&w->table, p, present);
			return status;
		}
		if (status && delta < best_delta) {
			best_delta = delta;
			best = list[i];
		}
	}
	tune_assign(&w->table, p, best);
	if (best == present)
		return 0;
	/* The corresponding errors. */
	if (try_rows(w, f, &delta) <= 0) {
		tune_assign(&w->table, p, present);
		return 0;
	}
	w->trial = w->errors;
	w->errors = saved;
	f->gain -= best_delta;
	if (f->n_moves < MAX_MOVES)
		f->moves[f->n_moves++] = (struct move){index, best};
	return 1;
}

static int search_site(struct tune_worker *w, size_t item, void *context)
{
	struct sweep *s = context;
	struct finding *f = &s->findings[item];
	const struct tune_site *site = f->site;
	struct tact_tuner *t = w->t;
	int before[256];
	unsigned n = site->n_params < 256 ? site->n_params : 256;
	int status = 0;

	if (!site->n_params)
		return 0;
	for (uint32_t k = 0; k < site->n_rows; k++)
		w->errors[k] = t->error[t->site_rows[site->first_row + k]];
	for (unsigned i = 0; i < n; i++)
		before[i] = tune_value(&w->table, &t->params[site->first_param + i]);
	for (unsigned i = 0; i < n && status >= 0; i++)
		status = improve_param(w, s, f, site->first_param + i, room(w, site, true),
				       room(w, site, false));
	/* The current table is the same for all until the moves are applied. */
	for (unsigned i = 0; i < n; i++)
		tune_assign(&w->table, &t->params[site->first_param + i], before[i]);
	return status < 0 ? status : 0;
}

/* ---- applying ---- */

struct rows_job {
	const uint32_t *rows;
	size_t n;
	double *predicted;
};

enum { SLICE = 64 };

static int predict_slice(struct tune_worker *w, size_t item, void *context)
{
	struct rows_job *job = context;
	size_t end = (item + 1) * SLICE < job->n ? (item + 1) * SLICE : job->n;

	for (size_t k = item * SLICE; k < end; k++) {
		int status = tune_predict(w, job->rows[k], &job->predicted[k]);

		if (status < 0)
			return status;
	}
	return 0;
}

/* Applies the moves of a site to all tables, if they still save error. */
static int apply(struct tact_tuner *t, const struct finding *f, double *scratch, double min_gain)
{
	struct rows_job job = {t->site_rows + f->site->first_row, f->site->n_rows, scratch};
	const struct tune_result result = {scratch, SLICE * sizeof(*scratch),
					   job.n * sizeof(*scratch)};
	int before[MAX_MOVES], status;
	double delta = 0;

	for (unsigned i = 0; i < f->n_moves; i++) {
		const struct tune_param *p = &t->params[f->moves[i].param];

		before[i] = tune_value(&t->workers[0].table, p);
		tune_set(t, p, f->moves[i].value);
	}
	status = tune_parallel_shared(t, (job.n + SLICE - 1) / SLICE, predict_slice, &job, &result,
				      1);
	t->evaluations += job.n;
	if (status < 0)
		return status;
	for (size_t k = 0; k < job.n; k++)
		delta += tune_relative(scratch[k], t->rows.rows[job.rows[k]].cycles) -
			 t->error[job.rows[k]];
	if (delta > -min_gain) {
		for (unsigned i = f->n_moves; i-- > 0;)
			tune_set(t, &t->params[f->moves[i].param], before[i]);
		return 0;
	}
	for (size_t k = 0; k < job.n; k++) {
		t->predicted[job.rows[k]] = scratch[k];
		t->error[job.rows[k]] = tune_relative(scratch[k], t->rows.rows[job.rows[k]].cycles);
	}
	return 1;
}

/* Globals: every training row counts. */
static int search_globals(struct tact_tuner *t, double min_gain)
{
	unsigned parts = 1u << TACT_TUNE_TRAIN;
	double best = tune_error_of(t, TACT_TUNE_TRAIN), gain = min_gain;
	int list[MAX_CANDIDATES], status;

	gain /= (double)(t->rows.n_part[TACT_TUNE_TRAIN] + 1);
	for (size_t g = 0; g < t->n_globals; g++) {
		const struct tune_param *p = &t->params[g];
		int present = tune_value(&t->workers[0].table, p), chosen = present;
		unsigned n = candidates(t, p, present, list);

		for (unsigned i = 0; i < n; i++) {
			double error;

			tune_set(t, p, list[i]);
			status = tune_evaluate_parts(t, parts);
			if (status < 0)
				return status;
			error = tune_error_of(t, TACT_TUNE_TRAIN);
			if (error < best - gain) {
				best = error;
				chosen = list[i];
			}
		}
		tune_set(t, p, chosen);
	}
	return t->n_globals ? tune_evaluate_parts(t, parts) : 0;
}

/* ---- sweeps ---- */

/* By parameter: error of rows that are predicted too high and depend on it (subgradients of
 * FACILE).
 */
static int find_falls(struct tact_tuner *t, double *fall)
{
	struct tune_slope slopes[TUNE_MAX_SLOPES];

	memset(fall, 0, t->n_params * sizeof(*fall));
	for (size_t r = 0; r < t->rows.n; r++) {
		const struct tune_row *row = &t->rows.rows[r];
		double cycles;
		int n;

		if (row->part != TACT_TUNE_TRAIN || t->predicted[r] <= row->cycles)
			continue;
		n = tune_gradient(&t->workers[0], (uint32_t)r, &cycles, slopes);
		if (n < 0)
			return n;
		for (int i = 0; i < n; i++)
			if (slopes[i].slope > 0)
				fall[slopes[i].param] += t->error[r];
	}
	return 0;
}

static double time_left(const struct tact_tuner *t, unsigned sweep, double done)
{
	double used = tune_seconds() - t->start_seconds;
	double share = ((double)sweep + done) / MAX_SWEEPS;

	return share > 0.01 ? used / share - used : NAN;
}

/* Returns whether enough has changed in a site's rows since it was last searched. */
static bool is_stale(struct tact_tuner *t, const struct sweep *s, const struct tune_site *site,
		     unsigned sweep)
{
	const uint32_t *rows = t->site_rows + site->first_row;
	double changed = 0;

	if (!sweep)
		return true;
	for (uint32_t k = 0; k < site->n_rows; k++)
		changed += fabs(t->error[rows[k]] - s->seen[site->first_row + k]);
	return changed > s->min_gain;
}

static void note_seen(struct tact_tuner *t, struct sweep *s, const struct tune_site *site)
{
	for (uint32_t k = 0; k < site->n_rows; k++)
		s->seen[site->first_row + k] = t->error[t->site_rows[site->first_row + k]];
}

/* Searches sites at the same time; other ranks have theirs at other addresses. */
static int search_group(struct tact_tuner *t, struct sweep *s, size_t n)
{
	const struct tune_result result = {s->findings, sizeof(s->findings[0]),
					   n * sizeof(s->findings[0])};
	const struct tune_site *sites[GROUP];
	int status;

	for (size_t i = 0; i < n; i++)
		sites[i] = s->findings[i].site;
	status = tune_parallel_shared(t, n, search_site, s, &result, 1);
	for (size_t i = 0; i < n; i++)
		s->findings[i].site = sites[i];
	return status;
}

static int sweep_sites(struct tact_tuner *t, struct sweep *s, double *scratch, unsigned sweep,
		       double validation)
{
	int status = 0;

	for (size_t next = 0; next < t->n_sites && status >= 0;) {
		double done = (double)next / (double)t->n_sites;
		size_t n = 0;

		for (; next < t->n_sites && n < GROUP; next++)
			if (is_stale(t, s, &t->sites[next], sweep))
				s->findings[n++] = (struct finding){.site = &t->sites[next]};
		for (size_t i = 0; i < n; i++)
			note_seen(t, s, s->findings[i].site);
		status = search_group(t, s, n);
		for (size_t i = 0; i < n && status >= 0; i++) {
			t->evaluations += s->findings[i].evaluations;
			if (s->findings[i].n_moves)
				status = apply(t, &s->findings[i], scratch, s->min_gain);
		}
		if (status >= 0)
			status = tune_report(t, "sweep", sweep + 1, MAX_SWEEPS, done,
					     tune_error_of(t, TACT_TUNE_TRAIN), validation,
					     time_left(t, sweep, done));
		if (t->opt.budget && t->evaluations >= t->opt.budget)
			break;
	}
	return status < 0 ? status : 0;
}

static int run_sweeps(struct tact_tuner *t, struct sweep *s, int *best, double *scratch,
		      double *fall)
{
	const unsigned seen = 1u << TACT_TUNE_TRAIN | 1u << TACT_TUNE_VALIDATION;
	int status = tune_evaluate_parts(t, seen);
	double validation = tune_error_of(t, TACT_TUNE_VALIDATION), loss;

	tune_values_get(t, best);
	for (unsigned sweep = 0; sweep < MAX_SWEEPS && status >= 0; sweep++) {
		double before = tune_error_of(t, TACT_TUNE_TRAIN), now;

		if (t->has_slopes) {
			status = find_falls(t, fall);
			s->fall = fall;
		}
		if (status >= 0)
			status = search_globals(t, s->min_gain);
		if (status >= 0)
			status = sweep_sites(t, s, scratch, sweep, validation);
		if (status >= 0)
			status = tune_evaluate_parts(t, seen);
		if (status < 0)
			break;
		loss = tune_error_of(t, TACT_TUNE_TRAIN);
		now = tune_error_of(t, TACT_TUNE_VALIDATION);
		status = tune_report(t, "sweep", sweep + 1, MAX_SWEEPS, 1, loss, now,
				     time_left(t, sweep, 1));
		if (now < validation) {
			validation = now;
			tune_values_get(t, best);
		}
		if (loss > before * 0.998 || now > validation * 1.02 ||
		    (t->opt.budget && t->evaluations >= t->opt.budget))
			break;
	}
	return status;
}

static void multiply(struct tact_mca_params *params, int factor)
{
	static const unsigned globals[] = {TACT_MCA_DISPATCH_WIDTH, TACT_MCA_REORDER_BUFFER};
	unsigned n_forms = tact_isa_form_count(tact_arch_isa(tact_mca_params_arch(params)));
	int value = 0;

	for (unsigned g = 0; g < ARRAY_SIZE(globals); g++) {
		tact_mca_get(params, 0, globals[g], 0, &value);
		tact_mca_set(params, 0, globals[g], 0, value * factor);
	}
	for (unsigned form = 0; form < n_forms; form++) {
		tact_mca_get(params, form, TACT_MCA_MICRO_OPS, 0, &value);
		tact_mca_set(params, form, TACT_MCA_MICRO_OPS, 0, value * factor);
	}
}

/* Counts micro-ops in a finer unit: all of them, the width and the buffer times a number are the
 * same machine, but one in which an instruction can cost a fraction of a slot more.  The start
 * becomes finer as well, so that changes are reported in one unit.
 */
static void refine(struct tact_tuner *t)
{
	t->unit = FINER;
	multiply(t->start.mca, FINER);
	for (unsigned i = 0; i < t->n_workers; i++)
		multiply(t->workers[i].table.mca, FINER);
}

int tune_direct(struct tact_tuner *t, struct tact_diag *diag)
{
	struct sweep *s = calloc(1, sizeof(*s));
	int *best = calloc(t->n_params + 1, sizeof(*best)), status = -TACT_E_NOMEM;
	double *scratch = calloc(t->n_sites ? t->sites[0].n_rows : 1, sizeof(*scratch));
	double *fall = calloc(t->n_params + 1, sizeof(*fall));

	if (s)
		s->seen = calloc(t->n_site_rows + 1, sizeof(*s->seen));
	if (s && s->seen && best && scratch && fall) {
		s->min_gain = t->opt.min_gain;
		if (t->is_mca && t->opt.what & TACT_TUNE_UOPS && t->opt.what & TACT_TUNE_GLOBALS)
			refine(t);
		status = run_sweeps(t, s, best, scratch, fall);
		if (status >= 0)
			tune_values_set(t, best);
	}
	if (s)
		free(s->seen);
	free(s);
	free(best);
	free(scratch);
	free(fall);
	return status < 0 ? tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status))
			  : 0;
}
