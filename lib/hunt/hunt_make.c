/* SPDX-License-Identifier: MIT
 *
 * Makes blocks: of real ones that are changed, of parts, and as members of a class.
 *
 * Registers of parts are renamed.  Some general registers only hold addresses, so that most blocks
 * access the memory that they are given; where one does not, the harness says so.
 */
#include <string.h>

#include "base/random.h"
#include "hunt/hunt.h"
#include "isa/rewrite.h"

enum { MAX_SLOTS = 8, ATTEMPTS = 40 };

/* ---- registers ---- */

enum role { DATA, BASE, INDEX };

struct slot {
	uint8_t reg;
	bool is_general;
	enum role role;
};

struct slots {
	struct slot slot[MAX_SLOTS];
	size_t n;
};

static void add_slot(const struct tact_isa *isa, struct slots *s, uint8_t reg, enum role role,
		     bool is_merged)
{
	const bool is_general = isa_is_general(isa, reg);

	if ((!is_general && !isa_is_vector(isa, reg)) || s->n == MAX_SLOTS)
		return;
	for (size_t i = 0; i < s->n && is_merged; i++)
		if (s->slot[i].reg == reg)
			return;
	s->slot[s->n++] = (struct slot){reg, is_general, role};
}

/* The registers that an instruction names, each once if they are merged. */
static void find_slots(const struct tact_isa *isa, const uint8_t *code, size_t size, bool is_merged,
		       struct slots *out)
{
	struct tact_insn x;

	out->n = 0;
	if (tact_isa_decode(isa, &x, code, size) <= 0)
		return;
	for (unsigned i = 0; i < x.n_operands; i++) {
		const struct tact_operand *o = &x.operand[i];

		if (!o->explicit_operand)
			continue;
		if (o->kind == TACT_OPERAND_REG)
			add_slot(isa, out, o->reg, DATA, is_merged);
		if (o->kind != TACT_OPERAND_MEM && o->kind != TACT_OPERAND_AGEN)
			continue;
		if (o->base != TACT_REG_NONE)
			add_slot(isa, out, o->base, BASE, is_merged);
		if (o->index != TACT_REG_NONE)
			add_slot(isa, out, o->index, INDEX, is_merged);
	}
}

/* The last quarter of the general registers is for addresses. */
static uint8_t random_register(struct hunt_maker *m, bool is_general, enum role role)
{
	const struct isa_registers *r = &m->isa->registers;
	const unsigned first = r->n_general - r->n_general / 4u;
	uint8_t reg;

	if (!is_general)
		return (uint8_t)(r->first_vector + random_below(&m->random, 16));
	if (role != DATA)
		return (uint8_t)(first + random_below(&m->random, r->n_general - first));
	do
		reg = (uint8_t)random_below(&m->random, first);
	while (reg == r->stack_pointer || reg == r->frame_pointer);
	return reg;
}

static uint8_t slot_of(const struct slots *s, bool is_general, enum role role, size_t number)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->slot[i].is_general == is_general && s->slot[i].role == role && !number--)
			return s->slot[i].reg;
	return TACT_REG_NONE;
}

/* A register that neither the instruction nor its new registers use. */
static uint8_t unused(const struct hunt_maker *m, const struct slots *s, const uint8_t *to,
		      const uint8_t *taken, size_t n, bool is_general)
{
	const struct isa_registers *r = &m->isa->registers;
	const uint8_t from = is_general ? 0 : r->first_vector;
	const uint8_t end = is_general ? r->n_general : (uint8_t)(r->first_vector + 16);

	for (uint8_t reg = from; reg < end; reg++) {
		bool is_used = reg == r->stack_pointer;

		for (size_t i = 0; i < s->n; i++)
			is_used |= s->slot[i].reg == reg || to[i] == reg;
		for (size_t i = 0; i < n; i++)
			is_used |= taken[i] == reg;
		if (!is_used)
			return reg;
	}
	return TACT_REG_NONE;
}

static size_t rename_one(const struct hunt_maker *m, uint8_t *code, size_t size, uint8_t from,
			 uint8_t to)
{
	uint8_t out[TACT_MAX_INSN_BYTES];
	size_t n = from == to ? 0 : m->isa->rewriter->rename(code, size, from, to, out);

	if (!n)
		return size;
	memcpy(code, out, n);
	return n;
}

/* Renames all at once: by way of registers that nobody uses.  Registers that cannot be renamed
 * stay.
 */
