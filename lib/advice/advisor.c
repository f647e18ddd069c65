/* SPDX-License-Identifier: MIT
 *
 * The advisor: which kinds of advice there are, and what every kind needs.
 */
#include "advice/advisor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/predict.h>

#include "code/transfers.h"

/* The kinds.  Places come first: the others must gain more than another place does. */
static void (*const kinds[])(struct tact_advisor *) = {
	advise_place,	advise_accumulators, advise_memory,
	advise_indexes, advise_fusion,	     advise_replacements,
};

/* ---- drafts ---- */

void advice_begin(struct tact_advisor *a, const char *name)
{
	struct advice_draft *d = &a->draft;

	d->name = name;
	d->n = d->n_about = d->code_size = 0;
	d->failed = d->is_placed = false;
	d->copies = 1;
	d->alignment = a->block->opt.alignment % ADVICE_LINES;
}

void advice_add(struct tact_advisor *a, const uint8_t *code, size_t size)
{
	struct advice_draft *d = &a->draft;

	if (!size || size > TACT_MAX_INSN_BYTES || d->n == ADVICE_MAX_DRAFT) {
		d->failed = true;
		return;
	}
	memcpy(d->insns[d->n].code, code, size);
	d->insns[d->n++].size = (uint8_t)size;
}

void advice_add_insn(struct tact_advisor *a, size_t i)
{
	size_t size;
	const uint8_t *code = advice_bytes(a, i, &size);

	advice_add(a, code, size);
}

void advice_copy(struct tact_advisor *a)
{
	for (size_t i = 0; i < a->block->n_insns; i++)
		advice_add_insn(a, i);
}

void advice_about(struct tact_advisor *a, size_t i)
{
	struct advice_draft *d = &a->draft;

	if (d->n_about < TACT_ADVICE_MAX_INSNS && (!d->n_about || d->about[d->n_about - 1] != i))
		d->about[d->n_about++] = (uint32_t)i;
}

/* Writes the draft as bytes, the branch of a loop with its new distance. */
static bool encode(struct tact_advisor *a)
{
	struct advice_draft *d = &a->draft;
	struct advice_insn *last;
	size_t size = 0;

	if (d->failed || !d->n)
		return false;
	for (size_t i = 0; i + 1 < d->n; i++) {
		memcpy(d->code + size, d->insns[i].code, d->insns[i].size);
		size += d->insns[i].size;
	}
	last = &d->insns[d->n - 1];
	if (a->is_loop_branch) {
		const size_t length = a->rewriter->branch(last->code, last->size, -(int64_t)size,
							  last->size, last->code);

		if (!length)
			return false;
		last->size = (uint8_t)length;
	}
	memcpy(d->code + size, last->code, last->size);
	d->code_size = size + last->size;
	return d->code_size <= TACT_BLOCK_MAX_BYTES;
}

static int predict_facile(void *arg, struct tact_block *block, double *cycles)
{
	struct tact_prediction x = TACT_PREDICTION_INIT;
	const int status = tact_predict(block, NULL, &x);

	(void)arg;
	*cycles = x.cycles_per_iteration;
	return status;
}

/* Loads code into the other block.  An instruction without data counts as free, so a change must
 * not bring any.
 */
static bool load(struct tact_advisor *a, const uint8_t *code, size_t size, unsigned alignment,
		 unsigned copies)
{
	const struct tact_block *block = a->block;
	struct tact_block_options opt = block->opt;
	const size_t unknown = block->n_insns - block->counts.known;
	int status;

	opt.size = sizeof(opt);
	opt.alignment = alignment;
	opt.mode = block->mode;
	status = tact_block_rebind(a->other, NULL, &opt);
	if (status >= 0)
		status = tact_block_load(a->other, code, size, NULL);
	a->failed |= status == -TACT_E_NOMEM;
	return status >= 0 && a->other->n_insns - a->other->counts.known <= copies * unknown;
}

