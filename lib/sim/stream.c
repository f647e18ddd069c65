/* SPDX-License-Identifier: MIT
 *
 * A stream: different blocks one after the other.  What is static for a block that repeats is found
 * here when an instance is renamed: which instance wrote a register last, which store a load meets.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum {
	GRANULE = 8,
	MAX_GRANULES = 64 /* of one access; longer ones are cut */
};

static unsigned store_slot(uint64_t granule)
{
	return (unsigned)(granule ^ granule >> 12) & (SIM_GRANULES - 1);
}

static unsigned count_granules(const struct sim_access *a)
{
	uint64_t n = (a->address % GRANULE + a->size + GRANULE - 1) / GRANULE;

	return n < MAX_GRANULES ? (unsigned)n : MAX_GRANULES;
}

/* Finds the youngest store to any byte's granule; `found` stays if there is none younger.  Returns
 * the granule that names it, or NULL.
 */
static const struct sim_granule *find_store(const struct sim_stream *t, const struct sim_access *a,
					    bool takes_stored, struct sim_origin *found)
{
	const struct sim_granule *met = NULL;
	uint64_t granule = a->address / GRANULE;

	for (unsigned n = count_granules(a); n--; granule++) {
		const struct sim_granule *g = &t->stores[store_slot(granule)];
		uint64_t address;

		if (g->granule != granule || g->id == SIM_NO_ID)
			continue;
		address = granule * GRANULE + (uint64_t)g->offset;
		if (address >= a->address + a->size || address + g->size <= a->address ||
		    (found->id != SIM_NO_ID && g->id <= found->id))
			continue;
		*found =
			(struct sim_origin){.id = g->id,
					    .slot = g->slot,
					    .output = g->output,
					    .is_blocked = address > a->address ||
							  address + g->size < a->address + a->size};
		found->is_renamed = takes_stored && g->leaves_stored && !found->is_blocked &&
				    address == a->address;
		met = g;
	}
	return met;
}

/* Where an instruction is in the code: executions know each other by it. */
static uint32_t place_of(const struct sim_feed *feed, const struct sim_insn *insn)
{
	return (uint32_t)(feed->address + feed->program->raws[insn->insn].offset);
}

static unsigned place_slot(uint32_t place, unsigned n)
{
	return (place ^ place >> 12) & (n - 1);
}

/* Says whether the core expects a load to take what this store has left.  It learns which
 * instruction stored what an instruction loads, and takes what that one stored last.  Where both
 * addresses are spelled alike, there is nothing to be learned (experiments on Zen 4: see
 * store_renamed_sure and store_renamed_words).
 */
static bool expects(struct sim_stream *t, uint32_t load, const struct sim_granule *met,
		    uint32_t words)
{
	struct sim_meeting *m = &t->meetings[place_slot(load, SIM_MEETINGS)];
	const struct sim_last_store *last =
		&t->last_stores[place_slot(met->place, SIM_LAST_STORES)];
	const bool is_last = last->place == met->place && last->id == met->id,
		   is_same = is_last && m->load == load && m->store == met->place,
		   is_learned = is_same && m->times >= t->renamed_sure;

	m->times = (uint8_t)(is_same ? m->times + (m->times < t->renamed_sure) : is_last);
	m->load = load;
	m->store = met->place;
	return is_learned ||
	       (words == met->words && (is_last || words == SIM_STACK_WORDS) && words);
}

/* A load that meets no store: it is not expected to meet the next one either. */
static void forget_meeting(struct sim_stream *t, uint32_t load)
{
	struct sim_meeting *m = &t->meetings[place_slot(load, SIM_MEETINGS)];

	if (m->load == load)
		m->times = 0;
}

/* Finds the store with the low bits of this load's address, if it is elsewhere. */
static void find_beside(const struct sim_stream *t, const struct sim_access *a,
			struct sim_origin *beside)
{
	const struct sim_low *low = &t->low[a->address / GRANULE & (SIM_LOW - 1)];
	uint64_t page = GRANULE * SIM_LOW, from = a->address % page, begin = low->address % page;

