/* SPDX-License-Identifier: MIT
 *
 * The figures of an instruction form as the public interface shows them, and changes of them at run
 * time.
 */
#include <stdio.h>
#include <string.h>

#include <tact/insn.h>

#include "arch/arch_llvm.h"

_Static_assert((int)TACT_MAX_PORT_USES >= (int)ARCH_MAX_PORT_USES &&
		       (int)TACT_MAX_LATENCIES >= (int)ARCH_MAX_LATENCIES,
	       "all of a list has room");
_Static_assert((int)TACT_SITUATION_INDEXED == (int)ARCH_INDEXED &&
		       (int)TACT_SITUATION_SAME == (int)ARCH_SAME &&
		       (int)TACT_NUMBER_ADDRESS == (int)ARCH_OP_AGEN,
	       "the tables number them as the interface does");

/* The tables have the kind in the high four bits, in the order of enum tact_latency_end. */
static uint8_t end_of(uint8_t operand)
{
	return operand >> 4;
}

static uint8_t operand_of(uint8_t end, uint8_t number)
{
	return (uint8_t)(end << 4 | (number & 15));
}

static struct tact_latency latency_of(const struct arch_latency *l)
{
	return (struct tact_latency){.from = end_of(l->from),
				     .from_number = l->from & 15,
				     .to = end_of(l->to),
				     .to_number = l->to & 15,
				     .cycles = l->cycles};
}

/* Returns whether there is a register from which every listed latency is zero. */
static bool breaks_dependence(const struct arch_latency *list)
{
	for (const struct arch_latency *l = list; l->from != ARCH_OP_END; l++) {
		bool waits = end_of(l->from) != TACT_LATENCY_REG;

		for (const struct arch_latency *k = list; k->from != ARCH_OP_END && !waits; k++)
			waits = k->from == l->from && k->cycles;
		if (!waits)
			return true;
	}
	return false;
}

/* Returns whether there is no uop, and nothing but one register that another takes without delay.
 */
static bool is_eliminated(const struct arch_view *view)
{
	const struct arch_latency *l = view->latency;

	return !view->variant->uops && l->from != ARCH_OP_END && l[1].from == ARCH_OP_END &&
	       !l->cycles && end_of(l->from) == TACT_LATENCY_REG &&
	       end_of(l->to) == TACT_LATENCY_REG && l->from != l->to;
}

static void fill_lists(struct tact_form_info *info, const struct arch_view *view)
{
	for (const struct arch_port_use *use = view->ports; use->count; use++)
		info->port_uses[info->n_port_uses++] =
			(struct tact_port_use){use->mask, use->count};
	for (const struct arch_latency *l = view->latency; l->from != ARCH_OP_END; l++)
		info->latencies[info->n_latencies++] = latency_of(l);
}

/* Copies what the letter of a form's source means. */
static void fill_source(struct tact_form_info *info, const struct tact_arch *arch, unsigned letter)
{
	const char *line = arch->sources;

	if (!letter) {
		snprintf(info->source, sizeof(info->source), "a file given with --params");
		return;
	}
	for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if ((unsigned char)line[0] == letter) {
			snprintf(info->source, sizeof(info->source), "%.*s",
				 (int)strcspn(line + 2, "\n"), line + 2);
			return;
		}
}

int tact_arch_form(const struct tact_arch *arch, unsigned form, enum tact_situation situation,
		   struct tact_form_info *out)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	struct arch_view view;

	if (!arch || !tact_can_fill(out) || situation > TACT_SITUATION_SAME)
		return -TACT_E_INVAL;
	if (arch->llvm)
		return arch_llvm_form(arch, form, out);
	info.situation = situation;
	if (!arch_view_of(arch, form, (enum arch_situation)situation, &view)) {
		info.situation = TACT_SITUATION_PLAIN;
		if (!arch_view_of(arch, form, ARCH_PLAIN, &view))
			return -TACT_E_NO_DATA;
	}
	info.uops = view.variant->uops;
	info.issued = view.variant->fused;
	info.mite = view.variant->mite;
	info.ms = view.variant->ms;
	info.divider = view.variant->divider;
	info.cycles = view.variant->cycles;
	info.needs_complex_decoder = view.variant->complex_decoder != 0;
	info.is_eliminated = info.situation != TACT_SITUATION_SAME && is_eliminated(&view);
	info.breaks_dependence = !info.is_eliminated && breaks_dependence(view.latency);
	info.fuses_with = arch_record_of(arch, form)->fuse;
	fill_lists(&info, &view);
	fill_source(&info, arch, arch_record_of(arch, form)->source);
	return tact_fill(out, &info, sizeof(info));
}

/* ---- changes ---- */

/* Returns the listed cycles; -1 if there are none. */
static int cycles_in(const struct tact_arch *arch, unsigned form, enum arch_situation situation,
		     uint8_t from, uint8_t to)
{
	const struct arch_latency *l;
	struct arch_view view;

	if (!arch_view_of(arch, form, situation, &view))
		return -1;
	for (l = view.latency; l->from != ARCH_OP_END; l++)
		if (l->from == from && l->to == to)
			return l->cycles;
	return -1;
}

static void set_cycles(struct arch_own *own, uint8_t from, uint8_t to, uint16_t cycles)
{
	for (struct arch_latency *l = own->latency; l->from != ARCH_OP_END; l++)
		if (l->from == from && l->to == to)
			l->cycles = cycles;
}

int tact_arch_set_latency(struct tact_arch *arch, unsigned form, const struct tact_latency *latency)
{
	bool is_listed[ARCH_N_SITUATIONS] = {false}, any = false;
	uint8_t from, to;
	int plain;

	if (!arch || !latency || arch_is_built_in(arch) || latency->from > TACT_LATENCY_INDEX ||
	    latency->to > TACT_LATENCY_INDEX || latency->from_number > 15 ||
	    latency->to_number > 15)
		return -TACT_E_INVAL;
	from = operand_of(latency->from, latency->from_number);
	to = operand_of(latency->to, latency->to_number);
	plain = cycles_in(arch, form, ARCH_PLAIN, from, to);
	/* Everything that may fail comes first. */
	for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++) {
		int cycles = cycles_in(arch, form, (enum arch_situation)k, from, to);

		if (cycles < 0 || (!cycles && plain > 0)) /* not listed, or an idiom */
			continue;
		any = is_listed[k] = true;
		if (!arch_own_of(arch, form, (enum arch_situation)k))
			return -TACT_E_NOMEM;
	}
	if (!any)
		return -TACT_E_NO_DATA;
	for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++)
		if (is_listed[k])
			set_cycles(arch_own_of(arch, form, (enum arch_situation)k), from, to,
				   latency->cycles);
	arch_changed(arch);
	return 0;
}

int tact_arch_set_param(struct tact_arch *arch, const char *name, const char *value,
			struct tact_diag *diag)
{
	struct arch_params params;
	int status;

	if (!arch || !name || !value || arch_is_built_in(arch))
		return tact_fail(diag, TACT_E_INVAL,
				 "an argument is missing, or the microarchitecture is built in");
	params = arch->params;
	status = params_set(&params, name, value, diag);
	if (status >= 0)
		status = arch_check_order(arch, &params, diag);
	if (status < 0)
		return status;
	arch->params = params;
	arch->is_from_file[params_find(name)] = true;
	arch_changed(arch);
	return 0;
}
