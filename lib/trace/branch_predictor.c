/* SPDX-License-Identifier: MIT
 *
 * A branch predictor of the kind that cores have had for about ten years: TAGE (Seznec and Michaud,
 * "A case for (partially) tagged geometric history length branch prediction", 2006), and its
 * counterpart for targets (ITTAGE; Seznec, "A 64-Kbytes ITTAGE indirect branch predictor", 2011).
 * Each table uses more history than the one before; the table with the longest history that knows
 * the branch decides.  Sizes and lengths are those of the predictors of that time, not of a
 * particular core: those are not published.
 */
#include "trace/branch_predictor.h"

static const unsigned DIRECTION_HISTORY[PREDICTOR_TABLES] = {5, 9, 17, 33, 64, 120, 220};
static const unsigned TARGET_HISTORY[PREDICTOR_TARGETS] = {4, 12, 32, 80};
enum { AGE_AFTER = 1 << 18 /* branches */ };

/* ---- history ---- */

static uint32_t fold_bit(uint32_t fold, unsigned width, unsigned length, unsigned in, unsigned out)
{
	fold = fold << 1 | in;
	fold ^= out << length % width;
	fold ^= fold >> width;
	return fold & ((1u << width) - 1);
}

static void push(struct predictor *p, struct predictor_fold *folds, const unsigned *lengths,
		 unsigned n, unsigned index_bits, unsigned bit)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned old = p->history[(p->newest - lengths[i]) % PREDICTOR_HISTORY];
		struct predictor_fold *f = &folds[i];

		f->index = fold_bit(f->index, index_bits, lengths[i], bit, old);
		f->tag = fold_bit(f->tag, PREDICTOR_TAG_BITS, lengths[i], bit, old);
		f->tag_too = fold_bit(f->tag_too, PREDICTOR_TAG_BITS - 1, lengths[i], bit, old);
	}
}

static void remember_bit(struct predictor *p, unsigned bit)
{
	push(p, p->direction_folds, DIRECTION_HISTORY, PREDICTOR_TABLES, PREDICTOR_TABLE_BITS, bit);
	push(p, p->target_folds, TARGET_HISTORY, PREDICTOR_TARGETS, PREDICTOR_TARGET_BITS, bit);
	p->history[p->newest++ % PREDICTOR_HISTORY] = (uint8_t)bit;
}

static unsigned index_of(const struct predictor_fold *f, uint64_t address, unsigned table,
			 unsigned bits)
{
	return (unsigned)(address ^ address >> bits ^ address >> (bits - table) ^ f->index) &
	       ((1u << bits) - 1);
}

static uint16_t tag_of(const struct predictor_fold *f, uint64_t address)
{
	return (uint16_t)((address ^ f->tag ^ f->tag_too << 1) & ((1u << PREDICTOR_TAG_BITS) - 1));
}

static unsigned draw(struct predictor *p)
{
	p->random = p->random * 1664525 + 1013904223; /* Numerical Recipes */
	return p->random >> 16;
}

/* ---- directions ---- */

static void train(int8_t *counter, bool up, int low, int high)
{
	if (up)
		*counter = (int8_t)(*counter + (*counter < high));
	else
		*counter = (int8_t)(*counter - (*counter > low));
}

/* Finds the tables that know a branch, longest history first; the others follow. */
struct lookup {
	unsigned index[PREDICTOR_TABLES];
	uint16_t tag[PREDICTOR_TABLES];
	int provider, other; /* -1: the base table */
};

static bool says(const struct predictor *p, const struct lookup *l, int table, unsigned base)
{
	return table < 0 ? p->base[base] >= 0 : p->directions[table][l->index[table]].counter >= 0;
}

static void look_up(const struct predictor *p, uint64_t address, struct lookup *l)
{
	l->provider = l->other = -1;
	for (int i = PREDICTOR_TABLES - 1; i >= 0; i--) {
		const struct predictor_fold *f = &p->direction_folds[i];

		l->index[i] = index_of(f, address, (unsigned)i, PREDICTOR_TABLE_BITS);
		l->tag[i] = tag_of(f, address);
		if (p->directions[i][l->index[i]].tag != l->tag[i])
			continue;
		if (l->provider < 0)
			l->provider = i;
		else if (l->other < 0)
			l->other = i;
	}
}

/* Gives the branch an entry in a table with longer history.  If all places are taken, they become
 * easier to take.
 */
static void allocate(struct predictor *p, const struct lookup *l, bool taken)
{
	unsigned first = (unsigned)(l->provider + 1) + (draw(p) & 1);
	bool found = false;

	for (unsigned i = first; i < PREDICTOR_TABLES && !found; i++) {
		struct predictor_direction *e = &p->directions[i][l->index[i]];

		found = !e->useful;
		if (found)
			*e = (struct predictor_direction){.tag = l->tag[i],
							  .counter = taken ? 0 : -1};
	}
	for (unsigned i = first; i < PREDICTOR_TABLES && !found; i++)
		p->directions[i][l->index[i]].useful--;
}

