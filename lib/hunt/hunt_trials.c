/* SPDX-License-Identifier: MIT
 *
 * From a block to its class: what of the block does not matter.
 *
 * Every feature of every instruction, and every relation between them, is freed alone: if enough
 * members of the class that this gives still disagree, it does not matter.  All that does not matter
 * is then freed together; if the members of that class disagree less often, the boldest steps are
 * taken back, one after the other.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "hunt/hunt.h"

#define BIT(f) (1u << HUNT_##f)

/* Bold ones first: that is the order in which they are taken back. */
static const unsigned steps[] = {
	BIT(FORM) | BIT(MNEMONIC) | BIT(PORTS) | BIT(GROUP),
	BIT(FORM) | BIT(MNEMONIC) | BIT(GROUP), /* others on the same ports */
	BIT(FORM) | BIT(MNEMONIC) | BIT(PORTS), /* others of the same kind */
	BIT(FORM) | BIT(MEMORY) | BIT(ADDRESS),
	BIT(FORM) | BIT(WIDTH),
	BIT(FORM) | BIT(MASK),
	BIT(FORM) | BIT(ADDRESS),
	BIT(FORM) | BIT(IMMEDIATE),
	BIT(FORM) | BIT(SAME),
	BIT(FORM) | BIT(HIGH),
	BIT(FORM),
};
static const unsigned relations[] = {HUNT_DEPENDENCES, HUNT_ORDER, HUNT_COPIES, HUNT_ALIGNMENT};

/* ---- classes ---- */

/* Frees what a trial frees.  Where the name is fixed, ports and group are, too: they need not be. */
static void free_features(struct hunt_pattern *p, unsigned features)
{
	p->fixed &= (uint16_t)~features;
	if (p->fixed & BIT(MNEMONIC))
		p->fixed &= (uint16_t) ~(BIT(PORTS) | BIT(GROUP));
}

static void class_of_trial(const struct hunt_prey *prey, const struct hunt_trial *t,
			   struct hunt_class *class)
{
	hunt_class_of(class, &prey->block);
	if (t->features)
		free_features(&class->pattern[t->insn], t->features);
	else
		class->relations &= ~t->relation;
	if (t->relation == HUNT_ORDER && class->n > 1)
		class->relations &= ~(unsigned)HUNT_DEPENDENCES;
}

static bool is_accepted(const struct tact_hunt *h, const struct hunt_trial *t)
{
	return t->is_vacuous || (t->n >= 2 && (double)t->n_off >= h->opt.share * (double)t->n);
}

static bool renames(unsigned features)
{
	return features & BIT(MNEMONIC);
}

/* The class that all accepted trials give together, but for the first ones that are taken back. */
static void join(const struct tact_hunt *h, struct hunt_prey *prey)
{
	struct hunt_class *class = &prey->class;
	uint64_t named = 0;
	size_t dropped = 0;

	hunt_class_of(class, &prey->block);
	for (size_t i = 0; i < prey->n_trials; i++) {
		const struct hunt_trial *t = &prey->trial[i];
		struct hunt_pattern *p = &class->pattern[t->insn];

		if (!is_accepted(h, t))
			continue;
		if (renames(t->features) && named >> t->insn & 1)
			continue; /* a bolder one was taken */
		if (!t->is_vacuous && dropped < prey->n_dropped) {
			dropped++;
			continue;
		}
		if (t->features)
			p->fixed &= (uint16_t)~t->features;
		else
			class->relations &= ~t->relation;
		if (renames(t->features) && !t->is_vacuous)
			named |= UINT64_C(1) << t->insn;
	}
	for (size_t i = 0; i < class->n; i++)
		free_features(&class->pattern[i], 0);
	if (!(class->relations & HUNT_ORDER) && class->n > 1)
		class->relations &= ~(unsigned)HUNT_DEPENDENCES;
}

