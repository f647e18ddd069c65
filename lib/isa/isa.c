/* SPDX-License-Identifier: MIT
 *
 * The list of instruction sets, and the functions that lead to them.
 */
#include "isa/isa.h"

#include <string.h>

#include "isas.inc" /* ISA_LIST, which the Makefile makes from the folders here */

static const struct tact_isa *const isas[] = {ISA_LIST};

const struct tact_isa *tact_isa_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(isas); i++)
		if (!strcmp(name, isas[i]->name))
			return isas[i];
	return NULL;
}

const struct tact_isa *tact_isa_next(const struct tact_isa *previous)
{
	size_t next = 0;

	while (previous && next < ARRAY_SIZE(isas))
		if (isas[next++] == previous)
			break;
	return next < ARRAY_SIZE(isas) ? isas[next] : NULL;
}

const struct tact_isa *isa_of_machine(unsigned elf_machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(isas); i++)
		if (isas[i]->elf_machine == elf_machine)
			return isas[i];
	return NULL;
}

const char *tact_isa_name(const struct tact_isa *isa)
{
	return isa->name;
}

const char *tact_isa_title(const struct tact_isa *isa)
{
	return isa->title;
}

int tact_isa_decode(const struct tact_isa *isa, struct tact_insn *insn, const uint8_t *code,
		    size_t size)
{
	if (!isa || !insn || (!code && size))
		return -TACT_E_INVAL;
	return isa->decode(insn, code, size);
}

int tact_isa_format(const struct tact_isa *isa, const uint8_t *code, size_t code_size,
		    uint64_t address, char *text, size_t size)
{
	if (!isa || !text || !size || (!code && code_size))
		return -TACT_E_INVAL;
	return isa->format(code, code_size, address, text, size);
}

unsigned tact_isa_form_count(const struct tact_isa *isa)
{
	return isa->forms->n;
}

const char *tact_isa_form_name(const struct tact_isa *isa, unsigned form)
{
	return form < isa->forms->n ? isa->forms->name(form) : "unknown";
}

unsigned tact_isa_form_find(const struct tact_isa *isa, const char *name)
{
	return name ? isa->forms->find(name) : TACT_FORM_NONE;
}

const char *tact_isa_reg_name(const struct tact_isa *isa, unsigned reg)
{
	return reg < isa->registers.n ? isa->registers.names[reg] : "none";
}

/* ---- without a set: the first one ---- */

int tact_decode(struct tact_insn *insn, const uint8_t *code, size_t size)
{
	return tact_isa_decode(isas[0], insn, code, size);
}

int tact_format(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size)
{
	return tact_isa_format(isas[0], code, code_size, address, text, size);
}

unsigned tact_form_count(void)
{
	return tact_isa_form_count(isas[0]);
}

const char *tact_form_name(unsigned form)
{
	return tact_isa_form_name(isas[0], form);
}

unsigned tact_form_find(const char *name)
{
	return tact_isa_form_find(isas[0], name);
}
