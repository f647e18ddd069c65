/* SPDX-License-Identifier: MIT
 *
 * Forms: the names of data/insn, numbered at build time over all CPUs of all sets.
 */
#include <string.h>

#include "base/hash.h"
#include "isa/isa.h"

/* Properties of a form that hold on every CPU. */
struct isa_form {
	uint32_t name;			   /* offset into the names */
	uint8_t flags_read, flags_written; /* bits of groups of flags */
};

#include "forms.inc"

_Static_assert(N_FORMS < TACT_FORM_NONE, "forms are numbered with 16 bits");

static const char *form_name(unsigned form)
{
	return form_names + form_table[form].name;
}

unsigned isa_form_find(const char *name, size_t length)
{
	size_t s = hash_bytes(name, length) % N_FORM_SLOTS;

	for (; form_slots[s]; s = (s + 1) % N_FORM_SLOTS)
		if (!strcmp(name, form_names + form_table[form_slots[s] - 1].name))
			return form_slots[s] - 1u;
	return TACT_FORM_NONE;
}

static unsigned find_form(const char *name)
{
	return isa_form_find(name, strlen(name));
}

const struct isa_forms isa_forms = {.n = N_FORMS, .name = form_name, .find = find_form};

void isa_form_flags(unsigned form, uint8_t *flags_read, uint8_t *flags_written)
{
	*flags_read = form_table[form].flags_read;
	*flags_written = form_table[form].flags_written;
}
