/* SPDX-License-Identifier: MIT
 *
 * Threads and processes of a program that runs natively, and the CPU time that they take.  Part of
 * the keeper: nothing here allocates or uses stdio.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "trace/native_run.h"

uint64_t native_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

ssize_t native_read_file(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = -1;

	while (fd >= 0 && used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	return n < 0 ? -1 : (ssize_t)used;
}

static char *add_number(char *to, unsigned long n)
{
	char digits[24];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + n % 10);
	while (n /= 10);
	memcpy(to, digits + i, sizeof(digits) - i);
	return to + (sizeof(digits) - i);
}

const char *native_proc_path(char *out, pid_t pid, pid_t tid, const char *name)
{
	char *to = stpcpy(out, "/proc/");

	to = add_number(to, (unsigned long)pid);
	if (tid)
		to = add_number(stpcpy(to, "/task/"), (unsigned long)tid);
	stpcpy(stpcpy(to, "/"), name);
	return out;
}

/* Returns field n of /proc/PID/stat, counted from 1; the name of the program may have blanks. */
static uint64_t field(const char *text, unsigned n)
{
	const char *p = strrchr(text, ')');
	uint64_t value = 0;

	for (n -= 2; p && n; n--) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	for (; p && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* Returns the number behind a word of /proc/PID/status. */
static pid_t status_number(const char *text, const char *word)
{
	const char *p = strstr(text, word);
	pid_t value = 0;

	for (p = p ? p + strlen(word) : ""; *p == '\t' || *p == ' '; p++)
		;
	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (*p - '0');
	return value;
}

static uint64_t process_cpu(pid_t pid)
{
	const clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2); /* as clock_getcpuclockid */
	struct timespec t;

	return clock_gettime(clock, &t) ? 0
					: (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void native_process_look(struct native_process *p)
{
	const uint64_t cpu = process_cpu(p->pid);

	if (cpu > p->cpu)
		p->cpu = cpu;
}

struct native_thread *native_thread_find(struct native_table *table, pid_t tid)
{
	for (unsigned i = 0; i < table->end_threads; i++)
		if (table->threads[i].tid == tid)
			return &table->threads[i];
	return NULL;
}

static struct native_process *find_process(struct native_table *table, pid_t pid)
{
	struct native_process *unused = NULL;

	for (unsigned i = 0; i < table->end_processes; i++) {
		if (table->processes[i].pid == pid)
			return &table->processes[i];
		if (!table->processes[i].pid && !unused)
			unused = &table->processes[i];
	}
	if (!unused && table->end_processes < NATIVE_MAX_PROCESSES)
		unused = &table->processes[table->end_processes++];
	if (!unused)
		return NULL;
	*unused = (struct native_process){.pid = pid};
	native_process_look(unused);
	unused->cpu_base = unused->asked = unused->cpu;
	return unused;
}

struct native_thread *native_thread_add(struct native_table *table, pid_t tid)
{
	char path[NATIVE_PATH], text[4096];
	struct native_thread *t = native_thread_find(table, 0);
	struct native_process *p;

	if (native_read_file(native_proc_path(path, tid, 0, "status"), text, sizeof(text)) <= 0)
		return NULL;
	if (!t && table->end_threads < NATIVE_MAX_THREADS)
		t = &table->threads[table->end_threads++];
	p = t ? find_process(table, status_number(text, "\nTgid:")) : NULL;
	if (!p)
		return NULL;
	p->parent = status_number(text, "\nPPid:");
	p->n_threads++;
	*t = (struct native_thread){.tid = tid, .process = p};
	return t;
}

void native_thread_remove(struct native_table *table, struct native_thread *t)
{
	struct native_process *p = t->process;

	*t = (struct native_thread){0};
	while (table->end_threads && !table->threads[table->end_threads - 1].tid)
		table->end_threads--;
	if (--p->n_threads)
		return;
	table->cpu += p->cpu - p->cpu_base;
	*p = (struct native_process){0};
}

uint64_t native_table_cpu(struct native_table *table)
{
	uint64_t sum = table->cpu;

	for (unsigned i = 0; i < table->end_processes; i++) {
		struct native_process *p = &table->processes[i];
		const uint64_t cpu = p->pid ? process_cpu(p->pid) : 0;

		if (cpu > p->cpu)
			p->cpu = cpu;
		sum += p->cpu - p->cpu_base;
	}
	return sum;
}

/* ---- the choice of a thread ---- */

uint64_t native_thread_time(const struct native_thread *t)
{
	char path[NATIVE_PATH], text[128];
	uint64_t value = 0;

	if (native_read_file(native_proc_path(path, t->process->pid, t->tid, "schedstat"), text,
			     sizeof(text)) <= 0)
		return 0;
	for (const char *p = text; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

static struct native_thread *choose_thread(struct native_table *table, struct native_process *p,
					   uint64_t random)
{
	struct native_thread *chosen = NULL;
	uint64_t sum = 0;

	for (unsigned i = 0; i < table->end_threads; i++) {
		struct native_thread *t = &table->threads[i];
		uint64_t now, share;

		if (!t->tid || t->process != p)
			continue;
		if (p->n_threads == 1)
			return t;
		now = native_thread_time(t);
		share = now > t->asked ? now - t->asked : 0;
		t->asked = now;
		sum += share;
		/* Keeps one of those so far, each with its share. */
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (share && (double)(random >> 11) * 0x1p-53 * (double)sum < (double)share)
			chosen = t;
	}
	return chosen;
}

struct native_thread *native_table_choose(struct native_table *table, uint64_t random)
{
	struct native_process *chosen = NULL;
	uint64_t sum = 0;

	for (unsigned i = 0; i < table->end_processes; i++) {
		struct native_process *p = &table->processes[i];
		uint64_t share;

		if (!p->pid || !p->is_ready)
			continue;
		share = p->cpu - p->asked;
		p->asked = p->cpu;
		sum += share;
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (share && (double)(random >> 11) * 0x1p-53 * (double)sum < (double)share)
			chosen = p;
	}
	return chosen ? choose_thread(table, chosen, random) : NULL;
}

unsigned native_thread_cpu(const struct native_thread *t)
{
	char path[NATIVE_PATH], text[1024];

	if (native_read_file(native_proc_path(path, t->process->pid, t->tid, "stat"), text,
			     sizeof(text)) <= 0)
		return 0;
	return (unsigned)field(text, 39);
}
