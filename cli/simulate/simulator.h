/* SPDX-License-Identifier: MIT
 *
 * Results of `tact simulate`.
 */
#ifndef TACT_SIMULATOR_H
#define TACT_SIMULATOR_H

#include "predict/predictor.h"

void simulate_report(struct predict_worker *w, const struct source_block *block,
		     const struct tact_prediction *x, struct text *out);
void simulate_csv_titles(const struct predictor *p, struct text *out);
char *simulate_csv_values(struct predict_worker *w, const struct tact_prediction *x, char *p);
unsigned simulate_csv_columns(const struct predictor *p);

#endif /* TACT_SIMULATOR_H */
