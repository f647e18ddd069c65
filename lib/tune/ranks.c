/* SPDX-License-Identifier: MIT
 *
 * Ranks: processes that share the work.
 *
 * All ranks have all rows and run the same program, decision by decision.  Only what costs time, the
 * items of tune_parallel, is divided: a rank computes its share, and leaves zeros for the others'.
 * One sum of integers then gives everybody all results, bit by bit as the one rank that computed an
 * item has it.  Since nothing is added that two ranks have, and each sums up the errors of all rows
 * itself, in their order, the result is the same for any number of ranks, and without any.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/ranks.h>

#include "base/beside.h"
#include "tune/ranks_wire.h"
#include "tune/tune.h"

/* ---- the module ---- */

static const char module_name[] = "tact_mpi.so";

static const struct ranks_api *load(struct tact_diag *diag)
{
	const struct ranks_api *(*get)(void);
	const struct ranks_api *api;
	char path[PATH_MAX];
	void *module;

	if (beside_find(module_name, path, sizeof(path)) < 0) {
		tact_fail(diag, TACT_E_NO_TOOL,
			  "%s is not there: install libopenmpi-dev and openmpi-bin, then 'make' "
			  "builds "
			  "it",
			  module_name);
		return NULL;
	}
	/* What MPI loads itself wants to find its names. */
	module = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
	if (!module) {
		const char *why = dlerror();

		tact_fail(diag, TACT_E_NO_TOOL, "%s cannot be loaded: %s", module_name,
			  why ? why : "no reason given");
		return NULL;
	}
	*(void **)&get = dlsym(module, RANKS_WIRE_SYMBOL);
	api = get ? get() : NULL;
	if (api && api->version == RANKS_WIRE_VERSION && api->size >= sizeof(*api))
		return api;
	tact_fail(diag, TACT_E_NO_TOOL,
		  "%s is of another version than this program: build both again", module_name);
	return NULL;
}

static int sum_by(void *group, uint64_t *values, size_t n)
{
	const struct ranks_api *api = group;

	return api->sum(values, n);
}

int tact_ranks_open(struct tact_ranks *out, struct tact_diag *diag)
{
	struct tact_ranks ranks = {.size = sizeof(ranks), .sum = sum_by};
	const struct ranks_api *api;
	char why[200] = "";

	if (!tact_can_fill(out))
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put it");
	api = load(diag);
	if (!api)
		return -TACT_E_NO_TOOL;
	if (api->open(&ranks.rank, &ranks.n, why, sizeof(why)) < 0)
		return tact_fail(diag, TACT_E_NO_TOOL, "MPI: %s", why);
	ranks.group = (void *)api;
	ranks.close = api->close;
	return tact_fill(out, &ranks, sizeof(ranks));
}

/* ---- sharing ---- */

bool tune_is_mine(const struct tact_tuner *t, size_t item)
{
	return t->opt.n_ranks < 2 || item % t->opt.n_ranks == t->opt.rank;
}

static int sum(struct tact_tuner *t, uint64_t *values, size_t n)
{
	return t->opt.sum(t->opt.group, values, n) < 0 ? -TACT_E_IO : 0;
}

int tune_agree(struct tact_tuner *t, int status)
{
	uint64_t failed = status < 0;
	int result;

	if (t->opt.n_ranks < 2)
		return status;
	result = sum(t, &failed, 1);
	return status < 0 ? status : result < 0 ? result : failed ? -TACT_E_LIMIT : status;
}

/* Number of bytes of an item in a result. */
static size_t bytes_of(const struct tune_result *r, size_t item)
{
	const size_t from = item * r->item_bytes;

	return from >= r->bytes			 ? 0
	       : r->bytes - from < r->item_bytes ? r->bytes - from
						 : r->item_bytes;
}

int tune_share(struct tact_tuner *t, size_t n, int status, const struct tune_result *results,
	       size_t n_results)
{
	size_t words = 1, at = 1;
	uint64_t *buffer;

	if (t->opt.n_ranks < 2)
		return status;
	for (size_t k = 0; k < n_results; k++)
		words += (results[k].bytes + 7) / 8;
	buffer = calloc(words, sizeof(*buffer));
	if (!buffer) /* the others would wait for ever */
		return -TACT_E_NOMEM;
	buffer[0] = status < 0;
	for (size_t k = 0; k < n_results; at += (results[k++].bytes + 7) / 8) {
		for (size_t i = 0; i < n; i++)
			if (tune_is_mine(t, i))
				memcpy((char *)(buffer + at) + i * results[k].item_bytes,
				       (char *)results[k].data + i * results[k].item_bytes,
				       bytes_of(&results[k], i));
	}
	if (sum(t, buffer, words) < 0)
		status = -TACT_E_IO;
	else if (buffer[0] && status >= 0)
		status = -TACT_E_LIMIT;
	at = 1;
	for (size_t k = 0; k < n_results && status >= 0; at += (results[k++].bytes + 7) / 8)
		memcpy(results[k].data, buffer + at, results[k].bytes);
	free(buffer);
	return status;
}

/* A hash of what all ranks must have in common. */
int tune_check_ranks(struct tact_tuner *t, struct tact_diag *diag)
{
	uint64_t hash = 0xcbf29ce484222325, sums[2];

	if (t->opt.n_ranks < 2)
		return 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct tune_row *row = &t->rows.rows[i];
		uint64_t cycles;

		memcpy(&cycles, &row->cycles, sizeof(cycles));
		hash = (hash ^ cycles) * 0x100000001b3;
		for (uint32_t k = 0; k < row->size; k++)
			hash = (hash ^ t->rows.code[row->code + k]) * 0x100000001b3;
	}
	hash = (hash ^ t->opt.seed) * 0x100000001b3;
	hash = (hash ^ (uint64_t)t->opt.method) * 0x100000001b3;
	sums[0] = hash;
	sums[1] = hash >> 32;
	if (sum(t, sums, 2) < 0)
		return tact_fail(diag, TACT_E_IO, "the other processes do not answer");
	if (sums[0] != hash * t->opt.n_ranks || sums[1] != (hash >> 32) * t->opt.n_ranks)
		return tact_fail(
			diag, TACT_E_INVAL,
			"the processes have other rows than each other: all must read the same "
			"files");
	return 0;
}
