/* SPDX-License-Identifier: MIT
 *
 * The pivot table: executed instructions by any of their properties.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "mix/pivot.h"

struct row {
	uint32_t key[TACT_MIX_MAX_KEYS]; /* words */
	uint8_t *code; /* owned; of the block that it is, if blocks are told apart */
	uint32_t code_size;
	uint64_t address; /* of that block, in its file */
	double executions, entries, flops;
	double variance; /* of what chance does; what bias does adds up from mix to mix */
	double bias, reach;
	bool is_unknown; /* the error of a part of it is unknown */
	/* Of the mix that is being added: */
	double found[MIX_GROUPS]; /* in each group of windows */
	struct mix_signs signs;
	const struct mix_profile *last; /* the block whose instructions were added last, */
	double last_n, last_insns;	/* which are not in the signs yet */
};

struct tact_mix_pivot {
	size_t n_keys;
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	char **words; /* owned, each once */
	size_t n_words, words_capacity;
	struct hash word_of;
	struct row *rows;
	size_t n_rows, rows_capacity;
	struct hash row_of;
	double total;
	struct tact_mix_figures figures;
};

/* ---- words and rows ---- */

static long intern(struct tact_mix_pivot *p, const char *text)
{
	const uint64_t hash = hash_string(text);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&p->word_of, hash, &at)) != HASH_NONE)
		if (!strcmp(p->words[i], text))
			return i;
	if (tact_grow(&p->words, &p->words_capacity, p->n_words + 1, sizeof(*p->words)) ||
	    hash_reserve(&p->word_of, p->n_words + 1))
		return -TACT_E_NOMEM;
	p->words[p->n_words] = strdup(text);
	if (!p->words[p->n_words])
		return -TACT_E_NOMEM;
	hash_add(&p->word_of, hash, (uint32_t)p->n_words);
	return (long)p->n_words++;
}

static struct row *find_row(struct tact_mix_pivot *p, const uint32_t *key)
{
	const size_t bytes = p->n_keys * sizeof(*key);
	const uint64_t hash = hash_bytes(key, bytes);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&p->row_of, hash, &at)) != HASH_NONE)
		if (!memcmp(p->rows[i].key, key, bytes))
			return &p->rows[i];
	if (tact_grow(&p->rows, &p->rows_capacity, p->n_rows + 1, sizeof(*p->rows)) ||
	    hash_add(&p->row_of, hash, (uint32_t)p->n_rows))
		return NULL;
	p->rows[p->n_rows] = (struct row){.executions = 0};
	memcpy(p->rows[p->n_rows].key, key, bytes);
	return &p->rows[p->n_rows++];
}

/* ---- filling ---- */

static void add_figures(struct tact_mix_figures *f, const struct isa_properties *q, double n,
			double sums[3])
{
	f->instructions += n;
	sums[0] += q->packing == ISA_PACKING_PACKED ? n : 0;
	sums[1] += q->packing != ISA_PACKING_NONE ? n : 0;
	sums[2] += q->packing == ISA_PACKING_PACKED ? n * q->flops : 0;
	f->flops_per_instruction += n * q->flops;
	f->branch_density += q->is_branch ? n : 0;
	f->load_density += q->loads ? n : 0;
	f->store_density += q->stores ? n : 0;
}

/* Returns the executions of a block by one thread. */
static double share_of(const struct tact_mix *mix, const struct mix_profile *p,
		       const struct mix_share *s)
{
	double all = p->completed, part = s->completed;

	if (p->method == TACT_MIX_EXACT || p->method == TACT_MIX_WINDOWS) {
		all = p->exact;
		part = s->exact;
	} else if (p->method == TACT_MIX_EBS) {
		all = p->ebs;
		part = s->ebs;
	} else if (mix->is_plain) {
		all = p->lbr;
		part = s->lbr;
	}
	return all > 0 ? p->executions * part / all : 0;
}

struct filler {
	struct tact_mix_pivot *pivot;
	const struct tact_mix_pivot_options *o;
	bool by_thread, by_block;
	struct mix_phases phases; /* of the mix that is being added, if stacks were timed */
	struct mix_in_phase *parts;
	size_t n_parts, parts_capacity;
	double sums[3]; /* packed; packed and scalar; FLOP of packed ones */
	double blocks;
};

