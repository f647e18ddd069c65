/* SPDX-License-Identifier: MIT
 *
 * Code for drop-ins: all of a file, or what its markers choose, with the lines that instructions
 * come from.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "dropin.h"

/* ---- messages, as compilers write them ---- */

static int complain(const struct dropin_load *load, const struct tact_diag *diag, int status,
		    const struct tact_excerpt *excerpt)
{
	const char *path = strcmp(load->path, "-") ? load->path : "<stdin>";
	struct text out = {0};

	text_add(&out, path);
	if (diag->line)
		text_printf(&out, ":%llu:%llu", (unsigned long long)diag->line,
			    (unsigned long long)(excerpt->column ? excerpt->column : 1));
	text_printf(&out, ": error: %s\n", diag->text[0] ? diag->text : tact_strerror(status));
	if (excerpt->column) {
		text_printf(&out, "%s\n", excerpt->line);
		for (uint64_t i = 1; i < excerpt->column; i++)
			text_add(&out, excerpt->line[i - 1] == '\t' ? "\t" : " ");
		text_add(&out, "^\n");
	}
	text_to_stderr(&out);
	text_free(&out);
	return CLI_FAILED;
}

/* ---- the file ---- */

static int read_file(const struct dropin_load *load, struct text *out)
{
	const bool is_stdin = !strcmp(load->path, "-");
	const int fd = is_stdin ? STDIN_FILENO : open(load->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		char *to = cli_reserve(out, 65536);

		do
			n = read(fd, to, 65536);
		while (n < 0 && errno == EINTR);
		if (n > 0)
			out->size += (size_t)n;
	}
	if (n < 0)
		cli_message("%s: %s", load->path, strerror(errno));
	if (fd >= 0 && !is_stdin)
		close(fd);
	return n < 0 ? CLI_FAILED : CLI_GOOD;
}

const char *dropin_line(const struct dropin_code *code, uint64_t line, size_t *size)
{
	const char *p = code->text, *end = p + code->text_size, *stop;

	while (--line && p < end) {
		stop = memchr(p, '\n', (size_t)(end - p));
		p = stop ? stop + 1 : end;
	}
	stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	*size = (size_t)((stop ? stop : end) - p);
	return p;
}

/* ---- lines that were chosen ---- */

static bool is_chosen(const char *lines, unsigned long line)
{
	for (const char *p = lines; *p;) {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end == p)
			return false;
		if (*end == '-' || *end == ':')
			to = strtoul(end + 1, &end, 10);
		if (line >= from && line <= to)
			return true;
		p = *end ? end + 1 : end;
	}
	return false;
}

static bool are_lines(const char *p)
{
	while (*p) {
		const size_t digits = strspn(p, "0123456789");

		p += digits;
		if (!digits || (*p && !strchr(",-:", *p)) || (*p && !p[1]))
			return false;
		p += *p != '\0';
	}
	return true;
}

/* Lines that are not chosen become empty: the others keep their numbers.  Those that say what the
 * text is stay.
 */
static void blank_lines(const char *lines, struct text *text)
{
	char *p = text->data, *end = p + text->size;

	for (unsigned long line = 1; p < end; line++) {
		char *stop = memchr(p, '\n', (size_t)(end - p));
		char *last = stop ? stop : end;
		const size_t blanks = strspn(p, " \t");
		const bool is_syntax =
			(size_t)(last - p) > blanks + 6 &&
			(!strncmp(p + blanks, ".intel_", 7) || !strncmp(p + blanks, ".att_sy", 7));

		if (!is_chosen(lines, line) && !is_syntax)
			memset(p, ' ', (size_t)(last - p));
		p = stop ? stop + 1 : end;
	}
}

/* ---- instructions ---- */

