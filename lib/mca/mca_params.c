/* SPDX-License-Identifier: MIT
 *
 * The parameters of the machine (DiffTune, table II), their bounds and their defaults.
 */
#include <stdlib.h>
#include <string.h>

#include "mca/mca.h"

#define SIZE sizeof(struct tact_mca_info)

/* Lower bounds are those of the paper, upper bounds those of the representation. */
static const struct tact_mca_info infos[TACT_MCA_N_KINDS] = {
	[TACT_MCA_MICRO_OPS] = {SIZE, "micro_ops", "NumMicroOps",
				"micro-ops that an instruction is dispatched as", false, 1, 1,
				MCA_MAX_VALUE},
	[TACT_MCA_LATENCY] = {SIZE, "latency", "WriteLatency",
			      "cycles from issue until results can be read", false, 1, 0,
			      MCA_MAX_VALUE},
	[TACT_MCA_READ_ADVANCE] = {SIZE, "read_advance", "ReadAdvanceCycles",
				   "cycles by which an operand is needed later than at issue",
				   false, TACT_MCA_READS, 0, MCA_MAX_VALUE},
	[TACT_MCA_PORT_CYCLES] = {SIZE, "port_cycles", "PortMap",
				  "cycles for which an instruction holds a port", false,
				  TACT_MCA_PORTS, 0, MCA_MAX_VALUE},
	[TACT_MCA_DISPATCH_WIDTH] = {SIZE, "dispatch_width", "DispatchWidth",
				     "micro-ops dispatched a cycle", true, 1, 1,
				     MCA_MAX_DISPATCH_WIDTH},
	[TACT_MCA_REORDER_BUFFER] = {SIZE, "reorder_buffer", "ReorderBufferSize",
				     "micro-ops in the reorder buffer", true, 1, 1,
				     MCA_MAX_REORDER_BUFFER},
};

const struct tact_mca_info *tact_mca_get_info(unsigned kind)
{
	return kind < TACT_MCA_N_KINDS ? &infos[kind] : NULL;
}

/* ---- defaults ---- */

static uint16_t clamp(unsigned value, unsigned low)
{
	if (value < low)
		return (uint16_t)low;
	return (uint16_t)(value < MCA_MAX_VALUE ? value : MCA_MAX_VALUE);
}

/* Returns the slowest way from a register or an address to a register or to flags: the machine has
 * one latency for all.  One cycle if there is none.
 */
static unsigned slowest(const struct arch_latency *list)
{
	unsigned cycles = 0;
	bool found = false;

	for (; list->from != ARCH_OP_END; list++) {
		if ((list->from & 0xf0) == ARCH_OP_MEM || (list->to & 0xf0) != ARCH_OP_REG)
			continue;
		found = true;
		if (list->cycles > cycles)
			cycles = list->cycles;
	}
	return found ? cycles : 1;
}

/* The machine cannot choose between ports, and knows only whole cycles: the uops of each set are
 * spread evenly over its ports, and each port's sum is rounded down.  A uop that several ports can
 * take then holds none, and only the dispatch width limits it.  Binding it to one port would be far
 * worse: a core with four ALUs would have one (doc/models/mca.md has the figures).
 */
static void spread(struct mca_form *f, const struct arch_port_use *use)
{
	enum { SHARE = 2520 }; /* divisible by 1 to 10 */
	static const uint16_t part[TACT_MCA_PORTS + 1] = {
		0,	   SHARE,     SHARE / 2, SHARE / 3, SHARE / 4, SHARE / 5,
		SHARE / 6, SHARE / 7, SHARE / 8, SHARE / 9, SHARE / 10};
	uint64_t shares[TACT_MCA_PORTS] = {0};

	for (; use->count; use++) {
		unsigned mask = use->mask & ((1u << TACT_MCA_PORTS) - 1), size = 0;

		for (unsigned left = mask; left; left &= left - 1)
			size++;
		for (unsigned left = mask; left; left &= left - 1)
			shares[__builtin_ctz(left)] += (uint64_t)use->count * part[size];
	}
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		f->port[p] = clamp((unsigned)(shares[p] / SHARE), 0);
}

