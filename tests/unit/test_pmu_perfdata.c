/* SPDX-License-Identifier: MIT
 *
 * perf.data: what is written is read; what is cut short, malformed or foreign is refused; rings.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "pmu/perfdata.h"
#include "pmu/ring.h"

#include "perf_attrs.h"
#include "support.h"

static const struct pmu_attr attrs[2] = PERF_ATTRS(1009, 101);
static const uint64_t ids[2] = {11, 22};

struct file {
	char path[32];
	uint8_t *bytes;
	size_t size;
};

static void make_path(struct file *f)
{
	int fd;

	strcpy(f->path, "/tmp/tact-perfdata-XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
}

static void write_bytes(const struct file *f, const void *bytes, size_t size)
{
	int fd = open(f->path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void load(struct file *f)
{
	int fd = open(f->path, O_RDONLY);

	f->size = (size_t)lseek(fd, 0, SEEK_END);
	f->bytes = malloc(f->size + 1);
	assert_int_equal(pread(fd, f->bytes, f->size, 0), (ssize_t)f->size);
	close(fd);
}

static void drop(struct file *f)
{
	unlink(f->path);
	free(f->bytes);
}

static void write_records(struct pmu_writer *w)
{
	const uint8_t id[20] = {1, 2, 3};
	const struct pmu_branch stack[3] = {
		{0x30, 0x10, 2}, {0x20, 0x28, 1 | 7 << 4}, {0x40, 0x18, 2}};
	struct pmu_map map = {.address = 0x400000,
			      .size = 0x1000,
			      .offset = 0x2000,
			      .path = "/bin/x",
			      .build_id = id,
			      .build_id_size = 20,
			      .is_executable = true};
	struct pmu_sample s = {.ip = 0x400010, .time = 77, .period = 1009, .pid = 5, .tid = 6};

	pmu_writer_comm(w, 5, 6, "prog", true, 70);
	pmu_writer_map(w, 5, &map, PMU_MODE_USER, 71);
	pmu_writer_task(w, false, 8, 9, 5, 6, 72);
	pmu_writer_sample(w, 0, &s, PMU_MODE_USER);
	s.n_branches = 3;
	s.branches = (const uint8_t *)stack;
	s.period = 101;
	pmu_writer_sample(w, 1, &s, PMU_MODE_KERNEL);
	pmu_writer_task(w, true, 8, 9, 5, 6, 73);
}

static void make(struct file *f)
{
	char one[] = "prog", two[] = "an argument", *argv[] = {one, two, NULL};
	const uint8_t id[20] = {1, 2, 3};
	struct pmu_writer *w;

	make_path(f);
	assert_int_equal(pmu_writer_create(&w, f->path, attrs, 2, ids, 1, NULL), 0);
	write_records(w);
	pmu_writer_build_id(w, 5, PMU_MODE_USER, "/bin/x", id, 20);
	pmu_writer_command(w, argv);
	assert_int_equal(pmu_writer_finish(w, NULL), 0);
	load(f);
}

/* Reads all; returns the status at the end. */
static int read_all(const char *path, unsigned count[8], struct tact_diag *diag)
{
	struct pmu_reader *r;
	struct pmu_record record;
	int status = pmu_reader_open(&r, path, diag);

	memset(count, 0, 8 * sizeof(*count));
	if (status < 0)
		return status;
	while ((status = pmu_reader_next(r, &record, diag)) > 0)
		count[record.type]++;
	pmu_reader_close(r);
	return status;
}