static bool is_word(char c)
{
	return c == '_' || c == '.' || c == '$' || (c >= '0' && c <= '9') ||
	       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Cuts labels in front, comments behind and blanks; squeezes blanks between.  False for what is not
 * one instruction.
 */
static bool clean_line(const char *p, size_t size, struct text *out)
{
	const char *end = p + size, *q;

	for (;;) { /* labels */
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		for (q = p; q < end && is_word(*q); q++)
			;
		if (q == end || q == p || *q != ':')
			break;
		p = q + 1;
	}
	for (q = p; q < end; q++) {
		if (*q == ';' || *q == '"' || *q == '\\')
			return false; /* more than one, or not plain */
		if (*q == '#' && (q == p || (q[-1] != ',' && q[-1] != ' ' && q[-1] != '[')))
			break;
		if (*q == '#' && (q + 1 == end || q[1] == ' ' || q[1] == '#'))
			break;
		if (q + 1 < end && *q == '/' && (q[1] == '/' || q[1] == '*'))
			break;
	}
	while (q > p && (q[-1] == ' ' || q[-1] == '\t' || q[-1] == '\r'))
		q--;
	if (q == p || *p == '.')
		return false;
	for (bool was_blank = false; p < q; p++) {
		const bool is_blank = *p == ' ' || *p == '\t';

		if (!(is_blank && was_blank))
			text_add_bytes(out, is_blank ? " " : p, 1);
		was_blank = is_blank;
	}
	return true;
}

static char *take_string(struct text *text)
{
	char *string = cli_string(text);

	*text = (struct text){0};
	return string;
}

/* The text of an instruction that is the only one of its line, or what the disassembler says. */
static char *text_of(const struct dropin_load *load, const struct dropin_code *code,
		     const struct tact_region *region, size_t offset, uint64_t line)
{
	struct text out = {0};
	char words[256];
	size_t size;

	if (line && !load->is_formatted &&
	    (load->output == TACT_SYNTAX_AUTO ||
	     (load->output == TACT_SYNTAX_INTEL) == code->is_intel)) {
		const char *p = dropin_line(code, line, &size);

		if (clean_line(p, size, &out))
			return take_string(&out);
	}
	text_reset(&out);
	if (tact_isa_format_as(region->isa,
			       load->output != TACT_SYNTAX_AUTO ? load->output
			       : code->is_intel			? TACT_SYNTAX_INTEL
								: TACT_SYNTAX_ATT,
			       region->code + offset, region->code_size - offset,
			       region->address + offset, words, sizeof(words)) < 0)
		snprintf(words, sizeof(words), "(bad)");
	text_add(&out, words);
	return take_string(&out);
}

static uint64_t line_at(struct tact_input *input, size_t at)
{
	uint64_t line = 0;

	return tact_input_line(input, at, &line) > 0 ? line : 0;
}

/* Data among the instructions of text: it has no line in front of the first one, and behind others
 * the line of the last.  Returns where instructions go on.
 */
static size_t skip_data(struct tact_input *input, const struct tact_region *region, size_t at)
{
	const uint64_t line = line_at(input, at);

	while (at < region->code_size && line_at(input, at) == line)
		at++;
	return at;
}

/* A line with one instruction has no more code: what follows is data or padding, unless there are
 * macros that repeat it.
 */
static bool is_over(const struct dropin_code *code, const struct dropin_region *to, uint64_t line)
{
	static const char *const repeats[] = {".rept", ".irp", ".macro"};
	struct text text = {0};
	const char *p;
	size_t size;
	bool is_one;

	if (!line || !to->n_insns || to->insns[to->n_insns - 1].line != line)
		return false;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(repeats); i++)
		if (strstr(code->text, repeats[i]))
			return false;
	p = dropin_line(code, line, &size);
	is_one = clean_line(p, size, &text);
	text_free(&text);
	return is_one;
}

static void take_insn(const struct dropin_load *load, const struct dropin_code *code,
		      const struct tact_region *region, size_t at, uint64_t line,
		      struct dropin_region *to)
{
	struct dropin_insn *insn;

	to->insns = cli_realloc(to->insns, (to->n_insns + 1) * sizeof(*to->insns));
	insn = &to->insns[to->n_insns++];
	/* Several of a line, as macros make them. */
	*insn = (struct dropin_insn){
		.place = at,
		.line = line,
		.text = text_of(load, code, region, at,
				to->n_insns > 1 && insn[-1].line == line ? 0 : line),
	};
}

/* Copies the instructions; bytes that are none stay where there are no lines that could tell more,
 * and loading the block will say what is wrong.
 */
static void take_insns(const struct dropin_load *load, const struct dropin_code *code,
		       struct tact_input *input, const struct tact_region *region,
		       struct dropin_region *to)
{
	bool has_lines =
		code->kind == TACT_INPUT_ASM && line_at(input, skip_data(input, region, 0)) != 0;

	has_lines |= code->kind == TACT_INPUT_ASM && line_at(input, 0) != 0;
	for (size_t at = 0; at < region->code_size;) {
		const uint64_t line = line_at(input, at);
		struct tact_insn decoded;
		int n = tact_isa_decode(region->isa, &decoded, region->code + at,
					region->code_size - at);

		if (has_lines && (n <= 0 || (!line && !at) || is_over(code, to, line))) {
			at = skip_data(input, region, at);
			continue;
		}
		if (n <= 0)
			n = (int)(region->code_size - at);
		else
			take_insn(load, code, region, at, line, to);
		memcpy(to->code + to->code_size, region->code + at, (size_t)n);
		to->code_size += (size_t)n;
		at += (size_t)n;
	}
}

static void free_region(struct dropin_region *r)
{
	for (size_t k = 0; k < r->n_insns; k++)
		free(r->insns[k].text);
	free(r->insns);
	free(r->name);
	free(r->code);
	free(r->latencies);
	free(r->settings);
	free(r->warnings);
}

