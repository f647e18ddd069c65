/* SPDX-License-Identifier: MIT
 *
 * What libdw knows about a file, shared inside the module.
 */
#ifndef OBJ_LINES_H
#define OBJ_LINES_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "obj/obj.h"

/* Code that a call was replaced by. */
struct inlined_range {
	Dwarf_Addr begin, end;
	unsigned depth; /* in the tree of entries: an outer one has less */
	size_t parent;	/* the innermost range around it; its own number: none */
	Dwarf_Die entry;
};

struct obj_unit {
	Dwarf_Die entry;	       /* with the line table */
	struct inlined_range *inlined; /* owned; by begin; made when first asked for */
	size_t n_inlined, capacity;
	bool is_indexed;
};

/* Code of one compilation unit. */
struct unit_range {
	Dwarf_Addr begin, end;
	size_t unit;
};

enum { OBJ_DEBUG_PATH = 4 * PATH_MAX };

struct obj_lines {
	Dwfl *dwfl; /* NULL: nothing to ask */
	Dwfl_Module *module;
	Elf *elf; /* the module's */
	GElf_Addr bias;
	struct obj_unit *units; /* owned */
	size_t n_units, units_capacity;
	struct unit_range *ranges; /* owned; by begin */
	size_t n_ranges, ranges_capacity;
	char path[PATH_MAX]; /* of the file; "": unknown */
	char *debug_path;    /* debug_files; dwfl keeps a pointer to it */
	char debug_files[OBJ_DEBUG_PATH];
	Dwfl_Callbacks callbacks; /* dwfl keeps a pointer to it */
	char **names;		  /* owned, as are they: of inlined functions, demangled */
	size_t n_names, names_capacity;
};

/* Finds the unit of an offset in a section and the address as the unit has it; NULL: there is none.
 */
struct obj_unit *obj_lines_unit(struct obj_file *obj, size_t section, size_t offset,
				Dwarf_Addr *address);

/* Makes obj->lines.  Returns 0 or -TACT_E_NOMEM. */
int obj_lines_need(struct obj_file *obj);

/* Writes the directories in which debug files of a file may be, as libdwfl takes them. */
void obj_debug_path(char out[OBJ_DEBUG_PATH], const char *path);

/* Returns whether libdwfl may look for a debug file of that name, or path, of the file `path`: all that
 * it would find are plain files, without holes that are most of them.
 */
bool obj_debug_is_harmless(const char *dirs, const char *path, const char *name);

/* Returns whether an ELF file says that its sections are far larger than it could hold. */
bool obj_debug_is_inflated(int fd);

void obj_unit_fini(struct obj_unit *unit);

#endif /* OBJ_LINES_H */
