/* SPDX-License-Identifier: MIT
 *
 * Options that the subcommands of mix share: recordings and tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixer.h"

static const char *add_file(void *target, const char *value)
{
	struct mixer_input *input = target;

	if (input->n_files == MIXER_MAX_FILES)
		return "too many files";
	input->files[input->n_files++] = value;
	return NULL;
}

static const char *key_name(size_t i, const void *context)
{
	(void)context;
	return tact_mix_key_name((enum tact_mix_key)i);
}

static bool find_key(const char *name, size_t n, enum tact_mix_key *key)
{
	for (int i = 0; i < TACT_N_MIX_KEYS; i++) {
		const char *known = tact_mix_key_name((enum tact_mix_key)i);

		if (strlen(known) == n && !memcmp(known, name, n)) {
			*key = (enum tact_mix_key)i;
			return true;
		}
	}
	return false;
}

static const char *unknown_key(struct mixer_table *t, const char *name, size_t n)
{
	char word[40];
	const char *near;

	snprintf(word, sizeof(word), "%.*s", (int)(n < 39 ? n : 39), name);
	near = cli_nearest(word, TACT_N_MIX_KEYS, key_name, NULL);
	if (near)
		snprintf(t->why, sizeof(t->why), "'%s' is not a property; did you mean %s?", word,
			 near);
	else
		snprintf(t->why, sizeof(t->why),
			 "'%s' is not a property; 'tact mix report --help' lists all", word);
	return t->why;
}

static const char *read_keys(struct mixer_table *t, const char *value, enum tact_mix_key *keys,
			     size_t *n_keys)
{
	*n_keys = 0;
	for (;;) {
		size_t n = strcspn(value, ",");

		if (*n_keys == TACT_MIX_MAX_KEYS)
			return "give at most six properties";
		if (!find_key(value, n, &keys[*n_keys]))
			return unknown_key(t, value, n);
		++*n_keys;
		if (!value[n])
			return NULL;
		value += n + 1;
	}
}

static const char *set_keys(void *target, const char *value)
{
	struct mixer_table *t = target;

	return read_keys(t, value, t->keys, &t->n_keys);
}

static const char *set_columns(void *target, const char *value)
{
	struct mixer_table *t = target;

	return read_keys(t, value, t->columns, &t->n_columns);
}

static const char *set_values(void *target, const char *value)
{
	struct mixer_table *t = target;

	t->n_values = 0;
	for (;;) {
		const size_t n = strcspn(value, ",");
		int v = 0;

		while (v < TACT_N_MIX_VALUES &&
		       (strlen(tact_mix_value_name((enum tact_mix_value)v)) != n ||
			memcmp(tact_mix_value_name((enum tact_mix_value)v), value, n)))
			v++;
		if (v == TACT_N_MIX_VALUES)
			return "give some of executions, share, of-row, of-column, error, low, "
			       "high, "
			       "weight and flops";
		if (t->n_values == TACT_N_MIX_VALUES)
			return "give each value once";
		t->values[t->n_values++] = (enum tact_mix_value)v;
		if (!value[n])
			return NULL;
		value += n + 1;
	}
}

/* KEY=PATTERN or KEY!=PATTERN */
static const char *add_filter(void *target, const char *value)
{
	struct mixer_table *t = target;
	const char *equals = strchr(value, '=');
	struct tact_mix_filter *f = &t->filters[t->n_filters];
	size_t n;

	if (t->n_filters == MIXER_MAX_FILTERS)
		return "too many filters";
	if (!equals || equals == value)
		return "give PROPERTY=PATTERN or PROPERTY!=PATTERN";
	f->is_negated = equals[-1] == '!';
	n = (size_t)(equals - value) - f->is_negated;
	if (!find_key(value, n, &f->key))
		return unknown_key(t, value, n);
	f->pattern = equals + 1;
	t->n_filters++;
	return NULL;
}

static const struct option_choice methods[] = {
	{"hybrid", TACT_MIX_HYBRID},
	{"ebs", TACT_MIX_EBS},
	{"lbr", TACT_MIX_LBR},
	{NULL, 0},
};

#define OPTION_HOLDER mixer_input

const struct option_spec mixer_input_specs[] = {
	OPTION_CHOICE(0, "method", "METHOD", method, methods,
		      "how executions are estimated: hybrid (default), ebs (samples) or lbr "
		      "(branch stacks)"),
	OPTION_TEXT(0, "rule", "FILE", rule_path,
		    "rule for the hybrid, from 'tact mix train' (default: lbr for up to 18 "
		    "instructions)"),
	OPTION_TEXT(0, "root", "DIR", root,
		    "look for recorded programs and libraries below this directory first"),
	OPTION_TEXT(0, "symfs", "DIR", root, "the same as --root, as in perf"),
	OPTION_CALL(0, "file", "PATH", add_file,
		    "use this file for the recorded one with the same name or build-id; "
		    "RECORDED=PATH: for the one of that name; may be repeated"),
	OPTION_TEXT(0, "kallsyms", "FILE", kallsyms,
		    "copy of /proc/kallsyms of the machine that was recorded, made there by root"),
	OPTION_TEXT(0, "kcore", "FILE", kcore,
		    "its /proc/kcore, as 'perf record --kcore' copies both"),
	OPTION_MANGLED(is_mangled),
	OPTION_END,
};

#undef OPTION_HOLDER
#define OPTION_HOLDER mixer_table

