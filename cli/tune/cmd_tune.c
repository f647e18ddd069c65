/* SPDX-License-Identifier: MIT
 *
 * tact tune: its options, the run, the file that it writes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/options.h"
#include "tuning.h"

const char *const tuning_models[] = {"mca", "facile", "sim", NULL};
const char *const tuning_methods[] = {"direct", "surrogate", "simple", "random", "bandit", NULL};

static const struct option_choice models[] = {
	{"mca", TACT_TUNE_MCA}, {"facile", TACT_TUNE_FACILE}, {"sim", TACT_TUNE_SIM}, {NULL, 0}};

static const struct option_choice methods[] = {
	{"direct", TACT_TUNE_DIRECT}, {"surrogate", TACT_TUNE_SURROGATE},
	{"simple", TACT_TUNE_SIMPLE}, {"random", TACT_TUNE_RANDOM},
	{"bandit", TACT_TUNE_BANDIT}, {NULL, 0}};

static const struct option_choice modes[] = {
	{"unroll", TACT_MODE_UNROLL}, {"loop", TACT_MODE_LOOP}, {NULL, 0}};

static const struct option_choice inits[] = {
	{"stack", TACT_INIT_STACK}, {"same", TACT_INIT_SAME}, {"diff", TACT_INIT_DIFF}, {NULL, 0}};

static const struct option_choice memories[] = {{"none", TACT_MCA_NO_ALIAS},
						{"all", TACT_MCA_ALIAS},
						{"addresses", TACT_MCA_ADDRESSES},
						{"learn", TUNING_MEMORY_AUTO},
						{NULL, 0}};

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT}, {"csv", FORMAT_CSV}, {"json", FORMAT_JSON}, {NULL, 0}};

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
				 "'%.*s' is none of latency, uops, ports, advance, globals",
				 (int)(n < 40 ? n : 40), value);
			return p->why;
		}
		p->what |= 1u << i;
		value += n + (value[n] == ',');
	}
	return p->what ? NULL : "a list such as latency,ports is needed";
}

#define FIELD(field, type) .offset = OPTION_FIELD(tuning, field, type)
#define FLAG(field)	   .type = OPTION_FLAG, FIELD(field, bool)
#define TEXT(field)	   .type = OPTION_TEXT, FIELD(field, const char *)
#define CHOICE(field, of)  .type = OPTION_CHOICE, .choices = of, FIELD(field, int)
#define NUMBER(field, from, to)                                                                    \
	.type = OPTION_NUMBER, .low = from, .high = to, FIELD(field, unsigned)

/* clang-format off: an option stays together */
static const struct option_spec input_specs[] = {
	{.name = "from",
	 .argument = "FILE",
	 .type = OPTION_CALL,
	 .call = add_input,
	 .help = "measured blocks: a CSV with the columns hex and cycles, or a store of tact "
		 "measure; may be given again, and is the same as an INPUT"},
	{.letter = 'm',
	 .name = "mode",
	 .argument = "MODE",
	 CHOICE(mode, modes),
	 .help = "how the blocks were measured: unroll (default) or loop; rows that say otherwise "
		 "are left out"},
	{.name = "init",
	 .argument = "HOW",
	 CHOICE(init, inits),
	 .help = "what registers held at entry: stack (default), same or diff"},
	{.name = "clean", FLAG(is_clean), .help = "only rows whose column clean is 1"},
	{.name = NULL},
};

static const struct option_spec model_specs[] = {
	{.name = "model",
	 .argument = "MODEL",
	 CHOICE(model, models),
	 .help = "whose parameters: mca (default), or the instruction tables as facile or sim see "
		 "them"},
	{.name = "mca-params",
	 .argument = "FILE",
	 TEXT(mca_params),
	 .help = "mca: start with these parameters; --params is the start of the others"},
	{.name = "random-start",
	 FLAG(is_random_start),
	 .help = "mca: start with random parameters, from the distributions that DiffTune samples"},
	{.name = "corrupt",
	 .argument = "PERCENT",
	 NUMBER(corrupt, 1, 100),
	 .help = "facile, sim: first make so many of the latencies and ports wrong, to see what "
		 "comes back"},
	{.name = "learn",
	 .argument = "LIST",
	 .type = OPTION_CALL,
	 .call = set_what,
	 .help = "what to learn, of latency,uops,ports,advance,globals (default: all)"},
	{.name = "memory",
	 .argument = "HOW",
	 CHOICE(memory, memories),
	 .help = "mca: what loads wait for: none, all, addresses (stores to the same one), or "
		 "learn: "
		 "what fits best at the start (default; with --method surrogate none)"},
	{.name = NULL},
};

