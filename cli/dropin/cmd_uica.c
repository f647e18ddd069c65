/* SPDX-License-Identifier: MIT
 *
 * tact uica: uiCA's command line, its report and its table of uops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/view.h>

#include "common/cli.h"
#include "common/page.h"
#include "dropin.h"
#include "uica_front.h"

static const char intro[] =
	"usage: tact uica [OPTIONS] FILE\n"
	"       uiCA.py [OPTIONS] FILE           as a symbolic link to tact\n\n"
	"Takes uiCA's options and prints its report and its table, with the numbers of tact's\n"
	"pipeline ('tact simulate').  FILE is an object file, raw code, or assembly text.  Names\n"
	"of options may be cut as long as they are unique.\n";

static const char more[] =
	"\nExamples:\n"
	"  as test.asm -o test.o && tact uica test.o -arch SKL\n"
	"  tact uica test.o -arch all\n\n"
	"Exit status: 0 success, 1 the code or the CPU is no good, 2 wrong usage.\n";

struct uica {
	const char *input, *arch, *trace, *graph, *dep_graph, *alignment, *init;
	struct dropin_switch markers, raw, tp_only;
	unsigned min_iterations;
};

#define FIELD(f) offsetof(struct uica, f)

static const struct dropin_option options[] = {
	{.name = "arch",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(arch),
	 .help = "SNB, IVB, HSW, BDW, SKL, SKX, KBL, CFL, CLX, ICL, TGL, RKL, any other CPU of "
		 "tact's, or all of these twelve (default)",
	 .argument = "NAME"},
	{.name = "iacaMarkers",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(markers),
	 .help = "only code between markers; without any it fails (default: if there are any)"},
	{.name = "raw",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(raw),
	 .help = "FILE is mere machine code"},
	{.name = "trace",
	 .kind = DROPIN_MAYBE,
	 .offset = FIELD(trace),
	 .help = "write the page of 'tact simulate --html'",
	 .argument = "FILE",
	 .otherwise = "trace.html"},
	{.name = "graph",
	 .kind = DROPIN_MAYBE,
	 .offset = FIELD(graph),
	 .help = "write the same page",
	 .argument = "FILE",
	 .otherwise = "graph.html"},
	{.name = "depGraph",
	 .kind = DROPIN_MAYBE,
	 .offset = FIELD(dep_graph),
	 .help = "write the dependence graph: .svg or .dot",
	 .argument = "FILE",
	 .otherwise = "dep.svg"},
	{.name = "TPonly",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(tp_only),
	 .help = "print the throughput only"},
	{.name = "alignmentOffset",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(alignment),
	 .help = "place in a cache line, 0 to 63, or all",
	 .argument = "N"},
	{.name = "minIterations",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(min_iterations),
	 .help = "simulate so many at least (default: 10)"},
	{.name = "minCycles",
	 .kind = DROPIN_INERT_VALUE,
	 .offset = 0,
	 .help = "nothing to do: the steady state is found whenever it comes",
	 .argument = "N"},
	{.name = "initPolicy",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(init),
	 .help = "diff (default), same or stack",
	 .argument = "HOW"},
	{.name = "json",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "'tact simulate -f json --timeline' has events in its own schema"},
	{.name = "simpleFrontEnd",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "'tact predict --without' leaves components out"},
	{.name = "noMicroFusion",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "fusion is part of the tables of a CPU"},
	{.name = "noMacroFusion",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "fusion is part of the tables of a CPU"},
	{.name = NULL},
};

static const struct dropin_tool tool = {"uica",	 "uiCA", intro,	    more,
					options, true,	 CLI_USAGE, FIELD(input)};

/* uiCA's -arch all. */
static const char *const all_cpus[] = {"BDW", "CFL", "CLX", "HSW", "ICL", "IVB",
				       "KBL", "RKL", "SKL", "SKX", "SNB", "TGL"};

/* ---- bottlenecks ---- */

