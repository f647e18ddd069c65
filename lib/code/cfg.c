/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "base/base.h"
#include "code/cfg.h"

enum { MAX_CODE = 1 << 30, RELOCATED_BITS = 32 };

/* What a byte of the code is. */
enum { IS_START = 1, IS_LEADER = 2 };

struct branch {
	uint32_t end; /* first byte behind it */
	enum cfg_flow flow;
	int64_t target;
};

struct builder {
	uint8_t *bytes; /* IS_* of each byte, one more than there are */
	struct branch *branches;
	size_t n_branches, capacity;
	size_t size;
};

/* The minimal mode of Zydis gives length, prefixes and raw parts only; so opcodes are told apart
 * here, by the opcode maps of the Intel SDM, volume 2, appendix A.
 */
static void classify_one_byte(const ZydisDecodedInstruction *insn, struct cfg_insn *out)
{
	const uint8_t opcode = insn->opcode;

	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
		out->flow = CFG_BRANCH; /* jcc rel8, loop, jrcxz */
	else if (opcode == 0xeb || opcode == 0xe9)
		out->flow = CFG_JUMP;
	else if (opcode == 0xe8)
		out->is_call = true;
	else if (opcode == 0xc7 && insn->raw.modrm.mod == 3 && insn->raw.modrm.reg == 7)
		out->flow = CFG_BRANCH; /* xbegin */
	else if (opcode == 0xff && (insn->raw.modrm.reg == 4 || insn->raw.modrm.reg == 5))
		out->flow = CFG_STOP; /* jmp through a register or memory */
	else if (opcode == 0xc2 || opcode == 0xc3 || opcode == 0xca || opcode == 0xcb ||
		 opcode == 0xcf || opcode == 0xf4 || opcode == 0xcc)
		out->flow = CFG_STOP; /* ret, retf, iret, hlt, int3 */
}

static void classify(const ZydisDecodedInstruction *insn, struct cfg_insn *out)
{
	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return;
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
		classify_one_byte(insn, out);
	} else if (insn->opcode_map == ZYDIS_OPCODE_MAP_0F) {
		if (insn->opcode >= 0x80 && insn->opcode <= 0x8f)
			out->flow = CFG_BRANCH; /* jcc rel32 */
		else if (insn->opcode == 0x0b || insn->opcode == 0xb9 || insn->opcode == 0xff)
			out->flow = CFG_STOP; /* ud2, ud1, ud0 */
	}
}

static void decode(const ZydisDecoder *decoder, const uint8_t *code, size_t size, size_t offset,
		   bool is_relocatable, struct cfg_insn *out)
{
	ZydisDecodedInstruction insn;
	bool is_direct;

	*out = (struct cfg_insn){.flow = CFG_BAD, .length = 1, .target = -1};
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code + offset, size - offset,
							&insn)))
		return;
	out->flow = CFG_NEXT;
	out->length = insn.length;
	classify(&insn, out);
	is_direct = out->flow == CFG_BRANCH || out->flow == CFG_JUMP || out->is_call;
	if (!is_direct)
		return;
	if (is_relocatable && insn.raw.imm[0].size == RELOCATED_BITS &&
	    insn.raw.imm[0].value.s == 0)
		return;
	out->target = (int64_t)offset + insn.length + insn.raw.imm[0].value.s;
}

int cfg_walk(const uint8_t *code, size_t size, bool is_relocatable,
	     int (*visit)(void *self, size_t offset, const struct cfg_insn *insn), void *self)
{
	ZydisDecoder decoder;
	struct cfg_insn insn;
	size_t offset;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	for (offset = 0; offset < size; offset += insn.length) {
		int status;

		decode(&decoder, code, size, offset, is_relocatable, &insn);
		status = visit(self, offset, &insn);
		if (status)
			return status;
	}
	return 0;
}

static int note_insn(void *self, size_t offset, const struct cfg_insn *insn)
{
	struct builder *b = self;
	const size_t end = offset + insn->length;

	b->bytes[offset] |= IS_START;
	if (insn->flow == CFG_NEXT)
		return 0;
	if (tact_grow(&b->branches, &b->capacity, b->n_branches + 1, sizeof(*b->branches)))
		return -TACT_E_NOMEM;
	b->branches[b->n_branches++] = (struct branch){(uint32_t)end, insn->flow, insn->target};
	b->bytes[end] |= IS_LEADER;
	return 0;
}

