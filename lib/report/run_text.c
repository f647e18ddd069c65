/* SPDX-License-Identifier: MIT
 *
 * The result of a run for people.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>
#include <tact/predict.h>

#include "base/file.h"
#include "obj/obj.h"
#include "report/report.h"

enum { DEFAULT_TOP = 15, DEFAULT_BLOCKS = 5, MAX_THREADS = 16, MAX_INSNS = 12, CODE_INDENT = 12 };

/* Columns: numbers, limits, place.  80 are enough for all; a wider terminal shows longer names, a
 * narrower one has fewer columns.
 */
enum { PAGE_WIDTH = 80, LIMITS_WIDTH = 23, MOST_LIMITS = 36, LEAST_PLACE = 20 };

/* Writes "loads 45%". */
static void stall_text(double stalled, double cycles, unsigned stall, char text[32])
{
	snprintf(text, 32, "%s %.0f%%", tact_stall_name((enum tact_stall)stall),
		 100 * stalled / cycles);
}

void report_limits(struct text *out, const struct tact_arch *arch, uint32_t bits,
		   const double *stalls, double cycles, size_t width)
{
	const size_t start = out->size;
	bool is_said[TACT_N_STALLS] = {false};
	const bool has_bound = report_bounds(out, arch, bits);
	unsigned n = 0;

	for (; n < 2 && cycles > 0; n++) {
		unsigned best = TACT_N_STALLS;
		char text[32];

		for (unsigned i = 0; i < TACT_N_STALLS; i++)
			if (!is_said[i] && (best == TACT_N_STALLS || stalls[i] > stalls[best]))
				best = i;
		if (best == TACT_N_STALLS || stalls[best] < 0.1 * cycles)
			break;
		is_said[best] = true;
		stall_text(stalls[best], cycles, best, text);
		if (width && out->size - start + 2 + strlen(text) > width && out->size > start)
			break;
		text_printf(out, "%s%s", n ? ", " : has_bound ? "; " : "", text);
	}
	if (out->size == start)
		text_add(out, "-");
}

/* The same for a row of a result. */
static void add_limits(struct text *out, const struct tact_arch *arch,
		       const struct tact_result_row *row, size_t width)
{
	report_limits(out, arch, row->bottlenecks, row->stalls, row->cycles, width);
}

void report_place(struct text *out, const struct tact_result_row *row, int by, const char *name)
{
	const char *function = name ? name : row->function;

	if (by == TACT_RESULT_LINE) {
		text_printf(out, "%s:%d (%s)", file_base_name(row->source), row->line, function);
		return;
	}
	text_add(out, function);
	if (by == TACT_RESULT_BLOCK && !row->code_size)
		text_add(out, ", the rest");
	else if (by == TACT_RESULT_BLOCK)
		text_printf(out, " 0x%" PRIx64, row->address);
	if (by == TACT_RESULT_BLOCK && row->line)
		text_printf(out, " %s:%d", file_base_name(row->source), row->line);
	else if (*row->module && row->function[0] != '[')
		text_printf(out, " (%s)", file_base_name(row->module));
}

/* Writes the place in `width` columns: a long one loses the file, then the middle of its name.  0:
 * whole.
 */
static void add_place(struct text *out, const struct tact_result_row *row, int by, const char *name,
		      size_t width)
{
	struct text whole = {0}, rest = {0};

	report_place(&whole, row, by, name);
	if (!width || whole.size <= width) {
		text_append(out, &whole);
	} else if (by == TACT_RESULT_LINE) {
		text_printf(&rest, "%s:%d", file_base_name(row->source), row->line);
		text_append(out, &rest);
		if (width >= rest.size + 12) {
			text_add(out, " (");
			report_short(out, name, width - rest.size - 3);
			text_add(out, ")");
		}
	} else {
		if (by == TACT_RESULT_BLOCK && row->code_size)
			text_printf(&rest, " 0x%" PRIx64, row->address);
		else if (by == TACT_RESULT_BLOCK)
			text_add(&rest, ", the rest");
		report_short(out, name, width > rest.size + 8 ? width - rest.size : 8);
		text_append(out, &rest);
	}
	text_free(&whole);
	text_free(&rest);
}

