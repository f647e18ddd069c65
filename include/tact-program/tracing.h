/* SPDX-License-Identifier: MIT
 *
 * What the program traces: chosen code, commands, records from files and from other machines.
 */
#ifndef TACT_PROGRAM_TRACING_H
#define TACT_PROGRAM_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/symbols.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Words of a command, for tact_trace_launch: blanks, quotes and backslashes as in a shell.  *out is
 * one piece of memory, which the caller frees.  Returns -TACT_E_INVAL for what needs a shell,
 * quotes that are not closed, and no words; -TACT_E_NOMEM.
 */
int tact_trace_split(char ***out, const char *command, struct tact_diag *diag);

/* TCP, for a record that goes to another machine while the program runs: tact_trace_record writes
 * to a descriptor of tact_trace_connect, and tact_trace_open_fd reads from one of
 * tact_trace_accept. An address is HOST:PORT, [HOST]:PORT, or :PORT, for listening on all
 * addresses.  What comes is not encrypted, and who sends is not asked: listen on an address that
 * only friends reach. Each returns a descriptor, or -TACT_E_INVAL for an address that is none,
 * -TACT_E_IO.  A signal ends tact_trace_accept with -TACT_E_IO.
 */
int tact_trace_connect(const char *address, struct tact_diag *diag);
int tact_trace_listen(const char *address, struct tact_diag *diag);
int tact_trace_accept(int listener, struct tact_diag *diag);

/* The port that a listener has: of port 0 one that is free.  Returns -TACT_E_IO. */
int tact_trace_port(int listener);

/* Opens a record, or assembly text that runs `iterations` times; "-" is a record from standard
 * input.  Returns as tact_trace_open and tact_trace_open_text do, -TACT_E_FORMAT for a result.
 */
int tact_trace_open_any(struct tact_trace **out, const char *path, uint64_t iterations,
			struct tact_diag *diag);

/* Code that was chosen by name. */
struct tact_chosen {
	const char *text; /* as tact_symbols_region takes it */
	bool is_excluded;
};

struct tact_choice; /* refers to the symbols and to the texts */

/* Finds out what code is meant.  from and until may be NULL.  Returns 0, or as tact_symbols_region
 * with *wrong, which may be NULL, pointing to the text that it is about.
 */
int tact_choice_create(struct tact_choice **out, struct tact_symbols *symbols, const char *program,
		       const char *path, const struct tact_chosen *chosen, size_t n,
		       const char *from, const char *until, const char **wrong,
		       struct tact_diag *diag);
void tact_choice_destroy(struct tact_choice *choice); /* NULL is allowed */

/* Sets regions, from and until, which are the choice's. */
void tact_choice_apply(const struct tact_choice *choice, struct tact_trace_options *opt);

/* Whether any of what the i-th text stands for was executed. */
bool tact_choice_has_run(const struct tact_choice *choice, size_t i,
			 const struct tact_trace *trace);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_TRACING_H */
