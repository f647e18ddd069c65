/* SPDX-License-Identifier: MIT
 *
 * Layer 9: code against a stored baseline.
 *
 *   ini.c              sections, keys and values
 *   check_config.c     what they mean
 *   baseline_read.c, baseline_write.c  the stored baseline
*   code_check.c          what became of each piece of code
 */
#ifndef TACT_CHECK_CHECK_H
#define TACT_CHECK_CHECK_H

#include <tact-program/codecheck.h>

#include "base/base.h"
#include "diff/codediff.h"

#define BASELINE_SCHEMA "tact.baseline/1"

/* How many cycles more are allowed. */
struct check_limit {
	bool is_percent;
	double value; /* percent or cycles */
	bool is_none; /* any number */
};

struct check_section {
	const char *name; /* as all strings: in the arena; never NULL */
	uint64_t line;	  /* in the INI file */
	const char *file, *function, *marker, *model, *archs_text;
	int loop; /* 0: all */
	struct check_limit limit;
	double max_cycles; /* 0: any number */

	const struct tact_arch **archs; /* owned: the list */
	size_t n_archs;
	struct tact_code *code[2];   /* owned: of the baseline, and of the file; NULL: none */
	struct tact_codediff *diff;  /* owned; NULL: the file could not be read */
	struct baseline_piece *base; /* owned: what the baseline says of code[0]->pieces */
	size_t n_base, base_capacity;
	const char *base_model; /* "": the baseline does not have this section */
	const char *failure;	/* why the file could not be read; NULL: it could */
};

/* The cycles that the baseline has for a piece. */
struct baseline_piece {
	struct baseline_cost {
		const char *arch; /* in the arena */
		double cycles;	  /* < 0: there was no prediction */
		double coverage;
	} * costs; /* in the arena */
	size_t n_costs;
};

/* Ordered by how urgent it is. */
enum check_status {
	CHECK_OVER,
	CHECK_FAILED,
	CHECK_SLOWER,
	CHECK_FASTER,
	CHECK_NEW,
	CHECK_GONE,
	CHECK_UNKNOWN, /* no prediction, neither now nor in the baseline */
	CHECK_SAME,
	N_CHECK_STATUSES
};

/* A piece of code on a CPU. */
struct check_row {
	const struct check_section *section;
	const struct codediff_row *code;
	size_t arch; /* of section->archs */
	enum check_status status;
	double cycles[2];	/* of the baseline's code and of the file's; < 0: none */
	double stored;		/* what the baseline says; < 0: nothing of this CPU */
	double ratio;		/* 0: none */
	bool is_over_max;	/* more than max-cycles */
	bool is_lower_bound[2]; /* some instructions have no data */
	bool is_renamed;	/* the function or marker has another name */
	bool is_moved;		/* the same code at another address */
	bool has_other_tact;	/* this version predicts something else for the baseline's code */
	size_t order;
};

struct tact_codecheck {
	char *path;	/* owned: of the INI file */
	char *baseline; /* owned */
	struct tact_arena memory;
	struct check_section *sections; /* owned */
	size_t n, capacity;
	struct check_row *rows; /* owned; the most urgent ones first */
	size_t n_rows, rows_capacity;
	struct tact_remarks *remarks; /* owned: on the comparison as a whole */
	char tact[32]; /* version that wrote the baseline; "": there is no baseline */
	bool has_run, has_baseline;
	struct tact_codecheck_summary summary;
};

const char *check_keep(struct tact_codecheck *check, const char *string); /* NULL: out of memory */

/* Reads the INI file into the sections. */
int check_config_read(struct tact_codecheck *check, const char *data, size_t size,
		      struct tact_diag *diag);

/* Reads a baseline: fills code[0] and base of the sections, and remarks on sections that the INI file
 * does not have.  Errors as for tact_codecheck_run.
 */
int baseline_read(struct tact_codecheck *check, const char *data, size_t size,
		  struct tact_diag *diag);

struct text;
void baseline_print(const struct tact_codecheck *check, struct text *out);

/* What the baseline says of a piece on a CPU; NULL: nothing. */
const struct baseline_cost *baseline_cost(const struct check_section *section,
					  const struct code_piece *piece, const char *arch);

/* Returns a status's name for programs: "over", "slower". */
const char *check_status_name(enum check_status status);

/* The piece of the file, or that of the baseline. */
const struct code_piece *check_piece(const struct check_row *row);

/* Returns whether the cycles of a row are a lower bound on one side at least, so that the change may be
 * another one.
 */
bool check_is_unsure(const struct check_row *row);

/* The name of the baseline's code: of its function, or of its marker. */
const char *check_old_name(const struct check_row *row);

/* Returns whether there is nothing to say about a row: the same cycles, by the same name, with all data.
 * Such rows come last.
 */
bool check_is_plain(const struct check_row *row);

#endif /* TACT_CHECK_CHECK_H */
