/* SPDX-License-Identifier: MIT
 *
 * Source lines.  libdwfl rather than plain libdw, because in objects the line table itself needs
 * relocation, which libdwfl does.
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "obj/obj.h"

/* Code of one compilation unit. */
struct unit_range {
	Dwarf_Addr begin, end;
	Dwarf_Die unit;
};

struct obj_lines {
	Dwfl *dwfl; /* NULL: nothing to ask */
	Dwfl_Module *module;
	Elf *elf; /* the module's */
	GElf_Addr bias;
	struct unit_range *ranges; /* sorted by begin */
	size_t n_ranges, ranges_capacity;
	Dwfl_Callbacks callbacks; /* dwfl keeps a pointer to it */
};

/* Debug information in other files is not searched for: that may go over the network. */
static int find_no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)found;
	return -1;
}

static int find_no_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		       char **file, Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

/* Opens a file descriptor of the image, for libdwfl to own. */
static int open_image(const struct obj_file *obj)
{
	const uint8_t *p = obj->image;
	size_t left = obj->image_size;
	int fd;

	if (obj->fd >= 0)
		return fcntl(obj->fd, F_DUPFD_CLOEXEC, 0);
	fd = memfd_create("tact-image", MFD_CLOEXEC);
	while (fd >= 0 && left) {
		const ssize_t done = write(fd, p, left);

		if (done <= 0) {
			close(fd);
			return -1;
		}
		p += done;
		left -= (size_t)done;
	}
	return fd;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return 2 * ORDER(x->begin, y->begin) + ORDER(x->end, y->end);
}

/* Finds which unit has which code, from the units themselves: dwfl_module_getsrc uses the table
 * made for that question, .debug_aranges, which clang does not write.
 */
static int index_units(struct obj_lines *lines)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(lines->module, unit, &bias))) {
		Dwarf_Addr base, begin, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
			if (begin >= end)
				continue;
			if (tact_grow(&lines->ranges, &lines->ranges_capacity, lines->n_ranges + 1,
				      sizeof(*lines->ranges)))
				return -TACT_E_NOMEM;
			lines->ranges[lines->n_ranges++] =
				(struct unit_range){begin + bias, end + bias, *unit};
		}
	}
	if (lines->n_ranges)
		qsort(lines->ranges, lines->n_ranges, sizeof(*lines->ranges), compare_ranges);
	return 0;
}

/* NULL: out of memory. */
static struct obj_lines *lines_create(const struct obj_file *obj)
{
	struct obj_lines *lines = calloc(1, sizeof(*lines));
	int fd;

	if (!lines)
		return NULL;
	lines->callbacks = (Dwfl_Callbacks){
		.find_elf = find_no_elf,
		.find_debuginfo = find_no_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	fd = open_image(obj);
	if (fd < 0)
		return lines;
	lines->dwfl = dwfl_begin(&lines->callbacks);
	if (!lines->dwfl) { /* nothing else can go wrong */
		close(fd);
		obj_lines_destroy(lines);
		return NULL;
	}
	lines->module = dwfl_report_offline(lines->dwfl, "input", "input", fd);
	if (!lines->module) {
		close(fd); /* otherwise libdwfl owns it now */
		return lines;
	}
	dwfl_report_end(lines->dwfl, NULL, NULL);
	lines->elf = dwfl_module_getelf(lines->module, &lines->bias);
	if (lines->elf && index_units(lines) < 0) {
		obj_lines_destroy(lines);
		return NULL;
	}
	return lines;
}

void obj_lines_destroy(struct obj_lines *lines)
{
	if (!lines)
		return;
	if (lines->dwfl)
		dwfl_end(lines->dwfl);
	FREE_ALL(lines->ranges, lines);
}

static struct unit_range *find_unit(const struct obj_lines *lines, Dwarf_Addr address)
{
	size_t low = 0, high = lines->n_ranges;

	while (low < high) { /* the first one that begins after the address */
		const size_t middle = low + (high - low) / 2;

		if (lines->ranges[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < lines->ranges[low - 1].end ? &lines->ranges[low - 1] : NULL;
}

int obj_line_at(struct obj_file *obj, size_t section, size_t offset, const char **file, int *line)
{
	const size_t index = obj->sections[section].index;
	const struct obj_lines *lines;
	struct unit_range *range;
	Elf_Scn *scn;
	GElf_Shdr header;
	GElf_Addr address, bias = 0;
	Dwarf_Line *found;

	if (!obj->lines)
		obj->lines = lines_create(obj);
	lines = obj->lines;
	if (!lines)
		return -TACT_E_NOMEM;
	if (!lines->elf || !index)
		return 0;
	/* libdwfl gave the sections of an object addresses that do not overlap. */
	scn = elf_getscn(lines->elf, index);
	if (!scn || !gelf_getshdr(scn, &header))
		return 0;
	address = header.sh_addr + offset + lines->bias;
	range = find_unit(lines, address);
	if (!range || !dwfl_module_getdwarf(lines->module, &bias))
		return 0;
	found = dwarf_getsrc_die(&range->unit, address - bias);
	if (!found || dwarf_lineno(found, line))
		return 0;
	*file = dwarf_linesrc(found, NULL, NULL);
	return *file && *line > 0;
}
