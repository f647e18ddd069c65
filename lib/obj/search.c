/* SPDX-License-Identifier: MIT
 *
 * Functions by the names that people type: the symbol, or the name as in the source, with or
 * without parameters, without the suffixes of clones, without the namespaces and classes around it,
 * or as much of its beginning as is unique.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/similar.h"
#include "base/text.h"
#include "obj/obj.h"

enum { MOST_NAMED = 4 };

/* How well a symbol fits; larger is better. */
enum fit { FIT_NONE, FIT_BEGINS, FIT_ENDS, FIT_SOURCE, FIT_SYMBOL };

struct search {
	const struct obj_file *obj;
	const char *wanted;
	enum fit fit; /* the best one so far */
	const struct obj_symbol *found[MOST_NAMED];
	size_t n; /* places that fit this well; more than MOST_NAMED are only counted */
	struct similar similar;
	char *closest;	    /* owned: the name that is close */
	const char *within; /* a symbol that contains what is wanted */
};

/* Compares without blanks, which demanglers set in different ways: "> >", "a, b".  Returns
 * FIT_SOURCE, FIT_BEGINS if the name goes on, or FIT_NONE.
 */
static enum fit compare(const char *wanted, const char *name)
{
	for (;; wanted++, name++) {
		while (*wanted == ' ')
			wanted++;
		while (*name == ' ')
			name++;
		if (!*wanted)
			return *name ? FIT_BEGINS : FIT_SOURCE;
		if (*wanted != *name)
			return FIT_NONE;
	}
}

/* Compares with what follows each "::" of a name, too: there, only all of it fits. */
static enum fit compare_scoped(const char *wanted, const char *name)
{
	const enum fit fit = compare(wanted, name);
	const char *p = name;

	while (fit != FIT_SOURCE && (p = strstr(p, "::"))) {
		p += 2;
		if (compare(wanted, p) == FIT_SOURCE)
			return FIT_ENDS;
	}
	return fit;
}

static enum fit better(enum fit a, enum fit b)
{
	return a > b ? a : b;
}

/* Offers a name for the case that nothing fits; it is copied, because it does not stay. */
static void offer(struct search *s, const char *name)
{
	const char *closest = s->similar.closest;

	similar_offer(&s->similar, name);
	if (s->similar.closest == closest)
		return;
	free(s->closest);
	s->similar.closest = s->closest = strdup(name);
}

static enum fit fit_of(struct search *s, const char *symbol)
{
	const size_t base = obj_base_length(symbol);
	enum fit fit = strcmp(symbol, s->wanted) ? compare(s->wanted, symbol) : FIT_SYMBOL;
	char *whole, *name;

	if (fit == FIT_SYMBOL)
		return fit;
	if (symbol[base] && strlen(s->wanted) == base && !strncmp(s->wanted, symbol, base))
		return FIT_SOURCE;
	whole = obj_demangle(symbol, true);
	name = whole ? obj_demangle(symbol, false) : NULL;
	if (whole)
		fit = better(fit, compare_scoped(s->wanted, whole));
	if (name)
		fit = better(fit, compare_scoped(s->wanted, name));
	if (!name && symbol[base])
		name = strndup(symbol, base);
	if (!fit && s->fit == FIT_NONE)
		offer(s, name ? name : symbol);
	free(whole);
	free(name);
	return fit;
}

/* The cold part of a function is not what its name means, if the rest is there. */
static bool is_cold(const struct obj_symbol *symbol)
{
	const size_t base = obj_base_length(symbol->name);

	return symbol->name[base] && strstr(symbol->name + base, ".cold");
}

