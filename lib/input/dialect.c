/* SPDX-License-Identifier: MIT
 *
 * Names as in the source, and perf's columns.
 */
#include "input/dialect.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "input/scan.h"

static const char bar[] = "\xe2\x94\x82"; /* U+2502 */

void dialect_quote(struct text *out, const char *name, size_t size)
{
	size_t i;

	text_add(out, "\"");
	for (i = 0; i < size; i++) /* what could end the quotes does not stay */
		text_add_bytes(out, strchr("\"\\\r\n", name[i]) ? "_" : name + i, 1);
	text_add(out, "\"");
}

void dialect_add_function(struct text *out, const char *name, size_t size)
{
	text_add(out, ".type ");
	dialect_quote(out, name, size);
	text_add(out, ",@function;");
	dialect_quote(out, name, size);
	text_add(out, ":");
}

/* ---- names ---- */

/* Characters that names of the source have and symbols do not. */
static bool is_odd(const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p && strchr("(<~ ", *p))
			return true;
	return false;
}

/* Finds the end of a label that begins in the first column: its last colon, after which there is
 * nothing or a comment.  NULL: there is none.
 */
static const char *find_label(const struct isa_assembler *assembler, const char *p, const char *end)
{
	const char *colon = end;

	if (p == end || !(isalpha((unsigned char)*p) || strchr("_~", *p)) || !*p)
		return NULL;
	while ((colon = memrchr(p, ':', (size_t)(colon - p)))) {
		const char *rest = skip_blanks(colon + 1, end);

		if (rest == end ||
		    (rest > colon + 1 && *rest && strchr(assembler->comments, *rest)))
			return colon;
	}
	return NULL;
}

/* Reads "401136 <name+0x30>": true if there is such a name. */
static bool read_place(const char *p, const char *end, const char **name, const char **plus)
{
	const char *open = memchr(p, '<', (size_t)(end - p));

	if (!open || open == p || end[-1] != '>' || !is_blank(open[-1]))
		return false;
	for (; p < open; p++)
		if (!isxdigit((unsigned char)*p) && *p != 'x' && !is_blank(*p))
			return false;
	*name = open + 1;
	*plus = memrchr(*name, '+', (size_t)(end - *name));
	if (!*plus || !isdigit((unsigned char)(*plus)[1]))
		*plus = end - 1;
	return true;
}

/* The target of a jump or call: one name, whatever is in it. */
static bool put_target(struct text *out, const char *p, const char *end)
{
	static const char *const suffixes[] = {"@PLT", "@plt", "@GOTPCREL"};
	const char *name, *plus, *stop = end;
	size_t i;

	if (p == end || *p == '*' || *p == '"' || *p == '[')
		return false;
	if (read_place(p, end, &name, &plus)) {
		dialect_quote(out, name, (size_t)(plus - name));
		text_add_bytes(out, plus, (size_t)(end - 1 - plus));
		return true;
	}
	if (!is_odd(p, end) || *p == '%' || memmem(p, (size_t)(end - p), "(%", 2) ||
	    memchr(p, '[', (size_t)(end - p)))
		return false;
	for (i = 0; i < ARRAY_SIZE(suffixes); i++)
		if ((size_t)(end - p) > strlen(suffixes[i]) &&
		    starts_with(end - strlen(suffixes[i]), end, suffixes[i]))
			stop = end - strlen(suffixes[i]);
	dialect_quote(out, p, (size_t)(stop - p));
	text_add_bytes(out, stop, (size_t)(end - stop));
	return true;
}

/* Finds where a name that is part of an operand ends: at a comma or bracket that is not its own. */
static const char *end_of_name(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		if (starts_with(p, end, "(%") || *p == '[' || *p == ']' || *p == '@')
			return p;
		if (strchr("(<{", *p) && *p)
			depth++;
		else if (strchr(")>}", *p) && *p && depth-- == 0)
			return p;
		else if (!depth && (*p == ',' || (*p == '+' && p[-1] != 'r')))
			return p;
	}
	return p;
}

