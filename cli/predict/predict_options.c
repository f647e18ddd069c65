/* SPDX-License-Identifier: MIT
 *
 * Options that `tact predict` and `tact simulate` share, and what they set up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/options.h"
#include "common/terminal.h"
#include "predictor.h"

static const struct option_choice colors[] = {
	{"auto", COLOR_AUTO},
	{"always", COLOR_ALWAYS},
	{"never", COLOR_NEVER},
	{NULL, 0},
};

static const struct option_choice modes[] = {
	{"auto", TACT_MODE_AUTO},
	{"loop", TACT_MODE_LOOP},
	{"unroll", TACT_MODE_UNROLL},
	{"once", PREDICT_ONCE},
	{NULL, 0},
};

static const struct option_choice explanations[] = {
	{"bottlenecks", EXPLAIN_BOTTLENECKS},
	{"all", EXPLAIN_ALL},
	{"none", EXPLAIN_NONE},
	{NULL, 0},
};

static const char *set_alignment(void *target, const char *value)
{
	struct predictor *p = target;

	p->is_alignment_given = true;
	return option_alignment(value, &p->alignment, &p->is_all_alignments, p->why,
				sizeof(p->why));
}

#define OPTION_HOLDER predictor

const struct option_spec predict_mode_specs[] = {
	OPTION_CHOICE(
		'm', "mode", "MODE", mode, modes,
		"run the block as a loop (loop) or unrolled (unroll); auto (default): as a "
		"loop if it ends in a branch to its start; once: as auto, with the latency of "
		"one pass"),
	OPTION_FLAG(0, "noalias", is_noalias,
		    "assume that no load meets a store (default: as addresses tell)"),
	OPTION_FLAG(0, "alias", is_alias, "assume that every load meets the store before it"),
	OPTION_CALL(0, "memory", "LEVEL", predict_read_memory,
		    "where loads find their data: l1 (default), l2, l3 or ram; 3=l2 for that of "
		    "instruction 3 alone, and lists such as l2,3=l1; only latencies differ"),
	OPTION_CALL(0, "alignment", "N|all", set_alignment,
		    "address of the first byte modulo 64, or all 64 (default: as in the object "
		    "file or executable, else 0)"),
	OPTION_INIT(init, 0,
		    "register values on entry: all the same except for the stack and frame "
		    "pointers (stack, default); all the same (same); all different (diff)"),
	OPTION_END,
};

const struct option_spec predict_output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS, OPTION_FORMAT_HELP),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_FLAG(
		0, "info", is_info,
		"also list what is known of each instruction: uops, ports, latency, throughput; "
		"'tact insn' says more"),
	OPTION_FLAG(0, "confidence", has_intervals,
		    "with -f csv: also columns for the 90% interval (text and JSON always have "
		    "it)"),
	OPTION_FLAG(0, "tp-only", is_number_only, "print only the cycles per iteration"),
	OPTION_FLAG(0, "advice", is_advised,
		    "also print which changes would gain, with the cycles of the changed block "
		    "(default: for a single block on a terminal)"),
	OPTION_FLAG(0, "no-advice", is_not_advised, "print no advice"),
	OPTION_JOBS(threads, 1024, "use N threads (default: one per core)"),
	OPTION_CHOICE(0, "explain", "WHICH", explained, explanations,
		      "derive the bottlenecks' bounds (bottlenecks, default), all bounds (all) or "
		      "none (none); with -f json only if it is given"),
	OPTION_CHOICE(0, "color", "WHEN", color, colors,
		      "use colours: auto (default: on a terminal, unless NO_COLOR is set), always "
		      "or never"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_VERBOSE(is_verbose,
		       "say more: the bytes of instructions, complete lists, the number of blocks"),
	OPTION_END,
};

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

/* Output that does not go to a terminal looks the same everywhere, unless COLUMNS is set. */
static size_t page_width(const struct predictor *p)
{
	const size_t width = terminal_width(p->output);

	return width ? width : PREDICT_PAGE_WIDTH;
}

void predict_prepare(struct predictor *p)
{
	uint32_t all = (1u << TACT_N_BOUNDS) - 1;

	p->is_once = p->mode == PREDICT_ONCE;
	if (p->is_once)
		p->mode = TACT_MODE_AUTO;
	p->n_alignments = p->is_all_alignments ? 64 : 1;
	p->block_options = (struct tact_block_options){
		.size = sizeof(p->block_options),
		.mode = (enum tact_mode)p->mode,
		.init = (enum tact_init)p->init,
		.alignment = p->is_all_alignments ? 0 : p->alignment,
		.paper = p->paper,
		.memory = (enum tact_memory)p->memory,
		.alias = p->is_noalias ? TACT_ALIAS_NEVER
			 : p->is_alias ? TACT_ALIAS_ALWAYS
				       : TACT_ALIAS_ADDRESSES,
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
	p->width = page_width(p);
	p->is_terminal = terminal_is_output(p->output);
	set_colors(p);
}

void predict_fini(void *target)
{
	struct predictor *p = target;

	tact_mca_params_destroy(p->mca_params);
	free(p->unused);
}

uint32_t predict_bounds(const struct predictor *p)
{
	uint32_t all = (1u << TACT_N_BOUNDS) - 1;

	return (p->only ? p->only : all) & ~p->without;
}
