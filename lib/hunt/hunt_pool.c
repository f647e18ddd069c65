/* SPDX-License-Identifier: MIT
 *
 * The instructions that blocks are made of.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>
#include <tact/measure.h>

#include "base/random.h"
#include "hunt/hunt.h"

void hunt_pool_free(struct hunt_pool *pool)
{
	FREE_ALL(pool->part, pool->first);
	hash_free(&pool->index);
}

/* Returns the number of the part, HASH_NONE if it is none, or -TACT_E_NOMEM. */
static int64_t add(struct hunt_pool *pool, const uint8_t *code, const struct hunt_insn *insn,
		   bool is_real)
{
	const uint64_t hash = hash_bytes(code, insn->length);
	const uint32_t mnemonic = insn->value[HUNT_MNEMONIC];
	const size_t n_first = pool->first_capacity;
	struct hunt_part *part;
	size_t at = 0;
	uint32_t i;

	if (insn->is_branch)
		return HASH_NONE;
	while ((i = hash_next(&pool->index, hash, &at)) != HASH_NONE) {
		part = &pool->part[i];
		if (part->insn.length == insn->length && !memcmp(part->code, code, insn->length))
			return i;
	}
	if (tact_grow(&pool->first, &pool->first_capacity, mnemonic + 1u, sizeof(*pool->first)) <
		    0 ||
	    tact_grow(&pool->part, &pool->capacity, pool->n + 1, sizeof(*part)) < 0 ||
	    hash_add(&pool->index, hash, (uint32_t)pool->n) < 0)
		return -TACT_E_NOMEM;
	for (size_t k = n_first; k < pool->first_capacity; k++)
		pool->first[k] = 0;
	part = &pool->part[pool->n];
	*part = (struct hunt_part){.insn = *insn, .next = pool->first[mnemonic]};
	pool->first[mnemonic] = (uint32_t)pool->n + 1;
	part->insn.offset = 0;
	memcpy(part->code, code, insn->length);
	pool->n_real += is_real;
	return (int64_t)pool->n++;
}

int hunt_pool_add(struct hunt_pool *pool, const struct hunt_code *code, uint32_t *pieces)
{
	for (size_t i = 0; i < code->n; i++) {
		int64_t part = add(pool, code->code + code->insn[i].offset, &code->insn[i], true);

		if (part < 0)
			return -TACT_E_NOMEM;
		pieces[i] = (uint32_t)part;
	}
	return 0;
}

static int add_form(struct hunt_pool *pool, struct hunt_names *names, unsigned form,
		    bool is_indexed)
{
	const struct tact_isa *isa = tact_arch_isa(names->arch);
	uint8_t code[TACT_MAX_INSN_BYTES];
	const size_t size = isa->encode_form(isa->forms->name(form), is_indexed, code);
	struct hunt_insn insn;
	int status;

	if (!size ||
	    tact_measure_check(isa, code, size, TACT_MODE_UNROLL, NULL, 0) != TACT_MEASURE_OK)
		return 0;
	status = hunt_decode_one(&insn, code, size, names);
	if (status > 0 && add(pool, code, &insn, false) < 0)
		status = -TACT_E_NOMEM;
	return status == -TACT_E_NOMEM ? status : 0;
}

int hunt_pool_add_forms(struct hunt_pool *pool, struct hunt_names *names)
{
	const struct tact_isa *isa = tact_arch_isa(names->arch);
	const unsigned n = tact_isa_form_count(isa);

	for (unsigned form = 0; form < n && isa->encode_form; form++)
		if (tact_arch_has_form(names->arch, form) &&
		    (add_form(pool, names, form, false) < 0 ||
		     add_form(pool, names, form, true) < 0))
			return -TACT_E_NOMEM;
	return 0;
}

/* ---- choosing ---- */

static bool fits(const struct hunt_part *part, const struct hunt_pattern *pattern,
		 const struct hunt_pattern *but)
{
	return hunt_pattern_fits(pattern, &part->insn) &&
	       (!but || !hunt_pattern_fits(but, &part->insn));
}

/* Among those of one mnemonic, which are few. */
static const struct hunt_part *choose_named(const struct hunt_pool *pool,
					    const struct hunt_pattern *pattern,
					    const struct hunt_pattern *but, uint64_t *random)
{
	const uint32_t mnemonic = pattern->value[HUNT_MNEMONIC];
	const uint32_t first = mnemonic < pool->first_capacity ? pool->first[mnemonic] : 0;
	const struct hunt_part *chosen = NULL;
	uint64_t n = 0;

	for (uint32_t i = first; i; i = pool->part[i - 1].next)
		if (fits(&pool->part[i - 1], pattern, but) && !random_below(random, ++n))
			chosen = &pool->part[i - 1];
	return chosen;
}

const struct hunt_part *hunt_pool_choose(const struct hunt_pool *pool,
					 const struct hunt_pattern *pattern,
					 const struct hunt_pattern *but, uint64_t *random)
{
	enum { STRIDE = 7919 }; /* a prime: neighbours are alike */
	size_t at;

	if (pattern->fixed >> HUNT_MNEMONIC & 1)
		return choose_named(pool, pattern, but, random);
	at = pool->n ? random_below(random, pool->n) : 0;
	for (size_t i = 0; i < pool->n; i++) {
		if (fits(&pool->part[at], pattern, but))
			return &pool->part[at];
		at = (at + STRIDE) % pool->n;
	}
	return NULL;
}

bool hunt_pool_varies(const struct hunt_pool *pool, const struct hunt_pattern *pattern,
		      unsigned differs)
{
	/* Registers are renamed: whether they are the same is no property of a part. */
	struct hunt_pattern wide = *pattern, narrow = *pattern;
	uint64_t random = 0;

	wide.fixed &= (uint16_t) ~(differs | 1u << HUNT_SAME);
	narrow.fixed &= (uint16_t) ~(1u << HUNT_SAME | 1u << HUNT_FORM);
	return hunt_pool_choose(pool, &wide, &narrow, &random) != NULL;
}
