/* SPDX-License-Identifier: MIT
 *
 * The sandbox.  Each step succeeds, or the process ends with a message that names the part.
 *
 * The keeper closes all descriptors but its own, limits resources, maps its memory and unmaps
 * everything else.  A child then gives up its privileges and lets the kernel filter its system
 * calls: by the address of the instruction, the call, the descriptor and the other arguments.
 */
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "runner.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define SA_RESTORER_FLAG 0x04000000ul /* the kernel's SA_RESTORER; libc hides it */

enum { NOBODY = 65534, CPU_SECONDS = 900, MEMORY_BYTES = 64 << 20 };

static void must(enum measure_part part, long result)
{
	if (result < 0)
		sandbox_fail(part, result);
}

static long prctl_set(long option, long value)
{
	return gate_syscall(__NR_prctl, option, value, 0, 0, 0, 0);
}

/* ---- the keeper ---- */

static void close_descriptors(void)
{
	must(PART_DESCRIPTORS,
	     gate_syscall(__NR_close_range, 0, MEASURE_SOCKET_FD - 1, 0, 0, 0, 0));
	must(PART_DESCRIPTORS, gate_syscall(__NR_close_range, MEASURE_N_FDS, ~0u, 0, 0, 0, 0));
}

static void limit(int resource, unsigned long value)
{
	struct rlimit r = {value, value};

	must(PART_LIMITS, gate_syscall(__NR_prlimit64, 0, resource, (long)&r, 0, 0, 0));
}

static void set_limits(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_MSGQUEUE, 0);
	limit(RLIMIT_NOFILE, MEASURE_N_FDS);
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_AS, MEMORY_BYTES);
}

static void map(uint64_t address, size_t size, int protection, int flags, int fd)
{
	long result = gate_syscall(__NR_mmap, (long)address, (long)size, protection,
				   flags | MAP_FIXED_NOREPLACE, fd, 0);

	/* An old kernel takes the address as a hint. */
	if (result != (long)address)
		sandbox_fail(PART_MEMORY, result < 0 ? result : 0);
}

static void map_areas(void)
{
	const int own = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;

	map(MEASURE_CODE_BASE, MEASURE_CODE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED,
	    MEASURE_CODE_FD);
	map(MEASURE_DATA_BASE, MEASURE_MAX_PHYSICAL * MEASURE_PAGE, both, MAP_SHARED,
	    MEASURE_DATA_FD);
	map(MEASURE_STAMP_BASE, MEASURE_PAGE, both, own, -1);
	map(MEASURE_KEEPER_BASE, KEEPER_BYTES, both, own, -1);
	must(PART_DESCRIPTORS, gate_syscall(__NR_close, MEASURE_CODE_FD, 0, 0, 0, 0, 0));
}

static void set_handlers(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	/* The kernel's layouts of struct sigaction and of a set of signals. */
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {faults_on_signal, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTORER_FLAG,
		    gate_restorer, 0};
	unsigned long blocked = ~0ul;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		must(PART_SIGNALS,
		     gate_syscall(__NR_rt_sigaction, signals[i], (long)&action, 0, 8, 0, 0));
		blocked &= ~(1ul << (signals[i] - 1));
	}
	/* Signals for the program, such as an interrupt from the terminal, are not for us. */
	must(PART_SIGNAL_MASK, gate_syscall(__NR_rt_sigprocmask, SIG_SETMASK, (long)&blocked, 0,
					    sizeof(blocked), 0, 0));
}

void sandbox_keeper(void)
{
	must(PART_DEATH, prctl_set(PR_SET_PDEATHSIG, SIGKILL));
	close_descriptors();
	prctl_set(PR_SET_NAME, (long)"tact-runner"); /* for lists of processes */
	must(PART_NO_NEW_PRIVILEGES, prctl_set(PR_SET_NO_NEW_PRIVS, 1));
	must(PART_NOT_DUMPABLE, prctl_set(PR_SET_DUMPABLE, 0));
	map_areas();
	set_handlers();
	if (!gate_set_thread_data())
		sandbox_fail(PART_THREAD_DATA, 0);
	set_limits();
}

/* Unmaps everything between the areas: the first stack with its arguments, the kernel's vdso. */
void sandbox_clear(void)
{
	extern const char runner_text_end[];
	const struct {
		uint64_t begin, end;
	} kept[] = {
		{0, 0},
		{MEASURE_CODE_BASE, MEASURE_CODE_BASE + MEASURE_CODE_BYTES},
		{MEASURE_TEXT_BASE, (uint64_t)runner_text_end},
		{MEASURE_DATA_BASE, MEASURE_DATA_BASE + MEASURE_MAX_PHYSICAL * MEASURE_PAGE},
		{MEASURE_STAMP_BASE, MEASURE_STAMP_BASE + MEASURE_PAGE},
		{MEASURE_KEEPER_BASE, MEASURE_KEEPER_BASE + KEEPER_BYTES},
		{0x7ffffffff000ull, 0}, /* the end of what a process can map */
	};

	for (size_t i = 0; i + 1 < sizeof(kept) / sizeof(kept[0]); i++)
		must(PART_UNMAPPED,
		     gate_syscall(__NR_munmap, (long)kept[i].end,
				  (long)(kept[i + 1].begin - kept[i].end), 0, 0, 0, 0));
}

