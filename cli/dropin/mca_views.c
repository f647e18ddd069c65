/* SPDX-License-Identifier: MIT
 *
 * llvm-mca's summary, its table of instructions and its resource pressure (documentation of
 * llvm-mca, "How llvm-mca works", with the columns as it prints them).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "mca_front.h"

void mca_pad(struct text *out, size_t column, size_t start)
{
	do
		text_add(out, " ");
	while (out->size - start < column);
}

void mca_insn_text(struct text *out, const struct mca_view *v, size_t i)
{
	if (i < v->region->n_insns)
		dropin_tab(out, v->region->insns[i].text);
	text_add(out, "\n");
}

/* ---- summary ---- */

void mca_summary(const struct mca_view *v, struct text *out)
{
	const struct dropin_run *run = v->run;
	const uint64_t n = (uint64_t)run->iterations * run->n;
	const double cycles = (double)run->cycles;

	text_printf(out, "Iterations:        %u\n", run->iterations);
	text_printf(out, "Instructions:      %llu\n", (unsigned long long)n);
	text_printf(out, "Total Cycles:      %llu\n", (unsigned long long)run->cycles);
	text_printf(out, "Total uOps:        %llu\n\n", (unsigned long long)run->uops);
	text_printf(out, "Dispatch Width:    %u\n", v->width);
	text_printf(out, "uOps Per Cycle:    %.2f\n",
		    floor((double)run->uops / cycles * 100 + 0.5) / 100);
	text_printf(out, "IPC:               %.2f\n", floor((double)n / cycles * 100 + 0.5) / 100);
	text_printf(out, "Block RThroughput: %.1f\n",
		    floor(dropin_throughput(&run->bounds) * 10 + 0.5) / 10);
}

/* ---- instructions ---- */

/* "1      " as llvm-mca has it: a number and blanks up to a width that it outgrows. */
static void add_column(struct text *out, const char *number, size_t width)
{
	const size_t length = strlen(number);

	text_add(out, number);
	for (size_t i = length; i < width || i == length; i++)
		text_add(out, " ");
}

static void add_encoding(const struct mca_view *v, size_t i, struct text *out)
{
	const size_t at = tact_block_offset(v->run->block, i);
	const size_t end = tact_block_offset(v->run->block, i + 1), start = out->size;
	const uint8_t *code = tact_block_code(v->run->block, NULL);

	text_printf(out, " %zu     ", end - at);
	for (size_t k = at; k < end; k++)
		text_printf(out, "%s%02x", k > at ? " " : "", code[k]);
	mca_pad(out, 37, start);
}

static void add_info(const struct mca_view *v, size_t i, struct text *out)
{
	const double reciprocal = dropin_reciprocal(v->run, i);
	struct tact_insn insn = {0};
	char text[32];

	tact_block_insn(v->run->block, i, &insn);
	text_add(out, " ");
	snprintf(text, sizeof(text), "%u", v->run->costs[i].issued);
	add_column(out, text, 7);
	snprintf(text, sizeof(text), "%u", dropin_latency(v->run, i));
	add_column(out, text, 6);
	if (reciprocal > 0)
		snprintf(text, sizeof(text), "%.2f", reciprocal);
	else
		snprintf(text, sizeof(text), " -");
	add_column(out, text, 7);
	text_add(out, insn.attributes & TACT_INSN_LOAD ? " *     " : "       ");
	text_add(out, insn.attributes & TACT_INSN_STORE ? " *     " : "       ");
	text_add(out, insn.attributes & TACT_INSN_SERIALIZING ? " U     " : "       ");
	if (v->f->show_encoding.on)
		add_encoding(v, i, out);
	mca_insn_text(out, v, i);
}

void mca_info(const struct mca_view *v, struct text *out)
{
	text_add(out, "\n\nInstruction Info:\n[1]: #uOps\n[2]: Latency\n[3]: RThroughput\n"
		      "[4]: MayLoad\n[5]: MayStore\n[6]: HasSideEffects (U)\n");
	text_add(out, v->f->show_encoding.on ? "[7]: Encoding Size\n\n" : "\n");
	text_add(out, "[1]    [2]    [3]    [4]    [5]    [6]    ");
	if (v->f->show_encoding.on)
		text_add(out, "[7]    Encodings:                    ");
	text_add(out, "Instructions:\n");
	for (size_t i = 0; i < v->run->n; i++)
		add_info(v, i, out);
}

