/* SPDX-License-Identifier: MIT
 *
 * Data of the pages of runs and of two runs, as web/trace.js and web/diff.js read them.
 */
#ifndef REPORT_RUN_PAGE_H
#define REPORT_RUN_PAGE_H

#include "base/hash.h"
#include "report/report.h"

/* Strings have numbers, so that each is there once. */
struct page_strings {
	char **items; /* owned */
	size_t n, capacity;
	struct hash number_of;
	bool is_failed; /* out of memory */
};

struct page_data {
	struct json json;
	struct page_strings strings;
	const struct tact_result *result; /* of which parts are written */
	bool is_mangled;
};

/* Returns the number of a string, which is NULL if memory ran out; of a function: of its name as people read it. */
uint32_t page_string(struct page_data *p, const char *text);
uint32_t page_function(struct page_data *p, const char *symbol);

/* Write all strings; free them. */
void page_put_strings(struct page_data *p);
void page_free(struct page_data *p);

/* Write members of an object: what a run is and took; its call paths; its slices. */
void page_put_summary(struct page_data *p);
void page_put_calls(struct page_data *p);
void page_put_slices(struct page_data *p);
void page_put_stall_names(struct page_data *p);

/* Writes an array of stalls. */
void page_put_stalls(struct page_data *p, const char *key, const double *stalls);

/* Writes the text of the bounds that a row ran at; "" if there is none. */
void page_put_bounds(struct page_data *p, const struct tact_result_row *row);

/* Writes functions with their source and their instructions. */
void page_put_listings(struct page_data *p, struct tact_analysis *analysis);

#endif /* REPORT_RUN_PAGE_H */
