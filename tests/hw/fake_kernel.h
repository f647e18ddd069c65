/* SPDX-License-Identifier: MIT
 *
 * A kernel with counters, as far as a traced program can tell.  fake_kernel.c traces, and
 * fake_counter.c counts.
 */
#ifndef TESTS_FAKE_KERNEL_H
#define TESTS_FAKE_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* How the counters behave. */
struct fake {
	int open_error;	    /* of perf_event_open; 0: it works */
	int exclude_error;  /* the same for events that leave out the kernel */
	int paranoid;	    /* -2: not simulated */
	bool no_user_read;  /* cap_user_rdpmc is 0 */
	bool no_page;	    /* the page cannot be mapped */
	bool faults;	    /* rdpmc faults although the page allows it */
	bool still;	    /* the counter stands */
	bool garbage;	    /* the counter has no sense */
	uint32_t core_type; /* the thread runs on such a core; 0: there is one kind */
	bool off;	    /* index 0: on no counter */
	uint32_t index;	    /* of the page */
	unsigned width;	    /* bits */
	uint64_t start;	    /* first value of the counter */
	uint32_t lock;	    /* first value */
	unsigned
		switches; /* every so many readings, the event moves to another counter; 0: never */
	unsigned shared;  /* percent of the time that the event is off */
	unsigned lost;	  /* after so many readings, the counter is gone; 0: never */
	double rate;	  /* counts per cycle */
	const char *sysfs; /* instead of /sys/bus/event_source/devices */
	bool is_verbose;
};

/* A thread of the traced program. */
struct task {
	pid_t tid;
	bool is_stepping;
	bool is_opening;   /* between perf_event_open, which is made another call, and its result */
	uint64_t count;	   /* cycles in user mode, in units of 1/16 */
	uint64_t begin_pc; /* of the reading that began to step */
	unsigned steps;	   /* since then */
	uint64_t stop_at;  /* runs up to this breakpoint; 0: is stepped */
	bool ends_next;	   /* the next reading does not begin to step */
	bool after_flags;  /* the last instruction has loaded the flags */
	struct perf_event_attr attr; /* that it opens */
};

struct event {
	const struct fake *fake; /* how it behaves */
	pid_t owner;
	ino_t inode; /* of the file that stands for it */
	struct perf_event_attr attr;
	struct perf_event_mmap_page *page; /* the owner has it, too; NULL: none */
	uint64_t base;			   /* task.count when it was opened or reset */
	uint64_t opened;		   /* nanoseconds */
	uint64_t enabled_at;		   /* time stamp; 0: counts what is stepped */
	uint64_t counted;		   /* by the time stamp */
	uint64_t offset;		   /* added by a change of the counter */
	unsigned readings;
	bool is_off;
};

uint64_t fake_now(void);
struct event *fake_find_event(ino_t inode);

/* Returns the event of a task that is, or was, on the counter that rdpmc reads; NULL: rdpmc faults.
 */
struct event *fake_event_of(pid_t owner, uint32_t index);

/* Returns an errno that perf_event_open has for this event, or 0. */
int fake_open_error(const struct fake *f, const struct perf_event_attr *attr);

/* Makes an event of a task; `page` is the tracer's view of the file. */
struct event *fake_open(const struct fake *f, const struct task *t, ino_t inode, void *page);

/* What rdpmc gives for a counter, on which the event may be no more. */
uint64_t fake_rdpmc(struct event *e, const struct task *t, uint32_t index);

/* Fills what read() gives.  Returns the number of bytes. */
long fake_read(struct event *e, const struct task *t, uint64_t words[3]);

long fake_ioctl(struct event *e, const struct task *t, unsigned request);

/* Cycles of an instruction, in units of 1/16. */
unsigned fake_cost(const uint8_t code[8]);

/* Finds how far code goes straight on, without anything that the tracer has to see.  Returns the
 * bytes up to there; *n is the number of instructions and *cost what they take.
 */
size_t fake_straight(const uint8_t *code, size_t size, unsigned *n, uint64_t *cost);

#endif /* TESTS_FAKE_KERNEL_H */
