/* SPDX-License-Identifier: MIT
 *
 * Names and lines of executed code.  A file is opened once; a file that is gone, is not an ELF file
 * or has changed since it was executed only costs the names.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "code/code.h"
#include "trace/generated.h"
#include "trace/symbols.h"

#include <tact-program/tracing.h>

enum { FORGET_LOOKS = 1024 };

/* Code that no symbol covers, split when it is first asked for. */
struct symbols_gap {
	size_t *starts; /* owned: offsets in the section where functions begin */
	char **names;	/* owned, as are they; NULL: not asked for yet */
	size_t n;
};

int tact_symbols_create(struct tact_symbols **out)
{
	if (!out)
		return -TACT_E_INVAL;
	*out = calloc(1, sizeof(**out));
	if (*out && generated_create(&(*out)->generated)) {
		free(*out);
		*out = NULL;
	}
	return *out ? 0 : -TACT_E_NOMEM;
}

void tact_symbols_set_sysroot(struct tact_symbols *s, const char *sysroot)
{
	if (s)
		s->sysroot = sysroot;
}

void tact_symbols_set_root(struct tact_symbols *s, const char *root)
{
	if (s)
		s->root = root;
}

static void free_gap(struct symbols_gap *gap)
{
	if (!gap)
		return;
	for (size_t i = 0; gap->names && i < gap->n; i++)
		free(gap->names[i]);
	FREE_ALL(gap->names, gap->starts, gap);
}

static void close_file(struct symbols_file *f)
{
	for (size_t i = 0; f->gaps && i < f->obj->n_functions; i++)
		free_gap(f->gaps[i]);
	free(f->gaps);
	obj_close(f->obj);
	obj_image_unmap(&f->image);
	FREE_ALL(f->own_name, f->path, f);
}

void tact_symbols_destroy(struct tact_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++)
		close_file(s->files[i]);
	generated_destroy(s->generated);
	FREE_ALL(s->files, s);
}

/* Finds a file of another machine here: a file whose code is not what was executed has no names, so
 * that any other of the same name does no harm.
 */
static const char *place_of(const char *root, const char *path, char place[PATH_MAX])
{
	for (const char *rest = path; root && rest && *rest == '/'; rest = strchr(rest + 1, '/'))
		if (snprintf(place, PATH_MAX, "%s%s", root, rest) < PATH_MAX &&
		    !access(place, R_OK))
			return place;
	return path;
}

static int open_file(struct symbols_file *f, const char *root, struct tact_diag *diag)
{
	char place[PATH_MAX];
	int status = obj_image_map(&f->image, place_of(root, f->path, place), diag);

	if (status)
		return status;
	status = obj_open_image(&f->obj, &f->image, diag);
	if (!status && obj_find_symbols(f->obj)) {
		obj_close(f->obj);
		status = -TACT_E_NOMEM;
	}
	madvise(f->image.data, f->image.size, MADV_DONTNEED); /* see forget_pages */
	return status;
}

static struct symbols_file *add_file(struct tact_symbols *s, const char *path,
				     struct tact_diag *diag)
{
	struct symbols_file *f = calloc(1, sizeof(*f));
	const char *slash;
	size_t size;
	int status;

	if (!f)
		return NULL;
	f->path = strdup(path);
	slash = f->path ? strrchr(f->path, '/') : NULL;
	f->shown = slash ? slash + 1 : f->path;
	size = f->path ? strlen(f->shown) + 3 : 0;
	f->own_name = f->path ? malloc(size) : NULL;
	if (!f->own_name ||
	    tact_grow(&s->files, &s->files_capacity, s->n_files + 1, sizeof(*s->files))) {
		close_file(f);
		return NULL;
	}
	snprintf(f->own_name, size, "[%s]", f->shown);
	status = open_file(f, s->root, diag);
	if (status)
		f->obj = NULL;
	if (status == -TACT_E_NOMEM) {
		close_file(f);
		return NULL;
	}
	s->files[s->n_files++] = f;
	return f;
}