static bool predict(struct tact_advisor *a, double *cycles)
{
	const int status = a->opt.predict(a->opt.arg, a->other, cycles);

	a->failed |= status == -TACT_E_NOMEM;
	return status >= 0 && isfinite(*cycles);
}

/* A shorter or longer block also lies elsewhere: unless the place is the point, the change must
 * gain more than that.
 */
bool advice_try(struct tact_advisor *a)
{
	struct advice_draft *d = &a->draft;
	const double least = a->opt.least_gain * a->before;

	if (a->failed || !encode(a) || !load(a, d->code, d->code_size, d->alignment, d->copies) ||
	    a->other->n_insns != d->n || !predict(a, &d->after))
		return false;
	d->after /= d->copies;
	return a->before - d->after >= least && (d->is_placed || a->best_place - d->after >= least);
}

/* ---- what has changed ---- */

/* Whether instruction k of the draft is instruction i of the block. */
static bool is_same(const struct tact_advisor *a, size_t i, size_t k)
{
	const struct advice_insn *insn = &a->draft.insns[k];
	size_t size;
	const uint8_t *code = advice_bytes(a, i, &size);

	if (a->is_loop_branch && i + 1 == a->block->n_insns && k + 1 == a->draft.n)
		return a->block->insns[i].insn->mnemonic == a->other->insns[k].insn->mnemonic;
	return size == insn->size && !memcmp(code, insn->code, size);
}

static void add_line(struct text *out, char sign, const struct tact_block *block, size_t i,
		     uint64_t address)
{
	const size_t offset = block->insns[i].offset;
	char line[160];

	if (tact_isa_format(block->arch->isa, block->code + offset, block->code_size - offset,
			    address + offset, line, sizeof(line)) < 0)
		snprintf(line, sizeof(line), "?");
	text_printf(out, "%c %s\n", sign, line);
}

/* The longest common subsequence, from the end. */
static void describe(struct tact_advisor *a, struct text *out)
{
	const size_t n = a->block->n_insns, m = a->draft.n;
	uint16_t *longest = calloc((n + 1) * (m + 1), sizeof(*longest));
	size_t i, k;

	if (!longest) {
		a->failed = true;
		return;
	}
#define LONGEST(x, y) longest[(x) * (m + 1) + (y)]
	for (i = n; i-- > 0;)
		for (k = m; k-- > 0;)
			LONGEST(i, k) = is_same(a, i, k) ? (uint16_t)(LONGEST(i + 1, k + 1) + 1)
					: LONGEST(i + 1, k) > LONGEST(i, k + 1) ? LONGEST(i + 1, k)
										: LONGEST(i, k + 1);
	for (i = k = 0; i < n || k < m;) {
		if (i < n && k < m && is_same(a, i, k))
			i++, k++;
		else if (i < n && (k == m || LONGEST(i + 1, k) >= LONGEST(i, k + 1)))
			add_line(out, '-', a->block, i++, a->opt.address);
		else
			add_line(out, '+', a->other, k++, a->opt.address);
	}
#undef LONGEST
	free(longest);
}

struct advice_found *advice_keep(struct tact_advisor *a)
{
	const struct advice_draft *d = &a->draft;
	struct advice_found *f = &a->found[a->n_found];

	if (a->n_found == ADVICE_MAX_FOUND || a->failed)
		return NULL;
	f->insns = malloc((d->n_about + 1) * sizeof(*f->insns));
	f->code = malloc(d->code_size);
	a->n_found++;
	if (!f->insns || !f->code) {
		a->failed = true;
		return NULL;
	}
	memcpy(f->insns, d->about, d->n_about * sizeof(*f->insns));
	memcpy(f->code, d->code, d->code_size);
	f->n_insns = d->n_about;
	f->code_size = d->code_size;
	f->name = d->name;
	f->after = d->after;
	f->alignment = d->alignment;
	f->copies = d->copies;
	if (!d->is_placed)
		describe(a, &f->changes);
	return f;
}

