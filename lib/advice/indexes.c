/* SPDX-License-Identifier: MIT
 *
 * Addresses with an index, which split micro-fused uops or need a port of their own: the same with
 * a pointer that advances.
 */
#include "advice/advisor.h"

enum { MAX_GROUPS = 4 };

/* Accesses that differ only in their displacements. */
struct group {
	uint8_t base, index, scale, pointer;
	int64_t step; /* that the pointer advances by where the index changes */
};

struct groups {
	struct group list[MAX_GROUPS];
	size_t n;
	size_t change[MAX_GROUPS]; /* the instruction that changes the index; n_insns: none */
};

static const struct tact_operand *indexed_operand(const struct tact_insn *insn)
{
	for (unsigned o = 0; o < insn->n_operands; o++) {
		const struct tact_operand *p = &insn->operand[o];

		if (p->kind == TACT_OPERAND_MEM && p->index != TACT_REG_NONE && p->explicit_operand)
			return p;
	}
	return NULL;
}

/* How far an instruction moves its register, if that is a constant of 64 bits. */
static bool step_of(const struct block_insn *bi, int64_t *step)
{
	if (bi->insn->operand[0].kind != TACT_OPERAND_REG || bi->insn->operand[0].bits != 64)
		return false;
	switch ((enum tact_value_effect)bi->lowered->value_effect) {
	case TACT_VALUE_ADD:
		*step = bi->constants.immediate;
		return true;
	case TACT_VALUE_SUB:
		*step = -bi->constants.immediate;
		return true;
	case TACT_VALUE_INC:
		*step = 1;
		return true;
	case TACT_VALUE_DEC:
		*step = -1;
		return true;
	default:
		return false;
	}
}

/* Finds where the index changes: nowhere, or once by a constant.  The base must not change. */
static bool find_change(const struct tact_block *block, struct group *g, size_t *change)
{
	*change = block->n_insns;
	g->step = 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		if (g->base != TACT_REG_NONE && advice_writes(block, i, g->base))
			return false;
		if (!advice_writes(block, i, g->index))
			continue;
		if (*change != block->n_insns || !step_of(&block->insns[i], &g->step) ||
		    g->step != (int32_t)g->step)
			return false;
		*change = i;
		g->step *= g->scale ? g->scale : 1;
	}
	return true;
}

static struct group *group_of(struct groups *s, const struct tact_operand *o)
{
	for (size_t k = 0; k < s->n; k++)
		if (s->list[k].base == o->base && s->list[k].index == o->index &&
		    s->list[k].scale == o->scale)
			return &s->list[k];
	return NULL;
}

/* Collects the groups of the instructions with one of these attributes. */
static bool find_groups(struct tact_advisor *a, struct groups *s, uint32_t attributes)
{
	uint64_t set = a->free_general;

	s->n = 0;
	for (size_t i = 0; i < a->block->n_insns; i++) {
		const struct tact_insn *insn = a->block->insns[i].insn;
		const struct tact_operand *o = indexed_operand(insn);
		struct group g;

		if (!o || !(insn->attributes & attributes) || o->segment != TACT_REG_NONE ||
		    !isa_is_general(a->block->arch->isa, o->index) || group_of(s, o))
			continue;
		g = (struct group){.base = o->base, .index = o->index, .scale = o->scale};
		if (s->n == MAX_GROUPS || !set || !find_change(a->block, &g, &s->change[s->n]))
			continue;
		g.pointer = advice_take_general(&set);
		s->list[s->n++] = g;
	}
	return s->n > 0;
}

static void add_changed(struct tact_advisor *a, struct groups *s, size_t i, uint32_t attributes)
{
	const struct tact_insn *insn = a->block->insns[i].insn;
	const struct tact_operand *o = indexed_operand(insn);
	const struct group *g = o && insn->attributes & attributes ? group_of(s, o) : NULL;
	uint8_t changed[TACT_MAX_INSN_BYTES];
	size_t size;
	const uint8_t *code = advice_bytes(a, i, &size);

	for (size_t k = 0; k < s->n; k++)
		if (s->change[k] == i)
			advice_add(
				a, changed,
				a->rewriter->advance(s->list[k].pointer, s->list[k].step, changed));
	if (!g) {
		advice_add(a, code, size);
		return;
	}
	advice_add(a, changed, a->rewriter->without_index(code, size, g->pointer, changed));
	advice_about(a, i);
}

static bool try_groups(struct tact_advisor *a, struct groups *s, uint32_t attributes)
{
	if (!find_groups(a, s, attributes))
		return false;
	advice_begin(a, "indexed-address");
	for (size_t i = 0; i < a->block->n_insns; i++)
		add_changed(a, s, i, attributes);
	return advice_try(a);
}

static void say(struct tact_advisor *a, struct advice_found *f, const struct groups *s, bool stores)
{
	const struct tact_isa *isa = a->block->arch->isa;

	text_printf(&f->text, "instruction%s ", f->n_insns > 1 ? "s" : "");
	advice_list(&f->text, f->insns, f->n_insns);
	text_printf(&f->text, ": an indexed address %s; use a pointer that advances instead",
		    stores ? "splits the store, or keeps it from a port" : "costs a uop more");
	text_printf(&f->assumes, "%s free (here ", s->n > 1 ? "registers are" : "a register is");
	for (size_t k = 0; k < s->n; k++)
		text_printf(&f->assumes, "%s%s", k ? ", " : "",
			    tact_isa_reg_name(isa, s->list[k].pointer));
	text_add(&f->assumes, ") and set before");
}

void advise_indexes(struct tact_advisor *a)
{
	uint32_t attributes = TACT_INSN_STORE;
	struct advice_found *f;
	struct groups s;
	double stores = a->before;

	if (try_groups(a, &s, TACT_INSN_STORE))
		stores = a->draft.after;
	if (try_groups(a, &s, TACT_INSN_STORE | TACT_INSN_LOAD) &&
	    a->draft.after < stores - 0.02 * a->before)
		attributes |= TACT_INSN_LOAD;
	if (!try_groups(a, &s, attributes))
		return;
	f = advice_keep(a);
	if (f)
		say(a, f, &s, attributes == TACT_INSN_STORE);
}
