/* SPDX-License-Identifier: MIT
 *
 * Records of uops for sinks: when each thing happened, and what was waited for.
 */
#include "sim/sim.h"

const char *tact_uop_source_name(enum tact_uop_source source)
{
	static const char *const names[TACT_N_SOURCES] = {"MITE", "DSB", "LSD", "MS", "SE"};

	return (unsigned)source < TACT_N_SOURCES ? names[source] : "unknown";
}

const char *tact_uop_source_name_on(const struct tact_arch *arch, enum tact_uop_source source)
{
	if (arch && !arch->params.front_end && source <= TACT_SOURCE_LSD)
		return "Uops"; /* nobody knows from where */
	if (arch && arch->params.terms == PARAMS_TERMS_AMD && source == TACT_SOURCE_MITE)
		return "Dec";
	if (arch && arch->params.terms == PARAMS_TERMS_AMD && source == TACT_SOURCE_DSB)
		return "OpC";
	return tact_uop_source_name(source);
}

const char *tact_wait_name(enum tact_wait wait)
{
	static const char *const names[TACT_N_WAITS] = {
		[TACT_WAIT_NONE] = "none",	 [TACT_WAIT_PREDECODER] = "predecoder",
		[TACT_WAIT_DECODER] = "decoder", [TACT_WAIT_DSB] = "dsb",
		[TACT_WAIT_LSD] = "lsd",	 [TACT_WAIT_MICROCODE] = "microcode",
		[TACT_WAIT_ISSUE] = "issue",	 [TACT_WAIT_ROB] = "rob",
		[TACT_WAIT_RS] = "rs",		 [TACT_WAIT_SERIALIZE] = "serialize",
		[TACT_WAIT_OPERAND] = "operand", [TACT_WAIT_STORE] = "store",
		[TACT_WAIT_PORT] = "port",	 [TACT_WAIT_DIVIDER] = "divider",
		[TACT_WAIT_RETIRE] = "retire",	 [TACT_WAIT_ORDER] = "order",
	};

	return (unsigned)wait < TACT_N_WAITS ? names[wait] : "unknown";
}

static struct tact_sim_uop *record_at(struct sim_state *s, uint16_t index)
{
	return &s->record[index & (SIM_RECORDS - 1)];
}

static enum tact_uop_source source_of(const struct sim_state *s, const struct sim_insn *insn,
				      unsigned uop, unsigned slot)
{
	if (uop == SIM_SYNC)
		return TACT_SOURCE_SE;
	if (slot >= insn->mite)
		return TACT_SOURCE_MS;
	return s->source == BLOCK_FROM_LSD   ? TACT_SOURCE_LSD
	       : s->source == BLOCK_FROM_DSB ? TACT_SOURCE_DSB
					     : TACT_SOURCE_MITE;
}

/* A uop that issues as soon as it arrives was late: tells which part of the front end was the
 * cause.
 */
static enum tact_wait front_wait(const struct sim_state *s, enum tact_uop_source source)
{
	switch (source) {
	case TACT_SOURCE_DSB:
		return TACT_WAIT_DSB;
	case TACT_SOURCE_LSD:
		return TACT_WAIT_LSD;
	case TACT_SOURCE_MS:
		return TACT_WAIT_MICROCODE;
	default:
		/* Instructions left in the queue: the decoders lag; none: the predecoder does. */
		return s->iq_count > (unsigned)s->params->decoders ? TACT_WAIT_DECODER
								   : TACT_WAIT_PREDECODER;
	}
}

static enum tact_wait issue_wait(const struct sim_state *s, int32_t delivered)
{
	if (s->serialized > delivered && s->serialized >= s->rob_full &&
	    s->serialized >= s->rs_full)
		return TACT_WAIT_SERIALIZE;
	if (s->rob_full > delivered && s->rob_full >= s->rs_full)
		return TACT_WAIT_ROB;
	if (s->rs_full > delivered)
		return TACT_WAIT_RS;
	return TACT_WAIT_ISSUE;
}

