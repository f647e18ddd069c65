/* SPDX-License-Identifier: MIT
 *
 * Finds out which columns a CSV file about blocks has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "dataset/records.h"

enum { SAMPLE_ROWS = 1000 };

/* ---- opening ---- */

static void describe(struct tact_records *r, const char *format, const char *what)
{
	size_t size = strlen(r->description);

	snprintf(r->description + size, sizeof(r->description) - size, format, what);
}

static int read_header(struct tact_records *r, struct tact_diag *diag)
{
	const char *between = "CSV: ";

	for (size_t i = 0; i < r->file.n_fields; i++) {
		int column = rows_find_column(r->file.fields[i].text, true);

		if (column >= 0 && r->file.at[column] >= 0)
			return tact_fail_at(diag, TACT_E_FORMAT, csv_line(r->file.csv), 0,
					    "the header has two columns for %s",
					    r->file.fields[i].text);
		if (column < 0)
			continue;
		r->file.at[column] = (int)i;
		describe(r, "%s", between);
		describe(r, "%s", r->file.fields[i].text);
		if (column == COL_CYCLES)
			describe(r, "%s",
				 r->opt.unit == TACT_UNIT_HUNDRED ? " (for 100 iterations)" : "");
		between = ", ";
	}
	between = "; ignored: ";
	for (size_t i = 0; i < r->file.n_fields; i++) {
		if (rows_find_column(r->file.fields[i].text, true) >= 0)
			continue;
		describe(r, "%s", between);
		describe(r, "%.40s", r->file.fields[i].text);
		between = ", ";
	}
	r->iterations = r->opt.unit == TACT_UNIT_HUNDRED ? 100 : 1;
	r->has_predictions = r->file.at[COL_BOTTLENECKS] >= 0 && r->file.at[COL_COVERAGE] >= 0 &&
			     r->file.at[COL_RECORD] < 0;
	return 0;
}

/* The CSV of `tact predict` does not name the model; a column with FACILE's cycles shows that it is
 * not FACILE.
 */
static int check_model(struct tact_records *r, struct tact_diag *diag)
{
	if (!r->has_predictions || r->opt.model || r->file.at[COL_MODEL] >= 0)
		return 0;
	for (size_t i = 0; i < r->file.n_fields; i++)
		if (!strcasecmp(r->file.fields[i].text, "facile_cycles_per_iteration"))
			return tact_fail(diag, TACT_E_INVAL,
					 "predictions of a model that the file does not name");
	r->opt.model = "facile";
	return 0;
}

/* Without a header, the first line is data.  Weights are shares, and so below 1; cycles for a
 * hundred iterations are not.
 */
static bool all_below_one(struct tact_records *r)
{
	size_t size, rows = 0;
	const char *data = csv_peek(r->file.csv, &size);
	const char *end = size ? memrchr(data, '\n', size) : NULL;
	const struct csv_field *fields;
	struct csv *sample;
	bool below = true;
	size_t n;
	int status;

	if (r->file.n_fields > 1 && strtod(r->file.fields[1].text, NULL) >= 1)
		return false;
	if (!end || csv_open_memory(&sample, data, (size_t)(end - data), NULL) < 0)
		return below;
	while (below && rows++ < SAMPLE_ROWS &&
	       ((status = csv_next(sample, &fields, &n, NULL)) > 0 || status == -TACT_E_FORMAT))
		if (status > 0 && n > 1)
			below = strtod(fields[1].text, NULL) < 1;
	csv_close(sample);
	return below;
}

static void read_without_header(struct tact_records *r)
{
	bool is_weight;

	r->is_pending = true;
	r->file.at[COL_HEX] = 0;
	r->iterations = r->opt.unit == TACT_UNIT_ITERATION ? 1 : 100;
	if (r->file.n_fields < 2) {
		describe(r, "%s", "hex list");
		return;
	}
	is_weight = r->opt.is_second_weight || (r->opt.unit == TACT_UNIT_AUTO && all_below_one(r));
	r->file.at[is_weight ? COL_WEIGHT : COL_CYCLES] = 1;
	describe(r, "CSV without a header: hex, %s",
		 is_weight			      ? "weight"
		 : r->opt.unit == TACT_UNIT_ITERATION ? "cycles for one iteration"
		 : r->opt.unit == TACT_UNIT_HUNDRED
			 ? "cycles for 100 iterations"
			 : "cycles, taken as those of 100 iterations, as BHive's files have them");
}

