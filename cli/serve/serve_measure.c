/* SPDX-License-Identifier: MIT
 *
 * Measuring for others.  Two processes do it.  A worker in a box reads what a stranger sent (text,
 * an object file) and writes a plan: a line of words for each block, the code as hex digits.  The
 * process that measures takes plans only, checks each of their words, and runs the blocks where
 * 'tact measure' runs them, in a sandbox of their own.  So nothing of a stranger is parsed outside
 * of a box.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/input.h>

#include "common/cli.h"
#include "common/commands.h"
#include "common/options.h"
#include "common/source.h"
#include "serve.h"

/* ---- plans ---- */

/* Values of the options of a request; those of the harness are read where it is. */
struct plan {
	struct source_options source;
	const char *mode, *init, *memory, *vectors, *alignment;
	struct text *out;
};

#define OPTION_HOLDER plan

static const struct option_spec harness_specs[] = {
	OPTION_TEXT('m', "mode", "MODE", mode, ""),
	OPTION_TEXT(0, "init", "HOW", init, ""),
	OPTION_TEXT(0, "memory", "CONTENTS", memory, ""),
	OPTION_TEXT(0, "vectors", "VALUES", vectors, ""),
	OPTION_TEXT(0, "alignment", "N", alignment, ""),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("Input", source_option_specs, source, source_options_fini),
	OPTION_OWN("Harness", harness_specs),
	OPTION_ARGUMENTS(source_add_path, source),
};

static void put_word(struct text *out, const char *option, const char *value)
{
	if (value)
		text_printf(out, "--%s=%s ", option, value);
}

static void put_block(const struct plan *p, const struct tact_region *r)
{
	struct text *out = p->out;

	put_word(out, "mode", p->mode);
	put_word(out, "init", p->init);
	put_word(out, "memory", p->memory);
	put_word(out, "vectors", p->vectors);
	if (p->alignment)
		put_word(out, "alignment", p->alignment);
	else
		text_printf(out, "--alignment=%u ", r->alignment);
	text_add(out, "--hex=");
	for (size_t i = 0; i < r->code_size; i++)
		text_printf(out, "%02x", r->code[i]);
	text_add(out, "\n");
}

static int run_plan(void *target)
{
	struct plan *p = target;
	struct source source;
	struct source_block block = {0};
	struct text err = {0};
	int status = CLI_GOOD;

	p->source.isa = tact_isa_default();
	p->source.is_native = true;
	source_init(&source, &p->source, true);
	while (source_next(&source, &block)) {
		if (block.status >= 0) {
			put_block(p, &block.region);
			continue;
		}
		source_complain(&err, &block, block.diag.text);
		text_to_stderr(&err);
		status = block.status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	text_free(&err);
	source_fini(&source);
	return status;
}

unsigned serve_measure_plan(const struct serve_station *st, struct serve_job *job, struct text *out)
{
	static const struct option_command command = {"", groups, run_plan, NULL};
	const struct serve_limits *l = &st->limits;
	struct source_limits limits = {.blocks = l->measured < l->blocks ? l->measured : l->blocks,
				       .instructions = l->instructions};
	struct plan plan = {.source = {.limits = &limits}, .out = out};
	int code;

	if (!serve_set_streams(st, job))
		return 0;
	code = option_command_run(&command, &plan, job->n, job->words);
	if (code == CLI_GOOD && out->size)
		return SERVE_PLAN;
	text_reset(out);
	return serve_collect(st, SERVE_MEASURE, code, limits.is_exceeded, out);
}

/* ---- what is taken ---- */

static const char small_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static const struct {
	const char *option, *characters;
	size_t most;
} words[] = {
	{"--mode=", small_letters, 16},	   {"--init=", small_letters, 16},
	{"--memory=", small_letters, 16},  {"--vectors=", small_letters, 16},
	{"--alignment=", "0123456789", 2}, {"--hex=", "0123456789abcdef", (size_t)1 << 20},
};

static bool is_word(const char *word)
{
	for (size_t i = 0; i < CLI_ARRAY_SIZE(words); i++) {
		const size_t n = strlen(words[i].option);

		if (!strncmp(word, words[i].option, n))
			return word[n] && strlen(word + n) <= words[i].most &&
			       strspn(word + n, words[i].characters) == strlen(word + n);
	}
	return false;
}

/* Measures the block of a line, which is changed.  Returns an exit code. */
static int measure_line(const struct serve_station *st, char *line)
{
	char name[] = "measure", format[] = "--format=json", quiet[] = "--quiet";
	char *argv[3 + CLI_ARRAY_SIZE(words) + 1] = {name, format, quiet};
	char *rest, *word;
	int n = 3;

	for (word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (n == (int)CLI_ARRAY_SIZE(argv) - 1 || !is_word(word)) {
			cli_message("this is not a plan to measure");
			return CLI_USAGE;
		}
		argv[n++] = word;
	}
	/* The command before has closed its output. */
	return dup2(st->output, STDOUT_FILENO) >= 0 ? cmd_measure(n, argv) : CLI_FAILED;
}

unsigned serve_measure(const struct serve_station *st, const char *plan, size_t size,
		       struct text *out)
{
	const struct serve_job none = {.n = 0};
	char *copy = strndup(plan, size), *rest, *line;
	int code = CLI_GOOD;

	if (!copy || !serve_set_streams(st, &none)) {
		free(copy);
		return 0;
	}
	for (line = strtok_r(copy, "\n", &rest); line && code < CLI_USAGE;
	     line = strtok_r(NULL, "\n", &rest))
		code = measure_line(st, line);
	free(copy);
	return serve_collect(st, SERVE_MEASURE, code, false, out);
}

int serve_measure_try(const struct serve_station *st)
{
	const struct serve_job none = {.n = 0};
	char nop[] = "--mode=unroll --hex=90";

	return serve_set_streams(st, &none) ? measure_line(st, nop) : CLI_UNABLE;
}
