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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "runner.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define SA_RESTORER_FLAG 0x04000000ul /* the kernel's SA_RESTORER; libc hides it */

enum { NOBODY = 65534, CPU_SECONDS = 900, MEMORY_BYTES = 64 << 20 };

void sandbox_must(enum measure_part part, long result)
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
	sandbox_must(PART_DESCRIPTORS,
		     gate_syscall(__NR_close_range, 0, MEASURE_SOCKET_FD - 1, 0, 0, 0, 0));
	sandbox_must(PART_DESCRIPTORS,
		     gate_syscall(__NR_close_range, MEASURE_N_FDS, ~0u, 0, 0, 0, 0));
}

static void limit(int resource, unsigned long value)
{
	struct rlimit r = {value, value};

	sandbox_must(PART_LIMITS, gate_syscall(__NR_prlimit64, 0, resource, (long)&r, 0, 0, 0));
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
	sandbox_must(PART_DESCRIPTORS, gate_syscall(__NR_close, MEASURE_CODE_FD, 0, 0, 0, 0, 0));
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
		sandbox_must(PART_SIGNALS, gate_syscall(__NR_rt_sigaction, signals[i],
							(long)&action, 0, 8, 0, 0));
		blocked &= ~(1ul << (signals[i] - 1));
	}
	/* Signals for the program, such as an interrupt from the terminal, are not for us. */
	sandbox_must(PART_SIGNAL_MASK, gate_syscall(__NR_rt_sigprocmask, SIG_SETMASK,
						    (long)&blocked, 0, sizeof(blocked), 0, 0));
}

void sandbox_keeper(void)
{
	sandbox_must(PART_DEATH, prctl_set(PR_SET_PDEATHSIG, SIGKILL));
	close_descriptors();
	prctl_set(PR_SET_NAME, (long)"tact-runner"); /* for lists of processes */
	sandbox_must(PART_NO_NEW_PRIVILEGES, prctl_set(PR_SET_NO_NEW_PRIVS, 1));
	sandbox_must(PART_NOT_DUMPABLE, prctl_set(PR_SET_DUMPABLE, 0));
	map_areas();
	set_handlers();
	if (!gate_set_thread_data())
		sandbox_fail(PART_THREAD_DATA, 0);
	set_limits();
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
	sandbox_must(PART_SIGNAL_STACK,
		     gate_syscall(__NR_sigaltstack, (long)&stack, 0, 0, 0, 0, 0));
	return (struct runner *)address;
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{.effective = 0}};

	const long user = gate_syscall(__NR_geteuid, 0, 0, 0, 0, 0, 0);

	sandbox_must(PART_PRIVILEGES, user);
	if (user == 0) {
		sandbox_must(PART_PRIVILEGES, gate_syscall(__NR_setgroups, 0, 0, 0, 0, 0, 0));
		sandbox_must(PART_PRIVILEGES,
			     gate_syscall(__NR_setresgid, NOBODY, NOBODY, NOBODY, 0, 0, 0));
		sandbox_must(PART_PRIVILEGES,
			     gate_syscall(__NR_setresuid, NOBODY, NOBODY, NOBODY, 0, 0, 0));
	}
	sandbox_must(PART_PRIVILEGES,
		     gate_syscall(__NR_capset, (long)&header, (long)none, 0, 0, 0, 0));
	/* A change of identity has reset these. */
	sandbox_must(PART_DEATH, prctl_set(PR_SET_PDEATHSIG, SIGKILL));
	sandbox_must(PART_NOT_DUMPABLE, prctl_set(PR_SET_DUMPABLE, 0));
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

void sandbox_child(struct runner *r)
{
	drop_privileges();
	sandbox_must(PART_UNMAPPED,
		     gate_syscall(__NR_munmap, MEASURE_KEEPER_BASE, KEEPER_BYTES, 0, 0, 0, 0));
	if (gate_syscall(__NR_getrandom, (long)r->random, sizeof(r->random), 0, 0, 0, 0) !=
	    sizeof(r->random))
		sandbox_fail(PART_RANDOM, 0);
	sandbox_filter(r);
}
