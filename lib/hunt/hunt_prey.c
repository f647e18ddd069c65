/* SPDX-License-Identifier: MIT
 *
 * A block on which the sides disagree: made shorter, then handed to the trials.
 */
#include <stdlib.h>
#include <string.h>

#include "hunt/hunt.h"

/* ---- batches ---- */

int hunt_batch_add(struct hunt_batch *batch, const struct hunt_code *code, unsigned alignment,
		   uint32_t prey, uint32_t trial)
{
	struct hunt_request r = {.alignment = alignment, .prey = prey, .trial = trial};

	r.code = malloc(sizeof(*r.code));
	if (!r.code || tact_grow(&batch->request, &batch->capacity, batch->n + 1, sizeof(r)) < 0) {
		free(r.code);
		return -TACT_E_NOMEM;
	}
	*r.code = *code;
	batch->request[batch->n++] = r;
	return 0;
}

void hunt_batch_clear(struct hunt_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++)
		free(batch->request[i].code);
	batch->n = 0;
}

/* ---- shrinking ---- */

/* Asks about the block without each chunk; chunks get smaller when none can go. */
static int request_shorter(struct tact_hunt *h, size_t i, struct hunt_batch *batch)
{
	struct hunt_prey *prey = h->prey[i];
	struct hunt_code code;

	for (size_t first = 0; first < prey->block.n; first += prey->chunk)
		if (hunt_without(&prey->block, first, first + prey->chunk, &h->names, &code) &&
		    hunt_batch_add(batch, &code, prey->alignment, (uint32_t)i, 0) < 0)
			return -TACT_E_NOMEM;
	return 0;
}

static bool is_off(const struct tact_hunt *h, const struct hunt_prey *prey,
		   const struct hunt_request *r)
{
	return r->model.answer == TACT_HUNT_NUMBER && r->judge.answer == TACT_HUNT_NUMBER &&
	       hunt_disagree(h, r->judge.cycles, r->model.cycles) == prey->sign;
}

/* Whether another one, or a class, has this block already. */
static bool is_known(struct tact_hunt *h, size_t i)
{
	const struct hunt_prey *prey = h->prey[i];

	if (hunt_is_found(h, &prey->block, prey->sign))
		return true;
	for (size_t k = 0; k < h->n_prey; k++) {
		struct hunt_class class;

		if (k == i || h->prey[k]->stage == HUNT_SHRINKING || h->prey[k]->sign != prey->sign)
			continue;
		hunt_class_of(&class, &h->prey[k]->block);
		for (size_t p = 0; p < class.n; p++)
			class.pattern[p].fixed &= (uint16_t) ~(1 << HUNT_FORM);
		if (hunt_class_has(&class, &prey->block)) {
			h->prey[k]->n_found++;
			return true;
		}
	}
	return false;
}

static void end_shrinking(struct tact_hunt *h, size_t i)
{
	struct hunt_prey *prey = h->prey[i];

	if (is_known(h, i) || prey->block.n > HUNT_MAX_PATTERNS) {
		prey->stage = HUNT_DONE;
		prey->class.n = 0; /* nothing to report */
		return;
	}
	hunt_trials_begin(h, prey);
}

static void take_shorter(struct tact_hunt *h, size_t i, const struct hunt_batch *batch)
{
	struct hunt_prey *prey = h->prey[i];

	for (size_t k = 0; k < batch->n; k++) {
		const struct hunt_request *r = &batch->request[k];

		if (r->prey != i || !is_off(h, prey, r))
			continue;
		prey->block = *r->code;
		prey->judged = r->judge.cycles;
		prey->predicted = r->model.cycles;
		if (prey->chunk >= prey->block.n)
			prey->chunk = (prey->block.n + 1) / 2;
		if (prey->block.n == 1)
			end_shrinking(h, i);
		return;
	}
	prey->chunk /= 2;
	if (!prey->chunk)
		end_shrinking(h, i);
}

/* ---- both ---- */

int hunt_prey_request(struct tact_hunt *h, size_t i, struct hunt_batch *batch)
{
	struct hunt_prey *prey = h->prey[i];

	if (prey->stage == HUNT_SHRINKING && prey->block.n == 1)
		end_shrinking(h, i);
	if (prey->stage == HUNT_DONE)
		return 0;
	return prey->stage == HUNT_SHRINKING ? request_shorter(h, i, batch)
					     : hunt_trials_request(h, i, batch);
}

static int report(struct tact_hunt *h, const struct hunt_prey *prey)
{
	struct tact_hunt_finding view = {
		.alignment = prey->alignment,
		.judged = prey->judged,
		.predicted = prey->predicted,
		.n_tried = prey->n_tried,
		.n_off = prey->n_off,
		.error = prey->n_off ? prey->error / prey->n_off
				     : (prey->predicted - prey->judged) / prey->judged,
		.n_found = 1 + prey->n_found,
		.n_real = prey->n_real,
		.n_real_off = prey->n_real_off,
		.is_single = (double)prey->n_off < h->opt.share * (double)prey->n_tried ||
			     !prey->n_tried,
	};

	/* Another one may have come to the same class meanwhile. */
	if (hunt_is_found(h, &prey->block, prey->sign))
		return 0;
	return hunt_add_result(h, &prey->class, &prey->block, &view);
}

int hunt_prey_take(struct tact_hunt *h, size_t i, const struct hunt_batch *batch)
{
	struct hunt_prey *prey = h->prey[i];

	prey->is_stuck = false;
	for (size_t k = 0; k < batch->n; k++)
		prey->is_stuck |= batch->request[k].prey == i &&
				  (batch->request[k].judge.answer == TACT_HUNT_LATER ||
				   batch->request[k].model.answer == TACT_HUNT_LATER);
	if (prey->is_stuck)
		return 0;
	if (prey->stage == HUNT_SHRINKING)
		take_shorter(h, i, batch);
	else if (prey->stage != HUNT_DONE)
		hunt_trials_take(h, i, batch);
	if (prey->stage != HUNT_DONE || !prey->class.n)
		return 0;
	return report(h, prey);
}
