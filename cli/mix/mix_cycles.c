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

/* Code as it runs: a loop, or straight code as if it were repeated, one execution behind the other.
 */
static int predict(struct tact_block *block, const uint8_t *code, size_t size, uint64_t address,
		   struct mix_cost *cost)
{
	struct tact_block_options o = {.size = sizeof(o),
				       .mode = cost->is_loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL,
				       .alignment = (unsigned)(address % 64)};
	struct tact_predict_options without = {.size = sizeof(without)};
	struct tact_prediction x = {.size = sizeof(x)}, y = {.size = sizeof(y)};

	if (tact_block_rebind(block, NULL, &o) < 0 ||
	    tact_block_load(block, code, size, NULL) < 0 || tact_predict(block, NULL, &x) < 0)
		return -1;
	without.bounds = x.applies & ~x.bottlenecks;
	if (!without.bounds || tact_predict(block, &without, &y) < 0)
		y.cycles_per_iteration = 0;
	cost->cycles = x.cycles_per_iteration;
	cost->total = x.cycles_per_iteration * cost->block.executions;
	cost->gain = (x.cycles_per_iteration - y.cycles_per_iteration) * cost->block.executions;
	cost->bottlenecks = x.bottlenecks;
	cost->coverage = x.coverage;
	return 0;
}

/* ---- loops of several blocks ---- */

enum { MAX_WAY = 32 }; /* blocks of a loop */

struct finder {
	struct tact_block *block;
	struct tact_mix_block *blocks; /* that ran; by module and address */
	size_t n;
	uint8_t *is_done; /* is in a loop that was found, or has a row */
};

static int compare_places(const void *a, const void *b)
{
	const struct tact_mix_block *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* The block of the same module at an address that runs at least half as often as the first; n:
 * none. */
static size_t successor(const struct finder *f, const struct tact_mix_block *first,
			uint64_t address)
{
	const struct tact_mix_block key = {.module = first->module, .address = address};
	const struct tact_mix_block *found =
		address ? bsearch(&key, f->blocks, f->n, sizeof(key), compare_places) : NULL;

	if (!found || found->executions < first->executions / 2)
		return f->n;
	return (size_t)(found - f->blocks);
}

/* The way from a block back to itself, by the successors that run most often.  Returns its length,
 * 0 if it does not come back.
 */
static unsigned find_way(const struct finder *f, size_t first, size_t way[MAX_WAY])
{
	size_t at = first;

	for (unsigned n = 0; n < MAX_WAY; n++) {
		const struct tact_mix_block *b = &f->blocks[at];
		size_t next = successor(f, &f->blocks[first], b->next);
		size_t target = successor(f, &f->blocks[first], b->target);

		way[n] = at;
		if (next == first || target == first)
			return n + 1;
		if (target < f->n &&
		    (next == f->n || f->blocks[target].executions > f->blocks[next].executions))
			next = target;
		if (next == f->n || f->is_done[next])
			return 0;
		for (unsigned i = 0; i <= n; i++)
			if (way[i] == next)
				return 0;
		at = next;
	}
	return 0;
}

static void add_cost(struct mix_costs *costs, const struct mix_cost *cost)
{
	costs->items[costs->n++] = *cost;
	costs->total += cost->total;
}

/* A loop as one block; its executions are the mean of those of its instructions. */
static bool add_loop(struct finder *f, const size_t *way, unsigned n, struct mix_costs *costs)
{
	struct mix_cost cost = {.block = f->blocks[way[0]], .is_loop = true, .n_blocks = n};
	struct text code = {0};
	double sum = 0;
	bool is_good;

	cost.block.length = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct tact_mix_block *b = &f->blocks[way[i]];

		text_add_bytes(&code, b->code, b->code_size);
		cost.block.length += b->length;
		sum += b->executions * b->length;
	}
	cost.block.executions = sum / cost.block.length;
	is_good = predict(f->block, (const uint8_t *)code.data, code.size, cost.block.address,
			  &cost) >= 0;
	text_free(&code);
	if (!is_good)
		return false;
	for (unsigned i = 0; i < n; i++)
		f->is_done[way[i]] = 1;
	add_cost(costs, &cost);
	return true;
}

