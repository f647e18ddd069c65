/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tact/insn.h>

#include "arch/arch.h"
#include "arch/arch_llvm.h"

#include "isas.inc" /* one of which is in each entry of archs */

#include "archs.inc"

enum { MAX_LINE = 4096 };

const struct arch_record *arch_record_of(const struct tact_arch *arch, unsigned form)
{
	unsigned record;

	if (!arch->record_of_form)
		return arch->overlay ? overlay_record(arch->overlay, form) : NULL;
	record = form < tact_isa_form_count(arch->isa) ? arch->record_of_form[form] : 0;
	return record ? &records[record] : NULL;
}

const struct arch_port_use arch_no_ports[1] = {{0, 0}};

bool arch_view_of(const struct tact_arch *arch, unsigned form, enum arch_situation situation,
		  struct arch_view *out)
{
	const struct arch_record *r = arch_record_of(arch, form);
	unsigned index;

	if (!r)
		return false;
	if (arch->overlay && overlay_view(arch->overlay, form, situation, out))
		return true;
	index = situation == ARCH_PLAIN ? r->plain : situation == ARCH_SAME ? r->same : r->indexed;
	if (!index)
		return false;
	out->variant = &variants[index];
	out->ports = &port_uses[out->variant->ports];
	out->latency = &latency_lists[out->variant->latency];
	return true;
}

const struct tact_arch *arch_find_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (!strcasecmp(name, archs[i].name) || !strcasecmp(name, archs[i].llvm_name) ||
		    !strcasecmp(name, archs[i].full_name) ||
		    names_have(archs[i].names, name, strlen(name)))
			return &archs[i];
	return NULL;
}

bool arch_is_built_in(const struct tact_arch *arch)
{
	return (uintptr_t)arch >= (uintptr_t)archs &&
	       (uintptr_t)arch < (uintptr_t)(archs + ARRAY_SIZE(archs));
}

/* LLVM's are shared as well: the module keeps them. */
static bool is_shared(const struct tact_arch *arch)
{
	return arch_is_built_in(arch) || (arch->llvm && !arch->is_copy);
}

const struct tact_arch *tact_arch_next(const struct tact_arch *previous)
{
	size_t next = 0;

	if (previous && !arch_is_built_in(previous))
		return NULL;
	if (previous)
		next = (size_t)(previous - archs) + 1;
	return next < ARRAY_SIZE(archs) ? &archs[next] : NULL;
}

const struct tact_arch *arch_host_own(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i].isa->native && archs[i].isa->native->is_one_of(archs[i].cpuid))
			return &archs[i];
	return NULL;
}

const char *tact_arch_name(const struct tact_arch *arch)
{
	return arch ? arch->name : "";
}

const char *tact_arch_full_name(const struct tact_arch *arch)
{
	return arch ? arch->full_name : "";
}

const char *tact_arch_llvm_name(const struct tact_arch *arch)
{
	return arch ? arch->llvm_name : "";
}

const char *tact_arch_llvm_cpu(const struct tact_arch *arch)
{
	return arch ? arch->llvm_cpu : "";
}

const struct tact_isa *tact_arch_isa(const struct tact_arch *arch)
{
	return arch ? arch->isa : NULL;
}

const char *tact_arch_base(const struct tact_arch *arch)
{
	return arch ? arch->base : "";
}

const char *tact_arch_port_names(const struct tact_arch *arch)
{
	return arch ? arch->port_names : "";
}

bool tact_arch_is_verified(const struct tact_arch *arch)
{
	return arch && !strcmp(arch->verified_on, arch->name);
}

const char *tact_arch_verified_on(const struct tact_arch *arch)
{
	return arch ? arch->verified_on : "";
}

const char *tact_arch_verified_by(const struct tact_arch *arch)
{
	return arch ? arch->verified_by : "";
}

const char *tact_arch_caveat(const struct tact_arch *arch)
{
	return arch ? arch->caveat : "";
}

bool tact_arch_has_form(const struct tact_arch *arch, unsigned form)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;

	if (arch && arch->llvm)
		return arch_llvm_form(arch, form, &info) >= 0;
	return arch && arch_record_of(arch, form) != NULL;
}

bool tact_arch_is_llvm(const struct tact_arch *arch)
{
	return arch && arch->llvm;
}

unsigned tact_arch_form_count(const struct tact_arch *arch)
{
	unsigned n = 0;

	for (unsigned i = 0; arch && i < tact_isa_form_count(arch->isa); i++)
		n += tact_arch_has_form(arch, i);
	return n;
}

unsigned tact_arch_ports(const struct tact_arch *arch)
{
	return arch ? arch->params.ports : 0;
}

