/* SPDX-License-Identifier: MIT
 *
 * Instruction sets, and one decoded instruction with everything that a model needs to know about
 * it.
 *
 * Instruction sets are constant: all functions may be called from any thread.
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

/* Registers are numbers that the set explains (tact_isa_reg_name).  Registers that are renamed as
 * one have one number: parts of a register have that of the whole.
 */
enum { TACT_REG_NONE = 255 };

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

/* What a register operand is, other than a register with a value. */
enum tact_operand_role {
	TACT_ROLE_NONE,
	TACT_ROLE_POINTER, /* of the instruction that is executed */
	TACT_ROLE_FLAGS,   /* as an operand; dependences use groups of flags */
	TACT_ROLE_UNMASKED /* a mask that only says that nothing is masked */
};

/* An operand of an instruction.  This struct never changes. */
struct tact_operand {
	uint8_t kind;	       /* enum tact_operand_kind */
	uint8_t access;	       /* bits of enum tact_access */
	uint8_t number;	       /* in the tables: rN or mN; TACT_REG_NONE: it has none */
	bool explicit_operand; /* written in assembly text */
	uint16_t bits;	       /* width */
	uint8_t reg;
	uint8_t first_byte;    /* of the register: 0, or where a part begins (1: its second byte) */
	bool implicit_pointer; /* the register of insn.pointer_change, or an address based on it */
	uint8_t role;	       /* enum tact_operand_role */
	uint8_t base, index;   /* of an address: registers or TACT_REG_NONE; never the pointer of
				  the instruction that is executed */
	uint8_t scale;
	uint8_t segment; /* register that moves the address elsewhere, or TACT_REG_NONE */
};

/* Attributes of an instruction.  Values are stable; new bits may be added. */
enum tact_insn_attribute {
	TACT_INSN_BRANCH = 1 << 0,	/* changes the instruction pointer */
	TACT_INSN_COND_BRANCH = 1 << 1, /* by flags: `condition` holds */
	TACT_INSN_CALL = 1 << 2,
	TACT_INSN_RET = 1 << 3,
	TACT_INSN_LOCKED = 1 << 4,   /* reads and writes memory atomically */
	TACT_INSN_LCP = 1 << 5,	     /* length-changing prefix */
	TACT_INSN_INDEXED = 1 << 6,  /* an address has an index register */
	TACT_INSN_SAME_REG = 1 << 7, /* two or more register operands, all the same register */
	TACT_INSN_WIDEST = 1 << 8,   /* has a vector register of the greatest width */
	TACT_INSN_VECTOR = 1 << 9,   /* has a vector register */
	TACT_INSN_PC_RELATIVE = 1 << 10,
	TACT_INSN_REP = 1 << 11, /* repeats itself */
	TACT_INSN_SERIALIZING = 1 << 12,
	TACT_INSN_LOAD = 1 << 13,
	TACT_INSN_STORE = 1 << 14,
	TACT_INSN_PART_ALIAS = 1 << 15,	 /* its source register is encoded as a part of another */
	TACT_INSN_POP_POINTER = 1 << 16, /* pops the pointer itself, or a register encoded as it */
	TACT_INSN_PAIR_SHORT = 1 << 17,	 /* plain load into a whole register: a load that uses it
					    as its base may be faster */
	TACT_INSN_MOVE = 1 << 18,	 /* a copy, perhaps extended or of parts */
	TACT_INSN_SIGN_EXTEND = 1 << 19,
	TACT_INSN_NOP = 1 << 20,
	TACT_INSN_DISPLACED = 1 << 21,	  /* the address has a displacement */
	TACT_INSN_ZEROES_UPPER = 1 << 22, /* leaves zeros above the 32 or 64 bits that it moves */
	TACT_INSN_PASSES_UPPER = 1 << 23, /* the upper part of its vector comes from a source */
	TACT_INSN_KEEPS_UPPER = 1 << 24,  /* and that source is read for nothing else */
	TACT_INSN_FLOAT_ADD = 1 << 25, /* adds or subtracts floating-point numbers, in vectors below
					    * the greatest width and without a mask */
	TACT_INSN_NON_TEMPORAL = 1 << 26, /* its store goes past the caches */
	TACT_INSN_OLD_VECTOR = 1 << 27,	  /* has vector registers, of which it only knows the lower
					     part: SSE without VEX */
	TACT_INSN_CLEARS_UPPER = 1 << 28, /* clears the upper part of all vector registers */
	TACT_INSN_LOGICAL = 1 << 29,	  /* and, or, xor, test, andn on general registers */
	TACT_INSN_SHIFT = 1 << 30	  /* moves bits or bytes within a general register */
};

