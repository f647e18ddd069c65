/* SPDX-License-Identifier: MIT
 *
 * tact predict: its options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "options.h"
#include "predictor.h"

static const struct option_choice modes[] = {
	{"auto", TACT_MODE_AUTO},
	{"loop", TACT_MODE_LOOP},
	{"unroll", TACT_MODE_UNROLL},
	{NULL, 0},
};

static const struct option_choice inits[] = {
	{"stack", TACT_INIT_STACK},
	{"same", TACT_INIT_SAME},
	{"diff", TACT_INIT_DIFF},
	{NULL, 0},
};

static const struct option_choice models[] = {{"facile", 0}, {NULL, 0}};

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

static const struct option_choice colors[] = {
	{"auto", COLOR_AUTO},
	{"always", COLOR_ALWAYS},
	{"never", COLOR_NEVER},
	{NULL, 0},
};

static const char *set_alignment(void *target, const char *value)
{
	struct predictor *p = target;
	unsigned long number;
	char *end;

	p->is_all_alignments = !strcmp(value, "all");
	p->is_alignment_given = true;
	if (p->is_all_alignments)
		return NULL;
	number = strtoul(value, &end, 0);
	if (*value < '0' || *value > '9' || *end || number > 63) {
		snprintf(p->why, sizeof(p->why), "'%.40s' is neither a number from 0 to 63 nor all",
			 value);
		return p->why;
	}
	p->alignment = (unsigned)number;
	return NULL;
}

static int find_bound(const char *name, size_t length)
{
	for (int b = 0; b < TACT_N_BOUNDS; b++) {
		const char *column = tact_bound_column((enum tact_bound)b);
		const char *full = tact_bound_name((enum tact_bound)b);

		if ((strlen(column) == length && !strncasecmp(column, name, length)) ||
		    (strlen(full) == length && !strncasecmp(full, name, length)))
			return b;
	}
	return -1;
}

/* A list of bounds, by their columns' or their full names. */
static const char *read_bounds(struct predictor *p, const char *list, uint32_t *bounds)
{
	*bounds = 0;
	for (const char *name = list; *name;) {
		size_t length = strcspn(name, ",");
		int b = find_bound(name, length), n;

		if (b >= 0) {
			*bounds |= 1u << b;
		} else if (length) {
			n = snprintf(p->why, sizeof(p->why), "'%.*s' is none of",
				     length > 30 ? 30 : (int)length, name);
			for (b = 0; b < TACT_N_BOUNDS && n > 0 && (size_t)n < sizeof(p->why); b++)
				n += snprintf(p->why + n, sizeof(p->why) - (size_t)n, "%s %s",
					      b ? "," : "", tact_bound_column((enum tact_bound)b));
			return p->why;
		}
		name += length + (name[length] == ',');
	}
	return *bounds ? NULL : "the list is empty";
}

static const char *set_only(void *target, const char *value)
{
	struct predictor *p = target;

	return read_bounds(p, value, &p->only);
}

static const char *set_without(void *target, const char *value)
{
	struct predictor *p = target;

	return read_bounds(p, value, &p->without);
}

#define FIELD(field, type) .offset = OPTION_FIELD(predictor, field, type)
#define FLAG(field)	   .type = OPTION_FLAG, FIELD(field, bool)
#define CHOICE(field, of)  .type = OPTION_CHOICE, .choices = of, FIELD(field, int)

/* clang-format off: an option stays together */
static const struct option_spec model_specs[] = {
	{.letter = 'm',
	 .name = "mode",
	 .argument = "MODE",
	 CHOICE(mode, modes),
	 .help = "the block as a loop (loop), unrolled (unroll), or auto (default): loop if it "
		 "ends "
		 "in a branch to its start"},
	{.name = "alignment",
	 .argument = "N|all",
	 .type = OPTION_CALL,
	 .call = set_alignment,
	 .help = "address of the first byte modulo 64, or all of them (default: as in the object "
		 "file or executable, else 0)"},
	{.name = "init",
	 .argument = "HOW",
	 CHOICE(init, inits),
	 .help = "what registers hold at entry, for memory dependence: all the same but rsp and "
		 "rbp "
		 "(stack, default), the same, or different values (diff)"},
	{.name = "model", .argument = "NAME", CHOICE(model, models), .help = "the model: facile"},
	{.name = "paper",
	 FLAG(paper),
	 .help = "only what the FACILE paper describes, not what measurements added"},
	{.name = "only",
	 .argument = "LIST",
	 .type = OPTION_CALL,
	 .call = set_only,
	 .help = "only these limits count: predec, dec, dsb, lsd, issue, ports, precedence, ... "
		 "(the "
		 "columns of -f csv)"},
	{.name = "without",
	 .argument = "LIST",
	 .type = OPTION_CALL,
	 .call = set_without,
	 .help = "these limits do not count"},
	{.name = "simple-predec",
	 FLAG(simple_predecoder),
	 .help = "the paper's SimplePredec: 16 bytes a cycle"},
	{.name = "simple-dec",
	 FLAG(simple_decoder),
	 .help = "the paper's SimpleDec: instructions by decoders"},
	{.name = "exact-ports",
	 FLAG(exact_ports),
	 .help = "look at all sets of ports instead of unions of two"},
	{.name = NULL},
};
/* clang-format on */

