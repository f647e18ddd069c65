/* SPDX-License-Identifier: MIT
 *
 * The child: runs what it is told and survives it.
 *
 * It lives without the C library: thread-local data belongs to the blocks, and a
 * block may have written anywhere.  System calls go through one stub, and seccomp kills the process
 * for any call that comes from elsewhere or is not on the list.
 */
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/counter.h"
#include "measure/native.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define SA_RESTORER_FLAG 0x04000000ul /* the kernel's SA_RESTORER; libc hides it */

static struct measure_host *const host = (struct measure_host *)MEASURE_HOST_BASE;

static struct measure_child_state *const state = &((struct measure_host *)MEASURE_HOST_BASE)->child;

/* ---- faults ---- */

static BARE bool is_own(uint64_t address)
{
	return (address >= MEASURE_CODE_BASE && address < MEASURE_CODE_BASE + MEASURE_CODE_BYTES) ||
	       (address >= MEASURE_DATA_BASE && address < MEASURE_HOST_BASE + (1ull << 32));
}

/* Maps the page that holds an address which the block has touched. */
static BARE enum measure_outcome map_page(uint64_t address)
{
	uint64_t page = address & ~(uint64_t)(MEASURE_PAGE - 1);
	long result;

	host->fault_address = address;
	if (is_own(address))
		return OUTCOME_OWN_CODE;
	if (page < 65536 ||
	    page >= 0x7ffffffff000ull) /* vm.mmap_min_addr; the upper half is the kernel's */
		return OUTCOME_UNMAPPABLE;
	if (host->n_pages >= host->max_pages)
		return OUTCOME_PAGES;
	result = measure_syscall(__NR_mmap, (long)page, MEASURE_PAGE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED_NOREPLACE, state->data,
				 (long)(host->n_pages % host->n_physical) * MEASURE_PAGE);
	if (result == -17) /* EEXIST: mapped, so the access itself is forbidden */
		return OUTCOME_OWN_CODE;
	if (result != (long)page)
		return OUTCOME_UNMAPPABLE;
	host->page[host->n_pages++] = page;
	return OUTCOME_MAPPED;
}

static BARE enum measure_outcome outcome_of(int signal, const siginfo_t *info)
{
	switch (signal) {
	case SIGSEGV:
		/* A general protection fault has no address. */
		if (info->si_code == SI_KERNEL)
			return native_reads_counter(host->fault_pc) ? OUTCOME_COUNTER
								    : OUTCOME_PROTECTION;
		return map_page((uint64_t)info->si_addr);
	case SIGBUS:
		return OUTCOME_PROTECTION;
	case SIGILL:
		return OUTCOME_ILLEGAL;
	case SIGFPE:
		return OUTCOME_ARITHMETIC;
	default:
		return OUTCOME_TRAP;
	}
}

static BARE void on_signal(int signal, siginfo_t *info, void *context)
{
	const uint64_t pc = native_pc(context);

	/* The trial of a counter that the kernel offers, but does not let us read. */
	if (!host->running && signal == SIGSEGV && info->si_code == SI_KERNEL &&
	    native_reads_counter(pc)) {
		host->counter_void = COUNTER_FAULTS;
		native_skip_counter(context);
		return;
	}
	/* In the child itself, or on the way out of a block that has destroyed what that needs. */
	if (!host->running || pc < MEASURE_CODE_BASE ||
	    pc >= MEASURE_CODE_BASE + MEASURE_CODE_BYTES)
		measure_syscall(__NR_exit_group, 100 + signal, 0, 0, 0, 0, 0);
	if (signal == SIGTRAP && host->stepping) {
		if (host->n_steps < host->max_steps)
			native_record_step(&host->step[host->n_steps++], context);
		else
			native_stop_stepping(context);
		return;
	}
	host->fault_pc = pc;
	host->outcome = outcome_of(signal, info);
	native_leave_block(context, host);
}

/* ---- runs ---- */

