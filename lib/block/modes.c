/* SPDX-License-Identifier: MIT
 *
 * Names of modes and of values at entry, as files and options have them.
 */
#include <tact/block.h>

const char *tact_mode_name(enum tact_mode mode)
{
	return mode == TACT_MODE_LOOP ? "loop" : "unroll";
}

const char *tact_init_name(enum tact_init init)
{
	switch (init) {
	case TACT_INIT_STACK:
		return "stack";
	case TACT_INIT_SAME:
		return "same";
	case TACT_INIT_DIFF:
		return "diff";
	}
	return "same";
}
