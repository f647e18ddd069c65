/* SPDX-License-Identifier: MIT
 *
 * Profiles as trees of frames, and how other tools want them.
 *
 *   profile.c      the tree
 *   folded.c       one line for each stack, as flame graph scripts read them
 *   flame_svg.c    a flame graph
 *   speedscope.c   JSON for speedscope
 *   pprof.c        profile.proto, compressed by nothing but in gzip's form
 */
#ifndef TACT_PROFILE_PROFILE_H
#define TACT_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"

enum { PROFILE_MAX_VALUES = 4 };
#define PROFILE_ROOT SIZE_MAX

/* Frames come before what they call.  Strings are borrowed, or from profile_keep. */
struct profile_frame {
	size_t parent; /* PROFILE_ROOT: none */
	const char *name;
	const char *file;		  /* module or source file; "" if unknown */
	double value[PROFILE_MAX_VALUES]; /* of this frame alone, not of what it calls */
	unsigned depth;			  /* frames above it */
};

struct profile_unit {
	const char *type, *unit; /* "cycles", "count" */
};

struct profile {
	const char *title;
	struct profile_unit units[PROFILE_MAX_VALUES]; /* the first is what drawings show */
	size_t n_units;
	struct profile_frame *frames; /* owned */
	size_t n, capacity;
	struct hash index;	  /* owned: frames by parent and name */
	struct tact_arena memory; /* owned */
};

/* All zeros but title and units is an empty profile. */
void profile_fini(struct profile *p);

/* Copies a string; NULL: out of memory. */
const char *profile_keep(struct profile *p, const char *string);

/* Finds the frame with this name and file below another one (PROFILE_ROOT: below none), or adds it
 * with values of 0.  The strings must live as long as the profile.  Returns 0 or -TACT_E_NOMEM.
 */
int profile_frame_at(struct profile *p, size_t parent, const char *name, const char *file,
		     size_t *frame);

/* Computes the sums of each frame and all below it, of its first value: n numbers.  Values that are not
 * positive count as 0.
 */
void profile_sum(const struct profile *p, double *sums);

/* Write the whole profile; memory that runs out is out->failed.  `script` is JavaScript for the
 * drawing, which zooms and searches with it; NULL: without.
 */
void profile_folded(const struct profile *p, struct text *out);
void profile_flame(const struct profile *p, const char *script, struct text *out);
void profile_speedscope(const struct profile *p, struct text *out);
void profile_pprof(const struct profile *p, struct text *out);

#endif /* TACT_PROFILE_PROFILE_H */
