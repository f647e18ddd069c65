/* SPDX-License-Identifier: MIT
 *
 * Result structs as callers of other versions have them.
 */
#ifndef TESTS_SIZES_H
#define TESTS_SIZES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/status.h>

/* A function that fills `out` from `of`. */
typedef int (*sizes_get)(void *out, const void *of);

static inline void set_size(uint8_t *out, size_t size)
{
	memcpy(out, &size, sizeof(size));
}

static inline size_t size_of(const uint8_t *out)
{
	size_t size;

	memcpy(&size, out, sizeof(size));
	return size;
}

/* Calls it with a struct of this size in a larger buffer: what lies past the size stays. */
static inline void get_with_size(sizes_get get, const void *of, uint8_t *out, size_t capacity,
				 size_t size)
{
	memset(out, 0xa5, capacity);
	set_size(out, size);
	assert_int_equal(get(out, of), 0);
	assert_int_equal(size_of(out), size);
	for (size_t i = size; i < capacity; i++)
		assert_int_equal(out[i], 0xa5);
}

/* Older and newer callers: nothing past their size is written, what we do not know is zero, what
 * both know is the same; a size that was not set is refused.  The struct's first member after
 * `size` must not be zero.
 */
static inline void check_sizes(sizes_get get, const void *of, size_t known)
{
	enum { MORE = 64 };
	const size_t capacity = known + 2 * MORE, member = sizeof(size_t);
	uint8_t *whole = malloc(capacity), *other = malloc(capacity);

	assert_true(whole && other && known > 2 * member);
	get_with_size(get, of, whole, capacity, known);
	/* older */
	get_with_size(get, of, other, capacity, member);
	get_with_size(get, of, other, capacity, member + 4);
	assert_memory_equal(other + member, whole + member, 4);
	get_with_size(get, of, other, capacity, known - 1);
	assert_memory_equal(other + member, whole + member, 4);
	/* newer */
	get_with_size(get, of, other, capacity, known + MORE);
	assert_memory_equal(other + member, whole + member, 4);
	for (size_t i = known; i < known + MORE; i++)
		assert_int_equal(other[i], 0);
	/* none */
	memset(other, 0, capacity);
	assert_int_equal(get(other, of), -TACT_E_INVAL);
	for (size_t i = 0; i < capacity; i++)
		assert_int_equal(other[i], 0);
	assert_int_equal(get(NULL, of), -TACT_E_INVAL);
	free(whole);
	free(other);
}

/* Options as callers of other versions have them: `use` takes them and returns a status. */
typedef int (*sizes_use)(const void *options);

static inline void check_options(sizes_use use, const void *good, size_t known)
{
	enum { MORE = 16 };
	uint8_t *options = calloc(1, known + MORE);

	assert_non_null(options);
	memcpy(options, good, known);
	assert_int_equal(use(options), 0);
	/* newer, and nothing or something in what we do not know */
	set_size(options, known + MORE);
	assert_int_equal(use(options), 0);
	options[known + MORE - 1] = 1;
	assert_int_equal(use(options), -TACT_E_INVAL);
	/* bytes past the size are not read */
	set_size(options, known);
	assert_int_equal(use(options), 0);
	set_size(options, 0);
	assert_int_equal(use(options), -TACT_E_INVAL);
	set_size(options, sizeof(size_t) - 1);
	assert_int_equal(use(options), -TACT_E_INVAL);
	free(options);
}

#endif /* TESTS_SIZES_H */
