/* SPDX-License-Identifier: MIT
 *
 * What assembly text may not say: directives that read files, and what would hide their names from
 * this look.  The assembler's box holds against what gets past it.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "isa/assemble.h"

static const struct {
	const char *word, *why;
} refused[] = {
	{".incbin", "it reads a file; give the bytes with .byte instead"},
	{".include", "it reads a file; put the text itself here"},
	{".altmacro", "its macros can hide what a text reads; write them in the usual way"},
	{".mri", "it changes the syntax of the whole text"},
};

/* Directives whose text is data: a string may say anything. */
static const char *const data_words[] = {".string",  ".ascii", ".asciz", ".file",
					 ".section", ".ident", ".loc"};

static bool is_data(const char *word, const char *end)
{
	for (size_t i = 0; i < ARRAY_SIZE(data_words); i++)
		if (asm_word_is(word, end, data_words[i]))
			return true;
	return false;
}

static const char *skip_spaces(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

/* A name in quotes that is a label; NULL if this is none. */
static const char *skip_quoted_label(const char *p, const char *end)
{
	const char *close = p < end && *p == '"' ? memchr(p + 1, '"', (size_t)(end - p) - 1) : NULL;

	if (!close || memchr(p, '\\', (size_t)(close - p)))
		return NULL;
	p = skip_spaces(close + 1, end);
	return p < end && *p == ':' ? p + 1 : NULL;
}

/* The first word of a statement, after its labels.  Its parts may be put together in a macro. */
static const char *first_word(const char *p, const char *end, const char **stop)
{
	for (;;) {
		const char *word = skip_spaces(p, end);
		const char *after = skip_quoted_label(word, end);

		if (after) {
			p = after;
			continue;
		}

		p = word;
		while (p < end && (asm_is_word(*p) || strchr("\\()@$", *p)))
			p++;
		*stop = p;
		if (p == word || p == end || *p != ':')
			return word;
		p++;
	}
}

/* Finds a refused word anywhere between p and end; case does not matter. */
static size_t find_refused(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '.', (size_t)(end - p)))) {
		const char *stop = asm_skip_word(p + 1, end);

		for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
			if ((size_t)(stop - p) >= strlen(refused[i].word) &&
			    asm_word_is(p, p + strlen(refused[i].word), refused[i].word) &&
			    (stop - p == (long)strlen(refused[i].word)))
				return i;
		p++;
	}
	return ARRAY_SIZE(refused);
}

static int check_statement(const char *p, const char *end, bool is_alone, uint64_t line,
			   struct tact_diag *diag)
{
	const char *stop, *word = first_word(p, end, &stop);
	const bool is_made = memchr(word, '\\', (size_t)(stop - word));
	size_t i;

	if (is_alone && is_data(word, stop))
		return 0;
	i = find_refused(p, end);
	if (i < ARRAY_SIZE(refused))
		return tact_fail_at(diag, TACT_E_FORMAT, line, 0, "%s is refused: %s",
				    refused[i].word, refused[i].why);
	if (is_made && (*word == '.' || memchr(stop, '"', (size_t)(end - stop))))
		return tact_fail_at(diag, TACT_E_FORMAT, line, 0,
				    "a directive whose name a macro puts together is refused: it "
				    "could read a file; write the name out");
	if (word < end && *word == '"')
		return tact_fail_at(diag, TACT_E_FORMAT, line, 0,
				    "a statement that begins with a quote is refused: it could "
				    "hide a directive");
	return 0;
}

/* Every part of a line that could be a statement is looked at, whatever quotes or comments say of
 * its separators: to look too often does no harm.
 */
static int check_line(const char *p, const char *end, uint64_t line, struct tact_diag *diag)
{
	const bool is_alone = !memchr(p, ';', (size_t)(end - p));
	int status = 0;

	for (const char *stop; p < end && status >= 0; p = stop + 1) {
		stop = memchr(p, ';', (size_t)(end - p));
		stop = stop ? stop : end;
		/* A quote that begins here may be the end of a string with a separator in it. */
		if (!is_alone && *skip_spaces(p, stop) == '"' &&
		    find_refused(p, stop) == ARRAY_SIZE(refused))
			continue;
		status = check_statement(p, stop, is_alone, line, diag);
	}
	return status;
}

int asm_refuse(const struct asm_source *source, struct tact_diag *diag)
{
	const char *p = source->text, *const end = p + source->size;
	uint64_t line = 1;
	int status = 0;

	for (; p < end && status >= 0; line++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		status = check_line(p, stop, line, diag);
		p = stop + 1;
	}
	return status;
}
