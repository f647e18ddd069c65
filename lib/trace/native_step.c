/* SPDX-License-Identifier: MIT
 *
 * Windows of a program that runs natively: stops a thread, and steps through its instructions.
 * Part of the keeper: nothing here allocates or uses stdio.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "trace/native_run.h"

enum {
	PAGE = 4096,
	MAX_CODE = 15,
	CHAIN = 16 * 1000,   /* multiplications that measure the clock */
	CHAIN_LATENCY = 3,   /* cycles */
	STOP_MS = 50,	     /* that a thread has to stop */
	ALL_CPUS = 1 << 14,  /* bits of an affinity */
	FEW = 4,	     /* repetitions that are stepped through */
	MOST_STOPS = 1 << 16 /* of a window */
};

/* ---- the ring ---- */

void native_put(struct native_keeper *k, enum native_record kind, const void *data, size_t words)
{
	const uint64_t *from = data;

	k->shared->ring[k->head++ % NATIVE_RING] = (uint64_t)kind << 32 | words;
	for (size_t i = 0; i < words; i++)
		k->shared->ring[k->head++ % NATIVE_RING] = from[i];
}

void native_publish(struct native_keeper *k)
{
	atomic_store(&k->shared->head, k->head);
}

static bool has_room(const struct native_keeper *k, size_t words)
{
	return k->head - atomic_load(&k->shared->tail) + words <= NATIVE_RING;
}

/* ---- what a window needs to know ---- */

static void put_thread(struct native_keeper *k, struct native_thread *t)
{
	const uint64_t words[] = {(uint64_t)t->tid,
				  (uint64_t)t->process->pid | (uint64_t)t->process->parent << 32};

	if (!t->is_announced)
		native_put(k, NATIVE_THREAD, words, 2);
	t->is_announced = true;
}

/* Passes the mappings on if they have changed. */
static void put_maps(struct native_keeper *k, struct native_thread *t)
{
	char path[NATIVE_PATH];
	ssize_t n = native_read_file(native_proc_path(path, t->process->pid, 0, "maps"), k->text,
				     sizeof(k->text) - 8);
	uint64_t hash, head;

	if (n <= 0)
		return;
	hash = hash_bytes(k->text, (size_t)n);
	if (hash == t->process->maps || !has_room(k, (size_t)n / 8 + 4))
		return;
	t->process->maps = hash;
	memset(k->text + n, 0, 8);
	head = k->head++;
	k->shared->ring[head % NATIVE_RING] =
		(uint64_t)NATIVE_MAPS << 32 | (2 + ((size_t)n + 7) / 8);
	k->shared->ring[k->head++ % NATIVE_RING] = (uint64_t)t->process->pid;
	k->shared->ring[k->head++ % NATIVE_RING] = (uint64_t)n;
	for (size_t i = 0; i < (size_t)n; i += 8)
		memcpy(&k->shared->ring[k->head++ % NATIVE_RING], k->text + i, 8);
}

static uint64_t measure_clock(const struct isa_native *native)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		const uint64_t start = native_now();
		uint64_t ns;

		native->run_chain(CHAIN);
		ns = native_now() - start;
		best = ns < best ? ns : best;
	}
	return best ? (uint64_t)CHAIN * CHAIN_LATENCY * 1000000000u / best : 0;
}

/* ---- one CPU for both, and no signals ---- */

struct pinned {
	cpu_set_t own, other; /* as they were */
	unsigned cpu;
	bool is_on;
	bool has_mask;
	uint64_t mask; /* of signals, as it was */
};

/* Signals that say something about the instruction itself. */
static uint64_t own_signals(void)
{
	return 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGBUS - 1) |
	       1ull << (SIGFPE - 1) | 1ull << (SIGSEGV - 1) | 1ull << (SIGSYS - 1);
}

/* Signals wait until the window has ended: a timer would fill it with executions of its handler, for
 * stepping is slow and timers are not.
 */
