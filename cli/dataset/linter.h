/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact dataset lint` share.
 */
#ifndef TACT_LINTER_H
#define TACT_LINTER_H

#include "datasets.h"

/* Something that cannot be right, or is suspect. */
struct finding {
	enum dataset_check check;
	const uint8_t *code; /* NULL: not about one block */
	size_t code_size;
	const char *machine, *arch, *mode, *origin, *app; /* "" where there is none */
	double value, bound;				  /* NAN where there is none */
	const char *what, *todo;
};

/* A list of blocks: --may-alias. */
struct block_set {
	uint8_t *data; /* owned: all codes, one behind the other */
	size_t size, capacity;
	struct block_entry {
		uint64_t hash;
		size_t at, size; /* size 0: a free slot */
	} * slots;		 /* owned */
	size_t n, n_slots;	 /* n_slots: a power of two */
};

struct linter {
	const struct dataset *d;
	struct tact_store *store;
	struct output *out;
	struct text text;
	struct block_set suspects;
	unsigned checks;
	size_t found[N_CHECKS];
	struct tact_diag diag;
};

/* Writes it, or counts it if enough of its kind were written. */
void linter_report(struct linter *l, const struct finding *finding);

uint64_t linter_hash(uint64_t hash, const void *data, size_t size);

/* Passes over blocks and over measurements.  Return 0, or -TACT_E_* with l->diag filled. */
int linter_check_blocks(struct linter *l);
int linter_check_rows(struct linter *l);

/* Returns 0, or an exit code with the message given. */
int block_set_read(struct block_set *set, const char *path, bool is_quiet);
bool block_set_has(const struct block_set *set, const uint8_t *code, size_t size);
void block_set_fini(struct block_set *set);

#endif /* TACT_LINTER_H */
