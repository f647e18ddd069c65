/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact mix` share.
 */
#ifndef TACT_MIXER_H
#define TACT_MIXER_H

#include <tact/mix.h>

#include "base/tabular.h"
#include "common/archlist.h"
#include "common/cli.h"
#include "common/options.h"
#include "common/output.h"

enum { MIXER_MAX_FILES = 64, MIXER_MAX_FILTERS = 16 };

/* A recording and how it is looked at: options of report, diff, train. */
struct mixer_input {
	int method;	       /* enum tact_mix_method */
	const char *rule_path; /* NULL: the paper's */
	const char *root;
	const char *files[MIXER_MAX_FILES];
	size_t n_files;
	struct tact_mix_rule *rule; /* owned; loaded when needed */
};

/* What a table is made by. */
struct mixer_table {
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	size_t n_keys;
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
	const char *path, *output, *html;
	int format;
	bool is_quiet, cycles;
	struct tact_mix *mix;
	struct tact_mix_summary summary;
	struct tact_mix_pivot *pivot;
	struct tact_mix_figures figures;
};

extern const struct option_spec mixer_input_specs[], mixer_table_specs[];

/* Open and make, with the message given on failure; return an exit code. */
int mixer_open(struct mixer_input *input, const char *path, struct tact_mix **out);
int mixer_pivot(struct mixer_table *table, struct tact_mix *mix, struct tact_mix_pivot **out);
void mixer_input_fini(struct mixer_input *input);
void mixer_table_fini(struct mixer_table *table);

/* Rows that are shown: all, or the first ones. */
size_t mixer_rows(const struct mixer *m);

/* Columns of a table: its keys, and what follows them. */
enum { MIXER_MAX_COLUMN = 60, MIXER_MAX_COLUMNS = TACT_MIX_MAX_KEYS + 4 };
struct mixer_columns {
	struct column items[MIXER_MAX_COLUMNS];
	size_t n, n_keys;
};
/* offset: of the keys in a row. */
void mixer_columns_init(struct mixer_columns *columns, const struct mixer_table *table,
			size_t offset, const struct column *rest, size_t n);
void mixer_columns_json(const struct mixer_columns *columns, struct json *json); /* the keys */

/* Views of a report. */
void mix_text(const struct mixer *m, struct text *out);
void mix_csv(const struct mixer *m, struct text *out);
void mix_json(const struct mixer *m, struct text *out);

/* "1,234,567": for people. */
void mix_put_count(struct text *out, double value, int width);

/* What is to be known of a recording's quality, to standard error. */
void mix_warn(const struct mixer *m);

/* A report of --cycles. */
void mix_print_costs(const struct mixer *m, const struct tact_mix_costs *costs, struct text *out);

int mix_report_main(int argc, char **argv);
int mix_diff_main(int argc, char **argv);
int mix_record_main(int argc, char **argv);
int mix_exact_main(int argc, char **argv);
int mix_train_main(int argc, char **argv);

#endif /* TACT_MIXER_H */
