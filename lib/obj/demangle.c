/* SPDX-License-Identifier: MIT
 *
 * Names of functions as in the source: C++, Rust and D, by libiberty, which knows all three.  Its
 * limits on recursion and on the size of what it keeps on the stack are on by default.
 *
 * libiberty's part for D ends the process if memory runs out; the parts for C++ and Rust do not.
 */
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ARRAY_SIZE /* libiberty's is the same */
#include "base/base.h"
#include "obj/obj.h"

/* A longer symbol is shown as it is: names of templates can grow without bound. */
enum { LONGEST_SYMBOL = 16 << 10 };

/* Finds where the parameters of a D function begin: the last "(" that the last ")" closes. */
static char *find_parameters(char *name)
{
	char *end = strrchr(name, ')');
	int depth = 0;

	for (; end && end > name; end--) {
		depth += (*end == ')') - (*end == '(');
		if (!depth)
			return end;
	}
	return NULL;
}

static char *demangle_d(const char *symbol, bool is_whole)
{
	char *name = dlang_demangle(symbol, DMGL_DLANG);
	char *parameters = name && !is_whole ? find_parameters(name) : NULL;

	if (parameters)
		*parameters = '\0';
	return name;
}

/* An assembler's or linker's version ("@plt", "@@GLIBCXX_3.4") is not part of the name. */
static char *without_version(const char *symbol)
{
	const char *at = strchr(symbol, '@');

	return at ? strndup(symbol, (size_t)(at - symbol)) : NULL;
}

/* Clones of a function need different names; libiberty names them in whole names only. */
static char *with_clone(char *name, const char *symbol)
{
	const char *suffix = symbol + obj_base_length(symbol);
	size_t size = strlen(name) + strlen(suffix) + sizeof(" [clone ]");
	char *both = *suffix && !strstr(name, suffix) ? malloc(size) : NULL;

	if (!both)
		return name;
	snprintf(both, size, "%s [clone %s]", name, suffix);
	free(name);
	return both;
}

char *obj_demangle(const char *symbol, bool is_whole)
{
	const int style = DMGL_ANSI | (is_whole ? DMGL_PARAMS : 0);
	char *plain, *name = NULL;

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R' && symbol[1] != 'D') ||
	    strlen(symbol) > LONGEST_SYMBOL)
		return NULL;
	plain = without_version(symbol);
	if (plain)
		symbol = plain;
	if (symbol[1] == 'D')
		name = demangle_d(symbol, is_whole);
	else
		name = rust_demangle(symbol, 0);
	if (!name && symbol[1] == 'Z')
		name = cplus_demangle_v3(symbol, style);
	if (name && !*name) { /* "_RC0" has none */
		free(name);
		name = NULL;
	}
	if (name)
		name = with_clone(name, symbol);
	free(plain);
	return name;
}
