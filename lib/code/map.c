/* SPDX-License-Identifier: MIT */
#include "code/map.h"

#include <stdlib.h>

#include "base/base.h"
#include "code/transfers.h"

int code_map_create(struct code_map *map, const struct tact_isa *isa, const uint8_t *code,
		    size_t size)
{
	*map = (struct code_map){.isa = isa, .code = code, .size = size};
	if (size >= CODE_NONE)
		return -TACT_E_LIMIT;
	map->marks = calloc(size + 1, 1);
	return map->marks ? 0 : -TACT_E_NOMEM;
}

void code_map_destroy(struct code_map *map)
{
	FREE_ALL(map->transfers, map->marks);
	*map = (struct code_map){0};
}

static bool ends_block(const struct code_map *map, const struct isa_step *step)
{
	if (step->flow == TACT_FLOW_NEXT)
		return false;
	return map->calls_end || !code_comes_back((enum tact_flow)step->flow);
}

bool code_map_note(struct code_map *map, size_t at, const struct isa_step *step)
{
	const bool ends = ends_block(map, step);

	map->marks[at] |=
		(uint8_t)(step->length | (ends ? CODE_END : 0) | (step->is_valid ? 0 : CODE_BAD));
	return ends;
}

bool code_map_target(const struct code_map *map, size_t at, const struct isa_step *step,
		     int64_t *target)
{
	if (!step->is_direct || (map->is_relocatable && step->may_be_relocated))
		return false;
	*target = (int64_t)at + step->target;
	return true;
}

static bool is_inside(const struct code_map *map, int64_t offset)
{
	return offset >= 0 && offset < (int64_t)map->size;
}

/* The transfer at the end of a block. */
static struct code_transfer transfer_of(const struct code_map *map, size_t at,
					const struct isa_step *step)
{
	struct code_transfer t = {(uint32_t)at, CODE_NONE, step->flow, !step->is_valid};
	int64_t target;

	if ((step->flow == TACT_FLOW_BRANCH || step->flow == TACT_FLOW_JUMP) &&
	    code_map_target(map, at, step, &target) && is_inside(map, target))
		t.target = (uint32_t)target;
	return t;
}

int code_map_sweep(struct code_map *map, size_t begin, size_t end)
{
	const struct isa_step *step;
	struct code_walk walk;

	map->marks[begin] |= CODE_LEADER;
	code_walk_init(&walk, map->isa, map->code + begin, end - begin);
	while ((step = code_walk_next(&walk))) {
		const size_t at = begin + walk.at;
		int64_t target;

		if (!code_map_note(map, at, step))
			continue;
		map->marks[at + step->length] |= CODE_LEADER;
		if (code_map_target(map, at, step, &target) && is_inside(map, target))
			map->marks[target] |= CODE_LEADER;
		if (tact_grow(&map->transfers, &map->capacity, map->n_transfers + 1,
			      sizeof(*map->transfers)))
			return -TACT_E_NOMEM;
		map->transfers[map->n_transfers++] = transfer_of(map, at, step);
	}
	return 0;
}

/* Follows a block from its beginning.  Returns false if it runs into bytes that are not code. */
static bool follow(const struct code_map *map, size_t end, struct code_block *block)
{
	size_t at = block->begin;

	for (;;) {
		const uint8_t here = map->marks[at];

		block->last = (uint32_t)at;
		block->n_insns++;
		at += here & CODE_LENGTH;
		block->end = (uint32_t)at;
		if (here & CODE_END || at >= end)
			return true;
		if (!(map->marks[at] & CODE_LENGTH))
			return false;
		if (map->marks[at] & CODE_LEADER)
			return true;
	}
}

/* Finds the first transfer that is not before an offset, if they are in order. */
static size_t first_transfer(const struct code_map *map, size_t offset)
{
	size_t low = 0, high = map->n_transfers;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (map->transfers[middle].at < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Tells what the last instruction does, if it ends the block; *next is the transfer to look at. */
static void fill_transfer(const struct code_map *map, struct code_block *block, size_t *next)
{
	struct code_transfer t;
	struct isa_step step;

	if (!(map->marks[block->last] & CODE_END))
		return;
	if (*next < map->n_transfers && map->transfers[*next].at == block->last) {
		t = map->transfers[(*next)++];
	} else {
		map->isa->scan(&step, 1, map->code + block->last, block->end - block->last);
		t = transfer_of(map, block->last, &step);
	}
	block->flow = t.flow;
	block->is_bad = t.is_bad;
	block->target = t.target;
}

int code_map_cut(const struct code_map *map, size_t begin, size_t end, struct code_blocks *blocks)
{
	size_t next = first_transfer(map, begin);

	for (size_t at = begin, after; at < end; at = after) {
		struct code_block block = {.begin = (uint32_t)at, .target = CODE_NONE};

		after = at + 1;
		if (!(map->marks[at] & CODE_LEADER) || !(map->marks[at] & CODE_LENGTH) ||
		    !follow(map, end, &block))
			continue;
		fill_transfer(map, &block, &next);
		if (tact_grow(&blocks->items, &blocks->capacity, blocks->n + 1,
			      sizeof(*blocks->items)))
			return -TACT_E_NOMEM;
		blocks->items[blocks->n++] = block;
		if (!map->may_overlap)
			after = block.end;
	}
	return 0;
}

uint32_t code_blocks_find(const struct code_blocks *blocks, size_t offset)
{
	size_t low = 0, high = blocks->n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (blocks->items[middle].begin <= offset)
			low = middle;
		else
			high = middle;
	}
	if (!blocks->n || offset < blocks->items[low].begin || offset >= blocks->items[low].end)
		return CODE_NONE;
	return (uint32_t)low;
}
