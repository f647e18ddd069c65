/* SPDX-License-Identifier: MIT
 *
 * tact mca: llvm-mca's command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "common/archlist.h"
#include "common/cli.h"
#include "mca_front.h"

static const char intro[] =
	"usage: tact mca [OPTIONS] [FILE]\n"
	"       llvm-mca [OPTIONS] [FILE]        as a symbolic link to tact\n\n"
	"Takes llvm-mca's options and prints its views, with the numbers of tact's pipeline\n"
	"('tact simulate').  CPUs that only LLVM has a model of run on llvm-mca's machine with\n"
	"LLVM's facts.  FILE is assembly text or an object file; standard input without one.\n";

static const char more[] =
	"\nExamples:\n"
	"  clang -O2 -S -o - f.c | tact mca -mcpu=skylake -timeline\n"
	"  tact mca -mcpu=neoverse-n1 -json kernel.s\n"
	"  ln -s $(command -v tact) llvm-mca && ./llvm-mca -mcpu=znver4 kernel.s\n\n"
	"Exit status: 0 success, 1 anything else.\n";

#define FIELD(f) offsetof(struct mca_front, f)

static const struct dropin_option options[] = {
	{.name = "mtriple",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(triple),
	 .help = dropin_triple_help,
	 .argument = "TRIPLE"},
	{.name = "march",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(march),
	 .help = dropin_march_help,
	 .argument = "ARCH"},
	{.name = "mcpu",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(cpu),
	 .help = "LLVM's name of a CPU, tact's, a product, native (default) or help",
	 .argument = "CPU"},
	{.name = "iterations",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(iterations),
	 .help = "iterations to run (default: 100)"},
	{.name = "dispatch",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(dispatch),
	 .help = "another dispatch width, not for LLVM's CPUs",
	 .high = 64},
	{.name = "noalias",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(noalias),
	 .help = "loads never wait for stores; false: they always do (default: addresses decide)"},
	{.name = "o",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(output),
	 .help = "write the views to FILE",
	 .argument = "FILE"},
	{.name = "output-asm-variant",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(variant),
	 .help = "0: instructions in AT&T's notation, 1: in Intel's (default: the input's)",
	 .high = 1},
	{.name = dropin_asm_syntax,
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(asm_syntax),
	 .help = "att or intel, of the output",
	 .argument = "SYNTAX"},
	{.name = "json", .kind = DROPIN_SWITCH, .offset = FIELD(json), .help = "print JSON"},
	{.name = "summary-view",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(summary),
	 .help = "print the summary (default)"},
	{.name = "instruction-info",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(info),
	 .help = "print the instructions' costs (default)"},
	{.name = "resource-pressure",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(pressure),
	 .help = "print the pressure on ports (default)"},
	{.name = "timeline",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(timeline),
	 .help = "print the timeline"},
	{.name = "timeline-max-iterations",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(timeline_iterations),
	 .help = "iterations in it (default: 10)"},
	{.name = "timeline-max-cycles",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(timeline_cycles),
	 .help = "cycles in it, 0: all (default: 80)"},
	{.name = "bottleneck-analysis",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(bottleneck),
	 .help = "print what uops wait for, and the critical sequence"},
	{.name = "dispatch-stats",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(dispatch_stats),
	 .help = "print statistics of dispatch"},
	{.name = "scheduler-stats",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(scheduler_stats),
	 .help = "print those of the scheduler"},
	{.name = "retire-stats",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(retire_stats),
	 .help = "print those of retirement"},
	{.name = "register-file-stats",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(register_stats),
	 .help = "print those of registers"},
	{.name = "all-stats",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(all_stats),
	 .help = "print all statistics"},
	{.name = "all-views",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(all_views),
	 .help = "print everything"},
	{.name = "show-encoding",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(show_encoding),
	 .help = "print the bytes of instructions"},
	{.name = "instruction-tables",
	 .kind = DROPIN_MAYBE,
	 .offset = FIELD(tables),
	 .help = "print what single instructions cost, without a run; none, normal",
	 .argument = "HOW",
	 .otherwise = "normal",
	 .is_attached = true},
	{.name = "skip-unsupported-instructions",
	 .kind = DROPIN_MAYBE,
	 .offset = FIELD(skip),
	 .help = "none, lack-sched (no data), parse-failure, any (default: what has no data is a "
		 "lower "
		 "bound, with a warning)",
	 .argument = "WHICH",
	 .otherwise = "any",
	 .is_attached = true},
	{.name = "mattr",
	 .kind = DROPIN_INERT_VALUE,
	 .offset = 0,
	 .help = "nothing to do: the assembler takes all extensions",
	 .argument = "LIST"},
	{.name = "disable-cb",
	 .kind = DROPIN_INERT,
	 .offset = 0,
	 .help = "nothing to do: there is no custom behaviour"},
	{.name = "disable-im",
	 .kind = DROPIN_INERT,
	 .offset = 0,
	 .help = "nothing to do: there are no instruments"},
	{.name = "lqueue",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "queues are the CPU's; 'tact simulate --params' changes them"},
	{.name = "squeue",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "queues are the CPU's; 'tact simulate --params' changes them"},
	{.name = "register-file-size",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "register files have no limit in tact's model"},
	{.name = "micro-op-queue-size",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "the front end is tact's, with its own queue"},
	{.name = "decoder-throughput",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "the front end is tact's, with its own decoders"},
	{.name = "show-barriers",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "barriers are not told apart"},
	{.name = "print-imm-hex",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "immediates are printed as in the input"},
	{.name = "print-options",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "tact mca -help has all options with their defaults"},
	{.name = "print-all-options",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "tact mca -help has all options with their defaults"},
	{.name = "call-latency",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "write LLVM-MCA-LATENCY N in a comment on the line of the call"},
	{.name = NULL},
};

static const struct dropin_tool tool = {"mca",	 "llvm-mca", intro,	 more,
					options, false,	     CLI_FAILED, FIELD(input)};

/* ---- the CPU ---- */

