/* SPDX-License-Identifier: MIT
 *
 * Drop-ins: other tools' options and formats, with tact's numbers.  What the tools share: options
 * with one dash, code with the lines that it comes from, and runs of it.
 */
#ifndef TACT_DROPIN_H
#define TACT_DROPIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/block.h>
#include <tact/input.h>
#include <tact/mca.h>
#include <tact/predict.h>
#include <tact/simulate.h>

#include "common/output.h"

/* Returns the command that a program's name stands for ("/usr/bin/llvm-mca-19": "mca"); NULL: none.
 */
const char *dropin_command_of(const char *program);

/* ---- options ---- */

enum dropin_kind {
	DROPIN_SWITCH, /* struct dropin_switch: -x, -x=true, -x=false */
	DROPIN_TEXT,   /* const char *: -x VALUE or -x=VALUE; borrowed from argv */
	DROPIN_MAYBE,  /* const char *: `otherwise` if the value is missing */
	DROPIN_NUMBER, /* unsigned */
	DROPIN_INERT,  /* is right as it is: `help` says why */
	DROPIN_INERT_VALUE,
	DROPIN_REFUSED /* is known, and not supported: `help` says why */
};

/* Of options that are given twice the last counts; a switch knows which came last. */
struct dropin_switch {
	bool on;
	unsigned place; /* on the command line, from 1; 0: it was not given */
};

struct dropin_option {
	const char *name; /* without dashes; NULL ends the table */
	enum dropin_kind kind;
	size_t offset;
	const char *help;
	const char *argument;  /* its name in the help; NULL: VALUE */
	const char *otherwise; /* of DROPIN_MAYBE */
	unsigned low, high;    /* of a number; both 0: any */
	bool is_attached;      /* DROPIN_MAYBE: the value only comes after = */
};

struct dropin_tool {
	const char *command;	  /* "mca" */
	const char *name;	  /* "llvm-mca" */
	const char *intro, *more; /* of the help, before and after the options */
	const struct dropin_option *options;
	bool has_abbreviations; /* unique beginnings of names will do */
	int usage_exit;		/* what that tool returns for wrong options */
	size_t input;		/* offset of a const char *: the file; its default is kept */
};

enum { DROPIN_GO_ON = -1 };

/* Fills target.  Returns DROPIN_GO_ON, or an exit code: help or version was printed, or something
 * is wrong, which was said.
 */
int dropin_parse(const struct dropin_tool *tool, void *target, int argc, char **argv);

/* ---- words of other tools ---- */

extern const char dropin_asm_syntax[];	/* the option of LLVM's tools for the notation */
extern const char dropin_target_list[]; /* those that are supported, for messages */
extern const char dropin_triple_help[], dropin_march_help[];

/* An instruction set as compilers name it. */
struct dropin_target {
	const char *name, *isa;
	const char *generic; /* the CPU that stands for a generic one; NULL: tact knows one */
};

/* The target that a triple or a name begins with, or that of a set; NULL: none. */
const struct dropin_target *dropin_target_find(const char *name);
const struct dropin_target *dropin_target_of(const struct tact_isa *isa);

/* Our name of OSACA's CPU, or the same; and OSACA's default for a text. */
const char *dropin_osaca_cpu(const char *name);
const char *dropin_osaca_default(const char *text);

/* ---- code ---- */

struct dropin_insn {
	char *text; /* owned: as in the input, or disassembled */
	uint64_t line;
	size_t place; /* in the region, as it was read */
};

/* A region of the input, copied. */
struct dropin_region {
	char *name; /* owned, as all pointers here */
	uint8_t *code;
	size_t code_size;
	struct dropin_insn *insns;
	size_t n_insns;
	struct tact_given_latency *latencies;
	size_t n_latencies;
	struct tact_given_setting *settings;
	size_t n_settings;
	uint16_t setting; /* before it */
	uint64_t line;
	unsigned alignment;
	bool is_loop;
	char *warnings; /* what was assumed, a line each */
};

struct dropin_code {
	const char *path;
	char *text; /* owned: the input */
	size_t text_size;
	enum tact_input_kind kind;
	struct dropin_region *regions; /* owned */
	size_t n_regions;
	bool is_marked; /* markers chose the regions */
	bool is_intel;	/* assembly text is in Intel's notation */
};

