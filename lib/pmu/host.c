/* SPDX-License-Identifier: MIT
 *
 * The CPU that this program runs on, as described by itself, /proc and /sys.
 */
#include "pmu/pmu.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/emulator.h"
#include "isa/isa.h"

bool pmu_read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return false;
	if (!fgets(line, (int)size, file))
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* Reads a whole number that ends the line.  Returns whether it is one. */
static bool read_number(const char *text, int base, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, base);
	while (*end == ' ')
		end++;
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

bool pmu_find_device(uint32_t *type, const char *devices, const char *device)
{
	char path[512], line[128];
	uint64_t number;

	*type = 0;
	snprintf(path, sizeof(path), "%s/%s/type", devices, device);
	if (pmu_read_line(path, line, sizeof(line)) && read_number(line, 10, &number) &&
	    number <= UINT32_MAX)
		*type = (uint32_t)number;
	return *type != 0;
}

bool pmu_find_event(struct pmu_event *out, const char *devices, const char *device,
		    const char *name)
{
	static const char field[] = "event=";
	char path[512], line[128];

	if (!pmu_find_device(&out->type, devices, device))
		return false;
	snprintf(path, sizeof(path), "%s/%s/events/%s", devices, device, name);
	return pmu_read_line(path, line, sizeof(line)) &&
	       !strncmp(line, field, sizeof(field) - 1) &&
	       read_number(line + sizeof(field) - 1, 16, &out->config);
}

/* Only the kernel can read the register, and /proc shows it. */
static void read_microcode(char *microcode, size_t size)
{
	FILE *file;
	char line[512];

	microcode[0] = '\0';
	file = fopen("/proc/cpuinfo", "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');

		if (line[0] == '\n')
			break; /* the next CPU begins */
		if (strncmp(line, "microcode", 9) || !colon)
			continue;
		snprintf(microcode, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	fclose(file);
}

static void identify_cpu(struct tact_host *host)
{
	const struct tact_isa *isa = isa_native();
	struct isa_cpu cpu;

	if (isa) {
		isa->native->identify(&cpu);
		snprintf(host->vendor, sizeof(host->vendor), "%s", cpu.vendor);
		snprintf(host->brand, sizeof(host->brand), "%s", cpu.brand);
		snprintf(host->hypervisor, sizeof(host->hypervisor), "%s", cpu.hypervisor);
		host->family = cpu.family;
		host->model = cpu.model;
		host->stepping = cpu.stepping;
		host->is_virtual = cpu.is_virtual;
		host->has_invariant_tsc = cpu.has_steady_clock;
	}
	read_microcode(host->microcode, sizeof(host->microcode));
}

/* Parses a list of CPUs: "0,64" or "0-1". */
static bool parse_list(const char *list, cpu_set_t *set)
{
	CPU_ZERO(set);
	while (*list) {
		unsigned first, last;
		int n = 0;

		if (sscanf(list, "%u%n", &first, &n) != 1)
			return false;
		list += n;
		last = first;
		if (*list == '-') {
			if (sscanf(++list, "%u%n", &last, &n) != 1)
				return false;
			list += n;
		}
		for (unsigned cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, set);
		list += *list == ',';
	}
	return CPU_COUNT(set) > 0;
}

static bool read_siblings(int cpu, cpu_set_t *set)
{
	char path[96], line[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		 cpu);
	return pmu_read_line(path, line, sizeof(line)) && parse_list(line, set);
}

static void allowed_cpus(cpu_set_t *set)
{
	if (!sched_getaffinity(0, sizeof(*set), set) && CPU_COUNT(set) > 0)
		return;
	CPU_ZERO(set);
	CPU_SET(0, set);
}

unsigned tact_host_cores(int *cpus, unsigned capacity)
{
	cpu_set_t allowed, siblings;
	unsigned n = 0;

	allowed_cpus(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		if (cpus && n < capacity)
			cpus[n] = cpu;
		n++;
		/* The other threads of this core share its ports and decoders. */
		if (!read_siblings(cpu, &siblings))
			continue;
		for (int other = cpu + 1; other < CPU_SETSIZE; other++)
			if (CPU_ISSET(other, &siblings))
				CPU_CLR(other, &allowed);
	}
	return n;
}

void pmu_host_identify(struct tact_host *host)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	*host = (struct tact_host){.size = sizeof(*host)};
	identify_cpu(host);
	allowed_cpus(&set);
	host->n_allowed = (unsigned)CPU_COUNT(&set);
	host->n_online = online > 0 ? (unsigned)online : host->n_allowed;
	host->n_cores = tact_host_cores(NULL, 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t siblings;

		if (!CPU_ISSET(cpu, &set))
			continue;
		if (read_siblings(cpu, &siblings))
			host->threads_per_core = (unsigned)CPU_COUNT(&siblings);
		break;
	}
}

static double monotonic_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double measure_clock(const struct tact_isa *isa)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	double start = monotonic_seconds(), seconds;
	uint64_t ticks = isa->native->read_clock();

	nanosleep(&pause, NULL);
	ticks = isa->native->read_clock() - ticks;
	seconds = monotonic_seconds() - start;
	return seconds > 0 ? (double)ticks / seconds : 0;
}

bool tact_host_emulator(char *text, size_t size)
{
	if (!text || !size)
		return false;
	text[0] = '\0';
	return emulator_find(text, size);
}

int tact_host_probe(struct tact_host *out)
{
	struct tact_host host;

	if (!tact_can_fill(out))
		return -TACT_E_INVAL;
	pmu_host_identify(&host);
	if (isa_native())
		host.tsc_hz = measure_clock(isa_native());
	return tact_fill(out, &host, sizeof(host));
}
