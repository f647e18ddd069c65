/* SPDX-License-Identifier: MIT
 *
 * Classes of measured rows, where no new block can be judged.
 *
 * Each row has terms: an instruction of some kind, some copies of it, one that waits for another.  A
 * class is a term, or two of them in one block.  The class that explains most of the error is taken
 * first; the rows that it explains no longer count for the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "hunt/hunt_rows.h"

enum { DEFAULT_CLASSES = 30 };

/* Sums of all terms, and the rows that have each of them. */
static int count_all(struct hunt_sorting *s)
{
	s->rows_of = malloc((s->n_list + 1) * sizeof(*s->rows_of));
	s->first_row = calloc(s->n_terms + 2, sizeof(*s->first_row));
	if (!s->rows_of || !s->first_row)
		return -TACT_E_NOMEM;
	for (size_t k = 0; k < s->n_list; k++)
		s->first_row[s->list[k] + 2]++;
	for (size_t t = 2; t < s->n_terms + 2; t++)
		s->first_row[t] += s->first_row[t - 1];
	for (size_t row = 0; row < s->h->n_rows; row++)
		for (size_t k = s->first[row]; k < s->first[row + 1]; k++) {
			hunt_sums_count(s, &s->sums[s->list[k]], row);
			s->rows_of[s->first_row[s->list[k] + 1]++] = (uint32_t)row;
		}
	return 0;
}

/* The error of a row is explained: no other class gets it. */
static void explain_row(struct hunt_sorting *s, size_t row)
{
	const double mass = s->h->row[row].weight * fabs(hunt_error_of(&s->h->row[row]));

	if (s->is_explained[row])
		return;
	s->is_explained[row] = true;
	for (size_t k = s->first[row]; k < s->first[row + 1]; k++)
		s->sums[s->list[k]].left[s->sign[row] - 1] -= mass;
}

/* ---- results ---- */

static void add_to_class(struct hunt_class *class, const struct hunt_term *t)
{
	if (t->kind == TERM_BOTTLENECK) {
		class->bottleneck = t->copies;
		return;
	}
	for (unsigned i = 0; i < t->copies && class->n < HUNT_MAX_PATTERNS; i++) {
		if (t->kind == TERM_CHAIN)
			class->producers[class->n] = UINT64_C(1) << class->n;
		class->pattern[class->n++] = t->a;
	}
	if (t->kind == TERM_EDGE && class->n < HUNT_MAX_PATTERNS) {
		class->producers[class->n] = UINT64_C(1) << (class->n - 1);
		class->pattern[class->n++] = t->b;
	}
	if (t->kind != TERM_ONE)
		class->relations |= HUNT_DEPENDENCES;
}

/* Explains the rows of a class, and returns the one of the fewest instructions and bytes. */
static size_t explain(struct hunt_sorting *s, const struct hunt_choice *c,
		      struct hunt_code *example, double *error)
{
	size_t best = SIZE_MAX;
	double weight = 0;

	*error = 0;
	for (size_t row = 0; row < s->h->n_rows; row++) {
		const struct hunt_row *r = &s->h->row[row];
		struct hunt_code code;

		if (s->sign[row] != c->side + 1 || !hunt_row_has(s, row, c->a) ||
		    (c->b != HASH_NONE && !hunt_row_has(s, row, c->b)))
			continue;
		*error += r->weight * hunt_error_of(r);
		weight += r->weight;
		explain_row(s, row);
		if (hunt_decode(&code, r->code, r->code_size, &s->h->names) < 0)
			continue;
		if (best == SIZE_MAX || code.n < example->n ||
		    (code.n == example->n && code.size < example->size)) {
			best = row;
			*example = code;
		}
	}
	*error = weight > 0 ? *error / weight : 0;
	return best;
}

static int take(struct hunt_sorting *s, const struct hunt_choice *c)
{
	struct tact_hunt *h = s->h;
	struct tact_hunt_finding view = {
		.n_tried = c->sums.n,
		.n_off = c->sums.n_off[c->side],
		.mape = c->sums.left[c->side] / h->total_weight,
		.has_mape = true,
		.n_found = 1,
	};
	struct hunt_class class;
	struct hunt_code example;
	size_t row;

	memset(&class, 0, sizeof(class));
	add_to_class(&class, &s->term[c->a]);
	if (c->b != HASH_NONE)
		add_to_class(&class, &s->term[c->b]);
	row = explain(s, c, &example, &view.error);
	if (row == SIZE_MAX)
		return 0;
	view.alignment = h->row[row].alignment;
	view.n_rows = c->sums.n;
	view.weight = c->sums.all / h->total_weight;
	view.weight_off = c->sums.off[c->side] / h->total_weight;
	view.judged = h->row[row].judged;
	view.predicted = h->row[row].predicted;
	return hunt_add_result(h, &class, &example, &view);
}

