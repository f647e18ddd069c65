/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "common/cli.h"
#include "microhttpd_api.h"
#include "serve.h"

#ifdef TACT_HAS_MICROHTTPD

/* ISO C has no conversion from an object pointer to a function pointer; POSIX's dlsym has. */
static bool copy_symbol(void *to, void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	memcpy(to, &symbol, sizeof(symbol));
	return symbol;
}

bool microhttpd_load(struct microhttpd *out)
{
	static const char *const names[] = {"libmicrohttpd.so.12", "libmicrohttpd.so"};
	void *library = NULL;
	bool is_whole;

	for (size_t i = 0; i < CLI_ARRAY_SIZE(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library) {
		cli_message("serve needs libmicrohttpd (libmicrohttpd.so.12), which is not "
			    "installed; Debian's package is libmicrohttpd12");
		return false;
	}
	is_whole = true;
#define LOAD(name) is_whole = copy_symbol(&out->name, library, "MHD_" #name) && is_whole;
	MICROHTTPD_FUNCTIONS(LOAD)
#undef LOAD
	if (!is_whole)
		cli_message("libmicrohttpd.so lacks a function that serve needs; it has to be "
			    "0.9.75 or later");
	return is_whole;
}

int http_check(void)
{
	struct microhttpd api;

	return microhttpd_load(&api) ? CLI_GOOD : CLI_UNABLE;
}

#else

int http_check(void)
{
	cli_message("serve needs libmicrohttpd, whose headers were missing when this program was "
		    "built: install libmicrohttpd-dev, then run 'make' again");
	return CLI_UNABLE;
}

#endif
