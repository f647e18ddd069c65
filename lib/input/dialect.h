/* SPDX-License-Identifier: MIT
 *
 * Assembly text that is meant for people, made fit for the assembler line by line:
 *
 *   Compiler Explorer   names as in the source: "foo(int, std::vector<int>&):"
 *   perf annotate       columns, arrows, labels that are offsets: "12.50 |  28:   addsd ..."
 */
#ifndef TACT_DIALECT_H
#define TACT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "isa/assemble.h"

enum dialect { DIALECT_NONE, DIALECT_NAMES, DIALECT_PERF };

/* Adds the text to `out`, with as many lines as it had, and returns what it was; after
 * DIALECT_NONE, `out` is of no use.  The caller checks out->failed.
 */
enum dialect dialect_convert(struct text *out, const struct isa_assembler *assembler,
			     const char *text, size_t size);

/* Tells whether perf annotate wrote the text in the form of its browser, without addresses. */
bool dialect_is_perf(const char *text, size_t size);

/* Adds a name in quotes, as the assembler reads it. */
void dialect_quote(struct text *out, const char *name, size_t size);

/* Adds a label for a function. */
void dialect_add_function(struct text *out, const char *name, size_t size);

#endif /* TACT_DIALECT_H */
