/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <tact/remark.h>

#include "check/check.h"
#include "check/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Strings end, and lines are counted. */
static int take(void *arg, const struct ini_entry *e)
{
	uint64_t *line = arg;

	if (!e->section || !*e->section || (e->key && !*e->key) || !e->value || e->line <= *line)
		__builtin_trap();
	if (strlen(e->section) + strlen(e->value) + (e->key ? strlen(e->key) : 0) > INI_MOST)
		__builtin_trap();
	*line = e->line;
	return 0;
}

/* INI files of tact check, and the baselines that they are compared with: the first byte says which. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char config[] = "[check]\nfile=a\narch=SKL\n[a]\n[b]\nfunction=f\n";
	struct tact_codecheck *check = calloc(1, sizeof(*check));
	struct tact_diag diag;
	uint64_t line = 0;

	if (!check)
		return 0;
	check->path = strdup("dir/tact.ini");
	if (!check->path || tact_remarks_create(&check->remarks) < 0)
		goto out;
	if (size && data[0] == '{') {
		if (check_config_read(check, config, sizeof(config) - 1, &diag))
			__builtin_trap();
		baseline_read(check, (const char *)data, size, &diag);
	} else {
		ini_read((const char *)data, size, take, &line, &diag);
		check_config_read(check, (const char *)data, size, &diag);
	}
out:
	tact_codecheck_destroy(check);
	return 0;
}
