/* SPDX-License-Identifier: MIT
 *
 * A made-up program for what takes executions: a few pieces of code.  In an input they follow its first
 * bytes, up to a byte of zeros; events follow them.
 */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include <string.h>

#include <tact/trace.h>

#include "fuzz_insns.h"

enum { FUZZ_BLOCKS = 6 };

struct fuzz_program {
	struct tact_trace_block blocks[FUZZ_BLOCKS];
	size_t n;
};

/* Cuts the code into blocks of a few instructions each, at addresses of their own. */
static inline size_t fuzz_make_program(struct fuzz_program *p, const uint8_t *code, size_t size,
				       unsigned head)
{
	const struct tact_isa *isa = tact_isa_default();
	size_t at = 0;

	p->n = 0;
	while (p->n < FUZZ_BLOCKS && at < size && code[at]) {
		struct tact_trace_block *b = &p->blocks[p->n];
		const size_t most = 1 + (head + p->n * 3) % 9;

		*b = (struct tact_trace_block){.isa = isa,
					       .address = 0x400000 + at,
					       .code = code + at,
					       .number = (uint32_t)p->n,
					       .is_open = true};
		for (struct tact_insn insn; b->n_insns < most && at < size;) {
			const int length = tact_isa_decode(isa, &insn, code + at, size - at);

			if (length <= 0 || !code[at])
				break;
			b->last_offset = b->code_size;
			b->code_size += (uint32_t)length;
			b->n_insns++;
			at += (size_t)length;
			if (insn.flow != TACT_FLOW_NEXT) {
				b->is_open = false;
				break;
			}
		}
		if (!b->n_insns)
			break;
		p->n++;
	}
	return at;
}

/* The code, and what follows stays behind it; or anything. */
static inline size_t fuzz_mutate_program(size_t begin, uint8_t *data, size_t size, size_t max_size,
					 unsigned seed)
{
	const uint8_t *zero = size > begin ? memchr(data + begin, 0, size - begin) : NULL;
	uint8_t code[512];
	size_t n, head = zero ? (size_t)(zero - data) : 0;

	if (seed % 3 || !head || head > sizeof(code) - 64)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(code, data, head);
	n = fuzz_mutate_insns(tact_isa_default(), begin, code, head, head + 40, seed);
	if (size - head + n > max_size)
		return size;
	memmove(data + n, data + head, size - head);
	memcpy(data, code, n);
	return size - head + n;
}

#endif /* FUZZ_PROGRAM_H */
