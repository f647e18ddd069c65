/* SPDX-License-Identifier: MIT
 *
 * How a counter of perf's is read, and when a reading counts.
 *
 * Everything here is inline and needs nothing of the C library, so that the process that runs
 * blocks can use it, and a test can call it with pages that no kernel has made.
 *
 * In user mode (perf_event_open(2), "rdpmc instruction"): the page of the event says on which
 * counter it is now.  The kernel changes `lock` before and after it changes anything else, whenever
 * the event comes to a counter or leaves it: when the thread is switched in or out, when the
 * counter overflows, when events take turns.  If `lock` is the same before the first reading and
 * after the last one, both were of one counter that counted all the time, and they differ by the
 * cycles in between, modulo 2^pmc_width.  If it is not, the run was interrupted and is void.
 *
 * By system calls: PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING tell whether the event was on a
 * counter all the time.
 */
#ifndef TACT_MEASURE_COUNTER_H
#define TACT_MEASURE_COUNTER_H

#include <asm/unistd.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/measure.h>

/* Why there is no counter: an errno, or one of these. */
enum counter_error {
	COUNTER_FIRST = 1000,
	COUNTER_NO_PAGE = COUNTER_FIRST, /* the event's page cannot be mapped */
	COUNTER_NOT_READABLE,		 /* not in user mode */
	COUNTER_OFF,			 /* the event is on no counter */
	COUNTER_WIDTH,			 /* of a number of bits that cannot be */
	COUNTER_UNSTEADY,		 /* its page never stops changing */
	COUNTER_EMPTY,			 /* a reading has no bytes: a pinned event has lost it */
	COUNTER_SHARED,			 /* events take turns on it */
	COUNTER_STILL,			 /* it opens, and does not count */
	COUNTER_FAULTS,			 /* reading it in user mode is an exception */
	COUNTER_WRONG,			 /* it counts something else than cycles */
	COUNTER_NO_DEVICE		 /* the kernel has no such device */
};

/* ---- the event ---- */

/* Where a rung finds its event. */
struct counter_place {
	uint32_t aperf_type, aperf_config; /* of perf's msr device, which counts all or nothing */
	uint32_t core_type; /* of perf's device for a kind of cores; 0: the usual one */
};

/* Describes the event of a rung.  excludes: whether cycles of the kernel and of the hypervisor are
 * left out; some counters cannot.
 */
static inline void counter_describe(struct perf_event_attr *attr, enum tact_rung rung,
				    const struct counter_place *place, bool excludes)
{
	unsigned char *bytes = (unsigned char *)attr;

	for (size_t i = 0; i < sizeof(*attr); i++)
		bytes[i] = 0;
	attr->size = sizeof(*attr);
	attr->pinned = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (rung == TACT_RUNG_APERF) {
		attr->type = place->aperf_type;
		attr->config = place->aperf_config;
		return;
	}
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES | (uint64_t)place->core_type << 32;
	attr->exclude_kernel = attr->exclude_hv = excludes;
}

/* Whether to try again without leaving out the kernel: the counter may not be able to. */
static inline bool counter_may_not_exclude(enum tact_rung rung, long error)
{
	return rung != TACT_RUNG_APERF && (error == 22 || error == 95); /* EINVAL, EOPNOTSUPP */
}

/* Whether another kind of cores may have the counter: an event of one kind is on no counter while
 * the thread runs on the other.
 */
static inline bool counter_may_be_elsewhere(enum tact_rung rung, int error)
{
	return rung != TACT_RUNG_APERF && (error == COUNTER_OFF || error == COUNTER_EMPTY);
}

/* ---- in user mode ---- */

struct counter_view {
	uint32_t lock, index; /* index - 1 is what rdpmc takes; bit 30: a fixed counter */
	unsigned width;	      /* bits of the counter */
};

/* The kernel writes the page while it is read, and says so in `lock`: no race, but no thread
 * sanitizer can know that.
 */
#define READS_KERNEL_PAGE __attribute__((no_sanitize("thread")))

/* Looks where the event is now.  Returns 0 or an enum counter_error. */
READS_KERNEL_PAGE static inline int counter_look(const volatile struct perf_event_mmap_page *page,
						 struct counter_view *view)
{
	enum { TRIES = 1000 };

	for (int i = 0; i < TRIES; i++) {
		bool is_readable;

		view->lock = page->lock;
		__asm__ volatile("" ::: "memory");
		is_readable = page->cap_user_rdpmc;
		view->index = page->index;
		view->width = page->pmc_width;
		__asm__ volatile("" ::: "memory");
		if (view->lock & 1 || page->lock != view->lock)
			continue; /* the kernel is writing */
		if (!is_readable)
			return COUNTER_NOT_READABLE;
		if (!view->index)
			return COUNTER_OFF;
		return view->width >= 16 && view->width <= 64 ? 0 : COUNTER_WIDTH;
	}
	return COUNTER_UNSTEADY;
}

/* Whether readings since the look are of one counter that has counted all the time. */
READS_KERNEL_PAGE static inline bool
counter_is_same(const volatile struct perf_event_mmap_page *page, const struct counter_view *view)
{
	__asm__ volatile("" ::: "memory");
	return page->lock == view->lock;
}

/* Cycles between two readings of a counter that may have wrapped around. */
static inline uint64_t counter_difference(uint64_t begin, uint64_t end, unsigned width)
{
	return width < 64 ? (end - begin) & ((1ull << width) - 1) : end - begin;
}

/* The count of the event: its offset, and what the counter has added, which is signed. */
static inline uint64_t counter_value(uint64_t offset, uint64_t reading, unsigned width)
{
	const unsigned shift = width < 64 ? 64 - width : 0;

	return offset + (uint64_t)((int64_t)(reading << shift) >> shift);
}

/* ---- by system calls ---- */

/* What read() returns for the event. */
struct counter_reading {
	uint64_t value, enabled, running; /* nanoseconds */
};

/* Says what is wrong with a reading of `size` bytes after `before`, or 0. */
static inline int counter_check(const struct counter_reading *before,
				const struct counter_reading *after, long size)
{
	if (size < 0)
		return (int)-size;
	if (size != (long)sizeof(*after))
		return COUNTER_EMPTY;
	if (after->enabled && !after->running)
		return COUNTER_OFF;
	return after->enabled - before->enabled != after->running - before->running ? COUNTER_SHARED
										    : 0;
}

/* ---- a known answer ---- */

/* Dependent multiplications of 3 cycles each, in two lengths, the shortest of some tries. */
enum { COUNTER_SHORT = 256, COUNTER_LONG = 1024, COUNTER_TRIES = 4 };

/* Judges a counter by the cycles that it gave for them.  Returns 0 or an enum counter_error. */
static inline int counter_judge(uint64_t short_chain, uint64_t long_chain)
{
	const uint64_t links = COUNTER_LONG - COUNTER_SHORT;

	if (!long_chain)
		return COUNTER_STILL;
	if (long_chain <= short_chain)
		return COUNTER_WRONG;
	/* 2.7 to 3.7 cycles: a disturbed chain is a little longer, never shorter. */
	return (long_chain - short_chain) * 10 < 27 * links ||
			       (long_chain - short_chain) * 10 > 37 * links
		       ? COUNTER_WRONG
		       : 0;
}

/* ---- counter.c, for the parent ---- */

/* Writes for people why a rung has no counter, and what helps. */
void counter_explain(int error, enum tact_rung rung, char *text, size_t size);

#endif /* TACT_MEASURE_COUNTER_H */