/* The divider, and whatever else lets instructions begin only every few cycles (locked ones), is
 * port 9 on cores that have no such port: dividers are separate resources among the ten of LLVM's
 * Haswell.  Otherwise it is the port that the instruction uses most.
 */
static void hold_unit(struct mca_form *f, const struct tact_arch *arch,
		      const struct arch_variant *v)
{
	unsigned cycles = v->divider > v->cycles ? v->divider : v->cycles;
	unsigned best = TACT_MCA_PORTS - 1;

	if (arch->params.ports >> best & 1)
		for (unsigned p = best; p-- > 0;)
			if (f->port[p] >= f->port[best])
				best = p;
	if (f->port[best] < cycles)
		f->port[best] = clamp(cycles, 0);
}

static void note_ports(struct mca_form *f)
{
	f->ports = 0;
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		if (f->port[p])
			f->ports |= (uint16_t)(1u << p);
}

/* What LLVM's model says of an example of the form. */
static void derive_by_model(struct mca_form *f, const struct tact_arch *arch, unsigned form)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	struct arch_port_use uses[TACT_MAX_PORT_USES + 1] = {{0, 0}};
	unsigned latency = 0;

	if (tact_arch_form(arch, form, TACT_SITUATION_PLAIN, &info) < 0)
		return;
	for (uint32_t i = 0; i < info.n_latencies; i++)
		latency = info.latencies[i].cycles > latency ? info.latencies[i].cycles : latency;
	for (uint32_t i = 0; i < info.n_port_uses; i++)
		uses[i] = (struct arch_port_use){info.port_uses[i].ports, info.port_uses[i].uops};
	f->micro_ops = clamp(info.issued, 1);
	f->latency = clamp(latency ? latency : 1, 0);
	spread(f, uses);
	note_ports(f);
}

void mca_form_derive(struct mca_form *f, const struct tact_arch *arch, unsigned form)
{
	struct arch_view view;

	memset(f, 0, sizeof(*f));
	f->micro_ops = f->latency = 1;
	if (arch->llvm)
		derive_by_model(f, arch, form);
	if (!arch_view_of(arch, form, ARCH_PLAIN, &view))
		return;
	f->micro_ops = clamp(view.variant->fused, 1);
	f->latency = clamp(slowest(view.latency), 0);
	spread(f, view.ports);
	hold_unit(f, arch, view.variant);
	note_ports(f);
}

bool mca_form_equal(const struct mca_form *a, const struct mca_form *b)
{
	return !memcmp(a, b, sizeof(*a)); /* all fields are uint16_t: there is no padding */
}

void mca_globals_derive(const struct tact_arch *arch, unsigned *dispatch_width,
			unsigned *reorder_buffer)
{
	*dispatch_width = (unsigned)arch->params.issue_width;
	*reorder_buffer = (unsigned)arch->params.rob_size;
}

/* ---- the set ---- */

static size_t params_size(unsigned n_forms)
{
	return sizeof(struct tact_mca_params) + (n_forms + 1) * sizeof(struct mca_form);
}

void mca_params_reset(struct tact_mca_params *params)
{
	mca_globals_derive(params->arch, &params->dispatch_width, &params->reorder_buffer);
	params->has_memory = false;
	params->memory = TACT_MCA_NO_ALIAS;
	for (unsigned i = 0; i <= params->n_forms; i++)
		mca_form_derive(&params->forms[i], params->arch, i);
}

int tact_mca_params_create(struct tact_mca_params **out, const struct tact_arch *arch,
			   struct tact_diag *diag)
{
	struct tact_mca_params *params;

	if (out)
		*out = NULL;
	if (!out || !arch)
		return tact_fail(diag, TACT_E_INVAL, "no architecture");
	params = calloc(1, params_size(tact_isa_form_count(arch->isa)));
	if (!params)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	params->arch = arch;
	params->n_forms = tact_isa_form_count(arch->isa);
	mca_params_reset(params);
	*out = params;
	return 0;
}

int tact_mca_params_copy(struct tact_mca_params **out, const struct tact_mca_params *params,
			 struct tact_diag *diag)
{
	struct tact_mca_params *copy;

