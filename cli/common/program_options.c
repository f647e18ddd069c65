/* SPDX-License-Identifier: MIT
 *
 * What is common to commands that run a program under QEMU.
 */
#include "program_options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <tact-program/tracing.h>
#include <tact/symbols.h>

#include "cli.h"

enum { SHELL_SIGNAL = 128 }; /* a shell adds it to the signal that killed a program */

#define OPTION_HOLDER program_options

const struct option_spec program_option_specs[] = {
	OPTION_TEXT(0, "cpu", "CPU", cpu,
		    "CPU that QEMU presents to the program, as for its option -cpu (default: "
		    "max,-erms)"),
	OPTION_FLAG(0, "no-exec", no_exec,
		    "do not follow programs started by execve; they run natively"),
	OPTION_TEXT(0, "qemu", "FILE", qemu,
		    "QEMU user-mode emulator (default: the one for the program, from PATH)"),
	OPTION_TEXT(0, "plugin", "FILE", plugin,
		    "QEMU plugin (default: tact_trace.so next to tact, or as installed)"),
	OPTION_TEXT('L', "sysroot", "DIR", sysroot,
		    "look for programs and their libraries below this directory first, and for the "
		    "files of a recorded trace (default: QEMU_LD_PREFIX; for another machine's, "
		    "also where Debian's cross libraries are)"),
	OPTION_END,
};

const struct option_spec native_option_specs[] = {
	OPTION_FLAG(0, "native", native,
		    "run the program on this CPU, without QEMU, and step through windows of it at "
		    "random moments: any instruction, generated code, at less than twice the time"),
	OPTION_NUMBER(0, "attach", "PID", attach, 1, 1u << 30,
		      "do so with a process that is running, until it ends or tact is interrupted; "
		      "the process runs on"),
	OPTION_NUMBER(0, "time", "SECONDS", seconds, 1, 1000000,
		      "let go of the process after this time"),
	OPTION_END,
};

int program_check_native(const struct program_options *p, bool has_program)
{
	if (p->native && !has_program)
		return cli_wrong("--native needs a program to run");
	if (p->seconds && !p->attach)
		return cli_wrong("--time is for --attach");
	if (program_is_native(p) && program_has_qemu_options(p))
		return cli_wrong(PROGRAM_QEMU_OPTIONS
				 " are for QEMU, which --native and --attach do without");
	return CLI_GOOD;
}

bool program_is_native(const struct program_options *p)
{
	return p->native || p->attach;
}

bool program_has_run_options(const struct program_options *p)
{
	return p->cpu || p->qemu || p->plugin || p->no_exec;
}

bool program_has_qemu_options(const struct program_options *p)
{
	return program_has_run_options(p) || p->sysroot;
}

void program_options_apply(const struct program_options *p, struct tact_trace_options *to)
{
	const char *prefix = getenv("QEMU_LD_PREFIX");

	to->cpu = p->cpu;
	to->qemu = p->qemu;
	to->plugin = p->plugin;
	to->sysroot = p->sysroot ? p->sysroot : prefix && *prefix ? prefix : NULL;
	to->no_exec = p->no_exec;
	to->path = getenv("PATH");
	to->native = program_is_native(p);
	to->milliseconds = p->seconds * 1000;
}

/* ---- signals ---- */

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction old[CLI_ARRAY_SIZE(numbers)];
static struct tact_trace *volatile running;
static volatile sig_atomic_t received;

static void on_signal(int number)
{
	received = number;
	tact_trace_stop(running);
}

