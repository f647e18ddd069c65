/* SPDX-License-Identifier: MIT
 *
 * No parser of C: it knows the form that clang-format and CONTRIBUTING.md give our headers.
 */
#include "headers.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct header *header;
	const char *at;
	unsigned line;
	unsigned blank_lines;  /* since the end of what was read last */
	const char *comment;   /* the one just read; NULL: none */
	unsigned comment_line; /* of its beginning */
	unsigned end_line;     /* of the item read last */
	size_t capacity;
};

void gen_fail(const char *path, unsigned line, const char *why)
{
	if (line)
		fprintf(stderr, "gen_interface: %s:%u: %s\n", path, line, why);
	else
		fprintf(stderr, "gen_interface: %s: %s\n", path, why);
	exit(1);
}

void *gen_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		gen_fail("memory", 0, strerror(ENOMEM));
	return p;
}

char *gen_copy(const char *text, size_t size)
{
	char *copy = gen_alloc(size + 1);

	memcpy(copy, text, size);
	return copy;
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t capacity = 1 << 20, n;
	char *text = gen_alloc(capacity);

	if (!file)
		gen_fail(path, 0, strerror(errno));
	n = fread(text, 1, capacity - 1, file);
	if (ferror(file) || n == capacity - 1)
		gen_fail(path, 0, "cannot be read, or is too long");
	fclose(file);
	return text;
}

static struct item *add_item(struct reader *r, enum item_kind kind, const char *name)
{
	struct header *h = r->header;
	struct item *item;

	if (h->n == r->capacity) {
		r->capacity = r->capacity ? 2 * r->capacity : 64;
		h->items = realloc(h->items, r->capacity * sizeof(*h->items));
		if (!h->items)
			gen_fail(h->path, r->line, strerror(ENOMEM));
	}
	item = &h->items[h->n++];
	*item = (struct item){.kind = kind,
			      .name = name,
			      .text = "",
			      .comment = "",
			      .trailing = "",
			      .line = r->line};
	return item;
}

/* ---- comments ---- */

/* The text between the delimiters, without the stars at the beginnings of lines. */
static const char *comment_text(const char *from, size_t size)
{
	char *to = gen_alloc(size + 1);
	size_t n = 0, i = 0;

	while (i < size) {
		if (!n || to[n - 1] == '\n') {
			size_t j = i;

			while (j < size && (from[j] == ' ' || from[j] == '\t'))
				j++;
			if (j < size && from[j] == '*') {
				i = j + 1;
				i += i < size && from[i] == ' ';
			} else {
				i = j;
			}
			if (i >= size)
				break;
		}
		to[n++] = from[i++];
	}
	while (n && isspace((unsigned char)to[n - 1]))
		n--;
	to[n] = '\0';
	while (*to == '\n' || *to == ' ')
		to++;
	return to;
}

/* "---- title ----", and perhaps a text in the lines after that. */
static const char *section_title(const char *comment)
{
	size_t n = strcspn(comment, "\n");

	if (n < 10 || strncmp(comment, "---- ", 5) || strncmp(comment + n - 5, " ----", 5))
		return NULL;
	return gen_copy(comment + 5, n - 10);
}

/* A comment that nothing followed without a blank line stands alone. */
static void end_comment(struct reader *r)
{
	if (r->comment) {
		struct item *item = add_item(r, ITEM_TEXT, "");

		item->comment = r->comment;
		item->line = r->comment_line;
		r->comment = NULL;
	}
}

static void read_comment(struct reader *r)
{
	const char *end = strstr(r->at + 2, "*/"), *text, *title;
	unsigned first = r->line;
	struct header *h = r->header;

	if (!end)
		gen_fail(h->path, r->line, "the comment has no end");
	text = comment_text(r->at + 2, (size_t)(end - r->at - 2));
	for (; r->at < end + 2; r->at++)
		r->line += *r->at == '\n';
	title = section_title(text);
	if (strncmp(text, "SPDX-", 5) == 0) {
		const char *rest = strstr(text, "\n\n");

		h->comment = rest ? rest + 2 : "";
	} else if (h->n && first == r->end_line) {
		h->items[h->n - 1].trailing = text;
		r->end_line = r->line;
	} else if (title) {
		const char *rest = text + strcspn(text, "\n");

		end_comment(r);
		add_item(r, ITEM_SECTION, title)->comment = rest + strspn(rest, "\n");
	} else {
		end_comment(r);
		r->comment = text;
		r->comment_line = first;
		/* The comment takes the place of what it stands above. */
		return;
	}
	r->blank_lines = 0;
}

/* ---- the preprocessor ---- */

static const char *line_end(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end : at + strlen(at);
}

static void skip_lines_until(struct reader *r, const char *a, const char *b)
{
	for (;;) {
		const char *end = line_end(r->at);
		bool is_last =
			strncmp(r->at, a, strlen(a)) == 0 || strncmp(r->at, b, strlen(b)) == 0;

		r->at = end;
		if (is_last)
			return;
		if (!*end)
			gen_fail(r->header->path, r->line, "an #ifdef has no end");
		r->at++;
		r->line++;
	}
}

