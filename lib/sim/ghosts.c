/* SPDX-License-Identifier: MIT
 *
 * Instructions of a wrong path in the pipeline: see wrong_path.h.  They take places in the reorder
 * buffer, the reservation station and the store buffer, wait for their sources as others do, and ask for
 * lines.  That they compete for ports is not modelled: who waits for memory leaves most of them idle.
 */
#include <string.h>

#include "sim/wake.h"

/* ---- values ---- */

static wrong_value output_of(unsigned ghost, unsigned output)
{
	return (wrong_value)(ghost * LOWERED_MAX_OUT + output);
}

_Static_assert((int)WRONG_GHOSTS *(int)LOWERED_MAX_OUT <= (int)WRONG_NONE, "outputs have numbers");
_Static_assert((int)ISA_MAX_KEYS < (int)WRONG_NONE, "registers have numbers");

static int32_t ready_of_register(struct sim_state *s, unsigned key)
{
	struct sim_origin origin = s->stream->writer[key];
	const struct sim_instance *inst;

	if (origin.id == SIM_NO_ID || !(inst = find_instance(s, &origin)))
		return 0;
	return origin.output == SIM_SYNC_OUTPUT ? inst->sync.ready
						: inst->output[origin.output].ready;
}

/* Returns when a value is ready.  Nothing has been renamed since the branch, so registers are those of
 * before it.
 */
static int32_t ready_of(struct sim_state *s, wrong_value value)
{
	const unsigned v = value & ~(unsigned)WRONG_TAINTED;

	if (v == WRONG_NONE)
		return 0;
	if (v & WRONG_OLD)
		return ready_of_register(s, v & ~(unsigned)WRONG_OLD);
	return s->stream->wrong.ghosts[v / LOWERED_MAX_OUT].ready[v % LOWERED_MAX_OUT];
}

/* ---- what is stored ---- */

static struct wrong_granule *granule_at(struct sim_wrong_path *w, uint64_t address)
{
	const uint64_t granule = address / 8;

	return &w->granules[(granule ^ granule >> 8) & (WRONG_GRANULES - 1)];
}

static const struct sim_access *access_at(const struct sim_state *s, uint64_t i)
{
	return &s->stream->accesses[i & (s->stream->access_capacity - 1)];
}

static void note_stores(struct sim_state *s, const struct sim_insn *insn, uint64_t first,
			uint32_t n, wrong_value value)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_access *a = access_at(s, first + i);

		if (a->is_store)
			*granule_at(w, a->address) =
				(struct wrong_granule){.granule = a->address / 8,
						       .sequence = w->now.sequence++,
						       .value = value,
						       .leaves_stored = insn->leaves_stored};
	}
}

static bool is_stored_apart(const struct sim_wrong_path *w, const struct sim_insn *insn)
{
	for (unsigned i = 0; insn->words && i < w->now.n_words; i++)
		if (w->words[i] == insn->words)
			return true;
	return false;
}

/* Returns when the data of the last store of before the branch are ready; NULL: long ago.  Its instance
 * stays where it is: nothing else is renamed now.
 */
static const int32_t *find_old_store(struct sim_state *s, const struct sim_access *a)
{
	struct sim_origin origin = {.id = SIM_NO_ID};
	const struct sim_instance *store;

	sim_stream_find_store(s->stream, a, &origin);
	if (origin.id == SIM_NO_ID || !(store = find_instance(s, &origin)))
		return NULL;
	return &store->output[origin.output].ready;
}

/* Finds what a load meets: what a ghost stored, or what was stored before the branch. */
static void meet_store(struct sim_state *s, struct sim_ghost *g, const struct sim_access *a)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	const struct wrong_granule *granule = granule_at(w, a->address);

	if (granule->sequence && granule->granule == a->address / 8) {
		g->met = granule->value;
		g->forward = granule->leaves_stored && g->insn->takes_stored ? 0 : g->insn->forward;
	} else if (is_stored_apart(w, g->insn)) {
		g->met = WRONG_TAINTED | WRONG_NONE;
	} else {
		g->old_met = find_old_store(s, a);
		g->forward = g->insn->forward;
	}
}

