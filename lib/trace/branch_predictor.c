/* SPDX-License-Identifier: MIT
 *
 * A branch predictor: two tables of counters, one by address and one by address and history, and a
 * third that chooses between them (McFarling, "Combining branch predictors", 1993); targets of
 * indirect jumps by address and history; a stack of return addresses.  Real ones are better: what
 * they get wrong, this one does too, and some more.
 */
#include "trace/branch_predictor.h"

enum { HISTORY_BITS = 15 };

static void train(uint8_t *counter, bool up)
{
	if (up)
		*counter += *counter < 3;
	else
		*counter -= *counter > 0;
}

static bool conditional(struct predictor *p, uint64_t address, bool taken)
{
	unsigned plain = (unsigned)(address ^ address >> 15) & (PREDICTOR_COUNTERS - 1);
	unsigned mixed =
		(unsigned)(address ^ address >> 15 ^ p->history) & (PREDICTOR_COUNTERS - 1);
	bool first = p->by_address[plain] >= 2, second = p->by_history[mixed] >= 2;
	bool known = (p->choice[plain] >= 2 ? second : first) == taken;

	if (first != second)
		train(&p->choice[plain], second == taken);
	train(&p->by_address[plain], taken);
	train(&p->by_history[mixed], taken);
	p->history = (p->history << 1 | taken) & ((1u << HISTORY_BITS) - 1);
	return known;
}

static bool indirect(struct predictor *p, uint64_t address, uint64_t target)
{
	unsigned at = (unsigned)(address ^ address >> 12 ^ p->history) & (PREDICTOR_TARGETS - 1);
	bool known = p->targets[at] == target;

	p->targets[at] = target;
	p->history = (p->history << 2 ^ target >> 2) & ((1u << HISTORY_BITS) - 1);
	return known;
}

bool predictor_branch(struct predictor *p, enum branch_kind kind, uint64_t address, uint64_t next,
		      uint64_t target)
{
	bool known = true;

	switch (kind) {
	case BRANCH_NONE:
		return true;
	case BRANCH_DIRECT:
		break;
	case BRANCH_CONDITIONAL:
		known = conditional(p, address, target != next);
		break;
	case BRANCH_INDIRECT:
		known = indirect(p, address, target);
		break;
	case BRANCH_INDIRECT_CALL:
		known = indirect(p, address, target);
		p->returns[p->top++ % PREDICTOR_RETURNS] = next;
		break;
	case BRANCH_CALL:
		p->returns[p->top++ % PREDICTOR_RETURNS] = next;
		break;
	case BRANCH_RETURN:
		known = p->returns[--p->top % PREDICTOR_RETURNS] == target;
		break;
	}
	p->branches++;
	p->mistakes += !known;
	return known;
}
