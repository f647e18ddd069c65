/* SPDX-License-Identifier: MIT
 *
 * Instruction sets, and one decoded instruction with everything that a model needs to know about
 * it.
 */
#ifndef TACT_INSN_H
#define TACT_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACT_MAX_OPERANDS = 10, TACT_MAX_INSN_BYTES = 15 };

/* Registers that are renamed as one.  Parts (al, ax, eax; xmm, ymm) have the number of the whole.
 */
enum tact_reg {
	TACT_REG_RAX,
	TACT_REG_RCX,
	TACT_REG_RDX,
	TACT_REG_RBX,
	TACT_REG_RSP,
	TACT_REG_RBP,
	TACT_REG_RSI,
	TACT_REG_RDI,		/* r8 to r15 follow */
	TACT_REG_VEC0 = 16,	/* xmm0, ymm0, zmm0; 32 of them */
	TACT_REG_MASK0 = 48,	/* k0 to k7 */
	TACT_REG_MMX0 = 56,	/* mm0 to mm7 */
	TACT_REG_X87 = 64,	/* the x87 stack, as one */
	TACT_REG_SEGMENT0 = 65, /* es, cs, ss, ds, fs, gs */
	TACT_REG_OTHER = 71,	/* control, debug, bound registers, mxcsr, ...: as one */
	TACT_REG_RIP = 72,
	TACT_REG_FLAGS = 73, /* as an operand; dependences use flag groups */
	TACT_N_REGS,
	TACT_REG_NONE = 255
};

/* Flags are renamed in two groups. */
enum tact_flag_group { TACT_FLAGS_C = 1, TACT_FLAGS_SPAZO = 2 };

enum tact_operand_kind {
	TACT_OPERAND_REG = 1,
	TACT_OPERAND_MEM,
	TACT_OPERAND_AGEN, /* an address that is computed, not accessed (lea, nop) */
	TACT_OPERAND_IMM
};

enum tact_access {
	TACT_ACCESS_READ = 1,
	TACT_ACCESS_WRITE = 2,
	TACT_ACCESS_COND_READ = 4,
	TACT_ACCESS_COND_WRITE = 8
};

struct tact_operand {
	uint8_t kind;	       /* enum tact_operand_kind */
	uint8_t access;	       /* bits of enum tact_access */
	uint8_t number;	       /* its number in the tables: rN or mN; TACT_REG_NONE: it has none */
	bool explicit_operand; /* written in assembly text */
	uint16_t bits;	       /* width */
	uint8_t reg;	       /* enum tact_reg */
	bool high_byte;	       /* ah, ch, dh or bh */
	bool implicit_stack; /* rsp as changed by push, pop, call and ret, or an address based on it
			      */
	uint8_t base, index; /* enum tact_reg or TACT_REG_NONE */
	uint8_t scale, segment;
};

enum tact_insn_attribute {
	TACT_INSN_BRANCH = 1 << 0, /* changes rip */
	TACT_INSN_COND_BRANCH = 1 << 1,
	TACT_INSN_CALL = 1 << 2,
	TACT_INSN_RET = 1 << 3,
	TACT_INSN_LOCKED = 1 << 4,   /* lock prefix, or xchg with memory */
	TACT_INSN_LCP = 1 << 5,	     /* length-changing prefix */
	TACT_INSN_INDEXED = 1 << 6,  /* an address has an index register */
	TACT_INSN_SAME_REG = 1 << 7, /* two or more register operands, all of them the same one */
	TACT_INSN_ZMM = 1 << 8,	     /* has a 512-bit register */
	TACT_INSN_VECTOR = 1 << 9,   /* has a vector or MMX register */
	TACT_INSN_RIP_RELATIVE = 1 << 10,
	TACT_INSN_REP = 1 << 11,
	TACT_INSN_SERIALIZING = 1 << 12,
	TACT_INSN_LOAD = 1 << 13,
	TACT_INSN_STORE = 1 << 14,
	TACT_INSN_HIGH8_ALIAS = 1 << 15, /* its source register has the encoding of ah, ch, dh or
					    bh: spl, r12b, ... */
	TACT_INSN_POP_REG4 = 1 << 16,	 /* pop rsp or pop r12 */
	TACT_INSN_PAIR_SHORT =
		1 << 17 /* load of 32 or 64 bits into a whole register: mov, movsxd, pop */
};

