/* SPDX-License-Identifier: MIT
 *
 * Text for other assemblers, written anew for GNU as in Intel syntax, line by line:
 *
 *   MSVC   listings of cl /FA: "f PROC", "DWORD PTR x$[rsp]", "0ffH", "$LN4@f:"
 *   NASM   "section .text", "dword [rax]", "[rel x]", ".local:", "times 3 nop"
 *
 * Preprocessors are not run: what needs one is an error.
 */
#ifndef TACT_FOREIGN_H
#define TACT_FOREIGN_H

#include <stddef.h>

#include <tact/status.h>

#include "base/text.h"
#include "isa/assemble.h"

enum foreign { FOREIGN_NONE, FOREIGN_NASM, FOREIGN_MSVC };

/* Tells by directives and operands that only they have. */
enum foreign foreign_detect(const char *text, size_t size);

/* Adds the text, for an instruction set that has such assemblers, to `out`, with as many lines as
 * it had.  Returns 0, -TACT_E_NOMEM, or -TACT_E_FORMAT for what is not understood, with its line in
 * diag.
 */
int foreign_convert(struct text *out, const struct isa_assembler *assembler, enum foreign kind,
		    const char *text, size_t size, struct tact_diag *diag);

#endif /* TACT_FOREIGN_H */
