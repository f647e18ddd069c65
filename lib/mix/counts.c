/* SPDX-License-Identifier: MIT
 *
 * Files of counts, exact or from windows: straight code and how often it ran.  Entries overlap where
 * code was entered in the middle; they are split at each other's ends and added up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "mix/generated_code.h"

static const char magic[] = "#tact.mix.counts/1";

/* An end of an entry: from there on, the count is this much higher, or lower. */
struct step {
	uint32_t module;
	uint64_t offset; /* in the file */
	int64_t by;
	uint32_t spread; /* of the count over groups of windows, plus one; 0: none */
};

/* What the last line that has a count was about. */
enum last { LAST_NONE, LAST_CODE, LAST_GENERATED };

struct steps {
	struct step *items;
	size_t n, capacity;
	double (*spreads)[MIX_GROUPS];
	size_t n_spreads, spreads_capacity;
	enum last last;
	struct mix_generated *generated; /* owned until it is laid out */
};

bool mix_is_counts(const char *path)
{
	return file_begins_with(path, magic);
}

static int add_step(struct steps *s, uint32_t module, uint64_t offset, int64_t by, uint32_t spread)
{
	if (tact_grow(&s->items, &s->capacity, s->n + 1, sizeof(*s->items)))
		return -TACT_E_NOMEM;
	s->items[s->n++] = (struct step){module, offset, by, spread};
	return 0;
}

static bool read_build_id(const char *hex, struct mix_module *module)
{
	size_t bad;
	long n;

	if (!strcmp(hex, "-"))
		return true;
	if (strlen(hex) > 2 * PMU_MAX_BUILD_ID)
		return false;
	n = tact_hex_decode(module->build_id, hex, strlen(hex), &bad);
	if (n < 0)
		return false;
	module->build_id_size = (uint8_t)n;
	return true;
}

/* The set before hex ("aarch64:20040091"); without one, files of older versions, that of this machine. */
static const struct tact_isa *read_set(const char **hex, size_t *length)
{
	const char *colon = memchr(*hex, ':', *length);
	char name[32];

	if (!colon)
		return tact_isa_default();
	snprintf(name, sizeof(name), "%.*s", (int)(colon - *hex), *hex);
	*length -= (size_t)(colon + 1 - *hex);
	*hex = colon + 1;
	return tact_isa_find(name);
}

/* Parses what follows "generated": ADDRESS COUNT SET:HEX NAME. */
static int read_generated(struct steps *s, char *line, uint64_t number, struct tact_diag *diag)
{
	const size_t before = s->generated->n;
	const struct tact_isa *isa;
	uint64_t address, count;
	const char *hex;
	uint8_t *code;
	size_t length, bad;
	int used = 0, status;
	long n = -1;

	if (sscanf(line, " %" SCNx64 " %" SCNu64 " %n", &address, &count, &used) != 2 || !used ||
	    count > INT64_MAX / 2)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "generated code without its address or count");
	line += used;
	length = strcspn(line, " ");
	hex = line;
	line += length;
	isa = read_set(&hex, &length);
	if (!isa)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "generated code of an instruction set that is not known");
	code = malloc(length / 2 + 1);
	if (code && length)
		n = tact_hex_decode(code, hex, length, &bad);
	if (code && n <= 0) {
		free(code);
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "generated code that is not hexadecimal");
	}
	status = code ? mix_generated_add(s->generated, isa, address, code, (uint32_t)n, count,
					  line + (*line == ' '))
		      : -TACT_E_NOMEM;
	free(code);
	s->last = s->generated->n > before ? LAST_GENERATED : LAST_NONE;
	return status ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

/* ---- windows ---- */

/* Parses what follows "windows". */
static int read_windows(struct tact_mix *mix, const char *line, uint64_t number,
			struct tact_diag *diag)
{
	uint64_t n;

	if (sscanf(line, "%" SCNu64, &n) != 1 || !n)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0, "windows without their number");
	mix->summary.windows = n;
	mix->has_windows = true;
	return 0;
}

