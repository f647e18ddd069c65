/* SPDX-License-Identifier: MIT
 *
 * The figures of an instruction form for people: ports, latencies, reciprocal throughput.
 */
#ifndef TACT_INSNINFO_H
#define TACT_INSNINFO_H

#include <stdbool.h>

#include <tact/arch.h>

#include "base/text.h"

/* "1*p0156+1*p23", with `plus` between the sets; "-" if there are none. */
void insninfo_ports(struct text *out, const struct tact_form_info *info, const char *plus);

/* The shortest and the longest latency of all pairs of operands; false: there is none. */
bool insninfo_latency(const struct tact_form_info *info, unsigned *low, unsigned *high);
void insninfo_add_latency(struct text *out, const struct tact_form_info *info); /* "1-6" */

/* Cycles for each of many independent instructions: what the ports, the renamer, the divider and the
 * table's own figure allow.
 */
double insninfo_throughput(const struct tact_arch *arch, const struct tact_form_info *info);

/* The situation that an instruction is in. */
enum tact_situation insninfo_situation(const struct tact_insn *insn);

/* Conditions of jumps that it macro-fuses with: "jz jnz ...", or "" */
void insninfo_fusion(struct text *out, const struct tact_form_info *info);

#endif /* TACT_INSNINFO_H */
