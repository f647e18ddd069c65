/* SPDX-License-Identifier: MIT
 *
 * Shared memory of running programs: takes words out of the rings.
 *
 * The programs can write to all of it.  So nothing in it is trusted twice: sizes and places are
 * those that were chosen here, words are copied before they are examined, and an impossible number
 * ends the stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/trace.h"

enum {
	N_STREAMS = 256,
	TRACE_RING = 1 << 17, /* words: 1 MiB */
	COUNT_RING = 1 << 15, /* definitions only */
	N_COUNTERS = 1 << 22,
	WAIT_MS = 5,
	LOOK_INTERVAL = 64 /* pieces between two checks for processes that died */
};

struct slot {
	bool is_used;
	bool is_dead;	 /* the process of the stream is */
	uint32_t number; /* of the stream */
	int pidfd;	 /* -1: none */
	int pid;
	uint64_t tail;
	uint64_t next_counter;
};

struct trace_live {
	struct wire_header *header; /* mapped */
	size_t bytes, area_bytes, areas;
	uint64_t ring_words, n_counters;
	int fd;
	uint32_t next_number;
	unsigned turn; /* slot to examine first */
	unsigned since_look;
	bool has_waited; /* take what there is, even if it is little */
	uint64_t words;
	struct slot slots[N_STREAMS];
	uint64_t buffer[WIRE_CHUNK_WORDS];
};

static struct wire_stream *stream_at(const struct trace_live *live, unsigned i)
{
	return (struct wire_stream *)(live->header + 1) + i;
}

static uint64_t *area_at(const struct trace_live *live, unsigned i)
{
	return (uint64_t *)((uint8_t *)live->header + live->areas + i * live->area_bytes);
}

int trace_live_create(struct trace_live **out, enum wire_mode mode, struct tact_diag *diag)
{
	struct trace_live *live = calloc(1, sizeof(*live));
	size_t head = sizeof(struct wire_header) + N_STREAMS * sizeof(struct wire_stream);

	if (!live)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	live->ring_words = mode == WIRE_COUNT ? COUNT_RING : TRACE_RING;
	live->n_counters = mode == WIRE_COUNT ? N_COUNTERS : 0;
	live->area_bytes = 8 * (size_t)(live->ring_words + live->n_counters);
	live->areas = (head + WIRE_PAGE - 1) / WIRE_PAGE * WIRE_PAGE;
	live->bytes = live->areas + N_STREAMS * live->area_bytes;
	live->header = MAP_FAILED;
	/* Pages are created when they are touched.  The program may write to all of it, but not take
	 * pages away from under our hands: reading past the end of a file is a SIGBUS.
	 */
	live->fd = memfd_create("tact-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (live->fd >= 0 && !file_set_size(live->fd, (off_t)live->bytes) &&
	    !fcntl(live->fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW))
		live->header = mmap(NULL, live->bytes, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_NORESERVE, live->fd, 0);
	if (live->header == MAP_FAILED) {
		const int status = tact_fail_errno(diag, "cannot get shared memory");

		live->header = NULL;
		trace_live_destroy(live);
		return status;
	}
	*live->header = (struct wire_header){
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.mode = mode,
		.n_streams = N_STREAMS,
		.reader = getpid(),
		.ring_words = live->ring_words,
		.n_counters = live->n_counters,
		.areas = live->areas,
		.area_bytes = live->area_bytes,
		.bytes = live->bytes,
	};
	for (unsigned i = 0; i < N_STREAMS; i++)
		live->slots[i].pidfd = -1;
	*out = live;
	return 0;
}

void trace_live_destroy(struct trace_live *live)
{
	if (!live)
		return;
	for (unsigned i = 0; i < N_STREAMS; i++)
		if (live->slots[i].is_used && live->slots[i].pidfd >= 0)
			close(live->slots[i].pidfd);
	if (live->header)
		munmap(live->header, live->bytes);
	if (live->fd >= 0)
		close(live->fd);
	free(live);
}

void trace_live_path(const struct trace_live *live, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), live->fd);
}

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void open_slot(struct trace_live *live, unsigned i)
{
	const int pid = stream_at(live, i)->pid;

	live->slots[i] = (struct slot){
		.is_used = true,
		.number = live->next_number++,
		.pid = pid,
		.pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
	};
	if (live->slots[i].pidfd < 0 && (pid <= 0 || errno == ESRCH))
		live->slots[i].is_dead = true;
}

static void close_slot(struct trace_live *live, unsigned i)
{
	struct wire_stream *s = stream_at(live, i);

	if (live->slots[i].pidfd >= 0)
		close(live->slots[i].pidfd);
	live->slots[i] = (struct slot){.pidfd = -1};
	/* Gives the pages back; new ones will be zero. */
	madvise(area_at(live, i), live->area_bytes, MADV_REMOVE);
	__atomic_store_n(&s->state, WIRE_FREE, __ATOMIC_RELEASE);
}

