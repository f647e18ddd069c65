/* SPDX-License-Identifier: MIT
 *
 * tact mix report: options, and the way from a recording to its views.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/page.h"
#include "common/terminal.h"
#include "mixer.h"

static const char help[] =
	"usage: tact mix report [OPTIONS] [FILE...]\n\n"
	"Estimates from a recording how often each basic block ran, and prints what was executed, "
	"by any properties of the instructions and of the code that they are in. Several "
	"recordings are added up.\n\n"
	"{options}\n\n"
	"Executions are estimates; the error is one standard deviation, of chance and of bias.\n"
	"The first lines tell how far to trust the recording: the rung of the ladder that the\n"
	"machine offered, and its error.\n\n"
	"Examples:\n"
	"  tact mix report --by extension,packing\n"
	"  tact mix report first.data second.data third.data\n"
	"  tact mix report -i perf.data --by function --filter mnemonic='*div*'\n"
	"  tact mix report --by taxonomy --taxonomy groups.txt\n"
	"  tact mix report --by extension --columns packing --values executions,error\n"
	"  tact mix report --by block -f csv -o blocks.csv\n"
	"  tact mix report --cycles -a SKL --top 20\n";

static const char *add_path(void *target, const char *value)
{
	struct mixer *m = target;

	if (m->n == MIXER_MAX_FILES)
		return "too many recordings; at most 64 are added up";
	m->paths[m->n++] = value;
	return NULL;
}

#define OPTION_HOLDER mixer

static const struct option_spec path_specs[] = {
	OPTION_CALL('i', "input", "FILE", add_path,
		    "recording of tact or perf, or counts (default: perf.data); - is "
		    "standard input; may be repeated: executions are added up"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FLAG(0, "cycles", cycles,
		    "print core cycles instead, as 'tact trace --core' counts them: "
		    "of each block, what limits it, and the gain if that were removed"),
	OPTION_TEXT(
		0, "model", "NAME", model,
		"model for --cycles: sim (default), which executes the blocks in an order that the "
		"profile allows; or facile, mca or another name of 'tact predict --model', which "
		"take each block or loop alone"),
	OPTION_FORMAT(format, OPTION_FORMATS | OPTION_STACK_FORMATS,
		      "text (default), csv or json (one object); or for other tools, with the "
		      "properties of --by as frames (default: thread,module,function): folded (a "
		      "line each), flame (a flame graph, SVG), speedscope (JSON) or pprof "
		      "(profile.proto)"),
	OPTION_TEXT(0, "html", "FILE", html,
		    "also write the table as a sortable page for a browser that needs no network"),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Input", path_specs),
	OPTION_GROUP("", mixer_input_specs, input, mixer_input_fini),
	OPTION_GROUP("Table", mixer_table_specs, table, mixer_table_fini),
	OPTION_GROUP("", mixer_cross_specs, table, NULL),
	OPTION_GROUP("CPU of --cycles", archlist_option_specs, archs, archlist_fini),
	OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_path, add_path),
};

static void fini(void *target)
{
	struct mixer *p = target;

	tact_mix_cross_destroy(p->cross);
	tact_mix_pivot_destroy(p->pivot);
	for (size_t i = 0; i < p->n; i++)
		tact_mix_close(p->mixes[i]);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void warn_modules(const struct tact_mix *mix)
{
	struct tact_mix_missing missing = TACT_MIX_MISSING_INIT;

	for (size_t i = 0; !tact_mix_get_missing(mix, i, &missing); i++)
		if (missing.samples)
			cli_message("%s: %s; %" PRIu64 " samples and streams in it are not counted",
				    missing.path, missing.why, missing.samples);
}

/* The library of this machine need not be that of the machine that was recorded. */
static void warn_assumed(const struct tact_mix *mix)
{
	enum { SHOWN = 4 };
	struct tact_mix_missing assumed = TACT_MIX_MISSING_INIT;
	struct text names = {0};
	size_t n = 0;

	for (; !tact_mix_get_assumed(mix, n, &assumed); n++)
		if (n < SHOWN)
			text_printf(&names, "%s%s", n ? ", " : "", assumed.path);
	if (n > SHOWN)
		text_printf(&names, " and %zu more", n - SHOWN);
	if (n)
		cli_message("the recording has no build-id of %s: the file%s of this machine %s "
			    "taken; --file and --root name others",
			    cli_string(&names), plural(n), n == 1 ? "was" : "were");
	text_free(&names);
}

