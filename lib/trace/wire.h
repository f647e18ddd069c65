/* SPDX-License-Identifier: MIT
 *
 * What the QEMU plugin and tact say to each other: a piece of shared memory, and words of 64 bits.
 * The plugin includes this file and nothing else of ours.  doc/formats.md describes it in words.
 *
 *	header | stream 0 | stream 1 | ...      descriptors, at the beginning
 *	area 0 | area 1 | ...                   a ring of words; when counting, counters follow it
 *
 * A stream is a virtual CPU (a thread) of a process.  It says everything that its reader needs: a
 * block or a module is defined in each stream before it is first used there.  So a child after
 * fork, which inherits translated code, needs nothing from the streams of its parent.
 *
 * The memory is mapped once, when the plugin is loaded, and inherited over fork: the program and
 * the plugin share descriptors, so that the plugin keeps none.
 */
#ifndef TACT_WIRE_H
#define TACT_WIRE_H

#include <stdint.h>

#define WIRE_MAGIC 0x3152495754434154ull /* "TACTWIR1" */

enum {
	WIRE_VERSION = 1,
	WIRE_PAGE = 4096,
	WIRE_CHUNK_WORDS = 8192, /* 64 KiB: how often a writer wakes the reader */
	WIRE_MAX_PAYLOAD = 2048, /* words that follow a long word */
	WIRE_MAX_BLOCK_BYTES = 8192,
	WIRE_MAX_PATH = 4096
};

enum wire_mode { WIRE_TRACE = 1, WIRE_COUNT = 2 };

/* A stream that has ended is emptied by the reader, which then frees it. */
enum wire_state { WIRE_FREE, WIRE_CLAIMED, WIRE_ACTIVE, WIRE_ENDED };

struct wire_stream {
	uint32_t state; /* enum wire_state */
	int32_t pid;
	uint32_t vcpu;
	uint32_t is_waiting; /* the writer sleeps on `taken` */
	uint64_t n_counted;  /* counters that may not be zero: the first ones */
	uint64_t unused[5];
	/* Words written so far.  The writer advances it with every word, so that nothing is lost if
	 * it is killed.
	 */
	uint64_t head;
	uint64_t unused_head[7];
	uint64_t tail;	/* words read so far */
	uint32_t taken; /* futex: the reader increments it when it has read */
	uint32_t unused_taken;
	uint64_t unused_tail[6];
};

struct wire_header {
	uint64_t magic;
	uint32_t version;
	uint32_t mode; /* enum wire_mode */
	uint32_t n_streams;
	int32_t reader;	     /* process that reads; a writer does not wait for one that has ended */
	uint64_t ring_words; /* a power of two, at least four chunks */
	uint64_t n_counters; /* of a stream; 0 unless counting */
	uint64_t areas;	     /* offset of area 0; a multiple of the page size */
	uint64_t area_bytes; /* ring and counters */
	uint64_t bytes;	     /* the whole memory */
	uint32_t wake;	     /* futex: a writer increments it when there is something to read */
	uint32_t is_sleeping; /* the reader sleeps on it */

	/* Written by plugins. */
	uint32_t n_attached;   /* programs that the plugin was loaded into */
	uint32_t lost_threads; /* not traced: there was no free stream for them */
	uint64_t lost_blocks;  /* more blocks than counters or numbers */
};

/* ---- words ----
 *
 * bit 63 clear: a memory access of the execution before it.
 *   61..52 instruction in the block; 51..49 log2 of the size in bytes; 48 store; 47..0 address
 * bits 63 and 62: 01: a prefetch.  Readers that do not know it take it for an access of an instruction
 * that no block has, and leave it out.
 *   61..52 instruction in the block; 49 the address may be out of date; 47..0 address
 * bit 63 set: 62..60 kind; 47..32 number of words that follow and belong to it; 31..0 number.
 */
enum wire_kind {
	WIRE_EXEC = 0,	  /* block number; nothing follows */
	WIRE_BLOCK = 1,	  /* definition of a block: number; wire_block, then its bytes */
	WIRE_MODULE = 2,  /* definition of a module: number, from 1; wire_module, then its path */
	WIRE_COUNTED = 3, /* block number; one word: how often it was executed */
	WIRE_NOTE = 4	  /* enum wire_note */
};