	if (low->id != SIM_NO_ID && low->address / page != a->address / page &&
	    begin < from + a->size && from < begin + low->size)
		*beside = (struct sim_origin){.id = low->id, .slot = low->slot};
}

static void remember_store(struct sim_stream *t, const struct sim_access *a,
			   const struct sim_origin *store, const struct sim_insn *insn,
			   uint32_t place)
{
	uint64_t granule = a->address / GRANULE;

	t->last_stores[place_slot(place, SIM_LAST_STORES)] =
		(struct sim_last_store){.id = store->id, .place = place};

	if (t->follows_low)
		t->low[granule & (SIM_LOW - 1)] =
			(struct sim_low){store->id, a->address, a->size, store->slot};
	for (unsigned n = count_granules(a); n--; granule++)
		t->stores[store_slot(granule)] =
			(struct sim_granule){.granule = granule,
					     .id = store->id,
					     .offset = (int16_t)(a->address - granule * GRANULE),
					     .size = a->size,
					     .slot = store->slot,
					     .output = store->output,
					     .leaves_stored = insn->leaves_stored,
					     .words = insn->words,
					     .place = place};
}

/* Connects a load to the store that it meets, if any. */
static void connect_load(struct sim_stream *t, const struct sim_access *a, uint32_t place,
			 struct sim_instance *inst)
{
	const struct sim_insn *insn = inst->insn;
	const struct sim_granule *met = find_store(t, a, insn->takes_stored, &inst->from);

	if (t->renamed_sure && insn->takes_stored) {
		if (met)
			inst->from.is_renamed &= expects(t, place, met, insn->words);
		else
			forget_meeting(t, place);
	}
	if (t->follows_low && inst->from.id == SIM_NO_ID)
		find_beside(t, a, &inst->beside);
	inst->extra = a->extra > inst->extra ? a->extra : inst->extra;
}

/* Connects the accesses of an instruction; in the ring, they are in the order of instructions. */
static void connect_accesses(struct sim_stream *t, const struct sim_feed *feed,
			     struct sim_instance *inst)
{
	uint64_t end = feed->first_access + feed->n_accesses;
	const struct sim_insn *insn = inst->insn;
	const uint32_t place = place_of(feed, insn);
	struct sim_origin self = {.id = inst->id, .slot = inst->slot};

	inst->has_accesses = true;
	inst->first_trip =
		t->next_access > feed->first_access ? t->next_access : feed->first_access;
	inst->from.id = inst->beside.id = SIM_NO_ID;
	if (t->next_access < feed->first_access)
		t->next_access = feed->first_access;
	if (insn->memory_outputs)
		self.output = (uint8_t)__builtin_ctz(insn->memory_outputs);
	for (; t->next_access < end; t->next_access++) {
		const struct sim_access *a =
			&t->accesses[t->next_access & (t->access_capacity - 1)];

		if (a->insn > insn->insn + insn->is_pair)
			break;
		if (a->insn < insn->insn) {
			inst->first_trip = t->next_access + 1;
			continue;
		}
		inst->n_trips += t->follows_trips & (inst->n_trips < UINT8_MAX);
		if (!a->size)
			continue; /* a prefetch meets no store */
		if (!a->is_store)
			connect_load(t, a, place, inst);
		else if (insn->memory_outputs)
			remember_store(t, a, &self, insn, place);
	}
}

void sim_stream_find_store(const struct sim_stream *t, const struct sim_access *a,
			   struct sim_origin *found)
{
	find_store(t, a, false, found);
}

void sim_stream_connect(struct sim_state *s, struct sim_instance *inst)
{
	struct sim_stream *t = s->stream;
	const struct sim_feed *feed = sim_feed_of(s, inst->id);

	if (inst->insn->uses_memory && feed->has_accesses)
		connect_accesses(t, feed, inst);
	if (inst->sync_key == s->registers->stack_pointer) {
		t->sync_origin = t->writer[inst->sync_key];
		t->writer[inst->sync_key] = (struct sim_origin){
			.id = inst->id, .slot = inst->slot, .output = SIM_SYNC_OUTPUT};
	}
}

