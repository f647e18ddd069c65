/* SPDX-License-Identifier: MIT
 *
 * See page.h.
 */
#include "page.h"

#include <string.h>

#include "cli.h"
#include "output.h"

#include "pages.inc"

void page_write(const struct page *page, const struct text *json, struct text *out)
{
	const char *p = json->data, *end = json->data + json->size;

	out->failed |= json->failed;
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

int page_sink(void *text, const char *data, size_t size)
{
	text_add_bytes(text, data, size);
	return 0;
}

int page_save(const struct page *page, struct text *json, const char *path)
{
	struct text text = {0};

	page_write(page, json, &text);
	text_free(json);
	return output_all(path, &text);
}
