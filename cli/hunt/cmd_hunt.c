/* SPDX-License-Identifier: MIT
 *
 * tact hunt: its options, what it writes while it runs, and its work.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "base/file.h"
#include "common/cli.h"
#include "hunter.h"

enum { BATCH_MODELS = 1024, BATCH_WORKER = 24, ROUNDS = 6 };

static const char help[] =
	"usage: tact hunt [OPTIONS] [INPUT...]\n"
	"       tact hunt --against MODEL[:CPU] [OPTIONS] [INPUT...]\n"
	"       tact hunt --truth FILE [OPTIONS] [INPUT...]\n\n"
	"Finds where a model is wrong: makes blocks, compares the prediction with a measurement on "
	"this machine (or with another model), shortens each block on which they disagree, and "
	"reports the class of blocks that it stands for, with the smallest example.\n\n"
	"{options}\n\n"
	"An INPUT is a list of hex strings, a CSV with a column hex, or a store: real\n"
	"blocks to begin with. Its weights tell how much a class matters.\n\n"
	"{models}\n\n"
	"Examples:\n"
	"  tact hunt --time 600 -j 0 -o hunt.txt blocks.csv\n"
	"  tact hunt -a SKL --model facile --against sim blocks.csv\n"
	"  tact hunt -a SKL --model facile --against facile:ICL blocks.csv\n"
	"  tact hunt -a ICX --init same --truth icl_u.csv blocks.csv\n"
	"  tact hunt -a ZEN4 --emit todo.csv blocks.csv\n"
	"  tact hunt -a ZEN4 --emit todo.csv --measured done.csv blocks.csv\n";

static const char *set_absolute(void *target, const char *value)
{
	struct hunter *p = target;
	char *end;

	p->absolute = strtod(value, &end);
	if (end == value || *end || !(p->absolute > 0) || p->absolute > 1e6)
		return "not a number of cycles above 0";
	return NULL;
}

static const char *add_measured(void *target, const char *value)
{
	return option_words_add(&((struct hunter *)target)->measured, value);
}

#define OPTION_HOLDER hunter

static const struct option_spec side_specs[] = {
	OPTION_TEXT(0, "model", "NAME", model,
		    "the model to be tested, as below (default: facile)"),
	OPTION_TEXT(0, "against", "MODEL", against,
		    "compare with this model instead of a measurement; MODEL:CPU: on another "
		    "microarchitecture"),
	OPTION_TEXT(0, "truth", "FILE", truth,
		    "compare with the measured rows of FILE, a CSV or a store, and make no new "
		    "blocks"),
	OPTION_MODE(mode, OPTION_BIT(TACT_MODE_LOOP) | OPTION_BIT(TACT_MODE_UNROLL),
		    "blocks as loops (loop) or unrolled (unroll, default)"),
	OPTION_INIT(init, OPTION_BIT(TACT_INIT_SAME) | OPTION_BIT(TACT_INIT_STACK),
		    "register values on entry: all the same except for the stack and frame "
		    "pointers (stack, default); all the same (same)"),
	OPTION_FLAG(0, "clean", is_clean, "of --truth, use only rows whose column clean is 1"),
	OPTION_END,
};

static const struct option_spec hunt_specs[] = {
	OPTION_NUMBER(0, "relative", "PERCENT", percent, 1, 1000,
		      "they disagree if they differ by more than this (default: 10)"),
	OPTION_CALL(0, "absolute", "CYCLES", set_absolute,
		    "and by more than this many cycles per iteration (default: 0.1)"),
	OPTION_NUMBER(0, "samples", "N", samples, 4, 1000,
		      "try N blocks for each feature that may not matter (default: 10)"),
	OPTION_NUMBER(0, "share", "PERCENT", share, 1, 100,
		      "a class is one if this share of its blocks disagree (default: 75; with "
		      "--truth: 50)"),
	OPTION_NUMBER(0, "insns", "N", insns, 1, 16,
		      "make blocks of up to N instructions (default: 8)"),
	OPTION_FLAG(0, "real", is_real,
		    "use only instructions of the inputs, not all that the CPU has"),
	OPTION_SEED(seed, "seed of everything that is random (default: 0)"),
	OPTION_NUMBER(0, "time", "S", seconds, 1, 1000000, "stop after S seconds"),
	OPTION_NUMBER(0, "blocks", "N", blocks, 1, 1000000000,
		      "stop after N blocks (default: 20000, without --time)"),
	OPTION_NUMBER(0, "classes", "N", classes, 1, 10000,
		      "stop after N classes (default: no limit; with --truth: 30)"),
	OPTION_END,
};

static const struct option_spec judge_specs[] = {
	OPTION_TEXT(0, "emit", "FILE", emit,
		    "measure nothing: write a list of the blocks to measure next, as FILE"),
	OPTION_CALL(0, "measured", "FILE", add_measured,
		    "what was measured before or elsewhere: a CSV with hex and cycles, or a store; "
		    "may be repeated"),
	OPTION_TEXT(0, "log", "FILE", log,
		    "append every measurement to FILE, and begin with what it has: a hunt that was "
		    "stopped goes on"),
	OPTION_NUMBER(0, "rounds", "N", rounds, 2, 100,
		      "measure a block up to N times, until two rounds confirm it (default: 6)"),
	OPTION_JOBS(jobs, HUNTER_MAX_WORKERS,
		    "use N workers or threads (default: 1; 0: one per core)"),
	OPTION_FLAG(0, "noisy", is_noisy,
		    "count samples even while something else runs on the core"),
	OPTION_FLAG(0, "no-namespaces", has_no_namespaces,
		    "run blocks without namespaces of their own, where a container refuses them"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS, OPTION_FORMAT_HELP),
	OPTION_OUTPUT(output, "write the report to FILE, anew with each class that is found"),
	OPTION_QUIET(is_quiet, OPTION_PROGRESS_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Sides", side_specs),
	OPTION_GROUP("", archlist_option_specs, archs, archlist_fini),
	OPTION_OWN("Hunt", hunt_specs),
	OPTION_OWN("Measuring", judge_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_WORDS(inputs),
};

/* ---- events ---- */

