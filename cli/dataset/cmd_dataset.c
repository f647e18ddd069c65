/* SPDX-License-Identifier: MIT
 *
 * tact dataset: its actions and options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tact-program/lint.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "common/options.h"
#include "datasets.h"

static const char help[] =
	"usage: tact dataset import [OPTIONS] STORE FILE...\n"
	"       tact dataset export [OPTIONS] STORE\n"
	"       tact dataset merge [OPTIONS] STORE STORE...\n"
	"       tact dataset stat [OPTIONS] STORE\n"
	"       tact dataset lint [OPTIONS] STORE\n\n"
	"Keeps blocks and what is known about them in a store, an SQLite file: the applications "
	"that they come from, categories, measurements by machine, and predictions by model.\n\n"
	"{options}\n\n"
	"Actions:\n"
	"  import   add hex lists and CSV files; the same file again changes nothing.\n"
	"           Without a header the columns are hex and weight, if the first numbers\n"
	"           are all below 1, or hex and cycles\n"
	"  export   write all records as CSV, which import reads back, or as JSON\n"
	"  merge    add everything that other stores know; the order does not matter, and\n"
	"           merging again changes nothing\n"
	"  stat     count rows by application, category, machine, mode, model, status, host\n"
	"  lint     look for data that cannot be right; exits with 1 if it finds any\n\n"
	"Examples:\n"
	"  tact dataset import blocks.db gzip.csv openssl.csv\n"
	"  tact dataset import --unit hundred --machine bhive -a HSW blocks.db hsw.csv\n"
	"  tact dataset merge all.db hsw.db skl.db\n"
	"  tact dataset export --record measurement -a HSW blocks.db > measured.csv\n"
	"  tact dataset lint blocks.db\n";

static const struct option_choice units[] = {
	{"auto", TACT_UNIT_AUTO},
	{"iteration", TACT_UNIT_ITERATION},
	{"hundred", TACT_UNIT_HUNDRED},
	{NULL, 0},
};

static const struct option_choice records[] = {
	{"block", TACT_EXPORT_BLOCK},		{"source", TACT_EXPORT_SOURCE},
	{"category", TACT_EXPORT_CATEGORY},	{"measurement", TACT_EXPORT_MEASUREMENT},
	{"prediction", TACT_EXPORT_PREDICTION}, {NULL, 0},
};

static const char *check_name(size_t i, const void *context)
{
	(void)context;
	return tact_lint_name((unsigned)i);
}

/* Names separated by commas. */
static const char *set_checks(void *target, const char *value)
{
	struct dataset *d = target;

	d->checks = 0;
	while (*value) {
		size_t size = strcspn(value, ","), i = 0;

		while (i < TACT_N_LINT_CHECKS && (strlen(check_name(i, NULL)) != size ||
						  strncmp(check_name(i, NULL), value, size) != 0))
			i++;
		if (i == TACT_N_LINT_CHECKS) {
			char word[40];
			const char *near;

			snprintf(word, sizeof(word), "%.*s", (int)(size < 39 ? size : 39), value);
			near = cli_nearest(word, TACT_N_LINT_CHECKS, check_name, NULL);
			snprintf(d->why, sizeof(d->why),
				 "'%s' is not one of decode, weights, duplicates, units, bounds, "
				 "alias, unconfirmed, hosts%s%s%s",
				 word, near ? "; did you mean " : "", near ? near : "",
				 near ? "?" : "");
			return d->why;
		}
		d->checks |= 1u << i;
		value += size + (value[size] == ',');
	}
	return NULL;
}

static const char *set_tolerance(void *target, const char *value)
{
	struct dataset *d = target;
	char *end;
	double percent = strtod(value, &end);

	if (*value < '0' || *value > '9' || *end || !(percent < 100))
		return "not a number of at least 0 and below 100";
	d->tolerance = percent;
	d->is_tolerance_given = true;
	return NULL;
}

static const char *add_path(void *target, const char *path)
{
	struct dataset *d = target;

	d->paths = cli_realloc(d->paths, (d->n_paths + 1) * sizeof(*d->paths));
	d->paths[d->n_paths++] = path;
	return NULL;
}

#define OPTION_HOLDER dataset

