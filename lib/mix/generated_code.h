/* SPDX-License-Identifier: MIT
 *
 * Code that no file of the program holds: it was generated at run time, and comes with counts or from
 * a dump of the JIT that made it.
 */
#ifndef MIX_GENERATED_CODE_H
#define MIX_GENERATED_CODE_H

#include "mix/mix.h"

struct mix_piece {
	uint64_t address, count;
	size_t code, name; /* offsets in the bytes and in the names */
	uint32_t size, order;
	const struct tact_isa *isa;
	uint32_t spread; /* for counts.c: of its count, plus one; 0: none */
	uint64_t offset; /* in the image, once it is laid out */
};

struct mix_generated {
	struct mix_piece *pieces; /* owned; by offset once they are laid out */
	size_t n, capacity;
	uint8_t *bytes; /* owned */
	size_t n_bytes, bytes_capacity;
	char *names; /* owned */
	size_t n_names, names_capacity;
	uint8_t *image; /* owned: what ran, without what lies between */
	size_t image_size, image_capacity;
};

void mix_generated_destroy(struct mix_generated *g); /* NULL is allowed */

/* Adds code of a set that ran `count` times.  Returns 0 or -TACT_E_NOMEM. */
int mix_generated_add(struct mix_generated *g, const struct tact_isa *isa, uint64_t address,
		      const uint8_t *code, uint32_t size, uint64_t count, const char *name);

/* Makes the pieces the code of a module, which owns them from then on.  Pieces that overlap with
 * equal bytes become one; where an address was used again, its code stands beside the older one.
 * Returns 0 or -TACT_E_NOMEM.
 */
int mix_generated_lay_out(struct mix_generated *g, struct mix_module *module);

/* Reads the dump of a JIT as the code of a module.  Returns the functions that lie at their
 * addresses in the end as maps for free(), *n of them; NULL if it cannot be read.
 */
struct mix_map *mix_generated_read_dump(struct mix_module *module, size_t *n);

/* Tells whether a path is that of a dump: jit-PID.dump. */
bool mix_is_dump(const char *path);

/* Returns the function at an offset of the image; "" if it has no name. */
const char *mix_generated_name(const struct mix_generated *g, uint64_t offset);

#endif /* MIX_GENERATED_CODE_H */
