/* SPDX-License-Identifier: MIT
 *
 * Dispatch, issue, execute, retire, as llvm-mca does them (LLVM, lib/MCA/Stages and
 * lib/MCA/HardwareUnits).
 *
 * Within a cycle: retire what had executed before, issue what is ready and finds its ports free,
 * dispatch.  So an instruction that is dispatched in cycle 0 issues in cycle 1 at the earliest, has
 * executed in 1 + latency and retires in 2 + latency.  Cycles in which nothing can happen are
 * skipped.
 *
 * What is ready is a bit in a ring of words, in program order; what becomes ready later is in a
 * calendar; what waits for a producer is linked to it.
 */
#include <string.h>

#include "mca/mca.h"

/* Inputs of an instruction, and the state of memory. */
enum { MAX_READS = LOWERED_MAX_IN + 1 };

static uint32_t ring_capacity(unsigned reorder_buffer)
{
	uint32_t capacity = 64;

	while (capacity < reorder_buffer)
		capacity *= 2;
	return capacity;
}

size_t mca_machine_size(unsigned reorder_buffer)
{
	uint32_t capacity = ring_capacity(reorder_buffer);
	size_t size = capacity * sizeof(struct mca_flight) +
		      (TACT_MCA_PORTS + 2) * (capacity / 64) * sizeof(uint64_t) +
		      (size_t)reorder_buffer * MAX_READS * sizeof(struct mca_link);

	return (size + 7) / 8 * 8;
}

void mca_machine_init(struct mca_machine *m, void *memory, unsigned dispatch_width,
		      unsigned reorder_buffer, uint64_t *writer)
{
	uint64_t *words;

	memset(m, 0, sizeof(*m));
	m->dispatch_width = m->entries = dispatch_width;
	m->reorder_buffer = m->rob_free = reorder_buffer;
	m->marked = MCA_NEVER;
	m->writer = writer;
	m->mask = ring_capacity(reorder_buffer) - 1;
	m->n_words = (m->mask + 1) / 64;
	m->n_links = reorder_buffer * MAX_READS;
	m->free_link = MCA_NONE;
	memset(m->calendar, 0xff, sizeof(m->calendar)); /* MCA_NONE */
	m->flights = memory;
	words = (uint64_t *)(m->flights + m->mask + 1);
	m->ready = words;
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		m->uses[p] = words + (1 + p) * m->n_words;
	m->candidates = words + (1 + TACT_MCA_PORTS) * m->n_words;
	memset(words, 0, (2 + TACT_MCA_PORTS) * m->n_words * sizeof(*words));
	m->links = (struct mca_link *)(words + (2 + TACT_MCA_PORTS) * m->n_words);
}

/* ---- waiting ---- */

static void set_ready(struct mca_machine *m, uint32_t slot)
{
	unsigned ports = m->flights[slot].form->ports;
	uint64_t bit = 1ull << (slot % 64);
	uint32_t word = slot / 64;

	m->ready[word] |= bit;
	m->n_ready++;
	if (!(ports & m->busy))
		m->candidates[word] |= bit; /* seen only by an issue stage that is in progress */
	for (; ports; ports &= ports - 1)
		m->uses[__builtin_ctz(ports)][word] |= bit;
}

static void clear_ready(struct mca_machine *m, uint32_t slot)
{
	unsigned ports = m->flights[slot].form->ports;
	uint64_t bit = 1ull << (slot % 64);
	uint32_t word = slot / 64;

	m->ready[word] &= ~bit;
	m->candidates[word] &= ~bit;
	m->n_ready--;
	for (; ports; ports &= ports - 1)
		m->uses[__builtin_ctz(ports)][word] &= ~bit;
}

/* All producers have issued: the time is known.  Up to `limit` it counts as ready now. */
static void schedule(struct mca_machine *m, uint32_t slot, uint64_t limit)
{
	struct mca_flight *f = &m->flights[slot];
	unsigned bucket = f->ready % MCA_CALENDAR;

	if (f->ready <= limit) {
		set_ready(m, slot);
		return;
	}
	f->next = m->calendar[bucket];
	m->calendar[bucket] = slot;
	m->occupied |= 1ull << bucket;
}

