/* SPDX-License-Identifier: MIT
 *
 * Points of a calibration in CSV files: sweep,at,cycles,spread,shared.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/calibration.h"
#include "common/cli.h"

static const char header[] = "sweep,at,cycles,spread,shared";

struct points {
	struct tact_sweep_point *list;
	char (*names)[32]; /* of their sweeps */
	uint64_t *lines;
	size_t n, capacity;
};

static void grow(struct points *p)
{
	if (p->n < p->capacity)
		return;
	p->capacity = 2 * p->capacity + 64;
	p->list = cli_realloc(p->list, p->capacity * sizeof(*p->list));
	p->names = cli_realloc(p->names, p->capacity * sizeof(*p->names));
	p->lines = cli_realloc(p->lines, p->capacity * sizeof(*p->lines));
}

/* Takes a line.  Returns whether it is a point, a comment or the header. */
static bool take_line(struct points *p, const char *line, uint64_t number)
{
	struct tact_sweep_point point = {.size = sizeof(point)};
	unsigned long long at;
	int shared = 0, n = 0, end = 0;

	if (line[strspn(line, " \t\r\n")] == 0 || *line == '#' ||
	    !strncmp(line, header, sizeof(header) - 1))
		return true;
	grow(p);
	if (sscanf(line, "%31[a-z0-9-],%llu,%lf%n", p->names[p->n], &at, &point.cycles, &end) != 3)
		return false;
	point.at = at;
	/* Those of others may have no more. */
	if (line[end] == ',' &&
	    (sscanf(line + end, ",%lf,%d%n", &point.spread, &shared, &n) != 2 || point.spread < 0))
		return false;
	if (line[end + n + (int)strspn(line + end + n, " \t\r\n")])
		return false;
	point.is_shared = shared != 0;
	p->lines[p->n] = number;
	p->list[p->n++] = point;
	return true;
}

static int read_lines(struct points *p, FILE *f, const char *path)
{
	char line[256];
	struct tact_diag diag = {.line = 0};

	while (fgets(line, sizeof(line), f)) {
		diag.line++;
		if (!take_line(p, line, diag.line)) {
			snprintf(diag.text, sizeof(diag.text), "'%s' expected", header);
			return cli_complain(path, &diag, -TACT_E_FORMAT, CLI_FAILED);
		}
	}
	diag.line = 0;
	if (!ferror(f) && p->n)
		return CLI_GOOD;
	snprintf(diag.text, sizeof(diag.text), "%s",
		 ferror(f) ? strerror(errno) : "there are no points");
	return cli_complain(path, &diag, -TACT_E_FORMAT, CLI_FAILED);
}

int calibration_read_points(struct calibration *c)
{
	struct points p = {.n = 0};
	struct tact_diag diag = {0};
	FILE *f = fopen(c->points, "r");
	int code, status;

	if (!f) {
		snprintf(diag.text, sizeof(diag.text), "%s", strerror(errno));
		return cli_complain(c->points, &diag, -TACT_E_IO, CLI_FAILED);
	}
	code = read_lines(&p, f, c->points);
	fclose(f);
	for (size_t i = 0; i < p.n; i++)
		p.list[i].sweep = p.names[i];
	if (!code) {
		status = tact_calibrator_take(c->calibrator, p.list, p.n, &diag);
		if (status < 0) {
			if (diag.line && diag.line <= p.n)
				diag.line = p.lines[diag.line - 1];
			code = cli_complain(c->points, &diag, status, CLI_FAILED);
		}
	}
	free(p.list);
	free(p.names);
	free(p.lines);
	return code;
}

int calibration_save_points(const struct calibration *c)
{
	struct text text = {0};

	text_printf(&text, "%s\n", header);
	for (size_t i = 0; i < tact_calibrator_points(c->calibrator); i++) {
		struct tact_sweep_point p = {.size = sizeof(p)};

		/* With all digits that can matter: a value at the edge of being reliable stays where
		 * it is when the points are read again.
		 */
		if (tact_calibrator_point(c->calibrator, i, &p) >= 0)
			text_printf(&text, "%s,%llu,%.9g,%.9g,%d\n", p.sweep,
				    (unsigned long long)p.at, p.cycles, p.spread, p.is_shared);
	}
	return output_all(c->save_points, &text);
}