static bool is_hex_digits(const char *text)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	return *text && strspn(text, "0123456789abcdefABCDEF ") == strlen(text);
}

static int read_first(struct tact_records *r, struct tact_diag *diag)
{
	int status = csv_next(r->file.csv, &r->file.fields, &r->file.n_fields, diag);

	if (status < 0)
		return status;
	if (!status)
		return tact_fail(diag, TACT_E_FORMAT, "nothing in it");
	for (size_t i = 0; i < r->file.n_fields; i++)
		if (!strcasecmp(r->file.fields[i].text, "hex")) {
			status = read_header(r, diag);
			return status < 0 ? status : check_model(r, diag);
		}
	if (!is_hex_digits(r->file.fields[0].text))
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(r->file.csv), 0,
				    "neither a header with a column 'hex' nor hex digits");
	read_without_header(r);
	return 0;
}

/* Copies the caller's strings, which need not outlive this call. */
static int copy_strings(struct tact_records *r, struct tact_diag *diag)
{
	const char **const strings[] = {&r->opt.origin, &r->opt.app,   &r->opt.classifier,
					&r->opt.arch,	&r->opt.model, &r->opt.version};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		if (!*strings[i])
			continue;
		if (strlen(*strings[i]) > TACT_STORE_NAME_MAX)
			return tact_fail(diag, TACT_E_INVAL, "a name of more than %d bytes",
					 TACT_STORE_NAME_MAX);
		store_copy(r->strings[i], sizeof(r->strings[i]), *strings[i]);
		*strings[i] = r->strings[i];
	}
	if (r->opt.origin) {
		store_copy(r->weight_app, sizeof(r->weight_app), r->opt.origin);
		if (strchr(r->weight_app + 1, '.'))
			*strchr(r->weight_app + 1, '.') = '\0';
	}
	return 0;
}

static int open_records(struct tact_records **out, struct csv *csv,
			const struct tact_records_options *opt, struct tact_diag *diag)
{
	struct tact_records *r = calloc(1, sizeof(*r));
	int status;

	if (!r) {
		csv_close(csv);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	r->file.csv = csv;
	for (size_t i = 0; i < ROWS_N_COLUMNS; i++)
		r->file.at[i] = -1;
	status = tact_read_options(&r->opt, sizeof(r->opt), opt);
	if (status < 0 || (unsigned)r->opt.unit > TACT_UNIT_HUNDRED ||
	    (unsigned)r->opt.mode > TACT_MODE_UNROLL || (unsigned)r->opt.init > TACT_INIT_DIFF)
		status = tact_fail(diag, TACT_E_INVAL, "wrong options");
	if (status >= 0)
		status = copy_strings(r, diag);
	if (status >= 0)
		status = read_first(r, diag);
	return HAND_OVER(out, r, status, tact_records_close);
}

int tact_records_open(struct tact_records **out, const char *path,
		      const struct tact_records_options *opt, struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put it");
	status = csv_open(&csv, path, diag);
	return status < 0 ? status : open_records(out, csv, opt, diag);
}

int tact_records_open_memory(struct tact_records **out, const void *data, size_t size,
			     const struct tact_records_options *opt, struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put it");
	status = csv_open_memory(&csv, data, size, diag);
	return status < 0 ? status : open_records(out, csv, opt, diag);
}

void tact_records_close(struct tact_records *r)
{
	if (!r)
		return;
	csv_close(r->file.csv);
	FREE_ALL(r->code, r->loop_code, r);
}

const char *tact_records_description(const struct tact_records *r)
{
	return r->description;
}

bool tact_records_has_cycles(const struct tact_records *r)
{
	return r->file.at[COL_CYCLES] >= 0 && !r->has_predictions;
}

bool tact_records_has_predictions(const struct tact_records *r)
{
	return r->has_predictions;
}

bool tact_records_has_machines(const struct tact_records *r)
{
	return r->file.at[COL_MACHINE] >= 0;
}
