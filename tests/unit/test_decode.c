/* SPDX-License-Identifier: MIT
 *
 * Single instructions: form, operands, flags and attributes, by a table made by hand from the Intel
 * SDM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/x86/x86.h"
#include "support.h"

/* Short names for the table. */
enum {
	R = TACT_ACCESS_READ,
	W = TACT_ACCESS_WRITE,
	CW = TACT_ACCESS_COND_WRITE,
	C = X86_FLAGS_C,
	O = X86_FLAGS_SPAZO,
	LOAD = TACT_INSN_LOAD,
	STORE = TACT_INSN_STORE,
	VEC = TACT_INSN_VECTOR,
	OLD_VEC = TACT_INSN_VECTOR | TACT_INSN_OLD_VECTOR,
	IDX = TACT_INSN_INDEXED,
	SAME = TACT_INSN_SAME_REG,
	LCP = TACT_INSN_LCP,
	LOCK = TACT_INSN_LOCKED,
	BR = TACT_INSN_BRANCH,
	RIP = TACT_INSN_PC_RELATIVE,
	PAIR = TACT_INSN_PAIR_SHORT,
	V = X86_REG_VEC0,
	K = X86_REG_MASK0,
	RW = R | W,
	A = C | O,
	CBR = TACT_INSN_COND_BRANCH | BR,
};

#define REG(r, a, b)                                                                               \
	{                                                                                          \
		.kind = TACT_OPERAND_REG, .reg = (r), .access = (a), .bits = (b)                   \
	}
#define MEM(base_, index_, a, b)                                                                   \
	{                                                                                          \
		.kind = TACT_OPERAND_MEM, .base = (base_), .index = (index_), .access = (a),       \
		.bits = (b)                                                                        \
	}
#define AGEN(base_, index_)                                                                        \
	{                                                                                          \
		.kind = TACT_OPERAND_AGEN, .base = (base_), .index = (index_)                      \
	}
#define IMM                                                                                        \
	{                                                                                          \
		.kind = TACT_OPERAND_IMM                                                           \
	}
