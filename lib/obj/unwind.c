/* SPDX-License-Identifier: MIT
 *
 * Functions that have unwind information: the sorted table of .eh_frame_hdr (LSB core
 * specification, 10.6.2), which stripped files have, too.  Only the encodings that linkers use are
 * read.
 */
#include <elf.h>
#include <string.h>

#include "obj/obj.h"

enum { SDATA4 = 0x0b, UDATA4 = 0x03, DATAREL = 0x30, HEAD = 12, ROW = 8 };

static uint32_t read32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static bool read_table(const struct obj_file *obj, const Elf64_Phdr *segment,
		       struct obj_unwind *out)
{
	const uint8_t *head;
	uint64_t n;

	if (segment->p_offset > obj->image_size ||
	    segment->p_filesz > obj->image_size - segment->p_offset || segment->p_filesz < HEAD)
		return false;
	head = obj->image + segment->p_offset;
	if (head[0] != 1 || (head[1] & 0x0f) != SDATA4 || head[2] != UDATA4 ||
	    head[3] != (DATAREL | SDATA4))
		return false;
	n = read32(head + 8);
	if (n > (segment->p_filesz - HEAD) / ROW)
		n = (segment->p_filesz - HEAD) / ROW;
	*out = (struct obj_unwind){obj, head + HEAD, (size_t)n, segment->p_vaddr,
				   segment->p_offset};
	return true;
}

bool obj_unwind_open(struct obj_unwind *out, const struct obj_file *obj)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	memcpy(&header, obj->image, sizeof(header)); /* obj_open has checked that it is there */
	if (header.e_phentsize != sizeof(segment) || header.e_phoff > obj->image_size)
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const uint64_t at = header.e_phoff + i * sizeof(segment);

		if (at > obj->image_size || obj->image_size - at < sizeof(segment))
			return false;
		memcpy(&segment, obj->image + at, sizeof(segment));
		if (segment.p_type == PT_GNU_EH_FRAME && read_table(obj, &segment, out))
			return true;
	}
	return false;
}

uint64_t obj_unwind_begin(const struct obj_unwind *u, size_t i)
{
	return u->address + (uint64_t)(int32_t)read32(u->table + ROW * i);
}

/* The entry in .eh_frame: length, distance to its common part, begin relative to this place, size.
 * Other encodings of begin are possible; a wrong begin reveals them.
 */
uint64_t obj_unwind_end(const struct obj_unwind *u, size_t i)
{
	const int64_t distance = (int32_t)read32(u->table + ROW * i + 4);
	const int64_t at = (int64_t)u->offset + distance;
	const uint64_t begin = obj_unwind_begin(u, i);
	const uint8_t *entry;

	if (at < 0 || (uint64_t)at > u->obj->image_size || u->obj->image_size - (uint64_t)at < 16)
		return 0;
	entry = u->obj->image + at;
	if (u->address + (uint64_t)distance + 8 + (uint64_t)(int32_t)read32(entry + 8) != begin)
		return 0;
	return begin + read32(entry + 12);
}

size_t obj_unwind_from(const struct obj_unwind *u, uint64_t address)
{
	size_t low = 0, high = u->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (obj_unwind_begin(u, middle) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
