/* SPDX-License-Identifier: MIT
 *
 * What the targets for sets that LLVM decodes share.  They do nothing where the module was not built.
 */
#ifndef FUZZ_LLVM_H
#define FUZZ_LLVM_H

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <tact/tact.h>

#include "fuzz.h"
#include "isa/isa.h"

/* It is built two folders above. */
static inline bool fuzz_load_llvm(void)
{
	char path[PATH_MAX], module[PATH_MAX + 32];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	if (!strrchr(path, '/'))
		return false;
	*strrchr(path, '/') = '\0';
	snprintf(module, sizeof(module), "%s/../../tact_llvm.so", path);
	return dlopen(module, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != NULL;
}

/* The CPU that the first byte picks; NULL without a byte or the module. */
static inline const struct tact_arch *fuzz_arch(const uint8_t *data, size_t size)
{
	static const char *const cpus[] = {"cortex-a57", "cortex-a55",	"neoverse-v2", "a64fx",
					   "sifive-u74", "sifive-p670", "spacemit-x60"};
	const struct tact_arch *arch;

	if (!size || !fuzz_load_llvm())
		return NULL;
	arch = tact_arch_find(cpus[*data % (sizeof(cpus) / sizeof(cpus[0]))]);
	MUST(arch);
	return arch;
}

#endif /* FUZZ_LLVM_H */
