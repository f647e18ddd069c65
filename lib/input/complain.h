/* SPDX-License-Identifier: MIT
 *
 * What is wrong with assembly text, and what may be meant.
 */
#ifndef TACT_COMPLAIN_H
#define TACT_COMPLAIN_H

#include <stddef.h>

#include <tact/input.h>

#include "isa/assemble.h"

/* After the assembler's message in diag: finds the place in its line of the user's text, fills in
 * excerpt (NULL is allowed), and adds what the text is instead, `other` if that is known, or the
 * instruction that the unknown one looks like.
 */
void input_complain(struct tact_diag *diag, const struct isa_assembler *assembler, const char *text,
		    size_t size, const char *other, struct tact_excerpt *excerpt);

/* Adds a hint to a message, if there is room for it. */
void input_add_hint(struct tact_diag *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TACT_COMPLAIN_H */
