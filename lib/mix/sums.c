/* SPDX-License-Identifier: MIT
 *
 * Numbers added up by key, and how they are written.
 */
#include "mix/sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int tact_mixfile_create(struct tact_mixfile **out)
{
	return tact_new(out, sizeof(**out), out != NULL, "", NULL);
}

void tact_mixfile_destroy(struct tact_mixfile *f)
{
	if (!f)
		return;
	hash_free(&f->index);
	hash_free(&f->group_index);
	tact_arena_reset(&f->memory);
	FREE_ALL(f->keys, f->groups, f->spreads);
	free(f);
}

const char *tact_mixfile_module(const struct tact_mixfile *f)
{
	return f && f->module ? f->module : "";
}

size_t tact_mixfile_count(const struct tact_mixfile *f)
{
	return f ? f->n : 0;
}

uint64_t tact_mixfile_outside(const struct tact_mixfile *f)
{
	return f ? f->external : 0;
}

const char *sums_keep(struct tact_mixfile *f, const char *string)
{
	const size_t size = strlen(string) + 1;
	char *copy = tact_arena_take(&f->memory, size);

	return copy ? memcpy(copy, string, size) : NULL;
}

void sums_add(uint64_t *sum, uint64_t more)
{
	*sum = *sum > UINT64_MAX - more ? UINT64_MAX : *sum + more;
}

const char *sums_group(struct tact_mixfile *f, const char *line)
{
	const uint64_t hash = hash_string(line);
	const char *copy;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&f->group_index, hash, &at)) != HASH_NONE)
		if (!strcmp(f->groups[i], line))
			return f->groups[i];
	copy = sums_keep(f, line);
	if (!copy ||
	    tact_grow(&f->groups, &f->groups_capacity, f->n_groups + 1, sizeof(*f->groups)) ||
	    hash_add(&f->group_index, hash, (uint32_t)f->n_groups))
		return NULL;
	return f->groups[f->n_groups++] = copy;
}

/* Groups are compared as pointers: sums_group makes one of each. */
struct sums_key *sums_at(struct tact_mixfile *f, const char *group, const char *text, uint64_t a,
			 uint64_t b)
{
	const uint64_t hash = hash_string(text) ^ hash_number((uintptr_t)group);
	const char *copy;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&f->index, hash, &at)) != HASH_NONE)
		if (f->keys[i].group == group && !strcmp(f->keys[i].text, text))
			return &f->keys[i];
	copy = sums_keep(f, text);
	if (!copy || f->n >= HASH_NONE - 1 ||
	    tact_grow(&f->keys, &f->capacity, f->n + 1, sizeof(*f->keys)) ||
	    hash_add(&f->index, hash, (uint32_t)f->n))
		return NULL;
	f->keys[f->n] = (struct sums_key){.text = copy, .group = group, .a = a, .b = b};
	return &f->keys[f->n++];
}

/* ---- writing ---- */

static int compare(const void *a, const void *b)
{
	const struct sums_key *x = *(const struct sums_key *const *)a;
	const struct sums_key *y = *(const struct sums_key *const *)b;
	int order = strcmp(x->group, y->group);

	/* The kind of line comes first: its first word. */
	if (!order)
		order = ORDER(x->text[0], y->text[0]);
	if (!order)
		order = 2 * ORDER(x->a, y->a) + ORDER(x->b, y->b);
	return order ? order : strcmp(x->text, y->text);
}

static void put_spread(const struct tact_mixfile *f, const struct sums_key *k, struct text *out)
{
	if (!k->spread)
		return;
	text_add(out, "spread");
	for (unsigned i = 0; i < MIX_GROUPS; i++)
		if (f->spreads[k->spread - 1][i])
			text_printf(out, " %u:%" PRIu64, i, f->spreads[k->spread - 1][i]);
	text_add(out, "\n");
}

static void put_key(const struct tact_mixfile *f, const struct sums_key *k, struct text *out)
{
	const char *rest;

	if (f->kind == SUMS_BOLT && k->text[0] == 'B') {
		text_printf(out, "%s %" PRIu64 " %" PRIu64 "\n", k->text, k->value[0], k->value[1]);
		return;
	}
	/* "generated ADDRESS COUNT SET:HEX NAME" has its count in the middle. */
	rest = f->kind == SUMS_COUNTS && k->text[0] == 'g' ? strchr(k->text + 10, ' ') : NULL;
	if (rest)
		text_printf(out, "%.*s %" PRIu64 "%s\n", (int)(rest - k->text), k->text,
			    k->value[0], rest);
	else
		text_printf(out, "%s %" PRIu64 "\n", k->text, k->value[0]);
	put_spread(f, k, out);
}

static void put_head(const struct tact_mixfile *f, struct text *out)
{
	if (f->kind != SUMS_COUNTS)
		return;
	text_add(out, "#tact.mix.counts/1\n");
	if (f->command && *f->command)
		text_printf(out, "%s\n", f->command);
	if (f->has_windows)
		text_printf(out, "windows %" PRIu64 "\n", f->windows);
}

int tact_mixfile_write(const struct tact_mixfile *f,
		       int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	const struct sums_key **order;
	const char *group = "";
	struct text text = {0};
	int status = 0;
	bool is_over = false;

	if (!f || !write)
		return -TACT_E_INVAL;
	order = calloc(f->n + 1, sizeof(*order));
	if (!order)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < f->n; i++)
		order[i] = &f->keys[i];
	if (f->n)
		qsort(order, f->n, sizeof(*order), compare);
	put_head(f, &text);
	for (size_t i = 0; i < f->n && !is_over && !text.failed; i++) {
		if (order[i]->group != group && *order[i]->group)
			text_printf(&text, "%s\n", order[i]->group);
		group = order[i]->group;
		put_key(f, order[i], &text);
		if (text.size > 1 << 16) {
			is_over = write(arg, text.data, text.size) != 0;
			text_reset(&text);
		}
	}
	if (f->kind == SUMS_COUNTS)
		text_printf(&text, "outside %" PRIu64 "\n", f->outside);
	status = text.failed ? -TACT_E_NOMEM : 0;
	if (!status && !is_over && text.size)
		write(arg, text.data, text.size);
	text_free(&text);
	free(order);
	return status;
}
