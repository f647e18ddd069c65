/* SPDX-License-Identifier: MIT
 *
 * Classes of blocks: which blocks are in them, and what they are in words.
 */
#include <string.h>

#include <tact/predict.h>

#include "hunt/hunt.h"

void hunt_class_of(struct hunt_class *class, const struct hunt_code *code)
{
	memset(class, 0, sizeof(*class));
	class->n = code->n < HUNT_MAX_PATTERNS ? code->n : HUNT_MAX_PATTERNS;
	class->relations = HUNT_DEPENDENCES | HUNT_ORDER | HUNT_ALIGNMENT | HUNT_COPIES;
	for (size_t i = 0; i < class->n; i++) {
		class->pattern[i].fixed = HUNT_ALL;
		memcpy(class->pattern[i].value, code->insn[i].value,
		       sizeof(class->pattern[i].value));
		class->producers[i] = code->producers[i];
	}
}

bool hunt_pattern_fits(const struct hunt_pattern *pattern, const struct hunt_insn *insn)
{
	for (unsigned f = 0; f < HUNT_N_FEATURES; f++)
		if (pattern->fixed >> f & 1 && pattern->value[f] != insn->value[f])
			return false;
	return true;
}

/* ---- finding the instructions of a class in a block ---- */

struct search {
	const struct hunt_class *class;
	const struct hunt_code *code;
	uint8_t at[HUNT_MAX_PATTERNS]; /* instruction of each pattern so far */
	uint64_t used;
	unsigned steps; /* left */
};

/* Whether what waits for what among the patterns so far is as the class says.  In a longer block,
 * others may stand between, so that only what waits must wait.
 */
static bool is_connected(const struct search *s, size_t n)
{
	for (size_t i = 0; i <= n; i++)
		for (size_t p = 0; p <= n; p++) {
			if (i != n && p != n)
				continue;
			if (s->class->producers[i] >> p & 1 &&
			    !(s->code->producers[s->at[i]] >> s->at[p] & 1))
				return false;
		}
	return true;
}

static bool place(struct search *s, size_t n)
{
	const unsigned relations = s->class->relations;
	size_t from = relations & HUNT_ORDER && n ? s->at[n - 1] + 1u : 0;

	if (n == s->class->n)
		return true;
	for (size_t i = from; i < s->code->n && s->steps; i++) {
		s->steps--;
		if (s->used >> i & 1 ||
		    !hunt_pattern_fits(&s->class->pattern[n], &s->code->insn[i]))
			continue;
		s->at[n] = (uint8_t)i;
		if (relations & HUNT_DEPENDENCES && !is_connected(s, n))
			continue;
		s->used |= UINT64_C(1) << i;
		if (place(s, n + 1))
			return true;
		s->used &= ~(UINT64_C(1) << i);
	}
	return false;
}

bool hunt_class_is_in(const struct hunt_class *class, const struct hunt_code *code)
{
	struct search s = {.class = class, .code = code, .steps = 20000};

	return class->n <= code->n && place(&s, 0);
}

static bool is_same_graph(const struct hunt_class *class, const struct hunt_code *code)
{
	for (size_t i = 0; i < class->n; i++)
		if (class->producers[i] != code->producers[i])
			return false;
	return true;
}

bool hunt_class_has(const struct hunt_class *class, const struct hunt_code *code)
{
	const bool is_exact = class->relations & HUNT_DEPENDENCES && class->relations & HUNT_ORDER;

	if (class->relations & HUNT_COPIES && class->n != code->n)
		return false;
	if (is_exact && class->n == code->n && !is_same_graph(class, code))
		return false;
	for (size_t i = 0; i < code->n; i++) {
		bool fits = false;

		for (size_t k = 0; k < class->n && !fits; k++)
			fits = hunt_pattern_fits(&class->pattern[k], &code->insn[i]);
		if (!fits)
			return false;
	}
	return hunt_class_is_in(class, code);
}

/* ---- words ---- */

static bool is_fixed(const struct hunt_pattern *p, enum hunt_feature f)
{
	return p->fixed >> f & 1;
}

/* What it is: "MOV load with an index", "any store", "any SHIFT on registers". */
static void put_kind(const struct hunt_pattern *p, const struct hunt_names *names, struct text *out)
{
	static const char *const memory[] = {"on registers", "load", "store", "load and store",
					     "address"};
	const uint32_t access = p->value[HUNT_MEMORY];
	const bool has_ports = is_fixed(p, HUNT_PORTS), has_group = is_fixed(p, HUNT_GROUP);
	const bool is_memory = is_fixed(p, HUNT_MEMORY) && access != HUNT_NO_MEMORY;

	if (is_fixed(p, HUNT_MNEMONIC)) {
		text_add(out, names->name[p->value[HUNT_MNEMONIC]]);
	} else {
		text_add(out, "any");
		if (has_group)
			text_printf(out, " %s", names->name[p->value[HUNT_GROUP]]);
		if (!has_group && !is_memory)
			text_add(out, " instruction");
	}
	if (is_fixed(p, HUNT_FORM))
		return;
	if (is_fixed(p, HUNT_MEMORY))
		text_printf(out, " %s", memory[access]);
	if (has_ports && !is_fixed(p, HUNT_MNEMONIC))
		text_printf(out, " (%s)", names->name[p->value[HUNT_PORTS]]);
}

