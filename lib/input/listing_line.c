/* SPDX-License-Identifier: MIT
 *
 * One line of a listing.  The forms, of which blanks vary:
 *
 *   0000000000001190 <dot>:                             objdump: a header
 *     1190:	48 85 d2             	test   %rdx,%rdx     objdump, llvm-objdump
 *     1190:	test   %rdx,%rdx                             the same without bytes
 *     1088:	00                                           more bytes of an instruction
 *   => 0x0000000000001190 <+0>:	test   %rdx,%rdx     gdb: disassemble
 *      0x1190 <dot+3>:	48 85 d2	test   %rdx,%rdx     gdb: x/i, disassemble /r
 *       0.00 :   1190:   test   %rdx,%rdx               perf annotate
 */
#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "input/listing.h"
#include "input/scan.h"

/* Skips perf's columns: numbers, if any, and a colon or a bar.  An address has no point and its
 * colon has no blank before it.
 */
static const char *skip_percent(const char *p, const char *end)
{
	static const char bar[] = "\xe2\x94\x82"; /* U+2502 */
	const char *q = p;
	bool has_point = false, has_number = false;

	for (; q < end && (is_blank(*q) || isdigit((unsigned char)*q) || *q == '.'); q++) {
		has_point |= *q == '.';
		has_number |= isdigit((unsigned char)*q) != 0;
	}
	if (starts_with(q, end, bar))
		return q + strlen(bar);
	if (q < end && (*q == ':' || *q == '|') && has_point == has_number)
		return q + 1;
	return p;
}

/* gdb's arrow at the current instruction, perf's at branches. */
static const char *skip_arrows(const char *p, const char *end)
{
	p = skip_blanks(p, end);
	if (starts_with(p, end, "=>"))
		p = skip_blanks(p + 2, end);
	while (end - p >= 3 && (!memcmp(p, "\342\206", 2) || !memcmp(p, "\xe2\x94", 2)))
		p = skip_blanks(p + 3, end); /* U+2190 to U+21BF, U+2500 to U+253F */
	return p;
}

/* Reads an address.  Returns its end, or NULL if there is none. */
static const char *read_address(struct listing_line *out, const char *p, const char *end)
{
	unsigned n = 0;

	out->is_certain = starts_with(p, end, "0x") && end - p > 2 && isxdigit((unsigned char)p[2]);
	if (out->is_certain)
		p += 2;
	for (; p < end && isxdigit((unsigned char)*p); p++, n++)
		out->address =
			out->address << 4 |
			(unsigned)(isdigit((unsigned char)*p) ? *p - '0' : (*p | 0x20) - 'a' + 10);
	return n && n <= 16 ? p : NULL;
}

/* Tells whether a name ends in +0x1f or +31. */
static bool has_offset(const char *p, const char *end)
{
	const char *plus = memrchr(p, '+', (size_t)(end - p));

	if (!plus || plus + 1 == end || !isdigit((unsigned char)plus[1]))
		return false;
	plus += starts_with(plus + 1, end, "0x") ? 3 : 1;
	while (plus < end && isxdigit((unsigned char)*plus))
		plus++;
	return plus == end;
}

/* Reads "<name+offset>" before the colon.  Names may have such brackets in them. */
static const char *read_name(struct listing_line *out, const char *p, const char *end)
{
	const char *stop = p + 1;

	do {
		stop = memmem(stop, (size_t)(end - stop), ">:", 2);
		if (!stop)
			return NULL;
		stop++;
	} while (stop + 1 < end && !is_blank(stop[1]));
	if (!has_offset(p + 1, stop - 1)) {
		out->name = p + 1;
		out->name_size = (size_t)(stop - 1 - out->name);
	}
	out->is_certain = true;
	return stop;
}

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Reads pairs of hex digits, one blank between them; what follows them are two blanks or a tab. */
static const char *read_bytes(struct listing_line *out, const char *p, const char *end)
{
	const char *q = p;
	unsigned n = 0;

	while (end - q >= 2 && isxdigit((unsigned char)q[0]) && isxdigit((unsigned char)q[1]) &&
	       (end - q == 2 || is_blank(q[2]))) {
		if (n == LISTING_MAX_BYTES)
			return p;
		out->bytes[n++] = (uint8_t)(hex_value(q[0]) << 4 | hex_value(q[1]));
		q += 2;
		if (q < end && *q == ' ')
			q++;
	}
	if (!n)
		return p;
	out->n_bytes = n;
	return q;
}

/* "Dump of assembler code for function NAME:" */
static bool read_dump(struct listing_line *out, const char *p, const char *end)
{
	static const char start[] = "Dump of assembler code for function ";

	if (!starts_with(p, end, start))
		return false;
	if (end[-1] == ':')
		end--;
	out->kind = LISTING_HEADER;
	out->is_certain = true;
	out->name = p + strlen(start);
	out->name_size = (size_t)(end - out->name);
	return true;
}

/* perf numbers the lines that are no instructions: " : 5    0000000000001050 <main>:" */
static const char *skip_line_number(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && isdigit((unsigned char)*q))
		q++;
	if (q == p || !starts_with(q, end, "  ") || end[-1] != ':')
		return p;
	return skip_blanks(q, end);
}

void listing_parse_line(struct listing_line *out, const char *line, size_t size)
{
	const char *p = line, *end = line + size;
	bool is_perf;

	*out = (struct listing_line){.name = "", .text = "", .end = ""};
	while (end > p && is_blank(end[-1]))
		end--;
	p = skip_percent(p, end);
	is_perf = p > line;
	p = skip_arrows(p, end);
	if (is_perf)
		p = skip_line_number(p, end);
	if (p == end || read_dump(out, p, end))
		return;
	p = read_address(out, p, end);
	if (!p)
		goto other;
	if (end - p > 2 && p[0] == ' ' && p[1] == '<')
		p = read_name(out, p + 1, end);
	if (!p || p == end || *p != ':')
		goto other;
	out->has_address = true;
	p++;
	if (p == end) {
		out->kind = out->name_size ? LISTING_HEADER : LISTING_OTHER;
		return;
	}
	if (!is_blank(*p))
		goto other;
	p = read_bytes(out, skip_blanks(p, end), end);
	out->text = skip_arrows(p, end);
	out->end = end;
	out->is_certain |= out->n_bytes > 0 || is_perf;
	out->kind = out->text < end ? LISTING_CODE : LISTING_MORE;
	/* objdump -r: relocations stand between the instructions. */
	if (!starts_with(out->text, end, "R_"))
		return;
other:
	out->kind = LISTING_OTHER;
	out->is_certain = false;
	out->name_size = 0;
}