#define NONE TACT_REG_NONE

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* `operands` are the first ones; those that an initialiser leaves out are not compared. */
static const struct row {
	const char *hex, *form;
	uint32_t attributes;
	uint8_t opcode_offset, flags_read, flags_written;
	int8_t stack;
	struct tact_operand operands[4];
} table[] = {
	/* integer arithmetic */
	{"4801d8", "ADD_01 (R64, R64)", 0, 1, 0, A, 0, {REG(RAX, RW, 64), REG(RBX, R, 64)}},
	{"4803c3", "ADD_03 (R64, R64)", 0, 1, 0, A, 0, {REG(RAX, RW, 64), REG(RBX, R, 64)}},
	{"01c0", "ADD_01 (R32, R32)", SAME, 0, 0, A, 0, {REG(RAX, RW, 32), REG(RAX, R, 32)}},
	{"00e0", "ADD_00 (R8l, R8h)", SAME, 0, 0, A, 0, {REG(RAX, RW, 8), REG(RAX, R, 8)}},
	{"00c4", "ADD_00 (R8h, R8l)", SAME, 0, 0, A, 0, {REG(RAX, RW, 8), REG(RAX, R, 8)}},
	{"4000c4", "ADD_00 (R8l, R8l)", 0, 1, 0, A, 0, {REG(RSP, RW, 8), REG(RAX, R, 8)}},
	{"4883c005", "ADD (R64, I8)", 0, 1, 0, A, 0, {REG(RAX, RW, 64), IMM}},
	{"4883c000", "ADD (R64, 0)", 0, 1, 0, A, 0, {REG(RAX, RW, 64), IMM}},
	{"480578563412", "ADD (RAX, I32)", 0, 1, 0, A, 0, {REG(RAX, RW, 64), IMM}},
	{"6605cdab", "ADD (AX, I16)", LCP, 1, 0, A, 0, {REG(RAX, RW, 16), IMM}},
	{"6681c1cdab", "ADD (R16, I16)", LCP, 1, 0, A, 0, {REG(RCX, RW, 16), IMM}},
	{"6683c101", "ADD (R16, I8)", 0, 1, 0, A, 0, {REG(RCX, RW, 16), IMM}},
	{"01442410",
	 "ADD (M32, R32)",
	 LOAD | STORE,
	 0,
	 0,
	 A,
	 0,
	 {MEM(RSP, NONE, RW, 32), REG(RAX, R, 32)}},
	{"f0480103",
	 "ADD_LOCK (M64, R64)",
	 LOAD | STORE | LOCK,
	 2,
	 0,
	 A,
	 0,
	 {MEM(RBX, NONE, RW, 64), REG(RAX, R, 64)}},
	{"4811c8", "ADC_11 (R64, R64)", 0, 1, C, A, 0, {REG(RAX, RW, 64), REG(RCX, R, 64)}},
	{"4883d000", "ADC (R64, 0)", 0, 1, C, A, 0, {REG(RAX, RW, 64), IMM}},
	{"4883d001", "ADC (R64, I8)", 0, 1, C, A, 0, {REG(RAX, RW, 64), IMM}},
	{"4829c0", "SUB_29 (R64, R64)", SAME, 1, 0, A, 0, {REG(RAX, RW, 64), REG(RAX, R, 64)}},
	{"4839c8", "CMP_39 (R64, R64)", 0, 1, 0, A, 0, {REG(RAX, R, 64), REG(RCX, R, 64)}},
	{"3b0488",
	 "CMP (R32, M32)",
	 LOAD | IDX,
	 0,
	 0,
	 A,
	 0,
	 {REG(RAX, R, 32), MEM(RAX, RCX, R, 32)}},
	{"85c9", "TEST (R32, R32)", SAME, 0, 0, A, 0, {REG(RCX, R, 32), REG(RCX, R, 32)}},
	{"48ffc0", "INC (R64)", 0, 1, 0, O, 0, {REG(RAX, RW, 64)}},
	{"ff08", "DEC (M32)", LOAD | STORE, 0, 0, O, 0, {MEM(RAX, NONE, RW, 32)}},
	{"48f7d8", "NEG (R64)", 0, 1, 0, A, 0, {REG(RAX, RW, 64)}},
	{"48f7d0", "NOT (R64)", 0, 1, 0, 0, 0, {REG(RAX, RW, 64)}},
	{"4831c0", "XOR_31 (R64, R64)", SAME, 1, 0, A, 0, {REG(RAX, RW, 64), REG(RAX, R, 64)}},
	{"480fafc3", "IMUL (R64, R64)", 0, 2, 0, A, 0, {REG(RAX, RW, 64), REG(RBX, R, 64)}},
	{"486bc305",
	 "IMUL_IMMB (R64, R64, I8)",
	 0,
	 1,
	 0,
	 A,
	 0,
	 {REG(RAX, W, 64), REG(RBX, R, 64), IMM}},
	{"4869c300010000",
	 "IMUL_IMMZ (R64, R64, I32)",
	 0,
	 1,
	 0,
	 A,
	 0,
	 {REG(RAX, W, 64), REG(RBX, R, 64), IMM}},
	{"48f7e3", "MUL (R64)", 0, 1, 0, A, 0, {REG(RBX, R, 64)}},
	{"f7f1", "DIV (R32)", 0, 0, 0, 0, 0, {REG(RCX, R, 32)}},
	{"48d3e0", "SHL (R64, CL)", 0, 1, A, A, 0, {REG(RAX, RW, 64), REG(RCX, R, 8)}},
	{"48c1e003", "SHL (R64, I8)", 0, 1, 0, A, 0, {REG(RAX, RW, 64), IMM}},
	{"c4e2f9f7c3",
	 "SHLX (R64, R64, R64)",
	 0,
	 3,
	 0,
	 0,
	 0,
	 {REG(RAX, W, 64), REG(RBX, R, 64), REG(RAX, R, 64)}},
	{"480fa4d805",
	 "SHLD_IMMB (R64, R64, I8)",
	 0,
	 2,
	 0,
	 A,
	 0,
	 {REG(RAX, R | CW, 64), REG(RBX, R, 64)}},
	{"f3480fb8c3", "POPCNT (R64, R64)", 0, 3, 0, A, 0, {REG(RAX, W, 64), REG(RBX, R, 64)}},
	{"480fbcc3", "BSF (R64, R64)", 0, 2, 0, O, 0, {REG(RAX, 0, 64), REG(RBX, R, 64)}},
	{"480fc8", "BSWAP (R64)", 0, 2, 0, 0, 0, {REG(RAX, RW, 64)}},
	{"0f44c3", "CMOVZ (R32, R32)", 0, 1, O, 0, 0, {REG(RAX, 0, 0), REG(RBX, R, 32)}},
	{"0f97c0", "SETNBE (R8l)", 0, 1, A, 0, 0, {REG(RAX, W, 8)}},
	{"f8", "CLC", 0, 0, 0, C, 0, {{0}}},
	/* moves and addresses */
	{"4889d8", "MOV_89 (R64, R64)", 0, 1, 0, 0, 0, {REG(RAX, W, 64), REG(RBX, R, 64)}},
	{"488b4308",
	 "MOV (R64, M64)",
	 LOAD | PAIR,
	 1,
	 0,
	 0,
	 0,
	 {REG(RAX, W, 64), MEM(RBX, NONE, R, 64)}},
	{"8b0500000000",
	 "MOV (R32, M32)",
	 LOAD | PAIR | RIP,
	 0,
	 0,
	 0,
	 0,
	 {REG(RAX, W, 32), MEM(NONE, NONE, R, 32)}},
	{"4889443b08",
	 "MOV (M64, R64)",
	 STORE | IDX,
	 1,
	 0,
	 0,
	 0,
	 {MEM(RBX, RDI, W, 64), REG(RAX, R, 64)}},
	{"66c700cdab", "MOV (M16, I16)", STORE | LCP, 1, 0, 0, 0, {MEM(RAX, NONE, W, 16), IMM}},
	{"48b8f0debc9a78563412", "MOV (R64, I64)", 0, 1, 0, 0, 0, {REG(RAX, W, 64), IMM}},
	{"b878563412", "MOV (R32, I32)", 0, 0, 0, 0, 0, {REG(RAX, W, 32), IMM}},
	{"66b83412", "MOV (R16, I16)", LCP, 1, 0, 0, 0, {REG(RAX, W, 16), IMM}},
	{"0fb6c3", "MOVZX (R32, R8l)", 0, 1, 0, 0, 0, {REG(RAX, W, 32), REG(RBX, R, 8)}},
	{"0fb6c7", "MOVZX (R32, R8h)", 0, 1, 0, 0, 0, {REG(RAX, W, 32), REG(RBX, R, 8)}},
	{"400fb6c6",
	 "MOVZX (R32, R8l)",
	 TACT_INSN_PART_ALIAS,
	 2,
	 0,
	 0,
	 0,
	 {REG(RAX, W, 32), REG(RSI, R, 8)}},
	{"4863c3", "MOVSXD (R64, R32)", 0, 1, 0, 0, 0, {REG(RAX, W, 64), REG(RBX, R, 32)}},
	{"488d0483", "LEA_B_IS (R64)", IDX, 1, 0, 0, 0, {REG(RAX, W, 64), AGEN(RBX, RAX)}},
	{"488d4308", "LEA_B_D8 (R64)", 0, 1, 0, 0, 0, {REG(RAX, W, 64), AGEN(RBX, NONE)}},
	{"488d0500000000", "LEA_R_D32 (R64)", RIP, 1, 0, 0, 0, {REG(RAX, W, 64), AGEN(NONE, NONE)}},
	{"4893", "XCHG (R64, RAX)", 0, 1, 0, 0, 0, {REG(RBX, RW, 64), REG(RAX, RW, 64)}},
	{"488703",
	 "XCHG (M64, R64)",
	 LOAD | STORE | LOCK,
	 1,
	 0,
	 0,
	 0,
	 {MEM(RBX, NONE, RW, 64), REG(RAX, RW, 64)}},
	{"f0480fb10b",
	 "CMPXCHG_LOCK (M64, R64)",
	 LOAD | STORE | LOCK,
	 3,
	 0,
	 A,
	 0,
	 {MEM(RBX, NONE, 0, 0), REG(RCX, R, 64)}},
	/* the stack */
	{"53", "PUSH (R64)", STORE, 0, 0, 0, -8, {REG(RBX, R, 64)}},
	{"6653", "PUSH (R16)", STORE, 1, 0, 0, -2, {REG(RBX, R, 16)}},
	{"6a05", "PUSH (I8)", STORE, 0, 0, 0, -8, {IMM}},
	{"ff33", "PUSH (M64)", LOAD | STORE, 0, 0, 0, -8, {MEM(RBX, NONE, R, 64)}},
	{"5b", "POP (R64)", LOAD | PAIR, 0, 0, 0, 8, {REG(RBX, W, 64)}},
	{"415c", "POP (R64)", LOAD | PAIR | TACT_INSN_POP_POINTER, 1, 0, 0, 8, {REG(R12, W, 64)}},
	{"5c", "POP (R64)", LOAD | PAIR | TACT_INSN_POP_POINTER, 0, 0, 0, 8, {REG(RSP, W, 64)}},
	{"e800000000", "CALL_NEAR (Rel32)", BR | TACT_INSN_CALL | STORE, 0, 0, 0, -8, {IMM}},
	{"c3", "RET_NEAR", BR | TACT_INSN_RET | LOAD, 0, 0, 0, 8, {{0}}},
	/* branches */
	{"75fe", "JNZ (Rel8)", CBR, 0, O, 0, 0, {IMM}},
	{"0f87fafffff0", "JNBE (Rel32)", CBR, 1, A, 0, 0, {IMM}},
	{"72fe", "JB (Rel8)", CBR, 0, C, 0, 0, {IMM}},
	{"ebfe", "JMP (Rel8)", BR, 0, 0, 0, 0, {IMM}},
	{"ffe0", "JMP (R64)", BR, 0, 0, 0, 0, {REG(RAX, R, 64)}},
	/* nop */
	{"90", "NOP", 0, 0, 0, 0, 0, {{0}}},
	{"0f1f4000", "NOP (M32)", 0, 1, 0, 0, 0, {AGEN(RAX, NONE)}},
	/* string instructions */
	{"a4", "MOVSB", LOAD | STORE, 0, 0, 0, 0, {{0}}},
	{"f3a4", "MOVSB_REPE", LOAD | STORE | TACT_INSN_REP, 1, 0, 0, 0, {{0}}},
	{"f348ab", "STOSQ_REPE", STORE | TACT_INSN_REP, 2, 0, 0, 0, {{0}}},
	/* SSE, AVX, MMX, x87 */
	{"0f28c1",
	 "MOVAPS_0F28 (XMM, XMM)",
	 OLD_VEC,
	 1,
	 0,
	 0,
	 0,
	 {REG(V, W, 128), REG(V + 1, R, 128)}},
	{"f20f58c1",
	 "ADDSD (XMM, XMM)",
	 OLD_VEC | TACT_INSN_FLOAT_ADD,
	 2,
	 0,
	 0,
	 0,
	 {REG(V, RW, 0), REG(V + 1, R, 0)}},
	{"f20f1003",
	 "MOVSD_XMM (XMM, M64)",
	 OLD_VEC | LOAD,
	 2,
	 0,
	 0,
	 0,
	 {REG(V, W, 0), MEM(RBX, NONE, R, 64)}},
	{"660fefc0",
	 "PXOR (XMM, XMM)",
	 OLD_VEC | SAME,
	 2,
	 0,
	 0,
	 0,
	 {REG(V, RW, 128), REG(V, R, 128)}},
	{"0fefc1",
	 "PXOR (MM, MM)",
	 VEC,
	 1,
	 0,
	 0,
	 0,
	 {REG(X86_REG_MMX0, RW, 64), REG(X86_REG_MMX0 + 1, R, 64)}},
	{"c5e857d2",
	 "VXORPS (XMM, XMM, XMM)",
	 VEC | SAME,
	 2,
	 0,
	 0,
	 0,
	 {REG(V + 2, W, 128), REG(V + 2, R, 128), REG(V + 2, R, 128)}},
	{"c5f458c2",
	 "VADDPS (YMM, YMM, YMM)",
	 VEC | TACT_INSN_FLOAT_ADD,
	 2,
	 0,
	 0,
	 0,
	 {REG(V, W, 256), REG(V + 1, R, 256), REG(V + 2, R, 256)}},
	{"c4e275b8c2",
	 "VFMADD231PS (YMM, YMM, YMM)",
	 VEC,
	 3,
	 0,
	 0,
	 0,
	 {REG(V, RW, 256), REG(V + 1, R, 256), REG(V + 2, R, 256)}},
	{"c4e2699204c8",
	 "VGATHERDPS (XMM, VSIB_XMM, XMM)",
	 VEC | LOAD | IDX,
	 3,
	 0,
	 0,
	 0,
	 {REG(V, 0, 128), MEM(RAX, V + 1, 0, 0), REG(V + 2, 0, 128)}},
	{"c5f877", "VZEROUPPER", TACT_INSN_CLEARS_UPPER, 2, 0, 0, 0, {{0}}},
	{"d8c1",
	 "FADD (ST0, STi)",
	 VEC,
	 0,
	 0,
	 0,
	 0,
	 {REG(X86_REG_X87, RW, 80), REG(X86_REG_X87 + 1, R, 80)}},
	{"dbe0", "unknown", 0, 0, 0, 0, 0, {{0}}},
	/* AVX-512 */
	{"62f1744858c2",
	 "VADDPS (ZMM, ZMM, ZMM)",
	 VEC | TACT_INSN_WIDEST,
	 4,
	 0,
	 0,
	 0,
	 {REG(V, W, 512)}},
	{"62f1744958c2",
	 "VADDPS (ZMM, K, ZMM, ZMM)",
	 VEC | TACT_INSN_WIDEST,
	 4,
	 0,
	 0,
	 0,
	 {REG(V, R | CW, 512), REG(K + 1, R, 0)}},
	{"62f174c958c2",
	 "VADDPS_Z (ZMM, K, ZMM, ZMM)",
	 VEC | TACT_INSN_WIDEST,
	 4,
	 0,
	 0,
	 0,
	 {REG(V, W, 512), REG(K + 1, R, 0)}},
	{"62f174585803",
	 "VADDPS (ZMM, ZMM, M32_1to16)",
	 VEC | TACT_INSN_WIDEST | LOAD,
	 4,
	 0,
	 0,
	 0,
	 {REG(V, W, 512)}},
	{"62f1741858c2",
	 "VADDPS_ER (ZMM, ZMM, ZMM)",
	 VEC | TACT_INSN_WIDEST,
	 4,
	 0,
	 0,
	 0,
	 {REG(V, W, 512)}},
	{"62e16c4858c2",
	 "VADDPS (ZMM, ZMM, ZMM)",
	 VEC | TACT_INSN_WIDEST,
	 4,
	 0,
	 0,
	 0,
	 {REG(V + 16, W, 512), REG(K, R, 0), REG(V + 2, R, 512), REG(V + 2, R, 512)}},
	{"c5ec41c2",
	 "KANDW (K, K, K)",
	 0,
	 2,
	 0,
	 0,
	 0,
	 {REG(K, W, 0), REG(K + 2, R, 0), REG(K + 2, R, 0)}},
	/* others */
	{"0faee8", "LFENCE", TACT_INSN_SERIALIZING, 1, 0, 0, 0, {{0}}},
	{"0fa2", "CPUID", TACT_INSN_SERIALIZING, 1, 0, 0, 0, {{0}}},
};