static int compare_executions(const void *a, const void *b, void *context)
{
	const struct tact_mix_block *blocks = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (blocks[x].executions != blocks[y].executions)
		return blocks[x].executions > blocks[y].executions ? -1 : 1;
	return (x > y) - (x < y);
}

/* Those that run most come first, so that inner loops are found before outer ones. */
static void add_all(struct finder *f, struct mix_costs *costs)
{
	size_t *order = cli_alloc((f->n + 1) * sizeof(*order)), way[MAX_WAY];

	for (size_t i = 0; i < f->n; i++)
		order[i] = i;
	qsort_r(order, f->n, sizeof(*order), compare_executions, f->blocks);
	for (size_t i = 0; i < f->n; i++) {
		const struct tact_mix_block *b = &f->blocks[order[i]];
		struct mix_cost cost = {.block = *b, .is_loop = b->is_loop, .n_blocks = 1};
		unsigned n = f->is_done[order[i]] || b->is_loop ? 0 : find_way(f, order[i], way);

		if (f->is_done[order[i]] || (n && add_loop(f, way, n, costs)))
			continue;
		f->is_done[order[i]] = 1;
		if (predict(f->block, b->code, b->code_size, b->address, &cost) < 0)
			costs->failed++;
		else
			add_cost(costs, &cost);
	}
	free(order);
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
	struct finder f = {NULL, NULL, 0, NULL};

	*costs = (struct mix_costs){.items = cli_alloc((n + 1) * sizeof(*costs->items))};
	if (tact_block_create(&f.block, m->archs.arch[0], NULL, &diag) < 0) {
		cli_message("%s", diag.text);
		mix_costs_fini(costs);
		return CLI_FAILED;
	}
	f.blocks = cli_alloc((n + 1) * sizeof(*f.blocks));
	f.is_done = cli_alloc(n + 1);
	memset(f.is_done, 0, n + 1);
	for (size_t i = 0; i < n; i++) {
		tact_mix_get_block(m->mix, i, &f.blocks[f.n]);
		f.n += f.blocks[f.n].executions > 0;
	}
	qsort(f.blocks, f.n, sizeof(*f.blocks), compare_places);
	add_all(&f, costs);
	free(f.blocks);
	free(f.is_done);
	tact_block_destroy(f.block);
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
		text_printf(out, "%s+0x%" PRIx64 " %s (%u instruction%s%s",
			    base_name(c->block.module), c->block.address, c->block.function,
			    c->block.length, c->block.length == 1 ? "" : "s",
			    c->is_loop ? ", loop" : "");
		if (c->n_blocks > 1)
			text_printf(out, " of %u blocks", c->n_blocks);
		text_printf(out, "%s)\n", c->coverage < 1 ? ", at least" : "");
	}
	if (shown(m, costs) < costs->n)
		text_printf(out, "(%zu more blocks)\n", costs->n - shown(m, costs));
}

void mix_costs_csv(const struct mixer *m, const struct mix_costs *costs, struct text *out)
{
	text_add(out, "module,function,address,instructions,is_loop,blocks,executions,cycles_per_"
		      "execution,"
		      "cycles,share,gain,bottlenecks,coverage\n");
	for (size_t i = 0; i < shown(m, costs); i++) {
		const struct mix_cost *c = &costs->items[i];

		text_csv_field(out, c->block.module, strlen(c->block.module), false);
		text_add(out, ",");
		text_csv_field(out, c->block.function, strlen(c->block.function), false);
		text_printf(out, ",0x%" PRIx64 ",%u,%d,%u,%.0f,", c->block.address, c->block.length,
			    c->is_loop, c->n_blocks, c->block.executions);
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
			    "\"blocks\":%u,\"executions\":%.0f,\"cycles_per_execution\":",
			    c->block.address, c->block.length, c->is_loop ? "true" : "false",
			    c->n_blocks, c->block.executions);
		text_number(out, c->cycles);
		text_printf(out, ",\"cycles\":%.0f,\"gain\":%.0f,\"bottlenecks\":[\"", c->total,
			    c->gain);
		add_names(out, c->bottlenecks, "\",\"");
		text_printf(out, "\"],\"coverage\":%.4f}", c->coverage);
	}
	text_add(out, "]}\n");
}
