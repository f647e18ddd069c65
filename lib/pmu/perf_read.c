/* SPDX-License-Identifier: MIT
 *
 * Reads perf.data as a stream, through a buffer of fixed size.  Records are found by their size;
 * compressed ones (zstd) are unpacked into a second buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "pmu/perfdata_priv.h"

enum {
	FILE_BUFFER = 1 << 20,
	PLAIN_BUFFER = 1 << 20,
	MAX_IDS =
		1 << 20 /* of all events; 2^20 is enough for a thousand events on a thousand CPUs */
};

/* ---- bytes ---- */

/* Makes sure that `need` bytes are there.  Returns 1, 0 at the end of the data, or an error. */
static int fill(struct pmu_reader *r, size_t need, struct tact_diag *diag)
{
	struct perfdata_buffer *b = &r->file;

	while (b->end - b->begin < need) {
		uint64_t left = r->data_end - r->position;
		size_t room;
		ssize_t n;

		if (b->capacity - b->begin < need) {
			memmove(b->data, b->data + b->begin, b->end - b->begin);
			b->end -= b->begin;
			b->begin = 0;
		}
		room = b->capacity - b->end;
		if (room > left)
			room = (size_t)left;
		if (!room)
			return 0;
		n = read(r->fd, b->data + b->end, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tact_fail(diag, TACT_E_IO, "cannot be read: %s", strerror(errno));
		if (!n)
			return 0;
		b->end += (size_t)n;
		r->position += (uint64_t)n;
	}
	return 1;
}

static int cut_short(const struct pmu_reader *r, struct tact_diag *diag)
{
	return tact_fail_at(
		diag, TACT_E_FORMAT, 0, r->position,
		"the recording is cut short: it ends in the middle of a record, at byte "
		"%" PRIu64,
		r->position);
}

/* Skips bytes that need not be in a buffer. */
static int pass_over(struct pmu_reader *r, uint64_t bytes, struct tact_diag *diag)
{
	while (bytes) {
		size_t have, want = bytes < FILE_BUFFER / 2 ? (size_t)bytes : FILE_BUFFER / 2;
		int status = fill(r, want, diag);

		if (status <= 0)
			return status < 0 ? status : cut_short(r, diag);
		have = want;
		r->file.begin += have;
		bytes -= have;
	}
	return 0;
}

/* ---- opening ---- */

static bool section_fits(const struct pmu_reader *r, const struct perfdata_section *s)
{
	return s->offset <= r->file_size && s->size <= r->file_size - s->offset;
}

static int read_ids(struct pmu_reader *r, const struct perfdata_section *ids, size_t attr,
		    struct tact_diag *diag)
{
	uint64_t n = ids->size / 8, id;

	if (!section_fits(r, ids) || n > MAX_IDS)
		return tact_fail(diag, TACT_E_FORMAT,
				 "the numbers of an event lie outside of the file");
	for (uint64_t i = 0; i < n; i++) {
		if (!file_read_at(r->fd, &id, sizeof(id), ids->offset + 8 * i))
			return tact_fail(diag, TACT_E_IO, "cannot be read: %s", strerror(errno));
		if (perfdata_add_id(r, id, attr))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	return 0;
}

static int read_attrs(struct pmu_reader *r, struct tact_diag *diag)
{
	const uint64_t size = r->header.attr_size, tail = sizeof(struct perfdata_section);
	struct perfdata_section ids;
	uint8_t entry[1024];
	uint64_t n;

	if (size < PERF_ATTR_SIZE_VER0 + tail || size > sizeof(entry) ||
	    !section_fits(r, &r->header.attrs))
		return tact_fail(diag, TACT_E_FORMAT,
				 "its list of events is malformed or cut short");
	n = r->header.attrs.size / size;
	if (!n || n > PMU_MAX_ATTRS)
		return tact_fail(diag, TACT_E_FORMAT, "it has %" PRIu64 " events", n);
	for (uint64_t i = 0; i < n; i++) {
		int status;

		if (!file_read_at(r->fd, entry, (size_t)size, r->header.attrs.offset + i * size))
			return tact_fail(diag, TACT_E_IO, "cannot be read: %s", strerror(errno));
		status = perfdata_add_attr(r, entry, (size_t)(size - tail), diag);
		if (status < 0)
			return status;
		memcpy(&ids, entry + size - tail, sizeof(ids));
		status = read_ids(r, &ids, (size_t)i, diag);
		if (status < 0)
			return status;
	}
	return 0;
}

/* The place of an event's number must not depend on the event. */
static int check_attrs(const struct pmu_reader *r, struct tact_diag *diag)
{
	const uint64_t place = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID;

	for (size_t i = 1; i < r->n_attrs; i++) {
		uint64_t a = r->attrs[0].sample_type, b = r->attrs[i].sample_type;

		if (a & b & PERF_SAMPLE_IDENTIFIER)
			continue;
		if ((a ^ b) & place)
			return tact_fail(diag, TACT_E_FORMAT,
					 "its events cannot be told apart: their samples differ in "
					 "form and have no identifier");
	}
	return 0;
}

static int open_file(struct pmu_reader *r, struct tact_diag *diag)
{
	const struct perfdata_section *data = &r->header.data;
	int status;

	if (!r->is_seekable)
		return tact_fail(
			diag, TACT_E_FORMAT,
			"a recording of file form cannot be read from a pipe: name the file");
	if (data->offset < sizeof(r->header) || data->offset > r->file_size)
		return tact_fail(diag, TACT_E_FORMAT, "its header is malformed");
	if (data->size > r->file_size - data->offset)
		return tact_fail(
			diag, TACT_E_FORMAT,
			"the recording is cut short: its records should end at byte %" PRIu64
			", the file has %" PRIu64,
			data->offset + data->size, r->file_size);
	/* perf writes the size at the end; it is 0 if perf was killed. */
	r->totals.is_unfinished = !data->size;
	r->data_end = data->size ? data->offset + data->size : r->file_size;
	status = read_attrs(r, diag);
	if (status >= 0)
		status = check_attrs(r, diag);
	if (status >= 0 && data->size)
		status = perfdata_read_features(r, diag);
	if (status < 0)
		return status;
	return pmu_reader_rewind(r);
}

static int check_magic(const char *magic, struct tact_diag *diag)
{
	if (!memcmp(magic, PERFDATA_MAGIC, 8))
		return 0;
	if (!memcmp(magic, PERFDATA_MAGIC_SWAPPED, 8))
		return tact_fail(diag, TACT_E_VERSION,
				 "recorded on a machine of the other byte order");
	if (!memcmp(magic, PERFDATA_MAGIC_OLD, 8))
		return tact_fail(diag, TACT_E_VERSION,
				 "recorded by a perf of 2009, whose format is not supported");
	return tact_fail(diag, TACT_E_FORMAT, "not a recording of perf");
}

static int open_any(struct pmu_reader *r, struct tact_diag *diag)
{
	struct stat st;
	int status;

	if (fstat(r->fd, &st))
		return tact_fail(diag, TACT_E_IO, "cannot be read: %s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return tact_fail(
			diag, TACT_E_FORMAT,
			"a directory: recordings of perf record --threads are not supported");
	r->is_seekable = S_ISREG(st.st_mode);
	r->file_size = r->is_seekable ? (uint64_t)st.st_size : UINT64_MAX;
	if (!file_read_exactly(r->fd, &r->header, 16))
		return tact_fail(diag, TACT_E_FORMAT, "not a recording of perf");
	status = check_magic(r->header.magic, diag);
	if (status < 0)
		return status;
	r->data_end = UINT64_MAX;
	r->position = 16;
	if (r->header.size == 16) {
		r->is_pipe = r->totals.is_pipe = true;
		return 0;
	}
	if (r->header.size < sizeof(r->header) ||
	    !file_read_exactly(r->fd, (char *)&r->header + 16, sizeof(r->header) - 16))
		return tact_fail(diag, TACT_E_FORMAT, "its header is malformed or cut short");
	return open_file(r, diag);
}

int pmu_reader_open_fd(struct pmu_reader **out, int fd, struct tact_diag *diag)
{
	struct pmu_reader *r = calloc(1, sizeof(*r));
	int status = -TACT_E_NOMEM;

	if (!r) {
		close(fd);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	r->fd = fd;
	r->file.capacity = FILE_BUFFER;
	r->file.data = malloc(r->file.capacity);
	if (!r->file.data)
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else
		status = open_any(r, diag);
	return HAND_OVER(out, r, status, pmu_reader_close);
}

int pmu_reader_open(struct pmu_reader **out, const char *path, struct tact_diag *diag)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);

	if (fd < 0)
		return tact_fail(diag, TACT_E_IO, "cannot be opened: %s", strerror(errno));
	return pmu_reader_open_fd(out, fd, diag);
}

void pmu_reader_close(struct pmu_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_build_ids; i++)
		free(r->build_ids[i].path);
	ZSTD_freeDStream(r->zstd);
	free(r->build_ids);
	free(r->attrs);
	free(r->ids);
	hash_free(&r->id_index);
	free(r->command);
	free(r->file.data);
	free(r->plain.data);
	close(r->fd);
	free(r);
}

