/* SPDX-License-Identifier: MIT
 *
 * Names of modes and of values at entry, as files and options have them.
 */
#include <tact/block.h>

#include "base/base.h"

const char *tact_mode_name(enum tact_mode mode)
{
	return mode == TACT_MODE_LOOP ? "loop" : "unroll";
}

const char *tact_init_name(enum tact_init init)
{
	static const char *const names[] = {
		[TACT_INIT_STACK] = "stack", [TACT_INIT_SAME] = "same", [TACT_INIT_DIFF] = "diff"};

	return NAME_OF(names, init, "same");
}