uint16_t sim_watch_issue(struct sim_state *s, const struct sim_instance *inst, unsigned uop,
			 unsigned slot, int port, int32_t delivered)
{
	const struct sim_insn *insn = inst->insn;
	uint16_t index = s->next_record++;
	struct tact_sim_uop *r = record_at(s, index);

	*r = (struct tact_sim_uop){.iteration = sim_iteration(inst->id),
				   .insn = insn->insn,
				   .uop = (uint8_t)uop,
				   .slot = (uint8_t)slot,
				   .port = (int8_t)port,
				   .eliminated = insn->eliminated,
				   .source = (uint8_t)source_of(s, insn, uop, slot),
				   .delivered = delivered,
				   .issued = s->clock,
				   .ready = -1,
				   .dispatched = -1,
				   .executed = s->clock,
				   .retired = -1,
				   .wait_insn = UINT32_MAX};
	if (s->clock <= delivered + 1)
		r->front_wait = (uint8_t)front_wait(s, (enum tact_uop_source)r->source);
	else
		r->issue_wait = (uint8_t)issue_wait(s, delivered);
	return index;
}

void sim_watch_dispatch(struct sim_state *s, const struct sim_entry *e, int32_t ready)
{
	struct tact_sim_uop *r = record_at(s, e->record);

	r->port = (int8_t)e->port;
	r->ready = ready;
	r->dispatched = s->clock;
	if (e->ready >= ready && e->ready > e->issued) {
		r->operand_wait = TACT_WAIT_OPERAND;
		r->wait_insn = e->producer;
	}
	if (s->clock > ready + 1)
		r->port_wait = e->need == SIM_NEEDS_DIVIDER ? TACT_WAIT_DIVIDER : TACT_WAIT_PORT;
}

void sim_watch_finish(struct sim_state *s, const struct sim_entry *e, int32_t result,
		      bool waited_for_store)
{
	struct tact_sim_uop *r = record_at(s, e->record);

	/* Renamed memory has its value before the load runs. */
	r->executed = result > r->dispatched ? result : r->dispatched + 1;
	if (waited_for_store) {
		r->operand_wait = TACT_WAIT_STORE;
		r->wait_insn = e->producer;
	}
}

void sim_watch_order(struct sim_state *s, const struct sim_instance *inst, int port,
		     int32_t executed, uint32_t store)
{
	const struct sim_in_order *o = &s->in_order;
	const unsigned at = (s->rob_head + s->rob_count - 1) & (SIM_ROB - 1);
	const int32_t delivered = s->idq[s->idq_head].at;
	const unsigned uop = s->rob[at].n_records;
	struct tact_sim_uop *r = record_at(s, sim_watch_issue(s, inst, uop, 0, port, delivered));

	r->issued = inst->issued;
	r->ready = o->ready;
	r->dispatched = s->clock;
	r->executed = executed;
	r->front_wait = TACT_WAIT_NONE;
	r->issue_wait = inst->issued > delivered + 1 ? TACT_WAIT_ISSUE : TACT_WAIT_NONE;
	if (o->has_producer) {
		r->operand_wait = TACT_WAIT_OPERAND;
		r->wait_insn = o->producer;
	}
	if (s->clock > o->ready)
		r->port_wait = o->wait;
	if (store != UINT32_MAX) {
		r->operand_wait = TACT_WAIT_STORE;
		r->wait_insn = store;
	}
}

void sim_watch_retire(struct sim_state *s, const struct sim_rob_entry *e)
{
	for (unsigned i = 0; i < e->n_records && !s->stop; i++) {
		struct tact_sim_uop *r = record_at(s, (uint16_t)(e->first_record + i));

		r->retired = s->clock;
		if (s->on_uop(s->on_uop_arg, r))
			s->stop = true;
	}
}
