/* SPDX-License-Identifier: MIT
 *
 * Two results side by side.  Counterparts are found by name and by content: code that only moved is
 * the same code.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "code/likeness.h"
#include "isa/isa.h"
#include "obj/obj.h"
#include "trace/diff_parts.h"

enum { NONE = -1, TELLING = 12 /* bytes of a block */ };

/* ---- content ---- */

static uint64_t hash_code(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	uint64_t h = size ? 1 : 0;
	size_t at = 0;

	while (at < size) {
		struct tact_insn insn;
		const int n = tact_isa_decode(isa, &insn, code + at, size - at);

		if (n <= 0)
			return code_mix(h, hash_bytes(code + at, size - at));
		h = code_insn_hash(h, &insn);
		at += (size_t)n;
	}
	return h;
}

/* ---- sides ---- */

/* From keys to numbers + 1; holds as many keys as it was made for. */
struct table {
	struct hash index;
	struct pair {
		uint64_t key;
		uint32_t value;
	} * pairs; /* owned */
	size_t n;
};

static int table_create(struct table *t, size_t n)
{
	t->pairs = calloc(n + 1, sizeof(*t->pairs));
	return t->pairs ? hash_reserve(&t->index, n + 1) : -TACT_E_NOMEM;
}

static void table_destroy(struct table *t)
{
	free(t->pairs);
	hash_free(&t->index);
}

/* Returns the value of the key; 0 if it is new. */
static uint32_t *table_at(struct table *t, uint64_t key)
{
	const uint64_t hash = code_mix(3, key);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&t->index, hash, &at)) != HASH_NONE)
		if (t->pairs[i].key == key)
			return &t->pairs[i].value;
	hash_add(&t->index, hash, (uint32_t)t->n); /* there is room */
	t->pairs[t->n].key = key;
	return &t->pairs[t->n++].value;
}

static bool is_named(const struct tact_result_row *row)
{
	return row->function[0] != '[';
}

static uint64_t place_key(const struct tact_result_row *row)
{
	return code_mix(hash_string(row->function), hash_string(row->module));
}

/* Finds the content of functions: that of their block with the most cycles.  The rows are sorted, so
 * that it is the first one.  That of a function with a name is for one without, of the same program
 * without symbols; short blocks are alike in many functions.
 */
static int find_content(struct side *s)
{
	struct table t = {0};
	int status = table_create(&t, s->n_blocks + s->n_functions);

	for (size_t i = 0; i < s->n_blocks && !status; i++) {
		uint32_t *slot = table_at(&t, place_key(s->blocks[i].row));

		if (!*slot)
			*slot = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < s->n_functions && !status; i++) {
		const uint32_t *slot = table_at(&t, place_key(s->functions[i].row));

		if (*slot && (!is_named(s->functions[i].row) ||
			      s->blocks[*slot - 1].row->code_size >= TELLING))
			s->functions[i].content = s->blocks[*slot - 1].key;
	}
	table_destroy(&t);
	return status;
}

static int load_side(struct side *s, const struct tact_result *r)
{
	const struct tact_result_row *f = result_rows(r, TACT_RESULT_FUNCTION, &s->n_functions);
	const struct tact_result_row *b = result_rows(r, TACT_RESULT_BLOCK, &s->n_blocks);

	s->functions = calloc(s->n_functions + 1, sizeof(*s->functions));
	s->blocks = calloc(s->n_blocks + 1, sizeof(*s->blocks));
	if (!s->functions || !s->blocks)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < s->n_blocks; i++)
		s->blocks[i] = (struct part){&b[i], hash_code(b[i].isa, b[i].code, b[i].code_size),
					     0, 0, NONE};
	for (size_t i = 0; i < s->n_functions; i++)
		s->functions[i] =
			(struct part){&f[i], is_named(&f[i]) ? obj_stem_hash(f[i].function) : 0,
				      hash_string(file_base_name(f[i].module)), 0, NONE};
	return find_content(s);
}

/* ---- matching ---- */

static int64_t add_row(struct diff_table *rows)
{
	if (tact_grow(&rows->items, &rows->capacity, rows->n + 1, sizeof(*rows->items)))
		return -TACT_E_NOMEM;
	rows->items[rows->n] = (struct diff_row){.a = NULL};
	return (int64_t)rows->n++;
}

static void add_part(struct diff_row *to, const struct tact_result_row *row, unsigned side)
{
	const struct tact_result_row **first = side ? &to->b : &to->a;

	if (!*first)
		*first = row;
	to->cycles[side] += row->cycles;
	to->executions[side] += row->executions;
	to->instructions[side] += row->instructions;
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		to->stalls[side][i] += row->stalls[i];
}

enum pass { BY_NAME_AND_FILE, BY_NAME, BY_CONTENT, ALONE };

static uint64_t key_of(const struct part *p, enum pass pass)
{
	switch (pass) {
	case BY_NAME_AND_FILE:
		return p->key ? code_mix(p->key, p->place)
			      : code_mix(hash_string(p->row->function), p->place);
	case BY_NAME:
		return p->key;
	default:
		return p->content;
	}
}