/* The only thing that a signal changes. */
static volatile int interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* The last part of the time is for what has begun. */
static bool is_closing(void *context)
{
	const struct hunter *p = context;

	return p->seconds && progress_seconds() - p->start >= 0.85 * (double)p->seconds;
}

static void save(struct hunter *p)
{
	struct tact_diag diag = {0};
	struct text text = {0};

	hunter_report(p, &text);
	if (file_write_text(p->output, &text, &diag) < 0 && !p->is_failed) {
		cli_complain(p->output, &diag, -TACT_E_IO, 0);
		p->is_failed = true;
	}
}

static void found(void *context, const struct tact_hunt_finding *finding)
{
	struct hunter *p = context;

	(void)finding;
	if (p->output && !p->truth)
		save(p);
}

static void show_progress(void *context, const struct tact_hunt_counts *c)
{
	struct hunter *p = context;

	if (progress_is_due(&p->progress))
		progress_say(&p->progress, "%zu blocks compared, %zu off, %zu classes", c->n_blocks,
			     c->n_off, tact_hunt_count(p->hunt));
}

static int create(struct hunter *p)
{
	struct tact_hunt_options o = {
		.size = sizeof(o),
		.arch = p->archs.arch[0],
		.mode = (enum tact_mode)p->mode,
		.relative = p->relative,
		.absolute = p->absolute,
		.samples = p->samples,
		.share = p->share   ? 0.01 * p->share
			 : p->truth ? 0.5
				    : 0.75,
		.most_insns = p->insns,
		.most_blocks = p->blocks,
		.most_classes = p->classes,
		.seed = p->seed,
		.is_forms = !p->is_real,
		.is_aligned = !p->emit,
		.is_over = hunter_is_over,
		.is_closing = is_closing,
		.found = found,
		.progress = show_progress,
		.context = p,
	};
	int status = hunter_create_model(p, &p->side, p->model, p->archs.arch[0]);

	o.model = (struct tact_hunt_side){tact_hunt_model_ask, p->side};
	if (!status && !p->truth)
		status = hunter_create_judge(p, &o);
	if (status)
		return status;
	o.batch = p->measure ? BATCH_WORKER * p->jobs : BATCH_MODELS;
	if (p->blocks && p->blocks < o.batch)
		o.batch = p->blocks;
	if (tact_hunt_create(&p->hunt, &o, NULL) < 0)
		cli_out_of_memory();
	hunter_say_what(p);
	return CLI_GOOD;
}

/* ---- work ---- */

static int check(struct hunter *p)
{
	if (p->archs.n > 1)
		return cli_wrong("hunt tests one microarchitecture at a time");
	if (p->truth && (strcmp(p->against, "measure") || p->emit || p->measured.n || p->log))
		return cli_wrong("--truth is the judge: it goes with neither --against, --emit, "
				 "--measured nor --log");
	if (strcmp(p->against, "measure") && (p->emit || p->measured.n || p->log))
		return cli_wrong("--emit, --measured and --log are for measurements, not for "
				 "--against");
	if (p->emit && p->log)
		return cli_wrong("--emit measures nothing, so there is nothing to --log");
	if (!p->inputs.n && p->is_real && !p->truth)
		return cli_wrong("--real needs an input: give a list of blocks");
	return CLI_GOOD;
}

