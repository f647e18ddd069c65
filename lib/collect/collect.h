/* SPDX-License-Identifier: MIT
 *
 * Layer 6: basic blocks of programs, from executions and from files.
 */
#ifndef TACT_COLLECT_PRIV_H
#define TACT_COLLECT_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/collect.h>

#include "base/base.h"
#include "code/code.h"
#include "obj/jit_map.h"

/* A file that code comes from. */
struct collect_file {
	char *path; /* owned */
	bool is_tried;
	struct obj_file *obj; /* owned; NULL: not opened, or not readable */
	struct obj_image image;
};

/* A block. */
struct collect_item {
	const uint8_t *code; /* in an image, or in the collection's memory */
	uint32_t code_size;
	uint32_t n_insns;
	uint32_t file;	  /* 0: none; else number + 1 */
	uint32_t section; /* of its object; UINT32_MAX: none */
	uint64_t place;	  /* offset in the section; the address if there is none */
	uint64_t count;
};

struct tact_collect {
	bool no_branch;
	struct collect_file *files; /* owned */
	size_t n_files, files_capacity;
	struct collect_item *items; /* owned */
	size_t n_items, items_capacity;
	struct tact_arena memory; /* for code: it must not move */
	struct code_nodes *nodes; /* owned; NULL: nothing was executed */
	struct jit_map generated; /* names of code of no file */
	struct tact_collect_summary summary;
};

/* codefiles.c */

/* Returns the number of a file, from 0, or -TACT_E_NOMEM. */
int64_t collect_file_number(struct tact_collect *c, const char *path);
/* Opens a file.  Returns 0, -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_NOMEM. */
int collect_file_open(struct collect_file *file, struct tact_diag *diag);
void collect_file_close(struct collect_file *file);

#endif /* TACT_COLLECT_PRIV_H */
