/* SPDX-License-Identifier: MIT
 *
 * Writes machine code into a buffer.
 */
#include "measure/x86/emit_bytes.h"

#include <linux/perf_event.h>
#include <string.h>

void emit_bytes(struct buffer *b, const void *bytes, size_t n)
{
	if (b->n + n > b->capacity) {
		b->full = true;
		return;
	}
	memcpy(b->p + b->n, bytes, n);
	b->n += n;
}

void emit_64(struct buffer *b, uint64_t v)
{
	emit_bytes(b, &v, 8);
}

void emit_32(struct buffer *b, uint32_t v)
{
	emit_bytes(b, &v, 4);
}

void emit_align(struct buffer *b, size_t to)
{
	while (b->n % to && !b->full)
		PUT(b, 0x90);
}

void emit_store_eax(struct buffer *b, uint64_t address)
{
	PUT(b, 0xa3);
	emit_64(b, address);
}

void emit_load_rax(struct buffer *b, uint64_t address)
{
	PUT(b, 0x48, 0xa1);
	emit_64(b, address);
}

void emit_immediate(struct buffer *b, unsigned reg, uint64_t v)
{
	PUT(b, (uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7)));
	emit_64(b, v);
}

/* lfence; counter in edx:eax; lfence.  The first lfence keeps the counter from being read before the
 * block has ended; the second keeps the block from beginning before the counter is read.  Which
 * counter it is says perf's page, which a block cannot write.
 */
void emit_read_counter(struct buffer *b, const struct measure_plan *plan)
{
	PUT(b, 0x0f, 0xae, 0xe8);
	if (plan->reads_counter) {
		emit_load_rax(b, MEASURE_PERF_BASE + offsetof(struct perf_event_mmap_page, index));
		PUT(b, 0x8d, 0x48, 0xff, 0x0f, 0x33); /* lea ecx, [rax-1]; rdpmc */
	} else {
		PUT(b, 0x0f, 0x31);
	}
	PUT(b, 0x0f, 0xae, 0xe8);
}

void emit_store_time(struct buffer *b, uint64_t low, uint64_t high)
{
	const struct measure_plan plan = {.reads_counter = false};

	emit_read_counter(b, &plan);
	emit_store_eax(b, low);
	PUT(b, 0x89, 0xd0); /* mov eax, edx */
	emit_store_eax(b, high);
}
