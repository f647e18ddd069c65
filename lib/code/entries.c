/* SPDX-License-Identifier: MIT
 *
 * Where functions begin that no symbol names: by unwind information, else where the code calls
 * itself.
 */
#include <stdlib.h>

#include "base/base.h"
#include "code/cfg.h"
#include "code/code.h"

struct calls {
	uint8_t *is_target;
	size_t size;
};

static int note_call(void *self, size_t offset, const struct cfg_insn *insn)
{
	const struct calls *calls = self;

	(void)offset;
	if (insn->is_call && insn->target > 0 && insn->target < (int64_t)calls->size)
		calls->is_target[insn->target] = 1;
	return 0;
}

static long cut_at_calls(const struct obj_file *obj, const struct obj_range *r, size_t **starts)
{
	struct calls calls = {NULL, r->end - r->begin};
	size_t n = 1, i;

	calls.is_target = calloc(calls.size + 1, 1);
	if (!calls.is_target)
		return -TACT_E_NOMEM;
	cfg_walk(obj->sections[r->section].data + r->begin, calls.size, false, note_call, &calls);
	for (i = 1; i < calls.size; i++)
		n += calls.is_target[i];
	*starts = malloc(n * sizeof(**starts));
	if (*starts) {
		(*starts)[0] = r->begin;
		for (n = 1, i = 1; i < calls.size; i++)
			if (calls.is_target[i])
				(*starts)[n++] = r->begin + i;
	}
	free(calls.is_target);
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

/* One function of the file, in pieces if it has no name. */
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

int code_cut_functions(struct obj_file *obj)
{
	struct functions f = {NULL, 0, 0};
	int status = 0;

	if (obj->type == OBJ_RELOCATABLE)
		return 0;
	for (size_t i = 0; i < obj->n_functions && !status; i++)
		status = add_pieces(&f, obj, &obj->functions[i]);
	if (status < 0) {
		free(f.items);
		return status;
	}
	free(obj->functions);
	obj->functions = f.items;
	obj->n_functions = f.n;
	obj->functions_capacity = f.capacity;
	return 0;
}