static BARE void fill_data(void)
{
	uint64_t *p = (uint64_t *)MEASURE_DATA_BASE;

	for (size_t i = 0; i < (size_t)host->n_physical * MEASURE_PAGE / 8; i++)
		p[i] = host->init_value;
}

/* Reads perf's counter by a system call.  It counts user mode only, so the call itself hardly
 * shows.  Returns what read returns.
 */
static BARE long read_perf(struct counter_reading *r)
{
	r->value = r->enabled = r->running = 0;
	return measure_syscall(__NR_read, state->counter, (long)r, sizeof(*r), 0, 0, 0);
}

static BARE const volatile struct perf_event_mmap_page *perf_page(void)
{
	return (const volatile struct perf_event_mmap_page *)MEASURE_PERF_BASE;
}

/* The counter before a run. */
struct counting {
	struct counter_view view;
	struct counter_reading before;
};

/* Returns 0, or why the counter cannot be read. */
static BARE int begin_counting(struct counting *c)
{
	int error = 0;

	if (state->rung == TACT_RUNG_RDPMC) {
		error = counter_look(perf_page(), &c->view);
		host->counter_index = c->view.index - 1u;
	} else if (state->counter >= 0) {
		const struct counter_reading none = {0};

		error = counter_check(&none, &c->before, read_perf(&c->before));
		if (error == COUNTER_SHARED)
			error = 0; /* before this run, which is no matter */
	}
	return error;
}

/* Takes the cycles of a run of which the ticks of the emitted code are known.  Returns 0, or why
 * they do not count.
 */
static BARE int end_counting(const struct counting *c, uint64_t begin, uint64_t end,
			     uint64_t *cycles)
{
	struct counter_reading after;
	int error;

	if (state->rung == TACT_RUNG_RDPMC) {
		*cycles = counter_difference(begin, end, c->view.width);
		return counter_is_same(perf_page(), &c->view) ? 0 : COUNTER_SHARED;
	}
	*cycles = end - begin;
	if (state->counter < 0)
		return 0;
	error = counter_check(&c->before, &after, read_perf(&after));
	*cycles = after.value - c->before.value;
	return error;
}

static BARE uint64_t begin_time(void)
{
	return host->begin_low | (uint64_t)host->begin_high << 32;
}

static BARE uint64_t end_time(void)
{
	return host->end_low | (uint64_t)host->end_high << 32;
}

/* Runs the block once and takes the ticks from begin to end.  If they are void, host->counter_void
 * says why.
 */
static BARE enum measure_outcome run(uint64_t body, uint64_t counter, bool step, uint64_t *ticks)
{
	struct counting counting;

	fill_data();
	host->counter = counter;
	native_begin_run(host, body, step);
	host->outcome = OUTCOME_DONE;
	host->stepping = step;
	host->counter_void = begin_counting(&counting);
	if (host->counter_void)
		return host->outcome = OUTCOME_COUNTER;
	host->running = true;
	atomic_signal_fence(memory_order_seq_cst);
	measure_enter(host->entry);
	atomic_signal_fence(memory_order_seq_cst);
	host->running = false;
	host->counter_void = end_counting(&counting, begin_time(), end_time(), ticks);
	return host->outcome;
}

/* Runs a clock or the canary, without the block. */
static BARE uint32_t run_clock(uint64_t entry)
{
	((void (*)(void))(uintptr_t)entry)();
	return (uint32_t)(end_time() - begin_time());
}

static BARE uint32_t run_chain(void)
{
	uint32_t short_one = run_clock(host->chain_short);

	return run_clock(host->chain_long) - short_one;
}

/* Runs the block until it touches no page that is missing. */
static BARE enum measure_outcome run_mapped(uint64_t body, uint64_t counter, uint64_t *ticks,
					    uint32_t *disturbed)
{
	enum { PATIENCE = 100 }; /* the counter may come back */
	enum measure_outcome outcome;
	unsigned lost = 0;

	do {
		outcome = run(body, counter, false, ticks);
		*disturbed |= outcome == OUTCOME_MAPPED ||
			      (outcome == OUTCOME_DONE && host->counter_void);
		lost += outcome == OUTCOME_COUNTER;
	} while (outcome == OUTCOME_MAPPED || (outcome == OUTCOME_COUNTER && lost < PATIENCE));
	return outcome;
}

