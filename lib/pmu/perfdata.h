/* SPDX-License-Identifier: MIT
 *
 * perf.data: what the kernel reports about a run, as a stream of records, and how to write such a
 * file.
 *
 * The layout is that of Linux, tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h.  Everything here survives hostile files: sizes are checked
 * before they are used, a record is known by its size alone, and records that are not understood
 * are skipped and counted.
 */
#ifndef PMU_PERFDATA_H
#define PMU_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tact/status.h>

enum {
	PMU_MAX_BUILD_ID = 20,
	PMU_MAX_ATTRS = 4096,
	PMU_NAME_SIZE = 64,
	PMU_MAX_RECORD = 65535 + 8 /* a record's size has 16 bits */
};

/* What must be known about an event to read its samples. */
struct pmu_attr {
	uint32_t type;
	uint64_t config, config1;
	uint64_t period; /* or samples per second, if is_frequency */
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;
	bool is_frequency, sample_id_all, inherit, exclude_kernel, exclude_user;
	uint8_t precise;
	char name[PMU_NAME_SIZE]; /* as recorded, or one of ours; "" if unknown */
};

/* A taken branch as it is in the file: it may be unaligned, so use pmu_branch_get. */
struct pmu_branch {
	uint64_t from, to, flags;
};

enum { PMU_BRANCH_CYCLES_SHIFT = 4, PMU_BRANCH_CYCLES_MASK = 0xffff, PMU_BRANCH_MISPREDICTED = 1 };

/* Where code was running: the CPU mode of PERF_RECORD_MISC_*. */
enum pmu_mode {
	PMU_MODE_UNKNOWN,
	PMU_MODE_KERNEL,
	PMU_MODE_USER,
	PMU_MODE_HYPERVISOR,
	PMU_MODE_GUEST_KERNEL,
	PMU_MODE_GUEST_USER
};

struct pmu_sample {
	unsigned attr; /* number of the event */
	uint64_t ip, time, period;
	uint32_t pid, tid, cpu;
	uint32_t n_branches;
	const uint8_t *branches; /* n_branches of struct pmu_branch, the newest first; in the
				    reader's buffer */
};

/* The name and the build-id are in the reader's buffer. */
struct pmu_map {
	uint64_t address, size, offset;
	const char *path;
	const uint8_t *build_id;
	uint8_t build_id_size; /* 0: none */
	bool is_executable;
};

enum pmu_record_type {
	PMU_RECORD_OTHER, /* known, but of no use here */
	PMU_RECORD_SAMPLE,
	PMU_RECORD_MAP,
	PMU_RECORD_COMM,
	PMU_RECORD_FORK,
	PMU_RECORD_EXIT,
	PMU_RECORD_LOST,
	PMU_RECORD_THROTTLE
};

struct pmu_record {
	enum pmu_record_type type;
	enum pmu_mode mode;
	uint32_t pid, tid, parent_pid, parent_tid;
	uint64_t time; /* 0: not recorded */
	uint64_t lost; /* samples */
	bool is_exec;  /* of PMU_RECORD_COMM */
	const char *comm;
	struct pmu_sample sample;
	struct pmu_map map;
};

/* Counts of what was in the file. */
struct pmu_totals {
	uint64_t records, samples, branches, bytes;
	uint64_t lost, throttled;
	uint64_t unknown; /* records of a type that we do not know */
	uint64_t bad;	  /* samples and maps that are too short for what their event promises */
	bool is_pipe, is_unfinished, is_compressed;
};

struct pmu_reader;

/* Opens a recording; "-" is standard input, which must be of pipe mode (perf record -o -).
 * Returns -TACT_E_IO; -TACT_E_FORMAT if it is not perf.data, cut short or malformed;
 * -TACT_E_VERSION for another byte order or the format of 2009; -TACT_E_NOMEM.
 */
int pmu_reader_open(struct pmu_reader **out, const char *path, struct tact_diag *diag);
int pmu_reader_open_fd(struct pmu_reader **out, int fd, struct tact_diag *diag); /* takes fd */
void pmu_reader_close(struct pmu_reader *reader); /* NULL is allowed */

/* Reads the next record.  Returns 1, 0 at the end, or -TACT_E_FORMAT, -TACT_E_IO, -TACT_E_NOMEM. */
int pmu_reader_next(struct pmu_reader *reader, struct pmu_record *record, struct tact_diag *diag);

/* Goes back to the first record.  Returns 0, or -TACT_E_IO for a pipe. */
int pmu_reader_rewind(struct pmu_reader *reader);

size_t pmu_reader_attr_count(const struct pmu_reader *reader); /* grows while a pipe is read */
const struct pmu_attr *pmu_reader_attr(const struct pmu_reader *reader, size_t i);
const struct pmu_totals *pmu_reader_totals(const struct pmu_reader *reader);
const char *pmu_reader_command(const struct pmu_reader *reader); /* "" if it is not recorded */

/* Finds the build-id that the file has for a path.  Returns its size, 0 if there is none. */
unsigned pmu_reader_build_id(const struct pmu_reader *reader, const char *path,
			     uint8_t id[PMU_MAX_BUILD_ID]);

static inline struct pmu_branch pmu_branch_get(const struct pmu_sample *sample, size_t i)
{
	struct pmu_branch b;

	memcpy(&b, sample->branches + i * sizeof(b), sizeof(b));
	return b;
}

static inline unsigned pmu_branch_cycles(const struct pmu_branch *b)
{
	return (unsigned)(b->flags >> PMU_BRANCH_CYCLES_SHIFT) & PMU_BRANCH_CYCLES_MASK;
}

/* ---- writing ---- */

struct pmu_writer;

/* Creates a file for these events.  If there are several, their samples have
 * PERF_SAMPLE_IDENTIFIER.  Each event has n_ids numbers; those of event i begin at ids[i * n_ids].
 */
int pmu_writer_create(struct pmu_writer **out, const char *path, const struct pmu_attr *attrs,
		      size_t n, const uint64_t *ids, size_t n_ids, struct tact_diag *diag);

/* Adds any number of whole records in the kernel's form.  The end reports errors. */
void pmu_writer_add(struct pmu_writer *writer, const void *records, size_t size);
void pmu_writer_map(struct pmu_writer *writer, uint32_t pid, const struct pmu_map *map,
		    enum pmu_mode mode, uint64_t time);
void pmu_writer_comm(struct pmu_writer *writer, uint32_t pid, uint32_t tid, const char *comm,
		     bool is_exec, uint64_t time);
void pmu_writer_task(struct pmu_writer *writer, bool is_exit, uint32_t pid, uint32_t tid,
		     uint32_t parent_pid, uint32_t parent_tid, uint64_t time);
void pmu_writer_sample(struct pmu_writer *writer, unsigned attr, const struct pmu_sample *sample,
		       enum pmu_mode mode);
void pmu_writer_build_id(struct pmu_writer *writer, uint32_t pid, enum pmu_mode mode,
			 const char *path, const uint8_t *id, unsigned size);
void pmu_writer_command(struct pmu_writer *writer, char *const argv[]);

/* Ends the file: header, build-ids, names.  Only now there is a file of that name.  Returns 0, or
 * -TACT_E_IO, -TACT_E_NOMEM; frees the writer.
 */
int pmu_writer_finish(struct pmu_writer *writer, struct tact_diag *diag);
void pmu_writer_abandon(struct pmu_writer *writer); /* there is no file; NULL is allowed */

/* Bytes written so far. */
uint64_t pmu_writer_size(const struct pmu_writer *writer);

#endif /* PMU_PERFDATA_H */
