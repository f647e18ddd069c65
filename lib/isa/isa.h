/* SPDX-License-Identifier: MIT
 *
 * Layer 1: what an instruction set is.
 *
 * A set is one folder here with one constant, `const struct tact_isa isa_<folder>`, and, if its
 * code can be measured, one in lib/measure; the build lists both from the folders.  Everything
 * else asks the set, or what the set has filled into struct tact_insn; no other place knows
 * opcodes, register names or mnemonics.
 *
 * Registers are numbers below n_registers, at most ISA_MAX_REGISTERS of them: the general ones
 * from 0 on, at most ISA_MAX_GENERAL; behind them the vector registers, from first_vector up to
 * end_vector, which is at most ISA_MAX_MOVED; then all others, in any order.  What is renamed as
 * one has one number: parts (al, ax; w0; s0, d0, q0) have that of the whole.  A register that
 * always reads as zero has no number at all: it is TACT_REG_NONE in addresses and no operand
 * elsewhere.  Flags are no registers but groups of them, bits of tact_insn.flags_read and
 * flags_written (one group for NZCV).
 */
#ifndef TACT_ISA_PRIVATE_H
#define TACT_ISA_PRIVATE_H

#include <tact/insn.h>

#include "base/base.h"

enum { ISA_MAX_REGISTERS = 124, ISA_MAX_GENERAL = 32, ISA_MAX_MOVED = 64, ISA_MAX_FLAG_GROUPS = 4 };

/* Registers and groups of flags as one: a group has the number of the registers plus its own. */
enum { ISA_MAX_KEYS = ISA_MAX_REGISTERS + ISA_MAX_FLAG_GROUPS };

struct isa_registers {
	uint8_t n;
	uint8_t n_general;
	uint8_t first_vector, end_vector;
	uint8_t stack_pointer, frame_pointer;
	uint8_t n_flag_groups;
	const char *const *names; /* what people call each of them */
};

/* The parts of an instruction that can be told apart without decoding it: what identifies it, its
 * head, and constants behind it, a displacement and immediates, which the decode cache takes from
 * the bytes.  A set of fixed length has a head and nothing else.
 */
struct isa_layout {
	uint8_t length; /* 0: this encoding is left to the decoder, and not remembered */
	uint8_t head;
	uint8_t disp_size; /* 0, 1, 4, 8 bytes behind the head */
	uint8_t imm_size;  /* all immediates together, behind the displacement */
	/* They are part of the head: the decoder's are taken. */
	bool disp_in_head, imm_in_head;
	bool imm_is_register; /* the immediate behind the head names a register: so is that, too */
};

/* One instruction as those see it who only want to know where execution goes. */
struct isa_step {
	uint8_t length; /* of bytes that are no instruction: as many as are to be skipped */
	uint8_t flow;	/* enum tact_flow */
	bool is_valid;
	bool is_direct;	 /* `target` holds */
	bool is_padding; /* what compilers fill gaps with, between functions and in front of loops
			  */
	/* A target that is still to be filled in by the linker, if the code is of an object file.
	 */
	bool may_be_relocated;
	int64_t target; /* of a direct transfer, relative to the first byte of the instruction */
};

/* What an instruction is, for tables by properties (HBBP paper, section V.B). */
enum isa_packing { ISA_PACKING_NONE, ISA_PACKING_SCALAR, ISA_PACKING_PACKED };

struct isa_properties {
	const char *mnemonic_name; /* small letters; "(bad)" if it is no instruction */
	const char *extension;	   /* of the set */
	const char *category;
	const char *form_name; /* "unknown" if it has no form */
	uint16_t mnemonic;     /* the set's number of it */
	uint16_t form;
	uint16_t width; /* of the widest operand, bits; 0: none */
	uint16_t flops;
	uint8_t length; /* 0: no instruction */
	uint8_t packing;
	bool loads, stores, is_branch, is_locked, is_long_latency;
};

/* Forms of instructions, as the tables number them. */
struct isa_forms {
	unsigned n;
	const char *(*name)(unsigned form); /* form < n */
	unsigned (*find)(const char *name); /* TACT_FORM_NONE: there is none */
};

/* Those of data/insn, of all sets: one numbering, in which most sets find theirs by name. */
extern const struct isa_forms isa_forms;
unsigned isa_form_find(const char *name, size_t length);

/* Groups of flags that a form reads and writes, as data/insn has them in rf and wf: flags that may
 * be left as they were (shifts by a register) count as read.
 */
void isa_form_flags(unsigned form, uint8_t *flags_read, uint8_t *flags_written);

/* A marker of code to be looked at, as bytes: `prefix`, a value of value_size bytes, at most 4,
 * lowest first, `suffix`.  All markers of a set have the same suffix.
 */
struct isa_marker {
	const uint8_t *prefix, *suffix;
	uint8_t prefix_size, value_size, suffix_size;
	uint32_t begin_value, end_value;
};

/* An instruction that does nothing but carry a number of 32 bits, least byte first, behind these
 * bytes; and what LLVM prints in front of the number and behind it.
 */
struct isa_carrier {
	const uint8_t *bytes;
	uint8_t size;
	const char *front, *back;
};

