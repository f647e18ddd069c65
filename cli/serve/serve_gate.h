/* SPDX-License-Identifier: MIT
 *
 * Who may ask for what: everything that is decided before the body of a request is read.
 */
#ifndef TACT_SERVE_GATE_H
#define TACT_SERVE_GATE_H

#include "serve.h"

/* NULL: the request has no such header. */
struct gate_headers {
	const char *method, *url, *host, *origin, *authorization, *content_type, *content_length;
};

/* Finds the endpoint.  Returns 0, or a status of HTTP with the reason. */
unsigned gate_check(const struct http_config *config, const struct gate_headers *headers,
		    enum serve_endpoint *endpoint, const char **why);

/* Writes an address of a socket for people; "?" for NULL. */
void gate_address(const void *address, char *text, size_t size);

extern const char serve_openapi[], serve_openapi_end[];

#endif /* TACT_SERVE_GATE_H */
