/* SPDX-License-Identifier: MIT */
#include "arch/arch_llvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "llvm/llvm.h"

static const char PREFIX[] = "llvm:";

/* One that was opened; the module keeps it. */
struct opened {
	struct tact_arch *arch; /* owned */
	struct arch_llvm llvm;
	struct params_origin origins[PARAMS_COUNT];
	char name[64], model[64], full_name[96], caveat[160], port_names[512];
};

/* ---- ports: one for each unit ---- */

static void give_ports(struct opened *o)
{
	const struct llvm_cpu_info *info = o->llvm.info;
	unsigned next = 0;
	size_t n = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < info->n_resources; i++) {
			const struct llvm_resource *r = &info->resource[i];
			const unsigned at = arch_llvm_index(r->mask);
			uint32_t ports = 0;

			if (r->is_group != pass)
				continue;
			for (unsigned k = 0; pass && k < info->n_resources; k++)
				if (k != i && r->mask & info->resource[k].mask &&
				    !info->resource[k].is_group)
					ports |= o->llvm.ports_of[arch_llvm_index(
						info->resource[k].mask)];
			o->llvm.first_port[at] = (uint8_t)next;
			for (unsigned u = 0; !pass && u < r->units && next < TACT_MAX_PORTS; u++) {
				ports |= 1u << next;
				if (n < sizeof(o->port_names))
					n += (size_t)snprintf(
						o->port_names + n, sizeof(o->port_names) - n,
						"%s%u %s", next ? ", " : "LLVM's: ", next, r->name);
				next++;
			}
			o->llvm.ports_of[at] = ports;
		}
}

/* ---- parameters ---- */

static unsigned within(unsigned value, unsigned low, unsigned high)
{
	return value < low ? low : value > high ? high : value;
}

static void add_ports(struct text *out, const char *name, uint32_t mask)
{
	text_printf(out, "%s = ", name);
	for (unsigned p = 0, n = 0; p < TACT_MAX_PORTS; p++)
		if (mask >> p & 1)
			text_printf(out, "%s%u", n++ ? "," : "", p);
	text_add(out, "\n");
}

/* Instructions of the set that show which units do what. */
static uint32_t ports_of(const struct opened *o, const struct tact_isa *isa,
			 enum isa_example example)
{
	const struct isa_example_code *code = &isa->llvm_examples[example];
	const struct llvm_place place = {.length = code->size};
	struct llvm_facts *facts = calloc(2, sizeof(*facts));
	uint32_t ports = 0;

	if (facts && arch_llvm_facts(&o->llvm, code->bytes, &place, 1, facts) == 1 &&
	    !facts->status)
		for (unsigned i = 0; i < facts->n_uses; i++)
			ports |= o->llvm.ports_of[arch_llvm_index(facts->use[i].mask)];
	free(facts);
	return ports ? ports : 1;
}

/* In order, nothing says how many instructions may be under way. */
enum { NO_LIMIT = 900 };

/* Places for instructions that wait: those of all buffers, or of the scheduler. */
static unsigned count_waiting(const struct llvm_cpu_info *info)
{
	unsigned n = 0;

	for (unsigned i = 0; i < info->n_resources; i++)
		if (info->resource[i].buffer_size > 0)
			n += (unsigned)info->resource[i].buffer_size;
	return n ? n : info->is_out_of_order ? info->reorder_buffer : NO_LIMIT;
}

