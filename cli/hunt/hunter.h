/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact hunt` share.
 */
#ifndef TACT_HUNTER_H
#define TACT_HUNTER_H

#include <tact-program/hunt.h>
#include <tact-program/rows.h>

#include "common/archlist.h"
#include "common/options.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/state.h"

enum { HUNTER_MAX_WORKERS = 256 };

struct hunter {
	struct option_words inputs; /* owned */
	struct archlist archs;
	const char *model;
	const char *against; /* "measure", or MODEL[:CPU] */
	const char *truth, *emit, *log;
	struct option_words measured; /* owned */
	int mode, init;
	double relative, absolute;
	unsigned percent, share, samples, insns, classes, blocks, seconds, seed, jobs, rounds;
	bool is_clean, is_real, is_noisy, has_no_namespaces, is_quiet, is_resumed;
	int format;
	const char *output;
	const volatile int *interrupted; /* not 0: a signal came */

	/* made from the above */
	struct tact_hunt *hunt;		      /* owned, as are the others */
	struct tact_hunt_model *side, *other; /* the model, and the one that it is compared with */
	struct tact_hunt_memory *memory;
	struct tact_hunt_measure *measure;
	const struct tact_arch *other_arch;
	char other_model[80];
	char state[STATE_PATH];
	char what[320]; /* the two sides, for people */
	struct progress progress;
	struct tact_ran *ran;
	struct output emitted, logged;
	size_t n_emitted, n_known, n_left_out;
	double start;
	bool is_failed, is_unweighted;
};

/* Returns whether time is up, or a signal came. */
bool hunter_is_over(void *context);

/* Makes a model.  Returns an exit code. */
int hunter_create_model(struct hunter *p, struct tact_hunt_model **side, const char *name,
			const struct tact_arch *arch);

/* Makes the judge: another model; or a memory, with measurements or nothing behind it.  Returns an
 * exit code.
 */
int hunter_create_judge(struct hunter *p, struct tact_hunt_options *o);

/* Puts the two sides into words. */
void hunter_say_what(struct hunter *p);

/* Reads the data set, --truth and --measured.  Return an exit code. */
int hunter_read(struct hunter *p);
int hunter_read_measured(struct hunter *p);

/* Writes the whole report. */
void hunter_report(const struct hunter *p, struct text *out);

/* A line of --emit and --log. */
void hunter_put_header(struct text *out, bool has_number);
void hunter_put_block(const struct hunter *p, const struct tact_hunt_block *block,
		      const struct tact_hunt_value *value, struct text *out);

#endif /* TACT_HUNTER_H */
