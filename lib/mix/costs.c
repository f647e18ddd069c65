/* SPDX-License-Identifier: MIT
 *
 * Executions times predicted cycles: where the cycles go, and why.
 *
 * A model that takes a stream of blocks sees an execution (block_walk.c), as in a trace.  Other models
 * see each block, or each loop of several blocks, alone.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/block.h>
#include <tact/model.h>

#include "mix/block_walk.h"
#include "trace/engine.h"

struct tact_mix_costs {
	struct tact_mix_cost *rows; /* owned; most cycles first */
	size_t n, capacity;
	struct tact_mix_costs_totals totals;
};

/* ---- loops of several blocks ---- */

enum { MAX_WAY = 32 }; /* blocks of a loop */

/* A block that ran. */
struct piece {
	struct tact_mix_block block;
	size_t number; /* in the mix */
};

struct finder {
	struct tact_block *block;	  /* owned */
	struct tact_estimator *estimator; /* owned */
	struct mix_walked *walked;	  /* owned; by number in the mix; NULL: blocks run alone */
	struct piece *pieces;		  /* owned; by module and address */
	size_t n;
	uint8_t *is_done; /* owned: is in a loop that was found, or has a row */
	size_t *order;	  /* owned: numbers of blocks, most executions first */
	uint8_t *code;	  /* owned: of a loop */
	size_t code_capacity;
};

/* Returns the largest of the bounds that do not limit, up to `most`: what would remain without the
 * others.
 */
static double largest_other(const struct tact_prediction *x, uint32_t limits, double most)
{
	double largest = 0;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if ((x->applies & ~limits) >> b & 1 && x->bound[b] > largest && x->bound[b] <= most)
			largest = x->bound[b];
	return largest;
}

/* Code as it runs: a loop, or straight code as if one execution followed another. */
static int estimate(const struct finder *f, const uint8_t *code, size_t size, uint64_t address,
		    bool is_loop, struct tact_estimate *x)
{
	struct tact_block_options o = {.size = sizeof(o),
				       .mode = is_loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL,
				       .alignment = (unsigned)(address % 64)};
	int status = tact_block_rebind(f->block, NULL, &o);

	if (status >= 0)
		status = tact_block_load(f->block, code, size, NULL);
	if (status >= 0)
		status = tact_model_estimate(f->estimator, f->block, x);
	return status;
}

/* Explains what the pipeline took.  Code that runs often comes from the DSB, as a loop does. */
static int explain(const struct finder *f, const uint8_t *code, size_t size,
		   struct tact_mix_cost *cost)
{
	struct tact_estimate x = {.size = sizeof(x)};
	const double each = cost->cycles;
	double stalled = 0, longest = 0;
	int status = estimate(f, code, size, cost->address, true, &x);

	if (status < 0)
		return status;
	for (unsigned s = 0; s < TACT_N_STALLS; s++) {
		stalled += cost->stalls[s];
		longest = cost->stalls[s] > longest ? cost->stalls[s] : longest;
	}
	cost->coverage = x.coverage;
	cost->bottlenecks = engine_limits(x.bounds, each, stalled > 0 ? stalled : -1);
	if (cost->bottlenecks)
		cost->gain = each - largest_other(x.bounds, cost->bottlenecks, each);
	else
		cost->gain = longest;
	cost->gain *= cost->executions;
	return 0;
}

/* Predicts code that runs alone. */
static int predict(const struct finder *f, const uint8_t *code, size_t size,
		   struct tact_mix_cost *cost)
{
	struct tact_estimate x = {.size = sizeof(x)};
	int status;

	if (f->walked)
		return explain(f, code, size, cost);
	status = estimate(f, code, size, cost->address, cost->is_loop, &x);
	if (status < 0)
		return status;
	cost->cycles = x.cycles_per_iteration;
	cost->total = x.cycles_per_iteration * cost->executions;
	cost->gain = (x.bounds->cycles_per_iteration -
		      largest_other(x.bounds, x.bounds->bottlenecks, 1e300)) *
		     cost->executions;
	cost->bottlenecks = x.bottlenecks;
	cost->coverage = x.coverage;
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct tact_mix_block *x = &((const struct piece *)a)->block;
	const struct tact_mix_block *y = &((const struct piece *)b)->block;

	return 2 * ORDER(x->module, y->module) + ORDER(x->address, y->address);
}

