/* SPDX-License-Identifier: MIT
 *
 * Names and source lines of the code that a trace executes, and the code that a name stands for.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.
 */
#ifndef TACT_SYMBOLS_H
#define TACT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_symbols; /* the files of code that were opened so far */

/* Creates an empty set of symbols; files are opened when they are asked for.  Returns 0 with a
 * handle for tact_symbols_destroy, -TACT_E_INVAL without `out`, -TACT_E_NOMEM.
 */
int tact_symbols_create(struct tact_symbols **out);

/* Closes all files and frees all names.  NULL is allowed. */
void tact_symbols_destroy(struct tact_symbols *symbols);

/* Where an instruction is.  `function` is owned by the symbols, `module` by the trace. */
struct tact_place {
	size_t size;
	const char *module;   /* path of its file; "" if it comes from no file */
	const char *function; /* its symbol; "[gzip 0x4a20]", with the address of its first byte,
				 for a function without one; "[gzip]" if the file cannot be read or
				 has changed; "[generated]" for code that comes from no file */
	uint64_t address;     /* in the file, as objdump shows it; in memory if there is no file */
	uint64_t begin;	      /* the function's first byte, in the same terms; 0: unknown */
	bool is_named;	      /* the function has a symbol */
};
#define TACT_PLACE_INIT TACT_SIZED(struct tact_place)

/* Finds the place of an instruction, given by its block and its offset in the block.  A file that
 * cannot be read only costs the names.  Returns 0, -TACT_E_INVAL without a handle, trace, block or
 * out->size, -TACT_E_NOMEM.
 */
int tact_symbols_find(struct tact_symbols *symbols, const struct tact_trace *trace,
		      const struct tact_trace_block *block, uint32_t offset,
		      struct tact_place *out);

/* Finds the source line of an instruction in the DWARF data of its file.  *file is owned by the
 * symbols.  Returns false, and leaves *file and *line alone, if the line is unknown or a pointer is
 * NULL.
 */
bool tact_symbols_line(struct tact_symbols *symbols, const struct tact_trace *trace,
		       const struct tact_trace_block *block, uint32_t offset, const char **file,
		       int *line);

/* Finds code by its name, for struct tact_trace_options:
 *   SYMBOL             a function of the program or of the libraries that it is linked with
 *   MODULE:SYMBOL      of this file: a path, or the name of a library (libz, libz.so.1)
 *   ADDR-ADDR          addresses in the program's file, as objdump shows them, in hexadecimal
 *   MODULE:ADDR-ADDR   the same in another file
 *   memory:ADDR-ADDR   addresses in the memory of the running program
 * A single ADDR stands for one byte.  `program` and `path` are as for tact_trace_launch; path may
 * be NULL; a script stands for its interpreter.  out->file is owned by the symbols.  Returns 0, or:
 *   -TACT_E_INVAL   no such code, or a function that is selected when the program starts (memcpy
 *                   and the like); or a pointer other than path and diag is NULL
 *   -TACT_E_IO      the program was not found
 *   -TACT_E_FORMAT  the file is not one with code of a known instruction set
 *   -TACT_E_NOMEM
 */
int tact_symbols_region(struct tact_symbols *symbols, const char *text, const char *program,
			const char *path, struct tact_trace_region *out, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_SYMBOLS_H */
