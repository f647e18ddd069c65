/* SPDX-License-Identifier: MIT
 *
 * Pages for a browser: a frame from web/, which gen/gen_pages.c turns into a C string, around data
 * as JSON.
 */
#ifndef TACT_PAGE_H
#define TACT_PAGE_H

#include "base/text.h"

struct page {
	const char *head, *tail; /* before and after the data */
};

/* Of flame graphs. */
extern const char script_flame[];

extern const struct page page_simulate, page_evaluate, page_mix, page_trace, page_diff, page_serve;

/* Writes the whole page.  Every < of the data becomes \u003c, so that no text of a block or symbol
 * can end the element that holds the data.
 */
void page_write(const struct page *page, const struct text *json, struct text *out);

/* For reports: adds what they write to a struct text. */
int page_sink(void *text, const char *data, size_t size);

/* Writes the page to a file, and frees the data.  Returns an exit code, with the message given. */
int page_save(const struct page *page, struct text *json, const char *path);

#endif /* TACT_PAGE_H */