static int list_cpus(const struct tact_isa *isa)
{
	struct text out = {0};
	char name[80];

	text_printf(&out, "Available CPUs of %s:\n\n", tact_isa_title(isa));
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));)
		if (tact_arch_isa(a) == isa)
			text_printf(&out, "  %-24s - tact's model of %s\n", tact_arch_llvm_name(a),
				    tact_arch_full_name(a));
	for (size_t i = 0; tact_arch_llvm_cpu_at(isa, i, name, sizeof(name)); i++) {
		const char *own = strncmp(name, "llvm:", 5) ? name : name + 5;

		text_printf(&out, "  %-24s - LLVM's model\n", own);
	}
	return output_all(NULL, &out);
}

/* A level of the instruction set is no CPU: says which one is taken. */
static int choose_cpu(struct mca_front *f, const struct dropin_target *target)
{
	const struct tact_isa *isa = target ? tact_isa_find(target->isa) : NULL;
	struct tact_cpu cpu = TACT_CPU_INIT;
	const bool is_generic = !strcmp(f->cpu, "generic") || !strncmp(f->cpu, "generic-", 8);

	if (target && !isa) {
		cli_message("this tact was built without %s", target->name);
		return CLI_FAILED;
	}
	if (!strcmp(f->cpu, "help"))
		return list_cpus(isa ? isa : tact_isa_default());
	if (is_generic && target && target->generic)
		f->arch = dropin_arch(target->generic);
	else
		f->arch = dropin_arch(f->cpu);
	if (!f->arch)
		return CLI_FAILED;
	if ((is_generic && target && target->generic) ||
	    (tact_cpu_find(f->cpu, &cpu) >= 0 && cpu.is_level))
		cli_message("warning: '%s' is no CPU; the numbers are those of %s; -mcpu=NAME "
			    "chooses another one",
			    f->cpu, tact_arch_full_name(f->arch));
	if (isa && tact_arch_isa(f->arch) != isa) {
		cli_message("%s is a CPU of %s, not of %s", f->cpu,
			    tact_isa_title(tact_arch_isa(f->arch)), tact_isa_title(isa));
		return CLI_FAILED;
	}
	return DROPIN_GO_ON;
}