	if (out)
		*out = NULL;
	if (!out || !params)
		return tact_fail(diag, TACT_E_INVAL, "no parameters");
	copy = malloc(params_size(params->n_forms));
	if (!copy)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	memcpy(copy, params, params_size(params->n_forms));
	*out = copy;
	return 0;
}

void mca_params_assign(struct tact_mca_params *to, const struct tact_mca_params *from)
{
	memcpy(to, from, params_size(from->n_forms));
}

void tact_mca_params_destroy(struct tact_mca_params *params)
{
	free(params);
}

const struct tact_arch *tact_mca_params_arch(const struct tact_mca_params *params)
{
	return params ? params->arch : NULL;
}

const char *const mca_memory_names[TACT_MCA_ADDRESSES + 1] = {"none", "all", "addresses"};

bool tact_mca_params_memory(const struct tact_mca_params *params, enum tact_mca_memory *memory)
{
	if (!params || !memory || !params->has_memory)
		return false;
	*memory = params->memory;
	return true;
}

void tact_mca_params_set_memory(struct tact_mca_params *params, enum tact_mca_memory memory)
{
	if (!params || (unsigned)memory > TACT_MCA_ADDRESSES)
		return;
	params->has_memory = true;
	params->memory = memory;
}

/* ---- single values ---- */

static bool exists(const struct tact_arch *arch, unsigned form, unsigned kind, unsigned index)
{
	return kind < TACT_MCA_N_KINDS && index < infos[kind].count &&
	       (infos[kind].global || form < tact_isa_form_count(arch->isa));
}

static uint16_t *value_of(struct mca_form *f, unsigned kind, unsigned index)
{
	switch (kind) {
	case TACT_MCA_MICRO_OPS:
		return &f->micro_ops;
	case TACT_MCA_LATENCY:
		return &f->latency;
	case TACT_MCA_READ_ADVANCE:
		return &f->read_advance[index];
	default:
		return &f->port[index];
	}
}

void mca_form_set(struct mca_form *f, unsigned kind, unsigned index, uint16_t value)
{
	*value_of(f, kind, index) = value;
	if (kind == TACT_MCA_PORT_CYCLES)
		note_ports(f);
}

int tact_mca_get(const struct tact_mca_params *params, unsigned form, unsigned kind, unsigned index,
		 int *value)
{
	struct mca_form f;

	if (!params || !value || !exists(params->arch, form, kind, index))
		return -TACT_E_INVAL;
	if (kind == TACT_MCA_DISPATCH_WIDTH) {
		*value = (int)params->dispatch_width;
	} else if (kind == TACT_MCA_REORDER_BUFFER) {
		*value = (int)params->reorder_buffer;
	} else {
		f = params->forms[form];
		*value = *value_of(&f, kind, index);
	}
	return 0;
}

int tact_mca_set(struct tact_mca_params *params, unsigned form, unsigned kind, unsigned index,
		 int value)
{
	if (!params || !exists(params->arch, form, kind, index))
		return -TACT_E_INVAL;
	if (value < infos[kind].low || value > infos[kind].high)
		return -TACT_E_LIMIT;
	if (kind == TACT_MCA_DISPATCH_WIDTH) {
		params->dispatch_width = (unsigned)value;
	} else if (kind == TACT_MCA_REORDER_BUFFER) {
		params->reorder_buffer = (unsigned)value;
	} else {
		mca_form_set(&params->forms[form], kind, index, (uint16_t)value);
	}
	return 0;
}

int tact_mca_default(const struct tact_arch *arch, unsigned form, unsigned kind, unsigned index,
		     int *value)
{
	unsigned width, buffer;
	struct mca_form f;

	if (!arch || !value || !exists(arch, form, kind, index))
		return -TACT_E_INVAL;
	mca_globals_derive(arch, &width, &buffer);
	if (kind == TACT_MCA_DISPATCH_WIDTH) {
		*value = (int)width;
	} else if (kind == TACT_MCA_REORDER_BUFFER) {
		*value = (int)buffer;
	} else {
		mca_form_derive(&f, arch, form);
		*value = *value_of(&f, kind, index);
	}
	return 0;
}
