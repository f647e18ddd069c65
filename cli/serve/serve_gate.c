/* SPDX-License-Identifier: MIT
 *
 * See serve_gate.h.  A page that somebody opens in a browser can send requests to this machine.  It
 * gets no answer: its Host names another site (DNS rebinding), or its Origin does, or it cannot send
 * application/json without asking first (CORS), which is never granted.
 */
#include "serve_gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cli.h"
#include "common/output.h"

/* The interface, as doc/openapi.json describes it.  The Makefile says where that is. */
__asm__(".section .rodata\n"
	".globl serve_openapi, serve_openapi_end\n"
	".hidden serve_openapi, serve_openapi_end\n"
	"serve_openapi:\n"
	".incbin \"" OPENAPI_FILE "\"\n"
	"serve_openapi_end:\n"
	".byte 0\n"
	".previous\n");

void gate_address(const void *address, char *text, size_t size)
{
	const struct sockaddr *a = address;

	snprintf(text, size, "?");
	if (a && a->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text,
			  (socklen_t)size);
	else if (a && a->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
			  (socklen_t)size);
}

/* ---- names ---- */

static bool is_name(const char *text, size_t length, const char *name)
{
	return strlen(name) == length && !strncasecmp(text, name, length);
}

static bool is_in_list(const char *text, size_t length, const char *list)
{
	while (list && *list) {
		const size_t n = strcspn(list, ",");

		if (n == length && !strncasecmp(list, text, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

/* An address in digits. */
static bool is_number(const char *host, size_t length)
{
	char text[64];
	struct in6_addr address;
	const bool is_long = length > 2 && *host == '[';

	if (length >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(is_long ? length - 2 : length), host + is_long);
	return inet_pton(is_long ? AF_INET6 : AF_INET, text, &address) == 1;
}

/* "NAME:PORT", as Host has it; the port of 80 may be missing. */
static bool is_ours(const struct http_config *config, const char *host)
{
	static const char *const always[] = {"localhost", "127.0.0.1", "[::1]"};
	const char *end = *host == '[' ? strchr(host, ']') : NULL;
	const size_t length = end ? (size_t)(end - host) + 1 : strcspn(host, ":");
	unsigned long port = 80;
	char *rest = NULL;

	if (host[length] == ':')
		port = strtoul(host + length + 1, &rest, 10);
	else if (host[length])
		return false;
	if ((rest && (*rest || rest == host + length + 1)) || !length)
		return false;
	/* Behind a forwarding of ports (ssh -L), this machine has another port. */
	if (port != config->port && !config->is_loopback && port != 80 && port != 443)
		return false;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(always); i++)
		if (is_name(host, length, always[i]))
			return true;
	/* Others come by the address of this machine that they know; no site owns one. */
	if (!config->is_loopback && is_number(host, length))
		return true;
	return is_name(host, length, config->address) ||
	       is_in_list(host, length, config->server->host);
}

/* "http://NAME:PORT" of the page that asks. */
static bool is_own_page(const struct http_config *config, const char *origin, const char *host)
{
	const char *name = strstr(origin, "://");

	return name && !strcasecmp(name + 3, host) && is_ours(config, name + 3);
}

/* ---- the gate ---- */

static bool find_route(const char *url, enum serve_endpoint *endpoint)
{
	static const char prefix[] = "/api/1/";

	if (!strcmp(url, "/")) {
		*endpoint = SERVE_PAGE;
		return true;
	}
	if (strncmp(url, prefix, strlen(prefix)) != 0)
		return false;
	for (int i = 0; i < SERVE_PAGE; i++)
		if (!strcmp(url + strlen(prefix), serve_routes[i].name)) {
			*endpoint = (enum serve_endpoint)i;
			return true;
		}
	return false;
}

static bool is_json(const char *type)
{
	static const char json[] = "application/json";
	const size_t n = strlen(json);

	return type && !strncasecmp(type, json, n) && (!type[n] || strchr("; \t", type[n]));
}

static unsigned check_body(const struct http_config *config, const struct gate_headers *h,
			   const char **why)
{
	const unsigned long long most = (unsigned long long)config->server->limits.body_kb << 10;
	char *end;

	if (!is_json(h->content_type)) {
		*why = "a request has Content-Type: application/json";
		return 415;
	}
	if (h->content_length && (strtoull(h->content_length, &end, 10) > most || *end)) {
		*why = "the request is larger than --max-body allows";
		return 413;
	}
	return 0;
}

static unsigned check_token(const struct http_config *config, const char *given, const char **why)
{
	static const char scheme[] = "Bearer ";

	if (!*config->token)
		return 0;
	if (given && !strncasecmp(given, scheme, strlen(scheme)) &&
	    serve_token_is(config->token, given + strlen(scheme)))
		return 0;
	*why = given ? "the token is wrong"
		     : "a token is needed: 'Authorization: Bearer TOKEN' with the one in "
		       "--token-file";
	return 401;
}

unsigned gate_check(const struct http_config *config, const struct gate_headers *h,
		    enum serve_endpoint *endpoint, const char **why)
{
	const struct serve_route *route;
	unsigned status;

	if (!h->host) {
		*why = "the request has no Host";
		return 400;
	}
	if (!is_ours(config, h->host)) {
		*why = "this service has another name: see --host";
		return 421;
	}
	if (h->origin && !is_own_page(config, h->origin, h->host)) {
		*why = "pages of other sites get no answer";
		return 403;
	}
	if (!find_route(h->url, endpoint)) {
		*why = "there is no such address; /api/1/openapi.json lists them";
		return 404;
	}
	route = &serve_routes[*endpoint];
	if (!(route->takes_get && !strcmp(h->method, "GET")) &&
	    !(route->takes_post && !strcmp(h->method, "POST"))) {
		*why = route->takes_post ? "this address takes POST with a JSON object"
					 : "this address takes GET";
		return 405;
	}
	if (*endpoint == SERVE_MEASURE && !config->measuring) {
		*why = "this service does not measure; that takes tact serve --measure";
		return 501;
	}
	status = route->is_open ? 0 : check_token(config, h->authorization, why);
	if (!status && !strcmp(h->method, "POST"))
		status = check_body(config, h, why);
	return status;
}