/* Words of operands that are not part of a name: "DWORD PTR ", "OFFSET FLAT:", "rip + ". */
static const char *skip_words(const char *p, const char *stop)
{
	const char *best = p, *q;
	int depth = 0; /* in parameters of a function */

	for (q = p; q < stop; q++) {
		depth += (*q == '(') - (*q == ')');
		if (depth > 0)
			continue;
		if (stop - q > 4 && !strncasecmp(q, "ptr ", 4))
			best = q + 4;
		else if (stop - q > 5 && !strncasecmp(q, "flat:", 5))
			best = q + 5;
		else if (stop - q > 7 && !strncasecmp(q, "offset ", 7))
			best = best > q + 7 ? best : q + 7;
		else if (*q == '[' || *q == '+' || *q == ',' || *q == '$')
			best = q + 1;
	}
	return skip_blanks(best, stop);
}

/* Names with "::" or " for " ("vtable for X") in operands that are not targets. */
static bool put_operands(struct text *out, const char *p, const char *end)
{
	const char *name, *sign, *space, *stop = asm_skip_word(skip_blanks(p, end), end);
	bool changed = false;

	text_add_bytes(out, p, (size_t)(stop - p)); /* the mnemonic */
	p = stop;
	for (;;) {
		sign = memmem(p, (size_t)(end - p), "::", 2);
		space = memmem(p, (size_t)(end - p), " for ", 5);
		if (!sign || (space && space < sign))
			sign = space;
		if (!sign || memchr(p, '"', (size_t)(sign - p)))
			break;
		name = skip_words(p, sign);
		stop = end_of_name(sign, end);
		while (stop > name && is_blank(stop[-1]))
			stop--;
		if (stop <= sign)
			break;
		text_add_bytes(out, p, (size_t)(name - p));
		dialect_quote(out, name, (size_t)(stop - name));
		p = stop;
		changed = true;
	}
	text_add_bytes(out, p, (size_t)(end - p));
	return changed;
}

/* Finds where an instruction ends: before what is another one, or a comment.  A name may have the
 * character of a comment in it, but no blank before it.
 */
static const char *end_of_statement(const struct isa_assembler *assembler, const char *p,
				    const char *end)
{
	const char *q;

	for (q = p; q < end && *q != ';'; q++)
		if (q > p && is_blank(q[-1]) && *q && strchr(assembler->comments, *q))
			break;
	while (q > p && is_blank(q[-1]))
		q--;
	return q;
}

static bool put_plain_line(struct text *out, const struct isa_assembler *assembler, const char *p,
			   const char *end)
{
	const char *colon = find_label(assembler, p, end), *target, *stop, *q = p;
	bool changed;

	if (colon) {
		if (!is_odd(p, colon) || *p == '"') {
			text_add_bytes(out, p, (size_t)(end - p));
			return false;
		}
		dialect_add_function(out, p, (size_t)(colon - p));
		return true;
	}
	q = skip_blanks(p, end);
	stop = end_of_statement(assembler, q, end);
	if (q == stop || *q == '.' || *q == '#' || (q + 1 < stop && q[0] == '/' && q[1] == '/') ||
	    (*q && strchr(assembler->comments, *q))) {
		text_add_bytes(out, p, (size_t)(end - p));
		return false;
	}
	target = assembler->find_target ? assembler->find_target(q, stop) : NULL;
	if (target && target < stop) {
		text_add_bytes(out, p, (size_t)(target - p));
		changed = put_target(out, target, stop);
		if (!changed)
			text_add_bytes(out, target, (size_t)(stop - target));
	} else {
		changed = put_operands(out, p, stop);
	}
	text_add_bytes(out, stop, (size_t)(end - stop));
	return changed;
}

/* ---- perf annotate, as its browser and --stdio2 show code ---- */

static bool is_arrow(const char *p, const char *end)
{
	return end - p >= 3 && !memcmp(p, "\342\206", 2) && (uint8_t)p[2] >= 0x90 &&
	       (uint8_t)p[2] <= 0x93;
}