static void compare_operand(const char *hex, unsigned i, const struct tact_operand *wanted,
			    const struct tact_operand *found)
{
	if (wanted->kind != found->kind)
		fail_msg("%s: operand %u is of kind %u", hex, i, found->kind);
	if (wanted->kind == TACT_OPERAND_REG && wanted->reg != found->reg)
		fail_msg("%s: operand %u is %s", hex, i, tact_isa_reg_name(&isa_x86, found->reg));
	if (wanted->access && wanted->access != found->access)
		fail_msg("%s: operand %u has access %u", hex, i, found->access);
	if (wanted->bits && wanted->bits != found->bits)
		fail_msg("%s: operand %u has %u bits", hex, i, found->bits);
	if (wanted->kind != TACT_OPERAND_MEM && wanted->kind != TACT_OPERAND_AGEN)
		return;
	if (wanted->base != found->base || wanted->index != found->index)
		fail_msg("%s: operand %u has base %s, index %s", hex, i,
			 tact_isa_reg_name(&isa_x86, found->base),
			 tact_isa_reg_name(&isa_x86, found->index));
}

/* Those that a form's name shows. */
static bool is_one_of(const char *form, const char *const *names)
{
	const size_t length = strcspn(form, " _");

	while (*names && (strlen(*names) != length || strncmp(form, *names, length)))
		names++;
	return *names;
}