/* What an instruction does to the symbolic value of the register that it writes. */
enum tact_value_effect {
	TACT_VALUE_UNKNOWN, /* a value of its own */
	TACT_VALUE_COPY,    /* that of the first register read */
	TACT_VALUE_ADD,	    /* that of the first register read plus the immediate */
	TACT_VALUE_SUB,	    /* that of the first register read minus the immediate */
	TACT_VALUE_INC,
	TACT_VALUE_DEC,
	TACT_VALUE_LEA,	    /* that of the base of an address plus the displacement */
	TACT_VALUE_LOAD,    /* what memory holds: 64 bits, or 32 zero-extended */
	TACT_VALUE_CONSTANT /* the immediate */
};

/* Where execution goes after an instruction. */
enum tact_flow {
	TACT_FLOW_NEXT,
	TACT_FLOW_BRANCH, /* to the target or to the next instruction */
	TACT_FLOW_JUMP,
	TACT_FLOW_CALL,
	TACT_FLOW_RETURN,
	TACT_FLOW_KERNEL, /* a system call, which as a rule returns to the next instruction */
	TACT_FLOW_STOP	  /* nowhere */
};

/* A decoded instruction.  This struct never changes; what else is to be said about an instruction
 * will be said by functions.
 */
struct tact_insn {
	uint16_t form;	     /* number of its form in the tables, TACT_FORM_NONE if it has none */
	uint16_t mnemonic;   /* a number of the set */
	uint32_t attributes; /* bits of enum tact_insn_attribute */
	uint8_t length;
	uint8_t opcode_offset;		   /* of the opcode byte, after prefixes and escapes */
	uint8_t immediate_bits;		   /* encoded width; 0: none */
	uint8_t condition;		   /* of a conditional branch: the set's code, 0 to 15 */
	uint8_t flags_read, flags_written; /* bit g: group g of flags that are renamed as one */
	uint8_t value_effect;		   /* enum tact_value_effect */
	uint8_t n_operands;
	uint8_t flow; /* enum tact_flow */
	/* Bytes that it adds to a pointer by itself: push, pop, call, ret; 0: it changes no pointer.
	 */
	uint8_t pointer_reg;
	int16_t pointer_change;
	int16_t base_change; /* what the base of the explicit memory operand grows by: written back */
	uint16_t setting; /* what earlier instructions have set that its costs depend on, as the set
			     numbers it (the length of vectors); 0: nothing that is known */
	int64_t displacement; /* of the explicit memory operand */
	int64_t immediate;    /* the first one, sign-extended; of a relative branch: its offset */
	struct tact_operand operand[TACT_MAX_OPERANDS];
};

#define TACT_FORM_NONE 0xffff

/* Notations of assembly text, where a set has two. */
enum tact_syntax { TACT_SYNTAX_AUTO, TACT_SYNTAX_ATT, TACT_SYNTAX_INTEL };

/* An instruction set.  Constant; lives as long as the program. */
struct tact_isa;

/* Returns the set of this name, as in .arch files ("x86"); NULL if there is none, or for NULL. */
const struct tact_isa *tact_isa_find(const char *name);

/* Returns the set after `previous` among those that this library was built with, or the first one
 * for NULL; NULL after the last one.
 */
const struct tact_isa *tact_isa_next(const struct tact_isa *previous);

/* Returns the set of code that does not say what it is (bytes, text, traces): that of this machine
 * if the library has it, otherwise the first one.  Never NULL.
 */
const struct tact_isa *tact_isa_default(void);

/* Return the name of a set as in .arch files, and its name for people; "" for NULL. */
const char *tact_isa_name(const struct tact_isa *isa);
const char *tact_isa_title(const struct tact_isa *isa);

/* Decodes the first instruction of some code.  Does not allocate.
 * Returns the length of the instruction, or
 *   -TACT_E_INVAL   an argument is missing
 *   -TACT_E_DECODE  the bytes are not an instruction, or are cut off
 */
