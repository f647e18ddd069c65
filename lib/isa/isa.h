/* SPDX-License-Identifier: MIT
 *
 * Layer 1: what an instruction set is.
 *
 * A set is one folder here with one constant, `const struct tact_isa isa_<folder>`, and, if its
 * code can be measured, one folder in lib/measure; the build lists both from the folders.
 * Everything else asks the set, or reads what the set has filled into struct tact_insn; no other
 * place knows opcodes, register names or mnemonics.
 *
 * Registers are numbers below n_registers, at most ISA_MAX_REGISTERS: the general ones from 0 on,
 * at most ISA_MAX_GENERAL; then the vector registers, from first_vector up to end_vector, which is
 * at most ISA_MAX_MOVED; then all others, in any order.  Registers that are renamed as one have one
 * number: parts (al, ax; w0; s0, d0, q0) have that of the whole.  A register that always reads as
 * zero has no number at all: it is TACT_REG_NONE in addresses and no operand elsewhere.  Flags are
 * not registers but groups, bits of tact_insn.flags_read and flags_written (one group for NZCV).
 */
#ifndef TACT_ISA_PRIVATE_H
#define TACT_ISA_PRIVATE_H

#include <sys/types.h>

#include <tact/insn.h>

#include "base/base.h"

enum {
	ISA_MAX_REGISTERS = 124,
	ISA_MAX_GENERAL = 32,
	ISA_MAX_MOVED = 64,
	ISA_MAX_FLAG_GROUPS = 4,
	ISA_MAX_TURNING = 8
};

/* Registers and groups of flags together: a group has the number of registers plus its own number.
 */
enum { ISA_MAX_KEYS = ISA_MAX_REGISTERS + ISA_MAX_FLAG_GROUPS };

struct isa_registers {
	uint8_t n;
	uint8_t n_general;
	uint8_t first_vector, end_vector;
	uint8_t stack_pointer, frame_pointer;
	uint8_t n_flag_groups;
	/* A stack of registers: the names move on when an instruction pushes or pops.  Number
	 * first_turning + i is the i-th from the top; at most ISA_MAX_TURNING; 0: there are none.
	 */
	uint8_t first_turning, n_turning;
	const char *const *names; /* their names for people */
};

/* The parts of an instruction that can be told apart without decoding it: the head, which
 * identifies it, and the constants after it, a displacement and immediates, which the decode cache
 * takes from the bytes.  Instructions of fixed length have only a head.
 */
struct isa_layout {
	uint8_t length; /* 0: this encoding is left to the decoder and not remembered */
	uint8_t head;
	uint8_t disp_size; /* 0, 1, 4, 8 bytes after the head */
	uint8_t imm_size;  /* all immediates together, after the displacement */
	/* Constants that are part of the head: the decoder's values are used. */
	bool disp_in_head, imm_in_head;
	bool imm_is_register; /* the immediate after the head names a register and is part of the
				 head, too */
};

/* One instruction, for code that only needs to know where execution goes. */
struct isa_step {
	uint8_t length; /* for bytes that are not an instruction: how many to skip */
	uint8_t flow;	/* enum tact_flow */
	bool is_valid;
	bool is_direct;	 /* `target` is valid */
	bool is_padding; /* what compilers fill gaps with, between functions and before loops */
	/* A target that the linker still has to fill in, if the code is from an object file. */
	bool may_be_relocated;
	int64_t target; /* of a direct transfer, relative to the first byte of the instruction */
};

/* What an instruction is, for tables by properties (HBBP paper, section V.B). */
enum isa_packing { ISA_PACKING_NONE, ISA_PACKING_SCALAR, ISA_PACKING_PACKED };

/* What becomes of the elements of its result that a mask excludes. */
enum isa_masking { ISA_MASKING_NONE, ISA_MASKING_KEEPS, ISA_MASKING_ZEROES };

struct isa_properties {
	const char *mnemonic_name; /* lower case; "(bad)" if it is not an instruction */
	const char *extension;	   /* of the set */
	const char *category;
	const char *form_name; /* "unknown" if it has no form */
	uint16_t mnemonic;     /* a number of the set */
	uint16_t form;
	uint16_t width; /* of the widest operand, bits; 0: it has none */
	uint16_t flops;
	uint8_t length; /* 0: not an instruction */
	uint8_t packing, masking;
	uint8_t n_operands; /* that its text has */
	bool has_immediate;
	bool loads, stores, is_branch, is_locked, is_long_latency;
};

/* Instruction forms, as the tables number them. */
struct isa_forms {
	unsigned n;
	const char *(*name)(unsigned form); /* form < n */
	unsigned (*find)(const char *name); /* TACT_FORM_NONE: there is none */
	/* What sets have that LLVM decodes.  Their number is only known when the program runs. */
	unsigned (*count)(void);
	/* Does what tact_isa_form does; NULL: names say all. */
	int (*tell)(unsigned form, struct tact_form *out);
	const char *(*extension)(unsigned form); /* with `tell` */
};

