/* SPDX-License-Identifier: MIT
 *
 * Two tables side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"

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
	qsort(d->rows, d->n, sizeof(*d->rows), compare_changes);
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
	d->totals = (struct tact_mix_diff_totals){
		.size = sizeof(d->totals), .error = error, .is_scaled = is_scaled};
	d->first = first;
	append(d, first, 0);
	append(d, second, 1);
	join(d, is_scaled && d->totals.executions[1] > 0
			? d->totals.executions[0] / d->totals.executions[1]
			: 1);
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