struct symbols_file *symbols_file(struct tact_symbols *s, const char *path, struct tact_diag *diag)
{
	if (s->last && !strcmp(s->last->path, path))
		return s->last;
	for (size_t i = 0; i < s->n_files; i++)
		if (!strcmp(s->files[i]->path, path))
			return s->last = s->files[i];
	return s->last = add_file(s, path, diag);
}

/* ---- where a block is ---- */

struct spot {
	struct symbols_file *file; /* NULL: out of memory */
	size_t section, offset;
};

/* Returns whether the file still contains what was executed. */
static bool is_same(const struct obj_file *obj, const struct spot *at,
		    const struct tact_trace_block *b)
{
	const struct obj_section *x = &obj->sections[at->section];
	const size_t left = x->size - at->offset;

	return !memcmp(x->data + at->offset, b->code, b->code_size < left ? b->code_size : left);
}

/* Pages of a mapped file that were read count as our memory: now and then they are given back. */
static void forget_pages(struct tact_symbols *s)
{
	if (++s->n_looks % FORGET_LOOKS)
		return;
	for (size_t i = 0; i < s->n_files; i++)
		if (s->files[i]->image.data)
			madvise(s->files[i]->image.data, s->files[i]->image.size, MADV_DONTNEED);
}

/* Finds the place of a block; true if an object has it. */
static bool find_spot(struct tact_symbols *s, const struct tact_trace_module *m,
		      const struct tact_trace_block *b, struct spot *spot)
{
	spot->file = symbols_file(s, m->path, NULL);
	forget_pages(s);
	return spot->file && spot->file->obj &&
	       obj_locate(spot->file->obj, b->address - m->begin + m->offset, &spot->section,
			  &spot->offset) &&
	       is_same(spot->file->obj, spot, b);
}

static struct symbols_gap *find_gap(struct symbols_file *f, const struct obj_function *fn)
{
	const size_t number = (size_t)(fn - f->obj->functions);
	struct symbols_gap *gap;
	long n;

	if (!f->gaps)
		f->gaps = calloc(f->obj->n_functions, sizeof(*f->gaps));
	if (!f->gaps)
		return NULL;
	if (f->gaps[number])
		return f->gaps[number];
	gap = calloc(1, sizeof(*gap));
	if (!gap)
		return NULL;
	n = code_cut_gap(f->obj, fn, &gap->starts);
	gap->n = n > 0 ? (size_t)n : 0;
	gap->names = calloc(gap->n + 1, sizeof(*gap->names));
	if (n <= 0 || !gap->names) {
		free_gap(gap);
		return NULL;
	}
	return f->gaps[number] = gap;
}

