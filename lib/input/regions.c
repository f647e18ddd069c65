/* SPDX-License-Identifier: MIT
 *
 * Which code of an object file or of assembled text is meant.
 *
 * What the user asks for comes first: an address range, a function, a loop.  Then come markers.
 * Without any of these, a file that is one basic block is meant as a whole; otherwise its loops
 * are; without loops, assembly is meant as a whole and an ELF file is shown function by function.
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

static int add_region(struct tact_input *in, struct input_region region, struct tact_diag *diag)
{
	if (tact_grow(&in->regions, &in->regions_capacity, in->n_regions + 1, sizeof(*in->regions)))
		return no_memory(diag);
	in->regions[in->n_regions++] = region;
	return 0;
}

static int add_all(struct tact_input *in, const struct code_ranges *ranges,
		   enum input_naming naming, bool is_candidate, struct tact_diag *diag)
{
	size_t i;
	int status = 0;

	for (i = 0; i < ranges->count && status >= 0; i++)
		status = add_region(in,
				    (struct input_region){.range = ranges->items[i],
							  .naming = naming,
							  .is_candidate = is_candidate},
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
		return add_region(in,
				  (struct input_region){.range = {i, (size_t)begin, (size_t)end},
							.naming = INPUT_NAME_RANGE},
				  diag);
	}
	return tact_fail(diag, TACT_E_INVAL,
			 "there is no code from 0x%" PRIx64 " to 0x%" PRIx64 " in one section",
			 opt->addr_begin, opt->addr_end);
}

/* Finds the loops of one function, or of all if range is NULL. */
static int find_loops(const struct obj_file *obj, const struct obj_range *range,
		      struct code_ranges *loops, struct tact_diag *diag)
{
	size_t i;

	if (range)
		return code_find_loops(obj, range, loops) ? no_memory(diag) : 0;
	for (i = 0; i < obj->n_functions; i++)
		if (code_find_loops(obj, &obj->functions[i].range, loops))
			return no_memory(diag);
	return 0;
}

static int add_one_loop(struct tact_input *in, const struct code_ranges *loops, int number,
			const char *function, struct tact_diag *diag)
{
	struct code_ranges one;

	if ((size_t)number > loops->count)
		return tact_fail(diag, TACT_E_INVAL, "there is no loop %d%s%s: %zu found", number,
				 function ? " in " : "", function ? function : "", loops->count);
	one = (struct code_ranges){.items = &loops->items[number - 1], .count = 1};
	return add_all(in, &one, INPUT_NAME_PLACE, false, diag);
}

static int choose_function(struct tact_input *in, const struct tact_input_options *opt,
			   struct code_ranges *loops, struct tact_diag *diag)
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
		return add_all(in, loops, INPUT_NAME_PLACE, false, diag);
	return add_region(in, (struct input_region){.range = range, .naming = INPUT_NAME_FUNCTION},
			  diag);
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
		const struct obj_symbol *end = labels[source->regions[i].end];

		line = marker->line;
		if (!begin || !end || begin->section != end->section ||
		    begin->offset >= end->offset)
			continue;
		status = add_region(in,
				    (struct input_region){
					    .range = {begin->section, begin->offset, end->offset},
					    .naming = INPUT_NAME_MARKER,
					    .name = source->names + marker->name,
					    .line = marker->line,
				    },
				    diag);
	}
	free(labels);
	if (status >= 0 && !in->n_regions)
		status = tact_fail_at(diag, TACT_E_FORMAT, line, 0, "no code between the markers");
	return status;
}

static int choose_markers(struct tact_input *in, struct tact_diag *diag)
{
	struct code_ranges ranges = {0};
	int status;

	status = add_comment_markers(in, diag);
	if (status >= 0)
		status = code_find_markers(in->obj, &ranges, diag);
	if (status >= 0)
		status = add_all(in, &ranges, INPUT_NAME_NONE, false, diag);
	free(ranges.items);
	return status;
}

/* Returns the only function or piece of code of the file, if it is one basic block; otherwise NULL.
 */