/* A target between two instructions, or outside of the function, starts no block. */
static bool is_inside(const struct builder *b, int64_t target)
{
	return target >= 0 && target < (int64_t)b->size && (b->bytes[target] & IS_START);
}

static int cut_blocks(struct cfg *cfg, struct builder *b)
{
	size_t begin = 0, end, branch = 0;

	for (end = 1; end <= b->size; end++) {
		struct cfg_block *block;

		if (end < b->size && !(b->bytes[end] & IS_LEADER))
			continue;
		if (tact_grow(&cfg->blocks, &cfg->capacity, cfg->n_blocks + 1,
			      sizeof(*cfg->blocks)))
			return -TACT_E_NOMEM;
		block = &cfg->blocks[cfg->n_blocks++];
		*block = (struct cfg_block){
			(uint32_t)begin, (uint32_t)end, {CFG_NONE, CFG_NONE}, CFG_NEXT};
		if (branch < b->n_branches && b->branches[branch].end == end)
			block->flow = b->branches[branch++].flow;
		begin = end;
	}
	return 0;
}

static uint32_t block_at(const struct cfg *cfg, size_t offset)
{
	size_t low = 0, high = cfg->n_blocks;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (cfg->blocks[middle].begin <= offset)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static void connect(struct cfg *cfg, const struct builder *b)
{
	size_t i, branch = 0;

	for (i = 0; i < cfg->n_blocks; i++) {
		struct cfg_block *block = &cfg->blocks[i];
		int64_t target = -1;

		if (block->flow != CFG_NEXT)
			target = b->branches[branch++].target;
		if (is_inside(b, target))
			block->successor[0] = block_at(cfg, (size_t)target);
		if ((block->flow == CFG_NEXT || block->flow == CFG_BRANCH) && i + 1 < cfg->n_blocks)
			block->successor[1] = (uint32_t)i + 1;
	}
}

int cfg_create(struct cfg *cfg, const uint8_t *code, size_t size, bool is_relocatable)
{
	struct builder b = {.size = size};
	int status = -TACT_E_NOMEM;
	size_t i;

	*cfg = (struct cfg){0};
	if (size >= MAX_CODE)
		return -TACT_E_LIMIT;
	b.bytes = calloc(size + 1, 1);
	if (!b.bytes)
		return -TACT_E_NOMEM;
	status = cfg_walk(code, size, is_relocatable, note_insn, &b);
	if (status < 0)
		goto out_free;
	for (i = 0; i < b.n_branches; i++)
		if (is_inside(&b, b.branches[i].target))
			b.bytes[b.branches[i].target] |= IS_LEADER;
	status = cut_blocks(cfg, &b);
	if (status < 0)
		goto out_free;
	connect(cfg, &b);
out_free:
	free(b.branches);
	free(b.bytes);
	if (status < 0)
		cfg_destroy(cfg);
	return status;
}

void cfg_destroy(struct cfg *cfg)
{
	free(cfg->blocks);
	*cfg = (struct cfg){0};
}

int cfg_predecessors_create(struct cfg_predecessors *pred, const struct cfg *cfg)
{
	const size_t n = cfg->n_blocks;
	uint32_t *memory = calloc(n + 2 + 2 * n, sizeof(*memory));
	size_t i;
	int s;

	if (!memory)
		return -TACT_E_NOMEM;
	pred->first = memory;
	pred->list = memory + n + 2;
	/* Counting sort; counts stand two places up, so that filling moves them down by one. */
	for (i = 0; i < n; i++)
		for (s = 0; s < 2; s++)
			if (cfg->blocks[i].successor[s] != CFG_NONE)
				pred->first[cfg->blocks[i].successor[s] + 2]++;
	for (i = 2; i < n + 2; i++)
		pred->first[i] += pred->first[i - 1];
	for (i = 0; i < n; i++)
		for (s = 0; s < 2; s++)
			if (cfg->blocks[i].successor[s] != CFG_NONE)
				pred->list[pred->first[cfg->blocks[i].successor[s] + 1]++] =
					(uint32_t)i;
	return 0;
}

void cfg_predecessors_destroy(struct cfg_predecessors *pred)
{
	free(pred->first);
	*pred = (struct cfg_predecessors){0};
}