int pmu_reader_rewind(struct pmu_reader *r)
{
	const uint64_t begin = r->is_pipe ? 16 : r->header.data.offset;
	const struct pmu_totals none = {.is_pipe = r->totals.is_pipe,
					.is_unfinished = r->totals.is_unfinished};

	if (!r->is_seekable || lseek(r->fd, (off_t)begin, SEEK_SET) < 0)
		return -TACT_E_IO;
	r->position = begin;
	r->file.begin = r->file.end = 0;
	r->plain.begin = r->plain.end = 0;
	r->in_plain = false;
	if (r->zstd)
		ZSTD_initDStream(r->zstd);
	r->totals = none;
	return 0;
}

/* ---- compressed records ---- */

/* Unpacks the payload of a record, after what is left in the second buffer. */
static int unpack(struct pmu_reader *r, const uint8_t *data, size_t size, struct tact_diag *diag)
{
	ZSTD_inBuffer in = {data, size, 0};
	struct perfdata_buffer *b = &r->plain;

	r->totals.is_compressed = true;
	if (!r->zstd) {
		r->zstd = ZSTD_createDStream();
		if (!r->zstd)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		ZSTD_initDStream(r->zstd);
	}
	memmove(b->data, b->data + b->begin, b->end - b->begin);
	b->end -= b->begin;
	b->begin = 0;
	for (;;) {
		ZSTD_outBuffer to;
		size_t result;

		/* 64 MiB out of one record of 64 KiB: sampled data is never that regular. */
		if (b->capacity - b->end < PLAIN_BUFFER / 2 &&
		    (b->capacity >= 64 << 20 ||
		     tact_grow(&b->data, &b->capacity, b->capacity ? 2 * b->capacity : PLAIN_BUFFER,
			       1)))
			return tact_fail(diag, TACT_E_LIMIT,
					 "a compressed record holds more than 64 MiB");
		to = (ZSTD_outBuffer){b->data + b->end, b->capacity - b->end, 0};
		result = ZSTD_decompressStream(r->zstd, &to, &in);
		b->end += to.pos;
		if (ZSTD_isError(result))
			return tact_fail(diag, TACT_E_FORMAT, "a compressed record is damaged: %s",
					 ZSTD_getErrorName(result));
		if (in.pos == in.size && to.pos < to.size)
			return 0;
	}
}

