/* SPDX-License-Identifier: MIT
 *
 * Members of the JSON objects of a stored result.  What is missing, or of another type, is 0 or "".
 */
#ifndef TRACE_RESULT_MEMBERS_H
#define TRACE_RESULT_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <tact/cycles.h>

double member_number(const json_t *object, const char *key); /* >= 0, finite */
uint64_t member_whole(const json_t *object, const char *key);
uint32_t member_small(const json_t *object, const char *key); /* the largest, if it is larger */
bool member_flag(const json_t *object, const char *key);
const char *member_text(const json_t *object, const char *key); /* as long as the object lives */
uint64_t member_address(const json_t *object);			/* "address" in hexadecimal */

/* "ports" and "stalls". */
void member_ports(const json_t *object, double ports[TACT_MAX_PORTS]);
void member_stalls(const json_t *object, double stalls[TACT_N_STALLS]);

#endif /* TRACE_RESULT_MEMBERS_H */
