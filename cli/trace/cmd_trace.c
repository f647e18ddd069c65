/* SPDX-License-Identifier: MIT
 *
 * tact trace: cycles of whole programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/options.h"
#include "common/output.h"
#include "common/page.h"
#include "common/terminal.h"
#include "tracer.h"

static const char help[] =
	"usage: tact trace [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
	"       tact trace [OPTIONS] --native -- PROGRAM [ARGUMENT...]\n"
	"       tact trace [OPTIONS] --attach PID\n"
	"       tact trace [OPTIONS] --input FILE\n"
	"       tact trace [OPTIONS] --listen HOST:PORT\n"
	"       tact trace --record FILE | --connect HOST:PORT -- PROGRAM [ARGUMENT...]\n\n"
	"Runs a program under QEMU's user mode and tells how many cycles it takes on a "
	"microarchitecture, by function, block, source line and instruction, and what they are "
	"spent waiting for. The beginning of the program and samples of the rest go through a "
	"simulated pipeline.\n\n"
	"{options}\n\n"
	"Put -- before the program, so that tact does not read its options. What the\n"
	"program writes stays where it goes; the result comes on standard error.\n\n"
	"Examples:\n"
	"  tact trace -a SKL -- gzip -k file\n"
	"  tact trace -a ICL --by line --region parse -- ./server --once\n"
	"  tact trace -a SKL -o old.json -- ./old; tact trace -a SKL -o new.json -- ./new\n"
	"  tact diff old.json new.json\n"
	"  tact trace --record run.tct -- ./program; tact trace -a HSW --input run.tct\n"
	"  tact trace -a RKL --input kernel.s --iterations 1000\n"
	"  tact trace -a ICX --native -- ./avx512; tact trace -a ZEN4 --attach 4711 --time 10\n";

enum { MAX_WINDOW = 1000 };

struct tracer {
	struct trace_setup setup;
	struct option_words words; /* the program and its arguments */
	const char *input, *listen, *record, *connect, *perfetto, *html, *output;
	unsigned iterations, callee, top;
	int by, format;
	bool has_window, is_tree;
	uint64_t first, last;
	uint32_t watched; /* thread */
};

static const struct option_choice parts[] = {
	{"function", TACT_RESULT_FUNCTION}, {"block", TACT_RESULT_BLOCK},
	{"line", TACT_RESULT_LINE},	    {"insn", TACT_REPORT_INSNS},
	{"caller", TACT_REPORT_CALLERS},    {NULL, 0},
};

/* A-B, or A-B@THREAD. */
static const char *take_window(void *target, const char *value)
{
	static const char why[] = "give two cycles, at most 1000 apart, such as 5000-5200, "
				  "optionally with @ and the number of a thread";
	struct tracer *p = target;
	char *end;

	errno = 0;
	p->first = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '-' || end[1] < '0' || end[1] > '9')
		return why;
	p->last = strtoull(end + 1, &end, 10);
	p->has_window = true;
	p->watched = TACT_TRACE_FIRST_THREAD;
	if (*end == '@' && end[1] >= '0' && end[1] <= '9') {
		unsigned long long thread = strtoull(end + 1, &end, 10);

		if (thread >= TACT_TRACE_FIRST_THREAD)
			return why;
		p->watched = (uint32_t)thread;
	}
	return *end || errno || p->last < p->first || p->last - p->first >= MAX_WINDOW ? why : NULL;
}

#define OPTION_HOLDER tracer

