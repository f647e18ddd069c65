/* SPDX-License-Identifier: MIT
 *
 * From the name of code to the place of its bytes in a file, which is what the plugin filters by.
 *
 * A symbol is searched in the program, then in the libraries that it is linked with, which are
 * found as the dynamic linker finds them except for LD_LIBRARY_PATH and /etc/ld.so.conf.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "trace/symbols.h"
#include "trace/trace.h"

#include <tact-program/tracing.h>

enum { MAX_FILES = 256 };

/* Where libraries are on Debian and its relatives, and elsewhere (ld.so(8)). */
static const char *const directories[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib",
					  "/usr/local/lib"};
static const char *const multiarch[] = {"/lib/", "/usr/lib/"};

/* The program and its libraries, the program first. */
struct closure {
	struct symbols_file *files[MAX_FILES];
	size_t n;
	char sysroot[PATH_MAX]; /* "": none */
};

/* ---- dynamic section ---- */

struct dynamic {
	const Elf64_Dyn *items;
	size_t n;
	const char *strings;
	size_t strings_size;
};

static const uint8_t *at_address(const struct symbols_file *f, uint64_t address, uint64_t *left)
{
	const Elf64_Ehdr *h = f->image.data;
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const uint8_t *)f->image.data + h->e_phoff);

	for (unsigned i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD || address < p[i].p_vaddr ||
		    address - p[i].p_vaddr >= p[i].p_filesz || p[i].p_offset > f->image.size ||
		    p[i].p_filesz > f->image.size - p[i].p_offset)
			continue;
		*left = p[i].p_filesz - (address - p[i].p_vaddr);
		return (const uint8_t *)f->image.data + p[i].p_offset + (address - p[i].p_vaddr);
	}
	return NULL;
}

/* Everything is checked: a file may contain anything. */
static bool read_dynamic(const struct symbols_file *f, struct dynamic *d)
{
	const Elf64_Ehdr *h = f->image.data;
	const Elf64_Phdr *p;

	*d = (struct dynamic){0};
	if (f->image.size < sizeof(*h) || h->e_phentsize != sizeof(*p) || h->e_phoff % 8 ||
	    h->e_phoff > f->image.size || h->e_phnum > (f->image.size - h->e_phoff) / sizeof(*p))
		return false;
	p = (const Elf64_Phdr *)((const uint8_t *)f->image.data + h->e_phoff);
	for (unsigned i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type != PT_DYNAMIC || p[i].p_offset % 8 ||
		    p[i].p_offset > f->image.size || p[i].p_filesz > f->image.size - p[i].p_offset)
			continue;
		d->items = (const Elf64_Dyn *)((const uint8_t *)f->image.data + p[i].p_offset);
		d->n = p[i].p_filesz / sizeof(*d->items);
	}
	for (size_t i = 0; i < d->n; i++) {
		uint64_t left = 0;

		if (d->items[i].d_tag == DT_NULL)
			d->n = i;
		else if (d->items[i].d_tag == DT_STRTAB &&
			 (d->strings = (const char *)at_address(f, d->items[i].d_un.d_ptr, &left)))
			d->strings_size = left;
	}
	return d->strings && d->n;
}

static const char *string_at(const struct dynamic *d, uint64_t offset)
{
	if (offset >= d->strings_size ||
	    !memchr(d->strings + offset, '\0', d->strings_size - offset))
		return NULL;
	return d->strings + offset;
}

/* ---- libraries ---- */

/* Finds the real path, which the mappings of a process show; false if there is no such file. */
static bool real_path_below(const char *root, const char *directory, size_t length,
			    const char *name, char path[PATH_MAX])
{
	char joined[PATH_MAX];
	const int n =
		snprintf(joined, sizeof(joined), "%s%.*s/%s", root, (int)length, directory, name);

	return n > 0 && n < PATH_MAX && realpath(joined, path);
}

/* Looks in the sysroot first, as QEMU does. */
static bool real_path(const char *sysroot, const char *directory, size_t length, const char *name,
		      char path[PATH_MAX])
{
	return (*sysroot && real_path_below(sysroot, directory, length, name, path)) ||
	       real_path_below("", directory, length, name, path);
}

/* Searches the directories of DT_RUNPATH, separated by colons, with $ORIGIN. */
static bool search_list(const char *sysroot, const struct symbols_file *of, const char *list,
			const char *name, char path[PATH_MAX])
{
	while (*list) {
		const size_t n = strcspn(list, ":");
		char directory[PATH_MAX];
		size_t skip = 0, origin = 0;

		if (!strncmp(list, "$ORIGIN", 7))
			skip = 7;
		else if (!strncmp(list, "${ORIGIN}", 9))
			skip = 9;
		if (skip)
			origin = (size_t)(of->shown - of->path);
		if (skip <= n && origin + n - skip < sizeof(directory)) {
			memcpy(directory, of->path, origin);
			memcpy(directory + origin, list + skip, n - skip);
			if (n && real_path(sysroot, directory, origin + n - skip, name, path))
				return true;
		}
		list += n + (list[n] == ':');
	}
	return false;
}

