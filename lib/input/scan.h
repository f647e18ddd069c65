/* SPDX-License-Identifier: MIT
 *
 * Words of a line that is not NUL-terminated: what the readers of pasted text share.
 */
#ifndef TACT_SCAN_H
#define TACT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static inline bool starts_with(const char *p, const char *end, const char *word)
{
	const size_t size = strlen(word);

	return (size_t)(end - p) >= size && !memcmp(p, word, size);
}

#endif /* TACT_SCAN_H */
