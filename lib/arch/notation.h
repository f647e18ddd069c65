/* SPDX-License-Identifier: MIT
 *
 * How ports and latencies are written in data/insn and in parameter files.  The generator links
 * this as well, so that there is one notation.
 */
#ifndef TACT_ARCH_NOTATION_H
#define TACT_ARCH_NOTATION_H

#include <tact/status.h>

#include "arch/table.h"

/* "1*p0156+1*p23", or "-" for none.  `list` holds ARCH_MAX_PORT_USES; counts that are too large are
 * stored as ARCH_COUNT_MAX.  Returns the number of uses, or -TACT_E_FORMAT.
 */
int notation_read_ports(struct arch_port_use *list, const char *text, struct tact_diag *diag);

/* "r1>r0:1 m0.b>r0:5" with blanks or commas between, or "-".  `list` holds ARCH_MAX_LATENCIES.
 * Returns the number of latencies, or -TACT_E_FORMAT.
 */
int notation_read_latencies(struct arch_latency *list, const char *text, struct tact_diag *diag);

/* The character of a port, 0-9 and then letters. */
char notation_port(unsigned port);

#endif /* TACT_ARCH_NOTATION_H */
