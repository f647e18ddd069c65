/* SPDX-License-Identifier: MIT
 *
 * All basic blocks of an ELF file: recursive descent from where code is known to begin (entry,
 * symbols, unwind tables), along branches and calls; then from what is left in between, except
 * padding: code that is reached only through jump tables and pointers.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "code/code.h"
#include "code/transfers.h"

/* What is known about a byte: an instruction begins here, covers it, or cannot begin here. */
enum { IS_TAKEN = CODE_LENGTH | CODE_INNER, IS_KNOWN = IS_TAKEN | CODE_BAD };

struct place {
	size_t section, offset;
};

struct descent {
	const struct obj_file *obj;
	struct code_map *maps; /* owned: one for each section; leaders are or were on the stack */
	struct place *stack;   /* owned: where to continue */
	size_t n_stack, capacity;
	uint64_t n_bad;
};

static int push(struct descent *d, size_t section, uint64_t offset)
{
	struct code_map *map = &d->maps[section];

	if (offset >= map->size || map->marks[offset] & CODE_LEADER)
		return 0;
	if (tact_grow(&d->stack, &d->capacity, d->n_stack + 1, sizeof(*d->stack)))
		return -TACT_E_NOMEM;
	map->marks[offset] |= CODE_LEADER;
	d->stack[d->n_stack++] = (struct place){section, (size_t)offset};
	return 0;
}

/* Returns an address of the file as a whole; objects have none. */
static int push_address(struct descent *d, uint64_t address)
{
	const struct obj_file *obj = d->obj;

	for (size_t i = 0; i < obj->n_sections && obj->type != OBJ_RELOCATABLE; i++)
		if (address - obj->sections[i].address < obj->sections[i].size)
			return push(d, i, address - obj->sections[i].address);
	return 0;
}

static int push_target(struct descent *d, size_t section, size_t at, const struct isa_step *step)
{
	const struct code_map *map = &d->maps[section];
	int64_t target;

	if (!code_map_target(map, at, step, &target))
		return 0;
	if ((uint64_t)target < map->size)
		return push(d, section, (uint64_t)target);
	return push_address(d, d->obj->sections[section].address + (uint64_t)target);
}

/* Returns whether the bytes belong to instructions that are known. */
static bool is_taken(const uint8_t *marks, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (marks[i] & IS_TAKEN)
			return true;
	return false;
}

/* Notes one instruction; a guess gives way to what is known.  Returns its length, 0 if there is
 * none, or < 0.
 */
static int take_insn(struct descent *d, size_t section, size_t at, bool is_guess,
		     enum tact_flow *flow)
{
	struct code_map *map = &d->maps[section];
	struct isa_step step;

	map->isa->scan(&step, 1, map->code + at, map->size - at);
	if (!step.is_valid || (is_guess && is_taken(map->marks + at, step.length))) {
		if (!(map->marks[at] & CODE_BAD))
			d->n_bad++;
		map->marks[at] |= CODE_BAD;
		return 0;
	}
	*flow = (enum tact_flow)step.flow;
	code_map_note(map, at, &step);
	for (unsigned i = 1; i < step.length; i++)
		map->marks[at + i] |= CODE_INNER;
	return push_target(d, section, at, &step) ? -TACT_E_NOMEM : step.length;
}

/* Continues straight from a place, to where the code ends or is known. */
static int follow(struct descent *d, size_t section, size_t at, bool is_guess)
{
	const struct code_map *map = &d->maps[section];

	while (at < map->size && !(map->marks[at] & (CODE_LENGTH | CODE_BAD))) {
		enum tact_flow flow = TACT_FLOW_STOP;
		const int length = take_insn(d, section, at, is_guess, &flow);

		if (length <= 0)
			return length;
		at += (size_t)length;
		if (!code_goes_on(flow))
			return 0;
		if (flow != TACT_FLOW_NEXT && at < map->size && push(d, section, at))
			return -TACT_E_NOMEM;
	}
	return 0;
}

