/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact evaluate` share.
 */
#ifndef TACT_EVALUATOR_H
#define TACT_EVALUATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/evaluate.h>

#include "common/archlist.h"
#include "common/output.h"

/* What -a, -m and --init said when an input came. */
struct evaluate_setting {
	const char *arch; /* NULL: nothing */
	int mode, init;	  /* < 0: nothing */
};

struct evaluator {
	/* what the options say */
	struct tact_evaluation_input *inputs; /* owned; strings are borrowed from argv */
	size_t n_inputs;
	struct evaluate_setting current, last; /* last: given behind the last input */
	const char *params, *output, *rows_path, *report, *bottleneck_archs;
	const char **models; /* owned; borrowed from argv: values of --model */
	size_t n_models;
	int format;
	bool is_clean, is_weighted, is_common, is_rounded, is_quiet, is_verbose;
	unsigned threads, timeout, worst;
	char why[sizeof(((struct tact_diag *)0)->text)];

	struct tact_evaluation *e; /* owned; what came of it */
	struct archlist default_arch;
	size_t input;	    /* that is read */
	bool is_params_bad; /* the message was given */
};

/* As tact_evaluation_order; it does not fail. */
size_t evaluate_order(const struct evaluator *p, enum tact_grouping kind, uint32_t set,
		      uint32_t **order);

/* Formats. */
void evaluate_text(const struct evaluator *p, struct text *out);
void evaluate_csv(const struct evaluator *p, struct text *out);
void evaluate_json(const struct evaluator *p, struct text *out);
int evaluate_write_rows(const struct evaluator *p);
const char *evaluate_kind_name(enum tact_grouping kind);

/* --report.  Returns an exit code. */
int evaluate_write_report(struct evaluator *p);

#endif /* TACT_EVALUATOR_H */
