/* SPDX-License-Identifier: MIT
 *
 * ELF and DWARF: code ranges, symbols, source lines, unwind information.
 * Everything here survives hostile files: a length or an offset is checked before it is used.
 */
#ifndef TACT_OBJ_H
#define TACT_OBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#include "isa/isa.h"

/* Symbols that begin with this are ours (labels at comment markers), not the user's. */
#define OBJ_PRIVATE_PREFIX "__tact_"

enum obj_type { OBJ_RELOCATABLE, OBJ_EXECUTABLE, OBJ_SHARED };

/* Code from begin up to, not including, end: offsets in section number `section` of the file. */
struct obj_range {
	size_t section;
	size_t begin;
	size_t end;
};

/* An executable section, or an executable segment of a file that has no section table. */
struct obj_section {
	const char *name;    /* in the image */
	const uint8_t *data; /* in the image, or `owned` */
	uint8_t *owned;	     /* relocated copy; NULL if nothing needed relocation */
	size_t size;
	uint64_t address;   /* of data[0], as the file says: 0 for most sections of an object */
	size_t index;	    /* in the file's section table; 0 for a segment */
	uint64_t alignment; /* of its address, as the file says; 0: unknown */
};

struct obj_symbol {
	const char *name; /* in the image; never "" */
	size_t section;
	size_t offset; /* <= size of the section */
	size_t size;   /* 0: unknown; never past the end of the section */
	size_t order;  /* index in the symbol table */
	bool is_function;
	bool is_global;	  /* or weak */
	bool is_indirect; /* its code chooses the function when the program starts */
};

/* All executable code, cut at the symbols that start a function; code between them that no symbol
 * covers is a function, too.  Sorted by section and begin; the ranges do not overlap and leave
 * nothing out.
 */
struct obj_function {
	const char *name; /* "" for code that no symbol covers */
	struct obj_range range;
};

struct obj_lines;

struct obj_file {
	enum obj_type type;
	const struct tact_isa *isa; /* of its code */
	const uint8_t *image;	    /* the caller's */
	size_t image_size;
	int fd;	  /* the caller's open file, which knows where it is; -1 if there is none */
	int copy; /* the caller's, of the same bytes; -1 if there is none */
	struct obj_section *sections;
	size_t n_sections, sections_capacity;
	struct obj_symbol *symbols; /* sorted by section, offset */
	size_t n_symbols, symbols_capacity;
	bool has_symbols; /* a whole symbol table, not only .dynsym */
	struct obj_function *functions;
	size_t n_functions, functions_capacity;
	struct obj_lines *lines; /* made when it is first needed */
	char **names; /* by function, demangled when they are first asked for; NULL: never */
};

/* A file in memory. */
struct obj_image {
	void *data; /* mapped; NULL: none */
	size_t size;
	int fd;	  /* of the file, which knows where it is; -1: none */
	int copy; /* of data: open; -1: none */
};

/* Maps a copy of a file, so that nobody can take its end away, or change it, while it is read.  Returns
 * 0, -TACT_E_IO, or -TACT_E_FORMAT if the file is empty; then *out is untouched.  obj_image_map_fd takes
 * over an open file, if it succeeds.
 */
int obj_image_map(struct obj_image *out, const char *path, struct tact_diag *diag);
int obj_image_map_fd(struct obj_image *out, int fd, struct tact_diag *diag);
void obj_image_close(struct obj_image *image); /* its descriptors: there may be many */
void obj_image_unmap(struct obj_image *image); /* one without data is allowed */

/* Find the build-id in an ELF image or in a file.  Return its size; 0 if there is none, or if it is
 * longer than `most`.
 */
unsigned obj_build_id(const uint8_t *image, size_t size, uint8_t *id, size_t most);
unsigned obj_build_id_of(const char *path, uint8_t *id, size_t most);

/* Reads an ELF image, which must outlive the result; so must the descriptors of obj_open_image, which
 * DWARF needs.  Returns 0, -TACT_E_NOMEM, or -TACT_E_FORMAT if it is not an ELF file of a known instruction set,
 * is cut short, or has no code.
 */
int obj_open(struct obj_file **out, const void *image, size_t size, struct tact_diag *diag);
int obj_open_image(struct obj_file **out, const struct obj_image *image, struct tact_diag *diag);
void obj_close(struct obj_file *obj); /* NULL is allowed */

/* Takes the symbols of a stripped file from its debug information in another file, if there is any,
 * and cuts functions at them.  Call it right after obj_open.  Returns 0 or -TACT_E_NOMEM.
 */
int obj_find_symbols(struct obj_file *obj);

/* Functions that have unwind information, in order of address. */
struct obj_unwind {
	const struct obj_file *obj; /* borrowed */
	const uint8_t *table;	    /* in the image */
	size_t n;
	uint64_t address, offset; /* of .eh_frame_hdr, in memory and in the image */
};
bool obj_unwind_open(struct obj_unwind *out, const struct obj_file *obj); /* false: there is none */
uint64_t obj_unwind_begin(const struct obj_unwind *unwind, size_t i);	  /* an address */
uint64_t obj_unwind_end(const struct obj_unwind *unwind, size_t i);	  /* 0: not known */
size_t obj_unwind_from(const struct obj_unwind *unwind,
		       uint64_t address); /* the first one not before an address */