/* What a CPU says of itself. */
struct isa_cpu {
	char vendor[16], brand[64];
	char hypervisor[16]; /* "": there is none, or it has no name */
	unsigned family, model, stepping;
	bool is_virtual, has_clock, has_steady_clock;
};

/* The machine that this program runs on. */
struct isa_native {
	/* Whether it is one of the CPUs that an .arch file lists as `cpuid`, in words that are the
	 * set's own.
	 */
	bool (*is_one_of)(const char *cpus);
	void (*identify)(struct isa_cpu *out);
	/* Writes the vector extensions that CPU and kernel offer; true if it has all of them. */
	bool (*list_vectors)(char *text, size_t size);
	uint64_t (*read_clock)(void);
	/* n dependent multiplications, a multiple of 16: some three cycles each. */
	void (*run_chain)(uint64_t n);
};

struct tact_isa {
	const char *name;  /* as in "isa = NAME" of an .arch file */
	const char *title; /* for people */

	/* ---- files and programs ---- */
	uint16_t elf_machine;
	uint8_t elf_class, elf_data; /* ELFCLASS64, ELFDATA2LSB, ... */
	const char *elf_other;	     /* what a file of another class may be: "x32" */
	const char *multiarch;	     /* of Debian: part of the path of libraries */
	const char *kernel_name;     /* `uname -m` */
	const char *llvm_triple;
	const char *qemu; /* user mode; QEMU's own name of the machine is qemu_target */
	const char *qemu_target;
	const char *qemu_cpu; /* for -cpu: what gives the traces of a real CPU */

	const struct isa_native *native; /* NULL: this program was compiled for another set */

	struct isa_registers registers;

	/* ---- instructions ---- */

	/* As tact_isa_decode, with arguments that were checked. */
	int (*decode)(struct tact_insn *insn, const uint8_t *code, size_t size);
	/* As tact_isa_format. */
	int (*format)(const uint8_t *code, size_t code_size, uint64_t address, char *text,
		      size_t size);
	/* The mnemonic of such a text, with what belongs to it: "lock xadd". */
	void (*cut_mnemonic)(char *out, size_t size, const char *text);
	/* The layouts of up to max instructions one behind the other; ends behind one that it
	 * leaves to the decoder, whose length is 0.  Returns how many; at least 1 if size and max
	 * are.
	 */
	size_t (*lay_out)(struct isa_layout *layouts, size_t max, const uint8_t *code, size_t size);
	/* The same for what follows behind each instruction. */
	size_t (*scan)(struct isa_step *steps, size_t max, const uint8_t *code, size_t size);
	/* Whether the last bytes can be a direct branch or jump to code[0]: a quick look, so that
	 * most code need not be walked over.  size is not 0.  NULL: it always can.
	 */
	bool (*may_lead_back)(const uint8_t *code, size_t size);
	/* Of the instruction at code; unknown ones have properties too: see struct isa_properties.
	 */
	void (*describe)(struct isa_properties *out, const uint8_t *code, size_t size);

	const struct isa_forms *forms;

	/* ---- objects: branches within a section that still have a relocation ---- */

	/* Bytes that a relocation of this type fills with the distance to the target; 0: it is none
	 * of a branch.
	 */
	unsigned (*relocated_bytes)(unsigned type);
	void (*relocate)(uint8_t *place, unsigned type, int64_t distance);

	/* ---- text and markers ---- */
	const struct isa_assembler *assembler; /* assemble.h; NULL: there is none */
	const struct isa_marker *markers;
	size_t n_markers;
	const struct isa_carrier *carrier; /* to tell pieces of code apart; NULL: there is none */
};

/* By the machine of an ELF file; NULL: none of ours. */
const struct tact_isa *isa_of_machine(unsigned elf_machine);

/* That of an ELF header; NULL: none of ours, or of another class or byte order. */
const struct tact_isa *isa_of_elf(const unsigned char *ident, unsigned machine);

/* That of the machine that this runs on; NULL: none of ours. */
const struct tact_isa *isa_native(void);

/* The titles of all of them, for messages: "A, B or C".  Returns text. */
const char *isa_titles(char *text, size_t size);

static inline unsigned isa_n_keys(const struct tact_isa *isa)
{
	return isa->registers.n + isa->registers.n_flag_groups;
}

static inline bool isa_is_general(const struct tact_isa *isa, unsigned reg)
{
	return reg < isa->registers.n_general;
}

static inline bool isa_is_vector(const struct tact_isa *isa, unsigned reg)
{
	return reg >= isa->registers.first_vector && reg < isa->registers.end_vector;
}

/* Target of a direct branch or call, relative to the instruction's first byte.  False if there is
 * none.
 */
static inline bool isa_flow_target(const struct tact_insn *insn, int64_t *offset)
{
	/* Indirect ones have a register or memory, and no immediate. */
	if ((insn->flow != TACT_FLOW_BRANCH && insn->flow != TACT_FLOW_JUMP &&
	     insn->flow != TACT_FLOW_CALL) ||
	    !insn->immediate_bits)
		return false;
	*offset = insn->length + insn->immediate;
	return true;
}

#endif /* TACT_ISA_PRIVATE_H */
