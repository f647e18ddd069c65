/* SPDX-License-Identifier: MIT
 *
 * What the page without a server calls: requests as `tact serve` gets them, answered as its workers
 * do.  The page is one thread, and a call lasts until the answer is there.
 */
#include <emscripten.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/output.h"
#include "input/listing.h"
#include "isa/isa.h"
#include "serve/serve.h"

static struct serve_station station = {
	.limits = {.body_kb = 8192,
		   .blocks = 256,
		   .instructions = 20000,
		   .iterations = 100,
		   .archs = 64,
		   .answer_mb = 64},
	.input = -1,
};

/* The streams of commands are files in memory here as well. */
static bool open_streams(void)
{
	enum { HOW = O_RDWR | O_CREAT | O_TRUNC };
	const int messages = open("/messages", HOW, 0600);

	station.input = open("/input", HOW, 0600);
	station.output = open("/output", HOW, 0600);
	return station.input >= 0 && station.output >= 0 && messages >= 0 &&
	       dup2(messages, STDERR_FILENO) >= 0;
}

static char *refuse(unsigned status, const char *why)
{
	struct text out = {0};

	serve_error(&out, status, why, NULL);
	return cli_string(&out);
}

/* Answers a request: a name of serve_routes and a body.  The text is the caller's to free. */
EMSCRIPTEN_KEEPALIVE char *page_respond(const char *endpoint, const char *body)
{
	struct text out = {0};

	if (station.input < 0 && !open_streams())
		return refuse(500, "there is no memory for the request");
	for (int i = 0; i < SERVE_N_ENDPOINTS; i++) {
		if (strcmp(serve_routes[i].name, endpoint) != 0 || serve_routes[i].is_local ||
		    i == SERVE_MEASURE)
			continue;
		if (!serve_respond(&station, (enum serve_endpoint)i, body, strlen(body), &out))
			return refuse(500, "there is no memory for the request");
		return cli_string(&out);
	}
	return refuse(404, "there is no such address");
}

/* ---- listings ---- */

/* Where a jump back leads: the offset in the run, or -1. */
static long jump_back(const struct listing_run *run, size_t at, const struct tact_insn *insn)
{
	const int64_t offset = (int64_t)(at - run->begin);
	int64_t distance;

	if (insn->flow != TACT_FLOW_BRANCH && insn->flow != TACT_FLOW_JUMP)
		return -1;
	if (!isa_flow_target(insn, &distance) || distance > 0 || -distance > offset)
		return -1;
	return (long)(offset + distance);
}

static void put_bytes(struct text *out, const struct listing *l, size_t begin, size_t end)
{
	text_add(out, out->size ? "\n" : "");
	for (size_t i = begin; i < end; i++)
		text_printf(out, "%02x", (unsigned char)l->code.data[i]);
}

/* Adds the innermost loops of a run, which have no jump back inside, as lines of hex digits. */
static void put_loops(struct text *out, const struct listing *l, const struct listing_run *run)
{
	long last = -1; /* the jump back before */
	size_t at = run->begin;

	while (at < run->end) {
		struct tact_insn insn;
		const int length =
			tact_isa_decode(tact_isa_default(), &insn,
					(const uint8_t *)l->code.data + at, run->end - at);
		long target;

		if (length <= 0)
			return;
		target = jump_back(run, at, &insn);
		at += (size_t)length;
		if (target < 0)
			continue;
		if (target > last)
			put_bytes(out, l, run->begin + (size_t)target, at);
		last = (long)(at - run->begin) - length;
	}
}

/* Makes of a listing with bytes what "hex" takes: its innermost loops, a line each, or without loops
 * its code.  Returns a text that is the caller's to free, "" if this is no such listing.
 */
EMSCRIPTEN_KEEPALIVE char *page_listing(const char *text)
{
	struct listing listing = {0};
	struct tact_diag diag;
	struct text out = {0};

	if (listing_read(&listing, tact_isa_default()->assembler, text, strlen(text), &diag) >= 0 &&
	    listing.is_listing && listing.has_bytes) {
		for (size_t i = 0; i < listing.n_runs; i++)
			put_loops(&out, &listing, &listing.runs[i]);
		for (size_t i = 0; i < listing.n_runs && !out.size; i++)
			put_bytes(&out, &listing, listing.runs[i].begin, listing.runs[i].end);
	}
	listing_free(&listing);
	return cli_string(&out);
}
