/* SPDX-License-Identifier: MIT
 *
 * See store_sets.h.
 */
#include "trace/store_sets.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

int store_sets_init(struct store_sets *s, size_t sets, unsigned ways, int ahead)
{
	memset(s, 0, sizeof(*s));
	if (!ahead)
		return 0;
	s->n_sets = sets;
	s->ways = ways;
	s->ahead = (uint64_t)ahead;
	s->stores = s->ahead; /* those before the first one are long gone */
	s->sets = calloc(sets, sizeof(*s->sets));
	return s->sets ? 0 : -TACT_E_NOMEM;
}

void store_sets_fini(struct store_sets *s)
{
	free(s->sets);
	s->sets = NULL;
}

bool store_sets_displaced(struct store_sets *s, uint64_t line)
{
	struct store_set *set = &s->sets[line & (s->n_sets - 1)];
	unsigned place = 0, waiting = 0;
	bool is_known = false;

	for (unsigned i = 0; i < STORE_SET_LINES; i++) {
		if (set->line[i] == line + 1) {
			is_known = true;
			place = i;
			continue;
		}
		waiting += set->at[i] + s->ahead > s->stores;
		if (!is_known && set->at[i] < set->at[place])
			place = i;
	}
	set->line[place] = line + 1;
	set->at[place] = s->stores;
	return waiting >= s->ways;
}
