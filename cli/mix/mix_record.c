/* SPDX-License-Identifier: MIT
 *
 * tact mix record and tact mix exact: a program is run, or watched.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "common/program_options.h"
#include "mixer.h"

static const char help[] =
	"usage: tact mix record [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
	"       tact mix record [OPTIONS] -p PID | -a\n"
	"       tact mix record --native [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
	"       tact mix record --native [OPTIONS] -p PID\n\n"
	"Runs a program, or watches what is running, and samples two events at once: instructions, "
	"and taken branches with branch stacks. The file has the format of perf.\n\n"
	"{options}\n\n"
	"On a machine without branch stacks, or without a PMU, the best rung of the\n"
	"ladder that works is used; the report tells what that means. --native needs\n"
	"neither a PMU nor QEMU; --virtual needs only QEMU.\n\n"
	"Examples:\n"
	"  tact mix record -- gzip -9k file\n"
	"  tact mix record -o web.data -p 4711\n"
	"  tact mix record --native -- ./program; tact mix report mix.counts\n"
	"  tact mix record --native -p 4711 --time 10 -o web.counts\n"
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
		"expected time of the run, from which the periods follow (default: some seconds); "
		"with --native, let go of the process after this time"),
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

static const struct option_spec native_specs[] = {
	OPTION_FLAG(0, "native", program.native,
		    "step through windows of the program at random moments, with ptrace, and write "
		    "counts (default file: mix.counts): any instruction, generated code, in user "
		    "mode"),
	OPTION_END,
};

static const struct option_spec virtual_specs[] = {
	OPTION_FLAG(0, "virtual", is_virtual,
		    "run the program under QEMU and sample it with a simulated PMU"),
	OPTION_TEXT(0, "exact", "FILE", exact,
		    "also write exact counts of the same run, as 'tact mix exact' does"),
	OPTION_SEED(seed, "seed of the random number generator, also of --native (default: 0)"),
	OPTION_TEXT(
		0, "arch", "NAME", arch,
		"microarchitecture whose pipeline tells when instructions retire (default: SKL); "
		"with --native, the one that comes nearest to this CPU (default: as the CPU says)"),
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
	OPTION_OWN("Without PMU and QEMU", native_specs),
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

/* ---- windows, without either ---- */

static int launch(struct recorder *r, struct tact_trace **trace)
{
	struct tact_trace_options opt = {.size = sizeof(opt), .mode = TACT_TRACE_FULL};
	struct tact_diag diag = {0};
	int status;

	program_options_apply(&r->program, &opt);
	opt.seed = r->seed;
	opt.milliseconds = r->seconds * 1000;
	status = r->pid ? tact_trace_attach(trace, &opt, (int)r->pid, &diag)
			: tact_trace_launch(trace, &opt, r->words.list, &diag);
	if (status >= 0)
		return CLI_GOOD;
	cli_message("%s", diag.text);
	return status == -TACT_E_NO_TOOL || status == -TACT_E_NOT_MODELLED ? CLI_UNABLE
									   : CLI_FAILED;
}

enum { FEW_WINDOWS = 30 }; /* programs of some seconds have 40 to 70 */

/* number: of a signal that ended it, or 0. */
static int report_windows(const struct recorder *r, const struct tact_mix_windowed *out, int status,
			  const struct tact_diag *diag, int number)
{
	const bool is_signalled = number && !r->pid;

	if (status == -TACT_E_NO_DATA)
		cli_message("%s did not run long enough for a window; 'tact mix exact' counts "
			    "everything, with QEMU",
			    r->pid ? "the process" : r->words.list[0]);
	else if (status < 0)
		cli_message("%s%s", diag->text, status == -TACT_E_NO_ARCH ? " with --arch" : "");
	else if (!r->is_quiet)
		cli_message("%s: %" PRIu64 " windows in %.3g s of user time, about %.3g "
			    "instructions; error to expect: %s",
			    r->output, out->windows, out->seconds, out->instructions,
			    tact_mix_rung_error(TACT_MIX_RUNG_WINDOWS));
	if (status >= 0 && !r->is_quiet && out->windows < FEW_WINDOWS)
		cli_message(
			"these are few windows: a longer run, or several with different --seed, "
			"which 'tact mix report' adds up, have a smaller error");
	if (number && r->pid)
		cli_message("the process runs on");
	else if (number)
		cli_message("interrupted: the counts are of what was executed so far");
	if (is_signalled)
		return 128 + number;
	return status >= 0 ? CLI_GOOD : status == -TACT_E_NO_ARCH ? CLI_UNABLE : CLI_FAILED;
}

/* A program should not run in vain: a new file is created and removed again. */
static int check_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd >= 0)
		unlink(path);
	else if (errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		cli_message("%s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	close(fd);
	return CLI_GOOD;
}

static int count_windows(struct recorder *r)
{
	struct tact_mix_windows_options o = {.size = sizeof(o), .output = r->output};
	struct tact_mix_windowed out = TACT_MIX_WINDOWED_INIT;
	struct tact_diag diag = {0};
	struct tact_trace *trace;
	struct text command = {0};
	int status, code, ended, number;

	o.arch = r->arch ? archlist_find(r->arch) : NULL;
	if (r->arch && !o.arch)
		return CLI_USAGE;
	code = check_output(r->output);
	if (!code)
		code = launch(r, &trace);
	if (code)
		return code;
	for (char **w = r->words.list; w && *w; w++)
		text_printf(&command, "%s%s", w == r->words.list ? "" : " ", *w);
	if (r->pid)
		text_printf(&command, "process %u", r->pid);
	o.command = cli_string(&command);
	program_signals_catch(trace);
	status = tact_mix_count_windows(trace, &o, &out, &diag);
	number = program_signals_release();
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	ended = program_report(trace, r->pid ? "the process" : file_base_name(r->words.list[0]),
			       r->is_quiet);
	code = report_windows(r, &out, status, &diag, number);
	tact_trace_close(trace);
	text_free(&command);
	return code ? code : ended;
}

static int check_native(const struct recorder *r)
{
	if (r->is_virtual || r->exact)
		return cli_wrong("--native runs the program on this CPU: --virtual and --exact do "
				 "not apply");
	if (r->all_cpus)
		return cli_wrong("--native needs a program or -p PID, without -a");
	if (r->best || r->ebs_period || r->lbr_period)
		return cli_wrong("--native takes no samples: --rung, --ebs-period and --lbr-period "
				 "do not apply");
	if (r->depth || r->skid != UINT_MAX || r->shadow != UINT_MAX || r->lost != UINT_MAX ||
	    r->biased != UINT_MAX)
		return cli_wrong("--depth, --skid, --shadow, --lost-newest and --biased are for "
				 "--virtual, not for --native");
	if (program_has_qemu_options(&r->program))
		return cli_wrong(PROGRAM_QEMU_OPTIONS " are for QEMU, which --native does without");
	if (r->seconds && !r->pid)
		return cli_wrong("--time with --native is for -p");
	return CLI_GOOD;
}

static int check(const struct recorder *r)
{
	if (r->program.native && check_native(r))
		return CLI_USAGE;
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

	if (status)
		return status;
	if (r->program.native) {
		if (!r->output)
			r->output = "mix.counts";
		return count_windows(r);
	}
	if (!r->output)
		r->output = "perf.data";
	return r->is_virtual ? emulate(r) : sample(r);
}

static const struct option_command command = {help, groups, run, NULL};

int mix_record_main(int argc, char **argv)
{
	struct recorder r = {NOT_GIVEN};

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
