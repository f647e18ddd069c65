/* SPDX-License-Identifier: MIT
 *
 * Measurements as text, CSV and JSON (schema tact.measure/1).
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "measurer.h"

const struct measure_flag measure_flags[] = {
	{TACT_MFLAG_CROSSES_LINE, "crosses_line", "an access crosses a cache line"},
	{TACT_MFLAG_ALIAS_PAGE, "alias_page", "loads what was stored through another virtual page"},
	{TACT_MFLAG_FORWARDS, "forwards", "loads what was stored at the same address"},
	{TACT_MFLAG_PARTIAL, "partial", "loads only partly what was stored"},
	{TACT_MFLAG_RIP, "rip", "addresses relative to the instruction"},
	{TACT_MFLAG_X87, "x87", "x87 or MMX"},
	{TACT_MFLAG_VEX, "vex", "VEX or EVEX"},
	{TACT_MFLAG_MANY_PAGES, "many_pages", "touches many pages"},
	{TACT_MFLAG_MODES, "modes", "has several steady states"},
	{TACT_MFLAG_SHORT, "short", "fewer iterations than wanted fit"},
	{TACT_MFLAG_COMPENSATED, "compensated",
	 "the number includes instructions that keep the x87 stack level"},
	{TACT_MFLAG_STACK_FAULT, "stack_fault", "overflows or underflows the x87 stack"},
	{TACT_MFLAG_WALKS, "walks", "walks through memory; its pointers are set back now and then"},
	{0, NULL, NULL},
};

static const char *const rung_help[] = {
	[TACT_RUNG_AUTO] = "",
	[TACT_RUNG_RDPMC] = "core cycles, read in user mode",
	[TACT_RUNG_PERF] = "core cycles, read by a system call",
	[TACT_RUNG_APERF] = "APERF, read by a system call",
	[TACT_RUNG_TSC] = "time stamps, with a chain of known latency as the clock",
};

void measure_add_label(struct text *out, const char *name, const uint8_t *code, size_t size,
		       size_t width)
{
	size_t bytes = 2 * size <= width ? size : (width - 3) / 2;

	if (*name) {
		text_add(out, name);
		return;
	}
	text_hex(out, code, bytes);
	if (bytes < size)
		text_add(out, "...");
}

/* ---- CSV ---- */

static void csv_row(const struct measure_block *block, const struct tact_measurement *m,
		    struct text *out)
{
	char flags[TACT_MEASURE_FLAGS_SIZE];

	if (block->text[0])
		text_csv_field(out, block->text, strlen(block->text), true);
	else
		text_hex(out, block->code, block->code_size);
	if (!m) {
		text_add(out, ",,bad_hex,,,,,,,");
		text_csv_field(out, block->why, strlen(block->why), false);
		text_add(out, ",,,,,,,,,,,\n");
		return;
	}
	text_printf(out, ",%s,%s,", tact_mode_name(m->mode), tact_measure_status_name(m->status));
	if (m->status == TACT_MEASURE_OK) {
		text_number(out, m->cycles_per_iteration);
		text_printf(out, ",%.5f", m->spread);
	} else {
		text_add(out, ",");
	}
	text_printf(out, ",%u,%u,%s,%s,", m->kept, m->dropped, tact_rung_name(m->rung),
		    tact_measure_flags_text(m->flags, flags));
	text_csv_field(out, m->reason, strlen(m->reason), false);
	text_printf(out, ",%s,%u,%u,%u,%u,%u,%u,%u,", tact_init_name(m->init), m->low, m->high,
		    m->n_pages, m->alignment, m->rounds, m->agree, m->disturbed);
	if (m->cpu >= 0)
		text_printf(out, "%d", m->cpu);
	text_printf(out, ",%s,%s\n", tact_contents_name(m->memory), tact_vectors_name(m->vectors));
}

/* ---- JSON ---- */

