/* SPDX-License-Identifier: MIT
 *
 * tact doctor --self-test: everything that measures, tried on this machine, and a report of it that
 * can be sent to others.  self_test.c measures; self_test_report.c writes.
 */
#ifndef TACT_SELF_TEST_H
#define TACT_SELF_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include <tact-program/known.h>
#include <tact/arch.h>
#include <tact/doctor.h>
#include <tact/measure.h>

#include "base/text.h"

enum {
	SELF_RUNGS = TACT_RUNG_TSC, /* rung r is at r - 1 */
	SELF_KNOWN = TACT_KNOWN_ANSWERS,
	SELF_BLOCKS = TACT_KNOWN_BLOCKS,
	SELF_PARTS = 4,
	SELF_WAYS = 2
};

struct self_answer {
	bool is_tried;
	unsigned tries;
	struct tact_measurement m;
	bool is_right; /* only if there is a number */
};

struct self_repeat {
	unsigned both;	    /* blocks with two numbers */
	unsigned near, far; /* within 1%; not within 5% */
	double largest;	    /* difference */
	double rate;	    /* blocks a second */
};

struct self_test {
	struct tact_host host;
	const struct tact_arch *arch; /* NULL: not modelled */
	char kernel[32];	      /* "6.1.0" */

	struct {
		bool works;
		char reason[200]; /* why not */
	} rung[SELF_RUNGS];
	struct self_answer answer[SELF_KNOWN][SELF_RUNGS];

	/* The numbers of two rungs for a known block. */
	unsigned compared, agree;
	double largest_difference;
	const char *differs; /* the block where it is */

	/* The same blocks twice, with the best rung that works: as they are, and confirmed by
	 * another round.
	 */
	const char *best; /* rung; NULL: none */
	struct self_repeat repeat[SELF_WAYS];

	/* How quiet the machine is. */
	unsigned measured, disturbed, unstable;
	unsigned long kept, dropped; /* samples */
	double disturbance;	     /* the largest */

	struct tact_check part[SELF_PARTS]; /* of the sandbox */
	double seconds;
	bool is_cut; /* it took too long, and ended early */

	unsigned n_off;	 /* things that are not as they should be */
	struct text off; /* a line each */
};

/* Tries everything, in less than 20 seconds. */
void self_test_run(struct self_test *t);
void self_test_free(struct self_test *t);

/* Returns whether anything can be measured. */
bool self_test_measures(const struct self_test *t);

/* Returns "ok", "off", "-" (not tried), or the status that there is instead of a number. */
const char *self_test_verdict(const struct self_answer *a);

void self_test_text(struct self_test *t, struct text *out, size_t width, bool is_quiet);
void self_test_json(struct self_test *t, struct text *out);

/* Adds the words of a line that began at `start`, wrapped; further lines begin at `column`. */
void doctor_add_words(struct text *out, const char *words, size_t column, size_t start,
		      size_t width);

/* cmd_doctor.c: writes what is known of the CPU as an object; arch may be NULL. */
struct json;
void doctor_put_cpu(const struct tact_host *h, const struct tact_arch *arch, struct json *json);

#endif /* TACT_SELF_TEST_H */