static const struct option_spec method_specs[] = {
	{.name = "method",
	 .argument = "METHOD",
	 CHOICE(method, methods),
	 .help = "direct (default), surrogate (DiffTune), or a baseline: simple, random, bandit"},
	{.name = "budget",
	 .argument = "N",
	 NUMBER(budget, 1, 4000000000u),
	 .help = "stop after so many thousand evaluations of blocks"},
	{.name = "min-gain",
	 .argument = "N",
	 NUMBER(min_gain, 1, 100000),
	 .help = "direct: percent of error, summed over blocks, that a change has to save "
		 "(default: "
		 "50)"},
	{.name = "seed",
	 .argument = "N",
	 NUMBER(seed, 0, 4294967295u),
	 .help = "another split and other random numbers (default: 0; the same seed gives the "
		 "same)"},
	{.letter = 'j',
	 .name = "jobs",
	 .argument = "N",
	 NUMBER(jobs, 0, 256),
	 .help = "threads (default: one for each core); the result does not depend on it"},
	{.name = NULL},
};

static const struct option_spec surrogate_specs[] = {
	{.name = "embedding",
	 .argument = "N",
	 NUMBER(embedding, 1, 1024),
	 .help = "numbers that a token becomes (default: 32)"},
	{.name = "hidden",
	 .argument = "N",
	 NUMBER(hidden, 1, 1024),
	 .help = "width of the LSTMs (default: 64)"},
	{.name = "layers",
	 .argument = "N",
	 NUMBER(layers, 1, 4),
	 .help = "LSTMs on top of each other (default: 1)"},
	{.name = "batch",
	 .argument = "N",
	 NUMBER(batch, 1, 65536),
	 .help = "blocks for one step (default: 256)"},
	{.name = "samples",
	 .argument = "N",
	 NUMBER(samples, 1, 1000),
	 .help = "simulated blocks for each measured one (default: 10)"},
	{.name = "epochs",
	 .argument = "N",
	 NUMBER(epochs, 1, 1000),
	 .help = "passes over the simulated blocks (default: 4)"},
	{.name = "table-epochs",
	 .argument = "N",
	 NUMBER(table_epochs, 1, 1000),
	 .help = "passes over the measured blocks (default: 16)"},
	{.name = "rounds",
	 .argument = "N",
	 NUMBER(rounds, 1, 20),
	 .help = "how often: all but the first train again around what was learned (default: 2; "
		 "the "
		 "paper has 1)"},
	{.name = "no-bounds",
	 FLAG(is_unbounded),
	 .help = "the network alone, as in the paper; else it learns how far the machine is above "
		 "what dispatch, ports and chains allow"},
	{.name = "checkpoint",
	 .argument = "FILE",
	 TEXT(checkpoint),
	 .help = "keep the state there, and go on with it if there is one"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.letter = 'o',
	 .name = "output",
	 .argument = "PARAMS",
	 TEXT(output),
	 .help = "write the learned parameters there, for --mca-params or --params of tact "
		 "predict"},
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 CHOICE(format, formats),
	 .help = "of the report: text (default), csv or json"},
	{.name = "changes",
	 .argument = "N",
	 NUMBER(n_changes, 1, 1000000),
	 .help = "show so many changes (default: 20)"},
	{.name = "sensitivity",
	 FLAG(is_sensitivity),
	 .help = "also the error with other values of the parameters of the machine"},
	{.letter = 'q',
	 .name = "quiet",
	 FLAG(is_quiet),
	 .help = "no remarks and no progress on standard error, only errors"},
	{.letter = 'v',
	 .name = "verbose",
	 FLAG(is_verbose),
	 .help = "say more about rows left out"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"Four fifths of the blocks are learned from, a tenth stops the search, a tenth is\n"
	"only for the figures (test). No block is in two of these parts.\n\n"
	"Examples:\n"
	"  tact tune -a SKL --from measured.csv -o skl.params\n"
	"  tact predict -a SKL --model mca --mca-params skl.params -x 480fafc34801d8\n"
	"  tact tune -a ICX --model facile --from blocks.db -o icx.params\n"
	"  tact tune -a HSW --method surrogate --random-start --checkpoint run.ckpt \\\n"
	"       --from measured.csv -o hsw.params\n";

/* ---- progress ---- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int tuning_progress(void *context, const struct tact_tune_progress *x)
{
	struct tuning *p = context;
	struct text text = {0};
	double now = seconds();

	/* On a terminal often, elsewhere a line now and then. */
	if (p->is_quiet || (x->done < 1 && now - p->last_shown < (p->is_bar ? 0.2 : 10)))
		return 0;
	p->last_shown = now;
	text_printf(&text, "%s%s %u", p->is_bar ? "\r\033[K" : "tact: ", x->phase, x->step);
	if (x->steps)
		text_printf(&text, " of %u", x->steps);
	text_printf(&text, ", %.0f%%", 100 * x->done);
	if (isfinite(x->loss))
		text_printf(&text, ", loss %.4f", x->loss);
	if (isfinite(x->validation))
		text_printf(&text, ", validation %.2f%%", 100 * x->validation);
	if (isfinite(x->seconds_left))
		text_printf(&text, ", at most %.0f s left", x->seconds_left);
	if (!p->is_bar)
		text_add(&text, "\n");
	text_to_stderr(&text);
	text_free(&text);
	return 0;
}