/* The forms of data/insn for all sets: one numbering, in which most sets find theirs by name. */
extern const struct isa_forms isa_forms;
unsigned isa_form_find(const char *name, size_t length);

/* Groups of flags that a form reads and writes, from the columns rf and wf of data/insn: flags that
 * may keep their value (shifts by a register) count as read.
 */
void isa_form_flags(unsigned form, uint8_t *flags_read, uint8_t *flags_written);

/* A marker around code, as bytes: `prefix`, a value of value_size bytes (at most 4, lowest first),
 * `suffix`.  All markers of a set have the same suffix.
 */
struct isa_marker {
	const uint8_t *prefix, *suffix;
	uint8_t prefix_size, value_size, suffix_size;
	uint32_t begin_value, end_value;
};

/* An instruction that does nothing but carry a number of 32 bits, lowest byte first, after these
 * bytes; and what LLVM prints before and after the number.
 */
struct isa_carrier {
	const uint8_t *bytes;
	uint8_t size;
	const char *front, *back;
};

/* A line of products with the same core, whether there is a model of the core or not. */
struct isa_cpu_line {
	const char *code;    /* "SPR" */
	const char *title;   /* "Sapphire Rapids"; "": no CPU, but a level of the set */
	const char *vendor;  /* "Intel" */
	const char *core;    /* "Golden Cove"; "": as the title */
	const char *model;   /* its .arch file, which need not exist */
	const char *nearest; /* models to be named as long as it does not: the first that exists */
	const char *why;     /* what such a model is: "a predecessor" */
	const char *names;   /* of compilers, and code names; blanks between */
	const char *cpus;    /* as `cpuid` of an .arch file */
};

/* What a CPU says about itself. */
struct isa_cpu {
	char vendor[16], brand[64];
	char hypervisor[16]; /* "": no hypervisor, or one without a name */
	unsigned family, model, stepping;
	bool is_virtual, has_clock, has_steady_clock;
	const char *
		llvm_name; /* of the model that LLVM has of it; NULL: not known, or not asked for */
};

/* Registers of a stopped thread that addresses are made of, and what else a tracer wants to know. */
struct isa_state {
	uint64_t pc, flags;
	uint64_t was_in_kernel; /* it stopped on its way out of a system call */
	uint64_t bases[2];	/* of segments; see segment_base */
	uint64_t general[ISA_MAX_GENERAL];
};

/* What a tracer must know of an instruction before it steps over it. */
enum isa_step_trait {
	ISA_STEP_REPEATS = 1,	 /* one step executes one repetition */
	ISA_STEP_KERNEL = 2,	 /* enters the kernel */
	ISA_STEP_SHOWS_FLAGS = 4 /* copies the flags, with the one that makes it step, to memory */
};

/* Stepping through a process with ptrace.  All but segment_base, repetitions and is_descending are
 * for the tracer, and safe in a child after fork.
 */
struct isa_tracing {
	int (*read_state)(pid_t thread, struct isa_state *out); /* 0, or -1 with errno */
	/* Returns the traits of the instruction at code, and its length; 0: not an instruction. */
	unsigned (*traits)(const uint8_t *code, size_t size, unsigned *length);
	/* Lets a thread stop before it executes the instruction at an address; 0: nowhere.  Returns
	 * 0, or -1 with errno.
	 */
	int (*set_breakpoint)(pid_t thread, uint64_t address);
	/* Repairs what an instruction with ISA_STEP_SHOWS_FLAGS has written. */
	void (*hide_step)(pid_t thread);
	/* Makes sure that a thread does not go on stepping when it is resumed. */
	void (*end_step)(pid_t thread);
	uint64_t (*segment_base)(const struct isa_state *state, unsigned reg);
	/* Returns how often a repeated instruction has run between two states. */
	uint64_t (*repetitions)(const struct isa_state *before, const struct isa_state *after);
	bool (*is_descending)(const struct isa_state *state); /* addresses of repetitions are */
};

/* The machine that this program runs on. */
struct isa_native {
	/* Tells whether it is one of the CPUs that an .arch file lists as `cpuid`, in the set's own
	 * notation.
	 */
	bool (*is_one_of)(const char *cpus);
	void (*identify)(struct isa_cpu *out);
	/* Writes the vector extensions that CPU and kernel offer; true if it has all of them. */
	bool (*list_vectors)(char *text, size_t size);
	uint64_t (*read_clock)(void);
	/* Executes a chain of n links, a multiple of 16: some three cycles each. */
	void (*run_chain)(uint64_t n);
	const char *link;		   /* "a multiplication" */
	const char *user_counter;	   /* what lets programs read counters */
	uint64_t user_access;		   /* config1 of an event that is to be read in user mode */
	const struct isa_tracing *tracing; /* NULL: no program can be stepped through */
};

