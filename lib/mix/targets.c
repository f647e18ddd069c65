/* SPDX-License-Identifier: MIT
 *
 * What is recorded: threads and CPUs, their existing maps, and the build-ids of those.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mix/live.h"

enum { MAX_THREADS = 4096, MAX_PATHS = 65536 };

static int find_cpus(struct live *l)
{
	const bool is_listed = !access("/sys/devices/system/cpu/cpu0", F_OK);
	long n = sysconf(_SC_NPROCESSORS_CONF);

	l->cpus = calloc((size_t)(n > 0 ? n : 1), sizeof(*l->cpus));
	if (!l->cpus)
		return -TACT_E_NOMEM;
	for (long i = 0; i < n; i++) {
		char path[80];

		/* Where /sys is not mounted, opening an event tells those that are switched off. */
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld", i);
		if (is_listed && access(path, F_OK))
			continue;
		l->cpus[l->n_cpus++] = (int)i;
	}
	if (!l->n_cpus)
		l->n_cpus = 1;
	return 0;
}

static int find_threads(struct live *l, struct tact_diag *diag)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", l->opt->pid);
	dir = opendir(path);
	if (!dir)
		return tact_fail(diag, TACT_E_IO, "process %d: %s", l->opt->pid, strerror(errno));
	while ((entry = readdir(dir)) && l->n_targets < MAX_THREADS)
		if (entry->d_name[0] != '.')
			l->targets[l->n_targets++] = atoi(entry->d_name);
	closedir(dir);
	return l->n_targets ? 0 : tact_fail(diag, TACT_E_IO, "process %d has ended", l->opt->pid);
}

int live_targets(struct live *l, struct tact_diag *diag)
{
	size_t n;

	l->targets = calloc(MAX_THREADS, sizeof(*l->targets));
	if (!l->targets || find_cpus(l))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (l->opt->pid > 0) {
		int status = find_threads(l, diag);

		if (status < 0)
			return status;
	} else {
		l->targets[0] = l->opt->all_cpus ? -1 : l->child;
		l->n_targets = 1;
	}
	n = (size_t)l->n_targets * l->n_cpus;
	l->fds = calloc(2 * n, sizeof(*l->fds));
	l->rings = calloc(n, sizeof(*l->rings));
	if (!l->fds || !l->rings)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

void live_fini(struct live *l)
{
	for (size_t i = 0; i < l->n_paths; i++)
		free(l->paths[i]);
	FREE_ALL(l->paths, l->targets, l->cpus, l->fds, l->rings);
}

/* ---- what is there already ---- */

static void write_maps(struct live *l, int pid)
{
	char path[64], line[4400], name[4096], mode[8];
	uint64_t begin, end, offset;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(name, sizeof(name), file)) {
			name[strcspn(name, "\n")] = '\0';
			pmu_writer_comm(l->writer, (uint32_t)pid, (uint32_t)pid, name, false, 0);
		}
		fclose(file);
	}
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct pmu_map map = {.path = name, .is_executable = true};

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]",
			   &begin, &end, mode, &offset, name) != 5 ||
		    mode[2] != 'x')
			continue;
		map.address = begin;
		map.size = end - begin;
		map.offset = offset;
		pmu_writer_map(l->writer, (uint32_t)pid, &map, PMU_MODE_USER, 0);
		live_note_path(l, name, strlen(name) + 1);
	}
	if (file)
		fclose(file);
}

static void write_all_maps(struct live *l)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			write_maps(l, atoi(entry->d_name));
	if (dir)
		closedir(dir);
}

static void write_kernel(struct live *l)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t begin = 0, end = 0, address;
	char line[512], name[256];
	struct pmu_map map = {.path = "[kernel.kallsyms]_text", .is_executable = true};

	while (file && fgets(line, sizeof(line), file) && (!begin || !end)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) != 2)
			continue;
		if (!strcmp(name, "_stext"))
			begin = address;
		if (!strcmp(name, "_etext"))
			end = address;
	}
	if (file)
		fclose(file);
	if (!begin || end <= begin)
		return;
	map.address = map.offset = begin;
	map.size = end - begin;
	pmu_writer_map(l->writer, UINT32_MAX, &map, PMU_MODE_KERNEL, 0);
}

void live_write_known(struct live *l)
{
	if (l->opt->argv)
		pmu_writer_command(l->writer, l->opt->argv);
	write_kernel(l);
	if (l->opt->pid > 0)
		write_maps(l, l->opt->pid);
	if (l->opt->all_cpus)
		write_all_maps(l);
}

/* ---- build-ids ---- */

void live_note_path(struct live *l, const char *path, size_t size)
{
	size_t n = strnlen(path, size);

	if (path[0] != '/' || n == size || l->n_paths >= MAX_PATHS)
		return;
	for (size_t i = l->n_paths; i-- > 0;)
		if (!strcmp(l->paths[i], path))
			return;
	if (tact_grow(&l->paths, &l->paths_capacity, l->n_paths + 1, sizeof(*l->paths)))
		return;
	l->paths[l->n_paths] = strndup(path, n);
	l->n_paths += l->paths[l->n_paths] != NULL;
}

void live_write_build_ids(struct live *l)
{
	for (size_t i = 0; i < l->n_paths; i++) {
		uint8_t id[PMU_MAX_BUILD_ID];
		const unsigned size = obj_build_id_of(l->paths[i], id, sizeof(id));

		pmu_writer_build_id(l->writer, UINT32_MAX, PMU_MODE_USER, l->paths[i], id, size);
	}
}
