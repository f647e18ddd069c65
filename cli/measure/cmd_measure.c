/* SPDX-License-Identifier: MIT
 *
 * tact measure: its options.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/options.h"
#include "measurer.h"

static const struct option_choice modes[] = {
	{"auto", TACT_MODE_AUTO},
	{"loop", TACT_MODE_LOOP},
	{"unroll", TACT_MODE_UNROLL},
	{NULL, 0},
};

static const struct option_choice inits[] = {
	{"same", TACT_INIT_SAME},
	{"stack", TACT_INIT_STACK},
	{NULL, 0},
};

static const struct option_choice rungs[] = {
	{"auto", TACT_RUNG_AUTO},   {"rdpmc", TACT_RUNG_RDPMC}, {"perf", TACT_RUNG_PERF},
	{"aperf", TACT_RUNG_APERF}, {"tsc", TACT_RUNG_TSC},	{NULL, 0},
};

static const char *set_cpu(void *target, const char *value)
{
	struct measurer *p = target;
	unsigned long number;
	char *end;

	number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || number > 1023) {
		snprintf(p->why, sizeof(p->why), "'%.40s' is not the number of a CPU", value);
		return p->why;
	}
	p->cpu = (unsigned)number;
	p->is_cpu_given = true;
	return NULL;
}

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

#define FIELD(field, type) .offset = OPTION_FIELD(measurer, field, type)
#define FLAG(field)	   .type = OPTION_FLAG, FIELD(field, bool)
#define CHOICE(field, of)  .type = OPTION_CHOICE, .choices = of, FIELD(field, int)
#define NUMBER(field, from, to)                                                                    \
	.type = OPTION_NUMBER, .low = from, .high = to, FIELD(field, unsigned)

/* clang-format off: an option stays together */
static const struct option_spec harness_specs[] = {
	{.letter = 'm',
	 .name = "mode",
	 .argument = "MODE",
	 CHOICE(mode, modes),
	 .help = "the block as a loop (loop), unrolled (unroll), or auto (default): unrolled "
		 "unless "
		 "it ends in a branch to its start"},
	{.name = "init",
	 .argument = "HOW",
	 CHOICE(init, inits),
	 .help = "what registers hold at entry: all the same value (same, default), or rsp and rbp "
		 "values of their own (stack)"},
	{.name = "rung",
	 .argument = "RUNG",
	 CHOICE(rung, rungs),
	 .help = "what counts cycles: rdpmc, perf, aperf, tsc, or auto (default): the first of "
		 "them "
		 "that works here"},
	{.name = "pages",
	 .argument = "N",
	 NUMBER(pages, 1, 16),
	 .help = "physical pages behind all virtual ones (default: 1)"},
	{.name = "max-pages",
	 .argument = "N",
	 NUMBER(max_pages, 1, 256),
	 .help = "virtual pages that a block may touch (default: 64)"},
	{.name = "passes",
	 .argument = "N",
	 NUMBER(passes, 1, 64),
	 .help = "repetitions of the whole measurement (default: 5)"},
	{.name = "samples",
	 .argument = "N",
	 NUMBER(samples, 1, 512),
	 .help = "samples in a pass (default: 32)"},
	{.name = "timeout",
	 .argument = "MS",
	 NUMBER(timeout_ms, 1, 3600000),
	 .help = "milliseconds for a block as a whole (default: 2000)"},
	{.name = "cpu",
	 .argument = "N",
	 .type = OPTION_CALL,
	 .call = set_cpu,
	 .help = "measure on this CPU"},
	{.letter = 'j',
	 .name = "jobs",
	 .argument = "N",
	 NUMBER(jobs, 0, 256),
	 .help = "workers, each on a core of its own (default: 1; 0: one for each core)"},
	{.name = NULL},
};

