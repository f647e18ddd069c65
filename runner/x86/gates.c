/* SPDX-License-Identifier: MIT
 *
 * The ways into a block, out of it, and into the kernel.
 *
 * No way out of a block needs a register, or memory that a block could have changed: addresses are
 * constants, and the stack pointer comes from memory that the block cannot find.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/audit.h>

#include "runner.h"

enum { TRAP_FLAG = 0x100, DIRECTION_FLAG = 0x400, ALIGNMENT_FLAG = 0x40000, PLAIN_FLAGS = 0x202 };

/* Linux' user segments. */
enum { USER_CS = 0x33, USER_SS = 0x2b };

/* Words of measure_stamp.frame: what iretq takes from the stack. */
enum { FRAME_RIP, FRAME_CS, FRAME_RFLAGS, FRAME_RSP, FRAME_SS };

const uint32_t gate_audit_arch = AUDIT_ARCH_X86_64;
const uint64_t gate_user_access = 0;
const uint64_t gate_address_end = 0x7ffffffff000ull; /* the upper half is the kernel's */

extern const char gate_abort[];

_Static_assert(offsetof(struct runner, signal_stack) == 0 &&
		       offsetof(struct runner, begin) == MEASURE_HIDDEN_BEGIN &&
		       offsetof(struct runner, proof) == MEASURE_HIDDEN_BEGIN + 8,
	       "emitted code knows these");

/* Top-level assembly cannot take operands: a function that is never called carries it. */
__attribute__((used, section(".gates"), naked, noinline)) static void gates(void)
{
	__asm__(/* From emitted code, behind the block: rax is the counter at its end.  This is the
		 * first instruction of the text: MEASURE_LEAVE.  The entry has left the address of
		 * the runner's memory in the base of gs.
		 */
		"	mov %%rax, %%rbx\n"
		"	rdgsbase %%rdx\n"
		"	jmp gate_leave\n"
		/* The same, MEASURE_LEAVE_BY_CALL: sigaltstack(NULL, found) tells where the
		 * runner's memory is.
		 */
		"	.balign 64\n"
		"	mov %%rax, %%rbx\n"
		"	xor %%edi, %%edi\n"
		"	movabs %[found], %%rsi\n"
		"	mov %[sigaltstack], %%eax\n"
		"	syscall\n"
		".globl gate_found_return\n"
		"gate_found_return:\n"
		"	test %%rax, %%rax\n"
		"	jne gate_broken\n"
		"	movabs %[found], %%rcx\n"
		"	mov (%%rcx), %%rdx\n"
		"	mov %%rax, (%%rcx)\n" /* the next run must not read it there */
		"gate_leave:\n"
		"	mov %c[saved](%%rdx), %%rsp\n"
		"	pushq $0x202\n	popfq\n" /* a block may have set any flag; NT would make the
						    next iretq fault */
		"	mov %%rbx, %%rax\n"
		"gate_out:\n"
		"	pop %%r15\n	pop %%r14\n	pop %%r13\n	pop %%r12\n	pop %%rbp\n"
		"	pop %%rbx\n"
		"	ret\n"
		/* From the handler of signals, which has set rsp. */
		".globl gate_abort\n"
		"gate_abort:\n"
		"	pushq $0x202\n	popfq\n"
		"	xor %%eax, %%eax\n"
		"	jmp gate_out\n"
		"gate_broken:\n"
		"	ud2\n"

		".globl gate_enter\n"
		"gate_enter:\n"
		"	push %%rbx\n	push %%rbp\n	push %%r12\n	push %%r13\n	push "
		"%%r14\n"
		"	push %%r15\n"
		"	mov %%rdi, %%r15\n"
		"	mov (%%rdx), %%r12\n"
		"	mov 8(%%rdx), %%r13\n"
		"	mov %%rsp, %c[saved](%%r15)\n"
		"	jmp *%%rsi\n"

		".globl gate_clock\n"
		"gate_clock:\n"
		"	push %%rbx\n	push %%rbp\n	push %%r12\n	push %%r13\n	push "
		"%%r14\n"
		"	push %%r15\n"
		"	call *%%rdi\n"
		"	jmp gate_out\n"

		".globl gate_syscall\n"
		"gate_syscall:\n"
		"	mov %%rdi, %%rax\n"
		"	mov %%rsi, %%rdi\n"
		"	mov %%rdx, %%rsi\n"
		"	mov %%rcx, %%rdx\n"
		"	mov %%r8, %%r10\n"
		"	mov %%r9, %%r8\n"
		"	mov 8(%%rsp), %%r9\n"
		"	syscall\n"
		".globl gate_syscall_return\n"
		"gate_syscall_return:\n"
		"	ret\n"

		".globl gate_restorer\n"
		"gate_restorer:\n"
		"	mov %[sigreturn], %%eax\n"
		"	syscall\n"
		".globl gate_restorer_return\n"
		"gate_restorer_return:\n"
		"	ud2\n"

		".globl gate_switch_stack\n"
		"gate_switch_stack:\n"
		"	mov %%rsi, %%rsp\n"
		"	call *%%rdx\n"
		"	ud2\n"

		".globl runner_start\n"
		"runner_start:\n"
		"	and $-16, %%rsp\n"
		"	call runner_main\n"
		"	ud2\n" ::[found] "i"(MEASURE_STAMP_BASE +
					     offsetof(struct measure_stamp, found)),
		[sigaltstack] "i"(__NR_sigaltstack), [sigreturn] "i"(__NR_rt_sigreturn),
		[saved] "i"(offsetof(struct runner, saved_stack)));
}

