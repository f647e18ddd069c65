/* SPDX-License-Identifier: MIT
 *
 * tact diff: what a change costs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/options.h"
#include "common/page.h"
#include "common/terminal.h"
#include "differ.h"

static const char help[] =
	"usage: tact diff [OPTIONS] A B\n"
	"       tact diff [OPTIONS] -- 'COMMAND A' 'COMMAND B'\n\n"
	"Compares two versions of code, function by function and loop by loop, without running "
	"them: the cycles before and after, which limit changed, and which instructions came and "
	"went. Or compares two runs: the ratio of their cycles, by function and block, and what "
	"the cycles are spent waiting for.\n\n"
	"{options}\n\n"
	"A and B are two versions of code: assembly text, object files or executables. Or\n"
	"they are two runs: results ('tact trace -o FILE.json') or traces ('tact trace\n"
	"--record FILE.tct'); after -- they are commands, each quoted as one word, whose\n"
	"output is discarded.\n\n"
	"Examples:\n"
	"  tact diff -a SKL old.s new.s\n"
	"  tact diff -a all --function hash --fail-above 5% old.o new.o\n"
	"  tact diff old.json new.json\n"
	"  tact diff -a SKL --fail-above 2% -- './old file' './new file'\n"
	"  tact diff -a ICL -f markdown old.tct new.tct > comment.md\n";

static const char *take_threshold(void *target, const char *value)
{
	struct differ *p = target;
	char *end;
	double percent;

	errno = 0;
	percent = strtod(value, &end);
	if (end == value || errno || (*end && strcmp(end, "%") != 0) || !(percent >= -100) ||
	    percent > 1e6)
		return "give a percentage, such as 2%";
	p->threshold = 1 + percent / 100;
	return NULL;
}

static const char *add_side(struct differ *p, const char *word, bool is_command)
{
	if (p->n_sides == 2)
		return "there are two runs already; put each command in quotes";
	if (!*word)
		return "give a file or a command";
	p->sides[p->n_sides++] = (struct side){.text = word, .is_command = is_command};
	return NULL;
}

static const char *add_file(void *target, const char *word)
{
	return add_side(target, word, false);
}

static const char *add_command(void *target, const char *word)
{
	return add_side(target, word, true);
}

#define OPTION_HOLDER differ

static const struct option_spec output_specs[] = {
	OPTION_CALL(
		0, "fail-above", "PERCENT", take_threshold,
		"exit with status 4 if B takes more cycles than A by more than this, such as 2%: "
		"the whole run, or any loop or function of code on any CPU"),
	OPTION_NUMBER(0, "top", "N", top, 1, 1000000000,
		      "show the N functions or loops that changed most (default: 10; CSV and JSON "
		      "have all)"),
	OPTION_TEXT(0, "html", "FILE", html,
		    "also write a page for a browser, of two runs: functions and blocks side by "
		    "side, what changed most first, and the call graph"),
	OPTION_OUTPUT(output,
		      "write the result to FILE (FILE.md: as Markdown, FILE.json: as JSON)"),
	OPTION_FORMAT(
		format, OPTION_FORMATS | OPTION_BIT(FORMAT_MARKDOWN),
		"text (default), csv (of code only), markdown (for a pull request) or json (one "
		"object per line)"),
	OPTION_END,
};

static const struct option_spec code_specs[] = {
	OPTION_TEXT(0, "function", "NAME", function,
		    "compare only this function, with the variants that compilers make of it"),
	OPTION_TEXT(0, "model", "NAME", model,
		    "predict the cycles of code with this model (default: facile)"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("CPU", archlist_option_specs, setup.archs, archlist_fini),
	OPTION_OWN("Two versions of code", code_specs),
	OPTION_GROUP("Two runs: code", trace_region_specs, setup, trace_setup_fini),
	OPTION_GROUP("Two runs: model", trace_model_specs, setup, NULL),
	OPTION_GROUP("Two runs: program", program_option_specs, setup.program, NULL),
	OPTION_OWN("Output", output_specs),
	OPTION_GROUP("", trace_quiet_specs, setup, NULL),
	OPTION_OWN_ARGUMENTS(add_file, add_command),
};

static void fini(void *target)
{
	struct differ *p = target;

	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < p->sides[i].n_results; k++)
			tact_result_destroy(p->sides[i].results[k]);
		free(p->sides[i].words);
	}
	text_free(&p->archs);
}

/* ---- sides ---- */

