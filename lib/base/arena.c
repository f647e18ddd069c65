/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "base/base.h"

enum { CHUNK_BYTES = 1 << 16 };

struct tact_arena_chunk {
	struct tact_arena_chunk *next;
	max_align_t data[];
};

void *tact_arena_take(struct tact_arena *arena, size_t size)
{
	void *taken;

	size = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
	if (!arena->chunks || arena->used + size > CHUNK_BYTES) {
		struct tact_arena_chunk *chunk =
			malloc(sizeof(*chunk) + (size > CHUNK_BYTES ? size : CHUNK_BYTES));

		if (!chunk)
			return NULL;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
		arena->used = 0;
	}
	taken = (char *)arena->chunks->data + arena->used;
	arena->used += size;
	return taken;
}

void tact_arena_reset(struct tact_arena *arena)
{
	while (arena->chunks) {
		struct tact_arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
	arena->used = 0;
}
