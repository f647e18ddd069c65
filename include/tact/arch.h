/* SPDX-License-Identifier: MIT
 *
 * Microarchitectures: the parameters of a core's pipeline and, for every instruction form, its
 * uops, ports and latencies.
 *
 * The built-in ones are constants that any number of threads may use at once.  One that was made
 * with tact_arch_derive or tact_arch_copy may be shared in the same way as long as nothing changes
 * or destroys it.
 */
#ifndef TACT_ARCH_H
#define TACT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACT_MAX_PORTS = 32 }; /* a set of ports is a mask of 32 bits */

/* A microarchitecture.  The built-in ones live as long as the program. */
struct tact_arch;

/* ---- finding one ---- */

/* Returns the built-in microarchitecture with this name (SKL), LLVM name (skylake), full name
 * (Skylake) or another name that its file lists, in upper or lower case.  Returns NULL if there is
 * none, or if name is NULL.
 */
const struct tact_arch *tact_arch_find(const char *name);

/* Returns the built-in microarchitecture after `previous`, from the oldest to the newest: the first
 * one for NULL, and NULL after the last one or for one that is not built in.
 */
const struct tact_arch *tact_arch_next(const struct tact_arch *previous);

/* Returns the microarchitecture of the CPU that this program runs on, or NULL if it is unknown. */
const struct tact_arch *tact_arch_host(void);

/* ---- what it is ---- */

/* Return a name: "SKL", "Skylake", "skylake" (LLVM's name), and the -mcpu= of LLVM's tools; or the
 * name of the microarchitecture whose parameters this one takes over, "" if it has no such base.
 * The text lives as long as arch.  NULL gives "".
 */
const char *tact_arch_name(const struct tact_arch *arch);
const char *tact_arch_full_name(const struct tact_arch *arch);
const char *tact_arch_llvm_name(const struct tact_arch *arch);
const char *tact_arch_llvm_cpu(const struct tact_arch *arch);
const char *tact_arch_base(const struct tact_arch *arch);

/* Returns the instruction set that it executes, a constant.  NULL gives NULL. */
const struct tact_isa *tact_arch_isa(const struct tact_arch *arch);

/* Returns the number of instruction forms that it has data for.  NULL gives 0. */
unsigned tact_arch_form_count(const struct tact_arch *arch);

/* Returns whether it has data for this form; false for NULL and for numbers that are no form. */
bool tact_arch_has_form(const struct tact_arch *arch, unsigned form);

/* Returns its execution ports: bit p is set if there is a port p.  NULL gives 0. */
unsigned tact_arch_ports(const struct tact_arch *arch);

/* ---- parameters ---- */

/* One parameter of the pipeline. */
struct tact_param {
	size_t size; /* sizeof(struct tact_param), set by the caller */
	char name[40];
	char value[120]; /* as in a file */
	char help[160];	 /* what it means */
	/* Whose file sets the value: this microarchitecture's or that of one it is based on;
	 * "default" if no file does, "file" if tact_arch_derive has read it.
	 */
	char from[16];
	char source[160];   /* where the value comes from: "vendor: four of 24"; see data/SOURCES.md
			     */
	bool is_unmeasured; /* it was never measured: it is only reported, or assumed */
};
#define TACT_PARAM_INIT TACT_SIZED(struct tact_param)

/* Fills *out with parameter number `index`, counted from 0.  Returns false, and leaves *out alone,
 * past the last one, if an argument is NULL and if out->size is not set.
 */
bool tact_arch_param(const struct tact_arch *arch, size_t index, struct tact_param *out);

/* ---- making one ---- */

/* Makes a copy of `base` with the parameters that a file sets ("issue_width = 6", one per line; #
 * begins a comment) and with the file's lines for instruction forms (doc/formats.md).  The caller
 * owns *out and gives it to tact_arch_destroy; it does not refer to `base` or to the file any more.
 * Blocks borrow it: see tact_block_create.
 *
 * Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL   an argument is NULL
 *   -TACT_E_IO      the file cannot be opened or read
 *   -TACT_E_FORMAT  a line is malformed; diag has its number and the reason
 *   -TACT_E_NOMEM   out of memory
 */
int tact_arch_derive(struct tact_arch **out, const struct tact_arch *base, const char *path,
		     struct tact_diag *diag);

/* Destroys one that was made with a function of this section.  NULL and built-in ones are left
 * alone.  No block may be bound to it any more, unless that block is only destroyed or bound to
 * another one.
 */
void tact_arch_destroy(struct tact_arch *arch);

/* Writes what differs from the built-in microarchitecture of the same name to a file, for
 * tact_arch_derive.  `comment` may be NULL or several lines; it goes to the top of the file.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  arch or path is NULL, or no built-in one has its name
 *   -TACT_E_IO     the file cannot be written
 *   -TACT_E_NOMEM  out of memory
 */
int tact_arch_save(const struct tact_arch *arch, const char *path, const char *comment,
		   struct tact_diag *diag);

/* Checks what no single line of the tables shows: ports that the CPU lacks, ports without uops, too
 * many sets of ports, more decoders than there are.  Returns the number of faults, the first of
 * which goes into diag, or -TACT_E_INVAL if arch is NULL.
 */
int tact_arch_validate(const struct tact_arch *arch, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_ARCH_H */