static void json_origin(const struct measure_block *block, struct json *json)
{
	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.measure/1");
	json_put_string(json, "file", block->path);
	if (block->line && strcmp(block->path, "-x"))
		json_put_count(json, "line", block->line);
	if (block->name[0])
		json_put_string(json, "name", block->name);
	if (block->function[0])
		json_put_string(json, "function", block->function);
	if (block->source[0])
		json_put_string(json, "source", block->source);
	if (block->address)
		json_put_count(json, "address", block->address);
}

static void json_number(const struct tact_measurement *m, struct json *json)
{
	json_put_string(json, "mode", tact_mode_name(m->mode));
	json_put_string(json, "init", tact_init_name(m->init));
	json_put_count(json, "alignment", m->alignment);
	json_put_string(json, "memory", tact_contents_name(m->memory));
	json_put_string(json, "vectors", tact_vectors_name(m->vectors));
	json_put_string(json, "status", tact_measure_status_name(m->status));
	if (m->status == TACT_MEASURE_OK) {
		json_put_number(json, "cycles_per_iteration", m->cycles_per_iteration);
		json_put_fixed(json, "spread", m->spread, 5);
	}
	json_put_count(json, "rounds", m->rounds);
	json_put_count(json, "agree", m->agree);
	json_put_count(json, "disturbed", m->disturbed);
	if (m->cpu >= 0)
		json_put_count(json, "cpu", (uint64_t)m->cpu);
	json_put_count(json, "kept", m->kept);
	json_put_count(json, "dropped", m->dropped);
	json_put_string(json, "rung", tact_rung_name(m->rung));
	json_put_count(json, "low", m->low);
	json_put_count(json, "high", m->high);
	json_put_count(json, "pages", m->n_pages);
	json_begin_array(json, "flags");
	for (const struct measure_flag *f = measure_flags; f->bit; f++)
		if (m->flags & f->bit)
			json_put_string(json, NULL, f->name);
	json_end(json);
	if (m->reason[0])
		json_put_string(json, "reason", m->reason);
}

static void json_row(const struct measure_block *block, const struct tact_measurement *m,
		     struct text *out)
{
	struct json json = {.out = out};

	json_origin(block, &json);
	if (m) {
		json_put_hex(&json, "hex", block->code, block->code_size);
		json_number(m, &json);
	} else {
		json_put_string(&json, "hex", block->text);
		json_put_string(&json, "status", "bad_hex");
		json_put_string(&json, "reason", block->why);
	}
	json_end_line(&json);
}

/* ---- text ---- */

static void text_flags(const struct tact_measurement *m, struct text *out)
{
	const char *key = "Flags:";

	for (const struct measure_flag *f = measure_flags; f->bit; f++) {
		char letter[TACT_MEASURE_FLAGS_SIZE];

		if (!(m->flags & f->bit))
			continue;
		text_printf(out, "%-9s%s: %s\n", key, tact_measure_flags_text(f->bit, letter),
			    f->help);
		key = "";
	}
}

/* Rounds:  4, of which 2 agree and 1 was disturbed */
static void text_rounds(const struct tact_measurement *m, struct text *out)
{
	if (m->rounds < 2)
		return;
	text_printf(out, "\nRounds:  %u, of which %u agree", m->rounds, m->agree);
	if (m->disturbed)
		text_printf(out, " and %u %s disturbed", m->disturbed,
			    m->disturbed == 1 ? "was" : "were");
}

