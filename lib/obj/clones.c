/* SPDX-License-Identifier: MIT
 *
 * Names of the clones that compilers make of functions.
 */
#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "obj/obj.h"

/* gcc's and LLVM's; a number may follow after a dot. */
static const char *const suffixes[] = {
	"constprop",  "isra",	 "part",  "cold",  "llvm",   "lto_priv",
	"localalias", "_omp_fn", "clone", "pcrel", "__uniq",
};

static bool is_suffix(const char *text, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (size == strlen(suffixes[i]) && !memcmp(text, suffixes[i], size))
			return true;
	return false;
}

/* Cuts one suffix, ".cold" or ".part.0"; returns the length that is left. */
static size_t cut_suffix(const char *name, size_t size)
{
	size_t end = size, dot;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end < size && end && name[end - 1] == '.')
		end--; /* before ".0" */
	else
		end = size;
	for (dot = end; dot && name[dot - 1] != '.';)
		dot--;
	return dot >= 2 && is_suffix(name + dot, end - dot) ? dot - 1 : size;
}

/* Cuts " [clone .cold]" or " (.cold)", as demanglers write them. */
static size_t cut_clone(const char *name, size_t size)
{
	static const struct {
		const char *begin;
		char end;
	} forms[] = {{" [clone .", ']'}, {" (.", ')'}};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const size_t length = strlen(forms[i].begin);

		if (!size || name[size - 1] != forms[i].end)
			continue;
		for (size_t at = size - 1; at > 0; at--)
			if (size - at > length && !memcmp(name + at, forms[i].begin, length))
				return at;
	}
	return size;
}

size_t obj_base_length(const char *name)
{
	size_t size = strlen(name), before;

	do {
		before = size;
		size = cut_suffix(name, size);
		size = cut_clone(name, size);
	} while (size < before);
	return size;
}

/* "17h0123456789abcdefE" or "::h0123456789abcdef" at the end of a name. */
size_t obj_stem_length(const char *name)
{
	enum { DIGITS = 16 };
	const size_t size = obj_base_length(name);
	const bool is_mangled = size && name[size - 1] == 'E' && !strncmp(name, "_ZN", 3);
	const char *front = is_mangled ? "17h" : "::h";
	const size_t end = size - is_mangled;

	if (end < DIGITS + 4 || memcmp(name + end - DIGITS - 3, front, 3))
		return size;
	for (size_t i = end - DIGITS; i < end; i++)
		if (!isxdigit((unsigned char)name[i]))
			return size;
	return end - DIGITS - 3;
}

uint64_t obj_stem_hash(const char *name)
{
	return hash_bytes(name, obj_stem_length(name));
}
