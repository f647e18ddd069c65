/* SPDX-License-Identifier: MIT */
#ifndef TACT_VERSION_H
#define TACT_VERSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one place where the version stands; the Makefile and tact.pc read it from here. */
#define TACT_VERSION_MAJOR 0
#define TACT_VERSION_MINOR 1
#define TACT_VERSION_PATCH 0

/* Version of the library that is running: major << 16 | minor << 8 | patch.
 * A program refuses to run when the major differs from the one it was built with.
 */
uint32_t tact_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TACT_VERSION_H */
