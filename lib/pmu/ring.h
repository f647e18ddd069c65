/* SPDX-License-Identifier: MIT
 *
 * Rings that the kernel writes records of events into.
 */
#ifndef PMU_RING_H
#define PMU_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Called for parts of records: a record that wraps around the end of a ring comes in two. */
typedef void pmu_ring_sink(void *arg, const void *bytes, size_t size);

/* Called for every record, whole and contiguous; NULL: not called. */
typedef void pmu_ring_watch(void *arg, const struct perf_event_header *record);

/* Passes on what is between tail and head of a ring of `size` bytes, a power of two.  Returns the
 * new tail: head, or less if a record is malformed, which no kernel writes.
 */
uint64_t pmu_ring_take(const uint8_t *data, uint64_t size, uint64_t tail, uint64_t head,
		       pmu_ring_sink *sink, pmu_ring_watch *watch, void *arg);

/* A mapped ring of an event. */
struct pmu_ring {
	struct perf_event_mmap_page *page; /* NULL: none */
	uint8_t *data;
	uint64_t size;
};

/* Maps a ring of 2^order pages; fewer if the kernel does not allow that many.  Returns 0 or an
 * errno. */
int pmu_ring_map(struct pmu_ring *ring, int fd, unsigned order);
void pmu_ring_unmap(struct pmu_ring *ring);
void pmu_ring_drain(struct pmu_ring *ring, pmu_ring_sink *sink, pmu_ring_watch *watch, void *arg);

/* Opens an event.  Returns a descriptor, or -errno. */
int pmu_event_open(struct perf_event_attr *attr, int pid, int cpu);

#endif /* PMU_RING_H */
