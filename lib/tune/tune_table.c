/* SPDX-License-Identifier: MIT
 *
 * Parameters: their values in a table, their names, and where they may start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "arch/notation.h"
#include "tune/tune.h"

/* Parameters of a core that measurements of blocks can say something about. */
static const struct {
	const char *name;
	size_t offset;
	int low, high;
} cores[] = {
#define CORE(name, low, high)                                                                      \
	{                                                                                          \
#name, offsetof(struct arch_params, name), low, high                               \
	}
	CORE(issue_width, 1, 16),	CORE(predecode_width, 1, 16), CORE(store_forward, 0, 32),
	CORE(store_forward_vec, 0, 32), CORE(load_latency, 1, 32),    CORE(lcp_stall, 0, 16),
#undef CORE
};

int tune_table_copy(struct tune_table *out, const struct tune_table *from)
{
	struct tune_table copy = {0};
	int status;

	if (from->mca)
		status = tact_mca_params_copy(&copy.mca, from->mca, NULL);
	else
		status = tact_arch_copy(&copy.arch, from->arch);
	copy.tied = from->tied;
	if (status >= 0)
		*out = copy;
	return status;
}

void tune_table_fini(struct tune_table *table)
{
	tact_mca_params_destroy(table->mca);
	tact_arch_destroy(table->arch);
	*table = (struct tune_table){0};
}

static int *core_field(struct tact_arch *arch, unsigned index)
{
	return (int *)((char *)&arch->params + cores[index].offset);
}

bool tune_core(unsigned index, struct tune_param *out)
{
	if (index >= ARRAY_SIZE(cores))
		return false;
	*out = (struct tune_param){.form = TACT_FORM_NONE,
				   .kind = TUNE_CORE,
				   .index = (uint16_t)index,
				   .low = cores[index].low,
				   .high = cores[index].high};
	return true;
}

/* Returns the field that says how long a form keeps others out: FACILE takes the larger one. */
static uint16_t *hold_field(struct arch_variant *v)
{
	return v->cycles > v->divider ? &v->cycles : &v->divider;
}

int tune_value(const struct tune_table *table, const struct tune_param *p)
{
	struct arch_view view;
	int value = 0;

	if (table->mca) {
		tact_mca_get(table->mca, p->form, p->kind, p->index, &value);
		return value;
	}
	if (p->kind == TUNE_CORE)
		return *core_field(table->arch, p->index);
	if (!arch_view_of(table->arch, p->form, (enum arch_situation)p->situation, &view))
		return 0;
	switch (p->kind) {
	case TUNE_LATENCY:
		return view.latency[p->index].cycles;
	case TUNE_PORT_SET:
		return view.ports[p->index].mask;
	case TUNE_PORT_COUNT:
		return view.ports[p->index].count;
	case TUNE_FUSED:
		return view.variant->fused;
	default:
		return view.variant->cycles > view.variant->divider ? view.variant->cycles
								    : view.variant->divider;
	}
}

static void assign_mca(struct tune_table *table, const struct tune_param *p, int value)
{
	tact_mca_set(table->mca, p->form, p->kind, p->index, value);
	if (!table->tied || p->form == TACT_FORM_NONE)
		return;
	for (unsigned form = table->tied[p->form]; form != p->form; form = table->tied[form])
		tact_mca_set(table->mca, form, p->kind, p->index, value);
}

void tune_assign(struct tune_table *table, const struct tune_param *p, int value)
{
	struct arch_own *own;

	if (table->mca) {
		assign_mca(table, p, value);
		return;
	}
	if (p->kind == TUNE_CORE) {
		*core_field(table->arch, p->index) = value;
		arch_changed(table->arch);
		return;
	}
	/* It exists: tune_space_create has created all learned parameters. */
	own = arch_own_of(table->arch, p->form, (enum arch_situation)p->situation);
	if (!own)
		return;
	switch (p->kind) {
	case TUNE_LATENCY:
		own->latency[p->index].cycles = (uint16_t)value;
		break;
	case TUNE_PORT_SET:
		own->ports[p->index].mask = (uint16_t)value;
		break;
	case TUNE_PORT_COUNT:
		own->ports[p->index].count = (uint16_t)value;
		break;
	case TUNE_FUSED:
		own->variant.fused = (uint16_t)value;
		break;
	default:
		*hold_field(&own->variant) = (uint16_t)value;
		break;
	}
	arch_changed(table->arch);
}

