/* SPDX-License-Identifier: MIT
 *
 * tact mix report: options, and the way from a recording to its views.
 */
#include <stdlib.h>

#include "common/page.h"
#include "mixer.h"

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

#define MIXER_FIELD(field, type) .offset = OPTION_FIELD(mixer, field, type)

/* clang-format off: an option stays together */
static const struct option_spec path_specs[] = {
	{.letter = 'i',
	 .name = "input",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 MIXER_FIELD(path, const char *),
	 .help = "a recording of tact or perf, or exact counts (default: perf.data); - is standard "
		 "input"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.name = "cycles",
	 .type = OPTION_FLAG,
	 MIXER_FIELD(cycles, bool),
	 .help = "where the cycles go: executions times predicted cycles of each block, the "
		 "bottleneck, "
		 "and what would be gained if it were gone"},
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 .type = OPTION_CHOICE,
	 .choices = formats,
	 MIXER_FIELD(format, int),
	 .help = "text (default), csv or json (one object)"},
	{.name = "html",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 MIXER_FIELD(html, const char *),
	 .help = "also write the table as a page for a browser, sortable, which needs no network"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 MIXER_FIELD(output, const char *),
	 .help = "write the results there"},
	{.letter = 'q',
	 .name = "quiet",
	 .type = OPTION_FLAG,
	 MIXER_FIELD(is_quiet, bool),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"Executions are those of instructions, estimated; the error is one standard\n"
	"deviation of counting, at most. The first lines say what the recording is\n"
	"worth: the rung of the ladder that the machine offered, and its error.\n\n"
	"Examples:\n"
	"  tact mix report --by extension,packing\n"
	"  tact mix report -i perf.data --by function --filter mnemonic='*div*'\n"
	"  tact mix report --by taxonomy --taxonomy groups.txt\n"
	"  tact mix report --cycles -a SKL --top 20\n";

size_t mixer_rows(const struct mixer *m)
{
	size_t n = tact_mix_pivot_rows(m->pivot);

	return m->table.top && m->table.top < n ? m->table.top : n;
}

static const char *set_path(void *target, const char *value)
{
	struct mixer *m = target;

	if (m->path)
		return "one recording at a time; tact mix diff compares two";
	m->path = value;
	return NULL;
}

static int write_page(const struct mixer *m)
{
	struct text json = {0}, text = {0};
	struct output out;

	if (output_open(&out, m->html))
		return CLI_FAILED;
	mix_json(m, &json);
	page_write(&page_mix, &json, &text);
	text_free(&json);
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int write_table(struct mixer *m, struct text *text)
{
	int status = mixer_pivot(&m->table, m->mix, &m->pivot);

	if (status)
		return status;
	tact_mix_pivot_figures(m->pivot, &m->figures);
	if (m->format == FORMAT_CSV)
		mix_csv(m, text);
	else if (m->format == FORMAT_JSON)
		mix_json(m, text);
	else
		mix_text(m, text);
	return m->html ? write_page(m) : CLI_GOOD;
}

static int write_costs(struct mixer *m, struct text *text)
{
	struct tact_mix_costs *costs;
	struct tact_diag diag = {0};
	int status = archlist_resolve(&m->archs, NULL, m->is_quiet);

	if (status)
		return status;
	if (tact_mix_costs_create(&costs, m->mix, m->archs.arch[0], &diag) < 0) {
		cli_message("%s", diag.text);
		return CLI_FAILED;
	}
	if (m->format == FORMAT_CSV)
		mix_costs_csv(m, costs, text);
	else if (m->format == FORMAT_JSON)
		mix_costs_json(m, costs, text);
	else
		mix_costs_text(m, costs, text);
	tact_mix_costs_destroy(costs);
	return CLI_GOOD;
}

static int run(struct mixer *m)
{
	struct text text = {0};
	struct output out;
	int status;

	if (m->cycles && m->html) {
		cli_message("--html is for the table, not for --cycles");
		return CLI_USAGE;
	}
	status = mixer_open(&m->input, m->path ? m->path : "perf.data", &m->mix);
	if (status)
		return status;
	tact_mix_summarize(m->mix, &m->summary);
	if (!m->is_quiet)
		mix_warn(m);
	status = m->cycles ? write_costs(m, &text) : write_table(m, &text);
	if (!status && output_open(&out, m->output))
		status = CLI_FAILED;
	else if (!status) {
		output_write(&out, &text);
		status = output_close(&out) ? CLI_FAILED : CLI_GOOD;
	}
	text_free(&text);
	return status;
}

int mix_report_main(int argc, char **argv)
{
	struct mixer m = {0};
	const struct option_group groups[] = {
		{"Input", path_specs, &m},
		{"", mixer_input_specs, &m.input},
		{"Table", mixer_table_specs, &m.table},
		{"CPU of --cycles", archlist_option_specs, &m.archs},
		{"Output", output_specs, &m},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact mix report [OPTIONS] [FILE]\n",
		.description =
			"Estimates from a recording how often each basic block ran, and shows what "
			"was "
			"executed, by any properties of instructions and of the code they are in.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = set_path,
		.argument_target = &m,
	};
	int status = options_parse(&command, argc, argv);

	if (status == OPTIONS_HELP)
		return options_print_help(&command);
	status = status == OPTIONS_WRONG ? CLI_USAGE : run(&m);
	tact_mix_pivot_destroy(m.pivot);
	tact_mix_destroy(m.mix);
	mixer_input_fini(&m.input);
	mixer_table_fini(&m.table);
	archlist_fini(&m.archs);
	return status;
}
