/* SPDX-License-Identifier: MIT
 *
 * Where functions begin and end, from symbols; from unwind information where a file was stripped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "obj/obj.h"

static int add_function(struct obj_file *obj, const char *name, size_t section, size_t begin,
			size_t end)
{
	if (begin >= end)
		return 0;
	if (tact_grow(&obj->functions, &obj->functions_capacity, obj->n_functions + 1,
		      sizeof(*obj->functions)))
		return -TACT_E_NOMEM;
	obj->functions[obj->n_functions++] = (struct obj_function){name, {section, begin, end}};
	return 0;
}

struct starts {
	size_t *items; /* owned */
	size_t n, capacity;
};

/* Keeps the order, whatever the file says. */
static int add_start(struct starts *s, size_t offset)
{
	if (s->n && offset <= s->items[s->n - 1])
		return 0;
	if (tact_grow(&s->items, &s->capacity, s->n + 1, sizeof(*s->items)))
		return -TACT_E_NOMEM;
	s->items[s->n++] = offset;
	return 0;
}

long obj_cut_at_unwind(const struct obj_file *obj, const struct obj_range *r, size_t **starts)
{
	const uint64_t base = obj->sections[r->section].address;
	struct starts s = {NULL, 0, 0};
	struct obj_unwind u;
	uint64_t left = 0; /* end of the previous function */
	int status = 0;

	if (!obj_unwind_open(&u, obj))
		return 0;
	for (size_t i = obj_unwind_from(&u, base + r->begin); i < u.n && !status; i++) {
		const uint64_t begin = obj_unwind_begin(&u, i);

		if (begin < base + r->begin || begin >= base + r->end)
			break;
		status = s.n ? 0 : add_start(&s, r->begin);
		if (!status && left && left < begin)
			status = add_start(&s, (size_t)(left - base));
		if (!status)
			status = add_start(&s, (size_t)(begin - base));
		left = obj_unwind_end(&u, i);
		left = left > begin ? left : 0;
	}
	if (s.n && left && left < base + r->end && !status)
		status = add_start(&s, (size_t)(left - base));
	if (status < 0) {
		free(s.items);
		return status;
	}
	*starts = s.items;
	return (long)s.n;
}

static bool is_private(const struct obj_symbol *symbol)
{
	return !strncmp(symbol->name, OBJ_PRIVATE_PREFIX, strlen(OBJ_PRIVATE_PREFIX));
}

/* A label starts a function if it has the type of one or, in hand-written assembly, if other files
 * can call it.
 */
static bool is_entry(const struct obj_symbol *symbol)
{
	return (symbol->is_function || symbol->is_global) && !is_private(symbol);
}

/* Finds the end of an entry's code: by its size, or the next entry of the section. */
static size_t entry_end(const struct obj_file *obj, size_t i)
{
	const struct obj_symbol *symbol = &obj->symbols[i];
	size_t j;

	if (symbol->size)
		return symbol->offset + symbol->size;
	for (j = i + 1; j < obj->n_symbols && obj->symbols[j].section == symbol->section; j++)
		if (is_entry(&obj->symbols[j]) && obj->symbols[j].offset > symbol->offset)
			return obj->symbols[j].offset;
	return obj->sections[symbol->section].size;
}

/* Adds one entry; *end is the end of the code that belongs to functions so far. */
static int add_entry(struct obj_file *obj, size_t i, size_t *end)
{
	const struct obj_symbol *symbol = &obj->symbols[i];
	int status;

	if (symbol->offset < *end) {
		struct obj_range *last = &obj->functions[obj->n_functions - 1].range;

		/* A second name for the same place, or a label in the middle of a function. */
		if (symbol->offset == last->begin || !symbol->is_function)
			return 0;
		last->end = symbol->offset;
	}
	status = add_function(obj, "", symbol->section, *end, symbol->offset);
	*end = entry_end(obj, i);
	if (status < 0)
		return status;
	return add_function(obj, symbol->name, symbol->section, symbol->offset, *end);
}

int obj_cut_functions(struct obj_file *obj)
{
	size_t section, i = 0;
	int status = 0;

	for (section = 0; section < obj->n_sections && status >= 0; section++) {
		size_t end = 0;

		for (; i < obj->n_symbols && obj->symbols[i].section == section && status >= 0; i++)
			if (is_entry(&obj->symbols[i]) &&
			    obj->symbols[i].offset < obj->sections[section].size)
				status = add_entry(obj, i, &end);
		if (status >= 0)
			status = add_function(obj, "", section, end, obj->sections[section].size);
	}
	return status;
}

const struct obj_function *obj_function_at(const struct obj_file *obj, size_t section,
					   size_t offset)
{
	size_t low = 0, high = obj->n_functions;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		const struct obj_range *range = &obj->functions[middle].range;

		if (range->section < section ||
		    (range->section == section && range->begin <= offset))
			low = middle;
		else
			high = middle;
	}
	return &obj->functions[low];
}

int obj_keep_names(struct obj_file *obj)
{
	obj->names = calloc(obj->n_functions + 1, sizeof(*obj->names));
	return obj->names ? 0 : -TACT_E_NOMEM;
}

const char *obj_function_name(struct obj_file *obj, const struct obj_function *function)
{
	const size_t i = (size_t)(function - obj->functions);

	if (!obj->names)
		return function->name;
	if (!obj->names[i])
		obj->names[i] = obj_demangle(function->name, true);
	return obj->names[i] ? obj->names[i] : function->name;
}

const struct obj_symbol *obj_symbol_find(const struct obj_file *obj, const char *name)
{
	const struct obj_symbol *best = NULL;

	for (size_t i = 0; i < obj->n_symbols; i++) {
		const struct obj_symbol *symbol = &obj->symbols[i];

		if (strcmp(symbol->name, name))
			continue;
		if (!best || (symbol->is_function && !best->is_function))
			best = symbol;
	}
	return best;
}

int obj_function_find(const struct obj_file *obj, const char *name, struct obj_range *range,
		      struct tact_diag *diag)
{
	const struct obj_function *at;
	const struct obj_symbol *best;
	size_t end;
	int status = obj_symbol_search(obj, name, &best, diag);

	if (status < 0)
		return status == -TACT_E_NO_DATA ? -TACT_E_INVAL : status;
	at = obj_function_at(obj, best->section, best->offset);
	end = !best->size && at->range.section == best->section && at->range.begin == best->offset
		      ? at->range.end
		      : entry_end(obj, (size_t)(best - obj->symbols));
	if (end <= best->offset)
		return tact_fail(diag, TACT_E_INVAL, "function '%s' has no code", name);
	*range = (struct obj_range){best->section, best->offset, end};
	return 0;
}

const struct obj_symbol *obj_symbol_before(const struct obj_file *obj, size_t section,
					   size_t offset)
{
	const struct obj_symbol *best = NULL;
	size_t low = 0, high = obj->n_symbols;

	while (low < high) { /* the first one after the offset */
		const size_t middle = low + (high - low) / 2;
		const struct obj_symbol *symbol = &obj->symbols[middle];

		if (symbol->section < section ||
		    (symbol->section == section && symbol->offset <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	/* Goes back to the first symbol of those that share the nearest place: it names it best. */
	for (; low > 0 && obj->symbols[low - 1].section == section; low--) {
		const struct obj_symbol *symbol = &obj->symbols[low - 1];

		if (best && symbol->offset != best->offset)
			break;
		if (!is_private(symbol))
			best = symbol;
	}
	return best;
}
