/* SPDX-License-Identifier: MIT
 *
 * The binary form of data/insn: what gen/gen_tables.c writes and lib/arch reads.  Everything is
 * constant and shared: equal variants, port lists and latency lists of all architectures are
 * stored once, so that an architecture costs two bytes per form plus its own data.
 */
#ifndef TACT_ARCH_TABLE_H
#define TACT_ARCH_TABLE_H

#include <stdint.h>

/* uops that can go to any port of `mask`.  A list ends with count 0. */
struct arch_port_use {
	uint32_t mask;
	uint32_t count;
};

/* Operand of a latency: kind in the high bits, number in the low four. */
enum arch_operand_kind {
	ARCH_OP_REG = 0x00,   /* rN */
	ARCH_OP_MEM = 0x10,   /* mN, as a result; mN.m, as a source */
	ARCH_OP_BASE = 0x20,  /* mN.b, or a.b with number 15 */
	ARCH_OP_INDEX = 0x30, /* mN.i, or a.i */
	ARCH_OP_AGEN = 0x0f,
	ARCH_OP_END = 0xff
};

/* A list ends with from == ARCH_OP_END. */
struct arch_latency {
	uint8_t from, to;
	uint16_t cycles;
};

enum { ARCH_COUNT_MAX = 0xffff }; /* larger counts (wbinvd, ...) are stored as this */

/* What an instruction costs in one situation. */
struct arch_variant {
	uint16_t uops;	  /* unfused */
	uint16_t fused;	  /* issued and retired */
	uint16_t mite;	  /* from the decoders */
	uint16_t ms;	  /* from the microcode sequencer */
	uint16_t divider; /* cycles that the divider is held */
	uint16_t cycles;  /* measured throughput where nothing else explains it; 0 = none */
	uint8_t complex_decoder;
	uint8_t simple_beside; /* simple decoders that can work beside it; 0xff = not known */
	uint16_t ports;	       /* index into the list of port uses */
	uint32_t latency;      /* index into the list of latencies */
};

/* Indices of variants; 0 = none. */
struct arch_record {
	uint16_t plain, indexed, same;
	uint16_t fuse;	 /* bit c: macro-fuses with the jump of condition code c */
	uint16_t source; /* letter of the column src; 0: a file of the user */
};

enum { ARCH_MAX_PORT_SETS = 64 };			    /* different ones of a CPU */
enum { ARCH_MAX_PORT_USES = 32, ARCH_MAX_LATENCIES = 128 }; /* of a list, its end included */

#endif /* TACT_ARCH_TABLE_H */
