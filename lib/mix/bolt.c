/* SPDX-License-Identifier: MIT
 *
 * Branch stacks of a recording as BOLT's pre-aggregated profile: branches with how often they were
 * mispredicted, and what was executed between them.  Only one program or library is BOLT's: the other
 * end of a branch that leaves it is X:0, which BOLT takes for outside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mix/sums.h"

enum { MOST_STREAM = 1 << 16 }; /* bytes; longer streams are taken for damage */

struct exporter {
	struct tact_mix *mix;
	struct tact_mixfile *f;
	struct mix_module *module; /* that is exported */
	struct tact_diag *diag;
	bool has_any;
};

static const struct mix_map *map_at(const struct exporter *x, uint32_t epoch, uint64_t address)
{
	return mix_spaces_find(&x->mix->spaces, epoch, address);
}

/* ---- the module ---- */

static bool is_called(const struct mix_module *m, const char *name)
{
	return !strcmp(m->path, name) || !strcmp(file_base_name(m->path), name);
}

/* The module that most recorded branches leave from. */
static struct mix_module *find_busiest(const struct exporter *x)
{
	struct mix_modules *all = &x->mix->modules;
	uint64_t *hits = calloc(all->n + 1, sizeof(*hits));
	size_t best = 0;

	for (size_t i = 0; hits && i < x->mix->edges.capacity; i++) {
		const struct mix_tally_entry *e = &x->mix->edges.slots[i];
		const struct mix_map *map = e->hits ? map_at(x, e->key.epoch, e->key.a) : NULL;

		if (map && !all->items[map->module].is_kernel)
			hits[map->module] += e->hits;
	}
	for (size_t i = 0; hits && i < all->n; i++)
		if (hits[i] > hits[best])
			best = i;
	if (hits && (best >= all->n || !hits[best]))
		best = all->n;
	free(hits);
	return hits && best < all->n ? &all->items[best] : NULL;
}

static int choose(struct exporter *x, const char *name)
{
	if (!name && x->f->module)
		name = x->f->module;
	if (!name)
		x->module = find_busiest(x);
	for (size_t i = 0; name && i < x->mix->modules.n && !x->module; i++)
		if (is_called(&x->mix->modules.items[i], name))
			x->module = &x->mix->modules.items[i];
	if (!x->module && name)
		return tact_fail(x->diag, TACT_E_NO_DATA, "no program or library '%s' was recorded",
				 name);
	if (!x->module)
		return tact_fail(x->diag, TACT_E_NO_DATA, "no branch is in a known file");
	if (mix_module_load(&x->mix->modules, x->module))
		return tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
	if (!x->module->n_codes)
		return tact_fail(x->diag, TACT_E_NO_DATA, "%.100s: %s", x->module->path,
				 x->module->why[0] ? x->module->why : "no code in it");
	if (!x->f->module)
		x->f->module = sums_keep(x->f, x->module->path);
	return x->f->module ? 0 : tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
}

/* Finds the address in the file of code of the module. */
static bool place(const struct exporter *x, uint32_t epoch, uint64_t address, uint64_t *at)
{
	const struct mix_map *map = map_at(x, epoch, address);
	const struct mix_code *code;
	uint64_t offset;

	if (!map || &x->mix->modules.items[map->module] != x->module)
		return false;
	offset = address - map->begin + map->offset;
	code = mix_module_code(x->module, offset);
	if (!code)
		return false;
	*at = code->address + (offset - code->file_offset);
	return true;
}

/* ---- lines ---- */

static int add(struct exporter *x, const char *key, uint64_t a, uint64_t b, uint64_t count,
	       uint64_t missed)
{
	struct sums_key *k = sums_at(x->f, "", key, a, b);

	if (!k)
		return -TACT_E_NOMEM;
	sums_add(&k->value[0], count);
	sums_add(&k->value[1], missed);
	x->has_any = true;
	return 0;
}

