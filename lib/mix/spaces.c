/* SPDX-License-Identifier: MIT
 *
 * Processes, threads, and what was mapped where and when.
 *
 * The kernel reports maps that appear, not maps that go.  As long as they do not overlap, they can
 * exist side by side; a map over an older one, or a new program, begins a new epoch from its time
 * on.
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
	FREE_ALL(s->epochs, s->processes, s->threads);
	hash_free(&s->process_of);
	hash_free(&s->thread_of);
	*s = (struct mix_spaces){0};
}

/* ---- processes and threads ---- */

static uint64_t thread_hash(uint32_t pid, uint32_t tid)
{
	return hash_number((uint64_t)pid << 32 | tid);
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
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&s->process_of, hash_number(pid), &at)) != HASH_NONE)
		if (s->processes[i].pid == pid)
			return i;
	if (tact_grow(&s->processes, &s->processes_capacity, s->n_processes + 1,
		      sizeof(*s->processes)) ||
	    hash_reserve(&s->process_of, s->n_processes + 1))
		return -TACT_E_NOMEM;
	s->processes[s->n_processes] = (struct mix_process){.pid = pid};
	if (push_epoch(s, (uint32_t)s->n_processes, 0))
		return -TACT_E_NOMEM;
	hash_add(&s->process_of, hash_number(pid), (uint32_t)s->n_processes);
	return (long)s->n_processes++;
}

long mix_spaces_thread(struct mix_spaces *s, uint32_t pid, uint32_t tid)
{
	long process = mix_spaces_process(s, pid);
	size_t at = 0;
	uint32_t i;

	if (process < 0)
		return process;
	while ((i = hash_next(&s->thread_of, thread_hash(pid, tid), &at)) != HASH_NONE)
		if (s->threads[i].pid == pid && s->threads[i].tid == tid)
			return i;
	if (tact_grow(&s->threads, &s->threads_capacity, s->n_threads + 1, sizeof(*s->threads)) ||
	    hash_add(&s->thread_of, thread_hash(pid, tid), (uint32_t)s->n_threads))
		return -TACT_E_NOMEM;
	s->threads[s->n_threads] = (struct mix_thread){pid, tid, (uint32_t)process, ""};
	return (long)s->n_threads++;
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

/* Returns the first map that ends after an address. */
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

/* Keeps what a new map leaves of the old ones. */
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

/* The kernel's maps come first and last for ever; a map over an older one replaces it. */
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
