/* SPDX-License-Identifier: MIT
 *
 * Which code of an object file or of assembled text is meant.
 *
 * What the user asks for comes first: an address range, a function, a loop.  Then come markers.
 * Without any of these, a file that is one basic block is meant as a whole; otherwise its loops
 * are; without loops, it is shown function by function.  Assembly text and an object file made from
 * it give the same regions.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"
#include "code/code.h"
#include "code/transfers.h"
#include "input/reader.h"

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

int input_add_region(struct tact_input *in, struct input_region region, struct tact_diag *diag)
{
	if (tact_grow(&in->regions, &in->regions_capacity, in->n_regions + 1, sizeof(*in->regions)))
		return no_memory(diag);
	in->regions[in->n_regions++] = region;
	return 0;
}

static int add_loops(struct tact_input *in, const struct code_loops *loops, bool is_candidate,
		     struct tact_diag *diag)
{
	size_t i;
	int status = 0;

	for (i = 0; i < loops->count && status >= 0; i++)
		status = input_add_region(in,
					  (struct input_region){.range = loops->items[i].range,
								.head = loops->items[i].head,
								.naming = INPUT_NAME_PLACE,
								.is_candidate = is_candidate,
								.is_loop = true},
					  diag);
	return status;
}

static int choose_addresses(struct tact_input *in, const struct tact_input_options *opt,
			    struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	struct obj_range function = {0};
	size_t i;
	int status;

	if (opt->function) {
		/* The sections of an object all begin at 0: the function tells which one is meant.
		 */
		status = obj_function_find(obj, opt->function, &function, diag);
		if (status < 0)
			return status;
	}
	for (i = 0; i < obj->n_sections; i++) {
		const struct obj_section *s = &obj->sections[i];
		const uint64_t begin = opt->addr_begin - s->address;
		const uint64_t end = opt->addr_end - s->address;

		if (opt->addr_begin < s->address || end > s->size ||
		    (opt->function && i != function.section))
			continue;
		return input_add_region(
			in,
			(struct input_region){.range = {i, (size_t)begin, (size_t)end},
					      .naming = INPUT_NAME_RANGE,
					      .is_chosen = true},
			diag);
	}
	return tact_fail(diag, TACT_E_INVAL,
			 "there is no code from 0x%" PRIx64 " to 0x%" PRIx64 " in one section",
			 opt->addr_begin, opt->addr_end);
}

/* Finds the loops of one function, or of all if range is NULL. */
static int find_loops(const struct obj_file *obj, const struct obj_range *range,
		      struct code_loops *loops, struct tact_diag *diag)
{
	size_t i;

	if (range)
		return code_find_loops(obj, range, loops) ? no_memory(diag) : 0;
	for (i = 0; i < obj->n_functions; i++)
		if (code_find_loops(obj, &obj->functions[i].range, loops))
			return no_memory(diag);
	return 0;
}

static int add_one_loop(struct tact_input *in, const struct code_loops *loops, int number,
			const char *function, struct tact_diag *diag)
{
	struct code_loops one;

	if ((size_t)number > loops->count)
		return tact_fail(diag, TACT_E_INVAL, "there is no loop %d%s%s: %zu found", number,
				 function ? " in " : "", function ? function : "", loops->count);
	one = (struct code_loops){.items = &loops->items[number - 1], .count = 1};
	return add_loops(in, &one, false, diag);
}

static int choose_function(struct tact_input *in, const struct tact_input_options *opt,
			   struct code_loops *loops, struct tact_diag *diag)
{
	struct obj_range range;
	int status;

	status = obj_function_find(in->obj, opt->function, &range, diag);
	if (status >= 0)
		status = find_loops(in->obj, &range, loops, diag);
	if (status < 0)
		return status;
	if (opt->loop)
		return add_one_loop(in, loops, opt->loop, opt->function, diag);
	if (loops->count)
		return add_loops(in, loops, false, diag);
	return input_add_region(
		in, (struct input_region){.range = range, .naming = INPUT_NAME_FUNCTION}, diag);
}

