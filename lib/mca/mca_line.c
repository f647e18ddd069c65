/* SPDX-License-Identifier: MIT
 *
 * In order, as llvm-mca does it: an instruction is issued when its operands are ready, its units are
 * free, and its results do not come before those of older ones; one that cannot be issued holds all
 * that follow.
 */
#include "mca/mca_facts.h"

struct line {
	struct facts_machine *m;
	unsigned bandwidth, n_issued;
	unsigned carry; /* micro-ops that are still to be issued */
	bool is_carrying, is_stalled;
	uint32_t carried, stalled; /* numbers of instructions */
	unsigned stall_cycles;
	unsigned write_back; /* cycles until the last result of what was issued */
};

static bool has_order(const struct facts_flight *f)
{
	return f->insn->facts->loads || f->insn->facts->stores;
}

/* Returns the cycles that a read must still wait for one of its writers. */
static int32_t wait_for(struct facts_machine *m, const struct facts_read *read,
			const struct facts_writer *w)
{
	const struct facts_flight *producer = facts_flight(m, w->number - 1);
	const struct facts_write *write;
	int advance;

	if (!w->number || producer->number != w->number - 1)
		return 0;
	write = &m->code->writes[w->write];
	advance = facts_delay(read, write);
	if (producer->is_executed)
		return -advance - (m->now - (producer->issued + producer->insn->latency));
	return producer->issued + write->latency - m->now - advance;
}

/* The first operand that is not ready counts. */
static int32_t find_hazard(struct facts_machine *m, const struct facts_insn *insn)
{
	for (unsigned i = 0; i < insn->n_reads; i++) {
		const struct facts_read *read = &m->code->reads[insn->first_read + i];
		int32_t most = 0;

		for (unsigned k = 0; k < read->n_keys; k++) {
			const int32_t wait =
				wait_for(m, read, &m->writers[m->code->keys[read->first_key + k]]);

			most = wait > most ? wait : most;
		}
		if (most > 0)
			return most;
	}
	return 0;
}

static unsigned first_write_back(const struct facts_machine *m, const struct facts_insn *insn)
{
	unsigned first = insn->latency;

	for (unsigned i = 0; i < insn->n_writes; i++)
		if (m->code->writes[insn->first_write + i].latency < first)
			first = m->code->writes[insn->first_write + i].latency;
	return first;
}

static void stall(struct line *l, uint32_t number, unsigned cycles)
{
	l->is_stalled = true;
	l->stalled = number;
	l->stall_cycles = cycles;
	l->bandwidth = 0;
}

/* Returns the cycles until it may be tried again; 0: it can be issued. */
static unsigned must_wait(const struct line *l, const struct facts_flight *f)
{
	struct facts_machine *m = l->m;
	const int32_t hazard = find_hazard(m, f->insn);

	if (hazard > 0)
		return (unsigned)hazard;
	if (!units_are_free(&m->units, &f->insn->demand))
		return 1;
	if (has_order(f) && !order_is_ready(&m->order, f->group))
		return 1;
	if (l->write_back && !f->insn->facts->retires_early &&
	    first_write_back(m, f->insn) < l->write_back)
		return l->write_back - first_write_back(m, f->insn);
	return 0;
}

static void finish(struct line *l, struct facts_flight *f)
{
	f->is_executed = true;
	f->executed = l->m->now;
	facts_tell(l->m, f);
	if (has_order(f)) {
		order_finish(&l->m->order, f->group);
		order_retire(&l->m->order, f->insn->facts);
	}
	l->m->head++; /* how many; not which */
	if (f->number == l->m->marked)
		l->m->marked_at = l->m->now;
}

static void try_issue(struct line *l, uint32_t number)
{
	struct facts_machine *m = l->m;
	struct facts_flight *f = facts_flight(m, number);
	const struct llvm_facts *facts = f->insn->facts;
	const unsigned wait = must_wait(l, f);
	bool carries;

	if (wait) {
		stall(l, number, wait);
		return;
	}
	facts_note_writes(m, f->insn, number);
	units_issue(&m->units, &f->insn->demand);
	f->dispatched = f->issued = m->now;
	if (has_order(f))
		order_start(&m->order, f->group);
	carries = facts->micro_ops > l->bandwidth;
	if (carries) {
		l->carry = facts->micro_ops - l->bandwidth;
		l->is_carrying = true;
		l->carried = number;
		l->bandwidth = 0;
	} else {
		l->n_issued += facts->micro_ops;
		l->bandwidth = facts->ends_group ? 0 : l->bandwidth - facts->micro_ops;
	}
	if (!f->insn->latency && !carries) {
		finish(l, f);
		return;
	}
	m->running[m->n_running++] = number;
	if (!facts->retires_early)
		l->write_back = f->insn->latency;
}

static bool can_take(const struct line *l, const struct llvm_facts *facts)
{
	if (l->is_stalled || l->is_carrying)
		return false;
	if (l->bandwidth < facts->micro_ops && facts->micro_ops <= l->m->info->issue_width)
		return false;
	return !facts->begins_group || !l->n_issued;
}

static void end_running(struct line *l)
{
	struct facts_machine *m = l->m;
	unsigned kept = 0;

	for (unsigned i = 0; i < m->n_running; i++) {
		struct facts_flight *f = facts_flight(m, m->running[i]);

		if (f->issued + f->insn->latency > m->now)
			m->running[kept++] = f->number;
		else if (!l->is_carrying || l->carried != f->number)
			finish(l, f);
	}
	m->n_running = kept;
}

static void carry_on(struct line *l)
{
	struct facts_flight *f = facts_flight(l->m, l->carried);

	if (!l->is_carrying)
		return;
	if (l->carry > l->bandwidth) {
		l->carry -= l->bandwidth;
		l->bandwidth = 0;
		return;
	}
	l->bandwidth = f->insn->facts->ends_group ? 0 : l->bandwidth - l->carry;
	l->is_carrying = false;
	l->carry = 0;
	if (f->issued + f->insn->latency <= l->m->now)
		finish(l, f);
}

static void begin_cycle(struct line *l)
{
	l->n_issued = 0;
	l->bandwidth = l->m->info->issue_width;
	units_cycle(&l->m->units);
	end_running(l);
	carry_on(l);
	if (!l->is_stalled)
		return;
	if (!l->stall_cycles) {
		l->is_stalled = false;
		try_issue(l, l->stalled);
	}
	if (l->is_stalled)
		l->bandwidth = 0;
}

void facts_run_line(struct facts_machine *m)
{
	struct line l = {.m = m};

	for (m->now = 0; m->tail < m->limit || m->n_running || l.is_stalled || l.is_carrying;
	     m->now++) {
		begin_cycle(&l);
		while (m->tail < m->limit) {
			const struct facts_insn *insn = &m->code->insns[m->tail % m->code->n_insns];
			struct facts_flight *f = facts_flight(m, m->tail);

			if (!can_take(&l, insn->facts))
				break;
			*f = (struct facts_flight){
				.insn = insn, .number = m->tail, .issued = FACTS_NEVER};
			m->tail++;
			if (has_order(f))
				f->group = order_dispatch(&m->order, insn->facts);
			try_issue(&l, f->number);
		}
		l.stall_cycles -= l.is_stalled && l.stall_cycles;
		l.write_back -= l.write_back > 0;
		m->ended_at = m->now;
	}
}
