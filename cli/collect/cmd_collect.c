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

#include "base/file.h"
#include "common/cli.h"
#include "common/options.h"
#include "common/output.h"
#include "common/program_options.h"

static const char help[] =
	"usage: tact collect [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
	"       tact collect [OPTIONS] --native -- PROGRAM [ARGUMENT...]\n"
	"       tact collect [OPTIONS] --attach PID\n"
	"       tact collect --static [OPTIONS] FILE...\n\n"
	"Collects the basic blocks that a program executes, and how often each runs, under QEMU's "
	"user mode. Threads, child processes and programs that it starts are followed. With "
	"--static, collects all blocks of ELF files.\n\n"
	"{options}\n\n"
	"Put -- before the program, so that tact does not read its options.\n\n"
	"Examples:\n"
	"  tact collect -o gzip.csv -- gzip -k file\n"
	"  tact collect --native -o blocks.csv -- ./avx512\n"
	"  tact collect --no-branch -o blocks.db -- python3 script.py\n"
	"  tact collect --static /usr/bin/gzip > blocks.csv\n"
	"  tact predict -f csv gzip.csv\n";

enum { WRITE_SIZE = 1 << 16 };

struct collector {
	struct option_words words; /* the program and its arguments, or files */
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

#define OPTION_HOLDER collector

static const struct option_spec block_specs[] = {
	OPTION_FLAG(0, "static", is_static, "collect all blocks of ELF files without running them"),
	OPTION_FLAG(0, "no-branch", no_branch,
		    "leave out the branch, call, return or system call that ends a block"),
	OPTION_TEXT(0, "app", "NAME", app,
		    "name of the application in the results (default: the name of the program or "
		    "file)"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_OUTPUT(output,
		      "write the blocks to FILE (FILE.db: a store, SQLite), or to standard output "
		      "(-). The default is standard error if a program runs, because standard "
		      "output belongs to it, and standard output otherwise"),
	OPTION_FORMAT(format, OPTION_BIT(FORMAT_CSV) | OPTION_BIT(FORMAT_JSON),
		      "csv (default) or json (one object per line)"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Blocks", block_specs),
	OPTION_GROUP("Program", program_option_specs, program, NULL),
	OPTION_GROUP("Without QEMU", native_option_specs, program, NULL),
	OPTION_OWN("Output", output_specs),
	OPTION_WORDS(words),
};

static void fini(void *target)
{
	struct collector *p = target;

	text_free(&p->text);
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
	if (p->output && cli_has_suffix(p->output, ".db")) {
		if (tact_store_open(&p->store, p->output, TACT_STORE_CREATE, &p->diag) >= 0)
			return CLI_GOOD;
		cli_message("%s: %s", p->output, p->diag.text);
		return CLI_FAILED;
	}
	if (p->is_static ? output_open(&p->out, p->output) : output_open_beside(&p->out, p->output))
		return CLI_FAILED;
	return CLI_GOOD;
}

static int write_results(struct collector *p, struct tact_collect *c)
{
	struct tact_collect_summary s = TACT_COLLECT_SUMMARY_INIT;
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
		cli_message("code at %llu places cannot be decoded; it was left out",
			    (unsigned long long)s.n_undecoded);
	return code;
}

/* ---- the two ways ---- */

static int exit_code_of(int status)
{
	return status == -TACT_E_NO_TOOL || status == -TACT_E_NOT_MODELLED ? CLI_UNABLE
									   : CLI_FAILED;
}

static int run_program(struct collector *p, struct tact_collect *c)
{
	struct tact_trace_options opt = {.size = sizeof(opt), .mode = TACT_TRACE_COUNT};
	struct tact_trace *trace;
	int status, code, number;

	program_options_apply(&p->program, &opt);
	status = p->words.n ? tact_trace_launch(&trace, &opt, p->words.list, &p->diag)
			    : tact_trace_attach(&trace, &opt, (int)p->program.attach, &p->diag);
	if (status < 0) {
		cli_message("%s", p->diag.text);
		return exit_code_of(status);
	}
	p->is_started = true;
	program_signals_catch(trace);
	status = tact_collect_trace(c, trace, &p->diag);
	number = program_signals_release();
	code = program_report(trace, p->words.n ? file_base_name(p->words.list[0]) : "the process",
			      p->is_quiet);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0) {
		cli_message("%s", p->diag.text);
		code = CLI_FAILED;
		p->is_started = false; /* what there is is not what was executed until a moment */
	}
	if (number && p->program.attach) {
		cli_message("the process runs on");
	} else if (number) {
		cli_message("interrupted: the blocks executed so far were written");
		code = 128 + number;
	}
	tact_trace_close(trace);
	return code;
}

static int read_files(struct collector *p, struct tact_collect *c)
{
	int code = CLI_GOOD;

	p->is_started = true;
	for (size_t i = 0; i < p->words.n; i++) {
		const int status = tact_collect_file(c, p->words.list[i], &p->diag);

		if (status >= 0)
			continue;
		if (status == -TACT_E_NOMEM)
			cli_out_of_memory();
		cli_message("%s: %s", p->words.list[i], p->diag.text);
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
	else if (!p->store)
		output_abandon(&p->out);
	tact_collect_destroy(c);
	if (!p->store && output_close(&p->out))
		written = CLI_FAILED;
	tact_store_close(p->store);
	return code ? code : written;
}

static int check(struct collector *p)
{
	if (!p->words.n && !p->program.attach)
		return cli_wrong(
			p->is_static ? "no input: give one or more ELF files"
				     : "no program: give one after --, or --attach, or --static "
				       "and files");
	if (p->words.n && p->program.attach)
		return cli_wrong("give a program or --attach, not both");
	if (p->is_static && program_is_native(&p->program))
		return cli_wrong("--static runs nothing: --native and --attach do not apply");
	if (program_check_native(&p->program, p->words.n > 0))
		return CLI_USAGE;
	if (p->is_static && program_has_qemu_options(&p->program))
		return cli_wrong("--static runs nothing: " PROGRAM_QEMU_OPTIONS " do not apply");
	if (!p->app)
		p->app = p->words.n ? file_base_name(p->words.list[0]) : "process";
	if (!*p->app || strlen(p->app) > TACT_STORE_NAME_MAX)
		return cli_wrong("--app: a name must have 1 to %d bytes", TACT_STORE_NAME_MAX);
	return CLI_GOOD;
}

static int run(void *target)
{
	struct collector *p = target;
	const int status = check(p);

	return status ? status : collect(p);
}

static const struct option_command command = {help, groups, run, fini};

int cmd_collect(int argc, char **argv)
{
	struct collector p = {.format = FORMAT_CSV, .out = {.fd = -1}};

	return option_command_run(&command, &p, argc, argv);
}
