/* SPDX-License-Identifier: MIT
 *
 * A stream: different blocks one behind the other.  What is static for a block that repeats is
 * found here when an instance is renamed: which one wrote a register last, which store a load
 * meets.
 */
#include <stdlib.h>

#include "sim/sim.h"

enum {
	GRANULE = 8,
	MAX_GRANULES = 64, /* of one access; longer ones are cut */
	LOOK_AHEAD = 64	   /* blocks that wait to be fetched: more than a cycle can take */
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

/* The youngest store to any byte's granule; `found` stays if there is none younger. */
static void find_store(const struct sim_stream *t, const struct sim_access *a,
		       struct sim_origin *found)
{
	uint64_t granule = a->address / GRANULE;

	for (unsigned n = count_granules(a); n--; granule++) {
		unsigned at = store_slot(granule);

		if (t->stores[at].granule != granule || t->stores[at].store.id == SIM_NO_ID ||
		    t->stores[at].address >= a->address + a->size ||
		    t->stores[at].address + t->stores[at].size <= a->address ||
		    (found->id != SIM_NO_ID && t->stores[at].store.id <= found->id))
			continue;
		*found = t->stores[at].store;
		found->is_blocked =
			t->stores[at].address > a->address ||
			t->stores[at].address + t->stores[at].size < a->address + a->size;
	}
}

static void remember_store(struct sim_stream *t, const struct sim_access *a,
			   struct sim_origin store)
{
	uint64_t granule = a->address / GRANULE;