/* What LLVM says, and for the rest what limits nothing. */
static void add_params(struct text *out, const struct opened *o, const struct tact_isa *isa)
{
	const struct llvm_cpu_info *info = o->llvm.info;
	const unsigned load = within(info->load_latency, 1, 32);
	const uint32_t loads = ports_of(o, isa, ISA_EXAMPLE_LOAD),
		       stores = ports_of(o, isa, ISA_EXAMPLE_STORE);
	uint32_t all = 0;

	for (unsigned i = 0; i < info->n_resources; i++)
		all |= o->llvm.ports_of[arch_llvm_index(info->resource[i].mask)];
	text_printf(out, "issue_width = %u\nrob_size = %u\nrs_size = %u\nretire_width = %u\n",
		    within(info->issue_width, 1, 16),
		    info->is_out_of_order ? within(info->reorder_buffer, 1, NO_LIMIT) : NO_LIMIT,
		    within(count_waiting(info), 1, NO_LIMIT),
		    within(info->is_out_of_order && info->retire_width ? info->retire_width : 32, 1,
			   32));
	text_printf(out,
		    "load_latency = %u\nload_latency_vec = %u\nstore_forward = %u\n"
		    "store_forward_vec = %u\nbranch_penalty = %u\n",
		    load, load, load, load, within(info->branch_penalty, 1, 100));
	text_printf(out, "store_blocked = 1\nstore_blocked_latency = %u\n", load + 1);
	if (info->store_queue)
		text_printf(out, "store_buffer = %u\n", within(info->store_queue, 8, 512));
	add_ports(out, "ports", all);
	add_ports(out, "alu_ports", ports_of(o, isa, ISA_EXAMPLE_ALU));
	add_ports(out, "vec_ports", ports_of(o, isa, ISA_EXAMPLE_VECTOR));
	add_ports(out, "load_ports", loads);
	/* What loads use, too, is where addresses go. */
	add_ports(out, "store_address_ports", stores & loads ? stores & loads : stores);
	add_ports(out, "store_data_ports", stores & ~loads ? stores & ~loads : stores);
	add_ports(out, "taken_branch_ports", ports_of(o, isa, ISA_EXAMPLE_BRANCH));
	text_add(out, "front_end = 0\nport_binding = late\niq_size = 256\npredecode_width = "
		      "16\ndecoders = 8\n"
		      "dsb_width = 16\ndsb_window = 64\ndsb_lines = 16\ndsb_line_uops = 16\n"
		      "idq_size = 64\nmove_elim_gpr = -1\nmove_elim_vec = -1\nl1_kib = 32\nl1_ways "
		      "= 8\nl2_kib = 512\n"
		      "l2_ways = 8\nl2_latency = 14\nl3_kib = 8192\nl3_ways = 16\n"
		      "l3_latency = 50\nmemory_latency = 250\n");
}