const struct option_spec mixer_table_specs[] = {
	OPTION_CALL(0, "by", "KEYS", set_keys,
		    "one row for each combination of these properties, separated by commas: "
		    "thread, module, function, block, line, mnemonic (default), form, extension, "
		    "category, packing, width, memory, taxonomy, method, operands, immediate, "
		    "masking, lock, latency, flops, bytes, length, ring, process, instruction"),
	OPTION_CALL(0, "filter", "KEY=PATTERN", add_filter,
		    "count only instructions whose property matches, with * and ?; KEY!=PATTERN: "
		    "only the others; may be repeated"),
	OPTION_NUMBER(0, "top", "N", top, 1, 1000000000,
		      "print only the N rows with most executions"),
	OPTION_TEXT(0, "taxonomy", "FILE", taxonomy_path,
		    "read groups of instructions: lines 'GROUP: PATTERN...'"),
	OPTION_END,
};

const struct option_spec mixer_cross_specs[] = {
	OPTION_CALL(0, "columns", "KEYS", set_columns,
		    "make a cross table: one column for each combination of these properties, rows "
		    "by --by"),
	OPTION_CALL(
		0, "values", "LIST", set_values,
		"show these values, separated by commas: executions, share, error (one standard "
		"deviation), low, high (19 of 20 rows have the truth between them), weight "
		"(executions of blocks), flops, and in cross tables of-row, of-column (shares); "
		"default: executions,share,error; with --columns: share"),
	OPTION_END,
};

int mixer_open(struct mixer_input *input, const char *path, struct tact_mix **out)
{
	struct tact_mix_options o = {
		.size = sizeof(o),
		.method = (enum tact_mix_method)input->method,
		.root = input->root,
		.files = input->files,
		.n_files = input->n_files,
		.is_mangled = input->is_mangled,
		.kallsyms = input->kallsyms,
		.kcore = input->kcore,
	};
	struct tact_diag diag = {0};
	int status;

	if (!input->kallsyms != !input->kcore)
		return cli_wrong("--kallsyms and --kcore belong together");
	if (input->rule_path && !input->rule) {
		status = tact_mix_rule_load(&input->rule, input->rule_path, &diag);
		if (status < 0)
			return cli_complain(input->rule_path, &diag, status, CLI_FAILED);
	}
	o.rule = input->rule;
	status = tact_mix_open(out, path, &o, &diag);
	return status < 0 ? cli_complain(path, &diag, status, CLI_FAILED) : CLI_GOOD;
}

static bool uses_taxonomy(const struct mixer_table *t)
{
	bool uses = false;

	for (size_t i = 0; i < t->n_keys; i++)
		uses |= t->keys[i] == TACT_MIX_BY_TAXONOMY;
	for (size_t i = 0; i < t->n_columns; i++)
		uses |= t->columns[i] == TACT_MIX_BY_TAXONOMY;
	return uses;
}

/* Makes the options of a pivot, which refer to the table. */
static int make_options(struct mixer_table *t, struct tact_mix_pivot_options *o)
{
	struct tact_diag diag = {0};
	int status;

	if (t->taxonomy_path && !t->taxonomy) {
		status = tact_mix_taxonomy_load(&t->taxonomy, t->taxonomy_path, &diag);
		if (status < 0)
			return cli_complain(t->taxonomy_path, &diag, status, CLI_FAILED);
	}
	if (uses_taxonomy(t) && !t->taxonomy)
		return cli_wrong("--by taxonomy needs --taxonomy FILE");
	for (size_t i = 0; i < t->n_filters; i++)
		if (t->filters[i].key == TACT_MIX_BY_TAXONOMY && !t->taxonomy)
			return cli_wrong("--filter taxonomy=... needs --taxonomy FILE");
	*o = (struct tact_mix_pivot_options){.size = sizeof(*o),
					     .n_keys = t->n_keys,
					     .filters = t->filters,
					     .n_filters = t->n_filters,
					     .taxonomy = t->taxonomy};
	memcpy(o->keys, t->keys, sizeof(o->keys));
	return CLI_GOOD;
}

int mixer_pivot(struct mixer_table *t, struct tact_mix *const *mixes, size_t n,
		struct tact_mix_pivot **out)
{
	struct tact_mix_pivot_options o;
	struct tact_diag diag = {0};
	size_t n_blocks = 0;
	int status = make_options(t, &o);

	if (status)
		return status;
	status = tact_mix_pivot_create_all(out, mixes, n, &o, &diag);
	if (status < 0)
		cli_message("%s", diag.text);
	for (size_t i = 0; i < n; i++)
		n_blocks += tact_mix_block_count(mixes[i]);
	if (status >= 0 && t->n_filters && n_blocks && !tact_mix_pivot_count(*out)) {
		cli_message("no instruction that ran matches --filter");
		return CLI_FAILED;
	}
	return status < 0 ? CLI_FAILED : CLI_GOOD;
}

int mixer_cross(struct mixer_table *t, struct tact_mix *const *mixes, size_t n,
		struct tact_mix_cross **out)
{
	struct tact_mix_pivot_options o;
	struct tact_diag diag = {0};
	int status = make_options(t, &o);

	if (status)
		return status;
	if (tact_mix_cross_create(out, mixes, n, &o, t->columns, t->n_columns, &diag) < 0) {
		cli_message("%s", diag.text);
		return CLI_FAILED;
	}
	return CLI_GOOD;
}

void mixer_input_fini(void *target)
{
	struct mixer_input *input = target;

	tact_mix_rule_destroy(input->rule);
}

void mixer_table_fini(void *target)
{
	struct mixer_table *table = target;

	tact_mix_taxonomy_destroy(table->taxonomy);
}