static int split(struct side *s)
{
	struct tact_diag diag = {0};

	if (!tact_trace_split(&s->words, s->text, &diag))
		return CLI_GOOD;
	cli_message("'%s': %s", s->text, diag.text);
	return CLI_USAGE;
}

static int read_stored(struct side *s)
{
	struct tact_diag diag = {0};
	const long n = tact_result_load_all(s->results, ARCHLIST_MAX, s->text, &diag);

	s->n_results = n < 0 ? 0 : (size_t)n;
	return n < 0 ? cli_complain(s->text, &diag, (int)n, CLI_FAILED) : CLI_GOOD;
}

static const char *arch_of(const struct tact_result *result)
{
	struct tact_result_info info = TACT_RESULT_INFO_INIT;

	return tact_result_get_info(result, &info) ? "" : info.arch;
}

static void drop(struct side *s, size_t i)
{
	tact_result_destroy(s->results[i]);
	s->n_results--;
	memmove(&s->results[i], &s->results[i + 1], (s->n_results - i) * sizeof(s->results[0]));
	s->results[s->n_results] = NULL;
}

/* Pairs results of several CPUs by name.  A CPU that one side does not have is left out. */
static int pair_sides(struct side *a, struct side *b)
{
	if (a->n_results == 1 && b->n_results == 1)
		return CLI_GOOD;
	for (size_t i = 0; i < a->n_results;) {
		const char *name = arch_of(a->results[i]);
		size_t k = i;

		while (k < b->n_results && strcmp(arch_of(b->results[k]), name) != 0)
			k++;
		if (k >= b->n_results) {
			drop(a, i);
		} else {
			struct tact_result *found = b->results[k];

			b->results[k] = b->results[i];
			b->results[i++] = found;
		}
	}
	while (b->n_results > a->n_results)
		drop(b, b->n_results - 1);
	return a->n_results ? CLI_GOOD
			    : cli_wrong("%s and %s have no CPU in common", a->text, b->text);
}

static int analyse(struct differ *p, struct side *s)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct trace_job job = {
		.words = s->words,
		.path = s->words ? NULL : s->text,
		.iterations = 1,
		.program_output = null,
		.parts = p->html ? TACT_RESULT_WITH_CALLS : 0,
	};
	struct trace_run run;
	int code;

	p->setup.is_thorough =
		true; /* a skimmed run may be some percent off: more than changes are */
	code = trace_analyse(&run, &p->setup, &job);

	for (size_t i = 0; i < run.n && run.results[i]; i++) {
		s->results[s->n_results++] = run.results[i];
		run.results[i] = NULL;
	}
	trace_run_fini(&run);
	if (null >= 0)
		close(null);
	return code || s->n_results ? code : CLI_FAILED;
}

/* A stored result names its CPU; the other side is analysed for the same one. */
static int load_sides(struct differ *p)
{
	int code = CLI_GOOD;
	bool is_needed = false;

	for (unsigned i = 0; i < 2 && !code; i++) {
		struct side *s = &p->sides[i];

		if (s->is_command)
			code = split(s);
		else if (tact_result_is_one(s->text))
			code = read_stored(s);
		if (!code && !s->n_results)
			is_needed = true;
	}
	for (unsigned i = 0; i < 2 && !p->setup.archs.names && !code; i++) {
		for (size_t k = 0; k < p->sides[i].n_results; k++)
			text_printf(&p->archs, "%s%s", k ? "," : "",
				    arch_of(p->sides[i].results[k]));
		if ((p->archs.size || p->archs.failed) && *cli_string(&p->archs))
			p->setup.archs.names = p->archs.data;
	}
	if (!code && is_needed)
		code = trace_setup_resolve(&p->setup);
	for (unsigned i = 0; i < 2 && !code; i++)
		if (!p->sides[i].n_results)
			code = analyse(p, &p->sides[i]);
	return code ? code : pair_sides(&p->sides[0], &p->sides[1]);
}

/* Warns about what weakens the comparison. */
static void remark(const struct differ *p, size_t cpu)
{
	struct tact_result_info a = TACT_RESULT_INFO_INIT, b = TACT_RESULT_INFO_INIT;

	if (tact_result_get_info(p->sides[0].results[cpu], &a) ||
	    tact_result_get_info(p->sides[1].results[cpu], &b))
		return;
	if (strcmp(a.arch, b.arch) != 0)
		cli_message("the results are for different microarchitectures, %s and %s", a.arch,
			    b.arch);
	if (a.has_caches != b.has_caches || a.has_branches != b.has_branches)
		cli_message("one of the results models caches or branches and the other does not");
	if (a.is_partial || b.is_partial)
		cli_message("%s is the result of an incomplete run",
			    p->sides[a.is_partial ? 0 : 1].text);
}