/* Finds the symbols of our labels, by number of the marker; NULL where as left one out (.if 0). */
static int find_labels(const struct tact_input *in, const struct obj_symbol ***out)
{
	const size_t prefix = strlen(ASM_LABEL_PREFIX);
	const struct obj_symbol **labels = calloc(in->source.n_markers + 1, sizeof(*labels));
	size_t i;

	if (!labels)
		return -TACT_E_NOMEM;
	for (i = 0; i < in->obj->n_symbols; i++) {
		const struct obj_symbol *symbol = &in->obj->symbols[i];
		unsigned long number;

		if (strncmp(symbol->name, ASM_LABEL_PREFIX, prefix))
			continue;
		number = strtoul(symbol->name + prefix, NULL, 10);
		if (number < in->source.n_markers)
			labels[number] = symbol;
	}
	*out = labels;
	return 0;
}

/* Sets where a region that begins at a label ends; false if there is no code in it. */
static bool find_end(const struct tact_input *in, size_t marker, const struct obj_symbol **labels,
		     const struct obj_symbol *begin, size_t *end)
{
	const struct obj_symbol *symbol = marker == ASM_NO_MARKER ? NULL : labels[marker];

	if (marker == ASM_NO_MARKER)
		*end = in->obj->sections[begin->section].size;
	else if (symbol && symbol->section == begin->section)
		*end = symbol->offset;
	else
		return false;
	return begin->offset < *end;
}

static int add_comment_markers(struct tact_input *in, struct tact_diag *diag)
{
	const struct asm_source *source = &in->source;
	const struct obj_symbol **labels;
	size_t i, line = 0;
	int status = 0;

	if (!source->n_regions)
		return 0;
	if (find_labels(in, &labels))
		return no_memory(diag);
	for (i = 0; i < source->n_regions && status >= 0; i++) {
		const struct asm_marker *marker = &source->markers[source->regions[i].begin];
		const struct obj_symbol *begin = labels[source->regions[i].begin];
		size_t end;

		line = marker->line;
		if (!begin || !find_end(in, source->regions[i].end, labels, begin, &end))
			continue;
		status = input_add_region(
			in,
			(struct input_region){
				.range = {begin->section, begin->offset, end},
				.naming = INPUT_NAME_MARKER,
				.is_chosen = true,
				.name = source->names + marker->name,
				.line = marker->line,
				.lacks_end = source->regions[i].end == ASM_NO_MARKER,
			},
			diag);
	}
	free(labels);
	if (status >= 0 && !in->n_regions)
		status = tact_fail_at(diag, TACT_E_FORMAT, line, 0, "no code between the markers");
	return status;
}

static int remark_lost(struct tact_input *in, const struct code_lost *lost)
{
	const bool is_one = lost->n_starts == 1;
	const int status = in->general ? 0 : tact_remarks_create(&in->general);

	return status < 0 ? status
			  : tact_remarks_add(in->general, "marker-without-end",
					     "%zu start marker%s (the first at 0x%" PRIx64
					     ") ha%s no end behind: a compiler may have moved it",
					     lost->n_starts, is_one ? "" : "s", lost->first,
					     is_one ? "s" : "ve");
}

const char input_no_markers[] = "there are no markers around the code";

static int choose_markers(struct tact_input *in, struct tact_diag *diag)
{
	struct code_ranges ranges = {0};
	struct code_lost lost = {0};
	size_t i;
	int status;

	status = add_comment_markers(in, diag);
	if (status >= 0)
		status = code_find_markers(in->obj, &ranges, &lost, diag);
	for (i = 0; i < ranges.count && status >= 0; i++)
		status = input_add_region(
			in, (struct input_region){.range = ranges.items[i], .is_chosen = true},
			diag);
	free(ranges.items);
	if (status >= 0 && lost.n_starts && remark_lost(in, &lost))
		return no_memory(diag);
	return status;
}

static size_t count_named(const struct obj_file *obj)
{
	size_t named = 0;

	for (size_t i = 0; i < obj->n_functions; i++)
		named += obj->functions[i].name[0] != '\0';
	return named;
}

/* Returns whether a function is worth a region: not padding and, where functions have names, not
 * stubs of the linker.
 */
static bool is_shown(const struct obj_file *obj, const struct obj_function *f, size_t named)
{
	if (f->name[0])
		return true;
	return !(named && obj->type != OBJ_RELOCATABLE) &&
	       (obj->n_functions == 1 || !code_is_padding(obj, &f->range));
}

/* Returns the only function or piece of code of the file, if it is one basic block; otherwise NULL.
 */