static uint32_t named_attributes(const char *form)
{
	static const char *const logical[] = {"AND", "OR", "XOR", "TEST", "ANDN", NULL},
				 *const shifts[] = {"SHL",  "SHR",  "SAR",   "ROL",  "ROR",
						    "SHLX", "SHRX", "SARX",  "RORX", "BSWAP",
						    "BTR",  "BTS",  "BEXTR", "BTC",  NULL};

	return (is_one_of(form, logical) ? TACT_INSN_LOGICAL : 0u) |
	       (is_one_of(form, shifts) ? TACT_INSN_SHIFT : 0u) |
	       (strstr(form, "MOV") ? TACT_INSN_MOVE : 0u) |
	       (strstr(form, "MOVSX") ? TACT_INSN_SIGN_EXTEND : 0u) |
	       (strncmp(form, "NOP", 3) ? 0u : TACT_INSN_NOP) | x86_upper_attributes(form);
}

static void upper_parts(void **state)
{
	static const struct {
		const char *form;
		uint32_t attributes;
	} rows[] = {
		{"SQRTSS (XMM, XMM)", TACT_INSN_KEEPS_UPPER | TACT_INSN_PASSES_UPPER},
		{"VCVTSI2SD (XMM, XMM, R32)", TACT_INSN_KEEPS_UPPER | TACT_INSN_PASSES_UPPER},
		{"MOVSS_0F10 (XMM, XMM)", TACT_INSN_KEEPS_UPPER | TACT_INSN_PASSES_UPPER},
		{"MOVLPS (XMM, M64)", TACT_INSN_KEEPS_UPPER | TACT_INSN_PASSES_UPPER},
		{"MOVSD_XMM (XMM, M64)", TACT_INSN_ZEROES_UPPER},
		{"MOVQ (XMM, R64)", TACT_INSN_ZEROES_UPPER},
		{"VFMADD231SD (XMM, XMM, XMM)", TACT_INSN_PASSES_UPPER},
		{"ADDSS (XMM, M32)", TACT_INSN_PASSES_UPPER},
		{"MOVLPS (M64, XMM)", 0},
		{"MOVHPS (XMM, M64)", 0},
		{"VPDPBUSD (XMM, XMM, XMM)", 0},
		{"ADDPS (XMM, XMM)", 0},
		{"CVTTSD2SI (R32, XMM)", 0},
		{"VSQRTSD (XMM, K, XMM, XMM)", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (x86_upper_attributes(rows[i].form) != rows[i].attributes)
			fail_msg("%s: %x", rows[i].form, x86_upper_attributes(rows[i].form));
}

static void table_of_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct row *row = &table[i];
		struct tact_insn insn;
		uint32_t wanted;
		uint8_t code[16];
		size_t size = bytes_of(code, sizeof(code), row->hex);

		if (tact_isa_decode(tact_isa_default(), &insn, code, size) != (int)size ||
		    insn.length != size)
			fail_msg("%s: length %u", row->hex, insn.length);
		if (strcmp(tact_isa_form_name(tact_isa_default(), insn.form), row->form))
			fail_msg("%s: %s", row->hex,
				 tact_isa_form_name(tact_isa_default(), insn.form));
		/* A displacement may be encoded and 0. */
		wanted = row->attributes | named_attributes(row->form) |
			 (insn.displacement ? TACT_INSN_DISPLACED
					    : insn.attributes & TACT_INSN_DISPLACED);
		if (insn.attributes != wanted)
			fail_msg("%s: attributes %x, not %x", row->hex, insn.attributes, wanted);
		if (insn.opcode_offset != row->opcode_offset)
			fail_msg("%s: opcode at %u", row->hex, insn.opcode_offset);
		if (insn.flags_read != row->flags_read || insn.flags_written != row->flags_written)
			fail_msg("%s: flags read %u, written %u", row->hex, insn.flags_read,
				 insn.flags_written);
		if (insn.pointer_change != row->stack)
			fail_msg("%s: rsp by %d", row->hex, insn.pointer_change);
		for (unsigned k = 0; k < 4 && row->operands[k].kind; k++)
			compare_operand(row->hex, k, &row->operands[k], &insn.operand[k]);
	}
}

