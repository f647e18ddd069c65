/* SPDX-License-Identifier: MIT
 *
 * tact archs: the CPUs that there are data for.
 */
#include <string.h>

#include "archs.h"
#include "common/cli.h"
#include "common/options.h"

static const struct option_choice formats[] = {{"text", 0}, {"csv", 1}, {NULL, 0}};

/* clang-format off: an option stays together */
static const struct option_spec specs[] = {
	{.name = "coverage",
	 .type = OPTION_FLAG,
	 .offset = OPTION_FIELD(archs, is_coverage, bool),
	 .help = "report which instructions of the inputs have no data"},
	{.name = "all",
	 .type = OPTION_FLAG,
	 .offset = OPTION_FIELD(archs, is_all, bool),
	 .help = "with --coverage: all instructions without data, not only the most frequent 30"},
	{.name = "validate",
	 .type = OPTION_FLAG,
	 .offset = OPTION_FIELD(archs, is_validation, bool),
	 .help = "check the tables and the parameters"},
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 .type = OPTION_CHOICE,
	 .choices = formats,
	 .offset = OPTION_FIELD(archs, format, int),
	 .help = "text (default) or csv"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 .offset = OPTION_FIELD(archs, output, const char *),
	 .help = "write the results there"},
	{.letter = 'q',
	 .name = "quiet",
	 .type = OPTION_FLAG,
	 .offset = OPTION_FIELD(archs, is_quiet, bool),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};
/* clang-format on */

enum { MANY_PORTS = 10 /* more do not fit the column */ };

static void add_ports(struct text *out, unsigned ports)
{
	for (bool first = true; ports; ports &= ports - 1, first = false)
		text_printf(out, "%s%d", first ? "" : " ", __builtin_ctz(ports));
}

static void list(const struct archs *a, struct text *out)
{
	text_add(out, a->format ? "name,llvm_name,full_name,ports,issue_width,forms\n"
				: "Name  LLVM's name     Issue  Ports                Forms  CPU\n");
	for (size_t i = 0; i < a->list.n; i++) {
		const struct tact_arch *arch = a->list.arch[i];
		size_t start = out->size;

		if (a->format) {
			text_printf(out, "%s,%s,%s,", tact_arch_name(arch),
				    tact_arch_llvm_name(arch), tact_arch_full_name(arch));
			add_ports(out, tact_arch_ports(arch));
			text_printf(out, ",%u,%u\n", archlist_param(arch, "issue_width"),
				    tact_arch_form_count(arch));
			continue;
		}
		text_printf(out, "%-4s  %-14s  %5u  ", tact_arch_name(arch),
			    tact_arch_llvm_name(arch), archlist_param(arch, "issue_width"));
		if (__builtin_popcount(tact_arch_ports(arch)) > MANY_PORTS)
			text_printf(out, "0-%d", 31 - __builtin_clz(tact_arch_ports(arch)));
		else
			add_ports(out, tact_arch_ports(arch));
		text_pad(out, 49, start);
		text_printf(out, "%7u  %s\n", tact_arch_form_count(arch),
			    tact_arch_full_name(arch));
	}
}

static void show(const struct archs *a, const struct tact_arch *arch, struct text *out)
{
	struct tact_param param;

	if (a->format)
		text_add(out, "arch,parameter,value,explanation\n");
	else
		text_printf(out, "# %s: %s, LLVM's %s; %u instruction forms\n",
			    tact_arch_name(arch), tact_arch_full_name(arch),
			    tact_arch_llvm_name(arch), tact_arch_form_count(arch));
	for (size_t i = 0; tact_arch_param(arch, i, &param); i++) {
		size_t start = out->size;

		if (a->format) {
			text_printf(out, "%s,%s,", tact_arch_name(arch), param.name);
			text_csv_field(out, param.value, strlen(param.value), false);
			text_add(out, ",");
			text_csv_field(out, param.help, strlen(param.help), false);
			text_add(out, "\n");
			continue;
		}
		/* In the form that --params reads. */
		text_printf(out, "%s = %s", param.name, param.value);
		text_pad(out, 30, start);
		text_printf(out, "  # %s\n", param.help);
	}
}

