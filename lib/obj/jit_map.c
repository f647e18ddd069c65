/* SPDX-License-Identifier: MIT
 *
 * Functions generated at run time: maps as text, and looking up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "obj/jit_map.h"

void jit_map_fini(struct jit_map *map)
{
	FREE_ALL(map->functions, map->names, map->codes);
	*map = (struct jit_map){0};
}

int jit_map_add(struct jit_map *map, const struct jit_function *function, const char *name,
		size_t name_size, const uint8_t *code)
{
	struct jit_function f = *function;

	if (!f.size || f.size > JIT_MAX_SIZE || f.address + f.size < f.address ||
	    map->n >= JIT_MAX_FUNCTIONS)
		return 0;
	name_size = name_size < JIT_MAX_NAME ? name_size : JIT_MAX_NAME;
	if (tact_grow(&map->functions, &map->capacity, map->n + 1, sizeof(*map->functions)) < 0 ||
	    tact_grow(&map->names, &map->names_capacity, map->names_size + name_size + 1, 1) < 0 ||
	    (code && tact_grow(&map->codes, &map->codes_capacity, map->codes_size + f.size, 1) < 0))
		return -TACT_E_NOMEM;
	f.name = map->names_size;
	f.has_code = code != NULL;
	f.code = map->codes_size;
	f.order = (uint32_t)map->n;
	memcpy(map->names + map->names_size, name, name_size);
	map->names[map->names_size + name_size] = '\0';
	/* A name stays on its line, and in its column. */
	for (size_t i = 0; i < name_size; i++)
		if ((unsigned char)map->names[f.name + i] < ' ')
			map->names[f.name + i] = ' ';
	map->names_size += name_size + 1;
	if (code) {
		memcpy(map->codes + map->codes_size, code, f.size);
		map->codes_size += f.size;
	}
	map->longest = f.size > map->longest ? f.size : map->longest;
	map->functions[map->n++] = f;
	map->is_sorted = false;
	return 0;
}

/* ---- text ---- */

/* Reads a hexadecimal number and the blank after it; false if there is none. */
static bool read_hex(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;
	unsigned n = 0;

	*value = 0;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (; p < end && n < 17; p++, n++) {
		const char c = *p;
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
				       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
							      : 16;

		if (digit == 16)
			break;
		*value = *value << 4 | digit;
	}
	if (!n || n > 16 || p == end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	*at = p;
	return true;
}

int jit_map_read_text(struct jit_map *map, const char *text, size_t size)
{
	const char *const last = text + size;
	int status = 0;

	for (const char *line = text, *end; line < last && !status; line = end + 1) {
		struct jit_function f = {0};
		const char *at = line;

		end = memchr(line, '\n', (size_t)(last - line));
		end = end ? end : last;
		if (read_hex(&at, end, &f.address) && read_hex(&at, end, &f.size) && at < end)
			status = jit_map_add(map, &f, at, (size_t)(end - at), NULL);
	}
	return status;
}

/* ---- files ---- */

static bool is_trusted(const struct stat *st, int64_t since)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || !st->st_uid) &&
	       st->st_mtime >= since && st->st_size > 0 && (uint64_t)st->st_size <= JIT_MAX_BYTES;
}

/* Reads all of a file, which may shrink or grow meanwhile. */
static char *read_all(int fd, size_t *size)
{
	char *data = malloc(*size + 1);
	size_t n = 0;

	while (data && n < *size) {
		ssize_t got = read(fd, data + n, *size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	*size = n;
	return data;
}

int jit_map_read_file(struct jit_map *map, const char *path, int64_t since, uint64_t *file_size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char *data = NULL;
	size_t size;
	int status = 0;

	if (file_size)
		*file_size = 0;
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && is_trusted(&st, since)) {
		size = (size_t)st.st_size;
		data = read_all(fd, &size);
		if (!data)
			status = -TACT_E_NOMEM;
		else if (jit_map_read_dump(map, (const uint8_t *)data, size) == -TACT_E_FORMAT)
			status = jit_map_read_text(map, data, size);
		if (file_size)
			*file_size = (uint64_t)st.st_size;
		status = status < 0 ? status : 1;
	}
	free(data);
	close(fd);
	return status;
}

/* ---- looking up ---- */

static int compare_functions(const void *a, const void *b)
{
	const struct jit_function *x = a, *y = b;

	return 2 * ORDER(x->address, y->address) + ORDER(x->order, y->order);
}

static void sort(struct jit_map *map)
{
	if (!map->is_sorted && map->n)
		qsort(map->functions, map->n, sizeof(*map->functions), compare_functions);
	map->is_sorted = true;
}

static bool is_same(const struct jit_map *map, const struct jit_function *f, uint64_t address,
		    const uint8_t *code, size_t size)
{
	const uint64_t at = address - f->address;
	const size_t n = f->size - at < size ? (size_t)(f->size - at) : size;

	return !code || !f->has_code || !memcmp(map->codes + f->code + at, code, n);
}

const struct jit_function *jit_map_find(struct jit_map *map, uint64_t address, const uint8_t *code,
					size_t size)
{
	const struct jit_function *found = NULL;
	size_t low = 0, high = map->n;

	sort(map);
	while (low < high) { /* the first one above the address */
		const size_t middle = low + (high - low) / 2;

		if (map->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Functions told later lie over those told before. */
	while (low-- && address - map->functions[low].address < map->longest) {
		const struct jit_function *f = &map->functions[low];

		if (address - f->address < f->size && (!found || f->order > found->order) &&
		    is_same(map, f, address, code, size))
			found = f;
	}
	return found;
}