/* Copies up to a chunk of words; 0 if there are fewer than `least`. */
static size_t take_words(struct trace_live *live, unsigned i, uint64_t least)
{
	const uint64_t mask = live->ring_words - 1;
	struct wire_stream *s = stream_at(live, i);
	struct slot *slot = &live->slots[i];
	const uint64_t *ring = area_at(live, i);
	uint64_t n = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE) - slot->tail;
	uint64_t first;

	if (n > live->ring_words) { /* the program wrote there, not the plugin */
		slot->is_dead = true;
		return 0;
	}
	if (!n || n < least)
		return 0;
	if (n > WIRE_CHUNK_WORDS)
		n = WIRE_CHUNK_WORDS;
	first = live->ring_words - (slot->tail & mask);
	if (first > n)
		first = n;
	memcpy(live->buffer, ring + (slot->tail & mask), first * 8);
	memcpy(live->buffer + first, ring, (n - first) * 8);
	slot->tail += n;
	live->words += n;
	__atomic_store_n(&s->tail, slot->tail, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&s->taken, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->is_waiting, __ATOMIC_SEQ_CST))
		futex(&s->taken, FUTEX_WAKE, 1, NULL);
	return n;
}

/* Turns the counters of a stream that has ended into words. */
static size_t take_counters(struct trace_live *live, unsigned i)
{
	struct slot *slot = &live->slots[i];
	const uint64_t *counters = area_at(live, i) + live->ring_words;
	/* Reading an unused counter would allocate its page. */
	uint64_t end = stream_at(live, i)->n_counted;
	size_t n = 0;

	if (end > live->n_counters)
		end = live->n_counters;
	for (; slot->next_counter < end && n < WIRE_CHUNK_WORDS; slot->next_counter++) {
		const uint64_t count = counters[slot->next_counter];

		if (!count)
			continue;
		live->buffer[n++] = wire_word(WIRE_COUNTED, 1, (uint32_t)slot->next_counter);
		live->buffer[n++] = count;
	}
	return n;
}

static void look_for_dead(struct trace_live *live, bool is_over)
{
	for (unsigned i = 0; i < N_STREAMS; i++) {
		struct slot *slot = &live->slots[i];
		struct pollfd p = {.fd = slot->pidfd, .events = POLLIN};

		if (!slot->is_used)
			continue;
		if (is_over ||
		    (slot->pidfd >= 0 ? poll(&p, 1, 0) > 0 : kill(slot->pid, 0) && errno == ESRCH))
			slot->is_dead = true;
	}
	live->since_look = 0;
}

/* Takes a piece of stream i; 0 if there is none. */
static int piece_of(struct trace_live *live, unsigned i, struct trace_piece *piece)
{
	struct slot *slot = &live->slots[i];
	const uint32_t state = __atomic_load_n(&stream_at(live, i)->state, __ATOMIC_ACQUIRE);
	bool is_last;
	size_t n;

	if (!slot->is_used) {
		if (state != WIRE_ACTIVE && state != WIRE_ENDED)
			return 0;
		open_slot(live, i);
	}
	is_last = slot->is_dead || state == WIRE_ENDED;
	n = take_words(live, i, is_last || live->has_waited ? 1 : WIRE_CHUNK_WORDS);
	if (!n && !is_last)
		return 0;
	if (!n)
		n = take_counters(live, i);
	*piece = (struct trace_piece){slot->number, live->buffer, n};
	if (!n)
		close_slot(live, i);
	return 1;
}

static bool has_used(const struct trace_live *live)
{
	for (unsigned i = 0; i < N_STREAMS; i++)
		if (live->slots[i].is_used)
			return true;
	return false;
}

/* `seen`: the value of `wake` before the rings were examined. */
static void wait_for_words(struct trace_live *live, uint32_t seen)
{
	const struct timespec timeout = {0, WAIT_MS * 1000000L};
	struct wire_header *h = live->header;

	__atomic_store_n(&h->is_sleeping, 1, __ATOMIC_SEQ_CST);
	futex(&h->wake, FUTEX_WAIT, seen, &timeout);
	__atomic_store_n(&h->is_sleeping, 0, __ATOMIC_RELAXED);
}

int trace_live_next(struct trace_live *live, bool is_over, struct trace_piece *piece,
		    struct tact_diag *diag)
{
	const uint32_t seen = __atomic_load_n(&live->header->wake, __ATOMIC_ACQUIRE);

	(void)diag;
	if (is_over || ++live->since_look >= LOOK_INTERVAL)
		look_for_dead(live, is_over);
	for (int round = 0; round < 2; round++) {
		for (unsigned k = 0; k < N_STREAMS; k++) {
			const unsigned i = (live->turn + k) % N_STREAMS;

			if (piece_of(live, i, piece)) {
				live->turn = i + 1;
				live->has_waited = false;
				return 1;
			}
		}
		if (is_over && !has_used(live))
			return 0;
		if (!round && !is_over)
			wait_for_words(live, seen);
		look_for_dead(live, is_over);
		live->has_waited = true;
	}
	return 0;
}

void trace_live_summary(const struct trace_live *live, struct tact_trace_summary *out)
{
	const struct wire_header *h = live->header;

	out->words = live->words;
	out->lost_threads = __atomic_load_n(&h->lost_threads, __ATOMIC_RELAXED);
	out->lost_blocks = __atomic_load_n(&h->lost_blocks, __ATOMIC_RELAXED);
	out->is_attached = __atomic_load_n(&h->n_attached, __ATOMIC_RELAXED) > 0;
}
