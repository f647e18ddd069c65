/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact evaluate` share.
 */
#ifndef TACT_EVALUATOR_H
#define TACT_EVALUATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/evaluate.h>
#include <tact/arch.h>

#include "base/tabular.h"
#include "common/archlist.h"
#include "common/output.h"
#include "common/progress.h"

/* Values of -a, -m and --init when an input came. */
struct evaluate_setting {
	const char *arch; /* NULL: nothing */
	int mode, init;	  /* < 0: nothing */
};

struct evaluator {
	struct progress progress;
	/* values of the options */
	struct tact_evaluation_input *inputs; /* owned; strings are borrowed from argv */
	size_t n_inputs;
	struct evaluate_setting current, last; /* last: given after the last input */
	const char *output, *rows_path, *report, *bottleneck_archs, *calibrate, *partial;
	bool is_combining;
	const char **models; /* owned; borrowed from argv: values of --model */
	size_t n_models;
	int format;
	bool is_quiet, is_verbose;
	unsigned worst;
	struct tact_evaluation_options options; /* without the inputs until all are known */
	char why[sizeof(((struct tact_diag *)0)->text)];

	struct tact_evaluation *e; /* owned; its result */
	struct archlist default_arch;
	size_t input;	    /* that is read */
	bool is_params_bad; /* the message was given */
	bool is_over;	    /* there are no scores */
	struct output rows; /* --rows, while it is written */
	bool has_rows;
};

/* As tact_evaluation_order; it does not fail. */
size_t evaluate_order(const struct evaluator *p, enum tact_grouping kind, uint32_t set,
		      uint32_t **order);

/* Scores: a table in any format. */
enum { EVALUATE_N_COLUMNS = 16 + TACT_N_OUTCOMES };
enum { EVALUATE_MODELS = 1 << 0, EVALUATE_GROUPS = 1 << 1 }; /* views */

struct evaluate_table {
	const struct evaluator *p;
	struct column columns[EVALUATE_N_COLUMNS];
	struct table table;
};

/* A row of the table: the scores of a model for a group. */
struct evaluate_line {
	const struct evaluator *p;
	enum tact_grouping kind;
	const struct tact_evaluated_group *group;
	const char *model;
	const struct tact_scores *scores;
	bool is_first; /* of its group */
};

void evaluate_table_init(struct evaluate_table *table, const struct evaluator *p, int format,
			 struct text *out);
/* From here on the text begins with a column of labels. */
void evaluate_table_group(struct evaluate_table *table, enum tact_grouping kind, const char *title);
/* One row per model. */
void evaluate_table_row(struct evaluate_table *table, enum tact_grouping kind, uint32_t group);

/* Formats. */
void evaluate_text(const struct evaluator *p, struct text *out);
void evaluate_scores(const struct evaluator *p, struct text *out); /* CSV and JSON */
void evaluate_json(const struct evaluator *p, struct text *out);
/* --rows: written while rows are evaluated.  Return an exit code. */
int evaluate_begin_rows(struct evaluator *p);
void evaluate_add_rows(struct evaluator *p); /* those that are here */
int evaluate_end_rows(struct evaluator *p);

/* --calibrate: writes the tables, and adds how well they hold on other rows.  Returns an exit code.
 */
int evaluate_calibrate(const struct evaluator *p, struct text *out);

/* --report.  Returns an exit code. */
int evaluate_write_report(struct evaluator *p);

#endif /* TACT_EVALUATOR_H */
