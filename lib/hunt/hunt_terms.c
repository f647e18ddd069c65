/* SPDX-License-Identifier: MIT
 *
 * The terms of measured rows: an instruction of some kind, some copies of it, one that waits for
 * another, a bottleneck.
 */
#include <string.h>

#include <tact/predict.h>

#include "hunt/hunt_rows.h"

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

static struct hunt_pattern at_level(const struct hunt_insn *x, uint16_t level)
{
	struct hunt_pattern p = {.fixed = level};

	for (unsigned f = 0; f < HUNT_N_FEATURES; f++)
		if (level >> f & 1)
			p.value[f] = x->value[f];
	return p;
}

/* Puts a term into the list of the row that is being read. */
static int add_term(struct hunt_sorting *s, size_t row, const struct hunt_term *t)
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

static int add_ones(struct hunt_sorting *s, size_t row, const struct hunt_code *code, size_t i)
{
	for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
		struct hunt_term t;
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

static int add_edges(struct hunt_sorting *s, size_t row, const struct hunt_code *code, size_t i)
{
	for (size_t p = 0; p < code->n; p++)
		for (size_t l = 0; l < ARRAY_SIZE(edge_levels); l++) {
			struct hunt_term t;

			if (!(code->producers[i] >> p & 1))
				break;
			memset(&t, 0, sizeof(t));
			t.kind = p == i ? TERM_CHAIN : TERM_EDGE;
			t.copies = 1;
			t.a = at_level(&code->insn[p], edge_levels[l]);
			if (p != i)
				t.b = at_level(&code->insn[i], edge_levels[l]);
			if (add_term(s, row, &t) < 0)
				return -TACT_E_NOMEM;
		}
	return 0;
}

static int add_bottlenecks(struct hunt_sorting *s, size_t row)
{
	for (unsigned bound = 0; bound < TACT_N_BOUNDS; bound++) {
		struct hunt_term t;

		if (!(s->h->row[row].bottlenecks >> bound & 1))
			continue;
		memset(&t, 0, sizeof(t));
		t.kind = TERM_BOTTLENECK;
		t.copies = 1 + bound;
		if (add_term(s, row, &t) < 0)
			return -TACT_E_NOMEM;
	}
	return 0;
}

int hunt_terms_add(struct hunt_sorting *s, size_t row)
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

bool hunt_row_has(const struct hunt_sorting *s, size_t row, uint32_t term)
{
	for (size_t k = s->first[row]; k < s->first[row + 1]; k++)
		if (s->list[k] == term)
			return true;
	return false;
}