/* ---- totals ---- */

static void add_ports(const struct tact_result *r, size_t width, struct text *out)
{
	enum { TITLE = 16, CELL = 6 };
	const unsigned room = width < TITLE + CELL ? 1 : (unsigned)(width - TITLE) / CELL;
	const struct tact_arch *arch = tact_arch_find(r->info.arch);
	const uint32_t ports = arch ? tact_arch_ports(arch) : 0xffff;
	const struct tact_cycles_totals *t = &r->totals;

	/* Ports that do not fit on one line go on further lines. */
	for (unsigned first = 0; first < TACT_MAX_PORTS && ports >> first;) {
		unsigned end = first, n = 0;

		while (end < TACT_MAX_PORTS && n + (ports >> end & 1) <= room)
			n += ports >> end++ & 1;
		text_add(out, first ? "Port            " : "\nPort            ");
		for (unsigned i = first; i < end; i++)
			if (ports >> i & 1)
				text_printf(out, "%6u", i);
		text_add(out, "\nUops per cycle  ");
		for (unsigned i = first; i < end; i++)
			if (ports >> i & 1)
				text_printf(out, "%6.2f", report_ratio(t->uops[i], t->cycles));
		text_add(out, "\n");
		first = end;
	}
}

static void add_stalls(const struct tact_cycles_totals *t, size_t width, struct text *out)
{
	double rest = t->cycles;
	size_t start;

	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		rest -= t->stalls[i];
	start = out->size + 1;
	text_printf(out, "\nStalls, share of cycles: none %.1f%%",
		    rest > 0 ? 100 * report_ratio(rest, t->cycles) : 0);
	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		const double share = 100 * report_ratio(t->stalls[i], t->cycles);
		char word[40];
		int n;

		if (share < 0.05)
			continue;
		n = snprintf(word, sizeof(word), " %s %.1f%%", tact_stall_name((enum tact_stall)i),
			     share);
		text_add(out, ",");
		/* Room for the comma after it. */
		if (out->size - start + (size_t)n + 1 > width) {
			text_add(out, "\n   ");
			start = out->size - 3;
		}
		text_add(out, word);
	}
	text_add(out, "\n");
}

static void add_prefetches(const struct tact_cycles_totals *t, struct text *out)
{
	const double all = (double)t->prefetches + (double)t->unknown_prefetches;

	if (!t->prefetches)
		return; /* what is not modelled is said elsewhere */
	text_add(out, "Prefetches:         ");
	report_count(out, all, 0);
	if (t->unknown_prefetches)
		text_printf(out, ", address unknown %.3f%%",
			    100 * report_ratio((double)t->unknown_prefetches, all));
	text_add(out, "\n");
}

static void add_memory(const struct tact_result *r, struct text *out)
{
	const struct tact_cycles_totals *t = &r->totals;

	if (r->info.has_caches) {
		text_add(out, "Loads and stores:   ");
		report_count(out, (double)t->accesses, 0);
		text_add(out, "\nMisses:             ");
		for (unsigned i = 0; i < 3; i++)
			text_printf(out, "%sL%u %.3f%%", i ? ", " : "", i + 1,
				    100 * report_ratio((double)t->misses[i], (double)t->accesses));
		text_printf(out, "\nPages:              TLB misses %.3f%%, walks %.3f%%",
			    100 * report_ratio((double)t->tlb_misses, (double)t->accesses),
			    100 * report_ratio((double)t->page_walks, (double)t->accesses));
		if (!t->windows) {
			text_add(out, ", faults ");
			report_count(out, (double)t->page_faults, 0);
		}
		text_add(out, "\n");
		add_prefetches(t, out);
	}
	if (r->info.has_branches) {
		text_add(out, "Branches:           ");
		report_count(out, (double)t->branches, 0);
		text_printf(out, ", mispredicted %.3f%%",
			    100 * report_ratio((double)t->mispredicted, (double)t->branches));
		if (t->followed < t->branches)
			text_printf(out, " (%.0f%% were followed)",
				    100 * report_ratio((double)t->followed, (double)t->branches));
		text_add(out, "\n");
	}
}