static void text_report(const struct tact_measurement *m, struct text *out)
{
	text_add(out, "Throughput (in cycles per iteration): ");
	if (m->status == TACT_MEASURE_OK)
		text_cycles2(out, m->cycles_per_iteration, 0);
	else
		text_add(out, "none");
	if (m->status != TACT_MEASURE_OK)
		text_printf(out, "\nStatus:  %s\nReason:  %s", tact_measure_status_name(m->status),
			    m->reason[0] ? m->reason : "not known");
	text_printf(out, "\nMode:    %s", tact_mode_name(m->mode));
	if (m->high)
		text_printf(out, ", %u and %u %s", m->low, m->high,
			    m->mode == TACT_MODE_LOOP ? "iterations" : "copies");
	if (m->alignment)
		text_printf(out, "\nOffset:  %u bytes into a cache line", m->alignment);
	text_printf(out, "\nInit:    %s, memory %s, vectors %s\nRung:    %s",
		    tact_init_name(m->init), tact_contents_name(m->memory),
		    tact_vectors_name(m->vectors), tact_rung_name(m->rung));
	if (rung_help[m->rung][0])
		text_printf(out, " (%s)", rung_help[m->rung]);
	if (m->status == TACT_MEASURE_OK)
		text_printf(out, "\nSpread:  %.2f%%", 100 * m->spread);
	text_rounds(m, out);
	text_printf(out, "\nSamples: %u kept, %u dropped\nPages:   %u\n", m->kept, m->dropped,
		    m->n_pages);
	text_flags(m, out);
}

static void text_line(const struct measurer *p, const struct measure_block *block,
		      const struct tact_measurement *m, struct text *out)
{
	char flags[TACT_MEASURE_FLAGS_SIZE], rounds[32];

	if (!m) { /* the message was given */
		text_printf(out, "%10s  %6s  %-6s  %6s  %-5s  %s%.48s\n", "-", "", "", "", "",
			    p->rounds > 1 ? "         " : "", block->text);
		return;
	}
	if (m->status == TACT_MEASURE_OK) {
		text_cycles2(out, m->cycles_per_iteration, 10);
		text_printf(out, "  %5.1f%%", 100 * m->spread);
	} else {
		text_printf(out, "%10s  %6s", "-", "");
	}
	text_printf(out, "  %-6s  %6u  %-5s  ", tact_mode_name(m->mode), m->alignment,
		    tact_measure_flags_text(m->flags, flags));
	snprintf(rounds, sizeof(rounds), "%u of %u", m->agree, m->rounds);
	if (p->rounds > 1)
		text_printf(out, "%7s  ", rounds);
	measure_add_label(out, block->name, block->code, block->code_size, 48);
	if (m->status != TACT_MEASURE_OK)
		text_printf(out, "  %s: %s", tact_measure_status_name(m->status), m->reason);
	text_add(out, "\n");
}

static void text_row(const struct measurer *p, const struct measure_block *block,
		     const struct tact_measurement *m, struct text *out)
{
	if (p->is_number_only) {
		if (m && m->status == TACT_MEASURE_OK)
			text_cycles2(out, m->cycles_per_iteration, 0);
		else
			text_add(out, m ? tact_measure_status_name(m->status) : "bad_hex");
		text_add(out, "\n");
	} else if (p->is_many && !p->is_verbose) {
		text_line(p, block, m, out);
	} else if (m) {
		if (p->is_many) {
			measure_add_label(out, block->name, block->code, block->code_size, 76);
			text_add(out, "\n");
		}
		text_report(m, out);
		if (p->is_many)
			text_add(out, "\n");
	}
}

void measure_header(const struct measurer *p, struct text *out)
{
	if (p->format == FORMAT_CSV)
		text_add(out,
			 "hex,mode,status,cycles_per_iteration,spread,kept,dropped,rung,flags,"
			 "reason,init,low,high,pages,alignment,rounds,agree,disturbed,cpu,memory,"
			 "vectors\n");
	else if (p->format == FORMAT_TEXT && p->is_many && !p->is_verbose && !p->is_number_only)
		text_printf(out, "%10s  %6s  %-6s  %6s  %-5s  %sBlock\n", "Cycles", "Spread",
			    "Mode", "Offset", "Flags", p->rounds > 1 ? "  Agree  " : "");
}

void measure_row(const struct measurer *p, const struct measure_block *block,
		 const struct tact_measurement *m, struct text *out)
{
	switch (p->format) {
	case FORMAT_CSV:
		csv_row(block, m, out);
		break;
	case FORMAT_JSON:
		json_row(block, m, out);
		break;
	default:
		text_row(p, block, m, out);
	}
}
