/* SPDX-License-Identifier: MIT
 *
 * Page faults: a set of pages, and of groups of pages that a file fills at once.
 */
#include "trace/page_faults.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST = 1 << 12,
	MOST = 1 << 20,
	AROUND = 16 /* pages that Linux maps together: fault_around_bytes */
};

void faults_fini(struct faults *f)
{
	free(f->seen);
	memset(f, 0, sizeof(*f));
}

/* Returns where a key is, or where it would go. */
static uint64_t *place_of(const struct faults *f, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & f->mask;

	while (f->seen[at] && f->seen[at] != key)
		at = (at + 1) & f->mask;
	return &f->seen[at];
}

/* Makes room for another key.  False: there is none. */
static bool make_room(struct faults *f)
{
	struct faults larger = *f;

	if (f->seen && f->n < f->mask / 2)
		return true;
	if (f->n + 1 >= MOST / 2)
		return false;
	larger.mask = f->seen ? 2 * f->mask + 1 : FIRST - 1;
	larger.seen = calloc(larger.mask + 1, sizeof(*larger.seen));
	if (!larger.seen) {
		f->has_failed = true;
		return false;
	}
	for (size_t i = 0; f->seen && i <= f->mask; i++)
		if (f->seen[i])
			*place_of(&larger, f->seen[i]) = f->seen[i];
	free(f->seen);
	*f = larger;
	return true;
}

static bool has(const struct faults *f, uint64_t key)
{
	return *place_of(f, key) == key;
}

/* Pages have 36 bits; after a fork, a process has none of its own. */
static void find_keys(uint32_t process, uint64_t address, uint64_t *own, uint64_t *group)
{
	const uint64_t page = address / FAULTS_PAGE ^ (uint64_t)process << 40;

	*own = page << 1 | 1;
	*group = (page / AROUND + 1) << 1;
}

bool faults_has(const struct faults *f, uint32_t process, uint64_t address)
{
	uint64_t own, group;

	find_keys(process, address, &own, &group);
	return f->n + 1 >= MOST / 2 || (f->seen && (has(f, own) || has(f, group)));
}

enum fault faults_touch(struct faults *f, uint32_t process, uint64_t address, bool is_store)
{
	uint64_t own, group;

	find_keys(process, address, &own, &group);

	if (!make_room(f) || has(f, own) || (!is_store && has(f, group)))
		return FAULT_NONE;
	*place_of(f, is_store ? own : group) = is_store ? own : group;
	f->n++;
	f->count++;
	return is_store ? FAULT_FRESH : FAULT_FILE;
}
