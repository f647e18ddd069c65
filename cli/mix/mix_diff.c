/* SPDX-License-Identifier: MIT
 *
 * tact mix diff: two recordings side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mixer.h"

struct diff {
	struct mixer_input input;
	struct mixer_table table;
	const char *path[2], *output;
	unsigned n_paths;
	int format;
	bool is_quiet, is_absolute;
	unsigned threshold; /* percent; 0: none */
};

static const char *add_path(void *target, const char *value)
{
	struct diff *d = target;

	if (d->n_paths == 2)
		return "more than two recordings";
	d->path[d->n_paths++] = value;
	return NULL;
}

#define OPTION_HOLDER diff

static const struct option_spec output_specs[] = {
	OPTION_FLAG(0, "absolute", is_absolute,
		    "compare executions; without it the second run is brought to the length of the "
		    "first"),
	OPTION_NUMBER(0, "threshold", "PERCENT", threshold, 1, 1000,
		      "exit with status 4 if the mixes differ by more than that"),
	OPTION_FORMAT(format, OPTION_FORMATS, "text (default), csv or json (one object)"),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("Input", mixer_input_specs, input),
	OPTION_GROUP("Table", mixer_table_specs, table),
	OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_path, add_path),
};

static const char help[] =
	"usage: tact mix diff [OPTIONS] FIRST SECOND\n\n"
	"Compares what two recordings executed; the rows that changed most come first. "
	"One of them may be exact counts.\n\n"
	"{options}\n";

static void fini(void *target)
{
	struct diff *p = target;

	mixer_input_fini(&p->input);
	mixer_table_fini(&p->table);
}

/* What is shown, one row after the other. */
struct pairs {
	const struct tact_mix_diff *diff;
	struct tact_mix_diff_totals totals;
	size_t n;
	struct mixer_columns columns;
	struct table table;
};

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
	const struct pairs *p = at->table->context;

	return cell_number((x->executions[1] - x->executions[0]) / p->totals.executions[0]);
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
	 .flags = COLUMN_PERCENT | COLUMN_SIGNED, .form = FORM_DECIMALS(6)},
};
/* clang-format on */

static void add_rows(const struct diff *d, struct pairs *p, struct text *out)
{
	struct tact_mix_diff_row x;

	if (d->format == FORMAT_TEXT)
		text_printf(out,
			    "Average weighted error of the second against the first: %.2f%%%s\n\n",
			    100 * p->totals.error,
			    d->is_absolute ? "" : " (brought to the same length)");
	for (size_t i = 0; i < p->n && d->format == FORMAT_TEXT; i++) {
		tact_mix_diff_row(p->diff, i, &x);
		table_fit(&p->table, p->columns.items, &x);
	}
	table_header(&p->table);
	for (size_t i = 0; i < p->n; i++) {
		tact_mix_diff_row(p->diff, i, &x);
		table_row(&p->table, &x);
	}
	if (d->format == FORMAT_TEXT && p->n < tact_mix_diff_rows(p->diff))
		text_printf(out, "(%zu more rows)\n", tact_mix_diff_rows(p->diff) - p->n);
}

static void add_json(const struct diff *d, struct pairs *p, struct text *out)
{
	struct json json = {.out = out};
	struct tact_mix_diff_row x;

	p->table.n_columns--; /* without the share */
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix.diff/1");
	json_put_bool(&json, "is_absolute", d->is_absolute);
	json_put_fixed(&json, "average_weighted_error", p->totals.error, 6);
	mixer_columns_json(&p->columns, &json);
	json_begin_array(&json, "rows");
	for (size_t i = 0; i < p->n; i++) {
		tact_mix_diff_row(p->diff, i, &x);
		json_begin_array(&json, NULL);
		table_values(&p->table, &x, &json);
		json_end(&json);
	}
	json_end_line(&json);
}

static int compare(const struct diff *d, const struct tact_mix_pivot *first,
		   const struct tact_mix_pivot *second)
{
	struct pairs p;
	struct tact_mix_diff *diff;
	struct tact_diag diag = {0};
	struct text text = {0};

	if (tact_mix_diff_create(&diff, first, second, !d->is_absolute, &diag) < 0) {
		cli_message("%s: %s", d->path[0], diag.text);
		return CLI_FAILED;
	}
	p.diff = diff;
	p.n = tact_mix_diff_rows(diff);
	if (d->table.top && d->table.top < p.n)
		p.n = d->table.top;
	tact_mix_diff_totals(diff, &p.totals);
	mixer_columns_init(&p.columns, &d->table, offsetof(struct tact_mix_diff_row, key), rest,
			   CLI_ARRAY_SIZE(rest));
	for (size_t k = 0; k < p.columns.n_keys; k++)
		p.columns.items[k].max = SIZE_MAX;
	p.table = (struct table){.columns = p.columns.items,
				 .n_columns = p.columns.n,
				 .format = d->format,
				 .out = &text,
				 .context = &p};
	if (d->format == FORMAT_JSON)
		add_json(d, &p, &text);
	else
		add_rows(d, &p, &text);
	table_fini(&p.table);
	tact_mix_diff_destroy(diff);
	if (output_all(d->output, &text))
		return CLI_FAILED;
	return d->threshold && 100 * p.totals.error > d->threshold ? CLI_OVER : CLI_GOOD;
}

static int run(void *target)
{
	struct diff *d = target;
	struct tact_mix *mix[2] = {NULL, NULL};
	struct tact_mix_pivot *pivot[2] = {NULL, NULL};
	int status = CLI_GOOD;

	if (d->n_paths != 2)
		return cli_wrong("mix diff needs two recordings");
	for (unsigned i = 0; i < 2 && !status; i++) {
		status = mixer_open(&d->input, d->path[i], &mix[i]);
		if (!status)
			status = mixer_pivot(&d->table, mix[i], &pivot[i]);
	}
	if (!status)
		status = compare(d, pivot[0], pivot[1]);
	for (unsigned i = 0; i < 2; i++) {
		tact_mix_pivot_destroy(pivot[i]);
		tact_mix_destroy(mix[i]);
	}
	return status;
}

static const struct option_command command = {help, groups, run, fini};

int mix_diff_main(int argc, char **argv)
{
	struct diff d = {0};

	return option_command_run(&command, &d, argc, argv);
}
