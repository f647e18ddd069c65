/* SPDX-License-Identifier: MIT
 *
 * Where blocks come from: hex strings, lists of them, CSV files, assembly text, ELF files.  One
 * reader for all, so that every command accepts the same input.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.
 */
#ifndef TACT_INPUT_H
#define TACT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>
#include <tact/remark.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of input.  Values are stable; new ones go to the end. */
enum tact_input_kind {
	TACT_INPUT_AUTO, /* decide by the content */
	TACT_INPUT_HEX,	 /* one hex string per line; blank lines and lines that start with # are
			    skipped */
	TACT_INPUT_CSV,	 /* the first column is hex; a header line is recognised and skipped */
	TACT_INPUT_ASM,	 /* assembly text, AT&T or Intel */
	TACT_INPUT_ELF, /* object file, shared object or executable of a known instruction set; also
			    what was made of a listing that a disassembler printed */
	TACT_INPUT_RAW	/* the file's bytes are the code; never detected, must be asked for */
};

/* A line of assembly text that is wrong, to be shown below the message: filled in by opening it. */
struct tact_excerpt {
	size_t size;	 /* sizeof(struct tact_excerpt) */
	uint64_t column; /* where the fault begins, bytes from 1; 0: there is no such line */
	uint64_t length; /* of what is wrong */
	char line[160];	 /* as in the input, cut to this length */
};
#define TACT_EXCERPT_INIT TACT_SIZED(struct tact_excerpt)

enum { TACT_INPUT_ALL_PATHS = -1, TACT_INPUT_MAX_PATHS = 64 };

/* What to read.  All zeros, or NULL, is the default. */
struct tact_input_options {
	size_t size; /* sizeof(struct tact_input_options) */
	enum tact_input_kind kind;
	enum tact_syntax syntax; /* for assembly text */
	const char *function;	 /* ELF: only this function (symbol name); NULL: all */
	uint64_t addr_begin;	 /* ELF: the code from addr_begin up to, not including, addr_end, */
	uint64_t addr_end;	 /*      as one region; both 0: not asked for */
	int loop; /* ELF, asm: 0: not asked for; N > 0: the N-th innermost loop (from 1) */
	const struct tact_isa
		*isa;	    /* of bytes and text; NULL: the default.  ELF files tell theirs */
	bool is_mangled;    /* names of functions as in the symbol table, not as in the source */
	bool all_functions; /* ELF, asm: where loops would be found by searching, functions without
			       loops are regions, too */
	bool skip_unknown; /* assembly text: leave out instructions that the assembler does not know */
	struct tact_excerpt *excerpt; /* the caller's; NULL: not asked for */
	/* NULL, or the words, with NULL after them, of a command that writes the assembly text of
	 * the file to its standard output: tact_input_open runs it instead of reading the file.
	 */
	const char *const *compiler;
	/* ELF, asm: the way through code with branches.  0: between markers and addresses all code
	 * in order, otherwise the first way; N > 0: the N-th way (from 1); TACT_INPUT_ALL_PATHS:
	 * each way is a region, up to TACT_INPUT_MAX_PATHS for a loop.
	 */
	int path;
	bool is_whole; /* ELF, asm: without markers, all code of each section is one region */
	/* ELF, asm, raw: only code between markers; without any, opening fails.  Raw bytes have
	 * byte markers; otherwise these are not looked for in them.
	 */
	bool is_marked;
};
#define TACT_INPUT_OPTIONS_INIT TACT_SIZED(struct tact_input_options)

/* The latency that a comment of the text gives to the instructions that begin from code[begin] up to,
 * not including, code[end].  A comment on the line of an instruction is about that one only.
 */
struct tact_given_latency {
	size_t begin, end;
	unsigned cycles;
};

/* What a comment of the text sets for the instructions from code[at] on: parts of a setting, see
 * tact_block_set_setting.
 */
struct tact_given_setting {
	size_t at;
	uint16_t setting;
};

/* One block of code to look at.  The pointers are owned by the input and are valid until the next
 * call of tact_input_next or tact_input_close.
 */
