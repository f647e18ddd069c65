/* SPDX-License-Identifier: MIT
 *
 * What the machine is asked: answers are complete and do not contradict each other, whatever
 * machine it is.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

#include <tact/doctor.h>

#include "support.h"

TEST(host)
{
	struct tact_host h = {.size = sizeof(h)};

	assert_int_equal(tact_host_probe(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_host_probe(&h), 0);
	assert_int_equal(strlen(h.vendor), 12);
	assert_true(h.family >= 6);
	assert_true(h.n_online >= 1 && h.n_allowed >= 1 && h.n_cores >= 1);
	assert_true(h.n_cores <= h.n_allowed);
	assert_true(h.tsc_hz > 1e8 && h.tsc_hz < 1e11);
	assert_true(h.is_virtual || !h.hypervisor[0]);
}

TEST(cores)
{
	int cpus[4096];
	unsigned n = tact_host_cores(cpus, 4096);

	assert_true(n >= 1 && n <= 4096);
	for (unsigned i = 1; i < n; i++)
		assert_true(cpus[i] > cpus[i - 1]);
	assert_int_equal(tact_host_cores(NULL, 0), n);
}

TEST(every_check)
{
	const char *names[TACT_N_CHECKS];

	for (int i = 0; i < TACT_N_CHECKS; i++) {
		struct tact_check c = {.size = sizeof(c)};

		assert_int_equal(tact_check_run((enum tact_check_id)i, &c), 0);
		print_message("%s: %s, %s\n", c.name, tact_check_state_name(c.state), c.found);
		assert_true(c.name[0] && c.title[0] && c.found[0]);
		assert_true(c.state == TACT_CHECK_GOOD ? !c.effect[0] && !c.fix[0] : c.effect[0]);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(c.name, names[k]);
		names[i] = c.name;
	}
	/* no child of a probe is left */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(misuse)
{
	struct tact_check c = TACT_CHECK_INIT;
	struct tact_host h = {.size = 0};

	assert_int_equal(tact_host_probe(&h), -TACT_E_INVAL);
	assert_string_equal(tact_check_state_name((enum tact_check_state)9), "unknown");
	assert_int_equal(tact_check_run(TACT_CHECK_AS, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_check_run(TACT_N_CHECKS, &c), -TACT_E_INVAL);
	assert_int_equal(tact_check_run((enum tact_check_id) - 1, &c), -TACT_E_INVAL);
}

/* Results for an older caller and for a newer one. */
TEST(results_of_any_size)
{
	struct {
		struct tact_host h;
		uint64_t newer;
	} host;
	struct {
		struct tact_check c;
		uint64_t newer;
	} check;

	memset(&host, 0xa5, sizeof(host));
	host.h.size = offsetof(struct tact_host, family);
	assert_int_equal(tact_host_probe(&host.h), 0);
	assert_int_equal(strlen(host.h.vendor), 12);
	assert_int_equal(host.h.family, 0xa5a5a5a5);
	host.h.size = sizeof(host);
	assert_int_equal(tact_host_probe(&host.h), 0);
	assert_int_equal(host.h.size, sizeof(host));
	assert_int_equal(host.newer, 0);
	memset(&check, 0xa5, sizeof(check));
	check.c.size = offsetof(struct tact_check, found);
	assert_int_equal(tact_check_run(TACT_CHECK_TSC, &check.c), 0);
	assert_string_equal(check.c.name, "tsc");
	assert_int_equal((uint8_t)check.c.found[0], 0xa5);
	check.c.size = sizeof(check);
	assert_int_equal(tact_check_run(TACT_CHECK_TSC, &check.c), 0);
	assert_int_equal(check.newer, 0);
}

/* No counters, no rdpmc: the one cannot be there without the other. */
TEST(counters_are_consistent)
{
	struct tact_check cycles = TACT_CHECK_INIT, rdpmc = TACT_CHECK_INIT, qemu = TACT_CHECK_INIT,
			  plugin = TACT_CHECK_INIT;

	tact_check_run(TACT_CHECK_CYCLES, &cycles);
	tact_check_run(TACT_CHECK_RDPMC, &rdpmc);
	if (cycles.state == TACT_CHECK_MISSING && !strstr(cycles.found, "does not count"))
		assert_int_equal(rdpmc.state, TACT_CHECK_MISSING);
	tact_check_run(TACT_CHECK_QEMU, &qemu);
	tact_check_run(TACT_CHECK_QEMU_PLUGIN, &plugin);
	if (qemu.state == TACT_CHECK_MISSING)
		assert_int_equal(plugin.state, TACT_CHECK_MISSING);
}

RUN_TESTS(NULL, NULL)
