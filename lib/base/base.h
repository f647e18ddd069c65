/* SPDX-License-Identifier: MIT
 *
 * Layer 0: what every module uses.  Includes only libc and our status.h.
 */
#ifndef TACT_BASE_H
#define TACT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Compares two numbers, for qsort: 2 * ORDER(..) + ORDER(..) adds a second criterion. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The name of an enumerator from an array of names, or `other` if the array has none for it. */
#define NAME_OF(names, i, other)                                                                   \
	((size_t)(i) < ARRAY_SIZE(names) && (names)[i] ? (names)[i] : (other))

/* Fill diag (NULL is allowed) and return -error, so that a call can stand in a return statement. */
int tact_fail(struct tact_diag *diag, enum tact_error error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int tact_fail_at(struct tact_diag *diag, enum tact_error error, uint64_t line, uint64_t offset,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Does the same for errno: -TACT_E_NOMEM if memory ran out, otherwise -TACT_E_IO.  The text is that
 * of errno, after `what` and a colon unless `what` is NULL.
 */
int tact_fail_errno(struct tact_diag *diag, const char *what);

/* Frees each of these pointers, after reading all of them.  NULL is allowed. */
#define FREE_ALL(...)                                                                              \
	tact_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void tact_free_all(void *const *pointers, size_t n);

/* Begins a function that makes something: sets *made to `size` bytes of zeros.  Returns 0;
 * -TACT_E_INVAL, with `missing` as the reason, unless the arguments are valid; -TACT_E_NOMEM.
 */
int tact_new(void *made, size_t size, bool is_valid, const char *missing, struct tact_diag *diag);

/* Ends a function that makes something, depending on its status: hands the result over, or destroys
 * it and leaves NULL.
 */
#define HAND_OVER(out, made, status, destroy)                                                      \
	((status) < 0 ? (destroy(made), *(out) = NULL, (status)) : (*(out) = (made), 0))

/* Returns the capacity that an array grows to; 0: no memory has room for it. */
size_t tact_capacity_for(size_t capacity, size_t needed, size_t element_size);

/* Grows *array (*capacity elements of element_size) to hold at least `needed` elements.  Returns 0,
 * or -TACT_E_NOMEM with the array unchanged.
 */
static inline int tact_grow(void *array, size_t *capacity, size_t needed, size_t element_size);

/* The rest of it: needed is more than the capacity. */
int tact_grow_more(void *array, size_t *capacity, size_t needed, size_t element_size);

static inline int tact_grow(void *array, size_t *capacity, size_t needed, size_t element_size)
{
	return needed <= *capacity ? 0 : tact_grow_more(array, capacity, needed, element_size);
}

/* Fetches a cache line that will be read soon.  GCC takes a function that does nothing else for one
 * without effect, and drops its calls: hence the statement that it does not look into.
 */
static inline void tact_fetch(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("");
}

/* A table that is read at random: all zeros, aligned to cache lines, and in large pages if it is large
 * and the kernel has any, because to translate an address may take as long as to read the entry.
 * Pages that nobody writes take no memory.  NULL: out of memory.
 */
void *tact_table_create(size_t n, size_t element_size);
void tact_table_destroy(void *table, size_t n, size_t element_size); /* NULL is allowed */

/* As tact_grow, for such a table: what is new is all zeros. */
int tact_table_grow(void *array, size_t *capacity, size_t needed, size_t element_size);

/* Memory that is freed all at once.  What was taken does not move and is aligned like a pointer.
 * All zeros is an empty arena.
 */
struct tact_arena {
	struct tact_arena_chunk *chunks; /* owned */
	size_t used;			 /* of the first chunk */
};
void *tact_arena_take(struct tact_arena *arena, size_t size); /* NULL: out of memory */
void tact_arena_reset(struct tact_arena *arena);

/* Copies a caller's options, whose struct may have another size: fields that it lacks become zero,
 * fields that we lack must be zero.  Both structs begin with their size; from == NULL gives all
 * zeros.  Returns 0 or -TACT_E_INVAL.
 */
int tact_read_options(void *to, size_t to_size, const void *from);

/* Hands a result to a caller whose struct may be shorter (older) or longer (newer) than ours:
 * writes no more than its `size` says, zeroes what we do not know, and leaves `size` alone.
 * Returns 0, or -TACT_E_INVAL if tact_can_fill says no.
 */
int tact_fill(void *out, const void *from, size_t from_size);

/* Returns whether `out` exists and its `size` is plausible: at least the size itself, at most 64
 * KiB.  To be called before the work is done.
 */
bool tact_can_fill(const void *out);

/* Decodes hex digits.  Returns the number of bytes, or -1 with *bad set to the position of the
 * first character that is not a hex digit, or to `size` if the number of digits is odd.
 */
long tact_hex_decode(uint8_t *out, const char *text, size_t size, size_t *bad);

#endif /* TACT_BASE_H */
