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

enum { DIFF_OVER = 4 };

/* What is shown, one row after the other. */
struct pairs {
	const struct tact_mix_diff *diff;
	struct tact_mix_diff_totals totals;
	size_t n_keys, n;
};

static double change(const struct tact_mix_diff_row *x)
{
	return x->executions[0] > 0 ? (x->executions[1] - x->executions[0]) / x->executions[0]
				    : INFINITY;
}

static double share_of_change(const struct pairs *p, const struct tact_mix_diff_row *x)
{
	return (x->executions[1] - x->executions[0]) / p->totals.executions[0];
}

static const char *title(const struct diff *d, size_t k)
{
	return tact_mix_key_name(d->table.n_keys ? d->table.keys[k] : TACT_MIX_BY_MNEMONIC);
}

static void add_text(const struct diff *d, const struct pairs *p, struct text *out)
{
	size_t width[TACT_MIX_MAX_KEYS];

	text_printf(out, "Average weighted error of the second against the first: %.2f%%%s\n\n",
		    100 * p->totals.error, d->is_absolute ? "" : " (brought to the same length)");
	for (size_t k = 0; k < p->n_keys; k++) {
		width[k] = strlen(title(d, k));
		for (size_t i = 0; i < p->n; i++) {
			struct tact_mix_diff_row x;

			tact_mix_diff_row(p->diff, i, &x);
			if (strlen(x.key[k]) > width[k])
				width[k] = strlen(x.key[k]);
		}
		text_printf(out, "%-*s  ", (int)width[k], title(d, k));
	}
	text_printf(out, "%18s  %18s  %9s  %8s\n", "first", "second", "change", "of all");
	for (size_t i = 0; i < p->n; i++) {
		struct tact_mix_diff_row x;

		tact_mix_diff_row(p->diff, i, &x);
		for (size_t k = 0; k < p->n_keys; k++)
			text_printf(out, "%-*s  ", (int)width[k], x.key[k]);
		mix_put_count(out, x.executions[0], 18);
		text_add(out, "  ");
		mix_put_count(out, x.executions[1], 18);
		if (isfinite(change(&x)))
			text_printf(out, "  %+8.1f%%", 100 * change(&x));
		else
			text_printf(out, "  %9s", "new");
		text_printf(out, "  %+7.2f%%\n", 100 * share_of_change(p, &x));
	}
	if (p->n < tact_mix_diff_rows(p->diff))
		text_printf(out, "(%zu more rows)\n", tact_mix_diff_rows(p->diff) - p->n);
}

static void add_csv(const struct diff *d, const struct pairs *p, struct text *out)
{
	for (size_t k = 0; k < p->n_keys; k++)
		text_printf(out, "%s,", title(d, k));
	text_add(out, "first,second,share_of_change\n");
	for (size_t i = 0; i < p->n; i++) {
		struct tact_mix_diff_row x;

		tact_mix_diff_row(p->diff, i, &x);
		for (size_t k = 0; k < p->n_keys; k++) {
			text_csv_field(out, x.key[k], strlen(x.key[k]), false);
			text_add(out, ",");
		}
		text_printf(out, "%.0f,%.0f,%.6f\n", x.executions[0], x.executions[1],
			    share_of_change(p, &x));
	}
}

static void add_json(const struct diff *d, const struct pairs *p, struct text *out)
{
	text_printf(out,
		    "{\"schema\":\"tact.mix.diff/1\",\"is_absolute\":%s,"
		    "\"average_weighted_error\":%.6f,\"keys\":[",
		    d->is_absolute ? "true" : "false", p->totals.error);
	for (size_t k = 0; k < p->n_keys; k++)
		text_printf(out, "%s\"%s\"", k ? "," : "", title(d, k));
	text_add(out, "],\"rows\":[");
	for (size_t i = 0; i < p->n; i++) {
		struct tact_mix_diff_row x;

		tact_mix_diff_row(p->diff, i, &x);
		text_add(out, i ? ",[" : "[");
		for (size_t k = 0; k < p->n_keys; k++) {
			text_json_string(out, x.key[k], strlen(x.key[k]));
			text_add(out, ",");
		}
		text_printf(out, "%.0f,%.0f]", x.executions[0], x.executions[1]);
	}
	text_add(out, "]}\n");
}

static int print(const struct diff *d, const struct pairs *p)
{
	struct text text = {0};
	struct output out;

	if (output_open(&out, d->output))
		return CLI_FAILED;
	if (d->format == FORMAT_CSV)
		add_csv(d, p, &text);
	else if (d->format == FORMAT_JSON)
		add_json(d, p, &text);
	else
		add_text(d, p, &text);
	output_write(&out, &text);
	text_free(&text);
	if (output_close(&out))
		return CLI_FAILED;
	return d->threshold && 100 * p->totals.error > d->threshold ? DIFF_OVER : CLI_GOOD;
}

static int compare(const struct diff *d, const struct tact_mix_pivot *first,
		   const struct tact_mix_pivot *second)
{
	struct pairs p = {.n_keys = d->table.n_keys ? d->table.n_keys : 1};
	struct tact_mix_diff *diff;
	struct tact_diag diag = {0};
	int status;

	if (tact_mix_diff_create(&diff, first, second, !d->is_absolute, &diag) < 0) {
		cli_message("%s: %s", d->path[0], diag.text);
		return CLI_FAILED;
	}
	p.diff = diff;
	p.n = tact_mix_diff_rows(diff);
	if (d->table.top && d->table.top < p.n)
		p.n = d->table.top;
	tact_mix_diff_totals(diff, &p.totals);
	status = print(d, &p);
	tact_mix_diff_destroy(diff);
	return status;
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
