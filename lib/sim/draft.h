/* SPDX-License-Identifier: MIT
 *
 * An instruction while its uops are made: program.c sorts them, draft_memory.c adds loads and stores,
 * compute.c those between them.
 */
#ifndef TACT_SIM_DRAFT_H
#define TACT_SIM_DRAFT_H

#include "sim/sim.h"

/* Ports of the uops of an instruction, by what they do. */
struct draft_ports {
	params_ports load[SIM_MAX_UOPS], sta[SIM_MAX_UOPS], std[SIM_MAX_UOPS], alu[SIM_MAX_UOPS];
};

struct draft {
	struct sim_program *p;
	const struct tact_block *block;
	const struct block_insn *bi;
	const struct block_lowered *l;
	struct sim_insn *insn;
	bool for_stream;
	params_ports *load, *sta, *std, *alu; /* of a struct draft_ports */
	unsigned n_load, n_sta, n_std, n_alu;
	bool full;
	struct { /* a unit that is taken for many cycles is one uop */
		params_ports ports;
		unsigned cycles;
	} held[BLOCK_MAX_PORT_USES];
	unsigned n_held;
	bool holds_twice;  /* its vector uops hold their port for two cycles */
	bool stores_twice; /* and those of its stored data */
	int computes;	   /* uop that makes what is stored, or -1; */
	uint32_t computed; /* bit k: it waits for input k */
};

static inline unsigned draft_latency(const struct draft *d, unsigned in, unsigned out)
{
	return d->l->latency[in * d->l->n_out + out];
}

/* The same with what store-to-load forwarding takes. */
static inline unsigned draft_forwarded(const struct draft *d, unsigned in, unsigned out)
{
	return d->l->forwarded[in * d->l->n_out + out];
}

/* Makes a uop wait for another one of the instruction, or for an input; `latency` is added to the
 * dispatch of that uop, or to when the input is ready.
 */
static inline void draft_wait(struct draft *d, struct sim_uop *u, enum sim_source_kind kind,
			      unsigned index, unsigned latency)
{
	const struct block_node *node =
		kind == SIM_FROM_INPUT ? &block_nodes(d->block)[d->bi->first_node + index] : NULL;
	const int sooner = node && (!d->for_stream || !node->iterations) ? node->sooner : 0;

	if (node)
		latency += node->folded;
	d->p->sources[d->p->n_sources++] = (struct sim_source){(uint8_t)kind, (uint8_t)index,
							       (int16_t)((int)latency - sooner)};
	u->n_sources++;
}

/* Adds a uop; the sources that are added next are its own. */
struct sim_uop *sim_draft_uop(struct draft *d, enum sim_kind kind, params_ports ports);

/* Adds the uop of an instruction that is issued in order, in place of all that follow here. */
void sim_draft_in_order(struct draft *d);

/* Returns the cycles that the tables' latencies from an address include for the load. */
unsigned sim_draft_load_latency(const struct draft *d);

/* Returns the most cycles from the loads to one of these outputs (bits), at least 1. */
unsigned sim_draft_after_load(const struct draft *d, unsigned outputs);

/* Add the uops that load, and those that store; the latter come last. */
void sim_draft_loads(struct draft *d);
void sim_draft_stores(struct draft *d);

/* Fills what a load that meets a store takes; after sim_draft_compute. */
void sim_draft_forward(struct draft *d);

/* Adds the uops that compute, of which there is at least one, and fills d->computes. */
void sim_draft_compute(struct draft *d);

#endif /* TACT_SIM_DRAFT_H */
