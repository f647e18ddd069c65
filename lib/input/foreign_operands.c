/* SPDX-License-Identifier: MIT
 *
 * Instructions of MSVC and NASM: names, numbers, sizes and addresses.
 */
#include "base/base.h"
#include "input/foreign_words.h"

int foreign_refuse(struct converter *c, const char *what, size_t size, const char *why)
{
	return tact_fail_at(c->diag, TACT_E_FORMAT, c->line, 0, "'%.*s': %s",
			    size > 40 ? 40 : (int)size, what, why);
}

/* MSVC's names have characters that as keeps for itself; none has a dot. */
void foreign_put_name(struct converter *c, struct word w)
{
	if (c->kind == FOREIGN_NASM && *w.p == '.' && w.size > 1)
		text_add_bytes(c->out, c->scope, c->scope_size);
	for (size_t i = 0; i < w.size; i++) {
		const char *odd = strchr("$s@a?q", w.p[i]);

		if (c->kind == FOREIGN_MSVC && odd && strchr("$@?", w.p[i]))
			text_printf(c->out, ".%c", odd[1]);
		else
			text_add_bytes(c->out, w.p + i, 1);
	}
}

/* 0ffH, 1010b, $ff, 1_000, 0x10, 12 */
static void put_number(struct converter *c, struct word w)
{
	const char last = (char)tolower((unsigned char)w.p[w.size - 1]);
	const bool has_prefix = w.size > 2 && *w.p == '0' && strchr("xXbB", w.p[1]) && last != 'h';
	size_t n = w.size, i = 0;

	if (!has_prefix && last == 'h') {
		text_add(c->out, "0x");
		n--;
	} else if (!has_prefix && (last == 'b' || last == 'y') && n > 1) {
		text_add(c->out, "0b");
		n--;
	} else if (*w.p == '$') {
		text_add(c->out, "0x");
		i = 1;
	}
	for (; i < n; i++)
		if (w.p[i] != '_')
			text_add_bytes(c->out, w.p + i, 1);
}

static const struct equate *find_equate(const struct converter *c, struct word w)
{
	for (size_t i = 0; i < c->n_equates; i++)
		if (c->equates[i].name_size == w.size && !memcmp(c->equates[i].name, w.p, w.size))
			return &c->equates[i];
	return NULL;
}

static int put_word(struct converter *c, struct word w, int depth)
{
	const struct equate *e = find_equate(c, w);

	if (e && depth < 8) {
		const char *p = e->value, *const end = e->value + e->value_size;
		const bool is_sum = next_word(&p, end).size && p < end;

		text_add(c->out, is_sum ? "(" : "");
		if (foreign_put_operands(c, e->value, end, depth + 1) < 0)
			return -TACT_E_FORMAT;
		text_add(c->out, is_sum ? ")" : "");
		return 0;
	}
	if (isdigit((unsigned char)*w.p) ||
	    (w.size > 1 && *w.p == '$' && isdigit((unsigned char)w.p[1])))
		put_number(c, w);
	else if (c->kind == FOREIGN_NASM && is(w, "$"))
		text_add(c->out, ".");
	else if (c->kind == FOREIGN_NASM && is(w, "$$"))
		return foreign_refuse(c, w.p, w.size, "the start of a section is not known here");
	else if (c->kind == FOREIGN_NASM && w.size == 3 && !strncasecmp(w.p, "st", 2) &&
		 isdigit((unsigned char)w.p[2]))
		text_printf(c->out, "st(%c)", w.p[2]);
	else
		foreign_put_name(c, w);
	return 0;
}

/* "dword [" and "dword 5": as wants a ptr for memory, and nothing for numbers. */
static bool put_size(struct converter *c, struct word w, const char *rest, const char *end)
{
	static const struct {
		const char *from, *to;
	} sizes[] = {{"byte", "byte"},	   {"word", "word"},	{"dword", "dword"},
		     {"qword", "qword"},   {"tword", "tbyte"},	{"oword", "xmmword"},
		     {"yword", "ymmword"}, {"zword", "zmmword"}};
	const char *p = rest;
	struct word next = next_word(&p, end);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (is(w, sizes[i].from)) {
			if (!next.size && p < end && *p == '[')
				text_printf(c->out, "%s ptr ", sizes[i].to);
			else if (is(next, "ptr"))
				text_printf(c->out, "%s ", sizes[i].to);
			return true;
		}
	return is_one_of(w, "strict near short");
}

static bool is_register(struct word w)
{
	static const char *const parts[] = {"ax", "bx", "cx", "dx", "si", "di", "sp", "bp"};

	if (w.size < 2 || w.size > 5)
		return false;
	if ((*w.p | 32) == 'r' && isdigit((unsigned char)w.p[1]))
		return true;
	if (w.size > 3 && !strncasecmp(w.p + 1, "mm", 2) && isdigit((unsigned char)w.p[3]))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (w.size == 3 && strchr("eErR", *w.p) && !strncasecmp(w.p + 1, parts[i], 2))
			return true;
	return is(w, "rip");
}