static const struct obj_function *find_single(const struct obj_file *obj)
{
	const struct obj_function *single = NULL;
	size_t i, named = 0;

	for (i = 0; i < obj->n_functions; i++)
		named += obj->functions[i].name[0] != '\0';
	for (i = 0; i < obj->n_functions; i++) {
		if (named && !obj->functions[i].name[0])
			continue; /* padding between functions, stubs of the linker */
		if (single)
			return NULL;
		single = &obj->functions[i];
	}
	return single && code_is_block(obj, &single->range) ? single : NULL;
}

static int add_functions(struct tact_input *in, struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	size_t i, named = 0;
	int status = 0;

	for (i = 0; i < obj->n_functions; i++)
		named += obj->functions[i].name[0] != '\0';
	for (i = 0; i < obj->n_functions && status >= 0; i++) {
		const struct obj_function *f = &obj->functions[i];

		if (named && !f->name[0])
			continue;
		status = add_region(in,
				    (struct input_region){.range = f->range,
							  .naming = f->name[0] ? INPUT_NAME_FUNCTION
									       : INPUT_NAME_PLACE,
							  .is_candidate = true},
				    diag);
	}
	return status;
}

static int add_sections(struct tact_input *in, struct tact_diag *diag)
{
	size_t i;
	int status = 0;

	for (i = 0; i < in->obj->n_sections && status >= 0; i++)
		status = add_region(
			in, (struct input_region){.range = {i, 0, in->obj->sections[i].size}},
			diag);
	return status;
}

/* Adds the loops of each function, and all code of those without loops. */
static int add_all_functions(struct tact_input *in, struct code_ranges *loops,
			     struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	size_t i, named = 0;
	int status = 0;

	for (i = 0; i < obj->n_functions; i++)
		named += obj->functions[i].name[0] != '\0';
	for (i = 0; i < obj->n_functions && status >= 0; i++) {
		const struct obj_function *f = &obj->functions[i];

		loops->count = 0;
		status = find_loops(obj, &f->range, loops, diag);
		if (status >= 0 && loops->count)
			status = add_all(in, loops, INPUT_NAME_PLACE, true, diag);
		else if (status >= 0 && (!named || f->name[0]))
			status = add_region(
				in,
				(struct input_region){.range = f->range,
						      .naming = f->name[0] ? INPUT_NAME_FUNCTION
									   : INPUT_NAME_PLACE,
						      .is_candidate = true},
				diag);
	}
	return status;
}

/* Nothing was asked for, and there are no markers. */
static int choose_default(struct tact_input *in, struct code_ranges *loops, struct tact_diag *diag)
{
	const struct obj_file *obj = in->obj;
	const struct obj_function *single;
	struct obj_range whole;
	int status;

	if (in->kind == TACT_INPUT_ASM && obj->n_sections == 1) {
		whole = (struct obj_range){0, 0, obj->sections[0].size};
		if (code_is_block(obj, &whole))
			return add_sections(in, diag);
	}
	status = find_loops(obj, NULL, loops, diag);
	if (status < 0)
		return status;
	if (loops->count)
		return add_all(in, loops, INPUT_NAME_PLACE, true, diag);
	if (in->kind == TACT_INPUT_ASM)
		return add_sections(in, diag);
	single = find_single(obj);
	if (single)
		return add_region(in,
				  (struct input_region){.range = single->range,
							.naming = INPUT_NAME_FUNCTION},
				  diag);
	return add_functions(in, diag);
}

int input_choose_regions(struct tact_input *in, const struct tact_input_options *opt,
			 struct tact_diag *diag)
{
	struct code_ranges loops = {0};
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
		if (status >= 0 && !in->n_regions)
			status = opt->all_functions ? add_all_functions(in, &loops, diag)
						    : choose_default(in, &loops, diag);
	}
	free(loops.items);
	return status;
}

static int print(struct input_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int print(struct input_buffer *buffer, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || tact_grow(&buffer->text, &buffer->capacity, (size_t)length + 1, 1))
		return -TACT_E_NOMEM;
	va_start(args, format);
	vsnprintf(buffer->text, buffer->capacity, format, args);
	va_end(args);
	return 0;
}