static const struct obj_function *find_single(const struct obj_file *obj)
{
	const struct obj_function *single = NULL;
	const size_t named = count_named(obj);

	for (size_t i = 0; i < obj->n_functions; i++) {
		if (!is_shown(obj, &obj->functions[i], named))
			continue;
		if (single)
			return NULL;
		single = &obj->functions[i];
	}
	return single && code_is_block(obj, &single->range) ? single : NULL;
}

static int add_functions(struct tact_input *in, struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	const size_t named = count_named(obj);
	size_t i;
	int status = 0;

	for (i = 0; i < obj->n_functions && status >= 0; i++) {
		const struct obj_function *f = &obj->functions[i];

		if (!is_shown(obj, f, named))
			continue;
		status = input_add_region(
			in,
			(struct input_region){.range = f->range,
					      .naming = f->name[0] ? INPUT_NAME_FUNCTION
								   : INPUT_NAME_PLACE,
					      .is_candidate = true},
			diag);
	}
	return status;
}

/* Adds the loops of each function, and all code of those without loops. */
static int add_all_functions(struct tact_input *in, struct code_loops *loops,
			     struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	const size_t named = count_named(obj);
	size_t i;
	int status = 0;

	for (i = 0; i < obj->n_functions && status >= 0; i++) {
		const struct obj_function *f = &obj->functions[i];

		loops->count = 0;
		status = find_loops(obj, &f->range, loops, diag);
		if (status >= 0 && loops->count)
			status = add_loops(in, loops, true, diag);
		else if (status >= 0 && is_shown(obj, f, named))
			status = input_add_region(
				in,
				(struct input_region){.range = f->range,
						      .naming = f->name[0] ? INPUT_NAME_FUNCTION
									   : INPUT_NAME_PLACE,
						      .is_candidate = true},
				diag);
	}
	return status;
}

/* All code of each section. */
static int add_sections(struct tact_input *in, struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	int status = 0;

	for (size_t i = 0; i < obj->n_sections && status >= 0; i++)
		if (obj->sections[i].size)
			status = input_add_region(
				in,
				(struct input_region){.range = {i, 0, obj->sections[i].size},
						      .is_chosen = true},
				diag);
	return status;
}

/* Nothing was asked for, and there are no markers. */
static int choose_default(struct tact_input *in, struct code_loops *loops, struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	const struct obj_function *single;
	int status;

	status = find_loops(obj, NULL, loops, diag);
	if (status < 0)
		return status;
	if (loops->count)
		return add_loops(in, loops, true, diag);
	single = find_single(obj);
	if (single)
		return input_add_region(in,
					(struct input_region){.range = single->range,
							      .naming = INPUT_NAME_FUNCTION},
					diag);
	return add_functions(in, diag);
}

/* Replaces the regions by the ways through them that were asked for. */
static int choose_paths(struct tact_input *in, int path, struct tact_diag *diag)
{
	struct input_region *regions = in->regions;
	const size_t n = in->n_regions;
	int status = 0;

	in->regions = NULL;
	in->n_regions = in->regions_capacity = 0;
	for (size_t i = 0; i < n && status >= 0; i++)
		status = input_choose_path(in, &regions[i], path, diag);
	free(regions);
	return status;
}

int input_choose_regions(struct tact_input *in, const struct tact_input_options *opt,
			 struct tact_diag *diag)
{
	struct code_loops loops = {0};
	int status;

	if (opt->addr_begin || opt->addr_end) {
		status = choose_addresses(in, opt, diag);
	} else if (opt->function) {
		status = choose_function(in, opt, &loops, diag);
	} else if (opt->loop) {
		status = find_loops(in->obj, NULL, &loops, diag);
		if (status >= 0)
			status = add_one_loop(in, &loops, opt->loop, NULL, diag);
	} else {
		status = choose_markers(in, diag);
		if (status >= 0 && !in->n_regions && opt->is_marked)
			status = tact_fail(diag, TACT_E_FORMAT, "%s", input_no_markers);
		else if (status >= 0 && !in->n_regions)
			status = opt->is_whole	      ? add_sections(in, diag)
				 : opt->all_functions ? add_all_functions(in, &loops, diag)
						      : choose_default(in, &loops, diag);
	}
	free(loops.items);
	if (status >= 0 && opt->path)
		status = choose_paths(in, opt->path, diag);
	return status;
}