/* Of a program that ran natively: the time is measured.  Its cycles are, too, if they are those of
 * the CPU that it ran on.
 */
static void add_windowed(const struct tact_cycles_totals *t, struct text *out)
{
	text_add(out, "Cycles:             ");
	report_count(out, t->cycles, 0);
	text_printf(out, " (%s %.2f s of user time at %.2f GHz)",
		    t->is_measured ? "measured:" : "predicted from", t->user_seconds,
		    t->hertz / 1e9);
	text_add(out, "\nInstructions:       ");
	report_count(out, (double)t->instructions, 0);
	text_printf(out,
		    " (predicted)\nIPC:                %.2f (predicted, standard error %.2f%%)\n",
		    report_ratio((double)t->instructions, t->cycles),
		    100 * report_ratio(t->error, t->cycles));
	text_printf(out, "Windows:            %u at random moments; nothing else was seen\n",
		    t->windows);
}

static void add_sampled(const struct tact_result *r, size_t width, struct text *out)
{
	const struct tact_cycles_totals *t = &r->totals;

	text_add(out, "Cycles:             ");
	report_count(out, t->cycles, 0);
	if (t->error > 0)
		text_printf(out, " (%sstandard error %.2f%%)",
			    width < PAGE_WIDTH ? "" : "from samples, ",
			    100 * report_ratio(t->error, t->cycles));
	text_add(out, "\n");
	report_left_out(out, &r, 1, width);
	text_add(out, "Instructions:       ");
	report_count(out, (double)t->instructions, 0);
	text_printf(out, "\nIPC:                %.2f\n",
		    report_ratio((double)t->instructions, t->cycles));
}

static void add_totals(const struct tact_result *r, size_t width, struct text *out)
{
	const struct tact_result_info *info = &r->info;
	const struct tact_cycles_totals *t = &r->totals;
	const struct tact_arch *arch = tact_arch_find(info->arch);

	if (t->windows)
		add_windowed(t, out);
	else
		add_sampled(r, width, out);
	text_printf(out, "CPU:                %s%s%s%s%s%s\n", info->arch, arch ? " (" : "",
		    tact_arch_full_name(arch), *tact_arch_caveat(arch) ? ", " : "",
		    tact_arch_caveat(arch), arch ? ")" : "");
	if (!t->windows)
		text_printf(out, "Through the pipeline: %.2f%% of the instructions%s\n",
			    100 * report_ratio((double)t->simulated, (double)t->instructions),
			    info->is_exact || width < PAGE_WIDTH ? ""
								 : "; the rest follows from them");
	if (t->unknown)
		text_printf(out, "Without data:       %.4f%% of the instructions\n",
			    100 * report_ratio((double)t->unknown, (double)t->instructions));
	add_memory(r, out);
	if (info->is_partial)
		text_add(out, "The run is not complete.\n");
}

static void add_threads(const struct tact_result *r, struct text *out)
{
	const struct tact_result_row *rows;
	size_t n;

	rows = result_rows(r, TACT_RESULT_THREAD, &n);
	if (n < 2)
		return;
	text_printf(out, "\n%8s%8s%18s%18s%7s\n", "Process", "Thread", "Cycles", "Instructions",
		    "IPC");
	for (size_t i = 0; i < n && i < MAX_THREADS; i++) {
		text_printf(out, "%8u%8u", rows[i].process, rows[i].thread);
		report_count(out, rows[i].cycles, 18);
		report_count(out, (double)rows[i].instructions, 18);
		text_printf(out, "%7.2f\n",
			    report_ratio((double)rows[i].instructions, rows[i].cycles));
	}
	if (n > MAX_THREADS)
		text_printf(out, "     ... and %zu more\n", n - MAX_THREADS);
}

