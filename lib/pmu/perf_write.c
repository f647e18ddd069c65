/* SPDX-License-Identifier: MIT
 *
 * Writes perf.data: header, events with their numbers, records, then build-ids, the command and the
 * names of the events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "pmu/perfdata_priv.h"

enum {
	BUFFER = 1 << 18,
	NAME_ALIGN = 64, /* perf pads its strings to multiples of this */
	MAX_STACK = 1024
};

struct bytes {
	uint8_t *data;
	size_t size, capacity;
};

struct pmu_writer {
	int error;	      /* errno of the first failure */
	struct file_new file; /* owned */
	char *path;	      /* owned: for messages */
	struct perfdata_header header;
	struct pmu_attr *attrs;
	size_t n_attrs, n_ids;
	uint64_t *ids;
	uint8_t *buffer;
	size_t used;
	uint64_t written;
	struct bytes build_ids, command;
};

static void flush(struct pmu_writer *w)
{
	if (!w->error && file_write_all(w->file.fd, w->buffer, w->used))
		w->error = errno;
	w->written += w->used;
	w->used = 0;
}

static void put(struct pmu_writer *w, const void *data, size_t size)
{
	while (size) {
		size_t n = BUFFER - w->used < size ? BUFFER - w->used : size;

		memcpy(w->buffer + w->used, data, n);
		w->used += n;
		data = (const uint8_t *)data + n;
		size -= n;
		if (w->used == BUFFER)
			flush(w);
	}
}

uint64_t pmu_writer_size(const struct pmu_writer *w)
{
	return w->written + w->used;
}

/* ---- the beginning ---- */

static void fill_attr(const struct pmu_attr *a, struct perf_event_attr *out)
{
	*out = (struct perf_event_attr){
		.type = a->type,
		.size = sizeof(*out),
		.config = a->config,
		.config1 = a->config1,
		.sample_period = a->period,
		.sample_type = a->sample_type,
		.read_format = a->read_format,
		.branch_sample_type = a->branch_sample_type,
		.freq = a->is_frequency,
		.sample_id_all = a->sample_id_all,
		.inherit = a->inherit,
		.exclude_kernel = a->exclude_kernel,
		.exclude_user = a->exclude_user,
		.precise_ip = a->precise & 3,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
	};
}

static void put_head(struct pmu_writer *w)
{
	const uint64_t entry = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	const uint64_t ids_at = sizeof(w->header), ids_size = 8 * (uint64_t)w->n_ids;

	memcpy(w->header.magic, PERFDATA_MAGIC, 8);
	w->header.size = sizeof(w->header);
	w->header.attr_size = entry;
	w->header.attrs.offset = ids_at + ids_size * w->n_attrs;
	w->header.attrs.size = entry * w->n_attrs;
	w->header.data.offset = w->header.attrs.offset + w->header.attrs.size;
	put(w, &w->header, sizeof(w->header));
	put(w, w->ids, (size_t)(ids_size * w->n_attrs));
	for (size_t i = 0; i < w->n_attrs; i++) {
		struct perfdata_section ids = {ids_at + i * ids_size, ids_size};
		struct perf_event_attr attr;

		fill_attr(&w->attrs[i], &attr);
		put(w, &attr, sizeof(attr));
		put(w, &ids, sizeof(ids));
	}
}

