/* SPDX-License-Identifier: MIT
 *
 * Programs for the tests of tact collect, selected by the first argument.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* One block, called as often as a test asks for. */
void leaf(void);
__asm__(".text\n.globl leaf\n.type leaf, @function\nleaf: lea 1(%rdi), %rax\n\tret\n.size leaf, "
	".-leaf");

static void *call_leaf(void *n)
{
	for (long i = 0; i < (long)n; i++)
		leaf();
	return NULL;
}

static int run_threads(void)
{
	pthread_t threads[4];

	for (int round = 0; round < 2; round++) {
		for (long i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, call_leaf, (void *)(1000 + i));
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

static int run_forks(void)
{
	call_leaf((void *)10);
	for (long i = 0; i < 3; i++) {
		if (!fork()) {
			call_leaf((void *)(100 * (i + 1)));
			_exit(0);
		}
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}

/* A child that runs this program again, then a script that does. */
static int run_execs(char *self)
{
	call_leaf((void *)5);
	if (!fork()) {
		execl(self, "other name", "leaf", "50", NULL);
		_exit(1);
	}
	wait(NULL);
	execl("./script", "script", NULL);
	return 1;
}

static void on_signal(int number)
{
	(void)number;
	leaf();
}

static int run_signals(void)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	return 0;
}

/* mov eax, N; add eax, edi; ret: rewritten for each N, and called N times. */
static int run_jit(void)
{
	unsigned char code[] = {0xb8, 0, 0, 0, 0, 0x01, 0xf8, 0xc3};
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	for (int n = 1; n <= 5; n++) {
		code[1] = (unsigned char)n;
		memcpy(p, code, sizeof(code));
		for (int k = 0; k < n; k++)
			sum += ((int (*)(int))p)(k);
	}
	return sum != 75;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "leaf") && argc > 2)
		return call_leaf((void *)atol(argv[2])) != NULL;
	if (!strcmp(what, "threads"))
		return run_threads();
	if (!strcmp(what, "forks"))
		return run_forks();
	if (!strcmp(what, "execs"))
		return run_execs(argv[2]);
	if (!strcmp(what, "signals"))
		return run_signals();
	if (!strcmp(what, "jit"))
		return run_jit();
	call_leaf((void *)30);
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
	if (!strcmp(what, "crash"))
		*(volatile int *)8 = 1;
	if (!strcmp(what, "endless")) {
		fork();
		fputs("ready\n", stdout);
		fflush(stdout);
		for (;;)
			pause();
	}
	return 3;
}
