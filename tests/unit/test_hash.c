/* SPDX-License-Identifier: MIT
 *
 * The hash table of numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* after those above */
#include <cmocka.h>

#include <tact/status.h>

#include "base/hash.h"

static void an_empty_table_finds_nothing(void **state)
{
	struct hash table = {0};
	size_t at = 0;

	(void)state;
	assert_int_equal(hash_next(&table, 1, &at), HASH_NONE);
	hash_clear(&table);
	hash_free(&table);
	hash_free(&table);
}

/* Entries are found again, and only those of the same hash are offered. */
static void entries_are_found_while_it_grows(void **state)
{
	enum { N = 5000 };
	struct hash table = {0};

	(void)state;
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
	hash_clear(&table);
	for (uint32_t i = 0; i < N; i++) {
		size_t at = 0;

		assert_int_equal(hash_next(&table, hash_number(i), &at), HASH_NONE);
	}
	hash_free(&table);
}

/* All of the same hash: each is offered once, in the order in which they came. */
static void equal_hashes_are_offered_in_order(void **state)
{
	struct hash table = {0};
	size_t at = 0;

	(void)state;
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
static void the_end_goes_on_at_the_beginning(void **state)
{
	struct hash table = {0};
	size_t at = 0;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(hash_add(&table, UINT32_MAX, i), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(hash_next(&table, UINT32_MAX, &at), i);
	assert_int_equal(hash_next(&table, UINT32_MAX, &at), HASH_NONE);
	hash_free(&table);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct hash table = {0};
	size_t at = 0;

	(void)state;
	assert_int_equal(hash_add(&table, 1, 5), 0);
	assert_int_equal(hash_reserve(&table, SIZE_MAX), -TACT_E_NOMEM);
	assert_int_equal(hash_reserve(&table, SIZE_MAX / 64), -TACT_E_NOMEM);
	assert_int_equal(hash_next(&table, 1, &at), 5);
	hash_free(&table);
}

static void room_that_was_made_is_kept(void **state)
{
	struct hash table = {0};
	const struct hash_slot *slots;

	(void)state;
	assert_int_equal(hash_reserve(&table, 1000), 0);
	slots = table.slots;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(hash_add(&table, hash_number(i), i), 0);
	assert_ptr_equal(table.slots, slots);
	hash_free(&table);
}

static void bytes_depend_on_every_byte(void **state)
{
	uint8_t data[40] = {0};

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_finds_nothing),
		cmocka_unit_test(entries_are_found_while_it_grows),
		cmocka_unit_test(equal_hashes_are_offered_in_order),
		cmocka_unit_test(the_end_goes_on_at_the_beginning),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(room_that_was_made_is_kept),
		cmocka_unit_test(bytes_depend_on_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
