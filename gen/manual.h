/* SPDX-License-Identifier: MIT
 *
 * Manual pages of section 3 from headers: for gen_interface.c.
 */
#ifndef TACT_GEN_MANUAL_H
#define TACT_GEN_MANUAL_H

#include "headers.h"

/* Writes a page for each header and a link for each function into a directory, which exists.
 * date: of the pages, as .Dd wants it.
 */
void manual_write(const char *directory, const char *date, const struct header *headers, size_t n);

#endif /* TACT_GEN_MANUAL_H */