/* Turns a stack of registers: what is on it gets the names of the next places. */
static void turn(struct sim_stream *t, const struct isa_registers *r, int by)
{
	struct sim_origin *const writer = t->writer + r->first_turning, before[ISA_MAX_TURNING];

	memcpy(before, writer, r->n_turning * sizeof(*before));
	for (int i = 0; i < r->n_turning; i++)
		writer[i] = before[(i + by) & (r->n_turning - 1)];
}

static void exchange(struct sim_origin *a, struct sim_origin *b)
{
	const struct sim_origin held = *a;

	*a = *b;
	*b = held;
}

static void write_registers(struct sim_stream *t, const struct sim_instance *inst)
{
	enum { FEW = 3 }; /* most have no more: a register and flags */
	const struct sim_insn *insn = inst->insn;
	struct sim_origin self = {.id = inst->id, .slot = inst->slot};

	if (inst->is_alias) {
		t->writer[insn->output_key[0]] = inst->from;
		return;
	}
	for (unsigned o = 0; o < FEW; o++) {
		self.output = (uint8_t)o;
		t->writer[insn->output_key[o]] = self;
	}
	for (unsigned o = FEW; o < insn->n_outputs; o++) {
		self.output = (uint8_t)o;
		t->writer[insn->output_key[o]] = self;
	}
}

void sim_stream_write(struct sim_state *s, const struct sim_instance *inst)
{
	const struct sim_insn *insn = inst->insn;

	/* What an instruction puts on the stack is there when it writes. */
	if (insn->turn < 0)
		turn(s->stream, s->registers, insn->turn);
	write_registers(s->stream, inst);
	if (insn->exchanges)
		exchange(&s->stream->writer[insn->exchanged[0]],
			 &s->stream->writer[insn->exchanged[1]]);
	if (insn->turn > 0)
		turn(s->stream, s->registers, insn->turn);
}

void sim_stream_init(struct sim_state *s, struct sim_stream *t, const struct tact_arch *arch)
{
	sim_init(s, arch);
	s->stream = t;
	s->source = BLOCK_FROM_DSB;
	for (unsigned k = 0; k <= SIM_KEYS; k++)
		t->writer[k].id = SIM_NO_ID;
	for (unsigned i = 0; i < SIM_GRANULES; i++)
		t->stores[i].id = SIM_NO_ID;
	for (unsigned i = 0; i < SIM_LOW; i++)
		t->low[i].id = SIM_NO_ID;
	t->follows_low = arch->params.alias_cycles > 0;
	t->renamed_sure = (uint8_t)arch->params.store_renamed_sure;
	sim_memory_init(&t->memory, &arch->params);
}

int sim_stream_reserve(struct sim_stream *t, size_t n)
{
	size_t capacity = t->access_capacity ? t->access_capacity : 64,
	       needed = (size_t)(t->n_accesses - t->kept_access) + n;
	struct sim_access *ring;

	if (needed <= t->access_capacity)
		return 0;
	while (capacity < needed)
		capacity *= 2;
	ring = calloc(capacity, sizeof(*ring));
	if (!ring)
		return -TACT_E_NOMEM;
	for (uint64_t a = t->kept_access; a < t->n_accesses; a++)
		ring[a & (capacity - 1)] = t->accesses[a & (t->access_capacity - 1)];
	free(t->accesses);
	t->accesses = ring;
	t->access_capacity = capacity;
	return 0;
}

/* The blocks of a large program do not stay in the caches near the CPU: what this one needs is
 * prefetched while older blocks run.  For a long block, only the first part.
 */
static void fetch_ahead(const struct sim_program *p)
{
	enum { LINE = 64, LINES = 8, MOST = 4096 };

	/* Eight lines at a time: the number of rounds is easier to predict, and a few too many do
	 * no harm.
	 */
	for (size_t at = 0; at < p->hot_size && at < MOST; at += LINES * LINE)
		for (size_t i = 0; i < LINES; i++)
			__builtin_prefetch((const char *)p->memory + at + i * LINE, 1, 2);
}