/* Gives a row to each function of both sides that has the same key on the other side. */
static int match_functions(struct tact_diff *d, enum pass pass)
{
	struct side *a = &d->sides[0], *b = &d->sides[1];
	struct table t = {0};
	int status = table_create(&t, a->n_functions + b->n_functions);

	for (size_t i = 0; i < b->n_functions && !status; i++) {
		const uint64_t key =
			b->functions[i].match == NONE ? key_of(&b->functions[i], pass) : 0;
		uint32_t *slot = key ? table_at(&t, key) : NULL;

		if (slot && !*slot)
			*slot = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < a->n_functions && !status; i++) {
		struct part *p = &a->functions[i], *q;
		const uint64_t key = p->match == NONE ? key_of(p, pass) : 0;
		const uint32_t *slot = key ? table_at(&t, key) : NULL;

		q = slot && *slot ? &b->functions[*slot - 1] : NULL;
		if (!q || q->match != NONE ||
		    (pass == BY_CONTENT && is_named(p->row) && is_named(q->row)))
			continue;
		p->match = q->match = add_row(&d->functions);
		if (p->match < 0) {
			status = -TACT_E_NOMEM;
			break;
		}
		add_part(&d->functions.items[p->match], p->row, 0);
		add_part(&d->functions.items[p->match], q->row, 1);
	}
	table_destroy(&t);
	return status;
}

/* Variants that a compiler made of a function (hash.part.0 of hash) share its row, if they have no
 * counterpart of their own.
 */
static int join_variants(struct tact_diff *d)
{
	int status = 0;

	for (unsigned k = 0; k < 2 && !status; k++) {
		struct side *s = &d->sides[k];
		struct table t = {0};

		status = table_create(&t, s->n_functions);
		for (size_t i = 0; i < s->n_functions && !status; i++)
			if (s->functions[i].match != NONE && s->functions[i].key)
				*table_at(&t, key_of(&s->functions[i], BY_NAME_AND_FILE)) =
					(uint32_t)s->functions[i].match + 1;
		for (size_t i = 0; i < s->n_functions && !status; i++) {
			struct part *p = &s->functions[i];
			const uint32_t *slot = p->match == NONE && p->key
						       ? table_at(&t, key_of(p, BY_NAME_AND_FILE))
						       : NULL;

			if (!slot || !*slot)
				continue;
			p->match = *slot - 1;
			add_part(&d->functions.items[p->match], p->row, k);
		}
		table_destroy(&t);
	}
	return status;
}

static int add_alone(struct tact_diff *d)
{
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; i < d->sides[k].n_functions; i++) {
			struct part *p = &d->sides[k].functions[i];

			if (p->match != NONE)
				continue;
			p->match = add_row(&d->functions);
			if (p->match < 0)
				return -TACT_E_NOMEM;
			add_part(&d->functions.items[p->match], p->row, k);
		}
	}
	return 0;
}

/* Finds the row of the function that a block belongs to, in a table by name and file. */
static int find_function(struct table *names, const struct side *s, const struct part *block)
{
	const uint32_t *slot = table_at(names, place_key(block->row));

	return *slot ? (int)s->functions[*slot - 1].match : NONE;
}

static int name_table(struct table *t, const struct side *s)
{
	int status = table_create(t, s->n_functions + s->n_blocks);

	for (size_t i = 0; i < s->n_functions && !status; i++) {
		uint32_t *slot = table_at(t, place_key(s->functions[i].row));

		if (!*slot)
			*slot = (uint32_t)i + 1;
	}
	return status;
}

/* Joins blocks of one function with the same content. */
static int match_blocks(struct tact_diff *d)
{
	struct table rows = {0}, names[2] = {{.n = 0}, {.n = 0}};
	int status = table_create(&rows, d->sides[0].n_blocks + d->sides[1].n_blocks);

	for (unsigned k = 0; k < 2 && !status; k++) {
		const struct side *s = &d->sides[k];

		status = name_table(&names[k], s);
		for (size_t i = 0; i < s->n_blocks && !status; i++) {
			struct part *p = &s->blocks[i];
			const int function = find_function(&names[k], s, p);
			uint32_t *slot;

			if (function == NONE)
				continue;
			slot = table_at(&rows, code_mix(p->key, (uint64_t)function));
			if (!*slot) {
				if (add_row(&d->blocks) < 0) {
					status = -TACT_E_NOMEM;
					break;
				}
				*slot = (uint32_t)d->blocks.n;
				d->blocks.items[d->blocks.n - 1].function = (uint32_t)function;
			}
			p->match = *slot - 1;
			add_part(&d->blocks.items[*slot - 1], p->row, k);
		}
	}
	table_destroy(&rows);
	table_destroy(&names[0]);
	table_destroy(&names[1]);
	return status;
}

/* ---- order ---- */

static double change(const struct diff_row *row)
{
	const double x = row->cycles[1] - row->cycles[0];

	return x < 0 ? -x : x;
}

