/* SPDX-License-Identifier: MIT
 *
 * Basic blocks of a file's code, as far as it was seen to run: a linear sweep over functions that
 * restarts at each branch target that was seen, split at targets and after all branches, calls and
 * returns.
 *
 * Calls end a block, as they end a stream of the branch stack.
 */
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"

/* Code that is decoded from its beginning to its end. */
struct part {
	uint32_t begin, end;
};

struct sweep {
	struct mix_module *module;
	struct mix_code *code;
	uint32_t *starts; /* of functions; sorted */
	size_t n_starts, starts_capacity;
	uint32_t *syncs; /* offsets where decoding restarts; sorted */
	size_t n, capacity;
	struct part *parts;
	size_t n_parts, parts_capacity;
};

static int add_offset(const struct mix_code *code, uint32_t **list, size_t *n, size_t *capacity,
		      uint64_t offset)
{
	if (offset >= code->size)
		return 0;
	if (tact_grow(list, capacity, *n + 1, sizeof(**list)))
		return -TACT_E_NOMEM;
	(*list)[(*n)++] = (uint32_t)offset;
	return 0;
}

static int add_start(struct sweep *s, uint64_t offset)
{
	return add_offset(s->code, &s->starts, &s->n_starts, &s->starts_capacity, offset);
}

static int add_sync(struct sweep *s, uint64_t offset)
{
	return add_offset(s->code, &s->syncs, &s->n, &s->capacity, offset);
}

static int compare_offsets(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int find_starts(struct sweep *s)
{
	const struct obj_file *obj = s->module->obj;
	const struct mix_kernel *kernel = s->module->kernel;
	int status = add_start(s, 0);

	for (size_t i = 0; obj && i < obj->n_functions && !status; i++)
		if (obj->functions[i].range.section == s->code->section)
			status = add_start(s, obj->functions[i].range.begin);
	for (size_t i = 0; kernel && i < mix_kernel_symbols(kernel) && !status; i++)
		status = add_start(s, mix_kernel_symbol_at(kernel, i) - s->code->address);
	if (!status)
		qsort(s->starts, s->n_starts, sizeof(*s->starts), compare_offsets);
	return status;
}

/* Returns the number of the last one that is not above a value; the first is not above any. */
static size_t last_not_above(const uint32_t *list, size_t n, uint32_t value)
{
	size_t low = 0, high = n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (list[middle] <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t end_of(const struct sweep *s, size_t function)
{
	return function + 1 < s->n_starts ? s->starts[function + 1] : (uint32_t)s->code->size;
}

static int add_part(struct sweep *s, uint32_t begin, uint32_t end)
{
	if (begin >= end)
		return 0;
	if (tact_grow(&s->parts, &s->parts_capacity, s->n_parts + 1, sizeof(*s->parts)))
		return -TACT_E_NOMEM;
	s->parts[s->n_parts++] = (struct part){begin, end};
	return 0;
}

/* Splits a function where decoding restarts. */
static int add_function(struct sweep *s, size_t function)
{
	const uint32_t end = end_of(s, function);
	uint32_t begin = s->starts[function];
	size_t i = s->n ? last_not_above(s->syncs, s->n, begin) : 0;
	int status = 0;

	for (; i < s->n && s->syncs[i] < end && !status; i++) {
		if (s->syncs[i] <= begin)
			continue;
		status = add_part(s, begin, s->syncs[i]);
		begin = s->syncs[i];
	}
	return status ? status : add_part(s, begin, end);
}

/* Marks the functions that contain any of the code. */
static void touch(const struct sweep *s, const struct mix_touched *t, uint8_t *is_touched)
{
	const uint64_t from = s->code->file_offset, last = from + s->code->size - 1;
	uint32_t begin, end;

	if (!s->code->size || t->begin > last || t->end < from || t->end < t->begin)
		return;
	begin = t->begin > from ? (uint32_t)(t->begin - from) : 0;
	end = (uint32_t)((t->end < last ? t->end : last) - from);
	for (size_t i = last_not_above(s->starts, s->n_starts, begin);
	     i < s->n_starts && s->starts[i] <= end; i++)
		is_touched[i] = 1;
}

/* Only functions that were touched: most of a large program never runs. */
static int find_parts(struct sweep *s)
{
	const struct mix_module *m = s->module;
	uint8_t *is_touched;
	int status = find_starts(s);

	for (size_t i = 0; i < m->n_leaders && !status; i++)
		status = add_sync(s, m->leaders[i] - s->code->file_offset);
	if (status)
		return status;
	if (s->n)
		qsort(s->syncs, s->n, sizeof(*s->syncs), compare_offsets);
	is_touched = calloc(s->n_starts, 1);
	if (!is_touched)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < m->n_touched; i++)
		touch(s, &m->touched[i], is_touched);
	for (size_t i = 0; i < s->n_starts && !status; i++)
		if (is_touched[i])
			status = add_function(s, i);
	free(is_touched);
	return status;
}

/* All parts are examined before any is split: one may lead into another. */
static int cut_parts(const struct sweep *s, struct code_map *map)
{
	struct mix_code *code = s->code;
	int status = 0;

	for (size_t i = 0; i < s->n_parts && !status; i++)
		status = code_map_sweep(map, s->parts[i].begin, s->parts[i].end);
	for (size_t i = 0; i < s->n_parts && !status; i++)
		status = code_map_cut(map, s->parts[i].begin, s->parts[i].end, &code->blocks);
	if (!status)
		code->profiles = calloc(code->blocks.n + 1, sizeof(*code->profiles));
	return status || code->profiles ? status : -TACT_E_NOMEM;
}

static int build(struct mix_module *module, struct mix_code *code)
{
	struct sweep s = {.module = module, .code = code};
	struct code_map map;
	int status = code_map_create(&map, code->isa, code->data, code->size);

	map.calls_end = true;
	if (!status)
		status = find_parts(&s);
	if (!status)
		status = cut_parts(&s, &map);
	code_map_destroy(&map);
	free(s.starts);
	free(s.syncs);
	free(s.parts);
	return status;
}

int mix_blockmap_build(struct mix_module *module)
{
	int status = 0;

	for (size_t i = 0; i < module->n_codes && !status; i++)
		if (!module->codes[i].profiles)
			status = build(module, &module->codes[i]);
	return status;
}
