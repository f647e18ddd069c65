/* SPDX-License-Identifier: MIT
 *
 * Source code, through a compiler.
 */
#ifndef TACT_COMPILE_H
#define TACT_COMPILE_H

#include "input/reader.h"

/* Runs a command that writes assembly text to its standard output, and makes that the text of
 * in->reader.  A remark says what was run.  Returns 0, -TACT_E_NOMEM, -TACT_E_IO, -TACT_E_NO_TOOL if
 * there is no such program, -TACT_E_FORMAT if it fails (diag: its first error), -TACT_E_LIMIT if it
 * takes more than two minutes.
 */
int input_compile(struct tact_input *in, const char *const *command, struct tact_diag *diag);

#endif /* TACT_COMPILE_H */
