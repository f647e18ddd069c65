/* SPDX-License-Identifier: MIT
 *
 * A page follows its header: sections, groups of declarations with the comment above them, and the
 * declarations of types as they are.  mdoc(7) is the language; each sentence begins a line.
 */
#include "manual.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 76, TAB = 8, INDENT = 4 };

#define NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct page {
	FILE *file;
	const struct header *header;
	const struct header *headers; /* all of them */
	size_t n_headers;
	size_t column; /* of the line of text being written */
	bool in_list;  /* of declarations */
};

/* ---- text ---- */

static void end_line(struct page *p)
{
	if (p->column)
		fputc('\n', p->file);
	p->column = 0;
}

static void put_request(struct page *p, const char *request)
{
	end_line(p);
	fprintf(p->file, "%s\n", request);
}

/* Characters that mean something to roff; `names` in comments become italic. */
static void put_escaped(FILE *file, const char *text, size_t n, bool is_literal)
{
	bool in_name = false;

	if (n && (*text == '.' || *text == '\''))
		fputs("\\&", file);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\\') {
			fputs("\\e", file);
		} else if (text[i] == '-' && !is_literal && i + 1 < n &&
			   isupper((unsigned char)text[i + 1])) {
			fputs("\\-", file);
		} else if (text[i] == '`' && !is_literal) {
			fputs(in_name ? "\\fR" : "\\fI", file);
			in_name = !in_name;
		} else {
			fputc(text[i], file);
		}
	}
	if (in_name)
		fputs("\\fR", file);
}

static bool ends_sentence(const char *word, size_t n)
{
	while (n && strchr(")\"'`", word[n - 1]))
		n--;
	return n > 1 && strchr(".?!:", word[n - 1]) && strncmp(word, "e.g.", 4) &&
	       strncmp(word, "...", 3);
}

static void put_words(struct page *p, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *word, *next;
		size_t length;

		while (text < end && isspace((unsigned char)*text))
			text++;
		for (word = text; text < end && !isspace((unsigned char)*text); text++)
			;
		length = (size_t)(text - word);
		if (!length)
			break;
		if (p->column && p->column + length + (*word == '`' ? 5 : 1) > COLUMNS)
			end_line(p);
		if (p->column)
			fputc(' ', p->file);
		put_escaped(p->file, word, length, false);
		p->column += length + (*word == '`' ? 5 : 1);
		for (next = text; next < end && isspace((unsigned char)*next); next++)
			;
		if (ends_sentence(word, length) && word[length - 1] != ':' && next < end &&
		    (next > text + 1 || !islower((unsigned char)*next)))
			end_line(p);
	}
}

static size_t line_length(const char *at)
{
	return strcspn(at, "\n");
}

static const char *next_line(const char *at)
{
	at += line_length(at);
	return *at ? at + 1 : at;
}

/* The length of the errors that a line lists: "-TACT_E_IO, -TACT_E_NOMEM: text" or, indented,
 * "-TACT_E_IO   text".  0 if it is no such line.
 */
static size_t listed_errors(const char *line)
{
	size_t blanks = strspn(line, " "), n = blanks;

	while (strncmp(line + n, "-TACT_E_", 8) == 0) {
		n += 8 + strspn(line + n + 8, NAME);
		if (strncmp(line + n, ", -TACT_E_", 10))
			break;
		n += 2;
	}
	if (n == blanks || (line[n] != ':' && blanks < 2))
		return 0;
	return n;
}

/* Lines that begin with a tab are code. */
static const char *put_literal(struct page *p, const char *at)
{
	put_request(p, ".Bd -literal -offset indent");
	for (; *at == '\t'; at = next_line(at)) {
		put_escaped(p->file, at + 1, line_length(at) - 1, true);
		fputc('\n', p->file);
	}
	put_request(p, ".Ed");
	return at;
}

static const char *put_errors(struct page *p, const char *at)
{
	const bool is_indented = *at == ' ';
	size_t n = 0;

	put_request(p, ".Bl -tag -width Ds -compact");
	while (*at && *at != '\n') {
		size_t names = listed_errors(at);

		if (names) {
			size_t blanks = strspn(at, " ");

			end_line(p);
			fputs(".It Dv ", p->file);
			put_escaped(p->file, at + blanks, names - blanks, false);
			fputc('\n', p->file);
			n = names + strspn(at + names, ": ");
		} else if (*at != ' ' && (is_indented || isupper((unsigned char)*at))) {
			break; /* not a word of the last error any more */
		} else {
			n = 0;
		}
		put_words(p, at + n, line_length(at) - n);
		at = next_line(at);
	}
	put_request(p, ".El");
	return at;
}

