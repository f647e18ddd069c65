/* SPDX-License-Identifier: MIT
 *
 * Where functions begin that no symbol names: by unwind information, otherwise by the code's own
 * calls; and where those begin that only a label names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "code/code.h"
#include "code/transfers.h"

static void mark_called(const struct tact_isa *isa, const uint8_t *code, size_t size,
			uint8_t *is_called)
{
	const struct isa_step *step;
	struct code_walk walk;

	code_walk_init(&walk, isa, code, size);
	while ((step = code_walk_next(&walk))) {
		const int64_t target = (int64_t)walk.at + step->target;

		if (step->flow == TACT_FLOW_CALL && step->is_direct && target > 0 &&
		    target < (int64_t)size)
			is_called[target] = 1;
	}
}

static long cut_at_calls(const struct obj_file *obj, const struct obj_range *r, size_t **starts)
{
	const size_t size = r->end - r->begin;
	uint8_t *is_called = calloc(size + 1, 1);
	size_t n = 1, i;

	if (!is_called)
		return -TACT_E_NOMEM;
	mark_called(code_isa_of(obj), obj->sections[r->section].data + r->begin, size, is_called);
	for (i = 1; i < size; i++)
		n += is_called[i];
	*starts = malloc(n * sizeof(**starts));
	if (*starts) {
		(*starts)[0] = r->begin;
		for (n = 1, i = 1; i < size; i++)
			if (is_called[i])
				(*starts)[n++] = r->begin + i;
	}
	free(is_called);
	return *starts ? (long)n : -TACT_E_NOMEM;
}

long code_cut_gap(const struct obj_file *obj, const struct obj_function *gap, size_t **starts)
{
	const long n = obj_cut_at_unwind(obj, &gap->range, starts);

	return n ? n : cut_at_calls(obj, &gap->range, starts);
}

struct functions {
	struct obj_function *items; /* owned */
	size_t n, capacity;
};

/* Adds one function of the file, cut into pieces if it has no name. */
static int add_pieces(struct functions *f, const struct obj_file *obj,
		      const struct obj_function *fn)
{
	size_t whole = fn->range.begin, *starts = &whole;
	const long n = *fn->name ? 1 : code_cut_gap(obj, fn, &starts);
	int status = n < 0 ? (int)n : 0;

	if (!status)
		status = tact_grow(&f->items, &f->capacity, f->n + (size_t)n, sizeof(*f->items));
	for (long i = 0; i < n && !status; i++) {
		const size_t end = i + 1 < n ? starts[i + 1] : fn->range.end;

		if (starts[i] < end)
			f->items[f->n++] = (struct obj_function){
				fn->name, {fn->range.section, starts[i], end}};
	}
	if (starts != &whole)
		free(starts);
	return status;
}

/* Hands the new functions to the file. */
static int replace_functions(struct obj_file *obj, struct functions *f, int status)
{
	if (status < 0) {
		free(f->items);
		return status;
	}
	free(obj->functions);
	obj->functions = f->items;
	obj->n_functions = f->n;
	obj->functions_capacity = f->capacity;
	return 0;
}

int code_cut_functions(struct obj_file *obj)
{
	struct functions f = {NULL, 0, 0};
	int status = 0;

	if (obj->type == OBJ_RELOCATABLE)
		return 0;
	for (size_t i = 0; i < obj->n_functions && !status; i++)
		status = add_pieces(&f, obj, &obj->functions[i]);
	return replace_functions(obj, &f, status);
}

/* ---- functions that only a label names ---- */

/* Some code that is to be cut. */
struct strip {
	const struct obj_file *obj;
	const struct obj_function *fn;
	const uint8_t *code;
	size_t size;
	/* Owned.  By place, how many jumps begin to cross the places from there on, less those that
	 * end to: the sum up to a place is how many lead from one side of it to the other.
	 */
	int32_t *crossings;
};

static const char *label_at(const struct strip *s, size_t at)
{
	const struct obj_range *r = &s->fn->range;
	const struct obj_symbol *symbol = obj_symbol_before(s->obj, r->section, r->begin + at);

	return symbol && symbol->offset == r->begin + at && strncmp(symbol->name, ".L", 2)
		       ? symbol->name
		       : "";
}

/* Walks over the code and stops where a piece may begin: behind an instruction that does not go on
 * to the next one, and behind padding there.  *end is where the code before it ends.
 */
