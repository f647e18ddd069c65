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

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

#define DIFF_FIELD(field, type) .offset = OPTION_FIELD(diff, field, type)

/* clang-format off: an option stays together */
static const struct option_spec output_specs[] = {
	{.name = "absolute",
	 .type = OPTION_FLAG,
	 DIFF_FIELD(is_absolute, bool),
	 .help = "compare executions; without it the second run is brought to the length of the "
		 "first"},
	{.name = "threshold",
	 .argument = "PERCENT",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 1000,
	 DIFF_FIELD(threshold, unsigned),
	 .help = "exit with status 4 if the mixes differ by more than that"},
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 .type = OPTION_CHOICE,
	 .choices = formats,
	 DIFF_FIELD(format, int),
	 .help = "text (default), csv or json (one object)"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 DIFF_FIELD(output, const char *),
	 .help = "write the results there"},
	{.letter = 'q',
	 .name = "quiet",
	 .type = OPTION_FLAG,
	 DIFF_FIELD(is_quiet, bool),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};
/* clang-format on */

enum { DIFF_OVER = 4 };

/* A row of either. */
struct pair {
	const char *key[TACT_MIX_MAX_KEYS];
	double value[2];
};

struct pairs {
	struct pair *items;
	size_t n, n_keys;
	double total[2], error;
};

static int compare_keys(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	for (unsigned k = 0; k < TACT_MIX_MAX_KEYS; k++) {
		int c = strcmp(x->key[k], y->key[k]);

		if (c)
			return c;
	}
	return 0;
}

static int compare_changes(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double dx = fabs(x->value[1] - x->value[0]), dy = fabs(y->value[1] - y->value[0]);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return compare_keys(a, b);
}

static void join(const struct tact_mix_pivot *pivot[2], bool is_absolute, struct pairs *out)
{
	size_t n = tact_mix_pivot_rows(pivot[0]) + tact_mix_pivot_rows(pivot[1]), kept = 0;

	out->items = cli_alloc((n + 1) * sizeof(*out->items));
	for (unsigned side = 0; side < 2; side++) {
		for (size_t i = 0; i < tact_mix_pivot_rows(pivot[side]); i++) {
			struct tact_mix_row row;
			struct pair *p = &out->items[out->n++];

			tact_mix_pivot_row(pivot[side], i, &row);
			*p = (struct pair){.value = {0, 0}};
			memcpy(p->key, row.key, sizeof(p->key));
			p->value[side] = row.executions;
			out->total[side] += row.executions;
		}
	}
	qsort(out->items, out->n, sizeof(*out->items), compare_keys);
	for (size_t i = 0; i < out->n; i++) {
		if (!is_absolute && out->total[1] > 0)
			out->items[i].value[1] *= out->total[0] / out->total[1];
		if (kept && !compare_keys(&out->items[kept - 1], &out->items[i])) {
			out->items[kept - 1].value[0] += out->items[i].value[0];
			out->items[kept - 1].value[1] += out->items[i].value[1];
		} else {
			out->items[kept++] = out->items[i];
		}
	}
	out->n = kept;
	qsort(out->items, out->n, sizeof(*out->items), compare_changes);
}

static double change(const struct pair *p)
{
	return p->value[0] > 0 ? (p->value[1] - p->value[0]) / p->value[0] : INFINITY;
}

static const char *title(const struct diff *d, size_t k)
{
	return tact_mix_key_name(d->table.n_keys ? d->table.keys[k] : TACT_MIX_BY_MNEMONIC);
}

static void add_text(const struct diff *d, const struct pairs *p, size_t n, struct text *out)
{
	size_t width[TACT_MIX_MAX_KEYS];

	text_printf(out, "Average weighted error of the second against the first: %.2f%%%s\n\n",
		    100 * p->error, d->is_absolute ? "" : " (brought to the same length)");
	for (size_t k = 0; k < p->n_keys; k++) {
		width[k] = strlen(title(d, k));
		for (size_t i = 0; i < n; i++)
			if (strlen(p->items[i].key[k]) > width[k])
				width[k] = strlen(p->items[i].key[k]);
		text_printf(out, "%-*s  ", (int)width[k], title(d, k));
	}
	text_printf(out, "%18s  %18s  %9s  %8s\n", "first", "second", "change", "of all");
	for (size_t i = 0; i < n; i++) {
		const struct pair *x = &p->items[i];

		for (size_t k = 0; k < p->n_keys; k++)
			text_printf(out, "%-*s  ", (int)width[k], x->key[k]);
		mix_put_count(out, x->value[0], 18);
		text_add(out, "  ");
		mix_put_count(out, x->value[1], 18);
		if (isfinite(change(x)))
			text_printf(out, "  %+8.1f%%", 100 * change(x));
		else
			text_printf(out, "  %9s", "new");
		text_printf(out, "  %+7.2f%%\n", 100 * (x->value[1] - x->value[0]) / p->total[0]);
	}
	if (n < p->n)
		text_printf(out, "(%zu more rows)\n", p->n - n);
}

