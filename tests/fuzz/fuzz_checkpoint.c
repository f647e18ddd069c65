/* SPDX-License-Identifier: MIT
 *
 * Checkpoints of tune.  After a first byte, the input is a file as it is, or changes of one that a run
 * wrote: places and what is written there; the first byte says whether the hash in the file is made
 * right again, as one who makes up a checkpoint would do.
 *
 * What must hold: what is read is a state that a run can have, and is written as it was read; what is
 * refused has a reason and leaves the state of the run as it was.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "tune/surrogate.h"

enum { WEIGHTS = 12, PARAMS = 6, CHANGE = 11 };

/* As small as a run can be: some weights, some parameters. */
struct small_run {
	struct tact_tuner tuner;
	struct surrogate s;
	struct tune_param params[PARAMS];
	float weights[3][WEIGHTS], tables[3][PARAMS];
	int values[2][PARAMS];
};

static void begin(struct small_run *r)
{
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < PARAMS; i++) {
		const struct tact_mca_info *info = tact_mca_get_info(i % TACT_MCA_N_KINDS);

		r->params[i] = (struct tune_param){.kind = (uint8_t)(i % TACT_MCA_N_KINDS),
						   .low = info->low,
						   .high = info->high};
		r->values[0][i] = r->values[1][i] = info->low + 1;
	}
	r->tuner.params = r->params;
	r->tuner.n_params = PARAMS;
	r->tuner.network = (struct tact_tune_network){
		.size = sizeof(r->tuner.network), .rounds = 3, .epochs = 4, .table_epochs = 2};
	r->s = (struct surrogate){.t = &r->tuner,
				  .net.n_weights = WEIGHTS,
				  .fingerprint = 0x1234,
				  .weights = r->weights[0],
				  .network_adam = {r->weights[1], r->weights[2], WEIGHTS, 7},
				  .table = r->tables[0],
				  .table_adam = {r->tables[1], r->tables[2], PARAMS, 3},
				  .best_values = r->values[0],
				  .centre = r->values[1],
				  .state = {PHASE_TABLE, 1, 1, 5, 0.5, 0.25, 0.125}};
}

/* A hash of the file is at the end of its header, which is what is not one of the arrays. */
static void make_right(uint8_t *file, size_t size)
{
	const size_t body =
		3 * WEIGHTS * sizeof(float) + 3 * PARAMS * sizeof(float) + 2 * PARAMS * sizeof(int);
	uint64_t hash;

	if (size < body + sizeof(hash))
		return;
	hash = hash_bytes(file + size - body, body);
	memcpy(file + size - body - sizeof(hash), &hash, sizeof(hash));
}

static void check_state(const struct small_run *r)
{
	const struct surrogate_state *now = &r->s.state;

	MUST(now->phase <= PHASE_DONE && now->round <= r->tuner.network.rounds);
	MUST(isfinite(now->loss) && !isnan(now->best) && isfinite(r->s.seconds_before));
	for (unsigned i = 0; i < WEIGHTS; i++)
		MUST(isfinite(r->weights[0][i]) && r->weights[2][i] >= 0);
	for (unsigned i = 0; i < PARAMS; i++)
		MUST(r->values[0][i] >= r->params[i].low && r->values[0][i] <= r->params[i].high);
}

static void try_file(const uint8_t *file, size_t size)
{
	static struct small_run r, again;
	struct tact_diag diag = {0};
	char path[40], copy[40];
	int fd, status, copied;

	begin(&r);
	fd = fuzz_file_open(path, file, size);
	MUST(fd >= 0);
	status = surrogate_load(&r.s, path, &diag);
	close(fd);
	MUST(status == 1 || (status < 0 && *diag.text));
	if (status < 0) {
		MUST(r.s.state.round == 1 && r.s.state.batch == 5 && r.s.network_adam.steps == 7);
		return;
	}
	check_state(&r);
	begin(&again);
	copied = fuzz_file_open(copy, file, 0);
	MUST(copied >= 0 && surrogate_save(&r.s, copy, &diag) >= 0);
	MUST(surrogate_load(&again.s, copy, &diag) == 1);
	MUST(!memcmp(r.weights, again.weights, sizeof(r.weights)));
	MUST(!memcmp(&r.s.state, &again.s.state, sizeof(r.s.state)));
	close(copied);
}

/* What a run writes; made once. */
static size_t written(uint8_t **file)
{
	static uint8_t good[4096];
	static size_t size;
	static struct small_run r;
	char path[40];
	int fd;

	*file = good;
	if (size)
		return size;
	begin(&r);
	fd = fuzz_file_open(path, good, 0);
	MUST(fd >= 0 && surrogate_save(&r.s, path, NULL) >= 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	size = (size_t)read(fd, good, sizeof(good));
	MUST(size && size < sizeof(good));
	close(fd);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *good, file[4096];
	size_t n;

	if (!size || size > sizeof(file))
		return 0;
	if (data[0] & 1) {
		memcpy(file, data + 1, n = size - 1);
	} else {
		n = written(&good);
		memcpy(file, good, n);
		for (size_t at = 1; at + CHANGE <= size; at += CHANGE) {
			const size_t place = (size_t)(data[at] | data[at + 1] << 8) % n;
			const size_t length = data[at + 2] % 9;

			memcpy(file + place, data + at + 3,
			       length < n - place ? length : n - place);
		}
	}
	if (data[0] & 2)
		make_right(file, n);
	try_file(file, n);
	return 0;
}