struct dropin_load {
	const char *path; /* "-": standard input */
	const struct tact_isa *isa;
	enum tact_syntax syntax; /* of the text */
	enum tact_syntax output; /* of disassembled instructions; AUTO: that of the text */
	enum tact_input_kind kind;
	bool skip_unknown;
	const char *lines; /* only these lines of the text: "1,3-7"; NULL: all */
	bool is_formatted; /* disassemble, do not show the text of the input */
	bool is_marked;	   /* only code between markers */
	bool any_bytes; /* of what is neither text nor an object file: code between byte markers */
};

/* Reads all code.  Returns 0 or an exit code, with the message given as "PATH:LINE:COL: error: ...".
 */
int dropin_load(struct dropin_code *code, const struct dropin_load *load);
void dropin_code_fini(struct dropin_code *code);

/* Returns line number `line` of the input, from 1, without its end. */
const char *dropin_line(const struct dropin_code *code, uint64_t line, size_t *size);

/* ---- a machine ---- */

/* Finds a CPU: tact's own if it has a model, otherwise LLVM's, which the machine of llvm-mca runs.
 * NULL, with the message given.
 */
const struct tact_arch *dropin_arch(const char *name);

/* What an instance of an instruction does, in cycles from the first dispatch of all. */
struct dropin_event {
	int64_t dispatched, ready, issued, executed, retired;
};

/* Counts of cycles, by how many of something there were. */
enum { DROPIN_MOST = 64, DROPIN_N_STALLS = 5 };
enum dropin_stall {
	DROPIN_STALL_ROB,
	DROPIN_STALL_RS,
	DROPIN_STALL_SERIAL,
	DROPIN_STALL_OPERANDS, /* in order */
	DROPIN_STALL_OTHER
};

struct dropin_stats {
	uint32_t *dispatched, *issued, *retired; /* owned; by cycle */
	int32_t *in_queue, *in_rob, *mappings;	 /* owned; by cycle: changes */
	uint8_t *wait_port, *wait_operand;	 /* owned; by cycle */
	size_t capacity;
	uint64_t stalls[DROPIN_N_STALLS];
	uint64_t n_mappings;
};

struct dropin_run {
	const struct tact_arch *arch; /* borrowed */
	struct tact_block *block;     /* owned, as all pointers here */
	struct tact_simulator *simulator;
	struct tact_mca *mca;
	size_t n; /* instructions */
	unsigned iterations;
	uint64_t cycles, uops;
	double cycles_per_iteration; /* steady state; LLVM's: cycles / iterations */
	struct tact_prediction bounds;
	unsigned kept; /* iterations with events */
	struct dropin_event *events;
	struct tact_insn_cost *costs;
	struct tact_sim_insn *insns; /* what each did; of LLVM's CPUs the costs */
	unsigned *n_writes;	     /* registers that each writes */
	struct dropin_stats stats;
	int64_t origin; /* cycle of the first dispatch; -1: not known yet */
	int64_t last_dispatch;
	uint64_t last_iteration;
	uint32_t last_insn;
	uint8_t last_slot;
	bool failed, in_order;
};

struct dropin_run_options {
	const struct tact_arch *arch;
	unsigned iterations, kept;
	enum tact_alias alias;
	enum tact_mode mode;
	enum tact_init init;
	int alignment;		/* -1: the region's */
	bool is_static;		/* the block and its bounds only, no run */
	bool skip_without_data; /* leave out instructions without data */
};

/* Runs a region.  Returns 0 or an exit code, with the message given. */
int dropin_run(struct dropin_run *run, struct dropin_region *region,
	       const struct dropin_run_options *options);
void dropin_run_fini(struct dropin_run *run);

/* The largest bound that is not a dependence, of a loaded block. */
double dropin_throughput(const struct tact_prediction *bounds);

/* The latency of instruction i, and its throughput alone. */
unsigned dropin_latency(const struct dropin_run *run, size_t i);
double dropin_reciprocal(const struct dropin_run *run, size_t i);

/* The uops of instruction i on a port, if each of its ports got as many. */
double dropin_even_pressure(const struct dropin_run *run, size_t i, unsigned port);

/* The names of its execution resources: "SKLPort0", or LLVM's. */
const char *dropin_port_name(const struct tact_arch *arch, unsigned port, char *text, size_t size);

/* A text with a tab after the mnemonic, as LLVM prints instructions. */
void dropin_tab(struct text *out, const char *insn);

#endif /* TACT_DROPIN_H */