static BARE void prepare(void)
{
	uint32_t ignored = 0;

	for (uint32_t i = 0; i < host->n_pages && i < MEASURE_MAX_PAGES; i++)
		measure_syscall(__NR_munmap, (long)host->page[i], MEASURE_PAGE, 0, 0, 0, 0);
	host->n_pages = 0;
	if (run_mapped(host->body_high, host->counter_high, &host->pilot_high, &ignored) !=
	    OUTCOME_DONE)
		return;
	for (int i = 0; i < 3; i++) /* warm caches and predictors */
		if (run_mapped(host->body_high, host->counter_high, &host->pilot_high, &ignored) ||
		    run_mapped(host->body_low, host->counter_low, &host->pilot_low, &ignored))
			return;
	host->pilot_chain = run_chain();
}

static BARE void take_samples(void)
{
	for (uint32_t i = 0; i < host->n_samples && i < MEASURE_MAX_SAMPLES; i++) {
		struct measure_sample *s = &host->sample[i];

		s->disturbed = 0;
		if (host->calibrate) {
			s->canary_before = run_clock(host->canary);
			s->chain_before = run_chain();
		}
		if (run_mapped(host->body_low, host->counter_low, &s->low, &s->disturbed) ||
		    run_mapped(host->body_high, host->counter_high, &s->high, &s->disturbed))
			return;
		if (host->calibrate) {
			s->chain_after = run_chain();
			s->canary_after = run_clock(host->canary);
		}
	}
	for (uint32_t i = 0; i < MEASURE_QUIET && host->calibrate; i++)
		host->quiet[i] = (struct measure_quiet){run_clock(host->canary), run_chain()};
}

static BARE void step(void)
{
	uint64_t ticks;

	host->n_steps = 0;
	run(host->body_high, host->counter_low, true, &ticks);
}

/* ---- set-up ---- */

static BARE void set_handler(int signal)
{
	/* The kernel's layout of struct sigaction. */
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {on_signal, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTORER_FLAG,
		    measure_restorer, 0};

	measure_syscall(__NR_rt_sigaction, signal, (long)&action, 0, 8, 0, 0);
}

/* Blocks all other signals.  Those for the program, such as an interrupt from the terminal, must
 * not run the handlers that the child has inherited; the parent ends the child.
 */
