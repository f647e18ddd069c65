/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Recordings of perf: all bytes that a record gives are there; reading ends. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmu_reader *reader;
	struct pmu_record record;
	struct tact_diag diag;
	volatile uint64_t sum = 0;
	uint8_t id[PMU_MAX_BUILD_ID];
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return 0;
	}
	if (pmu_reader_open_fd(&reader, fd, &diag) < 0)
		return 0;
	while (pmu_reader_next(reader, &record, &diag) > 0)
		sum += use(&record);
	sum += pmu_reader_build_id(reader, "/bin/x", id) + strlen(pmu_reader_command(reader));
	for (size_t i = 0; i < pmu_reader_attr_count(reader); i++)
		sum += strlen(pmu_reader_attr(reader, i)->name);
	pmu_reader_close(reader);
	return 0;
}
