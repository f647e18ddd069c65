/* SPDX-License-Identifier: MIT
 *
 * What the library and the module tact_llvm.so share: C structs and a table of functions.
 *
 * The module is the only code that knows LLVM's C++.  It owns everything that it returns, for as
 * long as the program runs, and keeps its own lock: all functions may be called from any thread.
 * None of them ends the process, whatever the bytes or the text are: LLVM's fatal errors become
 * -TACT_E_* codes.
 *
 * Structs that the module fills begin with `size`, set by the caller; both sides are built from
 * this header, and one with another version is refused.
 */
#ifndef TACT_LLVM_WIRE_H
#define TACT_LLVM_WIRE_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
extern "C" {
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

enum { LLVM_WIRE_VERSION = 5 };

/* Its only symbol: const struct llvm_api *tact_llvm_api(void). */
#define LLVM_WIRE_SYMBOL "tact_llvm_api"

enum {
	LLVM_MAX_OPERANDS = 24,
	LLVM_MAX_SPREAD = 8,	 /* registers of a set that one register of LLVM overlaps */
	LLVM_MAX_ADVANCES = 192, /* of all reads of an instruction */
	LLVM_MAX_RESOURCES = 16, /* of an instruction */
	LLVM_MAX_KINDS = 63,	 /* resources of a CPU: bits of a mask */
	LLVM_MAX_HINTS = 2,	 /* of an instruction */
	LLVM_MAX_FILES = 8,	 /* register files of a CPU */
	LLVM_NO_REGISTER = 0xffff,
	LLVM_NO_PLACE = 0xff
};

/* What LLVM is told of the code around an instruction (its "instruments"): "RISCV-LMUL", "M2". */
struct llvm_hint {
	const char *kind, *value;
};

/* An instruction set, for finding it.  Registers are numbered by the caller; a name may be several
 * with '/' between, the first that LLVM knows counts, and "" is none of LLVM's.  Flags have the
 * numbers after them.
 */
struct llvm_set_spec {
	uint32_t size;
	const char *triple, *features;
	const char *const *registers;
	unsigned n_registers;
	const char *const *flags;
	unsigned n_flags;
	/* Writes what to say of a setting (struct tact_insn), and returns how many there are.  NULL:
	 * the set has no settings.
	 */
	unsigned (*hints)(uint16_t setting, struct llvm_hint *out);
	/* What names of opcodes begin with that the features leave out, blanks between: they have no
	 * form.  LLVM's encoder is only asked for what may be encoded.
	 */
	const char *foreign;
};

struct llvm_set;
struct llvm_cpu;

/* ---- decoding ---- */

enum llvm_flow { LLVM_NEXT, LLVM_BRANCH, LLVM_JUMP, LLVM_CALL, LLVM_RETURN };

enum llvm_access { LLVM_READ = 1, LLVM_WRITE = 2 };

/* A register of the set that an instruction reads or writes; flags, too. */
struct llvm_operand {
	uint8_t reg;
	uint8_t access;	  /* bits of enum llvm_access */
	bool is_explicit; /* written in assembly text */
	uint16_t bits;	  /* of the part that is named; 0: not known */
	/* By which numbers LLVM's tables name it among what is read and what is written;
	 * LLVM_NO_PLACE: not at all.
	 */
	uint8_t use, def;
};

struct llvm_insn {
	uint32_t size;
	uint16_t opcode;
	uint16_t usual; /* the opcode of the encoding that assemblers choose for the text */
	uint8_t length;
	uint8_t flow; /* enum llvm_flow */
	bool is_conditional, is_indirect, loads, stores, has_side_effects, is_move;
	bool has_target;    /* `target` is valid: relative to the first byte */
	bool has_immediate; /* the last one */
	uint8_t n_operands;
	int64_t target, immediate;
	struct llvm_operand operand[LLVM_MAX_OPERANDS];
};

/* ---- forms: opcodes of LLVM's that are instructions ---- */

enum { LLVM_FORM_CODE = 8 };

struct llvm_form_operand {
	const char *kind; /* LLVM's class of registers: "GPR64"; "" for what is no register */
	bool is_written;
};

struct llvm_form {
	const char *name, *mnemonic; /* "ADDXrs", "add" */
	uint8_t flow;		     /* enum llvm_flow */
	bool loads, stores, is_move, has_side_effects;
	uint8_t length, code[LLVM_FORM_CODE]; /* an instruction of it */
	uint8_t n_operands;
	struct llvm_form_operand operand[LLVM_MAX_OPERANDS];
};

/* ---- CPUs ---- */

struct llvm_resource {
	const char *name;
	uint64_t mask;	 /* its own bit, the highest; for a group also those of its members */
	unsigned units;	 /* of a group: those of its members */
	int buffer_size; /* -1: the scheduler's own; 0: issue in order, 1: in order */
	bool is_group;
};

/* A register file: of the CPU's physical registers, renamed ones take some until they retire. */
struct llvm_register_file {
	const char *name;
	unsigned registers;    /* 0: no limit */
	unsigned moves;	       /* eliminated in a cycle; 0: no limit */
	bool only_zeros_moved; /* other moves are executed */
};

struct llvm_cpu_info {
	const char *name;
	unsigned issue_width;
	bool is_out_of_order;
	unsigned reorder_buffer, retire_width; /* micro-ops; 0: none, no limit */
	unsigned load_queue, store_queue;      /* 0: no limit */
	unsigned load_latency, branch_penalty;
	unsigned n_register_files; /* the first one stands for registers of no file */
	struct llvm_register_file register_file[LLVM_MAX_FILES];
	unsigned n_resources;
	struct llvm_resource resource[LLVM_MAX_KINDS];
};

/* ---- what an instruction costs on a CPU, as llvm-mca sees it ---- */

/* Where a register is renamed. */
struct llvm_renaming {
	uint16_t as;   /* it, or what it is a part of and renamed with; 0: it is always renamed */
	uint16_t cost; /* physical registers */
	uint8_t file;
	bool allows_moves; /* to the register: they may be eliminated */
};

struct llvm_write {
	uint16_t reg; /* LLVM's number, for `parts` */
	uint16_t latency;
	uint16_t write_id; /* which read-advances count */
	struct llvm_renaming renaming;
	bool clears_whole; /* what it is a part of is cleared */
	bool is_zero;	   /* it is known to be zero, without being executed */
	uint8_t n_spread;
	uint8_t spread[LLVM_MAX_SPREAD]; /* of the set's registers */
};

struct llvm_advance {
	uint16_t write_id; /* 0: any */
	int16_t cycles;	   /* the operand is needed so much later than at issue */
};

struct llvm_read {
	uint16_t reg;
	struct llvm_renaming renaming;
	bool is_independent; /* nobody waits for it: idioms */
	uint8_t n_spread;
	uint16_t first_advance, n_advances; /* the first that fits counts */
	uint8_t spread[LLVM_MAX_SPREAD];
};

struct llvm_use {
	uint64_t mask; /* as llvm_resource.mask */
	uint16_t cycles, units;
	bool is_reserved; /* all of a group */
};

/* An instruction of the caller's. */
struct llvm_place {
	uint16_t setting; /* of struct tact_insn */
	uint8_t length;
};

struct llvm_facts {
	uint32_t size;
	int status; /* 0, or -TACT_E_NO_DATA: LLVM's model does not know the instruction */
	uint32_t place;
	uint16_t micro_ops;
	uint16_t latency; /* until it can retire */
	bool loads, stores, load_barrier, store_barrier;
	bool begins_group, ends_group, retires_early, is_call;
	bool must_issue, has_overlapping_groups, is_move;
	bool is_foreign;	  /* the CPU lacks the extension that has it */
	uint64_t buffers, groups; /* masks of resources */
	uint8_t n_reads, n_writes, n_uses;
	uint16_t n_advances;
	struct llvm_read read[LLVM_MAX_OPERANDS];
	struct llvm_write write[LLVM_MAX_OPERANDS];
	struct llvm_use use[LLVM_MAX_RESOURCES];
	struct llvm_advance advance[LLVM_MAX_ADVANCES];
};

/* ---- the table ---- */

/* Why something failed, for people. */
struct llvm_message {
	uint64_t line; /* of a text; 0: not known */
	char text[160];
};

struct llvm_api {
	uint32_t size, version;
	const char *llvm_version; /* "22.1.8" */

	/* Finds or opens a set.  Returns 0 or -TACT_E_*: NO_TOOL if LLVM lacks the target. */
	int (*open_set)(struct llvm_set **out, const struct llvm_set_spec *spec,
			struct llvm_message *why);
	/* Returns the length, or -TACT_E_DECODE; `target` is as if code[0] were at address 0. */
	int (*decode)(struct llvm_set *set, const uint8_t *code, size_t size,
		      struct llvm_insn *out);
	/* Returns the length of the text, -TACT_E_DECODE or -TACT_E_LIMIT. */
	int (*format)(struct llvm_set *set, const uint8_t *code, size_t code_size, uint64_t address,
		      char *text, size_t size);
	/* "ADDXri"; NULL past the last one. */
	const char *(*opcode_name)(struct llvm_set *set, unsigned opcode);
	/* The parts of a register of LLVM's, itself first; with `whole`, also what it is a part of.
	 * Returns how many there are, of which at most `max` are written.
	 */
	size_t (*parts)(struct llvm_set *set, uint16_t reg, bool whole, uint16_t *out, size_t max);

	/* The i-th CPU of a set that has a model of its instructions; NULL past the last one. */
	const char *(*cpu_name)(struct llvm_set *set, size_t i);
	/* Tells whether LLVM knows a CPU of this name, with or without a model of it. */
	bool (*lists_cpu)(struct llvm_set *set, const char *name);
	/* Tells whether two CPUs have the same model. */
	bool (*is_same_model)(struct llvm_set *set, const char *a, const char *b);
	/* Finds or opens one.  Returns 0 or -TACT_E_NO_ARCH. */
	int (*open_cpu)(struct llvm_cpu **out, struct llvm_set *set, const char *name,
			struct llvm_message *why);
	const struct llvm_cpu_info *(*cpu_info)(struct llvm_cpu *cpu);
	/* Fills facts of n instructions that follow each other from `code` on, in order.  What is one
	 * instruction for the caller may be two for LLVM (a lock prefix), at most twice n in all.
	 * Returns how many, or -TACT_E_LIMIT if there are more.
	 */
	int (*facts)(struct llvm_cpu *cpu, const uint8_t *code, const struct llvm_place *places,
		     size_t n, struct llvm_facts *out);
	/* Something that the caller keeps with a CPU; NULL at first.  `make` is called, under a lock
	 * of its own, if it is not there, and returns it or NULL.
	 */
	void *(*attachment)(struct llvm_cpu *cpu, void *(*make)(void *arg), void *arg);

	/* Opcodes are below the count.  `form` is NULL if one is no instruction of its own: it is the
	 * compiler's, or other bytes are decoded in its place.
	 */
	unsigned (*form_count)(struct llvm_set *set);
	/* The opcode of a name; the count if there is none. */
	unsigned (*find_form)(struct llvm_set *set, const char *name);
	const struct llvm_form *(*form)(struct llvm_set *set, unsigned opcode);
	/* The form of an instruction, which becomes its example if there is no other; NULL: it is not
	 * one.
	 */
	const struct llvm_form *(*form_of)(struct llvm_set *set, const uint8_t *code, size_t size);
	/* LLVM's name of the extension that the form needs: "neon"; "" if it needs none. */
	const char *(*form_feature)(struct llvm_set *set, unsigned opcode);
};

#ifdef __cplusplus
}
#endif

#endif /* TACT_LLVM_WIRE_H */
