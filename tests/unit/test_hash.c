/* SPDX-License-Identifier: MIT
 *
 * The hash table of numbers.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include <tact/status.h>

#include "base/hash.h"

TEST(an_empty_table_finds_nothing)
{
	struct hash table = {0};
	size_t at = 0;

	assert_int_equal(hash_next(&table, 1, &at), HASH_NONE);
	hash_free(&table);
	hash_free(&table);
}

/* Entries are found again, and only those of the same hash are offered. */
TEST(entries_are_found_while_it_grows)
{
	enum { N = 5000 };
	struct hash table = {0};

	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(hash_add(&table, hash_number(i), i), 0);
	assert_int_equal(table.n, N);
	assert_true(table.n_slots >= 2 * table.n);
	for (uint32_t i = 0; i < 2 * N; i++) {
		size_t at = 0;
		uint32_t found = hash_next(&table, hash_number(i), &at);

		assert_int_equal(found, i < N ? i : HASH_NONE);
		if (found != HASH_NONE)
			assert_int_equal(hash_next(&table, hash_number(i), &at), HASH_NONE);
	}
	hash_free(&table);
}

/* All of the same hash: each is offered once, in the order in which they came. */
TEST(equal_hashes_are_offered_in_order)
{
	struct hash table = {0};
	size_t at = 0;

	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(hash_add(&table, 7, i), 0);
		assert_int_equal(hash_add(&table, 8, 100 + i), 0);
	}
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(hash_next(&table, 7, &at), i);
	assert_int_equal(hash_next(&table, 7, &at), HASH_NONE);
	hash_free(&table);
}

/* The last slot is followed by the first. */
TEST(the_end_goes_on_at_the_beginning)
{
	struct hash table = {0};
	size_t at = 0;

	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(hash_add(&table, UINT32_MAX, i), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(hash_next(&table, UINT32_MAX, &at), i);
	assert_int_equal(hash_next(&table, UINT32_MAX, &at), HASH_NONE);
	hash_free(&table);
}

TEST(what_does_not_fit_is_refused)
{
	struct hash table = {0};
	size_t at = 0;

	assert_int_equal(hash_add(&table, 1, 5), 0);
	assert_int_equal(hash_reserve(&table, SIZE_MAX), -TACT_E_NOMEM);
	assert_int_equal(hash_reserve(&table, SIZE_MAX / 64), -TACT_E_NOMEM);
	assert_int_equal(hash_next(&table, 1, &at), 5);
	hash_free(&table);
}

TEST(room_that_was_made_is_kept)
{
	struct hash table = {0};
	const struct hash_slot *slots;

	assert_int_equal(hash_reserve(&table, 1000), 0);
	slots = table.slots;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(hash_add(&table, hash_number(i), i), 0);
	assert_ptr_equal(table.slots, slots);
	hash_free(&table);
}

TEST(bytes_depend_on_every_byte)
{
	uint8_t data[40] = {0};

	for (size_t size = 1; size <= sizeof(data); size++) {
		uint64_t plain = hash_bytes(data, size);

		assert_true(plain != hash_bytes(data, size - 1));
		for (size_t i = 0; i < size; i++) {
			data[i] ^= 1;
			assert_true(plain != hash_bytes(data, size));
			data[i] ^= 1;
		}
	}
	assert_true(hash_string("ab") == hash_bytes("ab", 2));
	assert_true(hash_string("") == hash_bytes(NULL, 0));
}

RUN_TESTS(NULL, NULL)