/* Prints "main+0x40", or another symbol nearby. */
static int print_place(struct tact_input *in, const struct obj_range *range, const char *function)
{
	const struct obj_section *section = &in->obj->sections[range->section];
	const struct obj_symbol *symbol = obj_symbol_before(in->obj, range->section, range->begin);
	size_t base = 0;

	if (symbol && symbol->is_function && !*function)
		symbol = NULL; /* it ended before */
	if (*function)
		base = obj_function_at(in->obj, range->section, range->begin)->range.begin;
	else if (symbol)
		base = symbol->offset;
	if (!*function && symbol)
		function = symbol->name;
	if (!*function && !*section->name)
		return print(&in->name, "0x%" PRIx64, section->address + range->begin);
	if (!*function)
		function = section->name;
	if (range->begin == base)
		return print(&in->name, "%s", function);
	return print(&in->name, "%s+0x%zx", function, range->begin - base);
}

static int print_name(struct tact_input *in, const struct input_region *r, const char *function)
{
	const uint64_t address = in->obj->sections[r->range.section].address;

	switch (r->naming) {
	case INPUT_NAME_NONE:
		return print(&in->name, "%s", "");
	case INPUT_NAME_MARKER:
		return print(&in->name, "%s", r->name);
	case INPUT_NAME_FUNCTION:
		return print(&in->name, "%s", function);
	case INPUT_NAME_PLACE:
		return print_place(in, &r->range, function);
	case INPUT_NAME_RANGE:
		return print(&in->name, "0x%" PRIx64 "-0x%" PRIx64, address + r->range.begin,
			     address + r->range.end);
	}
	return -TACT_E_INTERNAL;
}

/* Compilers give line 0 to code that stems from no line: looks for the first one that does. */
static long find_frames(struct obj_file *obj, const struct obj_range *range,
			struct obj_frame *frames)
{
	enum { REACH = 64 };
	long n = 0;
	size_t at;

	for (at = range->begin; at < range->end && at - range->begin < REACH && !n; at++)
		n = obj_frames_at(obj, range->section, at, frames, OBJ_MOST_FRAMES);
	return n;
}

/* The functions that were inlined below a line, the outermost first. */
static int print_inlined(struct tact_input *in, const struct obj_frame *frames, size_t own,
			 struct tact_region *region)
{
	struct text text = {0};

	for (size_t i = own; i-- > 0;)
		text_printf(&text, "%s%s %s:%d", text.size ? " > " : "", frames[i].function,
			    file_base_name(frames[i].file), frames[i].line);
	if (!text_string(&text)) {
		text_free(&text);
		return -TACT_E_NOMEM;
	}
	free(in->inlined.text);
	in->inlined.text = text.data;
	region->inlined = in->inlined.text;
	return 0;
}

/* The line table of assembly text refers to the text itself, unless a compiler wrote one into it.
 */
static int print_source(struct tact_input *in, const struct obj_range *range,
			struct tact_region *region)
{
	struct obj_frame frames[OBJ_MOST_FRAMES];
	const long n = find_frames(in->obj, range, frames);
	size_t own;

	if (n <= 0)
		return (int)n;
	own = obj_own_frame(frames, (size_t)n);
	if (in->kind == TACT_INPUT_ASM && !in->source.has_lines) {
		if (!region->line)
			region->line = (uint64_t)frames[0].line;
		return 0;
	}
	if (print(&in->source_place, "%s:%d", file_base_name(frames[own].file), frames[own].line))
		return -TACT_E_NOMEM;
	region->source = in->source_place.text;
	return own ? print_inlined(in, frames, own, region) : 0;
}

int input_region_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	const struct input_region *r;
	const struct obj_section *section;

	if (in->next_region == in->n_regions)
		return 0;
	r = &in->regions[in->next_region++];
	section = &in->obj->sections[r->range.section];
	region->code = section->data + r->range.begin;
	region->code_size = r->range.end - r->range.begin;
	region->address = in->kind == TACT_INPUT_ELF ? section->address + r->range.begin : 0;
	region->line = r->line;
	region->symbol = obj_function_at(in->obj, r->range.section, r->range.begin)->name;
	free(in->function);
	in->function = in->is_mangled ? NULL : obj_demangle(region->symbol, false);
	region->function = in->function ? in->function : region->symbol;
	region->is_loop = code_is_loop(in->isa, region->code, region->code_size);
	region->is_candidate = r->is_candidate;
	if (print_name(in, r, region->function) || print_source(in, &r->range, region))
		return no_memory(diag);
	region->name = in->name.text;
	return 1;
}