/* What follows a bracket: "rel x", "fs:0x28", or an address without registers. */
static const char *open_bracket(struct converter *c, const char *p, const char *end)
{
	const char *q = p, *close = memchr(p, ']', (size_t)(end - p)), *after;
	struct word first = next_word(&q, end);
	bool has_register = false, has_name = false;

	after = skip_blanks(q, end);
	if (c->kind == FOREIGN_NASM && after < end && *after == ':' &&
	    is_one_of(first, "fs gs cs ds es ss")) {
		text_printf(c->out, "%.*s:[", (int)first.size, first.p);
		return after + 1;
	}
	text_add(c->out, "[");
	if (c->kind != FOREIGN_NASM)
		return p;
	if (is(first, "rel") || is(first, "abs")) {
		if (is(first, "rel"))
			text_add(c->out, "rip + ");
		return q;
	}
	for (q = p; close && q < close;) {
		const struct word w = next_word(&q, close);

		has_register |= w.size && is_register(w);
		has_name |= w.size && !isdigit((unsigned char)*w.p);
		q += !w.size;
	}
	if (c->is_relative && has_name && !has_register)
		text_add(c->out, "rip + ");
	return p;
}

int foreign_put_operands(struct converter *c, const char *p, const char *end, int depth)
{
	while (p < end) {
		const char *start = p;
		struct word w;

		if (is_blank(*p)) {
			text_add(c->out, " ");
			p = skip_blanks(p, end);
			continue;
		}
		w = next_word(&p, end);
		if (!w.size) {
			p = start + 1;
			if (*start == '[')
				p = open_bracket(c, p, end);
			else if (*start == '\\')
				return foreign_refuse(c, start, 1, "lines cannot be continued");
			else
				text_add_bytes(c->out, start, 1);
			continue;
		}
		if (c->kind == FOREIGN_NASM && put_size(c, w, p, end))
			continue;
		if (c->kind == FOREIGN_MSVC && is(w, "short"))
			continue;
		if (put_word(c, w, depth) < 0)
			return -TACT_E_FORMAT;
	}
	return 0;
}

/* MSVC: a variable without a register is addressed from the instruction pointer, and so is what lea
 * takes the offset of.
 */
static int put_msvc_operand(struct converter *c, bool is_lea, const char *p, const char *end)
{
	static const struct {
		const char *from, *to;
	} reals[] = {{"real4", "dword"}, {"real8", "qword"}, {"real10", "tbyte"}};
	const char *q = p, *name;
	struct word w = next_word(&q, end), ptr = next_word(&q, end), symbol;

	name = skip_blanks(q, end);
	if (is(w, "offset") && is(ptr, "flat") && is_lea && name < end && *name == ':') {
		q = name + 1;
		symbol = next_word(&q, end);
		foreign_put_name(c, symbol);
		text_add(c->out, "[rip]");
		return 0;
	}
	if (!is(ptr, "ptr"))
		return foreign_put_operands(c, p, end, 0);
	for (size_t i = 0; i < ARRAY_SIZE(reals); i++)
		if (is(w, reals[i].from))
			w = (struct word){reals[i].to, strlen(reals[i].to)};
	text_printf(c->out, "%.*s ptr ", (int)w.size, w.p);
	symbol = next_word(&q, end);
	if (foreign_put_operands(c, name, end, 0) < 0)
		return -TACT_E_FORMAT;
	if (symbol.size && !isdigit((unsigned char)*symbol.p) && !find_equate(c, symbol) &&
	    !memchr(name, '[', (size_t)(end - name)) && !memchr(name, ':', (size_t)(end - name)))
		text_add(c->out, "[rip]");
	return 0;
}

int foreign_put_insn(struct converter *c, struct word name, const char *p, const char *end)
{
	const char *stop;
	bool is_lea = is_one_of(name, c->assembler->address_insns);

	while (end > p && is_blank(end[-1]))
		end--;
	text_add_bytes(c->out, name.p, name.size);
	p = skip_blanks(p, end);
	if (p == end)
		return 0;
	if (c->kind == FOREIGN_NASM) {
		text_add(c->out, " ");
		return foreign_put_operands(c, p, end, 0);
	}
	if (is(name, "ret") && end - p == 1 && *p == '0')
		return 0; /* so it lists the one without a number */
	text_add(c->out, " ");
	if (is_one_of(name, "rep repe repne lock")) { /* another instruction follows */
		name = next_word(&p, end);
		return foreign_put_insn(c, name, p, end);
	}
	for (;; p = skip_blanks(stop + 1, end)) {
		stop = memchr(p, ',', (size_t)(end - p));
		if (put_msvc_operand(c, is_lea, p, stop ? stop : end) < 0)
			return -TACT_E_FORMAT;
		if (!stop)
			return 0;
		text_add(c->out, ", ");
	}
}
