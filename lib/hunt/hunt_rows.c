/* SPDX-License-Identifier: MIT
 *
 * Classes of measured rows, where no new block can be judged.
 *
 * Each row has terms: an instruction of some kind, some copies of it, one that waits for another.  A
 * class is a term, or two of them in one block.  The class that explains most of the error is taken
 * first; the rows that it explains no longer count for the next one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/predict.h>

#include "hunt/hunt.h"

#define BIT(f) (1 << HUNT_##f)

/* How much of an instruction a term says. */
static const uint16_t levels[] = {
	BIT(MNEMONIC) | BIT(MEMORY) | BIT(ADDRESS) | BIT(WIDTH) | BIT(MASK) | BIT(SAME) | BIT(HIGH),
	BIT(MNEMONIC) | BIT(MEMORY) | BIT(WIDTH),
	BIT(MNEMONIC) | BIT(MEMORY) | BIT(ADDRESS),
	BIT(MNEMONIC) | BIT(MEMORY),
	BIT(MNEMONIC),
	BIT(PORTS) | BIT(MEMORY),
	BIT(PORTS),
	BIT(GROUP) | BIT(WIDTH),
	BIT(GROUP),
	BIT(MEMORY) | BIT(ADDRESS),
	BIT(MEMORY),
};
/* Those of pairs in which one waits for the other. */
static const uint16_t edge_levels[] = {BIT(MNEMONIC) | BIT(MEMORY), BIT(PORTS) | BIT(MEMORY),
				       BIT(MEMORY)};
static const unsigned copies[] = {2, 3, 4, 6};

enum { TOP = 16, LEAST_ROWS = 3, DEFAULT_CLASSES = 30 };
/* Of all error: a class below that is not worth a line. */
#define LEAST_MASS 0.001
/* A second term must say more than this. */
#define COMPLEXITY 0.85

enum kind { ONE, EDGE, CHAIN, BOTTLENECK };

struct term {
	struct hunt_pattern a, b;
	unsigned copies; /* of a; for BOTTLENECK: 1 + enum tact_bound */
	enum kind kind;
};

struct sums {
	double all, off[2], left[2]; /* weights, and error that no class explains yet, by sign */
	uint32_t n, n_off[2];
};

struct sort {
	struct tact_hunt *h;
	struct term *term; /* owned */
	struct sums *sums; /* owned */
	size_t n_terms, term_capacity;
	struct hash index;
	uint32_t *list;	    /* owned; terms of all rows */
	size_t *first;	    /* owned; of each row, and the end */
	uint8_t *sign;	    /* owned; 0: agrees, 1: predicted too low, 2: too high, 3: no number */
	bool *is_explained; /* owned */
	size_t n_list, list_capacity;
	uint32_t *rows_of; /* owned; rows of all terms, from first_row[term] on */
	size_t *first_row; /* owned */
	struct sums *pair; /* owned; as many as terms */
	uint32_t *touched; /* owned */
	double mass;	   /* all error */
};

/* ---- terms ---- */

static struct hunt_pattern at_level(const struct hunt_insn *x, uint16_t level)
{
	struct hunt_pattern p = {.fixed = level};

	for (unsigned f = 0; f < HUNT_N_FEATURES; f++)
		if (level >> f & 1)
			p.value[f] = x->value[f];
	return p;
}

/* Puts a term into the list of the row that is being read. */
static int add_term(struct sort *s, size_t row, const struct term *t)
{
	const uint64_t hash = hash_bytes(t, sizeof(*t));
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&s->index, hash, &at)) != HASH_NONE)
		if (!memcmp(&s->term[i], t, sizeof(*t)))
			break;
	if (i == HASH_NONE) {
		i = (uint32_t)s->n_terms;
		if (tact_grow(&s->term, &s->term_capacity, s->n_terms + 1, sizeof(*t)) < 0 ||
		    hash_add(&s->index, hash, i) < 0)
			return -TACT_E_NOMEM;
		s->term[s->n_terms++] = *t;
	}
	for (size_t k = s->first[row]; k < s->n_list; k++)
		if (s->list[k] == i)
			return 0;
	if (tact_grow(&s->list, &s->list_capacity, s->n_list + 1, sizeof(*s->list)) < 0)
		return -TACT_E_NOMEM;
	s->list[s->n_list++] = i;
	return 0;
}