static const enum tact_bound shown[] = {TACT_BOUND_PREDECODE, TACT_BOUND_DECODE, TACT_BOUND_DSB,
					TACT_BOUND_LSD,	      TACT_BOUND_ISSUE,	 TACT_BOUND_PORTS,
					TACT_BOUND_DIVIDER};

static double dependencies(const struct tact_prediction *p)
{
	double most = 0;

	if (p->applies >> TACT_BOUND_PRECEDENCE & 1)
		most = p->bound[TACT_BOUND_PRECEDENCE];
	if (p->applies >> TACT_BOUND_FORWARDING & 1 && p->bound[TACT_BOUND_FORWARDING] > most)
		most = p->bound[TACT_BOUND_FORWARDING];
	return most;
}

struct limits {
	double cycles;
	struct text names, list;
	unsigned n;
};

static void add_limit(struct limits *l, const char *name, double bound, bool is_listed)
{
	if (bound < 0.005)
		return;
	if (is_listed)
		text_printf(&l->list, "  - %s: %.2f\n", name, bound);
	if (bound >= 0.98 * l->cycles)
		text_printf(&l->names, "%s%s", l->n++ ? ", " : "", name);
}

/* What holds up the pipeline is named in the order of the alphabet; figures are in uiCA's order. */
static void add_bottlenecks(const struct dropin_run *run, struct text *out)
{
	const struct tact_prediction *p = &run->bounds;
	struct limits l = {.cycles = run->cycles_per_iteration}, names = l;
	static const enum tact_bound sorted[] = {
		TACT_BOUND_DSB, TACT_BOUND_DECODE, TACT_BOUND_DIVIDER,	TACT_BOUND_ISSUE,
		TACT_BOUND_LSD, TACT_BOUND_PORTS,  TACT_BOUND_PREDECODE};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(shown); i++)
		if (p->applies >> shown[i] & 1)
			add_limit(&l, tact_bound_name(shown[i]), p->bound[shown[i]],
				  shown[i] != TACT_BOUND_DIVIDER);
	add_limit(&l, "Dependencies", dependencies(p), true);
	for (size_t i = 0; i < CLI_ARRAY_SIZE(sorted); i++) {
		if (p->applies >> sorted[i] & 1 && i == 2)
			add_limit(&names, "Dependencies", dependencies(p), false);
		else if (i == 2)
			add_limit(&names, "Dependencies", dependencies(p), false);
		if (p->applies >> sorted[i] & 1)
			add_limit(&names, tact_bound_name(sorted[i]), p->bound[sorted[i]], false);
	}
	if (!names.n)
		text_printf(&names.names, "Scheduling");
	text_printf(out, "Bottleneck%s: %s\n", names.n > 1 ? "s" : "", cli_string(&names.names));
	if (l.list.size)
		text_printf(out,
			    "\nThe following throughputs could be achieved if the given property "
			    "were the only bottleneck:\n\n%s",
			    cli_string(&l.list));
	text_free(&l.names);
	text_free(&l.list);
	text_free(&names.names);
}

/* ---- runs ---- */

static enum tact_init init_of(const struct uica *u)
{
	return !strcmp(u->init, "same")	   ? TACT_INIT_SAME
	       : !strcmp(u->init, "stack") ? TACT_INIT_STACK
					   : TACT_INIT_DIFF;
}

static int simulate(const struct uica *u, const struct tact_arch *arch, unsigned alignment,
		    struct dropin_region *region, struct dropin_run *run)
{
	const struct dropin_run_options opt = {
		.arch = arch,
		.iterations = u->min_iterations ? u->min_iterations : 10,
		.init = init_of(u),
		.alignment = (int)alignment,
	};

	return dropin_run(run, region, &opt);
}

static int write_view(const char *path, const struct tact_view *view, enum tact_view_kind kind)
{
	struct text out = {0};
	char *text;
	size_t size;
	const int status = tact_view_make(view, kind, &text, &size);

	if (status < 0) {
		cli_message("%s: %s", path, tact_strerror(status));
		return CLI_FAILED;
	}
	text_add_bytes(&out, text, size);
	free(text);
	return kind == TACT_VIEW_PAGE ? page_save(&page_simulate, &out, path)
				      : output_all(path, &out);
}