/* Finds section and offset of a place in the file; false if there is no code. */
bool obj_locate(const struct obj_file *obj, uint64_t file_offset, size_t *section, size_t *offset);

/* Finds where functions with unwind information begin in a range of code, in order, and what is
 * left after them; the first one is where the range begins.  *starts, offsets in the section, is
 * freed by the caller.  Returns how many there are, 0 if there is no such information, or
 * -TACT_E_NOMEM.
 */
long obj_cut_at_unwind(const struct obj_file *obj, const struct obj_range *range, size_t **starts);

/* Finds the function that covers an offset; never NULL for an offset inside a section. */
const struct obj_function *obj_function_at(const struct obj_file *obj, size_t section,
					   size_t offset);

/* Returns the function's name as in the source, with parameters; its symbol if that is not mangled,
 * or if memory ran out.  Owned by obj, which keeps them: call obj_keep_names first, once, when
 * functions are cut.  It returns 0 or -TACT_E_NOMEM; without it, there are only symbols.
 */
int obj_keep_names(struct obj_file *obj);
const char *obj_function_name(struct obj_file *obj, const struct obj_function *function);

/* Finds the symbol of this name: a function if there is one, otherwise any label in code; NULL:
 * none.
 */
const struct obj_symbol *obj_symbol_find(const struct obj_file *obj, const char *name);

/* Finds a symbol as people name it: the symbol itself, or the name as in the source, with or without
 * parameters, or as much of the beginning of either as is unique.  Returns 0, -TACT_E_NO_DATA if
 * there is none (diag says which is close), -TACT_E_INVAL if there are several, or -TACT_E_NOMEM.
 */
int obj_symbol_search(const struct obj_file *obj, const char *name, const struct obj_symbol **out,
		      struct tact_diag *diag);

/* Finds the range of the function that a name stands for, as obj_symbol_search does.  Returns 0,
 * -TACT_E_INVAL if there is no such function, or several, or it has no code, or -TACT_E_NOMEM.
 */
int obj_function_find(const struct obj_file *obj, const char *name, struct obj_range *range,
		      struct tact_diag *diag);

/* Finds the nearest symbol at or before an offset in the same section; NULL if there is none. */
const struct obj_symbol *obj_symbol_before(const struct obj_file *obj, size_t section,
					   size_t offset);

/* A line of the source: `function` is the inlined function that it belongs to; "" for the function
 * that has the code.
 */
struct obj_frame {
	const char *function; /* owned by obj, as is */
	const char *file;
	int line;
};
enum { OBJ_MOST_FRAMES = 32 };

/* Finds the line of some code and, if it was inlined, the lines of the calls, the innermost first.
 * Returns how many there are, at most `most`; 0 if nothing is known, or -TACT_E_NOMEM.  If memory
 * runs out inside libdw, however, libdw ends the process: its handler for that case takes no
 * argument, so that nothing could lead back from it.
 */
long obj_frames_at(struct obj_file *obj, size_t section, size_t offset, struct obj_frame *frames,
		   size_t most);

/* Returns the frame that people mean: the innermost one outside of compilers' and systems' own files
 * (/usr/include and the like), or the outermost.  n > 0.
 */
size_t obj_own_frame(const struct obj_frame *frames, size_t n);
bool obj_is_system_file(const char *file);

/* Finds that frame's file (owned by obj, valid until obj_close) and line.  Returns 1, 0 if nothing
 * is known, or -TACT_E_NOMEM, as obj_frames_at does.
 */
int obj_line_at(struct obj_file *obj, size_t section, size_t offset, const char **file, int *line);

/* Returns the name of a function as in the source, where its symbol is mangled (C++, Rust, D): with
 * its parameters if is_whole.  The caller frees it.  NULL: it is not mangled, or out of memory.
 */
char *obj_demangle(const char *symbol, bool is_whole);

/* Returns the length of a function's name without what compilers append when they make clones and
 * parts of it: "hash.constprop.0", "hash.isra.3", "hash.part.1", "hash.cold", "hash.llvm.123" and
 * "hash(int) [clone .cold]" are all made from "hash".
 */
size_t obj_base_length(const char *name);

/* The same for names of two builds: the hash that ends a name of Rust's first scheme, which every
 * build changes, goes too.
 */
size_t obj_stem_length(const char *name);
uint64_t obj_stem_hash(const char *name); /* of those characters */

/* Used inside the module. */
void obj_sort_symbols(struct obj_file *obj);
int obj_cut_functions(struct obj_file *obj); /* fills functions; 0 or -TACT_E_NOMEM */
void obj_lines_destroy(struct obj_lines *lines);

#endif /* TACT_OBJ_H */
