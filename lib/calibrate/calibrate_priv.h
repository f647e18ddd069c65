/* SPDX-License-Identifier: MIT
 *
 * Sweeps, their points, and what these tell.
 */
#ifndef TACT_CALIBRATE_PRIVATE_H
#define TACT_CALIBRATE_PRIVATE_H

#include <tact-program/calibrate.h>

#include "base/base.h"
#include "measure/sweep_code.h"

/* What the memory under a sweep is. */
enum sweep_pages { SWEEP_NO_MEMORY, SWEEP_SMALL_PAGES, SWEEP_LARGE_PAGES };

struct sweep {
	const char *name, *unit, *operation;
	enum sweep_kernel kernel;
	enum sweep_pages pages;
	uint32_t step;	      /* bytes between what is touched, or between jumps */
	uint64_t first, last; /* of `at`; last 0: as much memory as is allowed */
	unsigned per_octave;  /* points from one power of two to the next; 0: the host tells them */
};

extern const struct sweep sweeps[];
extern const size_t n_sweeps;
const struct sweep *sweep_find(const char *name);

/* What the host says, as points of the sweep "host": sizes of caches in KiB, and whether large pages
 * are given (2) or not (1).
 */
enum host_property { HOST_L1_KIB = 1, HOST_L2_KIB, HOST_L3_KIB, HOST_LARGE_PAGES };

/* Runs a sweep and hands over each point.  Returns 0, -TACT_E_NOMEM, or what `add` returns if that is
 * not 0.
 */
struct sweep_run {
	uint64_t most_bytes;
	unsigned rounds;
	bool is_quick;
	double least_canary; /* cycles of the canary on a core of its own, as far as known; 0: not */
	size_t refused;	     /* points whose clock wavered in all rounds */
	int (*add)(void *arg, const struct sweep *sweep, const struct tact_sweep_point *point);
	void *arg;
};
int sweep_do(struct sweep_run *run, const struct sweep *sweep);

/* ---- sweep_points.c ---- */

struct area {
	char *p, *mapped;
	size_t size;
};

/* Returns where a chase goes on; others return nothing of use. */
typedef char *kernel_function(void *a, void *b, uint64_t n);

/* A kernel with its memory. */
struct sweep_point {
	struct area a, b, code;
	kernel_function *kernel, *clock, *canary;
	uint64_t n;	   /* argument of the kernel */
	uint64_t warming;  /* the same for a first call, which sees everything once */
	uint64_t times;	   /* that it is called */
	double operations; /* of all calls */
	/* Rounds go on where the last one ended, so that what it touched is no help. */
	char *next;	       /* of a chase: where; NULL: it is none */
	uint64_t places, step; /* of others: they begin at one of these after the other */
	uint64_t place;
	bool moves_b; /* as well as a */
	uint64_t random;
};

/* Maps memory, emits code.  Returns 0 or -TACT_E_NOMEM; close it in either case. */
int sweep_point_open(struct sweep_point *p, const struct sweep *s, uint64_t at);
void sweep_point_close(struct sweep_point *p);
uint64_t sweep_random(uint64_t *state);

/* ---- knees.c ---- */

struct knee_point {
	double at, cycles, spread;
	bool is_shared;
};

/* Points of a sweep in the order of `at`. */
struct knee_curve {
	const struct knee_point *points;
	size_t n;
};

/* A stretch of a curve where the cycles hardly grow: between two of them, something is full. */
struct knee_level {
	double cycles;	/* the median of its points */
	double end;	/* the last `at` that is closer to this level than to the next one */
	double next;	/* the `at` after it; `end` if there is none */
	double spread;	/* the median of its points */
	double scatter; /* how far its points are apart: the middle half of them */
	bool is_shared;
};

/* Finds the levels of a curve, at most `most` of them; noise that goes up and comes down again does
 * not count.  Returns their number; the rest of `out` is zero.
 */
unsigned knee_levels(const struct knee_curve *curve, struct knee_level *out, unsigned most);

/* Returns a point at a place between points; the nearest one outside. */
struct knee_point knee_at(const struct knee_curve *curve, double at);

/* ---- conclude.c ---- */

/* What a value rests on. */
struct evidence {
	double spread;
	bool is_shared;
	const char *doubt; /* another reason not to rely on it; NULL: none */
};

/* Draws values from the points: calls `add` for each.  Returns 0 or what `add` returns. */
struct conclusion {
	struct knee_curve (*curve)(void *arg, const char *sweep); /* valid until the next call */
	int (*add)(void *arg, const char *name, double value, const struct evidence *evidence,
		   const char *experiment);
	void *arg;
};
int calibrate_conclude(const struct conclusion *c);

/* ---- conclude_memory.c ---- */

/* Adds a value; the format makes its experiment. */
int conclude_add(const struct conclusion *c, const char *name, double value,
		 const struct evidence *evidence, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The evidence of one point, of two, and of a level. */
struct evidence evidence_of(const struct knee_point *a, const struct knee_point *b);
struct evidence evidence_of_level(const struct knee_level *level);

/* Returns the size of something that is full behind this level: sweeps of memory leave a 32nd of each
 * size to the code, the stack and the rest of the system.
 */
double conclude_capacity(const struct knee_level *level);

/* "48 KiB", in a buffer. */
const char *conclude_size(double bytes, char *to, size_t size);

int conclude_memory(const struct conclusion *c);

#endif /* TACT_CALIBRATE_PRIVATE_H */
