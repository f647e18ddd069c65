/* SPDX-License-Identifier: MIT
 *
 * tact mix report --cycles: executions times predicted cycles.  Where the cycles go, and why.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tact/block.h>
#include <tact/predict.h>

#include "mixer.h"

/* A block that branches to its own start is a loop; the others are taken as if they were repeated,
 * one execution behind the other.
 */
static int predict(struct tact_block *block, const struct tact_mix_block *b, struct mix_cost *cost)
{
	struct tact_block_options o = {.size = sizeof(o),
				       .mode = b->is_loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL,
				       .alignment = (unsigned)(b->address % 64)};
	struct tact_predict_options without = {.size = sizeof(without)};
	struct tact_prediction x = {.size = sizeof(x)}, y = {.size = sizeof(y)};

	if (tact_block_rebind(block, NULL, &o) < 0 ||
	    tact_block_load(block, b->code, b->code_size, NULL) < 0 ||
	    tact_predict(block, NULL, &x) < 0)
		return -1;
	without.bounds = x.applies & ~x.bottlenecks;
	if (!without.bounds || tact_predict(block, &without, &y) < 0)
		y.cycles_per_iteration = 0;
	*cost = (struct mix_cost){
		.block = *b,
		.cycles = x.cycles_per_iteration,
		.total = x.cycles_per_iteration * b->executions,
		.gain = (x.cycles_per_iteration - y.cycles_per_iteration) * b->executions,
		.bottlenecks = x.bottlenecks,
		.coverage = x.coverage,
		.is_loop = b->is_loop,
	};
	return 0;
}

static int compare_costs(const void *a, const void *b)
{
	const struct mix_cost *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->block.address > y->block.address) - (x->block.address < y->block.address);
}

int mix_costs_make(const struct mixer *m, struct mix_costs *costs)
{
	size_t n = tact_mix_block_count(m->mix);
	struct tact_diag diag = {0};
	struct tact_block *block = NULL;

	*costs = (struct mix_costs){.items = cli_alloc((n + 1) * sizeof(*costs->items))};
	if (tact_block_create(&block, m->archs.arch[0], NULL, &diag) < 0) {
		cli_message("%s", diag.text);
		mix_costs_fini(costs);
		return CLI_FAILED;
	}
	for (size_t i = 0; i < n; i++) {
		struct tact_mix_block b;

		tact_mix_get_block(m->mix, i, &b);
		if (!(b.executions > 0))
			continue;
		if (predict(block, &b, &costs->items[costs->n]) < 0) {
			costs->failed++;
			continue;
		}
		costs->total += costs->items[costs->n++].total;
	}
	tact_block_destroy(block);
	if (costs->n)
		qsort(costs->items, costs->n, sizeof(*costs->items), compare_costs);
	return CLI_GOOD;
}

void mix_costs_fini(struct mix_costs *costs)
{
	free(costs->items);
	*costs = (struct mix_costs){0};
}

/* ---- views ---- */

static size_t shown(const struct mixer *m, const struct mix_costs *costs)
{
	size_t n = m->table.top ? m->table.top : m->format == FORMAT_TEXT ? 30 : costs->n;

	return n < costs->n ? n : costs->n;
}

