/* SPDX-License-Identifier: MIT
 *
 * tact tune: its options, the run, the file that it writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/options.h"
#include "tuning.h"

static const char help[] =
	"usage: tact tune [OPTIONS] --from FILE\n\n"
	"Learns the parameters of a model from measured blocks alone. Tells how much better it "
	"then predicts blocks that it has not seen, which parameters changed, and which blocks "
	"support each change.\n\n"
	"{options}\n\n"
	"Four fifths of the blocks are for training, a tenth decides when to stop, and a\n"
	"tenth is used for figures only (test). No block is in two of these parts.\n\n"
	"Examples:\n"
	"  tact tune -a SKL --from measured.csv -o skl.params\n"
	"  tact predict -a SKL --model mca --mca-params skl.params -x 480fafc34801d8\n"
	"  tact tune -a ICX --model facile --from blocks.db -o icx.params\n"
	"  tact tune -a SKL,ICX --from measured.csv -o '{arch}.params'\n"
	"  tact tune -a HSW --method surrogate --random-start --checkpoint run.ckpt \\\n"
	"       --from measured.csv -o hsw.params\n"
	"  mpirun -n 4 tact tune --mpi -a ICX --model sim --from blocks.db -o icx.params\n";

const char *const tuning_methods[] = {"direct", "surrogate", "simple", "random", "bandit", NULL};

static const struct option_choice methods[] = {
	{"direct", TACT_TUNE_DIRECT}, {"surrogate", TACT_TUNE_SURROGATE},
	{"simple", TACT_TUNE_SIMPLE}, {"random", TACT_TUNE_RANDOM},
	{"bandit", TACT_TUNE_BANDIT}, {NULL, 0}};

static const struct option_choice memories[] = {{"none", TACT_MCA_NO_ALIAS},
						{"all", TACT_MCA_ALIAS},
						{"addresses", TACT_MCA_ADDRESSES},
						{"learn", TUNING_MEMORY_AUTO},
						{NULL, 0}};

static const struct option_choice exports[] = {{"llvm", TUNING_EXPORT_LLVM}, {NULL, 0}};

static const char *add_input(void *target, const char *path)
{
	struct tuning *p = target;

	p->inputs = cli_realloc(p->inputs, (p->n_inputs + 1) * sizeof(*p->inputs));
	p->inputs[p->n_inputs++] = path;
	return NULL;
}

/* latency,uops,ports,advance,globals */
static const char *set_what(void *target, const char *value)
{
	static const char *const names[] = {"latency", "uops", "ports", "advance", "globals"};
	struct tuning *p = target;

	p->what = 0;
	while (*value) {
		size_t n = strcspn(value, ","), i = 0;

		while (i < CLI_ARRAY_SIZE(names) &&
		       (strlen(names[i]) != n || strncmp(names[i], value, n)))
			i++;
		if (i == CLI_ARRAY_SIZE(names)) {
			snprintf(p->why, sizeof(p->why),
				 "'%.*s' is not one of latency, uops, ports, advance, globals",
				 (int)(n < 40 ? n : 40), value);
			return p->why;
		}
		p->what |= 1u << i;
		value += n + (value[n] == ',');
	}
	return p->what ? NULL : "give a list such as latency,ports";
}

#define OPTION_HOLDER tuning

static const struct option_spec input_specs[] = {
	OPTION_CALL(0, "from", "FILE", add_input,
		    "measured blocks: a CSV with the columns hex and cycles, or a store of tact "
		    "measure; may be repeated; an argument means the same"),
	OPTION_MODE(mode, OPTION_BIT(TACT_MODE_LOOP) | OPTION_BIT(TACT_MODE_UNROLL),
		    "how the blocks were measured: unroll (default) or loop; rows that say "
		    "otherwise are left out"),
	OPTION_INIT(init, 0, "register values on entry: stack (default), same or diff"),
	OPTION_FLAG(0, "clean", is_clean, "use only rows whose column clean is 1"),
	OPTION_END,
};

