/* SPDX-License-Identifier: MIT
 *
 * MSVC and NASM, to what GNU as takes: which one it is, labels and directives.
 */
#include "input/foreign.h"

#include <stdlib.h>

#include "base/base.h"
#include "input/dialect.h"
#include "input/foreign_words.h"

enum { MAX_TIMES = 4096 };

static const char nasm_sizes[] = "byte word dword qword tword oword yword zword";
static const char gas_words[] = ".intel_syntax .att_syntax .text .globl .global .file .section "
				".type .p2align .cfi_startproc";

/* Where the comment of a line begins, or its end. */
static const char *find_comment(const char *p, const char *end)
{
	char quote = 0;

	for (; p < end; p++) {
		if (quote ? *p == quote : *p == '"' || *p == '\'' || *p == '`')
			quote = quote ? 0 : *p;
		else if (!quote && *p == ';')
			break;
	}
	return p;
}

/* ---- which one ---- */

static bool has_bare_size(const char *p, const char *end)
{
	const char *const start = p;

	while (p < end) {
		const struct word w = next_word(&p, end);

		if (w.size && is_one_of(w, nasm_sizes) && skip_blanks(p, end) < end &&
		    *skip_blanks(p, end) == '[')
			return true;
		if (is(w, "rel") && w.p > start && w.p[-1] == '[')
			return true;
		if (!w.size)
			p++;
	}
	return false;
}

static enum foreign look_at(const char *p, const char *end, bool *is_gas)
{
	const char *q = p = skip_blanks(p, end);
	const struct word first = next_word(&q, end), second = next_word(&q, end);

	if (is_one_of(first, gas_words) &&
	    (first.p + first.size == end || second.size || first.p[first.size] != ':'))
		*is_gas = true;
	if (p + 1 < end && *p == '%' && isalpha((unsigned char)p[1]))
		return FOREIGN_NASM;
	if (p < end && *p == '[' && is_one_of(second, "bits section segment default global"))
		return FOREIGN_NASM;
	if (is_one_of(second, "proc endp segment ends"))
		return FOREIGN_MSVC;
	if (is_one_of(first, "includelib public extrn"))
		return FOREIGN_MSVC;
	if ((is_one_of(first, "section segment") && second.size && *second.p == '.') ||
	    (is_one_of(first, "global bits extern") && second.size) ||
	    (is(first, "default") && is_one_of(second, "rel abs")) ||
	    (first.size && has_bare_size(p, end)))
		return FOREIGN_NASM;
	return FOREIGN_NONE;
}

enum foreign foreign_detect(const char *text, size_t size)
{
	const char *p = text, *const end = text + size, *stop;
	enum foreign found = FOREIGN_NONE;
	bool is_gas = false;

	for (; p < end && !is_gas; p = stop + 1) {
		enum foreign kind;

		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		kind = look_at(p, find_comment(p, stop), &is_gas);
		found = found ? found : kind;
	}
	return is_gas ? FOREIGN_NONE : found;
}

/* ---- directives ---- */

static int add_equate(struct converter *c, struct word name, const char *p, const char *end)
{
	p = skip_blanks(p, end);
	while (end > p && is_blank(end[-1]))
		end--;
	if (tact_grow(&c->equates, &c->capacity, c->n_equates + 1, sizeof(*c->equates)))
		return tact_fail(c->diag, TACT_E_NOMEM, "out of memory");
	c->equates[c->n_equates++] = (struct equate){name.p, p, name.size, (size_t)(end - p)};
	return 0;
}

static const struct {
	const char *name, *directive, *real;
	unsigned size;
} data_words[] = {
	{"db", ".byte", NULL, 1},      {"dw", ".short", NULL, 2}, {"dd", ".long", ".float", 4},
	{"dq", ".quad", ".double", 8}, {"resb", NULL, NULL, 1},	  {"resw", NULL, NULL, 2},
	{"resd", NULL, NULL, 4},       {"resq", NULL, NULL, 8},	  {"dt", ".tfloat", ".tfloat", 10},
};

static int find_data(struct word w)
{
	for (size_t i = 0; i < ARRAY_SIZE(data_words); i++)
		if (is(w, data_words[i].name))
			return (int)i;
	return -1;
}