/* A mix of nothing is no answer: says where the code was looked for. */
static int check_mapped(const struct mixer *m, size_t i)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;

	tact_mix_get_summary(m->mixes[i], &s);
	if (tact_mix_block_count(m->mixes[i]) || !s.samples)
		return CLI_GOOD;
	cli_message("%s: none of the %" PRIu64 " samples is in code that could be read; programs "
		    "and libraries were looked for %s%s%sat the recorded paths; --file PATH and "
		    "--root DIR say where they are",
		    m->paths[i], s.samples, m->input.root ? "below " : "",
		    m->input.root ? m->input.root : "", m->input.root ? " and " : "");
	return CLI_FAILED;
}

static int check_all_mapped(const struct mixer *m)
{
	int status = CLI_GOOD;

	for (size_t i = 0; i < m->n && !status; i++)
		status = check_mapped(m, i);
	return status;
}

/* Reports problems of a recording. */
static void warn(const struct mixer *m, const struct tact_mix *mix)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;

	tact_mix_get_summary(mix, &s);
	warn_modules(mix);
	if (s.rung != TACT_MIX_RUNG_EXACT && s.rung != TACT_MIX_RUNG_WINDOWS)
		warn_assumed(mix);
	if (s.unknown_records)
		cli_message("%" PRIu64 " record%s of an unknown type skipped", s.unknown_records,
			    plural(s.unknown_records));
	if (s.bad_records)
		cli_message("%" PRIu64 " malformed record%s skipped", s.bad_records,
			    plural(s.bad_records));
	if (s.lost)
		cli_message("%" PRIu64
			    " sample%s lost while recording: larger buffers or periods help",
			    s.lost, plural(s.lost));
	if (s.is_relative && !m->is_quiet)
		cli_message("the recording has no event for instructions or taken branches: only "
			    "shares mean something");
}

static int to_text(void *arg, const char *data, size_t size)
{
	text_add_bytes(arg, data, size);
	return 0;
}

static void add_table(const struct mixer *m, int format, bool is_page, struct text *out)
{
	const struct tact_mix_report report = {.size = sizeof(report),
					       .summary = &m->summary,
					       .pivot = m->pivot,
					       .format = (enum tact_format)format,
					       .top = m->table.top,
					       .width = terminal_width(m->output),
					       .is_cut = terminal_is_output(m->output),
					       .script = script_flame,
					       .values = m->table.values,
					       .n_values = is_page ? 0 : m->table.n_values,
					       .cross = is_page ? NULL : m->cross};

	if (tact_report_mix(&report, to_text, out) < 0)
		cli_out_of_memory();
}

static int write_page(const struct mixer *m)
{
	struct text json = {0}, text = {0};

	add_table(m, FORMAT_JSON, true, &json);
	page_write(&page_mix, &json, &text);
	text_free(&json);
	return output_all(m->html, &text);
}

static int write_table(struct mixer *m, struct text *text)
{
	int status = mixer_pivot(&m->table, m->mixes, m->n, &m->pivot);

	if (!status)
		status = check_all_mapped(m);
	if (!status && m->table.n_columns)
		status = mixer_cross(&m->table, m->mixes, m->n, &m->cross);
	if (status)
		return status;
	add_table(m, m->format, false, text);
	return m->html ? write_page(m) : CLI_GOOD;
}