int pmu_writer_create(struct pmu_writer **out, const char *path, const struct pmu_attr *attrs,
		      size_t n, const uint64_t *ids, size_t n_ids, struct tact_diag *diag)
{
	struct tact_diag why = {0};
	struct pmu_writer *w;
	int status;

	if (!n || n > PMU_MAX_ATTRS || !n_ids)
		return tact_fail(diag, TACT_E_INVAL, "a recording needs an event");
	w = calloc(1, sizeof(*w));
	if (!w)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	w->file.fd = -1;
	w->buffer = malloc(BUFFER);
	w->path = strdup(path);
	w->attrs = malloc(n * sizeof(*attrs));
	w->ids = malloc(n * n_ids * sizeof(*ids));
	if (!w->buffer || !w->path || !w->attrs || !w->ids) {
		pmu_writer_abandon(w);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	memcpy(w->attrs, attrs, n * sizeof(*attrs));
	memcpy(w->ids, ids, n * n_ids * sizeof(*ids));
	w->n_attrs = n;
	w->n_ids = n_ids;
	status = file_begin(&w->file, path, 0600, &why);
	if (status < 0) {
		pmu_writer_abandon(w);
		return tact_fail(diag, (enum tact_error) - status, "%.100s cannot be written: %s",
				 path, why.text);
	}
	put_head(w);
	*out = w;
	return 0;
}

/* ---- records ---- */

void pmu_writer_add(struct pmu_writer *w, const void *records, size_t size)
{
	put(w, records, size);
	w->header.data.size += size;
}

/* One that says nothing. */
static void put_nothing(struct pmu_writer *w)
{
	const struct perf_event_header h = {.type = PERFDATA_FINISHED_ROUND, .size = sizeof(h)};

	pmu_writer_add(w, &h, sizeof(h));
}

/* A record under construction. */
struct record {
	uint8_t data[8 + 8 * (MAX_STACK * 3 + 32)];
	size_t size;
};

static void begin(struct record *r, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};

	memcpy(r->data, &h, sizeof(h));
	r->size = sizeof(h);
}

static void add(struct record *r, const void *data, size_t size)
{
	memcpy(r->data + r->size, data, size);
	r->size += size;
}

static void add64(struct record *r, uint64_t v)
{
	add(r, &v, sizeof(v));
}

static void add_pair(struct record *r, uint32_t a, uint32_t b)
{
	add64(r, (uint64_t)b << 32 | a);
}

/* Adds a string, NUL-padded to a multiple of eight bytes. */
static void add_string(struct record *r, const char *text)
{
	size_t n = strnlen(text, 4095);

	add(r, text, n);
	do
		r->data[r->size++] = 0;
	while (r->size % 8);
}

static void end(struct pmu_writer *w, struct record *r)
{
	uint16_t size = (uint16_t)r->size;

	memcpy(r->data + offsetof(struct perf_event_header, size), &size, sizeof(size));
	pmu_writer_add(w, r->data, r->size);
}

/* Adds what sample_id_all appends to records other than samples. */
static void add_sample_id(struct pmu_writer *w, struct record *r, uint32_t pid, uint32_t tid,
			  uint64_t time)
{
	const struct pmu_attr *a = &w->attrs[0];

	if (!a->sample_id_all)
		return;
	if (a->sample_type & PERF_SAMPLE_TID)
		add_pair(r, pid, tid);
	if (a->sample_type & PERF_SAMPLE_TIME)
		add64(r, time);
	if (a->sample_type & PERF_SAMPLE_ID)
		add64(r, w->ids[0]);
	if (a->sample_type & PERF_SAMPLE_CPU)
		add64(r, 0);
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		add64(r, w->ids[0]);
}

void pmu_writer_map(struct pmu_writer *w, uint32_t pid, const struct pmu_map *map,
		    enum pmu_mode mode, uint64_t time)
{
	uint8_t id[24] = {0};
	struct record r;
	uint16_t misc = (uint16_t)mode;

	if (map->build_id_size && map->build_id_size <= PMU_MAX_BUILD_ID) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		id[0] = map->build_id_size;
		memcpy(id + 4, map->build_id, map->build_id_size);
	}
	begin(&r, PERF_RECORD_MMAP2, misc);
	add_pair(&r, pid, pid);
	add64(&r, map->address);
	add64(&r, map->size);
	add64(&r, map->offset);
	add(&r, id, sizeof(id));
	add_pair(&r, map->is_executable ? 5 : 1, 2); /* r-x, MAP_PRIVATE */
	add_string(&r, map->path);
	add_sample_id(w, &r, pid, pid, time);
	end(w, &r);
}