/* ---- renaming ---- */

void sim_ghosts_count(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	unsigned waiting = s->rs_count;

	/* Mostly there is room for all that there are. */
	if (waiting + w->now.n_ghosts + (unsigned)s->params->issue_width <
	    (unsigned)s->params->rs_size)
		waiting = 0;
	else
		for (unsigned i = 0; i < w->now.n_ghosts; i++)
			waiting += w->left[i] > s->clock;
	w->n_waiting = waiting;
}

bool sim_ghosts_have_room(const struct sim_state *s, const struct sim_insn *insn)
{
	const struct sim_wrong_path *w = &s->stream->wrong;

	return s->rob_count + w->now.n_uops + insn->n_fused <= s->rob_size &&
	       w->n_waiting < (unsigned)s->params->rs_size &&
	       (!insn->memory_outputs || !s->params->store_buffer ||
		s->stream->n_stores + w->now.n_stores < (unsigned)s->params->store_buffer);
}

/* Takes the sources of a ghost.  Returns whether one of them is tainted. */
static bool take_sources(struct sim_wrong_path *w, struct sim_ghost *g)
{
	const struct sim_input *in = g->program->inputs + g->insn->first_input;
	bool is_tainted = false;

	g->first_source = (uint16_t)w->now.n_sources;
	for (unsigned k = 0; k < g->insn->n_inputs; k++) {
		const wrong_value value =
			in[k].kind == VALUE_MEMORY ? WRONG_NONE : w->now.values[in[k].key];

		w->sources[w->now.n_sources++] = value;
		is_tainted |= value >> 15;
		g->knows_address &= !(in[k].kind == VALUE_ADDRESS && value & WRONG_TAINTED);
	}
	return is_tainted;
}

static void write_values(struct sim_wrong_path *w, const struct sim_ghost *g)
{
	const struct sim_insn *insn = g->insn;
	const unsigned number = (unsigned)(g - w->ghosts);
	const wrong_value taint = g->is_tainted ? WRONG_TAINTED : 0;

	if (insn->eliminated) { /* a move */
		w->now.values[insn->output_key[0]] = w->sources[g->first_source] | taint;
		return;
	}
	for (unsigned o = 0; o < insn->n_outputs; o++)
		w->now.values[insn->output_key[o]] = output_of(number, o) | taint;
	if (insn->exchanges) {
		wrong_value *const a = &w->now.values[insn->exchanged[0]],
				   *const b = &w->now.values[insn->exchanged[1]], held = *a;

		*a = *b;
		*b = held;
	}
}

static void note_memory(struct sim_state *s, struct sim_ghost *g)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	const struct sim_insn *insn = g->insn;
	const unsigned output =
		insn->memory_outputs ? (unsigned)__builtin_ctz(insn->memory_outputs) : 0;

	for (uint32_t i = 0; i < g->n_accesses && g->knows_address; i++) {
		const struct sim_access *a = access_at(s, g->first_access + i);

		if (!a->is_store && a->size) {
			meet_store(s, g, a);
			g->is_tainted |= g->met >> 15;
			break;
		}
	}
	if (!insn->memory_outputs)
		return;
	w->now.n_stores++;
	note_stores(s, insn, g->first_access, g->n_accesses,
		    output_of((unsigned)(g - w->ghosts), output) |
			    (g->is_tainted ? WRONG_TAINTED : 0));
	if (!g->n_accesses && w->now.n_words < WRONG_WORDS)
		w->words[w->now.n_words++] = insn->words;
}

