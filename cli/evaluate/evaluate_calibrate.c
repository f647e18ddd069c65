/* SPDX-License-Identifier: MIT
 *
 * tact evaluate --calibrate: tables of intervals, and how well they hold on other rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cli.h"
#include "evaluator.h"

static struct cell get_text(const struct cell_at *at)
{
	const struct tact_calibrated *c = at->row;

	switch (at->column->argument) {
	case 0:
		return cell_string(tact_arch_name(c->arch));
	case 1:
		return cell_string(tact_mode_name(c->mode));
	default:
		return cell_string(c->model);
	}
}

static struct cell get_rows(const struct cell_at *at)
{
	const struct tact_calibrated *c = at->row;

	return cell_count(at->column->argument ? c->program_rows : c->rows);
}

static struct cell get_share(const struct cell_at *at)
{
	const struct tact_calibrated *c = at->row;

	if (at->column->argument == 2)
		return c->program_rows ? cell_number(c->program_held) : cell_none();
	return cell_number(at->column->argument ? c->width : c->held);
}

#define NUMBER .gap = 2, .none = "-", .form = FORM_DECIMALS(6)
#define SHARE  .get = get_share, .decimals = 1, .flags = COLUMN_RIGHT | COLUMN_PERCENT, NUMBER

static const struct column columns[] = {
	{"CPU", "arch", .get = get_text, .width = 5},
	{"Mode", "mode", .get = get_text, .argument = 1, .width = 6, .gap = 1},
	{"Model", "model", .get = get_text, .argument = 2, .width = 6, .gap = 1},
	{"Blocks", "blocks", .get = get_rows, .width = 7, .gap = 2, .flags = COLUMN_RIGHT},
	{"Other half", "held", SHARE, .width = 10},
	{"Width", "width", .argument = 1, SHARE, .width = 6},
	{NULL, "program_blocks", .get = get_rows, .argument = 1},
	{"Other programs", "program_held", .argument = 2, SHARE, .width = 14},
};

/* Names of the inputs with rows of a CPU. */
static void add_origin(const struct evaluator *p, const struct tact_arch *arch, struct text *out)
{
	for (size_t i = 0; i < p->n_inputs; i++) {
		const char *path = p->inputs[i].path, *slash = strrchr(path, '/');

		if (tact_evaluation_has_rows(p->e, i, arch))
			text_printf(out, "%s%s", out->size ? ", " : "", slash ? slash + 1 : path);
	}
}

static int write_table(const struct evaluator *p, const struct tact_calibration *c,
		       const struct tact_arch *arch)
{
	struct text origin = {0}, text = {0}, path = {0};
	char *table = NULL;
	int status = CLI_FAILED;

	add_origin(p, arch, &origin);
	text_printf(&path, "%s/%s.tsv", p->calibrate, tact_arch_name(arch));
	if (!text_string(&path) || !text_string(&origin) ||
	    tact_calibration_table(c, arch, origin.data, &table) < 0)
		cli_out_of_memory();
	text_add(&text, table);
	status = output_all(path.data, &text);
	free(table);
	text_free(&origin);
	text_free(&path);
	return status;
}

static int write_tables(const struct evaluator *p, const struct tact_calibration *c)
{
	int status = CLI_GOOD;

	if (mkdir(p->calibrate, 0777) && errno != EEXIST) {
		cli_message("%s: %s", p->calibrate, strerror(errno));
		return CLI_FAILED;
	}
	for (size_t i = 0; i < c->n && !status; i++) {
		bool is_first = true;

		for (size_t k = 0; k < i; k++)
			is_first &= c->set[k].arch != c->set[i].arch;
		if (is_first)
			status = write_table(p, c, c->set[i].arch);
	}
	return status;
}

int evaluate_calibrate(const struct evaluator *p, struct text *out)
{
	struct table table = {.columns = columns,
			      .n_columns = CLI_ARRAY_SIZE(columns),
			      .format = p->format,
			      .out = out,
			      .schema = "tact.evaluate/1",
			      .kind = "calibration"};
	struct tact_calibration *c;
	struct tact_diag diag = {0};
	int status = tact_calibration_create(&c, p->e, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0) {
		cli_message("%s", diag.text);
		return CLI_FAILED;
	}
	if (p->format == FORMAT_TEXT)
		text_add(out, "How many measurements the 90% intervals hold that they were not "
			      "learned from\n");
	table_header(&table);
	for (size_t i = 0; i < c->n; i++)
		table_row(&table, &c->set[i]);
	table_fini(&table);
	status = write_tables(p, c);
	tact_calibration_destroy(c);
	return status;
}
