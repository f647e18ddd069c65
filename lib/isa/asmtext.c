/* SPDX-License-Identifier: MIT
 *
 * What must be known about assembly text before `as` sees it: comments, markers, syntax.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "isa/assemble.h"
#include "isa/isa.h"

/* Text that describes code, from the directive after its `.section` up to the next section. */
struct debug_part {
	size_t begin, end;
};

struct scanner {
	struct asm_source *out;
	const char *p, *end;
	uint64_t line;
	size_t statement;   /* where the current statement begins in out->text */
	bool line_is_blank; /* only blanks on this line so far */
	bool saw_insn;	    /* an instruction came before the first .intel_syntax or .att_syntax */
	bool saw_directive; /* one of these */
	bool is_insn;	    /* the last statement was an instruction */
	unsigned depth;	    /* of macros and repetitions that are being defined */
	long att, intel;    /* signs of each syntax before that */
	size_t n_mixed;	    /* instructions with signs of both */
	bool is_debug;	    /* in a section of debug information */
	struct debug_part *debug; /* owned */
	size_t n_debug, debug_capacity;
	struct tact_diag *diag;
};

static int put(struct scanner *s, const char *text, size_t size)
{
	struct asm_source *out = s->out;

	if (tact_grow(&out->text, &out->text_capacity, out->size + size, 1))
		return tact_fail(s->diag, TACT_E_NOMEM, "out of memory");
	memcpy(out->text + out->size, text, size);
	out->size += size;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* What clang writes and as does not know; none of these changes the code. */
static bool is_foreign(const char *word, const char *end)
{
	static const char *const names[] = {".addrsig", ".addrsig_sym", ".cg_profile",
					    ".lto_discard", ".pseudoprobe"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (asm_word_is(word, end, names[i]))
			return true;
	return false;
}

/* From here to the end; a comment may have left line endings in it, which must stay. */
static void blank_out(struct scanner *s, size_t from)
{
	for (; from < s->out->size; from++)
		if (s->out->text[from] != '\n')
			s->out->text[from] = ' ';
}

/* Is this the directive that begins a syntax? */
static bool is_syntax(const struct scanner *s, enum tact_syntax syntax, const char *p,
		      const char *end)
{
	const char *directive = s->out->assembler->directive[syntax];

	return directive && asm_word_is(p, end, directive);
}

/* Text in a macro or repetition comes any number of times. */
static void follow_macro(struct scanner *s, const char *word, const char *end)
{
	static const char *const begins[] = {".macro", ".rept", ".irp", ".irpc"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begins); i++)
		s->depth += asm_word_is(word, end, begins[i]);
	if (s->depth && (asm_word_is(word, end, ".endm") || asm_word_is(word, end, ".endr")))
		s->depth--;
}

/* ---- sections of debug information ---- */

static bool is_debug_section(const char *name, const char *end)
{
	static const char prefix[] = ".debug_";

	name += name < end && *name == '"';
	return (size_t)(end - name) >= sizeof(prefix) - 1 &&
	       !memcmp(name, prefix, sizeof(prefix) - 1);
}

/* Notes where such a section begins and ends: `word` is a directive, `rest` its argument. */
static int follow_section(struct scanner *s, const char *word, const char *word_end,
			  const char *rest, const char *end)
{
	static const char *const switches[] = {".text",	       ".data",	      ".bss",
					       ".pushsection", ".popsection", ".previous"};
	const bool is_named = asm_word_is(word, word_end, ".section");
	bool is_switch = is_named;

	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		is_switch = is_switch || asm_word_is(word, word_end, switches[i]);
	if (!is_switch)
		return 0;
	if (s->is_debug)
		s->debug[s->n_debug - 1].end = (size_t)(word - s->out->text);
	s->is_debug = is_named && is_debug_section(rest, end);
	if (!s->is_debug)
		return 0;
	if (tact_grow(&s->debug, &s->debug_capacity, s->n_debug + 1, sizeof(*s->debug)))
		return tact_fail(s->diag, TACT_E_NOMEM, "out of memory");
	s->debug[s->n_debug++] = (struct debug_part){.begin = s->out->size, .end = SIZE_MAX};
	return 0;
}

/* Without its lines (.loc), which some tools take out, such a section would name labels that are
 * not there.
 */
static void drop_debug(struct scanner *s)
{
	for (size_t i = 0; i < s->n_debug && !s->out->has_lines; i++)
		for (size_t at = s->debug[i].begin; at < s->out->size && at < s->debug[i].end; at++)
			if (s->out->text[at] != '\n')
				s->out->text[at] = ' ';
}

static int read_directive(struct scanner *s, const char *p, const char *end)
{
	const char *word = p, *rest;
	bool is_intel;
	int status = 0;

	p = asm_skip_word(p, end);
	rest = skip_blanks(p, end);
	is_intel = is_syntax(s, TACT_SYNTAX_INTEL, word, p);
	follow_macro(s, word, p);
	if (is_foreign(word, p)) {
		blank_out(s, (size_t)(word - s->out->text));
		return 0;
	}
	if (asm_word_is(word, p, ".loc") ||
	    (asm_word_is(word, p, ".file") && rest < end && isdigit((unsigned char)*rest)))
		s->out->has_lines = true;
	if (!is_intel && !is_syntax(s, TACT_SYNTAX_ATT, word, p))
		return follow_section(s, word, p, rest, end);
	if (!s->saw_directive && !s->saw_insn)
		s->out->syntax = is_intel ? TACT_SYNTAX_INTEL : TACT_SYNTAX_ATT;
	s->saw_directive = true;
	if (is_intel && rest == end)
		status = put(s, s->out->assembler->intel_argument,
			     strlen(s->out->assembler->intel_argument));
	s->statement = s->out->size;
	return status;
}

static void weigh(struct scanner *s, const char *p, const char *end)
{
	long att = 0, intel = 0;

	if (!s->out->assembler->weigh)
		return;
	s->out->assembler->weigh(p, end, &att, &intel);
	s->att += att;
	s->intel += intel;
	s->n_mixed += att && intel;
}

/* Handles the statement of the output that ends here: an instruction, a directive, or labels. */
static int end_statement(struct scanner *s)
{
	const char *p, *end, *word;

	s->is_insn = false;
	if (s->statement == s->out->size)
		return 0;
	p = s->out->text + s->statement;
	end = s->out->text + s->out->size;
	s->statement = s->out->size;
	for (;;) {
		p = skip_blanks(p, end);
		word = p;
		p = asm_skip_word(p, end);
		if (p == word || p == end || *p != ':')
			break;
		p++; /* a label; continue after it */
	}
	if (p == word)
		return 0;
	if (*word == '.')
		return read_directive(s, word, end);
	s->is_insn = true;
	if (!s->saw_directive) {
		s->saw_insn = true;
		weigh(s, p, end);
	}
	return 0;
}

static int add_name(struct scanner *s, const char *name, size_t size, size_t *offset)
{
	struct asm_source *out = s->out;

	if (tact_grow(&out->names, &out->names_capacity, out->names_size + size + 1, 1))
		return tact_fail(s->diag, TACT_E_NOMEM, "out of memory");
	*offset = out->names_size;
	memcpy(out->names + out->names_size, name, size);
	out->names[out->names_size + size] = '\0';
	out->names_size += size + 1;
	return 0;
}

static const struct {
	const char *word;
	enum asm_family family;
	bool is_begin;
} marker_words[] = {
	{"LLVM-MCA-BEGIN", ASM_LLVM_MCA, true},
	{"LLVM-MCA-END", ASM_LLVM_MCA, false},
	{"OSACA-BEGIN", ASM_OSACA, true},
	{"OSACA-END", ASM_OSACA, false},
};

/* Tells whether a comment (without the characters that start it) is a marker.  Returns an index in
 * marker_words, or -1; *name and *name_end delimit what follows the word.
 */
static int find_marker(const char *p, const char *end, const char **name, const char **name_end)
{
	size_t i;

	while (p < end && (is_blank(*p) || strchr("#/;*", *p)))
		p++;
	for (i = 0; i < ARRAY_SIZE(marker_words); i++) {
		const size_t size = strlen(marker_words[i].word);

		if ((size_t)(end - p) < size || memcmp(p, marker_words[i].word, size))
			continue;
		if ((size_t)(end - p) > size && !is_blank(p[size]))
			continue;
		*name = skip_blanks(p + size, end);
		while (end > *name && is_blank(end[-1]))
			end--;
		*name_end = end;
		return (int)i;
	}
	return -1;
}

static int add_marker(struct scanner *s, int word, const char *name, const char *name_end)
{
	struct asm_source *out = s->out;
	struct asm_marker marker = {
		.family = marker_words[word].family,
		.is_begin = marker_words[word].is_begin,
		.line = s->line,
	};
	char label[64];
	int length, status;

	if (add_name(s, name, (size_t)(name_end - name), &marker.name))
		return -TACT_E_NOMEM;
	if (tact_grow(&out->markers, &out->markers_capacity, out->n_markers + 1,
		      sizeof(*out->markers)))
		return tact_fail(s->diag, TACT_E_NOMEM, "out of memory");
	length = snprintf(label, sizeof(label), ";" ASM_LABEL_PREFIX "%zu:;", out->n_markers);
	out->markers[out->n_markers++] = marker;
	status = put(s, label, (size_t)length);
	s->statement = out->size;
	return status;
}

/* Puts a label before the statement that begins at `from`. */
static int label_statement(struct scanner *s, size_t from, const char *label, size_t length)
{
	struct asm_source *out = s->out;

	if (put(s, label, length) < 0)
		return -TACT_E_NOMEM;
	memmove(out->text + from + length, out->text + from, out->size - length - from);
	memcpy(out->text + from, label, length);
	s->statement = out->size;
	return 0;
}

/* Reads what follows LLVM-MCA-LATENCY; false: it makes no sense. */
static bool read_latency(const char *p, const char *end, unsigned *cycles)
{
	enum { MOST = 1000 };

	*cycles = 0;
	p = skip_blanks(p, end);
	if (p == end)
		return true;
	for (; p < end && isdigit((unsigned char)*p) && *cycles <= MOST; p++)
		*cycles = *cycles * 10 + (unsigned)(*p - '0');
	return skip_blanks(p, end) == end && *cycles && *cycles <= MOST;
}

static int add_latency(struct scanner *s, size_t statement, const char *p, const char *end)
{
	struct asm_source *out = s->out;
	struct asm_latency latency = {.is_single = s->is_insn};
	char label[64];
	int length;

	if (!read_latency(p, end, &latency.cycles) || s->depth) {
		out->n_ignored[ASM_LATENCY]++;
		return 0;
	}
	if (tact_grow(&out->latencies, &out->latencies_capacity, out->n_latencies + 1,
		      sizeof(*out->latencies)))
		return tact_fail(s->diag, TACT_E_NOMEM, "out of memory");
	length = snprintf(label, sizeof(label), ASM_LATENCY_PREFIX "%zu: ", out->n_latencies);
	out->latencies[out->n_latencies++] = latency;
	if (latency.is_single)
		return label_statement(s, statement, label, (size_t)length);
	if (put(s, ";", 1) < 0 || put(s, label, (size_t)length) < 0)
		return -TACT_E_NOMEM;
	s->statement = out->size;
	return 0;
}

/* What the set's costs depend on, from here on (LLVM's RISCVCustomBehaviour: an "instrument"). */
static int add_setting(struct scanner *s, uint16_t setting)
{
	struct asm_source *out = s->out;
	char label[64];
	int length;

	if (setting == ISA_SETTING_UNKNOWN || s->depth) {
		out->n_ignored[ASM_SETTING]++;
		return 0;
	}
	if (tact_grow(&out->settings, &out->settings_capacity, out->n_settings + 1,
		      sizeof(*out->settings)))
		return tact_fail(s->diag, TACT_E_NOMEM, "out of memory");
	length = snprintf(label, sizeof(label), ";" ASM_SETTING_PREFIX "%zu:;", out->n_settings);
	out->settings[out->n_settings++] = setting;
	if (put(s, label, (size_t)length) < 0)
		return -TACT_E_NOMEM;
	s->statement = out->size;
	return 0;
}

/* Handles annotations that are not markers, after a statement that begins at `statement`. */
static int add_annotation(struct scanner *s, size_t statement, const char *p, const char *end)
{
	static const char latency[] = "LLVM-MCA-LATENCY", exegesis[] = "LLVM-EXEGESIS-";
	const size_t size = sizeof(latency) - 1;
	uint16_t setting = 0;

	while (p < end && (is_blank(*p) || strchr("#/;*", *p)))
		p++;
	if (s->out->assembler->read_setting)
		setting = s->out->assembler->read_setting(p, end);
	if (setting)
		return add_setting(s, setting);
	if ((size_t)(end - p) >= size && !memcmp(p, latency, size) &&
	    ((size_t)(end - p) == size || is_blank(p[size])))
		return add_latency(s, statement, p + size, end);
	if ((size_t)(end - p) > sizeof(exegesis) - 1 && !memcmp(p, exegesis, sizeof(exegesis) - 1))
		s->out->n_ignored[ASM_EXEGESIS]++;
	return 0;
}

/* Leaves out a comment from `body` up to `end`; if it was a marker, a label takes its place. */
static int end_comment(struct scanner *s, const char *body, const char *end)
{
	const char *name, *name_end;
	const int word = find_marker(body, end, &name, &name_end);
	const size_t statement = s->statement;
	int status;

	status = end_statement(s);
	if (status < 0)
		return status;
	if (word < 0)
		return add_annotation(s, statement, body, end);
	return add_marker(s, word, name, name_end);
}

static int scan_line_comment(struct scanner *s, size_t start_size)
{
	const char *body = s->p + start_size;
	const char *stop = memchr(body, '\n', (size_t)(s->end - body));

	s->p = stop ? stop : s->end;
	return end_comment(s, body, s->p);
}

/* Its line endings stay, or the lines after it would be numbered wrongly. */
static int scan_block_comment(struct scanner *s)
{
	const char *body = s->p + 2, *stop, *name, *name_end, *line_end;
	int status, word;

	stop = memmem(body, (size_t)(s->end - body), "*/", 2);
	s->p = stop ? stop + 2 : s->end;
	stop = stop ? stop : s->end;
	line_end = memchr(body, '\n', (size_t)(stop - body));
	word = find_marker(body, line_end ? line_end : stop, &name, &name_end);
	if (word >= 0) {
		status = end_statement(s);
		if (status >= 0)
			status = add_marker(s, word, name, name_end);
	} else {
		status = put(s, " ", 1);
	}
	for (; body < stop && status >= 0; body++) {
		if (*body != '\n')
			continue;
		status = put(s, "\n", 1);
		s->line++;
	}
	return status;
}

/* A string or, in quotes of one character, a number: 'x, '\n, 'x' */
static int scan_quoted(struct scanner *s)
{
	const char *start = s->p;

	if (*s->p++ == '\'') {
		if (s->p < s->end && *s->p == '\\')
			s->p++;
		if (s->p < s->end && *s->p != '\n')
			s->p++;
		return put(s, start, (size_t)(s->p - start));
	}
	while (s->p < s->end && *s->p != '\n') {
		if (*s->p == '"') {
			s->p++;
			break;
		}
		if (*s->p == '\\' && s->p + 1 < s->end && s->p[1] != '\n')
			s->p++;
		s->p++;
	}
	return put(s, start, (size_t)(s->p - start));
}

static int scan_semicolon(struct scanner *s)
{
	const char *stop = memchr(s->p, '\n', (size_t)(s->end - s->p));
	const char *body = skip_blanks(s->p + 1, s->end);
	const char *name, *name_end;
	int status;

	stop = stop ? stop : s->end;
	/* as takes it as a separator of statements, but no code starts a line with it. */
	if (s->line_is_blank || (body < stop && isalpha((unsigned char)*body) &&
				 find_marker(body, stop, &name, &name_end) >= 0))
		return scan_line_comment(s, 1);
	status = end_statement(s);
	if (status >= 0)
		status = put(s, s->p++, 1);
	s->statement = s->out->size;
	return status;
}

static int scan_newline(struct scanner *s)
{
	int status = end_statement(s);

	if (status >= 0)
		status = put(s, s->p++, 1);
	s->statement = s->out->size;
	s->line++;
	s->line_is_blank = true;
	return status;
}

static int scan_one(struct scanner *s)
{
	const bool has_next = s->p + 1 < s->end;
	const char *start = s->p;
	int status;

	switch (*s->p) {
	case '\n':
		return scan_newline(s);
	case ';':
		status = scan_semicolon(s);
		break;
	case '"':
	case '\'':
		status = scan_quoted(s);
		break;
	default:
		if (strchr(s->out->assembler->comments, *s->p))
			return scan_line_comment(s, 1);
		if (*s->p == '#' && s->line_is_blank) /* in front of a line, for every set */
			return scan_line_comment(s, 1);
		if (*s->p == '/' && has_next && s->p[1] == '/')
			return scan_line_comment(s, 2);
		if (*s->p == '/' && has_next && s->p[1] == '*')
			return scan_block_comment(s);
		while (++s->p < s->end && !strchr("\n;#\"'/", *s->p))
			;
		status = put(s, start, (size_t)(s->p - start));
		start = skip_blanks(start, s->p);
		if (start == s->p)
			return status;
	}
	s->line_is_blank = false;
	return status;
}

int asm_source_create(struct asm_source *out, const struct tact_isa *isa, const char *text,
		      size_t size, enum tact_syntax syntax, struct tact_diag *diag)
{
	struct scanner s = {
		.out = out,
		.p = text,
		.end = text + size,
		.line = 1,
		.line_is_blank = true,
		.diag = diag,
	};
	int status = 0;

	*out = (struct asm_source){.assembler = isa->assembler};
	if (!isa->assembler)
		return tact_fail(diag, TACT_E_NO_TOOL, "there is no assembler for %s", isa->title);
	while (s.p < s.end && status >= 0)
		status = scan_one(&s);
	if (status >= 0)
		status = end_statement(&s);
	if (status >= 0)
		status = put(&s, "\n", 1);
	if (status >= 0)
		drop_debug(&s);
	free(s.debug);
	if (status >= 0)
		status = asm_match_markers(out, diag);
	if (status < 0) {
		asm_source_destroy(out);
		return status;
	}
	if (syntax == TACT_SYNTAX_AUTO)
		syntax = s.intel > s.att ? TACT_SYNTAX_INTEL : TACT_SYNTAX_ATT;
	out->starts_intel = syntax == TACT_SYNTAX_INTEL;
	out->n_mixed = syntax == TACT_SYNTAX_ATT ? s.n_mixed : 0;
	if (!out->syntax)
		out->syntax = syntax;
	return 0;
}

/* Leaves out what follows the labels of a line. */
static bool blank_line(char *p, char *end)
{
	char *const line = p, *word = p, *q;

	for (;;) {
		while (p < end && is_blank(*p))
			p++;
		word = p;
		p = (char *)(uintptr_t)asm_skip_word(p, end);
		if (p == word || p == end || *p != ':')
			break;
		p++;
	}
	for (q = word; q < end; q++)
		*q = ' ';
	/* A latency of what is left out must not become that of what follows. */
	q = memmem(line, (size_t)(word - line), ASM_LATENCY_PREFIX, strlen(ASM_LATENCY_PREFIX));
	while (q && q < word && !is_blank(*q))
		*q++ = ' ';
	return word < end;
}

size_t asm_skip_unknown(struct asm_source *source, const char *messages)
{
	const char *message, *next;
	char *line = source->text, *const end = source->text + source->size;
	unsigned long at = 1;
	size_t n = 0;

	for (message = messages; *message; message = next) {
		const size_t length = strcspn(message, "\n");
		unsigned long number;
		char *stop;

		next = message + length + (message[length] == '\n');
		if (strncmp(message, ASM_INPUT, strlen(ASM_INPUT)) ||
		    !memmem(message, length, ASM_UNKNOWN, strlen(ASM_UNKNOWN)))
			continue;
		number = strtoul(message + strlen(ASM_INPUT), NULL, 10);
		for (; at < number && line < end; at++) { /* as complains in the order of lines */
			line = memchr(line, '\n', (size_t)(end - line));
			line = line ? line + 1 : end;
		}
		stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
		if (at == number && line < end)
			n += blank_line(line, stop ? stop : end);
	}
	return n;
}

void asm_source_destroy(struct asm_source *source)
{
	free(source->text);
	free(source->markers);
	free(source->regions);
	free(source->latencies);
	free(source->settings);
	free(source->names);
	*source = (struct asm_source){0};
}
