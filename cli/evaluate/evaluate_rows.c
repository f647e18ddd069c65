/* SPDX-License-Identifier: MIT
 *
 * The measured rows of tact evaluate: from tables and stores, with their groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/rows.h>

#include "common/cli.h"
#include "common/measured.h"
#include "evaluator.h"

struct reader {
	struct evaluator *p;
	uint32_t input;
	struct tact_ran *ran; /* owned */
};

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

static int choose_arch(struct reader *r, const struct tact_row *in)
{
	const char *given = r->p->inputs[r->input].setting.arch;
	struct evaluate_rows *rows = &r->p->rows;
	const char *said = *in->arch ? in->arch : in->machine;
	int arch;

	if (!given && !*said)
		return default_arch(r->p);
	arch = evaluate_arch(r->p, given ? given : said);
	if (arch < 0 && !rows->n_unknown_arch++)
		snprintf(rows->unknown_arch, sizeof(rows->unknown_arch), "%s", said);
	return arch;
}

static enum tact_mode choose_mode(struct reader *r, const struct tact_row *in)
{
	int given = r->p->inputs[r->input].setting.mode;

	if (given == TACT_MODE_LOOP || given == TACT_MODE_UNROLL)
		return (enum tact_mode)given;
	if (in->mode != TACT_MODE_AUTO)
		return in->mode;
	return in->loop_size || tact_ran_is_loop(in->code, in->code_size) ? TACT_MODE_LOOP
									  : TACT_MODE_UNROLL;
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

static size_t add_code(struct reader *r, const struct tact_row *in, enum tact_mode mode)
{
	struct evaluate_rows *rows = &r->p->rows;
	const uint8_t *code;
	size_t size;

	if (tact_ran_code(r->ran, in, mode, &code, &size) < 0)
		cli_out_of_memory();
	memcpy(add_bytes(rows, size), code, size);
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

static void add_groups(struct evaluate_rows *rows, const struct tact_row *in, uint32_t set)
{
	size_t row = rows->n;

	add_member(&rows->by[BY_NOTHING], row, EVALUATE_NONE, NULL, in->weight);
	add_member(&rows->by[BY_SET], row, set, NULL, in->weight);
	for (size_t i = 0; i < in->n_sources; i++)
		add_member(&rows->by[BY_APP], row, set, in->sources[i].app, in->sources[i].weight);
	if (*in->category)
		add_member(&rows->by[BY_CATEGORY], row, set, in->category, in->weight);
}

/* Takes the row, or counts why it does not. */
static void add_row(void *context, const struct tact_row *in)
{
	struct reader *r = context;
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

	if (tact_ran_create(&r.ran) < 0)
		cli_out_of_memory();
	for (; r.input < p->n_inputs; r.input++)
		if (measured_read(p->inputs[r.input].path, add_row, &r))
			status = CLI_FAILED;
	tact_ran_destroy(r.ran);
	if (p->is_params_bad)
		return CLI_USAGE;
	remark(p);
	if (p->rows.n)
		return status;
	cli_message("there is no measured row to compare with");
	return CLI_FAILED;
}
