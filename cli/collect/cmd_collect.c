/* SPDX-License-Identifier: MIT
 *
 * tact collect: the basic blocks of programs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/collect.h>
#include <tact/store.h>

#include "common/cli.h"
#include "common/options.h"
#include "common/output.h"
#include "common/program_options.h"

enum { WRITE_SIZE = 1 << 16 };

struct collector {
	char **words; /* owned: the program and its arguments, or files; the strings are argv's */
	size_t n_words;
	const char *output, *app;
	int format;
	bool is_static, no_branch, is_quiet;
	bool is_started; /* there is something to write */
	struct program_options program;

	/* where blocks go */
	struct output out;
	struct text text;
	struct tact_store *store;
	struct tact_diag diag;
};

static const struct option_choice formats[] = {
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

#define FIELD(field, type) .offset = OPTION_FIELD(collector, field, type)
#define FLAG(field)	   .type = OPTION_FLAG, FIELD(field, bool)

/* clang-format off: an option stays together */
static const struct option_spec block_specs[] = {
	{.name = "static",
	 FLAG(is_static),
	 .help = "all blocks of ELF files, without running them"},
	{.name = "no-branch",
	 FLAG(no_branch),
	 .help = "without the branch, call, return or system call that ends a block"},
	{.name = "app",
	 .argument = "NAME",
	 .type = OPTION_TEXT,
	 FIELD(app, const char *),
	 .help = "name of the application in the results (default: that of the program or file)"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(output, const char *),
	 .help = "write the blocks there; FILE.db: into a store (SQLite). Needed when a program "
		 "runs: standard output is the program's"},
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 .type = OPTION_CHOICE,
	 .choices = formats,
	 FIELD(format, int),
	 .help = "csv (default) or json (one object a line)"},
	{.letter = 'q',
	 .name = "quiet",
	 FLAG(is_quiet),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"Put -- in front of the program, so that its options are its own.\n\n"
	"Examples:\n"
	"  tact collect -o gzip.csv -- gzip -k file\n"
	"  tact collect --no-branch -o blocks.db -- python3 script.py\n"
	"  tact collect --static /usr/bin/gzip > blocks.csv\n"
	"  tact predict -f csv gzip.csv\n";

static const char *add_word(void *target, const char *word)
{
	struct collector *p = target;

	p->words = cli_realloc(p->words, (p->n_words + 2) * sizeof(*p->words));
	p->words[p->n_words++] = (char *)word;
	p->words[p->n_words] = NULL;
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

/* ---- rows ---- */

static void add_csv(struct collector *p, const struct tact_collect_block *b)
{
	struct text *t = &p->text;

	text_hex(t, b->code, b->code_size);
	text_add(t, ",");
	text_csv_field(t, p->app, strlen(p->app), false);
	if (p->is_static)
		text_add(t, ",,");
	else
		text_printf(t, ",%llu,", (unsigned long long)b->count);
	text_printf(t, "0x%llx,", (unsigned long long)b->address);
	text_csv_field(t, b->module, strlen(b->module), false);
	text_add(t, ",");
	text_csv_field(t, b->function, strlen(b->function), false);
	text_add(t, "\n");
}

static void add_json(struct collector *p, const struct tact_collect_block *b)
{
	struct json json = {.out = &p->text};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.collect/1");
	json_put_hex(&json, "hex", b->code, b->code_size);
	json_put_string(&json, "app", p->app);
	if (!p->is_static)
		json_put_count(&json, "count", b->count);
	json_printf_string(&json, "address", "0x%llx", (unsigned long long)b->address);
	if (*b->module)
		json_put_string(&json, "module", b->module);
	if (*b->function)
		json_put_string(&json, "function", b->function);
	json_end_line(&json);
}

static int print_block(void *arg, const struct tact_collect_block *b)
{
	struct collector *p = arg;

	if (p->format == FORMAT_JSON)
		add_json(p, b);
	else
		add_csv(p, b);
	if (p->text.size >= WRITE_SIZE)
		output_write(&p->out, &p->text);
	return p->out.failed;
}

/* ---- results ---- */

static int open_results(struct collector *p)
{
	if (p->output && ends_in(p->output, ".db")) {
		if (tact_store_open(&p->store, p->output, TACT_STORE_CREATE, &p->diag) >= 0)
			return CLI_GOOD;
		cli_message("%s: %s", p->output, p->diag.text);
		return CLI_FAILED;
	}
	return output_open(&p->out, p->output) ? CLI_FAILED : CLI_GOOD;
}

static int write_results(struct collector *p, struct tact_collect *c)
{
	struct tact_collect_summary s;
	int status, code = CLI_GOOD;

	if (!p->store && p->format != FORMAT_JSON)
		text_add(&p->text, "hex,app,weight,address,module,function\n");
	status = p->store ? tact_collect_store(c, p->store, p->app, !p->is_static, &p->diag)
			  : tact_collect_finish(c, print_block, p);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (!p->store) {
		output_write(&p->out, &p->text);
	} else if (status < 0) {
		cli_message("%s: %s", p->output, p->diag.text);
		code = CLI_FAILED;
	}
	tact_collect_get_summary(c, &s);
	if (!p->is_quiet && p->is_static)
		cli_message("%llu blocks, %llu instructions", (unsigned long long)s.n_blocks,
			    (unsigned long long)s.n_insns);
	else if (!p->is_quiet)
		cli_message("%llu blocks, %llu instructions executed",
			    (unsigned long long)s.n_blocks, (unsigned long long)s.executed_insns);
	if (!p->is_quiet && s.n_undecoded)
		cli_message("at %llu places there is code that cannot be decoded; it was left out",
			    (unsigned long long)s.n_undecoded);
	return code;
}

/* ---- the two ways ---- */

static int exit_code_of(int status)
{
	return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
}

static int run_program(struct collector *p, struct tact_collect *c)
{
	struct tact_trace_options opt = {.size = sizeof(opt), .mode = TACT_TRACE_COUNT};
	struct tact_trace *trace;
	int status, code, number;

	program_options_apply(&p->program, &opt);
	status = tact_trace_launch(&trace, &opt, p->words, &p->diag);
	if (status < 0) {
		cli_message("%s", p->diag.text);
		return exit_code_of(status);
	}
	p->is_started = true;
	program_signals_catch(trace);
	status = tact_collect_trace(c, trace, &p->diag);
	number = program_signals_release();
	code = program_report(trace, base_name(p->words[0]), p->is_quiet);
	if (status < 0) {
		cli_message("%s", p->diag.text);
		code = CLI_FAILED;
	}
	if (number) {
		cli_message("interrupted: the blocks up to here are written");
		code = 128 + number;
	}
	tact_trace_close(trace);
	return code;
}

static int read_files(struct collector *p, struct tact_collect *c)
{
	int code = CLI_GOOD;

	p->is_started = true;
	for (size_t i = 0; i < p->n_words; i++) {
		if (tact_collect_file(c, p->words[i], &p->diag) >= 0)
			continue;
		cli_message("%s: %s", p->words[i], p->diag.text);
		code = CLI_FAILED;
	}
	return code;
}

static int collect(struct collector *p)
{
	const struct tact_collect_options opt = {.size = sizeof(opt), .no_branch = p->no_branch};
	struct tact_collect *c;
	int code, written = CLI_GOOD;

	code = open_results(p);
	if (code)
		return code;
	if (tact_collect_create(&c, &opt))
		cli_out_of_memory();
	code = p->is_static ? read_files(p, c) : run_program(p, c);
	if (p->is_started)
		written = write_results(p, c);
	tact_collect_destroy(c);
	if (!p->store && output_close(&p->out))
		written = CLI_FAILED;
	tact_store_close(p->store);
	return code ? code : written;
}

static int check(struct collector *p)
{
	if (!p->n_words) {
		cli_message(p->is_static ? "no file: give one or more ELF files"
					 : "no program: give one behind --, or --static and files");
		return CLI_USAGE;
	}
	if (!p->is_static && !p->output) {
		cli_message("-o FILE is missing: standard output is the program's");
		return CLI_USAGE;
	}
	if (p->is_static &&
	    (p->program.cpu || p->program.qemu || p->program.plugin || p->program.no_exec)) {
		cli_message("--static runs nothing: --cpu, --no-exec, --qemu and --plugin have no "
			    "meaning");
		return CLI_USAGE;
	}
	if (!p->app)
		p->app = base_name(p->words[0]);
	if (!*p->app || strlen(p->app) > TACT_STORE_NAME_MAX) {
		cli_message("--app: a name of 1 to %d bytes is needed", TACT_STORE_NAME_MAX);
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

int cmd_collect(int argc, char **argv)
{
	struct collector p = {.format = FORMAT_CSV, .out = {.fd = -1}};
	const struct option_group groups[] = {
		{"Blocks", block_specs, &p},
		{"Program", program_option_specs, &p.program},
		{"Output", output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact collect [OPTIONS] -o FILE -- PROGRAM [ARGUMENT...]\n"
			 "       tact collect --static [OPTIONS] FILE...\n",
		.description = "Collects the basic blocks that a program executes, each with how "
			       "often, by running it under QEMU's user mode; threads, children "
			       "and programs that it starts are followed. Or all blocks of ELF "
			       "files.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = add_word,
		.argument_target = &p,
	};
	int status;

	if (options_take(&command, argc, argv, &status))
		status = check(&p);
	if (status == CLI_GOOD && p.n_words)
		status = collect(&p);
	free(p.words);
	text_free(&p.text);
	program_options_fini(&p.program);
	return status;
}