/* clang-format off: an option stays together */
static const struct option_spec output_specs[] = {
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 CHOICE(format, formats),
	 .help = "text (default), csv or json (one object a line)"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(output, const char *),
	 .help = "write the results there"},
	{.name = "idealize",
	 FLAG(is_idealized),
	 .help = "also: what would be gained if one component were ideal"},
	{.name = "graph",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 FIELD(graph, const char *),
	 .help = "also draw the block's dependence graph: FILE.svg, or FILE.dot for Graphviz"},
	{.name = "tp-only", FLAG(is_number_only), .help = "print the cycles and nothing else"},
	{.letter = 'j',
	 .name = "jobs",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 0,
	 .high = 1024,
	 FIELD(threads, unsigned),
	 .help = "threads for many blocks (default: as many as there are cores)"},
	{.name = "color",
	 .argument = "WHEN",
	 CHOICE(color, colors),
	 .help = "auto (default: on a terminal), always or never; NO_COLOR is obeyed"},
	{.letter = 'q',
	 .name = "quiet",
	 FLAG(is_quiet),
	 .help = "no remarks on standard error, only errors"},
	{.letter = 'v',
	 .name = "verbose",
	 FLAG(is_verbose),
	 .help = "say more: the bytes of instructions, whole lists, how many blocks"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"An INPUT is a file, or - for standard input: hex strings or a CSV whose first\n"
	"column is hex, assembly text, an object file or an executable; the content\n"
	"tells which. Markers in it (LLVM-MCA, OSACA, IACA) choose the code; without\n"
	"them the innermost loops are listed.\n\n"
	"Examples:\n"
	"  tact predict -x 480fafc34801d8\n"
	"  tact predict -a SKL,ICL -m loop --idealize kernel.s\n"
	"  tact predict --function main --loop 2 --graph loop.svg a.out\n"
	"  tact predict -q -a HSW -m unroll -f csv blocks.csv > cycles.csv\n";

static void set_colors(struct predictor *p)
{
	const char *no_color = getenv("NO_COLOR");
	bool on = p->color == COLOR_ALWAYS;

	if (p->color == COLOR_AUTO)
		on = !p->output && isatty(STDOUT_FILENO) && !(no_color && *no_color);
	p->bold = on ? "\033[1m" : "";
	p->red = on ? "\033[1;31m" : "";
	p->plain = on ? "\033[0m" : "";
}

static int check(const struct predictor *p)
{
	const char *dot = p->graph ? strrchr(p->graph, '.') : NULL;

	if (!p->source.n_items) {
		cli_message("no input: give -x HEX, a file, or - for standard input");
		return CLI_USAGE;
	}
	if (!predict_bounds(p)) {
		cli_message("--only and --without leave no limit at all");
		return CLI_USAGE;
	}
	if (p->graph && (!dot || (strcmp(dot, ".svg") && strcmp(dot, ".dot")))) {
		cli_message("--graph: '%s' ends neither in .svg nor in .dot", p->graph);
		return CLI_USAGE;
	}
	if (p->graph && p->archs.n > 1) {
		cli_message("--graph draws for one CPU; --arch has %zu", p->archs.n);
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static void prepare(struct predictor *p)
{
	uint32_t all = (1u << TACT_N_BOUNDS) - 1;

	p->n_alignments = p->is_all_alignments ? 64 : 1;
	p->block_options = (struct tact_block_options){
		.size = sizeof(p->block_options),
		.mode = (enum tact_mode)p->mode,
		.init = (enum tact_init)p->init,
		.alignment = p->is_all_alignments ? 0 : p->alignment,
		.paper = p->paper,
	};
	p->predict_options = (struct tact_predict_options){
		.size = sizeof(p->predict_options),
		.bounds = predict_bounds(p) == all ? 0 : predict_bounds(p),
		.simple_predecoder = p->simple_predecoder,
		.simple_decoder = p->simple_decoder,
		.exact_ports = p->exact_ports,
	};
	if (p->is_number_only)
		p->format = FORMAT_TEXT;
	set_colors(p);
}

static int run(struct predictor *p)
{
	struct output out;
	int status = archlist_resolve(&p->archs, NULL, p->is_quiet || !p->source.n_items);

	if (!status)
		status = check(p);
	if (status)
		return status;
	prepare(p);
	if (output_open(&out, p->output))
		return CLI_FAILED;
	status = predict_run(p, &out);
	if (output_close(&out) && !status)
		status = CLI_FAILED;
	return status;
}

int cmd_predict(int argc, char **argv)
{
	struct predictor p = {0};
	const struct option_group groups[] = {
		{"Input", source_option_specs, &p.source},
		{"CPU", archlist_option_specs, &p.archs},
		{"Model", model_specs, &p},
		{"Output", output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact predict [OPTIONS] [INPUT...]\n",
		.description =
			"Predicts how many cycles an iteration of a block of x86-64 code takes "
			"in the steady state, and says what limits it. Without --arch: on this "
			"CPU if it is one that tact knows, else on SKL.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = source_add_path,
		.argument_target = &p.source,
	};
	int status = options_parse(&command, argc, argv);

	if (status == OPTIONS_HELP)
		status = options_print_help(&command);
	else if (status == OPTIONS_WRONG)
		status = CLI_USAGE;
	else
		status = run(&p);
	source_options_fini(&p.source);
	archlist_fini(&p.archs);
	return status;
}
