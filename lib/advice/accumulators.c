/* SPDX-License-Identifier: MIT
 *
 * A chain of sums in one register as several shorter ones.
 */
#include "advice/advisor.h"

#include <string.h>

#include <tact/predict.h>

struct sums {
	uint8_t reg;
	bool is_rounded;
	unsigned operation; /* of all links: sums and products do not change places */
	bool is_link[TACT_ADVICE_MAX_INSNS];
	size_t n_links;
};

static uint8_t accumulator_of(const struct tact_advisor *a, size_t i, bool *is_rounded,
			      unsigned *operation)
{
	size_t size;
	const uint8_t *code = advice_bytes(a, i, &size);

	*is_rounded = false;
	*operation = 0;
	return a->rewriter->accumulator(code, size, is_rounded, operation);
}

/* Whether somebody needs the flags of instruction i, other than `except`. */
static bool are_flags_used(const struct tact_block *block, size_t i, size_t except)
{
	const struct block_node *nodes = block_nodes(block);

	for (size_t v = 0; v < block->n_nodes; v++)
		if (nodes[v].producer == i && nodes[v].insn != except &&
		    block->insns[nodes[v].insn].lowered->in[nodes[v].input].kind == VALUE_FLAGS)
			return true;
	return false;
}

/* The critical chain, if it is sums in one register that nothing else names. */
static bool find_sums(struct tact_advisor *a, struct sums *s)
{
	struct tact_chain chain = TACT_CHAIN_INIT;
	const struct tact_block *block = a->block;

	memset(s, 0, sizeof(*s));
	s->reg = TACT_REG_NONE;
	if (tact_explain_chain(a->block, &chain) < 0 || !chain.n_links)
		return false;
	for (size_t k = 0; k < chain.n_links; k++) {
		const struct tact_chain_link *l = &chain.links[k];
		bool is_rounded;
		unsigned operation;
		const uint8_t reg = accumulator_of(a, l->insn, &is_rounded, &operation);

		if (reg == TACT_REG_NONE ||
		    (s->n_links && (s->reg != reg || s->operation != operation)) || l->from_kind ||
		    l->to_kind || l->from_reg != reg || l->to_reg != reg || s->is_link[l->insn])
			return false;
		s->reg = reg;
		s->operation = operation;
		s->is_link[l->insn] = true;
		s->is_rounded |= is_rounded;
		s->n_links++;
	}
	for (size_t i = 0; i < block->n_insns; i++)
		if (s->is_link[i] ? are_flags_used(block, i, SIZE_MAX)
				  : advice_uses(block, i, s->reg))
			return false;
	return true;
}

/* Whether the last comparison only tells the branch whether to go on. */
static bool is_spare_comparison(const struct tact_advisor *a, size_t i)
{
	const struct tact_block *block = a->block;
	const struct block_lowered *l = block->insns[i].lowered;

	if (!a->is_loop_branch || i + 2 != block->n_insns || !l->n_out || !l->known)
		return false;
	for (unsigned o = 0; o < l->n_out; o++)
		if (l->out[o].kind != VALUE_FLAGS)
			return false;
	return !are_flags_used(block, i, block->n_insns - 1);
}

/* Adds one copy of the block whose sums go to `regs` in turn, from *turn on. */
static void add_copy(struct tact_advisor *a, const struct sums *s, const uint8_t *regs,
		     unsigned n_regs, unsigned *turn, bool is_last)
{
	const struct tact_block *block = a->block;

	for (size_t i = 0; i < block->n_insns; i++) {
		const uint8_t to = regs[*turn % n_regs];
		uint8_t renamed[TACT_MAX_INSN_BYTES];
		size_t size;
		const uint8_t *code = advice_bytes(a, i, &size);

		if (!is_last &&
		    ((a->is_loop_branch && i + 1 == block->n_insns) || is_spare_comparison(a, i)))
			continue;
		if (!s->is_link[i] || to == s->reg)
			advice_add_insn(a, i);
		else
			advice_add(a, renamed,
				   a->rewriter->rename(code, size, s->reg, to, renamed));
		*turn += s->is_link[i];
	}
}

static bool try_sums(struct tact_advisor *a, const struct sums *s, const uint8_t *regs, unsigned n,
		     unsigned copies)
{
	unsigned turn = 0;

	advice_begin(a, "accumulators");
	a->draft.copies = copies;
	for (unsigned c = 0; c < copies; c++)
		add_copy(a, s, regs, n, &turn, c + 1 == copies);
	for (size_t i = 0; i < a->block->n_insns; i++)
		if (s->is_link[i])
			advice_about(a, i);
	return advice_try(a);
}

static void say(struct tact_advisor *a, struct advice_found *f, const struct sums *s,
		const uint8_t *regs, unsigned n, unsigned copies)
{
	const struct tact_isa *isa = a->block->arch->isa;

	text_printf(&f->text, "the chain through %s limits: use %u accumulators",
		    tact_isa_reg_name(isa, s->reg), n);
	if (copies > 1)
		text_printf(&f->text, ", with %u iterations in one pass", copies);
	if (copies > 1 && a->is_loop_branch)
		text_printf(&f->assumes, "the number of iterations is a multiple of %u; ", copies);
	text_add(&f->assumes, "the accumulators are combined afterwards");
	if (s->is_rounded)
		text_add(&f->assumes, ", which may round differently");
	text_printf(&f->assumes, "; %s",
		    n > 2 ? "registers are free (here "
			  : "a register is free "
			    "(here ");
	for (unsigned k = 1; k < n; k++)
		text_printf(&f->assumes, "%s%s", k > 1 ? ", " : "",
			    tact_isa_reg_name(isa, regs[k]));
	text_add(&f->assumes, ")");
}

/* Takes the fewest accumulators that are about as good as the most. */
void advise_accumulators(struct tact_advisor *a)
{
	static const unsigned counts[] = {2, 4};
	uint8_t regs[ADVICE_MAX_COPIES];
	struct sums s;
	unsigned n_regs = 1, best = 0, copies;
	double least = 0;
	struct advice_found *f;
	uint64_t set;

	if (!find_sums(a, &s))
		return;
	set = isa_is_general(a->block->arch->isa, s.reg) ? a->free_general : a->free_vector;
	regs[0] = s.reg;
	while (n_regs < ADVICE_MAX_COPIES && set)
		regs[n_regs++] = advice_take_general(&set);
	copies = s.n_links > 1 ? 1 : ADVICE_MAX_COPIES;
	for (size_t k = 0; k < ARRAY_SIZE(counts); k++) {
		const unsigned n = counts[k];

		if (n > n_regs || (copies == 1 && n > s.n_links))
			break;
		if (try_sums(a, &s, regs, n, copies > 1 ? n : 1) &&
		    (!best || a->draft.after < least - 0.03 * a->before)) {
			best = n;
			least = a->draft.after;
		}
	}
	if (!best || !try_sums(a, &s, regs, best, copies > 1 ? best : 1))
		return;
	f = advice_keep(a);
	if (f)
		say(a, f, &s, regs, best, copies > 1 ? best : 1);
}
