/* SPDX-License-Identifier: MIT
 *
 * Tables of tact evaluate for programs: CSV, JSON, and all rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "common/cli.h"
#include "evaluator.h"

/* All groups and models, in the order of the text. */
void evaluate_scores(const struct evaluator *p, struct text *out)
{
	struct evaluate_table t;

	evaluate_table_init(&t, p, p->format, out);
	table_header(&t.table);
	for (int step = TACT_BY_SET; step <= TACT_N_GROUPINGS; step++) {
		enum tact_grouping kind =
			step == TACT_N_GROUPINGS ? TACT_BY_NOTHING : (enum tact_grouping)step;
		uint32_t *order;
		size_t n;

		if (kind == TACT_BY_NOTHING && p->e->n_sets < 2)
			continue; /* the same as its only set */
		n = evaluate_order(p, kind, TACT_ALL_SETS, &order);
		for (size_t i = 0; i < n; i++)
			evaluate_table_row(&t, kind, order[i]);
		free(order);
	}
	table_fini(&t.table);
}

/* ---- JSON ---- */

static void begin(struct json *json, const char *kind)
{
	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.evaluate/1");
	json_put_string(json, "kind", kind);
}

static void add_json_bottlenecks(const struct tact_evaluated_bottlenecks *at, struct text *out)
{
	struct json json = {.out = out};

	begin(&json, "bottlenecks");
	json_put_string(&json, "arch", tact_arch_name(at->arch));
	json_begin_object(&json, "shares");
	for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
		json_put_fixed(&json, tact_bottleneck_name(k), at->share[k], 6);
	json_end(&json);
	json_begin_object(&json, "ideal_speedups");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		json_put_fixed(&json, tact_bottleneck_name(b), at->speedup[b], 6);
	json_end_line(&json);
}

static void add_json_flow(const struct evaluator *p, size_t a, struct text *out)
{
	enum { N = TACT_N_BOTTLENECKS };
	struct json json = {.out = out};
	double flow[N * N], sum = 0;

	tact_evaluation_flow(p->e, a, flow);
	for (unsigned k = 0; k < N * N; k++)
		sum += flow[k];
	begin(&json, "flow");
	json_put_string(&json, "from_arch", tact_arch_name(p->e->bottlenecks[a].arch));
	json_put_string(&json, "to_arch", tact_arch_name(p->e->bottlenecks[a + 1].arch));
	json_begin_array(&json, "flows");
	for (unsigned k = 0; k < N * N; k++) {
		if (!(flow[k] > 0))
			continue;
		json_begin_object(&json, NULL);
		json_put_string(&json, "from", tact_bottleneck_name(k / N));
		json_put_string(&json, "to", tact_bottleneck_name(k % N));
		json_put_fixed(&json, "share", flow[k] / sum, 6);
		json_end(&json);
	}
	json_end_line(&json);
}

void evaluate_json(const struct evaluator *p, struct text *out)
{
	evaluate_scores(p, out);
	if (!p->bottleneck_archs && !p->is_combining)
		return;
	for (size_t a = 0; a < p->e->n_bottlenecks; a++)
		add_json_bottlenecks(&p->e->bottlenecks[a], out);
	for (size_t a = 0; a + 1 < p->e->n_bottlenecks; a++)
		add_json_flow(p, a, out);
}

/* ---- rows ---- */

/* The i-th row: the columns that tact evaluate reads itself, then every model's. */
static void add_row(const struct evaluator *p, size_t i, struct text *out)
{
	const struct tact_evaluated_row *row = &p->e->row[i];
	const struct tact_evaluated_set *set = &p->e->set[row->set];

	text_hex(out, p->e->row[i].code, row->code_size);
	text_printf(out, ",%s,%s,%.6g", tact_arch_name(set->arch), tact_mode_name(set->mode),
		    p->e->measured[i]);
	for (size_t m = 0; m < p->e->n_models; m++) {
		const struct tact_evaluated_model *model = &p->e->model[m];

		text_add(out, ",");
		if (model->outcomes[i] == TACT_OUTCOME_GOOD)
			text_number(out, model->predicted[i]);
		else
			text_add(out, tact_outcome_name((enum tact_outcome)model->outcomes[i]));
	}
	text_add(out, "\n");
}

int evaluate_begin_rows(struct evaluator *p)
{
	struct text text = {0};

	if (output_open(&p->rows, p->rows_path))
		return CLI_FAILED;
	p->has_rows = true;
	text_add(&text, "hex,arch,mode,cycles");
	for (size_t m = 0; m < p->e->n_models; m++) {
		text_add(&text, ",");
		text_csv_field(&text, p->e->model[m].name, strlen(p->e->model[m].name), false);
	}
	text_add(&text, "\n");
	output_write(&p->rows, &text);
	text_free(&text);
	return CLI_GOOD;
}

void evaluate_add_rows(struct evaluator *p)
{
	enum { WRITE_AT = 1 << 16 };
	struct text text = {0};

	for (size_t i = 0; i < p->e->n_here; i++) {
		add_row(p, i, &text);
		if (text.size > WRITE_AT)
			output_write(&p->rows, &text);
	}
	output_write(&p->rows, &text);
	text_free(&text);
}

int evaluate_end_rows(struct evaluator *p)
{
	p->has_rows = false;
	return output_close(&p->rows) ? CLI_FAILED : CLI_GOOD;
}