/* ---- parts ---- */

void report_code(struct text *out, const struct tact_result_row *row, unsigned indent,
		 unsigned most)
{
	size_t at = 0;

	for (unsigned i = 0; at < row->code_size; i++) {
		char text[160];
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0 || i == most ||
		    tact_isa_format(row->isa, row->code + at, (size_t)n, row->address + at, text,
				    sizeof(text)) < 0) {
			text_printf(out, "%*s... %zu bytes more\n", indent, "",
				    row->code_size - at);
			return;
		}
		text_printf(out, "%*s%s\n", indent, "", text);
		at += (size_t)n;
	}
}

/* Writes all instructions, each with its cycles per execution and its share of the block's. */
static void add_insns(const struct tact_result_row *row, struct text *out)
{
	size_t at = 0;

	for (uint32_t i = 0; i < row->n_insns && at < row->code_size; i++) {
		char text[160];
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0 || tact_isa_format(row->isa, row->code + at, (size_t)n,
					      row->address + at, text, sizeof(text)) < 0)
			return;
		text_printf(out, "%15.2f%7.1f%%  0x%-8" PRIx64 "  %s\n",
			    report_ratio((double)row->insns[i], (double)row->executions),
			    100 * report_ratio((double)row->insns[i], row->cycles),
			    row->address + at, text);
		at += (size_t)n;
	}
}

static void add_bound(const struct tact_result_row *row, struct text *out)
{
	text_printf(out, "%12s%.2f cycles per execution; alone, repeated: %.2f\n", "",
		    report_ratio(row->cycles, (double)row->executions),
		    report_ratio(row->bound, (double)row->executions));
}

/* Writes 999,999, then 12.34M. */
static void add_short_count(struct text *out, double n, int width)
{
	if (n < 999999.5)
		report_count(out, n, width);
	else if (n < 1e10)
		text_printf(out, "%*.2fM", width - 1, n / 1e6);
	else
		text_printf(out, "%*.2fG", width - 1, n / 1e9);
}

struct view {
	int by;
	double cycles;		      /* of all */
	const struct tact_arch *arch; /* whose words are used; NULL: unknown */
	bool is_mangled;
	bool has_times, has_ipc;
	size_t limits_width; /* 0: the column is left out */
	size_t place_width;  /* 0: places are not cut */
};

/* Instructions that retire together with the one before them take no time: lines that have only
 * such instructions have no meaningful IPC.
 */
static void add_ipc(struct text *out, double ipc)
{
	enum { MOST = 16 /* more than any core retires per cycle */ };

	if (ipc <= MOST)
		text_printf(out, "%6.2f", ipc);
	else
		text_printf(out, "%6s", "-");
}

static void add_part(const struct tact_result_row *row, const char *name, const struct view *view,
		     struct text *out)
{
	size_t start;

	text_printf(out, "%5.1f%%", 100 * report_ratio(row->cycles, view->cycles));
	add_short_count(out, row->cycles, 9);
	if (view->has_ipc)
		add_ipc(out, report_ratio((double)row->instructions, row->cycles));
	if (view->has_times)
		add_short_count(out, (double)row->executions, 9);
	text_add(out, "  ");
	start = out->size;
	if (view->limits_width) {
		add_limits(out, view->arch, row, view->limits_width);
		text_add(out, "  ");
		text_pad(out, view->limits_width + 2, start);
	}
	add_place(out, row, view->by, name, view->place_width);
	text_add(out, "\n");
	if (view->by != TACT_RESULT_BLOCK || !row->code_size)
		return;
	add_bound(row, out);
	if (row->insns)
		add_insns(row, out);
	else
		report_code(out, row, CODE_INDENT, MAX_INSNS);
}

