/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the files of the plugin.
 */
#ifndef TACT_PLUGIN_H
#define TACT_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NO_BLOCK    UINT32_MAX

enum {
	MAX_VCPUS = 1 << 22, /* the kernel's limit of threads; only memory that is used counts */
	MAX_BLOCKS =
		1 << 26, /* numbers of blocks; one bit per block and thread says what is defined */
	MAX_REGIONS = 256
};

/* A mapping of a file, as /proc/self/maps has it. */
struct module {
	uint64_t begin, end, offset;
	uint32_t number;  /* from 1 */
	const char *path; /* owned */
};

/* Translated code, by address and bytes: the same code translated again is the same block, and
 * other code at the same address is another one.
 */
struct block {
	uint64_t address;
	struct block *next;	     /* of the same hash */
	const struct module *module; /* NULL: none */
	uint32_t number;
	uint32_t hash;
	uint16_t size, n_insns, last_offset, flags; /* enum wire_block_flag */
	bool is_from, is_until;			    /* tracing begins or ends here */
	bool is_inside;				    /* of the regions */
	bool is_parsed;				    /* the next two are valid */
	uint16_t n_prefetches;
	struct prefetch *prefetches; /* owned; NULL: none */
	uint8_t bytes[];
};

/* One virtual CPU.  Without a stream, or while tracing is off, it points to memory that nobody
 * reads, so that callbacks need not ask.
 */
struct vcpu {
	struct wire_stream *stream;
	uint64_t *ring;
	uint64_t mask;
	uint64_t limit;		 /* of stream->head: then it is time to check on the reader */
	uint64_t *counts;	 /* by block number */
	uint32_t last;		 /* number of the block that was counted last, or NO_BLOCK */
	uint64_t *defined;	 /* one bit per block; NULL: there is no stream */
	uint8_t *modules;	 /* the same with one byte for each module number below 65536 */
	struct wire_stream *own; /* where `stream` points while tracing is on; NULL: none */
	bool is_on;
	const uint64_t *registers; /* of the program, as QEMU keeps them; NULL: not known */
} __attribute__((aligned(128)));   /* a cache line of its own, and its neighbour, fetched with it */

struct state {
	struct wire_header *header; /* NULL: not attached to anything */
	struct vcpu *vcpus;	    /* MAX_VCPUS */
	struct block **blocks;	    /* MAX_BLOCKS, by number */
	unsigned n_vcpus;	    /* that have existed so far */
	pthread_mutex_t lock;	    /* blocks, modules, claims of streams */
	int pid;
	uint64_t guest_base;
	uint64_t max_blocks;
	unsigned machine; /* of the programs, as ELF headers have it */
	/* Instructions may repeat, cross pages, and be left to functions of QEMU. */
	bool has_repeats;
	bool is_counting;
	bool has_window; /* there is a `from` or an `until` */
	bool is_on;	 /* between them */
};

extern struct state plugin;

/* plugin_stream.c */
int stream_map(const char *path); /* 0, or -1: no memory of ours */
void stream_attach(struct vcpu *v, unsigned index, bool is_first);
void stream_detach(struct vcpu *v);
void stream_after_fork(unsigned index); /* in the child */
void stream_switch(struct vcpu *v, bool is_on);
void stream_room(struct vcpu *v); /* head has reached limit */
void stream_define(struct vcpu *v, const struct block *b);
void stream_note(struct vcpu *v, enum wire_note note, const char *path);
void stream_call(struct vcpu *v, uint64_t number); /* of the kernel, if it is traced */

static inline void stream_put(struct vcpu *v, uint64_t word)
{
	uint64_t at = v->stream->head;

	if (UNLIKELY(at >= v->limit)) {
		stream_room(v);
		at = v->stream->head;
	}
	v->ring[at & v->mask] = word;
	__atomic_store_n(&v->stream->head, at + 1, __ATOMIC_RELEASE);
}

/* plugin_modules.c */
void modules_forget(void); /* mappings have changed */
const struct module *modules_find(uint64_t host_address);
int read_text(const char *path, char **text, size_t *size);

/* plugin_guard.c */
bool is_helped(const uint8_t *code, size_t size); /* QEMU has a function that accesses its memory */

/* plugin_prefetch.c */
struct prefetch;
struct qemu_plugin_tb;
bool is_repeating(const char *target); /* sets has_repeats */
void prefetch_begin(const char *target);
/* Lets the prefetches of a block be reported; under the lock. */
void prefetch_watch(struct qemu_plugin_tb *tb, struct block *b);

/* plugin_exec.c */
void exec_prepare(unsigned n_kept);
void exec_follow(struct vcpu *v, uint64_t path, uint64_t argv, uint64_t envp);

#endif /* TACT_PLUGIN_H */
