/* SPDX-License-Identifier: MIT
 *
 * Bytes as instructions of the sets that LLVM decodes: what each of them is, as a form, and what it
 * costs on the CPU that the first byte picks.  What is said twice must agree.
 */
#include <string.h>

#include "fuzz_llvm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_properties(const struct tact_isa *isa, const struct tact_insn *insn,
			   const uint8_t *code, size_t size)
{
	struct isa_properties q;

	isa->describe(&q, code, size);
	MUST(q.length == insn->length && q.form == insn->form);
	MUST(*q.mnemonic_name && *q.category && *q.extension && *q.form_name);
	MUST(!strcmp(q.form_name, tact_isa_form_name(isa, insn->form)));
	MUST(!q.loads == !(insn->attributes & TACT_INSN_LOAD));
	MUST(!q.stores == !(insn->attributes & TACT_INSN_STORE));
	MUST(q.flops <= 64);
}

/* Its example is an instruction of the form. */
static void try_form(const struct tact_isa *isa, const struct tact_insn *insn)
{
	struct tact_form form = TACT_FORM_INIT;
	uint8_t code[TACT_MAX_INSN_BYTES];
	struct tact_insn example;

	MUST(tact_isa_form(isa, insn->form, &form) == 0);
	MUST(tact_isa_decode(isa, &example, form.code, form.code_size) == form.code_size);
	MUST(example.form == insn->form);
	MUST(isa->encode_form(form.name, false, code) == form.code_size);
	MUST(!isa->encode_form(form.name, true, code));
	MUST(*tact_isa_form_extension(isa, insn->form));
}

static void try_figures(const struct tact_arch *arch, const struct tact_insn *insn,
			const uint8_t *code, size_t size)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;
	const int status = tact_arch_insn(arch, code, size, &info);
	unsigned uops = 0;

	MUST(status == 0 || status == -TACT_E_NO_DATA);
	if (status < 0)
		return;
	MUST(info.issued && *info.source);
	for (uint32_t i = 0; i < info.n_port_uses; i++) {
		MUST(info.port_uses[i].ports &&
		     !(info.port_uses[i].ports & ~tact_arch_ports(arch)));
		uops += info.port_uses[i].uops;
	}
	MUST(uops == info.uops);
	for (uint32_t i = 0; i < info.n_latencies; i++)
		MUST(info.latencies[i].from <= TACT_LATENCY_FLAGS &&
		     info.latencies[i].to <= TACT_LATENCY_FLAGS);
	tact_arch_form(arch, insn->form, TACT_SITUATION_PLAIN, &info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tact_arch *arch = fuzz_arch(data, size);
	const struct tact_isa *isa = tact_arch_isa(arch);
	struct tact_insn insn;

	if (!arch)
		return 0;
	for (size_t at = 1; at < size;) {
		const int length = tact_isa_decode(isa, &insn, data + at, size - at);
		struct isa_properties q;

		if (length <= 0) {
			isa->describe(&q, data + at, size - at);
			MUST(!q.length && q.form == TACT_FORM_NONE);
			at += 2;
			continue;
		}
		try_properties(isa, &insn, data + at, size - at);
		try_form(isa, &insn);
		try_figures(arch, &insn, data + at, size - at);
		at += (size_t)length;
	}
	return 0;
}