bool tact_arch_param(const struct tact_arch *arch, size_t index, struct tact_param *out)
{
	static const struct params_origin file = {"file", ""};
	const struct params_origin *origin;
	struct tact_param p = TACT_PARAM_INIT;
	const char *help;

	if (!arch || !tact_can_fill(out) ||
	    !params_get(&arch->params, index, p.name, sizeof(p.name), p.value, sizeof(p.value),
			&help))
		return false;
	origin = arch->is_from_file[index] ? &file : &arch->origins[index];
	snprintf(p.help, sizeof(p.help), "%s", help);
	snprintf(p.from, sizeof(p.from), "%s", origin->cpu ? origin->cpu : "default");
	snprintf(p.source, sizeof(p.source), "%s", origin->source);
	snprintf(p.models, sizeof(p.models), "%s", params_models(p.name));
	p.is_unmeasured = origin != &file && !params_source_is_measured(origin->source);
	return tact_fill(out, &p, sizeof(p)) >= 0;
}

/* Reads a line that is not a form: a parameter, or another key of a CPU's file. */
int arch_check_order(const struct tact_arch *arch, const struct arch_params *params,
		     struct tact_diag *diag)
{
	if (!params->in_order || arch->llvm)
		return 0;
	return tact_fail(diag, TACT_E_FORMAT,
			 "in_order: only CPUs of LLVM's models can execute in order ('tact archs' "
			 "lists them)");
}

static int read_param(struct tact_arch *arch, char *line, struct tact_diag *diag)
{
	const struct tact_arch *base;
	char *name, *value;
	int status = params_split_line(line, &name, &value);

	if (status < 0)
		return tact_fail(diag, TACT_E_FORMAT, "'name = value' expected");
	if (!status)
		return 0;
	if (params_find_key(name) == PARAMS_KEY_BASE) {
		base = tact_arch_find(value);
		if (!base)
			return tact_fail(diag, TACT_E_FORMAT, "base: there is no CPU '%s'", value);
		arch->params = base->params;
		memset(arch->is_from_file, true, sizeof(arch->is_from_file));
	}
	if (params_find_key(name) >= 0)
		return 0;
	if (params_set(&arch->params, name, value, diag) < 0 ||
	    arch_check_order(arch, &arch->params, diag) < 0)
		return -TACT_E_FORMAT;
	arch->is_from_file[params_find(name)] = true;
	return 0;
}

static int read_params(struct tact_arch *arch, FILE *f, struct tact_diag *diag)
{
	char line[MAX_LINE];
	uint64_t n = 0;

	while (fgets(line, sizeof(line), f)) {
		int status;

		n++;
		if (!strchr(line, '\n') && !feof(f))
			return tact_fail_at(diag, TACT_E_FORMAT, n, 0, "the line is too long");
		status = overlay_read_line(arch, line, diag);
		if (!status)
			status = read_param(arch, line, diag);
		if (status < 0) {
			if (diag)
				diag->line = n;
			return status;
		}
	}
	return 0;
}

int tact_arch_derive(struct tact_arch **out, const struct tact_arch *base, const char *path,
		     struct tact_diag *diag)
{
	struct tact_arch *arch;
	int status;
	FILE *f;

	if (out)
		*out = NULL;
	if (!out || !base || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	f = fopen(path, "r");
	if (!f)
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	status = tact_arch_copy(&arch, base);
	if (status < 0) {
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
		goto out_close;
	}
	status = read_params(arch, f, diag);
	if (!status && ferror(f))
		status = tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (status < 0) {
		tact_arch_destroy(arch);
		goto out_close;
	}
	*out = arch;
out_close:
	fclose(f);
	return status;
}

/* Sets presets, and marks the parameters that the text must bring. */
static int set_presets(struct tact_arch *arch, struct tact_diag *diag)
{
	for (size_t i = 0; i < PARAMS_COUNT; i++) {
		const char *preset = params_preset(i);
		char value[MAX_LINE];

		arch->is_from_file[i] = false;
		if (!preset)
			continue;
		snprintf(value, sizeof(value), "%s = %s", params_name(i), preset);
		if (read_param(arch, value, diag) < 0)
			return -TACT_E_FORMAT;
	}
	return 0;
}

static int read_text(struct tact_arch *arch, const char *text, struct tact_diag *diag)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int status;

	if (!f)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = set_presets(arch, diag);
	if (!status)
		status = read_params(arch, f, diag);
	fclose(f);
	for (size_t i = 0; i < PARAMS_COUNT && !status; i++)
		if (!arch->is_from_file[i])
			status = tact_fail(diag, TACT_E_FORMAT, "%s is missing", params_name(i));
	return status;
}

