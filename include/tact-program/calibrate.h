/* SPDX-License-Identifier: MIT
 *
 * Measures what a program's cycles depend on beyond its instructions: caches, TLBs, bandwidths,
 * store-forwarding, repeated string instructions, the cost and the memory of branch prediction, and
 * how fast code is fetched.  No counters are needed: small kernels run over growing sizes, and their
 * cycles show where something is full and what it costs then.
 *
 * A calibration belongs to one thread at a time.  It needs up to three times `most_bytes` of memory,
 * runs on one CPU and wants it for itself.
 */
#ifndef TACT_PROGRAM_CALIBRATE_H
#define TACT_PROGRAM_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_calibrator;

struct tact_calibrator_options {
	size_t size;
	uint64_t most_bytes; /* the largest working set; 0: 256 MiB, or less if memory is short */
	unsigned rounds;     /* of each point, of which the fastest counts; 0: 7 */
	int cpu;	     /* to run on; -1: the current one */
	bool is_quick;	     /* fewer points */
	/* Called before each sweep; NULL: nobody asks.  Anything but 0 ends the calibration. */
	int (*progress)(void *arg, const char *sweep, size_t done, size_t all);
	void *arg;
};
#define TACT_CALIBRATOR_OPTIONS_INIT                                                               \
	{                                                                                          \
		.size = sizeof(struct tact_calibrator_options), .cpu = -1                          \
	}

/* One kernel at one size. */
struct tact_sweep_point {
	size_t size;
	const char *sweep; /* static */
	uint64_t at;	   /* bytes, pages, branches, ...: see tact_sweep_unit */
	double cycles;	   /* of the core for one operation of the sweep, at best */
	double spread;	   /* how much longer the faster quarter of the rounds took; 0.1: a tenth */
	bool is_shared;	   /* something else used the core in each round */
};

/* A parameter of the core, as far as the points tell. */
struct tact_sweep_value {
	size_t size;
	const char *name; /* of the parameter; static */
	double value;
	double spread;		/* the largest of the points behind it */
	const char *experiment; /* what was done and seen, for people; owned by the calibration */
	const char *remark;	/* why the value is not reliable, owned as well; NULL: it is */
};

/* Sets a calibration up; nothing runs yet.  *out is NULL on failure.
 * -TACT_E_INVAL: no place for the result, options of an unknown version, or less than 1 MiB
 * -TACT_E_NOMEM
 */
int tact_calibrator_create(struct tact_calibrator **out,
			   const struct tact_calibrator_options *options, struct tact_diag *diag);

/* Runs all sweeps; then there are points and values.
 * -TACT_E_INVAL: no calibration, or the CPU cannot be used
 * -TACT_E_LIMIT: `progress` ended it; the points so far remain, and what they tell
 * -TACT_E_NOMEM: no memory for the working sets
 */
int tact_calibrator_run(struct tact_calibrator *c, struct tact_diag *diag);

/* Takes points that were measured before instead, so that they can be looked at again.
 * -TACT_E_INVAL: no calibration, no points, or a point of a sweep that does not exist or without
 *     cycles; diag->line is its number, from 1 on
 * -TACT_E_NOMEM
 */
int tact_calibrator_take(struct tact_calibrator *c, const struct tact_sweep_point *points, size_t n,
			 struct tact_diag *diag);

/* Return how many points and values there are, and how many points have none because the clock
 * wavered in all their rounds.  0 without a calibration.
 */
size_t tact_calibrator_points(const struct tact_calibrator *c);
size_t tact_calibrator_values(const struct tact_calibrator *c);
size_t tact_calibrator_refused(const struct tact_calibrator *c);

/* Copy point or value i.
 * -TACT_E_INVAL: there is none, or no place for it
 */
int tact_calibrator_point(const struct tact_calibrator *c, size_t i, struct tact_sweep_point *out);
int tact_calibrator_value(const struct tact_calibrator *c, size_t i, struct tact_sweep_value *out);

/* Returns what `at` counts in a sweep ("bytes", "pages", "branches", "jumps", "calls"), and what an
 * operation is ("load", "line of 64 bytes", ...); NULL for a sweep that does not exist.  The strings
 * are static.
 */
const char *tact_sweep_unit(const char *sweep);
const char *tact_sweep_operation(const char *sweep);

/* NULL is allowed. */
void tact_calibrator_destroy(struct tact_calibrator *c);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_CALIBRATE_H */