static int add_ones(struct sort *s, size_t row, const struct hunt_code *code, size_t i)
{
	for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
		struct term t;
		unsigned n = 0;

		memset(&t, 0, sizeof(t));
		t.a = at_level(&code->insn[i], levels[l]);
		t.copies = 1;
		if (add_term(s, row, &t) < 0)
			return -TACT_E_NOMEM;
		for (size_t k = 0; k < code->n; k++)
			n += hunt_pattern_fits(&t.a, &code->insn[k]);
		for (size_t c = 0; c < ARRAY_SIZE(copies) && n >= copies[c]; c++) {
			t.copies = copies[c];
			if (add_term(s, row, &t) < 0)
				return -TACT_E_NOMEM;
		}
	}
	return 0;
}

static int add_edges(struct sort *s, size_t row, const struct hunt_code *code, size_t i)
{
	for (size_t p = 0; p < code->n; p++)
		for (size_t l = 0; l < ARRAY_SIZE(edge_levels); l++) {
			struct term t;

			if (!(code->producers[i] >> p & 1))
				break;
			memset(&t, 0, sizeof(t));
			t.kind = p == i ? CHAIN : EDGE;
			t.copies = 1;
			t.a = at_level(&code->insn[p], edge_levels[l]);
			if (p != i)
				t.b = at_level(&code->insn[i], edge_levels[l]);
			if (add_term(s, row, &t) < 0)
				return -TACT_E_NOMEM;
		}
	return 0;
}

static int add_bottlenecks(struct sort *s, size_t row)
{
	for (unsigned bound = 0; bound < TACT_N_BOUNDS; bound++) {
		struct term t;

		if (!(s->h->row[row].bottlenecks >> bound & 1))
			continue;
		memset(&t, 0, sizeof(t));
		t.kind = BOTTLENECK;
		t.copies = 1 + bound;
		if (add_term(s, row, &t) < 0)
			return -TACT_E_NOMEM;
	}
	return 0;
}

static int add_row(struct sort *s, size_t row)
{
	const struct hunt_row *r = &s->h->row[row];
	struct hunt_code code;

	if (s->sign[row] == 3 || hunt_decode(&code, r->code, r->code_size, &s->h->names) < 0)
		return 0;
	for (size_t i = 0; i < code.n; i++)
		if (add_ones(s, row, &code, i) < 0 || add_edges(s, row, &code, i) < 0)
			return -TACT_E_NOMEM;
	return add_bottlenecks(s, row);
}

static double error_of(const struct hunt_row *r)
{
	return (r->predicted - r->judged) / r->judged;
}

static void count(struct sort *s, struct sums *sums, size_t row)
{
	const double w = s->h->row[row].weight;
	const unsigned sign = s->sign[row];

	sums->all += w;
	sums->n++;
	if (!sign)
		return;
	sums->off[sign - 1] += w;
	sums->n_off[sign - 1]++;
	if (!s->is_explained[row])
		sums->left[sign - 1] += w * fabs(error_of(&s->h->row[row]));
}

/* Sums of all terms, and the rows that have each of them. */
static int count_all(struct sort *s)
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
			count(s, &s->sums[s->list[k]], row);
			s->rows_of[s->first_row[s->list[k] + 1]++] = (uint32_t)row;
		}
	return 0;
}

/* The error of a row is explained: no other class gets it. */
static void explain_row(struct sort *s, size_t row)
{
	const double mass = s->h->row[row].weight * fabs(error_of(&s->h->row[row]));

	if (s->is_explained[row])
		return;
	s->is_explained[row] = true;
	for (size_t k = s->first[row]; k < s->first[row + 1]; k++)
		s->sums[s->list[k]].left[s->sign[row] - 1] -= mass;
}

/* ---- the best class ---- */

struct choice {
	uint32_t a, b; /* terms; b may be HASH_NONE */
	unsigned side; /* 0: predicted too low */
	double score;
	struct sums sums;
};

/* The error that it explains, and less for rows of the class that agree. */
static double score_of(const struct sort *s, const struct sums *x, unsigned side)
{
	const double share = x->all > 0 ? x->off[side] / x->all : 0;
	const double least = s->h->opt.share;

	if (x->n_off[side] < LEAST_ROWS || share < least || x->left[side] < LEAST_MASS * s->mass)
		return 0;
	return x->left[side] * share * share;
}

static void offer(const struct sort *s, struct choice *best, uint32_t a, uint32_t b,
		  const struct sums *x, unsigned side)
{
	const double score = score_of(s, x, side) * (b == HASH_NONE ? 1 : COMPLEXITY);

	if (score > best->score)
		*best = (struct choice){a, b, side, score, *x};
}

