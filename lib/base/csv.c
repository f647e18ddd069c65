/* SPDX-License-Identifier: MIT
 *
 * Records of a CSV file (RFC 4180, and other things that go by that name), one at a time in bounded
 * memory.
 *
 * A quote that opens a field and is never closed is a hazard: it swallows lines.  So a record is
 * limited, and reading continues after its first line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"

#include "base/base.h"
#include "base/text.h"

enum { READ_SIZE = 1 << 18, SAMPLE_SIZE = 1 << 16 };

struct csv {
	int fd; /* -1: everything is in data */
	bool owns_fd, is_eof;
	char *data; /* owned; has room for one more byte than `capacity` */
	size_t capacity, begin, end;
	uint64_t line, record_line; /* of data[begin], and of the current record; from 1 */
	char separator;		    /* 0: not known yet */
	struct csv_field *fields;   /* owned */
	size_t n_fields, fields_capacity;
};

/* ---- bytes ---- */

static int make_room(struct csv *csv, size_t room, struct tact_diag *diag)
{
	char *grown;
	size_t wanted;

	if (csv->begin) {
		memmove(csv->data, csv->data + csv->begin, csv->end - csv->begin);
		csv->end -= csv->begin;
		csv->begin = 0;
	}
	if (csv->capacity - csv->end >= room)
		return 0;
	wanted = csv->end + room;
	grown = realloc(csv->data, wanted + 1);
	if (!grown)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	csv->data = grown;
	csv->capacity = wanted;
	return 0;
}

