/* SPDX-License-Identifier: MIT
 *
 * tact insn: what is known of an instruction.
 */
#include <stdlib.h>

#include "common/cli.h"
#include "common/output.h"
#include "insns.h"

static const char help[] =
	"usage: tact insn [OPTIONS] NAME|FORM|\"INSTRUCTION\"\n"
	"       tact insn [OPTIONS] -x HEX\n\n"
	"Tells what is known of an instruction: uops, ports, the latency from each operand to each "
	"result, reciprocal throughput, fusion, idioms, and where the figures come from. For one "
	"microarchitecture, or for several side by side. NAME is a mnemonic; FORM adds kinds of "
	"operands, such as r64, m128 or i8; INSTRUCTION is assembly text. On CPUs by LLVM's "
	"models, "
	"FORM is LLVM's name, such as ADDXrs.\n\n"
	"{options}\n\n"
	"Examples:\n"
	"  tact insn popcnt                   the forms of popcnt\n"
	"  tact insn -a all 'add r64, m64'    one form on every microarchitecture\n"
	"  tact insn -a SKL -x 480fafc3\n"
	"  tact insn -a cortex-a57,neoverse-n1 'madd x0, x1, x2, x3'\n"
	"  tact insn --measure 'popcnt r64, r64'\n";

#define OPTION_HOLDER insns

static const struct option_spec input_specs[] = {
	OPTION_TEXT('x', "hex", "HEX", hex, "the instruction that these hex digits encode"),
	OPTION_END,
};

static const struct option_spec specs[] = {
	OPTION_FLAG(0, "measure", is_measured,
		    "also measure on this machine: the throughput of independent copies, and the "
		    "latency of chains"),
	OPTION_FLAG(0, "all", is_all, "list all forms, not only the first 40"),
	OPTION_RESULTS(OPTION_FORMAT_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Instruction", input_specs),
	OPTION_GROUP("CPU", archlist_option_specs, archs, archlist_fini),
	OPTION_OWN("Output", specs),
	OPTION_WORDS(words),
};

static int run(void *target)
{
	struct insns *q = target;
	struct text text = {0};
	int status;

	if (!q->hex == !q->words.n)
		return cli_wrong(q->hex ? "give an instruction or -x HEX, not both"
					: "no instruction: give a name, such as popcnt, or -x HEX");
	status = archlist_resolve(&q->archs, NULL, q->is_quiet);
	if (status)
		return status;
	q->isa = tact_arch_isa(q->archs.arch[0]);
	if (q->is_measured && q->isa != tact_isa_default())
		return cli_wrong("--measure: this machine executes %s code, not %s",
				 tact_isa_title(tact_isa_default()), tact_isa_title(q->isa));
	status = insn_ask(q);
	if (status)
		return status;
	if (q->format)
		insn_print_rows(q, &text);
	else
		insn_print_text(q, &text);
	return output_all(q->output, &text);
}

static void fini(void *target)
{
	free(((struct insns *)target)->choices);
}

static const struct option_command command = {help, groups, run, fini};

int cmd_insn(int argc, char **argv)
{
	struct insns q = {.hex = NULL};

	return option_command_run(&command, &q, argc, argv);
}
