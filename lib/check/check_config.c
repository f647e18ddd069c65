/* SPDX-License-Identifier: MIT
 *
 * What the INI file of a check means.  [check] has what holds for all sections; each other section
 * chooses code.  Without one, all code of the file is checked.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "base/similar.h"
#include "base/text.h"
#include "check/check.h"
#include "check/ini.h"

#define DEFAULTS	 "check"
#define ALL_CODE	 "code"
#define DEFAULT_BASELINE "tact-baseline.jsonl"
#define DEFAULT_MODEL	 "facile"
static const struct check_limit default_limit = {.is_percent = true, .value = 2};

enum key {
	KEY_FILE,
	KEY_ARCH,
	KEY_MODEL,
	KEY_FAIL_ABOVE,
	KEY_MAX_CYCLES,
	KEY_BASELINE,
	KEY_FUNCTION,
	KEY_LOOP,
	KEY_MARKER,
	N_KEYS
};

static const char *const names[N_KEYS] = {
	[KEY_FILE] = "file",
	[KEY_ARCH] = "arch",
	[KEY_MODEL] = "model",
	[KEY_FAIL_ABOVE] = "fail-above",
	[KEY_MAX_CYCLES] = "max-cycles",
	[KEY_BASELINE] = "baseline",
	[KEY_FUNCTION] = "function",
	[KEY_LOOP] = "loop",
	[KEY_MARKER] = "marker",
};

/* A section as it stands: which keys it has, and its values. */
struct draft {
	struct check_section section;
	unsigned has; /* bits of enum key */
};

struct config {
	struct tact_codecheck *check;
	struct tact_diag *diag;
	struct draft defaults;
	struct draft *drafts; /* owned */
	size_t n, capacity;
	struct draft *current; /* NULL: no section yet; it moves when drafts grow */
	const char *baseline;  /* NULL: not given */
	bool has_defaults;
};

static int no_memory(struct config *c)
{
	return tact_fail(c->diag, TACT_E_NOMEM, "out of memory");
}

static int bad(struct config *c, const struct ini_entry *e, const char *what)
{
	return tact_fail_at(c->diag, TACT_E_FORMAT, e->line, 0, "%s = %s: %s", e->key, e->value,
			    what);
}

/* ---- values ---- */

/* Reads a number that is not negative; *rest is what follows it, without blanks before. */
static bool read_number(const char *value, double *number, const char **rest)
{
	char *end;

	errno = 0;
	*number = strtod(value, &end);
	*rest = end + strspn(end, " \t");
	return end != value && !errno && isfinite(*number) && *number >= 0;
}

static bool is_cycles(const char *unit)
{
	return !strcmp(unit, "cycles") || !strcmp(unit, "cycle");
}

static int take_limit(struct config *c, const struct ini_entry *e, struct check_limit *limit)
{
	const char *unit;

	*limit = (struct check_limit){.is_none = !strcmp(e->value, "none")};
	if (limit->is_none)
		return 0;
	if (!read_number(e->value, &limit->value, &unit))
		return bad(c, e, "give 2%, 0.5 cycles, or none");
	limit->is_percent = !strcmp(unit, "%");
	if (!limit->is_percent && !is_cycles(unit))
		return bad(c, e, "a number needs its unit: 2% or 0.5 cycles");
	return 0;
}

static int take_cycles(struct config *c, const struct ini_entry *e, double *cycles)
{
	const char *unit;

	if (!read_number(e->value, cycles, &unit) || !(*cycles > 0) || (*unit && !is_cycles(unit)))
		return bad(c, e, "give a number of cycles, such as 4");
	return 0;
}

static int take_loop(struct config *c, const struct ini_entry *e, int *loop)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(e->value, &end, 10);
	if (end == e->value || *end || errno || number < 1 || number > 1000000)
		return bad(c, e, "give the number of a loop, from 1");
	*loop = (int)number;
	return 0;
}

static int take_text(struct config *c, const struct ini_entry *e, const char **text)
{
	if (!*e->value)
		return bad(c, e, "there is no value");
	*text = check_keep(c->check, e->value);
	return *text ? 0 : no_memory(c);
}

static int take_model(struct config *c, const struct ini_entry *e, const char **model)
{
	const struct tact_model *found = tact_model_find(e->value, NULL);

	/* A file of the repository under test must not start programs. */
	if (!found || found->traits & TACT_MODEL_PROGRAM)
		return bad(c, e, "give facile or sim, or a variant of them");
	return take_text(c, e, model);
}

static int take_value(struct config *c, enum key key, const struct ini_entry *e)
{
	struct check_section *s = &c->current->section;

	switch (key) {
	case KEY_FILE:
		return take_text(c, e, &s->file);
	case KEY_ARCH:
		return take_text(c, e, &s->archs_text);
	case KEY_MODEL:
		return take_model(c, e, &s->model);
	case KEY_FAIL_ABOVE:
		return take_limit(c, e, &s->limit);
	case KEY_MAX_CYCLES:
		return take_cycles(c, e, &s->max_cycles);
	case KEY_BASELINE:
		return take_text(c, e, &c->baseline);
	case KEY_FUNCTION:
		return take_text(c, e, &s->function);
	case KEY_LOOP:
		return take_loop(c, e, &s->loop);
	default:
		return take_text(c, e, &s->marker);
	}
}

/* ---- entries ---- */

