/* SPDX-License-Identifier: MIT
 *
 * What a stream executes behind a mispredicted branch, until the branch is executed.
 *
 * The blocks of the wrong path are those that followed before; where they meet the correct path, which
 * is known, the instructions are the same from there on, and so are the addresses of the loads that
 * depend on nothing that either side wrote.  Those loads are executed: they bring their lines, and find
 * them on their way when they are executed again.  Nothing else of a wrong path remains.
 *
 *   wrong_path.c  which instructions: where paths meet, what differs behind that
 *   ghosts.c      when: they wait for values and take places, and their loads ask for lines
 */
#ifndef TACT_SIM_WRONG_PATH_H
#define TACT_SIM_WRONG_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "block/block.h"
#include "isa/isa.h"

struct sim_access;
struct sim_insn;
struct sim_program;
struct sim_state;
struct sim_stream;

enum {
	WRONG_CODES = 4096,   /* blocks, and branches, whose last execution is remembered */
	WRONG_BLOCKS = 16,    /* of a wrong path before it meets the other one */
	WRONG_GHOSTS = 512,   /* instructions: as many as a reorder buffer holds */
	WRONG_SOURCES = 4096, /* of all of them */
	WRONG_UOPS = 16,      /* of one; longer microcode ends the path */
	WRONG_GRANULES = 256, /* of memory, eight bytes each, that ghosts store to */
	WRONG_WORDS =
		16, /* addresses of stores that only the wrong path has, as they are spelled */
	WRONG_BRANCHES = 24, /* of the wrong path that were mispredicted, too */
	WRONG_POLL =
		4 /* cycles until it is noticed that there is room, or a value of before known */
};

/* A value: an output of a ghost, or what a register held before the branch. */
typedef uint16_t wrong_value;
enum {
	WRONG_TAINTED = 0x8000, /* it is another one on the correct path, or may be */
	WRONG_OLD = 0x4000,	/* | key */
	WRONG_NONE = 0x3fff
}; /* it was there long ago */

/* An instruction behind the branch.  SIM_NEVER: not known yet. */
struct sim_ghost {
	const struct sim_program *program;
	const struct sim_insn *insn;
	uint64_t first_access;	/* in the stream's ring */
	uint32_t n_accesses;	/* 0: none, or unknown */
	uint16_t first_source;	/* one for each input */
	wrong_value met;	/* what was stored where it loads; or WRONG_NONE */
	const int32_t *old_met; /* when it is ready, if that was before the branch; or NULL */
	int32_t forward;	/* cycles from that to the result of the load */
	wrong_value waits_for;	/* a source that is not known yet, if there was one */
	bool knows_address, is_tainted;
	int32_t renamed;
	int32_t loaded; /* when a load from the first level would be executed */
	int32_t done;	/* when its last uop is executed */
	int32_t ready[LOWERED_MAX_OUT];
};

/* Instructions of a block that come next. */
struct wrong_piece {
	const struct sim_program *program;
	uint32_t from, to; /* instructions */
	bool is_common;	   /* they are those of the correct path, too: */
	uint64_t feed;	   /* in this block of the stream */
};

/* What is known at one moment. */
struct wrong_state {
	wrong_value values[ISA_MAX_KEYS + 1];
	unsigned n_ghosts, n_sources, n_uops, n_stores, n_words;
	uint32_t sequence; /* of the next entry of the granules */
};

/* A mispredicted branch behind the branch: when it is executed, the right path is taken there. */
struct wrong_branch {
	uint64_t feed; /* that follows it */
	struct wrong_state before;
};

struct sim_wrong_path {
	uint64_t first_known; /* execution whose predecessor is not forgotten */
	/* Of all executions since. */
	struct {
		uint64_t address;
		const struct sim_program *program;
	} codes[WRONG_CODES];
	struct {
		uint64_t end;	  /* where a block with this branch ends */
		uint64_t next[2]; /* where it went: last, and last before that */
	} branches[WRONG_CODES];

	/* Of the branch that is waited for. */
	uint64_t waiting; /* the block that follows it: fetch waits there; 0: none so far */
	uint64_t feed;	  /* likewise, as far as it was looked at */
	bool is_open;	  /* its wrong path is being executed */
	bool has_ended;	  /* nothing more is known of it */
	struct wrong_piece pieces[WRONG_BLOCKS + 2];
	unsigned piece, n_pieces;
	uint64_t next_access; /* of the piece */
	int32_t fetched_at;   /* not before this cycle */
	struct wrong_state now;
	struct wrong_branch inner[WRONG_BRANCHES];
	unsigned n_inner;
	struct sim_ghost ghosts[WRONG_GHOSTS];
	int32_t left[WRONG_GHOSTS]; /* when each leaves the reservation station */
	unsigned n_waiting;	    /* there, in this cycle */
	wrong_value sources[WRONG_SOURCES];
	uint16_t pending[WRONG_GHOSTS]; /* ghosts that are not done, in order */
	unsigned n_pending;
	int32_t look_at; /* when the next one may go on */
	struct wrong_granule {
		uint64_t granule;
		uint32_t sequence; /* 0: none */
		wrong_value value;
		bool leaves_stored;
	} granules[WRONG_GRANULES];
	uint32_t words[WRONG_WORDS];
};

/* A block of the stream is followed by another one at an address. */
void sim_wrong_path_learn(struct sim_wrong_path *w, const struct sim_program *program,
			  uint64_t address, uint64_t next);

/* Blocks are forgotten; so many executions were fed so far. */
void sim_wrong_path_forget(struct sim_wrong_path *w, uint64_t n_feeds);

/* A cycle, while fetch waits for a branch, which has been renamed. */
void sim_wrong_path_run(struct sim_state *s);

static inline bool sim_wrong_path_is_open(const struct sim_wrong_path *w)
{
	return w->is_open || w->waiting != w->feed;
}

/* ---- ghosts.c ---- */

/* Adds an instruction; accesses: those of it, if the correct path has it, too, else NULL: then its
 * results are tainted.  False: no more is followed.
 */
bool sim_ghost_add(struct sim_state *s, const struct sim_program *program,
		   const struct sim_insn *insn, bool is_common, uint64_t first_access, uint32_t n);

/* What only the correct path writes. */
void sim_ghost_taint(struct sim_state *s, const struct sim_insn *insn, uint64_t first_access,
		     uint32_t n);

/* Lets those go on that can. */
void sim_ghosts_run(struct sim_state *s);

/* Counts those in the reservation station in this cycle; returns whether there is room for another one. */
void sim_ghosts_count(struct sim_state *s);
bool sim_ghosts_have_room(const struct sim_state *s, const struct sim_insn *insn);

/* Goes back to an earlier state. */
void sim_ghosts_return(struct sim_wrong_path *w, const struct wrong_state *before);

#endif /* TACT_SIM_WRONG_PATH_H */