/* Returns 1, 0 at the end of the file, or an error. */
static int read_more(struct csv *csv, struct tact_diag *diag)
{
	ssize_t n;
	int status;

	if (csv->is_eof || csv->fd < 0)
		return 0;
	status = make_room(csv, READ_SIZE, diag);
	if (status < 0)
		return status;
	do
		n = read(csv->fd, csv->data + csv->end, READ_SIZE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	csv->is_eof = n == 0;
	csv->end += (size_t)n;
	return n > 0;
}

/* ---- opening ---- */

static bool begins(const struct csv *csv, const char *magic, size_t size)
{
	return csv->end - csv->begin >= size && !memcmp(csv->data + csv->begin, magic, size);
}

/* What is certainly not CSV gets one message instead of one per line. */
static int check_content(struct csv *csv, struct tact_diag *diag)
{
	if (begins(csv, "SQLite format 3", 16))
		return tact_fail(diag, TACT_E_FORMAT, "an SQLite database, not text");
	if (begins(csv, "\177ELF", 4))
		return tact_fail(diag, TACT_E_FORMAT, "an ELF file, not text");
	if (begins(csv, "\037\213", 2) || begins(csv, "(\265/\375", 4))
		return tact_fail(diag, TACT_E_FORMAT, "compressed; decompress it first");
	if (begins(csv, "\377\376", 2) || begins(csv, "\376\377", 2))
		return tact_fail(diag, TACT_E_FORMAT, "text in UTF-16; convert it to UTF-8");
	if (begins(csv, "\357\273\277", 3))
		csv->begin += 3;
	return 0;
}

static int open_csv(struct csv **out, struct csv *csv, struct tact_diag *diag)
{
	int status = 1;

	while (status > 0 && csv->end < SAMPLE_SIZE)
		status = read_more(csv, diag);
	if (status >= 0)
		status = check_content(csv, diag);
	if (status < 0) {
		csv_close(csv);
		return status;
	}
	csv->line = csv->record_line = 1;
	*out = csv;
	return 0;
}

int csv_open(struct csv **out, const char *path, struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	status = tact_new(&csv, sizeof(*csv), out && path, "no path", diag);
	if (status < 0)
		return status;
	csv->fd = STDIN_FILENO;
	if (strcmp(path, "-") != 0) {
		csv->fd = open(path, O_RDONLY | O_CLOEXEC);
		csv->owns_fd = true;
	}
	if (csv->fd < 0) {
		free(csv);
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	}
	return open_csv(out, csv, diag);
}

int csv_open_memory(struct csv **out, const void *data, size_t size, struct tact_diag *diag)
{
	struct csv *csv;

	if (!out || (!data && size))
		return tact_fail(diag, TACT_E_INVAL, "no data");
	csv = calloc(1, sizeof(*csv));
	if (csv)
		csv->data = malloc(size + 1);
	if (!csv || !csv->data) {
		free(csv);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	csv->fd = -1;
	if (size)
		memcpy(csv->data, data, size);
	csv->capacity = csv->end = size;
	return open_csv(out, csv, diag);
}

void csv_close(struct csv *csv)
{
	if (!csv)
		return;
	if (csv->owns_fd)
		close(csv->fd);
	FREE_ALL(csv->data, csv->fields, csv);
}

uint64_t csv_line(const struct csv *csv)
{
	return csv ? csv->record_line : 0;
}

const char *csv_peek(const struct csv *csv, size_t *size)
{
	*size = csv->end - csv->begin;
	return csv->data + csv->begin;
}

/* ---- records ---- */

/* How a record ends. */
enum ending { BY_NEWLINE, BY_DATA, IN_QUOTES };

/* Finds the end of the record at data[begin], without the line ending: a newline outside quotes, or
 * the end of the data.
 */
static enum ending find_end(const struct csv *csv, size_t *end_at)
{
	const char *p = csv->data + csv->begin, *end = csv->data + csv->end;
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	bool at_start = true, quoted = false;

	if (!memchr(p, '"', (size_t)((newline ? newline : end) - p))) {
		*end_at = (size_t)((newline ? newline : end) - csv->data);
		return newline ? BY_NEWLINE : BY_DATA;
	}
	for (; p < end && (quoted || *p != '\n'); p++) {
		if (quoted) {
			quoted = *p != '"'; /* a doubled quote opens it again at once */
			at_start = !quoted;
		} else {
			quoted = *p == '"' && at_start;
			at_start = *p == csv->separator || (at_start && *p == ' ');
		}
	}
	*end_at = (size_t)(p - csv->data);
	return quoted ? IN_QUOTES : p < end ? BY_NEWLINE : BY_DATA;
}

/* Makes sure that a whole record is in memory.  Returns 1 with *end, 0 at the end, or an error; a
 * record without an end gives -TACT_E_LIMIT.
 */
static int fetch(struct csv *csv, size_t *end, struct tact_diag *diag)
{
	enum ending ending;
	int status;

	for (;;) {
		ending = find_end(csv, end);
		if (*end - csv->begin > CSV_MAX_RECORD)
			return -TACT_E_LIMIT;
		if (ending == BY_NEWLINE)
			return 1;
		status = read_more(csv, diag);
		if (status < 0)
			return status;
		if (status)
			continue;
		*end = csv->end; /* reading may have moved it */
		return ending == IN_QUOTES ? -TACT_E_LIMIT : csv->begin < csv->end;
	}
}

/* Skips the line at data[begin], however long it is. */
static int skip_line(struct csv *csv, struct tact_diag *diag)
{
	int status;

	for (;;) {
		char *newline = memchr(csv->data + csv->begin, '\n', csv->end - csv->begin);

		csv->begin = newline ? (size_t)(newline + 1 - csv->data) : csv->end;
		if (newline)
			csv->line++;
		if (newline)
			return 1;
		status = read_more(csv, diag);
		if (status <= 0)
			return status;
	}
}

static void find_separator(struct csv *csv)
{
	const char *p = csv->data + csv->begin;
	size_t size = csv->end - csv->begin;
	const char *newline = memchr(p, '\n', size);

	if (newline)
		size = (size_t)(newline - p);
	csv->separator = memchr(p, ',', size)	 ? ','
			 : memchr(p, '\t', size) ? '\t'
			 : memchr(p, ';', size)	 ? ';'
						 : ',';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Reads a field after its opening quote; moves *p past its end. */
static struct csv_field unquote(char **p, const char *end)
{
	struct csv_field field = {.text = *p};
	char *to = *p, *from = *p;

	while (from < end && (*from != '"' || (from + 1 < end && from[1] == '"'))) {
		if (*from == '"')
			from++;
		*to++ = *from++;
	}
	field.size = (size_t)(to - field.text);
	*p = from < end ? from + 1 : from;
	if (field.size && *field.text == '\'' && text_is_formula(field.text, field.size)) {
		field.text++; /* so that no spreadsheet computes it: text_csv_field */
		field.size--;
	}
	return field;
}

static struct csv_field trim(char *text, char *end)
{
	while (text < end && is_blank(*text))
		text++;
	while (end > text && is_blank(end[-1]))
		end--;
	return (struct csv_field){.text = text, .size = (size_t)(end - text)};
}

/* Cuts the bytes into fields and puts a NUL after each, over the newline if need be. */
static int split(struct csv *csv, size_t begin, size_t end_at, struct tact_diag *diag)
{
	char *p = csv->data + begin, *end = csv->data + end_at;
	bool more = true;

	csv->n_fields = 0;
	while (more) {
		struct csv_field field;
		char *start, *stop;

		if (tact_grow(&csv->fields, &csv->fields_capacity, csv->n_fields + 1,
			      sizeof(*csv->fields)) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		while (p < end && *p == ' ')
			p++;
		start = p;
		if (p < end && *p == '"') {
			p++;
			field = unquote(&p, end);
			stop = memchr(p, csv->separator, (size_t)(end - p));
		} else {
			stop = memchr(p, csv->separator, (size_t)(end - p));
			field = trim(start, stop ? stop : end);
		}
		more = stop;
		p = stop ? stop + 1 : end;
		((char *)field.text)[field.size] = '\0'; /* at most where it ended */
		csv->fields[csv->n_fields++] = field;
	}
	return 1;
}

/* Counts the lines of a record; quotes may contain some.  Its bytes stay valid until the next call.
 */
static void go_behind(struct csv *csv, size_t end)
{
	const char *p = csv->data + csv->begin, *stop = csv->data + end;

	while ((p = memchr(p, '\n', (size_t)(stop - p)))) {
		csv->line++;
		p++;
	}
	csv->begin = end;
	if (csv->begin < csv->end) { /* the newline itself */
		csv->begin++;
		csv->line++;
	}
}

static bool is_skipped(const struct csv *csv, size_t end)
{
	size_t i = csv->begin;

	while (i < end && is_blank(csv->data[i]))
		i++;
	return i == end || csv->data[i] == '#';
}

static int bad_record(struct csv *csv, const char *why, struct tact_diag *diag)
{
	int status = skip_line(csv, diag);

	if (status < 0)
		return status;
	csv->n_fields = 0;
	return tact_fail_at(diag, TACT_E_FORMAT, csv->record_line, 0, "%s", why);
}

int csv_next(struct csv *csv, const struct csv_field **fields, size_t *n, struct tact_diag *diag)
{
	size_t begin, end;
	int status;

	if (!csv || !fields || !n)
		return tact_fail(diag, TACT_E_INVAL, "no file or nowhere to put its fields");
	do {
		csv->record_line = csv->line;
		if (!csv->separator)
			find_separator(csv);
		status = fetch(csv, &end, diag);
		if (status == -TACT_E_LIMIT)
			return bad_record(csv,
					  "a quote that is not closed, or a line of more than "
					  "a mebibyte",
					  diag);
		if (status <= 0)
			return status;
		if (!is_skipped(csv, end))
			break;
		go_behind(csv, end);
		if (csv->n_fields == 0)
			csv->separator = 0;
	} while (true);
	if (memchr(csv->data + csv->begin, '\0', end - csv->begin))
		return bad_record(csv, "a NUL byte: not a line of text", diag);
	begin = csv->begin;
	go_behind(csv, end);
	status = split(csv, begin, end, diag);
	if (status < 0)
		return status;
	*fields = csv->fields;
	*n = csv->n_fields;
	return 1;
}
