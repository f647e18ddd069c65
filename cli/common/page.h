/* SPDX-License-Identifier: MIT
 *
 * Pages for a browser: a frame from web/, made a C string by gen/gen_pages.c, around data as JSON.
 */
#ifndef TACT_PAGE_H
#define TACT_PAGE_H

#include "base/text.h"

struct page {
	const char *head, *tail; /* in front of the data and behind them */
};

extern const struct page page_simulate, page_evaluate, page_mix;

/* The whole page.  Every < of the data is written as \u003c, so that no text of a block or a symbol
 * can end the element that they are in.
 */
void page_write(const struct page *page, const struct text *json, struct text *out);

#endif /* TACT_PAGE_H */