static int write_costs_on(struct mixer *m, size_t i, struct text *text)
{
	struct tact_mix_costs_report report = {.size = sizeof(report),
					       .summary = &m->summary,
					       .arch = m->archs.arch[i],
					       .format = (enum tact_format)m->format,
					       .top = m->table.top,
					       .width = terminal_width(m->output),
					       .is_cut = terminal_is_output(m->output),
					       .is_continued = i > 0};
	struct tact_mix_costs *costs;
	struct tact_diag diag = {0};

	if (tact_mix_costs_create_all(&costs, (const struct tact_mix *const *)m->mixes, m->n,
				      report.arch, m->model, &diag) < 0) {
		cli_message("%s", diag.text);
		return CLI_FAILED;
	}
	report.costs = costs;
	if (i && m->format == FORMAT_TEXT)
		text_add(text, "\n");
	if (tact_report_mix_costs(&report, to_text, text) < 0)
		cli_out_of_memory();
	tact_mix_costs_destroy(costs);
	return CLI_GOOD;
}

/* One CPU after the other. */
static int write_costs(struct mixer *m, struct text *text)
{
	int status = archlist_resolve(&m->archs, NULL, m->is_quiet);

	if (!status)
		status = check_all_mapped(m);
	for (size_t i = 0; i < m->archs.n && !status; i++)
		status = write_costs_on(m, i, text);
	return status;
}

/* Opens all recordings and adds up their summaries. */
static int open_all(struct mixer *m)
{
	struct tact_diag diag = {0};
	int status = CLI_GOOD;

	if (!m->n)
		m->paths[m->n++] = "perf.data";
	for (size_t i = 0; i < m->n && !status; i++) {
		status = mixer_open(&m->input, m->paths[i], &m->mixes[i]);
		if (!status && !m->is_quiet)
			warn(m, m->mixes[i]);
	}
	if (status)
		return status;
	m->summary.size = sizeof(m->summary);
	if (tact_mix_get_summary_all((const struct tact_mix *const *)m->mixes, m->n, &m->summary,
				     &diag) < 0) {
		cli_message("%s", diag.text);
		return CLI_FAILED;
	}
	return CLI_GOOD;
}

/* Frames are properties: where code is, unless --by says otherwise. */
static int prepare_stacks(struct mixer *m)
{
	static const enum tact_mix_key keys[] = {TACT_MIX_BY_THREAD, TACT_MIX_BY_MODULE,
						 TACT_MIX_BY_FUNCTION};
	const char *name = option_choice_name(option_formats, m->format);

	if (m->cycles)
		return cli_wrong("-f %s shows executed instructions and does not apply to --cycles",
				 name);
	if (m->format == FORMAT_PPROF && !m->output)
		return cli_wrong("-f pprof is not text: give -o FILE, or -o - for standard output");
	if (!m->table.n_keys) {
		memcpy(m->table.keys, keys, sizeof(keys));
		m->table.n_keys = CLI_ARRAY_SIZE(keys);
	}
	return CLI_GOOD;
}

static int run(void *target)
{
	struct mixer *m = target;
	struct text text = {0};
	int status;

	if (m->cycles && m->html)
		return cli_wrong("--html writes the table and does not apply to --cycles");
	if ((m->table.n_columns || m->table.n_values) && (m->cycles || m->format >= FORMAT_FOLDED))
		return cli_wrong("--columns and --values are for tables of text, csv and json");
	if (m->model && !m->cycles)
		return cli_wrong("--model requires --cycles");
	if (m->format >= FORMAT_FOLDED) {
		status = prepare_stacks(m);
		if (status)
			return status;
	}
	status = open_all(m);
	if (status)
		return status;
	status = m->cycles ? write_costs(m, &text) : write_table(m, &text);
	if (!status)
		return output_all(m->output, &text);
	text_free(&text);
	return status;
}

static const struct option_command command = {help, groups, run, fini};

int mix_report_main(int argc, char **argv)
{
	struct mixer m = {0};

	return option_command_run(&command, &m, argc, argv);
}