static void put_text(struct page *p, const char *at)
{
	bool is_first = true;

	while (*at) {
		if (*at == '\n') {
			at++;
			if (*at && *at != '\t' && !listed_errors(at))
				put_request(p, ".Pp");
		} else if (*at == '\t') {
			at = put_literal(p, at);
			is_first = true;
		} else if (listed_errors(at) && !is_first) {
			at = put_errors(p, at);
		} else {
			put_words(p, at, line_length(at));
			if (p->column && ends_sentence(at, line_length(at)) &&
			    (isupper((unsigned char)*next_line(at)) || *next_line(at) == '`'))
				end_line(p);
			at = next_line(at);
			is_first = false;
		}
	}
	end_line(p);
}

/* ---- declarations ---- */

/* A declaration in one line: blanks as one, comments as none. */
static char *flatten(const char *text)
{
	char *out = gen_alloc(strlen(text) + 1);
	size_t n = 0;

	while (*text) {
		if (text[0] == '/' && text[1] == '*') {
			text = strstr(text, "*/") + 2;
		} else if (isspace((unsigned char)*text)) {
			if (n && out[n - 1] != ' ' && out[n - 1] != '(')
				out[n++] = ' ';
			text++;
		} else {
			out[n++] = *text++;
		}
	}
	return out;
}

static void put_prototype(struct page *p, const struct item *item)
{
	char *text = flatten(item->text), *name = strstr(text, item->name);
	char *at = name + strlen(item->name) + 1;
	unsigned depth = 0;

	end_line(p);
	fprintf(p->file, ".Ft %.*s\n.Fo %s\n", (int)(name - text - (name[-1] == ' ')), text,
		item->name);
	for (char *begin = at;; at++) {
		if (*at == '(')
			depth++;
		if ((*at == ',' || *at == ')') && !depth) {
			while (*begin == ' ')
				begin++;
			fprintf(p->file, ".Fa \"%.*s\"\n", (int)(at - begin), begin);
			begin = at + 1;
			if (*at == ')')
				break;
		}
		if (*at == ')')
			depth--;
	}
	fputs(".Fc\n", p->file);
	free(text);
}

/* A type as it stands in the header, with narrower indents. */
static void put_type(struct page *p, const char *text)
{
	for (; *text; text = next_line(text)) {
		size_t column = 0;
		char line[512];
		size_t n = 0;

		for (size_t i = 0; i < line_length(text) && n + TAB < sizeof(line); i++) {
			if (text[i] != '\t') {
				line[n++] = text[i];
				column++;
				continue;
			}
			do
				line[n++] = ' ';
			while (++column % TAB);
		}
		column = 0;
		while (column + TAB <= n && strspn(line + column, " ") >= TAB)
			column += TAB;
		fprintf(p->file, "%*s", (int)(column / TAB * INDENT), "");
		put_escaped(p->file, line + column, n - column, true);
		fputc('\n', p->file);
	}
}

static bool is_shown(const struct item *item)
{
	return item->kind == ITEM_TYPE || item->kind == ITEM_MACRO || item->kind == ITEM_DATA ||
	       item->kind == ITEM_OPAQUE;
}

static void put_tag(struct page *p, const struct item *item)
{
	if (item->kind == ITEM_FUNCTION)
		fprintf(p->file, ".It Fn %s\n", item->name);
	else if (item->kind == ITEM_MACRO)
		fprintf(p->file, ".It Dv %s\n", item->name);
	else if (item->kind == ITEM_DATA)
		fprintf(p->file, ".It Va %s\n", item->name);
	else if (item->kind == ITEM_TYPE && !*item->name) /* constants: the first of them */
		fprintf(p->file, ".It Dv %.*s\n", (int)strspn(strstr(item->text, "TACT_"), NAME),
			strstr(item->text, "TACT_"));
	else
		fprintf(p->file, ".It Vt %.*s %s\n", (int)strcspn(item->text, " "), item->text,
			item->name);
}

