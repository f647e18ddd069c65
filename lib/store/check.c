/* SPDX-License-Identifier: MIT
 *
 * Checks rows before they go into a store, so that every row can be read again.
 */
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "store/store.h"

enum { MAX_BOTTLENECKS = 1023 };

/* Control characters would spoil every text that shows the line. */
static bool is_line(const char *text, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		if (!text[i])
			return true;
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	}
	return false;
}

bool store_is_name(const char *name)
{
	return name && *name && is_line(name, TACT_STORE_NAME_MAX + 1);
}

static bool is_name_or_empty(const char *name)
{
	return !name || !*name || store_is_name(name);
}

int store_fail_name(struct tact_diag *diag, const char *what)
{
	return tact_fail(diag, TACT_E_INVAL,
			 "%s needs a name of 1 to %d bytes without control characters", what,
			 TACT_STORE_NAME_MAX);
}

int store_check_block(const uint8_t *code, size_t size, struct tact_diag *diag)
{
	if (!code || !size)
		return tact_fail(diag, TACT_E_INVAL, "no block");
	if (size > TACT_BLOCK_MAX_BYTES)
		return tact_fail(diag, TACT_E_INVAL, "a block of more than %d bytes",
				 TACT_BLOCK_MAX_BYTES);
	return 0;
}

int store_check_setting(enum tact_mode mode, enum tact_init init, struct tact_diag *diag)
{
	if (mode != TACT_MODE_LOOP && mode != TACT_MODE_UNROLL)
		return tact_fail(diag, TACT_E_INVAL, "mode %d is neither loop nor unroll",
				 (int)mode);
	if ((unsigned)init > TACT_INIT_DIFF)
		return tact_fail(diag, TACT_E_INVAL, "there is no init %d", (int)init);
	return 0;
}

/* Whether all flags have a letter: other versions may have more. */
static bool are_flags_known(uint32_t flags)
{
	char letter[TACT_MEASURE_FLAGS_SIZE];

	for (; flags; flags &= flags - 1)
		if (tact_measure_flags_text(flags & -flags, letter)[0] == '-')
			return false;
	return true;
}

static int check_rounds(const struct tact_measurement *m, struct tact_diag *diag)
{
	if ((m->rounds && (m->agree > m->rounds || m->disturbed > m->rounds)) || m->cpu < -1)
		return tact_fail(diag, TACT_E_INVAL,
				 "%u rounds, of which %u agree and %u are disturbed", m->rounds,
				 m->agree, m->disturbed);
	if (m->alignment > 63)
		return tact_fail(diag, TACT_E_INVAL, "an alignment of %u", m->alignment);
	if ((unsigned)m->memory > TACT_CONTENTS_FLOAT || (unsigned)m->vectors > TACT_VECTORS_ZERO)
		return tact_fail(diag, TACT_E_INVAL, "unknown contents of memory or vectors");
	return 0;
}

int store_check_measurement(struct tact_measurement *to, const struct tact_measurement *from,
			    bool has_spread, struct tact_diag *diag)
{
	int status;

	if (!from)
		return tact_fail(diag, TACT_E_INVAL, "no measurement");
	if (tact_read_options(to, sizeof(*to), from) < 0)
		return tact_fail(diag, TACT_E_INVAL, "a measurement of another version");
	if (from->size <= offsetof(struct tact_measurement, cpu)) { /* of an older caller */
		to->cpu = -1;
		to->vectors = TACT_VECTORS_ZERO;
	}
	if ((unsigned)to->status >= TACT_N_MEASURE_STATUS)
		return tact_fail(diag, TACT_E_INVAL, "there is no status %d", (int)to->status);
	if ((unsigned)to->rung > TACT_RUNG_TSC)
		return tact_fail(diag, TACT_E_INVAL, "there is no rung %d", (int)to->rung);
	status = store_check_setting(to->mode, to->init, diag);
	if (status < 0)
		return status;
	status = check_rounds(to, diag);
	if (status < 0)
		return status;
	if (!are_flags_known(to->flags))
		return tact_fail(diag, TACT_E_INVAL, "flags 0x%x are unknown", (unsigned)to->flags);
	if (to->low > to->high)
		return tact_fail(diag, TACT_E_INVAL, "low (%u) is above high (%u)", to->low,
				 to->high);
	if (!is_line(to->reason, sizeof(to->reason)))
		return tact_fail(diag, TACT_E_INVAL, "the reason is not a text of one line");
	if (to->status != TACT_MEASURE_OK)
		return 0;
	if (!isfinite(to->cycles_per_iteration) || !(to->cycles_per_iteration > 0))
		return tact_fail(diag, TACT_E_INVAL, "cycles that are not a positive number");
	if (has_spread && (!isfinite(to->spread) || !(to->spread >= 0)))
		return tact_fail(diag, TACT_E_INVAL, "a spread that is not a number from 0 on");
	return 0;
}

