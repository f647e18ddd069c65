/* SPDX-License-Identifier: MIT
 *
 * Functions that a program has generated at run time, as it has told: in a map as perf reads it
 * (/tmp/perf-PID.map: address, size and name on each line), or in a dump (jit-PID.dump), which has
 * the code as well.
 *
 * Files are hostile: any bytes may be in them.
 */
#ifndef TACT_OBJ_JIT_MAP_H
#define TACT_OBJ_JIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

enum {
	JIT_MAX_NAME = 1024,	    /* bytes of a name that are kept */
	JIT_MAX_SIZE = 1 << 26,	    /* bytes of a function; larger ones are left out */
	JIT_MAX_FUNCTIONS = 1 << 22 /* more are left out */
};

#define JIT_MAX_BYTES ((uint64_t)1 << 30) /* of a file; larger ones are not read */

struct jit_function {
	uint64_t address, size;
	uint64_t time; /* from then on, in nanoseconds; 0: not known */
	size_t name;   /* offset in names */
	size_t code;   /* offset in codes */
	uint32_t has_code;
	uint32_t order; /* in which it was told */
};

struct jit_map {
	struct jit_function *functions; /* owned; by address once sorted, then by order */
	size_t n, capacity;
	char *names; /* owned */
	size_t names_size, names_capacity;
	uint8_t *codes; /* owned */
	size_t codes_size, codes_capacity;
	uint64_t longest; /* bytes of a function */
	unsigned machine; /* of ELF, as the last dump says; 0: there was none */
	bool is_sorted;
};

void jit_map_fini(struct jit_map *map);

/* Adds a function; code may be NULL.  Returns 0 or -TACT_E_NOMEM. */
int jit_map_add(struct jit_map *map, const struct jit_function *function, const char *name,
		size_t name_size, const uint8_t *code);

/* Adds the functions of a map.  Lines that are not understood are skipped.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int jit_map_read_text(struct jit_map *map, const char *text, size_t size);

/* Adds the functions of a dump, in either byte order.  What is cut off is left out.  Returns 0,
 * -TACT_E_FORMAT if it is none, -TACT_E_VERSION, -TACT_E_NOMEM.
 */
int jit_map_read_dump(struct jit_map *map, const uint8_t *data, size_t size);

/* Adds what a process has told, in a map or in a dump, if the file belongs to this user or to root,
 * as perf demands, is a plain file and was written at `since` (seconds) or later.  Returns 1, 0 if
 * there is no such file, or -TACT_E_NOMEM.  *size, which may be NULL, is the size of the file.
 */
int jit_map_read_file(struct jit_map *map, const char *path, int64_t since, uint64_t *size);

/* Finds the function that covers an address: the one told last whose code, if that is known, is
 * `code`, which may be NULL.  NULL: there is none.
 */
const struct jit_function *jit_map_find(struct jit_map *map, uint64_t address, const uint8_t *code,
					size_t size);

static inline const char *jit_map_name(const struct jit_map *map, const struct jit_function *f)
{
	return map->names + f->name;
}

#endif /* TACT_OBJ_JIT_MAP_H */
