/* SPDX-License-Identifier: MIT
 *
 * What became of each piece of code since the baseline was stored.  The code of the baseline is
 * predicted again, so that a difference comes from the code and not from another version of tact.
 */
#include "check/check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/remark.h>
#include <tact/version.h>

#include "base/file.h"
#include "base/hash.h"
#include "check/ini.h"
#include "obj/obj.h"

enum { MOST_BASELINE = 1 << 30 };

const char *check_keep(struct tact_codecheck *check, const char *string)
{
	const size_t size = strlen(string) + 1;
	char *copy = tact_arena_take(&check->memory, size);

	return copy ? memcpy(copy, string, size) : NULL;
}

const char *check_status_name(enum check_status status)
{
	static const char *const names[N_CHECK_STATUSES] = {
		[CHECK_OVER] = "over",	   [CHECK_FAILED] = "failed",	[CHECK_SLOWER] = "slower",
		[CHECK_FASTER] = "faster", [CHECK_NEW] = "new",		[CHECK_GONE] = "gone",
		[CHECK_SAME] = "same",	   [CHECK_UNKNOWN] = "unknown",
	};

	return NAME_OF(names, status, "?");
}

const struct code_piece *check_piece(const struct check_row *row)
{
	return row->code->side[1] ? row->code->side[1] : row->code->side[0];
}

bool check_is_unsure(const struct check_row *row)
{
	return row->is_lower_bound[0] || row->is_lower_bound[1];
}

const char *check_old_name(const struct check_row *row)
{
	const struct code_piece *p = row->code->side[0];

	return *p->function && !strncmp(p->name, p->function, strlen(p->function)) ? p->function
										   : p->name;
}

bool check_is_plain(const struct check_row *row)
{
	return row->status == CHECK_SAME && !row->is_renamed && !row->has_other_tact &&
	       !check_is_unsure(row);
}

const struct baseline_cost *baseline_cost(const struct check_section *s,
					  const struct code_piece *piece, const char *arch)
{
	const size_t i = (size_t)(piece - s->code[0]->pieces);

	for (size_t k = 0; i < s->n_base && k < s->base[i].n_costs; k++)
		if (!strcmp(s->base[i].costs[k].arch, arch))
			return &s->base[i].costs[k];
	return NULL;
}

/* ---- handles ---- */

int tact_codecheck_create(struct tact_codecheck **out, const char *path, struct tact_diag *diag)
{
	struct text text = {0};
	struct tact_codecheck *c;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&c, sizeof(*c), out && path, "a path is needed", diag);
	if (status < 0)
		return status;
	c->path = strdup(path);
	status = c->path ? tact_remarks_create(&c->remarks) : -TACT_E_NOMEM;
	if (status < 0)
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else
		status = file_read(path, INI_MOST, &text, diag);
	if (status >= 0)
		status = check_config_read(c, text.size ? text.data : "", text.size, diag);
	text_free(&text);
	return HAND_OVER(out, c, status, tact_codecheck_destroy);
}

void tact_codecheck_destroy(struct tact_codecheck *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		struct check_section *s = &c->sections[i];

		tact_codediff_destroy(s->diff);
		tact_code_destroy(s->code[0]);
		tact_code_destroy(s->code[1]);
		FREE_ALL(s->archs, s->base);
	}
	tact_remarks_destroy(c->remarks);
	tact_arena_reset(&c->memory);
	FREE_ALL(c->path, c->baseline, c->sections, c->rows);
	free(c);
}

size_t tact_codecheck_count(const struct tact_codecheck *c)
{
	return c ? c->n : 0;
}

const char *tact_codecheck_section(const struct tact_codecheck *c, size_t i)
{
	return c && i < c->n ? c->sections[i].name : "";
}

const char *tact_codecheck_archs(const struct tact_codecheck *c, size_t i)
{
	return c && i < c->n && c->sections[i].archs_text ? c->sections[i].archs_text : "";
}

