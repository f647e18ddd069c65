/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact diff` share.
 */
#ifndef TACT_DIFFER_H
#define TACT_DIFFER_H

#include "trace/tracer.h"

struct side {
	const char *text; /* borrowed from argv: a file or a command */
	bool is_command;
	char **words;				   /* owned */
	struct tact_result *results[ARCHLIST_MAX]; /* owned; one per CPU */
	size_t n_results;
};

struct differ {
	struct trace_setup setup;
	struct side sides[2];
	size_t n_sides;
	const char *output, *html, *function, *model;
	unsigned top;
	int format;
	double threshold;
	struct text archs; /* CPUs of stored results, if none is given */
};

/* ---- diff_code.c: two versions of code ---- */

int diff_code_check(const struct differ *p); /* whether the options fit; returns an exit code */
int diff_code(struct differ *p);	     /* returns an exit code */

#endif /* TACT_DIFFER_H */