/* Skips numbers and the bar; *column counts characters from there, or from the line's start. */
static const char *skip_numbers(const char *p, const char *end, size_t *column)
{
	const char *q = p;

	*column = 0;
	while (q < end && (is_blank(*q) || isdigit((unsigned char)*q) || *q == '.'))
		q++;
	if (starts_with(q, end, bar))
		return q + strlen(bar);
	/* Without a bar: "100.00        sub" */
	for (q = skip_blanks(p, end); q < end && isdigit((unsigned char)*q); q++)
		;
	if (end - q >= 2 && *q == '.' && isdigit((unsigned char)q[1])) {
		for (q++; q < end && isdigit((unsigned char)*q); q++)
			;
		*column = (size_t)(q - p);
		return q;
	}
	return p;
}

/* Skips blanks, arrows and lines that are drawn along a loop. */
static const char *skip_drawing(const char *p, const char *end, size_t *column)
{
	for (;; ++*column) {
		if (p < end && is_blank(*p))
			p++;
		else if (is_arrow(p, end) || (end - p >= 3 && !memcmp(p, "\xe2\x94", 2)))
			p += 3;
		else
			return p;
	}
}

/* Where instructions begin; source lines begin elsewhere.  0: this is not by perf. */
static size_t find_column(const char *text, size_t size)
{
	const char *p = text, *end = text + size, *stop;

	for (; p < end; p = stop + 1) {
		size_t column;

		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		p = skip_numbers(p, stop, &column);
		while (p < stop && is_blank(*p)) {
			p++;
			column++;
		}
		if (is_arrow(p, stop))
			return column + 2;
	}
	return 0;
}

static const char *hex_end(const char *p, const char *end)
{
	while (p < end && isxdigit((unsigned char)*p))
		p++;
	return p;
}

static void put_perf_insn(struct text *out, const struct isa_assembler *assembler, const char *p,
			  const char *end)
{
	const char *target, *stop;

	while (end > p && is_blank(end[-1]))
		end--;
	target = assembler->find_target ? assembler->find_target(p, end) : NULL;
	if (!target || target == end) {
		text_add_bytes(out, p, (size_t)(end - p));
		return;
	}
	text_add_bytes(out, p, (size_t)(target - p));
	stop = hex_end(target, end);
	if (stop > target && (stop == end || is_blank(*stop)))
		text_printf(out, ".Ltact_perf_%.*s", (int)(stop - target), target);
	else if (!put_target(out, target, end))
		text_add_bytes(out, target, (size_t)(end - target));
}

static void put_perf_line(struct text *out, const struct isa_assembler *assembler, const char *p,
			  const char *end, size_t insn_column)
{
	const char *stop, *name;
	size_t column;

	p = skip_numbers(p, end, &column);
	p = skip_drawing(p, end, &column);
	stop = hex_end(p, end);
	/* "0000000000001050 <main>:" */
	if (stop - p >= 8 && starts_with(stop, end, " <")) {
		name = stop + 2;
		stop = memmem(name, (size_t)(end - name), ">:", 2);
		if (stop)
			dialect_add_function(out, name, (size_t)(stop - name));
		return;
	}
	if (stop > p && stop - p <= 16 && stop < end && *stop == ':') {
		text_printf(out, ".Ltact_perf_%.*s: ", (int)(stop - p), p);
		p = skip_drawing(stop + 1, end, &column);
		put_perf_insn(out, assembler, p, end);
	} else if (column == insn_column) {
		put_perf_insn(out, assembler, p, end);
	}
}

bool dialect_is_perf(const char *text, size_t size)
{
	return find_column(text, size) > 0;
}

enum dialect dialect_convert(struct text *out, const struct isa_assembler *assembler,
			     const char *text, size_t size)
{
	const char *p = text, *end = text + size, *stop;
	const size_t column = find_column(text, size);
	enum dialect found = column ? DIALECT_PERF : DIALECT_NONE;

	for (; p < end; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		if (column)
			put_perf_line(out, assembler, p, stop, column);
		else if (put_plain_line(out, assembler, p, stop))
			found = DIALECT_NAMES;
		if (stop < end)
			text_add(out, "\n");
	}
	return found;
}
