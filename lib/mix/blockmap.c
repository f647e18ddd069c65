/* SPDX-License-Identifier: MIT
 *
 * Basic blocks of a file's code, as far as it was seen to run: a linear sweep over functions that
 * starts anew at each branch target that was seen, cut at targets, and behind all that branches,
 * calls and returns.
 *
 * Calls end a block, as they end a stream of the branch stack.
 */
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"
#include "code/cfg.h"

/* Code that is decoded from its beginning to its end. */
struct part {
	uint32_t begin, end;
};

struct sweep {
	struct mix_module *module;
	struct mix_code *code;
	uint32_t *starts; /* of functions; sorted */
	size_t n_starts, starts_capacity;
	uint32_t *syncs; /* offsets where decoding starts anew; sorted */
	size_t n, capacity;
	struct part *parts;
	size_t n_parts, parts_capacity;
	size_t base; /* of the part that is walked */
};

/* Prefixes do not change what an opcode does to the flow. */
static size_t skip_prefixes(const uint8_t *p, size_t size)
{
	size_t i = 0;

	while (i < size && (p[i] == 0x66 || p[i] == 0x67 || p[i] == 0xf2 || p[i] == 0xf3 ||
			    p[i] == 0x2e || p[i] == 0x36 || p[i] == 0x3e || p[i] == 0x26 ||
			    p[i] == 0x64 || p[i] == 0x65 || p[i] == 0xf0 || (p[i] & 0xf0) == 0x40))
		i++;
	return i;
}

/* cfg knows jumps and direct calls; calls through pointers and ways into the kernel are told by
 * their opcodes (Intel SDM, volume 2, appendix A): ff /2, ff /3, syscall, sysenter, int.
 */
static bool leaves_and_returns(const uint8_t *p, size_t size, const struct cfg_insn *insn)
{
	size_t i;

	if (insn->is_call)
		return true;
	if (insn->flow != CFG_NEXT || size < 2)
		return false;
	i = skip_prefixes(p, size);
	if (i + 1 >= size)
		return false;
	if (p[i] == 0xff)
		return (p[i + 1] >> 3 & 7) == 2 || (p[i + 1] >> 3 & 7) == 3;
	if (p[i] == 0x0f)
		return p[i + 1] == 0x05 || p[i + 1] == 0x34;
	return p[i] == 0xcd;
}

static enum mix_flow flow_of(const uint8_t *p, const struct cfg_insn *insn)
{
	if (leaves_and_returns(p, insn->length, insn))
		return MIX_FLOW_CALL;
	switch (insn->flow) {
	case CFG_NEXT:
		return MIX_FLOW_NEXT;
	case CFG_BRANCH:
		return MIX_FLOW_BRANCH;
	case CFG_BAD:
		return MIX_FLOW_BAD;
	default:
		return MIX_FLOW_JUMP;
	}
}

/* ---- where decoding starts ---- */

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

/* Number of the last one that is not above a value; the first is not above any. */
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

/* Parts of a function, cut where decoding starts anew. */
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

/* Marks the functions that hold any of the code. */
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

/* Only functions that were touched: of a large program most never run. */
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

/* ---- marks ---- */

static int mark(void *self, size_t offset, const struct cfg_insn *insn)
{
	struct sweep *s = self;
	uint8_t *marks = s->code->marks;
	size_t at = s->base + offset;
	enum mix_flow flow = flow_of(s->code->data + at, insn);

	marks[at] |= MARK_START;
	if (flow != MIX_FLOW_NEXT)
		marks[at + insn->length] |= MARK_LEADER;
	if (insn->target >= 0 || s->base) {
		int64_t target = insn->target + (int64_t)s->base;

		if ((insn->flow == CFG_BRANCH || insn->flow == CFG_JUMP || insn->is_call) &&
		    target >= 0 && target < (int64_t)s->code->size)
			marks[target] |= MARK_LEADER;
	}
	return 0;
}

/* ---- blocks ---- */

struct cutter {
	struct sweep *s;
	struct mix_block block; /* being made */
	size_t end;		/* of the last instruction */
	bool is_open;
};

static int close_block(struct cutter *c, size_t end)
{
	struct mix_code *code = c->s->code;

	if (!c->is_open)
		return 0;
	c->is_open = false;
	c->block.end = (uint32_t)end;
	if (tact_grow(&code->blocks, &code->blocks_capacity, code->n_blocks + 1,
		      sizeof(*code->blocks)))
		return -TACT_E_NOMEM;
	code->blocks[code->n_blocks++] = c->block;
	return 0;
}

static int cut(void *self, size_t offset, const struct cfg_insn *insn)
{
	struct cutter *c = self;
	struct mix_code *code = c->s->code;
	size_t at = c->s->base + offset;
	int64_t target = insn->target + (int64_t)c->s->base;

	/* A gap: a function that never ran. */
	if (c->is_open && (code->marks[at] & MARK_LEADER || at != c->end) && close_block(c, c->end))
		return -TACT_E_NOMEM;
	c->end = at + insn->length;
	if (!c->is_open) {
		c->block = (struct mix_block){.begin = (uint32_t)at, .target = MIX_NONE};
		c->is_open = true;
	}
	c->block.length++;
	c->block.last = (uint32_t)at;
	c->block.flow = (uint8_t)flow_of(code->data + at, insn);
	if ((c->block.flow == MIX_FLOW_BRANCH || c->block.flow == MIX_FLOW_JUMP) &&
	    insn->flow != CFG_STOP && target >= 0 && target < (int64_t)code->size)
		c->block.target = (uint32_t)target;
	return c->block.flow == MIX_FLOW_NEXT ? 0 : close_block(c, at + insn->length);
}

/* Calls visit for all instructions, part by part. */
static int walk(struct sweep *s, int (*visit)(void *, size_t, const struct cfg_insn *), void *self)
{
	int status = 0;

	for (size_t i = 0; i < s->n_parts && !status; i++) {
		s->base = s->parts[i].begin;
		status = cfg_walk(s->code->data + s->base, s->parts[i].end - s->base, false, visit,
				  self);
	}
	return status;
}

static int build(struct mix_module *module, struct mix_code *code)
{
	struct sweep s = {.module = module, .code = code};
	struct cutter c = {.s = &s};
	int status;

	code->marks = calloc(code->size + 16, 1);
	if (!code->marks)
		return -TACT_E_NOMEM;
	status = find_parts(&s);
	if (!status)
		status = walk(&s, mark, &s);
	for (size_t i = 0; i < s.n_parts && !status; i++)
		code->marks[s.parts[i].begin] |= MARK_LEADER;
	if (!status)
		status = walk(&s, cut, &c);
	if (!status)
		status = close_block(&c, c.end);
	free(s.starts);
	free(s.syncs);
	free(s.parts);
	return status;
}

int mix_blockmap_build(struct mix_module *module)
{
	int status = 0;

	for (size_t i = 0; i < module->n_codes && !status; i++)
		if (!module->codes[i].marks)
			status = build(module, &module->codes[i]);
	return status;
}

uint32_t mix_blockmap_find(const struct mix_code *code, uint32_t offset)
{
	size_t low = 0, high = code->n_blocks;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (code->blocks[middle].begin <= offset)
			low = middle;
		else
			high = middle;
	}
	if (!code->n_blocks || offset < code->blocks[low].begin || offset >= code->blocks[low].end)
		return MIX_NONE;
	return (uint32_t)low;
}
