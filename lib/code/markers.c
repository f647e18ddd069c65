/* SPDX-License-Identifier: MIT
 *
 * Byte markers of IACA and OSACA: mov ebx, 111 (start) or 222 (end), then the bytes 64 67 90, a
 * nop that compilers never write (iacaMarks.h; OSACA, osaca/semantics/marker_utils.py).
 */
#include <string.h>

#include "base/base.h"
#include "code/code.h"

enum marker { MARKER_NONE, MARKER_START, MARKER_END };
enum { START_VALUE = 111, END_VALUE = 222 };

static const uint8_t marker_nop[3] = {0x64, 0x67, 0x90};

/* Which marker ends in the nop at data[nop]; *begin is where its mov begins. */
static enum marker marker_at(const uint8_t *data, size_t nop, size_t *begin)
{
	uint32_t value;

	if (nop < 5)
		return MARKER_NONE;
	memcpy(&value, data + nop - 4, sizeof(value));
	if (data[nop - 5] == 0xbb) /* mov ebx, imm32 */
		*begin = nop - 5;
	else if (nop >= 6 && data[nop - 6] == 0xc7 && data[nop - 5] == 0xc3) /* its long form */
		*begin = nop - 6;
	else
		return MARKER_NONE;
	return value == START_VALUE ? MARKER_START : value == END_VALUE ? MARKER_END : MARKER_NONE;
}

struct scan {
	size_t n_markers;
	uint64_t first; /* address of the first one */
};

static int scan_section(const struct obj_file *obj, size_t section, struct code_ranges *regions,
			struct scan *scan)
{
	const struct obj_section *s = &obj->sections[section];
	const uint8_t *p = s->data, *const end = s->data + s->size;
	size_t begin = 0, start = 0;
	bool is_open = false;

	while (p < end && (p = memmem(p, (size_t)(end - p), marker_nop, sizeof(marker_nop)))) {
		const size_t nop = (size_t)(p - s->data);
		const enum marker marker = marker_at(s->data, nop, &begin);

		p += sizeof(marker_nop);
		if (marker == MARKER_NONE)
			continue;
		if (!scan->n_markers++)
			scan->first = s->address + begin;
		if (marker == MARKER_START)
			start = nop + sizeof(marker_nop);
		else if (is_open && begin > start &&
			 code_ranges_add(regions, section, start, begin))
			return -TACT_E_NOMEM;
		is_open = marker == MARKER_START;
	}
	return 0;
}

int code_find_markers(const struct obj_file *obj, struct code_ranges *regions,
		      struct tact_diag *diag)
{
	const size_t before = regions->count;
	struct scan scan = {0, 0};
	size_t i;

	for (i = 0; i < obj->n_sections; i++)
		if (scan_section(obj, i, regions, &scan))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (scan.n_markers && regions->count == before)
		return tact_fail(diag, TACT_E_FORMAT,
				 "byte markers do not match: no start (111) with an end (222) and "
				 "code between them; the first marker is at 0x%llx",
				 (unsigned long long)scan.first);
	return 0;
}
