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
typedef uint16_t params_ports;			   /* bit p: port p */
typedef uint16_t params_unroll[PARAMS_UNROLL_MAX]; /* copies by number of uops; 0 means 1 */
typedef uint16_t params_cycles[PARAMS_UNROLL_MAX]; /* cycles/100 by number of uops; 0: not listed */

struct arch_params {
#define PARAM(type, name, low, high, help) params_##type name;
#include "arch/params.def"
#undef PARAM
};

/* Sets one parameter from text.  Returns 0, -TACT_E_INVAL for an unknown name, -TACT_E_FORMAT for a
 * value that does not fit.
 */
int params_set(struct arch_params *params, const char *name, const char *value,
	       struct tact_diag *diag);

/* Name, value as text and help of parameter `index`; false behind the last one. */
bool params_get(const struct arch_params *params, size_t index, char *name, size_t name_size,
		char *value, size_t value_size, const char **help);

/* Splits "name = value # comment" in place.  Returns 1, 0 for a line without content, or
 * -TACT_E_FORMAT.
 */
int params_split_line(char *line, char **name, char **value);

#endif /* TACT_ARCH_PARAMS_H */