/* Finds the terms that are worth another one: much error, whatever their share. */
static size_t find_top(const struct sort *s, unsigned side, uint32_t top[TOP])
{
	double value[TOP];
	size_t n = 0;

	for (size_t i = 0; i < s->n_terms; i++) {
		const struct sums *x = &s->sums[i];
		double v = x->all > 0 ? x->left[side] * sqrt(x->off[side] / x->all) : 0;
		size_t at = n;

		if (!(v > 0) || x->n_off[side] < LEAST_ROWS)
			continue;
		while (at && value[at - 1] < v)
			at--;
		if (at == TOP)
			continue;
		n = n < TOP ? n + 1 : TOP;
		for (size_t k = n - 1; k > at; k--) {
			value[k] = value[k - 1];
			top[k] = top[k - 1];
		}
		value[at] = v;
		top[at] = (uint32_t)i;
	}
	return n;
}

static bool has_term(const struct sort *s, size_t row, uint32_t term)
{
	for (size_t k = s->first[row]; k < s->first[row + 1]; k++)
		if (s->list[k] == term)
			return true;
	return false;
}

/* Offers a term together with each other one. */
static void offer_pairs(struct sort *s, struct choice *best, uint32_t a)
{
	size_t n_touched = 0;

	for (size_t i = s->first_row[a]; i < s->first_row[a + 1]; i++) {
		const size_t row = s->rows_of[i];

		for (size_t k = s->first[row]; k < s->first[row + 1]; k++) {
			const uint32_t b = s->list[k];

			if (!s->pair[b].n)
				s->touched[n_touched++] = b;
			count(s, &s->pair[b], row);
		}
	}
	for (size_t k = 0; k < n_touched; k++) {
		const uint32_t b = s->touched[k];

		for (unsigned side = 0; side < 2 && b != a; side++)
			offer(s, best, a, b, &s->pair[b], side);
		memset(&s->pair[b], 0, sizeof(s->pair[b]));
	}
}

static struct choice choose(struct sort *s)
{
	struct choice best = {.a = HASH_NONE, .b = HASH_NONE};
	uint32_t top[2][TOP];
	size_t n_low = find_top(s, 0, top[0]);

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < s->n_terms; i++)
			offer(s, &best, (uint32_t)i, HASH_NONE, &s->sums[i], side);
	for (size_t i = 0; i < n_low; i++)
		offer_pairs(s, &best, top[0][i]);
	for (size_t i = 0, n = find_top(s, 1, top[1]); i < n; i++) {
		bool is_done = false;

		for (size_t k = 0; k < n_low; k++)
			is_done |= top[0][k] == top[1][i];
		if (!is_done)
			offer_pairs(s, &best, top[1][i]);
	}
	return best;
}

/* ---- results ---- */

static void add_to_class(struct hunt_class *class, const struct term *t)
{
	if (t->kind == BOTTLENECK) {
		class->bottleneck = t->copies;
		return;
	}
	for (unsigned i = 0; i < t->copies && class->n < HUNT_MAX_PATTERNS; i++) {
		if (t->kind == CHAIN)
			class->producers[class->n] = UINT64_C(1) << class->n;
		class->pattern[class->n++] = t->a;
	}
	if (t->kind == EDGE && class->n < HUNT_MAX_PATTERNS) {
		class->producers[class->n] = UINT64_C(1) << (class->n - 1);
		class->pattern[class->n++] = t->b;
	}
	if (t->kind != ONE)
		class->relations |= HUNT_DEPENDENCES;
}

/* Explains the rows of a class, and returns the one of the fewest instructions and bytes. */
static size_t explain(struct sort *s, const struct choice *c, struct hunt_code *example,
		      double *error)
{
	size_t best = SIZE_MAX;
	double weight = 0;

	*error = 0;
	for (size_t row = 0; row < s->h->n_rows; row++) {
		const struct hunt_row *r = &s->h->row[row];
		struct hunt_code code;

		if (s->sign[row] != c->side + 1 || !has_term(s, row, c->a) ||
		    (c->b != HASH_NONE && !has_term(s, row, c->b)))
			continue;
		*error += r->weight * error_of(r);
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

static int take(struct sort *s, const struct choice *c)
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

static void compare(struct sort *s)
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
		h->counts.mape += r->weight * fabs(error_of(r));
		s->mass += sign ? r->weight * fabs(error_of(r)) : 0;
	}
	h->total_weight = weight;
}

static int find_classes(struct sort *s)
{
	struct tact_hunt *h = s->h;
	const size_t most = h->opt.most_classes ? h->opt.most_classes : DEFAULT_CLASSES;
	int status = count_all(s);

	while (h->n_results < most && !status) {
		struct choice c;

		if (h->opt.is_over && h->opt.is_over(h->opt.context))
			break;
		c = choose(s);
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
	struct sort s = {.h = h};
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
		status = add_row(&s, i);
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