/* ---- names ---- */

const char *tune_kind_name(unsigned kind)
{
	static const char *const names[TUNE_N_KINDS - TACT_MCA_N_KINDS] = {
		"latency", "ports", "port_uops", "fused_uops", "hold", "core"};

	if (kind < TACT_MCA_N_KINDS)
		return tact_mca_get_info(kind)->name;
	return names[kind - TACT_MCA_N_KINDS];
}

unsigned tune_kind_what(unsigned kind)
{
	switch (kind) {
	case TACT_MCA_MICRO_OPS:
	case TUNE_FUSED:
		return TACT_TUNE_UOPS;
	case TACT_MCA_LATENCY:
	case TUNE_LATENCY:
		return TACT_TUNE_LATENCY;
	case TACT_MCA_READ_ADVANCE:
		return TACT_TUNE_ADVANCE;
	case TACT_MCA_DISPATCH_WIDTH:
	case TACT_MCA_REORDER_BUFFER:
	case TUNE_CORE:
		return TACT_TUNE_GLOBALS;
	default:
		return TACT_TUNE_PORTS;
	}
}

void tune_value_text(const struct tune_param *p, int value, char *text, size_t size)
{
	size_t n = 1;

	if (p->kind != TUNE_PORT_SET) {
		snprintf(text, size, "%d", value);
		return;
	}
	snprintf(text, size, "p");
	for (unsigned port = 0; port < TACT_MAX_PORTS && n + 1 < size; port++)
		if (value >> port & 1)
			text[n++] = notation_port(port);
	text[n] = 0;
}

static void operand_name(uint8_t op, bool is_source, char *text, size_t size)
{
	static const char *const parts[] = {"", ".m", ".b", ".i"};
	unsigned kind = op >> 4;

	if (!kind)
		snprintf(text, size, "r%u", op & 15u);
	else if ((op & 15) == ARCH_OP_AGEN)
		snprintf(text, size, "a%s", parts[kind & 3]);
	else
		snprintf(text, size, "m%u%s", op & 15u, is_source ? parts[kind & 3] : "");
}

void tune_param_name(const struct tune_table *table, const struct tune_param *p, char *text,
		     size_t size)
{
	const char *form =
		p->form == TACT_FORM_NONE ? "" : tact_isa_form_name(tune_isa(table), p->form);
	char situation[16] = "", from[8], to[8];
	struct arch_view view;

	if (p->kind == TUNE_CORE || p->form == TACT_FORM_NONE) {
		snprintf(text, size, "%s",
			 p->kind == TUNE_CORE ? cores[p->index].name : tune_kind_name(p->kind));
		return;
	}
	if (p->situation != ARCH_PLAIN)
		snprintf(situation, sizeof(situation), " %s",
			 arch_situation_name((enum arch_situation)p->situation));
	if (p->kind == TUNE_LATENCY &&
	    arch_view_of(table->arch, p->form, (enum arch_situation)p->situation, &view)) {
		operand_name(view.latency[p->index].from, true, from, sizeof(from));
		operand_name(view.latency[p->index].to, false, to, sizeof(to));
		snprintf(text, size, "%s%s latency %s>%s", form, situation, from, to);
	} else if (p->kind == TACT_MCA_PORT_CYCLES || p->kind == TACT_MCA_READ_ADVANCE ||
		   p->kind == TUNE_PORT_SET || p->kind == TUNE_PORT_COUNT) {
		snprintf(text, size, "%s%s %s %u", form, situation, tune_kind_name(p->kind),
			 p->index);
	} else {
		snprintf(text, size, "%s%s %s", form, situation, tune_kind_name(p->kind));
	}
}