/* No proper beginning of an instruction is an instruction, and none is read past its end: the bytes
 * are copied to the end of a heap block, where AddressSanitizer watches.
 */
static void truncated_instructions_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint8_t code[16];
		size_t size = bytes_of(code, sizeof(code), table[i].hex);

		for (size_t n = 0; n < size; n++) {
			uint8_t *cut = malloc(n ? n : 1);
			struct tact_insn insn;
			char text[64];

			assert_non_null(cut);
			memcpy(cut, code, n);
			if (tact_isa_decode(tact_isa_default(), &insn, cut, n) != -TACT_E_DECODE)
				fail_msg("%s cut to %zu bytes is an instruction", table[i].hex, n);
			assert_int_equal(
				tact_isa_format(tact_isa_default(), cut, n, 0, text, sizeof(text)),
				-TACT_E_DECODE);
			free(cut);
		}
	}
}

static void what_is_no_instruction_is_refused(void **state)
{
	static const char *const bad[] = {
		"06",				    /* push es: not in 64-bit mode */
		"0f04",				    /* no such opcode */
		"f00fc8",			    /* lock bswap */
		"f0ffe0",			    /* lock jmp */
		"666666666666666666666666666601d8", /* 16 bytes */
		"c5f8ff",			    /* cut */
	};
	struct tact_insn insn;
	uint8_t code[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, code,
						 bytes_of(code, sizeof(code), bad[i])),
				 -TACT_E_DECODE);
	/* 15 bytes are the most there can be. */
	assert_int_equal(
		tact_isa_decode(tact_isa_default(), &insn, code,
				bytes_of(code, sizeof(code), "6666666666666666666666666601d8")),
		15);
}

