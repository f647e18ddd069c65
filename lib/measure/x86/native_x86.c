/* SPDX-License-Identifier: MIT
 *
 * The instruction set's constant, and what the child needs on such a machine.
 */
#include "measure/x86/measure_x86.h"

const struct measure_set measure_x86 = {
	.isa = &isa_x86,
	.chain_cycles = 3, /* imul r32, r32 */
	.screen = measure_x86_screen,
	.emit = measure_x86_emit,
	.put_counter = measure_x86_put_counter,
	.accesses = measure_x86_accesses,
};

#ifdef __x86_64__

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <cpuid.h>
#include <linux/audit.h>
#include <x86intrin.h>

#include "measure/native.h"

/* MXCSR: flush to zero, denormals are zero, all exceptions masked. */
enum { FLOAT_CONTROL = 0x9fc0 };

enum { TRAP_FLAG = 0x100, DIRECTION_FLAG = 0x400, ALIGNMENT_FLAG = 0x40000, PLAIN_FLAGS = 0x202 };

/* Linux' user segments. */
enum { USER_CS = 0x33, USER_SS = 0x2b };

const struct measure_set *const measure_native = &measure_x86;
const uint32_t native_audit_arch = AUDIT_ARCH_X86_64;

void measure_abort(void);

__asm__(".text\n"
	".globl measure_syscall, measure_syscall_return, measure_restorer, "
	"measure_restorer_return\n"
	".globl measure_enter, measure_abort\n"
	".hidden measure_syscall, measure_syscall_return, measure_restorer, "
	"measure_restorer_return\n"
	".hidden measure_enter, measure_abort\n"
	".type measure_syscall, @function\n"
	"measure_syscall:\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	mov %r9, %r8\n"
	"	mov 8(%rsp), %r9\n"
	"	syscall\n"
	"measure_syscall_return:\n"
	"	ret\n"
	".type measure_restorer, @function\n"
	"measure_restorer:\n"
	"	mov $15, %eax\n" /* rt_sigreturn */
	"	syscall\n"
	"measure_restorer_return:\n"
	"	ud2\n"
	".type measure_enter, @function\n"
	"measure_enter:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	call 1f\n" /* the emitted code returns here, with rsp as it is now */
	"	jmp measure_abort\n"
	"1:	movabs $" /* host.saved_stack is the first field */
	"0x3f0000000000, %rax\n"
	"	mov %rsp, (%rax)\n"
	"	jmp *%rdi\n"
	".type measure_abort, @function\n"
	"measure_abort:\n"
	"	pushq $0x202\n	popfq\n" /* a block may have set any flag; NT would make the next
					    iretq fault */
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	"
	"pop %rbx\n"
	"	ret\n");

_Static_assert(MEASURE_HOST_BASE == 0x3f0000000000ull &&
		       offsetof(struct measure_host, saved_stack) == 0,
	       "measure_enter knows the address of saved_stack");

BARE uint64_t native_pc(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

BARE void native_record_step(struct measure_step *step, const ucontext_t *context)
{
	/* in the order of their encoding */
	static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};

	step->pc = native_pc(context);
	for (unsigned i = 0; i < 16; i++)
		step->reg[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

BARE void native_stop_stepping(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* Continues in measure_abort with the stack of measure_enter.  It needs memory, so the trap,
 * direction and alignment-check flags are cleared.
 */
BARE void native_leave_block(ucontext_t *context, const struct measure_host *host)
{
	greg_t *gregs = context->uc_mcontext.gregs;

	gregs[REG_RIP] = (greg_t)(uintptr_t)measure_abort;
	gregs[REG_RSP] = (greg_t)host->saved_stack + 8;
	gregs[REG_EFL] &= ~(greg_t)(TRAP_FLAG | DIRECTION_FLAG | ALIGNMENT_FLAG);
}

BARE void native_begin_run(struct measure_host *host, uint64_t body, bool step)
{
	host->float_control = FLOAT_CONTROL;
	host->frame[X86_FRAME_RIP] = body;
	host->frame[X86_FRAME_CS] = USER_CS;
	host->frame[X86_FRAME_RFLAGS] = step ? PLAIN_FLAGS | TRAP_FLAG : PLAIN_FLAGS;
	host->frame[X86_FRAME_RSP] = host->init_stack;
	host->frame[X86_FRAME_SS] = USER_SS;
}

BARE bool native_reads_counter(uint64_t pc)
{
	const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)pc;

	return code[0] == 0x0f && code[1] == 0x33; /* rdpmc */
}

BARE void native_skip_counter(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] += 2;
}

BARE void native_run_chain(unsigned links)
{
	uint32_t value = 3;

	__asm__ volatile("lfence\n1: .rept 16\n	imul %0, %0\n	.endr\n"
			 "	sub $16, %1\n	jnz 1b\n	lfence"
			 : "+r"(value), "+r"(links)::"cc", "memory");
}

static BARE uint64_t read_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n	rdpmc\n	lfence"
			 : "=a"(low), "=d"(high)
			 : "c"(index)
			 : "memory");
	return low | (uint64_t)high << 32;
}

BARE void native_count_chain(unsigned links, uint32_t index, uint64_t *begin, uint64_t *end)
{
	*begin = read_counter(index);
	native_run_chain(links);
	*end = read_counter(index);
}

BARE void native_move_thread_data(void)
{
	measure_syscall(__NR_arch_prctl, ARCH_SET_FS, MEASURE_THREAD_BASE, 0, 0, 0, 0);
	measure_syscall(__NR_arch_prctl, ARCH_SET_GS, MEASURE_THREAD_BASE, 0, 0, 0, 0);
}

uint64_t native_clock(void)
{
	return __rdtsc();
}

uint32_t native_features(void)
{
	unsigned eax, ebx, ecx, edx, xcr0 = 0;
	uint32_t features = 0;

	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx >> 27 & 1) {
		unsigned high;

		__asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
		if (ecx >> 28 & 1 && (xcr0 & 6) == 6)
			features |= X86_HAS_AVX;
	}
	if (features && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx >> 16 & 1 &&
	    (xcr0 & 0xe6) == 0xe6) {
		features |= X86_HAS_AVX512;
		if ((ebx >> 30 & 3) == 3)
			features |= X86_HAS_AVX512_VL_BW;
	}
	return features;
}

#endif /* __x86_64__ */
