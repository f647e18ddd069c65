/* SPDX-License-Identifier: MIT
 *
 * Shared by all reports: where they go, and how numbers and names look.
 */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include <tact/predict.h>

#include "check/check.h"
#include "obj/obj.h"

enum { WRITE_SIZE = 1 << 16 };

_Static_assert((int)TACT_FORMAT_TEXT == FORMAT_TEXT && (int)TACT_FORMAT_CSV == FORMAT_CSV &&
		       (int)TACT_FORMAT_JSON == FORMAT_JSON &&
		       (int)TACT_FORMAT_MARKDOWN == FORMAT_MARKDOWN &&
		       (int)TACT_FORMAT_PPROF == FORMAT_PPROF,
	       "formats are those of base");

static void hand_over(struct report *r)
{
	if (r->text.failed)
		r->status = -TACT_E_NOMEM;
	if (!r->status && !r->is_over && r->text.size)
		r->is_over = r->write(r->arg, r->text.data, r->text.size) != 0;
	text_reset(&r->text);
}

bool report_flush(struct report *r)
{
	if (r->text.size >= WRITE_SIZE || r->text.failed)
		hand_over(r);
	return !r->status && !r->is_over;
}

int report_end(struct report *r)
{
	hand_over(r);
	text_free(&r->text);
	return r->status;
}

static void add_cpu(struct text *out, const char *name, const char *caveat)
{
	text_printf(out, "%s%s%s%s", name, *caveat ? " (" : "", caveat, *caveat ? ")" : "");
}

void report_cpu(struct text *out, const struct tact_arch *arch)
{
	add_cpu(out, tact_arch_name(arch), tact_arch_caveat(arch));
}

void report_cpu_named(struct text *out, const char *name)
{
	add_cpu(out, name, tact_arch_caveat(tact_arch_find(name)));
}

/* Writes "Title:   a, b, c", on several lines if it must be. */
static void add_names(struct text *out, const char *title, struct text *names, size_t width)
{
	enum { COLUMN = 20, LEAST = 40 };
	const size_t start = out->size;

	if (names->size && text_string(names)) {
		text_printf(out, "%s ", title);
		text_wrap_to(out, names->data, COLUMN, start, width < LEAST ? LEAST : width);
	}
	out->failed |= names->failed;
	text_free(names);
}

static bool is_unmeasured_alike(const struct tact_result *a, const struct tact_result *b)
{
	const char *x, *y;
	size_t i = 0;

	if (a == b)
		return true;
	do {
		x = tact_result_unmeasured(a, i);
		y = tact_result_unmeasured(b, i++);
	} while (x && y && !strcmp(x, y));
	return !x && !y;
}

/* Is this the first result of its CPU among those that are like the k-th? */
static bool is_first_alike(const struct tact_result *const *results, size_t k, size_t i)
{
	if (!is_unmeasured_alike(results[k], results[i]))
		return false;
	for (size_t j = 0; j < i; j++)
		if (!strcmp(results[j]->info.arch, results[i]->info.arch))
			return false;
	return true;
}

/* What was never measured of the k-th CPU, unless one before it has the same list; the CPUs of that
 * list, unless it is that of all.
 */
static void add_unmeasured(struct text *out, const struct tact_result *const *results, size_t n,
			   size_t k, size_t width)
{
	struct text names = {0};
	const char *name;
	bool are_all = true, is_first = true;

	for (size_t j = 0; j < n; j++) {
		const bool alike = is_unmeasured_alike(results[k], results[j]);

		are_all &= alike;
		is_first &= !alike || j >= k;
	}
	if (!is_first)
		return;
	for (size_t i = 0; (name = tact_result_unmeasured(results[k], i)); i++)
		text_printf(&names, "%s%s", i ? ", " : "", name);
	if (names.size && !are_all) {
		for (size_t i = k; i < n; i++)
			if (is_first_alike(results, k, i))
				text_printf(&names, "%s%s", i > k ? ", " : " (",
					    results[i]->info.arch);
		text_add(&names, ")");
	}
	add_names(out, "Not measured:", &names, width);
}

void report_left_out(struct text *out, const struct tact_result *const *results, size_t n,
		     size_t width)
{
	const uint64_t calls = results[0]->totals.system_calls;
	const struct tact_result *most = results[0];
	struct text names = {0};
	const char *name;

	/* Prefetches may be unknown in one of them only. */
	for (size_t k = 1; k < n; k++)
		if (results[k]->totals.unknown_prefetches > most->totals.unknown_prefetches &&
		    results[k]->info.has_caches == most->info.has_caches)
			most = results[k];
	for (size_t i = 0; (name = tact_result_unmodelled(most, i)); i++) {
		text_printf(&names, "%s%s", i ? ", " : "", name);
		if (!strcmp(name, "kernel") && calls &&
		    calls == results[n - 1]->totals.system_calls) {
			text_add(&names, " (");
			report_count(&names, (double)calls, 0);
			text_printf(&names, " system call%s)", calls > 1 ? "s" : "");
		}
	}
	add_names(out, "Not modelled:", &names, width);
	for (size_t k = 0; k < n; k++)
		if (!k || strcmp(results[k]->info.arch, results[0]->info.arch) != 0)
			add_unmeasured(out, results, n, k, width);
}

