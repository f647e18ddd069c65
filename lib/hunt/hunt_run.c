/* SPDX-License-Identifier: MIT
 *
 * The hunt itself.  In each step, new blocks and what all active findings need next are one batch,
 * so that measurements have many blocks at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "hunt/hunt.h"

int hunt_ask(struct tact_hunt *h, struct hunt_batch *batch, struct tact_diag *diag)
{
	struct tact_hunt_block *blocks = malloc((batch->n + 1) * sizeof(*blocks));
	struct tact_hunt_value *values = calloc(batch->n + 1, sizeof(*values));
	size_t *index = malloc((batch->n + 1) * sizeof(*index)), n = 0;
	int status = blocks && values && index ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	for (size_t i = 0; i < batch->n && !status; i++)
		blocks[i] = (struct tact_hunt_block){batch->request[i].code->code,
						     batch->request[i].code->size,
						     batch->request[i].alignment};
	if (!status)
		status = h->opt.model.ask(h->opt.model.context, blocks, batch->n, values, diag);
	/* Only what the model has a number for is worth a measurement. */
	for (size_t i = 0; i < batch->n && status >= 0; i++) {
		batch->request[i].model = values[i];
		if (values[i].answer != TACT_HUNT_NUMBER)
			continue;
		index[n] = i;
		blocks[n++] = blocks[i];
	}
	if (status >= 0 && n) {
		memset(values, 0, n * sizeof(*values));
		status = h->opt.judge.ask(h->opt.judge.context, blocks, n, values, diag);
	}
	for (size_t k = 0; k < n && status >= 0; k++)
		batch->request[index[k]].judge = values[k];
	FREE_ALL(blocks, values, index);
	return status < 0 ? status : 0;
}

/* ---- new blocks ---- */

static bool is_seen(struct tact_hunt *h, const struct hunt_code *code)
{
	const uint64_t hash = hash_bytes(code->code, code->size);
	size_t at = 0;

	/* Two blocks of one hash are rare, and losing one does no harm. */
	if (hash_next(&h->seen, hash, &at) != HASH_NONE)
		return true;
	return hash_add(&h->seen, hash, 0) < 0;
}

/* A row, heavy ones more often. */
static const struct hunt_row *random_row(struct tact_hunt *h)
{
	const double wanted = random_unit(&h->maker.random) * h->cumulated[h->n_rows - 1];
	size_t low = 0, high = h->n_rows - 1;

	if (random_below(&h->maker.random, 2))
		return &h->row[random_below(&h->maker.random, h->n_rows)];
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (h->cumulated[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return &h->row[low];
}

/* One instruction of each form, those of the data set first: alone and as a chain. */
static bool make_sweep(struct tact_hunt *h, struct hunt_code *code)
{
	const size_t i = h->next_sweep++;

	return hunt_make_one(&h->maker, &h->pool.part[h->sweep[i / 2]], i % 2, code);
}

static bool make_new(struct tact_hunt *h, struct hunt_code *code)
{
	const struct hunt_row *r;
	struct hunt_code base;

	if (h->next_sweep < 2 * h->n_sweep && !random_below(&h->maker.random, 3))
		return make_sweep(h, code);
	if (!h->n_rows || !random_below(&h->maker.random, 3))
		return hunt_make(&h->maker, NULL, code);
	r = random_row(h);
	return hunt_decode(&base, r->code, r->code_size, &h->names) >= 0 &&
	       hunt_make(&h->maker, &base, code);
}

static int add_new(struct tact_hunt *h, struct hunt_batch *batch, size_t n)
{
	for (size_t tries = 0, added = 0; added < n && tries < 20 * n; tries++) {
		struct hunt_code code;

		if (!make_new(h, &code) || is_seen(h, &code))
			continue;
		if (hunt_batch_add(batch, &code, 0, HASH_NONE, 0) < 0)
			return -TACT_E_NOMEM;
		added++;
		h->n_made++;
	}
	return 0;
}

/* Whether a class that was found has it; now and then such a block is looked at all the same. */
static bool is_explained(struct tact_hunt *h, const struct hunt_code *code, int sign, size_t number)
{
	for (size_t i = 0; i < h->n_results; i++) {
		struct hunt_result *r = h->result[i];

		if ((r->view.predicted > r->view.judged) == (sign > 0) &&
		    hunt_class_is_in(&r->class, code)) {
			r->view.n_found++;
			return number % 4;
		}
	}
	return false;
}

static int begin_prey(struct tact_hunt *h, const struct hunt_request *r, int sign)
{
	struct hunt_prey *prey;

	if (h->n_prey >= h->opt.active ||
	    is_explained(h, r->code, sign, h->counts.n_off + h->n_prey))
		return 0;
	prey = calloc(1, sizeof(*prey));
	if (!prey || tact_grow(&h->prey, &h->prey_capacity, h->n_prey + 1, sizeof(*h->prey)) < 0) {
		free(prey);
		return -TACT_E_NOMEM;
	}
	prey->block = *r->code;
	prey->alignment = r->alignment;
	prey->judged = r->judge.cycles;
	prey->predicted = r->model.cycles;
	prey->sign = sign;
	prey->chunk = (prey->block.n + 1) / 2;
	prey->seed = h->opt.seed ^ hash_bytes(r->code->code, r->code->size);
	h->prey[h->n_prey++] = prey;
	return 0;
}

static int take_new(struct tact_hunt *h, const struct hunt_batch *batch)
{
	int status = 0;

	for (size_t i = 0; i < batch->n && !status; i++) {
		const struct hunt_request *r = &batch->request[i];
		int sign;

		if (r->judge.answer == TACT_HUNT_LATER) {
			h->counts.n_later++;
			h->is_waiting |= r->prey == HASH_NONE;
			continue;
		}
		if (r->model.answer != TACT_HUNT_NUMBER || r->judge.answer != TACT_HUNT_NUMBER) {
			h->counts.n_without++;
			continue;
		}
		if (r->prey != HASH_NONE) {
			h->counts.n_tried++;
			continue;
		}
		h->counts.n_blocks++;
		sign = hunt_disagree(h, r->judge.cycles, r->model.cycles);
		h->counts.n_off += sign != 0;
		if (sign)
			status = begin_prey(h, r, sign);
	}
	return status;
}

/* ---- steps ---- */

static void drop_done(struct tact_hunt *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_prey; i++) {
		if (h->prey[i]->stage == HUNT_DONE)
			free(h->prey[i]);
		else
			h->prey[n++] = h->prey[i];
	}
	h->n_prey = n;
}

/* Whether nothing new is to be begun. */
static bool is_closing(const struct tact_hunt *h)
{
	const struct tact_hunt_counts *c = &h->counts;

	return h->is_waiting || (h->opt.is_closing && h->opt.is_closing(h->opt.context)) ||
	       (h->opt.most_blocks &&
		c->n_blocks + c->n_tried + c->n_without >= h->opt.most_blocks);
}

static bool is_progressing(const struct tact_hunt *h)
{
	for (size_t i = 0; i < h->n_prey; i++)
		if (!h->prey[i]->is_stuck)
			return true;
	return false;
}

static int step(struct tact_hunt *h, struct hunt_batch *batch, struct tact_diag *diag)
{
	const size_t n_before = h->n_prey;
	int status = 0;

	for (size_t i = 0; i < h->n_prey && !status; i++)
		if (!h->prey[i]->is_stuck)
			status = hunt_prey_request(h, i, batch);
	if (!status && !is_closing(h) && h->n_prey < h->opt.active)
		status =
			add_new(h, batch,
				batch->n + h->opt.batch / 4 < h->opt.batch ? h->opt.batch - batch->n
									   : h->opt.batch / 4);
	if (!status)
		status = hunt_ask(h, batch, diag);
	for (size_t i = 0; i < n_before && !status; i++)
		if (!h->prey[i]->is_stuck)
			status = hunt_prey_take(h, i, batch);
	if (!status)
		status = take_new(h, batch);
	drop_done(h);
	h->counts.n_ticks++;
	return status;
}

static int prepare_sweep(struct tact_hunt *h)
{
	struct hash forms = {0};
	int status = 0;

	free(h->sweep);
	h->n_sweep = h->next_sweep = 0;
	h->sweep = malloc((h->pool.n + 1) * sizeof(*h->sweep));
	if (!h->sweep)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < h->pool.n; i++) {
		const uint32_t *value = h->pool.part[i].insn.value;
		const uint64_t key = hash_number(value[HUNT_FORM] * 4u + value[HUNT_ADDRESS]);
		size_t at = 0;

		if (hash_next(&forms, key, &at) != HASH_NONE)
			continue;
		if (hash_add(&forms, key, 0) < 0) {
			status = -TACT_E_NOMEM;
			break;
		}
		h->sweep[h->n_sweep++] = (uint32_t)i;
	}
	hash_free(&forms);
	return status;
}