static int set_width(struct mca_front *f)
{
	char value[16];

	if (!f->dispatch)
		return DROPIN_GO_ON;
	if (tact_arch_is_llvm(f->arch)) {
		cli_message("mca: -dispatch: the width of LLVM's model of %s is fixed", f->cpu);
		return CLI_FAILED;
	}
	snprintf(value, sizeof(value), "%u", f->dispatch);
	if (tact_arch_copy(&f->changed, f->arch) < 0)
		cli_out_of_memory();
	if (tact_arch_set_param(f->changed, "issue_width", value, NULL) < 0) {
		cli_message("mca: -dispatch: %s is no width that the model can have", value);
		return CLI_FAILED;
	}
	f->arch = f->changed;
	return DROPIN_GO_ON;
}

static int choose_target(struct mca_front *f)
{
	const struct dropin_target *target = NULL;
	int status;

	if (f->triple && !(target = dropin_target_find(f->triple))) {
		/* These words are what Compiler Explorer looks for. */
		cli_message("mca: unable to get target for '%s': %s are supported", f->triple,
			    dropin_target_list);
		return CLI_FAILED;
	}
	/* Compilers' -march names a CPU. */
	if (f->march && !(target = dropin_target_find(f->march))) {
		cli_message("mca: -march: %s is not supported; %s are; a CPU is -mcpu", f->march,
			    dropin_target_list);
		return CLI_FAILED;
	}
	if (!f->cpu)
		f->cpu = target && tact_isa_find(target->isa) != tact_isa_default() ? "generic"
										    : "native";
	status = choose_cpu(f, target);
	if (status != DROPIN_GO_ON)
		return status;
	if (!target)
		target = dropin_target_of(tact_arch_isa(f->arch));
	if (!f->march)
		f->march = target ? target->name : tact_isa_name(tact_arch_isa(f->arch));
	if (!f->triple)
		f->triple = f->march;
	if (!strcmp(f->cpu, "native"))
		f->cpu = tact_arch_llvm_cpu(f->arch);
	return set_width(f);
}

/* ---- options ---- */

/* -all-views and -all-stats hold for what was not said after them. */
static void imply(struct dropin_switch *view, const struct dropin_switch *all)
{
	if (all->place && view->place < all->place)
		view->on = all->on;
}

static void imply_views(struct mca_front *f)
{
	struct dropin_switch *const views[] = {&f->summary, &f->info, &f->pressure, &f->timeline,
					       &f->bottleneck};
	struct dropin_switch *const stats[] = {&f->dispatch_stats, &f->scheduler_stats,
					       &f->retire_stats, &f->register_stats};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(views); i++)
		imply(views[i], &f->all_views);
	for (size_t i = 0; i < CLI_ARRAY_SIZE(stats); i++) {
		imply(stats[i],
		      f->all_views.place > f->all_stats.place ? &f->all_views : &f->all_stats);
	}
}

static int check_word(const char *option, const char *value, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (!value || !strcmp(value, words[i]))
			return DROPIN_GO_ON;
	cli_message("mca: -%s: '%s' is not supported", option, value);
	return CLI_FAILED;
}

static int check(struct mca_front *f)
{
	static const char *const skips[] = {"none", "lack-sched", "parse-failure", "any", NULL};
	static const char *const how[] = {"none", "normal", NULL};
	static const char *const syntaxes[] = {"att", "intel", NULL};
	int status = check_word("skip-unsupported-instructions", f->skip, skips);

	if (status == DROPIN_GO_ON)
		status = check_word("instruction-tables", f->tables, how);
	if (status == DROPIN_GO_ON)
		status = check_word(dropin_asm_syntax, f->asm_syntax, syntaxes);
	if (status != DROPIN_GO_ON)
		return status;
	f->has_tables = f->tables && strcmp(f->tables, "none");
	if (!f->iterations)
		f->iterations = 100;
	if (!f->timeline_iterations)
		f->timeline_iterations = 10;
	f->alias = !f->noalias.place ? TACT_ALIAS_ADDRESSES
		   : f->noalias.on   ? TACT_ALIAS_NEVER
				     : TACT_ALIAS_ALWAYS;
	imply_views(f);
	if (f->has_tables) {
		f->summary.on = f->timeline.on = f->bottleneck.on = false;
		f->dispatch_stats.on = f->scheduler_stats.on = false;
		f->retire_stats.on = f->register_stats.on = false;
		f->iterations = 1;
	}
	return choose_target(f);
}

