/* SPDX-License-Identifier: MIT
 *
 * BOLT's pre-aggregated profiles as recordings with branch stacks.  They name neither their program nor
 * what a record stands for: the user names the file, and only shares have a meaning.
 */
#include <string.h>

#include "base/file.h"
#include "mix/sums.h"

struct bolt_reader {
	struct tact_mix *mix;
	struct mix_module *module;
	uint32_t epoch, thread;
};

bool mix_is_bolt(const char *path)
{
	return file_begins_with(path, "B ") || file_begins_with(path, "F ") ||
	       file_begins_with(path, "f ");
}

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

/* Makes a process in which all code of the file is at its own address. */
static int map_program(struct bolt_reader *r, struct tact_diag *diag)
{
	enum { PROCESS = 1 };
	struct tact_mix *mix = r->mix;
	const char *file = mix->modules.n_files ? mix->modules.files[0] : NULL;
	const char *equals = file ? strchr(file, '=') : NULL;
	long number, thread;

	if (!file)
		return tact_fail(diag, TACT_E_NO_DATA,
				 "a profile for BOLT does not say of which program it is: --file "
				 "PATH does");
	number = mix_modules_find(&mix->modules, equals ? equals + 1 : file, false);
	thread = mix_spaces_thread(&mix->spaces, PROCESS, PROCESS);
	if (number < 0 || thread < 0 || mix_module_load(&mix->modules, &mix->modules.items[number]))
		return no_memory(diag);
	r->module = &mix->modules.items[number];
	if (!r->module->n_codes)
		return tact_fail(diag, TACT_E_NO_DATA, "%.100s: %s", r->module->path,
				 r->module->why[0] ? r->module->why : "no code in it");
	for (size_t i = 0; i < r->module->n_codes; i++) {
		const struct mix_code *c = &r->module->codes[i];
		const struct mix_map map = {.begin = c->address,
					    .end = c->address + c->size,
					    .offset = c->file_offset,
					    .module = (uint32_t)number};

		if (map.begin < map.end && !mix_is_kernel(map.end) &&
		    mix_spaces_map(&mix->spaces, PROCESS, 0, &map, false))
			return no_memory(diag);
	}
	r->thread = (uint32_t)thread;
	r->epoch = mix_spaces_epoch(&mix->spaces, mix->spaces.threads[thread].process, 0);
	return 0;
}

static int add(struct mix_tally *tally, const struct mix_tally_key *key,
	       const struct sums_key *line)
{
	struct mix_tally_entry *e = mix_tally_at(tally, key);
	uint64_t hits;

	if (!e)
		return -TACT_E_NOMEM;
	hits = e->hits - 1 + line->value[0];
	e->hits = hits < UINT32_MAX ? (uint32_t)hits : UINT32_MAX;
	e->settled = e->hits;
	e->weight += (double)line->value[0];
	e->mispredicted = line->value[1] < UINT32_MAX ? (uint32_t)line->value[1] : UINT32_MAX;
	return 0;
}

static int add_line(struct bolt_reader *r, const struct sums_key *line)
{
	const bool is_branch = line->text[0] == 'B';
	struct mix_tally_key key = {.epoch = r->epoch, .a = line->a, .b = line->b};

	if (!line->value[0] || strchr(line->text, ':')) /* an end in another file */
		return 0;
	if (is_branch) {
		r->mix->summary.branches += line->value[0];
		return add(&r->mix->edges, &key, line);
	}
	key.thread = r->thread;
	if (line->text[0] == 'f')
		key.a |= MIX_RESUMED;
	return add(&r->mix->lbr, &key, line);
}

/* The names that a recording would tell. */
static int conclude(struct tact_mix *mix, struct tact_diag *diag)
{
	mix->has_lbr = true;
	mix->summary.rung = TACT_MIX_RUNG_STACKS;
	mix->summary.threads = 1;
	mix->command = strdup("");
	mix->ebs_event = strdup("");
	mix->lbr_event = strdup("branches of a profile for BOLT");
	return mix->command && mix->ebs_event && mix->lbr_event ? 0 : no_memory(diag);
}

int mix_read_bolt(struct tact_mix *mix, const char *path, struct tact_diag *diag)
{
	struct bolt_reader r = {.mix = mix};
	struct tact_mixfile *f = NULL;
	int status = tact_mixfile_create(&f) ? no_memory(diag) : tact_mixfile_add(f, path, diag);

	if (status >= 0)
		status = map_program(&r, diag);
	for (size_t i = 0; status >= 0 && i < f->n; i++)
		if (add_line(&r, &f->keys[i]))
			status = no_memory(diag);
	if (status >= 0 && !mix->lbr.n)
		status = tact_fail(diag, TACT_E_NO_DATA, "it has no lines 'F BEGIN END COUNT'");
	tact_mixfile_destroy(f);
	return status < 0 ? status : conclude(mix, diag);
}
