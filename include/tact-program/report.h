/* SPDX-License-Identifier: MIT
 *
 * Results as text, CSV, JSON and Markdown, the same whether they are printed, written to a file or
 * served.
 *
 * `write` gets the text in pieces; it ends the report by returning anything but 0.  Unless stated
 * otherwise, functions return 0, also if `write` ended the report, -TACT_E_INVAL if something is
 * missing or out of range, or -TACT_E_NOMEM.  Everything that a report refers to is borrowed for
 * the call.
 */
#ifndef TACT_PROGRAM_REPORT_H
#define TACT_PROGRAM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/codecheck.h>
#include <tact-program/codediff.h>
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

enum tact_format {
	TACT_FORMAT_TEXT,
	TACT_FORMAT_CSV,
	TACT_FORMAT_JSON,
	TACT_FORMAT_MARKDOWN,
	TACT_FORMAT_SARIF, /* of a check: SARIF 2.1.0 */
	TACT_FORMAT_JUNIT, /* of a check: XML as JUnit writes it */
	/* Of a run with its calls, and of a mix: */
	TACT_FORMAT_FOLDED,	/* one line for each stack */
	TACT_FORMAT_FLAME,	/* a flame graph (SVG) */
	TACT_FORMAT_SPEEDSCOPE, /* JSON for speedscope */
	TACT_FORMAT_PPROF	/* pprof's profile.proto in gzip's form: bytes */
};

/* ---- a run ---- */

enum {
	TACT_REPORT_INSNS = TACT_N_RESULT_KINDS, /* blocks, with their instructions */
	TACT_REPORT_CALLERS,			 /* functions, with their callers */
	TACT_REPORT_TREE			 /* call paths */
};

struct tact_run_report {
	size_t size;
	const struct tact_result *result;
	enum tact_format format; /* JSON: the stored form, which has everything */
	int by;			 /* enum tact_result_kind, or TACT_REPORT_INSNS ..TREE */
	size_t top;		 /* number of rows; 0: some in text, all in CSV */
	int width;		 /* of text, in columns; 0: as many as it needs.  Below 80, tables
				    have fewer columns */
	bool is_cut;		 /* names that do not fit lose their middle */
	bool is_mangled;	 /* names of functions as in the symbol table; JSON has both */
	const char *script;	 /* of flame graphs, which zoom and search with it; NULL: none */
};

/* Writes the result of a run on one CPU.  Stacks are call paths: without TACT_RESULT_WITH_CALLS, they are
 * -TACT_E_NO_DATA.
 */
int tact_report_run(const struct tact_run_report *report,
		    int (*write)(void *arg, const char *data, size_t size), void *arg);

/* Writes the results of a run on several CPUs, side by side in text; report->result is not used,
 * and `by` is neither TACT_REPORT_CALLERS nor TACT_REPORT_TREE.
 * CSV has the CPU in the first column; JSON has the results one after the other.
 */
int tact_report_runs(const struct tact_run_report *report, const struct tact_result *const *results,
		     size_t n, int (*write)(void *arg, const char *data, size_t size), void *arg);

struct tact_window_report {
	size_t size;
	struct tact_analysis *analysis; /* whose window it is */
	uint32_t thread;		/* as given to tact_analysis_keep_window */
	uint64_t first, last;		/* as given to tact_analysis_keep_window */
	bool is_mangled;		/* names of functions as in the symbol table */
	const struct tact_arch *arch;	/* whose words are used; NULL: Intel's */
};

/* Writes the uops of a window of a run as a chart: one row per uop, one column per cycle. */
int tact_report_window(const struct tact_window_report *report,
		       int (*write)(void *arg, const char *data, size_t size), void *arg);

struct tact_page_report {
	size_t size;
	const struct tact_result *result;
	struct tact_analysis *analysis; /* that it is of: for source lines and for views of the
					   pipeline; NULL: there are none */
	bool is_mangled;		/* names of functions as in the symbol table */
};