static void hold_signals(struct pinned *p, pid_t tid, bool is_on)
{
	uint64_t mask;

	if (is_on) {
		p->has_mask = !ptrace(PTRACE_GETSIGMASK, tid, sizeof(p->mask), &p->mask);
		mask = p->mask | ~own_signals();
	} else {
		mask = p->mask;
	}
	if (p->has_mask)
		ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

/* Tracer and thread take turns: on one CPU nobody has to be woken on another.  Affinity and mask of
 * the thread are restored before each system call, which might ask for them.
 */
static void pin(struct pinned *p, pid_t tid, bool is_on)
{
	cpu_set_t one;

	if (p->is_on == is_on)
		return;
	p->is_on = is_on;
	hold_signals(p, tid, is_on);
	if (p->cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET(p->cpu, &one);
	sched_setaffinity(tid, sizeof(one), is_on ? &one : &p->other);
}

static void pin_both(struct pinned *p, const struct native_thread *t)
{
	cpu_set_t one;

	p->is_on = false;
	p->cpu = native_thread_cpu(t);
	if (p->cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(p->own), &p->own) ||
	    sched_getaffinity(t->tid, sizeof(p->other), &p->other)) {
		p->cpu = CPU_SETSIZE;
	} else {
		CPU_ZERO(&one);
		CPU_SET(p->cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	pin(p, t->tid, true);
}

static void unpin_both(struct pinned *p, pid_t tid)
{
	pin(p, tid, false);
	if (p->cpu < CPU_SETSIZE)
		sched_setaffinity(0, sizeof(p->own), &p->own);
}

/* ---- stops ---- */

/* Waits until a thread stops or ends, while all others go on.  Returns 1 with its status, 0 if it
 * did not stop in time (0: for ever), or the keeper is to end.
 */
static int await(struct native_keeper *k, pid_t tid, uint64_t ns, int *status)
{
	const uint64_t end = native_now() + ns;

	for (;;) {
		pid_t pid;

		while ((pid = waitpid(-1, status, __WALL | WNOHANG)) > 0) {
			int number;

			if (pid == tid)
				return 1;
			number = native_take_stop(k, pid, *status);
			if (number >= 0)
				ptrace(PTRACE_CONT, pid, NULL, number);
		}
		if (pid < 0 || k->stop || (ns && native_now() >= end))
			return 0;
		native_wait(k, 1000000);
	}
}

/* Stops a running thread.  Returns whether it is ready to be stepped through. */
static bool stop(struct native_keeper *k, struct native_thread *t)
{
	const pid_t tid = t->tid;
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return false;
	while (await(k, tid, STOP_MS * 1000000u, &status)) {
		int number;

		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
		    WSTOPSIG(status) == SIGTRAP)
			return true;
		number = native_take_stop(k, tid, status);
		if (number >= 0)
			ptrace(PTRACE_CONT, tid, NULL, number);
		if (!native_thread_find(&k->table, tid))
			return false;
	}
	return false; /* when it stops later, it is resumed as any other */
}

enum trap { TRAP_STEP, TRAP_HANDLER, TRAP_PROGRAM };

/* Tells why a thread stopped with SIGTRAP: a step or a breakpoint; before the first instruction of a
 * handler; or because of the program itself.
 */
static enum trap why_trapped(pid_t tid)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return TRAP_STEP;
	if (info.si_code == SIGTRAP)
		return TRAP_HANDLER;
	return info.si_code == TRAP_TRACE || info.si_code == TRAP_HWBKPT ||
			       info.si_code == TRAP_BRKPT ||
			       (info.si_code == SI_USER && !info.si_pid)
		       ? TRAP_STEP
		       : TRAP_PROGRAM;
}

static const uint8_t *read_page(struct native_keeper *k, pid_t tid, uint64_t address)
{
	struct native_page *page = &k->pages[address / PAGE % NATIVE_PAGES];
	struct iovec local = {page->bytes, PAGE},
		     remote = {(void *)(uintptr_t)(address / PAGE * PAGE), PAGE};

	if (page->address == address / PAGE + 1)
		return page->bytes;
	page->address = 0;
	if (process_vm_readv(tid, &local, 1, &remote, 1, 0) != PAGE)
		return NULL;
	page->address = address / PAGE + 1;
	return page->bytes;
}

/* Reads the bytes at an address.  Code that changes within a window is not noticed. */
static size_t read_code(struct native_keeper *k, pid_t tid, uint64_t address, uint8_t *to)
{
	const size_t at = address % PAGE, first = PAGE - at < MAX_CODE ? PAGE - at : MAX_CODE;
	const uint8_t *page = read_page(k, tid, address);

	if (!page)
		return 0;
	memcpy(to, page + at, first);
	if (first == MAX_CODE)
		return first;
	page = read_page(k, tid, address + first);
	if (page)
		memcpy(to + first, page, MAX_CODE - first);
	return page ? MAX_CODE : first;
}

enum step_end { STEP_DONE, STEP_ELSEWHERE, STEP_GONE };

/* Lets a thread go on by one instruction, or up to a breakpoint.  STEP_ELSEWHERE: a signal came
 * before the instruction was executed.  STEP_GONE: it has ended, or runs another program.
 */
static enum step_end go_on(struct native_keeper *k, pid_t tid, int request, bool may_wait)
{
	int number = 0, status;

	for (unsigned i = 0; i < MOST_STOPS; i++) {
		if (ptrace(request, tid, NULL, number))
			return STEP_GONE;
		if (may_wait || i) {
			if (!await(k, tid, 0, &status))
				return STEP_GONE;
		} else if (waitpid(tid, &status, __WALL) != tid) {
			return STEP_GONE;
		}
		if (WIFSTOPPED(status) && status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP) {
			const enum trap why = why_trapped(tid);

			if (why != TRAP_PROGRAM)
				return why == TRAP_STEP ? STEP_DONE : STEP_ELSEWHERE;
		}
		number = native_take_stop(k, tid, status);
		if (number < 0)
			return STEP_GONE;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) {
			ptrace(PTRACE_CONT, tid, NULL, 0);
			return STEP_GONE;
		}
	}
	return STEP_GONE;
}

/* ---- windows ---- */

