/* SPDX-License-Identifier: MIT
 *
 * Every rung of the ladder of counters with a kernel and a CPU that have them, or pretend to.  They
 * are fake (fake_kernel.c), because machines with counters are rare, and what the counters of this
 * one would do wrong cannot be chosen.  Each test runs this program again, as their client.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hw.h"

#define DEVICES "tests/hw/fixtures/devices"
#define HYBRID	"tests/hw/fixtures/hybrid"

/* ---- the client ---- */

/* The cycles are those of fake_cost. */
static const struct {
	const char *hex;
	double cycles;
} blocks[] = {{"f20f5ec1", 100}, {"d9fa", 250}, {"f20f5ec14801d8", 101}};

/* For a moment in which the client is not interrupted: there are three blocks for each of many clients. */
#define WAIT_MS 50

/* Prints the rung, what the blocks take, and why better rungs were not taken. */
static int be_client(int rung, bool measures)
{
	const struct tact_measure_options opt = {.size = sizeof(opt),
						 .mode = TACT_MODE_UNROLL,
						 .rung = (enum tact_rung)rung,
						 .noisy = true, /* fake cycles are exact */
						 .wait_ms = WAIT_MS,
						 .passes = 2,
						 .samples = 6,
						 .timeout_ms = 20000};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_harness *h = NULL;
	struct tact_diag diag = {0};

	if (tact_harness_create(&h, &opt, &diag) < 0) {
		printf("none: %s\n", diag.text);
		return 0;
	}
	printf("rung %s\n", tact_rung_name(tact_harness_rung(h)));
	for (int r = TACT_RUNG_RDPMC; r <= (int)TACT_RUNG_TSC; r++)
		printf("%s: %s\n", tact_rung_name((enum tact_rung)r),
		       tact_harness_refusal(h, (enum tact_rung)r));
	for (size_t i = 0; measures && i < ARRAY_SIZE(blocks); i++) {
		uint8_t code[16];
		size_t bad;
		long size = tact_hex_decode(code, blocks[i].hex, strlen(blocks[i].hex), &bad);

		if (tact_measure(h, code, (size_t)size, &m) < 0)
			m.status = TACT_MEASURE_CRASHED;
		printf("%s %.4f %s\n", tact_measure_status_name(m.status), m.cycles_per_iteration,
		       m.reason);
	}
	tact_harness_destroy(h);
	return 0;
}

/* ---- tests ---- */

enum { OUTPUT = 16384 };

/* Runs a program, whose path is relative to this one's folder, in the fake kernel.  Returns its
 * status; skips where it cannot be traced.
 */
static int run_program(char *output, const char *options, const char *program)
{
	char self[512], command[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t size;
	FILE *pipe;
	int status;

	assert_true(n > 0);
	self[n] = 0;
	*strrchr(self, '/') = 0;
	snprintf(command, sizeof(command), "'%s'/fake_kernel %s -- '%s'/%s 2>&1", self, options,
		 self, program);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	size = fread(output, 1, OUTPUT - 1, pipe);
	output[size] = 0;
	status = pclose(pipe);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 125) {
		print_message("skip: no fake kernel here: %s", output);
		skip();
	}
	if (!WIFEXITED(status))
		fail_msg("%s: %s", command, output);
	return WEXITSTATUS(status);
}

static void run_client(char *output, const char *options, enum tact_rung rung, bool measures)
{
	char program[64];
	int status;

	snprintf(program, sizeof(program), "test_counters client %d %d", (int)rung, measures);
	status = run_program(output, options, program);
	if (status)
		fail_msg("%s: status %d: %s", options, status, output);
}

struct injected {
	const char *name, *options;
	enum tact_rung rung;
	const char *gets;   /* the rung, or what is said when there is none */
	const char *reason; /* why it is not a better one; NULL: it is the best */
};

#define A "--sysfs " DEVICES " "

