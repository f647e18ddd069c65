/* SPDX-License-Identifier: MIT
 *
 * Results as people and programs read them: text, CSV, JSON and Markdown.  The same whether it is
 * printed, written to a file or served.
 *
 * `write` gets pieces of text; if it returns anything but 0, that is the end.  All functions return
 * 0, -TACT_E_NOMEM, or -TACT_E_INVAL if something is missing.
 */
#ifndef TACT_REPORT_H
#define TACT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
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

#ifdef __cplusplus
}
#endif

#endif /* TACT_REPORT_H */