void report_count(struct text *out, double value, int width)
{
	char digits[40], grouped[60];
	int n = snprintf(digits, sizeof(digits), "%.0f", value + 1e-9), k = 0;

	for (int i = 0; i < n && i < 40; i++) {
		if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
			grouped[k++] = ',';
		grouped[k++] = digits[i];
	}
	grouped[k] = '\0';
	text_printf(out, "%*s", width, grouped);
}

double report_ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

void report_quoted(struct text *out, const char *text)
{
	text_add(out, "`");
	for (; *text; text++) {
		if (*text == '|')
			text_add(out, "\\");
		if (*text != '`' && *text != '\n')
			text_add_bytes(out, text, 1);
	}
	text_add(out, "`");
}

char *report_name(const char *symbol, bool is_mangled, bool is_whole)
{
	return is_mangled ? NULL : obj_demangle(symbol, is_whole);
}

void report_short(struct text *out, const char *name, size_t width)
{
	text_short(out, name, strlen(name), width);
}

bool report_bounds(struct text *out, const struct tact_arch *arch, uint32_t bits)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (bits >> i & 1)
			text_printf(out, "%s%s", n++ ? ", " : "",
				    tact_bound_name_on(arch, (enum tact_bound)i));
	return n > 0;
}

/* ---- which one ---- */

int tact_report_run(const struct tact_run_report *opt,
		    int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct tact_run_report r;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.result || r.by < 0 ||
	    r.by > TACT_REPORT_TREE || r.by == TACT_RESULT_THREAD || r.format > TACT_FORMAT_PPROF)
		return -TACT_E_INVAL;
	if (r.format == TACT_FORMAT_JSON)
		return tact_result_write(r.result, write, arg);
	if (r.format >= TACT_FORMAT_FOLDED) {
		const int status = report_run_stacks(&report, &r);

		return status < 0 ? status : report_end(&report);
	}
	if (r.format == TACT_FORMAT_CSV && r.by > TACT_REPORT_INSNS)
		report_calls_csv(&report, &r);
	else if (r.format == TACT_FORMAT_CSV)
		report_run_csv(&report, &r, NULL, true);
	else
		report_run_text(&report, &r);
	return report_end(&report);
}

int tact_report_runs(const struct tact_run_report *opt, const struct tact_result *const *results,
		     size_t n, int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct tact_run_report r;
	int status = 0;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !results || !n || r.by < 0 ||
	    r.by > TACT_REPORT_INSNS || r.by == TACT_RESULT_THREAD)
		return -TACT_E_INVAL;
	for (size_t i = 0; i < n; i++)
		if (!results[i])
			return -TACT_E_INVAL;
	if (r.format == TACT_FORMAT_TEXT)
		report_runs_text(&report, &r, results, n);
	for (size_t i = 0; i < n && r.format != TACT_FORMAT_TEXT && status >= 0; i++) {
		r.result = results[i];
		if (r.format == TACT_FORMAT_JSON)
			status = tact_result_write(r.result, write, arg);
		else
			report_run_csv(&report, &r, r.result->info.arch, !i);
	}
	return status < 0 ? status : report_end(&report);
}

int tact_report_diff(const struct tact_diff_report *opt,
		     int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct tact_diff_report r;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.diff || !r.names[0] ||
	    !r.names[1])
		return -TACT_E_INVAL;
	if (r.format == TACT_FORMAT_JSON)
		report_diff_json(&report, &r);
	else if (r.format == TACT_FORMAT_MARKDOWN)
		report_diff_markdown(&report, &r);
	else
		report_diff_text(&report, &r);
	return report_end(&report);
}

int tact_report_code(const struct tact_code_report *opt,
		     int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	static void (*const forms[])(struct report * report, const struct tact_code_report *r) = {
		[TACT_FORMAT_TEXT] = report_code_text,
		[TACT_FORMAT_CSV] = report_code_csv,
		[TACT_FORMAT_JSON] = report_code_json,
		[TACT_FORMAT_MARKDOWN] = report_code_markdown,
	};
	struct report report = {.write = write, .arg = arg};
	struct tact_code_report r;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.diff || !r.names[0] ||
	    !r.names[1] || (unsigned)r.format >= ARRAY_SIZE(forms))
		return -TACT_E_INVAL;
	forms[r.format](&report, &r);
	return report_end(&report);
}

int tact_report_check(const struct tact_check_report *opt,
		      int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	static void (*const forms[])(struct report * report, const struct tact_check_report *r) = {
		[TACT_FORMAT_TEXT] = report_check_text,
		[TACT_FORMAT_CSV] = report_check_csv,
		[TACT_FORMAT_JSON] = report_check_json,
		[TACT_FORMAT_MARKDOWN] = report_check_markdown,
		[TACT_FORMAT_SARIF] = report_check_sarif,
		[TACT_FORMAT_JUNIT] = report_check_junit,
	};
	struct report report = {.write = write, .arg = arg};
	struct tact_check_report r;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.check || !r.check->has_run ||
	    (unsigned)r.format >= ARRAY_SIZE(forms))
		return -TACT_E_INVAL;
	forms[r.format](&report, &r);
	return report_end(&report);
}