/* Returns the columns that the limits need, up to `most`. */
static size_t widest_limits(const struct tact_arch *arch, const struct tact_result_row *rows,
			    size_t n, size_t most)
{
	size_t widest = strlen("Limited by");
	struct text text = {0};

	for (size_t i = 0; i < n; i++) {
		text.size = 0;
		add_limits(&text, arch, &rows[i], most);
		if (text.size > widest)
			widest = text.size;
	}
	text_free(&text);
	return widest;
}

static void add_parts(const struct tact_result_row *rows, size_t n, const struct view *view,
		      struct text *out)
{
	static const char *const titles[] = {[TACT_RESULT_FUNCTION] = "Function",
					     [TACT_RESULT_BLOCK] = "Block",
					     [TACT_RESULT_LINE] = "Source line"};

	text_printf(out, "\n%6s%9s", "Share", "Cycles");
	if (view->has_ipc)
		text_printf(out, "%6s", "IPC");
	if (view->has_times)
		text_printf(out, "%9s", view->by == TACT_RESULT_FUNCTION ? "Calls" : "Times");
	text_add(out, "  ");
	if (view->limits_width)
		text_printf(out, "%-*s", (int)view->limits_width + 2, "Limited by");
	text_printf(out, "%s\n", titles[view->by]);
	for (size_t i = 0; i < n; i++) {
		char *name = report_name(rows[i].function, view->is_mangled, false);

		add_part(&rows[i], name ? name : rows[i].function, view, out);
		free(name);
	}
}

/* Chooses the columns that fit. */
static void choose_columns(struct view *view, const struct tact_run_report *r,
			   const struct tact_result_row *rows, size_t n)
{
	const size_t width = r->width > 0 ? (size_t)r->width : 0;
	const size_t page = width < PAGE_WIDTH ? PAGE_WIDTH : width;
	const size_t most = LIMITS_WIDTH + (page - PAGE_WIDTH) / 2;
	size_t used = 15 + 6 + 9 + 2; /* share and cycles, IPC, times, blanks */

	view->has_times = view->has_ipc = true;
	view->limits_width = widest_limits(view->arch, rows, n,
					   !width || most > MOST_LIMITS ? MOST_LIMITS : most);
	used += view->limits_width + 2;
	if (!width)
		return;
	if (used + LEAST_PLACE > width) {
		view->has_times = false;
		used -= 9;
	}
	if (used + LEAST_PLACE > width) {
		view->has_ipc = false;
		used -= 6;
	}
	if (used + LEAST_PLACE > width) {
		used -= view->limits_width + 2;
		view->limits_width = 0;
	}
	if (r->is_cut)
		view->place_width = width > used + 8 ? width - used : 8;
}

void report_run_text(struct report *report, const struct tact_run_report *r)
{
	struct view view = {.by = r->by == TACT_REPORT_INSNS ? TACT_RESULT_BLOCK : r->by,
			    .cycles = r->result->totals.cycles,
			    .arch = tact_arch_find(r->result->info.arch),
			    .is_mangled = r->is_mangled};
	const size_t page = r->width > 0 && r->width < PAGE_WIDTH ? (size_t)r->width : PAGE_WIDTH;
	const struct tact_result_row *rows;
	struct text *out = &report->text;
	size_t n, shown;

	add_totals(r->result, page, out);
	add_ports(r->result, page, out);
	add_stalls(&r->result->totals, page, out);
	add_threads(r->result, out);
	if (r->by > TACT_REPORT_INSNS) {
		report_calls_text(report, r);
		return;
	}
	rows = result_rows(r->result, (enum tact_result_kind)view.by, &n);
	if (!n) {
		text_add(out, "\nNo source lines: the code was built without -g, or its files "
			      "are not here.\n");
		return;
	}
	shown = r->top ? r->top : r->by == TACT_REPORT_INSNS ? DEFAULT_BLOCKS : DEFAULT_TOP;
	shown = n < shown ? n : shown;
	choose_columns(&view, r, rows, shown);
	add_parts(rows, shown, &view, out);
	if (n > shown)
		text_printf(out, "        ... and %zu more (--top %zu shows all)\n", n - shown, n);
}