/* Finds the function of a gap that covers the offset: its name and its first byte. */
static const char *nameless(struct symbols_file *f, const struct obj_function *fn, size_t offset,
			    size_t *begin)
{
	const struct obj_section *x = &f->obj->sections[fn->range.section];
	const size_t size = strlen(f->shown) + strlen(x->name) + 32;
	struct symbols_gap *gap = find_gap(f, fn);
	size_t low = 0, high;
	char *text;

	if (!gap)
		return NULL;
	for (high = gap->n; high - low > 1;) {
		const size_t middle = low + (high - low) / 2;

		if (gap->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	*begin = gap->starts[low];
	if (gap->names[low])
		return gap->names[low];
	text = gap->names[low] = malloc(size);
	if (text && !strncmp(x->name, ".plt", 4))
		snprintf(text, size, "[%s %s]", f->shown, x->name);
	else if (text)
		snprintf(text, size, "[%s 0x%llx]", f->shown,
			 (unsigned long long)(x->address + *begin));
	return text;
}

/* Names code that no file has, if the program has told its name. */
static int name_generated(struct tact_symbols *s, const struct tact_trace *trace,
			  const struct tact_trace_block *b, uint32_t offset, struct tact_place *out)
{
	const int status =
		generated_find(s->generated, trace, b, offset, &out->function, &out->begin);

	out->is_named = status > 0;
	return status < 0 ? status : 0;
}

/* For a place of our own size. */
static int find_place(struct tact_symbols *s, const struct tact_trace *trace,
		      const struct tact_trace_block *b, uint32_t offset, struct tact_place *out)
{
	struct tact_trace_module m = TACT_TRACE_MODULE_INIT;
	const struct obj_function *fn;
	const struct obj_section *x;
	struct spot spot;
	size_t begin;

	*out = (struct tact_place){.size = sizeof(*out),
				   .module = "",
				   .function = "[generated]",
				   .address = b->address + offset};
	if (!b->module || tact_trace_get_module(trace, b->module, &m))
		return name_generated(s, trace, b, offset, out);
	out->module = m.path;
	if (!find_spot(s, &m, b, &spot)) {
		if (!spot.file)
			return -TACT_E_NOMEM;
		out->function = spot.file->own_name;
		out->address += m.offset - m.begin;
		return 0;
	}
	if (offset < spot.file->obj->sections[spot.section].size - spot.offset)
		spot.offset += offset;
	x = &spot.file->obj->sections[spot.section];
	fn = obj_function_at(spot.file->obj, spot.section, spot.offset);
	begin = fn->range.begin;
	out->is_named = *fn->name;
	out->function = *fn->name ? fn->name : nameless(spot.file, fn, spot.offset, &begin);
	out->address = x->address + spot.offset;
	out->begin = x->address + begin;
	return out->function ? 0 : -TACT_E_NOMEM;
}

int tact_symbols_find(struct tact_symbols *s, const struct tact_trace *trace,
		      const struct tact_trace_block *b, uint32_t offset, struct tact_place *out)
{
	struct tact_place place;
	int status;

	if (!s || !trace || !b || !tact_can_fill(out))
		return -TACT_E_INVAL;
	status = find_place(s, trace, b, offset, &place);
	return status ? status : tact_fill(out, &place, sizeof(place));
}

bool tact_symbols_line(struct tact_symbols *s, const struct tact_trace *trace,
		       const struct tact_trace_block *b, uint32_t offset, const char **file,
		       int *line)
{
	struct tact_trace_module m = TACT_TRACE_MODULE_INIT;
	struct spot spot;

	if (!s || !trace || !b || !file || !line || !b->module ||
	    tact_trace_get_module(trace, b->module, &m) || !find_spot(s, &m, b, &spot))
		return false;
	if (offset >= spot.file->obj->sections[spot.section].size - spot.offset)
		return false;
	return obj_line_at(spot.file->obj, spot.section, spot.offset + offset, file, line) > 0;
}

bool symbols_line_at(struct tact_symbols *s, const char *path, uint64_t address, const char **file,
		     int *line)
{
	const struct symbols_file *f = *path ? symbols_file(s, path, NULL) : NULL;

	for (size_t i = 0; f && f->obj && i < f->obj->n_sections; i++) {
		const struct obj_section *x = &f->obj->sections[i];

		if (address >= x->address && address - x->address < x->size)
			return obj_line_at(f->obj, i, address - x->address, file, line) > 0;
	}
	return false;
}

bool tact_trace_has_region(const struct tact_trace *trace, const struct tact_trace_region *r)
{
	const struct tact_trace_block *b;

	for (uint32_t i = 0; r && (b = tact_trace_get_block(trace, i)); i++) {
		struct tact_trace_module m = TACT_TRACE_MODULE_INIT;
		uint64_t at = b->address;

		if (r->file) {
			if (!b->module || tact_trace_get_module(trace, b->module, &m) ||
			    strcmp(m.path, r->file))
				continue;
			at += m.offset - m.begin;
		}
		if (at >= r->begin && at < r->end)
			return true;
	}
	return false;
}
