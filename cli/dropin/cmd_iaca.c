/* SPDX-License-Identifier: MIT
 *
 * tact iaca: the command line, the report and the trace of Intel's Architecture Code Analyzer 3.0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/version.h>

#include "common/cli.h"
#include "dropin.h"

static const char intro[] =
	"usage: tact iaca [OPTIONS] FILE\n"
	"       iaca [OPTIONS] FILE              as a symbolic link to tact\n\n"
	"Takes IACA's options and prints its report, with the numbers of tact's pipeline ('tact\n"
	"simulate').  FILE is an object file, assembly text, or any file with code between IACA's\n"
	"markers; in object files and text, too, markers choose code.\n";

static const char more[] = "\nExample:\n"
			   "  tact iaca -arch SKL -trace trace.txt kernel.o\n\n"
			   "Exit status: 0 success, 1 anything else.\n";

struct iaca {
	const char *input, *arch, *trace;
	struct dropin_switch is_short;
	unsigned cycles;
};

#define FIELD(f) offsetof(struct iaca, f)

static const struct dropin_option options[] = {
	{.name = "arch",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(arch),
	 .help = "SNB to SKX, or any other CPU of tact's (default: SKL)",
	 .argument = "NAME"},
	{.name = "trace",
	 .kind = DROPIN_TEXT,
	 .offset = FIELD(trace),
	 .help = "write what instructions do cycle by cycle",
	 .argument = "FILE"},
	{.name = "trace-cycle-count",
	 .kind = DROPIN_NUMBER,
	 .offset = FIELD(cycles),
	 .help = "cycles in it (default: 80)",
	 .low = 1,
	 .high = 100000},
	{.name = "reduceout",
	 .kind = DROPIN_SWITCH,
	 .offset = FIELD(is_short),
	 .help = "print the throughput and the ports only, without head and instructions"},
	{.name = "64",
	 .kind = DROPIN_INERT,
	 .offset = 0,
	 .help = "nothing to do: code is of 64 bits"},
	{.name = "analysis",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "throughput is what is printed; 'tact predict --mode once' "
		 "has latencies"},
	{.name = "graph",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "'tact predict --graph FILE.dot' draws dependences"},
	{.name = "32",
	 .kind = DROPIN_REFUSED,
	 .offset = 0,
	 .help = "code of 32 bits is not decoded"},
	{.name = NULL},
};

static const struct dropin_tool tool = {"iaca",	 "IACA", intro,	     more,
					options, false,	 CLI_FAILED, FIELD(input)};

/* ---- the tables ---- */

/* A port, with a second figure: the divider of port 0, loads of ports 2 and 3. */
struct report {
	const struct dropin_run *run;
	const struct dropin_region *region;
	unsigned n, port[TACT_MAX_PORTS];
	bool has_data; /* ports 2 and 3 load */
};

static const char *part_of(const struct report *r, unsigned port)
{
	return port == 0 ? "DV" : r->has_data && (port == 2 || port == 3) ? "D" : NULL;
}

static double value_of(const struct report *r, size_t i, unsigned port, bool is_part)
{
	const struct tact_sim_insn *x = &r->run->insns[i];
	struct tact_insn insn;

	if (!is_part)
		return x->port[port];
	if (!port)
		return x->divider;
	return tact_block_insn(r->run->block, i, &insn) >= 0 && insn.attributes & TACT_INSN_LOAD
		       ? x->port[port]
		       : 0;
}

static double sum_of(const struct report *r, unsigned port, bool is_part)
{
	double sum = 0;

	for (size_t i = 0; i < r->run->n; i++)
		sum += value_of(r, i, port, is_part);
	return sum;
}

static void add_rule(size_t width, struct text *out)
{
	while (width--)
		text_add(out, "-");
	text_add(out, "\n");
}

static void add_binding(const struct report *r, struct text *out)
{
	struct text head = {0}, row = {0};

	text_add(&head, "|  Port  |");
	text_add(&row, "| Cycles |");
	for (unsigned k = 0; k < r->n; k++) {
		const char *part = part_of(r, r->port[k]);

		if (part) {
			text_printf(&head, "  %2u   -  %-2s   |", r->port[k], part);
			text_printf(&row, " %4.1f    %4.1f  |", sum_of(r, r->port[k], false),
				    sum_of(r, r->port[k], true));
		} else {
			text_printf(&head, "  %2u   |", r->port[k]);
			text_printf(&row, " %4.1f  |", sum_of(r, r->port[k], false));
		}
	}
	text_add(out, "Port Binding In Cycles Per Iteration:\n");
	add_rule(head.size, out);
	text_printf(out, "%s\n", cli_string(&head));
	add_rule(head.size, out);
	text_printf(out, "%s\n", cli_string(&row));
	add_rule(head.size, out);
	text_free(&head);
	text_free(&row);
}

