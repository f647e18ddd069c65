/* SPDX-License-Identifier: MIT
 *
 * Which pieces of two versions belong together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "code/likeness.h"
#include "diff/codediff.h"
#include "obj/obj.h"

/* Less than this much in common is another piece of code, unless the source line says otherwise. */
#define MIN_LIKENESS 0.4

/* Functions with more unpaired pieces than this are compared in order only. */
enum { MOST_COMPARED = 64 };

/* Pieces of one function, in both versions. */
struct group {
	uint64_t key;
	size_t begin[2], end[2]; /* in struct pairing.member */
};

struct pairing {
	const struct tact_code *side[2];
	long *other[2];	       /* of the caller */
	uint32_t *member[2];   /* owned: numbers of pieces, group by group */
	uint32_t *group_of[2]; /* owned: by piece */
	struct group *groups;  /* owned */
	size_t n_groups, capacity;
	struct hash index;
	uint64_t *keys[2]; /* owned: room for one group */
	bool *marks[2];	   /* owned: likewise */
};

static void join(struct pairing *p, size_t a, size_t b)
{
	p->other[0][a] = (long)b;
	p->other[1][b] = (long)a;
}

/* ---- functions ---- */

static uint64_t name_key(const struct code_piece *piece)
{
	const char *place = strstr(piece->name, "+0x");

	if (*piece->function)
		return obj_stem_hash(piece->function);
	/* Markers have names of their own; code that is only known by its place belongs together.
	 */
	if (!strncmp(piece->name, "0x", 2))
		return 0;
	return hash_bytes(piece->name, place ? (size_t)(place - piece->name) : strlen(piece->name));
}

/* Finds the group of a key, or makes it; HASH_NONE: out of memory. */
static uint32_t group_at(struct pairing *p, uint64_t key)
{
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&p->index, key, &at)) != HASH_NONE)
		if (p->groups[i].key == key)
			return i;
	if (tact_grow(&p->groups, &p->capacity, p->n_groups + 1, sizeof(*p->groups)) ||
	    hash_add(&p->index, key, (uint32_t)p->n_groups))
		return HASH_NONE;
	p->groups[p->n_groups] = (struct group){.key = key};
	return (uint32_t)p->n_groups++;
}

/* Lists the unpaired pieces of both versions by group; key tells to which one a piece belongs. */
static int make_groups(struct pairing *p, uint64_t (*key)(const struct code_piece *piece))
{
	p->n_groups = 0;
	hash_free(&p->index);
	p->index = (struct hash){0};
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; i < p->side[k]->n; i++) {
			p->group_of[k][i] = HASH_NONE;
			if (p->other[k][i] != PIECE_NONE)
				continue;
			p->group_of[k][i] = group_at(p, key(&p->side[k]->pieces[i]));
			if (p->group_of[k][i] == HASH_NONE)
				return -TACT_E_NOMEM;
			p->groups[p->group_of[k][i]].end[k]++;
		}
	}
	for (unsigned k = 0; k < 2; k++) {
		size_t at = 0;

		for (size_t g = 0; g < p->n_groups; g++) {
			p->groups[g].begin[k] = at;
			at += p->groups[g].end[k];
			p->groups[g].end[k] = p->groups[g].begin[k];
		}
		for (size_t i = 0; i < p->side[k]->n; i++)
			if (p->group_of[k][i] != HASH_NONE)
				p->member[k][p->groups[p->group_of[k][i]].end[k]++] = (uint32_t)i;
	}
	return 0;
}

/* Drops the members that have been paired; returns how many are left in A and B together. */
static size_t shrink(struct pairing *p, struct group *g)
{
	for (unsigned k = 0; k < 2; k++) {
		size_t n = g->begin[k];

		for (size_t i = g->begin[k]; i < g->end[k]; i++)
			if (p->other[k][p->member[k][i]] == PIECE_NONE)
				p->member[k][n++] = p->member[k][i];
		g->end[k] = n;
	}
	return g->end[0] - g->begin[0] + (g->end[1] - g->begin[1]);
}

static size_t size_of(const struct group *g, unsigned side)
{
	return g->end[side] - g->begin[side];
}

static const struct code_piece *member(const struct pairing *p, const struct group *g,
				       unsigned side, size_t i)
{
	return &p->side[side]->pieces[p->member[side][g->begin[side] + i]];
}

static void join_members(struct pairing *p, const struct group *g, size_t i, size_t k)
{
	join(p, p->member[0][g->begin[0] + i], p->member[1][g->begin[1] + k]);
}

/* ---- pieces ---- */

/* Joins what is the same: in order first, so that of several equal pieces the right ones meet, then
 * what has moved.
 */
