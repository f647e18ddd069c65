/* SPDX-License-Identifier: MIT
 *
 * Names of generated code.  Files are read when a name is needed first, and again when they have
 * grown much or the program has ended: a running program adds to them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "obj/jit_map.h"
#include "trace/generated.h"
#include "trace/trace.h"

static const char *const FORMS[] = {"/tmp/perf-%" PRIu32 ".map", "jit-%" PRIu32 ".dump",
				    "/tmp/jit-%" PRIu32 ".dump"};

enum { N_FORMS = ARRAY_SIZE(FORMS) };

/* A file of a process. */
struct told {
	uint32_t pid;
	unsigned form;
	uint64_t size;	     /* when it was read */
	bool is_complete;    /* the program had ended */
	struct jit_map *map; /* owned; NULL: there is no file, or it is not trusted */
};

struct generated {
	struct told *files; /* owned */
	size_t n, capacity;
	struct jit_map **old; /* owned, as are they: names of theirs are in use */
	size_t n_old, old_capacity;
};

int generated_create(struct generated **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -TACT_E_NOMEM;
}

static void destroy_map(struct jit_map *map)
{
	if (map)
		jit_map_fini(map);
	free(map);
}

void generated_destroy(struct generated *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		destroy_map(g->files[i].map);
	for (size_t i = 0; i < g->n_old; i++)
		destroy_map(g->old[i]);
	FREE_ALL(g->files, g->old, g);
}

static struct told *file_of(struct generated *g, uint32_t pid, unsigned form)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->files[i].pid == pid && g->files[i].form == form)
			return &g->files[i];
	if (tact_grow(&g->files, &g->capacity, g->n + 1, sizeof(*g->files)) < 0)
		return NULL;
	g->files[g->n] = (struct told){.pid = pid, .form = form};
	return &g->files[g->n++];
}

/* Tells whether a file should be read, again or for the first time. */
static bool is_due(const struct told *t, const char *path, bool has_ended)
{
	struct stat st;

	if (t->is_complete || stat(path, &st))
		return false;
	return (uint64_t)st.st_size > (has_ended ? t->size : 2 * t->size);
}

static int read_again(struct generated *g, struct told *t, const char *path,
		      const struct tact_trace *trace)
{
	struct jit_map *map = calloc(1, sizeof(*map));
	int status;

	if (!map ||
	    (t->map && tact_grow(&g->old, &g->old_capacity, g->n_old + 1, sizeof(*g->old)) < 0)) {
		free(map);
		return -TACT_E_NOMEM;
	}
	status = jit_map_read_file(map, path, trace_get_start(trace), &t->size);
	if (status <= 0) {
		destroy_map(map);
		return status;
	}
	if (t->map)
		g->old[g->n_old++] = t->map;
	t->map = map;
	return 0;
}

static int find_in(struct generated *g, struct told *t, const struct tact_trace *trace,
		   const struct tact_trace_block *b, uint32_t offset, const char **name,
		   uint64_t *begin)
{
	const bool has_ended = trace_has_ended(trace);
	const struct jit_function *f;
	char path[64];
	int status = 0;

	snprintf(path, sizeof(path), FORMS[t->form], t->pid);
	if (is_due(t, path, has_ended))
		status = read_again(g, t, path, trace);
	t->is_complete = has_ended;
	if (status < 0 || !t->map)
		return status;
	f = jit_map_find(t->map, b->address + offset, b->code + offset, b->code_size - offset);
	if (!f)
		return 0;
	*name = jit_map_name(t->map, f);
	*begin = f->address;
	return 1;
}

int generated_find(struct generated *g, const struct tact_trace *trace,
		   const struct tact_trace_block *b, uint32_t offset, const char **name,
		   uint64_t *begin)
{
	const uint32_t *pids;
	const size_t n = trace_get_processes(trace, &pids);
	int status = 0;

	if (offset >= b->code_size)
		return 0;
	for (size_t i = 0; i < n && !status; i++)
		for (unsigned form = 0; form < N_FORMS && !status; form++) {
			struct told *t = file_of(g, pids[i], form);

			if (!t)
				return -TACT_E_NOMEM;
			status = find_in(g, t, trace, b, offset, name, begin);
		}
	return status;
}
