/* SPDX-License-Identifier: MIT
 *
 * The plain machine of llvm-mca with the parameters that DiffTune tunes: dispatch, issue, execute,
 * retire; no front end, no fusion, one latency an instruction.
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

/* Values are stable: new ones go to the end. */
enum tact_mca_kind {
	TACT_MCA_MICRO_OPS, /* of a form, like the three behind it */
	TACT_MCA_LATENCY,
	TACT_MCA_READ_ADVANCE,	 /* index: which of the first three read registers */
	TACT_MCA_PORT_CYCLES,	 /* index: port */
	TACT_MCA_DISPATCH_WIDTH, /* of the machine, like the one behind it: any form will do */
	TACT_MCA_REORDER_BUFFER,
	TACT_MCA_N_KINDS
};

struct tact_mca_info {
	const char *name;      /* in files and messages */
	const char *llvm_name; /* in LLVM and in the paper */
	const char *help;
	bool global; /* one for the machine; else `count` for every form */
	unsigned count;
	int low, high; /* bounds, both included */
};

/* NULL behind the last kind. */
const struct tact_mca_info *tact_mca_get_info(unsigned kind);

struct tact_mca_params; /* one value for each parameter; readers may share it between threads */

/* The values that follow from an architecture's tables.  Some 0.5 MB.
 * Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_mca_params_create(struct tact_mca_params **out, const struct tact_arch *arch,
			   struct tact_diag *diag);
int tact_mca_params_copy(struct tact_mca_params **out, const struct tact_mca_params *params,
			 struct tact_diag *diag);
void tact_mca_params_destroy(struct tact_mca_params *params); /* NULL is allowed */
const struct tact_arch *tact_mca_params_arch(const struct tact_mca_params *params);

/* Single values.  Cheap; the next estimate sees the new value.
 * Return -TACT_E_INVAL for a form, kind or index that is not there, -TACT_E_LIMIT for a value out
 * of bounds.
 */
int tact_mca_get(const struct tact_mca_params *params, unsigned form, unsigned kind, unsigned index,
		 int *value);
int tact_mca_set(struct tact_mca_params *params, unsigned form, unsigned kind, unsigned index,
		 int value);

/* The value that the architecture's tables give. */
int tact_mca_default(const struct tact_arch *arch, unsigned form, unsigned kind, unsigned index,
		     int *value);

/* What a load waits for beside its address. */
enum tact_mca_memory {
	TACT_MCA_NO_ALIAS, /* nothing (llvm-mca's default) */
	TACT_MCA_ALIAS,	   /* the last store; a store likewise (llvm-mca -noalias=false) */
	TACT_MCA_ADDRESSES /* the last store to the same symbolic address */
};

/* What loads wait for, if the parameters say so: a file may (memory = addresses).  It counts where
 * tact_mca_options.memory is left at TACT_MCA_NO_ALIAS.  Returns false if they do not.
 */
bool tact_mca_params_memory(const struct tact_mca_params *params, enum tact_mca_memory *memory);
void tact_mca_params_set_memory(struct tact_mca_params *params, enum tact_mca_memory memory);

/* The defaults with what a file says (doc/models/mca.md has the format).  After a failure the
 * parameters are as they were.
 * Returns -TACT_E_IO, -TACT_E_VERSION, -TACT_E_FORMAT (diag has line and reason), -TACT_E_NOMEM.
 */
int tact_mca_params_load(struct tact_mca_params *params, const char *path, struct tact_diag *diag);

/* Writes globals and the forms that differ from the defaults.  comment may be NULL or several
 * lines: it goes to the top.  Returns -TACT_E_IO, -TACT_E_NOMEM.
 */
int tact_mca_params_save(const struct tact_mca_params *params, const char *path,
			 const char *comment, struct tact_diag *diag);

/* ---- the machine ---- */

struct tact_mca_options {
	size_t size;			      /* sizeof(struct tact_mca_options) */
	const struct tact_mca_params *params; /* borrowed; NULL: defaults of the block's CPU */
	unsigned iterations;		      /* 0: 100, as llvm-mca; at most 1,000,000 */
	bool steady; /* cycles from the end of `iterations` to the end of twice as many */
	enum tact_mca_memory memory;
};

struct tact_mca; /* a machine with its working memory; one thread at a time */

/* opt may be NULL and is copied.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_mca_create(struct tact_mca **out, const struct tact_mca_options *opt,
		    struct tact_diag *diag);
void tact_mca_destroy(struct tact_mca *machine); /* NULL is allowed */

struct tact_mca_result {
	size_t size;
	double cycles_per_iteration;
	double coverage; /* share of the instructions with data */
};

/* Cycles of a loaded block.  Allocates only while buffers grow to the largest block seen.
 * Returns -TACT_E_INVAL for an empty block, -TACT_E_NOMEM.
 */
int tact_mca_estimate(struct tact_mca *machine, struct tact_block *block,
		      struct tact_mca_result *out);

/* What the machine needs of a block, without the block: a few dozen bytes an instruction, for those
 * who evaluate many blocks under many parameters.  It belongs to the machine's kind of memory
 * dependence.
 * Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
struct tact_mca_code; /* immutable */
int tact_mca_code_create(struct tact_mca_code **out, const struct tact_block *block,
			 enum tact_mca_memory memory, struct tact_diag *diag);
void tact_mca_code_destroy(struct tact_mca_code *code); /* NULL is allowed */
size_t tact_mca_code_length(const struct tact_mca_code *code);
unsigned tact_mca_code_form(const struct tact_mca_code *code, size_t i); /* may be TACT_FORM_NONE */

/* As tact_mca_estimate.  Returns -TACT_E_INVAL if the machine has no parameters: code has no
 * architecture; -TACT_E_NOMEM.
 */
int tact_mca_run(struct tact_mca *machine, const struct tact_mca_code *code,
		 struct tact_mca_result *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MCA_H */