/* From time to time, useful entries must prove themselves again. */
static void age(struct predictor *p)
{
	if (p->until_aged++ < AGE_AFTER)
		return;
	p->until_aged = 0;
	for (unsigned i = 0; i < PREDICTOR_TABLES; i++)
		for (unsigned k = 0; k < 1u << PREDICTOR_TABLE_BITS; k++)
			p->directions[i][k].useful >>= 1;
}

static bool conditional(struct predictor *p, uint64_t address, bool taken)
{
	unsigned base = (unsigned)(address ^ address >> PREDICTOR_BASE_BITS) &
			((1u << PREDICTOR_BASE_BITS) - 1);
	bool first, second, is_new = false, guess;
	struct lookup l;

	look_up(p, address, &l);
	first = says(p, &l, l.provider, base);
	second = says(p, &l, l.other, base);
	guess = first;
	if (l.provider >= 0) {
		struct predictor_direction *e = &p->directions[l.provider][l.index[l.provider]];

		is_new = !e->useful && (e->counter == 0 || e->counter == -1);
		if (is_new && p->trust_new >= 0)
			guess = second;
		if (is_new && first != second)
			train(&p->trust_new, second == taken, -8, 7);
		if (first != second) {
			if (first == taken)
				e->useful = (uint8_t)(e->useful + (e->useful < 3));
			else
				e->useful = (uint8_t)(e->useful - (e->useful > 0));
		}
		train(&e->counter, taken, -4, 3);
	}
	if (l.provider < 0 || (is_new && l.other < 0))
		train(&p->base[base], taken, -2, 1);
	else if (is_new)
		train(&p->directions[l.other][l.index[l.other]].counter, taken, -4, 3);
	if (first != taken && l.provider < PREDICTOR_TABLES - 1)
		allocate(p, &l, taken);
	age(p);
	remember_bit(p, taken);
	return guess == taken;
}

/* ---- targets ---- */

/* Gives the target an entry in a table with longer history than `below`, or ages the entries there.
 */
static void allocate_target(struct predictor *p, const unsigned *index, const uint16_t *tag,
			    int below, uint64_t target)
{
	for (int i = below + 1; i < PREDICTOR_TARGETS; i++) {
		struct predictor_target *e = &p->targets[i][index[i]];

		if (!e->useful) {
			*e = (struct predictor_target){.target = target, .tag = tag[i]};
			return;
		}
		e->useful--;
	}
}

static bool indirect(struct predictor *p, uint64_t address, uint64_t target)
{
	unsigned index[PREDICTOR_TARGETS];
	uint16_t tag[PREDICTOR_TARGETS];
	uint64_t *last = &p->last_targets[(address ^ address >> PREDICTOR_TARGET_BITS) &
					  ((1u << PREDICTOR_TARGET_BITS) - 1)];
	uint64_t guess = *last;
	int provider = -1;

	for (int i = 0; i < PREDICTOR_TARGETS; i++) {
		const struct predictor_fold *f = &p->target_folds[i];

		index[i] = index_of(f, address, (unsigned)i, PREDICTOR_TARGET_BITS);
		tag[i] = tag_of(f, address);
		if (p->targets[i][index[i]].tag == tag[i] && p->targets[i][index[i]].target)
			provider = i;
	}
	if (provider >= 0) {
		struct predictor_target *e = &p->targets[provider][index[provider]];
		bool right = e->target == target;

		guess = e->target;
		e->useful = (uint8_t)(right && *last != target && e->useful < 3 ? e->useful + 1
										: e->useful);
		if (right)
			e->confidence = (uint8_t)(e->confidence + (e->confidence < 3));
		else if (e->confidence)
			e->confidence--;
		else
			e->target = target;
	}
	if (guess != target)
		allocate_target(p, index, tag, provider, target);
	*last = target;
	for (unsigned i = 0; i < 4; i++) /* of the targets */
		remember_bit(p, (target >> (i + 2) ^ target >> (i + 7)) & 1);
	return guess == target;
}

bool predictor_branch(struct predictor *p, enum tact_flow flow, bool is_direct, uint64_t address,
		      uint64_t next, uint64_t target)
{
	bool known = true;

	switch (flow) {
	case TACT_FLOW_NEXT:
	case TACT_FLOW_STOP:
		return true;
	case TACT_FLOW_BRANCH:
		known = conditional(p, address, target != next);
		break;
	case TACT_FLOW_JUMP:
	case TACT_FLOW_KERNEL:
		known = is_direct || indirect(p, address, target);
		break;
	case TACT_FLOW_CALL:
		known = is_direct || indirect(p, address, target);
		p->returns[p->top++ % PREDICTOR_RETURNS] = next;
		break;
	case TACT_FLOW_RETURN:
		known = p->returns[--p->top % PREDICTOR_RETURNS] == target;
		break;
	}
	p->branches++;
	p->mistakes += !known;
	return known;
}
