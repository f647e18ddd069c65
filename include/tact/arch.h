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
 * (Skylake) or another name that its file lists, in upper or lower case; or the one of a CPU that
 * tact_cpu_find knows by this name (skylake-client, i7-6700K, 6-94).  Returns NULL if there is none,
 * or if name is NULL.
 */
const struct tact_arch *tact_arch_find(const char *name);

/* Returns the built-in microarchitecture after `previous`, from the oldest to the newest: the first
 * one for NULL, and NULL after the last one or for one that is not built in.
 */
const struct tact_arch *tact_arch_next(const struct tact_arch *previous);

/* Returns the microarchitecture of the CPU that this program runs on, or NULL if it is unknown. */
const struct tact_arch *tact_arch_host(void);

/* Writes the other names by which tact_arch_find finds a built-in microarchitecture, apart from
 * products: those of compilers, code names, abbreviations.  They are separated by blanks,
 * NUL-terminated, and cut to `size` bytes.  Returns the length of the whole text; 0 if there are no
 * such names, or for NULL.
 */
size_t tact_arch_aliases(const struct tact_arch *arch, char *text, size_t size);

/* What a name of a CPU means, whether there is a model of it or not. */
struct tact_cpu {
	size_t size;			 /* sizeof(struct tact_cpu), set by the caller */
	const struct tact_arch *arch;	 /* its model; NULL: there is none */
	const struct tact_arch *nearest; /* the model that comes nearest: `arch`, if there is one;
					    NULL: none is near */
	char line[40];			 /* of products: "Sapphire Rapids" */
	char core[40];			 /* "Golden Cove" */
	char vendor[16];		 /* "Intel" */
	char relation[48]; /* what `nearest` is, if that is another core: "a predecessor" */
	char brand[64];	   /* of this machine: what its CPU calls itself; otherwise "" */
	unsigned family, model, stepping; /* of this machine, or as given; otherwise 0 */
	bool is_level; /* no CPU, but a level of the instruction set (generic): `arch` is assumed */
};
#define TACT_CPU_INIT TACT_SIZED(struct tact_cpu)

/* Finds out what a name of a CPU means: a name of a microarchitecture, as for tact_arch_find; a
 * name that compilers take (sapphirerapids, znver3, generic); a code name or its abbreviation (SPR);
 * a product (EPYC 9654, i7-12700, also as /proc/cpuinfo spells it); family and model (25-1), perhaps
 * with a stepping (6-85-7); or "native", which is this machine.  Case does not count, nor do blanks,
 * '-' and '_' in names that are no products.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL    an argument is NULL, or out->size is not set
 *   -TACT_E_NO_ARCH  the name means nothing; for "native", *out has what the CPU says about itself
 */
int tact_cpu_find(const char *name, struct tact_cpu *out);

/* Returns name number `index` of those that tact_cpu_find knows (models, compilers' names, code
 * names), for searching what a misspelt one may mean; NULL after the last one.  A text that is no
 * constant is written to `text`.
 */
const char *tact_cpu_name(size_t index, char *text, size_t size);

/* ---- LLVM's models ---- */

/* tact_arch_find and tact_cpu_find also know the CPUs of which LLVM has a model: those of instruction
 * sets that have no tables here by LLVM's name (neoverse-v2), others with a prefix (llvm:znver4).
 * They come from a module that is loaded when such a name is asked for; their caveat says whose
 * model it is, and that nothing of it was measured.
 */

/* Returns 0 if LLVM's models can be asked, or -TACT_E_NO_TOOL, with the reason and what would help in
 * diag, which may be NULL.
 */
int tact_arch_llvm_check(struct tact_diag *diag);

/* Returns whether LLVM knows a CPU of a name that tact_arch_find does not find: there is no model of
 * what its instructions cost, or it is one of 32 bits.  False without the module.
 */
bool tact_arch_llvm_lists(const char *name);

/* Returns whether an architecture is one of LLVM's models; false for NULL. */
bool tact_arch_is_llvm(const struct tact_arch *arch);

/* Writes the name by which tact_arch_find finds CPU number `index`, counted from 0, of those of a set
 * that LLVM has a model of, NUL-terminated and cut to `size` bytes, and returns true; false after the
 * last one, if an argument is NULL or size is 0, and without the module.
 */
