/* SPDX-License-Identifier: MIT
 *
 * Names and source lines of what a trace executes, and the code that a name stands for.
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

struct tact_symbols; /* files that were opened; one thread at a time */

int tact_symbols_create(struct tact_symbols **out);
void tact_symbols_destroy(struct tact_symbols *symbols); /* NULL is allowed */

/* Where an instruction of a block is.  The strings are owned by the symbols, the module's path by
 * the trace.
 */
struct tact_place {
	size_t size;
	const char *module; /* path of its file; "" if it comes from none */
	const char
		*function; /* its symbol.  "[gzip 0x4a20]", with the address of its first byte, for
			      a function without one; "[gzip]" if the file cannot be read or is
			      another one now; "[generated]" for code that comes from no file */
	uint64_t address;  /* in the file, as objdump shows it; in memory if there is no file */
	uint64_t begin;	   /* of the function, likewise; 0 if it is not known */
	bool is_named;	   /* it has a symbol */
};

/* `offset` is that of the instruction in the block.  Returns 0 or -TACT_E_NOMEM. */
int tact_symbols_find(struct tact_symbols *symbols, const struct tact_trace *trace,
		      const struct tact_trace_block *block, uint32_t offset,
		      struct tact_place *out);

/* Its source line, from DWARF in the file itself.  False if it is not known. */
bool tact_symbols_line(struct tact_symbols *symbols, const struct tact_trace *trace,
		       const struct tact_trace_block *block, uint32_t offset, const char **file,
		       int *line);

/* Code by name, for tact_trace_options:
 *   SYMBOL          a function of the program, or of the libraries that it is linked with
 *   MODULE:SYMBOL   of this file: a path, or the name of a library (libz, libz.so.1)
 *   ADDR-ADDR       addresses in the program's file, as objdump shows them; hexadecimal
 *   MODULE:ADDR-ADDR
 *   memory:ADDR-ADDR  addresses of the running program
 * A single ADDR stands for one byte.  program: as tact_trace_launch takes it, with `path` as PATH;
 * a script stands for its interpreter.  out->file is owned by the symbols.
 * Returns -TACT_E_INVAL if there is no such code, -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_NOMEM.
 */
int tact_symbols_region(struct tact_symbols *symbols, const char *text, const char *program,
			const char *path, struct tact_trace_region *out, struct tact_diag *diag);

/* The same, of what may be several regions: a function that is chosen when the program starts
 * (memcpy and its like) stands for all that it is chosen from.  Fills up to `capacity` and returns
 * how many it filled, or as above; tact_symbols_region does not take such a function.
 */
long tact_symbols_regions(struct tact_symbols *symbols, const char *text, const char *program,
			  const char *path, struct tact_trace_region *out, size_t capacity,
			  struct tact_diag *diag);

/* Names of functions as in the source, where they are mangled (C++, Rust), without parameters; NULL
 * for all others, and for all if c++filt is not installed.  Returns NULL if there is no memory.
 */
char **tact_demangle(const char *const *names, size_t n);
void tact_demangle_free(char **names, size_t n); /* NULL is allowed */

/* Whether a block of the trace begins in the region. */
bool tact_trace_has_region(const struct tact_trace *trace, const struct tact_trace_region *region);

#ifdef __cplusplus
}
#endif

#endif /* TACT_SYMBOLS_H */
