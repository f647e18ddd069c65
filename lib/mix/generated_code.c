/* SPDX-License-Identifier: MIT
 *
 * Generated code as a module: pieces become sections, names come with them.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mix/generated_code.h"
#include "obj/jit_map.h"

enum {
	GAP = 16,   /* bytes between sections */
	PASSES = 64 /* uses of an address that are kept apart neatly */
};

void mix_generated_destroy(struct mix_generated *g)
{
	if (g)
		FREE_ALL(g->pieces, g->bytes, g->names, g->image, g);
}

int mix_generated_add(struct mix_generated *g, const struct tact_isa *isa, uint64_t address,
		      const uint8_t *code, uint32_t size, uint64_t count, const char *name)
{
	const size_t length = strlen(name) + 1;

	if (!size || address + size < address || g->n >= MIX_NONE)
		return 0;
	if (tact_grow(&g->pieces, &g->capacity, g->n + 1, sizeof(*g->pieces)) < 0 ||
	    tact_grow(&g->bytes, &g->bytes_capacity, g->n_bytes + size, 1) < 0 ||
	    tact_grow(&g->names, &g->names_capacity, g->n_names + length, 1) < 0)
		return -TACT_E_NOMEM;
	memcpy(g->bytes + g->n_bytes, code, size);
	memcpy(g->names + g->n_names, name, length);
	g->pieces[g->n] = (struct mix_piece){.address = address,
					     .count = count,
					     .code = g->n_bytes,
					     .name = g->n_names,
					     .size = size,
					     .isa = isa,
					     .order = (uint32_t)g->n};
	g->n++;
	g->n_bytes += size;
	g->n_names += length;
	return 0;
}

/* ---- layout ---- */

static int compare_pieces(const void *a, const void *b)
{
	const struct mix_piece *x = a, *y = b;

	return 2 * ORDER(x->address, y->address) + ORDER(x->order, y->order);
}

/* Tells whether a piece overlaps a section or follows it; *common: the bytes that both have. */
static bool touches(const struct mix_code *s, const struct mix_piece *p, uint32_t *common)
{
	const uint64_t at = p->address - s->address;

	if (p->isa != s->isa || p->address < s->address || at > s->size)
		return false;
	*common = s->size - at < p->size ? (uint32_t)(s->size - at) : p->size;
	return true;
}

/* Puts a piece into the last section, or into a new one.  Returns 1 if the last section has other
 * bytes there and the piece should wait, 0, or -TACT_E_NOMEM.
 */
static int place(struct mix_generated *g, struct mix_module *m, struct mix_piece *p, bool may_wait,
		 size_t *capacity)
{
	struct mix_code *last = m->n_codes ? &m->codes[m->n_codes - 1] : NULL;
	uint32_t common = 0;
	const bool is_beside = last && touches(last, p, &common);
	const bool is_same =
		is_beside && !memcmp(g->image + last->file_offset + (p->address - last->address),
				     g->bytes + p->code, common);

	if (is_beside && !is_same && may_wait)
		return 1;
	if (tact_grow(&g->image, &g->image_capacity, g->image_size + GAP + p->size, 1) < 0)
		return -TACT_E_NOMEM;
	if (!is_same) {
		if (tact_grow(&m->codes, capacity, m->n_codes + 1, sizeof(*m->codes)) < 0)
			return -TACT_E_NOMEM;
		memset(g->image + g->image_size, 0, GAP);
		g->image_size += GAP;
		last = &m->codes[m->n_codes++];
		*last = (struct mix_code){
			.isa = p->isa, .file_offset = g->image_size, .address = p->address};
		common = 0;
	}
	p->offset = last->file_offset + (p->address - last->address);
	memcpy(g->image + g->image_size, g->bytes + p->code + common, p->size - common);
	g->image_size += p->size - common;
	last->size += p->size - common;
	return 0;
}

/* Places the pieces from `first` on, by address.  Those whose addresses were used before with other
 * bytes come to the end.  Returns where these begin, or -TACT_E_NOMEM.
 */
