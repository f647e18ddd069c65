/* SPDX-License-Identifier: MIT
 *
 * tact archs: the CPUs that tact has data for.
 */
#include <stdio.h>
#include <string.h>

#include "archs.h"
#include "base/tabular.h"
#include "common/cli.h"
#include "common/options.h"
#include "common/terminal.h"

static const char help[] =
	"usage: tact archs [OPTIONS] [NAME...]\n"
	"       tact archs --coverage [OPTIONS] INPUT...\n"
	"       tact archs --validate [OPTIONS] [NAME...]\n\n"
	"Lists the microarchitectures that tact knows, prints all parameters of those that are "
	"named and where each value comes from, reports which instructions of some code have no "
	"data, or checks the tables. The default is all microarchitectures.\n\n"
	"{options}\n";

#define OPTION_HOLDER archs

static const struct option_spec specs[] = {
	OPTION_FLAG(0, "coverage", is_coverage,
		    "report the instructions of the inputs that have no data"),
	OPTION_FLAG(0, "all", is_all,
		    "with --coverage: list all instructions without data, not only the 30 most "
		    "frequent"),
	OPTION_FLAG(0, "validate", is_validation, "check the tables and the parameters"),
	OPTION_RESULTS(OPTION_FORMAT_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("CPU", archlist_option_specs, list, archlist_fini),
	OPTION_GROUP("Input of --coverage", source_option_specs, source, source_options_fini),
	OPTION_OWN("Output", specs),
	OPTION_ARGUMENTS(source_add_path, source),
};

enum { MANY_PORTS = 10 /* more do not fit the column */ };

struct table archs_table(const struct archs *a, const struct column *columns, size_t n,
			 const char *kind, struct text *out)
{
	return (struct table){.columns = columns,
			      .n_columns = n,
			      .format = a->format,
			      .out = out,
			      .screen = terminal_width(a->output),
			      .is_cut = terminal_is_output(a->output),
			      .schema = "tact.archs/1",
			      .kind = kind};
}

/* ---- the list ---- */

static struct cell get_name(const struct cell_at *at)
{
	return cell_string(tact_arch_name(at->row));
}

static struct cell get_llvm_name(const struct cell_at *at)
{
	return cell_string(tact_arch_llvm_name(at->row));
}

static struct cell get_full_name(const struct cell_at *at)
{
	return cell_string(tact_arch_full_name(at->row));
}

static struct cell get_issue_width(const struct cell_at *at)
{
	return cell_count(archlist_param(at->row, "issue_width"));
}

static struct cell get_forms(const struct cell_at *at)
{
	return cell_count(tact_arch_form_count(at->row));
}

static struct cell get_ports(const struct cell_at *at)
{
	unsigned ports = tact_arch_ports(at->row);
	char text[4 * TACT_MAX_PORTS];
	size_t n = 0;

	if (at->table->format == FORMAT_TEXT && __builtin_popcount(ports) > MANY_PORTS)
		return cell_printf(at->table, "0-%d", 31 - __builtin_clz(ports));
	for (; ports; ports &= ports - 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", n ? " " : "",
				      __builtin_ctz(ports));
	return cell_printf(at->table, "%s", text);
}

static struct cell get_aliases(const struct cell_at *at)
{
	char text[512];

	tact_arch_aliases(at->row, text, sizeof(text));
	return cell_printf(at->table, "%s", text);
}

/* "yes", or the CPU on which it was. */
static struct cell get_verified(const struct cell_at *at)
{
	const char *on = tact_arch_verified_on(at->row);

	return cell_string(tact_arch_is_verified(at->row) ? "yes" : *on ? on : "no");
}

static struct cell get_is_verified(const struct cell_at *at)
{
	return cell_bool(tact_arch_is_verified(at->row));
}

static struct cell get_verified_on(const struct cell_at *at)
{
	return cell_string(tact_arch_verified_on(at->row));
}

static struct cell get_verified_by(const struct cell_at *at)
{
	return cell_string(tact_arch_verified_by(at->row));
}

static struct cell get_port_names(const struct cell_at *at)
{
	return cell_string(tact_arch_port_names(at->row));
}

/* CSV and JSON have the full name first. */
static const struct column list_columns[] = {
	{"Name", "name", .get = get_name, .width = 4},
	{"LLVM's name", "llvm_name", .get = get_llvm_name, .width = 14, .rank = 2},
	{NULL, "full_name", .get = get_full_name},
	{NULL, "ports", .get = get_ports},
	{"Issue", "issue_width", .get = get_issue_width, .width = 5, .flags = COLUMN_RIGHT,
	 .rank = 3},
	{"Ports", NULL, .get = get_ports, .width = 20, .rank = 1},
	{"Forms", "forms", .get = get_forms, .width = 5, .flags = COLUMN_RIGHT, .rank = 4},
	{"Verified", NULL, .get = get_verified, .width = 8},
	{"CPU", NULL, .get = get_full_name, .least = 36},
	{NULL, "aliases", .get = get_aliases},
	{NULL, "port_names", .get = get_port_names},
	{NULL, "verified", .get = get_is_verified},
	{NULL, "verified_on", .get = get_verified_on},
	{NULL, "verified_by", .get = get_verified_by},
};

/* Says once what several CPUs in a row have in common. */
static void add_port_names(const struct archs *a, struct text *out)
{
	const struct archlist *l = &a->list;

	text_add(out, "\nPorts:\n");
	for (size_t i = 0, end; i < l->n; i = end) {
		const char *names = tact_arch_port_names(l->arch[i]);
		size_t start = out->size;

		for (end = i + 1; end < l->n; end++)
			if (strcmp(tact_arch_port_names(l->arch[end]), names) != 0)
				break;
		text_printf(out, "  %s", tact_arch_name(l->arch[i]));
		if (end - i > 1)
			text_printf(out, " to %s", tact_arch_name(l->arch[end - 1]));
		text_pad(out, 15, start);
		text_add(out, " ");
		text_wrap(out, names, 16, start);
	}
}

static void add_aliases(const struct archs *a, struct text *out)
{
	text_add(out, "\nOther names that -a takes, apart from products such as i7-8700K or "
		      "EPYC 9654:\n");
	for (size_t i = 0; i < a->list.n; i++) {
		const size_t start = out->size;
		char text[512];

		if (!tact_arch_aliases(a->list.arch[i], text, sizeof(text)))
			continue;
		text_printf(out, "  %s", tact_arch_name(a->list.arch[i]));
		text_pad(out, 14, start);
		text_wrap(out, text, 14, start);
	}
}

/* CPUs of which LLVM has a model, by instruction set. */
static void add_llvm(struct text *out)
{
	struct tact_diag diag = {0};
	size_t start;

	text_add(out, "\nCPUs of which LLVM has a model; nothing of these was measured here:\n");
	start = out->size;
	if (tact_arch_llvm_check(&diag) < 0) {
		text_add(out, "  ");
		text_wrap(out, diag.text, 2, start);
		return;
	}
	for (const struct tact_isa *isa = NULL; (isa = tact_isa_next(isa));) {
		struct text names = {0};
		char name[64];

		start = out->size;
		for (size_t i = 0; tact_arch_llvm_cpu_at(isa, i, name, sizeof(name)); i++)
			text_printf(&names, "%s%s", i ? " " : "", name);
		if (names.size) {
			text_printf(out, "  %s", tact_isa_title(isa));
			text_pad(out, 14, start);
			text_wrap(out, cli_string(&names), 14, start);
		}
		text_free(&names);
	}
}

static void list(const struct archs *a, struct text *out)
{
	struct table table = archs_table(a, list_columns, CLI_ARRAY_SIZE(list_columns), "cpu", out);

	for (size_t i = 0; i < a->list.n; i++)
		table_fit(&table, a->list.arch[i]);
	table_header(&table);
	for (size_t i = 0; i < a->list.n; i++)
		table_row(&table, a->list.arch[i]);
	table_fini(&table);
	if (a->format != FORMAT_TEXT)
		return;
	add_port_names(a, out);
	add_aliases(a, out);
	if (!a->list.names)
		add_llvm(out);
}

/* ---- validation ---- */

struct verdict {
	const char *arch;
	int faults;
	struct tact_diag diag;
};

static const struct column verdict_columns[] = {
	{NULL, "arch", COLUMN_FIELD(struct verdict, arch, STRING)},
	{NULL, "faults", COLUMN_FIELD(struct verdict, faults, INT)},
	{NULL, "first", COLUMN_FIELD(struct verdict, diag.text, CHARS)},
};

static int validate(const struct archs *a, struct text *out)
{
	struct table table =
		archs_table(a, verdict_columns, CLI_ARRAY_SIZE(verdict_columns), "validation", out);
	int status = CLI_GOOD;

	if (a->format)
		table_header(&table);
	for (size_t i = 0; i < a->list.n; i++) {
		struct verdict v = {.arch = tact_arch_name(a->list.arch[i])};

		v.faults = tact_arch_validate(a->list.arch[i], &v.diag);
		if (v.faults)
			status = CLI_FAILED;
		if (a->format)
			table_row(&table, &v);
		else if (v.faults)
			text_printf(out, "%-4s  %d fault%s; one is: %s\n", v.arch, v.faults,
				    v.faults == 1 ? "" : "s", v.diag.text);
		else
			text_printf(out, "%-4s  good\n", v.arch);
	}
	table_fini(&table);
	return status;
}

/* Names on the command line mean the same as --arch. */
static int take_names(struct archs *a, struct text *names)
{
	for (size_t i = 0; i < a->source.n_items; i++)
		text_printf(names, "%s%s", i ? "," : "", a->source.items[i].value);
	if (!a->source.n_items)
		return CLI_GOOD;
	if (a->list.names)
		return cli_wrong(
			"give microarchitectures as arguments (%s) or with --arch, not both",
			a->source.items[0].value);
	a->list.names = cli_string(names);
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
	archs_show(a, out);
	return CLI_GOOD;
}

static int run(void *target)
{
	struct archs *a = target;
	struct text names = {0}, text = {0};
	struct output out;
	bool is_one;
	int status = CLI_GOOD;

	if (a->is_coverage && !source_has_input(&a->source))
		return cli_wrong(
			"--coverage: no input: give -x HEX, a file, or - for standard input");
	if (!a->is_coverage)
		status = take_names(a, &names);
	a->list.is_any_set = !a->is_coverage;
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

static const struct option_command command = {help, groups, run, NULL};

int cmd_archs(int argc, char **argv)
{
	struct archs a = {0};

	return option_command_run(&command, &a, argc, argv);
}
