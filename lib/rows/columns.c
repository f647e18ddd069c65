/* SPDX-License-Identifier: MIT
 *
 * Names of the columns of CSV files about blocks.
 */
#include <string.h>
#include <strings.h>

#include "rows/rows.h"

static const struct {
	const char *name;
	enum rows_column column;
	bool is_foreign; /* a name that only other programs use */
} names[] = {
	{"hex", COL_HEX, false},
	{"record", COL_RECORD, false},
	{"app", COL_APP, false},
	{"application", COL_APP, false},
	{"weight", COL_WEIGHT, false},
	{"count", COL_WEIGHT, true},
	{"category", COL_CATEGORY, false},
	{"classifier", COL_CLASSIFIER, false},
	{"arch", COL_ARCH, false},
	{"mode", COL_MODE, false},
	{"init", COL_INIT, false},
	{"model", COL_MODEL, false},
	{"version", COL_VERSION, false},
	{"status", COL_STATUS, false},
	{"cycles", COL_CYCLES, false},
	{"cycles_per_iteration", COL_CYCLES, false},
	{"measured", COL_CYCLES, true},
	{"measured_cycles_per_iteration", COL_CYCLES, true},
	{"coverage", COL_COVERAGE, false},
	{"bottlenecks", COL_BOTTLENECKS, false},
	{"spread", COL_SPREAD, false},
	{"cv", COL_SPREAD, true},
	{"kept", COL_KEPT, false},
	{"dropped", COL_DROPPED, false},
	{"low", COL_LOW, false},
	{"high", COL_HIGH, false},
	{"rung", COL_RUNG, false},
	{"flags", COL_FLAGS, false},
	{"pages", COL_PAGES, false},
	{"reason", COL_REASON, false},
	{"clean", COL_CLEAN, false},
	{"origin", COL_ORIGIN, false},
	{"hex_loop", COL_HEX_LOOP, false},
	{"machine", COL_MACHINE, false},
	{"vendor", COL_VENDOR, false},
	{"family", COL_FAMILY, false},
	{"cpu_model", COL_CPU_MODEL, false},
	{"stepping", COL_STEPPING, false},
	{"microcode", COL_MICROCODE, false},
	{"hypervisor", COL_HYPERVISOR, false},
	{"alignment", COL_ALIGNMENT, false},
	{"rounds", COL_ROUNDS, false},
	{"agree", COL_AGREE, false},
	{"disturbed", COL_DISTURBED, false},
	{"cpu", COL_CPU, false},
	{"memory", COL_MEMORY, false},
	{"vectors", COL_VECTORS, false},
	{"host", COL_HOST, false},
	{"kernel", COL_KERNEL, false},
};

int rows_find_column(const char *name, bool is_foreign)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(name, names[i].name) && (is_foreign || !names[i].is_foreign))
			return (int)names[i].column;
	return -1;
}

const char *rows_field(const struct rows_file *file, enum rows_column column)
{
	int at = file->at[column];

	return at >= 0 && (size_t)at < file->n_fields ? file->fields[at].text : "";
}

bool rows_count(const struct rows_file *file, enum rows_column column, unsigned *count)
{
	enum { MAX_DIGITS = 6 };
	const char *text = rows_field(file, column);
	const size_t n = strlen(text);

	*count = 0;
	if (n > MAX_DIGITS || strspn(text, "0123456789") != n)
		return false;
	for (; *text; text++)
		*count = 10 * *count + (unsigned)(*text - '0');
	return true;
}

bool rows_alignment(const struct rows_file *file, unsigned *alignment)
{
	return strlen(rows_field(file, COL_ALIGNMENT)) <= 2 &&
	       rows_count(file, COL_ALIGNMENT, alignment) && *alignment < 64;
}
