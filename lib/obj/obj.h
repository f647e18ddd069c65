/* SPDX-License-Identifier: MIT
 *
 * ELF and DWARF: code ranges, symbols, source lines, loops, byte markers.
 * Everything here survives hostile files: a length or an offset is checked before it is used.
 */
#ifndef TACT_OBJ_H
#define TACT_OBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

/* Symbols that begin with this are ours (labels put at comment markers), not the user's. */
#define OBJ_PRIVATE_PREFIX "__tact_"

enum obj_type { OBJ_RELOCATABLE, OBJ_EXECUTABLE, OBJ_SHARED };

/* Code from begin up to, not including, end: offsets in section number `section` of the file. */
struct obj_range {
	size_t section;
	size_t begin;
	size_t end;
};

struct obj_ranges {
	struct obj_range *items; /* owned; free() it */
	size_t count;
	size_t capacity;
};

/* An executable section, or an executable segment of a file that has no section table. */
struct obj_section {
	const char *name;    /* in the image */
	const uint8_t *data; /* in the image, or `owned` */
	uint8_t *owned;	     /* relocated copy; NULL if nothing had to be relocated */
	size_t size;
	uint64_t address; /* of data[0] as the file says: 0 for most sections of an object */
	size_t index;	  /* in the file's section table; 0 for a segment */
};

struct obj_symbol {
	const char *name; /* in the image; never "" */
	size_t section;
	size_t offset; /* <= size of the section */
	size_t size;   /* 0: unknown; never past the end of the section */
	size_t order;  /* place in the symbol table */
	bool is_function;
	bool is_global;	  /* or weak */
	bool is_indirect; /* its code chooses the function when the program starts */
};

/* All executable code, cut at the symbols that start a function.  Sorted by section and begin;
 * the ranges do not overlap and leave nothing out.
 */
struct obj_function {
	const char *name; /* "" for code that no symbol covers */
	struct obj_range range;
};

struct obj_lines;

struct obj_file {
	enum obj_type type;
	const uint8_t *image; /* the caller's */
	size_t image_size;
	int fd;	       /* the caller's open file of the same bytes; -1 if there is none */
	bool is_uncut; /* code without symbols is one function for each gap */
	struct obj_section *sections;
	size_t n_sections, sections_capacity;
	struct obj_symbol *symbols; /* sorted by section, offset */
	size_t n_symbols, symbols_capacity;
	struct obj_function *functions;
	size_t n_functions, functions_capacity;
	struct obj_lines *lines; /* made at the first question */
};

/* Reads an ELF image, which must stay until obj_close; so must fd (-1: none, used for DWARF).
 * Returns -TACT_E_FORMAT if it is no x86-64 ELF file, is cut short, or has no code.
 */
int obj_open(struct obj_file **out, const void *image, size_t size, int fd, struct tact_diag *diag);
void obj_close(struct obj_file *obj); /* NULL is allowed */

/* The same, but code that no symbol covers is not decoded: it is one nameless function for each gap
 * between symbols.  Large libraries open much faster so.  obj_cut_gap says where the functions of
 * one of them begin, in order, the first being that of the gap itself: *starts, offsets in the
 * section, is to be freed.  That is where unwind information says so; where there is none, where it
 * calls itself.  Returns how many there are, or -TACT_E_NOMEM.
 */
int obj_open_uncut(struct obj_file **out, const void *image, size_t size, int fd,
		   struct tact_diag *diag);
long obj_cut_gap(const struct obj_file *obj, const struct obj_function *gap, size_t **starts);

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
		       uint64_t address); /* the first not before */

/* Function that covers an offset; never NULL for an offset inside a section. */
const struct obj_function *obj_function_at(const struct obj_file *obj, size_t section,
					   size_t offset);

/* The symbol of this name: a function if there is one, else any label in code.  NULL: none. */
const struct obj_symbol *obj_symbol_find(const struct obj_file *obj, const char *name);

/* Range of the function of this name: a function symbol if there is one, else any label in code.
 * Returns 0, or -TACT_E_INVAL if there is none.
 */
int obj_function_find(const struct obj_file *obj, const char *name, struct obj_range *range,
		      struct tact_diag *diag);

/* Nearest symbol at or before an offset in the same section; NULL if there is none. */
const struct obj_symbol *obj_symbol_before(const struct obj_file *obj, size_t section,
					   size_t offset);

/* Line table: sets *file (owned by obj, until obj_close) and *line.  False if nothing is known. */
bool obj_line_at(struct obj_file *obj, size_t section, size_t offset, const char **file, int *line);

/* Appends the innermost loops of a function's code that lie in one piece, in order of address.
 * Returns 0 or -TACT_E_NOMEM.
 */
int obj_find_loops(const struct obj_file *obj, const struct obj_range *function,
		   struct obj_ranges *loops);

/* True if the range is one basic block: nothing but its last instruction leaves it. */
bool obj_is_block(const struct obj_file *obj, const struct obj_range *range);

/* Appends what stands between IACA/OSACA byte markers, over all sections.  A start that is met
 * again counts from the last one; an end without a start is passed over.
 * Returns 0, -TACT_E_NOMEM, or -TACT_E_FORMAT if there are markers but no start with an end.
 */
int obj_find_markers(const struct obj_file *obj, struct obj_ranges *regions,
		     struct tact_diag *diag);

/* Used inside the module. */
int obj_cut_functions(struct obj_file *obj); /* fills functions; 0 or -TACT_E_NOMEM */
int obj_ranges_add(struct obj_ranges *ranges, size_t section, size_t begin, size_t end);
void obj_lines_destroy(struct obj_lines *lines);

#endif /* TACT_OBJ_H */
