/* SPDX-License-Identifier: MIT
 *
 * A run's state on disk: whatever ends the process, the next one continues from the last complete
 * file.  Simulated blocks are not in it: they are made again from the seed.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "tune/surrogate.h"

static const char magic[16] = "#tact-tune-state";
enum { VERSION = 1 };
#define MAX_STEPS ((uint64_t)1 << 53) /* exact as a double */

struct header {
	char magic[16];
	uint32_t version, header_size;
	uint64_t fingerprint;
	uint64_t n_weights, n_params, network_steps, table_steps;
	double seconds;
	struct surrogate_state state;
	uint64_t hash; /* of everything after the header */
};

struct part {
	void *data;
	size_t size;
};

/* What follows the header, in this order. */
static size_t list_parts(struct surrogate *s, struct part *parts)
{
	size_t n = s->net.n_weights * sizeof(float), k = s->t->n_params * sizeof(float);
	const struct part list[] = {
		{s->weights, n},
		{s->network_adam.m, n},
		{s->network_adam.v, n},
		{s->table, k},
		{s->table_adam.m, k},
		{s->table_adam.v, k},
		{s->best_values, s->t->n_params * sizeof(int)},
		{s->centre, s->t->n_params * sizeof(int)},
	};

	memcpy(parts, list, sizeof(list));
	return ARRAY_SIZE(list);
}

enum { MAX_PARTS = 8 };

static size_t body_size(const struct part *parts, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += parts[i].size;
	return size;
}

int surrogate_save(struct surrogate *s, const char *path, struct tact_diag *diag)
{
	struct part parts[MAX_PARTS];
	size_t n = list_parts(s, parts), body = body_size(parts, n), at = sizeof(struct header);
	char *data = calloc(1, sizeof(struct header) + body);
	struct header *h = (struct header *)data;
	int status;

	if (!data)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		memcpy(data + at, parts[i].data, parts[i].size);
		at += parts[i].size;
	}
	memcpy(h->magic, magic, sizeof(magic));
	h->version = VERSION;
	h->header_size = sizeof(*h);
	h->fingerprint = s->fingerprint;
	h->n_weights = s->net.n_weights;
	h->n_params = s->t->n_params;
	h->network_steps = s->network_adam.steps;
	h->table_steps = s->table_adam.steps;
	h->seconds = s->seconds_before + tune_seconds() - s->t->start_seconds;
	h->state = s->state;
	h->hash = hash_bytes(data + sizeof(*h), body);
	status = file_write(path, data, sizeof(*h) + body, diag);
	free(data);
	return status;
}

/* Returns 1, or 0 if there is none. */
static int read_checkpoint(const char *path, struct text *out, struct tact_diag *diag)
{
	struct stat info;
	int status;

	if (stat(path, &info) < 0)
		return errno == ENOENT ? 0 : tact_fail_errno(diag, NULL);
	if (!S_ISREG(info.st_mode))
		return tact_fail(diag, TACT_E_FORMAT, "not a checkpoint of tact tune");
	status = file_read(path, (size_t)1 << 32, out, diag);
	return status < 0 ? status : 1;
}

/* Checks a file before any of it is used. */
static int examine(const struct surrogate *s, const char *data, size_t size, size_t body,
		   struct tact_diag *diag)
{
	struct header h;

	if (size < sizeof(h) || memcmp(data, magic, sizeof(magic)))
		return tact_fail(diag, TACT_E_FORMAT, "not a checkpoint of tact tune");
	memcpy(&h, data, sizeof(h));
	if (h.version != VERSION)
		return tact_fail(diag, TACT_E_VERSION,
				 "a checkpoint of version %u; this library reads version %d",
				 h.version, VERSION);
	if (h.fingerprint != s->fingerprint || h.n_weights != s->net.n_weights ||
	    h.n_params != s->t->n_params)
		return tact_fail(diag, TACT_E_FORMAT,
				 "a checkpoint of another run: other blocks, options or seed; "
				 "remove it to start anew");
	if (h.header_size != sizeof(h) || size != sizeof(h) + body ||
	    hash_bytes(data + sizeof(h), body) != h.hash || h.state.phase > PHASE_DONE)
		return tact_fail(diag, TACT_E_FORMAT,
				 "the checkpoint is damaged or cut short; remove it to start anew");
	return 0;
}

static bool all_between(const float *x, size_t n, float low, float high)
{
	for (size_t i = 0; i < n; i++)
		if (!(x[i] >= low && x[i] <= high))
			return false;
	return true;
}

/* What was read is a state that a run can have: a hash tells what was damaged, not what was made up. */
static bool is_possible(const struct surrogate *s, const struct header *h)
{
	const struct tact_tune_network *o = &s->t->network;
	const struct surrogate_state *now = &h->state;
	const bool is_done = now->phase == PHASE_DONE;
	const size_t n = s->net.n_weights, k = s->t->n_params;

	if (now->round > o->rounds || (now->round == o->rounds && !is_done) ||
	    now->epoch > (now->phase == PHASE_NETWORK ? o->epochs : o->table_epochs) ||
	    !isfinite(now->loss) || isnan(now->best) || !(h->seconds >= 0) ||
	    !isfinite(h->seconds) || h->network_steps > MAX_STEPS || h->table_steps > MAX_STEPS)
		return false;
	if (!all_between(s->weights, n, -FLT_MAX, FLT_MAX) ||
	    !all_between(s->network_adam.m, n, -FLT_MAX, FLT_MAX) ||
	    !all_between(s->network_adam.v, n, 0, FLT_MAX) ||
	    !all_between(s->table_adam.m, k, -FLT_MAX, FLT_MAX) ||
	    !all_between(s->table_adam.v, k, 0, FLT_MAX))
		return false;
	for (size_t i = 0; i < k; i++) {
		const struct tact_mca_info *info = tact_mca_get_info(s->t->params[i].kind);
		const float most = (float)(info->high - info->low);

		if (s->best_values[i] < info->low || s->best_values[i] > info->high ||
		    (now->round && (s->centre[i] < info->low || s->centre[i] > info->high)) ||
		    !all_between(&s->table[i], 1, -most, most))
			return false;
	}
	return true;
}

int surrogate_load(struct surrogate *s, const char *path, struct tact_diag *diag)
{
	struct part parts[MAX_PARTS];
	size_t n = list_parts(s, parts), body = body_size(parts, n), at;
	struct header h;
	struct text text = {0};
	int status = read_checkpoint(path, &text, diag);

	if (status <= 0)
		goto out_free;
	status = examine(s, text.data, text.size, body, diag);
	if (status < 0)
		goto out_free;
	memcpy(&h, text.data, sizeof(h));
	at = sizeof(h);
	for (size_t i = 0; i < n; i++) {
		memcpy(parts[i].data, text.data + at, parts[i].size);
		at += parts[i].size;
	}
	if (!is_possible(s, &h)) {
		status = tact_fail(diag, TACT_E_FORMAT,
				   "the checkpoint has values that no run has; remove it to start "
				   "anew");
		goto out_free;
	}
	s->state = h.state;
	s->network_adam.steps = h.network_steps;
	s->table_adam.steps = h.table_steps;
	s->seconds_before = h.seconds;
	status = 1;
out_free:
	text_free(&text);
	return status;
}
