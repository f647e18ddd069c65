/* SPDX-License-Identifier: MIT
 *
 * tact measure: its options.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/options.h"
#include "measurer.h"

enum {
	MAX_SHARDS = 1000000,
	MAX_ROUNDS = 20,    /* of --until-confirmed */
	PASSES_OF_ROUND = 3 /* there are at least two rounds */
};

static const char help[] =
	"usage: tact measure [OPTIONS] [INPUT...]\n"
	"       tact measure --compare [OPTIONS] FILE.db\n\n"
	"Measures how many cycles per iteration a block of machine code takes in the steady state "
	"on this machine, with known values in registers and memory. 'tact doctor' tells how well "
	"that works here.\n\n"
	"{options}\n\n"
	"An INPUT is a file, or - for standard input: hex strings, a CSV whose first\n"
	"column is hex, assembly text, an object file or an executable. Its contents\n"
	"tell which. The code runs in a sandbox that can do nothing but compute.\n\n"
	"Examples:\n"
	"  tact measure -x 480fafc34801d8\n"
	"  tact measure -m loop -f csv blocks.csv > cycles.csv\n"
	"  tact measure -j 0 -o blocks.db blocks.csv\n"
	"  tact measure -j 0 -o blocks.db --resume blocks.csv\n"
	"  tact measure --shard 3/16 -o 3.db --resume blocks.csv\n"
	"  tact measure -j 0 --until-confirmed -f csv blocks.csv > cycles.csv\n"
	"  tact measure --compare blocks.db\n";

static const struct option_choice rungs[] = {
	{"auto", TACT_RUNG_AUTO},   {"rdpmc", TACT_RUNG_RDPMC}, {"perf", TACT_RUNG_PERF},
	{"aperf", TACT_RUNG_APERF}, {"tsc", TACT_RUNG_TSC},	{NULL, 0},
};

static const struct option_choice contents[] = {
	{"pointer", TACT_CONTENTS_POINTER},
	{"zero", TACT_CONTENTS_ZERO},
	{"int", TACT_CONTENTS_INT},
	{"float", TACT_CONTENTS_FLOAT},
	{NULL, 0},
};

static const struct option_choice vectors[] = {
	{"ordinary", TACT_VECTORS_ORDINARY}, {"zero", TACT_VECTORS_ZERO}, {NULL, 0}};

static const char *set_cpu(void *target, const char *value)
{
	struct measurer *p = target;
	unsigned long number;
	char *end;

	number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || number > 1023) {
		snprintf(p->why, sizeof(p->why), "'%.40s' is not a CPU number", value);
		return p->why;
	}
	p->cpu = (unsigned)number;
	p->is_cpu_given = true;
	return NULL;
}

static const char *set_alignment(void *target, const char *value)
{
	struct measurer *p = target;

	p->is_alignment_given = true;
	return option_alignment(value, &p->alignment, &p->is_all_alignments, p->why,
				sizeof(p->why));
}

static const char *set_shard(void *target, const char *value)
{
	struct measurer *p = target;
	char *slash, *end = NULL;
	const unsigned long shard = strtoul(value, &slash, 10);
	const unsigned long n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;

	p->is_shard_given = true;
	p->shard = (unsigned)shard;
	p->n_shards = (unsigned)n;
	if (*value >= '0' && *value <= '9' && end && slash[1] >= '0' && slash[1] <= '9' && !*end &&
	    n >= 1 && n <= MAX_SHARDS && shard < n)
		return NULL;
	snprintf(p->why, sizeof(p->why),
		 "'%.40s' is not a shard I/N, where N is the number of shards, up to %d, and I is "
		 "from 0 to N - 1",
		 value, MAX_SHARDS);
	return p->why;
}

static const char *set_host(void *target, const char *value)
{
	struct measurer *p = target;

	if (!*value || strlen(value) > TACT_STORE_NAME_MAX)
		return "a name of a host has 1 to 63 bytes";
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "a name of a host has no control characters";
	p->host = value;
	return NULL;
}

#define OPTION_HOLDER measurer

