/* SPDX-License-Identifier: MIT
 *
 * Names of modes and of values at entry, as files and options have them.
 */
#include <tact/block.h>

#include "base/base.h"

const char *tact_mode_name(enum tact_mode mode)
{
	static const char *const names[] = {[TACT_MODE_AUTO] = "auto",
					    [TACT_MODE_LOOP] = "loop",
					    [TACT_MODE_UNROLL] = "unroll"};

	return NAME_OF(names, mode, "unknown");
}

const char *tact_memory_name(enum tact_memory memory)
{
	static const char *const names[] = {[TACT_MEMORY_L1] = "l1",
					    [TACT_MEMORY_L2] = "l2",
					    [TACT_MEMORY_L3] = "l3",
					    [TACT_MEMORY_RAM] = "ram"};

	return NAME_OF(names, memory, "unknown");
}

const char *tact_init_name(enum tact_init init)
{
	static const char *const names[] = {
		[TACT_INIT_STACK] = "stack", [TACT_INIT_SAME] = "same", [TACT_INIT_DIFF] = "diff"};

	return NAME_OF(names, init, "unknown");
}
