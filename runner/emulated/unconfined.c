/* SPDX-License-Identifier: MIT
 *
 * In the place of confine.c where a program runs under an emulator of another machine.  What it calls
 * the kernel for goes through the emulator, which offers no filters, and whose own memory is between
 * ours.  So this program is for trying tact, not for code that nobody trusts.
 */
#include <asm/unistd.h>

#include "runner.h"

void sandbox_clear(void)
{
}

void sandbox_filter(const struct runner *r)
{
	(void)r;
}

/* An emulator may have translated what was there before, and does not notice what another process
 * writes; whatever moves mappings makes it forget.
 */
void sandbox_see_code(void)
{
	gate_syscall(__NR_mremap, MEASURE_CODE_BASE, MEASURE_CODE_BYTES, MEASURE_CODE_BYTES, 0, 0,
		     0);
	gate_see_code();
}
