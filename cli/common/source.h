/* SPDX-License-Identifier: MIT
 *
 * Where a command's blocks come from: -x and the files of the command line, one after the other.
 */
#ifndef TACT_SOURCE_H
#define TACT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/input.h>
#include <tact/store.h>

#include "options.h"

struct source_item {
	bool is_hex;	   /* the value is hex digits, not a path */
	const char *value; /* borrowed from argv */
};

/* How much may be read, for those who read for others. */
struct source_limits {
	size_t blocks, instructions; /* of all inputs together */
	size_t n_blocks, n_instructions;
	bool is_exceeded; /* the input ended there, with a message */
};

/* Values of the options.  All zero is a valid start: no input. */
struct source_options {
	struct source_limits *limits; /* not owned; NULL: none.  No option sets it. */
	struct source_item *items;    /* owned */
	size_t n_items;
	const struct tact_isa *isa; /* of bytes and text, and what files must have; NULL: any */
	bool is_native; /* code is for this machine, and no option chooses another set */
	int syntax;	/* enum tact_syntax */
	bool is_raw, is_mangled;
	bool skip_unknown;
	struct option_words compiler_options; /* owned: what follows -- */
	const char *function;
	unsigned loop;
	int path; /* as in struct tact_input_options */
	uint64_t addr_begin, addr_end;
	char why[120]; /* room for a message */
};

/* How help texts describe inputs. */
#define SOURCE_HELP                                                                                \
	"An INPUT is a file, or - for standard input: hex strings, a CSV whose first\n"            \
	"column is hex, assembly text, a listing of objdump, gdb or perf, an object file,\n"       \
	"an archive, an executable, or C source, whose compiler gets what follows --.\n"           \
	"Markers in it (LLVM-MCA, OSACA, IACA) select code; without markers,\n"                    \
	"the innermost loops are listed.\n\n"

extern const struct option_spec source_option_specs[];

/* For struct option_command: takes a path. */
const char *source_add_path(void *options, const char *path);

/* Takes what follows --: options of the compiler if a file before it is source code, otherwise
 * another path.
 */
const char *source_add_after(void *options, const char *word);

/* Tells whether there is input: what the command line names, or else standard input, if it is a
 * file or a pipe with something in it.
 */
bool source_has_input(struct source_options *options);

void source_options_fini(void *options); /* of a group */

/* A region, or the reason why there is none. */
struct source_block {
	struct tact_region region;
	const char *path; /* "-x" for hex of the command line */
	size_t index;	  /* in its input, from 1 */
	size_t candidate; /* number among the loops that were found, from 1; 0: it is not one of these */
	int status;	  /* 0, or -TACT_E_* with a message */
	bool is_input; /* a whole file failed: there is no region */
	bool is_elf;   /* addresses mean something */
	struct tact_diag diag;
	struct tact_excerpt excerpt; /* of a whole file that failed */
};

struct source {
	const struct source_options *options;
	bool is_quiet; /* do not report what was found in the files */
	size_t next_item, index, candidates;
	struct tact_input *input;	  /* owned; NULL: none is open */
	struct tact_store *store;	  /* owned; NULL or a store that is open instead */
	struct tact_store_blocks *blocks; /* owned: of the store */
	const char *path;
	uint64_t n_empty;	 /* rows of this file without hex digits, */
	struct text empty_lines; /* and where; owned */
};

void source_init(struct source *source, const struct source_options *options, bool is_quiet);
void source_fini(struct source *source);

/* Reads the next block; its pointers are valid until the next call.  Returns false at the end. */
bool source_next(struct source *source, struct source_block *block);

/* Adds the message about a failed block. */
struct text;
void source_complain(struct text *err, const struct source_block *block, const char *why);

#endif /* TACT_SOURCE_H */