static const struct injected injections[] = {
	/* each rung as it should be */
	{"rdpmc", A, TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"perf", A, TACT_RUNG_PERF, "rung perf", NULL},
	{"aperf", A, TACT_RUNG_APERF, "rung aperf", NULL},
	{"auto_takes_the_best", A, TACT_RUNG_AUTO, "rung rdpmc", NULL},
	{"general_counter", "--index 4", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"fixed_counter", "--index 0x40000002", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"counter_starts_below_zero", "--start 0x800000000001", TACT_RUNG_RDPMC, "rung rdpmc",
	 NULL},
	{"counter_of_32_bits", "--width 32 --start 0x80000001", TACT_RUNG_RDPMC, "rung rdpmc",
	 NULL},
	/* It passes zero in the trial, and in the runs. */
	{"counter_wraps_in_the_trial", "--start 0xffffffffe000", TACT_RUNG_RDPMC, "rung rdpmc",
	 NULL},
	{"counter_wraps_often", "--width 16 --start 0xf000", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"kernel_cannot_be_left_out", "--exclude EINVAL", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"hypervisor_cannot_be_left_out", "--exclude EOPNOTSUPP", TACT_RUNG_PERF, "rung perf",
	 NULL},
	{"ordinary_user", "--paranoid 2", TACT_RUNG_AUTO, "rung rdpmc", NULL},
	{"moves_to_another_counter", "--switches 21", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"moves_often", "--switches 13", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"small_core", "--sysfs " HYBRID " --core 10", TACT_RUNG_RDPMC, "rung rdpmc", NULL},
	{"small_core_perf", "--sysfs " HYBRID " --core 10", TACT_RUNG_PERF, "rung perf", NULL},
	/* one rung down */
	{"not_in_user_mode", "--no-user-read", TACT_RUNG_AUTO, "rung perf", "rdpmc: counters may"},
	{"no_page", "--no-page", TACT_RUNG_AUTO, "rung perf", "rdpmc: the counter's page cannot"},
	{"page_is_always_being_written", "--lock 1", TACT_RUNG_AUTO, "rung perf",
	 "rdpmc: the counter's page never"},
	{"page_has_no_width", "--width 0", TACT_RUNG_AUTO, "rung perf", "rdpmc: the kernel says"},
	{"reading_faults", "--faults", TACT_RUNG_AUTO, "rung perf", "rdpmc: the kernel offers"},
	{"moves_in_every_run", "--switches 1", TACT_RUNG_AUTO, "rung perf", "rdpmc: events take"},
	/* down to time stamps */
	{"paranoid_3", A "--paranoid 3", TACT_RUNG_AUTO, "rung tsc", "perf: perf_event_open: Perm"},
	{"paranoid_4", A "--paranoid 4", TACT_RUNG_AUTO, "rung tsc", "rdpmc: perf_event_open: Per"},
	{"forbidden_in_a_container", "--open EPERM", TACT_RUNG_AUTO, "rung tsc",
	 "rdpmc: perf_event_open: Operation not permitted; in a container"},
	{"no_event", "--open ENOENT", TACT_RUNG_AUTO, "rung tsc", "there is no counter of cycles"},
	{"no_pmu", "--open EOPNOTSUPP", TACT_RUNG_AUTO, "rung tsc", "there is no counter of cycle"},
	{"busy", "--open EBUSY", TACT_RUNG_AUTO, "rung tsc", "another program has taken"},
	{"no_descriptors", "--open EMFILE", TACT_RUNG_AUTO, "rung tsc", "ulimit -n"},
	{"no_such_call", "--open ENOSYS", TACT_RUNG_AUTO, "rung tsc", "has no perf events"},
	{"refused", "--open EINVAL", TACT_RUNG_AUTO, "rung tsc", "Invalid argument"},
	{"stands_still", A "--still", TACT_RUNG_AUTO, "rung tsc", "perf: the counter opens but st"},
	{"counts_garbage", A "--garbage", TACT_RUNG_AUTO, "rung tsc", "rdpmc: the counter counts"},
	{"counts_half", A "--rate 0.5", TACT_RUNG_AUTO, "rung tsc", "aperf: the counter counts so"},
	{"counts_too_much", A "--rate 1.4", TACT_RUNG_AUTO, "rung tsc", "perf: the counter counts"},
	{"not_scheduled", A "--off", TACT_RUNG_AUTO, "rung tsc", "rdpmc: the event is on no count"},
	{"pinned_event_in_error", A "--off", TACT_RUNG_AUTO, "rung tsc", "perf: a pinned event"},
	{"lost_in_the_trial", A "--lost 3", TACT_RUNG_AUTO, "rung tsc", "perf: a pinned event was"},
	{"core_without_a_device", "--sysfs " HYBRID " --core 11", TACT_RUNG_AUTO, "rung tsc",
	 "perf: the event is on no counter"},
	{"no_msr_device", "--open ENOENT", TACT_RUNG_AUTO, "rung tsc", "aperf: perf's msr device"},
	/* asked for, and not there */
	{"no_rdpmc", "--no-user-read", TACT_RUNG_RDPMC,
	 "none: this machine does not offer 'rdpmc': counters may not be read in user mode", NULL},
	{"shared_perf", "--shared 30", TACT_RUNG_PERF,
	 "none: this machine does not offer 'perf': events take turns", NULL},
	{"no_aperf_for_users", A "--paranoid 2", TACT_RUNG_APERF,
	 "none: this machine does not offer 'aperf': perf_event_open: Permission denied; sysctl "
	 "kernel.perf_event_paranoid=1",
	 NULL},
};

