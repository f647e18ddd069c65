/* SPDX-License-Identifier: MIT
 *
 * Two results side by side: which instructions were executed more or less often.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "base/base.h"
#include "isa/isa.h"
#include "trace/diff_parts.h"

struct insns {
	struct tact_diff_insn *items; /* owned */
	size_t n, capacity;
};

static int count_insn(struct insns *x, const char *mnemonic, unsigned side, uint64_t n)
{
	for (size_t i = 0; i < x->n; i++) {
		if (strcmp(x->items[i].mnemonic, mnemonic) != 0)
			continue;
		x->items[i].executed[side] += n;
		return 0;
	}
	if (tact_grow(&x->items, &x->capacity, x->n + 1, sizeof(*x->items)))
		return -TACT_E_NOMEM;
	x->items[x->n] = (struct tact_diff_insn){.executed = {0, 0}};
	strcpy(x->items[x->n].mnemonic, mnemonic);
	x->items[x->n++].executed[side] = n;
	return 0;
}

static int count_block(struct insns *x, const struct tact_result_row *row, unsigned side)
{
	char text[160], mnemonic[sizeof(((struct tact_diff_insn *)0)->mnemonic)];
	size_t at = 0;

	while (at < row->code_size) {
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0 ||
		    tact_isa_format(row->isa, row->code + at, (size_t)n, 0, text, sizeof(text)) < 0)
			return 0;
		row->isa->cut_mnemonic(mnemonic, sizeof(mnemonic), text);
		if (count_insn(x, mnemonic, side, row->executions))
			return -TACT_E_NOMEM;
		at += (size_t)n;
	}
	return 0;
}

static uint64_t distance(const struct tact_diff_insn *x)
{
	return x->executed[0] > x->executed[1] ? x->executed[0] - x->executed[1]
					       : x->executed[1] - x->executed[0];
}

static int compare_insns(const void *a, const void *b)
{
	const struct tact_diff_insn *x = a, *y = b;

	if (distance(x) != distance(y))
		return distance(x) > distance(y) ? -1 : 1;
	return strcmp(x->mnemonic, y->mnemonic);
}

long tact_diff_get_insns(const struct tact_diff *d, size_t function, struct tact_diff_insn *out,
			 size_t capacity)
{
	struct insns x = {0};
	long n;

	if (!d || (function != TACT_NO_ROW && function >= d->functions.n) || (capacity && !out))
		return -TACT_E_INVAL;
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; i < d->sides[k].n_blocks; i++) {
			const struct part *p = &d->sides[k].blocks[i];

			if (function != TACT_NO_ROW && p->match != (int64_t)function)
				continue;
			if (count_block(&x, p->row, k)) {
				free(x.items);
				return -TACT_E_NOMEM;
			}
		}
	}
	if (x.n)
		qsort(x.items, x.n, sizeof(*x.items), compare_insns);
	for (size_t i = 0; i < x.n && i < capacity; i++)
		out[i] = x.items[i];
	n = (long)x.n;
	free(x.items);
	return n;
}
