/* SPDX-License-Identifier: MIT */
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tact/mix.h>

#include "fuzz.h"
#include "pmu/perfdata.h"

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

/* ---- what is written can be read ---- */

struct counts {
	uint64_t samples, maps, comms, tasks, ips;
};

static void count_record(struct counts *c, const struct pmu_record *r)
{
	c->samples += r->type == PMU_RECORD_SAMPLE;
	c->maps += r->type == PMU_RECORD_MAP;
	c->comms += r->type == PMU_RECORD_COMM;
	c->tasks += r->type == PMU_RECORD_FORK || r->type == PMU_RECORD_EXIT;
	if (r->type == PMU_RECORD_SAMPLE)
		c->ips = c->ips * 31 + r->sample.ip + r->sample.n_branches + r->sample.tid;
}

static void write_record(struct pmu_writer *w, const struct pmu_record *r)
{
	const bool is_exit = r->type == PMU_RECORD_EXIT;

	switch (r->type) {
	case PMU_RECORD_SAMPLE:
		pmu_writer_sample(w, r->sample.attr, &r->sample, r->mode);
		break;
	case PMU_RECORD_MAP:
		pmu_writer_map(w, r->pid, &r->map, r->mode, r->time);
		break;
	case PMU_RECORD_COMM:
		pmu_writer_comm(w, r->pid, r->tid, r->comm, r->is_exec, r->time);
		break;
	case PMU_RECORD_FORK:
	case PMU_RECORD_EXIT:
		pmu_writer_task(w, is_exit, r->pid, r->tid, r->parent_pid, r->parent_tid, r->time);
		break;
	default:
		break;
	}
}

/* Records that a writer can have: what it does not write of others makes no difference. */
static bool is_plain(const struct pmu_record *r)
{
	return r->type != PMU_RECORD_SAMPLE || (r->sample.attr == 0 && r->sample.n_branches < 64);
}

static void check_copy(const char *path, const struct counts *want)
{
	struct counts got = {0};
	struct pmu_reader *reader;
	struct pmu_record record;

	MUST(pmu_reader_open(&reader, path, NULL) >= 0);
	while (pmu_reader_next(reader, &record, NULL) > 0)
		count_record(&got, &record);
	MUST(!pmu_reader_totals(reader)->bad && !pmu_reader_totals(reader)->unknown);
	MUST(!memcmp(&got, want, sizeof(got)));
	pmu_reader_close(reader);
}

/* What was read is written as another recording, and that is read again. */
static void copy_recording(const char *from)
{
	struct pmu_attr attr = {.name = "cycles"};
	struct counts want = {0};
	const uint64_t id = 7;
	struct pmu_reader *reader;
	struct pmu_writer *writer;
	struct pmu_record record;
	char path[80];

	if (pmu_reader_open(&reader, from, NULL) < 0)
		return;
	if (!pmu_reader_attr_count(reader)) {
		pmu_reader_close(reader);
		return;
	}
	attr = *pmu_reader_attr(reader, 0);
	attr.sample_type &= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			    PERF_SAMPLE_BRANCH_STACK; /* what a writer writes */
	attr.branch_sample_type &= PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_ANY;
	attr.read_format = attr.regs_user = attr.regs_intr = 0;
	snprintf(path, sizeof(path), "%s/tact-fuzz-%d.data",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	if (pmu_writer_create(&writer, path, &attr, 1, &id, 1, NULL) >= 0) {
		while (pmu_reader_next(reader, &record, NULL) > 0) {
			if (!is_plain(&record))
				continue;
			write_record(writer, &record);
			count_record(&want, &record);
		}
		if (pmu_writer_finish(writer, NULL) >= 0)
			check_copy(path, &want);
	}
	pmu_reader_close(reader);
	unlink(path);
}

/* An interval contains its estimate. */
static void check_rows(const struct tact_mix_pivot *pivot)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;

	for (size_t i = 0; !tact_mix_pivot_get_row(pivot, i, &row); i++) {
		MUST(row.executions >= 0 && row.entries >= 0 && row.flops >= 0);
		MUST(row.error < 0 || (row.low <= row.executions && row.executions <= row.high));
	}
}

/* The cells of a row add up to it. */
static void check_cross(struct tact_mix *mix)
{
	const enum tact_mix_key columns[] = {TACT_MIX_BY_MEMORY, TACT_MIX_BY_OPERANDS};
	struct tact_mix_row row = TACT_MIX_ROW_INIT, cell = TACT_MIX_ROW_INIT;
	struct tact_mix_cross *cross;

	if (tact_mix_cross_create(&cross, &mix, 1, NULL, columns, 2, NULL) < 0)
		return;
	for (size_t i = 0; !tact_mix_pivot_get_row(tact_mix_cross_rows(cross), i, &row); i++) {
		double sum = 0;

		for (size_t j = 0; tact_mix_cross_get_cell(cross, i, j, &cell) >= 0; j++)
			sum += cell.executions;
		MUST(fabs(sum - row.executions) <= 1e-6 * row.executions);
	}
	check_rows(tact_mix_cross_columns(cross));
	tact_mix_cross_destroy(cross);
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
	if (tact_mix_pivot_create(&pivot, mix, &o, &diag) >= 0) {
		check_rows(pivot);
		tact_mix_pivot_destroy(pivot);
	}
	check_cross(mix);
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
		copy_recording(path);
		copy = lseek(fd, 0, SEEK_SET) ? -1 : dup(fd);
		if (copy >= 0 && pmu_reader_open_fd(&reader, copy, &diag) >= 0) {
			read_all(reader);
			pmu_reader_close(reader);
		}
	}
	close(fd);
	return 0;
}

