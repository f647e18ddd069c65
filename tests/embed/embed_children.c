/* SPDX-License-Identifier: MIT
 *
 * A program with children of its own and an opinion on SIGCHLD: the library's are not among them.
 *
 * usage: embed_children handler|ignore|wait MODEL
 *
 * Uses everything in the library that starts processes, prints what came out, and at the end how
 * many processes its own way of waiting for children has met.  It has two of its own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tact/tact.h>

static volatile sig_atomic_t n_signals, n_reaped, is_over;

static void reap(int number)
{
	int error = errno;

	(void)number;
	n_signals++;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		n_reaped++;
	errno = error;
}

/* A thread that waits for whatever comes, and spins when there is nothing. */
static void *reap_all(void *arg)
{
	(void)arg;
	while (!is_over) {
		if (waitpid(-1, NULL, 0) > 0)
			n_reaped++;
		else
			usleep(200);
	}
	return NULL;
}

static void start_own_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	usleep(50000);
}

static void measure(void)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8}, crash[] = {0x0f, 0x0b};
	struct tact_harness *harness = NULL;
	struct tact_measurement m = {0};
	struct tact_diag diag;
	int status = tact_harness_create(&harness, NULL, &diag);

	if (status < 0) {
		printf("measure: %s\n", tact_strerror(status));
		return;
	}
	for (int i = 0; i < 3; i++) {
		const uint8_t *bytes = i == 1 ? crash : code;

		m.size = sizeof(m);
		status = tact_measure(harness, bytes, i == 1 ? sizeof(crash) : sizeof(code), &m);
		printf("measure %d: %d %s\n", i, status, tact_measure_status_name(m.status));
	}
	tact_harness_destroy(harness);
}

static void assemble(const char *text)
{
	struct tact_input *input = NULL;
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};
	struct tact_input_options opt = {0};
	int status;

	opt.size = sizeof(opt);
	opt.kind = TACT_INPUT_ASM;
	status = tact_input_open_memory(&input, text, strlen(text), &opt, &diag);
	printf("assemble: %s", status < 0 ? diag.text : "");
	while (status >= 0 && tact_input_next(input, &region, &diag) == 1)
		for (size_t i = 0; i < region.code_size; i++)
			printf("%02x", region.code[i]);
	printf("\n");
	tact_input_close(input);
}

static void probe(void)
{
	for (int i = 0; i < TACT_N_CHECKS; i++) {
		struct tact_check check = {0};

		check.size = sizeof(check);
		if (tact_check_run((enum tact_check_id)i, &check) >= 0)
			printf("probe %d: %d\n", i, (int)check.state);
	}
}

static void ask(const char *model)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8};
	struct tact_model_options opt = {0};
	struct tact_estimator *estimator = NULL;
	struct tact_estimate estimate = TACT_ESTIMATE_INIT;
	struct tact_block *block = NULL;
	struct tact_diag diag = {0};
	int status;

	opt.size = sizeof(opt);
	estimate.size = sizeof(estimate);
	status = tact_model_open(&estimator, model, &opt, &diag);
	if (status >= 0)
		status = tact_block_create(&block, tact_arch_find("SKL"), NULL, &diag);
	if (status >= 0)
		status = tact_block_load(block, code, sizeof(code), &diag);
	if (status >= 0)
		status = tact_model_estimate(estimator, block, &estimate);
	printf("model: %d %.2f %s\n", status, estimate.cycles_per_iteration, diag.text);
	tact_block_destroy(block);
	tact_model_close(estimator);
}

static void trace(void)
{
	char program[] = "/bin/true", *argv[] = {program, NULL};
	struct tact_trace_options opt = {0};
	struct tact_trace_summary summary = {0};
	struct tact_trace_event event = {0};
	struct tact_trace *t = NULL;
	struct tact_diag diag = {0};
	int status, next;

	opt.size = sizeof(opt);
	opt.mode = TACT_TRACE_COUNT;
	opt.path = "/usr/local/bin:/usr/bin:/bin";
	summary.size = sizeof(summary);
	event.size = sizeof(event);
	status = tact_trace_launch(&t, &opt, argv, &diag);
	if (status < 0) {
		printf("trace: %s\n", tact_strerror(status));
		return;
	}
	while ((next = tact_trace_next(t, &event, &diag)) > 0)
		;
	tact_trace_get_summary(t, &summary);
	printf("trace: %d, ended %d with %d\n", next, summary.has_ended, summary.wait_status);
	tact_trace_close(t);
}

int main(int argc, char **argv)
{
	struct sigaction action = {0};
	pthread_t reaper;
	const int is_waiting = argc > 1 && strcmp(argv[1], "wait") == 0;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "handler") == 0)
		action.sa_handler = reap;
	else if (strcmp(argv[1], "ignore") == 0)
		action.sa_handler = SIG_IGN;
	sigaction(SIGCHLD, &action, NULL);
	if (is_waiting && pthread_create(&reaper, NULL, reap_all, NULL))
		return 3;
	start_own_child();
	measure();
	assemble("add %rbx, %rax\nimul %rcx, %rax\n");
	assemble("no such instruction\n");
	probe();
	ask(argv[2]);
	trace();
	start_own_child();
	is_over = 1;
	if (is_waiting)
		pthread_join(reaper, NULL);
	printf("signals %d, reaped %d\n", (int)n_signals, (int)n_reaped);
	return 0;
}