/* Writes the data of the page of a run: JSON, for the script of the page only. */
int tact_report_run_page(const struct tact_page_report *report,
			 int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- two runs ---- */

struct tact_diff_report {
	size_t size;
	const struct tact_diff *diff;
	const char *names[2];	 /* of A and B, for people */
	enum tact_format format; /* text, Markdown for a pull request, or JSON */
	size_t top;		 /* number of functions; those that changed most come first */
	double threshold; /* ratio of cycles that counts as too much, such as 1.02; 0: none */
	int width;	  /* as in struct tact_run_report */
	bool is_cut;
	bool is_mangled; /* names of functions as in the symbol table */
};

/* Writes how two runs differ. */
int tact_report_diff(const struct tact_diff_report *report,
		     int (*write)(void *arg, const char *data, size_t size), void *arg);

/* Writes the data of the page of two runs: JSON, for the script of the page only.  Neither format nor
 * width counts.
 */
int tact_report_diff_page(const struct tact_diff_report *report,
			  int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- two versions of code ---- */

struct tact_code_report {
	size_t size;
	const struct tact_codediff *diff;
	const char *names[2]; /* of A and B, for people */
	enum tact_format format;
	size_t top;	  /* number of pieces in text and Markdown; what changed most comes first */
	double threshold; /* ratio of cycles that counts as too much, such as 1.02; 0: none */
	bool color;	  /* text: with escape sequences of terminals */
	int width;	  /* text: columns; 0: as many as it needs */
};

/* Writes how two versions of code differ. */
int tact_report_code(const struct tact_code_report *report,
		     int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- code and its baseline ---- */

struct tact_check_report {
	size_t size;
	const struct tact_codecheck *check; /* that has run */
	enum tact_format format;
	bool is_all; /* text and Markdown: also what takes the same cycles */
	int width;   /* as in struct tact_run_report */
	bool is_cut;
};

/* Writes what became of each piece of code. */
int tact_report_check(const struct tact_check_report *report,
		      int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- mixes ---- */

/* What a table of a mix shows of each row or cell. */
enum tact_mix_value {
	TACT_MIX_VALUE_EXECUTIONS,
	TACT_MIX_VALUE_SHARE,	  /* of everything that passed the filters */
	TACT_MIX_VALUE_OF_ROW,	  /* share of the row, */
	TACT_MIX_VALUE_OF_COLUMN, /* and of the column: of cross tables */
	TACT_MIX_VALUE_ERROR,
	TACT_MIX_VALUE_LOW,
	TACT_MIX_VALUE_HIGH,
	TACT_MIX_VALUE_WEIGHT, /* executions of blocks */
	TACT_MIX_VALUE_FLOPS,
	TACT_N_MIX_VALUES
};

/* Returns "executions", "share", ...; "unknown" for other values. */
const char *tact_mix_value_name(enum tact_mix_value value);

struct tact_mix_report {
	size_t size;
	const struct tact_mix_summary *summary; /* of the profile, or of those that were added up */
	const struct tact_mix_pivot *pivot;	/* of the same */
	enum tact_format format;
	size_t top;			   /* number of rows; 0: all */
	size_t width;			   /* of text; 0: as wide as it gets */
	bool is_cut;			   /* text: names that are too long lose their middle */
	const char *script;		   /* as in struct tact_run_report */
	const enum tact_mix_value *values; /* n_values of them; 0: executions, share and error, with
					    * blocks also what stores of blocks take; cells: share */
	size_t n_values;
	const struct tact_mix_cross *cross; /* instead of the table of the pivot; NULL: none */
};

/* Writes a mix.  As stacks, the keys of the pivot are the frames, the first one outermost. */
int tact_report_mix(const struct tact_mix_report *report,
		    int (*write)(void *arg, const char *data, size_t size), void *arg);

struct tact_mix_costs_report {
	size_t size;
	const struct tact_mix_summary *summary; /* of the profile, or of those that were added up */
	const struct tact_mix_costs *costs;	/* of the same */
	const struct tact_arch *arch;
	enum tact_format format;
	size_t top;	   /* number of rows; 0: some in text, else all */
	size_t width;	   /* of text; 0: as wide as it gets */
	bool is_cut;	   /* text: names that are too long lose their middle */
	bool is_continued; /* CSV: without a header, after the rows of another CPU */
};

/* Writes where the cycles of a mix go. */
int tact_report_mix_costs(const struct tact_mix_costs_report *report,
			  int (*write)(void *arg, const char *data, size_t size), void *arg);

struct tact_mix_diff_report {
	size_t size;
	const struct tact_mix_diff *diff;
	enum tact_format format;
	size_t top;   /* number of rows; 0: all */
	size_t width; /* of text; 0: as wide as it gets */
	bool is_cut;  /* text: names that are too long lose their middle */
};

/* Writes how two mixes differ. */
int tact_report_mix_diff(const struct tact_mix_diff_report *report,
			 int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- categories of blocks ---- */

/* A block and its label. */
struct tact_class_row {
	size_t size;
	const char *file; /* "-x" for hex of a command line */
	uint64_t line;	  /* 0: none */
	const char *name; /* "" if none */
	const uint8_t *code;
	size_t code_size;
	const char *app;	 /* "" if none */
	double weight;		 /* NAN: unknown */
	const char *status;	 /* "ok", "no_uops", "decode_error" */
	struct tact_label label; /* if the status is "ok" */
	double coverage;
};

struct tact_class_report;

/* Creates a report; the classifier must outlive it.  Returns 0 with a handle for
 * tact_class_report_finish.
 */
int tact_class_report_create(struct tact_class_report **out,
			     const struct tact_classifier *classifier, enum tact_format format,
			     int (*write)(void *arg, const char *data, size_t size), void *arg);

/* Write one row per block, in CSV and JSON; text has none.  The header comes first. */
void tact_class_report_header(struct tact_class_report *report);
void tact_class_report_row(struct tact_class_report *report, const struct tact_class_row *row);

/* Writes one block for people: its category, and the topic of each port combination of its bag. */
void tact_class_report_explain(struct tact_class_report *report, const struct tact_class_row *row,
			       const struct tact_bags *bags, uint32_t bag);

/* Writes topics, shares by application and perplexity; is_applied: the blocks are not those that
 * the classifier was trained on.
 */
void tact_class_report_summary(struct tact_class_report *report, const struct tact_shares *shares,
			       bool is_applied);

/* Writes the rest and destroys the report.  NULL is allowed.  Returns 0, or -TACT_E_NOMEM if memory
 * ran out at any time.
 */
int tact_class_report_finish(struct tact_class_report *report);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_REPORT_H */
