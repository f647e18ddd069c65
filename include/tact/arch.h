/* SPDX-License-Identifier: MIT
 *
 * What a CPU is: the parameters of its pipeline and, for every instruction form, uops, ports and
 * latencies.
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

struct tact_arch; /* immutable; the built-in ones live as long as the program */

/* By name (SKL), LLVM's name (skylake), full name or another one that its file lists, in any case.
 * NULL: there is none.
 */
const struct tact_arch *tact_arch_find(const char *name);

/* The built-in architectures from old to new; NULL gives the first one, the last one gives NULL. */
const struct tact_arch *tact_arch_next(const struct tact_arch *previous);

/* The one that this program runs on, or NULL if it is none that we know. */
const struct tact_arch *tact_arch_host(void);

const char *tact_arch_name(const struct tact_arch *arch);      /* "SKL" */
const char *tact_arch_full_name(const struct tact_arch *arch); /* "Skylake" */
const char *tact_arch_llvm_name(const struct tact_arch *arch); /* "skylake" */
const char *tact_arch_llvm_cpu(const struct tact_arch *arch);  /* for LLVM's tools: -mcpu=skylake */
const char *
tact_arch_base(const struct tact_arch *arch); /* whose parameters it takes over, or "" */

/* The instruction set that it executes. */
const struct tact_isa *tact_arch_isa(const struct tact_arch *arch);

/* Number of instruction forms with data, and whether there is data for one of them. */
unsigned tact_arch_form_count(const struct tact_arch *arch);
bool tact_arch_has_form(const struct tact_arch *arch, unsigned form);

/* Bit p is set if the CPU has execution port p. */
unsigned tact_arch_ports(const struct tact_arch *arch);

/* A copy of `base` with the parameters that a file sets ("issue_width = 6", one a line, # begins a
 * comment) and with its lines for instruction forms (doc/formats.md).  The caller owns it and gives
 * it to tact_arch_destroy.
 * Returns -TACT_E_IO, -TACT_E_FORMAT (diag has line and reason), -TACT_E_NOMEM.
 */
int tact_arch_derive(struct tact_arch **out, const struct tact_arch *base, const char *path,
		     struct tact_diag *diag);

/* Writes what differs from the built-in architecture of the same name, for tact_arch_derive.
 * comment may be NULL or several lines: it goes to the top.  Returns -TACT_E_INVAL, -TACT_E_IO.
 */
int tact_arch_save(const struct tact_arch *arch, const char *path, const char *comment,
		   struct tact_diag *diag);
void tact_arch_destroy(struct tact_arch *arch); /* NULL is allowed; not for built-in ones */

/* Walks the parameters: name, value as in a file, explanation, where the value comes from.  Returns
 * false behind the last.
 */
struct tact_param {
	char name[40];
	char value[120];
	char help[160];
	/* The CPU whose file has the value: this one or one that it is based on; "default" if no
	 * file has it, "file" if tact_arch_derive has read it.
	 */
	char from[16];
	char source[160];   /* what is behind it there: "vendor: four of 24"; see data/SOURCES.md */
	bool is_unmeasured; /* nobody has measured it: it is only reported, or assumed */
};
bool tact_arch_param(const struct tact_arch *arch, size_t index, struct tact_param *out);

/* Checks what no single line of the tables shows: ports that the CPU lacks, ports without uops,
 * too many sets of ports, more decoders than there are.  Returns the number of faults; the first
 * goes into diag.
 */
int tact_arch_validate(const struct tact_arch *arch, struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_ARCH_H */
