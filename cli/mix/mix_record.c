/* SPDX-License-Identifier: MIT
 *
 * tact mix record and tact mix exact: a program is run, or watched.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/program_options.h"
#include "mixer.h"

struct recorder {
	char **argv; /* owned; NULL-terminated */
	size_t n_args;
	const char *output, *exact, *arch;
	struct program_options program;
	unsigned pid, ebs_period, lbr_period, seconds, seed, depth, skid, shadow, lost, biased;
	bool all_cpus, user_only, is_virtual, is_quiet;
	bool has_skid, has_shadow, has_lost, has_biased;
	int best;
};

static const struct option_choice rungs[] = {
	{"lbr", TACT_MIX_RUNG_LBR},
	{"amd", TACT_MIX_RUNG_AMD},
	{"precise", TACT_MIX_RUNG_PRECISE},
	{"instructions", TACT_MIX_RUNG_INSTRUCTIONS},
	{"cycles", TACT_MIX_RUNG_CYCLES},
	{"clock", TACT_MIX_RUNG_CLOCK},
	{NULL, 0},
};

#define RECORD_FIELD(field, type) .offset = OPTION_FIELD(recorder, field, type)

static const char *set_number(const char *value, unsigned high, unsigned *number, bool *has)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || n > high)
		return "not a number in its range";
	*number = (unsigned)n;
	*has = true;
	return NULL;
}

static const char *set_skid(void *target, const char *value)
{
	struct recorder *r = target;

	return set_number(value, 1000, &r->skid, &r->has_skid);
}

static const char *set_shadow(void *target, const char *value)
{
	struct recorder *r = target;

	return set_number(value, 100, &r->shadow, &r->has_shadow);
}

static const char *set_lost(void *target, const char *value)
{
	struct recorder *r = target;

	return set_number(value, 100, &r->lost, &r->has_lost);
}

static const char *set_biased(void *target, const char *value)
{
	struct recorder *r = target;

	return set_number(value, 1000, &r->biased, &r->has_biased);
}

/* clang-format off: an option stays together */
static const struct option_spec output_specs[] = {
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 RECORD_FIELD(output, const char *),
	 .help = "the file to write"},
	{.letter = 'q',
	 .name = "quiet",
	 .type = OPTION_FLAG,
	 RECORD_FIELD(is_quiet, bool),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};

static const struct option_spec target_specs[] = {
	{.letter = 'p',
	 .name = "pid",
	 .argument = "PID",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 0x7fffffff,
	 RECORD_FIELD(pid, unsigned),
	 .help = "watch this process until it ends, or until an interrupt"},
	{.letter = 'a',
	 .name = "all-cpus",
	 .type = OPTION_FLAG,
	 RECORD_FIELD(all_cpus, bool),
	 .help = "watch the whole system, while a program runs or until an interrupt"},
	{.name = NULL},
};

static const struct option_spec sampling_specs[] = {
	{.name = "time",
	 .argument = "SECONDS",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 1000000,
	 RECORD_FIELD(seconds, unsigned),
	 .help = "expected time of the run, which the periods follow (default: some seconds)"},
	{.name = "ebs-period",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 100,
	 .high = 0xffffffff,
	 RECORD_FIELD(ebs_period, unsigned),
	 .help = "instructions from sample to sample; primes are best"},
	{.name = "lbr-period",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 10,
	 .high = 0xffffffff,
	 RECORD_FIELD(lbr_period, unsigned),
	 .help = "taken branches from branch stack to branch stack"},
	{.name = "user",
	 .type = OPTION_FLAG,
	 RECORD_FIELD(user_only, bool),
	 .help = "not the kernel"},
	{.name = "rung",
	 .argument = "RUNG",
	 .type = OPTION_CHOICE,
	 .choices = rungs,
	 RECORD_FIELD(best, int),
	 .help = "begin with this rung of the ladder: lbr, amd, precise, instructions, cycles, "
		 "clock"},
	{.name = NULL},
};

