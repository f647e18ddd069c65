/* SPDX-License-Identifier: MIT
 *
 * Dumps of code generated at run time, as JITs write them for perf.  The format is documented with
 * Linux (tools/perf/Documentation/jitdump-specification.txt): a header of 40 bytes, then records
 * that begin with their type, size and time.
 */
#include <string.h>

#include "base/base.h"
#include "obj/jit_map.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	VERSION = 1,
	HEADER = 40,
	RECORD = 16,   /* what all records begin with */
	CODE_LOAD = 0, /* record types */
	CODE_MOVE = 1,
	LOAD_FIXED = 56, /* bytes before the name of a function */
	MOVE_FIXED = 64,
	MOST_STEPS = 1 << 27 /* in search of code that was moved: more is an attack */
};

struct dump {
	const uint8_t *data;
	size_t size;
	bool is_swapped; /* the other byte order */
	uint32_t steps;	 /* in search of code that was moved */
};

static uint32_t get32(const struct dump *d, size_t at)
{
	uint32_t v;

	memcpy(&v, d->data + at, sizeof(v));
	return d->is_swapped ? __builtin_bswap32(v) : v;
}

static uint64_t get64(const struct dump *d, size_t at)
{
	uint64_t v;

	memcpy(&v, d->data + at, sizeof(v));
	return d->is_swapped ? __builtin_bswap64(v) : v;
}

/* A function: pid, tid, vma, address, size and index, then its name and its bytes. */
static int read_load(struct jit_map *map, const struct dump *d, size_t at, size_t size)
{
	const struct jit_function f = {
		.address = get64(d, at + 32), .size = get64(d, at + 40), .time = get64(d, at + 8)};
	const char *name = (const char *)d->data + at + LOAD_FIXED;
	const char *end = memchr(name, '\0', size - LOAD_FIXED);
	const size_t left = end ? (size_t)(d->data + at + size - (const uint8_t *)end) - 1 : 0;

	if (!end || f.size > left)
		return 0;
	return jit_map_add(map, &f, name, (size_t)(end - name), (const uint8_t *)end + 1);
}

/* The same code, now elsewhere: pid, tid, vma, old and new address, size and index. */
static int read_move(struct jit_map *map, struct dump *d, size_t at)
{
	const uint64_t from = get64(d, at + 32), size = get64(d, at + 48);
	const struct jit_function f = {
		.address = get64(d, at + 40), .size = size, .time = get64(d, at + 8)};

	for (size_t i = map->n; i-- > 0 && d->steps < MOST_STEPS; d->steps++) {
		const struct jit_function *old = &map->functions[i];
		char name[JIT_MAX_NAME + 1];
		size_t length;

		if (old->address != from || old->size != size || !old->has_code)
			continue;
		length = strlen(jit_map_name(map, old));
		memcpy(name, jit_map_name(map, old), length);
		/* Room first: what it copies may move. */
		if (tact_grow(&map->codes, &map->codes_capacity, map->codes_size + size, 1) < 0)
			return -TACT_E_NOMEM;
		return jit_map_add(map, &f, name, length, map->codes + map->functions[i].code);
	}
	return 0;
}

int jit_map_read_dump(struct jit_map *map, const uint8_t *data, size_t size)
{
	struct dump d = {.data = data, .size = size};
	size_t at, record;
	int status = 0;

	if (size < HEADER)
		return -TACT_E_FORMAT;
	d.is_swapped = get32(&d, 0) == __builtin_bswap32(MAGIC);
	if (get32(&d, 0) != MAGIC)
		return -TACT_E_FORMAT;
	if (get32(&d, 4) != VERSION)
		return -TACT_E_VERSION;
	map->machine = get32(&d, 12);
	at = get32(&d, 8); /* of the header */
	for (; at >= HEADER && at <= size && size - at >= RECORD && !status; at += record) {
		const uint32_t type = get32(&d, at);

		record = get32(&d, at + 4);
		if (record < RECORD || record > size - at)
			break;
		if (type == CODE_LOAD && record >= LOAD_FIXED)
			status = read_load(map, &d, at, record);
		else if (type == CODE_MOVE && record >= MOVE_FIXED)
			status = read_move(map, &d, at);
	}
	return status;
}