/* ---- questions ---- */

static bool names(const struct tact_insn *insn, unsigned reg, unsigned access)
{
	for (unsigned o = 0; o < insn->n_operands; o++) {
		const struct tact_operand *p = &insn->operand[o];

		if (p->kind == TACT_OPERAND_REG && p->reg == reg && p->access & access &&
		    p->role == TACT_ROLE_NONE)
			return true;
		if ((p->base == reg || p->index == reg) && access & TACT_ACCESS_READ)
			return true;
	}
	return false;
}

bool advice_uses(const struct tact_block *block, size_t i, unsigned reg)
{
	return names(block->insns[i].insn, reg, ~0u) || advice_writes(block, i, reg);
}

bool advice_writes(const struct tact_block *block, size_t i, unsigned reg)
{
	const struct tact_insn *insn = block->insns[i].insn;

	return names(insn, reg, TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE) ||
	       (insn->pointer_change && insn->pointer_reg == reg);
}

uint8_t advice_take_general(uint64_t *set)
{
	const unsigned reg = *set ? (unsigned)__builtin_ctzll(*set) : TACT_REG_NONE;

	*set &= *set - 1;
	return (uint8_t)reg;
}

void advice_list(struct text *out, const uint32_t *insns, size_t n)
{
	enum { MOST = 6 };

	for (size_t k = 0; k < n && k < MOST; k++)
		text_printf(out, "%s%u", !k ? "" : k + 1 == n ? " and " : ", ", insns[k] + 1);
	if (n > MOST)
		text_add(out, ", ...");
}

void advice_mnemonic(const struct tact_advisor *a, size_t i, char *out, size_t size)
{
	const struct tact_block *block = a->block;
	const size_t offset = block->insns[i].offset;
	char line[160];

	if (tact_isa_format(block->arch->isa, block->code + offset, block->code_size - offset, 0,
			    line, sizeof(line)) < 0 ||
	    !block->arch->isa->cut_mnemonic)
		snprintf(out, size, "?");
	else
		block->arch->isa->cut_mnemonic(out, size, line);
}

/* ---- a run ---- */

/* The registers that the block does not name.  A call may change any. */
static void find_free(struct tact_advisor *a)
{
	const struct isa_registers *r = &a->block->arch->isa->registers;
	const unsigned n_vector = (unsigned)(r->end_vector - r->first_vector) / 2u;

	a->free_general = (1ull << r->n_general) - 1;
	a->free_vector = ((1ull << n_vector) - 1) << r->first_vector;
	a->free_general &= ~(1ull << r->stack_pointer) & ~(1ull << r->frame_pointer);
	for (size_t i = 0; i < a->block->n_insns; i++) {
		const struct tact_insn *insn = a->block->insns[i].insn;

		if (insn->flow == TACT_FLOW_CALL || insn->flow == TACT_FLOW_KERNEL ||
		    insn->attributes & TACT_INSN_CALL || insn->n_operands == TACT_MAX_OPERANDS)
			a->free_general = a->free_vector = 0;
		for (uint64_t left = a->free_general | a->free_vector; left; left &= left - 1) {
			const unsigned reg = (unsigned)__builtin_ctzll(left);

			if (advice_uses(a->block, i, reg)) {
				a->free_general &= ~(1ull << reg);
				a->free_vector &= ~(1ull << reg);
			}
		}
	}
}

static void forget(struct tact_advisor *a)
{
	for (size_t i = 0; i < a->n_found; i++) {
		struct advice_found *f = &a->found[i];

		text_free(&f->text);
		text_free(&f->assumes);
		text_free(&f->changes);
		FREE_ALL(f->insns, f->code);
	}
	memset(a->found, 0, sizeof(a->found));
	a->n_found = 0;
}

static int by_gain(const void *x, const void *y)
{
	const struct advice_found *a = x, *b = y;

	return 2 * ORDER(a->after, b->after) + (strcmp(a->name, b->name) > 0) -
	       (strcmp(a->name, b->name) < 0);
}

