/* SPDX-License-Identifier: MIT
 *
 * The code of a region: as it is in the file, or one way through it; whether it is a loop; and what
 * there is to say about both.
 *
 * Between markers, the last instruction decides: code that ends in a branch is a loop, as in uiCA
 * (uiCA.py: `unroll = not instructions[-1].isBranchInstr`).  The branch leads to the marker or to
 * code in front of it, so its target is changed to the first byte: the code then says by itself
 * what it is, wherever it is taken to.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "code/survey.h"
#include "code/transfers.h"
#include "input/reader.h"

/* A region that is being taken. */
struct taker {
	struct tact_input *in;
	const struct input_region *r;
	struct tact_region *region;
	size_t begin;		   /* where the code that is taken begins in its section */
	struct code_survey survey; /* of all its code */
	bool is_path;		   /* the code is one way, its latencies are taken */
	int status;		   /* -TACT_E_NOMEM once a remark could not be added */
};

static const uint8_t *code_of(const struct tact_input *in, const struct obj_range *range)
{
	return in->obj->sections[range->section].data + range->begin;
}

/* Adds a remark, and makes the list if there is none yet. */
#define REMARK(t, ...)                                                                             \
	do {                                                                                       \
		if (has_list(t) && tact_remarks_add((t)->in->remarks, __VA_ARGS__) < 0)            \
			(t)->status = -TACT_E_NOMEM;                                               \
	} while (0)

static bool has_list(struct taker *t)
{
	if (!t->in->remarks && tact_remarks_create(&t->in->remarks) < 0)
		t->status = -TACT_E_NOMEM;
	t->region->remarks = t->in->remarks;
	return t->in->remarks;
}

/* ---- loop or not ---- */

static bool is_jump(const struct isa_step *step)
{
	return step->is_valid && (step->flow == TACT_FLOW_BRANCH || step->flow == TACT_FLOW_JUMP);
}

/* Returns where the branch at the end leads, as an offset in the section. */
static int64_t target_of(const struct taker *t)
{
	return (int64_t)(t->r->range.begin + t->survey.last) + t->survey.ending.target;
}

static bool is_loop(const struct taker *t)
{
	const struct isa_step *end = &t->survey.ending;

	if (t->r->is_loop)
		return true;
	if (!is_jump(end))
		return false;
	if (t->r->is_chosen && t->r->naming != INPUT_NAME_RANGE)
		return true;
	/* Of a range of addresses, only one that leads back. */
	if (t->r->is_chosen)
		return end->is_direct && end->target < 0 &&
		       target_of(t) <= (int64_t)t->r->range.begin;
	return code_leads_back((enum tact_flow)end->flow, end->is_direct, end->target,
			       t->survey.last);
}

/* Between markers: says what of the loop is outside. */
static void remark_ending(struct taker *t)
{
	const struct isa_step *end = &t->survey.ending;
	const struct obj_range *range = &t->r->range;
	const struct obj_function *f = obj_function_at(t->in->obj, range->section, range->begin);
	const int64_t target = target_of(t);
	size_t n;

	if (!end->is_direct || target > (int64_t)range->begin || target < (int64_t)f->range.begin) {
		REMARK(t, "branch-assumed-back",
		       "the branch at the end leads elsewhere; it is taken for the one that closes "
		       "the loop");
		return;
	}
	n = code_count_insns(t->in->isa, t->in->obj->sections[range->section].data + target,
			     range->begin - (size_t)target);
	if (n)
		REMARK(t, "partial-loop",
		       "the loop begins %zu instruction%s before this code; %s left out", n,
		       n == 1 ? "" : "s", n == 1 ? "it is" : "they are");
}

/* ---- ways ---- */

static int add_piece(struct tact_input *in, size_t at, struct obj_range range)
{
	if (tact_grow(&in->pieces, &in->pieces_capacity, in->n_pieces + 1, sizeof(*in->pieces)))
		return -TACT_E_NOMEM;
	in->pieces[in->n_pieces++] = (struct input_piece){at, range};
	return 0;
}

static int copy_piece(struct tact_input *in, size_t *size, const uint8_t *code, size_t n)
{
	if (tact_grow(&in->code, &in->code_capacity, *size + n, 1))
		return -TACT_E_NOMEM;
	memcpy(in->code + *size, code, n);
	*size += n;
	return 0;
}