static int unknown_key(struct config *c, const struct ini_entry *e)
{
	struct similar like = similar_to(e->key);

	for (size_t i = 0; i < N_KEYS; i++)
		similar_offer(&like, names[i]);
	if (like.closest)
		return tact_fail_at(c->diag, TACT_E_FORMAT, e->line, 0,
				    "there is no key '%s'; did you mean %s?", e->key, like.closest);
	return tact_fail_at(c->diag, TACT_E_FORMAT, e->line, 0,
			    "there is no key '%s'; keys are file, arch, model, fail-above, "
			    "max-cycles, baseline, function, loop and marker",
			    e->key);
}

static int begin_section(struct config *c, const struct ini_entry *e)
{
	if (!strcmp(e->section, DEFAULTS)) {
		if (c->has_defaults)
			return tact_fail_at(c->diag, TACT_E_FORMAT, e->line, 0,
					    "there are two sections [" DEFAULTS "]");
		c->has_defaults = true;
		c->current = &c->defaults;
		c->defaults.section.line = e->line;
		return 0;
	}
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->drafts[i].section.name, e->section))
			return tact_fail_at(c->diag, TACT_E_FORMAT, e->line, 0,
					    "there are two sections [%s]", e->section);
	if (tact_grow(&c->drafts, &c->capacity, c->n + 1, sizeof(*c->drafts)))
		return no_memory(c);
	c->current = &c->drafts[c->n++];
	*c->current = (struct draft){.section = {.line = e->line}};
	c->current->section.name = check_keep(c->check, e->section);
	if (!c->current->section.name) {
		c->n--;
		return no_memory(c);
	}
	return 0;
}

static int take(void *arg, const struct ini_entry *e)
{
	struct config *c = arg;
	size_t key = 0;

	if (!e->key)
		return begin_section(c, e);
	while (key < N_KEYS && strcmp(names[key], e->key) != 0)
		key++;
	if (key == N_KEYS)
		return unknown_key(c, e);
	if (c->current->has >> key & 1)
		return bad(c, e, "the section has this key already");
	if (c->current == &c->defaults ? key >= KEY_FUNCTION : key == KEY_BASELINE)
		return bad(c, e,
			   key == KEY_BASELINE ? "it belongs to [" DEFAULTS "]"
					       : "it chooses code, for which you need another "
						 "section than [" DEFAULTS "]");
	c->current->has |= 1u << key;
	return take_value(c, (enum key)key, e);
}

/* ---- sections ---- */

/* A path is relative to the INI file. */
static const char *resolve_path(struct tact_codecheck *check, const char *path)
{
	const char *slash = strrchr(check->path, '/');
	struct text text = {0};
	const char *kept = NULL;

	if (*path == '/' || !slash)
		return path;
	text_add_bytes(&text, check->path, (size_t)(slash - check->path) + 1);
	text_add(&text, path);
	if (text_string(&text))
		kept = check_keep(check, text.data);
	text_free(&text);
	return kept;
}

#define INHERIT(s, d, has, key, field)                                                             \
	do {                                                                                       \
		if (!((has) >> (key)&1))                                                           \
			(s)->field = (d)->field;                                                   \
	} while (0)

/* Gives a section what [check] says, and takes it over. */
static int finish_section(struct config *c, struct draft *draft)
{
	struct tact_codecheck *check = c->check;
	struct check_section *s = &draft->section;
	const struct check_section *d = &c->defaults.section;

	INHERIT(s, d, draft->has, KEY_FILE, file);
	INHERIT(s, d, draft->has, KEY_ARCH, archs_text);
	INHERIT(s, d, draft->has, KEY_MODEL, model);
	INHERIT(s, d, draft->has, KEY_FAIL_ABOVE, limit);
	INHERIT(s, d, draft->has, KEY_MAX_CYCLES, max_cycles);
	if (!s->file)
		return tact_fail_at(c->diag, TACT_E_FORMAT, s->line, 0,
				    "[%s] names no file: add file = FILE.o", s->name);
	s->file = resolve_path(check, s->file);
	s->base_model = "";
	if (!s->file ||
	    tact_grow(&check->sections, &check->capacity, check->n + 1, sizeof(*check->sections)))
		return no_memory(c);
	check->sections[check->n++] = *s;
	return 0;
}

static int finish(struct config *c)
{
	struct draft all = {.section = {.name = ALL_CODE, .line = c->defaults.section.line}};
	const char *baseline = c->baseline ? c->baseline : DEFAULT_BASELINE;
	int status = 0;

	if (!c->n && !c->has_defaults)
		return tact_fail(c->diag, TACT_E_FORMAT,
				 "there is no section in it; begin with [" DEFAULTS "]");
	if (!c->n)
		status = finish_section(c, &all);
	for (size_t i = 0; i < c->n && !status; i++)
		status = finish_section(c, &c->drafts[i]);
	if (status)
		return status;
	baseline = resolve_path(c->check, baseline);
	c->check->baseline = baseline ? strdup(baseline) : NULL;
	return c->check->baseline ? 0 : no_memory(c);
}

int check_config_read(struct tact_codecheck *check, const char *data, size_t size,
		      struct tact_diag *diag)
{
	struct config c = {.check = check, .diag = diag};
	int status;

	c.defaults.section =
		(struct check_section){.model = DEFAULT_MODEL, .limit = default_limit, .line = 1};
	status = ini_read(data, size, take, &c, diag);
	if (!status)
		status = finish(&c);
	free(c.drafts);
	return status;
}
