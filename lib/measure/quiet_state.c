/* SPDX-License-Identifier: MIT
 *
 * How fast the canary has been, by CPU model.  A text file keeps it, so that the next program notices
 * a core that is busy from the start:
 *
 *   tact-canary 1
 *   GenuineIntel-6-207-2 issue 10.01 loop 1.00 window 78.02
 *
 * It is only a hint: what cannot be is ignored, and without the file everything works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "measure/measure_priv.h"

#define MAGIC "tact-canary"
enum { VERSION = 1, MAX_FILE = 1 << 16 };
/* What is learned is blurred by more than the rest. */
#define WORTH_WRITING 0.998

/* Takes over the figures of a line: name and cycles, and again. */
static void take_line(struct measure_floor *floor, char *figures)
{
	char *save = NULL, *name, *value;

	while ((name = strtok_r(figures, " ", &save)) && (value = strtok_r(NULL, " ", &save))) {
		figures = NULL;
		for (unsigned i = 0; i < floor->n_parts; i++)
			if (!strcmp(name, floor->part[i].name))
				measure_floor_offer(floor, i, strtod(value, NULL));
	}
}

/* Reads the lines of a file.  Those of other CPUs go to `others`, if it is not NULL. */
static void read_lines(struct measure_floor *floor, const char *path, const char *cpu,
		       struct text *others)
{
	const size_t n = strlen(cpu);
	struct text text = {0};
	struct tact_diag diag = {0};
	char *save = NULL, *line;

	if (file_read(path, MAX_FILE, &text, &diag) < 0 || !text_string(&text) ||
	    strlen(text.data) != text.size)
		goto out_free;
	line = strtok_r(text.data, "\n", &save);
	if (!line || file_check_magic(line, MAGIC, VERSION, NULL, &diag) < 0)
		goto out_free;
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (!strncmp(line, cpu, n) && line[n] == ' ')
			take_line(floor, line + n + 1);
		else if (others)
			text_printf(others, "%s\n", line);
	}
out_free:
	text_free(&text);
}

void measure_floor_load(struct measure_floor *floor, const char *path, const char *cpu)
{
	read_lines(floor, path, cpu, NULL);
}

/* Somebody else may have written since we read: what is best of both is kept. */
void measure_floor_save(const struct measure_floor *floor, const char *path, const char *cpu)
{
	struct measure_floor kept = *floor;
	struct text text = {0}, others = {0};
	bool is_new = false;

	memset(kept.best, 0, sizeof(kept.best));
	read_lines(&kept, path, cpu, &others);
	text_printf(&text, MAGIC " %d\n%s", VERSION, cpu);
	for (unsigned i = 0; i < floor->n_parts; i++) {
		const double old = kept.best[i];

		is_new |= floor->best[i] > 0 && (old <= 0 || floor->best[i] < WORTH_WRITING * old);
		measure_floor_offer(&kept, i, floor->best[i]);
		if (kept.best[i] > 0)
			text_printf(&text, " %s %.4f", kept.part[i].name, kept.best[i]);
	}
	text_add(&text, "\n");
	text_append(&text, &others);
	text_free(&others);
	if (is_new)
		file_write_text(path, &text, NULL);
	else
		text_free(&text);
}