/* What an instruction does to the symbolic value of the register that it writes. */
enum tact_value_effect {
	TACT_VALUE_UNKNOWN, /* a value of its own */
	TACT_VALUE_COPY,    /* that of the first register read */
	TACT_VALUE_ADD,	    /* that plus the immediate */
	TACT_VALUE_SUB,	    /* that minus the immediate */
	TACT_VALUE_INC,
	TACT_VALUE_DEC,
	TACT_VALUE_LEA,	    /* that of the base plus the displacement */
	TACT_VALUE_LOAD,    /* what memory holds, all of it: 64 bits, or 32 zero-extended */
	TACT_VALUE_CONSTANT /* the immediate */
};

/* Where execution goes behind an instruction. */
enum tact_flow {
	TACT_FLOW_NEXT,
	TACT_FLOW_BRANCH, /* to the target or on, whatever decides that */
	TACT_FLOW_JUMP,
	TACT_FLOW_CALL,
	TACT_FLOW_RETURN,
	TACT_FLOW_KERNEL, /* a system call: comes back behind it, as a rule */
	TACT_FLOW_STOP	  /* does not go on */
};

struct tact_insn {
	uint16_t form;	     /* number of its form in the tables, TACT_FORM_NONE if it has none */
	uint16_t mnemonic;   /* the set's number of it */
	uint32_t attributes; /* bits of enum tact_insn_attribute */
	uint8_t length;
	uint8_t opcode_offset;		   /* of the opcode byte, behind prefixes and escapes */
	uint8_t immediate_bits;		   /* encoded width; 0: none */
	uint8_t condition;		   /* of a conditional branch: its code, 0 to 15 */
	uint8_t flags_read, flags_written; /* bits of enum tact_flag_group */
	uint8_t value_effect;		   /* enum tact_value_effect */
	uint8_t n_operands;
	uint8_t flow;	      /* enum tact_flow */
	int8_t stack_change;  /* of push, pop, call, ret: change of rsp in bytes */
	int64_t displacement; /* of the explicit memory operand */
	int64_t immediate;    /* the first one, sign-extended; of a relative branch: its offset */
	struct tact_operand operand[TACT_MAX_OPERANDS];
};

#define TACT_FORM_NONE 0xffff

/* An instruction set; all of them live as long as the program. */
struct tact_isa;

/* By its name, as in .arch files; NULL: there is none. */
const struct tact_isa *tact_isa_find(const char *name);

/* The sets that this library was built with; NULL gives the first one, the last one gives NULL. */
const struct tact_isa *tact_isa_next(const struct tact_isa *previous);

const char *tact_isa_name(const struct tact_isa *isa);	/* as in .arch files */
const char *tact_isa_title(const struct tact_isa *isa); /* for people */

/* Decodes one instruction.  Returns its length, or -TACT_E_DECODE.  Does not allocate. */
int tact_isa_decode(const struct tact_isa *isa, struct tact_insn *insn, const uint8_t *code,
		    size_t size);

/* Writes assembly text; relative targets are given as if code[0] were at `address`.
 * Returns the length of the text (less than size), or -TACT_E_DECODE.
 */
int tact_isa_format(const struct tact_isa *isa, const uint8_t *code, size_t code_size,
		    uint64_t address, char *text, size_t size);

/* Number of forms that the tables of the set know, the name of one ("ADD (R64, I8)"), and the
 * number of a name or TACT_FORM_NONE.
 */
unsigned tact_isa_form_count(const struct tact_isa *isa);
const char *tact_isa_form_name(const struct tact_isa *isa, unsigned form);
unsigned tact_isa_form_find(const struct tact_isa *isa, const char *name);

/* Name of a renamed register; "none" for numbers that are none. */
const char *tact_isa_reg_name(const struct tact_isa *isa, unsigned reg);

/* Decodes one instruction.  Returns its length, or -TACT_E_DECODE.  Does not allocate. */
int tact_decode(struct tact_insn *insn, const uint8_t *code, size_t size);

/* Writes Intel syntax; relative targets are given as if code[0] were at `address`.
 * Returns the length of the text (less than size), or -TACT_E_DECODE.
 */
int tact_format(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size);

/* Number of forms that the tables know, the name of one ("ADD (R64, I8)"), and the number of a name
 * or TACT_FORM_NONE.
 */
unsigned tact_form_count(void);
const char *tact_form_name(unsigned form);
unsigned tact_form_find(const char *name);

/* "rax", "vec0", "flags", ...: name of a renamed register. */
const char *tact_reg_name(unsigned reg);

#ifdef __cplusplus
}
#endif

#endif /* TACT_INSN_H */
