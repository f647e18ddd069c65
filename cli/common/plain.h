/* SPDX-License-Identifier: MIT
 *
 * Text for a terminal: names in files of strangers may hold what a terminal obeys.
 */
#ifndef TACT_PLAIN_H
#define TACT_PLAIN_H

#include <stddef.h>

#include "base/text.h"

/* Adds text so that a terminal shows all of it and obeys none: control characters, those that turn the
 * direction of a line, and bytes that are no UTF-8 become \x1b and the like.  New lines, tabs and what
 * chooses colors (ESC [ digits m) stay.  Returns how many bytes at the end were not added, at most three:
 * the beginning of a character.
 */
size_t plain_add(struct text *out, const char *data, size_t size);

#endif /* TACT_PLAIN_H */
