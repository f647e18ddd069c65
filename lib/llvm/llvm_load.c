/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/base.h"
#include "base/beside.h"
#include "llvm/llvm.h"

static const char module_name[] = "tact_llvm.so"; /* its soname, too */

static const struct llvm_api *fail(struct tact_diag *diag, const char *why)
{
	tact_fail(diag, TACT_E_NO_TOOL, "LLVM's models and instruction sets need %s, %s",
		  module_name, why);
	return NULL;
}

static const struct llvm_api *api_of(void *module, struct tact_diag *diag)
{
	const struct llvm_api *(*get)(void);
	const struct llvm_api *api;

	*(void **)&get = dlsym(module, LLVM_WIRE_SYMBOL);
	api = get ? get() : NULL;
	if (!api || api->version != LLVM_WIRE_VERSION || api->size < sizeof(*api))
		return fail(diag,
			    "which is of another version than this library: build both again");
	return api;
}

const struct llvm_api *llvm_module(struct tact_diag *diag)
{
	const struct llvm_api *api;
	char path[PATH_MAX];
	/* The linker knows it by its name once it is loaded. */
	void *module = dlopen(module_name, RTLD_NOW | RTLD_NOLOAD);

	if (!module) {
		if (beside_find(module_name, path, sizeof(path)) < 0)
			return fail(diag,
				    "which is not there: install llvm-22-dev (or llvm-19-dev) "
				    "and g++, then 'make' builds it");
		/* It keeps what it has opened, and is never unloaded. */
		module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	if (!module) {
		const char *why = dlerror();

		tact_fail(diag, TACT_E_NO_TOOL, "%s cannot be loaded: %s", module_name,
			  why ? why : "no reason given");
		return NULL;
	}
	api = api_of(module, diag);
	dlclose(module);
	return api;
}

struct loader {
	ElfW(Addr) base;
	char *path; /* the caller's; "": not found */
	size_t size;
};

static int find_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loader *loader = arg;

	(void)size;
	if (info->dlpi_addr != loader->base || !info->dlpi_name || info->dlpi_name[0] != '/' ||
	    strlen(info->dlpi_name) >= loader->size)
		return 0;
	strcpy(loader->path, info->dlpi_name);
	return 1;
}

/* The module need not be executable, nor name its interpreter: the linker that loaded this program runs
 * it.
 */
int llvm_program(const struct llvm_api *api, char *loader, char *module, size_t size,
		 struct tact_diag *diag)
{
	struct loader linker = {(ElfW(Addr))getauxval(AT_BASE), loader, size};
	Dl_info info = {0};

	loader[0] = '\0';
	dl_iterate_phdr(find_loader, &linker);
	if (!loader[0] || !dladdr((const void *)api, &info) || !info.dli_fname ||
	    info.dli_fname[0] != '/' || strlen(info.dli_fname) >= size)
		return tact_fail(diag, TACT_E_NO_TOOL,
				 "%s cannot be run: it, or the dynamic linker, is not found",
				 module_name);
	strcpy(module, info.dli_fname);
	return 0;
}

const struct llvm_api *llvm_open(struct llvm_set **set, const struct llvm_set_spec *spec,
				 struct tact_diag *diag)
{
	const struct llvm_api *api = llvm_module(diag);
	struct llvm_message why = {0};

	if (!api)
		return NULL;
	if (api->open_set(set, spec, &why) < 0) {
		tact_fail(diag, TACT_E_NO_TOOL, "LLVM: %s", why.text);
		return NULL;
	}
	return api;
}
