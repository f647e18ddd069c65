/* SPDX-License-Identifier: MIT
 *
 * Folded stacks: "main;parse;read 4711", as Brendan Gregg's stackcollapse scripts write them and
 * flamegraph.pl, inferno and others read them.  The value is whole and comes after the last blank;
 * frames are separated by semicolons.
 */
#include <math.h>
#include <stdlib.h>

#include "profile/profile.h"

static void add_name(struct text *out, const char *name)
{
	for (; *name; name++) {
		const unsigned char c = (unsigned char)*name;

		text_add_bytes(out, c == ';' ? ":" : c < ' ' || c == 0x7f ? "?" : name, 1);
	}
}

void profile_folded(const struct profile *p, struct text *out)
{
	size_t *path = NULL, capacity = 0;

	for (size_t i = 0; i < p->n; i++) {
		const double value = p->frames[i].value[0];
		size_t n = 0;

		if (!(value >= 0.5))
			continue;
		if (tact_grow(&path, &capacity, p->frames[i].depth + (size_t)1, sizeof(*path))) {
			out->failed = true;
			break;
		}
		for (size_t at = i; at != PROFILE_ROOT; at = p->frames[at].parent)
			path[n++] = at;
		while (n) {
			add_name(out, p->frames[path[--n]].name);
			text_add(out, n ? ";" : " ");
		}
		text_printf(out, "%.0f\n", round(value));
	}
	free(path);
}
