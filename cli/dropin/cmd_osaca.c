/* SPDX-License-Identifier: MIT
 *
 * tact osaca: OSACA's command line and its combined report: pressure of ports, critical path (CP) and
 * loop-carried dependency (LCD) by line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tact/version.h>
#include <tact/view.h>

#include "common/cli.h"
#include "dropin.h"

static const char intro[] =
	"usage: tact osaca [OPTIONS] FILE\n"
	"       osaca [OPTIONS] FILE             as a symbolic link to tact\n\n"
	"Takes OSACA's options and prints its report, with tact's ports, latencies and chains\n"
	"('tact predict').  FILE is assembly text, - standard input.  Names of options may be\n"
	"cut as long as they are unique.\n";

static const char more[] = "\nExamples:\n"
			   "  tact osaca --arch SKX --lines 12-40 kernel.s\n"
			   "  tact osaca --arch v2 --ignore-unknown kernel.s\n\n"
			   "Exit status: 0 success, 1 the code is no good, 2 wrong usage.\n";

struct osaca {
	const char *input, *arch, *syntax, *lines, *graph, *output;
	struct dropin_switch fixed, ignore_unknown;
	bool is_assumed; /* no CPU was named */
};

#define FIELD(f) offsetof(struct osaca, f)

static const struct dropin_option options[] = {
	{.name = "arch",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(arch),
	 .help = "OSACA's name, in any case, or any other CPU (default: SPR or V2, by the text)",
	 .argument = "NAME"},
	{.name = "syntax",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(syntax),
	 .help = "ATT or INTEL (default: told apart by looking)",
	 .argument = "NAME"},
	{.name = "fixed",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(fixed),
	 .help = "spread uops evenly over their ports, not as is best for the block"},
	{.name = "lines",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(lines),
	 .help = "only these lines: 1,2,8-18,20:24",
	 .argument = "LINES"},
	{.name = "ignore-unknown",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(ignore_unknown),
	 .help = "print sums although instructions have no data"},
	{.name = "export-graph",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(graph),
	 .help = "write the dependence graph for Graphviz; '.': to osaca_dg.dot",
	 .argument = "FILE"},
	{.name = "out",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(output),
	 .help = "write the report to FILE",
	 .argument = "FILE"},
	{.name = "o",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(output),
	 .help = "the same",
	 .argument = "FILE"},
	{.name = "lcd-timeout",
	 .kind = DROPIN_INERT_VALUE,
	 .offset = 0,
	 .help = "nothing to do: the search always comes to an end",
	 .argument = "N"},
	{.name = "consider-flag-deps",
	 .kind = DROPIN_INERT,
	 .offset = 0,
	 .help = "nothing to do: flags are always followed"},
	{.name = "f", .kind = DROPIN_INERT, .offset = 0, .help = "the same"},
	{.name = "verbose",
	 .kind = DROPIN_INERT,
	 .offset = 0,
	 .help = "nothing to do: the report is complete"},
	{.name = "v", .kind = DROPIN_INERT, .offset = 0, .help = "the same"},
	{.name = "vv", .kind = DROPIN_INERT, .offset = 0, .help = "the same"},
	{.name = "vvv", .kind = DROPIN_INERT, .offset = 0, .help = "the same"},
	{.name = "yaml-out",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "'tact predict -f json' is what programs read"},
	{.name = "db-check",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "there is no such database; 'tact archs --coverage' checks"},
	{.name = "online",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "nothing is asked of other machines"},
	{.name = "import",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "there is no such database; 'tact insn --measure' measures"},
	{.name = "insert-marker",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "loops are found without; 'tact predict FILE'"},
	{.name = NULL},
};

static const struct dropin_tool tool = {"osaca", "OSACA", intro,     more,
					options, true,	  CLI_USAGE, FIELD(input)};

/* ---- the CPU ---- */

