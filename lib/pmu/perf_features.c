/* SPDX-License-Identifier: MIT
 *
 * What perf.data has apart from its records: events, their names, build-ids, the command.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "pmu/perfdata_priv.h"

enum {
	MAX_FEATURE = 64 << 20, /* bytes; a list of build-ids is the longest feature that we read */
	MAX_COMMAND = 4096
};

int perfdata_add_attr(struct pmu_reader *r, const uint8_t *bytes, size_t size,
		      struct tact_diag *diag)
{
	struct perf_event_attr a = {0};
	struct pmu_attr *out;

	if (size < PERF_ATTR_SIZE_VER0)
		return tact_fail(diag, TACT_E_FORMAT, "an event of %zu bytes; the least is %d",
				 size, PERF_ATTR_SIZE_VER0);
	if (r->n_attrs >= PMU_MAX_ATTRS)
		return tact_fail(diag, TACT_E_FORMAT, "more than %d events", PMU_MAX_ATTRS);
	if (tact_grow(&r->attrs, &r->attrs_capacity, r->n_attrs + 1, sizeof(*r->attrs)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	memcpy(&a, bytes, size < sizeof(a) ? size : sizeof(a));
	out = &r->attrs[r->n_attrs++];
	*out = (struct pmu_attr){
		.type = a.type,
		.config = a.config,
		.config1 = a.config1,
		.period = a.sample_period,
		.sample_type = a.sample_type,
		.read_format = a.read_format,
		.branch_sample_type = a.branch_sample_type,
		.regs_user = a.sample_regs_user,
		.regs_intr = a.sample_regs_intr,
		.is_frequency = a.freq,
		.sample_id_all = a.sample_id_all,
		.inherit = a.inherit,
		.exclude_kernel = a.exclude_kernel,
		.exclude_user = a.exclude_user,
		.precise = a.precise_ip,
	};
	return 0;
}

struct perfdata_id *perfdata_find_id(const struct pmu_reader *r, uint64_t id)
{
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&r->id_index, hash_number(id), &at)) != HASH_NONE)
		if (r->ids[i].id == id)
			return &r->ids[i];
	return NULL;
}

/* If several events claim a number, the last one gets it; 0 is not a number. */
int perfdata_add_id(struct pmu_reader *r, uint64_t id, size_t attr)
{
	struct perfdata_id *known = perfdata_find_id(r, id);

	if (!id)
		return 0;
	if (known) {
		known->attr = (uint32_t)attr;
		return 0;
	}
	if (tact_grow(&r->ids, &r->ids_capacity, r->n_ids + 1, sizeof(*r->ids)) ||
	    hash_add(&r->id_index, hash_number(id), (uint32_t)r->n_ids))
		return -TACT_E_NOMEM;
	r->ids[r->n_ids++] = (struct perfdata_id){id, (uint32_t)attr};
	return 0;
}

/* ---- build-ids ---- */

/* Each record has a header, a pid, an id of 20 bytes followed by its length, and a path. */
int perfdata_add_build_ids(struct pmu_reader *r, const uint8_t *data, size_t size)
{
	enum { ID_AT = 12, SIZE_AT = 32, PATH_AT = 36, HAS_SIZE = 1 << 15 };

	while (size > PATH_AT) {
		struct perf_event_header header;
		struct perfdata_build_id *b;
		size_t length;

		memcpy(&header, data, sizeof(header));
		if (header.size <= PATH_AT || header.size > size)
			return 0;
		if (tact_grow(&r->build_ids, &r->build_ids_capacity, r->n_build_ids + 1,
			      sizeof(*r->build_ids)))
			return -TACT_E_NOMEM;
		b = &r->build_ids[r->n_build_ids];
		memcpy(b->id, data + ID_AT, sizeof(b->id));
		b->size = header.misc & HAS_SIZE && data[SIZE_AT] <= PMU_MAX_BUILD_ID
				  ? data[SIZE_AT]
				  : PMU_MAX_BUILD_ID;
		length = strnlen((const char *)data + PATH_AT, header.size - PATH_AT);
		b->path = strndup((const char *)data + PATH_AT, length);
		if (!b->path)
			return -TACT_E_NOMEM;
		r->n_build_ids++;
		data += header.size;
		size -= header.size;
	}
	return 0;
}

unsigned pmu_reader_build_id(const struct pmu_reader *r, const char *path,
			     uint8_t id[PMU_MAX_BUILD_ID])
{
	for (size_t i = 0; i < r->n_build_ids; i++) {
		const struct perfdata_build_id *b = &r->build_ids[i];

		if (strcmp(b->path, path))
			continue;
		memcpy(id, b->id, sizeof(b->id));
		return b->size;
	}
	return 0;
}

