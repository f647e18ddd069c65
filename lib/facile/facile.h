/* SPDX-License-Identifier: MIT
 *
 * Layer 4: the bounds.  Each takes a loaded block and returns cycles per iteration; 0 if the block
 * does not use the component.  None of them allocates unless the block is larger than any before.
 */
#ifndef TACT_FACILE_H
#define TACT_FACILE_H

#include <tact/predict.h>

#include "block/block.h"

double facile_predecode(struct tact_block *block, const struct tact_predict_options *opt);
double facile_decode(struct tact_block *block, const struct tact_predict_options *opt);
double facile_dsb(struct tact_block *block, const struct tact_predict_options *opt);
double facile_lsd(struct tact_block *block, const struct tact_predict_options *opt);
double facile_issue(struct tact_block *block, const struct tact_predict_options *opt);
double facile_ports(struct tact_block *block, const struct tact_predict_options *opt);
double facile_precedence(struct tact_block *block, const struct tact_predict_options *opt);
double facile_divider(struct tact_block *block, const struct tact_predict_options *opt);
double facile_stack_sync(struct tact_block *block, const struct tact_predict_options *opt);
double facile_forwarding(struct tact_block *block, const struct tact_predict_options *opt);
double facile_blocked(struct tact_block *block, const struct tact_predict_options *opt);
double facile_stores(struct tact_block *block, const struct tact_predict_options *opt);

#endif /* TACT_FACILE_H */