static int prepare(struct tact_hunt *h, struct tact_diag *diag)
{
	double sum = 0;

	if (!h->opt.judge.ask)
		return tact_fail(diag, TACT_E_INVAL, "no judge");
	if (h->opt.is_forms && hunt_pool_add_forms(&h->pool, &h->names) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (!h->pool.n)
		return tact_fail(diag, TACT_E_NO_DATA, "there is nothing to make blocks of");
	if (prepare_sweep(h) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	free(h->cumulated);
	h->cumulated = malloc((h->n_rows + 1) * sizeof(*h->cumulated));
	if (!h->cumulated)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < h->n_rows; i++)
		h->cumulated[i] = sum += h->row[i].weight;
	h->maker = (struct hunt_maker){.names = &h->names,
				       .pool = &h->pool,
				       .isa = tact_arch_isa(h->opt.arch),
				       .mode = h->opt.mode,
				       .random = h->opt.seed,
				       .most_insns = h->opt.most_insns};
	if (!h->maker.isa->rewriter)
		return tact_fail(diag, TACT_E_NO_DATA,
				 "hunt makes blocks by changing code, which tact cannot do for %s: "
				 "'tact evaluate' compares models on given blocks, and hunt "
				 "--truth finds classes among measured ones",
				 h->maker.isa->title);
	return 0;
}

static bool has_ended(struct tact_hunt *h)
{
	return (h->opt.is_over && h->opt.is_over(h->opt.context)) ||
	       (h->opt.most_classes && h->n_results >= h->opt.most_classes) ||
	       (is_closing(h) && !is_progressing(h));
}

int tact_hunt_run(struct tact_hunt *h, struct tact_diag *diag)
{
	struct hunt_batch batch = {0};
	int status;

	if (!h)
		return tact_fail(diag, TACT_E_INVAL, "no hunt");
	status = prepare(h, diag);
	while (!status && !has_ended(h)) {
		status = step(h, &batch, diag);
		/* Every block was made before: the data set and the pool are small. */
		if (!batch.n && !is_progressing(h))
			break;
		hunt_batch_clear(&batch);
		if (h->opt.progress)
			h->opt.progress(h->opt.context, &h->counts);
	}
	hunt_batch_clear(&batch);
	free(batch.request);
	hunt_sort(h);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}
