/* SPDX-License-Identifier: MIT
 *
 * Errors, and pools: every distinct value once, in order of first use.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "gen.h"

struct gen_place gen_place;

void gen_die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "gen_tables: ");
	if (gen_place.file)
		fprintf(stderr, "%s:%u: ", gen_place.file, gen_place.line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void *gen_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		gen_die("out of memory");
	return p;
}

void gen_pool_init(struct gen_pool *p, size_t element)
{
	memset(p, 0, sizeof(*p));
	p->element = element;
	p->buckets = 1 << 18;
	p->hash = gen_alloc(p->buckets * sizeof(unsigned));
	p->list_start = gen_alloc(p->buckets * sizeof(unsigned));
	p->length = gen_alloc(p->buckets * sizeof(unsigned));
}

unsigned gen_pool_add(struct gen_pool *p, const void *list, size_t n)
{
	size_t b = hash_bytes(list, n * p->element) % p->buckets;

	for (; p->hash[b]; b = (b + 1) % p->buckets) {
		unsigned l = p->hash[b] - 1;

		if (p->length[l] == n &&
		    !memcmp(p->data + p->list_start[l] * p->element, list, n * p->element))
			return p->list_start[l];
	}
	if (p->count + n > p->capacity) {
		p->capacity = (p->count + n) * 2;
		p->data = realloc(p->data, p->capacity * p->element);
		if (!p->data)
			gen_die("out of memory");
	}
	memcpy(p->data + p->count * p->element, list, n * p->element);
	if (p->lists + 1 >= p->buckets)
		gen_die("too many distinct lists");
	p->list_start[p->lists] = (unsigned)p->count;
	p->length[p->lists] = (unsigned)n;
	p->hash[b] = (unsigned)++p->lists;
	p->count += n;
	return p->list_start[p->lists - 1];
}
