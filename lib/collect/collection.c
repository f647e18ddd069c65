/* SPDX-License-Identifier: MIT
 *
 * Collections: what goes in, and how it comes out.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "trace/generated.h"

int tact_collect_create(struct tact_collect **out, const struct tact_collect_options *opt)
{
	struct tact_collect_options o;
	struct tact_collect *c;

	if (out)
		*out = NULL;
	if (!out || tact_read_options(&o, sizeof(o), opt))
		return -TACT_E_INVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -TACT_E_NOMEM;
	c->no_branch = o.no_branch;
	*out = c;
	return 0;
}

void tact_collect_destroy(struct tact_collect *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_files; i++)
		collect_file_close(&c->files[i]);
	tact_arena_reset(&c->memory);
	jit_map_fini(&c->generated);
	code_nodes_destroy(c->nodes);
	free(c->files);
	free(c->items);
	free(c);
}

static int add_item(struct tact_collect *c, const struct collect_item *item)
{
	if (tact_grow(&c->items, &c->items_capacity, c->n_items + 1, sizeof(*c->items)))
		return -TACT_E_NOMEM;
	c->items[c->n_items++] = *item;
	return 0;
}

/* ---- traces ---- */

struct counts {
	uint64_t *data; /* owned: by block number */
	size_t n, capacity;
};

static int count(struct counts *counts, uint32_t number, uint64_t n)
{
	if (number >= counts->n) {
		if (tact_grow(&counts->data, &counts->capacity, number + (size_t)1,
			      sizeof(*counts->data)))
			return -TACT_E_NOMEM;
		memset(counts->data + counts->n, 0,
		       (number + (size_t)1 - counts->n) * sizeof(*counts->data));
		counts->n = number + (size_t)1;
	}
	counts->data[number] += n;
	return 0;
}

static int add_block(struct tact_collect *c, struct tact_trace *trace,
		     const struct tact_trace_block *b, uint64_t n)
{
	struct tact_trace_module module = TACT_TRACE_MODULE_INIT;
	uint64_t place = b->address;
	uint32_t space = 0;

	if (b->module && !tact_trace_get_module(trace, b->module, &module)) {
		const int64_t file = collect_file_number(c, module.path);

		if (file < 0)
			return (int)file;
		space = (uint32_t)file + 1;
		place = b->address - module.begin + module.offset;
	}
	return code_nodes_add(c->nodes, space, place, b->code, b->code_size, n,
			      &c->summary.n_undecoded);
}

/* Keeps the names that the program has told for code of no file. */
static int name_blocks(struct tact_collect *c, struct tact_trace *trace,
		       const struct counts *counts)
{
	struct generated *names;
	int status = generated_create(&names);

	for (size_t i = 0; i < counts->n && status >= 0; i++) {
		const struct tact_trace_block *b = tact_trace_get_block(trace, (uint32_t)i);
		struct jit_function f = {0};
		const char *name;
		uint64_t begin;

		if (!counts->data[i] || b->module)
			continue;
		f.address = b->address;
		f.size = b->code_size;
		status = generated_find(names, trace, b, 0, &name, &begin);
		if (status > 0)
			status = jit_map_add(&c->generated, &f, name, strlen(name), b->code);
	}
	generated_destroy(names);
	return status < 0 ? status : 0;
}

int tact_collect_trace(struct tact_collect *c, struct tact_trace *trace, struct tact_diag *diag)
{
	struct counts counts = {0};
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	int status, added = 0;

	if (!c || !trace)
		return tact_fail(diag, TACT_E_INVAL, "a collection and a trace are needed");
	while ((status = tact_trace_next(trace, &event, diag)) > 0 && !added) {
		if (event.kind == TACT_TRACE_COUNTED)
			added = count(&counts, event.block->number, event.count);
		else if (event.kind == TACT_TRACE_EXEC)
			added = count(&counts, event.block->number, 1);
	}
	if (counts.n && !c->nodes && !added)
		added = code_nodes_create(&c->nodes, tact_trace_get_block(trace, 0)->isa);
	for (size_t i = 0; i < counts.n && !added; i++)
		if (counts.data[i])
			added = add_block(c, trace, tact_trace_get_block(trace, (uint32_t)i),
					  counts.data[i]);
	if (!added)
		added = name_blocks(c, trace, &counts);
	free(counts.data);
	if (added)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return status < 0 ? status : 0;
}

