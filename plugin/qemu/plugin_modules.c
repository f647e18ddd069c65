/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Finds the file that the code at an address comes from.
 *
 * /proc/self/maps is read again only when code is translated after a system call has changed
 * mappings.  QEMU maps the program's code without the right to execute it, so that all mappings of
 * files count.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tact_plugin.h"

struct mapping {
	uint64_t begin, end, offset;
	const char *path;	     /* in maps_text */
	const struct module *module; /* NULL: not asked for yet */
};

static char *maps_text;
static struct mapping *mappings;
static size_t n_mappings, capacity;
static struct module **modules;
static uint32_t n_modules;
static bool is_stale = true;

/* Reads a file of /proc, whose size is not known beforehand; the descriptor is closed on return. */
int read_text(const char *path, char **text, size_t *size)
{
	size_t room = 65536, used = 0;
	char *data = malloc(room);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && data) {
		char *more;

		n = read(fd, data + used, room - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		if (room - used > 4096)
			continue;
		more = realloc(data, room *= 2);
		if (!more)
			break;
		data = more;
	}
	if (fd >= 0)
		close(fd);
	if (n || !data) {
		free(data);
		return -1;
	}
	data[used] = '\0';
	*text = data;
	*size = used;
	return 0;
}

void modules_forget(void)
{
	__atomic_store_n(&is_stale, true, __ATOMIC_RELAXED);
}

static void add_mapping(char *line)
{
	struct mapping m = {0};
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &m.begin, &m.end,
		   &m.offset, &path_at) < 3 ||
	    !path_at || line[path_at] != '/')
		return;
	m.path = line + path_at;
	if (n_mappings == capacity) {
		size_t more = capacity ? 2 * capacity : 128;
		struct mapping *grown = realloc(mappings, more * sizeof(*grown));

		if (!grown)
			return;
		mappings = grown;
		capacity = more;
	}
	mappings[n_mappings++] = m;
}

static void read_mappings(void)
{
	char *line, *next;
	size_t size;

	is_stale = false;
	free(maps_text);
	maps_text = NULL;
	n_mappings = 0;
	if (read_text("/proc/self/maps", &maps_text, &size))
		return;
	for (line = maps_text; *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		add_mapping(line);
	}
}

static const struct module *intern(const struct mapping *m)
{
	const uint64_t begin = m->begin - plugin.guest_base, end = m->end - plugin.guest_base;
	struct module *module;

	for (uint32_t i = 0; i < n_modules; i++) {
		module = modules[i];
		if (module->begin == begin && module->end == end && module->offset == m->offset &&
		    !strcmp(module->path, m->path))
			return module;
	}
	if (!(n_modules & (n_modules + 1))) { /* grows when a power of two, less one, is used up */
		struct module **grown =
			realloc(modules, (2 * (size_t)n_modules + 2) * sizeof(*modules));

		if (!grown)
			return NULL;
		modules = grown;
	}
	module = malloc(sizeof(*module));
	if (!module)
		return NULL;
	*module = (struct module){begin, end, m->offset, n_modules + 1, strdup(m->path)};
	if (!module->path) {
		free(module);
		return NULL;
	}
	modules[n_modules++] = module;
	return module;
}

const struct module *modules_find(uint64_t host_address)
{
	size_t low = 0, high;

	if (__atomic_load_n(&is_stale, __ATOMIC_RELAXED))
		read_mappings();
	high = n_mappings;
	while (low < high) { /* they are sorted */
		size_t middle = low + (high - low) / 2;
		struct mapping *m = &mappings[middle];

		if (host_address < m->begin) {
			high = middle;
		} else if (host_address >= m->end) {
			low = middle + 1;
		} else {
			if (!m->module)
				m->module = intern(m);
			return m->module;
		}
	}
	return NULL;
}
