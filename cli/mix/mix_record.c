/* SPDX-License-Identifier: MIT
 *
 * tact mix record and tact mix exact: a program is run, or watched.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/program_options.h"
#include "mixer.h"

static const char help[] =
	"usage: tact mix record [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
	"       tact mix record [OPTIONS] -p PID | -a\n\n"
	"Runs a program, or watches what is running, and samples two events at once: instructions, "
	"and taken branches with branch stacks. The file has the format of perf.\n\n"
	"{options}\n\n"
	"On a machine without branch stacks, or without a PMU, the best rung of the\n"
	"ladder that works is used; the report tells what that means. --virtual needs\n"
	"only QEMU.\n\n"
	"Examples:\n"
	"  tact mix record -- gzip -9k file\n"
	"  tact mix record -o web.data -p 4711\n"
	"  tact mix record --virtual --exact gzip.counts -o gzip.data -- gzip -9k file\n";

struct recorder {
	struct option_words words; /* the program and its arguments */
	const char *output, *exact, *arch;
	struct program_options program;
	unsigned pid, ebs_period, lbr_period, seconds, seed, depth;
	unsigned skid, shadow, lost, biased; /* UINT_MAX: the default */
	bool all_cpus, user_only, is_virtual, is_quiet;
	int best;
};

#define NOT_GIVEN .skid = UINT_MAX, .shadow = UINT_MAX, .lost = UINT_MAX, .biased = UINT_MAX

static const struct option_choice rungs[] = {
	{"lbr", TACT_MIX_RUNG_LBR},
	{"amd", TACT_MIX_RUNG_AMD},
	{"precise", TACT_MIX_RUNG_PRECISE},
	{"instructions", TACT_MIX_RUNG_INSTRUCTIONS},
	{"cycles", TACT_MIX_RUNG_CYCLES},
	{"clock", TACT_MIX_RUNG_CLOCK},
	{NULL, 0},
};

#define OPTION_HOLDER recorder

