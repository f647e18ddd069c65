/* SPDX-License-Identifier: MIT
 *
 * Finds the plugin for QEMU.
 */
#include "base/beside.h"
#include "trace/trace.h"

int tact_trace_plugin(char *path, size_t size)
{
	int status;

	if (!path || !size)
		return -TACT_E_INVAL;
	*path = '\0';
	status = beside_find("tact_trace.so", path, size);
	if (status < 0)
		*path = '\0';
	return status;
}