bool sim_ghost_add(struct sim_state *s, const struct sim_program *program,
		   const struct sim_insn *insn, bool is_common, uint64_t first_access, uint32_t n)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	struct sim_ghost *g = &w->ghosts[w->now.n_ghosts];

	if (w->now.n_ghosts == WRONG_GHOSTS || insn->n_uops > WRONG_UOPS || insn->serializes ||
	    insn->holds || insn->cycles || w->now.n_sources + insn->n_inputs > WRONG_SOURCES)
		return false;
	*g = (struct sim_ghost){.program = program,
				.insn = insn,
				.first_access = first_access,
				.n_accesses = n,
				.met = WRONG_NONE,
				.waits_for = WRONG_NONE,
				.knows_address = is_common,
				.renamed = s->clock,
				.loaded = SIM_NEVER,
				.done = SIM_NEVER};
	for (unsigned o = 0; o < LOWERED_MAX_OUT; o++)
		g->ready[o] = SIM_NEVER;
	g->is_tainted = take_sources(w, g) | !is_common;
	note_memory(s, g);
	write_values(w, g);
	w->left[w->now.n_ghosts] = SIM_NEVER;
	w->n_waiting++;
	w->pending[w->n_pending++] = (uint16_t)w->now.n_ghosts++;
	w->now.n_uops += insn->n_fused;
	w->look_at = s->clock;
	return true;
}

void sim_ghost_taint(struct sim_state *s, const struct sim_insn *insn, uint64_t first_access,
		     uint32_t n)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	for (unsigned o = 0; o < insn->n_outputs; o++)
		w->now.values[insn->output_key[o]] |= WRONG_TAINTED;
	if (insn->memory_outputs)
		note_stores(s, insn, first_access, n, WRONG_TAINTED | WRONG_NONE);
}

void sim_ghosts_return(struct sim_wrong_path *w, const struct wrong_state *before)
{
	while (w->n_pending && w->pending[w->n_pending - 1] >= before->n_ghosts)
		w->n_pending--;
	for (unsigned i = 0; i < WRONG_GRANULES; i++)
		if (w->granules[i].sequence >= before->sequence)
			w->granules[i].sequence = 0;
	w->now = *before;
}

/* ---- execution ---- */

/* Looks again before `at`. */
static void look_again(struct sim_wrong_path *w, int32_t at)
{
	w->look_at = at < w->look_at ? at : w->look_at;
}

/* A value is not known.  Ghosts are looked at in their order; nobody says when something from before the
 * branch becomes known.
 */
static void wait_for_value(struct sim_state *s, struct sim_ghost *g, wrong_value value)
{
	g->waits_for = value;
	if (value & WRONG_OLD && value != WRONG_NONE)
		look_again(&s->stream->wrong, s->clock + WRONG_POLL);
}

/* Returns when a uop could be executed, SIM_NEVER if that is not known yet. */
static int32_t begin_of(struct sim_state *s, struct sim_ghost *g, const struct sim_uop *u,
			const int32_t *executed)
{
	const struct sim_wrong_path *w = &s->stream->wrong;
	const struct sim_source *source = g->program->sources + u->first_source;
	int32_t begin = g->renamed + ISSUE_DELAY;

	for (unsigned i = 0; i < u->n_sources; i++, source++) {
		const wrong_value value = w->sources[g->first_source + source->index];
		const int32_t ready =
			source->kind == SIM_FROM_UOP ? executed[source->index] : ready_of(s, value);

		if (ready == SIM_NEVER && source->kind != SIM_FROM_UOP)
			wait_for_value(s, g, value);
		if (ready == SIM_NEVER)
			return SIM_NEVER;
		begin = ready + source->latency > begin ? ready + source->latency : begin;
	}
	return begin;
}

/* Its loads ask for their lines, if their places are free.  The trips end here: when the loads are
 * executed again, the lines are on their way, or there.  Returns whether they did.
 */