static const char *default_cpu(const char *path)
{
	char text[16384];
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : NULL;
	size_t n = 0;

	if (file) {
		n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[n] = '\0';
	return dropin_osaca_default(text);
}

static const struct tact_arch *find_cpu(struct osaca *o)
{
	o->is_assumed = !o->arch;
	if (!o->arch)
		o->arch = default_cpu(o->input);
	return dropin_arch(dropin_osaca_cpu(o->arch));
}

/* ---- the table ---- */

enum { MOST_PORTS = TACT_MAX_PORTS + 1, LEAST_WIDTH = 4 };

struct row {
	double pressure[MOST_PORTS];
	unsigned used;	/* ports that it may use, as bits of `port` */
	double cp, lcd; /* -1: it is on neither */
	const char *flags;
};

struct report {
	const struct osaca *o;
	const struct dropin_code *code;
	const struct dropin_region *region;
	const struct dropin_run *run;
	struct row *rows; /* owned */
	double cp, lcd;
	unsigned n;	      /* ports */
	int port[MOST_PORTS]; /* -1: the divider, 0DV */
	char name[MOST_PORTS][8];
	int width[MOST_PORTS];
	size_t missing;
};

static void find_ports(struct report *r)
{
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (!(tact_arch_ports(r->run->arch) >> p & 1))
			continue;
		r->port[r->n] = (int)p;
		snprintf(r->name[r->n++], sizeof(r->name[0]), "%u", p);
		if (!p && !tact_arch_is_llvm(r->run->arch)) {
			r->port[r->n] = -1;
			snprintf(r->name[r->n++], sizeof(r->name[0]), "0DV");
		}
	}
}

static void fill_row(struct report *r, size_t i)
{
	const struct tact_insn_cost *cost = &r->run->costs[i];
	struct row *row = &r->rows[i];
	bool is_bound = false;

	*row = (struct row){.cp = -1, .lcd = -1, .flags = " "};
	for (unsigned k = 0; k < r->n; k++) {
		char text[32];
		int width;

		row->pressure[k] = r->port[k] < 0 ? cost->divider
				   : r->o->fixed.on
					   ? dropin_even_pressure(r->run, i, (unsigned)r->port[k])
					   : cost->port[r->port[k]];
		is_bound |= row->pressure[k] > 0;
		width = snprintf(text, sizeof(text), "%.2f", row->pressure[k]);
		r->width[k] = width > r->width[k] ? width : r->width[k];
	}
	if (cost->notes & TACT_NOTE_UNKNOWN) {
		row->flags = "X";
		r->missing++;
	} else if (!is_bound && !(cost->notes & TACT_NOTE_FUSED_PREV)) {
		row->flags = "*";
	}
}

static void fill_chains(struct report *r)
{
	struct tact_chain chain = TACT_CHAIN_INIT;

	if (tact_explain_pass(r->run->block, &chain) >= 0) {
		r->cp = chain.latency;
		for (size_t k = 0; k < chain.n_links; k++)
			r->rows[chain.links[k].insn].cp = chain.links[k].latency;
	}
	if (tact_explain_chain(r->run->block, &chain) >= 0) {
		r->lcd = chain.cycles_per_iteration;
		for (size_t k = 0; k < chain.n_links; k++) {
			struct row *row = &r->rows[chain.links[k].insn];

			row->lcd = (row->lcd < 0 ? 0 : row->lcd) +
				   (double)chain.links[k].latency / chain.iterations;
		}
	}
}

/* "0.50" in four characters, "12.0" in as many. */
static void add_pressure(const struct report *r, unsigned k, double value, struct text *out)
{
	char whole[32];
	const int left = snprintf(whole, sizeof(whole), "%d", (int)value);
	const int decimals = r->width[k] - left - 1;

	text_printf(out, "%.*f", decimals > 0 ? decimals : 0, value);
}

/* Numbers of one unit and its parts have no line between them: 0 - 0DV. */
static const char *separator(const struct report *r, unsigned k, const char *within,
			     const char *between)
{
	return k + 1 < r->n && r->port[k + 1] < 0 ? within : between;
}

static void add_pressures(const struct report *r, const double *pressure, const char *between,
			  struct text *out)
{
	text_printf(out, "%s ", between);
	for (unsigned k = 0; k < r->n; k++) {
		if (pressure[k] > 0)
			add_pressure(r, k, pressure[k], out);
		else
			text_printf(out, "%*s", r->width[k], "");
		text_printf(out, " %s%s", separator(r, k, " ", between), k + 1 < r->n ? " " : "");
	}
}

static void centre(struct text *out, const char *text, size_t width)
{
	const size_t length = strlen(text), left = length < width ? (width - length) / 2 : 0;

	text_printf(out, "%*s%s", (int)left, "", text);
	for (size_t i = left + length; i < width; i++)
		text_add(out, " ");
}

static void add_head(const struct report *r, struct text *out)
{
	struct text line = {0};

	text_add(&line, "     |");
	for (unsigned k = 0; k < r->n; k++) {
		centre(&line, r->name[k], (size_t)r->width[k] + 2);
		text_add(&line, separator(r, k, "-", "|"));
	}
	text_add(&line, "|  CP  | LCD  |");
	text_add(out, "\n\nCombined Analysis Report\n------------------------\n");
	centre(out, "Port pressure in cycles", line.size);
	text_printf(out, "\n%s\n", cli_string(&line));
	for (size_t i = 0; i < line.size; i++)
		text_add(out, "-");
	text_add(out, "\n");
	text_free(&line);
}

