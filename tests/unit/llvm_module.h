/* SPDX-License-Identifier: MIT
 *
 * The module for LLVM's models, for tests: it is built beside the program, two folders above them.
 */
#ifndef TACT_TESTS_LLVM_MODULE_H
#define TACT_TESTS_LLVM_MODULE_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Loads it, so that the library finds it by its name.  Tests that need it are skipped where it was not
 * built: there is no llvm-22-dev or llvm-19-dev.
 */
static inline void need_llvm(void)
{
	char path[PATH_MAX], module[PATH_MAX + 32];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	*strrchr(path, '/') = '\0';
	snprintf(module, sizeof(module), "%s/../../tact_llvm.so", path);
	if (access(module, R_OK))
		skip();
	assert_non_null(dlopen(module, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
}

#endif /* TACT_TESTS_LLVM_MODULE_H */
