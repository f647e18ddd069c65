/* SPDX-License-Identifier: MIT
 *
 * Shared by events.c and definitions.c: streams, and the blocks and modules that they define.
 */
#ifndef TACT_TRACE_EVENTS_H
#define TACT_TRACE_EVENTS_H

#include <pthread.h>

#include "base/hash.h"
#include "trace/trace.h"

enum {
	PAGE_BLOCKS = 256,
	PAGE = 4096,
	MAX_NUMBER = 1 << 26, /* of a block in its stream */
	MAX_STREAMS = 65536,  /* at the same time */
	MAX_MODULES = 65536,
	MAX_ACCESSES = 1 << 20, /* of one execution */
	PIECE = 8,		/* bytes; QEMU splits larger accesses */
	TRACE_AHEAD = 8,	/* executions whose blocks are fetched */
	TRACE_RUNS = 3		/* of a repeated instruction: two of loads, one of stores */
};

/* What is known of an instruction instead of a width: it is a prefetch; and it may be that QEMU has not
 * stored the registers of its address (wire.h).
 */
enum { TRACE_PREFETCH = 0x80, TRACE_PREFETCH_LAGS = 0x81 };

/* A block, and what accesses of its instructions may be joined.  Programs have hundreds of
 * thousands: it fits one cache line, followed by the code.
 */
struct trace_entry {
	struct tact_trace_block block;
	uint8_t *widths; /* bytes, by instruction; NULL: not needed so far */
	uint8_t code[];
};

struct trace_page {
	struct trace_entry *entries[PAGE_BLOCKS];
	uint64_t is_repeated[PAGE_BLOCKS / 64]; /* bits: nothing but a repeated instruction */
};

struct trace_stream {
	uint32_t number;
	uint32_t pid, parent, vcpu;
	bool has_begun;
	struct trace_page **pages; /* owned: by block number of the stream */
	size_t n_pages, pages_capacity;
	uint32_t *modules; /* owned: number in the stream -> number in the trace */
	size_t n_modules, modules_capacity;
	struct trace_entry *newest;  /* block, defined last; NULL: none */
	struct trace_entry *pending; /* executed; its accesses are being collected */
	struct trace_entry
		*current; /* whose code the accesses are numbered by: pending, or the repetition */
	uint32_t insn_base;
	bool is_repeating;
	/* Accesses of a repeated instruction: whether there are any, its runs, counted from 1, and
	 * which one is replaced next.
	 */
	bool has_repeated;
	size_t run[TRACE_RUNS];
	unsigned next_run;
	uint64_t n_repeated[2]; /* its loads and its stores */
	bool is_descending;
	struct tact_trace_access *accesses; /* owned */
	size_t n_accesses, accesses_capacity;
	uint64_t *partial; /* owned: the beginning of a long word whose rest has not come yet */
	size_t n_partial, partial_capacity;
};

struct trace_module {
	struct tact_trace_module module;
	char *path; /* owned */
};

struct trace_events {
	enum wire_mode mode;
	struct trace_stream **streams; /* owned */
	size_t n_streams, streams_capacity;
	/* Blocks, modules and processes are looked at by one thread while another one reads the
	 * trace: what is added is added under the lock, and never moves.
	 */
	pthread_mutex_t lock;
	struct hash block_of;	     /* of blocks, by code and address */
	struct tact_arena memory;    /* the blocks */
	struct trace_entry **blocks; /* owned: by number; they are in the arena */
	size_t n_blocks, blocks_capacity;
	/* Numbers of blocks may be far apart, as a thread executes few of its program's; but not so
	 * far that a short file takes all memory.
	 */
	uint64_t n_definitions, numbers_bytes; /* what the streams' tables of numbers take */
	struct trace_module **modules;	       /* owned, as are its members: by number - 1 */
	size_t n_modules, modules_capacity;
	uint32_t n_threads, n_programs, n_native;
	uint32_t pids[TRACE_MAX_PROCESSES]; /* of the first processes */
	size_t n_pids;
	uint64_t words;
	const struct trace_entry *broken; /* ends in what QEMU does not know; NULL: none */

	struct trace_stream *stream; /* of the piece */
	const uint64_t *piece;
	size_t n_piece, at;
	/* Up to where its words were looked at, executions from there to `at`, and where the entries
	 * of the last ones are: see look_ahead() in events.c.
	 */
	size_t ahead, n_ahead, n_seen;
	struct trace_entry *const *soon[TRACE_AHEAD / 2];
	bool is_end;	  /* the piece says that the stream has ended */
	uint64_t *joined; /* owned: partial words, joined with those of the piece */
	size_t joined_capacity;
	char text[WIRE_MAX_PATH], first_native[WIRE_MAX_PATH];
};

