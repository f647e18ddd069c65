/* SPDX-License-Identifier: MIT
 *
 * The baseline that code makes: JSON lines, sorted so that two of them are easy to compare.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/version.h>

#include "base/file.h"
#include "base/json.h"
#include "check/check.h"

struct written {
	const struct check_section *section;
	const struct code_piece *piece;
	const struct code_cost *cost;
	size_t order; /* in the file */
};

static int compare(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	int order = strcmp(x->section->name, y->section->name);

	if (!order)
		order = strcmp(x->piece->function, y->piece->function);
	return order ? order : ORDER(x->order, y->order);
}

/* Lists the pieces that the files have. */
static struct written *list(const struct tact_codecheck *check, size_t *n)
{
	struct written *all;
	size_t most = 0;

	for (size_t i = 0; i < check->n; i++)
		most += check->sections[i].diff ? check->sections[i].diff->n_rows : 0;
	all = calloc(most + 1, sizeof(*all));
	*n = 0;
	for (size_t i = 0; i < check->n && all; i++) {
		const struct tact_codediff *diff = check->sections[i].diff;

		for (size_t k = 0; diff && k < diff->n_rows; k++) {
			const struct code_piece *piece = diff->rows[k].side[1];

			if (piece)
				all[(*n)++] = (struct written){
					&check->sections[i], piece, diff->rows[k].cost[1],
					(size_t)(piece - diff->side[1]->pieces)};
		}
	}
	if (all)
		qsort(all, *n, sizeof(*all), compare);
	return all;
}

static void put_costs(struct json *json, const struct written *w)
{
	bool is_whole = true;

	json_begin_object(json, "cycles");
	for (size_t i = 0; i < w->section->n_archs; i++) {
		const char *arch = tact_arch_name(w->section->archs[i]);

		json_put_key(json, arch, strlen(arch));
		if (w->cost[i].status)
			json_put_null(json, NULL);
		else
			json_put_number(json, NULL, w->cost[i].cycles);
		is_whole &= w->cost[i].status || w->cost[i].coverage >= 1;
	}
	json_end(json);
	if (is_whole)
		return;
	json_begin_object(json, "coverage");
	for (size_t i = 0; i < w->section->n_archs; i++) {
		const char *arch = tact_arch_name(w->section->archs[i]);

		if (w->cost[i].status || w->cost[i].coverage >= 1)
			continue;
		json_put_key(json, arch, strlen(arch));
		json_put_number(json, NULL, w->cost[i].coverage);
	}
	json_end(json);
}

static void put_piece(struct json *json, const struct written *w)
{
	const struct code_piece *p = w->piece;

	json_begin_object(json, NULL);
	json_put_string(json, "schema", BASELINE_SCHEMA);
	json_put_string(json, "kind", "code");
	json_put_string(json, "section", w->section->name);
	json_put_string(json, "function", p->function);
	json_put_string(json, "name", p->name);
	put_costs(json, w);
	json_put_string(json, "model", w->section->model);
	if (*p->source)
		json_put_string(json, "source", p->source);
	json_put_bool(json, "loop", p->is_loop);
	json_put_string(json, "isa", tact_isa_name(w->section->code[1]->isa));
	if (p->alignment)
		json_put_count(json, "alignment", p->alignment);
	if (p->moving)
		json_put_count(json, "moving", p->moving);
	json_put_hex(json, "code", p->code, p->code_size);
	json_end_line(json);
}

void baseline_print(const struct tact_codecheck *check, struct text *out)
{
	struct json json = {.out = out};
	size_t n;
	struct written *all = list(check, &n);

	if (!all) {
		out->failed = true;
		return;
	}
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", BASELINE_SCHEMA);
	json_put_string(&json, "kind", "baseline");
	json_printf_string(&json, "tact", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	json_end_line(&json);
	for (size_t i = 0; i < n; i++)
		put_piece(&json, &all[i]);
	free(all);
}

int tact_codecheck_update(const struct tact_codecheck *check, struct tact_diag *diag)
{
	struct text text = {0};

	if (!check || !check->has_run)
		return tact_fail(diag, TACT_E_INVAL, "nothing was predicted");
	if (check->summary.n_files_failed)
		return tact_fail(diag, TACT_E_INVAL, "a file could not be read");
	baseline_print(check, &text);
	return file_write_text(check->baseline, &text, diag);
}
