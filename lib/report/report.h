/* SPDX-License-Identifier: MIT
 *
 * Layer 10: results as text, CSV, JSON and Markdown.
 *
 *   run_text.c, run_csv.c     a traced run; run_window.c: some of its uops; runs_text.c: several CPUs
 *   run_calls.c               its calls; stacks.c: as stacks for other tools, and those of a mix
 *   run_page.c, run_listing.c, diff_page.c  it, and two of them, as data of a page
 *   diff_text.c, diff_json.c  two of them
 *   code_text.c, code_json.c  two versions of code
 *   check_words.c, check_rows.c, check_markdown.c, check_ci.c  code and its baseline
 *   mix_table.c, mix_cycles.c, mix_changes.c  mixes
 *   classes.c                 categories of blocks
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <tact-program/report.h>

#include "base/base.h"
#include "base/json.h"
#include "base/text.h"
#include "trace/result.h"

/* Where a report goes, and the text that has not been handed over yet. */
struct report {
	int (*write)(void *arg, const char *data, size_t size);
	void *arg;
	struct text text; /* owned */
	bool is_over;	  /* the sink wants no more */
	int status;
};

/* Hands the text over if there is a lot of it.  Returns false if nothing more is wanted. */
bool report_flush(struct report *report);
/* Hands over the rest; returns the status. */
int report_end(struct report *report);

/* Write a CPU's name with what is to be said about it: "ZEN2 (not verified)". */
void report_cpu(struct text *out, const struct tact_arch *arch);
void report_cpu_named(struct text *out, const char *name);

/* Writes what the results of a run leave out, and what nobody measured for their CPUs. */
void report_left_out(struct text *out, const struct tact_result *const *results, size_t n,
		     size_t width);

/* 1234567 -> "1,234,567" */
void report_count(struct text *out, double value, int width);
double report_ratio(double a, double b); /* 0 if b is */

/* Writes the name, without its middle if it is wider than `width`. */
void report_short(struct text *out, const char *name, size_t width);

/* Writes Markdown: text inside of `...`, where only the table's bar has a meaning. */
void report_quoted(struct text *out, const char *text);

/* Returns the name of a function as in the source, if its symbol is mangled and is_mangled is not
 * asked for; otherwise NULL.  The caller frees it.
 */
char *report_name(const char *symbol, bool is_mangled, bool is_whole);

/* Writes "Ports, Issue": bounds by their bits, in the words of a CPU's vendor (NULL: as in formats
 * for programs); false if there are none.
 */
bool report_bounds(struct text *out, const struct tact_arch *arch, uint32_t bits);

/* Writes "Dependencies; loads 45%, ports 12%": bounds by their bits, and stalls that take a tenth of
 * the cycles or more, as far as they fit into `width` columns (0: all); "-" if there is nothing.
 */
void report_limits(struct text *out, const struct tact_arch *arch, uint32_t bits,
		   const double *stalls, double cycles, size_t width);

/* ---- runs ---- */

void report_run_text(struct report *report, const struct tact_run_report *r);
/* cpu: the first column; NULL: there is none.  is_first: with a header. */
void report_run_csv(struct report *report, const struct tact_run_report *r, const char *cpu,
		    bool is_first);
/* By TACT_REPORT_CALLERS or TACT_REPORT_TREE. */
void report_calls_text(struct report *report, const struct tact_run_report *r);
void report_calls_csv(struct report *report, const struct tact_run_report *r);
/* Several CPUs side by side. */
void report_runs_text(struct report *report, const struct tact_run_report *r,
		      const struct tact_result *const *results, size_t n);

/* Write stacks: of the calls of a run, -TACT_E_NO_DATA if it has none; of the rows of a pivot. */
int report_run_stacks(struct report *report, const struct tact_run_report *r);
int report_mix_stacks(struct report *report, const struct tact_mix_report *r);

/* Writes "file.c:12 (f)", "f 0x4a20 (gzip)"; name: of the function, NULL: its symbol. */
void report_place(struct text *out, const struct tact_result_row *row, int by, const char *name);

/* Writes up to `most` instructions of a block, and how many bytes follow. */
void report_code(struct text *out, const struct tact_result_row *row, unsigned indent,
		 unsigned most);

/* ---- two of them ---- */

void report_diff_text(struct report *report, const struct tact_diff_report *r);
void report_diff_markdown(struct report *report, const struct tact_diff_report *r);
void report_diff_json(struct report *report, const struct tact_diff_report *r);

bool report_diff_is_over(const struct tact_diff_report *r);
const struct tact_result_row *report_diff_some(const struct diff_row *row); /* of B, or of A */

/* Returns the reason whose stalls changed most in the direction of the cycles; TACT_N_STALLS: none
 * did.
 */
enum tact_stall report_diff_cause(const struct diff_row *row);

/* ---- two versions of code ---- */

struct code_piece;

void report_code_text(struct report *report, const struct tact_code_report *r);
void report_code_markdown(struct report *report, const struct tact_code_report *r);
void report_code_json(struct report *report, const struct tact_code_report *r);
void report_code_csv(struct report *report, const struct tact_code_report *r);

/* Writes one instruction. */
void report_code_insn(struct text *out, const struct tact_isa *isa, const struct code_piece *piece,
		      size_t i);

/* Writes "Ports, Issue"; "Scheduling".  arch: as for report_bounds(). */
struct code_cost;
void report_code_limit(struct text *out, const struct tact_arch *arch,
		       const struct code_cost *cost);

/* ---- code and its baseline ---- */

struct check_row;

void report_check_text(struct report *report, const struct tact_check_report *r);
void report_check_markdown(struct report *report, const struct tact_check_report *r);
void report_check_csv(struct report *report, const struct tact_check_report *r);
void report_check_json(struct report *report, const struct tact_check_report *r);
void report_check_sarif(struct report *report, const struct tact_check_report *r);
void report_check_junit(struct report *report, const struct tact_check_report *r);

/* Write "1 of 9 is over its limit; 2 slower, 1 faster, 5 the same"; "dot+0x10 (dot.c:5)"; why a row is
 * what it is: "Ports -> Dependencies; was bar"; what is allowed: "2%"; a whole sentence.
 */
void report_check_verdict(struct text *out, const struct tact_codecheck *check);
void report_check_place(struct text *out, const struct check_row *row);
void report_check_why(struct text *out, const struct check_row *row);
void report_check_limit(struct text *out, const struct check_row *row);
void report_check_sentence(struct text *out, const struct check_row *row);

#endif /* REPORT_REPORT_H */