static const struct option_spec virtual_specs[] = {
	{.name = "virtual",
	 .type = OPTION_FLAG,
	 RECORD_FIELD(is_virtual, bool),
	 .help = "run the program under QEMU and sample it with a simulated PMU"},
	{.name = "exact",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 RECORD_FIELD(exact, const char *),
	 .help = "also write exact counts of the same run, as tact mix exact does"},
	{.name = "seed",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 0,
	 .high = 0xffffffff,
	 RECORD_FIELD(seed, unsigned),
	 .help = "of what is random (default: 0)"},
	{.letter = 0,
	 .name = "arch",
	 .argument = "NAME",
	 .type = OPTION_TEXT,
	 RECORD_FIELD(arch, const char *),
	 .help = "CPU whose pipeline says when instructions retire (default: SKL)"},
	{.name = "depth",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 4,
	 .high = 64,
	 RECORD_FIELD(depth, unsigned),
	 .help = "entries of the branch stack (default: 16)"},
	{.name = "skid",
	 .argument = "CYCLES",
	 .type = OPTION_CALL,
	 .call = set_skid,
	 .help = "from an overflow to the sample (default: 4)"},
	{.name = "shadow",
	 .argument = "PERCENT",
	 .type = OPTION_CALL,
	 .call = set_shadow,
	 .help = "samples of instructions that skid, although they are precise (default: 25)"},
	{.name = "lost-newest",
	 .argument = "PERCENT",
	 .type = OPTION_CALL,
	 .call = set_lost,
	 .help = "stacks that lack the record in front of the newest (default: 20)"},
	{.name = "biased",
	 .argument = "PERMILLE",
	 .type = OPTION_CALL,
	 .call = set_biased,
	 .help = "branches that stand in the oldest entry half of the time (default: 10)"},
	{.name = NULL},
};
/* clang-format on */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	interrupted = signal;
}

static bool should_stop(void *arg)
{
	(void)arg;
	return interrupted;
}