TEST(test_round_trip)
{
	struct file f;
	struct pmu_reader *r;
	struct pmu_record x;
	struct pmu_branch b;
	uint8_t id[PMU_MAX_BUILD_ID];

	make(&f);
	assert_int_equal(pmu_reader_open(&r, f.path, NULL), 0);
	assert_int_equal(pmu_reader_attr_count(r), 2);
	assert_string_equal(pmu_reader_attr(r, 0)->name, "inst_retired.prec_dist");
	assert_string_equal(pmu_reader_attr(r, 1)->name, "br_inst_retired.near_taken");
	assert_int_equal(pmu_reader_attr(r, 1)->period, 101);
	assert_int_equal(pmu_reader_attr(r, 0)->precise, 3);
	assert_null(pmu_reader_attr(r, 2));
	assert_string_equal(pmu_reader_command(r), "prog an argument");
	assert_int_equal(pmu_reader_build_id(r, "/bin/x", id), 20);
	assert_int_equal(id[2], 3);
	assert_int_equal(pmu_reader_build_id(r, "/bin/y", id), 0);

	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.type, PMU_RECORD_COMM);
	assert_string_equal(x.comm, "prog");
	assert_true(x.is_exec);
	assert_int_equal(x.time, 70);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.type, PMU_RECORD_MAP);
	assert_string_equal(x.map.path, "/bin/x");
	assert_int_equal(x.map.offset, 0x2000);
	assert_int_equal(x.map.build_id_size, 20);
	assert_true(x.map.is_executable);
	assert_int_equal(x.time, 71);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.type, PMU_RECORD_FORK);
	assert_int_equal(x.pid, 8);
	assert_int_equal(x.parent_tid, 6);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.type, PMU_RECORD_SAMPLE);
	assert_int_equal(x.sample.attr, 0);
	assert_int_equal(x.sample.ip, 0x400010);
	assert_int_equal(x.sample.tid, 6);
	assert_int_equal(x.sample.n_branches, 0);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.sample.attr, 1);
	assert_int_equal(x.sample.period, 101);
	assert_int_equal(x.mode, PMU_MODE_KERNEL);
	assert_int_equal(x.sample.n_branches, 3);
	b = pmu_branch_get(&x.sample, 1);
	assert_int_equal(b.from, 0x20);
	assert_int_equal(pmu_branch_cycles(&b), 7);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.type, PMU_RECORD_EXIT);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 0);
	assert_int_equal(pmu_reader_totals(r)->samples, 2);
	assert_int_equal(pmu_reader_totals(r)->branches, 3);

	assert_int_equal(pmu_reader_rewind(r), 0);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.type, PMU_RECORD_COMM);
	pmu_reader_close(r);
	drop(&f);
}

/* Cut anywhere: an error with a text, or every complete record. */
TEST(test_cut)
{
	struct tact_diag diag;
	unsigned count[8];
	struct file f;
	uint64_t end;

	make(&f);
	memcpy(&end, f.bytes + 40, 8); /* data.offset */
	end += *(uint64_t *)(f.bytes + 48);
	for (size_t n = 0; n < f.size; n++) {
		int status;

		memset(&diag, 0, sizeof(diag));
		write_bytes(&f, f.bytes, n);
		status = read_all(f.path, count, &diag);
		assert_int_equal(status, n < end ? -TACT_E_FORMAT : 0);
		if (status < 0)
			assert_true(diag.text[0] != '\0');
	}
	drop(&f);
}

/* perf was killed: the header claims that there are no data. */
TEST(test_unfinished)
{
	unsigned count[8];
	struct file f;
	uint64_t end, zero = 0;

	make(&f);
	memcpy(&end, f.bytes + 40, 8);
	end += *(uint64_t *)(f.bytes + 48);
	memcpy(f.bytes + 48, &zero, 8);
	write_bytes(&f, f.bytes, (size_t)end);
	assert_int_equal(read_all(f.path, count, NULL), 0);
	assert_int_equal(count[PMU_RECORD_SAMPLE], 2);
	write_bytes(&f, f.bytes, (size_t)end - 4);
	assert_int_equal(read_all(f.path, count, NULL), -TACT_E_FORMAT);
	drop(&f);
}

TEST(test_foreign)
{
	struct tact_diag diag;
	unsigned count[8];
	struct file f;

	make(&f);
	memcpy(f.bytes, "2ELIFREP", 8);
	write_bytes(&f, f.bytes, f.size);
	assert_int_equal(read_all(f.path, count, &diag), -TACT_E_VERSION);
	assert_non_null(strstr(diag.text, "byte order"));
	memcpy(f.bytes, "PERFFILE", 8);
	write_bytes(&f, f.bytes, f.size);
	assert_int_equal(read_all(f.path, count, &diag), -TACT_E_VERSION);
	memcpy(f.bytes, "\177ELF\2\1\1\0", 8);
	write_bytes(&f, f.bytes, f.size);
	assert_int_equal(read_all(f.path, count, &diag), -TACT_E_FORMAT);
	assert_int_equal(read_all("/nonexistent", count, &diag), -TACT_E_IO);
	assert_int_equal(read_all("/", count, &diag), -TACT_E_FORMAT);
	drop(&f);
}