/* ---- a child ---- */

struct runner *sandbox_hide(void)
{
	stack_t stack = {.ss_size = MEASURE_SIGNAL_BYTES};
	uint64_t random, address;

	if (gate_syscall(__NR_getrandom, (long)&random, sizeof(random), 0, 0, 0, 0) !=
	    sizeof(random))
		sandbox_fail(PART_RANDOM, 0);
	address = MEASURE_HIDDEN_LOW + random % MEASURE_HIDDEN_PAGES * MEASURE_PAGE;
	map(address, HIDDEN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	stack.ss_sp = (void *)address;
	must(PART_SIGNAL_STACK, gate_syscall(__NR_sigaltstack, (long)&stack, 0, 0, 0, 0, 0));
	return (struct runner *)address;
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{.effective = 0}};

	const long user = gate_syscall(__NR_geteuid, 0, 0, 0, 0, 0, 0);

	must(PART_PRIVILEGES, user);
	if (user == 0) {
		must(PART_PRIVILEGES, gate_syscall(__NR_setgroups, 0, 0, 0, 0, 0, 0));
		must(PART_PRIVILEGES,
		     gate_syscall(__NR_setresgid, NOBODY, NOBODY, NOBODY, 0, 0, 0));
		must(PART_PRIVILEGES,
		     gate_syscall(__NR_setresuid, NOBODY, NOBODY, NOBODY, 0, 0, 0));
	}
	must(PART_PRIVILEGES, gate_syscall(__NR_capset, (long)&header, (long)none, 0, 0, 0, 0));
	/* A change of identity has reset these. */
	must(PART_DEATH, prctl_set(PR_SET_PDEATHSIG, SIGKILL));
	must(PART_NOT_DUMPABLE, prctl_set(PR_SET_DUMPABLE, 0));
	limit(RLIMIT_NPROC, 0);
}

bool sandbox_drop_data(struct runner *r, uint32_t n)
{
	const uint32_t dropped = r->n_physical - n;

	if (!n || n > r->n_physical)
		return false;
	r->n_physical = n;
	return !dropped ||
	       !gate_syscall(__NR_munmap, (long)(MEASURE_DATA_BASE + (uint64_t)n * MEASURE_PAGE),
			     (long)dropped * MEASURE_PAGE, 0, 0, 0, 0);
}

/* ---- the filter ---- */

enum { MAX_FILTER = 192 };

struct filter {
	struct sock_filter code[MAX_FILTER];
	unsigned n;
};

static void add(struct filter *f, uint16_t code, uint8_t yes, uint8_t no, uint32_t value)
{
	if (f->n == MAX_FILTER)
		sandbox_fail(PART_FILTER, 0);
	f->code[f->n++] = (struct sock_filter){code, yes, no, value};
}

static void load(struct filter *f, size_t offset)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void finish(struct filter *f, uint32_t action)
{
	add(f, BPF_RET | BPF_K, 0, 0, action);
}

/* Kills the process unless a 32-bit word is one of two values. */
static void need(struct filter *f, size_t offset, uint32_t value, uint32_t other)
{
	load(f, offset);
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, value);
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, other);
	finish(f, SECCOMP_RET_KILL_PROCESS);
}

#define WORD(field)	 offsetof(struct seccomp_data, field)
#define HIGH_WORD(field) (WORD(field) + 4)
#define ARGUMENT(i)	 (WORD(args) + 8 * (size_t)(i))

static void need_argument(struct filter *f, unsigned i, uint64_t value)
{
	need(f, ARGUMENT(i), (uint32_t)value, (uint32_t)value);
	need(f, ARGUMENT(i) + 4, (uint32_t)(value >> 32), (uint32_t)(value >> 32));
}

/* An address of a page that can be the block's. */
static void need_foreign_page(struct filter *f)
{
	load(f, ARGUMENT(0) + 4);
	add(f, BPF_JMP | BPF_JGE | BPF_K, 0, 2, (uint32_t)(MEASURE_OWN_BASE >> 32));
	add(f, BPF_JMP | BPF_JGE | BPF_K, 1, 0, (uint32_t)(MEASURE_OWN_END >> 32));
	finish(f, SECCOMP_RET_KILL_PROCESS);
	need_argument(f, 1, MEASURE_PAGE);
}