/* ---- resources ---- */

void mca_resources_init(struct mca_resources *r, const struct tact_arch *arch)
{
	const unsigned ports = tact_arch_ports(arch);

	memset(r, 0, sizeof(*r));
	if (!tact_arch_is_llvm(arch)) {
		r->port[0] = -1;
		snprintf(r->name[0], sizeof(r->name[0]), "%sDivider", tact_arch_name(arch));
		r->n = 1;
	}
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		const unsigned k = r->n;

		if (!(ports >> p & 1))
			continue;
		r->port[k] = (int)p;
		dropin_port_name(arch, p, r->name[k], sizeof(r->name[k]));
		r->n++;
	}
	for (unsigned k = 0, first = 0; k < r->n; k++) {
		if (k && strcmp(r->name[k], r->name[k - 1]))
			first = k;
		r->kind[k] = k == first ? k ? r->kind[k - 1] + 1 : 0 : r->kind[first];
		r->unit[k] = k - first;
		for (unsigned i = first; i <= k; i++)
			r->units[i] = k - first + 1;
	}
}

double mca_pressure(const struct mca_view *v, const struct mca_resources *r, unsigned k, size_t i)
{
	const struct tact_sim_insn *insn = &v->run->insns[i];

	return r->port[k] < 0 ? insn->divider : insn->port[r->port[k]];
}

static void add_index(const struct mca_resources *r, unsigned k, struct text *out)
{
	text_printf(out, "[%u", r->kind[k]);
	if (r->units[k] > 1)
		text_printf(out, ".%u", r->unit[k]);
	text_add(out, "]");
}

static void add_indices(const struct mca_resources *r, struct text *out)
{
	const size_t start = out->size;

	for (unsigned k = 0; k < r->n; k++) {
		add_index(r, k, out);
		mca_pad(out, 7 * (k + 1), start);
	}
}

static void add_pressures(const struct mca_resources *r, const double *pressure, struct text *out)
{
	const size_t start = out->size;

	for (unsigned k = 0; k < r->n; k++) {
		if (pressure[k] < 0.005)
			text_add(out, " - ");
		else
			text_printf(out, "%.2f", floor(pressure[k] * 100 + 0.5) / 100);
		mca_pad(out, 7 * (k + 1), start);
	}
}

/* With -instruction-tables: of the instruction alone, spread over the ports that it may take. */
static double table_pressure(const struct mca_view *v, const struct mca_resources *r, unsigned k,
			     size_t i)
{
	return r->port[k] < 0 ? v->run->costs[i].divider
			      : dropin_even_pressure(v->run, i, (unsigned)r->port[k]);
}

void mca_resource_pressure(const struct mca_view *v, struct text *out)
{
	double pressure[MCA_MOST_RESOURCES] = {0};
	struct mca_resources r;

	mca_resources_init(&r, v->run->arch);
	text_add(out, "\n\nResources:\n");
	for (unsigned k = 0; k < r.n; k++) {
		const size_t start = out->size;

		add_index(&r, k, out);
		mca_pad(out, 6, start);
		text_printf(out, "- %s\n", r.name[k]);
	}
	if (!v->f->has_tables) {
		for (size_t i = 0; i < v->run->n; i++)
			for (unsigned k = 0; k < r.n; k++)
				pressure[k] += mca_pressure(v, &r, k, i);
		text_add(out, "\n\nResource pressure per iteration:\n");
		add_indices(&r, out);
		text_add(out, "\n");
		add_pressures(&r, pressure, out);
		text_add(out, "\n");
	} else {
		text_add(out, "\n");
	}
	text_add(out, "\nResource pressure by instruction:\n");
	add_indices(&r, out);
	text_add(out, "Instructions:\n");
	for (size_t i = 0; i < v->run->n; i++) {
		for (unsigned k = 0; k < r.n; k++)
			pressure[k] = v->f->has_tables ? table_pressure(v, &r, k, i)
						       : mca_pressure(v, &r, k, i);
		add_pressures(&r, pressure, out);
		mca_insn_text(out, v, i);
	}
}
