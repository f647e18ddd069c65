/* SPDX-License-Identifier: MIT
 *
 * The result of a run for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tact/insn.h>
#include <tact/predict.h>

#include "cli.h"
#include "tracer.h"

enum { DEFAULT_TOP = 15, MAX_THREADS = 16, MAX_INSNS = 12, LIMITS_WIDTH = 34 };

double trace_ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

void trace_add_count(struct text *out, double value, int width)
{
	char digits[40], grouped[60];
	int n = snprintf(digits, sizeof(digits), "%.0f", value + 1e-9), k = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
			grouped[k++] = ',';
		grouped[k++] = digits[i];
	}
	grouped[k] = '\0';
	text_printf(out, "%*s", width, grouped);
}

bool trace_add_bounds(struct text *out, uint32_t bits)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (bits >> i & 1)
			text_printf(out, "%s%s", n++ ? ", " : "",
				    tact_bound_name((enum tact_bound)i));
	return n > 0;
}

void trace_add_limits(struct text *out, const struct tact_result_row *row)
{
	bool is_said[TACT_N_STALLS] = {false};
	const bool has_bound = trace_add_bounds(out, row->bottlenecks);
	unsigned n = 0;

	for (; n < 2 && row->cycles > 0; n++) {
		unsigned best = TACT_N_STALLS;

		for (unsigned i = 0; i < TACT_N_STALLS; i++)
			if (!is_said[i] &&
			    (best == TACT_N_STALLS || row->stalls[i] > row->stalls[best]))
				best = i;
		if (best == TACT_N_STALLS || row->stalls[best] < 0.1 * row->cycles)
			break;
		is_said[best] = true;
		text_printf(out, "%s%s %.0f%%",
			    n		? ", "
			    : has_bound ? "; "
					: "",
			    tact_stall_name((enum tact_stall)best),
			    100 * row->stalls[best] / row->cycles);
	}
	if (!n && !has_bound)
		text_add(out, "-");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void trace_add_place(struct text *out, const struct tact_result_row *row, int by)
{
	if (by == BY_LINE) {
		text_printf(out, "%s:%d (%s)", base_name(row->source), row->line, row->function);
		return;
	}
	text_add(out, row->function);
	if (by == BY_BLOCK && !row->code_size)
		text_add(out, ", the rest");
	else if (by == BY_BLOCK)
		text_printf(out, " 0x%" PRIx64, row->address);
	if (by == BY_BLOCK && row->line)
		text_printf(out, " %s:%d", base_name(row->source), row->line);
	else if (*row->module && row->function[0] != '[')
		text_printf(out, " (%s)", base_name(row->module));
}

/* ---- totals ---- */

static void add_ports(const struct tact_result_info *info, struct text *out)
{
	const struct tact_arch *arch = tact_arch_find(info->arch);
	const unsigned ports = arch ? tact_arch_ports(arch) : 0xffff;
	const struct tact_cycles_totals *t = &info->totals;

	text_add(out, "\nPort            ");
	for (unsigned i = 0; i < 16; i++)
		if (ports >> i & 1)
			text_printf(out, "%7u", i);
	text_add(out, "\nUops a cycle    ");
	for (unsigned i = 0; i < 16; i++)
		if (ports >> i & 1)
			text_printf(out, "%7.2f", trace_ratio(t->uops[i], t->cycles));
	text_add(out, "\n");
}

static void add_stalls(const struct tact_cycles_totals *t, struct text *out)
{
	double rest = t->cycles;

	text_add(out, "\nStalls, share of cycles:");
	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		/* Three of them fit a line of a terminal. */
		text_printf(out, "%s %s %.1f%%",
			    !i	     ? ""
			    : i == 3 ? ",\n                        "
				     : ",",
			    tact_stall_name((enum tact_stall)i),
			    100 * trace_ratio(t->stalls[i], t->cycles));
		rest -= t->stalls[i];
	}
	text_printf(out, "; no stall %.1f%%\n", rest > 0 ? 100 * trace_ratio(rest, t->cycles) : 0);
}

static void add_memory(const struct tact_result_info *info, struct text *out)
{
	const struct tact_cycles_totals *t = &info->totals;

	if (info->has_caches) {
		text_add(out, "Loads and stores:   ");
		trace_add_count(out, (double)t->accesses, 0);
		for (unsigned i = 0; i < 3; i++)
			text_printf(out, ", misses of L%u %.3f%%", i + 1,
				    100 * trace_ratio((double)t->misses[i], (double)t->accesses));
		text_add(out, "\n");
	}
	if (info->has_branches) {
		text_add(out, "Branches:           ");
		trace_add_count(out, (double)t->branches, 0);
		text_printf(out, ", predicted wrongly %.3f%%\n",
			    100 * trace_ratio((double)t->mispredicted, (double)t->branches));
	}
}