static size_t rename_all(const struct hunt_maker *m, uint8_t *code, size_t size,
			 const struct slots *s, const uint8_t *to)
{
	uint8_t between[MAX_SLOTS];

	for (size_t i = 0; i < s->n; i++) {
		between[i] = unused(m, s, to, between, i, s->slot[i].is_general);
		if (between[i] == TACT_REG_NONE)
			return size;
		size = rename_one(m, code, size, s->slot[i].reg, between[i]);
	}
	for (size_t i = 0; i < s->n; i++)
		size = rename_one(m, code, size, between[i], to[i]);
	return size;
}

/* Gives a part the registers of an instruction, or random ones where that has none.  Returns the
 * size.
 */
static size_t dress(struct hunt_maker *m, const struct hunt_part *part, const uint8_t *like,
		    size_t like_size, uint8_t *out)
{
	struct slots own, other = {.n = 0};
	uint8_t to[MAX_SLOTS];
	size_t numbers[2][3] = {{0}};

	memcpy(out, part->code, part->insn.length);
	find_slots(m->isa, part->code, part->insn.length, true, &own);
	if (like)
		find_slots(m->isa, like, like_size, false, &other);
	for (size_t i = 0; i < own.n; i++) {
		const struct slot *s = &own.slot[i];

		to[i] = slot_of(&other, s->is_general, s->role, numbers[s->is_general][s->role]++);
		if (to[i] == TACT_REG_NONE)
			to[i] = random_register(m, s->is_general, s->role);
	}
	return rename_all(m, out, part->insn.length, &own, to);
}

/* ---- putting blocks together ---- */

struct pieces {
	uint8_t code[HUNT_MAX_INSNS][TACT_MAX_INSN_BYTES];
	uint8_t size[HUNT_MAX_INSNS];
	size_t n;
};

static void take_apart(const struct hunt_code *code, size_t from, size_t n, struct pieces *p)
{
	p->n = 0;
	for (size_t i = from; i < from + n && i < code->n; i++, p->n++) {
		memcpy(p->code[p->n], code->code + code->insn[i].offset, code->insn[i].length);
		p->size[p->n] = code->insn[i].length;
	}
}

static bool put_together(const struct pieces *p, struct hunt_names *names, struct hunt_code *out)
{
	uint8_t code[HUNT_MAX_CODE];
	size_t size = 0;

	for (size_t i = 0; i < p->n; i++) {
		memcpy(code + size, p->code[i], p->size[i]);
		size += p->size[i];
	}
	return size && hunt_decode(out, code, size, names) >= 0 && out->n == p->n;
}

bool hunt_without(const struct hunt_code *code, size_t first, size_t end, struct hunt_names *names,
		  struct hunt_code *out)
{
	struct pieces p;
	size_t n = 0;

	take_apart(code, 0, code->n, &p);
	for (size_t i = 0; i < p.n; i++) {
		if (i >= first && i < end)
			continue;
		if (n != i) {
			memcpy(p.code[n], p.code[i], sizeof(p.code[n]));
			p.size[n] = p.size[i];
		}
		n++;
	}
	p.n = n;
	return n && put_together(&p, names, out);
}

static void insert(struct pieces *p, size_t at, const uint8_t *code, size_t size)
{
	if (p->n == HUNT_MAX_INSNS)
		return;
	for (size_t i = p->n; i > at; i--) {
		memcpy(p->code[i], p->code[i - 1], sizeof(p->code[i]));
		p->size[i] = p->size[i - 1];
	}
	memcpy(p->code[at], code, size);
	p->size[at] = (uint8_t)size;
	p->n++;
}

/* ---- new blocks ---- */

static const struct hunt_part *random_part(struct hunt_maker *m)
{
	const struct hunt_pool *pool = m->pool;
	struct hunt_pattern named = {.fixed = 1 << HUNT_MNEMONIC};

	/* Parts of the data set come first. */
	if (pool->n_real && random_below(&m->random, 2))
		return &pool->part[random_below(&m->random, pool->n_real)];
	/* Some mnemonics have hundreds of forms, others have one. */
	do
		named.value[HUNT_MNEMONIC] =
			(uint32_t)random_below(&m->random, pool->first_capacity);
	while (!pool->first[named.value[HUNT_MNEMONIC]]);
	return hunt_pool_choose(pool, &named, NULL, &m->random);
}