static const struct option_spec model_specs[] = {
	OPTION_TEXT(0, "model", "MODEL", model,
		    "learn the parameters of mca (default), or the instruction tables for facile "
		    "or sim"),
	OPTION_TEXT(0, "mca-params", "FILE", mca_params,
		    "mca: start with these parameters; for the others use --params"),
	OPTION_FLAG(
		0, "random-start", is_random_start,
		"mca: start with random parameters, from the distributions that DiffTune samples"),
	OPTION_NUMBER(0, "corrupt", "PERCENT", corrupt, 1, 100,
		      "facile, sim: first make this share of the latencies and ports wrong, to see "
		      "how much accuracy returns"),
	OPTION_CALL(0, "learn", "LIST", set_what,
		    "learn only these: latency,uops,ports,advance,globals (default: all)"),
	OPTION_CHOICE(0, "memory", "HOW", memory, memories,
		      "mca: what loads wait for: none, all (the last store), addresses (the last "
		      "store to the same address) or learn: what fits best at the start (default; "
		      "with --method surrogate: none)"),
	OPTION_END,
};

static const struct option_spec method_specs[] = {
	OPTION_CHOICE(
		0, "method", "METHOD", method, methods,
		"direct (default), surrogate (DiffTune), or a baseline: simple, random, bandit"),
	OPTION_NUMBER(0, "budget", "N", budget, 1, 4000000000u,
		      "stop after N thousand evaluations of blocks"),
	OPTION_NUMBER(0, "min-gain", "N", min_gain, 1, 100000,
		      "direct: keep a change only if it saves N percent of error, summed over "
		      "blocks (default: 50)"),
	OPTION_SEED(seed, "seed of the split and of random numbers (default: 0)"),
	OPTION_NUMBER(0, "seeds", "N", seeds, 1, 100,
		      "run N times, with seeds from --seed on, and report mean and standard "
		      "deviation of the error of the test; the rest is of the first run"),
	OPTION_JOBS(jobs, 256,
		    "use N threads (default: one per core); the result does not depend on it"),
	OPTION_FLAG(0, "mpi", has_mpi,
		    "share the work with the other processes that mpirun has started, with one "
		    "thread each; the result does not depend on their number"),
	OPTION_END,
};