static size_t count_accepted(const struct tact_hunt *h, const struct hunt_prey *prey)
{
	size_t n = 0;

	for (size_t i = 0; i < prey->n_trials; i++)
		n += is_accepted(h, &prey->trial[i]) && !prey->trial[i].is_vacuous;
	return n;
}

/* ---- beginning ---- */

static void add_trial(struct hunt_prey *prey, size_t insn, unsigned features, unsigned relation)
{
	if (prey->n_trials < HUNT_MAX_TRIALS)
		prey->trial[prey->n_trials++] = (struct hunt_trial){
			.insn = insn, .features = features, .relation = relation};
}

/* Whether any instruction of the pool would be new. */
static bool is_vacuous(const struct tact_hunt *h, const struct hunt_class *exact, size_t i,
		       unsigned features)
{
	struct hunt_pattern p = exact->pattern[i];

	free_features(&p, features & ~BIT(FORM));
	p.fixed &= (uint16_t)~BIT(FORM);
	/* Different registers are the rule: no class says so. */
	if (features == (BIT(FORM) | BIT(SAME)) && !p.value[HUNT_SAME])
		return true;
	if (features == BIT(FORM))
		return true; /* other forms with the same features are the same for a class */
	return !hunt_pool_varies(&h->pool, &exact->pattern[i],
				 features | BIT(PORTS) | BIT(GROUP)) ||
	       !p.fixed;
}

void hunt_trials_begin(struct tact_hunt *h, struct hunt_prey *prey)
{
	struct hunt_class exact;

	hunt_class_of(&exact, &prey->block);
	prey->stage = HUNT_TRYING;
	prey->n_trials = 0;
	for (size_t s = 0; s < ARRAY_SIZE(steps); s++)
		for (size_t i = 0; i < exact.n; i++) {
			struct hunt_trial *t = &prey->trial[prey->n_trials];

			add_trial(prey, i, steps[s], 0);
			t->is_vacuous = !renames(steps[s]) && is_vacuous(h, &exact, i, steps[s]);
		}
	for (size_t r = 0; r < ARRAY_SIZE(relations); r++) {
		const bool is_one = relations[r] == HUNT_ORDER && exact.n == 1;
		const bool is_fixed = relations[r] == HUNT_ALIGNMENT &&
				      (h->opt.mode != TACT_MODE_LOOP || !h->opt.is_aligned);

		add_trial(prey, 0, 0, relations[r]);
		prey->trial[prey->n_trials - 1].is_vacuous = is_one || is_fixed;
	}
}

/* ---- asking ---- */

static int ask_members(struct tact_hunt *h, size_t i, const struct hunt_class *class,
		       const struct hunt_trial *t, uint32_t number, unsigned n,
		       struct hunt_batch *batch)
{
	const struct hunt_prey *prey = h->prey[i];
	const size_t first = batch->n;

	for (unsigned k = 0; k < n; k++) {
		struct hunt_code code;
		unsigned alignment = prey->alignment;
		bool is_old = false;

		if (!hunt_make_member(&h->maker, class, &prey->block, t ? t->insn : 0,
				      t ? t->features & ~BIT(FORM) : 0, &code))
			break;
		if (!(class->relations & HUNT_ALIGNMENT) && h->opt.mode == TACT_MODE_LOOP &&
		    h->opt.is_aligned)
			alignment = (unsigned)random_below(&h->maker.random, 64);
		for (size_t r = first; r < batch->n && !is_old; r++)
			is_old = batch->request[r].code->size == code.size &&
				 batch->request[r].alignment == alignment &&
				 !memcmp(batch->request[r].code->code, code.code, code.size);
		if (!is_old && hunt_batch_add(batch, &code, alignment, (uint32_t)i, number) < 0)
			return -TACT_E_NOMEM;
	}
	return 0;
}

