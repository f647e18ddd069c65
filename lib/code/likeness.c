/* SPDX-License-Identifier: MIT
 *
 * Instructions and sequences that are alike.
 */
#include "code/likeness.h"

#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "base/base.h"
#include "base/hash.h"

/* ---- instructions ---- */

uint64_t code_mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

uint64_t code_insn_hash(uint64_t h, const struct tact_insn *insn)
{
	h = code_mix(h,
		     insn->mnemonic | (uint64_t)insn->form << 16 | (uint64_t)insn->condition << 32);
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		h = code_mix(h, (uint64_t)o->kind | (uint64_t)o->bits << 8 |
					(uint64_t)o->reg << 24 | (uint64_t)o->base << 32 |
					(uint64_t)o->index << 40 | (uint64_t)o->scale << 48);
	}
	if (!(insn->attributes & TACT_INSN_PC_RELATIVE))
		h = code_mix(h, (uint64_t)insn->displacement);
	if (!(insn->attributes & TACT_INSN_BRANCH))
		h = code_mix(h, (uint64_t)insn->immediate);
	return h;
}

/* ---- sequences ---- */

enum { MOST_STEPS = 1 << 20 };

/* Walks back through the table of lengths and marks what is common. */
static void mark(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
		 const uint16_t *lengths, bool *in_a, bool *in_b)
{
	size_t i = 0, k = 0;

	while (i < n_a && k < n_b) {
		const uint16_t *here = &lengths[i * (n_b + 1) + k];

		if (a[i] == b[k]) {
			in_a[i++] = true;
			in_b[k++] = true;
		} else if (here[n_b + 1] >= here[1]) {
			i++;
		} else {
			k++;
		}
	}
}

/* Finds it in what lies between the equal ends. */
static long align_middle(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, bool *in_a,
			 bool *in_b)
{
	uint16_t *lengths; /* of what is common from i in a and from k in b on */
	long found;

	if (!n_a || !n_b || n_a > UINT16_MAX || n_b > UINT16_MAX || n_a * n_b > MOST_STEPS)
		return 0;
	lengths = calloc((n_a + 1) * (n_b + 1), sizeof(*lengths));
	if (!lengths)
		return -TACT_E_NOMEM;
	for (size_t i = n_a; i-- > 0;) {
		for (size_t k = n_b; k-- > 0;) {
			uint16_t *here = &lengths[i * (n_b + 1) + k];
			const uint16_t down = here[n_b + 1], right = here[1];

			if (a[i] == b[k])
				*here = (uint16_t)(here[n_b + 2] + 1);
			else
				*here = down > right ? down : right;
		}
	}
	found = lengths[0];
	mark(a, n_a, b, n_b, lengths, in_a, in_b);
	free(lengths);
	return found;
}

long code_align(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, bool *in_a,
		bool *in_b)
{
	size_t head = 0, tail = 0;
	long middle;

	memset(in_a, 0, n_a * sizeof(*in_a));
	memset(in_b, 0, n_b * sizeof(*in_b));
	while (head < n_a && head < n_b && a[head] == b[head]) {
		in_a[head] = in_b[head] = true;
		head++;
	}
	while (tail < n_a - head && tail < n_b - head && a[n_a - 1 - tail] == b[n_b - 1 - tail]) {
		in_a[n_a - 1 - tail] = in_b[n_b - 1 - tail] = true;
		tail++;
	}
	middle = align_middle(a + head, n_a - head - tail, b + head, n_b - head - tail, in_a + head,
			      in_b + head);
	return middle < 0 ? middle : (long)(head + tail) + middle;
}
