/* SPDX-License-Identifier: MIT
 *
 * Replaces, inserts or erases one instruction of a loaded block.  Everything that can fail comes
 * first, so that a failure leaves the block as it was.
 */
#include <string.h>

#include "block/block.h"

/* A change at instruction `at`: `removed` (0 or 1) instructions go, `added` come. */
struct edit {
	size_t at, removed, added;
	const uint8_t *bytes;
	size_t n_bytes;
	struct block_insn insn; /* what comes */
};

static size_t offset_of(const struct tact_block *block, size_t i)
{
	return i < block->n_insns ? block->insns[i].offset : block->code_size;
}

/* Grows the buffers to what the changed block needs.  A failure changes nothing that callers see.
 */
static int reserve(struct tact_block *block, const struct edit *e, size_t new_size)
{
	const struct block_counts before = block->counts;
	int status;

	if (block_reserve_code(block, new_size, block->n_insns + e->added) < 0)
		return -TACT_E_NOMEM;
	if (e->removed)
		block_count(&block->counts, block->insns[e->at].lowered, (size_t)-1);
	if (e->added)
		block_count(&block->counts, e->insn.lowered, 1);
	status = block_reserve(block);
	if (status < 0)
		block->counts = before;
	return status;
}

/* Moves what follows, and puts the new instruction into its place. */
static void splice(struct tact_block *block, const struct edit *e, size_t new_size)
{
	const size_t offset = offset_of(block, e->at), end = offset_of(block, e->at + e->removed);
	const size_t difference = new_size - block->code_size; /* modulo 2^64 */
	size_t first = e->at + e->removed;

	if (difference) {
		memmove(block->code + offset + e->n_bytes, block->code + end,
			block->code_size - end);
		block_pad_code(block, new_size);
		for (size_t i = first; i < block->n_insns; i++)
			block->insns[i].offset = (uint32_t)(block->insns[i].offset + difference);
	}
	memcpy(block->code + offset, e->bytes, e->n_bytes);
	if (e->added != e->removed)
		memmove(&block->insns[e->at + e->added], &block->insns[first],
			(block->n_insns - first) * sizeof(*block->insns));
	block->n_insns += e->added - e->removed;
	if (e->added) {
		block->insns[e->at] = e->insn;
		block->insns[e->at].offset = (uint32_t)offset;
	}
}

int block_ask_without(struct tact_block *block, size_t i,
		      int (*ask)(struct tact_block *block, void *arg), void *arg)
{
	const struct block_insn insn = block->insns[i];
	const struct block_counts counts = block->counts;
	const enum tact_mode mode = block->opt.mode;
	const size_t size = block->code_size, length = insn.lowered->length;
	uint8_t bytes[TACT_MAX_INSN_BYTES];
	struct edit gone = {.at = i, .removed = 1, .bytes = bytes};
	struct edit back = {.at = i, .added = 1, .bytes = bytes, .n_bytes = length, .insn = insn};
	int status;

	memcpy(bytes, block->code + insn.offset, length);
	block->opt.mode = block->mode;
	block_count(&block->counts, insn.lowered, (size_t)-1);
	splice(block, &gone, size - length);
	block_arrange(block);
	status = ask(block, arg);
	block->opt.mode = mode;
	block->counts = counts;
	splice(block, &back, size);
	block_arrange(block);
	return status;
}

/* Gives the instructions that stay what the caller has set for them. */
static int keep_given(struct tact_block *to, const struct tact_block *from, const struct edit *e)
{
	int status = 0;

	for (size_t i = 0; i < from->n_insns && status >= 0; i++) {
		const struct block_insn *bi = &from->insns[i];
		const size_t place = i < e->at ? i : i - e->removed + e->added;

		if (i >= e->at && i < e->at + e->removed)
			continue;
		if (bi->memory)
			status = tact_block_set_memory(to, place,
						       (enum tact_memory)(bi->memory - 1));
		if (status >= 0 && bi->latency)
			status = tact_block_set_latency(to, place, bi->latency);
		if (status >= 0 && from->has_settings && from->given_settings[i])
			status = tact_block_set_setting(to, place, from->given_settings[i]);
	}
	return status;
}

/* Handles the rare cases that the cache is full, the architecture has changed, or instructions set
 * what costs of others depend on: loads the changed code into a new block, which takes the place of
 * this one.
 */
static int load_anew(struct tact_block *block, const struct edit *e, size_t new_size,
		     struct tact_diag *diag)
{
	const size_t offset = offset_of(block, e->at), end = offset_of(block, e->at + e->removed);
	struct tact_block *fresh, swap;
	uint8_t *code;
	int status = tact_block_create(&fresh, block->arch, NULL, diag);