static int join_same(struct pairing *p, struct group *g)
{
	size_t n[2] = {size_of(g, 0), size_of(g, 1)}, k = 0;

	if (!n[0] || !n[1])
		return 0;
	for (unsigned s = 0; s < 2; s++)
		for (size_t i = 0; i < n[s]; i++)
			p->keys[s][i] = member(p, g, s, i)->content;
	if (code_align(p->keys[0], n[0], p->keys[1], n[1], p->marks[0], p->marks[1]) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n[0]; i++) {
		if (!p->marks[0][i])
			continue;
		while (!p->marks[1][k])
			k++;
		join_members(p, g, i, k++);
	}
	shrink(p, g);
	if (size_of(g, 0) * size_of(g, 1) > MOST_COMPARED * MOST_COMPARED)
		return 0;
	for (size_t i = 0; i < size_of(g, 0); i++) {
		for (size_t j = 0; j < size_of(g, 1); j++) {
			if (member(p, g, 0, i)->content != member(p, g, 1, j)->content ||
			    p->other[1][p->member[1][g->begin[1] + j]] != PIECE_NONE)
				continue;
			join_members(p, g, i, j);
			break;
		}
	}
	shrink(p, g);
	return 0;
}

/* Returns how much two pieces have in common, from 0 to 1, and more if they come from the same
 * line; negative: they cannot be compared, or -TACT_E_NOMEM in *status.
 */
static double likeness(const struct code_piece *a, const struct code_piece *b, int *status)
{
	bool *in_a = calloc(a->n_insns + 1, sizeof(*in_a));
	bool *in_b = calloc(b->n_insns + 1, sizeof(*in_b));
	const bool is_same_line = *a->source && !strcmp(a->source, b->source);
	long common = -1;
	double share;

	if (in_a && in_b)
		common = code_align(a->mnemonics, a->n_insns, b->mnemonics, b->n_insns, in_a, in_b);
	FREE_ALL(in_a, in_b);
	if (common < 0) {
		*status = -TACT_E_NOMEM;
		return -1;
	}
	if (a->is_loop != b->is_loop || !a->n_insns || !b->n_insns)
		return -1;
	share = 2.0 * (double)common / (double)(a->n_insns + b->n_insns);
	if (share < MIN_LIKENESS && !is_same_line)
		return -1;
	return share + (is_same_line ? 1 : 0);
}

/* Joins the most similar pieces first. */
static int join_similar(struct pairing *p, struct group *g)
{
	const size_t n = size_of(g, 0), m = size_of(g, 1);
	double *score;
	int status = 0;

	if (!n || !m || n > MOST_COMPARED || m > MOST_COMPARED)
		return 0;
	score = malloc(n * m * sizeof(*score));
	if (!score)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n && !status; i++)
		for (size_t k = 0; k < m && !status; k++)
			score[i * m + k] =
				likeness(member(p, g, 0, i), member(p, g, 1, k), &status);
	while (!status) {
		size_t best = 0;

		for (size_t x = 1; x < n * m; x++)
			if (score[x] > score[best])
				best = x;
		if (score[best] < 0)
			break;
		join_members(p, g, best / m, best % m);
		for (size_t k = 0; k < m; k++)
			score[best / m * m + k] = -1;
		for (size_t i = 0; i < n; i++)
			score[i * m + best % m] = -1;
	}
	free(score);
	shrink(p, g);
	return status;
}

/* A function with one loop left in each version: that is the loop, however it was rewritten.  So is
 * the code of a function without loops.  Very many pieces are joined in order.
 */
static void join_rest(struct pairing *p, struct group *g)
{
	const size_t n = size_of(g, 0), m = size_of(g, 1);

	if (n != m || (n != 1 && n <= MOST_COMPARED))
		return;
	for (size_t i = 0; i < n; i++)
		if (member(p, g, 0, i)->is_loop == member(p, g, 1, i)->is_loop)
			join_members(p, g, i, i);
}

static int join_groups(struct pairing *p, bool is_same_only)
{
	int status = 0;

	for (size_t i = 0; i < p->n_groups && !status; i++) {
		status = join_same(p, &p->groups[i]);
		if (!status && !is_same_only)
			status = join_similar(p, &p->groups[i]);
		if (!status && !is_same_only)
			join_rest(p, &p->groups[i]);
	}
	return status;
}

static uint64_t content_key(const struct code_piece *piece)
{
	return piece->content;
}

int diff_pair(const struct tact_code *a, const struct tact_code *b, long *other_a, long *other_b)
{
	struct pairing p = {.side = {a, b}, .other = {other_a, other_b}};
	int status = 0;

	for (unsigned k = 0; k < 2; k++) {
		const size_t n = p.side[k]->n + 1;

		p.member[k] = calloc(n, sizeof(*p.member[k]));
		p.group_of[k] = calloc(n, sizeof(*p.group_of[k]));
		p.keys[k] = calloc(n, sizeof(*p.keys[k]));
		p.marks[k] = calloc(n, sizeof(*p.marks[k]));
		if (!p.member[k] || !p.group_of[k] || !p.keys[k] || !p.marks[k])
			status = -TACT_E_NOMEM;
		for (size_t i = 0; i + 1 < n; i++)
			p.other[k][i] = PIECE_NONE;
	}
	if (!status)
		status = make_groups(&p, name_key);
	if (!status)
		status = join_groups(&p, false);
	/* What is left has no counterpart of its name: the same code under another one. */
	if (!status)
		status = make_groups(&p, content_key);
	if (!status)
		status = join_groups(&p, true);
	for (unsigned k = 0; k < 2; k++)
		FREE_ALL(p.member[k], p.group_of[k], p.keys[k], p.marks[k]);
	hash_free(&p.index);
	free(p.groups);
	return status;
}