/* The last instruction of the copied code, of that length, becomes a branch to the first byte. */
static void close_loop(struct tact_input *in, size_t size, size_t length)
{
	if (in->isa->retarget)
		in->isa->retarget(in->code + size - length, length, -(int64_t)(size - length));
}

/* Adds "0x401136, 0x401140" or, for text, "lines 12, 15": where the way takes a branch. */
static size_t list_taken(struct taker *t, const struct code_paths *p, char *text, size_t room)
{
	const struct obj_range *range = &t->r->range;
	const struct obj_section *section = &t->in->obj->sections[range->section];
	const bool has_lines = t->in->kind == TACT_INPUT_ASM && !t->in->source.has_lines;
	size_t n = 0, length = 0;

	text[0] = '\0';
	for (size_t k = 0; k < p->n_blocks; k++) {
		const size_t at = range->begin + p->graph.blocks.items[p->blocks[k]].last;
		const char *file;
		int line;

		if (!code_paths_is_taken(p, k) ||
		    p->graph.blocks.items[p->blocks[k]].flow != TACT_FLOW_BRANCH)
			continue;
		if (n++ >= 4 || length + 40 > room)
			continue;
		length += (size_t)snprintf(text + length, room - length, "%s", n > 1 ? ", " : "");
		if (has_lines && obj_line_at(t->in->obj, range->section, at, &file, &line) > 0)
			length += (size_t)snprintf(text + length, room - length, "line %d", line);
		else
			length += (size_t)snprintf(text + length, room - length, "0x%" PRIx64,
						   section->address + at);
	}
	if (n > 4)
		snprintf(text + length, room - length, " and %zu more", n - 4);
	return n;
}

static void remark_path(struct taker *t, const struct code_paths *p, uint32_t i)
{
	char taken[320], all[32];
	const size_t n = list_taken(t, p, taken, sizeof(taken));

	if (p->n < 2)
		return;
	snprintf(all, sizeof(all), "%s%" PRIu32, p->n == CODE_MANY ? "more than " : "", p->n);
	if (n)
		REMARK(t, "one-path",
		       "this is path %" PRIu32 " of %s through the %s: it takes the branch%s at %s",
		       i + 1, all, p->is_loop ? "loop" : "code", n == 1 ? "" : "es", taken);
	else
		REMARK(t, "one-path",
		       "this is path %" PRIu32 " of %s through the %s: it takes no branch inside; "
		       "--path N shows another, --path all lists them",
		       i + 1, all, p->is_loop ? "loop" : "code");
}

/* Copies the code of a way.  Taken branches stay where they are: what comes after one in the copy
 * is its target.
 */
static int copy_path(struct taker *t, const struct code_paths *p)
{
	const uint8_t *code = code_of(t->in, &t->r->range);
	const struct code_block *b = NULL;
	size_t size = 0;

	for (size_t k = 0; k < p->n_blocks; k++) {
		struct obj_range range = t->r->range;

		b = &p->graph.blocks.items[p->blocks[k]];
		range.end = range.begin + b->end;
		range.begin += b->begin;
		if (input_take_latencies(t->in, range, size) ||
		    input_take_settings(t->in, range, size) || add_piece(t->in, size, range) ||
		    copy_piece(t->in, &size, code + b->begin, b->end - b->begin))
			return -TACT_E_NOMEM;
	}
	if (p->is_loop)
		close_loop(t->in, size, b->end - b->last);
	t->begin += p->graph.blocks.items[p->blocks[0]].begin;
	t->region->code = t->in->code;
	t->region->code_size = size;
	t->is_path = true;
	return 0;
}

static int create_paths(const struct tact_input *in, const struct input_region *r, bool is_loop,
			struct code_paths *paths)
{
	const struct obj_range *range = &r->range;

	return code_paths_create(paths, in->isa, code_of(in, range), range->end - range->begin,
				 in->obj->type == OBJ_RELOCATABLE, is_loop,
				 r->is_loop ? r->head - range->begin : 0);
}

