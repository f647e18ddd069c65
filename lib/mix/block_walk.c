/* SPDX-License-Identifier: MIT
 *
 * An execution that is made up: from each block to one of those that follow it, by chance, as often
 * as the profile says; calls come back to where they came from.  It goes through the pipeline of
 * traces (tact/cycles.h), so that a profile and a trace say the same about the same code.
 *
 * Chance is the same every time.  Blocks that the walk hardly meets are visited in the end: from
 * some blocks before them to some after them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "mix/block_flow.h"
#include "mix/block_walk.h"
#include "mix/values.h"
#include "trace/engine.h"

enum {
	LENGTH = 6000000, /* instructions of the walk: the mean cycles of programs changed by less
			     than 2% from half of it, those of large ones most */
	SHORTEST = 20000, /* of a program that executes less */
	PIECE = 5000,	  /* instructions between new beginnings, at least: many reorder buffers */
	PIECES = 300,	  /* at most; those of a long walk fill the DSB several times */
	FEW = 4,	  /* executions: a block with fewer is visited */
	AROUND = 16,	  /* blocks before it and after it: they fill a reorder buffer */
	DEEPEST = 256	  /* calls that are followed back */
};

/* Instructions in blocks that are worth a visit, as a share of all. */
static const double WORTH = 0.999;

struct call {
	uint32_t back;
	uint64_t stack;
};

struct walk {
	const struct tact_mix *mix;
	struct mix_flow *flow;		 /* owned */
	struct tact_cycles *cycles;	 /* owned */
	struct mix_values *values;	 /* owned; NULL: there is no code */
	struct tact_trace_block *blocks; /* owned; by node; code NULL: not met yet */
	struct mix_script **scripts;	 /* owned; by node; NULL: not met, or not decoded */
	uint32_t *visits;		 /* owned; by node */
	struct call calls[DEEPEST];
	unsigned n_calls;
	uint64_t random, instructions;
	uint64_t length; /* instructions of the walk; the visits take as many again, at most */
};

/* ---- one block ---- */

static const struct mix_code *code_of(const struct walk *w, uint32_t node,
				      const struct code_block **block)
{
	const struct mix_profile *p = &w->mix->profiles[w->flow->nodes[node].profile];

	*block = mix_block_of(w->mix, p);
	return &w->mix->modules.items[p->module].codes[p->code];
}

static int meet(struct walk *w, uint32_t node)
{
	const struct code_block *b;
	const struct mix_code *code = code_of(w, node, &b);
	struct tact_trace_block *to = &w->blocks[node];
	int status = w->values ? 0 : mix_values_create(&w->values, code->isa);

	*to = (struct tact_trace_block){.isa = code->isa,
					.address = w->flow->nodes[node].address,
					.code = code->data + b->begin,
					.code_size = b->end - b->begin,
					.n_insns = b->n_insns,
					.last_offset = b->last - b->begin,
					.number = node};
	if (!status)
		status = mix_script_create(&w->scripts[node], code->isa, to->code, to->code_size,
					   to->address);
	return status == -TACT_E_NOMEM ? status : 0;
}

static int execute(struct walk *w, uint32_t node, struct tact_diag *diag)
{
	struct tact_trace_event event = {.size = sizeof(event),
					 .kind = TACT_TRACE_EXEC,
					 .thread = 1,
					 .block = &w->blocks[node],
					 .text = ""};
	long n = 0;

	if (!w->blocks[node].code && meet(w, node))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (w->scripts[node])
		n = mix_values_run(w->values, w->scripts[node], &event.accesses);
	if (n < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	event.n_accesses = (size_t)n;
	w->visits[node]++;
	w->instructions += w->blocks[node].n_insns;
	return tact_cycles_event(w->cycles, &event, diag);
}

/* ---- the way ---- */

static void call(struct walk *w, uint32_t back)
{
	if (w->n_calls == DEEPEST) { /* the oldest half is forgotten */
		w->n_calls /= 2;
		memmove(w->calls, w->calls + DEEPEST - w->n_calls, w->n_calls * sizeof(*w->calls));
	}
	w->calls[w->n_calls++] = (struct call){back, mix_values_stack(w->values)};
}

/* Returns the node after one that was executed. */
static uint32_t next_of(struct walk *w, uint32_t node)
{
	const struct mix_node *from = &w->flow->nodes[node];
	uint32_t next = MIX_NONE;

	if (from->flow == TACT_FLOW_RETURN) {
		if (w->n_calls) {
			const struct call *c = &w->calls[--w->n_calls];

			next = c->back;
			mix_values_set_stack(w->values, c->stack);
		}
		if (next == MIX_NONE)
			next = mix_flow_back(w->flow, node, &w->random);
	} else {
		next = mix_flow_after(w->flow, node, &w->random);
		if (from->flow == TACT_FLOW_CALL && next != MIX_NONE)
			call(w, from->back);
		else if (next == MIX_NONE) /* into code that is not known: over it */
			next = from->back;
	}
	return next != MIX_NONE ? next : mix_flow_at(w->flow, random_unit(&w->random));
}

/* Walks in pieces that begin where executions are: phases of a program hardly lead to each other.
 * Multiples of the golden ratio spread the beginnings evenly.
 */
static int walk_all(struct walk *w, struct tact_diag *diag)
{
	uint32_t node = MIX_NONE;
	const uint64_t piece = w->length / PIECES < PIECE ? PIECE : w->length / PIECES;
	double place = 0;
	int status = 0;

	for (uint64_t end = 0; w->flow->n && w->instructions < w->length && status >= 0;) {
		if (w->instructions >= end) {
			end = w->instructions + piece;
			place += 0.6180339887498949;
			place -= place >= 1;
			node = mix_flow_at(w->flow, place);
			w->n_calls = 0;
		}
		status = execute(w, node, diag);
		if (status >= 0)
			node = next_of(w, node);
	}
	return status;
}

/* ---- visits ---- */

/* Executes a block in its surroundings. */
static int visit(struct walk *w, uint32_t node, struct tact_diag *diag)
{
	uint32_t way[AROUND + 1], n = 0;
	int status = 0;

	way[n++] = node;
	while (n <= AROUND) {
		uint32_t before = mix_flow_before(w->flow, way[n - 1], &w->random);

		if (before == MIX_NONE)
			break;
		way[n++] = before;
	}
	w->n_calls = 0;
	while (n-- && status >= 0)
		status = execute(w, way[n], diag);
	for (unsigned i = 0; i < AROUND && status >= 0; i++) {
		node = next_of(w, node);
		if (node == MIX_NONE)
			break;
		status = execute(w, node, diag);
	}
	return status;
}

/* A node with the instructions that it executes. */
struct work {
	double instructions;
	uint32_t node;
};

static int compare_work(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	return ORDER(x->node, y->node);
}

/* Visits blocks that were hardly met, those with the most instructions first. */
static int visit_rest(struct walk *w, struct tact_diag *diag)
{
	struct work *works = malloc((w->flow->n + 1) * sizeof(*works));
	double all = 0, sum = 0;
	int status = 0;

	if (!works)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < w->flow->n; i++) {
		const struct code_block *b;

		code_of(w, i, &b);
		works[i] = (struct work){w->flow->nodes[i].executions * b->n_insns, i};
		all += works[i].instructions;
	}
	qsort(works, w->flow->n, sizeof(*works), compare_work);
	for (uint32_t i = 0; i < w->flow->n && sum < WORTH * all && status >= 0; i++) {
		sum += works[i].instructions;
		while (w->visits[works[i].node] < FEW && w->instructions < 2 * w->length &&
		       status >= 0)
			status = visit(w, works[i].node, diag);
	}
	free(works);
	return status;
}

