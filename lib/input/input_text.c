/* SPDX-License-Identifier: MIT
 *
 * Lists of hex strings and CSV files: the hot path.  One line is in memory at a time; nothing is
 * allocated for a line unless it is longer than all before.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "code/transfers.h"
#include "input/reader.h"

enum {
	/* Large enough that system calls do not matter, small enough for the second-level cache. */
	CHUNK_SIZE = 256 * 1024,
	/* A block has 64 KB at most, and a row has other columns.  What has no end must not fill the
	 * memory.
	 */
	MOST_LINE = 4 << 20,
};

int input_read_more(struct input_reader *reader, struct tact_diag *diag)
{
	ssize_t done;

	if (reader->is_eof || reader->fd < 0) {
		reader->is_eof = true;
		return 0;
	}
	if (reader->begin && reader->begin == reader->end) {
		reader->begin = reader->end = 0;
	} else if (reader->begin && reader->end == reader->capacity) {
		memmove(reader->data, reader->data + reader->begin, reader->end - reader->begin);
		reader->end -= reader->begin;
		reader->begin = 0;
	}
	if (reader->end == reader->capacity &&
	    tact_grow(&reader->data, &reader->capacity,
		      reader->capacity ? reader->capacity + 1 : CHUNK_SIZE, 1))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	do
		done = read(reader->fd, reader->data + reader->end, reader->capacity - reader->end);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return tact_fail_errno(diag, NULL);
	reader->end += (size_t)done;
	reader->is_eof = done == 0;
	return done > 0;
}

int input_read_line(struct input_reader *reader, const char **line, size_t *size,
		    struct tact_diag *diag)
{
	size_t seen = 0; /* of a line that is not complete yet */

