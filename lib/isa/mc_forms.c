/* SPDX-License-Identifier: MIT
 *
 * Forms of the sets that LLVM decodes, and what an instruction is.
 */
#include <stdio.h>
#include <string.h>

#include "isa/mc.h"
#include "llvm/llvm.h"

static const char *const category_names[MC_N_CATEGORIES] = {
	[MC_INTEGER] = "INTEGER", [MC_FLOAT] = "FLOAT",	  [MC_VECTOR] = "VECTOR",
	[MC_LOAD] = "LOAD",	  [MC_STORE] = "STORE",	  [MC_UPDATE] = "UPDATE",
	[MC_BRANCH] = "BRANCH",	  [MC_CALL] = "CALL",	  [MC_RETURN] = "RETURN",
	[MC_ATOMIC] = "ATOMIC",	  [MC_CRYPTO] = "CRYPTO", [MC_PREFETCH] = "PREFETCH",
	[MC_BARRIER] = "BARRIER", [MC_SYSTEM] = "SYSTEM", [MC_NOP] = "NOP",
};

/* ---- for the sets ---- */

bool mc_begins(const char *name, const char *words)
{
	while (*words) {
		const size_t n = strcspn(words, " ");

		if (n && !strncmp(name, words, n))
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

bool mc_has_class(const struct llvm_form *form, const char *words)
{
	for (unsigned i = 0; i < form->n_operands; i++)
		if (mc_begins(form->operand[i].kind, words))
			return true;
	return false;
}

enum mc_category mc_common_category(const struct llvm_form *form)
{
	static const uint8_t of_flow[] = {[LLVM_NEXT] = MC_INTEGER,
					  [LLVM_BRANCH] = MC_BRANCH,
					  [LLVM_JUMP] = MC_BRANCH,
					  [LLVM_CALL] = MC_CALL,
					  [LLVM_RETURN] = MC_RETURN};

	if (form->flow != LLVM_NEXT)
		return (enum mc_category)of_flow[form->flow];
	if (form->loads && form->stores)
		return MC_UPDATE;
	return form->loads ? MC_LOAD : form->stores ? MC_STORE : MC_INTEGER;
}

/* ---- forms ---- */

unsigned mc_form_count(const struct mc_set *set)
{
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);

	return api ? api->form_count(module) : 0;
}

const char *mc_form_name(const struct mc_set *set, unsigned form)
{
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);
	const char *name = api ? api->opcode_name(module, form) : NULL;

	return name ? name : "unknown";
}

unsigned mc_form_find(const struct mc_set *set, const char *name)
{
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);
	const unsigned found = api ? api->find_form(module, name) : 0;

	return api && found < api->form_count(module) ? found : TACT_FORM_NONE;
}

/* LLVM's features have names of their own where the instruction is in every CPU of the set. */
static const char *extension_of(const struct mc_set *set, const struct llvm_api *api,
				struct llvm_set *module, const struct llvm_form *form,
				unsigned opcode)
{
	const char *feature = api->form_feature(module, opcode);
	const char *other = set->extension ? set->extension(form, feature) : NULL;

	return other ? other : *feature ? feature : "BASE";
}

static void list_operands(const struct llvm_form *form, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < form->n_operands && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "",
				      *form->operand[i].kind ? form->operand[i].kind : "I");
}

int mc_form_tell(const struct mc_set *set, unsigned opcode, struct tact_form *out)
{
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);
	const struct llvm_form *form = api ? api->form(module, opcode) : NULL;

	if (!form)
		return -TACT_E_NO_DATA;
	snprintf(out->name, sizeof(out->name), "%s", form->name);
	snprintf(out->mnemonic, sizeof(out->mnemonic), "%s", form->mnemonic);
	snprintf(out->category, sizeof(out->category), "%s", category_names[set->categorize(form)]);
	list_operands(form, out->operands, sizeof(out->operands));
	out->code_size = form->length;
	memcpy(out->code, form->code, form->length);
	return 0;
}

const char *mc_form_extension(const struct mc_set *set, unsigned opcode)
{
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);
	const struct llvm_form *form = api ? api->form(module, opcode) : NULL;

	return form ? extension_of(set, api, module, form, opcode) : "";
}

size_t mc_form_encode(const struct mc_set *set, const char *name, bool is_indexed, uint8_t *code)
{
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);
	const struct llvm_form *form = api ? api->form(module, mc_form_find(set, name)) : NULL;

	/* Addresses with an index are forms of their own. */
	if (!form || is_indexed)
		return 0;
	memcpy(code, form->code, form->length);
	return form->length;
}

/* ---- one instruction ---- */

static void describe_form(const struct mc_set *set, struct isa_properties *out,
			  const struct llvm_form *form)
{
	const enum mc_category category = set->categorize(form);

	out->mnemonic_name = form->mnemonic;
	out->form_name = form->name;
	out->category = category_names[category];
	out->flops = (uint16_t)set->count_flops(form);
	out->is_locked = category == MC_ATOMIC;
	out->is_long_latency = category == MC_ATOMIC || strstr(form->mnemonic, "div") ||
			       strstr(form->mnemonic, "sqrt");
}

void mc_describe(const struct mc_set *set, struct isa_properties *out, const uint8_t *code,
		 size_t size)
{
	const struct llvm_form *form;
	struct llvm_set *module;
	const struct llvm_api *api = llvm_open(&module, set->spec, NULL);
	struct tact_insn insn;

	*out = (struct isa_properties){.form = TACT_FORM_NONE,
				       .mnemonic_name = "(bad)",
				       .extension = "(none)",
				       .category = "(none)",
				       .form_name = "unknown"};
	form = api ? api->form_of(module, code, size) : NULL;
	if (!form || mc_decode(set, &insn, code, size) <= 0)
		return;
	describe_form(set, out, form);
	out->extension = extension_of(set, api, module, form, insn.form);
	out->mnemonic = insn.mnemonic;
	out->form = insn.form;
	out->length = insn.length;
	out->loads = insn.attributes & TACT_INSN_LOAD;
	out->stores = insn.attributes & TACT_INSN_STORE;
	out->is_branch = insn.attributes & TACT_INSN_BRANCH;
	for (unsigned i = 0; i < insn.n_operands; i++) {
		if (insn.operand[i].bits > out->width)
			out->width = insn.operand[i].bits;
		out->n_operands += insn.operand[i].explicit_operand;
		out->has_immediate |= insn.operand[i].kind == TACT_OPERAND_IMM;
	}
	if (insn.attributes & TACT_INSN_VECTOR)
		out->packing = set->is_scalar(form) ? ISA_PACKING_SCALAR : ISA_PACKING_PACKED;
}
