/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Streams of the plugin: one for each virtual CPU, a ring of words in shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tact_plugin.h"

enum { NOWHERE_WORDS = 1024, MAX_MODULES = 65536 };

/* Where words go that nobody reads. */
static struct wire_stream nowhere;
static uint64_t nowhere_ring[NOWHERE_WORDS];
static uint64_t *nowhere_counts;

static struct wire_stream *stream_at(uint32_t i)
{
	return (struct wire_stream *)(plugin.header + 1) + i;
}

static uint8_t *area_of(const struct wire_stream *stream)
{
	uint64_t i = (uint64_t)(stream - stream_at(0));

	return (uint8_t *)plugin.header + plugin.header->areas + i * plugin.header->area_bytes;
}

static void *private_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool is_good(const struct wire_header *h, uint64_t size)
{
	uint64_t need = sizeof(*h) + (uint64_t)h->n_streams * sizeof(struct wire_stream);

	return h->magic == WIRE_MAGIC && h->version == WIRE_VERSION && h->bytes == size &&
	       (h->mode == WIRE_TRACE || h->mode == WIRE_COUNT) && h->n_streams &&
	       h->n_streams <= 65536 && h->areas >= need && h->areas <= size &&
	       !(h->ring_words & (h->ring_words - 1)) && h->ring_words >= 4 * WIRE_CHUNK_WORDS &&
	       h->ring_words < 1ull << 40 && h->n_counters <= MAX_BLOCKS &&
	       h->area_bytes >= 8 * (h->ring_words + h->n_counters) &&
	       h->area_bytes <= (size - h->areas) / h->n_streams;
}

/* Cleans up what an earlier program of this process left when it called execve. */
static void end_predecessors(void)
{
	for (uint32_t i = 0; i < plugin.header->n_streams; i++) {
		struct wire_stream *s = stream_at(i);

		if (s->pid == plugin.pid && s->state == WIRE_ACTIVE)
			__atomic_store_n(&s->state, WIRE_ENDED, __ATOMIC_RELEASE);
	}
}

int stream_map(const char *path)
{
	struct wire_header *h = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size >= WIRE_PAGE)
		h = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (h == MAP_FAILED)
		return -1;
	madvise(h, (size_t)st.st_size, MADV_DONTDUMP);
	plugin.vcpus = private_memory(MAX_VCPUS * sizeof(struct vcpu));
	plugin.blocks = private_memory(MAX_BLOCKS * sizeof(struct block *));
	nowhere_counts = private_memory(MAX_BLOCKS * sizeof(uint64_t));
	if (!is_good(h, (uint64_t)st.st_size) || !plugin.vcpus || !plugin.blocks ||
	    !nowhere_counts) {
		munmap(h, (size_t)st.st_size);
		return -1;
	}
	plugin.header = h;
	plugin.is_counting = h->mode == WIRE_COUNT;
	plugin.max_blocks = plugin.is_counting ? h->n_counters : MAX_BLOCKS;
	end_predecessors();
	__atomic_add_fetch(&h->n_attached, 1, __ATOMIC_RELAXED);
	return 0;
}

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void wake_reader(void)
{
	__atomic_add_fetch(&plugin.header->wake, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&plugin.header->is_sleeping, __ATOMIC_SEQ_CST))
		futex(&plugin.header->wake, FUTEX_WAKE, 1, NULL);
}

/* The reader is another process, and may have been killed. */
static bool is_reader_gone(void)
{
	return kill(plugin.header->reader, 0) && errno == ESRCH;
}

static struct wire_stream *claim(void)
{
	const struct timespec pause = {0, 1000000};

