/* SPDX-License-Identifier: MIT
 *
 * What is known of instructions, for people: a list of forms, or one form in detail.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/doctor.h>
#include <tact/measure.h>

#include "common/cli.h"
#include "common/insninfo.h"
#include "insns.h"

enum { MAX_LISTED = 40, MAX_DETAILED = 4, FACT_COLUMN = 14, MAX_WIDTH = 24 };

static const char *operand_name(const struct insns *q, const struct tact_operand *o)
{
	return o->role == TACT_ROLE_FLAGS ? "flags" : tact_isa_reg_name(q->isa, o->reg);
}

void insn_add_end(struct text *out, const struct insns *q, const struct insn_choice *choice,
		  unsigned end, unsigned number)
{
	static const char *const parts[] = {[TACT_LATENCY_MEMORY] = "memory",
					    [TACT_LATENCY_BASE] = "base",
					    [TACT_LATENCY_INDEX] = "index",
					    [TACT_LATENCY_FLAGS] = "flags"};

	for (size_t i = 0;
	     choice->has_code && end != TACT_LATENCY_FLAGS && i < choice->insn.n_operands; i++) {
		const struct tact_operand *o = &choice->insn.operand[i];

		if (o->number != number)
			continue;
		if (end == TACT_LATENCY_REG && o->kind == TACT_OPERAND_REG) {
			text_add(out, operand_name(q, o));
			return;
		}
		if (end != TACT_LATENCY_BASE && end != TACT_LATENCY_INDEX)
			continue;
		if (o->kind == TACT_OPERAND_MEM || o->kind == TACT_OPERAND_AGEN) {
			const unsigned reg = end == TACT_LATENCY_BASE ? o->base : o->index;

			if (reg == TACT_REG_NONE)
				break;
			text_printf(out, "%s (%s)", tact_isa_reg_name(q->isa, reg), parts[end]);
			return;
		}
	}
	if (end == TACT_LATENCY_REG)
		text_printf(out, "register %u", number + 1);
	else
		text_add(out, parts[end]);
}

bool insn_has_pair(const struct insn_choice *choice, const struct tact_latency *latency)
{
	return !choice->has_code || latency->from != TACT_LATENCY_INDEX ||
	       choice->insn.attributes & TACT_INSN_INDEXED;
}

/* ---- facts: a text for each CPU; equal ones are printed once ---- */

struct fact {
	const char *title;
	void (*add)(const struct insns *q, const struct insn_choice *c, size_t arch,
		    const struct tact_form_info *info, struct text *out);
};

static void add_latencies(const struct insns *q, const struct insn_choice *c, size_t arch,
			  const struct tact_form_info *info, struct text *out)
{
	const char *between = "";

	(void)arch;
	for (uint32_t i = 0; i < info->n_latencies; i++) {
		const struct tact_latency *l = &info->latencies[i];

		if (!insn_has_pair(c, l))
			continue;
		text_add(out, between);
		insn_add_end(out, q, c, l->from, l->from_number);
		text_add(out, " -> ");
		insn_add_end(out, q, c, l->to, l->to_number);
		text_printf(out, " %u", l->cycles);
		between = ", ";
	}
}

/* Of a model of LLVM's, nothing is known before uops issue. */
static bool has_front_end(const struct tact_arch *arch)
{
	return archlist_param(arch, "front_end") != 0;
}

static void add_decoding(const struct insns *q, const struct insn_choice *c, size_t arch,
			 const struct tact_form_info *info, struct text *out)
{
	(void)c;
	if (!has_front_end(q->archs.arch[arch]))
		return;
	text_printf(out, "%u fused uop%s", info->mite + info->ms,
		    info->mite + info->ms == 1 ? "" : "s");
	if (info->ms)
		text_printf(out, ", %u of them from the microcode sequencer", info->ms);
	if (info->needs_complex_decoder)
		text_add(out, ", needs the complex decoder");
	if (info->issued > info->mite + info->ms)
		text_printf(out, ", %u after the renamer takes them apart", info->issued);
}

static void add_divider(const struct insns *q, const struct insn_choice *c, size_t arch,
			const struct tact_form_info *info, struct text *out)
{
	(void)q;
	(void)c;
	(void)arch;
	if (info->divider)
		text_printf(out, "held for %u cycle%s", info->divider,
			    info->divider == 1 ? "" : "s");
}

