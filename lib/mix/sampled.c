/* SPDX-License-Identifier: MIT
 *
 * A recording -> counters by address.
 *
 * Two events are wanted (HBBP paper, section V.A): retired instructions, whose instruction pointers
 * are the EBS data, and taken branches, whose branch stacks are the LBR data.  If one is missing,
 * the other is used, and the rung says so.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mix/generated_code.h"

/* Records from here on, counted from the newest, are old enough to be independent of where their
 * stack ends: skid is a few branches.
 */
enum { SETTLED = 4 };

enum role { ROLE_OTHER, ROLE_CLOCK, ROLE_CYCLES, ROLE_INSTRUCTIONS, ROLE_TAKEN };

/* An event of a process; they are put in order of time. */
struct happening {
	struct pmu_record record;
	struct mix_map map;
	char comm[16];
	size_t order;
	bool is_kernel;
};

struct sampler {
	struct tact_mix *mix;
	struct pmu_reader *reader;
	bool is_chosen;
	int ebs, lbr; /* numbers of events; -1: none */
	struct happening *happenings;
	size_t n, capacity;
	/* of the previous sample */
	uint32_t pid, tid, thread, process, epoch;
	uint64_t epoch_from, epoch_until;
	bool has_last;
	double depth_sum;
	uint64_t stacks;
};

/* ---- events ---- */

static bool has(const char *name, const char *part)
{
	return strcasestr(name, part) != NULL;
}

static enum role role_by_name(const char *name)
{
	if (has(name, "taken") || has(name, "brn_tkn"))
		return ROLE_TAKEN;
	if (has(name, "inst_retired") || has(name, "instructions") || has(name, "ret_instr"))
		return ROLE_INSTRUCTIONS;
	if (has(name, "cpu-clock") || has(name, "task-clock"))
		return ROLE_CLOCK;
	if (has(name, "cycles") || has(name, "cpu_clk"))
		return ROLE_CYCLES;
	return ROLE_OTHER;
}

/* Intel's BR_INST_RETIRED.NEAR_TAKEN is event c4, umask 20; BR_INST_EXEC.TAKEN is 88, umask 80 and
 * its parts; AMD's taken branches are c4, umask 0.  INST_RETIRED is event c0, or the fixed counter
 * 0100 on Ice Lake.
 */
static enum role role_by_code(const struct pmu_attr *a)
{
	unsigned event = a->config & 0xff, umask = a->config >> 8 & 0xff;

	if (a->type == PERF_TYPE_SOFTWARE)
		return a->config <= PERF_COUNT_SW_TASK_CLOCK ? ROLE_CLOCK : ROLE_OTHER;
	if (a->type == PERF_TYPE_HARDWARE)
		return a->config == PERF_COUNT_HW_INSTRUCTIONS ? ROLE_INSTRUCTIONS
		       : a->config == PERF_COUNT_HW_CPU_CYCLES ? ROLE_CYCLES
							       : ROLE_OTHER;
	if (a->type != PERF_TYPE_RAW)
		return ROLE_OTHER;
	if ((event == 0xc4 && (umask == 0x20 || !umask)) || event == 0x88)
		return ROLE_TAKEN;
	if (event == 0xc0 || (event == 0 && umask == 1))
		return ROLE_INSTRUCTIONS;
	return event == 0x3c ? ROLE_CYCLES : ROLE_OTHER;
}

static enum role role_of(const struct pmu_attr *a)
{
	enum role role = a->name[0] ? role_by_name(a->name) : ROLE_OTHER;

	return role == ROLE_OTHER ? role_by_code(a) : role;
}

