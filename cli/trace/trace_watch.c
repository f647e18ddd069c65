/* SPDX-License-Identifier: MIT
 *
 * The uops of a window of a run, as a chart: a row a uop, a column a cycle.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tact/view.h>

#include "common/cli.h"
#include "tracer.h"

enum { TEXT_WIDTH = 34 };

static void add_row(const struct tact_analysis_options *how, const struct tact_window_uop *x,
		    bool occurs[256], struct text *out)
{
	const bool is_long = strlen(x->text) > TEXT_WIDTH;

	text_printf(out, "  %-*.*s%s", is_long ? 0 : TEXT_WIDTH,
		    is_long ? TEXT_WIDTH - 3 : TEXT_WIDTH, x->text, is_long ? "..." : "");
	if (x->uop.port >= 0)
		text_printf(out, " p%-3d ", x->uop.port);
	else
		text_printf(out, " %-4s ", x->uop.eliminated ? "elim" : "-");
	for (uint64_t c = how->window_first; c <= how->window_last; c++) {
		const char letter = tact_view_letter(&x->uop, (int64_t)c);

		occurs[(unsigned char)letter] = true;
		text_add_bytes(out, &letter, 1);
	}
	while (out->data[out->size - 1] == ' ')
		out->size--;
	text_add(out, "\n");
}

static void add_chart(const struct tact_analysis_options *how, const struct tact_window_uop *uops,
		      size_t n, bool is_cut, struct text *out)
{
	bool occurs[256] = {false};
	char *legend;

	text_printf(out, "  %-*s Port ", TEXT_WIDTH, "");
	for (uint64_t c = how->window_first; c <= how->window_last; c++)
		text_printf(out, "%c", c % 10 ? '.' : (char)('0' + c / 10 % 10));
	text_add(out, "\n");
	for (size_t i = 0; i < n; i++) {
		if (uops[i].begins)
			text_printf(out, "%s 0x%" PRIx64 "\n", uops[i].function, uops[i].address);
		add_row(how, &uops[i], occurs, out);
	}
	if (is_cut)
		text_add(out, "  ... and more uops: a shorter window shows all\n");
	legend = tact_view_legend(occurs);
	if (!legend)
		cli_out_of_memory();
	text_add(out, legend);
	free(legend);
}

void trace_print_window(const struct trace_run *run, struct text *out)
{
	const struct tact_analysis_options *how = &run->job->how;
	const bool is_first = how->window_thread == TACT_CYCLES_FIRST;
	const struct tact_window_uop *uops;
	bool is_cut;
	const long n = tact_analysis_window(run->analysis, &uops, &is_cut);

	if (n < 0)
		cli_out_of_memory();
	text_printf(out, "\nTimeline of cycles %" PRIu64 " to %" PRIu64, how->window_first,
		    how->window_last);
	if (!is_first)
		text_printf(out, " of thread %" PRIu32, how->window_thread);
	text_add(out, "\n\n");
	if (n)
		add_chart(how, uops, (size_t)n, is_cut, out);
	else
		text_printf(out, "  there is none: the %s has no such cycles\n",
			    is_first ? "run" : "thread, if it ran,");
}
