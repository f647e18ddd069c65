/* SPDX-License-Identifier: MIT
 *
 * The uops of a window of a run, as a chart: one row per uop, one column per cycle.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/drawing.h>
#include <tact/view.h>

#include "report/report.h"

#include <tact-program/tracing.h>

enum { TEXT_WIDTH = 34 };

static void add_row(const struct tact_window_report *r, const struct tact_window_uop *x,
		    bool occurs[256], struct text *out)
{
	const bool is_long = strlen(x->text) > TEXT_WIDTH;
	const size_t start = out->size;

	text_printf(out, "  %-*.*s%s", is_long ? 0 : TEXT_WIDTH,
		    is_long ? TEXT_WIDTH - 3 : TEXT_WIDTH, x->text, is_long ? "..." : "");
	if (x->uop.port >= 0)
		text_printf(out, " p%-3d ", x->uop.port);
	else
		text_printf(out, " %-4s ", x->uop.eliminated ? "elim" : "-");
	for (uint64_t c = r->first; c <= r->last; c++) {
		const char letter = tact_view_letter(&x->uop, (int64_t)c);

		occurs[(unsigned char)letter] = true;
		text_add_bytes(out, &letter, 1);
	}
	text_trim(out, start);
	text_add(out, "\n");
}

static void add_chart(const struct tact_window_report *r, const struct tact_window_uop *uops,
		      size_t n, bool is_cut, struct text *out)
{
	bool occurs[256] = {false};
	char *legend;

	text_printf(out, "  %-*s Port ", TEXT_WIDTH, "");
	for (uint64_t c = r->first; c <= r->last; c++)
		text_printf(out, "%c", c % 10 ? '.' : (char)('0' + c / 10 % 10));
	text_add(out, "\n");
	for (size_t i = 0; i < n; i++) {
		if (uops[i].begins) {
			char *name = report_name(uops[i].function, r->is_mangled, false);

			text_printf(out, "%s 0x%" PRIx64 "\n", name ? name : uops[i].function,
				    uops[i].address);
			free(name);
		}
		add_row(r, &uops[i], occurs, out);
	}
	if (is_cut)
		text_add(out, "  ... and more uops: a shorter window shows all\n");
	legend = tact_view_legend(occurs, r->arch);
	if (legend)
		text_add(out, legend);
	else
		out->failed = true;
	free(legend);
}

int tact_report_window(const struct tact_window_report *opt,
		       int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct text *out = &report.text;
	const struct tact_window_uop *uops;
	struct tact_window_report r;
	bool is_first, is_cut;
	long n;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.analysis || r.last < r.first)
		return -TACT_E_INVAL;
	n = tact_analysis_window(r.analysis, &uops, &is_cut);
	if (n < 0)
		return (int)n;
	is_first = r.thread == TACT_TRACE_FIRST_THREAD;
	text_printf(out, "\nTimeline of cycles %" PRIu64 " to %" PRIu64, r.first, r.last);
	if (!is_first)
		text_printf(out, " of thread %" PRIu32, r.thread);
	text_add(out, "\n\n");
	if (n)
		add_chart(&r, uops, (size_t)n, is_cut, out);
	else
		text_printf(out, "  there is none: the %s has no such cycles\n",
			    is_first ? "run" : "thread, if it ran,");
	return report_end(&report);
}