static bool find_library(const char *sysroot, const struct symbols_file *of,
			 const struct dynamic *d, const char *name, char path[PATH_MAX])
{
	if (strchr(name, '/'))
		return realpath(name, path) != NULL;
	for (size_t i = 0; i < d->n; i++) {
		const int64_t tag = d->items[i].d_tag;
		const char *list = tag == DT_RUNPATH || tag == DT_RPATH
					   ? string_at(d, d->items[i].d_un.d_val)
					   : NULL;

		if (list && search_list(sysroot, of, list, name, path))
			return true;
	}
	for (size_t i = 0; of->obj && i < ARRAY_SIZE(multiarch); i++) {
		char directory[64];
		int n = snprintf(directory, sizeof(directory), "%s%s", multiarch[i],
				 of->obj->isa->multiarch);

		if (real_path(sysroot, directory, (size_t)n, name, path))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (real_path(sysroot, directories[i], strlen(directories[i]), name, path))
			return true;
	return false;
}

static int add_to_closure(struct closure *c, struct symbols_file *f)
{
	if (!f)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (c->files[i] == f)
			return 0;
	if (c->n < MAX_FILES)
		c->files[c->n++] = f;
	return 0;
}

/* Breadth first, as the dynamic linker searches symbols. */
static int find_libraries(struct tact_symbols *s, struct closure *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct symbols_file *f = c->files[i];
		struct dynamic d;

		if (!f->obj || !read_dynamic(f, &d))
			continue;
		for (size_t k = 0; k < d.n; k++) {
			const char *name = d.items[k].d_tag == DT_NEEDED
						   ? string_at(&d, d.items[k].d_un.d_val)
						   : NULL;
			char path[PATH_MAX];

			if (name && find_library(c->sysroot, f, &d, name, path) &&
			    add_to_closure(c, symbols_file(s, path, NULL)))
				return -TACT_E_NOMEM;
		}
	}
	return 0;
}

static int open_program(struct tact_symbols *s, const char *program, const char *path,
			struct closure *c, struct tact_diag *diag)
{
	char *const argv[] = {(char *)program, NULL};
	struct trace_command command;
	char real[PATH_MAX];
	int status = trace_command_resolve(&command, path, s->sysroot, argv, diag);

	if (status)
		return status;
	status = trace_sysroot_find(c->sysroot, &command, s->sysroot, diag);
	if (!status && !realpath(command.words[2], real))
		status = tact_fail_errno(diag, program);
	if (!status && (add_to_closure(c, symbols_file(s, real, diag)) || find_libraries(s, c)))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	trace_command_fini(&command);
	return status;
}

/* Matches libz, libz.so, libz.so.1 and the file's own name. */
static bool is_called(const struct symbols_file *f, const char *name, size_t length)
{
	return !strncmp(f->shown, name, length) &&
	       (!f->shown[length] || f->shown[length] == '.' || f->shown[length] == '-');
}

/* Finds the module of MODULE:...: a path, or one of the files. */
static int choose_module(struct tact_symbols *s, struct closure *c, const char *name, size_t length,
			 struct tact_diag *diag)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct symbols_file *f;

	for (size_t i = 0; i < c->n; i++) {
		if (!is_called(c->files[i], name, length))
			continue;
		c->files[0] = c->files[i];
		c->n = 1;
		return 0;
	}
	snprintf(path, sizeof(path), "%.*s", (int)length, name);
	if (!realpath(path, real))
		return tact_fail(diag, TACT_E_INVAL,
				 "'%s' is neither a file nor a library that the program is linked "
				 "with",
				 path);
	f = symbols_file(s, real, diag);
	if (!f)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (!f->obj)
		return tact_fail(diag, TACT_E_FORMAT, "%s: not an ELF file with code that is known",
				 path);
	c->files[0] = f;
	c->n = 1;
	return 0;
}

/* ---- code ---- */

/* Reads ADDR-ADDR or ADDR, hexadecimal with or without 0x, but beginning with a digit. */
static bool read_addresses(const char *text, uint64_t *begin, uint64_t *end)
{
	char *rest;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*begin = strtoull(text, &rest, 16);
	*end = *begin + 1;
	if (*rest == '-' && isxdigit((unsigned char)rest[1]))
		*end = strtoull(rest + 1, &rest, 16);
	return !*rest && !errno;
}

static int region_of_addresses(const struct symbols_file *f, uint64_t begin, uint64_t end,
			       struct tact_trace_region *out, struct tact_diag *diag)
{
	for (size_t i = 0; f->obj && i < f->obj->n_sections; i++) {
		const struct obj_section *x = &f->obj->sections[i];
		uint64_t offset;

		if (x->owned || begin < x->address || begin - x->address >= x->size)
			continue;
		offset = (uint64_t)(x->data - f->obj->image) + (begin - x->address);
		*out = (struct tact_trace_region){offset, offset + (end - begin), f->path, false};
		return 0;
	}
	return tact_fail(diag, TACT_E_INVAL, "%s has no code at 0x%llx", f->shown,
			 (unsigned long long)begin);
}

