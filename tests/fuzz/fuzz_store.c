/* SPDX-License-Identifier: MIT
 *
 * Stores: any bytes as a file of SQLite.  Everything in it is read, what comes out is within its
 * contract; what is written into a store that can be opened is there when it is opened again, and a
 * merge into a new store takes it along.
 */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <tact/store.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz.h"

static char path[80], other[80];

static void prepare(void)
{
	const char *place = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(path, sizeof(path), "%s/tact-fuzz-%d.db", place, (int)getpid());
	snprintf(other, sizeof(other), "%s/tact-fuzz-%d-b.db", place, (int)getpid());
}

static void remove_file(const char *name)
{
	static const char *const ends[] = {"", "-journal", "-wal", "-shm"};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		char whole[100];

		snprintf(whole, sizeof(whole), "%s%s", name, ends[i]);
		unlink(whole);
	}
}

static void check_length(const char *text, size_t most)
{
	MUST(strlen(text) <= most);
}

/* What the header promises of predictions; other texts are as they are in the file, and whoever prints
 * them takes care (base/text.h).
 */
static void check_text(const char *text, size_t most)
{
	check_length(text, most);
	for (; *text; text++)
		MUST((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void read_measurements(struct tact_store *store)
{
	struct tact_store_row row = TACT_STORE_ROW_INIT;
	struct tact_store_iter *iter;

	if (tact_store_iter_create(&iter, store, NULL, NULL) < 0)
		return;
	while (tact_store_iter_next(iter, &row, NULL) > 0) {
		const struct tact_measurement *m = row.measurement;

		MUST(row.code_size > 0 && row.code_size <= TACT_BLOCK_MAX_BYTES);
		MUST(m->status != TACT_MEASURE_OK ||
		     (isfinite(m->cycles_per_iteration) && m->cycles_per_iteration > 0));
		MUST(m->mode == TACT_MODE_LOOP || m->mode == TACT_MODE_UNROLL);
		MUST(m->agree <= m->rounds && strlen(m->reason) < sizeof(m->reason));
		check_length(row.machine->brand, sizeof(row.machine->brand) - 1);
		check_length(m->reason, sizeof(m->reason) - 1);
		check_length(row.origin, TACT_STORE_NAME_MAX);
		check_length(row.version, TACT_STORE_NAME_MAX);
		check_length(row.category, TACT_STORE_NAME_MAX);
		hash_bytes(row.code, row.code_size);
		hash_bytes(row.loop_code, row.loop_code ? row.loop_size : 0);
		for (size_t i = 0; i < row.n_sources; i++)
			check_length(row.sources[i].app, TACT_STORE_NAME_MAX);
	}
	tact_store_iter_destroy(iter);
}

static void read_blocks(struct tact_store *store)
{
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;
	struct tact_store_blocks *blocks;
	uint8_t code[256];
	size_t size;

	if (tact_store_blocks_create(&blocks, store, NULL, NULL) < 0)
		return;
	while (tact_store_blocks_next(blocks, &block, NULL) > 0) {
		MUST(block.code_size > 0 && block.code_size <= TACT_BLOCK_MAX_BYTES);
		/* Table and index of a damaged file may differ. */
		if (tact_store_get_block(store, block.id, code, sizeof(code), &size, NULL) > 0)
			MUST(size > 0 && size <= TACT_BLOCK_MAX_BYTES);
		for (size_t i = 0; i < block.n_categories; i++)
			check_length(block.categories[i].label, TACT_STORE_NAME_MAX);
	}
	tact_store_blocks_destroy(blocks);
}

static void read_predictions(struct tact_store *store)
{
	struct tact_store_prediction p = TACT_STORE_PREDICTION_INIT;
	struct tact_store_predictions *predictions;
	const uint8_t *code;
	size_t size;
	int64_t block;

	if (tact_store_predictions_create(&predictions, store, NULL, NULL) < 0)
		return;
	while (tact_store_predictions_next(predictions, &block, &code, &size, &p, NULL) > 0) {
		check_text(p.status, TACT_STORE_NAME_MAX);
		check_text(p.model, TACT_STORE_NAME_MAX);
		MUST(!strcmp(p.status, "ok") ? isfinite(p.cycles_per_iteration) : *p.status);
		hash_bytes(code, size);
	}
	tact_store_predictions_destroy(predictions);
}

static const uint8_t added[] = {0x48, 0x01, 0xd8, 0x0f, 0x0b};

static bool write_row(struct tact_store *store, double cycles)
{
	struct tact_measurement m = {.size = sizeof(m),
				     .status = TACT_MEASURE_OK,
				     .cycles_per_iteration = cycles,
				     .mode = TACT_MODE_UNROLL,
				     .low = 50,
				     .high = 100,
				     .cpu = -1,
				     .rounds = 2,
				     .agree = 1};

	return tact_store_put_measurement(store, added, sizeof(added), &m, NULL) >= 0;
}

/* What was written is there, as it was; a damaged file may lose it, or give another row in its place,
 * since SQLite has no checksums.
 */
static void check_row(const char *name, double cycles, bool is_sound)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_store *store;
	int status;

	if (tact_store_open(&store, name, TACT_STORE_READONLY, NULL) < 0) {
		MUST(!is_sound);
		return;
	}
	status = tact_store_get_measurement(store, added, sizeof(added), TACT_MODE_UNROLL,
					    TACT_INIT_STACK, &m, NULL);
	MUST(status == 1 || !is_sound);
	if (status == 1)
		MUST(!is_sound ||
		     (m.cycles_per_iteration == cycles && m.low == 50 && m.agree == 1));
	tact_store_close(store);
}

static void merge(double cycles, bool is_sound)
{
	struct tact_merge merged = TACT_MERGE_INIT, again = TACT_MERGE_INIT;
	struct tact_store *store;
	int status;

	MUST(tact_store_open(&store, other, TACT_STORE_CREATE, NULL) == 0);
	status = tact_store_merge(store, path, &merged, NULL);
	if (status >= 0) {
		MUST(!is_sound || (merged.blocks > 0 && merged.measurements > 0));
		/* A second time changes nothing. */
		status = tact_store_merge(store, path, &again, NULL);
		MUST(status >= 0 || !is_sound);
		MUST(!is_sound || (!again.blocks && !again.measurements && !again.sources));
	}
	tact_store_close(store);
	if (status >= 0)
		check_row(other, cycles, is_sound);
	remove_file(other);
}

static void try_store(double cycles, bool is_sound)
{
	struct tact_store *store;
	bool is_written;

	if (tact_store_open(&store, path, TACT_STORE_READONLY, NULL) >= 0) {
		read_measurements(store);
		read_blocks(store);
		read_predictions(store);
		tact_store_close(store);
	}
	if (tact_store_open(&store, path, is_sound ? TACT_STORE_CREATE : 0, NULL) < 0)
		return;
	is_written = write_row(store, cycles);
	tact_store_close(store);
	if (!is_written)
		return;
	check_row(path, cycles, is_sound);
	merge(cycles, is_sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	if (!*path)
		prepare();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0);
	MUST(write(fd, data, size) == (ssize_t)size);
	close(fd);
	/* An empty file becomes a store, which is sound. */
	try_store(1 + (double)(hash_bytes(data, size) % 100) / 4, !size);
	remove_file(path);
	return 0;
}