static void catch_interrupts(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static const char *add_word(void *target, const char *value)
{
	struct recorder *r = target;

	r->argv = cli_realloc(r->argv, (r->n_args + 2) * sizeof(*r->argv));
	r->argv[r->n_args++] = (char *)(uintptr_t)value;
	r->argv[r->n_args] = NULL;
	return NULL;
}

static int say_exit(const struct recorder *r, int status)
{
	if (WIFSIGNALED(status)) {
		cli_message("%s was ended by signal %d", r->argv[0], WTERMSIG(status));
		return CLI_FAILED;
	}
	if (WEXITSTATUS(status) && !r->is_quiet)
		cli_message("%s exited with status %d", r->argv[0], WEXITSTATUS(status));
	return CLI_GOOD;
}

/* ---- under QEMU ---- */

static int emulate(struct recorder *r)
{
	struct tact_trace_options run = {.size = sizeof(run)};
	struct tact_mix_emulate_options o = {
		.size = sizeof(o),
		.output = r->output,
		.exact = r->exact,
		.argv = r->argv,
		.run = &run,
		.seed = r->seed,
		.ebs_period = r->ebs_period,
		.lbr_period = r->lbr_period,
		.depth = r->depth,
		.skid = r->has_skid ? (int)r->skid : -1,
		.shadow = r->has_shadow ? (int)r->shadow : -1,
		.lost_newest = r->has_lost ? (int)r->lost : -1,
		.biased = r->has_biased ? (int)r->biased : -1,
		.stop = should_stop,
	};
	struct tact_mix_emulated out = {.size = sizeof(out)};
	struct tact_diag diag = {0};
	int status;

	if (r->arch && !(o.arch = archlist_find(r->arch)))
		return CLI_USAGE;
	program_options_apply(&r->program, &run);
	catch_interrupts();
	status = tact_mix_emulate(&o, &out, &diag);
	if (status < 0) {
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	if (!r->is_quiet && r->output)
		cli_message("%s: %" PRIu64 " instructions, %" PRIu64 " taken branches; %" PRIu64
			    " samples, %" PRIu64 " branch stacks",
			    r->output, out.instructions, out.branches, out.ebs_samples,
			    out.lbr_samples);
	if (!r->is_quiet && !r->output)
		cli_message("%s: %" PRIu64 " instructions in %" PRIu32 " pieces of code", r->exact,
			    out.instructions, out.blocks);
	if (!r->is_quiet && out.native)
		cli_message("%" PRIu32
			    " processes went on natively after execve and are not counted",
			    out.native);
	return say_exit(r, out.exit_status);
}

/* ---- with the PMU ---- */

static int sample(struct recorder *r)
{
	struct tact_mix_record_options o = {
		.size = sizeof(o),
		.output = r->output,
		.argv = r->argv,
		.pid = (int)r->pid,
		.all_cpus = r->all_cpus,
		.ebs_period = r->ebs_period,
		.lbr_period = r->lbr_period,
		.expected_seconds = r->seconds,
		.user_only = r->user_only,
		.best = (enum tact_mix_rung)r->best,
		.stop = should_stop,
	};
	struct tact_mix_recorded out = {.size = sizeof(out)};
	struct tact_diag diag = {0};
	int status;

	catch_interrupts();
	status = tact_mix_record(&o, &out, &diag);
	if (!r->is_quiet || status == -TACT_E_NOT_MODELLED)
		for (int i = 0; i < TACT_N_MIX_RUNGS; i++)
			if (out.why[i][0])
				cli_message("no rung %s: %s",
					    tact_mix_rung_name((enum tact_mix_rung)i), out.why[i]);
	if (status < 0) {
		cli_message("%s%s%s",
			    status == -TACT_E_IO || status == -TACT_E_INVAL ? "" : r->output,
			    status == -TACT_E_IO || status == -TACT_E_INVAL ? "" : ": ",
			    diag.text[0] ? diag.text : tact_strerror(status));
		return status == -TACT_E_NOT_MODELLED ? CLI_UNABLE : CLI_FAILED;
	}
	if (!r->is_quiet) {
		cli_message("%s: %" PRIu64 " bytes, rung %s%s; error to expect: %s", r->output,
			    out.bytes, tact_mix_rung_name(out.rung),
			    out.user_only ? " (without the kernel)" : "",
			    tact_mix_rung_error(out.rung));
		if (out.lost)
			cli_message("%" PRIu64 " samples were lost", out.lost);
	}
	return r->argv ? say_exit(r, out.exit_status) : CLI_GOOD;
}

static int check(const struct recorder *r)
{
	if (r->is_virtual && (r->pid || r->all_cpus || !r->argv)) {
		cli_message("--virtual needs a program to run, and nothing else");
		return CLI_USAGE;
	}
	if (r->exact && !r->is_virtual) {
		cli_message("--exact goes with --virtual; tact mix exact counts alone");
		return CLI_USAGE;
	}
	if (!r->argv && !r->pid && !r->all_cpus) {
		cli_message("mix record: what? A program behind --, -p PID, or -a");
		return CLI_USAGE;
	}
	if (r->argv && r->pid) {
		cli_message("mix record: a program or a process, not both");
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static const char record_epilogue[] =
	"Where the machine has no branch stacks, or no PMU at all, what there is is\n"
	"taken; the report says what that means. With --virtual nothing of the machine\n"
	"is needed but QEMU.\n\n"
	"Examples:\n"
	"  tact mix record -- gzip -9k file\n"
	"  tact mix record -o web.data -p 4711\n"
	"  tact mix record --virtual --exact gzip.counts -o gzip.data -- gzip -9k file\n";

int mix_record_main(int argc, char **argv)
{
	struct recorder r = {.output = "perf.data"};
	const struct option_group groups[] = {
		{"What", target_specs, &r},	    {"Sampling", sampling_specs, &r},
		{"Virtual PMU", virtual_specs, &r}, {"", program_option_specs, &r.program},
		{"Output", output_specs, &r},	    {NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact mix record [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
			 "       tact mix record [OPTIONS] -p PID | -a\n",
		.description =
			"Runs a program, or watches what runs, and samples it with two events at "
			"once: instructions, and taken branches with branch stacks. The file is "
			"perf's.",
		.epilogue = record_epilogue,
		.groups = groups,
		.argument = add_word,
		.argument_target = &r,
	};
	int status = options_parse(&command, argc, argv);

	if (status == OPTIONS_HELP)
		return options_print_help(&command);
	status = status == OPTIONS_WRONG ? CLI_USAGE : check(&r);
	if (!status)
		status = r.is_virtual ? emulate(&r) : sample(&r);
	program_options_fini(&r.program);
	free(r.argv);
	return status;
}

/* ---- exact ---- */

int mix_exact_main(int argc, char **argv)
{
	struct recorder r = {.output = "mix.counts"};
	const struct option_group groups[] = {
		{"QEMU", program_option_specs, &r.program},
		{"Output", output_specs, &r},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact mix exact [OPTIONS] -- PROGRAM [ARGUMENT...]\n",
		.description =
			"Runs a program under QEMU and counts every execution of every block: the "
			"truth, "
			"for user mode, which tact mix report reads as a recording (default file: "
			"mix.counts).",
		.groups = groups,
		.argument = add_word,
		.argument_target = &r,
	};
	int status = options_parse(&command, argc, argv);

	if (status == OPTIONS_HELP)
		return options_print_help(&command);
	if (status == OPTIONS_GOOD && !r.argv) {
		cli_message("mix exact needs a program");
		status = OPTIONS_WRONG;
	}
	r.exact = r.output;
	r.output = NULL;
	status = status == OPTIONS_WRONG ? CLI_USAGE : emulate(&r);
	program_options_fini(&r.program);
	free(r.argv);
	return status;
}
