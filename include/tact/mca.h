/* SPDX-License-Identifier: MIT
 *
 * The plain machine of llvm-mca with the parameters that DiffTune tunes: dispatch, issue, execute,
 * retire; no front end, no fusion, one latency per instruction.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.  Parameters and code may be read by several threads at once while no thread changes them.
 */
#ifndef TACT_MCA_H
#define TACT_MCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/block.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parameters ---- */

enum { TACT_MCA_PORTS = 10, TACT_MCA_READS = 3 };

/* Kinds of parameters.  Values are stable; new ones go to the end. */
enum tact_mca_kind {
	TACT_MCA_MICRO_OPS,	 /* of a form */
	TACT_MCA_LATENCY,	 /* of a form */
	TACT_MCA_READ_ADVANCE,	 /* of a form; index: which of the first three read registers */
	TACT_MCA_PORT_CYCLES,	 /* of a form; index: port */
	TACT_MCA_DISPATCH_WIDTH, /* of the machine: any form will do */
	TACT_MCA_REORDER_BUFFER, /* of the machine: any form will do */
	TACT_MCA_N_KINDS
};

/* A kind of parameters.  Constant; lives as long as the program. */
struct tact_mca_info {
	size_t size;	       /* sizeof(struct tact_mca_info), as this library knows it */
	const char *name;      /* in files and messages */
	const char *llvm_name; /* in LLVM and in the paper */
	const char *help;
	bool global;	/* one value for the machine; otherwise `count` values for every form */
	unsigned count; /* of indices */
	int low, high;	/* bounds, both included */
};

/* Returns what a kind is, or NULL from TACT_MCA_N_KINDS on. */
const struct tact_mca_info *tact_mca_get_info(unsigned kind);

struct tact_mca_params; /* one value for each parameter */

/* Creates the parameters that follow from an architecture's tables, some 0.5 MB.  The architecture
 * must outlive them.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory
 */
int tact_mca_params_create(struct tact_mca_params **out, const struct tact_arch *arch,
			   struct tact_diag *diag);

/* Creates a copy of parameters.  Returns as tact_mca_params_create. */
int tact_mca_params_copy(struct tact_mca_params **out, const struct tact_mca_params *params,
			 struct tact_diag *diag);

/* Frees parameters.  NULL is allowed. */
void tact_mca_params_destroy(struct tact_mca_params *params);

/* Returns the architecture that the parameters are for; NULL for NULL. */
const struct tact_arch *tact_mca_params_arch(const struct tact_mca_params *params);

/* Read and change a single value.  Both are cheap; the next estimate sees the new value.
 * Return 0, or
 *   -TACT_E_INVAL  an argument is missing, or there is no such form, kind or index
 *   -TACT_E_LIMIT  the value is out of bounds
 */
int tact_mca_get(const struct tact_mca_params *params, unsigned form, unsigned kind, unsigned index,
		 int *value);
int tact_mca_set(struct tact_mca_params *params, unsigned form, unsigned kind, unsigned index,
		 int value);

/* Reads the value that follows from the architecture's tables.  Returns as tact_mca_get. */
int tact_mca_default(const struct tact_arch *arch, unsigned form, unsigned kind, unsigned index,
		     int *value);

/* What a load waits for, other than its address. */
enum tact_mca_memory {
	TACT_MCA_NO_ALIAS, /* nothing (llvm-mca's default) */
	TACT_MCA_ALIAS,	   /* the last store; stores wait for it, too (llvm-mca -noalias=false) */
	TACT_MCA_ADDRESSES /* the last store to the same symbolic address */
};

/* Tells what loads wait for, if the parameters say so: a file may (memory = addresses).  It counts
 * where tact_mca_options.memory is left at TACT_MCA_NO_ALIAS.
 * Returns false, and leaves *memory alone, if they do not say so or if an argument is NULL.
 */
bool tact_mca_params_memory(const struct tact_mca_params *params, enum tact_mca_memory *memory);

/* Sets what loads wait for.  Does nothing if params is NULL or there is no such value. */
void tact_mca_params_set_memory(struct tact_mca_params *params, enum tact_mca_memory memory);

/* Replaces parameters by the defaults of their architecture with what a file says
 * (doc/models/mca.md has the format).  After a failure the parameters are as they were.
 * Returns 0, or, with the reason in diag,
 *   -TACT_E_INVAL    an argument is missing
 *   -TACT_E_NOMEM    out of memory
 *   -TACT_E_IO       the file cannot be read
 *   -TACT_E_VERSION  the file has a version that this library does not know
 *   -TACT_E_FORMAT   the file is malformed, or for another architecture; diag has the line
 */
