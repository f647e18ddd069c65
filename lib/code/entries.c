/* SPDX-License-Identifier: MIT
 *
 * Where functions begin that no symbol names: by unwind information, otherwise by the code's own
 * calls.
 */
#include <stdlib.h>

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