static const struct option_spec choice_specs[] = {
	{.name = "limit",
	 .argument = "N",
	 NUMBER(limit, 1, 1000000000),
	 .help = "stop when N blocks were measured"},
	{.name = "sample",
	 .argument = "N",
	 NUMBER(sample, 1, 1000000000),
	 .help = "only N blocks of the input, chosen at random"},
	{.name = "shuffle", FLAG(is_shuffled), .help = "in random order"},
	{.name = "seed",
	 .argument = "N",
	 NUMBER(seed, 0, 4294967295u),
	 .help = "another choice or order (default: 0; the same seed gives the same)"},
	{.name = "resume",
	 FLAG(is_resumed),
	 .help = "with -o FILE.db: leave out what the store has for this machine, mode and init"},
	{.name = NULL},
};

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
	 .help = "write the results there; FILE.db: into a store (SQLite), as they come"},
	{.name = "compare",
	 FLAG(is_compared),
	 .help = "beside predictions, largest disagreement first; a FILE.db as INPUT is not "
		 "measured again"},
	{.name = "tp-only", FLAG(is_number_only), .help = "print the cycles and nothing else"},
	{.letter = 'q',
	 .name = "quiet",
	 FLAG(is_quiet),
	 .help = "no remarks and no progress on standard error, only errors"},
	{.letter = 'v',
	 .name = "verbose",
	 FLAG(is_verbose),
	 .help = "say more: a report for each of many blocks, all rows of --compare, how many "
		 "blocks"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"An INPUT is a file, or - for standard input: hex strings or a CSV whose first\n"
	"column is hex, assembly text, an object file or an executable; the content\n"
	"tells which. The code runs in a child process that can do nothing but compute.\n\n"
	"Examples:\n"
	"  tact measure -x 480fafc34801d8\n"
	"  tact measure -m loop -f csv blocks.csv > cycles.csv\n"
	"  tact measure -j 0 -o blocks.db blocks.csv\n"
	"  tact measure -j 0 -o blocks.db --resume blocks.csv\n"
	"  tact measure --compare blocks.db\n";

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

/* The one store among the inputs of --compare; NULL: blocks are to be measured. */
static int find_store(const struct measurer *p, const char **path)
{
	*path = NULL;
	for (size_t i = 0; i < p->source.n_items; i++) {
		const struct source_item *item = &p->source.items[i];

		if (item->is_hex || !tact_store_is_store(item->value))
			continue;
		if (!p->is_compared) {
			cli_message("%s is a store; 'tact measure --compare %s' looks at it",
				    item->value, item->value);
			return CLI_USAGE;
		}
		*path = item->value;
	}
	if (*path && p->source.n_items > 1) {
		cli_message("--compare takes one store and nothing else, or blocks to measure");
		return CLI_USAGE;
	}
	if (*path && p->is_store) {
		cli_message("--compare %s measures nothing: there is nothing for -o %s", *path,
			    p->output);
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static bool is_allowed(unsigned cpu)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) || CPU_ISSET(cpu, &set);
}

static int check(const struct measurer *p)
{
	if (!p->source.n_items) {
		cli_message("no input: give -x HEX, a file, or - for standard input");
		return CLI_USAGE;
	}
	if (p->is_resumed && !p->is_store) {
		cli_message("--resume needs a store to go on with: -o FILE.db");
		return CLI_USAGE;
	}
	if (p->is_cpu_given && p->jobs != 1) {
		cli_message("--cpu is for one worker; -j chooses a core for each");
		return CLI_USAGE;
	}
	if (p->is_cpu_given && !is_allowed(p->cpu)) {
		cli_message("--cpu: CPU %u is not one that this process may use", p->cpu);
		return CLI_USAGE;
	}
	if ((p->archs.names || p->archs.params) && !p->is_compared) {
		cli_message("--arch and --params are for the predictions of --compare");
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static void prepare(struct measurer *p)
{
	p->is_format_given = p->format >= 0 || p->is_number_only;
	if (p->format < 0 || p->is_number_only)
		p->format = FORMAT_TEXT;
	p->options = (struct tact_measure_options){
		.size = sizeof(p->options),
		.mode = (enum tact_mode)p->mode,
		.init = (enum tact_init)p->init,
		.rung = (enum tact_rung)p->rung,
		.cpu = -1,
		.pages = p->pages,
		.max_pages = p->max_pages,
		.passes = p->passes,
		.samples = p->samples,
		.timeout_ms = p->timeout_ms,
	};
}

static void free_results(struct measure_outcome *o)
{
	for (size_t i = 0; i < o->list->n; i++)
		free(o->results[i]);
	free(o->results);
}

static int measure(struct measurer *p, struct output *out)
{
	struct measure_list list = {0};
	struct measure_outcome o = {.list = &list, .is_kept = p->is_compared};
	int status = CLI_GOOD, compared;

	measure_list_read(&list, p);
	measure_list_choose(&list, p);
	p->is_many = list.n > 1;
	o.results = cli_alloc(list.n * sizeof(struct tact_measurement *));
	memset(o.results, 0, list.n * sizeof(struct tact_measurement *));
	if (p->is_verbose && (p->is_shuffled || p->sample))
		cli_message("%zu blocks, seed %u", list.n, p->seed);
	if (list.n)
		status = measure_run(p, &o, out);
	if (p->is_compared && o.n_done && status < CLI_USAGE) {
		compared = measure_compare_results(p, &o, out);
		if (compared > status)
			status = compared;
	}
	if (status == CLI_GOOD && list.n_failed)
		status = list.is_unable ? CLI_UNABLE : CLI_FAILED;
	free_results(&o);
	measure_list_fini(&list);
	return status;
}

static int run(struct measurer *p)
{
	struct output out = {.fd = -1};
	const char *store;
	int status;

	p->is_store = p->output && ends_in(p->output, ".db");
	status = check(p);
	if (!status)
		status = find_store(p, &store);
	if (!status)
		status = measure_compare_check(p);
	if (status)
		return status;
	prepare(p);
	if (!store)
		status = measure(p, &out);
	else if (output_open(&out, p->output))
		status = CLI_FAILED;
	else
		status = measure_compare_store(p, store, &out);
	if (output_close(&out) && !status)
		status = CLI_FAILED;
	return status;
}

int cmd_measure(int argc, char **argv)
{
	struct measurer p = {.init = TACT_INIT_SAME, .jobs = 1, .format = -1};
	const struct option_group groups[] = {
		{"Input", source_option_specs, &p.source},
		{"Choice", choice_specs, &p},
		{"Harness", harness_specs, &p},
		{"Output", output_specs, &p},
		{"Predictions of --compare", archlist_option_specs, &p.archs},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact measure [OPTIONS] [INPUT...]\n"
			 "       tact measure --compare [OPTIONS] FILE.db\n",
		.description =
			"Measures how many cycles an iteration of a block of x86-64 code takes in "
			"the steady state on this machine, with registers and memory set up for "
			"it. 'tact doctor' says how well that works here.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = source_add_path,
		.argument_target = &p.source,
	};
	int status;

	if (options_take(&command, argc, argv, &status))
		status = run(&p);
	source_options_fini(&p.source);
	archlist_fini(&p.archs);
	return status;
}