static int validate(const struct archs *a, struct text *out)
{
	int status = CLI_GOOD;

	if (a->format)
		text_add(out, "arch,faults,first\n");
	for (size_t i = 0; i < a->list.n; i++) {
		struct tact_diag diag = {0};
		int faults = tact_arch_validate(a->list.arch[i], &diag);
		const char *name = tact_arch_name(a->list.arch[i]);

		if (faults)
			status = CLI_FAILED;
		if (a->format) {
			text_printf(out, "%s,%d,", name, faults);
			text_csv_field(out, diag.text, strlen(diag.text), false);
			text_add(out, "\n");
		} else if (faults) {
			text_printf(out, "%-4s  %d fault%s; one is: %s\n", name, faults,
				    faults == 1 ? "" : "s", diag.text);
		} else {
			text_printf(out, "%-4s  good\n", name);
		}
	}
	return status;
}

/* Names on the command line mean the same as --arch. */
static int take_names(struct archs *a, struct text *names)
{
	for (size_t i = 0; i < a->source.n_items; i++)
		text_printf(names, "%s%s", i ? "," : "", a->source.items[i].value);
	text_add_bytes(names, "", 1);
	if (!a->source.n_items)
		return CLI_GOOD;
	if (a->list.names) {
		cli_message("%s and --arch both name CPUs", a->source.items[0].value);
		return CLI_USAGE;
	}
	a->list.names = names->data;
	return CLI_GOOD;
}

static int report(struct archs *a, bool is_one, struct text *out)
{
	if (a->is_coverage)
		return archs_coverage(a, out);
	if (a->is_validation)
		return validate(a, out);
	if (!is_one && !a->list.params) {
		list(a, out);
		return CLI_GOOD;
	}
	for (size_t i = 0; i < a->list.n; i++)
		show(a, a->list.arch[i], out);
	return CLI_GOOD;
}

static int run(struct archs *a)
{
	struct text names = {0}, text = {0};
	struct output out;
	bool is_one;
	int status = CLI_GOOD;

	if (a->is_coverage && !a->source.n_items) {
		cli_message("--coverage: no input: give -x HEX, a file, or - for standard input");
		return CLI_USAGE;
	}
	if (!a->is_coverage)
		status = take_names(a, &names);
	is_one = a->list.names && strcmp(a->list.names, "all");
	if (!status)
		status = archlist_resolve(&a->list, "all", a->is_quiet);
	if (!status && output_open(&out, a->output))
		status = CLI_FAILED;
	if (!status) {
		status = report(a, is_one, &text);
		output_write(&out, &text);
		if (output_close(&out) && !status)
			status = CLI_FAILED;
	}
	text_free(&text);
	text_free(&names);
	return status;
}

int cmd_archs(int argc, char **argv)
{
	struct archs a = {0};
	const struct option_group groups[] = {
		{"CPU", archlist_option_specs, &a.list},
		{"Input of --coverage", source_option_specs, &a.source},
		{"Output", specs, &a},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact archs [OPTIONS] [NAME...]\n"
			 "       tact archs --coverage [OPTIONS] INPUT...\n"
			 "       tact archs --validate [OPTIONS] [NAME...]\n",
		.description = "Lists the CPUs that tact knows, shows all parameters of those that "
			       "are named, reports which instructions of some code have no data, "
			       "or checks the tables. Without --arch: all of them.",
		.groups = groups,
		.argument = source_add_path,
		.argument_target = &a.source,
	};
	int status;

	if (options_take(&command, argc, argv, &status))
		status = run(&a);
	source_options_fini(&a.source);
	archlist_fini(&a.list);
	return status;
}
