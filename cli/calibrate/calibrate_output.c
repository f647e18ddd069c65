/* SPDX-License-Identifier: MIT
 *
 * What a calibration has found: a table, and a parameter file.
 */
#include <stdio.h>
#include <string.h>

#include "base/tabular.h"
#include "calibrate/calibration.h"
#include "common/cli.h"
#include "common/terminal.h"

/* A value next to what the tables have. */
struct row {
	struct tact_sweep_value value;
	bool is_parameter;
	char listed[sizeof(
		((struct tact_param *)0)->value)]; /* of the CPU; empty: it has no such parameter */
};

static struct cell get_remark(const struct cell_at *at)
{
	const struct row *row = at->row;

	return cell_string(row->value.remark);
}

static struct cell get_reliable(const struct cell_at *at)
{
	const struct row *row = at->row;

	return cell_bool(!row->value.remark);
}

static const struct column columns[] = {
	{"Quantity", "name", COLUMN_FIELD(struct row, value.name, STRING), .width = 18},
	{"Value", "value", COLUMN_FIELD(struct row, value.value, DOUBLE), .width = 7,
	 .decimals = -7, .form = FORM_DIGITS(10)},
	{"Tables", "listed", COLUMN_FIELD(struct row, listed, CHARS), .width = 6,
	 .flags = COLUMN_RIGHT | COLUMN_SKIP_EMPTY, .none = "-"},
	{"Spread", "spread", COLUMN_FIELD(struct row, value.spread, DOUBLE), .width = 6,
	 .decimals = 1, .flags = COLUMN_PERCENT, .form = FORM_DECIMALS(4)},
	{NULL, "is_parameter", COLUMN_FIELD(struct row, is_parameter, BOOL)},
	{NULL, "is_reliable", .get = get_reliable},
	{NULL, "experiment", COLUMN_FIELD(struct row, value.experiment, STRING)},
	{NULL, "remark", .get = get_remark},
};

static bool get_row(const struct calibration *c, size_t i, struct row *row)
{
	struct tact_param p = TACT_PARAM_INIT;

	*row = (struct row){.value.size = sizeof(row->value)};
	if (tact_calibrator_value(c->calibrator, i, &row->value) < 0)
		return false;
	for (size_t k = 0; c->arch && tact_arch_param(c->arch, k, &p); k++)
		if (!strcmp(p.name, row->value.name)) {
			row->is_parameter = true;
			memcpy(row->listed, p.value, sizeof(row->listed));
		}
	return true;
}

/* The experiment and the remark stand below the values of a row. */
static void add_words(const struct row *row, struct text *out, size_t width)
{
	size_t start = out->size;

	text_printf(out, "%4s", "");
	text_wrap_to(out, row->value.experiment, 4, start, width);
	if (!row->value.remark)
		return;
	start = out->size;
	text_printf(out, "%4snot reliable: ", "");
	text_wrap_to(out, row->value.remark, 4, start, width);
}

static void add_summary(const struct calibration *c, size_t doubtful, struct text *out)
{
	const size_t n = tact_calibrator_values(c->calibrator),
		     refused = tact_calibrator_refused(c->calibrator);

	text_printf(out, "\n%zu values from %zu points", n, tact_calibrator_points(c->calibrator));
	if (doubtful)
		text_printf(out, "; %zu are not reliable", doubtful);
	if (refused)
		text_printf(out, "; %zu points were given up, as the clock wavered", refused);
	text_add(out, "\n");
}

void calibration_show(const struct calibration *c, struct text *out)
{
	struct table table = {.columns = columns,
			      .n_columns = CLI_ARRAY_SIZE(columns),
			      .format = c->format,
			      .out = out,
			      .schema = "tact.calibrate/1"};
	const size_t width = terminal_width(NULL);
	size_t doubtful = 0;
	struct row row;

	table_header(&table);
	for (size_t i = 0; get_row(c, i, &row); i++) {
		table_row(&table, &row);
		doubtful += row.value.remark != NULL;
		if (c->format == FORMAT_TEXT)
			add_words(&row, out, width);
	}
	if (c->format == FORMAT_TEXT)
		add_summary(c, doubtful, out);
	table_fini(&table);
}

/* ---- a parameter file ---- */

/* Whether a file may say so: the parameter exists, and takes the value. */
static bool is_allowed(struct tact_arch *arch, const struct row *row)
{
	char value[32];

	snprintf(value, sizeof(value), "%.0f", row->value.value);
	return !row->value.remark && row->is_parameter &&
	       tact_arch_set_param(arch, row->value.name, value, NULL) >= 0;
}

void calibration_write_params(const struct calibration *c, struct text *out)
{
	struct tact_arch *arch;
	struct row row;

	if (tact_arch_copy(&arch, c->arch) < 0)
		cli_out_of_memory();
	text_printf(
		out,
		"#tact-arch 1\n"
		"# What tact calibrate has measured; everything else is as in %s.\n"
		"# Comments are values that are not reliable, or that no parameter stands for.\n"
		"base = %s\n",
		tact_arch_name(c->arch), tact_arch_name(c->arch));
	for (size_t i = 0; get_row(c, i, &row); i++)
		text_printf(out, "%s%s = %.0f\t# experiment: %s%s%s\n",
			    is_allowed(arch, &row) ? "" : "# ", row.value.name, row.value.value,
			    row.value.experiment, row.value.remark ? "; not reliable: " : "",
			    row.value.remark ? row.value.remark : "");
	tact_arch_destroy(arch);
}