/* ---- work ---- */

static int predict(struct tact_hunt *h, struct tact_diag *diag)
{
	struct tact_hunt_block *blocks = malloc((h->n_rows + 1) * sizeof(*blocks));
	struct tact_hunt_value *values = calloc(h->n_rows + 1, sizeof(*values));
	int status = blocks && values ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	for (size_t i = 0; i < h->n_rows && !status; i++)
		blocks[i] = (struct tact_hunt_block){h->row[i].code, h->row[i].code_size,
						     h->row[i].alignment};
	if (!status)
		status = h->opt.model.ask(h->opt.model.context, blocks, h->n_rows, values, diag);
	for (size_t i = 0; i < h->n_rows && status >= 0; i++) {
		const bool has_number = values[i].answer == TACT_HUNT_NUMBER;

		h->row[i].predicted = has_number ? values[i].cycles : 0;
		h->row[i].bottlenecks = has_number ? values[i].bottlenecks : 0;
	}
	FREE_ALL(blocks, values);
	return status;
}

static void compare(struct hunt_sorting *s)
{
	struct tact_hunt *h = s->h;
	double weight = 0;

	for (size_t i = 0; i < h->n_rows; i++) {
		const struct hunt_row *r = &h->row[i];
		int sign;

		s->sign[i] = 3;
		if (!(r->judged > 0) || !(r->predicted > 0)) {
			h->counts.n_without += r->judged > 0;
			continue;
		}
		sign = hunt_disagree(h, r->judged, r->predicted);
		s->sign[i] = (uint8_t)(sign < 0 ? 1 : sign > 0 ? 2 : 0);
		weight += r->weight;
		h->counts.n_blocks++;
		h->counts.n_off += sign != 0;
		h->counts.weight_off += sign ? r->weight : 0;
		h->counts.mape += r->weight * fabs(hunt_error_of(r));
		s->mass += sign ? r->weight * fabs(hunt_error_of(r)) : 0;
	}
	h->total_weight = weight;
}

static int find_classes(struct hunt_sorting *s)
{
	struct tact_hunt *h = s->h;
	const size_t most = h->opt.most_classes ? h->opt.most_classes : DEFAULT_CLASSES;
	int status = count_all(s);

	while (h->n_results < most && !status) {
		struct hunt_choice c;

		if (h->opt.is_over && h->opt.is_over(h->opt.context))
			break;
		c = hunt_choose(s);
		if (c.a == HASH_NONE)
			break;
		status = take(s, &c);
		h->counts.n_ticks++;
		if (h->opt.progress)
			h->opt.progress(h->opt.context, &h->counts);
	}
	for (size_t i = 0; i < h->n_rows; i++)
		h->counts.weight_in_class += s->is_explained[i] ? h->row[i].weight : 0;
	return status;
}

int tact_hunt_rows(struct tact_hunt *h, struct tact_diag *diag)
{
	struct hunt_sorting s = {.h = h};
	int status;

	if (!h)
		return tact_fail(diag, TACT_E_INVAL, "no hunt");
	status = predict(h, diag);
	if (status < 0)
		return status;
	s.sign = calloc(h->n_rows + 1, 1);
	s.is_explained = calloc(h->n_rows + 1, sizeof(*s.is_explained));
	s.first = calloc(h->n_rows + 1, sizeof(*s.first));
	if (!s.sign || !s.is_explained || !s.first)
		status = -TACT_E_NOMEM;
	else
		compare(&s);
	for (size_t i = 0; i < h->n_rows && !status; i++) {
		s.first[i] = s.n_list;
		status = hunt_terms_add(&s, i);
		s.first[i + 1] = s.n_list;
	}
	if (!status) {
		s.sums = calloc(s.n_terms + 1, sizeof(*s.sums));
		s.pair = calloc(s.n_terms + 1, sizeof(*s.pair));
		s.touched = calloc(s.n_terms + 1, sizeof(*s.touched));
		status = s.sums && s.pair && s.touched ? 0 : -TACT_E_NOMEM;
	}
	if (!status && !h->counts.n_blocks)
		status = tact_fail(diag, TACT_E_NO_DATA, "no row has a number on both sides");
	if (!status)
		status = find_classes(&s);
	if (h->total_weight > 0) {
		h->counts.weight_off /= h->total_weight;
		h->counts.weight_in_class /= h->total_weight;
		h->counts.mape /= h->total_weight;
	}
	hash_free(&s.index);
	FREE_ALL(s.term, s.sums, s.list, s.first, s.sign, s.is_explained, s.pair, s.touched,
		 s.rows_of, s.first_row);
	hunt_sort(h);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}
