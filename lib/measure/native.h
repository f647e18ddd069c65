/* SPDX-License-Identifier: MIT
 *
 * What measuring needs of the machine that it runs on.  The folder of each instruction set
 * implements it; what runs next to a block is in runner/.
 */
#ifndef TACT_MEASURE_NATIVE_H
#define TACT_MEASURE_NATIVE_H

#include "measure/measure_priv.h"

uint64_t native_clock(void);

/* The CPU's features that the emitted code depends on. */
uint32_t native_features(void);

#endif /* TACT_MEASURE_NATIVE_H */