	if (status < 0)
		return status;
	fresh->opt = block->opt;
	code = block_scratch(block, new_size);
	if (!code) {
		tact_block_destroy(fresh);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	memcpy(code, block->code, offset);
	memcpy(code + offset, e->bytes, e->n_bytes);
	memcpy(code + offset + e->n_bytes, block->code + end, block->code_size - end);
	status = tact_block_load(fresh, code, new_size, diag);
	if (status >= 0)
		status = keep_given(fresh, block, e);
	if (status >= 0) {
		swap = *block;
		*block = *fresh;
		*fresh = swap;
	}
	tact_block_destroy(fresh);
	return status;
}

static int decode(struct tact_block *block, struct edit *e, struct tact_diag *diag)
{
	int status = block_decode_one(block, e->bytes, e->n_bytes, &e->insn);

	if (status == -TACT_E_DECODE)
		return tact_fail_at(diag, TACT_E_DECODE, 0, offset_of(block, e->at),
				    "not exactly one instruction");
	if (status >= 0) {
		e->insn.insn = &block->cache.entries[e->insn.entry];
		e->insn.lowered = block_lowered_of(block, e->insn.entry, e->bytes);
	}
	if (status < 0 || !e->insn.lowered)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

/* Returns whether the bytes are one instruction, without using the cache. */
static bool is_one_instruction(const struct tact_block *block, const struct edit *e)
{
	struct tact_insn insn;

	return !e->added ||
	       (tact_isa_decode(block->arch->isa, &insn, e->bytes, e->n_bytes) == (int)e->n_bytes);
}

static int apply(struct tact_block *block, struct edit *e, struct tact_diag *diag)
{
	const size_t old_bytes = offset_of(block, e->at + e->removed) - offset_of(block, e->at);
	const size_t new_size = block->code_size - old_bytes + e->n_bytes;
	uint8_t bytes[TACT_MAX_INSN_BYTES]; /* they may be the block's own, which move */
	int status = 0;

	if (!new_size)
		return tact_fail(diag, TACT_E_INVAL, "no code would be left");
	if (new_size > TACT_BLOCK_MAX_BYTES)
		return tact_fail(diag, TACT_E_LIMIT,
				 "%zu bytes in one block; at most %d are accepted", new_size,
				 TACT_BLOCK_MAX_BYTES);
	if (e->n_bytes > TACT_MAX_INSN_BYTES)
		return tact_fail_at(diag, TACT_E_DECODE, 0, offset_of(block, e->at),
				    "not exactly one instruction");
	memcpy(bytes, e->bytes, e->n_bytes);
	e->bytes = bytes;
	if (!block_is_lowered(block) || block_cache_is_full(block) || block->cache.isa->follow) {
		if (!is_one_instruction(block, e))
			return tact_fail_at(diag, TACT_E_DECODE, 0, offset_of(block, e->at),
					    "not exactly one instruction");
		return load_anew(block, e, new_size, diag);
	}
	if (e->added)
		status = decode(block, e, diag);
	if (status < 0)
		return status;
	if (reserve(block, e, new_size) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	splice(block, e, new_size);
	block_arrange(block);
	return 0;
}

int tact_block_replace(struct tact_block *block, size_t i, const uint8_t *bytes, size_t n_bytes,
		       struct tact_diag *diag)
{
	struct edit e = {.at = i, .removed = 1, .added = 1, .bytes = bytes, .n_bytes = n_bytes};

	if (!block || !bytes || !n_bytes || i >= block->n_insns)
		return tact_fail(diag, TACT_E_INVAL, "no such instruction, or no bytes");
	return apply(block, &e, diag);
}

int tact_block_insert(struct tact_block *block, size_t i, const uint8_t *bytes, size_t n_bytes,
		      struct tact_diag *diag)
{
	struct edit e = {.at = i, .added = 1, .bytes = bytes, .n_bytes = n_bytes};

	if (!block || !bytes || !n_bytes || !block->n_insns || i > block->n_insns)
		return tact_fail(diag, TACT_E_INVAL, "no such place, or no bytes");
	return apply(block, &e, diag);
}

int tact_block_erase(struct tact_block *block, size_t i, struct tact_diag *diag)
{
	struct edit e = {.at = i, .removed = 1, .bytes = (const uint8_t *)""};

	if (!block || i >= block->n_insns)
		return tact_fail(diag, TACT_E_INVAL, "no such instruction");
	return apply(block, &e, diag);
}
