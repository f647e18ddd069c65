/* SPDX-License-Identifier: MIT
 *
 * Two tables side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"
#include "obj/obj.h"

struct tact_mix_diff {
	struct tact_mix_diff_row *rows; /* owned */
	size_t n;
	struct tact_mix_diff_totals totals;
	const struct tact_mix_pivot *first;
};

static int compare_keys(const void *a, const void *b)
{
	const struct tact_mix_diff_row *x = a, *y = b;

	for (unsigned k = 0; k < TACT_MIX_MAX_KEYS; k++) {
		int c = strcmp(x->key[k], y->key[k]);

		if (c)
			return c;
	}
	return 0;
}

/* ---- clones of functions ---- */

/* Orders rows by their keys, with a function's name without what names its clones. */
static int compare_stems(const void *a, const void *b, void *context)
{
	const struct tact_mix_diff_row *x = a, *y = b;
	const unsigned function = *(const unsigned *)context;

	for (unsigned k = 0; k < TACT_MIX_MAX_KEYS; k++) {
		const char *s = x->key[k], *t = y->key[k];
		const size_t m = k == function ? obj_stem_length(s) : strlen(s);
		const size_t n = k == function ? obj_stem_length(t) : strlen(t);
		const int c = memcmp(s, t, m < n ? m : n);

		if (c || m != n)
			return c ? c : m < n ? -1 : 1;
	}
	return 0;
}

/* Makes one row of those of a function and its clones, with the shortest name. */
static void join_group(struct tact_mix_diff_row *to, const struct tact_mix_diff_row *rows, size_t n,
		       unsigned function)
{
	struct tact_mix_diff_row all = rows[0];

	for (size_t i = 1; i < n; i++) {
		all.executions[0] += rows[i].executions[0];
		all.executions[1] += rows[i].executions[1];
		if (strlen(rows[i].key[function]) < strlen(all.key[function]))
			all.key[function] = rows[i].key[function];
	}
	*to = all;
}

/* A function whose clones are not the same in both, since a compiler made others of it, becomes
 * one row.
 */
static void join_clones(struct tact_mix_diff *d)
{
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	const size_t n_keys = tact_mix_pivot_get_keys(d->first, keys);
	unsigned function = 0;
	size_t kept = 0, next;

	while (function < n_keys && keys[function] != TACT_MIX_BY_FUNCTION)
		function++;
	if (function == n_keys)
		return;
	qsort_r(d->rows, d->n, sizeof(*d->rows), compare_stems, &function);
	for (size_t i = 0; i < d->n; i = next) {
		bool is_other = false;

		for (next = i;
		     next < d->n && !compare_stems(&d->rows[i], &d->rows[next], &function); next++)
			is_other |= !(d->rows[next].executions[0] > 0) ||
				    !(d->rows[next].executions[1] > 0);
		if (is_other) {
			join_group(&d->rows[kept++], &d->rows[i], next - i, function);
		} else {
			memmove(&d->rows[kept], &d->rows[i], (next - i) * sizeof(*d->rows));
			kept += next - i;
		}
	}
	d->n = kept;
}

static double change(const struct tact_mix_diff_row *row)
{
	return fabs(row->executions[1] - row->executions[0]);
}

static int compare_changes(const void *a, const void *b)
{
	const double x = change(a), y = change(b);

	if (x != y)
		return x > y ? -1 : 1;
	return compare_keys(a, b);
}

/* Appends the rows of a pivot. */
static void append(struct tact_mix_diff *d, const struct tact_mix_pivot *pivot, unsigned side)
{
	for (size_t i = 0; i < tact_mix_pivot_count(pivot); i++) {
		struct tact_mix_diff_row *to = &d->rows[d->n++];
		struct tact_mix_row row = TACT_MIX_ROW_INIT;

		tact_mix_pivot_get_row(pivot, i, &row);
		*to = (struct tact_mix_diff_row){.size = sizeof(*to)};
		memcpy(to->key, row.key, sizeof(to->key));
		to->executions[side] = row.executions;
		d->totals.executions[side] += row.executions;
	}
}

/* Joins rows with the same keys. */
static void join(struct tact_mix_diff *d, double scale)
{
	size_t kept = 0;

	qsort(d->rows, d->n, sizeof(*d->rows), compare_keys);
	for (size_t i = 0; i < d->n; i++) {
		d->rows[i].executions[1] *= scale;
		if (kept && !compare_keys(&d->rows[kept - 1], &d->rows[i])) {
			d->rows[kept - 1].executions[0] += d->rows[i].executions[0];
			d->rows[kept - 1].executions[1] += d->rows[i].executions[1];
		} else {
			d->rows[kept++] = d->rows[i];
		}
	}
	d->n = kept;
	join_clones(d);
	qsort(d->rows, d->n, sizeof(*d->rows), compare_changes);
}

/* As tact_mix_compare() does, over joined rows. */
static double error_of(const struct tact_mix_diff *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->rows[i].executions[0] > 0)
			sum += change(&d->rows[i]);
	return sum / d->totals.executions[0];
}

int tact_mix_diff_create(struct tact_mix_diff **out, const struct tact_mix_pivot *first,
			 const struct tact_mix_pivot *second, bool is_scaled,
			 struct tact_diag *diag)
{
	struct tact_mix_diff *d;
	double error;

	if (out)
		*out = NULL;
	if (!out || !first || !second)
		return tact_fail(diag, TACT_E_INVAL, "two tables are needed");
	if (tact_mix_compare(first, second, is_scaled, &error) < 0)
		return tact_fail(diag, TACT_E_INVAL,
				 "nothing was executed that passes the filters");
	d = calloc(1, sizeof(*d));
	if (d)
		d->rows = malloc((tact_mix_pivot_count(first) + tact_mix_pivot_count(second) + 1) *
				 sizeof(*d->rows));
	if (!d || !d->rows) {
		free(d);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	d->totals =
		(struct tact_mix_diff_totals){.size = sizeof(d->totals), .is_scaled = is_scaled};
	d->first = first;
	append(d, first, 0);
	append(d, second, 1);
	join(d, is_scaled && d->totals.executions[1] > 0
			? d->totals.executions[0] / d->totals.executions[1]
			: 1);
	d->totals.error = error_of(d);
	*out = d;
	return 0;
}

void tact_mix_diff_destroy(struct tact_mix_diff *d)
{
	if (d)
		free(d->rows);
	free(d);
}

size_t tact_mix_diff_count(const struct tact_mix_diff *d)
{
	return d ? d->n : 0;
}

size_t tact_mix_diff_get_keys(const struct tact_mix_diff *d,
			      enum tact_mix_key keys[TACT_MIX_MAX_KEYS])
{
	return d ? tact_mix_pivot_get_keys(d->first, keys) : 0;
}

int tact_mix_diff_get_row(const struct tact_mix_diff *d, size_t i, struct tact_mix_diff_row *out)
{
	if (i >= tact_mix_diff_count(d))
		return -TACT_E_INVAL;
	return tact_fill(out, &d->rows[i], sizeof(d->rows[i]));
}

int tact_mix_diff_get_totals(const struct tact_mix_diff *d, struct tact_mix_diff_totals *out)
{
	return d ? tact_fill(out, &d->totals, sizeof(d->totals)) : -TACT_E_INVAL;
}
