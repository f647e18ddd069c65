/* SPDX-License-Identifier: MIT
 *
 * Results as people and programs read them: text, CSV, JSON and Markdown.  The same whether it is
 * printed, written to a file or served.
 *
 * `write` gets pieces of text; if it returns anything but 0, that is the end.  All functions return
 * 0, -TACT_E_NOMEM, or -TACT_E_INVAL if something is missing.
 */
#ifndef TACT_PROGRAM_REPORT_H
#define TACT_PROGRAM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/shares.h>
#include <tact/analysis.h>
#include <tact/arch.h>
#include <tact/classify.h>
#include <tact/mix.h>
#include <tact/result.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_format { TACT_FORMAT_TEXT, TACT_FORMAT_CSV, TACT_FORMAT_JSON, TACT_FORMAT_MARKDOWN };

/* ---- a run ---- */

enum { TACT_REPORT_INSNS = TACT_N_RESULT_KINDS }; /* blocks, with their instructions */

struct tact_run_report {
	size_t size;
	const struct tact_result *result;
	enum tact_format format; /* JSON: the stored form, which has everything */
	int by;			 /* enum tact_result_kind, or TACT_REPORT_INSNS */
	size_t top;		 /* how many rows; 0: some in text, all in CSV */
	int width;		 /* of text, as far as names go: 80 columns at least */
};
int tact_report_run(const struct tact_run_report *report,
		    int (*write)(void *arg, const char *data, size_t size), void *arg);

/* The uops of a window of a run, as a chart: a row a uop, a column a cycle. */
struct tact_window_report {
	size_t size;
	struct tact_analysis *analysis; /* whose window it is */
	uint32_t thread;		/* as in its options, as are the cycles */
	uint64_t first, last;
};
int tact_report_window(const struct tact_window_report *report,
		       int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- two runs ---- */

struct tact_diff_report {
	size_t size;
	const struct tact_diff *diff;
	const char *names[2];	 /* of A and B, for people */
	enum tact_format format; /* text, Markdown for a pull request, or JSON */
	size_t top;		 /* functions, those that changed most */
	double threshold; /* ratio of cycles that counts as too much, such as 1.02; 0: none */
};
int tact_report_diff(const struct tact_diff_report *report,
		     int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- mixes ---- */

struct tact_mix_report {
	size_t size;
	const struct tact_mix *mix;
	const struct tact_mix_pivot *pivot; /* of it */
	enum tact_format format;
	size_t top; /* rows; 0: all */
};
int tact_report_mix(const struct tact_mix_report *report,
		    int (*write)(void *arg, const char *data, size_t size), void *arg);

struct tact_mix_costs_report {
	size_t size;
	const struct tact_mix *mix;
	const struct tact_mix_costs *costs; /* of it */
	const struct tact_arch *arch;
	enum tact_format format;
	size_t top; /* rows; 0: some in text, else all */
};
int tact_report_mix_costs(const struct tact_mix_costs_report *report,
			  int (*write)(void *arg, const char *data, size_t size), void *arg);

struct tact_mix_diff_report {
	size_t size;
	const struct tact_mix_diff *diff;
	enum tact_format format;
	size_t top; /* rows; 0: all */
};
int tact_report_mix_diff(const struct tact_mix_diff_report *report,
			 int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- categories of blocks ---- */

/* A block, and what it was labelled with.  Everything is borrowed for the call. */
struct tact_class_row {
	size_t size;
	const char *file; /* "-x" for hex of a command line */
	uint64_t line;	  /* 0: none */
	const char *name; /* "" if none */
	const uint8_t *code;
	size_t code_size;
	const char *app;	 /* "" if none */
	double weight;		 /* NAN: not known */
	const char *status;	 /* "ok", "no_uops", "decode_error" */
	struct tact_label label; /* if the status is "ok" */
	double coverage;
};

struct tact_class_report; /* refers to the classifier */

int tact_class_report_create(struct tact_class_report **out,
			     const struct tact_classifier *classifier, enum tact_format format,
			     int (*write)(void *arg, const char *data, size_t size), void *arg);

/* A row for each block, in CSV and JSON; text has none.  The header comes before all of them. */
void tact_class_report_header(struct tact_class_report *report);
void tact_class_report_row(struct tact_class_report *report, const struct tact_class_row *row);

/* One block for people: its category, and the topic of each port combination of its bag. */
void tact_class_report_explain(struct tact_class_report *report, const struct tact_class_row *row,
			       const struct tact_bags *bags, uint32_t bag);

/* Topics, shares by application, perplexity; is_applied: of other blocks than those it was trained
 * on.
 */
void tact_class_report_summary(struct tact_class_report *report, const struct tact_shares *shares,
			       bool is_applied);

/* Writes the rest and destroys it.  Returns -TACT_E_NOMEM if anything is missing for that. */
int tact_class_report_finish(struct tact_class_report *report); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_REPORT_H */