static void add_csv(const struct diff *d, const struct pairs *p, size_t n, struct text *out)
{
	for (size_t k = 0; k < p->n_keys; k++)
		text_printf(out, "%s,", title(d, k));
	text_add(out, "first,second,share_of_change\n");
	for (size_t i = 0; i < n; i++) {
		const struct pair *x = &p->items[i];

		for (size_t k = 0; k < p->n_keys; k++) {
			text_csv_field(out, x->key[k], strlen(x->key[k]), false);
			text_add(out, ",");
		}
		text_printf(out, "%.0f,%.0f,%.6f\n", x->value[0], x->value[1],
			    (x->value[1] - x->value[0]) / p->total[0]);
	}
}

static void add_json(const struct diff *d, const struct pairs *p, size_t n, struct text *out)
{
	text_printf(out,
		    "{\"schema\":\"tact.mix.diff/1\",\"is_absolute\":%s,"
		    "\"average_weighted_error\":%.6f,\"keys\":[",
		    d->is_absolute ? "true" : "false", p->error);
	for (size_t k = 0; k < p->n_keys; k++)
		text_printf(out, "%s\"%s\"", k ? "," : "", title(d, k));
	text_add(out, "],\"rows\":[");
	for (size_t i = 0; i < n; i++) {
		const struct pair *x = &p->items[i];

		text_add(out, i ? ",[" : "[");
		for (size_t k = 0; k < p->n_keys; k++) {
			text_json_string(out, x->key[k], strlen(x->key[k]));
			text_add(out, ",");
		}
		text_printf(out, "%.0f,%.0f]", x->value[0], x->value[1]);
	}
	text_add(out, "]}\n");
}

static int print(const struct diff *d, const struct pairs *p)
{
	size_t n = d->table.top && d->table.top < p->n ? d->table.top : p->n;
	struct text text = {0};
	struct output out;

	if (output_open(&out, d->output))
		return CLI_FAILED;
	if (d->format == FORMAT_CSV)
		add_csv(d, p, n, &text);
	else if (d->format == FORMAT_JSON)
		add_json(d, p, n, &text);
	else
		add_text(d, p, n, &text);
	output_write(&out, &text);
	text_free(&text);
	if (output_close(&out))
		return CLI_FAILED;
	return d->threshold && 100 * p->error > d->threshold ? DIFF_OVER : CLI_GOOD;
}

static int run(struct diff *d)
{
	struct tact_mix *mix[2] = {NULL, NULL};
	struct tact_mix_pivot *pivot[2] = {NULL, NULL};
	struct pairs pairs = {.n_keys = d->table.n_keys ? d->table.n_keys : 1};
	int status = CLI_GOOD;

	for (unsigned i = 0; i < 2 && !status; i++) {
		status = mixer_open(&d->input, d->path[i], &mix[i]);
		if (!status)
			status = mixer_pivot(&d->table, mix[i], &pivot[i]);
	}
	if (!status && tact_mix_compare(pivot[0], pivot[1], !d->is_absolute, &pairs.error) < 0) {
		cli_message("%s: nothing was executed that passes the filters", d->path[0]);
		status = CLI_FAILED;
	}
	if (!status) {
		const struct tact_mix_pivot *both[2] = {pivot[0], pivot[1]};

		join(both, d->is_absolute, &pairs);
		status = print(d, &pairs);
	}
	free(pairs.items);
	for (unsigned i = 0; i < 2; i++) {
		tact_mix_pivot_destroy(pivot[i]);
		tact_mix_destroy(mix[i]);
	}
	return status;
}

static const char *add_path(void *target, const char *value)
{
	struct diff *d = target;

	if (d->n_paths == 2)
		return "more than two recordings";
	d->path[d->n_paths++] = value;
	return NULL;
}

int mix_diff_main(int argc, char **argv)
{
	struct diff d = {0};
	const struct option_group groups[] = {
		{"Input", mixer_input_specs, &d.input},
		{"Table", mixer_table_specs, &d.table},
		{"Output", output_specs, &d},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact mix diff [OPTIONS] FIRST SECOND\n",
		.description = "Compares what two recordings executed; the rows that changed most "
			       "come first. "
			       "One of them may be exact counts.",
		.groups = groups,
		.argument = add_path,
		.argument_target = &d,
	};
	int status = options_parse(&command, argc, argv);

	if (status == OPTIONS_HELP)
		return options_print_help(&command);
	if (status == OPTIONS_GOOD && d.n_paths != 2) {
		cli_message("mix diff needs two recordings");
		status = OPTIONS_WRONG;
	}
	status = status == OPTIONS_WRONG ? CLI_USAGE : run(&d);
	mixer_input_fini(&d.input);
	mixer_table_fini(&d.table);
	return status;
}