int arch_create(struct tact_arch **out, const char *name, const struct tact_isa *isa,
		const char *text, struct tact_diag *diag)
{
	static const struct params_origin none[PARAMS_COUNT];
	struct tact_arch *arch;
	int status;

	if (out)
		*out = NULL;
	if (!out || !name || !isa || !text || !*text)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	arch = calloc(1, sizeof(*arch));
	if (!arch)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	arch->isa = isa;
	arch->name = arch->full_name = name;
	arch->llvm_name = arch->llvm_cpu = arch->names = arch->cpuid = arch->base = "";
	arch->port_names = arch->sources = arch->verified_on = arch->verified_by = "";
	arch->caveat = "not verified";
	arch->origins = none;
	status = read_text(arch, text, diag);
	if (status < 0) {
		tact_arch_destroy(arch);
		return status;
	}
	*out = arch;
	return 0;
}

int tact_arch_copy(struct tact_arch **out, const struct tact_arch *base)
{
	struct tact_arch *arch;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&arch, sizeof(*arch), out && base, "an argument is missing", NULL);
	if (status < 0)
		return status;
	*arch = *base;
	arch->is_copy = true;
	if (!arch->table_load) {
		arch->table_load = base->params.load_latency;
		arch->table_load_vec = base->params.load_latency_vec;
	}
	if (base->overlay)
		status = overlay_copy(&arch->overlay, base->overlay);
	return HAND_OVER(out, arch, status, free);
}

void tact_arch_destroy(struct tact_arch *arch)
{
	if (!arch || is_shared(arch))
		return;
	overlay_destroy(arch->overlay);
	free(arch);
}

/* ---- validation ---- */

static unsigned ports_of(const struct arch_view *view)
{
	const struct arch_port_use *use = view->ports;
	unsigned mask = 0;

	for (; use->count; use++)
		mask |= use->mask;
	return mask;
}

/* Returns what is wrong with a variant, or NULL.  A form's uops by port need not add up to its
 * uops: uops.info counts gathers, locked and microcoded instructions in different ways for the
 * two.
 */
static const char *fault_of(const struct tact_arch *arch, const struct arch_view *view)
{
	const struct arch_variant *v = view->variant;
	unsigned ports = ports_of(view);

	if (ports & ~(unsigned)arch->params.ports)
		return "uses ports that the CPU lacks";
	if (ports && !v->uops)
		return "uses ports without executing a uop";
	if (!v->fused || !v->mite)
		return "has no uop to issue or to decode";
	if (v->simple_beside != 0xff && v->simple_beside >= arch->params.decoders)
		return "leaves more simple decoders than there are";
	return NULL;
}

static int check_form(const struct tact_arch *arch, unsigned form, struct tact_diag *diag)
{
	struct arch_view view;
	int faults = 0;

	for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++) {
		const char *fault;

		if (!arch_view_of(arch, form, (enum arch_situation)k, &view))
			continue;
		fault = fault_of(arch, &view);
		if (fault && !faults++)
			tact_fail(diag, TACT_E_FORMAT, "%s: %s %s", arch->name,
				  tact_isa_form_name(arch->isa, form), fault);
	}
	return faults;
}

/* Adds the sets of ports of a form to a list that holds one more than there may be. */
static unsigned add_sets(const struct tact_arch *arch, unsigned form, params_ports *sets,
			 unsigned n)
{
	struct arch_view view;

	for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++) {
		if (!arch_view_of(arch, form, (enum arch_situation)k, &view))
			continue;
		for (const struct arch_port_use *use = view.ports; use->count; use++) {
			unsigned i = 0;

			while (i < n && sets[i] != use->mask)
				i++;
			if (i == n && n <= ARCH_MAX_PORT_SETS)
				sets[n++] = use->mask;
		}
	}
	return n;
}

int tact_arch_validate(const struct tact_arch *arch, struct tact_diag *diag)
{
	const struct arch_params *p;
	unsigned roles, n_sets = 0;
	params_ports sets[ARCH_MAX_PORT_SETS + 1];
	int faults = 0;

	if (!arch)
		return tact_fail(diag, TACT_E_INVAL, "no microarchitecture");
	p = &arch->params;
	roles = p->alu_ports | p->vec_ports | p->load_ports | p->store_address_ports |
		p->store_data_ports | p->taken_branch_ports | p->zmm_blocked_ports |
		p->zmm_add_ports | p->fma_ports | p->ports_in_turn;
	if (roles & ~(unsigned)p->ports) {
		tact_fail(diag, TACT_E_FORMAT, "%s: a role is on a port that the CPU lacks",
			  arch->name);
		faults++;
	}
	for (unsigned i = 0; i < tact_isa_form_count(arch->isa); i++) {
		faults += check_form(arch, i, faults ? NULL : diag);
		n_sets = add_sets(arch, i, sets, n_sets);
	}
	if (n_sets > ARCH_MAX_PORT_SETS && !faults++)
		tact_fail(diag, TACT_E_FORMAT, "%s: more than %d sets of ports", arch->name,
			  ARCH_MAX_PORT_SETS);
	return faults;
}
