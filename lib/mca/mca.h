/* SPDX-License-Identifier: MIT
 *
 * Layer 4: the machine of llvm-mca.
 *
 * A block becomes `mca_code`: forms and operands.  The machine (mca_machine.c) is fed with it,
 * again and again or with other code, and takes the parameters from an array by form.
 */
#ifndef TACT_MCA_PRIVATE_H
#define TACT_MCA_PRIVATE_H

#include <tact/mca.h>

#include "block/block.h"

enum {
	MCA_MAX_VALUE = UINT16_MAX, /* of a form's parameters */
	MCA_MAX_DISPATCH_WIDTH = 256,
	MCA_MAX_REORDER_BUFFER = 4096, /* as rob_size in arch/params.def */
	MCA_NO_ADVANCE = TACT_MCA_READS
};

/* Parameters of a form.  What the machine uses most comes first. */
struct mca_form {
	uint16_t micro_ops, latency;
	uint16_t ports;				   /* bit p: port[p] is not 0 */
	uint16_t read_advance[TACT_MCA_READS + 1]; /* the last one is 0: for all further operands */
	uint16_t port[TACT_MCA_PORTS];		   /* cycles */
};

struct tact_mca_params {
	const struct tact_arch *arch; /* borrowed */
	unsigned dispatch_width, reorder_buffer;
	bool has_memory; /* `memory` was given */
	enum tact_mca_memory memory;
	unsigned n_forms;
	struct mca_form forms[]; /* n_forms, and one for instructions without a form */
};

/* Derives the defaults of a form; for one that the tables do not know: one micro-op, one cycle, no
 * port.
 */
void mca_form_derive(struct mca_form *out, const struct tact_arch *arch, unsigned form);
/* Sets one value that a form has; it is in its bounds. */
void mca_form_set(struct mca_form *f, unsigned kind, unsigned index, uint16_t value);
bool mca_form_equal(const struct mca_form *a, const struct mca_form *b);
void mca_globals_derive(const struct tact_arch *arch, unsigned *dispatch_width,
			unsigned *reorder_buffer);
extern const char *const mca_memory_names[TACT_MCA_ADDRESSES + 1];
void mca_params_reset(struct tact_mca_params *params); /* all defaults */
void mca_params_assign(struct tact_mca_params *to, const struct tact_mca_params *from);

/* ---- code ---- */

/* Values that instructions wait for: registers, flag groups, all memory, single stores. */
enum {
	MCA_KEY_MEMORY = ISA_MAX_KEYS,
	MCA_KEY_STORES, /* one for each store that a load of the block meets */
	MCA_MAX_KEYS = UINT16_MAX
};

struct mca_operand {
	uint16_t key;
	uint16_t advance; /* for what is read: index into read_advance */
};

struct mca_insn {
	uint32_t form;	/* index into the array of forms */
	uint32_t first; /* operand; what is read comes first */
	uint16_t n_reads, n_writes;
};

struct mca_code {
	unsigned n_forms; /* of the set; also the form of instructions without one */
	struct mca_insn *insns;
	struct mca_operand *operands;
	uint32_t n_insns;
	double coverage;
};

struct tact_mca_code {
	struct mca_code code; /* points past this struct */
	size_t n_keys;
	struct mca_insn insns[];
};

/* Upper limits of the instructions, operands and keys that the code of a block can have. */
struct mca_extent {
	size_t n_insns, n_operands, n_keys;
};
void mca_code_extent(struct mca_extent *extent, const struct tact_block *block,
		     enum tact_mca_memory memory);

/* Fills insns and operands, which must be large enough.  A block only meets itself: registers that
 * it does not write are constants, and memory dependences reach back one iteration.
 */
void mca_code_fill(struct mca_code *code, const struct tact_block *block,
		   enum tact_mca_memory memory);

/* ---- machine ---- */

enum { MCA_CALENDAR = 64 }; /* buckets: bits of a word */

/* An instruction in flight: dispatched and not retired. */
struct mca_flight {
	uint64_t done;	/* cycle in which it has executed; MCA_NEVER before it issues */
	uint64_t ready; /* latest operand whose time is known */
	const struct mca_form *form; /* borrowed */
	uint32_t waiters;	     /* first link of the operands that wait for it */
	uint32_t next;		     /* in its bucket of the calendar */
	uint16_t waiting;	     /* operands whose producer has not issued */
	uint16_t entries;	     /* in the reorder buffer */
	uint32_t users;		     /* links in `waiters` */
};
#define MCA_NEVER UINT64_MAX
#define MCA_NONE  UINT32_MAX

/* An operand that waits until its producer issues. */
struct mca_link {
	uint32_t next, consumer, advance;
};

struct mca_machine {
	unsigned dispatch_width, reorder_buffer;
	uint64_t now;
	uint64_t head, tail;  /* numbers of the oldest one in flight and of the next one */
	uint64_t dispatch_at; /* cycle that has `entries` left; later cycles are free */
	unsigned entries;
	unsigned rob_free;
	bool rob_full;		  /* dispatch waits for room in the reorder buffer */
	bool fresh;		  /* became ready after this cycle's issue stage */
	uint64_t retired_at;	  /* cycle in which the last instruction retired */
	uint64_t marked, mark_at; /* retired_at of the instruction with this number */
	uint32_t n_ready;	  /* could issue if their ports were free */
	uint32_t n_unissued;
	uint32_t most_users; /* that any instruction has had */
	unsigned busy;	     /* bit p: port p is taken */
	uint64_t port_free[TACT_MCA_PORTS];

	/* In memory that the owner provides; flights, and bits in words, by number & mask. */
	uint32_t mask, n_words;
	struct mca_flight *flights;
	uint64_t *ready;		/* bit: could issue if its ports were free */
	uint64_t *uses[TACT_MCA_PORTS]; /* bit: is ready and needs the port */
	uint64_t *candidates;		/* in the issue stage: ready, with free ports */
	struct mca_link *links;
	uint32_t free_link, n_links, used_links;
	uint64_t *writer;  /* borrowed; by key: number of the last instruction that wrote it + 1 */
	uint64_t occupied; /* bit b: bucket b of the calendar is not empty */
	uint32_t calendar[MCA_CALENDAR]; /* by the cycle in which they become ready */
};

/* Returns the bytes that a machine needs in addition to the struct; a multiple of 8. */
size_t mca_machine_size(unsigned reorder_buffer);

/* Sets up an empty machine in cycle 0.  memory is aligned for a pointer, writer is zero for every
 * key.
 */
void mca_machine_init(struct mca_machine *m, void *memory, unsigned dispatch_width,
		      unsigned reorder_buffer, uint64_t *writer);

/* Runs until all of the code has been dispatched. */
void mca_machine_feed(struct mca_machine *m, const struct mca_code *code,
		      const struct mca_form *forms);

/* Runs until everything has retired.  Returns the number of cycles. */
uint64_t mca_machine_drain(struct mca_machine *m);

#endif /* TACT_MCA_PRIVATE_H */