/* Parses what follows "spread": GROUP:COUNT..., of the count before it. */
static int read_spread(struct steps *s, const char *line, uint64_t number, struct tact_diag *diag)
{
	double found[MIX_GROUPS] = {0};
	uint64_t count;
	unsigned group;
	int used;

	for (; sscanf(line, "%u:%" SCNu64 " %n", &group, &count, &used) == 2; line += used) {
		if (group >= MIX_GROUPS || count > INT64_MAX / 2)
			break;
		found[group] = (double)count;
	}
	if (*line || s->last == LAST_NONE)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
				    "a spread without a count before it, or over unknown groups");
	if (tact_grow(&s->spreads, &s->spreads_capacity, s->n_spreads + 1, sizeof(*s->spreads)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	memcpy(s->spreads[s->n_spreads++], found, sizeof(found));
	if (s->last == LAST_CODE)
		s->items[s->n - 1].spread = s->items[s->n - 2].spread = (uint32_t)s->n_spreads;
	else
		s->generated->pieces[s->generated->n - 1].spread = (uint32_t)s->n_spreads;
	s->last = LAST_NONE;
	return 0;
}

/* ---- lines ---- */

/* Parses "module BUILDID PATH", "code OFFSET SIZE COUNT", "generated ...", "command TEXT", "outside
 * COUNT", "windows N", "spread GROUP:COUNT...".
 */
static int read_line(struct tact_mix *mix, struct steps *s, char *line, long *module,
		     uint64_t number, struct tact_diag *diag)
{
	uint64_t offset, size, count;
	char id[64];
	int used = 0;

	line[strcspn(line, "\n")] = '\0';
	if (line[0] == '#' || !line[0])
		return 0;
	if (sscanf(line, "code %" SCNx64 " %" SCNx64 " %" SCNu64, &offset, &size, &count) == 3) {
		if (*module < 0 || !size || size > UINT32_MAX || offset > UINT64_MAX - size ||
		    count > INT64_MAX / 2)
			return tact_fail_at(
				diag, TACT_E_FORMAT, number, 0,
				"a piece of code without module, or of an impossible size");
		if (mix_module_touch(&mix->modules.items[*module], offset, offset + size - 1) ||
		    add_step(s, (uint32_t)*module, offset, (int64_t)count, 0) ||
		    add_step(s, (uint32_t)*module, offset + size, -(int64_t)count, 0))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		s->last = LAST_CODE;
		return 0;
	}
	if (!strncmp(line, "spread", 6))
		return read_spread(s, line + 6, number, diag);
	if (!strncmp(line, "generated ", 10))
		return read_generated(s, line + 10, number, diag);
	if (sscanf(line, "module %63s %n", id, &used) == 1 && used && line[used]) {
		*module = mix_modules_find(&mix->modules, line + used, false);
		if (*module < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (!read_build_id(id, &mix->modules.items[*module]))
			return tact_fail_at(diag, TACT_E_FORMAT, number, 0, "a malformed build-id");
		return 0;
	}
	if (!strncmp(line, "command ", 8)) {
		free(mix->command);
		mix->command = strdup(line + 8);
		return mix->command ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	if (sscanf(line, "outside %" SCNu64, &count) == 1) {
		mix->summary.outside_samples += count;
		return 0;
	}
	if (!strncmp(line, "windows ", 8))
		return read_windows(mix, line + 8, number, diag);
	return tact_fail_at(diag, TACT_E_FORMAT, number, 0,
			    "neither module, code, generated, command, windows nor outside: %.40s",
			    line);
}

static int read_lines(struct tact_mix *mix, struct steps *s, FILE *file, struct tact_diag *diag)
{
	char *line = NULL;
	size_t capacity = 0;
	uint64_t number = 0;
	long module = -1;
	int status = 0;

	errno = 0;
	while (status >= 0 && getline(&line, &capacity, file) >= 0)
		status = read_line(mix, s, line, &module, ++number, diag);
	/* Without memory for a line, getline is not at the end either. */
	if (status >= 0 && (ferror(file) || !feof(file)))
		status = tact_fail_errno(diag, "cannot be read");
	free(line);
	return status;
}

/* Makes generated code a module, with its steps. */
static int add_generated(struct tact_mix *mix, struct steps *s)
{
	struct mix_generated *g = s->generated;
	int status = 0;
	long module;

	if (!g || !g->n)
		return 0;
	module = mix_modules_find(&mix->modules, "[generated]", false);
	if (module < 0)
		return (int)module;
	s->generated = NULL;
	status = mix_generated_lay_out(g, &mix->modules.items[module]);
	for (size_t i = 0; i < g->n && !status; i++) {
		const struct mix_piece *p = &g->pieces[i];

		status = mix_module_touch(&mix->modules.items[module], p->offset,
					  p->offset + p->size - 1);
		if (!status)
			status = add_step(s, (uint32_t)module, p->offset, (int64_t)p->count,
					  p->spread);
		if (!status)
			status = add_step(s, (uint32_t)module, p->offset + p->size,
					  -(int64_t)p->count, p->spread);
	}
	return status;
}

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return 2 * ORDER(x->module, y->module) + ORDER(x->offset, y->offset);
}

/* Every step starts a block, so that each part of a block ran equally often. */
static int load_modules(struct tact_mix *mix, const struct steps *s)
{
	int status = 0;

	for (size_t i = 0; i < s->n && !status; i++) {
		struct mix_module *module = &mix->modules.items[s->items[i].module];

		status = mix_module_load(&mix->modules, module);
		if (!status)
			status = mix_module_add_leader(module, s->items[i].offset);
	}
	for (size_t i = 0; i < mix->modules.n && !status; i++)
		status = mix_blockmap_build(&mix->modules.items[i]);
	return status;
}

/* Adds to the executions of a profile in each group of windows. */
static int add_found(struct tact_mix *mix, size_t profile, const double found[MIX_GROUPS])
{
	if (!mix->has_windows)
		return 0;
	if (tact_grow(&mix->spreads, &mix->spreads_capacity, profile + 1, sizeof(*mix->spreads)))
		return -TACT_E_NOMEM;
	for (; mix->n_spreads <= profile; mix->n_spreads++)
		memset(mix->spreads[mix->n_spreads], 0, sizeof(*mix->spreads));
	for (unsigned g = 0; g < MIX_GROUPS; g++)
		mix->spreads[profile][g] += found[g];
	return 0;
}

/* Adds what ran `count` times from begin to end; found: of these, in each group of windows. */
static int add_span(struct tact_mix *mix, uint32_t number, uint64_t begin, uint64_t end,
		    uint64_t count, const double found[MIX_GROUPS])
{
	struct mix_module *module = &mix->modules.items[number];
	struct mix_code *code = mix_module_code(module, begin);
	const struct mix_share share = {.exact = (double)count};
	uint32_t b;

	if (!code) {
		module->outside += count;
		mix->summary.outside_samples += count;
		return 0;
	}
	b = code_blocks_find(&code->blocks, begin - code->file_offset);
	for (; b != CODE_NONE && b < code->blocks.n &&
	       code->blocks.items[b].begin + code->file_offset < end;
	     b++) {
		long profile = mix_profile_at(mix, number, (uint32_t)(code - module->codes), b);

		if (profile < 0)
			return (int)profile;
		mix->profiles[profile].exact += (double)count;
		if (mix_share_add(mix, (uint32_t)profile, 0, &share) ||
		    add_found(mix, (size_t)profile, found))
			return -TACT_E_NOMEM;
	}
	return 0;
}

static int add_spans(struct tact_mix *mix, const struct steps *s)
{
	double found[MIX_GROUPS] = {0};
	int64_t count = 0;
	int status = 0;

	for (size_t i = 0; i < s->n && !status; i++) {
		const struct step *x = &s->items[i], *next = x + 1;

		count += x->by;
		for (unsigned g = 0; x->spread && g < MIX_GROUPS; g++)
			found[g] += (x->by < 0 ? -1 : 1) * s->spreads[x->spread - 1][g];
		if (i + 1 < s->n && next->module == x->module && next->offset > x->offset &&
		    count > 0)
			status = add_span(mix, x->module, x->offset, next->offset, (uint64_t)count,
					  found);
	}
	return status;
}

/* Adds up what each group of windows has. */
static void sum_groups(struct tact_mix *mix)
{
	for (size_t i = 0; i < mix->n_spreads; i++)
		for (unsigned g = 0; g < MIX_GROUPS; g++)
			mix->in_groups[g] +=
				mix->spreads[i][g] * mix_block_of(mix, &mix->profiles[i])->n_insns;
}

int mix_read_counts(struct tact_mix *mix, const char *path, struct tact_diag *diag)
{
	FILE *file = fopen(path, "re");
	struct steps s = {0};
	int status;

	if (!file)
		return tact_fail_errno(diag, "cannot be opened");
	s.generated = calloc(1, sizeof(*s.generated));
	status = s.generated ? read_lines(mix, &s, file, diag)
			     : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	fclose(file);
	if (status >= 0 && add_generated(mix, &s))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status >= 0 && !s.n)
		status = tact_fail(diag, TACT_E_NO_DATA, "it has no counts");
	if (status >= 0) {
		qsort(s.items, s.n, sizeof(*s.items), compare_steps);
		status = load_modules(mix, &s);
		if (!status)
			status = add_spans(mix, &s);
		if (!status)
			status = mix_shares_sort(mix);
		if (status)
			tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	FREE_ALL(s.items, s.spreads);
	mix_generated_destroy(s.generated);
	if (status < 0)
		return status;
	sum_groups(mix);
	mix->has_exact = !mix->has_windows;
	mix->summary.rung = mix->has_windows ? TACT_MIX_RUNG_WINDOWS : TACT_MIX_RUNG_EXACT;
	mix->summary.flow_error = -1;
	return 0;
}

static const struct mix_module *find_module(const struct tact_mix *mix,
					    const struct mix_module *like)
{
	for (size_t i = 0; i < mix->modules.n; i++)
		if (!strcmp(mix->modules.items[i].path, like->path))
			return &mix->modules.items[i];
	return NULL;
}

double mix_exact_at(const struct tact_mix *exact, const struct mix_module *module,
		    const struct mix_code *code, uint32_t offset)
{
	const struct mix_module *same = find_module(exact, module);

	if (!same)
		return -1;
	for (size_t i = 0; i < same->n_codes; i++) {
		const struct mix_code *c = &same->codes[i];
		uint32_t b;

		if (c->file_offset != code->file_offset)
			continue;
		b = code_blocks_find(&c->blocks, offset);
		if (b == CODE_NONE || !c->profiles[b])
			return 0;
		return exact->profiles[c->profiles[b] - 1].exact;
	}
	return -1;
}