static void add_cell(double value, struct text *out)
{
	if (value >= 0.05)
		text_printf(out, "%4.1f", value);
	else
		text_add(out, "    ");
}

static const char *mark_of(const struct report *r, size_t i, double executed)
{
	const struct tact_insn_cost *cost = &r->run->costs[i];

	return cost->notes & TACT_NOTE_UNKNOWN	    ? "X"
	       : cost->notes & TACT_NOTE_FUSED_PREV ? "F"
	       : cost->notes & TACT_NOTE_STACK_SYNC ? "#"
	       : executed < 0.05		    ? "*"
	       : cost->uops > cost->issued	    ? "^"
						    : " ";
}

static void add_insn(const struct report *r, size_t i, struct text *out)
{
	double executed = 0;

	for (unsigned k = 0; k < r->n; k++)
		executed += r->run->insns[i].port[r->port[k]];
	text_printf(out, "| %3u%-6s|", r->run->costs[i].issued, mark_of(r, i, executed));
	for (unsigned k = 0; k < r->n; k++) {
		text_add(out, " ");
		add_cell(value_of(r, i, r->port[k], false), out);
		text_add(out, " ");
		if (part_of(r, r->port[k])) {
			text_add(out, "  ");
			add_cell(value_of(r, i, r->port[k], true), out);
			text_add(out, " ");
		}
		text_add(out, "|");
	}
	text_printf(out, " %s\n", r->region->insns[i].text);
}

static void add_insns(const struct report *r, struct text *out)
{
	struct text head = {0};
	unsigned uops = 0;
	size_t room;

	text_add(&head, "|  Uops    |");
	for (unsigned k = 0; k < r->n; k++) {
		if (part_of(r, r->port[k]))
			text_printf(&head, " %2u  -  %-3s  |", r->port[k], part_of(r, r->port[k]));
		else
			text_printf(&head, "  %2u  |", r->port[k]);
	}
	room = head.size - strlen("| Num Of   ||");
	text_add(out, "| Num Of   |");
	text_printf(out, "%*s%-*s|\n", (int)(room / 2 - 12), "", (int)(room - (room / 2 - 12)),
		    "Ports pressure in cycles");
	text_printf(out, "%s\n", cli_string(&head));
	add_rule(head.size, out);
	text_free(&head);
	for (size_t i = 0; i < r->run->n && i < r->region->n_insns; i++) {
		add_insn(r, i, out);
		uops += r->run->costs[i].issued;
	}
	text_printf(out, "Total Num Of Uops: %u\n", uops);
}

/* ---- the report ---- */

/* IACA's words for what is the limit. */
static const char *bottleneck_of(const struct dropin_run *run)
{
	static const struct {
		enum tact_bound bound;
		const char *name;
	} words[] = {{TACT_BOUND_PRECEDENCE, "Dependency chains"},
		     {TACT_BOUND_FORWARDING, "Dependency chains"},
		     {TACT_BOUND_DIVIDER, "Divider"},
		     {TACT_BOUND_PORTS, "Port"},
		     {TACT_BOUND_PREDECODE, "FrontEnd"},
		     {TACT_BOUND_DECODE, "FrontEnd"},
		     {TACT_BOUND_DSB, "FrontEnd"},
		     {TACT_BOUND_LSD, "FrontEnd"},
		     {TACT_BOUND_ISSUE, "FrontEnd"}};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(words); i++)
		if (run->bounds.applies >> words[i].bound & 1 &&
		    run->bounds.bound[words[i].bound] >= 0.98 * run->cycles_per_iteration)
			return words[i].name;
	return "Backend";
}

static void add_report(const struct iaca *a, const struct report *r, struct text *out)
{
	char cycles[32];

	snprintf(cycles, sizeof(cycles), "%.2f Cycles", r->run->cycles_per_iteration);
	if (!a->is_short.on)
		text_printf(out,
			    "Intel(R) Architecture Code Analyzer Version -  tact %d.%d.%d\n"
			    "Analyzed File -  %s\nBinary Format - 64Bit\nArchitecture  -  %s\n"
			    "Analysis Type - Throughput\n",
			    TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH, a->input,
			    tact_arch_name(r->run->arch));
	text_printf(out,
		    "\nThroughput Analysis Report\n--------------------------\n"
		    "Block Throughput: %s       Throughput Bottleneck: %s\nLoop Count:  %u\n",
		    cycles, bottleneck_of(r->run), r->run->iterations);
	add_binding(r, out);
	if (a->is_short.on) {
		text_add(out, "\n");
		return;
	}
	text_printf(out,
		    "\nDV - Divider pipe (on port 0)\n%s"
		    "F - Macro Fusion with the previous instruction occurred\n"
		    "* - instruction micro-ops not bound to a port\n"
		    "^ - Micro Fusion occurred\n"
		    "# - ESP Tracking sync uop was issued\n"
		    "X - instruction not supported, was not accounted in Analysis\n\n",
		    r->has_data ? "D - Data fetch pipe (on ports 2 and 3)\n" : "");
	add_insns(r, out);
	text_add(out, "\n");
}