bool tact_arch_llvm_cpu_at(const struct tact_isa *isa, size_t index, char *text, size_t size);

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

/* Returns whose numbers its ports have, and what they are, for people; "" if its file does not say,
 * and for NULL.  The text lives as long as arch.
 */
const char *tact_arch_port_names(const struct tact_arch *arch);

/* Returns whether predictions for it were compared with measured blocks of the same
 * microarchitecture; false for NULL.
 */
bool tact_arch_is_verified(const struct tact_arch *arch);

/* Return the name of the microarchitecture whose measured blocks verified this one: its own, or that
 * of one with nearly the same core; where those blocks come from; and what a report says about it in
 * a few words, "verified on SKL" or "not verified".  The first two are "" if it was never verified,
 * the last one is "" if it is verified itself.  The text lives as long as arch.  NULL gives "".
 */
const char *tact_arch_verified_on(const struct tact_arch *arch);
const char *tact_arch_verified_by(const struct tact_arch *arch);
const char *tact_arch_caveat(const struct tact_arch *arch);

/* ---- parameters ---- */

/* One parameter of the pipeline. */
struct tact_param {
	size_t size; /* sizeof(struct tact_param), set by the caller */
	char name[40];
	char value[120]; /* as in a file */
	char help[160];	 /* what it means */
	/* Whose file sets the value: this microarchitecture's or that of one it is based on;
	 * "default" if no file does, "file" if tact_arch_derive has read it or
	 * tact_arch_set_param has set it.
	 */
	char from[16];
	char source[160];   /* origin of the value: "vendor: four of 24"; see data/SOURCES.md */
	bool is_unmeasured; /* it was never measured: it is only reported, or assumed */
	char models[16];    /* that obey it: "facile+sim", "facile", "sim", "trace", or "" */
};
#define TACT_PARAM_INIT TACT_SIZED(struct tact_param)

/* Fills *out with parameter number `index`, counted from 0, and returns true.  Returns false and
 * leaves *out alone past the last parameter, if an argument is NULL, or if out->size is not set.
 */
bool tact_arch_param(const struct tact_arch *arch, size_t index, struct tact_param *out);

/* ---- instruction forms ---- */

/* What an instruction's operands are, where a form's figures depend on it. */
enum tact_situation {
	TACT_SITUATION_PLAIN,
	TACT_SITUATION_INDEXED, /* an address has an index register */
	TACT_SITUATION_SAME	/* all registers are the same one: idioms */
};

/* uops that can go to any port of a set. */
struct tact_port_use {
	uint32_t ports; /* bit p: port p */
	uint32_t uops;
};

/* Where a latency begins or ends.  Numbers of operands are those of struct tact_operand. */
enum tact_latency_end {
	TACT_LATENCY_REG,    /* register operand `number`, flags included */
	TACT_LATENCY_MEMORY, /* content of memory operand `number` */
	TACT_LATENCY_BASE,   /* base register of memory operand `number` */
	TACT_LATENCY_INDEX,  /* its index register */
	TACT_LATENCY_FLAGS   /* group `number` of flags, of sets where they are no operand */
};

/* The number of an address that is only computed (lea). */
enum { TACT_NUMBER_ADDRESS = 15 };

struct tact_latency {
	uint8_t from, from_number; /* enum tact_latency_end; BASE and INDEX only occur here */
	uint8_t to, to_number;
	uint16_t cycles; /* 0: the result does not wait for it */
};

enum { TACT_MAX_PORT_USES = 32, TACT_MAX_LATENCIES = 128 };

/* What an instruction of a form costs.  tact_block_cost says what one costs in its block, where
 * neighbours may fuse with it.
 */
struct tact_form_info {
	size_t size;		       /* sizeof(struct tact_form_info), set by the caller */
	enum tact_situation situation; /* whose figures these are: PLAIN if there are no others */
	unsigned uops;		       /* unfused; 0: it needs no port */
	unsigned issued;	       /* fused uops that issue and retire, after unlamination */
	unsigned mite, ms; /* uops from decoders (or DSB, LSD) and from the microcode sequencer */
	unsigned divider;  /* cycles that the divider is held */
	unsigned cycles;   /* measured throughput where nothing else explains it; 0: none */
	bool needs_complex_decoder;
	bool is_eliminated;	/* a move of a whole register that the renamer executes */
	bool breaks_dependence; /* there is a register that no result waits for */
	uint16_t fuses_with; /* bit c: macro-fuses with the conditional jump of condition code c */
	uint32_t n_port_uses, n_latencies;
	struct tact_port_use port_uses[TACT_MAX_PORT_USES];
	/* By pair of operands.  A pair that is not listed counts as one cycle, if the instruction
	 * reads the one and writes the other.
	 */
	struct tact_latency latencies[TACT_MAX_LATENCIES];
	char source
		[160]; /* where the figures come from, for people: "uops.info, measured on ..." */
};
#define TACT_FORM_INFO_INIT TACT_SIZED(struct tact_form_info)

