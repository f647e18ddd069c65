/* SPDX-License-Identifier: MIT
 *
 * Tables that are read at random: zeroed, aligned to cache lines, in large pages if there are any.
 * base.h declares them; chosen sizes, not measured ones.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

enum {
	CACHE_LINE = 64,
	MAPPED = 1 << 18, /* bytes from which on a table is mapped: unused pages take no memory */
	LARGE_PAGE = 1 << 21 /* bytes; those of other sizes are not given without being asked for */
};

void *tact_table_create(size_t n, size_t element_size)
{
	void *table;
	size_t bytes;

	if (__builtin_mul_overflow(n, element_size, &bytes) || bytes > SIZE_MAX - CACHE_LINE)
		return NULL;
	if (bytes < MAPPED) {
		bytes = (bytes / CACHE_LINE + 1) * CACHE_LINE;
		table = aligned_alloc(CACHE_LINE, bytes);
		return table ? memset(table, 0, bytes) : NULL;
	}
	table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return NULL;
	if (bytes >= LARGE_PAGE)
		(void)madvise(table, bytes, MADV_HUGEPAGE); /* a kernel may have none */
	return table;
}

void tact_table_destroy(void *table, size_t n, size_t element_size)
{
	if (table && n * element_size >= MAPPED)
		munmap(table, n * element_size);
	else
		free(table);
}

int tact_table_grow(void *array, size_t *capacity, size_t needed, size_t element_size)
{
	void *old, *grown;
	size_t wanted;

	if (needed <= *capacity)
		return 0;
	wanted = tact_capacity_for(*capacity, needed, element_size);
	grown = wanted ? tact_table_create(wanted, element_size) : NULL;
	if (!grown)
		return -TACT_E_NOMEM;
	memcpy(&old, array, sizeof(old));
	if (old)
		memcpy(grown, old, *capacity * element_size);
	tact_table_destroy(old, *capacity, element_size);
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