/* ---- mutations: records stay records ---- */

enum { HEADER = 104, PIPE_HEADER = 16, DATA_SIZE_AT = 48, MAX_RECORDS = 512 };

static uint64_t get_64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static unsigned size_of(const uint8_t *record)
{
	return record[6] | (unsigned)record[7] << 8;
}

/* Finds where records begin.  Returns how many there are; begin[n] is where the last one ends. */
static size_t find_records(const uint8_t *data, size_t size, size_t begin[MAX_RECORDS + 1])
{
	size_t at = PIPE_HEADER, end = size, n = 0;

	if (size < PIPE_HEADER)
		return 0;
	if (get_64(data + 8) != PIPE_HEADER) {
		if (size < HEADER || get_64(data + 40) > size ||
		    get_64(data + DATA_SIZE_AT) > size - get_64(data + 40))
			return 0;
		at = get_64(data + 40);
		end = at + get_64(data + DATA_SIZE_AT);
	}
	begin[0] = at;
	while (n < MAX_RECORDS && end - at >= 8 && size_of(data + at) >= 8 &&
	       size_of(data + at) <= end - at) {
		at += size_of(data + at);
		begin[++n] = at;
	}
	return n;
}

/* Puts n bytes in the place of others; the header says how many there are now. */
static size_t put(uint8_t *data, size_t size, size_t max_size, size_t at, size_t gone,
		  const uint8_t *with, size_t n)
{
	uint64_t all;

	if (size - gone + n > max_size)
		return size;
	memmove(data + at + n, data + at + gone, size - at - gone);
	if (n)
		memcpy(data + at, with, n);
	if (get_64(data + 8) != PIPE_HEADER) {
		all = get_64(data + DATA_SIZE_AT) - gone + n;
		memcpy(data + DATA_SIZE_AT, &all, sizeof(all));
	}
	return size - gone + n;
}

/* Gives a word of a record another value: one next to it, of another record, or a special one. */
static void change_word(uint8_t *record, size_t size, const uint8_t *other, uint64_t *random)
{
	static const uint64_t special[] = {0,
					   1,
					   7,
					   8,
					   UINT32_MAX,
					   INT64_MAX,
					   UINT64_MAX,
					   UINT64_MAX - 4095,
					   0xffffffff80000000u,
					   4096};
	uint8_t *p = record + 8 + fuzz_pick(random, (size - 8) / 4) * 4;
	const size_t n = fuzz_pick(random, 2) && record + size - p >= 8 ? 8 : 4;
	uint64_t value = 0;

	memcpy(&value, p, n);
	switch (fuzz_pick(random, 4)) {
	case 0:
		value += fuzz_pick(random, 33) - 16;
		break;
	case 1:
		value = special[fuzz_pick(random, sizeof(special) / sizeof(special[0]))];
		break;
	case 2:
		if (size_of(other) >= 16)
			value = get_64(other + 8 + fuzz_pick(random, (size_of(other) - 8) / 8) * 8);
		break;
	default:
		value ^= 1ull << fuzz_pick(random, 64);
	}
	memcpy(p, &value, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint64_t random = (uint64_t)seed * 2 + 1;
	size_t begin[MAX_RECORDS + 1], n = find_records(data, size, begin), a, b, length;
	uint8_t *record, copy[512];

	if (!n || fuzz_pick(&random, 8) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	a = fuzz_pick(&random, n);
	b = fuzz_pick(&random, n);
	record = data + begin[a];
	length = begin[a + 1] - begin[a];
	switch (fuzz_pick(&random, 8)) {
	case 0: /* it goes */
		return put(data, size, max_size, begin[a], length, NULL, 0);
	case 1: /* another one comes before it */
		length = begin[b + 1] - begin[b] < sizeof(copy) ? begin[b + 1] - begin[b] : 0;
		memcpy(copy, data + begin[b], length);
		return put(data, size, max_size, begin[a], 0, copy, length);
	case 2: /* it becomes longer or shorter by a word, and says so */
		if (fuzz_pick(&random, 2) && length >= 24) {
			size = put(data, size, max_size, begin[a] + length - 8, 8, NULL, 0);
			length -= 8;
		} else if (length + 8 <= UINT16_MAX && size + 8 <= max_size) {
			memset(copy, 0, 8);
			size = put(data, size, max_size, begin[a] + length, 0, copy, 8);
			length += 8;
		}
		record[6] = (uint8_t)length;
		record[7] = (uint8_t)(length >> 8);
		return size;
	case 3: /* it is of another kind */
		record[0] = (uint8_t)(fuzz_pick(&random, 2) ? fuzz_pick(&random, 22)
							    : 64 + fuzz_pick(&random, 20));
		return size;
	default:
		if (length >= 12)
			change_word(record, length, data + begin[b], &random);
		return size;
	}
}
