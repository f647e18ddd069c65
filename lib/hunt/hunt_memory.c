/* SPDX-License-Identifier: MIT
 *
 * What a judge has said before: measurements of an earlier hunt, or of another machine.
 */
#include <stdlib.h>
#include <string.h>

#include "hunt/hunt.h"

struct known {
	const uint8_t *code; /* in the arena */
	uint32_t code_size;
	uint8_t alignment;
	struct tact_hunt_value value;
};

struct tact_hunt_memory {
	struct tact_hunt_memory_options opt;
	struct known *known; /* owned */
	size_t n, capacity;
	struct hash index;
	struct tact_arena arena;
};

int tact_hunt_memory_create(struct tact_hunt_memory **out,
			    const struct tact_hunt_memory_options *opt)
{
	struct tact_hunt_memory *m;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&m, sizeof(*m), out, "an argument is missing", NULL);
	if (status < 0)
		return status;
	status = tact_read_options(&m->opt, sizeof(m->opt), opt);
	return HAND_OVER(out, m, status, tact_hunt_memory_destroy);
}

void tact_hunt_memory_destroy(struct tact_hunt_memory *m)
{
	if (!m)
		return;
	hash_free(&m->index);
	tact_arena_reset(&m->arena);
	FREE_ALL(m->known, m);
}

static uint64_t hash_of(const struct tact_hunt_block *b)
{
	return hash_bytes(b->code, b->code_size) ^ hash_number(b->alignment);
}

static struct known *find(const struct tact_hunt_memory *m, const struct tact_hunt_block *b)
{
	const uint64_t hash = hash_of(b);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&m->index, hash, &at)) != HASH_NONE) {
		struct known *k = &m->known[i];

		if (k->code_size == b->code_size && k->alignment == b->alignment &&
		    !memcmp(k->code, b->code, b->code_size))
			return k;
	}
	return NULL;
}

int tact_hunt_memory_add(struct tact_hunt_memory *m, const struct tact_hunt_block *b,
			 const struct tact_hunt_value *value)
{
	struct known *k;
	uint8_t *copy;

	if (!m || !b || !b->code || !b->code_size || b->alignment > 63 || !value)
		return -TACT_E_INVAL;
	k = find(m, b);
	if (k) {
		/* What is known is better than what is not. */
		if (value->answer == TACT_HUNT_NUMBER || k->value.answer == TACT_HUNT_LATER)
			k->value = *value;
		return 0;
	}
	copy = tact_arena_take(&m->arena, b->code_size);
	if (!copy || tact_grow(&m->known, &m->capacity, m->n + 1, sizeof(*m->known)) < 0 ||
	    hash_add(&m->index, hash_of(b), (uint32_t)m->n) < 0)
		return -TACT_E_NOMEM;
	memcpy(copy, b->code, b->code_size);
	m->known[m->n++] =
		(struct known){copy, (uint32_t)b->code_size, (uint8_t)b->alignment, *value};
	return 0;
}

/* Asks for those that are not known: unknown[k] is the number of the k-th. */
static int ask_behind(struct tact_hunt_memory *m, const struct tact_hunt_block *blocks,
		      const size_t *unknown, size_t n, struct tact_hunt_value *out,
		      struct tact_diag *diag)
{
	struct tact_hunt_block *some = malloc((n + 1) * sizeof(*some));
	struct tact_hunt_value *values = calloc(n + 1, sizeof(*values));
	int status = some && values ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	for (size_t k = 0; k < n && !status; k++)
		some[k] = blocks[unknown[k]];
	if (!status && m->opt.behind.ask)
		status = m->opt.behind.ask(m->opt.behind.context, some, n, values, diag);
	for (size_t k = 0; k < n && status >= 0; k++) {
		if (!m->opt.behind.ask)
			values[k].answer = TACT_HUNT_LATER;
		out[unknown[k]] = values[k];
		/* The same block may be there twice. */
		if (m->opt.news && !find(m, &some[k]) &&
		    (!m->opt.behind.ask || values[k].answer != TACT_HUNT_LATER))
			m->opt.news(m->opt.context, &some[k], &values[k]);
		status = tact_hunt_memory_add(m, &some[k], &values[k]);
	}
	FREE_ALL(some, values);
	return status;
}

int tact_hunt_memory_ask(void *memory, const struct tact_hunt_block *blocks, size_t n,
			 struct tact_hunt_value *out, struct tact_diag *diag)
{
	struct tact_hunt_memory *m = memory;
	size_t *unknown, n_unknown = 0;
	int status = 0;

	if (!m || !out || (n && !blocks))
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	unknown = malloc((n + 1) * sizeof(*unknown));
	if (!unknown)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		const struct known *k = find(m, &blocks[i]);

		if (k && (k->value.answer != TACT_HUNT_LATER || !m->opt.behind.ask))
			out[i] = k->value;
		else
			unknown[n_unknown++] = i;
	}
	if (n_unknown)
		status = ask_behind(m, blocks, unknown, n_unknown, out, diag);
	free(unknown);
	return status;
}