	for (int attempt = 0; attempt < 1000 && !is_reader_gone(); attempt++) {
		for (uint32_t i = 0; i < plugin.header->n_streams; i++) {
			struct wire_stream *s = stream_at(i);
			uint32_t expected = WIRE_FREE;

			if (__atomic_compare_exchange_n(&s->state, &expected, WIRE_CLAIMED, false,
							__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				return s;
		}
		wake_reader(); /* so that it empties streams that have ended */
		nanosleep(&pause, NULL);
	}
	__atomic_add_fetch(&plugin.header->lost_threads, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void point_nowhere(struct vcpu *v)
{
	v->stream = &nowhere;
	v->ring = nowhere_ring;
	v->mask = NOWHERE_WORDS - 1;
	v->limit = UINT64_MAX;
	v->counts = nowhere_counts;
	v->is_on = false;
}

void stream_switch(struct vcpu *v, bool is_on)
{
	point_nowhere(v);
	v->is_on = is_on;
	if (!is_on || !v->own)
		return;
	v->stream = v->own;
	v->ring = (uint64_t *)area_of(v->own);
	v->mask = plugin.header->ring_words - 1;
	v->limit = v->own->head;
	if (plugin.is_counting)
		v->counts = v->ring + plugin.header->ring_words;
}

static void release(struct vcpu *v)
{
	if (v->defined)
		munmap(v->defined, MAX_BLOCKS / 8);
	if (v->modules)
		munmap(v->modules, MAX_MODULES);
	v->defined = NULL;
	v->modules = NULL;
	v->own = NULL;
	v->registers = NULL;
	v->last = NO_BLOCK;
	point_nowhere(v);
}

/* Gives a virtual CPU a stream; without one its code runs untraced. */
void stream_attach(struct vcpu *v, unsigned index, bool is_first)
{
	struct wire_stream *s;

	if (index >= plugin.n_vcpus)
		plugin.n_vcpus = index + 1;
	release(v);
	v->defined = private_memory(MAX_BLOCKS / 8);
	v->modules = private_memory(MAX_MODULES);
	s = v->defined && v->modules ? claim() : NULL;
	if (!s) {
		release(v);
		v->is_on = plugin.is_on;
		return;
	}
	s->pid = plugin.pid;
	s->vcpu = index;
	s->head = 0;
	s->is_waiting = 0;
	s->n_counted = 0;
	__atomic_store_n(&s->tail, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, WIRE_ACTIVE, __ATOMIC_RELEASE);
	v->own = s;
	stream_switch(v, true);
	stream_put(v, wire_word(WIRE_NOTE, WIRE_STREAM_WORDS, WIRE_NOTE_STREAM));
	stream_put(v, (uint32_t)plugin.pid | (uint64_t)index << 32);
	stream_put(v, (uint32_t)getppid() | (is_first ? WIRE_STREAM_FIRST : 0));
	stream_switch(v, plugin.is_on);
	wake_reader();
}

void stream_detach(struct vcpu *v)
{
	struct wire_stream *s = v->own;

	release(v);
	if (!s)
		return;
	__atomic_store_n(&s->state, WIRE_ENDED, __ATOMIC_RELEASE);
	wake_reader();
}

/* The parent keeps its streams; of its threads only this one exists in the child, and gets a stream
 * of its own.
 */
void stream_after_fork(unsigned index)
{
	const uint32_t last = plugin.vcpus[index].last;

	for (unsigned i = 0; i < plugin.n_vcpus; i++) {
		struct vcpu *v = &plugin.vcpus[i];

		if (v->own)
			release(v);
	}
	stream_attach(&plugin.vcpus[index], index, true);
	plugin.vcpus[index].last = last;
}

/* The ring is full: waits for the reader.  Returns false if the reader has gone. */
static bool wait_for_room(struct wire_stream *s)
{
	const struct timespec timeout = {0, 50000000};
	const uint64_t size = plugin.header->ring_words;

	while (s->head - __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) >= size) {
		uint32_t taken = __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE);

		__atomic_store_n(&s->is_waiting, 1, __ATOMIC_SEQ_CST);
		wake_reader();
		if (s->head - __atomic_load_n(&s->tail, __ATOMIC_SEQ_CST) < size)
			break;
		if (futex(&s->taken, FUTEX_WAIT, taken, &timeout) && errno == ETIMEDOUT &&
		    is_reader_gone())
			return false;
	}
	__atomic_store_n(&s->is_waiting, 0, __ATOMIC_RELAXED);
	return true;
}

void stream_room(struct vcpu *v)
{
	struct wire_stream *s = v->stream;
	uint64_t end, border;

	if (s->head)
		wake_reader();
	if (!wait_for_room(s)) {
		v->own = NULL; /* nobody reads: the program continues alone */
		point_nowhere(v);
		return;
	}
	end = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) + plugin.header->ring_words;
	border = (s->head / WIRE_CHUNK_WORDS + 1) * WIRE_CHUNK_WORDS;
	v->limit = end < border ? end : border;
}

static void put_bytes(struct vcpu *v, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = 0;

		memcpy(&word, (const uint8_t *)bytes + i, size - i < 8 ? size - i : 8);
		stream_put(v, word);
	}
}

static void define_module(struct vcpu *v, const struct module *m)
{
	unsigned size = (unsigned)strlen(m->path);

	if (m->number >= MAX_MODULES || v->modules[m->number])
		return;
	v->modules[m->number] = 1;
	stream_put(v, wire_word(WIRE_MODULE, WIRE_MODULE_WORDS + wire_words_of(size), m->number));
	stream_put(v, m->begin);
	stream_put(v, m->end);
	stream_put(v, m->offset);
	stream_put(v, size);
	put_bytes(v, m->path, size);
}

void stream_define(struct vcpu *v, const struct block *b)
{
	uint32_t module = b->module && b->module->number < MAX_MODULES ? b->module->number : 0;

	if (!v->own || !v->is_on)
		return;
	v->defined[b->number / 64] |= 1ull << b->number % 64;
	if (b->number >= v->own->n_counted)
		v->own->n_counted = b->number + 1;
	if (module)
		define_module(v, b->module);
	stream_put(v, wire_word(WIRE_BLOCK, WIRE_BLOCK_WORDS + wire_words_of(b->size), b->number));
	stream_put(v, b->address);
	stream_put(v, b->size | (uint64_t)b->n_insns << 16 | (uint64_t)b->last_offset << 32 |
			      (uint64_t)b->flags << 48 |
			      (uint64_t)plugin.machine << WIRE_MACHINE_SHIFT);
	stream_put(v, module);
	put_bytes(v, b->bytes, b->size);
}

/* Notes go to the stream whether tracing is on or off. */
void stream_note(struct vcpu *v, enum wire_note note, const char *path)
{
	unsigned size = path ? (unsigned)strnlen(path, WIRE_MAX_PATH - 1) : 0;
	bool was_on = v->is_on;

	if (!v->own)
		return;
	stream_switch(v, true);
	stream_put(v, wire_word(WIRE_NOTE, path ? 1 + wire_words_of(size) : 0, note));
	if (path) {
		stream_put(v, size);
		put_bytes(v, path, size);
	}
	stream_switch(v, was_on);
}

void stream_call(struct vcpu *v, uint64_t number)
{
	if (!v->own || !v->is_on || plugin.is_counting)
		return;
	stream_put(v, wire_word(WIRE_NOTE, 1, WIRE_NOTE_CALL));
	stream_put(v, number);
}
