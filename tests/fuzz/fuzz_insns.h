/* SPDX-License-Identifier: MIT
 *
 * A mutator for code: what comes out is instructions again, most of the time.  Bytes that are
 * changed at random mostly stop decoding, and then only the decoder is tested.
 */
#ifndef FUZZ_INSNS_H
#define FUZZ_INSNS_H

#include <string.h>

#include "fuzz.h"
#include "isa/isa.h"

enum { FUZZ_MAX_INSNS = 256 };

/* Cuts code into instructions.  Returns their number; begin[n] is where the last one ends. */
static inline size_t fuzz_cut(const struct tact_isa *isa, const uint8_t *code, size_t size,
			      size_t begin[FUZZ_MAX_INSNS + 1])
{
	size_t n = 0, at = 0;

	begin[0] = 0;
	while (n < FUZZ_MAX_INSNS && at < size) {
		struct tact_insn insn;
		const int length = tact_isa_decode(isa, &insn, code + at, size - at);

		if (length <= 0)
			break;
		at += (size_t)length;
		begin[++n] = at;
	}
	return n;
}

/* Puts n bytes in the place of `gone` ones.  Returns the new size; the old one if there is no room. */
static inline size_t fuzz_splice(uint8_t *data, size_t size, size_t max_size, size_t at,
				 size_t gone, const uint8_t *with, size_t n)
{
	if (size - gone + n > max_size)
		return size;
	memmove(data + at + n, data + at + gone, size - at - gone);
	memcpy(data + at, with, n);
	return size - gone + n;
}

/* An instruction of any form. */
static inline size_t fuzz_any_insn(const struct tact_isa *isa, uint64_t *random, uint8_t *code)
{
	for (int i = 0; i < 8 && isa->encode_form; i++) {
		const unsigned form = (unsigned)fuzz_pick(random, isa->forms->n);
		const size_t n =
			isa->encode_form(isa->forms->name(form), fuzz_pick(random, 4) == 0, code);

		if (n)
			return n;
	}
	return 0;
}

/* Changes one bit so that the instruction keeps its length: another register, constant or
 * operation.
 */
static inline void fuzz_change_insn(const struct tact_isa *isa, uint8_t *insn, size_t length,
				    uint64_t *random)
{
	for (int i = 0; i < 8; i++) {
		struct tact_insn decoded;
		const size_t at = fuzz_pick(random, length);
		const uint8_t bit = (uint8_t)(1u << fuzz_pick(random, 8));

		insn[at] ^= bit;
		if (tact_isa_decode(isa, &decoded, insn, length) == (int)length)
			return;
		insn[at] ^= bit;
	}
}

/* Ends the code in a branch to its start, if the set can write one there. */
static inline size_t fuzz_close_loop(const struct tact_isa *isa, uint8_t *code, size_t size,
				     size_t max_size, uint64_t *random)
{
	static const uint8_t branches[][6] = {{0x0f, 0x85}, {0x0f, 0x82}, {0x75}, {0xeb}, {0xe2}};
	static const uint8_t sizes[] = {6, 6, 2, 2, 2};
	const size_t k = fuzz_pick(random, sizeof(sizes));
	uint8_t branch[6];

	memcpy(branch, branches[k], sizeof(branch));
	if (!isa->retarget || !isa->retarget(branch, sizes[k], -(int64_t)size))
		return size;
	return fuzz_splice(code, size, max_size, size, 0, branch, sizes[k]);
}

/* Changes code that follows `head` bytes of choices. */
static inline size_t fuzz_mutate_insns(const struct tact_isa *isa, size_t head, uint8_t *data,
				       size_t size, size_t max_size, unsigned seed)
{
	size_t begin[FUZZ_MAX_INSNS + 1], n, a, b;
	uint64_t random = (uint64_t)seed * 2 + 1;
	uint8_t insn[2 * TACT_MAX_INSN_BYTES], *const code = data + head;

	if (size <= head || fuzz_pick(&random, 8) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (fuzz_pick(&random, 4) == 0)
		data[fuzz_pick(&random, head)] = (uint8_t)fuzz_random(&random);
	size -= head;
	max_size -= head;
	n = fuzz_cut(isa, code, size, begin);
	if (n)
		size = begin[n]; /* what does not decode goes */
	a = fuzz_pick(&random, n);
	b = fuzz_pick(&random, n);
	switch (n ? fuzz_pick(&random, 8) : 0) {
	case 0:
	case 1: /* a new one */
		size = fuzz_splice(code, size, max_size, n ? begin[a] : 0, 0, insn,
				   fuzz_any_insn(isa, &random, insn));
		break;
	case 2: /* in the place of another one */
		size = fuzz_splice(code, size, max_size, begin[a], begin[a + 1] - begin[a], insn,
				   fuzz_any_insn(isa, &random, insn));
		break;
	case 3: /* one goes, but never the last one */
		if (n > 1)
			size = fuzz_splice(code, size, max_size, begin[a], begin[a + 1] - begin[a],
					   insn, 0);
		break;
	case 4: /* one more of another one */
		memcpy(insn, code + begin[b], begin[b + 1] - begin[b]);
		size = fuzz_splice(code, size, max_size, begin[a], 0, insn,
				   begin[b + 1] - begin[b]);
		break;
	case 5:
		if (fuzz_pick(&random, 2)) {
			size = fuzz_close_loop(isa, code, size, max_size, &random);
			break;
		}
		/* fallthrough */
	default:
		fuzz_change_insn(isa, code + begin[a], begin[a + 1] - begin[a], &random);
	}
	return head + size;
}

#endif /* FUZZ_INSNS_H */