static void insert_random(struct hunt_maker *m, struct pieces *p)
{
	uint8_t code[TACT_MAX_INSN_BYTES];
	const size_t size = dress(m, random_part(m), NULL, 0, code);

	insert(p, random_below(&m->random, p->n + 1), code, size);
}

/* Another instruction of the same name, or for the same ports, with the same registers. */
static void replace(struct hunt_maker *m, struct pieces *p, size_t i)
{
	struct hunt_insn x;
	struct hunt_pattern like = {.fixed = 1 << HUNT_MNEMONIC};
	const struct hunt_part *part;
	uint8_t code[TACT_MAX_INSN_BYTES];

	if (hunt_decode_one(&x, p->code[i], p->size[i], m->names) < 0)
		return;
	if (random_below(&m->random, 2))
		like.fixed = 1 << HUNT_PORTS | 1 << HUNT_MEMORY;
	memcpy(like.value, x.value, sizeof(like.value));
	part = hunt_pool_choose(m->pool, &like, NULL, &m->random);
	if (!part)
		return;
	p->size[i] = (uint8_t)dress(m, part, p->code[i], p->size[i], code);
	memcpy(p->code[i], code, p->size[i]);
}

static void swap(struct pieces *p, size_t a, size_t b)
{
	uint8_t code[TACT_MAX_INSN_BYTES];
	const uint8_t size = p->size[a];

	memcpy(code, p->code[a], sizeof(code));
	memcpy(p->code[a], p->code[b], sizeof(code));
	memcpy(p->code[b], code, sizeof(code));
	p->size[a] = p->size[b];
	p->size[b] = size;
}

static void change(struct hunt_maker *m, struct pieces *p)
{
	const size_t i = random_below(&m->random, p->n);

	switch (random_below(&m->random, 5)) {
	case 0:
		if (p->n > 1) {
			for (size_t k = i; k + 1 < p->n; k++)
				swap(p, k, k + 1);
			p->n--;
		}
		break;
	case 1:
		insert(p, random_below(&m->random, p->n + 1), p->code[i], p->size[i]);
		break;
	case 2:
		swap(p, i, random_below(&m->random, p->n));
		break;
	case 3:
		replace(m, p, i);
		break;
	default:
		insert_random(m, p);
	}
}

bool hunt_make_one(struct hunt_maker *m, const struct hunt_part *part, bool is_chain,
		   struct hunt_code *out)
{
	struct pieces p = {.n = 0};
	uint8_t code[TACT_MAX_INSN_BYTES], to[MAX_SLOTS];
	struct slots own;
	size_t size = part->insn.length;

	memcpy(code, part->code, size);
	find_slots(m->isa, code, size, true, &own);
	for (size_t i = 0; i < own.n; i++) {
		/* The first register of this kind; addresses too, if they are to be part of it. */
		size_t k = 0;

		while (k < i && own.slot[k].is_general != own.slot[i].is_general)
			k++;
		to[i] = own.slot[k].reg;
	}
	if (is_chain)
		size = rename_all(m, code, size, &own, to);
	insert(&p, 0, code, size);
	return put_together(&p, m->names, out) &&
	       tact_measure_check(m->isa, out->code, out->size, m->mode, NULL, 0) ==
		       TACT_MEASURE_OK;
}

bool hunt_make(struct hunt_maker *m, const struct hunt_code *base, struct hunt_code *out)
{
	struct pieces p = {.n = 0};
	unsigned n;

	if (!m->pool->n)
		return false;
	if (base) {
		const size_t most = base->n < m->most_insns ? base->n : m->most_insns;

		take_apart(base, random_below(&m->random, base->n - most + 1), most, &p);
		/* One in four stays as it is. */
		for (n = (unsigned)random_below(&m->random, 4); n && p.n; n--)
			change(m, &p);
	} else {
		n = 1 + (unsigned)random_below(&m->random, m->most_insns);
		n = 1 + (unsigned)random_below(&m->random, n); /* short ones more often */
		while (p.n < n) {
			const size_t last = p.n;

			insert_random(m, &p);
			if (last && p.n < n && !random_below(&m->random, 3))
				insert(&p, p.n, p.code[0], p.size[0]);
		}
	}
	if (p.n > m->most_insns)
		p.n = m->most_insns;
	return put_together(&p, m->names, out) &&
	       tact_measure_check(m->isa, out->code, out->size, m->mode, NULL, 0) ==
		       TACT_MEASURE_OK;
}

