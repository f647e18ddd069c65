/* SPDX-License-Identifier: MIT
 *
 * The version of the library.
 *
 * All of this may be used by any thread at any time.
 */
#ifndef TACT_VERSION_H
#define TACT_VERSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers.  The Makefile and tact.pc take it from here. */
#define TACT_VERSION_MAJOR 0
#define TACT_VERSION_MINOR 1
#define TACT_VERSION_PATCH 0

/* Returns the version of the library that is running: major << 16 | minor << 8 | patch.  A program
 * that was built with headers of another major version should refuse to run with it; so should one
 * that was built with a newer minor version.
 */
uint32_t tact_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TACT_VERSION_H */
