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
#include "tracer.h"

enum { MAX_WINDOW = 1000 };

struct tracer {
	struct trace_setup setup;
	char **words; /* owned: the program and its arguments; the strings are argv's */
	size_t n_words;
	const char *input, *listen, *record, *connect, *perfetto, *output;
	unsigned iterations, top;
	int by, format;
	bool has_window;
	uint64_t first, last;
	uint32_t watched; /* thread */
};

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

static const struct option_choice parts[] = {
	{"function", BY_FUNCTION}, {"block", BY_BLOCK}, {"line", BY_LINE},
	{"insn", BY_INSN},	   {NULL, 0},
};

/* A-B, or A-B@THREAD. */
static const char *take_window(void *target, const char *value)
{
	static const char why[] =
		"two cycles are needed, such as 5000-5200, 1000 apart at most, and "
		"perhaps @ and the number of a thread";
	struct tracer *p = target;
	char *end;

	errno = 0;
	p->first = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '-' || end[1] < '0' || end[1] > '9')
		return why;
	p->last = strtoull(end + 1, &end, 10);
	p->has_window = true;
	p->watched = TACT_CYCLES_FIRST;
	if (*end == '@' && end[1] >= '0' && end[1] <= '9') {
		unsigned long long thread = strtoull(end + 1, &end, 10);

		if (thread >= TACT_CYCLES_FIRST)
			return why;
		p->watched = (uint32_t)thread;
	}
	return *end || errno || p->last < p->first || p->last - p->first >= MAX_WINDOW ? why : NULL;
}

#define FIELD(field, type) .offset = OPTION_FIELD(tracer, field, type)