/* Instructions of one block are wrong together. */
static int end_block(struct filler *f, struct row *r, const struct tact_mix *mix)
{
	const struct mix_profile *p = r->last;

	if (!p)
		return 0;
	mix_signs_add(&r->signs, mix, p, r->last_n, r->last_insns);
	r->last = NULL;
	if (!f->phases.of)
		return 0;
	if (tact_grow(&f->parts, &f->parts_capacity, f->n_parts + 1, sizeof(*f->parts)))
		return -TACT_E_NOMEM;
	f->parts[f->n_parts++] =
		(struct mix_in_phase){(uint32_t)(r - f->pivot->rows),
				      f->phases.of[p - mix->profiles], r->last_n * r->last_insns};
	return 0;
}

/* Adds an instruction of a block that was executed n times by those who count. */
static int add_signs(struct filler *f, struct row *r, const struct pivot_item *x, double n)
{
	const struct mix_profile *p = x->profile;
	int status = 0;

	if (p->method == TACT_MIX_WINDOWS) {
		const double *found = x->mix->spreads[p - x->mix->profiles];

		for (unsigned g = 0; g < MIX_GROUPS; g++)
			r->found[g] += found[g] * n / p->executions;
	}
	if (r->last != p || r->last_n != n) {
		status = end_block(f, r, x->mix);
		r->entries += n;
		r->last = p;
		r->last_n = n;
		r->last_insns = 0;
	}
	r->last_insns++;
	return status;
}

static int compare_parts(const void *a, const void *b)
{
	const struct mix_in_phase *x = a, *y = b;

	return 2 * ORDER(x->row, y->row) + ORDER(x->phase, y->phase);
}

/* Adds up what a row has of one phase; returns how many parts remain. */
static size_t join_parts(struct mix_in_phase *parts, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < n; i++) {
		if (kept && !compare_parts(&parts[kept - 1], &parts[i]))
			parts[kept - 1].executions += parts[i].executions;
		else
			parts[kept++] = parts[i];
	}
	return kept;
}

static void add_phases(struct filler *f, double *doubts)
{
	const size_t n = join_parts(f->parts, f->n_parts);
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && f->parts[end].row == f->parts[i].row;)
			end++;
		doubts[f->parts[i].row] = mix_phases_doubt(&f->phases, f->parts + i, end - i);
	}
}

/* What happens in a window is not independent of what else happens in it: only the sums over all
 * blocks of a row tell the error of the row.
 */
static void add_doubt_of_windows(struct row *r, const struct tact_mix *mix)
{
	const double more = mix_groups_variance(mix, r->found);

	if (more >= 0)
		r->variance += more;
	else
		r->is_unknown = true;
	r->reach = fmax(r->reach, 2);
}

static void add_doubt(struct row *r, const struct tact_mix *mix, const struct mix_signs *all,
		      double of_phases)
{
	const struct mix_doubt doubt = mix_doubt_of(mix, &r->signs, all);

	r->is_unknown |= doubt.is_unknown;
	r->variance += doubt.chance * doubt.chance;
	r->bias += hypot(doubt.bias, of_phases);
	r->reach = fmax(r->reach, doubt.reach);
}

/* Turns what is known of each row of a mix into its error. */
static int end_mix(struct filler *f, const struct tact_mix *mix)
{
	struct tact_mix_pivot *p = f->pivot;
	double *of_phases = calloc(p->n_rows + 1, sizeof(*of_phases));
	struct mix_signs all;
	int status = of_phases ? 0 : -TACT_E_NOMEM;

	for (size_t i = 0; i < p->n_rows && !status; i++)
		status = end_block(f, &p->rows[i], mix);
	if (!status) {
		mix_signs_all(&all, mix);
		add_phases(f, of_phases);
	}
	for (size_t i = 0; i < p->n_rows && !status; i++) {
		struct row *r = &p->rows[i];

		if (!(r->signs.executions > 0))
			continue;
		if (mix->has_windows)
			add_doubt_of_windows(r, mix);
		else
			add_doubt(r, mix, &all, of_phases[i]);
		memset(r->found, 0, sizeof(r->found));
		r->signs = (struct mix_signs){0};
	}
	free(of_phases);
	f->n_parts = 0;
	return status;
}

/* A row that is one block has its code. */
static int keep_code(struct row *r, const struct pivot_item *x)
{
	const struct code_block *b = &x->code->blocks.items[x->profile->block];

	r->code = malloc(b->end - b->begin);
	if (!r->code)
		return -TACT_E_NOMEM;
	memcpy(r->code, x->code->data + b->begin, b->end - b->begin);
	r->code_size = b->end - b->begin;
	r->address = x->code->address + b->begin;
	return 0;
}