uint64_t gate_pc(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

void gate_record_step(struct measure_step *step, ucontext_t *context)
{
	/* in the order of their encoding */
	static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};

	step->pc = gate_pc(context);
	for (unsigned i = 0; i < 16; i++)
		step->reg[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

void gate_stop_stepping(ucontext_t *context, uint64_t stack)
{
	(void)stack;
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* Continues in gate_abort with the stack of gate_enter.  It needs memory, so the trap, direction
 * and alignment-check flags are cleared.
 */
void gate_leave_block(ucontext_t *context, uint64_t stack)
{
	greg_t *gregs = context->uc_mcontext.gregs;

	gregs[REG_RIP] = (greg_t)(uintptr_t)gate_abort;
	gregs[REG_RSP] = (greg_t)stack;
	gregs[REG_EFL] &= ~(greg_t)(TRAP_FLAG | DIRECTION_FLAG | ALIGNMENT_FLAG);
}

void gate_begin_run(struct measure_stamp *stamp, uint64_t body, uint64_t stack, bool step)
{
	stamp->frame[FRAME_RIP] = body;
	stamp->frame[FRAME_CS] = USER_CS;
	stamp->frame[FRAME_RFLAGS] = step ? PLAIN_FLAGS | TRAP_FLAG : PLAIN_FLAGS;
	stamp->frame[FRAME_RSP] = stack;
	stamp->frame[FRAME_SS] = USER_SS;
}

uint64_t gate_stamp(uint32_t *cpu)
{
	enum { CPU_SEGMENT = 0x7b, CPU_BITS = 0xfff }; /* Linux' segment that tells the CPU */
	uint32_t low, high, limit;

	__asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(CPU_SEGMENT) : "cc");
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	*cpu = limit & CPU_BITS;
	return low | (uint64_t)high << 32;
}

/* A one-time code: who does not know the keys cannot make the proof of another time.  (With a
 * difference of 2^k, 64 - k bits of it must be guessed; beyond 2^40 no time is plausible.)
 */
uint64_t gate_proof(uint64_t begin, const uint64_t key[2])
{
	return begin * key[0] + key[1];
}

bool gate_set_thread_data(void)
{
	return !gate_syscall(__NR_arch_prctl, ARCH_SET_FS, MEASURE_THREAD_BASE, 0, 0, 0, 0) &&
	       !gate_syscall(__NR_arch_prctl, ARCH_SET_GS, MEASURE_THREAD_BASE, 0, 0, 0, 0);
}

/* rdpmc: a general protection fault, where the kernel does not allow it. */
bool gate_is_counter_fault(int signal, const siginfo_t *info, uint64_t pc)
{
	const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)pc;

	return signal == SIGSEGV && gate_is_protection_fault(info) && code[0] == 0x0f &&
	       code[1] == 0x33;
}

/* A general protection fault has no address. */
bool gate_is_protection_fault(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL;
}

/* Caches follow what is written, wherever that is. */
void gate_see_code(void)
{
}

void gate_skip_counter(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] += 2;
}

void gate_run_chain(unsigned links)
{
	uint32_t value = 3;

	__asm__ volatile("lfence\n1: .rept 16\n	imul %0, %0\n	.endr\n"
			 "	sub $16, %1\n	jnz 1b\n	lfence"
			 : "+r"(value), "+r"(links)::"cc", "memory");
}

static uint64_t read_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n	rdpmc\n	lfence"
			 : "=a"(low), "=d"(high)
			 : "c"(index)
			 : "memory");
	return low | (uint64_t)high << 32;
}

void gate_count_chain(unsigned links, uint32_t index, uint64_t *begin, uint64_t *end)
{
	*begin = read_counter(index);
	gate_run_chain(links);
	*end = read_counter(index);
}