static void add_latency(double value, struct text *out)
{
	char text[32] = "";

	if (value >= 0)
		snprintf(text, sizeof(text), "%.1f", value);
	text_printf(out, " %4s |", text);
}

static void add_source(const char *p, size_t size, struct text *out)
{
	while (size && strchr(" \t\r", p[size - 1]))
		size--;
	while (size && strchr(" \t", *p)) {
		p++;
		size--;
	}
	for (; size; size--, p++)
		text_add_bytes(out, *p == '\t' ? " " : p, 1);
	text_add(out, "\n");
}

static void add_row(const struct report *r, uint64_t line, const struct row *row, struct text *out)
{
	text_printf(out, "%4llu ", (unsigned long long)line);
	add_pressures(r, row->pressure, "|", out);
	text_add(out, "|");
	add_latency(row->cp, out);
	add_latency(row->lcd, out);
	text_printf(out, " %s ", row->flags);
}

/* Labels, directives and comments between instructions. */
static void add_others(const struct report *r, uint64_t from, uint64_t to, struct text *out)
{
	const struct row none = {.cp = -1, .lcd = -1, .flags = " "};

	for (uint64_t line = from; line < to; line++) {
		size_t size;
		const char *p = dropin_line(r->code, line, &size);
		size_t blanks = 0;

		while (blanks < size && strchr(" \t\r", p[blanks]))
			blanks++;
		if (blanks == size)
			continue;
		add_row(r, line, &none, out);
		add_source(p, size, out);
	}
}

static uint64_t line_of(const struct report *r, size_t i)
{
	return r->region->insns[i].line ? r->region->insns[i].line : i + 1;
}

/* The first of the lines right above an instruction that are labels or blank. */
static uint64_t labels_above(const struct report *r, uint64_t line)
{
	uint64_t first = line;

	while (--line) {
		size_t size, blanks = 0;
		const char *p = dropin_line(r->code, line, &size);

		while (size && strchr(" \t\r", p[size - 1]))
			size--;
		while (blanks < size && strchr(" \t", p[blanks]))
			blanks++;
		if (blanks < size && (p[size - 1] != ':' || strchr("#/*;", p[blanks])))
			break;
		first = line;
	}
	return first;
}

static void add_rows(const struct report *r, struct text *out)
{
	uint64_t last = r->region->n_insns && r->region->insns[0].line
				? labels_above(r, r->region->insns[0].line) - 1
				: 0;

	for (size_t i = 0; i < r->run->n && i < r->region->n_insns; i++) {
		const struct dropin_insn *insn = &r->region->insns[i];
		size_t size;
		const char *p;

		if (insn->line && insn->line > last)
			add_others(r, last + 1, insn->line, out);
		add_row(r, line_of(r, i), &r->rows[i], out);
		if (insn->line && insn->line != last) {
			p = dropin_line(r->code, insn->line, &size);
			add_source(p, size, out);
		} else {
			add_source(insn->text, strlen(insn->text), out);
		}
		last = insn->line;
	}
	text_add(out, "\n");
}

static void add_missing(const struct report *r, struct text *out)
{
	text_printf(out,
		    "------------------ WARNING: The performance data for %zu instructions is "
		    "missing.------------------\n"
		    "                     No sums are given.  --ignore-unknown gives them: lower\n"
		    "                     bounds, where each such instruction is one uop.\n"
		    "----------------------------------------------------------------------------"
		    "--------------------\n",
		    r->missing);
}

static void add_sums(const struct report *r, struct text *out)
{
	double sum[MOST_PORTS] = {0};

	for (size_t i = 0; i < r->run->n; i++)
		for (unsigned k = 0; k < r->n; k++)
			sum[k] += r->rows[i].pressure[k];
	text_add(out, "     ");
	add_pressures(r, sum, " ", out);
	text_printf(out, " %5.1f  %5.1f  \n", r->cp, r->lcd);
}

static void add_chain(const struct report *r, struct text *out)
{
	struct tact_chain chain = TACT_CHAIN_INIT;

	text_add(out, "\n\n\n\nLoop-Carried Dependencies Analysis Report\n"
		      "-----------------------------------------\n");
	if (tact_explain_chain(r->run->block, &chain) < 0 || !chain.n_links)
		return;
	text_printf(out, "%4llu | %4.1f | %-36s| [",
		    (unsigned long long)line_of(r, chain.links[0].insn), chain.cycles_per_iteration,
		    r->region->insns[chain.links[0].insn].text);
	for (size_t i = 0, n = 0; i < r->run->n; i++)
		if (r->rows[i].lcd >= 0)
			text_printf(out, "%s%llu", n++ ? ", " : "",
				    (unsigned long long)line_of(r, i));
	text_add(out, "]\n");
}