int tact_codecheck_set_archs(struct tact_codecheck *c, size_t i,
			     const struct tact_arch *const *archs, size_t n)
{
	const struct tact_arch **copy;

	if (!c || i >= c->n || !archs || !n)
		return -TACT_E_INVAL;
	copy = calloc(n, sizeof(*copy));
	if (!copy)
		return -TACT_E_NOMEM;
	memcpy(copy, archs, n * sizeof(*copy));
	free(c->sections[i].archs);
	c->sections[i].archs = copy;
	c->sections[i].n_archs = n;
	return 0;
}

const char *tact_codecheck_baseline(const struct tact_codecheck *c)
{
	return c ? c->baseline : "";
}

int tact_codecheck_set_baseline(struct tact_codecheck *c, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -TACT_E_NOMEM;
	free(c->baseline);
	c->baseline = copy;
	return 0;
}

int tact_codecheck_get_summary(const struct tact_codecheck *c, struct tact_codecheck_summary *out)
{
	return c && c->has_run ? tact_fill(out, &c->summary, sizeof(c->summary)) : -TACT_E_INVAL;
}

/* ---- rows ---- */

static bool is_other(double a, double b)
{
	return fabs(a - b) >= 0.005; /* two decimals are shown */
}

static bool is_over(const struct check_limit *limit, double before, double now)
{
	/* What people write as 5% or 0.1 cycles is no exact number. */
	const double slack = 1e-9 * now;

	if (limit->is_none || !is_other(before, now))
		return false;
	if (limit->is_percent)
		return now - before > before * limit->value / 100 + slack;
	return now - before > limit->value + slack;
}

/* Names a piece of code apart from its place: by its function, without the suffixes of variants, or by
 * its marker.  0: it has no name.
 */
static uint64_t name_of(const struct code_piece *p)
{
	if (*p->function && !strncmp(p->name, p->function, strlen(p->function)))
		return obj_stem_hash(p->function);
	return *p->name && strncmp(p->name, "0x", 2) != 0 ? hash_string(p->name) : 0;
}

static bool is_renamed(const struct codediff_row *row)
{
	return row->side[0] && row->side[1] && name_of(row->side[0]) != name_of(row->side[1]);
}

static enum check_status judge(const struct check_row *row)
{
	const struct check_section *s = row->section;
	const struct code_cost *now = row->code->cost[1] ? &row->code->cost[1][row->arch] : NULL;

	if (!now)
		return CHECK_GONE;
	if (now->status)
		return row->code->side[0] && row->cycles[0] < 0 ? CHECK_UNKNOWN : CHECK_FAILED;
	if (row->is_over_max)
		return CHECK_OVER;
	if (row->cycles[0] < 0)
		return CHECK_NEW;
	if (is_over(&s->limit, row->cycles[0], row->cycles[1]))
		return CHECK_OVER;
	return row->ratio == 1			 ? CHECK_SAME
	       : row->cycles[1] > row->cycles[0] ? CHECK_SLOWER
						 : CHECK_FASTER;
}

static void fill_row(struct check_row *row)
{
	const struct check_section *s = row->section;
	const struct codediff_row *code = row->code;
	const struct baseline_cost *stored = NULL;

	for (unsigned k = 0; k < 2; k++) {
		const struct code_cost *cost = code->cost[k] ? &code->cost[k][row->arch] : NULL;

		row->cycles[k] = cost && !cost->status ? cost->cycles : -1;
		row->is_lower_bound[k] = cost && !cost->status && cost->coverage < 1;
	}
	if (code->side[0])
		stored = baseline_cost(s, code->side[0], tact_arch_name(s->archs[row->arch]));
	row->stored = stored ? stored->cycles : -1;
	row->has_other_tact =
		stored && !strcmp(s->base_model, s->model) &&
		(row->stored < 0 ? row->cycles[0] >= 0 : is_other(row->stored, row->cycles[0]));
	row->ratio = codediff_ratio(code, row->arch);
	row->is_renamed = is_renamed(code);
	row->is_moved = code->side[0] && code->side[1] &&
			code->side[0]->content == code->side[1]->content &&
			code->side[0]->alignment != code->side[1]->alignment;
	row->is_over_max = s->max_cycles > 0 && row->cycles[1] > s->max_cycles * (1 + 1e-9) + 0.005;
	row->status = judge(row);
}