int tact_mca_params_load(struct tact_mca_params *params, const char *path, struct tact_diag *diag);

/* Writes a file with the parameters of the machine and the forms that differ from the defaults.
 * comment may be NULL or several lines; it goes to the top.
 * Returns 0, or, with the reason in diag,
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory
 *   -TACT_E_IO     the file cannot be written
 */
int tact_mca_params_save(const struct tact_mca_params *params, const char *path,
			 const char *comment, struct tact_diag *diag);

/* ---- the machine ---- */

/* One instance of an instruction, told when it retires; cycles count from 0.  In order, `issued` is
 * also when it is dispatched.  This struct never changes.
 */
struct tact_mca_event {
	uint64_t iteration;
	uint32_t insn;	    /* in the block */
	uint32_t micro_ops; /* dispatch slots that it takes */
	int64_t dispatched, ready, issued, executed, retired;
};

/* How to simulate.  All zeros, or NULL, is the default.
 *
 * on_insn, the sink, is called for every instance of an instruction in the order of retirement, on
 * CPUs of LLVM's; machines with parameters do not know it.  It must not use the machine or the block.
 */
struct tact_mca_options {
	size_t size;			      /* sizeof(struct tact_mca_options) */
	const struct tact_mca_params *params; /* borrowed; NULL: defaults of the block's arch */
	unsigned iterations;		      /* 0: 100, as llvm-mca; at most 1,000,000 */
	bool steady; /* count the cycles from the end of `iterations` to the end of twice as many */
	enum tact_mca_memory memory;
	void (*on_insn)(void *arg, const struct tact_mca_event *event); /* NULL: no sink */
	void *arg;							/* for on_insn */
};
#define TACT_MCA_OPTIONS_INIT TACT_SIZED(struct tact_mca_options)

struct tact_mca; /* a machine with its working memory */

/* Creates a machine.  opt may be NULL and is copied; opt->params must outlive the machine.
 * Returns 0, or
 *   -TACT_E_INVAL  out is NULL, or options are wrong
 *   -TACT_E_NOMEM  out of memory
 */
int tact_mca_create(struct tact_mca **out, const struct tact_mca_options *opt,
		    struct tact_diag *diag);

/* Frees a machine.  NULL is allowed. */
void tact_mca_destroy(struct tact_mca *machine);

/* What the machine says about a block. */
struct tact_mca_result {
	size_t size; /* sizeof(struct tact_mca_result) */
	double cycles_per_iteration;
	double coverage; /* share of the instructions with data */
};
#define TACT_MCA_RESULT_INIT TACT_SIZED(struct tact_mca_result)

/* Estimates a loaded block.  Allocates only while buffers grow to the largest block seen.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, the block is empty or of another instruction set than
 *                  the parameters, or out->size is wrong
 *   -TACT_E_NOMEM  out of memory
 */
int tact_mca_estimate(struct tact_mca *machine, struct tact_block *block,
		      struct tact_mca_result *out);

/* What the machine needs to know about a block, without the block: a few dozen bytes per
 * instruction, for programs that estimate many blocks under many parameters.
 */
struct tact_mca_code;

/* Creates the code of a loaded block.  `memory` must be that of the machines that will run it.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, the block is empty, or there is no such `memory`
 *   -TACT_E_NOMEM  out of memory
 */
int tact_mca_code_create(struct tact_mca_code **out, const struct tact_block *block,
			 enum tact_mca_memory memory, struct tact_diag *diag);

/* Frees code.  NULL is allowed. */
void tact_mca_code_destroy(struct tact_mca_code *code);

/* Returns the number of instructions; 0 for NULL. */
size_t tact_mca_code_length(const struct tact_mca_code *code);

/* Returns the form of instruction i; TACT_FORM_NONE if it has none, or there is no such one. */
unsigned tact_mca_code_form(const struct tact_mca_code *code, size_t i);

/* Estimates code, as tact_mca_estimate does a block.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, the machine has no parameters (code has no
 *                  architecture), they are for another instruction set, or out->size is wrong
 *   -TACT_E_NOMEM  out of memory
 */
int tact_mca_run(struct tact_mca *machine, const struct tact_mca_code *code,
		 struct tact_mca_result *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MCA_H */
