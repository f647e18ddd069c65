/* SPDX-License-Identifier: MIT
 *
 * The units of a CPU of LLVM, as its machine models hand them out: which one an instruction gets,
 * how long it is busy, and buffers before units.  The machine of llvm-mca (lib/mca) and the pipeline
 * in order (lib/sim) share this.
 */
#ifndef TACT_ARCH_UNITS_H
#define TACT_ARCH_UNITS_H

#include "llvm/llvm_wire.h"

struct unit {
	uint64_t mask;		/* its own bit, the highest, and those of its members */
	uint64_t size;		/* bits of its units, or of its members */
	uint64_t ready;		/* of these */
	uint64_t next, removed; /* which of several comes next: see units.c */
	uint64_t users;		/* groups that it is a member of */
	unsigned n_units;
	unsigned free_slots;
	int buffer_size;
	bool is_group, is_reserved;
};

/* A unit that is busy, or a group that is reserved. */
struct units_busy {
	uint64_t unit, part;
	unsigned cycles;
};

enum { UNITS_MAX_BUSY = 256 };

struct units {
	struct unit unit[LLVM_MAX_KINDS];
	uint64_t all_units, reserved_groups, full_buffers, reserved_buffers;
	struct units_busy busy[UNITS_MAX_BUSY];
	unsigned n_busy;
	/* What the last instruction got. */
	struct units_busy taken[LLVM_MAX_RESOURCES];
	unsigned n_taken;
};

/* What an instruction needs. */
struct units_demand {
	const struct llvm_use *use; /* borrowed */
	uint64_t groups;
	uint8_t n_uses;
	bool has_overlapping_groups;
};

static inline struct units_demand units_demand_of(const struct llvm_facts *facts)
{
	return (struct units_demand){facts->use, facts->groups, facts->n_uses,
				     facts->has_overlapping_groups};
}

void units_init(struct units *u, const struct llvm_cpu_info *info);

/* A cycle begins: what was busy long enough is free again. */
void units_cycle(struct units *u);

bool units_are_free(const struct units *u, const struct units_demand *d);

/* Requires units_are_free.  Fills `taken`. */
void units_issue(struct units *u, const struct units_demand *d);

/* Masks of buffers. */
bool units_have_room(const struct units *u, uint64_t buffers);
void units_take_room(struct units *u, uint64_t buffers);
void units_leave_room(struct units *u, uint64_t buffers);

#endif /* TACT_ARCH_UNITS_H */