static void finish_item(struct reader *r, struct item *item, unsigned blank_lines)
{
	struct header *h = r->header;

	/* What is grouped follows an item, not a title or a text. */
	item->is_grouped = !r->comment && !blank_lines && h->n > 1 && item[-1].kind > ITEM_TEXT;
	item->comment = r->comment ? r->comment : "";
	r->comment = NULL;
	r->blank_lines = 0;
	r->end_line = r->line;
}

static void read_define(struct reader *r)
{
	const char *name = r->at + strlen("#define "), *start = r->at, *end;
	size_t n = strcspn(name, " \t(\n");
	unsigned blanks = r->blank_lines;
	struct item *item;

	for (end = line_end(r->at); *end && end[-1] == '\\'; end = line_end(end + 1))
		r->line++;
	r->at = end;
	/* A guard has no value. */
	if (name + n == end)
		return;
	item = add_item(r, ITEM_MACRO, gen_copy(name, n));
	item->text = gen_copy(start, (size_t)(end - start));
	finish_item(r, item, blanks);
}

static void read_directive(struct reader *r)
{
	static const char include[] = "#include <tact/";
	struct header *h = r->header;

	if (strncmp(r->at, "#ifdef __cplusplus", 18) == 0) {
		skip_lines_until(r, "#endif", "#else");
	} else if (strncmp(r->at, "#define ", 8) == 0) {
		read_define(r);
	} else {
		if (strncmp(r->at, include, strlen(include)) == 0) {
			const char *name = r->at + strlen(include);

			h->includes =
				realloc(h->includes, (h->n_includes + 1) * sizeof(*h->includes));
			if (!h->includes)
				gen_fail(h->path, r->line, strerror(ENOMEM));
			h->includes[h->n_includes++] = gen_copy(name, strcspn(name, ">"));
		}
		r->at = line_end(r->at);
	}
}

/* ---- declarations ---- */

/* The position of the semicolon that ends a declaration; *brace and *bracket are those of the first
 * brace and parenthesis outside of comments, or NULL.
 */
static const char *declaration_end(struct reader *r, const char **brace, const char **bracket)
{
	unsigned depth = 0;
	const char *p = r->at;

	*brace = *bracket = NULL;
	for (; *p; p++) {
		if (p[0] == '/' && p[1] == '*') {
			p = strstr(p + 2, "*/");
			if (!p)
				break;
			p++;
		} else if (*p == '{' || *p == '(') {
			const char **first = *p == '{' ? brace : bracket;

			if (!*first && !depth)
				*first = p;
			depth++;
		} else if (*p == '}' || *p == ')') {
			depth--;
		} else if (*p == ';' && !depth) {
			return p;
		}
	}
	gen_fail(r->header->path, r->line, "the declaration has no end");
}

/* The identifier that ends before `end`. */
static const char *name_before(const char *begin, const char *end)
{
	const char *p;

	while (end > begin && !isalnum((unsigned char)end[-1]) && end[-1] != '_')
		end--;
	for (p = end; p > begin && (isalnum((unsigned char)p[-1]) || p[-1] == '_'); p--)
		;
	return gen_copy(p, (size_t)(end - p));
}

static void read_declaration(struct reader *r)
{
	const char *start = r->at, *brace, *bracket, *end = declaration_end(r, &brace, &bracket);
	unsigned line = r->line, blanks = r->blank_lines;
	enum item_kind kind;
	const char *name;
	struct item *item;

	if (brace) {
		kind = ITEM_TYPE;
		name = name_before(start, brace);
		if (strcmp(name, "enum") == 0)
			name = "";
	} else if (bracket) {
		kind = ITEM_FUNCTION;
		name = name_before(start, bracket);
	} else {
		const char *array = memchr(start, '[', (size_t)(end - start));

		kind = strncmp(start, "extern ", 7) ? ITEM_OPAQUE : ITEM_DATA;
		name = name_before(start, array ? array : end);
	}
	for (; r->at <= end; r->at++)
		r->line += *r->at == '\n';
	item = add_item(r, kind, name);
	item->line = line;
	item->text = gen_copy(start, (size_t)(end + 1 - start));
	finish_item(r, item, blanks);
}

void header_read(struct header *header, const char *path)
{
	struct reader r = {.header = header, .at = read_all(path), .line = 1};
	const char *slash = strrchr(path, '/');

	*header = (struct header){.path = path, .name = slash ? slash + 1 : path, .comment = ""};
	while (*r.at) {
		if (*r.at == '\n') {
			r.line++;
			r.at++;
			if (*r.at == '\n') {
				r.blank_lines++;
				end_comment(&r);
			}
		} else if (isspace((unsigned char)*r.at)) {
			r.at++;
		} else if (r.at[0] == '/' && r.at[1] == '*') {
			read_comment(&r);
		} else if (*r.at == '#') {
			read_directive(&r);
		} else if (*r.at == '}') { /* of extern "C" */
			r.at++;
		} else {
			read_declaration(&r);
		}
	}
	end_comment(&r);
}

const char *header_contract(const struct header *header, size_t i)
{
	const struct item *items = header->items;

	if (*items[i].trailing)
		return items[i].trailing;
	while (!*items[i].comment && items[i].is_grouped)
		i--;
	return items[i].comment;
}
