/* SPDX-License-Identifier: MIT
 *
 * Parts of tact calibrate.
 */
#ifndef TACT_CALIBRATION_H
#define TACT_CALIBRATION_H

#include <stdbool.h>

#include <tact-program/calibrate.h>
#include <tact/arch.h>

#include "common/archlist.h"
#include "common/output.h"
#include "common/progress.h"

struct calibration {
	struct archlist archs;
	const char *output, *points, *save_points;
	int format;
	unsigned mib, rounds, cpu;
	bool is_quick, is_quiet;

	const struct tact_arch *arch; /* NULL: there is no model of this CPU */
	struct tact_calibrator *calibrator;
	struct progress progress;
};

/* ---- calibrate_points.c ---- */

/* Reads the points of --points into the calibrator, or writes those of --save-points.  Return an exit
 * code, with the message given.
 */
int calibration_read_points(struct calibration *c);
int calibration_save_points(const struct calibration *c);

/* ---- calibrate_output.c ---- */

/* Write the values: as a table, CSV or JSON; and as a parameter file, for --params. */
void calibration_show(const struct calibration *c, struct text *out);
void calibration_write_params(const struct calibration *c, struct text *out);

#endif /* TACT_CALIBRATION_H */
