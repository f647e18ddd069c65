/* SPDX-License-Identifier: MIT
 *
 * Out of order, as llvm-mca's stages do it.  A cycle begins with retirement, then what has executed,
 * then issue, and ends with dispatch.
 */
#include <string.h>

#include "mca/mca_facts.h"

/* ---- waiting for operands ---- */

static void set_ready(struct facts_flight *f, int32_t cycle)
{
	if (cycle > f->ready)
		f->ready = cycle;
}

/* Waits until a write of `producer` is issued. */
static void wait_for(struct facts_machine *m, struct facts_flight *f, struct facts_flight *producer,
		     uint32_t write, int advance)
{
	uint32_t link = m->free_link;

	if (link)
		m->free_link = m->links[link - 1].next;
	else if (m->used_links < FACTS_LINKS)
		link = ++m->used_links;
	else
		return;
	m->links[link - 1] = (struct facts_link){producer->waiters, f->number, write, advance};
	producer->waiters = link;
	producer->n_users++;
	f->missing++;
}

/* `f` reads what `w` of `producer` writes. */
static void connect(struct facts_machine *m, struct facts_flight *f, struct facts_flight *producer,
		    const struct facts_read *read, uint32_t write)
{
	const struct facts_write *w = &m->code->writes[write];
	const int advance = facts_delay(read, w);

	if (producer->issued != FACTS_NEVER) {
		int32_t left = producer->issued + w->latency - m->now;

		/* What has executed counts down no further. */
		if (producer->is_executed)
			left = (int32_t)w->latency - producer->insn->latency;
		left -= advance;
		set_ready(f, m->now + (left > 0 ? left : 0));
		return;
	}
	wait_for(m, f, producer, write, advance);
}

static bool is_written_before(const struct facts_machine *m, const struct facts_insn *insn,
			      unsigned i)
{
	const uint16_t key = m->code->keys[m->code->writes[insn->first_write + i].first_key];

	for (unsigned k = 0; k < i; k++)
		if (m->code->keys[m->code->writes[insn->first_write + k].first_key] == key)
			return true;
	return false;
}

/* A part that is written is not complete before what it is a part of. */
static void connect_parts(struct facts_machine *m, struct facts_flight *f)
{
	for (unsigned i = 0; i < f->insn->n_writes; i++) {
		const struct facts_write *own = &m->code->writes[f->insn->first_write + i];
		const int sooner = own->latency ? own->latency - 1 : 0;
		struct facts_writer w;
		struct facts_flight *producer;
		int32_t left;

		if (!own->is_part || is_written_before(m, f->insn, i))
			continue;
		w = m->writers[m->code->keys[own->first_key]];
		producer = facts_flight(m, w.number - 1);
		if (!w.number || producer->number != w.number - 1 || w.number - 1 < m->head ||
		    producer == f)
			continue;
		if (producer->issued == FACTS_NEVER) {
			wait_for(m, f, producer, w.write, sooner);
			continue;
		}
		left = producer->issued + m->code->writes[w.write].latency - m->now;
		left = producer->is_executed || left < 0 ? 0 : left;
		set_ready(f, m->now + (left > sooner ? left - sooner : 0));
	}
}

/* A register that was written by what has retired may still come late (a negative advance). */
static void connect_retired(struct facts_machine *m, struct facts_flight *f,
			    const struct facts_flight *producer, const struct facts_read *read,
			    uint32_t write)
{
	const int late = -facts_delay(read, &m->code->writes[write]);
	const int32_t elapsed = m->now - (producer->issued + producer->insn->latency);

	if (late > elapsed)
		set_ready(f, m->now + late - elapsed);
}

/* Finds the keys of a register, or of the one that a move has made the same. */
static unsigned keys_of(const struct facts_machine *m, const struct facts_read *read,
			uint32_t *first)
{
	const uint16_t same_as = m->files.names[read->reg].same_as;

	*first = same_as ? m->code->wholes[same_as].first_key : read->first_key;
	return same_as ? m->code->wholes[same_as].n_keys : read->n_keys;
}

