/* SPDX-License-Identifier: MIT
 *
 * Loads and stores of a stream on their way to the data.
 *
 * A load asks when it is executed, and so does a prefetch, which does not wait for its line.  A store
 * asks when it retires, so that several are on their way at once; they leave in order.  Until then, each
 * has a place in the store buffer, which it gets from the renamer.
 */
#include "sim/sim.h"

/* No load is planned farther ahead. */
enum { MOST_EXTRA = SIM_CALENDAR - 256 };

static struct sim_access *access_at(const struct sim_stream *t, uint64_t i)
{
	return &t->accesses[i & (t->access_capacity - 1)];
}

static void fetch_ahead(struct sim_stream *t, int32_t now, const struct sim_trip *trip)
{
	for (unsigned i = 0; i < trip->n_fetched; i++)
		sim_memory_fetch(&t->memory, now, trip->fetched[i].line,
				 (enum sim_level)trip->fetched[i].from,
				 (enum sim_level)trip->fetched[i].to);
}

static int32_t load_trip(struct sim_state *s, const struct sim_access *a)
{
	struct sim_stream *t = s->stream;
	const enum sim_level level = (enum sim_level)a->trip.level;
	const enum sim_page page = (enum sim_page)a->trip.page;
	const int32_t ready =
		a->size ? sim_memory_load(&t->memory, s->clock, a->trip.line, level, page)
			: sim_memory_prefetch(&t->memory, s->clock, a->trip.line, level, page);

	fetch_ahead(t, s->clock, &a->trip);
	return ready - s->clock < MOST_EXTRA ? ready - s->clock : MOST_EXTRA;
}

int32_t sim_trip_ghost(struct sim_state *s, uint64_t access)
{
	struct sim_access *a = access_at(s->stream, access);
	int32_t extra;

	if (a->is_store)
		return s->clock;
	extra = load_trip(s, a);
	/* Its line is on its way, and so is its page. */
	a->trip.level = SIM_IN_L1;
	a->trip.page = SIM_PAGE_KNOWN;
	a->trip.n_fetched = 0;
	return s->clock + extra;
}

/* What several uops load together: the first one asks for all of it, the others wait for the same. */
static int32_t load_at_once(struct sim_state *s, struct sim_instance *inst)
{
	if (!inst->loads_done) {
		inst->loads_done = 1;
		inst->arrived = s->clock;
		for (unsigned i = 0; i < inst->n_trips; i++) {
			const struct sim_access *a = access_at(s->stream, inst->first_trip + i);
			const int32_t ready = a->is_store ? 0 : s->clock + load_trip(s, a);

			inst->arrived = ready > inst->arrived ? ready : inst->arrived;
		}
	}
	return inst->arrived > s->clock ? inst->arrived - s->clock : 0;
}

/* A uop makes one load; the first one also those for which there is no uop. */
int32_t sim_trip_load(struct sim_state *s, struct sim_instance *inst)
{
	int32_t longest = 0;
	unsigned turn, last = inst->n_trips, n = 0;

	if (inst->insn->loads_at_once)
		return load_at_once(s, inst);
	turn = inst->loads_done++;
	for (unsigned i = 0; i < last; i++) {
		const struct sim_access *a = access_at(s->stream, inst->first_trip + i);
		int32_t extra;

		if (a->is_store || n++ < turn)
			continue;
		extra = load_trip(s, a);
		longest = extra > longest ? extra : longest;
		if (inst->insn->n_uops > 1)
			break;
	}
	return longest;
}

/* Stores leave in order; those to one line, or to the part of it that the core joins, one after the
 * other, several in a cycle.
 */
static void leave(struct sim_stream *t, const struct sim_access *a, int32_t there,
		  const struct arch_params *params)
{
	const unsigned together = (unsigned)params->stores_together;
	const uint64_t line = a->address / (unsigned)params->store_line_bytes;
	const bool is_same = line == t->last_line;

	t->last_line = line;
	if (there > t->last_left) {
		t->last_left = there;
		t->n_together = 1;
	} else if (is_same && t->n_together < together) {
		t->n_together++;
	} else {
		t->last_left++;
		t->n_together = 1;
	}
}

void sim_trip_store(struct sim_state *s, const struct sim_instance *inst)
{
	struct sim_stream *t = s->stream;

	for (unsigned i = 0; i < inst->n_trips; i++) {
		const struct sim_access *a = access_at(t, inst->first_trip + i);

		if (!a->is_store)
			continue;
		leave(t, a, sim_memory_store(&t->memory, s->clock, &a->trip), s->params);
		fetch_ahead(t, s->clock, &a->trip);
	}
	if (t->n_leaving < SIM_STORES)
		t->leaving[(t->leaving_head + t->n_leaving++) & (SIM_STORES - 1)] = t->last_left;
}

bool sim_trip_has_room(struct sim_state *s, const struct sim_insn *insn)
{
	struct sim_stream *t = s->stream;

	if (!insn->memory_outputs)
		return true;
	if (!s->rob_count && !t->n_leaving) /* nothing that stores is in flight */
		t->n_stores = 0;
	if (t->n_stores >= (unsigned)s->params->store_buffer)
		return false;
	t->n_stores++;
	return true;
}

void sim_trip_leave(struct sim_state *s)
{
	struct sim_stream *t = s->stream;

	while (t->n_leaving && t->leaving[t->leaving_head] <= s->clock) {
		t->leaving_head = (t->leaving_head + 1) & (SIM_STORES - 1);
		t->n_leaving--;
		t->n_stores -= t->n_stores > 0;
	}
}