/* The cycles are fake, who else uses the core is not: where somebody does, there is no number to check. */
static void skip_if_disturbed(const char *output)
{
	const char *disturbed = strstr(output, "\ndisturbed ");

	if (disturbed) {
		print_message("skip: this machine is too noisy now: %.*s\n",
			      (int)strcspn(disturbed + 1, "\n"), disturbed + 1);
		skip();
	}
}

/* A number is measured on rungs that count. */
static void check_cycles(const char *output)
{
	skip_if_disturbed(output);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		char expected[64];

		snprintf(expected, sizeof(expected), "\nok %.4f ", blocks[i].cycles);
		if (!strstr(output, expected))
			fail_msg("no '%s' in: %s", expected + 1, output);
	}
}

static void injected(void **state)
{
	const struct injected *t = *state;
	const bool counts = !strncmp(t->gets, "rung ", 5) && strcmp(t->gets, "rung tsc") != 0;
	char output[OUTPUT];

	run_client(output, t->options, t->rung, counts);
	if (strncmp(output, t->gets, strlen(t->gets)) != 0)
		fail_msg("'%s' instead of '%s'", output, t->gets);
	if (t->reason && !strstr(output, t->reason))
		fail_msg("no '%s' in: %s", t->reason, output);
	if (counts)
		check_cycles(output);
}

/* The counter is taken away in the middle: no number is better than a wrong one. */
static void lost_in_a_run(void **state)
{
	char output[OUTPUT];

	(void)state;
	for (int rung = TACT_RUNG_RDPMC; rung <= (int)TACT_RUNG_PERF; rung++) {
		run_client(output, "--lost 40", (enum tact_rung)rung, true);
		if (strstr(output, "\ncrashed") || strstr(output, "\nprotection"))
			fail_msg("%s", output);
		if (!strstr(output, "\nunstable")) {
			skip_if_disturbed(output);
			fail_msg("%s", output);
		}
	}
}

/* Each block has a counter of its own.  One that does not come, or counts no more, must not let
 * anything else pass for cycles.
 */
static void later_counters_are_bad(void **state)
{
	static const char *const options[] = {"--after 1 --open EBUSY", "--after 2 --open EACCES",
					      "--after 1 --still",	"--after 2 --garbage",
					      "--after 1 --off",	"--after 1 --no-page"};
	char output[OUTPUT], all[128];

	(void)state;
	for (int rung = TACT_RUNG_RDPMC; rung <= (int)TACT_RUNG_PERF; rung++) {
		for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
			const char *last;

			/* only rdpmc has a page */
			if (rung != TACT_RUNG_RDPMC && strstr(options[i], "--no-page"))
				continue;
			snprintf(all, sizeof(all), A "%s", options[i]);
			run_client(output, all, (enum tact_rung)rung, true);
			last = strstr(output, "\ntsc:");
			if (last && !strstr(last, "\nunstable"))
				skip_if_disturbed(last);
			if (!last || !strstr(last, "\nunstable") || strstr(last, "\ncrashed") ||
			    (strstr(last, "\nok") && !strstr(last, "\nok 100.0000 ")))
				fail_msg("%s, %s: %s", tact_rung_name((enum tact_rung)rung),
					 options[i], output);
		}
	}
}

/* tact doctor --self-test: what works is tried, and what does not has a reason. */
static void self_test(void **state)
{
	const double begin = hw_now();
	double load = 0;
	char output[OUTPUT];
	int status;

	(void)state;
	status = run_program(output, A "--no-user-read", "../../tact doctor --self-test -f json");
	if (status != 0 && status != 1)
		fail_msg("status %d: %s", status, output);
	/* unless others leave it no time */
	if (getloadavg(&load, 1) != 1 || load <= (double)sysconf(_SC_NPROCESSORS_ONLN))
		assert_true(hw_now() - begin < 20);
	assert_non_null(strstr(output, "{\"name\":\"rdpmc\",\"works\":false,\"reason\":\"counters "
				       "may not be read in user mode"));
	assert_non_null(strstr(output, "{\"name\":\"perf\",\"works\":true"));
	assert_non_null(strstr(output, "{\"name\":\"aperf\",\"works\":true"));
	assert_non_null(strstr(output, "\"best_rung\":\"perf\""));
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[ARRAY_SIZE(injections) + 3];
	size_t n = 0;

	cmocka_set_test_filter(getenv("TEST"));
	if (argc == 4 && !strcmp(argv[1], "client"))
		return be_client(atoi(argv[2]), atoi(argv[3]));
	for (; n < ARRAY_SIZE(injections); n++)
		tests[n] = (struct CMUnitTest){.name = injections[n].name,
					       .test_func = injected,
					       .initial_state = (void *)(uintptr_t)&injections[n]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(lost_in_a_run);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(later_counters_are_bad);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(self_test);
	return _cmocka_run_group_tests("counters", tests, n, NULL, NULL);
}