static void clear_bar(const struct tuning *p)
{
	struct text text = {0};

	if (!p->is_bar || !p->last_shown)
		return;
	text_add(&text, "\r\033[K");
	text_to_stderr(&text);
	text_free(&text);
}

/* ---- the run ---- */

static int check(struct tuning *p)
{
	if (!p->n_inputs) {
		cli_message("no measured blocks: give --from FILE");
		return CLI_USAGE;
	}
	if (p->archs.n > 1) {
		cli_message("parameters are learned for one CPU; --arch has %zu", p->archs.n);
		return CLI_USAGE;
	}
	if (p->mca_params && p->model != TACT_TUNE_MCA) {
		cli_message("--mca-params is for --model mca");
		return CLI_USAGE;
	}
	if (p->mca_params && p->is_random_start) {
		cli_message("--mca-params and --random-start are two starts");
		return CLI_USAGE;
	}
	if (p->checkpoint && p->method != TACT_TUNE_SURROGATE) {
		cli_message("--checkpoint is for --method surrogate; the others take minutes");
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static int complain(const char *path, const struct tact_diag *diag, int status)
{
	struct text err = {0};

	cli_place(&err, path, diag->line, diag->text[0] ? diag->text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return CLI_FAILED;
}

static int load_start(struct tuning *p)
{
	struct tact_diag diag = {0};
	int status;

	if (!p->mca_params)
		return CLI_GOOD;
	status = tact_mca_params_create(&p->start, p->archs.arch[0], &diag);
	if (status >= 0)
		status = tact_mca_params_load(p->start, p->mca_params, &diag);
	if (status >= 0)
		return CLI_GOOD;
	complain(p->mca_params, &diag, status);
	return CLI_USAGE;
}

static int create(struct tuning *p)
{
	bool is_learned = p->memory == TUNING_MEMORY_AUTO && p->method != TACT_TUNE_SURROGATE;
	enum tact_mca_memory memory = p->memory == TUNING_MEMORY_AUTO
					      ? TACT_MCA_NO_ALIAS
					      : (enum tact_mca_memory)p->memory;
	struct tact_diag diag = {0};
	struct tact_tune_options options = {
		.size = sizeof(options),
		.arch = p->archs.arch[0],
		.start = p->start,
		.model = (enum tact_tune_model)p->model,
		.method = (enum tact_tune_method)p->method,
		.what = p->what,
		.learn_memory = is_learned,
		.random_start = p->is_random_start,
		.corrupt = p->corrupt,
		.block = {.size = sizeof(options.block),
			  .mode = (enum tact_mode)p->mode,
			  .init = (enum tact_init)p->init},
		.seed = p->seed,
		.threads = p->jobs ? p->jobs : cli_cores(),
		.budget = (uint64_t)p->budget * 1000,
		.min_gain = p->min_gain / 100.0,
		.network = {.embedding = p->embedding,
			    .hidden = p->hidden,
			    .layers = p->layers,
			    .batch = p->batch,
			    .samples = p->samples,
			    .epochs = p->epochs,
			    .table_epochs = p->table_epochs,
			    .rounds = p->rounds,
			    .no_bounds = p->is_unbounded},
		.checkpoint = p->checkpoint,
		.report = tuning_progress,
		.context = p,
	};

	options.memory = memory;
	if (p->start)
		tact_mca_params_memory(p->start, &options.memory);
	if (tact_tuner_create(&p->tuner, &options, &diag) >= 0)
		return CLI_GOOD;
	cli_message("%s", diag.text);
	return CLI_USAGE;
}

/* What the parameters were learned from goes to the top of their file. */
static void describe(const struct tuning *p, struct text *out)
{
	struct tact_tune_summary s;

	tact_tuner_summary(p->tuner, &s);
	text_printf(
		out, "Learned by tact tune %d.%d.%d: model %s, %s, method %s, mode %s, seed %u\n",
		TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH, tuning_models[p->model],
		tact_arch_name(p->archs.arch[0]), tuning_methods[p->method],
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
	text_add_bytes(out, "", 1);
}

static int save(const struct tuning *p)
{
	struct text comment = {0};
	struct tact_diag diag = {0};
	int status;

	if (!p->output)
		return CLI_GOOD;
	describe(p, &comment);
	status = tact_tuner_save(p->tuner, p->output, comment.data, &diag);
	text_free(&comment);
	return status < 0 ? complain(p->output, &diag, status) : CLI_GOOD;
}

static int learn(struct tuning *p)
{
	struct tact_diag diag = {0};
	struct output out;
	struct text text = {0};
	int status = tact_tuner_run(p->tuner, &diag), printed;

	clear_bar(p);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status == -TACT_E_IO || status == -TACT_E_FORMAT || status == -TACT_E_VERSION)
		return complain(p->checkpoint ? p->checkpoint : "tune", &diag, status);
	if (status < 0) {
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	status = save(p);
	output_open(&out, NULL);
	printed = tuning_print(p, &text);
	output_write(&out, &text);
	text_free(&text);
	if (output_close(&out) || printed)
		status = CLI_FAILED;
	return status;
}

static int run(struct tuning *p)
{
	int status, read;

	status = p->n_inputs ? archlist_resolve(&p->archs, NULL, p->is_quiet) : CLI_GOOD;
	if (!status)
		status = check(p);
	if (!status)
		status = load_start(p);
	if (!status)
		status = create(p);
	if (status)
		return status;
	p->is_bar = isatty(STDERR_FILENO);
	read = tuning_read(p);
	if (read && !p->n_rows)
		return read;
	status = learn(p);
	return status ? status : read;
}

int cmd_tune(int argc, char **argv)
{
	struct tuning p = {.mode = TACT_MODE_UNROLL, .memory = TUNING_MEMORY_AUTO, .n_changes = 20};
	const struct option_group groups[] = {
		{"Input", input_specs, &p},
		{"CPU", archlist_option_specs, &p.archs},
		{"Model", model_specs, &p},
		{"Method", method_specs, &p},
		{"Surrogate", surrogate_specs, &p},
		{"Output", output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact tune [OPTIONS] --from FILE\n",
		.description =
			"Learns the parameters of a model from measured blocks alone, says how "
			"much "
			"better it predicts blocks that it has not seen, and which parameters "
			"changed, from what to what, and which blocks prove it.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = add_input,
		.argument_target = &p,
	};
	int status;

	if (options_take(&command, argc, argv, &status))
		status = run(&p);
	tact_tuner_destroy(p.tuner);
	tact_mca_params_destroy(p.start);
	tuning_rows_fini(&p);
	archlist_fini(&p.archs);
	return status;
}