static const struct option_spec row_specs[] = {
	OPTION_TEXT(0, "app", "NAME", app, "application that blocks come from"),
	OPTION_TEXT(0, "host", "NAME", host, "host that measured; for export"),
	OPTION_TEXT(0, "machine", "NAME", machine,
		    "machine of measurements; default for import: the name of the file up to its "
		    "first dot"),
	OPTION_ARCH(arch,
		    "microarchitecture of the machine or of predictions: a name from 'tact archs'"),
	OPTION_MODE(mode, OPTION_BIT(TACT_MODE_LOOP) | OPTION_BIT(TACT_MODE_UNROLL),
		    "loop or unroll; default for import: loop if there is a column hex_loop or the "
		    "block ends in a branch to its start, else unroll"),
	OPTION_INIT(init, 0,
		    "register values on entry: same, stack or diff; default for import: same"),
	OPTION_TEXT(0, "classifier", "NAME", classifier,
		    "classifier that chose the categories; default for import: import"),
	OPTION_TEXT(0, "model", "NAME", model,
		    "model of predictions; default for import: facile, if the columns show that"),
	OPTION_TEXT(0, "model-version", "TEXT", version, "version of that model"),
	OPTION_END,
};

static const struct option_spec import_specs[] = {
	OPTION_CHOICE(
		0, "unit", "UNIT", unit, units,
		"cycles are for one iteration (iteration) or for a hundred, as in BHive (hundred); "
		"auto (default): hundred for files without a header, with a note, else iteration"),
	OPTION_FLAG(0, "weights", is_second_weight,
		    "the second column of a file without a header is a weight, even if it is not "
		    "below 1"),
	OPTION_END,
};

static const struct option_spec export_specs[] = {
	OPTION_CHOICE(0, "record", "KIND", record, records,
		      "write only records of this kind: block, source, category, measurement or "
		      "prediction"),
	OPTION_END,
};

static const struct option_spec lint_specs[] = {
	OPTION_CALL(0, "check", "LIST", set_checks,
		    "make only these checks, separated by commas: decode, weights, duplicates, "
		    "units, bounds, alias, unconfirmed, hosts"),
	OPTION_CALL(0, "tolerance", "PERCENT", set_tolerance,
		    "accept measurements this far below a bound (default: 5)"),
	OPTION_TEXT(0, "may-alias", "FILE", may_alias,
		    "list of blocks that are suspected of aliasing"),
	OPTION_END,
};

static const char *add_without(void *target, const char *host)
{
	struct dataset *d = target;

	d->without = cli_realloc(d->without, (d->n_without + 1) * sizeof(*d->without));
	d->without[d->n_without++] = host;
	return NULL;
}