/* ---- pipes, compressed records, unknown records ---- */

static void add_record(struct bytes *b, uint32_t type, const void *body, size_t size)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)(sizeof(h) + size)};

	put_bytes(b, &h, sizeof(h));
	put_bytes(b, body, size);
}

/* The file's events and records in pipe form. */
static void make_pipe(const struct file *f, struct bytes *b, bool is_compressed)
{
	const uint64_t head[2] = {*(const uint64_t *)f->bytes, 16};
	uint64_t entry, attrs_at, data_at, data_size;
	uint8_t packed[4096], attr[256];
	size_t n;

	memcpy(&entry, f->bytes + 16, 8);
	memcpy(&attrs_at, f->bytes + 24, 8);
	memcpy(&data_at, f->bytes + 40, 8);
	memcpy(&data_size, f->bytes + 48, 8);
	put_bytes(b, head, sizeof(head));
	for (int i = 0; i < 2; i++) {
		n = (size_t)entry - 16;
		memcpy(attr, f->bytes + attrs_at + (size_t)i * entry, n);
		memcpy(attr + n, &ids[i], 8);
		add_record(b, 64, attr, n + 8);
	}
	add_record(b, 99, "nobody knows...", 16);
	if (!is_compressed) {
		put_bytes(b, f->bytes + data_at, (size_t)data_size);
		return;
	}
	/* In two parts: a record may be cut between them. */
	n = ZSTD_compress(packed, sizeof(packed), f->bytes + data_at, (size_t)data_size, 1);
	assert_false(ZSTD_isError(n));
	add_record(b, 81, packed, n / 2);
	add_record(b, 81, packed + n / 2, n - n / 2);
}

TEST(test_pipe)
{
	for (int is_compressed = 0; is_compressed < 2; is_compressed++) {
		struct bytes b = {.size = 0};
		struct pmu_reader *r;
		struct pmu_record x;
		unsigned samples = 0;
		struct file f;
		int fds[2];

		make(&f);
		make_pipe(&f, &b, is_compressed);
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(write(fds[1], b.data, b.size), (ssize_t)b.size);
		close(fds[1]);
		assert_int_equal(pmu_reader_open_fd(&r, fds[0], NULL), 0);
		while (pmu_reader_next(r, &x, NULL) > 0)
			samples += x.type == PMU_RECORD_SAMPLE && x.sample.attr == samples;
		assert_int_equal(samples, 2);
		assert_int_equal(pmu_reader_attr_count(r), 2);
		assert_int_equal(pmu_reader_totals(r)->unknown, 1);
		assert_int_equal(pmu_reader_totals(r)->is_compressed, is_compressed);
		assert_int_equal(pmu_reader_rewind(r), -TACT_E_IO);
		pmu_reader_close(r);
		drop(&f);
	}
}

TEST(test_damaged_compression)
{
	struct bytes b = {.size = 0};
	struct tact_diag diag;
	unsigned count[8];
	struct file f;

	make(&f);
	make_pipe(&f, &b, true);
	memset(b.data + b.size - 40, 0x5a, 30);
	write_bytes(&f, b.data, b.size);
	assert_int_equal(read_all(f.path, count, &diag), -TACT_E_FORMAT);
	drop(&f);
}

/* A recording in which nothing happened was read as one that was killed, features and all. */
TEST(test_empty)
{
	unsigned count[8];
	struct pmu_writer *w;
	struct file f = {.bytes = NULL};

	make_path(&f);
	assert_int_equal(pmu_writer_create(&w, f.path, attrs, 2, ids, 1, NULL), 0);
	assert_int_equal(pmu_writer_finish(w, NULL), 0);
	assert_int_equal(read_all(f.path, count, NULL), 0);
	assert_int_equal(count[PMU_RECORD_SAMPLE], 0);
	drop(&f);
}

/* A record of the other form of branch stacks: with an index first, and events that cannot be told
 * apart.
 */
