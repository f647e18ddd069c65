/* SPDX-License-Identifier: MIT
 *
 * Files of code, shared by symbols.c and places.c.
 */
#ifndef TACT_TRACE_SYMBOLS_H
#define TACT_TRACE_SYMBOLS_H

#include <tact/symbols.h>

#include "obj/obj.h"

struct symbols_file {
	char *path;	      /* owned */
	const char *shown;    /* the last component of the path */
	struct obj_file *obj; /* owned; NULL: it cannot be read */
	struct obj_image image;
	struct symbols_gap **gaps; /* owned, as are they: by function, for those without a symbol */
	char *own_name;		   /* owned: "[gzip]" */
};

struct tact_symbols {
	struct symbols_file **files; /* owned */
	size_t n_files, files_capacity;
	struct symbols_file *last; /* the last one asked for */
	uint64_t n_looks;
	struct generated *generated; /* owned */
	const char *sysroot;	     /* as struct tact_trace_options has it */
	const char *root;	     /* of the files of a recorded trace; NULL: "/" */
};

/* Returns the file, opened if possible.  NULL: out of memory.  diag says why it has no object. */
struct symbols_file *symbols_file(struct tact_symbols *symbols, const char *path,
				  struct tact_diag *diag);

/* Finds the functions whose addresses this code takes, up to `capacity`.  Returns how many there
 * are.
 */
size_t symbols_candidates(const struct symbols_file *file, const struct obj_range *chooser,
			  struct tact_trace_region *out, size_t capacity);

/* Finds the source line of an address of a file, as the file says it. */
bool symbols_line_at(struct tact_symbols *symbols, const char *path, uint64_t address,
		     const char **file, int *line);

#endif /* TACT_TRACE_SYMBOLS_H */
