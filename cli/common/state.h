/* SPDX-License-Identifier: MIT
 *
 * What the program keeps from one call to the next.
 */
#ifndef TACT_CLI_STATE_H
#define TACT_CLI_STATE_H

enum { STATE_PATH = 1024 };

/* Writes the path of a file of the user's, whose folder exists from then on.  Returns path, or NULL if
 * there is no place for it.
 */
const char *state_path(const char *name, char path[STATE_PATH]);

#endif /* TACT_CLI_STATE_H */
