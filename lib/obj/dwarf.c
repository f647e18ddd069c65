/* SPDX-License-Identifier: MIT
 *
 * Source lines, and symbols of files that were stripped.  libdwfl rather than plain libdw, because
 * in objects the line table itself needs relocation, which libdwfl does, and because it finds debug
 * information in other files: by .gnu_debuglink, by build-id below the directories that debug_path.c
 * names, what dwz moved (.gnu_debugaltlink), and, if DEBUGINFOD_URLS is set, on a server.
 */
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "obj/lines.h"

static int find_no_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		       char **file, Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

/* Replaces an open file by a copy that nobody can cut short: libdwfl maps what it is given.  One that
 * cannot be copied is as if it were not there.
 */
static int keep_copy(int fd)
{
	size_t size;
	int copy;

	if (fd < 0)
		return fd;
	copy = file_copy_sealed(fd, &size);
	close(fd);
	return copy;
}

/* Below the directories, files have names of their build-ids' digits. */
static bool has_harmless_id(Dwfl_Module *module, const char *dirs, const char *path)
{
	static const char digits[] = "0123456789abcdef";
	char name[2 * 64 + 32], *to = stpcpy(name, ".build-id/");
	const unsigned char *id;
	GElf_Addr address;
	const int n = dwfl_module_build_id(module, &id, &address);

	for (int i = 0; i < n && i < 64; i++) {
		*to++ = digits[id[i] >> 4];
		*to++ = digits[id[i] & 15];
		if (!i)
			*to++ = '/';
	}
	strcpy(to, ".debug");
	return n <= 0 || obj_debug_is_harmless(dirs, path, name);
}

/* Of a file without a link, the name is that of the file itself, with an ending. */
static bool has_harmless_link(const char *dirs, const char *path, const char *file,
			      const char *link)
{
	char name[PATH_MAX + 8];

	if (link)
		return (!file || !strchr(link, '/')) && obj_debug_is_harmless(dirs, path, link);
	snprintf(name, sizeof(name), "%s.debug", file ? file_base_name(file) : "");
	return obj_debug_is_harmless(dirs, path, name);
}

/* Finds a debug file; what dwz moved into another one is asked for here, too, without `file`, and by a
 * path.
 */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			   const char *file, const char *link, GElf_Word crc, char **found)
{
	const struct obj_lines *lines = *user;
	int fd;

	if (!has_harmless_id(module, lines->debug_files, lines->path) ||
	    !has_harmless_link(lines->debug_files, lines->path, file, link))
		return -1;
	fd = keep_copy(
		dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc, found));
	if (fd >= 0 && obj_debug_is_inflated(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Opens a file descriptor of the image, for libdwfl to own. */
static int open_image(const struct obj_file *obj)
{
	int fd;

	if (obj->copy >= 0 || obj->fd >= 0)
		return fcntl(obj->copy >= 0 ? obj->copy : obj->fd, F_DUPFD_CLOEXEC, 0);
	fd = memfd_create("tact-image", MFD_CLOEXEC);
	if (fd >= 0 && file_write_all(fd, obj->image, obj->image_size)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return 2 * ORDER(x->begin, y->begin) + ORDER(x->end, y->end);
}

static int add_range(struct obj_lines *lines, Dwarf_Addr begin, Dwarf_Addr end)
{
	if (begin >= end)
		return 0;
	if (tact_grow(&lines->ranges, &lines->ranges_capacity, lines->n_ranges + 1,
		      sizeof(*lines->ranges)))
		return -TACT_E_NOMEM;
	lines->ranges[lines->n_ranges++] = (struct unit_range){begin, end, lines->n_units - 1};
	return 0;
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

		if (tact_grow(&lines->units, &lines->units_capacity, lines->n_units + 1,
			      sizeof(*lines->units)))
			return -TACT_E_NOMEM;
		lines->units[lines->n_units++] = (struct obj_unit){.entry = *unit};
		while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0)
			if (add_range(lines, begin + bias, end + bias))
				return -TACT_E_NOMEM;
	}
	if (lines->n_ranges)
		qsort(lines->ranges, lines->n_ranges, sizeof(*lines->ranges), compare_ranges);
	return 0;
}

/* Files next to this one are found by its path, which the descriptor knows. */
static void find_path(const struct obj_file *obj, char path[PATH_MAX])
{
	char link[32];
	ssize_t n = -1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", obj->fd);
	if (obj->fd >= 0)
		n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 && path[0] == '/' ? n : 0] = '\0';
}

/* NULL: out of memory. */
static struct obj_lines *lines_create(const struct obj_file *obj)
{
	struct obj_lines *lines = calloc(1, sizeof(*lines));
	void **user;
	int fd;

