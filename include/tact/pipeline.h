/* SPDX-License-Identifier: MIT
 *
 * What the pipeline tells about a uop.  These functions may be called from any thread.
 */
#ifndef TACT_PIPELINE_H
#define TACT_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <tact/arch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a uop came from.  Values are stable; new ones go to the end. */
enum tact_uop_source {
	TACT_SOURCE_MITE, /* decoders */
	TACT_SOURCE_DSB,
	TACT_SOURCE_LSD,
	TACT_SOURCE_MS, /* microcode sequencer */
	TACT_SOURCE_SE, /* stack engine */
	TACT_N_SOURCES
};

/* Capacity of arrays that are indexed by enum tact_uop_source; entries from TACT_N_SOURCES on are
 * 0.
 */
enum { TACT_MAX_SOURCES = 16 };

/* Returns the name of a source ("MITE", ...), or "unknown". */
const char *tact_uop_source_name(enum tact_uop_source source);

/* The same in the words of a core's vendor: "Dec" and "OpC" for decoders and op cache of AMD's
 * cores.  NULL for arch: as above.
 */
const char *tact_uop_source_name_on(const struct tact_arch *arch, enum tact_uop_source source);

/* What a uop, or the uop before it, waited for longest between two points.  Values are stable; new
 * ones go to the end.
 */
enum tact_wait {
	TACT_WAIT_NONE,
	TACT_WAIT_PREDECODER, /* before it came into the IDQ */
	TACT_WAIT_DECODER,
	TACT_WAIT_DSB,
	TACT_WAIT_LSD,
	TACT_WAIT_MICROCODE,
	TACT_WAIT_ISSUE,     /* in the IDQ: older uops, the width of the renamer */
	TACT_WAIT_ROB,	     /* in the IDQ: the reorder buffer is full */
	TACT_WAIT_RS,	     /* in the IDQ: the reservation station is full */
	TACT_WAIT_SERIALIZE, /* in the IDQ: a fence or another instruction that serializes */
	TACT_WAIT_OPERAND,   /* in the reservation station: `wait_insn` makes what it needs */
	TACT_WAIT_STORE,     /* in the reservation station: data of the store `wait_insn` */
	TACT_WAIT_PORT,	     /* ready, but older uops take its port */
	TACT_WAIT_DIVIDER,
	TACT_WAIT_RETIRE, /* executed; waits for older uops to retire */
	TACT_WAIT_ORDER,  /* in order, ready: its results would come before those of older ones */
	TACT_N_WAITS
};

/* Returns the name of a reason to wait ("operand", "port", ...), or "unknown". */
const char *tact_wait_name(enum tact_wait wait);

/* One uop of one instance of an instruction, as it retires.  Cycles count from 0; -1 means that the
 * uop did not pass there.  This struct never changes.
 */
struct tact_sim_uop {
	uint64_t iteration;
	uint32_t insn;	/* in the block; the first one of a macro-fused pair */
	uint8_t uop;	/* number among the instruction's unfused uops */
	uint8_t slot;	/* number among the instruction's fused uops */
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