void pmu_writer_comm(struct pmu_writer *w, uint32_t pid, uint32_t tid, const char *comm,
		     bool is_exec, uint64_t time)
{
	struct record r;

	begin(&r, PERF_RECORD_COMM,
	      (uint16_t)(PMU_MODE_USER | (is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0)));
	add_pair(&r, pid, tid);
	add_string(&r, comm);
	add_sample_id(w, &r, pid, tid, time);
	end(w, &r);
}

void pmu_writer_task(struct pmu_writer *w, bool is_exit, uint32_t pid, uint32_t tid,
		     uint32_t parent_pid, uint32_t parent_tid, uint64_t time)
{
	struct record r;

	begin(&r, is_exit ? PERF_RECORD_EXIT : PERF_RECORD_FORK, PMU_MODE_UNKNOWN);
	add_pair(&r, pid, parent_pid);
	add_pair(&r, tid, parent_tid);
	add64(&r, time);
	add_sample_id(w, &r, pid, tid, time);
	end(w, &r);
}

void pmu_writer_sample(struct pmu_writer *w, unsigned attr, const struct pmu_sample *s,
		       enum pmu_mode mode)
{
	const struct pmu_attr *a = &w->attrs[attr];
	const uint64_t type = a->sample_type;
	uint32_t n = s->n_branches < MAX_STACK ? s->n_branches : MAX_STACK;
	struct record r;

	begin(&r, PERF_RECORD_SAMPLE, (uint16_t)mode);
	if (type & PERF_SAMPLE_IDENTIFIER)
		add64(&r, w->ids[attr * w->n_ids]);
	if (type & PERF_SAMPLE_IP)
		add64(&r, s->ip);
	if (type & PERF_SAMPLE_TID)
		add_pair(&r, s->pid, s->tid);
	if (type & PERF_SAMPLE_TIME)
		add64(&r, s->time);
	if (type & PERF_SAMPLE_CPU)
		add64(&r, s->cpu);
	if (type & PERF_SAMPLE_PERIOD)
		add64(&r, s->period);
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		add64(&r, n);
		if (a->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			add64(&r, 0);
		if (n)
			add(&r, s->branches, n * sizeof(struct pmu_branch));
	}
	end(w, &r);
}

/* ---- the end ---- */

static void *extend(struct pmu_writer *w, struct bytes *b, size_t size)
{
	if (tact_grow(&b->data, &b->capacity, b->size + size, 1)) {
		w->error = w->error ? w->error : ENOMEM;
		return NULL;
	}
	memset(b->data + b->size, 0, size);
	b->size += size;
	return b->data + b->size - size;
}

void pmu_writer_build_id(struct pmu_writer *w, uint32_t pid, enum pmu_mode mode, const char *path,
			 const uint8_t *id, unsigned size)
{
	enum { ID_AT = 12, SIZE_AT = 32, PATH_AT = 36, HAS_SIZE = 1 << 15 };
	const size_t length =
		(strnlen(path, 4095) + 1 + NAME_ALIGN - 1) & ~(size_t)(NAME_ALIGN - 1);
	struct perf_event_header h = {.misc = (uint16_t)((unsigned)mode | HAS_SIZE),
				      .size = (uint16_t)(PATH_AT + length)};
	uint8_t *to;

	if (!size || size > PMU_MAX_BUILD_ID)
		return;
	to = extend(w, &w->build_ids, PATH_AT + length);
	if (!to)
		return;
	memcpy(to, &h, sizeof(h));
	memcpy(to + 8, &pid, sizeof(pid));
	memcpy(to + ID_AT, id, size);
	to[SIZE_AT] = (uint8_t)size;
	memcpy(to + PATH_AT, path, strnlen(path, 4095));
}

static void add_text(struct pmu_writer *w, struct bytes *b, const char *text)
{
	uint32_t length =
		(uint32_t)(strlen(text) + 1 + NAME_ALIGN - 1) & ~(uint32_t)(NAME_ALIGN - 1);
	uint8_t *to = extend(w, b, 4 + (size_t)length);

	if (!to)
		return;
	memcpy(to, &length, sizeof(length));
	memcpy(to + 4, text, strlen(text));
}

