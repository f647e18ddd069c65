/* SPDX-License-Identifier: MIT
 *
 * What holds at a place of a function, whichever way leads there: settings flow along the graph, and
 * where ways meet, the parts in which they agree remain.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "code/survey.h"

enum { UNSEEN = ISA_SETTING_UNKNOWN }; /* no way has come here yet */

static uint16_t meet(uint16_t a, uint16_t b)
{
	if (a == UNSEEN || b == UNSEEN)
		return a == UNSEEN ? b : a;
	return (uint16_t)(((a ^ b) & 0x00ff ? 0 : a & 0x00ff) |
			  ((a ^ b) & 0xff00 ? 0 : a & 0xff00));
}

/* Returns whether anything changed. */
static bool flow(const struct code_graph *graph, const struct tact_isa *isa, const uint8_t *code,
		 uint16_t *at)
{
	bool has_changed = false;

	for (size_t i = 0; i < graph->blocks.n; i++) {
		const struct code_block *b = &graph->blocks.items[i];
		uint16_t end;

		if (at[i] == UNSEEN)
			continue;
		end = isa->follow(at[i], code + b->begin, b->end - b->begin, NULL, 0);
		for (int s = 0; s < 2; s++) {
			const uint32_t to = graph->successors[i][s];
			const uint16_t before = to == CODE_NONE ? 0 : at[to];

			if (to == CODE_NONE)
				continue;
			at[to] = meet(before, end);
			has_changed |= at[to] != before;
		}
	}
	return has_changed;
}

/* Nothing is known where a function is entered: at its begin, and where no way leads. */
static void begin(const struct code_graph *graph, uint16_t *at)
{
	for (size_t i = 0; i < graph->blocks.n; i++)
		at[i] = i ? UNSEEN : 0;
	for (size_t i = 1; i < graph->blocks.n; i++)
		if (graph->from[i] != CODE_NONE)
			at[i] = 0; /* of a table of jumps, perhaps not the last one */
}

int code_setting_at(const struct tact_isa *isa, const uint8_t *code, size_t size,
		    bool is_relocatable, size_t offset, uint16_t *out)
{
	enum { MOST_ROUNDS = 64 }; /* some three are usual */
	struct code_graph graph;
	unsigned rounds = 0;
	uint32_t block;
	uint16_t *at;
	int status = code_graph_create(&graph, isa, code, size, is_relocatable);

	*out = 0;
	if (status < 0)
		return status == -TACT_E_NOMEM ? status : 0;
	at = malloc((graph.blocks.n + 1) * sizeof(*at));
	status = at ? 0 : -TACT_E_NOMEM;
	if (status >= 0) {
		begin(&graph, at);
		while (rounds < MOST_ROUNDS && flow(&graph, isa, code, at))
			rounds++;
		block = code_blocks_find(&graph.blocks, (uint32_t)offset);
		if (rounds < MOST_ROUNDS && block != CODE_NONE && at[block] != UNSEEN) {
			const size_t from = graph.blocks.items[block].begin;

			*out = isa->follow(at[block], code + from, offset - from, NULL, 0);
		}
	}
	free(at);
	code_graph_destroy(&graph);
	return status;
}