static void misuse_is_refused(void **state)
{
	const uint8_t nop = 0x90;
	struct tact_insn insn;
	char text[32];

	(void)state;
	assert_int_equal(tact_isa_decode(tact_isa_default(), NULL, &nop, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, NULL, 1), -TACT_E_INVAL);
	assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, &nop, 0), -TACT_E_DECODE);
	assert_int_equal(tact_isa_format(tact_isa_default(), &nop, 1, 0, NULL, 10), -TACT_E_INVAL);
	assert_int_equal(tact_isa_format(tact_isa_default(), &nop, 1, 0, text, 0), -TACT_E_INVAL);
	assert_int_equal(tact_isa_format(tact_isa_default(), NULL, 1, 0, text, sizeof(text)),
			 -TACT_E_INVAL);
}

static void constants_are_read(void **state)
{
	static const struct {
		const char *hex;
		int64_t displacement, immediate;
		uint8_t immediate_bits;
	} rows[] = {
		{"4883c0ff", 0, -1, 8},
		{"66817c24087fff", 8, -129, 16},
		{"488b8000010000", 256, 0, 0},
		{"488b40ff", -1, 0, 0},
		{"c780f8ffffff78563412", -8, 0x12345678, 32},
		{"48b8f0debc9a78563412", 0, 0x123456789abcdef0, 64},
		{"75fc", 0, -4, 8},
		{"e9fbffffff", 0, -5, 32},
		{"62f174485843ff", -64, 0, 0}, /* disp8 times 64 */
		{"62f174585843ff", -4, 0, 0},  /* a broadcast: times 4 */
		{"48a1efcdab8967452301", 0x0123456789abcdef, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tact_insn insn;
		uint8_t code[16];
		size_t size = bytes_of(code, sizeof(code), rows[i].hex);

		assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, code, size), size);
		if (insn.displacement != rows[i].displacement ||
		    insn.immediate != rows[i].immediate ||
		    insn.immediate_bits != rows[i].immediate_bits)
			fail_msg("%s: displacement %lld, immediate %lld of %u bits", rows[i].hex,
				 (long long)insn.displacement, (long long)insn.immediate,
				 insn.immediate_bits);
	}
}

