/* SPDX-License-Identifier: MIT
 *
 * tact mix report --cycles: where the cycles go, and why.
 */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "mixer.h"

static size_t shown(const struct mixer *m, const struct tact_mix_costs *costs)
{
	size_t n = tact_mix_costs_rows(costs), top = m->table.top;

	if (!top)
		top = m->format == FORMAT_TEXT ? 30 : n;
	return top < n ? top : n;
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

void mix_costs_text(const struct mixer *m, const struct tact_mix_costs *costs, struct text *out)
{
	const size_t n = tact_mix_costs_rows(costs);
	struct tact_mix_costs_totals t;

	tact_mix_costs_totals(costs, &t);
	text_printf(out, "CPU: %s; rung: %s; error to expect of executions: %s\n",
		    tact_arch_name(m->archs.arch[0]), tact_mix_rung_name(m->summary.rung),
		    tact_mix_rung_error(m->summary.rung));
	text_add(out, m->summary.is_relative ? "Cycles (relative): " : "Cycles: ");
	mix_put_count(out, t.cycles, 0);
	text_printf(out, " of %zu blocks, without cache misses and mispredictions", n);
	if (t.failed)
		text_printf(out, "; %zu blocks have no prediction", t.failed);
	text_add(out, "\n\n");
	if (!(t.cycles > 0))
		return;
	add_bottlenecks(&t, out);
	text_printf(out, "%8s  %16s  %7s  %8s  %-26s  %s\n", "cycles", "executions", "each", "gain",
		    "bottleneck", "block");
	for (size_t i = 0; i < shown(m, costs); i++) {
		struct tact_mix_cost c;
		size_t start;

		tact_mix_costs_row(costs, i, &c);
		text_printf(out, "%7.2f%%  ", 100 * c.total / t.cycles);
		mix_put_count(out, c.block.executions, 16);
		text_printf(out, "  %7.2f  %7.2f%%  ", c.cycles, 100 * c.gain / t.cycles);
		start = out->size;
		add_names(out, c.bottlenecks, ", ");
		text_pad(out, 28, start);
		text_printf(out, "%s+0x%" PRIx64 " %s (%u instruction%s%s",
			    file_base_name(c.block.module), c.block.address, c.block.function,
			    c.block.length, c.block.length == 1 ? "" : "s",
			    c.is_loop ? ", loop" : "");
		if (c.n_blocks > 1)
			text_printf(out, " of %u blocks", c.n_blocks);
		text_printf(out, "%s)\n", c.coverage < 1 ? ", at least" : "");
	}
	if (shown(m, costs) < n)
		text_printf(out, "(%zu more blocks)\n", n - shown(m, costs));
}

void mix_costs_csv(const struct mixer *m, const struct tact_mix_costs *costs, struct text *out)
{
	struct tact_mix_costs_totals t;

	tact_mix_costs_totals(costs, &t);
	text_add(out, "module,function,address,instructions,is_loop,blocks,executions,cycles_per_"
		      "execution,"
		      "cycles,share,gain,bottlenecks,coverage\n");
	for (size_t i = 0; i < shown(m, costs); i++) {
		struct tact_mix_cost c;

		tact_mix_costs_row(costs, i, &c);
		text_csv_field(out, c.block.module, strlen(c.block.module), false);
		text_add(out, ",");
		text_csv_field(out, c.block.function, strlen(c.block.function), false);
		text_printf(out, ",0x%" PRIx64 ",%u,%d,%u,%.0f,", c.block.address, c.block.length,
			    c.is_loop, c.n_blocks, c.block.executions);
		text_number(out, c.cycles);
		text_printf(out, ",%.0f,%.6f,%.6f,", c.total, t.cycles > 0 ? c.total / t.cycles : 0,
			    t.cycles > 0 ? c.gain / t.cycles : 0);
		add_names(out, c.bottlenecks, "+");
		text_printf(out, ",%.4f\n", c.coverage);
	}
}

void mix_costs_json(const struct mixer *m, const struct tact_mix_costs *costs, struct text *out)
{
	struct tact_mix_costs_totals t;

	tact_mix_costs_totals(costs, &t);
	text_printf(out,
		    "{\"schema\":\"tact.mix.cycles/1\",\"arch\":\"%s\",\"rung\":\"%s\","
		    "\"is_relative\":%s,\"cycles\":%.0f,\"failed_blocks\":%zu,\"blocks\":[",
		    tact_arch_name(m->archs.arch[0]), tact_mix_rung_name(m->summary.rung),
		    m->summary.is_relative ? "true" : "false", t.cycles, t.failed);
	for (size_t i = 0; i < shown(m, costs); i++) {
		struct tact_mix_cost c;

		tact_mix_costs_row(costs, i, &c);
		text_printf(out, "%s{\"module\":", i ? "," : "");
		text_json_string(out, c.block.module, strlen(c.block.module));
		text_add(out, ",\"function\":");
		text_json_string(out, c.block.function, strlen(c.block.function));
		text_printf(out,
			    ",\"address\":\"0x%" PRIx64 "\",\"instructions\":%u,\"is_loop\":%s,"
			    "\"blocks\":%u,\"executions\":%.0f,\"cycles_per_execution\":",
			    c.block.address, c.block.length, c.is_loop ? "true" : "false",
			    c.n_blocks, c.block.executions);
		text_number(out, c.cycles);
		text_printf(out, ",\"cycles\":%.0f,\"gain\":%.0f,\"bottlenecks\":[\"", c.total,
			    c.gain);
		add_names(out, c.bottlenecks, "\",\"");
		text_printf(out, "\"],\"coverage\":%.4f}", c.coverage);
	}
	text_add(out, "]}\n");
}