static int start_plain(struct pmu_reader *r, const struct perf_event_header *h,
		       const uint8_t *bytes, struct tact_diag *diag)
{
	size_t head = sizeof(*h), size = h->size - head;
	int status;

	/* The second form begins with the size of its payload, and is padded. */
	if (h->type == PERFDATA_COMPRESSED2) {
		uint64_t inner = size >= 8 ? perfdata_u64(bytes + head) : UINT64_MAX;

		if (inner > size - 8)
			return tact_fail(diag, TACT_E_FORMAT, "a compressed record is malformed");
		head += 8;
		size = (size_t)inner;
	}
	if (!r->plain.data && tact_grow(&r->plain.data, &r->plain.capacity, PLAIN_BUFFER, 1))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = unpack(r, bytes + head, size, diag);
	r->in_plain = status >= 0;
	return status;
}

/* ---- records ---- */

static int add_pipe_attr(struct pmu_reader *r, const uint8_t *bytes, size_t size,
			 struct tact_diag *diag)
{
	uint32_t attr_size;
	int status;

	if (size < 8)
		return tact_fail(diag, TACT_E_FORMAT, "an event is cut short");
	attr_size = perfdata_u32(bytes + 4); /* perf_event_attr.size */
	if (!attr_size)
		attr_size = PERF_ATTR_SIZE_VER0;
	if (attr_size > size)
		return tact_fail(diag, TACT_E_FORMAT, "an event is cut short");
	status = perfdata_add_attr(r, bytes, attr_size, diag);
	for (size_t at = attr_size; status >= 0 && at + 8 <= size; at += 8)
		if (perfdata_add_id(r, perfdata_u64(bytes + at), r->n_attrs - 1))
			status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return status < 0 ? status : check_attrs(r, diag);
}

/* Handles perf's own records.  When a file of pipe mode is read again, they are already known. */
static int own_record(struct pmu_reader *r, const struct perf_event_header *h, const uint8_t *bytes,
		      struct tact_diag *diag)
{
	const uint8_t *body = bytes + sizeof(*h);
	const size_t size = h->size - sizeof(*h);

