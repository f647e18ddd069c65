/* SPDX-License-Identifier: MIT
 *
 * tact serve: its options.
 */
#include <string.h>

#include "common/cli.h"
#include "common/options.h"
#include "serve.h"

static const char help[] =
	"usage: tact serve [OPTIONS]\n"
	"       tact serve --lines [--measure] [OPTIONS]\n"
	"       tact serve --static DIR\n\n"
	"Answers over HTTP, in JSON, what 'tact predict', 'simulate', 'insn' and 'archs' print: "
	"for "
	"editors and disassemblers; and on a page for people. It listens on this machine only, "
	"unless --listen says "
	"otherwise. SIGTERM ends it after the requests under way, SIGHUP starts it anew without "
	"losing one.\n\n"
	"{options}\n\n"
	"Examples:\n"
	"  tact serve                      then open http://localhost:7342/\n"
	"  curl -s localhost:7342/api/1/predict -H 'Content-Type: application/json' \\\n"
	"       -d '{\"hex\": \"480fafc34801d8\", \"archs\": [\"SKL\", \"ZEN4\"]}'\n"
	"  tact serve --listen 0.0.0.0:7342 --token-file ~/.config/tact-token --host build7\n"
	"  tact serve --measure            also measures, on this CPU\n"
	"  tact serve --lines < requests.jsonl > answers.jsonl\n"
	"  tact serve --static site        then open site/index.html\n";

#define OPTION_HOLDER server

static const struct option_spec address_specs[] = {
	OPTION_NUMBER(0, "port", "N", port, 0, 65535,
		      "listen on this port of this machine (default: 7342); 0: any that is free"),
	OPTION_TEXT(0, "listen", "ADDR:PORT", listen,
		    "listen on this address, such as 0.0.0.0:7342 or [::]:7342, where others come, "
		    "too; needs --token-file"),
	OPTION_TEXT(0, "host", "NAME", host,
		    "answer requests for this name, too (default: localhost and addresses); "
		    "several are separated by commas"),
	OPTION_TEXT(0, "token-file", "FILE", token_file,
		    "require the token in this file as 'Authorization: Bearer TOKEN'; the file is "
		    "made if it is missing"),
	OPTION_FLAG(
		0, "until-eof", ends_with_input,
		"end when standard input ends, which a program that starts a service holds open"),
	OPTION_END,
};

static const struct option_spec service_specs[] = {
	OPTION_FLAG(0, "measure", measures,
		    "measure code on this machine's CPU, too, for all who may ask: it runs in the "
		    "sandbox of 'tact measure'"),
	OPTION_FLAG(
		0, "lines", reads_lines,
		"without HTTP: answer requests from standard input, a JSON object a line, with a "
		"line each on standard output, in their order"),
	OPTION_TEXT(0, "static", "DIR", folder,
		    "serve nothing: write DIR/index.html, a page that computes in the browser and "
		    "needs no server, and end"),
	OPTION_END,
};

static const struct option_spec limit_specs[] = {
	OPTION_JOBS(workers, 256, "use N workers (default: one per core)"),
	OPTION_NUMBER(0, "timeout", "SECONDS", timeout, 1, 3600,
		      "most time for an answer (default: 20)"),
	OPTION_NUMBER(0, "max-body", "KB", limits.body_kb, 1, 1048576,
		      "most kilobytes of a request (default: 8192)"),
	OPTION_NUMBER(0, "max-blocks", "N", limits.blocks, 1, 100000,
		      "most blocks of a request (default: 256)"),
	OPTION_NUMBER(0, "max-instructions", "N", limits.instructions, 1, 10000000,
		      "most instructions of a request (default: 20000)"),
	OPTION_NUMBER(0, "max-iterations", "N", limits.iterations, 1, 100000,
		      "most iterations of a timeline (default: 100)"),
	OPTION_NUMBER(0, "max-archs", "N", limits.archs, 1, 1000,
		      "most microarchitectures of a request (default: 64)"),
	OPTION_NUMBER(0, "max-measured", "N", limits.measured, 1, 1000,
		      "most blocks of a request that are measured (default: 8)"),
	OPTION_NUMBER(0, "max-answer", "MB", limits.answer_mb, 1, 1024,
		      "most megabytes of an answer (default: 64)"),
	OPTION_NUMBER(0, "max-connections", "N", connections, 1, 4096,
		      "most connections at once (default: 256)"),
	OPTION_NUMBER(0, "max-requests", "N", requests, 1, 1000000,
		      "most requests over a connection (default: 1000)"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_VERBOSE(is_verbose, "print a line for each request on standard error"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Address", address_specs),
	OPTION_OWN("Service", service_specs),
	OPTION_OWN("Limits", limit_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_NO_ARGUMENTS,
};

static int run(void *target)
{
	struct server *s = target;
	int status;

	if (s->folder && s->reads_lines)
		return cli_wrong("give --static or --lines, not both");
	if (s->folder)
		return serve_static(s->folder, s->is_quiet);
	if (!s->workers)
		s->workers = cli_cores();
	if (s->reads_lines && (s->listen || s->host || s->token_file || s->ends_with_input))
		return cli_wrong("--lines listens nowhere: --listen, --host, --token-file and "
				 "--until-eof are for HTTP");
	if (s->reads_lines)
		return serve_lines(s);
	status = http_check();
	if (status)
		return status;
	return serve_run(s);
}

static const struct option_command command = {help, groups, run, NULL};

int cmd_serve(int argc, char **argv)
{
	struct server s = {
		.port = 7342,
		.timeout = 20,
		.connections = 256,
		.requests = 1000,
		.limits = {.body_kb = 8192,
			   .blocks = 256,
			   .instructions = 20000,
			   .iterations = 100,
			   .archs = 64,
			   .measured = 8,
			   .answer_mb = 64},
		.argc = argc,
		.argv = argv,
	};

	if (argc == 3 && !strcmp(argv[1], SERVE_WORKER_OPTION))
		return serve_worker(argv[2], false);
	if (argc == 3 && !strcmp(argv[1], SERVE_MEASURER_OPTION))
		return serve_worker(argv[2], true);
	return option_command_run(&command, &s, argc, argv);
}