void sim_stream_feed(struct sim_stream *t, const struct sim_feed *feed)
{
	const struct sim_feed *before = &t->feeds[(t->n_feeds - 1) & (SIM_FEEDS - 1)];
	struct sim_feed *f = &t->feeds[t->n_feeds & (SIM_FEEDS - 1)];

	fetch_ahead(feed->program);
	if (t->follows_trips && t->n_feeds && t->n_feeds >= t->wrong.first_known)
		sim_wrong_path_learn(&t->wrong, before->program, before->address, feed->address);
	t->n_feeds++;
	*f = *feed;
	f->first_access = t->n_accesses;
	f->first_instance = t->n_instances;
	t->n_accesses += feed->n_accesses;
	t->n_instances += (uint32_t)feed->program->n_insns;
}

/* ---- long streams ---- */

int32_t sim_stream_skip(struct sim_state *s)
{
	/* Whole rounds of the rings that are indexed by the clock. */
	const int32_t by = (s->held_until - s->clock - 1) / SIM_CALENDAR * SIM_CALENDAR;

	if (by <= 0 || s->rob_count != 1 || s->rs_count || s->vec_count || s->vec_queued)
		return 0;
	if (sim_feed_of(s, s->rob[s->rob_head].id)->stalls)
		sim_feed_of(s, s->rob[s->rob_head].id)->stalls[SIM_STALL_STRINGS] += (uint64_t)by;
	s->clock += by;
	return by;
}

/* Long ago is long ago: keeps values that are never used again from running below zero. */
static void move_back(int32_t *cycle, int32_t by)
{
	const int32_t long_ago = -(1 << 20);

	if (*cycle != SIM_NEVER)
		*cycle = *cycle - by < long_ago ? long_ago : *cycle - by;
}

void sim_stream_rebase(struct sim_state *s, int32_t by)
{
	s->clock -= by;
	s->stream->wrong.is_open = false;
	s->last_retired -= by;
	s->next_iteration_at = 0;
	move_back(&s->rob_full, by);
	move_back(&s->rs_full, by);
	move_back(&s->serialized, by);
	move_back(&s->divider_free, by);
	move_back(&s->alone_free, by);
	move_back(&s->held_until, by);
	move_back(&s->fenced_until, by);
	move_back(&s->alias_free, by);
	move_back(&s->stores_full, by);
	move_back(&s->stream->last_left, by);
	for (unsigned i = 0; i < SIM_STORES; i++)
		move_back(&s->stream->leaving[i], by);
	sim_memory_rebase(&s->stream->memory, by);
	move_back(&s->stream->ahead.free_at, by);
	s->stream->ahead.filled_at -= by * 100ll;
	for (unsigned i = 0; i < SIM_CODE_LINES; i++)
		move_back(&s->stream->ahead.lines[i].ready, by);
	for (unsigned i = 0; i < SIM_FEEDS; i++)
		if (s->stream->feeds[i].resume_at)
			move_back(&s->stream->feeds[i].resume_at, by);
	for (unsigned i = 0; i < s->iq_count; i++)
		move_back(&s->iq[(s->iq_head + i) & (SIM_IQ - 1)].at, by);
	for (unsigned i = 0; i < s->idq_count; i++)
		move_back(&s->idq[(s->idq_head + i) & (SIM_IDQ - 1)].at, by);
	for (unsigned i = 0; i < s->rob_count; i++)
		move_back(&s->rob[(s->rob_head + i) & (SIM_ROB - 1)].finish, by);
	for (unsigned i = 1; i <= s->rs_used; i++) {
		move_back(&s->rs[i].ready, by);
		move_back(&s->rs[i].issued, by);
	}
	sim_issue_rebase(s, by);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		move_back(&s->ports_free[p], by);
	for (unsigned i = 0; i < SIM_SLOTS; i++) {
		struct sim_instance *inst = &s->slots[i];

		if (s->slot_id[i] == SIM_NO_ID)
			continue;
		for (unsigned o = 0; o < inst->insn->n_outputs; o++)
			move_back(&inst->output[o].ready, by);
		for (unsigned u = 0; u < inst->insn->n_uops; u++)
			move_back(&inst->result[u].ready, by);
		move_back(&inst->sync.ready, by);
		move_back(&inst->stored, by);
		move_back(&inst->data.ready, by);
		move_back(&inst->retired, by);
	}
}
