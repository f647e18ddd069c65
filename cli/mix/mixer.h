/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact mix` share.
 */
#ifndef TACT_MIXER_H
#define TACT_MIXER_H

#include <tact-program/report.h>
#include <tact/mix.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "common/options.h"
#include "common/output.h"

enum { MIXER_MAX_FILES = 64, MIXER_MAX_FILTERS = 16 };

/* A recording and how it is analysed: options of report, diff and train. */
struct mixer_input {
	int method;	       /* enum tact_mix_method */
	const char *rule_path; /* NULL: the paper's */
	const char *root;
	const char *files[MIXER_MAX_FILES];
	size_t n_files;
	bool is_mangled;
	const char *kallsyms, *kcore;
	struct tact_mix_rule *rule; /* owned; loaded when needed */
};

/* Options of a table. */
struct mixer_table {
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	size_t n_keys;
	enum tact_mix_key columns[TACT_MIX_MAX_KEYS];
	size_t n_columns;
	enum tact_mix_value values[TACT_N_MIX_VALUES];
	size_t n_values;
	struct tact_mix_filter filters[MIXER_MAX_FILTERS];
	size_t n_filters;
	unsigned top;
	const char *taxonomy_path;
	struct tact_mix_taxonomy *taxonomy; /* owned */
	char why[160];			    /* message of the last option that was wrong */
};

struct mixer {
	struct mixer_input input;
	struct mixer_table table;
	struct archlist archs;
	const char *paths[MIXER_MAX_FILES];
	struct tact_mix *mixes[MIXER_MAX_FILES]; /* owned */
	size_t n;				 /* recordings */
	const char *output, *html, *model;
	int format;
	bool is_quiet, cycles;
	struct tact_mix_summary summary; /* of all */
	struct tact_mix_pivot *pivot;
	struct tact_mix_cross *cross; /* NULL: there are no --columns */
};

extern const struct option_spec mixer_input_specs[], mixer_table_specs[], mixer_cross_specs[];

/* Open and make, with the message given on failure; return an exit code. */
int mixer_open(struct mixer_input *input, const char *path, struct tact_mix **out);
int mixer_pivot(struct mixer_table *table, struct tact_mix *const *mixes, size_t n,
		struct tact_mix_pivot **out);
int mixer_cross(struct mixer_table *table, struct tact_mix *const *mixes, size_t n,
		struct tact_mix_cross **out);
void mixer_input_fini(void *input);
void mixer_table_fini(void *table);

struct tact_mixfile;
int mixer_write_file(const struct tact_mixfile *file, const char *path); /* returns an exit code */

command_main mix_record_main, mix_report_main, mix_diff_main, mix_exact_main, mix_train_main,
	mix_export_main, mix_merge_main;

#endif /* TACT_MIXER_H */
