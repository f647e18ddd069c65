/* SPDX-License-Identifier: MIT
 *
 * The checks of lint that look at blocks: bytes that are not code, weights, duplicates.
 *
 * To find duplicates, blocks are remembered by a hash of their instructions.  The memory for that
 * is fixed: a store that is too large for it is read several times, each time for a share of the
 * hashes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>
#include <tact/insn.h>

#include "base/text.h"
#include "dataset/lint.h"

enum { MAX_SLOTS = 1 << 22, MAX_TEXT = 160, SHOWN_BYTES = 60 };

struct seen {
	uint64_t hash;
	int64_t block; /* 0: a free slot */
};

struct block_pass {
	struct linter *l;
	struct tact_block *block[LINT_MAX_SETS]; /* owned: for each set */
	unsigned set;				 /* of the block that is looked at */
	struct seen *slots;			 /* owned */
	size_t n_slots;				 /* a power of two */
	uint64_t part, parts;
	uint8_t *other; /* owned: code of a block that looks the same */
};

static struct tact_finding about(enum tact_lint_check check, const struct tact_store_block *block)
{
	return lint_about(check, block->code, block->code_size);
}

/* ---- the same instructions ---- */

/* Multiplies and folds; the multiplier is 2^64 divided by the golden ratio (Knuth, The Art of
 * Computer Programming, vol. 3, 6.4).
 */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++) {
		hash = (hash ^ p[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

static uint64_t hash_insn(uint64_t hash, const struct tact_insn *insn)
{
	const uint32_t kinds = insn->attributes & (TACT_INSN_LOCKED | TACT_INSN_REP);

	hash = mix(hash, &insn->mnemonic, sizeof(insn->mnemonic));
	hash = mix(hash, &kinds, sizeof(kinds));
	hash = mix(hash, &insn->displacement, sizeof(insn->displacement));
	hash = mix(hash, &insn->immediate, sizeof(insn->immediate));
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *op = &insn->operand[i];
		const uint8_t bytes[] = {op->kind,    op->reg,		 op->first_byte,
					 op->base,    op->index,	 op->scale,
					 op->segment, (uint8_t)op->bits, (uint8_t)(op->bits >> 8)};

		if (op->explicit_operand)
			hash = mix(hash, bytes, sizeof(bytes));
	}
	return hash;
}

static uint64_t hash_block(const struct tact_block *block)
{
	uint64_t hash = tact_block_length(block);
	struct tact_insn insn;

	for (size_t i = 0; i < tact_block_length(block); i++)
		if (tact_block_insn(block, i, &insn) >= 0)
			hash = hash_insn(hash, &insn);
	return hash;
}

/* The hash ignores details that few instructions have; the text decides. */
static bool same_text(const struct tact_isa *isa, const uint8_t *a, size_t a_size, const uint8_t *b,
		      size_t b_size)
{
	char a_text[MAX_TEXT], b_text[MAX_TEXT];
	struct tact_insn insn;

	while (a_size && b_size) {
		int a_length = tact_isa_decode(isa, &insn, a, a_size);
		int b_length = tact_isa_decode(isa, &insn, b, b_size);

		if (a_length <= 0 || b_length <= 0 ||
		    tact_isa_format(isa, a, a_size, 0, a_text, sizeof(a_text)) < 0 ||
		    tact_isa_format(isa, b, b_size, 0, b_text, sizeof(b_text)) < 0 ||
		    strcmp(a_text, b_text) != 0)
			return false;
		a += a_length;
		a_size -= (size_t)a_length;
		b += b_length;
		b_size -= (size_t)b_length;
	}
	return a_size == b_size;
}

static int report_twin(struct block_pass *p, const struct tact_store_block *block, int64_t twin)
{
	struct tact_finding f = about(TACT_LINT_DUPLICATES, block);
	char what[160];
	size_t size;
	int status = tact_store_get_block(p->l->store, twin, p->other, TACT_BLOCK_MAX_BYTES, &size,
					  p->l->diag);

	if (status <= 0 || !same_text(tact_arch_isa(p->l->decoder[p->set]), block->code,
				      block->code_size, p->other, size))
		return status;
	*put_hex(what + snprintf(what, sizeof(what), "the same instructions as "), p->other,
		 size < SHOWN_BYTES ? size : SHOWN_BYTES) = '\0';
	f.what = size <= SHOWN_BYTES ? what : strcat(what, "...");
	f.todo = "keep one of them if each is to count once";
	lint_report(p->l, &f);
	return 0;
}

static int check_twins(struct block_pass *p, const struct tact_store_block *block)
{
	uint64_t hash = hash_block(p->block[p->set]) + p->set;
	size_t i = (hash >> 8) & (p->n_slots - 1);

	if (hash % p->parts != p->part)
		return 0;
	while (p->slots[i].block && p->slots[i].hash != hash)
		i = (i + 1) & (p->n_slots - 1);
	if (p->slots[i].block)
		return report_twin(p, block, p->slots[i].block);
	p->slots[i] = (struct seen){hash, block->id};
	return 0;
}

/* ---- a pass ---- */

static void check_weights(struct linter *l, const struct tact_store_block *block)
{
	for (size_t i = 0; i < block->n_sources; i++) {
		struct tact_finding f = about(TACT_LINT_WEIGHTS, block);

		if (!(block->sources[i].weight <= 0))
			continue;
		f.app = block->sources[i].app;
		f.value = block->sources[i].weight;
		f.what = "a weight that is not positive";
		f.todo = "import it again with how often the block occurs, or without a weight";
		lint_report(l, &f);
	}
}

/* Decodes a block by the first set that can; what the last one says if none can. */
static int load(struct block_pass *p, const struct tact_store_block *block, struct tact_diag *diag)
{
	int status = -TACT_E_DECODE;

	for (p->set = 0; p->set < p->l->n_decoders; p->set++) {
		status = tact_block_load(p->block[p->set], block->code, block->code_size, diag);
		if (status >= 0 || status == -TACT_E_NOMEM)
			break;
	}
	return status;
}

static int check_block(struct block_pass *p, const struct tact_store_block *block)
{
	struct linter *l = p->l;
	struct tact_diag diag = {0};
	int status;

	if (!p->part && l->opt.checks & TACT_LINT_WEIGHTS)
		check_weights(l, block);
	if (!(l->opt.checks & (TACT_LINT_DECODE | TACT_LINT_DUPLICATES)))
		return 0;
	status = load(p, block, &diag);
	if (status == -TACT_E_NOMEM)
		return tact_fail(l->diag, TACT_E_NOMEM, "out of memory");
	if (status < 0) {
		struct tact_finding f = about(TACT_LINT_DECODE, block);

		f.what = diag.text;
		f.todo = "take it out: it has no meaning, whatever was measured";
		if (!p->part && l->opt.checks & TACT_LINT_DECODE)
			lint_report(l, &f);
		return 0;
	}
	return l->opt.checks & TACT_LINT_DUPLICATES ? check_twins(p, block) : 0;
}

static int pass(struct block_pass *p)
{
	struct linter *l = p->l;
	struct tact_store_filter filter = l->filter;
	struct tact_store_blocks *blocks;
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;
	int status = tact_store_blocks_create(&blocks, l->store, &filter, l->diag);

	if (status < 0)
		return status;
	if (p->slots)
		memset(p->slots, 0, p->n_slots * sizeof(*p->slots));
	while (!l->is_over && (status = tact_store_blocks_next(blocks, &block, l->diag)) > 0) {
		lint_count(l);
		status = check_block(p, &block);
		if (status < 0)
			break;
	}
	l->n_bad_blocks = tact_store_blocks_skipped(blocks);
	tact_store_blocks_destroy(blocks);
	return status;
}

static int take_count(void *context, const struct tact_count *count)
{
	*(uint64_t *)context = (uint64_t)count->n;
	return 0;
}

int lint_check_blocks(struct linter *l)
{
	struct block_pass p = {.l = l, .n_slots = 1024, .parts = 1};
	uint64_t n = 0;
	int status;

	if (!(l->opt.checks & (TACT_LINT_DECODE | TACT_LINT_WEIGHTS | TACT_LINT_DUPLICATES)))
		return 0;
	status = tact_store_count(l->store, TACT_COUNT_BLOCKS, take_count, &n, l->diag);
	if (status < 0)
		return status;
	for (unsigned i = 0; i < l->n_decoders && status >= 0; i++)
		status = tact_block_create(&p.block[i], l->decoder[i], NULL, l->diag);
	if (l->opt.checks & TACT_LINT_DUPLICATES) {
		while (p.n_slots < MAX_SLOTS && p.n_slots < 2 * n)
			p.n_slots *= 2;
		p.parts = 1 + 3 * n / (2 * p.n_slots); /* at most two thirds full */
		p.slots = malloc(p.n_slots * sizeof(*p.slots));
		p.other = malloc(TACT_BLOCK_MAX_BYTES);
		if (!p.slots || !p.other)
			status = tact_fail(l->diag, TACT_E_NOMEM, "out of memory");
	}
	for (; p.part < p.parts && status >= 0 && !l->is_over; p.part++)
		status = pass(&p);
	free(p.slots);
	free(p.other);
	for (unsigned i = 0; i < l->n_decoders; i++)
		tact_block_destroy(p.block[i]);
	return status;
}