static bool is_from_model(const char *name)
{
	static const char *const names[] = {
		"in_order",	    "issue_width",
		"rob_size",	    "rs_size",
		"retire_width",	    "load_latency",
		"load_latency_vec", "branch_penalty",
		"store_buffer",	    "ports",
		"alu_ports",	    "vec_ports",
		"load_ports",	    "store_address_ports",
		"store_data_ports", "taken_branch_ports",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* What only CPUs that execute out of order have. */
static bool is_of_window(const char *name)
{
	return !strcmp(name, "rob_size") || !strcmp(name, "rs_size") ||
	       !strcmp(name, "retire_width");
}

static void fill_origins(struct opened *o)
{
	for (size_t i = 0; i < PARAMS_COUNT; i++) {
		const bool is_known = is_from_model(params_name(i)) &&
				      (!o->arch->params.in_order || !is_of_window(params_name(i)));

		o->arch->is_from_file[i] = false;
		o->origins[i] = (struct params_origin){
			is_known ? "LLVM" : NULL,
			is_known ? "reported: LLVM's scheduling model"
				 : "unmeasured: LLVM's models do not say it"};
	}
	o->arch->origins = o->origins;
}

/* ---- one CPU ---- */

struct wanted {
	const struct tact_isa *isa;
	const struct llvm_api *api;
	struct llvm_set *set;
	struct llvm_cpu *cpu;
	const char *cpu_name;
	bool has_prefix;
};

/* Finds whose model it is: the first of the set's list that shares it. */
static void name_it(struct opened *o, const struct wanted *w)
{
	const char *rest = w->isa->llvm_models;

	snprintf(o->name, sizeof(o->name), "%s%s", w->has_prefix ? PREFIX : "", w->cpu_name);
	snprintf(o->model, sizeof(o->model), "%s", w->cpu_name);
	while (*rest) {
		const size_t n = strcspn(rest, " ");
		char model[64];

		snprintf(model, sizeof(model), "%.*s", (int)n, rest);
		if (w->api->is_same_model(w->set, model, w->cpu_name)) {
			snprintf(o->model, sizeof(o->model), "%s", model);
			break;
		}
		rest += n + (rest[n] == ' ');
	}
	snprintf(o->full_name, sizeof(o->full_name), "LLVM's %s", w->cpu_name);
	snprintf(o->caveat, sizeof(o->caveat), "LLVM's model of %s%s, not measured here", o->model,
		 strcmp(o->model, w->cpu_name) ? " as a stand-in" : "");
}

static void *make(void *arg)
{
	const struct wanted *w = arg;
	struct opened *o = calloc(1, sizeof(*o));
	struct text params = {0};

	if (!o)
		return NULL;
	o->llvm.api = w->api;
	o->llvm.set = w->set;
	o->llvm.cpu = w->cpu;
	o->llvm.info = w->api->cpu_info(w->cpu);
	name_it(o, w);
	give_ports(o);
	add_params(&params, o, w->isa);
	if (!text_string(&params) ||
	    arch_create(&o->arch, o->name, w->isa, params.data, NULL) < 0) {
		text_free(&params);
		free(o);
		return NULL;
	}
	text_free(&params);
	o->arch->params.in_order = !o->llvm.info->is_out_of_order;
	fill_origins(o);
	o->arch->full_name = o->full_name;
	o->arch->llvm_name = o->arch->llvm_cpu =
		o->arch->name + (w->has_prefix ? strlen(PREFIX) : 0);
	o->arch->port_names = o->port_names;
	o->arch->caveat = o->caveat;
	o->arch->llvm = &o->llvm;
	return o;
}

static const struct tact_arch *open_cpu(struct wanted *w)
{
	const struct opened *o;

	w->api = llvm_open(&w->set, w->isa->llvm, NULL);
	if (!w->api || w->api->open_cpu(&w->cpu, w->set, w->cpu_name, NULL) < 0)
		return NULL;
	o = w->api->attachment(w->cpu, make, w);
	return o ? o->arch : NULL;
}

/* Cuts a prefix off and turns a name into lower case.  Returns false if it is too long. */
static bool clean_name(const char *name, bool *has_prefix, char *out, size_t size)
{
	size_t n;

	*has_prefix = !strncmp(name, PREFIX, strlen(PREFIX));
	n = (size_t)snprintf(out, size, "%s", name + (*has_prefix ? strlen(PREFIX) : 0));
	for (size_t i = 0; i < n && n < size; i++)
		if (out[i] >= 'A' && out[i] <= 'Z')
			out[i] = (char)(out[i] - 'A' + 'a');
	return n < size;
}

/* Sets with CPUs of their own have LLVM's with a prefix. */
static bool is_set_of(const struct tact_isa *isa, bool has_prefix)
{
	return isa->llvm && (has_prefix || !isa->n_cpu_lines);
}

const struct tact_arch *arch_llvm_find(const char *name)
{
	const struct tact_arch *arch = NULL;
	char cpu_name[64];
	bool has_prefix;

	if (!clean_name(name, &has_prefix, cpu_name, sizeof(cpu_name)))
		return NULL;
	for (const struct tact_isa *isa = NULL; !arch && (isa = tact_isa_next(isa));) {
		struct wanted w = {.isa = isa, .cpu_name = cpu_name};

		w.has_prefix = isa->n_cpu_lines != NULL;
		if (is_set_of(isa, has_prefix))
			arch = open_cpu(&w);
	}
	return arch;
}

/* ---- lists ---- */

bool arch_llvm_knows(const struct arch_llvm *llvm, const struct isa_example_code *code)
{
	const struct llvm_place place = {.length = (uint8_t)code->size};
	struct llvm_facts *facts =
		calloc(2, sizeof(*facts)); /* an instruction may be two for LLVM */
	bool is_known = false;

	if (facts) {
		facts->size = sizeof(*facts);
		is_known =
			arch_llvm_facts(llvm, code->bytes, &place, 1, facts) == 1 && !facts->status;
	}
	free(facts);
	return is_known;
}

bool tact_arch_llvm_cpu_at(const struct tact_isa *isa, size_t index, char *text, size_t size)
{
	const struct llvm_api *api;
	struct llvm_set *set;
	const char *name;

	if (!isa || !isa->llvm || !text || !size)
		return false;
	api = llvm_open(&set, isa->llvm, NULL);
	name = api ? api->cpu_name(set, index) : NULL;
	if (!name)
		return false;
	snprintf(text, size, "%s%s", isa->n_cpu_lines ? PREFIX : "", name);
	return true;
}

bool tact_arch_llvm_lists(const char *name)
{
	char cpu_name[64];
	bool has_prefix, found = false;

	if (!name || !clean_name(name, &has_prefix, cpu_name, sizeof(cpu_name)))
		return false;
	for (const struct tact_isa *isa = NULL; !found && (isa = tact_isa_next(isa));) {
		struct llvm_set *set;
		const struct llvm_api *api =
			is_set_of(isa, has_prefix) ? llvm_open(&set, isa->llvm, NULL) : NULL;

		found = api && api->lists_cpu(set, cpu_name);
	}
	return found;
}

int tact_arch_llvm_check(struct tact_diag *diag)
{
	return llvm_module(diag) ? 0 : -TACT_E_NO_TOOL;
}
