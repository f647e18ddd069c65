/* SPDX-License-Identifier: MIT
 *
 * Contention for execution ports (FACILE, section 4.8): uops that can go nowhere but to the ports
 * of a set take at least their number divided by the size of the set.
 */
#include "facile/facile.h"

enum { MAX_SETS = ARCH_MAX_PORT_SETS };

struct usage {
	params_ports mask[MAX_SETS];
	unsigned count[MAX_SETS];
	unsigned n, total;
};

static void add(struct usage *u, params_ports mask, unsigned count)
{
	unsigned i;

	u->total += count;
	for (i = 0; i < u->n; i++) {
		if (u->mask[i] == mask) {
			u->count[i] += count;
			return;
		}
	}
	if (i == MAX_SETS)
		return; /* no core has so many sets of ports; tact_arch_validate checks that */
	u->mask[i] = mask;
	u->count[i] = count;
	u->n++;
}

/* Moves that may be eliminated and jumps that are fused away need no port. */
static void collect(const struct tact_block *block, struct usage *u)
{
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];

	u->n = u->total = 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		unsigned n;

		if (bi->fused_prev || (bi->lowered->eliminated && !bi->fused_next))
			continue;
		if (!bi->fused_next && !block->counts.widest &&
		    !bi->is_split) { /* nothing to change in them */
			for (const struct arch_port_use *use = bi->lowered->ports; use->count;
			     use++)
				add(u, use->mask, use->count);
			continue;
		}
		n = block_port_uses(block, i, uses);
		for (unsigned k = 0; k < n; k++)
			add(u, uses[k].mask, uses[k].count);
	}
}

static unsigned uops_within(const struct usage *u, unsigned mask)
{
	unsigned n = 0;

	for (unsigned i = 0; i < u->n; i++)
		if (!(u->mask[i] & ~mask))
			n += u->count[i];
	return n;
}

/* Returns the number of ports in a set.  (The compiler's built-in is a function call on a plain
 * x86-64.)
 */
static unsigned set_size(unsigned mask)
{
	mask -= mask >> 1 & 0x55555555;
	mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
	mask = (mask + (mask >> 4)) & 0x0f0f0f0f;
	return mask * 0x01010101 >> 24;
}

/* Keeps the larger ratio of uops to ports; compares without division. */
static void consider(const struct usage *u, unsigned mask, unsigned *best_uops,
		     unsigned *best_ports, unsigned *best_mask)
{
	unsigned size = set_size(mask), n;

	/* Not even all uops would be enough: most sets need no sum. */
	if (u->total * *best_ports <= *best_uops * size)
		return;
	n = uops_within(u, mask);
	if (n * *best_ports > *best_uops * size) {
		*best_uops = n;
		*best_ports = size;
		*best_mask = mask;
	}
}

/* Ports that occur in the same sets are alike: the worst set has all of them or none.  Returns the
 * number of such classes.
 */
static unsigned find_classes(const struct usage *u, params_ports *classes)
{
	unsigned n = 0;

	for (unsigned i = 0; i < u->n; i++) {
		unsigned left = u->mask[i];

		for (unsigned k = 0, before = n; k < before; k++) {
			unsigned both = classes[k] & left;

			if (both && both != classes[k]) {
				classes[n++] = classes[k] & ~left;
				classes[k] = both;
			}
			left &= ~both;
		}
		if (left)
			classes[n++] = left;
	}
	return n;
}

/* Considers all unions of classes, in the order of a Gray code: each differs by one class from the
 * last.
 */
static void consider_all(const struct usage *u, unsigned *uops, unsigned *ports, unsigned *mask)
{
	params_ports classes[TACT_MAX_PORTS], m = 0;
	uint64_t n = (uint64_t)1 << find_classes(u, classes);

	for (uint64_t i = 1; i < n; i++) {
		m ^= classes[__builtin_ctzll(i)];
		consider(u, m, uops, ports, mask);
	}
}