/* Real blocks that have the instructions of the class. */
static int ask_real(struct tact_hunt *h, size_t i, struct hunt_batch *batch)
{
	size_t rows[HUNT_MAX_REAL];
	const unsigned most =
		2 * h->opt.samples < HUNT_MAX_REAL ? 2 * h->opt.samples : HUNT_MAX_REAL;
	const size_t n = hunt_sample_rows(h, &h->prey[i]->class, most, &h->maker.random, rows);

	for (size_t k = 0; k < n; k++) {
		const struct hunt_row *r = &h->row[rows[k]];
		struct hunt_code code;

		if (hunt_decode(&code, r->code, r->code_size, &h->names) >= 0 &&
		    hunt_batch_add(batch, &code, r->alignment, (uint32_t)i, 0) < 0)
			return -TACT_E_NOMEM;
	}
	return 0;
}

/* The same members every time, whatever else was made meanwhile. */
static void reset_random(struct tact_hunt *h, const struct hunt_prey *prey)
{
	h->maker.random = prey->seed + (uint64_t)prey->stage * 1000003u + prey->n_dropped * 7919u;
}

int hunt_trials_request(struct tact_hunt *h, size_t i, struct hunt_batch *batch)
{
	struct hunt_prey *prey = h->prey[i];
	const uint64_t random = h->maker.random;
	int status = 0;

	reset_random(h, prey);
	if (prey->stage == HUNT_TRYING) {
		for (size_t k = 0; k < prey->n_trials && !status; k++) {
			struct hunt_class class;

			if (prey->trial[k].is_vacuous)
				continue;
			class_of_trial(prey, &prey->trial[k], &class);
			status = ask_members(h, i, &class, &prey->trial[k], (uint32_t)k,
					     h->opt.samples, batch);
		}
	} else if (prey->stage == HUNT_REAL) {
		status = ask_real(h, i, batch);
	} else {
		join(h, prey);
		status = ask_members(h, i, &prey->class, NULL, 0, 2 * h->opt.samples, batch);
	}
	h->maker.random = random;
	return status;
}

/* ---- answers ---- */

static bool has_numbers(const struct hunt_request *r)
{
	return r->model.answer == TACT_HUNT_NUMBER && r->judge.answer == TACT_HUNT_NUMBER;
}

/* Counts the members that have numbers, and those of them that disagree alike. */
static void count(const struct tact_hunt *h, struct hunt_prey *prey, const struct hunt_request *r)
{
	const bool is_off =
		has_numbers(r) && hunt_disagree(h, r->judge.cycles, r->model.cycles) == prey->sign;

	if (!has_numbers(r))
		return;
	if (prey->stage == HUNT_TRYING) {
		prey->trial[r->trial].n++;
		prey->trial[r->trial].n_off += is_off;
		return;
	}
	if (prey->stage == HUNT_REAL) {
		prey->n_real++;
		prey->n_real_off += is_off;
		return;
	}
	prey->n_tried++;
	prey->n_off += is_off;
	if (is_off)
		prey->error += (r->model.cycles - r->judge.cycles) / r->judge.cycles;
}

void hunt_trials_take(struct tact_hunt *h, size_t i, const struct hunt_batch *batch)
{
	struct hunt_prey *prey = h->prey[i];

	if (prey->stage != HUNT_REAL) {
		prey->n_tried = prey->n_off = 0;
		prey->error = 0;
	}
	for (size_t k = 0; k < batch->n; k++)
		if (batch->request[k].prey == i)
			count(h, prey, &batch->request[k]);
	if (prey->stage == HUNT_TRYING) {
		prey->stage = HUNT_JOINING;
		return;
	}
	if (prey->stage == HUNT_REAL)
		prey->stage = HUNT_DONE;
	else if ((double)prey->n_off >= h->opt.share * (double)prey->n_tried ||
		 prey->n_dropped >= count_accepted(h, prey))
		prey->stage = HUNT_REAL;
	else
		prey->n_dropped++;
}
