/* SPDX-License-Identifier: MIT
 *
 * Listings of code that people copy from other programs: objdump, llvm-objdump, gdb, perf.
 *
 * Their bytes are taken where they have any.  A listing without bytes is assembled again; jumps,
 * which have addresses in it, get labels.  Either way an object file in memory comes out of it,
 * which has the addresses of the listing.
 */
#ifndef TACT_LISTING_H
#define TACT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#include "base/text.h"
#include "isa/isa.h"

enum { LISTING_MAX_BYTES = 32 };

enum listing_line_kind {
	LISTING_OTHER,	/* source lines, headings, nothing */
	LISTING_HEADER, /* the name of what follows */
	LISTING_CODE,	/* an instruction */
	LISTING_MORE	/* the rest of the bytes of the instruction before it */
};

/* What one line says.  The pointers lead into the line. */
struct listing_line {
	enum listing_line_kind kind;
	bool has_address; /* a header may have none */
	bool is_certain;  /* nothing but a listing has such a line */
	uint64_t address;
	const char *name; /* of a header, or of the place where the instruction is; "" */
	size_t name_size;
	uint8_t bytes[LISTING_MAX_BYTES];
	unsigned n_bytes;
	const char *text, *end; /* of the instruction, without blanks around it */
};

/* Reads a line, without its end. */
void listing_parse_line(struct listing_line *out, const char *line, size_t size);

/* ---- whole listings ---- */

/* Code without gaps. */
struct listing_run {
	uint64_t address;
	size_t begin, end; /* in listing.code; of a listing without bytes: 0 and the distance to
			      its last instruction */
};

struct listing_symbol {
	size_t run;
	uint64_t offset;
	size_t name; /* offset in listing.names, NUL-terminated */
};

struct listing {
	bool is_listing; /* otherwise nothing else is set */
	bool has_bytes;
	bool is_aligned; /* its functions begin at multiples of 16, as those of compilers do */
	bool is_sorted;	 /* its lines were put in order: those of `text` are not its lines */
	struct listing_run *runs;
	size_t n_runs, runs_capacity;
	struct listing_symbol *symbols; /* with bytes only */
	size_t n_symbols, symbols_capacity;
	struct text code;  /* with bytes: those of all runs */
	struct text names; /* of the symbols */
	struct text text;  /* without bytes: for the assembler, line by line as in the listing */
};

/* Reads a text; if it is no listing, that is no error.  Returns 0, -TACT_E_NOMEM, or -TACT_E_FORMAT
 * for a listing that is too large or in too many pieces.
 */
int listing_read(struct listing *out, const struct isa_assembler *assembler, const char *text,
		 size_t size, struct tact_diag *diag);
void listing_free(struct listing *listing);

/* Adds the lines of a listing to `out`: those of each dump by gdb in the order of their addresses,
 * which "disassemble /m" does not keep.  Returns 0 or -TACT_E_NOMEM.
 */
int listing_put_in_order(struct text *out, const char *text, size_t size);

/* Makes an object file of a listing with bytes; *image is freed by the caller.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int listing_make_image(const struct listing *listing, const struct tact_isa *isa, uint8_t **image,
		       size_t *size, struct tact_diag *diag);

/* Gives the sections of an object that was assembled from listing.text the addresses of the
 * listing.
 */
void listing_set_addresses(const struct listing *listing, uint8_t *image, size_t size);

/* The runs of a listing without bytes are sections with this prefix and their number. */
#define LISTING_SECTION_PREFIX ".text.tact_"

#endif /* TACT_LISTING_H */