/* Considers the sets and their unions in pairs, each set once. */
static void consider_pairs(const struct usage *u, unsigned *uops, unsigned *ports, unsigned *mask)
{
	for (unsigned i = 0; i < u->n; i++) {
		bool is_done = false;

		for (unsigned k = 0; k <= i; k++) {
			const unsigned both = u->mask[i] | u->mask[k];

			if (both == u->mask[i]) {
				if (!is_done)
					consider(u, both, uops, ports, mask);
				is_done = true;
			} else if (both != u->mask[k]) {
				consider(u, both, uops, ports, mask);
			}
		}
	}
}

static double worst_set(const struct usage *u, bool exact, unsigned *mask)
{
	unsigned uops = 0, ports = 1;

	*mask = 0;
	if (exact) {
		consider_all(u, &uops, &ports, mask);
	} else {
		consider_pairs(u, &uops, &ports, mask);
	}
	return (double)uops / ports;
}

/* Where banks of the cache limit loads, they count as ports that each serve two loads. */
static double larger_of_banks(struct tact_block *block, double cycles)
{
	double banks;

	if (!block->arch->params.load_bank_bytes || !block->counts.loads)
		return cycles;
	block_survey(block);
	banks = (double)block->bank_loads / block->bank_cycles;
	return banks > cycles ? banks : cycles;
}

double facile_ports(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned uops = 0, ports = 1, mask = 0;
	struct usage u;

	collect(block, &u);
	if (opt->exact_ports)
		return larger_of_banks(block, worst_set(&u, true, &mask));
	/* The order does not matter here: single sets come first, so that most unions are out of
	 * the question.
	 */
	for (unsigned i = 0; i < u.n; i++)
		consider(&u, u.mask[i], &uops, &ports, &mask);
	for (unsigned i = 1; i < u.n; i++)
		for (unsigned k = 0; k < i; k++)
			consider(&u, u.mask[i] | u.mask[k], &uops, &ports, &mask);
	return larger_of_banks(block, (double)uops / ports);
}

int facile_derive_ports(struct tact_block *block, const struct tact_predict_options *opt,
			struct tact_derivation *out)
{
	unsigned mask;
	struct usage u;

	collect(block, &u);
	worst_set(&u, opt->exact_ports, &mask);
	out->counted = TACT_COUNTED_UOPS;
	out->amount = uops_within(&u, mask);
	out->per = mask ? set_size(mask) : 1;
	if (larger_of_banks(block, (double)out->amount / out->per) * out->per > out->amount) {
		out->counted = TACT_COUNTED_LOADS;
		out->amount = block->bank_loads;
		out->per = block->bank_cycles;
	}
	return 0;
}

/* Lists the instructions with uops that can only go to these ports; returns their number. */
static size_t list_insns(const struct tact_block *block, unsigned mask, uint32_t *insns)
{
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	size_t n = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		bool within = false;
		unsigned n_uses;

		if (bi->fused_prev || (bi->lowered->eliminated && !bi->fused_next))
			continue;
		n_uses = block_port_uses(block, i, uses);
		for (unsigned k = 0; k < n_uses; k++)
			within |= !(uses[k].mask & ~mask);
		if (within)
			insns[n++] = (uint32_t)i;
	}
	return n;
}

int tact_explain_ports_with(struct tact_block *block, const struct tact_predict_options *opt,
			    struct tact_port_contention *out)
{
	struct tact_predict_options options;
	struct usage u;
	uint32_t *insns;
	unsigned mask;
	struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;

	if (!block || !block->n_insns || !tact_can_fill(out) ||
	    tact_read_options(&options, sizeof(options), opt) < 0 || !facile_are_valid(&options))
		return -TACT_E_INVAL;
	insns = block_scratch(block, block->n_insns * sizeof(*insns));
	if (!insns)
		return -TACT_E_NOMEM;
	collect(block, &u);
	worst_set(&u, options.exact_ports, &mask);
	c.ports = mask;
	c.uops = uops_within(&u, mask);
	c.insns = insns;
	c.n_insns = list_insns(block, mask, insns);
	return tact_fill(out, &c, sizeof(c));
}

int tact_explain_ports(struct tact_block *block, struct tact_port_contention *out)
{
	return tact_explain_ports_with(block, NULL, out);
}
