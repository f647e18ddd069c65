/* SPDX-License-Identifier: MIT
 *
 * What the files that rewrite text for other assemblers share.
 */
#ifndef TACT_FOREIGN_WORDS_H
#define TACT_FOREIGN_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "input/foreign.h"
#include "input/scan.h"

/* A name for a text: "x$ = 8", "x equ 8". */
struct equate {
	const char *name, *value; /* in the input */
	size_t name_size, value_size;
};

struct converter {
	struct text *out;
	const struct isa_assembler *assembler;
	enum foreign kind;
	struct equate *equates; /* owned */
	size_t n_equates, capacity;
	const char *scope; /* NASM: the last label that is not local */
	size_t scope_size;
	bool is_relative; /* NASM: default rel */
	uint64_t line;
	struct tact_diag *diag;
};

struct word {
	const char *p;
	size_t size;
};

static inline bool is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.$@?", c));
}

static inline struct word next_word(const char **p, const char *end)
{
	struct word w;

	*p = skip_blanks(*p, end);
	w.p = *p;
	while (*p < end && is_name(**p))
		++*p;
	w.size = (size_t)(*p - w.p);
	return w;
}

static inline bool is(struct word w, const char *name)
{
	return w.size == strlen(name) && !strncasecmp(w.p, name, w.size);
}

/* Whether a list of words, each with a blank before and after it, has this one. */
static inline bool is_one_of(struct word w, const char *list)
{
	const char *p;

	for (p = list; w.size && *p; p += strcspn(p, " ") + 1) {
		if (strcspn(p, " ") == w.size && !strncasecmp(p, w.p, w.size))
			return true;
		if (!p[strcspn(p, " ")])
			break;
	}
	return false;
}

/* Fails for something in the current line.  Returns -TACT_E_FORMAT. */
int foreign_refuse(struct converter *c, const char *what, size_t size, const char *why);

/* Add a name, operands, or an instruction with its operands.  Return 0 or -TACT_E_FORMAT. */
void foreign_put_name(struct converter *c, struct word w);
int foreign_put_operands(struct converter *c, const char *p, const char *end, int depth);
int foreign_put_insn(struct converter *c, struct word name, const char *p, const char *end);

#endif /* TACT_FOREIGN_WORDS_H */