void pmu_writer_command(struct pmu_writer *w, char *const argv[])
{
	uint32_t n = 0;
	uint8_t *to = extend(w, &w->command, sizeof(n));

	while (argv[n])
		n++;
	if (to)
		memcpy(to, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++)
		add_text(w, &w->command, argv[i]);
}

static void add_names(struct pmu_writer *w, struct bytes *b)
{
	uint32_t head[2] = {(uint32_t)w->n_attrs, sizeof(struct perf_event_attr)};
	uint8_t *to = extend(w, b, sizeof(head));

	if (to)
		memcpy(to, head, sizeof(head));
	for (size_t i = 0; i < w->n_attrs; i++) {
		uint32_t n = (uint32_t)w->n_ids;
		struct perf_event_attr attr;

		fill_attr(&w->attrs[i], &attr);
		to = extend(w, b, sizeof(attr) + sizeof(n));
		if (to) {
			memcpy(to, &attr, sizeof(attr));
			memcpy(to + sizeof(attr), &n, sizeof(n));
		}
		add_text(w, b, w->attrs[i].name);
		to = extend(w, b, 8 * (size_t)n);
		if (to)
			memcpy(to, w->ids + i * w->n_ids, 8 * (size_t)n);
	}
}

/* The table of sections comes first, then their contents. */
static void put_features(struct pmu_writer *w)
{
	struct bytes arch = {0}, names = {0};
	struct utsname machine;
	struct bytes *parts[] = {&w->build_ids, &arch, &w->command, &names, NULL};
	const unsigned numbers[] = {PERFDATA_FEAT_BUILD_ID, PERFDATA_FEAT_ARCH,
				    PERFDATA_FEAT_CMDLINE, PERFDATA_FEAT_EVENT_DESC};
	uint64_t at = pmu_writer_size(w);
	size_t n = 0;

	add_text(w, &arch, uname(&machine) ? "" : machine.machine);
	add_names(w, &names);
	for (size_t i = 0; parts[i]; i++)
		n += parts[i]->size > 0;
	at += n * sizeof(struct perfdata_section);
	for (size_t i = 0; parts[i]; i++) {
		struct perfdata_section s = {at, parts[i]->size};

		if (!s.size)
			continue;
		w->header.features[numbers[i] / 64] |= UINT64_C(1) << numbers[i] % 64;
		put(w, &s, sizeof(s));
		at += s.size;
	}
	for (size_t i = 0; parts[i]; i++)
		put(w, parts[i]->data, parts[i]->size);
	free(arch.data);
	free(names.data);
}

static void destroy(struct pmu_writer *w)
{
	free(w->build_ids.data);
	free(w->command.data);
	free(w->attrs);
	free(w->ids);
	free(w->buffer);
	free(w->path);
	free(w);
}

void pmu_writer_abandon(struct pmu_writer *w)
{
	if (!w)
		return;
	file_abandon(&w->file);
	destroy(w);
}

int pmu_writer_finish(struct pmu_writer *w, struct tact_diag *diag)
{
	struct tact_diag why = {0};
	int status;

	/* No bytes of records mean a recording that was killed, whose records end with the file. */
	if (!w->header.data.size)
		put_nothing(w);
	put_features(w);
	flush(w);
	if (!w->error && (lseek(w->file.fd, 0, SEEK_SET) < 0 ||
			  file_write_all(w->file.fd, &w->header, sizeof(w->header)) < 0))
		w->error = errno;
	if (w->error) {
		errno = w->error;
		status = tact_fail_errno(&why, NULL);
	} else {
		status = file_finish(&w->file, &why);
	}
	if (status == -TACT_E_NOMEM)
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else if (status < 0)
		status = tact_fail(diag, TACT_E_IO, "%.100s cannot be written: %s", w->path,
				   why.text);
	pmu_writer_abandon(w);
	return status;
}
