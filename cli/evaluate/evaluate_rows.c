/* SPDX-License-Identifier: MIT
 *
 * The measured rows of tact evaluate: from tables and stores, with their groups.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/dataset.h>

#include "common/cli.h"
#include "evaluator.h"

/* A row as it comes from wherever it comes from; all is borrowed. */
struct incoming {
	const uint8_t *code, *loop; /* loop_size 0: there is no loop's code */
	size_t code_size, loop_size;
	double cycles, weight;
	bool has_cycles;
	int clean;			    /* < 0: not known */
	const char *arch, *mode, *category; /* "": nothing is said */
	int init;			    /* < 0 */
	const char *const *apps;	    /* with weights; without those the row's counts */
	const double *app_weights;
	size_t n_apps;
	uint64_t line;
	int64_t block; /* in its store */
};

struct reader {
	struct evaluator *p;
	uint32_t input;
	struct tact_block *block; /* owned; tells loops from other code */
};

const char *evaluate_mode_name(enum tact_mode mode)
{
	return mode == TACT_MODE_LOOP ? "loop" : "unroll";
}

const uint8_t *evaluate_code(const struct evaluate_rows *rows, size_t i)
{
	return rows->bytes + rows->row[i].at;
}

/* ---- groups ---- */

static uint32_t hash(uint32_t set, const char *label)
{
	uint32_t h = 2166136261u ^ set; /* FNV-1a */

	for (const char *c = label ? label : ""; *c; c++)
		h = (h ^ (unsigned char)*c) * 16777619u;
	return h ^ h >> 15;
}

static void rehash(struct evaluate_grouping *g)
{
	g->n_slots = g->n_slots ? 2 * g->n_slots : 64;
	g->slots = cli_realloc(g->slots, g->n_slots * sizeof(*g->slots));
	memset(g->slots, 0xff, g->n_slots * sizeof(*g->slots));
	for (size_t i = 0; i < g->n; i++) {
		size_t s = hash(g->group[i].set, g->group[i].label);

		while (g->slots[s & (g->n_slots - 1)] != EVALUATE_NONE)
			s++;
		g->slots[s & (g->n_slots - 1)] = (uint32_t)i;
	}
}

static uint32_t find_group(struct evaluate_grouping *g, uint32_t set, const char *label)
{
	struct evaluate_group *group;
	size_t s;

	if (2 * g->n >= g->n_slots)
		rehash(g);
	for (s = hash(set, label);; s++) {
		uint32_t i = g->slots[s & (g->n_slots - 1)];

		if (i == EVALUATE_NONE)
			break;
		if (g->group[i].set == set &&
		    (label ? !strcmp(g->group[i].label, label) : !g->group[i].label))
			return i;
	}
	if (g->n == g->capacity) {
		g->capacity = g->capacity ? 2 * g->capacity : 16;
		g->group = cli_realloc(g->group, g->capacity * sizeof(*g->group));
	}
	g->slots[s & (g->n_slots - 1)] = (uint32_t)g->n;
	group = &g->group[g->n];
	*group = (struct evaluate_group){.set = set, .label = label ? strdup(label) : NULL};
	if (label && !group->label)
		cli_out_of_memory();
	return (uint32_t)g->n++;
}

static void add_member(struct evaluate_grouping *g, size_t row, uint32_t set, const char *label,
		       double weight)
{
	if (g->n_members == g->member_capacity) {
		size_t n = g->member_capacity ? 2 * g->member_capacity : 1024;

		g->row = cli_realloc(g->row, n * sizeof(*g->row));
		g->of = cli_realloc(g->of, n * sizeof(*g->of));
		g->weight = cli_realloc(g->weight, n * sizeof(*g->weight));
		g->member_capacity = n;
	}
	g->row[g->n_members] = (uint32_t)row;
	g->of[g->n_members] = find_group(g, set, label);
	g->weight[g->n_members++] = weight;
}

static void grouping_fini(struct evaluate_grouping *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->group[i].label);
	free(g->group);
	free(g->slots);
	free(g->row);
	free(g->of);
	free(g->weight);
}

void evaluate_rows_fini(struct evaluate_rows *rows)
{
	for (int kind = 0; kind < EVALUATE_KINDS; kind++)
		grouping_fini(&rows->by[kind]);
	free(rows->row);
	free(rows->measured);
	free(rows->weight);
	free(rows->bytes);
	free(rows->set);
}

/* ---- CPU, mode, code ---- */

