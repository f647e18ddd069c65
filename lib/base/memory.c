/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* No struct of the interface comes near this; a size beyond it was never set. */
enum { MAX_STRUCT = 1 << 16 };

size_t tact_capacity_for(size_t capacity, size_t needed, size_t element_size)
{
	size_t wanted = capacity ? capacity : 16;

	while (wanted < needed) {
		if (wanted > SIZE_MAX / 2)
			return 0;
		wanted *= 2;
	}
	return wanted > SIZE_MAX / element_size ? 0 : wanted;
}

int tact_grow_more(void *array, size_t *capacity, size_t needed, size_t element_size)
{
	void *old, *grown;
	size_t wanted;

	wanted = tact_capacity_for(*capacity, needed, element_size);
	if (!wanted)
		return -TACT_E_NOMEM;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, wanted * element_size);
	if (!grown)
		return -TACT_E_NOMEM;
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}

int tact_new(void *made, size_t size, bool is_valid, const char *missing, struct tact_diag *diag)
{
	void *memory;

	if (!is_valid)
		return tact_fail(diag, TACT_E_INVAL, "%s", missing);
	memory = calloc(1, size);
	if (!memory)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	memcpy(made, &memory, sizeof(memory));
	return 0;
}

void tact_free_all(void *const *pointers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(pointers[i]);
}

int tact_read_options(void *to, size_t to_size, const void *from)
{
	const uint8_t *bytes = from;
	size_t size;

	memset(to, 0, to_size);
	if (!from)
		return 0;
	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size) || size > MAX_STRUCT)
		return -TACT_E_INVAL;
	for (size_t i = to_size; i < size; i++)
		if (bytes[i])
			return -TACT_E_INVAL;
	memcpy(to, from, size < to_size ? size : to_size);
	memcpy(to, &to_size, sizeof(to_size));
	return 0;
}

bool tact_can_fill(const void *out)
{
	size_t size;

	if (!out)
		return false;
	memcpy(&size, out, sizeof(size));
	return size >= sizeof(size) && size <= MAX_STRUCT;
}

int tact_fill(void *out, const void *from, size_t from_size)
{
	const size_t head = sizeof(size_t); /* the caller's size stays */
	uint8_t *bytes = out;
	size_t size, known;

	if (!tact_can_fill(out))
		return -TACT_E_INVAL;
	memcpy(&size, out, sizeof(size));
	known = size < from_size ? size : from_size;
	memcpy(bytes + head, (const uint8_t *)from + head, known - head);
	memset(bytes + known, 0, size - known);
	return 0;
}

/* Value of a hex digit plus one; 0 marks every other character. */
static const uint8_t hex_value[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

long tact_hex_decode(uint8_t *out, const char *text, size_t size, size_t *bad)
{
	unsigned all = 0;
	size_t i;

	/* The table has 0 for what is not a digit, which becomes more than a byte. */
	for (i = 0; i + 1 < size; i += 2) {
		unsigned byte = (hex_value[(uint8_t)text[i]] - 1u) << 4 |
				(hex_value[(uint8_t)text[i + 1]] - 1u);

		all |= byte;
		out[i / 2] = (uint8_t)byte;
	}
	if (all <= UINT8_MAX && i == size)
		return (long)(size / 2);
	for (i = 0; i < size && hex_value[(uint8_t)text[i]];)
		i++;
	*bad = i;
	return -1;
}