/* Numbers of Linux's calls that change what is in memory. */
struct isa_calls {
	unsigned mmap, munmap, mremap, execve, execveat;
};

/* What a call of the kernel is like.  Linux answers ISA_CALL_CLOCK in user mode on a real system,
 * though not under QEMU.  ISA_CALL_WAIT gives the CPU to others until something happens.
 */
enum isa_call { ISA_CALL_USUAL, ISA_CALL_CLOCK, ISA_CALL_LIGHT, ISA_CALL_HEAVY, ISA_CALL_WAIT };

/* Instructions that show which units of a CPU do what. */
enum isa_example {
	ISA_EXAMPLE_ALU,
	ISA_EXAMPLE_VECTOR,
	ISA_EXAMPLE_LOAD,
	ISA_EXAMPLE_STORE,
	ISA_EXAMPLE_BRANCH,
	ISA_N_EXAMPLES
};

struct isa_example_code {
	uint8_t bytes[TACT_MAX_INSN_BYTES];
	uint8_t size;
};

struct tact_isa {
	const char *name;  /* as in "isa = NAME" of an .arch file */
	const char *title; /* for people */

	/* ---- files and programs ---- */
	uint16_t elf_machine;
	uint8_t elf_class, elf_data; /* ELFCLASS64, ELFDATA2LSB, ... */
	const char *elf_other;	     /* what a file of another class may be: "x32" */
	const char *multiarch;	     /* Debian's: part of the path of libraries */
	const char *debian;	     /* Debian's name of the machine, in names of packages */
	const char *kernel_name;     /* `uname -m` */
	const char *llvm_triple;
	/* How LLVM's module finds the set, and CPUs of LLVM whose names those of its models are; NULL:
	 * LLVM's models are not asked for it.
	 */
	const struct llvm_set_spec *llvm;
	const char *llvm_models;
	const struct isa_example_code *llvm_examples; /* by enum isa_example */
	const char *qemu; /* user mode; QEMU's own name of the machine is qemu_target */
	const char *qemu_target;
	const char *qemu_cpu; /* for -cpu: gives the traces of a real CPU */
	/* The same for CPUs whose model has data of the instruction `wide_example`, which others cannot
	 * execute: C libraries choose their routines by what they find.  NULL: there are none.
	 */
	const char *qemu_wide_cpu;
	const struct isa_example_code *wide_example;
	bool repeats_strings; /* has instructions that are one loop over memory each */
	struct isa_calls calls;

	const struct isa_native *native; /* NULL: this program was compiled for another set */

	/* ---- CPUs ---- */
	const struct isa_cpu_line *cpu_lines; /* the first that fits counts */
	const size_t *n_cpu_lines;	      /* NULL: none */
	/* Tells whether a list of CPUs, as in an .arch file, has this one. */
	bool (*is_in)(const char *cpus, unsigned family, unsigned model, unsigned stepping);
	/* Returns the code of the line of a product ("EPYC 9654"); NULL: unknown. */
	const char *(*product_code)(const char *name);

	struct isa_registers registers;

	/* ---- instructions ---- */

	/* Tells whether its decoder is there: 0, or -TACT_E_NO_TOOL with what is missing.  NULL: it
	 * always is.
	 */
	int (*check)(struct tact_diag *diag);

	/* Does what tact_isa_decode does, with arguments that were checked. */
	int (*decode)(struct tact_insn *insn, const uint8_t *code, size_t size);
	/* Does what tact_isa_format does. */
	int (*format)(const uint8_t *code, size_t code_size, uint64_t address, char *text,
		      size_t size);
	/* The same in AT&T's notation; NULL: the set has one notation only. */
	int (*format_att)(const uint8_t *code, size_t code_size, uint64_t address, char *text,
			  size_t size);
	/* Cuts the mnemonic out of such a text, with what belongs to it: "lock xadd". */
	void (*cut_mnemonic)(char *out, size_t size, const char *text);
	/* Finds the layouts of up to max consecutive instructions; ends after one that it leaves to
	 * the decoder, whose length is 0.  Returns how many; at least 1 if size and max are.
	 */
	size_t (*lay_out)(struct isa_layout *layouts, size_t max, const uint8_t *code, size_t size);
	/* Tells for each instruction where execution goes next. */
	size_t (*scan)(struct isa_step *steps, size_t max, const uint8_t *code, size_t size);
	/* Tells whether the last bytes can be a direct branch or jump to code[0]: a quick check, so
	 * that most code need not be walked over.  size is not 0.  NULL: it always can.
	 */
	bool (*may_lead_back)(const uint8_t *code, size_t size);
	/* Tells whether a call, of a function or of the kernel, may be in the code: as quick, for
	 * the same reason.  NULL: it always may.
	 */
	bool (*may_call)(const uint8_t *code, size_t size);
	/* Tells what the system call of a number is like.  NULL: all are usual. */
	enum isa_call (*call_kind)(uint64_t number);
	/* Makes a direct branch or jump lead `distance` bytes from its first byte.  Returns false,
	 * with the bytes as they were, if its encoding cannot.  NULL: none can.
	 */
	bool (*retarget)(uint8_t *insn, size_t length, int64_t distance);
	/* Describes the instruction at code; unknown ones have properties, too: see struct
	 * isa_properties.
	 */
	void (*describe)(struct isa_properties *out, const uint8_t *code, size_t size);

