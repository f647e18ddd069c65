/* SPDX-License-Identifier: MIT
 *
 * What is in a file: its functions and loops, before one of them is chosen.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>
#include <tact/input.h>

#include "common/cli.h"
#include "common/output.h"
#include "serve.h"

struct walk {
	struct tact_input_options options;
	struct tact_input *input;
	bool with_lines;
	size_t n, loops, instructions;
};

/* The words that serve_read made. */
static const char *find_word(const struct serve_job *job, const char *option)
{
	const size_t length = strlen(option);

	for (int i = 0; i < job->n; i++)
		if (!strncmp(job->words[i], option, length) && job->words[i][length] == '=')
			return job->words[i] + length + 1;
	return NULL;
}

static bool has_word(const struct serve_job *job, const char *word)
{
	for (int i = 0; i < job->n; i++)
		if (!strcmp(job->words[i], word))
			return true;
	return false;
}

static bool set_options(struct walk *w, const struct serve_job *job, struct text *why)
{
	const char *syntax = find_word(job, "--syntax"), *name = find_word(job, "--arch");
	struct tact_cpu cpu = TACT_CPU_INIT;

	w->options = (struct tact_input_options){
		.size = sizeof(w->options),
		.syntax = !syntax || !strcmp(syntax, "auto") ? TACT_SYNTAX_AUTO
			  : !strcmp(syntax, "intel")	     ? TACT_SYNTAX_INTEL
							     : TACT_SYNTAX_ATT,
		.function = find_word(job, "--function"),
		.all_functions = true,
		.is_mangled = has_word(job, "--no-demangle"),
		.skip_unknown = has_word(job, "--skip-unknown"),
	};
	if (!name)
		return true;
	if (tact_cpu_find(name, &cpu) < 0 || !cpu.arch) {
		text_printf(why, "unknown microarchitecture '%s': code takes one", name);
		return false;
	}
	w->options.isa = tact_arch_isa(cpu.arch);
	return true;
}

static void count_instructions(struct walk *w, const struct tact_region *r)
{
	struct tact_insn insn;
	int length;

	for (size_t at = 0; at < r->code_size; at += (size_t)length, w->instructions++) {
		length = tact_isa_decode(r->isa, &insn, r->code + at, r->code_size - at);
		if (length <= 0)
			return;
	}
}

static void put_if(struct json *json, const char *key, const char *value)
{
	if (value && *value)
		json_put_string(json, key, value);
}

/* ---- lines of the source ---- */

static void put_source(const struct tact_source_line *line, struct json *json)
{
	json_begin_object(json, NULL);
	json_put_count(json, "line", line->line);
	put_if(json, "path", line->path);
	put_if(json, "function", line->function);
	json_end(json);
}

/* Puts the lines of an instruction, unless they are those of the one before. */
static int put_sources(struct walk *w, size_t offset, struct text *last, struct json *json)
{
	struct tact_source_line line = TACT_SOURCE_LINE_INIT;
	struct text text = {0};
	struct json list = {.out = &text};
	int n;

	json_begin_array(&list, NULL);
	n = tact_input_source(w->input, offset, 0, &line);
	for (size_t depth = 0; n > 0 && depth < (size_t)n; depth++)
		if (tact_input_source(w->input, offset, depth, &line) > 0)
			put_source(&line, &list);
	json_end(&list);
	if (n >= 0 && strcmp(cli_string(&text), last->size ? cli_string(last) : "[]")) {
		json_begin_object(json, NULL);
		json_put_count(json, "offset", offset);
		json_begin_value(json, "source");
		text_add_bytes(json->out, text.data, text.size);
		json_end(json);
	}
	text_free(last);
	*last = text;
	return n;
}

static int put_lines(struct walk *w, const struct tact_region *r, struct json *json)
{
	struct text last = {0};
	struct tact_insn insn;
	int length, status = 0;

	json_begin_array(json, "lines");
	for (size_t at = 0; at < r->code_size && status >= 0; at += (size_t)length) {
		length = tact_isa_decode(r->isa, &insn, r->code + at, r->code_size - at);
		if (length <= 0)
			break;
		status = put_sources(w, at, &last, json);
	}
	json_end(json);
	text_free(&last);
	return status;
}

static int put_region(struct walk *w, const struct tact_region *r, struct text *out)
{
	const size_t before = w->instructions;
	struct json json = {.out = out};
	int status = 0;

	count_instructions(w, r);
	text_add(out, w->n++ ? ",\n" : "");
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.code/1");
	put_if(&json, "isa", tact_isa_title(r->isa));
	put_if(&json, "name", r->name);
	put_if(&json, "function", r->function);
	put_if(&json, "symbol", r->symbol);
	put_if(&json, "source", r->source);
	put_if(&json, "member", r->member);
	if (r->line)
		json_put_count(&json, "line", r->line);
	json_put_count(&json, "address", r->address);
	json_put_count(&json, "size", r->code_size);
	json_put_count(&json, "instructions", w->instructions - before);
	json_put_bool(&json, "is_loop", r->is_loop);
	if (r->is_loop && r->is_candidate)
		json_put_count(&json, "loop", ++w->loops);
	json_put_hex(&json, "hex", r->code, r->code_size);
	if (w->with_lines)
		status = put_lines(w, r, &json);
	json_end(&json);
	return status;
}

static bool is_over(const struct walk *w, const struct serve_limits *l, struct text *why)
{
	if (w->n > l->blocks)
		text_printf(
			why,
			"more than %u functions and loops (--max-blocks); choose a \"function\"",
			l->blocks);
	else if (w->instructions > l->instructions)
		text_printf(why,
			    "more than %u instructions (--max-instructions); choose a \"function\"",
			    l->instructions);
	return why->size;
}

bool serve_regions(const struct serve_job *job, const struct serve_limits *limits, struct text *out,
		   struct text *why, unsigned *status)
{
	const char *hex = find_word(job, "--hex");
	const char *data = hex ? hex : job->input;
	const size_t size = hex ? strlen(hex) : job->input_size;
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};
	struct walk w = {.with_lines = has_word(job, "--lines")};
	int code;

	if (!set_options(&w, job, why)) {
		*status = 400;
		return false;
	}
	code = tact_input_open_memory(&w.input, data, size, &w.options, &diag);
	while (code >= 0 && (code = tact_input_next(w.input, &region, &diag)) > 0) {
		code = put_region(&w, &region, out);
		if (code < 0)
			break;
		if (is_over(&w, limits, why)) {
			*status = 413;
			break;
		}
	}
	if (code < 0) {
		*status = code == -TACT_E_NO_TOOL ? 503 : 422;
		if (diag.line)
			text_printf(why, "line %llu: ", (unsigned long long)diag.line);
		text_add(why, diag.text[0] ? diag.text : tact_strerror(code));
	}
	tact_input_close(w.input);
	return !why->size;
}