static const char rule[] =
	"-----------------------------------------------------------------------------------------"
	"--------\n";

static void add_intro(const struct report *r, struct text *out)
{
	char name[16];
	size_t i;

	snprintf(name, sizeof(name), "%s", r->o->arch);
	for (i = 0; name[i]; i++)
		name[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
	text_printf(out,
		    "Open Source Architecture Code Analyzer (OSACA) - tact %d.%d.%d\n"
		    "Analyzed file:      %s\nArchitecture:       %s\n"
		    "Timestamp:          none: the same input gives the same output\n\n",
		    TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH, r->o->input, name);
	if (r->o->is_assumed)
		text_printf(
			out,
			"-------------------------- WARNING: No micro-architecture was specified "
			"-------------------------\n"
			"         %s is taken, by the text.  --arch names another one.\n%s",
			name, rule);
	if (r->run->n > 100 && !r->o->lines)
		text_printf(
			out,
			"----------------- WARNING: You are analyzing a large amount of "
			"instruction forms ----------------\n"
			"         Loops are what makes sense: --lines or markers choose one.\n%s",
			rule);
	text_add(out, "\n * - Instruction micro-ops not bound to a port\n"
		      " X - No throughput/latency information for this instruction in data file\n");
}

static int write_graph(const struct report *r)
{
	const struct tact_view view = {.size = sizeof(view),
				       .block = r->run->block,
				       .arch = r->run->arch,
				       .prediction = &r->run->bounds};
	struct text out = {0};
	char *text;
	size_t size;

	if (!r->o->graph)
		return CLI_GOOD;
	if (tact_view_make(&view, TACT_VIEW_GRAPH_DOT, &text, &size) < 0)
		return CLI_FAILED;
	text_add_bytes(&out, text, size);
	free(text);
	return output_all(strcmp(r->o->graph, ".") ? r->o->graph : "osaca_dg.dot", &out);
}

static int add_region(const struct osaca *o, const struct dropin_code *code,
		      struct dropin_region *region, const struct tact_arch *arch, struct text *out)
{
	const struct dropin_run_options opt = {.arch = arch, .alignment = -1, .is_static = true};
	struct dropin_run run;
	struct report r = {.o = o, .code = code, .region = region, .run = &run};
	int status = dropin_run(&run, region, &opt);

	if (!status) {
		r.rows = cli_alloc(run.n * sizeof(*r.rows));
		find_ports(&r);
		for (unsigned k = 0; k < r.n; k++)
			r.width[k] = LEAST_WIDTH;
		for (size_t i = 0; i < run.n; i++)
			fill_row(&r, i);
		fill_chains(&r);
		add_intro(&r, out);
		add_head(&r, out);
		add_rows(&r, out);
		if (r.missing && !o->ignore_unknown.on)
			add_missing(&r, out);
		else
			add_sums(&r, out);
		add_chain(&r, out);
		status = write_graph(&r);
		free(r.rows);
	}
	dropin_run_fini(&run);
	return status;
}

static int run(struct osaca *o)
{
	const struct tact_arch *arch;
	struct dropin_load load = {.path = o->input, .lines = o->lines};
	struct text out = {0};
	struct dropin_code code;
	int status;

	if (!o->input)
		return cli_wrong("osaca: there is no input");
	if (o->syntax && strcasecmp(o->syntax, "ATT") && strcasecmp(o->syntax, "INTEL"))
		return cli_wrong("osaca: --syntax: '%s' is neither ATT nor INTEL", o->syntax);
	arch = find_cpu(o);
	if (!arch)
		return CLI_USAGE;
	load.isa = tact_arch_isa(arch);
	load.syntax = !o->syntax		     ? TACT_SYNTAX_AUTO
		      : strcasecmp(o->syntax, "ATT") ? TACT_SYNTAX_INTEL
						     : TACT_SYNTAX_ATT;
	status = dropin_load(&code, &load);
	for (size_t i = 0; i < code.n_regions && !status; i++)
		status = add_region(o, &code, &code.regions[i], arch, &out);
	dropin_code_fini(&code);
	if (!status)
		return output_all(o->output, &out);
	text_free(&out);
	return status;
}

int cmd_osaca(int argc, char **argv)
{
	struct osaca o = {.input = NULL};
	const int status = dropin_parse(&tool, &o, argc, argv);

	return status == DROPIN_GO_ON ? run(&o) : status;
}