static int add_run(void *self, const struct code_run *run)
{
	struct tact_collect *c = self;
	const uint32_t transfer = c->no_branch ? run->transfer_size : 0;
	struct collect_item item = {
		.code_size = run->code_size - transfer,
		.n_insns = run->n_insns - (transfer != 0),
		.count = run->count,
		.file = run->space,
		.section = UINT32_MAX,
		.place = run->place,
	};
	uint8_t *code;

	if (!item.code_size)
		return 0;
	code = tact_arena_take(&c->memory, item.code_size);
	if (!code)
		return -TACT_E_NOMEM;
	memcpy(code, run->code, item.code_size);
	item.code = code;
	if (run->space) {
		struct collect_file *file = &c->files[run->space - 1];
		size_t section, offset;

		if (!file->is_tried)
			collect_file_open(file, NULL);
		if (file->obj && obj_locate(file->obj, run->place, &section, &offset)) {
			item.section = (uint32_t)section;
			item.place = offset;
		}
	}
	return add_item(c, &item);
}

/* ---- files ---- */

struct file_blocks {
	struct tact_collect *c;
	uint32_t file;
};

static int add_file_block(void *self, size_t section, const struct code_block *block)
{
	const struct file_blocks *f = self;
	const bool is_cut = f->c->no_branch && block->flow != TACT_FLOW_NEXT;
	const uint32_t end = is_cut ? block->last : block->end;
	const struct collect_item item = {
		.code = f->c->files[f->file].obj->sections[section].data + block->begin,
		.code_size = end - block->begin,
		.n_insns = block->n_insns - is_cut,
		.file = f->file + 1,
		.section = (uint32_t)section,
		.place = block->begin,
	};

	return item.code_size ? add_item(f->c, &item) : 0;
}

int tact_collect_file(struct tact_collect *c, const char *path, struct tact_diag *diag)
{
	struct file_blocks blocks = {.c = c};
	uint64_t n_bad = 0;
	int64_t number;
	int status;

	if (!c || !path)
		return tact_fail(diag, TACT_E_INVAL, "a collection and a file are needed");
	number = collect_file_number(c, path);
	blocks.file = (uint32_t)number;
	if (number < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = collect_file_open(&c->files[number], diag);
	if (status)
		return status;
	status = code_recover_blocks(c->files[number].obj, add_file_block, &blocks, &n_bad);
	c->summary.n_undecoded += n_bad;
	if (status == -TACT_E_LIMIT)
		return tact_fail(diag, TACT_E_LIMIT, "a section has 4 GiB of code or more");
	return status ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

/* ---- the end ---- */

static int compare_items(const void *a, const void *b)
{
	const struct collect_item *x = a, *y = b;
	const size_t n = x->code_size < y->code_size ? x->code_size : y->code_size;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (memcmp(x->code, y->code, n))
		return memcmp(x->code, y->code, n);
	return (x->code_size > y->code_size) - (x->code_size < y->code_size);
}

static void describe(struct tact_collect *c, const struct collect_item *item,
		     struct tact_collect_block *out)
{
	const struct collect_file *file = item->file ? &c->files[item->file - 1] : NULL;

	*out = (struct tact_collect_block){
		.size = sizeof(*out),
		.code = item->code,
		.code_size = item->code_size,
		.address = item->place,
		.module = file ? file->path : "",
		.function = "",
		.count = item->count,
	};
	if (!file) {
		const struct jit_function *f =
			jit_map_find(&c->generated, item->place, item->code, item->code_size);

		out->function = f ? jit_map_name(&c->generated, f) : "";
	}
	if (!file || item->section == UINT32_MAX)
		return;
	out->address += file->obj->sections[item->section].address;
	out->function = obj_function_at(file->obj, item->section, (size_t)item->place)->name;
}

int tact_collect_finish(struct tact_collect *c,
			int (*sink)(void *arg, const struct tact_collect_block *block), void *arg)
{
	struct tact_collect_block block;
	int status = 0;

	if (!c || !sink)
		return -TACT_E_INVAL;
	c->summary = (struct tact_collect_summary){.n_undecoded = c->summary.n_undecoded};
	if (c->nodes) {
		status = code_nodes_finish(c->nodes, add_run, c);
		code_nodes_destroy(c->nodes);
		c->nodes = NULL;
	}
	if (status)
		return status;
	if (c->n_items)
		qsort(c->items, c->n_items, sizeof(*c->items), compare_items);
	for (size_t i = 0; i < c->n_items && !status; i++) {
		const struct collect_item *item = &c->items[i];

		describe(c, item, &block);
		c->summary.n_blocks++;
		c->summary.n_insns += item->n_insns;
		c->summary.executed_blocks += item->count;
		c->summary.executed_insns += item->count * item->n_insns;
		status = sink(arg, &block);
	}
	return status;
}

int tact_collect_get_summary(const struct tact_collect *c, struct tact_collect_summary *out)
{
	return c ? tact_fill(out, &c->summary, sizeof(c->summary)) : -TACT_E_INVAL;
}
