/* SPDX-License-Identifier: MIT
 *
 * A recording in progress: shared by sampling.c and targets.c.
 */
#ifndef MIX_LIVE_H
#define MIX_LIVE_H

#include "base/process.h"
#include "mix/mix.h"
#include "pmu/ring.h"

struct live {
	const struct tact_mix_record_options *opt;
	struct tact_mix_recorded *out;
	int *targets; /* threads; -1: all */
	unsigned n_targets;
	int *cpus;
	unsigned n_cpus;
	int *fds; /* events: of the first one, then of the second */
	size_t n_fds;
	struct pmu_ring *rings;
	size_t n_rings;
	struct pmu_attr attrs[2];
	size_t n_attrs;
	struct pmu_writer *writer;
	struct process process; /* the program; all zeros: none */
	pid_t child;
	bool is_released; /* the program */
	char **paths;	  /* of files that were mapped */
	size_t n_paths, paths_capacity;
};

/* Prime sampling periods for a run of about this many seconds (HBBP paper, table 4). */
void mix_periods(double seconds, uint64_t *ebs, uint64_t *lbr);

/* Finds the threads and CPUs to record. */
int live_targets(struct live *l, struct tact_diag *diag);
void live_fini(struct live *l);

/* Writes what runs already: maps and names; and the kernel. */
void live_write_known(struct live *l);
void live_note_path(struct live *l, const char *path, size_t size);
void live_write_build_ids(struct live *l);

#endif /* MIX_LIVE_H */