static void read_operand(struct facts_machine *m, struct facts_flight *f,
			 const struct facts_read *read)
{
	struct facts_writer seen[32];
	uint32_t first;
	const unsigned n_keys = keys_of(m, read, &first);
	unsigned n = 0;

	for (unsigned k = 0; k < n_keys; k++) {
		const struct facts_writer w = m->writers[m->code->keys[first + k]];
		struct facts_flight *producer = facts_flight(m, w.number - 1);
		unsigned i = 0;

		if (!w.number || producer->number != w.number - 1)
			continue;
		while (i < n && (seen[i].number != w.number || seen[i].write != w.write))
			i++;
		if (i < n)
			continue;
		if (n < ARRAY_SIZE(seen))
			seen[n++] = w;
		if (w.number - 1 < m->head)
			connect_retired(m, f, producer, read, w.write);
		else
			connect(m, f, producer, read, w.write);
	}
}

void facts_note_writes(struct facts_machine *m, const struct facts_insn *insn, uint32_t number)
{
	for (unsigned i = 0; i < insn->n_writes; i++) {
		const uint32_t write = insn->first_write + i;
		const struct facts_write *w = &m->code->writes[write];
		const struct facts_writer *own = &m->writers[m->code->keys[w->first_key]];

		/* Of several results in one register, the slowest counts. */
		if (own->number == number + 1 && m->code->writes[own->write].latency > w->latency)
			continue;
		for (unsigned k = 0; k < w->n_keys; k++)
			m->writers[m->code->keys[w->first_key + k]] =
				(struct facts_writer){number + 1, write};
	}
}

/* ---- issue ---- */

static bool has_order(const struct facts_flight *f)
{
	return f->insn->facts->loads || f->insn->facts->stores;
}

static void finish(struct facts_machine *m, struct facts_flight *f)
{
	f->is_executed = true;
	f->executed = m->now;
	if (has_order(f))
		order_finish(&m->order, f->group);
}

static void tell_waiters(struct facts_machine *m, struct facts_flight *f)
{
	uint32_t next;

	for (uint32_t link = f->waiters; link; link = next) {
		struct facts_link *l = &m->links[link - 1];
		struct facts_flight *consumer = facts_flight(m, l->consumer);
		const int32_t left = (int32_t)m->code->writes[l->write].latency - l->advance;

		set_ready(consumer, m->now + (left > 0 ? left : 0));
		consumer->missing--;
		next = l->next;
		l->next = m->free_link;
		m->free_link = link;
	}
	f->waiters = 0;
}

static void issue(struct facts_machine *m, struct facts_flight *f)
{
	units_leave_room(&m->units, f->insn->facts->buffers);
	units_issue(&m->units, &f->insn->demand);
	f->issued = m->now;
	tell_waiters(m, f);
	if (has_order(f))
		order_start(&m->order, f->group);
	if (f->insn->latency)
		m->running[m->n_running++] = f->number;
	else
		finish(m, f);
}

static bool is_ready(const struct facts_machine *m, const struct facts_flight *f)
{
	return !f->missing && f->ready <= m->now &&
	       (!has_order(f) || order_is_ready(&m->order, f->group));
}

/* Old ones come first, and those that many wait for. */
static int64_t rank_of(const struct facts_flight *f)
{
	return (int64_t)f->number - f->n_users;
}

static bool comes_before(const struct facts_flight *a, const struct facts_flight *b)
{
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b);
	return a->number < b->number;
}

/* Returns the place in `waiting` of what is issued next, or n_waiting. */
static unsigned select_next(struct facts_machine *m)
{
	unsigned best = m->n_waiting;

	for (unsigned i = 0; i < m->n_waiting; i++) {
		const struct facts_flight *f = facts_flight(m, m->waiting[i]);

		if (!is_ready(m, f))
			continue;
		if (best < m->n_waiting && !comes_before(f, facts_flight(m, m->waiting[best])))
			continue;
		if (units_are_free(&m->units, &f->insn->demand))
			best = i;
	}
	return best;
}

