/* SPDX-License-Identifier: MIT
 *
 * Internals of reading perf.data: the file, its events, its features.
 */
#ifndef PMU_PERFDATA_PRIV_H
#define PMU_PERFDATA_PRIV_H

#include <linux/perf_event.h>
#include <zstd.h>

#include "base/hash.h"
#include "pmu/perfdata.h"

/* perf's own record types, numbered after the kernel's (tools/lib/perf/include/perf/event.h). */
enum {
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_HEADER_EVENT_TYPE = 65,
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_HEADER_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_HEADER_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_COMPRESSED2 = 83,
	PERFDATA_LAST_KNOWN = 83,
	PERFDATA_LAST_KERNEL = 21 /* AUX_OUTPUT_HW_ID, Linux 5.16 */
};

/* Features that are read or written (tools/perf/util/header.h). */
enum {
	PERFDATA_FEAT_BUILD_ID = 2,
	PERFDATA_FEAT_ARCH = 6,
	PERFDATA_FEAT_CMDLINE = 11,
	PERFDATA_FEAT_EVENT_DESC = 12,
	PERFDATA_FEAT_BRANCH_STACK = 15,
	PERFDATA_FEATURES = 256
};

#define PERFDATA_MAGIC	       "PERFILE2"
#define PERFDATA_MAGIC_SWAPPED "2ELIFREP"
#define PERFDATA_MAGIC_OLD     "PERFFILE"

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	char magic[8];
	uint64_t size, attr_size;
	struct perfdata_section attrs, data, event_types;
	uint64_t features[PERFDATA_FEATURES / 64];
};

struct perfdata_build_id {
	char *path; /* owned */
	uint8_t id[PMU_MAX_BUILD_ID];
	uint8_t size;
};

/* Bytes that are read ahead: from the file, or out of compressed records. */
struct perfdata_buffer {
	uint8_t *data;
	size_t begin, end, capacity;
};

struct pmu_reader {
	int fd;
	bool is_pipe, is_seekable, at_end;
	struct perfdata_header header;
	uint64_t file_size;
	uint64_t position, data_end; /* of the file's records; data_end UINT64_MAX: to the end */
	struct perfdata_buffer file, plain;
	bool in_plain; /* records come out of `plain` until it is empty */
	ZSTD_DStream *zstd;

	struct pmu_attr *attrs;
	size_t n_attrs, attrs_capacity;
	struct perfdata_id {
		uint64_t id;
		uint32_t attr;
	} * ids; /* owned */
	size_t n_ids, ids_capacity;
	struct hash id_index; /* of ids */
	struct perfdata_build_id *build_ids;
	size_t n_build_ids, build_ids_capacity;
	char *command; /* owned */
	struct pmu_totals totals;
};

/* Reads an event from the bytes of a struct perf_event_attr of any version. */
int perfdata_add_attr(struct pmu_reader *r, const uint8_t *attr, size_t size,
		      struct tact_diag *diag);
struct perfdata_id *perfdata_find_id(const struct pmu_reader *r, uint64_t id); /* NULL: none */
int perfdata_add_id(struct pmu_reader *r, uint64_t id, size_t attr);
int perfdata_add_build_ids(struct pmu_reader *r, const uint8_t *data, size_t size);
int perfdata_feature(struct pmu_reader *r, unsigned feature, const uint8_t *data, size_t size);
int perfdata_read_features(struct pmu_reader *r, struct tact_diag *diag);

/* Fills the record from its bytes.  Returns whether it is long enough. */
bool perfdata_parse(struct pmu_reader *r, const struct perf_event_header *header,
		    const uint8_t *bytes, struct pmu_record *out);

static inline uint64_t perfdata_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t perfdata_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#endif /* PMU_PERFDATA_PRIV_H */
