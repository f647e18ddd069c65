/* SPDX-License-Identifier: MIT
 *
 * Stepping through a process: registers, breakpoints, and what stepping leaves behind.
 */
#include "isa/x86/x86.h"

#ifdef __x86_64__

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

enum {
	TRAP_FLAG = 1 << 8,
	DIRECTION_FLAG = 1 << 10,
	DR7_EXECUTE_0 = 1, /* breakpoint 0 is on, for execution, of length 1 (SDM 3, 18.2.4) */
	CODE_64 = 0x33	   /* the kernel's selector of 64-bit code */
};

static int read_state(pid_t thread, struct isa_state *out)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &r))
		return -1;
	if (r.cs != CODE_64) { /* 32-bit code */
		errno = ENOEXEC;
		return -1;
	}
	*out = (struct isa_state){
		.pc = r.rip,
		.flags = r.eflags,
		/* Interrupts and exceptions leave -1. */
		.was_in_kernel = (long long)r.orig_rax >= 0,
		.bases = {r.fs_base, r.gs_base},
		.general = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9,
			    r.r10, r.r11, r.r12, r.r13, r.r14, r.r15},
	};
	return 0;
}

static bool is_repeated(const ZydisDecodedInstruction *zi)
{
	return zi->attributes &
	       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static unsigned traits(const uint8_t *code, size_t size, unsigned *length)
{
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	unsigned bits = 0;

	*length = 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, size, &zi)))
		return 0;
	*length = zi.length;
	if (is_repeated(&zi))
		bits |= ISA_STEP_REPEATS;
	if (zi.meta.category == ZYDIS_CATEGORY_SYSCALL ||
	    zi.meta.category == ZYDIS_CATEGORY_INTERRUPT)
		bits |= ISA_STEP_KERNEL;
	if (zi.mnemonic == ZYDIS_MNEMONIC_PUSHF || zi.mnemonic == ZYDIS_MNEMONIC_PUSHFQ)
		bits |= ISA_STEP_SHOWS_FLAGS;
	return bits;
}

static int set_breakpoint(pid_t thread, uint64_t address)
{
	const size_t dr0 = offsetof(struct user, u_debugreg[0]),
		     dr7 = offsetof(struct user, u_debugreg[7]);

	if (ptrace(PTRACE_POKEUSER, thread, dr7, 0L))
		return -1;
	if (!address)
		return 0;
	return ptrace(PTRACE_POKEUSER, thread, dr0, address) ||
			       ptrace(PTRACE_POKEUSER, thread, dr7, (long)DR7_EXECUTE_0)
		       ? -1
		       : 0;
}

/* pushf puts the flags at the top of the stack.  popf would let the program step by itself. */
static void hide_step(pid_t thread)
{
	struct user_regs_struct r;
	long word;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &r))
		return;
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, thread, r.rsp, NULL);
	if (!errno && word & TRAP_FLAG)
		ptrace(PTRACE_POKEDATA, thread, r.rsp, word & ~(long)TRAP_FLAG);
}

/* After a step over popf, the kernel takes the trap flag for the program's own and leaves it set
 * (enable_single_step in arch/x86/kernel/step.c).
 */
static void end_step(pid_t thread)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &r) || !(r.eflags & TRAP_FLAG))
		return;
	r.eflags &= ~(unsigned long long)TRAP_FLAG;
	ptrace(PTRACE_SETREGS, thread, NULL, &r);
}

static uint64_t segment_base(const struct isa_state *state, unsigned reg)
{
	return reg == X86_REG_FS || reg == X86_REG_FS + 1 ? state->bases[reg - X86_REG_FS] : 0;
}

static uint64_t repetitions(const struct isa_state *before, const struct isa_state *after)
{
	return before->general[X86_REG_RCX] - after->general[X86_REG_RCX];
}

static bool is_descending(const struct isa_state *state)
{
	return state->flags & DIRECTION_FLAG;
}

const struct isa_tracing x86_tracing = {.read_state = read_state,
					.traits = traits,
					.set_breakpoint = set_breakpoint,
					.hide_step = hide_step,
					.end_step = end_step,
					.segment_base = segment_base,
					.repetitions = repetitions,
					.is_descending = is_descending};

#endif /* __x86_64__ */
