/* SPDX-License-Identifier: MIT
 *
 * A block as the machine sees it: forms, and which values each instruction waits for and makes.
 */
#include <stdlib.h>
#include <string.h>

#include "mca/mca.h"

void mca_code_extent(struct mca_extent *extent, const struct tact_block *block,
		     enum tact_mca_memory memory)
{
	extent->n_insns = block->n_insns;
	/* Memory adds to what is read and to what is written. */
	extent->n_operands = block->counts.inputs + 2 * block->n_insns;
	for (size_t i = 0; i < block->n_insns; i++)
		extent->n_operands += block->insns[i].lowered->n_out;
	extent->n_keys = MCA_KEY_STORES;
	if (memory == TACT_MCA_ADDRESSES)
		extent->n_keys += block->n_insns;
	if (extent->n_keys > MCA_MAX_KEYS)
		extent->n_keys = MCA_MAX_KEYS;
}

/* Returns the store's own key, or 0 if a block has more instructions than there are keys. */
static uint16_t store_key(size_t insn)
{
	return MCA_KEY_STORES + insn < MCA_MAX_KEYS ? (uint16_t)(MCA_KEY_STORES + insn) : 0;
}

/* Marks the registers and flags that the block writes. */
static void mark_written(bool *written, const struct tact_block *block)
{
	memset(written, 0, MCA_KEY_STORES * sizeof(*written));
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		for (unsigned o = 0; o < l->n_out; o++)
			if (l->out[o].kind != VALUE_MEMORY)
				written[l->out[o].key] = true;
	}
}

/* Returns the key of the store that a load meets, or 0.  The machine knows the last run of each
 * store, so a store of the previous iteration counts only if it has not run again since.
 */
static uint16_t met_store(const struct block_node *node, size_t i)
{
	bool before = node->producer < i;

	if (node->producer == BLOCK_NO_PRODUCER || before != !node->iterations)
		return 0;
	return store_key(node->producer);
}

static struct mca_operand *add(struct mca_operand *to, struct mca_insn *insn, unsigned key,
			       unsigned advance)
{
	*to = (struct mca_operand){(uint16_t)key, (uint16_t)advance};
	insn->n_reads++;
	return to + 1;
}

static struct mca_operand *fill_reads(struct mca_operand *to, struct mca_insn *insn,
				      const struct tact_block *block, size_t i,
				      enum tact_mca_memory memory, const bool *written)
{
	const struct block_lowered *l = block->insns[i].lowered;
	unsigned advance = 0;

	for (unsigned k = 0; k < l->n_in; k++) {
		unsigned key;

		if (l->in[k].kind == VALUE_MEMORY) {
			key = met_store(&block->nodes[block->insns[i].first_node + k], i);
			if (memory == TACT_MCA_ADDRESSES && key)
				to = add(to, insn, key, MCA_NO_ADVANCE);
			continue;
		}
		key = l->in[k].key;
		if (written[key])
			to = add(to, insn, key, advance);
		if (advance < MCA_NO_ADVANCE)
			advance++;
	}
	if (memory == TACT_MCA_ALIAS && (l->n_loads || l->n_stores))
		to = add(to, insn, MCA_KEY_MEMORY, MCA_NO_ADVANCE);
	return to;
}

static struct mca_operand *fill_writes(struct mca_operand *to, struct mca_insn *insn,
				       const struct block_lowered *l, size_t i,
				       enum tact_mca_memory memory)
{
	struct mca_operand *first = to;

	for (unsigned o = 0; o < l->n_out; o++)
		if (l->out[o].kind != VALUE_MEMORY)
			*to++ = (struct mca_operand){l->out[o].key, 0};
	if (memory == TACT_MCA_ALIAS && l->n_stores)
		*to++ = (struct mca_operand){MCA_KEY_MEMORY, 0};
	if (memory == TACT_MCA_ADDRESSES && l->n_stores && store_key(i))
		*to++ = (struct mca_operand){store_key(i), 0};
	insn->n_writes = (uint16_t)(to - first);
	return to;
}

void mca_code_fill(struct mca_code *code, const struct tact_block *block,
		   enum tact_mca_memory memory)
{
	struct mca_operand *to = code->operands;
	bool written[MCA_KEY_STORES];
	unsigned n_forms = tact_isa_form_count(block->arch->isa);

	block_connect(block);
	mark_written(written, block);
	code->n_forms = n_forms;
	code->n_insns = (uint32_t)block->n_insns;
	code->coverage = tact_block_coverage(block);
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		struct mca_insn *insn = &code->insns[i];

		insn->form = bi->insn->form < n_forms ? bi->insn->form : n_forms;
		insn->first = (uint32_t)(to - code->operands);
		insn->n_reads = 0;
		to = fill_reads(to, insn, block, i, memory, written);
		to = fill_writes(to, insn, bi->lowered, i, memory);
	}
}

/* ---- code of its own ---- */

int tact_mca_code_create(struct tact_mca_code **out, const struct tact_block *block,
			 enum tact_mca_memory memory, struct tact_diag *diag)
{
	struct tact_mca_code *code;
	struct mca_extent extent;

	if (out)
		*out = NULL;
	if (!out || !block || !block->n_insns || (unsigned)memory > TACT_MCA_ADDRESSES)
		return tact_fail(diag, TACT_E_INVAL, "no block");
	mca_code_extent(&extent, block, memory);
	code = malloc(sizeof(*code) + extent.n_insns * sizeof(struct mca_insn) +
		      extent.n_operands * sizeof(struct mca_operand));
	if (!code)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	code->code.insns = code->insns;
	code->code.operands = (struct mca_operand *)(code->insns + extent.n_insns);
	code->n_keys = extent.n_keys;
	mca_code_fill(&code->code, block, memory);
	*out = code;
	return 0;
}

void tact_mca_code_destroy(struct tact_mca_code *code)
{
	free(code);
}

size_t tact_mca_code_length(const struct tact_mca_code *code)
{
	return code ? code->code.n_insns : 0;
}

unsigned tact_mca_code_form(const struct tact_mca_code *code, size_t i)
{
	if (!code || i >= code->code.n_insns || code->insns[i].form >= code->code.n_forms)
		return TACT_FORM_NONE;
	return code->insns[i].form;
}