static void add_fusion(const struct insns *q, const struct insn_choice *c, size_t arch,
		       const struct tact_form_info *info, struct text *out)
{
	(void)c;
	if (info->fuses_with) {
		text_add(out, "macro-fuses with ");
		insninfo_fusion(out, info);
	}
	if (info->mite + info->ms < info->uops && !info->ms && has_front_end(q->archs.arch[arch]))
		text_printf(out, "%smicro-fused: %u uops are %u up to the renamer",
			    info->fuses_with ? "; " : "", info->uops, info->mite);
}

/* What the form does in the situation that it is in, or would do in another. */
static void add_idioms(const struct insns *q, const struct insn_choice *c, size_t arch,
		       const struct tact_form_info *info, struct text *out)
{
	struct tact_form_info same = TACT_FORM_INFO_INIT;

	if (info->is_eliminated)
		text_add(out, "the move is eliminated: the renamer executes it");
	if (info->breaks_dependence && info->situation != TACT_SITUATION_SAME)
		text_add(out, "results do not wait for one of its registers");
	if (tact_arch_form(q->archs.arch[arch], c->form, TACT_SITUATION_SAME, &same) < 0 ||
	    same.situation != TACT_SITUATION_SAME ||
	    (c->has_code && !c->is_example && c->situation != TACT_SITUATION_SAME))
		return;
	text_printf(out, "%swith the same register: ", info->is_eliminated ? "; " : "");
	if (same.breaks_dependence)
		text_add(out, same.uops ? "waits for nothing, but needs a port"
					: "needs no port and waits for nothing");
	else
		text_printf(out, "%u uop%s", same.uops, same.uops == 1 ? "" : "s");
}

static void add_indexed(const struct insns *q, const struct insn_choice *c, size_t arch,
			const struct tact_form_info *info, struct text *out)
{
	struct tact_form_info other = TACT_FORM_INFO_INIT;

	(void)info;
	if (c->situation == TACT_SITUATION_INDEXED ||
	    tact_arch_form(q->archs.arch[arch], c->form, TACT_SITUATION_INDEXED, &other) < 0 ||
	    other.situation != TACT_SITUATION_INDEXED)
		return;
	text_printf(out, "with an index register: %u uops, %u issued, ports ", other.uops,
		    other.issued);
	insninfo_ports(out, &other, "+");
}

static void add_source(const struct insns *q, const struct insn_choice *c, size_t arch,
		       const struct tact_form_info *info, struct text *out)
{
	(void)q;
	(void)c;
	(void)arch;
	text_add(out, info->source);
	if (info->cycles)
		text_printf(out, "; throughput as measured there: %u", info->cycles);
}

/* Of a CPU whose predictions nobody compared with measured blocks. */
static void add_caveat(const struct insns *q, const struct insn_choice *c, size_t arch,
		       const struct tact_form_info *info, struct text *out)
{
	(void)c;
	(void)info;
	if (!*tact_arch_verified_on(q->archs.arch[arch]))
		text_add(out, tact_arch_caveat(q->archs.arch[arch]));
}

static const struct fact facts[] = {
	{"Latency", add_latencies}, {"Decoding", add_decoding}, {"Divider", add_divider},
	{"Fusion", add_fusion},	    {"Idioms", add_idioms},	{"Address", add_indexed},
	{"Source", add_source},	    {"Model", add_caveat},
};

bool insn_figures(const struct tact_arch *arch, const struct insn_choice *choice,
		  struct tact_form_info *info)
{
	if (choice->has_code && !choice->is_example)
		return tact_arch_insn(arch, choice->code, choice->insn.length, info) >= 0;
	return tact_arch_form(arch, choice->form, choice->situation, info) >= 0;
}

static bool get_info(const struct insns *q, const struct insn_choice *c, size_t arch,
		     struct tact_form_info *info)
{
	*info = (struct tact_form_info)TACT_FORM_INFO_INIT;
	return insn_figures(q->archs.arch[arch], c, info);
}

/* One line for each different text, with the CPUs that have it. */
static void add_fact(const struct insns *q, const struct insn_choice *c, const struct fact *fact,
		     struct text *out)
{
	const size_t n = q->archs.n;
	struct text *texts = cli_alloc(n * sizeof(*texts));
	const char *title = fact->title;