	for (;;) {
		const char *start = reader->data + reader->begin;
		const size_t there = reader->end - reader->begin;
		const char *stop = there ? memchr(start + seen, '\n', there - seen) : NULL;
		int status;

		if (stop || (reader->is_eof && there)) {
			*line = start;
			*size = stop ? (size_t)(stop - start) : there;
			reader->begin += *size + (stop != NULL);
			reader->line++;
			return 1;
		}
		seen = there;
		if (seen > MOST_LINE)
			return tact_fail_at(diag, TACT_E_LIMIT, reader->line, 0,
					    "a line of more than %d MB", MOST_LINE >> 20);
		status = reader->is_eof ? 0 : input_read_more(reader, diag);
		if (status < 0 || (status == 0 && reader->begin == reader->end))
			return status;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* One line, reduced to its hex digits. */
struct cell {
	const char *line; /* start of the line, for columns */
	const char *p, *end;
};

static void trim(struct cell *cell)
{
	while (cell->p < cell->end && is_blank(*cell->p))
		cell->p++;
	while (cell->end > cell->p && is_blank(cell->end[-1]))
		cell->end--;
}

/* First column of a CSV line, without quotes. */
static void cut_column(struct cell *cell)
{
	const char *p;

	if (*cell->p == '"') {
		cell->p++;
		p = memchr(cell->p, '"', (size_t)(cell->end - cell->p));
	} else {
		p = memchr(cell->p, ',', (size_t)(cell->end - cell->p));
		if (!p) /* other separators are rare */
			p = memchr(cell->p, '\t', (size_t)(cell->end - cell->p));
		if (!p)
			p = memchr(cell->p, ';', (size_t)(cell->end - cell->p));
	}
	if (p)
		cell->end = p;
	trim(cell);
}

static void cut_prefix(struct cell *cell)
{
	if (cell->end - cell->p >= 2 && cell->p[0] == '0' &&
	    (cell->p[1] == 'x' || cell->p[1] == 'X'))
		cell->p += 2;
}

/* A header's first cell is a word; a word of hex digits is taken for code. */
static bool is_header(const struct cell *cell, size_t bad)
{
	return bad < (size_t)(cell->end - cell->p) &&
	       (isalpha((unsigned char)*cell->p) || *cell->p == '_');
}

/* Digits in groups, "48 01 d8": decodes them again, group by group.  Returns -1 if that does not
 * help.
 */
static long decode_groups(uint8_t *out, const struct cell *cell, size_t *bad)
{
	const char *p = cell->p;
	long total = 0, size;

	while (p < cell->end) {
		const char *start = p;

		while (p < cell->end && !is_blank(*p))
			p++;
		size = tact_hex_decode(out + total, start, (size_t)(p - start), bad);
		if (size < 0) {
			*bad += (size_t)(start - cell->p);
			return -1;
		}
		total += size;
		while (p < cell->end && is_blank(*p))
			p++;
	}
	return total;
}

static int fail_digit(const struct tact_input *in, const struct cell *cell, size_t bad,
		      struct tact_diag *diag)
{
	const uint64_t line = in->reader.line - 1;
	const size_t size = (size_t)(cell->end - cell->p);
	const size_t column = (size_t)(cell->p - cell->line) + bad;
	size_t digits = 0, i;

	/* A row of a table about nothing, such as BHive's blocks that cannot be decoded. */
	if (!size && in->kind == TACT_INPUT_CSV)
		return tact_fail_at(diag, TACT_E_NO_DATA, line, column, "no hex digits");
	if (!size)
		return tact_fail_at(diag, TACT_E_FORMAT, line, column, "no hex digits");
	if (bad >= size || is_blank(cell->p[bad])) {
		for (i = 0; i < bad && i < size; i++)
			digits += !is_blank(cell->p[i]);
		return tact_fail_at(diag, TACT_E_FORMAT, line, column,
				    "odd number of hex digits (%zu)", digits);
	}
	if (isprint((unsigned char)cell->p[bad]))
		return tact_fail_at(diag, TACT_E_FORMAT, line, column,
				    "'%c' at column %zu is not a hex digit", cell->p[bad],
				    column + 1);
	return tact_fail_at(diag, TACT_E_FORMAT, line, column,
			    "byte 0x%02x at column %zu is not a hex digit",
			    (unsigned char)cell->p[bad], column + 1);
}

/* Returns 1 with the region filled, 0 for a header, or -TACT_E_*. */
static int decode_line(struct tact_input *in, struct cell *cell, struct tact_region *region,
		       struct tact_diag *diag)
{
	const bool may_be_header = in->is_header_possible;
	size_t digits, bad = 0;
	long size;

	in->is_header_possible = false;
	if (in->kind == TACT_INPUT_CSV)
		cut_column(cell);
	cut_prefix(cell);
	digits = (size_t)(cell->end - cell->p);
	region->line = in->reader.line - 1;
	region->text = cell->p;
	region->text_size = digits;
	if (tact_grow(&in->code, &in->code_capacity, digits / 2 + 1, 1))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	size = tact_hex_decode(in->code, cell->p, digits, &bad);
	if (size < 0 && bad < digits && is_blank(cell->p[bad]) && bad % 2 == 0)
		size = decode_groups(in->code, cell, &bad);
	if (size < 0 && may_be_header && is_header(cell, bad))
		return 0;
	if (size <= 0)
		return fail_digit(in, cell, bad, diag);
	region->code = in->code;
	region->code_size = (size_t)size;
	region->is_loop = code_is_loop(in->isa, in->code, (size_t)size);
	if (input_remark_calls(in, region))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 1;
}

int input_text_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	struct cell cell;
	size_t size;
	int status;

	for (;;) {
		status = input_read_line(&in->reader, &cell.line, &size, diag);
		if (status <= 0) {
			in->is_done = true;
			if (status == 0 && !in->saw_code)
				return tact_fail(diag, TACT_E_FORMAT, "no code");
			return status;
		}
		cell.p = cell.line;
		cell.end = cell.line + size;
		trim(&cell);
		if (cell.p == cell.end || *cell.p == '#')
			continue;
		status = decode_line(in, &cell, region, diag);
		if (status) {
			in->saw_code = true;
			return status;
		}
	}
}
