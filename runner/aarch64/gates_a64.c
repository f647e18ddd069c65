/* SPDX-License-Identifier: MIT
 *
 * The ways into a block, out of it, and into the kernel.
 *
 * No way out of a block needs a register, or memory that a block could have changed: addresses are
 * constants, and the kernel tells where the runner's memory is.
 */
#include <asm/unistd.h>
#include <linux/audit.h>

#include "measure/aarch64/timer_a64.h"
#include "runner.h"

/* Words of measure_stamp.frame: where the entry goes on, and the stack pointer. */
enum { FRAME_PC, FRAME_SP };

/* The cycle counter among the counters that perf hands out. */
enum { CYCLE_COUNTER = 31 };

const uint32_t gate_audit_arch = AUDIT_ARCH_AARCH64;
const uint64_t gate_user_access = 2; /* config1 of an event that is to be read in user mode */
const uint64_t gate_address_end = 1ull << 48;

extern const char gate_abort[];

_Static_assert(offsetof(struct runner, signal_stack) == 0 &&
		       offsetof(struct runner, saved_stack) == 0x10000 &&
		       offsetof(struct runner, begin) == MEASURE_HIDDEN_BEGIN &&
		       offsetof(struct runner, proof) == MEASURE_HIDDEN_BEGIN + 8,
	       "code here and emitted code know these");
_Static_assert(MEASURE_STAMP_BASE == 0x3ea000000000ull, "code here knows this");

/* Top-level assembly cannot take operands: a function that is never called carries it. */
__attribute__((used, noinline)) static void gates(void)
{
	__asm__(".pushsection .gates, \"ax\"\n"
		/* MEASURE_LEAVE: nothing on this machine keeps the way to the hidden memory. */
		"	udf #0\n"
		"	.balign 64\n"
		/* From emitted code, behind the block, MEASURE_LEAVE_BY_CALL: x0 is the counter at
		 * its end.  sigaltstack(NULL, found) tells where the runner's memory is.
		 */
		"	mov x19, x0\n"
		"	mov x0, #0\n"
		"	mov x20, #0x3ea000000000\n"
		"	add x20, x20, %[found]\n"
		"	mov x1, x20\n"
		"	mov x8, %[sigaltstack]\n"
		"	svc #0\n"
		".globl gate_found_return\n"
		"gate_found_return:\n"
		"	cbnz x0, gate_broken\n"
		"	ldr x2, [x20]\n"
		"	str xzr, [x20]\n" /* the next run must not read it there */
		"	mov x3, #0x10000\n"
		"	ldr x3, [x2, x3]\n"
		"	mov sp, x3\n"
		"	mov x0, x19\n"
		"gate_out:\n"
		"	ldp x19, x20, [sp]\n"
		"	ldp x21, x22, [sp, #16]\n"
		"	ldp x23, x24, [sp, #32]\n"
		"	ldp x25, x26, [sp, #48]\n"
		"	ldp x27, x28, [sp, #64]\n"
		"	ldp x29, x30, [sp, #80]\n"
		"	add sp, sp, #96\n"
		"	ret\n"
		/* From the handler of signals, which has set sp. */
		".globl gate_abort\n"
		"gate_abort:\n"
		"	mov x0, #0\n"
		"	b gate_out\n"
		"gate_broken:\n"
		"	udf #0\n"

		".macro save\n"
		"	sub sp, sp, #96\n"
		"	stp x19, x20, [sp]\n"
		"	stp x21, x22, [sp, #16]\n"
		"	stp x23, x24, [sp, #32]\n"
		"	stp x25, x26, [sp, #48]\n"
		"	stp x27, x28, [sp, #64]\n"
		"	stp x29, x30, [sp, #80]\n"
		".endm\n"

		".globl gate_enter\n"
		"gate_enter:\n"
		"	save\n"
		"	mov x19, x0\n"
		"	ldp x20, x21, [x2]\n"
		"	mov x3, #0x10000\n"
		"	mov x4, sp\n"
		"	str x4, [x19, x3]\n"
		"	br x1\n"

		".globl gate_clock\n"
		"gate_clock:\n"
		"	save\n"
		"	blr x0\n"
		"	b gate_out\n"

		".globl gate_syscall\n"
		"gate_syscall:\n"
		"	mov x8, x0\n"
		"	mov x0, x1\n"
		"	mov x1, x2\n"
		"	mov x2, x3\n"
		"	mov x3, x4\n"
		"	mov x4, x5\n"
		"	mov x5, x6\n"
		"	svc #0\n"
		".globl gate_syscall_return\n"
		"gate_syscall_return:\n"
		"	ret\n"

		".globl gate_restorer\n"
		"gate_restorer:\n"
		"	mov x8, %[sigreturn]\n"
		"	svc #0\n"
		".globl gate_restorer_return\n"
		"gate_restorer_return:\n"
		"	udf #0\n"

		".globl gate_switch_stack\n"
		"gate_switch_stack:\n"
		"	mov sp, x1\n"
		"	blr x2\n"
		"	udf #0\n"

		".globl runner_start\n"
		"runner_start:\n"
		"	mov x29, #0\n"
		"	mov x30, #0\n"
		"	bl runner_main\n"
		"	udf #0\n"
		".popsection\n" ::[found] "i"(offsetof(struct measure_stamp, found)),
		[sigaltstack] "i"(__NR_sigaltstack), [sigreturn] "i"(__NR_rt_sigreturn));
}

