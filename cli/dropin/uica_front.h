/* SPDX-License-Identifier: MIT
 *
 * tact uica: its table.
 */
#ifndef TACT_UICA_FRONT_H
#define TACT_UICA_FRONT_H

#include "dropin.h"

void uica_table(const struct dropin_run *run, const struct dropin_region *region, struct text *out);

#endif /* TACT_UICA_FRONT_H */
