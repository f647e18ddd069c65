/* SPDX-License-Identifier: MIT
 *
 * Assembly text to an object file, by GNU as or another assembler.  Two steps, so that the first can be tested and
 * fuzzed without starting a process:
 *
 *   asm_source_create  finds the syntax and the comment markers, and writes a text for `as` whose
 *                      lines are the user's lines, without comments and with a label at each
 *                      marker;
 *   asm_assemble       runs the assembler once on the whole text and returns the object as bytes in
 *                      memory.
 */
#ifndef TACT_ASSEMBLE_H
#define TACT_ASSEMBLE_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include <tact/insn.h>
#include <tact/status.h>

struct text;

/* How text of an instruction set is assembled: by GNU as, by a program that takes its options, or by
 * one of tact's own.
 */
struct isa_assembler {
	const char *program, *package; /* its name, and the Debian package that has it */
	const char *const *options;    /* NULL-terminated, as all lists here */
	const char *comments; /* characters that begin a comment, up to the end of the line */
	const char *directive[TACT_SYNTAX_INTEL + 1]; /* that begin a syntax; NULL: none */
	const char *intel_argument; /* what that directive needs after it if it stands alone */
	/* Counts signs of each syntax in an instruction after its mnemonic; NULL: the set has one
	 * syntax.
	 */
	void (*weigh)(const char *p, const char *end, long *att, long *intel);
	/* Finds the operand of a direct jump, branch or call, up to `end`; NULL if this is none. */
	const char *(*find_target)(const char *p, const char *end);
	/* Returns the i-th name of an instruction, from 0; NULL after the last one. */
	const char *(*mnemonic)(size_t i);
	/* Other programs that may know more instructions, tried in this order; each a command that
	 * ends in NULL, reads standard input and writes what follows its last word.
	 */
	const char *const *const *others;
	size_t n_others;
	/* Writes an instruction, without its target if it has one, so that it gets this length (0:
	 * any): disassemblers print different encodings alike.
	 */
	void (*respell)(struct text *out, const char *p, const char *end, unsigned length);
	/* A program of tact's own (llvm/llvm.h), and its arguments as in `others`: it assembles
	 * instead of `program`, and writes its errors as `as` does.  NULL: there is none.
	 */
	const char *const *own;
	const char *set; /* what errors say that the text was taken for; NULL: nothing */
	/* Reads a comment that says what costs depend on ("LLVM-MCA-RISCV-LMUL M2"): parts of a
	 * setting (isa.h), ISA_SETTING_UNKNOWN if it makes no sense, 0 if it says nothing of the
	 * kind.  NULL: there is no such comment.
	 */
	uint16_t (*read_setting)(const char *p, const char *end);
	/* Words of other assemblers, separated by blanks: directives that choose the processor, and
	 * instructions that take an address and do not access it.  NULL only for a set without Intel
	 * syntax.
	 */
	const char *processor_directives, *address_insns;
};

/* ---- words of a text ---- */

static inline bool asm_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static inline const char *asm_skip_word(const char *p, const char *end)
{
	while (p < end && asm_is_word(*p))
		p++;
	return p;
}

/* Ignores case. */
static inline bool asm_word_is(const char *p, const char *end, const char *word)
{
	return (size_t)(end - p) == strlen(word) && !strncasecmp(p, word, strlen(word));
}

/* The label of marker number N is this prefix and N in decimal. */
#define ASM_LABEL_PREFIX "__tact_marker_"

/* As is that of latency number N. */
#define ASM_LATENCY_PREFIX "__tact_latency_"

/* As is that of setting number N. */
#define ASM_SETTING_PREFIX "__tact_setting_"

/* "LLVM-MCA-LATENCY n".  On a line of its own it is about everything that follows up to the next one
 * (llvm-mca's documentation: without a number it ends this); on the line of an instruction, about
 * that one.
 */
struct asm_latency {
	unsigned cycles; /* 0: those of the tables */
	bool is_single;
};

enum asm_family { ASM_LLVM_MCA, ASM_OSACA };

struct asm_marker {
	enum asm_family family;
	bool is_begin;
	uint64_t line;
	size_t name; /* offset of its name in asm_source.names, NUL-terminated */
};

/* Code between two markers, given by their numbers. */
struct asm_region {
	size_t begin, end; /* end ASM_NO_MARKER: it goes to the end of the code, as in llvm-mca */
};

#define ASM_NO_MARKER SIZE_MAX

/* Annotations of other tools that are ignored: latencies and settings that make no sense, or where no
 * label can be.
 */
enum asm_annotation { ASM_LATENCY, ASM_EXEGESIS, ASM_SETTING, ASM_ANNOTATIONS };

struct asm_source {
	const struct isa_assembler *assembler;
	char *text; /* for as; owned, as all arrays here */
	size_t size, text_capacity;
	struct asm_marker *markers;
	size_t n_markers, markers_capacity;
	struct asm_region *regions; /* in the order of their first markers */
	size_t n_regions, regions_capacity;
	struct asm_latency *latencies;
	size_t n_latencies, latencies_capacity;
	uint16_t *settings; /* parts of a setting, which hold from their label on */
	size_t n_settings, settings_capacity;
	char *names;
	size_t names_size, names_capacity;
	enum tact_syntax syntax; /* of the first instructions: ATT or INTEL */
	bool starts_intel; /* as must start in Intel syntax: the text itself does not say so */
	bool has_lines;	   /* the text brings its own line table (.loc) */
	bool is_skipping;  /* instructions that the assembler does not know are left out */
	size_t n_skipped;
	size_t n_mixed; /* instructions in AT&T syntax that have a register without % */
	size_t n_ignored[ASM_ANNOTATIONS];
	const char *program; /* that assembled it; NULL: the usual one */
	bool is_listing; /* made of a listing: its lines are not to be found in the line table */
};

/* Finds markers and syntax, and writes the text for `as`.  Returns 0, -TACT_E_NOMEM, -TACT_E_FORMAT
 * for markers that do not match, or -TACT_E_NO_TOOL for a set without an assembler.
 */
int asm_source_create(struct asm_source *out, const struct tact_isa *isa, const char *text,
		      size_t size, enum tact_syntax syntax, struct tact_diag *diag);
void asm_source_destroy(struct asm_source *source);

/* Makes regions of the markers.  Returns as asm_source_create. */
int asm_match_markers(struct asm_source *source, struct tact_diag *diag);

/* Refuses what reads files (.incbin, .include) and what could hide that.  Returns 0 or -TACT_E_FORMAT
 * with the line.
 */
int asm_refuse(const struct asm_source *source, struct tact_diag *diag);

/* What as says of an instruction that it does not know. */
#define ASM_UNKNOWN "no such instruction"

/* What it writes before the number of the line that it complains about. */
#define ASM_INPUT "{standard input}:"

/* Blanks the instructions that a message says the assembler does not know.  Returns how many. */
size_t asm_skip_unknown(struct asm_source *source, const char *messages);

/* Assembles a text.  *image is the object file, which the caller frees.  Unless the text has a line
 * table, the object has one of the text.  `as` runs in a box (base/box.h): it reads no file, and time,
 * memory and what it writes are bounded.  Returns 0, -TACT_E_NOMEM, -TACT_E_NO_TOOL if there is no
 * `as`, -TACT_E_FORMAT if it finds an error (diag: line and text of the first) or the text is
 * refused, -TACT_E_LIMIT if it takes too much, -TACT_E_IO if it cannot be run, or not in its box.
 */
int asm_assemble(struct asm_source *source, uint8_t **image, size_t *size, struct tact_diag *diag);

#endif /* TACT_ASSEMBLE_H */
