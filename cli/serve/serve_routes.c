/* SPDX-License-Identifier: MIT
 *
 * The service's addresses, and what errors look like.
 */
#include "common/cli.h"
#include "common/output.h"
#include "serve.h"

const struct serve_route serve_routes[SERVE_N_ENDPOINTS] = {
	[SERVE_HEALTH] = {"health", .takes_get = true, .is_open = true, .is_local = true},
	[SERVE_VERSION] = {"version", .takes_get = true, .is_local = true},
	[SERVE_OPENAPI] = {"openapi.json", .takes_get = true, .is_local = true},
	[SERVE_ARCHS] = {"archs", .takes_get = true, .takes_post = true},
	[SERVE_INSN] = {"insn", .takes_post = true},
	[SERVE_PREDICT] = {"predict", .takes_post = true},
	[SERVE_MCA] = {"mca", .takes_post = true},
	[SERVE_SIMULATE] = {"simulate", .takes_post = true},
	[SERVE_TIMELINE] = {"timeline", .takes_post = true},
	[SERVE_MODELS] = {"models", .takes_post = true},
	[SERVE_CODE] = {"code", .takes_post = true},
	[SERVE_MEASURE] = {"measure", .takes_post = true},
	[SERVE_PAGE] = {"page", .takes_get = true, .is_open = true, .is_local = true},
};

void serve_error(struct text *out, unsigned status, const char *why, const char *detail)
{
	struct json json = {.out = out};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.serve/1");
	json_put_count(&json, "status", status);
	json_put_string(&json, "error", why);
	if (detail) { /* "messages":[...]} and a newline */
		text_add(out, ",");
		text_add(out, detail);
	} else {
		json_end_line(&json);
	}
}