static void conditions_are_numbered(void **state)
{
	(void)state;
	for (uint8_t c = 0; c < 16; c++) {
		const uint8_t short_jump[2] = {(uint8_t)(0x70 | c), 0};
		const uint8_t near_jump[6] = {0x0f, (uint8_t)(0x80 | c)};
		struct tact_insn insn;

		assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, short_jump, 2), 2);
		assert_int_equal(insn.condition, c);
		assert_int_equal(tact_isa_decode(tact_isa_default(), &insn, near_jump, 6), 6);
		assert_int_equal(insn.condition, c);
	}
}

/* The stack engine's part: rsp and the address of push and pop, but not what is pushed. */
static void implicit_stack_operands(void **state)
{
	static const char *const codes[] = {"53", "5b", "e800000000", "c3", "6a01", "9c", "9d"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		bool pointer = false, memory = false;
		struct tact_insn insn;
		uint8_t code[16];

		assert_true(tact_isa_decode(tact_isa_default(), &insn, code,
					    bytes_of(code, sizeof(code), codes[i])) > 0);
		for (unsigned k = 0; k < insn.n_operands; k++) {
			const struct tact_operand *o = &insn.operand[k];

			pointer |=
				o->kind == TACT_OPERAND_REG && o->reg == RSP && o->implicit_pointer;
			memory |= o->kind == TACT_OPERAND_MEM && o->base == RSP &&
				  o->implicit_pointer;
			if (o->explicit_operand)
				assert_false(o->implicit_pointer);
		}
		if (!pointer || !memory)
			fail_msg("%s: rsp or its memory is not marked", codes[i]);
	}
}