static void add_names(struct text *out, uint32_t bounds, const char *separator)
{
	const char *between = "";

	for (; bounds; bounds &= bounds - 1) {
		text_printf(out, "%s%s", between,
			    tact_bound_name((enum tact_bound)__builtin_ctz(bounds)));
		between = separator;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Cycles by bottleneck; a block with several counts for the first. */
static void add_bottlenecks(const struct mix_costs *costs, struct text *out)
{
	double by_bound[TACT_N_BOUNDS] = {0}, gain[TACT_N_BOUNDS] = {0};

	for (size_t i = 0; i < costs->n; i++) {
		const struct mix_cost *c = &costs->items[i];
		unsigned b =
			c->bottlenecks ? (unsigned)__builtin_ctz(c->bottlenecks) : TACT_BOUND_ISSUE;

		by_bound[b] += c->total;
		gain[b] += c->gain;
	}
	text_printf(out, "%-14s  %8s  %s\n", "bottleneck", "cycles", "gained if it were gone");
	for (;;) {
		unsigned best = 0;

		for (unsigned b = 1; b < TACT_N_BOUNDS; b++)
			if (by_bound[b] > by_bound[best])
				best = b;
		if (!(by_bound[best] > 0))
			break;
		text_printf(out, "%-14s  %7.2f%%  %7.2f%%\n",
			    tact_bound_name((enum tact_bound)best),
			    100 * by_bound[best] / costs->total, 100 * gain[best] / costs->total);
		by_bound[best] = 0;
	}
	text_add(out, "\n");
}

void mix_costs_text(const struct mixer *m, const struct mix_costs *costs, struct text *out)
{
	text_printf(out, "CPU: %s; rung: %s; error to expect of executions: %s\n",
		    tact_arch_name(m->archs.arch[0]), tact_mix_rung_name(m->summary.rung),
		    tact_mix_rung_error(m->summary.rung));
	text_add(out, m->summary.is_relative ? "Cycles (relative): " : "Cycles: ");
	mix_put_count(out, costs->total, 0);
	text_printf(out, " of %zu blocks, without cache misses and mispredictions", costs->n);
	if (costs->failed)
		text_printf(out, "; %zu blocks have no prediction", costs->failed);
	text_add(out, "\n\n");
	if (!(costs->total > 0))
		return;
	add_bottlenecks(costs, out);
	text_printf(out, "%8s  %16s  %7s  %8s  %-26s  %s\n", "cycles", "executions", "each", "gain",
		    "bottleneck", "block");
	for (size_t i = 0; i < shown(m, costs); i++) {
		const struct mix_cost *c = &costs->items[i];
		size_t start;

		text_printf(out, "%7.2f%%  ", 100 * c->total / costs->total);
		mix_put_count(out, c->block.executions, 16);
		text_printf(out, "  %7.2f  %7.2f%%  ", c->cycles, 100 * c->gain / costs->total);
		start = out->size;
		add_names(out, c->bottlenecks, ", ");
		text_pad(out, 28, start);
		text_printf(out, "%s+0x%" PRIx64 " %s (%u instruction%s%s%s)\n",
			    base_name(c->block.module), c->block.address, c->block.function,
			    c->block.length, c->block.length == 1 ? "" : "s",
			    c->is_loop ? ", loop" : "", c->coverage < 1 ? ", at least" : "");
	}
	if (shown(m, costs) < costs->n)
		text_printf(out, "(%zu more blocks)\n", costs->n - shown(m, costs));
}

void mix_costs_csv(const struct mixer *m, const struct mix_costs *costs, struct text *out)
{
	text_add(out,
		 "module,function,address,instructions,is_loop,executions,cycles_per_execution,"
		 "cycles,share,gain,bottlenecks,coverage\n");
	for (size_t i = 0; i < shown(m, costs); i++) {
		const struct mix_cost *c = &costs->items[i];

		text_csv_field(out, c->block.module, strlen(c->block.module), false);
		text_add(out, ",");
		text_csv_field(out, c->block.function, strlen(c->block.function), false);
		text_printf(out, ",0x%" PRIx64 ",%u,%d,%.0f,", c->block.address, c->block.length,
			    c->is_loop, c->block.executions);
		text_number(out, c->cycles);
		text_printf(out, ",%.0f,%.6f,%.6f,", c->total,
			    costs->total > 0 ? c->total / costs->total : 0,
			    costs->total > 0 ? c->gain / costs->total : 0);
		add_names(out, c->bottlenecks, "+");
		text_printf(out, ",%.4f\n", c->coverage);
	}
}

void mix_costs_json(const struct mixer *m, const struct mix_costs *costs, struct text *out)
{
	text_printf(out,
		    "{\"schema\":\"tact.mix.cycles/1\",\"arch\":\"%s\",\"rung\":\"%s\","
		    "\"is_relative\":%s,\"cycles\":%.0f,\"failed_blocks\":%zu,\"blocks\":[",
		    tact_arch_name(m->archs.arch[0]), tact_mix_rung_name(m->summary.rung),
		    m->summary.is_relative ? "true" : "false", costs->total, costs->failed);
	for (size_t i = 0; i < shown(m, costs); i++) {
		const struct mix_cost *c = &costs->items[i];

		text_printf(out, "%s{\"module\":", i ? "," : "");
		text_json_string(out, c->block.module, strlen(c->block.module));
		text_add(out, ",\"function\":");
		text_json_string(out, c->block.function, strlen(c->block.function));
		text_printf(out,
			    ",\"address\":\"0x%" PRIx64 "\",\"instructions\":%u,\"is_loop\":%s,"
			    "\"executions\":%.0f,\"cycles_per_execution\":",
			    c->block.address, c->block.length, c->is_loop ? "true" : "false",
			    c->block.executions);
		text_number(out, c->cycles);
		text_printf(out, ",\"cycles\":%.0f,\"gain\":%.0f,\"bottlenecks\":[\"", c->total,
			    c->gain);
		add_names(out, c->bottlenecks, "\",\"");
		text_printf(out, "\"],\"coverage\":%.4f}", c->coverage);
	}
	text_add(out, "]}\n");
}