/* Takes the way that was asked for, or the first.  Code without any way is taken as it is. */
static int take_path(struct taker *t)
{
	const uint32_t i = t->r->path ? t->r->path - 1 : 0;
	struct code_paths paths;
	int status = create_paths(t->in, t->r, t->region->is_loop, &paths);

	if (status < 0)
		return status == -TACT_E_LIMIT ? 0 : status;
	if (i < paths.n) {
		code_paths_take(&paths, i);
		status = copy_path(t, &paths);
		remark_path(t, &paths, i);
	}
	code_paths_destroy(&paths);
	return status;
}

int input_choose_path(struct tact_input *in, const struct input_region *region, int path,
		      struct tact_diag *diag)
{
	struct taker t = {.in = in, .r = region};
	struct input_region one = *region;
	struct code_paths paths;
	uint32_t n;
	int status;

	code_look_at(in->isa, code_of(in, &region->range), region->range.end - region->range.begin,
		     &t.survey);
	status = create_paths(in, region, is_loop(&t), &paths);
	if (status < 0)
		return tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status));
	n = paths.n;
	code_paths_destroy(&paths);
	one.n_paths = n;
	if (path > 0 && (uint32_t)path > n)
		return tact_fail(diag, TACT_E_INVAL, "there is no path %d: %" PRIu32 " found", path,
				 n);
	if (path > 0 || !n) {
		one.path = path > 0 ? (uint32_t)path : 0;
		return input_add_region(in, one, diag);
	}
	one.is_candidate = true;
	for (one.path = 1; one.path <= n && one.path <= TACT_INPUT_MAX_PATHS && status >= 0;
	     one.path++)
		status = input_add_region(in, one, diag);
	return status;
}

/* Offsets in a section of an object or of text mean something if the section is aligned: then its
 * loops and functions are, too.
 */
static void set_address(struct taker *t)
{
	enum { ALIGNED = 16 };
	const struct obj_section *section = &t->in->obj->sections[t->r->range.section];
	const uint64_t address = section->address + t->begin;

	if (t->in->kind == TACT_INPUT_ELF)
		t->region->address = address;
	if (t->in->obj->type != OBJ_RELOCATABLE || section->alignment >= ALIGNED)
		t->region->alignment = (unsigned)(address % 64);
	if (t->in->obj->type == OBJ_RELOCATABLE && section->alignment >= ALIGNED &&
	    section->alignment < 64)
		t->region->placement = (unsigned)section->alignment;
}

/* ---- remarks ---- */

/* What is left out, in the code that is taken. */
static void remark_calls(struct taker *t, const struct code_survey *s)
{
	if (s->n_calls)
		REMARK(t, "calls-excluded",
		       "%zu call%s: what the called function%s costs is not counted", s->n_calls,
		       s->n_calls == 1 ? "" : "s", s->n_calls == 1 ? "" : "s");
	if (s->n_system_calls)
		REMARK(t, "system-calls-excluded", "%zu system call%s: the kernel is not counted",
		       s->n_system_calls, s->n_system_calls == 1 ? "" : "s");
}

int input_remark_calls(struct tact_input *in, struct tact_region *region)
{
	struct taker t;

	if (in->remarks)
		tact_remarks_clear(in->remarks);
	if (in->isa->may_call && !in->isa->may_call(region->code, region->code_size))
		return 0;
	t = (struct taker){.in = in, .region = region};
	code_look_at(in->isa, region->code, region->code_size, &t.survey);
	remark_calls(&t, &t.survey);
	return t.status;
}

static void remark_jumps(struct taker *t, const struct code_survey *taken)
{
	const size_t n = t->survey.n_indirect;
	const bool is_whole = t->region->code != t->in->code;

	if (n)
		REMARK(t, "indirect-jump",
		       "%zu indirect jump%s: where %s not known; the paths have at most two places "
		       "of each that nothing else leads to%s",
		       n, n == 1 ? "" : "s", n == 1 ? "it leads is" : "they lead is",
		       taken->n_indirect < n ? ", and this one none" : "");
	if (!t->r->is_chosen || t->r->path)
		return;
	if (t->survey.n_inner_loops)
		REMARK(t, "inner-loop-once",
		       "%zu branch%s inside lead%s back: inner loops are counted as one pass",
		       t->survey.n_inner_loops, t->survey.n_inner_loops == 1 ? "" : "es",
		       t->survey.n_inner_loops == 1 ? "s" : "");
	else if (t->survey.n_branches && is_whole)
		REMARK(t, "branches-not-taken",
		       "%zu branch%s inside %s counted as not taken, and all code in order; --path "
		       "N "
		       "takes one way",
		       t->survey.n_branches, t->survey.n_branches == 1 ? "" : "es",
		       t->survey.n_branches == 1 ? "is" : "are");
}