static bool next_start(const struct strip *s, struct code_walk *walk, bool *is_dead, size_t *end)
{
	const struct isa_step *step;

	while ((step = code_walk_next(walk))) {
		const bool was_dead = *is_dead;

		if (was_dead && step->is_padding && !*label_at(s, walk->at))
			continue;
		*is_dead = step->is_valid && !code_goes_on((enum tact_flow)step->flow);
		if (was_dead)
			return true;
		if (*is_dead)
			*end = walk->next;
	}
	return false;
}

/* Marks where jumps lead from one piece to another.  A jump to the label of a piece is a tail call.
 */
static void find_crossings(struct strip *s, const uint8_t *is_start)
{
	const bool is_relocatable = s->obj->type == OBJ_RELOCATABLE;
	const struct isa_step *step;
	struct code_walk walk;

	code_walk_init(&walk, code_isa_of(s->obj), s->code, s->size);
	while ((step = code_walk_next(&walk))) {
		const int64_t at = (int64_t)walk.at, target = at + step->target;
		const bool is_jump = step->flow == TACT_FLOW_JUMP;

		if (!step->is_valid || !step->is_direct ||
		    (!is_jump && step->flow != TACT_FLOW_BRANCH) ||
		    (is_relocatable && step->may_be_relocated) || target < 0 ||
		    target >= (int64_t)s->size ||
		    (is_jump && is_start[target] && *label_at(s, (size_t)target)))
			continue;
		s->crossings[(target < at ? target : at) + 1]++;
		s->crossings[(target < at ? at : target) + 1]--;
	}
	for (size_t i = 1; i <= s->size; i++)
		s->crossings[i] += s->crossings[i - 1];
}

static int add_piece(struct functions *f, const struct strip *s, const char *name, size_t begin,
		     size_t end)
{
	const struct obj_range *r = &s->fn->range;

	if (begin == end)
		return 0;
	if (tact_grow(&f->items, &f->capacity, f->n + 1, sizeof(*f->items)))
		return -TACT_E_NOMEM;
	f->items[f->n++] =
		(struct obj_function){name, {r->section, r->begin + begin, r->begin + end}};
	return 0;
}

static int cut_strip(struct functions *f, struct strip *s, uint8_t *is_start)
{
	const bool needs_label = *s->fn->name || s->obj->type != OBJ_RELOCATABLE;
	const char *name = *s->fn->name ? s->fn->name : label_at(s, 0);
	size_t begin = 0, end = 0;
	struct code_walk walk;
	bool is_dead = false;
	int status = 0;

	is_start[0] = 1;
	code_walk_init(&walk, code_isa_of(s->obj), s->code, s->size);
	while (next_start(s, &walk, &is_dead, &end))
		is_start[walk.at] = 1;
	find_crossings(s, is_start);
	code_walk_init(&walk, code_isa_of(s->obj), s->code, s->size);
	for (is_dead = false; !status && next_start(s, &walk, &is_dead, &end);) {
		const char *label = label_at(s, walk.at);

		if (!s->crossings[end] && !s->crossings[walk.at] && (!needs_label || *label)) {
			status = add_piece(f, s, name, begin, end);
			if (!status)
				status = add_piece(f, s, "", end, walk.at);
			begin = walk.at;
			name = label;
		}
		if (is_dead)
			end = walk.next;
	}
	return status ? status : add_piece(f, s, name, begin, s->size);
}

/* Returns whether a symbol tells where the function ends. */
static bool has_size(const struct obj_file *obj, const struct obj_function *fn)
{
	const struct obj_symbol *symbol;

	if (!*fn->name)
		return false;
	symbol = obj_symbol_before(obj, fn->range.section, fn->range.begin);
	return symbol && symbol->offset == fn->range.begin && symbol->size;
}

static int add_labelled(struct functions *f, const struct obj_file *obj,
			const struct obj_function *fn)
{
	const struct obj_range *r = &fn->range;
	struct strip s = {.obj = obj,
			  .fn = fn,
			  .code = obj->sections[r->section].data + r->begin,
			  .size = r->end - r->begin};
	uint8_t *is_start;
	int status = -TACT_E_NOMEM;

	if (has_size(obj, fn))
		return add_piece(f, &s, fn->name, 0, s.size);
	s.crossings = calloc(s.size + 2, sizeof(*s.crossings));
	is_start = calloc(s.size + 1, 1);
	if (s.crossings && is_start)
		status = cut_strip(f, &s, is_start);
	FREE_ALL(s.crossings, is_start);
	return status;
}

int code_cut_labels(struct obj_file *obj)
{
	struct functions f = {NULL, 0, 0};
	int status = 0;

	for (size_t i = 0; i < obj->n_functions && !status; i++)
		status = add_labelled(&f, obj, &obj->functions[i]);
	return replace_functions(obj, &f, status);
}
