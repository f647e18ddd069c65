/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

void profile_fini(struct profile *p)
{
	free(p->frames);
	hash_free(&p->index);
	tact_arena_reset(&p->memory);
}

const char *profile_keep(struct profile *p, const char *string)
{
	const size_t size = strlen(string) + 1;
	char *copy = tact_arena_take(&p->memory, size);

	return copy ? memcpy(copy, string, size) : NULL;
}

int profile_frame_at(struct profile *p, size_t parent, const char *name, const char *file,
		     size_t *frame)
{
	const uint64_t hash = hash_string(name) ^ hash_number(parent) ^ hash_string(file) * 31;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&p->index, hash, &at)) != HASH_NONE) {
		const struct profile_frame *f = &p->frames[i];

		if (f->parent == parent && !strcmp(f->name, name) && !strcmp(f->file, file)) {
			*frame = i;
			return 0;
		}
	}
	if (p->n >= HASH_NONE - 1 ||
	    tact_grow(&p->frames, &p->capacity, p->n + 1, sizeof(*p->frames)) ||
	    hash_add(&p->index, hash, (uint32_t)p->n))
		return -TACT_E_NOMEM;
	p->frames[p->n] = (struct profile_frame){
		.parent = parent,
		.name = name,
		.file = file,
		.depth = parent == PROFILE_ROOT ? 0 : p->frames[parent].depth + 1};
	*frame = p->n++;
	return 0;
}

void profile_sum(const struct profile *p, double *sums)
{
	for (size_t i = 0; i < p->n; i++)
		sums[i] = p->frames[i].value[0] > 0 ? p->frames[i].value[0] : 0;
	for (size_t i = p->n; i-- > 0;)
		if (p->frames[i].parent != PROFILE_ROOT)
			sums[p->frames[i].parent] += sums[i];
}