/* ---- members of a class ---- */

static bool put_member_insn(struct hunt_maker *m, const struct hunt_class *class,
			    const struct hunt_code *example, size_t i, bool must_differ,
			    struct pieces *p)
{
	const uint8_t *like = example->code + example->insn[i].offset;
	const size_t like_size = example->insn[i].length;
	const bool is_free = !(class->relations & HUNT_DEPENDENCES);
	struct hunt_part own = {.insn = example->insn[i]};
	/* Whether registers are the same is decided when they are renamed. */
	struct hunt_pattern exact = {.fixed = HUNT_ALL & ~(1 << HUNT_FORM | 1 << HUNT_SAME)};
	struct hunt_pattern wanted = class->pattern[i];
	const struct hunt_part *part = &own;
	uint8_t code[TACT_MAX_INSN_BYTES];
	size_t size;

	wanted.fixed &= (uint16_t) ~(1 << HUNT_SAME);
	memcpy(own.code, like, like_size);
	memcpy(exact.value, example->insn[i].value, sizeof(exact.value));
	/* Only another instruction can have the same register twice, or not. */
	if (must_differ || (is_free ? random_below(&m->random, 4) : !random_below(&m->random, 3)))
		part = hunt_pool_choose(m->pool, &wanted, must_differ ? &exact : NULL, &m->random);
	if (!part && must_differ)
		return false;
	if (!part)
		part = &own;
	if (is_free && random_below(&m->random, 4))
		like = NULL; /* registers of its own */
	size = dress(m, part, like, like_size, code);
	insert(p, p->n, code, size);
	return true;
}

/* Other registers for the whole block, so that members differ: what waits for what stays. */
static void exchange(struct hunt_maker *m, struct pieces *p, uint8_t a, uint8_t b, uint8_t between)
{
	for (size_t i = 0; i < p->n && a != b; i++) {
		size_t size = rename_one(m, p->code[i], p->size[i], a, between);

		size = rename_one(m, p->code[i], size, b, a);
		p->size[i] = (uint8_t)rename_one(m, p->code[i], size, between, b);
	}
}

/* A register of the same half: the other half may need longer encodings. */
static uint8_t fellow(struct hunt_maker *m, uint8_t reg, uint8_t first, uint8_t n, uint8_t but)
{
	const uint8_t half = (uint8_t)(n / 2), start = (uint8_t)(reg - first < half ? 0 : half);
	uint8_t other;

	do
		other = (uint8_t)(first + start + random_below(&m->random, half));
	while (other == but || other == m->isa->registers.stack_pointer);
	return other;
}

static void shuffle_registers(struct hunt_maker *m, struct pieces *p)
{
	const struct isa_registers *r = &m->isa->registers;
	/* None of them is chosen below. */
	const uint8_t general = r->frame_pointer, vector = (uint8_t)(r->first_vector + 15);

	for (unsigned i = 0; i < 2; i++) {
		const uint8_t a = random_register(m, true, DATA);
		const uint8_t b = (uint8_t)(r->first_vector + random_below(&m->random, 15));

		exchange(m, p, a, fellow(m, a, 0, r->n_general, general), general);
		exchange(m, p, b, fellow(m, b, r->first_vector, 16, vector), vector);
	}
}

bool hunt_make_member(struct hunt_maker *m, const struct hunt_class *class,
		      const struct hunt_code *example, size_t insn, unsigned differs,
		      struct hunt_code *out)
{
	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct pieces p = {.n = 0};
		bool is_good = true;

		for (size_t i = 0; i < class->n && is_good; i++) {
			is_good = put_member_insn(m, class, example, i, differs && i == insn, &p);
			if (!(class->relations & HUNT_COPIES) && !random_below(&m->random, 2))
				is_good &= put_member_insn(m, class, example, i, false, &p);
		}
		for (size_t i = p.n; !(class->relations & HUNT_ORDER) && i > 1; i--)
			swap(&p, i - 1, random_below(&m->random, i));
		if (random_below(&m->random, 3))
			shuffle_registers(m, &p);
		if (is_good && put_together(&p, m->names, out) && hunt_class_has(class, out) &&
		    tact_measure_check(m->isa, out->code, out->size, m->mode, NULL, 0) ==
			    TACT_MEASURE_OK)
			return true;
	}
	return false;
}