static bool is_letters(const char *flags)
{
	if (!strcmp(flags, "-"))
		return true;
	for (const char *p = flags; *p; p++)
		if (!isalpha((unsigned char)*p))
			return false;
	return store_is_name(flags);
}

int store_check_import(struct tact_store_import *to, const struct tact_store_import *from,
		       struct tact_diag *diag)
{
	if (!from)
		return tact_fail(diag, TACT_E_INVAL, "nothing about where the measurement is from");
	if (tact_read_options(to, sizeof(*to), from) < 0)
		return tact_fail(diag, TACT_E_INVAL, "an import of another version");
	if (to->machine <= 0)
		return tact_fail(diag, TACT_E_INVAL, "no machine");
	if (!is_name_or_empty(to->origin) || !is_name_or_empty(to->version))
		return store_fail_name(diag, "origin or version of a measurement");
	if (!is_name_or_empty(to->host) || !is_name_or_empty(to->kernel))
		return store_fail_name(diag, "the host of a measurement, or its kernel");
	if (to->kernel && *to->kernel && (!to->host || !*to->host))
		return tact_fail(diag, TACT_E_INVAL, "a kernel without a host");
	if (to->flags && !is_letters(to->flags))
		return tact_fail(diag, TACT_E_INVAL, "flags that are not letters");
	if ((unsigned)to->clean > TACT_CLEAN_NO)
		return tact_fail(diag, TACT_E_INVAL, "clean is neither yes nor no");
	if (!to->loop_code != !to->loop_size ||
	    to->loop_size > TACT_BLOCK_MAX_BYTES + TACT_MEASURE_LOOP_BYTES)
		return tact_fail(diag, TACT_E_INVAL, "a loop without code, or too long");
	return 0;
}

int store_check_prediction(struct tact_store_prediction *to,
			   const struct tact_store_prediction *from, struct tact_diag *diag)
{
	int status;

	if (!from)
		return tact_fail(diag, TACT_E_INVAL, "no prediction");
	if (tact_read_options(to, sizeof(*to), from) < 0)
		return tact_fail(diag, TACT_E_INVAL, "a prediction of another version");
	status = store_check_setting(to->mode, to->init, diag);
	if (status < 0)
		return status;
	if (!store_is_name(to->arch) || !store_is_name(to->model) || !store_is_name(to->status) ||
	    !is_name_or_empty(to->version))
		return store_fail_name(diag, "arch, model, version or status of a prediction");
	to->version = to->version ? to->version : "";
	to->bottlenecks = to->bottlenecks ? to->bottlenecks : "";
	if (!is_line(to->bottlenecks, MAX_BOTTLENECKS + 1))
		return tact_fail(diag, TACT_E_INVAL, "bottlenecks that are not a text of one line");
	if (strcmp(to->status, "ok") != 0)
		return 0;
	if (!isfinite(to->cycles_per_iteration) || to->cycles_per_iteration < 0)
		return tact_fail(diag, TACT_E_INVAL, "a prediction without a number");
	if (to->coverage < 0 || to->coverage > 1)
		return tact_fail(diag, TACT_E_INVAL, "a coverage that is not between 0 and 1");
	return 0;
}

int store_check_machine(struct tact_machine *to, const struct tact_machine *from,
			struct tact_diag *diag)
{
	if (!from)
		return tact_fail(diag, TACT_E_INVAL, "no machine");
	if (tact_read_options(to, sizeof(*to), from) < 0)
		return tact_fail(diag, TACT_E_INVAL, "a machine of another version");
	if (!is_line(to->vendor, sizeof(to->vendor)) || !is_line(to->brand, sizeof(to->brand)) ||
	    !is_line(to->microcode, sizeof(to->microcode)) || !is_line(to->arch, sizeof(to->arch)))
		return tact_fail(diag, TACT_E_INVAL,
				 "a text of the machine is too long, or has control characters");
	if (!*to->brand && !*to->vendor)
		return store_fail_name(diag, "a machine");
	return 0;
}
