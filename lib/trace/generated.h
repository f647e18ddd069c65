/* SPDX-License-Identifier: MIT
 *
 * Names of code that a traced program has generated, as far as it has told them: in
 * /tmp/perf-PID.map, or in jit-PID.dump in the working directory or in /tmp.
 */
#ifndef TACT_TRACE_GENERATED_H
#define TACT_TRACE_GENERATED_H

#include <tact/trace.h>

struct generated;

int generated_create(struct generated **out);
void generated_destroy(struct generated *g); /* NULL is allowed */

/* Finds the function of a block, at an offset in it.  *name stays valid until the end.  Returns 1, 0
 * if no process of the trace has told one, or -TACT_E_NOMEM.
 */
int generated_find(struct generated *g, const struct tact_trace *trace,
		   const struct tact_trace_block *block, uint32_t offset, const char **name,
		   uint64_t *begin);

#endif /* TACT_TRACE_GENERATED_H */
