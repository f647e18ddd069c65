/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int llvm_program(const char *name, char *path, size_t size, struct tact_diag *diag)
{
	const struct llvm_api *api = llvm_module(diag);
	char module[PATH_MAX];
	const char *slash;
	Dl_info info;

	if (!api)
		return -TACT_E_NO_TOOL;
	slash = dladdr(api, &info) && realpath(info.dli_fname, module) ? strrchr(module, '/')
								       : NULL;
	if (slash &&
	    (size_t)snprintf(path, size, "%.*s/%s", (int)(slash - module), module, name) >= size)
		return tact_fail(diag, TACT_E_LIMIT, "the path of %s is too long", name);
	if (slash && !access(path, X_OK))
		return 0;
	return tact_fail(
		diag, TACT_E_NO_TOOL,
		"%s is not there: it belongs beside %s, with which it is built and installed", name,
		module_name);
}
