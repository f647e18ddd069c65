/* SPDX-License-Identifier: MIT
 *
 * How wide text may be, and whether names may be cut to fit.
 *
 *	columns = terminal_width(p->output);   for struct table .screen, report .width
 *	is_cut = terminal_is_output(p->output);   for struct table .is_cut
 */
#ifndef TACT_TERMINAL_H
#define TACT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_LEAST = 20, TERMINAL_MOST = 10000 };

/* Returns the columns that text for standard output, or for the file `output` if it is not NULL,
 * may have.  0: as many as it needs, as in files and pipes.  The environment variable COLUMNS, if
 * it is a number from TERMINAL_LEAST to TERMINAL_MOST, overrides what a terminal says and holds for
 * pipes; a file has no width.
 */
size_t terminal_width(const char *output);

/* Returns the same for text that goes to this descriptor. */
size_t terminal_width_of(int fd);

/* Returns whether it goes to a terminal, where names that are too long lose their middle.  Nobody
 * sees a cut name anywhere else: programs may read it.
 */
bool terminal_is_output(const char *output);

/* Returns the columns of the terminal that standard error is; 0: it is none. */
size_t terminal_width_of_errors(void);

#endif /* TACT_TERMINAL_H */
