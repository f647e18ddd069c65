/* SPDX-License-Identifier: MIT
 *
 * Options that `tact predict` and `tact simulate` have in common, and what both do with them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/options.h"
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

/* clang-format off: an option stays together */
const struct option_spec predict_mode_specs[] = {
	{.letter = 'm',
	 .name = "mode",
	 .argument = "MODE",
	 PREDICT_CHOICE(mode, modes),
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
	 PREDICT_CHOICE(init, inits),
	 .help = "what registers hold at entry, for memory dependence: all the same but rsp and "
		 "rbp "
		 "(stack, default), the same, or different values (diff)"},
	{.name = NULL},
};

const struct option_spec predict_output_specs[] = {
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 PREDICT_CHOICE(format, formats),
	 .help = "text (default), csv or json (one object a line)"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 PREDICT_FIELD(output, const char *),
	 .help = "write the results there"},
	{.name = "tp-only",
	 PREDICT_FLAG(is_number_only),
	 .help = "print the cycles and nothing else"},
	{.letter = 'j',
	 .name = "jobs",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 0,
	 .high = 1024,
	 PREDICT_FIELD(threads, unsigned),
	 .help = "threads for many blocks (default: as many as there are cores)"},
	{.name = "color",
	 .argument = "WHEN",
	 PREDICT_CHOICE(color, colors),
	 .help = "auto (default: on a terminal), always or never; NO_COLOR is obeyed"},
	{.letter = 'q',
	 .name = "quiet",
	 PREDICT_FLAG(is_quiet),
	 .help = "no remarks on standard error, only errors"},
	{.letter = 'v',
	 .name = "verbose",
	 PREDICT_FLAG(is_verbose),
	 .help = "say more: the bytes of instructions, whole lists, how many blocks"},
	{.name = NULL},
};
/* clang-format on */

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
	p->mca_options = (struct tact_mca_options){
		.size = sizeof(p->mca_options),
		.params = p->mca_params,
	};
	if (p->is_number_only)
		p->format = FORMAT_TEXT;
	set_colors(p);
}

static int check(struct predictor *p)
{
	const char *option = p->command->file_option(p);

	if (!p->source.n_items) {
		cli_message("no input: give -x HEX, a file, or - for standard input");
		return CLI_USAGE;
	}
	if (option && p->archs.n > 1) {
		cli_message("%s draws for one CPU; --arch has %zu", option, p->archs.n);
		return CLI_USAGE;
	}
	return p->command->check(p);
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

int predict_main(struct predictor *p, const struct option_command *command, int argc, char **argv)
{
	int status = options_parse(command, argc, argv);

	if (status == OPTIONS_HELP)
		status = options_print_help(command);
	else if (status == OPTIONS_WRONG)
		status = CLI_USAGE;
	else
		status = run(p);
	tact_mca_params_destroy(p->mca_params);
	source_options_fini(&p->source);
	archlist_fini(&p->archs);
	return status;
}
