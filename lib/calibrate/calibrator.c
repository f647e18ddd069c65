/* SPDX-License-Identifier: MIT
 *
 * A calibration: runs the sweeps, keeps their points, and draws values from them.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/arch.h>

#include "calibrate/calibrate_priv.h"
#include "measure/native.h"

enum { DEFAULT_ROUNDS = 7 };
static const uint64_t DEFAULT_BYTES = 256 << 20, LEAST_BYTES = 1 << 20;
/* Above it, a value is not reliable. */
static const double MOST_SPREAD = 0.2;

struct value {
	const char *name;
	double value, spread;
	char *experiment, *remark; /* owned; remark may be NULL */
};

struct tact_calibrator {
	struct tact_calibrator_options opt;
	size_t n_refused;
	struct tact_sweep_point *points; /* owned; by sweep, and then by `at` */
	size_t n_points, point_capacity;
	struct value *values; /* owned */
	size_t n_values, value_capacity;
	struct knee_point *curve; /* owned; of the last sweep that was asked for */
	size_t curve_capacity;
	bool is_short; /* of memory */
};

/* Three areas of this size should leave half of the free memory alone. */
static uint64_t allowed_bytes(void)
{
	const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t bytes = DEFAULT_BYTES;

	if (pages > 0 && size > 0)
		while (bytes > LEAST_BYTES && bytes > (uint64_t)pages * (uint64_t)size / 6)
			bytes /= 2;
	return bytes;
}

int tact_calibrator_create(struct tact_calibrator **out,
			   const struct tact_calibrator_options *options, struct tact_diag *diag)
{
	static const struct tact_calibrator_options usual = TACT_CALIBRATOR_OPTIONS_INIT;
	struct tact_calibrator *c;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&c, sizeof(*c), out != NULL, "no place for the result", diag);
	if (status < 0)
		return status;
	if (tact_read_options(&c->opt, sizeof(c->opt), options ? options : &usual) < 0)
		status = tact_fail(diag, TACT_E_INVAL, "options of an unknown version");
	if (!c->opt.most_bytes)
		c->opt.most_bytes = allowed_bytes();
	if (c->opt.most_bytes < LEAST_BYTES)
		status = tact_fail(diag, TACT_E_INVAL, "less than 1 MiB shows no caches");
	if (!c->opt.rounds)
		c->opt.rounds = DEFAULT_ROUNDS;
	return HAND_OVER(out, c, status, tact_calibrator_destroy);
}

static void forget_values(struct tact_calibrator *c)
{
	for (size_t i = 0; i < c->n_values; i++)
		FREE_ALL(c->values[i].experiment, c->values[i].remark);
	c->n_values = 0;
}

void tact_calibrator_destroy(struct tact_calibrator *c)
{
	if (!c)
		return;
	forget_values(c);
	FREE_ALL(c->points, c->values, c->curve, c);
}

/* ---- points ---- */

