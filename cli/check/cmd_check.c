/* SPDX-License-Identifier: MIT
 *
 * tact check: code against a stored baseline, for continuous integration.
 */
#include <stdlib.h>
#include <string.h>

#include <tact-program/codecheck.h>
#include <tact-program/report.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "common/options.h"
#include "common/terminal.h"

#define DEFAULT_CONFIG "tact.ini"

static const char help[] =
	"usage: tact check [OPTIONS] [FILE.ini]\n\n"
	"Compares code with a stored baseline, without running it, and fails if it takes more "
	"cycles than FILE.ini (default: " DEFAULT_CONFIG ") allows: for continuous integration.\n\n"
	"{options}\n\n"
	"The file says which code, for which CPUs, and what is too much:\n"
	"  [check]\n"
	"  file = build/kernels.o     what is checked; paths are relative to the INI file\n"
	"  arch = SKL, ZEN4           CPUs, all of one instruction set\n"
	"  model = facile             or sim\n"
	"  fail-above = 2%            or 0.5 cycles, or none\n"
	"  baseline = tact-baseline.jsonl\n\n"
	"  [inner loop]               each section chooses code and may change the rest\n"
	"  function = dot             all loops of it, or all of its code if it has none\n"
	"  loop = 1                   only its first loop\n"
	"  max-cycles = 4             whatever the baseline says\n\n"
	"  [marked]\n"
	"  marker = NAME              between LLVM-MCA-BEGIN NAME and LLVM-MCA-END\n\n"
	"Exit status: 0 nothing is over its limit, 1 some input failed, 2 wrong usage,\n"
	"4 something is over its limit.\n\n"
	"Examples:\n"
	"  tact check --update\n"
	"  tact check\n"
	"  tact check -f markdown --sarif tact.sarif --junit tact.xml > comment.md\n";

struct checker {
	const char *config, *baseline, *output, *archs;
	const char *markdown, *sarif, *junit, *json;
	int format;
	bool is_update, is_all, is_quiet;
	struct tact_codecheck *check; /* owned */
	struct archlist *lists;	      /* owned: one for each section */
};

static const char *take_config(void *target, const char *word)
{
	struct checker *p = target;

	if (p->config)
		return "one INI file is enough";
	p->config = word;
	return NULL;
}

#define OPTION_HOLDER checker