static const struct option_spec merge_specs[] = {
	OPTION_FLAG(0, "mix-cores", mixes_cores,
		    "merge stores with measurements of different cores; without it, that is "
		    "refused unless one of the stores has all of them"),
	OPTION_CALL(0, "without-host", "NAME", add_without,
		    "leave out the measurements of this host (repeatable)"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS,
		      "text, csv or json (one object per line); default: text, for export csv"),
	OPTION_OUTPUT(output, "write the results of export, stat or lint to FILE"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_VERBOSE(is_verbose, "report every bad line and every finding"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Rows (import: values that rows lack; export and lint: only matching rows)",
		   row_specs),
	OPTION_OWN("Import", import_specs),
	OPTION_OWN("Export", export_specs),
	OPTION_OWN("Merge", merge_specs),
	OPTION_OWN("Lint", lint_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_path, add_path),
};

static void fini(void *target)
{
	struct dataset *p = target;

	free(p->paths);
	free(p->without);
}

static const struct {
	const char *name;
	int (*run)(const struct dataset *d);
	size_t min_paths, max_paths; /* including the action itself */
	const char *needs;
} actions[] = {
	{"import", dataset_import, 3, SIZE_MAX,
	 "a store and the files to import, - for standard input"},
	{"export", dataset_export, 2, 2, "one store"},
	{"merge", dataset_merge, 3, SIZE_MAX, "a store and the stores to merge into it"},
	{"stat", dataset_stat, 2, 2, "one store"},
	{"lint", dataset_lint, 2, 2, "one store"},
};

static const char *action_name(size_t i, const void *context)
{
	(void)context;
	return actions[i].name;
}

/* Names are those that stores hold: "skylake" becomes "SKL". */
static int check_arch(struct dataset *d)
{
	const size_t most = sizeof(((struct tact_machine *)0)->arch) - 1;
	const struct tact_arch *arch;

	if (!d->arch || tact_arch_find(d->arch)) {
		arch = d->arch ? tact_arch_find(d->arch) : NULL;
		d->arch = arch ? tact_arch_name(arch) : NULL;
		if (d->arch && strlen(d->arch) > most)
			return cli_wrong(
				"-a %s: a store keeps names of CPUs of up to %zu characters; "
				"others that have the same model are in 'tact archs'",
				d->arch, most);
		return CLI_GOOD;
	}
	archlist_find(d->arch);
	return CLI_USAGE;
}

/* An option that does nothing is a mistake. */
static int check_options(const struct dataset *d, const char *action)
{
	const bool is_import = !strcmp(action, "import"), is_export = !strcmp(action, "export");
	const bool is_lint = !strcmp(action, "lint"), is_merge = !strcmp(action, "merge");
	const char *wrong = NULL;

	if (!is_import && (d->unit || d->is_second_weight))
		wrong = "--unit and --weights require import";
	else if (!is_export && d->record)
		wrong = "--record requires export";
	else if (!is_lint && (d->checks || d->may_alias || d->is_tolerance_given))
		wrong = "--check, --tolerance and --may-alias require lint";
	else if ((is_import || is_merge) && (d->output || d->format >= 0))
		wrong = "--format and --output require export, stat or lint";
	else if (!is_merge && (d->mixes_cores || d->n_without))
		wrong = "--mix-cores and --without-host require merge";
	else if (d->host && !is_export)
		wrong = "--host requires export";
	else if (!is_import && !is_export && !is_lint &&
		 (d->app || d->machine || d->arch || d->mode >= 0 || d->init >= 0 ||
		  d->classifier || d->model || d->version))
		wrong = "stat and merge use all rows; only export and lint can select";
	else if (is_import && d->machine &&
		 (!*d->machine || strlen(d->machine) > TACT_STORE_NAME_MAX))
		wrong = "--machine: a name must have 1 to 63 bytes";
	if (wrong)
		cli_message("%s", wrong);
	return wrong ? CLI_USAGE : CLI_GOOD;
}

/* Results must not overwrite the store. */
static int check_output(const struct dataset *d)
{
	struct stat a, b;

	if (!d->output || stat(d->output, &a) || stat(d->paths[1], &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		return CLI_GOOD;
	return cli_wrong("-o %s is the store itself", d->output);
}

static int run(void *target)
{
	struct dataset *d = target;
	const char *near;

	if (!d->n_paths)
		return cli_wrong("an action is missing: import, export, merge, stat or lint");
	if (check_arch(d))
		return CLI_USAGE;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, d->paths[0]) != 0)
			continue;
		if (d->n_paths < actions[i].min_paths || d->n_paths > actions[i].max_paths)
			return cli_wrong("%s takes %s", actions[i].name, actions[i].needs);
		if (check_options(d, actions[i].name) || check_output(d))
			return CLI_USAGE;
		return actions[i].run(d);
	}
	near = cli_nearest(d->paths[0], CLI_ARRAY_SIZE(actions), action_name, NULL);
	return cli_wrong("'%s' is not one of import, export, merge, stat and lint%s%s%s",
			 d->paths[0], near ? "; did you mean " : "", near ? near : "",
			 near ? "?" : "");
}

static const struct option_command command = {help, groups, run, fini};

int cmd_dataset(int argc, char **argv)
{
	struct dataset d = {.mode = -1, .init = -1, .format = -1, .tolerance = 5};

	return option_command_run(&command, &d, argc, argv);
}

/* ---- what the actions share ---- */

struct tact_store *dataset_open(const char *path)
{
	struct tact_store *store = NULL;
	struct tact_diag diag = {0};
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status == -TACT_E_VERSION)
		status = tact_store_open(&store, path, 0, &diag);
	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return NULL;
	}
	return store;
}

struct tact_store_filter dataset_filter(const struct dataset *d)
{
	return (struct tact_store_filter){
		.size = sizeof(struct tact_store_filter),
		.machine = d->machine,
		.arch = d->arch,
		.app = d->app,
		.mode = d->mode < 0 ? TACT_MODE_AUTO : (enum tact_mode)d->mode,
		.has_init = d->init >= 0,
		.init = d->init < 0 ? (enum tact_init)0 : (enum tact_init)d->init,
		.classifier = d->classifier,
		.model = d->model,
		.version = d->version,
		.host = d->host,
	};
}
