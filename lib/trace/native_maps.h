/* SPDX-License-Identifier: MIT
 *
 * Files that processes have mapped to execute them.
 */
#ifndef TRACE_NATIVE_MAPS_H
#define TRACE_NATIVE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct native_module {
	uint64_t begin, end, offset;
	char *path; /* owned */
};

struct native_mapping {
	uint64_t begin, end;
	uint32_t module;
};

struct native_mapped {
	uint32_t pid;
	struct native_mapping *maps; /* owned, sorted */
	size_t n_maps, maps_capacity;
};

struct native_maps {
	struct native_module *modules; /* owned */
	size_t n_modules, modules_capacity;
	struct native_mapped *processes; /* owned */
	size_t n_processes, processes_capacity;
};

void native_maps_fini(struct native_maps *maps);

/* Takes what a process has mapped now: /proc/PID/maps, whose lines are cut.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int native_maps_read(struct native_maps *maps, uint32_t pid, char *text, size_t size);

/* Returns the number of a module, from 1 on; 0: none, or not known. */
uint32_t native_maps_find(struct native_maps *maps, uint32_t pid, uint64_t address);

#endif /* TRACE_NATIVE_MAPS_H */