static void count(struct tact_codecheck_summary *s, const struct check_row *row)
{
	size_t *const counts[N_CHECK_STATUSES] = {
		[CHECK_OVER] = &s->n_over,	 [CHECK_FAILED] = &s->n_failed,
		[CHECK_SLOWER] = &s->n_slower,	 [CHECK_FASTER] = &s->n_faster,
		[CHECK_NEW] = &s->n_new,	 [CHECK_GONE] = &s->n_gone,
		[CHECK_UNKNOWN] = &s->n_unknown, [CHECK_SAME] = &s->n_same,
	};

	s->n++;
	++*counts[row->status];
	s->n_lower_bounds += check_is_unsure(row);
}

static int compare(const void *a, const void *b)
{
	const struct check_row *x = a, *y = b;

	if (x->status != y->status)
		return ORDER(x->status, y->status);
	return 2 * ORDER(check_is_plain(x), check_is_plain(y)) + ORDER(x->order, y->order);
}

static int make_rows(struct tact_codecheck *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct check_section *s = &c->sections[i];

		for (size_t k = 0; s->diff && k < s->diff->n_rows; k++) {
			if (tact_grow(&c->rows, &c->rows_capacity, c->n_rows + s->n_archs,
				      sizeof(*c->rows)))
				return -TACT_E_NOMEM;
			for (size_t arch = 0; arch < s->n_archs; arch++) {
				struct check_row *row = &c->rows[c->n_rows];

				*row = (struct check_row){.section = s,
							  .code = &s->diff->rows[k],
							  .arch = arch,
							  .order = c->n_rows++};
				fill_row(row);
				count(&c->summary, row);
			}
		}
	}
	if (c->n_rows)
		qsort(c->rows, c->n_rows, sizeof(*c->rows), compare);
	return 0;
}

/* ---- what is to be said ---- */

static int remark_models(struct tact_codecheck *c, const struct check_section *s)
{
	if (!c->has_baseline)
		return 0;
	if (!*s->base_model)
		return tact_remarks_add(c->remarks, "section-new",
					"section [%s] is not in the baseline", s->name);
	if (!strcmp(s->base_model, s->model))
		return 0;
	return tact_remarks_add(c->remarks, "model-changed",
				"the baseline of [%s] was made with the model %s; its code was "
				"predicted again with %s",
				s->name, s->base_model, s->model);
}

static bool base_has(const struct check_section *s, const char *arch)
{
	for (size_t i = 0; i < s->n_base; i++)
		for (size_t k = 0; k < s->base[i].n_costs; k++)
			if (!strcmp(s->base[i].costs[k].arch, arch))
				return true;
	return false;
}

static bool checks(const struct check_section *s, const char *arch)
{
	for (size_t i = 0; i < s->n_archs; i++)
		if (!strcmp(tact_arch_name(s->archs[i]), arch))
			return true;
	return false;
}

static int remark_cpus(struct tact_codecheck *c, const struct check_section *s)
{
	int status = 0;

	if (!s->n_base)
		return 0;
	for (size_t i = 0; i < s->n_archs && status >= 0; i++)
		if (!base_has(s, tact_arch_name(s->archs[i])))
			status = tact_remarks_add(c->remarks, "cpu-new",
						  "%s is not in the baseline of [%s]; its code was "
						  "predicted for it now",
						  tact_arch_name(s->archs[i]), s->name);
	for (size_t i = 0; i < s->n_base && status >= 0; i++)
		for (size_t k = 0; k < s->base[i].n_costs && status >= 0; k++)
			if (!checks(s, s->base[i].costs[k].arch))
				status = tact_remarks_add(
					c->remarks, "cpu-gone",
					"%s is in the baseline of [%s], but is not checked",
					s->base[i].costs[k].arch, s->name);
	return status;
}

static int remark_versions(struct tact_codecheck *c)
{
	size_t n = 0;
	char here[32];
	int status = 0;

	for (size_t i = 0; i < c->n_rows; i++)
		n += c->rows[i].has_other_tact;
	snprintf(here, sizeof(here), "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
		 TACT_VERSION_PATCH);
	if (c->has_baseline && strcmp(c->tact, here) != 0)
		status = tact_remarks_add(c->remarks, "other-version",
					  "the baseline was written by tact %s, this is tact %s",
					  c->tact, here);
	if (n && status >= 0)
		status = tact_remarks_add(
			c->remarks, "other-predictions",
			"of %zu piece%s of code, the baseline has cycles that this tact does not "
			"predict for the same code: both sides are predicted by this one",
			n, n == 1 ? "" : "s");
	return status;
}