/* ---- output ---- */

static int write_page(const struct differ *p, const struct tact_diff_report *report)
{
	struct text json = {0};

	if (tact_report_diff_page(report, page_sink, &json) < 0)
		cli_out_of_memory();
	return page_save(&page_diff, &json, p->html);
}

/* Writes the comparison on one CPU.  Returns the ratio of cycles; < 0: the page was not written. */
static double compare_on(const struct differ *p, size_t cpu, struct output *out)
{
	struct tact_diff_report report = {
		.size = sizeof(report),
		.names = {p->sides[0].text, p->sides[1].text},
		.format = (enum tact_format)p->format,
		.top = p->top,
		.threshold = p->threshold,
		.is_mangled = p->setup.is_mangled,
		.width = (int)terminal_width(p->output),
		.is_cut = terminal_is_output(p->output),
	};
	struct tact_diff *diff;
	double ratio;

	if (!p->setup.is_quiet)
		remark(p, cpu);
	if (cpu && p->format != FORMAT_JSON)
		output_sink(out, "\n", 1);
	if (tact_diff_create(&diff, p->sides[0].results[cpu], p->sides[1].results[cpu], NULL))
		cli_out_of_memory();
	report.diff = diff;
	if (tact_report_diff(&report, output_sink, out) < 0)
		cli_out_of_memory();
	ratio = tact_diff_ratio(diff);
	if (p->html && write_page(p, &report))
		ratio = -1;
	tact_diff_destroy(diff);
	return ratio;
}

static int compare(const struct differ *p)
{
	bool is_written = true;
	double ratio = 0;
	struct output out;

	if (p->html && p->sides[0].n_results > 1)
		return cli_wrong("--html shows one CPU, not %zu", p->sides[0].n_results);
	if (output_open(&out, p->output))
		return CLI_FAILED;
	for (size_t i = 0; i < p->sides[0].n_results; i++) {
		const double on = compare_on(p, i, &out);

		is_written = is_written && on >= 0;
		ratio = on > ratio ? on : ratio;
	}
	if (output_close(&out) || !is_written)
		return CLI_FAILED;
	if (!(p->threshold > 0) || ratio <= p->threshold)
		return CLI_GOOD;
	if (!p->setup.is_quiet)
		cli_message("B takes %+.2f%% cycles, more than --fail-above allows",
			    100 * (ratio - 1));
	return CLI_OVER;
}

/* Whether both sides are code, which is compared without running it. */
static bool is_code(const struct differ *p)
{
	for (unsigned i = 0; i < 2; i++)
		if (p->sides[i].is_command || tact_result_is_one(p->sides[i].text) ||
		    tact_trace_is_one(p->sides[i].text))
			return false;
	return true;
}

static int check(const struct differ *p)
{
	if (p->n_sides < 2)
		return cli_wrong("give two versions of code, or two runs: files, or commands after "
				 "--");
	if (is_code(p))
		return diff_code_check(p);
	if (p->function || p->model)
		return cli_wrong("--function and --model are for two versions of code; runs have "
				 "--region and --exact");
	if (p->format == FORMAT_CSV)
		return cli_wrong("-f csv is for two versions of code; runs have -f json");
	if (!p->sides[0].is_command && !p->sides[1].is_command &&
	    trace_setup_has_regions(&p->setup))
		return cli_wrong("--region, --exclude, --from and --until select while a program "
				 "runs, not from a recording");
	return CLI_GOOD;
}

static int run(void *target)
{
	struct differ *p = target;
	int code = check(p);

	if (code)
		return code;
	if (p->format < 0)
		p->format = p->output && cli_has_suffix(p->output, ".md")     ? FORMAT_MARKDOWN
			    : p->output && cli_has_suffix(p->output, ".json") ? FORMAT_JSON
			    : p->output && cli_has_suffix(p->output, ".csv") && is_code(p)
				    ? FORMAT_CSV
				    : FORMAT_TEXT;
	if (is_code(p))
		return diff_code(p);
	code = load_sides(p);
	return code ? code : compare(p);
}

static const struct option_command command = {help, groups, run, fini};

int cmd_diff(int argc, char **argv)
{
	struct differ p = {.format = -1, .top = 10};

	return option_command_run(&command, &p, argc, argv);
}
