/* SPDX-License-Identifier: MIT
 *
 * What is known of instructions as CSV and JSON: a row for each form and CPU.
 */
#include <string.h>

#include <tact/measure.h>

#include "base/tabular.h"
#include "common/cli.h"
#include "common/insninfo.h"
#include "insns.h"

struct row {
	const struct insns *q;
	const struct tact_arch *arch;
	const struct insn_choice *choice;
	bool has_data, is_measured;
	struct tact_form_info info;
	struct insn_measured measured;
};

/* A text that lives until the table's next one. */
static struct cell cell_of(struct table *table, struct text *text)
{
	struct cell cell = cell_printf(table, "%s", cli_string(text));

	text_free(text);
	return cell;
}

static struct cell get_arch(const struct cell_at *at)
{
	return cell_string(tact_arch_name(((const struct row *)at->row)->arch));
}

static struct cell get_verified(const struct cell_at *at)
{
	return cell_bool(tact_arch_is_verified(((const struct row *)at->row)->arch));
}

static struct cell get_form(const struct cell_at *at)
{
	const struct row *r = at->row;

	return r->choice->form == TACT_FORM_NONE
		       ? cell_none()
		       : cell_string(tact_isa_form_name(r->q->isa, r->choice->form));
}

static struct cell get_instruction(const struct cell_at *at)
{
	const struct row *r = at->row;

	return r->choice->has_code ? cell_string(r->choice->text) : cell_none();
}

static struct cell get_hex(const struct cell_at *at)
{
	const struct row *r = at->row;

	return r->choice->has_code ? cell_hex(r->choice->code, r->choice->insn.length)
				   : cell_none();
}

static struct cell get_status(const struct cell_at *at)
{
	return cell_string(((const struct row *)at->row)->has_data ? "ok" : "no-data");
}

enum { UOPS, ISSUED, DECODED, MICROCODED, DIVIDER, TABLE_CYCLES };

static struct cell get_count(const struct cell_at *at)
{
	const struct row *r = at->row;
	const struct tact_form_info *i = &r->info;
	const unsigned values[] = {i->uops, i->issued, i->mite, i->ms, i->divider, i->cycles};
	const unsigned value = values[at->column->argument];

	if (!r->has_data || (at->column->argument >= DIVIDER && !value))
		return cell_none();
	return cell_count(value);
}

static struct cell get_ports(const struct cell_at *at)
{
	const struct row *r = at->row;
	struct text text = {0};

	if (!r->has_data)
		return cell_none();
	insninfo_ports(&text, &r->info, "+");
	return cell_of(at->table, &text);
}

static struct cell get_latency(const struct cell_at *at)
{
	const struct row *r = at->row;
	unsigned low, high;

	if (!r->has_data || !insninfo_latency(&r->info, &low, &high))
		return cell_none();
	return cell_count(at->column->argument ? high : low);
}

static struct cell get_latencies(const struct cell_at *at)
{
	const struct row *r = at->row;
	struct text text = {0};

	if (!r->has_data)
		return cell_none();
	for (uint32_t i = 0; i < r->info.n_latencies; i++) {
		const struct tact_latency *l = &r->info.latencies[i];

		if (!insn_has_pair(r->choice, l))
			continue;
		text_add(&text, text.size ? "; " : "");
		insn_add_end(&text, r->q, r->choice, l->from, l->from_number);
		text_add(&text, " > ");
		insn_add_end(&text, r->q, r->choice, l->to, l->to_number);
		text_printf(&text, ": %u", l->cycles);
	}
	return cell_of(at->table, &text);
}

static struct cell get_throughput(const struct cell_at *at)
{
	const struct row *r = at->row;

	return r->has_data ? cell_number(insninfo_throughput(r->arch, &r->info)) : cell_none();
}

static struct cell get_fusion(const struct cell_at *at)
{
	const struct row *r = at->row;
	struct text text = {0};

	if (!r->has_data)
		return cell_none();
	insninfo_fusion(&text, &r->info);
	return cell_of(at->table, &text);
}