/* -TACT_E_FORMAT and -TACT_E_NOMEM, with their messages. */
int trace_bad(struct tact_diag *diag, const char *what);
int trace_no_memory(struct tact_diag *diag);

/* Take definitions of a stream: the words that follow the long word.  Return 0 or < 0. */
int trace_define_block(struct trace_events *e, struct trace_stream *s, uint32_t number,
		       const uint64_t *words, size_t n, struct tact_diag *diag);
int trace_define_module(struct trace_events *e, struct trace_stream *s, uint32_t number,
			const uint64_t *words, size_t n, struct tact_diag *diag);

/* Keeps the number of a process, if it is new and one of the first. */
void trace_note_process(struct trace_events *e, uint32_t pid);

/* Returns the bytes that QEMU's pieces add up to, for the accesses of each instruction, or
 * TRACE_PREFETCH or TRACE_PREFETCH_LAGS.  NULL: out of memory.
 */
const uint8_t *trace_find_widths(struct trace_events *e, struct trace_entry *entry);

/* Returns the loads that the repeated instruction at the end of a block makes each time. */
unsigned trace_loads_each(const struct tact_trace_block *block);

/* Registers in a block: which of them QEMU may not have stored where prefetches need them. */
enum { TRACE_AT_RISK = 16 };
struct trace_registers {
	uint64_t written; /* since registers were last stored; bits */
	struct {
		uint32_t insn; /* a prefetch */
		uint64_t registers;
	} at_risk[TRACE_AT_RISK]; /* if these are written again before they are stored */
	unsigned n_at_risk;
};

/* Takes the next instruction of a block; all zeros before the first one.  Writes what is known of
 * prefetches to the widths.
 */
void trace_follow_registers(struct trace_registers *r, const struct tact_isa *isa,
			    const struct tact_insn *insn, uint32_t number, uint8_t *widths);

/* Returns the page of a block by its number in the stream; NULL: not defined. */
static inline const struct trace_page *trace_page_at(const struct trace_stream *s, uint32_t number)
{
	const size_t page = number / PAGE_BLOCKS;

	return page < s->n_pages ? s->pages[page] : NULL;
}

/* Returns a block by its number in the stream; NULL: not defined. */
static inline struct trace_entry *trace_entry_at(const struct trace_stream *s, uint32_t number)
{
	const struct trace_page *page = trace_page_at(s, number);

	return page ? page->entries[number % PAGE_BLOCKS] : NULL;
}

/* An execution as it is in the words: usual, all of it there, and followed by another one. */
struct trace_glance {
	struct trace_entry *entry, *next;
	const uint64_t *words; /* accesses, each of another instruction */
	size_t n;
};

/* Looks at the execution whose event would be next.  False: trace_events_next is to be called. */
static inline bool trace_glance(const struct trace_events *e, struct trace_glance *out)
{
	const struct trace_stream *s = e->stream;
	const uint64_t *word, *end;
	const struct trace_page *page;
	uint32_t last = 0, number;

	if (!s || e->is_end || !s->pending || s->n_accesses | s->is_repeating | s->has_repeated)
		return false;
	word = e->piece + e->at;
	end = e->piece + e->n_piece;
	out->words = word;
	for (; word < end && !(*word & WIRE_LONG); word++) {
		const uint32_t insn = (uint32_t)(*word >> WIRE_INSN_SHIFT & WIRE_INSN_MASK) + 1;

		if (insn <= last || insn > s->pending->block.n_insns)
			return false;
		last = insn;
	}
	if (word == end || *word >> 60 != WIRE_LONG >> 60) /* WIRE_EXEC */
		return false;
	number = (uint32_t)*word;
	page = trace_page_at(s, number);
	if (!page || page->is_repeated[number % PAGE_BLOCKS / 64] >> number % 64 & 1)
		return false;
	out->entry = s->pending;
	out->next = page->entries[number % PAGE_BLOCKS];
	out->n = (size_t)(word - out->words);
	tact_fetch(out->next);
	return out->next != NULL;
}

/* Goes on behind it. */
static inline void trace_glance_take(struct trace_events *e, const struct trace_glance *g)
{
	e->stream->pending = e->stream->current = g->next;
	e->at += g->n + 1;
}

#endif /* TACT_TRACE_EVENTS_H */
