/* SPDX-License-Identifier: MIT
 *
 * gdb's "disassemble /m" follows the lines of the source: puts its instructions back in order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "input/listing.h"

struct item {
	uint64_t address;
	const char *line;
	size_t size; /* with its end */
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return 2 * ORDER(x->address, y->address) + ORDER(x->line, y->line);
}

struct dump {
	struct item *items; /* owned */
	size_t n, capacity;
	bool is_open;
};

static int end_dump(struct dump *dump, struct text *out)
{
	size_t i;

	if (dump->n)
		qsort(dump->items, dump->n, sizeof(*dump->items), compare_items);
	for (i = 0; i < dump->n; i++)
		text_add_bytes(out, dump->items[i].line, dump->items[i].size);
	dump->n = 0;
	return out->failed ? -TACT_E_NOMEM : 0;
}

int listing_put_in_order(struct text *out, const char *text, size_t size)
{
	const char *p = text, *end = text + size, *stop;
	struct listing_line line;
	struct dump dump = {0};
	int status = 0;

	for (; p < end && status >= 0; p = stop) {
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop + 1 : end;
		listing_parse_line(&line, p, (size_t)(stop - p) - (stop[-1] == '\n'));
		if (line.kind == LISTING_CODE && dump.is_open) {
			if (tact_grow(&dump.items, &dump.capacity, dump.n + 1, sizeof(*dump.items)))
				status = -TACT_E_NOMEM;
			else
				dump.items[dump.n++] =
					(struct item){line.address, p, (size_t)(stop - p)};
			continue;
		}
		if (line.kind == LISTING_HEADER) {
			status = end_dump(&dump, out);
			dump.is_open = !line.has_address;
		}
		if (line.kind != LISTING_OTHER)
			text_add_bytes(out, p, (size_t)(stop - p));
	}
	if (status >= 0)
		status = end_dump(&dump, out);
	free(dump.items);
	return status;
}
