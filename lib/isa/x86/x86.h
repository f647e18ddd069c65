/* SPDX-License-Identifier: MIT
 *
 * x86-64, on Zydis.
 */
#ifndef TACT_ISA_X86_H
#define TACT_ISA_X86_H

#include <Zydis/Zydis.h>

#include "isa/isa.h"

extern const struct tact_isa isa_x86;

/* Registers that are renamed as one.  Parts (al, ax, eax; xmm, ymm) have the number of the whole.
 */
enum x86_reg {
	X86_REG_RAX,
	X86_REG_RCX,
	X86_REG_RDX,
	X86_REG_RBX,
	X86_REG_RSP,
	X86_REG_RBP,
	X86_REG_RSI,
	X86_REG_RDI,	       /* r8 to r15 follow */
	X86_REG_VEC0 = 16,     /* xmm0, ymm0, zmm0; 32 of them */
	X86_REG_MASK0 = 48,    /* k0 to k7 */
	X86_REG_MMX0 = 56,     /* mm0 to mm7 */
	X86_REG_X87 = 64,      /* st(0) to st(7), which turn with the stack */
	X86_REG_SEGMENT0 = 72, /* es, cs, ss, ds, fs, gs */
	X86_REG_FS = 76,
	X86_REG_OTHER = 78, /* control, debug, bound registers, mxcsr, ...: as one */
	X86_REG_RIP = 79,
	X86_REG_FLAGS = 80, /* as an operand */
	X86_N_REGS
};

/* Flags are renamed in two groups. */
enum x86_flag_group { X86_FLAGS_C = 1, X86_FLAGS_SPAZO = 2 };

/* How many values an instruction takes off the x87 stack, and whether it puts one there. */
unsigned x86_float_pops(ZydisMnemonic mnemonic);
bool x86_float_pushes(ZydisMnemonic mnemonic);
int x86_turn(const struct tact_insn *insn);
bool x86_exchanges(const struct tact_insn *insn);
unsigned x86_prefetch_level(const struct tact_insn *insn);

/* Finds the number of the table's form for a decoded instruction, or TACT_FORM_NONE. */
unsigned x86_form_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops);

extern const struct isa_assembler x86_assembler;

/* Lays out one instruction.  Returns its length, or 0 if the bytes are cut short or the encoding is
 * not one of the regular ones (3DNow!, XOP, ...), which the caller then leaves to Zydis.
 */
int x86_layout_of(struct isa_layout *layout, const uint8_t *code, size_t size);
size_t x86_lay_out(struct isa_layout *layouts, size_t max, const uint8_t *code, size_t size);

/* Tells where execution goes after an instruction, which need not be decoded in full. */
enum tact_flow x86_flow_of(const ZydisDecodedInstruction *zi);
size_t x86_scan(struct isa_step *steps, size_t max, const uint8_t *code, size_t size);
bool x86_may_lead_back(const uint8_t *code, size_t size);
bool x86_may_call(const uint8_t *code, size_t size);
enum isa_call x86_call_kind(uint64_t number);
bool x86_retarget(uint8_t *insn, size_t length, int64_t distance);

int x86_decode(struct tact_insn *insn, const uint8_t *code, size_t size);
int x86_format(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size);
int x86_format_att(const uint8_t *code, size_t code_size, uint64_t address, char *text,
		   size_t size);
void x86_cut_mnemonic(char *out, size_t size, const char *text);
extern const struct isa_rewriter x86_rewriter;
extern const struct isa_tracing x86_tracing;
extern const struct isa_native x86_native; /* if compiled for x86-64 */

/* CPUs: see struct tact_isa. */
bool x86_is_in(const char *cpus, unsigned family, unsigned model, unsigned stepping);
const char *x86_product_code(const char *name);
extern const struct isa_cpu_line x86_cpu_lines[];
extern const size_t x86_n_cpu_lines;

/* Does what tact_isa_form_example does, for a form's name. */
int x86_form_example(const char *form, unsigned copy, int chain, char *text, size_t size);
/* Does what encode_form of struct tact_isa does. */
size_t x86_encode_form(const char *form, bool is_indexed, uint8_t *code);
void x86_describe(struct isa_properties *out, const uint8_t *code, size_t size);

/* Returns what a form of this name does to the upper part of the vector register that it writes:
 * bits of enum tact_insn_attribute.
 */
uint32_t x86_upper_attributes(const char *name);

#endif /* TACT_ISA_X86_H */