	switch (h->type) {
	case PERFDATA_HEADER_ATTR:
		return add_pipe_attr(r, body, size, diag);
	case PERFDATA_HEADER_BUILD_ID:
		if (perfdata_add_build_ids(r, bytes, h->size))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		return 0;
	case PERFDATA_HEADER_FEATURE:
		if (size >= 8 && perfdata_u64(body) < PERFDATA_FEATURES &&
		    perfdata_feature(r, (unsigned)perfdata_u64(body), body + 8, size - 8))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		return 0;
	default:
		return 0;
	}
}

/* Returns how many bytes follow a record without being part of it. */
static uint64_t trailing_bytes(const struct perf_event_header *h, const uint8_t *bytes)
{
	if (h->type == PERFDATA_AUXTRACE && h->size >= 16)
		return perfdata_u64(bytes + 8);
	if (h->type == PERFDATA_TRACING_DATA && h->size >= 12)
		return ((uint64_t)perfdata_u32(bytes + 8) + 7) & ~(uint64_t)7;
	return 0;
}

/* Finds the bytes of the next record in one of the buffers.  Returns 1, 0 at the end, or an error.
 */
static int next_bytes(struct pmu_reader *r, struct perf_event_header *h, const uint8_t **bytes,
		      struct tact_diag *diag)
{
	struct perfdata_buffer *b = &r->plain;
	int status;

	if (r->in_plain) {
		if (b->end - b->begin >= sizeof(*h)) {
			memcpy(h, b->data + b->begin, sizeof(*h));
			if (h->size < sizeof(*h))
				return tact_fail(diag, TACT_E_FORMAT,
						 "a compressed record is malformed");
			if (h->size <= b->end - b->begin) {
				*bytes = b->data + b->begin;
				b->begin += h->size;
				return 1;
			}
		}
		r->in_plain = false; /* the rest of it is in the next compressed record */
	}
	b = &r->file;
	status = fill(r, sizeof(*h), diag);
	if (status <= 0)
		return status < 0 ? status : b->end == b->begin ? 0 : cut_short(r, diag);
	memcpy(h, b->data + b->begin, sizeof(*h));
	if (h->size < sizeof(*h))
		return tact_fail_at(diag, TACT_E_FORMAT, 0, r->position - (b->end - b->begin),
				    "malformed: a record of %u bytes at byte %" PRIu64, h->size,
				    r->position - (b->end - b->begin));
	status = fill(r, h->size, diag);
	if (status <= 0)
		return status < 0 ? status : cut_short(r, diag);
	*bytes = b->data + b->begin;
	b->begin += h->size;
	r->totals.bytes += h->size;
	return 1;
}

static bool is_known(uint32_t type)
{
	return (type && type <= PERFDATA_LAST_KERNEL) ||
	       (type >= PERFDATA_HEADER_ATTR && type <= PERFDATA_LAST_KNOWN);
}

static void count(struct pmu_reader *r, bool is_good, struct pmu_record *record)
{
	if (!is_good) {
		r->totals.bad++;
		record->type = PMU_RECORD_OTHER;
		return;
	}
	r->totals.samples += record->type == PMU_RECORD_SAMPLE;
	r->totals.lost += record->lost;
	r->totals.throttled += record->type == PMU_RECORD_THROTTLE;
}

int pmu_reader_next(struct pmu_reader *r, struct pmu_record *record, struct tact_diag *diag)
{
	struct perf_event_header h;
	const uint8_t *bytes = NULL;

	for (;;) {
		int status = next_bytes(r, &h, &bytes, diag);
		uint64_t more;

		if (status <= 0)
			return status;
		r->totals.records++;
		if (!is_known(h.type)) {
			r->totals.unknown++;
			continue;
		}
		if (h.type < PERFDATA_HEADER_ATTR) {
			count(r, perfdata_parse(r, &h, bytes, record), record);
			return 1;
		}
		more = trailing_bytes(&h, bytes);
		status = h.type == PERFDATA_COMPRESSED || h.type == PERFDATA_COMPRESSED2
				 ? start_plain(r, &h, bytes, diag)
				 : own_record(r, &h, bytes, diag);
		if (status >= 0 && more)
			status = pass_over(r, more, diag);
		if (status < 0)
			return status;
	}
}

size_t pmu_reader_attr_count(const struct pmu_reader *r)
{
	return r->n_attrs;
}

const struct pmu_attr *pmu_reader_attr(const struct pmu_reader *r, size_t i)
{
	return i < r->n_attrs ? &r->attrs[i] : NULL;
}

const struct pmu_totals *pmu_reader_totals(const struct pmu_reader *r)
{
	return &r->totals;
}

const char *pmu_reader_command(const struct pmu_reader *r)
{
	return r->command ? r->command : "";
}
