/* SPDX-License-Identifier: MIT
 *
 * Layer 0: what every module uses.  Includes libc and our status.h only.
 */
#ifndef TACT_BASE_H
#define TACT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The order of two numbers, for qsort: 2 * ORDER(..) + ORDER(..) has a second criterion. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The name of an enumerator by an array of names, or another one if it has none there. */
#define NAME_OF(names, i, other)                                                                   \
	((size_t)(i) < ARRAY_SIZE(names) && (names)[i] ? (names)[i] : (other))

/* Fills diag (NULL is allowed) and returns -error, so that it can stand in a return. */
int tact_fail(struct tact_diag *diag, enum tact_error error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int tact_fail_at(struct tact_diag *diag, enum tact_error error, uint64_t line, uint64_t offset,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for errno: -TACT_E_NOMEM if memory ran out, else -TACT_E_IO.  The text is that of errno,
 * after `what` and a colon unless that is NULL.
 */
int tact_fail_errno(struct tact_diag *diag, const char *what);

/* Frees each of these pointers, which are all read before; NULL is allowed. */
#define FREE_ALL(...)                                                                              \
	tact_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void tact_free_all(void *const *pointers, size_t n);

/* The beginning of a function that makes something: *made becomes `size` bytes of zeros.
 * Returns 0; -TACT_E_INVAL, which says what is missing, unless the arguments are valid;
 * -TACT_E_NOMEM.
 */
int tact_new(void *made, size_t size, bool is_valid, const char *missing, struct tact_diag *diag);

/* The end of a function that makes something, by its status: hands it over, or destroys it and
 * leaves NULL.
 */
#define HAND_OVER(out, made, status, destroy)                                                      \
	((status) < 0 ? (destroy(made), *(out) = NULL, (status)) : (*(out) = (made), 0))

/* Grows *array (of *capacity elements of element_size) so that it holds at least `needed`.
 * Returns 0, or -TACT_E_NOMEM with the array as it was.
 */
int tact_grow(void *array, size_t *capacity, size_t needed, size_t element_size);

/* Memory that is given back all at once.  What was taken stays where it is, aligned as a pointer
 * is. All zero is an empty one.
 */
struct tact_arena {
	struct tact_arena_chunk *chunks; /* owned */
	size_t used;			 /* of the first chunk */
};
void *tact_arena_take(struct tact_arena *arena, size_t size); /* NULL: out of memory */
void tact_arena_reset(struct tact_arena *arena);

/* Copies a caller's options of another size: what it lacks becomes zero, what we lack must be zero.
 * Both structs begin with their size; from == NULL gives all zeros.  Returns 0 or -TACT_E_INVAL.
 */
int tact_read_options(void *to, size_t to_size, const void *from);

/* Hands a result to a caller whose struct may be shorter (older) or longer (newer) than ours:
 * writes no more than its `size` says, zeroes what we do not know, and leaves `size` alone. Returns
 * 0, or -TACT_E_INVAL if tact_can_fill says no.
 */
int tact_fill(void *out, const void *from, size_t from_size);

/* Whether `out` is there and its `size` can be meant: at least the size itself, at most 64 KiB.  To
 * be asked before the work is done.
 */
bool tact_can_fill(const void *out);

/* Decodes hex digits.  Returns the number of bytes, or -1 with *bad set to the position of the
 * first character that is no hex digit, or to `size` if the number of digits is odd.
 */
long tact_hex_decode(uint8_t *out, const char *text, size_t size, size_t *bad);

#endif /* TACT_BASE_H */