static int remark_all(struct tact_codecheck *c)
{
	int status = 0;

	for (size_t i = 0; i < c->n && status >= 0; i++) {
		status = remark_models(c, &c->sections[i]);
		if (status >= 0)
			status = remark_cpus(c, &c->sections[i]);
	}
	return status < 0 ? status : remark_versions(c);
}

/* ---- the run ---- */

static int load_baseline(struct tact_codecheck *c, bool is_needed, struct tact_diag *diag)
{
	struct text text = {0};
	FILE *file = fopen(c->baseline, "re");
	int status;

	if (!file && errno != ENOENT)
		return tact_fail_errno(diag, c->baseline);
	if (!file && !is_needed)
		return 0;
	if (!file)
		return tact_fail(diag, TACT_E_NO_DATA, "there is no baseline %s", c->baseline);
	fclose(file);
	status = file_read(c->baseline, MOST_BASELINE, &text, diag);
	if (status >= 0)
		status = baseline_read(c, text.size ? text.data : "", text.size, diag);
	c->has_baseline = status >= 0;
	text_free(&text);
	return status;
}

/* Reads the code of a section and compares it.  Returns 0, -TACT_E_NOMEM, or, with is_file set, what
 * is wrong with the file.
 */
static int run_section(struct check_section *s, bool *is_file, struct tact_diag *diag)
{
	const struct tact_code_options how = {
		.size = sizeof(how),
		.function = s->function,
		.loop = s->loop,
		.marker = s->marker,
		.isa = tact_arch_isa(s->archs[0]),
	};
	const struct tact_codediff_options opt = {
		.size = sizeof(opt),
		.archs = s->archs,
		.n_archs = s->n_archs,
		.model = s->model,
	};
	int status = tact_code_load(&s->code[1], s->file, &how, diag);

	*is_file = status < 0 && status != -TACT_E_NOMEM;
	if (status < 0)
		return status;
	if (!s->code[0] && code_create(&s->code[0], s->code[1]->isa))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (s->code[0]->isa != s->code[1]->isa) {
		*is_file = true;
		return tact_fail(diag, TACT_E_INVAL,
				 "the code of [%s] has another instruction set than its baseline",
				 s->name);
	}
	status = tact_codediff_create(&s->diff, s->code[0], s->code[1], &opt, diag);
	*is_file = status < 0 && tact_arch_isa(s->archs[0]) != s->code[1]->isa;
	return status;
}

static int check_archs(const struct tact_codecheck *c, struct tact_diag *diag)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->sections[i].n_archs)
			return tact_fail_at(diag, TACT_E_INVAL, c->sections[i].line, 0,
					    "[%s] names no CPU: add arch = NAME",
					    c->sections[i].name);
	return 0;
}

int tact_codecheck_run(struct tact_codecheck *c, bool is_needed,
		       void (*say)(void *arg, const char *path, const struct tact_diag *diag,
				   int status),
		       void *arg, struct tact_diag *diag)
{
	int status = c && !c->has_run ? check_archs(c, diag)
				      : tact_fail(diag, TACT_E_INVAL, "a check runs once");

	if (status >= 0)
		status = load_baseline(c, is_needed, diag);
	for (size_t i = 0; status >= 0 && i < c->n; i++) {
		struct tact_diag why = {0};
		bool is_file;

		status = run_section(&c->sections[i], &is_file, &why);
		if (status >= 0)
			continue;
		if (!is_file) {
			if (diag)
				*diag = why;
			return status;
		}
		c->summary.n_files_failed++;
		c->sections[i].failure =
			check_keep(c, *why.text ? why.text : tact_strerror(status));
		if (!c->sections[i].failure)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (say)
			say(arg, c->sections[i].file, &why, status);
		status = 0;
	}
	if (status < 0)
		return status;
	if (make_rows(c) || remark_all(c) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	c->summary.size = sizeof(c->summary);
	c->has_run = true;
	return 0;
}
