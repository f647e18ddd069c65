/* SPDX-License-Identifier: MIT
 *
 * The assembler says on which line it stumbled, and quotes what it stumbled over.
 */
#include "input/complain.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

enum { MAX_NAME = 24 }; /* of instructions */

void input_add_hint(struct tact_diag *diag, const char *format, ...)
{
	const size_t used = strlen(diag->text);
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (size < 0 || used + (size_t)size >= sizeof(diag->text))
		return;
	va_start(args, format);
	vsnprintf(diag->text + used, sizeof(diag->text) - used, format, args);
	va_end(args);
}

/* Number of edits that turn a into b: insert, delete, replace; neighbours that changed places count
 * as one (Damerau).
 */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned row[MAX_NAME + 1][MAX_NAME + 1];
	size_t i, j;

	for (i = 0; i <= n; i++)
		row[i][0] = (unsigned)i;
	for (j = 0; j <= m; j++)
		row[0][j] = (unsigned)j;
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			const char x = (char)tolower((unsigned char)a[i - 1]), y = b[j - 1];
			unsigned best = row[i - 1][j - 1] + (x != y);

			if (row[i - 1][j] + 1 < best)
				best = row[i - 1][j] + 1;
			if (row[i][j - 1] + 1 < best)
				best = row[i][j - 1] + 1;
			if (i > 1 && j > 1 && x == b[j - 2] &&
			    tolower((unsigned char)a[i - 2]) == y && row[i - 2][j - 2] + 1 < best)
				best = row[i - 2][j - 2] + 1;
			row[i][j] = best;
		}
	}
	return row[n][m];
}

/* Finds the instruction that looks most like a word; NULL if none does. */
static const char *find_near(const struct isa_assembler *assembler, const char *word, size_t size)
{
	const char *best = NULL, *name;
	unsigned least = size > 4 ? 3 : 2; /* fewer edits than this, or as many as the best had */
	size_t i;

	if (size < 2 || size > MAX_NAME || !assembler->mnemonic)
		return NULL;
	for (i = 0; (name = assembler->mnemonic(i)); i++) {
		const size_t length = strlen(name);
		unsigned edits;

		if (length > MAX_NAME || length + 2 < size || size + 2 < length)
			continue;
		edits = distance(word, size, name, length);
		/* movl is mov with a letter too many rather than cmovl with one too few. */
		if (edits < least || (edits == least && best && !strncasecmp(word, name, length))) {
			least = edits;
			best = name;
		}
	}
	return best;
}

/* Finds what the message has in quotes: `x' or 'x'. */
static const char *find_quoted(const char *message, size_t *size)
{
	const char *open = strpbrk(message, "`'"), *close = open ? strrchr(open + 1, '\'') : NULL;

	if (!close)
		return NULL;
	*size = (size_t)(close - open - 1);
	return open + 1;
}

static const char *find_line(const char *text, size_t size, uint64_t number, size_t *length)
{
	const char *p = text, *const end = text + size, *stop;

	for (; p < end && number > 1; number--) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : end;
	}
	stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	*length = (size_t)((stop ? stop : end) - p);
	while (*length && p[*length - 1] == '\r')
		--*length;
	return p < end ? p : NULL;
}

/* Ignores case, and takes any blanks for any others: as prints what it has made of the line. */
static size_t match(const char *p, const char *end, const char *word, size_t size)
{
	const char *start = p;

	for (; size && p < end; word++, size--) {
		if (isspace((unsigned char)*word)) {
			while (p < end && isspace((unsigned char)*p))
				p++;
		} else if (tolower((unsigned char)*p++) != tolower((unsigned char)*word)) {
			return 0;
		}
	}
	return size ? 0 : (size_t)(p - start);
}

/* Text for other assemblers, by directives that only they have. */
static const char *find_assembler(const char *text, size_t size)
{
	static const struct {
		const char *word, *hint;
	} signs[] = {
		{"\nsection .", "NASM's syntax, of which not everything is understood: nasm -f "
				"elf64 makes an object of "
				"the file"},
		{"\nglobal ", "NASM's syntax, of which not everything is understood: nasm -f elf64 "
			      "makes an object of "
			      "the file"},
		{"\n%macro ", "NASM's syntax, of which not everything is understood: nasm -f elf64 "
			      "makes an object of "
			      "the file"},
		{" ENDP", "a listing of MSVC, of which not everything is understood"},
		{"\tENDP", "a listing of MSVC, of which not everything is understood"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signs); i++)
		if (memmem(text, size, signs[i].word, strlen(signs[i].word)) ||
		    (size >= strlen(signs[i].word) - 1 && signs[i].word[0] == '\n' &&
		     !memcmp(text, signs[i].word + 1, strlen(signs[i].word) - 1)))
			return signs[i].hint;
	return NULL;
}

void input_complain(struct tact_diag *diag, const struct isa_assembler *assembler, const char *text,
		    size_t size, const char *other, struct tact_excerpt *excerpt)
{
	struct tact_excerpt out = {.size = sizeof(out)};
	size_t length, quoted_size = 0, at = 0, found = 0;
	const char *line, *quoted, *near;

	if (!diag || !diag->line)
		return;
	line = find_line(text, size, diag->line, &length);
	if (!line)
		return;
	quoted = find_quoted(diag->text, &quoted_size);
	if (!other)
		other = find_assembler(text, size);
	while (at < length && isspace((unsigned char)line[at]))
		at++;
	if (quoted && strstr(diag->text, ASM_UNKNOWN)) {
		quoted_size = (size_t)(asm_skip_word(quoted, quoted + quoted_size) - quoted);
		near = find_near(assembler, quoted, quoted_size);
		if (near && !other && strncasecmp(near, quoted, quoted_size))
			input_add_hint(diag, "; did you mean %s?", near);
		quoted = find_quoted(diag->text, &found);
	}
	found = 0;
	for (; quoted && quoted_size && at < length && !found; at++)
		found = match(line + at, line + length, quoted, quoted_size);
	if (found)
		at--;
	else
		for (at = 0; at < length && isspace((unsigned char)line[at]);)
			at++;
	if (!found)
		found = length > at ? length - at : 1;
	diag->offset = (uint64_t)(line + at - text);
	out.column = at + 1;
	out.length = found;
	for (size_t i = 0; i < length && i + 1 < sizeof(out.line); i++)
		out.line[i] = (unsigned char)line[i] < ' ' && line[i] != '\t' ? '?' : line[i];
	if (other)
		input_add_hint(diag, "; this looks like %s", other);
	if (excerpt && tact_can_fill(excerpt))
		tact_fill(excerpt, &out, sizeof(out));
}
