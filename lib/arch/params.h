/* SPDX-License-Identifier: MIT
 *
 * The parameters of a core, as params.def lists them.
 */
#ifndef TACT_ARCH_PARAMS_H
#define TACT_ARCH_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

enum { PARAMS_UNROLL_MAX = 64 };

typedef int params_int;
typedef int params_choice;			   /* number of the word */
typedef uint32_t params_ports;			   /* bit p: port p */
typedef uint16_t params_unroll[PARAMS_UNROLL_MAX]; /* copies by number of uops; 0 means 1 */
typedef uint16_t params_cycles[PARAMS_UNROLL_MAX]; /* cycles/100 by number of uops; 0: not listed */

struct arch_params {
#define PARAM(type, name, low, high, preset, help) params_##type name;
#include "arch/params.def"
#undef PARAM
};

enum {
#define PARAM(type, name, low, high, preset, help) PARAMS_INDEX_##name,
#include "arch/params.def"
#undef PARAM
	PARAMS_COUNT
};

/* Choices, in the order of their words. */
enum params_port_binding {
	PARAMS_PORT_BINDING_SIX,
	PARAMS_PORT_BINDING_EIGHT,
	PARAMS_PORT_BINDING_WIDE,
	PARAMS_PORT_BINDING_SPREAD,
	PARAMS_PORT_BINDING_LEAST,
	PARAMS_PORT_BINDING_LATE
};

enum params_terms { PARAMS_TERMS_INTEL, PARAMS_TERMS_AMD };

/* Sets one parameter from text.  Returns 0, -TACT_E_INVAL for an unknown name, -TACT_E_FORMAT for a
 * value that does not fit.
 */
int params_set(struct arch_params *params, const char *name, const char *value,
	       struct tact_diag *diag);

/* Gets name, value as text and help of parameter `index`; returns false past the last one. */
bool params_get(const struct arch_params *params, size_t index, char *name, size_t name_size,
		char *value, size_t value_size, const char **help);

/* Models whose numbers a parameter changes: "facile+sim", "facile", "sim", "trace" (which also has
 * what sim has), or "": none.
 */
const char *params_models(const char *name);

/* Index of a parameter, or -1; and back. */
int params_find(const char *name);
const char *params_name(size_t index);

/* "value # source" for cores that do not say it, or NULL: each must. */
const char *params_preset(size_t index);

/* Keys of a CPU's file that are not parameters (base, full_name, isa, ...); -1: not a key. */
enum params_key {
	PARAMS_KEY_BASE,
	PARAMS_KEY_NAME,
	PARAMS_KEY_ISA,
	PARAMS_KEY_FULL_NAME,
	PARAMS_KEY_LLVM_NAME,
	PARAMS_KEY_LLVM_CPU,
	PARAMS_KEY_NAMES,
	PARAMS_KEY_CPUID,
	PARAMS_KEY_ORDER,
	PARAMS_KEY_PORT_NAMES,
	PARAMS_KEY_VERIFIED,
	PARAMS_N_KEYS
};
int params_find_key(const char *name);

/* Where a value comes from.  A source begins with one of the words that data/SOURCES.md explains.
 */
struct params_origin {
	const char *cpu;    /* whose file says it; NULL: it is the default of params.def */
	const char *source; /* "vendor: four of 24" */
};
bool params_source_is_known(const char *source);
bool params_source_is_measured(const char *source); /* false for what is only reported or assumed */

/* Cuts the comment off a line and returns it, without blanks around it; "" if there is no comment.
 */
char *params_cut_comment(char *line);

/* Splits "name = value # comment" in place.  Returns 1, 0 for a line without content, or
 * -TACT_E_FORMAT.
 */
int params_split_line(char *line, char **name, char **value);

#endif /* TACT_ARCH_PARAMS_H */