static int write_files(const struct uica *u, struct dropin_run *run, unsigned alignment)
{
	struct tact_simulation result = TACT_SIMULATION_INIT;
	struct tact_view view = TACT_VIEW_INIT;
	int status = CLI_GOOD;

	if (!u->trace && !u->graph && !u->dep_graph)
		return CLI_GOOD;
	if (tact_simulate(run->simulator, run->block, NULL, &result) < 0)
		return CLI_FAILED;
	view.size = sizeof(view);
	view.block = run->block;
	view.arch = run->arch;
	view.alignment = alignment;
	view.prediction = &run->bounds;
	view.file = u->input;
	view.simulator = run->simulator;
	view.simulation = &result;
	if (u->trace)
		status = write_view(u->trace, &view, TACT_VIEW_PAGE);
	if (u->graph && !status)
		status = write_view(u->graph, &view, TACT_VIEW_PAGE);
	if (u->dep_graph && !status)
		status = write_view(u->dep_graph, &view,
				    cli_has_suffix(u->dep_graph, ".dot") ? TACT_VIEW_GRAPH_DOT
									 : TACT_VIEW_GRAPH_SVG);
	return status;
}

static int report_one(const struct uica *u, const struct tact_arch *arch,
		      struct dropin_region *region, struct text *out)
{
	const unsigned alignment = (unsigned)strtoul(u->alignment, NULL, 10);
	struct dropin_run run;
	int status = simulate(u, arch, alignment, region, &run);

	if (status) {
		dropin_run_fini(&run);
		return status;
	}
	if (u->tp_only.on) {
		text_printf(out, "%.2f\n", run.cycles_per_iteration);
	} else {
		text_printf(out, "Throughput (in cycles per iteration): %.2f\n",
			    run.cycles_per_iteration);
		add_bottlenecks(&run, out);
		text_add(out, "\n");
		uica_table(&run, region, out);
	}
	status = write_files(u, &run, alignment);
	dropin_run_fini(&run);
	return status;
}

/* ---- several CPUs, several places ---- */

enum { MOST_RUNS = 64 };

struct outcome {
	double cycles; /* as printed */
	struct text who;
	unsigned n;
};

struct outcomes {
	struct outcome list[MOST_RUNS];
	size_t n;
};

static void note_outcome(struct outcomes *o, double cycles, const char *who)
{
	size_t i = 0;

	while (i < o->n &&
	       (o->list[i].cycles - cycles > 0.005 || cycles - o->list[i].cycles > 0.005))
		i++;
	if (i == o->n)
		o->list[o->n++] = (struct outcome){.cycles = cycles};
	text_printf(&o->list[i].who, "%s%s", o->list[i].n++ ? ", " : "", who);
}