void program_signals_catch(struct tact_trace *trace)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};

	running = trace;
	received = 0;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(numbers); i++) {
		sigaction(numbers[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

int program_signals_release(void)
{
	for (size_t i = 0; i < CLI_ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &old[i], NULL);
	running = NULL;
	return received;
}

/* ---- the end ---- */

/* Says which instruction QEMU did not know, and what can be done about it.  False: none. */
static bool report_illegal(const struct tact_trace *trace, const char *name)
{
	struct tact_place place = TACT_PLACE_INIT;
	struct tact_symbols *symbols = NULL;
	struct tact_trace_illegal x;
	char bytes[3 * TACT_MAX_INSN_BYTES + 1] = "", where[256];

	if (!tact_trace_get_illegal(trace, &x) || tact_symbols_create(&symbols) < 0)
		return false;
	for (unsigned i = 0; i < x.code_size; i++)
		snprintf(bytes + strlen(bytes), sizeof(bytes) - strlen(bytes), "%s%02x",
			 i ? " " : "", x.code[i]);
	if (tact_symbols_find(symbols, trace, x.block, x.offset, &place) < 0)
		place.function = "[unknown]";
	snprintf(where, sizeof(where), "%.120s+0x%llx (address 0x%llx%s%.80s)", place.function,
		 (unsigned long long)(place.begin ? place.address - place.begin : 0),
		 (unsigned long long)place.address, place.module && *place.module ? " of " : "",
		 place.module ? place.module : "");
	if (x.is_never_legal)
		cli_message("%s ended itself with %s at %s", name, x.text, where);
	else if (x.is_whole)
		cli_message("QEMU does not know %s (%s; bytes %s) at %s", x.text, x.extension,
			    bytes, where);
	else
		cli_message("QEMU does not know the instruction that begins with %s at %s", bytes,
			    where);
	if (!x.is_never_legal)
		cli_message("run %s on this CPU with --native, or compile that code for a CPU "
			    "without this extension",
			    name);
	tact_symbols_destroy(symbols);
	return true;
}

/* Whoever stopped the program says why: that it then died of it is no news. */
static bool died_of_us(const struct tact_trace_summary *s)
{
	const int number = WTERMSIG(s->wait_status);

	return s->was_stopped && (number == SIGTERM || number == SIGKILL);
}

static int report_status(const struct tact_trace *trace, const struct tact_trace_summary *s,
			 const char *name, bool is_quiet)
{
	if (!s->is_attached) {
		cli_message("QEMU could not run %s with the plugin; nothing was traced", name);
		return CLI_FAILED;
	}
	if (!s->has_ended)
		return CLI_GOOD;
	if (WIFSIGNALED(s->wait_status) && died_of_us(s))
		return CLI_GOOD;
	if (WIFSIGNALED(s->wait_status)) {
		cli_message("%s was killed by signal %d (%s); what it executed until then is in "
			    "the result",
			    name, WTERMSIG(s->wait_status), strsignal(WTERMSIG(s->wait_status)));
		if (WTERMSIG(s->wait_status) == SIGILL)
			report_illegal(trace, name);
		return CLI_FAILED;
	}
	if (WEXITSTATUS(s->wait_status) == SHELL_SIGNAL + SIGILL && report_illegal(trace, name))
		return CLI_FAILED;
	if (!is_quiet && WEXITSTATUS(s->wait_status))
		cli_message("%s exited with status %d", name, WEXITSTATUS(s->wait_status));
	return CLI_GOOD;
}

int program_report(const struct tact_trace *trace, const char *name, bool is_quiet)
{
	struct tact_trace_summary s = TACT_TRACE_SUMMARY_INIT;
	int status;

	tact_trace_get_summary(trace, &s);
	status = report_status(trace, &s, name, is_quiet);
	if (s.lost_threads)
		cli_message("%u threads were not traced: too many ran at the same time",
			    s.lost_threads);
	if (s.lost_blocks)
		cli_message("code was lost %llu times: the program has too many different pieces "
			    "of code",
			    (unsigned long long)s.lost_blocks);
	if (s.n_native && !is_quiet)
		cli_message("%u programs started by execve ran natively and were not traced; the "
			    "first: %s",
			    s.n_native, s.first_native);
	if (s.lost_threads || s.lost_blocks)
		return CLI_FAILED;
	return status;
}
