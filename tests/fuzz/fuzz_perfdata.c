/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tact/mix.h>

#include "pmu/perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t use(const struct pmu_record *r)
{
	uint64_t sum = r->time + strlen(r->comm) + strlen(r->map.path);

	for (uint32_t i = 0; i < r->sample.n_branches; i++)
		sum += pmu_branch_get(&r->sample, i).from;
	for (unsigned i = 0; i < r->map.build_id_size; i++)
		sum += r->map.build_id[i];
	return sum;
}

static void read_all(struct pmu_reader *reader)
{
	struct pmu_record record;
	struct tact_diag diag;
	uint64_t sum = 0;
	uint8_t id[PMU_MAX_BUILD_ID];

	while (pmu_reader_next(reader, &record, &diag) > 0)
		sum += use(&record);
	sum += pmu_reader_build_id(reader, "/bin/x", id) + strlen(pmu_reader_command(reader));
	for (size_t i = 0; i < pmu_reader_attr_count(reader); i++)
		sum += strlen(pmu_reader_attr(reader, i)->name);
	if (sum == 42) /* so that every byte is really read */
		pmu_reader_rewind(reader);
}

/* The code is that of a small library next to the corpus. */
static void report(const char *path)
{
	struct tact_mix_pivot_options o = {
		.size = sizeof(o), .keys = {TACT_MIX_BY_THREAD, TACT_MIX_BY_FUNCTION}, .n_keys = 2};
	struct tact_mix_pivot *pivot;
	struct tact_mix *mix;
	struct tact_diag diag;

	if (tact_mix_open(&mix, path, NULL, &diag) < 0)
		return;
	if (tact_mix_pivot_create(&pivot, mix, &o, &diag) >= 0)
		tact_mix_pivot_destroy(pivot);
	tact_mix_close(mix);
}

/* Recordings of perf: all bytes of a record can be read, reading ends, and a report can be made. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmu_reader *reader;
	struct tact_diag diag;
	char path[40];
	int fd = memfd_create("perf.data", MFD_CLOEXEC), copy;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		report(path);
		copy = lseek(fd, 0, SEEK_SET) ? -1 : dup(fd);
		if (copy >= 0 && pmu_reader_open_fd(&reader, copy, &diag) >= 0) {
			read_all(reader);
			pmu_reader_close(reader);
		}
	}
	close(fd);
	return 0;
}
