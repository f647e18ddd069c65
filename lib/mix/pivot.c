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
#include "mix/mix.h"

static const char *const key_names[TACT_N_MIX_KEYS] = {
	"thread",    "module",	 "function", "block", "line",	"mnemonic", "form",
	"extension", "category", "packing",  "width", "memory", "taxonomy", "method",
};

struct row {
	uint32_t key[TACT_MIX_MAX_KEYS]; /* words */
	double executions, variance;
	bool is_unknown;	  /* the error of a part of it is unknown */
	double found[MIX_GROUPS]; /* of the mix that is being added: in each group of windows */
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

/* An instruction as it is counted. */
struct item {
	struct tact_mix *mix;
	const struct mix_profile *profile;
	struct mix_module *module;
	const struct mix_code *code;
	uint32_t thread, offset;
	struct isa_properties properties;
	const struct tact_mix_taxonomy *taxonomy;
};

const char *tact_mix_key_name(enum tact_mix_key key)
{
	return (unsigned)key < TACT_N_MIX_KEYS ? key_names[key] : "unknown";
}

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

/* ---- values of keys ---- */

static void thread_name(const struct item *x, char *text, size_t size)
{
	const struct mix_thread *t;

	if (x->thread >= x->mix->spaces.n_threads) {
		snprintf(text, size, "(all)");
		return;
	}
	t = &x->mix->spaces.threads[x->thread];
	snprintf(text, size, "%s %u/%u", t->comm[0] ? t->comm : "?", t->pid, t->tid);
}

static void function_name(const struct item *x, char *text, size_t size)
{
	const char *name = mix_module_function(x->module, x->code, x->offset);
	const struct obj_function *f;

	if (*name || !x->module->obj) {
		snprintf(text, size, "%s", *name ? name : "?");
		return;
	}
	f = obj_function_at(x->module->obj, x->code->section, x->offset);
	snprintf(text, size, "%s+0x%llx", file_base_name(x->module->path),
		 (unsigned long long)(x->code->address + f->range.begin));
}

static void line_name(const struct item *x, char *text, size_t size)
{
	const char *file;
	int line;

	if (mix_module_line(x->module, x->code, x->offset, &file, &line))
		snprintf(text, size, "%s:%d", file, line);
	else
		snprintf(text, size, "?");
}

/* Returns the text of a key, static or in the buffer. */
static const char *value_of(const struct item *x, enum tact_mix_key key, char *text, size_t size)
{
	static const char *const packing[] = {"none", "scalar", "packed"};
	static const char *const memory[] = {"none", "read", "write", "read+write"};
	const struct isa_properties *q = &x->properties;

	switch (key) {
	case TACT_MIX_BY_THREAD:
		thread_name(x, text, size);
		return text;
	case TACT_MIX_BY_MODULE:
		return x->module->path;
	case TACT_MIX_BY_FUNCTION:
		function_name(x, text, size);
		return text;
	case TACT_MIX_BY_BLOCK:
		snprintf(text, size, "%s+0x%llx", file_base_name(x->module->path),
			 (unsigned long long)(x->code->address +
					      x->code->blocks.items[x->profile->block].begin));
		return text;
	case TACT_MIX_BY_LINE:
		line_name(x, text, size);
		return text;
	case TACT_MIX_BY_MNEMONIC:
		return q->mnemonic_name;
	case TACT_MIX_BY_FORM:
		return q->form == TACT_FORM_NONE ? "(unknown)"
						 : tact_isa_form_name(x->code->isa, q->form);
	case TACT_MIX_BY_EXTENSION:
		return q->extension;
	case TACT_MIX_BY_CATEGORY:
		return q->category;
	case TACT_MIX_BY_PACKING:
		return packing[q->packing];
	case TACT_MIX_BY_WIDTH:
		snprintf(text, size, "%u", q->width);
		return text;
	case TACT_MIX_BY_MEMORY:
		return memory[q->loads + 2 * q->stores];
	case TACT_MIX_BY_TAXONOMY:
		return mix_taxonomy_name(x->taxonomy, mix_taxonomy_group(x->taxonomy, q));
	case TACT_MIX_BY_METHOD:
		return tact_mix_method_name((enum tact_mix_method)x->profile->method);
	default:
		return "";
	}
}

static bool passes(const struct item *x, const struct tact_mix_pivot_options *o)
{
	char text[512];

	for (size_t i = 0; i < o->n_filters; i++) {
		const struct tact_mix_filter *f = &o->filters[i];
		const char *value = value_of(x, f->key, text, sizeof(text));
		bool fits = mix_glob(f->pattern, value) ||
			    (f->key == TACT_MIX_BY_MODULE &&
			     mix_glob(f->pattern, file_base_name(value))) ||
			    (f->key == TACT_MIX_BY_FUNCTION && x->module->obj &&
			     mix_glob(f->pattern,
				      obj_function_at(x->module->obj, x->code->section, x->offset)
					      ->name));

		if (fits == f->is_negated)
			return false;
	}
	return true;
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
	bool by_thread;
	double sums[3]; /* packed; packed and scalar; FLOP of packed ones */
	double blocks;
};

/* Adds the error of a block that was executed n times by those who count. */
static void add_error(struct row *r, const struct item *x, double n)
{
	const struct mix_profile *p = x->profile;

	if (p->method == TACT_MIX_WINDOWS) {
		const double *found = x->mix->spreads[p - x->mix->profiles];

		for (unsigned g = 0; g < MIX_GROUPS; g++)
			r->found[g] += found[g] * n / p->executions;
	} else if (p->error >= 0) {
		r->variance += n * n * p->error * p->error;
	} else {
		r->is_unknown = true;
	}
}

/* What happens in a window is not independent of what else happens in it: only the sums over all
 * blocks of a row tell the error of the row.
 */
static void add_variances(struct tact_mix_pivot *p, const struct tact_mix *mix)
{
	for (size_t i = 0; i < p->n_rows && mix->has_windows; i++) {
		const double more = mix_groups_variance(mix, p->rows[i].found);

		if (more >= 0)
			p->rows[i].variance += more;
		else
			p->rows[i].is_unknown = true;
		memset(p->rows[i].found, 0, sizeof(p->rows[i].found));
	}
}

static int add_item(struct filler *f, const struct item *x, double n)
{
	struct tact_mix_pivot *p = f->pivot;
	uint32_t key[TACT_MIX_MAX_KEYS];
	struct row *r;
	char text[512];

	if (!passes(x, f->o))
		return 0;
	for (size_t k = 0; k < p->n_keys; k++) {
		long word = intern(p, value_of(x, p->keys[k], text, sizeof(text)));

		if (word < 0)
			return (int)word;
		key[k] = (uint32_t)word;
	}
	r = find_row(p, key);
	if (!r)
		return -TACT_E_NOMEM;
	r->executions += n;
	add_error(r, x, n);
	p->total += n;
	add_figures(&p->figures, &x->properties, n, f->sums);
	return 0;
}

static int add_block(struct filler *f, struct item *x, double n)
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
	struct item x = {.mix = mix, .taxonomy = f->o->taxonomy};
	int status = 0;

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
	add_variances(f->pivot, mix);
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
	for (size_t i = 0; i < p->n_keys; i++)
		f.by_thread |= p->keys[i] == TACT_MIX_BY_THREAD;
	for (size_t i = 0; i < o.n_filters; i++)
		f.by_thread |= o.filters[i].key == TACT_MIX_BY_THREAD;
	if (fill_all(&f, mixes, n)) {
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
	row.error = r->is_unknown || !(r->executions > 0) ? -1 : sqrt(r->variance) / r->executions;
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