	if (!lines)
		return NULL;
	lines->callbacks = (Dwfl_Callbacks){
		.find_elf = find_no_elf,
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &lines->debug_path,
	};
	find_path(obj, lines->path);
	obj_debug_path(lines->debug_files, lines->path);
	lines->debug_path = lines->debug_files;
	fd = open_image(obj);
	if (fd >= 0 && obj_debug_is_inflated(fd)) {
		close(fd);
		return lines;
	}
	if (fd < 0)
		return lines;
	lines->dwfl = dwfl_begin(&lines->callbacks);
	if (!lines->dwfl) { /* nothing else can go wrong */
		close(fd);
		obj_lines_destroy(lines);
		return NULL;
	}
	lines->module = dwfl_report_offline(lines->dwfl, "input",
					    lines->path[0] ? lines->path : "input", fd);
	if (!lines->module) {
		close(fd); /* otherwise libdwfl owns it now */
		return lines;
	}
	dwfl_report_end(lines->dwfl, NULL, NULL);
	if (dwfl_module_info(lines->module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
		*user = lines;
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
	for (size_t i = 0; i < lines->n_units; i++)
		obj_unit_fini(&lines->units[i]);
	for (size_t i = 0; i < lines->n_names; i++)
		free(lines->names[i]);
	if (lines->dwfl)
		dwfl_end(lines->dwfl);
	FREE_ALL(lines->names, lines->units, lines->ranges, lines);
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

int obj_lines_need(struct obj_file *obj)
{
	if (!obj->lines)
		obj->lines = lines_create(obj);
	return obj->lines ? 0 : -TACT_E_NOMEM;
}

struct obj_unit *obj_lines_unit(struct obj_file *obj, size_t section, size_t offset,
				Dwarf_Addr *address)
{
	const size_t index = obj->sections[section].index;
	struct obj_lines *lines = obj->lines;
	struct unit_range *range;
	Elf_Scn *scn;
	GElf_Shdr header;
	GElf_Addr bias = 0;

	if (!lines || !lines->elf || !index)
		return NULL;
	/* libdwfl gave the sections of an object addresses that do not overlap. */
	scn = elf_getscn(lines->elf, index);
	if (!scn || !gelf_getshdr(scn, &header))
		return NULL;
	*address = header.sh_addr + offset + lines->bias;
	range = find_unit(lines, *address);
	if (!range || !dwfl_module_getdwarf(lines->module, &bias))
		return NULL;
	*address -= bias;
	return &lines->units[range->unit];
}

/* ---- symbols of another file ---- */

static int add_symbol(struct obj_file *obj, const GElf_Sym *from, const char *name,
		      uint64_t address, size_t order)
{
	const unsigned type = GELF_ST_TYPE(from->st_info);

	if (!name || !*name || (type != STT_FUNC && type != STT_GNU_IFUNC))
		return 0;
	for (size_t i = 0; i < obj->n_sections; i++) {
		const struct obj_section *x = &obj->sections[i];
		const uint64_t offset = address - x->address;

		if (address < x->address || offset >= x->size)
			continue;
		if (tact_grow(&obj->symbols, &obj->symbols_capacity, obj->n_symbols + 1,
			      sizeof(*obj->symbols)))
			return -TACT_E_NOMEM;
		obj->symbols[obj->n_symbols++] = (struct obj_symbol){
			.name = name,
			.section = i,
			.offset = (size_t)offset,
			.size = from->st_size < x->size - offset ? (size_t)from->st_size
								 : (size_t)(x->size - offset),
			.order = order,
			.is_function = true,
			.is_global = GELF_ST_BIND(from->st_info) != STB_LOCAL,
			.is_indirect = type == STT_GNU_IFUNC,
		};
		return 0;
	}
	return 0;
}

static bool has_section(Elf *elf, unsigned type, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *own =
			gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (own && (name ? !strcmp(own, name) : header.sh_type == type))
			return true;
	}
	return false;
}

/* Where neither the file nor its debug file has a table of symbols, libdwfl unpacks .gnu_debugdata,
 * however large that gets: only at its end does it say how large.
 */
static bool may_have_symbols(const struct obj_lines *lines)
{
	Dwarf_Addr bias;
	Dwarf *debug;

	if (!has_section(lines->elf, 0, ".gnu_debugdata") ||
	    has_section(lines->elf, SHT_SYMTAB, NULL))
		return true;
	debug = dwfl_module_getdwarf(lines->module, &bias);
	return debug && dwarf_getelf(debug) != lines->elf &&
	       has_section(dwarf_getelf(debug), SHT_SYMTAB, NULL);
}

int obj_find_symbols(struct obj_file *obj)
{
	struct obj_lines *lines;
	int n, status = 0;

	if (obj->has_symbols || obj->type == OBJ_RELOCATABLE)
		return 0;
	if (obj_lines_need(obj))
		return -TACT_E_NOMEM;
	lines = obj->lines;
	if (!lines->elf)
		return 0;
	n = may_have_symbols(lines) ? dwfl_module_getsymtab(lines->module) : 0;
	obj->n_symbols = n > 0 ? 0 : obj->n_symbols; /* it has those of .dynsym as well */
	for (int i = 1; i < n && !status; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(lines->module, i, &symbol, &address,
							   NULL, NULL, NULL);

		status = add_symbol(obj, &symbol, name, address - lines->bias, (size_t)i);
	}
	if (status)
		return status;
	obj_sort_symbols(obj);
	obj->n_functions = 0;
	return obj_cut_functions(obj);
}