static const struct option_spec output_specs[] = {
	OPTION_OUTPUT(output, "write the result to FILE"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_spec target_specs[] = {
	OPTION_NUMBER('p', "pid", "PID", pid, 1, 0x7fffffff,
		      "watch this process until it ends, or until an interrupt"),
	OPTION_FLAG('a', "all-cpus", all_cpus,
		    "watch the whole system while a program runs, or until an interrupt"),
	OPTION_END,
};

static const struct option_spec sampling_specs[] = {
	OPTION_NUMBER(
		0, "time", "SECONDS", seconds, 1, 1000000,
		"expected time of the run, from which the periods follow (default: some seconds)"),
	OPTION_NUMBER(0, "ebs-period", "N", ebs_period, 100, 0xffffffff,
		      "take a sample every N instructions; primes are best"),
	OPTION_NUMBER(0, "lbr-period", "N", lbr_period, 10, 0xffffffff,
		      "take a branch stack every N taken branches"),
	OPTION_FLAG(0, "user", user_only, "do not sample the kernel"),
	OPTION_CHOICE(
		0, "rung", "RUNG", best, rungs,
		"start at this rung of the ladder: lbr, amd, precise, instructions, cycles, clock"),
	OPTION_END,
};

static const struct option_spec virtual_specs[] = {
	OPTION_FLAG(0, "virtual", is_virtual,
		    "run the program under QEMU and sample it with a simulated PMU"),
	OPTION_TEXT(0, "exact", "FILE", exact,
		    "also write exact counts of the same run, as 'tact mix exact' does"),
	OPTION_SEED(seed, "seed of the random number generator (default: 0)"),
	OPTION_TEXT(
		0, "arch", "NAME", arch,
		"microarchitecture whose pipeline tells when instructions retire (default: SKL)"),
	OPTION_NUMBER(0, "depth", "N", depth, 4, 64, "entries of the branch stack (default: 16)"),
	OPTION_NUMBER(0, "skid", "CYCLES", skid, 0, 1000,
		      "distance from an overflow to its sample (default: 4)"),
	OPTION_NUMBER(0, "shadow", "PERCENT", shadow, 0, 100,
		      "share of samples that skid although they are precise (default: 25)"),
	OPTION_NUMBER(0, "lost-newest", "PERCENT", lost, 0, 100,
		      "share of stacks that lack the record before the newest (default: 20)"),
	OPTION_NUMBER(
		0, "biased", "PERMILLE", biased, 0, 1000,
		"share of branches that occupy the oldest entry half of the time (default: 10)"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("What", target_specs),
	OPTION_OWN("Sampling", sampling_specs),
	OPTION_OWN("Virtual PMU", virtual_specs),
	OPTION_GROUP("", program_option_specs, program, NULL),
	OPTION_OWN("Output", output_specs),
	OPTION_WORDS(words),
};

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

static int say_exit(const struct recorder *r, int status)
{
	if (WIFSIGNALED(status)) {
		cli_message("%s was killed by signal %d", r->words.list[0], WTERMSIG(status));
		return CLI_FAILED;
	}
	if (WEXITSTATUS(status) && !r->is_quiet)
		cli_message("%s exited with status %d", r->words.list[0], WEXITSTATUS(status));
	return CLI_GOOD;
}

/* ---- under QEMU ---- */

/* For the library, 0 is the default and -1 is none. */
static int given(unsigned value)
{
	return value == UINT_MAX ? 0 : value ? (int)value : -1;
}

static int emulate(struct recorder *r)
{
	struct tact_trace_options run = {.size = sizeof(run)};
	struct tact_mix_emulate_options o = {
		.size = sizeof(o),
		.output = r->output,
		.exact = r->exact,
		.argv = r->words.list,
		.run = &run,
		.seed = r->seed,
		.ebs_period = r->ebs_period,
		.lbr_period = r->lbr_period,
		.depth = r->depth,
		.skid = given(r->skid),
		.shadow = given(r->shadow),
		.lost_newest = given(r->lost),
		.biased = given(r->biased),
		.stop = should_stop,
	};
	struct tact_mix_emulated out = {.size = sizeof(out)};
	struct tact_diag diag = {0};
	int status;

	o.arch = archlist_find(r->arch ? r->arch : "SKL");
	if (!o.arch)
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
			    " processes continued natively after execve and are not counted",
			    out.native);
	return say_exit(r, out.exit_status);
}

/* ---- with the PMU ---- */

static int sample(struct recorder *r)
{
	struct tact_mix_record_options o = {
		.size = sizeof(o),
		.output = r->output,
		.argv = r->words.list,
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
	return r->words.list ? say_exit(r, out.exit_status) : CLI_GOOD;
}

static int check(const struct recorder *r)
{
	if (r->is_virtual && (r->pid || r->all_cpus || !r->words.list))
		return cli_wrong("--virtual needs a program to run, without -p and -a");
	if (r->exact && !r->is_virtual)
		return cli_wrong(
			"--exact requires --virtual; 'tact mix exact' counts without sampling");
	if (!r->words.list && !r->pid && !r->all_cpus)
		return cli_wrong(
			"mix record: nothing to record: give a program after --, -p PID or -a");
	if (r->words.list && r->pid)
		return cli_wrong("mix record: give a program or a process, not both");
	return CLI_GOOD;
}

static int run(void *target)
{
	struct recorder *r = target;
	const int status = check(r);

	return status ? status : r->is_virtual ? emulate(r) : sample(r);
}

static const struct option_command command = {help, groups, run, NULL};

int mix_record_main(int argc, char **argv)
{
	struct recorder r = {NOT_GIVEN, .output = "perf.data"};

	return option_command_run(&command, &r, argc, argv);
}

/* ---- exact ---- */

static const struct option_group exact_groups[] = {
	OPTION_GROUP("QEMU", program_option_specs, program, NULL),
	OPTION_OWN("Output", output_specs),
	OPTION_WORDS(words),
};

static const char exact_help[] =
	"usage: tact mix exact [OPTIONS] -- PROGRAM [ARGUMENT...]\n\n"
	"Runs a program under QEMU and counts every execution of every block in user mode. 'tact "
	"mix report' reads the counts like a recording (default file: mix.counts).\n\n"
	"{options}\n";

static int count(void *target)
{
	struct recorder *r = target;

	r->exact = r->output;
	r->output = NULL;
	return r->words.list ? emulate(r) : cli_wrong("mix exact: no program: give one after --");
}

static const struct option_command exact = {exact_help, exact_groups, count, NULL};

int mix_exact_main(int argc, char **argv)
{
	struct recorder r = {NOT_GIVEN, .output = "mix.counts"};

	return option_command_run(&exact, &r, argc, argv);
}
