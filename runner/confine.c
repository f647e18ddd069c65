/* SPDX-License-Identifier: MIT
 *
 * What keeps a process to itself: it has no memory but its own, and may hardly call the kernel.
 */
#include <asm/unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>

#include "runner.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

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
		{gate_address_end, 0},
	};

	for (size_t i = 0; i + 1 < sizeof(kept) / sizeof(kept[0]); i++)
		sandbox_must(PART_UNMAPPED,
			     gate_syscall(__NR_munmap, (long)kept[i].end,
					  (long)(kept[i + 1].begin - kept[i].end), 0, 0, 0, 0));
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

void sandbox_filter(const struct runner *r)
{
	struct filter filter;
	struct sock_fprog program = {.filter = filter.code};

	make_filter(&filter, r);
	program.len = (unsigned short)filter.n;
	sandbox_must(PART_FILTER, gate_syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0,
					       (long)&program, 0, 0, 0));
	/* Another filter may have answered for the kernel. */
	if (gate_syscall(__NR_getpid, MEASURE_PROBE_ARGUMENT, 0, 0, 0, 0, 0) !=
	    -MEASURE_PROBE_ERROR)
		sandbox_fail(PART_FILTER, 0);
}

void sandbox_see_code(void)
{
	gate_see_code();
}