/* Finds the code of a symbol.  Returns the number of its regions, several if it is selected when the
 * program starts; < 0: its candidates are unknown, or it has no code.
 */
static long regions_of(const struct symbols_file *f, const struct obj_symbol *symbol,
		       struct tact_trace_region *out, size_t capacity, struct tact_diag *diag)
{
	const struct obj_section *x = &f->obj->sections[symbol->section];
	struct obj_range range;
	uint64_t offset;
	size_t n;
	int status = obj_function_find(f->obj, symbol->name, &range, diag);

	if (status < 0)
		return status;
	if (symbol->is_indirect) {
		n = symbols_candidates(f, &range, out, capacity);
		if (n)
			return (long)n;
		return tact_fail(diag, TACT_E_INVAL,
				 "%s chooses this function when the program starts, and it "
				 "cannot be seen from what; without a region the result "
				 "shows which code runs: name its addresses",
				 f->shown);
	}
	offset = (uint64_t)(x->data - f->obj->image);
	*out = (struct tact_trace_region){offset + range.begin, offset + range.end, f->path, false};
	return 1;
}

static bool has_code(const struct symbols_file *f, const struct obj_symbol *symbol)
{
	return symbol && !f->obj->sections[symbol->section].owned;
}

/* The symbol itself in any file is meant before a name that only resembles it in the program. */
static long regions_of_symbol(const struct closure *c, const char *name,
			      struct tact_trace_region *out, size_t capacity,
			      struct tact_diag *diag)
{
	struct tact_diag hint = {0}, one;
	const struct obj_symbol *symbol;

	for (size_t i = 0; i < c->n; i++) {
		symbol = c->files[i]->obj ? obj_symbol_find(c->files[i]->obj, name) : NULL;
		if (has_code(c->files[i], symbol))
			return regions_of(c->files[i], symbol, out, capacity, diag);
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct obj_file *obj = c->files[i]->obj;
		const int status =
			obj ? obj_symbol_search(obj, name, &symbol, &one) : -TACT_E_NO_DATA;

		if (!status && has_code(c->files[i], symbol))
			return regions_of(c->files[i], symbol, out, capacity, diag);
		if (status && status != -TACT_E_NO_DATA)
			return tact_fail(diag, (enum tact_error) - status, "%s", one.text);
		if (obj && status && !hint.text[0] && strchr(one.text, ';'))
			hint = one;
	}
	return tact_fail(diag, TACT_E_INVAL, "there is no function '%.80s' in %.60s%s%s%s", name,
			 c->files[0]->shown,
			 c->n > 1 ? " or the libraries that it is linked with" : "",
			 hint.text[0] ? strrchr(hint.text, ';') : "",
			 hint.text[0] || c->files[0]->obj ? "" : ", which cannot be read");
}

long tact_symbols_regions(struct tact_symbols *s, const char *text, const char *program,
			  const char *path, struct tact_trace_region *out, size_t capacity,
			  struct tact_diag *diag)
{
	const char *colon, *what;
	struct closure c = {.n = 0};
	uint64_t begin = 0, end = 0;
	bool is_range;
	int status;

	if (!s || !text || !program || !out || !capacity)
		return tact_fail(diag, TACT_E_INVAL, "no name, no program, or no room");
	colon = strchr(text, ':');
	what = colon ? colon + 1 : text;
	is_range = read_addresses(what, &begin, &end);
	/* A C++ name with :: is not a module. */
	if (colon && (colon[1] == ':' || colon == text)) {
		what = text;
		colon = NULL;
	}
	if (!*what || (is_range && begin >= end))
		return tact_fail(diag, TACT_E_INVAL, *what ? "an empty range" : "no name");
	if (colon && is_range && !strncmp(text, "memory:", 7)) {
		*out = (struct tact_trace_region){begin, end, NULL, false};
		return 1;
	}
	status = open_program(s, program, path, &c, diag);
	if (!status && colon)
		status = choose_module(s, &c, text, (size_t)(colon - text), diag);
	if (status)
		return status;
	if (!is_range)
		return regions_of_symbol(&c, what, out, capacity, diag);
	status = region_of_addresses(c.files[0], begin, end, out, diag);
	return status ? status : 1;
}

int tact_symbols_region(struct tact_symbols *s, const char *text, const char *program,
			const char *path, struct tact_trace_region *out, struct tact_diag *diag)
{
	struct tact_trace_region found[2];
	const long n = out ? tact_symbols_regions(s, text, program, path, found, 2, diag)
			   : tact_fail(diag, TACT_E_INVAL, "nowhere to put the region");

	if (n > 1)
		return tact_fail(
			diag, TACT_E_INVAL,
			"one of several functions, chosen when the program starts: name the "
			"address of one");
	if (n == 1)
		*out = found[0];
	return n < 0 ? (int)n : 0;
}
