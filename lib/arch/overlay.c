/* SPDX-License-Identifier: MIT
 *
 * Instruction data of an architecture that are not those of the tables: from a parameter file, or
 * while parameters are being learned.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "arch/arch.h"

struct patch {
	struct arch_own *own[ARCH_N_SITUATIONS]; /* owned; NULL: as in the tables */
	struct arch_record record;		 /* empty: of an architecture without tables */
};

struct arch_overlay {
	uint16_t *slot_of_form; /* owned; 0: no patch, else its number + 1 */
	struct patch *patches;	/* owned */
	size_t n, capacity;
	unsigned n_forms;
};

static struct arch_overlay *create(unsigned n_forms)
{
	struct arch_overlay *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->n_forms = n_forms;
	o->slot_of_form = calloc(n_forms, sizeof(*o->slot_of_form));
	if (!o->slot_of_form) {
		free(o);
		return NULL;
	}
	return o;
}

void overlay_destroy(struct arch_overlay *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++)
			free(o->patches[i].own[k]);
	free(o->patches);
	free(o->slot_of_form);
	free(o);
}

static struct arch_own *copy_own(const struct arch_own *from)
{
	struct arch_own *own = malloc(sizeof(*own));

	if (own)
		*own = *from;
	return own;
}

int overlay_copy(struct arch_overlay **out, const struct arch_overlay *from)
{
	struct arch_overlay *o = create(from->n_forms);

	if (!o)
		return -TACT_E_NOMEM;
	if (from->n && tact_grow(&o->patches, &o->capacity, from->n, sizeof(*o->patches)) < 0)
		goto fail;
	memcpy(o->slot_of_form, from->slot_of_form, from->n_forms * sizeof(*o->slot_of_form));
	for (; o->n < from->n; o->n++) {
		struct patch *to = &o->patches[o->n];

		memset(to, 0, sizeof(*to));
		for (unsigned k = 0; k < ARCH_N_SITUATIONS; k++) {
			const struct arch_own *own = from->patches[o->n].own[k];

			if (!own)
				continue;
			to->own[k] = copy_own(own);
			if (!to->own[k]) {
				o->n++;
				goto fail;
			}
		}
	}
	*out = o;
	return 0;
fail:
	overlay_destroy(o);
	return -TACT_E_NOMEM;
}

bool overlay_view(const struct arch_overlay *o, unsigned form, enum arch_situation situation,
		  struct arch_view *out)
{
	unsigned slot = o->slot_of_form[form];
	const struct arch_own *own = slot ? o->patches[slot - 1].own[situation] : NULL;

	if (!own)
		return false;
	*out = (struct arch_view){&own->variant, own->ports, own->latency};
	return true;
}

/* Returns the slot of a form, which may be new and empty.  NULL: out of memory. */
static struct patch *patch_of(struct arch_overlay *o, unsigned form)
{
	if (!o->slot_of_form[form]) {
		if (tact_grow(&o->patches, &o->capacity, o->n + 1, sizeof(*o->patches)) < 0)
			return NULL;
		memset(&o->patches[o->n], 0, sizeof(*o->patches));
		o->slot_of_form[form] = (uint16_t)++o->n;
	}
	return &o->patches[o->slot_of_form[form] - 1];
}

/* In an architecture without tables, a form with a line is this, except for what the line says. */
static const struct arch_variant one_uop = {
	.uops = 1, .fused = 1, .mite = 1, .simple_beside = 0xff};
static const struct arch_latency no_latency[1] = {{.from = ARCH_OP_END}};

static void fill(struct arch_own *own, const struct arch_view *view)
{
	size_t n;

	memset(own, 0, sizeof(*own));
	own->variant = *view->variant;
	for (n = 0; view->ports[n].count; n++)
		own->ports[n] = view->ports[n];
	for (n = 0; view->latency[n].from != ARCH_OP_END; n++)
		own->latency[n] = view->latency[n];
	own->latency[n].from = ARCH_OP_END;
}

const struct arch_record *overlay_record(const struct arch_overlay *o, unsigned form)
{
	unsigned slot = form < o->n_forms ? o->slot_of_form[form] : 0;

	return slot ? &o->patches[slot - 1].record : NULL;
}

struct arch_own *arch_own_of(struct tact_arch *arch, unsigned form, enum arch_situation situation)
{
	struct arch_view view;
	struct patch *patch;

	if (!arch_view_of(arch, form, situation, &view)) {
		if (arch->record_of_form)
			return NULL;
		view = (struct arch_view){&one_uop, arch_no_ports, no_latency};
	}
	if (!arch->overlay)
		arch->overlay = create(tact_isa_form_count(arch->isa));
	patch = arch->overlay ? patch_of(arch->overlay, form) : NULL;
	if (!patch)
		return NULL;
	if (!patch->own[situation]) {
		patch->own[situation] = malloc(sizeof(struct arch_own));
		if (patch->own[situation])
			fill(patch->own[situation], &view);
	}
	return patch->own[situation];
}