/* Takes those of this cycle's bucket that are ready; the others belong to a later turn of the
 * calendar.
 */
static void turn_calendar(struct mca_machine *m)
{
	unsigned bucket = m->now % MCA_CALENDAR;
	uint32_t slot = m->calendar[bucket], next;

	if (slot == MCA_NONE)
		return;
	m->calendar[bucket] = MCA_NONE;
	m->occupied &= ~(1ull << bucket);
	for (; slot != MCA_NONE; slot = next) {
		next = m->flights[slot].next;
		schedule(m, slot, m->now);
	}
}

/* There is a link: what waits has not retired, so it holds an entry of the reorder buffer or more (no
 * instruction has fewer micro-ops than one, see mca_params.c), and it waits for MAX_READS producers
 * at most, each of which takes one link (mca_code.c: inputs of the instruction, and memory).
 */
static void wait_for(struct mca_machine *m, uint32_t producer, uint32_t consumer, uint32_t advance)
{
	struct mca_flight *p = &m->flights[producer];
	uint32_t link = m->free_link;

	if (link == MCA_NONE)
		link = m->used_links++;
	else
		m->free_link = m->links[link].next;
	m->links[link] = (struct mca_link){p->waiters, consumer, advance};
	p->waiters = link;
	p->users++;
	if (p->users > m->most_users)
		m->most_users = p->users;
	m->flights[consumer].waiting++;
}

/* ReadAdvance shortens a dependence, but not below zero (LLVM, WriteState::onInstructionIssued). */
static uint64_t available(const struct mca_flight *producer, uint32_t advance)
{
	uint32_t latency = producer->form->latency;

	return producer->done - (advance < latency ? advance : latency);
}

static void wake(struct mca_machine *m, struct mca_flight *producer)
{
	uint32_t link = producer->waiters, next;

	for (; link != MCA_NONE; link = next) {
		struct mca_link *l = &m->links[link];
		struct mca_flight *consumer = &m->flights[l->consumer];
		uint64_t at = available(producer, l->advance);

		if (at > consumer->ready)
			consumer->ready = at;
		if (!--consumer->waiting)
			schedule(m, l->consumer, m->now);
		next = l->next;
		l->next = m->free_link;
		m->free_link = link;
	}
	producer->waiters = MCA_NONE;
}

/* ---- issue ---- */

static void free_ports(struct mca_machine *m)
{
	for (unsigned left = m->busy; left; left &= left - 1) {
		unsigned p = (unsigned)__builtin_ctz(left);

		if (m->port_free[p] <= m->now)
			m->busy &= ~(1u << p);
	}
}

static void take_ports(struct mca_machine *m, const struct mca_form *form)
{
	for (unsigned left = form->ports; left; left &= left - 1) {
		unsigned p = (unsigned)__builtin_ctz(left);

		m->port_free[p] = m->now + form->port[p];
		for (uint32_t w = 0; w < m->n_words; w++)
			m->candidates[w] &= ~m->uses[p][w];
	}
	m->busy |= form->ports;
}

static void find_candidates(struct mca_machine *m)
{
	memcpy(m->candidates, m->ready, m->n_words * sizeof(*m->ready));
	for (unsigned left = m->busy; left; left &= left - 1)
		for (uint32_t w = 0; w < m->n_words; w++)
			m->candidates[w] &= ~m->uses[__builtin_ctz(left)][w];
}

/* Takes the better one of *best and the candidates of `bits`, which belong to the instructions from
 * `first` on.  Returns false when no later one can be better.
 */
static bool look_at(const struct mca_machine *m, uint64_t bits, uint64_t first, int64_t *rank,
		    uint64_t *best)
{
	for (; bits; bits &= bits - 1) {
		uint64_t number = first + (unsigned)__builtin_ctzll(bits);
		int64_t its;

		if ((int64_t)number - (int64_t)m->most_users >= *rank)
			return false;
		its = (int64_t)number - m->flights[number & m->mask].users;
		if (its < *rank) {
			*rank = its;
			*best = number;
		}
	}
	return true;
}

/* Finds the oldest candidate, where each operand that waits for an instruction makes it older by
 * one (LLVM, DefaultSchedulerStrategy::computeRank).  Returns MCA_NEVER if there is none.
 */