static int drain(struct descent *d)
{
	int status = 0;

	while (d->n_stack && !status) {
		const struct place p = d->stack[--d->n_stack];

		status = follow(d, p.section, p.offset, false);
	}
	return status;
}

/* ---- where code begins ---- */

static int push_headers(struct descent *d)
{
	struct obj_unwind unwind;
	Elf64_Ehdr header;
	int status;

	memcpy(&header, d->obj->image, sizeof(header)); /* obj_open has checked that it is there */
	status = header.e_entry ? push_address(d, header.e_entry) : 0;
	if (!obj_unwind_open(&unwind, d->obj))
		return status;
	for (size_t i = 0; i < unwind.n && !status; i++)
		status = push_address(d, obj_unwind_begin(&unwind, i));
	return status;
}

static int push_symbols(struct descent *d)
{
	int status = 0;

	for (size_t i = 0; i < d->obj->n_symbols && !status; i++)
		status = push(d, d->obj->symbols[i].section, d->obj->symbols[i].offset);
	return status;
}

/* ---- what is left ---- */

/* Finds where padding ends: zeros, and instructions that compilers pad with. */
static size_t skip_padding(const struct code_map *map, size_t at)
{
	struct isa_step step;

	while (at < map->size && !(map->marks[at] & IS_TAKEN)) {
		step.length = 1;
		if (map->code[at]) {
			map->isa->scan(&step, 1, map->code + at, map->size - at);
			if (!step.is_padding)
				return at;
		}
		at += step.length;
	}
	return at;
}

static int fill_gaps(struct descent *d, size_t section)
{
	const struct code_map *map = &d->maps[section];
	size_t at = 0;
	int status = 0;

	while (at < map->size && !status) {
		if (map->marks[at] & IS_KNOWN) {
			at++;
			continue;
		}
		at = skip_padding(map, at);
		if (at >= map->size || map->marks[at] & IS_KNOWN)
			continue;
		map->marks[at] |= CODE_LEADER;
		status = follow(d, section, at, true);
		if (!status)
			status = drain(d);
	}
	return status;
}

/* ---- blocks ---- */

static int make_maps(struct descent *d)
{
	const struct obj_file *obj = d->obj;
	int status = 0;

	d->maps = calloc(obj->n_sections + 1, sizeof(*d->maps));
	if (!d->maps)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < obj->n_sections && !status; i++) {
		status = code_map_create(&d->maps[i], code_isa_of(obj), obj->sections[i].data,
					 obj->sections[i].size);
		d->maps[i].calls_end = d->maps[i].may_overlap = true;
		d->maps[i].is_relocatable = obj->type == OBJ_RELOCATABLE;
	}
	return status;
}

static int visit_blocks(const struct descent *d, size_t section, struct code_blocks *blocks,
			int (*visit)(void *self, size_t section, const struct code_block *block),
			void *self)
{
	int status;

	blocks->n = 0;
	status = code_map_cut(&d->maps[section], 0, d->maps[section].size, blocks);
	for (size_t i = 0; i < blocks->n && !status; i++)
		status = visit(self, section, &blocks->items[i]);
	return status;
}

int code_recover_blocks(const struct obj_file *obj,
			int (*visit)(void *self, size_t section, const struct code_block *block),
			void *self, uint64_t *n_bad)
{
	struct descent d = {.obj = obj};
	struct code_blocks blocks = {0};
	int status = make_maps(&d);

	if (!status)
		status = push_headers(&d);
	if (!status)
		status = push_symbols(&d);
	if (!status)
		status = drain(&d);
	for (size_t i = 0; i < obj->n_sections && !status; i++)
		status = fill_gaps(&d, i);
	for (size_t i = 0; i < obj->n_sections && !status; i++)
		status = visit_blocks(&d, i, &blocks, visit, self);
	*n_bad = d.n_bad;
	for (size_t i = 0; d.maps && i < obj->n_sections; i++)
		code_map_destroy(&d.maps[i]);
	FREE_ALL(d.maps, d.stack, blocks.items);
	return status;
}