static const struct option_spec harness_specs[] = {
	OPTION_MODE(mode, 0,
		    "run the block as a loop (loop) or unrolled (unroll); auto (default): as a "
		    "loop if it ends in a branch to its start"),
	OPTION_INIT(init, OPTION_BIT(TACT_INIT_SAME) | OPTION_BIT(TACT_INIT_STACK),
		    "register values on entry: all the same except for the stack and frame "
		    "pointers (stack, default); all the same (same, as in BHive)"),
	OPTION_CHOICE(0, "vectors", "VALUES", vectors, vectors,
		      "vector registers on entry: ordinary numbers in all elements (ordinary, "
		      "default) or zeros, which hide some dependences (zero)"),
	OPTION_CHOICE(0, "memory", "CONTENTS", memory, contents,
		      "what every 8 bytes of memory hold: an address that can be accessed "
		      "(pointer, default), zero, a small integer (int), or floating-point numbers "
		      "(float)"),
	OPTION_CALL(0, "alignment", "N|all", set_alignment,
		    "address of the first byte modulo 64, or all 64 (default: as in the object "
		    "file or executable, else 0)"),
	OPTION_CHOICE(0, "rung", "RUNG", rung, rungs,
		      "what counts cycles: rdpmc, perf, aperf, tsc, or auto (default): the first "
		      "of these that works here"),
	OPTION_NUMBER(0, "pages", "N", pages, 1, 16,
		      "back all virtual pages with N physical pages (default: one each while they "
		      "fit the first-level cache, else one for all)"),
	OPTION_NUMBER(0, "max-pages", "N", max_pages, 1, 256,
		      "let a block touch at most N virtual pages (default: 256)"),
	OPTION_NUMBER(0, "passes", "N", passes, 1, 64,
		      "repeat the whole measurement N times (default: 5; 3 in each of several "
		      "rounds)"),
	OPTION_NUMBER(0, "samples", "N", samples, 1, 512, "take N samples per pass (default: 32)"),
	OPTION_NUMBER(0, "timeout", "MS", timeout_ms, 1, 3600000,
		      "give up on a block after MS milliseconds (default: 2000)"),
	OPTION_NUMBER(0, "rounds", "N", rounds, 1, 100,
		      "measure every block N times, at other times and on other cores; its number "
		      "is the lowest that two rounds confirm (default: 1)"),
	OPTION_FLAG(0, "until-confirmed", is_until_confirmed,
		    "measure a block in rounds until two of them confirm its number, at most 20 "
		    "times, or --rounds"),
	OPTION_CALL(0, "cpu", "N", set_cpu, "measure on the CPU with this number"),
	OPTION_FLAG(0, "noisy", is_noisy,
		    "count samples even while something else runs on the core; numbers may be too "
		    "high"),
	OPTION_FLAG(0, "no-namespaces", has_no_namespaces,
		    "run blocks without namespaces of their own, where a container refuses them; "
		    "the filter of system calls stays"),
	OPTION_JOBS(jobs, 256, "use N workers, each on its own core (default: 1; 0: one per core)"),
	OPTION_END,
};

static const struct option_spec choice_specs[] = {
	OPTION_CALL(
		0, "shard", "I/N", set_shard,
		"measure the blocks of shard I of N, from 0 on: a hash of its bytes assigns "
		"each block (default: all blocks; with -o FILE.db in a Slurm array, that of the "
		"task)"),
	OPTION_NUMBER(0, "limit", "N", limit, 1, 1000000000, "stop after N measured blocks"),
	OPTION_NUMBER(0, "sample", "N", sample, 1, 1000000000,
		      "measure only N blocks, chosen at random"),
	OPTION_FLAG(0, "shuffle", is_shuffled, "measure the blocks in random order"),
	OPTION_SEED(seed, "seed of the random choice and order (default: 0)"),
	OPTION_FLAG(
		0, "resume", is_resumed,
		"with -o FILE.db: skip blocks that the store has for this machine, mode and init; "
		"with rounds, go on with those that are not confirmed"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS, OPTION_FORMAT_HELP),
	OPTION_OUTPUT(
		output,
		"write the results to FILE; FILE.db is a store (SQLite), written block by block"),
	OPTION_CALL(0, "host", "NAME", set_host,
		    "name of this host in the store (default: its own)"),
	OPTION_FLAG(0, "compare", is_compared,
		    "print predictions next to the measurements, largest disagreement first; a "
		    "store as INPUT is not measured again"),
	OPTION_FLAG(0, "force", is_forced,
		    "compare with a CPU other than the one that was measured; a remark says so"),
	OPTION_FLAG(0, "tp-only", is_number_only, "print only the cycles per iteration"),
	OPTION_QUIET(is_quiet, OPTION_PROGRESS_HELP),
	OPTION_VERBOSE(is_verbose, "say more: a full report for each block, all rows of --compare, "
				   "the number of blocks"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("Input", source_option_specs, source, source_options_fini),
	OPTION_OWN("Choice", choice_specs),
	OPTION_OWN("Harness", harness_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_GROUP("Predictions of --compare", archlist_option_specs, archs, archlist_fini),
	OPTION_ARGUMENTS_AFTER(source_add_path, source_add_after, source),
};

/* The one store among the inputs of --compare; NULL: blocks are to be measured. */
static int find_store(const struct measurer *p, const char **path)
{
	*path = NULL;
	for (size_t i = 0; i < p->source.n_items; i++) {
		const struct source_item *item = &p->source.items[i];

		if (item->is_hex || !tact_store_is_store(item->value))
			continue;
		if (!p->is_compared)
			return cli_wrong("%s is a store; 'tact measure --compare %s' compares it "
					 "with predictions",
					 item->value, item->value);
		*path = item->value;
	}
	if (*path && p->source.n_items > 1)
		return cli_wrong(
			"--compare takes one store and nothing else, or blocks to measure");
	if (*path && p->is_store)
		return cli_wrong(
			"--compare %s measures nothing, so there is nothing to write to -o %s",
			*path, p->output);
	return CLI_GOOD;
}

static bool is_allowed(unsigned cpu)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) || CPU_ISSET(cpu, &set);
}