static int add_point(void *arg, const struct sweep *sweep, const struct tact_sweep_point *point)
{
	struct tact_calibrator *c = arg;
	struct tact_sweep_point *to;

	if (tact_grow(&c->points, &c->point_capacity, c->n_points + 1, sizeof(*c->points)) < 0)
		return -TACT_E_NOMEM;
	to = &c->points[c->n_points++];
	*to = *point;
	to->size = sizeof(*to);
	to->sweep = sweep->name;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct knee_point *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The curve of a sweep; it has no points if memory is short. */
static struct knee_curve curve_of(void *arg, const char *sweep)
{
	struct tact_calibrator *c = arg;
	size_t n = 0;

	if (tact_grow(&c->curve, &c->curve_capacity, c->n_points, sizeof(*c->curve)) < 0) {
		c->is_short = true;
		return (struct knee_curve){.n = 0};
	}
	for (size_t i = 0; i < c->n_points; i++)
		if (!strcmp(c->points[i].sweep, sweep))
			c->curve[n++] = (struct knee_point){.at = (double)c->points[i].at,
							    .cycles = c->points[i].cycles,
							    .spread = c->points[i].spread,
							    .is_shared = c->points[i].is_shared};
	qsort(c->curve, n, sizeof(*c->curve), compare);
	return (struct knee_curve){c->curve, n};
}

/* ---- values ---- */

/* Writes why a value is not reliable; nothing if it is. */
static void describe_doubt(const struct evidence *e, char *text, size_t size)
{
	if (e->doubt)
		snprintf(text, size, "%s", e->doubt);
	else if (e->is_shared)
		snprintf(text, size, "something else used the core");
	else if (e->spread > MOST_SPREAD)
		snprintf(text, size, "rounds differ by %.0f%%", 100 * e->spread);
	else
		text[0] = 0;
}

static int add_value(void *arg, const char *name, double value, const struct evidence *evidence,
		     const char *experiment)
{
	struct tact_calibrator *c = arg;
	char doubt[128];
	struct value v = {.name = name, .value = value, .spread = evidence->spread};

	describe_doubt(evidence, doubt, sizeof(doubt));
	v.experiment = strdup(experiment);
	v.remark = doubt[0] ? strdup(doubt) : NULL;
	if (!v.experiment || (doubt[0] && !v.remark) ||
	    tact_grow(&c->values, &c->value_capacity, c->n_values + 1, sizeof(*c->values)) < 0) {
		FREE_ALL(v.experiment, v.remark);
		return -TACT_E_NOMEM;
	}
	c->values[c->n_values++] = v;
	return 0;
}

static int conclude(struct tact_calibrator *c, struct tact_diag *diag)
{
	const struct conclusion conclusion = {.curve = curve_of, .add = add_value, .arg = c};

	forget_values(c);
	c->is_short = false;
	if (c->n_points && (calibrate_conclude(&conclusion) < 0 || c->is_short))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

/* ---- runs ---- */

/* Returns how many instructions a cycle the core issues at best; 0 if it is unknown. */
static int issue_width(void)
{
	const struct tact_arch *arch = tact_arch_host();
	struct tact_param p = TACT_PARAM_INIT;

	for (size_t i = 0; arch && tact_arch_param(arch, i, &p); i++)
		if (!strcmp(p.name, "issue_width"))
			return atoi(p.value);
	return 0;
}

static int run_sweeps(struct tact_calibrator *c, struct tact_diag *diag)
{
	const int width = issue_width();
	struct sweep_run run = {.most_bytes = c->opt.most_bytes,
				.rounds = c->opt.rounds,
				.is_quick = c->opt.is_quick,
				.least_canary = width ? 1.0 / width : 0,
				.add = add_point,
				.arg = c};
	int status = 0;

	for (size_t i = 0; i < n_sweeps && status >= 0; i++) {
		if (c->opt.progress && c->opt.progress(c->opt.arg, sweeps[i].name, i, n_sweeps))
			return tact_fail(diag, TACT_E_LIMIT, "ended before all sweeps were done");
		status = sweep_do(&run, &sweeps[i]);
	}
	c->n_refused = run.refused;
	if (status < 0)
		return tact_fail(diag, -status, "no memory for a working set of %llu MiB",
				 (unsigned long long)(c->opt.most_bytes >> 20));
	return 0;
}

/* Stays on one CPU while it runs. */
static int run_pinned(struct tact_calibrator *c, struct tact_diag *diag)
{
	const int cpu = c->opt.cpu >= 0 ? c->opt.cpu : sched_getcpu();
	cpu_set_t before, one;
	bool is_pinned = false;
	int status;

	CPU_ZERO(&one);
	if (cpu >= 0 && cpu < CPU_SETSIZE) {
		CPU_SET((unsigned)cpu, &one);
		is_pinned = !sched_getaffinity(0, sizeof(before), &before) &&
			    !sched_setaffinity(0, sizeof(one), &one);
	}
	if (c->opt.cpu >= 0 && !is_pinned)
		return tact_fail(diag, TACT_E_INVAL, "CPU %d cannot be used", c->opt.cpu);
	status = run_sweeps(c, diag);
	if (is_pinned)
		sched_setaffinity(0, sizeof(before), &before);
	return status;
}

int tact_calibrator_run(struct tact_calibrator *c, struct tact_diag *diag)
{
	int status, concluded;

	if (!c)
		return tact_fail(diag, TACT_E_INVAL, "no calibration");
	c->n_points = c->n_refused = 0;
	if (!measure_native->sweep)
		return tact_fail(diag, TACT_E_IO, "there are no sweeps for %s yet",
				 measure_native->isa->title);
	status = run_pinned(c, diag);
	concluded = conclude(c, status < 0 ? NULL : diag);
	return status < 0 ? status : concluded;
}

int tact_calibrator_take(struct tact_calibrator *c, const struct tact_sweep_point *points, size_t n,
			 struct tact_diag *diag)
{
	if (!c || (n && !points))
		return tact_fail(diag, TACT_E_INVAL, "no calibration, or no points");
	c->n_points = c->n_refused = 0;
	for (size_t i = 0; i < n; i++) {
		const struct sweep *sweep = sweep_find(points[i].sweep);

		if (!sweep)
			return tact_fail_at(diag, TACT_E_INVAL, i + 1, 0, "there is no such sweep");
		if (!(points[i].cycles > 0) || isinf(points[i].cycles) || !points[i].at)
			return tact_fail_at(diag, TACT_E_INVAL, i + 1, 0,
					    "a point needs a place and cycles above 0");
		if (add_point(c, sweep, &points[i]) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	return conclude(c, diag);
}

/* ---- results ---- */

size_t tact_calibrator_points(const struct tact_calibrator *c)
{
	return c ? c->n_points : 0;
}

size_t tact_calibrator_values(const struct tact_calibrator *c)
{
	return c ? c->n_values : 0;
}

size_t tact_calibrator_refused(const struct tact_calibrator *c)
{
	return c ? c->n_refused : 0;
}

int tact_calibrator_point(const struct tact_calibrator *c, size_t i, struct tact_sweep_point *out)
{
	if (!c || i >= c->n_points || !tact_can_fill(out))
		return -TACT_E_INVAL;
	return tact_fill(out, &c->points[i], sizeof(c->points[i]));
}

int tact_calibrator_value(const struct tact_calibrator *c, size_t i, struct tact_sweep_value *out)
{
	struct tact_sweep_value all = {.size = sizeof(all)};

	if (!c || i >= c->n_values || !tact_can_fill(out))
		return -TACT_E_INVAL;
	all.name = c->values[i].name;
	all.value = c->values[i].value;
	all.spread = c->values[i].spread;
	all.experiment = c->values[i].experiment;
	all.remark = c->values[i].remark;
	return tact_fill(out, &all, sizeof(all));
}

const char *tact_sweep_unit(const char *sweep)
{
	const struct sweep *s = sweep_find(sweep);

	return s ? s->unit : NULL;
}

const char *tact_sweep_operation(const char *sweep)
{
	const struct sweep *s = sweep_find(sweep);

	return s ? s->operation : NULL;
}
