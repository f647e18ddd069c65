/* SPDX-License-Identifier: MIT
 *
 * Parses one record of perf.data.  The fields of a sample come in the order in which
 * include/uapi/linux/perf_event.h lists the bits of sample_type; fields after the branch stack are
 * not needed.
 */
#include "pmu/perfdata_priv.h"

/* The rest of a record. */
struct cursor {
	const uint8_t *p, *end;
	bool is_good;
};

static uint64_t take64(struct cursor *c)
{
	uint64_t v;

	if (c->end - c->p < 8) {
		c->is_good = false;
		return 0;
	}
	v = perfdata_u64(c->p);
	c->p += 8;
	return v;
}

static void skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > (uint64_t)(c->end - c->p))
		c->is_good = false;
	else
		c->p += bytes;
}

static void skip_words(struct cursor *c, uint64_t n)
{
	skip(c, n > PMU_MAX_RECORD ? UINT64_MAX : 8 * n);
}

/* Finds the event that a sample belongs to.  Its number is in a place that is the same for all
 * events.
 */
static const struct pmu_attr *find_attr(const struct pmu_reader *r, const struct cursor *c,
					unsigned *number)
{
	const uint64_t type = r->n_attrs ? r->attrs[0].sample_type : 0;
	const struct perfdata_id *id;
	size_t at = 0;

	*number = 0;
	if (!r->n_attrs)
		return NULL;
	if (r->n_attrs == 1)
		return &r->attrs[0];
	if (!(type & PERF_SAMPLE_IDENTIFIER)) {
		if (!(type & PERF_SAMPLE_ID))
			return &r->attrs[0];
		at = 8 * (size_t)__builtin_popcountll(type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
	}
	if ((size_t)(c->end - c->p) < at + 8)
		return NULL;
	id = perfdata_find_id(r, perfdata_u64(c->p + at));
	if (!id)
		return NULL;
	*number = id->attr;
	return &r->attrs[id->attr];
}

static void skip_read(struct cursor *c, uint64_t format)
{
	uint64_t n = 1, each = 1;

	if (format & PERF_FORMAT_GROUP)
		n = take64(c);
	each += !!(format & PERF_FORMAT_ID) + !!(format & (1u << 4)); /* PERF_FORMAT_LOST */
	skip_words(c, !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			      !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
	skip_words(c, n > PMU_MAX_RECORD ? n : n * each);
}

static void take_branches(struct cursor *c, const struct pmu_attr *attr, struct pmu_sample *s)
{
	uint64_t n = take64(c);

	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		take64(c);
	s->branches = c->p;
	skip(c, n > PMU_MAX_RECORD ? UINT64_MAX : n * sizeof(struct pmu_branch));
	if (!c->is_good)
		return;
	s->n_branches = (uint32_t)n;
	/* Hardware that has recorded fewer branches than fit leaves the oldest entries empty. */
	while (s->n_branches) {
		struct pmu_branch b = pmu_branch_get(s, s->n_branches - 1);

		if (b.from || b.to)
			break;
		s->n_branches--;
	}
}

static bool parse_sample(struct pmu_reader *r, struct cursor *c, struct pmu_record *out)
{
	struct pmu_sample *s = &out->sample;
	const struct pmu_attr *attr = find_attr(r, c, &s->attr);
	uint64_t type;

	if (!attr)
		return false;
	type = attr->sample_type;
	s->period = attr->is_frequency ? 1 : attr->period;
	if (type & PERF_SAMPLE_IDENTIFIER)
		take64(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = take64(c);
	if (type & PERF_SAMPLE_TID) {
		uint64_t both = take64(c);

		s->pid = out->pid = (uint32_t)both;
		s->tid = out->tid = (uint32_t)(both >> 32);
	}
	if (type & PERF_SAMPLE_TIME)
		s->time = out->time = take64(c);
	skip_words(c, !!(type & PERF_SAMPLE_ADDR) + !!(type & PERF_SAMPLE_ID) +
			      !!(type & PERF_SAMPLE_STREAM_ID));
	if (type & PERF_SAMPLE_CPU)
		s->cpu = (uint32_t)take64(c);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = take64(c);
	if (type & PERF_SAMPLE_READ)
		skip_read(c, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip_words(c, take64(c));
	if (type & PERF_SAMPLE_RAW) {
		uint32_t size = c->end - c->p >= 4 ? perfdata_u32(c->p) : 0;

		skip(c, ((uint64_t)size + 4 + 7) & ~(uint64_t)7);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(c, attr, s);
	r->totals.branches += s->n_branches;
	return c->is_good;
}

/* Returns the string at p, if it ends before the record does. */
static const char *take_string(struct cursor *c)
{
	const char *s = (const char *)c->p;

	if (c->p >= c->end || !memchr(c->p, 0, (size_t)(c->end - c->p))) {
		c->is_good = false;
		return "";
	}
	return s;
}

static bool parse_map(struct cursor *c, struct pmu_record *out, bool is_second, uint16_t misc)
{
	uint64_t both = take64(c);
	struct pmu_map *m = &out->map;

	out->pid = (uint32_t)both;
	out->tid = (uint32_t)(both >> 32);
	m->address = take64(c);
	m->size = take64(c);
	m->offset = take64(c);
	m->is_executable = !(misc & PERF_RECORD_MISC_MMAP_DATA);
	if (is_second) {
		const uint8_t *id = c->p;

		skip(c, 24);
		if (!c->is_good)
			return false;
		if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID && id[0] <= PMU_MAX_BUILD_ID) {
			m->build_id_size = id[0];
			m->build_id = id + 4;
		}
		m->is_executable = (uint32_t)take64(c) & 4; /* PROT_EXEC */
	}
	m->path = take_string(c);
	return c->is_good;
}

static bool parse_task(struct cursor *c, struct pmu_record *out)
{
	uint64_t pids = take64(c), tids = take64(c);

	out->pid = (uint32_t)pids;
	out->parent_pid = (uint32_t)(pids >> 32);
	out->tid = (uint32_t)tids;
	out->parent_tid = (uint32_t)(tids >> 32);
	out->time = take64(c);
	return c->is_good;
}

static bool parse_comm(struct cursor *c, struct pmu_record *out, uint16_t misc)
{
	uint64_t both = take64(c);

	out->pid = (uint32_t)both;
	out->tid = (uint32_t)(both >> 32);
	out->is_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	out->comm = take_string(c);
	return c->is_good;
}

/* With sample_id_all, every record ends with some of the fields of a sample.  The time is one of
 * them; the bits of the fields that follow it give its distance from the end.
 */
static uint64_t trailing_time(const struct pmu_reader *r, const uint8_t *begin, const uint8_t *end)
{
	const struct pmu_attr *a = r->n_attrs ? &r->attrs[0] : NULL;
	size_t back = 8;

	if (!a || !a->sample_id_all || !(a->sample_type & PERF_SAMPLE_TIME))
		return 0;
	back += 8 * (size_t)__builtin_popcountll(a->sample_type &
						 (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
						  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
	return (size_t)(end - begin) >= back ? perfdata_u64(end - back) : 0;
}

bool perfdata_parse(struct pmu_reader *r, const struct perf_event_header *header,
		    const uint8_t *bytes, struct pmu_record *out)
{
	struct cursor c = {bytes + sizeof(*header), bytes + header->size, true};

	*out = (struct pmu_record){
		.type = PMU_RECORD_OTHER,
		.mode = (enum pmu_mode)(header->misc & PERF_RECORD_MISC_CPUMODE_MASK),
		.comm = "",
		.map = {.path = ""}};
	if (header->type != PERF_RECORD_SAMPLE)
		out->time = trailing_time(r, c.p, c.end);
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		out->type = PMU_RECORD_SAMPLE;
		return parse_sample(r, &c, out);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		out->type = PMU_RECORD_MAP;
		return parse_map(&c, out, header->type == PERF_RECORD_MMAP2, header->misc);
	case PERF_RECORD_COMM:
		out->type = PMU_RECORD_COMM;
		return parse_comm(&c, out, header->misc);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		out->type = header->type == PERF_RECORD_FORK ? PMU_RECORD_FORK : PMU_RECORD_EXIT;
		return parse_task(&c, out);
	case PERF_RECORD_LOST:
		out->type = PMU_RECORD_LOST;
		take64(&c);
		out->lost = take64(&c);
		return c.is_good;
	case PERF_RECORD_LOST_SAMPLES:
		out->type = PMU_RECORD_LOST;
		out->lost = take64(&c);
		return c.is_good;
	case PERF_RECORD_THROTTLE:
		out->type = PMU_RECORD_THROTTLE;
		return true;
	default:
		return true;
	}
}