	memset(texts, 0, n * sizeof(*texts));
	for (size_t i = 0; i < n; i++) {
		struct tact_form_info info;

		if (get_info(q, c, i, &info))
			fact->add(q, c, i, &info, &texts[i]);
	}
	for (size_t i = 0; i < n; i++) {
		struct text line = {0};
		size_t start = out->size;

		if (!texts[i].size)
			continue;
		text_append(&line, &texts[i]);
		text_add(&line, n > 1 ? " [" : "");
		for (size_t k = n; n > 1 && k-- > i;)
			if (k != i && texts[k].size == texts[i].size &&
			    !memcmp(texts[k].data, texts[i].data, texts[i].size))
				texts[k].failed = true; /* is printed here */
		for (size_t k = i; n > 1 && k < n; k++) {
			if (k != i && !texts[k].failed)
				continue;
			text_printf(&line, "%s%s", k == i ? "" : " ",
				    tact_arch_name(q->archs.arch[k]));
			if (k != i)
				text_free(&texts[k]);
			texts[k].failed = false;
		}
		text_add(&line, n > 1 ? "]" : "");
		text_add(out, title);
		text_pad(out, FACT_COLUMN, start);
		text_wrap(out, cli_string(&line), FACT_COLUMN, start);
		text_free(&line);
		title = "";
	}
	for (size_t i = 0; i < n; i++)
		text_free(&texts[i]);
	free(texts);
}

/* ---- tables ---- */

static void add_row(const struct insns *q, const struct insn_choice *c, size_t arch,
		    const char *name, int width, bool is_list, struct text *out)
{
	struct tact_form_info info;
	struct text latency = {0}, ports = {0};
	size_t start = out->size;

	if (strlen(name) > (size_t)width) { /* has a line of its own */
		text_printf(out, "%s\n", name);
		start = out->size;
		name = "";
	}
	text_printf(out, "%-*s", width, name);
	if (!get_info(q, c, arch, &info)) {
		text_add(out, "  no data\n");
		return;
	}
	insninfo_add_latency(&latency, &info);
	insninfo_ports(&ports, &info, " + ");
	if (is_list && c->is_example) /* whose figures these are */
		text_printf(&ports, "  %s", c->text);
	text_printf(out, "  %4u  %6u  %7s  ", info.uops, info.issued, cli_string(&latency));
	text_cycles2(out, insninfo_throughput(q->archs.arch[arch], &info), 6);
	text_add(out, "  ");
	text_wrap(out, cli_string(&ports), out->size - start, start);
	text_free(&latency);
	text_free(&ports);
}

static void add_header(const char *first, int width, struct text *out)
{
	text_printf(out, "%-*s  Uops  Issued  Latency  Cycles  Ports\n", width, first);
}

/* What the columns are, and which of them are computed. */
static void add_legend(struct text *out)
{
	text_wrap(
		out,
		"Uops: unfused. Issued: fused. Latency: the shortest and the longest of all pairs "
		"of operands. Cycles: for each of many independent ones (reciprocal throughput), "
		"computed by tact from ports, issue width, divider and the table's own figure.",
		2, out->size);
}

static void add_measured(const struct insns *q, struct tact_harness *harness,
			 const struct insn_choice *c, struct text *out)
{
	struct insn_measured m;
	const char *name = tact_arch_name(q->archs.arch[0]);

	insn_measure(q, harness, q->archs.arch[0], c, &m);
	text_add(out, "\nMeasured on this machine, and predicted for the same code:\n");
	if (m.why[0])
		text_printf(out, "  no throughput: %s\n", m.why);
	else
		text_printf(out, "  %-40s %6.2f cycles  %s: %.2f\n", "each of independent copies",
			    m.throughput, name, m.predicted);
	for (size_t i = 0; i < m.n_chains; i++) {
		struct text title = {0};

		text_printf(&title, "a chain through %s", m.chain[i].from);
		text_printf(out, "  %-40s %6.2f cycles  %s: %.2f\n", cli_string(&title),
			    m.chain[i].cycles, name, m.chain[i].predicted);
		text_free(&title);
	}
}

static void add_title(const struct insns *q, const struct insn_choice *c, struct text *out)
{
	const char *form = c->form == TACT_FORM_NONE ? "a form that no table has"
						     : tact_isa_form_name(q->isa, c->form);

	if (!c->has_code)
		text_printf(out, "%s\n", form);
	else if (c->is_example)
		text_printf(out, "%s, for example %s\n", form, c->text);
	else
		text_printf(out, "%s: %s\n", c->text, form);
}