static void put_address(const struct hunt_pattern *p, struct text *out)
{
	static const char *const address[] = {"", "without index", "with an index",
					      "relative to the code"};

	if (is_fixed(p, HUNT_ADDRESS) && p->value[HUNT_ADDRESS])
		text_printf(out, " %s", address[p->value[HUNT_ADDRESS]]);
}

static void put_pattern(const struct hunt_pattern *p, const struct hunt_names *names,
			struct text *out)
{
	put_kind(p, names, out);
	if (is_fixed(p, HUNT_FORM) && p->value[HUNT_FORM] != TACT_FORM_NONE) {
		const char *form =
			tact_isa_form_name(tact_arch_isa(names->arch), p->value[HUNT_FORM]);
		const char *operands = strchr(form, '(');

		text_printf(out, " %s", operands ? operands : form);
		if (is_fixed(p, HUNT_ADDRESS) && p->value[HUNT_ADDRESS] == HUNT_INDEXED)
			text_add(out, " with an index");
	} else {
		put_address(p, out);
		if (is_fixed(p, HUNT_WIDTH) && p->value[HUNT_WIDTH])
			text_printf(out, ", %u bits", p->value[HUNT_WIDTH]);
		if (is_fixed(p, HUNT_MASK) && p->value[HUNT_MASK])
			text_add(out, p->value[HUNT_MASK] == ISA_MASKING_ZEROES ? ", zero-masked"
										: ", masked");
		if (is_fixed(p, HUNT_IMMEDIATE) && p->value[HUNT_IMMEDIATE])
			text_printf(out, ", %u-bit constant", p->value[HUNT_IMMEDIATE]);
	}
	if (is_fixed(p, HUNT_SAME) && p->value[HUNT_SAME])
		text_add(out, ", all registers the same");
	if (is_fixed(p, HUNT_HIGH) && p->value[HUNT_HIGH] && !is_fixed(p, HUNT_FORM))
		text_add(out, ", high byte");
}

static bool is_same_pattern(const struct hunt_pattern *a, const struct hunt_pattern *b)
{
	if (a->fixed != b->fixed)
		return false;
	for (unsigned f = 0; f < HUNT_N_FEATURES; f++)
		if (a->fixed >> f & 1 && a->value[f] != b->value[f])
			return false;
	return true;
}

static const char *ordinal(size_t i)
{
	static const char *const names[] = {"1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"};

	return NAME_OF(names, i, "last");
}

/* Which waits for which, in the order of the example; "the 2nd waits for the 1st". */
static void put_links(const struct hunt_class *class, struct text *out)
{
	enum { MOST = 3 };
	unsigned n = 0;

	for (size_t i = 0; i < class->n; i++)
		for (size_t k = 0; k < class->n; k++) {
			if (i == k || !(class->producers[i] >> k & 1))
				continue;
			if (n++ < MOST)
				text_printf(out, "%s the %s waits for the %s", n > 1 ? "," : ";",
					    ordinal(i), ordinal(k));
		}
	if (n > MOST)
		text_add(out, ", and so on");
}

static void put_relations(const struct hunt_class *class, struct text *out)
{
	size_t n_chains = 0, n_links = 0;

	for (size_t i = 0; i < class->n; i++) {
		n_chains += class->producers[i] >> i & 1;
		n_links += (class->producers[i] & ~(UINT64_C(1) << i)) != 0;
	}
	if (class->relations & HUNT_DEPENDENCES) {
		put_links(class, out);
		if (n_chains)
			text_add(out, class->n == 1	     ? "; waits for its own result"
				      : n_chains == class->n ? "; each waits for its own result"
							     : "; one waits for its own result");
		else if (!n_links)
			text_add(out, class->n == 1 ? "; waits for nothing"
						    : "; none waits for another");
	}
	if (class->n > 1 && class->relations & HUNT_ORDER)
		text_add(out, "; in this order");
}

void hunt_class_words(const struct hunt_class *class, const struct hunt_names *names,
		      struct text *out)
{
	uint64_t said = 0;
	bool is_first = true;

	for (size_t i = 0; i < class->n; i++) {
		unsigned copies = 1;

		if (said >> i & 1)
			continue;
		for (size_t k = i + 1; k < class->n; k++)
			if (is_same_pattern(&class->pattern[i], &class->pattern[k])) {
				said |= UINT64_C(1) << k;
				copies++;
			}
		if (!is_first)
			text_add(out, " + ");
		is_first = false;
		if (copies > 1)
			text_printf(out, "%u x ", copies);
		put_pattern(&class->pattern[i], names, out);
	}
	if (!class->n)
		text_add(out, "any block");
	put_relations(class, out);
	if (class->bottleneck)
		text_printf(out, "; predicted bottleneck: %s",
			    tact_bound_name((enum tact_bound)(class->bottleneck - 1)));
}