static void formatting(void **state)
{
	const uint8_t add[] = {0x48, 0x01, 0xd8}, jump[] = {0x75, 0xfe};
	char text[64], small[4];

	(void)state;
	assert_int_equal(tact_isa_format(tact_isa_default(), add, 3, 0, text, sizeof(text)),
			 strlen("add rax, rbx"));
	assert_string_equal(text, "add rax, rbx");
	assert_true(tact_isa_format(tact_isa_default(), jump, 2, 0x1000, text, sizeof(text)) > 0);
	assert_string_equal(text, "jnz 0x1000");
	assert_true(tact_isa_format(tact_isa_default(), add, 3, 0, small, sizeof(small)) <
		    0); /* does not fit */
}

static void register_names(void **state)
{
	(void)state;
	for (unsigned a = 0; a < X86_N_REGS; a++)
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(tact_isa_reg_name(&isa_x86, a),
						tact_isa_reg_name(&isa_x86, b));
	assert_string_equal(tact_isa_reg_name(&isa_x86, X86_REG_RSP), "rsp");
	assert_string_equal(tact_isa_reg_name(&isa_x86, X86_REG_VEC0 + 31), "xmm31");
	assert_string_equal(tact_isa_reg_name(&isa_x86, X86_REG_MASK0 + 7), "k7");
	assert_string_equal(tact_isa_reg_name(&isa_x86, X86_REG_FLAGS), "flags");
	assert_string_equal(tact_isa_reg_name(&isa_x86, TACT_REG_NONE), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_of_instructions),
		cmocka_unit_test(upper_parts),
		cmocka_unit_test(truncated_instructions_are_refused),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(constants_are_read),
		cmocka_unit_test(conditions_are_numbered),
		cmocka_unit_test(implicit_stack_operands),
		cmocka_unit_test(formatting),
		cmocka_unit_test(register_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
