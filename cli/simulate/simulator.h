/* SPDX-License-Identifier: MIT
 *
 * Results of `tact simulate`.
 */
#ifndef TACT_SIMULATOR_H
#define TACT_SIMULATOR_H

#include "predict/predictor.h"

void simulate_report(struct predict_worker *w, const struct source_block *block,
		     const struct tact_prediction *x, struct text *out);
extern const struct predict_columns simulate_columns;

/* `tact simulate`, as predict_within. */
int simulate_within(int argc, char **argv, struct source_limits *limits);

#endif /* TACT_SIMULATOR_H */
