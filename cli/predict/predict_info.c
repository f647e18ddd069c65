/* SPDX-License-Identifier: MIT
 *
 * The view of --info: what is known of each instruction of a block, as `tact insn` shows it.
 */
#include <string.h>

#include "common/cli.h"
#include "common/insninfo.h"
#include "predictor.h"

enum { MAX_PORTS_WIDTH = 26 };

/* What happens to the instruction in this block. */
static void add_notes(const struct predict_worker *w, const struct tact_insn *insn,
		      const struct tact_insn_cost *cost, const struct tact_form_info *info,
		      struct text *out)
{
	static const struct {
		unsigned note;
		const char *text;
	} notes[] = {
		{TACT_NOTE_FUSED_NEXT, "macro-fused with the next"},
		{TACT_NOTE_FUSED_PREV, "macro-fused with the one before"},
		{TACT_NOTE_ELIMINATED, "move eliminated"},
		{TACT_NOTE_IDIOM, "waits for nothing"},
		{TACT_NOTE_UNLAMINATED, "unlaminated"},
		{TACT_NOTE_MICROCODED, "microcoded"},
	};
	const char *between = "  ; ";

	for (size_t i = 0; i < CLI_ARRAY_SIZE(notes); i++)
		if (cost->notes & notes[i].note) {
			text_printf(out, "%s%s", between, notes[i].text);
			between = ", ";
		}
	if (!(cost->notes & TACT_NOTE_UNLAMINATED) && !info->ms &&
	    info->mite + info->ms < info->uops && archlist_param(w->arch, "front_end") &&
	    insn->attributes & (TACT_INSN_LOAD | TACT_INSN_STORE))
		text_printf(out, "%smicro-fused", between);
}

static void add_figures(const struct tact_arch *arch, const struct tact_form_info *info,
			size_t width, struct text *out)
{
	struct text latency = {0}, ports = {0};

	insninfo_add_latency(&latency, info);
	insninfo_ports(&ports, info, "+");
	if (ports.size > MAX_PORTS_WIDTH) {
		ports.size = MAX_PORTS_WIDTH - 3;
		text_add(&ports, "...");
	}
	text_printf(out, "  %4u  %6u  %7s  ", info->uops, info->issued, cli_string(&latency));
	text_cycles2(out, insninfo_throughput(arch, info), 6);
	text_printf(out, "  %-*s", (int)width, cli_string(&ports));
	text_free(&latency);
	text_free(&ports);
}

/* Returns false if there is no data for it. */
static bool get_info(const struct predict_worker *w, size_t i, struct tact_insn *insn,
		     struct tact_form_info *info)
{
	const size_t at = tact_block_offset(w->block, i);
	size_t size;
	const uint8_t *code = tact_block_code(w->block, &size);

	*info = (struct tact_form_info)TACT_FORM_INFO_INIT;
	return tact_block_insn(w->block, i, insn) >= 0 &&
	       tact_arch_insn(w->arch, code + at, size - at, info) >= 0;
}

static size_t ports_width(const struct predict_worker *w)
{
	size_t width = strlen("Ports");

	for (size_t i = 0; i < tact_block_length(w->block); i++) {
		struct tact_form_info info;
		struct tact_insn insn;
		struct text text = {0};

		if (get_info(w, i, &insn, &info))
			insninfo_ports(&text, &info, "+");
		width = text.size > width ? text.size : width;
		text_free(&text);
	}
	return width < MAX_PORTS_WIDTH ? width : MAX_PORTS_WIDTH;
}

void predict_info_table(struct predict_worker *w, const struct tact_listing *listing,
			struct text *out)
{
	const size_t width = ports_width(w);

	text_printf(out, "\n%s    #  Uops  Issued  Latency  Cycles  %-*s  Mem  Instruction%s\n",
		    w->p->bold, (int)width, "Ports", w->p->plain);
	for (size_t i = 0; i < listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;
		struct tact_form_info info;
		struct tact_insn insn;
		const bool has_data = get_info(w, i, &insn, &info);

		text_printf(out, "%5zu", i + 1);
		if (has_data)
			add_figures(w->arch, &info, width, out);
		else
			text_printf(out, "%*sno data", (int)width + 28, "");
		text_printf(out, "  %-3s  %s",
			    insn.attributes & TACT_INSN_LOAD
				    ? insn.attributes & TACT_INSN_STORE ? "LS" : "L"
			    : insn.attributes & TACT_INSN_STORE ? "S"
								: "",
			    listing->line[i]);
		if (has_data && tact_block_cost(w->block, i, &cost) >= 0)
			add_notes(w, &insn, &cost, &info, out);
		text_add(out, "\n");
	}
	text_add(out,
		 "  of each instruction alone: unfused and issued uops; the shortest and longest "
		 "latency;\n  cycles for each of many independent ones; L - loads, S - stores\n");
}