/* Items from..to-1 that share a comment. */
static void put_group(struct page *p, const struct item *items, size_t from, size_t to)
{
	bool has_tag = false, is_open = false;

	if (!p->in_list)
		put_request(p, ".Bl -tag -width Ds");
	p->in_list = true;
	for (size_t i = from; i < to; i++) {
		if (items[i].kind == ITEM_FUNCTION || items[i].kind == ITEM_DATA) {
			put_tag(p, &items[i]);
			has_tag = true;
		}
	}
	if (!has_tag)
		put_tag(p, &items[from]);
	put_text(p, items[from].comment);
	if (!*items[from].comment)
		put_request(p, ".\\\" no comment"); /* which a test looks for */
	for (size_t i = from; i < to; i++) {
		if (items[i].kind == ITEM_FUNCTION && *items[i].trailing) {
			fprintf(p->file, ".Pp\n.Fn %s :\n", items[i].name);
			put_text(p, items[i].trailing);
		}
	}
	for (size_t i = from; i < to; i++) {
		if (!is_shown(&items[i]) || (items[i].kind == ITEM_OPAQUE && i > from))
			continue;
		if (!is_open)
			put_request(p, ".Bd -literal");
		is_open = true;
		put_type(p, items[i].text);
		if (*items[i].trailing)
			fprintf(p->file, "    /* %s */\n", flatten(items[i].trailing));
	}
	if (is_open)
		put_request(p, ".Ed");
}

/* A struct of another header, declared for a pointer to it. */
static bool is_foreign(const struct item *item, size_t n)
{
	return n == 1 && item->kind == ITEM_OPAQUE && !*item->comment && !*item->trailing;
}

static void end_list(struct page *p)
{
	if (p->in_list)
		put_request(p, ".El");
	p->in_list = false;
}

static void put_items(struct page *p)
{
	const struct item *items = p->header->items;

	for (size_t i = 0, end; i < p->header->n; i = end) {
		end = i + 1;
		if (items[i].kind == ITEM_SECTION) {
			end_list(p);
			fprintf(p->file, ".Ss %c%s\n", toupper((unsigned char)*items[i].name),
				items[i].name + 1);
			put_text(p, items[i].comment);
		} else if (items[i].kind == ITEM_TEXT) {
			end_list(p);
			/* The head of a section begins a paragraph. */
			if (!i || items[i - 1].kind != ITEM_SECTION || *items[i - 1].comment)
				put_request(p, ".Pp");
			put_text(p, items[i].comment);
		} else {
			while (end < p->header->n && items[end].is_grouped)
				end++;
			if (!is_foreign(&items[i], end - i))
				put_group(p, items, i, end);
		}
	}
	end_list(p);
}

/* ---- pages ---- */

/* block.h has the page tact_block. */
static void page_name(const struct header *h, char *name, size_t size)
{
	snprintf(name, size, "tact_%.*s", (int)strcspn(h->name, "."), h->name);
}

static const struct header *find_header(const struct page *p, const char *name)
{
	for (size_t i = 0; i < p->n_headers; i++)
		if (strcmp(p->headers[i].name, name) == 0)
			return &p->headers[i];
	return NULL;
}

static void put_names(struct page *p, const char *name)
{
	const struct header *h = p->header;
	const char *before = NULL;
	size_t n = strcspn(h->comment, ".:;\n");

	fputs(".Sh NAME\n", p->file);
	for (size_t i = 0; i < h->n; i++) {
		if (h->items[i].kind != ITEM_FUNCTION)
			continue;
		if (before)
			fprintf(p->file, ".Nm %s ,\n", before);
		before = h->items[i].name;
	}
	fprintf(p->file, ".Nm %s\n.Nd ", before ? before : name);
	if (!n)
		fprintf(p->file, "part of the library of tact");
	else if (islower((unsigned char)h->comment[1]))
		fputc(tolower((unsigned char)*h->comment), p->file);
	else
		fputc(*h->comment, p->file);
	if (n)
		put_escaped(p->file, h->comment + 1, n - 1, false);
	fputc('\n', p->file);
}

