/* SPDX-License-Identifier: MIT
 *
 * Which line a piece of code comes from, through all the calls that were inlined: std::count at
 * stl_algobase.h:2124 is no answer for people who wrote count.cc:8.
 *
 * The entries of a unit are read once, when it is first asked for: libdw's own search walks through
 * the unit's tree each time.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "obj/lines.h"

/* A hostile tree could be as deep as the file is long. */
enum { DEEPEST = 256 };

void obj_unit_fini(struct obj_unit *unit)
{
	free(unit->inlined);
}

/* ---- the ranges of a unit ---- */

static int add_inlined(struct obj_unit *unit, Dwarf_Die *entry, unsigned depth)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(entry, at, &base, &begin, &end)) > 0) {
		if (begin >= end)
			continue;
		if (tact_grow(&unit->inlined, &unit->capacity, unit->n_inlined + 1,
			      sizeof(*unit->inlined)))
			return -TACT_E_NOMEM;
		unit->inlined[unit->n_inlined++] = (struct inlined_range){
			.begin = begin, .end = end, .depth = depth, .entry = *entry};
	}
	return 0;
}

static bool may_have_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_module || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* Walks through the tree without recursion: it is as deep as the file says. */
static int read_tree(struct obj_unit *unit, Dwarf_Die *root)
{
	Dwarf_Die stack[DEEPEST];
	unsigned depth = 0;
	int status = 0;

	if (dwarf_child(root, &stack[0]))
		return 0;
	for (;;) {
		Dwarf_Die *entry = &stack[depth];
		const int tag = dwarf_tag(entry);

		if (tag == DW_TAG_inlined_subroutine)
			status = add_inlined(unit, entry, depth);
		if (status)
			return status;
		if (depth + 1 < DEEPEST && may_have_code(tag) &&
		    !dwarf_child(entry, &stack[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&stack[depth], &stack[depth])) {
			if (!depth)
				return 0;
			depth--;
		}
	}
}

static int compare_inlined(const void *a, const void *b)
{
	const struct inlined_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static int index_unit(struct obj_unit *unit)
{
	Dwarf_Die other, *root = &unit->entry;
	int status;

	if (unit->is_indexed)
		return 0;
	unit->is_indexed = true;
	/* With -gsplit-dwarf, the tree is in a .dwo file. */
	if (!dwarf_cu_info(unit->entry.cu, NULL, NULL, NULL, &other, NULL, NULL, NULL) &&
	    dwarf_tag(&other) > 0)
		root = &other;
	status = read_tree(unit, root);
	if (status || !unit->n_inlined)
		return status;
	qsort(unit->inlined, unit->n_inlined, sizeof(*unit->inlined), compare_inlined);
	for (size_t i = 0; i < unit->n_inlined; i++) {
		size_t k = i; /* ranges nest: those around it come before it */

		unit->inlined[i].parent = i;
		while (k > 0) {
			const size_t up = k == i ? i - 1 : unit->inlined[k].parent;

			if (up == k)
				break;
			k = up;
			if (unit->inlined[k].begin <= unit->inlined[i].begin &&
			    unit->inlined[i].end <= unit->inlined[k].end) {
				unit->inlined[i].parent = k;
				break;
			}
		}
	}
	return 0;
}

/* Finds the innermost range around an address; n_inlined: there is none. */
static size_t find_inlined(const struct obj_unit *unit, Dwarf_Addr address)
{
	size_t low = 0, high = unit->n_inlined;

	while (low < high) { /* the first one that begins after the address */
		const size_t middle = low + (high - low) / 2;

		if (unit->inlined[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0) {
		size_t k = low;

		for (;; k = unit->inlined[k].parent) {
			if (address < unit->inlined[k].end)
				return k;
			if (unit->inlined[k].parent == k)
				return unit->n_inlined;
		}
	}
	return unit->n_inlined;
}

/* ---- frames ---- */

static const char *attribute_text(Dwarf_Die *entry, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(entry, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* Removes the arguments of templates, which would hide the name: "std::count<...>".  Names with an
 * operator keep them, because that may be one of < and >.
 */
static void drop_arguments(char *name)
{
	char *to = name;
	int depth = 0;

	if (strstr(name, "operator"))
		return;
	for (const char *from = name; *from; from++) {
		depth += *from == '<';
		if (!depth)
			*to++ = *from;
		depth -= *from == '>';
	}
	*to = '\0';
}

/* Returns the name of an inlined function; demangled ones are kept. */
static const char *name_of(struct obj_lines *lines, Dwarf_Die *entry)
{
	const char *plain = attribute_text(entry, DW_AT_name);
	const char *symbol = attribute_text(entry, DW_AT_linkage_name);
	char *name = symbol ? obj_demangle(symbol, false) : NULL;

	if (name)
		drop_arguments(name);
	if (name && !tact_grow(&lines->names, &lines->names_capacity, lines->n_names + 1,
			       sizeof(*lines->names)))
		return lines->names[lines->n_names++] = name;
	free(name);
	return plain ? plain : symbol ? symbol : "?";
}

static bool call_site(struct obj_unit *unit, Dwarf_Die *entry, struct obj_frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_attr(entry, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file) ||
	    !dwarf_attr(entry, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) ||
	    !line || line > 0x7fffffff || dwarf_getsrcfiles(&unit->entry, &files, &n) || file >= n)
		return false;
	frame->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
	frame->line = (int)line;
	return frame->file != NULL;
}

/* Names are demangled and kept, which whoever asks for many lines does not need. */
static long find_frames(struct obj_file *obj, size_t section, size_t offset,
			struct obj_frame *frames, size_t most, bool with_names)
{
	struct obj_unit *unit;
	Dwarf_Addr address = 0;
	Dwarf_Line *line;
	size_t n = 0, k;

	if (obj_lines_need(obj))
		return -TACT_E_NOMEM;
	unit = obj_lines_unit(obj, section, offset, &address);
	line = unit && most ? dwarf_getsrc_die(&unit->entry, address) : NULL;
	if (!line || dwarf_lineno(line, &frames[0].line) || frames[0].line <= 0)
		return 0;
	frames[0].file = dwarf_linesrc(line, NULL, NULL);
	frames[0].function = "";
	if (!frames[0].file)
		return 0;
	if (index_unit(unit))
		return -TACT_E_NOMEM;
	for (k = find_inlined(unit, address); k < unit->n_inlined && n + 1 < most; n++) {
		struct inlined_range *range = &unit->inlined[k];

		if (!call_site(unit, &range->entry, &frames[n + 1]))
			break;
		frames[n].function = with_names ? name_of(obj->lines, &range->entry) : "";
		frames[n + 1].function = "";
		k = range->parent == k ? unit->n_inlined : range->parent;
	}
	return (long)n + 1;
}

long obj_frames_at(struct obj_file *obj, size_t section, size_t offset, struct obj_frame *frames,
		   size_t most)
{
	return find_frames(obj, section, offset, frames, most, true);
}

bool obj_is_system_file(const char *file)
{
	static const char *const places[] = {"/usr/include/", "/usr/lib/", "/usr/share/",
					     "/usr/local/go/", "/rustc/"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(file, places[i], strlen(places[i])))
			return true;
	return strstr(file, "/rustlib/") || strstr(file, "/include/c++/");
}

size_t obj_own_frame(const struct obj_frame *frames, size_t n)
{
	size_t i = 0;

	while (i < n && obj_is_system_file(frames[i].file))
		i++;
	return i < n ? i : n - 1;
}

int obj_line_at(struct obj_file *obj, size_t section, size_t offset, const char **file, int *line)
{
	struct obj_frame frames[OBJ_MOST_FRAMES];
	const long n = find_frames(obj, section, offset, frames, OBJ_MOST_FRAMES, false);
	size_t own;

	if (n <= 0)
		return (int)n;
	own = obj_own_frame(frames, (size_t)n);
	*file = frames[own].file;
	*line = frames[own].line;
	return 1;
}