static void issue_stage(struct facts_machine *m)
{
	unsigned i, kept = 0;

	units_cycle(&m->units);
	for (i = 0; i < m->n_running; i++) {
		struct facts_flight *f = facts_flight(m, m->running[i]);

		if (f->issued + f->insn->latency > m->now)
			m->running[kept++] = f->number;
		else
			finish(m, f);
	}
	m->n_running = kept;
	while ((i = select_next(m)) < m->n_waiting) {
		struct facts_flight *f = facts_flight(m, m->waiting[i]);

		m->waiting[i] = m->waiting[--m->n_waiting];
		issue(m, f);
	}
}

/* ---- retirement and dispatch ---- */

static void retire_stage(struct facts_machine *m)
{
	unsigned n = 0;

	while (m->head < m->tail && (!m->info->retire_width || n < m->info->retire_width)) {
		const struct facts_flight *f = facts_flight(m, m->head);

		if (!f->is_executed)
			return;
		if (has_order(f))
			order_retire(&m->order, f->insn->facts);
		files_leave(m, f);
		facts_tell(m, f);
		m->free_entries += f->entries;
		m->ended_at = m->now;
		if (m->head == m->marked)
			m->marked_at = m->now;
		m->head++;
		n++;
	}
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool can_dispatch(const struct facts_machine *m, const struct facts_insn *insn)
{
	const struct llvm_facts *facts = insn->facts;
	const unsigned width = m->info->issue_width, needed = least(facts->micro_ops, width),
		       entries = least(facts->micro_ops, m->info->reorder_buffer);

	return m->entries && needed <= m->entries &&
	       (!facts->begins_group || m->entries == width) &&
	       m->free_entries >= (entries ? entries : 1) && files_have_room(m, insn) &&
	       units_have_room(&m->units, facts->buffers) && order_has_room(&m->order, facts) &&
	       m->tail - m->head < FACTS_FLIGHTS / 2;
}

static void take_slots(struct facts_machine *m, const struct llvm_facts *facts)
{
	const unsigned width = m->info->issue_width;

	if (facts->micro_ops > width) {
		m->entries = 0;
		m->carried = facts->micro_ops - width;
	} else {
		m->entries -= facts->micro_ops;
	}
	if (facts->ends_group)
		m->entries = 0;
}

static void dispatch(struct facts_machine *m, const struct facts_insn *insn)
{
	struct facts_flight *f = facts_flight(m, m->tail);
	const unsigned entries = least(insn->facts->micro_ops, m->info->reorder_buffer);

	*f = (struct facts_flight){.insn = insn,
				   .number = m->tail,
				   .dispatched = m->now,
				   .issued = FACTS_NEVER,
				   .ready = m->now,
				   .entries = (uint16_t)(entries ? entries : 1)};
	take_slots(m, insn->facts);
	m->free_entries -= f->entries;
	m->tail++;
	f->is_eliminated = insn->facts->is_move && files_eliminate(m, insn);
	if (f->is_eliminated) {
		f->is_executed = true;
		f->executed = m->now;
		return;
	}
	for (unsigned i = 0; i < insn->n_reads; i++)
		read_operand(m, f, &m->code->reads[insn->first_read + i]);
	connect_parts(m, f);
	files_take(m, f);
	facts_note_writes(m, insn, f->number);
	units_take_room(&m->units, insn->facts->buffers);
	if (has_order(f))
		f->group = order_dispatch(&m->order, insn->facts);
	if (insn->facts->must_issue && is_ready(m, f))
		issue(m, f);
	else
		m->waiting[m->n_waiting++] = f->number;
}

static void begin_dispatch(struct facts_machine *m)
{
	const unsigned width = m->info->issue_width;
	const unsigned carried = least(m->carried, width);

	m->entries = width - carried;
	m->carried -= carried;
}

void facts_run_window(struct facts_machine *m)
{
	for (m->now = 0; m->head < m->limit; m->now++) {
		files_cycle(m);
		retire_stage(m);
		issue_stage(m);
		begin_dispatch(m);
		while (m->tail < m->limit) {
			const struct facts_insn *insn = &m->code->insns[m->tail % m->code->n_insns];

			if (!can_dispatch(m, insn))
				break;
			dispatch(m, insn);
		}
	}
}
