/* SPDX-License-Identifier: MIT
 *
 * Hands regions out: their names, their lines, their code.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"
#include "input/reader.h"

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
	if (!*function && in->kind == TACT_INPUT_ASM && !range->begin)
		return print(&in->name, "%s", ""); /* text without any label */
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

/* A way that was asked for is part of the name. */
static int add_path(struct tact_input *in, const struct input_region *r)
{
	enum { ROOM = 40 };
	const size_t length = strlen(in->name.text);

	if (!r->path)
		return 0;
	if (tact_grow(&in->name.text, &in->name.capacity, length + ROOM, 1))
		return -TACT_E_NOMEM;
	snprintf(in->name.text + length, ROOM, "%spath %" PRIu32, length ? " " : "", r->path);
	return 0;
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
	region->source_path = frames[own].file;
	return own ? print_inlined(in, frames, own, region) : 0;
}

/* Finds the place in its section of the code at an offset of the last region. */
static bool find_piece(const struct tact_input *in, size_t offset, struct obj_range *place)
{
	for (size_t i = in->n_pieces; i-- > 0;) {
		const struct input_piece *piece = &in->pieces[i];

		if (offset < piece->at)
			continue;
		*place = piece->range;
		if (offset - piece->at >= place->end - place->begin)
			return false;
		place->begin += offset - piece->at;
		return true;
	}
	return false;
}

int tact_input_line(struct tact_input *in, size_t offset, uint64_t *line)
{
	const char *file;
	int number, status;
	struct obj_range place;

	if (!in || !line)
		return -TACT_E_INVAL;
	if (in->kind != TACT_INPUT_ASM || in->source.has_lines || !find_piece(in, offset, &place))
		return 0;
	status = obj_line_at(in->obj, place.section, place.begin, &file, &number);
	if (status > 0)
		*line = (uint64_t)number;
	return status;
}

int tact_input_source(struct tact_input *in, size_t offset, size_t depth,
		      struct tact_source_line *line)
{
	struct tact_source_line known = TACT_SOURCE_LINE_INIT;
	struct obj_frame frames[OBJ_MOST_FRAMES];
	struct obj_range place;
	long n;

	if (!in || !tact_can_fill(line))
		return -TACT_E_INVAL;
	if (!in->obj || !find_piece(in, offset, &place))
		return 0;
	n = obj_frames_at(in->obj, place.section, place.begin, frames, OBJ_MOST_FRAMES);
	if (n <= 0 || depth >= (size_t)n)
		return (int)n;
	known.path = frames[depth].file;
	if (in->kind == TACT_INPUT_ASM && !in->source.has_lines)
		known.path = "";
	known.function = frames[depth].function;
	known.line = (uint64_t)frames[depth].line;
	tact_fill(line, &known, sizeof(known));
	return (int)n;
}

int input_region_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	const struct input_region *r;

	if (in->next_region == in->n_regions)
		return 0;
	r = &in->regions[in->next_region++];
	region->line = r->line;
	region->symbol = obj_function_at(in->obj, r->range.section, r->range.begin)->name;
	free(in->function);
	in->function = in->is_mangled ? NULL : obj_demangle(region->symbol, false);
	region->function = in->function ? in->function : region->symbol;
	region->is_candidate = r->is_candidate;
	if (print_name(in, r, region->function) || add_path(in, r) ||
	    print_source(in, &r->range, region) || input_take_code(in, r, region))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	region->name = in->name.text;
	return 1;
}