	/* Returns the values that an instruction takes off the stack of registers, or -1 if it puts
	 * one there: then its results are numbered as after it, everything else as before it.
	 * NULL: there is no such stack.
	 */
	int (*turn)(const struct tact_insn *insn);
	/* Tells whether an instruction only exchanges two registers of the stack.  NULL: none does. */
	bool (*exchanges)(const struct tact_insn *insn);

	/* Follows what instructions set for those after them and what costs depend on, such as the
	 * length of vectors.  A setting has two parts, a byte each; a part that is 0 is not known.
	 * Goes from the setting `before` through some code, and writes for each of its first `max`
	 * instructions the one with which it is executed: 0 where costs depend on none,
	 * ISA_SETTING_UNKNOWN where they depend on one that is not known.  Returns that after the
	 * code.  NULL: there is no such thing.
	 */
	uint16_t (*follow)(uint16_t before, const uint8_t *code, size_t size, uint16_t *of,
			   size_t max);

	/* Returns into which level of caches, 1 or 2, an instruction brings data that nobody waits for;
	 * 0: it is not a prefetch.  NULL: none is.
	 */
	unsigned (*prefetch_level)(const struct tact_insn *insn);

	const struct isa_forms *forms;
	/* Does what tact_isa_form_example does, for a form's name; NULL: it cannot. */
	int (*form_example)(const char *form, unsigned copy, int chain, char *text, size_t size);

	/* Writes an instruction of a form, in as many bytes as it returns, at most
	 * TACT_MAX_INSN_BYTES; 0: it cannot.  Registers differ from each other where they can, and
	 * addresses have a register that no instruction of this kind writes, and a second one if
	 * they are to be indexed.  NULL: none can.
	 */
	size_t (*encode_form)(const char *form, bool is_indexed, uint8_t *code);

	/* ---- objects: branches within a section that still have a relocation ---- */

	/* Bytes that a relocation of this type fills with the distance to the target; 0: it is not
	 * that of a branch.
	 */
	unsigned (*relocated_bytes)(unsigned type);
	void (*relocate)(uint8_t *place, unsigned type, int64_t distance);

	/* ---- text and markers ---- */
	const struct isa_assembler *assembler; /* assemble.h; NULL: none */
	const struct isa_marker *markers;
	size_t n_markers;
	const struct isa_carrier *carrier; /* to separate blocks of code; NULL: none */

	const struct isa_rewriter *rewriter; /* rewrite.h: to change code; NULL: none */
};

enum { ISA_SETTING_UNKNOWN = 0xffff };

/* Returns a setting in which parts of another one, those that it knows, have taken their place. */
static inline uint16_t isa_merge_settings(uint16_t setting, uint16_t news)
{
	return (uint16_t)((news & 0x00ff ? news & 0x00ff : setting & 0x00ff) |
			  (news & 0xff00 ? news & 0xff00 : setting & 0xff00));
}

/* The i-th set; NULL past the last one. */
const struct tact_isa *isa_at(size_t i);

/* Finds a set by the machine of an ELF file; NULL if there is none. */
const struct tact_isa *isa_of_machine(unsigned elf_machine);

/* Finds the set of an ELF header; NULL if there is none, or for another class or byte order. */
const struct tact_isa *isa_of_elf(const unsigned char *ident, unsigned machine);

static inline int isa_check(const struct tact_isa *isa, struct tact_diag *diag)
{
	return isa->check ? isa->check(diag) : 0;
}

/* Finds the set of this machine; NULL if there is none. */
const struct tact_isa *isa_native(void);

/* Writes the titles of all sets, for messages: "A, B or C".  Returns text. */
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

static inline bool isa_is_turning(const struct tact_isa *isa, unsigned reg)
{
	return reg - isa->registers.first_turning < isa->registers.n_turning;
}

static inline unsigned isa_prefetch_level(const struct tact_isa *isa, const struct tact_insn *insn)
{
	return isa->prefetch_level ? isa->prefetch_level(insn) : 0;
}

/* Finds the target of a direct branch or call, relative to the instruction's first byte.  Returns
 * false if there is none.
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
