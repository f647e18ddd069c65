/* SPDX-License-Identifier: MIT
 *
 * What instructions set that the costs of later ones depend on, such as the length of vectors.
 */
#include <string.h>

#include "block/block.h"

/* Goes from one setting that was given to the next, since these count as instructions do. */
static uint16_t follow(struct tact_block *block, uint16_t setting)
{
	const struct tact_isa *isa = block->cache.isa;
	size_t next;

	if (!block->has_settings)
		return isa->follow(setting, block->code, block->code_size, block->settings,
				   block->code_size);
	for (size_t i = 0; i < block->n_insns; i = next) {
		const size_t begin = block->insns[i].offset;

		for (next = i + 1; next < block->n_insns && !block->given_settings[next];)
			next++;
		setting = isa_merge_settings(setting, block->given_settings[i]);
		setting = isa->follow(setting, block->code + begin,
				      tact_block_offset(block, next) - begin, block->settings + i,
				      next - i);
	}
	return setting;
}

/* What code before the block has set holds for all iterations: compilers see to it that a place has
 * one setting, whichever way leads to it.
 */
int block_follow_settings(struct tact_block *block)
{
	uint16_t end;

	if (tact_grow(&block->settings, &block->settings_capacity, block->code_size,
		      sizeof(*block->settings)) < 0)
		return -TACT_E_NOMEM;
	memset(block->settings, 0, block->code_size * sizeof(*block->settings));
	end = follow(block, block->opt.setting);
	if (!block->opt.setting && end)
		follow(block, end);
	block->n_unset = 0;
	for (size_t i = 0; i < block->code_size; i++)
		if (block->settings[i] == ISA_SETTING_UNKNOWN) {
			block->settings[i] = 0;
			block->n_unset++;
		}
	return 0;
}

/* Decodes again what has another setting now: a setting is a part of what the cache remembers. */
static int decode_again(struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];
		const uint8_t *code = block->code + bi->offset;
		const size_t size = block->code_size - bi->offset;
		struct isa_layout layout;
		long entry;

		if (block->cache.entries[bi->entry].setting == block->settings[i])
			continue;
		block->cache.isa->lay_out(&layout, 1, code, size);
		entry = isa_cache_decode_set(&block->cache, &layout, code, size, block->settings[i],
					     &bi->constants);
		if (entry < 0)
			return (int)entry;
		bi->entry = (uint32_t)entry;
	}
	return 0;
}

int block_set_again(struct tact_block *block)
{
	int status = block_follow_settings(block);

	if (status >= 0)
		status = decode_again(block);
	if (status >= 0)
		status = block_prepare(block);
	if (status < 0)
		block_clear(block);
	return status;
}

int tact_block_set_setting(struct tact_block *block, size_t i, uint16_t setting)
{
	if (!block || i >= block->n_insns || !block->cache.isa->follow)
		return -TACT_E_INVAL;
	if (tact_grow(&block->given_settings, &block->given_settings_capacity, block->n_insns,
		      sizeof(*block->given_settings)) < 0) {
		block_clear(block);
		return -TACT_E_NOMEM;
	}
	if (!block->has_settings)
		memset(block->given_settings, 0, block->n_insns * sizeof(*block->given_settings));
	block->has_settings = true;
	block->given_settings[i] = isa_merge_settings(block->given_settings[i], setting);
	return block_set_again(block);
}

size_t tact_block_foreign(const struct tact_block *block, size_t *first)
{
	size_t n = 0;

	if (!block || !block->arch->llvm)
		return 0;
	for (size_t i = block->n_insns; i-- > 0;)
		if (block->insns[i].lowered->foreign) {
			n++;
			if (first)
				*first = i;
		}
	return n;
}

size_t tact_block_unset(const struct tact_block *block)
{
	return block && block->n_insns && block->cache.isa->follow ? block->n_unset : 0;
}
