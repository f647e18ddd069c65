/* SPDX-License-Identifier: MIT
 *
 * Streams, balanced by what is known about control flow.
 */
#ifndef MIX_BALANCE_H
#define MIX_BALANCE_H

#include "mix/mix.h"

struct mix_balance;

/* Creates it from the streams and branches of a recording.  Returns 0 or -TACT_E_NOMEM. */
int mix_balance_create(struct mix_balance **out, const struct tact_mix *mix);
void mix_balance_destroy(struct mix_balance *f); /* NULL is allowed */

/* Returns how much more often streams that begin at an address run than stacks show. */
double mix_balance_factor(struct mix_balance *f, uint32_t epoch, uint64_t target);

#endif /* MIX_BALANCE_H */
