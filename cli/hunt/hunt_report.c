/* SPDX-License-Identifier: MIT
 *
 * The report of `tact hunt`.
 */
#include <stdio.h>
#include <string.h>

#include "base/tabular.h"
#include "common/cli.h"
#include "common/terminal.h"
#include "hunter.h"

static const struct tact_isa *isa_of(const struct hunter *p)
{
	return tact_arch_isa(p->archs.arch[0]);
}

static double error_of(const struct tact_hunt_finding *f)
{
	return f->judged > 0 ? (f->predicted - f->judged) / f->judged : 0;
}

static const char *judge_word(const struct hunter *p)
{
	return p->other ? "other model" : "measured";
}

/* ---- text ---- */

static void put_assembly(const struct hunter *p, const struct tact_hunt_finding *f,
			 struct text *out)
{
	for (size_t at = 0; at < f->code_size;) {
		const size_t start = out->size;
		struct tact_insn insn;
		char line[128] = "";
		int n = tact_isa_decode(isa_of(p), &insn, f->code + at, f->code_size - at);

		if (n <= 0)
			break;
		tact_isa_format(isa_of(p), f->code + at, f->code_size - at, at, line, sizeof(line));
		text_add(out, "      ");
		text_hex(out, f->code + at, (size_t)n);
		text_pad(out, 28, start);
		text_printf(out, " %s\n", line);
		at += (size_t)n;
	}
}

/* How much the class matters: "weight: 0.64% of 1.04% (11 of 18 real blocks)". */
static void put_weight(const struct tact_hunt_finding *f, struct text *out)
{
	if (!f->n_rows) {
		text_add(out, "     not in the data set");
		return;
	}
	if (f->has_mape)
		text_printf(out, "     weight: %.2f%% of %.2f%%; adds %.2f%%", 100 * f->weight_off,
			    100 * f->weight, 100 * f->mape);
	else if (f->n_real)
		text_printf(out, "     weight: %.2f%% of %.2f%% (%zu of %zu real blocks)",
			    100 * f->weight_off, 100 * f->weight, f->n_real_off, f->n_real);
	else
		text_printf(out, "     weight: not known, of %.2f%% (no real block has a number)",
			    100 * f->weight);
}

static void put_class(const struct hunter *p, const struct tact_hunt_finding *f, size_t rank,
		      size_t width, struct text *out)
{
	const size_t start = out->size;

	text_printf(out, "%3zu. ", rank);
	text_wrap_to(out, f->words, 5, start, width);
	text_printf(out, "     disagree: %zu of %zu, error %+.1f%%\n", f->n_off, f->n_tried,
		    100 * f->error);
	put_weight(f, out);
	text_printf(out, "\n     example: %s %.2f, predicted %.2f (%+.1f%%)", judge_word(p),
		    f->judged, f->predicted, 100 * error_of(f));
	if (f->alignment)
		text_printf(out, ", alignment %u", f->alignment);
	text_add(out, "\n");
	put_assembly(p, f, out);
	text_add(out, "      ");
	text_hex(out, f->code, f->code_size);
	text_add(out, "\n\n");
}

static void put_head(const struct hunter *p, struct text *out, size_t width)
{
	const size_t n = tact_hunt_count(p->hunt);
	struct tact_hunt_counts c;
	struct text line = {0};

	tact_hunt_get_counts(p->hunt, &c);
	text_wrap_to(out, p->what, 0, out->size, width);
	text_printf(&line, "%s compared: %zu. Off by more than %.3g%% and %.3g cycles: %zu",
		    p->truth ? "Blocks" : "New blocks", c.n_blocks, 100 * p->relative, p->absolute,
		    c.n_off);
	if (c.n_blocks)
		text_printf(&line, " (%.1f%%", 100.0 * (double)c.n_off / (double)c.n_blocks);
	if (c.n_blocks && p->truth && !p->is_unweighted)
		text_printf(&line, "; by weight %.1f%%", 100 * c.weight_off);
	text_add(&line, c.n_blocks ? ")." : ".");
	if (p->truth)
		text_printf(&line, " Mean error: %.2f%%.", 100 * c.mape);
	if (c.n_tried)
		text_printf(&line, " Blocks tried to find classes: %zu.", c.n_tried);
	if (c.n_without)
		text_printf(&line, " Without a number: %zu.", c.n_without);
	text_wrap_to(out, cli_string(&line), 0, out->size, width);
	text_reset(&line);
	text_printf(&line, "Classes: %zu%s", n, n ? "" : ". Nothing was found");
	if (p->truth && n && c.weight_off > 0)
		text_printf(&line, "; %.0f%% of the weight that is off is in one of them",
			    100 * c.weight_in_class / c.weight_off);
	text_printf(&line, ".%s",
		    p->emit && c.n_later ? " Blocks that wait for their measurement: see --emit."
					 : "");
	text_wrap_to(out, cli_string(&line), 0, out->size, width);
	text_free(&line);
	text_add(out, "\n");
}

/* ---- tables ---- */

struct item {
	const struct tact_hunt_finding *f;
	size_t rank;
	const struct hunter *p;
};

static struct cell get_number(const struct cell_at *at)
{
	const struct item *x = at->row;
	const struct tact_hunt_finding *f = x->f;

	switch (at->column->argument) {
	case 0:
		return cell_number(f->weight);
	case 1:
		return f->has_mape ? cell_number(f->mape) : cell_none();
	case 2:
		return cell_number(f->n_tried ? (double)f->n_off / (double)f->n_tried : 0);
	case 3:
		return cell_number(f->error);
	case 4:
		return cell_number(f->judged);
	case 5:
		return f->has_mape || f->n_real || !f->n_rows ? cell_number(f->weight_off)
							      : cell_none();
	default:
		return cell_number(f->predicted);
	}
}

