/* SPDX-License-Identifier: MIT
 *
 * Where blocks come from: hex strings, lists of them, CSV files, assembly text, ELF files.
 * One reader for all of them, so that every command accepts the same input.
 */
#ifndef TACT_INPUT_H
#define TACT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_input_kind {
	TACT_INPUT_AUTO, /* look at the content */
	TACT_INPUT_HEX,	 /* one hex string a line; blank lines and lines that start with # are
			    skipped */
	TACT_INPUT_CSV,	 /* first column is hex; a header line is recognised and skipped */
	TACT_INPUT_ASM,	 /* assembly text, AT&T or Intel */
	TACT_INPUT_ELF,	 /* object file, shared object or executable of a known instruction set */
	TACT_INPUT_RAW	 /* the file's bytes are the code; never detected, only asked for */
};

struct tact_input_options {
	size_t size; /* sizeof(struct tact_input_options) */
	enum tact_input_kind kind;
	enum tact_syntax syntax; /* for assembly text */
	const char *function;	 /* ELF: only this function (symbol name); NULL: all */
	uint64_t addr_begin;	 /* ELF: the code from addr_begin up to, not including, addr_end, */
	uint64_t addr_end;	 /*      as one region; both 0: not asked for */
	int loop; /* ELF, asm: 0 not asked for; N > 0: the N-th innermost loop found (from 1) */
	const struct tact_isa
		*isa; /* of bytes and text; NULL: the default.  ELF files say theirs */
};

/* One block of code to look at.  The pointers are owned by the input and hold until the next
 * call of tact_input_next or tact_input_close.
 */
struct tact_region {
	const struct tact_isa *isa;
	const uint8_t *code;
	size_t code_size;
	uint64_t address;     /* virtual address of code[0] in its file; 0 for text */
	uint64_t line;	      /* line in the input file from 1; 0 if there is none */
	const char *name;     /* marker's, function's or loop's name; "" if none */
	const char *function; /* function that holds it; "" if unknown */
	const char *source;   /* "file.c:12" from the DWARF line table; "" if none */
	const char *text; /* hex and CSV: the hex digits as they stand in the input; "" otherwise */
	size_t text_size; /* length of text, which is not NUL-terminated */
	bool is_loop;	  /* ends in a branch back to its start */
	bool is_candidate; /* found by searching, not chosen by the user (no marker, no option) */
};

struct tact_input;

/* Opens a file; path "-" is standard input.  opt may be NULL.
 * Returns -TACT_E_IO if it cannot be read or is a directory, -TACT_E_FORMAT if it is malformed
 * as a whole (an ELF cut short, assembly errors, markers that do not match, no code at all),
 * -TACT_E_NO_TOOL if `as` is missing, -TACT_E_INVAL for a function, loop or range that the file
 * does not have.
 */
int tact_input_open(struct tact_input **out, const char *path, const struct tact_input_options *opt,
		    struct tact_diag *diag);

/* One hex string as an input of one region, or bytes in memory (kind as in opt; used by the
 * fuzzers). */
int tact_input_open_memory(struct tact_input **out, const void *data, size_t size,
			   const struct tact_input_options *opt, struct tact_diag *diag);

/* Next region.  Returns 1 with *region filled, 0 at the end, or -TACT_E_FORMAT for one bad line
 * (odd or non-hex digits): diag has line and reason, region->line and ->text what is known, and
 * the next call goes on behind it.  Other errors end the input.
 */
int tact_input_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag);

/* What was found, for people: "hex list", "CSV", "assembly (Intel syntax)", "ELF x86-64 object",
 * ... */
const char *tact_input_description(const struct tact_input *in);
enum tact_input_kind tact_input_get_kind(const struct tact_input *in);

void tact_input_close(struct tact_input *in); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif /* TACT_INPUT_H */
