/* SPDX-License-Identifier: MIT
 *
 * Files that belong to the library and are not part of it: modules and plugins.
 */
#ifndef TACT_BESIDE_H
#define TACT_BESIDE_H

#include <stddef.h>

/* Finds such a file by its name: near the library, or near the program that the library is linked
 * into, or where it was meant to be installed.  Returns 0, -TACT_E_NO_TOOL if it is nowhere, or
 * -TACT_E_LIMIT if the path does not fit.
 */
int beside_find(const char *name, char *path, size_t size);

#endif /* TACT_BESIDE_H */