/* ---- the others ---- */

/* Reads a string of perf's: a length of 32 bits, then that many bytes, NUL-padded.  Returns how
 * many bytes it takes.
 */
static size_t string_at(const uint8_t *data, size_t size, const char **text, size_t *length)
{
	uint32_t n;

	*text = "";
	*length = 0;
	if (size < 4)
		return 0;
	n = perfdata_u32(data);
	if (n > size - 4)
		return 0;
	*text = (const char *)data + 4;
	*length = strnlen(*text, n);
	return 4 + (size_t)n;
}

static int read_command(struct pmu_reader *r, const uint8_t *data, size_t size)
{
	uint32_t n = size >= 4 ? perfdata_u32(data) : 0;
	size_t at = 4, used = 0;
	char line[MAX_COMMAND];

	if (r->command)
		return 0;
	while (n--) {
		const char *text;
		size_t length, taken = string_at(data + at, size - at, &text, &length);

		if (!taken || used + length + 2 > sizeof(line))
			break;
		if (used)
			line[used++] = ' ';
		memcpy(line + used, text, length);
		used += length;
		at += taken;
	}
	r->command = strndup(line, used);
	return r->command ? 0 : -TACT_E_NOMEM;
}

static void set_name(struct pmu_attr *attr, const char *text, size_t length)
{
	if (length >= sizeof(attr->name))
		length = sizeof(attr->name) - 1;
	memcpy(attr->name, text, length);
	attr->name[length] = '\0';
}

/* Reads the names of the events, in their order: an attr, its ids, its name. */
static int read_names(struct pmu_reader *r, const uint8_t *data, size_t size)
{
	uint32_t n, attr_size;
	size_t at = 8;

	if (size < at)
		return 0;
	n = perfdata_u32(data);
	attr_size = perfdata_u32(data + 4);
	for (uint32_t i = 0; i < n && i < r->n_attrs; i++) {
		const char *text;
		uint32_t n_ids;
		size_t length, taken;

		if (attr_size > size - at || size - at - attr_size < 4)
			return 0;
		n_ids = perfdata_u32(data + at + attr_size);
		at += (size_t)attr_size + 4;
		taken = string_at(data + at, size - at, &text, &length);
		if (!taken)
			return 0;
		at += taken;
		set_name(&r->attrs[i], text, length);
		if (n_ids > (size - at) / 8)
			return 0;
		at += 8 * (size_t)n_ids;
	}
	return 0;
}

int perfdata_feature(struct pmu_reader *r, unsigned feature, const uint8_t *data, size_t size)
{
	switch (feature) {
	case PERFDATA_FEAT_BUILD_ID:
		return perfdata_add_build_ids(r, data, size);
	case PERFDATA_FEAT_CMDLINE:
		return read_command(r, data, size);
	case PERFDATA_FEAT_EVENT_DESC:
		return read_names(r, data, size);
	default:
		return 0;
	}
}

/* The samples count without it where a file ends early, but not where the disk fails. */
static int skip_or_fail(struct tact_diag *diag)
{
	return errno == ENODATA ? 0
				: tact_fail(diag, TACT_E_IO, "cannot be read: %s", strerror(errno));
}

/* A feature that is malformed is not a reason to reject the samples. */
static int read_feature(struct pmu_reader *r, unsigned feature, uint64_t table,
			struct tact_diag *diag)
{
	struct perfdata_section section;
	uint8_t *data;
	int status;

	if (!file_read_at(r->fd, &section, sizeof(section), table))
		return skip_or_fail(diag);
	if (section.size > MAX_FEATURE || !section.size || section.offset > r->file_size ||
	    section.size > r->file_size - section.offset)
		return 0;
	data = malloc((size_t)section.size);
	if (!data)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (!file_read_at(r->fd, data, (size_t)section.size, section.offset))
		status = skip_or_fail(diag);
	else if ((status = perfdata_feature(r, feature, data, (size_t)section.size)) < 0)
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	free(data);
	return status;
}

int perfdata_read_features(struct pmu_reader *r, struct tact_diag *diag)
{
	uint64_t table = r->header.data.offset + r->header.data.size;
	int status;

	for (unsigned f = 0; f < PERFDATA_FEATURES; f++) {
		if (!(r->header.features[f / 64] >> f % 64 & 1))
			continue;
		if (f == PERFDATA_FEAT_BUILD_ID || f == PERFDATA_FEAT_CMDLINE ||
		    f == PERFDATA_FEAT_EVENT_DESC) {
			status = read_feature(r, f, table, diag);
			if (status < 0)
				return status;
		}
		table += sizeof(struct perfdata_section);
	}
	return 0;
}
