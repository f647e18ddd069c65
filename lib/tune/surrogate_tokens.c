/* SPDX-License-Identifier: MIT
 *
 * Instructions as tokens, as in Ithemal: operation, <S>, what is read, <D>, what is written, <E>.
 * Equal tokens are one type, however often they occur.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "block/block.h"
#include "tune/surrogate.h"

/* Forms come first, then registers, then these. */
enum {
	TOKEN_NO_FORM,
	TOKEN_SOURCES,
	TOKEN_RESULTS,
	TOKEN_END,
	TOKEN_MEMORY,
	TOKEN_CONSTANT,
	TOKEN_FLAGS, /* one for each group of them */
	N_SPECIAL = TOKEN_FLAGS + ISA_MAX_FLAG_GROUPS
};

struct writer {
	struct net_type *type;
	const struct tact_isa *isa;
};

static void put(struct net_type *type, unsigned token)
{
	if (type->n < NET_MAX_TOKENS)
		type->token[type->n++] = (uint16_t)token;
}

/* Forms come first, then special tokens, then registers. */
static unsigned special(const struct writer *w, unsigned which)
{
	return tact_isa_form_count(w->isa) + which;
}

static void put_special(struct writer *w, unsigned which)
{
	put(w->type, special(w, which));
}

static void put_register(struct writer *w, unsigned reg)
{
	if (reg != TACT_REG_NONE)
		put_special(w, N_SPECIAL + reg);
}

static void put_operand(struct writer *w, const struct tact_operand *o)
{
	if (!o->implicit_pointer && o->role != TACT_ROLE_FLAGS && o->role != TACT_ROLE_POINTER)
		put_register(w, o->reg);
}

static void put_flags(struct writer *w, unsigned groups)
{
	for (unsigned g = 0; groups >> g; g++)
		if (groups >> g & 1)
			put_special(w, TOKEN_FLAGS + g);
}

static void put_sources(struct writer *w, const struct tact_insn *insn)
{
	for (unsigned k = 0; k < insn->n_operands; k++) {
		const struct tact_operand *o = &insn->operand[k];
		bool is_read = o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ);

		if (o->kind == TACT_OPERAND_IMM)
			put_special(w, TOKEN_CONSTANT);
		else if (o->kind == TACT_OPERAND_REG && is_read)
			put_operand(w, o);
		else if (o->kind == TACT_OPERAND_MEM && is_read)
			put_special(w, TOKEN_MEMORY);
		if ((o->kind == TACT_OPERAND_MEM || o->kind == TACT_OPERAND_AGEN) &&
		    !o->implicit_pointer) {
			put_register(w, o->base);
			put_register(w, o->index);
		}
	}
	put_flags(w, insn->flags_read);
}

static void put_results(struct writer *w, const struct tact_insn *insn)
{
	for (unsigned k = 0; k < insn->n_operands; k++) {
		const struct tact_operand *o = &insn->operand[k];

		if (!(o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE)))
			continue;
		if (o->kind == TACT_OPERAND_REG)
			put_operand(w, o);
		else if (o->kind == TACT_OPERAND_MEM)
			put_special(w, TOKEN_MEMORY);
	}
	put_flags(w, insn->flags_written);
}

static void describe(struct net_type *type, const struct tact_isa *isa,
		     const struct tact_insn *insn)
{
	struct writer w = {type, isa};

	memset(type, 0, sizeof(*type));
	put(type, insn->form < tact_isa_form_count(isa) ? insn->form : special(&w, TOKEN_NO_FORM));
	put_special(&w, TOKEN_SOURCES);
	put_sources(&w, insn);
	put_special(&w, TOKEN_RESULTS);
	put_results(&w, insn);
	put_special(&w, TOKEN_END);
}

/* Returns the number of a type, a new one if necessary. */
static long find_type(struct surrogate *s, struct hash *index, const struct net_type *type)
{
	const uint64_t hash = hash_bytes(type, sizeof(*type));
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(index, hash, &at)) != HASH_NONE)
		if (!memcmp(&s->types[i], type, sizeof(*type)))
			return i;
	if (tact_grow(&s->types, &s->type_capacity, s->n_types + 1, sizeof(*s->types)) < 0 ||
	    hash_add(index, hash, (uint32_t)s->n_types) < 0)
		return -TACT_E_NOMEM;
	s->types[s->n_types] = *type;
	return (long)s->n_types++;
}

static int add_row(struct surrogate *s, struct hash *index, size_t r)
{
	struct tact_tuner *t = s->t;
	const struct tune_row *row = &t->rows.rows[r];
	struct net_type type;
	int status = tact_block_load(t->decoder, t->rows.code + row->code, row->size, NULL);

	if (status < 0)
		return status;
	s->row_length[r] = (uint32_t)t->decoder->n_insns;
	s->row_types[r] = calloc(t->decoder->n_insns, sizeof(uint32_t));
	if (!s->row_types[r])
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < t->decoder->n_insns; i++) {
		long number;

		describe(&type, t->decoder->arch->isa, t->decoder->insns[i].insn);
		number = find_type(s, index, &type);
		if (number < 0)
			return (int)number;
		s->row_types[r][i] = (uint32_t)number;
	}
	return 0;
}

/* Tokens that occur get small numbers. */
static int renumber(struct surrogate *s)
{
	const struct tact_isa *isa = s->t->decoder->arch->isa;
	unsigned all = tact_isa_form_count(isa) + N_SPECIAL + isa->registers.n;
	uint32_t *number = calloc(all, sizeof(*number));

	if (!number)
		return -TACT_E_NOMEM;
	s->vocabulary = 0;
	for (size_t i = 0; i < s->n_types; i++) {
		for (unsigned k = 0; k < s->types[i].n; k++) {
			uint32_t *n = &number[s->types[i].token[k]];

			if (!*n)
				*n = ++s->vocabulary;
			s->types[i].token[k] = (uint16_t)(*n - 1);
		}
	}
	free(number);
	return 0;
}

int surrogate_tokens(struct surrogate *s)
{
	struct hash index = {0};
	int status = 0;

	s->row_types = calloc(s->t->rows.n, sizeof(uint32_t *));
	s->row_length = calloc(s->t->rows.n, sizeof(*s->row_length));
	s->train = calloc(s->t->rows.n, sizeof(*s->train));
	if (!s->row_types || !s->row_length || !s->train)
		return -TACT_E_NOMEM;
	for (size_t r = 0; r < s->t->rows.n && status >= 0; r++) {
		status = add_row(s, &index, r);
		if (s->t->rows.rows[r].part == TACT_TUNE_TRAIN)
			s->train[s->n_train++] = (uint32_t)r;
	}
	hash_free(&index);
	return status < 0 ? status : renumber(s);
}