enum { ELIMINATED, BREAKS, COMPLEX };

static struct cell get_flag(const struct cell_at *at)
{
	const struct row *r = at->row;
	const bool values[] = {r->info.is_eliminated, r->info.breaks_dependence,
			       r->info.needs_complex_decoder};

	return r->has_data ? cell_bool(values[at->column->argument]) : cell_none();
}

static struct cell get_source(const struct cell_at *at)
{
	const struct row *r = at->row;

	return r->has_data ? cell_string(r->info.source) : cell_none();
}

static struct cell get_measured(const struct cell_at *at)
{
	const struct row *r = at->row;

	return r->is_measured && !r->measured.why[0] ? cell_number(r->measured.throughput)
						     : cell_none();
}

static struct cell get_chains(const struct cell_at *at)
{
	const struct row *r = at->row;
	struct text text = {0};

	if (!r->is_measured)
		return cell_none();
	for (size_t i = 0; i < r->measured.n_chains; i++)
		text_printf(&text, "%s%s: %.2f", i ? "; " : "", r->measured.chain[i].from,
			    r->measured.chain[i].cycles);
	return cell_of(at->table, &text);
}

static const struct column columns[] = {
	{NULL, "arch", .get = get_arch},
	{NULL, "form", .get = get_form},
	{NULL, "instruction", .get = get_instruction},
	{NULL, "hex", .get = get_hex},
	{NULL, "status", .get = get_status},
	{NULL, "uops", .get = get_count, .argument = UOPS},
	{NULL, "issued_uops", .get = get_count, .argument = ISSUED},
	{NULL, "decoded_uops", .get = get_count, .argument = DECODED},
	{NULL, "microcoded_uops", .get = get_count, .argument = MICROCODED},
	{NULL, "complex_decoder", .get = get_flag, .argument = COMPLEX},
	{NULL, "ports", .get = get_ports},
	{NULL, "latency_min_cycles", .get = get_latency, .argument = 0},
	{NULL, "latency_max_cycles", .get = get_latency, .argument = 1},
	{NULL, "latencies", .get = get_latencies},
	{NULL, "throughput_cycles", .get = get_throughput},
	{NULL, "table_throughput_cycles", .get = get_count, .argument = TABLE_CYCLES},
	{NULL, "divider_cycles", .get = get_count, .argument = DIVIDER},
	{NULL, "fuses_with", .get = get_fusion},
	{NULL, "eliminated", .get = get_flag, .argument = ELIMINATED},
	{NULL, "breaks_dependence", .get = get_flag, .argument = BREAKS},
	{NULL, "source", .get = get_source},
	{NULL, "measured_throughput_cycles", .get = get_measured},
	{NULL, "measured_latencies", .get = get_chains},
	{NULL, "verified", .get = get_verified},
};

void insn_print_rows(const struct insns *q, struct text *out)
{
	struct table table = {.columns = columns,
			      .n_columns = CLI_ARRAY_SIZE(columns),
			      .format = q->format,
			      .out = out,
			      .schema = "tact.insn/1"};
	struct tact_harness *harness = NULL;
	struct tact_diag diag = {0};

	if (q->is_measured && insn_start_harness(&harness, &diag) < 0)
		cli_message("--measure: %s", diag.text);
	table_header(&table);
	for (size_t i = 0; i < q->n_choices; i++) {
		if (q->n_choices <= 8)
			insn_make_example(q, &q->choices[i]);
		for (size_t a = 0; a < q->archs.n; a++) {
			struct row row = {.q = q,
					  .arch = q->archs.arch[a],
					  .choice = &q->choices[i],
					  .is_measured = harness != NULL,
					  .info.size = sizeof(row.info)};

			row.has_data = insn_figures(row.arch, row.choice, &row.info);
			if (harness)
				insn_measure(q, harness, row.arch, row.choice, &row.measured);
			table_row(&table, &row);
		}
	}
	table_fini(&table);
	tact_harness_destroy(harness);
}
