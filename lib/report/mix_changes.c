/* SPDX-License-Identifier: MIT
 *
 * Two mixes side by side.
 */
#include <math.h>

#include "report/mix_report.h"

static struct cell get_executions(const struct cell_at *at)
{
	const struct tact_mix_diff_row *x = at->row;

	return cell_number(x->executions[at->column->argument]);
}

static struct cell get_change(const struct cell_at *at)
{
	const struct tact_mix_diff_row *x = at->row;

	return cell_number(x->executions[0] > 0
				   ? (x->executions[1] - x->executions[0]) / x->executions[0]
				   : INFINITY);
}

static struct cell get_share(const struct cell_at *at)
{
	const struct tact_mix_diff_row *x = at->row;
	const struct tact_mix_diff_totals *t = at->table->context;

	return cell_number((x->executions[1] - x->executions[0]) / t->executions[0]);
}

/* clang-format off: a column stays together */
static const struct column rest[] = {
	{"first", "first", .get = get_executions, .width = 18, .flags = COLUMN_SEPARATED,
	 .form = FORM_DECIMALS(0)},
	{"second", "second", .get = get_executions, .argument = 1, .width = 18,
	 .flags = COLUMN_SEPARATED, .form = FORM_DECIMALS(0)},
	{"change", NULL, .get = get_change, .width = 9, .decimals = 1,
	 .flags = COLUMN_PERCENT | COLUMN_SIGNED, .none = "new"},
	{"of all", "share_of_change", .get = get_share, .width = 8, .decimals = 2,
	 .flags = COLUMN_PERCENT | COLUMN_SIGNED, .form = FORM_DECIMALS(6), .rank = 1},
};
/* clang-format on */

static void get_row(const void *of, size_t i, void *row)
{
	((struct tact_mix_diff_row *)row)->size = sizeof(struct tact_mix_diff_row);
	tact_mix_diff_get_row(of, i, row);
}

static void add_json(struct report *report, const struct mix_rows *rows, struct table *table,
		     const struct mix_columns *columns, const struct tact_mix_diff_totals *t)
{
	struct json json = {.out = &report->text};

	table->n_columns--; /* without the share */
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix.diff/1");
	json_put_bool(&json, "is_absolute", !t->is_scaled);
	json_put_fixed(&json, "average_weighted_error", t->error, 6);
	mix_columns_json(columns, &json);
	mix_rows_json(report, rows, table, &json);
	json_end_line(&json);
}

static void add_text(struct report *report, const struct mix_rows *rows, struct table *table,
		     const struct tact_mix_diff_totals *t)
{
	const size_t n = tact_mix_diff_count(rows->of);

	text_printf(&report->text,
		    "Average weighted error of the second against the first: %.2f%%%s\n\n",
		    100 * t->error, t->is_scaled ? " (brought to the same length)" : "");
	mix_rows_write(report, rows, table);
	if (rows->n < n)
		text_printf(&report->text, "(%zu more rows)\n", n - rows->n);
}

int tact_report_mix_diff(const struct tact_mix_diff_report *opt,
			 int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	struct mix_rows rows = {.get = get_row};
	struct tact_mix_diff_totals totals = TACT_MIX_DIFF_TOTALS_INIT;
	struct tact_mix_diff_report r;
	struct mix_columns columns;
	struct table table;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.diff)
		return -TACT_E_INVAL;
	rows.of = r.diff;
	rows.n = tact_mix_diff_count(r.diff);
	if (r.top && r.top < rows.n)
		rows.n = r.top;
	tact_mix_diff_get_totals(r.diff, &totals);
	mix_columns_init(&columns, keys, tact_mix_diff_get_keys(r.diff, keys),
			 offsetof(struct tact_mix_diff_row, key), rest, ARRAY_SIZE(rest));
	table = (struct table){.columns = columns.items,
			       .n_columns = columns.n,
			       .format = (int)r.format,
			       .screen = r.width,
			       .is_cut = r.is_cut,
			       .out = &report.text,
			       .context = &totals};
	if (r.format == TACT_FORMAT_JSON)
		add_json(&report, &rows, &table, &columns, &totals);
	else if (r.format == TACT_FORMAT_CSV)
		mix_rows_write(&report, &rows, &table);
	else
		add_text(&report, &rows, &table, &totals);
	table_fini(&table);
	return report_end(&report);
}
