/* SPDX-License-Identifier: MIT
 *
 * Members of the JSON objects of a stored result.
 */
#include "trace/result_members.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/result.h"

double member_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	const double d = json_is_number(v) ? json_number_value(v) : 0;

	return isfinite(d) && d > 0 ? d : 0;
}

uint64_t member_whole(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return json_is_integer(v) && json_integer_value(v) > 0 ? (uint64_t)json_integer_value(v)
							       : 0;
}

uint32_t member_small(const json_t *object, const char *key)
{
	const uint64_t n = member_whole(object, key);

	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

bool member_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const char *member_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

uint64_t member_address(const json_t *object)
{
	const char *s = member_text(object, "address");

	return !strncmp(s, "0x", 2) ? strtoull(s, NULL, 16) : 0;
}

void member_ports(const json_t *object, double ports[TACT_MAX_PORTS])
{
	const json_t *of = json_object_get(object, "ports");
	char key[4];

	for (unsigned i = 0; i < TACT_MAX_PORTS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		ports[i] = member_number(of, key);
	}
}

void member_stalls(const json_t *object, double stalls[TACT_N_STALLS])
{
	const json_t *of = json_object_get(object, "stalls");

	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		stalls[i] = member_number(of, result_stall_column((enum tact_stall)i));
}
