/* SPDX-License-Identifier: MIT
 *
 * Which markers of assembly text belong together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa/assemble.h"

static bool is_same_name(const struct asm_source *source, size_t a, size_t b)
{
	return source->markers[a].family == source->markers[b].family &&
	       !strcmp(source->names + source->markers[a].name,
		       source->names + source->markers[b].name);
}

static const char *family_name(const struct asm_marker *marker)
{
	return marker->family == ASM_OSACA ? "OSACA" : "LLVM-MCA";
}

/* The open region that an end marker closes: the last one of its name, or the last one if it has no
 * name.
 */
static size_t find_open(const struct asm_source *source, const size_t *open, size_t n_open,
			size_t marker)
{
	const bool has_name = source->names[source->markers[marker].name];

	while (n_open > 0) {
		n_open--;
		if (has_name ? is_same_name(source, open[n_open], marker)
			     : source->markers[open[n_open]].family ==
				       source->markers[marker].family)
			return n_open;
	}
	return SIZE_MAX;
}

/* Tells whether there was such a region before: compilers duplicate code, and the markers in it. */
static bool is_known(const struct asm_source *source, size_t marker)
{
	size_t i;

	for (i = 0; i < source->n_regions; i++)
		if (is_same_name(source, source->regions[i].begin, marker) ||
		    (!source->names[source->markers[marker].name] &&
		     source->markers[marker].family ==
			     source->markers[source->regions[i].begin].family))
			return true;
	return false;
}

static int add_region(struct asm_source *source, size_t begin, size_t end, struct tact_diag *diag)
{
	if (tact_grow(&source->regions, &source->regions_capacity, source->n_regions + 1,
		      sizeof(*source->regions)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	source->regions[source->n_regions++] = (struct asm_region){begin, end};
	return 0;
}

static int close_region(struct asm_source *source, size_t *open, size_t *n_open, size_t marker,
			struct tact_diag *diag)
{
	const struct asm_marker *m = &source->markers[marker];
	const size_t place = find_open(source, open, *n_open, marker);

	if (place == SIZE_MAX) {
		if (is_known(source, marker))
			return 0;
		return tact_fail_at(diag, TACT_E_FORMAT, m->line, 0, "%s-END%s%s has no BEGIN",
				    family_name(m), source->names[m->name] ? " " : "",
				    source->names + m->name);
	}
	if (add_region(source, open[place], marker, diag))
		return -TACT_E_NOMEM;
	memmove(open + place, open + place + 1, (*n_open - place - 1) * sizeof(*open));
	(*n_open)--;
	return 0;
}

static int compare_regions(const void *a, const void *b)
{
	const struct asm_region *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

int asm_match_markers(struct asm_source *source, struct tact_diag *diag)
{
	size_t *open = calloc(source->n_markers + 1, sizeof(*open)), n_open = 0, i;
	int status = 0;

	if (!open)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (i = 0; i < source->n_markers && status >= 0; i++) {
		if (source->markers[i].is_begin)
			open[n_open++] = i;
		else
			status = close_region(source, open, &n_open, i, diag);
	}
	for (i = 0; i < n_open && status >= 0; i++)
		if (!is_known(source, open[i]))
			status = add_region(source, open[i], ASM_NO_MARKER, diag);
	if (source->n_regions)
		qsort(source->regions, source->n_regions, sizeof(*source->regions),
		      compare_regions);
	free(open);
	return status;
}