static int by_cycles(const void *a, const void *b)
{
	const struct outcome *x = a, *y = b;

	return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

static int by_count(const void *a, const void *b)
{
	const struct outcome *x = a, *y = b;

	return x->n != y->n ? (x->n > y->n) - (x->n < y->n) : by_cycles(a, b);
}

static void add_outcomes(struct outcomes *o, bool are_places, struct text *out)
{
	qsort(o->list, o->n, sizeof(o->list[0]), by_cycles);
	text_printf(out, "Throughput (in cycles per iteration): %.2f", o->list[0].cycles);
	if (o->n > 1)
		text_printf(out, " - %.2f\n", o->list[o->n - 1].cycles);
	text_add(out, "\n");
	if (are_places)
		qsort(o->list, o->n, sizeof(o->list[0]), by_count);
	for (size_t i = 0; i < o->n && o->n > 1; i++) {
		const char *who = cli_string(&o->list[i].who);

		if (!are_places)
			text_printf(out, "    - %.2f on %s\n", o->list[i].cycles, who);
		else if (i + 1 < o->n)
			text_printf(out, "    - %.2f for alignment offsets in {%s}\n",
				    o->list[i].cycles, who);
		else
			text_printf(out, "    - %.2f otherwise\n", o->list[i].cycles);
	}
	if (o->n > 1)
		text_add(out, "\n");
	for (size_t i = 0; i < o->n; i++)
		text_free(&o->list[i].who);
}

static int report_several(const struct uica *u, const struct tact_arch *arch,
			  struct dropin_region *region, struct text *out)
{
	const size_t n = arch ? MOST_RUNS : CLI_ARRAY_SIZE(all_cpus);
	struct outcomes o = {.n = 0};
	int status = CLI_GOOD;

	if (u->tp_only.on || u->trace || u->graph || u->dep_graph) {
		cli_message("uica: -arch all and -alignmentOffset all print throughputs only, "
			    "without -TPonly, -trace, -graph and -depGraph");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < n && !status; i++) {
		struct dropin_run run;
		char who[16];

		snprintf(who, sizeof(who), "%zu", i);
		status = simulate(u, arch ? arch : tact_arch_find(all_cpus[i]),
				  arch ? (unsigned)i : (unsigned)strtoul(u->alignment, NULL, 10),
				  region, &run);
		if (!status)
			note_outcome(&o, run.cycles_per_iteration, arch ? who : all_cpus[i]);
		dropin_run_fini(&run);
	}
	if (!status)
		add_outcomes(&o, arch, out);
	return status;
}

/* ---- the command ---- */

static int check(const struct uica *u, const struct tact_arch **arch)
{
	const bool is_all = !strcmp(u->arch, "all");
	char *end;

	if (!u->input) {
		cli_message("uica: there is no input");
		return CLI_USAGE;
	}
	if (strcmp(u->init, "diff") && strcmp(u->init, "same") && strcmp(u->init, "stack")) {
		cli_message("uica: -initPolicy: '%s' is none of diff, same, stack", u->init);
		return CLI_FAILED;
	}
	if (strcmp(u->alignment, "all") &&
	    (strtoul(u->alignment, &end, 10) > 63 || end == u->alignment || *end)) {
		cli_message("uica: -alignmentOffset: '%s' is neither 0 to 63 nor all",
			    u->alignment);
		return CLI_USAGE;
	}
	if (is_all && !strcmp(u->alignment, "all")) {
		cli_message("uica: -arch all and -alignmentOffset all do not go together");
		return CLI_FAILED;
	}
	*arch = is_all ? NULL : dropin_arch(u->arch);
	if (!is_all && !*arch)
		return CLI_FAILED;
	if (*arch && tact_arch_is_llvm(*arch)) {
		cli_message("uica: %s has no front end that is known; 'tact mca' takes it",
			    u->arch);
		return CLI_FAILED;
	}
	return DROPIN_GO_ON;
}

static int run(const struct uica *u, const struct tact_arch *arch)
{
	const struct dropin_load load = {.path = u->input,
					 .isa = arch ? tact_arch_isa(arch)
						     : tact_arch_isa(tact_arch_find(all_cpus[0])),
					 .kind = u->raw.on ? TACT_INPUT_RAW : TACT_INPUT_AUTO,
					 .output = TACT_SYNTAX_INTEL,
					 .is_formatted = true,
					 .is_marked = u->markers.on};
	struct text out = {0};
	struct dropin_code code;
	int status = dropin_load(&code, &load);

	for (size_t i = 0; i < code.n_regions && !status; i++)
		status = arch && strcmp(u->alignment, "all")
				 ? report_one(u, arch, &code.regions[i], &out)
				 : report_several(u, arch, &code.regions[i], &out);
	dropin_code_fini(&code);
	if (!status)
		return output_all(NULL, &out);
	text_free(&out);
	return status;
}

int cmd_uica(int argc, char **argv)
{
	struct uica u = {.arch = "all", .alignment = "0", .init = "diff"};
	const struct tact_arch *arch = NULL;
	int status = dropin_parse(&tool, &u, argc, argv);

	if (status == DROPIN_GO_ON)
		status = check(&u, &arch);
	return status == DROPIN_GO_ON ? run(&u, arch) : status;
}