static const struct option_spec surrogate_specs[] = {
	OPTION_NUMBER(0, "embedding", "N", embedding, 1, 1024,
		      "represent a token by N numbers (default: 32)"),
	OPTION_NUMBER(0, "hidden", "N", hidden, 1, 1024, "width of the LSTMs (default: 64)"),
	OPTION_NUMBER(0, "layers", "N", layers, 1, 4, "stack N LSTMs (default: 1)"),
	OPTION_NUMBER(0, "batch", "N", batch, 1, 65536, "blocks per step (default: 256)"),
	OPTION_NUMBER(0, "samples", "N", samples, 1, 1000,
		      "simulated blocks per measured one (default: 10)"),
	OPTION_NUMBER(0, "epochs", "N", epochs, 1, 1000,
		      "passes over the simulated blocks (default: 4)"),
	OPTION_NUMBER(0, "table-epochs", "N", table_epochs, 1, 1000,
		      "passes over the measured blocks (default: 16)"),
	OPTION_NUMBER(0, "rounds", "N", rounds, 1, 20,
		      "make N rounds; each after the first trains again around what was learned "
		      "(default: 2; the paper has 1)"),
	OPTION_FLAG(0, "no-bounds", is_unbounded,
		    "use the network alone, as in the paper; by default it learns how far the "
		    "machine is above the bounds of dispatch, ports and chains"),
	OPTION_TEXT(0, "checkpoint", "FILE", checkpoint,
		    "save the state to FILE, and continue from it if it exists; several CPUs need "
		    "{arch} in its name"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_TEXT('o', "output", "PARAMS", output,
		    "write the learned parameters to PARAMS, for --mca-params or --params of 'tact "
		    "predict'; {arch} in it becomes the name of the CPU, and several CPUs need it"),
	OPTION_CHOICE(0, "export", "KIND", export, exports,
		      "mca: also write the parameters for another program: llvm, a scheduling "
		      "model of LLVM in TableGen, to PARAMS.td"),
	OPTION_FORMAT(format, OPTION_FORMATS, "format of the report: text (default), csv or json"),
	OPTION_NUMBER(0, "changes", "N", n_changes, 1, 1000000, "show N changes (default: 20)"),
	OPTION_FLAG(
		0, "sensitivity", is_sensitivity,
		"also report the error with other values of the parameters of the machine, around "
		"the defaults and around what was learned"),
	OPTION_QUIET(is_quiet, OPTION_PROGRESS_HELP),
	OPTION_VERBOSE(is_verbose, "say more about rows that were left out"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Input", input_specs),
	OPTION_GROUP("CPU", archlist_option_specs, archs, archlist_fini),
	OPTION_OWN("Model", model_specs),
	OPTION_OWN("Method", method_specs),
	OPTION_OWN("Surrogate", surrogate_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_input, add_input),
};

/* Ends the run of a CPU; the next one may begin. */
static void end_run(struct tuning *p)
{
	tact_tuner_destroy(p->tuner);
	tact_mca_params_destroy(p->start);
	tuning_rows_fini(p);
	free(p->output_path);
	free(p->checkpoint_path);
	p->tuner = NULL;
	p->start = NULL;
	p->output_path = p->checkpoint_path = NULL;
}

static void fini(void *target)
{
	struct tuning *p = target;

	end_run(p);
	free(p->inputs);
	free(p->by_seed);
}

/* ---- progress ---- */

static void describe_progress(const struct tuning *p, struct text *text,
			      const struct tact_tune_progress *x)
{
	if (p->archs.n > 1)
		text_printf(text, "%s: ", tact_arch_name(p->arch));
	text_printf(text, "%s %u", x->phase, x->step);
	if (x->steps)
		text_printf(text, " of %u", x->steps);
	text_printf(text, ", %.0f%%", 100 * x->done);
	if (isfinite(x->loss))
		text_printf(text, ", loss %.4f", x->loss);
	if (isfinite(x->validation))
		text_printf(text, ", validation %.2f%%", 100 * x->validation);
	if (isfinite(x->seconds_left))
		text_printf(text, ", at most %.0f s left", x->seconds_left);
}

/* Often on a terminal, rarely elsewhere: a run takes hours, and logs should show that it lives. */
int tuning_progress(void *context, const struct tact_tune_progress *x)
{
	enum { SECONDS_BETWEEN_LINES = 10 };
	struct tuning *p = context;
	struct text text = {0};
	double now;

	if (p->is_quiet)
		return 0;
	if (p->progress.is_shown) {
		if (!progress_is_due(&p->progress))
			return 0;
		describe_progress(p, &text, x);
		progress_say(&p->progress, "%s", cli_string(&text));
	} else {
		now = progress_seconds();
		if (x->done < 1 && now - p->last_shown < SECONDS_BETWEEN_LINES)
			return 0;
		p->last_shown = now;
		describe_progress(p, &text, x);
		cli_message("%s", cli_string(&text));
	}
	text_free(&text);
	return 0;
}

/* ---- the run ---- */

static const char arch_place[] = "{arch}";

/* Several CPUs need several files. */
static bool has_place(const struct tuning *p, const char *path)
{
	return p->archs.n < 2 || !path || strstr(path, arch_place);
}

/* The path of this CPU's file; NULL for NULL. */
static char *path_of(const struct tuning *p, const char *pattern)
{
	struct text path = {0};
	char *out;

	if (!pattern)
		return NULL;
	for (const char *at; (at = strstr(pattern, arch_place)); pattern = at + strlen(arch_place))
		text_printf(&path, "%.*s%s", (int)(at - pattern), pattern, tact_arch_name(p->arch));
	text_add(&path, pattern);
	out = strdup(cli_string(&path));
	if (!out)
		cli_out_of_memory();
	text_free(&path);
	return out;
}

static int check(struct tuning *p)
{
	const struct tact_model *model;
	struct tact_diag diag = {0};

	if (!p->n_inputs)
		return cli_wrong("no measured blocks: give --from FILE");
	if (!has_place(p, p->output))
		return cli_wrong("-o %s would be written by each of %zu CPUs: put {arch} where the "
				 "name of the CPU belongs, as in -o params.{arch}",
				 p->output, p->archs.n);
	if (!has_place(p, p->checkpoint))
		return cli_wrong("--checkpoint %s would be written by each of %zu CPUs: put {arch} "
				 "where the name of the CPU belongs",
				 p->checkpoint, p->archs.n);
	if (p->archs.n > 1 && p->mca_params)
		return cli_wrong("--mca-params has the parameters of one CPU; -a names %zu",
				 p->archs.n);
	model = tact_model_find(p->model, &diag);
	if (!model)
		return cli_wrong("--model: %s", diag.text);
	if (p->mca_params && !(model->traits & TACT_MODEL_PARAMS))
		return cli_wrong("--mca-params requires --model mca");
	if (p->mca_params && p->is_random_start)
		return cli_wrong("give --mca-params or --random-start, not both");
	if (p->export && !p->output)
		return cli_wrong("--export writes beside the learned parameters: give -o PARAMS");
	if (p->export && !(model->traits & TACT_MODEL_PARAMS))
		return cli_wrong("--export requires --model mca: the parameters of '%s' are not "
				 "those of LLVM's machine",
				 p->model);
	if (p->checkpoint && p->seeds > 1)
		return cli_wrong("--checkpoint keeps one run, and --seeds %u makes several",
				 p->seeds);
	if (p->checkpoint && p->method != TACT_TUNE_SURROGATE)
		return cli_wrong(
			"--checkpoint requires --method surrogate; the other methods take minutes");
	return CLI_GOOD;
}

static int load_start(struct tuning *p)
{
	struct tact_diag diag = {0};
	int status;

	if (!p->mca_params)
		return CLI_GOOD;
	status = tact_mca_params_create(&p->start, p->arch, &diag);
	if (status >= 0)
		status = tact_mca_params_load(p->start, p->mca_params, &diag);
	return status < 0 ? cli_complain(p->mca_params, &diag, status, CLI_USAGE) : CLI_GOOD;
}

static int create(struct tuning *p)
{
	bool is_learned = p->memory == TUNING_MEMORY_AUTO && p->method != TACT_TUNE_SURROGATE;
	enum tact_mca_memory memory = p->memory == TUNING_MEMORY_AUTO
					      ? TACT_MCA_NO_ALIAS
					      : (enum tact_mca_memory)p->memory;
	struct tact_diag diag = {0};
	const struct tact_tune_network network = {
		.size = sizeof(network),
		.embedding = p->embedding,
		.hidden = p->hidden,
		.layers = p->layers,
		.batch = p->batch,
		.samples = p->samples,
		.epochs = p->epochs,
		.table_epochs = p->table_epochs,
		.rounds = p->rounds,
		.no_bounds = p->is_unbounded,
	};
	struct tact_tune_options options = {
		.size = sizeof(options),
		.arch = p->arch,
		.start = p->start,
		.model = p->model,
		.method = (enum tact_tune_method)p->method,
		.what = p->what,
		.learn_memory = is_learned,
		.random_start = p->is_random_start,
		.corrupt = p->corrupt,
		.mode = (enum tact_mode)p->mode,
		.init = (enum tact_init)p->init,
		.seed = p->seed,
		.threads = p->jobs	? p->jobs
			   : p->has_mpi ? 1
					: cli_cores(),
		.budget = (uint64_t)p->budget * 1000,
		.min_gain = p->min_gain / 100.0,
		.network = &network,
		.checkpoint = p->checkpoint_path,
		.report = tuning_progress,
		.context = p,
		.rank = p->ranks.rank,
		.n_ranks = p->ranks.n,
		.sum = p->ranks.sum,
		.group = p->ranks.group,
		.by_opcode = p->export && p->method != TACT_TUNE_SURROGATE,
	};

	options.memory = memory;
	if (p->start)
		tact_mca_params_memory(p->start, &options.memory);
	if (tact_tuner_create(&p->tuner, &options, &diag) >= 0)
		return CLI_GOOD;
	return cli_wrong("%s", diag.text);
}

/* The file begins with what the parameters were learned from. */
static void describe(const struct tuning *p, struct text *out)
{
	struct tact_tune_summary s = TACT_TUNE_SUMMARY_INIT;

	tact_tuner_get_summary(p->tuner, &s);
	text_printf(out,
		    "Learned by tact tune %d.%d.%d: model %s, %s, method %s, mode %s, seed %u\n",
		    TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH, p->model,
		    tact_arch_name(p->arch), tuning_methods[p->method],
		    p->mode == TACT_MODE_LOOP ? "loop" : "unroll", p->seed);
	text_add(out, "from:");
	for (size_t i = 0; i < p->n_inputs; i++) {
		const char *slash = strrchr(p->inputs[i], '/');

		text_printf(out, " %s", slash ? slash + 1 : p->inputs[i]);
	}
	text_printf(out, "\n%zu blocks to learn from, %zu for validation, %zu for the test\n",
		    s.n[TACT_TUNE_TRAIN], s.n[TACT_TUNE_VALIDATION], s.n[TACT_TUNE_TEST]);
	text_printf(out, "mean error of the test: default %.2f%%, start %.2f%%, learned %.2f%%\n",
		    100 * s.defaults[TACT_TUNE_TEST], 100 * s.start[TACT_TUNE_TEST],
		    100 * s.learned[TACT_TUNE_TEST]);
	cli_string(out);
}

static int save(const struct tuning *p)
{
	struct text comment = {0};
	struct tact_diag diag = {0};
	int status;

	if (!p->output_path)
		return CLI_GOOD;
	describe(p, &comment);
	status = tact_tuner_save(p->tuner, p->output_path, comment.data, &diag);
	text_free(&comment);
	return status < 0 ? cli_complain(p->output_path, &diag, status, CLI_FAILED) : CLI_GOOD;
}

static int export_llvm(const struct tuning *p)
{
	struct tact_tune_export e = TACT_TUNE_EXPORT_INIT;
	struct text path = {0}, comment = {0};
	struct tact_diag diag = {0};
	int status;

	if (!p->export)
		return CLI_GOOD;
	text_printf(&path, "%s.td", p->output_path);
	describe(p, &comment);
	status = tact_tuner_export_llvm(p->tuner, cli_string(&path), comment.data, &e, &diag);
	if (status >= 0 && !p->is_quiet)
		cli_message("%s: %zu opcodes of LLVM, %zu of them in the training rows, %zu that "
			    "stand for "
			    "several of tact's instructions with different ones",
			    path.data, e.n_opcodes, e.n_learned, e.n_shared);
	if (status == -TACT_E_NO_TOOL)
		status = cli_complain("--export llvm", &diag, status, CLI_UNABLE);
	else if (status < 0)
		status = cli_complain(path.data, &diag, status, CLI_FAILED);
	text_free(&comment);
	text_free(&path);
	return status;
}

/* Runs the tuner.  Returns an exit code. */
static int run_tuner(struct tuning *p)
{
	struct tact_diag diag = {0};
	int status = tact_tuner_run(p->tuner, &diag);

	progress_clear(&p->progress);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status == -TACT_E_IO || status == -TACT_E_FORMAT || status == -TACT_E_VERSION)
		return cli_complain(p->checkpoint_path ? p->checkpoint_path : "tune", &diag, status,
				    CLI_FAILED);
	if (status < 0) {
		if (p->archs.n > 1)
			cli_message("%s: %s", tact_arch_name(p->arch),
				    diag.text[0] ? diag.text : tact_strerror(status));
		else
			cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	return CLI_GOOD;
}

static void note_seed(struct tuning *p, unsigned i)
{
	struct tact_tune_summary s = TACT_TUNE_SUMMARY_INIT;

	tact_tuner_get_summary(p->tuner, &s);
	p->by_seed[i][0] = s.defaults[TACT_TUNE_TEST];
	p->by_seed[i][1] = s.start[TACT_TUNE_TEST];
	p->by_seed[i][2] = s.learned[TACT_TUNE_TEST];
}

static int learn(struct tuning *p)
{
	struct text text = {0};
	int status = run_tuner(p), printed;

	if (status)
		return status;
	note_seed(p, 0);
	status = save(p);
	if (!status)
		status = export_llvm(p);
	if (p->n_printed && p->format == FORMAT_TEXT)
		text_add(&text, "\n");
	printed = tuning_print(p, &text);
	p->n_printed++;
	output_write(&p->out, &text);
	text_free(&text);
	if (p->out.failed || (printed && !status))
		status = CLI_FAILED;
	return status;
}

/* Runs with another seed for the figures only. */
static int try_seed(struct tuning *p, unsigned i)
{
	const unsigned first = p->seed;
	int status = load_start(p);

	p->seed += i;
	if (!status)
		status = create(p);
	if (!status) {
		/* Rows that are left out leave the others. */
		const int read = tuning_read(p);

		status = p->n_rows ? CLI_GOOD : read;
	}
	if (!status) {
		progress_init(&p->progress, "", 0, p->is_quiet);
		status = run_tuner(p);
	}
	if (!status)
		note_seed(p, i);
	p->seed = first;
	end_run(p);
	return status;
}

static int tune_one(struct tuning *p, const struct tact_arch *arch)
{
	int status, read;

	p->arch = arch;
	for (unsigned i = 1; i < p->seeds; i++) {
		status = try_seed(p, i);
		if (status)
			return status;
	}
	p->output_path = path_of(p, p->output);
	p->checkpoint_path = path_of(p, p->checkpoint);
	status = load_start(p);
	if (!status)
		status = create(p);
	if (status)
		return status;
	if (p->archs.n > 1 && !p->is_quiet)
		cli_message("%s (%s)", tact_arch_name(arch), tact_arch_full_name(arch));
	progress_init(&p->progress, "", 0, p->is_quiet);
	read = tuning_read(p);
	if (read && !p->n_rows)
		return read;
	status = learn(p);
	return status ? status : read;
}

static int run(void *target)
{
	struct tuning *p = target;
	int status;

	status = p->n_inputs ? archlist_resolve(&p->archs, NULL, p->is_quiet) : CLI_GOOD;
	if (!status)
		status = check(p);
	p->by_seed = cli_alloc(p->seeds * sizeof(*p->by_seed));
	if (status || output_open(&p->out, NULL))
		return status ? status : CLI_FAILED;
	/* A CPU without rows does not keep the others from theirs. */
	for (size_t i = 0; i < p->archs.n && status < CLI_USAGE; i++) {
		const int one = tune_one(p, p->archs.arch[i]);
		const bool is_in_vain = !p->n_rows && !p->n_other_arch;

		status = one ? one : status;
		end_run(p);
		if (p->out.failed || is_in_vain)
			break;
	}
	return output_close(&p->out) && !status ? CLI_FAILED : status;
}

/* The first process speaks and writes, the others only compute. */
static int join(struct tuning *p)
{
	struct tact_diag diag = {0};
	int null;

	p->ranks.size = sizeof(p->ranks);
	if (tact_ranks_open(&p->ranks, &diag) < 0) {
		cli_message("--mpi: %s", diag.text);
		return CLI_UNABLE;
	}
	if (!p->ranks.rank)
		return CLI_GOOD;
	p->is_quiet = true;
	p->output = NULL;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0) {
		cli_message("/dev/null: %s", strerror(errno));
		return CLI_FAILED;
	}
	close(null);
	return CLI_GOOD;
}

static int run_ranks(void *target)
{
	struct tuning *p = target;
	int status = p->has_mpi ? join(p) : CLI_GOOD;

	if (status)
		return status;
	status = run(p);
	/* Without this, MPI ends all processes: as it should where one has failed. */
	if (p->has_mpi && status == CLI_GOOD)
		p->ranks.close();
	return status;
}

static const struct option_command command = {help, groups, run_ranks, fini};

int cmd_tune(int argc, char **argv)
{
	struct tuning p = {.model = "mca",
			   .mode = TACT_MODE_UNROLL,
			   .memory = TUNING_MEMORY_AUTO,
			   .seeds = 1,
			   .n_changes = 20};

	return option_command_run(&command, &p, argc, argv);
}
