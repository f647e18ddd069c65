/* SPDX-License-Identifier: MIT
 *
 * Cells: rows that count in the same groups.  A cell has a name that does not depend on when its first
 * row came, so that cells of different evaluations are the same ones, in the same order.
 */
#ifndef EVALUATE_CELLS_H
#define EVALUATE_CELLS_H

#include <tact-program/evaluate.h>

#include "base/base.h"
#include "base/hash.h"

/* What makes a cell. */
struct cell_key {
	const char *arch;
	enum tact_mode mode;
	bool is_whole;	      /* counts among all rows and in the set; else only in applications */
	const char *category; /* "": none */
	const struct tact_row_source *sources;
	size_t n_sources;
};

struct cell {
	const char *name; /* in the arena of the table */
	size_t size;
	uint64_t hash;
	bool is_whole;
	uint32_t set;	 /* as who adds it numbers sets */
	uint32_t *group; /* in the arena; filled in by who adds the cell */
	uint32_t n_groups;
	uint64_t *outcomes; /* in the arena: models x TACT_N_OUTCOMES */
};

struct cells {
	struct cell *cell; /* owned */
	size_t n, capacity, n_models;
	struct hash index;
	struct tact_arena arena;
	char *scratch; /* owned; the name of a key */
	size_t scratch_capacity;
};

/* Finds a cell, or adds one without groups.  Returns its number, or -TACT_E_NOMEM; *is_new. */
long cells_find(struct cells *cells, const struct cell_key *key, bool *is_new);

/* Compares two cells by their names. */
int cells_compare(const struct cells *cells, size_t a, size_t b);

/* Makes their order: place[i] is where cell i comes.  The caller frees it.  NULL: out of memory. */
uint32_t *cells_order(const struct cells *cells);

void cells_fini(struct cells *cells);

#endif /* EVALUATE_CELLS_H */