static int add_item(struct filler *f, const struct pivot_item *x, double n)
{
	struct tact_mix_pivot *p = f->pivot;
	uint32_t key[TACT_MIX_MAX_KEYS];
	struct row *r;
	char text[512];

	if (!pivot_passes(x, f->o))
		return 0;
	for (size_t k = 0; k < p->n_keys; k++) {
		long word = intern(p, pivot_value(x, p->keys[k], text, sizeof(text)));

		if (word < 0)
			return (int)word;
		key[k] = (uint32_t)word;
	}
	r = find_row(p, key);
	if (!r)
		return -TACT_E_NOMEM;
	if (f->by_block && !r->code && keep_code(r, x))
		return -TACT_E_NOMEM;
	r->executions += n;
	r->flops += n * x->properties.flops;
	if (add_signs(f, r, x, n))
		return -TACT_E_NOMEM;
	p->total += n;
	add_figures(&p->figures, &x->properties, n, f->sums);
	return 0;
}

static int add_block(struct filler *f, struct pivot_item *x, double n)
{
	const struct code_block *b = &x->code->blocks.items[x->profile->block];
	int status = 0;

	if (!(n > 0))
		return 0;
	for (x->offset = b->begin; x->offset < b->end && !status;) {
		x->code->isa->describe(&x->properties, x->code->data + x->offset,
				       b->end - x->offset);
		status = add_item(f, x, n);
		x->offset += x->properties.length ? x->properties.length : 1;
	}
	f->blocks += n;
	return status;
}

static int fill(struct filler *f, struct tact_mix *mix)
{
	struct pivot_item x = {.mix = mix, .taxonomy = f->o->taxonomy};
	int status = mix_is_timed(mix) ? mix_phases_init(&f->phases, mix) : 0;

	for (size_t i = 0; i < mix->n_profiles && !status; i++) {
		const struct mix_profile *p = &mix->profiles[i];

		x.profile = p;
		x.module = &mix->modules.items[p->module];
		x.code = &x.module->codes[p->code];
		x.thread = MIX_NONE;
		if (!f->by_thread) {
			status = add_block(f, &x, p->executions);
			continue;
		}
		for (uint32_t s = 0; s < p->n_shares && !status; s++) {
			const struct mix_share *share = &mix->shares[p->first_share + s];

			x.thread = share->thread;
			status = add_block(f, &x, share_of(mix, p, share));
		}
	}
	if (!status)
		status = end_mix(f, mix);
	mix_phases_fini(&f->phases);
	return status;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->executions != y->executions)
		return x->executions > y->executions ? -1 : 1;
	return memcmp(x->key, y->key, sizeof(x->key)); /* order of appearance */
}

static void finish(struct filler *f)
{
	struct tact_mix_figures *g = &f->pivot->figures;

	g->vectorisation = f->sums[1] > 0 ? f->sums[0] / f->sums[1] : 0;
	g->packed_flops = g->flops_per_instruction > 0 ? f->sums[2] / g->flops_per_instruction : 0;
	g->instructions_per_block = f->blocks > 0 ? g->instructions / f->blocks : 0;
	if (g->instructions > 0) {
		g->simd_density = f->sums[1] / g->instructions;
		g->flops_per_instruction /= g->instructions;
		g->branch_density /= g->instructions;
		g->load_density /= g->instructions;
		g->store_density /= g->instructions;
	}
	if (f->pivot->n_rows)
		qsort(f->pivot->rows, f->pivot->n_rows, sizeof(*f->pivot->rows), compare_rows);
}

static bool check_keys(const struct tact_mix_pivot_options *o)
{
	if (o->n_keys > TACT_MIX_MAX_KEYS || (o->n_filters && !o->filters))
		return false;
	for (size_t i = 0; i < o->n_keys; i++)
		if ((unsigned)o->keys[i] >= TACT_N_MIX_KEYS ||
		    (o->keys[i] == TACT_MIX_BY_TAXONOMY && !o->taxonomy))
			return false;
	for (size_t i = 0; i < o->n_filters; i++)
		if ((unsigned)o->filters[i].key >= TACT_N_MIX_KEYS || !o->filters[i].pattern ||
		    (o->filters[i].key == TACT_MIX_BY_TAXONOMY && !o->taxonomy))
			return false;
	return true;
}

static int fill_all(struct filler *f, struct tact_mix *const *mixes, size_t n)
{
	int status = 0;

	for (size_t i = 0; i < n && !status; i++)
		status = fill(f, mixes[i]);
	return status;
}

int tact_mix_pivot_create(struct tact_mix_pivot **out, struct tact_mix *mix,
			  const struct tact_mix_pivot_options *opt, struct tact_diag *diag)
{
	return tact_mix_pivot_create_all(out, &mix, 1, opt, diag);
}

