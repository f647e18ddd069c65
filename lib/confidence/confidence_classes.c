/* SPDX-License-Identifier: MIT
 *
 * Which class a block belongs to: what is known without measuring it and tells sure predictions
 * from unsure ones.
 */
#include <string.h>

#include "block/block.h"
#include "confidence/confidence.h"

/* Limits within this share of the largest one may add up: a schedule that obeys both is rarely as
 * good as either.  Tried on the measured rows: 0.8 gives narrower intervals than 0.7 or 0.9.
 */
static const double near_share = 0.8;

/* The pipeline's figure beyond FACILE's: what is noise, and what is much. */
static const double small_loss = 0.02, large_loss = 0.10;

const char *confidence_kind_name(unsigned kind)
{
	static const char *const names[] = {
#define CLASS(id, name, words) [CONFIDENCE_##id] = name,
#include "confidence/classes.def"
#undef CLASS
		[CONFIDENCE_ANY_KIND] = "any"};

	return NAME_OF(names, kind, "unknown");
}

const char *confidence_length_name(unsigned length)
{
	static const char *const names[] = {[CONFIDENCE_ANY_LENGTH] = "any",
					    [CONFIDENCE_SHORT] = "1-4",
					    [CONFIDENCE_MEDIUM] = "5-8",
					    [CONFIDENCE_LONG] = "9-16",
					    [CONFIDENCE_VERY_LONG] = "17-"};

	return NAME_OF(names, length, "unknown");
}

int confidence_model_find(const char *name)
{
	static const char *const names[] = {
		[CONFIDENCE_FACILE] = "facile", [CONFIDENCE_SIM] = "sim"};

	for (int i = 0; i < CONFIDENCE_N_MODELS && name; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

/* ---- classes ---- */

static double bound_of(const struct tact_prediction *x, enum tact_bound b)
{
	return x->applies >> b & 1 ? x->bound[b] : 0;
}

static double most_of(const struct tact_prediction *x, uint32_t mask)
{
	double most = 0;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (mask >> b & 1 && bound_of(x, (enum tact_bound)b) > most)
			most = bound_of(x, (enum tact_bound)b);
	return most;
}

/* Limits that work side by side; within a group they are alternatives or stages of one queue. */
#define BIT(b) (1u << TACT_BOUND_##b)
enum limit { LIMIT_FRONT_END, LIMIT_PORTS, LIMIT_CHAIN, LIMIT_STORES, N_LIMITS };
static const uint32_t limit_bounds[N_LIMITS] = {
	[LIMIT_FRONT_END] = BIT(PREDECODE) | BIT(DECODE) | BIT(DSB) | BIT(LSD) | BIT(ISSUE),
	[LIMIT_PORTS] = BIT(PORTS) | BIT(LOADS),
	[LIMIT_CHAIN] = BIT(PRECEDENCE),
	[LIMIT_STORES] = BIT(STORES) | BIT(STACK_SYNC),
};

static enum confidence_kind kind_of_limits(const struct tact_prediction *x, double facile)
{
	static const enum confidence_kind alone[N_LIMITS] = {CONFIDENCE_FRONT_END, CONFIDENCE_PORTS,
							     CONFIDENCE_CHAIN, CONFIDENCE_STORES};
	unsigned n_near = 0, top = 0;
	double most = 0;

	for (unsigned i = 0; i < N_LIMITS; i++) {
		double cycles = most_of(x, limit_bounds[i]);

		n_near += cycles >= near_share * facile;
		if (cycles > most) {
			most = cycles;
			top = i;
		}
	}
	if (n_near < 2)
		return alone[top];
	return bound_of(x, TACT_BOUND_PRECEDENCE) >= near_share * facile ? CONFIDENCE_NEAR_CHAIN
									 : CONFIDENCE_NEAR;
}

static enum confidence_kind kind_of(const struct tact_block *block, enum confidence_model model,
				    const struct tact_prediction *x, double cycles)
{
	const double facile = most_of(x, ~BIT(BINDING));
	/* What the binding of uops to ports costs is a loss in both models. */
	const bool can_lose = model == CONFIDENCE_SIM || bound_of(x, TACT_BOUND_BINDING) > 0;
	bool has_microcode = false;

	for (size_t i = 0; i < block->n_insns; i++) {
		if (block->insns[i].lowered->divider)
			return CONFIDENCE_DIVISION;
		has_microcode |= block->insns[i].lowered->ms;
	}
	if (has_microcode)
		return CONFIDENCE_MICROCODE;
	if (bound_of(x, TACT_BOUND_BLOCKED) > 0)
		return CONFIDENCE_BLOCKED;
	if (bound_of(x, TACT_BOUND_FORWARDING) > 0)
		return CONFIDENCE_FORWARDING;
	if (can_lose && cycles > (1 + large_loss) * facile)
		return CONFIDENCE_LOSSES;
	if (can_lose && (cycles > (1 + small_loss) * facile || cycles < (1 - small_loss) * facile))
		return CONFIDENCE_SMALL_LOSSES;
	return kind_of_limits(x, facile);
}

struct confidence_class confidence_classify(const struct tact_block *block,
					    enum confidence_model model,
					    const struct tact_prediction *bounds, double cycles)
{
	const size_t n = block->n_insns;

	return (struct confidence_class){
		.kind = (uint8_t)kind_of(block, model, bounds, cycles),
		.length = n <= 4    ? CONFIDENCE_SHORT
			  : n <= 8  ? CONFIDENCE_MEDIUM
			  : n <= 16 ? CONFIDENCE_LONG
				    : CONFIDENCE_VERY_LONG,
	};
}

/* ---- lines ---- */

const struct confidence_line *confidence_find(const struct confidence_line *lines, size_t n,
					      enum tact_mode mode, enum confidence_model model,
					      struct confidence_class of)
{
	const struct confidence_line *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct confidence_line *l = &lines[i];

		if (l->mode != mode || l->model != model)
			continue;
		if (l->of.kind == of.kind && l->of.length == of.length)
			return l;
		if (l->of.length != CONFIDENCE_ANY_LENGTH)
			continue;
		if (l->of.kind == of.kind || (l->of.kind == CONFIDENCE_ANY_KIND && !found))
			found = l;
	}
	return found;
}