/* What the form is, where its name does not say it. */
static void add_kind(const struct insns *q, const struct insn_choice *c, struct text *out)
{
	struct tact_form f = TACT_FORM_INIT;

	if (tact_isa_form(q->isa, c->form, &f) < 0)
		return;
	text_printf(out, "%s%s%s: %s, %s\n", f.mnemonic, *f.operands ? " " : "", f.operands,
		    f.category, tact_isa_form_extension(q->isa, c->form));
}

static void add_detail(struct insns *q, struct tact_harness *harness, struct insn_choice *c,
		       struct text *out)
{
	size_t width = 4;

	for (size_t i = 0; i < q->archs.n; i++) {
		const size_t n = strlen(tact_arch_name(q->archs.arch[i]));

		width = n > width ? n : width;
	}
	insn_make_example(q, c);
	add_title(q, c, out);
	add_kind(q, c, out);
	text_add(out, "\n");
	add_header("CPU", (int)width, out);
	for (size_t i = 0; i < q->archs.n; i++)
		add_row(q, c, i, tact_arch_name(q->archs.arch[i]), (int)width, false, out);
	text_add(out, "\n");
	for (size_t i = 0; i < CLI_ARRAY_SIZE(facts); i++)
		add_fact(q, c, &facts[i], out);
	if (harness)
		add_measured(q, harness, c, out);
}

static void add_list(const struct insns *q, struct text *out)
{
	const size_t shown = q->is_all || q->n_choices <= MAX_LISTED ? q->n_choices : MAX_LISTED;
	struct text hint = {0};
	size_t width = 4;

	for (size_t a = 0; a < q->archs.n; a++) {
		text_printf(out, "%s%s (%s)\n", a ? "\n" : "", tact_arch_name(q->archs.arch[a]),
			    tact_arch_full_name(q->archs.arch[a]));
		for (size_t i = 0; i < shown; i++) {
			const size_t n = strlen(tact_isa_form_name(q->isa, q->choices[i].form));

			width = n > width ? n : width;
		}
		width = width < MAX_WIDTH ? width : MAX_WIDTH;
		add_header("Form", (int)width, out);
		for (size_t i = 0; i < shown; i++)
			add_row(q, &q->choices[i], a,
				tact_isa_form_name(q->isa, q->choices[i].form), (int)width, true,
				out);
	}
	if (shown < q->n_choices)
		text_printf(out, "... and %zu more forms (--all lists them)\n",
			    q->n_choices - shown);
	add_legend(out);
	text_printf(&hint,
		    "For latencies, fusion, idioms and sources, give one form: tact insn '%s'",
		    tact_isa_form_name(q->isa, q->choices[0].form));
	text_wrap(out, cli_string(&hint), 2, out->size);
	text_free(&hint);
}

/* Says whose measurements follow if they are not those of the CPU that was asked for. */
static void add_machine(const struct insns *q, struct text *out)
{
	struct tact_cpu cpu = TACT_CPU_INIT;

	tact_cpu_find("native", &cpu);
	text_printf(out, "This machine is %s, family %u model %u%s%s", cpu.brand, cpu.family,
		    cpu.model, *cpu.line ? ": " : "", cpu.line);
	if (cpu.arch != q->archs.arch[0])
		text_printf(out, "; it is not %s, whose predictions stand beside",
			    tact_arch_name(q->archs.arch[0]));
	text_add(out, ".\n\n");
}

void insn_print_text(const struct insns *question, struct text *out)
{
	struct insns *q = (struct insns *)question;
	struct tact_harness *harness = NULL;
	struct tact_diag diag = {0};
	const bool is_list = q->n_choices > (q->is_narrow ? MAX_DETAILED : 1);

	if (is_list) {
		if (q->is_measured)
			cli_message("--measure: give one form, not %zu", q->n_choices);
		add_list(q, out);
		return;
	}
	if (q->is_measured && insn_start_harness(&harness, &diag) < 0)
		cli_message("--measure: %s", diag.text);
	if (harness)
		add_machine(q, out);
	for (size_t i = 0; i < q->n_choices; i++) {
		text_add(out, i ? "\n" : "");
		add_detail(q, harness, &q->choices[i], out);
	}
	text_add(out, "\n");
	add_legend(out);
	tact_harness_destroy(harness);
}