int tact_mix_pivot_create_all(struct tact_mix_pivot **out, struct tact_mix *const *mixes, size_t n,
			      const struct tact_mix_pivot_options *opt, struct tact_diag *diag)
{
	struct tact_mix_pivot_options o;
	struct tact_mix_pivot *p;
	struct filler f;
	int status;

	if (out)
		*out = NULL;
	status = mix_check_all((const struct tact_mix *const *)mixes, n, diag);
	if (status < 0)
		return status;
	if (!out || tact_read_options(&o, sizeof(o), opt) || !check_keys(&o))
		return tact_fail(diag, TACT_E_INVAL, "unknown keys, or a taxonomy is missing");
	p = calloc(1, sizeof(*p));
	if (!p)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	p->n_keys = o.n_keys ? o.n_keys : 1;
	p->keys[0] = TACT_MIX_BY_MNEMONIC;
	memcpy(p->keys, o.keys, o.n_keys * sizeof(*o.keys));
	f = (struct filler){.pivot = p, .o = &o};
	f.by_thread = pivot_is_by_thread(&o);
	for (size_t i = 0; i < p->n_keys; i++)
		f.by_block |= p->keys[i] == TACT_MIX_BY_BLOCK;
	status = fill_all(&f, mixes, n);
	free(f.parts);
	if (status) {
		tact_mix_pivot_destroy(p);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	finish(&f);
	*out = p;
	return 0;
}

void tact_mix_pivot_destroy(struct tact_mix_pivot *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_words; i++)
		free(p->words[i]);
	free(p->words);
	hash_free(&p->word_of);
	for (size_t i = 0; i < p->n_rows; i++)
		free(p->rows[i].code);
	free(p->rows);
	hash_free(&p->row_of);
	free(p);
}

size_t tact_mix_pivot_count(const struct tact_mix_pivot *p)
{
	return p ? p->n_rows : 0;
}

size_t tact_mix_pivot_get_keys(const struct tact_mix_pivot *p,
			       enum tact_mix_key keys[TACT_MIX_MAX_KEYS])
{
	if (!p || !keys)
		return 0;
	memcpy(keys, p->keys, p->n_keys * sizeof(*keys));
	return p->n_keys;
}

int tact_mix_pivot_get_row(const struct tact_mix_pivot *p, size_t i, struct tact_mix_row *out)
{
	struct tact_mix_row row = {.size = sizeof(row)};
	const struct row *r;

	if (i >= tact_mix_pivot_count(p))
		return -TACT_E_INVAL;
	r = &p->rows[i];
	row.executions = r->executions;
	for (size_t k = 0; k < TACT_MIX_MAX_KEYS; k++)
		row.key[k] = k < p->n_keys ? p->words[r->key[k]] : "";
	row.share = p->total > 0 ? r->executions / p->total : 0;
	row.entries = r->entries;
	row.flops = r->flops;
	row.code = r->code;
	row.code_size = r->code_size;
	row.address = r->address;
	row.error = row.low = row.high = -1;
	if (!r->is_unknown && r->executions > 0) {
		const double doubt = sqrt(r->variance + r->bias * r->bias);

		row.error = doubt / r->executions;
		row.low = r->executions * exp(-r->reach * row.error);
		row.high = r->executions * exp(r->reach * row.error);
	}
	return tact_fill(out, &row, sizeof(row));
}

int tact_mix_pivot_get_figures(const struct tact_mix_pivot *p, struct tact_mix_figures *out)
{
	return p ? tact_fill(out, &p->figures, sizeof(p->figures)) : -TACT_E_INVAL;
}

/* ---- two tables ---- */

static const struct row *find_same(const struct tact_mix_pivot *p,
				   const struct tact_mix_pivot *from, const struct row *row)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		size_t k = 0;

		while (k < p->n_keys &&
		       !strcmp(p->words[p->rows[i].key[k]], from->words[row->key[k]]))
			k++;
		if (k == p->n_keys)
			return &p->rows[i];
	}
	return NULL;
}

int tact_mix_compare(const struct tact_mix_pivot *reference, const struct tact_mix_pivot *measured,
		     bool is_scaled, double *error)
{
	double factor = 1, sum = 0;

	if (!reference || !measured || !error || reference->n_keys != measured->n_keys ||
	    !(reference->total > 0))
		return -TACT_E_INVAL;
	if (is_scaled && measured->total > 0)
		factor = reference->total / measured->total;
	/* The paper's sum leaves out what the reference does not have. */
	for (size_t i = 0; i < reference->n_rows; i++) {
		const struct row *r = &reference->rows[i];
		const struct row *m = find_same(measured, reference, r);

		sum += fabs(r->executions - (m ? m->executions * factor : 0));
	}
	*error = sum / reference->total;
	return 0;
}