/* Finds the block of the same module at an address that runs at least half as often as the first;
 * n: none.
 */
static size_t successor(const struct finder *f, const struct tact_mix_block *first,
			uint64_t address)
{
	const struct piece key = {.block = {.module = first->module, .address = address}};
	const struct piece *found =
		address ? bsearch(&key, f->pieces, f->n, sizeof(key), compare_places) : NULL;

	if (!found || found->block.executions < first->executions / 2)
		return f->n;
	return (size_t)(found - f->pieces);
}

/* Finds the path from a block back to itself, along the successors that run most often.  Returns
 * its length, 0 if it does not come back.
 */
static unsigned find_way(const struct finder *f, size_t first, size_t way[MAX_WAY])
{
	size_t at = first;

	for (unsigned n = 0; n < MAX_WAY; n++) {
		const struct tact_mix_block *b = &f->pieces[at].block;
		size_t next = successor(f, &f->pieces[first].block, b->next);
		size_t target = successor(f, &f->pieces[first].block, b->target);

		way[n] = at;
		if (next == first || target == first)
			return n + 1;
		if (target < f->n && (next == f->n || f->pieces[target].block.executions >
							      f->pieces[next].block.executions))
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

static void add_cost(struct tact_mix_costs *costs, const struct tact_mix_cost *cost)
{
	costs->rows[costs->n++] = *cost;
	costs->totals.cycles += cost->total;
}

/* Returns the row of a block, without its prediction. */
static struct tact_mix_cost cost_of(const struct tact_mix_block *b)
{
	return (struct tact_mix_cost){.size = sizeof(struct tact_mix_cost),
				      .module = b->module,
				      .function = b->function,
				      .address = b->address,
				      .code = b->code,
				      .code_size = b->code_size,
				      .length = b->length,
				      .executions = b->executions,
				      .is_loop = b->is_loop,
				      .n_blocks = 1};
}

/* Adds what the walk says about all executions of a block. */
static void add_walked(const struct finder *f, size_t number, struct tact_mix_cost *cost)
{
	const struct piece *p = &f->pieces[number];
	const struct mix_walked *w = f->walked ? &f->walked[p->number] : NULL;

	if (!w)
		return;
	cost->total += w->cycles * p->block.executions;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		cost->stalls[s] += w->stalls[s] * p->block.executions;
}

/* Turns the sums of add_walked into cycles of an execution. */
static void divide_walked(struct tact_mix_cost *cost)
{
	cost->cycles = cost->total / cost->executions;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		cost->stalls[s] /= cost->executions;
}

/* Adds a loop as one block; its executions are the mean over its instructions.  Returns 1 if it has
 * a row now, 0 if it has no prediction, or -TACT_E_NOMEM.
 */
static int add_loop(struct finder *f, const size_t *way, unsigned n, struct tact_mix_costs *costs)
{
	struct tact_mix_cost cost = cost_of(&f->pieces[way[0]].block);
	size_t size = 0;
	double sum = 0;
	int status;

	cost.is_loop = true;
	cost.n_blocks = n;
	cost.length = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct tact_mix_block *b = &f->pieces[way[i]].block;

		if (tact_grow(&f->code, &f->code_capacity, size + b->code_size, 1))
			return -TACT_E_NOMEM;
		memcpy(f->code + size, b->code, b->code_size);
		size += b->code_size;
		cost.length += b->length;
		sum += b->executions * b->length;
		add_walked(f, way[i], &cost);
	}
	cost.executions = sum / cost.length;
	divide_walked(&cost);
	status = predict(f, f->code, size, &cost);
	if (status < 0)
		return status == -TACT_E_NOMEM ? status : 0;
	for (unsigned i = 0; i < n; i++)
		f->is_done[way[i]] = 1;
	add_cost(costs, &cost);
	return 1;
}

static int compare_executions(const void *a, const void *b, void *context)
{
	const struct piece *pieces = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (pieces[x].block.executions != pieces[y].block.executions)
		return pieces[x].block.executions > pieces[y].block.executions ? -1 : 1;
	return (x > y) - (x < y);
}

static int add_block(struct finder *f, size_t number, struct tact_mix_costs *costs)
{
	const struct tact_mix_block *b = &f->pieces[number].block;
	struct tact_mix_cost cost = cost_of(b);
	size_t way[MAX_WAY];
	unsigned n;
	int status;

	if (f->is_done[number])
		return 0;
	n = b->is_loop ? 0 : find_way(f, number, way);
	if (n) {
		status = add_loop(f, way, n, costs);
		if (status)
			return status < 0 ? status : 0;
	}
	f->is_done[number] = 1;
	add_walked(f, number, &cost);
	divide_walked(&cost);
	status = predict(f, b->code, b->code_size, &cost);
	if (status == -TACT_E_NOMEM)
		return status;
	if (status < 0)
		costs->totals.failed++;
	else
		add_cost(costs, &cost);
	return 0;
}

/* Bounds that explain a walk: as for a trace. */
static const char BOUNDS[] = "facile:without=forwarding+blocked";

static int finder_open(struct finder *f, const struct tact_mix *mix, const struct tact_arch *arch,
		       const char *name, struct tact_diag *diag)
{
	const struct tact_model *model = tact_model_find(name ? name : "sim", diag);
	struct tact_model_options options = {.size = sizeof(options), .arch = arch, .bounds = true};
	int status = model ? tact_block_create(&f->block, arch, NULL, diag) : -TACT_E_INVAL;

	if (status >= 0 && model->traits & TACT_MODEL_STREAM) {
		name = BOUNDS;
		status = mix_walk(&f->walked, mix, arch, model->name, diag);
	}
	if (status >= 0)
		status = tact_model_open(&f->estimator, name, &options, diag);
	return status;
}

static int finder_init(struct finder *f, const struct tact_mix *mix, const struct tact_arch *arch,
		       const char *model, struct tact_diag *diag)
{
	const size_t n = tact_mix_block_count(mix);
	int status = finder_open(f, mix, arch, model, diag);

	if (status < 0)
		return status;
	f->pieces = malloc((n + 1) * sizeof(*f->pieces));
	f->is_done = calloc(n + 1, 1);
	f->order = malloc((n + 1) * sizeof(*f->order));
	if (!f->pieces || !f->is_done || !f->order)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		struct piece *piece = &f->pieces[f->n];

		piece->block.size = sizeof(piece->block);
		piece->number = i;
		tact_mix_get_block(mix, i, &piece->block);
		f->n += piece->block.executions > 0;
	}
	qsort(f->pieces, f->n, sizeof(*f->pieces), compare_places);
	for (size_t i = 0; i < f->n; i++)
		f->order[i] = i;
	qsort_r(f->order, f->n, sizeof(*f->order), compare_executions, f->pieces);
	return 0;
}