/* As llvm-mca: there is no window to say something about. */
static void drop_views(struct mca_front *f)
{
	if (!archlist_param(f->arch, "in_order"))
		return;
	if (f->bottleneck.on && f->bottleneck.place)
		cli_message("warning: -bottleneck-analysis: %s executes in order, there is none",
			    f->cpu);
	f->bottleneck.on = f->retire_stats.on = false;
}

/* ---- output ---- */

static void add_views(const struct mca_view *v, struct text *out)
{
	const struct {
		bool on;
		void (*add)(const struct mca_view *, struct text *);
	} views[] = {
		{v->f->summary.on, mca_summary},
		{v->f->bottleneck.on, mca_bottleneck},
		{v->f->info.on, mca_info},
		{v->f->dispatch_stats.on, mca_dispatch_stats},
		{v->f->scheduler_stats.on, mca_scheduler_stats},
		{v->f->retire_stats.on, mca_retire_stats},
		{v->f->register_stats.on, mca_register_stats},
		{v->f->pressure.on, mca_resource_pressure},
		{v->f->timeline.on, mca_timeline},
	};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(views); i++)
		if (views[i].on)
			views[i].add(v, out);
}

static int add_region(const struct mca_front *f, const struct dropin_code *code, size_t i,
		      struct text *out, struct json *json)
{
	const struct dropin_run_options opt = {
		.arch = f->arch,
		.iterations = f->iterations,
		.kept = f->timeline_iterations,
		.alias = f->alias,
		.alignment = -1,
		.skip_without_data =
			f->skip && (!strcmp(f->skip, "any") || !strcmp(f->skip, "lack-sched")),
	};
	struct dropin_region *region = &code->regions[i];
	struct dropin_run run;
	const struct mca_view v = {f, &run, region, archlist_param(f->arch, "issue_width")};
	struct text warnings = {0};
	int status;

	text_add(&warnings, region->warnings);
	text_to_stderr(&warnings);
	text_free(&warnings);
	status = dropin_run(&run, region, &opt);
	if (!status && f->json.on) {
		mca_json_region(&v, json);
	} else if (!status) {
		if (code->is_marked)
			text_printf(out, "\n[%zu] Code Region%s%s\n\n", i,
				    *region->name ? " - " : "", region->name);
		add_views(&v, out);
	}
	dropin_run_fini(&run);
	return status;
}

static int print_all(const struct mca_front *f, const struct dropin_code *code)
{
	struct text out = {0};
	struct json json = {.out = &out};
	int status = CLI_GOOD;

	if (f->json.on) {
		json_begin_object(&json, NULL);
		json_begin_array(&json, "CodeRegions");
	}
	for (size_t i = 0; i < code->n_regions && !status; i++)
		status = add_region(f, code, i, &out, &json);
	if (status) {
		text_free(&out);
		return CLI_FAILED;
	}
	if (f->json.on) {
		json_end(&json);
		mca_json_target(f, &json);
		json_end_line(&json);
	}
	return output_all(f->output, &out);
}

static int run(struct mca_front *f)
{
	const bool skips =
		f->skip && (!strcmp(f->skip, "any") || !strcmp(f->skip, "parse-failure"));
	const struct dropin_load load = {
		.path = f->input,
		.isa = tact_arch_isa(f->arch),
		.output = f->variant <= 1 ? f->variant ? TACT_SYNTAX_INTEL : TACT_SYNTAX_ATT
			  : f->asm_syntax ? strcmp(f->asm_syntax, "att") ? TACT_SYNTAX_INTEL
									 : TACT_SYNTAX_ATT
					  : TACT_SYNTAX_AUTO,
		.skip_unknown = skips,
	};
	struct dropin_code code;
	int status = dropin_load(&code, &load);

	if (!status)
		status = print_all(f, &code);
	dropin_code_fini(&code);
	return status ? CLI_FAILED : CLI_GOOD;
}

int cmd_mca(int argc, char **argv)
{
	struct mca_front f = {.input = "-",
			      .variant = UINT32_MAX,
			      .timeline_cycles = 80,
			      .summary.on = true,
			      .info.on = true,
			      .pressure.on = true};
	int status = dropin_parse(&tool, &f, argc, argv);

	if (status == DROPIN_GO_ON)
		status = check(&f);
	if (status == DROPIN_GO_ON) {
		drop_views(&f);
		status = run(&f);
	}
	tact_arch_destroy(f.changed);
	return status;
}