static int add_branch(struct exporter *x, const struct mix_tally_entry *e)
{
	uint64_t from = 0, to = 0;
	const bool is_from = place(x, e->key.epoch, e->key.a, &from);
	const bool is_to = place(x, e->key.epoch, e->key.b, &to);
	char key[64];

	if (!is_from && !is_to)
		return 0;
	if (is_from && is_to)
		snprintf(key, sizeof(key), "B %" PRIx64 " %" PRIx64, from, to);
	else if (is_from)
		snprintf(key, sizeof(key), "B %" PRIx64 " X:0", from);
	else
		snprintf(key, sizeof(key), "B X:0 %" PRIx64, to);
	if (!is_from || !is_to)
		sums_add(&x->f->external, e->hits);
	return add(x, key, from, to, e->hits, e->mispredicted);
}

/* What runs after an interrupt has its origin outside of the file: BOLT's f. */
static int add_stream(struct exporter *x, const struct mix_tally_entry *e)
{
	const bool is_resumed = !mix_is_kernel(e->key.a) && e->key.a & MIX_RESUMED;
	const uint64_t begin = is_resumed ? e->key.a & ~MIX_RESUMED : e->key.a;
	uint64_t from, to;
	char key[64];

	if (e->key.b < begin || e->key.b - begin > MOST_STREAM ||
	    !place(x, e->key.epoch, begin, &from) || !place(x, e->key.epoch, e->key.b, &to))
		return 0;
	snprintf(key, sizeof(key), "%c %" PRIx64 " %" PRIx64, is_resumed ? 'f' : 'F', from, to);
	return add(x, key, from, to, e->hits, 0);
}

static int add_all(struct exporter *x)
{
	const struct mix_tally *edges = &x->mix->edges, *streams = &x->mix->lbr;
	int status = 0;

	for (size_t i = 0; i < edges->capacity && !status; i++)
		if (edges->slots[i].hits)
			status = add_branch(x, &edges->slots[i]);
	for (size_t i = 0; i < streams->capacity && !status; i++)
		if (streams->slots[i].hits)
			status = add_stream(x, &streams->slots[i]);
	if (status)
		return tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
	return x->has_any ? 0
			  : tact_fail(x->diag, TACT_E_NO_DATA, "no branch is in %.100s",
				      x->module->path);
}

static int export(struct exporter *x, const char *path, const char *module)
{
	int status = mix_spaces_init(&x->mix->spaces);

	if (status < 0)
		return tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
	status = mix_read_recording(x->mix, path, x->diag);
	if (status < 0)
		return status;
	if (!x->mix->has_lbr)
		return tact_fail(x->diag, TACT_E_NO_DATA,
				 "it has no branch stacks; record with 'perf record -b'");
	status = choose(x, module);
	return status < 0 ? status : add_all(x);
}

int tact_mixfile_add_recording(struct tact_mixfile *f, const char *path,
			       const struct tact_mix_options *opt, const char *module,
			       struct tact_diag *diag)
{
	struct exporter x = {.f = f, .diag = diag};
	struct tact_mix_options o;
	int status;

	if (!f || !path || tact_read_options(&o, sizeof(o), opt))
		return tact_fail(diag, TACT_E_INVAL, "no path, or options of another version");
	if (f->kind != SUMS_NONE && f->kind != SUMS_BOLT)
		return tact_fail(diag, TACT_E_NOT_MODELLED, "the files before are of another kind");
	if (mix_is_counts(path))
		return tact_fail(diag, TACT_E_NO_DATA,
				 "counts have no branches, only how often code ran");
	f->kind = SUMS_BOLT;
	x.mix = calloc(1, sizeof(*x.mix));
	if (!x.mix)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	x.mix->modules =
		(struct mix_modules){.root = o.root, .files = o.files, .n_files = o.n_files};
	status = export(&x, path, module);
	tact_mix_close(x.mix);
	return status;
}