static int begin(struct tact_advisor *a, struct tact_block *block)
{
	const struct block_insn *last = &block->insns[block->n_insns - 1];
	struct tact_block_options opt = block->opt;
	int status;

	a->block = block;
	a->rewriter = block->arch->isa->rewriter;
	a->failed = false;
	a->is_loop_branch =
		block->mode == TACT_MODE_LOOP &&
		code_leads_back((enum tact_flow)last->insn->flow, last->insn->immediate_bits != 0,
				last->constants.length + last->constants.immediate, last->offset);
	opt.size = sizeof(opt);
	/* An instruction set of another kind needs a block of its own. */
	if (a->other && a->other->cache.isa != block->cache.isa) {
		tact_block_destroy(a->other);
		a->other = NULL;
	}
	status = a->other ? tact_block_rebind(a->other, block->arch, &opt)
			  : tact_block_create(&a->other, block->arch, &opt, NULL);
	if (status >= 0)
		status = a->opt.predict(a->opt.arg, block, &a->before);
	for (size_t k = 0; k < ADVICE_LINES; k++)
		a->placed[k] = -1;
	a->best_place = a->before;
	return status;
}

int tact_advisor_run(struct tact_advisor *a, struct tact_block *block,
		     const struct tact_advice_options *opt)
{
	int status;

	if (!a)
		return -TACT_E_INVAL;
	forget(a);
	if (!block || !block->n_insns || tact_read_options(&a->opt, sizeof(a->opt), opt) < 0 ||
	    !(a->opt.least_gain >= 0 && a->opt.least_gain <= 1))
		return -TACT_E_INVAL;
	if (!a->opt.predict)
		a->opt.predict = predict_facile;
	if (a->opt.least_gain <= 0)
		a->opt.least_gain = 0.04;
	/* A changed block would forget where single loads find their data, and given latencies. */
	if (block->n_insns > TACT_ADVICE_MAX_INSNS || block->has_memories || block->has_latencies ||
	    !block->arch->isa->rewriter)
		return 0;
	status = begin(a, block);
	if (status < 0)
		return status;
	find_free(a);
	block_connect(block);
	for (size_t k = 0; k < ARRAY_SIZE(kinds) && !a->failed && a->before > 0; k++)
		kinds[k](a);
	for (size_t i = 0; i < a->n_found; i++)
		a->failed |= !text_string(&a->found[i].text) ||
			     !text_string(&a->found[i].assumes) ||
			     !text_string(&a->found[i].changes);
	a->block = NULL;
	if (a->failed) {
		forget(a);
		return -TACT_E_NOMEM;
	}
	qsort(a->found, a->n_found, sizeof(*a->found), by_gain);
	return (int)a->n_found;
}

int tact_advisor_create(struct tact_advisor **out, struct tact_diag *diag)
{
	if (out)
		*out = NULL;
	return tact_new(out, sizeof(**out), out != NULL, "no place for the advisor", diag);
}

void tact_advisor_destroy(struct tact_advisor *a)
{
	if (!a)
		return;
	forget(a);
	tact_block_destroy(a->other);
	free(a);
}

int tact_advisor_get(const struct tact_advisor *a, size_t i, struct tact_advice *out)
{
	const struct advice_found *f;
	struct tact_advice advice = {.size = sizeof(advice)};

	if (!a || i >= a->n_found || !tact_can_fill(out))
		return -TACT_E_INVAL;
	f = &a->found[i];
	advice.name = f->name;
	advice.text = f->text.data;
	advice.assumes = f->assumes.data;
	advice.changes = f->changes.data;
	advice.before = a->before;
	advice.after = f->after;
	advice.insns = f->insns;
	advice.n_insns = f->n_insns;
	advice.code = f->code;
	advice.code_size = f->code_size;
	advice.alignment = f->alignment;
	advice.copies = f->copies;
	return tact_fill(out, &advice, sizeof(advice));
}
