/* SPDX-License-Identifier: MIT
 *
 * Processes, threads, and what was mapped where and when.
 *
 * The kernel tells of maps that appear, not of those that go.  As long as they do not overlap they
 * can stand side by side; a map over an older one, or a new program, begins a new epoch, from its
 * time on.
 */
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"

static long add_epoch(struct mix_spaces *s, uint32_t process, uint64_t time)
{
	if (s->n_epochs >= MIX_NONE ||
	    tact_grow(&s->epochs, &s->epochs_capacity, s->n_epochs + 1, sizeof(*s->epochs)))
		return -TACT_E_NOMEM;
	s->epochs[s->n_epochs] = (struct mix_epoch){.time = time, .process = process};
	return (long)s->n_epochs++;
}

int mix_spaces_init(struct mix_spaces *s)
{
	long kernel;

	*s = (struct mix_spaces){0};
	kernel = add_epoch(s, MIX_NONE, 0);
	if (kernel < 0)
		return (int)kernel;
	s->kernel = (uint32_t)kernel;
	return 0;
}

void mix_spaces_fini(struct mix_spaces *s)
{
	for (size_t i = 0; i < s->n_epochs; i++)
		free(s->epochs[i].maps);
	for (size_t i = 0; i < s->n_processes; i++)
		free(s->processes[i].epochs);
	free(s->epochs);
	free(s->processes);
	free(s->threads);
	free(s->process_of);
	free(s->thread_of);
	*s = (struct mix_spaces){0};
}

/* ---- processes and threads ---- */

static size_t hash32(uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 24);
}

static uint64_t process_key(const struct mix_spaces *s, uint32_t i)
{
	return s->processes[i].pid;
}

static uint64_t thread_key(const struct mix_spaces *s, uint32_t i)
{
	return (uint64_t)s->threads[i].pid << 32 | s->threads[i].tid;
}

/* Makes room for one more in an open hash of numbers, whose keys `key` tells. */
static int reserve(const struct mix_spaces *s, uint32_t **slots, size_t *n_slots, size_t n,
		   uint64_t (*key)(const struct mix_spaces *s, uint32_t i))
{
	size_t size = *n_slots ? 2 * *n_slots : 64;
	uint32_t *bigger;

	if (2 * (n + 1) <= *n_slots)
		return 0;
	bigger = calloc(size, sizeof(*bigger));
	if (!bigger)
		return -TACT_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		size_t at = hash32(key(s, i));

		while (bigger[at & (size - 1)])
			at++;
		bigger[at & (size - 1)] = i + 1;
	}
	free(*slots);
	*slots = bigger;
	*n_slots = size;
	return 0;
}

static uint32_t *slot_of(const struct mix_spaces *s, uint32_t *slots, size_t n_slots,
			 uint64_t wanted, uint64_t (*key)(const struct mix_spaces *s, uint32_t i))
{
	size_t at = hash32(wanted);

	while (slots[at & (n_slots - 1)] && key(s, slots[at & (n_slots - 1)] - 1) != wanted)
		at++;
	return &slots[at & (n_slots - 1)];
}

static int push_epoch(struct mix_spaces *s, uint32_t process, uint64_t time)
{
	struct mix_process *p = &s->processes[process];
	long epoch;

	if (tact_grow(&p->epochs, &p->capacity, p->n + 1, sizeof(*p->epochs)))
		return -TACT_E_NOMEM;
	epoch = add_epoch(s, process, time);
	if (epoch < 0)
		return (int)epoch;
	p->epochs[p->n++] = (uint32_t)epoch;
	return 0;
}

long mix_spaces_process(struct mix_spaces *s, uint32_t pid)
{
	uint32_t *slot;

	if (reserve(s, &s->process_of, &s->process_slots, s->n_processes, process_key))
		return -TACT_E_NOMEM;
	slot = slot_of(s, s->process_of, s->process_slots, pid, process_key);
	if (*slot)
		return *slot - 1;
	if (tact_grow(&s->processes, &s->processes_capacity, s->n_processes + 1,
		      sizeof(*s->processes)))
		return -TACT_E_NOMEM;
	s->processes[s->n_processes] = (struct mix_process){.pid = pid};
	if (push_epoch(s, (uint32_t)s->n_processes, 0))
		return -TACT_E_NOMEM;
	*slot = (uint32_t)++s->n_processes;
	return (long)s->n_processes - 1;
}

long mix_spaces_thread(struct mix_spaces *s, uint32_t pid, uint32_t tid)
{
	long process = mix_spaces_process(s, pid);
	uint32_t *slot;

	if (process < 0)
		return process;
	if (reserve(s, &s->thread_of, &s->thread_slots, s->n_threads, thread_key))
		return -TACT_E_NOMEM;
	slot = slot_of(s, s->thread_of, s->thread_slots, (uint64_t)pid << 32 | tid, thread_key);
	if (*slot)
		return *slot - 1;
	if (tact_grow(&s->threads, &s->threads_capacity, s->n_threads + 1, sizeof(*s->threads)))
		return -TACT_E_NOMEM;
	s->threads[s->n_threads] = (struct mix_thread){pid, tid, (uint32_t)process, ""};
	*slot = (uint32_t)++s->n_threads;
	return (long)s->n_threads - 1;
}