static void take(struct search *s, const struct obj_symbol *symbol, enum fit fit)
{
	struct obj_symbol const **last = s->n && s->n <= MOST_NAMED ? &s->found[s->n - 1] : NULL;

	if (fit < s->fit || !fit)
		return;
	if (fit > s->fit)
		s->n = 0;
	s->fit = fit;
	for (size_t i = 0; i < s->n && i < MOST_NAMED; i++) {
		const struct obj_symbol *x = s->found[i];

		if (x->section != symbol->section || x->offset != symbol->offset)
			continue;
		if (symbol->is_function && !x->is_function)
			s->found[i] = symbol;
		return;
	}
	/* A function is meant before a label, and its hot part before the cold one. */
	if (s->n == 1 && last && (*last)->is_function != symbol->is_function) {
		if (symbol->is_function)
			*last = symbol;
		return;
	}
	if (s->n == 1 && last && is_cold(*last) != is_cold(symbol)) {
		if (is_cold(*last))
			*last = symbol;
		return;
	}
	if (s->n < MOST_NAMED)
		s->found[s->n] = symbol;
	s->n++;
}

static void find(struct search *s)
{
	for (size_t i = 0; i < s->obj->n_symbols; i++) {
		const struct obj_symbol *symbol = &s->obj->symbols[i];

		if (!strncmp(symbol->name, OBJ_PRIVATE_PREFIX, strlen(OBJ_PRIVATE_PREFIX)))
			continue;
		take(s, symbol, fit_of(s, symbol->name));
		if (!s->within && symbol->is_function && strlen(s->wanted) > 1 &&
		    strstr(symbol->name, s->wanted))
			s->within = symbol->name;
	}
}

/* Functions whose names in the source are the same are told apart by their symbols. */
static void add_found(struct text *out, const struct search *s, size_t i)
{
	char *name = obj_demangle(s->found[i]->name, true);
	bool is_same = false;

	for (size_t j = 0; name && j < s->n && j < MOST_NAMED; j++) {
		char *other = j == i ? NULL : obj_demangle(s->found[j]->name, true);

		is_same |= other && !strcmp(name, other);
		free(other);
	}
	text_add(out, name && !is_same ? name : s->found[i]->name);
	free(name);
}

static void add_name(struct text *out, const char *symbol)
{
	char *name = obj_demangle(symbol, true);

	text_add(out, name ? name : symbol);
	free(name);
}

static int fail(const struct search *s, struct tact_diag *diag)
{
	struct text text = {0};
	int status;

	if (s->n > 1) {
		text_printf(&text, "'%s' %s %zu functions (", s->wanted,
			    s->fit == FIT_BEGINS ? "begins the names of"
			    : s->fit == FIT_ENDS ? "ends the names of"
						 : "is the name of",
			    s->n);
		for (size_t i = 0; i < s->n && i < MOST_NAMED; i++) {
			text_add(&text, i ? ", " : "");
			add_found(&text, s, i);
		}
		text_add(&text, s->n > MOST_NAMED ? ", ...); name one" : "); name one");
	} else {
		text_printf(&text, "there is no function '%s'", s->wanted);
		if (s->closest || s->within) {
			text_add(&text, s->closest ? "; did you mean " : "; there is ");
			add_name(&text, s->closest ? s->closest : s->within);
			text_add(&text, s->closest ? "?" : "");
		} else if (!s->obj->has_symbols) {
			text_add(&text, ": the file has no symbols, and no debug file for it was "
					"found (--addr takes code by its addresses)");
		}
	}
	if (text.failed || !text.data)
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else
		status = tact_fail(diag, s->n > 1 ? TACT_E_INVAL : TACT_E_NO_DATA, "%.*s",
				   (int)text.size, text.data);
	text_free(&text);
	return status;
}

int obj_symbol_search(const struct obj_file *obj, const char *name, const struct obj_symbol **out,
		      struct tact_diag *diag)
{
	struct search s = {.obj = obj, .wanted = name, .similar = similar_to(name)};
	int status = 0;

	*out = obj_symbol_find(obj, name);
	if (*out)
		return 0;
	if (*name)
		find(&s);
	if (s.n == 1)
		*out = s.found[0];
	else
		status = fail(&s, diag);
	free(s.closest);
	return status;
}
