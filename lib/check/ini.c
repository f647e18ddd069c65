/* SPDX-License-Identifier: MIT */
#include "check/ini.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Drops blanks at both ends; the text ends in NUL afterwards. */
static char *trim(char *begin, char *end)
{
	while (begin < end && is_blank(*begin))
		begin++;
	while (end > begin && is_blank(end[-1]))
		end--;
	*end = '\0';
	return begin;
}

/* Ends a text where a comment begins: at the start, or after a blank. */
static void cut_comment(char *text)
{
	for (char *c = text; *c; c++) {
		if ((*c == '#' || *c == ';') && (c == text || is_blank(c[-1]))) {
			*c = '\0';
			return;
		}
	}
}

/* Takes a value out of its quotes, or drops the comment behind it.  Returns NULL if a quote has no
 * end, or text behind it.
 */
static char *read_value(char *text)
{
	char *end;

	if (*text != '"') {
		cut_comment(text);
		return trim(text, text + strlen(text));
	}
	end = strchr(++text, '"');
	if (!end)
		return NULL;
	cut_comment(end + 1);
	if (*trim(end + 1, end + 1 + strlen(end + 1)))
		return NULL;
	*end = '\0';
	return text;
}

/* Returns the name between brackets, or NULL. */
static char *read_section(char *line)
{
	char *end = strchr(line, ']');

	if (!end)
		return NULL;
	cut_comment(end + 1);
	if (*trim(end + 1, end + 1 + strlen(end + 1)))
		return NULL;
	line = trim(line + 1, end);
	return *line ? line : NULL;
}

static int read_line(char *line, struct ini_entry *entry, struct tact_diag *diag)
{
	char *equals;

	entry->key = NULL;
	entry->value = "";
	if (*line == '[') {
		entry->section = read_section(line);
		return entry->section ? 1
				      : tact_fail_at(diag, TACT_E_FORMAT, entry->line, 0,
						     "a section is a name in brackets: [name]");
	}
	equals = strchr(line, '=');
	if (!equals)
		return tact_fail_at(diag, TACT_E_FORMAT, entry->line, 0,
				    "neither [section] nor key = value");
	if (!entry->section)
		return tact_fail_at(diag, TACT_E_FORMAT, entry->line, 0,
				    "a key needs a section above it, such as [check]");
	entry->value = read_value(trim(equals + 1, equals + 1 + strlen(equals + 1)));
	if (!entry->value)
		return tact_fail_at(diag, TACT_E_FORMAT, entry->line, 0,
				    "a value in quotes is \"...\" and nothing behind it");
	entry->key = trim(line, equals);
	return *entry->key ? 1
			   : tact_fail_at(diag, TACT_E_FORMAT, entry->line, 0,
					  "there is no key before '='");
}

/* The section's name must outlive its line: the line stays in the copy of the file. */
static int read_lines(char *text, size_t size, int (*take)(void *, const struct ini_entry *),
		      void *arg, struct tact_diag *diag)
{
	struct ini_entry entry = {.line = 0};
	char *end = text + size;
	int status = 0;

	while (text < end && !status) {
		char *stop = memchr(text, '\n', (size_t)(end - text));
		char *line = text;

		stop = stop ? stop : end;
		text = stop + 1;
		entry.line++;
		if (memchr(line, '\0', (size_t)(stop - line)))
			return tact_fail_at(diag, TACT_E_FORMAT, entry.line, 0,
					    "this is no text: it has a byte 0");
		line = trim(line, stop);
		if (!*line || *line == '#' || *line == ';')
			continue;
		status = read_line(line, &entry, diag);
		if (status > 0)
			status = take(arg, &entry);
	}
	return status;
}

int ini_read(const char *data, size_t size, int (*take)(void *arg, const struct ini_entry *entry),
	     void *arg, struct tact_diag *diag)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of byte order: some editors write it */
	char *copy;
	int status;

	if (size >= 3 && !memcmp(data, mark, 3)) {
		data += 3;
		size -= 3;
	}
	copy = malloc(size + 1);
	if (!copy)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	status = read_lines(copy, size, take, arg, diag);
	free(copy);
	return status;
}
