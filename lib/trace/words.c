/* SPDX-License-Identifier: MIT
 *
 * Splits a command into words, with quotes and backslashes as in a shell and no other syntax.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

#include <tact-program/tracing.h>

int tact_trace_split(char ***out, const char *command, struct tact_diag *diag)
{
	const size_t size = command ? strlen(command) : 0;
	/* The words, followed by the text that they point to. */
	char **words = malloc((size + 2) * sizeof(*words) + size + 2), *to, quote = '\0';
	const char *p = command;
	size_t n = 0;
	bool is_in = false;

	*out = NULL;
	if (!words || !command) {
		free(words);
		return tact_fail(diag, command ? TACT_E_NOMEM : TACT_E_INVAL, "no command");
	}
	to = (char *)(words + size + 2);
	for (; *p; p++) {
		if (!is_in && !strchr(" \t\n", *p)) {
			words[n++] = to;
			is_in = true;
		}
		if (!quote && strchr(" \t\n", *p)) {
			if (is_in)
				*to++ = '\0';
			is_in = false;
		} else if (quote ? *p == quote : (*p == '\'' || *p == '"')) {
			quote = quote ? '\0' : *p;
		} else if (!quote && strchr("|&;<>`$()", *p)) {
			break;
		} else {
			if (*p == '\\' && quote != '\'' && p[1])
				p++;
			*to++ = *p;
		}
	}
	*to = '\0';
	words[n] = NULL;
	if (!*p && !quote && n) {
		*out = words;
		return 0;
	}
	free(words);
	if (*p)
		return tact_fail(diag, TACT_E_INVAL,
				 "a command without a shell cannot have %c; use sh -c '...'", *p);
	return tact_fail(diag, TACT_E_INVAL, n ? "a quote is not closed" : "no command");
}