static void finder_fini(struct finder *f)
{
	tact_model_close(f->estimator);
	tact_block_destroy(f->block);
	FREE_ALL(f->walked, f->pieces, f->is_done, f->order, f->code);
}

static int compare_costs(const void *a, const void *b)
{
	const struct tact_mix_cost *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return ORDER(x->address, y->address);
}

/* Orders the same code of different profiles next to each other. */
static int compare_code(const void *a, const void *b)
{
	const struct tact_mix_cost *x = a, *y = b;
	int order = strcmp(x->module, y->module);

	if (!order)
		order = ORDER(x->address, y->address);
	if (!order)
		order = 4 * ORDER(x->n_blocks, y->n_blocks) + 2 * ORDER(x->length, y->length) +
			ORDER(x->code_size, y->code_size);
	return order ? order : memcmp(x->code, y->code, x->code_size);
}

/* Makes one row of those with the same code. */
static void join(struct tact_mix_costs *costs)
{
	size_t kept = 0;

	qsort(costs->rows, costs->n, sizeof(*costs->rows), compare_code);
	for (size_t i = 0; i < costs->n; i++) {
		const struct tact_mix_cost *from = &costs->rows[i];
		struct tact_mix_cost *to = kept ? &costs->rows[kept - 1] : NULL;

		if (to && !compare_code(to, from)) {
			const double all = to->executions + from->executions;

			for (unsigned s = 0; s < TACT_N_STALLS; s++)
				to->stalls[s] = (to->stalls[s] * to->executions +
						 from->stalls[s] * from->executions) /
						all;
			to->executions = all;
			to->total += from->total;
			to->cycles = to->total / all;
			to->gain += from->gain;
		} else {
			costs->rows[kept++] = *from;
		}
	}
	costs->n = kept;
}

/* Returns the longest stall of a block; TACT_N_STALLS if it has none. */
static unsigned longest_stall(const struct tact_mix_cost *c)
{
	unsigned longest = TACT_N_STALLS;

	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		if (c->stalls[s] > (longest < TACT_N_STALLS ? c->stalls[longest] : 0))
			longest = s;
	return longest;
}