static int open_outputs(struct hunter *p)
{
	struct text text = {0};

	if (p->emit) {
		if (output_open(&p->emitted, p->emit))
			return CLI_FAILED;
		hunter_put_header(&text, false);
		output_write(&p->emitted, &text);
	}
	if (p->log) {
		p->logged = (struct output){.fd = open(p->log, O_WRONLY | O_APPEND | O_CLOEXEC),
					    .name = p->log};
		if (p->logged.fd < 0) {
			cli_message("%s: cannot be written", p->log);
			return CLI_FAILED;
		}
	}
	text_free(&text);
	return CLI_GOOD;
}

static int hunt(struct hunter *p)
{
	struct tact_diag diag = {0};
	int status;

	p->start = progress_seconds();
	progress_init(&p->progress, NULL, 0, p->is_quiet);
	status = p->truth ? tact_hunt_rows(p->hunt, &diag) : tact_hunt_run(p->hunt, &diag);
	progress_clear(&p->progress);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0) {
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	if (p->emit && !p->is_quiet)
		cli_message("blocks to be measured: %zu, in %s; 'tact measure -m %s --init %s "
			    "--until-confirmed -f csv %s' measures them, --measured takes the "
			    "result",
			    p->n_emitted, p->emit, tact_mode_name((enum tact_mode)p->mode),
			    tact_init_name((enum tact_init)p->init), p->emit);
	if (interrupted)
		cli_message("interrupted: the report has what was found until then");
	return CLI_GOOD;
}

static int print(struct hunter *p)
{
	struct text text = {0};

	if (p->output) {
		save(p);
		return p->is_failed ? CLI_FAILED : CLI_GOOD;
	}
	hunter_report(p, &text);
	return output_all(NULL, &text);
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

/* Without a block to begin with, what the user asked for cannot be done. */
static int no_blocks(const struct hunter *p, int status)
{
	if (!status)
		cli_message("%s: no block to begin with", p->truth ? p->truth : p->inputs.list[0]);
	return CLI_FAILED;
}

/* Measurements on another microarchitecture find its differences, not errors of the model. */
static void warn_of_host(const struct hunter *p)
{
	const struct tact_arch *host = tact_arch_host();

	if (p->measure && !p->is_quiet && host != p->archs.arch[0])
		cli_message("the model is one of %s, but this machine is %s%s: what they disagree "
			    "on may be a difference between the two",
			    tact_arch_name(p->archs.arch[0]), host ? "" : "not ",
			    tact_arch_name(host ? host : p->archs.arch[0]));
}

static int run(void *target)
{
	struct hunter *p = target;
	int status = check(p), read;

	if (!status)
		status = archlist_resolve(&p->archs, NULL, p->is_quiet);
	if (!status)
		status = check(p);
	if (status)
		return status;
	p->relative = 0.01 * p->percent;
	if (!p->blocks && !p->seconds)
		p->blocks = 20000;
	status = create(p);
	if (!status)
		status = open_outputs(p);
	if (status)
		return status;
	read = hunter_read(p);
	if ((p->truth || p->inputs.n) && !p->n_known)
		return no_blocks(p, read);
	if (p->memory)
		read = worse(read, hunter_read_measured(p));
	warn_of_host(p);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	status = hunt(p);
	if (status)
		return worse(read, status);
	return worse(read, print(p));
}

static void fini(void *target)
{
	struct hunter *p = target;

	if (p->emit && p->emitted.name)
		output_close(&p->emitted);
	if (p->log && p->logged.name)
		output_close(&p->logged);
	tact_hunt_destroy(p->hunt);
	tact_hunt_model_destroy(p->side);
	tact_hunt_model_destroy(p->other);
	tact_hunt_memory_destroy(p->memory);
	tact_hunt_measure_destroy(p->measure);
	tact_ran_destroy(p->ran);
	option_words_fini(&p->measured);
}

static const struct option_command command = {help, groups, run, fini};

int cmd_hunt(int argc, char **argv)
{
	struct hunter p = {.model = "facile",
			   .against = "measure",
			   .mode = TACT_MODE_UNROLL,
			   .init = TACT_INIT_STACK,
			   .absolute = 0.1,
			   .percent = 10,
			   .rounds = ROUNDS,
			   .jobs = 1,
			   .interrupted = &interrupted};

	return option_command_run(&command, &p, argc, argv);
}
