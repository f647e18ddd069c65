/* SPDX-License-Identifier: MIT
 *
 * What costs of instructions depend on: from comments of assembly text, and from the code before a
 * region.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "code/survey.h"
#include "input/reader.h"

static int compare_places(const void *a, const void *b)
{
	const struct input_setting *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Labels that the assembler left out (.if 0) count for nothing. */
int input_find_settings(struct tact_input *in)
{
	const size_t prefix = strlen(ASM_SETTING_PREFIX);

	for (size_t i = 0; i < in->obj->n_symbols && in->source.n_settings; i++) {
		const struct obj_symbol *symbol = &in->obj->symbols[i];
		unsigned long number;

		if (strncmp(symbol->name, ASM_SETTING_PREFIX, prefix))
			continue;
		number = strtoul(symbol->name + prefix, NULL, 10);
		if (number >= in->source.n_settings)
			continue;
		if (tact_grow(&in->settings, &in->settings_capacity, in->n_settings + 1,
			      sizeof(*in->settings)))
			return -TACT_E_NOMEM;
		in->settings[in->n_settings++] = (struct input_setting){
			symbol->section, symbol->offset, in->source.settings[number]};
	}
	if (in->n_settings)
		qsort(in->settings, in->n_settings, sizeof(*in->settings), compare_places);
	return 0;
}

int input_take_settings(struct tact_input *in, struct obj_range piece, size_t place)
{
	for (size_t i = 0; i < in->n_settings; i++) {
		const struct input_setting *s = &in->settings[i];

		if (s->section != piece.section || s->offset < piece.begin ||
		    s->offset >= piece.end)
			continue;
		if (tact_grow(&in->set, &in->set_capacity, in->n_set + 1, sizeof(*in->set)))
			return -TACT_E_NOMEM;
		in->set[in->n_set++] =
			(struct tact_given_setting){s->offset - piece.begin + place, s->setting};
	}
	return 0;
}

/* Tells whether it makes a difference what holds before some code. */
static bool depends(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	enum { LOOKED_AT = 256 };
	uint16_t of[LOOKED_AT] = {0};

	isa->follow(0, code, size, of, LOOKED_AT);
	for (size_t i = 0; i < LOOKED_AT; i++)
		if (of[i] == ISA_SETTING_UNKNOWN)
			return true;
	return false;
}

/* With comments, the text is read from its beginning as llvm-mca reads it: line by line. */
static uint16_t follow_text(const struct tact_input *in, size_t section, size_t offset)
{
	const uint8_t *code = in->obj->sections[section].data;
	uint16_t setting = 0;
	size_t at = 0;

	for (size_t i = 0; i < in->n_settings; i++) {
		const struct input_setting *s = &in->settings[i];

		if (s->section != section || s->offset >= offset)
			continue;
		setting = in->isa->follow(setting, code + at, s->offset - at, NULL, 0);
		setting = isa_merge_settings(setting, s->setting);
		at = s->offset;
	}
	return in->isa->follow(setting, code + at, offset - at, NULL, 0);
}

int input_setting_at(const struct tact_input *in, size_t section, size_t offset,
		     const struct tact_region *region, uint16_t *out)
{
	const struct obj_function *f;

	*out = 0;
	if (in->n_settings) {
		*out = follow_text(in, section, offset);
		return 0;
	}
	if (!depends(in->isa, region->code, region->code_size))
		return 0;
	f = obj_function_at(in->obj, section, offset);
	return code_setting_at(in->isa, in->obj->sections[section].data + f->range.begin,
			       f->range.end - f->range.begin, in->obj->type == OBJ_RELOCATABLE,
			       offset - f->range.begin, out);
}