/* Items in quotes are bytes, those with a point are real numbers.  Of MSVC's, only the size counts:
 * nothing here depends on what data are.
 */
static int put_data(struct converter *c, int kind, const char *p, const char *end)
{
	while (end > p && is_blank(end[-1]))
		end--;
	if (!data_words[kind].directive) {
		text_printf(c->out, ".skip %u * ", data_words[kind].size);
		return foreign_put_operands(c, p, end, 0);
	}
	for (;;) {
		const char *stop, *item = p = skip_blanks(p, end);
		const char quote = p < end && strchr("'\"", *p) ? *p : 0;

		if (quote)
			for (p++; p < end && *p != quote; p++)
				;
		stop = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
		stop = stop ? stop : end;
		if (c->kind == FOREIGN_MSVC) {
			text_printf(c->out, ".skip %u;", data_words[kind].size);
		} else if (quote) {
			for (item++; item < p; item++)
				text_printf(c->out, ".byte %u;", (unsigned char)*item);
		} else {
			text_printf(c->out, "%s ",
				    data_words[kind].real &&
						    memchr(item, '.', (size_t)(stop - item)) &&
						    isdigit((unsigned char)*item)
					    ? data_words[kind].real
					    : data_words[kind].directive);
			if (foreign_put_operands(c, item, stop, 0) < 0)
				return -TACT_E_FORMAT;
			text_add(c->out, ";");
		}
		if (stop == end)
			return 0;
		p = stop + 1;
	}
}

static int put_align(struct converter *c, const char *p, const char *end)
{
	text_add(c->out, ".balign ");
	if (foreign_put_operands(c, p, end, 0) < 0)
		return -TACT_E_FORMAT;
	text_add(c->out, c->kind == FOREIGN_NASM ? ", 0x90" : "");
	return 0;
}

static int put_nasm_line(struct converter *c, const char *p, const char *end);

static int put_times(struct converter *c, const char *p, const char *end)
{
	const struct word count = next_word(&p, end);
	long n = 0;

	for (size_t i = 0; i < count.size; i++)
		n = isdigit((unsigned char)count.p[i]) && n <= MAX_TIMES
			    ? n * 10 + (count.p[i] - '0')
			    : MAX_TIMES + 1;
	if (!count.size || n > MAX_TIMES || (p < end && !is_blank(*p)))
		return foreign_refuse(c, "times", 5, "needs a number up to 4096");
	while (n-- > 0) {
		if (put_nasm_line(c, p, end) < 0)
			return -TACT_E_FORMAT;
		text_add(c->out, ";");
	}
	return 0;
}

static int put_section(struct converter *c, struct word w)
{
	if (is_one_of(w, ".text .data .bss"))
		text_printf(c->out, "%.*s", (int)w.size, w.p);
	else
		text_printf(c->out, ".section %.*s,\"%s\"", (int)w.size, w.p,
			    w.size >= 5 && !memcmp(w.p, ".text", 5) ? "ax" : "aw");
	return 0;
}

static int put_nasm_directive(struct converter *c, struct word name, const char *p, const char *end,
			      bool *is_done)
{
	struct word w;
	const char *q = p;

	*is_done = true;
	w = next_word(&q, end);
	if (is_one_of(name, "section segment"))
		return put_section(c, w);
	if (is_one_of(name, "global static")) {
		text_printf(c->out, ".globl %.*s", (int)w.size, w.p);
		return 0;
	}
	if (is(name, "bits") && !is(w, "64"))
		return foreign_refuse(c, name.p, (size_t)(q - name.p),
				      "only 64-bit code is understood");
	if (is_one_of(name, "extern bits cpu use64"))
		return 0;
	if (is(name, "default")) {
		c->is_relative = is(w, "rel");
		return 0;
	}
	if (is_one_of(name, "align alignb"))
		return put_align(c, p, end);
	if (is(name, "times"))
		return put_times(c, p, end);
	if (is_one_of(name, "struc endstruc istruc iend at org incbin absolute common use16 use32"))
		return foreign_refuse(c, name.p, name.size, "not understood");
	if (find_data(name) >= 0)
		return put_data(c, find_data(name), p, end);
	*is_done = false;
	return 0;
}