/* Errors that the header's comments speak of, as status.h explains them. */
static void put_error_list(struct page *p)
{
	const struct header *status = find_header(p, "status.h");
	const char *all = "", *at, *end;
	bool is_open = false;

	for (size_t i = 0; status && i < status->n; i++)
		if (strcmp(status->items[i].name, "tact_error") == 0)
			all = status->items[i].text;
	for (at = strstr(all, "TACT_E_"); at; at = strstr(end, "TACT_E_")) {
		const char *text = strstr(at, "/* "), *stop = text ? strstr(text, " */") : NULL;
		char name[40];
		bool is_used = p->header == status;

		end = at + strcspn(at, " ,\t\n");
		snprintf(name, sizeof(name), "%.*s", (int)(end - at), at);
		for (size_t i = 0; i < p->header->n && !is_used; i++)
			is_used = strstr(p->header->items[i].comment, name) ||
				  strstr(p->header->items[i].trailing, name);
		if (!is_used || !stop)
			continue;
		if (!is_open)
			put_request(p, ".Sh ERRORS\n.Bl -tag -width Ds -compact");
		is_open = true;
		fprintf(p->file, ".It Dv \\-%s\n", name);
		put_words(p, text + 3, (size_t)(stop - text - 3));
		end_line(p);
	}
	if (is_open)
		put_request(p, ".El");
}

static void put_see_also(struct page *p, const char *name)
{
	const struct header *h = p->header;

	fputs(".Sh SEE ALSO\n.Xr tact 3", p->file);
	for (size_t i = 0; i < h->n_includes; i++) {
		const struct header *other = find_header(p, h->includes[i]);
		char other_name[80];

		if (!other)
			continue;
		page_name(other, other_name, sizeof(other_name));
		if (strcmp(other_name, name))
			fprintf(p->file, " ,\n.Xr %s 3", other_name);
	}
	fputc('\n', p->file);
}

static FILE *open_page(const char *directory, const char *name)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.3", directory, name);
	file = fopen(path, "w");
	if (!file)
		gen_fail(path, 0, strerror(errno));
	return file;
}

static void close_page(FILE *file, const char *name)
{
	if (fclose(file))
		gen_fail(name, 0, strerror(errno));
}

static void put_title(struct page *p, const char *name, const char *date)
{
	fprintf(p->file, ".\\\" Made from include/tact/%s: do not edit.\n.Dd %s\n.Dt ",
		p->header->name, date);
	for (const char *c = name; *c; c++)
		fputc(toupper((unsigned char)*c), p->file);
	fputs(" 3\n.Os\n", p->file);
}

static void put_page(struct page *p, const char *name, const char *date)
{
	const struct header *h = p->header;
	bool has_int = false;

	put_title(p, name, date);
	put_names(p, name);
	fprintf(p->file, ".Sh LIBRARY\nlibtact (-ltact)\n.Sh SYNOPSIS\n.In tact/%s\n", h->name);
	for (size_t i = 0; i < h->n; i++) {
		if (h->items[i].kind != ITEM_FUNCTION)
			continue;
		put_prototype(p, &h->items[i]);
		has_int = has_int || strncmp(h->items[i].text, "int ", 4) == 0;
	}
	fputs(".Sh DESCRIPTION\n", p->file);
	put_text(p, h->comment);
	put_items(p);
	if (has_int)
		fputs(".Sh RETURN VALUES\n"
		      "Unless said otherwise, a function that returns\n.Vt int\n"
		      "returns 0 or a positive number if it succeeds, and the negative of an\n"
		      ".Vt enum tact_error\nif it fails.\n",
		      p->file);
	put_error_list(p);
	put_see_also(p, name);
}

void manual_write(const char *directory, const char *date, const struct header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct page p = {.header = &headers[i], .headers = headers, .n_headers = n};
		char name[80];

		/* That of all headers is written by hand. */
		if (!headers[i].n)
			continue;
		page_name(&headers[i], name, sizeof(name));
		p.file = open_page(directory, name);
		put_page(&p, name, date);
		close_page(p.file, name);
	}
	/* A function may have the name of its page, but of no other. */
	for (size_t i = 0; i < n; i++) {
		char name[80];

		page_name(&headers[i], name, sizeof(name));
		for (size_t k = 0; k < headers[i].n; k++) {
			const struct item *item = &headers[i].items[k];
			FILE *file;

			if (item->kind != ITEM_FUNCTION || strcmp(item->name, name) == 0)
				continue;
			file = open_page(directory, item->name);
			fprintf(file, ".so man3/%s.3\n", name);
			close_page(file, item->name);
		}
	}
}