struct tact_region {
	size_t size; /* sizeof(struct tact_region) */
	const struct tact_isa *isa;
	const uint8_t *code;
	size_t code_size;
	uint64_t address;     /* virtual address of code[0] in its file; 0 for text */
	uint64_t line;	      /* in the input file, from 1; 0: none */
	const char *name;     /* of the marker, function or loop; "" if it has none */
	const char *function; /* that contains it, as in the source (C++, Rust, D), without
				 parameters; "" if unknown */
	const char *source;   /* "file.c:12" from the DWARF line table: of inlined code the
				 innermost call outside of system headers; "" if unknown */
	const char *text;     /* hex and CSV: the hex digits as in the input; "" otherwise */
	size_t text_size;     /* length of text, which is not NUL-terminated */
	bool is_loop;	      /* ends in a branch back to its start or, between markers, in any
				 branch, which then stands for one to its start; its target is
				 changed accordingly where its encoding allows */
	bool is_candidate;    /* found by searching, not chosen by a marker or an option */
	const struct tact_remarks
		*remarks;    /* what was chosen, assumed or left out to take it; NULL: nothing */
	const char *symbol;  /* of the function, as in the symbol table; "" if unknown */
	const char *inlined; /* where `source` is a call that was inlined: the functions and lines
				below it, the outermost first: "std::count stl_algo.h:4125 >
				std::__count_if stl_algobase.h:2124"; "" if it is none */
	const char *member;  /* of an archive: the object that contains it; "" otherwise */
	unsigned alignment; /* address modulo 64; 0 if it is unknown: hex, and text and objects that
			       align nothing */
	uint32_t moving;    /* general registers that the loop around it changes, as in struct
			     tact_block_options */
	/* Assembly text: what "LLVM-MCA-LATENCY n" gives; the last one that covers an instruction
	 * holds.  See tact_block_set_latency.
	 */
	const struct tact_given_latency *latencies;
	size_t n_latencies;
	/* What the code around it has set before it, as in struct tact_block_options; and what
	 * comments of the text set in it.
	 */
	uint16_t setting;
	const struct tact_given_setting *settings;
	size_t n_settings;
	unsigned
		placement; /* code that is not linked: its section may be put at multiples of so many
			       bytes, fewer than 64, from where `alignment` has it; 0: it is fixed */
	const char *source_path; /* the file of `source` as debug information has it, with its
				    directories; "" if unknown */
};
#define TACT_REGION_INIT TACT_SIZED(struct tact_region)

struct tact_input;

/* Opens a file; the path "-" is standard input, which is not closed later.  opt may be NULL;
 * nothing of it is kept.
 * Returns 0, or, with the reason in diag,
 *   -TACT_E_INVAL    an argument is missing, options are wrong, or the file has no such function,
 *                    loop, path or range of addresses
 *   -TACT_E_NOMEM    out of memory
 *   -TACT_E_IO       the file cannot be read, or is a directory
 *   -TACT_E_FORMAT   the file as a whole is malformed: an ELF file that is cut short, assembly
 *                    errors, markers that do not match, no code at all
 *   -TACT_E_NO_TOOL  assembly text, and `as` is not installed, or there is no such compiler
 *   -TACT_E_LIMIT    the compiler took more than two minutes, or assembly text repeats itself beyond
 *                    all bounds
 */
int tact_input_open(struct tact_input **out, const char *path, const struct tact_input_options *opt,
		    struct tact_diag *diag);

/* Opens bytes in memory, such as a hex string, as if they were a file.  The bytes are copied.
 * Returns as tact_input_open; data may be NULL if size is 0.
 */
int tact_input_open_memory(struct tact_input **out, const void *data, size_t size,
			   const struct tact_input_options *opt, struct tact_diag *diag);

/* Fills in the next region.  For assembly text, and for ELF files with debug information, `source`
 * and `line` come from libdw, which ends the process if memory runs out inside it.
 * Returns 1, 0 at the end of the input, or
 *   -TACT_E_INVAL   an argument is missing, or region->size is wrong
 *   -TACT_E_FORMAT  one bad line (odd or non-hex digits), or no code at all: diag has line and
 *                   reason, region->line and ->text what is known, and the next call continues
 *                   after it
 *   -TACT_E_NO_DATA a row of a CSV file without hex digits; the same holds
 *   -TACT_E_NOMEM, -TACT_E_IO  the input ends here
 */
int tact_input_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag);

/* Sets *line to the line of the input that has the instruction at code[offset] of the last region:
 * of assembly text, as far as the assembler tells.
 * Returns 1, 0 if it is not known, or
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory
 */
int tact_input_line(struct tact_input *in, size_t offset, uint64_t *line);

/* A line of source. */
struct tact_source_line {
	size_t size;	  /* sizeof(struct tact_source_line) */
	const char *path; /* of its file as debug information has it, with its directories; "": the
				 line is of the input, which is assembly text without a line table */
	const char
		*function; /* that the line belongs to if it was inlined; "": the one that has the
				 code */
	uint64_t line;	   /* from 1 */
};
#define TACT_SOURCE_LINE_INIT TACT_SIZED(struct tact_source_line)

/* Fills in the line that the instruction at code[offset] of the last region stems from.  Of inlined
 * code there are several: depth 0 is the innermost one, each after it the call of the one before.
 * The pointers are valid as long as the input is open.  As with `source`, libdw ends the process if
 * memory runs out inside it.
 * Returns how many lines there are, 0 if none is known; with a depth of so many or more, nothing is
 * filled in.  Or
 *   -TACT_E_INVAL  an argument is missing, or line->size is wrong
 *   -TACT_E_NOMEM  out of memory
 */
int tact_input_source(struct tact_input *in, size_t offset, size_t depth,
		      struct tact_source_line *line);

/* Returns what was found, for people: "hex list", "CSV", "assembly (Intel syntax)",
 * "ELF x86-64 object", ...; "" for NULL.  Owned by the input.
 */
const char *tact_input_description(const struct tact_input *in);

/* Returns what was found; TACT_INPUT_AUTO for NULL. */
enum tact_input_kind tact_input_get_kind(const struct tact_input *in);

/* Closes an input.  NULL is allowed. */
void tact_input_close(struct tact_input *in);

#ifdef __cplusplus
}
#endif

#endif /* TACT_INPUT_H */
