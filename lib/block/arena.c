/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "block/block.h"

enum { CHUNK_BYTES = 1 << 16 };

struct arena_chunk {
	struct arena_chunk *next;
	max_align_t data[];
};

void *block_arena_take(struct block_arena *arena, size_t size)
{
	void *taken;

	size = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
	if (!arena->chunks || arena->used + size > CHUNK_BYTES) {
		struct arena_chunk *chunk =
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

void block_arena_reset(struct block_arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
	arena->used = 0;
}
