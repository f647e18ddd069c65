/* SPDX-License-Identifier: MIT
 *
 * Files that processes have mapped to execute them.
 */
#include "trace/native_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "trace/wire.h"

enum { MAX_MODULES = 65000 };

void native_maps_fini(struct native_maps *x)
{
	for (size_t i = 0; i < x->n_modules; i++)
		free(x->modules[i].path);
	for (size_t i = 0; i < x->n_processes; i++)
		free(x->processes[i].maps);
	FREE_ALL(x->modules, x->processes);
}

static uint32_t intern_module(struct native_maps *x, const struct native_module *like)
{
	for (size_t i = x->n_modules; i-- > 0;) {
		const struct native_module *m = &x->modules[i];

		if (m->begin == like->begin && m->end == like->end && m->offset == like->offset &&
		    !strcmp(m->path, like->path))
			return (uint32_t)i + 1;
	}
	if (x->n_modules >= MAX_MODULES ||
	    tact_grow(&x->modules, &x->modules_capacity, x->n_modules + 1, sizeof(*x->modules)))
		return 0;
	x->modules[x->n_modules] = *like;
	x->modules[x->n_modules].path = strdup(like->path);
	return x->modules[x->n_modules].path ? (uint32_t)++x->n_modules : 0;
}

static struct native_mapped *find_process(struct native_maps *x, uint32_t pid)
{
	for (size_t i = 0; i < x->n_processes; i++)
		if (x->processes[i].pid == pid)
			return &x->processes[i];
	if (tact_grow(&x->processes, &x->processes_capacity, x->n_processes + 1,
		      sizeof(*x->processes)))
		return NULL;
	x->processes[x->n_processes] = (struct native_mapped){.pid = pid};
	return &x->processes[x->n_processes++];
}

int native_maps_read(struct native_maps *x, uint32_t pid, char *text, size_t size)
{
	struct native_mapped *p = find_process(x, pid);
	char *line = text, *end;

	if (!p)
		return -TACT_E_NOMEM;
	p->n_maps = 0;
	for (; line < text + size && (end = memchr(line, '\n', (size_t)(text + size - line)));
	     line = end + 1) {
		struct native_module m = {0};
		int path_at = 0;
		char right;

		*end = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %*s %*s %n",
			   &m.begin, &m.end, &right, &m.offset, &path_at) < 4 ||
		    right != 'x' || !path_at || line[path_at] != '/' ||
		    strlen(line + path_at) >= WIRE_MAX_PATH)
			continue;
		m.path = line + path_at;
		if (tact_grow(&p->maps, &p->maps_capacity, p->n_maps + 1, sizeof(*p->maps)))
			return -TACT_E_NOMEM;
		p->maps[p->n_maps++] =
			(struct native_mapping){m.begin, m.end, intern_module(x, &m)};
	}
	return 0;
}

uint32_t native_maps_find(struct native_maps *x, uint32_t pid, uint64_t address)
{
	const struct native_mapped *p = find_process(x, pid);

	for (size_t i = 0; p && i < p->n_maps; i++)
		if (address >= p->maps[i].begin && address < p->maps[i].end)
			return p->maps[i].module;
	return 0;
}
