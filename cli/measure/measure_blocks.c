/* SPDX-License-Identifier: MIT
 *
 * The blocks that `tact measure` works on.  All blocks are read first, so that their number is
 * known; measuring takes so much longer that the delay does not matter.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "common/cli.h"
#include "measurer.h"

static char *put_copy(char **p, const char *data, size_t size)
{
	char *copy = *p;

	if (size) /* a line that is not a block has no code */
		memcpy(copy, data, size);
	copy[size] = '\0';
	*p += size + 1;
	return copy;
}

static void add(struct measure_list *list, const struct source_block *from)
{
	const struct tact_region *r = &from->region;
	const char *why = from->status < 0 ? from->diag.text : "";
	size_t code_size = from->status < 0 ? 0 : r->code_size;
	size_t room = code_size + r->text_size + strlen(r->name) + strlen(r->function) +
		      strlen(r->source) + strlen(why) + 6;
	struct measure_block *block;
	char *p;

	if (list->n == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->block = cli_realloc(list->block, list->capacity * sizeof(*list->block));
	}
	list->n_moving += r->moving != 0;
	block = &list->block[list->n++];
	p = cli_alloc(room);
	*block = (struct measure_block){
		.path = from->path,
		.line = r->line,
		.address = r->address,
		.memory = p,
		.code_size = code_size,
		.is_loop = r->is_loop,
		.alignment = r->alignment,
	};
	block->code = (const uint8_t *)put_copy(&p, (const char *)r->code, code_size);
	block->text = put_copy(&p, r->text, r->text_size);
	block->name = put_copy(&p, r->name, strlen(r->name));
	block->function = put_copy(&p, r->function, strlen(r->function));
	block->source = put_copy(&p, r->source, strlen(r->source));
	block->why = put_copy(&p, why, strlen(why));
}

void measure_list_read(struct measure_list *list, const struct measurer *p)
{
	struct source source;
	struct source_block block = {0};
	struct text err = {0};

	source_init(&source, &p->source, p->is_quiet);
	while (source_next(&source, &block)) {
		if (block.status == -TACT_E_NOMEM)
			cli_out_of_memory();
		if (block.status < 0) {
			source_complain(&err, &block, block.diag.text);
			text_to_stderr(&err);
		}
		list->is_unable |= block.status == -TACT_E_NO_TOOL;
		if (block.is_input)
			list->n_failed++;
		else
			add(list, &block);
	}
	text_free(&err);
	source_fini(&source);
}

void measure_list_fini(struct measure_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!list->block[i].is_copy)
			free(list->block[i].memory);
	free(list->block);
	*list = (struct measure_list){0};
}

void measure_list_place(struct measure_list *list, const struct measurer *p)
{
	enum { ALL = 64 };
	struct measure_block *all;

	/* A store has one row for a block, wherever it was: blocks begin a line unless told. */
	if (p->is_alignment_given || p->is_store)
		for (size_t i = 0; i < list->n; i++)
			list->block[i].alignment = p->alignment;
	if (!p->is_all_alignments)
		return;
	all = cli_alloc(ALL * list->n * sizeof(*all));
	for (size_t i = 0; i < list->n; i++)
		for (unsigned k = 0; k < ALL; k++) {
			all[ALL * i + k] = list->block[i];
			all[ALL * i + k].alignment = k;
			all[ALL * i + k].is_copy = k;
		}
	free(list->block);
	list->block = all;
	list->n = list->capacity = ALL * list->n;
}

/* Keeps `wanted` of the blocks in their order (Knuth, vol. 2, algorithm 3.4.2 S). */
static void keep_sample(struct measure_list *list, size_t wanted, uint64_t *state)
{
	size_t kept = 0, n = list->n;

	for (size_t i = 0; i < n; i++) {
		if (random_below(state, n - i) < wanted - kept)
			list->block[kept++] = list->block[i];
		else
			free(list->block[i].memory);
	}
	list->n = kept;
}

/* The hash that assigns blocks to shards: FNV-1a, 64 bits, of the block's bytes, or of the text of a
 * line that is not a block.  doc/cluster.md promises that it stays the same, on all machines.
 */
static uint64_t hash_of(const struct measure_block *block)
{
	const char *bytes = block->why[0] ? block->text : (const char *)block->code;
	const size_t n = block->why[0] ? strlen(block->text) : block->code_size;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
	return hash;
}

static void keep_shard(struct measure_list *list, unsigned shard, unsigned n_shards)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (hash_of(&list->block[i]) % n_shards == shard)
			list->block[kept++] = list->block[i];
		else
			free(list->block[i].memory);
	}
	list->n = kept;
}

void measure_list_choose(struct measure_list *list, const struct measurer *p)
{
	const size_t n_all = list->n;
	uint64_t state = p->seed;

	if (p->n_shards)
		keep_shard(list, p->shard, p->n_shards);
	if (p->n_shards && !p->is_quiet)
		cli_message("shard %u of %u%s: %zu of %zu blocks", p->shard, p->n_shards,
			    p->is_shard_given ? "" : ", of the Slurm array", list->n, n_all);

	if (p->sample && p->sample < list->n)
		keep_sample(list, p->sample, &state);
	for (size_t i = list->n; p->is_shuffled && i > 1; i--) {
		size_t k = random_below(&state, i);
		struct measure_block swap = list->block[k];

		list->block[k] = list->block[i - 1];
		list->block[i - 1] = swap;
	}
}
