/* SPDX-License-Identifier: MIT
 *
 * The whole machine of llvm-mca, on the facts of LLVM's models: units in groups, buffers, queues of
 * loads and stores, dispatch groups, forwarding by pair of instructions; out of order and in order.
 * The plain machine of mca.h has one cost for each form; this one is for CPUs whose facts come from
 * LLVM, where it does what llvm-mca does (documentation of llvm-mca, "How LLVM-MCA works").
 *
 *   mca_facts.c   a block becomes code; one block repeated
 *   mca_order.c   the order of loads and stores
 *   mca_files.c   register files, and moves that are eliminated
 *   mca_window.c  out of order: dispatch, issue, retire
 *   mca_line.c    in order
 */
#ifndef TACT_MCA_FACTS_H
#define TACT_MCA_FACTS_H

#include "arch/arch_llvm.h"
#include "arch/units.h"
#include "mca/mca.h"

/* ---- code ---- */

/* A register as LLVM numbers it; a part of one has a number of its own. */
struct facts_read {
	uint16_t reg;
	uint32_t first_key;
	uint16_t n_keys;
	uint16_t n_advances;
	const struct llvm_advance *advances;
};

struct facts_write {
	uint32_t first_key; /* that of what it is renamed as */
	uint32_t first_own; /* those of itself, if it is a part; which of them are zero */
	uint16_t n_keys, n_own;
	uint16_t latency, write_id;
	bool is_part; /* it is kept with what it is a part of, and waits for that */
};

struct facts_insn {
	const struct llvm_facts *facts;
	struct units_demand demand;
	uint32_t first_read, first_write;
	uint16_t n_reads, n_writes;
	uint16_t latency; /* until it has executed */
};

struct facts_code {
	struct llvm_facts *facts; /* owned, as all arrays here */
	struct llvm_place *places;
	size_t places_capacity;
	struct facts_insn *insns;
	struct facts_read *reads;
	struct facts_write *writes;
	uint16_t *keys;
	size_t n_insns, n_reads, n_writes, n_keys, n_known;
	/* For moves: the keys of what registers are renamed as, by key. */
	struct facts_whole {
		uint32_t first_key;
		uint16_t n_keys; /* 0: not asked for */
	} * wholes;
	size_t n_wholes, wholes_capacity;
	size_t facts_capacity, insns_capacity, reads_capacity, writes_capacity, keys_capacity;
	unsigned key_limit; /* all keys are below */
};

/* ---- loads and stores ---- */

enum { ORDER_GROUPS = 4096, ORDER_LINKS = 8192 };

/* Instructions that wait for the same others: a store, or loads with no store between. */
struct order_group {
	uint32_t id;
	uint16_t n_before, n_before_started, n_before_done; /* groups that it waits for */
	uint16_t n_insns, n_started, n_done;
	uint16_t links; /* 1 + the first of those that wait for it */
};

struct order_link {
	uint16_t next;
	bool is_data; /* waits until it is executed, not only issued */
	uint32_t group;
};

struct facts_order {
	bool has_aliases;
	unsigned load_queue, store_queue, n_loads, n_stores;	    /* 0: no limit */
	uint32_t next_id, load, load_barrier, store, store_barrier; /* current groups; 0: none */
	struct order_group groups[ORDER_GROUPS];		    /* by id */
	struct order_link links[ORDER_LINKS];
	uint16_t free_link, used_links;
};

void order_init(struct facts_order *o, const struct llvm_cpu_info *info, bool has_aliases);
bool order_has_room(const struct facts_order *o, const struct llvm_facts *facts);
uint32_t order_dispatch(struct facts_order *o, const struct llvm_facts *facts); /* its group */
bool order_is_ready(const struct facts_order *o, uint32_t group);
void order_start(struct facts_order *o, uint32_t group);
void order_finish(struct facts_order *o, uint32_t group);
void order_retire(struct facts_order *o, const struct llvm_facts *facts);

/* ---- register files ---- */

