/* SPDX-License-Identifier: MIT
 *
 * Where does a library that was installed find its plugin?
 */
#include <stdio.h>

#include <tact/trace.h>

int main(void)
{
	char path[4096];
	int status = tact_trace_plugin(path, sizeof(path));

	printf("%s\n", status < 0 ? tact_strerror(status) : path);
	return status < 0;
}