struct step {
	struct isa_state state;
	uint64_t code[NATIVE_CODE_WORDS];
};

/* Steps once.  A repeated instruction is one step: its repetitions run up to a breakpoint. */
static enum step_end step_once(struct native_keeper *k, pid_t tid, const struct step *s,
			       unsigned traits, unsigned length, struct pinned *p)
{
	struct isa_state now = s->state;
	enum step_end end;

	if (traits & ISA_STEP_KERNEL)
		pin(p, tid, false);
	if (!(traits & ISA_STEP_REPEATS)) {
		end = go_on(k, tid, PTRACE_SINGLESTEP, traits & ISA_STEP_KERNEL);
		if (end == STEP_DONE && traits & ISA_STEP_SHOWS_FLAGS)
			k->tracing->hide_step(tid);
		if (end != STEP_GONE && traits & ISA_STEP_KERNEL)
			pin(p, tid, true);
		return end;
	}
	for (unsigned i = 0; i < FEW; i++) {
		end = go_on(k, tid, PTRACE_SINGLESTEP, false);
		if (end != STEP_DONE || k->tracing->read_state(tid, &now))
			return end;
		if (now.pc != s->state.pc)
			return STEP_DONE;
	}
	if (!k->tracing->set_breakpoint(tid, s->state.pc + length)) {
		k->tracing->end_step(tid);
		end = go_on(k, tid, PTRACE_CONT, true);
		if (end != STEP_GONE)
			k->tracing->set_breakpoint(tid, 0);
		return end;
	}
	for (unsigned i = 0; i < MOST_STOPS && end == STEP_DONE && now.pc == s->state.pc; i++) {
		end = go_on(k, tid, PTRACE_SINGLESTEP, false);
		if (end != STEP_GONE && k->tracing->read_state(tid, &now))
			return STEP_GONE;
	}
	return end;
}

/* Returns whether the thread is still there, and stopped. */
static bool step_through(struct native_keeper *k, struct native_thread *t, struct pinned *p)
{
	const pid_t tid = t->tid;
	struct step s;
	bool is_here = true;

	for (unsigned i = 0; i < NATIVE_PAGES; i++)
		k->pages[i].address = 0;
	for (unsigned i = 0; i < NATIVE_STEPS && is_here && !k->stop; i++) {
		const uint64_t before = k->head;
		uint8_t code[8 * NATIVE_CODE_WORDS] = {0};
		unsigned traits, length;
		enum step_end end;

		if (k->tracing->read_state(tid, &s.state))
			break;
		traits = k->tracing->traits(code, read_code(k, tid, s.state.pc, code), &length);
		if (!length)
			break; /* not readable, or not known */
		memcpy(s.code, code, sizeof(s.code));
		native_put(k, NATIVE_STEP, &s, sizeof(s) / 8);
		end = step_once(k, tid, &s, traits, length, p);
		is_here = end != STEP_GONE;
		if (end == STEP_ELSEWHERE)
			k->head = before; /* it will be executed after the handler */
	}
	return is_here;
}

/* Stops a thread.  Returns whether it is stopped in the program itself; if not, it runs on. */
static bool stop_in_program(struct native_keeper *k, struct native_thread *t, uint64_t weight)
{
	struct isa_state state;

	if (!stop(k, t))
		return false;
	if (k->tracing->read_state(t->tid, &state))
		goto elsewhere;
	k->weight += (double)weight;
	if (state.was_in_kernel)
		goto elsewhere;
	k->user_weight += (double)weight;
	return true;

elsewhere:
	ptrace(PTRACE_CONT, t->tid, NULL, 0);
	return false;
}

void native_probe(struct native_keeper *k, struct native_thread *t, uint64_t weight)
{
	if (stop_in_program(k, t, weight))
		ptrace(PTRACE_CONT, t->tid, NULL, 0);
}

void native_window(struct native_keeper *k, struct native_thread *t, uint64_t span, uint64_t weight)
{
	const pid_t tid = t->tid;
	struct isa_state state = {0};
	struct pinned pinned;
	uint64_t words[3], before;

	if (!has_room(k, (NATIVE_STEPS + 1) * NATIVE_STEP_WORDS + NATIVE_MAX_MAPS / 8 + 64) ||
	    !stop_in_program(k, t, weight))
		return;
	before = native_thread_time(t);
	put_thread(k, t);
	put_maps(k, t);
	pin_both(&pinned, t);
	words[0] = (uint64_t)tid;
	words[1] = span;
	words[2] = measure_clock(k->order->native);
	native_put(k, NATIVE_WINDOW, words, 3);
	if (step_through(k, t, &pinned)) {
		k->tracing->end_step(tid);
		k->tracing->read_state(tid, &state);
		unpin_both(&pinned, tid);
		k->stepping += native_thread_time(t) - before;
		ptrace(PTRACE_CONT, tid, NULL, 0);
	} else {
		unpin_both(&pinned, tid);
	}
	native_put(k, NATIVE_WINDOW_END, &state, NATIVE_STATE_WORDS);
	native_publish(k);
}
