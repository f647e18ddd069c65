/* SPDX-License-Identifier: MIT
 *
 * Groups of instructions that a user defines (HBBP paper, section V.B): lines of
 *
 *     GROUP: PATTERN...
 *
 * A pattern is a mnemonic with * and ?, or PROPERTY=PATTERN, or the word lock.  Patterns joined by
 * + must all match.  An instruction belongs to the first group that matches.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "mix/mix.h"

enum { MAX_FILE = 1 << 20, MAX_GROUPS = 1000, MAX_PATTERNS = 100000 };

enum property {
	PROPERTY_MNEMONIC,
	PROPERTY_FORM,
	PROPERTY_EXTENSION,
	PROPERTY_CATEGORY,
	PROPERTY_PACKING,
	PROPERTY_WIDTH,
	PROPERTY_MEMORY,
	PROPERTY_LOCK
};

static const char *const property_names[] = {"mnemonic", "form",  "extension", "category",
					     "packing",	 "width", "memory"};

struct pattern {
	uint32_t group;
	bool is_joined; /* with the one before it */
	uint8_t property;
	char *text; /* in the taxonomy's text */
};

struct tact_mix_taxonomy {
	char *text; /* owned */
	char **groups;
	size_t n_groups, groups_capacity;
	struct pattern *patterns;
	size_t n_patterns, patterns_capacity;
};

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Greedy, with one place to backtrack to: linear for patterns with few stars. */
bool mix_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *back = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			back = text;
		} else if (*pattern && (*pattern == '?' || lower(*pattern) == lower(*text))) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

void tact_mix_taxonomy_destroy(struct tact_mix_taxonomy *t)
{
	if (!t)
		return;
	FREE_ALL(t->groups, t->patterns, t->text, t);
}

static int add_pattern(struct tact_mix_taxonomy *t, char *word, bool is_joined, uint64_t line,
		       struct tact_diag *diag)
{
	struct pattern p = {(uint32_t)t->n_groups - 1, is_joined, PROPERTY_MNEMONIC, word};
	char *equals = strchr(word, '=');

	if (!*word)
		return tact_fail_at(diag, TACT_E_FORMAT, line, 0, "an empty pattern");
	if (!strcmp(word, "lock")) {
		p.property = PROPERTY_LOCK;
	} else if (equals) {
		size_t i = 0;

		*equals = '\0';
		while (i < ARRAY_SIZE(property_names) && strcmp(property_names[i], word))
			i++;
		if (i == ARRAY_SIZE(property_names))
			return tact_fail_at(
				diag, TACT_E_FORMAT, line, 0,
				"'%.60s' is none of mnemonic, form, extension, category, "
				"packing, width, memory",
				word);
		p.property = (uint8_t)i;
		p.text = equals + 1;
	}
	if (t->n_patterns >= MAX_PATTERNS)
		return tact_fail_at(diag, TACT_E_FORMAT, line, 0, "too many patterns");
	if (tact_grow(&t->patterns, &t->patterns_capacity, t->n_patterns + 1, sizeof(*t->patterns)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	t->patterns[t->n_patterns++] = p;
	return 0;
}

static int parse_line(struct tact_mix_taxonomy *t, char *line, uint64_t number,
		      struct tact_diag *diag)
{
	char *colon, *word, *rest;
	int status = 0;

	line += strspn(line, " \t\r");
	if (!*line || *line == '#')
		return 0;
	colon = strchr(line, ':');
	if (!colon || colon == line)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0, "expected GROUP: PATTERN...");
	*colon = '\0';
	if (t->n_groups >= MAX_GROUPS)
		return tact_fail_at(diag, TACT_E_FORMAT, number, 0, "more than %d groups",
				    MAX_GROUPS);
	if (tact_grow(&t->groups, &t->groups_capacity, t->n_groups + 1, sizeof(*t->groups)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	t->groups[t->n_groups++] = line;
	for (word = strtok_r(colon + 1, " \t\r,", &rest); word && status >= 0;
	     word = strtok_r(NULL, " \t\r,", &rest)) {
		bool is_joined = false;

		for (char *plus; status >= 0 && word; word = plus) {
			plus = strchr(word, '+');
			if (plus)
				*plus++ = '\0';
			status = add_pattern(t, word, is_joined, number, diag);
			is_joined = true;
		}
	}
	return status;
}

int tact_mix_taxonomy_load_memory(struct tact_mix_taxonomy **out, const char *text, size_t size,
				  struct tact_diag *diag)
{
	struct tact_mix_taxonomy *t;
	uint64_t number = 0;
	int status;
	char *line, *next;

	if (out)
		*out = NULL;
	status = tact_new(&t, sizeof(*t), out && (text || !size), "no text", diag);
	if (status < 0)
		return status;
	t->text = malloc(size + 1);
	if (!t->text) {
		tact_mix_taxonomy_destroy(t);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	if (size)
		memcpy(t->text, text, size);
	t->text[size] = '\0';
	for (line = t->text; line && status >= 0; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		status = parse_line(t, line, ++number, diag);
	}
	if (status >= 0 && !t->n_groups)
		status = tact_fail(diag, TACT_E_FORMAT, "a taxonomy without groups");
	return HAND_OVER(out, t, status, tact_mix_taxonomy_destroy);
}

int tact_mix_taxonomy_load(struct tact_mix_taxonomy **out, const char *path, struct tact_diag *diag)
{
	struct text text = {0};
	int status;

	if (out)
		*out = NULL;
	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	status = file_read(path, MAX_FILE, &text, diag);
	if (status >= 0)
		status = tact_mix_taxonomy_load_memory(out, text.data, text.size, diag);
	text_free(&text);
	return status;
}

static bool fits(const struct pattern *p, const struct isa_properties *x)
{
	static const char *const packing[] = {"none", "scalar", "packed"};
	char number[8];

	switch (p->property) {
	case PROPERTY_MNEMONIC:
		return mix_glob(p->text, x->mnemonic_name);
	case PROPERTY_FORM:
		return x->form != TACT_FORM_NONE && mix_glob(p->text, x->form_name);
	case PROPERTY_EXTENSION:
		return mix_glob(p->text, x->extension);
	case PROPERTY_CATEGORY:
		return mix_glob(p->text, x->category);
	case PROPERTY_PACKING:
		return mix_glob(p->text, packing[x->packing]);
	case PROPERTY_WIDTH:
		snprintf(number, sizeof(number), "%u", x->width);
		return mix_glob(p->text, number);
	case PROPERTY_MEMORY:
		return (x->loads && mix_glob(p->text, "read")) ||
		       (x->stores && mix_glob(p->text, "write")) ||
		       (!x->loads && !x->stores && mix_glob(p->text, "none"));
	default:
		return x->is_locked;
	}
}

uint32_t mix_taxonomy_group(const struct tact_mix_taxonomy *t, const struct isa_properties *x)
{
	for (size_t i = 0; i < t->n_patterns;) {
		size_t begin = i;
		bool all = true;

		do
			all = all && fits(&t->patterns[i], x);
		while (++i < t->n_patterns && t->patterns[i].is_joined);
		if (all)
			return t->patterns[begin].group;
	}
	return MIX_NONE;
}

const char *mix_taxonomy_name(const struct tact_mix_taxonomy *t, uint32_t group)
{
	return group == MIX_NONE ? "other" : t->groups[group];
}
