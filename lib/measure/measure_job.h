/* SPDX-License-Identifier: MIT
 *
 * One block on its way from bytes to a number.  measure.c has the way.
 */
#ifndef TACT_MEASURE_JOB_H
#define TACT_MEASURE_JOB_H

#include "measure/harness.h"

enum { MEASURE_MAX_PASSES = 64 };

struct job {
	struct tact_harness *h;
	struct tact_measurement *out;
	struct measure_screen screen;
	struct measure_plan plan;
	uint8_t code[MEASURE_MAX_BLOCK +
		     MEASURE_MAX_FIXUP]; /* of the plan, if something is added */
	struct measure_layout layout;
	long deadline;
	double entry; /* ticks of a run without the block */
};

/* Gives the block a status and a reason.  Returns -1. */
int job_fail(struct job *job, enum tact_measure_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Gives the block the status that the end of its last run deserves.  Returns 0 if it came to its
 * end, else -1.
 */
int job_fail_outcome(struct job *job);

/* Gives the child an order.  Returns 0, or -1 with a status of the block. */
int job_order(struct job *job, enum measure_order what);

/* The same for an order whose outcome harness_order has returned. */
int job_fail_order(struct job *job, int status);

/* Says of recorded steps where in the body they are. */
void job_place_steps(struct job *job);

/* ---- measure_prepare.c ---- */

/* Returns what every 8 bytes of memory hold at the start of a run. */
uint64_t job_contents(enum tact_contents contents);

/* Decides how the block runs.  Returns 0, or -1 with a status. */
int job_plan(struct job *job, const uint8_t *code, size_t size);

/* Emits the code, runs it until all pages are mapped, and chooses the two sizes.  Returns 0, or -1
 * with a status.
 */
int job_prepare(struct job *job);

/* ---- measure_samples.c ---- */

/* Takes passes of samples and concludes from them.  Returns 0 if there is a number, else -1 with a
 * status.
 */
int job_sample(struct job *job);

/* ---- start.c ---- */

/* Runs the emitted code without the block, for job_check_start.  Returns 0, or -1 with a status. */
int job_time_entry(struct job *job);

/* Looks at the last samples: a block whose start takes too long gets a status.  Returns 0, or -1. */
int job_check_start(struct job *job);

/* Ticks that the samples took beyond `iteration` ticks for each iteration, which it computes. */
double measure_start_ticks(const struct measure_sample *samples, unsigned n, unsigned low_count,
			   unsigned high_count, double *iteration);
bool measure_is_start_plausible(double start, double iteration, unsigned high_count, double entry,
				double quantum);

#endif /* TACT_MEASURE_JOB_H */