	for (unsigned n = count_granules(a); n--; granule++) {
		unsigned at = store_slot(granule);

		t->stores[at].granule = granule;
		t->stores[at].address = a->address;
		t->stores[at].size = a->size;
		t->stores[at].store = store;
	}
}

/* Accesses of an instruction; they are in the ring in the order of instructions. */
static void connect_accesses(struct sim_stream *t, const struct sim_feed *feed,
			     const struct sim_insn *insn, uint64_t id, struct sim_origin *loaded,
			     uint16_t *extra)
{
	uint64_t end = feed->first_access + feed->n_accesses;
	struct sim_origin self = {.id = id};

	while (self.output < insn->n_outputs && !(insn->memory_outputs >> self.output & 1))
		self.output++;
	if (t->next_access < feed->first_access)
		t->next_access = feed->first_access;
	for (; t->next_access < end; t->next_access++) {
		const struct sim_access *a =
			&t->accesses[t->next_access & (t->access_capacity - 1)];

		if (a->insn > insn->insn + insn->is_pair)
			break;
		if (a->insn < insn->insn)
			continue;
		if (!a->is_store) {
			find_store(t, a, loaded);
			if (a->extra > *extra)
				*extra = a->extra;
		}
		if (a->is_store && self.output < insn->n_outputs)
			remember_store(t, a, self);
	}
}

/* Without addresses: the store of the same execution of the block that the load meets. */
static struct sim_origin static_store(const struct sim_feed *feed, const struct sim_input *in,
				      uint64_t id)
{
	const struct block_node *node = &in->node;
	struct sim_origin none = {.id = SIM_NO_ID};

	if (node->producer == BLOCK_NO_PRODUCER || node->iterations)
		return none;
	return (struct sim_origin){.id = sim_iteration(id) << SIM_NUMBER_BITS |
					 feed->program->raws[node->producer].insn,
				   .output = node->output,
				   .is_blocked = node->is_blocked};
}

void sim_stream_connect(struct sim_state *s, uint64_t id, const struct sim_insn *insn)
{
	struct sim_stream *t = s->stream;
	const struct sim_feed *feed = sim_feed_of(s, id);
	const struct sim_input *in = feed->program->inputs + insn->first_input;
	struct sim_origin *origin = t->origin[sim_slot(s, id)], loaded = {.id = SIM_NO_ID};

	if (feed->has_accesses)
		connect_accesses(t, feed, insn, id, &loaded, &sim_instance_of(s, id)->extra);
	if (sim_instance_of(s, id)->sync_key == TACT_REG_RSP) {
		t->sync_origin[sim_slot(s, id)] = t->writer[TACT_REG_RSP];
		t->writer[TACT_REG_RSP] = (struct sim_origin){.id = id, .output = SIM_SYNC_OUTPUT};
	}
	for (unsigned k = 0; k < insn->n_inputs; k++) {
		if (in[k].kind != VALUE_MEMORY)
			origin[k] = t->writer[in[k].key];
		else
			origin[k] = feed->has_accesses ? loaded : static_store(feed, &in[k], id);
	}
	for (unsigned o = 0; o < insn->n_outputs; o++)
		if (!(insn->memory_outputs >> o & 1))
			t->writer[insn->output_key[o]] =
				(struct sim_origin){.id = id, .output = (uint8_t)o};
}

void sim_stream_pass_stack(struct sim_state *s, const struct sim_insn *insn)
{
	if (insn->names_rsp || insn->writes_rsp)
		s->stream->rsp_changed = false;
	if (insn->changes_stack)
		s->stream->rsp_changed = true;
}

void sim_stream_init(struct sim_state *s, struct sim_stream *t, const struct arch_params *params)
{
	sim_init(s, params);
	s->stream = t;
	s->source = BLOCK_FROM_DSB;
	for (unsigned k = 0; k < SIM_KEYS; k++)
		t->writer[k].id = SIM_NO_ID;
	for (unsigned i = 0; i < SIM_GRANULES; i++)
		t->stores[i].store.id = SIM_NO_ID;
}

bool sim_stream_has_room(const struct sim_state *s)
{
	uint64_t next = s->source == BLOCK_FROM_MITE ? s->next_raw : s->next_fetch;

	return s->stream->n_feeds < sim_iteration(next) + LOOK_AHEAD;
}

bool sim_stream_is_empty(const struct sim_state *s)
{
	return s->retired == s->stream->n_feeds;
}

int sim_stream_feed(struct sim_state *s, const struct sim_feed *feed,
		    const struct sim_access *accesses)
{
	struct sim_stream *t = s->stream;
	struct sim_feed *f = &t->feeds[t->n_feeds & (SIM_FEEDS - 1)];

	if (t->n_accesses + feed->n_accesses - t->next_access > t->access_capacity) {
		size_t capacity = t->access_capacity ? t->access_capacity : 64;
		struct sim_access *ring;

		while (capacity < t->n_accesses + feed->n_accesses - t->next_access)
			capacity *= 2;
		ring = calloc(capacity, sizeof(*ring));
		if (!ring)
			return -TACT_E_NOMEM;
		for (uint64_t a = t->next_access; a < t->n_accesses; a++)
			ring[a & (capacity - 1)] = t->accesses[a & (t->access_capacity - 1)];
		free(t->accesses);
		t->accesses = ring;
		t->access_capacity = capacity;
	}
	*f = *feed;
	f->first_access = t->n_accesses;
	f->first_instance = t->n_instances;
	for (uint32_t a = 0; a < feed->n_accesses; a++)
		t->accesses[t->n_accesses++ & (t->access_capacity - 1)] = accesses[a];
	t->n_instances += (uint32_t)feed->program->n_insns;
	t->n_feeds++;
	return 0;
}

/* ---- long streams ---- */

/* Long ago is long ago: keeps what is never looked at again from running below zero. */
static void move_back(int32_t *cycle, int32_t by)
{
	const int32_t long_ago = -(1 << 20);

	if (*cycle != SIM_NEVER)
		*cycle = *cycle - by < long_ago ? long_ago : *cycle - by;
}

void sim_stream_rebase(struct sim_state *s, int32_t by)
{
	s->clock -= by;
	s->next_iteration_at = 0;
	move_back(&s->rob_full, by);
	move_back(&s->rs_full, by);
	move_back(&s->serialized, by);
	move_back(&s->divider_free, by);
	move_back(&s->alone_free, by);
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
	for (unsigned i = 0; i < SIM_SLOTS; i++) {
		if (s->slot_id[i] == SIM_NO_ID)
			continue;
		for (unsigned o = 0; o < LOWERED_MAX_OUT; o++)
			move_back(&s->slots[i].output[o], by);
		for (unsigned u = 0; u <= SIM_MAX_UOPS; u++)
			move_back(&s->slots[i].result[u], by);
		move_back(&s->slots[i].stored, by);
		move_back(&s->slots[i].retired, by);
	}
}