enum wire_note {
	WIRE_NOTE_STREAM = 1,  /* first word of a stream: pid | vcpu << 32; parent's pid, and
				 WIRE_STREAM_FIRST if it is the first thread of a process or program */
	WIRE_NOTE_NATIVE = 2,  /* execve of a program that runs natively from here on; its path */
	WIRE_NOTE_ON = 3,      /* `from` was reached */
	WIRE_NOTE_OFF = 4,     /* `until` was reached */
	WIRE_NOTE_CALL = 5,    /* the block before it calls the kernel: number of the call */
	WIRE_NOTE_CALLEE = 6,  /* the next block calls code that is not in the trace: its cycles */
	WIRE_NOTE_WINDOW = 16, /* of a program that ran natively: enum wire_window; CPU time in ns
				  that the window stands for, 0 unless it begins */
	WIRE_NOTE_TIME = 17    /* of such a program, so far: user time, system time in ns, clock in
				  Hz */
};

/* Parts of a window.  What comes before the first one of a stream, and between windows, is unknown.
 */
enum wire_window {
	WIRE_WINDOW_NONE,    /* it has ended */
	WIRE_WINDOW_WARMING, /* it begins; what follows fills the pipeline, and does not count */
	WIRE_WINDOW_COUNTED, /* what follows counts */
	WIRE_WINDOW_COOLING  /* what follows keeps the pipeline busy, and does not count */
};

enum wire_block_flag {
	WIRE_BLOCK_REP = 1, /* the first instruction is a repeated string instruction */
	/* The last instruction may be shorter than the given bytes; if it crosses the end of a
	 * page, it does not belong to the block.
	 */
	WIRE_BLOCK_OPEN_END = 2
};

#define WIRE_STREAM_FIRST (1ull << 32)

#define WIRE_LONG	(1ull << 63)
#define WIRE_ADDRESS	((1ull << 48) - 1)
#define WIRE_STORE	(1ull << 48)
#define WIRE_SIZE_SHIFT 49
#define WIRE_INSN_SHIFT 52
#define WIRE_INSN_MASK	0x7ffu

/* A prefetch instruction.  Its address is made of registers as QEMU last stored them.  QEMU keeps what
 * was written to a register to itself until the next access to memory or the end of the block, and
 * never stores what is overwritten before that.
 */
#define WIRE_PREFETCH	   (1ull << 62)
#define WIRE_PREFETCH_LAGS (1ull << WIRE_SIZE_SHIFT)
enum { WIRE_PREFETCH_INSNS = 1 << 10 };

static inline uint64_t wire_word(enum wire_kind kind, unsigned n_words, uint32_t number)
{
	return WIRE_LONG | (uint64_t)kind << 60 | (uint64_t)n_words << 32 | number;
}

/* Payload of WIRE_BLOCK: three words, then the bytes, padded with zeros to words.
 *   0  address of the first byte
 *   1  size | instructions << 16 | offset of the last instruction << 32 | flags << 48 |
 *      instruction set << 52, as ELF headers number machines (0, as in older recordings: that of the
 *      reader)
 *   2  module (0: none)
 * Payload of WIRE_MODULE: four words, then the path, padded as well.
 *   0  begin   1  end   2  offset of begin in the file   3  length of the path
 * Payload of WIRE_NOTE_NATIVE: length of the path, then the path.
 */
#define WIRE_MACHINE_SHIFT 52
enum { WIRE_BLOCK_WORDS = 3, WIRE_MODULE_WORDS = 4, WIRE_STREAM_WORDS = 2 };

static inline unsigned wire_words_of(unsigned bytes)
{
	return (bytes + 7) / 8;
}

/* ---- files and sockets (.tct) ----
 *
 * wire_file, then one zstd frame (or several) with chunks: wire_chunk and its words.  A chunk
 * without words, of the stream WIRE_LAST, is the last one: without it the file was cut short.
 */
#define WIRE_FILE_MAGIC 0x0a1a454341525454ull /* "TTRACE\x1a\n" */
#define WIRE_LAST	0xffffffffu

struct wire_file {
	uint64_t magic;
	uint32_t version; /* WIRE_VERSION */
	uint32_t mode;	  /* enum wire_mode */
};

struct wire_chunk {
	uint32_t stream;  /* every stream has a number of its own, which is never reused */
	uint32_t n_words; /* 0: the stream has ended */
};

#endif /* TACT_WIRE_H */
