/* SPDX-License-Identifier: MIT
 *
 * What the pipeline tells about a uop.
 */
#ifndef TACT_PIPELINE_H
#define TACT_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a uop came from. */
enum tact_uop_source {
	TACT_SOURCE_MITE, /* decoders */
	TACT_SOURCE_DSB,
	TACT_SOURCE_LSD,
	TACT_SOURCE_MS, /* microcode sequencer */
	TACT_SOURCE_SE, /* stack engine */
	TACT_N_SOURCES
};
const char *tact_uop_source_name(enum tact_uop_source source); /* "MITE", ... */

/* What a uop, or the uop that stands in front of it, waited for longest between two points. */
enum tact_wait {
	TACT_WAIT_NONE,
	TACT_WAIT_PREDECODER, /* before it came into the IDQ */
	TACT_WAIT_DECODER,
	TACT_WAIT_DSB,
	TACT_WAIT_LSD,
	TACT_WAIT_MICROCODE,
	TACT_WAIT_ISSUE,     /* in the IDQ: others in front of it, the width of the renamer */
	TACT_WAIT_ROB,	     /* in the IDQ: the reorder buffer is full */
	TACT_WAIT_RS,	     /* in the IDQ: the reservation station is full */
	TACT_WAIT_SERIALIZE, /* in the IDQ: a fence or the like, before or behind which all retires
			      */
	TACT_WAIT_OPERAND,   /* in the reservation station: `insn` makes what it needs */
	TACT_WAIT_STORE,     /* likewise: data of the store `insn` */
	TACT_WAIT_PORT,	     /* ready, but port `port` is taken by older uops */
	TACT_WAIT_DIVIDER,
	TACT_WAIT_RETIRE, /* executed; waits for older ones to retire */
	TACT_N_WAITS
};
const char *tact_wait_name(enum tact_wait wait); /* "operand", "port", ... */

/* One uop of one instance, when it retires.  Cycles count from 0; -1: it did not pass there. */
struct tact_sim_uop {
	uint64_t iteration;
	uint32_t insn;	/* in the block; of a macro-fused pair the first */
	uint8_t uop;	/* number within the instruction's unfused uops */
	uint8_t slot;	/* number within the instruction's fused uops */
	uint8_t source; /* enum tact_uop_source */
	int8_t port;	/* -1: needs none */
	bool eliminated;
	int64_t delivered, issued, ready, dispatched, executed, retired;
	uint8_t front_wait, issue_wait, operand_wait, port_wait; /* enum tact_wait, by phase */
	uint32_t wait_insn; /* for OPERAND and STORE: the instruction in the block */
};

#ifdef __cplusplus
}
#endif

#endif /* TACT_PIPELINE_H */
