/* SPDX-License-Identifier: MIT
 *
 * tact mix report --cycles: where the cycles go, and why.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mixer.h"

static size_t shown(const struct mixer *m, const struct tact_mix_costs *costs)
{
	size_t n = tact_mix_costs_rows(costs), top = m->table.top;

	if (!top)
		top = m->format == FORMAT_TEXT ? 30 : n;
	return top < n ? top : n;
}

/* Names of bounds, one behind the other. */
static struct cell get_bounds(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;
	const char *separator = at->table->format == FORMAT_CSV ? "+" : ", ";
	struct text names = {0};
	struct cell cell;

	for (uint32_t bounds = c->bottlenecks; bounds; bounds &= bounds - 1)
		text_printf(&names, "%s%s", names.size ? separator : "",
			    tact_bound_name((enum tact_bound)__builtin_ctz(bounds)));
	cell = cell_printf(at->table, "%.*s", (int)names.size, names.data ? names.data : "");
	text_free(&names);
	return cell;
}

static double share_of(const struct cell_at *at, double cycles)
{
	const struct tact_mix_costs_totals *t = at->table->context;

	return t->cycles > 0 ? cycles / t->cycles : 0;
}

static struct cell get_share(const struct cell_at *at)
{
	return cell_number(share_of(at, ((const struct tact_mix_cost *)at->row)->total));
}

static struct cell get_gain(const struct cell_at *at)
{
	return cell_number(share_of(at, ((const struct tact_mix_cost *)at->row)->gain));
}

static struct cell get_address(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;

	return cell_printf(at->table, "0x%" PRIx64, c->block.address);
}

static struct cell get_loop(const struct cell_at *at)
{
	return cell_integer(((const struct tact_mix_cost *)at->row)->is_loop);
}

static struct cell get_place(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;
	const char *slash = strrchr(c->block.module, '/');
	char blocks[32] = "";

	if (c->n_blocks > 1)
		snprintf(blocks, sizeof(blocks), " of %u blocks", c->n_blocks);
	return cell_printf(at->table, "%s+0x%" PRIx64 " %s (%u instruction%s%s%s%s)",
			   slash && slash[1] ? slash + 1 : c->block.module, c->block.address,
			   c->block.function, c->block.length, c->block.length == 1 ? "" : "s",
			   c->is_loop ? ", loop" : "", blocks, c->coverage < 1 ? ", at least" : "");
}

#define COST(member, kind) COLUMN_FIELD(struct tact_mix_cost, member, kind)

/* clang-format off: a column stays together */
static const struct column columns[] = {
	{NULL, "module", COST(block.module, STRING)},
	{NULL, "function", COST(block.function, STRING)},
	{NULL, "address", .get = get_address},
	{NULL, "instructions", COST(block.length, UNSIGNED)},
	{NULL, "is_loop", .get = get_loop},
	{NULL, "blocks", COST(n_blocks, UNSIGNED)},
	{"cycles", NULL, .get = get_share, .width = 8, .decimals = 2, .flags = COLUMN_PERCENT},
	{"executions", "executions", COST(block.executions, DOUBLE), .width = 16,
	 .flags = COLUMN_SEPARATED, .form = FORM_DECIMALS(0)},
	{"each", "cycles_per_execution", COST(cycles, DOUBLE), .width = 7, .decimals = 2},
	{NULL, "cycles", COST(total, DOUBLE), .form = FORM_DECIMALS(0)},
	{NULL, "share", .get = get_share, .form = FORM_DECIMALS(6)},
	{"gain", "gain", .get = get_gain, .width = 8, .decimals = 2, .flags = COLUMN_PERCENT,
	 .form = FORM_DECIMALS(6)},
	{"bottleneck", "bottlenecks", .get = get_bounds, .width = 26},
	{NULL, "coverage", COST(coverage, DOUBLE), .form = FORM_DECIMALS(4)},
	{"block", NULL, .get = get_place},
};
/* clang-format on */

/* Cycles by bottleneck. */
static void add_bottlenecks(const struct tact_mix_costs_totals *t, struct text *out)
{
	bool is_shown[TACT_N_BOUNDS] = {false};

	text_printf(out, "%-14s  %8s  %s\n", "bottleneck", "cycles", "gained if it were gone");
	for (;;) {
		unsigned best = TACT_N_BOUNDS;

		for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
			if (!is_shown[b] && t->by_bound[b] > 0 &&
			    (best == TACT_N_BOUNDS || t->by_bound[b] > t->by_bound[best]))
				best = b;
		if (best == TACT_N_BOUNDS)
			break;
		text_printf(out, "%-14s  %7.2f%%  %7.2f%%\n",
			    tact_bound_name((enum tact_bound)best),
			    100 * t->by_bound[best] / t->cycles,
			    100 * t->gain_by_bound[best] / t->cycles);
		is_shown[best] = true;
	}
	text_add(out, "\n");
}