/* "--until-confirmed 3" reads a file named 3. */
static int check_rounds(const struct measurer *p)
{
	for (size_t i = 0; i < p->source.n_items && p->is_until_confirmed; i++) {
		const char *value = p->source.items[i].value;

		if (!p->source.items[i].is_hex && strspn(value, "0123456789") == strlen(value) &&
		    access(value, F_OK))
			return cli_wrong("--until-confirmed takes no number: say --until-confirmed "
					 "--rounds %s",
					 value);
	}
	if (p->is_until_confirmed && p->rounds == 1)
		return cli_wrong("--until-confirmed needs at least two rounds");
	return CLI_GOOD;
}

/* In a task of a Slurm array, its place in the array.  An array may begin with any number, and go on
 * in steps; a list of numbers has no places.
 */
static int shard_of_array(struct measurer *p)
{
	static const char *const names[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
					    "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"};
	unsigned long value[] = {0, 0, 0, 1}, place;

	if (p->n_shards || !p->is_store || p->is_compared || !getenv(names[0]) || !getenv(names[1]))
		return CLI_GOOD;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(names); i++) {
		const char *text = getenv(names[i]);
		char *end;

		if (!text)
			continue;
		value[i] = strtoul(text, &end, 10);
		if (!*text || *end)
			return cli_wrong("%s is '%.40s', which is not a number; say --shard I/N",
					 names[i], text);
	}
	place = value[3] && value[0] >= value[2] ? (value[0] - value[2]) / value[3] : value[1];
	if (!value[1] || value[1] > MAX_SHARDS || place >= value[1])
		return cli_wrong(
			"task %lu of a Slurm array of %lu tasks from %lu on: which shard is "
			"that? say --shard I/N, or --shard 0/1 for all blocks",
			value[0], value[1], value[2]);
	p->shard = (unsigned)place;
	p->n_shards = (unsigned)value[1];
	return CLI_GOOD;
}

static int check(struct measurer *p)
{
	if (!source_has_input(&p->source))
		return cli_wrong("no input: give -x HEX, a file, or - for standard input");
	if (p->is_resumed && !p->is_store)
		return cli_wrong("--resume needs a store to continue: -o FILE.db");
	if (p->is_cpu_given && p->jobs != 1)
		return cli_wrong("--cpu is for one worker; -j chooses the cores of several");
	if (p->is_cpu_given && !is_allowed(p->cpu))
		return cli_wrong("--cpu: this process may not use CPU %u", p->cpu);
	if ((p->archs.names || p->archs.params) && !p->is_compared)
		return cli_wrong("--arch and --params are for the predictions of --compare");
	if (p->host && !p->is_store)
		return cli_wrong("--host names this host in a store: -o FILE.db");
	if (p->is_forced && !p->is_compared)
		return cli_wrong("--force requires --compare");
	if (p->is_store && p->is_all_alignments)
		return cli_wrong("a store has one row for a block; write --alignment all to a CSV "
				 "or JSON file");
	if (shard_of_array(p))
		return CLI_USAGE;
	return check_rounds(p);
}

static void prepare(struct measurer *p)
{
	p->is_format_given = p->format >= 0 || p->is_number_only;
	if (p->format < 0 || p->is_number_only)
		p->format = FORMAT_TEXT;
	if (!p->rounds)
		p->rounds = p->is_until_confirmed ? MAX_ROUNDS : 1;
	p->options = (struct tact_measure_options){
		.size = sizeof(p->options),
		.mode = (enum tact_mode)p->mode,
		.init = (enum tact_init)p->init,
		.memory = (enum tact_contents)p->memory,
		.vectors = (enum tact_vectors)p->vectors,
		.rung = (enum tact_rung)p->rung,
		.pages = p->pages,
		.max_pages = p->max_pages,
		.passes = p->passes || p->rounds == 1 ? p->passes : PASSES_OF_ROUND,
		.samples = p->samples,
		.timeout_ms = p->timeout_ms,
		.state = state_path("canary", p->state),
		.no_namespaces = p->has_no_namespaces,
		.noisy = p->is_noisy,
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
	struct measure_outcome o = {.list = &list};
	int status = CLI_GOOD, compared;

	measure_list_read(&list, p);
	measure_list_choose(&list, p);
	measure_list_place(&list, p);
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

static int run(void *target)
{
	struct measurer *p = target;
	struct output out = {.fd = -1};
	const char *store;
	int status;

	p->is_store = p->output && cli_has_suffix(p->output, ".db");
	p->source.isa = tact_isa_default();
	p->source.is_native = true;
	status = check(p);
	if (!status)
		status = find_store(p, &store);
	if (!status)
		status = measure_compare_check(p, store);
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

static const struct option_command command = {help, groups, run, NULL};

int cmd_measure(int argc, char **argv)
{
	struct measurer p = {.init = TACT_INIT_STACK, .jobs = 1, .format = -1};

	return option_command_run(&command, &p, argc, argv);
}