static int compare(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	const struct tact_result_row *p = x->b ? x->b : x->a, *q = y->b ? y->b : y->a;
	int order;

	if (change(x) != change(y))
		return change(x) > change(y) ? -1 : 1;
	if (x->cycles[0] + x->cycles[1] != y->cycles[0] + y->cycles[1])
		return x->cycles[0] + x->cycles[1] > y->cycles[0] + y->cycles[1] ? -1 : 1;
	order = strcmp(p->function, q->function);
	if (!order)
		order = strcmp(p->module, q->module);
	return order ? order : (p->address > q->address) - (p->address < q->address);
}

static int sort_rows(struct tact_diff *d)
{
	uint32_t *now = calloc(d->functions.n + 1, sizeof(*now));

	if (!now)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < d->functions.n; i++)
		d->functions.items[i].function = (uint32_t)i;
	if (d->functions.n)
		qsort(d->functions.items, d->functions.n, sizeof(*d->functions.items), compare);
	for (size_t i = 0; i < d->functions.n; i++) {
		now[d->functions.items[i].function] = (uint32_t)i;
		d->functions.items[i].function = (uint32_t)i;
	}
	for (size_t i = 0; i < d->blocks.n; i++)
		d->blocks.items[i].function = now[d->blocks.items[i].function];
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < d->sides[k].n_functions; i++)
			d->sides[k].functions[i].match = now[d->sides[k].functions[i].match];
	/* A block's number becomes that of its function, before the blocks move. */
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < d->sides[k].n_blocks; i++)
			if (d->sides[k].blocks[i].match != NONE)
				d->sides[k].blocks[i].match =
					d->blocks.items[d->sides[k].blocks[i].match].function;
	if (d->blocks.n)
		qsort(d->blocks.items, d->blocks.n, sizeof(*d->blocks.items), compare);
	free(now);
	return 0;
}

int tact_diff_create(struct tact_diff **out, const struct tact_result *a,
		     const struct tact_result *b, struct tact_diag *diag)
{
	struct tact_diff *d;
	int status;

	if (out)
		*out = NULL;
	if (!out || !a || !b)
		return tact_fail(diag, TACT_E_INVAL, "two results are needed");
	d = calloc(1, sizeof(*d));
	if (!d)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	d->results[0] = a;
	d->results[1] = b;
	status = load_side(&d->sides[0], a);
	if (!status)
		status = load_side(&d->sides[1], b);
	for (enum pass pass = BY_NAME_AND_FILE; pass < ALONE && !status; pass++)
		status = match_functions(d, pass);
	if (!status)
		status = join_variants(d);
	if (!status)
		status = add_alone(d);
	if (!status)
		status = match_blocks(d);
	if (!status)
		status = sort_rows(d);
	if (status) {
		tact_diff_destroy(d);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	*out = d;
	return 0;
}

void tact_diff_destroy(struct tact_diff *d)
{
	if (!d)
		return;
	for (unsigned k = 0; k < 2; k++) {
		free(d->sides[k].functions);
		free(d->sides[k].blocks);
	}
	free(d->functions.items);
	free(d->blocks.items);
	free(d);
}

const struct diff_row *diff_rows(const struct tact_diff *d, enum tact_result_kind kind, size_t *n)
{
	const struct diff_table *rows = kind == TACT_RESULT_BLOCK ? &d->blocks : &d->functions;

	*n = rows->n;
	return rows->items;
}

size_t tact_diff_count(const struct tact_diff *d, enum tact_result_kind kind)
{
	size_t n;

	if (!d || (kind != TACT_RESULT_FUNCTION && kind != TACT_RESULT_BLOCK))
		return 0;
	diff_rows(d, kind, &n);
	return n;
}

int tact_diff_get_row(const struct tact_diff *d, enum tact_result_kind kind, size_t i,
		      struct tact_diff_row *out)
{
	struct tact_diff_row row = {.size = sizeof(row)};
	const struct diff_row *x;
	size_t n;

	if (i >= tact_diff_count(d, kind))
		return -TACT_E_INVAL;
	x = &diff_rows(d, kind, &n)[i];
	for (unsigned k = 0; k < 2; k++) {
		const struct tact_result_row *of = k ? x->b : x->a;

		row.row[k] = of ? (size_t)(of - result_rows(d->results[k], kind, &n)) : TACT_NO_ROW;
		row.cycles[k] = x->cycles[k];
		row.executions[k] = x->executions[k];
		row.instructions[k] = x->instructions[k];
		memcpy(row.stalls[k], x->stalls[k], sizeof(x->stalls[k]));
	}
	row.function = x->function;
	return tact_fill(out, &row, sizeof(row));
}

const struct tact_result *tact_diff_side(const struct tact_diff *d, unsigned side)
{
	return d && side < 2 ? d->results[side] : NULL;
}

double tact_diff_ratio(const struct tact_diff *d)
{
	const double before = d ? d->results[0]->totals.cycles : 0;

	return before > 0 ? d->results[1]->totals.cycles / before : 0;
}
