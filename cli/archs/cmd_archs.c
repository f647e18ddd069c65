/* SPDX-License-Identifier: MIT
 *
 * tact archs: the CPUs that there are data for.
 */
#include <string.h>

#include "archs.h"
#include "common/cli.h"
#include "common/options.h"

#define OPTION_HOLDER archs

static const struct option_spec specs[] = {
	OPTION_FLAG(0, "coverage", is_coverage,
		    "report which instructions of the inputs have no data"),
	OPTION_FLAG(
		0, "all", is_all,
		"with --coverage: all instructions without data, not only the most frequent 30"),
	OPTION_FLAG(0, "validate", is_validation, "check the tables and the parameters"),
	OPTION_FORMAT(format, OPTION_BIT(FORMAT_TEXT) | OPTION_BIT(FORMAT_CSV),
		      "text (default) or csv"),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("CPU", archlist_option_specs, list),
	OPTION_GROUP("Input of --coverage", source_option_specs, source),
	OPTION_OWN("Output", specs),
	OPTION_ARGUMENTS(source_add_path, source),
};

static const char help[] =
	"usage: tact archs [OPTIONS] [NAME...]\n"
	"       tact archs --coverage [OPTIONS] INPUT...\n"
	"       tact archs --validate [OPTIONS] [NAME...]\n\n"
	"Lists the CPUs that tact knows, shows all parameters of those that are named, "
	"reports which instructions of some code have no data, or checks the tables. "
	"Without --arch: all of them.\n\n"
	"{options}\n";

static void fini(void *target)
{
	struct archs *p = target;

	source_options_fini(&p->source);
	archlist_fini(&p->list);
}

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
	if (a->list.names)
		return cli_wrong("%s and --arch both name CPUs", a->source.items[0].value);
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

static int run(void *target)
{
	struct archs *a = target;
	struct text names = {0}, text = {0};
	struct output out;
	bool is_one;
	int status = CLI_GOOD;

	if (a->is_coverage && !a->source.n_items)
		return cli_wrong(
			"--coverage: no input: give -x HEX, a file, or - for standard input");
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

static const struct option_command command = {help, groups, run, fini};

int cmd_archs(int argc, char **argv)
{
	struct archs a = {0};

	return option_command_run(&command, &a, argc, argv);
}