/* clang-format off: an option stays together */
static const struct option_spec input_specs[] = {
	{.name = "input",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(input, const char *),
	 .help = "a trace that was recorded (.tct; - is standard input), or assembly text, whose "
		 "code runs once from its first to its last instruction"},
	{.name = "iterations",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 1000000000,
	 FIELD(iterations, unsigned),
	 .help = "how often assembly text runs (default: 1)"},
	{.name = "listen",
	 .argument = "HOST:PORT",
	 .type = OPTION_TEXT,
	 FIELD(listen, const char *),
	 .help = "a trace that another machine sends with --connect"},
	{.name = "record",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(record, const char *),
	 .help = "run the program and only write its trace there"},
	{.name = "connect",
	 .argument = "HOST:PORT",
	 .type = OPTION_TEXT,
	 FIELD(connect, const char *),
	 .help = "run the program and only send its trace to a tact that listens"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.name = "by",
	 .argument = "PART",
	 .type = OPTION_CHOICE,
	 .choices = parts,
	 FIELD(by, int),
	 .help = "what the cycles are shared out to: function (default), block, line of the "
		 "source, "
		 "or insn: the instructions of blocks"},
	{.name = "top",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 1000000000,
	 FIELD(top, unsigned),
	 .help = "how many of them (default: 15 in text, all in CSV; JSON always has all)"},
	{.name = "timeline",
	 .argument = "A-B[@THREAD]",
	 .type = OPTION_CALL,
	 .call = take_window,
	 .help = "also show what every uop does from cycle A to cycle B of the first thread, or of "
		 "the one with this number (means --exact)"},
	{.name = "perfetto",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(perfetto, const char *),
	 .help = "also write which function ran when, and the IPC, as a trace for Perfetto"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(output, const char *),
	 .help = "write the result there (FILE.json: as JSON, which 'tact diff' reads). Without "
		 "it the program's standard output goes to standard error"},
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 .type = OPTION_CHOICE,
	 .choices = formats,
	 FIELD(format, int),
	 .help = "text (default), csv, or json (one object a line, the first with the totals)"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"Put -- in front of the program, so that its options are its own.\n\n"
	"Examples:\n"
	"  tact trace -a SKL -- gzip -k file\n"
	"  tact trace -a ICL --full --by line --region parse -- ./server --once\n"
	"  tact trace -a SKL -o old.json -- ./old; tact trace -a SKL -o new.json -- ./new\n"
	"  tact diff old.json new.json\n"
	"  tact trace --record run.tct -- ./program; tact trace -a HSW --input run.tct\n"
	"  tact trace -a RKL --input kernel.s --iterations 1000\n";

static const char *add_word(void *target, const char *word)
{
	struct tracer *p = target;

	p->words = cli_realloc(p->words, (p->n_words + 2) * sizeof(*p->words));
	p->words[p->n_words++] = (char *)word;
	p->words[p->n_words] = NULL;
	return NULL;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

static int wrong(const char *message)
{
	cli_message("%s", message);
	return CLI_USAGE;
}

static int check(const struct tracer *p)
{
	const bool is_recorded = p->record || p->connect;
	const unsigned n = (p->n_words > 0) + (p->input != NULL) + (p->listen != NULL);

	if (!n)
		return wrong("no program: give one behind --, or --input or --listen");
	if (n > 1)
		return wrong("one of a program, --input and --listen, not several");
	if (p->record && p->connect)
		return wrong("--record or --connect, not both");
	if (is_recorded && !p->n_words)
		return wrong("--record and --connect need a program to run");
	if (is_recorded && (p->output || p->perfetto || p->has_window || p->setup.archs.names))
		return wrong("--record and --connect only write the trace: results are made by "
			     "--input and --listen");
	if (!p->n_words && trace_setup_has_regions(&p->setup))
		return wrong("--region, --exclude, --from and --until choose while a program "
			     "runs: not of what is recorded");
	if (!p->n_words && (p->setup.program.cpu || p->setup.program.qemu ||
			    p->setup.program.plugin || p->setup.program.no_exec))
		return wrong("nothing is run: --cpu, --no-exec, --qemu and --plugin have no "
			     "meaning");
	return CLI_GOOD;
}

static int write_perfetto(const char *path, const struct trace_samples *samples)
{
	struct text text = {0};
	struct output out;

	if (output_open(&out, path))
		return CLI_FAILED;
	trace_samples_perfetto(samples, &text);
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int write_result(const struct tracer *p, const struct tact_result *result,
			const struct trace_job *job, struct output *out)
{
	struct text text = {0};
	int code = CLI_GOOD;

	if (p->format == FORMAT_CSV)
		trace_print_csv(result, p->by, p->top, &text, out);
	else if (p->format == FORMAT_JSON)
		trace_print_json(result, &text, out);
	else
		trace_print_text(result, p->by, p->top, trace_width(p->output), &text);
	if (job->watch && p->format == FORMAT_TEXT)
		trace_watch_print(job->watch, &text);
	output_write(out, &text);
	text_free(&text);
	if (job->samples)
		code = write_perfetto(p->perfetto, job->samples);
	return code;
}

static int analyse(struct tracer *p)
{
	struct trace_job job = {
		.words = p->words,
		.path = p->input,
		.listen = p->listen,
		.iterations = p->iterations,
		.program_output = p->output ? -1 : STDERR_FILENO,
		.parts = (p->by == BY_LINE || p->format == FORMAT_JSON ? TACT_RESULT_WITH_LINES
								       : 0) |
			 (p->by == BY_INSN ? TACT_RESULT_WITH_INSNS : 0),
	};
	struct tact_result *result;
	struct output out;
	int code, written = CLI_GOOD;

	code = trace_setup_resolve(&p->setup);
	if (code)
		return code;
	if (output_open(&out, p->output))
		return CLI_FAILED;
	if (p->perfetto)
		job.samples = trace_samples_create();
	if (p->has_window)
		job.watch = trace_watch_create(p->watched, p->first, p->last);
	code = trace_analyse(&p->setup, &job, &result);
	if (result)
		written = write_result(p, result, &job, &out);
	if (output_close(&out))
		written = CLI_FAILED;
	tact_result_destroy(result);
	trace_samples_destroy(job.samples);
	trace_watch_destroy(job.watch);
	return code ? code : written;
}

static int run(struct tracer *p)
{
	const struct trace_job job = {.words = p->words, .program_output = -1};

	if (p->format < 0)
		p->format = p->output && ends_in(p->output, ".json") ? FORMAT_JSON : FORMAT_TEXT;
	if (p->record || p->connect)
		return trace_record_to(&p->setup, &job, p->record, p->connect);
	return analyse(p);
}

int cmd_trace(int argc, char **argv)
{
	struct tracer p = {.iterations = 1, .format = -1, .by = BY_FUNCTION};
	const struct option_group groups[] = {
		{"Input", input_specs, &p},
		{"Code", trace_region_specs, &p.setup},
		{"CPU", archlist_option_specs, &p.setup.archs},
		{"Model", trace_model_specs, &p.setup},
		{"Program", program_option_specs, &p.setup.program},
		{"Output", output_specs, &p},
		{"", trace_quiet_specs, &p.setup},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact trace [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
			 "       tact trace [OPTIONS] --input FILE\n"
			 "       tact trace [OPTIONS] --listen HOST:PORT\n"
			 "       tact trace --record FILE | --connect HOST:PORT -- PROGRAM "
			 "[ARGUMENT...]\n",
		.description =
			"Runs a program under QEMU's user mode and says how many cycles it would "
			"take on a CPU, by function, block, source line and instruction, and what "
			"they wait for: its beginning, and samples of the rest, go through a "
			"simulated pipeline.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = add_word,
		.argument_target = &p,
	};
	int status;

	if (options_take(&command, argc, argv, &status) && !(status = check(&p)))
		status = run(&p);
	trace_setup_fini(&p.setup);
	free(p.words);
	return status;
}
