/* SPDX-License-Identifier: MIT
 *
 * Rings: perf_event_open(2), section "MMAP layout".
 */
#include "pmu/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_RECORD = 65536 };

static void copy_out(const uint8_t *data, uint64_t size, uint64_t at, void *to, size_t n)
{
	uint64_t begin = at & (size - 1), first = size - begin < n ? size - begin : n;

	memcpy(to, data + begin, (size_t)first);
	memcpy((uint8_t *)to + first, data, n - (size_t)first);
}

static void pass_on(const uint8_t *data, uint64_t size, uint64_t from, uint64_t to,
		    pmu_ring_sink *sink, void *arg)
{
	while (from < to) {
		uint64_t begin = from & (size - 1), n = to - from;

		if (n > size - begin)
			n = size - begin;
		sink(arg, data + begin, (size_t)n);
		from += n;
	}
}

uint64_t pmu_ring_take(const uint8_t *data, uint64_t size, uint64_t tail, uint64_t head,
		       pmu_ring_sink *sink, pmu_ring_watch *watch, void *arg)
{
	_Alignas(8) uint8_t whole[MAX_RECORD];
	uint64_t at = tail;

	if (head - tail > size)
		return tail;
	while (head - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		copy_out(data, size, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		if (watch) {
			copy_out(data, size, at, whole, h.size);
			watch(arg, (const struct perf_event_header *)whole);
		}
		at += h.size;
	}
	pass_on(data, size, tail, at, sink, arg);
	return at;
}

int pmu_ring_map(struct pmu_ring *ring, int fd, unsigned order)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int error = EINVAL;

	for (;; order--) {
		size_t size = page << order;
		void *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (memory != MAP_FAILED) {
			*ring = (struct pmu_ring){memory, (uint8_t *)memory + page, size};
			return 0;
		}
		error = errno;
		/* More than perf_event_mlock_kb: a smaller ring will do. */
		if (!order || (error != EPERM && error != ENOMEM))
			return error;
	}
}

void pmu_ring_unmap(struct pmu_ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)(ring->data - (uint8_t *)ring->page) + ring->size);
	*ring = (struct pmu_ring){0};
}

void pmu_ring_drain(struct pmu_ring *ring, pmu_ring_sink *sink, pmu_ring_watch *watch, void *arg)
{
	/* The kernel writes data, then the head; we read the head, then the data, and free them
	 * last.
	 */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = pmu_ring_take(ring->data, ring->size, ring->page->data_tail, head, sink,
				      watch, arg);

	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

int pmu_event_open(struct perf_event_attr *attr, int pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}
