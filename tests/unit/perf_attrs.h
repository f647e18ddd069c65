/* SPDX-License-Identifier: MIT
 *
 * The two events of the recordings that tests make: instructions, and taken branches.
 */
#ifndef TESTS_PERF_ATTRS_H
#define TESTS_PERF_ATTRS_H

#include <linux/perf_event.h>

#include "pmu/perfdata.h"

#define TYPE                                                                                       \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_PERIOD)

/* clang-format off */
#define PERF_ATTRS(every, every_taken) { \
	{.type = PERF_TYPE_RAW, .config = 0x1c0, .period = (every), .sample_type = TYPE, \
	 .sample_id_all = true, .precise = 3, .name = "inst_retired.prec_dist"}, \
	{.type = PERF_TYPE_RAW, .config = 0x20c4, .period = (every_taken), \
	 .sample_type = TYPE | PERF_SAMPLE_BRANCH_STACK, \
	 .branch_sample_type = PERF_SAMPLE_BRANCH_ANY, .sample_id_all = true, \
	 .name = "br_inst_retired.near_taken"}, \
}
/* clang-format on */

#endif /* TESTS_PERF_ATTRS_H */
