/* SPDX-License-Identifier: MIT
 *
 * Issue (FACILE, section 4.7), and what the paper leaves out: the stack engine, what
 * does not overlap (the divider above all), stores.
 */
#include "facile/facile.h"

static unsigned issued_uops(const struct tact_block *block)
{
	unsigned n = 0;

	for (size_t i = 0; i < block->n_insns; i++)
		if (!block->insns[i].fused_prev)
			n += block->insns[i].lowered->fused;
	return n;
}

double facile_issue(struct tact_block *block, const struct tact_predict_options *opt)
{
	(void)opt;
	return (double)issued_uops(block) / block->arch->params.issue_width;
}

int facile_derive_issue(struct tact_block *block, const struct tact_predict_options *opt,
			struct tact_derivation *out)
{
	(void)opt;
	out->counted = TACT_COUNTED_UOPS;
	out->amount = issued_uops(block);
	out->per = (unsigned)block->arch->params.issue_width;
	return 0;
}

/* Returns the cycles from stack pointer to stack pointer through an instruction that writes it; 0
 * if its value comes from elsewhere.
 */
static unsigned stack_latency(const struct block_lowered *l)
{
	for (unsigned k = 0; k < l->n_in; k++)
		for (unsigned o = 0; o < l->n_out; o++)
			if (l->in[k].kind == VALUE_REG && l->in[k].stack == STACK_NAMED &&
			    l->out[o].stack == STACK_NAMED)
				return l->latency[k * l->n_out + o];
	return 0;
}

/* The uops that the stack engine inserts take issue slots, and each waits for the one before it or
 * for the instruction that has written the stack pointer since.
 */
struct stack {
	unsigned n, chain; /* inserted uops, and the cycles of what writes the pointer between */
	bool is_broken;	   /* something sets it to a value from elsewhere */
};

static struct stack survey_stack(const struct tact_block *block)
{
	struct stack s = {0};

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		s.n += block->insns[i].stack_sync;
		if (!l->writes_stack)
			continue;
		s.is_broken |= !stack_latency(l);
		s.chain += stack_latency(l);
	}
	return s;
}

/* Returns the cycles in which an iteration issues if uops that join a register with its high byte
 * issue alone, and so divide the others; 0: there are none.
 */
static unsigned merge_cycles(struct tact_block *block)
{
	const unsigned width = (unsigned)block->arch->params.issue_width;
	unsigned uops = 0, before = 0, cycles = 0;
	uint8_t *keys;

	if (!block->counts.high_bytes || !block->arch->params.high8_renamed || block->opt.paper)
		return 0;
	keys = block_scratch(block, block->n_insns);
	if (!keys || !block_find_merges(block, true, keys))
		return 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		if (keys[i] != BLOCK_NO_KEY) {
			if (cycles)
				cycles += (uops + width - 1) / width;
			else
				before = uops;
			cycles++;
			uops = 0;
		}
		uops += block->insns[i].fused_prev ? 0 : block->insns[i].lowered->fused;
	}
	return cycles + (before + uops + width - 1) / width;
}

int facile_derive_stack_sync(struct tact_block *block, const struct tact_predict_options *opt,
			     struct tact_derivation *out)
{
	const unsigned width = (unsigned)block->arch->params.issue_width;
	const unsigned merges = merge_cycles(block);
	struct stack s = {0};

	(void)opt;
	if (block->counts.stack_changes)
		s = survey_stack(block);
	if (merges * width > issued_uops(block) + s.n && merges > s.chain + s.n) {
		out->counted = TACT_COUNTED_INSNS;
		out->amount = merges;
		return 0;
	}
	if (!s.n)
		return 0;
	out->amount = s.chain + s.n;
	if (s.is_broken || issued_uops(block) + s.n > out->amount * width) {
		out->counted = TACT_COUNTED_UOPS;
		out->amount = issued_uops(block) + s.n;
		out->per = width;
	}
	return 0;
}

double facile_stack_sync(struct tact_block *block, const struct tact_predict_options *opt)
{
	struct tact_derivation d = {.per = 1};

	if (!block->counts.stack_changes && !block->counts.high_bytes)
		return 0;
	facile_derive_stack_sync(block, opt, &d);
	return (double)d.amount / d.per;
}

/* Cycles of the instructions that divide, or of the others that do not overlap. */
static unsigned exclusive_cycles(const struct tact_block *block, bool divides)
{
	unsigned cycles = 0;

	if (!block->counts.exclusive && !block->arch->params.upper_switch)
		return 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];

		if ((bi->lowered->divider != 0) == divides)
			cycles += block_exclusive_in(block, i);
		if (bi->switches_upper && !divides)
			cycles += (unsigned)block->arch->params.upper_switch;
	}
	return cycles;
}

/* Instructions that wait for everything before them, and that everything after them waits for
 * (lfence, cpuid): what lies between two of them takes its longest chain, from the pipeline's start
 * to its end.  0: there are none, or nothing lies between them.
 */
static unsigned serial_cycles(struct tact_block *block)
{
	enum {
		THROUGH = 7 /* cycles from issue to dispatch and from a result to retirement: sim */
	};
	const unsigned fence = (unsigned)block->arch->params.fence_cycles;
	struct tact_chain chain = TACT_CHAIN_INIT;
	unsigned n = 0;

	if (!block->counts.serializing)
		return 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		const size_t next = i + 1 < block->n_insns ? i + 1 : 0;

		n += block->insns[i].lowered->attributes & TACT_INSN_SERIALIZING &&
		     (fence || !(block->insns[next].lowered->attributes & TACT_INSN_SERIALIZING));
	}
	if (!n || tact_explain_pass(block, &chain) < 0)
		return 0;
	return n * (fence ? fence : THROUGH) + chain.latency;
}

double facile_divider(struct tact_block *block, const struct tact_predict_options *opt)
{
	(void)opt;
	return exclusive_cycles(block, true);
}

int facile_derive_divider(struct tact_block *block, const struct tact_predict_options *opt,
			  struct tact_derivation *out)
{
	(void)opt;
	out->amount = exclusive_cycles(block, true);
	return 0;
}

int facile_derive_microcode(struct tact_block *block, const struct tact_predict_options *opt,
			    struct tact_derivation *out)
{
	unsigned iterations, sequencer = facile_sequencer(block, &iterations),
			     serial = serial_cycles(block);

	(void)opt;
	out->amount = exclusive_cycles(block, false);
	if (serial > out->amount && serial * iterations > sequencer) {
		out->counted = TACT_COUNTED_INSNS;
		out->amount = serial;
	} else if (sequencer > out->amount * iterations) {
		out->counted = TACT_COUNTED_UOPS;
		out->amount = sequencer;
		out->per = iterations;
	}
	return 0;
}

double facile_microcode(struct tact_block *block, const struct tact_predict_options *opt)
{
	struct tact_derivation d = {.per = 1};

	facile_derive_microcode(block, opt, &d);
	return (double)d.amount / d.per;
}

double facile_stores(struct tact_block *block, const struct tact_predict_options *opt)
{
	(void)opt;
	return block->store_cycles;
}

int facile_derive_stores(struct tact_block *block, const struct tact_predict_options *opt,
			 struct tact_derivation *out)
{
	(void)opt;
	out->amount = block->store_commits;
	out->per = block->store_passes;
	return 0;
}