static long place_all(struct mix_generated *g, struct mix_module *m, struct mix_piece *waiting,
		      size_t first, bool may_wait, size_t *capacity)
{
	size_t placed = first, n = 0;

	for (size_t i = first; i < g->n; i++) {
		/* The first one of a pass begins a section. */
		const int status = place(g, m, &g->pieces[i], may_wait && i > first, capacity);

		if (status < 0)
			return status;
		if (status)
			waiting[n++] = g->pieces[i];
		else
			g->pieces[placed++] = g->pieces[i];
	}
	memcpy(g->pieces + placed, waiting, n * sizeof(*waiting));
	return (long)placed;
}

int mix_generated_lay_out(struct mix_generated *g, struct mix_module *m)
{
	struct mix_piece *waiting = malloc((g->n + 1) * sizeof(*waiting));
	size_t capacity = 0;
	long placed = waiting ? 0 : -TACT_E_NOMEM;

	mix_generated_destroy(m->generated);
	m->generated = g;
	m->is_loaded = true;
	if (g->n)
		qsort(g->pieces, g->n, sizeof(*g->pieces), compare_pieces);
	for (unsigned pass = 0; placed >= 0 && (size_t)placed < g->n; pass++)
		placed = place_all(g, m, waiting, (size_t)placed, pass < PASSES, &capacity);
	for (size_t i = 0; i < m->n_codes; i++)
		m->codes[i].data = g->image + m->codes[i].file_offset;
	free(waiting);
	return placed < 0 ? (int)placed : 0;
}

/* The pieces are in the order of their offsets. */
const char *mix_generated_name(const struct mix_generated *g, uint64_t offset)
{
	const struct mix_piece *found = NULL;

	for (size_t low = 0, high = g->n; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (g->pieces[middle].offset <= offset) {
			found = &g->pieces[middle];
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return found ? g->names + found->name : "";
}

/* ---- dumps ---- */

bool mix_is_dump(const char *path)
{
	const char *name = file_base_name(path);

	if (strncmp(name, "jit-", 4) || !isdigit((unsigned char)name[4]))
		return false;
	for (name += 4; isdigit((unsigned char)*name);)
		name++;
	return !strcmp(name, ".dump");
}

/* Takes the functions whose code is known. */
static int take_functions(struct mix_generated *g, const struct jit_map *map)
{
	const struct tact_isa *isa =
		map->machine ? isa_of_machine(map->machine) : tact_isa_default();
	int status = 0;

	/* Nothing decodes a set that tact does not know. */
	for (size_t i = 0; i < map->n && !status && isa; i++) {
		const struct jit_function *f = &map->functions[i];

		if (f->has_code)
			status = mix_generated_add(g, isa, f->address, map->codes + f->code,
						   (uint32_t)f->size, f->order,
						   jit_map_name(map, f));
	}
	return status;
}

/* Maps the pieces that nothing told later lies over. */
static struct mix_map *map_pieces(const struct mix_generated *g, struct jit_map *told, size_t *n)
{
	struct mix_map *maps = malloc((g->n + 1) * sizeof(*maps));

	*n = 0;
	for (size_t i = 0; i < g->n && maps; i++) {
		const struct mix_piece *p = &g->pieces[i];
		const struct jit_function *first = jit_map_find(told, p->address, NULL, 0);
		const struct jit_function *last =
			jit_map_find(told, p->address + p->size - 1, NULL, 0);

		/* The count of a piece is the order in which it was told. */
		if (first && first->order == p->count && first == last)
			maps[(*n)++] = (struct mix_map){.begin = p->address,
							.end = p->address + p->size,
							.offset = p->offset};
	}
	return maps;
}

struct mix_map *mix_generated_read_dump(struct mix_module *module, size_t *n)
{
	struct mix_generated *g = calloc(1, sizeof(*g));
	struct jit_map told = {0};
	struct mix_map *maps = NULL;

	*n = 0;
	if (g && jit_map_read_file(&told, module->path, 0, NULL) > 0 && !take_functions(g, &told) &&
	    g->n) {
		if (!mix_generated_lay_out(g, module))
			maps = map_pieces(g, &told, n);
		g = NULL; /* the module has it */
	}
	mix_generated_destroy(g);
	jit_map_fini(&told);
	return maps;
}
