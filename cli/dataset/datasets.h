/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact dataset` share.
 */
#ifndef TACT_DATASETS_H
#define TACT_DATASETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/dataset.h>

#include "common/output.h"
#include "common/progress.h"

/* Values of the options. */
struct dataset {
	const char **paths; /* owned; the strings belong to argv: the action, the store, files */
	size_t n_paths;

	const char *app, *host, *machine, *arch, *classifier, *model, *version;
	int mode, init; /* -1: not given */
	int unit;
	bool is_second_weight;

	int record;	  /* enum tact_export_kind */
	unsigned checks;  /* enum tact_lint_check; 0: all */
	double tolerance; /* percent */
	bool is_tolerance_given;
	const char *may_alias;

	const char **without; /* owned; names of hosts */
	size_t n_without;
	bool mixes_cores;

	int format; /* -1: not given */
	const char *output;
	bool is_quiet, is_verbose;
	char why[160]; /* room for a message */
};

/* Opens a store for reading, and upgrades one of an older version.  Returns NULL with the message
 * given.
 */
struct tact_store *dataset_open(const char *path);

/* The filter that the options make. */
struct tact_store_filter dataset_filter(const struct dataset *d);

/* The actions; they return an exit code. */
int dataset_import(const struct dataset *d);
int dataset_merge(const struct dataset *d);
int dataset_export(const struct dataset *d);
int dataset_stat(const struct dataset *d);
int dataset_lint(const struct dataset *d);

#endif /* TACT_DATASETS_H */