static void add_rows(const struct mixer *m, const struct tact_mix_costs *costs,
		     const struct tact_mix_costs_totals *totals, struct text *out)
{
	struct table table = {.columns = columns,
			      .n_columns = CLI_ARRAY_SIZE(columns),
			      .format = m->format,
			      .out = out,
			      .context = totals};
	struct tact_mix_cost cost;

	table_header(&table);
	for (size_t i = 0; i < shown(m, costs); i++) {
		tact_mix_costs_row(costs, i, &cost);
		table_row(&table, &cost);
	}
	table_fini(&table);
}

static void add_text(const struct mixer *m, const struct tact_mix_costs *costs,
		     const struct tact_mix_costs_totals *t, struct text *out)
{
	const size_t n = tact_mix_costs_rows(costs);

	text_printf(out, "CPU: %s; rung: %s; error to expect of executions: %s\n",
		    tact_arch_name(m->archs.arch[0]), tact_mix_rung_name(m->summary.rung),
		    tact_mix_rung_error(m->summary.rung));
	text_add(out, m->summary.is_relative ? "Cycles (relative): " : "Cycles: ");
	mix_put_count(out, t->cycles, 0);
	text_printf(out, " of %zu blocks, without cache misses and mispredictions", n);
	if (t->failed)
		text_printf(out, "; %zu blocks have no prediction", t->failed);
	text_add(out, "\n\n");
	if (!(t->cycles > 0))
		return;
	add_bottlenecks(t, out);
	add_rows(m, costs, t, out);
	if (shown(m, costs) < n)
		text_printf(out, "(%zu more blocks)\n", n - shown(m, costs));
}

static void add_json_row(const struct tact_mix_cost *c, struct json *json)
{
	json_begin_object(json, NULL);
	json_put_string(json, "module", c->block.module);
	json_put_string(json, "function", c->block.function);
	json_printf_string(json, "address", "0x%" PRIx64, c->block.address);
	json_put_count(json, "instructions", c->block.length);
	json_put_bool(json, "is_loop", c->is_loop);
	json_put_count(json, "blocks", c->n_blocks);
	json_put_fixed(json, "executions", c->block.executions, 0);
	json_put_number(json, "cycles_per_execution", c->cycles);
	json_put_fixed(json, "cycles", c->total, 0);
	json_put_fixed(json, "gain", c->gain, 0);
	json_begin_array(json, "bottlenecks");
	for (uint32_t bounds = c->bottlenecks; bounds; bounds &= bounds - 1)
		json_put_string(json, NULL,
				tact_bound_name((enum tact_bound)__builtin_ctz(bounds)));
	json_end(json);
	json_put_fixed(json, "coverage", c->coverage, 4);
	json_end(json);
}

static void add_json(const struct mixer *m, const struct tact_mix_costs *costs,
		     const struct tact_mix_costs_totals *t, struct text *out)
{
	struct json json = {.out = out};
	struct tact_mix_cost cost;

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix.cycles/1");
	json_put_string(&json, "arch", tact_arch_name(m->archs.arch[0]));
	json_put_string(&json, "rung", tact_mix_rung_name(m->summary.rung));
	json_put_bool(&json, "is_relative", m->summary.is_relative);
	json_put_fixed(&json, "cycles", t->cycles, 0);
	json_put_count(&json, "failed_blocks", t->failed);
	json_begin_array(&json, "blocks");
	for (size_t i = 0; i < shown(m, costs); i++) {
		tact_mix_costs_row(costs, i, &cost);
		add_json_row(&cost, &json);
	}
	json_end_line(&json);
}

void mix_print_costs(const struct mixer *m, const struct tact_mix_costs *costs, struct text *out)
{
	struct tact_mix_costs_totals t;

	tact_mix_costs_totals(costs, &t);
	if (m->format == FORMAT_CSV)
		add_rows(m, costs, &t, out);
	else if (m->format == FORMAT_JSON)
		add_json(m, costs, &t, out);
	else
		add_text(m, costs, &t, out);
}