static const struct option_spec input_specs[] = {
	OPTION_TEXT(0, "input", "FILE", input,
		    "analyse a recorded trace (.tct; - is standard input), or assembly text, which "
		    "runs once from its first to its last instruction"),
	OPTION_NUMBER(0, "iterations", "N", iterations, 1, 1000000000,
		      "run assembly text N times (default: 1)"),
	OPTION_NUMBER(0, "call-cycles", "N", callee, 0, TACT_TRACE_MAX_CALLEE,
		      "what assembly text calls, and does not contain, takes N cycles each time "
		      "(default: 0; the comment LLVM-MCA-LATENCY n sets it for one call)"),
	OPTION_TEXT(0, "listen", "HOST:PORT", listen,
		    "analyse a trace that another machine sends with --connect"),
	OPTION_TEXT(0, "record", "FILE", record,
		    "run the program and write its trace to FILE, without analysing it"),
	OPTION_TEXT(0, "connect", "HOST:PORT", connect,
		    "run the program and send its trace to a tact that listens there"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_CHOICE(0, "by", "PART", by, parts,
		      "break the cycles down by function (default), block, line (of the source), "
		      "insn (blocks with their instructions) or caller (functions with who called "
		      "them)"),
	OPTION_FLAG(0, "tree", is_tree,
		    "show the cycles of each call path, with and without those of what it calls"),
	OPTION_NUMBER(0, "top", "N", top, 1, 1000000000,
		      "show the N rows with most cycles (default: 15 in text, all in CSV; JSON "
		      "always has all)"),
	OPTION_CALL(0, "timeline", "A-B[@THREAD]", take_window,
		    "also show what every uop does from cycle A to cycle B of the first thread, or "
		    "of the one with this number (implies --exact)"),
	OPTION_TEXT(0, "perfetto", "FILE", perfetto,
		    "also write a trace for Perfetto: which function ran when, the IPC, and the "
		    "pipeline at some moments"),
	OPTION_TEXT(0, "html", "FILE", html,
		    "also write a page for a browser: call graph, functions, source and assembly, "
		    "timeline"),
	OPTION_OUTPUT(output,
		      "write the result to FILE (FILE.json: as JSON, which 'tact diff' reads), or "
		      "to standard output (-). The default is standard error if a program runs, "
		      "because standard output belongs to it, and standard output otherwise"),
	OPTION_FORMAT(
		format, OPTION_FORMATS | OPTION_STACK_FORMATS,
		"text (default), csv or json (one object per line, the first with the totals); or "
		"call paths for other tools: folded (a line each), flame (a flame graph, SVG), "
		"speedscope (JSON) or pprof (profile.proto)"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Input", input_specs),
	OPTION_GROUP("Code", trace_region_specs, setup, trace_setup_fini),
	OPTION_GROUP("CPU", archlist_option_specs, setup.archs, archlist_fini),
	OPTION_GROUP("Model", trace_model_specs, setup, NULL),
	OPTION_GROUP("Program", program_option_specs, setup.program, NULL),
	OPTION_GROUP("Without QEMU", native_option_specs, setup.program, NULL),
	OPTION_OWN("Output", output_specs),
	OPTION_GROUP("", trace_quiet_specs, setup, NULL),
	OPTION_WORDS(words),
};

static bool has_stacks(const struct tracer *p)
{
	return p->format >= FORMAT_FOLDED;
}

static int check_stacks(const struct tracer *p)
{
	if (!has_stacks(p))
		return CLI_GOOD;
	if (program_is_native(&p->setup.program))
		return cli_wrong(
			"-f %s needs the calls of the whole run, and --native and --attach "
			"see windows of it",
			option_choice_name(option_formats, p->format));
	if (p->by || p->top || p->has_window)
		return cli_wrong("-f %s has all call paths: --by, --tree, --top and --timeline do "
				 "not apply",
				 option_choice_name(option_formats, p->format));
	if (p->format == FORMAT_PPROF && !p->output)
		return cli_wrong("-f pprof is not text: give -o FILE, or -o - for standard output");
	return CLI_GOOD;
}

static int check(const struct tracer *p)
{
	const bool is_recorded = p->record || p->connect;
	const struct program_options *program = &p->setup.program;
	const unsigned n = (p->words.n > 0) + (p->input != NULL) + (p->listen != NULL) +
			   (program->attach != 0);

	if (!n)
		return cli_wrong("no program: give one after --, or --input, --listen or --attach");
	if (n > 1)
		return cli_wrong("give only one of a program, --input, --listen and --attach");
	if (program_check_native(program, p->words.n > 0))
		return CLI_USAGE;
	if (program_is_native(program) && (p->has_window || p->setup.is_exact || p->is_tree ||
					   p->by == TACT_REPORT_CALLERS || p->html || p->perfetto))
		return cli_wrong("--timeline, --exact, --tree, --by caller, --html and --perfetto "
				 "need the whole run, and --native and --attach see windows of it");
	if (program_is_native(program) && trace_setup_has_regions(&p->setup))
		return cli_wrong("--region, --exclude, --from and --until need QEMU");
	if (p->record && p->connect)
		return cli_wrong("give --record or --connect, not both");
	if (is_recorded && !p->words.n && !program->attach)
		return cli_wrong("--record and --connect need a program to run");
	if (is_recorded &&
	    (p->output || p->perfetto || p->html || p->has_window || p->setup.archs.names))
		return cli_wrong("--record and --connect only write the trace; --input and "
				 "--listen make results from it");
	if (!p->words.n && trace_setup_has_regions(&p->setup))
		return cli_wrong("--region, --exclude, --from and --until select while a program "
				 "runs, not from a recording");
	if (!p->words.n && program_has_run_options(program))
		return cli_wrong("no program runs: " PROGRAM_RUN_OPTIONS " do not apply");
	return CLI_GOOD;
}

static int write_perfetto(const char *path, struct tact_analysis *analysis)
{
	struct output out;

	if (output_open(&out, path))
		return CLI_FAILED;
	if (tact_analysis_perfetto(analysis, output_sink, &out) < 0)
		cli_out_of_memory();
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int write_page(const struct tracer *p, const struct trace_run *run)
{
	const struct tact_page_report report = {
		.size = sizeof(report),
		.result = run->results[0],
		.analysis = run->analyses[0],
		.is_mangled = p->setup.is_mangled,
	};
	struct text json = {0};

	if (tact_report_run_page(&report, page_sink, &json) < 0)
		cli_out_of_memory();
	return page_save(&page_trace, &json, p->html);
}

/* Assembly text that calls nothing has no call paths. */
static int write_stacks(const struct tact_run_report *report, const struct trace_run *run,
			struct output *out)
{
	const int status = tact_report_run(report, output_sink, out);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status >= 0)
		return CLI_GOOD;
	cli_message("%s: no calls were seen, so there are no call paths", run->name);
	return CLI_FAILED;
}

static int write_result(const struct tracer *p, const struct trace_run *run, struct output *out)
{
	const struct tact_run_report report = {
		.size = sizeof(report),
		.result = run->results[0],
		.format = (enum tact_format)p->format,
		.by = p->by,
		.top = p->top,
		.is_mangled = p->setup.is_mangled,
		.width = (int)terminal_width_of(out->fd),
		.is_cut = isatty(out->fd),
		.script = script_flame,
	};
	const struct tact_window_report window = {
		.size = sizeof(window),
		.analysis = run->analyses[0],
		.thread = p->watched,
		.first = p->first,
		.last = p->last,
		.is_mangled = p->setup.is_mangled,
		.arch = p->setup.archs.arch[0],
	};

	if (has_stacks(p))
		return write_stacks(&report, run, out);
	if (run->n > 1 ? tact_report_runs(&report, (const struct tact_result *const *)run->results,
					  run->n, output_sink, out) < 0
		       : tact_report_run(&report, output_sink, out) < 0)
		cli_out_of_memory();
	if (p->has_window && p->format == FORMAT_TEXT &&
	    tact_report_window(&window, output_sink, out) < 0)
		cli_out_of_memory();
	if (p->html && write_page(p, run))
		return CLI_FAILED;
	return p->perfetto ? write_perfetto(p->perfetto, run->analyses[0]) : CLI_GOOD;
}

/* What the result needs for its output. */
static unsigned parts_for(const struct tracer *p)
{
	unsigned bits = 0;

	if (p->by == TACT_RESULT_LINE || p->format == FORMAT_JSON || p->html)
		bits |= TACT_RESULT_WITH_LINES;
	if (p->by == TACT_REPORT_INSNS || p->html)
		bits |= TACT_RESULT_WITH_INSNS;
	if (p->by == TACT_REPORT_CALLERS || p->by == TACT_REPORT_TREE || p->html ||
	    p->format == FORMAT_JSON || has_stacks(p))
		bits |= TACT_RESULT_WITH_CALLS;
	return bits;
}

static int analyse(struct tracer *p)
{
	const struct trace_job job = {
		.words = p->words.list,
		.path = p->input,
		.listen = p->listen,
		.iterations = p->iterations,
		.callee = p->callee,
		.program_output = -1,
		.parts = parts_for(p),
		.samples = p->perfetto || p->html || p->format == FORMAT_JSON,
		.views = (p->html || p->perfetto) && !p->has_window,
		.has_window = p->has_window,
		.window_thread = p->watched,
		.window_first = p->first,
		.window_last = p->last,
	};
	struct trace_run run;
	struct output out;
	int code, written = CLI_GOOD;

	code = trace_setup_resolve(&p->setup);
	if (!code && p->setup.archs.n > 1 &&
	    (p->has_window || p->perfetto || p->html || p->by > TACT_REPORT_INSNS || has_stacks(p)))
		code = cli_wrong(
			"--timeline, --perfetto, --html, --tree, --by caller and call paths "
			"for other tools show one CPU, not %zu",
			p->setup.archs.n);
	if (code)
		return code;
	if (p->words.n ? output_open_beside(&out, p->output) : output_open(&out, p->output))
		return CLI_FAILED;
	code = trace_analyse(&run, &p->setup, &job);
	if (run.n && run.results[0])
		written = write_result(p, &run, &out);
	else
		output_abandon(&out);
	if (output_close(&out))
		written = CLI_FAILED;
	trace_run_fini(&run);
	return code ? code : written;
}

static int run(void *target)
{
	struct tracer *p = target;
	const struct trace_job job = {.words = p->words.list, .program_output = -1};
	const int code = check(p);

	if (code)
		return code;
	if (p->is_tree)
		p->by = TACT_REPORT_TREE;
	if (p->format < 0)
		p->format =
			p->output && cli_has_suffix(p->output, ".json") ? FORMAT_JSON : FORMAT_TEXT;
	if (check_stacks(p))
		return CLI_USAGE;
	if (p->record || p->connect)
		return trace_record_to(&p->setup, &job, p->record, p->connect);
	return analyse(p);
}

static const struct option_command command = {help, groups, run, NULL};

int cmd_trace(int argc, char **argv)
{
	struct tracer p = {.iterations = 1, .format = -1, .by = TACT_RESULT_FUNCTION};

	return option_command_run(&command, &p, argc, argv);
}
