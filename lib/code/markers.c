/* SPDX-License-Identifier: MIT
 *
 * Byte markers of IACA and OSACA: instructions that no compiler writes, as the set defines them.
 */
#include <string.h>

#include "base/base.h"
#include "code/code.h"

enum marker { MARKER_NONE, MARKER_BEGIN, MARKER_END };

/* Returns whether this marker ends with the suffix at data[at]; *begin is where it begins. */
static enum marker match(const struct isa_marker *m, const uint8_t *data, size_t at, size_t *begin)
{
	const size_t size = (size_t)m->prefix_size + m->value_size;
	uint32_t value = 0;

	if (at < size || memcmp(data + at - size, m->prefix, m->prefix_size))
		return MARKER_NONE;
	for (unsigned i = 0; i < m->value_size; i++)
		value |= (uint32_t)data[at - m->value_size + i] << 8 * i;
	*begin = at - size;
	return value == m->begin_value ? MARKER_BEGIN
	       : value == m->end_value ? MARKER_END
				       : MARKER_NONE;
}

static enum marker marker_at(const struct tact_isa *isa, const uint8_t *data, size_t at,
			     size_t *begin)
{
	enum marker marker = MARKER_NONE;

	for (size_t i = 0; i < isa->n_markers && marker == MARKER_NONE; i++)
		marker = match(&isa->markers[i], data, at, begin);
	return marker;
}

struct scan {
	size_t n_markers;
	uint64_t first; /* address of the first one */
	struct code_lost *lost;
};

/* Counts a start that no end follows. */
static void lose(struct scan *scan, uint64_t address)
{
	if (!scan->lost->n_starts++)
		scan->lost->first = address;
}

static int scan_section(const struct tact_isa *isa, const struct obj_section *s, size_t section,
			struct code_ranges *regions, struct scan *scan)
{
	const struct isa_marker *any = isa->markers; /* all have the same suffix */
	const uint8_t *p = s->data, *const end = s->data + s->size;
	size_t begin = 0, start = 0;
	uint64_t opened = 0;
	bool is_open = false;

	while (p < end && (p = memmem(p, (size_t)(end - p), any->suffix, any->suffix_size))) {
		const size_t at = (size_t)(p - s->data);
		const enum marker marker = marker_at(isa, s->data, at, &begin);

		p += any->suffix_size;
		if (marker == MARKER_NONE)
			continue;
		if (!scan->n_markers++)
			scan->first = s->address + begin;
		if (is_open && marker == MARKER_BEGIN)
			lose(scan, opened);
		if (marker == MARKER_BEGIN) {
			start = at + any->suffix_size;
			opened = s->address + begin;
		} else if (is_open && begin > start &&
			   code_ranges_add(regions, section, start, begin)) {
			return -TACT_E_NOMEM;
		}
		is_open = marker == MARKER_BEGIN;
	}
	if (is_open)
		lose(scan, opened);
	return 0;
}

static int find_in(const struct tact_isa *isa, const struct obj_section *sections, size_t n,
		   struct code_ranges *regions, struct code_lost *lost, struct tact_diag *diag)
{
	const size_t before = regions->count;
	struct scan scan = {.lost = lost};
	size_t i;

	*lost = (struct code_lost){0};
	for (i = 0; i < n && isa->n_markers; i++)
		if (scan_section(isa, &sections[i], i, regions, &scan))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (scan.n_markers && regions->count == before)
		return tact_fail(diag, TACT_E_FORMAT,
				 "byte markers do not match: no start (%u) with an end (%u) and "
				 "code between them; the first marker is at 0x%llx",
				 isa->markers->begin_value, isa->markers->end_value,
				 (unsigned long long)scan.first);
	return 0;
}

int code_find_markers(const struct obj_file *obj, struct code_ranges *regions,
		      struct code_lost *lost, struct tact_diag *diag)
{
	return find_in(code_isa_of(obj), obj->sections, obj->n_sections, regions, lost, diag);
}

int code_find_markers_in(const struct tact_isa *isa, const void *bytes, size_t size,
			 struct code_ranges *regions, struct code_lost *lost,
			 struct tact_diag *diag)
{
	const struct obj_section all = {.name = "", .data = bytes, .size = size};

	return find_in(isa, &all, 1, regions, lost, diag);
}
