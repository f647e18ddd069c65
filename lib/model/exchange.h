/* SPDX-License-Identifier: MIT
 *
 * Another program as a filter: text in, text out, with limits of time and size.
 */
#ifndef TACT_MODEL_EXCHANGE_H
#define TACT_MODEL_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct exchange {
	const char *const *argv;	/* found in PATH */
	const char *const *environment; /* "NAME=value"; NULL ends it; may be NULL */
	const char *input;
	size_t input_size;
	unsigned timeout;    /* seconds without output */
	size_t max_output;   /* a program that prints more is ended */
	struct text *output; /* grows */
	bool is_timeout, is_flood;
	bool is_quiet; /* its standard error is discarded */
	int status;    /* as for waitpid */
};

/* Runs a program until it has ended, and ends the processes that it has started.  Returns 0,
 * -TACT_E_NOMEM, or -TACT_E_IO if no process could be started.  A program that was not found ends
 * with 127, as in a shell.
 */
int exchange_run(struct exchange *x);

/* "was ended by signal 9 (Killed)" */
void exchange_describe(const struct exchange *x, char *text, size_t size);

#endif /* TACT_MODEL_EXCHANGE_H */