struct facts_files {
	unsigned used[LLVM_MAX_FILES], moved[LLVM_MAX_FILES]; /* registers; moves in this cycle */
	/* By key, owned: what it is the same as, since a move was eliminated (0: nothing), and whether
	 * it is known to be zero.
	 */
	struct facts_name {
		uint16_t same_as;
		bool is_zero;
	} * names;
	size_t names_capacity;
};

struct facts_machine;
struct facts_flight;

/* Returns 0 or -TACT_E_NOMEM. */
int files_init(struct facts_machine *m);
void files_cycle(struct facts_machine *m);
bool files_have_room(const struct facts_machine *m, const struct facts_insn *insn);

/* Eliminates a move, or an exchange, if that is possible: its results are names then. */
bool files_eliminate(struct facts_machine *m, const struct facts_insn *insn);

/* Takes registers for what an instruction writes, or gives them back. */
void files_take(struct facts_machine *m, const struct facts_flight *f);
void files_leave(struct facts_machine *m, const struct facts_flight *f);

/* ---- machines ---- */

enum {
	FACTS_FLIGHTS = 4096, /* in flight, and for a while after; a power of two */
	FACTS_LINKS = 16384,
	FACTS_NEVER = 0x3fffffff
};

/* What writes a register last. */
struct facts_writer {
	uint32_t number; /* 1 + that of the instruction; 0: nobody */
	uint32_t write;
};

struct facts_flight {
	const struct facts_insn *insn;
	uint32_t number, group;
	int32_t dispatched, issued, ready; /* cycles; `ready` counts when nothing is missing */
	int32_t executed;
	uint32_t waiters; /* 1 + the first link */
	uint16_t missing; /* operands whose producer has not issued */
	uint16_t n_users, entries;
	bool is_executed, is_eliminated;
};

struct facts_link {
	uint32_t next, consumer, write;
	int32_t advance;
};

struct facts_machine {
	const struct llvm_cpu_info *info;
	const struct facts_code *code;
	struct units units;
	struct facts_order order;
	struct facts_files files;
	int32_t now;
	uint32_t head, tail; /* numbers of the oldest in flight and of the next one */
	uint32_t limit;	     /* number of instructions to run */
	uint32_t marked;
	int32_t marked_at, ended_at;
	unsigned entries, carried, free_entries;
	struct facts_flight flights[FACTS_FLIGHTS];
	struct facts_link links[FACTS_LINKS];
	uint32_t free_link, used_links;
	uint32_t waiting[FACTS_FLIGHTS], running[FACTS_FLIGHTS]; /* numbers */
	unsigned n_waiting, n_running;
	void (*on_insn)(void *arg, const struct tact_mca_event *event); /* NULL: nobody listens */
	void *arg;
	struct facts_writer *writers; /* owned; by key */
	size_t writers_capacity;
};

/* Returns the cycles by which a read comes after its producer has issued. */
static inline int facts_delay(const struct facts_read *read, const struct facts_write *write)
{
	int advance = 0;

	for (unsigned i = 0; i < read->n_advances; i++)
		if (!read->advances[i].write_id || read->advances[i].write_id == write->write_id) {
			advance = read->advances[i].cycles;
			break;
		}
	return advance;
}

static inline struct facts_flight *facts_flight(struct facts_machine *m, uint32_t number)
{
	return &m->flights[number % FACTS_FLIGHTS];
}

/* Runs `limit` instructions, the code again and again; fills ended_at and marked_at. */
void facts_run_window(struct facts_machine *m);
void facts_run_line(struct facts_machine *m);

/* Tells the sink, if there is one, of an instruction that retires now. */
void facts_tell(const struct facts_machine *m, const struct facts_flight *f);

/* Notes in `writers` what an instruction writes. */
void facts_note_writes(struct facts_machine *m, const struct facts_insn *insn, uint32_t number);

/* One block repeated.  Returns 0 or -TACT_E_NOMEM, -TACT_E_DECODE, -TACT_E_LIMIT. */
struct mca_facts;
int mca_facts_estimate(struct mca_facts **owned, const struct tact_mca_options *opt,
		       const struct tact_block *block, struct tact_mca_result *out);
void mca_facts_destroy(struct mca_facts *facts);

#endif /* TACT_MCA_FACTS_H */