int tact_isa_decode(const struct tact_isa *isa, struct tact_insn *insn, const uint8_t *code,
		    size_t size);

/* Writes the first instruction of some code as assembly text, NUL-terminated.  Relative targets are
 * shown as if code[0] were at `address`.
 * Returns the length of the text, which is less than size, or
 *   -TACT_E_INVAL   an argument is missing, or size is 0
 *   -TACT_E_DECODE  the bytes are not an instruction, or are cut off
 *   -TACT_E_LIMIT   the text needs more than size bytes
 */
int tact_isa_format(const struct tact_isa *isa, const uint8_t *code, size_t code_size,
		    uint64_t address, char *text, size_t size);

/* The same in a notation, where a set has two; TACT_SYNTAX_AUTO is that of tact_isa_format, and so is
 * each notation of a set that has one only.
 */
int tact_isa_format_as(const struct tact_isa *isa, enum tact_syntax syntax, const uint8_t *code,
		       size_t code_size, uint64_t address, char *text, size_t size);

/* Returns the number of instruction forms that the tables of a set know; 0 for NULL. */
unsigned tact_isa_form_count(const struct tact_isa *isa);

/* Returns the name of a form ("ADD (R64, I8)"), or "unknown". */
const char *tact_isa_form_name(const struct tact_isa *isa, unsigned form);

/* Returns the number of the form of this name, or TACT_FORM_NONE. */
unsigned tact_isa_form_find(const struct tact_isa *isa, const char *name);

/* What a form is, where its name does not say it: sets that LLVM decodes, whose forms are LLVM's
 * opcodes.
 */
struct tact_form {
	size_t size;	   /* sizeof(struct tact_form), set by the caller */
	char name[64];	   /* "ADDXrs" */
	char mnemonic[32]; /* "add" */
	char operands
		[256]; /* LLVM's classes of registers; I: a constant: "GPR64, GPR64, GPR64, I" */
	char category[16]; /* INTEGER FLOAT VECTOR LOAD STORE UPDATE BRANCH CALL RETURN ATOMIC
			     * CRYPTO PREFETCH BARRIER SYSTEM NOP */
	uint8_t code_size; /* an instruction of the form */
	uint8_t code[TACT_MAX_INSN_BYTES];
};
#define TACT_FORM_INIT TACT_SIZED(struct tact_form)

/* Tells what a form is.  Returns 0, or
 *   -TACT_E_INVAL    isa or out is NULL, out->size is not set, or there is no such form
 *   -TACT_E_NO_DATA  the form's name says all, or it is no instruction: many of LLVM's opcodes are only
 *                    for its compiler
 */
int tact_isa_form(const struct tact_isa *isa, unsigned form, struct tact_form *out);

/* Returns LLVM's name of the extension that a form needs ("neon"); "BASE" if every CPU of the set has
 * it, "" for forms that tact_isa_form does not know.  The first call for a set takes some milliseconds.
 */
const char *tact_isa_form_extension(const struct tact_isa *isa, unsigned form);

/* Writes an instruction of a form as assembly text, in the notation that the set's manuals use, with
 * registers chosen.  The register that the first operand names differs from copy to copy, so that
 * eight copies do not wait for each other; explicit operand number `chain`, counted from 0, takes the
 * register of the first one, or has it as the base of its address; a negative number: none does.  An
 * assembler may choose another encoding, which is another form.
 *
 * Returns the length of the text, which is less than size, or
 *   -TACT_E_INVAL    isa or text is NULL, size is 0, or there is no such form
 *   -TACT_E_NO_DATA  there is no text for a form of this kind
 *   -TACT_E_LIMIT    the text needs more than size bytes
 */
int tact_isa_form_example(const struct tact_isa *isa, unsigned form, unsigned copy, int chain,
			  char *text, size_t size);

/* Returns the register that push and pop change; TACT_REG_NONE for NULL. */
unsigned tact_isa_stack_pointer(const struct tact_isa *isa);

/* Returns the name of a renamed register; "none" for a number that no register has. */
const char *tact_isa_reg_name(const struct tact_isa *isa, unsigned reg);

#ifdef __cplusplus
}
#endif

#endif /* TACT_INSN_H */