static void *copy_of(const void *data, size_t size)
{
	void *to = cli_alloc(size + 1);

	if (size)
		memcpy(to, data, size);
	((char *)to)[size] = '\0';
	return to;
}

static void take_region(const struct dropin_load *load, struct dropin_code *code,
			struct tact_input *input, const struct tact_region *region)
{
	struct text warnings = {0};
	struct dropin_region *to;

	code->regions = cli_realloc(code->regions, (code->n_regions + 1) * sizeof(*code->regions));
	to = &code->regions[code->n_regions++];
	*to = (struct dropin_region){
		.name = copy_of(region->name, strlen(region->name)),
		.code = copy_of(region->code, region->code_size),
		.latencies = copy_of(region->latencies,
				     region->n_latencies * sizeof(*region->latencies)),
		.n_latencies = region->n_latencies,
		.settings =
			copy_of(region->settings, region->n_settings * sizeof(*region->settings)),
		.n_settings = region->n_settings,
		.setting = region->setting,
		.line = region->line,
		.alignment = region->alignment,
		.is_loop = region->is_loop,
	};
	for (size_t i = 0; i < tact_remarks_count(region->remarks); i++) {
		const char *words = tact_remarks_text(region->remarks, i);
		const char *hint = strstr(words, "; --"); /* options that are not here */

		text_printf(&warnings, "warning: %.*s\n",
			    (int)(hint ? (size_t)(hint - words) : strlen(words)), words);
	}
	to->warnings = take_string(&warnings);
	take_insns(load, code, input, region, to);
	if (!to->code_size) { /* a section of data only */
		code->n_regions--;
		free_region(to);
	}
}

/* ---- all of it ---- */

static bool has_marker(const struct text *text)
{
	static const char *const markers[] = {"LLVM-MCA-BEGIN", "OSACA-BEGIN", "OSACA START",
					      "OSACA-START"};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(markers); i++)
		if (text->size && memmem(text->data, text->size, markers[i], strlen(markers[i])))
			return true;
	return false;
}

static int load_text(struct dropin_code *code, const struct dropin_load *load, struct text *text)
{
	struct tact_excerpt excerpt = TACT_EXCERPT_INIT;
	struct tact_input_options opt = {
		.size = sizeof(opt),
		.kind = load->kind,
		.is_marked = load->is_marked,
		.isa = load->isa,
		.syntax = load->syntax,
		.skip_unknown = load->skip_unknown,
		.excerpt = &excerpt,
		.is_whole = true,
	};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *input;
	struct tact_diag diag = {0};
	int status;

	status = tact_input_open_memory(&input, text->data, text->size, &opt, &diag);
	if (status == -TACT_E_FORMAT && load->any_bytes) {
		opt.kind = TACT_INPUT_RAW;
		opt.is_marked = true;
		if (tact_input_open_memory(&input, text->data, text->size, &opt, NULL) >= 0)
			status = 0;
	}
	if (status < 0)
		return complain(load, &diag, status, &excerpt);
	code->kind = tact_input_get_kind(input);
	code->is_intel =
		!strstr(tact_input_description(input), "AT&T") || code->kind != TACT_INPUT_ASM;
	while ((status = tact_input_next(input, &region, &diag)) > 0)
		take_region(load, code, input, &region);
	tact_input_close(input);
	if (status < 0)
		return complain(load, &diag, status, &excerpt);
	if (!code->n_regions) {
		cli_message("%s: no assembly instructions found", load->path);
		return CLI_FAILED;
	}
	return CLI_GOOD;
}

int dropin_load(struct dropin_code *code, const struct dropin_load *load)
{
	struct text text = {0};
	int status;

	*code = (struct dropin_code){.path = load->path};
	if (load->lines && !are_lines(load->lines)) {
		cli_message("'%s' is not a list of lines such as 1,3-7", load->lines);
		return CLI_USAGE;
	}
	status = read_file(load, &text);
	if (!status && text.size && load->lines)
		blank_lines(load->lines, &text);
	if (!status) {
		code->is_marked = has_marker(&text);
		cli_string(&text);
		code->text = text.data;
		code->text_size = text.size;
		status = load_text(code, load, &text);
	} else {
		text_free(&text);
	}
	return status;
}

void dropin_code_fini(struct dropin_code *code)
{
	for (size_t i = 0; i < code->n_regions; i++)
		free_region(&code->regions[i]);
	free(code->regions);
	free(code->text);
	*code = (struct dropin_code){0};
}

void dropin_tab(struct text *out, const char *insn)
{
	const size_t n = strcspn(insn, " \t");
	const char *rest = insn + n + strspn(insn + n, " \t");

	text_add_bytes(out, insn, n);
	if (*rest)
		text_printf(out, "\t%s", rest);
}
