/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that trace a program on the CPU itself.
 *
 * A keeper, a process of ours, is the tracer.  At random moments of the program's CPU time it stops
 * a thread, steps through a window of instructions, and lets it run on.  What it saw goes into a
 * ring of words in shared memory: registers and bytes of each instruction, nothing decoded.  This
 * process turns them into the words of a trace (native_run.c).  The keeper lives on when this process
 * is killed: it then ends the program, or lets go of one that it was attached to, so that no thread
 * is left with a trap set.
 */
#ifndef TRACE_NATIVE_H
#define TRACE_NATIVE_H

#include <stdatomic.h>
#include <time.h>

#include "isa/isa.h"
#include "trace/trace.h"

enum {
	NATIVE_RING = 1 << 20, /* words: 8 MiB, or a dozen windows */
	NATIVE_CODE_WORDS = 2, /* bytes of an instruction */
	NATIVE_STATE_WORDS = sizeof(struct isa_state) / 8,
	NATIVE_STEP_WORDS = 1 + NATIVE_STATE_WORDS + NATIVE_CODE_WORDS,
	NATIVE_MAX_MAPS = 1 << 20, /* bytes of /proc/PID/maps */
	NATIVE_MAX_THREADS = 4096,
	NATIVE_MAX_PROCESSES = 1024
};

/* Instructions of a window.  It first fills the pipeline and ends by emptying it; only those in
 * between count.
 */
enum { NATIVE_WARMING = 900, NATIVE_COUNTED = 800, NATIVE_COOLING = 300 };
enum { NATIVE_STEPS = NATIVE_WARMING + NATIVE_COUNTED + NATIVE_COOLING };

/* First word of a record: kind << 32 | words that follow. */
enum native_record {
	NATIVE_THREAD = 1, /* a thread is seen for the first time: tid; pid | parent << 32 */
	NATIVE_MAPS,	   /* mappings of the thread's process have changed: bytes; text */
	NATIVE_WINDOW,	   /* tid; CPU time in ns that it stands for; clock in Hz */
	NATIVE_STEP,	   /* struct isa_state, bytes of the instruction */
	NATIVE_WINDOW_END, /* tid; the state after the last step */
	NATIVE_THREAD_END, /* tid */
	NATIVE_TIME	   /* so far: user time, system time in ns */
};

enum native_progress { NATIVE_STARTING, NATIVE_RUNNING, NATIVE_FAILED };

/* What failed, with an errno. */
enum native_failure { NATIVE_NO_PROCESS, NATIVE_NO_TRACE, NATIVE_NO_EXEC };

struct native_shared {
	atomic_int progress;
	atomic_int failure, error;
	atomic_int is_over;   /* the keeper is done */
	atomic_int has_ended; /* the program */
	atomic_int wait_status;
	atomic_uint lost_threads;
	atomic_uint_least64_t head, tail; /* words written, words read */
	uint64_t ring[NATIVE_RING];
};

/* What the keeper is to do. */
struct native_order {
	char *const *words; /* the program and its arguments; NULL: attach */
	const char *path;   /* of the program */
	pid_t target;	    /* to attach to */
	uint64_t time_ns;   /* detach after this wall-clock time; 0: never */
	uint64_t seed;
	const struct isa_native *native;
};

/* The keeper: only calls that are safe after fork in a process with threads. */
_Noreturn void native_keep(struct native_shared *shared, const struct native_order *order,
			   const sigset_t *mask, const sigset_t *signals, pid_t parent);

/* ---- native_table.c: threads and processes, in the keeper ---- */

struct native_process {
	pid_t pid; /* 0: unused */
	pid_t parent;
	unsigned n_threads;
	uint64_t cpu_base, cpu; /* ns, when it was first seen and when it was last asked */
	uint64_t progress;	/* CPU time since the last choice */
	uint64_t asked;		/* CPU time at the last choice */
	uint64_t maps;		/* hash of the mappings that were passed on */
	bool is_ready;		/* it runs the program, not code of ours before execve */
};

struct native_thread {
	pid_t tid; /* 0: unused */
	pid_t parent;
	struct native_process *process;
	bool is_announced;
	uint64_t asked; /* CPU time at the last choice */
};

struct native_table {
	struct native_process processes[NATIVE_MAX_PROCESSES];
	struct native_thread threads[NATIVE_MAX_THREADS];
	unsigned end_processes, end_threads; /* behind the last one that is used */
	uint64_t cpu;			     /* of processes that have ended, ns */
};

struct native_thread *native_thread_find(struct native_table *table, pid_t tid); /* or NULL */
/* Adds a thread that the kernel knows.  NULL: there is no room. */
struct native_thread *native_thread_add(struct native_table *table, pid_t tid);
void native_thread_remove(struct native_table *table, struct native_thread *thread);
/* Reads the clocks of a process. */
void native_process_look(struct native_process *process);
/* Returns the CPU time of all processes since they were first seen, ns. */
uint64_t native_table_cpu(struct native_table *table);
/* Chooses a thread, with the chance that its share of the latest CPU time gives it. */
struct native_thread *native_table_choose(struct native_table *table, uint64_t random);
/* CPU time of a thread, ns; of a running one it may lag behind by a tick of the kernel. */
uint64_t native_thread_time(const struct native_thread *thread);
unsigned native_thread_cpu(const struct native_thread *thread); /* that it ran on last */
uint64_t native_now(void);					/* ns */
/* Reads a file of /proc.  Returns bytes, with a NUL behind them, or -1. */
ssize_t native_read_file(const char *path, char *text, size_t size);
/* Writes "/proc/PID/NAME", or "/proc/PID/task/TID/NAME". */
const char *native_proc_path(char *out, pid_t pid, pid_t tid, const char *name);
enum { NATIVE_PATH = 80 };

/* ---- native_step.c: windows ---- */

/* Code of the window. */
struct native_page {
	uint64_t address; /* in pages, plus one; 0: none */
	uint8_t bytes[4096];
};

enum { NATIVE_PAGES = 64 };

struct native_keeper {
	struct native_shared *shared;
	const struct native_order *order;
	const struct isa_tracing *tracing;
	struct native_table table;
	pid_t program;
	uint64_t head;		    /* of the ring, before it is published */
	uint64_t stepping;	    /* CPU time of threads while they were stepped through, ns */
	double weight, user_weight; /* of moments, and of those in the program itself */
	uint64_t random;
	const sigset_t *signals;
	int stop; /* signal that ends it; 0: none so far */
	struct native_page pages[NATIVE_PAGES];
	char text[NATIVE_MAX_MAPS];
};

/* Takes a stop or the end of a thread.  Returns the signal to resume it with, or -1 if there is
 * nothing to resume.
 */
int native_take_stop(struct native_keeper *k, pid_t tid, int status);
/* Takes all stops that there are, and resumes the threads. */
void native_take_all(struct native_keeper *k);
/* Waits for stops, or for a signal that ends the keeper, at most so long. */
void native_wait(struct native_keeper *k, uint64_t ns);

/* Steps through a window of a thread, which stands for `span` ns, unless the moment belongs to the
 * kernel.  native_probe only finds out whether it does.  The moment stands for `weight` ns.
 */
void native_window(struct native_keeper *k, struct native_thread *thread, uint64_t span,
		   uint64_t weight);
void native_probe(struct native_keeper *k, struct native_thread *thread, uint64_t weight);

/* Writes a record.  native_publish lets the reader see what was written. */
void native_put(struct native_keeper *k, enum native_record kind, const void *data, size_t words);
void native_publish(struct native_keeper *k);

#endif /* TRACE_NATIVE_H */