int mix_spaces_comm(struct mix_spaces *s, uint32_t pid, uint32_t tid, const char *comm)
{
	long thread = mix_spaces_thread(s, pid, tid);
	char *name;

	if (thread < 0)
		return (int)thread;
	name = s->threads[thread].comm;
	memset(name, 0, sizeof(s->threads[thread].comm));
	memcpy(name, comm, strnlen(comm, sizeof(s->threads[thread].comm) - 1));
	return 0;
}

/* ---- maps ---- */

/* The first map that ends behind an address. */
static size_t first_behind(const struct mix_epoch *e, uint64_t address)
{
	size_t low = 0, high = e->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->maps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct mix_epoch *e, const struct mix_map *map)
{
	size_t at = first_behind(e, map->begin);

	if (tact_grow(&e->maps, &e->capacity, e->n + 1, sizeof(*e->maps)))
		return -TACT_E_NOMEM;
	memmove(e->maps + at + 1, e->maps + at, (e->n - at) * sizeof(*e->maps));
	e->maps[at] = *map;
	e->n++;
	return 0;
}

/* What a new map leaves of the old ones. */
static int insert_rest(struct mix_epoch *e, const struct mix_map *old, const struct mix_map *hole)
{
	struct mix_map part = *old;
	int status = 0;

	if (old->end <= hole->begin || old->begin >= hole->end)
		return insert(e, old);
	if (old->begin < hole->begin) {
		part.end = hole->begin;
		status = insert(e, &part);
	}
	if (old->end > hole->end && !status) {
		part = *old;
		part.offset += hole->end - old->begin;
		part.begin = hole->end;
		status = insert(e, &part);
	}
	return status;
}

static bool is_same_map(const struct mix_map *a, const struct mix_map *b)
{
	return a->begin == b->begin && a->end == b->end && a->offset == b->offset &&
	       a->module == b->module;
}

/* The kernel's maps come first and for all time; what is loaded over an older one replaces it. */
static int map_kernel(struct mix_spaces *s, const struct mix_map *map)
{
	struct mix_epoch *e = &s->epochs[s->kernel], old = *e;
	int status = 0;

	*e = (struct mix_epoch){.process = MIX_NONE};
	for (size_t i = 0; i < old.n && !status; i++)
		status = insert_rest(e, &old.maps[i], map);
	if (!status)
		status = insert(e, map);
	free(old.maps);
	return status;
}

int mix_spaces_map(struct mix_spaces *s, uint32_t pid, uint64_t time, const struct mix_map *map,
		   bool is_kernel)
{
	struct mix_epoch *e;
	uint32_t last;
	long process;
	size_t at;

	if (is_kernel)
		return map_kernel(s, map);
	process = mix_spaces_process(s, pid);
	if (process < 0)
		return (int)process;
	last = s->processes[process].epochs[s->processes[process].n - 1];
	e = &s->epochs[last];
	at = first_behind(e, map->begin);
	if (at == e->n || e->maps[at].begin >= map->end)
		return insert(e, map);
	if (is_same_map(&e->maps[at], map))
		return 0;
	if (push_epoch(s, (uint32_t)process, time))
		return -TACT_E_NOMEM;
	e = &s->epochs[s->n_epochs - 1];
	for (size_t i = 0; i < s->epochs[last].n; i++)
		if (insert_rest(e, &s->epochs[last].maps[i], map))
			return -TACT_E_NOMEM;
	return insert(e, map);
}

int mix_spaces_exec(struct mix_spaces *s, uint32_t pid, uint64_t time)
{
	long process = mix_spaces_process(s, pid);

	return process < 0 ? (int)process : push_epoch(s, (uint32_t)process, time);
}

int mix_spaces_fork(struct mix_spaces *s, uint32_t pid, uint32_t parent, uint64_t time)
{
	long child, from;
	struct mix_epoch *to;
	uint32_t last;

	if (pid == parent) /* a thread */
		return 0;
	from = mix_spaces_process(s, parent);
	child = from < 0 ? from : mix_spaces_process(s, pid);
	if (child < 0)
		return (int)child;
	last = s->processes[from].epochs[s->processes[from].n - 1];
	if (push_epoch(s, (uint32_t)child, time))
		return -TACT_E_NOMEM;
	to = &s->epochs[s->n_epochs - 1];
	for (size_t i = 0; i < s->epochs[last].n; i++)
		if (insert(to, &s->epochs[last].maps[i]))
			return -TACT_E_NOMEM;
	return 0;
}

uint32_t mix_spaces_epoch(const struct mix_spaces *s, uint32_t process, uint64_t time)
{
	const struct mix_process *p = &s->processes[process];
	size_t i = p->n - 1;

	if (time)
		while (i && s->epochs[p->epochs[i]].time > time)
			i--;
	return p->epochs[i];
}

const struct mix_map *mix_spaces_find(const struct mix_spaces *s, uint32_t epoch, uint64_t address)
{
	const struct mix_epoch *e = &s->epochs[mix_is_kernel(address) ? s->kernel : epoch];
	size_t at = first_behind(e, address);

	return at < e->n && e->maps[at].begin <= address ? &e->maps[at] : NULL;
}
