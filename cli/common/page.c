/* SPDX-License-Identifier: MIT
 *
 * See page.h.
 */
#include "page.h"

#include <string.h>

#include "pages.inc"

void page_write(const struct page *page, const struct text *json, struct text *out)
{
	const char *p = json->data, *end = json->data + json->size;

	text_add(out, page->head);
	while (p < end) {
		const char *less = memchr(p, '<', (size_t)(end - p));

		text_add_bytes(out, p, (size_t)((less ? less : end) - p));
		if (!less)
			break;
		text_add(out, "\\u003c");
		p = less + 1;
	}
	text_add(out, page->tail);
}