static struct cell get_count(const struct cell_at *at)
{
	const struct item *x = at->row;
	const size_t counts[] = {x->rank,	x->f->n_tried,	 x->f->n_off,  x->f->n_rows,
				 x->f->n_found, x->f->alignment, x->f->n_real, x->f->n_real_off};

	return cell_count(counts[at->column->argument]);
}

static struct cell get_text(const struct cell_at *at)
{
	const struct item *x = at->row;
	const struct tact_hunt_finding *f = x->f;
	struct text *scratch = &at->table->scratch;

	if (at->column->argument == 0)
		return cell_string(f->words);
	if (at->column->argument == 1)
		return cell_hex(f->code, f->code_size);
	text_reset(scratch);
	for (size_t i = 0; i < f->code_size;) {
		struct tact_insn insn;
		char line[128] = "";
		int n = tact_isa_decode(isa_of(x->p), &insn, f->code + i, f->code_size - i);

		if (n <= 0)
			break;
		tact_isa_format(isa_of(x->p), f->code + i, f->code_size - i, i, line, sizeof(line));
		text_printf(scratch, "%s%s", i ? "; " : "", line);
		i += (size_t)n;
	}
	return cell_chars(cli_string(scratch), scratch->size);
}

#define NUMBER(n, digits) .get = get_number, .argument = n, .form = FORM_DECIMALS(digits)
#define COUNT(n)	  .get = get_count, .argument = n
static const struct column columns[] = {
	{NULL, "rank", COUNT(0)},
	{NULL, "class", .get = get_text, .argument = 0},
	{NULL, "weight", NUMBER(0, 6)},
	{NULL, "weight_off", NUMBER(5, 6)},
	{NULL, "adds", NUMBER(1, 6)},
	{NULL, "tried", COUNT(1)},
	{NULL, "off", COUNT(2)},
	{NULL, "share_off", NUMBER(2, 4)},
	{NULL, "error", NUMBER(3, 4)},
	{NULL, "rows", COUNT(3)},
	{NULL, "real_tried", COUNT(6)},
	{NULL, "real_off", COUNT(7)},
	{NULL, "found", COUNT(4)},
	{NULL, "judged_cycles_per_iteration", NUMBER(4, 4)},
	{NULL, "predicted_cycles_per_iteration", NUMBER(6, 4)},
	{NULL, "alignment", COUNT(5)},
	{NULL, "hex", .get = get_text, .argument = 1},
	{NULL, "assembly", .get = get_text, .argument = 2},
};

static void put_summary(const struct hunter *p, struct text *out)
{
	struct json json = {.out = out};
	struct tact_hunt_counts c;

	tact_hunt_get_counts(p->hunt, &c);
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.hunt/1");
	json_put_string(&json, "kind", "summary");
	json_put_string(&json, "model", p->model);
	json_put_string(&json, "arch", tact_arch_name(p->archs.arch[0]));
	json_put_bool(&json, "verified", tact_arch_is_verified(p->archs.arch[0]));
	json_put_string(&json, "judge", p->truth ? p->truth : p->against);
	json_put_string(&json, "mode", tact_mode_name((enum tact_mode)p->mode));
	json_put_count(&json, "seed", p->seed);
	json_put_count(&json, "blocks", c.n_blocks);
	json_put_count(&json, "off", c.n_off);
	json_put_count(&json, "tried", c.n_tried);
	json_put_count(&json, "without_number", c.n_without);
	json_put_count(&json, "waiting", c.n_later);
	json_put_count(&json, "classes", tact_hunt_count(p->hunt));
	json_put_fixed(&json, "relative", p->relative, 4);
	json_put_fixed(&json, "absolute", p->absolute, 4);
	if (p->truth) {
		json_put_fixed(&json, "mean_error", c.mape, 6);
		json_put_fixed(&json, "weight_off", c.weight_off, 6);
		json_put_fixed(&json, "weight_in_class", c.weight_in_class, 6);
	}
	json_end_line(&json);
}

void hunter_report(const struct hunter *p, struct text *out)
{
	const size_t width = terminal_width(p->output);
	struct table table = {.columns = columns,
			      .n_columns = CLI_ARRAY_SIZE(columns),
			      .format = p->format,
			      .out = out,
			      .schema = "tact.hunt/1",
			      .kind = "class"};

	if (p->format == FORMAT_TEXT)
		put_head(p, out, width ? width : 80);
	else if (p->format == FORMAT_JSON)
		put_summary(p, out);
	else
		table_header(&table);
	for (size_t i = 0; i < tact_hunt_count(p->hunt); i++) {
		const struct item item = {tact_hunt_get(p->hunt, i), i + 1, p};

		if (p->format == FORMAT_TEXT)
			put_class(p, item.f, item.rank, width ? width : 80, out);
		else
			table_row(&table, &item);
	}
	table_fini(&table);
}

/* ---- blocks to be measured elsewhere ---- */

void hunter_put_header(struct text *out, bool has_number)
{
	text_add(out, has_number ? "hex,mode,alignment,status,cycles\n" : "hex,mode\n");
}

void hunter_put_block(const struct hunter *p, const struct tact_hunt_block *block,
		      const struct tact_hunt_value *value, struct text *out)
{
	text_hex(out, block->code, block->code_size);
	text_printf(out, ",%s", tact_mode_name((enum tact_mode)p->mode));
	if (value)
		text_printf(out, ",%u", block->alignment);
	if (value && value->answer == TACT_HUNT_NUMBER) {
		text_add(out, ",ok,");
		text_exact(out, value->cycles);
	} else if (value) {
		text_add(out, ",none,");
	}
	text_add(out, "\n");
}