/* Code in the body of a loop whose index moves outside of it. */
static void look_around(struct taker *t)
{
	const struct obj_file *obj = t->in->obj;
	const struct obj_range *range = &t->r->range;
	const struct obj_function *f = obj_function_at(obj, range->section, range->begin);
	const uint8_t *section = obj->sections[range->section].data;
	struct code_registers inside = {0}, outside = {0};
	struct obj_range loop;

	if (!code_loop_around(obj, &f->range, range, &loop))
		return;
	code_add_registers(t->in->isa, t->region->code, t->region->code_size, &inside);
	code_add_registers(t->in->isa, section + loop.begin, range->begin - loop.begin, &outside);
	code_add_registers(t->in->isa, section + range->end, loop.end - range->end, &outside);
	outside.written &= ~(1u << t->in->isa->registers.stack_pointer);
	t->region->moving = outside.written & (inside.in_loads | inside.in_stores);
	if (!inside.has_loads || !inside.has_stores || !t->region->moving)
		return;
	REMARK(t, "addresses-assumed-to-move",
	       "the loop around this code changes %s%s: accesses of different iterations are taken "
	       "not to meet",
	       tact_isa_reg_name(t->in->isa, (unsigned)__builtin_ctz(t->region->moving)),
	       t->region->moving & (t->region->moving - 1) ? " and others" : "");
}

int input_take_code(struct tact_input *in, const struct input_region *r, struct tact_region *region)
{
	struct taker t = {.in = in, .r = r, .region = region, .begin = r->range.begin};
	struct code_survey taken;
	bool is_own;

	tact_remarks_clear(in->remarks);
	in->n_taken = in->n_set = 0;
	in->n_pieces = 0;
	region->code = code_of(in, &r->range);
	region->code_size = r->range.end - r->range.begin;
	code_look_at(in->isa, region->code, region->code_size, &t.survey);
	region->is_loop = is_loop(&t);
	is_own = code_leads_back((enum tact_flow)t.survey.ending.flow, t.survey.ending.is_direct,
				 t.survey.ending.target, t.survey.last);
	if (r->path || (!r->is_chosen &&
			(t.survey.n_branches || t.survey.n_ends || (r->is_loop && !is_own)))) {
		t.status = take_path(&t);
	} else if (region->is_loop && !is_own) {
		size_t size = 0;

		t.status = copy_piece(in, &size, region->code, region->code_size);
		if (t.status >= 0) {
			close_loop(in, size, size - t.survey.last);
			region->code = in->code;
		}
	}
	if (t.status >= 0 && !t.is_path)
		t.status = input_take_latencies(in, r->range, 0);
	if (t.status >= 0 && !t.is_path)
		t.status = input_take_settings(in, r->range, 0);
	if (t.status >= 0 && !t.is_path)
		t.status = add_piece(in, 0, r->range);
	if (t.status >= 0 && in->isa->follow)
		t.status =
			input_setting_at(in, r->range.section, t.begin, region, &region->setting);
	if (t.status < 0)
		return t.status;
	region->settings = in->set;
	region->n_settings = in->n_set;
	region->latencies = in->taken;
	region->n_latencies = in->n_taken;
	set_address(&t);
	code_look_at(in->isa, region->code, region->code_size, &taken);
	if (region->is_loop && r->is_chosen && !is_own)
		remark_ending(&t);
	if (r->lacks_end)
		REMARK(&t, "marker-without-end",
		       "the marker has no end: all code after it is taken");
	remark_calls(&t, &taken);
	remark_jumps(&t, &taken);
	if (r->is_chosen && !region->is_loop)
		look_around(&t);
	if (r->n_paths > TACT_INPUT_MAX_PATHS && r->path == TACT_INPUT_MAX_PATHS)
		REMARK(&t, "paths-cut", "only the first %d of %s%" PRIu32 " paths are listed",
		       TACT_INPUT_MAX_PATHS, r->n_paths == CODE_MANY ? "more than " : "",
		       r->n_paths);
	return t.status;
}