uint64_t gate_pc(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

/* A brk is in front of the instruction: see emit_a64.c. */
void gate_record_step(struct measure_step *step, ucontext_t *context)
{
	step->pc = gate_pc(context);
	for (unsigned i = 0; i < 31; i++)
		step->reg[i] = context->uc_mcontext.regs[i];
	step->reg[31] = context->uc_mcontext.sp;
	context->uc_mcontext.pc += 4;
}

/* The rest of the run would only meet more of them. */
void gate_stop_stepping(ucontext_t *context, uint64_t stack)
{
	gate_leave_block(context, stack);
}

void gate_leave_block(ucontext_t *context, uint64_t stack)
{
	context->uc_mcontext.pc = (uint64_t)gate_abort;
	context->uc_mcontext.sp = stack;
	context->uc_mcontext.pstate = 0; /* flags, and what a branch leaves there */
}

void gate_begin_run(struct measure_stamp *stamp, uint64_t body, uint64_t stack, bool step)
{
	(void)step;
	stamp->frame[FRAME_PC] = body;
	stamp->frame[FRAME_SP] = stack;
}

/* Only the kernel could tell the CPU: readings do not show when the process has moved. */
uint64_t gate_stamp(uint32_t *cpu)
{
	*cpu = 0;
	return a64_read_timer();
}

uint64_t gate_proof(uint64_t begin, const uint64_t key[2])
{
	return begin * key[0] + key[1];
}

bool gate_set_thread_data(void)
{
	__asm__ volatile("msr tpidr_el0, %0" ::"r"(MEASURE_THREAD_BASE));
	return true;
}

/* mrs of pmccntr_el0: an undefined instruction, where the kernel does not allow it. */
bool gate_is_counter_fault(int signal, const siginfo_t *info, uint64_t pc)
{
	(void)info;
	return signal == SIGILL &&
	       (*(const volatile uint32_t *)(uintptr_t)pc & 0xffffffe0) == 0xd53b9d00;
}

bool gate_is_protection_fault(const siginfo_t *info)
{
	(void)info;
	return false;
}

void gate_skip_counter(ucontext_t *context)
{
	context->uc_mcontext.pc += 4;
}

/* Three additions of a cycle each. */
void gate_run_chain(unsigned links)
{
	uint64_t value = 3, left = links;

	__asm__ volatile("isb\n1: .rept 48\n	add %0, %0, %2\n	.endr\n"
			 "	sub %1, %1, #16\n	cbnz %1, 1b\n	isb"
			 : "+r"(value), "+r"(left)
			 : "r"(links)
			 : "memory");
}

static uint64_t read_counter(void)
{
	uint64_t value = 0;

	__asm__ volatile("isb\n	mrs %0, pmccntr_el0\n	isb" : "+r"(value)::"memory");
	return value;
}

/* Only the cycle counter is read; another one seems to stand still. */
void gate_count_chain(unsigned links, uint32_t index, uint64_t *begin, uint64_t *end)
{
	const bool is_cycles = index == CYCLE_COUNTER;

	*begin = is_cycles ? read_counter() : 0;
	gate_run_chain(links);
	*end = is_cycles ? read_counter() : 0;
}

/* The library has written the code, and cleaned the data cache; what this core fetched before may
 * still be there.
 */
void gate_see_code(void)
{
	const uint64_t end = MEASURE_CODE_BASE + MEASURE_CODE_BYTES;
	uint64_t kind;

	__asm__ volatile("mrs %0, ctr_el0" : "=r"(kind)); /* bits 3 to 0: words of a line, log2 */
	for (uint64_t at = MEASURE_CODE_BASE; at < end; at += 4u << (kind & 15))
		__asm__ volatile("ic ivau, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb ish\n	isb" ::: "memory");
}
