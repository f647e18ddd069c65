/* SPDX-License-Identifier: MIT
 *
 * Options of commands that run a program under QEMU.
 */
#ifndef TACT_PROGRAM_OPTIONS_H
#define TACT_PROGRAM_OPTIONS_H

#include <stdbool.h>

#include <tact/trace.h>

#include "options.h"

struct program_options {
	const char *cpu, *qemu, *plugin, *sysroot; /* NULL: the default */
	bool no_exec, native;
	unsigned attach;  /* process; 0: none */
	unsigned seconds; /* that it is attached for; 0: until it ends */
};

/* Whether the program runs on this CPU, not under QEMU. */
bool program_is_native(const struct program_options *p);

/* Whether there are options that are for QEMU alone, and their names, for messages. */
bool program_has_qemu_options(const struct program_options *p);
#define PROGRAM_QEMU_OPTIONS "--cpu, --no-exec, --qemu, --plugin and --sysroot"

/* The same for a trace that was recorded, whose files --sysroot has. */
bool program_has_run_options(const struct program_options *p);
#define PROGRAM_RUN_OPTIONS "--cpu, --no-exec, --qemu and --plugin"

extern const struct option_spec program_option_specs[], native_option_specs[];

/* Returns CLI_GOOD, or an exit code for options that do not go together, with the message given. */
int program_check_native(const struct program_options *p, bool has_program);

/* Fills those fields of the options that come from the command line and from the environment. */
void program_options_apply(const struct program_options *p, struct tact_trace_options *to);

/* From here on, SIGINT, SIGTERM and SIGHUP end the traced program; what it executed until then
 * counts.  A second signal ends tact at once.
 */
void program_signals_catch(struct tact_trace *trace);
int program_signals_release(void); /* the signal that came, or 0 */

/* Reports how the program ended, unless it succeeded, and what was not traced.  Returns an exit
 * code.
 */
int program_report(const struct tact_trace *trace, const char *name, bool is_quiet);

#endif /* TACT_PROGRAM_OPTIONS_H */