/* Says only once what is wrong with the parameters. */
static bool derive(struct evaluator *p, unsigned i)
{
	struct tact_diag diag = {0};
	struct text err = {0};
	int status = tact_arch_derive(&p->derived[i], p->arch[i], p->params, &diag);

	if (status >= 0) {
		p->arch[i] = p->derived[i];
		return true;
	}
	if (p->is_params_bad)
		return false;
	p->is_params_bad = true;
	cli_place(&err, p->params, diag.line, diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return false;
}

int evaluate_arch(struct evaluator *p, const char *name)
{
	const struct tact_arch *arch = tact_arch_find(name);

	if (!arch)
		return -1;
	for (unsigned i = 0; i < p->n_archs; i++)
		if (!strcmp(tact_arch_name(p->arch[i]), tact_arch_name(arch)))
			return (int)i;
	if (p->n_archs == EVALUATE_MAX_ARCHS)
		return -1;
	p->arch[p->n_archs] = arch;
	if (p->params && !derive(p, p->n_archs))
		return -1;
	return (int)p->n_archs++;
}

/* That of this machine, which is said once. */
static int default_arch(struct evaluator *p)
{
	struct archlist list = {0};

	if (p->default_arch < 0) {
		archlist_resolve(&list, NULL, p->is_quiet);
		p->default_arch = evaluate_arch(p, tact_arch_name(list.arch[0]));
		archlist_fini(&list);
	}
	return p->default_arch;
}

static int choose_arch(struct reader *r, const struct incoming *in)
{
	const char *given = r->p->inputs[r->input].setting.arch;
	struct evaluate_rows *rows = &r->p->rows;
	int arch;

	if (!given && !*in->arch)
		return default_arch(r->p);
	arch = evaluate_arch(r->p, given ? given : in->arch);
	if (arch < 0 && !rows->n_unknown_arch++)
		snprintf(rows->unknown_arch, sizeof(rows->unknown_arch), "%s", in->arch);
	return arch;
}

/* Whether the last bytes can be a branch to the start; most code has none, and need not be decoded
 * for that.
 */
static bool may_be_loop(const uint8_t *code, size_t size)
{
	int32_t back;

	if (size >= 2 && size <= 128 && (int8_t)code[size - 1] == -(int)size)
		return true;
	if (size < 5)
		return false;
	memcpy(&back, code + size - 4, sizeof(back));
	return back == -(int32_t)size;
}

static bool is_loop(struct reader *r, const uint8_t *code, size_t size)
{
	if (!may_be_loop(code, size))
		return false;
	if (!r->block &&
	    tact_block_create(&r->block, tact_arch_next(NULL), NULL, NULL) == -TACT_E_NOMEM)
		cli_out_of_memory();
	return tact_block_load(r->block, code, size, NULL) >= 0 &&
	       tact_block_mode(r->block) == TACT_MODE_LOOP;
}

static enum tact_mode choose_mode(struct reader *r, const struct incoming *in)
{
	int given = r->p->inputs[r->input].setting.mode;

	if (given == TACT_MODE_LOOP || given == TACT_MODE_UNROLL)
		return (enum tact_mode)given;
	if (!strcmp(in->mode, "loop"))
		return TACT_MODE_LOOP;
	if (!strcmp(in->mode, "unroll"))
		return TACT_MODE_UNROLL;
	if (in->loop_size)
		return TACT_MODE_LOOP;
	return is_loop(r, in->code, in->code_size) ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
}

static uint8_t *add_bytes(struct evaluate_rows *rows, size_t size)
{
	if (rows->bytes_capacity - rows->n_bytes < size) {
		size_t n = rows->bytes_capacity ? 2 * rows->bytes_capacity : 1 << 16;

		while (n - rows->n_bytes < size)
			n *= 2;
		rows->bytes = cli_realloc(rows->bytes, n);
		rows->bytes_capacity = n;
	}
	return rows->bytes + rows->n_bytes;
}

/* The code that ran: as a loop it has its branch. */
static size_t add_code(struct reader *r, const struct incoming *in, enum tact_mode mode)
{
	struct evaluate_rows *rows = &r->p->rows;
	size_t size = in->code_size;
	uint8_t *to;

	if (mode == TACT_MODE_LOOP && in->loop_size) {
		size = in->loop_size;
		memcpy(add_bytes(rows, size), in->loop, size);
	} else if (mode == TACT_MODE_LOOP && !is_loop(r, in->code, in->code_size)) {
		to = add_bytes(rows, size + TACT_MEASURE_LOOP_BYTES);
		size = tact_measure_loop(to, in->code, in->code_size);
	} else {
		memcpy(add_bytes(rows, size), in->code, size);
	}
	rows->n_bytes += size;
	return size;
}

static uint32_t find_set(struct evaluate_rows *rows, unsigned arch, enum tact_mode mode)
{
	for (size_t i = 0; i < rows->n_sets; i++)
		if (rows->set[i].arch == arch && rows->set[i].mode == mode)
			return (uint32_t)i;
	rows->set = cli_realloc(rows->set, (rows->n_sets + 1) * sizeof(*rows->set));
	rows->set[rows->n_sets] = (struct evaluate_set){.arch = arch, .mode = mode};
	return (uint32_t)rows->n_sets++;
}

static void grow_rows(struct evaluate_rows *rows)
{
	size_t n = rows->capacity ? 2 * rows->capacity : 1024;

	rows->row = cli_realloc(rows->row, n * sizeof(*rows->row));
	rows->measured = cli_realloc(rows->measured, n * sizeof(*rows->measured));
	rows->weight = cli_realloc(rows->weight, n * sizeof(*rows->weight));
	rows->capacity = n;
}

static void add_groups(struct evaluate_rows *rows, const struct incoming *in, uint32_t set)
{
	size_t row = rows->n;

	add_member(&rows->by[BY_NOTHING], row, EVALUATE_NONE, NULL, in->weight);
	add_member(&rows->by[BY_SET], row, set, NULL, in->weight);
	for (size_t i = 0; i < in->n_apps; i++)
		add_member(&rows->by[BY_APP], row, set, in->apps[i],
			   in->app_weights ? in->app_weights[i] : in->weight);
	if (*in->category)
		add_member(&rows->by[BY_CATEGORY], row, set, in->category, in->weight);
}

/* Takes the row, or counts why it does not. */
static void add_row(struct reader *r, const struct incoming *in)
{
	const struct evaluate_setting *setting = &r->p->inputs[r->input].setting;
	struct evaluate_rows *rows = &r->p->rows;
	struct evaluate_row row = {
		.input = r->input, .line = (uint32_t)in->line, .block = in->block};
	enum tact_mode mode;
	int arch, init;

	if (r->p->is_clean && in->clean != 1) {
		rows->n_unclean++;
		return;
	}
	if (!in->has_cycles || !(in->cycles > 0)) {
		*(in->has_cycles ? &rows->n_not_positive : &rows->n_unmeasured) += 1;
		return;
	}
	arch = choose_arch(r, in);
	if (arch < 0)
		return;
	mode = choose_mode(r, in);
	init = setting->init >= 0 ? setting->init : in->init >= 0 ? in->init : TACT_INIT_STACK;
	if (rows->n == rows->capacity)
		grow_rows(rows);
	row.set = find_set(rows, (unsigned)arch, mode);
	row.at = rows->n_bytes;
	row.size = (uint32_t)add_code(r, in, mode);
	row.init = (uint8_t)init;
	rows->set[row.set].n++;
	add_groups(rows, in, row.set);
	rows->measured[rows->n] = in->cycles;
	rows->weight[rows->n] = in->weight;
	rows->row[rows->n++] = row;
}

/* ---- tables ---- */

static int init_of(const char *name)
{
	return !strcmp(name, "stack")  ? TACT_INIT_STACK
	       : !strcmp(name, "same") ? TACT_INIT_SAME
	       : !strcmp(name, "diff") ? TACT_INIT_DIFF
				       : -1;
}

static void complain(const char *path, const struct tact_diag *diag, int status)
{
	struct text err = {0};

	cli_place(&err, path, diag->line, diag->text[0] ? diag->text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
}

static void add_table_row(struct reader *r, const struct tact_table_row *row)
{
	const struct incoming in = {
		.code = row->code,
		.code_size = row->code_size,
		.loop = row->loop,
		.loop_size = row->loop_size,
		.cycles = row->cycles,
		.has_cycles = row->has_cycles,
		.weight = row->weight,
		.clean = row->clean,
		.arch = row->arch,
		.mode = row->mode,
		.init = init_of(row->init),
		.category = row->category,
		.apps = &row->app,
		.n_apps = *row->app != '\0',
		.line = row->line,
	};

	add_row(r, &in);
}

/* A bad row is reported and left out; after some of them only their number is. */
static int read_table(struct reader *r, const char *path)
{
	enum { SHOWN = 5 };
	struct tact_table *table;
	struct tact_table_row row;
	struct tact_diag diag = {0};
	size_t n_bad = 0;
	int status = tact_table_open(&table, path, &diag);

	if (status < 0) {
		complain(path, &diag, status);
		return CLI_FAILED;
	}
	for (;;) {
		diag = (struct tact_diag){0};
		status = tact_table_next(table, &row, &diag);
		if (status > 0) {
			add_table_row(r, &row);
			continue;
		}
		if (!status)
			break;
		if (n_bad++ < SHOWN)
			complain(path, &diag, status);
		if (status != -TACT_E_FORMAT)
			break;
	}
	tact_table_close(table);
	if (n_bad > SHOWN)
		cli_message("%s: %zu more bad rows", path, n_bad - SHOWN);
	r->p->rows.n_bad += n_bad;
	return n_bad ? CLI_FAILED : CLI_GOOD;
}

/* ---- stores ---- */

/* Applications of a block, with weights; the block's weight is their sum.  What is not known is 1.
 */
struct sources {
	const char **app; /* owned */
	double *weight;	  /* owned */
	size_t capacity;
};

static double take_sources(struct sources *s, const struct tact_store_row *row)
{
	double sum = 0;

	if (row->n_sources > s->capacity) {
		s->capacity = 2 * row->n_sources;
		s->app = cli_realloc(s->app, s->capacity * sizeof(*s->app));
		s->weight = cli_realloc(s->weight, s->capacity * sizeof(*s->weight));
	}
	for (size_t i = 0; i < row->n_sources; i++) {
		double weight = row->sources[i].weight;

		s->app[i] = row->sources[i].app;
		s->weight[i] = weight > 0 && isfinite(weight) ? weight : 1;
		sum += s->weight[i];
	}
	return sum > 0 ? sum : 1;
}

static void add_store_row(struct reader *r, const struct tact_store_row *row, struct sources *s)
{
	const struct tact_measurement *m = &row->measurement;
	const struct tact_machine *machine = row->machine;
	struct incoming in = {
		.code = row->code,
		.code_size = row->code_size,
		.loop = row->loop_code,
		.loop_size = row->loop_code ? row->loop_size : 0,
		.cycles = m->cycles_per_iteration,
		.has_cycles = m->status == TACT_MEASURE_OK,
		.weight = take_sources(s, row),
		.clean = row->clean,
		.arch = machine->arch[0] ? machine->arch : machine->brand,
		.mode = evaluate_mode_name(m->mode),
		.category = row->category,
		.init = (int)m->init,
		.n_apps = row->n_sources,
		.block = row->block,
	};

	in.apps = s->app;
	in.app_weights = s->weight;
	add_row(r, &in);
}

static int read_store_rows(struct reader *r, struct tact_store *store, struct tact_diag *diag)
{
	struct tact_store_iter *iter;
	struct tact_store_row row = {.size = sizeof(row)};
	struct sources sources = {0};
	int status = tact_store_iter_create(&iter, store, diag);

	if (status < 0)
		return status;
	while ((status = tact_store_iter_next(iter, &row, diag)) > 0)
		add_store_row(r, &row, &sources);
	tact_store_iter_destroy(iter);
	free(sources.app);
	free(sources.weight);
	return status;
}

static int read_store(struct reader *r, const char *path)
{
	struct tact_diag diag = {0};
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status >= 0) {
		status = read_store_rows(r, store, &diag);
		tact_store_close(store);
	}
	if (status >= 0)
		return CLI_GOOD;
	complain(path, &diag, status);
	return CLI_FAILED;
}

/* ---- all inputs ---- */

static void remark(const struct evaluator *p)
{
	const struct evaluate_rows *rows = &p->rows;

	if (rows->n_unknown_arch)
		cli_message("%zu rows of a CPU that tact has no tables of (%s) were left out; "
			    "'tact archs' lists those it has",
			    rows->n_unknown_arch, rows->unknown_arch);
	if (p->is_quiet)
		return;
	if (rows->n_unmeasured)
		cli_message("%zu rows without a measured number were left out", rows->n_unmeasured);
	if (rows->n_not_positive)
		cli_message("%zu rows whose measured cycles are not above 0 were left out",
			    rows->n_not_positive);
	if (rows->n_unclean && p->is_verbose)
		cli_message("%zu rows that are not clean were left out", rows->n_unclean);
}

int evaluate_read(struct evaluator *p)
{
	struct reader r = {.p = p};
	int status = CLI_GOOD;

	for (size_t i = 0; i < p->n_inputs; i++) {
		const char *path = p->inputs[i].path;
		int one;

		r.input = (uint32_t)i;
		one = tact_store_is_store(path) ? read_store(&r, path) : read_table(&r, path);
		if (one)
			status = one;
	}
	tact_block_destroy(r.block);
	if (p->is_params_bad)
		return CLI_USAGE;
	remark(p);
	if (p->rows.n)
		return status;
	cli_message("there is no measured row to compare with");
	return CLI_FAILED;
}
