/* SPDX-License-Identifier: MIT
 *
 * A hunt: its data set, its findings, and what is asked of the sides.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hunt/hunt.h"

static int check_options(const struct tact_hunt_options *o)
{
	if (!o->arch || !o->model.ask || (o->mode != TACT_MODE_LOOP && o->mode != TACT_MODE_UNROLL))
		return -TACT_E_INVAL;
	if (!(o->relative >= 0) || !(o->absolute >= 0) || !(o->share >= 0) || o->share > 1 ||
	    o->most_insns > HUNT_MAX_PATTERNS)
		return -TACT_E_INVAL;
	return 0;
}

int tact_hunt_create(struct tact_hunt **out, const struct tact_hunt_options *opt,
		     struct tact_diag *diag)
{
	struct tact_hunt *h;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&h, sizeof(*h), out && opt, "an argument is missing", diag);
	if (status < 0)
		return status;
	status = tact_read_options(&h->opt, sizeof(h->opt), opt);
	if (status >= 0)
		status = check_options(&h->opt);
	if (status < 0) {
		free(h);
		return tact_fail(diag, TACT_E_INVAL, "an option is missing or out of range");
	}
	h->opt.relative = h->opt.relative > 0 ? h->opt.relative : 0.1;
	h->opt.absolute = h->opt.absolute > 0 ? h->opt.absolute : 0.1;
	h->opt.share = h->opt.share > 0 ? h->opt.share : 0.75;
	h->opt.samples = h->opt.samples ? h->opt.samples : 10;
	h->opt.most_insns = h->opt.most_insns ? h->opt.most_insns : 8;
	h->opt.active = h->opt.active ? h->opt.active : 16;
	h->opt.batch = h->opt.batch ? h->opt.batch : 256;
	h->names.arch = h->opt.arch;
	*out = h;
	return 0;
}

void tact_hunt_destroy(struct tact_hunt *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n_results; i++)
		FREE_ALL(h->result[i]->words, h->result[i]);
	for (size_t i = 0; i < h->n_prey; i++)
		free(h->prey[i]);
	hunt_pool_free(&h->pool);
	hunt_names_free(&h->names);
	hash_free(&h->seen);
	tact_arena_reset(&h->arena);
	FREE_ALL(h->row, h->piece, h->sweep, h->prey, h->result, h->cumulated, h);
}

int tact_hunt_add(struct tact_hunt *h, const uint8_t *code, size_t size, unsigned alignment,
		  double weight, double judged)
{
	struct hunt_code decoded;
	uint8_t *copy;
	int status;

	if (!h || !code || !size || alignment > 63 || !(weight > 0) || !isfinite(weight) ||
	    !(judged >= 0) || !isfinite(judged))
		return -TACT_E_INVAL;
	status = hunt_decode(&decoded, code, size, &h->names);
	if (status < 0)
		return status == -TACT_E_NOMEM ? status : 0;
	copy = tact_arena_take(&h->arena, size);
	if (!copy || tact_grow(&h->row, &h->row_capacity, h->n_rows + 1, sizeof(*h->row)) < 0 ||
	    tact_grow(&h->piece, &h->piece_capacity, h->n_pieces + decoded.n, sizeof(*h->piece)) <
		    0 ||
	    hunt_pool_add(&h->pool, &decoded, h->piece + h->n_pieces) < 0)
		return -TACT_E_NOMEM;
	memcpy(copy, code, size);
	h->row[h->n_rows++] = (struct hunt_row){.code = copy,
						.code_size = (uint32_t)size,
						.alignment = (uint8_t)alignment,
						.weight = weight,
						.judged = judged,
						.first_piece = h->n_pieces,
						.n_pieces = (uint32_t)decoded.n};
	h->n_pieces += decoded.n;
	h->total_weight += weight;
	return 1;
}

int hunt_disagree(const struct tact_hunt *h, double judged, double predicted)
{
	const double difference = predicted - judged;

	if (fabs(difference) <= h->opt.absolute || fabs(difference) <= h->opt.relative * judged)
		return 0;
	return difference > 0 ? 1 : -1;
}

/* ---- findings ---- */

bool hunt_is_found(struct tact_hunt *h, const struct hunt_code *block, int sign)
{
	for (size_t k = 0; k < h->n_results; k++) {
		struct hunt_result *r = h->result[k];

		if ((r->view.predicted > r->view.judged) == (sign > 0) &&
		    hunt_class_has(&r->class, block)) {
			r->view.n_found++;
			return true;
		}
	}
	return false;
}

/* Drops findings whose example is a member of a new class.  Returns how often they were found. */
static size_t absorb(struct tact_hunt *h, const struct hunt_class *class, bool is_high)
{
	size_t n = 0, n_found = 0;

	for (size_t k = 0; k < h->n_results; k++) {
		struct hunt_result *r = h->result[k];

		if (!r->view.has_mape && (r->view.predicted > r->view.judged) == is_high &&
		    hunt_class_has(class, &r->example)) {
			n_found += r->view.n_found;
			FREE_ALL(r->words, r);
		} else {
			h->result[n++] = r;
		}
	}
	h->n_results = n;
	return n_found;
}

int hunt_add_result(struct tact_hunt *h, const struct hunt_class *class,
		    const struct hunt_code *example, const struct tact_hunt_finding *view)
{
	struct hunt_result *r = calloc(1, sizeof(*r));
	struct text words = {0};

	if (!r ||
	    tact_grow(&h->result, &h->result_capacity, h->n_results + 1, sizeof(*h->result)) < 0) {
		free(r);
		return -TACT_E_NOMEM;
	}
	r->view = *view;
	r->class = *class;
	r->example = *example;
	if (view->is_single)
		text_add(&words, "only like the example: ");
	hunt_class_words(class, &h->names, &words);
	r->words = text_string(&words);
	if (!r->words) {
		text_free(&words);
		free(r);
		return -TACT_E_NOMEM;
	}
	if (!view->has_mape)
		r->view.n_found += absorb(h, class, view->predicted > view->judged);
	r->view.words = r->words;
	r->view.code = r->example.code;
	r->view.code_size = r->example.size;
	hunt_weigh(h, class, &r->view);
	h->result[h->n_results++] = r;
	if (h->opt.found)
		h->opt.found(h->opt.context, &r->view);
	return 0;
}

static int compare_results(const void *a, const void *b)
{
	const struct tact_hunt_finding *x = &(*(struct hunt_result *const *)a)->view;
	const struct tact_hunt_finding *y = &(*(struct hunt_result *const *)b)->view;

	if (x->has_mape && y->has_mape && x->mape != y->mape)
		return ORDER(y->mape, x->mape);
	if (x->weight_off != y->weight_off)
		return ORDER(y->weight_off, x->weight_off);
	if (x->weight != y->weight)
		return ORDER(y->weight, x->weight);
	return 2 * ORDER(fabs(y->error), fabs(x->error)) + ORDER(strcmp(x->words, y->words), 0);
}

void hunt_sort(struct tact_hunt *h)
{
	if (h->n_results)
		qsort(h->result, h->n_results, sizeof(*h->result), compare_results);
}

size_t tact_hunt_count(const struct tact_hunt *h)
{
	return h ? h->n_results : 0;
}

const struct tact_hunt_finding *tact_hunt_get(const struct tact_hunt *h, size_t i)
{
	return h && i < h->n_results ? &h->result[i]->view : NULL;
}

void tact_hunt_get_counts(const struct tact_hunt *h, struct tact_hunt_counts *counts)
{
	if (h && counts)
		*counts = h->counts;
}