static int put_nasm_line(struct converter *c, const char *p, const char *end)
{
	struct word name, second;
	const char *q;
	bool is_done;
	int status;

	p = skip_blanks(p, end);
	if (p < end && *p == '[') {
		p++;
		q = memchr(p, ']', (size_t)(end - p));
		end = q ? q : end;
	}
	if (p < end && *p == '%') {
		for (q = p; q < end && !is_blank(*q); q++)
			;
		return foreign_refuse(c, p, (size_t)(q - p), "the preprocessor is not run");
	}
	name = next_word(&p, end);
	if (p < end && *p == ':' && name.size) {
		if (*name.p != '.') {
			c->scope = name.p;
			c->scope_size = name.size;
		}
		foreign_put_name(c, name);
		text_add(c->out, ": ");
		return put_nasm_line(c, p + 1, end);
	}
	if (!name.size)
		return p < end ? foreign_refuse(c, p, (size_t)(end - p), "not understood") : 0;
	q = p;
	second = next_word(&q, end);
	if (is(second, "equ"))
		return add_equate(c, name, q, end);
	if (find_data(second) >= 0) {
		foreign_put_name(c, name);
		text_add(c->out, ": ");
		return put_data(c, find_data(second), q, end);
	}
	status = put_nasm_directive(c, name, p, end, &is_done);
	return is_done ? status : foreign_put_insn(c, name, p, end);
}

static bool is_code(struct word w)
{
	for (; w.size >= 4; w.p++, w.size--)
		if (!strncasecmp(w.p, "text", 4))
			return true;
	return false;
}

static int put_msvc_line(struct converter *c, const char *p, const char *end)
{
	struct word name = next_word(&p, end), second;
	const char *q = p;

	if (!name.size)
		return p < end ? foreign_refuse(c, p, (size_t)(end - p), "not understood") : 0;
	if (p < end && *p == ':') {
		foreign_put_name(c, name);
		text_add(c->out, ": ");
		return put_msvc_line(c, p + 1, end);
	}
	second = next_word(&q, end);
	if (is(second, "proc")) {
		dialect_add_function(c->out, name.p, name.size);
		return 0;
	}
	if (is(second, "segment")) { /* _TEXT, text$mn */
		text_add(c->out, is_code(name) ? ".text" : ".data");
		return 0;
	}
	if (is_one_of(second, "endp ends") ||
	    is_one_of(name, "title include includelib public extrn end option .model "
			    ".code comm") ||
	    is_one_of(name, c->assembler->processor_directives))
		return 0;
	if (is_one_of(second, "macro struct") || is_one_of(name, "if else endif endm ifdef"))
		return foreign_refuse(c, name.p, (size_t)(q - name.p),
				      "MASM's macros are not understood");
	if (!second.size && skip_blanks(p, end) < end && *skip_blanks(p, end) == '=')
		return add_equate(c, name, skip_blanks(p, end) + 1, end);
	if (find_data(second) >= 0) {
		foreign_put_name(c, name);
		text_add(c->out, ": ");
		return put_data(c, find_data(second), q, end);
	}
	if (find_data(name) >= 0)
		return put_data(c, find_data(name), p, end);
	if (is(name, "align"))
		return put_align(c, p, end);
	if (is(name, "npad")) {
		text_add(c->out, ".nops ");
		return foreign_put_operands(c, p, end, 0);
	}
	return foreign_put_insn(c, name, p, end);
}

int foreign_convert(struct text *out, const struct isa_assembler *assembler, enum foreign kind,
		    const char *text, size_t size, struct tact_diag *diag)
{
	struct converter c = {
		.out = out, .assembler = assembler, .kind = kind, .scope = "", .diag = diag};
	const char *p = text, *const end = text + size, *stop;
	int status = 0;

	text_add(out, ".intel_syntax noprefix;");
	for (; p < end && status >= 0; p = stop + 1) {
		const char *comment;

		c.line++;
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		comment = find_comment(p, stop);
		status = kind == FOREIGN_NASM ? put_nasm_line(&c, p, comment)
					      : put_msvc_line(&c, p, comment);
		if (comment < stop) {
			text_add(out, " #");
			text_add_bytes(out, comment + 1, (size_t)(stop - comment - 1));
		}
		text_add(out, "\n");
	}
	free(c.equates);
	if (status >= 0 && out->failed)
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return status;
}
