/* SPDX-License-Identifier: MIT
 *
 * What the sets that LLVM decodes read from the bits themselves: addresses, layouts, and distances of
 * branches, which are written and read back.  Each piece is a word and where its branch is to lead;
 * the first byte picks the set.
 */
#include <string.h>

#include "fuzz_llvm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECE = 8 }; /* a word, a distance of three bytes, a type of relocation */

static void try_operands(const struct tact_isa *isa, const struct tact_insn *insn)
{
	MUST(insn->n_operands <= TACT_MAX_OPERANDS);
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		MUST(o->reg == TACT_REG_NONE || o->reg < isa->registers.n);
		MUST(o->base == TACT_REG_NONE || o->base < isa->registers.n);
		MUST(o->index == TACT_REG_NONE || o->index < isa->registers.n);
		MUST(o->scale && !(o->scale & (o->scale - 1)) && o->bits <= 8192);
	}
	/* What is written back is a register. */
	MUST(!insn->base_change || insn->attributes & (TACT_INSN_LOAD | TACT_INSN_STORE));
}

static void try_layout(const struct tact_isa *isa, const uint8_t *code, size_t size, int length)
{
	struct isa_layout layout = {.length = 0};

	MUST(isa->lay_out(&layout, 1, code, size) == 1);
	MUST(layout.length <= size && layout.head == layout.length);
	MUST(length <= 0 || layout.length == length);
}

static void try_branch(const struct tact_isa *isa, const struct tact_insn *insn,
		       const uint8_t *code, int64_t distance)
{
	uint8_t word[4], before[4];
	struct tact_insn changed;
	int64_t target;

	memcpy(word, code, sizeof(word));
	memcpy(before, code, sizeof(before));
	if (!isa->retarget(word, insn->length, distance)) {
		MUST(!memcmp(word, before, sizeof(word)));
		return;
	}
	MUST(tact_isa_decode(isa, &changed, word, sizeof(word)) == insn->length);
	MUST(isa_flow_target(&changed, &target) && target == distance);
	MUST(changed.flow == insn->flow);
}

static void try_relocation(const struct tact_isa *isa, const uint8_t *code, unsigned type,
			   int64_t distance)
{
	uint8_t place[8];
	const unsigned n = isa->relocated_bytes(type);

	MUST(n <= 4);
	memset(place, 0xa5, sizeof(place));
	memcpy(place, code, 4);
	if (n)
		isa->relocate(place, type, distance);
	MUST(place[4] == 0xa5 && place[7] == 0xa5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tact_arch *arch = fuzz_arch(data, size);
	const struct tact_isa *isa = tact_arch_isa(arch);
	struct tact_insn insn;

	if (!arch)
		return 0;
	for (size_t at = 1; at + PIECE <= size; at += PIECE) {
		const uint8_t *p = data + at;
		const int64_t distance = (int64_t)(p[4] | p[5] << 8 | p[6] << 16) - 0x800000;
		const int length = tact_isa_decode(isa, &insn, p, 4);

		try_layout(isa, p, 4, length);
		try_relocation(isa, p, p[7], distance);
		if (length <= 0)
			continue;
		try_operands(isa, &insn);
		try_branch(isa, &insn, p, distance);
		try_branch(isa, &insn, p, distance >> 12);
	}
	return 0;
}