static uint64_t select_candidate(const struct mca_machine *m)
{
	uint32_t offset = m->head % 64, word = (m->head & m->mask) / 64;
	uint64_t first = m->head - offset, low = (1ull << offset) - 1;
	uint64_t best = MCA_NEVER, bits = m->candidates[word] & ~low;
	int64_t rank = INT64_MAX;

	while (look_at(m, bits, first, &rank, &best)) {
		first += 64;
		if (first >= m->tail)
			break;
		word = word + 1 == m->n_words ? 0 : word + 1;
		bits = m->candidates[word];
		if (first + 64 > m->head + m->mask + 1)
			bits &= low; /* the youngest share a word with the oldest */
	}
	return best;
}

static void issue(struct mca_machine *m, struct mca_flight *f)
{
	f->done = m->now + f->form->latency;
	m->n_unissued--;
	take_ports(m, f->form);
	if (f->waiters != MCA_NONE)
		wake(m, f);
}

static void issue_stage(struct mca_machine *m)
{
	uint64_t number;

	m->fresh = false;
	if (!m->n_ready)
		return;
	free_ports(m);
	find_candidates(m);
	while (m->n_ready && (number = select_candidate(m)) != MCA_NEVER) {
		clear_ready(m, (uint32_t)(number & m->mask));
		issue(m, &m->flights[number & m->mask]);
	}
}

/* ---- retire ---- */

static void retire_stage(struct mca_machine *m)
{
	while (m->head < m->tail) {
		const struct mca_flight *f = &m->flights[m->head & m->mask];

		if (f->done >= m->now) /* or has not issued */
			return;
		if (f->done >= m->retired_at)
			m->retired_at = f->done + 1;
		if (m->head == m->marked)
			m->mark_at = m->retired_at;
		m->rob_free += f->entries;
		m->head++;
	}
}

/* ---- dispatch ---- */

static void connect(struct mca_machine *m, uint32_t slot, const struct mca_insn *insn,
		    const struct mca_operand *operand)
{
	struct mca_flight *f = &m->flights[slot];

	for (unsigned k = 0; k < insn->n_reads; k++, operand++) {
		uint64_t writer = m->writer[operand->key];
		uint32_t advance = f->form->read_advance[operand->advance];
		struct mca_flight *producer;

		if (writer <= m->head)
			continue; /* none, or it has retired */
		producer = &m->flights[(writer - 1) & m->mask];
		if (producer->done == MCA_NEVER) {
			wait_for(m, (uint32_t)((writer - 1) & m->mask), slot, advance);
		} else {
			uint64_t at = available(producer, advance);

			if (at > f->ready)
				f->ready = at;
		}
	}
	for (unsigned k = 0; k < insn->n_writes; k++, operand++)
		m->writer[operand->key] = m->tail + 1;
}

static void dispatch(struct mca_machine *m, const struct mca_code *code,
		     const struct mca_insn *insn, const struct mca_form *form, unsigned rob_entries)
{
	uint32_t slot = (uint32_t)(m->tail & m->mask);
	struct mca_flight *f = &m->flights[slot];

	f->done = MCA_NEVER;
	f->ready = 0;
	f->form = form;
	f->waiters = MCA_NONE;
	f->waiting = 0;
	f->entries = (uint16_t)rob_entries;
	f->users = 0;
	connect(m, slot, insn, code->operands + insn->first);
	m->tail++;
	m->rob_free -= rob_entries;
	m->n_unissued++;
	if (f->waiting)
		return;
	if (!form->latency && !form->ports && f->ready <= m->now) {
		issue(m, f); /* at once (LLVM, Scheduler::mustIssueImmediately) */
		return;
	}
	/* This cycle's issue stage is over. */
	m->fresh |= f->ready <= m->now + 1;
	schedule(m, slot, m->now + 1);
}

/* Takes dispatch slots.  An instruction with more micro-ops than the width begins a group and
 * blocks the following cycles, the last one perhaps in part (LLVM, DispatchStage::cycleStart).
 */
static void take_entries(struct mca_machine *m, unsigned micro_ops)
{
	unsigned carried;

	if (micro_ops <= m->dispatch_width) {
		m->entries -= micro_ops;
		return;
	}
	carried = micro_ops - m->dispatch_width;
	m->dispatch_at = m->now + 1 + carried / m->dispatch_width;
	m->entries = m->dispatch_width - carried % m->dispatch_width;
}

