/* SPDX-License-Identifier: MIT
 *
 * Intervals of predictions, and why they are as wide as they are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "block/block.h"
#include "confidence/confidence.h"

#include "confidence.inc" /* confidence_tables, from data/confidence */

static const char *words_of(unsigned kind)
{
	static const char *const words[] = {
#define CLASS(id, name, text) [CONFIDENCE_##id] = text,
#include "confidence/classes.def"
#undef CLASS
	};

	return NAME_OF(words, kind, "");
}

static const struct confidence_table *own_table(const char *arch)
{
	for (size_t i = 0; i < ARRAY_SIZE(confidence_tables); i++)
		if (!strcmp(arch, confidence_tables[i].arch))
			return &confidence_tables[i];
	return NULL;
}

const struct confidence_table *confidence_table_of(const char *arch)
{
	const struct confidence_table *table = own_table(arch);

	return table && table->borrowed ? own_table(table->borrowed) : table;
}

/* ---- words ---- */

/* Per cent between the prediction and an end of the interval; a small one keeps a digit. */
static double percent(double ratio)
{
	double value = 100 * fabs(ratio - 1);

	return value < 1 ? ceil(10 * value - 1e-3) / 10 : round(value);
}

static void add_width(const struct confidence_line *line, char *to, size_t room)
{
	double below = percent(line->low), above = percent(line->high);

	if (below == above)
		snprintf(to, room, "blocks like this are within %g%% nine times in ten", above);
	else if (below > 0 && above > 0)
		snprintf(to, room, "blocks like this take %g%% less to %g%% more nine times in ten",
			 below, above);
	else
		snprintf(to, room, "blocks like this take up to %g%% %s nine times in ten",
			 above > 0 ? above : below, above > 0 ? "more" : "less");
}

static void explain(const struct confidence_line *line, const struct confidence_table *table,
		    unsigned kind, struct tact_confidence *out)
{
	char width[96];

	add_width(line, width, sizeof(width));
	snprintf(out->reason, sizeof(out->reason),
		 "%zu of %zu instruction%s measured for this core; %s; %s%s%s%s%s", out->n_known,
		 out->n_insns, out->n_insns == 1 ? "" : "s", words_of(kind), width,
		 out->is_borrowed ? ", as measured on " : "",
		 out->is_borrowed ? out->learned_on : "", table->note[0] ? "; " : "", table->note);
}

/* Why there is no interval; NULL: nothing is in the way. */
static const char *obstacle(const struct tact_block *block, const char *model,
			    const struct tact_prediction *x)
{
	if (!model)
		return "options change what the model computes";
	if (confidence_model_find(model) < 0)
		return "predictions of this model were never calibrated";
	if (block->opt.memory != TACT_MEMORY_L1 || block->has_memories)
		return "loads that miss the first-level cache were never measured";
	if (block->has_latencies)
		return "latencies that are given were never measured";
	if (block->counts.known < block->n_insns)
		return "instructions without data make the prediction a lower bound";
	if (block->counts.turning)
		return "code that uses a stack of registers was never calibrated";
	if (!(x->cycles_per_iteration > 0) || !isfinite(x->cycles_per_iteration))
		return "there is no number of cycles";
	if (!confidence_table_of(tact_arch_name(block->arch)))
		return "this CPU was never measured";
	return NULL;
}

/* ---- the interval ---- */

static void fill(const struct tact_block *block, const char *model, const struct tact_prediction *x,
		 struct tact_confidence *out)
{
	const struct confidence_table *table;
	const struct confidence_line *line;
	struct confidence_class of;
	enum confidence_model m;
	const char *why = obstacle(block, model, x);

	if (why) {
		snprintf(out->reason, sizeof(out->reason), "%s", why);
		return;
	}
	m = (enum confidence_model)confidence_model_find(model);
	of = confidence_classify(block, m, x, x->cycles_per_iteration);
	table = confidence_table_of(tact_arch_name(block->arch));
	line = confidence_find(table->lines, table->n, block->mode, m, of);
	if (!line) {
		snprintf(out->reason, sizeof(out->reason), "%s were never measured on this CPU",
			 block->mode == TACT_MODE_LOOP ? "loops" : "unrolled blocks");
		return;
	}
	out->has_interval = true;
	out->is_borrowed = strcmp(table->arch, tact_arch_name(block->arch)) != 0;
	/* Outwards to the digits that are printed. */
	out->low = floor(1e4 * x->cycles_per_iteration * line->low) / 1e4;
	out->high = ceil(1e4 * x->cycles_per_iteration * line->high) / 1e4;
	out->kind = confidence_kind_name(of.kind);
	out->learned_on = table->arch;
	out->rows = line->rows;
	explain(line, table, of.kind, out);
}

int tact_confidence_find(const struct tact_block *block, const char *model,
			 const struct tact_prediction *prediction, struct tact_confidence *out)
{
	struct tact_confidence own = {.level = CONFIDENCE_LEVEL, .kind = "", .learned_on = ""};
	struct tact_prediction x;

	if (!block || !block->n_insns || !prediction || !tact_can_fill(out) ||
	    tact_read_options(&x, sizeof(x), prediction) < 0)
		return -TACT_E_INVAL;
	own.n_known = block->counts.known;
	own.n_insns = block->n_insns;
	fill(block, model, &x, &own);
	return tact_fill(out, &own, sizeof(own));
}