/* ---- results ---- */

static void fill_one(const struct walk *w, uint32_t node, double each, struct mix_walked *to)
{
	const struct code_block *block;
	struct tact_cycles_block b;

	code_of(w, node, &block);
	if (!w->visits[node] || !engine_fill_block(w->cycles, &w->cycles->codes[node], &b)) {
		*to = (struct mix_walked){.cycles = each * block->n_insns, .is_guess = true};
		return;
	}
	to->cycles = b.cycles / (double)b.executions;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		to->stalls[s] = b.stalls[s] / (double)b.executions;
	to->unknown = (double)b.unknown / block->n_insns;
}

static int fill(struct walk *w, struct mix_walked **out, struct tact_diag *diag)
{
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;
	double each;

	*out = calloc(w->mix->n_profiles + 1, sizeof(**out));
	if (!*out)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	tact_cycles_get_totals(w->cycles, &totals);
	each = totals.instructions ? totals.cycles / (double)totals.instructions : 0;
	for (uint32_t i = 0; i < w->flow->n; i++)
		fill_one(w, i, each, &(*out)[w->flow->nodes[i].profile]);
	return 0;
}

static void fini(struct walk *w)
{
	for (uint32_t i = 0; w->scripts && i < w->flow->n; i++)
		mix_script_destroy(w->scripts[i]);
	mix_values_destroy(w->values);
	tact_cycles_destroy(w->cycles);
	mix_flow_destroy(w->flow);
	FREE_ALL(w->blocks, w->scripts, w->visits);
}

/* A walk need not be longer than the program. */
static uint64_t length_of(const struct walk *w)
{
	double all = 0;

	for (uint32_t i = 0; i < w->flow->n; i++) {
		const struct code_block *b;

		code_of(w, i, &b);
		all += w->flow->nodes[i].executions * b->n_insns;
	}
	return all < SHORTEST ? SHORTEST : all < LENGTH ? (uint64_t)all : LENGTH;
}

static int init(struct walk *w, const struct tact_arch *arch, const char *model,
		struct tact_diag *diag)
{
	const struct tact_cycles_options options = {
		.size = sizeof(options), .exact = true, .model = model};
	size_t n;

	if (mix_flow_create(&w->flow, w->mix))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n = (size_t)w->flow->n + 1;
	w->blocks = calloc(n, sizeof(*w->blocks));
	w->scripts = calloc(n, sizeof(*w->scripts));
	w->visits = calloc(n, sizeof(*w->visits));
	if (!w->blocks || !w->scripts || !w->visits)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	w->length = length_of(w);
	return tact_cycles_create(&w->cycles, arch, &options, diag);
}

int mix_walk(struct mix_walked **out, const struct tact_mix *mix, const struct tact_arch *arch,
	     const char *model, struct tact_diag *diag)
{
	struct walk w = {.mix = mix, .random = 1};
	int status = init(&w, arch, model, diag);

	*out = NULL;
	if (status >= 0)
		status = walk_all(&w, diag);
	if (status >= 0)
		status = visit_rest(&w, diag);
	if (status >= 0)
		status = tact_cycles_finish(w.cycles, diag);
	if (status >= 0)
		status = fill(&w, out, diag);
	fini(&w);
	return status;
}