/* ---- the trace ---- */

static char letter_at(const struct dropin_event *e, int64_t cycle)
{
	if (cycle < e->dispatched || cycle > e->retired)
		return ' ';
	if (cycle == e->retired)
		return 'R';
	if (cycle == e->dispatched)
		return 'A';
	if (cycle < e->ready)
		return '-';
	if (cycle < e->issued)
		return cycle == e->ready ? 's' : 'c';
	if (cycle == e->issued)
		return 'd';
	return cycle < e->executed ? 'e' : cycle == e->executed ? 'w' : '-';
}

static int write_trace(const struct iaca *a, const struct report *r)
{
	const int64_t cycles = a->cycles ? a->cycles : 80;
	struct text out = {0};

	if (!a->trace)
		return CLI_GOOD;
	text_add(&out, "[A] - Allocated\n[s] - Sources ready\n[c] - Port conflict\n"
		       "[d] - Dispatched for execution\n[e] - Execute\n[w] - Writeback\n"
		       "[R] - Retired\n[-] - Waits: for sources, or for older instructions\n\n"
		       "it|in|Disassembly                                       :");
	for (int64_t k = 0; k < cycles; k++)
		text_printf(&out, "%d", (int)(k % 10));
	text_add(&out, "\n");
	for (size_t i = 0; i < r->run->kept * r->run->n; i++) {
		const struct dropin_event *e = &r->run->events[i];
		const size_t insn = i % r->run->n;

		if (e->dispatched >= cycles || insn >= r->region->n_insns)
			continue;
		text_printf(&out, "%2zu|%2zu|%-50.50s:", i / r->run->n, insn,
			    r->region->insns[insn].text);
		for (int64_t k = 0; k < cycles; k++)
			text_printf(&out, "%c", letter_at(e, k));
		text_add(&out, "\n");
	}
	return output_all(a->trace, &out);
}

/* ---- the command ---- */

enum { LOOPS = 22, MOST_TRACED = 400 }; /* the former is IACA's */

static int run_region(const struct iaca *a, const struct tact_arch *arch,
		      struct dropin_region *region, struct text *out)
{
	const struct dropin_run_options opt = {
		.arch = arch, .iterations = LOOPS, .kept = MOST_TRACED, .alignment = -1};
	struct dropin_run run;
	struct report r = {.run = &run, .region = region};
	const unsigned ports = tact_arch_ports(arch);
	int status = dropin_run(&run, region, &opt);

	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (ports >> p & 1)
			r.port[r.n++] = p;
	r.has_data = r.n >= 6 && r.n <= 8; /* SNB to CLX */
	if (!status) {
		add_report(a, &r, out);
		status = write_trace(a, &r);
	}
	dropin_run_fini(&run);
	return status;
}

static int run(const struct iaca *a)
{
	const struct tact_arch *arch = dropin_arch(a->arch);
	struct dropin_load load = {.path = a->input,
				   .output = TACT_SYNTAX_INTEL,
				   .is_formatted = true,
				   .any_bytes = true};
	struct text out = {0};
	struct dropin_code code;
	int status;

	if (!a->input) {
		cli_message("iaca: there is no input");
		return CLI_FAILED;
	}
	if (!arch)
		return CLI_FAILED;
	if (tact_arch_is_llvm(arch)) {
		cli_message("iaca: %s is LLVM's model; 'tact mca' takes it", a->arch);
		return CLI_FAILED;
	}
	load.isa = tact_arch_isa(arch);
	status = dropin_load(&code, &load);
	for (size_t i = 0; i < code.n_regions && !status; i++)
		status = run_region(a, arch, &code.regions[i], &out);
	dropin_code_fini(&code);
	if (!status)
		return output_all(NULL, &out);
	text_free(&out);
	return CLI_FAILED;
}

int cmd_iaca(int argc, char **argv)
{
	struct iaca a = {.arch = "SKL"};
	const int status = dropin_parse(&tool, &a, argc, argv);

	return status == DROPIN_GO_ON ? run(&a) : status;
}