static void add_totals(const struct tact_result_info *info, struct text *out)
{
	const struct tact_cycles_totals *t = &info->totals;
	const struct tact_arch *arch = tact_arch_find(info->arch);

	text_add(out, "Cycles:             ");
	trace_add_count(out, t->cycles, 0);
	text_add(out, "\nInstructions:       ");
	trace_add_count(out, (double)t->instructions, 0);
	text_printf(out, "\nIPC:                %.2f\n",
		    trace_ratio((double)t->instructions, t->cycles));
	text_printf(out, "CPU:                %s%s%s%s\n", info->arch, arch ? " (" : "",
		    arch ? tact_arch_full_name(arch) : "", arch ? ")" : "");
	text_printf(out, "Through the pipeline: %.2f%% of the instructions%s\n",
		    100 * trace_ratio((double)t->simulated, (double)t->instructions),
		    info->is_exact ? "" : "; the rest is remembered");
	if (t->unknown)
		text_printf(out, "Without data:       %.4f%% of the instructions\n",
			    100 * trace_ratio((double)t->unknown, (double)t->instructions));
	add_memory(info, out);
	if (info->is_partial)
		text_add(out, "The run is not complete.\n");
}

static void add_threads(const struct tact_result *r, struct text *out)
{
	const struct tact_result_row *rows;
	size_t n;

	rows = tact_result_rows(r, TACT_RESULT_THREAD, &n);
	if (n < 2)
		return;
	text_printf(out, "\n%8s%8s%18s%18s%7s\n", "Process", "Thread", "Cycles", "Instructions",
		    "IPC");
	for (size_t i = 0; i < n && i < MAX_THREADS; i++) {
		text_printf(out, "%8u%8u", rows[i].process, rows[i].thread);
		trace_add_count(out, rows[i].cycles, 18);
		trace_add_count(out, (double)rows[i].instructions, 18);
		text_printf(out, "%7.2f\n",
			    trace_ratio((double)rows[i].instructions, rows[i].cycles));
	}
	if (n > MAX_THREADS)
		text_printf(out, "     ... and %zu more\n", n - MAX_THREADS);
}

/* ---- parts ---- */

static void add_code(const struct tact_result_row *row, struct text *out)
{
	size_t at = 0;

	for (unsigned i = 0; at < row->code_size; i++) {
		char text[160];
		struct tact_insn insn;
		const int n = tact_decode(&insn, row->code + at, row->code_size - at);

		if (i == MAX_INSNS) {
			text_printf(out, "%12s... %zu bytes more\n", "", row->code_size - at);
			return;
		}
		if (n <= 0 || tact_format(row->code + at, (size_t)n, row->address + at, text,
					  sizeof(text)) < 0)
			return;
		text_printf(out, "%12s%s\n", "", text);
		at += (size_t)n;
	}
}

static void add_bound(const struct tact_result_row *row, struct text *out)
{
	text_printf(out, "%12s%.2f cycles an execution; alone, repeated: %.2f\n", "",
		    trace_ratio(row->cycles, (double)row->executions),
		    trace_ratio(row->bound, (double)row->executions));
}

static void add_part(const struct tact_result_row *row, int by, double cycles, struct text *out)
{
	size_t start;

	text_printf(out, "%6.1f%%", 100 * trace_ratio(row->cycles, cycles));
	trace_add_count(out, row->cycles, 16);
	trace_add_count(out, (double)row->instructions, 16);
	text_printf(out, "%6.2f", trace_ratio((double)row->instructions, row->cycles));
	trace_add_count(out, (double)row->executions, 13);
	text_add(out, "  ");
	start = out->size;
	trace_add_limits(out, row);
	text_add(out, "  ");
	text_pad(out, LIMITS_WIDTH, start);
	trace_add_place(out, row, by);
	text_add(out, "\n");
	if (by != BY_BLOCK || !row->code_size)
		return;
	add_bound(row, out);
	add_code(row, out);
}

void trace_print_text(const struct tact_result *r, int by, size_t top, struct text *out)
{
	static const char *const titles[] = {
		[BY_FUNCTION] = "Function", [BY_BLOCK] = "Block", [BY_LINE] = "Source line"};
	const struct tact_result_info *info = tact_result_get_info(r);
	const struct tact_result_row *rows;
	size_t n;

	add_totals(info, out);
	add_ports(info, out);
	add_stalls(&info->totals, out);
	add_threads(r, out);
	rows = tact_result_rows(r, (enum tact_result_kind)by, &n);
	if (!n) {
		text_add(out, "\nNo source lines: the code was built without -g, or its files "
			      "are not here.\n");
		return;
	}
	text_printf(out, "\n%7s%16s%16s%6s%13s  %-*s%s\n", "Share", "Cycles", "Instructions", "IPC",
		    by == BY_FUNCTION ? "Calls" : "Executions", LIMITS_WIDTH, "Limited by",
		    titles[by]);
	for (size_t i = 0; i < n && i < (top ? top : DEFAULT_TOP); i++)
		add_part(&rows[i], by, info->totals.cycles, out);
	if (n > (top ? top : DEFAULT_TOP))
		text_printf(out, "        ... and %zu more (--top %zu shows all)\n",
			    n - (top ? top : DEFAULT_TOP), n);
}