static bool has_stack(const struct pmu_attr *a)
{
	return a->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

/* Finds the best event for each of the two. */
static void choose(struct sampler *s)
{
	int best_ebs = 0, best_lbr = 0;

	s->ebs = s->lbr = -1;
	for (size_t i = 0; i < pmu_reader_attr_count(s->reader); i++) {
		const struct pmu_attr *a = pmu_reader_attr(s->reader, i);
		enum role role = role_of(a);
		int ebs = role == ROLE_TAKEN ? 0 : 1 + (int)role;
		int lbr = !has_stack(a) ? 0 : role == ROLE_TAKEN ? 2 : 1;

		if (ebs > best_ebs && a->sample_type & PERF_SAMPLE_IP) {
			best_ebs = ebs;
			s->ebs = (int)i;
		}
		if (lbr > best_lbr) {
			best_lbr = lbr;
			s->lbr = (int)i;
		}
	}
	s->is_chosen = true;
}

static enum tact_mix_rung rung_of(const struct sampler *s)
{
	const struct pmu_attr *ebs = s->ebs < 0 ? NULL : pmu_reader_attr(s->reader, (size_t)s->ebs);
	const struct pmu_attr *lbr = s->lbr < 0 ? NULL : pmu_reader_attr(s->reader, (size_t)s->lbr);
	enum role role = ebs ? role_of(ebs) : ROLE_OTHER;

	if (lbr && has(lbr->name, "brn_tkn"))
		return TACT_MIX_RUNG_AMD;
	if (lbr && role_of(lbr) == ROLE_TAKEN && role == ROLE_INSTRUCTIONS)
		return TACT_MIX_RUNG_LBR;
	if (lbr)
		return TACT_MIX_RUNG_STACKS;
	if (role == ROLE_INSTRUCTIONS)
		return ebs->precise ? TACT_MIX_RUNG_PRECISE : TACT_MIX_RUNG_INSTRUCTIONS;
	return role == ROLE_CLOCK ? TACT_MIX_RUNG_CLOCK : TACT_MIX_RUNG_CYCLES;
}

/* ---- what happened to processes ---- */

static int make_map(struct sampler *s, const struct pmu_record *r, struct mix_map *map,
		    bool *is_kernel)
{
	const struct pmu_map *m = &r->map;
	struct mix_module *module;
	long number;

	*is_kernel = mix_is_kernel(m->address) || m->path[0] == '['
			     ? r->pid == MIX_NONE || mix_is_kernel(m->address)
			     : false;
	/* Old versions of perf map the kernel from 0 on; the offset then says where it is linked
	 * to.
	 */
	*map = (struct mix_map){m->address, m->address + m->size, m->offset, 0};
	if (r->pid == MIX_NONE && m->path[0] == '[') {
		*is_kernel = true;
		if (!mix_is_kernel(map->begin))
			map->begin = m->offset;
	}
	if (map->end < map->begin)
		map->end = UINT64_MAX;
	number = mix_modules_find(&s->mix->modules, m->path, *is_kernel);
	if (number < 0)
		return (int)number;
	map->module = (uint32_t)number;
	if (*is_kernel && m->path[0] == '[')
		map->offset = map->begin;
	module = &s->mix->modules.items[number];
	if (!module->build_id_size) {
		if (m->build_id_size) {
			memcpy(module->build_id, m->build_id, m->build_id_size);
			module->build_id_size = m->build_id_size;
		} else {
			module->build_id_size =
				(uint8_t)pmu_reader_build_id(s->reader, m->path, module->build_id);
		}
	}
	return 0;
}

/* A JIT maps its dump to say that it writes one: the code that the dump has is mapped instead.  All
 * of it counts from then on; where an address was used again, the last code does.
 */
static int map_dump(struct sampler *s, const struct happening *h)
{
	struct mix_module *module = &s->mix->modules.items[h->map.module];
	struct mix_map *maps;
	size_t n;
	int status = 0;

	if (module->is_loaded)
		return 0;
	maps = mix_generated_read_dump(module, &n);
	module->is_loaded = true;
	if (!maps)
		snprintf(module->why, sizeof(module->why),
			 "no dump of generated code that belongs to this user or to root");
	for (size_t i = 0; i < n && !status; i++) {
		maps[i].module = h->map.module;
		status = mix_spaces_map(&s->mix->spaces, h->record.pid, h->record.time, &maps[i],
					false);
	}
	free(maps);
	return status;
}

static int apply(struct sampler *s, const struct happening *h)
{
	struct mix_spaces *spaces = &s->mix->spaces;
	const struct pmu_record *r = &h->record;
	int status;

	switch (r->type) {
	case PMU_RECORD_MAP:
		if (mix_is_dump(s->mix->modules.items[h->map.module].path))
			return map_dump(s, h);
		return mix_spaces_map(spaces, r->pid, r->time, &h->map, h->is_kernel);
	case PMU_RECORD_FORK:
		return mix_spaces_fork(spaces, r->pid, r->parent_pid, r->time);
	case PMU_RECORD_COMM:
		status = r->is_exec ? mix_spaces_exec(spaces, r->pid, r->time) : 0;
		return status ? status : mix_spaces_comm(spaces, r->pid, r->tid, h->comm);
	default:
		return 0;
	}
}

static bool make_happening(struct sampler *s, const struct pmu_record *r, struct happening *h,
			   int *status)
{
	*status = 0;
	if (r->type != PMU_RECORD_MAP && r->type != PMU_RECORD_FORK && r->type != PMU_RECORD_COMM)
		return false;
	if (r->type == PMU_RECORD_MAP && !r->map.is_executable)
		return false;
	*h = (struct happening){.record = *r};
	if (r->type == PMU_RECORD_MAP)
		*status = make_map(s, r, &h->map, &h->is_kernel);
	else
		memcpy(h->comm, r->comm, strnlen(r->comm, sizeof(h->comm) - 1));
	return *status == 0;
}

static int compare_happenings(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	if (x->record.time != y->record.time)
		return x->record.time < y->record.time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* First pass: the rings of several CPUs are not in order of time, so that a sample may come before
 * the map that it needs.
 */
static int read_happenings(struct sampler *s, struct tact_diag *diag)
{
	struct pmu_record r;
	int status;

	while ((status = pmu_reader_next(s->reader, &r, diag)) > 0) {
		struct happening h;

		if (!make_happening(s, &r, &h, &status)) {
			if (status < 0)
				return tact_fail(diag, TACT_E_NOMEM, "out of memory");
			continue;
		}
		if (tact_grow(&s->happenings, &s->capacity, s->n + 1, sizeof(*s->happenings)))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		h.order = s->n;
		s->happenings[s->n++] = h;
	}
	if (status < 0)
		return status;
	if (s->n)
		qsort(s->happenings, s->n, sizeof(*s->happenings), compare_happenings);
	for (size_t i = 0; i < s->n; i++)
		if (apply(s, &s->happenings[i]))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return pmu_reader_rewind(s->reader);
}

/* ---- samples ---- */

static int find_epoch(struct sampler *s, const struct pmu_sample *x)
{
	struct mix_spaces *spaces = &s->mix->spaces;
	const struct mix_process *p;

	if (!s->has_last || x->pid != s->pid || x->tid != s->tid) {
		long thread = mix_spaces_thread(spaces, x->pid, x->tid);

		if (thread < 0)
			return (int)thread;
		s->pid = x->pid;
		s->tid = x->tid;
		s->thread = (uint32_t)thread;
		s->process = spaces->threads[thread].process;
		s->has_last = true;
		s->epoch_until = 0;
	}
	if (x->time && x->time >= s->epoch_from && x->time < s->epoch_until)
		return 0;
	s->epoch = mix_spaces_epoch(spaces, s->process, x->time);
	p = &spaces->processes[s->process];
	s->epoch_from = spaces->epochs[s->epoch].time;
	/* Only the last epoch is remembered: it stays open until another map comes. */
	s->epoch_until = p->epochs[p->n - 1] == s->epoch ? UINT64_MAX : 0;
	return 0;
}

static int add_stack(struct sampler *s, const struct pmu_sample *x)
{
	const uint32_t n = x->n_branches;
	const double weight = n > 1 ? (double)x->period / (n - 1) : 0;
	struct mix_tally_key key = {.epoch = s->epoch, .thread = s->thread};
	struct pmu_branch newer = n ? pmu_branch_get(x, 0) : (struct pmu_branch){0};
	struct mix_tally_entry *e;

	if (n < 2)
		return 0;
	s->depth_sum += n;
	s->stacks++;
	for (uint32_t i = 0; i < n; i++) {
		struct mix_tally_key edge = {.epoch = s->epoch, .a = newer.from, .b = newer.to};
		struct pmu_branch older;

		e = mix_tally_at(&s->mix->edges, &edge);
		if (!e)
			return -TACT_E_NOMEM;
		e->weight += weight;
		e->newest_hits += i + 1 == n;
		e->mispredicted += newer.flags & PMU_BRANCH_MISPREDICTED;
		e->settled += i >= SETTLED;
		if (i + 1 == n)
			break;
		older = pmu_branch_get(x, i + 1);
		key.a = older.to |
			(mix_is_kernel(older.from) && !mix_is_kernel(older.to) ? MIX_RESUMED : 0);
		key.b = newer.from;
		e = mix_tally_at(&s->mix->lbr, &key);
		if (!e)
			return -TACT_E_NOMEM;
		e->weight += weight;
		e->places[i * MIX_PLACES / (n - 1)] += (float)weight;
		e->settled += i >= SETTLED;
		if (!i) {
			e->newest += weight;
			e->newest_hits++;
		}
		newer = older;
	}
	return 0;
}

static int add_sample(struct sampler *s, const struct pmu_sample *x)
{
	struct tact_mix *mix = s->mix;
	int status;

	if (!s->is_chosen)
		choose(s);
	status = find_epoch(s, x);
	if (status < 0)
		return status;
	if ((int)x->attr == s->ebs) {
		struct mix_tally_key key = {s->epoch, s->thread, x->ip, 0};
		struct mix_tally_entry *e = mix_tally_at(&mix->ebs, &key);

		if (!e)
			return -TACT_E_NOMEM;
		e->weight += (double)x->period;
		mix->ebs_total += (double)x->period;
		mix->summary.ebs_samples++;
	}
	if ((int)x->attr == s->lbr) {
		mix->summary.lbr_samples += x->n_branches > 1;
		status = add_stack(s, x);
	}
	return status;
}

static int read_samples(struct sampler *s, bool with_happenings, struct tact_diag *diag)
{
	struct pmu_record r;
	int status;

	while ((status = pmu_reader_next(s->reader, &r, diag)) > 0) {
		struct happening h;

		if (r.type == PMU_RECORD_SAMPLE)
			status = add_sample(s, &r.sample);
		else if (with_happenings && make_happening(s, &r, &h, &status)) {
			status = apply(s, &h);
			s->epoch_until = 0;
		}
		if (status < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	return status;
}

/* ---- the whole ---- */

static char *event_name(const struct sampler *s, int event)
{
	static const char *const names[] = {"other event", "clock", "cycles", "instructions",
					    "taken branches"};
	const struct pmu_attr *a = event < 0 ? NULL : pmu_reader_attr(s->reader, (size_t)event);

	return strdup(!a ? "" : a->name[0] ? a->name : names[role_of(a)]);
}

static int conclude(struct sampler *s, struct tact_diag *diag)
{
	struct tact_mix *mix = s->mix;
	const struct pmu_totals *totals = pmu_reader_totals(s->reader);
	const struct pmu_attr *a;

	mix->summary.samples = totals->samples;
	mix->summary.branches = totals->branches;
	mix->summary.lost = totals->lost;
	mix->summary.throttled = totals->throttled;
	mix->summary.unknown_records = totals->unknown;
	mix->summary.bad_records = totals->bad;
	mix->summary.bytes = totals->bytes;
	if (!s->is_chosen)
		choose(s);
	if (!mix->summary.ebs_samples)
		s->ebs = -1;
	if (!mix->summary.lbr_samples)
		s->lbr = -1;
	mix->has_ebs = s->ebs >= 0;
	mix->has_lbr = s->lbr >= 0;
	if (!mix->has_ebs && !mix->has_lbr)
		return tact_fail(diag, TACT_E_NO_DATA, "it has no samples");
	mix->stack_depth = s->stacks ? s->depth_sum / (double)s->stacks : 0;
	mix->summary.rung = rung_of(s);
	mix->summary.threads = mix->spaces.n_threads;
	if (mix->has_ebs) {
		a = pmu_reader_attr(s->reader, (size_t)s->ebs);
		mix->summary.ebs_period = a->is_frequency ? 0 : a->period;
		mix->ebs_is_absolute = role_of(a) == ROLE_INSTRUCTIONS;
	}
	if (mix->has_lbr) {
		a = pmu_reader_attr(s->reader, (size_t)s->lbr);
		mix->summary.lbr_period = a->is_frequency ? 0 : a->period;
		mix->lbr_is_absolute = role_of(a) == ROLE_TAKEN;
	}
	mix->ebs_event = event_name(s, s->ebs);
	mix->lbr_event = event_name(s, s->lbr);
	mix->command = strdup(pmu_reader_command(s->reader));
	if (!mix->ebs_event || !mix->lbr_event || !mix->command)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

int mix_read_recording(struct tact_mix *mix, const char *path, struct tact_diag *diag)
{
	struct sampler s = {.mix = mix, .ebs = -1, .lbr = -1};
	bool is_pipe;
	int status;

	status = pmu_reader_open(&s.reader, path, diag);
	if (status < 0)
		return status;
	/* A pipe is read once, in the order in which it comes. */
	is_pipe = pmu_reader_rewind(s.reader) < 0 || pmu_reader_totals(s.reader)->is_pipe;
	status = is_pipe ? 0 : read_happenings(&s, diag);
	if (status >= 0)
		status = read_samples(&s, is_pipe, diag);
	if (status >= 0)
		status = conclude(&s, diag);
	free(s.happenings);
	pmu_reader_close(s.reader);
	return status;
}