/* Opens a rule: what is added until close_rule holds for this call.  Returns its place. */
static unsigned open_rule(struct filter *f, uint32_t number)
{
	load(f, WORD(nr));
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, number);
	return f->n;
}

static void close_rule(struct filter *f, unsigned rule)
{
	finish(f, SECCOMP_RET_ALLOW);
	f->code[rule - 1].jf = (uint8_t)(f->n - rule);
}

/* What follows until close_place holds for the instruction before this address. */
static unsigned open_place(struct filter *f, const char *address)
{
	load(f, WORD(instruction_pointer));
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)(uintptr_t)address);
	return f->n;
}

static void close_place(struct filter *f, unsigned place)
{
	finish(f, SECCOMP_RET_KILL_PROCESS);
	f->code[place - 1].jf = (uint8_t)(f->n - place);
}

static void add_call(struct filter *f, uint32_t number)
{
	close_rule(f, open_rule(f, number));
}

static void add_stub(struct filter *f, const struct runner *r)
{
	const int both = PROT_READ | PROT_WRITE;
	unsigned rule = open_rule(f, __NR_read);

	need(f, ARGUMENT(0), MEASURE_SOCKET_FD,
	     r->counter >= 0 ? (uint32_t)r->counter : MEASURE_SOCKET_FD);
	close_rule(f, rule);
	rule = open_rule(f, __NR_writev);
	need(f, ARGUMENT(0), MEASURE_SOCKET_FD, MEASURE_SOCKET_FD);
	close_rule(f, rule);
	rule = open_rule(f, __NR_mmap);
	need_foreign_page(f);
	need_argument(f, 2, both);
	need_argument(f, 3, MAP_SHARED | MAP_FIXED_NOREPLACE);
	need(f, ARGUMENT(4), MEASURE_DATA_FD, MEASURE_DATA_FD);
	close_rule(f, rule);
	rule = open_rule(f, __NR_munmap);
	need(f, ARGUMENT(1) + 4, 0, 0);
	load(f, ARGUMENT(0) + 4);
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)(MEASURE_DATA_BASE >> 32));
	finish(f, SECCOMP_RET_ALLOW); /* data pages that a block does not need */
	need_foreign_page(f);
	close_rule(f, rule);
	add_call(f, __NR_exit_group);
	rule = open_rule(f, __NR_getpid);
	need_argument(f, 0, MEASURE_PROBE_ARGUMENT);
	finish(f, SECCOMP_RET_ERRNO | MEASURE_PROBE_ERROR);
	close_rule(f, rule);
}

/* A jump spans at most 255 instructions: the stub, which has most rules, comes last. */
static void make_filter(struct filter *f, const struct runner *r)
{
	unsigned place, rule;

	f->n = 0;
	need(f, WORD(arch), gate_audit_arch, gate_audit_arch);
	need(f, HIGH_WORD(instruction_pointer), (uint32_t)(MEASURE_TEXT_BASE >> 32),
	     (uint32_t)(MEASURE_TEXT_BASE >> 32));
	place = open_place(f, gate_found_return);
	rule = open_rule(f, __NR_sigaltstack);
	need_argument(f, 0, 0);
	need_argument(f, 1, (uint64_t)STAMP->found);
	close_rule(f, rule);
	close_place(f, place);
	place = open_place(f, gate_restorer_return);
	add_call(f, __NR_rt_sigreturn);
	close_place(f, place);
	need(f, WORD(instruction_pointer), (uint32_t)(uintptr_t)gate_syscall_return,
	     (uint32_t)(uintptr_t)gate_syscall_return);
	add_stub(f, r);
	finish(f, SECCOMP_RET_KILL_PROCESS);
}

void sandbox_child(struct runner *r)
{
	struct filter filter;
	struct sock_fprog program = {.filter = filter.code};

	drop_privileges();
	must(PART_UNMAPPED,
	     gate_syscall(__NR_munmap, MEASURE_KEEPER_BASE, KEEPER_BYTES, 0, 0, 0, 0));
	if (gate_syscall(__NR_getrandom, (long)r->random, sizeof(r->random), 0, 0, 0, 0) !=
	    sizeof(r->random))
		sandbox_fail(PART_RANDOM, 0);
	make_filter(&filter, r);
	program.len = (unsigned short)filter.n;
	must(PART_FILTER,
	     gate_syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0, 0));
	/* Another filter may have answered for the kernel. */
	if (gate_syscall(__NR_getpid, MEASURE_PROBE_ARGUMENT, 0, 0, 0, 0, 0) !=
	    -MEASURE_PROBE_ERROR)
		sandbox_fail(PART_FILTER, 0);
}