static bool try_dispatch(struct mca_machine *m, const struct mca_code *code,
			 const struct mca_insn *insn, const struct mca_form *forms)
{
	const struct mca_form *form = &forms[insn->form];
	unsigned micro_ops = form->micro_ops;
	unsigned needed = micro_ops < m->dispatch_width ? micro_ops : m->dispatch_width;
	unsigned room = micro_ops < m->reorder_buffer ? micro_ops : m->reorder_buffer;

	if (m->dispatch_at > m->now || needed > m->entries)
		return false;
	m->rob_full = room > m->rob_free;
	if (m->rob_full)
		return false;
	take_entries(m, micro_ops);
	dispatch(m, code, insn, form, room);
	return true;
}

/* ---- time ---- */

/* Returns the next cycle in which a port becomes free, for instructions that wait for one. */
static uint64_t next_port(const struct mca_machine *m)
{
	uint64_t next = MCA_NEVER;

	for (unsigned left = m->n_ready ? m->busy : 0; left; left &= left - 1) {
		uint64_t at = m->port_free[__builtin_ctz(left)];

		if (at < next && at > m->now)
			next = at;
	}
	return next;
}

/* Returns the next cycle in which dispatch can continue. */
static uint64_t next_dispatch(const struct mca_machine *m)
{
	uint64_t done;

	if (!m->rob_full)
		return m->dispatch_at > m->now ? m->dispatch_at : m->now + 1;
	done = m->flights[m->head & m->mask].done;
	return done == MCA_NEVER ? done : done + 1;
}

/* Returns the earliest cycle of the calendar, or `limit` if there is none before it.  A bucket may
 * hold instructions of later turns.
 */
static uint64_t next_ready(const struct mca_machine *m, uint64_t limit)
{
	unsigned turn = (m->now + 1) % MCA_CALENDAR;
	uint64_t ahead = m->occupied >> turn | m->occupied << (-turn % MCA_CALENDAR);

	for (; ahead; ahead &= ahead - 1) {
		uint64_t at = m->now + 1 + (unsigned)__builtin_ctzll(ahead);

		if (at >= limit)
			break;
		for (uint32_t slot = m->calendar[at % MCA_CALENDAR]; slot != MCA_NONE;
		     slot = m->flights[slot].next)
			if (m->flights[slot].ready < limit)
				limit = m->flights[slot].ready;
	}
	return limit;
}

/* Returns the next cycle in which something can happen; there is one, and it is later than now.
 * Where something can be dispatched, that is the next cycle.  Where the buffer is full, or nothing more
 * comes, the oldest instruction has issued, is ready or is in the calendar, as all that it waits for
 * has retired.  If it has issued, retirement has not come to it yet, and the time at which it will is
 * next_dispatch's; if it is ready, it lacks a port, and next_port has the time of that; and the
 * calendar is next_ready's.  Each of them returns times after now only.
 */
static uint64_t next_event(const struct mca_machine *m, bool more)
{
	uint64_t next = more ? next_dispatch(m) : MCA_NEVER, port;

	if (m->fresh || next == m->now + 1)
		return m->now + 1;
	port = next_port(m);
	return next_ready(m, port < next ? port : next);
}

static void advance(struct mca_machine *m, bool more)
{
	uint64_t next = next_event(m, more);

	m->now = next;
	if (m->dispatch_at < next) {
		m->dispatch_at = next;
		m->entries = m->dispatch_width;
	}
	retire_stage(m);
	turn_calendar(m);
	issue_stage(m);
}

void mca_machine_feed(struct mca_machine *m, const struct mca_code *code,
		      const struct mca_form *forms)
{
	for (uint32_t i = 0; i < code->n_insns;) {
		if (try_dispatch(m, code, &code->insns[i], forms))
			i++;
		else
			advance(m, true);
	}
}

uint64_t mca_machine_drain(struct mca_machine *m)
{
	if (!m->tail)
		return 0;
	while (m->n_unissued)
		advance(m, false);
	m->now = MCA_NEVER;
	retire_stage(m);
	return m->retired_at + 1;
}