static BARE void block_signals(const int *open, size_t n)
{
	unsigned long mask = ~0ul;

	for (size_t i = 0; i < n; i++)
		mask &= ~(1ul << (open[i] - 1));
	measure_syscall(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

static BARE bool map_area(uint64_t address, size_t size, int protection, int fd)
{
	return measure_syscall(__NR_mmap, (long)address, (long)size, protection,
			       MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == (long)address;
}

/* System calls that are allowed, and only from the stub. */
static BARE bool install_filter(void)
{
#define IP_LOW	((uint32_t)(uintptr_t)measure_syscall_return)
#define IP_HIGH ((uint32_t)((uint64_t)(uintptr_t)measure_syscall_return >> 32))
#define SIG_LOW ((uint32_t)(uintptr_t)measure_restorer_return)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, native_audit_arch, 0, 17),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, instruction_pointer) + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IP_HIGH, 0, 15),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, instruction_pointer)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIG_LOW, 11, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IP_LOW, 0, 12),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 11, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 10, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_munmap, 9, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 8, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 6),
		/* Only memory of the data area, and never executable. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED | MAP_FIXED_NOREPLACE, 3, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)), /* from the restorer */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (measure_syscall(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0))
		return false;
	return !measure_syscall(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0,
				0, 0);
}

static BARE void limit(int resource, unsigned long value)
{
	struct rlimit r = {value, value};

	measure_syscall(__NR_prlimit64, 0, resource, (long)&r, 0, 0, 0);
}

/* Closes every descriptor that is not one of ours. */
static BARE void close_files(const struct measure_child_fds *fds)
{
	enum { N_KEPT = 4 };
	int keep[N_KEPT] = {fds->order, fds->answer, fds->data, state->counter}, low = 0;

	for (int i = 0; i < N_KEPT; i++)
		for (int k = i + 1; k < N_KEPT; k++)
			if (keep[k] < keep[i]) {
				int swap = keep[i];

				keep[i] = keep[k];
				keep[k] = swap;
			}
	for (int i = 0; i < N_KEPT; i++) {
		if (keep[i] < 0)
			continue;
		if (keep[i] > low)
			measure_syscall(__NR_close_range, low, keep[i] - 1, 0, 0, 0, 0);
		low = keep[i] + 1;
	}
	measure_syscall(__NR_close_range, low, ~0u, 0, 0, 0, 0);
}

/* The shortest of some tries of a chain of this length, as the counter sees it.  Returns 0, or why
 * that cannot be counted.
 */
static BARE int count_chain(unsigned links, uint64_t *shortest)
{
	int error = COUNTER_SHARED;

	*shortest = ~0ull;
	for (int i = 0; i < COUNTER_TRIES; i++) {
		struct counting counting;
		uint64_t begin = 0, end = 0, cycles;
		int failure = begin_counting(&counting);

		host->counter_void = 0;
		if (!failure) {
			if (state->rung == TACT_RUNG_RDPMC)
				native_count_chain(links, (uint32_t)host->counter_index, &begin,
						   &end);
			else
				native_run_chain(links);
			failure = end_counting(&counting, begin, end, &cycles);
			failure = host->counter_void ? host->counter_void : failure;
		}
		if (failure) {
			error = *shortest == ~0ull ? failure : error;
			continue;
		}
		error = 0;
		*shortest = cycles < *shortest ? cycles : *shortest;
	}
	return error;
}

/* That an event opens proves nothing: it must count a chain whose cycles are known. */
static BARE int try_counter(void)
{
	uint64_t short_chain, long_chain;
	int error = count_chain(COUNTER_SHORT, &short_chain);

	if (!error)
		error = count_chain(COUNTER_LONG, &long_chain);
	return error ? error : counter_judge(short_chain, long_chain);
}

static BARE long open_event(const struct measure_child_fds *fds, bool excludes)
{
	struct perf_event_attr attr;

	counter_describe(&attr, fds->rung, fds->aperf_type, fds->aperf_config, excludes);
	return measure_syscall(__NR_perf_event_open, (long)&attr, 0, -1, -1, 0, 0);
}

/* Opens the counter that the rung needs; host->counter_error says whether that worked. */
static BARE void open_counter(const struct measure_child_fds *fds)
{
	long result;

	state->rung = fds->rung;
	state->counter = -1;
	host->counter_error = 0;
	if (fds->rung == TACT_RUNG_TSC)
		return;
	result = open_event(fds, true);
	if (result < 0 && counter_may_not_exclude(fds->rung, -result))
		result = open_event(fds, false);
	if (result < 0) {
		host->counter_error = (int32_t)-result;
		return;
	}
	state->counter = (int)result;
	if (fds->rung == TACT_RUNG_RDPMC &&
	    measure_syscall(__NR_mmap, MEASURE_PERF_BASE, MEASURE_PAGE, PROT_READ,
			    MAP_SHARED | MAP_FIXED_NOREPLACE, state->counter,
			    0) != MEASURE_PERF_BASE)
		host->counter_error = COUNTER_NO_PAGE;
	else
		host->counter_error = try_counter();
}

static BARE void serve(void)
{
	char byte;

	while (measure_syscall(__NR_read, state->order, (long)&byte, 1, 0, 0, 0) == 1) {
		switch ((enum measure_order)host->order) {
		case ORDER_PREPARE:
			prepare();
			break;
		case ORDER_SAMPLE:
			take_samples();
			break;
		case ORDER_STEP:
			step();
			break;
		}
		measure_syscall(__NR_write, state->answer, (long)&byte, 1, 0, 0, 0);
	}
	measure_syscall(__NR_exit_group, 0, 0, 0, 0, 0, 0);
}

/* ---- memory that the program shares ---- */

struct maps_line {
	unsigned long start, end;
	unsigned column;
	bool in_end, is_writable, is_shared;
};

/* One more character of /proc/self/maps: "start-end rwxs ..."; true at the end of a line. */
static BARE bool read_maps(struct maps_line *l, char c)
{
	unsigned long *number = l->in_end ? &l->end : &l->start;
	unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;

	if (c == '\n')
		return true;
	if (l->column) {
		l->is_writable |= l->column == 2 && c == 'w';
		l->is_shared |= l->column == 4 && c == 's';
		l->column += l->column < 5;
	} else if (c == '-') {
		l->in_end = true;
	} else if (c == ' ') {
		l->column = 1;
	} else if (digit < 16) {
		*number = *number * 16 + digit;
	}
	return false;
}

/* Unmaps memory that the program has mapped writable and shared, such as a database's index.  The
 * child has inherited it, and blocks could write there.  Nothing of ours is mapped yet.
 */
static BARE void drop_shared_memory(void)
{
	struct maps_line line = {0};
	char text[1024];
	long fd = measure_syscall(__NR_openat, AT_FDCWD, (long)"/proc/self/maps",
				  O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long n;

	if (fd < 0)
		return; /* no /proc: nothing can be done */
	while ((n = measure_syscall(__NR_read, fd, (long)text, sizeof(text), 0, 0, 0)) > 0)
		for (long i = 0; i < n; i++) {
			if (!read_maps(&line, text[i]))
				continue;
			if (line.is_writable && line.is_shared)
				measure_syscall(__NR_munmap, (long)line.start,
						(long)(line.end - line.start), 0, 0, 0, 0);
			line = (struct maps_line){0};
		}
	measure_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}

BARE void measure_child_main(const struct measure_child_fds *fds)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	stack_t stack = {.ss_size = sizeof(host->signal_stack)};
	size_t data_size = (size_t)fds->n_physical * MEASURE_PAGE;
	char byte = 0;

	measure_syscall(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	drop_shared_memory();
	measure_syscall(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_CPU, 900);
	if (fds->cpu >= 0) {
		cpu_set_t set;

		memset(&set, 0, sizeof(set));
		((unsigned long *)&set)[fds->cpu / 64] |= 1ul << fds->cpu % 64;
		measure_syscall(__NR_sched_setaffinity, 0, sizeof(set), (long)&set, 0, 0, 0);
	}
	if (!map_area(MEASURE_HOST_BASE, sizeof(*host), PROT_READ | PROT_WRITE, fds->host) ||
	    !map_area(MEASURE_CODE_BASE, MEASURE_CODE_BYTES, PROT_READ | PROT_EXEC, fds->code) ||
	    !map_area(MEASURE_DATA_BASE, data_size, PROT_READ | PROT_WRITE, fds->data))
		measure_syscall(__NR_exit_group, 90, 0, 0, 0, 0, 0);
	state->order = fds->order;
	state->answer = fds->answer;
	state->data = fds->data;
	host->running = host->stepping = false;
	stack.ss_sp = host->signal_stack;
	measure_syscall(__NR_sigaltstack, (long)&stack, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		set_handler(signals[i]);
	block_signals(signals, sizeof(signals) / sizeof(signals[0]));
	open_counter(fds);
	close_files(fds);
	native_move_thread_data();
	if (!install_filter())
		measure_syscall(__NR_exit_group, 91, 0, 0, 0, 0, 0);
	measure_syscall(__NR_write, state->answer, (long)&byte, 1, 0, 0, 0);
	serve();
	for (;;)
		measure_syscall(__NR_exit_group, 0, 0, 0, 0, 0, 0);
}