/* Fills *out with the figures of a form, which tact_isa_form_find or tact_insn.form gives; of CPUs by
 * LLVM's models, those of an example of the form.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL    arch or out is NULL, situation is unknown, or out->size is not set
 *   -TACT_E_NO_DATA  the microarchitecture has no data for this form
 */
int tact_arch_form(const struct tact_arch *arch, unsigned form, enum tact_situation situation,
		   struct tact_form_info *out);

/* Fills *out with the figures of the first instruction of some code: those of its form, in the
 * situation that its operands are in; or what LLVM's model says, which may differ between instructions
 * of a form.  Of such a model, uops count the cycles of each unit, there is no front end (mite is what
 * issues), and that an operand is needed later (read-advance) depends on the producer and is left out.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL    arch, code or out is NULL, or out->size is not set
 *   -TACT_E_DECODE   the bytes are not an instruction
 *   -TACT_E_NO_DATA  the microarchitecture has no data for it
 *   -TACT_E_NOMEM    out of memory
 */
int tact_arch_insn(const struct tact_arch *arch, const uint8_t *code, size_t size,
		   struct tact_form_info *out);

/* ---- making one ---- */

/* Makes a copy of `base` that can be changed.  The caller owns *out, gives it to tact_arch_destroy,
 * and may destroy `base` before.  Blocks borrow *out: see tact_block_create.
 *
 * Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL  an argument is NULL
 *   -TACT_E_NOMEM  out of memory
 */
int tact_arch_copy(struct tact_arch **out, const struct tact_arch *base);

/* Change a microarchitecture that tact_arch_copy or tact_arch_derive made.  tact_arch_set_latency
 * sets one latency of a form to latency->cycles, in all situations that list it; take `latency`
 * from tact_arch_form and change its cycles.  Idioms stay idioms: a situation that lists 0 cycles
 * keeps them if TACT_SITUATION_PLAIN lists more.  tact_arch_set_param sets a parameter, by name, to
 * a value spelled as in a file.
 *
 * No other thread may use the microarchitecture meanwhile.  A block that is bound to it sees the
 * change when it is next loaded, changed or bound: call tact_block_rebind(block, NULL, NULL) before
 * you predict a block that is already loaded.
 *
 * Return 0, or with nothing changed:
 *   -TACT_E_INVAL    an argument is NULL, arch is built in, or there is no such parameter
 *   -TACT_E_NO_DATA  there is no data for this form, or it does not list this pair of operands
 *   -TACT_E_FORMAT   the value does not fit the parameter; diag has the reason
 *   -TACT_E_NOMEM    out of memory
 */
int tact_arch_set_latency(struct tact_arch *arch, unsigned form,
			  const struct tact_latency *latency);
int tact_arch_set_param(struct tact_arch *arch, const char *name, const char *value,
			struct tact_diag *diag);

/* Makes a copy of `base` with the parameters that a file sets ("issue_width = 6", one per line; #
 * begins a comment) and with the file's lines for instruction forms (doc/formats.md).  The caller
 * owns *out, gives it to tact_arch_destroy, and may destroy `base` before.  Blocks borrow *out: see
 * tact_block_create.
 *
 * Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL   an argument is NULL
 *   -TACT_E_IO      the file cannot be opened or read
 *   -TACT_E_FORMAT  a line is malformed; diag has its number and the reason
 *   -TACT_E_NOMEM   out of memory
 */
int tact_arch_derive(struct tact_arch **out, const struct tact_arch *base, const char *path,
		     struct tact_diag *diag);

/* Destroys one that tact_arch_copy or tact_arch_derive made; leaves NULL and built-in ones alone.
 * Blocks that use it must be bound to another one or destroyed first; predictors must be destroyed
 * first.
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
