/* SPDX-License-Identifier: MIT
 *
 * The list of instruction sets, and the public functions that use it.
 */
#include "isa/isa.h"

#include <elf.h>
#include <stdio.h>
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

const struct tact_isa *isa_of_elf(const unsigned char *ident, unsigned machine)
{
	const struct tact_isa *isa = isa_of_machine(machine);

	return isa && ident[EI_CLASS] == isa->elf_class && ident[EI_DATA] == isa->elf_data ? isa
											   : NULL;
}

const struct tact_isa *isa_at(size_t i)
{
	return i < ARRAY_SIZE(isas) ? isas[i] : NULL;
}

const struct tact_isa *isa_native(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(isas); i++)
		if (isas[i]->native)
			return isas[i];
	return NULL;
}

const struct tact_isa *tact_isa_default(void)
{
	const struct tact_isa *native = isa_native();

	return native ? native : isas[0];
}

const char *isa_titles(char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(isas) && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s",
				      !i			 ? ""
				      : i + 1 < ARRAY_SIZE(isas) ? ", "
								 : " or ",
				      isas[i]->title);
	return text;
}

const char *tact_isa_name(const struct tact_isa *isa)
{
	return isa ? isa->name : "";
}

const char *tact_isa_title(const struct tact_isa *isa)
{
	return isa ? isa->title : "";
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

int tact_isa_format_as(const struct tact_isa *isa, enum tact_syntax syntax, const uint8_t *code,
		       size_t code_size, uint64_t address, char *text, size_t size)
{
	if (!isa || !text || !size || (!code && code_size) || (unsigned)syntax > TACT_SYNTAX_INTEL)
		return -TACT_E_INVAL;
	if (syntax == TACT_SYNTAX_ATT && isa->format_att)
		return isa->format_att(code, code_size, address, text, size);
	return isa->format(code, code_size, address, text, size);
}

unsigned tact_isa_form_count(const struct tact_isa *isa)
{
	if (!isa)
		return 0;
	return isa->forms->count ? isa->forms->count() : isa->forms->n;
}

const char *tact_isa_form_name(const struct tact_isa *isa, unsigned form)
{
	return form < tact_isa_form_count(isa) ? isa->forms->name(form) : "unknown";
}

unsigned tact_isa_form_find(const struct tact_isa *isa, const char *name)
{
	return isa && name ? isa->forms->find(name) : TACT_FORM_NONE;
}

int tact_isa_form(const struct tact_isa *isa, unsigned form, struct tact_form *out)
{
	struct tact_form told = TACT_FORM_INIT;
	int status;

	if (form >= tact_isa_form_count(isa) || !tact_can_fill(out))
		return -TACT_E_INVAL;
	status = isa->forms->tell ? isa->forms->tell(form, &told) : -TACT_E_NO_DATA;
	return status < 0 ? status : tact_fill(out, &told, sizeof(told));
}

const char *tact_isa_form_extension(const struct tact_isa *isa, unsigned form)
{
	if (form >= tact_isa_form_count(isa) || !isa->forms->extension)
		return "";
	return isa->forms->extension(form);
}

int tact_isa_form_example(const struct tact_isa *isa, unsigned form, unsigned copy, int chain,
			  char *text, size_t size)
{
	if (!text || !size || form >= tact_isa_form_count(isa))
		return -TACT_E_INVAL;
	text[0] = '\0';
	if (!isa->form_example)
		return -TACT_E_NO_DATA;
	return isa->form_example(isa->forms->name(form), copy, chain, text, size);
}

const char *tact_isa_reg_name(const struct tact_isa *isa, unsigned reg)
{
	return isa && reg < isa->registers.n ? isa->registers.names[reg] : "none";
}

unsigned tact_isa_stack_pointer(const struct tact_isa *isa)
{
	return isa ? isa->registers.stack_pointer : TACT_REG_NONE;
}