static const struct option_spec check_specs[] = {
	OPTION_FLAG(0, "update", is_update,
		    "write the baseline of the code as it is now, and say what changed"),
	OPTION_TEXT(0, "baseline", "FILE", baseline,
		    "compare with this baseline, or write it, instead of that of the INI file"),
	OPTION_ARCH(archs, "check for these CPUs instead of those of the INI file"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FLAG(0, "all", is_all, "text and Markdown: show also what takes the same cycles"),
	OPTION_TEXT(0, "markdown", "FILE", markdown, "also write a table for a pull request"),
	OPTION_TEXT(0, "json", "FILE", json, "also write JSON"),
	OPTION_TEXT(0, "sarif", "FILE", sarif, "also write SARIF 2.1.0, which GitHub shows"),
	OPTION_TEXT(0, "junit", "FILE", junit, "also write JUnit's XML, which GitLab shows"),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_FORMAT(format,
		      OPTION_FORMATS | OPTION_BIT(FORMAT_MARKDOWN) | OPTION_BIT(FORMAT_SARIF) |
			      OPTION_BIT(FORMAT_JUNIT),
		      "text (default), csv, json (one object per line), markdown, sarif or junit"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Baseline", check_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(take_config, take_config),
};

static void fini(void *target)
{
	struct checker *p = target;

	for (size_t i = 0; p->lists && i < tact_codecheck_count(p->check); i++)
		archlist_fini(&p->lists[i]);
	tact_codecheck_destroy(p->check);
	free(p->lists);
}

static void say(void *arg, const char *path, const struct tact_diag *diag, int status)
{
	(void)arg;
	cli_complain(path, diag, status, CLI_FAILED);
}

/* Resolves the names of CPUs of all sections. */
static int resolve(struct checker *p)
{
	const size_t n = tact_codecheck_count(p->check);

	p->lists = cli_alloc(n * sizeof(*p->lists));
	memset(p->lists, 0, n * sizeof(*p->lists));
	for (size_t i = 0; i < n; i++) {
		struct archlist *list = &p->lists[i];
		int code;

		list->names = p->archs ? p->archs : tact_codecheck_archs(p->check, i);
		if (!*list->names)
			return cli_wrong("%s: [%s] names no CPU; add arch = NAME, such as SKL",
					 p->config, tact_codecheck_section(p->check, i));
		code = archlist_resolve(list, NULL, p->is_quiet);
		if (code) {
			cli_message("%s: section [%s]", p->config,
				    tact_codecheck_section(p->check, i));
			return code;
		}
		if (tact_codecheck_set_archs(p->check, i, list->arch, list->n))
			cli_out_of_memory();
	}
	return CLI_GOOD;
}

static int write_report(const struct checker *p, const char *path, int format)
{
	const struct tact_check_report report = {
		.size = sizeof(report),
		.check = p->check,
		.format = (enum tact_format)format,
		.is_all = p->is_all,
		.width = (int)terminal_width(path),
		.is_cut = terminal_is_output(path),
	};
	struct output out;

	if (output_open(&out, path))
		return CLI_FAILED;
	if (tact_report_check(&report, output_sink, &out) < 0)
		cli_out_of_memory();
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int write_reports(const struct checker *p)
{
	const struct {
		const char *path;
		int format;
	} also[] = {
		{p->markdown, FORMAT_MARKDOWN},
		{p->json, FORMAT_JSON},
		{p->sarif, FORMAT_SARIF},
		{p->junit, FORMAT_JUNIT},
	};
	int code = write_report(p, p->output, p->format);

	for (size_t i = 0; i < CLI_ARRAY_SIZE(also); i++)
		if (also[i].path && write_report(p, also[i].path, also[i].format))
			code = CLI_FAILED;
	return code;
}

static int update(const struct checker *p)
{
	struct tact_diag diag = {0};
	const int status = tact_codecheck_update(p->check, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return cli_complain(tact_codecheck_baseline(p->check), &diag, status, CLI_FAILED);
	if (!p->is_quiet)
		cli_message("wrote %s", tact_codecheck_baseline(p->check));
	return CLI_GOOD;
}

static int judge(const struct checker *p)
{
	struct tact_codecheck_summary s = TACT_CODECHECK_SUMMARY_INIT;
	int code;

	if (tact_codecheck_get_summary(p->check, &s))
		return CLI_FAILED;
	code = write_reports(p);
	if (code)
		return code;
	if (p->is_update)
		return s.n_files_failed ? CLI_FAILED : update(p);
	return s.n_over ? CLI_OVER : s.n_failed || s.n_files_failed ? CLI_FAILED : CLI_GOOD;
}

static int complain(const struct checker *p, const struct tact_diag *diag, int status)
{
	const char *path = tact_codecheck_baseline(p->check);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status == -TACT_E_NO_DATA) {
		cli_message("%s; 'tact check --update' writes one", diag->text);
		return CLI_FAILED;
	}
	if (status == -TACT_E_INVAL)
		return cli_wrong("%s: %s", p->config, diag->text);
	return cli_complain(path, diag, status, CLI_FAILED);
}

static int run(void *target)
{
	struct checker *p = target;
	struct tact_diag diag = {0};
	int code, status;

	p->config = p->config ? p->config : DEFAULT_CONFIG;
	status = tact_codecheck_create(&p->check, p->config, &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return cli_complain(p->config, &diag, status, CLI_USAGE);
	if (p->baseline && tact_codecheck_set_baseline(p->check, p->baseline))
		cli_out_of_memory();
	code = resolve(p);
	if (code)
		return code;
	status = tact_codecheck_run(p->check, !p->is_update, say, NULL, &diag);
	return status < 0 ? complain(p, &diag, status) : judge(p);
}

static const struct option_command command = {help, groups, run, fini};

int cmd_check(int argc, char **argv)
{
	struct checker p = {.format = FORMAT_TEXT};

	return option_command_run(&command, &p, argc, argv);
}