/* ---- where parameters start ---- */

/* DiffTune, section V-A: WriteLatency 0 to 5, PortMap 0 to 2 cycles on 0 to 2 ports (see
 * sample_ports), ReadAdvanceCycles 0 to 5, NumMicroOps 1 to 10, DispatchWidth 1 to 10,
 * ReorderBufferSize 50 to 250; with only latencies to learn (section VI-B) 0 to 10.
 */
int tune_sample_value(unsigned kind, uint64_t *rng)
{
	switch (kind) {
	case TACT_MCA_MICRO_OPS:
	case TACT_MCA_DISPATCH_WIDTH:
		return random_in(rng, 1, 10);
	case TACT_MCA_LATENCY:
	case TACT_MCA_READ_ADVANCE:
		return random_in(rng, 0, 5);
	case TACT_MCA_REORDER_BUFFER:
		return random_in(rng, 50, 250);
	default:
		return random_in(rng, 0, 2);
	}
}

static void sample_ports(struct tact_mca_params *params, unsigned form, uint64_t *rng)
{
	unsigned n = random_below(rng, 3);

	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		tact_mca_set(params, form, TACT_MCA_PORT_CYCLES, p, 0);
	for (unsigned k = 0; k < n; k++)
		tact_mca_set(params, form, TACT_MCA_PORT_CYCLES, random_below(rng, TACT_MCA_PORTS),
			     random_in(rng, 0, 2));
}

void tune_sample_form(struct tact_mca_params *params, unsigned form, unsigned what, uint64_t *rng)
{
	if (what & TACT_TUNE_UOPS)
		tact_mca_set(params, form, TACT_MCA_MICRO_OPS, 0,
			     tune_sample_value(TACT_MCA_MICRO_OPS, rng));
	if (what & TACT_TUNE_LATENCY)
		tact_mca_set(params, form, TACT_MCA_LATENCY, 0,
			     random_in(rng, 0, what == TACT_TUNE_LATENCY ? 10 : 5));
	for (unsigned i = 0; i < TACT_MCA_READS && what & TACT_TUNE_ADVANCE; i++)
		tact_mca_set(params, form, TACT_MCA_READ_ADVANCE, i,
			     tune_sample_value(TACT_MCA_READ_ADVANCE, rng));
	if (what & TACT_TUNE_PORTS)
		sample_ports(params, form, rng);
}

void tune_sample(struct tact_mca_params *params, unsigned what, uint64_t *rng)
{
	unsigned n_forms = tact_isa_form_count(tact_arch_isa(tact_mca_params_arch(params)));

	for (unsigned form = 0; form < n_forms; form++)
		tune_sample_form(params, form, what, rng);
	if (!(what & TACT_TUNE_GLOBALS))
		return;
	tact_mca_set(params, 0, TACT_MCA_DISPATCH_WIDTH, 0,
		     tune_sample_value(TACT_MCA_DISPATCH_WIDTH, rng));
	tact_mca_set(params, 0, TACT_MCA_REORDER_BUFFER, 0,
		     tune_sample_value(TACT_MCA_REORDER_BUFFER, rng));
}

int tune_corrupt(struct tact_tuner *t, struct tune_table *table, unsigned percent)
{
	uint64_t rng = t->opt.seed ^ 0xc0ffee;

	for (size_t i = t->n_globals; i < t->n_params; i++) {
		const struct tune_param *p = &t->params[i];
		int old = tune_value(table, p), value = old;

		if ((p->kind != TUNE_LATENCY && p->kind != TUNE_PORT_SET) ||
		    random_below(&rng, 100) >= percent)
			continue;
		/* Makes a latency up to twice as long plus three, or takes another set of ports. */
		for (unsigned k = 0; k < 100 && value == old; k++)
			value = p->kind == TUNE_LATENCY
					? random_in(&rng, 1, 2 * old + 3)
					: t->port_sets[random_below(&rng, t->n_port_sets)];
		tune_assign(table, p, value);
	}
	return 0;
}