static void finish(struct tact_mix_costs *costs)
{
	qsort(costs->rows, costs->n, sizeof(*costs->rows), compare_costs);
	for (size_t i = 0; i < costs->n; i++) {
		const struct tact_mix_cost *c = &costs->rows[i];
		const unsigned stall = longest_stall(c);
		const unsigned bound =
			c->bottlenecks ? (unsigned)__builtin_ctz(c->bottlenecks) : TACT_BOUND_ISSUE;

		if (!c->bottlenecks && stall < TACT_N_STALLS) {
			costs->totals.by_stall[stall] += c->total;
			costs->totals.gain_by_stall[stall] += c->gain;
			continue;
		}
		costs->totals.by_bound[bound] += c->total;
		costs->totals.gain_by_bound[bound] += c->gain;
	}
}

/* Code of another set cannot be predicted; a recording may have some of several. */
static int check_set(const struct tact_mix *mix, const struct tact_arch *arch,
		     struct tact_diag *diag)
{
	const struct tact_isa *isa = NULL;

	for (size_t i = 0; i < mix->n_profiles; i++) {
		const struct mix_profile *p = &mix->profiles[i];

		isa = mix->modules.items[p->module].codes[p->code].isa;
		if (isa == arch->isa)
			return 0;
	}
	if (!isa)
		return 0;
	return tact_fail(diag, TACT_E_INVAL,
			 "the recording is of %s code, and %s executes %s: -a NAME chooses another "
			 "CPU, 'tact archs' lists them",
			 isa->title, arch->name, arch->isa->title);
}

static int fill(struct tact_mix_costs *costs, const struct tact_mix *mix,
		const struct tact_arch *arch, const char *model, struct tact_diag *diag)
{
	struct finder f = {0};
	int status = check_set(mix, arch, diag);

	if (!status)
		status = finder_init(&f, mix, arch, model, diag);
	costs->totals.is_walked = f.walked != NULL;
	if (!status)
		status = tact_grow(&costs->rows, &costs->capacity, costs->n + f.n + 1,
				   sizeof(*costs->rows));
	/* Blocks that run most come first, so that inner loops are found before outer ones. */
	for (size_t i = 0; i < f.n && !status; i++)
		status = add_block(&f, f.order[i], costs);
	finder_fini(&f);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}

int tact_mix_costs_create(struct tact_mix_costs **out, const struct tact_mix *mix,
			  const struct tact_arch *arch, const char *model, struct tact_diag *diag)
{
	return tact_mix_costs_create_all(out, &mix, 1, arch, model, diag);
}

int tact_mix_costs_create_all(struct tact_mix_costs **out, const struct tact_mix *const *mixes,
			      size_t n, const struct tact_arch *arch, const char *model,
			      struct tact_diag *diag)
{
	struct tact_mix_costs *costs;
	int status;

	if (out)
		*out = NULL;
	status = mix_check_all(mixes, n, diag);
	if (status >= 0)
		status = tact_new(&costs, sizeof(*costs), out && arch,
				  "a mix and an architecture are needed", diag);
	if (status < 0)
		return status;
	costs->totals.size = sizeof(costs->totals);
	for (size_t i = 0; i < n && status >= 0; i++)
		status = fill(costs, mixes[i], arch, model, diag);
	if (status < 0) {
		tact_mix_costs_destroy(costs);
		return status;
	}
	if (n > 1)
		join(costs);
	finish(costs);
	*out = costs;
	return status;
}

void tact_mix_costs_destroy(struct tact_mix_costs *costs)
{
	if (costs)
		free(costs->rows);
	free(costs);
}

size_t tact_mix_costs_count(const struct tact_mix_costs *costs)
{
	return costs ? costs->n : 0;
}

int tact_mix_costs_get_row(const struct tact_mix_costs *costs, size_t i, struct tact_mix_cost *out)
{
	if (i >= tact_mix_costs_count(costs))
		return -TACT_E_INVAL;
	return tact_fill(out, &costs->rows[i], sizeof(costs->rows[i]));
}

int tact_mix_costs_get_totals(const struct tact_mix_costs *costs, struct tact_mix_costs_totals *out)
{
	return costs ? tact_fill(out, &costs->totals, sizeof(costs->totals)) : -TACT_E_INVAL;
}