static bool ask_for_lines(struct sim_state *s, struct sim_ghost *g, int32_t *at)
{
	struct sim_memory *m = &s->stream->memory;

	*at = s->clock;
	for (uint32_t i = 0; i < g->n_accesses; i++) {
		const struct sim_access *a = access_at(s, g->first_access + i);
		const int32_t free =
			a->is_store ? s->clock
				    : sim_memory_free(m, s->clock, (enum sim_level)a->trip.level);

		*at = free > *at ? free : *at;
	}
	if (*at > s->clock)
		return false;
	for (uint32_t i = 0; i < g->n_accesses; i++) {
		const int32_t ready = sim_trip_ghost(s, g->first_access + i);

		*at = ready > *at ? ready : *at;
	}
	return true;
}

/* Executes a load.  Returns when one from the first level would be executed, SIM_NEVER if that is not
 * known yet.
 */
static int32_t load(struct sim_state *s, struct sim_ghost *g, const struct sim_uop *u,
		    int32_t begin)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	int32_t met, at;

	if (g->loaded != SIM_NEVER || !g->n_accesses || !g->knows_address)
		return g->loaded != SIM_NEVER ? g->loaded : begin;
	if (begin > s->clock) {
		look_again(w, begin);
		return SIM_NEVER;
	}
	met = g->old_met ? *g->old_met : ready_of(s, g->met);
	if (met == SIM_NEVER && g->old_met)
		look_again(w, s->clock + WRONG_POLL);
	if (met == SIM_NEVER)
		return SIM_NEVER;
	if (!ask_for_lines(s, g, &at)) {
		look_again(w, at);
		return SIM_NEVER;
	}
	met += g->forward - u->latency;
	return g->loaded = met > at ? met : at;
}

/* Executes what can be executed.  Returns whether that is all. */
static bool execute(struct sim_state *s, struct sim_ghost *g)
{
	const struct sim_insn *insn = g->insn;
	const struct sim_uop *u = g->program->uops + insn->first_uop;
	int32_t executed[WRONG_UOPS], left = g->renamed, done = left, stored = left;

	g->waits_for = WRONG_NONE;
	for (unsigned i = 0; i < insn->n_uops && !insn->eliminated; i++, u++) {
		executed[i] = begin_of(s, g, u, executed);
		left = executed[i] > left ? executed[i] : left;
		if (executed[i] != SIM_NEVER && u->kind == SIM_LOAD)
			executed[i] = load(s, g, u, executed[i]);
		done = executed[i] > done ? executed[i] : done;
		if (u->kind >= SIM_STORE_ADDRESS)
			stored = executed[i] > stored ? executed[i] : stored;
		for (unsigned o = 0; executed[i] != SIM_NEVER && u->makes >> o; o++)
			if (u->makes >> o & 1)
				g->ready[o] = executed[i] + insn->output_latency[o];
	}
	for (unsigned o = 0; o < insn->n_outputs; o++)
		if (insn->memory_outputs >> o & 1)
			g->ready[o] = stored;
		else if (!insn->n_uops || insn->eliminated || insn->unmade_outputs >> o & 1)
			g->ready[o] = g->renamed;
	s->stream->wrong.left[g - s->stream->wrong.ghosts] = left;
	g->done = done;
	return done != SIM_NEVER;
}

/* Tells whether a ghost waits for something that is not known still. */
static bool is_stuck(struct sim_state *s, struct sim_ghost *g)
{
	if (g->waits_for == WRONG_NONE || ready_of(s, g->waits_for) != SIM_NEVER)
		return false;
	wait_for_value(s, g, g->waits_for);
	return true;
}

void sim_ghosts_run(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	unsigned kept = 0;

	w->look_at = SIM_NEVER;
	for (unsigned i = 0; i < w->n_pending; i++) {
		struct sim_ghost *g = &w->ghosts[w->pending[i]];

		if (is_stuck(s, g) || !execute(s, g))
			w->pending[kept++] = w->pending[i];
	}
	w->n_pending = kept;
}