TEST(test_forms)
{
	struct pmu_attr other[2] = {attrs[1], attrs[1]};
	const struct pmu_branch stack[2] = {{1, 2, 0}, {3, 4, 0}};
	struct pmu_sample s = {.n_branches = 2, .branches = (const uint8_t *)stack};
	struct tact_diag diag;
	struct pmu_writer *w;
	struct pmu_reader *r;
	struct pmu_record x;
	unsigned count[8];
	struct file f = {.bytes = NULL};

	make_path(&f);
	other[0].branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
	assert_int_equal(pmu_writer_create(&w, f.path, other, 1, ids, 1, NULL), 0);
	pmu_writer_sample(w, 0, &s, PMU_MODE_USER);
	assert_int_equal(pmu_writer_finish(w, NULL), 0);
	assert_int_equal(pmu_reader_open(&r, f.path, NULL), 0);
	assert_int_equal(pmu_reader_next(r, &x, NULL), 1);
	assert_int_equal(x.sample.n_branches, 2);
	assert_int_equal(pmu_branch_get(&x.sample, 1).to, 4);
	pmu_reader_close(r);

	other[0].sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	other[1].sample_type = PERF_SAMPLE_IP;
	assert_int_equal(pmu_writer_create(&w, f.path, other, 2, ids, 1, NULL), 0);
	assert_int_equal(pmu_writer_finish(w, NULL), 0);
	assert_int_equal(read_all(f.path, count, &diag), -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "told apart"));
	drop(&f);
}

TEST(test_writer_fails)
{
	struct tact_diag diag;
	struct pmu_writer *w;
	struct pmu_sample s = {0};

	assert_int_equal(pmu_writer_create(&w, "/nonexistent/x", attrs, 2, ids, 1, &diag),
			 -TACT_E_IO);
	assert_int_equal(pmu_writer_create(&w, "/dev/full", attrs, 0, ids, 1, &diag),
			 -TACT_E_INVAL);
	assert_int_equal(pmu_writer_create(&w, "/dev/full", attrs, 2, ids, 1, &diag), 0);
	for (int i = 0; i < 10000; i++)
		pmu_writer_sample(w, 0, &s, PMU_MODE_USER);
	assert_int_equal(pmu_writer_finish(w, &diag), -TACT_E_IO);
	assert_non_null(strstr(diag.text, "written"));
	pmu_writer_abandon(NULL);
	pmu_reader_close(NULL);
}

/* ---- rings, as they were recorded ---- */

struct taken {
	uint8_t bytes[4096];
	size_t size;
	unsigned records, of_type[16];
};

static void take(void *arg, const void *bytes, size_t size)
{
	struct taken *t = arg;

	memcpy(t->bytes + t->size, bytes, size);
	t->size += size;
}

static void watch(void *arg, const struct perf_event_header *h)
{
	struct taken *t = arg;

	t->records++;
	t->of_type[h->type & 15]++;
}

/* The records of a file, put into a ring so that one wraps around its end at every possible place.
 */
TEST(test_ring)
{
	uint64_t at, size, head;
	const uint64_t ring_size = 1024;
	uint8_t ring[1024];
	struct taken t;
	struct file f;

	make(&f);
	memcpy(&at, f.bytes + 40, 8);
	memcpy(&size, f.bytes + 48, 8);
	assert_true(size < ring_size);
	for (uint64_t tail = 0; tail < 2 * ring_size; tail += 8) {
		memset(ring, 0xee, sizeof(ring));
		for (uint64_t i = 0; i < size; i++)
			ring[(tail + i) % ring_size] = f.bytes[at + i];
		memset(&t, 0, sizeof(t));
		head = tail + size;
		assert_int_equal(pmu_ring_take(ring, ring_size, tail, head, take, watch, &t), head);
		assert_int_equal(t.size, size);
		assert_memory_equal(t.bytes, f.bytes + at, size);
		assert_int_equal(t.records, 6);
		assert_int_equal(t.of_type[PERF_RECORD_SAMPLE], 2);
		/* A record whose end has not arrived yet is left for the next time. */
		memset(&t, 0, sizeof(t));
		assert_true(pmu_ring_take(ring, ring_size, tail, head - 8, take, NULL, &t) <
			    head - 8);
	}
	memset(ring, 0, sizeof(ring)); /* a record of size 0 */
	assert_int_equal(pmu_ring_take(ring, ring_size, 64, 128, take, watch, &t), 64);
	assert_int_equal(pmu_ring_take(ring, ring_size, 0, 4096, take, watch, &t), 0);
	drop(&f);
}

RUN_TESTS(NULL, NULL)
